/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/cli/options.h"

#include <limits.h>

#include <hpcw/version.h>

#include "gen/format/export_clog2.h"
#include "gen/format/format.h"
#include "gen/spec/dataset.h"
#include "libwriter/base/status.h"
#include "ui/cli/config.h"

enum {
    GENERATE = UI_COMMAND(GEN_CLI_GENERATE),
    PLAN = UI_COMMAND(GEN_CLI_PLAN),
    VERIFY = UI_COMMAND(GEN_CLI_VERIFY),
    INFO = UI_COMMAND(GEN_CLI_INFO),
    LIST = UI_COMMAND(GEN_CLI_LIST),
    JOIN = UI_COMMAND(GEN_CLI_JOIN),
    EXPORT = UI_COMMAND(GEN_CLI_EXPORT),
    RECOVER = UI_COMMAND(GEN_CLI_RECOVER),
    REPORT = UI_COMMAND(GEN_CLI_REPORT),
    /* `plan` takes all options of `generate`: one word before the options turns a run into its plan. */
    RUN = GENERATE | PLAN,
};

static const struct ui_command commands[] = {
    [GEN_CLI_GENERATE] = {"generate", "write a dataset, or one part of it (the default command)", NULL, 0, 0},
    [GEN_CLI_PLAN] = {"plan", "show what generate would write: files, bytes, memory, time", NULL, 0, 0},
    [GEN_CLI_VERIFY] = {"verify", "check a dataset or one file of it: checksums and structure", "DIR|FILE", 1,
                        1},
    [GEN_CLI_INFO] = {"info", "show what a file holds", "FILE", 1, 1},
    [GEN_CLI_LIST] = {"list", "list the formats, the presets, and every parameter with its value", NULL, 0, 0},
    [GEN_CLI_JOIN] = {"join", "finish a dataset after all its parts are written: truth, manifest, checksums",
                      "DIR", 1, 1},
    [GEN_CLI_EXPORT] = {"export", "convert an event log, or a part of it, for other viewers", "FILE", 1, 1},
    [GEN_CLI_RECOVER] = {"recover", "merge the local files of a program that died into an event log", "FILE...",
                         1, UINT_MAX},
    [GEN_CLI_REPORT] = {"report", "write an HTML page with charts of a dataset or of one file of it",
                        "DIR|FILE", 1, 1},
};

/* ---- words ---- */

static const char *preset_word(const void *list, size_t index) {
    (void)list;
    return index < model_machine_preset_count ? model_machine_preset[index].name : NULL;
}

/* Keys that --set can complete. */
static const char *parameter_word(const void *list, size_t index) {
    (void)list;
    for (size_t g = 0; g < gen_dataset_group_count; g++) {
        size_t count = gen_dataset_group_size(&gen_dataset_group[g]);
        if (index < count) {
            return gen_dataset_group[g].params[index].key;
        }
        index -= count;
    }
    return NULL;
}

static const char *const form_names[] = {[GEN_EXPORT_CHROME] = "chrome", [GEN_EXPORT_CSV] = "csv", NULL};

/* ---- options ---- */

#define FIELD(name) .offset = offsetof(struct gen_cli_options, name)
#define TEXT_FIELD(name) FIELD(name), .size = sizeof((struct gen_cli_options *)0)->name
#define DATA .section = "Data"
#define WRITING .section = "Writing"
#define EXPORTED .section = "Export, recover, report"
#define OUTPUT .section = "Output"
#define U64_MAX 18446744073709551615.0

