-- Messages of a stored session as lines for a person. Pure.
local text = require('tackroom.text')

local M = {}

---Lines of what a tool was given or said, of which none is shown until its fold is opened.
local LINES_OF_TOOL = 200
---Lines of what a harness tells its model.
local LINES_OF_SYSTEM = 2

---@class tackroom.Piece
---@field lines string[]
---@field folds string[] of each line, as 'foldexpr' has it
---@field heading? string the highlight of the first line, where it says who speaks

---@param piece tackroom.Piece
---@param lines string[]
---@param lead? string
local function put(piece, lines, lead)
  for _, line in ipairs(lines) do
    table.insert(piece.lines, (lead or '') .. line)
    table.insert(piece.folds, '0')
  end
end

---@param piece tackroom.Piece
---@param first string? what is seen of it when it is closed
---@param lines string[]
local function put_folded(piece, first, lines, lead)
  local from = #piece.lines + 1
  put(piece, first and { first } or {})
  put(piece, lines, lead)
  for at = from, #piece.lines do
    piece.folds[at] = at == from and '>1' or '1'
  end
end

---A part of what a tool answered.
---@param block tackroom.Block
local function part(block)
  if block.type == 'text' or block.type == 'thinking' then
    return block.text or ''
  elseif block.type == 'toolCall' then
    return ('[call of %s]'):format(block.name)
  end
  return ('[%s]'):format(block.type == 'other' and block.kind or block.type)
end

---@param value any the arguments of a call
local function arguments(value)
  if type(value) ~= 'table' or vim.islist(value) then
    return text.lines(text.json(value), LINES_OF_TOOL)
  end
  local lines, names = {}, vim.tbl_keys(value)
  table.sort(names)
  for _, name in ipairs(names) do
    local given = text.lines(text.json(value[name]), LINES_OF_TOOL)
    table.insert(lines, ('%s: %s'):format(text.one_line(name), #given == 1 and given[1] or ''))
    if #given > 1 then
      for _, line in ipairs(given) do
        table.insert(lines, '  ' .. line)
      end
    end
  end
  return lines
end

---@type table<string, fun(piece: tackroom.Piece, block: tackroom.Block, role: string)>
local BLOCKS = {
  text = function(piece, block, role)
    if role == 'system' then
      put(piece, text.lines(block.text, LINES_OF_SYSTEM), '-- ')
    elseif role == 'tool' then
      put_folded(piece, nil, text.lines(block.text, LINES_OF_TOOL), '  | ')
    else
      put(piece, text.lines(block.text))
    end
  end,
  thinking = function(piece, block)
    put_folded(piece, nil, text.lines(block.text, LINES_OF_TOOL), '~ ')
  end,
  toolCall = function(piece, block)
    local given = text.one_line(text.json(block.arguments))
    local first = ('* %s %s'):format(text.one_line(block.name), text.cut(given, text.CHARS))
    put_folded(piece, first, arguments(block.arguments), '  ')
  end,
  toolResult = function(piece, block)
    local said = vim.iter(block.content or {}):map(part):join('\n')
    put_folded(piece, nil, text.lines(said, LINES_OF_TOOL), block.isError == true and '  ! ' or '  | ')
  end,
}

---A message: whose it is and when, then what it says. One that says nothing has no lines.
---@param message tackroom.Message
---@return tackroom.Piece
function M.message(message)
  ---@type tackroom.Piece
  local piece = { lines = {}, folds = {} }
  local is_answer = true
  for _, block in ipairs(message.content or {}) do
    is_answer = is_answer and block.type == 'toolResult'
    local render = BLOCKS[block.type]
    if render then
      render(piece, block, message.role)
    else
      put(piece, { text.one_line(part(block)) }, '-- ')
    end
  end
  if #piece.lines == 0 or is_answer then
    -- What tools answered follows on their call.
    return piece
  end
  local words = { message.role, text.clock(message.timestampMs), text.one_line(message.model) }
  local heading = vim.iter(words):filter(function(word)
    return word ~= ''
  end):join('  ')
  piece.heading = message.role == 'user' and 'TackroomUser' or 'TackroomRole'
  for at, line in ipairs({ '', heading }) do
    table.insert(piece.lines, at, line)
    table.insert(piece.folds, at, '0')
  end
  return piece
end

return M
