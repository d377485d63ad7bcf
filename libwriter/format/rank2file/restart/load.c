/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads the lists of files of the ranks. Each process reads a range of leaves. A process that needs a rank asks
 * the process whose range has its leaf. */
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "libwriter/base/column.h"
#include "libwriter/base/crc32.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/comm/exchange.h"
#include "libwriter/format/rank2file/map/decode.h"
#include "libwriter/format/rank2file/map/records.h"
#include "libwriter/format/rank2file/restart/restart.h"
#include "libwriter/io/sys.h"

/* The leaves that this process has read, each because a process asked for one of its ranks. */
struct loaded {
    uint32_t begin;          /* first leaf in the range of this process */
    uint32_t first;          /* first rank of leaf `begin` */
    struct hpcw_i_buf words; /* an unused word, then the records of the leaves that were read */
    /* [ranks in the range of this process] index in `words` of each rank's record; 0: not read */
    uint64_t *at;
};

static uint32_t leaf_of(const hpcw_rank2file_restart *r, uint32_t rank) {
    uint32_t low = 0;
    uint32_t high = r->known.leaves;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (r->leaf[middle].first <= rank) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static uint32_t end_of_leaf(const hpcw_rank2file_restart *r, uint32_t leaf) {
    return leaf + 1 < r->known.leaves ? (uint32_t)r->leaf[leaf + 1].first : r->known.ranks;
}

/* Checks where a leaf is in its file. A file may hold several leaves, one after the other
 * (doc/formats/rank2file.md#rank2file-15). */
static hpcw_status check_place(const hpcw_rank2file_restart *r, const char *path, uint32_t i, uint64_t stored,
                               uint64_t left, hpcw_error *err) {
    const struct hpcw_i_r2f_leaf *leaf = &r->leaf[i];
    if (leaf->offset > 0 && (i == 0 || leaf[-1].number != leaf->number || leaf[-1].offset >= leaf->offset)) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: expected the first tree of the file at offset 0, got it at %" PRIu64, path,
                           leaf->offset);
    }
    bool more = i + 1 < r->known.leaves && leaf[1].number == leaf->number;
    uint64_t end = leaf->offset + stored;
    if (more ? leaf[1].offset != end : left > 0) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: offset %" PRIu64 ": expected %s, got %" PRIu64 " more bytes",
                           path, end, more ? "the next tree" : "the end of the file", left);
    }
    return HPCW_OK;
}

