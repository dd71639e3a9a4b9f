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
---@field is_cut boolean whether either is shortened
---@field whole string[] both, not shortened

---@class tackroom.Choice
---@field label string
---@field key? string
---@field response? table
---@field needs_answer? boolean
---@field shows? boolean whether it shows all, and answers nothing

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
    details = kind == 'other' and asked or asked.requested_schema or asked.requestedSchema
  end
  -- As JSON, also where it is a text: what is in it is seen as it is.
  local json = (details == nil or details == vim.NIL) and '' or text.encode(details)
  local name, given = text.cut(what, text.CHARS), text.cut(json, DETAILS)
  return {
    id = request.id,
    kind = kind,
    what = name,
    details = text.lines(given),
    is_cut = name ~= what or given ~= json,
    whole = vim.list_extend(text.lines(what), text.lines(json)),
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
