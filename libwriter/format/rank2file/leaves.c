/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes one map on all processes. Each process has the records (lists of files) of its share of the ranks. One
 * process after the other cuts its share into leaves, and tells the next one how full the last leaf is. A process
 * writes the leaves that begin in its share, and gets the rest of the last one from the following processes.
 */
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/comm/exchange.h"
#include "libwriter/format/rank2file/handle.h"

/* Words that describe the unfinished leaf, which a process passes on to the next process. */
enum { STATE_BYTES, STATE_ITEMS, STATE_FIRST, STATE_WORDS };

/* An iterator over records, for hpcw_rank2file_map_write, which asks for the ranks in order. */
struct walk {
    const uint64_t *p;
    hpcw_rank2file_entry *entry; /* [largest number of files of a rank] */
};

static size_t next_entries(void *context, uint32_t rank, const hpcw_rank2file_entry **entry) {
    struct walk *walk = context;
    (void)rank; /* records are in the order of ranks */
    uint32_t files = hpcw_i_r2f_record_files(walk->p);
    const uint64_t *p = walk->p + 1;
    for (uint32_t i = 0; i < files; i++) {
        struct hpcw_i_r2f_file f;
        p = hpcw_i_r2f_get_file(p, &f);
        walk->entry[i] = (hpcw_rank2file_entry){
            .name = f.name, .size = f.size, .crc = f.crc, .has_crc = (f.flags & HPCW_I_R2F_HAS_CRC) != 0};
    }
    walk->p = p;
    *entry = walk->entry;
    return files;
}

/* The part of a map that one process has. */
struct part {
    const hpcw_rank2file *w;
    struct hpcw_i_r2f_block block; /* its words are borrowed; most_files also counts records in `rest` */
    hpcw_rank2file_map map;        /* its nodes are the leaves that begin in this process's share */
    /* first rank of the leaf that an earlier process began, and that continues in this share */
    uint32_t open_first;
    /* [rest_words] records of this process's last leaf that came from the following processes */
    uint64_t *rest;
    uint64_t rest_words;
    uint32_t rest_end; /* last rank of this process's last leaf, + 1 */
};

static uint32_t leaves_here(const struct part *t) {
    return hpcw_rank2file_map_nodes(&t->map);
}

/* Cuts the share into leaves. `state` describes an unfinished leaf: in, the one that begins before the share; out,
 * the one at the end of the share. */
static hpcw_status cut(void *part, uint64_t *state, hpcw_error *err) {
    struct part *t = part;
    const struct hpcw_i_r2f_block *b = &t->block;
    struct hpcw_i_r2f_cutter cutter = hpcw_i_r2f_leaf_cutter(&t->map);
    cutter.bytes = state[STATE_BYTES];
    cutter.items = (uint32_t)state[STATE_ITEMS];
    t->open_first = (uint32_t)state[STATE_FIRST];
    struct walk walk = {.p = b->words,
                        .entry = hpcw_i_malloc(((size_t)b->most_files + 1) * sizeof *walk.entry)};
    hpcw_status s = walk.entry == NULL ? hpcw_i_fail_memory(err, "rank2file", b->most_files, "files") : HPCW_OK;
    for (uint32_t rank = b->first; s == HPCW_OK && rank < b->end; rank++) {
        const hpcw_rank2file_entry *entry;
        size_t count = next_entries(&walk, rank, &entry);
        uint64_t size = hpcw_i_r2f_rank_size(&t->map.style, rank, entry, count);
        if (size > HPCW_KVTREE_MAX_SIZE - cutter.fixed) {
            s = hpcw_i_fail(err, HPCW_ERANGE,
                            "rank2file: rank %u: expected files that fit into a leaf of %u bytes", rank,
                            HPCW_KVTREE_MAX_SIZE);
        } else if (hpcw_i_r2f_cut(&cutter, size)) {
            s = hpcw_i_r2f_map_add(&t->map, rank, 0, err);
            state[STATE_FIRST] = rank;
        }
    }
    state[STATE_BYTES] = cutter.bytes;
    state[STATE_ITEMS] = cutter.items;
    hpcw_i_free(walk.entry);
    return s;
}

