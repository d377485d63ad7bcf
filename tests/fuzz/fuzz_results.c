/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads arbitrary text as the results of a sweep. Accepted results can be compared with themselves. */
#include <stdlib.h>

#include "bench/report/compare.h"
#include "tests/fuzz/images.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bench_results *r = malloc(sizeof *r);
    hpcw_error err = {.message = ""};
    demand(r != NULL);
    hpcw_status s = bench_results_parse(r, "input", (const char *)data, size, &err);
    demand(s == HPCW_OK || (s == err.code && err.message[0] != '\0' && r->points == 0));
    if (s == HPCW_OK) {
        struct bench_comparison c;
        s = bench_compare(r, r, &c, &err);
        for (size_t i = 0; s == HPCW_OK && i < c.pairs; i++) {
            const struct bench_change *change = &c.pair[i].change;
            demand(change->change == 0 && change->low <= 0 && change->high >= 0 && change->seen > 0);
            demand(!c.pair[i].other_size);
        }
        demand(s == HPCW_OK || err.message[0] != '\0');
        bench_comparison_free(&c);
        bench_results_free(r);
    }
    free(r);
    return 0;
}
