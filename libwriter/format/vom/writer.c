/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens the file of a rank with its metadata (doc/formats/vom.md, "Metadata"), and closes it, alone or in a set. */
#include <inttypes.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/options.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/format/vom/check.h"
#include "libwriter/format/vom/handle.h"
#include "libwriter/io/sink.h"

void hpcw_vom_options_fill(hpcw_vom_options *options, size_t size) {
    hpcw_vom_options defaults = {.ranks = 1, .durability = HPCW_SYNC_FILE};
    hpcw_brotli_options_init(&defaults.brotli);
    hpcw_i_options_fill(options, size, &defaults, sizeof defaults);
}

/* ---- Open: everything before the first phase -------------------------------------------------------------- */

/* Writes phases as vt lists them: single ones in "list", runs of two or more in "range". */
static void put_phases(struct hpcw_i_json *j, const char *key, const hpcw_vom_range *r, size_t count) {
    hpcw_i_json_key_object(j, key);
    for (int runs = 0; runs < 2; runs++) {
        hpcw_i_json_key_array(j, runs ? "range" : "list");
        for (size_t i = 0; i < count;) {
            uint64_t first = r[i].first;
            uint64_t last = r[i].last;
            for (i++; i < count && r[i].first == last + 1; i++) {
                last = r[i].last;
            }
            if (runs && first < last) {
                hpcw_i_json_begin_array(j);
                hpcw_i_json_u64(j, first);
                hpcw_i_json_u64(j, last);
                hpcw_i_json_end_array(j);
            } else if (!runs && first == last) {
                hpcw_i_json_u64(j, first);
            }
        }
        hpcw_i_json_end_array(j);
    }
    hpcw_i_json_end_object(j);
}

static void put_metadata(struct hpcw_i_json *j, const hpcw_vom_options *o) {
    hpcw_i_json_key_object(j, "metadata");
    if (o->attribute_count > 0) {
        hpcw_i_vom_put_values(j, "attributes", o->attributes, o->attribute_count);
    }
    hpcw_i_json_key_object(j, "phases");
    if (o->phase_count != 0) {
        hpcw_i_json_put_u64(j, "count", o->phase_count);
    }
    put_phases(j, "identical_to_previous", o->identical, o->identical_count);
    put_phases(j, "skipped", o->skipped, o->skipped_count);
    hpcw_i_json_end_object(j);
    hpcw_i_json_put_u64(j, "rank", o->rank);
    if (o->has_rank_alpha) {
        hpcw_i_json_put_f64(j, "rank_alpha", o->rank_alpha + 0.0);
    }
    hpcw_vom_node node = o->node.size != 0 ? o->node : hpcw_vom_node_of(o->ranks, 1, o->rank);
    hpcw_i_json_key_object(j, "shared_node");
    hpcw_i_json_put_u64(j, "id", node.id);
    hpcw_i_json_put_u64(j, "num_nodes", node.num_nodes);
    hpcw_i_json_put_u64(j, "rank", node.rank);
    hpcw_i_json_put_u64(j, "size", node.size);
    hpcw_i_json_end_object(j);
    hpcw_i_json_put_str(j, "type", "LBDatafile");
    hpcw_i_json_end_object(j);
}

static bool copy_ranges(const hpcw_vom_range **ranges, size_t count) {
    if (count == 0) {
        *ranges = NULL;
        return true;
    }
    hpcw_vom_range *copy = count > SIZE_MAX / sizeof *copy ? NULL : hpcw_i_malloc(count * sizeof *copy);
    if (copy != NULL) {
        memcpy(copy, *ranges, count * sizeof *copy);
    }
    *ranges = copy;
    return copy != NULL;
}

static hpcw_status keep_options(struct hpcw_vom *v, const char *path, const hpcw_vom_options *o,
                                hpcw_error *err) {
    v->options = *o;
    v->options.attributes = NULL;
    bool skipped = copy_ranges(&v->options.skipped, o->skipped_count);
    bool identical = copy_ranges(&v->options.identical, o->identical_count);
    v->known = o->check ? hpcw_i_calloc(1, sizeof *v->known) : NULL;
    if (!skipped || !identical || (o->check && v->known == NULL)) {
        return hpcw_i_fail_memory(err, path, 0, NULL);
    }
    return HPCW_OK;
}

hpcw_status hpcw_vom_open(const char *path, const hpcw_vom_options *options, hpcw_vom **out, hpcw_error *err) {
    if (out == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "vom: expected a pointer for the handle, got NULL");
    }
    *out = NULL;
    hpcw_vom_options own;
    hpcw_vom_options_init(&own);
    hpcw_status s =
        options == NULL ? HPCW_OK : hpcw_i_options_take(&own, sizeof own, options, "hpcw_vom_options", err);
    options = &own;
    if (s == HPCW_OK) {
        s = hpcw_i_vom_check_options(path, options, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    struct hpcw_vom *v = hpcw_i_calloc(1, sizeof *v);
    if (v == NULL) {
        return hpcw_i_fail_memory(err, path, 0, NULL);
    }
    s = keep_options(v, path, options, err);
    if (s == HPCW_OK) {
        s = hpcw_i_vom_output_open(&v->out, path, options, err);
    }
    if (s == HPCW_OK) {
        hpcw_i_json_begin_object(&v->out.json);
        put_metadata(&v->out.json, options);
        hpcw_i_json_key_array(&v->out.json, "phases");
        s = hpcw_i_vom_output_status(&v->out, err);
    }
    if (s != HPCW_OK) {
        hpcw_vom_free(v);
        return s;
    }
    *out = v;
    return HPCW_OK;
}

/* ---- Close ----------------------------------------------------------------------------------------------- */

uint64_t hpcw_vom_text_size(const hpcw_vom *v) {
    return v == NULL ? 0 : v->out.finished ? v->out.text_size : hpcw_i_json_size(&v->out.json);
}

hpcw_status hpcw_i_vom_finish(struct hpcw_vom *v, hpcw_error *err) {
    hpcw_status s = hpcw_i_vom_usable(v, err);
    if (s == HPCW_OK && v->phase.open) {
        s = hpcw_i_fail(err, HPCW_ESTATE, "%s: expected the end of phase %" PRIu64 ", got the close",
                        v->out.path, v->phase.id);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_vom_check_end(v, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    hpcw_i_json_end_array(&v->out.json);
    hpcw_i_json_end_object(&v->out.json);
    return hpcw_i_vom_output_finish(&v->out, err);
}

hpcw_status hpcw_vom_close(hpcw_vom *v, hpcw_error *err) {
    hpcw_status s = hpcw_i_vom_finish(v, err);
    return s == HPCW_OK ? hpcw_i_vom_output_publish(&v->out, err) : s;
}

void hpcw_vom_free(hpcw_vom *v) {
    if (v == NULL) {
        return;
    }
    hpcw_i_vom_output_free(&v->out);
    if (v->known != NULL) {
        hpcw_i_seen_free(&v->known->ids);
        hpcw_i_seen_free(&v->known->pairs);
        hpcw_i_free(v->known);
    }
    hpcw_i_free((hpcw_vom_range *)(uintptr_t)v->options.skipped);
    hpcw_i_free((hpcw_vom_range *)(uintptr_t)v->options.identical);
    hpcw_i_free(v);
}
