/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/sion_streams.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/random.h"

struct pair {
    hpcw_sion_reader *streams;
    struct read_sion *reader;
    struct read_sion_task task;
    uint32_t rank;
    unsigned char *bytes; /* bytes of the stream, from libreader's reader */
    unsigned char *got;
    uint64_t rng;
};

static bool differs(const struct pair *p, const char *what, uint64_t at) {
    (void)fprintf(stderr, "rank %" PRIu32 ": %s differs at %" PRIu64 "\n", p->rank, what, at);
    return false;
}

/* Reads and compares the next `size` bytes, or fewer at the end of the stream. */
static bool same_piece(struct pair *p, size_t size) {
    hpcw_error err;
    uint64_t at = hpcw_sion_reader_position(p->streams, p->rank);
    size_t rest = (size_t)(p->task.size - at), expected = size < rest ? size : rest, got;
    return (hpcw_sion_reader_read(p->streams, p->rank, p->got, size, &got, &err) == HPCW_OK &&
            got == expected && memcmp(p->got, p->bytes + at, got) == 0 &&
            hpcw_sion_reader_at_end(p->streams, p->rank) == (got == rest)) ||
           differs(p, "a piece", at);
}

/* Reads and compares a stream from begin to end, then pieces at random offsets. */
static bool same_pieces(struct pair *p) {
    uint64_t size = p->task.size;
    size_t most = (size_t)1 << random_below(&p->rng, 20);
    while (!hpcw_sion_reader_at_end(p->streams, p->rank)) {
        if (!same_piece(p, 1 + (size_t)random_below(&p->rng, most))) {
            return false;
        }
    }
    for (int i = 0; i < 20; i++) {
        uint64_t at = random_below(&p->rng, size + 1), skip = random_below(&p->rng, size - at + 1);
        if (hpcw_sion_reader_seek(p->streams, p->rank, at, NULL) != HPCW_OK ||
            hpcw_sion_reader_skip(p->streams, p->rank, skip, NULL) != HPCW_OK ||
            hpcw_sion_reader_position(p->streams, p->rank) != at + skip ||
            hpcw_sion_reader_skip(p->streams, p->rank, size - at - skip + 1, NULL) != HPCW_ERANGE) {
            return differs(p, "a jump", at);
        }
        if (!same_piece(p, (size_t)random_below(&p->rng, size + 2))) {
            return false;
        }
    }
    return hpcw_sion_reader_seek(p->streams, p->rank, size + 1, NULL) == HPCW_ERANGE &&
           hpcw_sion_reader_seek(p->streams, p->rank, 0, NULL) == HPCW_OK;
}

/* Compares the size of each block, and the remaining bytes of its chunk after a seek to its middle. */
static bool same_chunks(struct pair *p) {
    uint64_t at = 0, size, got, left;
    for (uint32_t b = 0; b < p->task.blocks; b++) {
        if (read_sion_block_size(p->reader, &p->task, b, &size, NULL) != HPCW_OK ||
            hpcw_sion_reader_block_size(p->streams, p->rank, b, &got, NULL) != HPCW_OK || got != size) {
            return differs(p, "the size of a block", b);
        }
        uint64_t middle = size / 2;
        if (size > 0 && (hpcw_sion_reader_seek(p->streams, p->rank, at + middle, NULL) != HPCW_OK ||
                         hpcw_sion_reader_chunk_left(p->streams, p->rank, &left, NULL) != HPCW_OK ||
                         left != size - middle)) {
            return differs(p, "the rest of a chunk", at + middle);
        }
        at += size;
    }
    return at == p->task.size && hpcw_sion_reader_seek(p->streams, p->rank, at, NULL) == HPCW_OK &&
           hpcw_sion_reader_chunk_left(p->streams, p->rank, &left, NULL) == HPCW_OK && left == 0 &&
           hpcw_sion_reader_seek(p->streams, p->rank, 0, NULL) == HPCW_OK;
}

/* Compares the key-value records. Reads each record only in part, and searches the next record with the same
 * key. */
static bool same_records(struct pair *p) {
    struct read_sion_keys keys;
    struct read_sion_record expected;
    hpcw_sion_record got;
    bool more = true, there;
    read_sion_keys_begin(&keys, &p->task);
    while (more) {
        if (read_sion_keys_next(p->reader, &keys, &expected, &more, NULL) != HPCW_OK ||
            hpcw_sion_reader_next_key(p->streams, p->rank, &got, &there, NULL) != HPCW_OK || there != more) {
            return differs(p, "the number of records", keys.next);
        }
        if (!more) {
            break;
        }
        size_t part = (size_t)random_below(&p->rng, expected.size + 1), size;
        if (got.key != expected.key || got.size != expected.size ||
            hpcw_sion_reader_position(p->streams, p->rank) != expected.offset ||
            hpcw_sion_reader_read(p->streams, p->rank, p->got, part, &size, NULL) != HPCW_OK || size != part ||
            memcmp(p->got, p->bytes + expected.offset, part) != 0 ||
            hpcw_sion_reader_skip(p->streams, p->rank, expected.size - part + 1, NULL) != HPCW_ERANGE ||
            hpcw_sion_reader_at_end(p->streams, p->rank) != (part == expected.size)) {
            return differs(p, "a record", expected.offset);
        }
        hpcw_sion_record found;
        if (hpcw_sion_reader_seek(p->streams, p->rank, 0, NULL) != HPCW_OK ||
            hpcw_sion_reader_find_key(p->streams, p->rank, expected.key, &found, &there, NULL) != HPCW_OK ||
            !there || found.offset > got.offset || found.key != got.key) {
            return differs(p, "a record that is looked for", expected.offset);
        }
        if (hpcw_sion_reader_seek(p->streams, p->rank, got.offset, NULL) != HPCW_OK ||
            hpcw_sion_reader_next_key(p->streams, p->rank, &found, &there, NULL) != HPCW_OK || !there ||
            memcmp(&found, &got, sizeof got) != 0) {
            return differs(p, "a record that was there before", expected.offset);
        }
    }
    return hpcw_sion_reader_at_end(p->streams, p->rank) &&
           hpcw_sion_reader_seek(p->streams, p->rank, 0, NULL) == HPCW_OK;
}

static bool same_task(const hpcw_sion_task *a, const struct read_sion_task *b) {
    return a->rank == b->rank && a->file == b->file && a->index == b->index && a->blocks == b->blocks &&
           a->chunk_size == b->chunk_size && a->start == b->start && a->size == b->size;
}

bool same_streams(hpcw_sion_reader *streams, struct read_sion *reader, uint64_t seed) {
    bool same = true;
    for (uint32_t i = 0; same && i < hpcw_sion_reader_count(streams); i++) {
        const hpcw_sion_task *task = hpcw_sion_reader_task(streams, i);
        struct pair p = {.streams = streams, .reader = reader, .rank = task->rank, .rng = seed + i};
        hpcw_error err;
        if (read_sion_find(reader, task->rank, &p.task, &err) != HPCW_OK || !same_task(task, &p.task)) {
            return differs(&p, "the entry of the tables", i);
        }
        p.bytes = malloc((size_t)task->size + 1);
        p.got = malloc((size_t)task->size + 1);
        same = p.bytes != NULL && p.got != NULL &&
               read_sion_read(reader, &p.task, 0, p.bytes, (size_t)task->size, &err) == HPCW_OK &&
               same_pieces(&p) && same_chunks(&p) &&
               (!hpcw_sion_reader_info(streams)->keys || same_records(&p));
        free(p.bytes);
        free(p.got);
    }
    return same;
}
