/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks what a format offers for a subcommand: the subcommand itself, its forms and its options. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gen/cli/common/common.h"
#include "gen/dataset/directory/directory.h"
#include "gen/export/rewrite/rewrite.h"
#include "gen/format/format.h"
#include "libreader/source.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"

enum { LIST = 256 };

/* Adds a word to a list, which reads "a, b or c". */
static void add(char list[LIST], const char *word) {
    char *last = strstr(list, " or ");
    if (last != NULL) {
        memmove(last + 2, last + 4, strlen(last + 4) + 1);
        memcpy(last, ", ", 2);
    }
    const size_t n = strlen(list);
    (void)snprintf(list + n, LIST - n, "%s%s", n == 0 ? "" : " or ", word);
}

static bool has(const struct gen_format *f, enum gen_cli_command verb) {
    return verb == GEN_CLI_EXPORT    ? f->export != NULL
           : verb == GEN_CLI_REWRITE ? f->rewrite != NULL
           : verb == GEN_CLI_FIT     ? f->fit != NULL
                                     : true;
}

hpcw_status gen_cli_refuse_verb(const char *path, const struct gen_format *format, enum gen_cli_command verb,
                                hpcw_error *err) {
    static const enum gen_cli_command verbs[] = {GEN_CLI_VERIFY, GEN_CLI_INFO,    GEN_CLI_REPORT,
                                                 GEN_CLI_EXPORT, GEN_CLI_REWRITE, GEN_CLI_FIT};
    const char *name = gen_cli_program.commands[verb].name;
    char formats[LIST] = "", instead[LIST] = "";
    for (size_t f = 0; f < gen_format_count; f++) {
        if (has(gen_format[f], verb)) {
            add(formats, gen_format[f]->name);
        }
    }
    for (size_t v = 0; v < sizeof verbs / sizeof verbs[0]; v++) {
        if (format != NULL && has(format, verbs[v])) {
            add(instead, gen_cli_program.commands[verbs[v]].name);
        }
    }
    if (format == NULL) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: %s: expected %s, or a dataset with one of them, got none",
                           path, name, formats);
    }
    return hpcw_i_fail(err, HPCW_EFORMAT, "%s: %s: expected %s, got %s; use %s", path, name, formats,
                       format->name, instead);
}

hpcw_status gen_cli_refuse_file(const char *path, hpcw_error *err) {
    struct hpcw_i_entry entry;
    int e = hpcw_i_sys_look(path, true, &entry);
    e = e == 0 && entry.kind == HPCW_I_NOTHING ? ENOENT : e;
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: expected a file or directory", path);
    }
    return hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected a file of a known format (see hpcgen list), got %s",
                       path, gen_cli_kind(path));
}

/* Refuses a file or directory that is of no format. If a directory has parts that the verb takes, as a dataset has
 * them, the message names the first one. */
static hpcw_status refuse_whole(const char *path, enum gen_cli_command verb, hpcw_error *err) {
    char part[GEN_DIRECTORY_PATH] = "";
    bool directory;
    hpcw_error none;
    hpcw_status s = read_source_is_directory(path, &directory, &none);
    for (size_t f = 0; s == HPCW_OK && directory && part[0] == '\0' && f < gen_format_count; f++) {
        if (has(gen_format[f], verb)) {
            s = gen_cli_find(path, f, part, &none);
        }
    }
    return s != HPCW_OK || part[0] == '\0'
               ? gen_cli_refuse_file(path, err)
               : hpcw_i_fail(err, HPCW_EFORMAT,
                             "%s: %s: expected data of one format, such as %s, got a directory around it", path,
                             gen_cli_program.commands[verb].name, part);
}

hpcw_status gen_cli_find_row(const char *path, enum gen_cli_command verb, const struct gen_format **row,
                             hpcw_error *err) {
    size_t f;
    hpcw_status s = gen_format_of_file(path, &f, err);
    if (s != HPCW_OK || f == gen_format_count) {
        return s == HPCW_OK ? refuse_whole(path, verb, err) : s;
    }
    const struct gen_format *own = gen_format[f];
    *row = has(own, verb) || own->within == NULL ? own : own->within;
    return has(*row, verb) ? HPCW_OK : gen_cli_refuse_verb(path, own, verb, err);
}

