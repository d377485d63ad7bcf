/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/options.h"

#include <stddef.h>

#include <hpcw/sion.h>
#include <hpcw/sion_read.h>
#include <hpcw/version.h>

#include "bench/report/options.h"
#include "bench/report/results.h"
#include "bench/site/site.h"
#include "libwriter/io/lov.h"
#include "ui/cli/values.h"

static const struct ui_command commands[] = {
    [BENCH_COMMAND_SWEEP] = {"sweep",
                             "measure how write throughput depends on the block size that files are aligned to",
                             "DIR", 1, 1},
    [BENCH_COMMAND_METADATA] = {"metadata",
                                "measure creating, opening, looking up and removing task-local files, and one "
                                "container for all tasks",
                                "DIR", 1, 1},
    [BENCH_COMMAND_MODEL] = {"model",
                             "count, without a file, the file system blocks that several ranks would share: "
                             "unaligned in shared-posix, aligned in sion-aligned",
                             NULL, 0, 0},
    [BENCH_COMMAND_REPORT] = {"report", "draw the results of a sweep as a page", "FILE", 1, 1},
    [BENCH_COMMAND_COMPARE] = {"compare",
                               "show which points of a second sweep are faster or slower than in the first",
                               "FIRST-FILE SECOND-FILE", 2, 2},
    [BENCH_COMMAND_SITE] = {"site",
                            "print a batch script for Slurm that sweeps stripes on Lustre, or block sizes on "
                            "GPFS. The script reads the variables LAUNCHER (default: srun), HPCW_BENCH (path "
                            "of hpcw-bench), IOR (path of ior) and HDF5 (yes: adds parallel HDF5)",
                            "DIR", 1, 1},
};

static const char *layout_word(const void *list, size_t index) {
    (void)list;
    return index < BENCH_LAYOUTS ? bench_layout_name[index] : NULL;
}

static const char *mode_word(const void *list, size_t index) {
    (void)list;
    return index < BENCH_MODES ? bench_mode_name[index] : NULL;
}

/* Columns of the table of options: section, subcommands, letter, long name, metavar, type, field, help. Named
 * members may follow. */
#define OPTION(...) UI_OPTION(struct bench_options, __VA_ARGS__)
#define SWEEPING UI_COMMAND(BENCH_COMMAND_SWEEP)
#define RATING UI_COMMAND(BENCH_COMMAND_METADATA)
#define PRINTING UI_COMMAND(BENCH_COMMAND_SITE)
#define COUNTING UI_COMMAND(BENCH_COMMAND_MODEL)
#define AUTO .default_text = "auto", .zero_word = "auto"
#define WORK "What is measured or counted"
#define LIMITS "Limits"
#define OUTPUT "Output"
#define LARGEST_SIZE 4611686018427387904.0 /* 4 EiB */

