/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects a task and a position. The calls accept and refuse the same arguments as in SIONlib. */
#include "bindings/sionlib/handles/handle.h"
#include "bindings/sionlib/handles/stream.h"
#include <inttypes.h>

/* Returns the index in h->task of the task that a program selects by `rank`; h->count if there is no such task. */
static uint32_t find(const struct sionlib_handle *h, int rank) {
    if (h->opened == SIONLIB_SERIAL) {
        return rank >= 0 && (uint32_t)rank < h->count ? (uint32_t)rank : h->count;
    }
    for (uint32_t i = 0; i < h->count; i++) {
        uint32_t is = h->opened == SIONLIB_MAPPED ? h->task[i].rank : h->task[i].index;
        if (rank >= 0 && is == (uint32_t)rank) {
            return i;
        }
    }
    return h->count;
}

/* Converts an offset from the start of the task to a block and an offset in its chunk (SION_ABSOLUTE_POS). */
static bool from_start(const struct sionlib_task *t, sion_int64 *at, int *block) {
    if (*at < 0) {
        return false;
    }
    *block = 0;
    while (*block < t->blocks - 1 && *at > t->used[*block]) {
        *at -= t->used[(*block)++];
    }
    return true;
}

/* Converts an offset from the end of the task to a block and an offset in its chunk (SION_END_POS). */
static bool from_end(const struct sionlib_task *t, sion_int64 *at, int *block) {
    if (*at > 0) {
        return false;
    }
    *block = t->blocks - 1;
    *at += t->used[*block];
    while (*at < 0 && *block > 0) {
        *at += t->used[--*block];
    }
    return *at >= 0;
}

static int refuse(const struct sionlib_handle *h, const char *what, sion_int64 value) {
    sionlib_report("sion_seek: task %u: expected %s, got %" PRId64, sionlib_current(h)->rank, what,
                   (int64_t)value);
    return SION_NOT_SUCCESS;
}

/* Moves to offset `at` of `block`. Both may be constants of sion.h, such as SION_CURRENT_POS. */
static int seek_in_task(struct sionlib_handle *h, int block, sion_int64 at) {
    struct sionlib_task *t = sionlib_current(h);
    sion_int64 wanted = at;
    if (block == SION_ABSOLUTE_POS || block == SION_END_POS) {
        if (!(block == SION_END_POS ? from_end(t, &at, &block) : from_start(t, &at, &block))) {
            return refuse(h, "a position in what the task holds", wanted);
        }
    } else if (block == SION_CURRENT_BLK) {
        block = t->block;
    } else if (block < 0 || block >= t->blocks) {
        return refuse(h, "one of its blocks", block);
    }
    if (at == SION_CURRENT_POS) {
        at = t->at;
    } else if (!h->keys && (at < 0 || at > t->used[block])) {
        return refuse(h, "a position in what the chunk holds", at);
    }
    t->block = block;
    t->at = at;
    if (h->stream != NULL) {
        clearerr(h->stream);
    }
    return SION_SUCCESS;
}

/* Selects a task of a reader. If the task was read to the end of a chunk, it continues with the next chunk. */
static int select_for_reading(struct sionlib_handle *h, int *block, sion_int64 *at) {
    const struct sionlib_task *t = sionlib_current(h);
    *block = *block == SION_CURRENT_BLK ? t->block : *block;
    if (*at != SION_CURRENT_POS) {
        return SION_SUCCESS;
    }
    *at = t->at;
    bool known = *block >= 0 && *block < t->blocks;
    if (!h->keys && known && *at >= t->used[*block]) {
        *at = 0;
        bool one_file = h->opened == SIONLIB_SERIAL && h->files == 1;
        if (!one_file || t->blocks > 1) {
            ++*block;
        }
        if (*block >= t->blocks) {
            return refuse(h, "more data", *block);
        }
    }
    return SION_SUCCESS;
}

int sion_seek_fp(int sid, int rank, int currentblocknr, sion_int64 posinblk, FILE **fileptr) {
    struct sionlib_handle *h = sionlib_handle_of(sid, "sion_seek");
    if (h == NULL || h->count == 0) {
        return SION_NOT_SUCCESS;
    }
    int block = currentblocknr;
    sion_int64 at = posinblk;
    int result = SION_SUCCESS;
    uint32_t next = rank == SION_CURRENT_RANK ? h->current : find(h, rank);
    bool one_task = h->opened == SIONLIB_PARALLEL || h->opened == SIONLIB_RANK;
    if (next == h->count) {
        sionlib_report("sion_seek: expected a task of this handle, got %d", rank);
        return SION_NOT_SUCCESS;
    }
    bool other = next != h->current;
    if (other) {
        sionlib_look(sionlib_current(h));
    }
    h->current = next;
    h->file = (int)sionlib_current(h)->file;
    if (h->reader != NULL) {
        if (!sionlib_load_blocks(h, sionlib_current(h))) {
            return SION_NOT_SUCCESS;
        }
        result = other ? select_for_reading(h, &block, &at) : SION_SUCCESS;
        if (result == SION_SUCCESS) {
            result = seek_in_task(h, block, at);
        }
    } else if (block != SION_CURRENT_BLK || at != SION_CURRENT_POS) {
        /* The position of a writer cannot be set. With several tasks, SIONlib prints this message and returns
         * success. */
        sionlib_report(
            "sion_seek: expected SION_CURRENT_BLK and SION_CURRENT_POS in a container open for writing");
        result = one_task ? SION_NOT_SUCCESS : SION_SUCCESS;
    }
    if (fileptr != NULL) {
        *fileptr = sionlib_stream(h);
    }
    return result;
}

int sion_seek(int sid, int rank, int currentblocknr, sion_int64 posinblk) {
    return sion_seek_fp(sid, rank, currentblocknr, posinblk, NULL);
}
