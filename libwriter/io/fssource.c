/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/io/fssource.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/xattr.h>

#include "libwriter/io/sys.h"

static int about(const struct hpcw_i_fs_source *self, const char *path, struct hpcw_i_fs_about *about) {
    (void)self;
    struct statfs fs;
    struct stat st;
    if (statfs(path, &fs) != 0 || stat(path, &st) != 0) {
        return errno;
    }
    *about = (struct hpcw_i_fs_about){
        /* f_type is a signed word, and the magic number of CIFS would be negative on some machines */
        .magic = (uint32_t)fs.f_type,
        .statfs_block = fs.f_bsize <= 0 ? 0 : (uint64_t)fs.f_bsize,
        .stat_block = st.st_blksize <= 0 ? 0 : (uint64_t)st.st_blksize,
        .kind = S_ISDIR(st.st_mode)   ? HPCW_I_FS_DIRECTORY
                : S_ISREG(st.st_mode) ? HPCW_I_FS_FILE
                                      : HPCW_I_FS_OTHER,
    };
    return 0;
}

static int direct(const struct hpcw_i_fs_source *self, const char *file, uint32_t *memory, uint32_t *offset) {
    (void)self;
#ifdef STATX_DIOALIGN /* in kernel headers of 6.1 and later */
    struct statx st;
    if (statx(AT_FDCWD, file, 0, STATX_DIOALIGN, &st) != 0) {
        return errno;
    }
    if ((st.stx_mask & STATX_DIOALIGN) == 0) {
        return ENOSYS;
    }
    *memory = st.stx_dio_mem_align;
    *offset = st.stx_dio_offset_align;
    return 0;
#else
    (void)file;
    (void)memory;
    (void)offset;
    return ENOSYS;
#endif
}

/* The struct dioattr of XFS_IOC_DIOINFO (Linux, fs/xfs/libxfs/xfs_fs.h). It is declared here, as the headers of
 * XFS are rarely installed. */
struct xfs_direct {
    uint32_t memory;
    uint32_t smallest; /* smallest transfer, bytes; offsets must be multiples of this */
    uint32_t largest;
};
#define XFS_DIRECT _IOR('X', 30, struct xfs_direct)

static int direct_xfs(const struct hpcw_i_fs_source *self, const char *file, uint32_t *memory,
                      uint32_t *offset) {
    (void)self;
    int fd;
    int e = hpcw_i_sys_open(file, O_RDONLY, 0, &fd);
    if (e != 0) {
        return e;
    }
    struct xfs_direct answer = {0};
    e = ioctl(fd, XFS_DIRECT, &answer) == 0 ? 0 : errno;
    (void)hpcw_i_sys_close(fd);
    *memory = answer.memory;
    *offset = answer.smallest;
    return e == ENOTTY ? ENOSYS : e;
}

static int get(const struct hpcw_i_fs_source *self, const char *path, const char *name, void *value,
               size_t *size) {
    (void)self;
    ssize_t n = getxattr(path, name, value, *size);
    *size = n < 0 ? 0 : (size_t)n;
    return n < 0 ? errno : 0;
}

static int set(const struct hpcw_i_fs_source *self, const char *path, const char *name, const void *value,
               size_t size) {
    (void)self;
    return setxattr(path, name, value, size, 0) == 0 ? 0 : errno;
}

const struct hpcw_i_fs_source hpcw_i_fs_system = {
    .about = about,
    .direct = direct,
    .direct_xfs = direct_xfs,
    .get = get,
    .set = set,
};
