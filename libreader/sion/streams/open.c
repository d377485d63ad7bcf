/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and frees a container for reading, and returns facts about it. */
#include <string.h>

#include "libreader/sion/streams/private.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"

/* BUFFERS: bytes of all small buffers together, as in a writer with default options.
 * SMALL: least bytes of a small buffer.
 * So up to 16384 tasks that are read in turn have a buffer each. */
#define BUFFERS ((size_t)64 << 20)
#define SMALL ((size_t)4 << 10)

/* Facts about the container that process 0 broadcasts. */
struct head {
    hpcw_sion_info info;
    bool by_rank; /* the container has a full mapping, so the ranks are 0 .. tasks - 1 */
};

const hpcw_sion_info *hpcw_sion_reader_info(const hpcw_sion_reader *r) {
    return r == NULL ? NULL : &r->info;
}

uint32_t hpcw_sion_reader_count(const hpcw_sion_reader *r) {
    return r == NULL ? 0 : r->count;
}

const hpcw_sion_task *hpcw_sion_reader_task(const hpcw_sion_reader *r, uint32_t index) {
    return index < hpcw_sion_reader_count(r) ? &r->own[index].task : NULL;
}

void hpcw_sion_reader_free(hpcw_sion_reader *r) {
    if (r == NULL) {
        return;
    }
    for (uint32_t i = 0; i < READ_SION_POOL; i++) {
        read_sion_file_free(r->pool[i]);
    }
    hpcw_i_free(r->buffer);
    hpcw_i_free(r->block);
    hpcw_i_free(r->large.data);
    hpcw_i_free(r->part);
    hpcw_i_free(r->own);
    read_source_free(r->first);
    read_sion_place_free(&r->place);
    hpcw_i_free(r);
}

hpcw_status read_sion_part_file(struct hpcw_sion_reader *r, uint32_t part, struct read_sion_file **out,
                                hpcw_error *err) {
    const struct read_sion_part *p = &r->part[part];
    struct read_sion_file **slot = &r->pool[part % READ_SION_POOL];
    *out = *slot;
    if (*slot != NULL && (*slot)->info.file_number == p->number) {
        return HPCW_OK;
    }
    const struct read_sion_info info = {
        .meta_big = r->info.endian == HPCW_SION_BIG,
        .tasks = p->tasks,
        .file_number = p->number,
        .block_stride = p->block_stride,
        .meta2_start = p->meta2_start,
        .file_size = p->file_size,
    };
    struct read_source *source;
    hpcw_status status = read_sion_place_source(&r->place, p->number, &source, err);
    if (status == HPCW_OK) {
        status = read_sion_file_open_checked(source, &info, out, err);
    }
    if (status == HPCW_OK) {
        read_sion_file_free(*slot);
        *slot = *out;
    }
    return status;
}

static hpcw_status check_arguments(const char *path, uint32_t count, const uint32_t *ranks, hpcw_error *err) {
    if (path == NULL || *path == '\0') {
        return hpcw_i_fail(err, HPCW_EINVAL, "sion: path: expected the path of a file, got \"%s\"",
                           path == NULL ? "NULL" : path);
    }
    for (uint32_t i = 1; ranks != NULL && i < count; i++) {
        if (ranks[i - 1] >= ranks[i]) {
            return hpcw_i_fail(err, HPCW_EINVAL, "%s: ranks: expected ascending ones, got %u after %u", path,
                               ranks[i], ranks[i - 1]);
        }
    }
    return HPCW_OK;
}

static hpcw_status describe(struct read_sion *container, struct head *head, hpcw_error *err) {
    struct read_sion_info i;
    hpcw_status status = read_sion_info(container, 0, &i, err);
    if (status != HPCW_OK) {
        return status;
    }
    *head = (struct head){
        .info = {.tasks = read_sion_tasks(container),
                 .files = read_sion_files(container),
                 .keys = i.mode == READ_SION_MODE_KEYVAL,
                 .endian = i.meta_big ? HPCW_SION_BIG : HPCW_SION_LITTLE,
                 .data_endian = i.data_big ? HPCW_SION_BIG : HPCW_SION_LITTLE,
                 .fs_block_size = i.fs_block_size,
                 .format = i.format,
                 .library_version = i.library_version,
                 .library_patch = i.library_patch},
        .by_rank = i.mapping == READ_SION_MAPPING_FULL,
    };
    memcpy(head->info.name, i.prefix, sizeof head->info.name);
    return HPCW_OK;
}

static hpcw_status new_buffers(struct hpcw_sion_reader *r, hpcw_error *err) {
    size_t each = r->count == 0 ? READ_SION_LARGE : BUFFERS / r->count / SMALL * SMALL;
    uint64_t longest = 1;
    for (uint32_t i = 0; i < r->count; i++) {
        longest = r->own[i].task.size > longest ? r->own[i].task.size : longest;
    }
    r->buffer_size = each < SMALL ? SMALL : each > READ_SION_LARGE ? READ_SION_LARGE : each;
    size_t most = BUFFERS / r->buffer_size;
    /* a buffer need not be larger than the longest stream */
    r->buffer_size = longest < r->buffer_size ? (size_t)longest : r->buffer_size;
    r->buffers = r->count < most ? r->count : (uint32_t)most;
    r->buffer = hpcw_i_calloc(r->buffers, sizeof *r->buffer);
    if (r->buffer == NULL) {
        return hpcw_i_fail_memory(err, r->place.path, r->buffers, "buffers");
    }
    for (uint32_t i = 0; i < r->buffers; i++) {
        r->buffer[i].owner = UINT32_MAX;
    }
    r->large.owner = r->last_filled = UINT32_MAX;
    return HPCW_OK;
}

