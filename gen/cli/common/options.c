/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/cli/common/options.h"

#include <limits.h>
#include <string.h>
#include <strings.h>

#include <hpcw/version.h>

#include "gen/export/export.h"
#include "gen/export/rewrite/rewrite.h"
#include "gen/format/format.h"
#include "gen/spec/dataset.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "ui/cli/config.h"

enum {
    GENERATE = UI_COMMAND(GEN_CLI_GENERATE),
    PLAN = UI_COMMAND(GEN_CLI_PLAN),
    VERIFY = UI_COMMAND(GEN_CLI_VERIFY),
    INFO = UI_COMMAND(GEN_CLI_INFO),
    LIST = UI_COMMAND(GEN_CLI_LIST),
    JOIN = UI_COMMAND(GEN_CLI_JOIN),
    REPAIR = UI_COMMAND(GEN_CLI_REPAIR),
    EXPORT = UI_COMMAND(GEN_CLI_EXPORT),
    REWRITE = UI_COMMAND(GEN_CLI_REWRITE),
    RECOVER = UI_COMMAND(GEN_CLI_RECOVER),
    REPORT = UI_COMMAND(GEN_CLI_REPORT),
    SCR = UI_COMMAND(GEN_CLI_SCR),
    SCORE = UI_COMMAND(GEN_CLI_SCORE),
    FIT = UI_COMMAND(GEN_CLI_FIT),
    /* `plan` takes all options of `generate`: users put the word "plan" before the options of a run to see its
     * plan. */
    RUN = GENERATE | PLAN,
};

const char *const gen_cli_topics[] = {"run",     "machine",   "linktest", "sion",  "load",
                                      "vom",     "rank2file", "noise",    "trace", "formats",
                                      "presets", "workloads", NULL};

static const struct ui_command commands[] = {
    [GEN_CLI_GENERATE] = {"generate", "write a dataset, or one part of it (the default command)", NULL, 0, 0},
    [GEN_CLI_PLAN] = {"plan", "show what generate would write: files, bytes, memory, time", NULL, 0, 0},
    [GEN_CLI_VERIFY] = {"verify", "check a dataset or one file of it: checksums and structure", "DIR|FILE", 1,
                        1},
    [GEN_CLI_INFO] = {"info", "show what a file, a dataset or any directory holds", "FILE|DIR", 1, 1},
    [GEN_CLI_LIST] = {"list",
                      "list formats, presets and the parameters that are set most; with TOPIC only that: "
                      "formats, presets, workloads, one workload, or a group of parameters",
                      "[TOPIC]", 0, 1},
    [GEN_CLI_JOIN] = {"join", "finish a dataset after all its parts are written: truth, manifest, checksums",
                      "DIR", 1, 1},
    [GEN_CLI_REPAIR] = {"repair", "make damaged and lost files of a dataset again, and no others", "DIR", 1, 1},
    [GEN_CLI_EXPORT] = {"export", "convert a file or directory for other programs: Perfetto, NumPy, CSV, bytes",
                        "FILE|DIR", 1, 1},
    [GEN_CLI_REWRITE] = {"rewrite",
                         "write load data, a SION container or checkpoints again, in another form or in part",
                         "FROM TO", 2, 2},
    [GEN_CLI_RECOVER] = {"recover",
                         "merge the local files of a program that died, in $TMPDIR or /tmp, into an event log",
                         "FILE...", 1, UINT_MAX},
    [GEN_CLI_REPORT] = {"report", "write an HTML page with charts of a dataset or of one file of it",
                        "DIR|FILE", 1, 1},
    [GEN_CLI_SCR] = {"scr",
                     "work on the checkpoints in a prefix directory of SCR. ACTION: list, check, prune, drop, "
                     "reindex or current (restart from DATASET first)",
                     "ACTION DIR [DATASET]", 2, 3},
    [GEN_CLI_SCORE] = {"score", "compare what a tool found in a dataset with its truth.json", "FINDINGS DIR", 2,
                       2},
    [GEN_CLI_FIT] = {"fit", "learn from measured data the configuration of a synthetic twin, or compare both",
                     "REAL... | REAL TWIN", 1, UINT_MAX},
};

/* ---- words ---- */

static const char *preset_word(const void *list, size_t index) {
    (void)list;
    return index < model_machine_preset_count ? model_machine_preset[index].name : NULL;
}

