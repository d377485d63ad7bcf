/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of the calls that the wrapper records. A file that includes it defines one or more of these macros;
 * the others expand to nothing. `state` is the number of the call's state in the log, `shown_on` the communicator
 * on which it is shown.
 *
 *     PLAIN(state, class, colour, shown_on, function, prototype, arguments)
 *                          a call that is a state and nothing else
 *     MAKES(state, class, colour, parent, function, prototype, arguments)
 *                          a call that makes the communicator `made`
 *     AGAIN(state, shown_on, function, prototype, arguments)
 *                          a call with the state of another call, such as its name in a later version of MPI
 *     SEND, ISEND, SEND_INIT(state, colour, function)
 *                          sends, which have the same arguments
 *     COLLECTS(state, colour, started, moved, function, prototype, arguments)
 *                          a collective call on `comm`. `moved`: the bytes that it sends and receives; `started`:
 *                          its request, or NULL. COLLECTS_AS: such a call with the state of a similar one, as
 *                          there are too few numbers
 *     ON_FILE(state, colour, started, function, prototype, arguments)
 *                          a call on the file `fh`
 *     MAKES_WINDOW(state, colour, function, prototype, arguments)
 *                          a call that makes the window `win` on `comm`
 *     ON_WINDOW(state, colour, function, prototype, arguments)
 *                          a call on the window `win`
 *     RMA(state, colour, started, put, got, function, prototype, arguments)
 *                          a call on `win` that sends `put` bytes to process `rank` and gets `got` bytes from it
 *     WRITTEN(state, class, colour, function, prototype, arguments)
 *                          a call that has code of its own
 *     CLOCK(state, class, colour, function)
 *                          a call that returns seconds
 *     SHOWN(state, class, colour, name)
 *                          a state that is not that of one call
 *     FORTRAN(state, shown_on, when, binding)
 *                          a call from Fortran that is recorded in its binding if `when` is true, as the binding
 *                          may not call a C function of MPI
 *     FUNCTION(function, prototype, arguments)
 *                          any function but those of CLOCK; it replaces the other macros
 *     STATES_ONLY          leaves out calls of MPI 4 that have the states of older calls
 *
 * This is a table of macros, because 220 of these functions differ only in their arguments. Written out they would
 * be 1500 lines, too many to check. A row gives the prototype and the call, which the compiler compares with mpi.h.
 *
 * Numbers, names and colours to 228 and from 250 to 252 are those of MPE2 2.4.9b (src/wrappers/src/log_mpi_*.c),
 * white where MPE2 names no colour. There are two exceptions: MPE2 gives 28 to both MPI_Comm_split and
 * MPI_Comm_split_type, which also has 224; and it gives 215 to MPI_Dist_graph_neighbors_count and another call,
 * while 217 is free. MPE2 has no calls of MPI 3 or about an info: here these have numbers that are free in MPE2.
 * MPE2's readers accept any state that the log defines.
 */
/* clang-format off */
#ifdef FUNCTION
#define EXPANDED(function, ...) FUNCTION(function, __VA_ARGS__)
#define PLAIN(state, class, colour, shown_on, function, ...) EXPANDED(function, __VA_ARGS__)
#define AGAIN(state, shown_on, function, ...) EXPANDED(function, __VA_ARGS__)
#define SEND(state, colour, function) EXPANDED(function, ARGS_SEND)
#define ISEND(state, colour, function) EXPANDED(function, ARGS_ISEND)
#define SEND_INIT(state, colour, function) EXPANDED(function, ARGS_ISEND)
#define MAKES(state, class, colour, parent, function, ...) EXPANDED(function, __VA_ARGS__)
#define WRITTEN(state, class, colour, function, ...) EXPANDED(function, __VA_ARGS__)
#define COLLECTS(state, colour, started, moved, function, ...) EXPANDED(function, __VA_ARGS__)
#define COLLECTS_AS(state, colour, started, moved, function, ...) EXPANDED(function, __VA_ARGS__)
#define ON_FILE(state, colour, started, function, ...) EXPANDED(function, __VA_ARGS__)
#define MAKES_WINDOW(state, colour, function, ...) EXPANDED(function, __VA_ARGS__)
#define ON_WINDOW(state, colour, function, ...) EXPANDED(function, __VA_ARGS__)
#define RMA(state, colour, started, put, got, function, ...) EXPANDED(function, __VA_ARGS__)
#endif
#ifndef PLAIN
#define PLAIN(state, class, colour, shown_on, function, ...)
#endif
#ifndef AGAIN
#define AGAIN(state, shown_on, function, ...)
#endif
#ifndef SEND
#define SEND(state, colour, function)
#endif
#ifndef ISEND
#define ISEND(state, colour, function)
#endif
#ifndef SEND_INIT
#define SEND_INIT(state, colour, function)
#endif
#ifndef MAKES
#define MAKES(state, class, colour, parent, function, prototype, arguments)
#endif
#ifndef WRITTEN
#define WRITTEN(state, class, colour, function, ...)
#endif
#ifndef COLLECTS
#define COLLECTS(...)
#endif
#ifndef COLLECTS_AS
#define COLLECTS_AS(...)
#endif
#ifndef ON_FILE
#define ON_FILE(...)
#endif
#ifndef MAKES_WINDOW
#define MAKES_WINDOW(...)
#endif
#ifndef ON_WINDOW
#define ON_WINDOW(...)
#endif
#ifndef RMA
#define RMA(...)
#endif
#ifndef CLOCK
#define CLOCK(state, class, colour, function)
#endif
#ifndef FORTRAN
#define FORTRAN(state, shown_on, when, binding)
#endif
#ifndef SHOWN
#define SHOWN(state, class, colour, name)
#endif

