/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/layout/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/measure/machine.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/io/sys.h"

const struct bench_layout_row *bench_layout_row(enum bench_layout layout) {
    static const struct bench_layout_row *const row[BENCH_LAYOUTS] = {
        [BENCH_SION_ALIGNED] = &bench_row_sion_aligned,
        [BENCH_SION_PACKED] = &bench_row_sion_packed,
        [BENCH_SION_SHIFTED] = &bench_row_sion_shifted,
        [BENCH_TASK_LOCAL] = &bench_row_task_local,
        [BENCH_SHARED_POSIX] = &bench_row_shared_posix,
        [BENCH_MPIIO_INDEPENDENT] = &bench_row_mpiio_independent,
        [BENCH_MPIIO_COLLECTIVE] = &bench_row_mpiio_collective,
        [BENCH_HDF5_INDEPENDENT] = &bench_row_hdf5_independent,
        [BENCH_HDF5_COLLECTIVE] = &bench_row_hdf5_collective,
    };
    return row[layout];
}

/* ---- where the data lie ---- */

/* Returns the number of files of a shape. */
static uint32_t files_of(const struct bench_shape *shape) {
    return shape->layout == BENCH_TASK_LOCAL               ? shape->ranks
           : bench_layout_row(shape->layout)->offers_files ? shape->files
                                                           : 1;
}

/* Places the chunks of one file of a container as hpcw_sion_open does for equal requests: see hpcw_sion_layout. */
static hpcw_status container_spots(const struct bench_shape *shape, uint32_t begin, uint32_t end,
                                   struct bench_spot *spot, uint64_t *size, hpcw_error *err) {
    uint64_t block = shape->block_size;
    uint64_t each = shape->rank_size;
    uint32_t tasks = end - begin;
    uint64_t requested, chunk;
    hpcw_sion_shape of;
    if (!hpcw_i_mul_u64(each, tasks, &requested) || !hpcw_i_round_up_u64(each, block, &chunk)) {
        return hpcw_i_fail(err, HPCW_ERANGE, "%u ranks of %" PRIu64 " bytes pass the largest file offset",
                           tasks, each);
    }
    /* Upper limit of the sum of all chunks: every chunk is rounded up. */
    if (!hpcw_i_mul_u64(chunk, tasks, &requested)) {
        requested = UINT64_MAX;
    }
    hpcw_status s = hpcw_sion_shape_of(tasks, (uint32_t)block, requested, 1, UINT64_MAX, &of, err);
    if (s != HPCW_OK) {
        return s;
    }
    uint64_t share = hpcw_sion_group_share(each * tasks, tasks, 0, (uint32_t)block);
    uint64_t at = of.data_start;
    uint64_t group = 0;
    for (uint32_t i = 0; i < tasks; i++) {
        spot[begin + i].offset = at;
        at += each;
        group += each;
        *size = at;
        if (shape->layout != BENCH_SION_PACKED || group + each > share) {
            at = hpcw_i_align_up(at, block);
            group = 0;
        }
    }
    return HPCW_OK;
}

/* Computes the file and offset of each rank, spot[ranks], and file_size[files]. HPCW_ERANGE: an offset exceeds
 * 2^63 - 1. */
static hpcw_status find_spots(const struct bench_shape *shape, struct bench_spot *spot, uint64_t *file_size,
                              hpcw_error *err) {
    uint32_t files = files_of(shape);
    if (shape->block_size > UINT32_MAX || files == 0 || files > shape->ranks) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "expected blocks below 4 GiB and at most one file for each of %u ranks, got %" PRIu64
                           ", %u",
                           shape->ranks, shape->block_size, files);
    }
    for (uint32_t f = 0; f < files; f++) {
        uint32_t begin = hpcw_sion_first_task_of_file(shape->ranks, files, f);
        uint32_t end = hpcw_sion_first_task_of_file(shape->ranks, files, f + 1);
        for (uint32_t r = begin; r < end; r++) {
            spot[r] = (struct bench_spot){.file = f, .offset = (r - begin) * shape->rank_size};
        }
        file_size[f] = (end - begin) * shape->rank_size;
        if (bench_layout_row(shape->layout)->aligns) {
            hpcw_status s = container_spots(shape, begin, end, spot, &file_size[f], err);
            if (s != HPCW_OK) {
                return s;
            }
        }
    }
    return HPCW_OK;
}

