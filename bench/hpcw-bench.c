/* SPDX-License-Identifier: BSD-3-Clause */
/* F6: hpcw-bench, the command. */
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hpcw/sion.h>
#include <hpcw/version.h>

#include "bench/count/command.h"
#include "bench/kernels/kernels.h"
#include "bench/kernels/report.h"
#include "bench/measure/machine.h"
#include "bench/measure/processes.h"
#include "bench/measure/timer.h"
#include "bench/measure/workdir.h"
#include "bench/report/command.h"
#include "bench/report/compare.h"
#include "bench/sweep/sweep.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/io/lov.h"
#include "ui/cli/options.h"
#include "ui/cli/text.h"
#include "ui/cli/values.h"

enum bench_command { SWEEP, KERNELS, LIST, MODEL, REPORT, COMPARE };

struct options {
    /* What several commands take; each is told when it is called. */
    uint32_t ranks;
    uint64_t layouts, per_rank;
    struct ui_sizes block_sizes, records, files;
    struct bench_sweep_options sweep;
    char dir[BENCH_PATH];
    char json[BENCH_PATH];
    char hpcgen[BENCH_PATH];
    uint64_t only; /* bit i: the i-th kernel; 0: not given, all */
    uint32_t repeat;
    double scale;
    bool warm;
    bool quiet;
    struct bench_model_options model;
};

static const struct ui_command commands[] = {
    [SWEEP] = {"sweep", "measure how the block size that files are aligned to decides their throughput", "DIR",
               1, 1},
    [KERNELS] = {"kernels", "time the writers against plain loops that write the same bytes", NULL, 0, 0},
    [LIST] = {"list", "list the kernels and what each of them measures", NULL, 0, 0},
    [MODEL] = {"model", "count, without a file, the file system blocks that several ranks would share", NULL, 0,
               0},
    [REPORT] = {"report", "draw the results of a sweep again, as a page with charts", "RESULTS.json", 1, 1},
    [COMPARE] = {"compare", "say which points of a second sweep are faster or slower than in a first one",
                 "FIRST.json SECOND.json", 2, 2},
};

static const char *kernel_word(const void *list, size_t index) {
    (void)list;
    return bench_kernel[index] == NULL ? NULL : bench_kernel[index]->name;
}

static const char *layout_word(const void *list, size_t index) {
    (void)list;
    return index < BENCH_LAYOUTS ? bench_layout_name[index] : NULL;
}

static const char *mode_word(const void *list, size_t index) {
    (void)list;
    return index < BENCH_MODES ? bench_mode_name[index] : NULL;
}

#define FIELD(name) .offset = offsetof(struct options, name)
#define TEXT_FIELD(name) FIELD(name), .size = sizeof((struct options *)0)->name
#define SWEEPING UI_COMMAND(SWEEP)
#define TIMING UI_COMMAND(KERNELS)
#define COUNTING UI_COMMAND(MODEL)
#define MEASURING (SWEEPING | TIMING)
#define WORK .section = "What is measured or counted"
#define LIMITS .section = "Limits"
#define OUTPUT .section = "What comes out"
#define LARGEST_SIZE 4611686018427387904.0 /* 4 EiB */

