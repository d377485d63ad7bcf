/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one seam to the kernel. Calls retry EINTR and continue after short writes. Tests can make them fail. Return 0
 * or an errno value; errno itself is not part of the contract.
 */
#ifndef HPCW_IO_SYS_H
#define HPCW_IO_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

enum { HPCW_I_SYS_PIECES = 64 }; /* of one system call: enough to make its own cost small */

struct hpcw_i_piece {
    const void *data; /* may be NULL where size is 0 */
    size_t size;
};

enum hpcw_i_sys_call {
    HPCW_I_SYS_OPEN,
    HPCW_I_SYS_CLOSE,
    HPCW_I_SYS_PWRITE,
    HPCW_I_SYS_PREAD,
    HPCW_I_SYS_TRUNCATE,
    HPCW_I_SYS_FSYNC,
    HPCW_I_SYS_RENAME,
    HPCW_I_SYS_UNLINK,
    HPCW_I_SYS_STAT,
    HPCW_I_SYS_LIST,
    HPCW_I_SYS_MKDIR,
    HPCW_I_SYS_RMDIR,
    HPCW_I_SYS_ALLOCATE,
    HPCW_I_SYS_MAP,
    HPCW_I_SYS_LOCK,
    HPCW_I_SYS_GIVE, /* of root alone */
    HPCW_I_SYS_OWN,  /* also a copy of a descriptor that owns a file: callers go on without it */
};

/*
 * Called before every system call. A result other than 0 is the errno that the call fails with, without being made.
 * `*size`, where not NULL, is the number of bytes about to be transferred, and may be lowered to provoke a short
 * transfer. NULL, the default, lets everything pass. Only tests have it: they link sys.c compiled with
 * HPCW_I_TEST_GATES, and set it while no other thread is inside the library.
 */
extern int (*hpcw_i_sys_gate)(enum hpcw_i_sys_call call, size_t *size);

/* The size that a file may grow to in this process; UINT64_MAX: no limit. */
uint64_t hpcw_i_sys_largest_file(void);
/* Whether this process can have `count` more descriptors at once. If its limit is too low, raises it as far as it
 * may. `fd`: any open file. EMFILE: no; the limit is *limit, and would have to be *least. */
int hpcw_i_sys_can_open(int fd, uint32_t count, uint64_t *limit, uint64_t *least);

int hpcw_i_sys_close(int fd);
/* Calls that let a file grow answer EFBIG at the limit of the process's file sizes, without the signal that the
 * kernel sends there. */
int hpcw_i_sys_pwrite(int fd, const void *data, size_t size, uint64_t offset);
/* All pieces, which follow each other in the file. In memory they may lie anywhere and overlap. */
int hpcw_i_sys_pwritev(int fd, const struct hpcw_i_piece *piece, size_t pieces, uint64_t offset);
/* Reads `size` bytes, or fewer at the end of the file; `*got` is their number. */
int hpcw_i_sys_pread(int fd, void *data, size_t size, uint64_t offset, size_t *got);
int hpcw_i_sys_truncate(int fd, uint64_t size);
/* Size of a regular file; EISDIR for a directory, EINVAL for anything else. */
int hpcw_i_sys_size(int fd, uint64_t *size);
int hpcw_i_sys_fsync(int fd);
/* Gives a part of a file its space on the disk: no later write to it fails as the disk is full. Bytes that were not
 * written are 0. A failure leaves no space behind. EOPNOTSUPP: the file system cannot do that. */
int hpcw_i_sys_allocate(int fd, uint64_t offset, uint64_t size);
/*
 * Maps a part of a file for reading and writing, shared with the file: what is stored there outlives the process.
 */
int hpcw_i_sys_map(int fd, uint64_t offset, size_t size, void **out);
void hpcw_i_sys_unmap(void *p, size_t size);
/* Makes the pages of a new mapping, so that the first store to each is quick. Where storing would be a SIGBUS,
 * EFAULT. */
int hpcw_i_sys_populate(void *p, size_t size);

