/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the streams of the tasks that belong to this process. */
#include <inttypes.h>
#include <string.h>

#include "libreader/sion/streams/private.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Bytes of the first read of a task, and of the first read after a jump to another position. Each further read is
 * twice as large. */
#define FIRST_PIECE ((size_t)4 << 10)
/* Bytes of a page of the page cache, which copies page by page. If a read ends at the end of a page, the next read
 * begins with a whole page. */
#define PAGE ((size_t)4 << 10)
/* Reads of at least this many bytes bypass the buffers, as copying would take longer than the system call. */
#define DIRECT ((size_t)32 << 10)

/* ---- tasks ---- */

const hpcw_sion_task *hpcw_sion_reader_find(const hpcw_sion_reader *r, uint32_t rank) {
    return hpcw_sion_reader_task(r, read_sion_own_index(r, rank));
}

static hpcw_status not_own(const struct hpcw_sion_reader *r, uint32_t rank, hpcw_error *err) {
    return r == NULL
               ? hpcw_i_fail(err, HPCW_EINVAL, "sion: handle: expected one, got NULL")
               : hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a task that this process reads, got rank %" PRIu32,
                             r->place.path, rank);
}

static hpcw_status missing(const struct hpcw_sion_reader *r, const char *what, hpcw_error *err) {
    return hpcw_i_fail(err, HPCW_EINVAL, "%s: %s: expected a pointer, got NULL", r->place.path, what);
}

/* Returns the task in the form that the reader of the tables takes. */
static struct read_sion_task table_entry(const struct read_sion_own *o) {
    return (struct read_sion_task){
        .index = o->task.index,
        .rank = o->task.rank,
        .chunk_size = o->task.chunk_size,
        .start = o->task.start,
        .blocks = o->task.blocks,
        .size = o->task.size,
    };
}

hpcw_status hpcw_sion_reader_block_size(hpcw_sion_reader *r, uint32_t rank, uint32_t block, uint64_t *size,
                                        hpcw_error *err) {
    uint32_t i = read_sion_own_index(r, rank);
    if (i == UINT32_MAX) {
        return not_own(r, rank, err);
    }
    if (size == NULL) {
        return missing(r, "size", err);
    }
    struct read_sion_task task = table_entry(&r->own[i]);
    struct read_sion_file *f;
    hpcw_status status = read_sion_part_file(r, r->own[i].part, &f, err);
    return status == HPCW_OK ? read_sion_file_block_size(f, &task, block, size, err) : status;
}

/* Returns the stream offset up to which bytes can be read without moving to another record. */
static uint64_t end_of(const struct read_sion_own *o) {
    return o->record_end != 0 ? o->record_end : o->task.size;
}

/* ---- bytes ---- */

/* Reads up to `most` bytes of a stream, at most to the end of a block. If `pages` is set, a read of more than a
 * page stops at the end of a page. */
static hpcw_status read_piece(struct hpcw_sion_reader *r, struct read_sion_own *o, uint64_t from, void *data,
                              size_t most, bool pages, size_t *got, hpcw_error *err) {
    struct read_sion_task task = table_entry(o);
    struct read_sion_file *f;
    uint64_t at, left;
    hpcw_status status = read_sion_part_file(r, o->part, &f, err);
    if (status == HPCW_OK) {
        status = read_sion_file_locate(f, &task, from, &o->cursor, &at, &left, err);
    }
    if (status == HPCW_OK) {
        *got = left < most ? (size_t)left : most;
        if (pages && left > most && most > PAGE) {
            *got -= (size_t)((at + most) % PAGE);
        }
        status = read_source_read(f->source, at, data, *got, "payload", err);
    }
    return status;
}

static bool has_byte(const struct read_sion_buffer *b, uint32_t i, uint64_t at) {
    return b->owner == i && at - b->from < b->size;
}

static struct read_sion_buffer *small_buffer(struct hpcw_sion_reader *r, uint32_t i) {
    return &r->buffer[i < r->buffers ? i : i % r->buffers];
}

/* A decision how to read the next bytes of a task into a buffer. */
struct fill_plan {
    struct read_sion_buffer *buffer;
    size_t capacity;
    size_t size; /* bytes to read; fewer if the block of the stream or the buffer ends earlier */
};

/* Decides how to read `size` bytes from `at` on, which no buffer holds. The longer a task is read sequentially, the
 * more is read at a time. The task gets the large buffer if the task is new, owns the large buffer already, or is
 * the only task that is read. */