static const struct ui_option option_table[] = {
    OPTION(WORK, SWEEPING | COUNTING, 'b', "blocksize", "SIZES", SIZE, block_sizes,
           "block sizes: a size, a list with commas, or FIRST:LAST:xN. 16M is 16 MiB (2^24 bytes), 16MB is "
           "16000000 bytes, as in all sizes. sweep aligns containers to each; its "
           "default is 4K:16M:x4 and the file system's own. For model, they are the file system's",
           UI_LIMITS(1, 2147483647), .read = ui_read_sizes, .required = COUNTING),
    OPTION(WORK, SWEEPING | COUNTING, 'l', "layout", "NAMES", U64, layouts,
           "layouts, with commas between them; the default is all but those by HDF5", .read = ui_read_word_set,
           .words = layout_word),
    OPTION(
        WORK, SWEEPING, 'm', "mode", "NAMES", U64, modes,
        "modes, with commas between them, each at all block sizes; the default is fsync at all, and direct and "
        "preallocated at the block size of the file system only",
        .read = ui_read_word_set, .words = mode_word),
    OPTION(WORK, SWEEPING | COUNTING, 0, "record", "SIZES", SIZE, records,
           "bytes of one write. A sweep uses all sizes of the list for plain files, and the first for "
           "containers; the default is 47K,4K,1M. A model keeps each record in one chunk of a container; by "
           "default it splits records",
           UI_LIMITS(1, 1073741824), .read = ui_read_sizes),
    OPTION(
        WORK, SWEEPING | COUNTING | PRINTING, 0, "per-rank", "SIZE", SIZE, per_rank,
        "bytes of one rank; auto: in a sweep whole records that make a run count, in a model 100 MB, for the "
        "script of site as many as make a run of 1 GiB. site rounds the size up, so that no rank ends where a "
        "block does",
        UI_LIMITS(1, 1099511627775.0), AUTO),
    OPTION(WORK, SWEEPING | COUNTING, 'n', "ranks", "N", U32, ranks,
           "virtual ranks, spread over the processes; auto: 64, or one for each process if there are more",
           UI_LIMITS(1, HPCW_SION_MAX_TASKS), AUTO, .required = COUNTING),
    OPTION(WORK, SWEEPING | COUNTING, 0, "files", "NUMBERS", SIZE, files,
           "physical files of a container; sweep uses all numbers but the first at the block size of the file "
           "system only. The default is 1, and in a sweep also 4",
           UI_LIMITS(1, HPCW_SION_MAX_TASKS), .param.unit = "files", .read = ui_read_sizes),
    OPTION(WORK, RATING, 0, "tasks", "NUMBERS", SIZE, tasks,
           "numbers of tasks: a number, a list with commas, or FIRST:LAST:xN. The default is 64:16384:x4",
           UI_LIMITS(1, HPCW_SION_READER_MAX_SHARE), .param.unit = "tasks", .read = ui_read_sizes),
    OPTION(WORK, PRINTING, 0, "nodes", "N", U32, site.nodes, "nodes of the job", UI_LIMITS(1, 1000000),
           .required = PRINTING),
    OPTION(WORK, PRINTING, 0, "ntasks-per-node", "N", U32, site.tasks_per_node, "processes on each node",
           UI_LIMITS(1, 4096), .default_text = "16"),
    OPTION(WORK, PRINTING, 0, "file-system", "KIND", CHOICE, site.file_system,
           "what the script is for; auto: the file system of DIR, which must be mounted here",
           .param.choices = bench_site_file_system, .default_text = "auto"),
    OPTION(WORK, SWEEPING, 0, "verify", NULL, BOOL, verify,
           "read everything back and compare, after the time is taken", .flags = UI_OPTION_NEGATABLE),
    OPTION(
        WORK, SWEEPING, 0, "read", NULL, BOOL, read,
        "after each run, read everything record by record, each part by a process other than its writer, and "
        "report that rate; where the page cache cannot be dropped, it is called cached",
        .flags = UI_OPTION_NEGATABLE),
    OPTION(
        WORK, SWEEPING, 0, "writers", "N", U32, writers,
        "the first N processes write, and the others only read, as a restart on more processes does; auto: all",
        UI_LIMITS(1, 16777216), AUTO),
    OPTION(WORK, SWEEPING, 0, "readers", "N", U32, readers,
           "with --read: processes that read, each a share, as a restart on fewer processes does; auto: all",
           UI_LIMITS(1, 16777216), AUTO),
    OPTION(WORK, SWEEPING | RATING | PRINTING, 0, "fs-block", "SIZE", SIZE, fs_block,
           "block size of the file system, if the one that it reports is wrong", UI_LIMITS(512, 1073741824),
           AUTO),
    OPTION(WORK, SWEEPING | RATING, 0, "stripe-count", "N", U32, stripe_count,
           "Lustre: stripes of each file of data, at most 2000, or 65535 for all targets",
           UI_LIMITS(1, HPCW_I_LOV_ALL), AUTO),
    OPTION(WORK, SWEEPING | RATING, 0, "stripe-size", "BYTES", SIZE, stripe_size,
           "Lustre: bytes of a stripe, a multiple of 64K", UI_LIMITS(HPCW_I_LOV_STRIPE_UNIT, 4294901760.0),
           AUTO),
    OPTION(WORK, SWEEPING | RATING, 's', "seed", "N", U64, seed,
           "seed of the data and of the order of the runs", UI_LIMITS(0, 9007199254740991.0),
           .default_text = "1"),
    OPTION(WORK, COUNTING, 0, "ranks-per-host", "N", U32, model.ranks_per_host,
           "neighbouring ranks on one host: also counts the blocks that hosts share; auto: does not",
           UI_LIMITS(1, HPCW_SION_MAX_TASKS), AUTO),
    OPTION(WORK, COUNTING, 0, "container-block", "BYTES", SIZE, model.container_block,
           "block size that containers are aligned to; auto: that of the file system", UI_LIMITS(1, 2147483647),
           AUTO),
    OPTION(WORK, COUNTING, 0, "chunk", "BYTES", SIZE, model.chunk_bytes,
           "bytes that a rank requests in each block of a container; auto: all that it writes",
           UI_LIMITS(1, 1125899906842624), AUTO),
    OPTION(WORK, SWEEPING | RATING, 0, "repeat", "N", U32, repeat,
           "runs of each point and of its ceiling, after a warm-up run; auto: as many as the budget "
           "allows, 5 to 30; of metadata, 5",
           UI_LIMITS(1, 1000), AUTO),
    OPTION(LIMITS, SWEEPING | RATING | PRINTING, 't', "budget", "TIME", F64, budget,
           "time for the whole sweep; points that do not fit are left out", UI_LIMITS(0.1, 31536000),
           .default_text = "5m", .read = ui_read_duration),
    OPTION(LIMITS, SWEEPING, 0, "least-bytes", "SIZE", SIZE, least_bytes,
           "bytes that a run must write to count: more than the caches of the storage hold; auto: 256M, or "
           "less if the budget is short for that. There must be four times as much free space, and eight times "
           "as much memory",
           UI_LIMITS(1, LARGEST_SIZE), AUTO),
    OPTION(LIMITS, SWEEPING, 0, "least-time", "TIME", F64, least_time,
           "time that a run must take to count; by default 40 ms, where a run is planned to take 250 ms, or "
           "less if "
           "the budget is short for that",
           UI_LIMITS(1e-9, 86400), .read = ui_read_duration),
    OPTION(LIMITS, SWEEPING, 0, "stonewall", "TIME", F64, stonewall,
           "after this time of a run a process begins no write but its first; rates are of the bytes that were "
           "written. By default all is written",
           UI_LIMITS(1e-6, 86400), .read = ui_read_duration),
    OPTION(LIMITS, SWEEPING, 0, "max-bytes", "SIZE", SIZE, max_bytes,
           "most bytes on the file system at any time", UI_LIMITS(65536, LARGEST_SIZE), .default_text = "4G"),
    OPTION(OUTPUT, SWEEPING | RATING, 'o', "out", "DIR", STRING, output,
           "new directory for the results; by default ./hpcw-bench- and the time"),
    OPTION(OUTPUT, SWEEPING, 'r', "resume", NULL, BOOL, resume,
           "go on with a sweep that was interrupted or killed: its results are in the directory of --out, and "
           "all other "
           "options are the same. What it measured is not measured again",
           .flags = UI_OPTION_NEGATABLE),
    OPTION(
        OUTPUT, SWEEPING, 0, "dry-run", NULL, BOOL, dry_run,
        "say what would be measured, with how many bytes and files and in what time, and warn if the space is "
        "too small; nothing is written",
        .flags = UI_OPTION_NEGATABLE),
    OPTION(OUTPUT, UI_COMMAND(BENCH_COMMAND_REPORT), 'O', "output", "FILE", STRING, output,
           "page to write; by default report.html in the directory of the results"),
    OPTION(OUTPUT, SWEEPING | RATING | COUNTING | UI_COMMAND(BENCH_COMMAND_COMPARE), 0, "json", NULL, BOOL,
           json, "print the result as JSON on standard output, instead of a table",
           .flags = UI_OPTION_NEGATABLE),
    OPTION(OUTPUT, SWEEPING | RATING | UI_COMMAND(BENCH_COMMAND_MODEL) | UI_COMMAND(BENCH_COMMAND_COMPARE), 'q',
           "quiet", NULL, BOOL, quiet, "print no table and no progress", .flags = UI_OPTION_NEGATABLE),
};

