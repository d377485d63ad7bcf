/* SPDX-License-Identifier: BSD-3-Clause */
/* What the subcommands of hpcgen have in common. */
#ifndef HPCW_GEN_CLI_COMMON_COMMON_H
#define HPCW_GEN_CLI_COMMON_COMMON_H

#include "gen/cli/common/options.h"
#include "gen/spec/dataset.h"
#include "libwriter/base/buf.h"
#include "libwriter/comm/comm.h"
#include "libwriter/io/json.h"

/* The result of a subcommand: a JSON object, printed as JSON or as indented lines. The caller adds members to
 * `json` after gen_cli_result_begin. gen_cli_result_print prints nothing if `s` is a failure, and returns the
 * first failure. */
struct gen_cli_result {
    struct hpcw_i_json json;
    struct hpcw_i_buf text;
    bool as_json;
    bool as_summary; /* if true and not as_json, gen_cli_print_summary prints the result */
};
void gen_cli_result_begin(struct gen_cli_result *r, bool as_json);
hpcw_status gen_cli_result_print(struct gen_cli_result *r, hpcw_status s, hpcw_error *err);

/* Prints a JSON object as a summary of at most 24 lines of 80 columns. The text must come from struct
 * hpcw_i_json, which writes no blanks between members. Fails only with HPCW_ENOMEM. */
hpcw_status gen_cli_print_summary(const char *json, FILE *to, hpcw_error *err);

/* Adds the contents of a directory to an open JSON object: each name with its kind and its sizes. For a dataset
 * it also adds the parameters of the run, and how many faults of each kind the run has. With `faults` it adds
 * each fault, too. */
hpcw_status gen_cli_put_contents(const char *directory, bool faults, struct hpcw_i_json *json, hpcw_error *err);
/* Adds members to an open JSON object: that the dataset is unfinished, and the commands that finish it. */
void gen_cli_put_unfinished(struct hpcw_i_json *json);

/* Returns words for messages about a file of no known format: "an HDF5 file", "a text", "a directory". */
const char *gen_cli_kind(const char *path);

/* Returns the end of the string, number or word that begins at `p`, in JSON that struct hpcw_i_json wrote. */
const char *gen_cli_end_of_scalar(const char *p);

/* Applies settings of the configuration file and of --set in their order. Fails with HPCW_EINVAL for an unknown
 * key, and names the nearest known key. For a bad value it fails with the error of the parameter. The message
 * begins with the origin of the setting: "--set", or file and line. */
hpcw_status gen_cli_apply(const struct ui_settings *settings, struct gen_dataset *dataset, hpcw_error *err);

/* Builds and checks the dataset that a command line describes: preset, scale, settings, then the other
 * options. `writes_log`: as in struct gen_dataset. */
hpcw_status gen_cli_resolve(const struct gen_cli_options *options, bool writes_log, struct gen_dataset *dataset,
                            hpcw_error *err);

/* Starts to show the progress of reading, if standard error is a terminal and --quiet was not given. The caller
 * stops the display before it prints anything. Returns NULL if nothing is shown. */
struct ui_progress *gen_cli_show_reading(const struct gen_cli_options *options);

/* Returns a path as text that is safe to print. A path can have control characters, which a terminal would
 * obey; they are replaced as in error messages. The text is stored in `room`. */
const char *gen_cli_printable(const char *path, hpcw_error *room);

/* Prints a warning that a result may be wrong, even with --quiet. Prints nothing if the code is HPCW_OK. */
void gen_cli_warn(const hpcw_error *warning);

/* Fails for a path that no format recognises: it is missing, cannot be read, or has an unknown format. */
hpcw_status gen_cli_refuse_file(const char *path, hpcw_error *err);

/* Checks that `output` replaces no input and no records of a process. Fails with HPCW_EEXIST if `output` exists
 * and is an input, a file in an input directory, a file of a container, load data or checkpoint to which an
 * input belongs, or the local file of a recorded process. */
hpcw_status gen_cli_check_output(const char *output, const char *const *input, size_t count, hpcw_error *err);

struct gen_format;
struct gen_offer;

/* Applies --stem, if it was given. The stem of load data is the file name before the rank. Each argument that
 * is a directory with load data of this stem becomes DIRECTORY/STEM, the form that the readers take
 * (libreader/vom/set/set.h). Fails if there is no such directory. */
hpcw_status gen_cli_choose_stem(struct gen_cli_options *o, struct ui_parse *parse, hpcw_error *err);

/* Finds the format of a file or directory, and checks that it offers the subcommand: export, rewrite or fit, which
 * some formats lack. */
hpcw_status gen_cli_find_row(const char *path, enum gen_cli_command verb, const struct gen_format **row,
                             hpcw_error *err);
/* Fails because a format lacks the subcommand. The message names the formats that have it, and subcommands to
 * use instead. `format` NULL: no format in the directory has the subcommand. */
hpcw_status gen_cli_refuse_verb(const char *path, const struct gen_format *format, enum gen_cli_command verb,
                                hpcw_error *err);

/* gen_cli_has_form: returns whether the offer has a form; false for form 0.
 * gen_cli_takes: returns whether the offer has an option that not all formats support. */
bool gen_cli_has_form(const struct gen_offer *offer, int form);
bool gen_cli_takes(const struct gen_offer *offer, const char *option);

/* Fails if the command line asks for an option or a form that the format does not offer. `form` is the value of
 * --OPTION, 0 if no form was asked for. `names` has the words for forms. */
hpcw_status gen_cli_check_offer(const struct ui_parse *parse, const struct gen_format *row, const char *option,
                                const char *const *names, int form, hpcw_error *err);

/* Finds the file or directory of format `f` in a dataset. `path` [GEN_DIRECTORY_PATH] becomes "" if there is
 * none. */
hpcw_status gen_cli_find(const char *dir, size_t f, char *path, hpcw_error *err);

#endif
