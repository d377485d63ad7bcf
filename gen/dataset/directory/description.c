/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/dataset/directory/description.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include <hpcw/version.h>

#include "gen/dataset/directory/digest.h"
#include "gen/format/format.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"

/* Puts the workload's text, so that the dataset can be made again, and the version of Lua that ran it. */
static void put_workload(const struct gen_workload *w, struct hpcw_i_json *json) {
    hpcw_i_json_key_object(json, "workload");
    hpcw_i_json_put_str(json, "name", w->name);
    hpcw_i_json_put_str(json, "lua", sim_lua_version());
    hpcw_i_json_key_array(json, "set");
    for (size_t i = 0; i < w->settings; i++) {
        hpcw_i_json_flat_object(json);
        hpcw_i_json_put_str(json, "key", w->setting[i].key);
        hpcw_i_json_put_str(json, "value", w->setting[i].value);
        hpcw_i_json_end_object(json);
    }
    hpcw_i_json_end_array(json);
    hpcw_i_json_key(json, "text");
    hpcw_i_json_str_n(json, (const char *)w->text.data, w->text.size);
    hpcw_i_json_end_object(json);
}

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
        /* parameters of other groups affect no byte of this dataset */
        if (gen_dataset_wants(d, group->formats)) {
            ui_param_json(p, (const char *)d + group->offset, json);
        }
    }
    hpcw_i_json_end_object(json);
    if (d->workload != NULL) {
        put_workload(d->workload, json);
    }
}

void gen_dataset_describe(const struct gen_dataset *d, const char *fingerprint, struct hpcw_i_json *json) {
    hpcw_i_json_put_str(json, "fingerprint", fingerprint);
    hpcw_i_json_key_object(json, "parameters");
    gen_dataset_json(d, json);
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

/* ---- from a manifest to the dataset ---- */

enum { VALUE = UI_PARAM_TEXT };

/* Gets a member of the parameters as text. Numbers are copied from the text, as the JSON parser would round
 * them. */
static bool value_of(const char *text, const cJSON *object, const char *key, char value[VALUE]) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    char name[VALUE];
    int n = 0;
    if (cJSON_IsString(item)) {
        n = snprintf(value, VALUE, "%s", item->valuestring);
    } else if (cJSON_IsBool(item)) {
        n = snprintf(value, VALUE, "%s", cJSON_IsTrue(item) ? "yes" : "no");
    } else if (cJSON_IsNumber(item)) {
        (void)snprintf(name, sizeof name, "\"%s\"", key);
        const char *at = strstr(text, "\"parameters\"");
        at = at == NULL ? NULL : strstr(at, name);
        at = at == NULL ? "" : at + strlen(name) + strspn(at + strlen(name), ": \t\n");
        n = snprintf(value, VALUE, "%.*s", (int)strspn(at, "0123456789+-.eE"), at);
    }
    return n > 0 && n < VALUE;
}

static bool number_of(const char *text, const cJSON *object, const char *key, uint64_t most, uint64_t *number) {
    char value[VALUE];
    return value_of(text, object, key, value) && hpcw_i_parse_u64(key, value, 0, most, number, NULL) == HPCW_OK;
}

static bool scale_of(const char *name, enum gen_scale *scale) {
    for (size_t i = 0; gen_scale_name[i] != NULL; i++) {
        if (strcmp(gen_scale_name[i], name) == 0) {
            *scale = (enum gen_scale)i;
            return true;
        }
    }
    return false;
}

/* Reads the workload of a manifest, if it has one. */
static bool read_workload(const cJSON *json, struct gen_dataset *d, hpcw_error *err) {
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(json, "name");
    const cJSON *text = cJSON_GetObjectItemCaseSensitive(json, "text");
    const cJSON *item;
    if (json == NULL) {
        return true;
    }
    if (!cJSON_IsString(name) || !cJSON_IsString(text) ||
        gen_workload_new(name->valuestring, text->valuestring, strlen(text->valuestring), &d->workload, err) !=
            HPCW_OK) {
        return false;
    }
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, "set")) {
        const cJSON *key = cJSON_GetObjectItemCaseSensitive(item, "key");
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(item, "value");
        if (!cJSON_IsString(key) || !cJSON_IsString(value) ||
            gen_workload_set(d->workload, key->valuestring, value->valuestring, err) != HPCW_OK) {
            return false;
        }
    }
    return true;
}

