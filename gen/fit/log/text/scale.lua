-- SPDX-License-Identifier: BSD-3-Clause

-- Returns x to a power, by square roots alone, so that the result is the same on every machine. Values of the log, which has
-- `learned` ranks, grow with a power of size / learned.
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

-- Returns the place of this rank on a grid. For each dimension, a digit to the base 3: 0 at the begin, 1 inside, 2 at the end.
local function place_on(dimensions, reversed)
  local at, side = on_grid(dimensions, reversed)
  local place = 0
  for d = 1, dimensions do
    place = 3 * place + (at[d] == 0 and 0 or at[d] + 1 < side[d] and 1 or 2)
  end
  return place
end
