! SPDX-License-Identifier: BSD-3-Clause
! heat_solver.c in Fortran: heat in a square plate, a Jacobi solver with MPI. Each process has a rectangle. This
! file does not use hpcw.
module heat_solver
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  implicit none
  private

  integer, parameter, public :: HEAT_EXCHANGE = 1, HEAT_SWEEP = 2, HEAT_RESIDUAL = 3

  ! Procedures that heat_run calls at the begin and end of each part of a run, and for each message.
  type, abstract, public :: heat_watch
  contains
    procedure(on_part), deferred :: begin
    procedure(on_part), deferred :: end
    procedure(on_message), deferred :: message
  end type

  abstract interface
    subroutine on_part(watch, part)
      import
      class(heat_watch), intent(in) :: watch
      integer, intent(in) :: part
    end subroutine
    subroutine on_message(watch, sent, peer, tag, bytes)
      import
      class(heat_watch), intent(in) :: watch
      logical, intent(in) :: sent
      integer, intent(in) :: peer, tag, bytes
    end subroutine
  end interface

  type, public :: heat_plate
    type(MPI_Comm) :: grid ! the processes as a grid
    type(MPI_Datatype) :: column
    integer :: rank, processes
    integer :: neighbour(4) ! left, right, above, below; MPI_PROC_NULL at the edge
    integer :: width, height ! of the rectangle
    real(real64), allocatable :: now(:, :), next(:, :) ! (0:width + 1, 0:height + 1), with the neighbours' edges around it
    real(real64) :: sweep_s = 0 ! time in sweeps so far
  end type

  public :: heat_new, heat_free, heat_run

contains

  ! The plate has `points` on a side and is hot on the left.
  subroutine heat_new(h, comm, points)
    type(heat_plate), intent(out) :: h
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: points
    integer :: dims(2), place(2)
    dims = 0
    call MPI_Comm_size(comm, h%processes)
    call MPI_Dims_create(h%processes, 2, dims)
    call MPI_Cart_create(comm, 2, dims, [.false., .false.], .false., h%grid)
    call MPI_Comm_rank(h%grid, h%rank)
    call MPI_Cart_coords(h%grid, h%rank, 2, place)
    call MPI_Cart_shift(h%grid, 1, 1, h%neighbour(1), h%neighbour(2))
    call MPI_Cart_shift(h%grid, 0, 1, h%neighbour(3), h%neighbour(4))
    h%height = (place(1) + 1)*points/dims(1) - place(1)*points/dims(1)
    h%width = (place(2) + 1)*points/dims(2) - place(2)*points/dims(2)
    call MPI_Type_vector(h%height, 1, h%width + 2, MPI_DOUBLE_PRECISION, h%column)
    call MPI_Type_commit(h%column)

    allocate (h%now(0:h%width + 1, 0:h%height + 1), source=0.0_real64)
    if (place(2) == 0) h%now(0, :) = 100
    h%next = h%now
  end subroutine

  subroutine heat_free(h)
    type(heat_plate), intent(inout) :: h
    call MPI_Type_free(h%column)
    call MPI_Comm_free(h%grid)
    deallocate (h%now, h%next)
  end subroutine

  ! Sends the own edges to the four neighbours, and receives theirs. The tag is the direction of the message.
  subroutine exchange(h, now, watch)
    type(heat_plate), intent(in) :: h
    real(real64), intent(inout), asynchronous :: now(0:, 0:)
    class(heat_watch), intent(in), optional :: watch
    integer, parameter :: opposite(4) = [2, 1, 4, 3]
    integer :: own(2, 4), theirs(2, 4), bytes(4), count, side
    type(MPI_Datatype) :: kind
    type(MPI_Request) :: request(8)
    own = reshape([1, 1, h%width, 1, 1, 1, 1, h%height], [2, 4])
    theirs = reshape([0, 1, h%width + 1, 1, 1, 0, 1, h%height + 1], [2, 4])
    bytes = [h%height, h%height, h%width, h%width]*storage_size(now)/8
    do side = 1, 4
      count = merge(1, h%width, side <= 2)
      kind = MPI_DOUBLE_PRECISION
      if (side <= 2) kind = h%column
      call MPI_Irecv(now(theirs(1, side), theirs(2, side)), count, kind, h%neighbour(side), opposite(side), h%grid, &
          request(side))
      if (present(watch) .and. h%neighbour(side) /= MPI_PROC_NULL) &
        call watch%message(.true., h%neighbour(side), side, bytes(side))
      call MPI_Isend(now(own(1, side), own(2, side)), count, kind, h%neighbour(side), side, h%grid, request(4 + side))
    end do
    call MPI_Waitall(8, request, MPI_STATUSES_IGNORE)
    if (.not. present(watch)) return
    do side = 1, 4
      if (h%neighbour(side) /= MPI_PROC_NULL) &
        call watch%message(.false., h%neighbour(side), opposite(side), bytes(side))
    end do
  end subroutine

  subroutine sweep(h)
    type(heat_plate), intent(inout) :: h
    real(real64) :: start
    integer :: i, row
    start = MPI_Wtime()
    do row = 1, h%height
      do i = 1, h%width
        h%next(i, row) = 0.25_real64*(h%now(i - 1, row) + h%now(i + 1, row) + h%now(i, row - 1) + h%now(i, row + 1))
      end do
    end do
    h%sweep_s = h%sweep_s + (MPI_Wtime() - start)
  end subroutine

  function residual(h) result(root)
    type(heat_plate), intent(in) :: h
    real(real64) :: root, own, all
    associate (w => h%width, n => h%height)
      own = sum((h%next(1:w, 1:n) - h%now(1:w, 1:n))**2)
    end associate
    call MPI_Allreduce(own, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, h%grid)
    root = sqrt(all)
  end function

  subroutine swap(h)
    type(heat_plate), intent(inout) :: h
    real(real64), allocatable :: kept(:, :)
    call move_alloc(h%now, kept)
    call move_alloc(h%next, h%now)
    call move_alloc(kept, h%next)
  end subroutine

  subroutine begin(watch, part)
    class(heat_watch), intent(in), optional :: watch
    integer, intent(in) :: part
    if (present(watch)) call watch%begin(part)
  end subroutine

  subroutine finish(watch, part)
    class(heat_watch), intent(in), optional :: watch
    integer, intent(in) :: part
    if (present(watch)) call watch%end(part)
  end subroutine

  ! Computes steps. Returns the residual, which is the same on all processes.
  function heat_run(h, steps, watch) result(left)
    type(heat_plate), intent(inout) :: h
    integer, intent(in) :: steps
    class(heat_watch), intent(in), optional :: watch
    real(real64) :: left
    integer :: step
    do step = 1, steps
      call begin(watch, HEAT_EXCHANGE)
      call exchange(h, h%now, watch)
      call finish(watch, HEAT_EXCHANGE)
      call begin(watch, HEAT_SWEEP)
      call sweep(h)
      call finish(watch, HEAT_SWEEP)
      call swap(h)
    end do
    call begin(watch, HEAT_RESIDUAL)
    left = residual(h)
    call finish(watch, HEAT_RESIDUAL)
  end function

end module
