-- Transcripts: `tackroom://session/<id>`, the newest page first, older ones on demand, what is written as it comes.
local client = require('tackroom.client')
local config = require('tackroom.config')
local entries = require('tackroom.entry')
local render = require('tackroom.render')
local text = require('tackroom.text')
local ui = require('tackroom.ui')

local M = {}

local PREFIX = 'tackroom://session/'
---Lines above the first message.
local ABOVE = 3

---@class tackroom.Transcript
---@field id string
---@field buf integer
---@field entry? tackroom.Entry
---@field folds string[] of each line
---@field subscription? string
---@field older? string the cursor to older messages
---@field status string what the line above the messages says
---@field jobs fun(done: fun())[] what is to be done, one after the other
---@field is_working boolean
---@field is_asking boolean whether `[` waits for its page
local Transcript = {}
Transcript.__index = Transcript

local open = {} ---@type table<integer, tackroom.Transcript>

---Does things one after the other, since each takes a while.
---@private
---@param job? fun(done: fun())
function Transcript:work(job)
  table.insert(self.jobs, job)
  if self.is_working or #self.jobs == 0 or not open[self.buf] then
    return
  end
  self.is_working = true
  table.remove(self.jobs, 1)(vim.schedule_wrap(function()
    self.is_working = false
    self:work()
  end))
end