hpcw_status gen_cli_choose_stem(struct gen_cli_options *o, struct ui_parse *parse, hpcw_error *err) {
    /* The second argument of rewrite is its output. */
    const size_t count = parse->command == GEN_CLI_REWRITE ? 1 : parse->arg_count;
    size_t size = 0;
    bool found = false;
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; i < count; i++) {
        size += strlen(parse->args[i]) + strlen(o->loads.stem) + 2;
    }
    if (o->loads.stem[0] == '\0') {
        return HPCW_OK;
    }
    o->loads.joined = hpcw_i_malloc(size);
    char *path = o->loads.joined;
    if (path == NULL) {
        return hpcw_i_fail_memory(err, "--stem", count, "paths");
    }
    for (size_t i = 0; s == HPCW_OK && i < count; i++) {
        size_t f = gen_format_count;
        const int n = snprintf(path, size, "%s/%s", parse->args[i], o->loads.stem);
        bool directory;
        s = read_source_is_directory(parse->args[i], &directory, err);
        s = s == HPCW_OK && directory ? gen_format_of_file(path, &f, err) : s;
        if (s == HPCW_OK && f < gen_format_count) {
            parse->args[i] = path;
            path += n + 1;
            size -= (size_t)n + 1;
            found = true;
        }
    }
    return s != HPCW_OK || found
               ? s
               : hpcw_i_fail(err, HPCW_EINVAL, "%s: expected load data with the stem \"%s\", got none",
                             parse->args[0], o->loads.stem);
}

/* ---- forms and options ---- */

bool gen_cli_has_form(const struct gen_offer *offer, int form) {
    bool found = false;
    for (size_t i = 0; i < sizeof offer->form / sizeof offer->form[0]; i++) {
        found = found || (form != 0 && offer->form[i] == form);
    }
    return found;
}

bool gen_cli_takes(const struct gen_offer *offer, const char *option) {
    bool does = false;
    for (size_t i = 0; i < sizeof offer->takes / sizeof offer->takes[0] && offer->takes[i] != NULL; i++) {
        does = does || strcmp(offer->takes[i], option) == 0;
    }
    return does;
}

/* Returns the forms and options of a format for export or rewrite. NULL: it lacks the subcommand. */
static const struct gen_offer *offer_of(const struct gen_format *f, size_t verb) {
    const struct gen_offer *rewrite = f->rewrite != NULL ? &f->rewrite->offer : NULL;
    const struct gen_offer *export = f->export != NULL ? &f->export->offer : NULL;
    return verb == GEN_CLI_REWRITE ? rewrite : export;
}

hpcw_status gen_cli_check_offer(const struct ui_parse *parse, const struct gen_format *row, const char *option,
                                const char *const *names, int form, hpcw_error *err) {
    const char *path = parse->args[0];
    const struct gen_offer *own = offer_of(row, parse->command);
    char forms[LIST] = "";
    for (size_t f = 0; f < gen_format_count; f++) {
        const struct gen_offer *other = offer_of(gen_format[f], parse->command);
        for (size_t i = 0; other != NULL && i < sizeof other->takes / sizeof other->takes[0]; i++) {
            const char *taken = other->takes[i];
            if (taken != NULL && gen_cli_given(parse, taken) && !gen_cli_takes(own, taken)) {
                return hpcw_i_fail(err, HPCW_EINVAL, "%s: --%s: expected none for %s, got one", path, taken,
                                   row->name);
            }
        }
    }
    for (size_t i = 0; i < sizeof own->form / sizeof own->form[0] && own->form[i] != 0; i++) {
        add(forms, names[own->form[i]]);
    }
    return form == 0 || gen_cli_has_form(own, form)
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EINVAL, "%s: --%s: expected %s for %s, got %s", path, option, forms,
                             row->name, names[form]);
}
