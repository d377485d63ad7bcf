/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the tokens of a text against the schema, and passes good values to the consumer. */
#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libreader/vom/json/number.h"
#include "libreader/vom/json/private.h"
#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"

/* Most bytes of a number's text: several times what is needed for the digits of any double. */
#define MOST_NUMBER 256u

/* ---- The text of numbers and strings --------------------------------------------------------------------- */

/* Returns whether a JSON number has a point or an exponent. */
static bool looks_float(const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '.' || text[i] == 'e' || text[i] == 'E') {
            return true;
        }
    }
    return false;
}

/* Finds the nearest double of a JSON number, whose text ends with a NUL. False if the number is too large. */
static bool double_of(const char *text, size_t size, double *number) {
    const unsigned char *digits = (const unsigned char *)text + (text[0] == '-');
    bool is_float;
    if (read_vom_double(digits, number, &is_float) == (const unsigned char *)text + size) {
        *number = text[0] == '-' ? -*number : *number;
        return true;
    }
    return hpcw_i_parse_f64("number", text, -DBL_MAX, DBL_MAX, number, NULL) == HPCW_OK;
}

/* Returns whether bytes are UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF. */
static bool is_utf8(const unsigned char *text, size_t size) {
    for (size_t i = 0; i < size;) {
        unsigned char c = text[i];
        size_t more = c < 0x80 ? 0 : c < 0xc2 ? size : c < 0xe0 ? 1 : c < 0xf0 ? 2 : c < 0xf5 ? 3 : size;
        if (more >= size - i) {
            return false;
        }
        unsigned char low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
        unsigned char high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
        for (size_t k = 1; k <= more; k++) {
            if (text[i + k] < low || text[i + k] > high) {
                return false;
            }
            low = 0x80;
            high = 0xbf;
        }
        i += 1 + more;
    }
    return true;
}

/* ---- The schema of a value ------------------------------------------------------------------------------- */

static const struct read_vom_spec anything = {.type = READ_VOM_T_ANY};
static const struct read_vom_spec any_object = {.type = READ_VOM_T_OBJECT, .element = &anything};
static const struct read_vom_spec any_array = {.type = READ_VOM_T_ARRAY, .element = &anything};

/* Stores the status of a token. Returns whether the scan continues. */
static bool ended_with(struct read_vom_json *j, hpcw_status status) {
    j->status = status;
    return status == HPCW_OK && !j->stopping;
}

/* ---- Values ---------------------------------------------------------------------------------------------- */

#define A(type) (1u << READ_VOM_##type)
#define A_NUMBER (A(INTEGER) | A(FLOAT))

static const struct {
    const char *text;
    unsigned takes; /* value types that the schema type accepts, as bits */
} types[] = {
    [READ_VOM_T_COUNT] = {"an integer >= 0", A_NUMBER},
    [READ_VOM_T_FLOAT] = {"a float >= 0 (with a point or an exponent)", A_NUMBER},
    [READ_VOM_T_REAL] = {"a float (with a point or an exponent)", A_NUMBER},
    [READ_VOM_T_TEXT] = {"a string", A(STRING)},
    [READ_VOM_T_WORD] = {"a string", A(STRING)},
    [READ_VOM_T_FLAG] = {"true or false", A(BOOL)},
    [READ_VOM_T_SCALAR] = {"a 32-bit integer, a float or a string", A_NUMBER | A(STRING)},
    [READ_VOM_T_ANY] = {"any value", ~0u},
    [READ_VOM_T_OBJECT] = {"an object", 0},
    [READ_VOM_T_ARRAY] = {"an array", 0},
};

/* Returns whether a value may be of any type. */
static bool takes_any(const struct read_vom_json *j, const struct read_vom_spec *spec) {
    return spec->type == READ_VOM_T_ANY || (spec->type == READ_VOM_T_SCALAR && j->lenient);
}

static hpcw_status unexpected(struct read_vom_json *j, const struct read_vom_spec *spec, const char *what,
                              const char *text, size_t size) {
    return read_vom_json_wrong(j, HPCW_EFORMAT, j->err, "expected %s, got %s%.*s%s", types[spec->type].text,
                               what, size > 60 ? 60 : (int)size, text, size > 60 ? "..." : "");
}

