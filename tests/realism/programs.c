/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures of the logs of single programs: wave.lua, noise.lua and across.lua. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libreader/clog2/clog2.h"
#include "tests/realism/figures.h"

/* Calls `take` for each state of a log. */
static hpcw_status each_state(const char *path, void (*take)(void *, const struct read_clog2_stretch *),
                              void *context, uint32_t *ranks, hpcw_error *err) {
    struct read_clog2 *reader;
    hpcw_status s = read_clog2_open(path, &reader, err);
    if (s != HPCW_OK) {
        return s;
    }
    *ranks = read_clog2_info(reader)->ranks;
    s = read_clog2_watch(reader, &(struct read_clog2_watch){.context = context, .state = take}, err);
    read_clog2_free(reader);
    return s;
}

/* ---- a delay that travels along a chain of ranks ---- */

enum { MOST_RANKS = 1 << 16, NEVER = UINT32_MAX };

struct wave_figures {
    double delay;      /* longest piece of work, seconds */
    uint32_t source;   /* rank with the longest piece of work */
    uint32_t *waits;   /* [MOST_RANKS] number of waits so far */
    uint32_t *reached; /* [MOST_RANKS] number of waits before the first long wait; NEVER: none is long */
};

static void take_work(void *context, const struct read_clog2_stretch *s) {
    struct wave_figures *g = context;
    if (strcmp(s->name, "Compute") == 0 && s->to - s->from > g->delay) {
        g->delay = s->to - s->from;
        g->source = s->rank;
    }
}

static void take_wait(void *context, const struct read_clog2_stretch *s) {
    struct wave_figures *g = context;
    if (strcmp(s->name, "MPI_Waitall") != 0 || s->rank >= MOST_RANKS) {
        return;
    }
    if (g->reached[s->rank] == NEVER && s->to - s->from > 0.5 * g->delay) {
        g->reached[s->rank] = g->waits[s->rank];
    }
    g->waits[s->rank]++;
}

/* Follows the wave of delay in one direction, from the neighbour of its source on. Returns how many ranks the wave
 * passes at a speed of one rank per iteration. */
static uint32_t follow(const struct wave_figures *g, uint32_t ranks, int direction) {
    uint32_t reach = 0;
    for (int64_t r = (int64_t)g->source + direction; r >= 0 && r < (int64_t)ranks; r += direction, reach++) {
        const uint32_t first = g->reached[(int64_t)g->source + direction];
        if (first == NEVER || g->reached[r] != first + reach) {
            break;
        }
    }
    return reach;
}

hpcw_status figures_wave(const char *path, hpcw_error *err) {
    uint32_t ranks;
    struct wave_figures g = {.waits = stats_alloc(MOST_RANKS, sizeof *g.waits),
                             .reached = stats_alloc(MOST_RANKS, sizeof *g.reached)};
    for (uint32_t r = 0; r < MOST_RANKS; r++) {
        g.reached[r] = NEVER;
    }
    hpcw_status s = each_state(path, take_work, &g, &ranks, err);
    s = s == HPCW_OK ? each_state(path, take_wait, &g, &ranks, err) : s;
    if (s == HPCW_OK) {
        const uint32_t down = follow(&g, ranks, -1);
        const uint32_t up = follow(&g, ranks, 1);
        figure("wave.reach", down < up ? down : up,
               "the delay of rank %" PRIu32 " moves by one rank in each iteration up to the %" PRIu32
               "th lower and the %" PRIu32 "th higher one",
               g.source, down, up);
    }
    free(g.waits);
    free(g.reached);
    return s;
}

/* ---- equal pieces of work ---- */

/* A piece of work was interrupted if it takes longer than the shortest piece by more than this time. Timers resolve
 * shorter times. */
#define LEAST_INTERRUPTION_S 1e-6

struct noise_figures {
    double *shortest, *longest; /* [MOST_RANKS] shortest and longest piece of each rank, seconds; 0: none */
    double work, lost;          /* sums over all ranks, seconds */
    uint64_t interrupted;       /* number of interrupted pieces */
};

static void take_piece(void *context, const struct read_clog2_stretch *s) {
    struct noise_figures *g = context;
    if (strcmp(s->name, "Compute") != 0 || s->rank >= MOST_RANKS) {
        return;
    }
    double *shortest = &g->shortest[s->rank];
    double *longest = &g->longest[s->rank];
    *shortest = *shortest > 0 ? fmin(*shortest, s->to - s->from) : s->to - s->from;
    *longest = fmax(*longest, s->to - s->from);
}

static void take_loss(void *context, const struct read_clog2_stretch *s) {
    struct noise_figures *g = context;
    if (strcmp(s->name, "Compute") == 0 && s->rank < MOST_RANKS) {
        const double lost = s->to - s->from - g->shortest[s->rank];
        g->work += s->to - s->from;
        g->lost += lost;
        g->interrupted += lost > LEAST_INTERRUPTION_S;
    }
}

static void put_noise(struct noise_figures *g, uint32_t ranks) {
    double least = INFINITY;
    double most = 0;
    for (uint32_t r = 0; r < ranks; r++) {
        least = fmin(least, g->shortest[r]);
        most = fmax(most, g->shortest[r]);
        g->longest[r] -= g->shortest[r];
    }
    figure("noise.processors", most / least - 1,
           "the same work takes up to %.2g %% longer on some ranks than on others", 100 * (most / least - 1));
    figure("noise.interruptions", (double)g->interrupted / g->work, "interruptions of a rank in a second");
    figure("noise.share", g->lost / g->work, "share of the time that interruptions take");
    figure("noise.longest_us", 1e6 * stats_median(g->longest, ranks),
           "the longest interruption of a rank, median of the ranks, us");
}

hpcw_status figures_noise(const char *path, hpcw_error *err) {
    uint32_t ranks;
    struct noise_figures g = {.shortest = stats_alloc(MOST_RANKS, sizeof *g.shortest),
                              .longest = stats_alloc(MOST_RANKS, sizeof *g.longest)};
    hpcw_status s = each_state(path, take_piece, &g, &ranks, err);
    s = s == HPCW_OK ? each_state(path, take_loss, &g, &ranks, err) : s;
    if (s == HPCW_OK) {
        put_noise(&g, ranks < MOST_RANKS ? ranks : MOST_RANKS);
    }
    free(g.shortest);
    free(g.longest);
    return s;
}

/* ---- messages across the machine ---- */

struct across_figures {
    double end; /* end of the last exchange, seconds */
    /* total time of the exchanges in the second half of the run, seconds */
    double time;
    uint64_t exchanges;
};

static bool is_exchange(const struct read_clog2_stretch *s) {
    return strcmp(s->name, "MPI_Sendrecv") == 0;
}

static void take_end(void *context, const struct read_clog2_stretch *s) {
    struct across_figures *g = context;
    g->end = is_exchange(s) ? fmax(g->end, s->to) : g->end;
}

static void take_exchange(void *context, const struct read_clog2_stretch *s) {
    struct across_figures *g = context;
    if (is_exchange(s) && s->from > g->end / 2) {
        g->time += s->to - s->from;
        g->exchanges++;
    }
}

hpcw_status figures_across(const char *path, hpcw_error *err) {
    uint32_t ranks;
    struct across_figures g = {0};
    hpcw_status s = each_state(path, take_end, &g, &ranks, err);
    s = s == HPCW_OK ? each_state(path, take_exchange, &g, &ranks, err) : s;
    if (s == HPCW_OK) {
        figure("across.exchange_us", 1e6 * g.time / (double)g.exchanges,
               "an exchange in the second half of the run, mean, us");
    }
    return s;
}
