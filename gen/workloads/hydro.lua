-- SPDX-License-Identifier: BSD-3-Clause
-- Hydrodynamics with a step in time that all agree on, and two exchanges of borders in it (LULESH, CloverLeaf).
states = { "Lagrange", "Remap" }

local function half()
  work(0.5)
end

-- The first or the second half of all edges.
local function exchange(to, from, first)
  for other in from do irecv(other) end
  for other, bytes in to do isend(other, first and bytes // 2 or bytes - bytes // 2) end
  waitall()
end

function run()
  for _ = 1, phases do
    local to, from = edges()
    allreduce(8) -- the longest step that is stable
    exchange(to, from, true)
    state("Lagrange", half)
    exchange(to, from, false)
    state("Remap", half)
    checkpoint()
    next_phase()
  end
end
