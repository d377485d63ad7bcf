/* SPDX-License-Identifier: BSD-3-Clause */
/* sion/particles.sion: container of task-local particle data with several physical files and blocks. */
#include <stdio.h>
#include <string.h>

#include <hpcw/sion.h>

#include "gen/export/rewrite/sion.h"
#include "gen/export/sion.h"
#include "gen/fit/sizes/sizes.h"
#include "gen/format/format.h"
#include "gen/format/pages.h"
#include "gen/format/pending.h"
#include "gen/report/report.h"
#include "gen/spec/pool.h"
#include "libreader/sion/sion.h"
#include "libreader/source.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/status.h"

#define PATH "sion/particles.sion"

static uint32_t files_of(const struct gen_dataset *d) {
    return d->params.sion_files < d->ranks ? d->params.sion_files : d->ranks;
}

static uint64_t units(const struct gen_dataset *d) {
    return files_of(d);
}

static uint32_t first_task(const struct gen_dataset *d, uint64_t file) {
    return hpcw_sion_first_task_of_file(d->ranks, files_of(d), (uint32_t)file);
}

/* Adds the data of the tasks [begin, end) in block b, which starts at offset `at`. */
static void add_block(struct gen_pages *pages, const struct gen_dataset *d, uint32_t begin, uint32_t end,
                      uint32_t b, uint64_t at) {
    for (uint32_t r = begin; r < end; r++) {
        struct model_particles_layout l = model_particles_layout(&d->particles, r, d->block_size);
        uint64_t before = (uint64_t)b * l.per_chunk;
        uint64_t count = model_particles_count(&d->particles, r);
        uint64_t here = count > before ? count - before : 0;
        here = here < l.per_chunk ? here : l.per_chunk;
        gen_pages_add(pages, at, here * MODEL_PARTICLE_SIZE);
        at += hpcw_i_align_up(l.chunk_size, d->block_size);
    }
}

