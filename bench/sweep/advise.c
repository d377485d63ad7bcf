/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the recommendation and the verdict. The recommendation is a list of sentences, each with the points that it
 * is based on. The verdict compares all points with the best one. One rule decides whether points differ
 * (bench_results_differ).
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/report/results.h"
#include "bench/sweep/sweep.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "ui/cli/text.h"

static bool usable(const struct bench_results *r, const struct bench_point *p) {
    return bench_results_counts(r, p) && p->durable.there;
}

static bool is_container(const struct bench_point *p) {
    return p->layout == BENCH_SION_ALIGNED || p->layout == BENCH_SION_PACKED || p->layout == BENCH_SION_SHIFTED;
}

static double rate(const struct bench_point *p) {
    return p->durable.stats.median;
}

/* ---- sentences ---- */

/* Begins a new sentence. There is memory for more sentences than there are findings. */
static struct bench_advice *begin(struct bench_results *r) {
    assert(r->advices < sizeof r->advice / sizeof r->advice[0]);
    struct bench_advice *a = &r->advice[r->advices++];
    *a = (struct bench_advice){0};
    return a;
}

static void rest_on(struct bench_advice *a, size_t point) {
    for (size_t i = 0; i < a->evidences; i++) {
        if (a->evidence[i] == point) {
            return;
        }
    }
    if (a->evidences < sizeof a->evidence / sizeof a->evidence[0]) {
        a->evidence[a->evidences++] = point;
    }
}

static void say_rate(struct bench_advice *a, const struct bench_point *p) {
    char median[UI_TEXT_SIZE], low[UI_TEXT_SIZE], high[UI_TEXT_SIZE];
    bench_advice_say(a, "%s (%s to %s)", ui_text_rate(median, rate(p)),
                     ui_text_rate(low, p->durable.stats.ci_low), ui_text_rate(high, p->durable.stats.ci_high));
}

/* Begins a sentence about two points that differ in one property. */
static struct bench_advice *begin_pair(struct bench_results *r, size_t point, size_t other) {
    struct bench_advice *a = begin(r);
    rest_on(a, point);
    rest_on(a, other);
    return a;
}

static void say_pair(struct bench_advice *a, const struct bench_point *p, const struct bench_point *other) {
    say_rate(a, p);
    bench_advice_say(a, " compared with ");
    say_rate(a, other);
}

/* Rate of a point divided by the rate of another point, with its interval. Both come from the rule for differences.
 * The ratio of the two medians may lie outside this interval. */
struct factor {
    double low, is, high;
    int digits; /* shown after the decimal point */
};

static struct factor factor_of(const struct bench_point *p, const struct bench_point *other) {
    const double is = exp(p->log.mean - other->log.mean);
    return (struct factor){.low = exp(-bench_results_most(other, p)),
                           .is = is,
                           .high = exp(bench_results_most(p, other)),
                           .digits = is < 2    ? 2
                                     : is < 10 ? 1
                                               : 0};
}

static void say_factor(struct bench_advice *a, struct factor f) {
    bench_advice_say(a, "%.*f", f.digits, f.is);
}

/* " (1.8 to 2.4)" */
static void say_interval(struct bench_advice *a, struct factor f) {
    bench_advice_say(a, " (%.*f to %.*f)", f.digits, f.low, f.digits, f.high);
}

/* ---- findings ---- */

/* Returns the number of files of the first point with the layout and mode of `p`. Only points with this number
 * of files are compared over the block size. */
static uint32_t first_files(const struct bench_results *r, const struct bench_point *p) {
    size_t i = 0;
    while (r->point[i].layout != p->layout || r->point[i].mode != p->mode) {
        i++;
    }
    return r->point[i].files;
}

/* Returns the index of the container with the given layout, mode and number of files, and the block size of `p`, or
 * SIZE_MAX if there is none. */
