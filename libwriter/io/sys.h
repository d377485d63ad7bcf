/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All system calls on files go through these functions. They retry after EINTR and continue after short writes.
 * Tests can make them fail. They return 0 or an errno value; they need not set errno.
 */
#ifndef HPCW_IO_SYS_H
#define HPCW_IO_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

enum { HPCW_I_SYS_PIECES = 64 }; /* most pieces of one system call: its own cost is small then */

struct hpcw_i_piece {
    const void *data; /* may be NULL if size is 0 */
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
    HPCW_I_SYS_GIVE, /* only made by root */
    HPCW_I_SYS_OWN,  /* also a copy of a descriptor that owns a file: if it fails, callers go on without it */
};

/*
 * The function that is called before every system call. If its result is not 0, the system call is not made and
 * fails with this errno. `*size`, unless `size` is NULL, is the number of bytes about to be transferred; the
 * function may lower it to provoke a short transfer. The default, NULL, lets everything pass.
 *
 * Only tests have this variable. They link sys.c compiled with HPCW_I_TEST_GATES, and set it while no other thread
 * is inside the library.
 */
extern int (*hpcw_i_sys_gate)(enum hpcw_i_sys_call call, size_t *size);

/* Returns the size that a file may grow to in this process; UINT64_MAX: no limit. */
uint64_t hpcw_i_sys_largest_file(void);
/* Checks whether this process can have `count` more descriptors at once. If its limit is too low, raises it as
 * far as the process may. `fd` is any open file. EMFILE: it cannot; the limit is *limit, and would have to
 * be *least. */
int hpcw_i_sys_can_open(int fd, uint32_t count, uint64_t *limit, uint64_t *least);

int hpcw_i_sys_close(int fd);
/* Writes `size` bytes at an offset. This and other calls that let a file grow return EFBIG at the limit of the
 * process's file sizes. The signal that the kernel would send there is avoided. */
int hpcw_i_sys_pwrite(int fd, const void *data, size_t size, uint64_t offset);
/* Writes all pieces, which follow each other in the file. In memory they may lie anywhere and overlap. */
int hpcw_i_sys_pwritev(int fd, const struct hpcw_i_piece *piece, size_t pieces, uint64_t offset);
/* Reads `size` bytes, or fewer at the end of the file. `*got` is their number. */
int hpcw_i_sys_pread(int fd, void *data, size_t size, uint64_t offset, size_t *got);
int hpcw_i_sys_truncate(int fd, uint64_t size);
/* Finds the size of a regular file. EISDIR for a directory, EINVAL for anything else. */
int hpcw_i_sys_size(int fd, uint64_t *size);
int hpcw_i_sys_fsync(int fd);
/* Allocates space on the disk for a part of a file, so that no later write to it fails because the disk is full.
 * Bytes that were not written are 0. A failure leaves no space allocated. EOPNOTSUPP: the file system cannot do
 * that. */
int hpcw_i_sys_allocate(int fd, uint64_t offset, uint64_t size);
/*
 * Maps a part of a file for reading and writing. The mapping is shared with the file, so stores to it outlive the
 * process.
 */
int hpcw_i_sys_map(int fd, uint64_t offset, size_t size, void **out);
void hpcw_i_sys_unmap(void *p, size_t size);
/* Makes the pages of a new mapping, so that the first store to each is fast. EFAULT: a store there would raise
 * SIGBUS. */
int hpcw_i_sys_populate(void *p, size_t size);

/* Identifies an open file. */
struct hpcw_i_file_id {
    uint64_t device, inode;
};
int hpcw_i_sys_id(int fd, struct hpcw_i_file_id *id);
/* Checks that a descriptor is that of this file. EBADF: it is closed, or belongs to another file by now. */
int hpcw_i_sys_expect(int fd, const struct hpcw_i_file_id *id);
/* Returns whether a descriptor is that of this file; false if that cannot be known. */
bool hpcw_i_sys_is_still(int fd, const struct hpcw_i_file_id *id);
/* Gives an open file the group, the access list and the permissions of the file of this name, as far as the system
 * allows. That file has `mode` and `group`. If the group or the list cannot be set, the group gets no permissions.
 * Set-user-ID and set-group-ID bits are dropped, as by a write. */
