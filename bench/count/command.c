/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/count/command.h"

#include <inttypes.h>
#include <stdio.h>

#include <hpcw/version.h>

#include "bench/count/sharing.h"
#include "bench/measure/json.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "ui/cli/text.h"

/* Number of layouts that can be counted, and number counted by default. HDF5 is not counted by default: ranks touch
 * as many blocks as in BENCH_SHARED_POSIX. */
enum { COUNTED = BENCH_HDF5_COLLECTIVE + 1, USUAL = BENCH_HDF5_INDEPENDENT };

static const uint64_t otherwise_rank_bytes = 100000000;

static hpcw_status only_one(const struct ui_sizes *sizes, const char *option, uint64_t otherwise,
                            uint64_t *value, hpcw_error *err) {
    *value = sizes->count == 0 ? otherwise : sizes->at[0];
    return sizes->count <= 1 ? HPCW_OK
                             : hpcw_i_fail(err, HPCW_EINVAL, "%s: expected one value for a model, got %zu",
                                           option, sizes->count);
}

static double share_of(uint64_t part, uint64_t whole) {
    return whole == 0 ? 0 : (double)part / (double)whole;
}

/* ---- output ---- */

enum { HOSTS_COLUMN = 4 };

static void begin_table(struct ui_table *t, bool hosts) {
    static const char *const title[] = {"layout",   "block",           "blocks",           "shared",
                                        "by hosts", "bytes in shared", "ranks that share", "pairs",
                                        "most",     "metadata",        "with data",        "unused"};
    for (size_t i = 0; i < sizeof title / sizeof title[0]; i++) {
        if (hosts || i != HOSTS_COLUMN) {
            ui_table_column(t, title[i], i == 0 ? UI_LEFT : UI_RIGHT);
        }
    }
}

static void add_row(struct ui_table *t, const struct bench_geometry *g, const struct bench_sharing *c) {
    char text[UI_TEXT_SIZE];
    ui_table_cell(t, "%s", bench_layout_name[g->layout]);
    ui_table_cell(t, "%s", ui_text_size(text, g->fs_block));
    ui_table_cell(t, "%" PRIu64, c->blocks);
    ui_table_cell(t, "%" PRIu64, c->shared_blocks);
    if (g->owner != NULL) {
        ui_table_cell(t, "%" PRIu64, c->owner_blocks);
    }
    ui_table_cell(t, "%.4g %%", 100 * share_of(c->shared_bytes, c->bytes));
    ui_table_cell(t, "%u", c->ranks);
    ui_table_cell(t, "%u", c->pairs);
    ui_table_cell(t, "%u", c->largest);
    ui_table_cell(t, "%" PRIu64, c->meta_blocks);
    ui_table_cell(t, "%" PRIu64, c->mixed_blocks);
    ui_table_cell(t, "%s", ui_text_bytes_binary(text, c->unused_bytes));
}

static void put_row(struct hpcw_i_json *j, const struct bench_geometry *g, const struct bench_sharing *c) {
    hpcw_i_json_flat_object(j);
    hpcw_i_json_put_str(j, "layout", bench_layout_name[g->layout]);
    hpcw_i_json_put_u64(j, "fs_block", g->fs_block);
    if (g->layout <= BENCH_SION_SHIFTED) {
        hpcw_i_json_put_u64(j, "container_block", g->container_block);
        hpcw_i_json_put_u64(j, "chunk_bytes", g->chunk_bytes == 0 ? g->rank_bytes : g->chunk_bytes);
        hpcw_i_json_put_u64(j, "shift", bench_layout_shift(g->layout, g->container_block));
    }
    hpcw_i_json_put_u64(j, "blocks", c->blocks);
    hpcw_i_json_put_u64(j, "data_blocks", c->data_blocks);
    hpcw_i_json_put_u64(j, "shared_blocks", c->shared_blocks);
    if (g->owner != NULL) {
        hpcw_i_json_put_u64(j, "blocks_shared_by_hosts", c->owner_blocks);
    }
    hpcw_i_json_put_u64(j, "most_ranks_in_a_block", c->largest);
    hpcw_i_json_put_u64(j, "ranks_that_share", c->ranks);
    hpcw_i_json_put_u64(j, "pairs_that_share", c->pairs);
    hpcw_i_json_put_u64(j, "bytes", c->bytes);
    hpcw_i_json_put_u64(j, "shared_bytes", c->shared_bytes);
    hpcw_i_json_put_f64(j, "shared_share", share_of(c->shared_bytes, c->bytes));
    hpcw_i_json_put_u64(j, "metadata_blocks", c->meta_blocks);
    hpcw_i_json_put_u64(j, "mixed_blocks", c->mixed_blocks);
    hpcw_i_json_put_u64(j, "metadata_bytes", c->meta_bytes);
    hpcw_i_json_put_u64(j, "unused_bytes", c->unused_bytes);
    hpcw_i_json_end_object(j);
}