/* ---- one run ---- */

/* Joins the bytes of this process's ranks where they are contiguous. */
static void join_extents(struct bench_work *w) {
    for (uint32_t i = 0; i < w->count; i++) {
        const struct bench_spot *at = &w->spot[w->first + i];
        struct bench_extent *last = w->extents == 0 ? NULL : &w->extent[w->extents - 1];
        if (last != NULL && last->file == at->file && last->offset + last->size == at->offset) {
            last->size += w->shape.rank_size;
        } else {
            w->extent[w->extents++] =
                (struct bench_extent){.file = at->file, .offset = at->offset, .size = w->shape.rank_size};
        }
    }
}

uint32_t bench_work_first(uint32_t ranks, uint32_t writers, int process) {
    return (uint32_t)process < writers ? (uint32_t)((uint64_t)ranks * (uint64_t)process / writers) : ranks;
}

static uint32_t writers(const struct bench_work *w) {
    return w->shape.writers != 0 ? w->shape.writers : (uint32_t)w->processes->count;
}

static hpcw_status place(struct bench_work *w, hpcw_error *err) {
    const uint32_t ranks = w->shape.ranks;
    w->first = bench_work_first(ranks, writers(w), w->processes->process);
    w->count = bench_work_first(ranks, writers(w), w->processes->process + 1) - w->first;
    w->files = files_of(&w->shape);
    w->spot = hpcw_i_calloc(ranks, sizeof *w->spot);
    w->extent = hpcw_i_calloc((size_t)w->count + 1, sizeof *w->extent);
    w->file_size = hpcw_i_calloc((size_t)w->files + 1, sizeof *w->file_size);
    if (w->spot == NULL || w->extent == NULL || w->file_size == NULL) {
        return hpcw_i_fail_memory(err, NULL, w->shape.ranks, "ranks");
    }
    hpcw_status s = find_spots(&w->shape, w->spot, w->file_size, err);
    if (s == HPCW_OK) {
        join_extents(w);
    }
    return s;
}

static hpcw_status make_files(struct bench_work *w, hpcw_error *err) {
    if (w->extents > 0) {
        w->first_file = w->extent[0].file;
        w->open_files = w->extent[w->extents - 1].file - w->first_file + 1;
    }
    w->file = hpcw_i_calloc((size_t)w->open_files + 1, sizeof *w->file);
    return w->file == NULL ? hpcw_i_fail_memory(err, NULL, w->open_files, "files") : HPCW_OK;
}

hpcw_status bench_work_init(struct bench_work *w, const struct bench_shape *shape, bool ceiling,
                            const struct bench_processes *processes, const char *directory,
                            struct bench_data *data, hpcw_error *err) {
    *w = (struct bench_work){.processes = processes,
                             .directory = directory,
                             .row = ceiling ? &bench_row_plain : bench_layout_row(shape->layout),
                             .shape = *shape,
                             .data = data};
    hpcw_status s = place(w, err);
    if (s == HPCW_OK) {
        s = make_files(w, err);
    }
    return s == HPCW_OK && w->row->prepare != NULL ? w->row->prepare(w, err) : s;
}

void bench_work_free(struct bench_work *w) {
    if (w->row != NULL && w->row->clear != NULL) {
        w->row->clear(w);
    }
    for (uint32_t i = 0; w->file != NULL && i < w->open_files; i++) {
        hpcw_error ignored;
        (void)bench_file_close(&w->file[i], &ignored);
    }
    hpcw_i_free(w->file);
    hpcw_i_free(w->spot);
    hpcw_i_free(w->extent);
    hpcw_i_free(w->file_size);
    *w = (struct bench_work){0};
}

/* ---- functions that the timer calls ---- */

/* Runs the next step of the layout; w->steps is its number. */
static hpcw_status run_step(void *work, hpcw_error *err) {
    struct bench_work *w = work;
    if (w->steps == BENCH_WRITE && w->shape.stonewall_ns != 0) {
        w->end_ns = bench_timer_now() + w->shape.stonewall_ns;
    }
    hpcw_status s = w->row->step[w->steps++](w, err);
    w->gone_wrong = w->gone_wrong || s != HPCW_OK;
    return s;
}

static uint64_t written(const void *work) {
    return ((const struct bench_work *)work)->written;
}

