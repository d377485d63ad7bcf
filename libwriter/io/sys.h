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

/* most pieces of one system call; with 64 pieces, the cost of the call itself is small */
enum { HPCW_I_SYS_PIECES = 64 };

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
    HPCW_I_SYS_GIVE, /* giving a file to another user, which only root does */
    /* locking a file for its writer, or copying a locked descriptor; callers go on if this fails */
    HPCW_I_SYS_OWN,
};

/*
 * A function that is called before every system call. If its result is not 0, the system call is not made and
 * fails with this errno value. Unless `size` is NULL, *size is the number of bytes to transfer, and the
 * function may reduce it to provoke a short transfer. NULL, the default: system calls are just made.
 *
 * Only tests have this variable. They link sys.c compiled with HPCW_I_TEST_GATES, and set it while no other
 * thread is inside the library.
 */
extern int (*hpcw_i_sys_gate)(enum hpcw_i_sys_call call, size_t *size);

/* Returns the largest size of a file that this process may write; UINT64_MAX: no limit. */
uint64_t hpcw_i_sys_largest_file(void);
/* Checks whether this process can open `count` more descriptors, and raises its limit if needed and allowed.
 * `fd` is any open file. EMFILE: the limit is too low; *limit is its value, *least the value that is needed. */
int hpcw_i_sys_can_open(int fd, uint32_t count, uint64_t *limit, uint64_t *least);

int hpcw_i_sys_close(int fd);
/* Writes `size` bytes at an offset. Calls that let a file grow return EFBIG at the process's limit of file
 * sizes (RLIMIT_FSIZE). They do not let the kernel send SIGXFSZ, which would end the program. */
int hpcw_i_sys_pwrite(int fd, const void *data, size_t size, uint64_t offset);
/* Writes all pieces to the file, one after the other from `offset` on. They may lie anywhere in memory, and
 * overlap. */
int hpcw_i_sys_pwritev(int fd, const struct hpcw_i_piece *piece, size_t pieces, uint64_t offset);
/* Reads `size` bytes, or fewer at the end of the file. *got becomes the number of bytes read. */
int hpcw_i_sys_pread(int fd, void *data, size_t size, uint64_t offset, size_t *got);
int hpcw_i_sys_truncate(int fd, uint64_t size);
/* Finds the size of a regular file. EISDIR for a directory, EINVAL for anything else. */
int hpcw_i_sys_size(int fd, uint64_t *size);
int hpcw_i_sys_fsync(int fd);
/* Allocates space on the disk for a part of a file, so that later writes to it do not fail because the disk is
 * full. Bytes that were not written read as 0. After a failure, no space is allocated. EOPNOTSUPP: the file
 * system cannot allocate space in advance. */
int hpcw_i_sys_allocate(int fd, uint64_t offset, uint64_t size);
/* Maps a part of a file for reading and writing. Stores to the mapping change the file, also if the process
 * then dies. */
int hpcw_i_sys_map(int fd, uint64_t offset, size_t size, void **out);
void hpcw_i_sys_unmap(void *p, size_t size);
/* Maps all pages of a new mapping at once, so that the first store to each page is fast. EFAULT: a store would
 * raise SIGBUS. */
int hpcw_i_sys_populate(void *p, size_t size);

/* Identifies an open file. */
struct hpcw_i_file_id {
    uint64_t device, inode;
};
int hpcw_i_sys_id(int fd, struct hpcw_i_file_id *id);
/* Checks that descriptor `fd` is open and that of file `id`. EBADF: it is closed, or is that of another file by
 * now. */
int hpcw_i_sys_expect(int fd, const struct hpcw_i_file_id *id);
/* Returns whether descriptor `fd` is that of file `id`; false if that cannot be found out. */
bool hpcw_i_sys_is_still(int fd, const struct hpcw_i_file_id *id);
/* Gives the file `fd` the group, access list and permissions of file `name` in directory `at`, as far as the
 * system allows. `mode` and `group` are those of `name`. If the group or the list cannot be copied, the group
 * gets no permissions. Set-user-ID and set-group-ID bits are dropped, as a write drops them. */
