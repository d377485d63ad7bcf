/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the SION reader: one physical file and windows into its tables. */
#ifndef HPCW_LIBREADER_SION_FILE_H
#define HPCW_LIBREADER_SION_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libreader/sion/layout.h"
#include "libreader/sion/sion.h"
#include "libreader/source.h"
#include "libwriter/base/bytes.h"

/* Number of tasks whose table entries are in memory at a time. */
#define READ_SION_WINDOW 2048u

/* doc/formats/sion.md#sion-6 */
#define READ_SION_MOST_TASKS 134217659u

/* A block of a task, which starts at byte `at` of the task's stream. A zeroed one is the first block. */
struct read_sion_cursor {
    uint32_t block;
    uint64_t at;
};

struct read_sion_file {
    struct read_source *source;
    struct read_sion_info info;
    uint64_t ranks_at;  /* offset of the table of global ranks */
    uint64_t chunks_at; /* offset of the table of chunk sizes */
    uint64_t *marks;    /* start of the first task of every window */

    /* Table entries of tasks [first, first + count). The columns are parts of one block of memory. */
    struct {
        uint32_t first, count;
        int64_t *rank;   /* start of the block */
        uint64_t *chunk; /* rounded up in formats 2 and 3 */
        uint64_t *start;
        int64_t *blocks; /* as stored, unchecked */
        uint64_t *size;  /* of the stream; UINT64_MAX if the block count or the size of a block breaks a rule */
    } window;

    unsigned char *raw; /* bytes of tables that were just read */
    size_t raw_size;

    unsigned char near[4096]; /* bytes after the table entry that was last read alone */
    uint64_t near_from;
    size_t near_size;

    uint32_t cursor_task; /* whose stream was read last */
    struct read_sion_cursor cursor;
};

/* Takes the source, which is freed even on failure. */
hpcw_status read_sion_file_open(struct read_source *source, struct read_sion_file **out, hpcw_error *err);

/* The same for a file that another process has checked, with what it found. Reads nothing. Such a file has no
 * window: it is for read_sion_file_locate and read_sion_file_block_size, with tasks of that process. */
hpcw_status read_sion_file_open_checked(struct read_source *source, const struct read_sion_info *info,
                                        struct read_sion_file **out, hpcw_error *err);
void read_sion_file_free(struct read_sion_file *f);

/* A stored chunk size, rounded up if the version asks for it. False if it is negative or too large. */
bool read_sion_chunk_size(const struct read_sion_info *info, int64_t stored, uint64_t *chunk);

/* Words [first, first + count) of the table at `at`, in the byte order of this machine. */
hpcw_status read_sion_file_words(const struct read_sion_file *f, uint64_t at, uint32_t first, uint32_t count,
                                 const char *what, void *words, hpcw_error *err);

/* Fills the window with the entries of task `index` and its neighbours, unless it has them already: read tasks in
 * ascending order. Checks no rules. The functions below load what they need. */
hpcw_status read_sion_file_load(struct read_sion_file *f, uint32_t index, hpcw_error *err);

/* Reads the global rank of a task only. */
hpcw_status read_sion_file_rank(struct read_sion_file *f, uint32_t index, int64_t *rank, hpcw_error *err);

hpcw_status read_sion_file_task(struct read_sion_file *f, uint32_t index, struct read_sion_task *task,
                                hpcw_error *err);
hpcw_status read_sion_file_block_size(struct read_sion_file *f, const struct read_sion_task *task,
                                      uint32_t block, uint64_t *size, hpcw_error *err);
hpcw_status read_sion_file_read(struct read_sion_file *f, const struct read_sion_task *task, uint64_t offset,
                                void *data, size_t size, hpcw_error *err);

/* Moves a cursor to the block of byte `offset` < task->size of the stream, quickly if it is there or a little
 * before. `at` is the offset of that byte in the file, `left` the number of bytes from there to the end of the
 * block's. */
hpcw_status read_sion_file_locate(struct read_sion_file *f, const struct read_sion_task *task, uint64_t offset,
                                  struct read_sion_cursor *cursor, uint64_t *at, uint64_t *left,
                                  hpcw_error *err);

/* Decodes the header of the record at byte `at` <= task->size of a key-value stream. `header` is not looked at if
 * the stream ends before its 16 bytes, which is an error. */