static const struct ui_option option_table[] = {
    {.param =
         {.key = "blocksize",
          .type = UI_PARAM_SIZE,
          FIELD(block_sizes),
          .min = 1,
          .max = 2147483647,
          .help =
              "block sizes: a size, a comma list, or FIRST:LAST:xN. Of the file system that is counted; sweep "
              "aligns containers to each and without the option takes 4K:16M:x4 and that of the file system"},
     .letter = 'b',
     .metavar = "SIZES",
     .read = ui_read_sizes,
     .commands = SWEEPING | COUNTING,
     .required = COUNTING,
     WORK},
    {.param = {.key = "layout",
               .type = UI_PARAM_U64,
               FIELD(layouts),
               .help = "comma list of layouts; without it all"},
     .letter = 'l',
     .metavar = "NAMES",
     .read = ui_read_word_set,
     .words = layout_word,
     .commands = SWEEPING | COUNTING,
     WORK},
    {.param = {.key = "mode",
               .type = UI_PARAM_U64,
               FIELD(sweep.modes),
               .help = "comma list of modes, each at all block sizes; without it fsync, and the others at the "
                       "block size of the file system alone"},
     .letter = 'm',
     .metavar = "NAMES",
     .read = ui_read_word_set,
     .words = mode_word,
     .commands = SWEEPING,
     WORK},
    {.param = {.key = "record",
               .type = UI_PARAM_SIZE,
               FIELD(records),
               .min = 1,
               .max = 1073741824,
               .help = "bytes of one write. Of sweep, containers take the first of the list, plain files each "
                       "of them; without the option 47K, and for plain files 4K and 1M, too. Counted are "
                       "containers that keep a record in one chunk; without the option records may be split"},
     .metavar = "SIZES",
     .read = ui_read_sizes,
     .commands = SWEEPING | COUNTING,
     WORK},
    {.param = {.key = "per-rank",
               .type = UI_PARAM_SIZE,
               FIELD(per_rank),
               .min = 1,
               .max = 1099511627775.0,
               .help = "bytes of one rank; auto: whole records, as many as the budget allows; "
                       "counted are 100000000"},
     .metavar = "SIZE",
     .default_text = "auto",
     .zero_word = "auto",
     .commands = SWEEPING | COUNTING,
     WORK},
    {.param =
         {.key = "ranks",
          .type = UI_PARAM_U32,
          FIELD(ranks),
          .min = 1,
          .max = HPCW_SION_MAX_TASKS,
          .help =
              "virtual ranks, spread over the processes; auto: 64, or one for each process if there are more"},
     .letter = 'r',
     .metavar = "N",
     .default_text = "auto",
     .zero_word = "auto",
     .commands = SWEEPING | COUNTING,
     .required = COUNTING,
     WORK},
    {.param = {.key = "files",
               .type = UI_PARAM_SIZE,
               FIELD(files),
               .min = 1,
               .max = HPCW_SION_MAX_TASKS,
               .help = "physical files of a container; sweep takes further numbers of a list at the block size "
                       "of the file system alone. Without the option 1, and of sweep 4, too"},
     .metavar = "NUMBERS",
     .read = ui_read_sizes,
     .commands = SWEEPING | COUNTING,
     WORK},
    {.param = {.key = "verify",
               .type = UI_PARAM_BOOL,
               FIELD(sweep.verify),
               .help = "read everything back and compare, off the clock"},
     .commands = SWEEPING,
     .flags = UI_OPTION_NEGATABLE,
     WORK},
    {.param = {.key = "fs-block",
               .type = UI_PARAM_SIZE,
               FIELD(sweep.fs_block),
               .min = 512,
               .max = 1073741824,
               .help = "block size of the file system, where what it says itself is wrong"},
     .metavar = "SIZE",
     .default_text = "auto",
     .zero_word = "auto",
     .commands = SWEEPING,
     WORK},
    {.param = {.key = "stripe-count",
               .type = UI_PARAM_U32,
               FIELD(sweep.stripe_count),
               .min = 1,
               .max = HPCW_I_LOV_ALL,
               .help = "Lustre: stripes of each file of data, at most 2000, or 65535 for all targets"},
     .metavar = "N",
     .default_text = "auto",
     .zero_word = "auto",
     .commands = SWEEPING,
     WORK},
    {.param = {.key = "stripe-size",
               .type = UI_PARAM_SIZE,
               FIELD(sweep.stripe_size),
               .min = HPCW_I_LOV_STRIPE_UNIT,
               .max = 4294901760.0,
               .help = "Lustre: bytes of a stripe, a multiple of 64K"},
     .metavar = "BYTES",
     .default_text = "auto",
     .zero_word = "auto",
     .commands = SWEEPING,
     WORK},
    {.param = {.key = "seed",
               .type = UI_PARAM_U64,
               FIELD(sweep.seed),
               .max = 9007199254740991.0,
               .help = "of the data and of the order of the runs"},
     .metavar = "N",
     .default_text = "1",
     .commands = SWEEPING,
     WORK},
    {.param = {.key = "budget",
               .type = UI_PARAM_F64,
               FIELD(sweep.budget),
               .min = 0.1,
               .max = 31536000,
               .help = "time for all of it; what does not fit in is left out"},
     .letter = 't',
     .metavar = "TIME",
     .default_text = "2m",
     .read = ui_read_duration,
     .commands = SWEEPING,
     LIMITS},
    {.param = {.key = "max-bytes",
               .type = UI_PARAM_SIZE,
               FIELD(sweep.max_bytes),
               .min = 65536,
               .max = LARGEST_SIZE,
               .help = "most that lies on the disk at any time"},
     .metavar = "SIZE",
     .default_text = "4G",
     .commands = SWEEPING,
     LIMITS},
    {.param = {.key = "dir",
               .type = UI_PARAM_STRING,
               TEXT_FIELD(dir),
               .help =
                   "directory on the file system to measure; data live in a fresh directory inside, which is "
                   "removed at the end"},
     .letter = 'd',
     .metavar = "DIR",
     .default_text = ".",
     .commands = TIMING,
     WORK},
    {.param = {.key = "only",
               .type = UI_PARAM_U64,
               FIELD(only),
               .help = "comma list of the kernels to run; without it all that this number of processes can"},
     .letter = 'k',
     .metavar = "NAMES",
     .read = ui_read_word_set,
     .words = kernel_word,
     .commands = TIMING,
     WORK},
    {.param = {.key = "repeat",
               .type = UI_PARAM_U32,
               FIELD(repeat),
               .min = 1,
               .max = 1000,
               .help = "runs of each side, besides one that warms up"},
     .letter = 'n',
     .metavar = "N",
     .default_text = "5",
     .commands = MEASURING,
     WORK},
    {.param = {.key = "scale",
               .type = UI_PARAM_F64,
               FIELD(scale),
               .min = 1e-6,
               .max = 1,
               .help = "share of the full size, to try things out"},
     .metavar = "SHARE",
     .default_text = "1",
     .commands = TIMING,
     WORK},
    {.param = {.key = "warm",
               .type = UI_PARAM_BOOL,
               FIELD(warm),
               .help = "do not touch the memory that a run will need before its clock starts"},
     .default_text = "yes",
     .commands = MEASURING,
     .flags = UI_OPTION_NEGATABLE,
     WORK},
    {.param = {.key = "hpcgen",
               .type = UI_PARAM_STRING,
               TEXT_FIELD(hpcgen),
               .help = "the generator to run; without it the one beside this program"},
     .metavar = "FILE",
     .commands = TIMING,
     WORK},
    {.param = {.key = "container-block",
               .type = UI_PARAM_SIZE,
               FIELD(model.container_block),
               .min = 1,
               .max = 2147483647,
               .help = "block size that containers are aligned to; auto takes that of the file system"},
     .metavar = "BYTES",
     .default_text = "auto",
     .zero_word = "auto",
     .commands = COUNTING,
     WORK},
    {.param = {.key = "chunk",
               .type = UI_PARAM_SIZE,
               FIELD(model.chunk_bytes),
               .min = 1,
               .max = 1125899906842624,
               .help = "bytes that a rank asks for in each block of a container; auto: all that it writes"},
     .metavar = "BYTES",
     .default_text = "auto",
     .zero_word = "auto",
     .commands = COUNTING,
     WORK},
    {.param = {.key = "output",
               .type = UI_PARAM_STRING,
               TEXT_FIELD(sweep.output),
               .help = "of a sweep: new directory for the results, without it ./hpcw-bench- and the time; of a "
                       "report: page to write, without it report.html beside the results"},
     .letter = 'o',
     .metavar = "PATH",
     .commands = SWEEPING | UI_COMMAND(REPORT),
     OUTPUT},
    {.param = {.key = "json",
               .type = UI_PARAM_STRING,
               TEXT_FIELD(json),
               .help = "write everything, every sample included, to this file, too"},
     .letter = 'j',
     .metavar = "FILE",
     .commands = TIMING | COUNTING | UI_COMMAND(COMPARE),
     OUTPUT},
    {.param = {.key = "quiet",
               .type = UI_PARAM_BOOL,
               FIELD(quiet),
               .help = "no table, and no word on what runs at the moment"},
     .letter = 'q',
     .commands = MEASURING | UI_COMMAND(MODEL) | UI_COMMAND(COMPARE),
     .flags = UI_OPTION_NEGATABLE,
     OUTPUT},
};

