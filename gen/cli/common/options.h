/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of hpcgen: a table of options, and a struct with their values. */
#ifndef HPCW_GEN_CLI_COMMON_OPTIONS_H
#define HPCW_GEN_CLI_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "libwriter/io/fsinfo.h"
#include "ui/cli/options.h"
#include "ui/cli/settings.h"
#include "ui/cli/values.h"

/* Words for the values of enum gen_export_form (--form) and enum gen_rewrite_form (--as). */
extern const char *const gen_cli_form_names[];
extern const char *const gen_cli_rewrite_names[];

/* Topics of `list`: the groups of parameters, and others; NULL-terminated. */
extern const char *const gen_cli_topics[];

/* The subcommands, as in ui_parse.command. They have the order of the table of subcommands. */
enum gen_cli_command {
    GEN_CLI_GENERATE,
    GEN_CLI_PLAN,
    GEN_CLI_VERIFY,
    GEN_CLI_INFO,
    GEN_CLI_LIST,
    GEN_CLI_JOIN,
    GEN_CLI_REPAIR,
    GEN_CLI_EXPORT,
    GEN_CLI_REWRITE,
    GEN_CLI_RECOVER,
    GEN_CLI_REPORT,
    GEN_CLI_SCR,
    GEN_CLI_SCORE,
    GEN_CLI_FIT,
};

enum { GEN_CLI_PATH_SIZE = 4096, GEN_CLI_PRESET_SIZE = 32 };

struct gen_cli_options {
    /* The dataset. */
    uint32_t ranks;
    uint64_t seed;
    uint64_t formats; /* bit i: format i of gen_format; 0: all formats, as --formats was not given */
    char preset[GEN_CLI_PRESET_SIZE];
    int scale; /* enum gen_scale */
    struct {
        /* value of --workload: name of a library workload, or path of a Lua file; "": not given */
        char name[GEN_CLI_PATH_SIZE];
        /* not an option: path of the file if a configuration names it by a relative path; "": use `name` */
        char text[GEN_CLI_PATH_SIZE];
    } workload;
    /* settings from the configuration file, then from --set, in the order in which they apply */
    struct ui_settings set;
    char config[GEN_CLI_PATH_SIZE];
    struct {
        uint64_t blocksize; /* bytes; 0: auto, the block size of the file system of the directory */
        uint32_t files;     /* physical files of the LinkTest container */
    } layout;

    /* Where and how to write the output. */
    char out[GEN_CLI_PATH_SIZE];
    struct ui_part part;
    bool resume, force, detail, takeover, sync, checksums;
    bool dry_run;                  /* if true, gen_cli_options_read replaces the command by GEN_CLI_PLAN */
    struct hpcw_i_stripes stripes; /* stripes of the files on Lustre; zeroed: the default of the directory */
    uint32_t jobs;                 /* threads; 0: auto, one per processor that this process may use */

    /* Options of export, rewrite and report. */
    struct {
        int form; /* enum gen_export_form */
        double from, to;
        uint32_t first_rank, last_rank, task;
        uint64_t permutation, key;
        int as; /* enum gen_rewrite_form */
        uint64_t first_phase, last_phase;
    } export;
    char output[GEN_CLI_PATH_SIZE];

    struct {
        char stem[256];
        char *joined; /* memory of paths DIRECTORY/STEM, to which ui_parse.args points; not set by an option */
    } loads;

    /* A twin. */
    bool compare;
    bool partial;

    struct {
        uint32_t keep;
        bool all_files;
    } scr;

    /* How thoroughly to verify. */
    bool all, deep;

    /* What to print. */
    bool quiet, json;
};

extern const struct ui_program gen_cli_program;

/*
 * Sets defaults, reads the command line and the configuration file, and refuses contradictions. If parse->answer
 * is not UI_ANSWER_NONE, the program only prints that answer. Free with gen_cli_options_free, also after a
 * failure.
 */
HPCW_MUST_CHECK hpcw_status gen_cli_options_read(struct gen_cli_options *options, struct ui_parse *parse,
                                                 int argc, char *const *argv, hpcw_error *err);

/* Returns whether the option with this long name was given. */
bool gen_cli_given(const struct ui_parse *parse, const char *option);

void gen_cli_options_free(struct gen_cli_options *options);

#endif
