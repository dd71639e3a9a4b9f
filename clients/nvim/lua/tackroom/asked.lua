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
---@field decisions table<string, true> the decisions that the runtime accepts for an approval
---@field is_cut boolean whether either is shortened
---@field whole string[] both, not shortened

---@class tackroom.Choice
---@field label string
---@field key? string
---@field response? table
---@field needs_answer? boolean
---@field shows? boolean whether it shows all, and answers nothing

---The decisions of an approval, safest first.
local DECISIONS = {
  { label = 'Deny', key = 'n', decision = 'deny', effect = 'n denies' },
  { label = 'Allow once', key = 'y', decision = 'allow', effect = 'y allows' },
  { label = 'Allow for this session', key = 'A', decision = 'allow_for_session', effect = 'A allows for this session' },
}

---The decisions that a request lists; all of them if it lists none, as a runtime other than a host does.
local function decisions_of(listed)
  local accepted = {}
  for _, one in ipairs(DECISIONS) do
    if not vim.islist(listed) or vim.list_contains(listed, one.decision) then
      accepted[one.decision] = true
    end
  end
  return accepted
end

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

---The names of a form's fields, in the order that the host lists, because a table has none; the rest by name.
local function names_of(fields, order)
  local names, listed = {}, {}
  for _, name in ipairs(vim.islist(order) and order or {}) do
    if fields[name] ~= nil and not listed[name] then
      listed[name] = true
      table.insert(names, name)
    end
  end
  local rest = vim.tbl_filter(function(name)
    return not listed[name]
  end, vim.tbl_keys(fields))
  table.sort(rest)
  return vim.list_extend(names, rest)
end

---What a form asks: the flat JSON Schema of ACP's and MCP's elicitation.
---@return string[] lines
---@return integer count of questions
local function form(schema, order)
  schema = type(schema) == 'table' and schema or {}
  local fields = type(schema.properties) == 'table' and schema.properties or {}
  local required = type(schema.required) == 'table' and schema.required or {}
  local lines, count, choice = {}, 0, nil
  for _, name in ipairs(names_of(fields, order)) do
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
  local schema = kind == 'elicitation' and (asked.requested_schema or asked.requestedSchema) or nil
  local fields, count = form(schema, asked.field_order)
  return {
    id = request.id,
    kind = kind,
    what = name,
    details = vim.list_extend(text.lines(given), fields),
    questions = count,
    decisions = decisions_of(asked.decisions),
    is_cut = name ~= what or given ~= json,
    whole = vim.list_extend(vim.list_extend(text.lines(what), text.lines(json)), fields),
  }
end

---@param asked tackroom.Asked
function M.question(asked)
  local what = asked.kind == 'approval' and ('may it run %s?'):format(asked.what) or asked.what
  return ('request %.0f: %s'):format(asked.id, what)
end

---What the keys do that answer an approval, in one line.
---@param asked tackroom.Asked
function M.keys(asked)
  local effects = {}
  for _, one in ipairs({ DECISIONS[2], DECISIONS[1], DECISIONS[3] }) do
    if asked.decisions[one.decision] then
      table.insert(effects, one.effect)
    end
  end
  return table.concat(effects, ', ')
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
  if asked.kind == 'approval' then
    local choices = {}
    for _, one in ipairs(DECISIONS) do
      if asked.decisions[one.decision] and (is_whole or one.decision == 'deny') then
        table.insert(choices, { label = one.label, key = one.key, response = decided(one.decision) })
      end
    end
    if not is_whole then
      table.insert(choices, { label = 'Show it whole, before it can be allowed', shows = true })
    end
    return choices
  end
  return {
    { label = 'Answer', response = elicited('accept'), needs_answer = true },
    { label = 'Decline', response = elicited('decline') },
    { label = 'Cancel', response = elicited('cancel') },
  }
end

return M
