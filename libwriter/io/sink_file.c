/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file sink writes to a temporary name, ".hpcw-NUMBER-BASE.tmp" beside the final name BASE, and renames the file
 * when it is published. The directory is held from the open on. The creator holds a lock on the file until it has
 * its final name or is removed. The kernel releases the locks of a process that dies. So the next writer of the
 * same path can tell which files have dead writers, and removes them.
 *
 * Nobody need search for such files: a NUMBER consists of the host's number and a slot, 0 .. SLOTS - 1. A writer
 * takes the first slot that is free or has a dead writer, and clears later slots of dead writers. Locks may not
 * reach from host to host. So files of a run on several hosts have random numbers, and nobody removes them.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libwriter/base/bytes.h"
#include "libwriter/base/hash.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sink.h"
#include "libwriter/io/sys.h"

enum {
    /* number of slots for concurrent writers of one path on one host; each open looks at all slots */
    SLOTS = 4,
    SLOT_BITS = 40, /* bits of the slot in the number of a temporary name; the host's number is above them */
    DIGITS = 16,
    /* most bytes of the final name in a temporary name; some file systems allow 143 bytes for the whole name */
    MOST_BASE = 96,
    NONCE = 8, /* bytes at the start of a shared file that hold its tag until data is written */
    TRIES = 100,
};
static const char prefix[] = ".hpcw-";
static const char suffix[] = ".tmp";
/* memory for a temporary name, bytes */
enum { TEMPORARY = sizeof prefix + DIGITS + 1 + MOST_BASE + sizeof suffix };

struct file_sink {
    hpcw_sink base_sink;
    int fd;   /* -1 after it was closed */
    int lock; /* copy of fd that keeps the lock after fd was closed; -1: none */
    hpcw_durability durability;
    uint64_t tag;   /* tag by which other processes recognise a shared file; 0: the file is not shared */
    unsigned forks; /* hpcw_i_dir_forks in the process that owns the file */
    long process;   /* id of the process that owns the file */
    bool creates;
    bool settled; /* whether all is done except the rename; files of a set are renamed together */
    bool gone;    /* whether there is no temporary file any more: it was renamed or removed, or never created */
    /* whether there is an older file with this name or, if not, with the name of the set's first file */
    bool replaces;
    unsigned mode;   /* permissions of the older file */
    unsigned owner;  /* user id of the older file */
    unsigned group;  /* group id of the older file */
    uint64_t number; /* the number in the temporary name */
    char *path;      /* path that the caller gave, for messages */
    char *base;      /* the final name in `dir` */
    char *temporary; /* the temporary name in `dir` */
    struct hpcw_i_dir *dir;
    char *first_base; /* name of the first file of the set in `first_dir`; NULL: there is none */
    struct hpcw_i_dir *first_dir;
    struct hpcw_i_file_id id;
};

static struct file_sink *file_of(hpcw_sink *sink) {
    return (struct file_sink *)sink;
}

/* Returns whether this process is a child by fork() of the owner. The child shares the open file and the
 * temporary name with the owner. If it frees the sink, the file must stay. */
static bool is_child(const struct file_sink *f) {
    return hpcw_i_dir_forks() != f->forks;
}

/* Lets a child by fork() take over the file from a parent that has ended, as the parent of a daemon has. While
 * the parent runs, fails: it may still write, and the child's call may come from a destructor. */
static hpcw_status claim(struct file_sink *f, hpcw_error *err) {
    if (!is_child(f)) {
        return HPCW_OK;
    }
    if ((long)getppid() == f->process) {
        return hpcw_i_fail(err, HPCW_ESTATE,
                           "%s: expected a call by process %ld, which opened it and still runs, got one by its "
                           "child",
                           f->path, f->process);
    }
    f->forks = hpcw_i_dir_forks();
    f->process = (long)getpid();
    return HPCW_OK;
}

