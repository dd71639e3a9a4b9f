local t = require('support')
local text = require('tackroom.text')
local T = {}

function T.sequences_are_taken_out_and_the_rest_stays()
  local cases = {
    { '\27[31mred\27[0m', 'red' },
    { '\27]0;title\7a\27]8;;http://x\27\\b', 'ab' },
    { '\194\1552Ja\194\15752;c;x\194\156b', 'ab' },
    { '\27(Ba\27cb\0277', 'ab' },
    { '1%\r50%\r\n100%\r\ndone', '1%\n50%\n100%\ndone' },
    { 'a\tb\7\8\0', 'a    b' },
    { 'a\226\128\174b\194\133', 'a\239\191\189b\239\191\189' },
    { 'open \27[\nnext \27]0;\nlast', 'open \nnext \nlast' },
    { '東京 e\204\129', '東京 e\204\129' },
    { 'end \27', 'end ' },
    { '\27\27[1mx', 'x' },
  }
  for _, case in ipairs(cases) do
    t.eq(text.clean(case[1]), case[2], vim.inspect(case[1]))
    -- However it is cut.
    local cleaner, parts = text.cleaner(), {}
    for char in case[1]:gmatch('[%z\1-\127\194-\244][\128-\191]*') do
      table.insert(parts, cleaner:clean(char))
    end
    table.insert(parts, cleaner:clean('', true))
    t.eq(table.concat(parts), case[2], 'in pieces: ' .. vim.inspect(case[1]))
  end
end