static size_t find(const struct bench_results *r, const struct bench_point *p, enum bench_layout layout,
                   enum bench_mode mode, uint32_t files) {
    for (size_t i = 0; i < r->points; i++) {
        const struct bench_point *q = &r->point[i];
        if (usable(r, q) && q->layout == layout && q->mode == mode && q->files == files &&
            q->block_size == p->block_size) {
            return i;
        }
    }
    return SIZE_MAX;
}

static bool of_block_series(const struct bench_results *r, const struct bench_point *p) {
    return usable(r, p) && p->layout == BENCH_SION_ALIGNED && p->mode == BENCH_FSYNC &&
           p->files == first_files(r, p);
}

static void best_block(struct bench_results *r) {
    size_t best = SIZE_MAX, all = 0, equal = 0;
    uint64_t low = UINT64_MAX, high = 0;
    for (size_t i = 0; i < r->points; i++) {
        const struct bench_point *p = &r->point[i];
        if (of_block_series(r, p)) {
            best = best == SIZE_MAX || p->log.mean > r->point[best].log.mean ? i : best;
            all++;
        }
    }
    if (all < 2) {
        return;
    }
    struct bench_advice *a = begin(r);
    rest_on(a, best);
    for (size_t i = 0; i < r->points; i++) {
        const struct bench_point *p = &r->point[i];
        if (of_block_series(r, p) && bench_results_differ(&r->point[best], p) == 0) {
            low = p->block_size < low ? p->block_size : low;
            high = p->block_size > high ? p->block_size : high;
            equal++;
            rest_on(a, i);
        }
    }
    char size[3][UI_TEXT_SIZE];
    (void)ui_text_size(size[0], r->point[best].block_size);
    (void)ui_text_size(size[1], low);
    (void)ui_text_size(size[2], high);
    if (equal == all) {
        bench_advice_say(
            a, "Aligned containers: no block size from %s to %s differs from the fastest beyond noise.",
            size[1], size[2]);
        return;
    }
    bench_advice_say(a, "Aligned containers are fastest with blocks of %s, ", size[0]);
    say_rate(a, &r->point[best]);
    if (equal == 1) {
        bench_advice_say(a, "; every other size is slower beyond noise.");
    } else {
        bench_advice_say(a, "; %zu of %zu sizes, between %s and %s, do not differ beyond noise.", equal, all,
                         size[1], size[2]);
    }
}

/* The points of one layout compared with those of another that have the same mode, block size and number of
 * files. */
struct pairing {
    size_t all, faster, slower; /* number of pairs: all, faster beyond noise, slower beyond noise */
    /* the pair with the largest difference; a difference beyond noise counts first */
    size_t most, most_against;
};

static struct pairing pairing_of(const struct bench_results *r, enum bench_layout of,
                                 enum bench_layout against) {
    struct pairing found = {.most = SIZE_MAX};
    double factor = 0;
    for (size_t i = 0; i < r->points; i++) {
        const struct bench_point *a = &r->point[i];
        size_t k = usable(r, a) && a->layout == of ? find(r, a, against, a->mode, a->files) : SIZE_MAX;
        if (k == SIZE_MAX) {
            continue;
        }
        int c = bench_results_differ(a, &r->point[k]);
        double f = fabs(a->log.mean - r->point[k].log.mean);
        found.all++;
        found.faster += c > 0;
        found.slower += c < 0;
        if (found.most == SIZE_MAX || (c != 0 && f > factor) ||
            (found.faster + found.slower == 0 && f > factor)) {
            found.most = i;
            found.most_against = k;
            factor = f;
        }
    }
    return found;
}

static void pairs(struct bench_results *r, enum bench_layout of, enum bench_layout against, const char *name,
                  const char *other) {
    const struct pairing found = pairing_of(r, of, against);
    if (found.all == 0) {
        return;
    }
    struct bench_advice *a = begin_pair(r, found.most, found.most_against);
    const struct bench_point *x = &r->point[found.most];
    const struct bench_point *y = &r->point[found.most_against];
    const struct factor f = factor_of(x, y);
    if (found.faster + found.slower == 0) {
        bench_advice_say(
            a,
            "%s compared with %s: no difference beyond noise in %zu pair%s; rates differ most at %s, by a "
            "factor of ",
            name, other, found.all, found.all == 1 ? "" : "s", x->id);
        say_factor(a, f);
        say_interval(a, f);
        bench_advice_say(a, ".");
        return;
    }
    bench_advice_say(
        a, "%s compared with %s: faster beyond noise in %zu of %zu pairs, slower in %zu; at %s the rate is ",
        name, other, found.faster, found.all, found.slower, x->id);
    say_pair(a, x, y);
    bench_advice_say(a, ", a factor of ");
    say_factor(a, f);
    say_interval(a, f);
    bench_advice_say(a, ".");
}

