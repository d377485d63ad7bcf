/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/io/fsinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"

#define LARGEST_PLAUSIBLE (32u << 20)
#define DEFAULT_BLOCK (2u << 20)

#define MAGIC_EXT4 0xEF53u
#define MAGIC_TMPFS 0x01021994u
#define MAGIC_LUSTRE 0x0BD00BD0u
#define MAGIC_GPFS 0x47504653u
#define MAGIC_XFS 0x58465342u
#define LOV_ATTRIBUTE "lustre.lov"

/* ---- block size and free space ---- */

hpcw_status hpcw_i_fs_block_size_at(int directory, const char *path, uint32_t *block_size, hpcw_error *err) {
    char *dir = hpcw_i_sys_directory_of(path);
    if (dir == NULL) {
        return hpcw_i_fail_memory(err, path, 0, NULL);
    }
    struct stat st;
    const int e = fstatat(directory, directory == AT_FDCWD ? dir : ".", &st, 0) == 0 ? 0 : errno;
    hpcw_status s = HPCW_OK;
    if (e != 0) {
        s = hpcw_i_fail_sys(err, e, "%s: cannot ask the directory of %s for its block size", dir, path);
    } else {
        *block_size = st.st_blksize <= 0 || st.st_blksize > (blksize_t)LARGEST_PLAUSIBLE
                          ? DEFAULT_BLOCK
                          : (uint32_t)st.st_blksize;
    }
    hpcw_i_free(dir);
    return s;
}

hpcw_status hpcw_i_fs_block_size(const char *path, uint32_t *block_size, hpcw_error *err) {
    return hpcw_i_fs_block_size_at(AT_FDCWD, path, block_size, err);
}

hpcw_status hpcw_i_fs_space(const char *directory, uint64_t *bytes, uint64_t *files, hpcw_error *err) {
    struct statvfs v;
    if (statvfs(directory, &v) != 0) {
        return hpcw_i_fail_sys(err, errno, "%s: cannot ask for its free space", directory);
    }
    /* File systems without blocks, such as /proc and some network file systems, report 0. Their free space is
     * unknown. */
    *bytes = v.f_blocks == 0 ? UINT64_MAX : (uint64_t)v.f_bavail * (v.f_frsize != 0 ? v.f_frsize : v.f_bsize);
    if (files != NULL) {
        /* btrfs makes inodes on demand and reports 0 of them */
        *files = v.f_files == 0 ? UINT64_MAX : (uint64_t)v.f_favail;
    }
    return HPCW_OK;
}

/* ---- the type ---- */

static const struct hpcw_i_fs_source *source_or_system(const struct hpcw_i_fs_source *source) {
    return source == NULL ? &hpcw_i_fs_system : source;
}

static void name_type(uint64_t magic, char type[32]) {
    static const struct {
        uint32_t magic;
        const char *name;
    } known[] = {
        {MAGIC_EXT4, "ext4"},     {MAGIC_TMPFS, "tmpfs"},   {MAGIC_XFS, "xfs"},       {0x9123683E, "btrfs"},
        {MAGIC_LUSTRE, "lustre"}, {MAGIC_GPFS, "gpfs"},     {0x6969, "nfs"},          {0x794C7630, "overlay"},
        {0x65735546, "fuse"},     {0x2FC12FC1, "zfs"},      {0xF2F52010, "f2fs"},     {0x19830326, "beegfs"},
        {0x00C36400, "ceph"},     {0xFF534D42, "cifs"},     {0xFE534D42, "smb2"},     {0x858458F6, "ramfs"},
        {0x01021997, "9p"},       {0xCA451A4E, "bcachefs"}, {0x7461636F, "ocfs2"},    {0x01161970, "gfs2"},
        {0x20030528, "orangefs"}, {0xAAD7AAEA, "panfs"},    {0x5346414F, "afs"},      {0x2011BAB0, "exfat"},
        {0x4D44, "vfat"},         {0xF15F, "ecryptfs"},     {0x73717368, "squashfs"}, {0x52654973, "reiserfs"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].magic == magic) {
            (void)snprintf(type, 32, "%s", known[i].name);
            return;
        }
    }
    (void)snprintf(type, 32, "unknown (0x%" PRIx64 ")", magic);
}

hpcw_status hpcw_i_fs_overwrites(const struct hpcw_i_fs_source *source, const char *directory,
                                 hpcw_error *err) {
    source = source_or_system(source);
    struct hpcw_i_fs_about about;
    char type[32];
    int e = source->about(source, directory, &about);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot ask for its file system", directory);
    }
    if (about.magic == MAGIC_TMPFS || about.magic == MAGIC_EXT4 || about.magic == MAGIC_XFS) {
        return HPCW_OK;
    }
    name_type(about.magic, type);
    return hpcw_i_fail(err, HPCW_ENOTSUP,
                       "%s: expected a file system that overwrites in place (tmpfs, ext4 or xfs), got %s",
                       directory, type);
}

/* ---- the description of a file system ---- */

