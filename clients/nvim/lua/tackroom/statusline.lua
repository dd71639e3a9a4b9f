-- What waits for a person and what is busy, for a statusline. Only what runs is watched for it.
local inventory = require('tackroom.inventory').live

local M = {}

local is_watching = false
local shown = ''

local function changed()
  local counts, words = inventory:counts(), {}
  for _, state in ipairs({ 'waiting', 'busy' }) do
    if counts[state] then
      table.insert(words, ('%d %s'):format(counts[state], state))
    end
  end
  local now = inventory.trouble and '' or table.concat(words, ', ')
  if now ~= shown then
    shown = now
    vim.cmd.redrawstatus({ bang = true })
  end
end

---@return string
function M.get()
  if not is_watching then
    -- Begun once: a statusline is drawn too often to try again at each drawing.
    is_watching = true
    vim.schedule(function()
      inventory:use(changed)
    end)
  end
  return shown
end

return M