static const struct ui_option options[] = {
    {.param = {.key = "ranks",
               .type = UI_PARAM_U32,
               FIELD(ranks),
               .min = 1,
               .max = MODEL_MAX_RANKS,
               .help = "number of virtual ranks; formats have limits (LinkTest takes only even numbers)"},
     .letter = 'n',
     .metavar = "N",
     .commands = RUN,
     .required = RUN,
     DATA},
    {.param = {.key = "formats",
               .type = UI_PARAM_U64,
               FIELD(formats),
               .help = "formats to write, separated by commas, or all; default: all"},
     .letter = 'f',
     .metavar = "LIST",
     .read = ui_read_word_set,
     .words = gen_format_name,
     .commands = RUN,
     DATA},
    {.param = {.key = "seed",
               .type = UI_PARAM_U64,
               FIELD(seed),
               .min = 0,
               .max = U64_MAX,
               .help = "seed of all random values; the same seed and parameters give the same bytes"},
     .letter = 's',
     .metavar = "N",
     .default_text = "2",
     .commands = RUN,
     DATA},
    {.param = {.key = "preset", .type = UI_PARAM_STRING, TEXT_FIELD(preset), .help = "machine to simulate"},
     .letter = 'p',
     .metavar = "NAME",
     .default_text = "dfplus-hdr200",
     .read = ui_read_word,
     .words = preset_word,
     .commands = RUN | LIST,
     DATA},
    {.param = {.key = "scale",
               .type = UI_PARAM_CHOICE,
               FIELD(scale),
               .choices = gen_scale_name,
               .help = "amount of data per rank"},
     .metavar = "SIZE",
     .default_text = "medium",
     .commands = RUN | LIST,
     DATA},
    {.param = {.key = "set",
               .type = UI_PARAM_STRING,
               FIELD(set),
               .help = "set a parameter that `hpcgen list` shows; may be repeated"},
     .metavar = "KEY=VALUE",
     .read = ui_read_setting,
     .words = parameter_word,
     .commands = RUN | LIST,
     .flags = UI_OPTION_NO_CONFIG,
     DATA},
    {.param = {.key = "config",
               .type = UI_PARAM_STRING,
               TEXT_FIELD(config),
               .help = "read options and parameters from an INI file; the command line takes precedence"},
     .letter = 'c',
     .metavar = "FILE",
     .commands = RUN | LIST,
     .flags = UI_OPTION_NO_CONFIG,
     DATA},
    {.param = {.key = "blocksize",
               .type = UI_PARAM_SIZE,
               FIELD(blocksize),
               .min = 1,
               .max = 2147483647,
               .help = "file system block size to align containers to; auto: that of the --out directory"},
     .letter = 'b',
     .metavar = "BYTES",
     .default_text = "4096",
     .zero_word = "auto",
     .commands = RUN,
     DATA},
    {.param = {.key = "files",
               .type = UI_PARAM_U32,
               FIELD(files),
               .min = 1,
               .max = MODEL_MAX_RANKS,
               .help = "number of physical files of the LinkTest container"},
     .metavar = "N",
     .default_text = "1",
     .commands = RUN,
     DATA},

    {.param = {.key = "out",
               .type = UI_PARAM_STRING,
               TEXT_FIELD(out),
               .help = "directory of the dataset; created if missing, otherwise it must be empty"},
     .letter = 'o',
     .metavar = "DIR",
     .commands = RUN,
     .required = GENERATE,
     WRITING},
    {.param = {.key = "jobs",
               .type = UI_PARAM_U32,
               FIELD(jobs),
               .min = 1,
               .max = 4096,
               .help = "number of threads; auto: one for each processor that this process may use"},
     .letter = 'j',
     .metavar = "N",
     .default_text = "auto",
     .zero_word = "auto",
     .commands = RUN | VERIFY | REPORT,
     WRITING},
    {.param = {.key = "part",
               .type = UI_PARAM_STRING,
               FIELD(part),
               .help = "write only part I of N, for array jobs; `hpcgen join` then finishes the dataset"},
     .metavar = "I/N",
     .default_text = "1/1",
     .read = ui_read_part,
     .commands = RUN,
     .flags = UI_OPTION_NO_CONFIG,
     WRITING},
    {.param = {.key = "resume",
               .type = UI_PARAM_BOOL,
               FIELD(resume),
               .help =
                   "continue an interrupted run with the same parameters: keep finished files, write the rest"},
     .letter = 'r',
     .commands = RUN,
     .flags = UI_OPTION_NO_CONFIG,
     WRITING},
    {.param = {.key = "force",
               .type = UI_PARAM_BOOL,
               FIELD(force),
               .help = "write even if the directory is not empty, and replace an older dataset or report"},
     .commands = RUN | REPORT,
     .flags = UI_OPTION_NO_CONFIG,
     WRITING},
    {.param = {.key = "sync",
               .type = UI_PARAM_BOOL,
               FIELD(sync),
               .help = "flush files and directories to stable storage"},
     .commands = RUN | JOIN | EXPORT,
     .flags = UI_OPTION_NEGATABLE,
     WRITING},
    {.param = {.key = "stripe-count",
               .type = UI_PARAM_U32,
               FIELD(stripes.count),
               .min = 1,
               .max = HPCW_I_LOV_ALL,
               .help = "Lustre: number of stripes of each data file, at most 2000, or 65535 for all targets"},
     .metavar = "N",
     .default_text = "default",
     .zero_word = "default",
     .commands = RUN,
     WRITING},
    {.param = {.key = "stripe-size",
               .type = UI_PARAM_SIZE,
               FIELD(stripes.bytes),
               .min = HPCW_I_LOV_STRIPE_UNIT,
               .max = 4294901760,
               .help = "Lustre: size of a stripe, a multiple of 64K"},
     .metavar = "BYTES",
     .default_text = "default",
     .zero_word = "default",
     .commands = RUN,
     WRITING},
    {.param = {.key = "checksums",
               .type = UI_PARAM_BOOL,
               FIELD(checksums),
               .help = "compute no checksums: no CHECKSUMS.xxh128, and none in the manifest"},
     .default_text = "yes",
     .commands = RUN | JOIN,
     .flags = UI_OPTION_NEGATABLE,
     WRITING},
    {.param = {.key = "dry-run",
               .type = UI_PARAM_BOOL,
               FIELD(dry_run),
               .help = "show the plan and write nothing, like `hpcgen plan`"},
     .commands = RUN,
     .flags = UI_OPTION_NO_CONFIG,
     WRITING},

    {.param = {.key = "output",
               .type = UI_PARAM_STRING,
               TEXT_FIELD(output),
               .help = "file to write; export and recover replace an existing one, report only if forced; "
                       "default of report: DIR.report.html"},
     .letter = 'O',
     .metavar = "FILE",
     .commands = EXPORT | RECOVER | REPORT,
     .required = EXPORT | RECOVER,
     .flags = UI_OPTION_NO_CONFIG,
     EXPORTED},
    {.param = {.key = "form",
               .type = UI_PARAM_CHOICE,
               FIELD(form),
               .choices = form_names,
               .help = "chrome: JSON for Perfetto and Chrome's trace viewer; csv: one line per event"},
     .metavar = "FORM",
     .default_text = "chrome",
     .commands = EXPORT,
     .flags = UI_OPTION_NO_CONFIG,
     EXPORTED},
    {.param = {.key = "from",
               .type = UI_PARAM_F64,
               FIELD(from),
               .min = 0,
               .max = 1e8,
               .unit = "s",
               .help = "first time of the log to export; states that are open then begin there; in a report: "
                       "start of the window that is drawn in detail"},
     .metavar = "SECONDS",
     .default_text = "0",
     .commands = EXPORT | REPORT,
     .flags = UI_OPTION_NO_CONFIG,
     EXPORTED},
    {.param = {.key = "to",
               .type = UI_PARAM_F64,
               FIELD(to),
               .min = 0,
               .max = 1e8,
               .unit = "s",
               .help = "end of the time to export or to draw in detail"},
     .metavar = "SECONDS",
     .default_text = "1e8",
     .commands = EXPORT | REPORT,
     .flags = UI_OPTION_NO_CONFIG,
     EXPORTED},
    {.param = {.key = "first-rank",
               .type = UI_PARAM_U32,
               FIELD(first_rank),
               .min = 0,
               .max = MODEL_MAX_RANKS,
               .help = "lowest rank"},
     .metavar = "N",
     .default_text = "0",
     .commands = EXPORT,
     .flags = UI_OPTION_NO_CONFIG,
     EXPORTED},
    {.param = {.key = "last-rank",
               .type = UI_PARAM_U32,
               FIELD(last_rank),
               .min = 0,
               .max = MODEL_MAX_RANKS,
               .help = "highest rank"},
     .metavar = "N",
     .default_text = "1073741824",
     .commands = EXPORT,
     .flags = UI_OPTION_NO_CONFIG,
     EXPORTED},

    {.param = {.key = "quiet",
               .type = UI_PARAM_BOOL,
               FIELD(quiet),
               .help = "print errors only, no progress and no summary"},
     .letter = 'q',
     .commands = RUN | VERIFY | JOIN | EXPORT | RECOVER | REPORT,
     .flags = UI_OPTION_NEGATABLE,
     OUTPUT},
    {.param = {.key = "json",
               .type = UI_PARAM_BOOL,
               FIELD(json),
               .help = "print the result as JSON on standard output"},
     .commands = RUN | VERIFY | INFO | LIST | JOIN | EXPORT | RECOVER,
     .flags = UI_OPTION_NEGATABLE,
     OUTPUT},
};