static void number_of_files(struct bench_results *r) {
    for (size_t i = 0; i < r->points; i++) {
        const struct bench_point *p = &r->point[i];
        uint32_t files = first_files(r, p);
        size_t k = usable(r, p) && is_container(p) && p->files != files ? find(r, p, p->layout, p->mode, files)
                                                                        : SIZE_MAX;
        if (k != SIZE_MAX) {
            int c = bench_results_differ(p, &r->point[k]);
            struct bench_advice *a = begin_pair(r, i, k);
            bench_advice_say(a, "%u physical files instead of %u: %s (", p->files, files,
                             c > 0   ? "faster beyond noise"
                             : c < 0 ? "slower beyond noise"
                                     : "no difference beyond noise");
            say_pair(a, p, &r->point[k]);
            bench_advice_say(a, ").");
            return;
        }
    }
}

/* Says whether a mode is faster than fsync for aligned containers. */
static void mode_pays(struct bench_results *r, enum bench_mode mode, const char *name) {
    for (size_t i = 0; i < r->points; i++) {
        const struct bench_point *p = &r->point[i];
        bool asked = usable(r, p) && p->layout == BENCH_SION_ALIGNED && p->mode == mode;
        size_t k = asked ? find(r, p, p->layout, BENCH_FSYNC, p->files) : SIZE_MAX;
        if (k != SIZE_MAX) {
            int c = bench_results_differ(p, &r->point[k]);
            struct bench_advice *a = begin_pair(r, i, k);
            bench_advice_say(a, "%s is %s for an aligned container: ", name,
                             c > 0   ? "worth it"
                             : c < 0 ? "not worth it"
                                     : "no gain beyond noise");
            say_pair(a, p, &r->point[k]);
            bench_advice_say(a, " with the page cache and fsync.");
            return;
        }
    }
}

/* ---- the verdict ---- */

/* Largest share by which a recommended layout may be slower than another layout. 0.1 is 10 %. */
#define NEAR 0.10

/* Returns whether a point may be recommended. sion-shifted may not: it is unaligned for comparison only. */
static bool is_choice(const struct bench_results *r, const struct bench_point *p) {
    return usable(r, p) && p->layout != BENCH_SION_SHIFTED;
}

/* Says "--budget 20m". The advice is a larger budget and not fewer layouts, which would answer fewer questions. */
static void say_budget(const struct bench_results *r, struct bench_advice *a, const char *before) {
    bench_advice_say(a, "%s--budget %.0fm", before, bench_results_larger_budget(r));
}

/* Computes the number of processors that other programs kept busy: the median of all runs. 0: below BENCH_NOISE, or
 * unknown. */
static hpcw_status find_others(const struct bench_results *r, double *others, hpcw_error *err) {
    size_t most = 0, n = 0;
    for (size_t i = 0; i < r->points; i++) {
        most += r->point[i].trials;
    }
    double *x = hpcw_i_malloc((most + 1) * sizeof *x);
    if (x == NULL) {
        return hpcw_i_fail_memory(err, NULL, most, "runs");
    }
    for (size_t i = 0; i < r->points; i++) {
        for (size_t k = 0; k < r->point[i].trials; k++) {
            x[n] = r->point[i].trial[k].others;
            n += isnan(x[n]) ? 0 : 1;
        }
    }
    struct bench_stats stats = {.median = 0};
    hpcw_status s = n == 0 ? HPCW_OK : bench_stats_of(x, n, 0.95, &stats, err);
    *others = stats.median > BENCH_NOISE ? stats.median : 0;
    hpcw_i_free(x);
    return s;
}

