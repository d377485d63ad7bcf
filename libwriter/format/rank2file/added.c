/* SPDX-License-Identifier: BSD-3-Clause */
/* The data files of a dataset that is being written. A file is opened first, and added to the dataset when its
 * size and CRC are known. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/rank2file/handle.h"
#include "libwriter/io/dir.h"

/* ---- added ---- */

uint32_t hpcw_i_r2f_rank_at(const hpcw_rank2file *w, uint32_t index) {
    return w->own_ranks != NULL ? w->own_ranks[index] : w->first + index;
}

static uint32_t index_of(const hpcw_rank2file *w, uint32_t rank) {
    uint32_t count = w->options.count;
    if (w->own_ranks != NULL) {
        return hpcw_i_find_ascending(w->own_ranks, count, rank);
    }
    uint32_t i = rank - w->first; /* wraps to a large number if the rank is below the first */
    return i < count ? i : UINT32_MAX;
}

hpcw_status hpcw_i_r2f_check_file(const hpcw_rank2file *w, uint32_t rank, const char *name, hpcw_error *err) {
    if (w == NULL || name == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected an open dataset and a name, got NULL");
    }
    if (w->closed) {
        return hpcw_i_fail(err, HPCW_ESTATE, "%s: dataset %s is closed", w->prefix, w->dataset);
    }
    if (index_of(w, rank) == UINT32_MAX) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a rank of this process, got %u", w->prefix, rank);
    }
    const char *bad = hpcw_i_r2f_bad_name(name, strlen(name), HPCW_RANK2FILE_MAX_NAME - strlen(w->dataset) - 1);
    if (bad == NULL && strncmp(name, ".scr", 4) == 0 && (name[4] == '/' || name[4] == '\0')) {
        bad = "its directory is that of the metadata";
    }
    return bad == NULL
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EINVAL, "%s: rank %u, name \"%.200s\": %s", w->prefix, rank, name, bad);
}

hpcw_status hpcw_i_r2f_add(hpcw_rank2file *w, uint32_t rank, const struct hpcw_i_r2f_file *file, bool look,
                           hpcw_error *err) {
    hpcw_status s = hpcw_i_r2f_check_file(w, rank, file->name, err);
    if (s != HPCW_OK) {
        return s;
    }
    struct hpcw_i_r2f_own own = {
        .size = file->size,
        .index = index_of(w, rank),
        .name_size = (uint32_t)strlen(file->name),
        .crc = file->crc,
        .flags = (uint16_t)file->flags,
        .look = look,
    };
    (void)pthread_mutex_lock(&w->lock);
    own.name_at = w->names.size;
    bool ok = hpcw_i_buf_reserve(&w->own, sizeof own) &&
              hpcw_i_buf_append(&w->names, file->name, own.name_size + 1) &&
              hpcw_i_buf_append(&w->own, &own, sizeof own);
    (void)pthread_mutex_unlock(&w->lock);
    return ok ? HPCW_OK : hpcw_i_fail_memory(err, w->prefix, 0, "a file");
}

hpcw_status hpcw_rank2file_add(hpcw_rank2file *w, uint32_t rank, const char *name, uint64_t size,
                               const uint32_t *crc, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    const struct hpcw_i_r2f_file file = {
        .name = name,
        .size = size,
        .crc = crc == NULL ? 0 : *crc,
        .flags = HPCW_I_R2F_HAS_SIZE | (crc == NULL ? 0u : HPCW_I_R2F_HAS_CRC),
    };
    hpcw_status s = hpcw_i_r2f_check_file(w, rank, name, err);
    if (s != HPCW_OK) {
        return s;
    }
    s = hpcw_i_r2f_note(w, name, err);
    s = s == HPCW_OK ? hpcw_i_r2f_add(w, rank, &file, true, err) : s;
    if (s != HPCW_OK) {
        /* If the program ignores this error, the dataset must not be finished without the file. */
        hpcw_rank2file_abandon(w, err);
    }
    return s;
}