static hpcw_status not_utf8(struct read_vom_json *j) {
    return read_vom_json_wrong(j, HPCW_EFORMAT, j->err, "expected text in UTF-8, got other bytes");
}

/* Returns the schema of the value that starts here. */
static const struct read_vom_spec *next_spec(struct read_vom_json *j) {
    j->about_frame = false;
    if (j->depth == 0) {
        return j->top;
    }
    struct read_vom_json_frame *f = &j->frame[j->depth - 1];
    f->count += f->spec->type == READ_VOM_T_ARRAY;
    return f->value;
}

static hpcw_status take_number(struct read_vom_json *j, const struct read_vom_spec *spec,
                               struct read_vom_value *v) {
    char text[MOST_NUMBER + 1];
    memcpy(text, v->text, v->size);
    text[v->size] = '\0';
    const unsigned char *digits = (const unsigned char *)text;
    if (spec->type == READ_VOM_T_COUNT) {
        return read_vom_count(digits, &v->count) == digits + v->size && v->count <= spec->most
                   ? HPCW_OK
                   : read_vom_json_wrong(j, HPCW_EFORMAT, j->err,
                                         "expected an integer from 0 to %" PRIu64 ", got %.*s", spec->most,
                                         v->size > 60 ? 60 : (int)v->size, v->text);
    }
    v->type = looks_float(v->text, v->size) ? READ_VOM_FLOAT : READ_VOM_INTEGER;
    bool good = double_of(text, v->size, &v->number);
    if (takes_any(j, spec)) {
        /* No reader can keep a number beyond the range of doubles. */
        return good ? HPCW_OK : unexpected(j, spec, "a number beyond the range of doubles: ", v->text, v->size);
    }
    if (v->type == READ_VOM_INTEGER) {
        good = good && (spec->type == READ_VOM_T_SCALAR ? v->number >= INT32_MIN && v->number <= INT32_MAX
                                                        : j->lenient);
    }
    if (spec->type == READ_VOM_T_FLOAT) {
        good = good && v->number >= 0;
    }
    return good ? HPCW_OK : unexpected(j, spec, "", v->text, v->size);
}

static hpcw_status take_word(struct read_vom_json *j, const struct read_vom_spec *spec,
                             struct read_vom_value *v) {
    const struct read_vom_words *w = spec->words;
    for (v->count = 0; v->count < w->count; v->count++) {
        const char *word = w->word[v->count];
        if (word != NULL && v->size == strlen(word) && memcmp(v->text, word, v->size) == 0) {
            return HPCW_OK;
        }
    }
    return read_vom_json_wrong(j, HPCW_EFORMAT, j->err, "expected %s, got \"%.*s\"", w->expected,
                               v->size > 60 ? 60 : (int)v->size, v->text);
}

/* Checks a value against its schema. In a message, `what` stands before a value of the wrong type. */
static hpcw_status check(struct read_vom_json *j, const struct read_vom_spec *spec, struct read_vom_value *v,
                         const char *what) {
    bool number = v->type == READ_VOM_INTEGER; /* an integer or a float: take_number finds out which */
    if (number && v->size > MOST_NUMBER) {
        return read_vom_json_wrong(j, HPCW_ERANGE, j->err,
                                   "expected a number of at most %u characters, got %zu", MOST_NUMBER, v->size);
    }
    if (!takes_any(j, spec) && (types[spec->type].takes >> v->type & 1) == 0) {
        return unexpected(j, spec, what, v->text, v->size);
    }
    if (number) {
        return take_number(j, spec, v);
    }
    if (v->type == READ_VOM_STRING && !j->scan.ascii && !is_utf8((const unsigned char *)v->text, v->size)) {
        return not_utf8(j);
    }
    return spec->type == READ_VOM_T_WORD ? take_word(j, spec, v) : HPCW_OK;
}

/* Stores a value where its schema says, and notes that it is present. */
static void store(struct read_vom_json *j, const struct read_vom_spec *spec, const struct read_vom_value *v) {
    unsigned char *context = j->consumer.context;
    const bool yes = true;
    uint32_t narrow = (uint32_t)v->count;
    const void *from = spec->size == sizeof narrow ? (const void *)&narrow : (const void *)&v->count;
    if (spec->type == READ_VOM_T_FLAG) {
        from = &v->flag;
    } else if (spec->type == READ_VOM_T_FLOAT || spec->type == READ_VOM_T_REAL) {
        from = &v->number;
    }
    if (spec->size > 0) {
        memcpy(context + spec->at, from, spec->size);
    }
    if (spec->present != 0) {
        memcpy(context + spec->present, &yes, sizeof yes);
    }
}

