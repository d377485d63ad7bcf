/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/io/dir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libwriter/base/mem.h"

enum { MOST_LINKS = 40 }; /* most symbolic links that are followed to one file, as in Linux */

struct hpcw_i_dir {
    struct hpcw_i_dir *next;
    size_t holders;
    int fd;
    struct hpcw_i_file_id id;
    char *path; /* absolute path, for opening the directory again if the program closed `fd`; NULL: unknown */
};

/* All held directories of the process. They are global, so that all handles of the library share one descriptor
 * per directory. */
static struct {
    pthread_mutex_t lock;
    struct hpcw_i_dir *first;
    bool follows_forks;
    atomic_uint forks;
} held = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- fork ---- */

/* A child may free handles, for which it needs the lock. So the thread that calls fork() takes the lock before,
 * and both processes release it after. */
static void before_fork(void) {
    (void)pthread_mutex_lock(&held.lock);
}

static void after_fork(void) {
    (void)pthread_mutex_unlock(&held.lock);
}

static void after_fork_in_child(void) {
    atomic_fetch_add_explicit(&held.forks, 1, memory_order_relaxed);
    after_fork();
}

unsigned hpcw_i_dir_forks(void) {
    return atomic_load_explicit(&held.forks, memory_order_relaxed);
}

/* ---- descriptors ---- */

/* Checks a descriptor. EBADF: it is not the one that was opened here. O_PATH is checked, too: programs rarely open
 * directories with this flag. */
static int expect_ours(int fd, const struct hpcw_i_file_id *id) {
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & O_PATH) != 0 ? hpcw_i_sys_expect(fd, id) : EBADF;
}

static bool is_ours(int fd, const struct hpcw_i_file_id *id) {
    return expect_ours(fd, id) == 0;
}

/* Finds the path of an open directory, for opening it again. Returns false if memory runs out. */
static bool find_path(struct hpcw_i_dir *dir) {
    char link[64], path[PATH_MAX];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", dir->fd);
    bool found = hpcw_i_sys_read_link_at(AT_FDCWD, link, path, sizeof path) == 0 && path[0] == '/';
    dir->path = found ? hpcw_i_strdup(path) : NULL;
    return !found || dir->path != NULL;
}

/* Opens a directory again by its path. The caller holds held.lock. */
static int reopen(struct hpcw_i_dir *dir) {
    int fd;
    int e = dir->path == NULL
                ? EBADF
                : hpcw_i_sys_open_at(AT_FDCWD, dir->path, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0, &fd);
    if (e != 0) {
        return EBADF;
    }
    if (!is_ours(fd, &dir->id)) {
        (void)close(fd);
        return EBADF;
    }
    dir->fd = fd;
    return 0;
}

int hpcw_i_dir_fd(struct hpcw_i_dir *dir, int *fd) {
    (void)pthread_mutex_lock(&held.lock);
    int e = expect_ours(dir->fd, &dir->id);
    e = e == EBADF ? reopen(dir) : e;
    *fd = e == 0 ? dir->fd : -1;
    (void)pthread_mutex_unlock(&held.lock);
    return e;
}

/* ---- holds ---- */

/* Adds a holder to the object of this directory, or makes the object. Takes over `fd`. The caller holds
 * held.lock. */
static int share(int fd, const struct hpcw_i_file_id *id, struct hpcw_i_dir **out) {
    if (!held.follows_forks) {
        held.follows_forks = pthread_atfork(before_fork, after_fork, after_fork_in_child) == 0;
    }
    struct hpcw_i_dir *dir = held.first;
    while (dir != NULL && (dir->id.device != id->device || dir->id.inode != id->inode)) {
        dir = dir->next;
    }
    if (dir != NULL && is_ours(dir->fd, id)) {
        (void)close(fd);
    } else if (dir != NULL) {
        dir->fd = fd; /* the program has closed the descriptor of the existing object */
    } else {
        dir = hpcw_i_calloc(1, sizeof *dir);
        if (dir != NULL) {
            *dir = (struct hpcw_i_dir){.next = held.first, .fd = fd, .id = *id};
        }
        if (dir == NULL || !find_path(dir)) {
            hpcw_i_free(dir);
            (void)close(fd);
            return ENOMEM;
        }
        held.first = dir;
    }
    dir->holders++;
    *out = dir;
    return 0;
}

