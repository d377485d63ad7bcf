! SPDX-License-Identifier: BSD-3-Clause
! Tests each rule by which a function of C becomes a procedure of Fortran, with functions of each format. Run in an empty
! directory.
module size_of_task
  use, intrinsic :: iso_c_binding
  implicit none
contains
  function size_of(context, rank) bind(c) result(bytes)
    type(c_ptr), value :: context
    integer(c_int32_t), value :: rank
    integer(c_int64_t) :: bytes
    integer(c_int64_t), pointer :: base
    call c_f_pointer(context, base)
    bytes = base + rank
  end function
end module

program calls
  use, intrinsic :: iso_c_binding
  use hpcw
  use size_of_task
  implicit none
  type(hpcw_error) :: err
  integer :: failures = 0

  call errors
  call buffers
  call callbacks
  call sinks
  call load_data
  call records
  call recording
  call links
  call trees
  call checkpoints
  if (failures > 0) stop 1, quiet=.true.

contains

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    print '(a)', what
    failures = failures + 1
  end subroutine

  subroutine ok(status, what)
    integer, intent(in) :: status
    character(*), intent(in) :: what
    if (status == HPCW_OK) return
    print '(4a)', what, ': ', hpcw_status_name(status), hpcw_text(err%message)
    failures = failures + 1
  end subroutine

  ! A failure has a message text. The argument `err` can be left out. The library refuses options that were not initialised.
  subroutine errors
    type(hpcw_sion_options) :: options
    type(hpcw_sion) :: sion
    type(hpcw_error) :: local, reason
    call check(hpcw_text(err%message) == '', 'a new error has no message')
    call check(hpcw_sion_open('file', options=options, out=sion, err=local) == HPCW_EINVAL, 'options without init')
    call check(hpcw_text(local%message) == 'hpcw_sion_options: expected a struct that hpcw_sion_options_init has filled in,' &
        //' got size 0', hpcw_text(local%message))
    call check(local%code == HPCW_EINVAL, 'the code of an error')
    call check(.not. c_associated(sion%handle), 'the handle of an open that failed')

    call hpcw_sion_options_init(options)
    call check(options%size == storage_size(options)/8 .and. options%chunk_size == 2**20, 'options after init')
    call check(hpcw_sion_open('missing/file', out=sion) == HPCW_ENOENT, 'an open without err')
    call ok(hpcw_sion_open('abandoned   ', out=sion, err=err), 'a path with blanks at its end')
    reason%code = HPCW_EIO
    reason%message(:3) = ['b', 'a', 'd']
    call hpcw_sion_abandon(sion, reason)
    call check(hpcw_sion_close(sion, local) == HPCW_EIO, 'the close of what was abandoned')
    call check(hpcw_text(local%message) == 'abandoned: bad', 'the message of what was abandoned: '//hpcw_text(local%message))
    call hpcw_sion_free(sion)
    call check(.not. c_associated(sion%handle), 'a handle after free')
    call hpcw_sion_free(sion)

    call check(hpcw_status_name(HPCW_ENOSPC) == 'HPCW_ENOSPC', 'a text from C')
    call check(index(hpcw_version(), '.') > 0, 'the version')
  end subroutine

  ! A buffer can have any type and rank. It can be a whole array, a part of one, or not contiguous. Parts of texts are tested,
  ! too: gfortran 12 passes their sizes wrongly to some procedures.
  subroutine buffers
    type(hpcw_sion_options) :: options
    type(hpcw_sion) :: sion
    type(hpcw_sion_reader) :: reader
    type(hpcw_sion_info), pointer :: info
    real(c_double) :: plate(4, 3), got(2, 2), scalar
    character(8) :: text
    integer(c_int16_t) :: numbers(6)
    integer(c_size_t) :: bytes
    integer :: i
    plate = reshape([(real(i, c_double), i=1, size(plate))], shape(plate))
    call hpcw_sion_options_init(options)
    options%count = 1
    options%content = HPCW_SION_STREAM
    call ok(hpcw_sion_open('buffers.sion', options=options, out=sion, err=err), 'open')
    call ok(hpcw_sion_write(sion, 0, plate, err=err), 'an array')
    call check(hpcw_sion_stream_size(sion, 0) == 96, 'the size of an array')
    call ok(hpcw_sion_write(sion, 0, plate(2:3, 1:3:2), err=err), 'a section')
    call ok(hpcw_sion_write(sion, 0, 2.5_c_double, err=err), 'a scalar')
    text = 'hteight '
    call ok(hpcw_sion_write(sion, 0, text(3:8), err=err), 'a part of a text')
    call ok(hpcw_sion_write(sion, 0, 'by', err=err), 'a text')
    call ok(hpcw_sion_write(sion, 0, [1_c_int16_t, 2_c_int16_t, 3_c_int16_t], 4_c_size_t, err), 'the first bytes')
    call ok(hpcw_sion_write(sion, 0, numbers(1:0), err=err), 'nothing')
    call check(hpcw_sion_stream_size(sion, 0) == 96 + 32 + 8 + 8 + 4, 'the size of all')
    call ok(hpcw_sion_close(sion, err), 'close')
    call hpcw_sion_free(sion)

    call ok(hpcw_sion_reader_open('buffers.sion', out=reader, err=err), 'open for reading')
    info => hpcw_sion_reader_info(reader)
    call check(info%tasks == 1 .and. hpcw_text(info%name) == 'buffers.sion', 'a struct from C, with a text')
    call check(.not. associated(hpcw_sion_reader_find(reader, 7)), 'no struct from C')
    call ok(hpcw_sion_reader_read(reader, 0, plate, got=bytes, err=err), 'read')
    call check(bytes == 96 .and. plate(4, 3) == 12, 'an array that was read')
    plate = 0
    call ok(hpcw_sion_reader_read(reader, 0, plate(1:4:3, 2:3), got=bytes, err=err), 'read into a section')
    call check(plate(1, 2) == 2 .and. plate(4, 2) == 3 .and. plate(1, 3) == 10 .and. plate(4, 3) == 11 &
        .and. sum(plate) == 26, 'a section that was read')
    call ok(hpcw_sion_reader_read(reader, 0, scalar, got=bytes, err=err), 'read into a scalar')
    call check(scalar == 2.5, 'a scalar that was read')
    call ok(hpcw_sion_reader_read(reader, 0, text, got=bytes, err=err), 'read into a text')
    call check(text == 'eight by', 'a text that was read')
    call check(.not. hpcw_sion_reader_at_end(reader, 0), 'not at the end')
    numbers = 9
    call ok(hpcw_sion_reader_read(reader, 0, numbers, got=bytes, err=err), 'read to the end')
    call check(bytes == 4 .and. all(numbers == [1, 2, 9, 9, 9, 9]), 'the first bytes of an array')
    call check(hpcw_sion_reader_at_end(reader, 0), 'at the end')
    call hpcw_sion_reader_free(reader)
    got = 0
  end subroutine

  subroutine callbacks
    type(hpcw_sion_options) :: options
    type(hpcw_sion) :: sion
    integer(c_int64_t), target :: base = 100
    integer(c_int32_t), target :: ranks(2) = [0, 1]
    call hpcw_sion_options_init(options)
    options%count = 2
    options%ranks = c_loc(ranks)
    options%layout = HPCW_SION_PACKED
    options%tasks_per_group = 2
    options%size_of = c_funloc(size_of)
    options%size_context = c_loc(base)
    call ok(hpcw_sion_open('callbacks.sion', options=options, out=sion, err=err), 'sizes from a function')
    call check(hpcw_sion_chunk_size(sion, 0) == 100, 'the size from a function')
    call hpcw_sion_free(sion)
  end subroutine

  subroutine sinks
    type(hpcw_sink) :: sink
    integer(c_size_t) :: bytes
    character(kind=c_char), pointer :: content(:)
    call ok(hpcw_sink_open_memory(sink, err), 'a memory sink')
    call ok(hpcw_sink_write_at(sink, 2_c_int64_t, 'ab', err=err), 'write_at')
    call c_f_pointer(hpcw_sink_memory_data(sink, bytes), content, [4])
    call check(bytes == 4 .and. content(4) == 'b', 'the content of a sink')
    call check(c_associated(hpcw_sink_memory_data(sink)), 'an argument that is left out')
    call hpcw_sink_free(sink)
  end subroutine

  ! Functions that return structs, and arguments that are names, sets of handles, or arrays with their length.
  subroutine load_data
    type(hpcw_vom_options) :: options
    type(hpcw_vom) :: vom(2)
    type(hpcw_vom_edge) :: edge
    type(hpcw_vom_figures) :: figures
    type(hpcw_vom_node) :: node
    type(hpcw_vom_value), target :: values(2)
    integer(c_int64_t), target :: index(1)
    character(40) :: name
    character(4) :: short
    character(:, kind=c_char), allocatable, target :: key
    integer :: rank
    call ok(hpcw_vom_make_directory('lb', err=err), 'make_directory')
    call hpcw_vom_options_init(options)
    options%ranks = 2
    key = 'home_rank'//c_null_char
    values(1) = hpcw_vom_value(key=c_loc(key), integer=5)
    values(2) = hpcw_vom_value(key=c_loc(key), integer=6)
    do rank = 0, 1
      options%rank = rank
      call ok(hpcw_vom_file_name(name, 'lb/data.%p.json', rank, .false., err), 'file_name')
      call check(name == 'lb/data.'//achar(iachar('0') + rank)//'.json', 'a text from C: '//name)
      call ok(hpcw_vom_open(name, options, vom(rank + 1), err), 'open')
      index = rank
      call ok(hpcw_vom_begin_phase(vom(rank + 1), 0_c_int64_t, err), 'begin_phase')
      edge = hpcw_vom_edge(category=HPCW_VOM_SEND_RECV, from=hpcw_vom_far(hpcw_vom_element_id(1 - rank, 0_c_int64_t, .true.)), &
          to=hpcw_vom_element(rank, 0_c_int64_t, hpcw_vom_collection_id(0), index, 1), bytes=8, messages=1)
      call ok(hpcw_vom_edge_add(vom(rank + 1), edge, err), 'edge_add')
      call ok(hpcw_vom_task_add(vom(rank + 1), hpcw_vom_task(entity=edge%to, time_s=0.5_c_double, &
          values=c_loc(values), value_count=1), err), 'task_add')
      call ok(hpcw_vom_end_phase(vom(rank + 1), err=err), 'end_phase without values')
    end do
    call ok(hpcw_vom_begin_phase(vom(1), 1_c_int64_t), 'begin_phase without err')
    call check(hpcw_vom_end_phase(vom(1), values, err=err) == HPCW_EINVAL, 'values of a phase are not allowed')
    call ok(hpcw_vom_end_phase(vom(1), values, 0_c_size_t, err), 'the first values of an array')
    call ok(hpcw_vom_close_set(vom, err=err), 'close_set')
    call hpcw_vom_free(vom(1))
    call hpcw_vom_free(vom(2))
    call check(hpcw_vom_file_name(short, rank=1, compressed=.true., err=err) == HPCW_ERANGE, 'a name that is too long')
    call check(short == '', 'no name')

    figures = hpcw_vom_figures_of([1.0_c_double, 2.0_c_double, 6.0_c_double])
    call check(figures%avg == 3 .and. figures%max == 6 .and. figures%car == 3, 'a struct as a result')
    figures = hpcw_vom_figures_of([1.0_c_double, 2.0_c_double, 6.0_c_double], 2_c_size_t)
    call check(figures%sum == 3, 'the first values')
    call check(HPCW_VOM_GROUP_VALUE == 0 .and. HPCW_VOM_HANDLER_VALUE == 1 .and. HPCW_VOM_ELEMENT_VALUE == 3 &
        .and. HPCW_VOM_NOBODY_VALUE == 4, 'constants with names of calls')
    node = hpcw_vom_node_of(10, 4, 9)
    call check(node%id == 2 .and. node%size == 2, 'a small struct as a result')
  end subroutine

  ! Writes and reads the members of a union.
  subroutine records
    type(hpcw_clog2_options) :: options
    type(hpcw_clog2_record) :: record(3), got
    type(hpcw_clog2_reader) :: reader
    type(hpcw_clog2_as_state) :: state
    type(hpcw_clog2_info), pointer :: info
    character(:, kind=c_char), allocatable, target :: colour, name
    integer :: found
    logical :: more
    colour = 'blue'//c_null_char
    name = 'Compute'//c_null_char
    record(1)%kind = HPCW_CLOG2_STATE_DEF
    record(1)%as = hpcw_clog2_as(hpcw_clog2_as_state(300, 600, 601, c_loc(colour), c_loc(name)))
    record(2) = hpcw_clog2_record(time=0.5_c_double, kind=HPCW_CLOG2_BARE, as=hpcw_clog2_as(600))
    record(3) = hpcw_clog2_record(time=1.5_c_double, kind=HPCW_CLOG2_BARE, as=hpcw_clog2_as(601))
    call hpcw_clog2_options_init(options)
    options%ranks = 1
    options%states = 1
    call ok(hpcw_clog2_write('records.clog2', options, record, err=err), 'write')
    call ok(hpcw_clog2_reader_open('records.clog2', reader, err), 'open for reading')
    info => hpcw_clog2_reader_info(reader)
    call check(info%states == 1, 'the preamble')
    found = 0
    do
      call ok(hpcw_clog2_reader_next(reader, got, more, err), 'next')
      if (.not. more) exit
      if (got%kind == HPCW_CLOG2_STATE_DEF) then
        state = transfer(got%as, state)
        if (state%state == 300 .and. hpcw_text(state%name) == 'Compute') found = found + 1
      else if (got%kind == HPCW_CLOG2_BARE) then
        if (transfer(got%as, found) == 600 .and. got%time == 0.5) found = found + 10
        if (transfer(got%as, found) == 601 .and. got%time == 1.5) found = found + 100
      end if
    end do
    call check(found == 111, 'the records that were written')
    call hpcw_clog2_reader_free(reader)
  end subroutine

  ! Functions that are inline in C.
  subroutine recording
    type(hpcw_clog2_log) :: log
    type(hpcw_clog2_timeline) :: timeline
    type(hpcw_clog2_log_options) :: options
    type(hpcw_clog2_log_report) :: report
    type(hpcw_clog2_cargo) :: cargo
    character(200) :: pattern
    integer(c_int32_t) :: state, solo
    call hpcw_clog2_log_options_init(options)
    options%directory = c_null_ptr
    call ok(hpcw_clog2_log_open('recording.clog2', options=options, out=log, err=err), 'open')
    call ok(hpcw_clog2_log_state(log, 'work', 'green', state=state, err=err), 'a state without a format')
    call ok(hpcw_clog2_log_solo(log, 'step', 'red', 'number %d', solo, err), 'an event with a format')
    call ok(hpcw_clog2_log_thread(log, timeline, err), 'a thread')
    call hpcw_clog2_log_begin(timeline, 0, state)
    call hpcw_clog2_cargo_i32(cargo, 42)
    call ok(hpcw_clog2_cargo_check(cargo, 'number %d', err), 'cargo')
    call hpcw_clog2_log_cargo(timeline, 0, solo, cargo)
    call hpcw_clog2_log_event(timeline, 0, solo)
    call hpcw_clog2_log_send(timeline, 0, 0, 7, 100_c_int64_t)
    call hpcw_clog2_log_receive(timeline, 0, 0, 7, 100_c_int64_t)
    call hpcw_clog2_log_end(timeline, 0, state)
    call check(.not. hpcw_clog2_log_left(log, pattern), 'nothing is left of an earlier run')
    call ok(hpcw_clog2_log_finish(log, report, err), 'finish')
    call check(report%records >= 6 .and. report%bad_cargo == 0 .and. report%undefined == 0, 'the report')
    call check(hpcw_text(report%disk%message) == '' .and. report%disk%code == HPCW_OK, 'the message in a report')
    call hpcw_clog2_log_free(log)

    cargo = hpcw_clog2_cargo()
    call hpcw_clog2_cargo_text(cargo, 'abc')
    call check(cargo%size == 5, 'a text with its size')
    call check(size(cargo%bytes) == HPCW_CLOG2_CARGO_VALUE, 'a constant with the name of a type')
    call check(hpcw_clog2_recover('recovered.clog2', ['missing one', 'missing    '], partial=.false., err=err) == HPCW_ENOENT, &
      'recover')
    call check(index(hpcw_text(err%message), 'missing one') > 0, 'an array of texts: '//hpcw_text(err%message))
  end subroutine

  subroutine links
    integer, parameter :: tasks = 4
    type(hpcw_linktest_params) :: params
    type(hpcw_linktest) :: lt
    type(hpcw_linktest_schedule) :: schedule
    type(hpcw_linktest_slow) :: slow(10)
    type(hpcw_linktest_range) :: times
    type(hpcw_linktest_reader) :: reader
    type(hpcw_linktest_info), pointer :: info
    character(:, kind=c_char), allocatable, target :: mode
    character(64) :: host
    integer(c_int64_t) :: time_ps(tasks - 1)
    integer(c_int32_t) :: partner(tasks - 1), core
    integer(c_size_t) :: count
    real(c_double) :: time_s(tasks - 1), by_task(tasks)
    integer :: task
    call hpcw_linktest_params_init(params)
    mode = 'tcp'//c_null_char
    params%mode = c_loc(mode)
    params%tasks = tasks
    params%count = tasks
    params%retests = 2
    call ok(hpcw_linktest_schedule_new(params, 0_c_int64_t, schedule, err), 'a schedule')
    call hpcw_linktest_partners(schedule, 1, partner)
    call check(all(partner == [(hpcw_linktest_partner(schedule, 1, task), task=0, tasks - 2)]), 'the partners')
    call hpcw_linktest_schedule_free(schedule)
    call ok(hpcw_linktest_open('links.sion', params=params, out=lt, err=err), 'open')
    do task = 0, tasks - 1
      time_ps = [1000, 2000, 3000]*(task + 1_c_int64_t)
      call ok(hpcw_linktest_task(lt, task, 'node'//achar(iachar('0') + task), task, err), 'task')
      call ok(hpcw_linktest_timings(lt, task, time_ps, all_to_all_ps=0_c_int64_t, err=err), 'timings')
    end do
    call ok(hpcw_linktest_slowest(lt, slow, count, err), 'slowest')
    call check(count == 2 .and. slow(1)%time_ps == 12000 .and. slow(1)%from == 3, 'the slowest')
    call hpcw_linktest_sort_slow(slow(2:1:-1))
    call ok(hpcw_linktest_end_permutation(lt, '2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z', err=err), 'end_permutation')
    call ok(hpcw_linktest_figures(lt, times, err=err), 'figures')
    call check(times%count == 12 .and. times%max_ps == 12000, 'the figures')
    call ok(hpcw_linktest_close(lt, err), 'close')
    call hpcw_linktest_free(lt)

    call ok(hpcw_linktest_reader_open('links.sion', reader, err), 'open for reading')
    info => hpcw_linktest_reader_info(reader)
    call check(hpcw_text(info%mode) == 'tcp' .and. info%version(3) == 17, 'a text of a struct of C')
    call ok(hpcw_linktest_reader_host(reader, 2, host, core, err), 'host')
    call check(host == 'node2' .and. core == 2, 'the host: '//host)
    call ok(hpcw_linktest_reader_row(reader, 1, 0_c_int64_t, time_s, err=err), 'row')
    call check(all(abs(time_s - [2e-9, 4e-9, 6e-9]) < 1e-12), 'the row')
    call ok(hpcw_linktest_reader_matrix(reader, 0_c_int64_t, 1, 1, by_task, err), 'a row of the matrix')
    call check(abs(sum(by_task, abs(by_task) < 1) - 12e-9) < 1e-12 .and. by_task(2) /= by_task(2), 'the matrix')
    call hpcw_linktest_reader_free(reader)
  end subroutine

  subroutine trees
    type(hpcw_kvtree) :: root, child
    integer(c_int64_t) :: value
    integer(c_int8_t), allocatable, target :: bytes(:)
    integer :: unit, length
    call ok(hpcw_kvtree_new(root, err), 'new')
    call ok(hpcw_kvtree_add(root, 'DSET', child, err), 'add')
    call ok(hpcw_kvtree_add(root, 'EMPTY', err=err), 'add without a child')
    call ok(hpcw_kvtree_set_u64(child, 'ID', 7_c_int64_t, err), 'set_u64')
    call ok(hpcw_kvtree_value_u64(hpcw_kvtree_get(root, 'DSET'), 'ID', value, err), 'value_u64')
    call check(value == 7 .and. hpcw_kvtree_value(child, 'ID') == '7', 'the value')
    call check(len(hpcw_kvtree_value(root, 'nowhere')) == 0, 'no value')
    child = hpcw_kvtree_get(root, 'nowhere')
    call check(.not. c_associated(child%handle), 'no child')
    call check(hpcw_kvtree_key(hpcw_kvtree_first(root)) == 'DSET', 'the key')
    call ok(hpcw_kvtree_write_file(root, 'tree', HPCW_SYNC_NONE, err), 'write_file')
    call hpcw_kvtree_free(root)
    open (newunit=unit, file='tree', access='stream')
    inquire (unit, size=length)
    allocate (bytes(length))
    read (unit) bytes
    close (unit)
    call ok(hpcw_kvtree_decode('tree', c_loc(bytes), size(bytes, kind=c_size_t), out=root, err=err), 'decode')
    call check(hpcw_kvtree_count(root) == 2, 'the tree that was read')
    call hpcw_kvtree_free(root)
  end subroutine

  subroutine checkpoints
    type(hpcw_rank2file_options) :: options
    type(hpcw_rank2file) :: writer
    type(hpcw_rank2file_file) :: file
    type(hpcw_rank2file_restart) :: restart
    type(hpcw_rank2file_found) :: found
    type(hpcw_rank2file_dataset), pointer :: dataset
    type(hpcw_rank2file_tally) :: tally
    type(hpcw_rank2file_removal) :: how
    character(:, kind=c_char), allocatable, target :: name
    character(40) :: filled
    integer(c_int32_t) :: layout
    integer :: unit
    call hpcw_rank2file_options_init(options)
    name = 'my.checkpoint'//c_null_char
    options%dataset%id = 3
    options%dataset%name = c_loc(name)
    options%count = 1
    call hpcw_rank2file_dataset_name(options, filled)
    call check(filled == 'my.checkpoint', 'a text of fixed size: '//filled)
    call check(hpcw_rank2file_layout_name(HPCW_RANK2FILE_SHARED) == 'shared', 'layout_name')
    call ok(hpcw_rank2file_layout_of('scr-3', layout, err), 'layout_of')
    call check(layout == HPCW_RANK2FILE_SCR_3, 'a constant from C')
    call ok(hpcw_rank2file_open('ckpt', options=options, out=writer, err=err), 'open')
    call ok(hpcw_rank2file_create(writer, 0, 'rank_0.ckpt', file, err), 'create')
    call ok(hpcw_rank2file_file_write(file, [1, 2, 3], err=err), 'write')
    call ok(hpcw_rank2file_file_close(file, err), 'close of a file')
    call hpcw_rank2file_file_free(file)
    open (newunit=unit, file='ckpt/my.checkpoint/own', access='stream')
    write (unit) 'bytes'
    close (unit)
    call ok(hpcw_rank2file_add(writer, 0, 'own', 5_c_int64_t, err=err), 'add without a CRC')
    call ok(hpcw_rank2file_close(writer, err), 'close')
    dataset => hpcw_rank2file_dataset_of(writer)
    call check(hpcw_text(dataset%name) == 'my.checkpoint' .and. dataset%files == 2 .and. dataset%size == 17, 'the dataset')
    call hpcw_rank2file_free(writer)

    call ok(hpcw_rank2file_restart_open('ckpt', out=restart, err=err), 'restart_open')
    call ok(hpcw_rank2file_restart_load(restart, 1, [0], err), 'load of ranks')
    call ok(hpcw_rank2file_restart_load(restart, ranks=[0], err=err), 'load of all ranks of an array')
    call check(hpcw_rank2file_restart_files(restart) == 2, 'files of these ranks')
    call ok(hpcw_rank2file_restart_load(restart, count=0, ranks=[0], err=err), 'load of the first ranks')
    call check(hpcw_rank2file_restart_files(restart) == 0, 'files of no ranks')
    call ok(hpcw_rank2file_restart_load(restart, err=err), 'load of a share')
    call ok(hpcw_rank2file_restart_check(restart, .true., err), 'check')
    call ok(hpcw_rank2file_restart_file(restart, 0_c_int64_t, found, err), 'file')
    call check(index(hpcw_text(found%path), 'rank_0.ckpt') > 0 .and. found%size == 12 .and. found%has_crc, 'a file')
    call hpcw_rank2file_restart_free(restart)
    call ok(hpcw_rank2file_check('ckpt', dataset='my.checkpoint', files=.true., err=err), 'check of a dataset')
    call ok(hpcw_rank2file_prune('ckpt', keep=1, err=err), 'prune without a tally')
    call ok(hpcw_rank2file_reindex('ckpt', tally=tally, err=err), 'reindex')
    call check(tally%added == 0 .and. hpcw_text(tally%why%message) == '', 'the tally')
    call ok(hpcw_rank2file_make_current('ckpt', dataset='my.checkpoint', err=err), 'make_current')
    call check(hpcw_rank2file_drop('ckpt', dataset='nowhere') == HPCW_ENOENT, 'drop')
    call hpcw_rank2file_removal_init(how)
    call check(.not. logical(how%all_files), 'the defaults of a removal')
    call ok(hpcw_rank2file_drop('ckpt', dataset='my.checkpoint', how=how, tally=tally, err=err), 'drop')
    call check(tally%removed == 1 .and. tally%left == 0, 'the tally of a drop')
  end subroutine

end program