/* Which file an open one is. */
struct hpcw_i_file_id {
    uint64_t device, inode;
};
int hpcw_i_sys_id(int fd, struct hpcw_i_file_id *id);
/* EBADF: the descriptor is closed, or by now that of another file. */
int hpcw_i_sys_expect(int fd, const struct hpcw_i_file_id *id);
/* Whether a descriptor is that of this file. False if that cannot be known. */
bool hpcw_i_sys_is_still(int fd, const struct hpcw_i_file_id *id);
/* Gives an open file the group, the access list and the permissions of the file of this name, which has `mode` and
 * `group`, as far as the system allows. Where the group or the list cannot be had, the group gets no rights;
 * set-user-ID and set-group-ID bits go, as with a write. */
void hpcw_i_sys_take_access(int fd, int at, const char *name, unsigned mode, unsigned group);
/* Gives a file to a user, if this one is root: it replaces a private file, and its owner can still read it. Others
 * may not, and 0 is the answer. */
int hpcw_i_sys_give(int fd, unsigned owner);

/* ---- files by their names ---- */

/*
 * Calls with a path, and the same with a name in a directory (`at`, a descriptor; see libwriter/io/dir.h). No
 * other part of the project calls the system with a path.
 */

int hpcw_i_sys_open(const char *path, int flags, mode_t mode, int *fd);
int hpcw_i_sys_open_at(int at, const char *name, int flags, mode_t mode, int *fd);
/*
 * Opens a regular file that has a name which others can guess: without following a symbolic link (ELOOP), and
 * without waiting for the other end of a FIFO. O_CREAT needs O_EXCL. EEXIST: something else has the name; with
 * `own`, also a file of another user.
 */
int hpcw_i_sys_open_own(int at, const char *name, int flags, bool own, int *fd);
/* Opens a regular file for reading, also behind links, and asks for its size. Waits for nothing, as for the writer
 * of a FIFO. After a failure that hpcw_i_sys_no_file knows, something else has the name. */
int hpcw_i_sys_open_file_at(int at, const char *name, int *fd, uint64_t *size);
/* What has the name of a file that cannot be opened, in words; NULL: a file may be there, and the system failed. */
const char *hpcw_i_sys_no_file(int e);

/* What a name stands for. */
enum hpcw_i_kind { HPCW_I_NOTHING, HPCW_I_FILE, HPCW_I_DIRECTORY, HPCW_I_LINK, HPCW_I_SPECIAL };
struct hpcw_i_entry {
    enum hpcw_i_kind kind;
    unsigned mode; /* permission bits */
    unsigned owner, group;
    uint64_t size;  /* bytes */
    uint64_t freed; /* bytes on the disk, which removing the name frees; 0 if the file has other names, too */
    bool only_name; /* removing the name frees the file itself */
    struct hpcw_i_file_id id;
};
/* Looks at a path; at what a symbolic link leads to, if it shall `follow`. 0 with HPCW_I_NOTHING: there is nothing
 * of this name (ENOENT, ENOTDIR). Any other failure is an error, never absence. */
int hpcw_i_sys_look(const char *path, bool follow, struct hpcw_i_entry *entry);
/* The same for a name in a directory, where a link is a link. */
int hpcw_i_sys_look_at(int at, const char *name, struct hpcw_i_entry *entry);
/* Whether a directory in another one is where a file system is mounted, also a part of the same one. Before Linux
 * 5.8 only another device tells. */
bool hpcw_i_sys_is_mounted(int at, const char *name);
/* Whether this user may create, replace or remove a name in a directory: as far as permissions, immutable and
 * append-only files, and mounts tell. 0, or what that would fail with. The system may still refuse it, for other
 * reasons. */
int hpcw_i_sys_may_change_at(int at, const char *name);
/* Whether a name in a directory is that of this very file, itself and not by a link. False if that cannot be
 * known. */
bool hpcw_i_sys_is_at(int at, const char *name, const struct hpcw_i_file_id *id);
/* Which file has a name, itself and not by a link, for one that looks later. An inode is used again after its file
 * was removed; the birth, which nobody can set, tells the two apart. 0: the file system knows none. All are 0 if
 * there is nothing. */