const char *const gen_cli_form_names[] = {[GEN_EXPORT_AUTO] = "auto",
                                          [GEN_EXPORT_CHROME] = "chrome",
                                          [GEN_EXPORT_CSV] = "csv",
                                          [GEN_EXPORT_EDGES] = "edges",
                                          [GEN_EXPORT_NPY] = "npy",
                                          [GEN_EXPORT_HOSTS] = "hosts",
                                          [GEN_EXPORT_BYTES] = "bytes",
                                          [GEN_EXPORT_OTF2] = "otf2",
                                          [GEN_EXPORT_TASKS] = "tasks",
                                          [GEN_EXPORT_STATES] = "states",
                                          [GEN_EXPORT_MESSAGES] = "messages",
                                          [GEN_EXPORT_NPZ] = "npz",
                                          NULL};

const char *const gen_cli_rewrite_names[] = {[GEN_REWRITE_AUTO] = "auto",
                                             [GEN_REWRITE_PLAIN] = "plain",
                                             [GEN_REWRITE_BROTLI] = "brotli",
                                             [GEN_REWRITE_LBAF] = "lbaf",
                                             [GEN_REWRITE_ALIGNED] = "aligned",
                                             [GEN_REWRITE_PACKED] = "packed",
                                             [GEN_REWRITE_SCR_1_1] = "scr-1.1",
                                             [GEN_REWRITE_SCR_1_2] = "scr-1.2",
                                             [GEN_REWRITE_SCR_3] = "scr-3",
                                             [GEN_REWRITE_SHARED] = "shared",
                                             NULL};

/* ---- values ---- */

/* Returns whether `text` contains `word`, in upper or lower case. */
static bool has_word(const char *text, const char *word) {
    const size_t n = strlen(word);
    bool has = false;
    for (; *text != '\0' && !has; text++) {
        has = strncasecmp(text, word, n) == 0;
    }
    return has;
}

/* Reads the name of a preset. A part of a machine's name, as "juwels", also stands for a preset, if exactly one
 * machine has this part in its name. */
static hpcw_status read_preset(const struct ui_option *option, void *field, const char *name, const char *text,
                               const char *origin, hpcw_error *err) {
    enum { LEAST = 4 }; /* fewest letters of a part of a name */
    const char *found = text;
    size_t machines = 0;
    for (size_t i = 0; i < model_machine_preset_count; i++) {
        const char *machine = strrchr(model_machine_preset[i].help, '('); /* "(JUWELS Booster)" */
        if (machine != NULL && strlen(text) >= LEAST && has_word(machine, text)) {
            found = model_machine_preset[i].name;
            machines++;
        }
    }
    return ui_read_word(option, field, name, machines == 1 ? found : text, origin, err);
}

/* ---- options ---- */

/* Arguments: section of the help, subcommands, short and long name, name of the value, type, member of the
 * struct, help; then members of ui_option that only some options need. */
#define OPTION(...) UI_OPTION(struct gen_cli_options, __VA_ARGS__)
#define DATA "Data"
#define WRITING "Writing"
#define CHECKED "Verify, list, info"
#define EXPORTED "Export, rewrite, recover, report, fit"
#define OUTPUT "Output"
#define U64_MAX 18446744073709551615.0

