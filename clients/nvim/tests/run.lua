-- Runs each test of each file in a home of its own, and says how many held.
local here = vim.fs.dirname(vim.fs.normalize(debug.getinfo(1, 'S').source:sub(2)))
vim.opt.runtimepath:prepend(vim.fs.dirname(here))
package.path = here .. '/?.lua;' .. package.path
vim.cmd('filetype on | syntax on')
vim.cmd.runtime('plugin/tackroom.lua')
local support = require('support')

local wanted = { unpack(_G.arg) }
local passed, failed = 0, 0

local function is_wanted(name)
  return #wanted == 0 or vim.iter(wanted):any(function(word)
    return name:find(word, 1, true) ~= nil
  end)
end

local function run(name, test)
  local started = vim.uv.hrtime()
  support.begin()
  local ok, err = xpcall(test, debug.traceback)
  local ended_ok, ended_err = xpcall(support.finish, debug.traceback)
  local took = ('%.1f s'):format((vim.uv.hrtime() - started) / 1e9)
  if ok and ended_ok then
    passed = passed + 1
    io.write(('ok      %s (%s)\n'):format(name, took))
  else
    failed = failed + 1
    io.write(('FAILED  %s (%s)\n%s\n'):format(name, took, ok and ended_err or err))
  end
end

for file in vim.spairs(vim.iter(vim.fn.glob(here .. '/test_*.lua', true, true)):fold({}, function(all, path)
  all[path] = true
  return all
end)) do
  local tests = dofile(file)
  for name, test in vim.spairs(tests) do
    local full = vim.fn.fnamemodify(file, ':t:r'):sub(6) .. ': ' .. name
    if is_wanted(full) then
      run(full, test)
    end
  end
end
io.write(('%d passed, %d failed\n'):format(passed, failed))
os.exit(failed == 0 and passed > 0 and 0 or 1)
