/* SPDX-License-Identifier: BSD-3-Clause */
/* The merge of one process alone, and the tree: process p merges what 2p + 1 and 2p + 2 send with its own records and sends
 * that to (p - 1) / 2. */
#include "libwriter/format/clog2/merge.h"

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/clog2/file.h"
#include "libwriter/format/clog2/partition.h"

enum { TREE_WORDS = 32768 /* of a message */ };

static double time_of(const unsigned char *record) {
    return hpcw_i_get_f64(record, true);
}

static uint32_t size_of(const unsigned char *record) {
    return hpcw_i_clog2_size((int32_t)hpcw_i_get_u32(record + 20, true));
}

static hpcw_status no_memory(hpcw_error *err) {
    return hpcw_i_fail(err, HPCW_ENOMEM, "clog2: out of memory to merge records");
}

hpcw_status hpcw_i_clog2_merge_alone(hpcw_clog2 *file, struct hpcw_i_clog2_stream *stream, uint64_t *blocks,
                                     hpcw_error *err) {
    hpcw_clog2_slice *slice = NULL;
    hpcw_status s = hpcw_clog2_slice_new(file, 0, &slice, err);
    if (s == HPCW_OK) {
        s = hpcw_clog2_slice_place(slice, 0, err);
    }
    double time;
    uint32_t size, rank;
    while (s == HPCW_OK && hpcw_i_clog2_stream_peek(stream, &time, &size, &rank)) {
        unsigned char *space;
        size_t room, most, used, count;
        s = hpcw_i_clog2_slice_space(slice, size, time, &space, &room, &most, err);
        if (s == HPCW_OK) {
            s = hpcw_i_clog2_stream_fill(stream, space, room, most, &used, &count, err);
            hpcw_i_clog2_slice_took(slice, used, count);
        }
    }
    if (s == HPCW_OK) {
        s = hpcw_clog2_slice_end(slice, HPCW_CLOG2_LAST, err);
    }
    *blocks = hpcw_clog2_slice_blocks(slice);
    hpcw_clog2_slice_free(slice);
    return s;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Tree
 * --------------------------------------------------------------------------------------------------------- */

/* What one other process sends: records, each behind a word with the rank of the world. An empty message ends it. */
struct branch {
    int from; /* -1: none, or ended */
    uint64_t *words;
    size_t room, size, at;
};

struct tree {
    hpcw_comm *comm;
    struct hpcw_i_clog2_stream *stream;
    hpcw_clog2_slice *slice; /* of process 0 */
    struct branch branch[2];
    uint64_t *out; /* [TREE_WORDS] for the parent */
    size_t used;
};

static hpcw_status talk(const struct tree *t, int code, hpcw_error *err) {
    if (code == 0) {
        return HPCW_OK;
    }
    char text[256];
    t->comm->ops->text(code, text, sizeof text);
    return hpcw_i_fail(err, HPCW_ECOMM, "clog2: tree merge: process %d: %s", t->comm->process, text);
}

/* Takes the next message of a branch whose words are used up. */
static hpcw_status refill(const struct tree *t, struct branch *b, hpcw_error *err) {
    const struct hpcw_i_comm_ops *ops = t->comm->ops;
    size_t n = 0;
    hpcw_status s = talk(t, ops->probe(t->comm, &n, b->from), err);
    if (s == HPCW_OK && n > b->room) {
        uint64_t *grown = hpcw_i_realloc(b->words, n * sizeof *grown);
        if (grown == NULL) {
            /* The message is taken off the line nevertheless. */
            (void)ops->receive(t->comm, b->words, 0, b->from);
            b->at = b->size = 0;
            return no_memory(err);
        }
        b->words = grown;
        b->room = n;
    }
    if (s == HPCW_OK) {
        s = talk(t, ops->receive(t->comm, b->words, n, b->from), err);
    }
    b->at = 0;
    b->size = n;
    b->from = n == 0 || s != HPCW_OK ? -1 : b->from;
    return s;
}

/* Room for a record where this process sends it, or writes it. */
static hpcw_status room_for(struct tree *t, uint32_t rank, uint32_t size, double time, unsigned char **room,
                            hpcw_error *err) {
    if (t->slice != NULL) {
        return hpcw_i_clog2_slice_room(t->slice, size, time, room, err);
    }
    hpcw_status s = HPCW_OK;
    if (t->used + 1 + size / 8 > TREE_WORDS) {
        s = talk(t, t->comm->ops->send(t->comm, t->out, t->used, (t->comm->process - 1) / 2), err);
        t->used = 0;
    }
    t->out[t->used] = rank;
    *room = (unsigned char *)(t->out + t->used + 1);
    t->used += 1 + size / 8;
    return s;
}

static hpcw_status merge_branches(struct tree *t, hpcw_error *err) {
    for (;;) {
        double time = 0, best_time = 0;
        uint32_t size = 0, rank = 0, best_rank = 0;
        int best = -1;
        if (hpcw_i_clog2_stream_peek(t->stream, &best_time, &size, &best_rank)) {
            best = 2;
        }
        for (int i = 0; i < 2; i++) {
            struct branch *b = &t->branch[i];
            if (b->from >= 0 && b->at == b->size) {
                hpcw_status s = refill(t, b, err);
                if (s != HPCW_OK) {
                    return s;
                }
            }
            if (b->at < b->size) {
                time = time_of((const unsigned char *)(b->words + b->at + 1));
                rank = (uint32_t)b->words[b->at];
                if (best < 0 || time < best_time || (time == best_time && rank < best_rank)) {
                    best = i;
                    best_time = time;
                    best_rank = rank;
                }
            }
        }
        if (best < 0) {
            return HPCW_OK;
        }
        unsigned char *room;
        hpcw_status s;
        if (best == 2) {
            s = room_for(t, best_rank, size, best_time, &room, err);
            s = s == HPCW_OK ? hpcw_i_clog2_stream_take(t->stream, room, err) : s;
        } else {
            struct branch *b = &t->branch[best];
            const unsigned char *record = (const unsigned char *)(b->words + b->at + 1);
            uint32_t bytes = size_of(record);
            s = room_for(t, best_rank, bytes, best_time, &room, err);
            if (s == HPCW_OK) {
                memcpy(room, record, bytes);
                b->at += 1 + bytes / 8;
            }
        }
        if (s != HPCW_OK) {
            return s;
        }
    }
}

static hpcw_status merge_tree(hpcw_clog2 *file, hpcw_comm *comm, struct hpcw_i_clog2_stream *stream,
                              uint64_t *blocks, hpcw_error *err) {
    struct tree t = {.comm = comm, .stream = stream};
    hpcw_status s = HPCW_OK;
    for (int i = 0; i < 2; i++) {
        int child = 2 * comm->process + 1 + i;
        t.branch[i].from = child < comm->size ? child : -1;
    }
    if (comm->process == 0) {
        s = hpcw_clog2_slice_new(file, 0, &t.slice, err);
        s = s == HPCW_OK ? hpcw_clog2_slice_place(t.slice, 0, err) : s;
    } else {
        t.out = hpcw_i_malloc(TREE_WORDS * sizeof *t.out);
        s = t.out == NULL ? no_memory(err) : HPCW_OK;
    }
    if (s == HPCW_OK) {
        s = merge_branches(&t, err);
    }
    /* After a failure, too, children must get rid of their messages, and the parent waits for an end. */
    for (int i = 0; i < 2; i++) {
        hpcw_error ignored;
        while (t.branch[i].from >= 0 && refill(&t, &t.branch[i], &ignored) != HPCW_ECOMM) {
        }
    }
    if (t.slice != NULL) {
        s = s == HPCW_OK ? hpcw_clog2_slice_end(t.slice, HPCW_CLOG2_LAST, err) : s;
        *blocks = hpcw_clog2_slice_blocks(t.slice);
    } else if (comm->process != 0) {
        int parent = (comm->process - 1) / 2;
        if (s == HPCW_OK && t.used > 0) {
            s = talk(&t, comm->ops->send(comm, t.out, t.used, parent), err);
        }
        uint64_t nothing = 0;
        hpcw_status r = talk(&t, comm->ops->send(comm, &nothing, 0, parent), s == HPCW_OK ? err : NULL);
        s = s == HPCW_OK ? r : s;
    }
    hpcw_clog2_slice_free(t.slice);
    hpcw_i_free(t.branch[0].words);
    hpcw_i_free(t.branch[1].words);
    hpcw_i_free(t.out);
    return s;
}

hpcw_status hpcw_i_clog2_merge(hpcw_clog2 *file, hpcw_comm *comm, struct hpcw_i_clog2_stream *stream,
                               hpcw_clog2_merge how, uint64_t *blocks, hpcw_error *err) {
    *blocks = 0;
    if (comm->size == 1) {
        return hpcw_i_clog2_merge_alone(file, stream, blocks, err);
    }
    return how == HPCW_CLOG2_MERGE_TREE ? merge_tree(file, comm, stream, blocks, err)
                                        : hpcw_i_clog2_merge_partitioned(file, comm, stream, blocks, err);
}
