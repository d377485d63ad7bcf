/* SPDX-License-Identifier: BSD-3-Clause */
/* Slices put records into blocks, and write the blocks once their position in the file is known. */
#include "libwriter/format/clog2/file/file.h"

#include <inttypes.h>

#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/clog2/file/blocks.h"

enum {
    WRITE_SIZE = 1 << 20, /* bytes of blocks that are written in one call */
    PREFETCH = 2048       /* prefetch distance from the next record, bytes */
};

struct hpcw_clog2_slice {
    hpcw_clog2 *log;
    struct hpcw_i_clog2_blocks blocks;
    uint64_t first_record;
    uint64_t next_block; /* number of the buffer's first block, counted in the whole file */
    double last_time;
    bool placed, ended;
    bool broken; /* true: a record may be missing in the slice */
};

static hpcw_status begin(hpcw_clog2_slice *slice, uint64_t first_record, hpcw_error *err) {
    if (first_record % HPCW_CLOG2_SEGMENT != 0) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: slice: expected a first record whose number is a multiple of %u, got %" PRIu64,
                           slice->log->path, HPCW_CLOG2_SEGMENT, first_record);
    }
    hpcw_i_clog2_blocks_begin(&slice->blocks, slice->log->options.block_size, first_record);
    slice->first_record = first_record;
    slice->next_block = 0;
    slice->last_time = 0;
    slice->placed = slice->ended = slice->broken = false;
    return HPCW_OK;
}

hpcw_status hpcw_clog2_slice_new(hpcw_clog2 *log, uint64_t first_record, hpcw_clog2_slice **out,
                                 hpcw_error *err) {
    if (out == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "clog2: expected a pointer for the slice, got NULL");
    }
    *out = NULL;
    if (log == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "clog2: expected an open log, got NULL");
    }
    hpcw_clog2_slice *slice = hpcw_i_calloc(1, sizeof *slice);
    if (slice == NULL) {
        return hpcw_i_fail_memory(err, log->path, 0, "a slice");
    }
    slice->log = log;
    hpcw_status s = begin(slice, first_record, err);
    if (s != HPCW_OK) {
        hpcw_clog2_slice_free(slice);
        return s;
    }
    *out = slice;
    return HPCW_OK;
}

hpcw_status hpcw_clog2_slice_again(hpcw_clog2_slice *slice, uint64_t first_record, hpcw_error *err) {
    if (slice == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "clog2: expected a slice, got NULL");
    }
    return begin(slice, first_record, err);
}

void hpcw_clog2_slice_free(hpcw_clog2_slice *slice) {
    if (slice != NULL) {
        if (!slice->ended && slice->blocks.records > slice->first_record && !slice->log->closed) {
            hpcw_error why;
            (void)hpcw_i_fail(&why, HPCW_ESTATE,
                              "%s: expected slices that have ended, got one that was freed before",
                              slice->log->path);
            hpcw_clog2_abandon(slice->log, &why);
        }
        hpcw_i_clog2_blocks_free(&slice->blocks);
        hpcw_i_free(slice);
    }
}

uint64_t hpcw_clog2_slice_blocks(const hpcw_clog2_slice *slice) {
    return slice == NULL ? 0 : hpcw_i_clog2_blocks_count(&slice->blocks);
}

uint64_t hpcw_clog2_slice_records(const hpcw_clog2_slice *slice) {
    return slice == NULL ? 0 : slice->blocks.records - slice->first_record;
}

static hpcw_status usable(const hpcw_clog2_slice *slice, hpcw_error *err) {
    if (slice == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "clog2: expected a slice, got NULL");
    }
    return slice->ended || slice->broken
               ? hpcw_i_fail(err, HPCW_ESTATE, "%s: the slice %s", slice->log->path,
                             slice->broken ? "is broken by an earlier failure" : "has ended")
               : HPCW_OK;
}

/* Marks the slice as incomplete. Records are missing, so the close of the log fails even if the caller ignores this
 * function's status. */
