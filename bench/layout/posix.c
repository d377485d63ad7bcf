/* SPDX-License-Identifier: BSD-3-Clause */
/* Files written by plain writes: one file per rank, one file for all ranks, and the ceiling of every layout, which
 * writes the same bytes in large pieces. */
#include "bench/layout/layout.h"
#include "libwriter/base/status.h"

#define ALL_MODES (1u << BENCH_BUFFERED | 1u << BENCH_FSYNC | 1u << BENCH_DIRECT | 1u << BENCH_PREALLOCATED)

static hpcw_status put(struct bench_work *w, uint32_t rank, uint64_t at, const void *data, size_t size,
                       hpcw_error *err) {
    const struct bench_spot *spot = &w->spot[rank];
    return bench_file_write(&w->file[spot->file - w->first_file], spot->offset + at, data, size, err);
}

static hpcw_status write_records(struct bench_work *w, hpcw_error *err) {
    return bench_work_write(w, put, err);
}

/* Writes the bytes of this process in large pieces, as the ceiling. The stamps in the data have the number of the
 * file instead of the rank, since data of the ceiling are never read back. */
static hpcw_status write_extents(struct bench_work *w, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && !bench_work_stops(w) && i < w->extents; i++) {
        const struct bench_extent *x = &w->extent[i];
        for (uint64_t at = 0; s == HPCW_OK && at < x->size && !bench_work_stops(w); at += BENCH_PIECE) {
            size_t n = (size_t)(x->size - at < BENCH_PIECE ? x->size - at : BENCH_PIECE);
            bench_data_stamp(w->data, x->file, x->offset + at, n);
            s = bench_file_write(&w->file[x->file - w->first_file], x->offset + at, w->data->source, n, err);
            w->written += s == HPCW_OK ? n : 0;
        }
    }
    return s;
}

#define STEPS(write)                                                                                           \
    { bench_work_open, write, bench_work_flush, bench_work_close }

const struct bench_layout_row bench_row_task_local = {.modes = ALL_MODES, .step = STEPS(write_records)};
const struct bench_layout_row bench_row_shared_posix = {.modes = ALL_MODES, .step = STEPS(write_records)};
const struct bench_layout_row bench_row_plain = {.modes = ALL_MODES, .step = STEPS(write_extents)};
