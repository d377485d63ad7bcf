/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/spec/checkpoint_files.h"

#include <stdio.h>
#include <string.h>

#include "gen/spec/clocks.h"
#include "libwriter/base/crc32.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"

enum { MOST_MAPS = 2 };

struct checkpoint_shape {
    hpcw_rank2file_options options;
    hpcw_rank2file_map *map[MOST_MAPS];
    uint64_t summary_size;
    /* Index of the first file of the checkpoint. Each map has a summary and a file for each node of the map. */
    uint64_t first;
};

struct gen_checkpoints {
    const struct model_checkpoint *model;
    uint64_t start_us;
    /* Time after the last checkpoint. A stale index lists a checkpoint with this time that does not exist. */
    uint64_t past_us;
    uint32_t maps; /* number of maps (lists of files by rank) of each checkpoint */
    struct checkpoint_shape *checkpoint;
    uint64_t index_size;
    uint64_t first_data, files;
};

/* ---- content of a map ---- */

struct map_entries {
    const struct model_checkpoint *model;
    uint64_t first; /* number of the data file of rank 0 */
    char name[32];
    hpcw_rank2file_entry entry;
};

static void data_name(uint32_t rank, char name[32]) {
    memcpy(name, "rank_", 5);
    char *end = hpcw_i_fmt_u64(name + 5, rank);
    memcpy(end, ".ckpt", 6);
}

static size_t entries_of(void *context, uint32_t rank, const hpcw_rank2file_entry **entry) {
    struct map_entries *e = context;
    uint64_t file = e->first + rank;
    if (model_checkpoint_has(e->model, MODEL_CHECKPOINT_MISSING_RANK, file)) {
        return HPCW_RANK2FILE_NO_ENTRY;
    }
    char name[HPCW_I_FMT_ROOM + 32];
    data_name(rank, name);
    memcpy(e->name, name, sizeof e->name);
    e->entry = (hpcw_rank2file_entry){.name = e->name,
                                      .size = model_checkpoint_size(e->model, file),
                                      .crc = model_checkpoint_crc(e->model, file),
                                      .has_crc = true};
    *entry = &e->entry;
    return 1;
}

/* ---- shape ---- */

static hpcw_rank2file_options options_of(const struct gen_checkpoints *c, uint32_t checkpoint) {
    const struct model_checkpoint_params *p = &c->model->params;
    hpcw_rank2file_options o;
    hpcw_rank2file_options_init(&o);
    o.layout = (hpcw_rank2file_layout)p->layout;
    o.leaf_ranks = p->leaf_ranks;
    o.leaf_bytes = p->leaf_bytes;
    o.dataset.id = checkpoint + (uint64_t)1;
    o.dataset.created_us = c->start_us; /* a placeholder with the same number of digits */
    o.dataset.user = "user";
    o.dataset.job_id = "1";
    o.dataset.job_name = "hpcgen";
    o.dataset.files = c->model->ranks;
    for (uint32_t rank = 0; rank < c->model->ranks; rank++) {
        o.dataset.size += model_checkpoint_size(c->model, (uint64_t)checkpoint * c->model->ranks + rank);
    }
    return o;
}

/* Lists all checkpoints. A stale index also lists one that does not exist, as the current one. */
static hpcw_status make_index(const struct gen_checkpoints *c, hpcw_kvtree **out, hpcw_error *err) {
    uint32_t count = c->model->params.checkpoints;
    hpcw_status s = hpcw_kvtree_new(out, err);
    for (uint32_t k = 0; s == HPCW_OK && k < count; k++) {
        s = hpcw_rank2file_index_add(*out, &c->checkpoint[k].options, err);
    }
    if (s == HPCW_OK && c->model->params.stale_index) {
        hpcw_rank2file_options gone = c->checkpoint[count - 1].options;
        gone.dataset.id = count + (uint64_t)1;
        gone.dataset.created_us = c->past_us;
        s = hpcw_rank2file_index_add(*out, &gone, err);
    }
    return s;
}

static hpcw_status shape(struct gen_checkpoints *c, hpcw_error *err) {
    uint64_t next = 1;
    hpcw_kvtree *tree = NULL;
    hpcw_status s = HPCW_OK;
    for (uint32_t k = 0; s == HPCW_OK && k < c->model->params.checkpoints; k++) {
        struct checkpoint_shape *p = &c->checkpoint[k];
        struct map_entries e = {.model = c->model, .first = (uint64_t)k * c->model->ranks};
        p->options = options_of(c, k);
        p->first = next;
        s = hpcw_rank2file_summary(&p->options, &tree, err);
        p->summary_size = hpcw_kvtree_size(tree);
        hpcw_kvtree_free(tree);
        for (uint32_t m = 0; s == HPCW_OK && m < c->maps; m++) {
            s = hpcw_rank2file_map_new(&p->options, m, c->model->ranks, entries_of, &e, &p->map[m], err);
            next += 1 + (uint64_t)hpcw_rank2file_map_nodes(p->map[m]);
        }
    }
    if (s == HPCW_OK) {
        s = make_index(c, &tree, err);
        c->index_size = hpcw_kvtree_size(tree);
        hpcw_kvtree_free(tree);
    }
    c->first_data = c->files = next;
    if (c->model->params.payload == MODEL_CHECKPOINT_FILES) {
        c->files += (uint64_t)c->model->params.checkpoints * c->model->ranks -
                    c->model->params.faults[MODEL_CHECKPOINT_MISSING_FILE];
    }
    return s;
}

