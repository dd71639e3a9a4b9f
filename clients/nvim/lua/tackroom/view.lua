-- What a runtime tells, as lines for a person. Pure.
local asked = require('tackroom.asked')
local text = require('tackroom.text')

local M = {}

---Lines of a message of the history, and of what a tool said.
local LINES_OF_HISTORY = 12
local LINES_OF_TOOL = 8
---Bytes after which a line ends that does not end.
local LONGEST = 4096

---@class tackroom.Line
---@field [1] string the line
---@field [2]? string its highlight

---@class tackroom.View
---@field private open? { lead: string, highlight?: string, cleaner: tackroom.Cleaner, line: string }
---@field private silent boolean whether a turn has said nothing yet since it began before our eyes
local View = {}
View.__index = View

function M.new()
  return setmetatable({ silent = false }, View)
end

---@param lead string
---@param highlight? string
---@param lines string[]
---@return tackroom.Line[]
local function led(lead, highlight, lines)
  local out = {}
  for at, line in ipairs(lines) do
    local before = (at == 1 or lead ~= '> ') and lead or '  '
    table.insert(out, { before .. line, highlight })
  end
  return out
end

local function note(said)
  return { '-- ' .. text.one_line(said), 'TackroomDim' }
end

local function word(payload, name)
  local value = payload[name]
  if value == nil or value == vim.NIL then
    return '?'
  end
  return text.cut(text.one_line(text.json(value)), text.CHARS)
end

local function string_of(payload, name)
  return type(payload[name]) == 'string' and payload[name] or ''
end

local ANSWERED = {
  allow = 'allowed',
  allow_for_session = 'allowed for this session',
  deny = 'denied',
  accept = 'answered',
  decline = 'declined',
  cancel = 'dropped',
}

---What happened beside what is said and done, in a few words.
local REMARKS = {
  turn_interrupted = function()
    return 'the turn was interrupted'
  end,
  turn_aborted = function(payload)
    return 'the turn was aborted by ' .. word(payload, 'source')
  end,
  cache_warning = function(payload)
    return word(payload, 'message')
  end,
  model_changed = function(payload)
    local from, to, why = word(payload, 'from'), word(payload, 'to'), word(payload, 'reason')
    return ('the model changed from %s to %s: %s'):format(from, to, why)
  end,
  provider_retry = function(payload)
    local delay, attempt, why = word(payload, 'delay_ms'), word(payload, 'attempt'), word(payload, 'reason')
    return ('the model is asked again in %s ms (attempt %s): %s'):format(delay, attempt, why)
  end,
  request_resolved = function(payload)
    local response = type(payload.response) == 'table' and payload.response or {}
    local how = ANSWERED[response.decision] or ANSWERED[response.action] or 'settled'
    return ('request %s: %s'):format(word(payload, 'request_id'), how)
  end,
  native_event = function(payload)
    return 'the agent says ' .. word(payload, 'kind')
  end,
  runtime_disconnected = function(payload)
    return 'the agent is gone: ' .. word(payload, 'message')
  end,
}

local function remark(kind, payload)
  if REMARKS[kind] then
    return REMARKS[kind](payload)
  end
  local named = kind:gsub('_', ' ')
  for _, name in ipairs({ 'message', 'text', 'reason', 'prompt' }) do
    if type(payload[name]) == 'string' then
      return ('%s: %s'):format(named, word(payload, name))
    end
  end
  return named
end

local function call(name, arguments)
  local given = text.cut(text.one_line(text.json(arguments)), text.CHARS)
  return { ('* %s %s'):format(text.one_line(name), given), 'TackroomCalm' }
end

---@private
---@return tackroom.Line[]
function View:stream(lead, highlight, piece)
  local lines = {}
  if not self.open or self.open.lead ~= lead then
    lines = self:finish()
    self.open = { lead = lead, highlight = highlight, cleaner = text.cleaner(), line = '' }
  end
  local open = assert(self.open)
  local parts = vim.split(open.cleaner:clean(piece), '\n', { plain = true })
  for at, part in ipairs(parts) do
    open.line = open.line .. part
    if at < #parts or #open.line >= LONGEST then
      table.insert(lines, { lead .. open.line, highlight })
      open.line = ''
    end
  end
  return lines
