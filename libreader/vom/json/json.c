/* SPDX-License-Identifier: BSD-3-Clause */
#include "libreader/vom/json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libreader/vom/json/literal.h"
#include "libreader/vom/json/yajl.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"

/* An open object or array. */
struct frame {
    const struct read_vom_object *object; /* NULL: an array */
    const struct read_vom_spec *value;    /* of the present key, or of the elements */
    const struct read_vom_key *key;       /* the present one */
    bool any_key;                         /* the present one is in `any_key` of the parser */
    unsigned slot;
    unsigned next; /* where in the table the next key is likely to be */
    uint32_t seen; /* keys so far */
    uint64_t count;
    uint64_t at; /* offset of its bracket */
};

struct read_vom_json {
    const char *name;
    struct read_vom_text *text;
    const struct read_vom_spec *top;
    struct read_vom_consumer consumer;
    bool ordered;

    struct read_vom_yajl *yajl;
    bool silent;         /* while the beginning of a resumed text is made up */
    bool stopping;       /* asked for by the consumer */
    bool stopped, ended; /* where the last run left off */
    uint64_t stopped_at;
    uint64_t piece_at; /* offset of the present piece */
    size_t token;      /* bytes of the present token */
    bool about_frame;  /* what the consumer is told concerns the innermost frame, not a value in it */
    struct hpcw_i_buf any_key;
    unsigned depth;
    struct frame frame[READ_VOM_DEPTH];
    uint32_t top_seen;

    hpcw_status status; /* of the callbacks */
    hpcw_error *err;
};

static const struct read_vom_spec anything = {.type = READ_VOM_T_ANY};
static const struct read_vom_object any_object = {.any = &anything};

/* ---- Where we are ---------------------------------------------------------------------------------------- */

static uint64_t token_at(const struct read_vom_json *j) {
    uint64_t end = j->piece_at + read_vom_yajl_consumed(j->yajl);
    return end >= j->token ? end - j->token : 0;
}

uint64_t read_vom_json_at(const struct read_vom_json *json) {
    return json->about_frame && json->depth > 0 ? json->frame[json->depth - 1].at : token_at(json);
}

static size_t put(char *path, size_t used, size_t size, const char *fmt, ...) HPCW_PRINTF(4, 5);
static size_t put(char *path, size_t used, size_t size, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    int n = used < size ? vsnprintf(path + used, size - used, fmt, args) : 0;
    va_end(args);
    return n > 0 ? used + (size_t)n : used;
}

/* "phases[2].tasks[17].entity.home", or "the text" for the outermost value. */
static void path_of(const struct read_vom_json *j, char *path, size_t size) {
    size_t used = 0;
    for (unsigned d = 0; d < j->depth; d++) {
        const struct frame *f = &j->frame[d];
        bool last = d + 1 == j->depth;
        if (last && j->about_frame) {
            break;
        }
        if (f->object == NULL) {
            used = f->count > 0 ? put(path, used, size, "[%" PRIu64 "]", f->count - 1) : used;
        } else if (f->key != NULL) {
            used = put(path, used, size, "%s%s", used > 0 ? "." : "", f->key->name);
        } else if (f->any_key) {
            used = put(path, used, size, "%s%.40s", used > 0 ? "." : "",
                       last ? (const char *)j->any_key.data : "(nested)");
        }
    }
    if (used == 0) {
        (void)put(path, 0, size, "the text");
    }
}

hpcw_status read_vom_json_vwrong(const struct read_vom_json *json, hpcw_status code, hpcw_error *err,
                                 const char *fmt, va_list args) {
    char path[256];
    char what[640];
    path_of(json, path, sizeof path);
    (void)vsnprintf(what, sizeof what, fmt, args);
    return hpcw_i_fail(err, code, "%s: %s at offset %" PRIu64 ": %s", json->name, path, read_vom_json_at(json),
                       what);
}

hpcw_status read_vom_json_wrong(const struct read_vom_json *json, hpcw_status code, hpcw_error *err,
                                const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    hpcw_status status = read_vom_json_vwrong(json, code, err, fmt, args);
    va_end(args);
    return status;
}

/* Ends the callback: nonzero lets yajl go on. */
static int ended_with(struct read_vom_json *j, hpcw_status status) {
    j->status = status;
    return status == HPCW_OK && !j->stopping;
}

/* ---- Values ---------------------------------------------------------------------------------------------- */

static const char *type_text(const struct read_vom_spec *spec) {
    switch (spec->type) {
    case READ_VOM_T_COUNT:
        return "an integer >= 0";
    case READ_VOM_T_FLOAT:
        return "a float >= 0 (with a point or an exponent)";
    case READ_VOM_T_REAL:
        return "a float (with a point or an exponent)";
    case READ_VOM_T_TEXT:
        return "a string";
    case READ_VOM_T_FLAG:
        return "true or false";
    case READ_VOM_T_SCALAR:
        return "a 32-bit integer, a float or a string";
    case READ_VOM_T_OBJECT:
        return "an object";
    case READ_VOM_T_ARRAY:
        return "an array";
    default:
        return "any value";
    }
}

