-- SPDX-License-Identifier: BSD-3-Clause
-- A chain of ranks. Each rank does equal work and then exchanges messages with both neighbours. The middle rank works longer
-- in one phase.
parameters = {
  work = 1e-3,  -- seconds
  delay = 2e-2, -- seconds
  phase = 3,    -- in which it is late
  bytes = 8,    -- of a message
}

function run()
  local left, right = rank > 0 and rank - 1 or none, rank < size - 1 and rank + 1 or none
  for phase = 1, phases do
    compute(parameters.work)
    if phase == parameters.phase and rank == size // 2 then compute(parameters.delay) end
    waitall { irecv(left), irecv(right), isend(left, parameters.bytes), isend(right, parameters.bytes) }
    checkpoint()
    next_phase()
  end
end
