/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of a sweep: a directory of files, and a table for people. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "bench/report/metadata.h"
#include "bench/sweep/sweep.h"
#include "libwriter/base/status.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sink.h"
#include "ui/cli/text.h"
#include "ui/page/page.h"

/* Returns whether the directory has the results of an interrupted sweep, which --resume can continue. */
static bool is_interrupted(const char *directory) {
    struct bench_results r;
    char file[BENCH_PATH + 16];
    hpcw_error e;
    (void)snprintf(file, sizeof file, "%s/results.json", directory);
    if (bench_results_read(&r, file, &e) != HPCW_OK) {
        return false;
    }
    const bool interrupted = !r.complete && r.metadatas == 0;
    bench_results_free(&r);
    return interrupted;
}

/* If there is no results.json, other files of the directory belong to somebody else and must not be replaced.
 * Symbolic links are refused, since they could lead to a file elsewhere. */
static hpcw_status check_files(const struct bench_output *out, hpcw_error *err) {
    static const char *const name[] = {"results.json", "results.csv", "report.html"};
    bool results = false;
    int at;
    int e = hpcw_i_dir_fd(out->dir, &at);
    for (size_t i = 0; e == 0 && i < sizeof name / sizeof name[0]; i++) {
        struct hpcw_i_entry entry;
        e = hpcw_i_sys_look_at(at, name[i], &entry);
        results = results || (e == 0 && i == 0 && entry.kind == HPCW_I_FILE);
        if (e == 0 && entry.kind != HPCW_I_NOTHING && (entry.kind != HPCW_I_FILE || !results)) {
            return hpcw_i_fail(err, HPCW_EEXIST,
                               "%s/%s: expected the file of an interrupted sweep, got %s: choose another --out",
                               out->path, name[i],
                               entry.kind == HPCW_I_FILE ? "one without results.json" : "no regular file");
        }
    }
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot look at its files", out->path);
}

hpcw_status bench_output_hold(struct bench_output *out, hpcw_error *err) {
    int e = hpcw_i_dir_hold(out->path, &out->dir);
    return e == ENOTDIR ? hpcw_i_fail(err, HPCW_EEXIST,
                                      "%s: expected the directory of an interrupted sweep, got something else: "
                                      "choose another --out",
                                      out->path)
           : e != 0     ? hpcw_i_fail_sys(err, e, "%s: cannot open the directory for the results", out->path)
                        : check_files(out, err);
}

/* Locks the held directory, unless the file system has no locks. */
static hpcw_status lock(struct bench_output *out, hpcw_error *err) {
    int at;
    int e = hpcw_i_dir_fd(out->dir, &at);
    e = e == 0 ? hpcw_i_sys_own_directory(at, &out->lock) : e;
    if (e == EAGAIN) {
        out->made = false; /* also an empty directory is now that of the other sweep */
        return hpcw_i_fail(err, HPCW_EEXIST, "%s: another sweep is running, and writes its results here",
                           out->path);
    }
    return HPCW_OK;
}

hpcw_status bench_output_make(const struct bench_options *o, const struct bench_results *r,
                              struct bench_output *out, hpcw_error *err) {
    char *path = out->path;
    if (o->output[0] != '\0') {
        (void)snprintf(path, BENCH_PATH, "%s", o->output);
    } else {
        /* The name has the time without "-" and ":". */
        size_t n = (size_t)snprintf(path, BENCH_PATH, "./hpcw-bench-");
        for (const char *p = r->time; *p != '\0'; p++) {
            if (*p != '-' && *p != ':') {
                path[n++] = *p;
            }
        }
        path[n] = '\0';
    }
    int e = hpcw_i_sys_mkdir(path, 0777);
    out->made = e == 0;
    if (e == EEXIST && !o->resume) {
        return hpcw_i_fail(
            err, HPCW_EEXIST, "%s: expected the name of a new directory for the results, got one that exists%s",
            path, is_interrupted(path) ? "; to go on with its interrupted sweep, add --resume" : "");
    }
    if (e != 0 && e != EEXIST) {
        return hpcw_i_fail_sys(err, e, "%s: cannot make the directory for the results", path);
    }
    hpcw_status s = bench_output_hold(out, err);
    return s == HPCW_OK ? lock(out, err) : s;
}

