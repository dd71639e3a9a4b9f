-- `:checkhealth tackroom`
local client = require('tackroom.client')
local config = require('tackroom.config')
local text = require('tackroom.text')

local M = {}

---How long an answer may take, in milliseconds.
local PATIENCE = 20000
---Files of a root that are named, of those that were skipped.
local NAMED = 10
local INSTALL = {
  'install it with `cargo install --path .` in its source',
  "or name it: vim.g.tackroom = { cmd = { '/path/to/tackroom' } }",
}

---@return tackroom.Config?
local function check_config()
  local ok, options = pcall(config.get)
  if not ok then
    vim.health.error('the configuration does not hold: ' .. tostring(options))
    return nil
  end
  vim.health.ok('the configuration holds')
  return options
end

---@param cmd string[]
local function check_program(cmd)
  local path = vim.fn.exepath(cmd[1])
  if path == '' then
    vim.health.error(('`%s` is not an executable program'):format(cmd[1]), INSTALL)
    return false
  end
  vim.health.ok('the program is ' .. path)
  local words = vim.list_extend(vim.list_extend({}, cmd), { '--version' })
  local ok, result = pcall(function()
    return vim.system(words, { timeout = PATIENCE }):wait()
  end)
  if not ok or result.code ~= 0 then
    local why = not ok and tostring(result) or result.stderr
    vim.health.error('it does not say its version: ' .. text.one_line(why), INSTALL)
    return false
  end
  vim.health.ok('its version: ' .. text.one_line(result.stdout))
  return true
end

---@param allow string[]
local function check_server(allow)
  local err = client.request_sync('ping', nil, PATIENCE)
  local info = client.info()
  if err or not info then
    vim.health.error('the server does not answer: ' .. (err and err.message or 'it has ended'))
    return false
  end
  vim.health.ok(('the server answers: %s %s, process %d'):format(info.serverInfo.name, info.serverInfo.version, client.pid()))
  local granted = info.authority.permissions
  vim.health.ok('granted: ' .. table.concat(granted, ', '))
  for _, permission in ipairs(allow) do
    if not vim.list_contains(granted, permission) then
      vim.health.warn(('`%s` is not granted'):format(permission))
    end
  end
  if info.authority.workspaces then
    vim.health.info('only sessions in ' .. table.concat(info.authority.workspaces, ', '))
  end
  if not vim.list_contains(info.methods, 'peer/message') then
    vim.health.info('this server cannot deliver messages')
  end
  return true
end

---@param skipped { path: string, reason: string }[]
local function tell_skipped(skipped)
  for at = 1, math.min(#skipped, NAMED) do
    vim.health.warn(('%s: %s'):format(text.path(skipped[at].path), text.one_line(skipped[at].reason)))
  end
  if #skipped > NAMED then
    vim.health.warn(('%d more were skipped: `tackroom doctor` names them'):format(#skipped - NAMED))
  end
end

local function check_runtimes()
  local err, result = client.request_sync('runtime/receipts', nil, PATIENCE)
  if err then
    return vim.health.error('the server does not say what runtimes there are: ' .. text.one_line(err.message))
  end
  vim.health.ok(text.count(#result.receipts, 'runtime') .. ' published')
  for _, problem in ipairs(result.problems or {}) do
    vim.health.warn(('%s: %s'):format(text.path(problem.path), text.one_line(problem.message)))
  end
end

local function check_homes()
  local err, coverage = client.request_sync('registry/coverage', nil, PATIENCE)
  if err then
    return vim.health.error('the server does not say where it looked: ' .. text.one_line(err.message))
  end
  local missing = {}
  for _, harness in ipairs(coverage.harnesses) do
    for _, root in ipairs(harness.roots) do
      local where = ('%s: %s'):format(harness.id, text.path(root.path))
      if not root.exists then
        table.insert(missing, where)
      else
        local found = root.sessions and ' - ' .. text.count(root.sessions, 'session') or ''
        vim.health.ok(where .. found)
        tell_skipped(root.skipped or {})
      end
    end
  end
  if #missing > 0 then
    vim.health.info('not there: ' .. table.concat(missing, ', '))
  end
end

function M.check()
  vim.health.start('tackroom: the program')
  if vim.fn.has('nvim-0.10') == 0 then
    return vim.health.error('Neovim 0.10 or newer is needed')
  end
  local options = check_config()
  if not options or not check_program(options.cmd) then
    return
  end
  vim.health.start('tackroom: the server')
  if not check_server(options.allow) then
    return
  end
  vim.health.start('tackroom: where sessions are looked for')
  check_homes()
  vim.health.start('tackroom: running agents')
  check_runtimes()
end

return M
