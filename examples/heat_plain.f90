! SPDX-License-Identifier: BSD-3-Clause
! heat_plain.c in Fortran: the heat solver and nothing else, to be recorded by libhpcw_trace.so.
program heat_plain
  use mpi_f08
  use heat_solver
  implicit none
  type(heat_plate) :: heat
  character(20) :: word
  integer :: points, phases, phase
  points = 200
  phases = 4
  call get_command_argument(1, word)
  if (word /= '') read (word, *) points
  call get_command_argument(2, word)
  if (word /= '') read (word, *) phases

  call MPI_Init()
  call heat_new(heat, MPI_COMM_WORLD, points)
  do phase = 0, phases - 1
    associate (left => heat_run(heat, 25))
      if (heat%rank == 0) print '(a, i0, a, es18.11)', 'phase ', phase, ': residual ', left
    end associate
  end do
  call heat_free(heat)
  call MPI_Finalize()
end program
