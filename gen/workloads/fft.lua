-- SPDX-License-Identifier: BSD-3-Clause
-- A 3D FFT on pencils: transposes in rows and columns of a grid of ranks (P3DFFT, heFFTe, 2DECOMP).
parameters = {
  points = 64, -- of a rank's pencil in each dimension; complex numbers of 16 bytes
}
states = { "FFT", "Transpose" }
assert(0 <= parameters.points and parameters.points <= 65536,
  "workload.points: expected 0 to 65536, got " .. parameters.points)

local function lines()
  work(1 / 6)
end

function run()
  local grid = cart { 2 }
  local row = split(grid:position(1), grid:position(2))
  local column = split(grid:position(2), grid:position(1))
  local bytes = 16 * parameters.points * parameters.points * parameters.points

  local function transpose(ranks)
    ranks:alltoall(math.tointeger(bytes // ranks.size))
  end

  for _ = 1, phases do
    for _, ranks in ipairs { row, column, column, row } do
      state("FFT", lines)
      state("Transpose", function() transpose(ranks) end)
    end
    state("FFT", lines)
    work(1 / 6)
    allreduce(16) -- the energy
    checkpoint()
    next_phase()
  end
end
