/* SPDX-License-Identifier: BSD-3-Clause */
/* <hpcw/linktest_read.h>: the public reader. It checks rows and lists when the caller gets them, even if the
 * result was not verified. */
#include <hpcw/linktest_read.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "libreader/linktest/private.h"
#include "libreader/linktest/public.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

_Static_assert(HPCW_LINKTEST_READER_HOST_SIZE == READ_LINKTEST_MOST_HOST, "any host name that is read fits");

/* PIECE: entries of a slow list that are read and converted at a time.
 * ROW_PIECE: words of a row that are read at a time. A large number saves system calls. */
enum { PIECE = 512, ROW_PIECE = 4096 };

struct hpcw_linktest_reader {
    struct read_linktest *r;
};

hpcw_status read_linktest_publish(struct read_linktest *r, hpcw_linktest_reader **out, hpcw_error *err) {
    *out = hpcw_i_calloc(1, sizeof **out);
    if (*out == NULL) {
        hpcw_status status = hpcw_i_fail_memory(err, r->name, 0, NULL);
        read_linktest_free(r);
        return status;
    }
    (*out)->r = r;
    return HPCW_OK;
}

hpcw_status hpcw_linktest_reader_open(const char *path, hpcw_linktest_reader **out, hpcw_error *err) {
    if (out != NULL) {
        *out = NULL;
    }
    if (out == NULL || path == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "linktest: %s: expected a pointer, got NULL",
                           out == NULL ? "handle" : "path");
    }
    struct read_linktest *r;
    hpcw_status status = read_linktest_open(path, &r, err);
    return status == HPCW_OK ? read_linktest_publish(r, out, err) : status;
}

void hpcw_linktest_reader_free(hpcw_linktest_reader *reader) {
    if (reader != NULL) {
        read_linktest_free(reader->r);
        hpcw_i_free(reader);
    }
}

const hpcw_linktest_info *hpcw_linktest_reader_info(const hpcw_linktest_reader *reader) {
    return reader == NULL ? NULL : &reader->r->info;
}

/* Checks the arguments: handle, result pointer, rank and permutation. */
static hpcw_status check(const hpcw_linktest_reader *reader, const void *result, uint32_t rank,
                         uint64_t permutation, hpcw_error *err) {
    if (reader == NULL || result == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "linktest: %s: expected a pointer, got NULL",
                           reader == NULL ? "handle" : "result");
    }
    if (rank >= reader->r->info.tasks) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a rank below %" PRIu32 ", got %" PRIu32,
                           reader->r->name, reader->r->info.tasks, rank);
    }
    if (permutation >= reader->r->info.permutations) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a permutation below %" PRIu64 ", got %" PRIu64,
                           reader->r->name, reader->r->info.permutations, permutation);
    }
    return HPCW_OK;
}

hpcw_status hpcw_linktest_reader_host(hpcw_linktest_reader *reader, uint32_t rank, char *host, int32_t *core,
                                      hpcw_error *err) {
    hpcw_status status = check(reader, core == NULL ? NULL : host, rank, 0, err);
    return status == HPCW_OK ? read_linktest_host(reader->r, rank, host, core, err) : status;
}

/* ---- rows ---- */

static hpcw_status take_times(const struct read_linktest *r, const struct read_sion_task *task, uint64_t at,
                              size_t count, double *time, hpcw_error *err) {
    hpcw_status status = read_linktest_words(r, task, at, count, time, err);
    for (size_t i = 0; status == HPCW_OK && i < count; i++) {
        if (!read_linktest_is_time(read_linktest_bits(time[i]))) {
            status = read_linktest_wrong(r, task, at + 8 * i, err,
                                         "timing: expected a finite number > 0, got %.17g", time[i]);
        }
    }
    return status;
}

static hpcw_status take_partners(const struct read_linktest *r, const struct read_sion_task *task, uint64_t at,
                                 const uint64_t *word, size_t count, uint32_t *partner, hpcw_error *err) {
    for (size_t i = 0; i < count; i++) {
        partner[i] = (uint32_t)word[i];
        if (word[i] >= r->info.tasks || (int64_t)word[i] == task->rank) {
            return read_linktest_wrong(r, task, at + 8 * i, err,
                                       "partner: expected another rank below %" PRIu32 ", got %" PRIu64,
                                       r->info.tasks, word[i]);
        }
    }
    return HPCW_OK;
}

hpcw_status hpcw_linktest_reader_row(hpcw_linktest_reader *reader, uint32_t rank, uint64_t permutation,
                                     double *time_s, uint32_t *partner, double *all_to_all_s, hpcw_error *err) {
    hpcw_status status = check(reader, reader, rank, permutation, err);
    if (status != HPCW_OK) {
        return status;
    }
    struct read_linktest *r = reader->r;
    struct read_sion_task task;
    uint64_t word[ROW_PIECE], times = 0;
    status = read_linktest_row_find(r, rank, permutation, &task, &times, err);
    if (status != HPCW_OK) {
        return status;
    }
    /* First come N - 1 slots for times, then N - 1 slots for partners. The bisection test does not use the last
     * slots of the times, nor those of the partners. */
    uint64_t partners = times + 8 * (uint64_t)(r->info.tasks - 1);
    for (uint32_t first = 0; status == HPCW_OK && first < r->info.steps; first += ROW_PIECE) {
        uint64_t at = 8 * (uint64_t)first;
        size_t count = r->info.steps - first < ROW_PIECE ? r->info.steps - first : ROW_PIECE;
        if (time_s != NULL) {
            status = take_times(r, &task, times + at, count, time_s + first, err);
        }
        if (partner != NULL && status == HPCW_OK) {
            status = read_linktest_words(r, &task, partners + at, count, word, err);
            status = status == HPCW_OK
                         ? take_partners(r, &task, partners + at, word, count, partner + first, err)
                         : status;
        }
    }
    if (all_to_all_s != NULL && status == HPCW_OK) {
        uint64_t at = partners + 8 * (uint64_t)(r->info.tasks - 1);
        size_t count = r->all_to_all != 0 ? 1 : 0;
        *all_to_all_s = 0;
        status = take_times(r, &task, at, count, all_to_all_s, err);
    }
    return status;
}