/* Finds where leaves begin, on all processes. Collective. */
static hpcw_status find_leaves(struct part *t, hpcw_error *err) {
    uint64_t state[STATE_WORDS] = {0};
    hpcw_status s = hpcw_i_comm_relay(t->w->comm, state, STATE_WORDS, cut, t, err);
    return hpcw_i_agree(t->w->comm, s, NULL, err);
}

/* Sends records at the begin of this share to an earlier process if their leaf began there. Collective. */
static hpcw_status send_rests(struct part *t, hpcw_error *err) {
    hpcw_comm *comm = t->w->comm;
    const struct hpcw_i_r2f_block *b = &t->block;
    size_t size = (size_t)comm->size;
    /* numbers of words to send to each process, then numbers of words to receive from each */
    uint64_t *send_words = hpcw_i_calloc(size, 2 * sizeof *send_words);
    hpcw_status s = send_words == NULL ? hpcw_i_fail_memory(err, "rank2file", size, "processes") : HPCW_OK;
    s = hpcw_i_agree(comm, s, NULL, err);
    if (s == HPCW_OK) {
        uint32_t own = leaves_here(t) > 0 ? hpcw_i_r2f_map_at(&t->map, 0)->first : b->end;
        if (own > b->first) {
            send_words[hpcw_i_r2f_home(t->w->ranks, comm->size, t->open_first)] = b->at[own - b->first];
        }
        s = hpcw_i_comm_exchange(comm, b->words, send_words, &t->rest, send_words + size, err);
    }
    t->rest_words = s == HPCW_OK ? hpcw_i_r2f_sum(send_words + size, size) : 0;
    t->rest_end = b->end;
    for (const uint64_t *p = t->rest; s == HPCW_OK && p < t->rest + t->rest_words;
         p = hpcw_i_r2f_record_end(p)) {
        t->rest_end = hpcw_i_r2f_record_rank(p) + 1;
        uint32_t files = hpcw_i_r2f_record_files(p);
        t->block.most_files = files > t->block.most_files ? files : t->block.most_files;
    }
    hpcw_i_free(send_words);
    return s;
}

struct node_job {
    const hpcw_rank2file_map *map;
    uint32_t index;
    struct walk *walk; /* iterator at the records of a leaf; NULL for inner nodes */
};

static hpcw_status put_node(void *context, hpcw_sink *sink, hpcw_error *err) {
    const struct node_job *job = context;
    return hpcw_rank2file_map_write(job->map, job->index, next_entries, job->walk, sink, err);
}

static hpcw_status write_node(const hpcw_rank2file *w, const hpcw_rank2file_map *map, uint32_t index,
                              struct walk *walk, hpcw_error *err) {
    struct node_job job = {.map = map, .index = index, .walk = walk};
    hpcw_rank2file_node node;
    hpcw_rank2file_map_node(map, index, &node);
    return hpcw_i_r2f_write_file(w, node.path, put_node, &job, NULL, err);
}

/* Computes the size of a leaf and writes it. `walk` is at its first record. */
static hpcw_status write_leaf(const struct part *t, struct hpcw_i_r2f_node *leaf, struct walk *walk,
                              hpcw_error *err) {
    const struct hpcw_i_r2f_style *style = &t->map.style;
    const uint64_t *start = walk->p;
    leaf->items = leaf->end - leaf->first;
    leaf->size = hpcw_i_r2f_fixed(style, 0);
    for (uint32_t rank = leaf->first; rank < leaf->end; rank++) {
        const hpcw_rank2file_entry *entry;
        size_t count = next_entries(walk, rank, &entry);
        leaf->size += hpcw_i_r2f_rank_size(style, rank, entry, count);
    }
    walk->p = start;
    return write_node(t->w, &t->map, (uint32_t)(leaf - hpcw_i_r2f_map_at(&t->map, 0)), walk, err);
}

