/* SPDX-License-Identifier: BSD-3-Clause */
/* A SION container: its physical files, and the way from a global rank to a stream. */
#include "libreader/sion/sion.h"

#include <inttypes.h>

#include "libreader/sion/file.h"
#include "libreader/source.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Most files of a set that are open at a time. A set may have more files than a process may open. */
#define POOL 8u

struct read_sion {
    struct read_sion_place place;
    struct read_sion_file *base; /* file 0 of a set, or the single file */
    uint32_t files;
    struct read_sion_file *pool[POOL]; /* file k > 0 is at k mod POOL, if it is open */
};

/* Opens file 0 at r->place, where the files of the container are. If `status` is a failure, only returns it.
 * Takes ownership of the reader, also on failure. */
static hpcw_status open_base(struct read_sion *r, hpcw_status status, struct read_sion **out, hpcw_error *err) {
    struct read_source *source;
    if (status == HPCW_OK) {
        status = read_sion_place_source(&r->place, 0, &source, err);
    }
    if (status == HPCW_OK) {
        status = read_sion_file_open(source, &r->base, err);
    }
    if (status != HPCW_OK) {
        read_sion_free(r);
        return status;
    }
    r->files = r->base->info.file_number == 0 ? r->base->info.files : 1;
    r->place.first = r->base->source;
    *out = r;
    return HPCW_OK;
}

hpcw_status read_sion_open(const char *path, struct read_sion **out, hpcw_error *err) {
    return read_sion_open_named(path, &(struct read_sion_names){NULL, NULL}, out, err);
}

hpcw_status read_sion_open_named(const char *path, const struct read_sion_names *names, struct read_sion **out,
                                 hpcw_error *err) {
    *out = NULL;
    struct read_sion *r = hpcw_i_calloc(1, sizeof *r);
    if (r == NULL) {
        return hpcw_i_fail_memory(err, path, 0, NULL);
    }
    return open_base(r, read_sion_place_init(&r->place, path, names, err), out, err);
}

hpcw_status read_sion_open_memory(const struct read_sion_image *images, uint32_t count, struct read_sion **out,
                                  hpcw_error *err) {
    *out = NULL;
    struct read_sion *r = hpcw_i_calloc(1, sizeof *r);
    if (r == NULL) {
        return hpcw_i_fail_memory(err, "(memory)", 0, NULL);
    }
    return open_base(r, read_sion_place_init_memory(&r->place, images, count, err), out, err);
}

void read_sion_free(struct read_sion *reader) {
    if (reader == NULL) {
        return;
    }
    read_sion_file_free(reader->base);
    for (uint32_t i = 0; i < POOL; i++) {
        read_sion_file_free(reader->pool[i]);
    }
    read_sion_place_free(&reader->place);
    hpcw_i_free(reader);
}

uint32_t read_sion_files(const struct read_sion *reader) {
    return reader->files;
}

uint32_t read_sion_tasks(const struct read_sion *reader) {
    const struct read_sion_info *info = &reader->base->info;
    return reader->files > 1 ? info->mapping_tasks : info->tasks - info->collectors;
}

const char *read_sion_name(const struct read_sion *reader) {
    return reader->place.path;
}

/* Checks that a file belongs to the set: doc/formats/sion.md#sion-25. */
static hpcw_status check_member(const struct read_sion *r, uint32_t index, const struct read_sion_file *f,
                                hpcw_error *err) {
    const struct read_sion_info *base = &r->base->info, *info = &f->info;
    const char *name = read_sion_file_name(f);
    if (info->files != base->files) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: nfiles at offset %d: expected %" PRIu32 " as in file 0, got %" PRIu32, name,
                           READ_SION_NFILES_AT, base->files, info->files);
    }
    if (info->file_number != index) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: filenumber at offset %d: expected %" PRIu32 " as in the name, got %" PRIu32,
                           name, READ_SION_FILENUMBER_AT, index, info->file_number);
    }
    return HPCW_OK;
}

hpcw_status read_sion_physical(struct read_sion *reader, uint32_t index, struct read_sion_file **out,
                               hpcw_error *err) {
    *out = NULL;
    if (index >= reader->files) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a file below %" PRIu32 ", got %" PRIu32,
                           reader->place.path, reader->files, index);
    }
    if (index == 0) {
        *out = reader->base;
        return HPCW_OK;
    }
    struct read_sion_file **slot = &reader->pool[index % POOL];
    if (*slot == NULL || (*slot)->info.file_number != index) {
        struct read_source *source;
        struct read_sion_file *f = NULL;
        hpcw_status status = read_sion_place_source(&reader->place, index, &source, err);
        if (status == HPCW_OK) {
            status = read_sion_file_open(source, &f, err);
        }
        if (status == HPCW_OK) {
            status = check_member(reader, index, f, err);
        }
        if (status != HPCW_OK) {
            read_sion_file_free(f);
            return status;
        }
        read_sion_file_free(*slot);
        *slot = f;
    }
    *out = *slot;
    return HPCW_OK;
}