static hpcw_status unexpected(struct read_vom_json *j, const struct read_vom_spec *spec, const char *what,
                              const char *text, size_t size) {
    return read_vom_json_wrong(j, HPCW_EFORMAT, j->err, "expected %s, got %s%.*s%s", type_text(spec), what,
                               size > 60 ? 60 : (int)size, text, size > 60 ? "..." : "");
}

/* What may stand here. */
static const struct read_vom_spec *next_spec(struct read_vom_json *j) {
    j->about_frame = false;
    if (j->depth == 0) {
        return j->top;
    }
    struct frame *f = &j->frame[j->depth - 1];
    if (f->object == NULL) {
        f->count++;
    }
    return f->value;
}

static int hand_on(struct read_vom_json *j, const struct read_vom_spec *spec, struct read_vom_value *value) {
    if (spec->slot == 0) {
        return ended_with(j, HPCW_OK);
    }
    if (j->depth > 0 && j->frame[j->depth - 1].any_key) {
        value->key = (const char *)j->any_key.data;
        value->key_size = j->any_key.size - 1;
    }
    return ended_with(j, j->consumer.value(j->consumer.context, spec->slot, value, j->err));
}

static int on_number(void *context, const char *text, size_t size) {
    struct read_vom_json *j = context;
    if (j->silent) {
        return 1;
    }
    j->token = size;
    const struct read_vom_spec *spec = next_spec(j);
    struct read_vom_value value = {.text = text, .size = size};
    bool is_float = read_vom_looks_float(text, size);
    value.kind = is_float ? READ_VOM_V_FLOAT : READ_VOM_V_INTEGER;
    if (size > READ_VOM_MOST_NUMBER) {
        return ended_with(j, read_vom_json_wrong(j, HPCW_ERANGE, j->err,
                                                 "expected a number of at most %u characters, got %zu",
                                                 READ_VOM_MOST_NUMBER, size));
    }
    switch (spec->type) {
    case READ_VOM_T_COUNT:
        if (is_float || !read_vom_count_of(text, size, spec->most, &value.count)) {
            return ended_with(j, read_vom_json_wrong(j, HPCW_EFORMAT, j->err,
                                                     "expected an integer from 0 to %" PRIu64 ", got %.*s",
                                                     spec->most, size > 60 ? 60 : (int)size, text));
        }
        break;
    case READ_VOM_T_FLOAT:
    case READ_VOM_T_REAL:
        if (!is_float || !read_vom_double_of(text, size, &value.number) ||
            (spec->type == READ_VOM_T_FLOAT && text[0] == '-' && value.number < 0)) {
            return ended_with(j, unexpected(j, spec, "", text, size));
        }
        break;
    case READ_VOM_T_SCALAR:
        if (!read_vom_double_of(text, size, &value.number) ||
            (!is_float && (value.number < INT32_MIN || value.number > INT32_MAX))) {
            return ended_with(j, unexpected(j, spec, "", text, size));
        }
        break;
    case READ_VOM_T_ANY:
        /* Beyond the doubles there is no number that a reader could keep. */
        if (!read_vom_double_of(text, size, &value.number)) {
            return ended_with(j, unexpected(j, &anything, "a number beyond all doubles: ", text, size));
        }
        break;
    default:
        return ended_with(j, unexpected(j, spec, "the number ", text, size));
    }
    return hand_on(j, spec, &value);
}

static hpcw_status not_utf8(struct read_vom_json *j) {
    return read_vom_json_wrong(j, HPCW_EFORMAT, j->err, "expected text in UTF-8, got other bytes");
}

static int on_string(void *context, const unsigned char *text, size_t size) {
    struct read_vom_json *j = context;
    if (j->silent) {
        return 1;
    }
    j->token = size + 2; /* less where there are escapes */
    const struct read_vom_spec *spec = next_spec(j);
    if (spec->type != READ_VOM_T_TEXT && spec->type != READ_VOM_T_SCALAR && spec->type != READ_VOM_T_ANY) {
        return ended_with(j, unexpected(j, spec, "the string ", (const char *)text, size));
    }
    if (!read_vom_is_utf8(text, size)) {
        return ended_with(j, not_utf8(j));
    }
    struct read_vom_value value = {.kind = READ_VOM_V_TEXT, .text = (const char *)text, .size = size};
    return hand_on(j, spec, &value);
}

