/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/export/linktest.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <hpcw/linktest_read.h>

#include "gen/export/text.h"
#include "gen/spec/stream.h"
#include "libwriter/base/bytes.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

struct linktest_export {
    const struct gen_export *what;
    struct gen_stream out;
    hpcw_linktest_reader *reader;
    uint32_t tasks, steps;
    uint32_t first, end; /* rows */
    double *time;        /* [steps] */
    uint32_t *partner;   /* [steps] */
    double *row;         /* [tasks] */
};

static bool add(struct linktest_export *x, const char *text) {
    return hpcw_i_buf_append_str(&x->out.buf, text);
}

/* ---- headings ---- */

/* Format version 1.0 of NumPy: magic, version, length of the rest, and a Python dictionary; a multiple of 64 bytes with its
 * blanks and line feed. */
static bool add_npy_header(struct linktest_export *x) {
    enum { SIZE = 128, MAGIC = 10 };
    char header[SIZE + 1];
    memset(header, ' ', sizeof header);
    memcpy(header, "\x93NUMPY\x01", 8); /* and the NUL: 1.0 */
    header[8] = SIZE - MAGIC;
    header[9] = 0;
    int n = snprintf(header + MAGIC, SIZE - MAGIC,
                     "{'descr': '<f8', 'fortran_order': False, 'shape': (%" PRIu32 ", %" PRIu32 "), }",
                     x->end - x->first, x->tasks);
    header[MAGIC + n] = ' ';
    header[SIZE - 1] = '\n';
    return hpcw_i_buf_append(&x->out.buf, header, SIZE);
}

static bool add_heading(struct linktest_export *x) {
    if (x->what->form == GEN_EXPORT_NPY) {
        return add_npy_header(x);
    }
    bool good = add(x, "rank,host,core");
    for (uint32_t k = 0; good && x->what->form == GEN_EXPORT_CSV && k < x->tasks; k++) {
        good = add(x, ",") && gen_export_u64(&x->out.buf, k);
    }
    return good && add(x, "\n");
}

/* ---- rows ---- */

static hpcw_status take_row(struct linktest_export *x, uint32_t rank, hpcw_error *err) {
    hpcw_status s =
        hpcw_linktest_reader_row(x->reader, rank, x->what->permutation, x->time, x->partner, NULL, err);
    for (uint32_t k = 0; k < x->tasks; k++) {
        x->row[k] = NAN;
    }
    for (uint32_t k = 0; s == HPCW_OK && k < x->steps; k++) {
        x->row[x->partner[k]] = x->time[k];
    }
    return s;
}

static bool add_npy_row(struct linktest_export *x) {
    struct hpcw_i_buf *b = &x->out.buf;
    if (!hpcw_i_buf_reserve(b, 8 * (size_t)x->tasks)) {
        return false;
    }
    for (uint32_t k = 0; k < x->tasks; k++) {
        hpcw_i_put_f64(b->data + b->size, x->row[k], false);
        b->size += 8;
    }
    return true;
}

static bool add_csv_row(struct linktest_export *x) {
    bool good = true;
    for (uint32_t k = 0; good && k < x->tasks; k++) {
        good = add(x, ",") && (isnan(x->row[k]) || gen_export_f64(&x->out.buf, x->row[k]));
    }
    return good;
}

static hpcw_status put_row(struct linktest_export *x, uint32_t rank, hpcw_error *err) {
    char host[HPCW_LINKTEST_READER_HOST_SIZE];
    int32_t core;
    const bool times = x->what->form != GEN_EXPORT_HOSTS, csv = x->what->form != GEN_EXPORT_NPY;
    hpcw_status s = times ? take_row(x, rank, err) : HPCW_OK;
    if (s == HPCW_OK && csv) {
        s = hpcw_linktest_reader_host(x->reader, rank, host, &core, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    bool good = csv ? gen_export_u64(&x->out.buf, rank) && add(x, ",") &&
                          gen_export_quoted(&x->out.buf, host) && add(x, ",") &&
                          gen_export_u64(&x->out.buf, (uint64_t)core) && (!times || add_csv_row(x)) &&
                          add(x, "\n")
                    : add_npy_row(x);
    return good ? gen_stream_flush(&x->out, GEN_STREAM_PIECE, err) : gen_export_no_memory(err);
}

static hpcw_status put_rows(struct linktest_export *x, hpcw_error *err) {
    if (!add_heading(x)) {
        return gen_export_no_memory(err);
    }
    if (x->what->measure && x->what->form == GEN_EXPORT_NPY) {
        x->out.at = x->out.buf.size + 8 * (uint64_t)(x->end - x->first) * x->tasks;
        return HPCW_OK;
    }
    hpcw_status s = HPCW_OK;
    for (uint32_t r = x->first; s == HPCW_OK && r < x->end; r++) {
        s = put_row(x, r, err);
    }
    return s == HPCW_OK ? gen_stream_flush(&x->out, 0, err) : s;
}

static hpcw_status begin(struct linktest_export *x, const char *path, hpcw_error *err) {
    const struct gen_export *what = x->what;
    const hpcw_linktest_info *info = hpcw_linktest_reader_info(x->reader);
    if (what->first_rank > what->last_rank || what->first_rank >= info->tasks) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected ranks of 0 to %" PRIu32 ", got %u to %u", path,
                           info->tasks - 1, what->first_rank, what->last_rank);
    }
    if (what->permutation >= info->permutations) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: --permutation: expected one below %" PRIu64 ", got %" PRIu64,
                           path, info->permutations, what->permutation);
    }
    x->tasks = info->tasks;
    x->steps = info->steps;
    x->first = what->first_rank;
    x->end = what->last_rank < info->tasks ? what->last_rank + 1 : info->tasks;
    x->time = hpcw_i_malloc(x->steps * sizeof *x->time);
    x->partner = hpcw_i_malloc(x->steps * sizeof *x->partner);
    x->row = hpcw_i_malloc(x->tasks * sizeof *x->row);
    return x->time == NULL || x->partner == NULL || x->row == NULL ? gen_export_no_memory(err) : HPCW_OK;
}

static hpcw_status run(const char *path, const struct gen_export *what, hpcw_sink *sink,
                       struct gen_exported *done, hpcw_error *err) {
    struct linktest_export x = {.what = what, .out = {.sink = sink}};
    *done = (struct gen_exported){.items = "rows"};
    hpcw_status s = hpcw_linktest_reader_open(path, &x.reader, err);
    s = s == HPCW_OK ? begin(&x, path, err) : s;
    s = s == HPCW_OK ? put_rows(&x, err) : s;
    done->count = x.end - x.first;
    done->bytes = x.out.at;
    hpcw_i_buf_free(&x.out.buf);
    hpcw_i_free(x.row);
    hpcw_i_free(x.partner);
    hpcw_i_free(x.time);
    hpcw_linktest_reader_free(x.reader);
    return s;
}

const struct gen_exporter gen_export_linktest = {
    .offer = {{GEN_EXPORT_CSV, GEN_EXPORT_NPY, GEN_EXPORT_HOSTS}, {"first-rank", "last-rank", "permutation"}},
    .run = run};