static struct fill_plan plan_fill(struct hpcw_sion_reader *r, uint32_t i, uint64_t at, size_t size) {
    struct fill_plan p = {.buffer = small_buffer(r, i), .capacity = r->buffer_size, .size = FIRST_PIECE};
    const struct read_sion_buffer *before = r->large.owner == i ? &r->large : p.buffer;
    bool goes_on = before->owner == i && before->from + before->size == at;
    if (goes_on && before->size > FIRST_PIECE / 2) {
        p.size = 2 * before->size;
    }
    if (r->own[i].began && r->large.owner != i && p.buffer->owner != i) {
        /* The task is read again after other tasks, so the program reads tasks in turn: fill the whole buffer. */
        p.size = p.capacity;
    }
    p.size = size > p.size ? size : p.size;
    bool alone = r->last_filled == i && p.size > p.capacity;
    if (p.capacity < r->own[i].task.size && (!r->own[i].began || r->large.owner == i || alone)) {
        p.buffer = &r->large;
        p.capacity = READ_SION_LARGE;
    }
    return p;
}

/* Allocates memory for a buffer. All small buffers are in one block of large pages: a program that reads tasks in
 * turn touches all buffers, and with small pages each access would miss the TLB. */
static unsigned char *memory_of(struct hpcw_sion_reader *r, const struct read_sion_buffer *b) {
    if (b == &r->large) {
        return hpcw_i_malloc(READ_SION_LARGE);
    }
    if (r->block == NULL) {
        r->block = hpcw_i_malloc_large(r->buffers * r->buffer_size);
    }
    return r->block == NULL ? NULL : r->block + (size_t)(b - r->buffer) * r->buffer_size;
}

static hpcw_status fill(struct hpcw_sion_reader *r, uint32_t i, uint64_t at, const struct fill_plan *p,
                        hpcw_error *err) {
    struct read_sion_buffer *b = p->buffer;
    b->size = 0;
    if (b->data == NULL && (b->data = memory_of(r, b)) == NULL) {
        return hpcw_i_fail_memory(err, r->place.path, p->capacity, "bytes of a buffer");
    }
    r->own[i].began = true;
    size_t got = 0, most = p->size < p->capacity ? p->size : p->capacity;
    hpcw_status status = read_piece(r, &r->own[i], at, b->data, most, true, &got, err);
    b->owner = i;
    b->from = at;
    b->size = status == HPCW_OK ? got : 0;
    return status;
}

/* Reads bytes [at, at + size) of the stream of own task i. The bytes must be inside the stream. */
static hpcw_status read_bytes(struct hpcw_sion_reader *r, uint32_t i, uint64_t at, void *data, size_t size,
                              hpcw_error *err) {
    unsigned char *to = data;
    while (size > 0) {
        struct read_sion_buffer *b = has_byte(&r->large, i, at) ? &r->large : small_buffer(r, i);
        hpcw_status status = HPCW_OK;
        size_t part = 0;
        if (!has_byte(b, i, at)) {
            const struct fill_plan p = plan_fill(r, i, at, size);
            r->last_filled = i;
            if (size >= DIRECT || size >= p.capacity) {
                status = read_piece(r, &r->own[i], at, to, size, false, &part, err);
            } else {
                status = fill(r, i, at, &p, err);
                b = p.buffer;
            }
        }
        if (status != HPCW_OK) {
            return status;
        }
        if (part == 0) {
            size_t skip = (size_t)(at - b->from);
            part = b->size - skip < size ? b->size - skip : size;
            memcpy(to, b->data + skip, part);
        }
        to += part;
        at += part;
        size -= part;
    }
    return HPCW_OK;
}

/* Reads the next bytes of own task i if a copy from one buffer is enough. Otherwise returns false and changes
 * nothing. */
static inline bool read_quickly(struct hpcw_sion_reader *r, uint32_t i, void *data, size_t size) {
    struct read_sion_own *o = &r->own[i];
    const struct read_sion_buffer *b = r->large.owner == i ? &r->large : small_buffer(r, i);
    if (!has_byte(b, i, o->position)) {
        return false;
    }
    size_t skip = (size_t)(o->position - b->from);
    if (size == 0 || size > b->size - skip || size > end_of(o) - o->position) {
        return false;
    }
    const unsigned char *from = b->data + skip;
    memcpy(data, from, size);
    /* If tasks are read in turn, this brings the task's next record into the cache before it is needed. */
    __builtin_prefetch(from + size);
    o->position += size;
    return true;
}

hpcw_status hpcw_sion_reader_read(hpcw_sion_reader *r, uint32_t rank, void *data, size_t size, size_t *got,
                                  hpcw_error *err) {
    uint32_t i = read_sion_own_index(r, rank);
    if (i != UINT32_MAX && got != NULL && data != NULL && read_quickly(r, i, data, size)) {
        *got = size;
        return HPCW_OK;
    }
    if (got != NULL) {
        *got = 0;
    }
    if (i == UINT32_MAX) {
        return not_own(r, rank, err);
    }
    if (got == NULL || (data == NULL && size > 0)) {
        return missing(r, got == NULL ? "got" : "data", err);
    }
    struct read_sion_own *o = &r->own[i];
    uint64_t rest = end_of(o) - o->position;
    size = rest < size ? (size_t)rest : size;
    hpcw_status status = read_bytes(r, i, o->position, data, size, err);
    if (status == HPCW_OK) {
        o->position += size;
        *got = size;
    }
    return status;
}

