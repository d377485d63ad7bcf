-- SPDX-License-Identifier: BSD-3-Clause
-- What all twins have. Each is a text of its own, so that it can be read and changed without the program that made it.

-- The role of this rank, and its place among the ranks of the role, which are the lines of the role's tables.
local role, place = 1, rank + 1

-- The number in a column of this rank's line; nil: there is none.
local function cell(text, width, columns, column)
  local at = (place - 1) * (width * columns + 1) + (column - 1) * width
  return tonumber(string.sub(text, at + 1, at + width))
end

-- The messages of this rank's line: partner, bytes and tag of each, with as many digits.
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

-- A rank, if there is one of this number.
local function within(number)
  return number >= 0 and number < size and number or none
end

-- Where this rank is on a grid of all ranks, and the sides of the grid. Ranks that are neighbours in the last dimension follow
-- each other. `reversed`: the first dimension is the shortest one, not the longest.
local function on_grid(dimensions, reversed)
  local grid, rest, at, side = cart { dimensions }, rank, {}, {}
  for d = dimensions, 1, -1 do
    side[d] = grid:side(reversed and dimensions + 1 - d or d)
    at[d] = rest % side[d]
    rest = rest // side[d]
  end
  return at, side
end

-- The rank so many steps away in each dimension of a grid; none beyond the border.
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

-- Numbers that are the same on all ranks, by turns about -2 to 2.
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

-- The first rank of the line along one dimension of a grid that this rank is on, and this rank's place on it.
local function line(dimensions, along, reversed)
  local at, side = on_grid(dimensions, reversed)
  local first = 0
  for d = 1, dimensions do first = first * side[d] + (d == along and 0 or at[d]) end
  return first, at[along]
end

-- Draws from a distribution: shares of the values and the values there, by turns. Each of `count` equal parts of the
-- distribution, but at most 32, comes once before one comes again, in random order. `shared`: the correlation with other ranks.
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

-- Numbers in their order.
local function in_turn(numbers)
  local i = 0
  return function() i = i % #numbers + 1 return numbers[i] end
end

-- Of each step: the time before its first call, before its others, and in a call beyond what the simulator gives it. Short
-- times are a mean times a draw from a distribution that all of them share.
local gap = { mean = {}, minor = always(1) }
local between = { mean = {}, minor = always(1) }
local rest = { mean = {}, minor = always(1) }

local function draw(times, step, given)
  if times[step] then return times[step](given) end
  local mean = times.mean[step] or 0
  return mean > 0 and mean * times.minor(given) or 0
end

-- A turn of the longest loop: times that follow the course of the run, and the luck of this rank, are longer or shorter in it.
local course, width, lucks, turn, luck = {}, 1, always(1), 0, 1

-- What keeps one rank in a call keeps others, too: the same share of a distribution on all ranks, by turn and number of the call.
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

-- `first`: before the first turn. `own`: the course of this step.
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

-- A call that the simulator does not have, or has by another name.
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

-- Requests under way, the oldest first, and communicators in the order in which this rank got them.
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

local function any()
  table.remove(receives, (waitany(receives)))
end

local function get(from, _, tag) recv(from, tag) end
local function post(from, _, tag) receives[#receives + 1] = irecv(from, tag) end
local function start(to, bytes, tag) sends[#sends + 1] = isend(to, bytes, tag) end

-- Lists of a step that change: the number of the list, and from its how many-th time on it holds, by turns.
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

-- The same call for each message.
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
