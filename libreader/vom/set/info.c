/* SPDX-License-Identifier: BSD-3-Clause */
#include "libreader/vom/set/info.h"

#include <string.h>

#include "libreader/vom/set/file_type.h"
#include "libreader/vom/set/summary.h"
#include "libreader/vom/statistics.h"
#include "libwriter/io/json.h"

/* Writes a number; null if it is infinite, as sums and squares of large times overflow and JSON has no infinity. */
static void put_number(struct hpcw_i_json *json, const char *key, double value) {
    hpcw_i_json_key(json, key);
    if (value - value == 0) {
        hpcw_i_json_f64(json, value);
    } else {
        hpcw_i_json_null(json);
    }
}

static void put_figures(struct hpcw_i_json *json, const char *name, const double figure[READ_VOM_FIGURES]) {
    hpcw_i_json_key(json, name);
    hpcw_i_json_flat_object(json);
    for (int f = 0; f < READ_VOM_FIGURES; f++) {
        put_number(json, read_vom_figure_name((enum read_vom_figure)f), figure[f]);
    }
    hpcw_i_json_end_object(json);
}

static hpcw_status data_info(const char *path, struct hpcw_i_json *json, hpcw_error *err) {
    struct read_vom_summary s;
    hpcw_status status = read_vom_summarise(path, &s, err);
    if (status == HPCW_OK) {
        hpcw_i_json_put_str(json, "type", "LBDatafile");
        if (s.warning.code != HPCW_OK) {
            hpcw_i_json_put_str(json, "warning", s.warning.message);
        }
        hpcw_i_json_put_u64(json, "files", s.ranks);
        hpcw_i_json_put_u64(json, "compressed_files", s.compressed);
        hpcw_i_json_put_u64(json, "file_bytes", s.file_bytes);
        hpcw_i_json_put_u64(json, "text_bytes", s.text_bytes);
        hpcw_i_json_put_u64(json, "phase_count", s.phases);
        hpcw_i_json_key_array(json, "phases");
        for (size_t i = 0; i < s.phases; i++) {
            const struct read_vom_phase_summary *p = &s.phase[i];
            hpcw_i_json_begin_object(json);
            hpcw_i_json_put_u64(json, "id", p->id);
            hpcw_i_json_put_u64(json, "tasks", p->tasks);
            hpcw_i_json_put_u64(json, "migratable", p->migratable);
            hpcw_i_json_put_u64(json, "communications", p->communications);
            hpcw_i_json_put_u64(json, "messages", p->messages);
            put_number(json, "bytes", p->bytes);
            for (int q = 0; q < READ_VOM_QUANTITIES; q++) {
                double figure[READ_VOM_FIGURES];
                read_vom_moments_figures(&p->quantity[q], figure);
                put_figures(json, read_vom_quantity_name((enum read_vom_quantity)q), figure);
            }
            hpcw_i_json_end_object(json);
        }
        hpcw_i_json_end_array(json);
    }
    read_vom_summary_free(&s);
    return status;
}

/* Copies the phases of a statistics file to JSON. The JSON objects of a phase and of its group (pre-LB or post-LB)
 * stay open between callbacks. */
struct echo {
    struct hpcw_i_json *json;
    bool in_phase, in_group, after;
};

static hpcw_status echo_quantity(void *context, bool after, const char *quantity,
                                 const double figure[READ_VOM_FIGURES], hpcw_error *err) {
    (void)err;
    struct echo *e = context;
    if (!e->in_phase) {
        e->in_phase = true;
        hpcw_i_json_begin_object(e->json);
    }
    if (e->in_group && e->after != after) {
        e->in_group = false;
        hpcw_i_json_end_object(e->json);
    }
    if (!e->in_group) {
        e->in_group = true;
        e->after = after;
        hpcw_i_json_key_object(e->json, after ? "post-LB" : "pre-LB");
    }
    put_figures(e->json, quantity, figure);
    return HPCW_OK;
}

static hpcw_status echo_phase(void *context, uint64_t id, uint64_t migrations, unsigned groups,
                              hpcw_error *err) {
    (void)groups;
    (void)err;
    struct echo *e = context;
    /* The schema requires the group pre-LB and its quantities, so the JSON objects of the phase and of a group are
     * open here. */
    hpcw_i_json_end_object(e->json);
    hpcw_i_json_put_u64(e->json, "id", id);
    if (migrations != UINT64_MAX) {
        hpcw_i_json_put_u64(e->json, "migration count", migrations);
    }
    hpcw_i_json_end_object(e->json);
    e->in_phase = e->in_group = false;
    return HPCW_OK;
}

static hpcw_status statistics_info(const char *path, struct hpcw_i_json *json, hpcw_error *err) {
    struct echo echo = {.json = json};
    const struct read_vom_statistics_events events = {
        .context = &echo, .quantity = echo_quantity, .phase_end = echo_phase};
    hpcw_i_json_put_str(json, "type", "LBStatsfile");
    hpcw_i_json_key_array(json, "phases");
    hpcw_status status = read_vom_statistics_read(path, &events, err);
    hpcw_i_json_end_array(json);
    return status;
}

hpcw_status read_vom_info(const char *path, struct hpcw_i_json *json, hpcw_error *err) {
    enum read_vom_file_type type;
    hpcw_status s = read_vom_file_type(path, &type, err);
    return s != HPCW_OK                       ? s
           : type == READ_VOM_STATISTICS_FILE ? statistics_info(path, json, err)
                                              : data_info(path, json, err);
}