/* ---- prototypes and arguments that several rows of the table share ---- */
#define ARGS_COMM_ASK_HANDLER (MPI_Comm comm, MPI_Errhandler *handler), (comm, handler)
#define ARGS_COMM_GROUP (MPI_Comm comm, MPI_Group *group), (comm, group)
#define ARGS_COMM_HANDLER (MPI_Comm comm, MPI_Errhandler handler), (comm, handler)
#define ARGS_COMM_INT (MPI_Comm comm, int *value), (comm, value)
#define ARGS_COMM_KEY (MPI_Comm comm, int key), (comm, key)
#define ARGS_COMM_KEY_GET (MPI_Comm comm, int key, void *value, int *flag), (comm, key, value, flag)
#define ARGS_COMM_KEY_PUT (MPI_Comm comm, int key, void *value), (comm, key, value)
#define ARGS_FILE_ASK_OFFSET (MPI_File fh, MPI_Offset *offset), (fh, offset)
#define ARGS_FILE_INT (MPI_File fh, int *value), (fh, value)
#define ARGS_FILE_OFFSET (MPI_File fh, MPI_Offset offset), (fh, offset)
#define ARGS_FILE_READ_END (MPI_File fh, void *buf, MPI_Status *status), (fh, buf, status)
#define ARGS_FILE_SEEK (MPI_File fh, MPI_Offset offset, int whence), (fh, offset, whence)
#define ARGS_FILE_WRITE_END (MPI_File fh, const void *buf, MPI_Status *status), (fh, buf, status)
#define ARGS_GROUP_INT (MPI_Group group, int *value), (group, value)
#define ARGS_GROUP_RANGES (MPI_Group group, int n, int ranges[][3], MPI_Group *out), (group, n, ranges, out)
#define ARGS_GROUP_RANKS (MPI_Group group, int n, const int ranks[], MPI_Group *out), (group, n, ranks, out)
#define ARGS_GROUP_WIN (MPI_Group group, int assert, MPI_Win win), (group, assert, win)
#define ARGS_INT (int *value), (value)
#define ARGS_INT_WIN (int value, MPI_Win win), (value, win)
#define ARGS_NAME_AND_PORT (const char *service_name, MPI_Info info, const char *port_name), (service_name, info, port_name)
#define ARGS_REQUEST (MPI_Request *q), (q)
#define ARGS_TOPOLOGY_MAP (MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank), (comm, ndims, dims, periods, newrank)
#define ARGS_TWO_GROUPS (MPI_Group group1, MPI_Group group2, MPI_Group *out), (group1, group2, out)
#define ARGS_TYPE (MPI_Datatype *type), (type)
#define ARGS_TYPE_AINT (MPI_Datatype type, MPI_Aint *value), (type, value)
#define ARGS_WAITSOME (int count, MPI_Request q[], int *n, int indices[], MPI_Status statuses[]), (count, q, n, indices, statuses)
#define ARGS_WIN (MPI_Win win), (win)

/* ---- calls that MPE knows ---- */
PLAIN(5, COLLECTIVE, "yellow", comm, MPI_Barrier,
      (MPI_Comm comm), (comm))
PLAIN(10, ENVIRONMENT, "white", MPI_COMM_WORLD, MPI_Op_free,
      (MPI_Op *op), (op))
PLAIN(16, ATTRIBUTE, "white", comm, MPI_Attr_delete, ARGS_COMM_KEY)
PLAIN(17, ATTRIBUTE, "white", comm, MPI_Attr_get, ARGS_COMM_KEY_GET)
PLAIN(18, ATTRIBUTE, "white", comm, MPI_Attr_put, ARGS_COMM_KEY_PUT)
PLAIN(19, COMMUNICATOR, "white", MPI_COMM_WORLD, MPI_Comm_compare,
      (MPI_Comm comm1, MPI_Comm comm2, int *result), (comm1, comm2, result))
MAKES(20, COMMUNICATOR, "DarkOliveGreen1", comm, MPI_Comm_create,
      (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made))
MAKES(21, COMMUNICATOR, "OliveDrab1", comm, MPI_Comm_dup,
      (MPI_Comm comm, MPI_Comm *made), (comm, made))
WRITTEN(22, COMMUNICATOR, "LightSeaGreen", MPI_Comm_free,
      (MPI_Comm *comm), (comm))
