-- SPDX-License-Identifier: BSD-3-Clause
-- Every second rank sends a message to the next rank. The receiver computes before it receives, so it is a late receiver.
parameters = {
  bytes = 1048576, -- of a message
  work = 1e-3,     -- seconds
}

function run()
  for _ = 1, phases do
    if rank % 2 == 1 then
      compute(parameters.work)
      recv(rank - 1)
    elseif rank < size - 1 then
      send(rank + 1, parameters.bytes)
    end
    checkpoint()
    next_phase()
  end
end
