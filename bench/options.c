/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/options.h"

#include <stddef.h>

#include <hpcw/sion.h>
#include <hpcw/version.h>

#include "libwriter/io/lov.h"

static const struct ui_command commands[] = {
    [BENCH_COMMAND_SWEEP] = {"sweep",
                             "measure how the block size that files are aligned to decides their throughput",
                             "DIR", 1, 1},
    [BENCH_COMMAND_MODEL] = {"model",
                             "count, without a file, the file system blocks that several ranks would share",
                             NULL, 0, 0},
    [BENCH_COMMAND_REPORT] = {"report", "draw the results of a sweep again, as a page with charts",
                              "RESULTS.json", 1, 1},
    [BENCH_COMMAND_COMPARE] = {"compare",
                               "say which points of a second sweep are faster or slower than in a first one",
                               "FIRST.json SECOND.json", 2, 2},
};

static const char *layout_word(const void *list, size_t index) {
    (void)list;
    return index < BENCH_LAYOUTS ? bench_layout_name[index] : NULL;
}

static const char *mode_word(const void *list, size_t index) {
    (void)list;
    return index < BENCH_MODES ? bench_mode_name[index] : NULL;
}

#define FIELD(name) .offset = offsetof(struct bench_options, name)
#define TEXT_FIELD(name) FIELD(name), .size = sizeof((struct bench_options *)0)->name
#define SWEEPING UI_COMMAND(BENCH_COMMAND_SWEEP)
#define COUNTING UI_COMMAND(BENCH_COMMAND_MODEL)
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
    {.param = {.key = "repeat",
               .type = UI_PARAM_U32,
               FIELD(repeat),
               .min = 1,
               .max = 1000,
               .help = "runs of each side, besides one that warms up"},
     .letter = 'n',
     .metavar = "N",
     .default_text = "5",
     .commands = SWEEPING,
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
     .commands = SWEEPING | UI_COMMAND(BENCH_COMMAND_REPORT),
     OUTPUT},
    {.param = {.key = "json",
               .type = UI_PARAM_STRING,
               TEXT_FIELD(json),
               .help = "write everything, every sample included, to this file, too"},
     .letter = 'j',
     .metavar = "FILE",
     .commands = COUNTING | UI_COMMAND(BENCH_COMMAND_COMPARE),
     OUTPUT},
    {.param = {.key = "quiet",
               .type = UI_PARAM_BOOL,
               FIELD(quiet),
               .help = "no table, and no word on what runs at the moment"},
     .letter = 'q',
     .commands = SWEEPING | UI_COMMAND(BENCH_COMMAND_MODEL) | UI_COMMAND(BENCH_COMMAND_COMPARE),
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

const struct ui_program bench_program = {
    .name = "hpcw-bench",
    .summary = "measure how fast parallel programs' files are written",
    .description = "Tells how write throughput on a file system depends on the block size that files are "
                   "aligned to. Every "
                   "figure has a plain loop of large writes of the same bytes beside it.",
    .version = hpcw_version,
    .commands = commands,
    .command_count = sizeof commands / sizeof commands[0],
    .options = option_table,
    .option_count = sizeof option_table / sizeof option_table[0],
    .options_size = sizeof(struct bench_options),
    .chapters = chapters,
    .chapter_count = sizeof chapters / sizeof chapters[0],
};
