/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out whether a file is a local file, for programs that do not record, too. */
#include <errno.h>

#include "libwriter/format/clog2/log/local_file.h"
#include "libwriter/io/sys.h"

int hpcw_i_clog2_is_local(int at, const char *name, bool *is) {
    uint64_t size, tag;
    size_t got = 0;
    int fd;
    *is = false;
    int e = hpcw_i_sys_open_file_at(at, name, &fd, &size);
    if (e != 0) {
        return e == ENOENT || e == ENOTDIR || e == EACCES || e == ENAMETOOLONG || hpcw_i_sys_no_file(e) != NULL
                   ? 0
                   : e;
    }
    e = hpcw_i_sys_pread(fd, &tag, sizeof tag, 0, &got);
    hpcw_i_sys_drop(fd);
    *is = e == 0 && got == sizeof tag && tag == HPCW_I_CLOG2_LOCAL_TAG;
    return e;
}