static const struct ui_chapter chapters[] = {
    {"WHAT A SWEEP DOES",
     "It writes the data of virtual ranks into DIR in several layouts and modes, and aligns containers to "
     "block "
     "size after block size. Each such point runs beside its ceiling, a loop of plain writes of 4 MiB with the "
     "same bytes, offsets, files and mode. One run of every point warms up; then each repetition runs all "
     "points "
     "in an order drawn from the seed. Data live in DIR/.hpcw-bench.PID, which is removed at every end.\n"
     "\n"
     "Layouts: sion-aligned, sion-packed and sion-shifted are containers whose chunks, or groups of them, "
     "begin at "
     "multiples of the block size, or half a block behind; task-local is a file for each rank, shared-posix "
     "one "
     "file by plain writes, mpiio-independent and mpiio-collective the same file by MPI-IO, under mpirun only. "
     "linktest, vom, clog2 and rank2file are what hpcgen writes for 64 ranks.\n"
     "\n"
     "Modes: buffered ends in the page cache; fsync forces all to the disk; direct goes past the page cache "
     "where "
     "data are aligned, preallocated allocates all blocks first, both with fsync.\n"
     "\n"
     "The durable rate counts until the last process has closed its files, the rate into the page cache until "
     "the "
     "last one has handed over its data. Two points differ only if the intervals of their medians do not meet; "
     "a "
     "point is noisy if its quartiles are further apart than a quarter of the median, or if other programs "
     "disturbed most of its runs. Sizes follow from the budget; what does not fit into it is left out and "
     "named. "
     "The directory of the results holds results.json and results.csv, with every run.\n"},
    {"WHAT A KERNEL IS",
     "A kernel has sides: what the library does, and a plain loop that writes as many bytes "
     "to the same offsets. "
     "A repetition runs every side once, one after the other, so that both meet the same "
     "disturbances; ratios are "
     "taken within a repetition. Files are new in every run and removed before the next "
     "one; nothing is forced to "
     "the disk. Before its clock starts a run waits until earlier data are written, and "
     "touches as much memory as "
     "it will need, since under some hypervisors the first use of a page is very dear. "
     "Where other programs kept "
     "more than a tenth of a processor busy, the table says so.\n"},
    {"WHAT A MODEL IS", "A block of the file system that two ranks write is, on GPFS and Lustre, a lock that "
                        "wanders between nodes. "
                        "Such blocks follow from the layout alone: model counts them, exactly and without a "
                        "file, for any number of "
                        "ranks and any size of blocks. It says nothing about time. The ranks of MPI-IO layouts "
                        "are those whose bytes a "
                        "block holds; with collective buffering fewer processes write.\n"},
    {"REPORTS",
     "A sweep leaves results.json, every run of it, and report.html, the same as charts with a recommendation: "
     "one file that needs no network. `report` draws it again, after checking that the figures follow from "
     "the samples.\n"
     "\n"
     "`compare` sets the points of two sweeps against each other by their names: medians, their change, and "
     "the two-sided p value of Mann and Whitney's U test, exact where no value occurs twice, corrected by "
     "Holm for the number of points. A point is called faster or slower if that is at most 0.05. Five "
     "repetitions cannot show a difference over more than six points; then it says so.\n"},
    {"EXIT STATUS", "0 if all was measured, or left out for a reason that is named, whatever the figures; 1 if "
                    "something failed; 2 "
                    "if the command line is wrong; 128 and the number of the signal that ended it.\n"},
    {"EXAMPLES",
     "A file system in two minutes, alone and in parallel; then a closer look:\n"
     "\n"
     "  hpcw-bench /scratch/me\n"
     "  mpirun -n 16 hpcw-bench /scratch/me\n"
     "  hpcw-bench /scratch/me --blocksize 4K:16M:x2 --layout sion-aligned,sion-shifted --budget 20m\n"
     "\n"
     "Kernels: what one process does, then what needs several:\n"
     "\n"
     "  hpcw-bench kernels --dir /scratch/me\n"
     "  mpirun -n 2 hpcw-bench kernels --dir /scratch/me --only large-records,small-records\n"
     "  mpirun -n 64 --oversubscribe hpcw-bench kernels --only open-close --json open-close.json\n"
     "  mpirun -n 2 env LD_PRELOAD=/usr/local/lib/libhpcw_trace.so hpcw-bench kernels --only messages\n"
     "\n"
     "A million ranks on blocks of 16 MiB, in a container that believes in 4 MiB:\n"
     "\n"
     "  hpcw-bench model --ranks 1000000 --blocksize 16M --container-block 4M\n"
     "\n"
     "Before and after a change of the file system's settings:\n"
     "\n"
     "  hpcw-bench /scratch/me --output before --repeat 15\n"
     "  hpcw-bench /scratch/me --output after --repeat 15\n"
     "  hpcw-bench compare before/results.json after/results.json\n"},
    {"SEE ALSO", "hpcgen(1)\n"},
};

