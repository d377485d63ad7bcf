/* SPDX-License-Identifier: BSD-3-Clause */
/* hpcw-bench, the command. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/count/command.h"
#include "bench/measure/processes.h"
#include "bench/measure/timer.h"
#include "bench/options.h"
#include "bench/report/command.h"
#include "bench/report/compare.h"
#include "bench/sweep/sweep.h"

/* The options as they were given, for the results: without names of directories. */
static void join_command(int argc, char **argv, const struct ui_parse *parse, char *text, size_t size) {
    size_t n = 0;
    text[0] = '\0';
    for (int i = 1; i < argc && n < size; i++) {
        bool argument = false;
        for (size_t k = 0; k < parse->arg_count; k++) {
            argument = argument || parse->args[k] == argv[i];
        }
        if (strcmp(argv[i], "--output") == 0 || strcmp(argv[i], "-o") == 0) {
            i++;
        } else if (!argument && strncmp(argv[i], "--output=", 9) != 0) {
            int more = snprintf(text + n, size - n, "%s%s", n == 0 ? "" : " ", argv[i]);
            n += more > 0 ? (size_t)more : 0;
        }
    }
}

static hpcw_status run_model(struct bench_options *o, hpcw_error *err) {
    o->model.ranks = o->ranks;
    o->model.layouts = o->layouts;
    o->model.rank_bytes = o->per_rank;
    o->model.fs_blocks = o->block_sizes;
    o->model.records = o->records;
    o->model.files = o->files;
    o->model.quiet = o->quiet;
    o->model.json = o->json;
    return bench_model(&o->model, err);
}

static hpcw_status run_sweep(int argc, char **argv, const struct ui_parse *parse, struct bench_options *o,
                             const struct bench_processes *processes, bool *failed, hpcw_error *err) {
    char command[512];
    join_command(argc, argv, parse, command, sizeof command);
    o->sweep.ranks = o->ranks;
    o->sweep.layouts = o->layouts;
    o->sweep.per_rank = o->per_rank;
    o->sweep.block_sizes = o->block_sizes;
    o->sweep.records = o->records;
    o->sweep.files = o->files;
    o->sweep.repeat = o->repeat;
    o->sweep.quiet = o->quiet;
    return bench_sweep(&o->sweep, parse->args[0], command, processes, failed, err);
}

int main(int argc, char **argv) {
    /* A file that may not grow fails like one on a full disk; early, since MPI makes files, too. */
    (void)signal(SIGXFSZ, SIG_IGN);
    if (argc > 1 && strcmp(argv[1], "kernels") == 0) {
        (void)fprintf(stderr,
                      "hpcw-bench: the developers' kernels are a program of their own, hpcw-kernels, in the "
                      "build directory\n");
        return 2;
    }
    static struct bench_options o;
    struct ui_parse parse;
    hpcw_error err;
    hpcw_status s = ui_options_init(&parse, &bench_program, &o, &err);
    if (s == HPCW_OK) {
        s = ui_options_parse(&parse, argc, argv, &err);
    }
    if (s == HPCW_OK && parse.answer != UI_ANSWER_NONE) {
        ui_options_answer(&parse, stdout);
        return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    if (s == HPCW_OK) {
        s = ui_options_finish(&parse, &err);
    }
    if (s != HPCW_OK) {
        (void)fprintf(stderr, "hpcw-bench: %s\n", err.message);
        return 2;
    }
    if (parse.command != BENCH_COMMAND_SWEEP) {
        switch ((enum bench_command)parse.command) {
        case BENCH_COMMAND_MODEL:
            s = run_model(&o, &err);
            break;
        case BENCH_COMMAND_REPORT:
            s = bench_report_command(parse.args[0], o.sweep.output, &err);
            break;
        default:
            s = bench_compare_command(parse.args[0], parse.args[1], o.json, o.quiet, &err);
        }
        if (s != HPCW_OK) {
            (void)fprintf(stderr, "hpcw-bench: %s\n", err.message);
        }
        return s == HPCW_OK && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    struct bench_processes processes;
    bool failed = false;
    s = bench_processes_start(&processes, &err);
    if (s == HPCW_OK) {
        bench_timer_catch_signals();
        s = run_sweep(argc, argv, &parse, &o, &processes, &failed, &err);
    }
    if (s != HPCW_OK && processes.process == 0) {
        (void)fprintf(stderr, "hpcw-bench: %s\n", err.message);
    }
    bench_processes_end(&processes);
    if (bench_timer_stopped() != 0) {
        return 128 + bench_timer_stopped();
    }
    return s == HPCW_OK && !failed ? EXIT_SUCCESS : EXIT_FAILURE;
}