static const char *const examples[][UI_EXAMPLES] = {
    [BENCH_COMMAND_SWEEP] = {"hpcw-bench /scratch/me", "mpirun -n 16 hpcw-bench /scratch/me"},
    [BENCH_COMMAND_METADATA] = {"hpcw-bench metadata /scratch/me",
                                "mpirun -n 64 hpcw-bench metadata /scratch/me --tasks 64:16384:x4"},
    [BENCH_COMMAND_MODEL] = {"hpcw-bench model --ranks 4096 --blocksize 4K",
                             "hpcw-bench model --ranks 1000000 --blocksize 16M --container-block 4M"},
    [BENCH_COMMAND_REPORT] = {"hpcw-bench report sweep/results.json",
                              "hpcw-bench report sweep/results.json --output sweep.html"},
    [BENCH_COMMAND_COMPARE] = {"hpcw-bench compare before/results.json after/results.json",
                               "hpcw-bench compare before/results.json after/results.json --json"},
    [BENCH_COMMAND_SITE] = {"hpcw-bench site /scratch/me --nodes 4 >job.sh",
                            "hpcw-bench site /scratch/me --nodes 4 --file-system lustre --budget 2m >job.sh"},
};

static const struct ui_chapter chapters[] = {
    {"WHAT A SWEEP DOES",
     "A sweep writes the data of virtual ranks into DIR, in several layouts and modes. Containers are aligned "
     "to one block size after the other. Next to each such point runs its ceiling: a loop of plain writes of 4 "
     "MiB with the same bytes, offsets, files and mode. Every point first runs once to warm up. Then each "
     "repetition runs all points in an order drawn from the seed. The data are in DIR/.hpcw-bench.PID, which "
     "the program removes when it ends, also after an error. What a run that was killed left, the next one "
     "removes and names.\n"
     "\n"
     "Layouts: sion-aligned, sion-packed and sion-shifted are containers. Their chunks, or groups of chunks, "
     "begin at multiples of the block size. Those of sion-shifted begin about two thirds of a block later, at "
     "an odd byte, so they are unaligned whatever the real block is. task-local is a file for each rank, "
     "shared-posix one file by plain writes; mpiio-independent and mpiio-collective are the same file by "
     "MPI-IO, and need a launcher of MPI (mpirun, srun). hdf5-independent and hdf5-collective write the same "
     "to one contiguous dataset "
     "of parallel HDF5, if hpcw-bench is built with it; the dataset begins at 16 MiB.\n"
     "\n"
     "Modes: buffered ends in the page cache; fsync forces all data to the disk; direct bypasses the page "
     "cache where data are aligned; preallocated allocates all blocks first. The last two also call fsync.\n"
     "\n"
     "The durable rate counts until the last process has closed its files, the rate into the page cache until "
     "the last process has handed over its data. A point is noisy if no difference below 25 % "
     "would be seen from a point that scatters as much. Runs are large enough to count: "
     "see --least-bytes and --least-time. Points that are too small are marked and not compared. The budget "
     "goes to the "
     "block size first: aligned and shifted containers at three sizes, then at those between, then other "
     "layouts and modes. A slow file system gets "
     "smaller runs, then fewer points; what the budget has no time for is named in one line.\n"
     "\n"
     "The last line is the verdict. It says where the sweep ran, how to write the files and how fast that is, "
     "if no "
     "other point can be more than 10 % faster; or that nothing can be said, and what to try then. The "
     "directory of "
     "the results holds results.json and results.csv, with every run.\n"
     "\n"
     "The results are written after each run, so a sweep that was killed goes on with --resume. It needs the "
     "same "
     "command, with --out, on the same kind of machine. Points warm up again.\n"},
    {"WHAT METADATA RATES ARE",
     "metadata creates, opens, looks up and removes an empty file for each task, and does the same with one "
     "container that holds all tasks, for several numbers of tasks. The processes share the tasks. Files are "
     "opened, looked up and removed by another process than the one that created them. A container is created "
     "and opened by all processes together, and looked up and removed by one. A rate is the number of tasks "
     "divided by the time until the last process is done. Nothing is flushed: these are the rates that a "
     "program sees. Numbers of tasks that the budget has no time for are not measured.\n"},
    {"WHAT A MODEL IS",
     "If two ranks write into one block of the file system, then on GPFS and Lustre a lock moves between their "
     "nodes. The number of such blocks follows from the layout alone: model counts them exactly and without a "
     "file, for any number of ranks and any block size. It predicts no time. Compare shared-posix, the "
     "unaligned case, with sion-aligned. If containers are aligned to the blocks of the file system, the ranks "
     "of "
     "sion-shifted share blocks only where their data fill more than a third of their last block; if to larger "
     "blocks, hardly ever. For MPI-IO and HDF5, it counts "
     "the ranks whose bytes a block holds; with collective buffering fewer processes write.\n"},
    {"REPORTS",
     "A sweep writes results.json, with every run, and report.html, which shows the same as charts, with a "
     "recommendation. The page is one file that needs no network. `report` draws it again, after it checks "
     "that the figures follow from the samples. `report` and `compare` take results.json or its directory.\n"
     "\n"
     "`compare` compares what each layout reaches of its ceiling in two sweeps, layout by layout over all its "
     "points, then point by point. Each change has an interval, and the size from which it would have been "
     "seen. A false alarm has a probability of 1 %, and changes below 5 % are not called a difference. The "
     "last "
     "line is the verdict. If plain writes became slower or faster, the machine or the file system changed, "
     "not the library, and the verdict says so.\n"},
    {"SITES",
     "site prints a batch script for Slurm: sweeps of the whole machine with several stripes on Lustre, with "
     "several "
     "block sizes on GPFS, and metadata rates. If the variable IOR has the path of IOR, the job also runs IOR "
     "with the work of each point. The scripts for Lustre and GPFS were run on imitations only, and say so.\n"
     "\n"
     "doc/faq.md has the options of IOR beside those of hpcw-bench.\n"},
    {"EXIT STATUS", "0 if all was measured, or left out for a reason that is given; 1 if something failed, or "
                    "nothing at all was measured; 2 if the command "
                    "line is wrong; 128 plus the number of the signal if a signal ended the program.\n"},
    {"EXAMPLES",
     "A file system in five minutes, with one process and with 16; then in more detail:\n"
     "\n"
     "  hpcw-bench /scratch/me\n"
     "  mpirun -n 16 hpcw-bench /scratch/me\n"
     "  hpcw-bench /scratch/me --blocksize 4K:16M:x2 --layout sion-aligned,sion-shifted --budget 20m\n"
     "\n"
     "What a sweep would do, and the rest of one whose job has ended:\n"
     "\n"
     "  hpcw-bench /scratch/me --out sweep --dry-run\n"
     "  hpcw-bench /scratch/me --out sweep --resume\n"
     "\n"
     "What a file for each task costs, with as many tasks as processes and with more:\n"
     "\n"
     "  mpirun -n 64 hpcw-bench metadata /scratch/me --tasks 64:16384:x4\n"
     "\n"
     "A million ranks on file system blocks of 16 MiB, in a container that is aligned to 4 MiB:\n"
     "\n"
     "  hpcw-bench model --ranks 1000000 --blocksize 16M --container-block 4M\n"
     "\n"
     "A job on four nodes of a cluster:\n"
     "\n"
     "  hpcw-bench site /scratch/me --nodes 4 >job.sh\n"
     "  sbatch job.sh\n"
     "\n"
     "Before and after a change of the file system's settings:\n"
     "\n"
     "  hpcw-bench /scratch/me --out before\n"
     "  hpcw-bench /scratch/me --out after\n"
     "  hpcw-bench compare before/results.json after/results.json\n"},
    {"SEE ALSO", "hpcgen(1)\n"},
};

const struct ui_program bench_program = {
    .name = "hpcw-bench",
    .summary = "measure how fast the files of parallel programs are written",
    .description =
        "Measures how write throughput on a file system depends on the block size that files are aligned to. "
        "Next to every figure stands that of a plain loop of large writes of the same bytes.",
    .version = hpcw_version,
    .commands = commands,
    .command_count = sizeof commands / sizeof commands[0],
    .options = option_table,
    .option_count = sizeof option_table / sizeof option_table[0],
    .options_size = sizeof(struct bench_options),
    .chapters = chapters,
    .chapter_count = sizeof chapters / sizeof chapters[0],
    .examples = examples,
};