static hpcw_status unit(const struct gen_dataset *d, uint64_t index, struct gen_unit *u, hpcw_error *err) {
    uint32_t file = (uint32_t)index;
    uint32_t files = files_of(d);
    uint32_t begin = first_task(d, file);
    uint32_t end = first_task(d, index + 1);
    uint64_t stride = 0;
    uint32_t blocks = 1;
    for (uint32_t r = begin; r < end; r++) {
        struct model_particles_layout l = model_particles_layout(&d->particles, r, d->block_size);
        stride += hpcw_i_align_up(l.chunk_size, d->block_size);
        blocks = l.blocks > blocks ? l.blocks : blocks;
    }
    hpcw_sion_shape shape;
    uint64_t mapping = files > 1 && file == 0 ? d->ranks : UINT64_MAX;
    hpcw_status s = hpcw_sion_shape_of(end - begin, d->block_size, stride, blocks, mapping, &shape, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (file == 0) {
        (void)snprintf(u->path, sizeof u->path, PATH);
    } else {
        (void)snprintf(u->path, sizeof u->path, PATH ".%06u", file);
    }
    u->apparent = shape.file_size;
    struct gen_pages pages = {0, 0};
    gen_pages_add(&pages, 0, shape.meta1_size);
    for (uint32_t b = 0; b < blocks; b++) {
        add_block(&pages, d, begin, end, b, shape.data_start + b * stride);
    }
    gen_pages_add(&pages, shape.meta2_start, shape.file_size - shape.meta2_start);
    u->allocated = pages.bytes;
    return HPCW_OK;
}

static uint64_t largest_record(const struct gen_dataset *d) {
    /* Only the plan uses this estimate. Sizes are log-normal, so a larger record is practically impossible. */
    return 8 * d->particles_params.mean_size;
}

static uint64_t memory(const struct gen_dataset *d, uint32_t jobs) {
    return (uint64_t)d->ranks * 64 + jobs * largest_record(d) + (8 << 20);
}

static double seconds(const struct gen_dataset *d) {
    return (double)d->ranks * (double)d->particles_params.mean_size * 0.8e-9;
}

/* ---- writing ---- */

struct sion_job {
    const struct gen_write *w;
    hpcw_sion *sion;
};

static uint64_t chunk_of(void *context, uint32_t rank) {
    const struct gen_dataset *d = context;
    return model_particles_layout(&d->particles, rank, d->block_size).chunk_size;
}

static void end_thread(void *context, void *state) {
    (void)context;
    hpcw_i_buf_free(state);
}

/* Writes the data of a rank chunk by chunk. The buffer fits the largest chunk of this thread's ranks. */
static hpcw_status write_rank(void *context, void *state, uint64_t index, hpcw_error *err) {
    const struct sion_job *job = context;
    const struct gen_dataset *d = job->w->dataset;
    struct hpcw_i_buf *b = state;
    uint32_t rank = (uint32_t)index;
    struct model_particles_layout l = model_particles_layout(&d->particles, rank, d->block_size);
    uint32_t count = model_particles_count(&d->particles, rank);
    size_t need = (size_t)l.per_chunk * MODEL_PARTICLE_SIZE;
    if (!hpcw_i_buf_reserve(b, need)) {
        return hpcw_i_fail_memory(err, "sion", need, "bytes of a rank");
    }
    for (uint32_t from = 0; from < count; from += l.per_chunk) {
        uint32_t n = count - from < l.per_chunk ? count - from : l.per_chunk;
        size_t size = (size_t)n * MODEL_PARTICLE_SIZE;
        model_particles_fill(&d->particles, rank, from, n, b->data);
        hpcw_status s = hpcw_sion_write(job->sion, rank, b->data, size, err);
        if (s != HPCW_OK) {
            return s;
        }
        job->w->progress(job->w->progress_context, size);
    }
    return HPCW_OK;
}

static bool owns(const char *path) {
    return gen_is_of_set(path, PATH);
}

static hpcw_status write_units(const struct gen_write *w, struct hpcw_i_json *partial, hpcw_error *err) {
    (void)partial; /* all injected faults follow from the parameters */
    const struct gen_dataset *d = w->dataset;
    uint32_t files = files_of(d);
    struct gen_slice own = gen_share(w->comm, first_task(d, w->begin), first_task(d, w->end));
    char path[4096 + GEN_UNIT_PATH];
    (void)snprintf(path, sizeof path, "%s/" PATH, w->directory);

    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    o.count = (uint32_t)(own.end - own.begin);
    o.size_of = chunk_of;
    o.size_context = (void *)(uintptr_t)d;
    o.files = files;
    o.fs_block_size = d->block_size;
    o.buffer_size = 0; /* each write is a whole chunk, so no buffer is needed */
    o.durability = w->durability;
    if (w->begin > 0 || w->end < files) {
        o.set_tasks = d->ranks;
        o.set_first_file = (uint32_t)w->begin;
        o.set_files = (uint32_t)(w->end - w->begin);
    }
    o.sink_source = gen_set_source(w);
    struct sion_job job = {.w = w};
    hpcw_status s = hpcw_sion_open(path, w->comm, &o, &job.sion, err);
    if (s != HPCW_OK) {
        return s;
    }
    const struct gen_pool_work work = {.name = "sion",
                                       .context = &job,
                                       .state_size = sizeof(struct hpcw_i_buf),
                                       .step = write_rank,
                                       .end = end_thread};
    s = gen_pool_run(w->jobs, own.begin, o.count, 4, &work, err);
    if (s != HPCW_OK) {
        hpcw_sion_abandon(job.sion, err);
    }
    s = hpcw_sion_close(job.sion, err);
    hpcw_sion_free(job.sion);
    return s;
}

static hpcw_status truth(const struct gen_dataset *d, const cJSON *const *partial, size_t count, uint32_t jobs,
                         struct hpcw_i_json *json, hpcw_error *err) {
    (void)partial;
    (void)count;
    (void)jobs;
    (void)err;
    uint64_t sum = 0;
    uint32_t least = UINT32_MAX;
    uint32_t most = 0;
    uint32_t most_rank = 0;
    for (uint32_t r = 0; r < d->ranks; r++) {
        uint32_t n = model_particles_count(&d->particles, r);
        sum += n;
        least = n < least ? n : least;
        if (n > most) {
            most = n;
            most_rank = r;
        }
    }
    hpcw_i_json_put_u64(json, "particles", sum);
    hpcw_i_json_put_u64(json, "least_particles", least);
    hpcw_i_json_put_u64(json, "most_particles", most);
    hpcw_i_json_put_u64(json, "most_particles_rank", most_rank);
    hpcw_i_json_put_f64(json, "imbalance", (double)most * d->ranks / (double)sum - 1);
    return HPCW_OK;
}

/* ---- reading ---- */

static hpcw_status probe(const char *path, bool *is, hpcw_error *err) {
    return read_source_begins_with(path, "sion", 4, is, err);
}

hpcw_status gen_format_sion_flags(struct read_sion *reader, const char *path, bool ours, unsigned *flags,
                                  hpcw_error *err) {
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    struct read_sion_info i;
    *flags = ours ? READ_SION_STRICT | READ_SION_GAPS : 0;
    hpcw_status s = ours ? read_sion_info(reader, 0, &i, err) : HPCW_OK;
    return s != HPCW_OK || !ours || strcmp(i.prefix, name) == 0
               ? s
               : hpcw_i_fail(err, HPCW_EFORMAT, "%s: name in the header: expected %s, got %.128s", path, name,
                             i.prefix);
}

static hpcw_status verify(const char *path, bool ours, uint64_t *files, hpcw_error *err) {
    struct read_sion *reader;
    hpcw_status s = read_sion_open(path, &reader, err);
    if (s == HPCW_OK) {
        unsigned flags;
        s = gen_format_sion_flags(reader, path, ours, &flags, err);
        s = s == HPCW_OK ? read_sion_verify(reader, flags, err) : s;
        *files = read_sion_files(reader);
        read_sion_free(reader);
    }
    return s;
}

static void put_file(const struct read_sion_info *i, struct hpcw_i_json *json) {
    hpcw_i_json_put_u64(json, "tasks", i->tasks);
    hpcw_i_json_put_u64(json, "file_number", i->file_number);
    hpcw_i_json_put_u64(json, "blocks", i->blocks);
    hpcw_i_json_put_u64(json, "data_start", i->data_start);
    hpcw_i_json_put_u64(json, "block_stride", i->block_stride);
    hpcw_i_json_put_u64(json, "meta2_start", i->meta2_start);
    hpcw_i_json_put_u64(json, "file_size", i->file_size);
    hpcw_i_json_put_str(json, "mapping",
                        i->mapping == READ_SION_MAPPING_NONE    ? "none"
                        : i->mapping == READ_SION_MAPPING_EMPTY ? "empty"
                                                                : "full");
}

hpcw_status gen_format_sion_info(struct read_sion *reader, struct hpcw_i_json *json, hpcw_error *err) {
    struct read_sion_info i;
    hpcw_status s = read_sion_info(reader, 0, &i, err);
    if (s != HPCW_OK) {
        return s;
    }
    hpcw_i_json_put_i64(json, "format_version", i.format);
    hpcw_i_json_put_i64(json, "library_version", i.library_version);
    hpcw_i_json_put_i64(json, "library_patch", i.library_patch);
    hpcw_i_json_put_str(json, "metadata_byte_order", i.meta_big ? "big" : "little");
    hpcw_i_json_put_str(json, "data_byte_order", i.data_big ? "big" : "little");
    hpcw_i_json_put_u64(json, "fs_block_size", i.fs_block_size);
    hpcw_i_json_put_str(json, "content", i.mode == READ_SION_MODE_KEYVAL ? "key-value" : "plain");
    hpcw_i_json_put_str(json, "name", i.prefix);
    hpcw_i_json_put_u64(json, "tasks_of_set", read_sion_tasks(reader));
    uint64_t payload = 0;
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    uint64_t apparent = 0;
    hpcw_i_json_key_array(json, "files");
    for (uint32_t f = 0; s == HPCW_OK && f < read_sion_files(reader); f++) {
        s = read_sion_info(reader, f, &i, err);
        if (s != HPCW_OK) {
            break;
        }
        hpcw_i_json_flat_object(json);
        put_file(&i, json);
        hpcw_i_json_end_object(json);
        apparent += i.file_size;
    }
    hpcw_i_json_end_array(json);
    hpcw_i_json_key_array(json, "tasks");
    for (uint32_t f = 0; s == HPCW_OK && f < read_sion_files(reader); f++) {
        s = read_sion_info(reader, f, &i, err);
        for (uint32_t t = 0; s == HPCW_OK && t < i.tasks; t++) {
            struct read_sion_task task;
            s = read_sion_task(reader, f, t, &task, err);
            if (s == HPCW_OK) {
                hpcw_i_json_flat_object(json);
                hpcw_i_json_put_i64(json, "rank", task.rank);
                hpcw_i_json_put_u64(json, "bytes", task.size);
                hpcw_i_json_put_u64(json, "blocks", task.blocks);
                hpcw_i_json_end_object(json);
                payload += task.size;
                least = task.size < least ? task.size : least;
                most = task.size > most ? task.size : most;
            }
        }
    }
    hpcw_i_json_end_array(json);
    if (s == HPCW_OK) {
        hpcw_i_json_put_u64(json, "apparent_bytes", apparent);
        hpcw_i_json_put_u64(json, "payload_bytes", payload);
        hpcw_i_json_put_u64(json, "smallest_stream", least);
        hpcw_i_json_put_u64(json, "largest_stream", most);
    }
    return s;
}

static hpcw_status info(const char *path, struct hpcw_i_json *json, hpcw_error *err) {
    struct read_sion *reader;
    hpcw_status s = read_sion_open(path, &reader, err);
    if (s == HPCW_OK) {
        s = gen_format_sion_info(reader, json, err);
        read_sion_free(reader);
    }
    return s;
}

const struct gen_format gen_format_sion = {
    .name = "sion",
    .version = "5",
    .help = "task-local particle data in a SION container",
    .container = true,
    .units = units,
    .unit = unit,
    .memory = memory,
    .seconds = seconds,
    .owns = owns,
    .pending = true,
    .write = write_units,
    .complete = gen_pending_complete,
    .truth = truth,
    .probe = probe,
    .verify = verify,
    .info = info,
    .report = gen_report_sion,
    .export = &gen_export_sion,
    .rewrite = &gen_rewrite_sion,
    .fit = gen_fit_sion,
    .fit_rule = GEN_FIT_LAST,
};
