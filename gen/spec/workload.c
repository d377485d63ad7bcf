/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/spec/workload.h"

#include <stdio.h>
#include <string.h>

#include "gen/spec/dataset.h"
#include "gen/workloads/workloads.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/rng.h"
#include "libwriter/base/status.h"
#include "libwriter/io/text.h"

/* ---- texts ---- */

hpcw_status gen_workload_new(const char *name, const char *text, size_t size, struct gen_workload **out,
                             hpcw_error *err) {
    struct gen_workload *w = hpcw_i_calloc(1, sizeof *w);
    *out = NULL;
    if (w == NULL || !hpcw_i_buf_append(&w->text, text, size)) {
        gen_workload_free(w);
        return hpcw_i_fail_memory(err, name, 0, NULL);
    }
    (void)snprintf(w->name, sizeof w->name, "%s", name);
    *out = w;
    return HPCW_OK;
}

void gen_workload_free(struct gen_workload *w) {
    if (w != NULL) {
        for (size_t i = 0; i < w->settings; i++) {
            hpcw_i_free((char *)(uintptr_t)w->setting[i].key);
            hpcw_i_free((char *)(uintptr_t)w->setting[i].value);
        }
        hpcw_i_free(w->setting);
        hpcw_i_free(w->checkpoint_ns);
        hpcw_i_free(w->comm);
        gen_traffic_free(w->traffic);
        gen_recording_free(w->recording);
        hpcw_i_free(w->costs);
        hpcw_i_buf_free(&w->text);
        hpcw_i_free(w);
    }
}

/* Reads a file up to one byte beyond the limit of a workload's text. gen_workload_new checks the length. */
static hpcw_status read_file(const char *path, struct hpcw_i_buf *text, hpcw_error *err) {
    struct hpcw_i_text file;
    int e = hpcw_i_text_open(path, &file);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot read the workload", path);
    }
    size_t got = 1;
    while (e == 0 && got > 0 && text->size <= SIM_LUA_MOST_TEXT) {
        if (!hpcw_i_buf_reserve(text, sizeof file.piece)) {
            hpcw_i_text_close(&file);
            return hpcw_i_fail_memory(err, path, 0, NULL);
        }
        e = hpcw_i_text_read(&file, (char *)text->data + text->size, sizeof file.piece, &got);
        text->size += e == 0 ? got : 0;
    }
    hpcw_i_text_close(&file);
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot read the workload", path);
}

static hpcw_status refuse_name(const char *name, hpcw_error *err) {
    char known[256] = "";
    size_t size = 0;
    for (size_t i = 0; i < gen_workload_files && size < sizeof known; i++) {
        size += (size_t)snprintf(known + size, sizeof known - size, "%s%s", i > 0 ? ", " : "",
                                 gen_workload_file[i].name);
    }
    return hpcw_i_fail(err, HPCW_EINVAL, "workload: expected %s or a file as NAME.lua, got \"%s\"", known,
                       name);
}

hpcw_status gen_workload_load(const char *name, const char *path, struct gen_workload **out, hpcw_error *err) {
    *out = NULL;
    for (size_t i = 0; path == NULL && i < gen_workload_files; i++) {
        const struct gen_workload_file *f = &gen_workload_file[i];
        if (strcmp(f->name, name) == 0) {
            return gen_workload_new(name, (const char *)f->data, f->size, out, err);
        }
    }
    if (path == NULL && strpbrk(name, "./") == NULL) {
        return refuse_name(name, err);
    }
    const char *slash = strrchr(name, '/');
    struct hpcw_i_buf text = {0};
    hpcw_status s = read_file(path == NULL ? name : path, &text, err);
    s = s == HPCW_OK
            ? gen_workload_new(slash == NULL ? name : slash + 1, (const char *)text.data, text.size, out, err)
            : s;
    hpcw_i_buf_free(&text);
    return s;
}

bool gen_workload_uses_edges(const struct gen_workload *w) {
    return sim_lua_uses_edges((const char *)w->text.data, w->text.size);
}

const char *gen_workload_lacks(const struct gen_workload *w, size_t *size) {
    const char *line = (const char *)w->text.data;
    const char *end = line + w->text.size;
    while (line < end && *line == '-') {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        const size_t before = strlen(GEN_WORKLOAD_LACKS);
        *size = (size_t)((next != NULL ? next : end) - line);
        if (*size > before && memcmp(line, GEN_WORKLOAD_LACKS, before) == 0) {
            *size -= before;
            return line + before;
        }
        line += *size + 1;
    }
    return NULL;
}

/* Up to this number of ranks, the seed may draw any workload. With more ranks, a log may not be able to have
 * all communicators of rows and columns. Also, load data of many ranks should not need a simulated run. */
enum { MOST_OF_ANY = 32768 };

static bool uses_edges(const struct gen_workload_file *f) {
    return sim_lua_uses_edges((const char *)f->data, f->size);
}

hpcw_status gen_workload_draw(const struct gen_dataset *d, struct gen_workload **out, hpcw_error *err) {
    const struct model_load_params *load = &d->load_params;
    const bool any = d->ranks <= MOST_OF_ANY && load->balancer.kind == MODEL_BALANCER_NONE &&
                     load->comm == MODEL_COMM_STENCIL;
    uint32_t count = 0;
    for (size_t i = 0; i < gen_workload_files; i++) {
        count += any || uses_edges(&gen_workload_file[i]);
    }
    uint32_t w[4];
    hpcw_i_draw(d->seed, HPCW_I_FOR_RUN_WORKLOAD, 0, 0, 0, w);
    const struct gen_workload_file *f = gen_workload_file;
    for (uint32_t left = w[2] % count; left > 0 || !(any || uses_edges(f)); f++) {
        left -= any || uses_edges(f);
    }
    return gen_workload_new(f->name, (const char *)f->data, f->size, out, err);
}

/* ---- parameters ---- */

hpcw_status gen_workload_set(struct gen_workload *w, const char *key, const char *value, hpcw_error *err) {
    struct sim_lua_setting *grown = hpcw_i_grow(w->setting, &w->capacity, w->settings + 1, sizeof *w->setting);
    char *own_key = grown == NULL ? NULL : hpcw_i_strdup(key);
    char *own_value = own_key == NULL ? NULL : hpcw_i_strdup(value);
    w->setting = grown == NULL ? w->setting : grown;
    if (own_value == NULL) {
        hpcw_i_free(own_key);
        return hpcw_i_fail_memory(err, "workload", 0, NULL);
    }
    w->setting[w->settings++] = (struct sim_lua_setting){own_key, own_value};
    return HPCW_OK;
}
