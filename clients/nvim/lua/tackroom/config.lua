-- The configuration: `vim.g.tackroom` and what `setup()` was given, over the defaults. Neither is needed.
local M = {}

---@class tackroom.Config
M.defaults = {
  ---The program, and words before its subcommand.
  ---@type string[]
  cmd = { 'tackroom' },
  ---What the server may do at most.
  ---@type string[]
  allow = { 'observe', 'interact', 'approve', 'message', 'configure' },
  ---Only sessions in these directories and below; empty: all.
  ---@type string[]
  workspaces = {},
  list = {
    ---@type 'workspace'|'harness'|'none'
    group = 'workspace',
    ---How many sessions that do not run are shown; `+` shows more.
    stored = 200,
  },
  transcript = {
    ---Messages that are loaded at a time.
    page = 100,
  },
  attach = {
    ---Lines of the window to type in.
    height = 3,
    ---Lines that are kept of what an agent says.
    scrollback = 10000,
  },
}

local given = {} ---@type table what `setup()` was given
local merged = nil ---@type tackroom.Config?

local function is_one_of(...)
  local words = { ... }
  return function(value)
    return vim.list_contains(words, value)
  end, 'one of ' .. table.concat(words, ', ')
end

local function is_words(value)
  return vim.islist(value) and vim.iter(value):all(function(word)
    return type(word) == 'string'
  end)
end

local function is_count(value)
  return type(value) == 'number' and value >= 1 and value % 1 == 0
end

---@param name string
---@param value any
---@param check string|fun(value: any): boolean
---@param what? string
local function validate(name, value, check, what)
  if vim.fn.has('nvim-0.11') == 1 then
    vim.validate(name, value, check, what)
  else
    vim.validate({ [name] = { value, check, what } })
  end
end

---Names that are not in the defaults are misspelt.
local function check_names(user, defaults, path)
  for name, value in pairs(user) do
    if defaults[name] == nil then
      error(('tackroom: there is no option `%s%s`'):format(path, tostring(name)), 0)
    end
    if type(value) == 'table' and not vim.islist(defaults[name]) then
      check_names(value, defaults[name], path .. name .. '.')
    end
  end
end

---@param config tackroom.Config
local function check(config)
  validate('tackroom.cmd', config.cmd, function(value)
    return is_words(value) and #value > 0
  end, 'a list of words, the program first')
  validate('tackroom.allow', config.allow, is_words, 'a list of words')
  validate('tackroom.workspaces', config.workspaces, is_words, 'a list of directories')
  validate('tackroom.list.group', config.list.group, is_one_of('workspace', 'harness', 'none'))
  validate('tackroom.list.stored', config.list.stored, is_count, 'a whole number from 1 on')
  validate('tackroom.transcript.page', config.transcript.page, is_count, 'a whole number from 1 on')
  validate('tackroom.attach.height', config.attach.height, is_count, 'a whole number from 1 on')
  validate('tackroom.attach.scrollback', config.attach.scrollback, is_count, 'a whole number from 1 on')
end

---@param user table
local function merge(user)
  validate('tackroom', user, 'table')
  check_names(user, M.defaults, '')
  local config = vim.tbl_deep_extend('force', M.defaults, user)
  check(config)
  return config
end

---@param opts? table
function M.setup(opts)
  opts = opts or {}
  merged = merge(vim.tbl_deep_extend('force', vim.g.tackroom or {}, opts))
  given = opts
end

---Reads `vim.g.tackroom` anew.
---@return tackroom.Config
function M.read()
  M.setup(given)
  return M.get()
end

---@return tackroom.Config
function M.get()
  if not merged then
    M.setup()
  end
  return assert(merged)
end

return M
