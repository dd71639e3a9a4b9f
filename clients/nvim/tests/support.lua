-- Homes, stores, waiting and looking.
local M = {}

local here = vim.fs.dirname(vim.fs.normalize(debug.getinfo(1, 'S').source:sub(2)))
M.root = vim.fs.normalize(here .. '/../../..')
local DEADLINE = 30000

---What was told by vim.notify.
M.told = {}
---What was offered by vim.ui.select, and what is chosen of it.
M.offered, M.choose = nil, nil
---What is answered to vim.ui.input.
M.input = nil
M.children = {}

vim.notify = function(text, level)
  table.insert(M.told, { text = text, level = level })
end
vim.ui.select = function(items, opts, callback)
  M.offered = vim.iter(items):map(opts.format_item or tostring):totable()
  M.offered.prompt = opts.prompt
  callback(M.choose and M.choose(items))
end
vim.ui.input = function(opts, callback)
  M.asked_input = opts
  callback(M.input)
end

function M.begin()
  M.home = assert(vim.uv.fs_mkdtemp(vim.env.TMPDIR .. '/home-XXXXXX'))
  vim.env.HOME = M.home
  M.told, M.offered, M.choose, M.input = {}, nil, nil, nil
  M.configure()
end

function M.configure(opts)
  vim.g.tackroom = vim.tbl_deep_extend('force', { cmd = { vim.env.TACKROOM_BIN } }, opts or {})
  require('tackroom').setup()
end

function M.finish()
  vim.cmd('silent! tabonly | silent! only | silent! %bwipeout!')
  vim.wait(50)
  require('tackroom.client').stop()
  for _, child in ipairs(M.children) do
    pcall(child.kill, child, 'sigkill')
    child:wait()
  end
  M.children = {}
  vim.fn.delete(M.home, 'rf')
end

---Waits until `holds` answers something, and answers that.
function M.wait(what, holds)
  local found
  if not vim.wait(DEADLINE, function()
    found = holds()
    return found
  end, 5) then
    local shown = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
    error(('never: %s\ntold: %s\nshown:\n%s'):format(what, vim.inspect(M.told), shown), 2)
  end
  return found
end

function M.eq(got, expected, what)
  if not vim.deep_equal(got, expected) then
    error(('%s\n got: %s\n expected: %s'):format(what or 'differs', vim.inspect(got), vim.inspect(expected)), 2)
  end
end

function M.ok(value, what)
  if not value then
    error(what or 'does not hold', 2)
  end
  return value
end

function M.lines(buf)
  return vim.api.nvim_buf_get_lines(buf or 0, 0, -1, false)
end

---The number of the first line that holds a text.
function M.find(needle, buf)
  for lnum, line in ipairs(M.lines(buf)) do
    if line:find(needle, 1, true) then
      return lnum, line
    end
  end
end

---The lines that have a sign.
function M.signed(buf)
  local namespace = require('tackroom.ui').namespace
  local lines, signed = M.lines(buf), {}
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf or 0, namespace, 0, -1, { details = true })) do
    -- A sign stands at each line that its mark reaches.
    if mark[4].sign_text then
      vim.list_extend(signed, vim.list_slice(lines, mark[2] + 1, (mark[4].end_row or mark[2]) + 1))
    end
  end
  return signed
end

function M.wait_line(needle, buf)
  return M.wait('a line with ' .. needle, function()
    return M.find(needle, buf)
  end)
end

function M.wait_told(needle)
  return M.wait('told: ' .. needle, function()
    return vim.iter(M.told):find(function(one)
      return one.text:find(needle, 1, true)
    end)
  end)
end

function M.keys(keys)
  vim.api.nvim_feedkeys(vim.keycode(keys), 'xt', false)
end

function M.write(path, text, mode)
  vim.fn.mkdir(vim.fs.dirname(path), 'p')
  local file = assert(io.open(path, mode or 'w'))
  file:write(text)
  file:close()
end

local function row(kind, id, workspace, second, message)
  return vim.json.encode({
    type = kind,
    uuid = ('%s-%s-%d'):format(id, kind, second),
    sessionId = id,
    cwd = workspace,
    timestamp = os.date('!%Y-%m-%dT%H:%M:%S.000Z', 1767312000 + second),
    message = message,
  }) .. '\n'
end

function M.uuid(number)
  return ('00000000-0000-4000-9000-%012d'):format(number)
end

---A prompt and an answer, as Claude Code writes them.
function M.turn(number, workspace, prompt, answer, second)
  local id = M.uuid(number)
  local content = type(answer) == 'table' and answer or { { type = 'text', text = answer } }
  return row('user', id, workspace, second, { role = 'user', content = prompt })
    .. row('assistant', id, workspace, second + 1, {
      id = 'm' .. second,
      role = 'assistant',
      model = 'test-model',
      content = content,
    })
end

function M.file(number, workspace)
  return ('%s/.claude/projects/%s/%s.jsonl'):format(M.home, workspace:gsub('/', '-'), M.uuid(number))
end

---A stored session of Claude Code.
function M.session(number, workspace, prompt, second)
  M.write(M.file(number, workspace), M.turn(number, workspace, prompt, 'Done.', second or number))
  return 'claude-code:' .. M.uuid(number)
end

---Makes a process of its own a live Claude Code session.
function M.live(number, workspace, status, waiting_for)
  local child = vim.system({ 'sleep', '1000' })
  table.insert(M.children, child)
  local stat = assert(io.open(('/proc/%d/stat'):format(child.pid))):read('a')
  local start = vim.split(stat:gsub('^.*%) ', ''), ' ')[20]
  local record = {
    pid = child.pid,
    sessionId = M.uuid(number),
    cwd = workspace,
    name = 'peer-' .. number,
    status = status,
    waitingFor = waiting_for,
    procStart = start,
  }
  local path = ('%s/.claude/sessions/%d.json'):format(M.home, child.pid)
  M.write(path, vim.json.encode(record))
  return child
end

---A store that a real program wrote.
function M.fixture(name, place)
  local to = M.home .. '/' .. place
  vim.fn.mkdir(vim.fs.dirname(to), 'p')
  assert(vim.system({ 'cp', '-r', M.root .. '/tests/fixtures/' .. name, to }):wait().code == 0)
end

---Whether a process is there; one that nobody has buried is not.
function M.is_alive(pid)
  local file = io.open(('/proc/%d/stat'):format(pid))
  local stat = file and file:read('a') or ') Z'
  if file then
    file:close()
  end
  return not stat:gsub('^.*%) ', ''):find('^[ZX]')
end

---A small runtime that publishes itself in this home.
function M.runtime()
  local child = vim.system({ 'python3', here .. '/fake_runtime.py', M.home }, { text = true })
  table.insert(M.children, child)
  M.wait('the runtime', function()
    return #vim.fn.glob(M.home .. '/.config/supercode/live-runtimes/*.json', true, true) > 0
  end)
  return child
end

---A Neovim of its own, which ends with the test.
function M.neovim(arguments)
  local words = { vim.env.NVIM, '--headless', '--clean', '--cmd', 'set runtimepath^=' .. M.root .. '/clients/nvim' }
  local child = vim.system(vim.list_extend(words, arguments), { text = true })
  table.insert(M.children, child)
  return child
end

return M
