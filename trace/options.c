/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/options.h"

#include <stddef.h>

#include <hpcw/version.h>

#include "libwriter/trace/config.h"
#include "ui/cli/values.h"

const char *const trace_clock[] = {"best", "counter", "system", "mpi", NULL};

static const struct ui_command commands[] = {
    {NULL, "record the calls of MPI of a program", "PROGRAM-FILE [ARGUMENT...]", 1, UI_ARGS_MAX}};

static const char *class_word(const void *list, size_t index) {
    (void)list;
    return index < HPCW_I_CLASSES ? hpcw_i_trace_class_name[index] : NULL;
}

/* Columns of the table of options: section, subcommands, letter, long name, metavar, type, field, help. Named
 * members may follow. */
#define OPTION(section, ...) UI_OPTION(struct trace_options, section, UI_COMMAND(0), __VA_ARGS__)
#define OUTPUT "Files"
#define CALLS "What is recorded"
#define OTHER "Start and clocks"
#define CLASSES .read = ui_read_word_set, .words = class_word

static const struct ui_option option_table[] = {
    OPTION(OUTPUT, 'o', "output", "FILE", STRING, output,
           "name of the log; by default that of the program with .clog2, in the directory in which it calls "
           "MPI_Init"),
    OPTION(OUTPUT, 'd', "dir", "DIR", STRING, directory,
           "directory of the local files, on each host: on a tmpfs, ext2, ext3, ext4 or xfs; by default "
           "$TMPDIR or "
           "/tmp"),
    OPTION(OUTPUT, 'm', "memory", "SIZE", SIZE, memory,
           "memory for the records of a process, in whole MiB; the rest is in its local file alone; by default "
           "64M",
           UI_LIMITS(8388608, 1099511627776.0)),
    OPTION(CALLS, 0, "only", "CLASSES", U64, only, "classes of calls to record, with commas between them",
           CLASSES),
    OPTION(CALLS, 0, "also", "CLASSES", U64, also, "classes to record that are not by default", CLASSES),
    OPTION(CALLS, 0, "skip", "CLASSES", U64, skip, "classes to leave out", CLASSES),
    OPTION(CALLS, 0, "paused", NULL, BOOL, paused, "record nothing until the program calls MPI_Pcontrol(1)"),
    OPTION(OTHER, 0, "wait", "SECONDS", U32, wait,
           "time that process 0 waits in MPI_Init for the others to start, also with hpcw-trace; by default 10",
           UI_LIMITS(1, 3600)),
    OPTION(OTHER, 0, "clock", "NAME", CHOICE, clock, "clock to read", .param.choices = trace_clock,
           .default_text = "best"),
    OPTION(OTHER, 0, "clocks", NULL, BOOL, clocks, "print at the end how the clocks of the processes differ"),
    OPTION(OTHER, 0, "library", "FILE", STRING, library,
           "libhpcw_trace.so to use; by default an installed one of the program's MPI"),
};

static const char *const examples[][UI_EXAMPLES] = {
    {"mpirun -np 4 hpcw-trace ./heat 400 100",
     "srun hpcw-trace --only message,collective --output run7.clog2 --dir /local ./heat"}};

static const struct ui_chapter chapters[] = {
    {"WHAT HAPPENS",
     "hpcw-trace loads libhpcw_trace.so into PROGRAM before all other libraries (LD_PRELOAD) and becomes this "
     "program. The "
     "launcher starts hpcw-trace, not the other way round. The calls of MPI of all processes become one log in "
     "the format "
     "CLOG-2, which MPI_Finalize writes. One process says where. If a process dies, `hpcgen recover` makes the "
     "log of the "
     "local files.\n"
     "\n"
     "The library must be built with the MPI of the program. hpcw-trace takes the one in its own installation "
     "that is, "
     "LIBDIR/libhpcw_trace.so or LIBDIR/hpcw/*/libhpcw_trace.so, and starts nothing if there is none.\n"
     "\n"
     "A program that is linked with no MPI is started with a message. It may open MPI later, as Python does, "
     "or be a script "
     "that starts programs. If nothing calls MPI_Init, there is no log. A statically linked program loads no "
     "library, so "
     "nothing can be recorded: it is not started.\n"},
    {"ENVIRONMENT", "The options set variables that libhpcw_trace.so reads: HPCW_TRACE_FILE, HPCW_TRACE_DIR, "
                    "HPCW_TRACE_MEMORY, "
                    "HPCW_TRACE_ALSO, HPCW_TRACE_SKIP, HPCW_TRACE, HPCW_TRACE_WAIT, HPCW_TRACE_CLOCK and "
                    "HPCW_TRACE_CLOCKS. Without its "
                    "option a variable stays as it is.\n"},
    {"EXIT STATUS", "That of the program. If it is not started: 2 if the command line is wrong, 127 if there "
                    "is no such program, 126 if the "
                    "system cannot start it, and 1 if its calls cannot be recorded.\n"},
    {"EXAMPLES",
     "Record a program, and look at its log:\n"
     "\n"
     "  mpirun -np 4 hpcw-trace ./heat 400 100\n"
     "  hpcgen report heat.clog2\n"
     "\n"
     "Messages and collective calls alone, in a log of another name, with local files on a disk of each host:\n"
     "\n"
     "  srun hpcw-trace --only message,collective --output run7.clog2 --dir /local ./heat\n"},
    {"SEE ALSO", "hpcgen(1)\n"},
};

const struct ui_program trace_program = {
    .name = "hpcw-trace",
    .summary = "record the calls of MPI of a program",
    .description =
        "Starts a program of MPI and records its calls in an event log, without a change to the program.",
    .version = hpcw_version,
    .commands = commands,
    .command_count = sizeof commands / sizeof commands[0],
    .options = option_table,
    .option_count = sizeof option_table / sizeof option_table[0],
    .options_size = sizeof(struct trace_options),
    .chapters = chapters,
    .chapter_count = sizeof chapters / sizeof chapters[0],
    .starts_another = true,
    .examples = examples,
};
