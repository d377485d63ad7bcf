! SPDX-License-Identifier: BSD-3-Clause
! heat.c in Fortran: the heat solver, instrumented. One run writes everything that hpcw has a format for.
!
!     mpiexec -n 4 heat_fortran [DIRECTORY [POINTS [PHASES]]]
!
! DIRECTORY (default heat_out) then holds the files that heat.c names; heat_X.f90 and links.f90 do what their namesakes in
! C do.
program heat_fortran
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi_f08
  use hpcw
  use hpcw_mpi
  use heat_files
  use heat_loads
  use heat_log
  use heat_solver
  use links
  implicit none
  integer, parameter :: STEPS = 25
  type(heat_plate) :: heat
  type(heat_recording) :: log
  type(hpcw_comm) :: comm, grid
  type(hpcw_vom) :: vom
  type(hpcw_error) :: error
  character(200) :: directory, word
  integer :: points, phases, status
  directory = 'heat_out'
  points = 200
  phases = 4
  call get_command_argument(1, word)
  if (word /= '') directory = word
  call get_command_argument(2, word)
  if (word /= '') read (word, *) points
  call get_command_argument(3, word)
  if (word /= '') read (word, *) phases

  call MPI_Init()
  call heat_new(heat, MPI_COMM_WORLD, points)
  ! Every status is the same on all processes: they continue or stop together.
  status = hpcw_comm_from_mpi(MPI_COMM_WORLD, comm, error)
  if (status == HPCW_OK) status = hpcw_comm_from_mpi(heat%grid, grid, error)
  if (status == HPCW_OK) status = hpcw_vom_make_directory(directory, comm, error)
  if (status == HPCW_OK) status = links_measure(in_directory('links.sion'), comm, 20, 1024, error)
  if (status == HPCW_OK) status = heat_loads_open(vom, in_directory('lb_data'), heat, comm, error)
  if (status == HPCW_OK) status = heat_log_open(log, in_directory('heat.clog2'), comm, grid, error)
  if (status == HPCW_OK) status = run()
  if (status == HPCW_OK) status = hpcw_vom_close_set([vom], comm=comm, err=error)
  if (status == HPCW_OK) status = heat_log_close(log, error)
  if (status /= HPCW_OK .and. heat%rank == 0) &
    write (error_unit, '(3a)') hpcw_status_name(status), ': ', hpcw_text(error%message)

  call hpcw_clog2_log_free(log%log)
  call hpcw_vom_free(vom)
  call hpcw_comm_free(grid)
  call hpcw_comm_free(comm)
  call heat_free(heat)
  call MPI_Finalize()
  if (status /= HPCW_OK) stop 1, quiet=.true.

contains

  function in_directory(name) result(path)
    character(*), intent(in) :: name
    character(:), allocatable :: path
    path = trim(directory)//'/'//name
  end function

  function run() result(status)
    integer :: status, phase
    double precision :: left
    status = HPCW_OK
    do phase = 0, phases - 1
      if (status /= HPCW_OK) return
      left = heat_run(heat, STEPS, log)
      if (heat%rank == 0) print '(a, i0, a, es18.11)', 'phase ', phase, ': residual ', left
      status = heat_loads_phase(vom, heat, phase, STEPS, error)
      if (status == HPCW_OK .and. mod(phase, 2) == 1) then
        call log%begin(HEAT_WRITE)
        status = heat_checkpoint(in_directory('ckpt'), heat, comm, (phase + 1)/2, error)
        call log%end(HEAT_WRITE)
      end if
    end do
    if (status /= HPCW_OK) return
    call log%begin(HEAT_WRITE)
    status = heat_result(in_directory('plate.sion'), heat, comm, error)
    call log%end(HEAT_WRITE)
  end function

end program
