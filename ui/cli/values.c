/* SPDX-License-Identifier: BSD-3-Clause */
#include "ui/cli/values.h"

#include <stdlib.h>
#include <string.h>

#include "libwriter/base/checked.h"
#include "libwriter/base/status.h"

/* Reads decimal digits only. strtoul would also accept a sign, blanks and other bases. */
static bool read_count(const char *text, size_t length, uint32_t *value) {
    if (length == 0 || length > 9 || strspn(text, "0123456789") < length) {
        return false;
    }
    *value = (uint32_t)strtoul(text, NULL, 10);
    return true;
}

hpcw_status ui_read_part(const struct ui_option *option, void *field, const char *name, const char *text,
                         const char *origin, hpcw_error *err) {
    (void)option;
    (void)origin;
    struct ui_part *part = field;
    const char *slash = strchr(text, '/');
    uint32_t number, count;
    if (slash == NULL || !read_count(text, (size_t)(slash - text), &number) ||
        !read_count(slash + 1, strlen(slash + 1), &count)) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected I/N, for instance 1/4, got \"%s\"", name, text);
    }
    if (number < 1 || number > count) {
        return hpcw_i_fail(err, HPCW_ERANGE, "%s: expected I/N with 1 <= I <= N, got \"%s\"", name, text);
    }
    part->index = number - 1;
    part->count = count;
    return HPCW_OK;
}

/* ---- words ---- */

static hpcw_status unknown_word(const struct ui_option *option, const char *name, const char *word,
                                hpcw_error *err) {
    char list[512] = "";
    const char *w;
    for (size_t i = 0; (w = option->words(option->word_list, i)) != NULL; i++) {
        size_t used = strlen(list);
        (void)snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", w);
    }
    const char *near = ui_text_nearest(word, option->words, option->word_list);
    return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected one of %s, got \"%s\"%s%s%s", name, list, word,
                       near == NULL ? "" : "; did you mean ", near == NULL ? "" : near,
                       near == NULL ? "" : "?");
}

/* Returns the index of a word of `length` bytes in the option's list, or -1. */
static int find_word(const struct ui_option *option, const char *word, size_t length) {
    const char *w;
    for (int i = 0; (w = option->words(option->word_list, (size_t)i)) != NULL; i++) {
        if (strlen(w) == length && memcmp(w, word, length) == 0) {
            return i;
        }
    }
    return -1;
}

hpcw_status ui_read_word(const struct ui_option *option, void *field, const char *name, const char *text,
                         const char *origin, hpcw_error *err) {
    (void)origin;
    size_t length = strlen(text);
    if (find_word(option, text, length) < 0) {
        return unknown_word(option, name, text, err);
    }
    if (length >= option->param.size) {
        return hpcw_i_fail(err, HPCW_ERANGE, "%s: expected at most %zu characters, got %zu", name,
                           option->param.size - 1, length);
    }
    memcpy(field, text, length + 1);
    return HPCW_OK;
}

hpcw_status ui_read_word_set(const struct ui_option *option, void *field, const char *name, const char *text,
                             const char *origin, hpcw_error *err) {
    (void)origin;
    uint64_t set = 0;
    size_t words = 0;
    while (option->words(option->word_list, words) != NULL) {
        words++;
    }
    if (words > 64) {
        return hpcw_i_fail(err, HPCW_EINTERNAL, "%s: expected a table of at most 64 words, got %zu", name,
                           words);
    }
    if (strcmp(text, "all") == 0 && words > 0) {
        set = UINT64_MAX >> (64 - words);
        memcpy(field, &set, sizeof set);
        return HPCW_OK;
    }
    for (const char *p = text;; p++) {
        size_t length = strcspn(p, ",");
        int i = find_word(option, p, length);
        if (i < 0) {
            char word[64];
            (void)snprintf(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), p);
            return unknown_word(option, name, word, err);
        }
        set |= UINT64_C(1) << i;
        p += length;
        if (*p == '\0') {
            break;
        }
    }
    memcpy(field, &set, sizeof set);
    return HPCW_OK;
}

/* ---- key=value ---- */

hpcw_status ui_read_setting(const struct ui_option *option, void *field, const char *name, const char *text,
                            const char *origin, hpcw_error *err) {
    (void)option;
    const char *equals = strchr(text, '=');
    char key[128];
    if (equals == NULL || equals == text) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected KEY=VALUE, got \"%s\"", name, text);
    }
    size_t length = (size_t)(equals - text);
    if (length >= sizeof key) {
        return hpcw_i_fail(err, HPCW_ERANGE, "%s: expected a key of at most %zu characters, got %zu", name,
                           sizeof key - 1, length);
    }
    memcpy(key, text, length);
    key[length] = '\0';
    return ui_settings_add(field, key, equals + 1, origin, err);
}

/* ---- durations and sizes ---- */