static const struct ui_program program = {
    .name = "hpcw-bench",
    .summary = "measure how fast parallel programs' files are written",
    .description =
        "Tells how write throughput on a file system depends on the block size that files are aligned to, and "
        "times "
        "the file writers of hpcw. Every figure has a plain loop of large writes of the same bytes beside it.",
    .version = hpcw_version,
    .commands = commands,
    .command_count = sizeof commands / sizeof commands[0],
    .options = option_table,
    .option_count = sizeof option_table / sizeof option_table[0],
    .options_size = sizeof(struct options),
    .chapters = chapters,
    .chapter_count = sizeof chapters / sizeof chapters[0],
};

/* The generator of the same build or installation, if it is there. */
static const char *find_hpcgen(struct options *o) {
    if (o->hpcgen[0] != '\0') {
        return o->hpcgen;
    }
    static const char *const beside[] = {"hpcgen", "../gen/hpcgen"};
    char self[BENCH_PATH - 32];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) {
        return NULL;
    }
    self[n] = '\0';
    char *slash = strrchr(self, '/');
    for (size_t i = 0; slash != NULL && i < sizeof beside / sizeof beside[0]; i++) {
        (void)snprintf(o->hpcgen, sizeof o->hpcgen, "%.*s/%s", (int)(slash - self), self, beside[i]);
        if (access(o->hpcgen, X_OK) == 0) {
            return o->hpcgen;
        }
    }
    return NULL;
}