static const struct ui_option options[] = {
    OPTION(DATA, RUN | REPAIR, 'n', "ranks", "N", U32, ranks,
           "number of virtual ranks; formats have limits (LinkTest takes only even numbers)",
           UI_LIMITS(1, MODEL_MAX_RANKS), .required = RUN),
    OPTION(DATA, RUN | REPAIR, 'f', "formats", "LIST", U64, formats,
           "formats to write, separated by commas, or all, the default", .read = ui_read_word_set,
           .words = gen_format_name),
    OPTION(DATA, RUN | REPAIR, 's', "seed", "N", U64, seed,
           "seed of all random values; the same seed and parameters give the same bytes", UI_LIMITS(0, U64_MAX),
           .default_text = "2"),
    OPTION(DATA, RUN | REPAIR | LIST, 'p', "preset", "NAME", STRING, preset,
           "machine to simulate: a preset, or a part of the machine's name, for instance juwels; presets",
           .default_text = "dfplus-hdr200", .read = read_preset, .words = preset_word),
    OPTION(DATA, RUN | REPAIR | LIST, 0, "scale", "SIZE", CHOICE, scale, "amount of data per rank",
           .param.choices = gen_scale_name, .default_text = "medium"),
    OPTION(DATA, RUN | REPAIR, 'w', "workload", "NAME|FILE.lua", STRING, workload,
           "program that the ranks run: a name from `hpcgen list workloads`, or a file in Lua; --set "
           "workload.KEY=VALUE sets its parameters; default: the seed chooses one from the library"),
    OPTION(DATA, RUN | REPAIR | LIST, 0, "set", "KEY=VALUE", STRING, set,
           "set a parameter that `hpcgen list` shows; may be repeated", .read = ui_read_setting,
           .words = gen_dataset_key, .flags = UI_OPTION_NO_CONFIG),
    OPTION(DATA, RUN | REPAIR | LIST, 'c', "config", "FILE", STRING, config,
           "read options and parameters from an INI file; the command line takes precedence",
           .flags = UI_OPTION_NO_CONFIG),
    OPTION(DATA, RUN | REPAIR, 'b', "blocksize", "BYTES", SIZE, layout.blocksize,
           "file system block size to align containers to; auto: the block size at the --out directory",
           UI_LIMITS(1, 2147483647), .default_text = "4096", .zero_word = "auto"),
    OPTION(DATA, RUN | REPAIR | REWRITE, 0, "files", "N", U32, layout.files,
           "number of physical files of the LinkTest container, or of the rewritten SION container",
           UI_LIMITS(1, MODEL_MAX_RANKS), .default_text = "1"),
    OPTION(WRITING, RUN, 'o', "out", "DIR", STRING, out,
           "directory of the dataset; created if missing, otherwise it must be empty", .required = GENERATE,
           .flags = UI_OPTION_STRAY),
    OPTION(WRITING, RUN | VERIFY | REPORT | REPAIR, 'j', "jobs", "N", U32, jobs,
           "number of threads; auto: one for each processor that this process may use", UI_LIMITS(1, 4096),
           .default_text = "auto", .zero_word = "auto"),
    OPTION(WRITING, RUN, 0, "part", "I/N", STRING, part,
           "write only part I of N, for array jobs; `hpcgen join` then finishes the dataset",
           .default_text = "1/1", .read = ui_read_part, .flags = UI_OPTION_NO_CONFIG),
    OPTION(WRITING, RUN, 'r', "resume", NULL, BOOL, resume,
           "continue an interrupted run with the same parameters: keep finished files, write the rest. If a "
           "finished dataset lost a file, the event log is written again, too",
           .flags = UI_OPTION_NO_CONFIG),
    OPTION(
        WRITING, RUN | REPORT, 0, "force", NULL, BOOL, force,
        "write even if the directory is not empty, and replace an older dataset or report; other files stay, "
        "unless a new file has the same name",
        .flags = UI_OPTION_NO_CONFIG),
    OPTION(WRITING, RUN | JOIN | REPAIR, 0, "takeover", NULL, BOOL, takeover,
           "write even if the directory has the lease of a run on another host, which may still be alive; use "
           "this only if you know that the run is dead",
           .flags = UI_OPTION_NO_CONFIG),
    OPTION(WRITING, RUN | JOIN | REPAIR | EXPORT | REWRITE, 0, "sync", NULL, BOOL, sync,
           "flush files and directories to stable storage", .flags = UI_OPTION_NEGATABLE),
    OPTION(WRITING, RUN, 0, "stripe-count", "N", U32, stripes.count,
           "Lustre: number of stripes of each data file, at most 2000, or 65535 for all targets",
           UI_LIMITS(1, HPCW_I_LOV_ALL), .default_text = "default", .zero_word = "default"),
    OPTION(WRITING, RUN, 0, "stripe-size", "BYTES", SIZE, stripes.bytes,
           "Lustre: size of a stripe, a multiple of 64K", UI_LIMITS(HPCW_I_LOV_STRIPE_UNIT, 4294901760),
           .default_text = "default", .zero_word = "default"),
    OPTION(WRITING, RUN | JOIN | REPAIR, 0, "checksums", NULL, BOOL, checksums,
           "compute no checksums: no CHECKSUMS.xxh128, and none in the manifest", .default_text = "yes",
           .flags = UI_OPTION_NEGATABLE),
    OPTION(WRITING, RUN, 0, "dry-run", NULL, BOOL, dry_run,
           "show the plan and write nothing, like `hpcgen plan`", .flags = UI_OPTION_NO_CONFIG),
    OPTION(
        CHECKED, VERIFY | LIST | INFO, 0, "all", NULL, BOOL, all,
        "verify: go on after the first fault of a dataset: report each file with a wrong size or checksum, and "
        "the first fault in the structure of each format; list: show all parameters; info: show all members "
        "with all digits, not a summary",
        .flags = UI_OPTION_NO_CONFIG),
    OPTION(CHECKED, VERIFY, 0, "deep", NULL, BOOL, deep,
           "also make the dataset again from the parameters in its manifest, and compare every byte; writes "
           "nothing",
           .flags = UI_OPTION_NO_CONFIG),
    OPTION(
        EXPORTED, EXPORT | RECOVER | REPORT | FIT, 'O', "output", "FILE", STRING, output,
        "file to write; - is standard output, for export, report and fit; export, recover and fit replace an "
        "existing file, report only an older report unless forced; inputs and their parts are never replaced; "
        "default of report: DIR.report.html; fit writes a configuration, or a page of the comparison",
        .required = EXPORT | RECOVER, .flags = UI_OPTION_NO_CONFIG),
    OPTION(
        EXPORTED, EXPORT, 0, "form", "FORM", CHOICE, export.form,
        "chrome: JSON of an event log for Perfetto and Chrome's trace viewer; otf2: a new directory with a "
        "trace of an event log; states, messages: csv with a line for each state or message of an event log; "
        "csv: a table of anything but a SION container; edges: csv of the edges of load "
        "data; npz: the arrays of any format for NumPy; npy: LinkTest's times for NumPy; hosts: csv of "
        "LinkTest's hosts; bytes: a stream of a SION "
        "container; tasks: a new directory with a file for each stream of a SION container; auto: the form "
        "that the end of FILE names: .csv, .json, .npy, .npz or .otf2; without a suffix chrome for event "
        "logs, bytes for SION containers, csv for others; other suffixes are refused; all forms",
        .param.choices = gen_cli_form_names, .default_text = "auto", .flags = UI_OPTION_NO_CONFIG),
    OPTION(
        EXPORTED, REPORT, 0, "detail", NULL, BOOL, detail,
        "also write the single events of an event log, as scripts in the new directory FILE.detail beside the "
        "page, which reads them when the window is small",
        .flags = UI_OPTION_NO_CONFIG),
    OPTION(EXPORTED, EXPORT | REPORT, 0, "from", "SECONDS", F64, export.from,
           "first time of the log to export; states that are open then begin there, but are whole in tables "
           "and arrays; in a report: "
           "begin of the window that the chart of the log shows at first",
           UI_LIMITS(0, 1e8), .param.unit = "s", .default_text = "0", .flags = UI_OPTION_NO_CONFIG),
    OPTION(EXPORTED, EXPORT | REPORT, 0, "to", "SECONDS", F64, export.to,
           "end of the time to export, or of this window", UI_LIMITS(0, 1e8), .param.unit = "s",
           .default_text = "1e8", .default_help = "the end of the log", .flags = UI_OPTION_NO_CONFIG),
    OPTION(EXPORTED, EXPORT | REWRITE, 0, "first-rank", "N", U32, export.first_rank, "lowest rank",
           UI_LIMITS(0, MODEL_MAX_RANKS), .default_text = "0", .flags = UI_OPTION_NO_CONFIG),
    OPTION(EXPORTED, EXPORT | REWRITE, 0, "last-rank", "N", U32, export.last_rank, "highest rank",
           UI_LIMITS(0, MODEL_MAX_RANKS), .default_text = "1073741824", .default_help = "the last one",
           .flags = UI_OPTION_NO_CONFIG),
    OPTION(
        EXPORTED, REWRITE, 0, "as", "FORM", CHOICE, export.as,
        "load data: plain: JSON; brotli: compressed, names end in .br; lbaf: compressed, but names without "
        ".br, as LBAF expects; SION: aligned: each chunk begins at a file system block; packed: chunks share "
        "blocks; checkpoints: scr-1.1, scr-1.2 (up to SCR 2.0) or scr-3: for this version of SCR; shared: "
        "for both SCR 1.1 and 3; auto: brotli for a directory of load data, for a file of it what the name "
        "says; aligned for SION; for checkpoints the layout that they have; all forms",
        .param.choices = gen_cli_rewrite_names, .default_text = "auto", .flags = UI_OPTION_NO_CONFIG),
    OPTION(EXPORTED, REWRITE, 0, "first-phase", "N", U64, export.first_phase, "lowest phase to keep",
           UI_LIMITS(0, U64_MAX), .default_text = "0", .flags = UI_OPTION_NO_CONFIG),
    OPTION(EXPORTED, REWRITE, 0, "last-phase", "N", U64, export.last_phase, "highest phase to keep",
           UI_LIMITS(0, U64_MAX), .default_text = "18446744073709551615", .default_help = "the last one",
           .flags = UI_OPTION_NO_CONFIG),
    OPTION(EXPORTED, VERIFY | INFO | REPORT | EXPORT | REWRITE | FIT, 0, "stem", "NAME", STRING, loads.stem,
           "load data: if a directory has several sets, use the one with the files NAME.RANK.json",
           .flags = UI_OPTION_NO_CONFIG),
    OPTION(EXPORTED, EXPORT, 0, "permutation", "N", U64, export.permutation,
           "number of the measurement to export, if LinkTest renumbered its tasks for each",
           UI_LIMITS(0, U64_MAX), .default_text = "0", .flags = UI_OPTION_NO_CONFIG),
    OPTION(EXPORTED, EXPORT, 0, "task", "N", U32, export.task, "task of a SION container",
           UI_LIMITS(0, 4294967295), .flags = UI_OPTION_NO_CONFIG),
    OPTION(EXPORTED, EXPORT, 0, "key", "N", U64, export.key,
           "only the values that the task wrote with this key, one after the other", UI_LIMITS(0, U64_MAX),
           .flags = UI_OPTION_NO_CONFIG),
    OPTION(EXPORTED, FIT, 0, "compare", NULL, BOOL, compare,
           "say how alike two data sets are, for instance REAL and its twin: a row for each statistic",
           .flags = UI_OPTION_NO_CONFIG),
    OPTION(
        EXPORTED, RECOVER | FIT, 0, "partial", NULL, BOOL, partial,
        "recover: make a log although local files of some ranks are missing; fit: write the twin of an event "
        "log even if it lacks more than a tenth of the log's calls or bytes, or does not take the same time; "
        "its configuration says so",
        .flags = UI_OPTION_NO_CONFIG),
    OPTION("Checkpoints", SCR, 'k', "keep", "K", U32, scr.keep,
           "scr prune: drop what is older than the newest K datasets that scr check finds sound; 0: drop no "
           "dataset",
           UI_LIMITS(0, 4294967295), .default_text = "0", .flags = UI_OPTION_NO_CONFIG),
    OPTION("Checkpoints", SCR, 0, "all-files", NULL, BOOL, scr.all_files,
           "scr drop and prune: also remove datasets that have no list of their files, with everything in "
           "their directories; the names of all files are printed before any is removed",
           .flags = UI_OPTION_NO_CONFIG),
    OPTION(OUTPUT, RUN | VERIFY | JOIN | REPAIR | EXPORT | REWRITE | RECOVER | REPORT | SCR | FIT, 'q', "quiet",
           NULL, BOOL, quiet, "print errors only, no progress and no summary", .flags = UI_OPTION_NEGATABLE),
    OPTION(OUTPUT, RUN | VERIFY | INFO | LIST | JOIN | REPAIR | EXPORT | REWRITE | RECOVER | SCR | SCORE | FIT,
           0, "json", NULL, BOOL, json, "print the result as JSON on standard output",
           .flags = UI_OPTION_NEGATABLE),
};

