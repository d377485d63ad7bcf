/* SPDX-License-Identifier: BSD-3-Clause */
/* A dataset from open to close. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/format/rank2file/handle.h"
#include "libwriter/io/sys.h"

/* ---- open ---- */

static hpcw_status copy_texts(hpcw_rank2file *w, hpcw_error *err) {
    hpcw_rank2file_dataset *d = &w->options.dataset;
    const char **given[] = {&d->name, &d->flushed, &d->user, &d->job_id, &d->job_name, &d->cluster};
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        if (*given[i] != NULL) {
            w->text[i] = hpcw_i_strdup(*given[i]);
            if (w->text[i] == NULL) {
                return hpcw_i_fail_memory(err, w->prefix, 0, NULL);
            }
            *given[i] = w->text[i];
        }
    }
    return HPCW_OK;
}

/* Copies the borrowed arrays and texts. The caller has checked the options. */
static hpcw_status prepare(hpcw_rank2file *w, const char *prefix, const hpcw_rank2file_options *o,
                           hpcw_error *err) {
    w->options = *o;
    w->options.dataset.files = w->options.dataset.size = 0;
    w->prefix = hpcw_i_strdup(prefix);
    if (o->ranks != NULL) {
        w->own_ranks = hpcw_i_malloc((size_t)o->count * sizeof *w->own_ranks);
        if (w->own_ranks != NULL && o->count > 0) {
            memcpy(w->own_ranks, o->ranks, (size_t)o->count * sizeof *w->own_ranks);
        }
        w->options.ranks = w->own_ranks;
    }
    hpcw_rank2file_dataset_name(o, w->dataset);
    if (w->prefix == NULL || (o->ranks != NULL && w->own_ranks == NULL)) {
        return hpcw_i_fail_memory(err, prefix, o->count, "ranks");
    }
    return copy_texts(w, err);
}

/* Whether all processes mean the same, and the number of ranks. `w` may be NULL after a failure. */
static hpcw_status agree_on_options(hpcw_comm *comm, hpcw_rank2file *w, hpcw_status s, hpcw_error *err) {
    struct hpcw_rank2file none = {.dataset = ""};
    w = w == NULL ? &none : w;
    const hpcw_rank2file_options *o = &w->options;
    const hpcw_rank2file_dataset *d = &o->dataset;
    const struct hpcw_i_same same[] = {
        {.name = "prefix", .text = w->prefix},
        {.name = "layout", .number = o->layout, .words = "scr-1.1 scr-1.2 scr-3 shared"},
        {.name = "dataset.id", .number = d->id},
        {.name = "dataset.name", .text = w->dataset},
        {.name = "dataset.checkpoint", .number = d->checkpoint},
        {.name = "dataset.created_us", .number = d->created_us},
        {.name = "dataset.flushed", .text = d->flushed, .words = "none"},
        {.name = "dataset.user", .text = d->user, .words = "none"},
        {.name = "dataset.job_id", .text = d->job_id, .words = "none"},
        {.name = "dataset.job_name", .text = d->job_name, .words = "none"},
        {.name = "dataset.cluster", .text = d->cluster, .words = "none"},
        {.name = "leaf_ranks", .number = o->leaf_ranks},
        {.name = "leaf_bytes", .number = o->leaf_bytes},
        {.name = "durability", .number = o->durability, .words = "none file directory"},
        {.name = "sink_source", .number = o->sink_source.open != NULL, .words = "files own"},
    };
    uint64_t ranks = o->count;
    struct hpcw_i_words words = {.sums = 1, .word = &ranks};
    s = hpcw_i_agree_same(comm, s, w->prefix, same, sizeof same / sizeof same[0], &words, err);
    if (s == HPCW_OK && (ranks < 1 || ranks > HPCW_RANK2FILE_MAX_RANKS)) {
        s = hpcw_i_fail(err, HPCW_ERANGE, "%s: expected 1 to %u ranks on all processes together, got %" PRIu64,
                        w->prefix, HPCW_RANK2FILE_MAX_RANKS, ranks);
    }
    if (s == HPCW_OK) {
        w->ranks = (uint32_t)ranks;
    }
    return s;
}

