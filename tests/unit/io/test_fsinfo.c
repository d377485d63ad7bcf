/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of file systems: on this machine, and on simulated machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include "libwriter/io/fsinfo.h"
#include "tests/support/files.h"
#include "tests/support/lov_image.h"

#define LUSTRE 0x0BD00BD0u
#define GPFS 0x47504653u
#define XFS 0x58465342u

/* A simulated file system. Each call returns its ..._error; if this is 0, the values are valid. */
struct fake {
    struct hpcw_i_fs_source base;
    struct hpcw_i_fs_about about;
    int about_error;
    int direct_error, xfs_error, get_error, set_error;
    uint32_t memory, offset;
    unsigned char value[512];
    size_t size;
    /* arguments of the last call that set a layout */
    unsigned char was_set[64];
    size_t set_size;
    char set_path[64];
};

/* Returns the fake that begins with the table `self`. Only the table is const. */
static struct fake *fake_of(const struct hpcw_i_fs_source *self) {
    return (struct fake *)(uintptr_t)self;
}

static int fake_about(const struct hpcw_i_fs_source *self, const char *path, struct hpcw_i_fs_about *about) {
    struct fake *f = fake_of(self);
    (void)path;
    *about = f->about;
    return f->about_error;
}
static int fake_direct(const struct hpcw_i_fs_source *self, const char *file, uint32_t *memory,
                       uint32_t *offset) {
    (void)file;
    *memory = fake_of(self)->memory;
    *offset = fake_of(self)->offset;
    return fake_of(self)->direct_error;
}
static int fake_direct_xfs(const struct hpcw_i_fs_source *self, const char *file, uint32_t *memory,
                           uint32_t *offset) {
    (void)fake_direct(self, file, memory, offset);
    return fake_of(self)->xfs_error;
}
static int fake_get(const struct hpcw_i_fs_source *self, const char *path, const char *name, void *value,
                    size_t *size) {
    struct fake *f = fake_of(self);
    (void)path;
    assert_string_equal(name, "lustre.lov");
    assert_true(*size >= f->size);
    memcpy(value, f->value, f->size);
    *size = f->size;
    return f->get_error;
}
static int fake_set(const struct hpcw_i_fs_source *self, const char *path, const char *name, const void *value,
                    size_t size) {
    struct fake *f = fake_of(self);
    assert_string_equal(name, "lustre.lov");
    assert_true(size <= sizeof f->was_set);
    memcpy(f->was_set, value, size);
    f->set_size = size;
    (void)snprintf(f->set_path, sizeof f->set_path, "%s", path);
    return f->set_error;
}
/* Makes a file system that supports only statfs and stat. */
static struct fake fake(uint32_t magic, enum hpcw_i_fs_kind kind) {
    return (struct fake){
        .base = {fake_about, fake_direct, fake_direct_xfs, fake_get, fake_set},
        .about = {.magic = magic, .statfs_block = 8192, .stat_block = 4096, .kind = kind},
        .direct_error = ENOSYS,
        .xfs_error = ENOSYS,
        .get_error = ENODATA,
    };
}