static hpcw_status lose(hpcw_clog2_slice *slice, const hpcw_error *why) {
    slice->broken = true;
    hpcw_clog2_abandon(slice->log, why);
    return why->code;
}

static hpcw_status write_ready(hpcw_clog2_slice *slice, hpcw_error *err) {
    struct hpcw_i_clog2_blocks *b = &slice->blocks;
    size_t size = hpcw_i_clog2_blocks_ready(b);
    uint64_t offset = HPCW_I_CLOG2_PREAMBLE + slice->next_block * b->block_size;
    hpcw_error local;
    err = err == NULL ? &local : err;
    hpcw_status s = hpcw_sink_write_at(slice->log->sink, offset, b->data, size, err);
    if (s != HPCW_OK) {
        return lose(slice, err);
    }
    slice->next_block += size / b->block_size;
    hpcw_i_clog2_blocks_drop(b);
    return HPCW_OK;
}

static hpcw_status no_memory(hpcw_clog2_slice *slice, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    (void)hpcw_i_fail_memory(err, slice->log->path, 0, "the blocks of a slice");
    return lose(slice, err);
}

hpcw_status hpcw_i_clog2_slice_space(hpcw_clog2_slice *slice, uint32_t size, double time, unsigned char **space,
                                     size_t *room, size_t *most, hpcw_error *err) {
    struct hpcw_i_clog2_blocks *b = &slice->blocks;
    slice->last_time = time;
    *space = hpcw_i_clog2_blocks_space(b, size, time, room, most);
    if (*space == NULL) {
        return no_memory(slice, err);
    }
    if (slice->placed && hpcw_i_clog2_blocks_ready(b) >= WRITE_SIZE) {
        /* This call has opened the last block, which is empty. Without a new block, an earlier call would have
         * written the others. */
        hpcw_status s = write_ready(slice, err);
        *space = b->data + b->start + b->used;
        return s;
    }
    return HPCW_OK;
}

void hpcw_i_clog2_slice_took(hpcw_clog2_slice *slice, size_t bytes, size_t records) {
    hpcw_i_clog2_blocks_took(&slice->blocks, bytes, records);
}

/* A run of records that were put without a full check. */
struct stretch {
    size_t records, bytes;
    double last_time;
};

/*
 * Puts bare events and messages whose fields are all valid, as long as they fit into `room`. Stops before the first
 * record that needs a full check. The bounds are passed as a copy, so that the compiler knows that no store changes
 * them.
 */
static struct stretch put_stretch(struct hpcw_i_clog2_bounds b, const hpcw_clog2_record *record, size_t count,
                                  double last_time, unsigned char *p, size_t room) {
    struct stretch done = {.last_time = last_time};
    for (; done.records < count; done.records++) {
        const hpcw_clog2_record *r = &record[done.records];
        if (!(r->time >= done.last_time && r->time < HPCW_CLOG2_LAST) || (uint32_t)r->comm >= b.comms ||
            (uint32_t)r->rank >= b.ranks || (uint32_t)r->thread >= b.threads) {
            break;
        }
        const uint32_t size = hpcw_i_clog2_size((int32_t)r->kind);
        /* Until a slice has a position in the file, its blocks stay in memory and exceed the caches. Without a
         * prefetch, each store to a new cache line would wait. */
        __builtin_prefetch(p + done.bytes + PREFETCH, 1);
        if (r->kind == HPCW_CLOG2_BARE && done.bytes + size <= room && hpcw_i_clog2_is_event(r->as.event, &b)) {
            hpcw_i_clog2_encode_bare(r, p + done.bytes);
        } else if (r->kind == HPCW_CLOG2_MESSAGE && done.bytes + size <= room &&
                   hpcw_i_clog2_is_message(r, &b)) {
            hpcw_i_clog2_encode_message(r, p + done.bytes);
        } else {
            break;
        }
        done.bytes += size;
        done.last_time = r->time;
    }
    return done;
}

