/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/dataset/directory/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sink.h"

#define PART "part."

enum {
    TAG = 16, /* hex digits in the name of a part's lease file */
    TEXT = 2048,
    VALUE = 512,
    LOOK_AGAIN_MS = 20,
    PATIENCE = 3000, /* retries, LOOK_AGAIN_MS apart, while another part examines the directory */
    MOST_TRIES = 100
};

static void wait_a_little(void) {
    (void)nanosleep(&(struct timespec){.tv_nsec = LOOK_AGAIN_MS * 1000000}, NULL);
}

/* For messages. */
static void state_path(const struct gen_run *run, const char *name, char path[GEN_DIRECTORY_PATH]) {
    (void)snprintf(path, GEN_DIRECTORY_PATH, "%s/" GEN_STATE_DIR "/%s", run->directory, name);
}

static void temporary_name(char name[GEN_LEASE_NAME]) {
    (void)snprintf(name, GEN_LEASE_NAME, ".hpcw-%016" PRIx64 "-%016" PRIx64 ".tmp", hpcw_i_sink_random(),
                   (uint64_t)0);
}

/* Sets *is to whether the file `name` in .hpcw still is the one with this id. Returns 0 or an errno value. */
static int is_still(const struct gen_lease *l, const char *name, const struct hpcw_i_file_id *id, bool *is) {
    struct hpcw_i_entry entry;
    int at;
    int e = hpcw_i_dir_fd(l->state, &at);
    e = e == 0 ? hpcw_i_sys_look_at(at, name, &entry) : e;
    *is =
        e == 0 && entry.kind != HPCW_I_NOTHING && entry.id.device == id->device && entry.id.inode == id->inode;
    return e;
}

/* ---- the text ---- */

static void host_name(char host[VALUE]) {
    if (gethostname(host, 256) != 0) {
        host[0] = '\0';
    }
    host[255] = '\0';
}

/* Writes a number that identifies this boot of this host; 0 if not `known`. A lock is visible only within one boot
 * of one host, and two hosts may have the same name. */
static void boot_of(bool known, char boot[VALUE]) {
    (void)snprintf(boot, VALUE, "%06" PRIx64, known ? hpcw_i_sys_host() : 0);
}

/* Writes the text of a lease. Without a lock, the text marks the host as unknown: other runs must not conclude
 * that this run is dead. */
static void describe(const struct gen_run *run, const char *what, bool locked, char text[TEXT]) {
    const struct gen_dataset *d = run->dataset;
    char host[VALUE];
    char boot[VALUE];
    char part[64] = "";
    host_name(host);
    boot_of(locked, boot);
    if (run->parts > 1) {
        (void)snprintf(part, sizeof part, ", part %u/%u", run->part + 1, run->parts);
    }
    (void)snprintf(text, TEXT,
                   "A run of hpcgen that writes into this directory.\n"
                   "host = %s%s\nboot = %s\npid = %ld\nrun = %s, %u ranks, seed %" PRIu64
                   ", preset %s, scale %s%s\nparts = %s\nfingerprint = %s\n",
                   host, locked ? "" : " (without locks)", boot, (long)getpid(), what, d->ranks, d->seed,
                   d->preset, gen_scale_name[d->scale], part, run->parts > 1 ? "yes" : "no", run->fingerprint);
}

/* Returns the value of a line "key = value"; empty: there is none. */
static void value_of(const char *text, const char *key, char value[VALUE]) {
    char start[32];
    (void)snprintf(start, sizeof start, "\n%s = ", key);
    const char *found = strstr(text, start);
    size_t n = 0;
    if (found != NULL) {
        found += strlen(start);
        n = strcspn(found, "\n");
        n = n < VALUE ? n : VALUE - 1;
        memcpy(value, found, n);
    }
    value[n] = '\0';
}

/* ---- the lease of another run ---- */

enum life { GONE, ALIVE, DEAD, UNKNOWN };

struct other {
    char name[256];
    int fd; /* open descriptor, so that the inode is not reused; -1: the file is not open */
    struct hpcw_i_file_id id;
    enum life life;
    char text[TEXT];
};

static void other_close(struct other *o) {
    if (o->fd >= 0) {
        (void)hpcw_i_sys_close(o->fd);
        o->fd = -1;
    }
}

