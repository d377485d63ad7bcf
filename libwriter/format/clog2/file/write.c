/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a log in one call. */
#include <hpcw/clog2.h>

#include "libwriter/base/options.h"
#include "libwriter/base/status.h"

/* Fills in an entry of the table of communicators: entry 0 is the world, entry 1 + r is that of rank r alone. */
static void world_and_ranks(void *context, uint32_t index, hpcw_clog2_comm_entry *entry) {
    (void)context;
    *entry = (hpcw_clog2_comm_entry){.id.random = 1 + (int32_t)index, .index = (int32_t)index, .kind = 1};
}

static hpcw_status introduce_ranks(hpcw_clog2_slice *slice, uint32_t ranks, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (int32_t rank = 0; s == HPCW_OK && rank < (int32_t)ranks; rank++) {
        hpcw_clog2_comm_entry world, own;
        world_and_ranks(NULL, 0, &world);
        world_and_ranks(NULL, 1 + (uint32_t)rank, &own);
        const hpcw_clog2_record records[] = {
            {.rank = rank,
             .kind = HPCW_CLOG2_COMM_EVENT,
             .as.comm = {HPCW_CLOG2_WORLD_CREATE, world.index, rank, rank, &world.id}},
            {.rank = rank,
             .kind = HPCW_CLOG2_COMM_EVENT,
             .as.comm = {HPCW_CLOG2_SELF_CREATE, own.index, 0, rank, &own.id}},
        };
        s = hpcw_clog2_slice_put(slice, records, sizeof records / sizeof records[0], err);
    }
    return s;
}

hpcw_status hpcw_clog2_write(const char *path, const hpcw_clog2_options *options,
                             const hpcw_clog2_record *record, size_t count, hpcw_error *err) {
    if (options == NULL || (record == NULL && count > 0)) {
        return hpcw_i_fail(err, HPCW_EINVAL, "clog2: expected options and records, got NULL");
    }
    hpcw_clog2_options o;
    hpcw_clog2_options_init(&o);
    hpcw_status s = hpcw_i_options_take(&o, sizeof o, options, "hpcw_clog2_options", err);
    if (s != HPCW_OK) {
        return s;
    }
    const bool introduce = o.comm_of == NULL;
    if (introduce) {
        o.comms = 1 + o.ranks;
        o.comm_of = world_and_ranks;
    }
    hpcw_clog2 *log = NULL;
    hpcw_clog2_slice *slice = NULL;
    s = hpcw_clog2_open(path, NULL, &o, &log, err);
    if (s == HPCW_OK) {
        s = hpcw_clog2_slice_new(log, 0, &slice, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_clog2_slice_place(slice, 0, err);
    }
    if (s == HPCW_OK && introduce) {
        s = introduce_ranks(slice, o.ranks, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_clog2_slice_put(slice, record, count, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_clog2_slice_end(slice, HPCW_CLOG2_LAST, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_clog2_close(log, hpcw_clog2_slice_blocks(slice), err);
    }
    hpcw_clog2_slice_free(slice);
    hpcw_clog2_free(log);
    return s;
}