static int on_flag(void *context, int flag) {
    struct read_vom_json *j = context;
    if (j->silent) {
        return 1;
    }
    const char *text = flag != 0 ? "true" : "false";
    j->token = strlen(text);
    const struct read_vom_spec *spec = next_spec(j);
    if (spec->type != READ_VOM_T_FLAG && spec->type != READ_VOM_T_ANY) {
        return ended_with(j, unexpected(j, spec, "", text, j->token));
    }
    struct read_vom_value value = {.kind = READ_VOM_V_FLAG, .flag = flag != 0, .text = text, .size = j->token};
    return hand_on(j, spec, &value);
}

static int on_null(void *context) {
    struct read_vom_json *j = context;
    if (j->silent) {
        return 1;
    }
    j->token = 4;
    const struct read_vom_spec *spec = next_spec(j);
    if (spec->type != READ_VOM_T_ANY) {
        return ended_with(j, unexpected(j, spec, "", "null", 4));
    }
    struct read_vom_value value = {.kind = READ_VOM_V_NULL, .text = "null", .size = 4};
    return hand_on(j, spec, &value);
}

/* ---- Objects and arrays ---------------------------------------------------------------------------------- */

static int on_begin(struct read_vom_json *j, bool object) {
    if (j->silent) {
        return 1;
    }
    j->token = 1;
    const struct read_vom_spec *spec = next_spec(j);
    struct read_vom_value nested = {.kind = READ_VOM_V_NESTED, .text = "", .size = 0};
    bool any = spec->type == READ_VOM_T_ANY;
    if (!any && spec->type != (object ? READ_VOM_T_OBJECT : READ_VOM_T_ARRAY)) {
        return ended_with(j, unexpected(j, spec, "", object ? "an object" : "an array", object ? 9 : 8));
    }
    if (j->depth == READ_VOM_DEPTH) {
        return ended_with(j, read_vom_json_wrong(j, HPCW_ERANGE, j->err,
                                                 "expected at most %d levels of nesting, got more",
                                                 READ_VOM_DEPTH));
    }
    if (any && hand_on(j, spec, &nested) == 0) {
        return 0;
    }
    j->frame[j->depth] = (struct frame){
        .object = !object ? NULL
                  : any   ? &any_object
                          : spec->object,
        .value = object ? NULL
                 : any  ? &anything
                        : spec->element,
        .slot = any ? 0 : spec->slot,
        .at = token_at(j),
    };
    j->depth++;
    j->about_frame = true;
    unsigned slot = j->frame[j->depth - 1].slot;
    hpcw_status status = slot != 0 ? j->consumer.begin(j->consumer.context, slot, j->err) : HPCW_OK;
    if (j->stopping) {
        j->stopped = true;
        j->depth--;
        j->stopped_at = j->frame[j->depth].at;
    }
    return ended_with(j, status);
}

static int on_end(struct read_vom_json *j) {
    if (j->silent) {
        return 1;
    }
    struct frame *f = &j->frame[j->depth - 1];
    j->token = 1;
    j->about_frame = true;
    for (unsigned k = 0; f->object != NULL && k < f->object->keys; k++) {
        if (f->object->key[k].required && (f->seen >> k & 1) == 0) {
            return ended_with(j, read_vom_json_wrong(j, HPCW_EFORMAT, j->err,
                                                     "expected the key \"%s\", got an object without it",
                                                     f->object->key[k].name));
        }
    }
    hpcw_status status =
        f->slot != 0 ? j->consumer.end(j->consumer.context, f->slot, f->count, j->err) : HPCW_OK;
    j->depth--;
    if (j->depth == 0) {
        j->top_seen = f->seen;
    }
    return ended_with(j, status);
}

static int on_begin_object(void *context) {
    return on_begin(context, true);
}
static int on_begin_array(void *context) {
    return on_begin(context, false);
}
static int on_end_any(void *context) {
    return on_end(context);
}