---@private
function Transcript:draw_top()
  local entry = self.entry
  local title = entry and entries.title(entry) or self.id
  local about = { text.one_line(self.id) }
  if entry then
    about = { entry.harness, text.path(entry.workspace), entry.state, text.one_line(entry.id) }
    local mark = entries.mark(entry)
    if mark then
      table.insert(about, 4, mark)
    end
  end
  local status = self.status
  if status == '' then
    status = self.older and '-- `[` loads older messages - g? helps' or '-- the beginning - g? helps'
  end
  local lines = { title, table.concat(about, ' - '), status }
  ui.write(self.buf, 0, #self.folds == 0 and -1 or ABOVE, lines)
  for at = 1, ABOVE do
    self.folds[at] = '0'
  end
  for at, group in ipairs({ 'TackroomTitle', 'TackroomDim', 'TackroomDim' }) do
    local mark = { id = at, end_row = at, hl_group = group }
    vim.api.nvim_buf_set_extmark(self.buf, ui.namespace, at - 1, 0, mark)
  end
end

---@private
---@param status string
function Transcript:say(status)
  self.status = text.one_line(status)
  self:draw_top()
end

---Puts messages in below a line.
---@private
---@param at integer
---@param messages tackroom.Message[]
---@param done fun()
function Transcript:put(at, messages, done)
  local lines, folds, headings = {}, {}, {}
  ui.in_slices(messages, function(message)
    local piece = render.message(message)
    if piece.heading then
      table.insert(headings, { #lines + 1, piece.heading })
    end
    vim.list_extend(lines, piece.lines)
    vim.list_extend(folds, piece.folds)
  end, function()
    if open[self.buf] ~= self or #lines == 0 then
      return done()
    end
    local after = vim.list_slice(self.folds, at + 1)
    self.folds = vim.list_extend(vim.list_extend(vim.list_slice(self.folds, 1, at), folds), after)
    self:keeping_views(at, #lines, function()
      ui.write(self.buf, at, at, lines)
    end)
    for _, heading in ipairs(headings) do
      local row = at + heading[1]
      ui.mark(self.buf, row, { hl_group = heading[2], hl_eol = true, priority = 200 })
    end
    done()
  end)
end

---Keeps what each window shows in its place; one that showed the end shows the end.
---@private
function Transcript:keeping_views(at, count, change)
  local last, views = vim.api.nvim_buf_line_count(self.buf), {}
  for _, win in ipairs(vim.fn.win_findbuf(self.buf)) do
    views[win] = vim.api.nvim_win_call(win, vim.fn.winsaveview)
  end
  change()
  for win, view in pairs(views) do
    vim.api.nvim_win_call(win, function()
      if at == last then
        if view.lnum >= last then
          vim.cmd('normal! G0')
        end
      elseif view.lnum > at then
        view.lnum, view.topline = view.lnum + count, view.topline + count
        vim.fn.winrestview(view)
      else
        -- Who stood above the messages goes on reading upwards from where they began.
        view.lnum, view.topline = at + count, at + count
        vim.fn.winrestview(view)
      end
    end)
  end
end

---Loads the page that a cursor leads to, in place of all that is there.
---@private
---@param cursor string
function Transcript:load(cursor)
  self:work(function(done)
    local params = { id = self.id, cursor = cursor, limit = config.get().transcript.page }
    client.request('session/load', params, function(err, page)
      if open[self.buf] ~= self then
        return done()
      elseif err then
        self:say('-- ' .. err.message)
        return done()
      end
      self.entry, self.older = page.session, page.nextCursor
      self.folds = {}
      vim.api.nvim_buf_clear_namespace(self.buf, ui.namespace, 0, -1)
      local problem = page.problems and page.problems[1]
      self:say(problem and '-- ' .. problem.message or '')
      for _, win in ipairs(vim.fn.win_findbuf(self.buf)) do
        vim.api.nvim_win_set_cursor(win, { ABOVE, 0 })
      end
      self:put(ABOVE, page.messages, done)
    end)
  end)
end

---Loads the page of older messages.
function Transcript:load_older()
  if not self.older or self.is_asking then
    return
  end
  self.is_asking = true
  self:say('-- loading older messages')
  self:work(function(done)
    local params = { id = self.id, cursor = self.older, limit = config.get().transcript.page }
    client.request('session/load', params, function(err, page)
      self.is_asking = false
      if open[self.buf] ~= self then
        return done()
      elseif err then
        self:say('-- ' .. err.message)
        return done()
      end
      self.older = page.nextCursor
      self:say('')
      self:put(ABOVE, page.messages, done)
    end)
  end)
end

---@private
function Transcript:take(event)
  if event.kind == 'appended' then
    self:work(function(done)
      self:put(#self.folds, event.messages, done)
    end)
  elseif event.kind == 'rewritten' then
    self:load(event.cursor)
  elseif event.kind == 'removed' then
    self:say('-- the session is gone; should it come back, it goes on here')
  elseif event.kind == 'error' then
    self:say('-- ' .. event.problem.message)
  end
end

---Follows the session and loads what there is.
---@private
function Transcript:follow()
  self:work(function(done)
    client.request('session/follow', { id = self.id }, function(err, result)
      if err then
        if open[self.buf] == self then
          self:say('-- ' .. err.message)
        end
        return done()
      elseif open[self.buf] ~= self then
        client.request('session/unfollow', { subscription = result.subscription }, function() end)
        return done()
      end
      self.subscription, self.entry = result.subscription, result.session
      -- A runtime's own id is gone with the runtime.
      self.id = result.session.persistedId or result.session.id
      client.on(result.subscription, function(params)
        self:take(params.event)
      end)
      self:load(result.cursor)
      done()
    end)
  end)
end

---@private
function Transcript:close()
  open[self.buf] = nil
  if self.subscription then
    client.on(self.subscription, nil)
    client.request('session/unfollow', { subscription = self.subscription }, function() end)
  end
end

---What is folded, for 'foldexpr'.
function M.fold()
  local transcript = open[vim.api.nvim_get_current_buf()]
  return transcript and transcript.folds[vim.v.lnum] or '0'
end

---A closed fold, for 'foldtext'.
function M.foldtext()
  local count = vim.v.foldend - vim.v.foldstart
  return vim.fn.getline(vim.v.foldstart) .. (count > 0 and ('  (%s)'):format(text.count(count, 'more line')) or '')
end

---@param direction 1|-1
local function to_heading(direction)
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local from, to = { math.max(row + direction, ABOVE), 0 }, direction > 0 and -1 or { ABOVE, 0 }
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, ui.namespace, from, to, {})) do
    return vim.api.nvim_win_set_cursor(0, { mark[2] + 1, 0 })
  end
end

---@param transcript tackroom.Transcript
local function map_keys(transcript)
  local tackroom = require('tackroom')
  ui.map(transcript.buf, {
    { '[', function()
      transcript:load_older()
    end, 'load older messages' },
    { '(', function()
      to_heading(-1)
    end, 'to the message before' },
    { ')', function()
      to_heading(1)
    end, 'to the next message' },
    { '<Tab>', 'za', 'open or close what is folded' },
    { 'a', function()
      tackroom.attach(transcript.id)
    end, 'attach to the running agent' },
    { 'r', function()
      tackroom.resume(transcript.id)
    end, 'resume it with its own program in a terminal' },
    { 'm', function()
      tackroom.message(transcript.id)
    end, 'write a message to the live session' },
    { 'R', function()
      M.load(transcript.buf, transcript.id)
    end, 'load it anew' },
  })
end

---How a window shows it.
local function dress(win)
  ui.window(win, {
    foldmethod = 'expr',
    foldexpr = "v:lua.require'tackroom.transcript'.fold()",
    foldtext = "v:lua.require'tackroom.transcript'.foldtext()",
    foldlevel = 0,
    fillchars = 'fold: ',
    wrap = true,
    linebreak = true,
    signcolumn = 'yes:1',
    spell = false,
    conceallevel = 0,
  })
end

---Fills a buffer with a session.
---@param buf integer
---@param id string
function M.load(buf, id)
  if open[buf] then
    open[buf]:close()
  end
  ui.own(buf, 'tackroom_session')
  local transcript = setmetatable({
    id = id,
    buf = buf,
    folds = {},
    status = '-- loading',
    jobs = {},
    is_working = false,
    is_asking = false,
  }, Transcript)
  open[buf] = transcript
  transcript:draw_top()
  map_keys(transcript)
  -- Colours for what agents write; who speaks is marked by ourselves.
  pcall(vim.treesitter.start, buf, 'markdown')
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    dress(win)
  end
  local group = vim.api.nvim_create_augroup('tackroom.session.' .. buf, {})
  vim.api.nvim_create_autocmd('BufWinEnter', {
    group = group,
    buffer = buf,
    callback = function()
      dress(vim.api.nvim_get_current_win())
    end,
  })
  vim.api.nvim_create_autocmd({ 'BufUnload', 'BufWipeout' }, {
    group = group,
    buffer = buf,
    callback = function()
      if open[buf] then
        open[buf]:close()
      end
    end,
  })
  transcript:follow()
end

---Shows a session's transcript.
---@param id string an entry's id
function M.open(id)
  local name = PREFIX .. id
  for buf, transcript in pairs(open) do
    if transcript.id == id or vim.api.nvim_buf_get_name(buf) == name then
      return ui.show(buf)
    end
  end
  local buf = ui.buffer(name, 'tackroom_session')
  ui.show(buf)
  M.load(buf, id)
end

client.hook(function()
  for _, transcript in pairs(open) do
    transcript.subscription = nil
    transcript:say('-- the server ended; R loads it anew')
  end
end, function()
  for _, transcript in pairs(open) do
    if not transcript.subscription and not transcript.is_working then
      transcript:follow()
    end
  end
end)

return M
