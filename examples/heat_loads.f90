! SPDX-License-Identifier: BSD-3-Clause
! heat_loads.c in Fortran: the time of each process's rectangle in each phase, and who sent to whom:
! lb_data/data.RANK.json, for vt and load balancers. A rectangle is an element of a collection.
module heat_loads
  use, intrinsic :: iso_c_binding
  use mpi_f08, only: MPI_PROC_NULL
  use hpcw
  use heat_agreement
  use heat_solver
  implicit none
  private
  public :: heat_loads_open, heat_loads_phase

contains

  ! `index` must stay valid until the entity is recorded.
  function rectangle(index) result(entity)
    integer(c_int64_t), intent(in), target :: index(1)
    type(hpcw_vom_entity) :: entity
    entity = hpcw_vom_element(int(index(1), c_int32_t), 0_c_int64_t, hpcw_vom_collection_id(0), index, 1)
  end function

  function heat_loads_open(vom, directory, heat, comm, error) result(status)
    type(hpcw_vom), intent(inout) :: vom
    character(*), intent(in) :: directory
    type(heat_plate), intent(in) :: heat
    type(hpcw_comm), intent(in) :: comm
    type(hpcw_error), intent(inout) :: error
    type(hpcw_vom_options) :: options
    character(200) :: name
    integer :: status
    call hpcw_vom_options_init(options)
    options%rank = heat%rank
    options%ranks = heat%processes
    status = hpcw_vom_make_directory(directory, comm, error)
    if (status /= HPCW_OK) return
    status = hpcw_vom_file_name(name, directory//'/data.%p.json', heat%rank, .false., error)
    if (status == HPCW_OK) status = hpcw_vom_open(name, options, vom, error)
    status = heat_agree(status, error)
  end function

  ! Edges first, then tasks. The receiver's process records an edge.
  function record(vom, heat, phase, steps, error) result(status)
    type(hpcw_vom), intent(in) :: vom
    type(heat_plate), intent(in) :: heat
    integer, intent(in) :: phase, steps
    type(hpcw_error), intent(inout) :: error
    type(hpcw_vom_edge) :: edge
    type(hpcw_vom_task) :: task
    integer(c_int64_t), target :: self(1), from(1)
    integer :: status, side
    self = heat%rank
    status = hpcw_vom_begin_phase(vom, int(phase, c_int64_t), error)
    do side = 1, 4
      if (status /= HPCW_OK) return
      if (heat%neighbour(side) == MPI_PROC_NULL) cycle
      from = heat%neighbour(side)
      edge%category = HPCW_VOM_SEND_RECV
      edge%from = rectangle(from)
      edge%from = hpcw_vom_far(edge%from%id)
      edge%to = rectangle(self)
      edge%bytes = 8.0_c_double*merge(heat%height, heat%width, side <= 2)*steps
      edge%messages = steps
      status = hpcw_vom_edge_add(vom, edge, error)
    end do
    task = hpcw_vom_task(entity=rectangle(self), time_s=heat%sweep_s)
    if (status == HPCW_OK) status = hpcw_vom_task_add(vom, task, error)
    if (status == HPCW_OK) status = hpcw_vom_end_phase(vom, err=error)
  end function

  ! `steps` is the number of solver steps in a phase.
  function heat_loads_phase(vom, heat, phase, steps, error) result(status)
    type(hpcw_vom), intent(in) :: vom
    type(heat_plate), intent(inout) :: heat
    integer, intent(in) :: phase, steps
    type(hpcw_error), intent(inout) :: error
    integer :: status
    status = heat_agree(record(vom, heat, phase, steps, error), error)
    heat%sweep_s = 0
  end function

end module