void hpcw_i_sys_take_access(int fd, int at, const char *name, unsigned mode, unsigned group);
/* If this process is root, makes user `owner` the owner of the file, who can then read a private file that root
 * replaced. For other users, does nothing and returns 0. */
int hpcw_i_sys_give(int fd, unsigned owner);

/* ---- files by their names ---- */

/* Most calls exist twice: for a path, and for a name in a directory with descriptor `at` (see
 * libwriter/io/dir.h). All system calls with a path are made here. */

int hpcw_i_sys_open(const char *path, int flags, mode_t mode, int *fd);
int hpcw_i_sys_open_at(int at, const char *name, int flags, mode_t mode, int *fd);
/*
 * Opens a regular file whose name other users can guess. ELOOP: the name is that of a symbolic link. EEXIST: the
 * name is that of another kind of file or, with `own`, of another user's file. Does not wait for the other end of a
 * FIFO. O_CREAT needs O_EXCL.
 */
int hpcw_i_sys_open_own(int at, const char *name, int flags, bool own, int *fd);
/* Opens a regular file for reading and gets its size. Follows links. Never waits, for example for the writer of
 * a FIFO. If the name is that of another kind of file, hpcw_i_sys_no_file has a text for the result. */
int hpcw_i_sys_open_file_at(int at, const char *name, int *fd, uint64_t *size);
/* Returns a text such as "a directory" for an error that says that a name is not that of a regular file.
 * Otherwise returns NULL. */
const char *hpcw_i_sys_no_file(int e);

/* The kind of file that a name stands for. */
enum hpcw_i_kind { HPCW_I_NOTHING, HPCW_I_FILE, HPCW_I_DIRECTORY, HPCW_I_LINK, HPCW_I_SPECIAL };
struct hpcw_i_entry {
    enum hpcw_i_kind kind;
    unsigned mode; /* permission bits */
    unsigned owner, group;
    uint64_t size;  /* bytes */
    uint64_t freed; /* bytes on the disk that removing this name frees; 0 if the file has other names */
    bool only_name; /* whether removing this name removes the file */
    struct hpcw_i_file_id id;
};
/* Describes the file of this path; with `follow`, the target of a symbolic link. If there is no file (ENOENT,
 * ENOTDIR), the result is 0, and entry->kind HPCW_I_NOTHING. Other results are errors, and say nothing about
 * the file. */
int hpcw_i_sys_look(const char *path, bool follow, struct hpcw_i_entry *entry);
/* Describes the file of this name in directory `at`, as hpcw_i_sys_look does without `follow`. */
int hpcw_i_sys_look_at(int at, const char *name, struct hpcw_i_entry *entry);
/* Returns whether subdirectory `name` of `at` is a mount point, even of the same file system. Linux before 5.8
 * only shows mount points of other devices. */
bool hpcw_i_sys_is_mounted(int at, const char *name);
/* Checks whether permissions, file attributes (immutable, append-only) and mounts allow this user to create,
 * replace or remove `name` in directory `at`. Returns 0, or the error that such a call would return. The call may
 * still fail for other reasons. */
int hpcw_i_sys_may_change_at(int at, const char *name);
/* Returns whether `name` in directory `at` is the file `id` itself, and not a symbolic link to it; false if
 * that cannot be found out. */
bool hpcw_i_sys_is_at(int at, const char *name, const struct hpcw_i_file_id *id);
/* Identifies the file that has a name, without following links, so that a later look recognises it. The inode
 * of a removed file is used again, but with another birth (time of creation), which nobody can set. birth_ns 0:
 * the file system has none. All members 0: there is no file. */