void hpcw_i_sys_take_access(int fd, int at, const char *name, unsigned mode, unsigned group);
/* Gives a file to a user, if this process is root, which replaces a private file: its owner can then still read
 * it. For other users it does nothing and returns 0. */
int hpcw_i_sys_give(int fd, unsigned owner);

/* ---- files by their names ---- */

/*
 * Each call comes twice: with a path, and with a name in a directory (`at`, a descriptor; see libwriter/io/dir.h).
 * No other part of the project passes a path to the system.
 */

int hpcw_i_sys_open(const char *path, int flags, mode_t mode, int *fd);
int hpcw_i_sys_open_at(int at, const char *name, int flags, mode_t mode, int *fd);
/*
 * Opens a regular file whose name others can guess. It does not follow a symbolic link (ELOOP), and does not wait
 * for the other end of a FIFO. O_CREAT needs O_EXCL. EEXIST: something else has the name. With `own`, a file of
 * another user counts as something else.
 */
int hpcw_i_sys_open_own(int at, const char *name, int flags, bool own, int *fd);
/* Opens a regular file for reading, also behind links, and finds its size. It never waits, for example for the
 * writer of a FIFO. After a failure that hpcw_i_sys_no_file knows, something else has the name. */
int hpcw_i_sys_open_file_at(int at, const char *name, int *fd, uint64_t *size);
/* Says in words what has the name of a file that cannot be opened. NULL: a file may be there, and the system
 * failed. */
const char *hpcw_i_sys_no_file(int e);

/* What kind of file a name stands for. */
enum hpcw_i_kind { HPCW_I_NOTHING, HPCW_I_FILE, HPCW_I_DIRECTORY, HPCW_I_LINK, HPCW_I_SPECIAL };
struct hpcw_i_entry {
    enum hpcw_i_kind kind;
    unsigned mode; /* permission bits */
    unsigned owner, group;
    uint64_t size;  /* bytes */
    uint64_t freed; /* bytes on the disk that are freed with the name; 0 if the file has other names */
    bool only_name; /* the file is freed with this name */
    struct hpcw_i_file_id id;
};
/* Looks at a path; with `follow`, at what a symbolic link leads to. The result is 0 with HPCW_I_NOTHING if nothing
 * has this name (ENOENT, ENOTDIR). Any other failure is an error and does not mean absence. */
int hpcw_i_sys_look(const char *path, bool follow, struct hpcw_i_entry *entry);
/* Does the same for a name in a directory, and follows no link. */
int hpcw_i_sys_look_at(int at, const char *name, struct hpcw_i_entry *entry);
/* Returns whether a directory in another one is a mount point, also for a part of the same file system. Before
 * Linux 5.8, only another device shows this. */
bool hpcw_i_sys_is_mounted(int at, const char *name);
/* Checks whether this user may create, replace or remove a name in a directory, as far as permissions, immutable
 * and append-only files, and mounts tell. Returns 0, or the error of such a call. The system may still refuse it
 * for other reasons. */
int hpcw_i_sys_may_change_at(int at, const char *name);
/* Returns whether a name in a directory is that of this very file and not of a link to it; false if that cannot be
 * known. */
bool hpcw_i_sys_is_at(int at, const char *name, const struct hpcw_i_file_id *id);
/* Identifies the file that has a name, without following links, so that a later look can recognise it. An inode is
 * used again after its file was removed; the birth tells the two files apart, as nobody can set it. Birth 0: the
 * file system has none. All members are 0 if nothing has the name. */
struct hpcw_i_mark {
    uint64_t device, inode, birth_ns;
};
int hpcw_i_sys_mark_at(int at, const char *name, struct hpcw_i_mark *mark);
/* Reads the text of a symbolic link. ENAMETOOLONG: it does not fit. */
int hpcw_i_sys_read_link_at(int at, const char *name, char *text, size_t size);
/* Finds the size of a regular file. ENOENT: it does not exist. For anything else it returns a code that
 * hpcw_i_sys_no_file knows. */