static hpcw_status load_leaf(const hpcw_rank2file_restart *r, uint32_t i, struct loaded *l, hpcw_error *err) {
    uint32_t first = (uint32_t)r->leaf[i].first;
    uint32_t end = end_of_leaf(r, i);
    char *path = NULL;
    const char *name;
    int at;
    unsigned char *data = NULL;
    uint64_t stored = 0;
    uint64_t left = 0;
    struct hpcw_i_kv_cursor c;
    hpcw_status s = hpcw_i_r2f_node_path(r, 0, r->leaf[i].number, &path, err);
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_where(r, path, &at, &name, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_kv_load_at(at, name, path, r->leaf[i].offset, &data, &stored, &left, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_kv_open(&c, path, r->leaf[i].offset, data, stored, err);
    }
    if (s == HPCW_OK) {
        s = check_place(r, path, i, stored, left, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_get_leaf(&c, r->known.ranks, first, end, &l->words, l->at + (first - l->first), err);
    }
    hpcw_i_free(data);
    hpcw_i_free(path);
    return s;
}

/* Appends to `reply` the record of each rank in `wanted`. counts[p] is the number of ranks for process p,
 * reply_words[p] becomes their number of words. */
static hpcw_status answer(const hpcw_rank2file_restart *r, struct loaded *l, const uint64_t *wanted,
                          const uint64_t *counts, struct hpcw_i_buf *reply, uint64_t *reply_words,
                          hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    uint32_t leaf = l->begin;
    for (int p = 0; s == HPCW_OK && p < r->comm->size; p++) {
        size_t before = reply->size;
        for (uint64_t k = 0; s == HPCW_OK && k < counts[p]; k++) {
            uint32_t rank = (uint32_t)*wanted++;
            if (rank < r->leaf[leaf].first || rank >= end_of_leaf(r, leaf)) {
                leaf = leaf_of(r, rank);
            }
            const uint64_t *at = &l->at[rank - l->first];
            if (*at == 0) {
                s = load_leaf(r, leaf, l, err);
            }
            if (s == HPCW_OK) {
                const uint64_t *record = (const uint64_t *)(const void *)l->words.data + *at;
                size_t size = (size_t)(hpcw_i_r2f_record_end(record) - record) * sizeof *record;
                s = hpcw_i_buf_append(reply, record, size)
                        ? HPCW_OK
                        : hpcw_i_fail_memory(err, r->metadata, 0, "the files of its ranks");
            }
        }
        reply_words[p] = (reply->size - before) / sizeof(uint64_t);
    }
    return s;
}

static hpcw_status find_places(hpcw_rank2file_restart *r, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    /* Without words there is no array, and C does not define NULL + 0. */
    const uint64_t *end = r->word_count == 0 ? r->words : r->words + r->word_count;
    for (const uint64_t *p = r->words; s == HPCW_OK && p < end;) {
        struct hpcw_i_r2f_place place = {.rank = hpcw_i_r2f_record_rank(p)};
        const uint64_t *file = p + 1;
        for (uint32_t k = hpcw_i_r2f_record_files(p); s == HPCW_OK && k > 0; k--) {
            struct hpcw_i_r2f_file f;
            place.word = (uint64_t)(file - r->words);
            file = hpcw_i_r2f_get_file(file, &f);
            if (!hpcw_i_buf_append(&r->places, &place, sizeof place)) {
                s = hpcw_i_fail_memory(err, r->metadata, 0, "the list of files");
            }
        }
        p = hpcw_i_r2f_record_end(p);
    }
    return s;
}

static hpcw_status check_wanted(const hpcw_rank2file_restart *r, uint32_t count, const uint32_t *ranks,
                                hpcw_error *err) {
    for (uint32_t i = 0; i < count; i++) {
        if (ranks[i] >= r->known.ranks || (i > 0 && ranks[i] <= ranks[i - 1])) {
            return hpcw_i_fail(err, HPCW_EINVAL, "%s: ranks[%u]: expected ascending numbers below %u, got %u",
                               r->metadata, i, r->known.ranks, ranks[i]);
        }
    }
    return HPCW_OK;
}

void hpcw_i_r2f_unload(hpcw_rank2file_restart *r) {
    hpcw_i_free(r->words);
    r->words = NULL;
    r->word_count = 0;
    r->places.size = 0;
    r->whole = false;
}

hpcw_status hpcw_rank2file_restart_load(hpcw_rank2file_restart *r, uint32_t count, const uint32_t *ranks,
                                        hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    if (r == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected an open dataset, got NULL");
    }
    hpcw_comm *comm = r->comm;
    size_t size = (size_t)comm->size;
    uint32_t own = hpcw_i_r2f_share(r->known.ranks, comm->size, comm->process);
    if (ranks == NULL) {
        count = hpcw_i_r2f_share(r->known.ranks, comm->size, comm->process + 1) - own;
    }
    struct loaded l = {.begin = hpcw_i_r2f_share(r->known.leaves, comm->size, comm->process)};
    uint32_t end = hpcw_i_r2f_share(r->known.leaves, comm->size, comm->process + 1);
    l.first = l.begin == end ? 0 : (uint32_t)r->leaf[l.begin].first;
    size_t ranks_here = l.begin == end ? 0 : end_of_leaf(r, end - 1) - l.first;
    struct hpcw_i_buf reply = {0};
    uint64_t *asked = NULL;
    hpcw_i_r2f_unload(r);
    uint64_t *ask = hpcw_i_malloc((size_t)count * sizeof *ask);
    uint64_t *counts = hpcw_i_calloc(4 * size, sizeof *counts);
    l.at = hpcw_i_calloc(ranks_here, sizeof *l.at);
    hpcw_status s = ask == NULL || counts == NULL || l.at == NULL ||
                            !hpcw_i_buf_append(&l.words, &(uint64_t){0}, sizeof(uint64_t))
                        ? hpcw_i_fail_memory(err, r->metadata, count, "ranks")
                        : HPCW_OK;
    if (s == HPCW_OK && ranks != NULL) {
        s = check_wanted(r, count, ranks, err);
    }
    uint64_t shares = ranks == NULL;
    struct hpcw_i_words words = {.mins = 1, .word = &shares};
    s = hpcw_i_agree(comm, s, &words, err);
    if (s != HPCW_OK) {
        goto done;
    }
    uint64_t *ask_words = counts;
    uint64_t *asked_words = counts + size;
    uint64_t *reply_words = counts + 2 * size;
    uint64_t *got_words = counts + 3 * size;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t rank = ranks == NULL ? own + i : ranks[i];
        ask[i] = rank;
        ask_words[hpcw_i_r2f_home(r->known.leaves, comm->size, leaf_of(r, rank))]++;
    }
    s = hpcw_i_comm_exchange(comm, ask, ask_words, &asked, asked_words, err);
    if (s == HPCW_OK) {
        s = hpcw_i_agree(comm, answer(r, &l, asked, asked_words, &reply, reply_words, err), NULL, err);
    }
    if (s == HPCW_OK && size == 1) {
        /* take over the buffer: a copy would need its memory twice */
        r->words = (uint64_t *)(void *)reply.data;
        got_words[0] = reply_words[0];
        reply = (struct hpcw_i_buf){0};
    } else if (s == HPCW_OK) {
        s = hpcw_i_comm_exchange(comm, (const uint64_t *)(const void *)reply.data, reply_words, &r->words,
                                 got_words, err);
    }
    if (s == HPCW_OK) {
        r->word_count = hpcw_i_r2f_sum(got_words, size);
        s = hpcw_i_r2f_find_twins(r->words, r->word_count, HPCW_EFORMAT, err);
        s = s == HPCW_OK ? find_places(r, err) : s;
        s = hpcw_i_agree(comm, s, NULL, err);
        r->whole = shares != 0;
    }
done:
    if (s != HPCW_OK) {
        hpcw_i_fail_about(err, r->metadata);
        hpcw_i_r2f_unload(r);
    }
    hpcw_i_free(l.at);
    hpcw_i_buf_free(&l.words);
    hpcw_i_buf_free(&reply);
    hpcw_i_free(asked);
    hpcw_i_free(ask);
    hpcw_i_free(counts);
    return s;
}

/* ---- files ---- */

uint64_t hpcw_rank2file_restart_files(const hpcw_rank2file_restart *r) {
    return r == NULL ? 0 : r->places.size / sizeof(struct hpcw_i_r2f_place);
}

const char *hpcw_rank2file_restart_base(const hpcw_rank2file_restart *r) {
    return r == NULL ? NULL : r->base;
}

static void get_file(const hpcw_rank2file_restart *r, uint64_t index, hpcw_rank2file_found *found) {
    const struct hpcw_i_r2f_place *place =
        (const struct hpcw_i_r2f_place *)(const void *)r->places.data + index;
    struct hpcw_i_r2f_file f;
    (void)hpcw_i_r2f_get_file(r->words + place->word, &f);
    *found = (hpcw_rank2file_found){
        .rank = place->rank,
        .name = f.name,
        .size = f.size,
        .crc = f.crc,
        .has_size = (f.flags & HPCW_I_R2F_HAS_SIZE) != 0,
        .has_crc = (f.flags & HPCW_I_R2F_HAS_CRC) != 0,
    };
}

hpcw_status hpcw_rank2file_restart_file(hpcw_rank2file_restart *r, uint64_t index, hpcw_rank2file_found *found,
                                        hpcw_error *err) {
    if (r == NULL || found == NULL || index >= hpcw_rank2file_restart_files(r)) {
        return hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected a loaded file, got %" PRIu64 " of %" PRIu64,
                           index, hpcw_rank2file_restart_files(r));
    }
    get_file(r, index, found);
    r->path.size = 0;
    if (!hpcw_i_buf_append_str(&r->path, r->base) || !hpcw_i_buf_append(&r->path, "/", 1) ||
        !hpcw_i_buf_append(&r->path, found->name, strlen(found->name) + 1)) {
        return hpcw_i_fail_memory(err, r->base, 0, NULL);
    }
    found->path = (const char *)r->path.data;
    return HPCW_OK;
}