static hpcw_status hand_on(struct read_vom_json *j, const struct read_vom_spec *spec,
                           struct read_vom_value *value) {
    store(j, spec, value);
    if (spec->slot == 0) {
        return HPCW_OK;
    }
    if (j->depth > 0 && j->frame[j->depth - 1].any_key) {
        value->key = (const char *)j->any_key.data;
        value->key_size = j->any_key.size - 1;
    }
    return j->consumer.value(j->consumer.context, spec, value, j->err);
}

/* ---- Objects and arrays as values ------------------------------------------------------------------------ */

static hpcw_status add_nested(struct read_vom_json *j, const char *text, size_t size) {
    if (size > READ_VOM_MOST_NESTED - (j->nested.size - j->nested_key)) {
        return read_vom_json_wrong(j, HPCW_ERANGE, j->err,
                                   "expected values of at most %zu bytes in all, got more",
                                   READ_VOM_MOST_NESTED);
    }
    return hpcw_i_buf_append(&j->nested, text, size) ? HPCW_OK
                                                     : hpcw_i_fail_memory(j->err, j->name, 0, "a value");
}

/* Adds the comma before a key or value, unless it is the first one of its object or array. */
static hpcw_status add_comma(struct read_vom_json *j) {
    const unsigned char last = j->nested.data[j->nested.size - 1];
    return last == '{' || last == '[' || last == ':' ? HPCW_OK : add_nested(j, ",", 1);
}

/* Writes the escape of a character that does not stand for itself. */
static size_t escape(char out[13], uint32_t c) {
    static const char special[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    const char *at = c < 0x80 ? memchr(special, (int)c, sizeof special - 1) : NULL;
    int n = at != NULL ? snprintf(out, 13, "\\%c", letter[at - special])
            : c < 0x10000
                ? snprintf(out, 13, "\\u%04x", c)
                : snprintf(out, 13, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + (c & 0x3ff));
    return (size_t)n;
}

/* Decodes the UTF-8 character at `text`. *size gets the number of its bytes. */
static uint32_t character(const unsigned char *text, size_t *size) {
    *size = text[0] < 0x80 ? 1 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
    uint32_t c = *size == 1 ? text[0] : text[0] & (0x7fu >> *size);
    for (size_t k = 1; k < *size; k++) {
        c = c << 6 | (text[k] & 0x3fu);
    }
    return c;
}

/* Appends a string in vt's form: ASCII with escapes. */
static hpcw_status add_string(struct read_vom_json *j, const char *text, size_t size) {
    hpcw_status s = add_nested(j, "\"", 1);
    size_t from = 0, more;
    for (size_t i = 0; s == HPCW_OK && i < size; i += more) {
        uint32_t c = character((const unsigned char *)text + i, &more);
        if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\') {
            char out[13];
            s = add_nested(j, text + from, i - from);
            s = s == HPCW_OK ? add_nested(j, out, escape(out, c)) : s;
            from = i + more;
        }
    }
    s = s == HPCW_OK ? add_nested(j, text + from, size - from) : s;
    return s == HPCW_OK ? add_nested(j, "\"", 1) : s;
}

static hpcw_status add_scalar(struct read_vom_json *j, const struct read_vom_value *v) {
    hpcw_status s = add_comma(j);
    return s != HPCW_OK                 ? s
           : v->type == READ_VOM_STRING ? add_string(j, v->text, v->size)
                                        : add_nested(j, v->text, v->size);
}

/* Begins an object or array that is passed on as one value; nested_depth gets the depth of its frame. */
static hpcw_status begin_nested(struct read_vom_json *j) {
    const struct hpcw_i_buf *key = &j->any_key;
    j->nested.size = 0;
    j->nested_key = key->size;
    j->nested_depth = j->depth + 1;
    return hpcw_i_buf_append(&j->nested, key->data, key->size)
               ? HPCW_OK
               : hpcw_i_fail_memory(j->err, j->name, 0, "a value");
}

/* Ends an object or array that is passed on as one value, and passes it on. The value's own key was kept in
 * `nested`, because keys inside the value have overwritten `any_key`. */