/* Returns the fewest runs of any point that counts. SIZE_MAX: no point counts. */
static size_t fewest_runs(const struct bench_results *r) {
    size_t fewest = SIZE_MAX;
    for (size_t i = 0; i < r->points; i++) {
        const struct bench_point *p = &r->point[i];
        fewest = bench_results_counts(r, p) && p->trials < fewest ? p->trials : fewest;
    }
    return fewest;
}

static void say_too_few(const struct bench_results *r, struct bench_advice *a) {
    bench_advice_say(a, "nothing can be said: too few runs of a point (expected %d or more, got %zu)",
                     BENCH_FEWEST_REPEAT, fewest_runs(r));
    if (r->stopped[0] != '\0') {
        bench_advice_say(a, "; go on with --resume");
    } else if (r->repeat < BENCH_FEWEST_REPEAT) {
        bench_advice_say(a, "; use --repeat %d", BENCH_FEWEST_REPEAT);
    } else {
        say_budget(r, a, "; use ");
    }
}

/* "4 MiB" */
static const char *plain_size(char text[UI_TEXT_SIZE], uint64_t bytes) {
    char *unit = ui_text_size(text, bytes) + strlen(text) - 1;
    const char letter = *unit;
    const bool whole = letter >= '0' && letter <= '9';
    (void)snprintf(unit + whole, (size_t)(text + UI_TEXT_SIZE - unit - whole), whole ? " B" : " %ciB", letter);
    return text;
}

/* Begins a verdict without a recommendation: "nothing can be said: ". If aligned files differ from unaligned
 * ones, the text is "aligned to 1 MiB, files are written at 1.19 x the rate of unaligned ones (1.12 to 1.26);
 * nothing else can be said: ". */
static void say_known(const struct bench_results *r, struct bench_advice *a) {
    const struct pairing found = pairing_of(r, BENCH_SION_ALIGNED, BENCH_SION_SHIFTED);
    const bool known = (found.faster > 0) != (found.slower > 0);
    if (known) {
        const struct bench_point *p = &r->point[found.most];
        char text[UI_TEXT_SIZE];
        rest_on(a, found.most);
        rest_on(a, found.most_against);
        bench_advice_say(a, "aligned to %s, files are written at ", plain_size(text, p->block_size));
        const struct factor f = factor_of(p, &r->point[found.most_against]);
        say_factor(a, f);
        bench_advice_say(a, " x the rate of unaligned ones");
        say_interval(a, f);
        bench_advice_say(a, "; ");
    }
    bench_advice_say(a, "nothing %scan be said: ", known ? "else " : "");
}

/* Returns what distinguishes two points: "layout", "block size". */
static const char *distinction(const struct bench_point *p, const struct bench_point *other) {
    return p->layout != other->layout           ? "layout"
           : p->mode != other->mode             ? "mode"
           : p->block_size != other->block_size ? "block size"
           : p->files != other->files           ? "number of files"
                                                : "record size";
}

/* Says how a sweep gets more time for each point: "; use --budget 20m". If other programs were busy, the sentence
 * names them first. */
static hpcw_status say_more_time(const struct bench_results *r, struct bench_advice *a, hpcw_error *err) {
    double others = 0;
    hpcw_status s = find_others(r, &others, err);
    if (others > 0) {
        bench_advice_say(a, "; other programs kept %.1f processors busy: repeat it without them, or use ",
                         others);
    }
    say_budget(r, a, others > 0 ? "" : "; use ");
    return s;
}

