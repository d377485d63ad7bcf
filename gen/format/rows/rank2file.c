/* SPDX-License-Identifier: BSD-3-Clause */
/* scr/: prefix directory of a job that wrote checkpoints with SCR. */
#include <stdio.h>
#include <string.h>

#include <hpcw/rank2file.h>

#include "gen/export/rank2file.h"
#include "gen/export/rewrite/rank2file.h"
#include "gen/fit/sizes/sizes.h"
#include "gen/format/format.h"
#include "gen/format/pending.h"
#include "gen/report/report.h"
#include "gen/spec/checkpoint_files.h"
#include "gen/spec/pool.h"
#include "gen/spec/visibility.h"
#include "libreader/rank2file/rank2file.h"
#include "libreader/source.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/io/sink.h"

#define FOLDER "scr"

enum { BUFFER = 256 << 10 };

static uint64_t units(const struct gen_dataset *d) {
    return gen_checkpoints_files(d->checkpoints);
}

static hpcw_status unit(const struct gen_dataset *d, uint64_t index, struct gen_unit *u, hpcw_error *err) {
    char path[GEN_CHECKPOINT_PATH];
    (void)err;
    gen_checkpoints_file(d->checkpoints, index, path, &u->apparent);
    (void)snprintf(u->path, sizeof u->path, FOLDER "/%.*s", (int)(sizeof u->path - sizeof FOLDER - 1), path);
    u->allocated = hpcw_i_align_up(u->apparent, 4096);
    return HPCW_OK;
}

static uint64_t memory(const struct gen_dataset *d, uint32_t jobs) {
    uint64_t leaf = d->ckpt_params.leaf_bytes;
    /* 24 bytes for each file: its size and digest */
    return jobs * (BUFFER + leaf) + 24 * gen_checkpoints_files(d->checkpoints) + (8 << 20);
}

static double seconds(const struct gen_dataset *d) {
    const struct model_checkpoint_params *p = &d->ckpt_params;
    double files = (double)p->checkpoints * d->ranks;
    double maps = hpcw_rank2file_layout_maps((hpcw_rank2file_layout)p->layout);
    return files * maps * 200e-9 +
           (p->payload == MODEL_CHECKPOINT_FILES ? files * (80e-6 + (double)p->mean_size * 0.5e-9) : 0);
}

/* Returns the part of a path after "scr.dataset.7/" or "ckpt.7/", or NULL. */
static const char *after_dataset(const char *path) {
    static const char *const names[] = {"scr.dataset.", "ckpt."};
    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(names[i]);
        if (strncmp(path, names[i], n) == 0) {
            size_t digits = strspn(path + n, "0123456789");
            return digits > 0 && path[n + digits] == '/' ? path + n + digits + 1 : NULL;
        }
    }
    return NULL;
}

static bool is_metadata(const char *name) {
    static const char start[] = "rank2file";
    if (strcmp(name, "summary.scr") == 0) {
        return true;
    }
    if (strncmp(name, start, sizeof start - 1) != 0) {
        return false;
    }
    const char *p = name + sizeof start - 1;
    for (int number = 0; number < 2 && *p == '.' && p[1] >= '0' && p[1] <= '9'; number++) {
        p += 1 + strspn(p + 1, "0123456789");
    }
    return *p == '\0' || strcmp(p, ".scr") == 0;
}

static bool owns(const char *path) {
    static const char folder[] = FOLDER "/";
    if (strncmp(path, folder, sizeof folder - 1) != 0) {
        return false;
    }
    path += sizeof folder - 1;
    if (strcmp(path, HPCW_RANK2FILE_INDEX) == 0 || strcmp(path, ".scr/hpcw.lock") == 0) {
        return true;
    }
    bool metadata = strncmp(path, ".scr/", 5) == 0;
    const char *name = after_dataset(metadata ? path + 5 : path);
    if (name == NULL) {
        return false;
    }
    if (!metadata && strncmp(name, ".scr/", 5) == 0) {
        name += 5;
        metadata = true;
    }
    if (metadata) {
        return is_metadata(name);
    }
    size_t digits = strncmp(name, "rank_", 5) == 0 ? strspn(name + 5, "0123456789") : 0;
    return digits > 0 && strcmp(name + 5 + digits, ".ckpt") == 0;
}

/* ---- writing ---- */

static hpcw_status make_folders(const struct gen_write *w, hpcw_error *err) {
    char name[GEN_CHECKPOINT_PATH];
    char path[sizeof FOLDER + GEN_CHECKPOINT_PATH];
    hpcw_status s = gen_format_make_folder(w->root, w->directory, FOLDER, false, err);
    for (uint32_t i = 0; s == HPCW_OK && gen_checkpoints_folder(w->dataset->checkpoints, i, name); i++) {
        (void)snprintf(path, sizeof path, FOLDER "/%s", name);
        s = gen_format_make_folder(w->root, w->directory, path, false, err);
    }
    return s;
}

