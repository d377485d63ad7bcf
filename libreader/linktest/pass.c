/* SPDX-License-Identifier: BSD-3-Clause */
#include "libreader/linktest/pass.h"

#include <float.h>
#include <inttypes.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Words of the buffer before the row, which keep the row aligned. They get the chunk header of a stream. */
#define LEAD_WORDS ((READ_LINKTEST_HEAD_SIZE + READ_LINKTEST_MOST_HOST) / 8)

hpcw_status read_linktest_pass_new(struct read_linktest *r, bool strict, struct read_linktest_pass **out,
                                   hpcw_error *err) {
    size_t n = r->info.tasks, d = (size_t)r->info.retests;
    struct read_linktest_pass *p = hpcw_i_calloc(1, sizeof *p);
    *out = NULL;
    if (p != NULL) {
        p->r = r;
        p->strict = strict;
        p->random = hpcw_i_calloc(n, sizeof *p->random);
        p->balance = hpcw_i_calloc(r->info.steps, sizeof *p->balance);
        p->met = hpcw_i_calloc(n, 1);
        p->present = hpcw_i_calloc(n, 1);
        p->step_of = d > 0 ? hpcw_i_calloc(n, sizeof *p->step_of) : NULL;
        p->slow = d > 0 ? hpcw_i_calloc(d, sizeof *p->slow) : NULL;
        /* The all-to-all time and END_BLOCK follow the row. */
        p->words = hpcw_i_calloc(LEAD_WORDS + 2 * (n - 1) + 3, sizeof *p->words);
    }
    if (p == NULL || p->random == NULL || p->balance == NULL || p->met == NULL || p->present == NULL ||
        p->words == NULL || (d > 0 && (p->step_of == NULL || p->slow == NULL))) {
        read_linktest_pass_free(p);
        return hpcw_i_fail_memory(err, r->name, n, "tasks");
    }
    p->row = p->words + LEAD_WORDS;
    read_linktest_schedule_randomize(p);
    *out = p;
    return HPCW_OK;
}

void read_linktest_pass_free(struct read_linktest_pass *pass) {
    if (pass == NULL) {
        return;
    }
    hpcw_i_free(pass->random);
    hpcw_i_free(pass->balance);
    hpcw_i_free(pass->met);
    hpcw_i_free(pass->present);
    hpcw_i_free(pass->step_of);
    hpcw_i_free(pass->slow);
    hpcw_i_free(pass->words);
    hpcw_i_free(pass);
}

/* Returns whether a text has the form YYYY-MM-DDThh:mm:ssZ. */
static bool is_iso(const char *t) {
    static const char shape[] = "dddd-dd-ddTdd:dd:ddZ";
    for (size_t i = 0; i < sizeof shape; i++) {
        if (shape[i] == 'd' ? t[i] < '0' || t[i] > '9' : t[i] != shape[i]) {
            return false;
        }
    }
    int month = (t[5] - '0') * 10 + (t[6] - '0'), day = (t[8] - '0') * 10 + (t[9] - '0');
    /* second 60: a leap second */
    return month >= 1 && month <= 12 && day >= 1 && day <= 31 && memcmp(t + 11, "23", 2) <= 0 &&
           memcmp(t + 14, "59", 2) <= 0 && memcmp(t + 17, "60", 2) <= 0;
}

/* Checks rule 20, about the time texts. */
static hpcw_status check_time(const struct read_linktest_pass *p, uint64_t permutation, const char *what,
                              const char *text, const char *before, hpcw_error *err) {
    if (!read_linktest_is_date(text) || (p->strict && !is_iso(text))) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: %s time of permutation %" PRIu64
                           ": expected %s and zeros, 32 bytes, got \"%.32s\"",
                           p->r->name, what, permutation, p->strict ? "YYYY-MM-DDThh:mm:ssZ" : "a text", text);
    }
    /* Two times can only be compared if both have the ISO form. */
    if (is_iso(text) && is_iso(before) && strcmp(text, before) < 0) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: %s time of permutation %" PRIu64 ": expected none before %s, got %s",
                           p->r->name, what, permutation, before, text);
    }
    return HPCW_OK;
}

hpcw_status read_linktest_pass_run(struct read_linktest_pass *pass, uint64_t permutation, hpcw_error *err) {
    struct read_linktest *r = pass->r;
    struct read_linktest_summary summary;
    uint64_t above;
    hpcw_status status = read_linktest_summary(r, permutation, &summary, err);
    if (status != HPCW_OK ||
        (status = check_time(pass, permutation, "start", summary.start, pass->last_end, err)) != HPCW_OK ||
        (status = check_time(pass, permutation, "end", summary.end, summary.start, err)) != HPCW_OK ||
        (status = read_linktest_slow_list(pass, permutation, &above, err)) != HPCW_OK) {
        return status;
    }
    memcpy(pass->last_end, summary.end, sizeof pass->last_end);

    pass->timings = pass->all_to_all = (struct read_linktest_timings){.min = DBL_MAX};
    memset(pass->balance, 0, r->info.steps * sizeof *pass->balance);
    if ((status = read_linktest_check_rows(pass, permutation, err)) != HPCW_OK ||
        (status = read_linktest_schedule_check(pass, permutation, err)) != HPCW_OK) {
        return status;
    }
    if (pass->timings.above != above) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: slow list of permutation %" PRIu64 ": expected all %" PRIu64
                           " timings above its last entry %.17g in it, got %" PRIu64,
                           r->name, permutation, pass->timings.above, pass->threshold, above);
    }
    status = read_linktest_timings_check(pass, permutation, "timing", &pass->timings, summary.min, summary.avg,
                                         summary.max, err);
    if (status == HPCW_OK && r->all_to_all != 0) {
        status = read_linktest_timings_check(pass, permutation, "all-to-all", &pass->all_to_all,
                                             summary.all_to_all_min, summary.all_to_all_avg,
                                             summary.all_to_all_max, err);
    }
    return status;
}
