-- How a person answers what a running agent asks.
local asked = require('tackroom.asked')
local text = require('tackroom.text')
local ui = require('tackroom.ui')

local M = {}

---Characters of a question that its prompt shows whole.
local PROMPT = 400

---@param attach tackroom.Attach
---@param question tackroom.Asked
local function show_whole(attach, question)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, question.whole)
  vim.bo[buf].bufhidden, vim.bo[buf].modifiable, vim.bo[buf].filetype = 'wipe', false, 'tackroom_request'
  vim.cmd('botright sbuffer ' .. buf)
  local bar = ('%%#TackroomWaiting#all of request %.0f - ga answers, q closes'):format(question.id)
  ui.window(vim.api.nvim_get_current_win(), { wrap = true, spell = false, winbar = bar })
  ui.map(buf, {
    { 'ga', function()
      vim.api.nvim_buf_delete(buf, { force = true })
      M.ask(attach)
    end, 'answer it' },
    { 'q', function()
      vim.api.nvim_buf_delete(buf, { force = true })
    end, 'close it' },
  })
  attach.read = question.id
end

---@param attach tackroom.Attach
---@param question tackroom.Asked
---@param choice tackroom.Choice
local function choose(attach, question, choice)
  if choice.shows then
    return show_whole(attach, question)
  elseif not choice.needs_answer then
    return attach:respond(assert(choice.response))
  end
  local how = question.questions > 1 and 'Answers, ; between: ' or 'Answer (JSON, text or a number of the list): '
  vim.ui.input({ prompt = how }, function(answer)
    if answer and vim.trim(answer) ~= '' then
      local is_json, value = pcall(vim.json.decode, answer)
      local response = vim.deepcopy(assert(choice.response))
      response.content = answer
      if is_json then
        response.content = value
      end
      attach:respond(response)
    end
  end)
end

---Whoever drives answers: where another does, asks whether to take control.
---@param attach tackroom.Attach
local function ask_for_control(attach)
  local driver = text.one_line(attach.session.driver)
  local take = 'Take control and answer'
  vim.ui.select({ 'Leave it to ' .. driver, take }, {
    prompt = driver .. ' drives.',
    kind = 'tackroom_control',
  }, function(chosen)
    if chosen == take then
      attach:take(function()
        M.ask(attach)
      end)
    end
  end)
end

---Asks what waits for an answer.
---@param attach tackroom.Attach
function M.ask(attach)
  local question = attach:question()
  if not question then
    return attach:say('nothing waits for an answer')
  elseif attach.session:is_driven_by_another() then
    return ask_for_control(attach)
  end
  local prompt = asked.question(question) .. ' ' .. table.concat(question.details, ' ')
  local is_whole = not question.is_cut and vim.fn.strchars(prompt) <= PROMPT
  vim.ui.select(asked.choices(question, is_whole or attach.read == question.id), {
    prompt = text.cut(prompt, PROMPT),
    kind = 'tackroom_answer',
    format_item = function(choice)
      return choice.label
    end,
  }, function(choice)
    if choice then
      choose(attach, question, choice)
    end
  end)
end

---A key that answers. It does so only for a request that stood there when this window was entered: what was typed
---before something was asked is no answer to it.
---@param attach tackroom.Attach
---@param key string
function M.key(attach, key)
  local question = attach:question()
  if not question or attach.armed ~= question.id then
    -- What the key does otherwise.
    return vim.api.nvim_feedkeys(key, 'n', false)
  elseif not attach.session:is_driven_by_another() then
    for _, choice in ipairs(asked.choices(question, not question.is_cut or attach.read == question.id)) do
      if choice.key == key then
        return choose(attach, question, choice)
      end
    end
  end
  M.ask(attach)
end

return M
