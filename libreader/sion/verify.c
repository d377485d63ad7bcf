/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the rules that are not necessary to open a file: doc/formats/sion.md, "Rules". */
#include <inttypes.h>
#include <string.h>

#include "libreader/sion/rules.h"
#include "libwriter/base/status.h"

/* This mode and the next one are reserved: no program reads them. */
#define RESERVED_MODE 52u

/* The versions that SIONlib 1.7.6 writes: doc/formats/sion.md#sion-3 and #sion-4. */
#define STRICT_FORMAT 5
#define STRICT_VERSION 1007
#define STRICT_PATCH 6

/* ------------------------------------------------------------------------------------------------------------
 *  Header of one file
 * --------------------------------------------------------------------------------------------------------- */

hpcw_status read_sion_header_rules(const struct read_sion_file *f, hpcw_error *err) {
    const struct read_sion_info *info = &f->info;
    const unsigned char *w = info->endian_word;
    if (w[0] > 1 || w[1] > 1 || w[3] != w[0] || w[2] != w[1]) {
        return hpcw_i_fail(
            err, HPCW_EFORMAT,
            "%s: endianness word at offset %d: expected m d d m with 0 or 1, got %02x %02x %02x %02x",
            read_sion_file_name(f), READ_SION_ENDIAN_AT, w[0], w[1], w[2], w[3]);
    }
    if (info->files == 1 && info->file_number > 1) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: filenumber at offset %d: expected 0 or 1 in a single file, got %" PRIu32,
                           read_sion_file_name(f), READ_SION_FILENUMBER_AT, info->file_number);
    }
    if (info->mode == RESERVED_MODE || info->mode == RESERVED_MODE + 1) {
        return hpcw_i_fail(err, HPCW_ENOTSUP,
                           "%s: mode in flag1 at offset %d: expected 50 or 51, got %" PRIu32
                           ", which is reserved and cannot be read",
                           read_sion_file_name(f), READ_SION_FLAG1_AT, info->mode);
    }
    if (info->mode != READ_SION_MODE_PLAIN && info->mode != READ_SION_MODE_KEYVAL) {
        return hpcw_i_fail(
            err, HPCW_EFORMAT,
            "%s: mode in flag1 at offset %d: expected 50 (plain) or 51 (key-value), got %" PRIu32,
            read_sion_file_name(f), READ_SION_FLAG1_AT, info->mode);
    }
    if (info->block_stride % info->fs_block_size != 0) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: sum of the chunk sizes: expected a multiple of fsblksize %" PRIu32
                           ", got %" PRIu64,
                           read_sion_file_name(f), info->fs_block_size, info->block_stride);
    }
    return HPCW_OK;
}

/* A word of the header and its required value. */
struct header_word {
    const char *field;
    uint64_t offset, expected, got;
};

/* Checks words of the header. In a message, the text `as` follows the expected value. */
static hpcw_status check_words(const struct read_sion_file *f, const struct header_word *word, size_t words,
                               const char *as, hpcw_error *err) {
    for (size_t i = 0; i < words; i++) {
        if (word[i].expected != word[i].got) {
            return hpcw_i_fail(
                err, HPCW_EFORMAT, "%s: %s at offset %" PRIu64 ": expected %" PRIu64 "%s, got %" PRIu64,
                read_sion_file_name(f), word[i].field, word[i].offset, word[i].expected, as, word[i].got);
        }
    }
    return HPCW_OK;
}

/* Checks rules 3, 4, 8, 9 and 22. */
static hpcw_status strict_header(const struct read_sion_file *f, hpcw_error *err) {
    const struct read_sion_info *info = &f->info;
    const struct header_word words[] = {
        {"library version", READ_SION_VERSION_AT, STRICT_VERSION, (uint64_t)info->library_version},
        {"library patch level", READ_SION_PATCH_AT, STRICT_PATCH, (uint64_t)info->library_patch},
        {"file format version", READ_SION_FORMAT_AT, STRICT_FORMAT, (uint64_t)info->format},
        {"flag1", READ_SION_FLAG1_AT, (uint64_t)info->mode << 32, info->flag1},
        {"flag2", READ_SION_FLAG2_AT, 0, info->flag2},
        {"number of buddy collectors", f->ranks_at, 0, info->collectors},
    };
    hpcw_status status = check_words(f, words, sizeof words / sizeof words[0], "", err);
    if (status != HPCW_OK) {
        return status;
    }
    size_t length = strlen(info->prefix);
    for (size_t i = length; i < sizeof info->prefix - 1; i++) {
        if (info->prefix[i] != '\0') {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: file name prefix at offset %zu: expected zeros after the name, got %02x",
                               read_sion_file_name(f), READ_SION_PREFIX_AT + i,
                               (unsigned)(unsigned char)info->prefix[i]);
        }
    }
    if (length == 0 || length == sizeof info->prefix - 1 || strchr(info->prefix, '/') != NULL) {
        return hpcw_i_fail(
            err, HPCW_EFORMAT,
            "%s: file name prefix at offset %d: expected a base name of 1..1023 bytes and a NUL, got "
            "\"%.64s\" (%zu bytes)",
            read_sion_file_name(f), READ_SION_PREFIX_AT, info->prefix, length);
    }
    return HPCW_OK;
}

