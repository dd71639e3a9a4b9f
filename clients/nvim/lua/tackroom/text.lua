-- Texts of others made harmless, and times, paths and numbers as a person reads them. Pure.
local M = {}

---Characters of a line that is shortened.
M.CHARS = 400
---Bytes of a string for the terminal; a longer one is text that was not meant so.
local STRING = 4096
---Bytes after which a line that does not end is broken, since an editor is slow with endless ones.
local LONGEST = 4096
local REPLACEMENT = '\239\191\189'

-- C1 controls, and their forms of two letters.
local C1 = {
  ['\194\144'] = '\27P',
  ['\194\152'] = '\27X',
  ['\194\155'] = '\27[',
  ['\194\156'] = '\27\\',
  ['\194\157'] = '\27]',
  ['\194\158'] = '\27^',
  ['\194\159'] = '\27_',
}

---The end of the escape sequence that begins at `at`; nil where more of it must come.
---@return integer?
local function sequence_end(text, at)
  local second = text:sub(at + 1, at + 1)
  if second == '' then
    return nil
  elseif second == '[' then
    local last = text:find('[^ -?]', at + 2)
    if not last then
      return nil
    end
    -- A line, or another sequence, ends what was left open.
    return text:find('^[\10\27]', last) and last - 1 or last
  elseif second:find('[%]PX^_]') then
    local last = text:find('[\7\10\27]', at + 2)
    if not last then
      return #text - at > STRING and at + 1 or nil
    end
    if text:sub(last, last) == '\27' then
      if last == #text then
        return nil
      end
      return text:sub(last + 1, last + 1) == '\\' and last + 1 or last - 1
    end
    return text:sub(last, last) == '\7' and last or last - 1
  end
  local last = text:find('[^ -/]', at + 1)
  if not last then
    return nil
  end
  return text:find('^[\10\27]', last) and last - 1 or last
end

---@param text string
---@return string
local function replace_controls(text)
  text = text:gsub('\r\n', '\n'):gsub('\r', '\n'):gsub('\t', '    '):gsub('[%z\7\8]', '')
  text = text:gsub('[\1-\9\11-\31\127]', REPLACEMENT)
  text = text:gsub('\194[\128-\159]', REPLACEMENT)
  -- What turns the direction of a text, or parts lines.
  text = text:gsub('\226\128[\142\143\168-\174]', REPLACEMENT)
  text = text:gsub('\226\129[\166-\169]', REPLACEMENT)
  return (text:gsub('\216\156', REPLACEMENT))
end

---@class tackroom.Cleaner
---@field private held string what may be the beginning of a sequence
local Cleaner = {}
Cleaner.__index = Cleaner

---Cleans a text that comes in pieces.
function M.cleaner()
  return setmetatable({ held = '' }, Cleaner)
end

---The next piece: of control characters only line feeds are left.
---@param piece string
---@param is_last? boolean
---@return string
function Cleaner:clean(piece, is_last)
  local text = self.held .. piece
  self.held = ''
  text = text:gsub('\194[\144\152\155-\159]', C1)
  local parts, from = {}, 1
  while true do
    local at = text:find('\27', from, true)
    if not at then
      break
    end
    table.insert(parts, text:sub(from, at - 1))
    local last = sequence_end(text, at)
    if not last then
      self.held = is_last and '' or text:sub(at)
      from = #text + 1
      break
    end
    from = last + 1
  end
  table.insert(parts, text:sub(from))
  text = table.concat(parts)
  if not is_last and self.held == '' and text:sub(-1) == '\r' then
    -- A line feed may follow.
    text, self.held = text:sub(1, -2), '\r'
  end
  return replace_controls(text)
end

---A whole text, clean.
---@param text string
function M.clean(text)
  return M.cleaner():clean(text, true)
end

---A whole text as one line.
---@param text any
---@return string
function M.one_line(text)
  if type(text) ~= 'string' then
    return ''
  end
  return vim.trim((M.clean(text):gsub('%s+', ' ')))
