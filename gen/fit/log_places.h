/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the iterations of a program end, from the calls of its ranks. A place in the program is known by the last three calls
 * that a rank has made, and by whom it sends to in them. The places of an iteration recur after about as many calls each time.
 * Whatever else the program does now and then changes nothing, and neighbours need not make the same calls.
 */
#ifndef HPCW_GEN_FIT_LOG_PLACES_H
#define HPCW_GEN_FIT_LOG_PLACES_H

#include <stdbool.h>

#include <hpcw/status.h>

#include "libwriter/base/table.h"

enum { GEN_FIT_LOG_LEVELS = 3 };

/* Where a rank is. Zeroed: it has made no call. */
struct gen_fit_log_walk {
    uint64_t place[GEN_FIT_LOG_LEVELS]; /* from the last call, from the one before it, too, and from three */
    uint64_t call[2];                   /* the last ones */
    uint64_t sent;                      /* to whom, in the last message */
    uint64_t met[2];                    /* the last collective calls */
    bool sends;                         /* a message, in the call that has not ended */
    bool apart;                         /* there was another call after them */
    uint32_t calls, ended;              /* calls up to the end of an iteration: set by who looks for it */
};

void gen_fit_log_send(struct gen_fit_log_walk *w, uint32_t peer, int32_t tag);
void gen_fit_log_call(struct gen_fit_log_walk *w, uint32_t state, bool for_all);

/* Which calls are a good end of an iteration: those that wait for others, best for all. */
enum gen_fit_log_waits { GEN_FIT_LOG_NEVER, GEN_FIT_LOG_FOR_SOME, GEN_FIT_LOG_FOR_ALL };

/* The places of all ranks, with what came after them. */
struct gen_fit_log_places {
    struct hpcw_i_table place;     /* rank, place -> what is known of it */
    struct gen_fit_log_walk *walk; /* [ranks] */
    uint32_t ranks;
};

hpcw_status gen_fit_log_places_init(struct gen_fit_log_places *p, uint32_t ranks, hpcw_error *err);
void gen_fit_log_places_free(struct gen_fit_log_places *p);

/* A rank has made a call. False when memory runs out; it takes up to 200 MiB. */
bool gen_fit_log_places_add(struct gen_fit_log_places *p, uint32_t rank, uint32_t state,
                            enum gen_fit_log_waits waits, double seconds);

/* The iterations of a rank: the place where they end; after how many calls the first one begins and ends; how many calls it has;
 * and how many iterations there are. */
struct gen_fit_log_iterations {
    uint64_t place;
    uint32_t begin, first, length, count;
};

/* Whether the last call ended an iteration. */
bool gen_fit_log_ends(const struct gen_fit_log_walk *w, const struct gen_fit_log_iterations *of);

/*
 * Iterations are what happens most often among what recurs regularly. Where ranks wait for others ends one, and of several such
 * places that after which they compute longest. All ranks end them with the same call if there is one.
 * of[ranks]; a count of 0: nothing recurs. HPCW_ENOMEM.
 */
hpcw_status gen_fit_log_iterations(const struct gen_fit_log_places *p, struct gen_fit_log_iterations *of,
                                   hpcw_error *err);

/* One iteration that ends with each rank's last call. False if a rank makes none, or so many that some should recur. */
bool gen_fit_log_whole(const struct gen_fit_log_places *p, struct gen_fit_log_iterations *of);

#endif