static struct hpcw_i_fsinfo look(struct fake *f, uint64_t given) {
    struct hpcw_i_fsinfo info;
    hpcw_error err;
    if (hpcw_i_fsinfo_look(&f->base, "/far/away", given, &info, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    return info;
}

/* ---- tests ---- */

static void lustre_layouts_are_read(void **state) {
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct fake f = fake(LUSTRE, HPCW_I_FS_FILE);
        f.get_error = 0;
        f.size = lov_plain(f.value, false, 1, 4 << 20, 3, 3, big);
        struct hpcw_i_fsinfo info = look(&f, 0);
        assert_string_equal(info.type, "lustre");
        assert_true(info.stripe_known);
        assert_string_equal(info.stripe_source, "lustre.lov");
        assert_int_equal(info.stripe.stripes, 3);
        assert_int_equal(info.stripe.stripe_bytes, 4 << 20);
        assert_int_equal(info.block_bytes, 4 << 20);
        assert_string_equal(info.block_source, "Lustre stripe");

        f.size = lov_plain(f.value, true, 1, 65536, 5, 5, big);
        info = look(&f, 0);
        assert_int_equal(info.stripe.stripes, 5);
        assert_int_equal(info.stripe.stripe_bytes, 65536);

        f.size = lov_composite(f.value, big);
        info = look(&f, 0);
        assert_int_equal(info.stripe.stripes, 1);
        assert_int_equal(info.stripe.stripe_bytes, 1 << 20);
        /* A block size that the user gives wins, and its source is "given". */
        info = look(&f, 12345);
        assert_int_equal(info.block_bytes, 12345);
        assert_string_equal(info.block_source, "given");
    }
}

/* Checks that an invalid layout is reported as unknown, without numbers. */
static void doubt(const unsigned char *value, size_t size) {
    struct fake f = fake(LUSTRE, HPCW_I_FS_FILE);
    f.get_error = 0;
    memcpy(f.value, value, size);
    f.size = size;
    struct hpcw_i_fsinfo info = look(&f, 0);
    assert_false(info.stripe_known);
    assert_string_equal(info.stripe_source, "unknown");
    assert_int_equal(info.stripe.stripes, 0);
    assert_string_equal(info.block_source, "st_blksize");
}

static void broken_layouts_are_not_believed(void **state) {
    (void)state;
    unsigned char v[512];
    size_t size = lov_plain(v, false, 1, 1 << 20, 2, 2, false);
    doubt(v, 0);
    doubt(v, 31);
    doubt(v, size - 1);
    (void)lov_plain(v, true, 1, 1 << 20, 2, 2, false);
    doubt(v, 47);
    size = lov_plain(v, false, 1, 65537, 2, 2, false);
    doubt(v, size);
    size = lov_plain(v, false, 1, 65536, 2001, 0, false);
    doubt(v, size);
    hpcw_i_put_u32(v, 0x0BD70BD0, false); /* a foreign layout */
    doubt(v, size);
    hpcw_i_put_u32(v, 0x0BD20BD0, true); /* a joined layout */
    doubt(v, size);
    hpcw_i_put_u32(v, 0x12345678, HPCW_I_HOST_BIG);
    doubt(v, size);

    size = lov_composite(v, false);
    doubt(v, size - 1);
    doubt(v, 31);
    hpcw_i_put_u16(v + 14, 0, false);
    doubt(v, size);
    hpcw_i_put_u16(v + 14, 60000, false);
    doubt(v, size);
    /* Damages the first entry: it ends before its start, or its data lie in the table of entries, lie outside, or
     * are too short. */
    lov_composite(v, false);
    hpcw_i_put_u64(v + 32 + 16, 0, false);
    doubt(v, size);
    const uint32_t wrong[][2] = {
        {UINT32_MAX, 56}, {32, 56}, {128, UINT32_MAX}, {128, 31}, {(uint32_t)size, 32}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        lov_composite(v, false);
        hpcw_i_put_u32(v + 32 + 24, wrong[i][0], false);
        hpcw_i_put_u32(v + 32 + 28, wrong[i][1], false);
        doubt(v, size);
    }
    lov_composite(v, false);
    hpcw_i_put_u32(v + 128, 0x0BD60BD0, false); /* a composite layout nested in another one */
    doubt(v, size);

    struct fake f = fake(LUSTRE, HPCW_I_FS_FILE); /* the file has no layout attribute */
    struct hpcw_i_fsinfo info = look(&f, 0);
    assert_false(info.stripe_known);
    f.about.kind = HPCW_I_FS_DIRECTORY; /* only a file has stripes */
    info = look(&f, 0);
    assert_string_equal(info.stripe_source, "none");
}

static void gpfs_says_its_block_size(void **state) {
    (void)state;
    struct fake f = fake(GPFS, HPCW_I_FS_DIRECTORY);
    f.about.statfs_block = 16 << 20;
    struct hpcw_i_fsinfo info = look(&f, 0);
    assert_string_equal(info.type, "gpfs");
    assert_true(info.gpfs);
    assert_int_equal(info.block_bytes, 16 << 20);
    assert_string_equal(info.block_source, "GPFS");
    assert_string_equal(info.stripe_source, "none");
}

static void direct_io_is_known_or_not(void **state) {
    (void)state;
    /* Without statx, or if statx has no answer for the file, the alignment is unknown. */
    struct fake f = fake(0xEF53, HPCW_I_FS_FILE);
    f.memory = f.offset = 4096;
    struct hpcw_i_fsinfo info = look(&f, 0);
    assert_false(info.direct_known);
    assert_string_equal(info.direct_source, "unknown");
    assert_int_equal(info.direct_memory, 0);
    /* XFS_IOC_DIOINFO is called only on XFS. */
    f.xfs_error = 0;
    assert_false(look(&f, 0).direct_known);
    f.about.magic = XFS;
    f.memory = 512;
    info = look(&f, 0);
    assert_string_equal(info.direct_source, "XFS_IOC_DIOINFO");
    assert_int_equal(info.direct_memory, 512);
    assert_int_equal(info.direct_offset, 4096);
    /* statx is used where it exists; 0 is a valid answer. */
    f.direct_error = 0;
    f.memory = f.offset = 0;
    info = look(&f, 0);
    assert_true(info.direct_known);
    assert_string_equal(info.direct_source, "statx");
    assert_int_equal(info.direct_offset, 0);
    /* The alignment of a directory is not asked for. */
    f.about.kind = HPCW_I_FS_DIRECTORY;
    assert_false(look(&f, 0).direct_known);
}

static void what_nobody_says_is_unknown(void **state) {
    (void)state;
    struct fake f = fake(0xABCDEF01, HPCW_I_FS_OTHER);
    struct hpcw_i_fsinfo info = look(&f, 0);
    assert_string_equal(info.type, "unknown (0xabcdef01)");
    assert_string_equal(info.block_source, "st_blksize");
    f.about.stat_block = 0;
    info = look(&f, 0);
    assert_string_equal(info.block_source, "statfs");
    assert_int_equal(info.block_bytes, 8192);
    f.about.statfs_block = 0;
    info = look(&f, 0);
    assert_string_equal(info.block_source, "unknown");
    assert_int_equal(info.block_bytes, 0);
    f.about_error = EIO;
    hpcw_error err;
    assert_int_equal(hpcw_i_fsinfo_look(&f.base, "/far/away", 0, &info, &err), HPCW_EIO);
    assert_non_null(strstr(err.message, "/far/away: cannot ask for its file system"));
}

static void a_mapping_needs_a_known_file_system(void **state) {
    (void)state;
    static const struct {
        uint32_t magic;
        const char *refused;
    } row[] = {{0xEF53, NULL},
               {0x01021994, NULL},
               {XFS, NULL},
               {0x9123683E, "got btrfs"},
               {LUSTRE, "lustre"},
               {0x6969, "got nfs"},
               {GPFS, "got gpfs"},
               {0x794C7630, "got overlay"},
               {0x2FC12FC1, "zfs"},
               {0xF2F52010, "got f2fs"},
               {0, "got unknown (0x0)"}};
    hpcw_error err;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct fake f = fake(row[i].magic, HPCW_I_FS_DIRECTORY);
        assert_int_equal(hpcw_i_fs_overwrites(&f.base, "/scratch", &err),
                         row[i].refused == NULL ? HPCW_OK : HPCW_ENOTSUP);
        assert_true(row[i].refused == NULL || strstr(err.message, row[i].refused) != NULL);
    }
    struct fake f = fake(0xEF53, HPCW_I_FS_DIRECTORY);
    f.about_error = EACCES;
    assert_int_equal(hpcw_i_fs_overwrites(&f.base, "/scratch", &err), HPCW_EACCES);
}

