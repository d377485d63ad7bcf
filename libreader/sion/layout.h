/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the SION reader: sizes and offsets of doc/formats/sion.md. */
#ifndef HPCW_LIBREADER_SION_LAYOUT_H
#define HPCW_LIBREADER_SION_LAYOUT_H

/* Header of META1, before the tables. */
enum {
    READ_SION_MAGIC_AT = 0,
    READ_SION_ENDIAN_AT = 4,
    READ_SION_VERSION_AT = 8,
    READ_SION_PATCH_AT = 12,
    READ_SION_FORMAT_AT = 16,
    READ_SION_FSBLKSIZE_AT = 20,
    READ_SION_NTASKS_AT = 24,
    READ_SION_NFILES_AT = 28,
    READ_SION_COMMON_SIZE = 32, /* bytes of the fields that all versions have */
    READ_SION_FILENUMBER_AT = 32,
    READ_SION_FLAG1_AT = 36,
    READ_SION_FLAG2_AT = 44,
    READ_SION_PREFIX_AT = 52,
    READ_SION_PREFIX_SIZE = 1024,
    READ_SION_TABLES_AT = 1076,
};

/* Version 2 has no fields between the number of files and the prefix: "Older versions". */
enum {
    READ_SION_PREFIX_AT_2 = 32,
    READ_SION_TABLES_AT_2 = 1056,
};

/* The commit mark: end of META1, after the tables of ranks and chunk sizes. */
enum {
    READ_SION_TASK_SIZE = 16, /* bytes of a task: 8 in the table of ranks and 8 in the table of chunk sizes */
    READ_SION_COMMIT_BLOCKS_AT = 0,
    READ_SION_COMMIT_META2_AT = 4,
    READ_SION_COMMIT_SIZE = 12,
};

/* The mapping has the number of entries, then the entries: doc/formats/sion.md, "Mapping". */
enum {
    READ_SION_MAPPING_HEADER = 4,
    READ_SION_MAPPING_ENTRY = 8,
    READ_SION_MAPPING_INDEX_AT = 4, /* offset of the index in an entry */
};

/* The header before each value, with key and length: doc/formats/sion.md, "Key-value streams". */
enum {
    READ_SION_RECORD_LENGTH_AT = 8,
    READ_SION_RECORD_HEADER = 16,
};

#endif
