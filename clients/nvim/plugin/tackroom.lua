-- Commands and maps. All else is loaded when it is used first.
if vim.g.loaded_tackroom then
  return
end
vim.g.loaded_tackroom = true
if vim.fn.has('nvim-0.10') == 0 then
  vim.api.nvim_err_writeln('tackroom: Neovim 0.10 or newer is needed')
  return
end

vim.api.nvim_create_user_command('Tackroom', function(command)
  require('tackroom.command').run(command)
end, {
  nargs = '*',
  desc = 'The coding-agent sessions of this machine',
  complete = function(lead, line)
    return require('tackroom.command').complete(lead, line)
  end,
})

vim.keymap.set('n', '<Plug>(tackroom-list)', function()
  require('tackroom').list()
end, { desc = 'List the coding-agent sessions' })
vim.keymap.set('n', '<Plug>(tackroom-pick)', function()
  require('tackroom').pick()
end, { desc = 'Pick a coding-agent session' })

vim.api.nvim_create_autocmd('BufReadCmd', {
  group = vim.api.nvim_create_augroup('tackroom', {}),
  pattern = 'tackroom://session/*',
  desc = 'Load the transcript of a coding-agent session',
  callback = function(event)
    require('tackroom.transcript').load(event.buf, event.match:sub(#'tackroom://session/' + 1))
  end,
})
