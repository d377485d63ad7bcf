/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/count/sharing.h"

#include <inttypes.h>

#include <hpcw/sion.h>

#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* ---- where the bytes of a rank are ---- */

/* Layout of the chunks in a physical file. A shared file without gaps is treated as a container with blocks of
 * one byte and no metadata. */
struct arrangement {
    uint32_t tasks;
    uint64_t block; /* alignment of chunks, or of groups of chunks */
    uint64_t chunk; /* requested chunk size of a task */
    /* packed layout: limit of the requested bytes of a group of chunks; 0: every chunk is aligned */
    uint64_t share;
    uint64_t rank_bytes, record_bytes;
    /* Computed from all tasks in advance: */
    uint64_t stride; /* distance from a task's chunk to its next one, bytes */
    uint32_t most;   /* largest number of chunks that a task uses */
};

/* How a task fills its chunks: all except the last one are alike. */
struct filling {
    uint64_t chunk; /* size of a chunk; the other members are valid for this size only */
    uint64_t full, last;
    uint64_t chunks;
};

static struct filling filling_of(const struct arrangement *a, uint64_t chunk) {
    struct filling f = {.chunk = chunk};
    if (a->record_bytes == 0) {
        f.full = chunk;
        f.chunks = (a->rank_bytes - 1) / chunk + 1;
        f.last = a->rank_bytes - (f.chunks - 1) * chunk;
        return f;
    }
    uint64_t records = a->rank_bytes / a->record_bytes;
    uint64_t rest = a->rank_bytes % a->record_bytes;
    uint64_t fit = chunk / a->record_bytes;
    f.full = fit * a->record_bytes;
    f.chunks = records == 0 ? 0 : (records - 1) / fit + 1;
    f.last = records == 0 ? chunk : (records - (f.chunks - 1) * fit) * a->record_bytes;
    if (rest > 0 && rest <= chunk - f.last) {
        f.last += rest;
    } else if (rest > 0) {
        f.chunks++;
        f.last = rest;
    }
    return f;
}

static uint64_t used(const struct filling *f, uint64_t chunk_index) {
    return chunk_index + 1 < f->chunks ? f->full : chunk_index + 1 == f->chunks ? f->last : 0;
}

/* A task and the position of its chunk in each block of the container, which has one chunk of each task. */
struct slot {
    uint32_t task;
    uint64_t start;
    /* packed layout: bytes that the tasks of the current group have requested, including this task */
    uint64_t group;
    struct filling fill;
};

/* Returns the state before the first slot. */
static struct slot slot_before_all(void) {
    return (struct slot){.task = UINT32_MAX};
}

/* Advances to the next task. Returns false after the last one. */
static bool next_slot(const struct arrangement *a, struct slot *s) {
    bool first = s->task == UINT32_MAX;
    if (!first && s->task + 1 == a->tasks) {
        return false;
    }
    s->start = first ? 0 : s->start + s->fill.chunk;
    s->task = first ? 0 : s->task + 1;
    uint64_t end = s->start + a->chunk;
    s->group += a->chunk;
    /* In a packed layout, a group of chunks ends when the next chunk would exceed the limit of the group. */
    if (a->share == 0 || s->task + 1 == a->tasks || s->group + a->chunk > a->share) {
        end = hpcw_i_align_up(end, a->block);
        s->group = 0;
    }
    if (end - s->start != s->fill.chunk) {
        s->fill = filling_of(a, end - s->start);
    }
    return true;
}

