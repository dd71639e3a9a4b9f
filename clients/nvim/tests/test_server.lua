-- One server, its life and its end, and what else there is beside lists and transcripts.
local t = require('support')
local client = require('tackroom.client')
local T = {}

function T.one_server_for_all_views_and_none_before_they_are_used()
  local id = t.session(1, '/home/dev/roof', 'Mend the roof')
  t.eq(client.is_running(), false)
  vim.cmd('Tackroom')
  t.wait_line('Mend the roof')
  local pid = t.ok(client.pid())
  vim.cmd('Tackroom open ' .. id)
  t.wait_line('Done.')
  t.eq(client.pid(), pid)
  t.eq(client.info().authority.permissions, { 'observe', 'interact', 'approve', 'message', 'configure' })
end

function T.the_permissions_and_the_workspaces_are_configured()
  t.session(1, '/home/dev/roof', 'Mend the roof')
  t.session(2, '/home/dev/shed', 'Build a shed')
  t.configure({ allow = { 'observe' }, workspaces = { '/home/dev/shed/' } })
  vim.cmd('Tackroom')
  t.wait_line('Build a shed')
  t.eq(t.find('Mend the roof'), nil)
  t.eq(client.info().authority.permissions, { 'observe' })
end

function T.what_is_configured_later_holds_for_the_next_server()
  t.session(1, '/home/dev/roof', 'Mend the roof')
  vim.cmd('Tackroom')
  t.wait_line('Mend the roof')
  vim.g.tackroom = { cmd = { vim.env.TACKROOM_BIN }, allow = { 'observe' } }
  vim.cmd('Tackroom stop')
  vim.cmd('Tackroom')
  t.eq(client.request_sync('ping', nil, 30000), nil)
  t.eq(client.info().authority.permissions, { 'observe' })
  -- What does not hold starts nothing.
  vim.g.tackroom = { colour = 'red' }
  vim.cmd('Tackroom stop')
  t.ok(client.request_sync('ping', nil, 30000).message:find('there is no option `colour`', 1, true))
  t.eq(client.is_running(), false)
end

