-- vim.lsp.rpc, with which Neovim speaks to language servers. `Content-Length` headers.
local env = vim.env
local WAIT = 60000
local told, ended = {}, nil

local function await(what, done)
  assert(vim.wait(WAIT, done, 5), "nothing came: " .. what)
end

local server = vim.lsp.rpc.start({ env.TACKROOM_BIN, "serve" }, {
  notification = function(method, params)
    assert(method == "registry/event", method)
    local event = params.event
    told[event.entry and event.entry.id or event.kind] = true
  end,
  on_error = function(code, err)
    error(code .. ": " .. vim.inspect(err))
  end,
  on_exit = function(code, signal)
    ended = { code, signal }
  end,
})

local function ask(method, params)
  local answer
  server.request(method, params, function(err, result)
    answer = { err = err, result = result }
  end)
  await(method, function()
    return answer
  end)
  return answer.result, answer.err
end

local opened = ask("initialize", { clientInfo = { name = "nvim" }, processId = vim.fn.getpid() })
assert(opened.serverInfo.name == "tackroom")
server.notify("initialized", vim.empty_dict())

local found = vim.iter(ask("registry/list", { limit = 100 }).entries):any(function(entry)
  return entry.id == env.FOREIGN_SESSION
end)
assert(found)
local _, missing = ask("registry/describe", { id = "no:such" })
assert(missing.code == -32001 and missing.data.reason == "not_found")

ask("registry/watch")
await("synced", function()
  return told.synced
end)
assert(vim.uv.fs_copyfile(env.FOREIGN_NEW_FROM, env.FOREIGN_NEW_TO))
await("the new session", function()
  return told[env.FOREIGN_NEW]
end)

-- An answer of -32800 is the only one that it takes without telling the callback.
local called, settled = false, nil
local _, id = server.request("runtime/attach", { runtimeId = "silent" }, function()
  called = true
end, function(of)
  settled = of
end)
server.notify("$/cancelRequest", { id = id })
await("the end of what was cancelled", function()
  return settled
end)
vim.wait(50)
assert(settled == id and not called, "it was answered otherwise")

local result, failed = ask("shutdown")
assert(failed == nil and (result == nil or result == vim.NIL))
server.notify("exit")
await("its end", function()
  return ended
end)
assert(ended[1] == 0 and ended[2] == 0, vim.inspect(ended))
vim.cmd.qall({ bang = true })
