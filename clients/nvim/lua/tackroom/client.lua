-- The one server of this Neovim, shared by all views: started when it is needed, again when it died, ended with
-- Neovim.
--
-- It is run by `vim.system` and spoken to in lines, one message each. `vim.lsp.rpc` would do as well for calls; but it
-- writes what the server says on stderr to the log of language servers, gives no process to wait for at the end, and
-- hands over each message at once, while here a flood is taken in slices that leave room for keys.
local config = require('tackroom.config')

local M = {}

---How long messages are taken before keys are, in milliseconds.
local SLICE = 8
---How long the server may take to end, in milliseconds.
local FAREWELL = 1000
---How long a server may take to answer `initialize`, in milliseconds, and bytes that it may write until then.
local GREETING, GREETING_BYTES = 10000, 65536
---Bytes of what the server said on stderr, the last ones.
local LOG = 4096

---@alias tackroom.Callback fun(err?: tackroom.Error, result?: any)

---@class tackroom.Server
---@field cmd string[] the words that a person configured
---@field process? vim.SystemObj
---@field info? table the result of `initialize`
---@field pending table<integer, tackroom.Callback>
---@field queue string[] requests that wait for `initialize`
---@field chunks string[] the beginning of a line
---@field inbox table[] messages that nobody has taken yet
---@field head integer where in it the next one is
---@field tail integer where in it the last one is
---@field is_draining boolean
---@field log string
---@field unread integer bytes that came before the answer to `initialize` was read
---@field fault? string why it is no server
---@field is_ending boolean
---@field has_ended boolean

local server = nil ---@type tackroom.Server?
local last_id = 0
local handlers = {} ---@type table<string, fun(params: table)>
local gone_hooks, ready_hooks = {}, {} ---@type fun()[], fun()[]

---@param message string
local function failure(message)
  return { code = -32603, message = message, data = { reason = 'gone' } }
end

---@param text string
---@param level? integer
function M.notify(text, level)
  vim.notify('tackroom: ' .. text, level or vim.log.levels.WARN)
end

---What to do where there is no program.
local function how_to_install(program)
  return ('`%s` is not an executable program. Install it with `cargo install --path .` in its source, or name it: '):format(
    program
  ) .. "vim.g.tackroom = { cmd = { '/path/to/tackroom' } }. `:checkhealth tackroom` says more."
end

---@param one tackroom.Server
---@param message table
local function take(one, message)
  if message.method then
    local params = message.params or {}
    local handler = handlers[params.subscription or params.attachment or '']
    if handler then
      handler(params)
    end
    return
  end
  local callback = one.pending[message.id]
  one.pending[message.id] = nil
  if callback then
    callback(message.error, message.result)
  end
end

---Hands messages over in their order, a slice at a time.
---@param one tackroom.Server
local function drain(one)
  local started = vim.uv.hrtime()
  while one.inbox[one.head] do
    local message = one.inbox[one.head]
    one.inbox[one.head] = nil
    one.head = one.head + 1
    local ok, err = pcall(take, one, message)
    if not ok then
      M.notify(tostring(err), vim.log.levels.ERROR)
    end
    if (vim.uv.hrtime() - started) / 1e6 > SLICE then
      vim.defer_fn(function()
        drain(one)
      end, 1)
      return
    end
  end
  one.is_draining = false
end

---@param one tackroom.Server
---@param line string
local function receive(one, line)
  local ok, message = pcall(vim.json.decode, line)
  if not ok or type(message) ~= 'table' then
    return
  end
  one.tail = one.tail + 1
  one.inbox[one.tail] = message
end

---@param one tackroom.Server
---@param result vim.SystemCompleted
local function how_it_ended(one, result)
  local log = vim.trim(one.log):gsub('\n.*', '')
  local how = result.signal ~= 0 and ('signal ' .. result.signal) or ('exit code ' .. result.code)
  return ('the server ended (%s)%s'):format(how, log ~= '' and ': ' .. log or '')
end