/* Finds the tasks that this process reads, and opens their files. `container` is the open container on process 0,
 * and NULL on the others, which only know its path. Collective. */
static hpcw_status open_tasks(struct hpcw_sion_reader *r, hpcw_comm *comm, struct read_sion *container,
                              const uint32_t *ranks, struct read_sion_window *window, const struct head *head,
                              hpcw_error *err) {
    r->info = head->info;
    hpcw_status status = read_sion_share(r, comm, container, ranks, head->by_rank, window, err);
    /* Files that do not fit into the pool are closed and opened again later: keep file 0 open to see if the
     * container is replaced. */
    if (status == HPCW_OK && r->parts > READ_SION_POOL) {
        status = read_sion_place_source(&r->place, 0, &r->first, err);
        r->place.first = r->first;
    }
    for (uint32_t p = 0; status == HPCW_OK && p < r->parts; p++) {
        struct read_sion_file *f;
        status = read_sion_part_file(r, p, &f, err);
    }
    if (status == HPCW_OK) {
        status = new_buffers(r, err);
    }
    status = hpcw_i_agree(comm, status, NULL, err);
    if (status == HPCW_OK) {
        /* All processes opened their files by name after process 0 opened file 0 and before this check. Inodes are
         * not compared between processes: on another host the same file may have another inode. */
        status = hpcw_i_agree(comm, container == NULL ? HPCW_OK : read_sion_check(container, err), NULL, err);
    }
    return status;
}

/* Opens a container: the images, or without images the files at `path`. A process that cannot allocate its handle
 * still takes part in the collective calls. */
static hpcw_status open_container(const char *path, const struct read_sion_names *names,
                                  const struct read_sion_image *images, uint32_t image_count, hpcw_comm *comm,
                                  uint32_t count, const uint32_t *ranks, hpcw_sion_reader **out,
                                  hpcw_error *err) {
    struct read_sion *container = NULL;
    struct head head = {.by_rank = false};
    struct hpcw_sion_reader *r = hpcw_i_calloc(1, sizeof *r);
    struct read_sion_window *window = hpcw_i_calloc(1, sizeof *window);
    const char *about = path == NULL ? "sion" : path;
    hpcw_status status = out == NULL
                             ? hpcw_i_fail(err, HPCW_EINVAL, "sion: handle: expected a pointer, got NULL")
                             : check_arguments(path, count, ranks, err);
    if (status == HPCW_OK && (r == NULL || window == NULL)) {
        status = hpcw_i_fail_memory(err, about, 0, NULL);
    }
    if (status == HPCW_OK) {
        r->count = count;
        status = images == NULL ? read_sion_place_init(&r->place, path, names, err)
                                : read_sion_place_init_memory(&r->place, images, image_count, err);
    }
    if (status == HPCW_OK && comm->process == 0) {
        status = images == NULL ? read_sion_open_named(path, names, &container, err)
                                : read_sion_open_memory(images, image_count, &container, err);
        status = status == HPCW_OK ? describe(container, &head, err) : status;
    }
    const struct hpcw_i_same same[] = {
        {.name = "path", .text = path},
        {.name = "ranks", .number = ranks != NULL, .words = "none list"},
    };
    status = hpcw_i_agree_same(comm, status, about, same, sizeof same / sizeof same[0], NULL, err);
    if (status == HPCW_OK) {
        status = hpcw_i_comm_bcast(comm, &head, sizeof head, 0, err);
    }
    if (status == HPCW_OK) {
        status = open_tasks(r, comm, container, ranks, window, &head, err);
    }
    read_sion_free(container);
    hpcw_i_free(window);
    if (status != HPCW_OK) {
        hpcw_sion_reader_free(r);
        r = NULL;
    }
    if (out != NULL) {
        *out = r;
    }
    return status;
}

hpcw_status hpcw_sion_reader_open(const char *path, hpcw_comm *comm, uint32_t count, const uint32_t *ranks,
                                  hpcw_sion_reader **out, hpcw_error *err) {
    return hpcw_sion_reader_open_named(path, NULL, NULL, comm, count, ranks, out, err);
}

hpcw_status hpcw_sion_reader_open_named(const char *path, hpcw_sion_name_of_file *name_of, void *context,
                                        hpcw_comm *comm, uint32_t count, const uint32_t *ranks,
                                        hpcw_sion_reader **out, hpcw_error *err) {
    hpcw_error local;
    return open_container(path, &(struct read_sion_names){name_of, context}, NULL, 0, hpcw_i_comm_or_self(comm),
                          count, ranks, out, err == NULL ? &local : err);
}

hpcw_status read_sion_reader_open_memory(const struct read_sion_image *images, uint32_t count,
                                         hpcw_sion_reader **out, hpcw_error *err) {
    return open_container("(memory)", NULL, images, count, hpcw_i_comm_or_self(NULL), 0, NULL, out, err);
}
