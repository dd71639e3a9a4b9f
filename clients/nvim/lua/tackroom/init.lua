-- Tackroom: sees, reads, joins and messages the coding-agent sessions of this machine.
local M = {}

---Sets options over `vim.g.tackroom`. Need not be called.
---@param opts? table
function M.setup(opts)
  require('tackroom.config').setup(opts)
end

---Does something with the session that is meant by an id or its beginning.
---@param id string
---@param act fun(entry: tackroom.Entry)
local function with(id, act)
  require('tackroom.inventory').find(id, function(err, entry)
    if entry then
      act(entry)
    else
      require('tackroom.client').notify(assert(err), vim.log.levels.ERROR)
    end
  end)
end

---Shows the list of sessions.
---@param mods? table
function M.list(mods)
  require('tackroom.list').open(mods)
end

---Lets a session be picked, and shows its transcript.
---@param wanted? string what it is like, fuzzily
function M.pick(wanted)
  require('tackroom.pick').pick(wanted or '', function(entry)
    require('tackroom.transcript').open(entry.id)
  end)
end

---Shows a session's transcript.
---@param id string
function M.open(id)
  with(id, function(entry)
    require('tackroom.transcript').open(entry.id)
  end)
end

---Joins a running agent.
---@param id string
function M.attach(id)
  with(id, function(entry)
    if not require('tackroom.entry').has_door(entry, 'runtime') then
      local client = require('tackroom.client')
      local why = 'nothing to attach to: it is not published as a runtime; `:Tackroom resume` goes back into it'
      return client.notify(why)
    end
    require('tackroom.attach').open(entry)
  end)
end

---Goes back into a session with its own program, in a terminal.
---@param id string
function M.resume(id)
  with(id, function(entry)
    -- It says itself why a session cannot be resumed.
    local words = vim.list_extend({}, require('tackroom.config').get().cmd)
    vim.list_extend(words, { 'resume', entry.id })
    vim.cmd.tabnew()
    if vim.fn.has('nvim-0.11') == 1 then
      vim.fn.jobstart(words, { term = true })
    else
      vim.fn.termopen(words)
    end
    vim.cmd.startinsert()
  end)
end

---Sends a message into a live session, or opens a buffer to write it in.
---@param id string
---@param said? string
function M.message(id, said)
  with(id, function(entry)
    local client, message = require('tackroom.client'), require('tackroom.message')
    local why_not = client.why_not('message', 'peer/message')
    if not why_not and not require('tackroom.entry').has_door(entry, 'peer') then
      why_not = 'no message can reach it: it is not a live session that takes them'
    end
    if why_not then
      client.notify(why_not, vim.log.levels.ERROR)
    elseif said and vim.trim(said) ~= '' then
      message.send(entry, said, function() end)
    else
      message.compose(entry)
    end
  end)
end

---Shows what Claude Code does with messages of other sessions, or changes it.
---@param policy? 'accept'|'hold'|'refuse'|'reset'
function M.inbound(policy)
  local client = require('tackroom.client')
  local function tell(err, settings)
    if err then
      return client.notify(require('tackroom.text').one_line(err.message), vim.log.levels.ERROR)
    end
    local value = settings.crossSessionInbound or 'not set'
    client.notify(('messages of other sessions: %s (%s)'):format(value, settings.path), vim.log.levels.INFO)
  end
  client.request('settings/read', {}, function(err, settings)
    -- What cannot be read is not guarded, but can be replaced.
    if not policy or (err and err.data and err.data.reason ~= 'invalid_settings') then
      return tell(err, settings)
    end
    local value = policy ~= 'reset' and policy or vim.NIL
    local params = { crossSessionInbound = value, expectedRevision = settings and settings.revision }
    client.request('settings/update', params, tell)
  end)
end

---What waits for a person and what is busy, as `1 waiting, 2 busy`; empty where nothing does.
---@return string
function M.statusline()
  return require('tackroom.statusline').get()
end

return M
