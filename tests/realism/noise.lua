-- SPDX-License-Identifier: BSD-3-Clause
-- Each rank does equal pieces of work, as noise benchmarks do. The differences of their times show how the system disturbs
-- a rank.
parameters = {
  pieces = 2500, -- in a phase
  work = 2e-4,   -- seconds of each
}

function run()
  for _ = 1, phases do
    for _ = 1, parameters.pieces do compute(parameters.work) end
    checkpoint()
    next_phase()
  end
end
