/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the ten ranks whose messages took longest on average: ./slowest pingpong_results_bin.sion */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <hpcw/hpcw.h>

struct rank {
    uint32_t number;
    double mean; /* seconds */
};

static int slower_first(const void *a, const void *b) {
    const struct rank *x = a, *y = b;
    return x->mean != y->mean ? (x->mean > y->mean ? -1 : 1) : x->number < y->number ? -1 : 1;
}

static hpcw_status mean_of(hpcw_linktest_reader *reader, uint32_t number, double *time_s, struct rank *rank,
                           hpcw_error *error) {
    uint32_t steps = hpcw_linktest_reader_info(reader)->steps;
    double sum = 0;
    hpcw_status status = hpcw_linktest_reader_row(reader, number, 0, time_s, NULL, NULL, error);
    for (uint32_t step = 0; status == HPCW_OK && step < steps; step++)
        sum += time_s[step];
    *rank = (struct rank){number, sum / steps};
    return status;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: slowest RESULT\n");
        return 2;
    }
    hpcw_error error;
    hpcw_linktest_reader *reader;
    hpcw_status status = hpcw_linktest_reader_open(argv[1], &reader, &error);
    uint32_t tasks = status == HPCW_OK ? hpcw_linktest_reader_info(reader)->tasks : 0;
    double *time_s = malloc((tasks + 1) * sizeof *time_s);
    struct rank *rank = malloc((tasks + 1) * sizeof *rank);
    if (status == HPCW_OK && (time_s == NULL || rank == NULL)) {
        status = HPCW_ENOMEM;
        snprintf(error.message, sizeof error.message, "%s: expected memory for %" PRIu32 " tasks", argv[1],
                 tasks);
    }
    for (uint32_t i = 0; status == HPCW_OK && i < tasks; i++)
        status = mean_of(reader, i, time_s, &rank[i], &error);
    if (status == HPCW_OK)
        qsort(rank, tasks, sizeof *rank, slower_first);
    for (uint32_t i = 0; status == HPCW_OK && i < tasks && i < 10; i++) {
        char host[HPCW_LINKTEST_READER_HOST_SIZE];
        int32_t core;
        status = hpcw_linktest_reader_host(reader, rank[i].number, host, &core, &error);
        if (status == HPCW_OK)
            printf("rank %" PRIu32 " on %s, core %" PRId32 ": %.3f us\n", rank[i].number, host, core,
                   1e6 * rank[i].mean);
    }
    if (status != HPCW_OK)
        fprintf(stderr, "%s: %s\n", hpcw_status_name(status), error.message);
    hpcw_linktest_reader_free(reader);
    free(time_s);
    free(rank);
    return status == HPCW_OK ? 0 : 1;
}
