/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives all processes the same status, and checks that all were called with the same values. For the calls at the
 * begin and end of a phase (open, layout, finish), never for each write. All calls are collective. */
#ifndef HPCW_COMM_AGREE_H
#define HPCW_COMM_AGREE_H

#include "libwriter/comm/comm.h"

/*
 * Every process brings its own status `mine`; a process that failed also brings its message in `*err`. All
 * processes return the status of the lowest process that failed, with that process's message and number in `*err`.
 * If no process failed, all return HPCW_OK. `err` may be NULL.
 *
 * `words`, which may be NULL, are at most 64 words that are reduced in the same call. They are changed only if the
 * result is HPCW_OK.
 */
hpcw_status hpcw_i_agree(hpcw_comm *comm, hpcw_status mine, struct hpcw_i_words *words, hpcw_error *err);

/* A value that must be the same on all processes: a text, or a number if `text` is NULL. */
struct hpcw_i_same {
    const char *name;
    uint64_t number;
    const char *words; /* names of the numbers 0, 1, ..., separated by spaces; NULL: no names */
    const char *text;  /* NULL: the value is `number` */
};

/*
 * Does what hpcw_i_agree does, and also compares `count` values. If no process failed and a value differs, all
 * return HPCW_EMISMATCH with the message "ABOUT: expected the same NAME on all processes, got X on process 0 and Y
 * on process P". P is the lowest process that differs from process 0 in the first value that differs. Comparing the
 * values costs no further reduction, unless one differs. `same` has the same rows on all processes, and is not read
 * if `mine` is a failure.
 */
hpcw_status hpcw_i_agree_same(hpcw_comm *comm, hpcw_status mine, const char *about,
                              const struct hpcw_i_same *same, size_t count, struct hpcw_i_words *words,
                              hpcw_error *err);

/* Shares the message of a failure. By a reduction of the caller, all processes know already that `process`
 * failed. That process passes its status and message, and all processes return them. */
hpcw_status hpcw_i_share_failure(hpcw_comm *comm, int process, hpcw_status mine, hpcw_error *err);

#endif
