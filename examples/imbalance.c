/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints how uneven the load of the ranks is in each phase: ./imbalance lb_data/data.*.json */
#include <inttypes.h>
#include <stdio.h>

#include <hpcw/hpcw.h>

enum { MOST_PHASES = 10000 };

struct phase {
    uint64_t id;
    double sum, max; /* load, seconds: sum over all ranks; load of the busiest rank */
    int busiest;     /* index of the file of the busiest rank */
    int files;       /* number of files that have the phase */
};

struct loads {
    int file;
    double rank_s; /* load of the current rank and phase, seconds */
    uint64_t phases;
    struct phase phase[MOST_PHASES];
};

static hpcw_status begin_phase(void *context, uint64_t number) {
    struct loads *all = context;
    all->rank_s = 0;
    return number < MOST_PHASES ? HPCW_OK : HPCW_ERANGE; /* a failure ends reading */
}

static hpcw_status add_task(void *context, const hpcw_vom_task *task) {
    struct loads *all = context;
    all->rank_s += task->time_s;
    return HPCW_OK;
}

static hpcw_status end_phase(void *context, const hpcw_vom_section *section) {
    struct loads *all = context;
    struct phase *phase = &all->phase[section->number];
    if (section->number == all->phases) {
        *phase = (struct phase){.id = section->id, .max = -1};
        all->phases++;
    }
    if (phase->id != section->id)
        return HPCW_EFORMAT; /* the ranks have different phases */
    phase->sum += all->rank_s;
    phase->files++;
    if (all->rank_s > phase->max) {
        phase->max = all->rank_s;
        phase->busiest = all->file;
    }
    return HPCW_OK;
}

int main(int argc, char **argv) {
    static struct loads all;
    const hpcw_vom_watch watch = {
        .context = &all, .begin_phase = begin_phase, .task = add_task, .end_phase = end_phase};
    hpcw_error error;
    hpcw_status status = HPCW_OK;
    if (argc < 2) {
        fprintf(stderr, "usage: imbalance FILE...\n");
        return 2;
    }
    for (all.file = 1; status == HPCW_OK && all.file < argc; all.file++) {
        hpcw_vom_reader *reader;
        status = hpcw_vom_reader_open(argv[all.file], &reader, &error);
        if (status == HPCW_OK)
            status = hpcw_vom_reader_watch(reader, UINT64_MAX, &watch, &error);
        hpcw_vom_reader_free(reader);
    }
    for (uint64_t i = 0; status == HPCW_OK && i < all.phases; i++) {
        const struct phase *phase = &all.phase[i];
        double mean = phase->sum / phase->files;
        printf("phase %" PRIu64 ": mean %.6f s, imbalance %.1f %%, most in %s\n", phase->id, mean,
               mean > 0 ? 100 * (phase->max / mean - 1) : 0, argv[phase->busiest]);
    }
    if (status != HPCW_OK)
        fprintf(stderr, "%s: %s\n", hpcw_status_name(status), error.message);
    return status == HPCW_OK ? 0 : 1;
}
