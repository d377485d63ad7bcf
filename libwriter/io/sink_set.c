/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/io/sink_set.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libwriter/base/buf.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/*
 * An intent is this line, "NUMBER INODE NAME" with a NUL for each file, and the last line. One without the last line is of a
 * writer that died before it renamed anything. Inodes and times tell a file that has its name from one whose temporary file
 * somebody removed.
 */
static const char first_line[] = "hpcw set 2\n";
static const char last_line[] = "end\n";
enum { DIGITS = 16, LARGEST = 256 << 20 };

/* Naming files takes milliseconds. A writer that takes longer than this is stopped, and nobody waits for ever. */
enum { LONGEST_MS = 60000, STEP_MS = 5 };

struct hpcw_i_set {
    struct hpcw_i_dir *dir;
    char *name; /* of the intent */
    char *path; /* of the set, for messages */
    int fd;     /* holds the lock of the intent */
    bool found; /* there is an intent */
};

static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* ---- one file of the set ---- */

/* Where a file of the set is: its directory, and its two names there. */
struct set_file {
    struct hpcw_i_dir *dir;
    int at; /* descriptor of the directory */
    char *base, *temporary;
};

static void set_file_free(struct set_file *f) {
    hpcw_i_dir_release(f->dir);
    hpcw_i_free(f->base);
    hpcw_i_free(f->temporary);
}

/* In the directory of the set, or where the name leads to: whoever put a link there later changes nothing for a file that waits
 * for its name. */
static int set_file_find(struct hpcw_i_dir *dir, const char *name, uint64_t number, struct set_file *f) {
    struct hpcw_i_entry entry;
    *f = (struct set_file){.at = -1, .dir = hpcw_i_dir_again(dir), .base = hpcw_i_strdup(name)};
    int e = f->base == NULL ? ENOMEM : hpcw_i_dir_fd(dir, &f->at);
    for (int followed = 0; e == 0 && followed < 2; followed++) {
        f->temporary = hpcw_i_sink_temporary(f->base, number);
        e = f->temporary == NULL ? ENOMEM : hpcw_i_sys_look_at(f->at, f->temporary, &entry);
        if (e != 0 || entry.kind == HPCW_I_FILE || followed == 1) {
            break;
        }
        set_file_free(f);
        *f = (struct set_file){.at = -1};
        e = hpcw_i_dir_follow(dir, name, &f->dir, &f->base);
        e = e == 0 ? hpcw_i_dir_fd(f->dir, &f->at) : e;
    }
    return e;
}

/* Whether a file that an intent lists is lost: it waits no more, and what has its name, if anything, is older than the intent.
 * A file system may give files other inodes when it is mounted again, or no new time when they are renamed. */
static int is_lost(const struct set_file *f, uint64_t inode, int64_t since_ns, bool *lost) {
    struct hpcw_i_entry waits, named = {.kind = HPCW_I_NOTHING};
    int e = hpcw_i_sys_look_at(f->at, f->temporary, &waits);
    e = e == 0 ? hpcw_i_sys_look_at(f->at, f->base, &named) : e;
    *lost = e == 0 && waits.kind != HPCW_I_FILE &&
            (named.kind != HPCW_I_FILE || (named.id.inode != inode && named.changed_ns < since_ns));
    return e;
}

/* Gives one file its name for good, if it still has the temporary one. EAGAIN: its writer is alive. */
static int rename_one(struct hpcw_i_dir *dir, const char *name, uint64_t number) {
    struct set_file f;
    int fd = -1;
    int e = set_file_find(dir, name, number, &f);
    e = e == 0 ? hpcw_i_sys_open_own(f.at, f.temporary, O_RDWR, true, &fd) : e;
    /* A file that replaces one that nobody may write cannot be locked. */
    e = e == EACCES || (e == 0 && hpcw_i_sys_own(fd) != EAGAIN)
            ? hpcw_i_sys_rename_at(f.at, f.temporary, f.base)
        : e == 0 ? EAGAIN
                 : e;
    if (e == 0) {
        e = hpcw_i_dir_sync(f.dir);
        e = e == EACCES ? 0 : e; /* names may be made there, but not read */
    }
    if (fd >= 0) {
        hpcw_i_sys_drop(fd);
    }
    set_file_free(&f);
    return e == ENOENT ? 0 : e;
}

/* ---- the intent ---- */