/* Sets the first bytes to zero if they still hold the tag: bytes that were never written must be zero. */
static hpcw_status clear_nonce(const struct file_sink *f, hpcw_error *err) {
    unsigned char nonce[NONCE];
    size_t got = 0;
    int e = hpcw_i_sys_pread(f->fd, nonce, NONCE, 0, &got);
    if (e == 0 && got == NONCE && hpcw_i_get_u64(nonce, false) == f->tag) {
        memset(nonce, 0, NONCE);
        e = hpcw_i_sys_pwrite(f->fd, nonce, NONCE, 0);
    }
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot clear its first %d bytes", f->path, NONCE);
}

static hpcw_status file_write(hpcw_sink *sink, uint64_t offset, const struct hpcw_i_piece *piece, size_t pieces,
                              size_t size, hpcw_error *err) {
    struct file_sink *f = file_of(sink);
    hpcw_status s = claim(f, err);
    if (s == HPCW_OK && f->tag != 0 && offset < NONCE && (offset > 0 || size < NONCE)) {
        s = clear_nonce(f, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    int e = hpcw_i_sys_pwritev(f->fd, piece, pieces, offset);
    return e == 0 ? HPCW_OK
                  : hpcw_i_fail_sys(err, e, "%s: cannot write %zu bytes at offset %" PRIu64, f->path, size,
                                    offset);
}

static hpcw_status file_set_size(hpcw_sink *sink, uint64_t size, hpcw_error *err) {
    struct file_sink *f = file_of(sink);
    hpcw_status s = claim(f, err);
    if (s != HPCW_OK) {
        return s;
    }
    int e = hpcw_i_sys_truncate(f->fd, size);
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot set the size to %" PRIu64, f->path, size);
}

static hpcw_status file_sync(hpcw_sink *sink, hpcw_error *err) {
    struct file_sink *f = file_of(sink);
    int e = hpcw_i_sys_fsync(f->fd);
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot write the data back to the disk", f->path);
}

/* Checks whether this user may replace the older file: in a directory like /tmp, only its owner may. The check
 * comes before the older first file of a set is removed, and so before any rename. */
static hpcw_status check_owner(const struct file_sink *f, int at, const struct hpcw_i_entry *older,
                               hpcw_error *err) {
    int e =
        older->kind == HPCW_I_NOTHING || older->owner == geteuid() ? 0 : hpcw_i_sys_may_change_at(at, f->base);
    return e == 0 ? HPCW_OK
                  : hpcw_i_fail_sys(err, e, "%s: cannot replace what has this name and belongs to user %u",
                                    f->path, older->owner);
}

/* Stores the permissions of the older file in `f`. If no older file has this name, takes those of the older first
 * file of the set. *at and *name become the place of the older file. Returns 0 or an errno value. */
static int find_rights(struct file_sink *f, struct hpcw_i_entry older, int *at, const char **name) {
    *name = f->base;
    if (older.kind == HPCW_I_NOTHING && f->first_base != NULL) {
        int e = hpcw_i_dir_fd(f->first_dir, at);
        e = e == 0 ? hpcw_i_sys_look_at(*at, f->first_base, &older) : e;
        *name = f->first_base;
        if (e != 0) {
            return e;
        }
    }
    if (older.kind == HPCW_I_FILE) {
        f->replaces = true;
        f->mode = older.mode;
        f->owner = older.owner;
        f->group = older.group;
    }
    return 0;
}

/* Gives the new file the group and the permissions of the older file, and its owner if this process is root. */
static hpcw_status keep_mode(struct file_sink *f, hpcw_error *err) {
    struct hpcw_i_entry older;
    const char *name = NULL;
    int at;
    int e = hpcw_i_dir_fd(f->dir, &at);
    e = e == 0 ? hpcw_i_sys_look_at(at, f->base, &older) : e;
    hpcw_status s = e == 0 ? check_owner(f, at, &older, err) : HPCW_OK;
    e = e == 0 && s == HPCW_OK ? find_rights(f, older, &at, &name) : e;
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot look at the file that it replaces", f->path);
    }
    if (s == HPCW_OK && f->replaces) {
        hpcw_i_sys_take_access(f->fd, at, name, f->mode, f->group);
        e = hpcw_i_sys_give(f->fd, f->owner);
    }
    return e == 0
               ? s
               : hpcw_i_fail_sys(err, e, "%s: cannot give the new file to user %u, who owns what it replaces",
                                 f->path, f->owner);
}

static hpcw_status file_detach(hpcw_sink *sink, hpcw_error *err) {
    struct file_sink *f = file_of(sink);
    hpcw_status s = claim(f, err);
    if (s != HPCW_OK) {
        return s;
    }
    s = f->durability >= HPCW_SYNC_FILE ? file_sync(sink, err) : HPCW_OK;
    if (f->creates) {
        /* keeps the lock: the file is not finished before it is renamed */
        (void)hpcw_i_sys_copy(f->fd, &f->lock);
    }
    int e = hpcw_i_sys_close(f->fd);
    f->fd = -1;
    if (s == HPCW_OK && e != 0) {
        s = hpcw_i_fail_sys(err, e, "%s: cannot close", f->path);
    }
    return s;
}

static hpcw_status file_settle(hpcw_sink *sink, hpcw_error *err) {
    struct file_sink *f = file_of(sink);
    struct hpcw_i_file_id id = {0};
    hpcw_status s = claim(f, err);
    if (s != HPCW_OK) {
        return s;
    }
    int e = hpcw_i_sys_id(f->fd, &id);
    if (e != 0 && e != EBADF) {
        return hpcw_i_fail_sys(err, e, "%s: cannot look at the new file", f->path);
    }
    if (e != 0 || id.device != f->id.device || id.inode != f->id.inode) {
        /* the program closed this descriptor, and its number may now be that of another file */
        f->fd = -1;
        return hpcw_i_fail(
            err, HPCW_EIO,
            "%s: expected the descriptor of the new file, got another or none: the program closed it, so "
            "what was written is elsewhere",
            f->path);
    }
    s = f->tag == 0 ? HPCW_OK : clear_nonce(f, err);
    if (s == HPCW_OK) {
        s = keep_mode(f, err);
    }
    if (s == HPCW_OK) {
        s = file_detach(sink, err);
    }
    f->settled = s == HPCW_OK;
    return s;
}

static void close_all(struct file_sink *f) {
    if (f->fd >= 0) {
        hpcw_i_sys_drop(f->fd);
    }
    if (f->lock >= 0) {
        hpcw_i_sys_drop(f->lock);
    }
    f->fd = f->lock = -1;
}

/* Returns whether `name` in the directory is the file that this sink created. *at becomes the descriptor of the
 * directory. */
static bool is_mine(const struct file_sink *f, const char *name, int *at) {
    return f->dir != NULL && hpcw_i_dir_fd(f->dir, at) == 0 && hpcw_i_sys_is_at(*at, name, &f->id);
}

/* Removes the temporary file, and then releases its lock. Until then no other process takes its name. */
static void remove_temporary(struct file_sink *f) {
    int at;
    if (!f->gone && !is_child(f) && is_mine(f, f->temporary, &at)) {
        (void)(f->creates ? hpcw_i_sys_unlink_at(at, f->temporary, 0)
                          : hpcw_i_sys_unlink_unowned(at, f->temporary));
    }
    f->gone = true;
    close_all(f);
}

static void file_discard(hpcw_sink *sink) {
    remove_temporary(file_of(sink));
}

static void file_withdraw(hpcw_sink *sink) {
    struct file_sink *f = file_of(sink);
    if (sink->named) {
        /* Remove the file only if it is still this one: another run may have published a file of this name
         * since. */
        int at;
        if (is_mine(f, f->base, &at)) {
            (void)hpcw_i_sys_unlink_at(at, f->base, 0);
        }
        sink->named = false;
    }
}

/* Returns whether a settled file has its final name already. If locks do not reach all hosts, another process may
 * think that this writer is dead, and rename the files of the set. */
static bool has_name(const struct file_sink *f) {
    int at;
    return f->settled && is_mine(f, f->base, &at);
}

/* Renames the temporary file to its final name. */
static hpcw_status take_name(struct file_sink *f, hpcw_error *err) {
    struct hpcw_i_entry entry;
    int at;
    int e = f->dir == NULL ? ENOENT : hpcw_i_dir_fd(f->dir, &at);
    e = e == 0 ? hpcw_i_sys_look_at(at, f->temporary, &entry) : e;
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot look at its temporary file %s", f->path, f->temporary);
    }
    if (has_name(f)) {
        return HPCW_OK;
    }
    if (entry.kind != HPCW_I_FILE || entry.id.device != f->id.device || entry.id.inode != f->id.inode) {
        return hpcw_i_fail(err, HPCW_ENOENT,
                           "%s: expected its temporary file %s, got none or that of another writer: somebody "
                           "removed it",
                           f->path, f->temporary);
    }
    e = hpcw_i_sys_rename_at(at, f->temporary, f->base);
    return e == 0 || (e == ENOENT && has_name(f))
               ? HPCW_OK
               : hpcw_i_fail_sys(err, e, "%s: cannot rename the finished file to this name", f->path);
}