/* Collective. Numbers of the ranks of this process. */
static hpcw_status place_ranks(hpcw_rank2file *w, hpcw_error *err) {
    uint64_t before = w->options.count;
    struct hpcw_i_words words = {.sums = 1, .word = &before};
    hpcw_status s = hpcw_i_comm_exscan(w->comm, &words, err);
    w->first = (uint32_t)before;
    uint32_t count = w->options.count;
    if (s == HPCW_OK && w->own_ranks != NULL && count > 0 && w->own_ranks[count - 1] >= w->ranks) {
        s = hpcw_i_fail(err, HPCW_EMISMATCH, "%s: expected ranks below their number %u, got %u", w->prefix,
                        w->ranks, w->own_ranks[count - 1]);
    }
    return hpcw_i_agree(w->comm, s, NULL, err);
}

static hpcw_status make_directory(const char *prefix, const char *name, hpcw_error *err) {
    char *path = hpcw_i_r2f_join(prefix, name);
    if (path == NULL) {
        return hpcw_i_fail_memory(err, prefix, 0, NULL);
    }
    int e = hpcw_i_sys_mkdir(path, 0777);
    hpcw_status s =
        e == 0 || e == EEXIST ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot make the directory", path);
    hpcw_i_free(path);
    return s;
}

/* Removes nodes that an unfinished attempt left: some readers take every node in the directory. */
static hpcw_status remove_nodes(const char *prefix, const char *directory, hpcw_error *err) {
    char *path = hpcw_i_r2f_join(prefix, directory);
    DIR *d = path == NULL ? NULL : opendir(path);
    hpcw_status s = path == NULL ? hpcw_i_fail_memory(err, prefix, 0, NULL) : HPCW_OK;
    if (path != NULL && d == NULL) {
        s = hpcw_i_fail_sys(err, errno, "%s: cannot open the directory", path);
    }
    struct dirent *entry;
    while (s == HPCW_OK && (entry = readdir(d)) != NULL) {
        if (strncmp(entry->d_name, "rank2file", 9) != 0) {
            continue;
        }
        char *node = hpcw_i_r2f_join(path, entry->d_name);
        int e = node == NULL ? ENOMEM : hpcw_i_sys_unlink(node);
        if (e != 0 && e != ENOENT) {
            s = hpcw_i_fail_sys(err, e, "%s/%s: cannot remove a node that an unfinished dataset left", path,
                                entry->d_name);
        }
        hpcw_i_free(node);
    }
    if (d != NULL) {
        (void)closedir(d);
    }
    hpcw_i_free(path);
    return s;
}

/* The existing index, or an empty tree. */
static hpcw_status read_index(const hpcw_rank2file *w, hpcw_kvtree **index, hpcw_error *err) {
    char *path = hpcw_i_r2f_join(w->prefix, HPCW_RANK2FILE_INDEX);
    if (path == NULL) {
        *index = NULL;
        return hpcw_i_fail_memory(err, w->prefix, 0, NULL);
    }
    hpcw_error mine = {.message = ""};
    hpcw_status s = hpcw_kvtree_read_file(path, index, &mine);
    if (s == HPCW_ENOENT) {
        s = hpcw_kvtree_new(index, err);
    } else if (s != HPCW_OK && err != NULL) {
        *err = mine;
    }
    if (s == HPCW_OK) {
        s = hpcw_rank2file_index_add(*index, &w->options, err);
        if (s != HPCW_OK) {
            hpcw_i_fail_about(err, path);
            hpcw_kvtree_free(*index);
            *index = NULL;
        }
    }
    hpcw_i_free(path);
    return s;
}

