-- What all views share: highlights, maps with their help, lines that change in place.
local text = require('tackroom.text')

local M = {}

---Cells of a menu's line that its number takes, and a margin.
local NUMBER = 8
local SIGN = '│'

M.namespace = vim.api.nvim_create_namespace('tackroom')

local HIGHLIGHTS = {
  TackroomWaiting = 'DiagnosticWarn',
  TackroomBusy = 'DiagnosticInfo',
  TackroomCalm = 'DiagnosticOk',
  TackroomDim = 'Comment',
  TackroomAlert = 'DiagnosticError',
  TackroomGroup = 'Directory',
  TackroomTitle = 'Title',
  TackroomRole = 'Statement',
  TackroomUser = 'Identifier',
}
for name, link in pairs(HIGHLIGHTS) do
  vim.api.nvim_set_hl(0, name, { link = link, default = true })
end

---@class tackroom.Key
---@field [1] string what is typed
---@field [2] fun()
---@field [3] string what it does
---@field mode? string|string[]

---@param keys tackroom.Key[]
local function show_help(keys)
  local lines = {}
  for _, key in ipairs(keys) do
    table.insert(lines, (' %-8s %s '):format(key[1], key[3]))
  end
  local width = vim.iter(lines):map(vim.fn.strdisplaywidth):fold(1, math.max)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].bufhidden, vim.bo[buf].modifiable = 'wipe', false
  local win = vim.api.nvim_open_win(buf, true, {
    relative = 'editor',
    style = 'minimal',
    border = 'rounded',
    title = ' keys ',
    width = math.min(width, vim.o.columns - 4),
    height = math.min(#lines, vim.o.lines - 4),
    row = math.max(0, math.floor((vim.o.lines - #lines) / 2) - 1),
    col = math.max(0, math.floor((vim.o.columns - width) / 2)),
  })
  for _, lhs in ipairs({ 'q', '<Esc>', '<CR>' }) do
    vim.keymap.set('n', lhs, function()
      vim.api.nvim_win_close(win, true)
    end, { buffer = buf, nowait = true })
  end
end

---Maps keys in a buffer, and `g?` to what they do.
---@param buf integer
---@param keys tackroom.Key[]
function M.map(buf, keys)
  keys = vim.list_extend({}, keys)
  table.insert(keys, {
    'g?',
    function()
      show_help(keys)
    end,
    'show this',
  })
  for _, key in ipairs(keys) do
    vim.keymap.set(key.mode or 'n', key[1], key[2], { buffer = buf, nowait = true, desc = 'Tackroom: ' .. key[3] })
  end
end

---A buffer that only this plugin writes to.
---@param name string
---@param filetype string
function M.buffer(name, filetype)
  local buf = vim.iter(vim.api.nvim_list_bufs()):find(function(known)
    return vim.api.nvim_buf_get_name(known) == name
  end)
  if not buf then
    buf = vim.api.nvim_create_buf(true, true)
    vim.api.nvim_buf_set_name(buf, name)
  end
  M.own(buf, filetype)
  return buf
end

---@param buf integer
---@param filetype string
function M.own(buf, filetype)
  local options = vim.bo[buf]
  options.buftype, options.swapfile, options.modifiable, options.undolevels = 'nofile', false, false, -1
  if options.filetype ~= filetype then
    options.filetype = filetype
  end
end

---@param buf integer
---@param from integer as in nvim_buf_set_lines()
---@param to integer
---@param lines string[]
function M.write(buf, from, to, lines)
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, from, to, false, lines)
  vim.bo[buf].modifiable, vim.bo[buf].modified = false, false
end

---Marks a line that is ours, with a sign beside it: a text of others may look like it, but has none.
---@param buf integer
---@param row integer from 0 on
---@param mark vim.api.keyset.set_extmark
function M.mark(buf, row, mark)
  vim.api.nvim_buf_set_extmark(buf, M.namespace, row, 0, vim.tbl_extend('error', { end_row = row + 1 }, mark))
  -- A mark of its own: a sign stands at each line that its mark reaches, and shall go with its line.
  local sign = { sign_text = SIGN, sign_hl_group = mark.hl_group, invalidate = true, undo_restore = false }
  sign.end_row, sign.end_col = row, #vim.api.nvim_buf_get_lines(buf, row, row + 1, true)[1]
  vim.api.nvim_buf_set_extmark(buf, M.namespace, row, 0, sign)
end

---Makes a buffer hold these lines, touching only what differs.
---@param buf integer
---@param old string[] what it holds
---@param new string[]
function M.replace(buf, old, new)
  local first, last = 1, 0
  while first <= #old and first <= #new and old[first] == new[first] do
    first = first + 1
  end
  while last < #old - first + 1 and last < #new - first + 1 and old[#old - last] == new[#new - last] do
    last = last + 1
  end
  if first <= #old - last or first <= #new - last then
    M.write(buf, first - 1, #old - last, vim.list_slice(new, first, #new - last))
  end
end

---Does something with each item, leaving room for keys in between; then `done`.
---@generic T
---@param items T[]
---@param each fun(item: T)
---@param done fun()
function M.in_slices(items, each, done)
  local at = 1
  local function slice()
    local started = vim.uv.hrtime()
    while at <= #items do
      each(items[at])
      at = at + 1
      if (vim.uv.hrtime() - started) / 1e6 > 8 and at <= #items then
        vim.defer_fn(slice, 1)
        return
      end
    end
    done()
  end
  slice()
end

---Sets a window option where a buffer is shown, for that buffer alone.
---@param win integer
---@param options table<string, any>
function M.window(win, options)
  for name, value in pairs(options) do
    vim.wo[win][0][name] = value
  end
end

---Shows a buffer in this window, or in another where this one keeps its own.
---@param buf integer
function M.show(buf)
  if vim.wo.winfixbuf then
    vim.cmd('tab sbuffer ' .. buf)
  else
    vim.api.nvim_win_set_buf(0, buf)
  end
end

---A line of a menu, which shall not wrap.
---@param line string
function M.item(line)
  return text.short(line, vim.o.columns - NUMBER)
end

---A text as it stands in a winbar or statusline.
---@param shown string
function M.escape(shown)
  return (shown:gsub('%%', '%%%%'))
end

return M
