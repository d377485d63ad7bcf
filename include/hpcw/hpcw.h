/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * hpcw: rank-aware writers and readers for the file formats of parallel programs.
 *
 * Many HPC formats hold the data of thousands of ranks in one file, or in one tree of files. This library writes
 * them, from one process for all ranks, from one process per rank, or anything between. The bytes are the same.
 *
 *   header       what it writes
 *   -----------  -------------------------------------------------------------------------------
 *   sion.h       SION containers: the private byte streams of many tasks in one or a few files
 *   linktest.h   LinkTest 2.1.17 results: N x N communication timings inside a SION container
 *   vom.h        vt's load-balancing data (LBDatafile): tasks and messages of a rank, JSON, plain or brotli
 *   clog2.h      CLOG-2 event logs of MPE2: the events of all ranks, in order of time, for Jumpshot
 *   clog2_log.h  the same, recorded by a running program
 *   rank2file.h  SCR checkpoints: the leveled map of files, summary and index; and restarts from them
 *   kvtree.h     KVTree files, which contain all of these
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
 *   sink.h       where bytes go: a file, a shared file, memory, nothing; through brotli
 *   comm.h       who writes or reads: one process (no MPI needed) or many (mpi.h, libhpcw_mpi)
 *
 * Rules that hold everywhere:
 *
 * - Calls return an hpcw_status, 0 or negative, and describe the first failure in an optional hpcw_error.
 *   The library never prints or exits.
 * - What `open` returns is finished by `close`, which reports, and released by `free`, which is silent, accepts
 *   NULL, and may be called in any state. After a failure a handle returns HPCW_ESTATE until it is freed.
 * - Inputs are borrowed for the call. Out parameters are NULL after a failure.
 * - No file has the name of its target before `close` succeeds.
 * - Collective calls are marked so; they must be made by all processes of the communicator, and return the same
 *   status and message on all of them.
 * - Options are a struct. Its `..._options_init` fills in the defaults; set what differs after that. The init also
 *   sets the first member, the size of the struct. So a later version of the library can add options at the end of
 *   the struct, and programs need not be compiled again. Structs inside other structs do not grow.
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
