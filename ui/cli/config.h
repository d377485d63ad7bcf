/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Configuration files, in the INI form of libinih: [section], and key = value or key: value. A comment begins
 * with ';' or '#' at the beginning of a line, or with " ;" anywhere. Blanks around sections, keys and values are
 * ignored.
 *
 *     [hpcgen]            the program's name: long option names without dashes
 *     ranks = 4096        as --ranks 4096
 *     sync = yes          flags take true/false, yes/no, on/off, 1/0
 *     [linktest]          every other section is a group of parameters
 *     messages = 100      as --set linktest.messages=100
 *
 * A file may hold options of all subcommands. All are checked; those of other subcommands have no effect. A key
 * that is given twice is an error. If file and command line differ, the command line wins.
 */
#ifndef HPCW_UI_CLI_CONFIG_H
#define HPCW_UI_CLI_CONFIG_H

#include <stddef.h>

#include <hpcw/status.h>

#include "ui/cli/options.h"

enum {
    UI_CONFIG_MAX_SIZE = 1 << 20, /* largest file, bytes */
    /* libinih limits the bytes of a line: to 198 in Debian's build. Longer lines are an error. */
};

/*
 * Applies a file to the options that the command line did not set. Parameters of the file go before those of
 * --set, and so are overridden. Call it after ui_options_parse. After a failure only some options are set: free
 * them, do not use them.
 *
 * Errors begin with "path:line". HPCW_EINVAL and HPCW_ERANGE (content), HPCW_ENOENT, HPCW_EACCES, HPCW_EIO
 * (file), HPCW_ENOMEM.
 */
HPCW_MUST_CHECK hpcw_status ui_config_read(struct ui_parse *parse, const char *path, hpcw_error *err);

/* Reads a configuration from memory: [size] bytes that need not end in NUL. Messages have `name` in place of a
 * path. */
HPCW_MUST_CHECK hpcw_status ui_config_text(struct ui_parse *parse, const char *name, const char *text,
                                           size_t size, hpcw_error *err);

#endif