/* Sets the times of all checkpoints, and past_us. */
static void set_times(struct gen_checkpoints *c, const uint64_t *at_ns) {
    const struct model_load *load = c->model->load;
    const double phase_us = 1e3 * load->params.mean_last_ms * model_load_mean_objects(load);
    for (uint32_t k = 0; k < c->model->params.checkpoints; k++) {
        const uint64_t at_us = at_ns != NULL
                                   ? (GEN_CLOCKS_START_NS + at_ns[k]) / 1000
                                   : (uint64_t)(phase_us * (model_checkpoint_phase(c->model, k) + (uint64_t)1));
        c->checkpoint[k].options.dataset.created_us = c->start_us + at_us;
        c->past_us = c->start_us + at_us + 1;
    }
}

hpcw_status gen_checkpoints_new(const struct model_checkpoint *model, const uint64_t *at_ns, uint64_t start,
                                struct gen_checkpoints **out, hpcw_error *err) {
    struct gen_checkpoints *c = hpcw_i_calloc(1, sizeof *c);
    *out = NULL;
    if (c == NULL) {
        return hpcw_i_fail_memory(err, "scr", 0, NULL);
    }
    c->model = model;
    c->start_us = c->past_us = start * 1000000;
    c->maps = hpcw_rank2file_layout_maps((hpcw_rank2file_layout)model->params.layout);
    c->checkpoint = hpcw_i_calloc(model->params.checkpoints, sizeof *c->checkpoint);
    hpcw_status s = c->checkpoint == NULL ? hpcw_i_fail_memory(err, "scr", 0, NULL) : shape(c, err);
    if (s != HPCW_OK) {
        gen_checkpoints_free(c);
        return s;
    }
    set_times(c, at_ns);
    *out = c;
    return HPCW_OK;
}

void gen_checkpoints_free(struct gen_checkpoints *c) {
    if (c == NULL) {
        return;
    }
    for (uint32_t k = 0; c->checkpoint != NULL && k < c->model->params.checkpoints; k++) {
        for (uint32_t m = 0; m < MOST_MAPS; m++) {
            hpcw_rank2file_map_free(c->checkpoint[k].map[m]);
        }
    }
    hpcw_i_free(c->checkpoint);
    hpcw_i_free(c);
}

uint64_t gen_checkpoints_files(const struct gen_checkpoints *c) {
    return c->files;
}

uint64_t gen_checkpoints_first_data(const struct gen_checkpoints *c) {
    return c->first_data;
}

/* ---- one file ---- */

/* A metadata file other than the index: a summary, or a node of a map. */
struct metadata_file {
    const struct checkpoint_shape *checkpoint;
    uint32_t number; /* number of the checkpoint */
    uint32_t map;
    bool summary;
    uint32_t node;
};

static struct metadata_file find_metadata(const struct gen_checkpoints *c, uint64_t index) {
    uint32_t k = c->model->params.checkpoints - 1;
    while (index < c->checkpoint[k].first) {
        k--;
    }
    struct metadata_file p = {.checkpoint = &c->checkpoint[k], .number = k};
    index -= p.checkpoint->first;
    while (index > hpcw_rank2file_map_nodes(p.checkpoint->map[p.map])) {
        index -= 1 + (uint64_t)hpcw_rank2file_map_nodes(p.checkpoint->map[p.map]);
        p.map++;
    }
    p.summary = index == 0;
    p.node = p.summary ? 0 : (uint32_t)index - 1;
    return p;
}

/* Returns the model's number of a data file. Missing files have numbers, too, but no index. */
static uint64_t file_of(const struct gen_checkpoints *c, uint64_t index) {
    uint64_t existing = index - c->first_data;
    uint64_t file = existing;
    uint64_t next;
    while ((next = existing + model_checkpoint_before(c->model, MODEL_CHECKPOINT_MISSING_FILE, file + 1)) !=
           file) {
        file = next;
    }
    return file;
}

void gen_checkpoints_name(const struct gen_checkpoints *c, uint32_t checkpoint,
                          char name[HPCW_RANK2FILE_MAX_DATASET + 1]) {
    hpcw_rank2file_options o = c->checkpoint[0].options;
    o.dataset.id = checkpoint + (uint64_t)1;
    hpcw_rank2file_dataset_name(&o, name);
}