function T.its_death_is_told_once_and_it_is_started_again_when_needed()
  t.session(1, '/home/dev/roof', 'Mend the roof')
  vim.cmd('Tackroom')
  t.wait_line('Mend the roof')
  local pid = assert(client.pid())
  vim.uv.kill(pid, 'sigkill')
  t.wait_told('the server ended (signal 9)')
  t.wait_line('the server ended - R looks again')
  t.ok(t.find('Mend the roof'), 'what was known stays')
  t.eq({ #t.told, client.is_running() }, { 1, false })
  t.session(2, '/home/dev/roof', 'Paint the door')
  t.keys('R')
  t.wait_line('Paint the door')
  t.ok(client.pid() ~= pid)
  t.eq(#t.told, 1)
end

function T.a_request_of_a_server_that_dies_is_answered()
  local err
  t.ok(client.request_sync('ping', nil, 10000) == nil)
  vim.uv.kill(client.pid(), 'sigstop')
  client.request('ping', nil, function(failed)
    err = failed
  end)
  vim.uv.kill(client.pid(), 'sigkill')
  t.wait('an answer', function()
    return err
  end)
  t.eq(err.data.reason, 'gone')
end

function T.a_server_that_does_not_know_an_option_says_so()
  t.configure({ allow = { 'observe', 'fly' } })
  vim.cmd('Tackroom')
  t.wait_told("invalid value 'fly'")
  t.wait_line('R looks again')
end

function T.without_the_program_it_is_said_how_to_get_it()
  t.configure({ cmd = { 'no-such-tackroom' } })
  vim.cmd('Tackroom open abcd')
  local told = t.wait_told('`no-such-tackroom` is not an executable program')
  t.ok(told.text:find('cargo install', 1, true), told.text)
  t.eq(told.text:find('stack traceback', 1, true), nil)
  vim.cmd('Tackroom')
  t.wait_line('is not an executable program')
  t.eq(require('tackroom').statusline(), '')
end

function T.a_program_that_never_answers_is_given_up()
  t.configure({ cmd = { 'sh', '-c', 'exec cat >/dev/null' } })
  vim.cmd('Tackroom')
  t.wait('a server', client.pid)
  local pid = client.pid()
  t.wait_told('`sh -c exec cat >/dev/null` is no server of tackroom: it does not answer within 10 seconds')
  t.wait('its end', function()
    return not t.is_alive(pid)
  end)
  t.wait_line('the server ended - R looks again')
end

function T.a_program_that_writes_without_end_is_given_up()
  t.configure({ cmd = { 'sh', '-c', 'exec yes hello' } })
  local err = client.request_sync('ping', nil, 30000)
  t.ok(err and err.message:find('it writes without end', 1, true), vim.inspect(err))
  t.eq({ client.is_running(), #t.told }, { false, 1 })
end

function T.another_protocol_is_refused()
  t.configure({ cmd = { 'python3', vim.env.PWD .. '/fake_server.py', 'version' } })
  vim.cmd('Tackroom open abcd')
  t.wait_told('speaks version 2, not 1')
end

function T.after_resync_what_is_not_told_again_is_gone()
  t.configure({ cmd = { 'python3', vim.env.PWD .. '/fake_server.py', 'resync' } })
  vim.cmd('Tackroom')
  t.wait_line('B again')
  t.wait('only that', function()
    return #t.lines() == 4
  end)
end

function T.a_long_frame_is_read()
  t.configure({ cmd = { 'python3', vim.env.PWD .. '/fake_server.py', 'long' } })
  vim.cmd('Tackroom')
  t.wait_line('long long')
end

function T.nothing_is_left_after_quit()
  t.session(1, '/home/dev/roof', 'Mend the roof')
  local file = t.home .. '/pid'
  local script = ([[lua vim.g.tackroom = { cmd = { %q } }; vim.cmd('Tackroom')
    vim.wait(30000, function() return vim.fn.search('Mend the roof') > 0 end)
    vim.fn.writefile({ tostring(require('tackroom.client').pid()) }, %q)
    vim.wait(30000, function() return vim.uv.fs_stat(%q) ~= nil end) vim.cmd('qall!')]]):gsub('\n%s*', ' ')
  local neovim = t.neovim({ '+' .. script:format(vim.env.TACKROOM_BIN, file, file .. '.go') })
  local function pid()
    return vim.uv.fs_stat(file) and tonumber((vim.fn.readfile(file)[1]))
  end
  local server = t.wait('its server', pid)
  t.ok(t.is_alive(server), 'it runs')
  t.write(file .. '.go', '')
  t.eq(neovim:wait(30000).code, 0)
  t.eq(t.is_alive(server), false, 'it is gone when Neovim is')
  -- And without a farewell.
  vim.fn.delete(file)
  vim.fn.delete(file .. '.go')
  neovim = t.neovim({ '+' .. script:format(vim.env.TACKROOM_BIN, file, file .. '.go') })
  server = t.wait('its server', pid)
  neovim:kill('sigkill')
  t.wait('its end', function()
    return not t.is_alive(server)
  end)
end

function T.stop_ends_it()
  t.ok(client.request_sync('ping', nil, 10000) == nil)
  local pid = assert(client.pid())
  vim.cmd('Tackroom stop')
  vim.wait(100)
  t.eq({ client.is_running(), t.is_alive(pid), #t.told }, { false, false, 0 })
end

function T.statusline_counts_what_waits_and_what_is_busy()
  t.session(1, '/home/dev/roof', 'Mend the roof')
  package.loaded['tackroom.statusline'] = nil
  vim.o.statusline = "%{v:lua.require'tackroom'.statusline()}"
  t.eq(require('tackroom').statusline(), '')
  local busy = t.live(1, '/home/dev/roof', 'busy')
  t.wait('one busy', function()
    return require('tackroom').statusline() == '1 busy'
  end)
  t.live(2, '/home/dev/shed', 'waiting', 'permission prompt')
  t.wait('one waits', function()
    return require('tackroom').statusline() == '1 waiting, 1 busy'
  end)
  busy:kill('sigkill')
  t.wait('one waits still', function()
    return require('tackroom').statusline() == '1 waiting'
  end)
  vim.o.statusline = ''
end

function T.pick_offers_sessions_what_waits_first()
  t.session(1, '/home/dev/roof', 'Mend the roof', 10)
  t.session(2, '/home/dev/shed', 'Build a shed', 20)
  t.live(1, '/home/dev/roof', 'waiting', 'permission prompt')
  -- Ids of tests are long, since they differ late.
  vim.o.columns = 200
  t.choose = function(items)
    return items[#items]
  end
  vim.cmd('Tackroom pick')
  t.wait_line('Build a shed')
  t.eq(#t.offered, 2)
  t.ok(t.offered[1]:find('^! waiting.*%[permission prompt%] Mend the roof'), t.offered[1])
  vim.cmd('Tackroom pick mndrf')
  t.wait_line('Mend the roof')
  t.eq(#t.offered, 1)
  vim.cmd('Tackroom pick zzzz')
  t.wait_told('no session matches')
  vim.o.columns = 80
end

function T.a_title_that_is_too_long_is_cut_where_it_would_wrap()
  t.session(1, '/home/dev/roof', ('Mend the roof '):rep(20))
  vim.cmd('Tackroom pick')
  t.wait('the menu', function()
    return t.offered
  end)
  t.ok(vim.fn.strdisplaywidth(t.offered[1]) < vim.o.columns, t.offered[1])
  client.stop()
  t.configure({ cmd = { 'python3', vim.env.PWD .. '/fake_server.py', 'titled' } })
  vim.cmd('Tackroom message demo-1 held')
  t.ok(#t.wait_told('is held until').text < 120)
end

function T.a_message_goes_to_a_name()
  t.configure({ cmd = { 'python3', vim.env.PWD .. '/fake_server.py', 'message' } })
  vim.cmd('Tackroom message roofer held')
  t.wait_told('the message to Mend the roof is held until')
end

function T.commands_and_ids_are_completed()
  local id = t.session(1, '/home/dev/roof', 'Mend the roof')
  local function complete(line)
    return vim.fn.getcompletion(line, 'cmdline')
  end
  t.eq(complete('Tackroom a'), { 'attach' })
  t.ok(vim.list_contains(complete('Tackroom '), 'pick'))
  t.eq(complete('Tackroom open '), { id })
  t.eq(complete('vertical Tackroom open claude'), { id })
  t.eq(complete('Tackroom open 0000'), { t.uuid(1) })
  t.eq(complete('Tackroom inbound re'), { 'refuse', 'reset' })
  t.eq(complete('Tackroom open x y'), {})
end

function T.words_that_mean_nothing_are_told()
  vim.cmd('Tackroom fly')
  vim.cmd('Tackroom open')
  vim.cmd('Tackroom open a b')
  vim.cmd('Tackroom inbound perhaps')
  t.eq(vim.iter(t.told):map(function(one)
    return one.text
  end):totable(), {
    'tackroom: there is no `fly`; there are attach, inbound, list, message, open, pick, resume, stop',
    'tackroom: `:Tackroom open` needs the id of a session',
    'tackroom: `:Tackroom open` takes fewer words',
    'tackroom: the policies are accept, hold, refuse, reset',
  })
end

function T.inbound_is_read_and_changed()
  t.write(t.home .. '/.claude/settings.json', '{"a": 1}')
  vim.cmd('Tackroom inbound')
  t.wait_told('messages of other sessions: not set')
  vim.cmd('Tackroom inbound hold')
  t.wait_told('messages of other sessions: hold')
  local file = assert(io.open(t.home .. '/.claude/settings.json')):read('a')
  t.eq(vim.json.decode(file), { a = 1, crossSessionInbound = 'hold' })
  t.told = {}
  vim.cmd('Tackroom inbound reset')
  t.wait_told('not set')
  t.eq(assert(io.open(t.home .. '/.claude/settings.json')):read('a'), '{"a": 1}')
end

function T.a_message_is_written_in_a_buffer()
  t.configure({ cmd = { 'python3', vim.env.PWD .. '/fake_server.py', 'message' } })
  vim.cmd('Tackroom message demo-1')
  t.wait('the buffer', function()
    return vim.bo.filetype == 'tackroom_message'
  end)
  local buf = vim.api.nvim_get_current_buf()
  vim.cmd('write')
  t.wait_told('there is nothing to send')
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, { 'refused it is.', 'See to it.' })
  vim.cmd('write')
  local told = t.wait_told('the message to Mend the roof is refused by it: refused it is. See to it.')
  t.eq(told.level, vim.log.levels.ERROR)
  t.eq(t.lines(buf), { 'refused it is.', 'See to it.' }, 'what was written stays')
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, { 'held' })
  vim.cmd('write')
  t.wait_told('is held until its person lets it in')
  t.wait('the buffer is gone', function()
    return not vim.api.nvim_buf_is_valid(buf)
  end)
  vim.cmd('Tackroom message demo-1 accepted and gone')
  t.wait_told('is in its inbox; whether it acts on it is its own affair: accepted and gone')
end

function T.a_message_that_cannot_be_sent_is_not_begun()
  local id = t.session(1, '/home/dev/roof', 'Mend the roof')
  vim.cmd('Tackroom message ' .. id)
  t.wait('a refusal', function()
    return t.told[1] and t.told[1].level == vim.log.levels.ERROR
  end)
  t.ok(vim.bo.filetype ~= 'tackroom_message', 'no buffer')
  client.stop()
  t.configure({ cmd = { 'python3', vim.env.PWD .. '/fake_server.py', 'observe' } })
  vim.cmd('Tackroom message demo-1')
  t.wait_told('the permission `message` is not granted')
end

function T.resume_runs_the_program_in_a_terminal()
  local id = t.session(1, t.home, 'Mend the roof')
  t.write(t.home .. '/bin/claude', '#!/bin/sh\necho "resumed $2 in $PWD"; sleep 100\n')
  vim.uv.fs_chmod(t.home .. '/bin/claude', tonumber('755', 8))
  local path = vim.env.PATH
  vim.env.PATH = t.home .. '/bin:' .. path
  vim.cmd('Tackroom resume ' .. id)
  t.wait_line('resumed ' .. t.uuid(1))
  t.eq(vim.bo.buftype, 'terminal')
  vim.env.PATH = path
end

function T.a_configuration_that_does_not_hold_is_refused()
  local setup = require('tackroom').setup
  local function refused(opts)
    local ok, err = pcall(setup, opts)
    t.eq(ok, false)
    return err
  end
  t.ok(refused({ colour = 'red' }):find('there is no option `colour`', 1, true))
  t.ok(refused({ list = { grop = 'x' } }):find('there is no option `list.grop`', 1, true))
  t.ok(refused({ list = { group = 'colour' } }):find('tackroom.list.group', 1, true))
  t.ok(refused({ cmd = {} }):find('tackroom.cmd', 1, true))
  t.ok(refused({ transcript = { page = 0 } }):find('tackroom.transcript.page', 1, true))
  setup({ list = { group = 'harness' } })
  local config = require('tackroom.config').get()
  t.eq({ config.list.group, config.list.stored, config.cmd[1] }, { 'harness', 200, vim.env.TACKROOM_BIN })
end

function T.help_has_its_tags_and_leads_somewhere()
  local doc = vim.fs.dirname(vim.fs.dirname(vim.env.PWD)) .. '/nvim/doc'
  local copy = t.home .. '/runtime/doc'
  t.write(copy .. '/tackroom.txt', table.concat(vim.fn.readfile(doc .. '/tackroom.txt'), '\n') .. '\n')
  vim.cmd.helptags(copy)
  vim.opt.runtimepath:append(t.home .. '/runtime')
  local count = 0
  for _, line in ipairs(vim.fn.readfile(doc .. '/tackroom.txt')) do
    t.ok(vim.fn.strdisplaywidth(line) <= 80, line)
    for tag in line:gmatch('|([^|%s]+)|') do
      count = count + 1
      t.ok(vim.list_contains(vim.fn.getcompletion(tag, 'help'), tag), tag)
    end
  end
  t.ok(count > 20, 'links')
  vim.opt.runtimepath:remove(t.home .. '/runtime')
end

function T.a_configuration_in_vim_g_that_does_not_hold_is_told()
  local result = t.neovim({ '--cmd', 'let g:tackroom = #{colour: "red"}', '+Tackroom', '+qall!' }):wait(30000)
  t.ok(result.stderr:find('there is no option `colour`', 1, true), result.stderr)
  t.eq(result.stderr:find('stack traceback', 1, true), nil)
end

local function health()
  vim.cmd('checkhealth tackroom')
  return table.concat(t.lines(), '\n')
end

function T.health_tells_what_is_there()
  t.session(1, '/home/dev/roof', 'Mend the roof')
  local report = health()
  for _, needle in ipairs({
    'the program is ' .. vim.env.TACKROOM_BIN,
    'its version: tackroom',
    'the server answers: tackroom',
    'granted: observe, interact, approve, message, configure',
    'claude-code: ~/.claude',
    '1 session',
    '0 runtimes published',
    'not there: ',
  }) do
    t.ok(report:find(needle, 1, true), ('`%s` in\n%s'):format(needle, report))
  end
  t.eq(report:find('ERROR', 1, true), nil)
end

function T.health_without_the_program()
  t.configure({ cmd = { 'no-such-tackroom' } })
  local report = health()
  t.ok(report:find('ERROR', 1, true) and report:find('`no-such-tackroom` is not an executable program', 1, true), report)
  t.ok(report:find('cargo install', 1, true), report)
end

return T
