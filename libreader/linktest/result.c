/* SPDX-License-Identifier: BSD-3-Clause */
/* LinkTest 2.1.17 results: open, and the parts of a stream (doc/formats/linktest.md, "Summary" and "Data"). */
#include "libreader/linktest/linktest.h"

#include <inttypes.h>
#include <string.h>

#include "libreader/linktest/private.h"
#include "libwriter/base/bytes.h"
#include "libwriter/base/hash.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/base/table.h"

static hpcw_status open_on(struct read_sion *sion, struct read_linktest **out, hpcw_error *err) {
    *out = NULL;
    hpcw_status status;
    struct read_linktest *r = hpcw_i_calloc(1, sizeof *r);
    if (r == NULL) {
        status = hpcw_i_fail_memory(err, read_sion_name(sion), 0, NULL);
        read_sion_free(sion);
        return status;
    }
    r->sion = sion;
    r->name = read_sion_name(sion);
    status = read_linktest_header(r, err);
    if (status == HPCW_OK) {
        struct read_linktest_head head;
        status = read_linktest_head_of(r, &r->task0, &head, err);
    }
    if (status != HPCW_OK) {
        read_linktest_free(r);
        r = NULL;
    }
    *out = r;
    return status;
}

hpcw_status read_linktest_open(const char *path, struct read_linktest **out, hpcw_error *err) {
    *out = NULL;
    struct read_sion *sion;
    hpcw_status status = read_sion_open(path, &sion, err);
    return status == HPCW_OK ? open_on(sion, out, err) : status;
}

hpcw_status read_linktest_open_memory(const struct read_sion_image *images, uint32_t count,
                                      struct read_linktest **out, hpcw_error *err) {
    *out = NULL;
    struct read_sion *sion;
    hpcw_status status = read_sion_open_memory(images, count, &sion, err);
    return status == HPCW_OK ? open_on(sion, out, err) : status;
}

void read_linktest_free(struct read_linktest *reader) {
    if (reader != NULL) {
        read_sion_free(reader->sion);
        hpcw_i_free(reader);
    }
}

const hpcw_linktest_info *read_linktest_info(const struct read_linktest *reader) {
    return &reader->info;
}

struct read_sion *read_linktest_sion(struct read_linktest *reader) {
    return reader->sion;
}

/* ---- Hosts ------------------------------------------------------------------------------------------------ */

static hpcw_status read_head(struct read_linktest *r, const struct read_sion_task *task, char *host,
                             int32_t *core, hpcw_error *err) {
    unsigned char bytes[READ_LINKTEST_HEAD_SIZE + READ_LINKTEST_MOST_HOST];
    struct read_linktest_head head;
    hpcw_status status = read_linktest_head_of(r, task, &head, err);
    if (status == HPCW_OK) {
        status = read_sion_read(r->sion, task, head.offset, bytes, (size_t)head.size, err);
    }
    if (status == HPCW_OK) {
        status = read_linktest_head_check(r, task, &head, bytes, host, core, err);
    }
    return status;
}

hpcw_status read_linktest_totals(struct read_linktest *reader, uint32_t *hosts, uint64_t *payload,
                                 hpcw_error *err) {
    struct hpcw_i_table names = {.key_words = 1, .seed = hpcw_i_table_random()};
    hpcw_status status = HPCW_OK;
    uint32_t files = read_sion_files(reader->sion);
    uint64_t sum = 0;
    for (uint32_t file = 0; file < files && status == HPCW_OK; file++) {
        struct read_sion_info info;
        status = read_sion_info(reader->sion, file, &info, err);
        for (uint32_t index = 0; status == HPCW_OK && index < info.tasks; index++) {
            char host[READ_LINKTEST_MOST_HOST];
            struct read_sion_task task;
            int32_t core;
            status = read_sion_task(reader->sion, file, index, &task, err);
            if (status != HPCW_OK || task.rank < 0) {
                continue;
            }
            status = read_head(reader, &task, host, &core, err);
            const uint64_t hash = status == HPCW_OK ? hpcw_i_hash_text(host) : 0;
            if (status == HPCW_OK && hpcw_i_table_add(&names, &hash, NULL) == NULL) {
                status = hpcw_i_fail_memory(err, reader->name, names.count + 1, "hosts");
            }
            sum += task.size;
        }
    }
    if (status == HPCW_OK) {
        *hosts = (uint32_t)names.count;
        if (payload != NULL) {
            *payload = sum;
        }
    }
    hpcw_i_table_free(&names);
    return status;
}