static hpcw_status file_publish(hpcw_sink *sink, hpcw_error *err) {
    struct file_sink *f = file_of(sink);
    const bool together = f->settled;
    hpcw_status s = together ? HPCW_OK : file_settle(sink, err);
    if (s == HPCW_OK) {
        s = take_name(f, err);
        f->gone = sink->named = s == HPCW_OK;
    }
    if (s != HPCW_OK) {
        if (!together) {
            remove_temporary(f);
        }
        return s;
    }
    close_all(f);
    if (f->durability >= HPCW_SYNC_DIRECTORY) {
        /* The older file is replaced, and the new one is complete. So do not remove the new one after a failure
         * here. */
        int e = hpcw_i_dir_sync(f->dir);
        if (e != 0) {
            s = hpcw_i_fail_sys(err, e, "%s: is complete, but its directory cannot be written back to the disk",
                                f->path);
        }
    }
    return s;
}

static void file_free(hpcw_sink *sink) {
    struct file_sink *f = file_of(sink);
    if (f->tag == 0) {
        remove_temporary(f);
    }
    close_all(f);
    hpcw_i_dir_release(f->dir);
    hpcw_i_dir_release(f->first_dir);
    hpcw_i_free(f->first_base);
    hpcw_i_free(f->temporary);
    hpcw_i_free(f->base);
    hpcw_i_free(f->path);
    hpcw_i_free(f);
}

