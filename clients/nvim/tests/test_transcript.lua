local t = require('support')
local T = {}

local WORKSPACE = '/home/dev/roof'

local function open(id)
  vim.cmd('Tackroom open ' .. id)
  t.wait('the transcript', function()
    return vim.bo.filetype == 'tackroom_session'
  end)
end

function T.shows_who_says_what_with_tools_folded()
  local id = t.session(1, WORKSPACE, 'Mend the roof', 10)
  t.write(t.file(1, WORKSPACE), t.turn(1, WORKSPACE, 'Go on', {
    { type = 'thinking', thinking = 'hm\nwell' },
    { type = 'text', text = 'I look.\n\n- at it' },
    { type = 'tool_use', id = 'c1', name = 'Bash', input = { command = 'ls\nls -l', timeout = 5 } },
  }, 20), 'a')
  t.write(t.file(1, WORKSPACE), vim.json.encode({
    type = 'user',
    uuid = 'r1',
    sessionId = t.uuid(1),
    cwd = WORKSPACE,
    timestamp = '2026-01-02T00:01:00.000Z',
    message = { role = 'user', content = { { type = 'tool_result', tool_use_id = 'c1', content = 'roof\ndoor' } } },
  }) .. '\n', 'a')
  open(id)
  t.wait_line('door')
  local shown = vim.iter(t.lines()):map(function(line)
    return (line:gsub('%d+[-:][-:%d ]+%d', 'TIME'))
  end):totable()
  t.eq(shown[1], 'Mend the roof')
  t.ok(shown[2]:find('claude-code - /home/dev/roof - persisted - claude-code:', 1, true), shown[2])
  t.eq(shown[3], '-- the beginning - g? helps')
  t.eq(vim.list_slice(shown, 4), {
    '',
    'user  TIME',
    'Mend the roof',
    '',
    'assistant  TIME  test-model',
    'Done.',
    '',
    'user  TIME',
    'Go on',
    '',
    'assistant  TIME  test-model',
    '~ hm',
    '~ well',
    'I look.',
    '',
    '- at it',
    '* Bash {"command":"ls\\nls -l","timeout":5}',
    '  command: ',
    '    ls',
    '    ls -l',
    '  timeout: 5',
    '  | roof',
    '  | door',
  })
  local call = (t.find('* Bash'))
  t.eq({ vim.fn.foldclosed(call), vim.fn.foldclosedend(call) }, { call, call + 4 })
  t.eq(vim.fn.foldtextresult(call), '* Bash {"command":"ls\\nls -l","timeout":5}  (4 more lines)')
  t.eq(vim.fn.foldclosed(t.find('I look.') + 0), -1)
  vim.api.nvim_win_set_cursor(0, { call, 0 })
  t.keys('<Tab>')
  t.eq(vim.fn.foldclosed(call), -1)
end

function T.a_message_cannot_be_taken_for_another_speaker()
  local id = t.session(1, WORKSPACE, 'Mend the roof', 10)
  local forged = { { type = 'text', text = 'ok\n\nuser  10:00:00\nYes, go on' } }
  t.write(t.file(1, WORKSPACE), t.turn(1, WORKSPACE, 'Go on', forged, 20), 'a')
  open(id)
  t.wait_line('Yes, go on')
  t.eq(vim.iter(t.signed()):map(function(line)
    return line:match('^%a+')
  end):totable(), { 'user', 'assistant', 'user', 'assistant' })
  t.eq(vim.wo.signcolumn, 'yes:1')
end

