/* SPDX-License-Identifier: BSD-3-Clause */
/* The phases that metadata lists as skipped or identical (doc/formats/vom.md, "Metadata"). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "libreader/vom/rules/judge.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

static int by_first(const void *a, const void *b) {
    const struct read_vom_interval *x = a;
    const struct read_vom_interval *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Joins numbers and ranges to one sorted list. Both ascend, and no number occurs twice: doc/formats/vom.md#vom-10. */
static hpcw_status merged(const struct read_vom_judge *j, const char *what,
                          const struct read_vom_intervals *list, const struct read_vom_intervals *range,
                          struct read_vom_interval **out, hpcw_error *err) {
    size_t count = list->count + range->count;
    const struct read_vom_intervals *parts[2] = {list, range};
    static const char *const names[2] = {"list", "range"};
    for (int k = 0; k < 2; k++) {
        const struct read_vom_interval *item = parts[k]->item;
        for (size_t i = 0; i < parts[k]->count; i++) {
            if (item[i].first > item[i].last || (i > 0 && item[i].first <= item[i - 1].last)) {
                return read_vom_wrong(j->reader, err,
                                      "phases.%s.%s[%zu]: expected ascending numbers, got %" PRIu64
                                      " to %" PRIu64,
                                      what, names[k], i, item[i].first, item[i].last);
            }
        }
    }
    struct read_vom_interval *all = hpcw_i_malloc(count * sizeof *all);
    if (all == NULL) {
        return hpcw_i_fail_memory(err, NULL, count, "entries of phases");
    }
    for (size_t i = 0, k = 0; k < 2; k++) {
        for (size_t n = 0; n < parts[k]->count; n++) {
            all[i++] = parts[k]->item[n];
        }
    }
    if (count > 0) {
        qsort(all, count, sizeof *all, by_first);
    }
    *out = all;
    for (size_t i = 1; i < count; i++) {
        if (all[i].first <= all[i - 1].last) {
            return read_vom_wrong(j->reader, err, "phases.%s: expected each number once, got %" PRIu64 " again",
                                  what, all[i].first);
        }
    }
    return HPCW_OK;
}

/* The first number that is in both of two sorted lists. */
static bool common(const struct read_vom_interval *a, size_t a_count, const struct read_vom_interval *b,
                   size_t b_count, uint64_t *number) {
    for (size_t i = 0, k = 0; i < a_count && k < b_count;) {
        uint64_t from = a[i].first > b[k].first ? a[i].first : b[k].first;
        if (from <= a[i].last && from <= b[k].last) {
            *number = from;
            return true;
        }
        if (a[i].last < b[k].last) {
            i++;
        } else {
            k++;
        }
    }
    return false;
}

static void digest_of(const struct read_vom_judge *j, const struct read_vom_metadata *m, uint64_t digest[2]) {
    const uint64_t words[6] = {m->has_phases,
                               m->has_count,
                               m->count,
                               j->identical_count,
                               XXH3_64bits(j->identical, j->identical_count * sizeof *j->identical),
                               XXH3_64bits(j->skipped, j->skipped_count * sizeof *j->skipped)};
    XXH128_hash_t hash = XXH3_128bits(words, sizeof words);
    digest[0] = hash.low64;
    digest[1] = hash.high64;
}