/* Reads the lease file o->name, and finds whether its run is alive. */
static hpcw_status look_at(const struct gen_lease *l, struct other *o, hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    char boot[VALUE];
    char here[VALUE];
    size_t size = 0;
    bool held = false;
    int at;
    o->life = GONE;
    state_path(l->run, o->name, path);
    int e = hpcw_i_dir_fd(l->state, &at);
    e = e == 0 ? hpcw_i_sys_open_own(at, o->name, O_RDWR, false, &o->fd) : e;
    if (e == ENOENT) {
        return HPCW_OK;
    }
    if (e == EEXIST || e == ELOOP) {
        return hpcw_i_fail(err, HPCW_EEXIST, "%s: expected the file of a run, got %s: remove it", path,
                           e == ELOOP ? "a symbolic link" : "something else");
    }
    e = e == 0 ? hpcw_i_sys_id(o->fd, &o->id) : e;
    e = e == 0 ? hpcw_i_sys_pread(o->fd, o->text, sizeof o->text - 1, 0, &size) : e;
    if (e != 0) {
        other_close(o);
        return hpcw_i_fail_sys(err, e, "%s: cannot read who writes here", path);
    }
    o->text[size] = '\0';
    value_of(o->text, "boot", boot);
    boot_of(true, here);
    if (hpcw_i_sys_locked(o->fd, &held) != 0) {
        o->life = UNKNOWN;
    } else if (held) {
        o->life = ALIVE;
    } else {
        o->life = strcmp(boot, here) == 0 && strcmp(boot, "000000") != 0 ? DEAD : UNKNOWN;
    }
    return HPCW_OK;
}

static hpcw_status refuse(const struct gen_run *run, const struct other *o, hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    char host[VALUE];
    char pid[VALUE];
    char what[VALUE];
    value_of(o->text, "host", host);
    value_of(o->text, "pid", pid);
    value_of(o->text, "run", what);
    state_path(run, o->name, path);
    return o->life == ALIVE
               ? hpcw_i_fail(err, HPCW_EEXIST,
                             "%s: expected no other run, got one that writes here: process %s on %s (%s): wait "
                             "for it, or choose another --out",
                             run->directory, pid, host, what)
               : hpcw_i_fail(err, HPCW_EEXIST,
                             "%s: expected no other run, got %s of process %s on %s (%s), and cannot know "
                             "from here whether it still runs: if it does not, --takeover",
                             run->directory, path, pid, host, what);
}

/* Locks the lease file of a dead run and removes it. Because of the lock, only one of two runs removes the
 * file, and no run removes a newer lease. Without locks, two runs with --takeover may remove each other's
 * lease; gen_lease_check then fails for the run that lost its lease. */
static hpcw_status remove_other(const struct gen_lease *l, const struct other *o, hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    bool is = false;
    int at;
    const bool locked = hpcw_i_sys_lock(o->fd, 0) != EAGAIN;
    int e = locked ? is_still(l, o->name, &o->id, &is) : 0;
    if (is) { /* if false, another run removed the file first, and the caller looks again */
        e = hpcw_i_dir_fd(l->state, &at);
        e = e == 0 ? hpcw_i_sys_unlink_at(at, o->name, 0) : e;
    }
    state_path(l->run, o->name, path);
    return e == 0 || e == ENOENT ? HPCW_OK
                                 : hpcw_i_fail_sys(err, e, "%s: cannot remove what a run that died left", path);
}

/* Returns whether a part of the same dataset holds the lease for a short time. */
static bool is_sibling(const struct gen_run *run, const struct other *o) {
    char parts[VALUE];
    char fingerprint[VALUE];
    value_of(o->text, "parts", parts);
    value_of(o->text, "fingerprint", fingerprint);
    return run->parts > 1 && strcmp(parts, "yes") == 0 && strcmp(fingerprint, run->fingerprint) == 0;
}

