/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls all functions of the SION reader with arbitrary bytes. */
#include <string.h>

#include "libreader/sion/sion.h"
#include "libreader/sion/streams/private.h"
#include "tests/fuzz/images.h"

static void read_task(struct read_sion *reader, const struct read_sion_task *task) {
    unsigned char bytes[1000];
    hpcw_error err;
    uint64_t sum = 0;
    for (uint32_t b = 0; b < task->blocks; b++) {
        uint64_t size;
        demand(read_sion_block_size(reader, task, b, &size, &err) == HPCW_OK);
        demand(size <= task->chunk_size);
        sum += size;
    }
    demand(sum == task->size);
    for (uint64_t k = 0; k < task->size; k += sizeof bytes) {
        size_t part = task->size - k < sizeof bytes ? (size_t)(task->size - k) : sizeof bytes;
        demand(read_sion_read(reader, task, k, bytes, part, &err) == HPCW_OK);
    }
    struct read_sion_keys keys;
    struct read_sion_record record;
    bool more = true;
    read_sion_keys_begin(&keys, task);
    while (more && read_sion_keys_next(reader, &keys, &record, &more, &err) == HPCW_OK) {
        demand(!more || record.offset + record.size <= task->size);
    }
}

static void read_all(struct read_sion *reader) {
    hpcw_error err;
    for (uint32_t file = 0; file < read_sion_files(reader); file++) {
        struct read_sion_info info;
        if (read_sion_info(reader, file, &info, &err) != HPCW_OK) {
            return;
        }
        for (uint32_t index = 0; index < info.tasks; index++) {
            struct read_sion_task task;
            if (read_sion_task(reader, file, index, &task, &err) == HPCW_OK) {
                read_task(reader, &task);
            }
        }
    }
}

/* Searches a key of `records` records again and again. The search must find it at least once and at most `records`
 * times. */
static void find_keys(hpcw_sion_reader *r, uint32_t rank, uint64_t key, uint64_t records) {
    hpcw_sion_record record;
    hpcw_error err;
    uint64_t times = 0;
    bool found = true;
    demand(hpcw_sion_reader_seek(r, rank, 0, &err) == HPCW_OK);
    while (found && hpcw_sion_reader_find_key(r, rank, key, &record, &found, &err) == HPCW_OK) {
        demand(!found || record.key == key);
        times += found;
    }
    demand(times >= 1 && times <= records);
}

/* The public reader reads an opened file to the end, or refuses it. */
static void read_streams(hpcw_sion_reader *r) {
    unsigned char bytes[1000];
    hpcw_error err;
    for (uint32_t i = 0; i < hpcw_sion_reader_count(r); i++) {
        const hpcw_sion_task *task = hpcw_sion_reader_task(r, i);
        demand(i == 0 || task->rank > hpcw_sion_reader_task(r, i - 1)->rank);
        uint64_t sum = 0, left;
        size_t got = sizeof bytes;
        while (got == sizeof bytes) {
            demand(hpcw_sion_reader_chunk_left(r, task->rank, &left, &err) == HPCW_OK);
            demand(hpcw_sion_reader_read(r, task->rank, bytes, sizeof bytes, &got, &err) == HPCW_OK);
            sum += got;
        }
        demand(sum == task->size && hpcw_sion_reader_at_end(r, task->rank));
        demand(hpcw_sion_reader_seek(r, task->rank, 0, &err) == HPCW_OK);
        hpcw_sion_record record;
        bool more = true;
        uint64_t records = 0, key = 0;
        while (more && hpcw_sion_reader_next_key(r, task->rank, &record, &more, &err) == HPCW_OK) {
            demand(!more || record.size <= task->size - record.offset);
            key = more ? record.key : key;
            records += more;
        }
        if (records > 0) {
            find_keys(r, task->rank, key, records);
        }
        for (uint32_t b = 0; b < task->blocks; b++) {
            demand(hpcw_sion_reader_block_size(r, task->rank, b, &left, &err) == HPCW_OK);
            sum -= left;
        }
        demand(sum == 0);
        if (task->size > 0) {
            demand(hpcw_sion_reader_seek(r, task->rank, task->size / 2, &err) == HPCW_OK);
            demand(hpcw_sion_reader_skip(r, task->rank, task->size - task->size / 2, &err) == HPCW_OK);
            demand(hpcw_sion_reader_skip(r, task->rank, 1, &err) == HPCW_ERANGE);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct read_sion_image images[FUZZ_IMAGES];
    struct read_sion *reader;
    hpcw_error err;
    uint32_t count = fuzz_split(data, size, images);
    if (count == 0 || read_sion_open_memory(images, count, &reader, &err) != HPCW_OK) {
        return 0;
    }
    read_all(reader);
    hpcw_sion_reader *streams;
    if (read_sion_reader_open_memory(images, count, &streams, &err) == HPCW_OK) {
        read_streams(streams);
        hpcw_sion_reader_free(streams);
    }
    for (uint32_t rank = 0; rank < 8; rank++) {
        struct read_sion_task task;
        if (read_sion_find(reader, rank, &task, &err) == HPCW_OK) {
            demand(task.rank == (int64_t)rank);
        }
    }
    /* With an additional rule, the reader may refuse more files, but must not accept more. */
    hpcw_status before = HPCW_OK;
    for (unsigned flags = 0; flags < 4; flags++) {
        hpcw_status status = read_sion_verify(reader, flags, &err);
        demand(status == HPCW_OK || (err.code == status && err.message[0] != '\0'));
        demand(status != HPCW_OK || flags == 0 || before == HPCW_OK);
        if (flags == 0) {
            before = status;
        }
    }
    read_sion_free(reader);
    return 0;
}
