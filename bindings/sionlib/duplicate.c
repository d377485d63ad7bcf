/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a second handle, with positions of its own, for a container that several processes read. */
#include <stdlib.h>

#include "bindings/sionlib/handles/parallel.h"

/* Opens a reader of the tasks of `h`, or of task `only` if `only` is not -1, for this process alone. Returns NULL
 * after reporting an error. */
static hpcw_sion_reader *open_again(const struct sionlib_handle *h, int only) {
    hpcw_sion_reader *reader = NULL;
    hpcw_error err;
    uint32_t count = 0;
    uint32_t *ranks = malloc(((size_t)h->count + 1) * sizeof *ranks);
    for (uint32_t i = 0; ranks != NULL && i < h->count; i++) {
        if (only < 0 || h->task[i].rank == (uint32_t)only) {
            ranks[count++] = h->task[i].rank;
        }
    }
    if (count == 0) {
        sionlib_report("%s: sion_dup: expected a task of this process, got none", h->parallel->path);
    } else if (sionlib_parallel_reader(h->parallel, NULL, count, ranks, &reader, &err) != HPCW_OK) {
        sionlib_report("%s", err.message);
    }
    free(ranks);
    return reader;
}

int sion_dup(int sid, int mode, int rank, uint64_t key) {
    const struct sionlib_handle *h = sionlib_handle_of(sid, "sion_dup");
    (void)key; /* not needed: a reader finds the records of all keys of a task */
    if (h == NULL || h->reader == NULL || h->parallel == NULL) {
        if (h != NULL) {
            sionlib_report("sion_dup: expected a container that several processes read");
        }
        return SION_ID_NOT_VALID;
    }
    hpcw_sion_reader *reader = open_again(h, mode == SION_DUP_ALL ? -1 : rank);
    struct sionlib_handle *copy = reader == NULL ? NULL : sionlib_handle_of_reader(h->opened, reader);
    if (copy == NULL) {
        return SION_ID_NOT_VALID;
    }
    copy->duplicate = true;
    for (uint32_t i = 0, k = 0; i < h->count && k < copy->count; i++) {
        if (h->task[i].rank == copy->task[k].rank) {
            copy->task[k].block = h->task[i].block;
            copy->task[k].at = h->task[i].at;
            copy->current = i == h->current ? k : copy->current;
            k++;
        }
    }
    copy->file = (int)sionlib_current(copy)->file;
    return copy->sid;
}

int sion_dedup(int sid) {
    struct sionlib_handle *h = sionlib_handle_of(sid, "sion_dedup");
    if (h == NULL) {
        return SION_ID_NOT_VALID;
    }
    if (!h->duplicate) {
        sionlib_report("sion_dedup: expected a handle of sion_dup");
        return SION_NOT_SUCCESS;
    }
    sionlib_handle_free(h);
    return SION_SUCCESS;
}
