/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures of particles: records of 38 bytes that begin with a position of three f32 (HACC-IO). */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libreader/sion/sion.h"
#include "libwriter/base/bytes.h"
#include "tests/realism/figures.h"

enum { RECORD = 38, CELLS = 4, SLABS = 8, MOST_RANKS = 64, AT_ONCE = 4096 };

/* Particles of a rank: counts in the cells of its box, and in slabs along z, the last dimension. */
struct box {
    bool full;
    double low[3], high[3];
    double cell[CELLS * CELLS * CELLS];
    double slab[SLABS];
    double count;
};

typedef void take_position(struct box *b, const double at[3]);

static void widen(struct box *b, const double at[3]) {
    for (int i = 0; i < 3; i++) {
        b->low[i] = b->full ? fmin(b->low[i], at[i]) : at[i];
        b->high[i] = b->full ? fmax(b->high[i], at[i]) : at[i];
    }
    b->full = true;
}

static int part(double x, double low, double high, int parts) {
    const int k = high > low ? (int)((x - low) / (high - low) * parts) : 0;
    return k < parts ? k : parts - 1;
}

static void place(struct box *b, const double at[3]) {
    int cell = 0;
    for (int i = 0; i < 3; i++) {
        cell = cell * CELLS + part(at[i], b->low[i], b->high[i], CELLS);
    }
    b->cell[cell]++;
    b->slab[part(at[2], b->low[2], b->high[2], SLABS)]++;
    b->count++;
}

static hpcw_status each(struct read_sion *r, const struct read_sion_task *t, take_position *take, struct box *b,
                        hpcw_error *err) {
    static unsigned char bytes[AT_ONCE * RECORD];
    hpcw_status s = HPCW_OK;
    for (uint64_t at = 0; s == HPCW_OK && at + RECORD <= t->size;) {
        const uint64_t left = (t->size - at) / RECORD;
        const size_t n = left < AT_ONCE ? (size_t)left : AT_ONCE;
        s = read_sion_read(r, t, at, bytes, n * RECORD, err);
        for (size_t i = 0; s == HPCW_OK && i < n; i++) {
            double position[3];
            for (int k = 0; k < 3; k++) {
                const uint32_t bits = hpcw_i_get_u32(bytes + i * RECORD + 4 * (size_t)k, false);
                float x;
                memcpy(&x, &bits, sizeof x);
                position[k] = (double)x;
            }
            take(b, position);
        }
        at += n * RECORD;
    }
    return s;
}

/* Returns whether box b continues box a along z: it begins where a ends, and has the same x and y range. */
static bool continues(const struct box *a, const struct box *b) {
    bool same = fabs(a->high[2] - b->low[2]) < 0.05 * (a->high[2] - a->low[2]);
    for (int i = 0; i < 2; i++) {
        same = same && fabs(a->low[i] - b->low[i]) < 0.05 * (a->high[i] - a->low[i]);
    }
    return same && a->full && b->full;
}

struct particle_figures {
    double dispersion, boxes;
    /* sums and numbers of squared changes of ln(density) along z: inside boxes, and from box to box */
    double inside, insides, border, borders;
};

static void add_box(struct particle_figures *g, const struct box *b) {
    const double cells = CELLS * CELLS * CELLS;
    const double mean = b->count / cells;
    double squares = 0;
    for (int i = 0; i < (int)cells; i++) {
        squares += (b->cell[i] - mean) * (b->cell[i] - mean);
    }
    if (mean >= 4) {
        g->dispersion += squares / (cells - 1) / mean;
        g->boxes++;
    }
    for (int i = 1; i < SLABS; i++) {
        if (b->slab[i] > 0 && b->slab[i - 1] > 0) {
            const double step = log(b->slab[i] / b->slab[i - 1]);
            g->inside += step * step;
            g->insides++;
        }
    }
}

static void add_border(struct particle_figures *g, const struct box *a, const struct box *b) {
    const double below = a->slab[SLABS - 1] / (a->high[2] - a->low[2]);
    const double above = b->slab[0] / (b->high[2] - b->low[2]);
    if (below > 0 && above > 0) {
        const double step = log(above / below);
        g->border += step * step;
        g->borders++;
    }
}

hpcw_status figures_particles(const char *path, struct dataset *d, hpcw_error *err) {
    struct read_sion *r;
    hpcw_status s = read_sion_open(path, &r, err);
    if (s != HPCW_OK) {
        return s;
    }
    struct particle_figures g = {0};
    struct stats_pairs load = {0};
    struct box *box = stats_alloc(2, sizeof *box);
    const uint32_t ranks = read_sion_tasks(r);
    for (uint32_t rank = 0; s == HPCW_OK && rank < ranks; rank++) {
        struct read_sion_task t;
        s = read_sion_find(r, rank, &t, err);
        if (s == HPCW_OK && rank < d->ranks && d->rank_load != NULL && t.size > 0 && d->rank_load[rank] > 0) {
            stats_pair(&load, log((double)t.size), log(d->rank_load[rank]));
        }
        if (s == HPCW_OK && rank < MOST_RANKS) {
            struct box *b = &box[rank % 2];
            memset(b, 0, sizeof *b);
            s = each(r, &t, widen, b, err);
            s = s == HPCW_OK ? each(r, &t, place, b, err) : s;
            if (s == HPCW_OK) {
                add_box(&g, b);
                if (rank > 0 && continues(&box[(rank + 1) % 2], b)) {
                    add_border(&g, &box[(rank + 1) % 2], b);
                }
            }
        }
    }
    if (s == HPCW_OK) {
        if (g.boxes > 0) {
            figure("particles.dispersion", g.dispersion / g.boxes,
                   "particles in the cells of a rank: variance over mean; 1: Poisson");
        }
        if (g.borders > 0 && g.insides > 0 && g.inside > 0) {
            figure("particles.border", sqrt(g.border / g.borders / (g.inside / g.insides)),
                   "density between neighbouring slabs: %.2g of ln across the border of two ranks, %.2g inside",
                   sqrt(g.border / g.borders), sqrt(g.inside / g.insides));
        }
        if (load.n > 2) {
            figure("particles.load_correlation", stats_correlation(&load),
                   "ranks: correlation of ln(particles) and ln(load)");
        }
    }
    free(box);
    read_sion_free(r);
    return s;
}
