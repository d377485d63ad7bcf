-- SPDX-License-Identifier: BSD-3-Clause
-- A stencil on a grid: ranks exchange borders, and compute meanwhile what needs none of them (heat equation, lattices).
parameters = {
  inner = 0.7,   -- share of the work that needs no borders
  residual = 10, -- phases between two sums of the residual
}
states = { "Inner", "Border" }
assert(0 <= parameters.inner and parameters.inner <= 1, "workload.inner: expected 0 to 1, got " .. parameters.inner)
assert(parameters.residual > 0, "workload.residual: expected at least 1, got " .. parameters.residual)

local function inner()
  work(parameters.inner)
end

local function border()
  work(1 - parameters.inner)
end

function run()
  for phase = 1, phases do
    local to, from = edges()
    for other in from do irecv(other) end
    for other, bytes in to do isend(other, bytes) end
    state("Inner", inner)
    waitall()
    state("Border", border)
    if phase % parameters.residual == 0 then allreduce(8) end
    checkpoint()
    next_phase()
  end
end