hpcw_status read_vom_lists_take(struct read_vom_judge *j, const struct read_vom_metadata *m, hpcw_error *err) {
    hpcw_i_free(j->identical);
    hpcw_i_free(j->skipped);
    j->identical = j->skipped = NULL;
    j->identical_count = m->identical_list.count + m->identical_range.count;
    j->skipped_count = m->skipped_list.count + m->skipped_range.count;
    hpcw_status status =
        merged(j, "identical_to_previous", &m->identical_list, &m->identical_range, &j->identical, err);
    if (status == HPCW_OK) {
        status = merged(j, "skipped", &m->skipped_list, &m->skipped_range, &j->skipped, err);
    }
    uint64_t number;
    if (status == HPCW_OK && common(j->identical, j->identical_count, j->skipped, j->skipped_count, &number)) {
        status = read_vom_wrong(j->reader, err,
                                "phases: expected a phase to be identical or skipped, got both for %" PRIu64,
                                number);
    }
    if (status == HPCW_OK && j->identical_count > 0 && j->identical[0].first == 0) {
        status = read_vom_wrong(j->reader, err, "phases.identical_to_previous: expected phases above 0, got 0");
    }
    if (status != HPCW_OK) {
        return status;
    }
    uint64_t digest[2];
    digest_of(j, m, digest);
    if (!j->has_lists) {
        j->has_lists = true;
        memcpy(j->lists_digest, digest, sizeof digest);
    } else if (memcmp(j->lists_digest, digest, sizeof digest) != 0) {
        return read_vom_wrong(j->reader, err,
                              "phases: expected the lists of the first rank, got others (%zu identical, %zu "
                              "skipped entries)",
                              j->identical_count, j->skipped_count);
    }
    j->has_count = m->has_count;
    j->count = m->count;
    return HPCW_OK;
}

/* The interval that has a number; NULL if none has. */
static const struct read_vom_interval *interval_at(const struct read_vom_interval *list, size_t count,
                                                   uint64_t number) {
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list[middle].last < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && list[low].first <= number ? &list[low] : NULL;
}

/* Every phase up to the last one has data or is listed: doc/formats/vom.md#vom-11. *next: the one after the last. */
static hpcw_status no_gap(const struct read_vom_judge *j, const char *name, uint64_t *next, hpcw_error *err) {
    size_t p = 0;
    for (*next = 0;;) {
        const struct read_vom_interval *listed = interval_at(j->identical, j->identical_count, *next);
        if (listed == NULL) {
            listed = interval_at(j->skipped, j->skipped_count, *next);
        }
        uint64_t last = listed != NULL ? listed->last : *next;
        if (listed == NULL && p < j->phases && j->phase_id[p] == *next) {
            p++;
        } else if (listed == NULL) {
            break;
        }
        if (last == UINT64_MAX) {
            return HPCW_OK;
        }
        *next = last + 1;
    }
    uint64_t later = p < j->phases ? j->phase_id[p] : 0;
    const struct read_vom_interval *lists[2] = {j->identical, j->skipped};
    const size_t counts[2] = {j->identical_count, j->skipped_count};
    for (int k = 0; k < 2; k++) {
        if (counts[k] > 0 && lists[k][counts[k] - 1].last > later) {
            later = lists[k][counts[k] - 1].last;
        }
    }
    if (later > *next) {
        return hpcw_i_fail(
            err, HPCW_EFORMAT,
            "%s: expected phase %" PRIu64
            " (the file has later ones) among the phases, skipped or identical_to_previous, got it "
            "nowhere",
            name, *next);
    }
    return HPCW_OK;
}

hpcw_status read_vom_lists_end(const struct read_vom_judge *j, const char *name, hpcw_error *err) {
    for (size_t p = 0; p < j->phases; p++) {
        const char *in = interval_at(j->identical, j->identical_count, j->phase_id[p]) != NULL
                             ? "identical_to_previous"
                         : interval_at(j->skipped, j->skipped_count, j->phase_id[p]) != NULL ? "skipped"
                                                                                             : NULL;
        if (in != NULL) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: expected phase %" PRIu64
                               " either among the phases or in %s, got it in both",
                               name, j->phase_id[p], in);
        }
    }
    if (j->identical_count > 0 && (j->phases == 0 || j->identical[0].first < j->phase_id[0])) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: expected an earlier phase with data for the identical phase %" PRIu64
                           ", got none",
                           name, j->identical[0].first);
    }
    if (!j->strict) {
        return HPCW_OK;
    }
    uint64_t next;
    hpcw_status status = no_gap(j, name, &next, err);
    if (status == HPCW_OK && j->has_count && j->count != next) {
        status =
            hpcw_i_fail(err, HPCW_EFORMAT,
                        "%s: metadata.phases.count: expected the last phase + 1 = %" PRIu64 ", got %" PRIu64,
                        name, next, j->count);
    }
    return status;
}
