/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of an event log as viewers want them: by ranks of the world, with names, cut at the ends of a window. */
#ifndef HPCW_GEN_EXPORT_LOG_H
#define HPCW_GEN_EXPORT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/export/export.h"

struct gen_log;

/* One entry, with Chrome's letter: B and E of a state, i for a solo event, s and f for the ends of a message. */
struct gen_log_entry {
    char letter;
    uint64_t ns;
    int64_t rank; /* of the world */
    int32_t thread;
    int32_t comm;                    /* communicator; the same number for each name of it */
    const char *name;                /* printable ASCII, without quotes and backslashes */
    uint64_t definition;             /* of the state or the event */
    const char *format;              /* of its cargo */
    const unsigned char *cargo;      /* [32]; NULL: none */
    int64_t peer;                    /* of the world */
    int32_t peer_comm, peer_in_comm; /* the same as communicator and rank */
    int32_t tag;                     /* of a message */
    uint64_t bytes;                  /* of a message */
    uint64_t number;                 /* of a message, from 1; 0: gen_log_run did not match messages */
};

/* Takes an entry. What it returns instead of HPCW_OK ends the run. */
typedef hpcw_status gen_log_put(void *context, const struct gen_log_entry *e, hpcw_error *err);

/* HPCW_EINVAL for an empty window of time or ranks. */
hpcw_status gen_log_check(const struct gen_export *what, hpcw_error *err);

/* Opens a log and reads its definitions, once. HPCW_ENOMEM, errors of the reader. */
hpcw_status gen_log_open(const char *path, struct gen_log **out, hpcw_error *err);
void gen_log_free(struct gen_log *log);

/* Numbers of ranks, as the preamble says, and of threads of a rank at most, as the records do. */
uint32_t gen_log_ranks(const struct gen_log *log);
uint32_t gen_log_threads(const struct gen_log *log);

/* The ranks that have records, ascending. They may be fewer than the preamble says. */
const uint32_t *gen_log_present(const struct gen_log *log, size_t *count);

/* As read_clog2_warn, by the times of the whole log and the entries of all runs. */
void gen_log_warn(const struct gen_log *log, hpcw_error *warning);

/* As read_clog2_bound_ranks. */
hpcw_status gen_log_bound_ranks(const struct gen_log *log, hpcw_error *err);

/* All members of all communicators, in no order: *at starts at 0. False after the last. */
bool gen_log_member(const struct gen_log *log, size_t *at, int32_t *comm, uint32_t *rank, uint32_t *world);

/*
 * Reads the log and calls `put` for the entries of some ranks in a window of time, in their order: states that are open
 * then begin at its beginning and end at its end. With `match`, both ends of a message have the same number. May be called
 * again.
 *
 * As gen_log_check, HPCW_ENOMEM, errors of the reader and of `put`.
 */
hpcw_status gen_log_run(struct gen_log *log, const struct gen_export *what, bool match, gen_log_put *put,
                        void *context, hpcw_error *err);

#endif
