/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/dataset/description.h"

#include <xxhash.h>

#include <hpcw/version.h>

#include "gen/dataset/digest.h"
#include "gen/format/format.h"
#include "libwriter/base/buf.h"

void gen_dataset_json(const struct gen_dataset *d, struct hpcw_i_json *json) {
    hpcw_i_json_put_str(json, "hpcw", hpcw_version());
    hpcw_i_json_put_u64(json, "ranks", d->ranks);
    hpcw_i_json_put_u64(json, "seed", d->seed);
    hpcw_i_json_key_object(json, "formats");
    for (size_t i = 0; i < gen_format_count; i++) {
        if (d->formats >> i & 1) {
            hpcw_i_json_put_str(json, gen_format[i]->name, gen_format[i]->version);
        }
    }
    hpcw_i_json_end_object(json);
    hpcw_i_json_put_str(json, "preset", d->preset);
    hpcw_i_json_put_str(json, "scale", gen_scale_name[d->scale]);
    hpcw_i_json_put_u64(json, "blocksize", d->block_size);
    hpcw_i_json_put_u64(json, "files", d->linktest_files);
    hpcw_i_json_key_object(json, "set");
    const struct gen_dataset_group *group;
    const struct ui_param *p;
    for (size_t i = 0; (p = gen_dataset_param(i, &group)) != NULL; i++) {
        if (gen_dataset_wants(d, group->formats)) { /* otherwise it decides no byte of this dataset */
            ui_param_json(p, (const char *)d + group->offset, json);
        }
    }
    hpcw_i_json_end_object(json);
}

hpcw_status gen_dataset_text(const struct gen_dataset *d, struct hpcw_i_buf *buf, hpcw_error *err) {
    struct hpcw_i_json json;
    hpcw_i_json_open_buf(&json, buf, NULL);
    hpcw_i_json_begin_object(&json);
    gen_dataset_json(d, &json);
    hpcw_i_json_end_object(&json);
    return hpcw_i_json_finish(&json, err);
}

hpcw_status gen_dataset_fingerprint(const struct gen_dataset *d, char text[33], hpcw_error *err) {
    struct hpcw_i_buf buf = {0};
    hpcw_status s = gen_dataset_text(d, &buf, err);
    if (s == HPCW_OK) {
        XXH128_hash_t h = XXH3_128bits(buf.data, buf.size);
        gen_digest_text(&(struct gen_digest){h.high64, h.low64}, text);
    }
    hpcw_i_buf_free(&buf);
    return s;
}