/* ---- manual ---- */

static const char *const examples[][UI_EXAMPLES] = {
    [GEN_CLI_GENERATE] = {"hpcgen --ranks 4096 --out synth",
                          "hpcgen -n 64 -o worse --workload stencil --set machine.bad_node_share=0.1"},
    [GEN_CLI_PLAN] = {"hpcgen plan --ranks 65536 --formats linktest",
                      "hpcgen plan -n 4096 --scale large --json"},
    [GEN_CLI_VERIFY] = {"hpcgen verify synth", "hpcgen verify --deep --all synth"},
    [GEN_CLI_INFO] = {"hpcgen info synth", "hpcgen info --json synth/sion/particles.sion"},
    [GEN_CLI_LIST] = {"hpcgen list machine", "hpcgen list --all --preset torus-tofud"},
    [GEN_CLI_JOIN] = {"hpcgen join synth", "hpcgen join --sync synth"},
    [GEN_CLI_REPAIR] = {"hpcgen repair synth", "hpcgen repair synth --ranks 4096"},
    [GEN_CLI_EXPORT] = {"hpcgen export synth/clog2/app.clog2 --from 1.2 --to 1.3 --output part.json",
                        "hpcgen export synth/vom --quiet --output - | sort -t, -k11 -g"},
    [GEN_CLI_REWRITE] = {"hpcgen rewrite lb_data for_lbaf --as lbaf --last-phase 19",
                         "hpcgen rewrite many_blocks.sion small.sion --as packed --files 4"},
    [GEN_CLI_RECOVER] = {"hpcgen recover --output app.clog2 ${TMPDIR:-/tmp}/app.clog2.*.local",
                         "hpcgen recover --partial --output app.clog2 ${TMPDIR:-/tmp}/app.clog2.*.local"},
    [GEN_CLI_REPORT] = {"hpcgen report synth",
                        "hpcgen report synth/clog2/app.clog2 --from 1.2 --to 1.3 --output part.html"},
    [GEN_CLI_SCR] = {"hpcgen scr check run", "hpcgen scr prune run --keep 3"},
    [GEN_CLI_SCORE] = {"hpcgen score findings.json synth", "hpcgen score --json findings.json synth"},
    [GEN_CLI_FIT] = {"hpcgen fit run/lb_data --output twin.ini",
                     "hpcgen fit app-16.clog2 app-64.clog2 --output twin.ini"},
};