static hpcw_status write_leaves(struct part *t, hpcw_error *err) {
    const struct hpcw_i_r2f_block *b = &t->block;
    uint32_t count = leaves_here(t);
    uint64_t *tail = NULL;
    struct walk walk = {.entry = hpcw_i_malloc(((size_t)b->most_files + 1) * sizeof *walk.entry)};
    /* the root has level 1, so that no leaf gets the file name of a root */
    t->map.levels = 1;
    t->map.level_begin[1] = count;
    hpcw_status s = walk.entry == NULL ? hpcw_i_fail_memory(err, "rank2file", b->most_files, "files") : HPCW_OK;
    for (uint32_t i = 0; s == HPCW_OK && i < count; i++) {
        struct hpcw_i_r2f_node *leaf = hpcw_i_r2f_map_at(&t->map, i);
        uint64_t at = b->at[leaf->first - b->first];
        bool last = i + 1 == count;
        leaf->end = last ? t->rest_end : hpcw_i_r2f_map_at(&t->map, i + 1)->first;
        walk.p = b->words + at;
        if (last && t->rest_words > 0) {
            uint64_t own = b->at[b->end - b->first] - at;
            tail = hpcw_i_malloc((size_t)(own + t->rest_words) * sizeof *tail);
            if (tail == NULL) {
                s = hpcw_i_fail_memory(err, "rank2file", 0, "a leaf");
                break;
            }
            memcpy(tail, b->words + at, (size_t)own * sizeof *tail);
            memcpy(tail + own, t->rest, (size_t)t->rest_words * sizeof *tail);
            walk.p = tail;
        }
        s = write_leaf(t, leaf, &walk, err);
    }
    hpcw_i_free(tail);
    hpcw_i_free(walk.entry);
    return s;
}

/* ---- inner nodes ---- */

static hpcw_status take_leaves(void *context, const uint64_t *message, size_t words, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < words; i++) {
        s = hpcw_i_r2f_map_add(context, (uint32_t)message[i], 0, err);
    }
    return s;
}

static hpcw_status write_inner(const hpcw_rank2file *w, hpcw_rank2file_map *map, uint32_t leaves,
                               hpcw_error *err) {
    hpcw_status s = hpcw_i_r2f_map_finish(map, err);
    for (uint32_t i = leaves; s == HPCW_OK && i < hpcw_rank2file_map_nodes(map); i++) {
        s = write_node(w, map, i, NULL, err);
    }
    return s;
}

/* Writes the inner nodes. Process 0 makes them from the first rank of each leaf. Collective. */
static hpcw_status finish(const struct part *t, uint32_t which, hpcw_error *err) {
    const hpcw_rank2file *w = t->w;
    hpcw_rank2file_map whole;
    uint32_t count = leaves_here(t);
    uint64_t *firsts = hpcw_i_malloc((size_t)count * sizeof *firsts);
    hpcw_i_r2f_map_init(&whole, &w->options, which, w->ranks);
    hpcw_status mine = firsts == NULL ? hpcw_i_fail_memory(err, "rank2file", count, "leaves") : HPCW_OK;
    for (uint32_t i = 0; firsts != NULL && i < count; i++) {
        firsts[i] = hpcw_i_r2f_map_at(&t->map, i)->first;
    }
    hpcw_error ignored;
    hpcw_status s = hpcw_i_comm_collect(w->comm, 0, firsts, firsts == NULL ? 0 : count, take_leaves, &whole,
                                        mine == HPCW_OK ? err : &ignored);
    s = hpcw_i_agree(w->comm, mine != HPCW_OK ? mine : s, NULL, err);
    if (s == HPCW_OK && w->comm->process == 0) {
        s = write_inner(w, &whole, hpcw_rank2file_map_nodes(&whole), err);
    }
    hpcw_i_buf_free(&whole.nodes);
    hpcw_i_free(firsts);
    return hpcw_i_agree(w->comm, s, NULL, err);
}

hpcw_status hpcw_i_r2f_write_map(const hpcw_rank2file *w, uint32_t which, const struct hpcw_i_r2f_block *block,
                                 hpcw_error *err) {
    struct part t = {.w = w, .block = *block};
    hpcw_i_r2f_map_init(&t.map, &w->options, which, w->ranks);
    hpcw_status s = find_leaves(&t, err);
    if (s == HPCW_OK) {
        s = send_rests(&t, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_agree(w->comm, write_leaves(&t, err), NULL, err);
    }
    if (s == HPCW_OK) {
        s = finish(&t, which, err);
    }
    hpcw_i_buf_free(&t.map.nodes);
    hpcw_i_free(t.rest);
    return s;
}