/* ---- manual ---- */

static const struct ui_chapter chapters[] = {
    {"CONFIGURATION FILE",
     "The file of --config has sections of lines KEY = VALUE. Section [hpcgen] holds options by their long "
     "names; "
     "the value of a flag is yes or no. Every other section is a group of parameters, as for --set. A comment "
     "starts with ';' or '#' at the beginning of a line, or with ';' after a blank. Later values win, in this "
     "order: preset, scale, configuration file, command line. A line has at most 198 bytes, a file 1 MiB.\n"
     "\n"
     "  [hpcgen]\n"
     "  ranks = 4096\n"
     "  preset = dragonfly-ss11\n"
     "\n"
     "  [machine]\n"
     "  bad_node_share = 0.01\n"},
    {"FILES",
     "In the directory of --out: one directory per format; truth.json with all injected faults, to score "
     "analysis "
     "tools with; manifest.json with all parameters, and the size and checksum of every file; CHECKSUMS.xxh128 "
     "for `xxhsum -c`; .hpcw with the state of parts and interrupted runs, until the dataset is complete.\n"},
    {"STRIPES",
     "--stripe-count and --stripe-size set the default layout of the formats' directories before files are "
     "created "
     "in them; bytes and manifest stay the same. Existing files keep their layout. On a file system other than "
     "Lustre the run fails before it writes. This was tested only against an imitation of Lustre: check the "
     "result "
     "with `lfs getstripe`.\n"},
    {"ENVIRONMENT", "Started by mpirun, srun or the like, the processes share the work. Started alone, one "
                    "process uses threads "
                    "and does not initialise MPI. COLUMNS sets the width of the help text where the terminal "
                    "does not tell it.\n"},
    {"EXIT STATUS", "0: success; 1: something failed, or a check found damage; 2: the command line or the "
                    "configuration is wrong. "
                    "An error is one line on standard error.\n"},
    {"EXAMPLES", "A dataset of 4096 ranks, one with more bad nodes, and the plan of a large one:\n"
                 "\n"
                 "  hpcgen --ranks 4096 --out synth\n"
                 "  hpcgen -n 4096 -o worse --set machine.bad_node_share=0.05\n"
                 "  hpcgen plan -n 65536 --formats linktest\n"
                 "\n"
                 "In an array job of 16 tasks, and after the last of them:\n"
                 "\n"
                 "  hpcgen -n 65536 -f linktest -o big --files 16 --part $SLURM_ARRAY_TASK_ID/16\n"
                 "  hpcgen join big\n"
                 "\n"
                 "Checks:\n"
                 "\n"
                 "  hpcgen verify synth\n"
                 "  hpcgen info --json synth/linktest/pingpong_results_bin.sion\n"
                 "\n"
                 "A tenth of a second of the event log, for https://ui.perfetto.dev:\n"
                 "\n"
                 "  hpcgen export synth/clog2/app.clog2 --from 1.2 --to 1.3 --output part.json\n"
                 "\n"
                 "A page with charts of a dataset, synth.report.html:\n"
                 "\n"
                 "  hpcgen report synth\n"
                 "\n"
                 "A log from the local files of a traced program that died, with this library or with MPE:\n"
                 "\n"
                 "  hpcgen recover --output app.clog2 /tmp/app.clog2.*.local\n"},
    {"SEE ALSO", "mpirun(1), xxhsum(1)\n"},
};

