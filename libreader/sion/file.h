/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the SION reader: one physical file, and its table entries for a window of tasks. */
#ifndef HPCW_LIBREADER_SION_FILE_H
#define HPCW_LIBREADER_SION_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libreader/sion/layout.h"
#include "libreader/sion/sion.h"
#include "libreader/source.h"
#include "libwriter/base/bytes.h"

/* Number of tasks whose table entries are in memory at the same time. */
#define READ_SION_WINDOW 2048u

/* Most tasks of a file: doc/formats/sion.md#sion-6. */
#define READ_SION_MOST_TASKS 134217659u

/* Position in a task's stream: a block of the task, which starts at byte `at` of the stream. A zeroed struct means
 * the first block. */
struct read_sion_cursor {
    uint32_t block;
    uint64_t at;
};

struct read_sion_file {
    struct read_source *source;
    struct read_sion_info info;
    uint64_t ranks_at;  /* offset of the table of global ranks */
    uint64_t chunks_at; /* offset of the table of chunk sizes */
    uint64_t *marks;    /* [windows] file offset of the chunk in block 0 of each window's first task */

    /* Table entries of tasks [first, first + count). The columns are parts of one allocation. */
    struct {
        uint32_t first, count;
        int64_t *rank;   /* global ranks; the allocation of all columns starts here */
        uint64_t *chunk; /* chunk sizes, rounded up in formats 2 and 3 */
        uint64_t *start;
        int64_t *blocks; /* block counts as stored, unchecked */
        /* stream sizes; UINT64_MAX if the block count or the size of a block breaks a rule */
        uint64_t *size;
    } window;

    unsigned char *raw; /* buffer for bytes of tables */
    size_t raw_size;

    unsigned char near[4096]; /* bytes that follow the table entry that was read last */
    uint64_t near_from;
    size_t near_size;

    uint32_t cursor_task; /* task whose stream was read last */
    struct read_sion_cursor cursor;
};

/* Opens a physical file from its source. Takes ownership of the source, also on failure. */
hpcw_status read_sion_file_open(struct read_source *source, struct read_sion_file **out, hpcw_error *err);

/* Opens a physical file that another process has checked, with the values that the other process found. Reads
 * nothing. The file has no window: it can only be used in read_sion_file_locate and read_sion_file_block_size, for
 * tasks that the other process found. */
hpcw_status read_sion_file_open_checked(struct read_source *source, const struct read_sion_info *info,
                                        struct read_sion_file **out, hpcw_error *err);
void read_sion_file_free(struct read_sion_file *f);

/* Converts a stored chunk size, and rounds it up if the file format version requires it. False if the size is
 * negative or too large. */
bool read_sion_chunk_size(const struct read_sion_info *info, int64_t stored, uint64_t *chunk);

/* Reads words [first, first + count) of the table at `at`, and converts them to this machine's byte order. */
hpcw_status read_sion_file_words(const struct read_sion_file *f, uint64_t at, uint32_t first, uint32_t count,
                                 const char *what, void *words, hpcw_error *err);

/* Fills the window with the table entries of task `index` and its neighbours, unless the window has them already.
 * Reading tasks in ascending order is therefore cheap. Checks no rules. The functions below call this function as
 * needed. */
hpcw_status read_sion_file_load(struct read_sion_file *f, uint32_t index, hpcw_error *err);

/* Reads only the global rank of a task. */
hpcw_status read_sion_file_rank(struct read_sion_file *f, uint32_t index, int64_t *rank, hpcw_error *err);

hpcw_status read_sion_file_task(struct read_sion_file *f, uint32_t index, struct read_sion_task *task,
                                hpcw_error *err);
hpcw_status read_sion_file_block_size(struct read_sion_file *f, const struct read_sion_task *task,
                                      uint32_t block, uint64_t *size, hpcw_error *err);
hpcw_status read_sion_file_read(struct read_sion_file *f, const struct read_sion_task *task, uint64_t offset,
                                void *data, size_t size, hpcw_error *err);

/* Moves a cursor to the block of byte `offset` < task->size of the stream. This is fast if the cursor is in the
 * same block or shortly before. `at` gets the offset of the byte in the file, `left` the number of bytes from there
 * to the end of the block's data. */
hpcw_status read_sion_file_locate(struct read_sion_file *f, const struct read_sion_task *task, uint64_t offset,
                                  struct read_sion_cursor *cursor, uint64_t *at, uint64_t *left,
                                  hpcw_error *err);

