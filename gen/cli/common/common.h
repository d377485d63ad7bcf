/* SPDX-License-Identifier: BSD-3-Clause */
/* What the subcommands of hpcgen have in common. */
#ifndef HPCW_GEN_CLI_COMMON_COMMON_H
#define HPCW_GEN_CLI_COMMON_COMMON_H

#include "gen/cli/common/options.h"
#include "gen/spec/dataset.h"
#include "libwriter/base/buf.h"
#include "libwriter/comm/comm.h"
#include "libwriter/io/json.h"

/* The result of a subcommand: a JSON object. The caller adds its members between the two calls below. It is
 * printed as JSON, or as lines for people. If `s` is a failure, or the calls fail, nothing is printed. */
struct gen_cli_result {
    struct hpcw_i_json json;
    struct hpcw_i_buf text;
    bool as_json;
    bool as_summary; /* for people: rounded, on one screen, instead of every member */
};
void gen_cli_result_begin(struct gen_cli_result *r, bool as_json);
hpcw_status gen_cli_result_print(struct gen_cli_result *r, hpcw_status s, hpcw_error *err);

/* Prints a JSON object as a summary of at most 24 lines of 80 columns. The object must come from our own
 * writer, which puts no blanks between members. Fails only with HPCW_ENOMEM. */
hpcw_status gen_cli_print_summary(const char *json, FILE *to, hpcw_error *err);

/* Adds the contents of a directory to an open object: each name with its kind and its sizes. For a dataset it
 * also adds the parameters of the run and the numbers of its faults; with `faults`, each fault, too. */
hpcw_status gen_cli_put_contents(const char *directory, bool faults, struct hpcw_i_json *json, hpcw_error *err);
/* Adds to an open object that the dataset is unfinished, and the commands that finish it. */
void gen_cli_put_unfinished(struct hpcw_i_json *json);

/* Returns words for messages about a file of no known format: "an HDF5 file", "a text", "a directory". */
const char *gen_cli_kind(const char *path);

/* Returns the end of the string, number or word that begins at `p`, in JSON of our own writer. */
const char *gen_cli_end_of_scalar(const char *p);

/* Applies the settings of --set and of a configuration file in order. HPCW_EINVAL for an unknown key, with the
 * nearest known one, or the parameter's own error for its value; the message begins with the setting's origin. */
hpcw_status gen_cli_apply(const struct ui_settings *settings, struct gen_dataset *dataset, hpcw_error *err);

/* Builds and checks the dataset that a command line describes: preset, scale, settings, then the other
 * options. `writes_log`: as in struct gen_dataset. */
hpcw_status gen_cli_resolve(const struct gen_cli_options *options, bool writes_log, struct gen_dataset *dataset,
                            hpcw_error *err);

/* Starts a display of what a command reads, if people look at standard error. The caller stops it before it prints
 * anything. NULL: there is none. */
struct ui_progress *gen_cli_show_reading(const struct gen_cli_options *options);

/* Returns a path as text that is safe to print: a path can have control characters, which a terminal would
 * obey. They are replaced as in messages of errors. The text is in `room`. */
const char *gen_cli_printable(const char *path, hpcw_error *room);

/* Prints a warning that a result may be wrong, even with --quiet. Prints nothing if the code is HPCW_OK. */
void gen_cli_warn(const hpcw_error *warning);

/* Fails for a path that no format recognises: it is missing, cannot be read, or has an unknown format. */
hpcw_status gen_cli_refuse_file(const char *path, hpcw_error *err);

/*
 * Checks that writing `output` destroys nothing that the command reads. Fails with HPCW_EEXIST if `output` exists
 * and is an input, a file in an input directory, another file of the set or map of an input, or the local file of
 * a recorded run.
 */
hpcw_status gen_cli_check_output(const char *output, const char *const *input, size_t count, hpcw_error *err);

struct gen_format;
struct gen_offer;

/* Applies --stem, if it was given: replaces each argument that is a directory of load data with this stem by
 * DIRECTORY/STEM, the form that the readers take (libreader/vom/set/set.h). Fails if there is no such directory. */
hpcw_status gen_cli_choose_stem(struct gen_cli_options *o, struct ui_parse *parse, hpcw_error *err);

/* Finds the format of a file or directory, and checks that it offers the subcommand: export, rewrite or fit, which
 * some formats lack. */
hpcw_status gen_cli_find_row(const char *path, enum gen_cli_command verb, const struct gen_format **row,
                             hpcw_error *err);
/* Fails because a format lacks the subcommand. The message names the formats that have it, and what to use instead.
 * `format` NULL: the path is a directory with no file of such a format. */
hpcw_status gen_cli_refuse_verb(const char *path, const struct gen_format *format, enum gen_cli_command verb,
                                hpcw_error *err);

/* Return whether an exporter or rewriter offers this form (false for 0), and whether it takes this option,
 * which only some formats take. */
bool gen_cli_has_form(const struct gen_offer *offer, int form);
bool gen_cli_takes(const struct gen_offer *offer, const char *option);

/* Fails if the command line asks for something that the format does not offer: an option, or `form`, the value of
 * the option called `option`; 0: no form was asked for. `names` has the words for forms. */
hpcw_status gen_cli_check_offer(const struct ui_parse *parse, const struct gen_format *row, const char *option,
                                const char *const *names, int form, hpcw_error *err);

/* Finds the file or directory of format `f` in a dataset. `path` [GEN_DIRECTORY_PATH] becomes "" if there is
 * none. */
hpcw_status gen_cli_find(const char *dir, size_t f, char *path, hpcw_error *err);

#endif
