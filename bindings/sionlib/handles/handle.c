/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles and their numbers. */
#include <stdatomic.h>
#include <stdlib.h>

#include "bindings/sionlib/handles/parallel.h"
#include "bindings/sionlib/handles/records.h"

/* Largest number of containers that a process can have open at the same time. */
#define SIONLIB_HANDLES 4096

/* A new handle gets the lowest free number. */
static _Atomic(struct sionlib_handle *) table[SIONLIB_HANDLES];

static int number(struct sionlib_handle *h) {
    for (int sid = 0; sid < SIONLIB_HANDLES; sid++) {
        struct sionlib_handle *none = NULL;
        if (atomic_compare_exchange_strong(&table[sid], &none, h)) {
            return sid;
        }
    }
    return -1;
}

struct sionlib_handle *sionlib_handle_new(enum sionlib_opened opened, uint32_t count) {
    struct sionlib_handle *h = calloc(1, sizeof *h);
    struct sionlib_task *task = calloc(count == 0 ? 1 : count, sizeof *task);
    if (h == NULL || task == NULL) {
        sionlib_report("sion: expected memory for %u tasks, got none", count);
        free(h);
        free(task);
        return NULL;
    }
    h->opened = opened;
    h->task = task;
    h->count = count;
    h->sid = number(h);
    if (h->sid < 0) {
        sionlib_report("sion: expected at most %d open containers, got one more", SIONLIB_HANDLES);
        sionlib_handle_free(h);
        return NULL;
    }
    return h;
}

void sionlib_handle_free(struct sionlib_handle *h) {
    if (h == NULL) {
        return;
    }
    if (h->stream != NULL) {
        (void)fclose(h->stream);
    }
    if (h->team == NULL) {
        hpcw_sion_free(h->writer);
    }
    hpcw_sion_reader_free(h->reader);
    hpcw_comm_free(h->comm);
    sionlib_parallel_free(h->parallel);
    for (uint32_t i = 0; i < h->count; i++) {
        free(h->task[i].used);
        sionlib_keys_free(h->task[i].keys);
    }
    free(h->task);
    free(h->table);
    free(h->mapping);
    if (h->sid >= 0) {
        atomic_store(&table[h->sid], NULL);
    }
    free(h);
}

struct sionlib_handle *sionlib_handle_of(int sid, const char *call) {
    struct sionlib_handle *h = sid >= 0 && sid < SIONLIB_HANDLES ? atomic_load(&table[sid]) : NULL;
    if (h == NULL) {
        sionlib_report("%s: expected an open container, got number %d", call, sid);
    }
    return h;
}

struct sionlib_handle *sionlib_writer_of(int sid, const char *call) {
    struct sionlib_handle *h = sionlib_handle_of(sid, call);
    if (h != NULL && (h->writer == NULL || h->count == 0)) {
        sionlib_report("%s: expected a container with a task to write to, got one %s", call,
                       h->writer == NULL ? "open for reading" : "without");
        return NULL;
    }
    return h;
}

struct sionlib_handle *sionlib_reader_of(int sid, const char *call) {
    struct sionlib_handle *h = sionlib_handle_of(sid, call);
    if (h != NULL && (h->reader == NULL || h->count == 0)) {
        sionlib_report("%s: expected a container with a task to read, got one %s", call,
                       h->reader == NULL ? "open for writing" : "without");
        return NULL;
    }
    return h != NULL && sionlib_load_blocks(h, sionlib_current(h)) ? h : NULL;
}

struct sionlib_handle *sionlib_handle_of_reader(enum sionlib_opened opened, hpcw_sion_reader *reader) {
    struct sionlib_handle *h = sionlib_handle_new(opened, hpcw_sion_reader_count(reader));
    if (h == NULL) {
        hpcw_sion_reader_free(reader);
        return NULL;
    }
    const hpcw_sion_info *info = hpcw_sion_reader_info(reader);
    h->reader = reader;
    h->files = (int)info->files;
    h->keys = info->keys;
    h->big_data = info->data_endian == HPCW_SION_BIG;
    for (uint32_t i = 0; i < h->count; i++) {
        sionlib_task_of_reader(&h->task[i], hpcw_sion_reader_task(reader, i));
    }
    h->file = h->count > 0 ? (int)h->task[0].file : 0;
    return h;
}

struct sionlib_handle *sionlib_handle_of_several(int sid, enum sionlib_opened opened, const char *call) {
    struct sionlib_handle *h = sionlib_handle_of(sid, call);
    if (h != NULL && (h->opened != opened || h->team != NULL || h->duplicate)) {
        sionlib_report("%s: expected a container of several processes with %s", call,
                       opened == SIONLIB_MAPPED ? "any number of tasks each" : "one task each");
        return NULL;
    }
    return h;
}

int sionlib_handle_close(struct sionlib_handle *h) {
    hpcw_error err;
    bool well = h->reader != NULL;
    if (h->writer != NULL) {
        well = hpcw_sion_close(h->writer, &err) == HPCW_OK;
        if (!well) {
            sionlib_report_error(h->comm, &err);
        }
    }
    sionlib_handle_free(h);
    return well ? SION_SUCCESS : SION_NOT_SUCCESS;
}