static char *intent_name(const char *base) {
    char *temporary = hpcw_i_sink_temporary(base, 0);
    if (temporary != NULL) {
        /* From ".hpcw-0000000000000000-BASE.tmp", where BASE is as long as file systems allow. */
        const char *rest = strchr(strchr(temporary, '-') + 1, '-');
        size_t size = strlen(rest) - strlen(".tmp");
        const size_t front = strlen(".hpcw-set");
        memmove(temporary + front, rest, size);
        memcpy(temporary, ".hpcw-set", front);
        temporary[front + size] = '\0';
    }
    return temporary;
}

static void set_free(struct hpcw_i_set *set) {
    if (set != NULL) {
        if (set->fd >= 0) {
            hpcw_i_sys_drop(set->fd);
        }
        hpcw_i_dir_release(set->dir);
        hpcw_i_free(set->name);
        hpcw_i_free(set->path);
        hpcw_i_free(set);
    }
}

static struct hpcw_i_set *set_new(struct hpcw_i_dir *dir, const char *path, const char *base) {
    struct hpcw_i_set *set = hpcw_i_calloc(1, sizeof *set);
    if (set != NULL) {
        set->fd = -1;
        set->dir = hpcw_i_dir_again(dir);
        set->path = hpcw_i_strdup(path);
        set->name = intent_name(base);
        if (set->path == NULL || set->name == NULL) {
            set_free(set);
            set = NULL;
        }
    }
    return set;
}

static int unlink_intent(const struct hpcw_i_set *set) {
    int at;
    int e = hpcw_i_dir_fd(set->dir, &at);
    e = e == 0 ? hpcw_i_sys_unlink_at(at, set->name, 0) : e;
    return e == ENOENT ? 0 : e;
}

/* The text of an intent. ENOENT: the temporary file of *missing is gone. */
static int print_intent(struct hpcw_i_dir *dir, uint32_t files, const struct hpcw_i_set_file *file,
                        struct hpcw_i_buf *text, const char **missing) {
    int e = hpcw_i_buf_append_str(text, first_line) ? 0 : ENOMEM;
    for (uint32_t k = 0; e == 0 && k < files; k++) {
        struct set_file f;
        struct hpcw_i_entry entry = {.kind = HPCW_I_NOTHING};
        char words[2 * (DIGITS + 1) + 1];
        *missing = file[k].path;
        e = set_file_find(dir, base_of(file[k].path), file[k].number, &f);
        e = e == 0 ? hpcw_i_sys_look_at(f.at, f.temporary, &entry) : e;
        set_file_free(&f);
        e = e == 0 && entry.kind != HPCW_I_FILE ? ENOENT : e;
        (void)snprintf(words, sizeof words, "%016" PRIx64 " %016" PRIx64 " ", file[k].number, entry.id.inode);
        e = e != 0 || (hpcw_i_buf_append_str(text, words) &&
                       hpcw_i_buf_append_str(text, base_of(file[k].path)) && hpcw_i_buf_append(text, "", 1))
                ? e
                : ENOMEM;
    }
    return e != 0 || hpcw_i_buf_append_str(text, last_line) ? e : ENOMEM;
}

/* Reads the whole intent into `text`, with a NUL at its end. */
static int read_intent(int fd, struct hpcw_i_buf *text) {
    uint64_t size = 0;
    size_t got = 0;
    int e = hpcw_i_sys_size(fd, &size);
    if (e == 0) {
        e = size > LARGEST ? EINVAL : hpcw_i_buf_reserve(text, (size_t)size + 1) ? 0 : ENOMEM;
    }
    e = e == 0 ? hpcw_i_sys_pread(fd, text->data, (size_t)size, 0, &got) : e;
    if (e == 0) {
        text->size = got;
        text->data[got] = '\0';
    }
    return e;
}

/* A file of an intent. */
struct listed {
    uint64_t number, inode;
    const char *name;
};

static bool next_word(const char **at, uint64_t *word) {
    if (strspn(*at, "0123456789abcdef") != DIGITS || (*at)[DIGITS] != ' ') {
        return false;
    }
    *word = strtoull(*at, NULL, 16);
    *at += DIGITS + 1;
    return true;
}

/* The next file. False: what follows is none. */
static bool next_file(const char **at, struct listed *file) {
    if (!next_word(at, &file->number) || !next_word(at, &file->inode)) {
        return false;
    }
    file->name = *at;
    *at += strlen(*at) + 1;
    return *file->name != '\0' && strchr(file->name, '/') == NULL;
}

