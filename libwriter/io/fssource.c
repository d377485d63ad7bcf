/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/io/fssource.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
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
        /* statfs has a signed word here, and that of CIFS would be negative on some machines */
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
#ifdef STATX_DIOALIGN /* kernel headers of 6.1 and later */
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

/* XFS_IOC_DIOINFO of Linux, fs/xfs/libxfs/xfs_fs.h (struct dioattr). The headers of XFS are rarely installed. */
struct xfs_direct {
    uint32_t memory;
    uint32_t smallest; /* smallest transfer, bytes; offsets are a multiple of it */
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

/* O_LOV_DELAY_CREATE of lustre_user.h. It has no meaning on other file systems. */
#define DELAY_CREATE (0100000000 | O_NOCTTY | O_ASYNC)

static int make(const struct hpcw_i_fs_source *self, const char *file) {
    (void)self;
    int fd;
    int e = hpcw_i_sys_open(file, O_WRONLY | O_CREAT | O_EXCL | DELAY_CREATE, 0666, &fd);
    return e == 0 ? hpcw_i_sys_close(fd) : e;
}

static int remove_file(const struct hpcw_i_fs_source *self, const char *file) {
    (void)self;
    return hpcw_i_sys_unlink(file);
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

/* ---- liblustreapi (lustre/include/lustre/lustreapi.h), which only Lustre's clients have ---- */

struct llapi_layout;
enum { FIRST_COMPONENT = 1 }; /* LLAPI_LAYOUT_COMP_USE_FIRST */

struct api {
    struct llapi_layout *(*get)(const char *path, unsigned flags);
    int (*use)(struct llapi_layout *layout, uint32_t component);
    int (*extent)(const struct llapi_layout *layout, uint64_t *begin, uint64_t *end);
    int (*count)(const struct llapi_layout *layout, uint64_t *count);
    int (*size)(const struct llapi_layout *layout, uint64_t *size);
    int (*pattern)(const struct llapi_layout *layout, uint64_t *pattern);
    void (*free)(struct llapi_layout *layout);
};

/* The values that llapi_layout_pattern_get returns (LLAPI_LAYOUT_x), which become bits of a layout's pattern. */
enum { API_RAID0 = 0, API_MDT = 2, API_OVERSTRIPING = 4 };

static uint32_t pattern_of(uint64_t word) {
    return word == API_MDT ? 0x100 : word == API_OVERSTRIPING ? 0x201 : 1;
}

/* Finds a function in a library. dlsym returns functions as pointers to objects: POSIX allows that, C does not
 * define it. */
static bool find(void *library, const char *name, void *function) {
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static int ask(const struct api *api, const char *file, struct hpcw_i_lov *lov) {
    struct llapi_layout *layout = api->get(file, 0);
    if (layout == NULL) {
        return errno == 0 ? EIO : errno;
    }
    uint64_t count = 0;
    uint64_t size = 0;
    uint64_t pattern = API_RAID0;
    uint64_t begin = 0;
    uint64_t end = UINT64_MAX;
    /* Lustre before 2.10 has no components. */
    bool good = api->use == NULL || api->use(layout, FIRST_COMPONENT) == 0;
    if (good && api->extent != NULL) {
        good = api->extent(layout, &begin, &end) == 0;
    }
    good = good && api->count(layout, &count) == 0 && api->size(layout, &size) == 0 &&
           api->pattern(layout, &pattern) == 0;
    api->free(layout);
    /* Larger values than the fields hold mean "default" or "all", which a file never has. */
    if (!good || count > HPCW_I_LOV_MOST_STRIPES || size > UINT32_MAX) {
        return ENODATA;
    }
    *lov = (struct hpcw_i_lov){
        .pattern = pattern_of(pattern), .stripes = (uint32_t)count, .stripe_bytes = size, .extent_end = end};
    return 0;
}

static int lustreapi(const struct hpcw_i_fs_source *self, const char *file, struct hpcw_i_lov *lov) {
    (void)self;
    void *library = dlopen("liblustreapi.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL) {
        library = dlopen("liblustreapi.so", RTLD_LAZY | RTLD_LOCAL);
    }
    if (library == NULL) {
        return ENOSYS;
    }
    struct api api = {0};
    bool whole = find(library, "llapi_layout_get_by_path", &api.get) &&
                 find(library, "llapi_layout_stripe_count_get", &api.count) &&
                 find(library, "llapi_layout_stripe_size_get", &api.size) &&
                 find(library, "llapi_layout_pattern_get", &api.pattern) &&
                 find(library, "llapi_layout_free", &api.free);
    (void)find(library, "llapi_layout_comp_use", &api.use);
    (void)find(library, "llapi_layout_comp_extent_get", &api.extent);
    int e = whole ? ask(&api, file, lov) : ENOSYS;
    (void)dlclose(library);
    return e;
}

const struct hpcw_i_fs_source hpcw_i_fs_system = {
    .about = about,
    .direct = direct,
    .direct_xfs = direct_xfs,
    .make = make,
    .remove = remove_file,
    .get = get,
    .set = set,
    .lustreapi = lustreapi,
};
