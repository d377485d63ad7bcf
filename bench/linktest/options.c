/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/linktest/options.h"

#include <limits.h>
#include <stddef.h>

#include <hpcw/linktest.h>
#include <hpcw/version.h>

static const struct ui_command commands[] = {{NULL, NULL, NULL, 0, 0}};

/* The only mode is mpi. LinkTest has others, and its files say which one was used. */
static const char *mode_word(const void *list, size_t index) {
    (void)list;
    return index == 0 ? "mpi" : NULL;
}

/* Columns of the table of options: section, subcommands, letter, long name, metavar, type, field, help. Named
 * members may follow. */
#define OPTION(section, ...) UI_OPTION(struct bench_linktest_options, section, UI_COMMAND(0), __VA_ARGS__)
#define MESSAGES "Messages of a pair"
#define PAIRS "Who measures when"
#define OUTPUT "Output"
#define FLAG .flags = UI_OPTION_NEGATABLE

static const struct ui_option option_table[] = {
    OPTION(MESSAGES, 'w', "num-warmup-messages", "N", U64, warmup, "messages before the timed ones",
           UI_LIMITS(0, 4294967295.0), .default_text = "10"),
    OPTION(MESSAGES, 'n', "num-messages", "N", U64, messages, "timed messages; the result is their mean",
           UI_LIMITS(1, 4294967295.0), .default_text = "100"),
    OPTION(
        MESSAGES, 's', "size-messages", "SIZES", SIZE, sizes,
        "bytes of a message: a size, a list with commas, or FIRST:LAST:xN. Each size has a result of its own",
        UI_LIMITS(0, INT_MAX), .default_text = "256K", .read = ui_read_sizes),
    OPTION(MESSAGES, 'm', "mode", "MODE", STRING, mode, "what carries the messages", .read = ui_read_word,
           .words = mode_word, .default_text = "mpi"),
    OPTION(MESSAGES, 0, "bidirectional", NULL, BOOL, bidirectional,
           "both processes of a pair send at the same time, instead of a ping-pong", FLAG),
    OPTION(MESSAGES, 0, "unidirectional", NULL, BOOL, unidirectional,
           "one process sends all messages, the other one answers the last; then the other way round", FLAG),
    OPTION(PAIRS, 0, "bisection", NULL, BOOL, bisection,
           "pairs only between the lower and the upper half of the processes", FLAG),
    OPTION(PAIRS, 0, "serial-tests", NULL, BOOL, serial,
           "one pair at a time; otherwise every process is in a pair in each step", FLAG),
    OPTION(PAIRS, 0, "randomize", NULL, BOOL, randomize, "shuffle the order of the steps", FLAG),
    OPTION(PAIRS, 0, "num-randomize-tasks", "N", U64, permutations,
           "measure everything N times, each time with the processes renumbered at random; 0: once, in order",
           UI_LIMITS(0, 1e9), .default_text = "0"),
    OPTION(PAIRS, 0, "seed", "N", U64, seed, "seed of what is random", UI_LIMITS(0, 9007199254740991.0),
           .default_text = "1"),
    OPTION(PAIRS, 0, "all-to-all", NULL, BOOL, all_to_all,
           "measure MPI_Alltoall with blocks of 8 bytes, too, after the pairs", FLAG),
    OPTION(PAIRS, 0, "num-slowest", "N", U64, retests,
           "slowest connections to measure again, one at a time; at most one for each process",
           UI_LIMITS(0, 4294967295.0), .default_text = "10"),
    OPTION(PAIRS, 0, "oversubscribe", NULL, BOOL, oversubscribe,
           "measure although a host has more processes than processors; the times are then those of waiting "
           "for a processor",
           FLAG),
    OPTION(OUTPUT, 'o', "output", "FILE", STRING, output,
           "result to write; with several sizes, the size goes before the last dot of the name",
           .default_text = HPCW_LINKTEST_FILE_NAME),
    OPTION(OUTPUT, 0, "json", NULL, BOOL, json, "print the table as JSON on standard output", FLAG),
    OPTION(OUTPUT, 'q', "quiet", NULL, BOOL, quiet, "print no table and no progress", FLAG),
};

static const char *const examples[][UI_EXAMPLES] = {
    {"mpiexec -n 64 hpcw-linktest -w 100 -n 1000 -s 8,1M -o links.sion",
     "mpiexec -n 64 hpcw-linktest -n 1000 -s 16M --bidirectional --bisection"}};

static const struct ui_chapter chapters[] = {
    {"WHAT IS MEASURED",
     "Every process exchanges messages with every other one. In each step all processes are in pairs, so N "
     "processes need N - 1 steps, and N is even. In a pair, first the process with the lower number measures, "
     "then the other one: each connection has two timings, one for each direction.\n"
     "\n"
     "In a ping-pong, a message goes there and back; its time is half of that. With --bidirectional, the "
     "processes exchange a message for a message; the time is that of one exchange, which moves twice the "
     "bytes. With --unidirectional, up to 64 messages are under way at the same time, and the time of one is "
     "the "
     "time until the answer came, divided by the number of messages.\n"
     "\n"
     "The slowest connections are measured again when all others are silent. If they are fast then, the first "
     "time was that of contention or of a disturbance. Permutations with renumbered processes tell slow "
     "connections from slow moments, too.\n"},
    {"OUTPUT",
     "The result is that of LinkTest 2.1.17, a SION container: linktest-report reads it, `hpcgen verify` "
     "checks "
     "it, `hpcgen info` prints it, and `hpcgen report` draws it. A result that exists is replaced when the new "
     "one is complete. A run that fails leaves no result.\n"
     "\n"
     "The table on standard output has a line for each size and permutation: the fastest, mean and slowest "
     "time of a message, the bandwidth of the mean, the slowest connection, and its time when it was measured "
     "again.\n"},
    {"LINKTEST",
     "-w, -n, -s, -m, -o, --bidirectional, --unidirectional, --bisection, --serial-tests, --randomize, "
     "--all-to-all and --num-slowest are options of LinkTest, too. LinkTest requires the first four, which "
     "have "
     "defaults here.\n"},
    {"EXIT STATUS", "0 if all was measured and written; 1 if something failed, or if options or processes do "
                    "not fit together; 2 if an option is wrong; 128 plus the "
                    "number of the signal if a signal ended the program.\n"},
    {"EXAMPLES", "Latency and bandwidth between all processes of a job, then the pages:\n"
                 "\n"
                 "  mpiexec -n 64 hpcw-linktest -w 100 -n 1000 -s 8,1M -o links.sion\n"
                 "  hpcgen report links.8.sion\n"
                 "  hpcgen report links.1M.sion\n"
                 "\n"
                 "What two halves of a machine exchange when all send at the same time:\n"
                 "\n"
                 "  mpiexec -n 64 hpcw-linktest -n 1000 -s 16M --bidirectional --bisection\n"},
    {"SEE ALSO", "hpcgen(1), hpcw-bench(1)\n"},
};

const struct ui_program bench_linktest_program = {
    .name = "hpcw-linktest",
    .summary = "measure the connections between all processes of an MPI program",
    .description = "Measures how long a message takes between every two processes of an MPI program, and "
                   "writes a result of LinkTest.",
    .version = hpcw_version,
    .commands = commands,
    .command_count = sizeof commands / sizeof commands[0],
    .options = option_table,
    .option_count = sizeof option_table / sizeof option_table[0],
    .options_size = sizeof(struct bench_linktest_options),
    .chapters = chapters,
    .chapter_count = sizeof chapters / sizeof chapters[0],
    .examples = examples,
};
