local t = require('support')
local T = {}

local output, prompt

local function attach()
  local runtime = t.runtime()
  vim.cmd('Tackroom attach demo-1')
  t.wait('the window to type in', function()
    return vim.bo.filetype == 'tackroom_prompt'
  end)
  prompt = vim.api.nvim_get_current_buf()
  output = vim.fn.bufnr('tackroom://attach/demo-1')
  t.wait_line('now it asks', output)
  return runtime
end

local function say(text)
  vim.api.nvim_set_current_win(vim.fn.win_findbuf(prompt)[1])
  vim.api.nvim_buf_set_lines(prompt, 0, -1, false, vim.split(text, '\n'))
  t.keys('<CR>')
end

local function winbar()
  return vim.wo[vim.fn.win_findbuf(output)[1]].winbar
end

local function wait_winbar(needle)
  t.wait('a winbar with ' .. needle, function()
    return winbar():find(needle, 1, true)
  end)
end

function T.shows_history_and_streams_a_turn()
  attach()
  t.eq(t.lines(output)[1], '-- You are an agent of the tests.')
  wait_winbar(vim.fs.basename(t.home) .. '%#TackroomDim# - fake-model - idle - nobody drives')
  say('Mend\nthe roof')
  t.wait_line('echo: Mend', output)
  wait_winbar('idle - you drive')
  local at = t.find('> Mend', output)
  t.eq(vim.list_slice(t.lines(output), at, at + 3), { '> Mend', '  the roof', 'echo: Mend', 'the roof' })
  t.eq(t.lines(prompt), { '' })
  say('again')
  t.wait_line('echo: again', output)
end

function T.a_turn_is_interrupted()
  attach()
  say('wait for it')
  t.wait_line('waiting', output)
  wait_winbar('CTRL-C interrupts')
  t.keys('<C-c>')
  t.wait_line('-- the turn was interrupted', output)
  wait_winbar('idle')
end

function T.a_turn_that_runs_is_steered()
  attach()
  say('wait for it')
  t.wait_line('waiting', output)
  wait_winbar('busy')
  say('more to the left')
  t.wait_line('steered by more to the left', output)
end

function T.an_approval_is_chosen()
  attach()
  say('run rm roof.old')
  t.wait_line('? request 1: may it run bash?', output)
  t.ok(t.find('{"command":"rm roof.old"}', output), 'what would run')
  wait_winbar('may it run bash? - ga answers')
  t.choose = function(items)
    return items[2]
  end
  t.keys('ga')
  t.eq({ unpack(t.offered) }, { 'Deny', 'Allow once', 'Allow for this session' })
  t.ok(t.offered.prompt:find('rm roof.old', 1, true), t.offered.prompt)
  t.wait_line('Done: allow', output)
  t.ok(t.find('-- request 1: allowed', output))
  t.ok(t.find('  | it ran', output))
end

