/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/export/rewrite/vom.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <hpcw/vom_read.h>

#include "gen/export/folder.h"
#include "gen/export/phases.h"
#include "gen/export/text.h"
#include "libreader/source.h"
#include "libreader/vom/public.h"
#include "libreader/vom/set/set.h"
#include "libreader/vom/vom.h"
#include "libwriter/base/array.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sink.h"
#include "libwriter/io/sys.h"

/* ANYTHING: makes the writer accept all data that readers accept, as such data must be written again. */
enum {
    ANYTHING = HPCW_VOM_ALLOW_SEQ_IDS | HPCW_VOM_ALLOW_PHASE_VALUES | HPCW_VOM_ALLOW_TEXT_VALUES |
               HPCW_VOM_ALLOW_FOREIGN_EDGES | HPCW_VOM_ALLOW_UNEVEN_SUBPHASES | HPCW_VOM_ALLOW_GAPS |
               HPCW_VOM_ALLOW_TASKS_FIRST,
    MOST_RANKS = 32768
};

struct ids {
    uint64_t *id;
    size_t count, capacity;
};

struct vom_rewrite {
    const struct gen_rewrite *what;
    const char *to;
    hpcw_vom *writer; /* NULL: nothing written so far */
    hpcw_vom_options options;
    uint32_t ranks; /* ranks of the job, as far as known */
    struct gen_rewritten done;
    /* ids from the first pass: the writer needs them before the records, and vt puts them after the edges */
    struct ids phases, iterations;
    struct gen_phases all; /* kept phases of the first file, to compare other files with it */
    size_t next_iteration;
    bool keep; /* whether the current phase is kept */
    /* error of the writer; it is more specific than the error of a reader whose callback failed */
    hpcw_error *err;
};

/* ---- the first pass: ids ---- */

static hpcw_status add_id(struct vom_rewrite *x, struct ids *ids, uint64_t id) {
    uint64_t *grown = hpcw_i_grow(ids->id, &ids->capacity, ids->count + 1, sizeof *grown);
    if (grown == NULL) {
        return gen_export_no_memory(x->err);
    }
    ids->id = grown;
    ids->id[ids->count++] = id;
    return HPCW_OK;
}

static hpcw_status keep_phase(void *context, const hpcw_vom_section *phase) {
    struct vom_rewrite *x = context;
    return add_id(x, &x->phases, phase->id);
}

static hpcw_status keep_iteration(void *context, const hpcw_vom_section *iteration) {
    struct vom_rewrite *x = context;
    return add_id(x, &x->iterations, iteration->id);
}

static hpcw_status see_iteration(void *context, uint64_t number) {
    (void)context;
    (void)number;
    return HPCW_OK;
}

/* ---- the second pass: records ---- */

static bool is_kept(const struct gen_rewrite *what, uint64_t phase) {
    return phase >= what->first_phase && phase <= what->last_phase;
}

/* Returns the number of kept phases with data; their ids are ascending. */
static size_t kept_phases(const struct vom_rewrite *x, const uint64_t **id) {
    size_t i = 0, count = 0;
    while (i < x->phases.count && x->phases.id[i] < x->what->first_phase) {
        i++;
    }
    while (i + count < x->phases.count && is_kept(x->what, x->phases.id[i + count])) {
        count++;
    }
    *id = x->phases.id + i;
    return count;
}

/* Returns the first kept phase with data; UINT64_MAX: none. */
static uint64_t first_kept(const struct vom_rewrite *x) {
    const uint64_t *id;
    return kept_phases(x, &id) > 0 ? id[0] : UINT64_MAX;
}

/* Intersects ranges with first .. last, and stores those that are not empty in `out` [count]. Returns their
 * number. */
static size_t cut(const hpcw_vom_range *range, size_t count, uint64_t first, uint64_t last,
                  hpcw_vom_range *out) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const hpcw_vom_range r = {.first = range[i].first > first ? range[i].first : first,
                                  .last = range[i].last < last ? range[i].last : last};
        if (r.first <= r.last) {
            out[kept++] = r;
        }
    }
    return kept;
}