hpcw_status hpcw_rank2file_restart_fill(const hpcw_rank2file_restart *r, uint64_t first, size_t count,
                                        const hpcw_rank2file_files *columns, hpcw_error *err) {
    const uint64_t files = hpcw_rank2file_restart_files(r);
    if (r == NULL || columns == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "rank2file: %s: expected a pointer, got NULL",
                           r == NULL ? "handle" : "columns");
    }
    if (first > files || count > files - first) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "rank2file: expected rows of %" PRIu64 " loaded files, got %zu from %" PRIu64 " on",
                           files, count, first);
    }
    for (size_t i = 0; i < count; i++) {
        hpcw_rank2file_found f;
        get_file(r, first + i, &f);
        HPCW_I_COLUMN_PUT(columns->rank, i, f.rank);
        HPCW_I_COLUMN_PUT(columns->name, i, f.name);
        HPCW_I_COLUMN_PUT(columns->size, i, f.size);
        HPCW_I_COLUMN_PUT(columns->crc, i, f.crc);
        HPCW_I_COLUMN_PUT(columns->has_size, i, f.has_size);
        HPCW_I_COLUMN_PUT(columns->has_crc, i, f.has_crc);
    }
    return HPCW_OK;
}

enum { READ_SIZE = 256 << 10 };

