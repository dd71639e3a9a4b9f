-- An entry of the inventory as a person reads it: the same words and order as `tackroom list`. Pure.
local text = require('tackroom.text')

local M = {}

---What needs a person comes first.
local RANKS = { waiting = 1, busy = 2, idle = 3, live = 4, shutting_down = 5, persisted = 6 }
local SIGNS = { waiting = '!', busy = '*', idle = '-', live = '~', shutting_down = 'x' }
---Characters of an id that tell most of them apart.
local SHORT = 8
---Characters of a label.
local LABEL = 40
---Characters of a title.
local LONGEST = 300

---@param entry tackroom.Entry
function M.rank(entry)
  return RANKS[entry.state] or RANKS.live
end

---@param entry tackroom.Entry
function M.is_live(entry)
  return entry.state ~= 'persisted'
end

---@param entry tackroom.Entry
---@return string
function M.sign(entry)
  return SIGNS[entry.state] or ' '
end

---@param entry tackroom.Entry
---@return integer?
function M.time(entry)
  return entry.updatedAtMs or entry.startedAtMs
end

---Whether `a` stands above `b`.
---@param a tackroom.Entry
---@param b tackroom.Entry
function M.is_before(a, b)
  local rank_a, rank_b = M.rank(a), M.rank(b)
  if rank_a ~= rank_b then
    return rank_a < rank_b
  end
  local time_a, time_b = M.time(a) or 0, M.time(b) or 0
  if time_a ~= time_b then
    return time_a > time_b
  end
  return a.id < b.id
end

---@param entry tackroom.Entry
function M.title(entry)
  local title = text.one_line((entry.title or entry.peer and entry.peer.name or ''):sub(1, 4 * LONGEST))
  return title ~= '' and vim.fn.strcharpart(title, 0, LONGEST) or '(no title)'
end

---What tells an agent from others in a few characters.
---@param entry tackroom.Entry
function M.label(entry)
  local title = text.one_line(entry.title)
  local directory = text.one_line(vim.fs.basename(entry.workspace or ''))
  local label = title ~= '' and title or directory ~= '' and directory or text.one_line(entry.id)
  return text.short(label, LABEL)
end

---@param entry tackroom.Entry
function M.has_door(entry, door)
  return vim.list_contains(entry.doors or {}, door)
end

---Who drives a runtime and how many look.
local function runtime(entry)
  if not M.has_door(entry, 'runtime') then
    return nil
  end
  local controller = entry.owner and entry.owner.controller
  local driver = controller and controller.clientId
  local looking = 0
  for _, one in ipairs(entry.observers or {}) do
    looking = looking + (one.clientId ~= driver and 1 or 0)
  end
  local who = {}
  if driver then
    table.insert(who, text.one_line(driver) .. ' drives')
  end
  if looking > 0 then
    table.insert(who, looking == 1 and '1 looks' or looking .. ' look')
  end
  return #who > 0 and 'runtime: ' .. table.concat(who, ', ') or 'runtime'
end

---What is special about it.
---@param entry tackroom.Entry
---@return string?
function M.mark(entry)
  local waiting_for = entry.activity and entry.activity.waitingFor
  if waiting_for then
    return text.one_line(waiting_for)
  end
  return runtime(entry) or entry.archived and 'archived' or entry.parent and entry.parent.relation or nil
end

---@param entry tackroom.Entry
function M.marked_title(entry)
  local mark = M.mark(entry)
  return mark and ('[%s] %s'):format(mark, M.title(entry)) or M.title(entry)
end

---The beginning of each session's id, long enough to tell it from the others.
---@param entries tackroom.Entry[]
---@return table<string, string> by session id
function M.short_ids(entries)
  local ids, short = {}, {}
  for _, entry in ipairs(entries) do
    table.insert(ids, entry.sessionId)
  end
  table.sort(ids)
  local function shared(a, b)
    local count = 0
    while count < #a and a:byte(count + 1) == b:byte(count + 1) do
      count = count + 1
    end
    return count
  end
  for at, id in ipairs(ids) do
    local length = SHORT
    for _, other in ipairs({ ids[at - 1] or '', ids[at + 1] or '' }) do
      length = math.max(length, other ~= id and shared(id, other) + 1 or 0)
    end
    short[id] = text.one_line(id:sub(1, length))
  end
  return short
end

---All by which it can be named beside its id.
---@param entry tackroom.Entry
---@return string[]
function M.names(entry)
  local names = { entry.sessionId, ('%s:%s'):format(entry.harness, entry.sessionId) }
  table.insert(names, entry.persistedId)
  table.insert(names, entry.peer and entry.peer.name)
  return names
end

---All in which a text is looked for.
---@param entry tackroom.Entry
function M.haystack(entry)
  local words = { entry.state, entry.harness, entry.id, entry.sessionId, entry.workspace, entry.model, entry.title }
  local all = vim.iter(vim.tbl_values(words)):join(' ') .. ' ' .. (entry.peer and entry.peer.name or '')
  return (all:gsub('%c', ' '))
end

---One line, of a picker.
---@param entry tackroom.Entry
---@param short_id string
---@param now_ms integer
function M.line(entry, short_id, now_ms)
  local age = text.age(now_ms, M.time(entry))
  return ('%s %-9s %-11s %-8s %4s  %s  %s'):format(
    M.sign(entry),
    entry.state,
    entry.harness,
    short_id,
    age,
    text.path(entry.workspace),
    M.marked_title(entry)
  )
end

---Now, in epoch milliseconds.
function M.now_ms()
  local seconds, micros = vim.uv.gettimeofday()
  return assert(seconds) * 1000 + math.floor(micros / 1000)
end

return M
