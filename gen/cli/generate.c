/* SPDX-License-Identifier: BSD-3-Clause */
/* generate and join: show progress, then print a summary. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gen/cli/commands.h"
#include "gen/cli/common/stop.h"
#include "gen/dataset/directory/directory.h"
#include "gen/dataset/generate.h"
#include "gen/spec/pool.h"
#include "libwriter/base/shown.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/io/sys.h"
#include "ui/cli/progress.h"
#include "ui/cli/text.h"

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void on_label(void *context, const char *text) {
    ui_progress_label(context, text);
}

static void on_progress(void *context, uint64_t bytes) {
    ui_progress_add(context, bytes);
}

static hpcw_status print_json(const struct gen_run *run, const struct gen_outcome *o, double seconds,
                              hpcw_error *err) {
    struct gen_cli_result r;
    struct hpcw_i_json *json = &r.json;
    gen_cli_result_begin(&r, true);
    hpcw_i_json_put_str(json, "directory", run->directory);
    hpcw_i_json_put_str(json, "fingerprint", run->fingerprint);
    hpcw_i_json_put_u64(json, "ranks", run->dataset->ranks);
    hpcw_i_json_put_u64(json, "seed", run->dataset->seed);
    hpcw_i_json_put_u64(json, "files_written", o->files);
    hpcw_i_json_put_u64(json, "files_kept", o->kept);
    hpcw_i_json_put_u64(json, "apparent_bytes", o->size.apparent);
    hpcw_i_json_put_u64(json, "allocated_bytes", o->size.allocated);
    hpcw_i_json_put_bool(json, "complete", o->complete);
    hpcw_i_json_put_f64(json, "seconds", seconds);
    return gen_cli_result_print(&r, HPCW_OK, err);
}

static void print_summary(const struct gen_run *run, const struct gen_outcome *o, double seconds) {
    const struct gen_dataset *d = run->dataset;
    hpcw_error room;
    const char *dir = gen_cli_printable(run->directory, &room);
    char apparent[UI_TEXT_SIZE];
    char allocated[UI_TEXT_SIZE];
    char duration[UI_TEXT_SIZE];
    char word[GEN_DIRECTORY_PATH];
    for (size_t f = 0; f < gen_format_count; f++) {
        struct gen_slice units = gen_part_of(d, f, run->part, run->parts);
        struct gen_unit unit;
        if (units.begin < units.end && gen_format[f]->unit(d, units.begin, &unit, NULL) == HPCW_OK) {
            (void)fprintf(stderr, "hpcgen: %-9s %s/%s%s\n", gen_format[f]->name, dir, unit.path,
                          units.end - units.begin > 1 ? " ..." : "");
        }
    }
    (void)fprintf(stderr, "hpcgen: %u ranks, seed %" PRIu64 ", preset %s, scale %s: %s apparent, %s stored\n",
                  d->ranks, d->seed, d->preset, gen_scale_name[d->scale],
                  ui_text_bytes(apparent, o->size.apparent), ui_text_bytes(allocated, o->size.allocated));
    (void)fprintf(stderr, "hpcgen: %" PRIu64 " data file%s written, %" PRIu64 " kept, in %s\n", o->files,
                  o->files == 1 ? "" : "s", o->kept, ui_text_duration(duration, seconds));
    if (!o->complete) {
        (void)fprintf(stderr, "hpcgen: part %u of %u is complete; after the last one: hpcgen join %s\n",
                      run->part + 1, run->parts, hpcw_i_shown_word(word, sizeof word, run->directory, "DIR"));
    } else if (o->files == 0 && run->resume) {
        (void)fprintf(stderr, "hpcgen: %s was already complete\n", dir);
    } else {
        (void)fprintf(stderr, "hpcgen: %s is complete; check it with: hpcgen verify %s\n", dir,
                      hpcw_i_shown_word(word, sizeof word, run->directory, "DIR"));
    }
}

void gen_cli_print_left(const char *dir, const struct gen_left *left) {
    char path[GEN_DIRECTORY_PATH];
    char more[48] = "";
    hpcw_error room;
    if (left->lease.code != HPCW_OK) {
        (void)fprintf(
            stderr, "hpcgen: %s: the next run on this host removes it, one on another host needs --takeover\n",
            gen_cli_printable(left->lease.message, &room));
    }
    if (left->count == 0) {
        return;
    }
    if (left->count > 1) {
        (void)snprintf(more, sizeof more, " and %" PRIu64 " more", left->count - 1);
    }
    (void)snprintf(path, sizeof path, "%s/" GEN_STATE_DIR "/%s", dir, left->name);
    (void)fprintf(stderr, "hpcgen: %s%s: left there, as no run of hpcgen made %s\n",
                  gen_cli_printable(path, &room), more, left->count == 1 ? "it" : "them");
}

static hpcw_status print_outcome(const struct gen_cli_options *o, const struct gen_run *run,
                                 const struct gen_outcome *outcome, double seconds, hpcw_error *err) {
    if (!o->quiet) {
        print_summary(run, outcome, seconds);
        gen_cli_print_left(run->directory, run->left);
    }
    return o->json ? print_json(run, outcome, seconds, err) : HPCW_OK;
}

/* After a full disk or a limit of sizes, adds to the message how to go on, if the run has written anything. */
static void explain_full(const struct gen_cli_options *o, hpcw_error *err) {
    char state[GEN_DIRECTORY_PATH];
    struct hpcw_i_entry entry;
    const size_t size = strlen(err->message);
    gen_directory_path(o->out, GEN_PARAMETERS, state);
    if ((err->sys_errno == ENOSPC || err->sys_errno == EDQUOT || err->sys_errno == EFBIG) &&
        hpcw_i_sys_look(state, true, &entry) == 0 && entry.kind == HPCW_I_FILE) {
        (void)snprintf(err->message + size, sizeof err->message - size, ": %s", gen_cli_go_on(o));
    }
}