/* Opens and holds the directory `path`. A relative path begins in `directory`, a descriptor. */
static int hold_at(int directory, const char *path, int flags, struct hpcw_i_dir **out) {
    struct hpcw_i_file_id id;
    int fd;
    *out = NULL;
    int e = hpcw_i_sys_open_at(directory, path, O_PATH | O_DIRECTORY | flags, 0, &fd);
    if (e != 0) {
        return e;
    }
    e = hpcw_i_sys_id(fd, &id);
    if (e != 0) {
        (void)close(fd);
        return e;
    }
    (void)pthread_mutex_lock(&held.lock);
    e = share(fd, &id, out);
    (void)pthread_mutex_unlock(&held.lock);
    return e;
}

int hpcw_i_dir_hold(const char *path, struct hpcw_i_dir **out) {
    return hold_at(AT_FDCWD, path, 0, out);
}

static int hold_directory_of(int at, const char *path, struct hpcw_i_dir **out) {
    char *directory = hpcw_i_sys_directory_of(path);
    *out = NULL;
    int e = directory == NULL ? ENOMEM : hold_at(at, directory, 0, out);
    hpcw_i_free(directory);
    return e;
}

int hpcw_i_dir_hold_of(const char *path, struct hpcw_i_dir **out) {
    return hold_directory_of(AT_FDCWD, path, out);
}

int hpcw_i_dir_hold_from(struct hpcw_i_dir *start, const char *path, struct hpcw_i_dir **out) {
    int at;
    *out = NULL;
    int e = hpcw_i_dir_fd(start, &at);
    return e == 0 ? hold_directory_of(at, path, out) : e;
}

struct hpcw_i_dir *hpcw_i_dir_again(struct hpcw_i_dir *dir) {
    (void)pthread_mutex_lock(&held.lock);
    dir->holders++;
    (void)pthread_mutex_unlock(&held.lock);
    return dir;
}

void hpcw_i_dir_release(struct hpcw_i_dir *dir) {
    if (dir == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&held.lock);
    bool last = --dir->holders == 0;
    for (struct hpcw_i_dir **d = &held.first; last && *d != NULL; d = &(*d)->next) {
        if (*d == dir) {
            *d = dir->next;
            break;
        }
    }
    (void)pthread_mutex_unlock(&held.lock);
    if (last) {
        if (is_ours(dir->fd, &dir->id)) {
            (void)close(dir->fd);
        }
        hpcw_i_free(dir->path);
        hpcw_i_free(dir);
    }
}

int hpcw_i_dir_sync(struct hpcw_i_dir *dir) {
    int at;
    int e = hpcw_i_dir_fd(dir, &at);
    return e == 0 ? hpcw_i_sys_fsync_at(at, ".", O_DIRECTORY) : e;
}

/* ---- symbolic links to files that are to be written ---- */

/* Follows one symbolic link. *dir and *name become the directory of its target and the target's name in it. The
 * old values are released. */
static int take_link(struct hpcw_i_dir **dir, char **name) {
    char text[PATH_MAX];
    struct hpcw_i_dir *next = NULL;
    int at;
    int e = hpcw_i_dir_fd(*dir, &at);
    e = e == 0 ? hpcw_i_sys_read_link_at(at, *name, text, sizeof text) : e;
    char *base = e == 0 ? hpcw_i_strdup(hpcw_i_sys_base_of(text)) : NULL;
    e = e != 0 ? e : base == NULL ? ENOMEM : hold_directory_of(at, text, &next);
    if (e != 0) {
        hpcw_i_free(base);
        return e;
    }
    hpcw_i_dir_release(*dir);
    hpcw_i_free(*name);
    *dir = next;
    *name = base;
    return 0;
}