static hpcw_status check_content(const hpcw_rank2file_found *f, int fd, uint64_t size, unsigned char *buf,
                                 hpcw_error *err) {
    uint32_t crc = 0;
    for (uint64_t at = 0; at < size;) {
        size_t got = 0;
        size_t n = size - at < READ_SIZE ? (size_t)(size - at) : READ_SIZE;
        int e = hpcw_i_sys_pread(fd, buf, n, at, &got);
        if (e != 0 || got != n) {
            return e != 0
                       ? hpcw_i_fail_sys(err, e, "%s: cannot read at offset %" PRIu64, f->path, at)
                       : hpcw_i_fail(err, HPCW_ETRUNCATED, "%s: it became shorter while it was read", f->path);
        }
        crc = hpcw_i_crc32(crc, buf, n);
        at += n;
    }
    return crc == f->crc ? HPCW_OK
                         : hpcw_i_fail(err, HPCW_ECHECKSUM, "%s: rank %u: CRC-32: expected 0x%08x, got 0x%08x",
                                       f->path, f->rank, f->crc, crc);
}

static hpcw_status check_file(const hpcw_rank2file_restart *r, const hpcw_rank2file_found *f, bool content,
                              unsigned char *buf, uint64_t *total, hpcw_error *err) {
    const char *name;
    int fd, at;
    uint64_t size = 0;
    hpcw_status s = hpcw_i_r2f_where(r, f->path, &at, &name, err);
    if (s != HPCW_OK) {
        return s;
    }
    int e = hpcw_i_sys_open_file_at(at, name, &fd, &size);
    const char *other = hpcw_i_sys_no_file(e);
    if (other != NULL) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: rank %u: expected a regular file, got %s", f->path, f->rank,
                           other);
    }
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: rank %u: cannot open for reading", f->path, f->rank);
    }
    if (f->has_size && size != f->size) {
        s = hpcw_i_fail(err, size < f->size ? HPCW_ETRUNCATED : HPCW_EFORMAT,
                        "%s: rank %u: size: expected %" PRIu64 " bytes, got %" PRIu64, f->path, f->rank,
                        f->size, size);
    }
    if (s == HPCW_OK && content && f->has_crc) {
        s = check_content(f, fd, size, buf, err);
    }
    (void)hpcw_i_sys_close(fd);
    *total += size;
    return s;
}

/* Compares number and size of the files with the summary, which has these totals even if the map has no sizes
 * (SCR 3). */
static hpcw_status check_totals(const hpcw_rank2file_restart *r, const uint64_t sums[2], hpcw_error *err) {
    const hpcw_rank2file_dataset *d = &r->dataset;
    return sums[0] == d->files && sums[1] == d->size
               ? HPCW_OK
               : hpcw_i_fail(err, sums[1] < d->size ? HPCW_ETRUNCATED : HPCW_EFORMAT,
                             "%s: summary.scr: expected %" PRIu64 " files of together %" PRIu64
                             " bytes, got %" PRIu64 " and %" PRIu64,
                             r->metadata, d->files, d->size, sums[0], sums[1]);
}

hpcw_status hpcw_rank2file_restart_check(hpcw_rank2file_restart *r, bool content, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    if (r == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected an open dataset, got NULL");
    }
    uint64_t sums[2] = {hpcw_rank2file_restart_files(r), 0};
    struct hpcw_i_words words = {.sums = 2, .word = sums};
    unsigned char *buf = content ? hpcw_i_malloc(READ_SIZE) : NULL;
    hpcw_status s = content && buf == NULL ? hpcw_i_fail_memory(err, r->base, 0, NULL) : HPCW_OK;
    for (uint64_t i = 0; s == HPCW_OK && i < hpcw_rank2file_restart_files(r); i++) {
        hpcw_rank2file_found f;
        s = hpcw_rank2file_restart_file(r, i, &f, err);
        if (s == HPCW_OK) {
            s = check_file(r, &f, content, buf, &sums[1], err);
        }
    }
    hpcw_i_free(buf);
    s = hpcw_i_agree(r->comm, s, &words, err);
    return s == HPCW_OK && r->whole && r->summary != NULL ? check_totals(r, sums, err) : s;
}
