/* SPDX-License-Identifier: BSD-3-Clause */
#include "ui/cli/config.h"

#include <errno.h>
#include <string.h>

#include <ini.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/text.h"
#include "ui/cli/values.h"

/* libinih cuts longer names of sections without an error, so names of SECTION_MAX bytes or more are refused.
 * KEY_MAX: bytes of the longest key. */
enum { SECTION_MAX = 49, KEY_MAX = 127, PLACE_SIZE = 512 };

struct reading {
    struct ui_parse *parse;
    const char *name;
    const char *next, *end; /* text that libinih has not read yet */
    int line;               /* number of the last line that libinih has read, from 1 */
    bool goes_on;           /* the last line continues the value above it */
    struct ui_settings settings;
    int option_line[UI_OPTIONS_MAX]; /* [row] line that sets the option; 0: none so far */
    hpcw_status status;              /* the first failure, after which no more is read */
    hpcw_error *err;
};

static const char *place_of(const struct reading *r, int line, char place[PLACE_SIZE]) {
    (void)snprintf(place, PLACE_SIZE, "%.480s:%d", r->name, line);
    return place;
}

/*
 * Reads a line for libinih, as fgets does. A line that does not fit into the buffer is an error: libinih would
 * parse its pieces as separate lines. libinih takes an indented line for the continuation of a value. So the
 * indentation is removed, except where only a continuation is possible: in a line without '=' below a parameter.
 */
static char *read_line(char *buffer, int size, void *context) {
    struct reading *r = context;
    if (r->status != HPCW_OK || r->next == r->end) {
        return NULL;
    }
    const char *feed = memchr(r->next, '\n', (size_t)(r->end - r->next));
    const char *begin = r->next, *line = begin, *line_end = feed == NULL ? r->end : feed;
    r->next = feed == NULL ? r->end : feed + 1;
    r->line++;
    while (line < line_end && (*line == ' ' || *line == '\t')) {
        line++;
    }
    while (line < line_end && (line_end[-1] == '\r' || line_end[-1] == ' ' || line_end[-1] == '\t')) {
        line_end--;
    }
    size_t length = (size_t)(line_end - line);
    char place[PLACE_SIZE];
    if (memchr(line, '\0', length) != NULL) {
        r->status =
            hpcw_i_fail(r->err, HPCW_EINVAL, "%s: expected text, got a NUL byte", place_of(r, r->line, place));
        return NULL;
    }
    if (length + 3 > (size_t)size) {
        r->status = hpcw_i_fail(r->err, HPCW_ERANGE, "%s: expected a line of at most %d bytes, got %zu",
                                place_of(r, r->line, place), size - 3, length);
        return NULL;
    }
    memcpy(buffer, line, length);
    buffer[length] = '\0';
    r->goes_on =
        line > begin && strcspn(buffer, ";#[") > 0 && strchr(buffer, '=') == NULL && r->settings.count > 0;
    const size_t blanks = r->goes_on ? 1 : 0;
    memmove(buffer + blanks, buffer, length);
    memcpy(buffer, " ", blanks);
    memcpy(buffer + blanks + length, "\n", 2);
    return buffer;
}

static hpcw_status take_option(struct reading *r, const char *place, const char *key, const char *value) {
    const struct ui_program *program = r->parse->program;
    size_t i = ui_options_find(program, key);
    bool known = i < program->option_count;
    if (!known || (program->options[i].flags & UI_OPTION_NO_CONFIG) != 0) {
        const char *near = known ? NULL : ui_options_nearest(program, UINT32_MAX, key);
        /* "no-checksums" is not a key, and no key is near enough to be suggested. But its meaning is clear. */
        if (strncmp(key, "no-", 3) == 0 && ui_options_find(program, key + 3) < program->option_count) {
            return hpcw_i_fail(r->err, HPCW_EINVAL, "%s: expected \"%s = no\", got \"%s\"", place, key + 3,
                               key);
        }
        return hpcw_i_fail(r->err, HPCW_EINVAL, "%s: expected an option that [%s] can hold, got \"%s\"%s%s%s",
                           place, program->name, key, near == NULL ? "" : "; did you mean ",
                           near == NULL ? "" : near, near == NULL ? "" : "?");
    }
    if (r->option_line[i] != 0) {
        return hpcw_i_fail(r->err, HPCW_EINVAL, "%s: expected every key once, got %s again (first in line %d)",
                           place, key, r->option_line[i]);
    }
    r->option_line[i] = r->line;
    struct ui_parse *parse = r->parse;
    struct ui_parse scratch;
    bool overruled = parse->source[i] == UI_FROM_COMMAND_LINE;
    void *copy = NULL;
    if (overruled) {
        /* The command line overrides this value, but a wrong value is still an error. So check it in a copy of the
         * options. */
        copy = hpcw_i_calloc(1, program->options_size);
        if (copy == NULL) {
            return hpcw_i_fail_memory(r->err, place, 0, NULL);
        }
        scratch = *parse;
        scratch.options = copy;
        parse = &scratch;
    }
    hpcw_status status = ui_options_set(parse, i, key, value, place, UI_FROM_CONFIG, r->err);
    hpcw_i_free(copy);
    return status == HPCW_OK ? HPCW_OK : ui_fail_at(r->err, status, place);
}