/* On process 0: changes nothing if the index refuses the dataset. */
static hpcw_status make_directories(const hpcw_rank2file *w, hpcw_error *err) {
    hpcw_kvtree *index;
    hpcw_status s = read_index(w, &index, err);
    if (s != HPCW_OK) {
        return s;
    }
    hpcw_kvtree_free(index);
    int e = hpcw_i_sys_mkdir(w->prefix, 0777);
    if (e != 0 && e != EEXIST) {
        return hpcw_i_fail_sys(err, e, "%s: cannot make the directory", w->prefix);
    }
    s = make_directory(w->prefix, ".scr", err);
    if (s == HPCW_OK) {
        s = make_directory(w->prefix, w->dataset, err);
    }
    for (uint32_t m = 0; s == HPCW_OK && m < hpcw_rank2file_layout_maps(w->options.layout); m++) {
        char directory[HPCW_RANK2FILE_PATH];
        hpcw_i_r2f_metadata(hpcw_i_r2f_kind_of(w->options.layout, m), w->options.dataset.id, w->dataset,
                            directory);
        s = make_directory(w->prefix, directory, err);
        if (s == HPCW_OK) {
            s = remove_nodes(w->prefix, directory, err);
        }
    }
    return s;
}

hpcw_status hpcw_rank2file_open(const char *prefix, hpcw_comm *comm, const hpcw_rank2file_options *options,
                                hpcw_rank2file **out, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    comm = hpcw_i_comm_or_self(comm);
    hpcw_rank2file *w = NULL;
    hpcw_status s = hpcw_rank2file_options_check(options, err);
    if (s == HPCW_OK && (prefix == NULL || *prefix == '\0' || out == NULL)) {
        s = hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected a prefix and a pointer for the handle, got %s",
                        prefix == NULL || out == NULL ? "NULL" : "an empty prefix");
    }
    if (out != NULL) {
        *out = NULL;
    }
    if (s == HPCW_OK) {
        w = hpcw_i_calloc(1, sizeof *w);
        if (w == NULL) {
            s = hpcw_i_fail_memory(err, prefix, 0, NULL);
        } else {
            (void)pthread_mutex_init(&w->lock, NULL);
            w->comm = comm;
            s = prepare(w, prefix, options, err);
        }
    }
    s = agree_on_options(comm, w, s, err);
    if (s == HPCW_OK) {
        s = place_ranks(w, err);
    }
    if (s == HPCW_OK) {
        s = comm->process == 0 ? make_directories(w, err) : HPCW_OK;
        s = hpcw_i_agree(comm, s, NULL, err);
    }
    if (s != HPCW_OK) {
        if (prefix != NULL && s != HPCW_EMISMATCH && s != HPCW_EINVAL) {
            hpcw_i_fail_about(err, prefix);
        }
        hpcw_rank2file_free(w);
        return s;
    }
    *out = w;
    return HPCW_OK;
}

void hpcw_rank2file_free(hpcw_rank2file *w) {
    if (w == NULL) {
        return;
    }
    for (size_t i = 0; i < sizeof w->text / sizeof w->text[0]; i++) {
        hpcw_i_free(w->text[i]);
    }
    hpcw_i_buf_free(&w->own);
    hpcw_i_buf_free(&w->names);
    hpcw_i_free(w->own_ranks);
    hpcw_i_free(w->prefix);
    (void)pthread_mutex_destroy(&w->lock);
    hpcw_i_free(w);
}

uint32_t hpcw_rank2file_ranks(const hpcw_rank2file *w) {
    return w == NULL ? 0 : w->ranks;
}

static uint32_t rank_at(const hpcw_rank2file *w, uint32_t index) {
    return w->own_ranks != NULL ? w->own_ranks[index] : w->first + index;
}

uint32_t hpcw_rank2file_first_rank(const hpcw_rank2file *w) {
    return w == NULL ? 0 : w->options.count == 0 ? w->ranks : rank_at(w, 0);
}

