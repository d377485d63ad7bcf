/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the partners of each step. The full test uses the circle method. Rank 0 is fixed; the other m = N - 1
 * ranks are on a circle as x = rank - 1. In step s, with l = s + 1, x meets y = (-2l - x) mod m, or rank 0 if y =
 * x. For N = 4, 6, 8 and 16 this is the access pattern of LinkTest 1.2. See doc/formats/linktest.md, "Meaning of
 * the numbers".
 */
#include <inttypes.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/rng.h"
#include "libwriter/base/status.h"
#include "libwriter/format/linktest/params.h"

struct hpcw_linktest_schedule {
    uint32_t tasks;
    uint32_t steps;
    bool bisection;
    uint32_t *step;    /* [steps] step of the unshuffled schedule that becomes step s; NULL: the same step */
    uint32_t *rank_of; /* [tasks] rank that has each number in the schedule; NULL: the rank is the number */
    uint32_t *number;  /* [tasks] number of each rank, the inverse of `rank_of` */
    uint32_t item[];   /* memory of these arrays */
};

static uint32_t plain_partner(const hpcw_linktest_schedule *p, uint32_t number, uint32_t step) {
    if (p->bisection) {
        uint32_t half = p->tasks / 2;
        return number < half ? half + (number + step) % half : (number - half + half - step) % half;
    }
    uint64_t m = p->tasks - 1;
    uint64_t l = (uint64_t)step + 1; /* 1 .. m */
    if (number == 0) {
        return (uint32_t)((m - l) % m + 1);
    }
    uint64_t x = number - 1;
    uint64_t y = (3 * m - 2 * l - x) % m;
    return y == x ? 0 : (uint32_t)y + 1;
}

uint32_t hpcw_linktest_partner(const hpcw_linktest_schedule *p, uint32_t rank, uint32_t step) {
    if (p->step != NULL) {
        step = p->step[step];
    }
    if (p->rank_of == NULL) {
        return plain_partner(p, rank, step);
    }
    return p->rank_of[plain_partner(p, p->number[rank], step)];
}

/* Finds the partners of a rank in all steps of the unshuffled schedule. From step to step the partner moves down
 * the circle by 2, so no step needs a division or another step's partner. */
static void plain_circle(const hpcw_linktest_schedule *p, uint32_t rank, uint32_t *partner) {
    uint32_t m = p->tasks - 1;
    if (rank == 0) {
        for (uint32_t s = 0; s < m; s++) {
            partner[s] = m - s; /* (-l) mod m + 1, which is m - s for every s */
        }
        return;
    }
    uint32_t x = rank - 1;
    uint32_t y = (uint32_t)((3 * (uint64_t)m - 2 - x) % m);
    for (uint32_t s = 0; s < m;) {
        uint32_t down = y / 2 + 1; /* number of steps until y would fall below 0 */
        uint32_t n = down < m - s ? down : m - s;
        for (uint32_t k = 0; k < n; k++) {
            partner[s + k] = y - 2 * k + 1;
        }
        if (y >= x && (y - x) % 2 == 0 && (y - x) / 2 < n) {
            partner[s + (y - x) / 2] = 0; /* x would meet itself */
        }
        y = y + m - 2 * n;
        s += n;
    }
}

void hpcw_linktest_partners(const hpcw_linktest_schedule *p, uint32_t rank, uint32_t *partner) {
    if (!p->bisection && p->step == NULL && p->rank_of == NULL && p->tasks > 2) {
        plain_circle(p, rank, partner);
        return;
    }
    for (uint32_t s = 0; s < p->steps; s++) {
        partner[s] = hpcw_linktest_partner(p, rank, s);
    }
}

static void number(uint32_t *item, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        item[i] = i;
    }
}

hpcw_status hpcw_linktest_schedule_new(const hpcw_linktest_params *params, uint64_t permutation,
                                       hpcw_linktest_schedule **out, hpcw_error *err) {
    if (out == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "linktest schedule: expected a pointer for it, got NULL");
    }
    *out = NULL;
    hpcw_status s = hpcw_linktest_params_check(params, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (permutation >= hpcw_linktest_permutations(params) || permutation > UINT32_MAX) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "linktest schedule: expected a permutation below %" PRIu64 ", got %" PRIu64,
                           hpcw_linktest_permutations(params), permutation);
    }
    uint32_t n = params->tasks;
    uint32_t p = (uint32_t)permutation;
    uint32_t steps = hpcw_linktest_steps(params);
    size_t items = (params->randomize_steps ? steps : 0) + (params->permutations > 0 ? 2 * (size_t)n : 0);
    hpcw_linktest_schedule *made = hpcw_i_malloc(sizeof *made + items * sizeof made->item[0]);
    if (made == NULL) {
        return hpcw_i_fail_memory(err, "linktest schedule", n, "tasks");
    }
    *made = (hpcw_linktest_schedule){.tasks = n, .steps = steps, .bisection = params->bisection};
    if (params->randomize_steps) {
        made->step = made->item;
        number(made->step, steps);
        hpcw_i_shuffle(made->step, steps, params->step_seed, HPCW_I_FOR_STEPS, p, 0);
    }
    if (params->permutations > 0) {
        made->rank_of = made->item + items - 2 * (size_t)n;
        made->number = made->rank_of + n;
        number(made->rank_of, n);
        uint32_t group = params->bisection ? n / 2 : n; /* each half is shuffled separately */
        for (uint32_t first = 0; first < n; first += group) {
            hpcw_i_shuffle(made->rank_of + first, group, params->task_seed, HPCW_I_FOR_TASKS, p, first);
        }
        for (uint32_t i = 0; i < n; i++) {
            made->number[made->rank_of[i]] = i;
        }
    }
    *out = made;
    return HPCW_OK;
}

void hpcw_linktest_schedule_free(hpcw_linktest_schedule *schedule) {
    hpcw_i_free(schedule);
}
