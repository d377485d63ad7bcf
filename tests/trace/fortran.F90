! SPDX-License-Identifier: BSD-3-Clause
! A Fortran program for any number of processes. It is compiled for each of MPI's bindings: mpif.h, or the modules with
! -DMODULE=mpi and -DMODULE=mpi_f08. It checks what it gets from MPI and counts its own calls. Process 0 prints how many
! calls of each function all processes have made, which a log must have, too.
#ifdef F08
! With mpi_f08, calls have no argument for the error code.
#define CODE
#define COMM type(MPI_Comm)
#define DATATYPE type(MPI_Datatype)
#define REQUEST type(MPI_Request)
#define MESSAGE type(MPI_Message)
#define OPERATION type(MPI_Op)
#define FILEHANDLE type(MPI_File)
#define STATUS(variable) type(MPI_Status) :: variable
#define STATUSES(variable, n) type(MPI_Status) :: variable(n)
#define SOURCE_OF(variable) variable%MPI_SOURCE
#else
#define CODE , code
#define COMM integer
#define DATATYPE integer
#define REQUEST integer
#define MESSAGE integer
#define OPERATION integer
#define FILEHANDLE integer
#define STATUS(variable) integer :: variable(MPI_STATUS_SIZE)
#define STATUSES(variable, n) integer :: variable(MPI_STATUS_SIZE, n)
#define SOURCE_OF(variable) variable(MPI_SOURCE)
#endif

program fortran
#ifdef MODULE
  use MODULE
#endif
  implicit none
#ifndef MODULE
  include 'mpif.h'