hpcw_status gen_cli_generate(const struct gen_cli_options *o, hpcw_comm *comm, hpcw_error *err) {
    double start = now();
    struct ui_progress *progress = NULL;
    bool first = hpcw_comm_process(comm) == 0;
    struct gen_dataset d = {0};
    struct gen_size size;
    struct gen_left left = {0};
    hpcw_status s = gen_cli_resolve(o, first, &d, err);
    if (s == HPCW_OK) {
        s = gen_part_size(&d, o->part.index, o->part.count, &size, err);
    }
    if (s == HPCW_OK) {
        s = ui_progress_start(
            &(struct ui_progress_options){.mode = o->quiet || !first ? UI_PROGRESS_QUIET : UI_PROGRESS_AUTO,
                                          .prefix = "hpcgen",
                                          .total = size.allocated / (uint64_t)hpcw_comm_size(comm)},
            &progress, err);
    }
    s = hpcw_i_agree(comm, s, NULL, err);
    struct gen_run run = {
        .dataset = &d,
        .directory = o->out,
        .comm = comm,
        .jobs = o->jobs,
        .part = o->part.index,
        .parts = o->part.count,
        .resume = o->resume,
        .force = o->force,
        .takeover = o->takeover,
        .checksums = o->checksums,
        .stripes = o->stripes,
        .durability = o->sync ? HPCW_SYNC_DIRECTORY : HPCW_SYNC_NONE,
        .label = on_label,
        .progress = on_progress,
        .context = progress,
        .left = &left,
    };
    struct gen_outcome outcome = {0};
    if (s == HPCW_OK) {
        s = gen_generate(&run, &outcome, err);
        if (s != HPCW_OK) {
            explain_full(o, err);
        }
    }
    ui_progress_stop(progress);
    if (s == HPCW_OK && first) {
        s = print_outcome(o, &run, &outcome, now() - start, err);
    }
    gen_dataset_free(&d);
    return s;
}

static void print_was_complete(const struct gen_cli_options *o, const struct gen_run *run) {
    if (!o->quiet) {
        hpcw_error room;
        (void)fprintf(stderr, "hpcgen: %s was already complete\n", gen_cli_printable(run->directory, &room));
        gen_cli_print_left(run->directory, run->left);
    }
    if (o->json) {
        (void)printf("{\"files_written\":0,\"complete\":true}\n");
    }
}

hpcw_status gen_cli_join(const struct gen_cli_options *o, const char *dir, hpcw_error *err) {
    double start = now();
    struct gen_dataset d = {0};
    struct gen_outcome outcome = {0};
    struct gen_left left = {0};
    hpcw_error why;
    /* An unfinished dataset has a description, a finished one has a manifest. */
    hpcw_status s = gen_directory_read_dataset(dir, GEN_PARAMETERS, &d, NULL, &why);
    if (s == HPCW_ENOENT) {
        s = gen_directory_read_dataset(dir, GEN_MANIFEST, &d, NULL, err);
        if (s != HPCW_OK && s != HPCW_EMISMATCH) {
            s = hpcw_i_fail(err, HPCW_ENOENT,
                            "%s: expected a dataset with all parts written, got none (%.500s)", dir,
                            why.message);
        }
    } else if (s != HPCW_OK) {
        s = hpcw_i_fail_as(err, &why);
    }
    struct gen_run run = {
        .dataset = &d,
        .directory = dir,
        .comm = hpcw_i_comm_or_self(NULL),
        .jobs = 1,
        .parts = 1,
        .takeover = o->takeover,
        .checksums = o->checksums,
        .durability = o->sync ? HPCW_SYNC_DIRECTORY : HPCW_SYNC_NONE,
        .left = &left,
    };
    if (s == HPCW_OK) {
        s = gen_join(&run, &outcome, err);
    }
    if (s == HPCW_OK && outcome.already) {
        print_was_complete(o, &run);
    } else if (s == HPCW_OK) {
        s = print_outcome(o, &run, &outcome, now() - start, err);
    }
    gen_dataset_free(&d);
    return s;
}