hpcw_status read_linktest_host(struct read_linktest *reader, uint32_t rank, char *host, int32_t *core,
                               hpcw_error *err) {
    struct read_sion_task task;
    hpcw_status status = read_sion_find(reader->sion, rank, &task, err);
    return status == HPCW_OK ? read_head(reader, &task, host, core, err) : status;
}

/* ---- Permutations ----------------------------------------------------------------------------------------- */

/* Gets the offset of a permutation's summary in the stream of task 0. */
static hpcw_status summary_at(struct read_linktest *r, uint64_t permutation, uint64_t *offset,
                              hpcw_error *err) {
    struct read_linktest_head head;
    if (permutation >= r->info.permutations) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a permutation below %" PRIu64 ", got %" PRIu64,
                           r->name, r->info.permutations, permutation);
    }
    hpcw_status status = read_linktest_head_of(r, &r->task0, &head, err);
    if (status == HPCW_OK) {
        *offset = read_linktest_data_at(r, &r->task0, &head, permutation) - r->summary_size;
    }
    return status;
}

hpcw_status read_linktest_summary(struct read_linktest *reader, uint64_t permutation,
                                  struct read_linktest_summary *summary, hpcw_error *err) {
    bool big = reader->data_big;
    unsigned char bytes[READ_LINKTEST_TIME_SIZE + 2 * READ_LINKTEST_FIGURES_SIZE];
    uint64_t at = 0;
    hpcw_status status = summary_at(reader, permutation, &at, err);
    if (status != HPCW_OK) {
        return status;
    }
    size_t size = READ_LINKTEST_TIME_SIZE + READ_LINKTEST_FIGURES_SIZE + 3 * (size_t)reader->all_to_all;
    status = read_sion_read(reader->sion, &reader->task0, at, bytes, size, err);
    if (status != HPCW_OK) {
        return status;
    }
    memset(summary, 0, sizeof *summary);
    memcpy(summary->start, bytes, READ_LINKTEST_TIME_SIZE);
    double *const values[6] = {&summary->min,
                               &summary->avg,
                               &summary->max,
                               &summary->all_to_all_min,
                               &summary->all_to_all_avg,
                               &summary->all_to_all_max};
    for (size_t i = 0; i < (reader->all_to_all != 0 ? 6u : 3u); i++) {
        *values[i] = hpcw_i_get_f64(bytes + READ_LINKTEST_TIME_SIZE + 8 * i, big);
    }
    uint64_t end_at = at + reader->summary_size - READ_LINKTEST_TIME_SIZE;
    return read_sion_read(reader->sion, &reader->task0, end_at, summary->end, READ_LINKTEST_TIME_SIZE, err);
}

bool read_linktest_is_date(const char *text) {
    size_t length = strlen(text);
    bool whole = length > 0 && length < READ_LINKTEST_TIME_SIZE;
    for (size_t i = length; i < READ_LINKTEST_TIME_SIZE && whole; i++) {
        whole = text[i] == '\0';
    }
    return whole;
}

static inline void put_in_order(unsigned char *p, size_t count, bool big) {
    for (size_t i = 0; i < count; i++, p += 8) {
        uint64_t word = hpcw_i_get_u64(p, big);
        memcpy(p, &word, sizeof word);
    }
}

hpcw_status read_linktest_words(const struct read_linktest *r, const struct read_sion_task *task, uint64_t at,
                                size_t count, void *words, hpcw_error *err) {
    unsigned char *p = words;
    hpcw_status status = read_sion_read(r->sion, task, at, p, 8 * count, err);
    /* Two loops, each for one byte order: the compiler removes the one for the machine's own order. */
    if (status == HPCW_OK && r->data_big) {
        put_in_order(p, count, true);
    } else if (status == HPCW_OK) {
        put_in_order(p, count, false);
    }
    return status;
}