static hpcw_status put_file(const struct gen_write *w, uint64_t index, const char *path, unsigned char *buffer,
                            hpcw_error *err) {
    hpcw_sink *sink;
    hpcw_status s = hpcw_i_sink_open(&w->outputs, NULL, path, 0, true, w->durability, &sink, err);
    if (s == HPCW_OK) {
        s = gen_checkpoints_put(w->dataset->checkpoints, index, sink, buffer, BUFFER, err);
        if (s == HPCW_OK) {
            s = hpcw_sink_publish(sink, err);
        }
        hpcw_sink_free(sink);
    }
    return s;
}

/* Writes a file other than the index. */
static hpcw_status write_file(void *context, void *state, uint64_t index, hpcw_error *err) {
    const struct gen_write *w = context;
    char path[4096 + GEN_UNIT_PATH];
    struct gen_unit u;
    hpcw_status s = unit(w->dataset, index, &u, err);
    (void)snprintf(path, sizeof path, "%s/%s", w->directory, u.path);
    s = s == HPCW_OK ? put_file(w, index, path, state, err) : s;
    if (s == HPCW_OK) {
        w->progress(w->progress_context, u.apparent);
    }
    return s;
}

/* Collective. Writes the files [begin, end), divided among all processes and threads. */
static hpcw_status write_files(const struct gen_write *w, uint64_t begin, uint64_t end, hpcw_error *err) {
    const struct gen_pool_work work = {
        .name = "scr", .context = (void *)(uintptr_t)w, .state_size = BUFFER, .step = write_file};
    hpcw_status s = HPCW_OK;
    if (begin < end) {
        struct gen_slice own = gen_share(w->comm, begin, end);
        s = gen_pool_run(w->jobs, own.begin, own.end - own.begin, 4, &work, err);
    }
    return hpcw_i_agree(w->comm, s, NULL, err);
}

static hpcw_status write_index(const struct gen_write *w, hpcw_error *err) {
    char path[4096 + GEN_UNIT_PATH];
    if (!w->again && gen_is_pending(w->format, w->dataset, w->begin, w->end, 0)) {
        gen_pending_path(w, path, sizeof path);
    } else {
        (void)snprintf(path, sizeof path, "%s/" FOLDER "/" HPCW_RANK2FILE_INDEX, w->directory);
    }
    return put_file(w, 0, path, NULL, err);
}

static hpcw_status write_units(const struct gen_write *w, struct hpcw_i_json *partial, hpcw_error *err) {
    (void)partial; /* all injected faults follow from the parameters */
    uint64_t data = gen_checkpoints_first_data(w->dataset->checkpoints);
    uint64_t first = w->begin == 0 ? 1 : w->begin;
    bool one = hpcw_comm_process(w->comm) == 0;
    bool makes = one && !w->again;
    hpcw_status s = hpcw_i_agree(w->comm, makes ? make_folders(w, err) : HPCW_OK, NULL, err);
    /* Writes the data first, then the metadata, then the index. Readers find the data by the index. */
    if (s == HPCW_OK) {
        s = write_files(w, first > data ? first : data, w->end, err);
    }
    if (s == HPCW_OK) {
        s = write_files(w, first, w->end < data ? w->end : data, err);
    }
    if (s == HPCW_OK && w->begin == 0) {
        s = hpcw_i_agree(w->comm, one ? write_index(w, err) : HPCW_OK, NULL, err);
    }
    return s;
}

/* Lists the versions of SCR that read the layout, each with what it does with a damaged checkpoint: by_*, as
 * observed. */
static void readers_of(enum hpcw_rank2file_layout layout, const char *by_1_1, const char *by_1_2,
                       const char *by_3, const char *reader[2 * 2 + 1]) {
    size_t n = 0;
    if (layout == HPCW_RANK2FILE_SCR_1_1 || layout == HPCW_RANK2FILE_SHARED) {
        reader[n++] = "SCR 1.1.8";
        reader[n++] = by_1_1;
    }
    if (layout == HPCW_RANK2FILE_SCR_1_2) {
        reader[n++] = "SCR 1.2.2";
        reader[n++] = by_1_2;
    }
    if (layout == HPCW_RANK2FILE_SCR_3 || layout == HPCW_RANK2FILE_SHARED) {
        reader[n++] = "SCR 3.1.0";
        reader[n++] = by_3;
    }
    reader[n] = NULL;
}