hpcw_status bench_output_write(const struct bench_results *r, const struct bench_output *out, hpcw_error *err) {
    const struct hpcw_i_sink_below below = {out->dir, out->path, HPCW_SYNC_NONE};
    const hpcw_sink_source source = hpcw_i_sink_below_source(&below);
    char path[BENCH_PATH + 16];
    (void)snprintf(path, sizeof path, "%s/results.json", out->path);
    hpcw_status s = bench_results_write_json(r, &source, path, err);
    (void)snprintf(path, sizeof path, "%s/results.csv", out->path);
    return s == HPCW_OK ? bench_results_write_csv(r, &source, path, err) : s;
}

hpcw_status bench_output_draw(const struct bench_results *r, const struct bench_output *out, hpcw_error *err) {
    const struct hpcw_i_sink_below below = {out->dir, out->path, HPCW_SYNC_NONE};
    const hpcw_sink_source source = hpcw_i_sink_below_source(&below);
    char path[BENCH_PATH + 16];
    (void)snprintf(path, sizeof path, "%s/report.html", out->path);
    /* a build without reports still writes the data */
    return ui_page_available(NULL) == HPCW_OK ? bench_report_page(r, out->path, &source, path, err) : HPCW_OK;
}

bool bench_output_is_there(const struct bench_output *out) {
    struct hpcw_i_entry own, now;
    int at;
    return hpcw_i_dir_fd(out->dir, &at) == 0 && hpcw_i_sys_look_at(at, ".", &own) == 0 &&
           hpcw_i_sys_look(out->path, true, &now) == 0 && own.id.device == now.id.device &&
           own.id.inode == now.id.inode;
}

void bench_output_close(struct bench_output *out, bool failed) {
    if (failed && out->made && (out->dir == NULL || bench_output_is_there(out))) {
        (void)hpcw_i_sys_rmdir(out->path);
    }
    if (out->lock >= 0) {
        hpcw_i_sys_drop(out->lock);
    }
    hpcw_i_dir_release(out->dir);
}

/* ---- the table ---- */

static void print_rate(struct ui_table *t, const struct bench_rate *rate) {
    char text[UI_TEXT_SIZE];
    ui_table_cell(t, "%s", rate->there ? ui_text_rate(text, rate->stats.median) : "");
}

static void print_point(struct ui_table *t, const struct bench_results *r, const struct bench_point *p,
                        bool reads) {
    const bool too_small = !bench_results_counts(r, p);
    char interval[2 * UI_TEXT_SIZE] = "", ratio[UI_TEXT_SIZE] = "", shared[UI_TEXT_SIZE] = "";
    char low[UI_TEXT_SIZE], high[UI_TEXT_SIZE];
    if (bench_rate_is_spread(&p->durable)) {
        (void)snprintf(interval, sizeof interval, "%s to %s", ui_text_rate(low, p->durable.stats.ci_low),
                       ui_text_rate(high, p->durable.stats.ci_high));
    }
    if (p->ratio.there) {
        (void)snprintf(ratio, sizeof ratio, "%.2f", p->ratio.stats.median);
    }
    if (p->blocks.counted) {
        (void)snprintf(shared, sizeof shared, "%" PRIu64, p->blocks.shared);
    }
    char bytes[UI_TEXT_SIZE], seconds[UI_TEXT_SIZE];
    ui_table_cell(t, "%s", p->id);
    ui_table_cell(t, "%s", ui_text_bytes_binary(bytes, bench_results_bytes(p)));
    ui_table_cell(t, "%s", ui_text_duration(seconds, p->seconds));
    print_rate(t, &p->durable);
    ui_table_cell(t, "%s", interval);
    print_rate(t, &p->cached);
    ui_table_cell(t, "%s", ratio);
    ui_table_cell(t, "%s", shared);
    if (r->hosts > 1 && p->blocks.counted) {
        ui_table_cell(t, "%" PRIu64, p->blocks.by_hosts);
    } else if (r->hosts > 1) {
        ui_table_cell(t, "%s", "");
    }
    if (reads) {
        ui_table_cell(t, "%s%s", p->read.there ? ui_text_rate(ratio, p->read.stats.median) : "",
                      p->read_cached ? ", cached" : "");
    }
    ui_table_cell(t, "%s%s", too_small ? "too small" : "", !p->noisy ? "" : too_small ? ", noisy" : "noisy");
}

