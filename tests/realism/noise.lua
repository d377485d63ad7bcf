-- SPDX-License-Identifier: BSD-3-Clause
-- Equal pieces of work. Their times show the disturbances of a rank, as noise benchmarks measure them.
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