---@param one tackroom.Server
---@param result? vim.SystemCompleted nil where it was given up
local function ended(one, result)
  if one.has_ended then
    return
  end
  one.has_ended = true
  local is_ours = server == one
  if is_ours then
    server, handlers = nil, {}
  end
  local message = one.fault or how_it_ended(one, assert(result))
  local pending = one.pending
  one.pending = {}
  for _, callback in pairs(pending) do
    pcall(callback, failure(message))
  end
  if is_ours then
    for _, hook in ipairs(gone_hooks) do
      hook()
    end
  end
  if not one.is_ending then
    M.notify(message .. '. It is started again when it is needed next.')
  end
end

---Ends a program that does not behave as a server. Whether its pipes close, which its children may hold, is not waited
---for.
---@param one tackroom.Server
---@param why string
local function give_up(one, why)
  one.fault = ('`%s` is no server of tackroom: it %s'):format(table.concat(one.cmd, ' '), why)
  one.process:kill('sigkill')
  vim.schedule(function()
    ended(one)
  end)
end

---@param one tackroom.Server
---@param data? string
local function read(one, data)
  if not data or one.fault then
    return
  end
  one.unread = one.info and 0 or one.unread + #data
  if one.unread > GREETING_BYTES then
    return give_up(one, 'writes without end and does not answer')
  end
  -- A frame has up to 16 MiB: its pieces are joined once.
  local from = 1
  while true do
    local at = data:find('\n', from, true)
    if not at then
      break
    end
    table.insert(one.chunks, data:sub(from, at - 1))
    receive(one, table.concat(one.chunks))
    one.chunks = {}
    from = at + 1
  end
  if from <= #data then
    table.insert(one.chunks, data:sub(from))
  end
  if not one.is_draining and one.inbox[one.head] then
    one.is_draining = true
    vim.schedule(function()
      drain(one)
    end)
  end
end

---@param message table
local function encode(message)
  message.jsonrpc = '2.0'
  return vim.json.encode(message) .. '\n'
end

---What cannot be written any more is answered when the server's end is told.
---@param one tackroom.Server
---@param line string
local function write(one, line)
  pcall(one.process.write, one.process, line)
end

local function command()
  local options = config.get()
  local words = vim.list_extend({}, options.cmd)
  vim.list_extend(words, { 'serve', '--framing', 'lines', '--allow', table.concat(options.allow, ',') })
  for _, workspace in ipairs(options.workspaces) do
    vim.list_extend(words, { '--workspace', vim.fs.normalize(vim.fn.fnamemodify(workspace, ':p')) })
  end
  return words
end

---@param one tackroom.Server
local function greet(one)
  last_id = last_id + 1
  one.pending[last_id] = function(err, result)
    if one.has_ended then
      -- Its end is told anyhow.
      return
    elseif err then
      M.notify('the server refuses: ' .. err.message, vim.log.levels.ERROR)
      return M.stop()
    end
    if result.protocolVersion ~= 1 then
      M.notify(('the server speaks version %s, not 1'):format(result.protocolVersion), vim.log.levels.ERROR)
      return M.stop()
    end
    one.info = result
    write(one, encode({ method = 'initialized', params = vim.empty_dict() }))
    for _, line in ipairs(one.queue) do
      write(one, line)
    end
    one.queue = {}
    for _, hook in ipairs(ready_hooks) do
      hook()
    end
  end
  local params = {
    protocolVersion = 1,
    clientInfo = { name = 'nvim', version = tostring(vim.version()) },
    processId = vim.fn.getpid(),
  }
  write(one, encode({ id = last_id, method = 'initialize', params = params }))
end

