/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A strict, independent reader of SION containers, written from doc/formats/sion.md alone. It reads file format
 * versions 2 to 5, and later ones as if they were 5; both byte orders; single files and sets.
 *
 * Opening checks the rules that make it safe to find every byte. read_sion_verify checks the other rules
 * (doc/formats/sion.md, "Rules"). Tables are read for 2048 tasks at a time (a window), so memory does not depend
 * on the number of blocks. A physical file in use takes at most 210 KiB, and eight bytes for each 2048 of its
 * tasks. At most 9 files are in use at a time. Sizes from a file are compared with its length before anything is
 * allocated or multiplied.
 *
 * A handle has buffers, so it belongs to one thread at a time. Several handles may read the same file.
 */
#ifndef HPCW_LIBREADER_SION_SION_H
#define HPCW_LIBREADER_SION_SION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

struct read_sion;

/* The mode, the high half of flag1 (doc/formats/sion.md#sion-8). */
#define READ_SION_MODE_PLAIN 50u
#define READ_SION_MODE_KEYVAL 51u

/* Kind of the mapping after the block sizes, which gives the file and index of each global rank
 * (doc/formats/sion.md, "Mapping"). */
enum read_sion_mapping {
    READ_SION_MAPPING_NONE,  /* no bytes: in a single file of a parallel writer, and in files k > 0 of a set */
    READ_SION_MAPPING_EMPTY, /* four zero bytes: in a file of the serial writer */
    READ_SION_MAPPING_FULL /* an entry for each rank: in file 0 of a set, and in a file of the mapped writer */
};

/* The header of a physical file (doc/formats/sion.md, "Header"), and values that follow from it. */
struct read_sion_info {
    unsigned char endian_word[4]; /* bytes 4..7 of the file */
    bool meta_big;                /* metadata is big-endian */
    bool data_big;                /* user data is declared big-endian; this reader does not swap it */
    int32_t library_version;      /* 1000 * major + minor */
    int32_t library_patch;
    int32_t format; /* file format version, at least 2 */
    uint32_t fs_block_size;
    uint32_t tasks; /* tasks in this physical file */
    uint32_t files; /* number of files of the set */
    /* number of this file in the set. In a single file: 1 from the serial writer, otherwise 0. In format 2: 0 */
    uint32_t file_number;
    uint64_t flag1; /* 0 in format 2 */
    uint64_t flag2;
    uint32_t mode;     /* READ_SION_MODE_x, or a mode that this reader does not know */
    char prefix[1025]; /* name as stored; ends in a NUL even if the field is full */
    uint32_t blocks;   /* number of blocks (maxchunks) */

    uint64_t meta1_size;
    uint64_t data_start;   /* offset of block 0 */
    uint64_t block_stride; /* bytes from block to block (globalskip) */
    uint64_t meta2_start;  /* offset of META2 (start_of_varheader) */
    uint64_t meta2_end;    /* offset of the end of the last row of block sizes */
    enum read_sion_mapping mapping;
    uint32_t mapping_tasks; /* entries of a full mapping */
    /* number of tasks with a negative global rank, as only a buddy copy of SIONlib has */
    uint32_t collectors;
    uint64_t file_size;
};

/* One task. */
struct read_sion_task {
    uint32_t file;  /* number of the physical file */
    uint32_t index; /* index of the task in the physical file */
    /* global rank. In a buddy copy, -(rank + 1) for a task that has no data of its own and writes those of
     * others */
    int64_t rank;
    uint64_t chunk_size; /* bytes of the task's chunk in every block */
    uint64_t start;      /* offset of the task's chunk in block 0 */
    uint32_t blocks;     /* number of blocks that the task used, >= 1 */
    uint64_t size;       /* bytes of the task's stream */
};

/*
 * Opens a container by the name of its file 0; the other files of a set are opened when needed. A file k > 0 of a
 * set can be opened alone.
 *
 * If a program replaces the container meanwhile, the reader never mixes files of the old and the new container: a
 * call that has to open another file fails with HPCW_EIO.
 *
 * Fails with HPCW_EFORMAT (a field contradicts the format; the message has file, field, offset, expected and got),
 * HPCW_ETRUNCATED (cut short, or never closed by its writer), HPCW_ENOTSUP (a variant that no program reads),
 * HPCW_ENOMEM, and as read_source_open does.
 */
hpcw_status read_sion_open(const char *path, struct read_sion **out, hpcw_error *err);

