/* SPDX-License-Identifier: BSD-3-Clause */
/* plan: prints what generate would write. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gen/cli/commands.h"
#include "gen/dataset/directory/description.h"
#include "gen/dataset/directory/directory.h"
#include "gen/dataset/directory/room.h"
#include "gen/dataset/generate.h"
#include "gen/spec/pool.h"
#include "libwriter/base/status.h"
#include "ui/cli/text.h"

enum { FILES_SHOWN = 16 };

/* Memory for the size and digest of one file at the end of a run, in bytes. */
enum { UNIT_MEMORY = 24 };

/* Time of one core to copy a byte into the page cache, in nanoseconds. It comes on top of the time to compute
 * the data. */
#define WRITE_NS 0.5

/* Speed of the disk that a remark of the plan assumes, in bytes per second. */
#define DISK_RATE 500e6

struct format_plan {
    struct gen_size size;
    uint64_t writing; /* memory while this format is written */
    uint64_t ending;  /* bytes of this format's results, which stay in memory until the run ends */
    double seconds;
};

static hpcw_status plan_format(const struct gen_cli_options *o, const struct gen_dataset *d, size_t f,
                               struct format_plan *p, hpcw_error *err) {
    const struct gen_format *format = gen_format[f];
    const uint64_t units = format->units(d);
    *p = (struct format_plan){0};
    hpcw_status s = gen_size_add(d, f, gen_part_of(d, f, o->part.index, o->part.count), &p->size, err);
    if (s == HPCW_OK && p->size.files > 0) {
        p->writing = format->memory(d, o->jobs);
        /* With --part, `hpcgen join` does the work at the end, so this run needs no memory for it. */
        p->ending = o->part.count > 1                ? 0
                    : format->partial_memory == NULL ? units * UNIT_MEMORY
                                                     : units * UNIT_MEMORY + format->partial_memory(d);
        p->seconds = (format->seconds(d) * (double)p->size.files / (double)units +
                      (double)p->size.allocated * WRITE_NS * 1e-9) /
                     o->jobs;
    }
    return s;
}

static bool has(const struct gen_dataset *d, size_t f) {
    return (d->formats >> f & 1) != 0;
}

static hpcw_status plan_text(const struct gen_cli_options *o, const struct gen_dataset *d, hpcw_error *err) {
    struct ui_table table = {0};
    ui_table_column(&table, "format", UI_LEFT);
    ui_table_column(&table, "files", UI_RIGHT);
    ui_table_column(&table, "apparent", UI_RIGHT);
    ui_table_column(&table, "stored", UI_RIGHT);
    ui_table_column(&table, "memory", UI_RIGHT);
    ui_table_column(&table, "time", UI_RIGHT);
    struct format_plan total = {0};
    hpcw_status s = HPCW_OK;
    for (size_t f = 0; s == HPCW_OK && f <= gen_format_count; f++) {
        struct format_plan p = total;
        if (f < gen_format_count) {
            if (!has(d, f)) {
                continue;
            }
            s = plan_format(o, d, f, &p, err);
            total.size.files += p.size.files;
            total.size.apparent += p.size.apparent;
            total.size.allocated += p.size.allocated;
            total.seconds += p.seconds;
            total.writing = p.writing > total.writing ? p.writing : total.writing;
            total.ending += p.ending;
        }
        char text[UI_TEXT_SIZE];
        ui_table_cell(&table, "%s", f < gen_format_count ? gen_format[f]->name : "all");
        ui_table_cell(&table, "%" PRIu64, p.size.files);
        ui_table_cell(&table, "%s", ui_text_bytes(text, p.size.apparent));
        ui_table_cell(&table, "%s", ui_text_bytes(text, p.size.allocated));
        ui_table_cell(&table, "%s", ui_text_bytes(text, p.writing + p.ending));
        ui_table_cell(&table, "~%s", ui_text_duration(text, p.seconds));
    }
    if (s == HPCW_OK) {
        (void)printf("%u ranks, seed %" PRIu64 ", preset %s, scale %s, block size %u", d->ranks, d->seed,
                     d->preset, gen_scale_name[d->scale], d->block_size);
        if (o->part.count > 1) {
            (void)printf(", part %u of %u", o->part.index + 1, o->part.count);
        }
        (void)printf("; %u threads\n", o->jobs);
        s = ui_table_print(&table, stdout, 2, err);
        char text[UI_TEXT_SIZE];
        (void)printf(
            "\n  The time is that of the processors. A disk of 500 MB/s takes %s for what is stored.\n",
            ui_text_duration(text, (double)total.size.allocated / DISK_RATE));
        if (d->workload != NULL) {
            (void)printf("  Workload: %s; phases: %u; checkpoints: %u.\n", d->workload->name,
                         d->load_params.phases, d->ckpt_params.checkpoints);
        }
    }
    ui_table_free(&table);
    return s;
}