static bool is_whole(const struct hpcw_i_buf *text) {
    const size_t first = sizeof first_line - 1, last = sizeof last_line - 1;
    return text->size >= first + last && memcmp(text->data, first_line, first) == 0 &&
           memcmp(text->data + text->size - last, last_line, last) == 0;
}

/* ---- giving names ---- */

/* Removes the older first file, if the new one still waits for its name. */
static int retire(struct hpcw_i_dir *dir, const char *name, uint64_t number) {
    struct set_file f;
    struct hpcw_i_entry waits = {.kind = HPCW_I_NOTHING};
    int e = set_file_find(dir, name, number, &f);
    e = e == 0 ? hpcw_i_sys_look_at(f.at, f.temporary, &waits) : e;
    if (e == 0 && waits.kind != HPCW_I_NOTHING) {
        e = hpcw_i_sys_unlink_at(f.at, f.base, 0);
    }
    set_file_free(&f);
    return e == ENOENT ? 0 : e;
}

/* The files that an intent lists, one after the other. */
struct rest {
    const char *at, *end;
};

static struct rest all_files(const struct hpcw_i_buf *text) {
    return (struct rest){(const char *)text->data + sizeof first_line - 1,
                         (const char *)text->data + text->size - (sizeof last_line - 1)};
}

/* Whether the name of the first file was taken after the intent was written, by another one: a backup that somebody put back, or
 * what another program wrote. */
static int is_given_up(struct hpcw_i_dir *dir, const struct listed *base, int64_t since_ns, bool *given_up) {
    struct set_file f;
    struct hpcw_i_entry named = {.kind = HPCW_I_NOTHING};
    int e = set_file_find(dir, base->name, base->number, &f);
    e = e == 0 ? hpcw_i_sys_look_at(f.at, f.base, &named) : e == ENOENT ? 0 : e;
    *given_up = named.kind != HPCW_I_NOTHING && named.id.inode != base->inode && named.changed_ns > since_ns;
    set_file_free(&f);
    return e;
}

/* Removes the temporary files. One that stays is only that of a dead writer. */
static int remove_files(struct hpcw_i_dir *dir, struct rest files) {
    while (files.at < files.end) {
        struct listed file;
        struct set_file f;
        if (!next_file(&files.at, &file)) {
            return EINVAL;
        }
        if (set_file_find(dir, file.name, file.number, &f) == 0) {
            (void)hpcw_i_sys_unlink_unowned(f.at, f.temporary);
        }
        set_file_free(&f);
    }
    return 0;
}

/* ESTALE: a file is lost. */
static int look_for_lost(struct hpcw_i_dir *dir, struct rest files, int64_t since_ns) {
    int e = 0;
    while (e == 0 && files.at < files.end) {
        struct listed file;
        struct set_file f;
        bool lost = false;
        if (!next_file(&files.at, &file)) {
            return EINVAL;
        }
        e = set_file_find(dir, file.name, file.number, &f);
        e = e == 0 ? is_lost(&f, file.inode, since_ns, &lost) : e;
        e = lost ? ESTALE : e;
        set_file_free(&f);
    }
    return e;
}

static int rename_all(struct hpcw_i_dir *dir, const struct listed *base, struct rest others) {
    int e = retire(dir, base->name, base->number);
    while (e == 0 && others.at < others.end) {
        struct listed file;
        e = next_file(&others.at, &file) ? rename_one(dir, file.name, file.number) : EINVAL;
    }
    return e == 0 ? rename_one(dir, base->name, base->number) : e;
}

/* Does all that a whole intent of a dead writer says. The first file is the last one. With files that are older or newer than
 * the set it would be a mixture: where somebody removed a file before it had its name, nothing is done, and where a later file
 * has the name of the first one, the set is given up. */
static int do_intent(const struct hpcw_i_set *set, const struct hpcw_i_buf *text) {
    const struct rest all = all_files(text);
    struct rest others = all;
    struct listed base;
    struct hpcw_i_entry intent;
    bool given_up = false;
    int at;
    if (!next_file(&others.at, &base)) {
        return EINVAL;
    }
    int e = hpcw_i_dir_fd(set->dir, &at);
    e = e == 0 ? hpcw_i_sys_look_at(at, set->name, &intent) : e;
    e = e == 0 ? is_given_up(set->dir, &base, intent.changed_ns, &given_up) : e;
    if (e == 0 && given_up) {
        return remove_files(set->dir, all);
    }
    e = e == 0 ? look_for_lost(set->dir, all, intent.changed_ns) : e;
    return e == 0 ? rename_all(set->dir, &base, others) : e;
}