---@return tackroom.Server? one
---@return string? why there is none
local function start()
  if server then
    return server
  end
  -- What a person has narrowed since holds for the next server.
  local holds, options = pcall(config.read)
  if not holds then
    return nil, 'the configuration does not hold: ' .. tostring(options)
  end
  local program = options.cmd[1]
  if vim.fn.executable(program) == 0 then
    return nil, how_to_install(program)
  end
  ---@type tackroom.Server
  local one = {
    cmd = options.cmd,
    pending = {},
    queue = {},
    chunks = {},
    inbox = {},
    head = 1,
    tail = 0,
    is_draining = false,
    log = '',
    unread = 0,
    is_ending = false,
    has_ended = false,
  }
  local ok, process = pcall(vim.system, command(), {
    stdin = true,
    stdout = function(_, data)
      read(one, data)
    end,
    stderr = function(_, data)
      one.log = (one.log .. (data or '')):sub(-LOG)
    end,
  }, function(result)
    vim.schedule(function()
      ended(one, result)
    end)
  end)
  if not ok then
    return nil, ('`%s` cannot be started: %s'):format(program, tostring(process))
  end
  one.process, server = process, one
  greet(one)
  vim.defer_fn(function()
    if server == one and not one.info then
      give_up(one, ('does not answer within %d seconds'):format(GREETING / 1000))
    end
  end, GREETING)
  return one
end

---Asks something; `callback` is always called, and never before this returns. Answers how to give up.
---@param method string
---@param params? table
---@param callback tackroom.Callback
---@return fun() cancel
function M.request(method, params, callback)
  local one, why = start()
  if not one then
    vim.schedule(function()
      callback(failure(assert(why)))
    end)
    return function() end
  end
  last_id = last_id + 1
  local id = last_id
  one.pending[id] = callback
  local line = encode({ id = id, method = method, params = params or vim.empty_dict() })
  if one.info then
    write(one, line)
  else
    table.insert(one.queue, line)
  end
  return function()
    if server == one and one.info and one.pending[id] then
      write(one, encode({ method = '$/cancelRequest', params = { id = id } }))
    end
  end
end

---Asks something and waits, keys and all else going on.
---@param method string
---@param params? table
---@param timeout_ms integer
---@return tackroom.Error? err
---@return any result
function M.request_sync(method, params, timeout_ms)
  local done, err, result = false, nil, nil
  local cancel = M.request(method, params, function(e, r)
    done, err, result = true, e, r
  end)
  if not vim.wait(timeout_ms, function()
    return done
  end, 5) then
    cancel()
    return failure('no answer within ' .. timeout_ms .. ' ms')
  end
  return err, result
end

---Who hears of a subscription or an attachment.
---@param key string
---@param handler? fun(params: table)
function M.on(key, handler)
  handlers[key] = handler
end

---Calls these whenever the server is gone, and whenever one has begun.
---@param gone fun()
---@param ready? fun()
function M.hook(gone, ready)
  table.insert(gone_hooks, gone)
  if ready then
    table.insert(ready_hooks, ready)
  end
end

---What the server said of itself; nil before it has, and when there is none.
---@return table?
function M.info()
  return server and server.info
end

---@return boolean
function M.is_running()
  return server ~= nil
end

---@return integer?
function M.pid()
  return server and server.process.pid
end

---Whether the server may do this and knows how.
---@param permission string
---@param method string
---@return string? why_not
function M.why_not(permission, method)
  local info = M.info()
  if not info then
    return nil
  end
  if not vim.list_contains(info.methods, method) then
    return ('this server (%s) does not know `%s`; a newer one may'):format(info.serverInfo.version, method)
  end
  if not vim.list_contains(info.authority.permissions, permission) then
    return ('the permission `%s` is not granted; it stands in `allow` of the configuration'):format(permission)
  end
end

---Ends the server and waits until it is gone.
function M.stop()
  local one = server
  if not one then
    return
  end
  one.is_ending = true
  server, handlers = nil, {}
  last_id = last_id + 1
  write(one, encode({ id = last_id, method = 'shutdown' }))
  write(one, encode({ method = 'exit' }))
  -- The end of its input; whoever has not ended after a while is killed.
  pcall(one.process.write, one.process, nil)
  one.process:wait(FAREWELL)
  for _, hook in ipairs(gone_hooks) do
    hook()
  end
end

vim.api.nvim_create_autocmd('VimLeavePre', {
  group = vim.api.nvim_create_augroup('tackroom.client', {}),
  desc = 'End the server of tackroom',
  callback = M.stop,
})

return M
