! SPDX-License-Identifier: BSD-3-Clause
! The processes write one container together. Their communicator is of the Fortran binding MODULE of MPI, or of mpif.h.
program comm
#ifdef MODULE
  use MODULE
#endif
  use hpcw
  use hpcw_mpi
  implicit none
#ifndef MODULE
  include 'mpif.h'
#endif
#ifdef F08
  type(MPI_Comm) :: half
#else
  integer :: half
#endif
  type(hpcw_comm) :: world, part, none
  type(hpcw_sion_options) :: options
  type(hpcw_sion) :: sion
  type(hpcw_error) :: err
  integer :: rank, processes, error

  if (hpcw_comm_from_mpi(MPI_COMM_WORLD, none) /= HPCW_EINVAL) error stop 'before MPI_Init'
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, processes, error)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, error)
  call check(hpcw_comm_from_mpi(MPI_COMM_WORLD, world, err) == HPCW_OK, 'the world')
  call check(hpcw_comm_from_mpi(half, part) == HPCW_OK, 'another communicator')
  call check(hpcw_comm_from_mpi(MPI_COMM_NULL, none, err) == HPCW_EINVAL, 'no communicator')
  call check(hpcw_text(err%message) == 'communicator: expected an intra-communicator of MPI', 'the message')
  call check(hpcw_comm_size(world) == processes .and. hpcw_comm_process(world) == rank, 'size and process of the world')
  call check(hpcw_comm_size(part) == (processes + 1 - mod(rank, 2))/2, 'size of the part')

  call hpcw_sion_options_init(options)
  options%count = 1
  call check(hpcw_sion_open('comm.sion', world, options, sion, err) == HPCW_OK, 'open')
  call check(hpcw_sion_write(sion, rank, rank, err=err) == HPCW_OK, 'write')
  call check(hpcw_sion_close(sion, err) == HPCW_OK, 'close')
  call check(hpcw_sion_tasks(sion) == processes, 'tasks')
  call hpcw_sion_free(sion)
  call hpcw_comm_free(part)
  call hpcw_comm_free(world)
  call MPI_Comm_free(half, error)
  call MPI_Finalize(error)
  if (hpcw_comm_from_mpi(MPI_COMM_WORLD, none) /= HPCW_EINVAL) error stop 'after MPI_Finalize'

contains

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    print '(3a)', what, ': ', hpcw_text(err%message)
    call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end subroutine

end program
