-- A running agent joined: what it says above, a window to type in below, in a tab page of their own.
local answer = require('tackroom.answer')
local asked = require('tackroom.asked')
local client = require('tackroom.client')
local config = require('tackroom.config')
local entries = require('tackroom.entry')
local sessions = require('tackroom.session')
local text = require('tackroom.text')
local ui = require('tackroom.ui')
local views = require('tackroom.view')

local M = {}

---How often it is asked who drives, in milliseconds.
local LOOK = 5000
---How long lines are gathered before they are drawn, in milliseconds.
local GATHER = 15
local TAKE = 'g+ takes control'

---@class tackroom.Attach
---@field name string what the session is called
---@field session tackroom.Session
---@field view tackroom.View
---@field output integer
---@field prompt integer
---@field look uv.uv_timer_t
---@field waiting tackroom.Line[] lines that are not drawn yet
---@field has_joined boolean whether the history has been shown
---@field has_partial boolean whether the last line is one that is being said
---@field is_gathering boolean
---@field over? string why it is over
---@field armed? integer the request that the keys y, n and A answer
---@field read? integer the request that was shown whole in a buffer
local Attach = {}
Attach.__index = Attach

local open = {} ---@type table<string, tackroom.Attach>

---What waits for an answer of ours.
---@return tackroom.Asked?
function Attach:question()
  local may = self.session:can('respond') and not client.why_not('approve', 'runtime/respond')
  return may and self.session.asked[1] or nil
end

---Who drives, and what can be done about it.
---@private
function Attach:driver()
  local session = self.session
  if session:drives() then
    return 'you drive'
  end
  local driver = session.driver and text.one_line(session.driver) .. ' drives'
  if client.why_not('interact', 'runtime/sendInput') then
    return (driver and driver .. ', ' or '') .. 'observe only'
  end
  return driver and ('%s, %s'):format(driver, TAKE) or 'nobody drives, typing takes control'
end

---How things are, in one line.
---@private
---@param width integer cells that there are for it
function Attach:status(width)
  local session = self.session
  local question = self:question()
  if self.over then
    return '%#TackroomAlert#' .. ui.escape(self.over .. ' - R attaches again')
  elseif not session.attachment then
    return '%#TackroomDim#attaching'
  elseif question then
    local how = 'ga answers'
    if session:is_driven_by_another() then
      how = text.one_line(session.driver) .. ' drives - ga answers, and takes control'
    elseif self.armed == question.id and question.kind == 'approval' then
      how = asked.keys(question)
    end
    how = ' - ' .. how
    -- What can be done is seen whatever the name of a tool is.
    local shown = text.short(asked.question(question), width - vim.fn.strdisplaywidth(how))
    return '%#TackroomWaiting#' .. ui.escape(shown .. how)
  end
  local words = { session.running and 'busy' or 'idle', self:driver() }
  if session.looking > 0 then
    table.insert(words, session.looking == 1 and '1 other looks' or session.looking .. ' others look')
  end
  if session.running and session:drives() then
    table.insert(words, 'CTRL-C interrupts')
  end
  if type(session.about.model) == 'string' then
    table.insert(words, 1, text.one_line(session.about.model))
  end
  return '%#TackroomTitle#' .. ui.escape(self.name) .. '%#TackroomDim# - ' .. ui.escape(table.concat(words, ' - '))
end

---@private
function Attach:draw_status()
  for _, win in ipairs(vim.fn.win_findbuf(self.output)) do
    ui.window(win, { winbar = self:status(vim.api.nvim_win_get_width(win)) })
  end
end

---Draws the lines that have come, and what is being said below them.
---@private
function Attach:draw()
  if not vim.api.nvim_buf_is_valid(self.output) then
    return
  end
  local lines, partial = self.waiting, self.view:partial()
  self.waiting = {}
  table.insert(lines, partial)
  local count = vim.api.nvim_buf_line_count(self.output)
  local is_blank = count == 1 and vim.api.nvim_buf_get_lines(self.output, 0, 1, false)[1] == ''
  local at = (self.has_partial or is_blank) and count - 1 or count
  local at_end = {}
  for _, win in ipairs(vim.fn.win_findbuf(self.output)) do
    at_end[win] = vim.api.nvim_win_get_cursor(win)[1] >= count
  end
  ui.write(self.output, at, -1, vim.iter(lines):map(function(line)
    return line[1]
  end):totable())
  for number, line in ipairs(lines) do
    if line[2] then
      ui.mark(self.output, at + number - 1, { hl_group = line[2] })
    end
  end
  self.has_partial = partial ~= nil
  local extra = vim.api.nvim_buf_line_count(self.output) - config.get().attach.scrollback
  if extra > 0 then
    ui.write(self.output, 0, extra, {})
  end
  for win, follows in pairs(at_end) do
    if follows then
      vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(self.output), 0 })
    end
  end
  self:draw_status()
end

