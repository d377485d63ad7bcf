/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of an event log as viewers expect them: by ranks in the world, with names, cut at the ends of a window. */
#ifndef HPCW_GEN_EXPORT_LOG_H
#define HPCW_GEN_EXPORT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/export/export.h"

struct gen_log;

/* An entry. Its letter is Chrome's: B and E for a state, i for a solo event, s and f for the ends of a message. */
struct gen_log_entry {
    char letter;
    uint64_t ns;
    int64_t rank; /* rank in the world */
    int32_t thread;
    int32_t comm;                    /* communicator; all entries of the table for it have the same number */
    const char *name;                /* printable ASCII, without quotes and backslashes */
    uint64_t definition;             /* number of the state or the event */
    const char *format;              /* format of its cargo */
    const unsigned char *cargo;      /* [32]; NULL: none */
    int64_t peer;                    /* rank of the peer in the world */
    int32_t peer_comm, peer_in_comm; /* the peer as communicator and rank */
    int32_t tag;                     /* tag of a message */
    uint64_t bytes;                  /* size of a message */
    /* number of a message, from 1; 0: gen_log_run did not match messages */
    uint64_t number;
};

/* Receives an entry. A result other than HPCW_OK ends the run. */
typedef hpcw_status gen_log_put(void *context, const struct gen_log_entry *e, hpcw_error *err);

/* Checks the window of time and ranks. HPCW_EINVAL: it ends before it begins. The messages are those of
 * hpcw_clog2_reader_select. */
hpcw_status gen_log_check(const char *path, const struct gen_export *what, hpcw_error *err);

/* Opens a log and reads its definitions once. HPCW_ENOMEM, and errors of the reader. */
hpcw_status gen_log_open(const char *path, struct gen_log **out, hpcw_error *err);
void gen_log_free(struct gen_log *log);

/* gen_log_ranks: number of ranks in the preamble. gen_log_threads: most threads of a rank in the records. */
uint32_t gen_log_ranks(const struct gen_log *log);
uint32_t gen_log_threads(const struct gen_log *log);

/* Returns the ranks that have records, ascending. They may be fewer than the preamble says. */
const uint32_t *gen_log_present(const struct gen_log *log, size_t *count);

/* Sets *warning as read_clog2_warn does, from the times of the whole log and from all runs so far. */
void gen_log_warn(const struct gen_log *log, hpcw_error *warning);

/* Checks the number of ranks as read_clog2_bound_ranks does. */
hpcw_status gen_log_bound_ranks(const struct gen_log *log, hpcw_error *err);

/* Iterates over all members of all communicators, in no order. *at starts at 0. Returns false after the last
 * one. */
bool gen_log_member(const struct gen_log *log, size_t *at, int32_t *comm, uint32_t *rank, uint32_t *world);

/* Reads the log and calls `put`, in order, for the entries of some ranks in a time window. States that are open
 * at the begin of the window begin there; states open at its end end there. With `match`, both ends of a message
 * have the same number. May be called again.
 *
 * Fails as gen_log_check, with HPCW_ENOMEM, and with errors of the reader and of `put`. */
hpcw_status gen_log_run(struct gen_log *log, const struct gen_export *what, bool match, gen_log_put *put,
                        void *context, hpcw_error *err);

#endif