/* Says why there is no verdict, where fewer than two points can be chosen. */
static hpcw_status say_why_nothing(const struct bench_results *r, size_t choices, struct bench_advice *a,
                                   hpcw_error *err) {
    size_t small = 0;
    uint64_t largest = 0;
    const struct bench_point *lost = NULL;
    for (size_t i = 0; i < r->points; i++) {
        largest = r->point[i].bytes > largest ? r->point[i].bytes : largest;
        lost = lost == NULL && r->point[i].fate != BENCH_MEASURED ? &r->point[i] : lost;
        small += r->point[i].fate == BENCH_MEASURED && !bench_results_counts(r, &r->point[i]);
    }
    char bytes[UI_TEXT_SIZE], time[UI_TEXT_SIZE];
    say_known(r, a);
    if (small > 0) {
        const struct bench_limit limit = bench_results_limit(r);
        const bool limited = limit.there > 0 && largest >= limit.there / limit.parts;
        bench_advice_say(a, "%zu points are too small (below %s or %s); use a larger --per-rank%s%s", small,
                         ui_text_bytes_binary(bytes, r->limits.least_bytes),
                         ui_text_duration(time, (double)r->limits.least_ns / 1e9), limited ? " and " : "",
                         limited ? limit.more : "");
    } else {
        bench_advice_say(
            a, "expected two points to choose from, measured with a flush and not sion-shifted, got %zu",
            choices);
        if (lost != NULL) {
            bench_advice_say(a, "; %s was not measured: %s", lost->id, lost->reason);
        } else {
            bench_advice_say(a, "; name more with --layout, --blocksize or --files");
        }
        if (lost != NULL && bench_results_lacks_time(lost)) {
            return say_more_time(r, a, err);
        }
    }
    return HPCW_OK;
}

/* Returns the index of the fastest aligned container. SIZE_MAX: there is none. */
static size_t best_aligned(const struct bench_results *r) {
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < r->points; i++) {
        const struct bench_point *p = &r->point[i];
        if (usable(r, p) && p->layout == BENCH_SION_ALIGNED &&
            (best == SIZE_MAX || p->log.mean > r->point[best].log.mean)) {
            best = i;
        }
    }
    return best;
}

/* Says "this job writes 1.2 GB/s if files are aligned to 4 MiB: 2.1 x unaligned (1.8 to 2.4)". An aligned
 * container is compared with the unaligned one (sion-shifted), any other point with the best aligned container. */
static void say_choice(const struct bench_results *r, const struct bench_point *p, struct bench_advice *a) {
    static const char *const how[BENCH_LAYOUTS] = {
        [BENCH_SION_ALIGNED] = "files are aligned to",
        [BENCH_SION_PACKED] = "the data of several ranks are packed and aligned to",
        [BENCH_TASK_LOCAL] = "each rank has a file of its own",
        [BENCH_SHARED_POSIX] = "all ranks share one file without gaps",
        [BENCH_MPIIO_INDEPENDENT] = "all ranks share one file by MPI-IO",
        [BENCH_MPIIO_COLLECTIVE] = "all ranks share one file by collective MPI-IO",
        [BENCH_HDF5_INDEPENDENT] = "all ranks share one file by HDF5",
        [BENCH_HDF5_COLLECTIVE] = "all ranks share one file by collective HDF5",
    };
    static const char *const mode[BENCH_MODES] = {[BENCH_FSYNC] = "",
                                                  [BENCH_DIRECT] = ", past the page cache",
                                                  [BENCH_PREALLOCATED] = ", in space allocated before"};
    char text[UI_TEXT_SIZE];
    const bool aligned = p->layout == BENCH_SION_ALIGNED;
    const size_t k = aligned ? find(r, p, BENCH_SION_SHIFTED, p->mode, p->files) : best_aligned(r);
    bench_advice_say(a, "this job writes %s%s if %s", ui_text_rate(text, rate(p)),
                     bench_fs_is_memory(&r->fs) ? " to memory" : "", how[p->layout]);
    if (p->block_size != 0) {
        bench_advice_say(a, " %s", plain_size(text, p->block_size));
    }
    bench_advice_say(a, "%s", mode[p->mode]);
    if (k == SIZE_MAX) {
        return;
    }
    const struct bench_point *other = &r->point[k];
    rest_on(a, k);
    bench_advice_say(a, ": ");
    const bool differs = bench_results_differ(p, other) != 0;
    const struct factor f = factor_of(p, other);
    if (differs) {
        say_factor(a, f);
    }
    bench_advice_say(a, differs ? " x " : "no faster than ");
    if (aligned) {
        bench_advice_say(a, "unaligned");
    } else {
        bench_advice_say(a, "files aligned to %s", plain_size(text, other->block_size));
    }
    if (differs) {
        say_interval(a, f);
    }
}

