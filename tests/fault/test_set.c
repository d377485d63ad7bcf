/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a set of files over an older one. The writer dies before each of its calls, or a rename fails. A reader
 * finds the old container or the new one, never a mixture. The next open for writing removes what the dead writer
 * left. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <hpcw/hpcw.h>
#include <hpcw/sion_read.h>

#include "libwriter/io/sys.h"
#include "tests/support/files.h"

enum { TASKS = 6, DEAD = 7 };

static char path[300];

static int set_up(void **state) {
    (void)scratch_set_up(state);
    (void)snprintf(path, sizeof path, "%s/set", scratch);
    return 0;
}

static int tear_down(void **state) {
    hpcw_i_sys_gate = NULL;
    return scratch_tear_down(state);
}

static hpcw_status open_set(uint32_t files, hpcw_durability durability, hpcw_sion **h, hpcw_error *err) {
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    o.count = TASKS;
    o.files = files;
    o.chunk_size = 64;
    o.fs_block_size = 64;
    o.durability = durability;
    return hpcw_sion_open(path, NULL, &o, h, err);
}

/* Every task writes the same word. */
static hpcw_status write_words(hpcw_sion *h, const char *word, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint32_t t = 0; s == HPCW_OK && t < TASKS; t++) {
        s = hpcw_sion_write(h, t, word, strlen(word), err);
    }
    return s;
}

static hpcw_status write_set(uint32_t files, const char *word, hpcw_durability durability, hpcw_error *err) {
    hpcw_sion *h;
    hpcw_status s = open_set(files, durability, &h, err);
    s = s == HPCW_OK ? write_words(h, word, err) : s;
    s = s == HPCW_OK ? hpcw_sion_close(h, err) : s;
    hpcw_sion_free(h);
    return s;
}

/* Returns the word of the container; "none" if there is no container. Fails if tasks have different words. */
static const char *read_set(void) {
    static char word[TASKS][16];
    hpcw_sion_reader *r;
    hpcw_error err;
    hpcw_status s = hpcw_sion_reader_open(path, NULL, 0, NULL, &r, &err);
    if (s == HPCW_ENOENT) {
        return "none";
    }
    for (uint32_t t = 0; s == HPCW_OK && t < TASKS; t++) {
        size_t got = 0;
        s = hpcw_sion_reader_read(r, t, word[t], sizeof word[t] - 1, &got, &err);
        word[t][got] = '\0';
        if (s == HPCW_OK && strcmp(word[t], word[0]) != 0) {
            fail_msg("a mixture: task 0 has %s, task %u has %s", word[0], t, word[t]);
        }
    }
    if (s != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    hpcw_sion_reader_free(r);
    return word[0];
}

static unsigned long calls_left;
static enum hpcw_i_sys_call failing;

static int die_at_last(enum hpcw_i_sys_call call, size_t *size) {
    (void)call;
    (void)size;
    if (--calls_left == 0) {
        _exit(DEAD);
    }
    return 0;
}

static int fail_at_last(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    return call == failing && --calls_left == 0 ? EIO : 0;
}

/* Writes a set in a child process that dies before its n-th call. Returns false if it makes fewer calls. */
static bool dies(unsigned long n, uint32_t files, hpcw_durability durability) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        calls_left = n;
        hpcw_i_sys_gate = die_at_last;
        hpcw_error err;
        _exit(write_set(files, "new", durability, &err) == HPCW_OK ? 0 : 1);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    assert_true(WEXITSTATUS(status) == DEAD || WEXITSTATUS(status) == 0);
    return WEXITSTATUS(status) == DEAD;
}