static const struct hpcw_i_sink_ops file_ops = {
    .write = file_write,
    .set_size = file_set_size,
    .sync = file_sync,
    .publish = file_publish,
    .settle = file_settle,
    .detach = file_detach,
    .withdraw = file_withdraw,
    .discard = file_discard,
    .free = file_free,
};

/* Makes the temporary name, with blanks in place of the number. A long final name is cut, but not inside a
 * character of UTF-8, and ends in a hash, as names in a set differ at their ends. */
static void print_temporary(const char *base, char name[TEMPORARY]) {
    size_t keep = strlen(base);
    char hash[DIGITS + 2] = "";
    if (keep > MOST_BASE) {
        keep = MOST_BASE - DIGITS - 1;
        while (keep > 0 && ((unsigned char)base[keep] & 0xc0) == 0x80) {
            keep--;
        }
        (void)snprintf(hash, sizeof hash, "~%016" PRIx64, hpcw_i_hash_text(base));
    }
    (void)snprintf(name, TEMPORARY, "%s%*s-%.*s%s%s", prefix, DIGITS, "", (int)keep, base, hash, suffix);
}

static char *temporary_name(const char *base) {
    char *name = hpcw_i_malloc(TEMPORARY);
    if (name != NULL) {
        print_temporary(base, name);
    }
    return name;
}

static void put_number(char *temporary, uint64_t number) {
    char digits[DIGITS + 1];
    (void)snprintf(digits, sizeof digits, "%016" PRIx64, number);
    memcpy(temporary + sizeof prefix - 1, digits, DIGITS);
}

static const char *name_of(struct file_sink *f, uint64_t number) {
    put_number(f->temporary, number);
    f->number = number;
    return f->temporary;
}

char *hpcw_i_sink_temporary(const char *base, uint64_t number) {
    char *name = temporary_name(base);
    if (name != NULL) {
        put_number(name, number);
    }
    return name;
}