const struct bench_side bench_work_side = {
    .name = "run",
    .size = written,
    .phase = {{.name = "open", .run = run_step},
              {.name = "write", .run = run_step},
              {.name = "flush", .run = run_step},
              {.name = "close", .run = run_step}},
};

/* ---- shared by the layouts ---- */

hpcw_status bench_work_path(const struct bench_work *w, uint32_t index, char path[BENCH_PATH],
                            hpcw_error *err) {
    int n = index == 0 ? snprintf(path, BENCH_PATH, "%s/data", w->directory)
                       : snprintf(path, BENCH_PATH, "%s/data.%06u", w->directory, index);
    return n >= 0 && n < BENCH_PATH ? HPCW_OK
                                    : hpcw_i_fail(err, HPCW_ERANGE, "%s: the path is too long", w->directory);
}

/* Returns whether this process allocates the blocks of file `index`: it writes the first byte of the file. */
static bool leads(const struct bench_work *w, uint32_t index) {
    if (w->spot == NULL) {
        return false;
    }
    uint32_t rank = hpcw_sion_first_task_of_file(w->shape.ranks, w->files, index);
    return rank >= w->first && rank < w->first + w->count;
}

/* Returns the bytes that are added to all file offsets. */
static uint64_t shift_of(const struct bench_work *w) {
    return bench_layout_shift(w->shape.layout, w->shape.block_size);
}

hpcw_status bench_work_open_file(struct bench_work *w, uint32_t index, struct bench_file **file,
                                 hpcw_error *err) {
    char path[BENCH_PATH];
    struct bench_file *f = &w->file[index - w->first_file];
    *file = f;
    hpcw_status s = bench_work_path(w, index, path, err);
    if (s != HPCW_OK || f->path != NULL) {
        return s;
    }
    f->shift = shift_of(w);
    f->align = BENCH_MEMORY_ALIGN;
    f->bounce = w->data->other;
    f->bounce_size = w->data->capacity;
    s = bench_file_open(f, path, w->shape.mode == BENCH_DIRECT, err);
    if (s == HPCW_OK && w->shape.mode == BENCH_PREALLOCATED && leads(w, index)) {
        s = bench_file_allocate(f, w->file_size[index], err);
    }
    return s;
}

hpcw_status bench_work_open(struct bench_work *w, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < w->extents; i++) {
        struct bench_file *ignored;
        s = bench_work_open_file(w, w->extent[i].file, &ignored, err);
    }
    /* No process writes before all files are allocated. */
    return w->shape.mode == BENCH_PREALLOCATED ? hpcw_i_agree(w->processes->comm, s, NULL, err) : s;
}

hpcw_status bench_work_flush(struct bench_work *w, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint32_t i = 0; s == HPCW_OK && w->shape.mode != BENCH_BUFFERED && !w->gone_wrong && i < w->open_files;
         i++) {
        s = w->file[i].fd >= 0 ? bench_file_sync(&w->file[i], err) : HPCW_OK;
    }
    return s;
}

hpcw_status bench_work_close(struct bench_work *w, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint32_t i = 0; i < w->open_files; i++) {
        hpcw_error e;
        s = bench_first_failure(s, bench_file_close(&w->file[i], &e), err, &e);
    }
    return s;
}

bool bench_work_stops(const struct bench_work *w) {
    return w->gone_wrong || (w->end_ns != 0 && w->written > 0 && bench_timer_now() >= w->end_ns);
}

/* Returns whether to write the next record. After a failure, this holds only for collective writes, since other
 * processes wait in them. */
static bool goes_on(const struct bench_work *w, hpcw_status s) {
    return s == HPCW_OK || w->row->together;
}

/* Passes the data of rank `first` + `index` to `put`, record by record. */
static hpcw_status put_records(struct bench_work *w, uint32_t index, bench_put_record *put, hpcw_error *err) {
    uint32_t rank = w->first + index;
    uint64_t size = w->shape.rank_size;
    uint64_t period = bench_data_period(w->shape.record_size);
    hpcw_status s = HPCW_OK;
    hpcw_error e;
    for (uint64_t at = 0; goes_on(w, s) && at < size; at += period) {
        uint64_t piece = size - at < period ? size - at : period;
        bench_data_stamp(w->data, rank, at, (size_t)piece);
        for (uint64_t k = 0; goes_on(w, s) && k < piece && !(w->end_ns != 0 && bench_work_stops(w));
             k += w->shape.record_size) {
            uint64_t n = piece - k < w->shape.record_size ? piece - k : w->shape.record_size;
            s = bench_first_failure(s, put(w, rank, at + k, w->data->source + k, (size_t)n, &e), err, &e);
            w->written += s == HPCW_OK ? n : 0;
        }
    }
    return s;
}

