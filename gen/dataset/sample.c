/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/dataset/sample.h"

#include <stdio.h>
#include <string.h>

#include "gen/format/format.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sink.h"

struct gen_sample {
    const struct gen_format *format;
    struct gen_dataset dataset;
};

_Static_assert((int)GEN_SAMPLE_PATH == (int)GEN_UNIT_PATH, "a file of a sample is a unit of its format");

hpcw_status gen_sample_new(const char *format, uint32_t ranks, uint64_t seed, struct gen_sample **out,
                           hpcw_error *err) {
    *out = NULL;
    size_t f = 0;
    while (f < gen_format_count && strcmp(gen_format[f]->name, format) != 0) {
        f++;
    }
    if (f == gen_format_count) {
        return hpcw_i_fail(err, HPCW_EINVAL, "expected a format, got \"%s\"", format);
    }
    struct gen_sample *sample = hpcw_i_calloc(1, sizeof *sample);
    if (sample == NULL) {
        return hpcw_i_fail_memory(err, format, 0, NULL);
    }
    sample->format = gen_format[f];
    struct gen_dataset *d = &sample->dataset;
    hpcw_status s = gen_dataset_init(d, "dfplus-hdr200", GEN_SCALE_SMALL, err);
    d->ranks = ranks;
    d->seed = seed;
    d->formats = UINT64_C(1) << f;
    if (s == HPCW_OK) {
        s = gen_dataset_build(d, err);
    }
    if (s != HPCW_OK) {
        gen_sample_free(sample);
        return s;
    }
    *out = sample;
    return HPCW_OK;
}

void gen_sample_free(struct gen_sample *sample) {
    if (sample != NULL) {
        gen_dataset_free(&sample->dataset);
        hpcw_i_free(sample);
    }
}

const char *gen_sample_folder(const struct gen_sample *sample) {
    return gen_format_folder(sample->format);
}

uint64_t gen_sample_files(const struct gen_sample *sample) {
    return sample->format->units(&sample->dataset);
}

hpcw_status gen_sample_file(const struct gen_sample *sample, uint64_t index, char path[GEN_SAMPLE_PATH],
                            uint64_t *bytes, hpcw_error *err) {
    struct gen_unit unit;
    hpcw_status s = sample->format->unit(&sample->dataset, index, &unit, err);
    if (s == HPCW_OK) {
        memcpy(path, unit.path, sizeof unit.path);
        if (bytes != NULL) {
            *bytes = unit.allocated;
        }
    }
    return s;
}

static void ignore_progress(void *context, uint64_t bytes) {
    (void)context;
    (void)bytes;
}

static hpcw_status write_sample(const struct gen_sample *sample, const struct hpcw_i_sink_below *below,
                                hpcw_comm *comm, hpcw_error *err) {
    const struct gen_write write = {
        .format = sample->format,
        .dataset = &sample->dataset,
        .directory = below->path,
        .root = below->root,
        .comm = comm,
        .jobs = 1,
        .end = gen_sample_files(sample),
        .durability = below->durability,
        .outputs = hpcw_i_sink_below_source(below),
        .progress = ignore_progress,
    };
    if (hpcw_comm_process(comm) != 0) {
        return sample->format->write(&write, NULL, err);
    }
    /* Partial results are for the other parts of a dataset; here there are none. */
    struct hpcw_i_buf text = {0};
    struct hpcw_i_json partial;
    hpcw_i_json_open_buf(&partial, &text, NULL);
    hpcw_i_json_begin_object(&partial);
    hpcw_status s = sample->format->write(&write, &partial, err);
    hpcw_i_json_free(&partial);
    hpcw_i_buf_free(&text);
    return s;
}

hpcw_status gen_sample_write(const struct gen_sample *sample, const char *directory, hpcw_comm *comm,
                             hpcw_error *err) {
    struct hpcw_i_sink_below below = {.path = directory, .durability = HPCW_SYNC_NONE};
    int e = hpcw_i_dir_hold(directory, &below.root);
    hpcw_status s = e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot open the directory", directory);
    s = hpcw_i_agree(comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = write_sample(sample, &below, comm, err);
    }
    hpcw_i_dir_release(below.root);
    return s;
}