/* Opens the writer, which copies its arguments. */
static hpcw_status open_writer(struct vom_rewrite *x, const hpcw_vom_metadata *m) {
    const struct gen_rewrite *what = x->what;
    hpcw_vom_options *o = &x->options;
    const uint64_t first = first_kept(x);
    hpcw_vom_range *lists = hpcw_i_calloc(m->skipped_count + m->identical_count + 1, sizeof *lists);
    if (lists == NULL) {
        return gen_export_no_memory(x->err);
    }
    o->skipped = lists;
    o->skipped_count = cut(m->skipped, m->skipped_count, what->first_phase, what->last_phase, lists);
    /* Each identical phase repeats an earlier phase, so the first kept phase cannot be identical. */
    o->identical = lists + m->skipped_count;
    o->identical_count = first == UINT64_MAX ? 0
                                             : cut(m->identical, m->identical_count, first + 1,
                                                   what->last_phase, lists + m->skipped_count);
    o->phase_count = m->phase_count > what->last_phase ? what->last_phase + 1 : m->phase_count;
    o->node = m->node.size != 0 ? m->node : hpcw_vom_node_of(x->ranks, 1, o->rank);
    o->attributes = m->attributes;
    o->attribute_count = m->attribute_count;
    o->has_rank_alpha = m->has_rank_alpha;
    o->rank_alpha = m->rank_alpha;
    hpcw_status s = hpcw_vom_open(x->to, o, &x->writer, x->err);
    hpcw_i_free(lists);
    return s;
}

static hpcw_status put_metadata(void *context, const hpcw_vom_metadata *m) {
    struct vom_rewrite *x = context;
    return x->writer == NULL
               ? open_writer(x, m)
               : hpcw_i_fail(x->err, HPCW_ENOTSUP,
                             "%s: expected metadata before the phases, got them in another order", x->to);
}

static hpcw_status begin_phase(void *context, uint64_t number) {
    struct vom_rewrite *x = context;
    const uint64_t id = x->phases.id[number];
    const hpcw_vom_metadata none = {.has_rank = false};
    hpcw_status s = x->writer == NULL ? open_writer(x, &none) : HPCW_OK;
    x->keep = is_kept(x->what, id);
    x->done.count += x->keep;
    return s == HPCW_OK && x->keep ? hpcw_vom_begin_phase(x->writer, id, x->err) : s;
}

static hpcw_status end_phase(void *context, const hpcw_vom_section *phase) {
    struct vom_rewrite *x = context;
    return x->keep ? hpcw_vom_end_phase(x->writer, phase->values, phase->value_count, x->err) : HPCW_OK;
}

static hpcw_status begin_iteration(void *context, uint64_t number) {
    struct vom_rewrite *x = context;
    const uint64_t id = x->iterations.id[x->next_iteration++];
    (void)number;
    return x->keep ? hpcw_vom_begin_iteration(x->writer, id, x->err) : HPCW_OK;
}

static hpcw_status end_iteration(void *context, const hpcw_vom_section *iteration) {
    struct vom_rewrite *x = context;
    return x->keep ? hpcw_vom_end_iteration(x->writer, iteration->values, iteration->value_count, x->err)
                   : HPCW_OK;
}

static hpcw_status put_edge(void *context, const hpcw_vom_edge *edge) {
    struct vom_rewrite *x = context;
    return x->keep ? hpcw_vom_edge_add(x->writer, edge, x->err) : HPCW_OK;
}

static hpcw_status put_task(void *context, const hpcw_vom_task *task) {
    struct vom_rewrite *x = context;
    return x->keep ? hpcw_vom_task_add(x->writer, task, x->err) : HPCW_OK;
}

/* ---- files ---- */

