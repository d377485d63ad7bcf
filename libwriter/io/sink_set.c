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
 * An intent consists of a first line, records, and a last line. The first record is that of the intent itself.
 * The second is that of the older file with the name of the set's first file. Then follows one for each file
 * of the set. A record is "NUMBER DEVICE INODE BIRTH SIZE OWNER NAME" with a NUL; the numbers are hexadecimal.
 * If the last line is missing, the writer died before it renamed a file.
 */
static const char first_line[] = "hpcw set 3\n";
static const char last_line[] = "end\n";
enum { DIGITS = 16, WORDS = 6, LARGEST = 256 << 20 };

/* Longest wait for another writer to rename the files of a set, and time between two tries, ms. Renames take
 * milliseconds; a writer that takes longer was stopped. */
enum { LONGEST_MS = 60000, STEP_MS = 5 };

struct hpcw_i_set {
    struct hpcw_i_dir *dir;
    char *name; /* name of the intent */
    char *path; /* path of the set, for messages */
    int fd;     /* descriptor of the intent, which holds its lock */
    bool found; /* whether the intent exists */
};

/* ---- one file of the set ---- */

/* A file of a set: its directory, and its final and temporary name in that directory. */
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

/* Finds a file of the set: in the set's directory, or where a symbolic link of the final name leads. First looks
 * for the temporary name in the set's directory, as the link may be newer. */
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