/* Why the intent cannot be opened, whose open answered `e`. 0: there is none; EPERM: what has its name is not of this user's
 * writers. */
static int why_not(struct hpcw_i_set *set, int at, int e) {
    struct hpcw_i_entry entry = {.kind = HPCW_I_NOTHING};
    if (e == EACCES && hpcw_i_sys_look_at(at, set->name, &entry) == 0 && entry.kind != HPCW_I_NOTHING) {
        set->found = true;
        return entry.owner != geteuid() ? EPERM : e;
    }
    return e == ENOENT ? 0 : e == EEXIST || e == ELOOP ? EPERM : e;
}

/* EAGAIN: its writer is alive. */
static int try_to_finish(struct hpcw_i_set *set) {
    struct hpcw_i_buf text = {0};
    int at;
    int e = hpcw_i_dir_fd(set->dir, &at);
    if (e != 0) {
        return e;
    }
    e = hpcw_i_sys_open_own(at, set->name, O_RDWR, true, &set->fd);
    if (e != 0) {
        return why_not(set, at, e);
    }
    set->found = true;
    e = hpcw_i_sys_own(set->fd) == EAGAIN ? EAGAIN : read_intent(set->fd, &text);
    e = e == 0 && is_whole(&text) ? do_intent(set, &text) : e;
    e = e == 0 ? unlink_intent(set) : e;
    hpcw_i_buf_free(&text);
    hpcw_i_sys_drop(set->fd);
    set->fd = -1;
    return e;
}

static void wait_a_little(void) {
    (void)nanosleep(&(struct timespec){.tv_nsec = STEP_MS * 1000000L}, NULL);
}

static hpcw_status finish(struct hpcw_i_set *set, hpcw_error *err) {
    int e = try_to_finish(set);
    for (int ms = 0; e == EAGAIN && ms < LONGEST_MS; ms += STEP_MS) {
        wait_a_little();
        e = try_to_finish(set);
    }
    return e == EAGAIN
               ? hpcw_i_fail(err, HPCW_EEXIST, "%s: another writer is giving the files of this set their names",
                             set->path)
           : e == EPERM
               ? hpcw_i_fail(
                     err, HPCW_EEXIST,
                     "%s: expected no file or directory %s of somebody else beside it, got one: that user can "
                     "finish the set by opening it; otherwise remove it",
                     set->path, set->name)
           : e == ESTALE ? hpcw_i_fail(err, HPCW_ETRUNCATED,
                                       "%s: expected all files of the set of a writer that died, as %s lists "
                                       "them, got one less: somebody "
                                       "removed its temporary file; to give up what is left, remove %s",
                                       set->path, set->name, set->name)
           : e == EINVAL
               ? hpcw_i_fail(err, HPCW_EFORMAT,
                             "%s: expected in %s the files of the set of a writer that died, got something "
                             "else: if nobody needs it, remove it",
                             set->path, set->name)
           : e == 0 ? HPCW_OK
           : !set->found
               ? hpcw_i_fail_sys(err, e, "%s: cannot look for %s, which a writer that died may have left",
                                 set->path, set->name)
               : hpcw_i_fail_sys(err, e, "%s: cannot finish the set of a writer that died, as %s lists it",
                                 set->path, set->name);
}

static hpcw_status finish_in(struct hpcw_i_dir *dir, const char *path, const char *base, hpcw_error *err) {
    struct hpcw_i_set *set = set_new(dir, path, base);
    if (set == NULL) {
        return hpcw_i_fail_memory(err, path, 0, NULL);
    }
    hpcw_status s = finish(set, err);
    set_free(set);
    return s;
}

hpcw_status hpcw_i_set_finish(struct hpcw_i_dir *dir, const char *path, hpcw_error *err) {
    struct hpcw_i_dir *target = NULL;
    char *base = NULL;
    hpcw_status s = finish_in(dir, path, base_of(path), err);
    /* A set that was written by the name that this one leads to. */
    int e = s == HPCW_OK ? hpcw_i_dir_follow(dir, base_of(path), &target, &base) : 0;
    if (e == 0 && s == HPCW_OK && (target != dir || strcmp(base, base_of(path)) != 0)) {
        s = finish_in(target, path, base, err);
    }
    hpcw_i_dir_release(target);
    hpcw_i_free(base);
    return e == 0 || e == ENOENT || e == ENOTDIR || e == ELOOP
               ? s
               : hpcw_i_fail_sys(err, e, "%s: cannot look for what a writer left that died", path);
}

