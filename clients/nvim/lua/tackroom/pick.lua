-- A session picked through `vim.ui.select`, whatever the user has put there.
local client = require('tackroom.client')
local entries = require('tackroom.entry')
local inventory = require('tackroom.inventory')
local ui = require('tackroom.ui')

local M = {}

---@param wanted string
---@param found tackroom.Entry[]
---@return tackroom.Entry[]
local function matching(wanted, found)
  if vim.trim(wanted) == '' then
    return found
  end
  return vim.fn.matchfuzzy(found, wanted, { text_cb = entries.haystack })
end

---@param wanted string what the session is like, fuzzily; empty: all
---@param chosen fun(entry: tackroom.Entry)
function M.pick(wanted, chosen)
  inventory.snapshot(function(err, found)
    if not found then
      return client.notify(assert(err), vim.log.levels.ERROR)
    end
    found = matching(wanted, found)
    if #found == 0 then
      return client.notify('no session matches')
    end
    local now, ids = entries.now_ms(), entries.short_ids(found)
    vim.ui.select(found, {
      prompt = 'Session',
      kind = 'tackroom',
      format_item = function(entry)
        return ui.item(entries.line(entry, ids[entry.sessionId], now))
      end,
    }, function(entry)
      if entry then
        chosen(entry)
      end
    end)
  end)
end

return M