const hpcw_rank2file_dataset *hpcw_rank2file_dataset_of(const hpcw_rank2file *w) {
    return w == NULL ? NULL : &w->options.dataset;
}

/* ---- files ---- */

static uint32_t index_of(const hpcw_rank2file *w, uint32_t rank) {
    uint32_t count = w->options.count;
    if (w->own_ranks != NULL) {
        return hpcw_i_find_ascending(w->own_ranks, count, rank);
    }
    uint32_t i = rank - w->first; /* wraps to something large below the first */
    return i < count ? i : UINT32_MAX;
}

hpcw_status hpcw_i_r2f_check_file(const hpcw_rank2file *w, uint32_t rank, const char *name, hpcw_error *err) {
    if (w == NULL || name == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected an open dataset and a name, got NULL");
    }
    if (w->closed) {
        return hpcw_i_fail(err, HPCW_ESTATE, "%s: dataset %s is closed", w->prefix, w->dataset);
    }
    if (index_of(w, rank) == UINT32_MAX) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a rank of this process, got %u", w->prefix, rank);
    }
    const char *bad = hpcw_i_r2f_bad_name(name, strlen(name), HPCW_RANK2FILE_MAX_NAME - strlen(w->dataset) - 1);
    if (bad == NULL && strncmp(name, ".scr", 4) == 0 && (name[4] == '/' || name[4] == '\0')) {
        bad = "its directory is that of the metadata";
    }
    return bad == NULL
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EINVAL, "%s: rank %u, name \"%.200s\": %s", w->prefix, rank, name, bad);
}

hpcw_status hpcw_rank2file_add(hpcw_rank2file *w, uint32_t rank, const char *name, uint64_t size,
                               const uint32_t *crc, hpcw_error *err) {
    hpcw_status s = hpcw_i_r2f_check_file(w, rank, name, err);
    if (s != HPCW_OK) {
        return s;
    }
    struct hpcw_i_r2f_own own = {
        .size = size,
        .index = index_of(w, rank),
        .name_size = (uint32_t)strlen(name),
        .crc = crc == NULL ? 0 : *crc,
        .flags = HPCW_I_R2F_HAS_SIZE | (crc == NULL ? 0 : HPCW_I_R2F_HAS_CRC),
    };
    (void)pthread_mutex_lock(&w->lock);
    own.name_at = w->names.size;
    bool ok = hpcw_i_buf_reserve(&w->own, sizeof own) &&
              hpcw_i_buf_append(&w->names, name, own.name_size + 1) &&
              hpcw_i_buf_append(&w->own, &own, sizeof own);
    (void)pthread_mutex_unlock(&w->lock);
    return ok ? HPCW_OK : hpcw_i_fail_memory(err, w->prefix, 0, "a file");
}

void hpcw_rank2file_abandon(hpcw_rank2file *w, const hpcw_error *reason) {
    if (w != NULL && reason != NULL) {
        (void)pthread_mutex_lock(&w->lock);
        if (w->abandoned.code == HPCW_OK) {
            w->abandoned = *reason;
        }
        (void)pthread_mutex_unlock(&w->lock);
    }
}

/* ---- close ---- */

static int by_index_and_call(const void *a_, const void *b_) {
    const struct hpcw_i_r2f_own *a = a_;
    const struct hpcw_i_r2f_own *b = b_;
    return a->index != b->index ? (a->index < b->index ? -1 : 1) : a->name_at < b->name_at ? -1 : 1;
}

