-- `:Tackroom` and its subcommands.
local client = require('tackroom.client')

local M = {}

local POLICIES = { 'accept', 'hold', 'refuse', 'reset' }
---How long a completion may take, in milliseconds.
local PATIENCE = 1000

local function starting_with(lead, words)
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, words)
end

---Ids, those of the newest sessions first, in full or as the beginning of what was typed has them.
local function complete_id(lead)
  local query = { text = lead ~= '' and lead or nil }
  local params = { query = next(query) and query or nil, limit = 100 }
  local err, page = client.request_sync('registry/list', params, PATIENCE)
  if err then
    return {}
  end
  local words = {}
  for _, entry in ipairs(page.entries) do
    for _, name in ipairs({ entry.id, entry.sessionId }) do
      -- The shell of an id is not needed where its own half is typed.
      if vim.startswith(name, lead) and not vim.list_contains(words, name) and (name == entry.id or lead ~= '') then
        table.insert(words, name)
        break
      end
    end
  end
  return words
end

---@class tackroom.Subcommand
---@field run fun(words: string[], command: table)
---@field complete? fun(lead: string): string[]
---@field at_least integer words that must follow
---@field at_most integer

---@type table<string, tackroom.Subcommand>
local SUBCOMMANDS = {
  list = { at_least = 0, at_most = 0, run = function(_, command)
    require('tackroom').list(command.smods)
  end },
  pick = { at_least = 0, at_most = math.huge, run = function(words)
    require('tackroom').pick(table.concat(words, ' '))
  end },
  open = { at_least = 1, at_most = 1, complete = complete_id, run = function(words)
    require('tackroom').open(words[1])
  end },
  attach = { at_least = 1, at_most = 1, complete = complete_id, run = function(words)
    require('tackroom').attach(words[1])
  end },
  resume = { at_least = 1, at_most = 1, complete = complete_id, run = function(words)
    require('tackroom').resume(words[1])
  end },
  message = { at_least = 1, at_most = math.huge, complete = complete_id, run = function(words)
    require('tackroom').message(words[1], table.concat(words, ' ', 2))
  end },
  inbound = {
    at_least = 0,
    at_most = 1,
    complete = function(lead)
      return starting_with(lead, POLICIES)
    end,
    run = function(words)
      if words[1] and not vim.list_contains(POLICIES, words[1]) then
        return client.notify('the policies are ' .. table.concat(POLICIES, ', '), vim.log.levels.ERROR)
      end
      require('tackroom').inbound(words[1])
    end,
  },
  stop = { at_least = 0, at_most = 0, run = function()
    client.stop()
  end },
}

local function names()
  local words = vim.tbl_keys(SUBCOMMANDS)
  table.sort(words)
  return words
end

---@param command table as nvim_create_user_command() has it
function M.run(command)
  local holds, why_not = pcall(require('tackroom.config').get)
  if not holds then
    return client.notify('the configuration does not hold: ' .. tostring(why_not), vim.log.levels.ERROR)
  end
  local words = vim.list_slice(command.fargs, 2)
  local name = command.fargs[1] or 'list'
  local subcommand = SUBCOMMANDS[name]
  if not subcommand then
    local known = table.concat(names(), ', ')
    return client.notify(('there is no `%s`; there are %s'):format(name, known), vim.log.levels.ERROR)
  elseif #words < subcommand.at_least then
    return client.notify(('`:Tackroom %s` needs the id of a session'):format(name), vim.log.levels.ERROR)
  elseif #words > subcommand.at_most then
    return client.notify(('`:Tackroom %s` takes fewer words'):format(name), vim.log.levels.ERROR)
  end
  subcommand.run(words, command)
end

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local before = vim.split(line:sub(1, #line - #lead), '%s+', { trimempty = true })
  local at = 1
  while before[at] and not before[at]:find('^T') do
    at = at + 1
  end
  local words = vim.list_slice(before, at + 1)
  if #words == 0 then
    return starting_with(lead, names())
  end
  local subcommand = SUBCOMMANDS[words[1]]
  return #words == 1 and subcommand and subcommand.complete and subcommand.complete(lead) or {}
end

return M