static hpcw_status pass(struct vom_rewrite *x, const char *from, uint32_t rank, const hpcw_vom_watch *watch,
                        hpcw_vom_info *info) {
    hpcw_vom_reader *r;
    struct read_source *source;
    hpcw_error of_reader = {.code = HPCW_OK};
    hpcw_status s = read_source_open(from, &source, x->err);
    s = s == HPCW_OK ? read_vom_publish(source, rank, READ_VOM_LENIENT, &r, x->err) : s;
    if (s != HPCW_OK) {
        return s;
    }
    s = hpcw_vom_reader_watch(r, UINT64_MAX, watch, &of_reader);
    if (s != HPCW_OK && x->err->code == HPCW_OK) {
        *x->err = of_reader;
    }
    *info = *hpcw_vom_reader_info(r);
    read_vom_warn(r->r, &x->done.warning);
    hpcw_vom_reader_free(r);
    return s;
}

/* Reads `from` twice and writes `to`. `held`: the open input, which `from` must still name at the end. `below`:
 * the open directory of `to`; NULL: `to` is a path. */
static hpcw_status rewrite_passes(struct vom_rewrite *x, const struct read_source *held, const char *from,
                                  uint32_t rank, const char *to, const struct hpcw_i_sink_below *below) {
    static const hpcw_vom_content content[] = {[GEN_REWRITE_AUTO] = HPCW_VOM_BY_NAME,
                                               [GEN_REWRITE_PLAIN] = HPCW_VOM_PLAIN,
                                               [GEN_REWRITE_BROTLI] = HPCW_VOM_BROTLI,
                                               [GEN_REWRITE_LBAF] = HPCW_VOM_BROTLI};
    const hpcw_vom_watch ids = {.context = x,
                                .end_phase = keep_phase,
                                .begin_iteration = see_iteration,
                                .end_iteration = keep_iteration};
    const hpcw_vom_watch all = {.context = x,
                                .metadata = put_metadata,
                                .begin_phase = begin_phase,
                                .edge = put_edge,
                                .task = put_task,
                                .end_phase = end_phase,
                                .begin_iteration = begin_iteration,
                                .end_iteration = end_iteration};
    hpcw_vom_info info;
    x->to = to;
    x->phases.count = x->iterations.count = x->next_iteration = 0;
    hpcw_status s = pass(x, from, rank, &ids, &info);
    if (s == HPCW_OK && !info.has_rank) {
        s = hpcw_i_fail(x->err, HPCW_EFORMAT,
                        "%s: expected the rank of the file in it, got neither it nor a task", from);
    }
    if (s == HPCW_OK) {
        const uint64_t *id;
        const size_t count = kept_phases(x, &id);
        s = gen_phases_add(&x->all, from, info.rank, id, count, &x->done.warning, x->err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    hpcw_vom_options_init(&x->options);
    if (below != NULL) {
        x->options.sink_source = hpcw_i_sink_below_source(below);
    }
    x->options.rank = info.rank;
    x->options.ranks = MOST_RANKS;
    x->options.allow = ANYTHING;
    x->options.content = content[x->what->form];
    x->options.durability = x->what->sync ? HPCW_SYNC_DIRECTORY : HPCW_SYNC_NONE;
    x->ranks = x->ranks > info.rank ? x->ranks : info.rank + 1;
    s = pass(x, from, rank, &all, &info);
    if (s == HPCW_OK && x->writer == NULL) { /* the file has no metadata and no phase */
        s = open_writer(x, &(hpcw_vom_metadata){.has_rank = false});
    }
    s = s == HPCW_OK ? read_source_check(held, AT_FDCWD, from, x->err) : s;
    s = s == HPCW_OK ? hpcw_vom_close(x->writer, x->err) : s;
    hpcw_vom_free(x->writer);
    x->writer = NULL;
    x->done.files += s == HPCW_OK;
    return s;
}

/* Rewrites a file in two passes. The file is held open meanwhile; fails if another file has taken its name.
 * `rank`: rank in the name of the file; READ_VOM_ANY_RANK: unknown. */
static hpcw_status rewrite_file(struct vom_rewrite *x, const char *from, uint32_t rank, const char *to,
                                const struct hpcw_i_sink_below *below) {
    struct read_source *held;
    hpcw_status s = read_source_open(from, &held, x->err);
    if (s == HPCW_OK) {
        s = rewrite_passes(x, held, from, rank, to, below);
        read_source_free(held);
    }
    return s;
}

static hpcw_status rewrite_alone(struct vom_rewrite *x, const char *from, const char *to) {
    struct hpcw_i_entry entry;
    hpcw_status s = rewrite_file(x, from, READ_VOM_ANY_RANK, to, NULL);
    if (s != HPCW_OK) {
        return s;
    }
    int e = hpcw_i_sys_look(to, true, &entry);
    x->done.bytes = e == 0 ? entry.size : 0;
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(x->err, e, "%s: written, but cannot look at its size", to);
}

static hpcw_status rewrite_set(struct vom_rewrite *x, const char *from, const char *to) {
    struct read_vom_set set;
    struct gen_folder folder = {0};
    struct hpcw_i_buf path = {0};
    hpcw_status s = read_vom_set_open(from, false, &set, x->err);
    if (s != HPCW_OK) {
        return s;
    }
    if (x->what->first_rank >= set.ranks) {
        s = hpcw_i_fail(x->err, HPCW_EINVAL,
                        "%s: expected ranks of 0 to %" PRIu32 ", got %" PRIu32 " to %" PRIu32, from,
                        set.ranks - 1, x->what->first_rank, x->what->last_rank);
    }
    x->ranks = set.ranks;
    s = s == HPCW_OK ? gen_folder_open(&folder, to, x->err) : s;
    for (uint32_t r = x->what->first_rank; s == HPCW_OK && r < set.ranks && r <= x->what->last_rank; r++) {
        const bool br = x->what->form == GEN_REWRITE_AUTO || x->what->form == GEN_REWRITE_BROTLI;
        char name[64];
        (void)snprintf(name, sizeof name, "/data.%" PRIu32 ".json%s", r, br ? ".br" : "");
        path.size = 0;
        s = hpcw_i_buf_append_str(&path, folder.path) && hpcw_i_buf_append(&path, name, strlen(name) + 1)
                ? rewrite_file(x, read_vom_set_path(&set, r), r, (const char *)path.data, &folder.below)
                : gen_export_no_memory(x->err);
    }
    s = read_vom_set_check(&set, s, x->err);
    s = s == HPCW_OK ? gen_folder_publish(&folder, x->what->sync, &x->done.bytes, x->err) : s;
    gen_folder_close(&folder);
    hpcw_i_buf_free(&path);
    read_vom_set_close(&set);
    return s;
}

static hpcw_status run(const char *from, const char *to, const struct gen_rewrite *what,
                       struct gen_rewritten *done, hpcw_error *err) {
    struct vom_rewrite x = {.what = what, .done = {.items = "phases"}, .err = err};
    err->code = HPCW_OK;
    hpcw_status s;
    if (what->first_rank > what->last_rank || what->first_phase > what->last_phase) {
        s = hpcw_i_fail(err, HPCW_EINVAL,
                        "rewrite: expected ranges of ranks and phases, got ranks %" PRIu32 " to %" PRIu32
                        " and phases %" PRIu64 " to %" PRIu64,
                        what->first_rank, what->last_rank, what->first_phase, what->last_phase);
    } else {
        bool set;
        s = read_vom_is_set(from, &set, err);
        if (s == HPCW_OK) {
            s = set ? rewrite_set(&x, from, to) : rewrite_alone(&x, from, to);
        }
    }
    *done = x.done;
    hpcw_i_free(x.phases.id);
    hpcw_i_free(x.iterations.id);
    gen_phases_free(&x.all);
    return s;
}

const struct gen_rewriter gen_rewrite_vom = {
    .offer = {{GEN_REWRITE_PLAIN, GEN_REWRITE_BROTLI, GEN_REWRITE_LBAF},
              {"first-rank", "last-rank", "first-phase", "last-phase"}},
    .run = run};
