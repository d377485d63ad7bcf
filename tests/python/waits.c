/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the waits of each rank as the generator's C library finds them: count and ns of each kind, and ns
 * caused on other ranks. */
#include <inttypes.h>
#include <stdio.h>

#include "gen/waits/waits.h"

int main(int argc, char **argv) {
    struct gen_waits waits;
    hpcw_error err;
    if (argc != 2 || gen_waits_read(argv[1], &waits, &err) != HPCW_OK) {
        (void)fprintf(stderr, "%s\n", argc == 2 ? err.message : "waits LOG");
        return 1;
    }
    for (uint32_t r = 0; r < waits.ranks; r++) {
        for (int k = 0; k < GEN_WAITS_KINDS; k++) {
            (void)printf("%" PRIu64 " %" PRIu64 " ", waits.rank[r].kind[k].count,
                         waits.rank[r].kind[k].time_ns);
        }
        (void)printf("%" PRIu64 "\n", waits.rank[r].caused_ns);
    }
    gen_waits_free(&waits);
    return 0;
}