/* Renames one file to its final name if it still has the temporary one. EAGAIN: the writer is alive. */
static int rename_one(struct hpcw_i_dir *dir, const char *name, uint64_t number) {
    struct set_file f;
    int fd = -1;
    int e = set_file_find(dir, name, number, &f);
    e = e == 0 ? hpcw_i_sys_open_own(f.at, f.temporary, O_RDWR, false, &fd) : e;
    /* a temporary file that replaces a read-only file cannot be opened for a lock */
    e = e == EACCES || (e == 0 && hpcw_i_sys_own(fd) != EAGAIN)
            ? hpcw_i_sys_rename_at(f.at, f.temporary, f.base)
        : e == 0 ? EAGAIN
                 : e;
    if (e == 0) {
        e = hpcw_i_dir_sync(f.dir);
        /* the directory may be written but not read, so it cannot be opened for a sync */
        e = e == EACCES ? 0 : e;
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
        /* The name is ".hpcw-0000000000000000-BASE.tmp", with BASE as long as file systems allow. It becomes
         * ".hpcw-set-BASE". */
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

/* Appends the record of file `name`. `present` is the name that the file has now. */
static int print_record(struct hpcw_i_buf *text, int at, const char *present, uint64_t number, uint64_t size,
                        unsigned owner, const char *name) {
    char words[WORDS * (DIGITS + 1) + 1];
    struct hpcw_i_mark mark;
    const int e = hpcw_i_sys_mark_at(at, present, &mark);
    (void)snprintf(words, sizeof words,
                   "%016" PRIx64 " %016" PRIx64 " %016" PRIx64 " %016" PRIx64 " %016" PRIx64 " %016x ", number,
                   mark.device, mark.inode, mark.birth_ns, size, owner);
    return e != 0 || (hpcw_i_buf_append_str(text, words) && hpcw_i_buf_append_str(text, name) &&
                      hpcw_i_buf_append(text, "", 1))
               ? e
               : ENOMEM;
}

/* Appends the records of all files of the set. ENOENT: the temporary file of *missing does not exist. */
static int print_files(struct hpcw_i_dir *dir, uint32_t files, const struct hpcw_i_set_file *file,
                       struct hpcw_i_buf *text, const char **missing) {
    int e = 0;
    for (uint32_t k = 0; e == 0 && k < files; k++) {
        struct set_file f;
        struct hpcw_i_entry entry = {.kind = HPCW_I_NOTHING};
        *missing = file[k].path;
        e = set_file_find(dir, hpcw_i_sys_base_of(file[k].path), file[k].number, &f);
        e = e == 0 ? hpcw_i_sys_look_at(f.at, f.temporary, &entry) : e;
        e = e == 0 && entry.kind != HPCW_I_FILE ? ENOENT : e;
        e = e == 0 ? print_record(text, f.at, f.temporary, file[k].number, entry.size, entry.owner,
                                  hpcw_i_sys_base_of(file[k].path))
                   : e;
        set_file_free(&f);
    }
    return e;
}

/* Makes the whole text of the intent. The intent already exists without text, so no other writer replaces the
 * older first file of the set. */
static int print_intent(const struct hpcw_i_set *set, const struct set_file *first,
                        const struct hpcw_i_buf *files, struct hpcw_i_buf *text) {
    int at;
    int e = hpcw_i_buf_append_str(text, first_line) ? hpcw_i_dir_fd(set->dir, &at) : ENOMEM;
    e = e == 0 ? print_record(text, at, set->name, 0, 0, 0, set->name) : e;
    e = e == 0 ? print_record(text, first->at, first->base, 0, 0, 0, first->base) : e;
    return e != 0 ||
                   (hpcw_i_buf_append(text, files->data, files->size) && hpcw_i_buf_append_str(text, last_line))
               ? e
               : ENOMEM;
}

/* Reads the whole intent into `text`, and appends a NUL. */
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

/* A record of an intent. */
struct listed {
    uint64_t number, size, owner;
    struct hpcw_i_mark mark;
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

/* Reads the next record. Returns false if no record follows. */
static bool next_record(const char **at, struct listed *file) {
    uint64_t *const word[WORDS] = {&file->number,        &file->mark.device, &file->mark.inode,
                                   &file->mark.birth_ns, &file->size,        &file->owner};
    for (int k = 0; k < WORDS; k++) {
        if (!next_word(at, word[k])) {
            return false;
        }
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

/* Removes the older first file if the new first file still has its temporary name. */
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

/* Records that follow each other in the text of an intent. */
struct rest {
    const char *at, *end;
};

/* Removes the temporary files of the listed files. A failure is ignored: a file of a dead writer stays, which
 * only takes space. */
static int remove_files(struct hpcw_i_dir *dir, struct rest files) {
    while (files.at < files.end) {
        struct listed file;
        struct set_file f;
        if (!next_record(&files.at, &file)) {
            return EINVAL;
        }
        if (set_file_find(dir, file.name, file.number, &f) == 0) {
            (void)hpcw_i_sys_unlink_unowned(f.at, f.temporary);
        }
        set_file_free(&f);
    }
    return 0;
}

static int rename_all(struct hpcw_i_dir *dir, const struct listed *base, struct rest others) {
    int e = retire(dir, base->name, base->number);
    while (e == 0 && others.at < others.end) {
        struct listed file;
        e = next_record(&others.at, &file) ? rename_one(dir, file.name, file.number) : EINVAL;
    }
    return e == 0 ? rename_one(dir, base->name, base->number) : e;
}

/* ---- the state of a set ---- */

/*
 * Finds out whether the file `name` is the one that a record lists. Inode and birth (time of creation)
 * identify a file: users cannot change them, and no later file has both. The device's number may differ after
 * the next mount, so it is only compared if a birth is unknown.
 */
static int is_listed(int at, const char *name, const struct listed *file, bool *listed) {
    struct hpcw_i_mark mark;
    const int e = hpcw_i_sys_mark_at(at, name, &mark);
    *listed = e == 0 && mark.inode != 0 && mark.inode == file->mark.inode &&
              (mark.birth_ns != 0 && file->mark.birth_ns != 0 ? mark.birth_ns == file->mark.birth_ns
                                                              : mark.device == file->mark.device);
    return e;
}

/* Which name the new file of a record has. LOST: none; WAITS: the temporary name; NAMED: the final name. */
enum new_file { LOST, WAITS, NAMED };

/* Finds which name the new file of a record has. With `copied`, the files in the directory are copies of the
 * listed ones, so only names and sizes are compared. */
static int find_new(const struct set_file *f, const struct listed *file, bool copied, enum new_file *place) {
    struct hpcw_i_entry waits, named = {.kind = HPCW_I_NOTHING};
    bool waiting_is = false, named_is = false;
    *place = LOST;
    int e = hpcw_i_sys_look_at(f->at, f->temporary, &waits);
    e = e == 0 ? hpcw_i_sys_look_at(f->at, f->base, &named) : e;
    e = e == 0 ? is_listed(f->at, f->temporary, file, &waiting_is) : e;
    e = e == 0 ? is_listed(f->at, f->base, file, &named_is) : e;
    if (e != 0) {
        return e;
    }
    /* The temporary file belongs to this user, or to the user to whom root gave it. */
    if (waits.kind == HPCW_I_FILE && (waits.owner == geteuid() || waits.owner == file->owner) &&
        (copied ? waits.size == file->size : waiting_is)) {
        *place = WAITS;
    } else if (copied ? waits.kind == HPCW_I_NOTHING && named.kind == HPCW_I_FILE && named.size == file->size
                      : named_is) {
        *place = NAMED;
    }
    return 0;
}

/* What to do with a set: report an error, rename its new files, or remove them. */
enum verdict { REFUSE, FINISH, GIVE_UP };

struct found {
    uint64_t waits, named, lost;
    bool in_order; /* whether all files with final names come before all files with temporary names */
};

static int count_files(struct hpcw_i_dir *dir, struct rest files, bool copied, struct found *found) {
    int e = 0;
    while (e == 0 && files.at < files.end) {
        struct listed file;
        struct set_file f;
        enum new_file place = LOST;
        if (!next_record(&files.at, &file)) {
            return EINVAL;
        }
        e = set_file_find(dir, file.name, file.number, &f);
        e = e == 0 ? find_new(&f, &file, copied, &place) : e;
        set_file_free(&f);
        found->in_order = found->in_order && (place != NAMED || found->waits == 0);
        found->waits += place == WAITS;
        found->named += place == NAMED;
        found->lost += place == LOST;
    }
    return e;
}

/* The records of an intent: its own, that of the older first file, and that of the new first file. */
struct intent {
    struct listed itself, older, base;
    struct rest all, others; /* `all`: records of all files of the set; `others`: those after the first file */
};

static bool take_apart(const struct hpcw_i_buf *text, struct intent *intent) {
    struct rest rest = {(const char *)text->data + sizeof first_line - 1,
                        (const char *)text->data + text->size - (sizeof last_line - 1)};
    /* The last record ends with a NUL, so no record goes on after the records. */
    if (rest.end[-1] != '\0' || !next_record(&rest.at, &intent->itself) ||
        !next_record(&rest.at, &intent->older)) {
        return false;
    }
    intent->all = intent->others = rest;
    return next_record(&intent->others.at, &intent->base);
}

/*
 * Decides what to do with a set whose writer is dead. Times of files are not used, as touching, linking or
 * restoring a file changes them.
 *
 * If the intent is the very file that its writer created, each file of the set is the listed one or lost. The
 * set is given up if no file has its final name yet and either all new files are lost, or somebody has
 * replaced the first file, as from a backup. It is finished if no file is lost and the first one was not
 * replaced. Otherwise it is refused.
 *
 * If the intent is another file, the directory was copied or restored. Then the set is finished if each file
 * has its temporary or final name and the listed size, and these names can come from an interrupted series of
 * renames.
 */
static int judge(const struct hpcw_i_set *set, const struct intent *intent, enum verdict *verdict) {
    struct found others = {.in_order = true}, base = {.in_order = true};
    struct hpcw_i_entry named = {.kind = HPCW_I_NOTHING};
    struct set_file f;
    int at;
    bool original, older = false;
    *verdict = REFUSE;
    int e = hpcw_i_dir_fd(set->dir, &at);
    e = e == 0 ? is_listed(at, set->name, &intent->itself, &original) : e;
    if (e != 0) {
        return e;
    }
    const bool copied = !original;
    e = count_files(set->dir, intent->others, copied, &others);
    e = e == 0 ? count_files(set->dir, (struct rest){intent->all.at, intent->others.at}, copied, &base) : e;
    if (e != 0) {
        return e;
    }
    e = set_file_find(set->dir, intent->base.name, intent->base.number, &f);
    e = e == 0 ? hpcw_i_sys_look_at(f.at, f.base, &named) : e;
    e = e == 0 ? is_listed(f.at, f.base, &intent->older, &older) : e;
    set_file_free(&f);
    if (e != 0) {
        return e;
    }
    const bool taken = base.named == 0 && named.kind != HPCW_I_NOTHING;
    const bool replaced = taken && !copied && !older;
    if (others.named + base.named == 0 && (replaced || others.waits + base.waits == 0)) {
        *verdict = GIVE_UP;
    } else if (others.lost + base.lost == 0 &&
               (copied
                    ? others.in_order && (base.named == 0 || others.waits == 0) && (!taken || others.named == 0)
                    : !replaced)) {
        *verdict = FINISH;
    }
    return 0;
}

/* Finishes or gives up a set according to its complete intent. The first file is renamed last. ESTALE: the set
 * is refused, as old and new files would be mixed. */
static int do_intent(const struct hpcw_i_set *set, const struct hpcw_i_buf *text) {
    struct intent intent;
    enum verdict verdict;
    if (!take_apart(text, &intent)) {
        return EINVAL;
    }
    int e = judge(set, &intent, &verdict);
    return e != 0               ? e
           : verdict == GIVE_UP ? remove_files(set->dir, intent.all)
           : verdict == FINISH  ? rename_all(set->dir, &intent.base, intent.others)
                                : ESTALE;
}

/* Evaluates the error `e` with which the intent could not be opened. 0: there is no intent. EPERM: a file of
 * its name exists, but is no file of this user. */
static int why_not(struct hpcw_i_set *set, int at, int e) {
    struct hpcw_i_entry entry = {.kind = HPCW_I_NOTHING};
    if (e == EACCES && hpcw_i_sys_look_at(at, set->name, &entry) == 0 && entry.kind != HPCW_I_NOTHING) {
        set->found = true;
        return entry.owner != geteuid() ? EPERM : e;
    }
    return e == ENOENT ? 0 : e == EEXIST || e == ELOOP ? EPERM : e;
}

/* Finishes or gives up a set if its writer is dead, and removes the intent. EAGAIN: the writer is alive. */
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
           : e == ESTALE
               ? hpcw_i_fail(
                     err, HPCW_ETRUNCATED,
                     "%s: expected all new files of the set of a writer that died, as %s lists them, got "
                     "older, other or missing ones among them: somebody removed its temporary file or "
                     "replaced a file; put that back, or all files of one set, and only then remove %s",
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
    hpcw_status s = finish_in(dir, path, hpcw_i_sys_base_of(path), err);
    /* If the path is a symbolic link, the set may have the name of its target. */
    int e = s == HPCW_OK ? hpcw_i_dir_follow(dir, hpcw_i_sys_base_of(path), &target, &base) : 0;
    if (e == 0 && s == HPCW_OK && (target != dir || strcmp(base, hpcw_i_sys_base_of(path)) != 0)) {
        s = finish_in(target, path, base, err);
    }
    hpcw_i_dir_release(target);
    hpcw_i_free(base);
    return e == 0 || e == ENOENT || e == ENOTDIR || e == ELOOP
               ? s
               : hpcw_i_fail_sys(err, e, "%s: cannot look for what a writer left that died", path);
}

/* ---- a writer ---- */

/* Creates an empty intent and locks it. If the set has an intent already, waits for its writer, or finishes the
 * set if that writer is dead. */
static hpcw_status create_intent(struct hpcw_i_set *set, hpcw_error *err) {
    int e = EEXIST;
    hpcw_status s = HPCW_OK;
    for (int ms = 0; s == HPCW_OK && e == EEXIST && ms < LONGEST_MS; ms += STEP_MS) {
        int at;
        e = hpcw_i_dir_fd(set->dir, &at);
        e = e == 0 ? hpcw_i_sys_open_own(at, set->name, O_RDWR | O_CREAT | O_EXCL, true, &set->fd) : e;
        if (e == 0 && hpcw_i_sys_own(set->fd) == EAGAIN) {
            /* another process locked the intent, as it takes the writer for dead */
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
    struct hpcw_i_buf records = {0}, text = {0};
    *out = NULL;
    if (dir == NULL) {
        return hpcw_i_fail(
            err, HPCW_ENOENT,
            "%s: expected its directory when it was looked up at the open, got it a moment later: "
            "write it again",
            path);
    }
    struct hpcw_i_set *set = set_new(dir, path, hpcw_i_sys_base_of(path));
    const char *missing = path;
    struct set_file first;
    int e = set_file_find(dir, hpcw_i_sys_base_of(file->path), file->number, &first);
    e = e != 0 ? e : set == NULL ? ENOMEM : print_files(dir, files, file, &records, &missing);
    hpcw_status s =
        e == 0        ? create_intent(set, err)
        : e == ENOMEM ? hpcw_i_fail_memory(err, path, files, "names")
        : e == ENOENT
            ? hpcw_i_fail(err, HPCW_ENOENT,
                          "%s: expected its temporary file beside it, got none: somebody removed it", missing)
            : hpcw_i_fail_sys(err, e, "%s: cannot look at its temporary file", missing);
    if (s == HPCW_OK) {
        e = print_intent(set, &first, &records, &text);
        e = e == 0 ? hpcw_i_sys_pwrite(set->fd, text.data, text.size, 0) : e;
        if (e == 0 && durability >= HPCW_SYNC_FILE) {
            e = hpcw_i_sys_fsync(set->fd);
            e = e == 0 ? hpcw_i_dir_sync(dir) : e;
            /* The directory may be written but not read, so it cannot be opened for a sync. That is only an
             * error if names must be durable. */
            e = e == EACCES && durability < HPCW_SYNC_DIRECTORY ? 0 : e;
        }
        if (e != 0) {
            s = hpcw_i_fail_sys(err, e, "%s: cannot write %s, which lists the files of the set", path,
                                set->name);
            (void)unlink_intent(set);
        }
    }
    set_file_free(&first);
    hpcw_i_buf_free(&records);
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
