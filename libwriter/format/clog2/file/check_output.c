/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks an output, for programs that do not record, too. */
#include <errno.h>

#include "libwriter/base/status.h"
#include "libwriter/format/clog2/file/file.h"
#include "libwriter/io/sys.h"

hpcw_status hpcw_i_clog2_check_output(int at, const char *name, const char *path, hpcw_error *err) {
    uint64_t size, tag;
    size_t got = 0;
    int fd;
    int e = hpcw_i_sys_open_file_at(at, name, &fd, &size);
    if (e == ENOENT || e == ENOTDIR || e == EACCES || e == ENAMETOOLONG || hpcw_i_sys_no_file(e) != NULL) {
        return HPCW_OK;
    }
    if (e == 0) {
        e = hpcw_i_sys_pread(fd, &tag, sizeof tag, 0, &got);
        hpcw_i_sys_drop(fd);
    }
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot look at the older file of this name", path);
    }
    return got == sizeof tag && tag == HPCW_I_CLOG2_LOCAL_TAG
               ? hpcw_i_fail(err, HPCW_EEXIST,
                             "%s: expected an output, got the local file of a recorded run, with records that "
                             "may be nowhere else: choose another name",
                             path)
               : HPCW_OK;
}