hpcw_status read_linktest_slow(struct read_linktest *reader, uint64_t permutation, uint64_t first, size_t count,
                               struct read_linktest_slow *slow, hpcw_error *err) {
    uint64_t d = reader->info.retests, at = 0;
    if (first > d || count > d - first) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: expected entries of a slow list of %" PRIu64 ", got %" PRIu64 " + %zu",
                           reader->name, d, first, count);
    }
    hpcw_status status = summary_at(reader, permutation, &at, err);
    at += READ_LINKTEST_TIME_SIZE + READ_LINKTEST_FIGURES_SIZE + 3 * reader->all_to_all;
    /* The list is stored as four arrays of words. Read them in pieces. */
    static const size_t member[4] = {
        offsetof(struct read_linktest_slow, retest), offsetof(struct read_linktest_slow, original),
        offsetof(struct read_linktest_slow, from), offsetof(struct read_linktest_slow, to)};
    for (unsigned array = 0; array < 4; array++) {
        uint64_t words[512];
        uint64_t from = at + 8 * (array * d + first);
        for (size_t i = 0; i < count && status == HPCW_OK; i += sizeof words / 8) {
            size_t part = count - i < sizeof words / 8 ? count - i : sizeof words / 8;
            status = read_linktest_words(reader, &reader->task0, from + 8 * i, part, words, err);
            for (size_t k = 0; k < part && status == HPCW_OK; k++) {
                memcpy((char *)&slow[i + k] + member[array], &words[k], sizeof words[k]);
            }
        }
    }
    return status;
}

hpcw_status read_linktest_slow_check(const struct read_linktest *r, uint64_t permutation, uint64_t first,
                                     const struct read_linktest_slow *slow, size_t count, hpcw_error *err) {
    uint32_t n = r->info.tasks;
    for (size_t i = 0; i < count; i++) {
        const struct read_linktest_slow *s = &slow[i];
        if (!read_linktest_is_time(read_linktest_bits(s->retest)) ||
            !read_linktest_is_time(read_linktest_bits(s->original)) || s->from >= n || s->to >= n ||
            s->from == s->to) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: slow list of permutation %" PRIu64 ", entry %" PRIu64
                               ": expected times > 0 and two of %" PRIu32 " ranks, got %.17g, %.17g, %" PRIu64
                               " and %" PRIu64,
                               r->name, permutation, first + i, n, s->retest, s->original, s->from, s->to);
        }
        if (i > 0 && s->original > s[-1].original) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: slow list of permutation %" PRIu64 ", entry %" PRIu64
                               ": expected at most %.17g, slowest first, got %.17g",
                               r->name, permutation, first + i, s[-1].original, s->original);
        }
    }
    return HPCW_OK;
}

hpcw_status read_linktest_row_find(struct read_linktest *r, uint32_t rank, uint64_t permutation,
                                   struct read_sion_task *task, uint64_t *at, hpcw_error *err) {
    if (permutation >= r->info.permutations) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a permutation below %" PRIu64 ", got %" PRIu64,
                           r->name, r->info.permutations, permutation);
    }
    struct read_linktest_head head;
    hpcw_status status = read_sion_find(r->sion, rank, task, err);
    if (status == HPCW_OK) {
        status = read_linktest_head_of(r, task, &head, err);
    }
    if (status == HPCW_OK) {
        *at = read_linktest_data_at(r, task, &head, permutation);
    }
    return status;
}

hpcw_status read_linktest_row(struct read_linktest *reader, uint32_t rank, uint64_t permutation, double *time,
                              uint64_t *partner, double *all_to_all, hpcw_error *err) {
    struct read_sion_task task;
    uint64_t at = 0;
    hpcw_status status = read_linktest_row_find(reader, rank, permutation, &task, &at, err);
    if (status != HPCW_OK) {
        return status;
    }
    size_t slots = reader->info.tasks - 1;
    if (time != NULL) {
        status = read_linktest_words(reader, &task, at, slots, time, err);
    }
    if (partner != NULL && status == HPCW_OK) {
        status = read_linktest_words(reader, &task, at + 8 * slots, slots, partner, err);
    }
    if (all_to_all != NULL && status == HPCW_OK) {
        *all_to_all = 0;
        status = read_linktest_words(reader, &task, at + 16 * slots, (size_t)reader->all_to_all / 8, all_to_all,
                                     err);
    }
    return status;
}