PLAIN(23, COMMUNICATOR, "white", comm, MPI_Comm_group, ARGS_COMM_GROUP)
PLAIN(24, COMMUNICATOR, "white", comm, MPI_Comm_rank, ARGS_COMM_INT)
PLAIN(25, COMMUNICATOR, "white", comm, MPI_Comm_remote_group, ARGS_COMM_GROUP)
PLAIN(26, COMMUNICATOR, "white", comm, MPI_Comm_remote_size, ARGS_COMM_INT)
PLAIN(27, COMMUNICATOR, "white", comm, MPI_Comm_size, ARGS_COMM_INT)
MAKES(28, COMMUNICATOR, "DarkOliveGreen2", comm, MPI_Comm_split,
      (MPI_Comm comm, int colour, int key, MPI_Comm *made), (comm, colour, key, made))
PLAIN(29, COMMUNICATOR, "white", comm, MPI_Comm_test_inter, ARGS_COMM_INT)
PLAIN(30, GROUP, "white", MPI_COMM_WORLD, MPI_Group_compare,
      (MPI_Group group1, MPI_Group group2, int *result), (group1, group2, result))
PLAIN(31, GROUP, "white", MPI_COMM_WORLD, MPI_Group_difference, ARGS_TWO_GROUPS)
PLAIN(32, GROUP, "white", MPI_COMM_WORLD, MPI_Group_excl, ARGS_GROUP_RANKS)
PLAIN(33, GROUP, "white", MPI_COMM_WORLD, MPI_Group_free,
      (MPI_Group *group), (group))
PLAIN(34, GROUP, "white", MPI_COMM_WORLD, MPI_Group_incl, ARGS_GROUP_RANKS)
PLAIN(35, GROUP, "white", MPI_COMM_WORLD, MPI_Group_intersection, ARGS_TWO_GROUPS)
PLAIN(36, GROUP, "white", MPI_COMM_WORLD, MPI_Group_rank, ARGS_GROUP_INT)
PLAIN(37, GROUP, "white", MPI_COMM_WORLD, MPI_Group_range_excl, ARGS_GROUP_RANGES)
PLAIN(38, GROUP, "white", MPI_COMM_WORLD, MPI_Group_range_incl, ARGS_GROUP_RANGES)
PLAIN(39, GROUP, "white", MPI_COMM_WORLD, MPI_Group_size, ARGS_GROUP_INT)
PLAIN(40, GROUP, "white", MPI_COMM_WORLD, MPI_Group_translate_ranks,
      (MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]), (group1, n, ranks1, group2, ranks2))
PLAIN(41, GROUP, "white", MPI_COMM_WORLD, MPI_Group_union, ARGS_TWO_GROUPS)
MAKES(42, COMMUNICATOR, "DarkOliveGreen4", local, MPI_Intercomm_create,
      (MPI_Comm local, int leader, MPI_Comm peers, int remote_leader, int tag, MPI_Comm *made), (local, leader, peers, remote_leader, tag, made))
MAKES(43, COMMUNICATOR, "DarkOliveGreen3", comm, MPI_Intercomm_merge,
      (MPI_Comm comm, int high, MPI_Comm *made), (comm, high, made))
PLAIN(44, ATTRIBUTE, "white", MPI_COMM_WORLD, MPI_Keyval_create,
      (MPI_Copy_function *copy, MPI_Delete_function *drop, int *key, void *extra), (copy, drop, key, extra))
PLAIN(45, ATTRIBUTE, "white", MPI_COMM_WORLD, MPI_Keyval_free, ARGS_INT)
WRITTEN(46, ENVIRONMENT, "white", MPI_Abort,
      (MPI_Comm comm, int code), (comm, code))
PLAIN(47, ENVIRONMENT, "white", MPI_COMM_WORLD, MPI_Error_class,
      (int code, int *class), (code, class))
PLAIN(49, ENVIRONMENT, "white", MPI_COMM_WORLD, MPI_Errhandler_free,
      (MPI_Errhandler *handler), (handler))
PLAIN(51, ENVIRONMENT, "white", MPI_COMM_WORLD, MPI_Error_string,
      (int code, char *string, int *length), (code, string, length))
PLAIN(53, ENVIRONMENT, "white", MPI_COMM_WORLD, MPI_Get_processor_name,
      (char *name, int *length), (name, length))
PLAIN(54, ENVIRONMENT, "white", MPI_COMM_WORLD, MPI_Initialized, ARGS_INT)
CLOCK(55, ENVIRONMENT, "white", MPI_Wtick)
CLOCK(56, ENVIRONMENT, "white", MPI_Wtime)
WRITTEN(62, MESSAGE, "white", MPI_Cancel, ARGS_REQUEST)
WRITTEN(63, MESSAGE, "white", MPI_Request_free, ARGS_REQUEST)
PLAIN(69, MESSAGE, "LavenderBlush", comm, MPI_Iprobe,
      (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status), (source, tag, comm, flag, status))
PLAIN(76, MESSAGE, "lavender", comm, MPI_Probe,
      (int source, int tag, MPI_Comm comm, MPI_Status *status), (source, tag, comm, status))
WRITTEN(85, MESSAGE, "white", MPI_Start, ARGS_REQUEST)
WRITTEN(86, MESSAGE, "white", MPI_Startall,
      (int count, MPI_Request q[]), (count, q))
WRITTEN(87, MESSAGE, "orange", MPI_Test,
      (MPI_Request *q, int *flag, MPI_Status *status), (q, flag, status))
WRITTEN(88, MESSAGE, "orange1", MPI_Testall,
      (int count, MPI_Request q[], int *flag, MPI_Status statuses[]), (count, q, flag, statuses))
