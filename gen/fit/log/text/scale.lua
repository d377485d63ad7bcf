-- SPDX-License-Identifier: BSD-3-Clause

-- For other numbers of ranks than that of the log, `learned`: x to some power, by square roots alone, so that it is the same on
-- every machine.
local function power(x, exponent)
  if exponent < 0 then return 1 / power(x, -exponent) end
  local result = 1
  for _ = 1, 32 do
    while exponent >= 1 do
      result, exponent = result * x, exponent - 1
    end
    x, exponent = math.sqrt(x), 2 * exponent
  end
  return result
end

local function grows(exponent) return power(size / learned, exponent) end

local function growing(exponent, times)
  local factor = grows(exponent)
  return function(given) return factor * times(given) end
end

local function whole(x) return math.floor(x + 0.5) end

-- Where this rank is on a grid, as in beside(): a digit for each dimension, to the base 3.
local function place_on(dimensions, reversed)
  local at, side = on_grid(dimensions, reversed)
  local place = 0
  for d = 1, dimensions do
    place = 3 * place + (at[d] == 0 and 0 or at[d] + 1 < side[d] and 1 or 2)
  end
  return place
end