bool hpcw_i_sink_clear(struct hpcw_i_dir *dir, const char *base) {
    const uint64_t host = hpcw_i_sys_host();
    char name[TEMPORARY];
    bool any = false;
    int at;
    if (host != 0 && hpcw_i_dir_fd(dir, &at) == 0) {
        print_temporary(base, name);
        for (uint64_t slot = 0; slot < SLOTS; slot++) {
            put_number(name, host << SLOT_BITS | slot);
            any = hpcw_i_sys_unlink_unowned(at, name) == 0 || any;
        }
    }
    return any;
}

bool hpcw_i_sink_is_temporary(const char *name) {
    size_t size = strlen(name);
    size_t front = sizeof prefix - 1 + DIGITS;
    return size > front + 1 + (sizeof suffix - 1) && strncmp(name, prefix, sizeof prefix - 1) == 0 &&
           strspn(name + sizeof prefix - 1, "0123456789abcdef") == DIGITS && name[front] == '-' &&
           strcmp(name + size - (sizeof suffix - 1), suffix) == 0;
}

/* Checks the older file of this name. With `within`, a symbolic link is replaced and not followed, as nothing
 * outside the directory may be changed. */
static hpcw_status look_at_older(struct file_sink *f, bool within, hpcw_error *err) {
    struct hpcw_i_entry older;
    int at;
    int e = hpcw_i_dir_fd(f->dir, &at);
    e = e == 0 ? hpcw_i_sys_look_at(at, f->base, &older) : e;
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot look for an older file", f->path);
    }
    if (older.kind == HPCW_I_DIRECTORY || older.kind == HPCW_I_SPECIAL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a regular file to replace, got a %s", f->path,
                           older.kind == HPCW_I_DIRECTORY ? "directory" : "special file");
    }
    if (older.kind == HPCW_I_LINK && !within) {
        return hpcw_i_fail_sys(err, ELOOP, "%s: cannot follow the symbolic link", f->path);
    }
    const char *name;
    hpcw_status s = check_owner(f, at, &older, err);
    e = s == HPCW_OK ? find_rights(f, older, &at, &name) : 0;
    return e == 0 ? s : hpcw_i_fail_sys(err, e, "%s: cannot look at the first file of the older set", f->path);
}

/* ---- create ---- */

/* Creates a file and locks it. Before the lock is taken, another writer may take the file for that of a dead
 * process and remove it. Then creates the file again. */
static int create_locked(struct file_sink *f, const char *name, bool *locked) {
    /* If the older file is private, the new one must be private from the first byte on. The group gets no
     * permissions yet, as the new file may have another group than the older one. */
    mode_t mode = f->replaces ? (f->mode | 0600) & 0707 : 0666;
    int at;
    int unheld = hpcw_i_dir_fd(f->dir, &at);
    int e = EAGAIN;
    for (int n = 0; unheld == 0 && e == EAGAIN && n < TRIES; n++) {
        e = hpcw_i_sys_open_at(at, name, O_RDWR | O_CREAT | O_EXCL, mode, &f->fd);
        if (e == 0) {
            int lock = hpcw_i_sys_own(f->fd);
            *locked = lock == 0;
            e = lock == EAGAIN ? EAGAIN : 0;
        }
        if (e == EAGAIN) {
            close_all(f);
        }
    }
    return unheld != 0 ? unheld : e == EAGAIN ? EEXIST : e;
}

/* Removes the file of this name if its writer is dead. */
static int remove_dead(const struct file_sink *f, const char *name) {
    int at;
    int e = hpcw_i_dir_fd(f->dir, &at);
    return e == 0 ? hpcw_i_sys_unlink_unowned(at, name) : e;
}

/* Returns a number for a temporary name outside of the slots. */
static uint64_t lone_number(const struct file_sink *f) {
    return f->tag != 0 ? f->tag : hpcw_i_sink_random();
}

/* Renames a temporary file that has a slot but no lock to a number outside of the slots: writers that can lock the
 * file would remove it from the slot. */