WRITTEN(89, MESSAGE, "orange3", MPI_Testany,
      (int count, MPI_Request q[], int *index, int *flag, MPI_Status *status), (count, q, index, flag, status))
PLAIN(90, MESSAGE, "white", MPI_COMM_WORLD, MPI_Test_cancelled,
      (const MPI_Status *status, int *flag), (status, flag))
WRITTEN(91, MESSAGE, "orange4", MPI_Testsome, ARGS_WAITSOME)
PLAIN(92, DATATYPE, "white", MPI_COMM_WORLD, MPI_Type_commit, ARGS_TYPE)
PLAIN(95, DATATYPE, "white", MPI_COMM_WORLD, MPI_Type_free, ARGS_TYPE)
WRITTEN(105, MESSAGE, "red", MPI_Wait,
      (MPI_Request *q, MPI_Status *status), (q, status))
WRITTEN(106, MESSAGE, "OrangeRed", MPI_Waitall,
      (int count, MPI_Request q[], MPI_Status statuses[]), (count, q, statuses))
WRITTEN(107, MESSAGE, "coral", MPI_Waitany,
      (int count, MPI_Request q[], int *index, MPI_Status *status), (count, q, index, status))
WRITTEN(108, MESSAGE, "IndianRed", MPI_Waitsome, ARGS_WAITSOME)
PLAIN(109, TOPOLOGY, "white", comm, MPI_Cart_coords,
      (MPI_Comm comm, int rank, int maxdims, int coords[]), (comm, rank, maxdims, coords))
MAKES(110, TOPOLOGY, "DarkOliveGreen1", comm, MPI_Cart_create,
      (MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm *made), (comm, ndims, dims, periods, reorder, made))
PLAIN(111, TOPOLOGY, "white", comm, MPI_Cart_get,
      (MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]), (comm, maxdims, dims, periods, coords))
PLAIN(112, TOPOLOGY, "white", comm, MPI_Cart_map, ARGS_TOPOLOGY_MAP)
PLAIN(113, TOPOLOGY, "white", comm, MPI_Cart_shift,
      (MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest), (comm, direction, disp, rank_source, rank_dest))
PLAIN(114, TOPOLOGY, "white", comm, MPI_Cartdim_get, ARGS_COMM_INT)
PLAIN(115, TOPOLOGY, "white", MPI_COMM_WORLD, MPI_Dims_create,
      (int nnodes, int ndims, int dims[]), (nnodes, ndims, dims))
MAKES(116, TOPOLOGY, "DarkOliveGreen3", comm, MPI_Graph_create,
      (MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder, MPI_Comm *made), (comm, nodes, index, edges, reorder, made))
PLAIN(117, TOPOLOGY, "white", comm, MPI_Graph_get,
      (MPI_Comm comm, int maxindex, int maxedges, int index[], int edges[]), (comm, maxindex, maxedges, index, edges))
PLAIN(118, TOPOLOGY, "white", comm, MPI_Graph_map, ARGS_TOPOLOGY_MAP)
PLAIN(119, TOPOLOGY, "white", comm, MPI_Graph_neighbors,
      (MPI_Comm comm, int rank, int maxneighbors, int neighbors[]), (comm, rank, maxneighbors, neighbors))
PLAIN(120, TOPOLOGY, "white", comm, MPI_Graph_neighbors_count,
      (MPI_Comm comm, int rank, int *nneighbors), (comm, rank, nneighbors))
PLAIN(121, TOPOLOGY, "white", comm, MPI_Graphdims_get,
      (MPI_Comm comm, int *nnodes, int *nedges), (comm, nnodes, nedges))
PLAIN(122, TOPOLOGY, "white", comm, MPI_Topo_test, ARGS_COMM_INT)
PLAIN(124, TOPOLOGY, "white", comm, MPI_Cart_rank,
      (MPI_Comm comm, const int coords[], int *rank), (comm, coords, rank))
MAKES(125, TOPOLOGY, "DarkOliveGreen2", comm, MPI_Cart_sub,
      (MPI_Comm comm, const int remain[], MPI_Comm *made), (comm, remain, made))
WRITTEN(128, FILE, "HotPink", MPI_File_open,
      (MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh), (comm, filename, amode, info, fh))
WRITTEN(129, FILE, "pink", MPI_File_close,
      (MPI_File *fh), (fh))
PLAIN(130, FILE, "orchid", MPI_COMM_WORLD, MPI_File_delete,
      (const char *filename, MPI_Info info), (filename, info))
ON_FILE(131, "DarkOrchid", NULL, MPI_File_set_size, ARGS_FILE_OFFSET)
ON_FILE(132, "brown", NULL, MPI_File_preallocate, ARGS_FILE_OFFSET)
ON_FILE(133, "MediumOrchid", NULL, MPI_File_get_size, ARGS_FILE_ASK_OFFSET)
ON_FILE(134, "azure", NULL, MPI_File_get_group,
      (MPI_File fh, MPI_Group *group), (fh, group))
ON_FILE(135, "ivory", NULL, MPI_File_get_amode, ARGS_FILE_INT)
ON_FILE(136, "brown", NULL, MPI_File_set_info,
      (MPI_File fh, MPI_Info info), (fh, info))