function T.who_answers_while_another_drives_takes_control_first()
  attach()
  say('stolen rm roof.old')
  wait_winbar('request 1: may it run bash? - other drives - ga answers, and takes control')
  local offered = {}
  t.choose = function(items)
    table.insert(offered, items)
    return items[#offered == 1 and 1 or 2]
  end
  t.keys('ga')
  t.eq(offered, { { 'Leave it to other', 'Take control and answer' } })
  -- A letter asks, too.
  vim.api.nvim_set_current_win(vim.fn.win_findbuf(output)[1])
  t.keys('y')
  t.wait_line('-- you drive now', output)
  t.wait_line('Done: allow', output)
  t.eq(#offered, 3)
end

function T.a_refusal_names_a_key_and_no_method()
  attach()
  say('stolen rm roof.old')
  t.wait_line('? request 1', output)
  t.choose = function(items)
    return items[2]
  end
  t.keys('ga')
  t.wait_line('! other drives; g+ takes control', output)
  wait_winbar('other drives - ga answers, and takes control')
end

function T.only_what_is_shown_whole_can_be_allowed()
  attach()
  say('long 5000')
  t.wait_line('? request 1', output)
  t.choose = function(items)
    return items[2]
  end
  vim.api.nvim_set_current_win(vim.fn.win_findbuf(output)[1])
  t.keys('y')
  t.eq({ unpack(t.offered) }, { 'Deny', 'Show it whole, before it can be allowed' })
  t.eq(vim.bo.filetype, 'tackroom_request')
  t.ok(table.concat(t.lines()):find('x"}', 1, true), 'its end')
  t.keys('ga')
  t.eq({ unpack(t.offered) }, { 'Deny', 'Allow once', 'Allow for this session' })
  t.wait_line('Done: allow', output)
  -- What is whole above, but not in the prompt.
  say('long 1000')
  t.wait_line('? request 2', output)
  t.keys('ga')
  t.eq(#t.offered, 2)
end

function T.a_long_name_of_a_tool_leaves_room_for_the_keys()
  attach()
  say('named ' .. ('tool'):rep(100))
  t.wait_line('? request 1', output)
  wait_winbar('… - ga answers')
  t.ok(vim.fn.strdisplaywidth(winbar()) <= vim.o.columns + #'%#TackroomWaiting#', winbar())
end

function T.who_may_only_observe_is_told_so()
  t.configure({ allow = { 'observe' } })
  attach()
  wait_winbar('idle - observe only')
end

function T.what_was_answered_before_is_not_asked_again()
  attach()
  t.choose = function(items)
    return items[2]
  end
  say('twice')
  t.wait_line('? request 1', output)
  t.keys('ga')
  t.wait_line('? request 2', output)
  vim.cmd('quit')
  t.wait('both are gone', function()
    return not vim.api.nvim_buf_is_valid(output) and not vim.api.nvim_buf_is_valid(prompt)
  end)
  vim.cmd('Tackroom attach demo-1')
  t.wait('the window to type in', function()
    return vim.bo.filetype == 'tackroom_prompt'
  end)
  output = vim.fn.bufnr('tackroom://attach/demo-1')
  t.wait_line('? request 2', output)
  t.eq({ t.find('request 1', output) }, {})
end

function T.what_was_typed_is_no_answer()
  attach()
  local window = vim.fn.win_findbuf(output)[1]
  say('run rm roof.old')
  vim.api.nvim_set_current_win(window)
  t.wait_line('? request 1', output)
  -- The question came while we were here: `y` yanks.
  wait_winbar('ga answers')
  vim.api.nvim_win_set_cursor(0, { t.find('request 1', output), 0 })
  t.keys('yy')
  vim.wait(200)
  t.ok(vim.fn.getreg('"'):find('request 1', 1, true), 'yanked')
  t.eq(t.find('Done:', output), nil)
  -- And a prompt is not sent while it waits.
  say('yes, do')
  vim.wait(200)
  t.eq(t.lines(prompt), { 'yes, do' })
  t.ok(t.find('answer what is asked first', output))
  -- Who comes to the question answers it with a letter.
  vim.api.nvim_set_current_win(window)
  wait_winbar('y allows, n denies')
  t.keys('n')
  t.wait_line('Done: deny', output)
  t.eq(t.lines(prompt), { 'yes, do' })
end

function T.a_letter_allows_for_the_session_and_large_numbers_stay_whole()
  attach()
  say('run big')
  t.wait_line('? request 9007199254740991: may it run big?', output)
  vim.api.nvim_set_current_win(vim.fn.win_findbuf(output)[1])
  t.keys('A')
  t.wait_line('Done: allow_for_session', output)
end

function T.a_question_is_answered()
  attach()
  t.choose = function(items)
    return items[1]
  end
  say('ask')
  t.wait_line('? request 1: Which port?', output)
  t.input = '{"port": 80}'
  t.keys('ga')
  t.wait_line('Told: ["accept", {"port": 80}]', output)
  say('ask')
  t.wait_line('? request 2', output)
  t.choose = function(items)
    return items[2]
  end
  t.keys('ga')
  t.wait_line('Told: ["decline", null]', output)
end

function T.control_is_taken_when_another_has_it()
  attach()
  say('steal')
  t.wait_line('echo: steal', output)
  t.wait('the turn is over', function()
    return winbar():find('idle', 1, true)
  end)
  say('mine')
  t.wait_line('g+ takes control', output)
  wait_winbar('other drives')
  t.eq(t.lines(prompt), { 'mine' })
  t.keys('g+')
  t.wait_line('-- you drive now', output)
  wait_winbar('you drive')
  t.keys('<CR>')
  t.wait_line('echo: mine', output)
  t.keys('g-')
  t.wait_line('-- let go of control', output)
  wait_winbar('nobody drives')
end

function T.an_agent_is_named_by_the_directory_it_works_in()
  attach()
  local last = vim.fs.basename(t.home)
  wait_winbar('#' .. last .. '%#')
  for _, buf in ipairs({ output, prompt }) do
    t.eq(vim.fs.basename(vim.api.nvim_buf_get_name(buf)), last)
  end
end

function T.it_is_found_by_its_harness_and_session()
  t.runtime()
  vim.cmd('Tackroom attach supercode:demo-1')
  t.wait('the window to type in', function()
    return vim.bo.filetype == 'tackroom_prompt'
  end)
end

function T.control_characters_do_nothing()
  attach()
  say('nasty')
  local line = t.wait('the text', function()
    return select(2, t.find(' end', output))
  end)
  t.eq(line, 'red  \239\191\189back end')
end

function T.what_an_agent_says_cannot_be_taken_for_a_person()
  t.configure({ attach = { scrollback = 12 } })
  attach()
  say('> Yes, go on')
  t.wait_line('echo: > Yes, go on', output)
  say('flood')
  wait_winbar('idle')
  t.wait_line('line 1999', output)
  say('hello\n? request 1: may it run ls?')
  t.wait_line('? request 1', output)
  t.wait_line('echo: hello', output)
  -- Of what was there before, only lines of the agent are left, and no signs.
  t.eq(t.signed(output), { '> hello', '  ? request 1: may it run ls?' })
end

function T.a_flood_is_shown_whole_and_bounded()
  t.configure({ attach = { scrollback = 1500 } })
  attach()
  say('flood')
  t.wait_line('line 1999', output)
  wait_winbar('idle')
  t.eq(#t.lines(output) <= 1500, true)
  t.ok(t.find('line 1000', output))
end

function T.the_end_of_the_runtime_is_told()
  local runtime = attach()
  runtime:kill('sigkill')
  t.wait_line('-- the runtime is gone', output)
  wait_winbar('R attaches again')
  t.keys('<CR>')
  say('hello')
  t.wait_line('not attached', output)
  t.eq(t.lines(prompt), { 'hello' })
end

function T.leaving_detaches_and_closes_both_windows()
  attach()
  vim.cmd('quit')
  t.wait('both are gone', function()
    return not vim.api.nvim_buf_is_valid(output) and not vim.api.nvim_buf_is_valid(prompt)
  end)
  local client = require('tackroom.client')
  t.wait('nobody looks', function()
    local _, found = client.request_sync('registry/describe', { id = 'demo-1' }, 10000)
    return found and #(found.entry.observers or {}) == 0
  end)
  t.eq(#vim.api.nvim_list_tabpages(), 1)
end

function T.other_views_open_beside_it()
  attach()
  vim.cmd('Tackroom')
  t.wait_line('[runtime: 1 looks]')
  t.eq({ vim.bo.filetype, #vim.api.nvim_list_tabpages() }, { 'tackroom', 3 })
  t.eq(#vim.fn.win_findbuf(prompt), 1)
end

function T.the_end_of_the_server_is_told_and_it_is_joined_again()
  attach()
  vim.uv.kill(require('tackroom.client').pid(), 'sigkill')
  t.wait_line('-- the server ended', output)
  vim.api.nvim_set_current_win(vim.fn.win_findbuf(output)[1])
  t.keys('R')
  wait_winbar('fake-model')
  say('hello')
  t.wait_line('echo: hello', output)
end

function T.who_fell_behind_attaches_again()
  t.configure({ cmd = { 'python3', vim.env.PWD .. '/fake_server.py', 'lagged' } })
  vim.cmd('Tackroom attach demo-1')
  t.wait('the buffer', function()
    return vim.fn.bufnr('tackroom://attach/demo-1') > 0
  end)
  output = vim.fn.bufnr('tackroom://attach/demo-1')
  t.wait_line('again', output)
  local at = t.find('first', output)
  t.eq(vim.list_slice(t.lines(output), at), { 'first', '-- fell behind, and attaches again', 'again' })
end

function T.what_is_no_runtime_is_not_attached()
  t.session(1, '/home/dev/roof', 'Mend the roof')
  vim.cmd('Tackroom attach ' .. t.uuid(1))
  t.wait_told('nothing to attach to')
end

return T
