-- An attachment to a runtime and what is known of it: who drives, what runs, what waits for an answer.
local asked = require('tackroom.asked')
local client = require('tackroom.client')

local M = {}

local TURN_ENDS = { turn_succeeded = true, turn_interrupted = true, turn_failed = true }

---@class tackroom.Session
---@field id string
---@field attachment? string nil where it is over
---@field client_id? string the name by which the runtime knows us
---@field about table what the runtime says of itself
---@field running boolean whether a turn runs
---@field driver? string who drives
---@field looking integer how many others look
---@field asked tackroom.Asked[] what waits for an answer, the oldest first
---@field private last integer
---@field private hear fun(event: tackroom.RuntimeEvent)
local Session = {}
Session.__index = Session

---@param id string an entry's id
---@param hear fun(event: tackroom.RuntimeEvent) is called for each event
---@return tackroom.Session
function M.new(id, hear)
  local session = { id = id, about = {}, running = false, looking = 0, asked = {}, last = 0, hear = hear }
  session.client_id = 'nvim-' .. vim.fn.getpid()
  return setmetatable(session, Session)
end

---@private
---@param lease tackroom.Lease
function Session:leased(lease)
  self.driver = lease.controller and lease.controller.clientId
  self.looking = 0
  for _, one in ipairs(lease.observers) do
    self.looking = self.looking + ((one.clientId ~= self.driver and one.clientId ~= self.client_id) and 1 or 0)
  end
end

---@private
---@param event tackroom.RuntimeEvent
function Session:note(event)
  local payload = type(event.payload) == 'table' and event.payload or {}
  self.last = math.max(self.last, event.sequence or 0)
  if event.kind == 'turn_started' then
    self.running = true
  elseif TURN_ENDS[event.kind] then
    self.running = false
    -- A host reports each request that is over; what was asked outside of the turn stays open.
    local extensions = self.about.extensions
    if not (type(extensions) == 'table' and extensions.tackroom) then
      self.asked = {}
    end
  elseif event.kind == 'request' then
    table.insert(self.asked, asked.of(event.payload))
  elseif event.kind == 'request_resolved' then
    self.asked = vim.tbl_filter(function(one)
      return one.id ~= payload.request_id
    end, self.asked)
  elseif event.kind == 'lagged' or event.kind == 'disconnected' then
    self.last = event.cursor or self.last
    self:over()
  end
end

---Nothing more is heard or said.
function Session:over()
  if self.attachment then
    client.on(self.attachment, nil)
  end
  self.attachment, self.running, self.asked = nil, false, {}
end

---Joins, or joins again from where it was left.
---@param callback fun(err?: tackroom.Error, joined?: table)
function Session:join(callback)
  local params = { id = self.id, clientId = self.client_id, after = self.last > 0 and self.last or nil }
  client.request('runtime/attach', params, function(err, joined)
    if err then
      return callback(err)
    end
    self.attachment, self.client_id = joined.attachment, joined.clientId
    self.about = joined.descriptor
    self.running, self.asked = self.about.turn_state == 'busy', {}
    self:leased(joined.lease)
    self.last = math.max(self.last, joined.historyCursor)
    client.on(joined.attachment, function(params_of_event)
      self:note(params_of_event.event)
      self.hear(params_of_event.event)
    end)
    for _, event in ipairs(joined.replay) do
      self:note(event)
    end
    callback(nil, joined)
  end)
end

---Leaves; the runtime goes on.
---@param callback? fun()
function Session:leave(callback)
  local attachment = self.attachment
  self:over()
  if attachment then
    client.request('runtime/detach', { attachment = attachment }, callback or function() end)
  end
end

---Whether this client drives.
function Session:drives()
  return self.driver ~= nil and self.driver == self.client_id
end

function Session:is_driven_by_another()
  return self.driver ~= nil and self.driver ~= self.client_id
end

---Whether the runtime offers an action to us.
---@param name 'submit'|'interrupt'|'steer'|'respond'
function Session:can(name)
  return type(self.about.actions) == 'table' and self.about.actions[name] == true
end

---Asks something of the runtime.
---@param method string
---@param params table
---@param callback tackroom.Callback
function Session:ask(method, params, callback)
  if not self.attachment then
    return callback({ code = 0, message = 'not attached; R attaches again' })
  end
  local attachment = self.attachment
  params.attachment = attachment
  client.request('runtime/' .. method, params, function(err, result)
    if self.attachment ~= attachment then
      -- What was true of an attachment before this one.
      return callback(err, result)
    elseif err and err.data and err.data.reason == 'controller_required' then
      self.driver = err.data.holder or self.driver
    elseif err and err.data and err.data.reason == 'lease_expired' then
      self.driver = nil
    elseif result and result.lease then
      self:leased(result.lease)
    elseif result then
      -- Who drives a turn has control.
      self.driver = self.client_id
    end
    callback(err, result)
  end)
end

return M
