! SPDX-License-Identifier: BSD-3-Clause
! Reads the container of two_tasks.
program read_two_tasks
  use, intrinsic :: iso_c_binding
  use hpcw
  implicit none
  type(hpcw_sion_reader) :: reader
  type(hpcw_sion_task), pointer :: task
  type(hpcw_error) :: error
  real(c_double) :: position(3)
  integer(c_size_t) :: got
  integer :: status, i

  status = hpcw_sion_reader_open('two_tasks.sion', out=reader, err=error)
  do i = 0, hpcw_sion_reader_count(reader) - 1
    task => hpcw_sion_reader_task(reader, i)
    if (status == HPCW_OK) status = hpcw_sion_reader_read(reader, task%rank, position, got=got, err=error)
    if (status == HPCW_OK) print '(a, i0, a, i0, a, 3f5.1)', 'task ', task%rank, ', ', got, ' bytes:', position
  end do
  if (status /= HPCW_OK) print '(3a)', hpcw_status_name(status), ': ', hpcw_text(error%message)
  call hpcw_sion_reader_free(reader)
  if (status /= HPCW_OK) stop 1, quiet=.true.
end program
