! SPDX-License-Identifier: BSD-3-Clause
! heat_log.c in Fortran: what each process did when, and its messages: heat.clog2, for Jumpshot.
module heat_log
  use, intrinsic :: iso_c_binding
  use hpcw
  use heat_agreement
  use heat_solver
  implicit none
  private

  integer, parameter, public :: HEAT_WRITE = 4

  type, extends(heat_watch), public :: heat_recording
    type(hpcw_clog2_log) :: log
    type(hpcw_clog2_timeline) :: timeline
    integer(c_int32_t) :: state(4)
    integer(c_int32_t) :: grid ! number of the grid's communicator in the log
  contains
    procedure :: begin
    procedure :: end => finish
    procedure :: message
  end type

  public :: heat_log_open, heat_log_close

contains

  subroutine begin(watch, part)
    class(heat_recording), intent(in) :: watch
    integer, intent(in) :: part
    call hpcw_clog2_log_begin(watch%timeline, 0, watch%state(part))
  end subroutine

  subroutine finish(watch, part)
    class(heat_recording), intent(in) :: watch
    integer, intent(in) :: part
    call hpcw_clog2_log_end(watch%timeline, 0, watch%state(part))
  end subroutine

  subroutine message(watch, sent, peer, tag, bytes)
    class(heat_recording), intent(in) :: watch
    logical, intent(in) :: sent
    integer, intent(in) :: peer, tag, bytes
    if (sent) then
      call hpcw_clog2_log_send(watch%timeline, watch%grid, peer, tag, int(bytes, c_int64_t))
    else
      call hpcw_clog2_log_receive(watch%timeline, watch%grid, peer, tag, int(bytes, c_int64_t))
    end if
  end subroutine

  ! Definitions are local calls, the same on all processes.
  function define(l, error) result(status)
    type(heat_recording), intent(inout) :: l
    type(hpcw_error), intent(inout) :: error
    character(*), parameter :: name(4) = [character(8) :: 'exchange', 'sweep', 'residual', 'write']
    character(*), parameter :: colour(4) = [character(9) :: 'SteelBlue', 'green', 'purple', 'yellow']
    integer :: status, i
    status = hpcw_clog2_log_thread(l%log, l%timeline, error)
    do i = 1, 4
      if (status == HPCW_OK) status = hpcw_clog2_log_state(l%log, name(i), colour(i), state=l%state(i), err=error)
    end do
  end function

  function heat_log_open(l, path, comm, grid, error) result(status)
    type(heat_recording), intent(inout) :: l
    character(*), intent(in) :: path
    type(hpcw_comm), intent(in) :: comm, grid
    type(hpcw_error), intent(inout) :: error
    integer :: status
    status = hpcw_clog2_log_open(path, comm, out=l%log, err=error)
    if (status == HPCW_OK) status = heat_agree(define(l, error), error)
    if (status == HPCW_OK) status = hpcw_clog2_log_comm_of(l%timeline, 0, grid, l%grid, error)
  end function

  ! Merges the records of all processes into the file.
  function heat_log_close(l, error) result(status)
    type(heat_recording), intent(in) :: l
    type(hpcw_error), intent(inout) :: error
    type(hpcw_clog2_log_report) :: report
    integer :: status
    status = hpcw_clog2_log_finish(l%log, report, error)
    if (status == HPCW_OK .and. report%lost > 0) print '(i0, a)', report%lost, ' records are not in the log'
  end function

end module