/* The files of this process as records, rank by rank, those of a rank in the order of the calls. */
static hpcw_status make_records(hpcw_rank2file *w, struct hpcw_i_buf *records, uint64_t sums[2],
                                hpcw_error *err) {
    struct hpcw_i_r2f_own *own = (struct hpcw_i_r2f_own *)(void *)w->own.data;
    size_t files = w->own.size / sizeof *own;
    size_t next = 0;
    bool ok = true;
    if (files > 0) {
        qsort(own, files, sizeof *own, by_index_and_call);
    }
    sums[0] = files;
    for (uint32_t r = 0; ok && r < w->options.count; r++) {
        size_t end = next;
        while (end < files && own[end].index == r) {
            end++;
        }
        ok = hpcw_i_r2f_put_rank_word(records, rank_at(w, r), (uint32_t)(end - next));
        for (; ok && next < end; next++) {
            const struct hpcw_i_r2f_own *o = &own[next];
            const struct hpcw_i_r2f_file f = {
                .size = o->size,
                .name = (const char *)w->names.data + o->name_at,
                .name_size = o->name_size,
                .crc = o->crc,
                .flags = o->flags,
            };
            sums[1] += o->size;
            ok = hpcw_i_r2f_put_file_words(records, &f);
        }
    }
    return ok ? HPCW_OK : hpcw_i_fail_memory(err, w->prefix, files, "files");
}

static hpcw_status put_tree(void *context, hpcw_sink *sink, hpcw_error *err) {
    return hpcw_kvtree_write(context, sink, 0, err);
}

/* On process 0, after the maps: what makes the dataset visible comes last. */
static hpcw_status write_summary_and_index(const hpcw_rank2file *w, hpcw_error *err) {
    hpcw_kvtree *tree;
    hpcw_status s = hpcw_rank2file_summary(&w->options, &tree, err);
    for (uint32_t m = 0; s == HPCW_OK && m < hpcw_rank2file_layout_maps(w->options.layout); m++) {
        char path[HPCW_RANK2FILE_PATH];
        hpcw_rank2file_summary_path(&w->options, m, path);
        s = hpcw_i_r2f_write_file(w, path, put_tree, tree, err);
    }
    hpcw_kvtree_free(tree);
    if (s == HPCW_OK) {
        s = read_index(w, &tree, err);
        if (s == HPCW_OK) {
            s = hpcw_i_r2f_write_file(w, HPCW_RANK2FILE_INDEX, put_tree, tree, err);
            hpcw_kvtree_free(tree);
        }
    }
    return s;
}

hpcw_status hpcw_rank2file_close(hpcw_rank2file *w, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    if (w == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected an open dataset, got NULL");
    }
    if (w->closed) {
        return hpcw_i_fail(err, HPCW_ESTATE, "%s: dataset %s is closed", w->prefix, w->dataset);
    }
    w->closed = true;
    struct hpcw_i_buf records = {0};
    struct hpcw_i_r2f_block block = {0};
    uint64_t sums[2] = {0};
    struct hpcw_i_words words = {.sums = 2, .word = sums};
    hpcw_status s = w->abandoned.code;
    if (s != HPCW_OK) {
        *err = w->abandoned;
    } else {
        s = make_records(w, &records, sums, err);
    }
    s = hpcw_i_agree(w->comm, s, &words, err);
    if (s == HPCW_OK) {
        w->options.dataset.files = sums[0];
        w->options.dataset.size = sums[1];
        s = hpcw_i_r2f_gather(w->comm, w->ranks, &records, &block, err);
        hpcw_i_buf_free(&records);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_refuse_twins(w->comm, &block, err);
    }
    for (uint32_t m = 0; s == HPCW_OK && m < hpcw_rank2file_layout_maps(w->options.layout); m++) {
        s = hpcw_i_r2f_write_map(w, m, &block, err);
    }
    if (s == HPCW_OK) {
        s = w->comm->process == 0 ? write_summary_and_index(w, err) : HPCW_OK;
        s = hpcw_i_agree(w->comm, s, NULL, err);
    }
    if (s != HPCW_OK) {
        hpcw_i_fail_about(err, w->prefix);
    }
    hpcw_i_buf_free(&records);
    hpcw_i_r2f_block_free(&block);
    return s;
}