/* Removes the lease file o->name if its run is dead or, with --takeover, if nobody can tell whether it is dead. */
static hpcw_status clear_away(const struct gen_lease *l, struct other *o, unsigned *patience, hpcw_error *err) {
    const struct gen_run *run = l->run;
    hpcw_status s = look_at(l, o, err);
    if (s == HPCW_OK && o->life == ALIVE) {
        /* Another run may hold the lock for a moment while it removes a dead run's file. */
        other_close(o);
        wait_a_little();
        s = look_at(l, o, err);
    }
    if (s == HPCW_OK && o->life != GONE) {
        if (o->life == DEAD || (o->life == UNKNOWN && run->takeover)) {
            s = remove_other(l, o, err);
        } else if (is_sibling(run, o) && *patience > 0) {
            *patience -= 1;
            wait_a_little();
        } else {
            s = refuse(run, o, err);
        }
    }
    other_close(o);
    return s;
}

static bool is_part(const char *name) {
    const size_t n = sizeof PART - 1;
    return strncmp(name, PART, n) == 0 && strlen(name) == n + TAG &&
           strspn(name + n, "0123456789abcdef") == TAG;
}

bool gen_lease_is_name(const char *name) {
    return strcmp(name, GEN_LEASE) == 0 || is_part(name);
}

/* Fails if a part is alive. No new part can start while this run holds the lease. */
static hpcw_status check_parts(const struct gen_lease *l, hpcw_error *err) {
    struct other o = {.fd = -1};
    struct hpcw_i_listing *listing;
    const char *name;
    int at;
    int e = hpcw_i_dir_fd(l->state, &at);
    e = e == 0 ? hpcw_i_sys_list_at(at, ".", &listing) : e;
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s/" GEN_STATE_DIR ": cannot open the directory", l->run->directory);
    }
    hpcw_status s = HPCW_OK;
    while (s == HPCW_OK && (e = hpcw_i_sys_list_next(listing, &name)) == 0 && name != NULL) {
        if (is_part(name)) {
            unsigned patience = 0;
            (void)snprintf(o.name, sizeof o.name, "%s", name);
            s = clear_away(l, &o, &patience, err);
        }
    }
    hpcw_i_sys_list_free(listing);
    return e == 0
               ? s
               : hpcw_i_fail_sys(err, e, "%s/" GEN_STATE_DIR ": cannot read the directory", l->run->directory);
}

/* ---- the lease of this run ---- */

/* Holds .hpcw open. A symbolic link of this name is refused. */
static int hold_state(struct gen_lease *l) {
    return hpcw_i_below_hold(l->run->below.root, GEN_STATE_DIR "/" GEN_LEASE, &l->state);
}

/* Holds the dataset's directory and its .hpcw open. */
static int hold(struct gen_lease *l) {
    struct hpcw_i_sink_below *below = &l->run->below;
    *below = (struct hpcw_i_sink_below){.path = l->run->directory, .durability = l->run->durability};
    int e = hpcw_i_dir_hold(l->run->directory, &below->root);
    return e == 0 ? hold_state(l) : e;
}

static void let_go(struct gen_lease *l) {
    hpcw_i_dir_release(l->state);
    hpcw_i_dir_release(l->run->below.root);
    l->state = l->run->below.root = NULL;
}

static hpcw_status fail_state(const struct gen_run *run, int e, hpcw_error *err) {
    return e == ELOOP
               ? hpcw_i_fail(err, HPCW_EEXIST,
                             "%s/" GEN_STATE_DIR ": expected a directory, got a symbolic link: nothing is "
                             "written through links there",
                             run->directory)
               : hpcw_i_fail_sys(err, e, "%s/" GEN_STATE_DIR ": cannot create the directory", run->directory);
}

static hpcw_status make_directories(struct gen_lease *l, bool *again, hpcw_error *err) {
    struct gen_run *run = l->run;
    const int made = hpcw_i_sys_mkdir(run->directory, 0777);
    struct hpcw_i_entry entry;
    int at;
    if (made != 0 && made != EEXIST) {
        return hpcw_i_fail_sys(err, made, "%s: cannot create the directory", run->directory);
    }
    int e = hold(l);
    if (made == 0 && run->below.root != NULL) {
        int i = hpcw_i_dir_fd(run->below.root, &at);
        i = i == 0 ? hpcw_i_sys_id(at, &l->directory) : i;
        l->made_directory = i == 0;
        if (i != 0) {
            let_go(l);
            (void)hpcw_i_sys_rmdir(run->directory);
            return hpcw_i_fail_sys(err, i, "%s: cannot look at the new directory", run->directory);
        }
    }
    if (e == ENOENT && made == EEXIST && run->below.root == NULL &&
        hpcw_i_sys_look(run->directory, false, &entry) == 0 && entry.kind == HPCW_I_LINK) {
        return hpcw_i_fail(err, HPCW_ENOENT,
                           "%s: expected a directory or none, got a symbolic link that leads to none: make "
                           "that directory, or choose another --out",
                           run->directory);
    }
    if (e == ENOENT && run->below.root != NULL) {
        e = hpcw_i_below_make(run->below.root, GEN_STATE_DIR, false, NULL);
        e = e == 0 || e == EEXIST ? hold_state(l) : e;
    }
    *again = e == ENOENT;
    if (*again) {
        let_go(l);
    }
    return e == 0 || *again ? HPCW_OK : fail_state(run, e, err);
}

