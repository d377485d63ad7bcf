/* SPDX-License-Identifier: BSD-3-Clause */
/* Writers that are killed. The next open of the same path removes what they left. It does not remove files of
 * living writers, files that may belong to another host, or anything where locks do not work. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <hpcw/hpcw.h>

#include "libwriter/io/sink.h"
#include "libwriter/io/sys.h"
#include "tests/support/files.h"
#include "tests/support/random.h"

static char path[512];

static int set_up(void **state) {
    (void)scratch_set_up(state);
    (void)snprintf(path, sizeof path, "%s/result", scratch);
    return 0;
}

static int tear_down(void **state) {
    hpcw_i_sys_gate = NULL;
    return scratch_tear_down(state);
}

enum kind { PRIVATE, SHARED, SET, KINDS };

enum { SIZE = 5000, FILES = 3 };

/* Delays a writer between its calls. A writer without delay spends most of its time in the final rename, which a
 * kill does not interrupt. */
static void take_time(char mark) {
    if (mark == 'a') {
        (void)usleep(200);
    }
}

/* Writes one file, or a set of files, whose bytes are all `mark`. */
static hpcw_status write_once(enum kind kind, char mark, hpcw_error *err) {
    char data[SIZE];
    memset(data, mark, sizeof data);
    if (kind == SET) {
        hpcw_sion_options o;
        hpcw_sion_options_init(&o);
        o.count = o.files = FILES;
        o.chunk_size = SIZE;
        o.fs_block_size = 512;
        o.durability = HPCW_SYNC_NONE;
        hpcw_sion *h;
        hpcw_status s = hpcw_sion_open(path, NULL, &o, &h, err);
        for (uint32_t i = 0; s == HPCW_OK && i < FILES; i++) {
            take_time(mark);
            s = hpcw_sion_write(h, i, data, sizeof data, err);
        }
        s = s == HPCW_OK ? hpcw_sion_close(h, err) : s;
        hpcw_sion_free(h);
        return s;
    }
    hpcw_sink *sink = NULL;
    uint64_t host = hpcw_i_sys_host();
    hpcw_status s = kind == PRIVATE
                        ? hpcw_sink_open_file(path, HPCW_SYNC_NONE, &sink, err)
                        : hpcw_sink_open_shared_file(path, hpcw_i_sink_tag(hpcw_i_sink_random(), host, host),
                                                     true, HPCW_SYNC_NONE, &sink, err);
    for (int half = 0; s == HPCW_OK && half < 2; half++) {
        take_time(mark);
        s = hpcw_sink_write_at(sink, (uint64_t)half * (SIZE / 2), data, SIZE / 2, err);
    }
    s = s == HPCW_OK ? hpcw_sink_publish(sink, err) : s;
    hpcw_sink_discard(sink);
    hpcw_sink_free(sink);
    return s;
}

static bool whole(enum kind kind) {
    size_t size = 0;
    unsigned char *got = read_file(path, &size);
    bool good = got != NULL && (kind == SET || size == SIZE);
    for (size_t i = 1; kind != SET && good && i < size; i++) {
        good = got[i] == got[0];
    }
    free(got);
    return good;
}