/* Returns the length of the begin "LAYOUT/MODE/" of `id` if `before` has the same begin, otherwise 0. */
static size_t same_start(const char *id, const char *before) {
    size_t n = 0, slashes = 0;
    while (slashes < 2 && id[n] != '\0' && id[n] == before[n]) {
        slashes += id[n++] == '/';
    }
    return slashes == 2 ? n : 0;
}

/* Prints a line for each reason: "left out, REASON: sion-packed/fsync/16K 64K, task-local/direct/records-47K". */
void bench_output_unmeasured(const struct bench_results *r, FILE *stream) {
    for (size_t i = 0; i < r->points; i++) {
        const struct bench_point *p = &r->point[i];
        const char *before = "";
        for (size_t k = 0; p->fate != BENCH_MEASURED && k < r->points; k++) {
            const struct bench_point *q = &r->point[k];
            if (q->fate != p->fate || strcmp(q->reason, p->reason) != 0) {
                continue;
            }
            if (k < i) {
                break; /* named already */
            }
            size_t same = same_start(q->id, before);
            if (k == i) {
                (void)fprintf(stream, "%s, %s: %s", bench_fate_name[p->fate], p->reason, q->id);
            } else {
                (void)fprintf(stream, same > 0 ? " %s" : ", %s", q->id + same);
            }
            before = q->id;
        }
        (void)fputs(before[0] == '\0' ? "" : "\n", stream);
    }
}

void bench_output_memory(const struct bench_results *r, FILE *stream) {
    if (bench_fs_is_memory(&r->fs)) {
        (void)fprintf(stream, "%s is memory: no rate here is that of a disk, and nothing is durable\n",
                      r->fs.type);
    }
}

hpcw_status bench_output_print(const struct bench_results *r, FILE *stream, hpcw_error *err) {
    const bool memory = bench_fs_is_memory(&r->fs);
    const char *const title[] = {memory ? "to memory" : "durable", "interval of the median", "page cache",
                                 "of ceiling", "shared blocks"};
    struct ui_table t = {0};
    size_t measured = 0;
    bool reads = false;
    if (r->metadatas > 0) {
        return bench_metadata_print(r, stream, err);
    }
    for (size_t i = 0; i < r->points; i++) {
        reads = reads || r->point[i].read.there;
    }
    ui_table_column(&t, "point", UI_LEFT);
    ui_table_column(&t, "bytes", UI_RIGHT);
    ui_table_column(&t, "a run", UI_RIGHT);
    for (size_t i = 0; i < sizeof title / sizeof title[0]; i++) {
        ui_table_column(&t, title[i], UI_RIGHT);
    }
    if (r->hosts > 1) {
        ui_table_column(&t, "of hosts", UI_RIGHT);
    }
    if (reads) {
        ui_table_column(&t, "read", UI_RIGHT);
    }
    ui_table_column(&t, "", UI_LEFT);
    for (size_t i = 0; i < r->points; i++) {
        if (r->point[i].fate == BENCH_MEASURED) {
            print_point(&t, r, &r->point[i], reads);
            measured++;
        }
    }
    hpcw_status s = measured == 0 ? HPCW_OK : ui_table_print(&t, stream, 0, err);
    ui_table_free(&t);
    if (r->verdict.rival.there) {
        (void)fputs("points are ranked by the mean of their runs without the lowest and the highest fifth: the "
                    "best one need not have the highest median\n",
                    stream);
    }
    bench_output_unmeasured(r, stream);
    bench_output_memory(r, stream);
    for (size_t i = 0; i <= r->advices; i++) {
        (void)fputc('\n', stream);
        ui_text_wrap(stream, i < r->advices ? r->advice[i].text : r->verdict.text, 0, 0,
                     i < r->advices ? ui_text_width(stream) : UINT_MAX);
    }
    return s;
}
