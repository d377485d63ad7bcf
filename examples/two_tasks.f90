! SPDX-License-Identifier: BSD-3-Clause
! two_tasks.c in Fortran. Writes the same file.
program two_tasks
  use, intrinsic :: iso_c_binding
  use hpcw
  implicit none
  type(hpcw_sion_options) :: options
  type(hpcw_sion) :: sion
  type(hpcw_error) :: error
  real(c_double) :: position(3)
  integer :: status, task

  call hpcw_sion_options_init(options)
  options%count = 2 ! this process plays two tasks, 0 and 1

  status = hpcw_sion_open('two_tasks.sion', options=options, out=sion, err=error)
  do task = 0, 1
    position = [1.5_c_double*task, 0.5_c_double, -1.0_c_double]
    if (status == HPCW_OK) status = hpcw_sion_write(sion, task, position, err=error)
  end do
  if (status == HPCW_OK) status = hpcw_sion_close(sion, error)
  if (status /= HPCW_OK) print '(3a)', hpcw_status_name(status), ': ', hpcw_text(error%message)
  call hpcw_sion_free(sion)
  if (status /= HPCW_OK) stop 1, quiet=.true.
end program