static hpcw_status check(const hpcw_clog2_slice *slice, const hpcw_clog2_record *r, hpcw_error *err) {
    hpcw_status s;
    /* This form of the comparison also refuses NaN. */
    if (!(r->time >= slice->last_time && r->time < HPCW_CLOG2_LAST)) {
        s = hpcw_i_fail(
            err, HPCW_EINVAL,
            "clog2: record: expected a time from %.9f s, that of the record before, to 1e8 s, got %.9f",
            slice->last_time, r->time);
    } else {
        s = hpcw_i_clog2_record_check(r, &slice->log->bounds, err);
    }
    if (s != HPCW_OK) {
        hpcw_i_fail_about(err, slice->log->path);
    }
    return s;
}

hpcw_status hpcw_clog2_slice_put(hpcw_clog2_slice *slice, const hpcw_clog2_record *record, size_t count,
                                 hpcw_error *err) {
    hpcw_status s = usable(slice, err);
    for (size_t i = 0; s == HPCW_OK && i < count;) {
        const hpcw_clog2_record *r = &record[i];
        const uint32_t size = hpcw_i_clog2_size((int32_t)r->kind);
        unsigned char *p;
        size_t room, most;
        s = check(slice, r, err);
        if (s == HPCW_OK) {
            s = hpcw_i_clog2_slice_space(slice, size, r->time, &p, &room, &most, err);
        }
        if (s == HPCW_OK) {
            hpcw_i_clog2_encode(r, p);
            const size_t rest = count - i - 1 < most - 1 ? count - i - 1 : most - 1;
            struct stretch more = put_stretch(slice->log->bounds, r + 1, rest, r->time, p + size, room - size);
            hpcw_i_clog2_slice_took(slice, size + more.bytes, 1 + more.records);
            slice->last_time = more.last_time;
            i += 1 + more.records;
        }
    }
    return s;
}

hpcw_status hpcw_clog2_slice_place(hpcw_clog2_slice *slice, uint64_t first_block, hpcw_error *err) {
    if (slice == NULL || slice->broken) {
        return usable(slice, err);
    }
    if (slice->placed) {
        return hpcw_i_fail(err, HPCW_ESTATE, "%s: the slice already has a place", slice->log->path);
    }
    uint64_t end;
    if (!hpcw_i_add_u64(first_block, hpcw_i_clog2_blocks_count(&slice->blocks), &end) ||
        end > INT64_MAX / slice->blocks.block_size) {
        return hpcw_i_fail(err, HPCW_ERANGE, "%s: block %" PRIu64 " of %u bytes is beyond what a file can hold",
                           slice->log->path, first_block, slice->blocks.block_size);
    }
    slice->placed = true;
    slice->next_block = first_block;
    return write_ready(slice, err);
}

hpcw_status hpcw_clog2_slice_end(hpcw_clog2_slice *slice, double next_time, hpcw_error *err) {
    hpcw_status s = usable(slice, err);
    if (s != HPCW_OK) {
        return s;
    }
    struct hpcw_i_clog2_blocks *b = &slice->blocks;
    const char *path = slice->log->path;
    if (!(next_time >= slice->last_time && next_time <= HPCW_CLOG2_LAST)) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: end of a slice: expected a time from %.9f s to 1e8 s, got %.9f", path,
                           slice->last_time, next_time);
    }
    bool last = next_time == HPCW_CLOG2_LAST;
    if (!last && b->records % HPCW_CLOG2_SEGMENT != 0) {
        return hpcw_i_fail(
            err, HPCW_EINVAL,
            "%s: end of a slice that is not the last: expected a next record whose number is a multiple "
            "of %u, got %" PRIu64,
            path, HPCW_CLOG2_SEGMENT, b->records);
    }
    if (last && b->records == slice->first_record && slice->first_record > 0) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: end of the last slice: expected at least one record, got none", path);
    }
    if (!hpcw_i_clog2_blocks_end(b, next_time)) {
        return no_memory(slice, err);
    }
    slice->ended = true;
    return slice->placed ? write_ready(slice, err) : HPCW_OK;
}