hpcw_status hpcw_linktest_reader_matrix(hpcw_linktest_reader *reader, uint64_t permutation, uint32_t first,
                                        uint32_t count, double *time_s, hpcw_error *err) {
    hpcw_status status = check(reader, time_s, first, permutation, err);
    if (status != HPCW_OK) {
        return status;
    }
    const uint32_t tasks = reader->r->info.tasks;
    const uint32_t steps = reader->r->info.steps;
    if (count > tasks - first) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: expected rows of %" PRIu32 " tasks, got %" PRIu32 " + %" PRIu32,
                           reader->r->name, tasks, first, count);
    }
    double *time = hpcw_i_malloc(steps * (sizeof *time + sizeof(uint32_t)));
    if (time == NULL) {
        return hpcw_i_fail_memory(err, reader->r->name, steps, "timings");
    }
    uint32_t *partner = (uint32_t *)(time + steps);
    for (uint32_t i = 0; status == HPCW_OK && i < count; i++, time_s += tasks) {
        status = hpcw_linktest_reader_row(reader, first + i, permutation, time, partner, NULL, err);
        for (uint32_t k = 0; k < tasks; k++) {
            time_s[k] = NAN;
        }
        for (uint32_t k = 0; status == HPCW_OK && k < steps; k++) {
            time_s[partner[k]] = time[k];
        }
    }
    hpcw_i_free(time);
    return status;
}

/* ---- summaries ---- */

static hpcw_status check_summary(const struct read_linktest *r, uint64_t permutation,
                                 const struct read_linktest_summary *s, hpcw_error *err) {
    if (!read_linktest_is_date(s->start) || !read_linktest_is_date(s->end)) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: start and end time of permutation %" PRIu64
                           ": expected texts and zeros, 32 bytes each, got \"%.32s\" and \"%.32s\"",
                           r->name, permutation, s->start, s->end);
    }
    const double times[] = {s->min, s->avg, s->max, s->all_to_all_min, s->all_to_all_avg, s->all_to_all_max};
    for (size_t i = 0; i < (r->all_to_all != 0 ? 6u : 3u); i++) {
        if (!read_linktest_is_time(read_linktest_bits(times[i]))) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: summary of permutation %" PRIu64 ": expected finite numbers > 0, got %.17g",
                               r->name, permutation, times[i]);
        }
    }
    return HPCW_OK;
}

hpcw_status hpcw_linktest_reader_totals(hpcw_linktest_reader *reader, uint64_t permutation,
                                        hpcw_linktest_totals *totals, hpcw_error *err) {
    struct read_linktest_summary s;
    hpcw_status status = check(reader, totals, 0, permutation, err);
    if (status == HPCW_OK) {
        status = read_linktest_summary(reader->r, permutation, &s, err);
    }
    if (status == HPCW_OK) {
        status = check_summary(reader->r, permutation, &s, err);
    }
    if (status == HPCW_OK) {
        *totals = (hpcw_linktest_totals){
            .min_s = s.min,
            .avg_s = s.avg,
            .max_s = s.max,
            .all_to_all_min_s = s.all_to_all_min,
            .all_to_all_avg_s = s.all_to_all_avg,
            .all_to_all_max_s = s.all_to_all_max,
        };
        memcpy(totals->start, s.start, sizeof totals->start);
        memcpy(totals->end, s.end, sizeof totals->end);
    }
    return status;
}

hpcw_status hpcw_linktest_reader_slowest(hpcw_linktest_reader *reader, uint64_t permutation, uint64_t first,
                                         size_t count, hpcw_linktest_connection *connection, hpcw_error *err) {
    struct read_linktest_slow slow[PIECE + 1];
    hpcw_status status = check(reader, count == 0 ? (const void *)reader : connection, 0, permutation, err);
    if (status == HPCW_OK && (first > reader->r->info.retests || count > reader->r->info.retests - first)) {
        status = hpcw_i_fail(err, HPCW_EINVAL,
                             "%s: expected entries of a slow list of %" PRIu64 ", got %" PRIu64 " + %zu",
                             reader->r->name, reader->r->info.retests, first, count);
    }
    for (size_t i = 0; status == HPCW_OK && i < count; i += PIECE) {
        size_t part = count - i < PIECE ? count - i : PIECE;
        /* Also read the entry before these, to check their order: slowest first. */
        size_t before = first + i > 0 ? 1 : 0;
        status = read_linktest_slow(reader->r, permutation, first + i - before, before + part, slow, err);
        if (status == HPCW_OK) {
            status =
                read_linktest_slow_check(reader->r, permutation, first + i - before, slow, before + part, err);
        }
        for (size_t k = 0; status == HPCW_OK && k < part; k++) {
            const struct read_linktest_slow *s = &slow[before + k];
            connection[i + k] = (hpcw_linktest_connection){
                .time_s = s->original, .retest_s = s->retest, .from = (uint32_t)s->from, .to = (uint32_t)s->to};
        }
    }
    return status;
}
