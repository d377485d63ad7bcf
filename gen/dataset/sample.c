/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/dataset/sample.h"

#include <stdio.h>
#include <string.h>

#include "gen/format/format.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

struct hpcw_i_sample {
    const struct hpcw_i_format *format;
    struct hpcw_i_dataset dataset;
};

_Static_assert((int)HPCW_I_SAMPLE_PATH == (int)HPCW_I_UNIT_PATH, "a file of a sample is a unit of its format");

hpcw_status hpcw_i_sample_new(const char *format, uint32_t ranks, uint64_t seed, struct hpcw_i_sample **out,
                              hpcw_error *err) {
    *out = NULL;
    size_t f = 0;
    while (f < hpcw_i_format_count && strcmp(hpcw_i_format[f]->name, format) != 0) {
        f++;
    }
    if (f == hpcw_i_format_count) {
        return hpcw_i_fail(err, HPCW_EINVAL, "expected a format, got \"%s\"", format);
    }
    struct hpcw_i_sample *sample = hpcw_i_calloc(1, sizeof *sample);
    if (sample == NULL) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory", format);
    }
    sample->format = hpcw_i_format[f];
    struct hpcw_i_dataset *d = &sample->dataset;
    hpcw_status s = hpcw_i_dataset_init(d, "dfplus-hdr200", HPCW_I_SCALE_SMALL, err);
    d->ranks = ranks;
    d->seed = seed;
    d->formats = UINT64_C(1) << f;
    if (s == HPCW_OK) {
        s = hpcw_i_dataset_build(d, err);
    }
    if (s != HPCW_OK) {
        hpcw_i_sample_free(sample);
        return s;
    }
    *out = sample;
    return HPCW_OK;
}

void hpcw_i_sample_free(struct hpcw_i_sample *sample) {
    if (sample != NULL) {
        hpcw_i_dataset_free(&sample->dataset);
        hpcw_i_free(sample);
    }
}

const char *hpcw_i_sample_folder(const struct hpcw_i_sample *sample) {
    return hpcw_i_format_folder(sample->format);
}

uint64_t hpcw_i_sample_files(const struct hpcw_i_sample *sample) {
    return sample->format->units(&sample->dataset);
}

hpcw_status hpcw_i_sample_file(const struct hpcw_i_sample *sample, uint64_t index,
                               char path[HPCW_I_SAMPLE_PATH], uint64_t *bytes, hpcw_error *err) {
    struct hpcw_i_unit unit;
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

hpcw_status hpcw_i_sample_write(const struct hpcw_i_sample *sample, const char *directory, hpcw_comm *comm,
                                hpcw_error *err) {
    const struct hpcw_i_write write = {
        .dataset = &sample->dataset,
        .directory = directory,
        .comm = comm,
        .jobs = 1,
        .end = hpcw_i_sample_files(sample),
        .durability = HPCW_SYNC_NONE,
        .progress = ignore_progress,
    };
    if (hpcw_comm_process(comm) != 0) {
        return sample->format->write(&write, NULL, err);
    }
    /* What a part of a dataset leaves for the others: nobody needs it here. */
    struct hpcw_i_buf text = {0};
    struct hpcw_i_json partial;
    hpcw_i_json_open_buf(&partial, &text, NULL);
    hpcw_i_json_begin_object(&partial);
    hpcw_status s = sample->format->write(&write, &partial, err);
    hpcw_i_json_free(&partial);
    hpcw_i_buf_free(&text);
    return s;
}