/* Measures one kernel, or says in the result why it is skipped. */
static hpcw_status measure(const struct bench_kernel *k, const struct bench_site *place, size_t repeat,
                           struct bench_result *r, hpcw_error *err) {
    *r = (struct bench_result){.name = k->name,
                               .what = k->what,
                               .item = k->item,
                               .subject = &k->subject,
                               .figure = k->figure,
                               .figures = k->figures};
    int processes = place->processes->count;
    if (k->needs == BENCH_ONE_PROCESS && processes > 1) {
        (void)snprintf(r->skipped, sizeof r->skipped, "one process does this: hpcw-bench kernels --only %s",
                       k->name);
        return HPCW_OK;
    }
    if (k->needs == BENCH_SEVERAL_PROCESSES && processes == 1) {
        (void)snprintf(r->skipped, sizeof r->skipped,
                       "needs several processes: mpirun -n 2 hpcw-bench kernels --only %s", k->name);
        return HPCW_OK;
    }
    void *work = NULL;
    hpcw_status s = k->setup(place, k->parameter, &work, &r->amount, err);
    s = hpcw_i_agree(place->processes->comm, s, NULL, err);
    if (s == HPCW_ENOTSUP) {
        (void)snprintf(r->skipped, sizeof r->skipped, "%s", err->message);
        s = HPCW_OK;
    } else if (s == HPCW_OK) {
        s = bench_timer_measure(&k->subject, work, place->processes, repeat, &r->samples, err);
    }
    k->teardown(work);
    return s;
}