static void wait_for(pid_t child, bool killed) {
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (killed) {
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    } else {
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

/* Starts a child that writes again and again until it is killed, or until DIRECTORY/stop exists. */
static pid_t start_writer(enum kind kind, char mark) {
    char stop[800];
    (void)snprintf(stop, sizeof stop, "%s/stop", scratch);
    pid_t child = fork();
    if (child == 0) {
        hpcw_error err;
        while (access(stop, F_OK) != 0) {
            if (write_once(kind, mark, &err) != HPCW_OK) {
                (void)fprintf(stderr, "writer %c: %s\n", mark, err.message);
                _exit(1);
            }
        }
        _exit(0);
    }
    assert_true(child > 0);
    return child;
}

static void leave(const char *name) {
    char file[800];
    (void)snprintf(file, sizeof file, "%s/%s", scratch, name);
    FILE *f = fopen(file, "wb");
    assert_true(f != NULL && fputs("half", f) >= 0 && fclose(f) == 0);
}

static void killed_at_any_moment(void **state) {
    (void)state;
    uint64_t rng = 16;
    unsigned leftovers = 0;
    for (unsigned round = 0; round < 150; round++) {
        enum kind kind = (enum kind)(round / 50);
        unsigned entries = kind == SET ? FILES : 1;
        (void)unlink(path);
        pid_t child = start_writer(kind, 'a');
        while (access(path, F_OK) != 0) { /* it runs */
            (void)usleep(200);
        }
        (void)usleep((useconds_t)random_below(&rng, 3000));
        assert_int_equal(kill(child, SIGKILL), 0);
        wait_for(child, true);
        DIR *d = opendir(scratch);
        assert_non_null(d);
        for (struct dirent *e; (e = readdir(d)) != NULL;) {
            leftovers += hpcw_i_sink_is_temporary(e->d_name);
        }
        assert_int_equal(closedir(d), 0);
        hpcw_error err;
        if (write_once(kind, 'b', &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        if (count_entries(scratch) != (int)entries) {
            fail_msg("round %u: expected %u files, got %d", round, entries, count_entries(scratch));
        }
        assert_true(whole(kind));
        if (round % 50 == 49) {
            assert_true(leftovers > 0); /* otherwise nothing was tested */
            leftovers = 0;
            scratch_remove(scratch);
            (void)set_up(state);
        }
    }
}

/* Two writers run at once. One is killed again and again, and the other must not notice. */
static void the_living_keep_their_files(void **state) {
    (void)state;
    uint64_t rng = 61;
    for (int kind = 0; kind < SET; kind++) {
        pid_t steady = start_writer((enum kind)kind, 's');
        for (unsigned kills = 0; kills < 60; kills++) {
            pid_t victim = start_writer((enum kind)kind, 'v');
            (void)usleep(500 + (useconds_t)random_below(&rng, 3000));
            (void)kill(victim, SIGKILL);
            wait_for(victim, true);
        }
        leave("stop");
        wait_for(steady, false);
        char stop[800];
        (void)snprintf(stop, sizeof stop, "%s/stop", scratch);
        assert_int_equal(unlink(stop), 0);
        assert_int_equal(write_once((enum kind)kind, 'e', NULL), HPCW_OK);
        assert_true(whole((enum kind)kind));
        assert_int_equal(count_entries(scratch), 1);
    }
}

/* Age does not matter: a file untouched for years may have a living writer. */
static void old_files_of_the_living(void **state) {
    (void)state;
    hpcw_sink *sink;
    assert_int_equal(hpcw_sink_open_file(path, HPCW_SYNC_NONE, &sink, NULL), HPCW_OK);
    assert_int_equal(hpcw_sink_write_at(sink, 0, "old", 3, NULL), HPCW_OK);
    DIR *d = opendir(scratch);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        char name[800];
        (void)snprintf(name, sizeof name, "%s/%s", scratch, e->d_name);
        const struct timeval never[2] = {{1, 0}, {1, 0}};
        assert_true(!hpcw_i_sink_is_temporary(e->d_name) || utimes(name, never) == 0);
    }
    assert_int_equal(closedir(d), 0);
    assert_int_equal(write_once(PRIVATE, 'n', NULL), HPCW_OK);
    assert_int_equal(count_entries(scratch), 2);
    assert_int_equal(hpcw_sink_publish(sink, NULL), HPCW_OK);
    hpcw_sink_free(sink);
    size_t size = 0;
    unsigned char *got = read_file(path, &size);
    assert_true(got != NULL && size == 3 && memcmp(got, "old", 3) == 0);
    free(got);
    assert_int_equal(count_entries(scratch), 1);
}

static void others_are_left_alone(void **state) {
    (void)state;
    char own[64];
    uint64_t host = hpcw_i_sys_host();
    if (host == 0) {
        skip();
    }
    (void)snprintf(own, sizeof own, ".hpcw-%06llx0000000000-result.tmp", (unsigned long long)host);
    leave(own);
    (void)snprintf(own, sizeof own, ".hpcw-%06llx0000000000-other.tmp", (unsigned long long)host);
    leave(own); /* belongs to another path */
    (void)snprintf(own, sizeof own, ".hpcw-%06llx0000000000-result.tmp", (unsigned long long)(host ^ 1));
    leave(own);                                 /* belongs to another host */
    leave(".hpcw-0000000123456789-result.tmp"); /* belongs to a run on several hosts */
    assert_int_equal(write_once(PRIVATE, 'n', NULL), HPCW_OK);
    assert_int_equal(count_entries(scratch), 4);
}

/* Of three writers of one path, one dies. The next open removes its temporary file, whichever of the numbered names
 * the file has, and keeps those of the two living writers. */
static void slots_in_any_order(void **state) {
    (void)state;
    for (int victim = 0; victim < 3; victim++) {
        hpcw_sink *sink[2];
        int at = 0;
        for (int n = 0; n < 3; n++) {
            if (n != victim) {
                assert_int_equal(hpcw_sink_open_file(path, HPCW_SYNC_NONE, &sink[at++], NULL), HPCW_OK);
                continue;
            }
            pid_t child = fork();
            if (child == 0) {
                hpcw_sink *left;
                _exit(hpcw_sink_open_file(path, HPCW_SYNC_NONE, &left, NULL) != HPCW_OK);
            }
            wait_for(child, false);
        }
        assert_int_equal(hpcw_sink_publish(sink[0], NULL), HPCW_OK);
        assert_int_equal(hpcw_sink_publish(sink[1], NULL), HPCW_OK);
        hpcw_sink_free(sink[0]);
        hpcw_sink_free(sink[1]);
        assert_int_equal(write_once(PRIVATE, 'n', NULL), HPCW_OK);
        assert_int_equal(count_entries(scratch), 1);
    }
}

static hpcw_status open_container(uint32_t files, hpcw_sion **h) {
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    o.count = FILES;
    o.files = files;
    o.chunk_size = 1;
    o.fs_block_size = 512;
    o.durability = HPCW_SYNC_NONE;
    return hpcw_sion_open(path, NULL, &o, h, NULL);
}

/* The next open removes all temporary files of a dead writer, even if the new container has fewer files. */
static void fewer_files(void **state) {
    (void)state;
    hpcw_sion *h;
    for (uint32_t files = 1; files < FILES; files++) {
        pid_t child = fork();
        if (child == 0) {
            _exit(open_container(FILES, &h) != HPCW_OK);
        }
        wait_for(child, false);
        assert_int_equal(count_entries(scratch), FILES);
        assert_int_equal(open_container(files, &h), HPCW_OK);
        assert_int_equal(count_entries(scratch), files);
        hpcw_sion_free(h);
        assert_int_equal(count_entries(scratch), 0);
    }
}

static hpcw_status open_loads(uint32_t ranks, hpcw_vom **v) {
    hpcw_status s = HPCW_OK;
    for (uint32_t rank = 0; s == HPCW_OK && rank < ranks; rank++) {
        char file[900];
        hpcw_vom_options o;
        hpcw_vom_options_init(&o);
        o.rank = rank;
        o.ranks = ranks;
        o.durability = HPCW_SYNC_NONE;
        (void)snprintf(file, sizeof file, "%s/data.%u.json%s", scratch, (unsigned)rank,
                       ranks % 2 == 0 ? ".br" : "");
        s = hpcw_vom_open(file, &o, &v[rank], NULL);
    }
    return s;
}

/* The next open removes all temporary files of a dead writer, even if the new load data have fewer ranks. */
static void fewer_ranks(void **state) {
    (void)state;
    hpcw_vom *v[4];
    for (uint32_t ranks = 3; ranks <= 4; ranks++) {
        pid_t child = fork();
        if (child == 0) {
            _exit(open_loads(ranks, v) != HPCW_OK);
        }
        wait_for(child, false);
        assert_int_equal(count_entries(scratch), ranks);
        assert_int_equal(open_loads(ranks - 2, v), HPCW_OK);
        assert_int_equal(count_entries(scratch), ranks - 2);
        for (uint32_t rank = 0; rank < ranks - 2; rank++) {
            hpcw_vom_free(v[rank]);
        }
        assert_int_equal(count_entries(scratch), 0);
    }
}

static int no_locks(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    return call == HPCW_I_SYS_OWN ? EOPNOTSUPP : 0;
}

/* On a file system without locks, everything works, but nothing is removed. */
static void no_locks_no_removal(void **state) {
    (void)state;
    hpcw_i_sys_gate = no_locks;
    hpcw_sink *sink;
    hpcw_sink *pair[2];
    for (int i = 0; i < 2; i++) {
        uint64_t host = hpcw_i_sys_host();
        uint64_t tag = hpcw_i_sink_tag(7, host, host);
        assert_int_equal(hpcw_sink_open_shared_file(path, tag, i == 0, HPCW_SYNC_NONE, &pair[i], NULL),
                         HPCW_OK);
    }
    hpcw_sink_discard(pair[0]);
    hpcw_sink_free(pair[0]);
    hpcw_sink_free(pair[1]);
    assert_int_equal(count_entries(scratch), 0);
    assert_int_equal(hpcw_sink_open_file(path, HPCW_SYNC_NONE, &sink, NULL), HPCW_OK);
    for (int n = 0; n < 20; n++) { /* more writers than numbered temporary names */
        pid_t child = fork();
        if (child == 0) {
            hpcw_sink *left;
            _exit(hpcw_sink_open_file(path, HPCW_SYNC_NONE, &left, NULL) != HPCW_OK);
        }
        wait_for(child, false);
    }
    assert_int_equal(count_entries(scratch), 21);
    assert_int_equal(write_once(PRIVATE, 'n', NULL), HPCW_OK);
    assert_int_equal(count_entries(scratch), 22);
    assert_int_equal(hpcw_sink_publish(sink, NULL), HPCW_OK);
    hpcw_sink_free(sink);
    hpcw_i_sys_gate = NULL;
    /* A writer with locks keeps these temporary files, too: it cannot know whether their writers live. */
    assert_int_equal(write_once(PRIVATE, 'n', NULL), HPCW_OK);
    assert_int_equal(count_entries(scratch), 21);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(killed_at_any_moment),
        TEST(the_living_keep_their_files),
        TEST(old_files_of_the_living),
        TEST(others_are_left_alone),
        TEST(no_locks_no_removal),
        TEST(slots_in_any_order),
        TEST(fewer_files),
        TEST(fewer_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