struct hpcw_i_mark {
    uint64_t device, inode, birth_ns;
};
int hpcw_i_sys_mark_at(int at, const char *name, struct hpcw_i_mark *mark);
/* Reads the target of a symbolic link. ENAMETOOLONG: `size` is too small for it. */
int hpcw_i_sys_read_link_at(int at, const char *name, char *text, size_t size);
/* Gets the size of a regular file, and follows links. ENOENT: there is no file. For another kind of file,
 * hpcw_i_sys_no_file has a text for the result. */
int hpcw_i_sys_size_of(const char *path, uint64_t *size);
int hpcw_i_sys_size_at(int at, const char *name, uint64_t *size); /* follows links */
/* Returns the last part of a path. */
const char *hpcw_i_sys_base_of(const char *path);
/* Returns the directory in which `path` is, to be freed by the caller; NULL: out of memory. */
char *hpcw_i_sys_directory_of(const char *path);
/* Returns the absolute path of a file, without symbolic links, to be freed by the caller. NULL: it cannot be
 * found. */
char *hpcw_i_sys_real_path(const char *path);

/* Writes a file or directory to the disk. It is opened with `flags`, such as O_NOFOLLOW. */
int hpcw_i_sys_fsync_at(int at, const char *name, int flags);
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
/* Finds out whether the name that was returned last is that of a directory. A symbolic link is none. Needs no
 * system call on most file systems. */
int hpcw_i_sys_list_is_directory(const struct hpcw_i_listing *listing, bool *is);
/* Starts the list again, as some file systems skip names when other names are removed. */
void hpcw_i_sys_list_rewind(struct hpcw_i_listing *listing);
/* Returns the descriptor of the listed directory, for calls on names in it. */
int hpcw_i_sys_list_at_fd(const struct hpcw_i_listing *listing);
void hpcw_i_sys_list_free(struct hpcw_i_listing *listing); /* NULL is allowed */

/* ---- locks of writers ---- */

/* Locks one byte of a file that is open for writing. The lock belongs to the open file, and ends when all
 * copies of the descriptor are closed, also by the end of processes. EAGAIN: another open file, of any process,
 * has the lock. */
int hpcw_i_sys_lock(int fd, uint64_t byte);
/* Releases all locks of an open file. A close would not do, as a child by fork() may have a copy of the
 * descriptor. */
int hpcw_i_sys_unlock(int fd);
/* Finds out whether another open file holds a lock on any byte of this file. */
int hpcw_i_sys_locked(int fd, bool *held);

/* Locks a temporary file for its writer, like hpcw_i_sys_lock. EAGAIN: another open file has the lock, or the
 * file was removed. Other errors: the file system has no locks. */
int hpcw_i_sys_own(int fd);
/* Locks the directory with descriptor `at` against other processes that call this, until `*fd` is closed. EAGAIN:
 * another process has the lock. `*fd` is -1 after any error. */
int hpcw_i_sys_own_directory(int at, int *fd);
/* Makes another descriptor of the same open file, with the same locks. */
int hpcw_i_sys_copy(int fd, int *copy);
/* Makes written data visible to other hosts: NFS and MooseFS may keep it until a descriptor of the file is
 * closed. */
int hpcw_i_sys_show(int fd);
/* Closes a descriptor, and ignores errors. */
void hpcw_i_sys_drop(int fd);
/* Lets all users who may write in directory `at` read and write the file `fd`, as far as the system allows. They
 * need both permissions to lock the file. Other users must not read it, as anybody who reads it could lock it. */
void hpcw_i_sys_share(int fd, int at);
/* Removes a regular file. EAGAIN: a writer holds the lock on it. */
int hpcw_i_sys_unlink_unowned(int at, const char *name);
/* Returns a number below 2^24 for this host until its next boot; 0: unknown. A process sees the locks of
 * processes with the same number, and perhaps not those of others. */
uint64_t hpcw_i_sys_host(void);

#endif