/* Prints the files of this part and the sizes of all parts. */
static hpcw_status plan_files(const struct gen_cli_options *o, const struct gen_dataset *d, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    (void)printf("\n");
    for (size_t f = 0; s == HPCW_OK && f < gen_format_count; f++) {
        struct gen_slice units = gen_part_of(d, f, o->part.index, o->part.count);
        for (uint64_t k = units.begin; s == HPCW_OK && k < units.end; k++) {
            struct gen_unit u;
            char apparent[UI_TEXT_SIZE];
            char stored[UI_TEXT_SIZE];
            if (k == units.begin + FILES_SHOWN) {
                (void)printf("  ... and %" PRIu64 " more\n", units.end - k);
                break;
            }
            s = gen_format[f]->unit(d, k, &u, err);
            if (s == HPCW_OK) {
                (void)printf("  %-44s %10s apparent, %10s stored\n", u.path,
                             ui_text_bytes(apparent, u.apparent), ui_text_bytes(stored, u.allocated));
            }
        }
    }
    if (s == HPCW_OK && o->part.count > 1) {
        (void)printf("\nbytes stored by each part:\n");
        for (uint32_t p = 0; s == HPCW_OK && p < o->part.count; p++) {
            struct gen_size size;
            char text[UI_TEXT_SIZE];
            if (p == FILES_SHOWN) {
                (void)printf("  ... and %u more\n", o->part.count - p);
                break;
            }
            s = gen_part_size(d, p, o->part.count, &size, err);
            if (s == HPCW_OK) {
                (void)printf("  part %u/%u: %" PRIu64 " files, %s\n", p + 1, o->part.count, size.files,
                             ui_text_bytes(text, size.allocated));
            }
        }
    }
    return s;
}

static hpcw_status plan_json(const struct gen_cli_options *o, const struct gen_dataset *d, hpcw_error *err) {
    struct gen_cli_result r;
    struct hpcw_i_json *json = &r.json;
    hpcw_status s = HPCW_OK;
    gen_cli_result_begin(&r, true);
    hpcw_i_json_key_object(json, "parameters");
    gen_dataset_json(d, json);
    hpcw_i_json_end_object(json);
    hpcw_i_json_put_u64(json, "part", o->part.index + (uint64_t)1);
    hpcw_i_json_put_u64(json, "parts", o->part.count);
    hpcw_i_json_put_u64(json, "jobs", o->jobs);
    hpcw_i_json_key_array(json, "formats");
    for (size_t f = 0; s == HPCW_OK && f < gen_format_count; f++) {
        struct format_plan p;
        struct gen_slice units = gen_part_of(d, f, o->part.index, o->part.count);
        if (!has(d, f)) {
            continue;
        }
        s = plan_format(o, d, f, &p, err);
        hpcw_i_json_begin_object(json);
        hpcw_i_json_put_str(json, "name", gen_format[f]->name);
        hpcw_i_json_put_u64(json, "apparent_bytes", p.size.apparent);
        hpcw_i_json_put_u64(json, "allocated_bytes", p.size.allocated);
        hpcw_i_json_put_u64(json, "memory_bytes", p.writing + p.ending);
        hpcw_i_json_put_f64(json, "seconds", p.seconds);
        hpcw_i_json_key_array(json, "files");
        for (uint64_t k = units.begin; s == HPCW_OK && k < units.end; k++) {
            struct gen_unit u;
            s = gen_format[f]->unit(d, k, &u, err);
            hpcw_i_json_flat_object(json);
            hpcw_i_json_put_str(json, "path", u.path);
            hpcw_i_json_put_u64(json, "apparent_bytes", u.apparent);
            hpcw_i_json_put_u64(json, "allocated_bytes", u.allocated);
            hpcw_i_json_end_object(json);
        }
        hpcw_i_json_end_array(json);
        hpcw_i_json_end_object(json);
    }
    hpcw_i_json_end_array(json);
    return gen_cli_result_print(&r, s, err);
}

/* Warns if the disk of --out has too little space, with the message of `generate`. With --resume or --force
 * nothing is printed, as it is not known how many bytes would be kept or removed. */
static void warn_of_room(const struct gen_cli_options *o, const struct gen_dataset *d, hpcw_comm *comm) {
    const struct gen_run run = {.dataset = d,
                                .directory = o->out,
                                .comm = comm,
                                .part = o->part.index,
                                .parts = o->part.count,
                                .checksums = o->checksums};
    struct gen_needs needs = {.missing = d->formats};
    hpcw_error e, room;
    if (o->out[0] != '\0' && !o->resume && !o->force && gen_needs_add_up(&run, &needs, &e) == HPCW_OK &&
        gen_room_on_disk(&run, &needs, NULL, &e) == HPCW_ENOSPC) {
        (void)fprintf(stderr, "hpcgen: %s\n", gen_cli_printable(e.message, &room));
    }
}

hpcw_status gen_cli_plan(const struct gen_cli_options *o, hpcw_comm *comm, hpcw_error *err) {
    struct gen_dataset d = {0};
    hpcw_status s = gen_cli_resolve(o, false, &d, err);
    if (s == HPCW_OK && hpcw_comm_process(comm) == 0) {
        if (o->json) {
            s = plan_json(o, &d, err);
        } else {
            s = plan_text(o, &d, err);
            if (s == HPCW_OK) {
                s = plan_files(o, &d, err);
            }
        }
        warn_of_room(o, &d, comm);
    }
    gen_dataset_free(&d);
    return s;
}
