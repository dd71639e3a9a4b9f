-- What a runtime asks a person. Pure.
local text = require('tackroom.text')

local M = {}

---Characters of the details; who approves is told where there are more.
local DETAILS = 4000

---@class tackroom.Asked
---@field id integer the request's own number
---@field kind 'approval'|'elicitation'|'other'
---@field what string the tool that wants to run, or the question
---@field details string[] what is known of it: who approves must see what
---@field questions integer how many questions a form has
---@field is_cut boolean whether either is shortened
---@field whole string[] both, not shortened

---@class tackroom.Choice
---@field label string
---@field key? string
---@field response? table
---@field needs_answer? boolean
---@field shows? boolean whether it shows all, and answers nothing

---The values that a field of a form takes, as a person reads them.
local function choices_of(field)
  local of = field.type == 'array' and type(field.items) == 'table' and field.items or field
  local titled = type(of.oneOf) == 'table' and of.oneOf or type(of.anyOf) == 'table' and of.anyOf
  if titled then
    return vim.iter(titled):map(function(one)
      return text.one_line(one.title or one.const)
    end):totable()
  end
  return type(of.enum) == 'table' and vim.iter(of.enum):map(text.one_line):totable() or {}
end

---What a form asks: the flat JSON Schema of ACP's and MCP's elicitation. Fields that need an answer come first.
---@return string[] lines
---@return integer count of questions
local function form(schema)
  schema = type(schema) == 'table' and schema or {}
  local fields = type(schema.properties) == 'table' and schema.properties or {}
  local required = type(schema.required) == 'table' and schema.required or {}
  local names, lines, count, choice = vim.tbl_keys(fields), {}, 0, nil
  table.sort(names)
  for _, name in ipairs(names) do
    local field = type(fields[name]) == 'table' and fields[name] or {}
    local needed = vim.tbl_contains(required, name)
    -- A free text that belongs to the choice before it: what is no choice goes there.
    local is_other = choice and field.type == 'string' and not needed and vim.startswith(name, choice .. '_')
    if not is_other then
      local choices = choices_of(field)
      choice, count = #choices > 0 and name or nil, count + 1
      local label = text.one_line(field.title or name) .. (needed and '' or ' (optional)')
      if type(field.description) == 'string' then
        label = label .. ' - ' .. text.one_line(field.description)
      end
      table.insert(lines, label)
      for at, title in ipairs(choices) do
        table.insert(lines, ('  %d. %s'):format(at, title))
      end
    end
  end
  return lines, count
end

---The request of an event; nil where it has no number to answer to.
---@param payload any
---@return tackroom.Asked?
function M.of(payload)
  local request = type(payload) == 'table' and payload.request
  if type(request) ~= 'table' or type(request.id) ~= 'number' then
    return nil
  end
  local asked = type(request.payload) == 'table' and request.payload or {}
  local kind, what, details = request.kind, nil, nil
  if kind == 'approval' then
    for _, member in ipairs({ 'raw_args', 'arguments', 'subject' }) do
      if details == nil and asked[member] ~= vim.NIL then
        details = asked[member]
      end
    end
    what = text.one_line(asked.tool)
    what = what ~= '' and what or 'a tool'
    if type(asked.child_agent_id) == 'string' then
      what = ('%s of subagent %s'):format(what, text.one_line(asked.child_agent_id))
    end
  else
    what = text.one_line(asked.message)
    what = what ~= '' and what or text.one_line(kind)
    kind = kind == 'elicitation' and kind or 'other'
    details = kind == 'other' and asked or nil
  end
  -- As JSON, also where it is a text: what is in it is seen as it is.
  local json = (details == nil or details == vim.NIL) and '' or text.encode(details)
  local name, given = text.cut(what, text.CHARS), text.cut(json, DETAILS)
  local fields, count = form(kind == 'elicitation' and (asked.requested_schema or asked.requestedSchema) or nil)
  return {
    id = request.id,
    kind = kind,
    what = name,
    details = vim.list_extend(text.lines(given), fields),
    questions = count,
    is_cut = name ~= what or given ~= json,
    whole = vim.list_extend(vim.list_extend(text.lines(what), text.lines(json)), fields),
  }
end

---@param asked tackroom.Asked
function M.question(asked)
  local what = asked.kind == 'approval' and ('may it run %s?'):format(asked.what) or asked.what
  return ('request %.0f: %s'):format(asked.id, what)
end

---Events without what is asked in them and answered, too.
---@param events tackroom.RuntimeEvent[]
---@return tackroom.RuntimeEvent[]
function M.without_answered(events)
  local answered = {}
  for _, event in ipairs(events) do
    if event.kind == 'request_resolved' and type(event.payload) == 'table' then
      answered[event.payload.request_id or vim.NIL] = true
    end
  end
  return vim.tbl_filter(function(event)
    local request = event.kind == 'request' and M.of(event.payload)
    return event.kind ~= 'request_resolved' and not (request and answered[request.id])
  end, events)
end

---What can be answered: only what is shown whole can be allowed.
---@param asked tackroom.Asked
---@param is_whole boolean
---@return tackroom.Choice[]
function M.choices(asked, is_whole)
  local function decided(decision)
    return { kind = 'approval', requestId = asked.id, decision = decision }
  end
  local function elicited(action)
    return { kind = asked.kind, requestId = asked.id, action = action }
  end
  if asked.kind == 'approval' and not is_whole then
    return {
      { label = 'Deny', key = 'n', response = decided('deny') },
      { label = 'Show it whole, before it can be allowed', shows = true },
    }
  elseif asked.kind == 'approval' then
    return {
      { label = 'Deny', key = 'n', response = decided('deny') },
      { label = 'Allow once', key = 'y', response = decided('allow') },
      { label = 'Allow for this session', key = 'A', response = decided('allow_for_session') },
    }
  end
  return {
    { label = 'Answer', response = elicited('accept'), needs_answer = true },
    { label = 'Decline', response = elicited('decline') },
    { label = 'Cancel', response = elicited('cancel') },
  }
end

return M