---@private
---@param lines tackroom.Line[]
function Attach:print(lines)
  vim.list_extend(self.waiting, lines)
  if not self.is_gathering then
    self.is_gathering = true
    vim.defer_fn(function()
      self.is_gathering = false
      self:draw()
    end, GATHER)
  end
end

---Something that is not said by the agent.
---@private
function Attach:say(said)
  self:print(vim.list_extend(self.view:finish(), { views.note(said) }))
end

---@private
---@param err tackroom.Error
function Attach:refused(err)
  local reason = err.data and err.data.reason
  local why = text.one_line(err.message)
  if reason == 'controller_required' then
    why = ('%s drives; %s'):format(text.one_line(err.data.holder or 'another client'), TAKE)
  elseif reason == 'lease_expired' then
    why = 'control lapsed; ' .. TAKE
  end
  self:print(vim.list_extend(self.view:finish(), { { '! ' .. why, 'TackroomAlert' } }))
end

---@private
---@param event tackroom.RuntimeEvent
function Attach:hear(event)
  if event.kind == 'lagged' then
    self:say('fell behind, and attaches again')
    self:join()
  elseif event.kind == 'disconnected' then
    self:ended('the runtime is gone: ' .. text.one_line(event.reason))
  else
    self:print(self.view:event(event.kind, event.payload))
  end
end

---@private
function Attach:ended(why)
  self.over = why
  self:say(why)
end

---@private
function Attach:join()
  self.over = nil
  self.session:join(function(err, joined)
    if not vim.api.nvim_buf_is_valid(self.output) then
      return self.session:leave()
    elseif err then
      return self:ended(text.one_line(err.message))
    end
    local replay = joined.replay
    if not self.has_joined then
      self.has_joined = true
      -- The history may tell of what followed on an answer.
      replay = asked.without_answered(replay)
      for _, message in ipairs(joined.history) do
        self:print(views.message(message))
      end
      self:say(('attached to %s as %s'):format(text.one_line(self.session.id), self.session.client_id))
      self:say('a runtime denies approvals while nobody watches, and asks while somebody does: now it asks')
    end
    for _, event in ipairs(replay) do
      self:print(self.view:event(event.kind, event.payload))
    end
    self:print({})
  end)
end

---Joins again what is over.
---@private
function Attach:again()
  if self.session.attachment then
    return self:say('attached already')
  end
  self:join()
end

---@private
---@param lines string[]
function Attach:set_prompt(lines)
  vim.api.nvim_buf_set_lines(self.prompt, 0, -1, false, lines)
end

---Says what stands in the prompt: begins a turn, or steers the one that runs.
function Attach:submit()
  local lines = vim.api.nvim_buf_get_lines(self.prompt, 0, -1, false)
  local said = vim.trim(table.concat(lines, '\n'))
  local session = self.session
  if said == '' then
    return
  elseif self:question() then
    return self:say('answer what is asked first: ga; what is typed stays')
  elseif session.running and not session:can('steer') then
    return self:say('this runtime cannot be steered; wait for the end of the turn, or CTRL-C interrupts it')
  end
  self:set_prompt({})
  local method = session.running and 'steer' or 'sendInput'
  session:ask(method, { prompt = said }, function(err)
    if err then
      if vim.api.nvim_buf_is_valid(self.prompt) and vim.api.nvim_buf_get_lines(self.prompt, 0, -1, false)[1] == '' then
        self:set_prompt(lines)
      end
      return self:refused(err)
    end
    if method == 'steer' then
      self:say('steered: ' .. said)
    end
    self:draw_status()
  end)
end

function Attach:interrupt()
  if not self.session.running then
    return self:say('no turn runs')
  end
  self.session:ask('interrupt', {}, function(err, result)
    if err then
      self:refused(err)
    elseif not result.interrupted then
      self:say('no turn runs')
    end
  end)
end

---@param response table
function Attach:respond(response)
  self.armed = nil
  self.session:ask('respond', { response = response }, function(err)
    if err then
      self:refused(err)
    end
    self:draw_status()
  end)
end

---Asks what waits for an answer.
function Attach:answer()
  answer.ask(self)
end

---@private
function Attach:arm()
  local question = self:question()
  self.armed = question and question.id
  self:draw_status()
end

---Takes control, whoever has it.
---@param callback? fun() is called where that succeeded
function Attach:take(callback)
  self.session:ask('takeControl', {}, function(err)
    if err then
      return self:refused(err)
    end
    self:say('you drive now')
    if callback then
      callback()
    end
  end)
end

---@private
function Attach:release()
  self.session:leave(vim.schedule_wrap(function()
    self:say('let go of control')
    self:join()
  end))
end

---@private
function Attach:close()
  if open[self.session.id] ~= self then
    return
  end
  open[self.session.id] = nil
  self.look:close()
  self.session:leave()
  vim.schedule(function()
    for _, buf in ipairs({ self.prompt, self.output }) do
      if vim.api.nvim_buf_is_valid(buf) then
        -- The last window of all stays, and shows something else.
        for _, win in ipairs(vim.fn.win_findbuf(buf)) do
          vim.wo[win].winfixbuf = false
        end
        vim.api.nvim_buf_delete(buf, { force = true })
      end
    end
  end)