void gen_checkpoints_data_path(const struct gen_checkpoints *c, uint64_t file, char path[GEN_CHECKPOINT_PATH]) {
    char name[HPCW_RANK2FILE_MAX_DATASET + 1];
    char data[HPCW_I_FMT_ROOM + 32];
    gen_checkpoints_name(c, (uint32_t)(file / c->model->ranks), name);
    data_name((uint32_t)(file % c->model->ranks), data);
    (void)snprintf(path, GEN_CHECKPOINT_PATH, "%.150s/%.40s", name, data);
}

void gen_checkpoints_file(const struct gen_checkpoints *c, uint64_t index, char path[GEN_CHECKPOINT_PATH],
                          uint64_t *size) {
    if (index == 0) {
        (void)snprintf(path, GEN_CHECKPOINT_PATH, "%s", HPCW_RANK2FILE_INDEX);
        *size = c->index_size;
    } else if (index >= c->first_data) {
        uint64_t file = file_of(c, index);
        gen_checkpoints_data_path(c, file, path);
        *size = model_checkpoint_length(c->model, file);
    } else {
        struct metadata_file p = find_metadata(c, index);
        hpcw_rank2file_node node;
        if (p.summary) {
            hpcw_rank2file_summary_path(&p.checkpoint->options, p.map, node.path);
            node.size = p.checkpoint->summary_size;
        } else {
            hpcw_rank2file_map_node(p.checkpoint->map[p.map], p.node, &node);
        }
        /* the generator's names are short enough */
        (void)snprintf(path, GEN_CHECKPOINT_PATH, "%.*s", GEN_CHECKPOINT_PATH - 1, node.path);
        *size = node.size;
    }
}

bool gen_checkpoints_folder(const struct gen_checkpoints *c, uint32_t index, char path[GEN_CHECKPOINT_PATH]) {
    if (index == 0) {
        (void)snprintf(path, GEN_CHECKPOINT_PATH, ".scr");
        return true;
    }
    uint32_t per_checkpoint = 1 + c->maps;
    uint32_t k = (index - 1) / per_checkpoint;
    if (k >= c->model->params.checkpoints) {
        return false;
    }
    char name[HPCW_RANK2FILE_PATH];
    uint32_t which = (index - 1) % per_checkpoint;
    if (which == 0) {
        gen_checkpoints_name(c, k, name);
    } else {
        hpcw_rank2file_summary_path(&c->checkpoint[k].options, which - 1, name);
        *strrchr(name, '/') = '\0';
    }
    (void)snprintf(path, GEN_CHECKPOINT_PATH, "%.*s", GEN_CHECKPOINT_PATH - 1, name);
    return true;
}

/* ---- writing ---- */

/* The checksum in the last bytes covers all bytes before it: see model_checkpoint_last. */
static hpcw_status put_data(const struct gen_checkpoints *c, uint64_t index, hpcw_sink *sink,
                            unsigned char *buffer, size_t buffer_size, hpcw_error *err) {
    const struct model_checkpoint *m = c->model;
    uint64_t file = file_of(c, index);
    uint64_t body = model_checkpoint_size(m, file) - MODEL_CHECKPOINT_LEAST;
    uint64_t length = model_checkpoint_length(m, file);
    uint64_t end = body < length ? body : length;
    uint32_t crc = 0;
    hpcw_status s = HPCW_OK;
    for (uint64_t at = 0; s == HPCW_OK && at < end;) {
        size_t n = end - at < buffer_size ? (size_t)(end - at) : buffer_size;
        model_checkpoint_fill(m, file, at, n, buffer);
        crc = hpcw_i_crc32(crc, buffer, n);
        s = hpcw_sink_write_at(sink, at, buffer, n, err);
        at += n;
    }
    if (s == HPCW_OK && length > body) {
        unsigned char last[MODEL_CHECKPOINT_LEAST];
        model_checkpoint_last(m, file, crc, last);
        s = hpcw_sink_write_at(sink, body, last, (size_t)(length - body), err);
    }
    return s;
}

hpcw_status gen_checkpoints_put(struct gen_checkpoints *c, uint64_t index, hpcw_sink *sink,
                                unsigned char *buffer, size_t buffer_size, hpcw_error *err) {
    if (index >= c->first_data) {
        return put_data(c, index, sink, buffer, buffer_size, err);
    }
    hpcw_kvtree *tree = NULL;
    hpcw_status s;
    if (index == 0) {
        s = make_index(c, &tree, err);
    } else {
        struct metadata_file p = find_metadata(c, index);
        if (!p.summary) {
            struct map_entries e = {.model = c->model, .first = (uint64_t)p.number * c->model->ranks};
            return hpcw_rank2file_map_write(p.checkpoint->map[p.map], p.node, entries_of, &e, sink, err);
        }
        s = hpcw_rank2file_summary(&p.checkpoint->options, &tree, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_kvtree_write(tree, sink, 0, err);
    }
    hpcw_kvtree_free(tree);
    return s;
}