static hpcw_status arrange(const struct bench_geometry *g, uint32_t tasks, struct arrangement *a,
                           hpcw_error *err) {
    bool sion = g->layout <= BENCH_SION_SHIFTED;
    *a = (struct arrangement){.tasks = tasks,
                              .block = sion ? g->container_block : 1,
                              .chunk = sion && g->chunk_bytes != 0 ? g->chunk_bytes : g->rank_bytes,
                              .rank_bytes = g->rank_bytes,
                              .record_bytes = sion ? g->record_bytes : 0};
    uint64_t rounded;
    uint64_t whole;
    if (!hpcw_i_round_up_u64(a->chunk, a->block, &rounded) || !hpcw_i_mul_u64(rounded, tasks, &whole) ||
        whole > INT64_MAX / 2) {
        return hpcw_i_fail(err, HPCW_ERANGE, "sharing: %u chunks of %" PRIu64 " bytes pass 2^62 bytes", tasks,
                           a->chunk);
    }
    if (g->layout == BENCH_SION_PACKED) {
        a->share = hpcw_sion_group_share(a->chunk * tasks, tasks, 0, (uint32_t)a->block);
    }
    uint64_t smallest = g->layout == BENCH_SION_PACKED ? a->chunk : rounded;
    uint64_t largest_record = a->record_bytes < a->rank_bytes ? a->record_bytes : a->rank_bytes;
    if (a->record_bytes != 0 && largest_record > smallest) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "sharing: expected records that fit into a chunk of %" PRIu64 " bytes, got %" PRIu64,
                           smallest, largest_record);
    }
    uint64_t most = 0;
    struct slot s = slot_before_all();
    while (next_slot(a, &s)) {
        most = s.fill.chunks > most ? s.fill.chunks : most;
    }
    a->stride = s.start + s.fill.chunk;
    a->most = (uint32_t)most;
    return most <= INT32_MAX ? HPCW_OK
                             : hpcw_i_fail(err, HPCW_ERANGE,
                                           "sharing: expected at most %d chunks of a rank, got %" PRIu64
                                           " of %" PRIu64 " bytes",
                                           INT32_MAX, most, a->chunk);
}

/* ---- a walk over all bytes in the order of the file ---- */

struct block_walk {
    uint64_t fs_block;
    const uint32_t *owner; /* [tasks] owner of each task, or NULL */
    /* sums over finished blocks */
    uint64_t blocks, shared_blocks, owner_blocks, all_bytes, shared_bytes;
    /* The current block: */
    uint64_t index;
    uint64_t bytes;
    uint32_t tasks; /* number of different tasks in the block; 0: no block yet */
    uint32_t first, last;
    bool owners;          /* the block has bytes of several owners */
    uint64_t first_index; /* index of the first block */
    uint32_t largest;
    /* Bit t of `sharing`: task t shares a block. Bit t of `pair`: tasks t and t + 1 share a block. */
    uint64_t *sharing, *pair;
};

static uint64_t *bits_new(uint32_t count) {
    return hpcw_i_calloc((size_t)count / 64 + 1, sizeof(uint64_t));
}

static void set_bit(uint64_t *bits, uint32_t i) {
    bits[i / 64] |= UINT64_C(1) << i % 64;
}

static uint32_t count_bits(const uint64_t *bits, uint32_t count) {
    uint32_t n = 0;
    for (size_t i = 0; i < (size_t)count / 64 + 1; i++) {
        n += (uint32_t)__builtin_popcountll(bits[i]);
    }
    return n;
}

static void leave_block(struct block_walk *w) {
    if (w->tasks == 0) {
        return;
    }
    w->blocks++;
    w->all_bytes += w->bytes;
    w->owner_blocks += w->owners;
    if (w->tasks > 1) {
        w->shared_blocks++;
        w->shared_bytes += w->bytes;
    }
    w->largest = w->tasks > w->largest ? w->tasks : w->largest;
}

static void enter_block(struct block_walk *w, uint64_t index, uint32_t task, uint64_t bytes) {
    w->index = index;
    w->bytes = bytes;
    w->tasks = 1;
    w->owners = false;
    w->first = w->last = task;
}

/* Adds the bytes [start, start + size) of a task, which are in its k-th chunk. before: end of the bytes of the
 * same task in chunk k - 1, or 0. successor: end of the bytes of task + 1 in its chunk k - 1, or 0. */
static void add_piece(struct block_walk *w, uint32_t task, uint64_t start, uint64_t size, uint64_t before,
                      uint64_t successor) {
    uint64_t index = start / w->fs_block;
    uint64_t begin = index * w->fs_block;
    uint64_t head = w->fs_block - (start - begin);
    head = head < size ? head : size;
    if (w->tasks == 0 || index != w->index) {
        w->first_index = w->tasks == 0 ? index : w->first_index;
        leave_block(w);
        enter_block(w, index, task, head);
    } else {
        w->bytes += head;
        if (task == w->last + 1) {
            set_bit(w->pair, w->last);
        }
        if (before <= begin) {
            w->tasks++;
        }
        if (w->tasks > 1) {
            set_bit(w->sharing, task);
            set_bit(w->sharing, w->first);
        }
        w->owners = w->owners || (w->owner != NULL && w->owner[task] != w->owner[w->first]);
        w->last = task;
    }
    if (successor > begin) {
        set_bit(w->pair, task);
    }
    if (size > head) {
        uint64_t rest = size - head;
        uint64_t whole = (rest - 1) / w->fs_block; /* blocks that only this task fills */
        leave_block(w);
        w->blocks += whole;
        w->all_bytes += whole * w->fs_block;
        w->largest = w->largest == 0 ? 1 : w->largest;
        enter_block(w, index + whole + 1, task, rest - whole * w->fs_block);
    }
}

