-- SPDX-License-Identifier: BSD-3-Clause
-- This part is in all twins, so that a twin can be read and changed without the program that made it.

-- role: ranks that make the same calls have one role. place: line of this rank in the role's tables.
local role, place = 1, rank + 1

-- Returns the number in a column of this rank's line of a table; nil: there is none.
local function cell(text, width, columns, column)
  local at = (place - 1) * (width * columns + 1) + (column - 1) * width
  return tonumber(string.sub(text, at + 1, at + width))
end

-- Returns the messages of this rank's line of a table: partner, bytes and tag of each. Further arguments: column widths.
local function messages(text, count, ...)
  local digits, width, list = { ... }, 0, {}
  for _, d in ipairs(digits) do width = width + d end
  local at = (place - 1) * (width * count + 1) + 1
  for _ = 1, count do
    local message = {}
    for i, d in ipairs(digits) do
      message[i] = tonumber(string.sub(text, at, at + d - 1))
      at = at + d
    end
    if message[1] == nil then break end
    if message[1] < 0 then message[1] = none end
    list[#list + 1] = message
  end
  return list
end

-- Returns the rank with a number, or `none` if there is no such rank.
local function within(number)
  return number >= 0 and number < size and number or none
end

-- Returns the position of this rank on a grid of all ranks, and the sides of the grid. Successive ranks are neighbours in the
-- last dimension. reversed: true, the first dimension is the shortest one; otherwise, it is the longest one.
local function on_grid(dimensions, reversed)
  local grid, rest, at, side = cart { dimensions }, rank, {}, {}
  for d = dimensions, 1, -1 do
    side[d] = grid:side(reversed and dimensions + 1 - d or d)
    at[d] = rest % side[d]
    rest = rest // side[d]
  end
  return at, side
end

-- Returns the rank that is steps[d] away in each dimension d of a grid; `none` beyond the border.
local function beside(steps)
  local at, side = on_grid(#steps, steps.reversed)
  local cell = 0
  for d = 1, #steps do
    local to = at[d] + steps[d]
    if steps.periodic then to = to % side[d] end
    if to < 0 or to >= side[d] then return none end
    cell = cell * side[d] + to
  end
  return cell
end

-- Returns a function that gives random numbers from -3 to 3, mostly near 0. They are the same on all ranks.
local function common(seed)
  return function()
    local sum = 0
    for _ = 1, 3 do
      seed = seed * 6364136223846793005 + 1442695040888963407
      sum = sum + (seed >> 33) / 2147483648.0 - 0.5
    end
    return 2 * sum
  end
end

-- Returns the first rank of this rank's line along one dimension of a grid, and the place of this rank on the line.
local function line(dimensions, along, reversed)
  local at, side = on_grid(dimensions, reversed)
  local first = 0
  for d = 1, dimensions do first = first * side[d] + (d == along and 0 or at[d]) end
  return first, at[along]
end

-- Returns a function that draws from a distribution. points: { share, value, share, value, ... }. The distribution has
-- `count` equal parts, at most 32. Each is drawn once, in random order, before any again. shared: correlation of ranks.
local function draws(count, points, factor, shared)
  local parts, left, order, rise = math.min(count, 32), 0, {}, {}
  local others = common(count)
  local function earlier(a, b) return rise[a] < rise[b] end
  return function(given)
    if left == 0 then
      left = parts
      for i = 1, parts do
        rise[i] = shared and math.sqrt(shared) * others() + math.sqrt(1 - shared) * normal() or random()
        order[i] = i
      end
      table.sort(order, earlier)
      for i = 1, parts do rise[order[i]] = i end
    end
    local share, i = given, 1
    if share == nil then
      share = (rise[left] - random()) / parts
      left = left - 1
    end
    while points[i + 2] < share do i = i + 2 end
    local part = (share - points[i]) / (points[i + 2] - points[i])
    return (factor or 1) * (points[i + 1] + part * (points[i + 3] - points[i + 1]))
  end
end

local function always(seconds, factor)
  return function() return seconds * (factor or 1) end
end

-- Returns a function that gives the numbers of a list, one after the other.
local function in_turn(numbers)
  local i = 0
  return function() i = i % #numbers + 1 return numbers[i] end
end

-- Times of each step. gap: before its first call. between: before its other calls. rest: in a call, beyond what the simulator
-- gives it. A short time is the mean of its step times a draw from `minor`, which all short times share.
local gap = { mean = {}, minor = always(1) }
local between = { mean = {}, minor = always(1) }
local rest = { mean = {}, minor = always(1) }

local function draw(times, step, given)
  if times[step] then return times[step](given) end
  local mean = times.mean[step] or 0
  return mean > 0 and mean * times.minor(given) or 0
end

-- Factors of times before calls. course: of all ranks, by turn of the main loop. luck: of this rank, in the current turn.
local course, width, lucks, turn, luck = {}, 1, always(1), 0, 1

-- calls: number of calls in this turn. The size of a delay that hits all ranks at once follows from `turn` and `calls`.
local calls = 0

local function common_share()
  local x = (turn * 4096 + calls) * 6364136223846793005 + 1442695040888963407
  x = (x ~ x >> 31) * 6364136223846793005
  return (x >> 33) / 2147483648.0
end

local function stay(step)
  local given
  calls = calls + 1
  if random() < parameters.together then given = common_share() end
  stall(parameters.rest * draw(rest, step, given))
end

local function begin_turn()
  turn, calls = turn + 1, 0
  luck = lucks()
end

local function by_course(text, digits, columns)
  return function() return cell(text, digits, columns, 1 + (turn - 1) // width) end
end

-- Returns times that follow the course. first: seconds before the first turn. own: course of this step; nil: the common one.
local function in_course(times, first, own)
  return function()
    return turn == 0 and (first or 0) or times() * luck * (own or course)[1 + (turn - 1) // width]
  end
end

local function pause(step, more)
  local seconds = draw(more and between or gap, step)
  if seconds > 0 then compute(seconds) end
end

local function at(step, more)
  pause(step, more)
  stay(step)
end

-- Makes a call that the simulator does not have: a state with the name of the call.
local function other(step, name)
  pause(step)
  state(name, function() compute(draw(rest, step)) end)
end

local function as(step, name, call)
  pause(step)
  state(name, function()
    stay(step)
    call()
  end)
end

-- Pending receives and sends, oldest first, and communicators in the order in which this rank got them.
local receives, sends, comm = {}, {}, {}

local function oldest(some_receives, some_sends)
  local list = {}
  for _ = 1, some_receives do list[#list + 1] = table.remove(receives, 1) end
  for _ = 1, some_sends do list[#list + 1] = table.remove(sends, 1) end
  return list
end

local function all()
  receives, sends = {}, {}
  waitall()
end

-- Waits for any request of a list, or of two lists.
local function any(list, more)
  local both = {}
  for i = 1, #list do both[i] = list[i] end
  for i = 1, more and #more or 0 do both[#list + i] = more[i] end
  local i = waitany(both)
  if i > #list then table.remove(more, i - #list) else table.remove(list, i) end
end

local function get(from, _, tag) recv(from, tag) end
local function post(from, _, tag) receives[#receives + 1] = irecv(from, tag) end
local function start(to, bytes, tag) sends[#sends + 1] = isend(to, bytes, tag) end

-- For steps whose messages change. since[step]: { list, number, ... }: number of the execution from which on a list is used.
local since, times_of = {}, {}

local function current(list, step)
  local time = times_of[step] or 0
  local of = since[step]
  times_of[step] = time + 1
  while #of > 2 and of[4] <= time do
    table.remove(of, 1)
    table.remove(of, 1)
  end
  return list[of[1]]
end

-- Makes the same call for each message of a list.
local function each(step, call, list)
  for i, m in ipairs(list) do
    at(step, i > 1)
    call(m[1], m[2], m[3])
  end
end

local function each_as(step, name, call, list)
  as(step, name, function() for _, m in ipairs(list) do call(m[1], m[2], m[3]) end end)
end

local function divide(old, leader, key)
  local new = old:split(leader, key)
  if leader ~= none then comm[#comm + 1] = new end
end
