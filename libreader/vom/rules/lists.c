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

/* Indices of `listed` in the judge. */
enum { IDENTICAL, SKIPPED };
static const char *const keys[2] = {"identical_to_previous", "skipped"};

/* Joins the single numbers and the ranges of a list to one sorted list. Numbers and ranges must each ascend, and no
 * number may occur twice: doc/formats/vom.md#vom-10. */
static hpcw_status merge(const struct read_vom_judge *j, const char *key,
                         const struct read_vom_intervals parts[2], struct read_vom_intervals *out,
                         hpcw_error *err) {
    static const char *const names[2] = {"list", "range"};
    hpcw_i_free(out->item);
    *out = (struct read_vom_intervals){.count = parts[0].count + parts[1].count};
    for (int k = 0; k < 2; k++) {
        const struct read_vom_interval *item = parts[k].item;
        for (size_t i = 0; i < parts[k].count; i++) {
            if (item[i].first > item[i].last || (i > 0 && item[i].first <= item[i - 1].last)) {
                return read_vom_wrong(j->reader, err,
                                      "phases.%s.%s[%zu]: expected ascending numbers, got %" PRIu64
                                      " to %" PRIu64,
                                      key, names[k], i, item[i].first, item[i].last);
            }
        }
    }
    out->item = hpcw_i_malloc(out->count * sizeof *out->item);
    if (out->item == NULL) {
        return hpcw_i_fail_memory(err, NULL, out->count, "entries of phases");
    }
    for (size_t i = 0, k = 0; k < 2; k++) {
        for (size_t n = 0; n < parts[k].count; n++) {
            out->item[i++] = parts[k].item[n];
        }
    }
    if (out->count > 0) {
        qsort(out->item, out->count, sizeof *out->item, by_first);
    }
    for (size_t i = 1; i < out->count; i++) {
        if (out->item[i].first <= out->item[i - 1].last) {
            return read_vom_wrong(j->reader, err, "phases.%s: expected each number once, got %" PRIu64 " again",
                                  key, out->item[i].first);
        }
    }
    return HPCW_OK;
}

/* Finds the first number that is in both of two sorted lists. */
static bool common(const struct read_vom_intervals *a, const struct read_vom_intervals *b, uint64_t *number) {
    for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
        const struct read_vom_interval *x = &a->item[i];
        const struct read_vom_interval *y = &b->item[k];
        *number = x->first > y->first ? x->first : y->first;
        if (*number <= x->last && *number <= y->last) {
            return true;
        }
        if (x->last < y->last) {
            i++;
        } else {
            k++;
        }
    }
    return false;
}

static void digest_of(const struct read_vom_judge *j, const struct read_vom_metadata *m, uint64_t digest[2]) {
    uint64_t words[6] = {m->has_phases, m->has_count, m->count, j->listed[IDENTICAL].count};
    for (int k = 0; k < 2; k++) {
        words[4 + k] = XXH3_64bits(j->listed[k].item, j->listed[k].count * sizeof *j->listed[k].item);
    }
    XXH128_hash_t hash = XXH3_128bits(words, sizeof words);
    digest[0] = hash.low64;
    digest[1] = hash.high64;
}

hpcw_status read_vom_lists_take(struct read_vom_judge *j, const struct read_vom_metadata *m, hpcw_error *err) {
    const struct read_vom_intervals parts[2][2] = {{m->identical_list, m->identical_range},
                                                   {m->skipped_list, m->skipped_range}};
    const struct read_vom_intervals *identical = &j->listed[IDENTICAL];
    hpcw_status status = HPCW_OK;
    for (int k = 0; k < 2 && status == HPCW_OK; k++) {
        status = merge(j, keys[k], parts[k], &j->listed[k], err);
    }
    uint64_t number;
    if (status == HPCW_OK && common(identical, &j->listed[SKIPPED], &number)) {
        status = read_vom_wrong(j->reader, err,
                                "phases: expected a phase to be identical or skipped, got both for %" PRIu64,
                                number);
    }
    if (status == HPCW_OK && identical->count > 0 && identical->item[0].first == 0) {
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
                              identical->count, j->listed[SKIPPED].count);
    }
    j->has_count = m->has_count;
    j->count = m->count;
    return HPCW_OK;
}

/* Returns the interval that contains a number, and the key of the list with the interval; NULL if no list has the
 * number. */
static const struct read_vom_interval *interval_at(const struct read_vom_judge *j, uint64_t number,
                                                   const char **key) {
    for (int k = 0; k < 2; k++) {
        const struct read_vom_interval *list = j->listed[k].item;
        size_t low = 0;
        size_t high = j->listed[k].count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (list[middle].last < number) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (low < j->listed[k].count && list[low].first <= number) {
            *key = keys[k];
            return &list[low];
        }
    }
    return NULL;
}

/* Checks that every phase up to the last one has data or is listed: doc/formats/vom.md#vom-11. *next gets the
 * number after the last phase. */
static hpcw_status no_gap(const struct read_vom_judge *j, const char *name, uint64_t *next, hpcw_error *err) {
    const char *key;
    size_t p = 0;
    for (*next = 0;;) {
        const struct read_vom_interval *listed = interval_at(j, *next, &key);
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
    for (int k = 0; k < 2; k++) {
        const struct read_vom_intervals *l = &j->listed[k];
        if (l->count > 0 && l->item[l->count - 1].last > later) {
            later = l->item[l->count - 1].last;
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
    const struct read_vom_intervals *identical = &j->listed[IDENTICAL];
    for (size_t p = 0; p < j->phases; p++) {
        const char *in;
        if (interval_at(j, j->phase_id[p], &in) != NULL) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: expected phase %" PRIu64
                               " either among the phases or in %s, got it in both",
                               name, j->phase_id[p], in);
        }
    }
    if (identical->count > 0 && (j->phases == 0 || identical->item[0].first < j->phase_id[0])) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: expected an earlier phase with data for the identical phase %" PRIu64
                           ", got none",
                           name, identical->item[0].first);
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
