! SPDX-License-Identifier: BSD-3-Clause
! Turns the statuses of local calls into one for all processes.
module heat_agreement
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi_f08
  use hpcw
  implicit none
  private
  public :: heat_agree

contains

  function heat_agree(status, error) result(worst)
    integer, intent(in) :: status
    type(hpcw_error), intent(in) :: error
    integer :: worst
    if (status /= HPCW_OK) write (error_unit, '(a)') hpcw_text(error%message)
    call MPI_Allreduce(status, worst, 1, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD)
  end function

end module