struct hpcw_i_mark {
    uint64_t device, inode, birth_ns;
};
int hpcw_i_sys_mark_at(int at, const char *name, struct hpcw_i_mark *mark);
/* The text of a symbolic link. ENAMETOOLONG: it does not fit. */
int hpcw_i_sys_read_link_at(int at, const char *name, char *text, size_t size);
/* Size of a regular file; ENOENT; for anything else, what hpcw_i_sys_no_file knows. */
int hpcw_i_sys_size_of(const char *path, uint64_t *size);
int hpcw_i_sys_size_at(int at, const char *name, uint64_t *size); /* follows links */
/* The directory that a path is in, to be freed; NULL: out of memory. */
char *hpcw_i_sys_directory_of(const char *path);
/* The same path, absolute and without links, to be freed; NULL if it cannot be had. */
char *hpcw_i_sys_real_path(const char *path);

int hpcw_i_sys_fsync_directory_of(const char *path);
int hpcw_i_sys_rename(const char *from, const char *to);
int hpcw_i_sys_rename_at(int at, const char *from, const char *to);
/* From one directory to another. */
int hpcw_i_sys_rename_between(int from_at, const char *from, int to_at, const char *to);
/* The same, but EEXIST if `to` exists. */
int hpcw_i_sys_rename_new(const char *from, const char *to);
int hpcw_i_sys_rename_new_at(int at, const char *from, const char *to);
int hpcw_i_sys_unlink(const char *path);
/* As unlinkat(2). */
int hpcw_i_sys_unlink_at(int at, const char *name, int flags);
int hpcw_i_sys_rmdir(const char *path);
int hpcw_i_sys_mkdir(const char *path, mode_t mode);
int hpcw_i_sys_mkdir_at(int at, const char *name, mode_t mode);

/* The names in a directory, without "." and "..", in the order of the system. */
struct hpcw_i_listing;
int hpcw_i_sys_list(const char *path, struct hpcw_i_listing **out);
int hpcw_i_sys_list_at(int at, const char *name, struct hpcw_i_listing **out); /* ELOOP for a symbolic link */
/* *name is valid until the next call, and NULL after the last one. */
int hpcw_i_sys_list_next(struct hpcw_i_listing *listing, const char **name);
/* Whether that name is that of a directory, itself and not by a link. Most file systems say so with the name. */
int hpcw_i_sys_list_is_directory(const struct hpcw_i_listing *listing, bool *is);
/* Begins again: some file systems skip names while others are removed. */
void hpcw_i_sys_list_rewind(struct hpcw_i_listing *listing);
/* Its directory, for names in it. */
int hpcw_i_sys_list_at_fd(const struct hpcw_i_listing *listing);
void hpcw_i_sys_list_free(struct hpcw_i_listing *listing); /* NULL is allowed */

/* ---- who writes a file ---- */

/* Locks one byte of a file that is open for writing, for this open file alone: until all its descriptors are
 * closed, also by the end of the process. EAGAIN: another open file, of any process, has the lock. */
int hpcw_i_sys_lock(int fd, uint64_t byte);
/* Releases all locks of an open file. Closing is not enough: a child by fork() has a copy of the descriptor. */
int hpcw_i_sys_unlock(int fd);
/* Whether another open file has the lock of any byte. */
int hpcw_i_sys_locked(int fd, bool *held);

/* Locks a temporary file as that of its writer, in the same way. EAGAIN: somebody else has it, or has removed the
 * file; other errors: no locks here. */
int hpcw_i_sys_own(int fd);
/* Another descriptor of the same open file, with the same locks. */
int hpcw_i_sys_copy(int fd, int *copy);
/* Lets other hosts see what was written: NFS and MooseFS may keep it until a descriptor of the file is closed. */
int hpcw_i_sys_show(int fd);
/* Closes a descriptor whose late errors do not matter. */
void hpcw_i_sys_drop(int fd);
/* Lets those read and write a file of this process, to lock it, who may write in its directory, the descriptor
 * `at`, as far as the system allows. Nobody else may read it: that would be enough to lock it against all of
 * them. */
void hpcw_i_sys_share(int fd, int at);
/* Removes a regular file unless somebody owns it (EAGAIN). */
int hpcw_i_sys_unlink_unowned(int at, const char *name);
/* A number below 2^24 of the running system, whose locks these are; 0: unknown. */
uint64_t hpcw_i_sys_host(void);

#endif