end

---@param text string
---@param chars integer
function M.cut(text, chars)
  if #text <= chars then
    return text
  end
  local count = vim.fn.strchars(text)
  if count <= chars then
    return text
  end
  return ('%s… %d more characters'):format(vim.fn.strcharpart(text, 0, chars), count - chars)
end

---A line that has room in so many cells.
---@param line string
---@param cells integer
function M.short(line, cells)
  local count = math.max(cells, 1)
  while vim.fn.strdisplaywidth(line) > math.max(cells, 1) do
    count = count - 1
    line = vim.fn.strcharpart(line, 0, count) .. (count > 0 and '…' or '')
  end
  return line
end

---A line in pieces that an editor can show.
local function broken(line, into)
  local at = 1
  while #line - at >= LONGEST do
    -- Not within a character.
    local stop = at + LONGEST - 1
    while line:byte(stop + 1) >= 128 and line:byte(stop + 1) < 192 do
      stop = stop - 1
    end
    table.insert(into, line:sub(at, stop))
    at = stop + 1
  end
  table.insert(into, line:sub(at))
end

---The lines of a text, whole or shortened.
---@param text string
---@param at_most? integer lines; of those that are shown each is shortened too
---@return string[]
function M.lines(text, at_most)
  local lines = {}
  local clean = M.clean(text):gsub('\n+$', '')
  if clean == '' then
    return lines
  end
  local count = 0
  for line in vim.gsplit(clean, '\n', { plain = true }) do
    count = count + 1
    if not at_most then
      broken(line, lines)
    elseif count <= at_most then
      table.insert(lines, M.cut(line, M.CHARS))
    end
  end
  if at_most and count > at_most then
    table.insert(lines, '… ' .. M.count(count - at_most, 'more line'))
  end
  return lines
end

---@param value any
---@return string
local function encode(value)
  if type(value) ~= 'table' or getmetatable(value) == getmetatable(vim.empty_dict()) and not next(value) then
    return vim.json.encode(value)
  end
  local parts = {}
  if vim.islist(value) then
    for _, item in ipairs(value) do
      table.insert(parts, encode(item))
    end
    return '[' .. table.concat(parts, ',') .. ']'
  end
  local names = vim.tbl_keys(value)
  table.sort(names)
  for _, name in ipairs(names) do
    table.insert(parts, vim.json.encode(name) .. ':' .. encode(value[name]))
  end
  return '{' .. table.concat(parts, ',') .. '}'
end

---A value as JSON, its members in one order always.
M.encode = encode

---A value for a person: a text as it is, all else as JSON.
---@param value any
---@return string
function M.json(value)
  if value == nil or value == vim.NIL then
    return ''
  end
  return type(value) == 'string' and value or encode(value)
end

---@param number integer
---@param thing string
function M.count(number, thing)
  return ('%d %s%s'):format(number, thing, number == 1 and '' or 's')
end

---How long ago a time was, in its largest unit.
---@param now_ms integer
---@param then_ms? integer
function M.age(now_ms, then_ms)
  if not then_ms then
    return '-'
  end
  local seconds = math.max(0, math.floor((now_ms - then_ms) / 1000))
  for _, unit in ipairs({ { 31557600, 'y' }, { 604800, 'w' }, { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' } }) do
    if seconds >= unit[1] then
      return math.floor(seconds / unit[1]) .. unit[2]
    end
  end
  return seconds .. 's'
end

---@param then_ms? integer
---@return string
function M.clock(then_ms)
  if not then_ms then
    return ''
  end
  local seconds = math.floor(then_ms / 1000)
  local is_today = os.date('%Y-%m-%d', seconds) == os.date('%Y-%m-%d')
  return tostring(os.date(is_today and '%H:%M:%S' or '%Y-%m-%d %H:%M:%S', seconds))
end

---@param path? string
---@return string
function M.path(path)
  return path and M.one_line(vim.fn.fnamemodify(path, ':~')) or '-'
end

return M
