/* SPDX-License-Identifier: BSD-3-Clause */
/* hpcw-kernels, the developers' regression benchmark: the writers beside plain loops that write the same bytes. */
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hpcw/version.h>

#include "bench/kernels/run.h"
#include "bench/kernels/table.h"
#include "bench/measure/processes.h"
#include "bench/measure/timer.h"
#include "ui/cli/options.h"
#include "ui/cli/text.h"
#include "ui/cli/values.h"

enum { RUN, LIST };

static const struct ui_command commands[] = {
    [RUN] = {"run", "time the writers against plain loops that write the same bytes", NULL, 0, 0},
    [LIST] = {"list", "list the kernels and what each of them measures", NULL, 0, 0},
};

static const char *kernel_word(const void *list, size_t index) {
    (void)list;
    return bench_kernel[index] == NULL ? NULL : bench_kernel[index]->name;
}

#define FIELD(name) .offset = offsetof(struct bench_kernels_options, name)
#define TEXT_FIELD(name) FIELD(name), .size = sizeof((struct bench_kernels_options *)0)->name
#define TIMING .commands = UI_COMMAND(RUN)
#define WORK TIMING, .section = "What is measured"
#define OUTPUT TIMING, .section = "Output"

static const struct ui_option option_table[] = {
    {.param =
         {.key = "dir",
          .type = UI_PARAM_STRING,
          TEXT_FIELD(dir),
          .help =
              "directory on the file system to measure; the data are in a new directory inside it, which is "
              "removed at the end"},
     .letter = 'd',
     .metavar = "DIR",
     .default_text = ".",
     WORK},
    {.param =
         {.key = "only",
          .type = UI_PARAM_U64,
          FIELD(only),
          .help =
              "kernels to run, with commas between them; the default is all that fit this number of processes"},
     .letter = 'k',
     .metavar = "NAMES",
     .read = ui_read_word_set,
     .words = kernel_word,
     WORK},
    {.param = {.key = "repeat",
               .type = UI_PARAM_U32,
               FIELD(repeat),
               .min = 1,
               .max = 1000,
               .help = "runs of each side, after one that warms up"},
     .letter = 'n',
     .metavar = "N",
     .default_text = "5",
     WORK},
    {.param = {.key = "scale",
               .type = UI_PARAM_F64,
               FIELD(scale),
               .min = 1e-6,
               .max = 1,
               .help = "share of the full size, for trials"},
     .metavar = "SHARE",
     .default_text = "1",
     WORK},
    {.param = {.key = "warm",
               .type = UI_PARAM_BOOL,
               FIELD(warm),
               .help = "do not touch the memory that a run will need before its clock starts"},
     .default_text = "yes",
     .flags = UI_OPTION_NEGATABLE,
     WORK},
    {.param = {.key = "hpcgen",
               .type = UI_PARAM_STRING,
               TEXT_FIELD(hpcgen),
               .help = "the generator to run; the default is that of the same build"},
     .metavar = "FILE",
     WORK},
    {.param = {.key = "json",
               .type = UI_PARAM_STRING,
               TEXT_FIELD(json),
               .help = "also write everything, with every sample, to this file"},
     .letter = 'j',
     .metavar = "FILE",
     OUTPUT},
    {.param = {.key = "quiet", .type = UI_PARAM_BOOL, FIELD(quiet), .help = "print no table"},
     .letter = 'q',
     .flags = UI_OPTION_NEGATABLE,
     OUTPUT},
};

static const struct ui_program program = {
    .name = "hpcw-kernels",
    .summary = "time the file writers of hpcw against plain loops",
    .description =
        "The developers' regression benchmark. A kernel has sides: what the library does, and a "
        "plain loop that "
        "writes the same number of bytes to the same offsets. bench/kernels/README.md has the results.",
    .version = hpcw_version,
    .commands = commands,
    .command_count = sizeof commands / sizeof commands[0],
    .options = option_table,
    .option_count = sizeof option_table / sizeof option_table[0],
    .options_size = sizeof(struct bench_kernels_options),
};

/* Names the generator of the same build, if it exists and none was given. */
static void find_hpcgen(struct bench_kernels_options *o) {
    char self[BENCH_PATH - 32];
    ssize_t n = o->hpcgen[0] == '\0' ? readlink("/proc/self/exe", self, sizeof self - 1) : 0;
    if (n <= 0) {
        return;
    }
    self[n] = '\0';
    char *slash = strrchr(self, '/');
    if (slash != NULL) {
        (void)snprintf(o->hpcgen, sizeof o->hpcgen, "%.*s/../gen/hpcgen", (int)(slash - self), self);
        if (access(o->hpcgen, X_OK) != 0) {
            o->hpcgen[0] = '\0';
        }
    }
}

static hpcw_status list_kernels(hpcw_error *err) {
    struct ui_table t = {0};
    ui_table_column(&t, "kernel", UI_LEFT);
    ui_table_column(&t, "processes", UI_LEFT);
    ui_table_column(&t, "what", UI_LEFT);
    for (size_t i = 0; bench_kernel[i] != NULL; i++) {
        ui_table_cell(&t, "%s", bench_kernel[i]->name);
        ui_table_cell(&t, "%s", bench_kernel[i]->needs == BENCH_ONE_PROCESS ? "one" : "several");
        ui_table_cell(&t, "%s", bench_kernel[i]->what);
    }
    hpcw_status s = ui_table_print(&t, stdout, 0, err);
    ui_table_free(&t);
    return s;
}

int main(int argc, char **argv) {
    /* A file that may not grow fails like one on a full disk; early, since MPI makes files, too. */
    (void)signal(SIGXFSZ, SIG_IGN);
    static struct bench_kernels_options o;
    struct ui_parse parse;
    hpcw_error err;
    hpcw_status s = ui_options_init(&parse, &program, &o, &err);
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
        (void)fprintf(stderr, "hpcw-kernels: %s\n", err.message);
        return 2;
    }
    if (parse.command == LIST) {
        s = list_kernels(&err);
        return s == HPCW_OK && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    find_hpcgen(&o);
    struct bench_processes processes;
    s = bench_processes_start(&processes, &err);
    if (s == HPCW_OK) {
        bench_timer_catch_signals();
        s = bench_kernels_run(&o, &processes, &err);
    }
    if (s != HPCW_OK && processes.process == 0) {
        (void)fprintf(stderr, "hpcw-kernels: %s\n", err.message);
    }
    bench_processes_end(&processes);
    if (bench_timer_stopped() != 0) {
        return 128 + bench_timer_stopped();
    }
    return s == HPCW_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
