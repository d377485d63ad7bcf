! SPDX-License-Identifier: BSD-3-Clause
! Makes communicators of hpcw from communicators of MPI, as <hpcw/mpi.h> does. This module uses no module of MPI. So it
! serves programs with mpif.h, mpi and mpi_f08, also if the MPI has no mpi_f08.
module hpcw_mpi
  use, intrinsic :: iso_c_binding
  use hpcw, only: hpcw_comm, hpcw_error
  implicit none
  private
  public :: hpcw_comm_from_mpi

  ! By the Fortran standard, this type is the same as MPI_Comm of mpi_f08: interoperable types are the same if their
  ! names and components are equal.
  type, bind(c) :: MPI_Comm
    integer(c_int) :: MPI_VAL
  end type

  interface hpcw_comm_from_mpi
    module procedure from_number, from_type
  end interface

  interface
    function c_comm_from_mpi(mpi, out, err) bind(c, name='hpcw_f_comm_from_mpi') result(status)
      import
      integer(c_int), value :: mpi
      type(hpcw_comm), intent(out) :: out
      type(hpcw_error), intent(inout), optional :: err
      integer(c_int) :: status
    end function
  end interface

contains

  ! Makes a communicator from a communicator of mpif.h or of the module mpi.
  function from_number(mpi, out, err) result(status)
    integer, intent(in) :: mpi
    type(hpcw_comm), intent(out) :: out
    type(hpcw_error), intent(inout), optional :: err
    integer(c_int) :: status
    status = c_comm_from_mpi(mpi, out, err)
  end function

  ! Makes a communicator from a communicator of the module mpi_f08.
  function from_type(mpi, out, err) result(status)
    type(MPI_Comm), intent(in) :: mpi
    type(hpcw_comm), intent(out) :: out
    type(hpcw_error), intent(inout), optional :: err
    integer(c_int) :: status
    status = from_number(mpi%MPI_VAL, out, err)
  end function

end module