/* ---- a writer ---- */

/* Creates the intent, without a text. Waits for another writer that gives the set its names, and finishes what a dead one
 * left. */
static hpcw_status create_intent(struct hpcw_i_set *set, hpcw_error *err) {
    int e = EEXIST;
    hpcw_status s = HPCW_OK;
    for (int ms = 0; s == HPCW_OK && e == EEXIST && ms < LONGEST_MS; ms += STEP_MS) {
        int at;
        e = hpcw_i_dir_fd(set->dir, &at);
        e = e == 0 ? hpcw_i_sys_open_own(at, set->name, O_RDWR | O_CREAT | O_EXCL, true, &set->fd) : e;
        if (e == 0 && hpcw_i_sys_own(set->fd) == EAGAIN) { /* somebody took it for a dead writer's */
            hpcw_i_sys_drop(set->fd);
            set->fd = -1;
            e = EEXIST;
        } else if (e == EEXIST) {
            s = finish(set, err);
        }
    }
    return s != HPCW_OK ? s
           : e == 0     ? HPCW_OK
                        : hpcw_i_fail_sys(err, e, "%s: cannot create %s, which lists the files of the set",
                                          set->path, set->name);
}

hpcw_status hpcw_i_set_announce(struct hpcw_i_dir *dir, const char *path, uint32_t files,
                                const struct hpcw_i_set_file *file, hpcw_durability durability,
                                struct hpcw_i_set **out, hpcw_error *err) {
    struct hpcw_i_buf text = {0};
    *out = NULL;
    if (dir == NULL) {
        return hpcw_i_fail(
            err, HPCW_ENOENT,
            "%s: expected its directory when it was looked up at the open, got it a moment later: "
            "write it again",
            path);
    }
    struct hpcw_i_set *set = set_new(dir, path, base_of(path));
    const char *missing = path;
    int e = set == NULL ? ENOMEM : print_intent(dir, files, file, &text, &missing);
    hpcw_status s =
        e == 0        ? create_intent(set, err)
        : e == ENOMEM ? hpcw_i_fail_memory(err, path, files, "names")
        : e == ENOENT
            ? hpcw_i_fail(err, HPCW_ENOENT,
                          "%s: expected its temporary file beside it, got none: somebody removed it", missing)
            : hpcw_i_fail_sys(err, e, "%s: cannot look at its temporary file", missing);
    if (s == HPCW_OK) {
        e = hpcw_i_sys_pwrite(set->fd, text.data, text.size, 0);
        if (e == 0 && durability >= HPCW_SYNC_FILE) {
            e = hpcw_i_sys_fsync(set->fd);
            e = e == 0 ? hpcw_i_dir_sync(dir) : e;
            /* Where names may be made, but not read. Without the promise about names this must not keep the set from its own. */
            e = e == EACCES && durability < HPCW_SYNC_DIRECTORY ? 0 : e;
        }
        if (e != 0) {
            s = hpcw_i_fail_sys(err, e, "%s: cannot write %s, which lists the files of the set", path,
                                set->name);
            (void)unlink_intent(set);
        }
    }
    hpcw_i_buf_free(&text);
    if (s != HPCW_OK) {
        set_free(set);
        return s;
    }
    *out = set;
    return HPCW_OK;
}

hpcw_status hpcw_i_set_retire(const struct hpcw_i_set *set, hpcw_sink *first, hpcw_error *err) {
    int e = hpcw_i_sink_retire(first);
    return e == 0 ? HPCW_OK
                  : hpcw_i_fail_sys(err, e, "%s: cannot remove the older file of this name", set->path);
}

hpcw_status hpcw_i_set_end(struct hpcw_i_set *set, hpcw_error *err) {
    int e = set == NULL ? 0 : unlink_intent(set);
    hpcw_status s = e == 0
                        ? HPCW_OK
                        : hpcw_i_fail_sys(err, e,
                                          "%s: is complete, but %s beside it stays until the next open of this "
                                          "name: cannot remove it",
                                          set->path, set->name);
    set_free(set);
    return s;
}

void hpcw_i_set_leave(struct hpcw_i_set *set) {
    set_free(set);
}

hpcw_status hpcw_i_set_begun(hpcw_error *err, const char *path) {
    size_t length = strlen(err->message);
    (void)snprintf(err->message + length, sizeof err->message - length,
                   "; the new files are complete, and the next open of %s gives those their names that still "
                   "have temporary ones",
                   path);
    return err->code;
}