int hpcw_i_sys_size_of(const char *path, uint64_t *size);
int hpcw_i_sys_size_at(int at, const char *name, uint64_t *size); /* follows links */
/* Returns the directory that a path is in, for the caller to free; NULL: out of memory. */
char *hpcw_i_sys_directory_of(const char *path);
/* Returns the same path, absolute and without links, for the caller to free; NULL if it cannot be found. */
char *hpcw_i_sys_real_path(const char *path);

int hpcw_i_sys_fsync_directory_of(const char *path);
int hpcw_i_sys_rename(const char *from, const char *to);
int hpcw_i_sys_rename_at(int at, const char *from, const char *to);
/* Renames a file from one directory into another. */
int hpcw_i_sys_rename_between(int from_at, const char *from, int to_at, const char *to);
/* Renames like hpcw_i_sys_rename_at, but returns EEXIST if `to` exists. */
int hpcw_i_sys_rename_new_at(int at, const char *from, const char *to);
int hpcw_i_sys_unlink(const char *path);
/* Calls unlinkat(2). */
int hpcw_i_sys_unlink_at(int at, const char *name, int flags);
int hpcw_i_sys_rmdir(const char *path);
int hpcw_i_sys_mkdir(const char *path, mode_t mode);
int hpcw_i_sys_mkdir_at(int at, const char *name, mode_t mode);

/* Lists the names in a directory, without "." and "..", in the order of the system. */
struct hpcw_i_listing;
int hpcw_i_sys_list(const char *path, struct hpcw_i_listing **out);
int hpcw_i_sys_list_at(int at, const char *name, struct hpcw_i_listing **out); /* ELOOP for a symbolic link */
/* Gets the next name. *name is valid until the next call, and NULL after the last name. */
int hpcw_i_sys_list_next(struct hpcw_i_listing *listing, const char **name);
/* Finds whether the last name is that of a directory and not of a link. Most file systems return this with the
 * name. */
int hpcw_i_sys_list_is_directory(const struct hpcw_i_listing *listing, bool *is);
/* Begins again. Some file systems skip names while others are removed. */
void hpcw_i_sys_list_rewind(struct hpcw_i_listing *listing);
/* Returns the descriptor of the directory, for calls on names in it. */
int hpcw_i_sys_list_at_fd(const struct hpcw_i_listing *listing);
void hpcw_i_sys_list_free(struct hpcw_i_listing *listing); /* NULL is allowed */

/* ---- locks of writers ---- */

/* Locks one byte of a file that is open for writing. The lock belongs to this open file until all its descriptors
 * are closed, also by the end of the process. EAGAIN: another open file, of any process, has the lock. */
int hpcw_i_sys_lock(int fd, uint64_t byte);
/* Releases all locks of an open file. Closing it is not enough, as a child by fork() has a copy of the
 * descriptor. */
int hpcw_i_sys_unlock(int fd);
/* Finds whether another open file has the lock of any byte. */
int hpcw_i_sys_locked(int fd, bool *held);

/* Locks a temporary file for its writer, in the same way. EAGAIN: another open file has the lock, or the file was
 * removed. Other errors: this file system has no locks. */
int hpcw_i_sys_own(int fd);
/* Opens a directory and locks it against other processes that call this, until `*fd` is closed. EAGAIN: another
 * process has the lock. `*fd` is -1 after any error. */
int hpcw_i_sys_own_directory(const char *path, int *fd);
/* Makes another descriptor of the same open file, with the same locks. */
int hpcw_i_sys_copy(int fd, int *copy);
/* Makes written data visible to other hosts: NFS and MooseFS may keep it until a descriptor of the file is
 * closed. */
int hpcw_i_sys_show(int fd);
/* Closes a descriptor whose late errors do not matter. */
void hpcw_i_sys_drop(int fd);
/* Lets users who may write in the directory `at`, a descriptor, also read and write a file of this process, as far
 * as the system allows. They need that to lock it. Nobody else may read the file: that would be enough to lock it
 * against all of them. */
void hpcw_i_sys_share(int fd, int at);
/* Removes a regular file unless a writer has locked it (EAGAIN). */
int hpcw_i_sys_unlink_unowned(int at, const char *name);
/* Returns a number below 2^24 for this host since its last boot; 0: unknown. A process sees the locks of processes
 * with the same number. It may not see others. */
uint64_t hpcw_i_sys_host(void);

#endif
