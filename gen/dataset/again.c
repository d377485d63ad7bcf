/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/dataset/again.h"

#include "libwriter/base/buf.h"
#include "libwriter/base/status.h"

static void no_progress(void *context, uint64_t bytes) {
    (void)context;
    (void)bytes;
}

struct gen_write gen_write_of(const struct gen_run *run, const struct gen_format *format,
                              struct gen_slice units) {
    return (struct gen_write){
        .format = format,
        .dataset = run->dataset,
        .directory = run->directory,
        .root = run->below.root,
        .comm = run->comm,
        .jobs = run->jobs,
        .begin = units.begin,
        .end = units.end,
        .durability = run->durability,
        .outputs = hpcw_i_sink_below_source(&run->below),
        .progress = run->progress == NULL ? no_progress : run->progress,
        .progress_context = run->context,
    };
}

struct gen_slice gen_again_range(const struct gen_dataset *d, const struct gen_format *format, uint64_t first,
                                 uint64_t last) {
    return format->pending && first == 0 ? (struct gen_slice){0, format->units(d)}
                                         : (struct gen_slice){first, last};
}

hpcw_status gen_again(const struct gen_run *run, const struct gen_format *format, struct gen_slice units,
                      hpcw_sink_source outputs, cJSON **partial, hpcw_error *err) {
    struct gen_write w = gen_write_of(run, format, units);
    w.outputs = outputs;
    w.again = true;
    struct hpcw_i_buf text = {0};
    struct hpcw_i_json json;
    hpcw_i_json_open_buf(&json, &text, NULL);
    hpcw_i_json_begin_object(&json);
    hpcw_status s = format->write(&w, &json, err);
    hpcw_i_json_end_object(&json);
    hpcw_status ended = hpcw_i_json_finish(&json, s == HPCW_OK ? err : NULL);
    s = s == HPCW_OK ? ended : s;
    if (s == HPCW_OK && partial != NULL) {
        *partial = cJSON_ParseWithLength((const char *)text.data, text.size);
        s = *partial != NULL ? HPCW_OK : hpcw_i_fail_memory(err, run->directory, 0, format->name);
    }
    hpcw_i_buf_free(&text);
    return s;
}
