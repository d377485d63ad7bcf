/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that a dead writer left are removed, even if the prefix was moved, but no files of other datasets,
 * writers or programs. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <hpcw/rank2file.h>
#include <hpcw/sink.h>

#include "libwriter/io/sys.h"
#include "tests/support/files.h"
#include "tests/support/prefix.h"

#define OK(call) assert_int_equal(call, HPCW_OK)

enum { LAYOUTS = 4 };

/* ---- markers: lists of the files that a writer has begun ---- */

/* Dies after half of a dataset. Leaves a complete file, an incomplete one, a file of the program, and
 * directories. */
static void die(hpcw_rank2file_layout layout, uint64_t id, const char *name) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        hpcw_rank2file_options o = prefix_options(layout, id);
        o.dataset.name = name;
        hpcw_rank2file *w = prefix_opened(&o);
        hpcw_rank2file_file *file;
        prefix_plain_file(in_prefix("%s/added", name), 10);
        bool good = prefix_put(w, 0, NULL) == HPCW_OK &&
                    hpcw_rank2file_create(w, 1, "a/b/half", &file, NULL) == HPCW_OK &&
                    hpcw_rank2file_add(w, 1, "added", 10, NULL, NULL) == HPCW_OK;
        (void)kill(getpid(), good ? SIGKILL : SIGTERM);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void a_dead_writer_in_a_directory_of_the_user(void **state) {
    for (int k = 0; k < LAYOUTS; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        hpcw_rank2file_tally tally;
        hpcw_error err = {.message = ""};
        prefix_written(layout, 1);
        assert_int_equal(mkdir(in_prefix("results"), 0777), 0);
        prefix_plain_file(in_prefix("results/precious"), 10);
        prefix_plain_file(in_prefix("results/.hpcw-0000000000000001-precious.tmp"), 10);
        die(layout, 2, "results");
        /* Another dataset has taken the id. The dead writer's files are removed before its marker (the list of
         * these files). */
        if (k % 2 == 1) {
            hpcw_rank2file_options o = prefix_options(layout, 2);
            o.dataset.name = "other";
            OK(prefix_write(&o, &err));
            assert_int_equal(prefix_restarts(&err), 2);
        }
        OK(hpcw_rank2file_prune(prefix_dir, NULL, 0, NULL, &tally, &err));
        assert_int_equal(tally.skipped, 0);
        assert_int_equal(tally.removed, k % 2 == 0);
        assert_int_equal(tally.left, k % 2 == 0 ? 2 : 0);
        assert_int_equal(count_entries(in_prefix("results")), 2);
        assert_true(prefix_exists(in_prefix("results/precious")));
        assert_false(prefix_exists(in_prefix(".scr/hpcw.2.unfinished")));
        (void)prefix_end(state);
        (void)prefix_begin(state);
    }
}

