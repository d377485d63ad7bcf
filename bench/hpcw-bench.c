/* SPDX-License-Identifier: BSD-3-Clause */
/* hpcw-bench, the command. */
#include <stdio.h>
#include <string.h>

#include "bench/count/command.h"
#include "bench/measure/program.h"
#include "bench/options.h"
#include "bench/report/compare.h"
#include "bench/report/results.h"
#include "bench/site/site.h"
#include "bench/sweep/sweep.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"
#include "ui/page/page.h"

/* Joins the arguments of the command line to one text, which is stored with the results. Leaves out the names of
 * directories. */
static void join_command(int argc, char **argv, const struct ui_parse *parse, char *text, size_t size) {
    size_t n = 0;
    text[0] = '\0';
    for (int i = 1; i < argc && n < size; i++) {
        bool argument = false;
        for (size_t k = 0; k < parse->arg_count; k++) {
            argument = argument || parse->args[k] == argv[i];
        }
        /* Leave out options that do not affect what is measured. */
        const bool shown = strcmp(argv[i], "--resume") == 0 || strcmp(argv[i], "-r") == 0 ||
                           strcmp(argv[i], "--dry-run") == 0 || strcmp(argv[i], "--json") == 0 ||
                           strcmp(argv[i], "--quiet") == 0 || strcmp(argv[i], "-q") == 0;
        if (strcmp(argv[i], "--out") == 0 || strcmp(argv[i], "-o") == 0) {
            i++;
        } else if (!argument && !shown && strncmp(argv[i], "--out=", 6) != 0) {
            int more = snprintf(text + n, size - n, "%s%s", n == 0 ? "" : " ", argv[i]);
            n += more > 0 ? (size_t)more : 0;
        }
    }
}

static hpcw_status run_sweep(struct bench_call *call, hpcw_error *err) {
    const struct ui_parse *parse = &call->parse;
    char command[512];
    join_command(call->argc, call->argv, parse, command, sizeof command);
    return bench_sweep(call->options, parse->args[0], command, &call->processes, &call->failed, err);
}

static hpcw_status run_metadata(struct bench_call *call, hpcw_error *err) {
    struct bench_options *o = call->options;
    o->metadata = true;
    return run_sweep(call, err);
}

static hpcw_status run_model(struct bench_call *call, hpcw_error *err) {
    return bench_model(call->options, err);
}

/* Fails with HPCW_EEXIST if the page would replace the results that it is drawn from. */
static hpcw_status check_page(const char *results, const char *page, hpcw_error *err) {
    struct hpcw_i_entry in, out;
    int e = hpcw_i_sys_look(results, true, &in);
    e = e == 0 ? hpcw_i_sys_look(page, true, &out) : e;
    return e != 0 ? hpcw_i_fail_sys(err, e, "%s: cannot find out whether this is the file of the results", page)
           : out.kind == HPCW_I_FILE && out.id.device == in.id.device && out.id.inode == in.id.inode
               ? hpcw_i_fail(err, HPCW_EEXIST,
                             "%s: expected an output that is not read, got the input %s: choose another name",
                             page, results)
               : HPCW_OK;
}

/* Finds the results that an argument names: the file results.json of a sweep, or the directory that has it. */
static hpcw_status find_results(const char *given, char path[BENCH_PATH], hpcw_error *err) {
    struct hpcw_i_entry entry;
    const int e = hpcw_i_sys_look(given, true, &entry);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot look at it", given);
    }
    const int size =
        snprintf(path, BENCH_PATH, "%s%s", given, entry.kind == HPCW_I_DIRECTORY ? "/results.json" : "");
    return size < BENCH_PATH ? HPCW_OK
                             : hpcw_i_fail(err, HPCW_EINVAL, "expected a path of at most %d bytes, got %d",
                                           BENCH_PATH - 1, size);
}

/* Draws the results of an earlier sweep as a page, by default in their directory. */
static hpcw_status run_report(struct bench_call *call, hpcw_error *err) {
    const struct bench_options *o = call->options;
    char results[BENCH_PATH];
    char directory[BENCH_PATH], beside[BENCH_PATH + 32];
    hpcw_status s = find_results(call->parse.args[0], results, err);
    if (s != HPCW_OK) {
        return s;
    }
    const char *slash = strrchr(results, '/');
    (void)snprintf(directory, sizeof directory, "%.*s",
                   slash == NULL || slash == results ? 1 : (int)(slash - results),
                   slash == NULL ? "." : results);
    (void)snprintf(beside, sizeof beside, "%s/report.html", directory);
    const char *page = o->output[0] == '\0' ? beside : o->output;
    struct bench_results r;
    if (strcmp(page, "-") == 0) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "--output: expected a file for the page, got -: ./- is one of this name");
    }
    s = ui_page_available(err);
    s = s == HPCW_OK ? bench_results_read(&r, results, err) : s;
    if (s == HPCW_OK) {
        s = check_page(results, page, err);
        s = s == HPCW_OK ? bench_report_page(&r, directory, NULL, page, err) : s;
        if (s == HPCW_OK && r.stopped[0] != '\0' && r.metadatas == 0) {
            const struct bench_runs runs = bench_results_runs(&r);
            char go_on[BENCH_RESUME];
            (void)fprintf(stderr, "hpcw-bench: %s: the sweep was %s, and these are %zu of its %zu runs; %s\n",
                          results, r.stopped, runs.made, runs.planned,
                          bench_results_resume(&r, directory, go_on));
        }
        bench_results_free(&r);
    }
    return s;
}

static hpcw_status run_compare(struct bench_call *call, hpcw_error *err) {
    const struct bench_options *o = call->options;
    char path[2][BENCH_PATH];
    hpcw_status s = find_results(call->parse.args[0], path[0], err);
    s = s == HPCW_OK ? find_results(call->parse.args[1], path[1], err) : s;
    return s == HPCW_OK ? bench_compare_command(path[0], path[1], o->json, o->quiet, err) : s;
}

static hpcw_status run_site(struct bench_call *call, hpcw_error *err) {
    return bench_site(call->options, call->parse.args[0], err);
}

int main(int argc, char **argv) {
    static const struct bench_command_row row[BENCH_COMMANDS] = {
        [BENCH_COMMAND_SWEEP] = {run_sweep, true},      [BENCH_COMMAND_METADATA] = {run_metadata, true},
        [BENCH_COMMAND_MODEL] = {run_model, false},     [BENCH_COMMAND_REPORT] = {run_report, false},
        [BENCH_COMMAND_COMPARE] = {run_compare, false}, [BENCH_COMMAND_SITE] = {run_site, false},
    };
    static struct bench_options o;
    return bench_program_run(argc, argv, &bench_program, &o, row);
}