static hpcw_status known_key(struct read_vom_json *j, struct frame *f, const char *text, size_t size) {
    const struct read_vom_object *o = f->object;
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

static int on_key(void *context, const unsigned char *text, size_t size) {
    struct read_vom_json *j = context;
    if (j->silent) {
        return 1;
    }
    struct frame *f = &j->frame[j->depth - 1];
    j->about_frame = false;
    j->token = size + 2;
    f->count++;
    if (f->object->any == NULL) {
        return ended_with(j, known_key(j, f, (const char *)text, size));
    }
    if (!read_vom_is_utf8(text, size)) {
        return ended_with(j, not_utf8(j));
    }
    f->value = f->object->any;
    f->any_key = true;
    j->any_key.size = 0;
    if (!hpcw_i_buf_append(&j->any_key, text, size) || !hpcw_i_buf_append(&j->any_key, "", 1)) {
        return ended_with(j, hpcw_i_fail(j->err, HPCW_ENOMEM, "%s: no memory for a key", j->name));
    }
    return ended_with(j, HPCW_OK);
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_flag,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_begin_object,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end_any,
    .yajl_start_array = on_begin_array,
    .yajl_end_array = on_end_any,
};

/* ---- Handle ---------------------------------------------------------------------------------------------- */

hpcw_status read_vom_json_new(const char *name, struct read_vom_text *text, const struct read_vom_spec *top,
                              bool ordered, const struct read_vom_consumer *consumer,
                              struct read_vom_json **out, hpcw_error *err) {
    *out = NULL;
    struct read_vom_json *j = hpcw_i_calloc(1, sizeof *j);
    if (j != NULL) {
        j->name = name;
        j->text = text;
        j->top = top;
        j->ordered = ordered;
        j->consumer = *consumer;
        j->yajl = read_vom_yajl_new(&callbacks, j);
    }
    if (j == NULL || j->yajl == NULL) {
        read_vom_json_free(j);
        return hpcw_i_fail(err, HPCW_ENOMEM, "%s: no memory to parse it", name);
    }
    *out = j;
    return HPCW_OK;
}

void read_vom_json_free(struct read_vom_json *json) {
    if (json != NULL) {
        read_vom_yajl_free(json->yajl);
        hpcw_i_buf_free(&json->any_key);
        hpcw_i_free(json);
    }
}

void read_vom_json_stop(struct read_vom_json *json) {
    json->stopping = true;
}

bool read_vom_json_ended(const struct read_vom_json *json) {
    return json->ended;
}

uint64_t read_vom_json_stopped_at(const struct read_vom_json *json) {
    return json->stopped_at;
}

uint32_t read_vom_json_seen(const struct read_vom_json *json) {
    return json->depth > 0 ? json->frame[0].seen : json->top_seen;
}

/* What yajl says of bytes that are no JSON. */
static hpcw_status no_json(struct read_vom_json *j, bool at_end) {
    char text[200];
    read_vom_yajl_error(j->yajl, text, sizeof text);
    bool cut = at_end && strstr(text, "premature EOF") != NULL;
    return hpcw_i_fail(j->err, cut ? HPCW_ETRUNCATED : HPCW_EFORMAT,
                       "%s: expected JSON, got at offset %" PRIu64 ": %s", j->name,
                       j->piece_at + read_vom_yajl_consumed(j->yajl), text);
}

static hpcw_status feed(struct read_vom_json *j, const unsigned char *piece, size_t size) {
    j->status = HPCW_OK;
    switch (read_vom_yajl_parse(j->yajl, piece, size)) {
    case READ_VOM_YAJL_GOOD:
        return HPCW_OK;
    case READ_VOM_YAJL_STOPPED:
        return j->status;
    case READ_VOM_YAJL_BAD:
        return no_json(j, size == 0);
    case READ_VOM_YAJL_HUGE:
        return hpcw_i_fail(
            j->err, HPCW_ERANGE,
            "%s: expected strings, numbers and keys of less than 1 MiB, got a longer one that reaches "
            "offset %" PRIu64,
            j->name, j->piece_at + size);
    default:
        return hpcw_i_fail(j->err, HPCW_ENOMEM, "%s: no memory to parse it", j->name);
    }
}

hpcw_status read_vom_json_run(struct read_vom_json *json, hpcw_error *err) {
    struct read_vom_json *j = json;
    j->err = err;
    hpcw_status status = HPCW_OK;
    while (status == HPCW_OK && !j->stopped && !j->ended) {
        const unsigned char *piece;
        size_t size;
        j->piece_at = read_vom_text_offset(j->text);
        status = read_vom_text_next(j->text, &piece, &size, err);
        if (status == HPCW_OK) {
            status = feed(j, piece, size);
            j->ended = size == 0;
        }
    }
    return status;
}

hpcw_status read_vom_json_resume(struct read_vom_json *json, const char *key, uint64_t elements, uint32_t seen,
                                 hpcw_error *err) {
    struct read_vom_json *j = json;
    char before[64];
    int size = snprintf(before, sizeof before, "{\"%s\":[", key);
    j->err = err;
    j->silent = true;
    hpcw_status status = feed(j, (const unsigned char *)before, (size_t)size);
    j->silent = false;
    j->frame[0] = (struct frame){.object = j->top->object, .slot = j->top->slot, .seen = seen};
    for (unsigned k = 0; k < j->top->object->keys; k++) {
        if (strcmp(j->top->object->key[k].name, key) == 0) {
            j->frame[0].key = &j->top->object->key[k];
            j->frame[0].value = &j->top->object->key[k].value;
            j->frame[0].next = k + 1;
        }
    }
    const struct read_vom_spec *array = j->frame[0].value;
    j->frame[1] = (struct frame){.value = array->element, .slot = array->slot, .count = elements};
    j->depth = 2;
    return status;
}
