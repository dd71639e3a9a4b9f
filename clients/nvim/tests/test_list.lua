local t = require('support')
local T = {}

local function open_list()
  vim.cmd('Tackroom')
  t.wait('all that there is', function()
    return t.lines()[1]:find('persisted', 1, true)
  end)
end

function T.groups_by_workspace_with_what_waits_first()
  t.session(1, '/home/dev/roof', 'Mend the roof', 100)
  t.session(2, '/home/dev/roof', 'Paint the door', 200)
  t.session(3, '/home/dev/shed', 'Build a shed', 300)
  t.live(1, '/home/dev/roof', 'waiting', 'permission prompt')
  t.live(4, '/home/dev/barn', 'busy')
  open_list()
  t.eq(vim.bo.filetype, 'tackroom')
  t.eq(t.lines()[1], '-- 1 waiting, 1 busy, 0 idle, 2 persisted - g? helps')
  local shown = vim.iter(t.lines()):skip(1):map(function(line)
    return (line:gsub('0000%S+ +%S+ +', ''):gsub('%s+', ' '))
  end):totable()
  t.eq(shown, {
    '',
    '/home/dev/roof (2)',
    ' ! waiting claude-code [permission prompt] Mend the roof',
    ' persisted claude-code Paint the door',
    '',
    '/home/dev/barn (1)',
    ' * busy claude-code peer-4',
    '',
    '/home/dev/shed (1)',
    ' persisted claude-code Build a shed',
  }, 'rows')
end

function T.groups_by_harness_and_not_at_all()
  t.session(1, '/home/dev/roof', 'Mend the roof')
  t.fixture('codex/v0.171.0', '.codex')
  open_list()
  t.keys('<Tab>')
  t.ok(t.find('claude-code (1)'), 'a group of claude-code')
  t.ok(t.find('codex ('), 'a group of codex')
  t.keys('<Tab>')
  t.eq(t.find('codex ('), nil)
  t.ok(select(2, t.find('Mend the roof')):find('/home/dev/roof', 1, true), 'the workspace in the row')
  t.keys('<Tab>')
  t.ok(t.find('/home/dev/roof (1)'), 'groups of workspaces again')
end

function T.keeps_the_cursor_on_its_session()
  for number = 1, 20 do
    t.session(number, '/home/dev/roof', 'Task ' .. number, number)
  end
  open_list()
  local lnum = t.find('Task 7')
  vim.api.nvim_win_set_cursor(0, { lnum, 5 })
  t.write(t.file(3, '/home/dev/roof'), t.turn(3, '/home/dev/roof', 'More', 'Yes.', 500), 'a')
  t.wait('the session above', function()
    return t.find('Task 3') and t.find('Task 3') < t.find('Task 20')
  end)
  t.eq(vim.api.nvim_get_current_line():match('Task %d+'), 'Task 7')
  t.eq(vim.api.nvim_win_get_cursor(0), { lnum + 1, 5 })
  t.session(30, '/home/dev/new', 'A new one', 900)
  t.wait_line('A new one')
  t.eq(vim.api.nvim_get_current_line():match('Task %d+'), 'Task 7')
  vim.fn.delete(t.file(30, '/home/dev/new'))
  t.wait('it is gone', function()
    return not t.find('A new one')
  end)
  t.eq(vim.api.nvim_get_current_line():match('Task %d+'), 'Task 7')
end

function T.shows_a_change_of_state()
  t.session(1, '/home/dev/roof', 'Mend the roof')
  open_list()
  t.ok(t.find('0 waiting'))
  local child = t.live(1, '/home/dev/roof', 'waiting', 'permission prompt')
  t.wait_line('1 waiting')
  t.ok(select(2, t.find('Mend the roof')):find('  ! waiting', 1, true), 'the mark')
  child:kill('sigkill')
  t.wait_line('0 waiting')
end

function T.filters_by_text()
  t.session(1, '/home/dev/roof', 'Mend the roof')
  t.session(2, '/home/dev/shed', 'Build a shed')
  open_list()
  t.input = 'SHED'
  t.keys('f')
  t.eq({ t.find('Mend the roof'), t.find('Build a shed') ~= nil }, { nil, true })
  t.ok(t.find('only SHED'))
  t.input = 'nothing like it'
  t.keys('f')
  t.ok(t.find('no session matches'))
  t.input = ''
  t.keys('f')
  t.ok(t.find('Mend the roof'))
end

function T.shows_so_many_stored_ones_and_more_on_demand()
  for number = 1, 6 do
    t.session(number, '/home/dev/roof', 'Task ' .. number, number)
  end
  t.configure({ list = { stored = 2 } })
  package.loaded['tackroom.list'] = nil
  open_list()
  t.eq({ t.find('Task 6') ~= nil, t.find('Task 4') }, { true, nil })
  t.ok(t.find('4 more that do not run'))
  t.keys('+')
  t.ok(t.find('Task 1'))
  package.loaded['tackroom.list'] = nil
end

function T.opens_the_session_under_the_cursor()
  local id = t.session(1, '/home/dev/roof', 'Mend the roof')
  open_list()
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  t.keys('<CR>')
  t.wait_told('no session in this line')
  vim.api.nvim_win_set_cursor(0, { t.find('Mend the roof'), 0 })
  t.keys('<CR>')
  t.wait('the transcript', function()
    return vim.api.nvim_buf_get_name(0) == 'tackroom://session/' .. id
  end)
end

function T.shows_its_keys()
  open_list()
  t.keys('g?')
  t.ok(t.find('attach to a running agent'), 'the keys')
  t.keys('q')
  t.eq(vim.bo.filetype, 'tackroom')
end

function T.says_that_there_is_nothing()
  open_list()
  t.ok(t.find('no sessions found'))
end

function T.survives_being_wiped_and_opened_again()
  t.session(1, '/home/dev/roof', 'Mend the roof')
  open_list()
  vim.cmd('bwipeout!')
  open_list()
  t.ok(t.find('Mend the roof'))
end

function T.control_characters_do_nothing()
  t.session(1, '/home/dev/roof', 'Red \27[31mroof\27[0m \226\128\174 and \7bell')
  open_list()
  local _, line = t.find('roof and')
  line = line or select(2, t.find('Red'))
  t.eq(line:find('[%c]'), nil)
  t.eq(line:find('\226\128\174', 1, true), nil)
end

return T