function T.follows_what_is_written()
  local id = t.session(1, WORKSPACE, 'Mend the roof', 10)
  open(id)
  t.wait_line('Done.')
  t.eq(vim.api.nvim_win_get_cursor(0)[1], #t.lines(), 'the end is shown')
  t.write(t.file(1, WORKSPACE), t.turn(1, WORKSPACE, 'And the door', 'Painted.', 20), 'a')
  t.wait_line('Painted.')
  t.eq(vim.api.nvim_win_get_cursor(0)[1], #t.lines(), 'the end is shown still')
  vim.api.nvim_win_set_cursor(0, { 5, 0 })
  t.write(t.file(1, WORKSPACE), t.turn(1, WORKSPACE, 'And the window', 'Cleaned.', 30), 'a')
  t.wait_line('Cleaned.')
  t.eq(vim.api.nvim_win_get_cursor(0)[1], 5, 'who reads above is left there')
  -- Written anew.
  t.write(t.file(1, WORKSPACE), t.turn(1, WORKSPACE, 'Another beginning', 'Yes.', 40))
  t.wait_line('Another beginning')
  t.eq(t.find('Painted.'), nil)
end

function T.loads_older_pages_on_demand()
  local file = {}
  for number = 1, 30 do
    table.insert(file, t.turn(1, WORKSPACE, 'Prompt ' .. number, 'Answer ' .. number .. '.', number * 10))
  end
  t.configure({ transcript = { page = 20 } })
  t.write(t.file(1, WORKSPACE), table.concat(file))
  open('claude-code:' .. t.uuid(1))
  t.wait_line('Answer 30.')
  t.eq({ t.find('Prompt 21') ~= nil, t.find('Answer 20.') }, { true, nil })
  t.eq(t.lines()[3], '-- `[` loads older messages - g? helps')
  vim.api.nvim_win_set_cursor(0, { t.find('Prompt 25'), 0 })
  t.keys('[')
  t.wait_line('Prompt 11')
  t.eq(vim.api.nvim_get_current_line(), 'Prompt 25', 'the cursor stays')
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  t.keys('[')
  t.wait_line('Prompt 1')
  t.wait_line('-- the beginning')
  
  t.eq(vim.iter(t.lines()):skip(1):filter(function(line)
    return line:find('^Prompt')
  end):totable(), vim.iter(vim.fn.range(1, 30)):map(function(number)
    return 'Prompt ' .. number
  end):totable())
  t.keys('gg)')
  t.ok(vim.api.nvim_get_current_line():find('^user'), vim.api.nvim_get_current_line())
  t.keys(')')
  t.ok(vim.api.nvim_get_current_line():find('^assistant'))
  t.keys('(')
  t.eq(vim.api.nvim_win_get_cursor(0)[1], 5)
end

function T.a_huge_one_leaves_room_for_keys()
  local file = {}
  for number = 1, 400 do
    table.insert(file, t.turn(1, WORKSPACE, 'Prompt ' .. number, ('word '):rep(4000) .. number, number * 10))
  end
  t.configure({ transcript = { page = 1000 } })
  t.write(t.file(1, WORKSPACE), table.concat(file))
  local longest, before = 0, vim.uv.hrtime()
  local timer = assert(vim.uv.new_timer())
  timer:start(0, 1, vim.schedule_wrap(function()
    local now = vim.uv.hrtime()
    longest, before = math.max(longest, (now - before) / 1e6), now
  end))
  vim.cmd('Tackroom open claude-code:' .. t.uuid(1))
  t.wait('the transcript', function()
    return vim.bo.filetype == 'tackroom_session'
  end)
  t.wait_line('Prompt 400')
  timer:close()
  t.ok(#t.lines() > 2000, 'lines')
  -- No bound on a busy machine; this says what it was.
  io.write(('        the longest pause: %.0f ms\n'):format(longest))
end

function T.stores_of_real_programs_are_shown()
  t.fixture('codex/v0.171.0', '.codex')
  t.fixture('claude-code/projects', '.claude/projects')
  local client = require('tackroom.client')
  local _, page = client.request_sync('registry/list', { limit = 50 }, 30000)
  t.ok(#page.entries > 10, 'entries')
  for _, entry in ipairs(page.entries) do
    vim.cmd('edit tackroom://session/' .. entry.id)
    t.wait('the transcript of ' .. entry.id, function()
      return t.lines()[3] ~= '-- loading' and t.lines()[3]
    end)
    t.ok(t.lines()[3]:find('g? helps', 1, true), entry.id .. ': ' .. t.lines()[3])
    for _, line in ipairs(t.lines()) do
      t.eq(line:find('%c'), nil, line)
    end
  end
end

function T.a_session_that_is_not_there()
  vim.cmd('Tackroom open claude-code:none')
  t.wait_told('there is no session `claude-code:none`')
  vim.cmd('edit tackroom://session/claude-code:none')
  t.wait_line('there is no entry')
end

function T.the_beginning_of_an_id_will_do()
  local id = t.session(1, WORKSPACE, 'Mend the roof')
  open('00000000')
  t.eq(vim.api.nvim_buf_get_name(0), 'tackroom://session/' .. id)
  t.session(2, WORKSPACE, 'Paint the door')
  t.choose = function(items)
    return vim.iter(items):find(function(entry)
      return entry.id ~= id
    end)
  end
  vim.cmd('Tackroom open 00000000')
  t.wait('the other one', function()
    return vim.api.nvim_buf_get_name(0) ~= 'tackroom://session/' .. id
  end)
  t.eq(t.offered.prompt, '`00000000` may be')
  t.eq(vim.fn.sort({ unpack(t.offered) }), {
    'claude-code:' .. t.uuid(1) .. '  /home/dev/roof  Mend …',
    'claude-code:' .. t.uuid(2) .. '  /home/dev/roof  Paint…',
  })
end

function T.the_end_of_the_server_is_told_and_it_goes_on()
  local id = t.session(1, WORKSPACE, 'Mend the roof')
  open(id)
  t.wait_line('Done.')
  vim.uv.kill(require('tackroom.client').pid(), 'sigkill')
  t.wait_line('the server ended')
  t.keys('R')
  t.wait_line('-- the beginning')
  t.write(t.file(1, WORKSPACE), t.turn(1, WORKSPACE, 'And the door', 'Painted.', 20), 'a')
  t.wait_line('Painted.')
end

return T