/* Adds the k-th chunks of all tasks. base: offset of the first chunk of task 0. */
static void add_chunks(struct block_walk *w, const struct arrangement *a, uint64_t base, uint64_t k) {
    struct slot s = slot_before_all();
    struct slot next = s;
    uint64_t at = base + k * a->stride;
    uint64_t earlier = at - (k == 0 ? 0 : a->stride);
    for (bool more = next_slot(a, &next); more;) {
        s = next;
        more = next_slot(a, &next);
        uint64_t size = used(&s.fill, k);
        if (size == 0) {
            continue;
        }
        uint64_t of_next = more && k > 0 ? used(&next.fill, k - 1) : 0;
        add_piece(w, s.task, at + s.start, size, k == 0 ? 0 : earlier + s.start + s.fill.full,
                  of_next == 0 ? 0 : earlier + next.start + of_next);
    }
}

/* ---- files ---- */

static void add_file(struct bench_sharing *all, const struct bench_sharing *one, uint64_t times) {
    all->blocks += times * one->blocks;
    all->data_blocks += times * one->data_blocks;
    all->shared_blocks += times * one->shared_blocks;
    all->owner_blocks += times * one->owner_blocks;
    all->largest = one->largest > all->largest ? one->largest : all->largest;
    all->ranks += (uint32_t)times * one->ranks;
    all->pairs += (uint32_t)times * one->pairs;
    all->bytes += times * one->bytes;
    all->shared_bytes += times * one->shared_bytes;
    all->meta_blocks += times * one->meta_blocks;
    all->mixed_blocks += times * one->mixed_blocks;
    all->meta_bytes += times * one->meta_bytes;
    all->unused_bytes += times * one->unused_bytes;
}

/* Counts the blocks with metadata, which are before and after the data. shape: shape of the container. */
static void count_metadata(const struct bench_geometry *g, const hpcw_sion_shape *shape,
                           const struct block_walk *w, struct bench_sharing *out) {
    uint64_t front = bench_layout_shift(g->layout, g->container_block);
    uint64_t end = shape->file_size + front;
    uint64_t front_end = (front + shape->meta1_size - 1) / g->fs_block;
    uint64_t back = (shape->meta2_start + front) / g->fs_block;
    out->meta_bytes = shape->meta1_size + (shape->file_size - shape->meta2_start);
    out->meta_blocks =
        front_end - front / g->fs_block + 1 + (end - 1) / g->fs_block - back + 1 - (front_end == back);
    bool mixed_front = front_end == w->first_index;
    bool mixed_back = back == w->index;
    out->mixed_blocks = (uint64_t)mixed_front + mixed_back - (mixed_front && mixed_back && front_end == back);
}