ON_FILE(137, "brown", NULL, MPI_File_get_info,
      (MPI_File fh, MPI_Info *info_used), (fh, info_used))
ON_FILE(138, "turquoise", NULL, MPI_File_set_view,
      (MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char *datarep, MPI_Info info), (fh, disp, etype, filetype, datarep, info))
ON_FILE(139, "cyan", NULL, MPI_File_get_view,
      (MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype, char *datarep), (fh, disp, etype, filetype, datarep))
ON_FILE(152, "maroon", NULL, MPI_File_seek, ARGS_FILE_SEEK)
ON_FILE(153, "brown", NULL, MPI_File_get_position, ARGS_FILE_ASK_OFFSET)
ON_FILE(154, "RosyBrown", NULL, MPI_File_get_byte_offset,
      (MPI_File fh, MPI_Offset offset, MPI_Offset *disp), (fh, offset, disp))
ON_FILE(161, "VioletRed", NULL, MPI_File_seek_shared, ARGS_FILE_SEEK)
ON_FILE(162, "DarkViolet", NULL, MPI_File_get_position_shared, ARGS_FILE_ASK_OFFSET)
ON_FILE(164, "SpringGreen3", NULL, MPI_File_read_at_all_end, ARGS_FILE_READ_END)
ON_FILE(166, "SteelBlue3", NULL, MPI_File_write_at_all_end, ARGS_FILE_WRITE_END)
ON_FILE(168, "DarkSeaGreen2", NULL, MPI_File_read_all_end, ARGS_FILE_READ_END)
ON_FILE(170, "LightSteelBlue2", NULL, MPI_File_write_all_end, ARGS_FILE_WRITE_END)
ON_FILE(172, "DarkSeaGreen4", NULL, MPI_File_read_ordered_end, ARGS_FILE_READ_END)
ON_FILE(174, "LightSteelBlue4", NULL, MPI_File_write_ordered_end, ARGS_FILE_WRITE_END)
ON_FILE(177, "brown", NULL, MPI_File_set_atomicity,
      (MPI_File fh, int flag), (fh, flag))
ON_FILE(178, "brown", NULL, MPI_File_get_atomicity, ARGS_FILE_INT)
ON_FILE(179, "YellowGreen", NULL, MPI_File_sync,
      (MPI_File fh), (fh))
PLAIN(182, WINDOW, "purple", MPI_COMM_WORLD, MPI_Alloc_mem,
      (MPI_Aint size, MPI_Info info, void *baseptr), (size, info, baseptr))
PLAIN(183, WINDOW, "purple", MPI_COMM_WORLD, MPI_Free_mem,
      (void *base), (base))
ON_WINDOW(186, "purple", MPI_Win_complete, ARGS_WIN)
ON_WINDOW(188, "tomato", MPI_Win_fence, ARGS_INT_WIN)
WRITTEN(189, WINDOW, "purple", MPI_Win_free,
      (MPI_Win *win), (win))
ON_WINDOW(190, "purple", MPI_Win_get_group,
      (MPI_Win win, MPI_Group *group), (win, group))
ON_WINDOW(191, "purple", MPI_Win_get_name,
      (MPI_Win win, char *win_name, int *length), (win, win_name, length))
ON_WINDOW(192, "purple", MPI_Win_lock,
      (int lock_type, int rank, int assert, MPI_Win win), (lock_type, rank, assert, win))
ON_WINDOW(193, "DarkGreen", MPI_Win_post, ARGS_GROUP_WIN)
ON_WINDOW(194, "purple", MPI_Win_set_name,
      (MPI_Win win, const char *win_name), (win, win_name))
ON_WINDOW(195, "purple", MPI_Win_start, ARGS_GROUP_WIN)
ON_WINDOW(196, "DarkOrange", MPI_Win_test,
      (MPI_Win win, int *flag), (win, flag))
ON_WINDOW(197, "purple", MPI_Win_unlock, ARGS_INT_WIN)
ON_WINDOW(198, "maroon", MPI_Win_wait, ARGS_WIN)
MAKES(201, SPAWN, "DarkSeaGreen1", comm, MPI_Comm_spawn,
      (const char *command, char *argv[], int n, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made, int codes[]), (command, argv, n, info, root, comm, made, codes))
MAKES(202, SPAWN, "DarkSeaGreen2", comm, MPI_Comm_spawn_multiple,
      (int count, char *commands[], char **argvs[], const int n[], const MPI_Info infos[], int root, MPI_Comm comm, MPI_Comm *made, int codes[]), (count, commands, argvs, n, infos, root, comm, made, codes))
MAKES(203, SPAWN, "ForestGreen", MPI_COMM_WORLD, MPI_Comm_get_parent,
      (MPI_Comm *made), (made))
MAKES(204, SPAWN, "YellowGreen", comm, MPI_Comm_accept,
      (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made), (port, info, root, comm, made))
MAKES(205, SPAWN, "LawnGreen", comm, MPI_Comm_connect,
      (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made), (port, info, root, comm, made))
WRITTEN(206, SPAWN, "MediumSpringGreen", MPI_Comm_disconnect,
      (MPI_Comm *comm), (comm))
