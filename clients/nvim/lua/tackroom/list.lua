-- The list of `:Tackroom`: a buffer that keeps itself true, and its cursor on its session.
local client = require('tackroom.client')
local config = require('tackroom.config')
local entries = require('tackroom.entry')
local inventory = require('tackroom.inventory').all
local text = require('tackroom.text')
local ui = require('tackroom.ui')

local M = {}

local NAME = 'tackroom://list'
---How often ages are drawn anew though nothing changed, in milliseconds.
local AGES = 60000
local GROUPS = { 'workspace', 'harness', 'none' }
local STATES = { 'waiting', 'busy', 'idle', 'live', 'shutting_down' }

---@class tackroom.Row
---@field line string
---@field entry? tackroom.Entry

local state = {
  buf = nil, ---@type integer?
  rows = {}, ---@type tackroom.Row[]
  group = nil, ---@type string?
  stored = nil, ---@type integer?
  filter = '',
}

---How things are, in one line.
local function status()
  if inventory.trouble then
    return '-- ' .. text.one_line(inventory.trouble) .. ' - R looks again'
  elseif not inventory.is_synced then
    return '-- looking for sessions'
  end
  local counts, words = inventory:counts(), {}
  for at, name in ipairs(STATES) do
    if counts[name] or at <= 3 then
      table.insert(words, ('%d %s'):format(counts[name] or 0, name))
    end
  end
  local parts = { '-- ' .. table.concat(words, ', ') .. (', %d persisted'):format(counts.persisted or 0) }
  if #inventory.problems > 0 then
    table.insert(parts, text.count(#inventory.problems, 'problem') .. ': :checkhealth tackroom')
  end
  if state.filter ~= '' then
    table.insert(parts, 'only ' .. text.one_line(state.filter))
  end
  table.insert(parts, 'g? helps')
  return table.concat(parts, ' - ')
end

---The entries to show in their order, and how many stored ones are not.
---@return tackroom.Entry[] shown
---@return integer more
local function shown_entries()
  local wanted, found = state.filter:lower(), {}
  for _, entry in pairs(inventory.entries) do
    if wanted == '' or entries.haystack(entry):lower():find(wanted, 1, true) then
      table.insert(found, entry)
    end
  end
  table.sort(found, entries.is_before)
  local stored, shown = 0, {}
  for _, entry in ipairs(found) do
    stored = stored + (entries.is_live(entry) and 0 or 1)
    if entries.is_live(entry) or stored <= state.stored then
      table.insert(shown, entry)
    end
  end
  return shown, #found - #shown
end

---@param entry tackroom.Entry
local function group_of(entry)
  if state.group == 'workspace' then
    return entry.workspace and text.path(entry.workspace) or '(no workspace)'
  end
  return state.group == 'harness' and entry.harness or ''
end

---The groups in the order of their first entries.
---@param shown tackroom.Entry[]
local function grouped(shown)
  local groups, known = {}, {}
  for _, entry in ipairs(shown) do
    local name = group_of(entry)
    if not known[name] then
      known[name] = { name = name }
      table.insert(groups, known[name])
    end
    table.insert(known[name], entry)
  end
  return groups
end

---@param words string[]
local function widest(words)
  return vim.iter(words):map(vim.fn.strdisplaywidth):fold(0, math.max)
end

local function padded(word, width)
  return word .. (' '):rep(width - vim.fn.strdisplaywidth(word))
end

---@return tackroom.Row[]
local function make_rows()
  local shown, more = shown_entries()
  local now, rows = entries.now_ms(), { { line = status() } }
  local harness_width = widest(vim.iter(shown):map(function(entry)
    return entry.harness
  end):totable())
  local ids = entries.short_ids(shown)
  -- A few very long ids are no reason to push all titles aside.
  local id_width = math.min(widest(vim.tbl_values(ids)), 13)
  for _, group in ipairs(grouped(shown)) do
    if group.name ~= '' then
      table.insert(rows, { line = '' })
      table.insert(rows, { line = ('%s (%d)'):format(group.name, #group) })
    end
    for _, entry in ipairs(group) do
      local columns = { '  ' .. entries.sign(entry), padded(entry.state, 9) }
      if state.group ~= 'harness' then
        table.insert(columns, padded(entry.harness, harness_width))
      end
      table.insert(columns, padded(ids[entry.sessionId], id_width))
      table.insert(columns, ('%4s'):format(text.age(now, entries.time(entry))))
      if state.group ~= 'workspace' then
        table.insert(columns, text.path(entry.workspace) .. ' ')
      end
      table.insert(columns, entries.marked_title(entry))
      table.insert(rows, { line = table.concat(columns, ' '), entry = entry })
    end
  end
  if more > 0 then
    table.insert(rows, { line = ('  + %d more that do not run: `+` shows them'):format(more) })
  elseif #shown == 0 and inventory.is_synced then
    local none = state.filter ~= '' and 'no session matches; `f` and Enter shows all'
      or 'no sessions found; `:checkhealth tackroom` says where was looked'
    table.insert(rows, { line = '  + ' .. none })
  end
  return rows
end

---Where an entry stands.
local function line_of(id)
  for lnum, row in ipairs(state.rows) do
    if row.entry and (row.entry.id == id or row.entry.persistedId == id) then
      return lnum
    end
  end
end

---Does what moves lines, and puts each window's cursor back on its session, at its place on the screen.
---@param change fun()
local function keeping_cursors(change)
  local windows = {}
  for _, win in ipairs(vim.fn.win_findbuf(state.buf)) do
    local view = vim.api.nvim_win_call(win, vim.fn.winsaveview)
    local row = state.rows[view.lnum]
    windows[win] = { view = view, entry = row and row.entry }
  end
  change()
  for win, before in pairs(windows) do
    local view, entry = before.view, before.entry
    local lnum = entry and (line_of(entry.id) or entry.persistedId and line_of(entry.persistedId))
    if lnum then
      view.topline = math.max(1, view.topline + lnum - view.lnum)
      view.lnum = lnum
    end
    view.lnum = math.min(view.lnum, #state.rows)
    vim.api.nvim_win_call(win, function()
      vim.fn.winrestview(view)
    end)
  end
end

local function lines_of(rows)
  return vim.iter(rows):map(function(row)
    return row.line
  end):totable()
end

local function draw()
  if not state.buf then
    return
  end
  keeping_cursors(function()
    local before = lines_of(state.rows)
    state.rows = make_rows()
    ui.replace(state.buf, #before > 0 and before or { '' }, lines_of(state.rows))
  end)
end

---The entry under the cursor.
---@return tackroom.Entry?
function M.entry()
  local row = state.rows[vim.api.nvim_win_get_cursor(0)[1]]
  return row and row.entry
end

---@param act fun(entry: tackroom.Entry)
local function with_entry(act)
  return function()
    local entry = M.entry()
    if entry then
      act(entry)
    else
      client.notify('there is no session in this line')
    end
  end
end

local function ask_filter()
  vim.ui.input({ prompt = 'Only sessions with: ', default = state.filter }, function(answer)
    if answer then
      state.filter = vim.trim(answer)
      draw()
    end
  end)
end

local function leave()
  if not pcall(vim.api.nvim_win_close, 0, false) then
    vim.cmd.enew()
  end
end

local function map_keys()
  local tackroom = require('tackroom')
  local function help()
    vim.api.nvim_input('g?')
  end
  ui.map(state.buf, {
    { '<CR>', with_entry(function(entry)
      tackroom.open(entry.id)
    end), 'read the transcript' },
    { 'a', with_entry(function(entry)
      tackroom.attach(entry.id)
    end), 'attach to a running agent' },
    { 'r', with_entry(function(entry)
      tackroom.resume(entry.id)
    end), 'resume it with its own program in a terminal' },
    { 'm', with_entry(function(entry)
      tackroom.message(entry.id)
    end), 'write a message to a live session' },
    { 'f', ask_filter, 'show only sessions with a text' },
    { '<Tab>', function()
      local at = vim.fn.index(GROUPS, state.group) + 1
      state.group = GROUPS[at % #GROUPS + 1]
      draw()
    end, 'group by workspace, by harness, not at all' },
    { '+', function()
      state.stored = state.stored * 4
      draw()
    end, 'show more that do not run' },
    { 'R', function()
      inventory:refresh()
    end, 'look anew at everything' },
    { 'q', leave, 'close the list' },
    { '?', help, 'show this' },
  })
end

local function open()
  state.group = state.group or config.get().list.group
  state.stored = state.stored or config.get().list.stored
  state.buf = ui.buffer(NAME, 'tackroom')
  map_keys()
  local release = inventory:use(draw)
  local ages = assert(vim.uv.new_timer())
  ages:start(AGES, AGES, vim.schedule_wrap(draw))
  vim.api.nvim_create_autocmd({ 'BufUnload', 'BufWipeout' }, {
    buffer = state.buf,
    once = true,
    callback = function()
      if not ages:is_closing() then
        ages:close()
      end
      release()
      state.buf, state.rows = nil, {}
    end,
  })
  draw()
end

---Shows the list.
---@param mods? table as `smods` of a command: where
function M.open(mods)
  if not state.buf or not vim.api.nvim_buf_is_loaded(state.buf) then
    open()
  elseif inventory.trouble then
    inventory:refresh()
  end
  if mods and (mods.vertical or mods.horizontal or (mods.split or '') ~= '' or (mods.tab or -1) >= 0) then
    vim.cmd.sbuffer({ args = { state.buf }, mods = mods })
  else
    ui.show(state.buf)
  end
  ui.window(vim.api.nvim_get_current_win(), { wrap = false, cursorline = true, spell = false, list = false })
end

return M
