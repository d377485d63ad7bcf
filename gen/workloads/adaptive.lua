-- SPDX-License-Identifier: BSD-3-Clause
-- An adaptive mesh: blocks move between ranks, messages are taken as they come, and the mesh is made anew (AMReX, FLASH, miniAMR).
parameters = {
  regrid = 10, -- phases between two meshes
}
states = { "Advance", "Regrid" }
assert(parameters.regrid > 0, "workload.regrid: expected at least 1, got " .. parameters.regrid)

-- Advances blocks when their borders have come: each takes an equal part of the work.
local function advance(to, from)
  local requests = {}
  for other in from do requests[#requests + 1] = irecv(other) end
  for other, bytes in to do isend(other, bytes) end
  local share = 1 / (#requests + 1)
  work(share)
  while #requests > 0 do
    local index = waitany(requests)
    table.remove(requests, index)
    work(share)
  end
  waitall()
end

-- All learn how many blocks each rank has.
local function regrid()
  allgather(8)
  barrier()
end

function run()
  for phase = 1, phases do
    local to, from = edges()
    state("Advance", function() advance(to, from) end)
    if phase % parameters.regrid == 0 then state("Regrid", regrid) end
    checkpoint()
    next_phase()
  end
end