MAKES(207, SPAWN, "DarkSeaGreen3", MPI_COMM_SELF, MPI_Comm_join,
      (int fd, MPI_Comm *made), (fd, made))
PLAIN(208, SPAWN, "purple", comm, MPI_Comm_set_name,
      (MPI_Comm comm, const char *comm_name), (comm, comm_name))
PLAIN(209, SPAWN, "purple", comm, MPI_Comm_get_name,
      (MPI_Comm comm, char *comm_name, int *length), (comm, comm_name, length))
PLAIN(210, SPAWN, "purple", MPI_COMM_WORLD, MPI_Open_port,
      (MPI_Info info, char *port_name), (info, port_name))
PLAIN(211, SPAWN, "purple", MPI_COMM_WORLD, MPI_Close_port,
      (const char *port_name), (port_name))
PLAIN(212, SPAWN, "purple", MPI_COMM_WORLD, MPI_Lookup_name,
      (const char *service_name, MPI_Info info, char *port_name), (service_name, info, port_name))
PLAIN(213, SPAWN, "purple", MPI_COMM_WORLD, MPI_Publish_name, ARGS_NAME_AND_PORT)
PLAIN(214, SPAWN, "purple", MPI_COMM_WORLD, MPI_Unpublish_name, ARGS_NAME_AND_PORT)
MAKES(215, TOPOLOGY, "DarkOliveGreen3", comm, MPI_Dist_graph_create_adjacent,
      (MPI_Comm comm, int in, const int sources[], const int in_weights[], int out, const int destinations[], const int out_weights[], MPI_Info info, int reorder, MPI_Comm *made), (comm, in, sources, in_weights, out, destinations, out_weights, info, reorder, made))
MAKES(216, TOPOLOGY, "DarkOliveGreen3", comm, MPI_Dist_graph_create,
      (MPI_Comm comm, int n, const int nodes[], const int degrees[], const int targets[], const int weights[], MPI_Info info, int reorder, MPI_Comm *made), (comm, n, nodes, degrees, targets, weights, info, reorder, made))
PLAIN(217, TOPOLOGY, "white", comm, MPI_Dist_graph_neighbors_count,
      (MPI_Comm comm, int *inneighbors, int *outneighbors, int *weighted), (comm, inneighbors, outneighbors, weighted))
PLAIN(218, TOPOLOGY, "white", comm, MPI_Dist_graph_neighbors,
      (MPI_Comm comm, int maxindegree, int sources[], int sourceweights[], int maxoutdegree, int destinations[], int destweights[]), (comm, maxindegree, sources, sourceweights, maxoutdegree, destinations, destweights))
WRITTEN(219, MESSAGE, "lavender", MPI_Mprobe,
      (int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status), (source, tag, comm, message, status))
WRITTEN(221, MESSAGE, "LavenderBlush", MPI_Improbe,
      (int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status), (source, tag, comm, flag, message, status))
MAKES(223, COMMUNICATOR, "DarkOliveGreen1", comm, MPI_Comm_create_group,
      (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made), (comm, group, tag, made))
MAKES(224, COMMUNICATOR, "DarkOliveGreen2", comm, MPI_Comm_split_type,
      (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made), (comm, type, key, info, made))
WRITTEN(225, COMMUNICATOR, "OliveDrab1", MPI_Comm_idup,
      (MPI_Comm comm, MPI_Comm *made, MPI_Request *q), (comm, made, q))
MAKES(226, COMMUNICATOR, "OliveDrab1", comm, MPI_Comm_dup_with_info,
      (MPI_Comm comm, MPI_Info info, MPI_Comm *made), (comm, info, made))
PLAIN(227, COMMUNICATOR, "purple", comm, MPI_Comm_set_info,
      (MPI_Comm comm, MPI_Info info), (comm, info))
PLAIN(228, COMMUNICATOR, "purple", comm, MPI_Comm_get_info,
      (MPI_Comm comm, MPI_Info *info_used), (comm, info_used))
SHOWN(250, MESSAGE, "magenta", MPE_Isend_waited)
SHOWN(251, MESSAGE, "DarkOrange", MPE_Irecv_waited)
SHOWN(252, MESSAGE, "DarkOrange", MPE_Imrecv_waited)

/* ---- calls of MPI 1 that MPE knows; MPI 3 removed them, but many libraries still have them ---- */
#ifndef CALLS_WITHOUT_MPI1
#if HPCW_I_MPI1_CONST /* some libraries have the const of MPI 3 here */
#define OLD_CONST const
#else
#define OLD_CONST
#endif
PLAIN(48, ENVIRONMENT, "white", MPI_COMM_WORLD, MPI_Errhandler_create,
      (MPI_Handler_function *f, MPI_Errhandler *handler), (f, handler))
PLAIN(50, ENVIRONMENT, "white", comm, MPI_Errhandler_get, ARGS_COMM_ASK_HANDLER)
PLAIN(52, ENVIRONMENT, "white", comm, MPI_Errhandler_set, ARGS_COMM_HANDLER)
PLAIN(57, DATATYPE, "white", MPI_COMM_WORLD, MPI_Address,
      (OLD_CONST void *location, MPI_Aint *address), (location, address))
