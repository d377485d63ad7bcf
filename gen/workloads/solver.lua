-- SPDX-License-Identifier: BSD-3-Clause
-- Conjugate gradients on a sparse matrix: a product with borders, and two sums over all ranks in each iteration (HPCG, NPB CG).
parameters = {
  iterations = 2, -- in a phase
}
states = { "Product", "Solve" }
assert(parameters.iterations > 0, "workload.iterations: expected at least 1, got " .. parameters.iterations)

local share = 1 / parameters.iterations

-- Borders in as many parts as there are iterations; the last one has what is left.
local function product(to, from, iteration)
  for other in from do irecv(other) end
  for other, bytes in to do
    local part = bytes // parameters.iterations
    local last = iteration == parameters.iterations
    isend(other, last and bytes - part * (iteration - 1) or part)
  end
  waitall()
  work(0.8 * share)
end

local function solve(to, from)
  for iteration = 1, parameters.iterations do
    state("Product", function() product(to, from, iteration) end)
    allreduce(8)
    work(0.2 * share)
    allreduce(8)
  end
end

function run()
  for _ = 1, phases do
    local to, from = edges()
    state("Solve", function() solve(to, from) end)
    checkpoint()
    next_phase()
  end
end