function T.a_string_that_never_ends_is_text()
  local cleaner = text.cleaner()
  local shown = cleaner:clean('a\27]0;' .. ('x'):rep(9000))
  t.ok(#shown > 8000, #shown)
end

function T.long_lines_are_broken_and_long_texts_shortened()
  local lines = text.lines(('é'):rep(5000))
  t.eq(#lines, 3)
  t.eq(table.concat(lines), ('é'):rep(5000))
  for _, line in ipairs(lines) do
    t.ok(vim.fn.strchars(line) * 2 == #line, 'no character is cut')
  end
  t.eq(text.lines('a\nb\nc\n\n', 2), { 'a', 'b', '… 1 more line' })
  t.eq(text.lines(('x'):rep(450), 2), { ('x'):rep(400) .. '… 50 more characters' })
end

function T.members_have_one_order_and_nothing_is_lost()
  local json = '{"a":[1,{"y":null,"z":[]}],"b":"\\u001b[2J","c":{},"d":9007199254740991,"e":1.5,"f":false}'
  for _ = 1, 20 do
    t.eq(text.json(vim.json.decode(json)), json)
  end
end

function T.ages_are_told_in_their_largest_unit()
  local told = vim.iter({ -5, 0, 59, 60, 3599, 3600, 86400, 604800, 31557600 }):map(function(seconds)
    return text.age(1e12, 1e12 - seconds * 1000)
  end):totable()
  t.eq(told, { '0s', '0s', '59s', '1m', '59m', '1h', '1d', '1w', '1y' })
end

---What a captured stream of a real runtime looks like.
local function captured(name)
  local view, lines = require('tackroom.view').new(), {}
  for line in io.lines(t.root .. '/tests/fixtures/runtime/' .. name) do
    local data = line:match('^data: (.*)')
    if data then
      local event = vim.json.decode(data)
      vim.list_extend(lines, view:event(event.kind, event.payload))
    end
  end
  vim.list_extend(lines, view:finish())
  return vim.iter(lines):map(function(line)
    return line[1]
  end):totable()
end

function T.captured_streams_of_real_runtimes()
  t.eq(captured('sse_approval.txt'), {
    '> TOOL echo approved',
    '* bash {"command": "echo approved"}',
    '? request 1: may it run bash?',
    '  {"command":"echo approved"}',
    '-- request 1: allowed',
    '  | exit code: 0',
    '  | approved',
    'tool said: exit code: 0',
    'approved',
  })
  t.eq(captured('sse_hosted.txt'), {
    '> hello TOOL',
    'part0 part1 ',
    '* do it {"command":"x"}',
    '  | done',
  })
  local lines = captured('sse_frontend_events.txt')
  t.eq({ lines[1], lines[2], lines[4] }, { '> hello world', 'echo: hello world', '-- the turn was interrupted' })
end

function T.call_is_shown_once_it_is_known_what_is_called()
  local view = require('tackroom.view').new()
  local command = '{"command":"ls"}'
  local function told(kind, payload)
    return vim.iter(view:event(kind, payload)):map(function(line)
      return line[1]
    end):totable()
  end
  t.eq(told('tool_call_started', { id = '1', name = 'Terminal', arguments = '{}', status = 'pending' }), {})
  t.eq(view:partial()[1], '* Terminal {}')
  t.eq(told('tool_call_updated', { id = '1', name = 'ls', arguments = command }), { '* ls ' .. command })
  t.eq(told('tool_call_completed', { id = '1', name = 'ls', arguments = command, output = 'a' }), { '  | a' })
  t.eq(told('text_delta', { text = 'one ' }), {})
  t.eq(told('model_changed', { from = 'a', to = 'b', reason = 'c' }), {})
  t.eq(told('text_delta', { text = 'sentence' }), {})
  t.eq(told('turn_completed', {}), { 'one sentence', '-- the model changed from a to b: c' })
end

function T.form_is_shown_with_its_choices()
  local colour = { type = 'string', title = 'Colour', oneOf = { { const = 'Red', title = 'Red - warm' } } }
  local schema = { properties = { q = colour, q_custom = { type = 'string' } } }
  local asked = require('tackroom.asked').of({
    request = { id = 7, kind = 'elicitation', payload = { message = 'Which?', requested_schema = schema } },
  })
  t.eq(asked.details, { 'Colour (optional)', '  1. Red - warm' })
  t.eq(asked.questions, 1)
end

function T.fields_of_a_form_keep_the_order_that_the_host_lists()
  local text = { type = 'string' }
  local schema = { properties = { alpha = text, beta = text, zeta = text }, required = { 'alpha', 'beta', 'zeta' } }
  local function fields(order)
    local payload = { message = '?', requested_schema = schema, field_order = order }
    return require('tackroom.asked').of({ request = { id = 7, kind = 'elicitation', payload = payload } }).details
  end
  t.eq(fields({ 'zeta', 'alpha', 'gone', 'zeta', 7, 'beta' }), { 'zeta', 'alpha', 'beta' })
  t.eq(fields(vim.NIL), { 'alpha', 'beta', 'zeta' })
end

function T.only_the_decisions_that_a_request_lists_are_offered()
  local asked = require('tackroom.asked')
  local function offered(decisions, is_whole)
    local payload = { tool = 'bash', raw_args = 'ls', decisions = decisions }
    local request = asked.of({ request = { id = 7, kind = 'approval', payload = payload } })
    local labels = vim.iter(asked.choices(request, is_whole)):map(function(choice)
      return choice.label
    end):totable()
    return labels, asked.keys(request)
  end
  local labels, keys = offered({ 'deny', 'allow', 'of the future' }, true)
  t.eq(labels, { 'Deny', 'Allow once' })
  t.eq(keys, 'y allows, n denies')
  t.eq(offered({ 'allow_for_session' }, true), { 'Allow for this session' })
  t.eq(offered({ 'allow' }, false), { 'Show it whole, before it can be allowed' })
  t.eq(offered(vim.NIL, true), { 'Deny', 'Allow once', 'Allow for this session' })
end

function T.what_is_not_known_is_named_and_nothing_breaks()
  local view = require('tackroom.view').new()
  for _, case in ipairs({
    { 'brand new\27[2J', 7, nil },
    { 'native_event', { kind = 'usage_update' }, nil },
    { 'scheduled_prompt_started', { prompt = 'nightly' }, '-- scheduled prompt started: nightly' },
    { 'request', { request = 'x' }, nil },
    { 'tool_call_started', { name = vim.NIL, arguments = vim.empty_dict() }, nil },
    { 'text_delta', { text = vim.NIL }, nil },
    { 'turn_failed', { message = 'no\n' }, '! the turn failed: no' },
    { 'request_resolved', { request_id = 3, response = vim.NIL }, '-- request 3: settled' },
  }) do
    local line = view:event(case[1], case[2])[1]
    t.eq(line and line[1], case[3], case[1])
  end
end

return T
