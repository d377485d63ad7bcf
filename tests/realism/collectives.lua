-- SPDX-License-Identifier: BSD-3-Clause
-- Collective calls of growing sizes, each after a barrier, as benchmarks measure them.
parameters = {
  least = 16,      -- bytes of a rank's buffer
  most = 67108864,
  times = 3,       -- of each call
}

-- Returns a function that makes `call` with bytes / size, since the call's argument is the bytes of one rank's part.
local function parts(call)
  return function(bytes)
    if bytes >= size then call(bytes // size) end
  end
end

function run()
  local calls = { bcast, reduce, allreduce, parts(gather), parts(scatter), parts(allgather), parts(alltoall) }
  for _ = 1, phases do
    local bytes = parameters.least
    while bytes <= parameters.most do
      for _, call in ipairs(calls) do
        for _ = 1, parameters.times do
          barrier()
          call(bytes)
        end
      end
      bytes = 2 * bytes
    end
    checkpoint()
    next_phase()
  end
end