static hpcw_status take_parameter(struct reading *r, const char *place, const char *section, const char *key,
                                  const char *value) {
    char full[SECTION_MAX + 1 + KEY_MAX + 1];
    (void)snprintf(full, sizeof full, "%s.%s", section, key);
    for (size_t i = 0; i < r->settings.count; i++) {
        if (strcmp(r->settings.items[i].key, full) == 0) {
            return hpcw_i_fail(r->err, HPCW_EINVAL, "%s: expected every key once, got %s again (first at %s)",
                               place, full, r->settings.items[i].origin);
        }
    }
    return ui_settings_add(&r->settings, full, value, place, r->err);
}

/* Appends a continuation line to the last value. */
static hpcw_status add_to_value(struct reading *r, const char *more) {
    struct ui_setting *s = &r->settings.items[r->settings.count - 1];
    const size_t length = strlen(s->value), size = length + strlen(more) + 2;
    char *value = hpcw_i_malloc(size);
    if (value == NULL) {
        return hpcw_i_fail_memory(r->err, s->key, 0, NULL);
    }
    (void)snprintf(value, size, "%s %s", s->value, more);
    hpcw_i_free(s->value);
    s->value = value;
    return HPCW_OK;
}

/* Takes a key and its value from libinih. Returns 0 for a wrong line. */
static int take_pair(void *context, const char *section, const char *key, const char *value) {
    struct reading *r = context;
    if (r->status != HPCW_OK) {
        return 0;
    }
    char place[PLACE_SIZE];
    (void)place_of(r, r->line, place);
    if (section[0] == '\0') {
        r->status = hpcw_i_fail(r->err, HPCW_EINVAL,
                                "%s: expected a [section] before the first key, got \"%s\"", place, key);
    } else if (strlen(section) >= SECTION_MAX || strlen(key) > KEY_MAX) {
        r->status =
            hpcw_i_fail(r->err, HPCW_EINVAL, "%s: expected names of less than %d characters, got [%s] %s",
                        place, SECTION_MAX, section, key);
    } else if (r->goes_on) {
        r->status = add_to_value(r, value == NULL ? "" : value);
    } else if (strcmp(section, r->parse->program->name) == 0) {
        r->status = take_option(r, place, key, value == NULL ? "" : value);
    } else {
        r->status = take_parameter(r, place, section, key, value == NULL ? "" : value);
    }
    return r->status == HPCW_OK;
}

/* Returns the list that --set fills; NULL in a program without parameters. */
static struct ui_settings *settings_of(const struct ui_parse *parse) {
    const struct ui_program *program = parse->program;
    for (size_t i = 0; i < program->option_count; i++) {
        if (program->options[i].read == ui_read_setting) {
            return (struct ui_settings *)(void *)((char *)parse->options + program->options[i].param.offset);
        }
    }
    return NULL;
}

hpcw_status ui_config_text(struct ui_parse *parse, const char *name, const char *text, size_t size,
                           hpcw_error *err) {
    struct reading r = {.parse = parse, .name = name, .next = text, .end = text + size, .err = err};
    struct ui_settings *settings = settings_of(parse);
    if (size > UI_CONFIG_MAX_SIZE) {
        return hpcw_i_fail(err, HPCW_ERANGE, "%s: expected a configuration of at most %d bytes, got more", name,
                           UI_CONFIG_MAX_SIZE);
    }
    int wrong_line = ini_parse_stream(read_line, &r, take_pair, &r);
    char place[PLACE_SIZE];
    /* libinih continues after a line that it cannot parse. So report the first wrong line, whether it was found by
     * libinih or by take_pair. */
    if (wrong_line > 0 && (r.status == HPCW_OK || wrong_line < r.line)) {
        r.status = hpcw_i_fail(err, HPCW_EINVAL, "%s: expected [section] or key = value, got neither",
                               place_of(&r, wrong_line, place));
    } else if (wrong_line < 0 && r.status == HPCW_OK) {
        r.status = hpcw_i_fail_memory(err, name, 0, NULL);
    } else if (r.status == HPCW_OK && r.settings.count > 0) {
        r.status = settings != NULL
                       ? ui_settings_put_before(settings, &r.settings, err)
                       : hpcw_i_fail(err, HPCW_EINVAL, "%s: expected keys in [%s] only, got %s",
                                     r.settings.items[0].origin, parse->program->name, r.settings.items[0].key);
    }
    ui_settings_free(&r.settings);
    return r.status;
}

hpcw_status ui_config_read(struct ui_parse *parse, const char *path, hpcw_error *err) {
    struct hpcw_i_text file;
    int e = hpcw_i_text_open(path, &file);
    if (e == EPIPE) {
        return hpcw_i_fail(
            err, HPCW_EINVAL,
            "%s: cannot read this configuration file: expected a pipe that somebody writes into, "
            "got one without a writer",
            path);
    }
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot read this configuration file", path);
    }
    size_t size = 0;
    char *text = hpcw_i_malloc(UI_CONFIG_MAX_SIZE + 1);
    e = text == NULL ? ENOMEM : hpcw_i_text_read(&file, text, UI_CONFIG_MAX_SIZE + 1, &size);
    hpcw_i_text_close(&file);
    hpcw_status s = e == 0 ? ui_config_text(parse, path, text, size, err)
                           : hpcw_i_fail_sys(err, e, "%s: cannot read this configuration file", path);
    hpcw_i_free(text);
    return s;
}
