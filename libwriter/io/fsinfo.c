/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/fsinfo.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/mem.h"
#include "base/status.h"

#define LARGEST_BELIEVED (32u << 20)
#define OTHERWISE (2u << 20)

hpcw_status hpcw_i_fs_block_size(const char *path, uint32_t *block_size, hpcw_error *err) {
    const char *slash = strrchr(path, '/');
    char *dir = hpcw_i_strdup(slash == NULL ? "." : path);
    if (dir == NULL) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory", path);
    }
    if (slash != NULL) {
        dir[slash == path ? 1 : slash - path] = '\0';
    }
    struct stat st;
    int e = stat(dir, &st) == 0 ? 0 : errno;
    hpcw_status s = HPCW_OK;
    if (e != 0) {
        s = hpcw_i_fail_sys(err, e, "%s: cannot ask the directory of %s for its block size", dir, path);
    } else {
        *block_size = st.st_blksize <= 0 || st.st_blksize > (blksize_t)LARGEST_BELIEVED
                          ? OTHERWISE
                          : (uint32_t)st.st_blksize;
    }
    hpcw_i_free(dir);
    return s;
}

hpcw_status hpcw_i_fs_space(const char *directory, uint64_t *bytes, hpcw_error *err) {
    struct statvfs v;
    if (statvfs(directory, &v) != 0) {
        return hpcw_i_fail_sys(err, errno, "%s: cannot ask for its free space", directory);
    }
    if (v.f_blocks == 0) {
        *bytes = UINT64_MAX; /* /proc, and some that are mounted from elsewhere: they do not say */
        return HPCW_OK;
    }
    *bytes = (uint64_t)v.f_bavail * (v.f_frsize != 0 ? v.f_frsize : v.f_bsize);
    return HPCW_OK;
}
