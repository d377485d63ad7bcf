-- SPDX-License-Identifier: BSD-3-Clause
-- All ranks of the lower half send many messages to ranks of the upper half at the same time.
parameters = {
  bytes = 16384, -- of a message
  messages = 16, -- of a rank in a phase
}

function run()
  for _ = 1, phases do
    for _ = 1, parameters.messages do
      if rank < size // 2 then
        send(rank + size // 2, parameters.bytes)
      else
        recv(rank - size // 2)
      end
    end
    checkpoint()
    next_phase()
  end
end
