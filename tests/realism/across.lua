-- SPDX-License-Identifier: BSD-3-Clause
-- All ranks send long messages at once, all over the machine.
parameters = {
  bytes = 4194304, -- of a message
  messages = 1,    -- of a rank in a phase: the first goes to the rank half of all ranks away, the others elsewhere
}

function run()
  for _ = 1, phases do
    local distance = size // 2
    for _ = 1, parameters.messages do
      sendrecv((rank + distance) % size, parameters.bytes, (rank - distance) % size)
      distance = (distance + 618 * size // 1000) % size
    end
    checkpoint()
    next_phase()
  end
end