static void look_direct(const struct hpcw_i_fs_source *source, const char *file, struct hpcw_i_fsinfo *info) {
    if (source->direct(source, file, &info->direct_memory, &info->direct_offset) == 0) {
        info->direct_source = "statx";
    } else if (info->magic == MAGIC_XFS &&
               source->direct_xfs(source, file, &info->direct_memory, &info->direct_offset) == 0) {
        info->direct_source = "XFS_IOC_DIOINFO";
    } else {
        info->direct_memory = info->direct_offset = 0;
        return;
    }
    info->direct_known = true;
}

/* Finds the Lustre stripes of a file from its extended attribute. */
static void look_stripes(const struct hpcw_i_fs_source *source, const char *file, struct hpcw_i_fsinfo *info) {
    size_t size = HPCW_I_LOV_LARGEST;
    unsigned char *value = hpcw_i_malloc(size);
    info->stripe_known = value != NULL && source->get(source, file, LOV_ATTRIBUTE, value, &size) == 0 &&
                         hpcw_i_lov_decode(value, size, &info->stripe);
    info->stripe_source = info->stripe_known ? LOV_ATTRIBUTE : "unknown";
    hpcw_i_free(value);
}

static void choose_block(const struct hpcw_i_fs_about *about, uint64_t given, struct hpcw_i_fsinfo *info) {
    const struct {
        uint64_t bytes;
        const char *source;
    } by_rank[] = {
        {given, "given"},
        {info->stripe.stripe_bytes, "Lustre stripe"},
        {info->gpfs ? about->statfs_block : 0, "GPFS"},
        {about->stat_block, "st_blksize"},
        {about->statfs_block, "statfs"},
    };
    for (size_t i = 0; i < sizeof by_rank / sizeof by_rank[0]; i++) {
        if (by_rank[i].bytes != 0) {
            info->block_bytes = by_rank[i].bytes;
            info->block_source = by_rank[i].source;
            return;
        }
    }
}

hpcw_status hpcw_i_fsinfo_look(const struct hpcw_i_fs_source *source, const char *path, uint64_t given,
                               struct hpcw_i_fsinfo *out, hpcw_error *err) {
    source = source_or_system(source);
    *out =
        (struct hpcw_i_fsinfo){.block_source = "unknown", .direct_source = "unknown", .stripe_source = "none"};
    struct hpcw_i_fs_about about;
    int e = source->about(source, path, &about);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot ask for its file system", path);
    }
    name_type(about.magic, out->type);
    out->magic = about.magic;
    out->gpfs = about.magic == MAGIC_GPFS;
    if (about.kind == HPCW_I_FS_FILE) {
        look_direct(source, path, out);
    }
    if (about.kind == HPCW_I_FS_FILE && about.magic == MAGIC_LUSTRE) {
        look_stripes(source, path, out);
    }
    choose_block(&about, given, out);
    return HPCW_OK;
}

/* ---- stripes ---- */

static hpcw_status check_stripes(const char *path, const struct hpcw_i_stripes *w, hpcw_error *err) {
    if (w->count > HPCW_I_LOV_MOST_STRIPES && w->count != HPCW_I_LOV_ALL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected at most %d stripes, got %u", path,
                           HPCW_I_LOV_MOST_STRIPES, w->count);
    }
    if (w->bytes % HPCW_I_LOV_STRIPE_UNIT != 0 || w->bytes > UINT32_MAX) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: expected stripes of a multiple of %d bytes below 4 GiB, got %" PRIu64, path,
                           HPCW_I_LOV_STRIPE_UNIT, w->bytes);
    }
    return HPCW_OK;
}

hpcw_status hpcw_i_fs_can_stripe(const struct hpcw_i_fs_source *source, const char *directory,
                                 const struct hpcw_i_stripes *stripes, hpcw_error *err) {
    source = source_or_system(source);
    hpcw_status s = check_stripes(directory, stripes, err);
    if (s != HPCW_OK) {
        return s;
    }
    struct hpcw_i_fs_about about;
    int e = source->about(source, directory, &about);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot ask for its file system", directory);
    }
    if (about.magic == MAGIC_LUSTRE) {
        return HPCW_OK;
    }
    char type[32];
    name_type(about.magic, type);
    return hpcw_i_fail(err, HPCW_ENOTSUP, "%s: cannot set stripes: expected a lustre file system, got %s",
                       directory, type);
}

hpcw_status hpcw_i_fs_set_stripe(const struct hpcw_i_fs_source *source, const char *directory,
                                 const struct hpcw_i_stripes *stripes, hpcw_error *err) {
    source = source_or_system(source);
    unsigned char value[HPCW_I_LOV_SET_SIZE];
    hpcw_i_lov_encode(stripes->count, stripes->bytes, value);
    int e = source->set(source, directory, LOV_ATTRIBUTE, value, sizeof value);
    return e == 0 ? HPCW_OK
                  : hpcw_i_fail_sys(err, e, "%s: cannot set %u stripes of %" PRIu64 " bytes", directory,
                                    stripes->count, stripes->bytes);
}