static void stripes_are_set_on_lustre(void **state) {
    (void)state;
    hpcw_error err;
    const struct hpcw_i_stripes want = {.count = 8, .bytes = 4 << 20};
    struct fake f = fake(LUSTRE, HPCW_I_FS_DIRECTORY);
    assert_int_equal(hpcw_i_fs_can_stripe(&f.base, "/far", &want, &err), HPCW_OK);
    assert_int_equal(f.set_size, 0);
    assert_int_equal(hpcw_i_fs_set_stripe(&f.base, "/far", &want, &err), HPCW_OK);
    assert_string_equal(f.set_path, "/far");
    /* A layout that was set reads back the same; the server chooses the first target. */
    struct hpcw_i_lov lov;
    assert_true(hpcw_i_lov_decode(f.was_set, f.set_size, &lov));
    assert_int_equal(lov.stripes, 8);
    assert_int_equal(lov.stripe_bytes, 4 << 20);
    assert_int_equal(hpcw_i_get_u16(f.was_set + 30, HPCW_I_HOST_BIG), 0xffff);
    const struct hpcw_i_stripes all = {.count = HPCW_I_LOV_ALL};
    assert_int_equal(hpcw_i_fs_set_stripe(&f.base, "/far", &all, &err), HPCW_OK);
    assert_int_equal(hpcw_i_get_u16(f.was_set + 28, HPCW_I_HOST_BIG), 0xffff);
    f.set_error = ENOSPC;
    assert_int_equal(hpcw_i_fs_set_stripe(&f.base, "/far", &want, &err), HPCW_ENOSPC);
}