static hpcw_status end_nested(struct read_vom_json *j) {
    struct read_vom_value value = {.type = READ_VOM_NESTED,
                                   .text = (const char *)j->nested.data + j->nested_key,
                                   .size = j->nested.size - j->nested_key};
    j->nested_depth = 0;
    j->any_key.size = 0;
    return hpcw_i_buf_append(&j->any_key, j->nested.data, j->nested_key)
               ? hand_on(j, j->frame[j->depth - 1].value, &value)
               : hpcw_i_fail_memory(j->err, j->name, 0, "a value");
}

/* ---- Tokens ---------------------------------------------------------------------------------------------- */

static bool scalar(struct read_vom_json *j, struct read_vom_value *value, const char *what) {
    const struct read_vom_spec *spec = next_spec(j);
    hpcw_status status = check(j, spec, value, what);
    return ended_with(j, status != HPCW_OK     ? status
                         : j->nested_depth > 0 ? add_scalar(j, value)
                                               : hand_on(j, spec, value));
}

bool read_vom_json_number(struct read_vom_json *j, const char *text, size_t size) {
    struct read_vom_value value = {.type = READ_VOM_INTEGER, .text = text, .size = size};
    return scalar(j, &value, "the number ");
}

bool read_vom_json_string(struct read_vom_json *j, const unsigned char *text, size_t size) {
    struct read_vom_value value = {.type = READ_VOM_STRING, .text = (const char *)text, .size = size};
    return scalar(j, &value, "the string ");
}

bool read_vom_json_flag(struct read_vom_json *j, bool flag) {
    const char *text = flag ? "true" : "false";
    struct read_vom_value value = {.type = READ_VOM_BOOL, .flag = flag, .text = text, .size = strlen(text)};
    return scalar(j, &value, "");
}

bool read_vom_json_null(struct read_vom_json *j) {
    struct read_vom_value value = {.type = READ_VOM_NULL, .text = "null", .size = 4};
    return scalar(j, &value, "");
}

bool read_vom_json_begin(struct read_vom_json *j, bool object) {
    const struct read_vom_spec *spec = next_spec(j);
    bool any = takes_any(j, spec);
    if (!any && spec->type != (object ? READ_VOM_T_OBJECT : READ_VOM_T_ARRAY)) {
        return ended_with(j, unexpected(j, spec, "", object ? "an object" : "an array", object ? 9 : 8));
    }
    if (j->depth == READ_VOM_DEPTH) {
        return ended_with(j, read_vom_json_wrong(j, HPCW_ERANGE, j->err,
                                                 "expected at most %d levels of nesting, got more",
                                                 READ_VOM_DEPTH));
    }
    if (any) {
        hpcw_status added = j->nested_depth > 0 ? add_comma(j) : begin_nested(j);
        added = added == HPCW_OK ? add_nested(j, object ? "{" : "[", 1) : added;
        if (added != HPCW_OK) {
            return ended_with(j, added);
        }
    }
    spec = !any ? spec : object ? &any_object : &any_array;
    struct read_vom_json_frame *f = &j->frame[j->depth];
    *f = (struct read_vom_json_frame){
        .spec = spec, .value = object ? NULL : spec->element, .at = j->scan.token_at};
    j->depth++;
    j->about_frame = true;
    store(j, spec, &(struct read_vom_value){.type = READ_VOM_NESTED});
    hpcw_status status = spec->slot != 0 ? j->consumer.begin(j->consumer.context, spec, j->err) : HPCW_OK;
    if (j->stopping) {
        j->stopped = true;
        j->depth--;
        j->stopped_at = f->at;
    }
    return ended_with(j, status);
}

#define ALL_KEYS UINT32_MAX

const unsigned char *read_vom_json_whole(struct read_vom_json *j, const unsigned char *text) {
    struct read_vom_json_frame *f = &j->frame[j->depth - 1];
    if (!f->spec->whole || j->consumer.whole == NULL) {
        return NULL;
    }
    const unsigned char *end = j->consumer.whole(j->consumer.context, f->spec, text);
    f->seen = end != NULL ? ALL_KEYS : 0;
    return end;
}