int hpcw_i_dir_follow(struct hpcw_i_dir *dir, const char *name, struct hpcw_i_dir **target, char **base) {
    *target = hpcw_i_dir_again(dir);
    *base = hpcw_i_strdup(name);
    int e = *base == NULL ? ENOMEM : 0;
    for (int links = 0; e == 0; links++) {
        struct hpcw_i_entry entry;
        int at;
        e = hpcw_i_dir_fd(*target, &at);
        e = e == 0 ? hpcw_i_sys_look_at(at, *base, &entry) : e;
        if (e != 0 || entry.kind != HPCW_I_LINK) {
            break;
        }
        e = links == MOST_LINKS ? ELOOP : take_link(target, base);
    }
    if (e != 0) {
        hpcw_i_dir_release(*target);
        hpcw_i_free(*base);
        *target = NULL;
        *base = NULL;
    }
    return e;
}

/* ---- names below a directory ---- */

static bool is_plain_name(const char *name) {
    for (const char *part = name;; part++) {
        size_t n = strcspn(part, "/");
        if (n == 0 || (part[0] == '.' && (n == 1 || (n == 2 && part[1] == '.')))) {
            return false;
        }
        part += n;
        if (*part == '\0') {
            return true;
        }
    }
}

/* Replaces *dir by its subdirectory `part`. ELOOP: `part` is a symbolic link. */
static int descend(struct hpcw_i_dir **dir, const char *part) {
    struct hpcw_i_dir *next;
    struct hpcw_i_entry entry;
    int at;
    int e = hpcw_i_dir_fd(*dir, &at);
    e = e == 0 ? hold_at(at, part, O_NOFOLLOW, &next) : e;
    if (e == ENOTDIR && hpcw_i_sys_look_at(at, part, &entry) == 0 && entry.kind == HPCW_I_LINK) {
        return ELOOP;
    }
    if (e == 0) {
        hpcw_i_dir_release(*dir);
        *dir = next;
    }
    return e;
}

/* Makes a subdirectory. EEXIST: the name exists. */
static int make_part(struct hpcw_i_dir *dir, const char *part, bool sync, bool *made) {
    int at;
    int e = hpcw_i_dir_fd(dir, &at);
    e = e == 0 ? hpcw_i_sys_mkdir_at(at, part, 0777) : e;
    *made = e == 0;
    return e == 0 && sync ? hpcw_i_dir_sync(dir) : e;
}

/* Holds the directory in which `name` is. With `make`, makes missing directories of the path. */
static int walk(struct hpcw_i_dir *root, const char *name, bool make, bool sync, struct hpcw_i_dir **parent) {
    *parent = NULL;
    if (!is_plain_name(name)) {
        return EINVAL;
    }
    char *path = hpcw_i_strdup(name);
    if (path == NULL) {
        return ENOMEM;
    }
    struct hpcw_i_dir *dir = hpcw_i_dir_again(root);
    int e = 0;
    char *part = path;
    for (char *slash; e == 0 && (slash = strchr(part, '/')) != NULL; part = slash + 1) {
        *slash = '\0';
        bool made = false;
        e = make ? make_part(dir, part, sync, &made) : 0;
        e = e == 0 || e == EEXIST ? descend(&dir, part) : e;
    }
    hpcw_i_free(path);
    if (e != 0) {
        hpcw_i_dir_release(dir);
        return e;
    }
    *parent = dir;
    return 0;
}

int hpcw_i_below_hold(struct hpcw_i_dir *root, const char *name, struct hpcw_i_dir **parent) {
    return walk(root, name, false, false, parent);
}