PLAIN(94, DATATYPE, "white", MPI_COMM_WORLD, MPI_Type_extent, ARGS_TYPE_AINT)
PLAIN(96, DATATYPE, "white", MPI_COMM_WORLD, MPI_Type_hindexed,
      (int count, OLD_CONST int lengths[], OLD_CONST MPI_Aint displacements[], MPI_Datatype type, MPI_Datatype *out), (count, lengths, displacements, type, out))
PLAIN(97, DATATYPE, "white", MPI_COMM_WORLD, MPI_Type_hvector,
      (int count, int length, MPI_Aint stride, MPI_Datatype type, MPI_Datatype *out), (count, length, stride, type, out))
PLAIN(99, DATATYPE, "white", MPI_COMM_WORLD, MPI_Type_lb, ARGS_TYPE_AINT)
PLAIN(101, DATATYPE, "white", MPI_COMM_WORLD, MPI_Type_struct,
      (int count, OLD_CONST int lengths[], OLD_CONST MPI_Aint displacements[], OLD_CONST MPI_Datatype types[], MPI_Datatype *out), (count, lengths, displacements, types, out))
PLAIN(102, DATATYPE, "white", MPI_COMM_WORLD, MPI_Type_ub, ARGS_TYPE_AINT)
#endif

/* ---- calls of MPI 2 that replace some of these calls, with the same states ---- */
AGAIN(16, comm, MPI_Comm_delete_attr, ARGS_COMM_KEY)
AGAIN(17, comm, MPI_Comm_get_attr, ARGS_COMM_KEY_GET)
AGAIN(18, comm, MPI_Comm_set_attr, ARGS_COMM_KEY_PUT)
AGAIN(44, MPI_COMM_WORLD, MPI_Comm_create_keyval,
      (MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *drop, int *key, void *extra), (copy, drop, key, extra))
AGAIN(45, MPI_COMM_WORLD, MPI_Comm_free_keyval, ARGS_INT)
AGAIN(48, MPI_COMM_WORLD, MPI_Comm_create_errhandler,
      (MPI_Comm_errhandler_function *f, MPI_Errhandler *handler), (f, handler))
AGAIN(50, comm, MPI_Comm_get_errhandler, ARGS_COMM_ASK_HANDLER)
AGAIN(52, comm, MPI_Comm_set_errhandler, ARGS_COMM_HANDLER)
AGAIN(57, MPI_COMM_WORLD, MPI_Get_address,
      (const void *location, MPI_Aint *address), (location, address))

/* ---- MPI 3 ---- */
MAKES_WINDOW(264, "purple", MPI_Win_create_dynamic,
      (MPI_Info info, MPI_Comm comm, MPI_Win *win), (info, comm, win))
ON_WINDOW(265, "purple", MPI_Win_lock_all, ARGS_INT_WIN)
ON_WINDOW(266, "purple", MPI_Win_unlock_all, ARGS_WIN)
ON_WINDOW(267, "purple", MPI_Win_flush, ARGS_INT_WIN)
ON_WINDOW(268, "purple", MPI_Win_flush_all, ARGS_WIN)
ON_WINDOW(269, "purple", MPI_Win_flush_local, ARGS_INT_WIN)
ON_WINDOW(270, "purple", MPI_Win_flush_local_all, ARGS_WIN)
ON_WINDOW(271, "purple", MPI_Win_sync, ARGS_WIN)
RMA(277, "purple", NULL, changed(op, 1, type), bytes(1, type), MPI_Fetch_and_op,
      (const void *o, void *r, MPI_Datatype type, int rank, MPI_Aint disp, MPI_Op op, MPI_Win win), (o, r, type, rank, disp, op, win))
RMA(278, "purple", NULL, bytes(1, type), bytes(1, type), MPI_Compare_and_swap,
      (const void *o, const void *c, void *r, MPI_Datatype type, int rank, MPI_Aint disp, MPI_Win win), (o, c, r, type, rank, disp, win))
WRITTEN(283, MESSAGE, "orange", MPI_Request_get_status,
      (MPI_Request q, int *flag, MPI_Status *status), (q, flag, status))
PLAIN(288, DATATYPE, "white", MPI_COMM_WORLD, MPI_Type_dup,
      (MPI_Datatype type, MPI_Datatype *out), (type, out))
ON_WINDOW(289, "purple", MPI_Win_attach,
      (MPI_Win win, void *base, MPI_Aint size), (win, base, size))
ON_WINDOW(290, "purple", MPI_Win_detach,
      (MPI_Win win, const void *base), (win, base))

WRITTEN(232, COLLECTIVE, "yellow", MPI_Ibarrier,
      (MPI_Comm comm, MPI_Request *q), (comm, q))
#if HPCW_I_HAVE_PERSISTENT
WRITTEN(299, COLLECTIVE, "yellow", MPI_Barrier_init,
      (MPI_Comm comm, MPI_Info info, MPI_Request *q), (comm, info, q))
#endif
#if HPCW_I_HAVE_PARTITIONED
SHOWN(280, MESSAGE, "white", MPI_Partition) /* all calls about a partition */
#ifndef STATES_ONLY
WRITTEN(65, MESSAGE, "white", MPI_Psend_init,
      (const void *buf, int partitions, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *q), (buf, partitions, count, type, dest, tag, comm, info, q))