#endif
  external :: add
  integer, parameter :: most = 100
  character(len=32) :: names(most) = ' '
  integer :: counts(most) = 0, kinds = 0
  integer :: code, rank, size, from, to, i, n, length, key
  integer :: in(8), out(8)
  integer, allocatable :: all(:), ones(:), places(:)
  double precision :: seconds
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=MPI_MAX_ERROR_STRING) :: text
  character(len=256) :: scratch
  logical :: flag
  COMM :: copy, half, later, cart, row
  REQUEST :: q(4), one
  DATATYPE :: absolute
  MESSAGE :: found
  OPERATION :: sum
  FILEHANDLE :: file
  STATUS(status)
  STATUSES(stats, 4)
  integer(kind=MPI_ADDRESS_KIND) :: address(2)
  integer(kind=MPI_OFFSET_KIND) :: offset

  code = MPI_SUCCESS
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank CODE)
  call called('MPI_Comm_rank')
  call MPI_Comm_size(MPI_COMM_WORLD, size CODE)
  call called('MPI_Comm_size')
  from = modulo(rank - 1, size)
  to = modulo(rank + 1, size)
  out = [(100 * rank + i, i = 1, 8)]
  allocate(all(size), ones(size), places(size))
  ones = 1
  places = [(i - 1, i = 1, size)]

  seconds = MPI_Wtime()
  call called('MPI_Wtime')
  call check(seconds >= 0, 'MPI_Wtime')
  call check(MPI_Wtick() > 0, 'MPI_Wtick')
  call called('MPI_Wtick')

  ! Messages; with and without a status.
  call MPI_Irecv(in, 8, MPI_INTEGER, from, 1, MPI_COMM_WORLD, one CODE)
  call called('MPI_Irecv')
  call MPI_Send(out, 8, MPI_INTEGER, to, 1, MPI_COMM_WORLD CODE)
  call called('MPI_Send')
  call MPI_Wait(one, status CODE)
  call called('MPI_Wait')
  call called('MPE_Irecv_waited')
  call check(in(8) == 100 * from + 8 .and. SOURCE_OF(status) == from, 'MPI_Wait')
  call MPI_Get_count(status, MPI_INTEGER, n CODE)
  call called('MPI_Get_count')
  call check(n == 8, 'MPI_Get_count')
  call MPI_Sendrecv(out, 1, MPI_INTEGER, to, 2, in, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE CODE)
  call called('MPI_Sendrecv')
  do i = 1, 2
     call MPI_Irecv(in(i), 1, MPI_INTEGER, from, i, MPI_COMM_WORLD, q(i) CODE)
     call called('MPI_Irecv')
     call called('MPE_Irecv_waited')
     call MPI_Isend(out(i), 1, MPI_INTEGER, to, i, MPI_COMM_WORLD, q(2 + i) CODE)
     call called('MPI_Isend')
  end do
  call MPI_Waitall(4, q, MPI_STATUSES_IGNORE CODE)
  call called('MPI_Waitall')
  call check(in(2) == 100 * from + 2, 'MPI_Waitall')
  call MPI_Irecv(in, 1, MPI_INTEGER, from, 5, MPI_COMM_WORLD, q(1) CODE)
  call MPI_Isend(out, 1, MPI_INTEGER, to, 5, MPI_COMM_WORLD, q(2) CODE)
  call called('MPI_Irecv')
  call called('MPI_Isend')
  call called('MPE_Irecv_waited')
  do i = 1, 2
     call MPI_Waitany(2, q, n, status CODE)
     call called('MPI_Waitany')
     ! The index should be 1 or 2, but with mpi_f08, MPICH 4.0 counts from 0.
     call check(n >= 0 .and. n <= 2, 'MPI_Waitany')
  end do
  flag = .false.
  call MPI_Isend(out, 1, MPI_INTEGER, to, 6, MPI_COMM_WORLD, one CODE)
  call called('MPI_Isend')
  call MPI_Probe(from, 6, MPI_COMM_WORLD, status CODE)
  call called('MPI_Probe')
  call MPI_Iprobe(from, 6, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE CODE)
  call called('MPI_Iprobe')
  call check(flag, 'MPI_Iprobe')
  call MPI_Mprobe(from, 6, MPI_COMM_WORLD, found, MPI_STATUS_IGNORE CODE)
  call called('MPI_Mprobe')
  call MPI_Mrecv(in, 1, MPI_INTEGER, found, MPI_STATUS_IGNORE CODE)
  call called('MPI_Mrecv')
  call MPI_Wait(one, MPI_STATUS_IGNORE CODE)
  call called('MPI_Wait')

  ! Calls with 0 requests. MPI's Fortran functions may return without calling the C functions.
  call MPI_Waitall(0, q, MPI_STATUSES_IGNORE CODE)
  call called('MPI_Waitall')
  call MPI_Waitall(0, q, stats CODE)
  call called('MPI_Waitall')
  call MPI_Testall(0, q, flag, MPI_STATUSES_IGNORE CODE)
  call called('MPI_Testall')
  call MPI_Waitany(0, q, n, status CODE)
  call called('MPI_Waitany')
  ! The index should be MPI_UNDEFINED, but with mpif.h and the module mpi, MPICH 4.0 adds 1.
  call check(n < 0, 'no request')

  ! Persistent requests.
  call MPI_Recv_init(in, 1, MPI_INTEGER, from, 7, MPI_COMM_WORLD, q(1) CODE)
  call called('MPI_Recv_init')
  call MPI_Send_init(out, 1, MPI_INTEGER, to, 7, MPI_COMM_WORLD, q(2) CODE)
  call called('MPI_Send_init')
  do i = 1, 2
     call MPI_Startall(2, q CODE)
     call called('MPI_Startall')
     call called('MPE_Isend_waited')
     call called('MPE_Irecv_waited')
     call MPI_Waitall(2, q, stats CODE)
     call called('MPI_Waitall')
  end do
  do i = 1, 2
     call MPI_Request_free(q(i) CODE)
     call called('MPI_Request_free')
  end do

  ! A type of absolute addresses.
  call MPI_Get_address(out(3), address(1) CODE)
  call called('MPI_Address')
  call MPI_Get_address(out(7), address(2) CODE)
  call called('MPI_Address')
  call MPI_Type_create_hindexed(2, [1, 1], address, MPI_INTEGER, absolute CODE)
  call called('MPI_Type_hindexed')
  call MPI_Type_commit(absolute CODE)
  call called('MPI_Type_commit')
  call MPI_Irecv(in, 2, MPI_INTEGER, from, 8, MPI_COMM_WORLD, one CODE)
  call called('MPI_Irecv')
  call called('MPE_Irecv_waited')
  call MPI_Send(MPI_BOTTOM, 1, absolute, to, 8, MPI_COMM_WORLD CODE)
  call called('MPI_Send')
  call MPI_Wait(one, MPI_STATUS_IGNORE CODE)
  call called('MPI_Wait')
  call check(in(1) == 100 * from + 3 .and. in(2) == 100 * from + 7, 'MPI_BOTTOM')
  call MPI_Type_free(absolute CODE)
  call called('MPI_Type_free')

  ! Collectives.
  n = rank
  call MPI_Bcast(n, 1, MPI_INTEGER, size - 1, MPI_COMM_WORLD CODE)
  call called('MPI_Bcast')
  call check(n == size - 1, 'MPI_Bcast')
  n = 1
  call MPI_Allreduce(MPI_IN_PLACE, n, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD CODE)
  call called('MPI_Allreduce')
  call check(n == size, 'MPI_IN_PLACE')
  call MPI_Allgatherv(rank, 1, MPI_INTEGER, all, ones, places, MPI_INTEGER, MPI_COMM_WORLD CODE)
  call called('MPI_Allgatherv')
  call check(all(size) == size - 1, 'MPI_Allgatherv')
  call MPI_Alltoallv(ones, ones, places, MPI_INTEGER, all, ones, places, MPI_INTEGER, MPI_COMM_WORLD CODE)
  call called('MPI_Alltoallv')
  call check(all(1) == 1, 'MPI_Alltoallv')
  call MPI_Op_create(add, .true., sum CODE)
  call called('MPI_Op_create')
  call MPI_Allreduce(1, n, 1, MPI_INTEGER, sum, MPI_COMM_WORLD CODE)
  call called('MPI_Allreduce')
  call check(n == size, 'MPI_Op_create')
  call MPI_Op_free(sum CODE)
  call called('MPI_Op_free')

  ! Communicators. The log must know those on which messages are sent.
  call MPI_Comm_dup(MPI_COMM_WORLD, copy CODE)
  call called('MPI_Comm_dup')
  call around(copy)
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, half CODE)
  call called('MPI_Comm_split')
  call around(half)
  call MPI_Comm_idup(MPI_COMM_WORLD, later, one CODE)
  call called('MPI_Comm_idup')
  call MPI_Wait(one, MPI_STATUS_IGNORE CODE)
  call called('MPI_Wait')
  call around(later)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [size], [.true.], .false., cart CODE)
  call called('MPI_Cart_create')
  call MPI_Cart_rank(cart, [-1], n CODE)
  call called('MPI_Cart_rank')
  call check(n == size - 1, 'MPI_Cart_rank')
  call MPI_Cart_sub(cart, [.true.], row CODE)
  call called('MPI_Cart_sub')
  call around(row)
  call MPI_Comm_set_name(copy, 'a copy' CODE)
  call called('MPI_Comm_set_name')
  call MPI_Comm_get_name(copy, name, length CODE)
  call called('MPI_Comm_get_name')
  call check(name(:length) == 'a copy' .and. name(length + 1:) == ' ', 'MPI_Comm_get_name')
  call MPI_Error_string(MPI_ERR_COMM, text, length CODE)
  call called('MPI_Error_string')
  call check(length > 0, 'MPI_Error_string')
  call MPI_Comm_free(copy CODE)
  call MPI_Comm_free(half CODE)
  call MPI_Comm_free(later CODE)
  call MPI_Comm_free(row CODE)
  call MPI_Comm_free(cart CODE)
  do i = 1, 5
     call called('MPI_Comm_free')
  end do

  ! Attributes.
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, key, address(1) CODE)
  call called('MPI_Keyval_create')
  address(1) = 77
  call MPI_Comm_set_attr(MPI_COMM_SELF, key, address(1) CODE)
  call called('MPI_Attr_put')
  call MPI_Comm_get_attr(MPI_COMM_SELF, key, address(2), flag CODE)
  call called('MPI_Attr_get')
  call check(flag .and. address(2) == 77, 'MPI_Comm_get_attr')
  call MPI_Comm_delete_attr(MPI_COMM_SELF, key CODE)
  call called('MPI_Attr_delete')
  call MPI_Comm_free_keyval(key CODE)
  call called('MPI_Keyval_free')

  ! A file, whose name has blanks after it.
  scratch = 'fortran.dat'
  call MPI_File_open(MPI_COMM_WORLD, scratch, MPI_MODE_CREATE + MPI_MODE_WRONLY, MPI_INFO_NULL, file CODE)
  call called('MPI_File_open')
  offset = 4 * rank
  call MPI_File_write_at(file, offset, rank, 1, MPI_INTEGER, MPI_STATUS_IGNORE CODE)
  call called('MPI_File_write_at')
  call MPI_File_close(file CODE)
  call called('MPI_File_close')

  call MPI_Barrier(MPI_COMM_WORLD CODE)
  call called('MPI_Barrier')
  call MPI_Pcontrol(0)
  call MPI_Barrier(MPI_COMM_WORLD CODE) ! not recorded
  call MPI_Pcontrol(1)
  call check(code == MPI_SUCCESS, 'the last argument')
  if (rank == 0) then
     do i = 1, kinds
        print '(a, 1x, i0)', trim(names(i)), counts(i) * size
     end do
  end if
  call MPI_Finalize(code)