void hpcw_rank2file_abandon(hpcw_rank2file *w, const hpcw_error *reason) {
    if (w != NULL) {
        (void)pthread_mutex_lock(&w->lock);
        if (w->abandoned.code == HPCW_OK) {
            w->abandoned = hpcw_i_reason_to_abandon(reason);
        }
        (void)pthread_mutex_unlock(&w->lock);
    }
}

/* ---- begun ---- */

void hpcw_i_r2f_begin_file(hpcw_rank2file *w, struct hpcw_i_r2f_begun *f) {
    (void)pthread_mutex_lock(&w->lock);
    f->w = w;
    f->next = w->begun;
    f->link = &w->begun;
    if (f->next != NULL) {
        f->next->link = &f->next;
    }
    w->begun = f;
    (void)pthread_mutex_unlock(&w->lock);
}

/* Fails if the dataset must not be finished because of this file: it is still open, or a write failed. */
static hpcw_status verdict(const struct hpcw_i_r2f_begun *f, hpcw_error *err) {
    if (!f->open) {
        return HPCW_OK;
    }
    if (f->failure.code == HPCW_OK) {
        return hpcw_i_fail(err, HPCW_ESTATE, "%s: expected the file to be closed or discarded, got an open one",
                           f->path);
    }
    *err = f->failure;
    return err->code;
}

void hpcw_i_r2f_end_file(struct hpcw_i_r2f_begun *f) {
    hpcw_rank2file *w = f->w;
    hpcw_error why;
    if (w != NULL) {
        if (verdict(f, &why) != HPCW_OK) {
            hpcw_rank2file_abandon(w, &why);
        }
        (void)pthread_mutex_lock(&w->lock);
        *f->link = f->next;
        if (f->next != NULL) {
            f->next->link = f->link;
        }
        (void)pthread_mutex_unlock(&w->lock);
    }
}

/* ---- at the close ---- */

/* Checks that a file exists with the size that the program gave. The file may come from any writer. */
static hpcw_status look_at_file(const hpcw_rank2file *w, const struct hpcw_i_r2f_own *own, hpcw_error *err) {
    char *name = hpcw_i_r2f_join(w->dataset, (const char *)w->names.data + own->name_at);
    uint64_t size = 0;
    int at;
    if (name == NULL) {
        return hpcw_i_fail_memory(err, w->prefix, 0, NULL);
    }
    int e = w->place.dir == NULL ? ENOENT : hpcw_i_dir_fd(w->place.dir, &at);
    e = e == 0 ? hpcw_i_sys_size_at(at, name, &size) : e;
    hpcw_status s = HPCW_OK;
    if (e != 0) {
        s = hpcw_i_fail_sys(err, e, "%s/%s: expected a file of %" PRIu64 " bytes, as it was added", w->prefix,
                            name, own->size);
    } else if (size != own->size) {
        s = hpcw_i_fail(err, size < own->size ? HPCW_ETRUNCATED : HPCW_EFORMAT,
                        "%s/%s: size: expected %" PRIu64 " bytes, as it was added, got %" PRIu64, w->prefix,
                        name, own->size, size);
    }
    hpcw_i_free(name);
    return s;
}

static hpcw_status look_at_files(const hpcw_rank2file *w, hpcw_error *err) {
    const struct hpcw_i_r2f_own *own = (const struct hpcw_i_r2f_own *)(const void *)w->own.data;
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < w->own.size / sizeof *own; i++) {
        s = own[i].look ? look_at_file(w, &own[i], err) : HPCW_OK;
    }
    return s;
}

hpcw_status hpcw_i_r2f_check_files(hpcw_rank2file *w, hpcw_error *err) {
    if (w->abandoned.code != HPCW_OK) {
        *err = w->abandoned;
        return err->code;
    }
    hpcw_status s = HPCW_OK;
    for (const struct hpcw_i_r2f_begun *f = w->begun; s == HPCW_OK && f != NULL; f = f->next) {
        s = verdict(f, err);
    }
    return s == HPCW_OK ? look_at_files(w, err) : s;
}