static const struct ui_chapter chapters[] = {
    {"CONFIGURATION FILE",
     "The file of --config has sections of lines KEY = VALUE. Section [hpcgen] holds options by their long "
     "names; the value of a flag is yes or no. Every other section is a group of parameters, as for --set. A "
     "comment starts with ';' or '#' at the beginning of a line, or with ';' after a blank. Later values win, "
     "in this order: preset, scale, configuration file, command line. A line has at most 198 bytes, a file 1 "
     "MiB.\n"
     "\n"
     "  [hpcgen]\n"
     "  ranks = 4096\n"
     "  preset = dragonfly-ss11\n"
     "\n"
     "  [machine]\n"
     "  bad_node_share = 0.01\n"},
    {"SIZES",
     "A size is a number of bytes: 4096, 4K and 4KiB are the same, 4KB is 4000. M, G and T are powers of 1024 "
     "too, MB, GB and TB of 1000. A blank may stand before the unit.\n"},
    {"FILES", "In the directory of --out: one directory per format; truth.json with all injected faults, to "
              "score analysis tools with; manifest.json with all parameters, and the size and checksum of "
              "every file; CHECKSUMS.xxh128 for `xxhsum -c`; .hpcw with the state of parts and interrupted "
              "runs, until the dataset is complete.\n"},
    {"STRIPES", "--stripe-count and --stripe-size set the default layout of the formats' directories before "
                "files are created in them; bytes and manifest stay the same. Existing files keep their "
                "layout. On a file system other than Lustre the run fails before it writes. This was tested "
                "only against an imitation of Lustre: check the result with `lfs getstripe`.\n"},
    {"CHECKPOINTS",
     "hpcgen scr ACTION DIR works on a prefix directory of SCR 1, 2 or 3, whoever wrote it.\n"
     "\n"
     "  list            show the datasets of the index, in the order in which a restart tries them\n"
     "  check           list them, and read all their files to check sizes, checksums and totals; also check "
     "that the index lists the current dataset and does not mark it as failed\n"
     "  prune           remove what dead writers left; with --keep K also remove datasets older than the "
     "newest K that check finds sound; the current dataset stays\n"
     "  drop            remove the dataset that the third argument names\n"
     "  reindex         build the index anew from the summaries\n"
     "  current         make a restart try first the dataset that the third argument names, even one marked as "
     "failed; refused unless check finds it sound\n"
     "\n"
     "prune, drop and reindex print how many datasets they added, removed and skipped, and how many other "
     "files they left in the directories of these datasets. A dataset that hpcw is writing is left alone. "
     "Programs that use SCR itself must not run meanwhile.\n"
     "\n"
     "drop and prune remove the files that the map of a dataset lists, or the marker of a dead writer. They "
     "follow no symbolic links below DIR. A dataset whose map is missing or damaged stays, unless --all-files "
     "is given, which removes everything in its directory.\n"},
    {"SCORE",
     "hpcgen score FINDINGS DIR prints precision and recall of a tool for each kind of fault. FINDINGS is a "
     "JSON "
     "file, {\"findings\": [{\"kind\": \"slow_node\", \"rank\": 12}]}; doc/truth.md has all kinds, their "
     "places, and what the result means.\n"},
    {"FIT",
     "hpcgen fit REAL... --output FILE learns from measured data, writes a configuration for "
     "--config, and prints what it learned. REAL is "
     "a directory of load data (vom) or a file of it, a LinkTest result, a SION container, a "
     "prefix directory of SCR, an event log, or a dataset; several of different formats make one "
     "configuration. "
     "The twin of an event log is a workload, in FILE with .lua at the end, and cannot be combined with "
     "other formats: beside these a log is left out. Several logs of one program with different numbers of "
     "ranks make one workload for any number. hpcgen fit --compare REAL TWIN "
     "prints a row for each statistic of the two, with their distance and the distance that is allowed.\n"
     "\n"
     "  hpcgen fit run/lb_data --output twin.ini\n"
     "  hpcgen fit app-16.clog2 app-64.clog2 --output twin.ini\n"
     "  hpcgen --config twin.ini --out twin\n"
     "  hpcgen fit --compare run/lb_data twin\n"},
    {"EXPORT",
     "Forms that hpcgen export FILE --output OUT can write, for each kind of FILE:\n"
     "\n"
     "  event log    chrome: JSON for Perfetto and Chrome's trace viewer\n"
     "               otf2: a directory with traces.otf2, for Vampir and Scalasca\n"
     "               csv: a line for each event\n"
     "               states: csv with a line for each state\n"
     "               messages: csv with a line for each message whose send and receive are both in the log\n"
     "  LinkTest     csv: rank, host, core and the seconds to each other task\n"
     "               npy: the matrix of these seconds for NumPy\n"
     "               hosts: csv of rank, host and core\n"
     "  checkpoints  csv: a line for each data file of a prefix directory, or of a map\n"
     "  SION         bytes: the stream of --task, or its values with --key\n"
     "  load data    csv: a line for each task\n"
     "               edges: csv with a line for each edge\n"
     "\n"
     "Every kind can also be written as npz, with the arrays of the Python package, for numpy.load. For SION "
     "these are the bytes of --task, or of all tasks.\n"
     "\n"
     "A time of LinkTest is that of one message, one way. Where nothing was measured, csv has an empty field "
     "and npy a NaN. A LinkTest result is also a SION container: with --task it is exported as one.\n"},
    {"REWRITE",
     "hpcgen rewrite FROM TO writes load data, a SION container or checkpoints again.\n"
     "\n"
     "Load data: If FROM is the file of one rank, so is TO. If FROM is a directory with the files of all "
     "ranks, TO is a new directory with files data.RANK.json or data.RANK.json.br. Ranks and phases keep "
     "their numbers. Values get as few digits as possible and keys the order that vt uses, so that files of vt "
     "do "
     "not change.\n"
     "\n"
     "  hpcgen rewrite lb_data for_lbaf --as lbaf --first-phase 10 --last-phase 19\n"
     "\n"
     "SION: In the new container every task has one chunk of the size of its stream. Content, ranks, byte "
     "orders and block size stay the same. A LinkTest result is a container, too. An existing container TO, or "
     "file TO of a rank, is replaced, unless it is FROM or a file of the same set.\n"
     "\n"
     "  hpcgen rewrite many_blocks.sion small.sion --as packed --files 4\n"
     "\n"
     "Checkpoints: FROM is the prefix directory of a job with SCR, and TO a new one for the same or another "
     "version of it. Data files are copied, and every map gets their sizes and CRC-32. Datasets that failed or "
     "are not complete are left out; any other damage is an error.\n"
     "\n"
     "  hpcgen rewrite run_with_scr_1 run --as scr-3\n"},
    {"ENVIRONMENT", "Started by mpirun, srun or the like, the processes share the work. Started alone, one "
                    "process uses threads and does not initialise MPI. COLUMNS sets the width of the help text "
                    "where the terminal does not tell it.\n"},
    {"EXIT STATUS", "0: success; 1: something failed, or a check found damage; 2: the command line or the "
                    "configuration is wrong. An error is one line on standard error; `verify --all` prints one "
                    "for each fault.\n"},
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
                 "After damage, and after the loss of the manifest:\n"
                 "\n"
                 "  hpcgen repair synth\n"
                 "  hpcgen repair synth --ranks 4096\n"
                 "\n"
                 "A tenth of a second of the event log, for https://ui.perfetto.dev:\n"
                 "\n"
                 "  hpcgen export synth/clog2/app.clog2 --from 1.2 --to 1.3 --output part.json\n"
                 "\n"
                 "Times of LinkTest for NumPy, and load data for another program:\n"
                 "\n"
                 "  hpcgen export synth/linktest/pingpong_results_bin.sion --output times.npy\n"
                 "  hpcgen export synth/vom --quiet --output - | sort -t, -k11 -g\n"
                 "\n"
                 "A page with charts of a dataset, synth.report.html:\n"
                 "\n"
                 "  hpcgen report synth\n"
                 "\n"
                 "A log from the local files of a traced program that died, with this library or with MPE:\n"
                 "\n"
                 "  hpcgen recover --output app.clog2 ${TMPDIR:-/tmp}/app.clog2.*.local\n"},
    {"SEE ALSO", "mpirun(1), xxhsum(1)\n"},
};