hpcw_status bench_work_write(struct bench_work *w, bench_put_record *put, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint32_t i = 0; s == HPCW_OK && !bench_work_stops(w) && i < w->count; i++) {
        s = put_records(w, i, put, err);
    }
    return s;
}

hpcw_status bench_work_write_together(struct bench_work *w, bench_put_record *put, hpcw_error *err) {
    const uint32_t rounds = w->shape.ranks / writers(w) + (w->shape.ranks % writers(w) != 0);
    const uint64_t records = (w->shape.rank_size + w->shape.record_size - 1) / w->shape.record_size;
    hpcw_status s = HPCW_OK;
    hpcw_error e;
    /* gone_wrong is the same on all processes, since it was set in an earlier step. */
    for (uint32_t i = 0; !w->gone_wrong && i < rounds; i++) {
        if (i < w->count) {
            s = bench_first_failure(s, put_records(w, i, put, &e), err, &e);
        }
        for (uint64_t k = 0; i >= w->count && k < records; k++) {
            s = bench_first_failure(s, put(w, 0, 0, NULL, 0, &e), err, &e);
        }
    }
    return s;
}

/* ---- reading back ---- */

static hpcw_status differs(const struct bench_work *w, const char *path, uint32_t rank, uint64_t at,
                           size_t size, hpcw_error *err) {
    const struct bench_data *d = w->data;
    size_t i = 0;
    while (i + 1 < size && d->source[i] == d->other[i]) {
        i++;
    }
    uint64_t from_rank = UINT64_MAX;
    uint64_t from = 0;
    size_t stamp = i / BENCH_STAMP_EVERY * BENCH_STAMP_EVERY;
    if (stamp + 8 <= size) {
        bench_data_read_stamp(d, d->other + stamp, &from_rank, &from);
    }
    uint64_t expected = at + i;
    if (from_rank < w->shape.ranks && from < w->shape.rank_size) {
        return hpcw_i_fail(err, HPCW_ECHECKSUM,
                           "%s: expected byte %" PRIu64 " of rank %u, got one from near byte %" PRIu64
                           " of rank %" PRIu64,
                           path, expected, rank, from, from_rank);
    }
    return hpcw_i_fail(err, HPCW_ECHECKSUM, "%s: expected 0x%02x as byte %" PRIu64 " of rank %u, got 0x%02x",
                       path, d->source[i], expected, rank, d->other[i]);
}

/* Reads bytes of a rank into data->other, as far as they exist. */
static hpcw_status read_again(struct bench_work *w, int fd, const char *path, uint32_t rank, uint64_t at,
                              size_t size, hpcw_error *err) {
    size_t got = 0;
    if (w->row->read != NULL) {
        return w->row->read(w, rank, at, w->data->other, size, err);
    }
    int e = hpcw_i_sys_pread(fd, w->data->other, size, w->spot[rank].offset + shift_of(w) + at, &got);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot read what was written", path);
    }
    return got == size ? HPCW_OK
                       : hpcw_i_fail(err, HPCW_ETRUNCATED,
                                     "%s: expected %zu bytes of rank %u at its byte %" PRIu64 ", got %zu", path,
                                     size, rank, at, got);
}

static hpcw_status check_rank(struct bench_work *w, int fd, const char *path, uint32_t rank, hpcw_error *err) {
    enum { POISON = 0xa5 };
    struct bench_data *d = w->data;
    uint64_t period = bench_data_period(w->shape.record_size);
    for (uint64_t at = 0; at < w->shape.rank_size; at += period) {
        size_t n = (size_t)(w->shape.rank_size - at < period ? w->shape.rank_size - at : period);
        bench_data_stamp(d, rank, at, n);
        memset(d->other, POISON, n);
        hpcw_status s = read_again(w, fd, path, rank, at, n, err);
        if (s != HPCW_OK) {
            return s;
        }
        if (memcmp(d->source, d->other, n) != 0) {
            return differs(w, path, rank, at, n, err);
        }
    }
    return HPCW_OK;
}

