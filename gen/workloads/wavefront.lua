-- SPDX-License-Identifier: BSD-3-Clause
-- Sweeps over a grid of ranks from corner to corner, as in transport and LU solvers (NPB LU, Sweep3D).
parameters = {
  planes = 2,   -- of a sweep; more of them fill the pipeline better
  bytes = 8192, -- of a message
}
states = { "Sweep" }
assert(parameters.planes > 0, "workload.planes: expected at least 1, got " .. parameters.planes)

-- Planes come from two neighbours, and go on to the two on the other sides.
local function sweep(from_x, from_y, to_x, to_y)
  local planes, bytes = parameters.planes, parameters.bytes
  for _ = 1, planes do
    recv(from_x)
    recv(from_y)
    work(1 / (4 * planes))
    send(to_x, bytes)
    send(to_y, bytes)
  end
end

function run()
  local grid = cart { 2 }
  local left, right = grid:neighbour(1, -1), grid:neighbour(1, 1)
  local below, above = grid:neighbour(2, -1), grid:neighbour(2, 1)
  local corners = {
    function() sweep(left, below, right, above) end,
    function() sweep(right, below, left, above) end,
    function() sweep(left, above, right, below) end,
    function() sweep(right, above, left, below) end,
  }
  for _ = 1, phases do
    for _, corner in ipairs(corners) do state("Sweep", corner) end
    allreduce(8)
    checkpoint()
    next_phase()
  end
end