static void stripes_are_refused(void **state) {
    (void)state;
    hpcw_error err;
    struct fake f = fake(0xEF53, HPCW_I_FS_DIRECTORY);
    const struct hpcw_i_stripes want = {.count = 4};
    assert_int_equal(hpcw_i_fs_can_stripe(&f.base, "/here", &want, &err), HPCW_ENOTSUP);
    assert_string_equal(err.message, "/here: cannot set stripes: expected a lustre file system, got ext4");
    f = fake(LUSTRE, HPCW_I_FS_DIRECTORY);
    static const struct hpcw_i_stripes wrong[] = {
        {.count = 2001}, {.bytes = 65535}, {.bytes = UINT64_C(1) << 32}};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(hpcw_i_fs_can_stripe(&f.base, "/far", &wrong[i], &err), HPCW_EINVAL);
    }
    assert_int_equal(f.set_size, 0);
}

/* On the real file system, reported values must agree with experiments, where the system allows them. */
static void check_here(const char *directory) {
    char path[300];
    hpcw_error err;
    struct hpcw_i_fsinfo info;
    struct statfs fs;
    assert_int_equal(statfs(directory, &fs), 0);
    assert_int_equal(hpcw_i_fsinfo_look(NULL, directory, 0, &info, &err), HPCW_OK);
    assert_int_equal(info.magic, (uint32_t)fs.f_type);
    assert_true(info.block_bytes > 0);
    assert_false(info.direct_known);
    if (fs.f_type == 0x01021994) {
        assert_string_equal(info.type, "tmpfs");
    }
    (void)snprintf(path, sizeof path, "%s/file", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(hpcw_i_fsinfo_look(NULL, path, 0, &info, &err), HPCW_OK);
    if (strcmp(info.type, "lustre") != 0) {
        const struct hpcw_i_stripes want = {.count = 4};
        assert_false(info.stripe_known);
        assert_string_equal(info.stripe_source, "none");
        assert_int_equal(hpcw_i_fs_can_stripe(NULL, directory, &want, &err), HPCW_ENOTSUP);
    }
}

static void this_machine_is_told_as_it_is(void **state) {
    (void)state;
    char dir[256];
    scratch_make(dir, sizeof dir);
    check_here(dir);
    scratch_remove(dir);
    if (setenv("TMPDIR", "/dev/shm", 0) == 0 && strcmp(getenv("TMPDIR"), "/dev/shm") == 0) {
        scratch_make(dir, sizeof dir);
        check_here(dir);
        scratch_remove(dir);
    }
}

static void free_space(void **state) {
    (void)state;
    char dir[256], missing[300];
    struct statvfs v;
    uint64_t bytes = UINT64_MAX - 1, files = UINT64_MAX - 1;
    hpcw_error err;
    scratch_make(dir, sizeof dir);
    assert_int_equal(statvfs(dir, &v), 0);
    assert_int_equal(hpcw_i_fs_space(dir, &bytes, &files, &err), HPCW_OK);
    assert_true(v.f_blocks == 0 ? bytes == UINT64_MAX : bytes <= (uint64_t)v.f_blocks * v.f_frsize);
    assert_true(v.f_files == 0 ? files == UINT64_MAX : files <= (uint64_t)v.f_files);
    assert_int_equal(hpcw_i_fs_space(dir, &bytes, NULL, &err), HPCW_OK);
    (void)snprintf(missing, sizeof missing, "%s/missing", dir);
    assert_int_not_equal(hpcw_i_fs_space(missing, &bytes, &files, &err), HPCW_OK);
    assert_non_null(strstr(err.message, "missing: cannot ask for its free space"));
    scratch_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lustre_layouts_are_read),       cmocka_unit_test(broken_layouts_are_not_believed),
        cmocka_unit_test(gpfs_says_its_block_size),      cmocka_unit_test(direct_io_is_known_or_not),
        cmocka_unit_test(what_nobody_says_is_unknown),   cmocka_unit_test(a_mapping_needs_a_known_file_system),
        cmocka_unit_test(stripes_are_set_on_lustre),     cmocka_unit_test(stripes_are_refused),
        cmocka_unit_test(this_machine_is_told_as_it_is), cmocka_unit_test(free_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