hpcw_status read_sion_check(const struct read_sion *reader, hpcw_error *err) {
    return read_sion_place_check(&reader->place, err);
}

hpcw_status read_sion_info(struct read_sion *reader, uint32_t file, struct read_sion_info *info,
                           hpcw_error *err) {
    struct read_sion_file *f;
    hpcw_status status = read_sion_physical(reader, file, &f, err);
    if (status == HPCW_OK) {
        *info = f->info;
    }
    return status;
}

hpcw_status read_sion_task(struct read_sion *reader, uint32_t file, uint32_t index, struct read_sion_task *task,
                           hpcw_error *err) {
    struct read_sion_file *f;
    hpcw_status status = read_sion_physical(reader, file, &f, err);
    if (status == HPCW_OK) {
        status = read_sion_file_task(f, index, task, err);
    }
    if (status == HPCW_OK) {
        task->file = file;
    }
    return status;
}

/* Finds a task by the mapping. The mapping may be wrong, so the task is checked. */
static hpcw_status find_mapped(struct read_sion *r, uint32_t rank, struct read_sion_task *task,
                               hpcw_error *err) {
    int32_t file, index;
    hpcw_status status = read_sion_file_mapping(r->base, rank, &file, &index, err);
    if (status != HPCW_OK) {
        return status;
    }
    struct read_sion_file *f = NULL;
    if (file >= 0 && (uint32_t)file < r->files) {
        status = read_sion_physical(r, (uint32_t)file, &f, err);
        if (status != HPCW_OK) {
            return status;
        }
    }
    if (f == NULL || index < 0 || (uint32_t)index >= f->info.tasks) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: mapping of global rank %" PRIu32 " at offset %" PRIu64
                           ": expected a file of the set and a task in it, got file %" PRId32 ", task %" PRId32,
                           r->place.path, rank, r->base->info.meta2_end + read_sion_mapping_entry_at(rank),
                           file, index);
    }
    status = read_sion_file_task(f, (uint32_t)index, task, err);
    if (status != HPCW_OK) {
        return status;
    }
    task->file = (uint32_t)file;
    if (task->rank != (int64_t)rank) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: global rank of task %" PRId32 " at offset %" PRIu64 ": expected %" PRIu32
                           " as the mapping says, got %" PRId64,
                           read_sion_file_name(f), index, f->ranks_at + 8 * (uint64_t)index, rank, task->rank);
    }
    return HPCW_OK;
}

hpcw_status read_sion_find(struct read_sion *reader, uint32_t rank, struct read_sion_task *task,
                           hpcw_error *err) {
    struct read_sion_file *f = reader->base;
    if (f->info.mapping == READ_SION_MAPPING_FULL && rank < f->info.mapping_tasks) {
        return find_mapped(reader, rank, task, err);
    }
    /* Without a mapping, ranks are usually in order, so first try the task whose index is the rank. The serial
     * writer stores them in any order. */
    int64_t got = -1;
    hpcw_status status = HPCW_OK;
    if (rank < f->info.tasks) {
        status = read_sion_file_rank(f, rank, &got, err);
    }
    uint32_t index = rank;
    if (status == HPCW_OK && got != (int64_t)rank && reader->files == 1) {
        for (index = 0; status == HPCW_OK && index < f->info.tasks; index++) {
            status = read_sion_file_rank(f, index, &got, err);
            if (status != HPCW_OK || got == (int64_t)rank) {
                break;
            }
        }
    }
    if (status != HPCW_OK) {
        return status;
    }
    if (got != (int64_t)rank) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected the task with global rank %" PRIu32 ", got none",
                           reader->place.path, rank);
    }
    return read_sion_task(reader, 0, index, task, err);
}

hpcw_status read_sion_block_size(struct read_sion *reader, const struct read_sion_task *task, uint32_t block,
                                 uint64_t *size, hpcw_error *err) {
    struct read_sion_file *f;
    hpcw_status status = read_sion_physical(reader, task->file, &f, err);
    return status == HPCW_OK ? read_sion_file_block_size(f, task, block, size, err) : status;
}

hpcw_status read_sion_read(struct read_sion *reader, const struct read_sion_task *task, uint64_t offset,
                           void *data, size_t size, hpcw_error *err) {
    struct read_sion_file *f;
    hpcw_status status = read_sion_physical(reader, task->file, &f, err);
    return status == HPCW_OK ? read_sion_file_read(f, task, offset, data, size, err) : status;
}