typedef hpcw_status visit_rank(struct bench_work *w, int fd, const char *path, uint32_t rank, hpcw_error *err);

/* Divides the ranks among the first `processes` processes. Calls `visit` for each rank that the previous process
 * has in this division, with the file of the rank open. If `visit` is NULL, syncs the files of these ranks and
 * drops them from the page cache, so that the next read comes from disk. */
static hpcw_status visit_all(struct bench_work *w, visit_rank *visit, uint32_t processes, hpcw_error *err) {
    uint64_t ranks = w->shape.ranks;
    uint64_t process = (uint64_t)w->processes->process;
    uint64_t whose = (process + processes - 1) % processes;
    uint32_t end = process < processes ? (uint32_t)(ranks * (whose + 1) / processes) : 0;
    hpcw_status s = HPCW_OK;
    char path[BENCH_PATH];
    int fd = -1;
    for (uint32_t r = (uint32_t)(ranks * whose / processes); s == HPCW_OK && r < end; r++) {
        if (fd < 0) {
            s = bench_work_path(w, w->spot[r].file, path, err);
            int e = s == HPCW_OK ? hpcw_i_sys_open(path, O_RDONLY, 0, &fd) : 0;
            s = e != 0 ? hpcw_i_fail_sys(err, e, "%s: cannot open what was written", path) : s;
            s = s == HPCW_OK && visit != NULL && w->row->read_open != NULL ? w->row->read_open(w, path, err)
                                                                           : s;
        }
        if (s == HPCW_OK && visit != NULL) {
            s = visit(w, fd, path, r, err);
        } else if (s == HPCW_OK) {
            /* fsync writes buffered data to disk, so an error of the disk is reported here. */
            const int e = hpcw_i_sys_fsync(fd);
            s = e == 0 || e == EINVAL ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot sync", path);
            (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        }
        if (fd >= 0 && (s != HPCW_OK || r + 1 == end || w->spot[r + 1].file != w->spot[r].file)) {
            if (visit != NULL && w->row->read_close != NULL) {
                hpcw_error e;
                s = bench_first_failure(s, w->row->read_close(w, &e), err, &e);
            }
            (void)hpcw_i_sys_close(fd);
            fd = -1;
        }
    }
    return s;
}

hpcw_status bench_work_check(struct bench_work *w, hpcw_error *err) {
    const uint32_t processes = (uint32_t)w->processes->count;
    hpcw_status s = visit_all(w, NULL, processes, err);
    return s == HPCW_OK ? visit_all(w, check_rank, processes, err) : s;
}

/* ---- reading ---- */

static hpcw_status read_rank(struct bench_work *w, int fd, const char *path, uint32_t rank, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint64_t at = 0; s == HPCW_OK && at < w->shape.rank_size; at += w->shape.record_size) {
        uint64_t left = w->shape.rank_size - at;
        size_t n = (size_t)(left < w->shape.record_size ? left : w->shape.record_size);
        s = read_again(w, fd, path, rank, at, n, err);
    }
    return s;
}

static uint32_t readers(const struct bench_work *w) {
    return w->shape.readers != 0 ? w->shape.readers : (uint32_t)w->processes->count;
}

static hpcw_status drop(void *work, hpcw_error *err) {
    struct bench_work *w = work;
    hpcw_status s = visit_all(w, NULL, readers(w), err);
    w->disk_bytes = bench_machine_read_bytes();
    return s;
}

static hpcw_status read_all(void *work, hpcw_error *err) {
    return visit_all(work, read_rank, readers(work), err);
}

static hpcw_status count(void *work, hpcw_error *err) {
    struct bench_work *w = work;
    (void)err;
    w->disk_bytes = bench_machine_read_bytes() - w->disk_bytes;
    return HPCW_OK;
}

static uint64_t disk_bytes(const void *work) {
    return ((const struct bench_work *)work)->disk_bytes;
}

const struct bench_side bench_work_read_side = {
    .name = "read",
    .phase = {{.name = "drop", .run = drop, .untimed = true},
              {.name = "read", .run = read_all, .together = true},
              {.name = "count", .run = count, .untimed = true}},
    .size = disk_bytes,
};