end

---The line that is being said.
---@return tackroom.Line?
function View:partial()
  local open = self.open
  if open and open.line ~= '' then
    return { open.lead .. open.line, open.highlight }
  end
end

---Ends the line that is being said.
---@return tackroom.Line[]
function View:finish()
  local partial = self:partial()
  self.open = nil
  return { partial }
end

local STREAMS = {
  text_delta = { '', nil, 'text' },
  reasoning = { '~ ', 'TackroomDim', 'text' },
  background_output = { '  & ', 'TackroomDim', 'chunk' },
}

---@type table<string, fun(payload: table, view: tackroom.View): tackroom.Line[]>
local EVENTS = {
  -- Numbers that nobody follows, and what other events say better.
  turn_started = function()
    return {}
  end,
  turn_completed = function()
    return {}
  end,
  usage = function()
    return {}
  end,
  turn_succeeded = function(payload, view)
    return view.silent and led('', nil, text.lines(string_of(payload, 'reply'))) or {}
  end,
  user_message = function(payload)
    return led('> ', 'TackroomUser', text.lines(string_of(payload, 'text')))
  end,
  tool_call_started = function(payload)
    return { call(payload.name, payload.arguments) }
  end,
  tool_call_completed = function(payload)
    local highlight = payload.is_error == true and 'TackroomAlert' or 'TackroomDim'
    return led('  | ', highlight, text.lines(string_of(payload, 'output'), LINES_OF_TOOL))
  end,
  request = function(payload)
    local request = asked.of(payload)
    if not request then
      return {}
    end
    local question = { '? ' .. asked.question(request), 'TackroomWaiting' }
    return vim.list_extend({ question }, led('  ', 'TackroomWaiting', request.details))
  end,
  turn_failed = function(payload)
    return { { '! the turn failed: ' .. text.one_line(payload.message), 'TackroomAlert' } }
  end,
}

---The lines that an event adds.
---@param kind string
---@param payload any
---@return tackroom.Line[]
function View:event(kind, payload)
  payload = type(payload) == 'table' and payload or {}
  local stream = STREAMS[kind]
  if stream then
    self.silent = self.silent and kind ~= 'text_delta'
    return self:stream(stream[1], stream[2], string_of(payload, stream[3]))
  end
  local lines = self:finish()
  local known = EVENTS[kind]
  vim.list_extend(lines, known and known(payload, self) or { note(remark(kind, payload)) })
  self.silent = kind == 'turn_started' or (self.silent and kind ~= 'turn_succeeded')
  return lines
end

---The lines of a message of the history, shortened.
---@param message any
---@return tackroom.Line[]
function M.message(message)
  if type(message) ~= 'table' then
    return {}
  end
  local content = message.content
  if type(content) == 'table' then
    content = vim.iter(content):map(function(part)
      part = type(part) == 'table' and part or {}
      if type(part.text) == 'string' then
        return part.text
      end
      return part.type == 'image_url' and '[image]' or ('[%s]'):format(text.json(part.type or 'something'))
    end):join('\n')
  end
  content = type(content) == 'string' and content or ''
  local lines
  if message.role == 'user' then
    lines = led('> ', 'TackroomUser', text.lines(content, LINES_OF_HISTORY))
  elseif message.role == 'tool' then
    lines = led('  | ', 'TackroomDim', text.lines(content, LINES_OF_TOOL / 2))
  elseif message.role == 'system' then
    lines = led('-- ', 'TackroomDim', text.lines(content, 2))
  else
    lines = led('', nil, text.lines(content, LINES_OF_HISTORY))
  end
  for _, made in ipairs(type(message.tool_calls) == 'table' and message.tool_calls or {}) do
    local named = type(made) == 'table' and type(made['function']) == 'table' and made['function'] or {}
    table.insert(lines, call(named.name, named.arguments))
  end
  return lines
end

M.note = note

return M
