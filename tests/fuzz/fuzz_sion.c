/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything the SION reader can do with arbitrary bytes. */
#include <stdlib.h>
#include <string.h>

#include "libreader/sion/sion.h"
#include "tests/fuzz/images.h"

/* A promise of the reader was broken: neither undefined behaviour nor a leak, but as bad. */
static void demand(bool good) {
    if (!good) {
        abort();
    }
}

static void read_task(struct hpcw_i_sion_reader *reader, const struct hpcw_i_sion_task *task) {
    unsigned char bytes[1000];
    hpcw_error err;
    uint64_t sum = 0;
    for (uint32_t b = 0; b < task->blocks; b++) {
        uint64_t size;
        demand(hpcw_i_sion_reader_block_size(reader, task, b, &size, &err) == HPCW_OK);
        demand(size <= task->chunk_size);
        sum += size;
    }
    demand(sum == task->size);
    for (uint64_t k = 0; k < task->size; k += sizeof bytes) {
        size_t part = task->size - k < sizeof bytes ? (size_t)(task->size - k) : sizeof bytes;
        demand(hpcw_i_sion_reader_read(reader, task, k, bytes, part, &err) == HPCW_OK);
    }
    struct hpcw_i_sion_keys keys;
    struct hpcw_i_sion_record record;
    bool more = true;
    hpcw_i_sion_keys_begin(&keys, task);
    while (more && hpcw_i_sion_keys_next(reader, &keys, &record, &more, &err) == HPCW_OK) {
        demand(!more || record.offset + record.size <= task->size);
    }
}

static void read_all(struct hpcw_i_sion_reader *reader) {
    hpcw_error err;
    for (uint32_t file = 0; file < hpcw_i_sion_reader_files(reader); file++) {
        struct hpcw_i_sion_info info;
        if (hpcw_i_sion_reader_info(reader, file, &info, &err) != HPCW_OK) {
            return;
        }
        for (uint32_t index = 0; index < info.tasks; index++) {
            struct hpcw_i_sion_task task;
            if (hpcw_i_sion_reader_task(reader, file, index, &task, &err) == HPCW_OK) {
                read_task(reader, &task);
            }
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct hpcw_i_sion_image images[FUZZ_IMAGES];
    struct hpcw_i_sion_reader *reader;
    hpcw_error err;
    uint32_t count = fuzz_split(data, size, images);
    if (count == 0 || hpcw_i_sion_reader_open_memory(images, count, &reader, &err) != HPCW_OK) {
        return 0;
    }
    read_all(reader);
    for (uint32_t rank = 0; rank < 8; rank++) {
        struct hpcw_i_sion_task task;
        if (hpcw_i_sion_reader_find(reader, rank, &task, &err) == HPCW_OK) {
            demand(task.rank == (int64_t)rank);
        }
    }
    /* Each rule that is added can only refuse more. */
    hpcw_status before = HPCW_OK;
    for (unsigned flags = 0; flags < 4; flags++) {
        hpcw_status status = hpcw_i_sion_reader_verify(reader, flags, &err);
        demand(status == HPCW_OK || (err.code == status && err.message[0] != '\0'));
        demand(status != HPCW_OK || flags == 0 || before == HPCW_OK);
        if (flags == 0) {
            before = status;
        }
    }
    hpcw_i_sion_reader_free(reader);
    return 0;
}
