/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * hpcw: rank-aware writers and readers for the file formats of parallel programs.
 *
 * Many HPC formats hold the data of thousands of ranks in one file, or in one tree of files. This library writes
 * such files from one process for all ranks, from one process per rank, or anything in between. The bytes are the
 * same.
 *
 *   header       what it writes
 *   -----------  -------------------------------------------------------------------------------
 *   sion.h       SION containers: the private byte streams of many tasks in one or a few files
 *   linktest.h   LinkTest 2.1.17 results: N x N communication timings inside a SION container
 *   vom.h        vt's load-balancing data (LBDatafile): tasks and messages of a rank, JSON, plain or brotli
 *   clog2.h      CLOG-2 event logs of MPE2: the events of all ranks, in order of time, for Jumpshot
 *   clog2_log.h  CLOG-2 event logs that a running program records
 *   rank2file.h  SCR checkpoints: the map of the data files, summary and index; and restarts from checkpoints
 *   kvtree.h     KVTree files, the file format of maps, summaries and indices
 *
 *   header           what it reads
 *   ---------------  ---------------------------------------------------------------------------
 *   sion_read.h      SION containers, also those of SIONlib, on any number of processes
 *   linktest_read.h  LinkTest results: the header, hosts, a row at a time
 *   clog2_read.h     CLOG-2 event logs: records, states and messages, a profile
 *   vom_read.h       vt's load-balancing data: tasks and messages of a rank, phase by phase
 *
 * and below them
 *
 *   status.h     status codes and the error record
 *   sink.h       destinations of bytes: a file, a shared file, memory, nothing; through brotli
 *   comm.h       processes that write or read: one process (no MPI needed) or many (mpi.h, libhpcw_mpi)
 *
 * Rules that hold everywhere:
 *
 * - Calls return an hpcw_status, 0 or negative, and describe the first failure in an optional hpcw_error.
 *   The library never prints or exits.
 * - `open` returns a handle. `close` finishes the handle and reports failures. `free` releases the handle; it is
 *   silent, accepts NULL, and may be called in any state. A wrong call (codes -1 to -9 in status.h) does not change
 *   the handle. After any other failure of a writer, its close fails, and its other calls may return HPCW_ESTATE.
 * - Inputs are borrowed for the call. Out parameters are NULL after a failure.
 * - No file has the name of its target before `close` succeeds.
 * - The comment of a collective call says "Collective". All processes of the communicator must make such a call,
 *   also a process on which an earlier call failed: otherwise the others wait for it. The call returns the same
 *   status and message on all processes.
 * - Options are a struct. Its `..._options_init` fills in the defaults; the program then sets what differs. The
 *   init also sets the first member, the size of the struct. So a later version of the library can add options at
 *   the end of the struct, and programs need not be compiled again. Structs inside other structs do not grow.
 * - Distinct handles are independent. Each call says what may run on several threads.
 */
#ifndef HPCW_HPCW_H
#define HPCW_HPCW_H

#include <hpcw/clog2.h>
#include <hpcw/clog2_log.h>
#include <hpcw/clog2_read.h>
#include <hpcw/comm.h>
#include <hpcw/kvtree.h>
#include <hpcw/linktest.h>
#include <hpcw/linktest_read.h>
#include <hpcw/rank2file.h>
#include <hpcw/sink.h>
#include <hpcw/sion.h>
#include <hpcw/sion_read.h>
#include <hpcw/status.h>
#include <hpcw/version.h>
#include <hpcw/vom.h>
#include <hpcw/vom_read.h>

#endif