static const char *const *const words[sizeof commands / sizeof commands[0]] = {[GEN_CLI_LIST] = gen_cli_topics};

const struct ui_program gen_cli_program = {
    .name = "hpcgen",
    .summary = "generate data files of large parallel programs",
    .description =
        "Writes synthetic measurement and simulation data in the file formats of parallel programs, for any "
        "number of virtual ranks, with one process or many. All formats show the same simulated machine with "
        "known faults. The same parameters and seed give the same bytes everywhere.",
    .version = hpcw_version,
    .commands = commands,
    .command_count = sizeof commands / sizeof commands[0],
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .options_size = sizeof(struct gen_cli_options),
    .words = words,
    .chapters = chapters,
    .chapter_count = sizeof chapters / sizeof chapters[0],
    .examples = examples,
};

/* ---- reading ---- */

/* Finds the file of a workload that the configuration file names. A name with a dot or slash is a path,
 * relative to the directory of the configuration. Any other name is that of a workload in the library. */
static hpcw_status find_workload(struct gen_cli_options *o, hpcw_error *err) {
    const char *slash = strrchr(o->config, '/');
    const int folder = slash == NULL ? 0 : (int)(slash + 1 - o->config);
    if (o->workload.name[0] == '/' || strpbrk(o->workload.name, "./") == NULL) {
        return HPCW_OK;
    }
    const int size =
        snprintf(o->workload.text, sizeof o->workload.text, "%.*s%s", folder, o->config, o->workload.name);
    return size < (int)sizeof o->workload.text
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_ERANGE, "%s: workload: expected a path of less than %zu bytes, got %d",
                             o->config, sizeof o->workload.text, size);
}

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
        const bool has_workload = o->workload.name[0] != '\0';
        status = ui_config_read(parse, o->config, err);
        if (status != HPCW_OK) {
            return status;
        }
        status = has_workload ? HPCW_OK : find_workload(o, err);
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
    if (parse->command == GEN_CLI_FIT && o->compare && parse->arg_count != 2) {
        return hpcw_i_fail(err, HPCW_EINVAL, "--compare: expected two data sets, REAL and TWIN, got %zu",
                           parse->arg_count);
    }
    if (parse->command == GEN_CLI_FIT && !o->compare && o->output[0] == '\0') {
        return hpcw_i_fail(err, HPCW_EINVAL, "--output: expected the file for the configuration, got none");
    }
    if (strcmp(o->output, "-") == 0 && o->json) {
        return hpcw_i_fail(err, HPCW_EINVAL, "--json and --output -: expected one of them, got both");
    }
    if (strcmp(o->output, "-") == 0 && parse->command == GEN_CLI_RECOVER) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "--output: expected a file for the event log, got standard output");
    }
    return ui_options_finish(parse, err);
}

bool gen_cli_given(const struct ui_parse *parse, const char *option) {
    return parse->source[ui_options_find(parse->program, option)] != UI_FROM_DEFAULT;
}

void gen_cli_options_free(struct gen_cli_options *o) {
    ui_settings_free(&o->set);
    hpcw_i_free(o->loads.joined);
}