/* Opens a container whose files do not have the usual names. */
struct read_sion_names {
    /* as hpcw_sion_name_of_file; NULL: the names that doc/formats/sion.md describes */
    bool (*of_file)(void *context, const char *path, uint32_t file, char *name, size_t size);
    void *context;
};
hpcw_status read_sion_open_named(const char *path, const struct read_sion_names *names, struct read_sion **out,
                                 hpcw_error *err);

/*
 * Opens a container in memory: images[k] is file k, for k < count. The bytes of the images must outlive the handle.
 */
struct read_sion_image {
    const void *data;
    size_t size;
};
hpcw_status read_sion_open_memory(const struct read_sion_image *images, uint32_t count, struct read_sion **out,
                                  hpcw_error *err);

void read_sion_free(struct read_sion *reader);

/* Number of physical files: those of the set, or 1. */
uint32_t read_sion_files(const struct read_sion *reader);

/* Number of tasks with a global rank >= 0 in all files. Only verify checks this number. */
uint32_t read_sion_tasks(const struct read_sion *reader);

/* Path (or name) of file 0, for messages. */
const char *read_sion_name(const struct read_sion *reader);

/* Gets the header of one physical file, values that follow from the header, and the offsets of the tables. Sizes in
 * the tables are not known at open: see read_sion_task and read_sion_block_size. Checks that the file belongs to
 * the set. */
hpcw_status read_sion_info(struct read_sion *reader, uint32_t file, struct read_sion_info *info,
                           hpcw_error *err);

/* Gets task `index` of file `file`. This is cheap if tasks are read in ascending order. */
hpcw_status read_sion_task(struct read_sion *reader, uint32_t file, uint32_t index, struct read_sion_task *task,
                           hpcw_error *err);

/* Gets the task with a global rank, by the mapping if there is one, otherwise by a search. HPCW_EINVAL if no task
 * has this rank. */
hpcw_status read_sion_find(struct read_sion *reader, uint32_t rank, struct read_sion_task *task,
                           hpcw_error *err);

/* Gets the bytes that the task used in block `block` < task->blocks. */
hpcw_status read_sion_block_size(struct read_sion *reader, const struct read_sion_task *task, uint32_t block,
                                 uint64_t *size, hpcw_error *err);

/* Reads exactly `size` bytes at `offset` of the task's stream. HPCW_ETRUNCATED if the stream ends before offset +
 * size. */
hpcw_status read_sion_read(struct read_sion *reader, const struct read_sion_task *task, uint64_t offset,
                           void *data, size_t size, hpcw_error *err);

/* Iterates over the key-value records of a task's stream (doc/formats/sion.md, "Key-value streams"). */
struct read_sion_keys {
    struct read_sion_task task;
    uint64_t next;        /* stream offset of the next record */
    uint64_t buffer_from; /* stream offset of buffer[0] */
    size_t buffer_size;
    unsigned char buffer[4096];
};
struct read_sion_record {
    uint64_t key;
    uint64_t size;   /* bytes of the value */
    uint64_t offset; /* stream offset of the value, for read_sion_read */
};
void read_sion_keys_begin(struct read_sion_keys *keys, const struct read_sion_task *task);

/* Gets the next record. `more` is false after the last one. HPCW_EFORMAT if the stream does not end with a value,
 * HPCW_ENOTSUP if the container has no records. */
hpcw_status read_sion_keys_next(struct read_sion *reader, struct read_sion_keys *keys,
                                struct read_sion_record *record, bool *more, hpcw_error *err);

/* Flags of read_sion_verify. Without flags, verify accepts the known faults of real writers. */
enum {
    /*
     * Also check the conventions of hpcw's own writer: version words 5 and 1007/6, zeros in reserved fields and
     * after the name, no directory in the name, size 0 of unused blocks, no empty block in a stream of several
     * blocks, ranks ascending (0 .. n-1 in a single file), no buddy copy, and the kind of mapping that belongs to
     * the file number.
     */
    READ_SION_STRICT = 1,
    /* Also check that bytes which no stream uses are zero. This reads all these bytes, except holes. */
    READ_SION_GAPS = 2
};

/* Checks every structural rule in all files of the container. Reads payload only in key-value containers, and
 * unused bytes only with READ_SION_GAPS. Otherwise the time depends only on the bytes of metadata that are not in
 * holes. */
hpcw_status read_sion_verify(struct read_sion *reader, unsigned flags, hpcw_error *err);

#endif