/* Removes the lease if it is still that of this run. */
static void remove_own(const struct gen_lease *l) {
    char path[GEN_DIRECTORY_PATH];
    bool is;
    int at;
    int e = is_still(l, l->name, &l->id, &is);
    if (is) {
        e = hpcw_i_dir_fd(l->state, &at);
        e = e == 0 ? hpcw_i_sys_unlink_at(at, l->name, 0) : e;
    }
    if (e != 0 && e != ENOENT && l->run->left != NULL) {
        state_path(l->run, l->name, path);
        (void)hpcw_i_fail_sys(&l->run->left->lease, e, "%s: cannot remove the lease of this run", path);
    }
}

/* Releases everything taken so far. Removes the directories if they are empty. */
static void give_up(struct gen_lease *l) {
    if (l->fd >= 0) {
        if (l->owned) {
            remove_own(l);
        }
        (void)hpcw_i_sys_close(l->fd);
        l->fd = -1;
    }
    /* The removal fails if .hpcw has entries, for instance of a run that has just begun. */
    if (l->owned && l->run->below.root != NULL) {
        (void)hpcw_i_below_rmdir(l->run->below.root, GEN_STATE_DIR);
    }
    /* The directory may have been moved. Another directory of this name is not removed. */
    if (l->made_directory && hpcw_i_sys_is_at(AT_FDCWD, l->run->directory, &l->directory)) {
        (void)hpcw_i_sys_rmdir(l->run->directory);
    }
    if (l->run != NULL) {
        let_go(l);
    }
}

/* Creates the lease file under a temporary name, locks it and writes its text. So no other run sees an
 * incomplete lease. *again: another run ended meanwhile and removed the directory. */
static hpcw_status create(struct gen_lease *l, const char *what, bool *again, hpcw_error *err) {
    char text[TEXT];
    char path[GEN_DIRECTORY_PATH];
    hpcw_status s = make_directories(l, again, err);
    if (s != HPCW_OK || *again) {
        return s;
    }
    int at;
    temporary_name(l->name);
    int e = hpcw_i_dir_fd(l->state, &at);
    e = e == 0 ? hpcw_i_sys_open_own(at, l->name, O_RDWR | O_CREAT | O_EXCL, true, &l->fd) : e;
    *again = e == ENOENT;
    if (*again) {
        return HPCW_OK;
    }
    if (e == 0) {
        e = hpcw_i_sys_id(l->fd, &l->id);
        if (e != 0) { /* without its id, this run could not recognise the file as its own */
            (void)hpcw_i_sys_unlink_at(at, l->name, 0);
        }
    }
    if (e == 0) {
        describe(l->run, what, hpcw_i_sys_lock(l->fd, 0) == 0, text);
        e = hpcw_i_sys_pwrite(l->fd, text, strlen(text), 0);
        e = e == 0 ? hpcw_i_sys_show(l->fd) : e;
    }
    state_path(l->run, l->name, path);
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot create", path);
}

static hpcw_status name_it(struct gen_lease *l, const char *name, int *e, hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    int at;
    *e = hpcw_i_dir_fd(l->state, &at);
    *e = *e == 0 ? hpcw_i_sys_rename_new_at(at, l->name, name) : *e;
    if (*e == 0) {
        (void)snprintf(l->name, sizeof l->name, "%s", name);
    }
    state_path(l->run, name, path);
    return *e == 0 || *e == EEXIST || *e == ENOENT
               ? HPCW_OK
               : hpcw_i_fail_sys(err, *e, "%s: cannot take the lease on the directory", path);
}