contains
  ! Counts a call, and the message that it sends. All processes make the same calls.
  recursive subroutine called(function)
    character(len=*), intent(in) :: function
    integer :: k
    do k = 1, kinds
       if (names(k) == function) exit
    end do
    kinds = max(kinds, k)
    names(k) = function
    counts(k) = counts(k) + 1
    select case (function)
    case ('MPI_Send', 'MPI_Isend', 'MPI_Sendrecv', 'MPE_Isend_waited')
       call called('messages')
    end select
  end subroutine called

  subroutine check(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (.not. right) then
       print '(2a)', what, ': not what it should be'
       stop 1
    end if
  end subroutine check

  ! A message to oneself.
  subroutine around(comm_)
    COMM, intent(in) :: comm_
    integer :: me
    call MPI_Comm_rank(comm_, me CODE)
    call called('MPI_Comm_rank')
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, me, 9, n, 1, MPI_INTEGER, me, 9, comm_, MPI_STATUS_IGNORE CODE)
    call called('MPI_Sendrecv')
    call check(n == rank, 'a new communicator')
  end subroutine around
end program fortran

! The operation of a reduction.
#ifdef F08
subroutine add(in, inout, n, type)
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  use mpi_f08
  type(c_ptr), value :: in, inout
  integer :: n
  type(MPI_Datatype) :: type
  integer, pointer :: a(:), b(:)
  call c_f_pointer(in, a, [n])
  call c_f_pointer(inout, b, [n])
  b = b + a
end subroutine add
#else
subroutine add(in, inout, n, type)
  integer :: n, type, in(n), inout(n)
  inout = inout + in
end subroutine add
#endif
