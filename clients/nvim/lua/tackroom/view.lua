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
---@field private later tackroom.Line[] notes that wait for the end of the text that is open
---@field private calls { id: string, line: tackroom.Line, shown: boolean }[] calls that are not complete
---@field private silent boolean whether a turn has said nothing yet since it began before our eyes
local View = {}
View.__index = View

function M.new()
  return setmetatable({ silent = false, later = {}, calls = {} }, View)
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
    lines = self:end_text()
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

---The line that may still change: the text that is being said, else the call that begins.
---@return tackroom.Line?
function View:partial()
  local open = self.open
  if open and open.line ~= '' then
    return { open.lead .. open.line, open.highlight }
  end
  for at = #self.calls, 1, -1 do
    if not self.calls[at].shown then
      return self.calls[at].line
    end
  end
end

---@private
---@return tackroom.Line[]
function View:end_text()
  local lines, open = {}, self.open
  if open and open.line ~= '' then
    table.insert(lines, { open.lead .. open.line, open.highlight })
  end
  vim.list_extend(lines, self.later)
  self.open, self.later = nil, {}
  return lines
end

---Shows the calls that are held.
---@private
---@return tackroom.Line[]
function View:release()
  local lines = {}
  for _, one in ipairs(self.calls) do
    if not one.shown then
      one.shown = true
      table.insert(lines, one.line)
    end
  end
  return lines
end

---Ends what is open.
---@return tackroom.Line[]
function View:finish()
  return vim.list_extend(self:end_text(), self:release())
end

---Takes in that a call begins, is known better, or is complete. A call whose arguments are not known yet is held: an agent
---may reveal what it calls only after the call began. A call that turns out to be another is shown again.
---@private
---@return tackroom.Line[]
function View:called(kind, payload)
  local id, given, status = string_of(payload, 'id'), string_of(payload, 'arguments'), string_of(payload, 'status')
  local before
  for at, one in ipairs(self.calls) do
    if one.id == id then
      before = table.remove(self.calls, at)
      break
    end
  end
  -- The end of a call need not repeat what it was.
  local is_said = (given ~= '' and given ~= 'null') or kind == 'tool_call_started'
  local line = before and before.line
  if is_said and string_of(payload, 'name') ~= '' then
    line = call(payload.name, given)
  end
  if not line then
    return {}
  end
  local is_held = kind == 'tool_call_started' and status == 'pending'
  if kind == 'tool_call_updated' then
    is_held = (given == '' or given == '{}' or given == 'null') and status ~= 'in_progress'
  end
  local is_news = not is_held and not (before and before.shown and before.line[1] == line[1])
  if kind ~= 'tool_call_completed' then
    table.insert(self.calls, { id = id, line = line, shown = is_news or (before ~= nil and before.shown) })
  end
  return is_news and { line } or {}
end

local STREAMS = {
  text_delta = { '', nil, 'text' },
  reasoning = { '~ ', 'TackroomDim', 'text' },
  background_output = { '  & ', 'TackroomDim', 'chunk' },
}

---What is not part of the conversation, and is shown all the same. Such events may come in the middle of a sentence.
local NOTES = { model_changed = true, cache_warning = true, provider_retry = true }

local function nothing()
  return {}
end

local function remarked(kind)
  return function(payload)
    return { note(remark(kind, payload)) }
  end
end

---The conversation. What is neither this nor a note is for programs.
---@type table<string, fun(payload: table, view: tackroom.View): tackroom.Line[]>
local EVENTS = {
  turn_started = nothing,
  turn_completed = nothing,
  tool_call_started = nothing,
  tool_call_updated = nothing,
  turn_interrupted = remarked('turn_interrupted'),
  turn_aborted = remarked('turn_aborted'),
  request_resolved = remarked('request_resolved'),
  scheduled_prompt_started = remarked('scheduled_prompt_started'),
  scheduled_prompt_deferred = remarked('scheduled_prompt_deferred'),
  scheduled_prompt_completed = remarked('scheduled_prompt_completed'),
  scheduler_error = remarked('scheduler_error'),
  runtime_disconnected = remarked('runtime_disconnected'),
  turn_succeeded = function(payload, view)
    return view.silent and led('', nil, text.lines(string_of(payload, 'reply'))) or {}
  end,
  user_message = function(payload)
    return led('> ', 'TackroomUser', text.lines(string_of(payload, 'text')))
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
  if NOTES[kind] then
    local line = note(remark(kind, payload))
    if not self.open then
      return { line }
    end
    table.insert(self.later, line)
    return {}
  end
  local known = EVENTS[kind]
  if not known then
    return {}
  end
  local lines = self:end_text()
  -- Before a question, and where a turn ends, it is seen what was called.
  local is_call = vim.startswith(kind, 'tool_call_')
  vim.list_extend(lines, is_call and self:called(kind, payload) or self:release())
  vim.list_extend(lines, known(payload, self))
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
