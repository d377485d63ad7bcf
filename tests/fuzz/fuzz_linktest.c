/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything the LinkTest reader can do with arbitrary bytes. */
#include <stdlib.h>

#include "libreader/linktest/linktest.h"
#include "tests/fuzz/images.h"

static void demand(bool good) {
    if (!good) {
        abort();
    }
}

static void read_all(struct hpcw_i_linktest_reader *reader) {
    const struct hpcw_i_linktest_info *info = hpcw_i_linktest_reader_info(reader);
    hpcw_error err;
    uint32_t hosts;
    uint64_t payload;
    demand(info->permutations >= 1);
    if (hpcw_i_linktest_reader_totals(reader, &hosts, &payload, &err) == HPCW_OK) {
        demand(hosts >= 1 && hosts <= info->tasks);
    }
    double *time = calloc(info->tasks, sizeof *time), all_to_all;
    uint64_t *partner = calloc(info->tasks, sizeof *partner);
    demand(time != NULL && partner != NULL);
    for (uint64_t p = 0; p < info->permutations && p < 4; p++) {
        struct hpcw_i_linktest_summary summary;
        struct hpcw_i_linktest_slow slow;
        demand(hpcw_i_linktest_reader_summary(reader, p, &summary, &err) == HPCW_OK);
        for (uint64_t i = 0; i < info->retests; i++) {
            demand(hpcw_i_linktest_reader_slow(reader, p, i, 1, &slow, &err) == HPCW_OK);
        }
        for (uint32_t r = 0; r < info->tasks && r < 16; r++) {
            (void)hpcw_i_linktest_reader_row(reader, r, p, time, partner, &all_to_all, &err);
        }
    }
    free(time);
    free(partner);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct hpcw_i_sion_image images[FUZZ_IMAGES];
    struct hpcw_i_linktest_reader *reader;
    hpcw_error err;
    uint32_t count = fuzz_split(data, size, images);
    if (count == 0 || hpcw_i_linktest_reader_open_memory(images, count, &reader, &err) != HPCW_OK) {
        return 0;
    }
    read_all(reader);
    hpcw_status loose = hpcw_i_linktest_reader_verify(reader, 0, &err);
    hpcw_status strict = hpcw_i_linktest_reader_verify(reader, HPCW_I_SION_STRICT | HPCW_I_SION_GAPS, &err);
    demand(strict != HPCW_OK || loose == HPCW_OK);
    demand(strict == HPCW_OK || (err.code == strict && err.message[0] != '\0'));
    hpcw_i_linktest_reader_free(reader);
    return 0;
}
