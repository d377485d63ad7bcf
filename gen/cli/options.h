/* SPDX-License-Identifier: BSD-3-Clause */
/* F6: the command line of hpcgen, as a table and as a struct. */
#ifndef HPCW_GEN_CLI_OPTIONS_H
#define HPCW_GEN_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "libwriter/io/fsinfo.h"
#include "ui/cli/options.h"
#include "ui/cli/settings.h"
#include "ui/cli/values.h"

/* In the order of the table: hpcw_i_parse.command. */
enum hpcgen_command {
    HPCGEN_GENERATE,
    HPCGEN_PLAN,
    HPCGEN_VERIFY,
    HPCGEN_INFO,
    HPCGEN_LIST,
    HPCGEN_JOIN,
    HPCGEN_EXPORT,
    HPCGEN_RECOVER,
    HPCGEN_REPORT,
};

enum { HPCGEN_PATH_SIZE = 4096, HPCGEN_PRESET_SIZE = 32 };

struct hpcgen_options {
    /* What the data are. */
    uint32_t ranks;
    uint64_t seed;
    uint64_t formats; /* bit i: the i-th format of the table; 0: not given, all that can take this many ranks */
    char preset[HPCGEN_PRESET_SIZE];
    int scale; /* enum hpcw_i_scale */
    struct hpcw_i_settings
        set; /* of the configuration, then of the command line; apply after preset and scale */
    char config[HPCGEN_PATH_SIZE];
    uint64_t blocksize; /* bytes; 0: auto, ask the directory */
    uint32_t files;     /* physical files of the LinkTest container */

    /* Where and how they are written. */
    char out[HPCGEN_PATH_SIZE];
    struct hpcw_i_part part;
    bool resume, force, sync, checksums;
    bool dry_run;                  /* hpcgen_options_read has turned the command into HPCGEN_PLAN */
    struct hpcw_i_stripes stripes; /* on Lustre; zeroed: as it is */
    uint32_t jobs;                 /* threads; 0: auto, as many as this process may run on */

    /* What is exported or reported. */
    int form; /* enum hpcw_i_export_form */
    double from, to;
    uint32_t first_rank, last_rank;
    char output[HPCGEN_PATH_SIZE];

    /* What is said about it. */
    bool quiet, json;
};

extern const struct hpcw_i_program hpcgen_program;

/*
 * Defaults, command line, configuration file, and what one contradicts the other in. Unless parse->answer is
 * HPCW_I_ANSWER_NONE the program has only to print it. Release with hpcgen_options_free, after a failure too.
 */
HPCW_MUST_CHECK hpcw_status hpcgen_options_read(struct hpcgen_options *options, struct hpcw_i_parse *parse,
                                                int argc, char *const *argv, hpcw_error *err);

/* A hash of all that processes which work together must have been told alike: not the number of threads, nor what
 * is printed. */
uint64_t hpcgen_options_hash(const struct hpcgen_options *options, size_t command);

void hpcgen_options_free(struct hpcgen_options *options);

#endif
