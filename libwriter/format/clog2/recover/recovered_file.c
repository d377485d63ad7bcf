/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/clog2/recover/recovered_file.h"

#include <fcntl.h>
#include <inttypes.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"

hpcw_status hpcw_i_clog2_recovered_read(const struct hpcw_i_clog2_recovered_file *f, uint64_t offset, void *to,
                                        size_t size, bool *whole, hpcw_error *err) {
    size_t got = 0;
    int e = hpcw_i_sys_pread(f->fd, to, size, offset, &got);
    *whole = e == 0 && got == size;
    return e == 0
               ? HPCW_OK
               : hpcw_i_fail_sys(err, e, "%s: cannot read %zu bytes at offset %" PRIu64, f->path, size, offset);
}

hpcw_status hpcw_i_clog2_recovered_open(struct hpcw_i_clog2_recovered_file *f, const char *path, uint64_t *size,
                                        hpcw_error *err) {
    *f = (struct hpcw_i_clog2_recovered_file){.path = path, .fd = -1};
    struct hpcw_i_entry entry = {.kind = HPCW_I_FILE};
    int e = hpcw_i_sys_look(path, true, &entry);
    if (e == 0 && (entry.kind == HPCW_I_DIRECTORY || entry.kind == HPCW_I_SPECIAL)) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected a regular file, got a %s", path,
                           entry.kind == HPCW_I_DIRECTORY ? "directory" : "special file");
    }
    e = e == 0 ? hpcw_i_sys_open(path, O_RDONLY | O_NONBLOCK, 0, &f->fd) : e;
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot open", path);
    }
    /* Find the size by reading. The file may still grow if its process hangs and is not dead. */
    *size = 0;
    for (uint64_t step = UINT64_C(1) << 40; step > 0; step /= 2) {
        char byte;
        bool whole;
        hpcw_status s = hpcw_i_clog2_recovered_read(f, *size + step - 1, &byte, 1, &whole, err);
        if (s != HPCW_OK) {
            return s;
        }
        *size += whole ? step : 0;
    }
    return HPCW_OK;
}

void hpcw_i_clog2_recovered_close(struct hpcw_i_clog2_recovered_file *f) {
    for (uint32_t l = 0; l < f->timelines; l++) {
        while (f->first[l] != NULL) {
            struct hpcw_i_clog2_chunk *next = f->first[l]->next;
            hpcw_i_free(f->first[l]);
            f->first[l] = next;
        }
    }
    hpcw_i_free(f->first);
    hpcw_i_free(f->last);
    hpcw_i_free(f->definition);
    hpcw_i_free(f->offered);
    hpcw_i_free(f->known);
    hpcw_i_free(f->membership);
    hpcw_i_buf_free(&f->encoded);
    if (f->fd >= 0) {
        (void)hpcw_i_sys_close(f->fd);
    }
}
