-- SPDX-License-Identifier: BSD-3-Clause
-- Two programs in one run, each on its own ranks, that exchange fields now and then: air and sea of a climate model (CESM, OASIS).
parameters = {
  sea = 0.25,    -- share of the ranks
  every = 2,     -- phases between two exchanges of fields
  border = 8192, -- bytes of a message within a program
  field = 65536, -- of one between them
}
states = { "Air", "Sea", "Couple" }
assert(0 <= parameters.sea and parameters.sea <= 1, "workload.sea: expected 0 to 1, got " .. parameters.sea)
assert(parameters.every > 0, "workload.every: expected at least 1, got " .. parameters.every)

local seas = math.max(1, math.tointeger(size * parameters.sea // 1))
local is_sea = rank < seas

-- A step of one program: borders round a ring, and what all its ranks agree on.
local function step(program)
  local right, left = (program.rank + 1) % program.size, (program.rank - 1) % program.size
  program:sendrecv(right, parameters.border, left)
  work(1)
  program:allreduce(8)
end

-- Each rank of the sea exchanges fields with those of the air above it.
local function couple()
  local function exchange(with)
    irecv(with)
    isend(with, parameters.field)
  end
  if is_sea then
    for air = seas + rank, size - 1, seas do exchange(air) end
  else
    exchange((rank - seas) % seas)
  end
  waitall()
end

function run()
  local program = split(is_sea and 1 or 0)
  for phase = 1, phases do
    state(is_sea and "Sea" or "Air", function() step(program) end)
    if phase % parameters.every == 0 then state("Couple", couple) end
    checkpoint()
    next_phase()
  end
end