static int leave_slot(struct file_sink *f) {
    char *slot = hpcw_i_strdup(f->temporary);
    int at;
    int e = slot == NULL ? ENOMEM : hpcw_i_dir_fd(f->dir, &at);
    if (e == 0) {
        e = hpcw_i_sys_rename_at(at, slot, name_of(f, lone_number(f)));
        if (e != 0) {
            (void)hpcw_i_sys_unlink_at(at, slot, 0);
        }
    }
    if (e != 0) {
        close_all(f);
    }
    hpcw_i_free(slot);
    return e;
}

/* Creates the file in the first slot that is free or has a dead writer. Then removes the files of dead writers
 * in later slots. */
static int create_in_slot(struct file_sink *f, uint64_t host) {
    uint64_t slot = 0;
    int e = EEXIST;
    bool locked = false;
    for (; slot < SLOTS; slot++) {
        const char *name = name_of(f, host << SLOT_BITS | slot);
        e = create_locked(f, name, &locked);
        if (e == EEXIST && remove_dead(f, name) == 0) {
            e = create_locked(f, name, &locked);
        }
        if (e != EEXIST) {
            break;
        }
    }
    if (e != 0 || !locked) {
        return e == 0 ? leave_slot(f) : e;
    }
    for (uint64_t n = slot + 1; n < SLOTS; n++) {
        (void)remove_dead(f, name_of(f, host << SLOT_BITS | n));
    }
    (void)name_of(f, host << SLOT_BITS | slot);
    return 0;
}

static int create(struct file_sink *f) {
    uint64_t host = hpcw_i_sys_host();
    bool known = host != 0 && (f->tag == 0 || f->tag >> SLOT_BITS == host);
    int e = known ? create_in_slot(f, host) : EEXIST;
    bool locked;
    for (int n = 0; e == EEXIST && n < (f->tag == 0 ? TRIES : 1); n++) {
        e = create_locked(f, name_of(f, lone_number(f)), &locked);
    }
    return e;
}

/* Writes the tag to a shared file, by which other processes recognise it. */
static int write_nonce(struct file_sink *f) {
    unsigned char nonce[NONCE];
    hpcw_i_put_u64(nonce, f->tag, false);
    int e = hpcw_i_sys_pwrite(f->fd, nonce, NONCE, 0);
    return e == 0 ? hpcw_i_sys_show(f->fd) : e;
}

/* Opens a shared file that another process has created. ENOENT: this process does not find it. */
static int join(struct file_sink *f) {
    uint64_t host = f->tag >> SLOT_BITS;
    int at;
    int unheld = hpcw_i_dir_fd(f->dir, &at);
    if (unheld != 0) {
        return unheld;
    }
    for (uint64_t slot = host == 0 ? SLOTS : 0; slot <= SLOTS; slot++) {
        const char *name = name_of(f, slot == SLOTS ? f->tag : host << SLOT_BITS | slot);
        int e = hpcw_i_sys_open_own(at, name, O_RDWR, false, &f->fd);
        if (e == 0) {
            unsigned char nonce[NONCE];
            size_t got = 0;
            e = hpcw_i_sys_pread(f->fd, nonce, NONCE, 0, &got);
            if (e == 0 && got == NONCE && hpcw_i_get_u64(nonce, false) == f->tag) {
                return 0;
            }
            (void)hpcw_i_sys_close(f->fd);
            f->fd = -1;
        }
        /* It is no error if a slot has the file of another user, or no regular file. */
        if (e != 0 && e != ENOENT && e != EACCES && e != EEXIST && e != ELOOP) {
            return e;
        }
    }
    return ENOENT;
}

static hpcw_status fail_elsewhere(const char *path, hpcw_error *err) {
    char where[512];
    bool relative = path[0] != '/' && getcwd(where, sizeof where) != NULL;
    return hpcw_i_fail(
        err, HPCW_EMISMATCH,
        "%s: expected the same directory on all processes, got one without the file that another "
        "process has just created%s%s: use an absolute path on a file system that all hosts share",
        path, relative ? "; the working directory is " : "", relative ? where : "");
}

