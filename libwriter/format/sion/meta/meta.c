/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/sion/meta/meta.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "libwriter/base/bytes.h"
#include "libwriter/base/status.h"

uint64_t hpcw_i_sion_mapping_of(const struct hpcw_sion *h, uint32_t file) {
    if (h->placement.files > 1) {
        return file == 0 ? h->tasks : HPCW_I_SION_NO_MAPPING;
    }
    switch (h->options.flavour) {
    case HPCW_SION_SERIAL:
        return 0;
    case HPCW_SION_MAPPED:
        return h->tasks;
    default:
        return HPCW_I_SION_NO_MAPPING;
    }
}

hpcw_sion_shape hpcw_i_sion_shape_of_file(const struct hpcw_sion *h, uint32_t file, uint64_t blocks) {
    const struct hpcw_i_sion_file *f = &h->placement.file[file];
    hpcw_sion_shape shape = {0};
    hpcw_status s = hpcw_sion_shape_of(f->tasks, h->block_size, f->stride, (uint32_t)blocks,
                                       hpcw_i_sion_mapping_of(h, file), &shape, NULL);
    assert(s == HPCW_OK);
    (void)s;
    return shape;
}

hpcw_status hpcw_i_sion_check_limits(const struct hpcw_sion *h, const uint64_t *blocks, hpcw_error *err) {
    for (uint32_t f = 0; f < h->placement.files; f++) {
        const struct hpcw_i_sion_file *file = &h->placement.file[f];
        uint64_t mapping = hpcw_i_sion_mapping_of(h, f);
        uint64_t most = blocks == NULL ? 1 : blocks[f];
        if (file->tasks > HPCW_SION_MAX_TASKS) {
            return hpcw_i_fail(err, HPCW_ERANGE, "%s: tasks per file: expected at most %u, got %u in file %u",
                               h->path, HPCW_SION_MAX_TASKS, file->tasks, f);
        }
        if (most == 0) {
            continue; /* a file of another run */
        }
        /* The table must not be too large for its readers: doc/formats/sion.md#sion-26. */
        if (mapping != HPCW_I_SION_NO_MAPPING && mapping > 0 && most * file->tasks > INT32_MAX) {
            return hpcw_i_fail(err, HPCW_ERANGE,
                               "%s: blocks: SIONlib finds the mapping after at most 2^31 - 1 table entries: "
                               "expected fewer, got %u tasks with up to %" PRIu64 " blocks",
                               h->path, file->tasks, most);
        }
        hpcw_sion_shape shape;
        hpcw_status s =
            hpcw_sion_shape_of(file->tasks, h->block_size, file->stride, (uint32_t)most, mapping, &shape, err);
        if (s != HPCW_OK) {
            return s;
        }
    }
    return HPCW_OK;
}

void hpcw_i_sion_encode_head(const struct hpcw_sion *h, uint32_t file, unsigned char *head) {
    enum { LIBRARY = 1007, PATCH = 6, FORMAT = 5, MODE_ANSI = 50, MODE_KEYVAL = 51 };
    bool big = h->options.endian == HPCW_SION_BIG;
    unsigned char m = big;
    unsigned char d = h->options.data_endian == HPCW_SION_BIG;
    bool serial = h->options.flavour == HPCW_SION_SERIAL;
    uint64_t mode = h->options.content == HPCW_SION_KEYVAL ? MODE_KEYVAL : MODE_ANSI;
    memset(head, 0, HPCW_I_SION_TABLES_AT);
    memcpy(head + HPCW_I_SION_MAGIC_AT, "sion", 4);
    /* The word is the same on any host: the outer pair is the metadata's byte order, the inner pair the data's. */
    memcpy(head + HPCW_I_SION_ENDIAN_AT, (unsigned char[4]){m, d, d, m}, 4);
    hpcw_i_put_u32(head + HPCW_I_SION_VERSION_AT, LIBRARY, big);
    hpcw_i_put_u32(head + HPCW_I_SION_PATCH_AT, PATCH, big);
    hpcw_i_put_u32(head + HPCW_I_SION_FORMAT_AT, FORMAT, big);
    hpcw_i_put_u32(head + HPCW_I_SION_FSBLKSIZE_AT, h->block_size, big);
    hpcw_i_put_u32(head + HPCW_I_SION_NTASKS_AT, h->placement.file[file].tasks, big);
    hpcw_i_put_u32(head + HPCW_I_SION_NFILES_AT, h->placement.files, big);
    hpcw_i_put_u32(head + HPCW_I_SION_FILENUMBER_AT, serial ? 1 : file, big);
    hpcw_i_put_u64(head + HPCW_I_SION_FLAG1_AT, mode << 32, big);
    hpcw_i_put_u64(head + HPCW_I_SION_FLAG2_AT, 0, big);
    memcpy(head + HPCW_I_SION_PREFIX_AT, h->name, strlen(h->name)); /* the open checked that it fits */
}

void hpcw_i_sion_encode_commit(const struct hpcw_sion *h, uint64_t blocks, uint64_t meta2_start,
                               unsigned char *mark) {
    bool big = h->options.endian == HPCW_SION_BIG;
    hpcw_i_put_u32(mark + HPCW_I_SION_COMMIT_BLOCKS_AT, (uint32_t)blocks, big);
    hpcw_i_put_u64(mark + HPCW_I_SION_COMMIT_META2_AT, meta2_start, big);
}

uint64_t hpcw_i_sion_mapping_entry(const struct hpcw_sion *h, uint32_t file, uint32_t column) {
    bool big = h->options.endian == HPCW_SION_BIG;
    /* An entry is a pair of 32-bit numbers, file number first: doc/formats/sion.md, "Mapping". */
    return hpcw_i_order64(big ? (uint64_t)file << 32 | column : (uint64_t)column << 32 | file, big);
}