hpcw_status ui_read_duration(const struct ui_option *option, void *field, const char *name, const char *text,
                             const char *origin, hpcw_error *err) {
    (void)origin;
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"m", 60}, {"min", 60}, {"h", 3600}};
    /* Require the plain decimal form first: strtod alone would accept "0x10", "inf" and leading blanks. */
    size_t digits = strspn(text, "0123456789");
    size_t length = digits;
    if (text[length] == '.') {
        size_t fraction = strspn(text + length + 1, "0123456789");
        length += 1 + fraction;
        digits += fraction;
    }
    double seconds = -1;
    for (size_t u = 0; digits > 0 && length < 40 && u < sizeof units / sizeof units[0]; u++) {
        if (strcmp(text + length, units[u].unit) == 0) {
            seconds = strtod(text, NULL) * units[u].seconds;
        }
    }
    if (seconds < 0) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a time like 90s, 2m or 1.5h, got \"%s\"", name,
                           text);
    }
    if (seconds < option->param.min || seconds > option->param.max) {
        return hpcw_i_fail(err, HPCW_ERANGE, "%s: expected %g to %g seconds, got \"%s\"", name,
                           option->param.min, option->param.max, text);
    }
    memcpy(field, &seconds, sizeof seconds);
    return HPCW_OK;
}

static hpcw_status read_size(const struct ui_option *option, const char *name, const char *text, size_t length,
                             uint64_t *value, hpcw_error *err) {
    char word[32];
    if (length >= sizeof word) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a size like 64K, got \"%.*s\"", name, 40, text);
    }
    memcpy(word, text, length);
    word[length] = '\0';
    struct ui_param param = option->param;
    param.key = name;
    param.type = UI_PARAM_SIZE;
    param.offset = 0;
    return ui_param_set(&param, value, word, err);
}

static hpcw_status add_size(struct ui_sizes *sizes, const char *name, uint64_t value, hpcw_error *err) {
    if (sizes->count == UI_SIZES_MAX) {
        return hpcw_i_fail(err, HPCW_ERANGE, "%s: expected at most %d sizes, got more", name, UI_SIZES_MAX);
    }
    sizes->at[sizes->count++] = value;
    return HPCW_OK;
}

/* Adds the sizes of `text`, FIRST:LAST:STEP. colon1 and colon2 are the offsets of the colons. */
static hpcw_status add_range(const struct ui_option *option, struct ui_sizes *sizes, const char *name,
                             const char *text, size_t colon1, size_t colon2, size_t length, hpcw_error *err) {
    uint64_t first, last, step;
    hpcw_status status = read_size(option, name, text, colon1, &first, err);
    if (status == HPCW_OK) {
        status = read_size(option, name, text + colon1 + 1, colon2 - colon1 - 1, &last, err);
    }
    if (status != HPCW_OK) {
        return status;
    }
    const char *how = text + colon2 + 1;
    size_t how_length = length - colon2 - 1;
    bool times = how_length > 0 && how[0] == 'x', plus = how_length > 0 && how[0] == '+';
    uint32_t factor = 0;
    step = 0;
    if (times && !read_count(how + 1, how_length - 1, &factor)) {
        times = false;
    }
    if (plus) {
        struct ui_option any = *option;
        any.param.min = 0; /* param.min holds for the sizes, not for the step */
        status = read_size(&any, name, how + 1, how_length - 1, &step, err);
        if (status != HPCW_OK) {
            return status;
        }
    }
    if (first > last || (!times && !plus) || (times && (factor < 2 || first == 0)) || (plus && step == 0)) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: expected FIRST:LAST:xN with N > 1, or FIRST:LAST:+SIZE, got \"%.*s\"", name,
                           (int)(length < 80 ? length : 80), text);
    }
    for (uint64_t v = first; v <= last;) {
        status = add_size(sizes, name, v, err);
        if (status != HPCW_OK || !(times ? hpcw_i_mul_u64(v, factor, &v) : hpcw_i_add_u64(v, step, &v))) {
            break;
        }
    }
    return status;
}

hpcw_status ui_read_sizes(const struct ui_option *option, void *field, const char *name, const char *text,
                          const char *origin, hpcw_error *err) {
    (void)origin;
    struct ui_sizes sizes = {0};
    for (const char *p = text;; p++) {
        size_t length = strcspn(p, ",");
        size_t colon1 = strcspn(p, ":,"),
               colon2 = colon1 < length ? colon1 + 1 + strcspn(p + colon1 + 1, ":,") : length;
        hpcw_status status;
        if (colon1 == length) {
            uint64_t value = 0;
            status = read_size(option, name, p, length, &value, err);
            if (status == HPCW_OK) {
                status = add_size(&sizes, name, value, err);
            }
        } else if (colon2 == length) {
            status =
                hpcw_i_fail(err, HPCW_EINVAL, "%s: expected FIRST:LAST:xN or FIRST:LAST:+SIZE, got \"%.*s\"",
                            name, (int)(length < 80 ? length : 80), p);
        } else {
            status = add_range(option, &sizes, name, p, colon1, colon2, length, err);
        }
        if (status != HPCW_OK) {
            return status;
        }
        p += length;
        if (*p == '\0') {
            break;
        }
    }
    memcpy(field, &sizes, sizeof sizes);
    return HPCW_OK;
}
