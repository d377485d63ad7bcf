/* SPDX-License-Identifier: BSD-3-Clause */
/* The tokens of a text against the schema. Values that pass go to the consumer. */
#include <inttypes.h>
#include <string.h>

#include "libreader/vom/json/literal.h"
#include "libreader/vom/json/private.h"
#include "libwriter/base/status.h"

static const struct read_vom_spec anything = {.type = READ_VOM_T_ANY};
static const struct read_vom_object any_object = {.any = &anything};

/* The result of a callback: yajl goes on if it is not 0. */
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

/* The schema of the value that starts here. */
static const struct read_vom_spec *next_spec(struct read_vom_json *j) {
    j->about_frame = false;
    if (j->depth == 0) {
        return j->top;
    }
    struct read_vom_json_frame *f = &j->frame[j->depth - 1];
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
    /* A count has digits only, as read_vom_count_of checks. */
    bool is_float = spec->type != READ_VOM_T_COUNT && read_vom_looks_float(text, size);
    value.kind = is_float ? READ_VOM_V_FLOAT : READ_VOM_V_INTEGER;
    if (size > READ_VOM_MOST_NUMBER) {
        return ended_with(j, read_vom_json_wrong(j, HPCW_ERANGE, j->err,
                                                 "expected a number of at most %u characters, got %zu",
                                                 READ_VOM_MOST_NUMBER, size));
    }
    switch (spec->type) {
    case READ_VOM_T_COUNT:
        if (!read_vom_count_of(text, size, spec->most, &value.count)) {
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
        /* No reader can keep a number beyond the range of doubles. */
        if (!read_vom_double_of(text, size, &value.number)) {
            return ended_with(j,
                              unexpected(j, &anything, "a number beyond the range of doubles: ", text, size));
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
    j->token = size + 2; /* less than that if it has escapes */
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
    j->frame[j->depth] = (struct read_vom_json_frame){
        .object = !object ? NULL
                  : any   ? &any_object
                          : spec->object,
        .value = object ? NULL
                 : any  ? &anything
                        : spec->element,
        .slot = any ? 0 : spec->slot,
        .at = read_vom_json_token_at(j),
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
    struct read_vom_json_frame *f = &j->frame[j->depth - 1];
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

static hpcw_status known_key(struct read_vom_json *j, struct read_vom_json_frame *f, const char *text,
                             size_t size) {
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
    struct read_vom_json_frame *f = &j->frame[j->depth - 1];
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
        return ended_with(j, hpcw_i_fail_memory(j->err, j->name, 0, "a key"));
    }
    return ended_with(j, HPCW_OK);
}

const yajl_callbacks read_vom_json_callbacks = {
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
