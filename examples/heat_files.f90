! SPDX-License-Identifier: BSD-3-Clause
! heat_files.c in Fortran. Writes the plate: a checkpoint with its rank2file map, for SCR, and the result, for SIONlib.
module heat_files
  use, intrinsic :: iso_c_binding
  use hpcw
  use heat_solver
  implicit none
  private
  public :: heat_checkpoint, heat_result

contains

  function write_file(checkpoint, heat, error) result(status)
    type(hpcw_rank2file), intent(in) :: checkpoint
    type(heat_plate), intent(in) :: heat
    type(hpcw_error), intent(inout) :: error
    type(hpcw_rank2file_file) :: file
    character(30) :: name
    integer :: status
    write (name, '(a, i0, a)') 'rank_', heat%rank, '.plate'
    status = hpcw_rank2file_create(checkpoint, heat%rank, name, file, error)
    ! The rectangle of this process, without the points of its neighbours.
    if (status == HPCW_OK) status = hpcw_rank2file_file_write(file, heat%now(1:heat%width, 1:heat%height), err=error)
    if (status == HPCW_OK) status = hpcw_rank2file_file_close(file, error)
    call hpcw_rank2file_file_free(file)
  end function

  function heat_checkpoint(prefix, heat, comm, id, error) result(status)
    character(*), intent(in) :: prefix
    type(heat_plate), intent(in) :: heat
    type(hpcw_comm), intent(in) :: comm
    integer, intent(in) :: id
    type(hpcw_error), intent(inout) :: error
    type(hpcw_rank2file) :: checkpoint
    type(hpcw_rank2file_options) :: options
    type(hpcw_error) :: local
    integer :: status
    call hpcw_rank2file_options_init(options)
    options%dataset%id = id
    options%count = 1
    status = hpcw_rank2file_open(prefix, comm, options, checkpoint, error)
    if (status /= HPCW_OK) return
    ! After a failure the close fails on all processes.
    if (write_file(checkpoint, heat, local) /= HPCW_OK) call hpcw_rank2file_abandon(checkpoint, local)
    status = hpcw_rank2file_close(checkpoint, error)
    call hpcw_rank2file_free(checkpoint)
  end function

  function heat_result(path, heat, comm, error) result(status)
    character(*), intent(in) :: path
    type(heat_plate), intent(in) :: heat
    type(hpcw_comm), intent(in) :: comm
    type(hpcw_error), intent(inout) :: error
    type(hpcw_sion) :: sion
    type(hpcw_sion_options) :: options
    type(hpcw_error) :: local
    integer :: status, row
    call hpcw_sion_options_init(options)
    options%count = 1
    options%chunk_size = 8_c_int64_t*heat%width*heat%height
    status = hpcw_sion_open(path, comm, options, sion, error)
    if (status /= HPCW_OK) return
    do row = 1, heat%height
      if (status == HPCW_OK) status = hpcw_sion_write(sion, heat%rank, heat%now(1:heat%width, row), err=local)
    end do
    if (status /= HPCW_OK) call hpcw_sion_abandon(sion, local)
    status = hpcw_sion_close(sion, error)
    call hpcw_sion_free(sion)
  end function

end module