static void put_visibility(const struct gen_dataset *d, unsigned kind, const char *file,
                           struct hpcw_i_json *json) {
    static const char *const by[MODEL_CHECKPOINT_FAULTS + 1][3] = {
        [MODEL_CHECKPOINT_MISSING_FILE] = {"refuses", "refuses", "refuses"},
        [MODEL_CHECKPOINT_TRUNCATED_FILE] = {"refuses", "refuses", "accepts"},
        [MODEL_CHECKPOINT_WRONG_CRC] = {"refuses", "refuses", "accepts"},
        [MODEL_CHECKPOINT_MISSING_RANK] = {"accepts", "accepts", "accepts"},
        [MODEL_CHECKPOINT_FAULTS] = {"takes the one before", "takes the one before", "takes the one before"},
    };
    const char *reader[2 * 2 + 1];
    readers_of((enum hpcw_rank2file_layout)d->ckpt_params.layout, by[kind][0], by[kind][1], by[kind][2],
               reader);
    hpcw_i_json_key_array(json, "visibility");
    gen_visibility_put_certain(json, "rank2file", file, reader);
    hpcw_i_json_end_array(json);
}

static void put_fault(const struct gen_dataset *d, unsigned kind, uint64_t file, struct hpcw_i_json *json) {
    char below[GEN_CHECKPOINT_PATH];
    char path[sizeof FOLDER + GEN_CHECKPOINT_PATH];
    gen_checkpoints_data_path(d->checkpoints, file, below);
    (void)snprintf(path, sizeof path, FOLDER "/%s", below);
    hpcw_i_json_flat_object(json);
    hpcw_i_json_put_str(json, "kind", model_checkpoint_fault_name[kind]);
    hpcw_i_json_put_u64(json, "checkpoint", file / d->ranks + 1);
    hpcw_i_json_put_u64(json, "rank", file % d->ranks);
    hpcw_i_json_put_str(json, "file", path);
    if (kind == MODEL_CHECKPOINT_TRUNCATED_FILE) {
        const struct model_checkpoint *m = &d->checkpoint;
        hpcw_i_json_put_u64(json, "size", model_checkpoint_size(m, file));
        hpcw_i_json_put_u64(json, "left", model_checkpoint_length(m, file));
    }
    put_visibility(d, kind, path, json);
    hpcw_i_json_end_object(json);
}

static hpcw_status truth(const struct gen_dataset *d, const cJSON *const *partial, size_t count, uint32_t jobs,
                         struct hpcw_i_json *json, hpcw_error *err) {
    (void)partial;
    (void)count;
    (void)jobs;
    (void)err;
    const struct model_checkpoint *m = &d->checkpoint;
    hpcw_i_json_put_u64(json, "checkpoints", m->params.checkpoints);
    hpcw_i_json_key_array(json, "faults");
    for (unsigned k = 0; k < MODEL_CHECKPOINT_FAULTS; k++) {
        for (uint32_t i = 0; i < m->params.faults[k]; i++) {
            put_fault(d, k, m->fault[k][i], json);
        }
    }
    hpcw_i_json_end_array(json);
    hpcw_i_json_key(json, "stale_index");
    if (m->params.stale_index) {
        char name[HPCW_RANK2FILE_MAX_DATASET + 1];
        gen_checkpoints_name(d->checkpoints, m->params.checkpoints, name);
        hpcw_i_json_flat_object(json);
        hpcw_i_json_put_str(json, "kind", "stale_index");
        hpcw_i_json_put_str(json, "dataset", name);
        hpcw_i_json_put_str(json, "file", FOLDER "/" HPCW_RANK2FILE_INDEX);
        put_visibility(d, MODEL_CHECKPOINT_FAULTS, FOLDER "/" HPCW_RANK2FILE_INDEX, json);
        hpcw_i_json_end_object(json);
    } else {
        hpcw_i_json_null(json);
    }
    return HPCW_OK;
}

static hpcw_status verify(const char *path, bool ours, uint64_t *files, hpcw_error *err) {
    (void)ours; /* the same rules hold for all writers */
    bool directory;
    hpcw_status s = read_source_is_directory(path, &directory, err);
    *files = directory ? *files : 1;
    return s == HPCW_OK ? read_rank2file_verify(path, err) : s;
}

static const struct gen_injected injected[] = {
    {"checkpoint_faults", "rank2file.faults"}, {"stale_index", "rank2file.stale_index"}, {NULL, NULL}};

const struct gen_format gen_format_rank2file = {
    .name = "rank2file",
    .version = "SCR 1.1.8 and 3.1.0, KVTree 1.5.0",
    .help = "checkpoints as SCR keeps them, with their rank2file maps",
    .folder = FOLDER,
    .units = units,
    .unit = unit,
    .memory = memory,
    .seconds = seconds,
    .owns = owns,
    .pending = true, /* readers look for the index first */
    .write = write_units,
    .complete = gen_pending_complete,
    .truth = truth,
    .injected = injected,
    .probe = read_rank2file_probe,
    .verify = verify,
    .info = read_rank2file_info,
    .report = gen_report_rank2file,
    .export = &gen_export_rank2file,
    .rewrite = &gen_rewrite_rank2file,
    .fit = gen_fit_checkpoints,
    .fit_rule = GEN_FIT_LAST,
};