hpcw_status gen_lease_take(struct gen_run *run, const char *what, struct gen_lease *l, hpcw_error *err) {
    struct other o = {.name = GEN_LEASE, .fd = -1};
    unsigned patience = PATIENCE;
    hpcw_status s = HPCW_OK;
    int e = EEXIST;
    *l = (struct gen_lease){.run = run, .fd = -1, .owned = true};
    for (unsigned tries = 0; s == HPCW_OK && e != 0;) {
        bool again = false;
        unsigned before = patience;
        s = l->fd < 0 ? create(l, what, &again, err) : HPCW_OK;
        if (s == HPCW_OK && !again) {
            s = name_it(l, GEN_LEASE, &e, err);
        }
        if (s == HPCW_OK && (again || e == ENOENT)) {
            give_up(l); /* another run ended and removed the directory with the temporary file */
        } else if (s == HPCW_OK && e == EEXIST) {
            s = clear_away(l, &o, &patience, err);
        }
        tries += patience == before;
        if (s == HPCW_OK && e != 0 && tries == MOST_TRIES) {
            s = hpcw_i_fail(err, HPCW_EEXIST, "%s: other runs take the lease on the directory all the time",
                            run->directory);
        }
    }
    if (s == HPCW_OK && run->parts == 1) {
        s = check_parts(l, err);
    }
    if (s != HPCW_OK) {
        gen_lease_end(l);
    }
    return s;
}

hpcw_status gen_lease_share(struct gen_lease *l, hpcw_error *err) {
    char name[64];
    int e;
    (void)snprintf(name, sizeof name, PART "%016" PRIx64, hpcw_i_sink_random());
    hpcw_status s = name_it(l, name, &e, err);
    return s == HPCW_OK && e != 0
               ? hpcw_i_fail_sys(err, e, "%s/" GEN_STATE_DIR "/%s: cannot give way to other parts",
                                 l->run->directory, name)
               : s;
}

hpcw_status gen_lease_hold(struct gen_lease *l, struct gen_run *run, hpcw_error *err) {
    char name[GEN_LEASE_NAME] = "";
    const int process = run->comm->process;
    if (run->comm->size == 1) {
        return HPCW_OK;
    }
    if (process == 0) {
        (void)snprintf(name, sizeof name, "%s", l->name);
    }
    hpcw_status s = hpcw_i_comm_bcast(run->comm, name, sizeof name, 0, err);
    if (s == HPCW_OK && process > 0) {
        *l = (struct gen_lease){.run = run, .fd = -1};
        int at;
        int e = hold(l);
        if (e != 0 && e != ENOENT) {
            s = fail_state(run, e, err);
        }
        if (e == 0) {
            e = hpcw_i_dir_fd(l->state, &at);
            e = e == 0 ? hpcw_i_sys_open_own(at, name, O_RDWR, false, &l->fd) : e;
            if (e != 0 && e != ENOENT) {
                s = hpcw_i_fail_sys(err, e, "%s/" GEN_STATE_DIR "/%s: cannot open", run->directory, name);
            }
        }
        if (e == 0) {
            /* A failure does not matter, as process 0 has the lease. */
            (void)hpcw_i_sys_lock(l->fd, (uint64_t)process);
        }
        if (e == ENOENT) {
            s = hpcw_i_fail(err, HPCW_EMISMATCH,
                            "%s: expected the same directory on all processes, got one without the lease of "
                            "process 0: use an absolute path on a file system that all hosts share",
                            run->directory);
        }
    }
    return hpcw_i_agree(run->comm, s, NULL, err);
}

hpcw_status gen_lease_check(const struct gen_lease *l, hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    state_path(l->run, l->name, path);
    bool is;
    int e = is_still(l, l->name, &l->id, &is);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot look at the lease of this run", path);
    }
    if (is) {
        return HPCW_OK;
    }
    return hpcw_i_fail(
        err, HPCW_ESTATE,
        "%s: expected the lease of this run in %s, got none or that of another: another run took "
        "the directory over",
        l->run->directory, path);
}

void gen_lease_end(struct gen_lease *l) {
    give_up(l);
    *l = (struct gen_lease){.fd = -1};
}