bool read_vom_json_end(struct read_vom_json *j) {
    struct read_vom_json_frame *f = &j->frame[j->depth - 1];
    j->about_frame = true;
    for (unsigned k = 0; k < f->spec->keys && f->seen != ALL_KEYS; k++) {
        if (f->spec->key[k].required && (f->seen >> k & 1) == 0) {
            return ended_with(j, read_vom_json_wrong(j, HPCW_EFORMAT, j->err,
                                                     "expected the key \"%s\", got an object without it",
                                                     f->spec->key[k].name));
        }
    }
    hpcw_status status =
        f->spec->slot != 0 ? j->consumer.end(j->consumer.context, f->spec, f->count, j->err) : HPCW_OK;
    j->depth--;
    if (j->depth == 0) {
        j->top_seen = f->seen;
    }
    if (j->nested_depth > 0) {
        status = add_nested(j, f->spec->type == READ_VOM_T_OBJECT ? "}" : "]", 1);
        j->about_frame = false;
        status = status == HPCW_OK && j->nested_depth > j->depth ? end_nested(j) : status;
    }
    return ended_with(j, status);
}

/* Takes a key if it is the likely next key or a later one: keys are mostly in the order of the schema. */
size_t read_vom_json_next_key(struct read_vom_json *j, const unsigned char *text, size_t size) {
    struct read_vom_json_frame *f = &j->frame[j->depth - 1];
    const struct read_vom_spec *o = f->spec;
    for (unsigned k = f->next; k < o->keys; k++) {
        const struct read_vom_key *key = &o->key[k];
        const size_t all = key->size + 3; /* bytes with quotation marks and colon */
        if (size < all || text[0] != '"' || text[1] != (unsigned char)key->name[0] || text[all - 2] != '"' ||
            memcmp(text + 1, key->name, key->size) != 0 || text[all - 1] != ':') {
            continue;
        }
        if (f->seen >> k != 0) {
            return 0; /* this key or a later one was read before: known_key decides if that is an error */
        }
        f->key = key;
        f->value = &key->value;
        f->next = k + 1;
        f->count++;
        f->seen |= UINT32_C(1) << k;
        j->about_frame = false;
        return all;
    }
    return 0;
}

static hpcw_status known_key(struct read_vom_json *j, struct read_vom_json_frame *f, const char *text,
                             size_t size) {
    const struct read_vom_spec *o = f->spec;
    for (unsigned tried = 0; tried < o->keys; tried++) {
        unsigned k = f->next < o->keys ? f->next : 0;
        f->next = k + 1;
        if (o->key[k].size != size || memcmp(o->key[k].name, text, size) != 0) {
            continue;
        }
        f->key = &o->key[k];
        f->value = &o->key[k].value;
        if ((f->seen >> k & 1) != 0) {
            return read_vom_json_wrong(j, HPCW_EFORMAT, j->err, "expected each key once, got it again");
        }
        if (j->ordered && f->seen >> k != 0) {
            return read_vom_json_wrong(j, HPCW_EFORMAT, j->err,
                                       "expected the keys in byte order, got this one after a later one");
        }
        f->seen |= UINT32_C(1) << k;
        return HPCW_OK;
    }
    f->key = NULL;
    j->about_frame = true;
    return read_vom_json_wrong(j, HPCW_EFORMAT, j->err, "expected a key of the schema, got \"%.*s\"",
                               size > 60 ? 60 : (int)size, text);
}

bool read_vom_json_key(struct read_vom_json *j, const unsigned char *text, size_t size) {
    struct read_vom_json_frame *f = &j->frame[j->depth - 1];
    j->about_frame = false;
    f->count++;
    if (f->spec->key != NULL) {
        return ended_with(j, known_key(j, f, (const char *)text, size));
    }
    if (!j->scan.ascii && !is_utf8(text, size)) {
        return ended_with(j, not_utf8(j));
    }
    f->value = f->spec->element;
    f->any_key = true;
    j->any_key.size = 0;
    if (!hpcw_i_buf_append(&j->any_key, text, size) || !hpcw_i_buf_append(&j->any_key, "", 1)) {
        return ended_with(j, hpcw_i_fail_memory(j->err, j->name, 0, "a key"));
    }
    hpcw_status status = HPCW_OK;
    if (j->nested_depth > 0) {
        status = add_comma(j);
        status = status == HPCW_OK ? add_string(j, (const char *)text, size) : status;
        status = status == HPCW_OK ? add_nested(j, ":", 1) : status;
    }
    return ended_with(j, status);
}
