/* SPDX-License-Identifier: BSD-3-Clause */
/* Key-value records: doc/formats/sion.md, "Key-value streams". */
#include <inttypes.h>

#include "libreader/sion/file.h"
#include "libwriter/base/status.h"

void read_sion_keys_begin(struct read_sion_keys *keys, const struct read_sion_task *task) {
    keys->task = *task;
    keys->next = 0;
    keys->buffer_from = 0;
    keys->buffer_size = 0;
}

hpcw_status read_sion_record_decode(const struct read_sion_file *f, const struct read_sion_task *task,
                                    uint64_t at, const unsigned char *header, struct read_sion_record *record,
                                    hpcw_error *err) {
    const char *name = read_sion_file_name(f);
    uint64_t rest = task->size - at;
    if (rest < READ_SION_RECORD_HEADER) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: key-value stream of task %" PRIu32
                           ": expected a record of 16 bytes or more at %" PRIu64 ", got the last %" PRIu64
                           " bytes",
                           name, task->index, at, rest);
    }
    record->key = hpcw_i_get_u64(header, f->info.meta_big);
    record->size = hpcw_i_get_u64(header + READ_SION_RECORD_LENGTH_AT, f->info.meta_big);
    record->offset = at + READ_SION_RECORD_HEADER;
    if (record->size > rest - READ_SION_RECORD_HEADER) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: key-value stream of task %" PRIu32 ": length of the record at %" PRIu64
                           ": expected at most the remaining %" PRIu64 " bytes, got %" PRIu64,
                           name, task->index, at, rest - READ_SION_RECORD_HEADER, record->size);
    }
    return HPCW_OK;
}

hpcw_status read_sion_keys_next(struct read_sion *reader, struct read_sion_keys *keys,
                                struct read_sion_record *record, bool *more, hpcw_error *err) {
    *more = false;
    struct read_sion_file *f;
    hpcw_status status = read_sion_physical(reader, keys->task.file, &f, err);
    if (status != HPCW_OK) {
        return status;
    }
    if (f->info.mode != READ_SION_MODE_KEYVAL) {
        return hpcw_i_fail(err, HPCW_ENOTSUP,
                           "%s: mode in flag1 at offset %d: expected 51 (inline key-value), got %" PRIu32,
                           read_sion_file_name(f), READ_SION_FLAG1_AT, f->info.mode);
    }
    uint64_t rest = keys->task.size - keys->next;
    if (rest == 0) {
        return HPCW_OK;
    }
    const unsigned char *header = NULL;
    if (rest >= READ_SION_RECORD_HEADER &&
        (keys->next < keys->buffer_from || keys->next - keys->buffer_from > keys->buffer_size ||
         keys->buffer_size - (keys->next - keys->buffer_from) < READ_SION_RECORD_HEADER)) {
        size_t part = rest < sizeof keys->buffer ? (size_t)rest : sizeof keys->buffer;
        keys->buffer_size = 0;
        status = read_sion_file_read(f, &keys->task, keys->next, keys->buffer, part, err);
        if (status != HPCW_OK) {
            return status;
        }
        keys->buffer_from = keys->next;
        keys->buffer_size = part;
    }
    if (rest >= READ_SION_RECORD_HEADER) {
        header = keys->buffer + (keys->next - keys->buffer_from);
    }
    status = read_sion_record_decode(f, &keys->task, keys->next, header, record, err);
    if (status == HPCW_OK) {
        keys->next = record->offset + record->size;
        *more = true;
    }
    return status;
}