/* Finds the directory of the file, f->dir, and its name there, f->base. */
static int find_place(struct file_sink *f, struct hpcw_i_dir *dir, const char *name, bool within) {
    if (within) {
        f->base = hpcw_i_strdup(hpcw_i_sys_base_of(name));
        return f->base == NULL ? ENOMEM : hpcw_i_below_hold(dir, name, &f->dir);
    }
    struct hpcw_i_dir *own = NULL;
    int e = dir == NULL ? hpcw_i_dir_hold_of(f->path, &own) : 0;
    e = e == 0 ? hpcw_i_dir_follow(dir == NULL ? own : dir, hpcw_i_sys_base_of(name), &f->dir, &f->base) : e;
    hpcw_i_dir_release(own);
    return e;
}

/* Finds the first file of the set. If it cannot be found, no permissions are taken from it. */
static int find_first(struct file_sink *f, struct hpcw_i_dir *dir, const char *first) {
    int e = first == NULL || dir == NULL
                ? 0
                : hpcw_i_dir_follow(dir, hpcw_i_sys_base_of(first), &f->first_dir, &f->first_base);
    return e == ENOENT || e == ENOTDIR || e == ELOOP ? 0 : e;
}

/* Opens a file sink. With `within`, `name` is relative to `dir`, and no symbolic link is followed. Otherwise
 * the last part of `name` is in `dir`, or in the directory of `path` if `dir` is NULL. */
static hpcw_status open_file(struct hpcw_i_dir *dir, const char *name, bool within, const char *path,
                             const char *first, uint64_t tag, bool creates, hpcw_durability durability,
                             hpcw_sink **out, hpcw_error *err) {
    if (out == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "file sink: handle: expected a pointer, got NULL");
    }
    *out = NULL;
    if (path == NULL || *hpcw_i_sys_base_of(path) == '\0') {
        return hpcw_i_fail(err, HPCW_EINVAL, "file sink: path: expected the path of a file, got \"%s\"",
                           path == NULL ? "NULL" : path);
    }
    struct file_sink *f = hpcw_i_calloc(1, sizeof *f);
    if (f == NULL) {
        return hpcw_i_fail_memory(err, path, 0, NULL);
    }
    f->base_sink.ops = &file_ops;
    f->fd = f->lock = -1;
    f->durability = durability;
    f->tag = tag;
    f->creates = creates;
    f->gone = true; /* this process has no temporary file yet */
    f->path = hpcw_i_strdup(path);
    hpcw_status s = HPCW_OK;
    int e = f->path == NULL ? ENOMEM : find_place(f, dir, name, within);
    e = e == 0 ? find_first(f, dir, first) : e;
    if (e == 0) {
        f->temporary = temporary_name(f->base);
        e = f->temporary == NULL ? ENOMEM : 0;
    }
    f->forks = hpcw_i_dir_forks();
    f->process = (long)getpid();
    if (e == 0) {
        s = look_at_older(f, within, err);
    }
    if (e == 0 && s == HPCW_OK) {
        e = creates ? create(f) : join(f);
        if (e == 0) {
            e = hpcw_i_sys_id(f->fd, &f->id);
            int at;
            if (e != 0 && creates && hpcw_i_dir_fd(f->dir, &at) == 0) {
                (void)hpcw_i_sys_unlink_at(at, f->temporary, 0);
            }
        }
        f->gone = e != 0;
        if (e == 0 && creates && tag != 0) {
            e = write_nonce(f);
        }
    }
    if (e != 0) {
        s = e == ENOENT && !creates ? fail_elsewhere(path, err)
            : e == ELOOP && within
                ? hpcw_i_fail(err, HPCW_EINVAL,
                              "%s: expected it in directories, got a symbolic link among them: nothing is "
                              "written through links here",
                              path)
                : hpcw_i_fail_sys(err, e, "%s: cannot %s", path, creates ? "create" : "open");
    }
    if (s != HPCW_OK) {
        remove_temporary(f);
        file_free(&f->base_sink);
        return s;
    }
    *out = &f->base_sink;
    return HPCW_OK;
}

hpcw_status hpcw_sink_open_file(const char *path, hpcw_durability durability, hpcw_sink **out,
                                hpcw_error *err) {
    return open_file(NULL, path, false, path, NULL, 0, true, durability, out, err);
}

