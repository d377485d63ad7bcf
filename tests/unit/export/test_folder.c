/* SPDX-License-Identifier: BSD-3-Clause */
/* Directories written under a temporary name. The next writer of the same path removes what a dead writer left.
 * It does not remove what a living writer writes, what may belong to another host, or anything on a file system
 * without locks. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "gen/export/folder.h"
#include "libwriter/io/sys.h"
#include "tests/support/files.h"

static char path[1024];

static int set_up(void **state) {
    (void)scratch_set_up(state);
    (void)snprintf(path, sizeof path, "%s/trace", scratch);
    return 0;
}

static int tear_down(void **state) {
    hpcw_i_sys_gate = NULL;
    return scratch_tear_down(state);
}

/* Makes the file deep/file in a directory. */
static bool fill(const char *directory) {
    char name[2048];
    (void)snprintf(name, sizeof name, "%s/deep", directory);
    bool good = mkdir(name, 0777) == 0;
    (void)snprintf(name, sizeof name, "%s/deep/file", directory);
    FILE *f = good ? fopen(name, "wb") : NULL;
    good = f != NULL && fputs("four", f) >= 0;
    return f != NULL && fclose(f) == 0 && good;
}

static bool fill_new(const struct gen_folder *folder) {
    char inside[GEN_FOLDER_INSIDE];
    hpcw_error err;
    return gen_folder_inside(folder, inside, &err) == HPCW_OK && fill(inside);
}

/* A child process that has begun a directory, and waits until it is killed or the test ends. */
struct writer {
    pid_t child;
    int end;
};

static struct writer start_writer(void) {
    int ends[2];
    char ready = 'n';
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    const struct writer w = {.child = fork(), .end = ends[0]};
    if (w.child == 0) {
        struct gen_folder folder;
        hpcw_error err;
        (void)close(ends[0]);
        ready = gen_folder_open(&folder, path, &err) == HPCW_OK && fill_new(&folder) ? 'y' : 'n';
        _exit(write(ends[1], &ready, 1) != 1 || read(ends[1], &ready, 1) != 1);
    }
    assert_true(w.child > 0);
    assert_int_equal(close(ends[1]), 0);
    assert_true(read(w.end, &ready, 1) == 1 && ready == 'y');
    return w;
}

static void kill_writer(struct writer w) {
    int status;
    assert_int_equal(kill(w.child, SIGKILL), 0);
    assert_int_equal(waitpid(w.child, &status, 0), w.child);
    assert_int_equal(close(w.end), 0);
}

static void write_all(void) {
    struct gen_folder folder;
    hpcw_error err;
    uint64_t bytes;
    assert_int_equal(gen_folder_open(&folder, path, &err), HPCW_OK);
    assert_true(fill_new(&folder));
    assert_int_equal(gen_folder_publish(&folder, true, &bytes, &err), HPCW_OK);
    gen_folder_close(&folder);
    assert_int_equal(bytes, 4);
}

static void published_or_given_up(void **state) {
    (void)state;
    struct gen_folder folder;
    hpcw_error err;
    write_all();
    assert_int_equal(count_entries(scratch), 1);
    assert_int_equal(gen_folder_open(&folder, path, &err), HPCW_EEXIST);
    gen_folder_close(&folder);
    scratch_remove(path);
    assert_int_equal(gen_folder_open(&folder, path, &err), HPCW_OK);
    assert_true(fill_new(&folder));
    assert_int_equal(count_entries(scratch), 2);
    gen_folder_close(&folder);
    assert_int_equal(count_entries(scratch), 0);
    (void)snprintf(path, sizeof path, "%s/none/trace", scratch);
    assert_int_equal(gen_folder_open(&folder, path, &err), HPCW_ENOENT);
    assert_non_null(strstr(err.message, "none/trace: cannot create the directory: No such file"));
    gen_folder_close(&folder);
}

/* The temporary names of directory and lock are shortened. A name that the file system does not allow is refused
 * at once. */