int hpcw_i_below_hold_itself(struct hpcw_i_dir *root, const char *name, struct hpcw_i_dir **dir) {
    int e = walk(root, name, false, false, dir);
    e = e == 0 ? descend(dir, hpcw_i_sys_base_of(name)) : e;
    if (e != 0) {
        hpcw_i_dir_release(*dir);
        *dir = NULL;
    }
    return e;
}

int hpcw_i_below_make_parents(struct hpcw_i_dir *root, const char *name, bool sync) {
    struct hpcw_i_dir *parent;
    int e = walk(root, name, true, sync, &parent);
    hpcw_i_dir_release(parent);
    return e;
}

int hpcw_i_below_make(struct hpcw_i_dir *root, const char *name, bool sync, bool *made) {
    struct hpcw_i_dir *parent;
    bool own;
    int e = walk(root, name, false, false, &parent);
    e = e == 0 ? make_part(parent, hpcw_i_sys_base_of(name), sync, made == NULL ? &own : made) : e;
    hpcw_i_dir_release(parent);
    return e;
}

int hpcw_i_below_look(struct hpcw_i_dir *root, const char *name, struct hpcw_i_entry *entry) {
    struct hpcw_i_dir *parent;
    int at;
    *entry = (struct hpcw_i_entry){.kind = HPCW_I_NOTHING};
    int e = walk(root, name, false, false, &parent);
    if (e == 0) {
        e = hpcw_i_dir_fd(parent, &at);
        e = e == 0 ? hpcw_i_sys_look_at(at, hpcw_i_sys_base_of(name), entry) : e;
    }
    hpcw_i_dir_release(parent);
    return e == ENOENT || e == ENOTDIR ? 0 : e;
}

int hpcw_i_below_open(struct hpcw_i_dir *root, const char *name, int flags, bool own, int *fd) {
    struct hpcw_i_dir *parent;
    int at;
    *fd = -1;
    int e = walk(root, name, false, false, &parent);
    e = e == 0 ? hpcw_i_dir_fd(parent, &at) : e;
    e = e == 0 ? hpcw_i_sys_open_own(at, hpcw_i_sys_base_of(name), flags, own, fd) : e;
    hpcw_i_dir_release(parent);
    return e;
}

static int remove_below(struct hpcw_i_dir *root, const char *name, int flags) {
    struct hpcw_i_dir *parent;
    int at;
    int e = walk(root, name, false, false, &parent);
    e = e == 0 ? hpcw_i_dir_fd(parent, &at) : e;
    e = e == 0 ? hpcw_i_sys_unlink_at(at, hpcw_i_sys_base_of(name), flags) : e;
    hpcw_i_dir_release(parent);
    return e == ENOTDIR && flags == 0 ? ENOENT : e;
}

int hpcw_i_below_unlink(struct hpcw_i_dir *root, const char *name) {
    return remove_below(root, name, 0);
}

int hpcw_i_below_rmdir(struct hpcw_i_dir *root, const char *name) {
    return remove_below(root, name, AT_REMOVEDIR);
}

int hpcw_i_below_rename(struct hpcw_i_dir *root, const char *from, const char *to) {
    struct hpcw_i_dir *source = NULL, *target = NULL;
    int source_at, target_at;
    int e = walk(root, from, false, false, &source);
    e = e == 0 ? walk(root, to, false, false, &target) : e;
    e = e == 0 ? hpcw_i_dir_fd(source, &source_at) : e;
    e = e == 0 ? hpcw_i_dir_fd(target, &target_at) : e;
    e = e == 0
            ? hpcw_i_sys_rename_between(source_at, hpcw_i_sys_base_of(from), target_at, hpcw_i_sys_base_of(to))
            : e;
    hpcw_i_dir_release(source);
    hpcw_i_dir_release(target);
    return e;
}

int hpcw_i_below_sync(struct hpcw_i_dir *root, const char *name) {
    struct hpcw_i_dir *parent;
    int e = walk(root, name, false, false, &parent);
    e = e == 0 ? hpcw_i_dir_sync(parent) : e;
    hpcw_i_dir_release(parent);
    return e;
}
