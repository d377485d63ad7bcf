! SPDX-License-Identifier: BSD-3-Clause
! links.c in Fortran: ping-pong between every two processes of MPI_COMM_WORLD.
module links
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use hpcw
  implicit none
  private
  public :: links_measure

contains

  ! Measures the time of one message in one direction on the process that leads, in picoseconds.
  function measure(p, message, partner, leads) result(time_ps)
    type(hpcw_linktest_params), intent(in) :: p
    integer(c_int8_t), intent(inout) :: message(:)
    integer, intent(in) :: partner
    logical, intent(in) :: leads
    integer(c_int64_t) :: time_ps, i
    real(c_double) :: start
    start = 0
    do i = 1, p%warmup_messages + p%messages
      if (i == p%warmup_messages + 1) start = MPI_Wtime()
      if (leads) call MPI_Send(message, size(message), MPI_BYTE, partner, 0, MPI_COMM_WORLD)
      call MPI_Recv(message, size(message), MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      if (.not. leads) call MPI_Send(message, size(message), MPI_BYTE, partner, 0, MPI_COMM_WORLD)
    end do
    time_ps = max(1_c_int64_t, int((MPI_Wtime() - start)/(2*real(p%messages, c_double))*1e12_c_double, c_int64_t))
  end function

  ! In each step all pairs measure at the same time: first the lower process of a pair leads, then the higher.
  subroutine measure_all(p, schedule, process, message, time_ps)
    type(hpcw_linktest_params), intent(in) :: p
    type(hpcw_linktest_schedule), intent(in) :: schedule
    integer, intent(in) :: process
    integer(c_int8_t), intent(inout) :: message(:)
    integer(c_int64_t), intent(inout) :: time_ps(:)
    integer(c_int64_t) :: measured
    integer :: step, turn, partner
    logical :: leads
    do step = 1, hpcw_linktest_steps(p)
      partner = hpcw_linktest_partner(schedule, process, step - 1)
      call MPI_Barrier(MPI_COMM_WORLD)
      do turn = 1, 2
        leads = (process < partner) .eqv. (turn == 1)
        measured = measure(p, message, partner, leads)
        if (leads) time_ps(step) = measured
      end do
    end do
  end subroutine

  ! The time of process 0, as all processes must pass the same text.
  function now() result(text)
    character(20) :: text
    integer :: t(8)
    call date_and_time(values=t)
    write (text, '(i4.4, 2("-", i2.2), "T", i2.2, 2(":", i2.2), "Z")') t(1:3), t(5:7)
    call MPI_Bcast(text, len(text), MPI_CHARACTER, 0, MPI_COMM_WORLD)
  end function

  ! Measures, and writes a LinkTest result. Collective; `comm` is MPI_COMM_WORLD, an even number of processes. The
  ! status is the same on all of them.
  function links_measure(path, comm, messages, bytes, error) result(status)
    character(*), intent(in) :: path
    type(hpcw_comm), intent(in) :: comm
    integer, intent(in) :: messages, bytes
    type(hpcw_error), intent(inout) :: error
    type(hpcw_linktest) :: lt
    type(hpcw_linktest_params) :: p
    type(hpcw_linktest_schedule) :: schedule
    type(hpcw_error) :: local ! of local calls: after a failure the next collective call fails on all processes
    integer(c_int8_t), allocatable :: message(:)
    integer(c_int64_t), allocatable :: time_ps(:)
    character(MPI_MAX_PROCESSOR_NAME) :: host
    character(20) :: start, finish
    integer :: status, process, length
    process = hpcw_comm_process(comm)
    call hpcw_linktest_params_init(p)
    p%tasks = hpcw_comm_size(comm)
    p%count = 1 ! this process is one task
    p%messages = messages
    p%message_size = bytes
    p%retests = 0 ! LinkTest also measures its slowest pairs again
    p%max_host_size = MPI_MAX_PROCESSOR_NAME + 1
    status = hpcw_linktest_open(path, comm, p, lt, error)
    if (status /= HPCW_OK) return

    allocate (message(bytes), source=0_c_int8_t)
    allocate (time_ps(p%tasks), source=0_c_int64_t)
    status = hpcw_linktest_schedule_new(p, 0_c_int64_t, schedule, error)
    if (status /= HPCW_OK) call MPI_Abort(MPI_COMM_WORLD, 1) ! the others would wait for this process's messages
    start = now()
    call measure_all(p, schedule, process, message, time_ps)
    finish = now()
    call MPI_Get_processor_name(host, length)
    status = hpcw_linktest_task(lt, process, host(:length), 0, local)
    if (status == HPCW_OK) &
      status = hpcw_linktest_timings(lt, process, time_ps, all_to_all_ps=0_c_int64_t, err=local)
    if (status /= HPCW_OK) call hpcw_linktest_abandon(lt, local)
    status = hpcw_linktest_end_permutation(lt, start, finish, err=error)
    if (status == HPCW_OK) status = hpcw_linktest_close(lt, error)
    call hpcw_linktest_free(lt)
    call hpcw_linktest_schedule_free(schedule)
  end function

end module