hpcw_status read_sion_record_decode(const struct read_sion_file *f, const struct read_sion_task *task,
                                    uint64_t at, const unsigned char *header, struct read_sion_record *record,
                                    hpcw_error *err);

/* Fails with the rule that the block count of a task, or the size of a used block, breaks. */
hpcw_status read_sion_file_explain(struct read_sion_file *f, uint32_t index, hpcw_error *err);

/* Entry `rank` of the full mapping, as stored. */
hpcw_status read_sion_file_mapping(struct read_sion_file *f, uint32_t rank, int32_t *file, int32_t *index,
                                   hpcw_error *err);

/*
 * Iterates over the rows of block sizes of tasks [first, first + count). Skips rows in a hole of the file, which
 * are zero. It uses f->raw: no second iteration and no load before it ends.
 */
struct read_sion_rows {
    struct read_sion_file *f;
    hpcw_status status; /* the first failure, which ends the iteration */
    hpcw_error *err;
    uint64_t base;   /* offset of the first of these sizes in row 0 */
    uint64_t stride; /* from row to row */
    size_t piece;    /* bytes of these sizes in a row */
    uint32_t next, end;
    uint32_t filled_from, filled_to; /* rows in f->raw */
    uint64_t data_from, data_to;     /* part of the file that is no hole */
};
struct read_sion_rows read_sion_rows_begin(struct read_sion_file *f, uint32_t first, uint32_t count,
                                           uint32_t blocks, hpcw_error *err);
/* The stored sizes of block `*block`; NULL after the last one, with *block unchanged. */
const unsigned char *read_sion_rows_next(struct read_sion_rows *rows, uint32_t *block);

/* Offset of the stored size of a task in a block. */
uint64_t read_sion_file_size_at(const struct read_sion_file *f, uint32_t index, uint32_t block);

/* Offset of the stored block count of a task. */
uint64_t read_sion_file_count_at(const struct read_sion_file *f, uint32_t index);

/* Where the physical files of a container are. */
struct read_sion_place {
    char *path; /* of file 0; NULL until init */
    struct read_sion_names names;
    int directory; /* where a relative path begins: the working directory at init, which the caller may leave */
    struct read_sion_image *images; /* NULL for files on disk */
    uint32_t image_count;
    /* File 0, once it is open: whoever replaces a container first removes its file 0, or renames another over
     * it. As long as file 0 has its name, what was opened before belongs to it. Not owned; NULL: nothing is
     * compared. */
    const struct read_source *first;
};
hpcw_status read_sion_place_init(struct read_sion_place *place, const char *path,
                                 const struct read_sion_names *names, hpcw_error *err);
hpcw_status read_sion_place_init_memory(struct read_sion_place *place, const struct read_sion_image *images,
                                        uint32_t count, hpcw_error *err);
/* Opens a file. HPCW_EIO: it may be of another container than `first`. */
hpcw_status read_sion_place_source(const struct read_sion_place *place, uint32_t index,
                                   struct read_source **out, hpcw_error *err);
/* Whether all files that were opened until now are of the container of `first`: HPCW_EIO if that cannot be said
 * any more. */
hpcw_status read_sion_place_check(const struct read_sion_place *place, hpcw_error *err);
void read_sion_place_free(struct read_sion_place *place);

/* Physical file `index` of a container, opened if necessary. Valid until the next call. */
hpcw_status read_sion_physical(struct read_sion *reader, uint32_t index, struct read_sion_file **out,
                               hpcw_error *err);

/* read_sion_place_check of its place. */
hpcw_status read_sion_check(const struct read_sion *reader, hpcw_error *err);

/* For messages. */
static inline const char *read_sion_file_name(const struct read_sion_file *f) {
    return read_source_name(f->source);
}

/* Offset of the commit mark. */
static inline uint64_t read_sion_commit_at(const struct read_sion_info *info) {
    return info->meta1_size - READ_SION_COMMIT_SIZE;
}

/* Offset of the entry of a rank in a mapping; of its end for the number of entries. */
static inline uint64_t read_sion_mapping_entry_at(uint64_t rank) {
    return READ_SION_MAPPING_HEADER + READ_SION_MAPPING_ENTRY * rank;
}

static inline int32_t read_sion_i32(const unsigned char *p, bool big) {
    return (int32_t)hpcw_i_get_u32(p, big);
}
static inline int64_t read_sion_i64(const unsigned char *p, bool big) {
    return (int64_t)hpcw_i_get_u64(p, big);
}

#endif