/* ---- positions ---- */

bool hpcw_sion_reader_at_end(const hpcw_sion_reader *r, uint32_t rank) {
    uint32_t i = read_sion_own_index(r, rank);
    return i == UINT32_MAX || r->own[i].position == end_of(&r->own[i]);
}

uint64_t hpcw_sion_reader_position(const hpcw_sion_reader *r, uint32_t rank) {
    uint32_t i = read_sion_own_index(r, rank);
    return i == UINT32_MAX ? 0 : r->own[i].position;
}

hpcw_status hpcw_sion_reader_skip(hpcw_sion_reader *r, uint32_t rank, uint64_t size, hpcw_error *err) {
    uint32_t i = read_sion_own_index(r, rank);
    if (i == UINT32_MAX) {
        return not_own(r, rank, err);
    }
    struct read_sion_own *o = &r->own[i];
    uint64_t rest = end_of(o) - o->position;
    if (size > rest) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "%s: skip in the stream of rank %" PRIu32 ": expected at most the remaining %" PRIu64
                           " bytes, got %" PRIu64,
                           r->place.path, rank, rest, size);
    }
    o->position += size;
    return HPCW_OK;
}

hpcw_status hpcw_sion_reader_seek(hpcw_sion_reader *r, uint32_t rank, uint64_t offset, hpcw_error *err) {
    uint32_t i = read_sion_own_index(r, rank);
    if (i == UINT32_MAX) {
        return not_own(r, rank, err);
    }
    struct read_sion_own *o = &r->own[i];
    if (offset > o->task.size) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "%s: seek in the stream of rank %" PRIu32 ": expected at most its size %" PRIu64
                           ", got %" PRIu64,
                           r->place.path, rank, o->task.size, offset);
    }
    o->position = offset;
    o->record_end = 0;
    return HPCW_OK;
}

hpcw_status hpcw_sion_reader_chunk_left(hpcw_sion_reader *r, uint32_t rank, uint64_t *left, hpcw_error *err) {
    uint32_t i = read_sion_own_index(r, rank);
    if (i == UINT32_MAX) {
        return not_own(r, rank, err);
    }
    if (left == NULL) {
        return missing(r, "left", err);
    }
    struct read_sion_own *o = &r->own[i];
    if (o->position == o->task.size) {
        *left = 0;
        return HPCW_OK;
    }
    struct read_sion_task task = table_entry(o);
    struct read_sion_file *f;
    uint64_t at;
    hpcw_status status = read_sion_part_file(r, o->part, &f, err);
    return status == HPCW_OK ? read_sion_file_locate(f, &task, o->position, &o->cursor, &at, left, err)
                             : status;
}

/* ---- keys and values ---- */

hpcw_status hpcw_sion_reader_next_key(hpcw_sion_reader *r, uint32_t rank, hpcw_sion_record *record, bool *more,
                                      hpcw_error *err) {
    uint32_t i = read_sion_own_index(r, rank);
    if (more != NULL) {
        *more = false;
    }
    if (i == UINT32_MAX) {
        return not_own(r, rank, err);
    }
    if (more == NULL || record == NULL) {
        return missing(r, more == NULL ? "more" : "record", err);
    }
    if (!r->info.keys) {
        return hpcw_i_fail(err, HPCW_ENOTSUP, "%s: content: expected key-value records, got plain streams",
                           r->place.path);
    }
    struct read_sion_own *o = &r->own[i];
    uint64_t at = o->record_end != 0 ? o->record_end : o->position;
    if (at == o->task.size) {
        o->position = at;
        o->record_end = 0;
        return HPCW_OK;
    }
    unsigned char header[READ_SION_RECORD_HEADER] = {0};
    struct read_sion_task task = table_entry(o);
    struct read_sion_record found;
    struct read_sion_file *f;
    hpcw_status status = HPCW_OK;
    if (o->task.size - at >= sizeof header) {
        status = read_bytes(r, i, at, header, sizeof header, err);
    }
    if (status == HPCW_OK) {
        status = read_sion_part_file(r, o->part, &f, err);
    }
    if (status == HPCW_OK) {
        status = read_sion_record_decode(f, &task, at, header, &found, err);
    }
    if (status == HPCW_OK) {
        *record = (hpcw_sion_record){.key = found.key, .size = found.size, .offset = at};
        o->position = found.offset;
        o->record_end = found.offset + found.size;
        *more = true;
    }
    return status;
}

hpcw_status hpcw_sion_reader_find_key(hpcw_sion_reader *r, uint32_t rank, uint64_t key,
                                      hpcw_sion_record *record, bool *found, hpcw_error *err) {
    hpcw_sion_record at;
    hpcw_status status;
    do {
        status = hpcw_sion_reader_next_key(r, rank, record == NULL ? NULL : &at, found, err);
    } while (status == HPCW_OK && *found && at.key != key);
    if (status == HPCW_OK && *found) {
        *record = at;
    }
    return status;
}