static hpcw_status judge(struct bench_results *r, struct bench_advice *a, hpcw_error *err) {
    size_t best = SIZE_MAX, choices = 0, near = 0;
    for (size_t i = 0; i < r->points; i++) {
        if (is_choice(r, &r->point[i])) {
            best = best == SIZE_MAX || r->point[i].log.mean > r->point[best].log.mean ? i : best;
            choices++;
        }
    }
    *a = (struct bench_advice){0};
    if (r->stopped[0] != '\0') {
        const struct bench_runs runs = bench_results_runs(r);
        bench_advice_say(a, "The sweep was %s, and this is of %zu of its %zu runs: ", r->stopped, runs.made,
                         runs.planned);
    }
    bench_advice_where(a, r);
    if (fewest_runs(r) < BENCH_FEWEST_REPEAT) {
        say_too_few(r, a);
        return HPCW_OK;
    }
    if (choices < 2) {
        return say_why_nothing(r, choices, a, err);
    }
    const struct bench_point *p = &r->point[best];
    double most = -(double)INFINITY; /* ln of the largest factor by which `rival` may be faster */
    size_t rival = SIZE_MAX;         /* point that may exceed `best` most */
    for (size_t i = 0; i < r->points; i++) {
        if (i != best && is_choice(r, &r->point[i])) {
            const double above = bench_results_most(&r->point[i], p);
            rival = rival == SIZE_MAX || above > most ? i : rival;
            most = fmax(most, above);
            near += above >= 0;
        }
    }
    a->rival.there = true;
    a->rival.point = rival;
    a->rival.low = exp(-bench_results_most(p, &r->point[rival]));
    a->rival.high = exp(most);
    if (!(most < log1p(NEAR))) {
        say_known(r, a);
    }
    rest_on(a, best);
    for (size_t i = 0; i < r->points; i++) {
        if (i != best && is_choice(r, &r->point[i]) && bench_results_most(&r->point[i], p) >= 0) {
            rest_on(a, i);
        }
    }
    if (!(most < log1p(NEAR))) {
        bench_advice_say(a, "noisy, another %s may be %.0f %% faster than %s", distinction(&r->point[rival], p),
                         100 * expm1(most), p->id);
        return say_more_time(r, a, err);
    }
    say_choice(r, p, a);
    char text[UI_TEXT_SIZE];
    a = begin(r);
    rest_on(a, best);
    bench_advice_say(a, "The fastest point is %s, %s to %s; ", p->id, ui_text_rate(text, rate(p)),
                     bench_fs_is_memory(&r->fs) ? "memory" : "the disk");
    if (near == 0) {
        bench_advice_say(a, "each of the %zu others is slower.", choices - 1);
    } else {
        bench_advice_say(a, "%zu of the %zu others may be as fast, or at most %.0f %% faster.", near,
                         choices - 1, ceil(100 * expm1(most)));
    }
    return HPCW_OK;
}

hpcw_status bench_results_advise(struct bench_results *r, hpcw_error *err) {
    hpcw_status s = bench_results_spread(r, err);
    r->advices = 0;
    if (s != HPCW_OK) {
        return s;
    }
    if (fewest_runs(r) >= BENCH_FEWEST_REPEAT) {
        best_block(r);
        pairs(r, BENCH_SION_ALIGNED, BENCH_SION_SHIFTED, "Aligned containers", "unaligned ones");
        pairs(r, BENCH_SION_PACKED, BENCH_SION_ALIGNED, "Packed containers", "aligned ones");
        number_of_files(r);
        mode_pays(r, BENCH_DIRECT, "O_DIRECT");
        mode_pays(r, BENCH_PREALLOCATED, "Preallocation");
    }
    return judge(r, &r->verdict, err);
}