static hpcw_status run_kernels(struct options *o, const struct bench_processes *processes, hpcw_error *err) {
    struct bench_run run = {.processes = processes, .repeat = o->repeat, .scale = o->scale, .warm = o->warm};
    char directory[BENCH_WORKDIR] = "";
    size_t kernels = 0;
    size_t done = 0;
    while (bench_kernel[kernels] != NULL) {
        kernels++;
    }
    bool speaks = processes->process == 0;
    struct bench_result *results = hpcw_i_calloc(kernels, sizeof *results);
    hpcw_status s =
        results == NULL ? hpcw_i_fail(err, HPCW_ENOMEM, "out of memory for %zu results", kernels) : HPCW_OK;
    if (s == HPCW_OK) {
        s = bench_machine_describe(&run.machine, o->dir, err);
    }
    s = hpcw_i_agree(processes->comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = bench_workdir_make(processes, o->dir, directory, err);
    }
    if (s != HPCW_OK) {
        goto done;
    }
    struct bench_site place = {.processes = processes,
                               .directory = directory,
                               .block_size = run.machine.block_size,
                               .hpcgen = find_hpcgen(o),
                               .scale = o->scale,
                               .warm = o->warm};
    if (speaks && !o->quiet) {
        s = bench_report_head(stdout, &run, err);
        (void)fflush(stdout);
    }
    s = hpcw_i_agree(processes->comm, s, NULL, err);
    for (size_t i = 0; s == HPCW_OK && i < kernels; i++) {
        if (o->only != 0 && (o->only >> i & 1) == 0) {
            continue;
        }
        s = measure(bench_kernel[i], &place, o->repeat, &results[done], err);
        if (s == HPCW_OK && speaks && !o->quiet) {
            s = bench_report_result(stdout, &results[done], err);
            (void)fflush(stdout);
        }
        done++;
        s = hpcw_i_agree(processes->comm, s, NULL, err);
    }
    /* What was measured before a failure or ^C is kept; only process 0 writes reports. */
    if (speaks && o->json[0] != '\0') {
        hpcw_error e;
        size_t complete = s == HPCW_OK ? done : done - (done > 0);
        hpcw_status r = bench_report_json(o->json, &run, results, complete, &e);
        if (s == HPCW_OK && r != HPCW_OK) {
            s = r;
            *err = e;
        }
    }
    s = hpcw_i_agree(processes->comm, s, NULL, err);
done:
    bench_workdir_remove(processes, directory);
    for (size_t i = 0; i < done; i++) {
        bench_samples_free(&results[i].samples);
    }
    hpcw_i_free(results);
    return s;
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

static hpcw_status run_model(struct options *o, hpcw_error *err) {
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

static hpcw_status run_sweep(int argc, char **argv, const struct ui_parse *parse, struct options *o,
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

static void catch_signals(void) {
    struct sigaction action = {.sa_handler = bench_timer_stop};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGHUP, &action, NULL);
}

int main(int argc, char **argv) {
#ifdef __GLIBC__
    /* Large buffers are fresh pages in every run, as they are in a program's first. */
    (void)mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
    /* A file that may not grow fails like one on a full disk; early, since MPI makes files, too. */
    (void)signal(SIGXFSZ, SIG_IGN);
    static struct options o;
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
        (void)fprintf(stderr, "hpcw-bench: %s\n", err.message);
        return 2;
    }
    if (parse.command == LIST) {
        s = list_kernels(&err);
        return s == HPCW_OK && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    if (parse.command == MODEL) {
        s = run_model(&o, &err);
        if (s != HPCW_OK) {
            (void)fprintf(stderr, "hpcw-bench: %s\n", err.message);
        }
        return s == HPCW_OK && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    if (parse.command == REPORT || parse.command == COMPARE) {
        s = parse.command == REPORT
                ? bench_report_command(parse.args[0], o.sweep.output, &err)
                : bench_compare_command(parse.args[0], parse.args[1], o.json, o.quiet, &err);
        if (s != HPCW_OK) {
            (void)fprintf(stderr, "hpcw-bench: %s\n", err.message);
        }
        return s == HPCW_OK && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    struct bench_processes processes;
    bool failed = false;
    s = bench_processes_start(&processes, &err);
    if (s == HPCW_OK) {
        catch_signals();
        s = parse.command == SWEEP ? run_sweep(argc, argv, &parse, &o, &processes, &failed, &err)
                                   : run_kernels(&o, &processes, &err);
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
