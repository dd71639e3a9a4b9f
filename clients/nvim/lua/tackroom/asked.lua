-- What a runtime asks a person. Pure.
local text = require('tackroom.text')

local M = {}

---Characters of the details; who approves is told where there are more.
local DETAILS = 4000

---@class tackroom.Asked
---@field id integer the request's own number
---@field kind 'approval'|'elicitation'|'other'
---@field what string the tool that wants to run, or the question
---@field details string[] all that is known of it: who approves must see what

---@class tackroom.Choice
---@field label string
---@field key? string
---@field response? table
---@field needs_answer? boolean

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
  return { id = request.id, kind = kind, what = what, details = text.lines(text.cut(json, DETAILS)) }
end

---@param asked tackroom.Asked
function M.question(asked)
  local what = asked.kind == 'approval' and ('may it run %s?'):format(asked.what) or asked.what
  return ('request %.0f: %s'):format(asked.id, what)
end

---What can be answered.
---@param asked tackroom.Asked
---@return tackroom.Choice[]
function M.choices(asked)
  local function decided(decision)
    return { kind = 'approval', requestId = asked.id, decision = decision }
  end
  local function elicited(action)
    return { kind = asked.kind, requestId = asked.id, action = action }
  end
  if asked.kind == 'approval' then
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
