/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "libwriter/base/buf.h"
#include "libwriter/base/status.h"
#include "libwriter/format/kvtree/node.h"
#include "libwriter/io/json.h"

/* Most levels of a tree in JSON. The root takes one of the HPCW_I_JSON_DEPTH levels, and one stays free. */
enum { JSON_LEVELS = HPCW_I_JSON_DEPTH - 2 };

static bool put_lines(struct hpcw_i_buf *text, const hpcw_kvtree *node, bool keyval) {
    static const char blanks[] = "                                ";
    bool ok = true;
    for (const hpcw_kvtree *c = node->first; ok && c != NULL; c = c->next) {
        for (size_t left = 2 * (size_t)c->depth; ok && left > 0;) {
            size_t n = left < sizeof blanks - 1 ? left : sizeof blanks - 1;
            ok = hpcw_i_buf_append(text, blanks, n);
            left -= n;
        }
        bool pair = keyval && hpcw_i_kvtree_is_pair(c);
        ok = ok && hpcw_i_buf_append(text, c->key, c->key_size);
        if (pair) {
            ok = ok && hpcw_i_buf_append(text, " = ", 3) &&
                 hpcw_i_buf_append(text, c->first->key, c->first->key_size);
        }
        ok = ok && hpcw_i_buf_append(text, "\n", 1) && (pair || put_lines(text, c, keyval));
    }
    return ok;
}

static hpcw_status print_lines(const hpcw_kvtree *root, bool keyval, hpcw_sink *sink, hpcw_error *err) {
    struct hpcw_i_buf text = {0};
    hpcw_status s = put_lines(&text, root, keyval) ? hpcw_sink_write_at(sink, 0, text.data, text.size, err)
                                                   : hpcw_i_fail_memory(err, "kvtree", 0, NULL);
    hpcw_i_buf_free(&text);
    return s;
}

static void put_object(struct hpcw_i_json *json, const hpcw_kvtree *node) {
    hpcw_i_json_begin_object(json);
    for (const hpcw_kvtree *c = node->first; c != NULL; c = c->next) {
        hpcw_i_json_key_n(json, c->key, c->key_size);
        if (hpcw_i_kvtree_is_pair(c)) {
            hpcw_i_json_str_n(json, c->first->key, c->first->key_size);
        } else {
            put_object(json, c);
        }
    }
    hpcw_i_json_end_object(json);
}

static uint32_t levels(const hpcw_kvtree *node) {
    uint32_t most = 0;
    for (const hpcw_kvtree *c = node->first; c != NULL; c = c->next) {
        uint32_t below = 1 + levels(c);
        most = below > most ? below : most;
    }
    return most;
}

static hpcw_status print_json(const hpcw_kvtree *root, hpcw_sink *sink, hpcw_error *err) {
    uint32_t depth = levels(root);
    if (depth > JSON_LEVELS) {
        return hpcw_i_fail(err, HPCW_ERANGE, "kvtree: JSON: expected at most %d levels, got %u", JSON_LEVELS,
                           depth);
    }
    struct hpcw_i_json json;
    hpcw_i_json_open_sink(&json, sink, &(struct hpcw_i_json_options){.indent = true, .replace_bad_utf8 = true});
    put_object(&json, root);
    return hpcw_i_json_finish(&json, err);
}

hpcw_status hpcw_kvtree_print(const hpcw_kvtree *root, hpcw_kvtree_form form, hpcw_sink *sink,
                              hpcw_error *err) {
    if (root == NULL || sink == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "kvtree: expected a tree and a sink, got NULL");
    }
    switch (form) {
    case HPCW_KVTREE_TREE:
        return print_lines(root, false, sink, err);
    case HPCW_KVTREE_KEYVAL:
        return print_lines(root, true, sink, err);
    case HPCW_KVTREE_JSON:
        return print_json(root, sink, err);
    }
    return hpcw_i_fail(err, HPCW_EINVAL, "kvtree: form: expected one of hpcw_kvtree_form, got %d", (int)form);
}