static void put_head(struct hpcw_i_json *j, const struct bench_geometry *g) {
    hpcw_i_json_put_str(j, "format", "hpcw-bench model");
    hpcw_i_json_put_u64(j, "version", 1);
    hpcw_i_json_put_bool(j, "counted_not_measured", true);
    hpcw_i_json_put_str(j, "hpcw", hpcw_version());
    hpcw_i_json_put_u64(j, "ranks", g->ranks);
    hpcw_i_json_put_u64(j, "rank_bytes", g->rank_bytes);
    hpcw_i_json_put_u64(j, "record_bytes", g->record_bytes);
    hpcw_i_json_put_u64(j, "files", g->files);
    hpcw_i_json_key_array(j, "layouts");
}

static void print_head(const struct bench_geometry *g) {
    char text[UI_TEXT_SIZE];
    const uint64_t bytes = g->rank_bytes;
    const bool typed = bytes >= 1024 && (bytes & (bytes - 1)) == 0; /* print "1M", not "1.0 MB" */
    (void)printf(
        "Counted from the layouts, not measured: blocks of a file system that hold bytes of several ranks.\n"
        "%u ranks, %s each\n\n",
        g->ranks, typed ? ui_text_size(text, bytes) : ui_text_bytes(text, bytes));
}

static hpcw_status print_table(const struct ui_table *t, bool hosts, hpcw_error *err) {
    hpcw_status s = ui_table_print(t, stdout, 0, err);
    if (s == HPCW_OK) {
        (void)printf(
            "\nshared: of two or more ranks; pairs: of neighbours (r, r + 1) that share a block; most: ranks "
            "in "
            "one block;\nmetadata: blocks with metadata of a container, with data: of these, such that also "
            "hold data; unused: bytes of\nall blocks that hold nothing.\n%s",
            hosts ? "by hosts: of ranks on two or more hosts, if a host has neighbouring ranks.\n" : "");
    }
    return s;
}

hpcw_status bench_model(const struct bench_options *o, hpcw_error *err) {
    struct ui_table table = {0};
    struct bench_json io;
    uint64_t files;
    struct bench_geometry g = {
        .ranks = o->ranks,
        .rank_bytes = o->per_rank == 0 ? otherwise_rank_bytes : o->per_rank,
        .chunk_bytes = o->model.chunk_bytes,
    };
    hpcw_status s = only_one(&o->records, "--record", 0, &g.record_bytes, err);
    if (s == HPCW_OK) {
        s = only_one(&o->files, "--files", 1, &files, err);
    }
    if (s == HPCW_OK && o->layouts != 0 && (o->layouts & ((UINT64_C(1) << COUNTED) - 1)) == 0) {
        s = hpcw_i_fail(err, HPCW_EINVAL, "--layout: expected one that can be counted, got only real formats");
    }
    if (s != HPCW_OK) {
        return s;
    }
    uint32_t *host = NULL;
    if (o->model.ranks_per_host != 0) {
        g.owner = host = hpcw_i_malloc((size_t)g.ranks * sizeof *host);
        if (host == NULL) {
            return hpcw_i_fail_memory(err, NULL, g.ranks, "ranks");
        }
        for (uint32_t r = 0; r < g.ranks; r++) {
            host[r] = r / o->model.ranks_per_host;
        }
    }
    g.files = files > UINT32_MAX ? UINT32_MAX : (uint32_t)files;
    if (o->json) {
        s = bench_json_create(&io, NULL, NULL, err);
        if (s != HPCW_OK) {
            hpcw_i_free(host);
            return s;
        }
        put_head(&io.out, &g);
    }
    begin_table(&table, host != NULL);
    for (size_t i = 0; s == HPCW_OK && i < o->block_sizes.count; i++) {
        for (int layout = 0; s == HPCW_OK && layout < COUNTED; layout++) {
            if (o->layouts == 0 ? layout >= USUAL : (o->layouts >> layout & 1) == 0) {
                continue;
            }
            struct bench_sharing c;
            g.layout = (enum bench_layout)layout;
            g.fs_block = o->block_sizes.at[i];
            g.container_block = o->model.container_block == 0 ? g.fs_block : o->model.container_block;
            s = bench_sharing_count(&g, &c, err);
            if (s == HPCW_OK) {
                add_row(&table, &g, &c);
            }
            if (s == HPCW_OK && o->json) {
                put_row(&io.out, &g, &c);
            }
        }
    }
    if (o->json) {
        hpcw_i_json_end_array(&io.out);
        s = bench_json_close(&io, s, err);
    }
    if (s == HPCW_OK && !o->json && !o->quiet) {
        print_head(&g);
        s = print_table(&table, host != NULL, err);
    }
    ui_table_free(&table);
    hpcw_i_free(host);
    return s;
}