/* Counts the blocks of one physical file. first: first rank of the file. */
static hpcw_status count_file(const struct bench_geometry *g, uint32_t first, uint32_t tasks, uint64_t mapping,
                              struct bench_sharing *out, hpcw_error *err) {
    *out = (struct bench_sharing){0};
    bool sion = g->layout <= BENCH_SION_SHIFTED;
    struct arrangement a;
    hpcw_sion_shape shape;
    hpcw_status s = arrange(g, tasks, &a, err);
    if (s == HPCW_OK && sion) {
        s = hpcw_sion_shape_of(tasks, (uint32_t)a.block, a.stride, a.most, mapping, &shape, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    struct block_walk w = {.fs_block = g->fs_block,
                           .owner = g->owner == NULL ? NULL : g->owner + first,
                           .sharing = bits_new(tasks),
                           .pair = bits_new(tasks)};
    if (w.sharing == NULL || w.pair == NULL) {
        s = hpcw_i_fail_memory(err, "sharing", tasks, "ranks");
        goto done;
    }
    const uint64_t base = (sion ? shape.data_start : 0) + bench_layout_shift(g->layout, g->container_block);
    for (uint64_t k = 0; k < a.most; k++) {
        add_chunks(&w, &a, base, k);
    }
    leave_block(&w);
    *out = (struct bench_sharing){.data_blocks = w.blocks,
                                  .shared_blocks = w.shared_blocks,
                                  .owner_blocks = w.owner_blocks,
                                  .largest = w.largest,
                                  .ranks = count_bits(w.sharing, tasks),
                                  .pairs = count_bits(w.pair, tasks),
                                  .bytes = w.all_bytes,
                                  .shared_bytes = w.shared_bytes};
    if (sion) {
        count_metadata(g, &shape, &w, out);
    }
    out->blocks = out->data_blocks + out->meta_blocks - out->mixed_blocks;
    out->unused_bytes = out->blocks * g->fs_block - out->bytes - out->meta_bytes;
done:
    hpcw_i_free(w.sharing);
    hpcw_i_free(w.pair);
    return s;
}

static hpcw_status count_set(const struct bench_geometry *g, struct bench_sharing *out, hpcw_error *err) {
    uint32_t files = g->files == 0 ? 1 : g->files;
    if (files > g->ranks) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "sharing: expected at most a file for each of %u ranks, got %u files", g->ranks,
                           files);
    }
    hpcw_status s = HPCW_OK;
    for (uint32_t f = 0, alike; s == HPCW_OK && f < files; f += alike) {
        /* The first file also has the mapping, and the last file has the remaining ranks. All other files have
         * the same number of shared blocks, so one of them is counted. */
        alike = f == 1 && files > 2 && g->owner == NULL ? files - 2 : 1;
        uint32_t first = hpcw_sion_first_task_of_file(g->ranks, files, f);
        uint32_t tasks = hpcw_sion_first_task_of_file(g->ranks, files, f + 1) - first;
        struct bench_sharing one;
        s = count_file(g, first, tasks, f == 0 && files > 1 ? g->ranks : UINT64_MAX, &one, err);
        add_file(out, &one, alike);
    }
    return s;
}

static hpcw_status check(const struct bench_geometry *g, hpcw_error *err) {
    if ((int)g->layout < 0 || g->layout > BENCH_HDF5_COLLECTIVE) {
        return hpcw_i_fail(err, HPCW_EINVAL, "sharing: expected a layout of bytes of ranks, got number %d",
                           (int)g->layout);
    }
    if (g->ranks == 0 || g->fs_block == 0 || g->rank_bytes == 0) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "sharing: expected ranks, block and bytes > 0, got %u, %" PRIu64 ", %" PRIu64,
                           g->ranks, g->fs_block, g->rank_bytes);
    }
    if (g->layout <= BENCH_SION_SHIFTED && (g->container_block == 0 || g->container_block > INT32_MAX)) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "sharing: expected a container block of 1 to %d bytes, got %" PRIu64, INT32_MAX,
                           g->container_block);
    }
    uint64_t bytes;
    /* The sum over all ranks can overflow, even if the bytes of one rank do not. */
    uint64_t rounded;
    if (!hpcw_i_round_up_u64(g->rank_bytes, g->fs_block, &rounded) ||
        !hpcw_i_mul_u64(rounded, g->ranks, &bytes) || bytes > INT64_MAX / 2) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "sharing: %" PRIu64 " bytes of each of %u ranks in blocks of %" PRIu64 " pass 2^62",
                           g->rank_bytes, g->ranks, g->fs_block);
    }
    return HPCW_OK;
}

hpcw_status bench_sharing_count(const struct bench_geometry *g, struct bench_sharing *out, hpcw_error *err) {
    *out = (struct bench_sharing){0};
    hpcw_status s = check(g, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (g->layout == BENCH_TASK_LOCAL) {
        uint64_t each = (g->rank_bytes - 1) / g->fs_block + 1;
        *out = (struct bench_sharing){.blocks = each * g->ranks,
                                      .data_blocks = each * g->ranks,
                                      .largest = 1,
                                      .bytes = g->rank_bytes * g->ranks,
                                      .unused_bytes = (each * g->fs_block - g->rank_bytes) * g->ranks};
        return HPCW_OK;
    }
    return g->layout <= BENCH_SION_SHIFTED ? count_set(g, out, err)
                                           : count_file(g, 0, g->ranks, UINT64_MAX, out, err);
}