WRITTEN(64, MESSAGE, "white", MPI_Precv_init,
      (void *buf, int partitions, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *q), (buf, partitions, count, type, source, tag, comm, info, q))
WRITTEN(280, MESSAGE, "white", MPI_Pready,
      (int partition, MPI_Request q), (partition, q))
WRITTEN(280, MESSAGE, "white", MPI_Pready_range,
      (int low, int high, MPI_Request q), (low, high, q))
#if HPCW_I_PREADY_CONST /* not const in MPI 4.0 */
#define PREADY_CONST const
#else
#define PREADY_CONST
#endif
WRITTEN(280, MESSAGE, "white", MPI_Pready_list,
      (int count, PREADY_CONST int partitions[], MPI_Request q), (count, partitions, q))
WRITTEN(280, MESSAGE, "white", MPI_Parrived,
      (MPI_Request q, int partition, int *flag), (q, partition, flag))
WRITTEN(225, COMMUNICATOR, "OliveDrab1", MPI_Comm_idup_with_info,
      (MPI_Comm comm, MPI_Info info, MPI_Comm *made, MPI_Request *q), (comm, info, made, q))
#endif
#endif

/* ---- all calls about an info are one state ---- */
SHOWN(291, INFO, "white", MPI_Info)
AGAIN(291, MPI_COMM_WORLD, MPI_Info_create,
      (MPI_Info *info), (info))
AGAIN(291, MPI_COMM_WORLD, MPI_Info_dup,
      (MPI_Info info, MPI_Info *out), (info, out))
AGAIN(291, MPI_COMM_WORLD, MPI_Info_free,
      (MPI_Info *info), (info))
AGAIN(291, MPI_COMM_WORLD, MPI_Info_delete,
      (MPI_Info info, const char *key), (info, key))
AGAIN(291, MPI_COMM_WORLD, MPI_Info_set,
      (MPI_Info info, const char *key, const char *value), (info, key, value))
AGAIN(291, MPI_COMM_WORLD, MPI_Info_get,
      (MPI_Info info, const char *key, int length, char *value, int *flag), (info, key, length, value, flag))
AGAIN(291, MPI_COMM_WORLD, MPI_Info_get_nkeys,
      (MPI_Info info, int *n), (info, n))
AGAIN(291, MPI_COMM_WORLD, MPI_Info_get_nthkey,
      (MPI_Info info, int n, char *key), (info, n, key))
AGAIN(291, MPI_COMM_WORLD, MPI_Info_get_valuelen,
      (MPI_Info info, const char *key, int *length, int *flag), (info, key, length, flag))

/* ---- calls with counts, for int and MPI_Count ---- */
#undef COUNTS_ARE_LARGE
#include "libwriter/trace/counts.h"
#include "libwriter/trace/calls_counted.h"
#if HPCW_I_HAVE_LARGE && !defined STATES_ONLY
#define COUNTS_ARE_LARGE
#include "libwriter/trace/counts.h"
#include "libwriter/trace/calls_counted.h"
#endif

/* ---- Fortran bindings that in some libraries do not call C; with NO_REQUEST: for 0 requests only ---- */
FORTRAN(16, OF_COMM, true, mpi_attr_delete)
FORTRAN(17, OF_COMM, true, mpi_attr_get)
FORTRAN(18, OF_COMM, true, mpi_attr_put)
FORTRAN(16, OF_COMM, true, mpi_comm_delete_attr)
FORTRAN(17, OF_COMM, true, mpi_comm_get_attr)
FORTRAN(18, OF_COMM, true, mpi_comm_set_attr)
FORTRAN(44, MPI_COMM_WORLD, true, mpi_keyval_create)
FORTRAN(44, MPI_COMM_WORLD, true, mpi_comm_create_keyval)
FORTRAN(48, MPI_COMM_WORLD, true, mpi_errhandler_create)
FORTRAN(48, MPI_COMM_WORLD, true, mpi_comm_create_errhandler)
FORTRAN(86, MPI_COMM_WORLD, NO_REQUEST, mpi_startall)
FORTRAN(88, MPI_COMM_WORLD, NO_REQUEST, mpi_testall)
FORTRAN(89, MPI_COMM_WORLD, NO_REQUEST, mpi_testany)
FORTRAN(91, MPI_COMM_WORLD, NO_REQUEST, mpi_testsome)
FORTRAN(106, MPI_COMM_WORLD, NO_REQUEST, mpi_waitall)
FORTRAN(107, MPI_COMM_WORLD, NO_REQUEST, mpi_waitany)
FORTRAN(108, MPI_COMM_WORLD, NO_REQUEST, mpi_waitsome)

#undef PLAIN
#undef FORTRAN
#undef AGAIN
#undef SEND
#undef ISEND
#undef SEND_INIT
#undef MAKES
#undef WRITTEN
#undef CLOCK
#undef SHOWN
#undef FUNCTION
#undef STATES_ONLY
#undef COLLECTS
#undef COLLECTS_AS
#undef ON_FILE
#undef MAKES_WINDOW
#undef ON_WINDOW
#undef RMA
#undef EXPANDED
/* clang-format on */
