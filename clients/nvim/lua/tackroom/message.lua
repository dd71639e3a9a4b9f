-- A message to a live session: one line at once, or a buffer whose `:w` sends it.
local client = require('tackroom.client')
local entries = require('tackroom.entry')
local text = require('tackroom.text')

local M = {}

---Cells of a title in a notice, which shall not want an Enter.
local TITLE = 40

local SAID = {
  accepted = 'is in its inbox; whether it acts on it is its own affair',
  held = 'is held until its person lets it in',
  refused = 'is refused by it',
}

---@param entry tackroom.Entry
---@param said string
---@param callback fun(is_delivered: boolean)
function M.send(entry, said, callback)
  client.request('peer/message', { id = entry.id, text = said }, function(err, result)
    if err then
      client.notify(text.one_line(err.message), vim.log.levels.ERROR)
      return callback(false)
    end
    local title = text.short(entries.title(entry), TITLE)
    local outcome = ('the message to %s %s'):format(title, SAID[result.outcome] or result.outcome)
    local detail = result.detail and ': ' .. text.one_line(result.detail) or ''
    local level = result.outcome == 'refused' and vim.log.levels.ERROR or vim.log.levels.INFO
    client.notify(outcome .. detail, level)
    callback(result.outcome ~= 'refused')
  end)
end

---Opens a buffer to write a message in.
---@param entry tackroom.Entry
function M.compose(entry)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buf, ('tackroom://message/%s/%d'):format(entry.id, buf))
  vim.bo[buf].buftype, vim.bo[buf].bufhidden, vim.bo[buf].filetype = 'acwrite', 'wipe', 'tackroom_message'
  vim.cmd('botright sbuffer ' .. buf)
  vim.api.nvim_win_set_height(0, 6)
  local title = entries.title(entry):gsub('%%', '%%%%')
  vim.wo[0][0].winbar = ('%%#TackroomTitle#to %s%%* - :w sends it, :q! drops it'):format(title)
  local is_sending = false
  vim.api.nvim_create_autocmd('BufWriteCmd', {
    buffer = buf,
    callback = function()
      local said = vim.trim(table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n'))
      if is_sending or said == '' then
        return client.notify(is_sending and 'the message is on its way' or 'there is nothing to send')
      end
      is_sending = true
      M.send(entry, said, function(is_delivered)
        is_sending = false
        if is_delivered and vim.api.nvim_buf_is_valid(buf) then
          vim.api.nvim_buf_delete(buf, { force = true })
        end
      end)
    end,
  })
end

return M