/* Checks that the file ends where its last table ends: rules 20 and 21. */
static hpcw_status tail_rules(const struct read_sion_file *f, bool strict, hpcw_error *err) {
    const struct read_sion_info *info = &f->info;
    uint64_t tail = 0;
    if (info->mapping == READ_SION_MAPPING_EMPTY) {
        tail = read_sion_mapping_entry_at(0);
    } else if (info->mapping == READ_SION_MAPPING_FULL) {
        tail = read_sion_mapping_entry_at(info->mapping_tasks);
    }
    if (info->file_size - info->meta2_end != tail) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: end of the file: expected %" PRIu64 " after META2 and a mapping of %" PRIu64
                           " bytes, got %" PRIu64,
                           read_sion_file_name(f), info->meta2_end + tail, tail, info->file_size);
    }
    bool serial = info->files == 1 && info->file_number == 1;
    if (strict && serial != (info->mapping == READ_SION_MAPPING_EMPTY)) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: mapping at offset %" PRIu64 ": expected %s with filenumber %" PRIu32
                           ", got %" PRIu64 " bytes",
                           read_sion_file_name(f), info->meta2_end,
                           serial ? "an empty one (4 bytes)" : "none or a full one", info->file_number, tail);
    }
    return HPCW_OK;
}

static hpcw_status file_rules(struct read_sion *reader, struct read_sion_file *base, struct read_sion_file *f,
                              uint32_t file, unsigned flags, hpcw_error *err) {
    bool strict = (flags & READ_SION_STRICT) != 0;
    hpcw_status status = read_sion_header_rules(f, err);
    if (status == HPCW_OK && strict) {
        status = strict_header(f, err);
    }
    if (status == HPCW_OK) {
        status = tail_rules(f, strict, err);
    }
    if (status == HPCW_OK) {
        status = read_sion_table_rules(base, f, file, strict, err);
    }
    if (status == HPCW_OK && f->info.mode == READ_SION_MODE_KEYVAL) {
        status = read_sion_key_rules(reader, f, file, err);
    }
    if (status == HPCW_OK && (flags & READ_SION_GAPS) != 0) {
        status = read_sion_gap_rules(f, err);
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------------------
 *  The set
 * --------------------------------------------------------------------------------------------------------- */

hpcw_status read_sion_member_rules(const struct read_sion_info *base, const struct read_sion_file *f,
                                   hpcw_error *err) {
    const struct read_sion_info *info = &f->info;
    const struct header_word words[] = {
        {"byte order of metadata", READ_SION_ENDIAN_AT, base->meta_big, info->meta_big},
        {"byte order of user data", READ_SION_ENDIAN_AT + 1, base->data_big, info->data_big},
        {"library version", READ_SION_VERSION_AT, (uint64_t)base->library_version,
         (uint64_t)info->library_version},
        {"library patch level", READ_SION_PATCH_AT, (uint64_t)base->library_patch,
         (uint64_t)info->library_patch},
        {"file format version", READ_SION_FORMAT_AT, (uint64_t)base->format, (uint64_t)info->format},
        {"fsblksize", READ_SION_FSBLKSIZE_AT, base->fs_block_size, info->fs_block_size},
        {"flag1", READ_SION_FLAG1_AT, base->flag1, info->flag1},
        {"flag2", READ_SION_FLAG2_AT, base->flag2, info->flag2},
    };
    hpcw_status status = check_words(f, words, sizeof words / sizeof words[0], " as in file 0", err);
    /* Bytes after the name are checked by the strict rules only. */
    if (status == HPCW_OK && strncmp(base->prefix, info->prefix, sizeof base->prefix) != 0) {
        status =
            hpcw_i_fail(err, HPCW_EFORMAT,
                        "%s: file name prefix at offset %d: expected \"%.128s\" as in file 0, got \"%.128s\"",
                        read_sion_file_name(f), READ_SION_PREFIX_AT, base->prefix, info->prefix);
    }
    return status;
}

hpcw_status read_sion_verify(struct read_sion *reader, unsigned flags, hpcw_error *err) {
    struct read_sion_file *base;
    hpcw_status status = read_sion_physical(reader, 0, &base, err);
    uint32_t files = read_sion_files(reader);
    uint64_t ranks = 0;
    for (uint32_t k = 0; k < files && status == HPCW_OK; k++) {
        struct read_sion_file *f;
        status = read_sion_physical(reader, k, &f, err);
        if (status != HPCW_OK) {
            break;
        }
        if ((status = read_sion_member_rules(&base->info, f, err)) == HPCW_OK) {
            status = file_rules(reader, base, f, k, flags, err);
        }
        ranks += f->info.tasks - f->info.collectors;
    }
    if (status == HPCW_OK && base->info.mapping == READ_SION_MAPPING_FULL &&
        ranks != base->info.mapping_tasks) {
        status = hpcw_i_fail(err, HPCW_EFORMAT,
                             "%s: size of the mapping at offset %" PRIu64 ": expected %" PRIu64
                             ", the tasks in all files, got %" PRIu32,
                             read_sion_file_name(base), base->info.meta2_end, ranks, base->info.mapping_tasks);
    }
    return status;
}