/* A second writer of the dataset also dies. Its marker (list of files) still has the files of the first one. */
static void two_dead_writers(void **state) {
    (void)state;
    hpcw_error err = {.message = ""};
    hpcw_rank2file_tally tally;
    die(HPCW_RANK2FILE_SCR_1_2, 2, "results");
    pid_t child = fork();
    if (child == 0) {
        hpcw_rank2file_options o = prefix_options(HPCW_RANK2FILE_SCR_1_2, 2);
        hpcw_rank2file_file *file;
        o.dataset.name = "results";
        hpcw_rank2file *w = prefix_opened(&o);
        (void)kill(getpid(), hpcw_rank2file_create(w, 0, "second", &file, NULL) == HPCW_OK ? SIGKILL : SIGTERM);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    /* No dataset is complete, so there is no index, and none of the newest three is there. */
    OK(hpcw_rank2file_prune(prefix_dir, NULL, 3, NULL, &tally, &err));
    assert_int_equal(tally.removed, 1);
    assert_int_equal(count_entries(prefix_dir), 1);
    assert_int_equal(count_entries(in_prefix("%s", ".scr")), 1); /* the lock */
}

static void list_too(hpcw_rank2file_layout layout, uint64_t id, const char *name) {
    const char *path = in_prefix(".scr/scr.dataset.%u/rank2file.0.0%s", (unsigned)id,
                                 layout == HPCW_RANK2FILE_SCR_3 ? "" : ".scr");
    hpcw_kvtree *leaf;
    OK(hpcw_kvtree_read_file(path, &leaf, NULL));
    hpcw_kvtree *files = hpcw_kvtree_get(hpcw_kvtree_get(hpcw_kvtree_get(leaf, "RANK"), "0"), "FILE");
    OK(hpcw_kvtree_add(files, name, NULL, NULL));
    OK(hpcw_kvtree_write_file(leaf, path, HPCW_SYNC_NONE, NULL));
    hpcw_kvtree_free(leaf);
}

/* An application reuses a file name, so a newer checkpoint lists a file of an older one. */
static void a_file_of_two_datasets(void **state) {
    static const hpcw_rank2file_layout layouts[] = {HPCW_RANK2FILE_SCR_1_2, HPCW_RANK2FILE_SCR_3};
    for (int k = 0; k < 4; k++) {
        hpcw_rank2file_layout layout = layouts[k / 2];
        char shared[100];
        (void)snprintf(shared, sizeof shared, k % 2 == 0 ? "out/restart" : "%s/rank_0.ckpt",
                       prefix_name_of(layout, 2));
        hpcw_error err = {.message = ""};
        hpcw_rank2file_tally tally;
        for (uint64_t id = 1; id <= 3; id++) {
            prefix_written(layout, id);
        }
        assert_int_equal(mkdir(in_prefix("out"), 0777), 0);
        prefix_plain_file(in_prefix("out/restart"), 10);
        list_too(layout, 1, shared);
        if (k % 2 == 0) {
            list_too(layout, 2, shared);
        }
        OK(hpcw_rank2file_drop(prefix_dir, NULL, prefix_name_of(layout, 1), NULL, NULL, &err));
        assert_true(prefix_exists(in_prefix("%s", shared)));
        assert_false(prefix_exists(in_prefix("%s", prefix_name_of(layout, 1))));
        OK(hpcw_rank2file_prune(prefix_dir, NULL, 1, NULL, &tally, &err));
        assert_int_equal(tally.removed, 1);
        assert_false(prefix_exists(in_prefix("%s", shared)));
        (void)prefix_end(state);
        (void)prefix_begin(state);
    }
}

/* A list of files to remove names files outside its dataset. These files may belong to another dataset, and
 * stay. */
static void an_intent_that_lists_others(void **state) {
    (void)state;
    hpcw_error err = {.message = ""};
    hpcw_rank2file_tally tally;
    prefix_written(HPCW_RANK2FILE_SCR_3, 1);
    prefix_plain_file(in_prefix("notes"), 10);
    assert_int_equal(mkdir(in_prefix("ckpt.9"), 0777), 0);
    prefix_plain_file(in_prefix("ckpt.9/rank_0.ckpt"), 10);
    prefix_write_marker(
        "hpcw.9.dropped", 1, "ckpt.9",
        "ckpt.9/rank_0.ckpt\nnotes\nckpt.1/rank_0.ckpt\n.scr/scr.dataset.1/rank2file\nckpt.9/\n");
    OK(hpcw_rank2file_prune(prefix_dir, NULL, 0, NULL, &tally, &err));
    assert_false(prefix_exists(in_prefix("ckpt.9")));
    assert_false(prefix_exists(in_prefix(".scr/hpcw.9.dropped")));
    assert_true(prefix_exists(in_prefix("notes")));
    assert_int_equal(prefix_restarts(&err), 1);
}

/* A dead writer had begun a file with the name of a user's file. The user's file stays. */
static void a_dead_writer_that_would_have_replaced(void **state) {
    (void)state;
    hpcw_error err = {.message = ""};
    hpcw_rank2file_tally tally;
    prefix_written(HPCW_RANK2FILE_SCR_3, 1);
    assert_int_equal(mkdir(in_prefix("results"), 0777) + mkdir(in_prefix("results/a"), 0777) +
                         mkdir(in_prefix("results/a/b"), 0777),
                     0);
    prefix_plain_file(in_prefix("results/a/b/half"), 10);
    die(HPCW_RANK2FILE_SCR_3, 2, "results");
    OK(hpcw_rank2file_prune(prefix_dir, NULL, 0, NULL, &tally, &err));
    assert_int_equal(tally.skipped, 0);
    assert_true(prefix_exists(in_prefix("results/a/b/half")));
    assert_int_equal(count_entries(in_prefix("results/a/b")), 1);
    assert_int_equal(count_entries(in_prefix("results")), 1);
}

/* The index is lost. A writer is refused if its dataset is complete, though no index lists the dataset. It may
 * replace the dataset. */
static void a_dataset_that_no_index_lists(void **state) {
    for (int k = 0; k < LAYOUTS; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        hpcw_error err = {.message = ""};
        hpcw_rank2file_tally tally;
        hpcw_rank2file *w;
        prefix_written(layout, 1);
        prefix_written(layout, 2);
        assert_int_equal(unlink(in_prefix(HPCW_RANK2FILE_INDEX)), 0);
        hpcw_rank2file_options o = prefix_options(layout, 2);
        assert_int_equal(hpcw_rank2file_open(prefix_dir, NULL, &o, &w, &err), HPCW_EEXIST);
        assert_non_null(strstr(err.message, "got one that is complete and that the index does not list"));
        OK(hpcw_rank2file_reindex(prefix_dir, NULL, &tally, &err));
        assert_int_equal(tally.added, 2);
        assert_int_equal(prefix_restarts(&err), 2);
        assert_int_equal(unlink(in_prefix(HPCW_RANK2FILE_INDEX)), 0);
        o.replace = true;
        OK(prefix_write(&o, &err));
        assert_int_equal(prefix_restarts(&err), 2);
        (void)prefix_end(state);
        (void)prefix_begin(state);
    }
}

/* The second attempt has fewer processes than the first one, which left a marker per process. */
static void markers_of_more_processes(void **state) {
    (void)state;
    hpcw_error err = {.message = ""};
    hpcw_rank2file_options o = prefix_options(HPCW_RANK2FILE_SCR_1_1, 2);
    o.dataset.name = "results";
    assert_int_equal(mkdir(in_prefix(".scr"), 0777), 0);
    prefix_write_marker("hpcw.2.unfinished.3", 1, "results", "rank_3\n");
    prefix_write_marker("hpcw.2.unfinished.4", 1, "another", "rank_4\n");
    prefix_write_marker("hpcw.3.unfinished.3", 1, "results", "rank_3\n");
    OK(prefix_write(&o, &err));
    assert_false(prefix_exists(in_prefix(".scr/hpcw.2.unfinished")));
    assert_false(prefix_exists(in_prefix(".scr/hpcw.2.unfinished.3")));
    /* the marker of another id stays */
    assert_true(prefix_exists(in_prefix(".scr/hpcw.3.unfinished.3")));
}

/* Layout "shared" has two summaries. A writer died between them. hpcw_rank2file_reindex does not count the
 * dataset as damaged. */
static void one_summary_of_two(void **state) {
    (void)state;
    hpcw_error err = {.message = ""};
    hpcw_rank2file_tally tally;
    prefix_written(HPCW_RANK2FILE_SHARED, 1);
    hpcw_kvtree *index = prefix_read_index();
    prefix_written(HPCW_RANK2FILE_SHARED, 2);
    prefix_write_index(index);
    assert_int_equal(unlink(in_prefix(".scr/scr.dataset.2/summary.scr")), 0);
    for (int marked = 0; marked < 2; marked++) {
        if (marked == 1) {
            prefix_write_marker("hpcw.2.unfinished", 1, prefix_name_of(HPCW_RANK2FILE_SHARED, 2),
                                "rank_0.ckpt\n");
        }
        OK(hpcw_rank2file_reindex(prefix_dir, NULL, &tally, &err));
        assert_int_equal(tally.added, 0);
        assert_int_equal(tally.skipped, 1 - marked);
        assert_int_equal(prefix_listed(), 1);
    }
}

/* ---- a lock file that somebody removes, as `find -empty -delete` does ---- */

static void a_writer_without_its_lock_file(void **state) {
    for (int k = 0; k < LAYOUTS; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        hpcw_rank2file_options o = prefix_options(layout, 2);
        hpcw_rank2file_tally tally;
        hpcw_rank2file *other;
        hpcw_error err = {.message = ""};
        prefix_written(layout, 1);
        hpcw_rank2file *w = prefix_opened(&o);
        OK(prefix_put(w, 0, NULL));
        OK(prefix_put(w, 1, NULL));
        assert_int_equal(unlink(in_prefix(".scr/hpcw.lock")), 0);
        /* The writer is alive: its files stay, and a second writer is refused. */
        OK(hpcw_rank2file_prune(prefix_dir, NULL, 0, NULL, &tally, NULL));
        assert_int_equal(tally.removed, 0);
        assert_int_equal(hpcw_rank2file_open(prefix_dir, NULL, &o, &other, &err), HPCW_EEXIST);
        assert_non_null(strstr(err.message, "another program is writing it, without .scr/hpcw.lock"));
        assert_int_equal(unlink(in_prefix(".scr/hpcw.lock")), 0);
        if (hpcw_rank2file_close(w, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        hpcw_rank2file_free(w);
        OK(hpcw_rank2file_check(prefix_dir, prefix_name_of(layout, 2), true, NULL));
        assert_int_equal(prefix_listed(), 2);
        (void)prefix_end(state);
        (void)prefix_begin(state);
    }
}

/* After a writer has died, another program writes the same dataset, which then belongs to this program. */
static void a_dataset_that_became_another_program_s(void **state) {
    for (int k = 0; k < LAYOUTS; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        hpcw_rank2file_options o = prefix_options(layout, 2);
        hpcw_error err = {.message = ""};
        hpcw_rank2file *w = prefix_opened(&o);
        OK(prefix_put(w, 0, NULL));
        OK(prefix_put(w, 1, NULL));
        assert_int_equal(unlink(in_prefix(".scr/hpcw.lock")), 0);
        assert_int_equal(unlink(in_prefix(".scr/hpcw.2.unfinished")),
                         0); /* as if the marker belonged to another user */
        o.dataset.job_name = "theirs";
        OK(prefix_write(&o, &err));
        assert_int_equal(hpcw_rank2file_close(w, &err), HPCW_EEXIST);
        hpcw_rank2file_free(w);
        if (hpcw_rank2file_check(prefix_dir, prefix_name_of(layout, 2), true, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        hpcw_rank2file_restart *r;
        OK(hpcw_rank2file_restart_open(prefix_dir, NULL, NULL, &r, NULL));
        assert_string_equal(hpcw_rank2file_restart_dataset(r)->job_name, "theirs");
        hpcw_rank2file_restart_free(r);
        (void)prefix_end(state);
        (void)prefix_begin(state);
    }
}

/* ---- the program closes descriptors of the library ---- */

/* Puts the file `path` of the program in place of an open file whose name ends with `end`. Returns its
 * descriptor. */
static int take_descriptor_of(const char *end, const char *path) {
    for (int fd = 3; fd < 256; fd++) {
        char link[64], text[900] = "";
        (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(link, text, sizeof text - 1);
        size_t size = strlen(end);
        if (n > (ssize_t)size && strcmp(text + n - size, end) == 0) {
            int mine = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
            assert_true(mine >= 0);
            assert_int_equal(dup2(mine, fd), fd);
            assert_int_equal(close(mine), 0);
            return fd;
        }
    }
    fail_msg("expected an open file %s, got none", end);
    return -1;
}

static void a_program_that_closes_descriptors(void **state) {
    (void)state;
    hpcw_rank2file_options o = prefix_options(HPCW_RANK2FILE_SCR_3, 1);
    hpcw_error err = {.message = ""};
    hpcw_rank2file *w = prefix_opened(&o);
    OK(prefix_put(w, 0, NULL));
    const int marker = take_descriptor_of("hpcw.1.unfinished", in_prefix("precious"));
    const int lock = take_descriptor_of("hpcw.lock", in_prefix("dear"));
    assert_int_not_equal(prefix_put(w, 1, &err), HPCW_OK);
    assert_non_null(strstr(err.message, "hpcw.1.unfinished: cannot note that the dataset is being written"));
    assert_int_not_equal(hpcw_rank2file_close(w, NULL), HPCW_OK);
    hpcw_rank2file_free(w);
    struct stat st;
    assert_int_equal(fstat(marker, &st), 0);
    assert_int_equal(st.st_size, 0);
    assert_int_equal(fstat(lock, &st), 0);
    assert_int_equal(st.st_size, 0);
    assert_int_equal(close(marker), 0);
    assert_int_equal(close(lock), 0);
}

/* ---- a prefix that moves ---- */

static void moved_while_it_is_open(void **state) {
    for (int k = 0; k < LAYOUTS; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        hpcw_error err = {.message = ""};
        hpcw_rank2file *w;
        hpcw_rank2file_options o = prefix_options(layout, 1);
        char home[400], away[400];
        assert_non_null(getcwd(home, sizeof home));
        (void)snprintf(away, sizeof away, "%s/away", prefix_outside);
        assert_int_equal(mkdir(away, 0777), 0);
        assert_int_equal(chdir(prefix_dir), 0);
        OK(hpcw_rank2file_open("run", NULL, &o, &w, &err));
        assert_int_equal(chdir(away), 0); /* as a solver that changes its working directory */
        OK(prefix_put(w, 0, &err));
        OK(prefix_put(w, 1, &err));
        if (hpcw_rank2file_close(w, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        hpcw_rank2file_free(w);
        assert_int_equal(count_entries(away), 0);
        /* The prefix directory is renamed, and another directory gets its old name. */
        o = prefix_options(layout, 2);
        OK(hpcw_rank2file_open(in_prefix("run"), NULL, &o, &w, &err));
        OK(prefix_put(w, 0, &err));
        assert_int_equal(rename(in_prefix("run"), in_prefix("renamed")), 0);
        assert_int_equal(mkdir(in_prefix("run"), 0777), 0);
        OK(prefix_put(w, 1, &err));
        if (hpcw_rank2file_close(w, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        hpcw_rank2file_free(w);
        assert_int_equal(count_entries(in_prefix("run")), 0);
        hpcw_rank2file_restart *r;
        OK(hpcw_rank2file_restart_open(in_prefix("renamed"), NULL, NULL, &r, &err));
        assert_int_equal(hpcw_rank2file_restart_dataset(r)->id, 2);
        hpcw_rank2file_restart_free(r);
        assert_int_equal(chdir(home), 0);
        assert_int_equal(rmdir(away), 0);
        (void)prefix_end(state);
        (void)prefix_begin(state);
    }
}

/* Writes two prefix directories with two datasets each. In "run", dataset 2 is damaged. */
static void write_twins(void) {
    char home[256];
    memcpy(home, prefix_dir, sizeof home);
    for (int k = 0; k < 2; k++) {
        (void)snprintf(prefix_dir, sizeof prefix_dir, "%.200s/%s", home, k == 0 ? "run" : "twin");
        prefix_written(HPCW_RANK2FILE_SCR_3, 1);
        prefix_written(HPCW_RANK2FILE_SCR_3, 2);
        if (k == 0) {
            assert_int_equal(unlink(in_prefix("ckpt.2/rank_0.ckpt")), 0);
        }
        memcpy(prefix_dir, home, sizeof home);
    }
}

static int calls_before_the_move;

/* Replaces the prefix directory "run" by "twin" before one system call. */
static int move_once(enum hpcw_i_sys_call call, size_t *size) {
    (void)call;
    (void)size;
    if (calls_before_the_move-- == 0) {
        return rename(in_prefix("run"), in_prefix("was")) != 0 ||
                       rename(in_prefix("twin"), in_prefix("run")) != 0
                   ? EIO
                   : 0;
    }
    return 0;
}

enum { PRUNE, DROP, REINDEX, UPKEEP };

static void look_after(int call) {
    hpcw_error err = {.message = ""};
    char run[400];
    (void)snprintf(run, sizeof run, "%s/run", prefix_dir);
    hpcw_status s = call == PRUNE  ? hpcw_rank2file_prune(run, NULL, 1, NULL, NULL, &err)
                    : call == DROP ? hpcw_rank2file_drop(run, NULL, "ckpt.2", NULL, NULL, &err)
                                   : hpcw_rank2file_reindex(run, NULL, NULL, &err);
    if (s != HPCW_OK) {
        fail_msg("%s", err.message);
    }
}

/* Whenever "twin" replaces the prefix directory during a call, the call works on the directory that it opened
 * first. */
static void moved_while_it_is_looked_after(void **state) {
    for (int call = 0; call < UPKEEP; call++) {
        bool moved = true;
        for (int n = 1; moved; n++) { /* the first call opens the prefix directory */
            write_twins();
            if (call == REINDEX) {
                assert_int_equal(unlink(in_prefix("run/.scr/index.scr")), 0);
                assert_int_equal(unlink(in_prefix("run/.scr/scr.dataset.2/summary.scr")), 0);
            } else if (call == DROP) {
                assert_int_equal(rename(in_prefix("twin/ckpt.2/rank_1.ckpt"), in_prefix("twin/ckpt.2/x")), 0);
            }
            calls_before_the_move = n;
            hpcw_i_sys_gate = move_once;
            look_after(call);
            hpcw_i_sys_gate = NULL;
            moved = calls_before_the_move < 0;
            const char *at = moved ? "was" : "run";
            assert_true(prefix_exists(in_prefix("%s/ckpt.1/rank_0.ckpt", at)));
            assert_true(prefix_exists(in_prefix("%s/ckpt.1/rank_1.ckpt", at)));
            if (call == DROP) {
                assert_false(prefix_exists(in_prefix("%s/ckpt.2", at)));
            } else if (call == REINDEX) {
                hpcw_rank2file_list *list;
                OK(hpcw_rank2file_list_open(in_prefix("%s", at), NULL, &list, NULL));
                assert_int_equal(hpcw_rank2file_list_count(list), 1);
                hpcw_rank2file_list_free(list);
            }
            if (moved) {
                assert_true(prefix_exists(in_prefix("run/ckpt.1/rank_0.ckpt")));
                assert_true(prefix_exists(in_prefix("run/ckpt.2/rank_0.ckpt")));
            }
            (void)prefix_end(state);
            (void)prefix_begin(state);
        }
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, prefix_begin_guarded, prefix_end_guarded)
    const struct CMUnitTest tests[] = {
        TEST(a_dead_writer_in_a_directory_of_the_user),
        TEST(two_dead_writers),
        TEST(a_file_of_two_datasets),
        TEST(an_intent_that_lists_others),
        TEST(a_dead_writer_that_would_have_replaced),
        TEST(a_dataset_that_no_index_lists),
        TEST(markers_of_more_processes),
        TEST(one_summary_of_two),
        TEST(a_writer_without_its_lock_file),
        TEST(a_dataset_that_became_another_program_s),
        TEST(a_program_that_closes_descriptors),
        TEST(moved_while_it_is_open),
        TEST(moved_while_it_is_looked_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