end

---@private
function Attach:map_keys()
  local function act(name)
    return function()
      self[name](self)
    end
  end
  local both = {
    { 'ga', act('answer'), 'answer what the agent asks' },
    { '<C-c>', act('interrupt'), 'interrupt the turn that runs' },
    { 'g+', act('take'), 'drive, whoever does' },
    { 'g-', act('release'), 'let go of control, and go on looking' },
    { 'R', act('again'), 'attach again when it is over' },
    { 'q', act('close'), 'leave; the agent goes on' },
  }
  local answers = {}
  for key, what in pairs({ y = 'allow it once', n = 'deny it', A = 'allow it for this session' }) do
    table.insert(answers, {
      key,
      function()
        answer.key(self, key)
      end,
      what .. ' (a question that was there when this window was entered)',
    })
  end
  ui.map(self.output, vim.list_extend(answers, both))
  local typing = {
    { '<CR>', act('submit'), 'say it: begin a turn, or steer the one that runs', mode = { 'n', 'i' } },
    { '<C-c>', act('interrupt'), 'interrupt the turn that runs', mode = { 'n', 'i' } },
  }
  ui.map(self.prompt, vim.list_extend(typing, vim.tbl_filter(function(key)
    return key[1] ~= '<C-c>' and key[1] ~= 'R' and key[1] ~= 'q'
  end, both)))
end

---@private
function Attach:layout()
  vim.cmd('tab sbuffer ' .. self.output)
  local output = vim.api.nvim_get_current_win()
  local plain = { wrap = true, linebreak = true, spell = false, number = false, relativenumber = false }
  ui.window(output, vim.tbl_extend('error', plain, { signcolumn = 'yes:1' }))
  vim.cmd(('belowright sbuffer %d'):format(self.prompt))
  local prompt = vim.api.nvim_get_current_win()
  vim.api.nvim_win_set_height(prompt, config.get().attach.height)
  ui.window(prompt, { number = false, relativenumber = false, winbar = '%#TackroomDim#type, Enter says it - g? helps' })
  -- Another buffer in one of these windows would be a farewell that nobody meant.
  for _, win in ipairs({ output, prompt }) do
    vim.wo[win].winfixbuf = true
  end
  vim.wo[prompt].winfixheight = true
end

---@private
function Attach:autocmds()
  local group = vim.api.nvim_create_augroup('tackroom.attach.' .. self.output, {})
  for _, buf in ipairs({ self.output, self.prompt }) do
    vim.api.nvim_create_autocmd('BufWipeout', {
      group = group,
      buffer = buf,
      callback = function()
        self:close()
      end,
    })
  end
  vim.api.nvim_create_autocmd('WinEnter', {
    group = group,
    buffer = self.output,
    callback = function()
      self:arm()
    end,
  })
  vim.api.nvim_create_autocmd('WinLeave', {
    group = group,
    buffer = self.output,
    callback = function()
      self.armed = nil
      self:draw_status()
    end,
  })
end

---@param entry tackroom.Entry
local function start(entry)
  local id = entry.id
  -- The last part is what a tab shows.
  local buffer_name = id .. '/' .. entries.label(entry):gsub('/', '-')
  local self = setmetatable({
    name = entries.label(entry),
    view = views.new(),
    output = ui.buffer('tackroom://attach/' .. buffer_name, 'tackroom_attach'),
    prompt = vim.api.nvim_create_buf(false, true),
    look = assert(vim.uv.new_timer()),
    waiting = {},
    has_joined = false,
    has_partial = false,
    is_gathering = false,
  }, Attach)
  self.session = sessions.new(id, function(event)
    self:hear(event)
  end)
  vim.api.nvim_buf_set_name(self.prompt, 'tackroom://prompt/' .. buffer_name)
  vim.bo[self.output].bufhidden, vim.bo[self.prompt].bufhidden = 'wipe', 'wipe'
  vim.bo[self.prompt].filetype = 'tackroom_prompt'
  open[id] = self
  self:map_keys()
  self:layout()
  self:autocmds()
  self:draw_status()
  self:join()
  self.look:start(LOOK, LOOK, vim.schedule_wrap(function()
    if self.session.attachment then
      self.session:ask('lease', {}, function()
        self:draw_status()
      end)
    end
  end))
end

---Joins a running agent, or goes to where it is joined already.
---@param entry tackroom.Entry
function M.open(entry)
  local existing = open[entry.id]
  if not existing then
    return start(entry)
  end
  local win = vim.fn.win_findbuf(existing.prompt)[1]
  if win then
    vim.api.nvim_set_current_win(win)
  end
end

client.hook(function()
  for _, attach in pairs(open) do
    attach.session:over()
    attach:ended('the server ended')
  end
end)

return M