static void any_length_of_a_name(void **state) {
    (void)state;
    struct gen_folder folder;
    hpcw_error err;
    static const int length[] = {223, 224, 255};
    for (size_t i = 0; i < sizeof length / sizeof length[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%0*d", scratch, length[i], 0);
        write_all();
        assert_int_equal(count_entries(scratch), 1);
        scratch_remove(path);
        kill_writer(start_writer());
        write_all();
        assert_int_equal(count_entries(scratch), hpcw_i_sys_host() == 0 ? 2 : 1);
        scratch_remove(path);
    }
    (void)snprintf(path, sizeof path, "%s/%0256d", scratch, 0);
    assert_int_equal(gen_folder_open(&folder, path, &err), HPCW_ERANGE);
    gen_folder_close(&folder);
}

static void the_next_removes_what_the_dead_left(void **state) {
    (void)state;
    if (hpcw_i_sys_host() == 0) {
        skip();
    }
    for (int n = 0; n < 2; n++) {
        kill_writer(start_writer()); /* each writer removes what the killed one before left */
        assert_int_equal(count_entries(scratch), 2);
    }
    const struct writer living = start_writer();
    const struct writer dead = start_writer();
    assert_int_equal(count_entries(scratch), 4);
    kill_writer(dead);
    write_all();
    assert_int_equal(count_entries(scratch), 3);
    scratch_remove(path);
    kill_writer(living);
    write_all();
    assert_int_equal(count_entries(scratch), 1);
}

/* A writer that died between two steps left only the lock, or only the directory. */
static void half_of_it(void **state) {
    (void)state;
    char name[1024];
    const unsigned long long host = hpcw_i_sys_host();
    if (host == 0) {
        skip();
    }
    (void)snprintf(name, sizeof name, "%s/.hpcw-%06llx0123456789-trace.lock.tmp", scratch, host);
    FILE *f = fopen(name, "wb");
    assert_true(f != NULL && fclose(f) == 0);
    (void)snprintf(name, sizeof name, "%s/.hpcw-%06llx1123456789-trace.tmp", scratch, host);
    assert_true(mkdir(name, 0777) == 0 && fill(name));
    write_all();
    assert_int_equal(count_entries(scratch), 1);
}

static void others_are_left_alone(void **state) {
    (void)state;
    char name[1024];
    const unsigned long long host = hpcw_i_sys_host();
    const struct {
        unsigned long long host;
        const char *name;
    } left[] = {{host ^ 1, "trace"}, {0, "trace"}, {host, "other"}, {host, "a-trace"}};
    char kept[300];
    scratch_make(kept, sizeof kept);
    assert_true(fill(kept));
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
        (void)snprintf(name, sizeof name, "%s/.hpcw-%06llx0123456789-%s.tmp", scratch, left[i].host,
                       left[i].name);
        assert_true(mkdir(name, 0777) == 0);
    }
    /* A symbolic link with a temporary name stays, and so does its target. */
    (void)snprintf(name, sizeof name, "%s/.hpcw-%06llx1123456789-trace.tmp", scratch, host);
    assert_int_equal(symlink(kept, name), 0);
    write_all();
    assert_int_equal(count_entries(scratch), 6);
    assert_int_equal(count_entries(kept), 1);
    char deep[400];
    (void)snprintf(deep, sizeof deep, "%s/deep/file", kept);
    assert_int_equal(access(deep, F_OK), 0);
    scratch_remove(kept);
}

static int no_locks(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    return call == HPCW_I_SYS_OWN ? EOPNOTSUPP : 0;
}

/* Nobody can know whether a writer without a lock is alive. */
static void no_locks_no_removal(void **state) {
    (void)state;
    hpcw_i_sys_gate = no_locks;
    kill_writer(start_writer());
    assert_int_equal(count_entries(scratch), 1);
    write_all();
    assert_int_equal(count_entries(scratch), 2);
    scratch_remove(path);
    hpcw_i_sys_gate = NULL;
    write_all();
    assert_int_equal(count_entries(scratch), 2);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(published_or_given_up),
        TEST(any_length_of_a_name),
        TEST(the_next_removes_what_the_dead_left),
        TEST(half_of_it),
        TEST(others_are_left_alone),
        TEST(no_locks_no_removal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
