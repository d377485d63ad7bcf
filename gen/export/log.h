/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of an event log as viewers need them: with ranks in MPI_COMM_WORLD and with names. States are cut at
 * the ends of a time window. */
#ifndef HPCW_GEN_EXPORT_LOG_H
#define HPCW_GEN_EXPORT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/export/export.h"

struct gen_log;

/* An event. The letter is that of Chrome's format: B and E for begin and end of a state, i for a solo event, s
 * and f for send and receive of a message. */
struct gen_log_entry {
    char letter;
    uint64_t ns;
    int64_t rank; /* rank in MPI_COMM_WORLD */
    int32_t thread;
    /* communicator; if the log's table has several entries for one communicator, all get the same number */
    int32_t comm;
    const char *name;    /* printable ASCII, without quotes and backslashes */
    uint64_t definition; /* number of the state or the event */
    const char *format;
    const unsigned char *cargo; /* [32]; NULL: none */
    int64_t peer;               /* rank of the peer in MPI_COMM_WORLD */
    /* peer_comm: communicator in which the peer is; peer_in_comm: rank of the peer there */
    int32_t peer_comm, peer_in_comm;
    int32_t tag;
    uint64_t bytes;
    /* number of a message, from 1; 0: gen_log_run did not match messages */
    uint64_t number;
};

/* Receives an event. A result other than HPCW_OK ends the run. */
typedef hpcw_status gen_log_put(void *context, const struct gen_log_entry *e, hpcw_error *err);

/* Checks the window. HPCW_EINVAL: the range of times or ranks ends before it begins; the messages are the same
 * as those of hpcw_clog2_reader_select. */
hpcw_status gen_log_check(const char *path, const struct gen_export *what, hpcw_error *err);

/* Opens a log and reads its definitions once. HPCW_ENOMEM, and errors of the reader. */
hpcw_status gen_log_open(const char *path, struct gen_log **out, hpcw_error *err);
void gen_log_free(struct gen_log *log);

/* gen_log_ranks: returns the number of ranks in the preamble.
 * gen_log_threads: returns the largest number of threads of a rank in the records. */
uint32_t gen_log_ranks(const struct gen_log *log);
uint32_t gen_log_threads(const struct gen_log *log);

/* Returns the ranks that have records, ascending. They may be fewer than those in the preamble. */
const uint32_t *gen_log_present(const struct gen_log *log, size_t *count);

/* Sets *warning if times of the log go back, or if calls of gen_log_run found the end of a state that never
 * began. See read_clog2_warn. */
void gen_log_warn(const struct gen_log *log, hpcw_error *warning);

/* Fails for too many ranks, as read_clog2_bound_ranks does. */
hpcw_status gen_log_bound_ranks(const struct gen_log *log, hpcw_error *err);

/* Iterates over all members of all communicators, in no order. *at starts at 0. Returns false after the last
 * one. */
bool gen_log_member(const struct gen_log *log, size_t *at, int32_t *comm, uint32_t *rank, uint32_t *world);

/* Reads the log and calls `put`, in order, for the events of some ranks in a time window. A state that is open
 * at the begin of the window begins there; a state that is open at the end of the window ends there. With
 * `match`, send and receive of a message have the same number. May be called again.
 *
 * Fails as gen_log_check, with HPCW_ENOMEM, and with errors of the reader and of `put`. */
hpcw_status gen_log_run(struct gen_log *log, const struct gen_export *what, bool match, gen_log_put *put,
                        void *context, hpcw_error *err);

#endif
