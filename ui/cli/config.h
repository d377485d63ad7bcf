/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F5: configuration files. The INI form of libinih: [section], key = value or key: value, comments behind ';'
 * or '#' at the beginning of a line and behind " ;" anywhere, blanks around all of it without meaning.
 *
 *     [hpcgen]            the program's name: long option names without dashes
 *     ranks = 4096        as --ranks 4096
 *     sync = yes          flags take true/false, yes/no, on/off, 1/0
 *     [linktest]          every other section is a group of parameters
 *     messages = 100      as --set linktest.messages=100
 *
 * Options of all subcommands may stand there and are checked; those the present one does not take change
 * nothing. A key given twice is an error. Where file and command line disagree, the command line wins.
 */
#ifndef HPCW_UI_CLI_CONFIG_H
#define HPCW_UI_CLI_CONFIG_H

#include <stddef.h>

#include <hpcw/status.h>

#include "ui/cli/options.h"

enum {
    UI_CONFIG_MAX_SIZE = 1 << 20, /* bytes of a file */
    /* Bytes of a line: what libinih takes, 198 in Debian's build. Longer lines are refused, never split. */
};

/*
 * Applies a file to what the command line left open; its parameters go before those of --set. Call it after
 * ui_options_parse. On failure the program's options are half set, to be freed and not used.
 *
 * Errors begin with "path:line". HPCW_EINVAL and HPCW_ERANGE (content), HPCW_ENOENT, HPCW_EACCES, HPCW_EIO
 * (file), HPCW_ENOMEM.
 */
HPCW_MUST_CHECK hpcw_status ui_config_read(struct ui_parse *parse, const char *path, hpcw_error *err);

/* The same for text in memory, [size] bytes, not necessarily ended by NUL; `name` stands for the path. */
HPCW_MUST_CHECK hpcw_status ui_config_text(struct ui_parse *parse, const char *name, const char *text,
                                           size_t size, hpcw_error *err);

#endif
