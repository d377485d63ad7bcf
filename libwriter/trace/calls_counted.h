/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of calls.h for calls with counts, which MPI 4 has twice. Their names and types are macros of counts.h. */
/* clang-format off */

/* Expands the arguments, and then calls the macro `kind` of the includer, which may turn a name into a string. */
#define ROW(kind, ...) kind(__VA_ARGS__)

/* ---- collective calls: each blocking, nonblocking and persistent, with the same first arguments and bytes ---- */
#define COLLECTIVES(shape, moved, colour, kind, state, f, i_state, i_f, p_state, p_f) \
    ROW(COLLECTS, state, colour, NULL, moved, C(f), (PROTOTYPE_##shape), (ARGUMENTS_##shape)) \
    ROW(COLLECTS, i_state, colour, q, moved, C(i_f), (PROTOTYPE_##shape, MPI_Request *q), (ARGUMENTS_##shape, q)) \
    PERSISTENT(kind, p_state, colour, q, moved, C(p_f), (PROTOTYPE_##shape, MPI_Info info, MPI_Request *q), (ARGUMENTS_##shape, info, q))
#if HPCW_I_HAVE_PERSISTENT
#define PERSISTENT(...) ROW(__VA_ARGS__)
#else
#define PERSISTENT(...)
#endif
#define PROTOTYPE_GATHER_ALL const void *s, COUNT sn, MPI_Datatype st, void *r, COUNT rn, MPI_Datatype rt, MPI_Comm comm
#define ARGUMENTS_GATHER_ALL s, sn, st, r, rn, rt, comm
#define PROTOTYPE_GATHERV_ALL const void *s, COUNT sn, MPI_Datatype st, void *r, const COUNT rn[], const PLACE d[], MPI_Datatype rt, MPI_Comm comm
#define ARGUMENTS_GATHERV_ALL s, sn, st, r, rn, d, rt, comm
#define PROTOTYPE_REDUCE_ALL const void *s, void *r, COUNT count, MPI_Datatype type, MPI_Op op, MPI_Comm comm
#define ARGUMENTS_REDUCE_ALL s, r, count, type, op, comm
#define PROTOTYPE_ALLTOALLV const void *s, const COUNT sn[], const PLACE sd[], MPI_Datatype st, void *r, const COUNT rn[], const PLACE rd[], MPI_Datatype rt, MPI_Comm comm
#define ARGUMENTS_ALLTOALLV s, sn, sd, st, r, rn, rd, rt, comm
#define PROTOTYPE_ALLTOALLW const void *s, const COUNT sn[], const PLACE sd[], const MPI_Datatype st[], void *r, const COUNT rn[], const PLACE rd[], const MPI_Datatype rt[], MPI_Comm comm
#define ARGUMENTS_ALLTOALLW s, sn, sd, st, r, rn, rd, rt, comm
#define PROTOTYPE_NEIGHBORW const void *s, const COUNT sn[], const MPI_Aint sd[], const MPI_Datatype st[], void *r, const COUNT rn[], const MPI_Aint rd[], const MPI_Datatype rt[], MPI_Comm comm
#define ARGUMENTS_NEIGHBORW s, sn, sd, st, r, rn, rd, rt, comm
#define PROTOTYPE_BCAST void *buf, COUNT count, MPI_Datatype type, int root, MPI_Comm comm
#define ARGUMENTS_BCAST buf, count, type, root, comm
#define PROTOTYPE_GATHER const void *s, COUNT sn, MPI_Datatype st, void *r, COUNT rn, MPI_Datatype rt, int root, MPI_Comm comm
#define ARGUMENTS_GATHER s, sn, st, r, rn, rt, root, comm
#define PROTOTYPE_GATHERV const void *s, COUNT sn, MPI_Datatype st, void *r, const COUNT rn[], const PLACE d[], MPI_Datatype rt, int root, MPI_Comm comm
#define ARGUMENTS_GATHERV s, sn, st, r, rn, d, rt, root, comm
#define PROTOTYPE_SCATTERV const void *s, const COUNT sn[], const PLACE d[], MPI_Datatype st, void *r, COUNT rn, MPI_Datatype rt, int root, MPI_Comm comm
#define ARGUMENTS_SCATTERV s, sn, d, st, r, rn, rt, root, comm
#define PROTOTYPE_REDUCE_PARTS const void *s, void *r, const COUNT rn[], MPI_Datatype type, MPI_Op op, MPI_Comm comm
#define ARGUMENTS_REDUCE_PARTS s, r, rn, type, op, comm
#define PROTOTYPE_REDUCE const void *s, void *r, COUNT count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm
#define ARGUMENTS_REDUCE s, r, count, type, op, root, comm
COLLECTIVES(GATHER_ALL, MOVED_IN(s, bytes(sn, st), bytes(rn, rt) * partners(comm)), "purple3", COLLECTS,
            0, MPI_Allgather, 238, MPI_Iallgather, 123, MPI_Allgather_init)
COLLECTIVES(GATHERV_ALL, MOVED_IN(s, bytes(sn, st), bytes(SUM(rn, partners(comm)), rt)), "purple3", COLLECTS_AS,
            1, MPI_Allgatherv, 239, MPI_Iallgatherv, 123, MPI_Allgatherv_init)
COLLECTIVES(REDUCE_ALL, both(bytes(count, type)), "purple", COLLECTS,
            2, MPI_Allreduce, 244, MPI_Iallreduce, 126, MPI_Allreduce_init)
COLLECTIVES(GATHER_ALL, MOVED_IN(s, bytes(sn, st) * partners(comm), bytes(rn, rt) * partners(comm)), "DarkViolet", COLLECTS,
            3, MPI_Alltoall, 240, MPI_Ialltoall, 127, MPI_Alltoall_init)
COLLECTIVES(ALLTOALLV, MOVED_IN(s, bytes(SUM(sn, partners(comm)), st), bytes(SUM(rn, partners(comm)), rt)), "DarkViolet", COLLECTS_AS,
            4, MPI_Alltoallv, 241, MPI_Ialltoallv, 127, MPI_Alltoallv_init)
COLLECTIVES(BCAST, MOVED_FROM(root, comm, bytes(count, type)), "cyan", COLLECTS,
            6, MPI_Bcast, 233, MPI_Ibcast, 180, MPI_Bcast_init)
COLLECTIVES(GATHER, MOVED_TO(root, comm, s, bytes(sn, st), bytes(rn, rt) * partners(comm)), "white", COLLECTS,
            7, MPI_Gather, 234, MPI_Igather, 199, MPI_Gather_init)
COLLECTIVES(GATHERV, MOVED_TO(root, comm, s, bytes(sn, st), bytes(SUM(rn, partners(comm)), rt)), "white", COLLECTS_AS,
            8, MPI_Gatherv, 235, MPI_Igatherv, 199, MPI_Gatherv_init)
COLLECTIVES(REDUCE_PARTS, moved(bytes(SUM(rn, size_of(comm)), type), bytes(rn[rank_in(comm)], type)), "white", COLLECTS,
            11, MPI_Reduce_scatter, 245, MPI_Ireduce_scatter, 200, MPI_Reduce_scatter_init)
COLLECTIVES(REDUCE, MOVED_TO(root, comm, s, bytes(count, type), bytes(count, type)), "MediumPurple", COLLECTS,
            12, MPI_Reduce, 243, MPI_Ireduce, 292, MPI_Reduce_init)
COLLECTIVES(REDUCE_ALL, both(bytes(count, type)), "white", COLLECTS,
            13, MPI_Scan, 247, MPI_Iscan, 293, MPI_Scan_init)
COLLECTIVES(GATHER, MOVED_OUT(root, comm, r, bytes(sn, st) * partners(comm), bytes(rn, rt)), "orchid", COLLECTS,
            14, MPI_Scatter, 236, MPI_Iscatter, 294, MPI_Scatter_init)
COLLECTIVES(SCATTERV, MOVED_OUT(root, comm, r, bytes(SUM(sn, partners(comm)), st), bytes(rn, rt)), "orchid", COLLECTS_AS,
            15, MPI_Scatterv, 237, MPI_Iscatterv, 294, MPI_Scatterv_init)
COLLECTIVES(REDUCE_ALL, both(bytes(count, type)), "white", COLLECTS,
            229, MPI_Exscan, 248, MPI_Iexscan, 295, MPI_Exscan_init)
COLLECTIVES(ALLTOALLW, MOVED_IN(s, SUM_OF(sn, st, partners(comm)), SUM_OF(rn, rt, partners(comm))), "DarkViolet", COLLECTS_AS,
            230, MPI_Alltoallw, 242, MPI_Ialltoallw, 127, MPI_Alltoallw_init)
COLLECTIVES(REDUCE_ALL, moved(bytes(count, type) * size_of(comm), bytes(count, type)), "white", COLLECTS_AS,
            231, MPI_Reduce_scatter_block, 246, MPI_Ireduce_scatter_block, 200, MPI_Reduce_scatter_block_init)
COLLECTIVES(GATHER_ALL, moved(bytes(sn, st), bytes(rn, rt) * sources(comm)), "purple3", COLLECTS,
            249, MPI_Neighbor_allgather, 257, MPI_Ineighbor_allgather, 296, MPI_Neighbor_allgather_init)
COLLECTIVES(GATHERV_ALL, moved(bytes(sn, st), bytes(SUM(rn, sources(comm)), rt)), "purple3", COLLECTS_AS,
            253, MPI_Neighbor_allgatherv, 258, MPI_Ineighbor_allgatherv, 296, MPI_Neighbor_allgatherv_init)
COLLECTIVES(GATHER_ALL, moved(bytes(sn, st) * targets(comm), bytes(rn, rt) * sources(comm)), "DarkViolet", COLLECTS,
            254, MPI_Neighbor_alltoall, 259, MPI_Ineighbor_alltoall, 297, MPI_Neighbor_alltoall_init)
COLLECTIVES(ALLTOALLV, moved(bytes(SUM(sn, targets(comm)), st), bytes(SUM(rn, sources(comm)), rt)), "DarkViolet", COLLECTS_AS,
            255, MPI_Neighbor_alltoallv, 260, MPI_Ineighbor_alltoallv, 297, MPI_Neighbor_alltoallv_init)
COLLECTIVES(NEIGHBORW, moved(SUM_OF(sn, st, targets(comm)), SUM_OF(rn, rt, sources(comm))), "DarkViolet", COLLECTS_AS,
            256, MPI_Neighbor_alltoallw, 261, MPI_Ineighbor_alltoallw, 297, MPI_Neighbor_alltoallw_init)

/* ---- calls with counts that are not collective ---- */
#define ARGS_FILE_IREAD (MPI_File fh, void *buf, COUNT count, MPI_Datatype type, MPI_Request *q), (fh, buf, count, type, q)
#define ARGS_FILE_IWRITE (MPI_File fh, const void *buf, COUNT count, MPI_Datatype type, MPI_Request *q), (fh, buf, count, type, q)
#define ARGS_FILE_READ (MPI_File fh, void *buf, COUNT count, MPI_Datatype type, MPI_Status *status), (fh, buf, count, type, status)
#define ARGS_FILE_READ_AT (MPI_File fh, MPI_Offset offset, void *buf, COUNT count, MPI_Datatype type, MPI_Status *status), (fh, offset, buf, count, type, status)
#define ARGS_FILE_READ_BEGIN (MPI_File fh, void *buf, COUNT count, MPI_Datatype type), (fh, buf, count, type)
#define ARGS_FILE_WRITE (MPI_File fh, const void *buf, COUNT count, MPI_Datatype type, MPI_Status *status), (fh, buf, count, type, status)
#define ARGS_FILE_WRITE_AT (MPI_File fh, MPI_Offset offset, const void *buf, COUNT count, MPI_Datatype type, MPI_Status *status), (fh, offset, buf, count, type, status)
#define ARGS_FILE_WRITE_BEGIN (MPI_File fh, const void *buf, COUNT count, MPI_Datatype type), (fh, buf, count, type)
#define ARGS_IRECV (void *buf, COUNT count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *q), (buf, count, type, source, tag, comm, q)
#define ARGS_ISEND (const void *buf, COUNT count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *q), (buf, count, type, dest, tag, comm, q)
#define ARGS_SEND (const void *buf, COUNT count, MPI_Datatype type, int dest, int tag, MPI_Comm comm), (buf, count, type, dest, tag, comm)
#define ARGS_STATUS_COUNT (const MPI_Status *status, MPI_Datatype type, COUNT *count), (status, type, count)
#define ARGS_TYPE_HVECTOR (COUNT count, COUNT length, WIDE stride, MPI_Datatype type, MPI_Datatype *out), (count, length, stride, type, out)
#define ARGS_WIN_ALLOCATE (MPI_Aint size, PLACE disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win), (size, disp_unit, info, comm, baseptr, win)
ROW(PLAIN, 9, ENVIRONMENT, "white", MPI_COMM_WORLD, C(MPI_Op_create),
      (C(MPI_User_function) *f, int commute, MPI_Op *op), (f, commute, op))
ROW(SEND, 58, "SlateBlue", C(MPI_Bsend))
ROW(SEND_INIT, 59, "white", C(MPI_Bsend_init))
ROW(PLAIN, 60, MESSAGE, "white", MPI_COMM_WORLD, C(MPI_Buffer_attach),
      (void *buf, COUNT size), (buf, size))
ROW(PLAIN, 61, MESSAGE, "white", MPI_COMM_WORLD, C(MPI_Buffer_detach),
      (void *buf, COUNT *size), (buf, size))
ROW(WRITTEN, 64, MESSAGE, "white", C(MPI_Recv_init), ARGS_IRECV)
ROW(SEND_INIT, 65, "white", C(MPI_Send_init))
ROW(PLAIN, 66, MESSAGE, "white", MPI_COMM_WORLD, C(MPI_Get_elements), ARGS_STATUS_COUNT)
ROW(PLAIN, 67, MESSAGE, "white", MPI_COMM_WORLD, C(MPI_Get_count), ARGS_STATUS_COUNT)
ROW(ISEND, 68, "white", C(MPI_Ibsend))
ROW(WRITTEN, 70, MESSAGE, "PaleGreen", C(MPI_Irecv), ARGS_IRECV)
ROW(ISEND, 71, "LightSkyBlue", C(MPI_Irsend))
ROW(ISEND, 72, "SkyBlue", C(MPI_Isend))
ROW(ISEND, 73, "LightSteelBlue", C(MPI_Issend))
ROW(PLAIN, 74, MESSAGE, "white", comm, C(MPI_Pack),
      (const void *in, COUNT n, MPI_Datatype type, void *out, COUNT size, COUNT *position, MPI_Comm comm), (in, n, type, out, size, position, comm))
ROW(PLAIN, 75, MESSAGE, "white", comm, C(MPI_Pack_size),
      (COUNT n, MPI_Datatype type, MPI_Comm comm, COUNT *size), (n, type, comm, size))
ROW(WRITTEN, 77, MESSAGE, "green", C(MPI_Recv),
      (void *buf, COUNT count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status), (buf, count, type, source, tag, comm, status))
ROW(SEND, 78, "DeepSkyBlue", C(MPI_Rsend))
ROW(SEND_INIT, 79, "white", C(MPI_Rsend_init))
ROW(SEND, 80, "blue", C(MPI_Send))
ROW(WRITTEN, 81, MESSAGE, "SeaGreen", C(MPI_Sendrecv),
      (const void *s, COUNT sn, MPI_Datatype st, int dest, int stag, void *r, COUNT rn, MPI_Datatype rt, int source, int rtag, MPI_Comm comm, MPI_Status *status), (s, sn, st, dest, stag, r, rn, rt, source, rtag, comm, status))
ROW(WRITTEN, 82, MESSAGE, "SeaGreen1", C(MPI_Sendrecv_replace),
      (void *buf, COUNT count, MPI_Datatype type, int dest, int stag, int source, int rtag, MPI_Comm comm, MPI_Status *status), (buf, count, type, dest, stag, source, rtag, comm, status))
#if HPCW_I_HAVE_PARTITIONED && !defined STATES_ONLY
ROW(WRITTEN, 81, MESSAGE, "SeaGreen", C(MPI_Isendrecv),
      (const void *s, COUNT sn, MPI_Datatype st, int dest, int stag, void *r, COUNT rn, MPI_Datatype rt, int source, int rtag, MPI_Comm comm, MPI_Request *q), (s, sn, st, dest, stag, r, rn, rt, source, rtag, comm, q))
ROW(WRITTEN, 82, MESSAGE, "SeaGreen1", C(MPI_Isendrecv_replace),
      (void *buf, COUNT count, MPI_Datatype type, int dest, int stag, int source, int rtag, MPI_Comm comm, MPI_Request *q), (buf, count, type, dest, stag, source, rtag, comm, q))
#endif
ROW(SEND, 83, "DeepSkyBlue", C(MPI_Ssend))
ROW(SEND_INIT, 84, "white", C(MPI_Ssend_init))
ROW(PLAIN, 93, DATATYPE, "white", MPI_COMM_WORLD, C(MPI_Type_contiguous),
      (COUNT count, MPI_Datatype type, MPI_Datatype *out), (count, type, out))
ROW(PLAIN, 98, DATATYPE, "white", MPI_COMM_WORLD, C(MPI_Type_indexed),
      (COUNT count, const COUNT lengths[], const COUNT displacements[], MPI_Datatype type, MPI_Datatype *out), (count, lengths, displacements, type, out))
ROW(PLAIN, 100, DATATYPE, "white", MPI_COMM_WORLD, C(MPI_Type_size),
      (MPI_Datatype type, COUNT *size), (type, size))
ROW(PLAIN, 103, DATATYPE, "white", MPI_COMM_WORLD, C(MPI_Type_vector),
      (COUNT count, COUNT length, COUNT stride, MPI_Datatype type, MPI_Datatype *out), (count, length, stride, type, out))
ROW(PLAIN, 104, MESSAGE, "white", comm, C(MPI_Unpack),
      (const void *in, COUNT size, COUNT *position, void *out, COUNT n, MPI_Datatype type, MPI_Comm comm), (in, size, position, out, n, type, comm))
ROW(ON_FILE, 140, "SeaGreen", NULL, C(MPI_File_read_at), ARGS_FILE_READ_AT)
ROW(ON_FILE, 141, "LimeGreen", NULL, C(MPI_File_read_at_all), ARGS_FILE_READ_AT)
ROW(ON_FILE, 142, "BlueViolet", NULL, C(MPI_File_write_at), ARGS_FILE_WRITE_AT)
ROW(ON_FILE, 143, "SlateBlue", NULL, C(MPI_File_write_at_all), ARGS_FILE_WRITE_AT)
ROW(ON_FILE, 144, "PaleGreen", q, C(MPI_File_iread_at),
      (MPI_File fh, MPI_Offset offset, void *buf, COUNT count, MPI_Datatype type, MPI_Request *q), (fh, offset, buf, count, type, q))
ROW(ON_FILE, 145, "AliceBlue", q, C(MPI_File_iwrite_at),
      (MPI_File fh, MPI_Offset offset, const void *buf, COUNT count, MPI_Datatype type, MPI_Request *q), (fh, offset, buf, count, type, q))
ROW(ON_FILE, 146, "CornflowerBlue", NULL, C(MPI_File_read), ARGS_FILE_READ)
ROW(ON_FILE, 147, "DarkSeaGreen", NULL, C(MPI_File_read_all), ARGS_FILE_READ)
ROW(ON_FILE, 148, "LawnGreen", NULL, C(MPI_File_write), ARGS_FILE_WRITE)
ROW(ON_FILE, 149, "DodgerBlue", NULL, C(MPI_File_write_all), ARGS_FILE_WRITE)
ROW(ON_FILE, 150, "ForestGreen", q, C(MPI_File_iread), ARGS_FILE_IREAD)
ROW(ON_FILE, 151, "aquamarine", q, C(MPI_File_iwrite), ARGS_FILE_IWRITE)
ROW(ON_FILE, 155, "MediumSlateBlue", NULL, C(MPI_File_read_shared), ARGS_FILE_READ)
ROW(ON_FILE, 156, "SpringGreen4", NULL, C(MPI_File_write_shared), ARGS_FILE_WRITE)
ROW(ON_FILE, 157, "SteelBlue", q, C(MPI_File_iread_shared), ARGS_FILE_IREAD)
ROW(ON_FILE, 158, "SpringGreen", q, C(MPI_File_iwrite_shared), ARGS_FILE_IWRITE)
ROW(ON_FILE, 159, "SteelBlue1", NULL, C(MPI_File_read_ordered), ARGS_FILE_READ)
ROW(ON_FILE, 160, "SpringGreen1", NULL, C(MPI_File_write_ordered), ARGS_FILE_WRITE)
ROW(ON_FILE, 163, "SpringGreen2", NULL, C(MPI_File_read_at_all_begin),
      (MPI_File fh, MPI_Offset offset, void *buf, COUNT count, MPI_Datatype type), (fh, offset, buf, count, type))
ROW(ON_FILE, 165, "SteelBlue2", NULL, C(MPI_File_write_at_all_begin),
      (MPI_File fh, MPI_Offset offset, const void *buf, COUNT count, MPI_Datatype type), (fh, offset, buf, count, type))
ROW(ON_FILE, 167, "DarkSeaGreen1", NULL, C(MPI_File_read_all_begin), ARGS_FILE_READ_BEGIN)
ROW(ON_FILE, 169, "LightSteelBlue1", NULL, C(MPI_File_write_all_begin), ARGS_FILE_WRITE_BEGIN)
ROW(ON_FILE, 171, "DarkSeaGreen3", NULL, C(MPI_File_read_ordered_begin), ARGS_FILE_READ_BEGIN)
ROW(ON_FILE, 173, "LightSteelBlue3", NULL, C(MPI_File_write_ordered_begin), ARGS_FILE_WRITE_BEGIN)
ROW(ON_FILE, 175, "brown", NULL, C(MPI_File_get_type_extent),
      (MPI_File fh, MPI_Datatype type, WIDE *extent), (fh, type, extent))
ROW(PLAIN, 176, FILE, "brown", MPI_COMM_WORLD, C(MPI_Register_datarep),
      (const char *datarep, C(MPI_Datarep_conversion_function) *read_conversion_fn, C(MPI_Datarep_conversion_function) *write_conversion_fn, MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra), (datarep, read_conversion_fn, write_conversion_fn, dtype_file_extent_fn, extra))
ROW(RMA, 181, "purple", NULL, bytes(on, ot), NO_ARROW, C(MPI_Accumulate),
      (const void *o, COUNT on, MPI_Datatype ot, int rank, MPI_Aint disp, COUNT tn, MPI_Datatype tt, MPI_Op op, MPI_Win win), (o, on, ot, rank, disp, tn, tt, op, win))
ROW(RMA, 184, "LightGreen", NULL, NO_ARROW, bytes(on, ot), C(MPI_Get),
      (void *o, COUNT on, MPI_Datatype ot, int rank, MPI_Aint disp, COUNT tn, MPI_Datatype tt, MPI_Win win), (o, on, ot, rank, disp, tn, tt, win))
ROW(RMA, 185, "LightBlue", NULL, bytes(on, ot), NO_ARROW, C(MPI_Put),
      (const void *o, COUNT on, MPI_Datatype ot, int rank, MPI_Aint disp, COUNT tn, MPI_Datatype tt, MPI_Win win), (o, on, ot, rank, disp, tn, tt, win))
ROW(MAKES_WINDOW, 187, "purple", C(MPI_Win_create),
      (void *base, MPI_Aint size, PLACE disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win), (base, size, disp_unit, info, comm, win))
ROW(WRITTEN, 220, MESSAGE, "green", C(MPI_Mrecv),
      (void *buf, COUNT count, MPI_Datatype type, MPI_Message *message, MPI_Status *status), (buf, count, type, message, status))
ROW(WRITTEN, 222, MESSAGE, "PaleGreen", C(MPI_Imrecv),
      (void *buf, COUNT count, MPI_Datatype type, MPI_Message *message, MPI_Request *q), (buf, count, type, message, q))
ROW(AGAIN, 94, MPI_COMM_WORLD, C(MPI_Type_get_extent),
      (MPI_Datatype type, WIDE *lb, WIDE *extent), (type, lb, extent))
ROW(AGAIN, 96, MPI_COMM_WORLD, C(MPI_Type_create_hindexed),
      (COUNT count, const COUNT lengths[], const WIDE displacements[], MPI_Datatype type, MPI_Datatype *out), (count, lengths, displacements, type, out))
ROW(AGAIN, 97, MPI_COMM_WORLD, C(MPI_Type_create_hvector), ARGS_TYPE_HVECTOR)
ROW(AGAIN, 101, MPI_COMM_WORLD, C(MPI_Type_create_struct),
      (COUNT count, const COUNT lengths[], const WIDE displacements[], const MPI_Datatype types[], MPI_Datatype *out), (count, lengths, displacements, types, out))
ROW(MAKES_WINDOW, 262, "purple", C(MPI_Win_allocate), ARGS_WIN_ALLOCATE)
ROW(MAKES_WINDOW, 263, "purple", C(MPI_Win_allocate_shared), ARGS_WIN_ALLOCATE)
ROW(RMA, 272, "LightBlue", q, bytes(on, ot), NO_ARROW, C(MPI_Rput),
      (const void *o, COUNT on, MPI_Datatype ot, int rank, MPI_Aint disp, COUNT tn, MPI_Datatype tt, MPI_Win win, MPI_Request *q), (o, on, ot, rank, disp, tn, tt, win, q))
ROW(RMA, 273, "LightGreen", q, NO_ARROW, bytes(on, ot), C(MPI_Rget),
      (void *o, COUNT on, MPI_Datatype ot, int rank, MPI_Aint disp, COUNT tn, MPI_Datatype tt, MPI_Win win, MPI_Request *q), (o, on, ot, rank, disp, tn, tt, win, q))
ROW(RMA, 274, "purple", q, bytes(on, ot), NO_ARROW, C(MPI_Raccumulate),
      (const void *o, COUNT on, MPI_Datatype ot, int rank, MPI_Aint disp, COUNT tn, MPI_Datatype tt, MPI_Op op, MPI_Win win, MPI_Request *q), (o, on, ot, rank, disp, tn, tt, op, win, q))
ROW(RMA, 275, "purple", NULL, changed(op, on, ot), bytes(rn, rt), C(MPI_Get_accumulate),
      (const void *o, COUNT on, MPI_Datatype ot, void *r, COUNT rn, MPI_Datatype rt, int rank, MPI_Aint disp, COUNT tn, MPI_Datatype tt, MPI_Op op, MPI_Win win), (o, on, ot, r, rn, rt, rank, disp, tn, tt, op, win))
ROW(RMA, 276, "purple", q, changed(op, on, ot), bytes(rn, rt), C(MPI_Rget_accumulate),
      (const void *o, COUNT on, MPI_Datatype ot, void *r, COUNT rn, MPI_Datatype rt, int rank, MPI_Aint disp, COUNT tn, MPI_Datatype tt, MPI_Op op, MPI_Win win, MPI_Request *q), (o, on, ot, r, rn, rt, rank, disp, tn, tt, op, win, q))
ROW(ON_FILE, 279, "PaleGreen", q, C(MPI_File_iread_at_all),
      (MPI_File fh, MPI_Offset offset, void *buf, COUNT count, MPI_Datatype type, MPI_Request *q), (fh, offset, buf, count, type, q))
ROW(ON_FILE, 298, "AliceBlue", q, C(MPI_File_iwrite_at_all),
      (MPI_File fh, MPI_Offset offset, const void *buf, COUNT count, MPI_Datatype type, MPI_Request *q), (fh, offset, buf, count, type, q))
ROW(ON_FILE, 281, "ForestGreen", q, C(MPI_File_iread_all), ARGS_FILE_IREAD)
ROW(ON_FILE, 282, "aquamarine", q, C(MPI_File_iwrite_all), ARGS_FILE_IWRITE)
ROW(PLAIN, 284, DATATYPE, "white", MPI_COMM_WORLD, C(MPI_Type_create_subarray),
      (int n, const COUNT sizes[], const COUNT parts[], const COUNT starts[], int order, MPI_Datatype type, MPI_Datatype *out), (n, sizes, parts, starts, order, type, out))
ROW(PLAIN, 285, DATATYPE, "white", MPI_COMM_WORLD, C(MPI_Type_create_resized),
      (MPI_Datatype type, WIDE lb, WIDE extent, MPI_Datatype *out), (type, lb, extent, out))
ROW(PLAIN, 286, DATATYPE, "white", MPI_COMM_WORLD, C(MPI_Type_create_indexed_block),
      (COUNT count, COUNT length, const COUNT displacements[], MPI_Datatype type, MPI_Datatype *out), (count, length, displacements, type, out))
ROW(PLAIN, 287, DATATYPE, "white", MPI_COMM_WORLD, C(MPI_Type_create_hindexed_block),
      (COUNT count, COUNT length, const WIDE displacements[], MPI_Datatype type, MPI_Datatype *out), (count, length, displacements, type, out))

#undef ARGS_FILE_IREAD
#undef ARGS_FILE_IWRITE
#undef ARGS_FILE_READ
#undef ARGS_FILE_READ_AT
#undef ARGS_FILE_READ_BEGIN
#undef ARGS_FILE_WRITE
#undef ARGS_FILE_WRITE_AT
#undef ARGS_FILE_WRITE_BEGIN
#undef ARGS_IRECV
#undef ARGS_ISEND
#undef ARGS_SEND
#undef ARGS_STATUS_COUNT
#undef ARGS_TYPE_HVECTOR
#undef ARGS_WIN_ALLOCATE
#undef ARGUMENTS_ALLTOALLV
#undef ARGUMENTS_ALLTOALLW
#undef ARGUMENTS_BCAST
#undef ARGUMENTS_GATHER
#undef ARGUMENTS_GATHERV
#undef ARGUMENTS_GATHERV_ALL
#undef ARGUMENTS_GATHER_ALL
#undef ARGUMENTS_NEIGHBORW
#undef ARGUMENTS_REDUCE
#undef ARGUMENTS_REDUCE_ALL
#undef ARGUMENTS_REDUCE_PARTS
#undef ARGUMENTS_SCATTERV
#undef COLLECTIVES
#undef PERSISTENT
#undef PROTOTYPE_ALLTOALLV
#undef PROTOTYPE_ALLTOALLW
#undef PROTOTYPE_BCAST
#undef PROTOTYPE_GATHER
#undef PROTOTYPE_GATHERV
#undef PROTOTYPE_GATHERV_ALL
#undef PROTOTYPE_GATHER_ALL
#undef PROTOTYPE_NEIGHBORW
#undef PROTOTYPE_REDUCE
#undef PROTOTYPE_REDUCE_ALL
#undef PROTOTYPE_REDUCE_PARTS
#undef PROTOTYPE_SCATTERV
#undef ROW
/* clang-format on */
