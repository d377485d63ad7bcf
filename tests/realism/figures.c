/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the figures of doc/realism.md as JSON: [{"name": .., "value": .., "says": ..}, ..].
 *
 *    figures DIR                      of a dataset of hpcgen
 *    figures --links FILE             of one LinkTest result, also of a real program; likewise --load DIR,
 *    --log FILE, --checkpoints PREFIX, --particles FILE
 *    figures --curve NAME FILE...     of LinkTest results, in the order of their message sizes
 *    figures --bisection FILE
 *    figures --wave FILE              of the event log of wave.lua; --noise for noise.lua */
#include "tests/realism/figures.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libreader/source.h"
#include "libwriter/base/mem.h"
#include "libwriter/io/json.h"

static struct hpcw_i_json json;

HPCW_PRINTF(3, 0) static void put(const char *name, double value, const char *says, va_list list) {
    char text[512];
    (void)vsnprintf(text, sizeof text, says, list);
    hpcw_i_json_flat_object(&json);
    hpcw_i_json_put_str(&json, "name", name);
    hpcw_i_json_key(&json, "value");
    if (isfinite(value)) {
        hpcw_i_json_f64(&json, value);
    } else {
        hpcw_i_json_null(&json);
    }
    hpcw_i_json_put_str(&json, "says", text);
    hpcw_i_json_end_object(&json);
}

void figure(const char *name, double value, const char *says, ...) {
    va_list list;
    va_start(list, says);
    put(name, value, says, list);
    va_end(list);
}

void figure_of(const char *name, const char *of, double value, const char *says, ...) {
    char whole[256];
    const size_t star = strcspn(name, "*");
    va_list list;
    (void)snprintf(whole, sizeof whole, "%.*s%s%s", (int)star, name, of,
                   name[star] == '*' ? name + star + 1 : "");
    va_start(list, says);
    put(whole, value, says, list);
    va_end(list);
}

static bool exists(const char *path) {
    struct stat st;
    return stat(path, &st) == 0;
}

static void read_truth(const char *directory, struct dataset *d) {
    char path[DATASET_PATH];
    struct read_source *source;
    (void)snprintf(path, sizeof path, "%s/truth.json", directory);
    if (read_source_open(path, &source, NULL) != HPCW_OK) {
        return;
    }
    const size_t size = (size_t)read_source_size(source);
    char *text = stats_alloc(size + 1, 1);
    if (read_source_read(source, 0, text, size, "text", NULL) == HPCW_OK) {
        d->truth = cJSON_Parse(text);
    }
    free(text);
    read_source_free(source);
}

/* The order matters: the LinkTest result has the hosts of the ranks, the log is compared with the load data, and
 * the checkpoints and particles are compared with both. */
static const struct part {
    const char *option, *path;
    hpcw_status (*figures)(const char *path, struct dataset *d, hpcw_error *err);
} parts[] = {
    {"--links", "linktest/pingpong_results_bin.sion", figures_links},
    {"--load", "vom", figures_load},
    {"--log", "clog2/app.clog2", figures_log},
    {"--checkpoints", "scr", figures_checkpoints},
    {"--particles", "sion/particles.sion", figures_particles},
};
enum { PARTS = sizeof parts / sizeof parts[0] };

static hpcw_status of_dataset(const char *directory, struct dataset *d, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    read_truth(directory, d);
    for (size_t i = 0; s == HPCW_OK && i < PARTS; i++) {
        char path[DATASET_PATH];
        (void)snprintf(path, sizeof path, "%s/%s", directory, parts[i].path);
        if (exists(path)) {
            s = parts[i].figures(path, d, err);
        }
    }
    if (s == HPCW_OK && d->truth != NULL) {
        figures_truth(directory, d);
    }
    return s;
}

static hpcw_status run(int argc, char **argv, struct dataset *d, hpcw_error *err) {
    if (strcmp(argv[1], "--curve") == 0 && argc > 3) {
        return figures_curve(argv[2], (const char *const *)argv + 3, (size_t)argc - 3, err);
    }
    static const struct {
        const char *option;
        hpcw_status (*figures)(const char *path, hpcw_error *err);
    } alone[] = {{"--bisection", figures_bisection},
                 {"--wave", figures_wave},
                 {"--noise", figures_noise},
                 {"--across", figures_across}};
    for (size_t i = 0; i < sizeof alone / sizeof alone[0] && argc == 3; i++) {
        if (strcmp(argv[1], alone[i].option) == 0) {
            return alone[i].figures(argv[2], err);
        }
    }
    for (size_t i = 0; i < PARTS && argc == 3; i++) {
        if (strcmp(argv[1], parts[i].option) == 0) {
            return parts[i].figures(argv[2], d, err);
        }
    }
    return of_dataset(argv[1], d, err);
}

static void free_dataset(struct dataset *d) {
    cJSON_Delete(d->truth);
    hpcw_i_table_free(&d->flows);
    void *const all[] = {d->host,       d->switch_first, d->in_sample,        d->rank_time,    d->switch_of,
                         d->group_of,   d->switch_time,  d->switch_ranks,     d->rank_load,    d->phase_load,
                         d->fixed_load, d->interrupted,  d->checkpoint_bytes, d->clock_offset, d->clock_change};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        free(all[i]);
    }
}

int main(int argc, char **argv) {
    struct dataset d = {.flows = {.key_words = 2, .value_size = sizeof(struct dataset_flow)}};
    struct hpcw_i_buf buf = {0};
    hpcw_error err = {.message = ""};
    if (argc < 2) {
        (void)fprintf(stderr, "usage: figures DIR | --links|--load|--log|--checkpoints|--particles PATH | "
                              "--curve NAME FILE... | --bisection|--wave|--noise|--across FILE\n");
        return 2;
    }
    hpcw_i_json_open_buf(&json, &buf, &(struct hpcw_i_json_options){.indent = true, .replace_bad_utf8 = true});
    hpcw_i_json_begin_array(&json);
    hpcw_status s = run(argc, argv, &d, &err);
    hpcw_i_json_end_array(&json);
    const hpcw_status ended = hpcw_i_json_finish(&json, s == HPCW_OK ? &err : NULL);
    s = s == HPCW_OK ? ended : s;
    if (s == HPCW_OK) {
        (void)fwrite(buf.data, 1, buf.size, stdout);
    } else {
        (void)fprintf(stderr, "figures: %s\n", err.message);
    }
    hpcw_i_buf_free(&buf);
    free_dataset(&d);
    return s == HPCW_OK ? 0 : 1;
}