/* Reads the parameters of a manifest. Returns false if one is wrong or, with HPCW_ENOMEM in *err, if memory
 * runs out. */
static bool read_parameters(const char *text, const cJSON *p, struct gen_dataset *d, hpcw_error *err) {
    char preset[VALUE];
    char scale[VALUE];
    char value[VALUE];
    enum gen_scale size;
    uint64_t ranks;
    uint64_t block_size;
    uint64_t files;
    if (!value_of(text, p, "preset", preset) || !value_of(text, p, "scale", scale) || !scale_of(scale, &size) ||
        gen_dataset_init(d, preset, size, err) != HPCW_OK || !number_of(text, p, "ranks", UINT32_MAX, &ranks) ||
        !number_of(text, p, "seed", UINT64_MAX, &d->seed) ||
        !number_of(text, p, "blocksize", UINT32_MAX, &block_size) ||
        !number_of(text, p, "files", UINT32_MAX, &files)) {
        return false;
    }
    d->ranks = (uint32_t)ranks;
    d->block_size = (uint32_t)block_size;
    d->linktest_files = (uint32_t)files;
    const cJSON *formats = cJSON_GetObjectItemCaseSensitive(p, "formats");
    for (size_t i = 0; i < gen_format_count; i++) {
        d->formats |= (uint64_t)(cJSON_GetObjectItemCaseSensitive(formats, gen_format[i]->name) != NULL) << i;
    }
    if (!read_workload(cJSON_GetObjectItemCaseSensitive(p, "workload"), d, err)) {
        return false;
    }
    const cJSON *set = cJSON_GetObjectItemCaseSensitive(p, "set");
    const struct gen_dataset_group *group;
    const struct ui_param *param;
    for (size_t i = 0; (param = gen_dataset_param(i, &group)) != NULL; i++) {
        if (gen_dataset_wants(d, group->formats) &&
            (!value_of(text, set, param->key, value) ||
             ui_param_set(param, (char *)d + group->offset, value, err) != HPCW_OK)) {
            return false;
        }
    }
    return true;
}

hpcw_status gen_dataset_of_manifest(const char *path, const char *text, const cJSON *manifest,
                                    struct gen_dataset *d, hpcw_error *err) {
    char fingerprint[GEN_DIGEST_TEXT];
    const cJSON *p = cJSON_GetObjectItemCaseSensitive(manifest, "parameters");
    const cJSON *listed = cJSON_GetObjectItemCaseSensitive(manifest, "fingerprint");
    const cJSON *version = cJSON_GetObjectItemCaseSensitive(p, "hpcw");
    *d = (struct gen_dataset){0};
    if (cJSON_IsString(version) && strcmp(version->valuestring, hpcw_version()) != 0) {
        return hpcw_i_fail(err, HPCW_EMISMATCH,
                           "%s: expected a dataset of hpcw %s, which this program is, got one of %.40s", path,
                           hpcw_version(), version->valuestring);
    }
    hpcw_error why = {.code = HPCW_OK};
    bool good = read_parameters(text, p, d, &why) && gen_dataset_fingerprint(d, fingerprint, &why) == HPCW_OK &&
                cJSON_IsString(listed) && strcmp(listed->valuestring, fingerprint) == 0;
    if (!good && why.code == HPCW_ENOMEM) {
        return hpcw_i_fail_as(err, &why);
    }
    return good ? gen_dataset_build(d, err)
                : hpcw_i_fail(err, HPCW_EFORMAT,
                              "%s: expected parameters with the fingerprint beside them, got others", path);
}
