/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls all functions of the LinkTest reader with arbitrary bytes. */
#include <stdlib.h>
#include <string.h>

#include "libreader/linktest/linktest.h"
#include "libreader/linktest/public.h"
#include "tests/fuzz/images.h"

static void read_all(struct read_linktest *reader) {
    const hpcw_linktest_info *info = read_linktest_info(reader);
    hpcw_error err;
    uint32_t hosts;
    uint64_t payload;
    demand(info->permutations >= 1);
    if (read_linktest_totals(reader, &hosts, &payload, &err) == HPCW_OK) {
        demand(hosts >= 1 && hosts <= info->tasks);
    }
    double *time = calloc(info->tasks, sizeof *time), all_to_all;
    uint64_t *partner = calloc(info->tasks, sizeof *partner);
    demand(time != NULL && partner != NULL);
    for (uint64_t p = 0; p < info->permutations && p < 4; p++) {
        struct read_linktest_summary summary;
        struct read_linktest_slow slow;
        demand(read_linktest_summary(reader, p, &summary, &err) == HPCW_OK);
        for (uint64_t i = 0; i < info->retests; i++) {
            demand(read_linktest_slow(reader, p, i, 1, &slow, &err) == HPCW_OK);
        }
        for (uint32_t r = 0; r < info->tasks && r < 16; r++) {
            (void)read_linktest_row(reader, r, p, time, partner, &all_to_all, &err);
        }
    }
    free(time);
    free(partner);
}

/* Checks what the public reader promises about rows and lists. */
static void read_rows(hpcw_linktest_reader *reader) {
    const hpcw_linktest_info *info = hpcw_linktest_reader_info(reader);
    double *time = calloc(info->steps, sizeof *time);
    uint32_t *partner = calloc(info->steps, sizeof *partner);
    hpcw_error err;
    demand(time != NULL && partner != NULL);
    for (uint64_t p = 0; p < info->permutations && p < 4; p++) {
        hpcw_linktest_totals totals;
        if (hpcw_linktest_reader_totals(reader, p, &totals, &err) == HPCW_OK) {
            demand(totals.start[0] != '\0' && totals.end[0] != '\0' && totals.min_s > 0 && totals.avg_s > 0 &&
                   totals.max_s > 0 && (totals.all_to_all_max_s > 0) == info->all_to_all);
        }
        for (uint32_t r = 0; r < info->tasks && r < 16; r++) {
            char host[HPCW_LINKTEST_READER_HOST_SIZE];
            int32_t core;
            if (p == 0 && hpcw_linktest_reader_host(reader, r, host, &core, &err) == HPCW_OK) {
                demand(core >= 0 && host[0] > ' ' && strlen(host) < sizeof host);
            }
            bool good = hpcw_linktest_reader_row(reader, r, p, time, partner, NULL, &err) == HPCW_OK;
            for (uint32_t s = 0; good && s < info->steps; s++) {
                demand(time[s] > 0 && partner[s] < info->tasks && partner[s] != r);
            }
        }
        hpcw_linktest_connection slow;
        for (uint64_t i = 0; i < info->retests; i++) {
            if (hpcw_linktest_reader_slowest(reader, p, i, 1, &slow, &err) == HPCW_OK) {
                demand(slow.from < info->tasks && slow.to < info->tasks && slow.from != slow.to &&
                       slow.time_s > 0 && slow.retest_s > 0);
            }
        }
    }
    free(time);
    free(partner);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct read_sion_image images[FUZZ_IMAGES];
    struct read_linktest *reader;
    hpcw_error err;
    uint32_t count = fuzz_split(data, size, images);
    if (count == 0 || read_linktest_open_memory(images, count, &reader, &err) != HPCW_OK) {
        return 0;
    }
    read_all(reader);
    hpcw_status loose = read_linktest_verify(reader, 0, &err);
    hpcw_status strict = read_linktest_verify(reader, READ_SION_STRICT | READ_SION_GAPS, &err);
    demand(strict != HPCW_OK || loose == HPCW_OK);
    demand(strict == HPCW_OK || (err.code == strict && err.message[0] != '\0'));
    hpcw_linktest_reader *published;
    demand(read_linktest_publish(reader, &published, &err) == HPCW_OK);
    read_rows(published);
    hpcw_linktest_reader_free(published);
    return 0;
}