const struct ui_program gen_cli_program = {
    .name = "hpcgen",
    .summary = "generate data files of large parallel programs",
    .description =
        "Writes synthetic measurement and simulation data in the file formats of parallel programs, for any "
        "number of virtual ranks, with one process or many. All formats show the same simulated machine with "
        "known "
        "faults. The same parameters and seed give the same bytes everywhere.",
    .version = hpcw_version,
    .commands = commands,
    .command_count = sizeof commands / sizeof commands[0],
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .options_size = sizeof(struct gen_cli_options),
    .chapters = chapters,
    .chapter_count = sizeof chapters / sizeof chapters[0],
};

/* ---- reading ---- */

hpcw_status gen_cli_options_read(struct gen_cli_options *o, struct ui_parse *parse, int argc, char *const *argv,
                                 hpcw_error *err) {
    hpcw_status status = ui_options_init(parse, &gen_cli_program, o, err);
    if (status == HPCW_OK) {
        status = ui_options_parse(parse, argc, argv, err);
    }
    if (status != HPCW_OK || parse->answer != UI_ANSWER_NONE) {
        return status;
    }
    if (o->config[0] != '\0') {
        status = ui_config_read(parse, o->config, err);
        if (status != HPCW_OK) {
            return status;
        }
    }
    if (o->dry_run && parse->command == GEN_CLI_GENERATE) {
        parse->command = GEN_CLI_PLAN;
    }
    if (o->resume && o->force) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "--resume and --force: expected one of them, got both; --resume keeps finished "
                           "files, --force replaces them");
    }
    return ui_options_finish(parse, err);
}

void gen_cli_options_free(struct gen_cli_options *o) {
    ui_settings_free(&o->set);
}
