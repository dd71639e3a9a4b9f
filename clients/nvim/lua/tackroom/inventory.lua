-- What the server tells of all sessions, kept true by a watch for as long as somebody looks.
local client = require('tackroom.client')
local entries = require('tackroom.entry')
local text = require('tackroom.text')
local ui = require('tackroom.ui')

local M = {}

---How long changes are gathered before who looks hears of them, in milliseconds.
local GATHER = 30
---Characters of an id that must be given at least.
local SHORTEST = 4

---@class tackroom.Inventory
---@field entries table<string, tackroom.Entry>
---@field problems tackroom.Problem[]
---@field is_synced boolean whether everything there is has been told
---@field trouble? string why nothing is told
---@field private query table
---@field private subscription? string
---@field private is_asking boolean
---@field private telling? table<string, true> what was told of a state that is told whole
---@field private listeners table<fun(), true>
---@field private is_gathering boolean
local Inventory = {}
Inventory.__index = Inventory

---@private
function Inventory:changed()
  if self.is_gathering then
    return
  end
  self.is_gathering = true
  vim.defer_fn(function()
    self.is_gathering = false
    for listener in pairs(self.listeners) do
      listener()
    end
  end, GATHER)
end

---@private
function Inventory:take(event)
  local kind = event.kind
  if kind == 'added' or kind == 'updated' then
    self.entries[event.entry.id] = event.entry
    if self.telling then
      self.telling[event.entry.id] = true
    end
  elseif kind == 'removed' then
    self.entries[event.id] = nil
  elseif kind == 'error' then
    table.insert(self.problems, event.problem)
  elseif kind == 'recovered' then
    self.problems = vim.tbl_filter(function(known)
      return not vim.deep_equal(known, event.problem)
    end, self.problems)
  elseif kind == 'resync' then
    self.telling, self.problems = {}, {}
  elseif kind == 'synced' then
    self.is_synced = true
    for id in pairs(self.telling and self.entries or {}) do
      if not self.telling[id] then
        self.entries[id] = nil
      end
    end
    self.telling = nil
  end
  if self.is_synced then
    self:changed()
  end
end

---@private
function Inventory:watch()
  if self.subscription or self.is_asking then
    return
  end
  self.is_asking = true
  client.request('registry/watch', { query = self.query }, function(err, result)
    self.is_asking = false
    self.trouble = err and err.message
    if result then
      self.subscription = result.subscription
      -- All comes again, and what does not is gone.
      self.telling, self.problems = {}, {}
      client.on(result.subscription, function(params)
        self:take(params.event)
      end)
      if not next(self.listeners) then
        self:unwatch()
      end
    end
    self:changed()
  end)
end

---@private
function Inventory:unwatch()
  if self.subscription then
    client.on(self.subscription, nil)
    client.request('registry/unwatch', { subscription = self.subscription }, function() end)
  end
  self.subscription, self.entries, self.problems, self.is_synced = nil, {}, {}, false
end

---Looks, and hears of changes until what is answered is called.
---@param listener fun()
---@return fun() release
function Inventory:use(listener)
  self.listeners[listener] = true
  self:watch()
  return function()
    self.listeners[listener] = nil
    if not next(self.listeners) then
      self:unwatch()
    end
  end
end

---Looks anew at everything.
function Inventory:refresh()
  if self.subscription then
    client.on(self.subscription, nil)
    client.request('registry/unwatch', { subscription = self.subscription }, function() end)
    self.subscription = nil
  end
  self:watch()
end

---How many sessions are in each state.
---@return table<string, integer>
function Inventory:counts()
  local counts = {}
  for _, entry in pairs(self.entries) do
    counts[entry.state] = (counts[entry.state] or 0) + 1
  end
  return counts
end

local function new(query)
  local inventory = setmetatable({
    entries = {},
    problems = {},
    is_synced = false,
    query = query,
    is_asking = false,
    listeners = {},
    is_gathering = false,
  }, Inventory)
  client.hook(function()
    inventory.subscription, inventory.trouble = nil, 'the server ended'
    inventory:changed()
  end, function()
    if next(inventory.listeners) then
      inventory:watch()
    end
  end)
  return inventory
end

---All sessions, and those that run, of which there are few.
M.all, M.live = new(vim.empty_dict()), new({ persisted = false })

---Those that are meant by a name: the ones whose id it is, else whose name, else whose id begins with it.
---@param name string
---@param found tackroom.Entry[]
---@return tackroom.Entry[]
local function meant(name, found)
  local tiers = { {}, {}, {} }
  for _, entry in ipairs(found) do
    local ids = { entry.id, entry.sessionId, entry.persistedId }
    if entry.id == name then
      table.insert(tiers[1], entry)
    elseif vim.list_contains(entries.names(entry), name) then
      table.insert(tiers[2], entry)
    elseif #name >= SHORTEST and vim.iter(vim.tbl_values(ids)):any(function(id)
      return vim.startswith(id, name)
    end) then
      table.insert(tiers[3], entry)
    end
  end
  return vim.iter(tiers):find(function(tier)
    return #tier > 0
  end) or {}
end

---The one entry that a person means by an id, the beginning of one, or a name; of several, the person chooses.
---@param name string
---@param callback fun(err?: string, entry?: tackroom.Entry)
function M.find(name, callback)
  local query = { text = name, includeChildren = true }
  client.request('registry/list', { query = query, limit = 1000 }, function(err, result)
    if err then
      return callback(err.message)
    end
    local found = meant(name, result.entries)
    local shown = text.one_line(name)
    if #found == 0 then
      return callback(('there is no session `%s`; `:Tackroom` shows those that there are'):format(shown))
    elseif #found == 1 then
      return callback(nil, found[1])
    end
    vim.ui.select(found, {
      prompt = ('`%s` may be'):format(shown),
      kind = 'tackroom',
      format_item = function(entry)
        local words = { text.one_line(entry.id), text.path(entry.workspace), entries.title(entry) }
        return ui.item(table.concat(words, '  '))
      end,
    }, function(entry)
      if entry then
        callback(nil, entry)
      end
    end)
  end)
end

---The entries of one answer, in the order of a person.
---@param callback fun(err?: string, entries?: tackroom.Entry[])
function M.snapshot(callback)
  -- What lives may have been silent for longer than a page reaches back.
  client.request('registry/list', { query = { persisted = false }, limit = 1000 }, function(err, live)
    if err then
      return callback(err.message)
    end
    client.request('registry/list', { limit = 1000 }, function(failed, page)
      if failed then
        return callback(failed.message)
      end
      local known, all = {}, {}
      for _, entry in ipairs(vim.list_extend(live.entries, page.entries)) do
        if not known[entry.id] then
          known[entry.id] = true
          table.insert(all, entry)
        end
      end
      table.sort(all, entries.is_before)
      callback(nil, all)
    end)
  end)
end

return M