static void make_older(uint32_t files) {
    hpcw_error err;
    if (files > 0 && write_set(files, "old", HPCW_SYNC_NONE, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
}

static void dies_before_each_call(void **state) {
    static const uint32_t older[] = {0, 3, 2, 1};
    for (size_t i = 0; i < 4; i++) {
        for (int durability = 0; durability < (i == 1 ? 3 : 1); durability++) {
            unsigned found_new = 0, found_old = 0;
            bool died = true;
            for (unsigned long n = 1; died; n++) {
                (void)set_up(state);
                make_older(older[i]);
                died = dies(n, 3, (hpcw_durability)durability);
                const char *word = read_set();
                const char *want = older[i] > 0 ? "old" : "none";
                if (strcmp(word, "new") != 0 && strcmp(word, want) != 0) {
                    fail_msg("call %lu: expected new or %s, got %s", n, want, word);
                }
                found_new += died && strcmp(word, "new") == 0;
                found_old += strcmp(word, want) == 0;
                /* Leftovers of the dead writer must not stay. */
                hpcw_error err;
                if (write_set(3, "next", HPCW_SYNC_NONE, &err) != HPCW_OK) {
                    fail_msg("call %lu: %s", n, err.message);
                }
                assert_string_equal(read_set(), "next");
                assert_int_equal(count_entries(scratch), 3);
                scratch_remove(scratch);
            }
            assert_true(found_new > 3 &&
                        found_old >
                            10); /* some writers died before readers see the new set, and some after it */
            (void)set_up(state);
        }
    }
}

/* After a writer's death, the set is opened by another writer, not by a reader. */
static void a_writer_finishes_what_another_began(void **state) {
    bool died = true;
    unsigned finished = 0;
    for (unsigned long n = 1; died; n++) {
        (void)set_up(state);
        make_older(3);
        died = dies(n, 3, HPCW_SYNC_NONE);
        hpcw_sion_options o;
        hpcw_sion_options_init(&o);
        o.count = o.files = 3;
        hpcw_sion *h;
        assert_int_equal(hpcw_sion_open(path, NULL, &o, &h, NULL), HPCW_OK);
        hpcw_sion_free(h); /* the writer gives up */
        const char *word = read_set();
        finished += died && strcmp(word, "new") == 0;
        assert_true(strcmp(word, "new") == 0 || strcmp(word, "old") == 0);
        assert_int_equal(count_entries(scratch), 3);
        scratch_remove(scratch);
    }
    assert_true(finished > 3);
    (void)set_up(state);
}

/* A rename, unlink or fsync fails, and the writer lives on. No data are lost, and the next open completes the
 * set. */
static void renames_and_removals_fail(void **state) {
    static const enum hpcw_i_sys_call kinds[] = {HPCW_I_SYS_RENAME, HPCW_I_SYS_UNLINK, HPCW_I_SYS_FSYNC};
    for (size_t k = 0; k < 3; k++) {
        bool failed = true;
        for (unsigned long n = 1; failed; n++) {
            (void)set_up(state);
            make_older(2);
            hpcw_error err = {.message = ""};
            failing = kinds[k];
            calls_left = n;
            hpcw_i_sys_gate = fail_at_last;
            hpcw_status s = write_set(3, "new", HPCW_SYNC_FILE, &err);
            hpcw_i_sys_gate = NULL;
            failed = calls_left == 0 || calls_left > n;
            assert_int_equal(s, failed ? HPCW_EIO : HPCW_OK);
            if (s != HPCW_OK &&
                access(path, F_OK) !=
                    0) { /* the older file 0 is gone, and the new file 0 has no final name yet */
                assert_non_null(strstr(err.message, "gives those their names that still have temporary ones"));
            }
            const char *word = read_set();
            assert_true(strcmp(word, "new") == 0 || (failed && strcmp(word, "old") == 0));
            assert_int_equal(write_set(3, "next", HPCW_SYNC_NONE, NULL), HPCW_OK);
            assert_string_equal(read_set(), "next");
            assert_int_equal(count_entries(scratch), 3);
            scratch_remove(scratch);
        }
        (void)set_up(state);
    }
}

/* Two writers at once: the container is from one of them. */
static void two_writers(void **state) {
    (void)state;
    for (int round = 0; round < 30; round++) {
        pid_t child[2];
        for (int i = 0; i < 2; i++) {
            child[i] = fork();
            if (child[i] == 0) {
                _exit(write_set(3, i == 0 ? "one" : "two", HPCW_SYNC_NONE, NULL) != HPCW_OK);
            }
        }
        for (int i = 0; i < 2; i++) {
            int status;
            assert_int_equal(waitpid(child[i], &status, 0), child[i]);
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        }
        const char *word = read_set();
        assert_true(strcmp(word, "one") == 0 || strcmp(word, "two") == 0);
        assert_int_equal(count_entries(scratch), 3);
    }
}

/* The set's name is a symbolic link to an older set, whose other files are beside the target. */
static void a_link_to_a_set(void **state) {
    (void)state;
    char link[300], plain[300];
    hpcw_error err;
    (void)snprintf(link, sizeof link, "%s/link", scratch);
    memcpy(plain, path, sizeof plain);
    make_older(3);
    assert_int_equal(symlink("set", link), 0);
    memcpy(path, link, sizeof path);
    assert_int_equal(write_set(3, "new", HPCW_SYNC_NONE, &err), HPCW_EEXIST);
    assert_non_null(strstr(err.message, "got one to a set, with set.000001 beside it"));
    memcpy(path, plain, sizeof path);
    assert_string_equal(read_set(), "old");
    assert_int_equal(count_entries(scratch), 4);
}

enum { USER = 1001, OTHER = 1002 };

static void give(const char *name, uid_t user) {
    char file[400];
    (void)snprintf(file, sizeof file, "%s/%s", scratch, name);
    assert_int_equal(chown(file, user, user), 0);
}

/* Opens for writing, then gives up. */
static hpcw_status open_again(hpcw_error *err) {
    hpcw_sion *h;
    hpcw_status s = open_set(3, HPCW_SYNC_NONE, &h, err);
    hpcw_sion_free(h);
    return s;
}

static unsigned mode_of(const char *name) {
    char file[400];
    struct stat st;
    (void)snprintf(file, sizeof file, "%s/%s", scratch, name);
    assert_int_equal(stat(file, &st), 0);
    return st.st_mode & 07777;
}

/* A set replaces a private container of fewer files. None of its new files may be readable by others. */
static void a_private_container(void **state) {
    (void)state;
    hpcw_sion *h;
    hpcw_error err;
    make_older(1);
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(open_set(3, HPCW_SYNC_NONE, &h, &err), HPCW_OK);
    char command[400];
    (void)snprintf(command, sizeof command, "find '%s' -type f -perm /077 | grep -q .", scratch);
    assert_int_not_equal(system(command), 0); /* no temporary file is readable by others */
    assert_int_equal(write_words(h, "new", &err), HPCW_OK);
    assert_int_equal(hpcw_sion_close(h, &err), HPCW_OK);
    hpcw_sion_free(h);
    assert_int_equal(mode_of("set"), 0600);
    assert_int_equal(mode_of("set.000001"), 0600);
    assert_int_equal(mode_of("set.000002"), 0600);
}

static unsigned owner_of(const char *name) {
    char file[400];
    struct stat st;
    (void)snprintf(file, sizeof file, "%s/%s", scratch, name);
    assert_int_equal(stat(file, &st), 0);
    return st.st_uid;
}

/* Root replaces a set of a user and dies before each call. Root's next open finishes it. */
static void a_set_of_another_user(void **state) {
    static const char *const names[] = {"set", "set.000001", "set.000002"};
    if (geteuid() != 0) {
        skip(); /* only root can give files away */
    }
    bool died = true;
    unsigned finished = 0;
    for (unsigned long n = 1; died; n++) {
        hpcw_error err;
        (void)set_up(state);
        make_older(3);
        for (int k = 0; k < 3; k++) {
            give(names[k], USER);
        }
        died = dies(n, 3, HPCW_SYNC_NONE);
        if (open_again(&err) != HPCW_OK) {
            fail_msg("call %lu: %s", n, err.message);
        }
        finished += died && strcmp(read_set(), "new") == 0;
        for (int k = 0; k < 3; k++) {
            assert_int_equal(owner_of(names[k]), USER);
        }
        scratch_remove(scratch);
    }
    assert_true(finished > 3);
    (void)set_up(state);
}

/* The system refuses to let root give a file away. The close fails, and all older files stay. */
static void an_owner_that_is_refused(void **state) {
    static const char *const names[] = {"set", "set.000001", "set.000002"};
    (void)state;
    if (geteuid() != 0) {
        skip();
    }
    for (uint32_t files = 1; files <= 3; files += 2) {
        for (unsigned long n = 1; n <= files; n++) {
            hpcw_error err;
            make_older(files);
            for (uint32_t k = 0; k < files; k++) {
                give(names[k], USER);
            }
            failing = HPCW_I_SYS_GIVE;
            calls_left = n;
            hpcw_i_sys_gate = fail_at_last;
            assert_int_equal(write_set(files, "new", HPCW_SYNC_NONE, &err), HPCW_EIO);
            hpcw_i_sys_gate = NULL;
            assert_non_null(strstr(err.message, "cannot give the new file to user 1001"));
            assert_string_equal(read_set(), "old");
            assert_int_equal(count_entries(scratch), files);
        }
    }
}

/* Load data of more ranks than before: the new files are as private as that of rank 0. */
static void private_load_data(void **state) {
    (void)state;
    char file[400];
    for (uint32_t ranks = 1; ranks <= 3; ranks += 2) {
        hpcw_vom *v[3] = {NULL};
        for (uint32_t r = 0; r < ranks; r++) {
            hpcw_vom_options o;
            hpcw_vom_options_init(&o);
            o.rank = r;
            o.ranks = ranks;
            (void)snprintf(file, sizeof file, "%s/data.%u.json", scratch, r);
            assert_int_equal(hpcw_vom_open(file, &o, &v[r], NULL), HPCW_OK);
            assert_int_equal(hpcw_vom_begin_phase(v[r], 0, NULL), HPCW_OK);
            assert_int_equal(hpcw_vom_end_phase(v[r], NULL, 0, NULL), HPCW_OK);
        }
        assert_int_equal(hpcw_vom_close_set(v, ranks, NULL, NULL), HPCW_OK);
        for (uint32_t r = 0; r < ranks; r++) {
            hpcw_vom_free(v[r]);
            char name[32];
            (void)snprintf(name, sizeof name, "data.%u.json", r);
            assert_true(ranks == 1 || mode_of(name) == 0600);
        }
        (void)snprintf(file, sizeof file, "%s/data.0.json", scratch);
        assert_int_equal(chmod(file, 0600), 0);
    }
}

/* The name becomes a symbolic link while the set is open. The link is replaced; its target stays. */
static void a_link_meanwhile(void **state) {
    (void)state;
    char victim[300];
    hpcw_sion *h;
    hpcw_error err;
    struct stat st;
    (void)snprintf(victim, sizeof victim, "%s/victim", scratch);
    FILE *f = fopen(victim, "wb");
    assert_true(f != NULL && fclose(f) == 0);
    assert_int_equal(open_set(3, HPCW_SYNC_NONE, &h, &err), HPCW_OK);
    assert_int_equal(write_words(h, "new", &err), HPCW_OK);
    assert_int_equal(symlink("victim", path), 0);
    assert_int_equal(hpcw_sion_close(h, &err), HPCW_OK);
    hpcw_sion_free(h);
    assert_int_equal(lstat(victim, &st), 0);
    assert_true(lstat(path, &st) == 0 && S_ISREG(st.st_mode));
    assert_string_equal(read_set(), "new");
}

/* Somebody removes a temporary file before the renames, or after the writer died between them. The set never
 * becomes a mixture of old and new files. */
static void a_temporary_file_that_is_removed(void **state) {
    (void)state;
    char command[400];
    hpcw_error err;
    for (int base = 0; base < 2; base++) {
        (void)snprintf(command, sizeof command, "rm '%s'/.hpcw-*-set%s.tmp 2>/dev/null", scratch,
                       base == 1 ? "" : ".000001");
        make_older(3);
        hpcw_sion *h;
        assert_int_equal(open_set(3, HPCW_SYNC_NONE, &h, &err), HPCW_OK);
        assert_int_equal(write_words(h, "new", &err), HPCW_OK);
        assert_int_equal(system(command), 0);
        assert_int_equal(hpcw_sion_close(h, &err), HPCW_ENOENT);
        assert_non_null(strstr(err.message, "somebody removed it"));
        hpcw_sion_free(h);
        assert_string_equal(read_set(), "old");
        assert_int_equal(count_entries(scratch), 3);
        unsigned long met = 0;
        char intent[400];
        (void)snprintf(intent, sizeof intent, "%s/.hpcw-set-set", scratch);
        for (unsigned long n = 1; dies(n, 3, HPCW_SYNC_NONE); n++) {
            const bool removed = system(command) == 0;
            hpcw_status s = write_set(3, "old", HPCW_SYNC_NONE, &err);
            assert_true(s == HPCW_OK || removed);
            if (s != HPCW_OK) {
                met++;
                assert_int_equal(s, HPCW_ETRUNCATED);
                assert_non_null(strstr(err.message, "somebody removed its temporary file"));
                hpcw_sion_reader *r;
                s = hpcw_sion_reader_open(path, NULL, 0, NULL, &r, &err);
                assert_true(s == HPCW_OK || s == HPCW_ETRUNCATED);
                hpcw_sion_reader_free(r);
                if (s == HPCW_OK) {
                    assert_string_equal(read_set(), "old");
                }
                assert_int_equal(unlink(intent), 0);
                assert_int_equal(write_set(3, "old", HPCW_SYNC_NONE, &err), HPCW_OK);
            }
            assert_int_equal(count_entries(scratch), 3);
        }
        assert_true(met > 2);
        make_older(3);
    }
}

/* Somebody restores a backup of the older set after the writer died. The next open for writing keeps the backup's
 * files. */
static void a_backup_that_is_put_back(void **state) {
    (void)state;
    char command[700], backup[256];
    unsigned given_up = 0;
    scratch_make(backup, sizeof backup);
    make_older(3);
    (void)snprintf(command, sizeof command, "cp '%s'/* '%s'", scratch, backup);
    assert_int_equal(system(command), 0);
    (void)snprintf(command, sizeof command, "cp -p --remove-destination '%s'/* '%s'", backup, scratch);
    for (unsigned long n = 1; dies(n, 3, HPCW_SYNC_NONE); n++) {
        char intent[400];
        hpcw_sion *h;
        hpcw_error err;
        (void)snprintf(intent, sizeof intent, "%s/.hpcw-set-set", scratch);
        given_up += access(intent, F_OK) == 0;
        assert_int_equal(system(command), 0);
        if (open_set(3, HPCW_SYNC_NONE, &h, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        hpcw_sion_free(h);
        assert_string_equal(read_set(), "old");
        assert_int_equal(count_entries(scratch), 3);
    }
    assert_true(given_up > 5);
    scratch_remove(backup);
}

/* Runs a shell command with `scratch` and a second directory as $1 and $2. Returns whether it succeeds. */
static bool shell(const char *text, const char *second) {
    char command[1200];
    (void)snprintf(command, sizeof command, "set -- '%s' '%s'; %s", scratch, second, text);
    return system(command) == 0;
}

/* A temporary file is removed, then the older file of the set is touched, linked or restored. The older file must
 * not be taken for the new one. */
static void an_older_member_that_is_touched(void **state) {
    static const char *const ways[] = {"chmod 640 $1/set.000002",
                                       "touch $1/set.000002",
                                       "ln $1/set.000002 $2/link",
                                       "cp -p $2/set.000002 $1",
                                       "cp --remove-destination $2/set.000002 $1",
                                       "mv $1/set.000002 $2/away && mv $2/away $1/set.000002"};
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        char backup[256];
        unsigned long met = 0;
        bool died = true;
        for (unsigned long n = 1; died; n++) {
            hpcw_error err;
            (void)set_up(state);
            scratch_make(backup, sizeof backup);
            make_older(3);
            assert_true(shell("cp -p $1/set* $2", backup));
            died = dies(n, 3, HPCW_SYNC_NONE);
            if (shell("test -e $1/.hpcw-set-set && rm $1/.hpcw-*-set.000002.tmp 2>/dev/null", backup)) {
                assert_int_equal(
                    usleep(20000),
                    0); /* longer than the resolution of file times, so that the new time is later */
                assert_true(shell(ways[w], backup));
                hpcw_status s = open_again(&err);
                assert_true(s == HPCW_OK || s == HPCW_ETRUNCATED);
                met += s != HPCW_OK;
                if (access(path, F_OK) == 0) {
                    (void)read_set(); /* no mixture */
                }
            }
            scratch_remove(backup);
            scratch_remove(scratch);
        }
        assert_true(met > 1);
    }
    (void)set_up(state);
}

/* A directory is copied, file by file, with a dead writer's leftovers. All files of the copy have new inodes and
 * new times. */
static void a_copied_directory(void **state) {
    unsigned finished = 0;
    bool died = true;
    for (unsigned long n = 1; died; n++) {
        char original[256], plain[300];
        hpcw_error err;
        (void)set_up(state);
        make_older(3);
        died = dies(n, 3, HPCW_SYNC_NONE);
        memcpy(original, scratch, sizeof original);
        memcpy(plain, path, sizeof plain);
        (void)set_up(state);
        assert_true(shell("cd $2 && find . -type f ! -name '.hpcw-set-*' -exec cp '{}' $1 ';'", original));
        assert_int_equal(usleep(20000), 0); /* longer than the resolution of file times */
        assert_true(shell("cd $2 && find . -name '.hpcw-set-*' -exec cp '{}' $1 ';'", original));
        if (open_again(&err) != HPCW_OK) {
            fail_msg("call %lu: %s", n, err.message);
        }
        const char *word = read_set();
        assert_true(strcmp(word, "new") == 0 || strcmp(word, "old") == 0);
        finished += died && strcmp(word, "new") == 0;
        assert_int_equal(count_entries(scratch), 3);
        scratch_remove(scratch);
        scratch_remove(original);
    }
    assert_true(finished > 3);
    (void)set_up(state);
}

/* The copy of a directory is incomplete, or has a file of another size. */
static void a_part_of_a_copy(void **state) {
    static const char *const ways[] = {
        "rm $1/.hpcw-*-set.tmp", "rm $1/set.000002 $1/.hpcw-*-set.000002.tmp", "echo >>$1/set.000001",
        "rm $1/set.000001",      "cp $2/set $1 && rm $1/.hpcw-*-set.tmp",      "cp $2/set $1"};
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        char backup[256];
        bool died = true, met = false;
        for (unsigned long n = 1; died; n++) {
            hpcw_error err;
            (void)set_up(state);
            scratch_make(backup, sizeof backup);
            make_older(3);
            assert_true(shell("cp -p $1/set* $2", backup));
            died = dies(n, 3, HPCW_SYNC_NONE);
            /* Exactly one file has been renamed. */
            if (died && !met &&
                shell("test -e $1/.hpcw-set-set && test ! -e $1/set && test ! -e $1/.hpcw-*-set.000001.tmp && "
                      "test -e $1/.hpcw-*-set.000002.tmp",
                      backup)) {
                met = true;
                assert_true(shell("mkdir $2/copy && cp $1/.hpcw* $1/set* $2/copy && rm -r $1 && mv $2/copy $1",
                                  backup));
                assert_true(shell(ways[w], backup));
                assert_int_equal(open_again(&err), HPCW_ETRUNCATED);
                assert_non_null(
                    strstr(err.message, "put that back, or all files of one set, and only then remove"));
            }
            scratch_remove(backup);
            scratch_remove(scratch);
        }
        assert_true(met);
    }
    (void)set_up(state);
}

/* Leftovers of a dead writer are also completed by an open through a link. */
static void finished_through_a_link(void **state) {
    (void)state;
    char link[300], plain[300];
    (void)snprintf(link, sizeof link, "%s/link", scratch);
    memcpy(plain, path, sizeof plain);
    for (unsigned long n = 1;; n++) {
        make_older(3);
        if (!dies(n, 3, HPCW_SYNC_NONE)) {
            break;
        }
        assert_int_equal(symlink("set", link), 0);
        memcpy(path, link, sizeof path);
        hpcw_sion_reader *r;
        hpcw_error err;
        hpcw_status s = hpcw_sion_reader_open(path, NULL, 0, NULL, &r, &err);
        assert_int_not_equal(s, HPCW_OK); /* the other files of the set are not beside the link */
        hpcw_sion_reader_free(r);
        memcpy(path, plain, sizeof path);
        assert_int_equal(access(path, F_OK), 0);
        assert_int_equal(unlink(link), 0);
    }
}

static unsigned long
    absent; /* number of opens up to and including the one that fails with ENOENT; 0: none fails */

static int is_absent(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    return call == HPCW_I_SYS_OPEN && absent > 0 && --absent == 0 ? ENOENT : 0;
}

/* A directory mounted or made between two calls is missing at the first and present at the second. */
static void a_directory_that_comes_late(void **state) {
    (void)state;
    bool met = true;
    for (unsigned long n = 1; met; n++) {
        hpcw_sion *h;
        hpcw_error err;
        make_older(3);
        absent = n;
        hpcw_i_sys_gate = is_absent;
        hpcw_status s = open_set(3, HPCW_SYNC_NONE, &h, &err);
        s = s == HPCW_OK ? write_words(h, "new", &err) : s;
        s = s == HPCW_OK ? hpcw_sion_close(h, &err) : s;
        hpcw_sion_free(h);
        hpcw_i_sys_gate = NULL;
        met = absent == 0;
        assert_string_equal(read_set(), s == HPCW_OK ? "new" : "old");
        assert_int_equal(count_entries(scratch), 3);
    }
}

static int without_locks(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    return call == HPCW_I_SYS_OWN ? EOPNOTSUPP : 0;
}

static unsigned finished_by_reader;

static enum hpcw_i_sys_call call_before;

/* Reads before each lookup and each rename of a writer. A lookup right after an open is skipped: the new intent
 * has no text yet, so a reader would remove it. */
static int read_in_between(enum hpcw_i_sys_call call, size_t *size) {
    bool created = call_before == HPCW_I_SYS_OPEN;
    call_before = call;
    if ((call == HPCW_I_SYS_STAT && !created) || call == HPCW_I_SYS_RENAME) {
        hpcw_i_sys_gate = without_locks;
        finished_by_reader += strcmp(read_set(), "new") == 0;
        hpcw_i_sys_gate = read_in_between;
    }
    return without_locks(call, size);
}

/* Without locks, a reader takes a living writer for a dead one and finishes its set. */
static void finished_for_a_living_writer(void **state) {
    (void)state;
    for (uint32_t older = 0; older <= 3; older += 3) {
        hpcw_sion *h;
        hpcw_error err;
        make_older(older);
        finished_by_reader = 0;
        call_before = HPCW_I_SYS_STAT;
        assert_int_equal(open_set(3, HPCW_SYNC_NONE, &h, &err), HPCW_OK);
        assert_int_equal(write_words(h, "new", &err), HPCW_OK);
        hpcw_i_sys_gate = read_in_between;
        hpcw_status s = hpcw_sion_close(h, &err);
        hpcw_i_sys_gate = NULL;
        if (s != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        hpcw_sion_free(h);
        assert_true(finished_by_reader > 0);
        assert_string_equal(read_set(), "new");
        assert_int_equal(count_entries(scratch), 3);
    }
}

/* Returns whether USER can reach the directory, since a parent may be private. */
static bool is_reached(void) {
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(setegid(USER) == 0 && seteuid(USER) == 0 &&
                      faccessat(AT_FDCWD, scratch, W_OK | X_OK, AT_EACCESS) == 0
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Returns whether a writer of USER is refused, with a message that has the other user's number. late: a file that
 * is given to the other user after the open, so that the close refuses; NULL: the open refuses. */
static bool is_refused(uint32_t files, const char *late) {
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        hpcw_sion *h;
        hpcw_error err;
        bool good = setegid(USER) == 0 && seteuid(USER) == 0;
        hpcw_status s = good ? open_set(files, HPCW_SYNC_NONE, &h, &err) : HPCW_OK;
        if (s == HPCW_OK && late != NULL) {
            good = good && write_words(h, "new", &err) == HPCW_OK && seteuid(0) == 0;
            give(late, OTHER);
            good = good && seteuid(USER) == 0;
            s = hpcw_sion_close(h, &err);
            hpcw_sion_free(h);
        }
        _exit(good && s == HPCW_EACCES && strstr(err.message, "belongs to user 1002") != NULL ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* In a directory like /tmp, files of other users cannot be replaced. The older set stays complete. */
static void names_of_others(void **state) {
    (void)state;
    static const char *const names[] = {"set", "set.000001", "set.000002"};
    if (geteuid() != 0) {
        skip(); /* only root can give files away */
    }
    assert_int_equal(chmod(scratch, 01777), 0);
    if (!is_reached()) {
        skip();
    }
    for (uint32_t files = 1; files <= 3; files += 2) {
        for (uint32_t f = 0; f < files; f++) {
            for (int late = 0; late < 2; late++) {
                make_older(files);
                for (uint32_t k = 0; k < files; k++) {
                    give(names[k], k == f && late == 0 ? OTHER : USER);
                }
                assert_true(is_refused(files, late == 0 ? NULL : names[f]));
                assert_string_equal(read_set(), "old");
                assert_int_equal(count_entries(scratch), files);
            }
        }
    }
}

static int refuse_to_open(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    return call == HPCW_I_SYS_OPEN && --calls_left == 0 ? EACCES : 0;
}

/* The open of an intent is refused. The message says that the intent belongs to somebody else only if its owner is
 * another user. It must also be right if there is no intent, which is the usual case. */
static void may_not_look(void **state) {
    (void)state;
    char intent[400];
    hpcw_error err;
    (void)snprintf(intent, sizeof intent, "%s/.hpcw-set-set", scratch);
    for (int there = 0; there < 2 + (geteuid() == 0); there++) {
        FILE *f = there > 0 ? fopen(intent, "wb") : NULL;
        assert_true(there == 0 || (f != NULL && fclose(f) == 0));
        assert_true(there < 2 || chown(intent, OTHER, OTHER) == 0);
        calls_left = 2; /* the second open fails: the first one opens the directory */
        hpcw_i_sys_gate = refuse_to_open;
        hpcw_sion *h;
        hpcw_status s = open_set(3, HPCW_SYNC_NONE, &h, &err);
        hpcw_i_sys_gate = NULL;
        assert_int_equal(s, there < 2 ? HPCW_EACCES : HPCW_EEXIST);
        static const char *const says[] = {"cannot look for .hpcw-set-set", "cannot finish the set",
                                           "of somebody else"};
        assert_non_null(strstr(err.message, says[there]));
    }
}

/* Another user has made a pipe, link or directory under the name of the intent. No process waits for the pipe, and
 * no byte is written through the link. */
static void planted(void **state) {
    (void)state;
    char intent[400], outside[400];
    hpcw_error err;
    (void)snprintf(intent, sizeof intent, "%s/.hpcw-set-set", scratch);
    (void)snprintf(outside, sizeof outside, "%s/outside", scratch);
    make_older(3);
    for (int kind = 0; kind < 3; kind++) {
        FILE *f = fopen(outside, "wb");
        assert_true(f != NULL && fputs("precious", f) >= 0 && fclose(f) == 0);
        assert_int_equal(kind == 0   ? mkfifo(intent, 0666)
                         : kind == 1 ? symlink(outside, intent)
                                     : mkdir(intent, 0777),
                         0);
        hpcw_sion *h;
        assert_int_equal(open_set(3, HPCW_SYNC_NONE, &h, &err),
                         HPCW_EEXIST); /* refused before anything is computed */
        assert_non_null(strstr(err.message, ".hpcw-set-set"));
        size_t size = 0;
        unsigned char *got = read_file(outside, &size);
        assert_true(got != NULL && size == 8 && memcmp(got, "precious", 8) == 0);
        free(got);
        assert_int_equal(remove(intent), 0);
        assert_string_equal(read_set(), "old");
    }
    /* The text of an intent can name only files of its directory. Only temporary files that await their names are
     * renamed or removed. */
#define WORD "0000000000000001 "
#define WORDS WORD WORD WORD WORD WORD WORD
#define BEGIN "hpcw set 3\n" WORDS ".hpcw-set-set\0" WORDS "set\0"
    /* The name of a record without an end takes the last line. It is long, so that the text fills its memory. */
#define ENDLESS "hpcw set 3\n" WORDS WORDS WORDS "end\n"
    static const char whole[][400] = {ENDLESS, BEGIN WORDS "../outside\0end\n", BEGIN "end\n",
                                      BEGIN WORDS "outside\0end\n", BEGIN WORDS "set"};
    static const size_t sizes[] = {sizeof ENDLESS - 1, sizeof BEGIN WORDS "../outside\0end\n" - 1,
                                   sizeof BEGIN "end\n" - 1, sizeof BEGIN WORDS "outside\0end\n" - 1,
                                   sizeof BEGIN WORDS "set" - 1};
    int huge = open(intent, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(huge >= 0 && ftruncate(huge, (off_t)1 << 40) == 0 && close(huge) == 0);
    assert_int_equal(write_set(3, "new", HPCW_SYNC_NONE, &err), HPCW_EFORMAT);
    assert_non_null(strstr(err.message, "expected in .hpcw-set-set the files of the set"));
    assert_int_equal(unlink(intent), 0);
    /* The search for an intent fails, since no descriptor is free. The message does not say that there is an
     * intent. */
    failing = HPCW_I_SYS_OPEN;
    calls_left = 2;
    hpcw_i_sys_gate = fail_at_last;
    assert_int_equal(write_set(3, "new", HPCW_SYNC_NONE, &err), HPCW_EIO);
    hpcw_i_sys_gate = NULL;
    assert_non_null(strstr(err.message, "cannot look for .hpcw-set-set"));
    for (size_t i = 0; i < 5; i++) {
        FILE *f = fopen(intent, "wb");
        assert_true(f != NULL && fwrite(whole[i], 1, sizes[i], f) == sizes[i] && fclose(f) == 0);
        hpcw_status s = write_set(3, "new", HPCW_SYNC_NONE, &err);
        bool harmless = i >= 3;
        assert_true(harmless ? s == HPCW_OK : s != HPCW_OK && strstr(err.message, ".hpcw-set-set") != NULL);
        (void)remove(intent);
        assert_string_equal(read_set(), harmless ? "new" : "old");
        make_older(3);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(dies_before_each_call),
        TEST(a_writer_finishes_what_another_began),
        TEST(renames_and_removals_fail),
        TEST(two_writers),
        TEST(a_link_to_a_set),
        TEST(a_private_container),
        TEST(a_set_of_another_user),
        TEST(an_owner_that_is_refused),
        TEST(private_load_data),
        TEST(a_link_meanwhile),
        TEST(a_temporary_file_that_is_removed),
        TEST(a_backup_that_is_put_back),
        TEST(an_older_member_that_is_touched),
        TEST(a_copied_directory),
        TEST(a_part_of_a_copy),
        TEST(finished_through_a_link),
        TEST(a_directory_that_comes_late),
        TEST(finished_for_a_living_writer),
        TEST(names_of_others),
        TEST(may_not_look),
        TEST(planted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