/* Decodes the header of the record at byte `at` <= task->size of a key-value stream. If the stream ends before the
 * 16 bytes of the header, fails without reading `header`. */
hpcw_status read_sion_record_decode(const struct read_sion_file *f, const struct read_sion_task *task,
                                    uint64_t at, const unsigned char *header, struct read_sion_record *record,
                                    hpcw_error *err);

/* Fails with a message about the rule that is broken by a task's block count, or by the size of one of the used
 * blocks. */
hpcw_status read_sion_file_explain(struct read_sion_file *f, uint32_t index, hpcw_error *err);

/* Reads entry `rank` of the full mapping, as stored. */
hpcw_status read_sion_file_mapping(struct read_sion_file *f, uint32_t rank, int32_t *file, int32_t *index,
                                   hpcw_error *err);

/* Iterates over the rows of block sizes of tasks [first, first + count). Skips rows in a hole of the file,
 * which are zero. The iteration uses f->raw: until it ends, begin no second one and do not call
 * read_sion_file_load. */
struct read_sion_rows {
    struct read_sion_file *f;
    hpcw_status status; /* the first failure, which ends the iteration */
    hpcw_error *err;
    uint64_t base;   /* offset of the size of task `first` in row 0 */
    uint64_t stride; /* bytes from row to row */
    size_t piece;    /* bytes of `count` sizes in a row */
    uint32_t next, end;
    uint32_t filled_from, filled_to; /* first row in f->raw, and the row after the last one */
    /* [data_from, data_to) is a part of the file without holes, which the last search for data found */
    uint64_t data_from, data_to;
};
struct read_sion_rows read_sion_rows_begin(struct read_sion_file *f, uint32_t first, uint32_t count,
                                           uint32_t blocks, hpcw_error *err);
/* Returns the stored sizes of the next block, and sets *block to its number. After the last block returns NULL and
 * leaves *block unchanged. */
const unsigned char *read_sion_rows_next(struct read_sion_rows *rows, uint32_t *block);

/* Offset of the stored size of a task in a block. */
uint64_t read_sion_file_size_at(const struct read_sion_file *f, uint32_t index, uint32_t block);

/* The place of the physical files of a container. */
struct read_sion_place {
    char *path; /* path of file 0; NULL before read_sion_place_init */
    struct read_sion_names names;
    /* directory from which a relative path starts: the working directory at init, because the program may change to
     * another one */
    int directory;
    struct read_sion_image *images; /* files in memory; NULL: files on disk */
    uint32_t image_count;
    /* File 0, once it is open. Not owned; NULL: no comparison. A program that replaces a container first removes
     * its file 0, or renames another file over it. So while the name of file 0 still leads to this file, all files
     * that were opened before belong to the same container. */
    const struct read_source *first;
};
hpcw_status read_sion_place_init(struct read_sion_place *place, const char *path,
                                 const struct read_sion_names *names, hpcw_error *err);
hpcw_status read_sion_place_init_memory(struct read_sion_place *place, const struct read_sion_image *images,
                                        uint32_t count, hpcw_error *err);
/* Opens file `index` of the container. HPCW_EIO: the file may belong to another container than `first`. */
hpcw_status read_sion_place_source(const struct read_sion_place *place, uint32_t index,
                                   struct read_source **out, hpcw_error *err);
/* Checks that all files opened so far belong to the container of `first`. HPCW_EIO if that is no longer certain. */
hpcw_status read_sion_place_check(const struct read_sion_place *place, hpcw_error *err);
void read_sion_place_free(struct read_sion_place *place);

/* Returns physical file `index` of a container, and opens it if necessary. Valid until the next call. */
hpcw_status read_sion_physical(struct read_sion *reader, uint32_t index, struct read_sion_file **out,
                               hpcw_error *err);

/* Calls read_sion_place_check for the container's place. */
hpcw_status read_sion_check(const struct read_sion *reader, hpcw_error *err);

static inline const char *read_sion_file_name(const struct read_sion_file *f) {
    return read_source_name(f->source);
}

static inline uint64_t read_sion_commit_at(const struct read_sion_info *info) {
    return info->meta1_size - READ_SION_COMMIT_SIZE;
}

/* Returns the offset of a rank's entry in a mapping. For a rank that equals the number of entries: the end of the
 * mapping. */
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