hpcw_status hpcw_sink_open_shared_file(const char *path, uint64_t tag, bool creates, hpcw_durability durability,
                                       hpcw_sink **out, hpcw_error *err) {
    if (tag == 0) {
        if (out != NULL) {
            *out = NULL;
        }
        return hpcw_i_fail(err, HPCW_EINVAL, "shared file sink: expected a tag other than 0, got 0");
    }
    return open_file(NULL, path, false, path, NULL, tag, creates, durability, out, err);
}

hpcw_status hpcw_i_sink_open(const hpcw_sink_source *source, struct hpcw_i_dir *dir, const char *path,
                             uint64_t tag, bool creates, hpcw_durability durability, hpcw_sink **out,
                             hpcw_error *err) {
    return hpcw_i_sink_open_member(source, dir, path, NULL, tag, creates, durability, out, err);
}

hpcw_status hpcw_i_sink_open_member(const hpcw_sink_source *source, struct hpcw_i_dir *dir, const char *path,
                                    const char *first, uint64_t tag, bool creates, hpcw_durability durability,
                                    hpcw_sink **out, hpcw_error *err) {
    return source != NULL && source->open != NULL
               ? source->open(source->context, path, tag, creates, out, err)
               : open_file(dir, path, false, path, first, tag, creates || tag == 0, durability, out, err);
}

hpcw_status hpcw_i_sink_open_found(const hpcw_sink_source *source, struct hpcw_i_dir *dir, const char *name,
                                   const char *path, uint64_t tag, bool creates, hpcw_durability durability,
                                   hpcw_sink **out, hpcw_error *err) {
    return source->open != NULL
               ? source->open(source->context, path, tag, creates, out, err)
               : open_file(dir, name, true, path, NULL, tag, creates || tag == 0, durability, out, err);
}

hpcw_status hpcw_i_sink_open_below(struct hpcw_i_dir *root, const char *name, const char *path,
                                   hpcw_durability durability, hpcw_sink **out, hpcw_error *err) {
    return open_file(root, name, true, path, NULL, 0, true, durability, out, err);
}

static hpcw_status open_of_source(void *context, const char *path, uint64_t tag, bool creates, hpcw_sink **out,
                                  hpcw_error *err) {
    const struct hpcw_i_sink_below *b = context;
    const size_t n = strlen(b->path);
    if (strncmp(path, b->path, n) != 0 || path[n] != '/') {
        *out = NULL;
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a path below %s, got another", path, b->path);
    }
    return open_file(b->root, path + n + 1, true, path, NULL, tag, creates || tag == 0, b->durability, out,
                     err);
}

hpcw_sink_source hpcw_i_sink_below_source(const struct hpcw_i_sink_below *below) {
    return (hpcw_sink_source){.open = open_of_source, .context = (void *)(uintptr_t)below};
}

int hpcw_i_sink_descriptor(const hpcw_sink *file) {
    return ((const struct file_sink *)(const void *)file)->fd;
}

uint64_t hpcw_i_sink_number(const hpcw_sink *file) {
    return ((const struct file_sink *)(const void *)file)->number;
}

int hpcw_i_sink_retire(hpcw_sink *file) {
    const struct file_sink *f = file_of(file);
    int at;
    int e = f->dir == NULL ? ENOENT : hpcw_i_dir_fd(f->dir, &at);
    e = e == 0 && !has_name(f) ? hpcw_i_sys_unlink_at(at, f->base, 0) : e;
    return e == ENOENT ? 0 : e;
}

void hpcw_i_sink_leave(hpcw_sink *file) {
    struct file_sink *f = file_of(file);
    close_all(f);
    f->gone = true;
    file->finished = true;
}

uint64_t hpcw_i_sink_tag(uint64_t random, uint64_t least_host, uint64_t greatest_host) {
    uint64_t low = (UINT64_C(1) << SLOT_BITS) - 1;
    uint64_t host = least_host == greatest_host ? greatest_host : 0;
    return host << SLOT_BITS | ((random & low) != 0 ? random & low : 1);
}
