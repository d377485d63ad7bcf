-- SPDX-License-Identifier: BSD-3-Clause
-- Sweeps over a grid of ranks from corner to corner, as in transport and LU solvers (NPB LU, Sweep3D).
parameters = {
  planes = 4,   -- of a sweep; more of them fill the pipeline better
  bytes = 8192, -- of a message
}
states = { "Sweep" }

-- One corner's sweep: planes come from two neighbours, and go on to the two on the other sides.
local function sweep(grid, dx, dy)
  local left, below = grid:neighbour(1, -dx), grid:neighbour(2, -dy)
  local right, above = grid:neighbour(1, dx), grid:neighbour(2, dy)
  local share = 1 / (4 * parameters.planes)
  for _ = 1, parameters.planes do
    recv(left)
    recv(below)
    work(share)
    send(right, parameters.bytes)
    send(above, parameters.bytes)
  end
end

function run()
  local grid = cart { 2 }
  for _ = 1, phases do
    for corner = 0, 3 do
      state("Sweep", function() sweep(grid, corner % 2 * 2 - 1, corner // 2 * 2 - 1) end)
    end
    allreduce(8)
    checkpoint()
    next_phase()
  end
end
