/* SPDX-License-Identifier: BSD-3-Clause */
/* What the subcommands of hpcgen have in common. */
#ifndef HPCW_GEN_CLI_COMMON_COMMON_H
#define HPCW_GEN_CLI_COMMON_COMMON_H

#include "gen/cli/common/options.h"
#include "gen/spec/dataset.h"
#include "libwriter/base/buf.h"
#include "libwriter/comm/comm.h"
#include "libwriter/io/json.h"

/* The result of a subcommand: an object, which the caller fills between these two. It is printed as JSON, or as lines
 * for people. After a failure `s`, or its own, nothing is. */
struct gen_cli_result {
    struct hpcw_i_json json;
    struct hpcw_i_buf text;
    bool as_json;
    bool as_summary; /* for people: rounded, on one screen, instead of every member */
};
void gen_cli_result_begin(struct gen_cli_result *r, bool as_json);
hpcw_status gen_cli_result_print(struct gen_cli_result *r, hpcw_status s, hpcw_error *err);

/* Prints a JSON object that our own writer made, without blanks, in at most 24 lines of 80 columns. HPCW_ENOMEM. */
hpcw_status gen_cli_print_summary(const char *json, FILE *to, hpcw_error *err);

/* Adds what is in a directory as members of an open object: each name with its kind and sizes; of a dataset the run,
 * too. */
hpcw_status gen_cli_put_contents(const char *directory, struct hpcw_i_json *json, hpcw_error *err);
/* Adds that a dataset is unfinished, and what finishes it. */
void gen_cli_put_unfinished(struct hpcw_i_json *json);

/* What a file of no known format is, for messages: "an HDF5 file", "a text", "a directory". */
const char *gen_cli_kind(const char *path);

/* The end of a string, number or word of such a JSON text. */
const char *gen_cli_end_of_scalar(const char *p);

/* Applies the settings of --set and of a configuration file in order. HPCW_EINVAL for an unknown key, with the nearest
 * known one, or the parameter's own error for its value; the message begins with the setting's origin. */
hpcw_status gen_cli_apply(const struct ui_settings *settings, struct gen_dataset *dataset, hpcw_error *err);

/* Builds and checks the dataset that a command line describes: preset, scale, settings, then the other options. `writes_log`: as in
 * struct gen_dataset. */
hpcw_status gen_cli_resolve(const struct gen_cli_options *options, bool writes_log, struct gen_dataset *dataset,
                            hpcw_error *err);

/* Starts a display of what a command reads, if people look at standard error. The caller stops it before it prints
 * anything. NULL: there is none. */
struct ui_progress *gen_cli_show_reading(const struct gen_cli_options *options);

/* A path for terminals, in `room`: it can hold any character. As in messages of errors. */
const char *gen_cli_printable(const char *path, hpcw_error *room);

/* Says why a result may be wrong, also with --quiet; nothing if the code is HPCW_OK. */
void gen_cli_warn(const hpcw_error *warning);

/* The error for a path that no format recognises: it is missing, unreadable, or of another format. */
hpcw_status gen_cli_refuse_file(const char *path, hpcw_error *err);

/*
 * Whether a file may be written, given all that the command reads. HPCW_EEXIST if it is there and one of these: an input, a
 * file in an input directory, another file of an input's set or map, or the local file of a recorded run.
 */
hpcw_status gen_cli_check_output(const char *output, const char *const *input, size_t count, hpcw_error *err);

struct gen_format;
struct gen_offer;

/* With --stem: puts DIRECTORY/STEM, as libreader/vom/set/set.h has it, in place of each directory that has such load data. Fails
 * if none has. */
hpcw_status gen_cli_choose_stem(struct gen_cli_options *o, struct ui_parse *parse, hpcw_error *err);

/* Finds the format of a file or directory for a subcommand. Its row has it: only export, rewrite and fit may be missing. */
hpcw_status gen_cli_find_row(const char *path, enum gen_cli_command verb, const struct gen_format **row,
                             hpcw_error *err);
/* The error for a format without the subcommand: names those with it, and what to use instead. `format` NULL: for a directory
 * that has none of them. */
hpcw_status gen_cli_refuse_verb(const char *path, const struct gen_format *format, enum gen_cli_command verb,
                                hpcw_error *err);

/* Whether an exporter or rewriter has a form, which is not 0; whether it takes an option that only some formats take. */
bool gen_cli_has_form(const struct gen_offer *offer, int form);
bool gen_cli_takes(const struct gen_offer *offer, const char *option);

/* Refuses what the row does not offer for the command in `parse`: options, and the form that --`option` asks for, 0 for none.
 * `names` has the words for the forms. */
hpcw_status gen_cli_check_offer(const struct ui_parse *parse, const struct gen_format *row, const char *option,
                                const char *const *names, int form, hpcw_error *err);

/* The file or directory of format `f` in a dataset: path[GEN_DIRECTORY_PATH], "" if there is none. */
hpcw_status gen_cli_find(const char *dir, size_t f, char *path, hpcw_error *err);

#endif
