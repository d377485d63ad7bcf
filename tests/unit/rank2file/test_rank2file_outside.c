/* SPDX-License-Identifier: BSD-3-Clause */
/* Nothing outside a prefix is touched, nor anything inside it that no map or marker lists. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <hpcw/rank2file.h>
#include <hpcw/sink.h>

#include "libwriter/format/rank2file/prefix/marker.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sys.h"
#include "tests/support/files.h"
#include "tests/support/prefix.h"

#define OK(call) assert_int_equal(call, HPCW_OK)

enum { LAYOUTS = 4 };

static bool has_1_1(hpcw_rank2file_layout layout) {
    return layout == HPCW_RANK2FILE_SCR_1_1 || layout == HPCW_RANK2FILE_SHARED;
}

/* Checks that a drop fails with a message that names the link, and changes nothing. */
static void assert_drop_refused(const char *dataset, const char *words) {
    hpcw_error err = {.message = ""};
    uint32_t before = prefix_listed();
    for (int all = 0; all < 2; all++) {
        hpcw_rank2file_removal how;
        hpcw_rank2file_removal_init(&how);
        how.all_files = all == 1;
        assert_int_equal(hpcw_rank2file_drop(prefix_dir, NULL, dataset, &how, NULL, &err), HPCW_EACCES);
        if (strstr(err.message, words) == NULL || strstr(err.message, "expected no symbolic link") == NULL) {
            fail_msg("%s", err.message);
        }
    }
    assert_int_equal(prefix_listed(), before);
    assert_false(prefix_exists(in_prefix(".scr/hpcw.1.dropped")));
}

static void assert_prune_skips(uint32_t keep, const char *words) {
    hpcw_error err = {.message = ""};
    hpcw_rank2file_tally tally;
    OK(hpcw_rank2file_prune(prefix_dir, NULL, keep, NULL, &tally, &err));
    assert_int_equal(tally.removed, 0);
    assert_int_equal(tally.skipped, 1);
    if (strstr(tally.why.message, words) == NULL) {
        fail_msg("%s", tally.why.message);
    }
}

/* ---- links ---- */

/* The directory of a dataset is elsewhere. Reading follows the link, removing does not. */
static void a_dataset_behind_a_link(void **state) {
    for (int k = 0; k < LAYOUTS; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        for (uint64_t id = 1; id <= 3; id++) {
            prefix_written(layout, id);
        }
        char elsewhere[400];
        (void)snprintf(elsewhere, sizeof elsewhere, "%s/data", prefix_outside);
        for (uint64_t id = 1; id <= 3; id += 2) {
            (void)snprintf(elsewhere, sizeof elsewhere, "%s/data%u", prefix_outside, (unsigned)id);
            assert_int_equal(rename(in_prefix("%s", prefix_name_of(layout, id)), elsewhere), 0);
            assert_int_equal(symlink(elsewhere, in_prefix("%s", prefix_name_of(layout, id))), 0);
        }
        assert_int_equal(prefix_restarts(NULL), 3);
        assert_drop_refused(prefix_name_of(layout, 1), prefix_name_of(layout, 1));
        hpcw_error err = {.message = ""};
        hpcw_rank2file_tally tally;
        OK(hpcw_rank2file_drop(prefix_dir, NULL, prefix_name_of(layout, 2), NULL, NULL, &err));
        assert_prune_skips(1, "expected no symbolic link");
        OK(hpcw_rank2file_reindex(prefix_dir, NULL, &tally, &err));
        assert_int_equal(tally.removed + tally.skipped, 0);
        assert_int_equal(prefix_listed(), 2);
        assert_int_equal(prefix_restarts(&err), 3);
        for (uint64_t id = 1; id <= 3; id += 2) {
            (void)snprintf(elsewhere, sizeof elsewhere, "%s/data%u", prefix_outside, (unsigned)id);
            assert_int_equal(count_entries(elsewhere), has_1_1(layout) ? 3 : 2);
            scratch_remove(elsewhere);
        }
        (void)prefix_end(state);
        (void)prefix_begin(state);
    }
}

/* A directory of the data files or of the metadata is a link. */
static void a_file_behind_a_link(void **state) {
    for (int k = 0; k < LAYOUTS; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        hpcw_rank2file_file *file;
        hpcw_rank2file_options o = prefix_options(layout, 1);
        hpcw_rank2file *w = prefix_opened(&o);
        OK(hpcw_rank2file_create(w, 0, "sub/rank_0.ckpt", &file, NULL));
        OK(hpcw_rank2file_file_close(file, NULL));
        hpcw_rank2file_file_free(file);
        OK(hpcw_rank2file_close(w, NULL));
        hpcw_rank2file_free(w);
        prefix_written(layout, 2);
        char sub[700], metadata[700], words[100];
        (void)snprintf(sub, sizeof sub, "%s/%s/sub", prefix_dir, prefix_name_of(layout, 1));
        assert_int_equal(rename(sub, in_prefix("away")), 0);
        assert_int_equal(symlink(prefix_outside, sub), 0);
        (void)snprintf(words, sizeof words, "%s/sub: expected no symbolic link", prefix_name_of(layout, 1));
        assert_drop_refused(prefix_name_of(layout, 1), words);
        assert_prune_skips(1, words);
        assert_int_equal(unlink(sub), 0);
        assert_int_equal(rename(in_prefix("away"), sub), 0);
        /* The directory of the dataset's metadata is a link. */
        (void)snprintf(metadata, sizeof metadata, "%s/%s%s", prefix_dir,
                       has_1_1(layout) ? prefix_name_of(layout, 1) : "",
                       has_1_1(layout) ? "/.scr" : ".scr/scr.dataset.1");
        assert_int_equal(rename(metadata, in_prefix("away")), 0);
        assert_int_equal(symlink(in_prefix("away"), metadata), 0);
        assert_drop_refused(prefix_name_of(layout, 1), strrchr(metadata, '/'));
        assert_int_equal(unlink(metadata), 0);
        assert_int_equal(rename(in_prefix("away"), metadata), 0);
        /* A link in place of a file is removed, and its target stays. */
        const char *data = in_prefix("%s/sub/rank_0.ckpt", prefix_name_of(layout, 1));
        assert_int_equal(unlink(data), 0);
        assert_int_equal(symlink(prefix_victim(0), data), 0);
        OK(hpcw_rank2file_drop(prefix_dir, NULL, prefix_name_of(layout, 1), NULL, NULL, NULL));
        assert_false(prefix_exists(in_prefix("%s", prefix_name_of(layout, 1))));
        (void)prefix_end(state);
        (void)prefix_begin(state);
    }
}

/* The prefix's metadata must be in a real directory. The prefix itself may be behind a link. */
static void a_prefix_behind_a_link(void **state) {
    (void)state;
    char elsewhere[400];
    hpcw_error err = {.message = ""};
    hpcw_rank2file_options o = prefix_options(HPCW_RANK2FILE_SCR_1_1, 1);
    (void)snprintf(elsewhere, sizeof elsewhere, "%s/prefix", prefix_outside);
    assert_int_equal(mkdir(elsewhere, 0777), 0);
    assert_int_equal(rmdir(prefix_dir), 0);
    assert_int_equal(symlink(elsewhere, prefix_dir), 0);
    OK(prefix_write(&o, &err));
    assert_int_equal(prefix_restarts(NULL), 1);
    OK(hpcw_rank2file_drop(prefix_dir, NULL, "scr.dataset.1", NULL, NULL, &err));
    assert_int_equal(count_entries(elsewhere), 1);
    assert_int_equal(unlink(prefix_dir), 0);
    assert_int_equal(mkdir(prefix_dir, 0777), 0);
    assert_int_equal(symlink(elsewhere, in_prefix("%s", ".scr")), 0);
    assert_int_equal(prefix_write(&o, &err), HPCW_EACCES);
    assert_non_null(strstr(err.message, ".scr: expected no symbolic link, got one"));
    scratch_remove(elsewhere);
}

/* A writer whose directory is replaced by a link creates nothing behind the link. */
static void a_writer_behind_a_link(void **state) {
    (void)state;
    hpcw_error err = {.message = ""};
    hpcw_rank2file_file *file;
    hpcw_rank2file_options o = prefix_options(HPCW_RANK2FILE_SCR_3, 1);
    hpcw_rank2file *w = prefix_opened(&o);
    assert_int_equal(symlink(prefix_outside, in_prefix("ckpt.1/sub")), 0);
    assert_int_equal(hpcw_rank2file_create(w, 0, "sub/new", &file, &err), HPCW_EACCES);
    assert_non_null(strstr(err.message, "ckpt.1/sub: expected no symbolic link, got one"));
    assert_int_equal(rmdir(in_prefix(".scr/scr.dataset.1")), 0);
    assert_int_equal(symlink(prefix_outside, in_prefix(".scr/scr.dataset.1")), 0);
    assert_int_equal(hpcw_rank2file_close(w, &err), HPCW_EACCES);
    hpcw_rank2file_free(w);
    assert_int_equal(count_entries(prefix_outside), PREFIX_VICTIMS);
}

/* The dataset's directory is a link to a directory, a dangling link, or a file. */
static void a_writer_whose_directory_is_none(void **state) {
    (void)state;
    for (int k = 0; k < LAYOUTS; k++) {
        for (int what = 0; what < 3; what++) {
            hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
            hpcw_rank2file_options o = prefix_options(layout, 1);
            hpcw_rank2file *w;
            hpcw_error err = {.message = ""};
            const char *directory = in_prefix("%s", prefix_name_of(layout, 1));
            if (what == 2) {
                prefix_plain_file(directory, 10);
            } else {
                assert_int_equal(symlink(what == 0 ? prefix_outside : "nowhere", directory), 0);
            }
            hpcw_status s = hpcw_rank2file_open(prefix_dir, NULL, &o, &w, &err);
            assert_int_equal(s, what == 2 ? HPCW_ENOENT : HPCW_EACCES);
            assert_non_null(strstr(err.message, prefix_name_of(layout, 1)));
            assert_false(prefix_exists(in_prefix(".scr/hpcw.1.unfinished")));
            assert_int_equal(unlink(in_prefix("%s", prefix_name_of(layout, 1))), 0);
        }
    }
}

/* ---- files that no map lists ---- */

static void add_to_index(const char *name, const char *id) {
    hpcw_kvtree *index = prefix_read_index();
    hpcw_kvtree *node;
    OK(hpcw_kvtree_add(hpcw_kvtree_get(index, "DIR"), name, &node, NULL));
    OK(hpcw_kvtree_set(node, "DSET", id, NULL));
    OK(hpcw_kvtree_add(hpcw_kvtree_get(index, "DSET"), id, &node, NULL));
    OK(hpcw_kvtree_add(node, "DIR", &node, NULL));
    OK(hpcw_kvtree_add(node, name, &node, NULL));
    OK(hpcw_kvtree_set(node, "COMPLETE", "1", NULL));
    prefix_write_index(index);
}

static void make_source(void) {
    assert_int_equal(mkdir(in_prefix("src"), 0777), 0);
    assert_int_equal(mkdir(in_prefix("src/sub"), 0777), 0);
    prefix_plain_file(in_prefix("src/main.c"), 100);
    prefix_plain_file(in_prefix("src/sub/.hpcw-0000000000000001-x.tmp"), 10);
    assert_int_equal(symlink(prefix_outside, in_prefix("src/link")), 0);
}

enum { SOURCES = 3 };
static char told_path[16][600];
static unsigned told_paths;

/* All files reported so far still exist: reports come before removals. */
static void tell(void *context, const char *path) {
    assert_ptr_equal(context, told_path);
    assert_true(told_paths < 16);
    (void)snprintf(told_path[told_paths++], sizeof told_path[0], "%s", path);
    for (unsigned i = 0; i < told_paths; i++) {
        assert_true(prefix_exists(told_path[i]));
    }
    assert_true(prefix_exists(in_prefix("src/main.c")));
}

static hpcw_rank2file_removal all_files(void) {
    hpcw_rank2file_removal how;
    hpcw_rank2file_removal_init(&how);
    how.all_files = true;
    how.told = tell;
    how.context = told_path;
    told_paths = 0;
    return how;
}

static void an_index_that_names_a_directory(void **state) {
    (void)state;
    hpcw_error err = {.message = ""};
    hpcw_rank2file_tally tally;
    prefix_written(HPCW_RANK2FILE_SCR_1_1, 5);
    make_source();
    add_to_index("src", "1");
    assert_int_equal(hpcw_rank2file_drop(prefix_dir, NULL, "src", NULL, NULL, &err), HPCW_ENOENT);
    assert_non_null(strstr(err.message, "src: its map cannot be read"));
    assert_prune_skips(1, "--all-files");
    assert_true(prefix_exists(in_prefix("src/main.c")));
    assert_true(prefix_exists(in_prefix("src/sub/.hpcw-0000000000000001-x.tmp")));
    assert_int_equal(prefix_listed(), 2);
    /* If the user allows to remove all files, each is reported before any is removed. */
    hpcw_rank2file_removal how = all_files();
    OK(hpcw_rank2file_prune(prefix_dir, NULL, 1, &how, &tally, &err));
    assert_int_equal(told_paths, SOURCES);
    assert_int_equal(tally.removed, 1);
    assert_int_equal(tally.left, 0);
    assert_false(prefix_exists(in_prefix("src")));
    assert_int_equal(prefix_listed(), 1);
}

static void a_marker_that_names_a_directory(void **state) {
    hpcw_error err = {.message = ""};
    hpcw_rank2file_tally tally;
    for (int made = 0; made < 2; made++) {
        prefix_written(HPCW_RANK2FILE_SCR_1_1, 5);
        make_source();
        prefix_write_marker("hpcw.7.unfinished", made, "src", NULL);
        assert_prune_skips(0, "expected a marker that lists its files, got one of an earlier version");
        assert_true(prefix_exists(in_prefix("src/main.c")));
        assert_true(prefix_exists(in_prefix("src/sub/.hpcw-0000000000000001-x.tmp")));
        hpcw_rank2file_removal how = all_files();
        OK(hpcw_rank2file_prune(prefix_dir, NULL, 0, &how, &tally, &err));
        assert_int_equal(told_paths, SOURCES);
        assert_int_equal(tally.removed, 1);
        assert_false(prefix_exists(in_prefix("src")));
        assert_false(prefix_exists(in_prefix(".scr/hpcw.7.unfinished")));
        (void)prefix_end(state);
        (void)prefix_begin(state);
    }
    /* A marker names a directory that is a link. */
    prefix_written(HPCW_RANK2FILE_SCR_1_1, 5);
    assert_int_equal(symlink(prefix_outside, in_prefix("src")), 0);
    prefix_write_marker("hpcw.7.unfinished", 1, "src", NULL);
    hpcw_rank2file_removal how;
    hpcw_rank2file_removal_init(&how);
    how.all_files = true;
    OK(hpcw_rank2file_prune(prefix_dir, NULL, 0, &how, &tally, &err));
    assert_int_equal(tally.skipped, 1);
    assert_non_null(strstr(tally.why.message, "src: expected no symbolic link"));
}

/* A map must not list the index as a data file. */
static void a_map_that_names_the_index(void **state) {
    for (int k = 1; k < 3; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        hpcw_error err = {.message = ""};
        hpcw_kvtree *leaf;
        prefix_written(layout, 1);
        const char *path =
            in_prefix(".scr/scr.dataset.1/rank2file.0.0%s", layout == HPCW_RANK2FILE_SCR_3 ? "" : ".scr");
        OK(hpcw_kvtree_read_file(path, &leaf, NULL));
        hpcw_kvtree *files = hpcw_kvtree_get(hpcw_kvtree_get(hpcw_kvtree_get(leaf, "RANK"), "0"), "FILE");
        OK(hpcw_kvtree_add(files, HPCW_RANK2FILE_INDEX, NULL, NULL));
        OK(hpcw_kvtree_write_file(leaf, path, HPCW_SYNC_NONE, NULL));
        hpcw_kvtree_free(leaf);
        assert_int_equal(hpcw_rank2file_drop(prefix_dir, NULL, prefix_name_of(layout, 1), NULL, NULL, &err),
                         HPCW_EFORMAT);
        assert_non_null(strstr(err.message, "expected a data file, got .scr/index.scr"));
        assert_int_equal(prefix_listed(), 1);
        (void)prefix_end(state);
        (void)prefix_begin(state);
    }
}

/* Files that only look like those of a dataset stay. */
static void what_is_left(void **state) {
    for (int k = 0; k < LAYOUTS; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        static const char *const own[] = {"rank2file_notes", "rank2file.0", "rank2file.0.0.bak",
                                          "rank2file.0.x", "summary.scr.old"};
        enum { OWN = sizeof own / sizeof own[0] };
        hpcw_rank2file_tally tally;
        hpcw_error err = {.message = ""};
        for (uint64_t id = 1; id <= 2; id++) {
            prefix_written(layout, id);
        }
        const char *metadata =
            has_1_1(layout) ? in_prefix("%s/.scr", prefix_name_of(layout, 1)) : in_prefix(".scr/scr.dataset.1");
        char path[OWN][700];
        for (size_t i = 0; i < OWN; i++) {
            (void)snprintf(path[i], sizeof path[i], "%s/%s", metadata, own[i]);
            prefix_plain_file(path[i], 10);
        }
        /* The temporary file of `mine` stays. Those of rank_1.ckpt, which the map lists, are removed. */
        prefix_plain_file(in_prefix("%s/.hpcw-0000000000000001-mine.tmp", prefix_name_of(layout, 1)), 10);
        prefix_plain_file(in_prefix("%s/.hpcw-0000000000000001-rank_1.ckpt.tmp", prefix_name_of(layout, 1)),
                          10);
        prefix_plain_file(in_prefix("%s/.hpcw-0000000000000002-rank_1.ckpt.tmp", prefix_name_of(layout, 1)),
                          10);
        OK(hpcw_rank2file_drop(prefix_dir, NULL, prefix_name_of(layout, 1), NULL, &tally, &err));
        assert_int_equal(tally.removed, 1);
        assert_int_equal(tally.left, OWN + 1);
        assert_int_equal(count_entries(in_prefix("%s", prefix_name_of(layout, 1))), has_1_1(layout) ? 2 : 1);
        for (size_t i = 0; i < OWN; i++) {
            assert_true(prefix_exists(path[i]));
        }
        (void)prefix_end(state);
        (void)prefix_begin(state);
    }
}

/* ---- planted files ---- */

/* Plants a link, a pipe or a foreign file in place of a file of the library. */
static void plant(int kind, const char *path) {
    (void)unlink(path);
    assert_int_equal(kind == 0   ? symlink(prefix_victim(0), path)
                     : kind == 1 ? mkfifo(path, 0666)
                     : kind == 2 ? link(prefix_victim(1), path)
                                 : symlink("/nonexistent/none", path),
                     0);
}
enum { KINDS = 4 };

static void planted_markers(void **state) {
    for (int kind = 0; kind < KINDS; kind++) {
        hpcw_error err = {.message = ""};
        hpcw_rank2file_tally tally;
        prefix_written(HPCW_RANK2FILE_SCR_1_1, 1);
        prefix_written(HPCW_RANK2FILE_SCR_1_1, 2);
        /* Programs that only read ignore a planted file in place of a marker. */
        plant(kind, in_prefix(".scr/hpcw.7.unfinished"));
        plant(kind, in_prefix(".scr/hpcw.7.unfinished.3"));
        plant(kind, in_prefix(".scr/hpcw.8.dropped"));
        OK(hpcw_rank2file_prune(prefix_dir, NULL, 0, NULL, &tally, &err));
        OK(hpcw_rank2file_reindex(prefix_dir, NULL, &tally, &err));
        assert_int_equal(prefix_listed(), 2);
        /* Programs that write replace a planted file. */
        plant(kind, in_prefix(".scr/hpcw.3.unfinished"));
        plant(kind, in_prefix(".scr/hpcw.3.dropped"));
        prefix_written(HPCW_RANK2FILE_SCR_1_1, 3);
        plant(kind, in_prefix(".scr/hpcw.3.dropped"));
        OK(hpcw_rank2file_drop(prefix_dir, NULL, "scr.dataset.3", NULL, NULL, &err));
        assert_false(prefix_exists(in_prefix(".scr/hpcw.3.dropped")));
        (void)prefix_end(state);
        (void)prefix_begin(state);
    }
}

static void planted_locks(void **state) {
    for (int kind = 0; kind < KINDS; kind++) {
        hpcw_error err = {.message = ""};
        hpcw_rank2file_options o = prefix_options(HPCW_RANK2FILE_SCR_1_1, 2);
        prefix_written(HPCW_RANK2FILE_SCR_1_1, 1);
        plant(kind, in_prefix(".scr/hpcw.lock"));
        hpcw_status s = prefix_write(&o, &err);
        if (kind == 2) { /* a hard link: locking does not change a file */
            OK(s);
        } else {
            assert_int_not_equal(s, HPCW_OK);
            assert_non_null(strstr(err.message, kind == 1
                                                    ? "hpcw.lock: cannot open the lock: expected a regular"
                                                    : "hpcw.lock: expected no symbolic link"));
            assert_int_not_equal(hpcw_rank2file_prune(prefix_dir, NULL, 0, NULL, NULL, &err), HPCW_OK);
        }
        (void)prefix_end(state);
        (void)prefix_begin(state);
    }
}

/* If a directory has the name of a marker, the writer fails with a message that names the marker. */
static void a_directory_as_a_marker(void **state) {
    (void)state;
    hpcw_error err = {.message = ""};
    hpcw_rank2file_options o = prefix_options(HPCW_RANK2FILE_SCR_1_1, 2);
    prefix_written(HPCW_RANK2FILE_SCR_1_1, 1);
    assert_int_equal(mkdir(in_prefix(".scr/hpcw.2.unfinished"), 0777), 0);
    assert_int_not_equal(prefix_write(&o, &err), HPCW_OK);
    assert_non_null(strstr(err.message, ".scr/hpcw.2.unfinished: cannot note that"));
}

/* Markers of another user are not trusted: whoever may write in .scr could make this user remove files. The
 * lock file may belong to anybody. */
static void files_of_another_user(void **state) {
    (void)state;
    enum { NOBODY = 65534 };
    hpcw_error err = {.message = ""};
    if (geteuid() != 0) {
        skip();
    }
    prefix_written(HPCW_RANK2FILE_SCR_1_1, 5);
    assert_int_equal(chown(in_prefix(".scr/hpcw.lock"), NOBODY, NOBODY), 0);
    make_source();
    prefix_write_marker("hpcw.7.unfinished", 1, "src", "main.c\n");
    prefix_write_marker("hpcw.8.dropped", 0, "src", "src/main.c\n");
    assert_int_equal(chown(in_prefix(".scr/hpcw.7.unfinished"), NOBODY, NOBODY), 0);
    assert_int_equal(chown(in_prefix(".scr/hpcw.8.dropped"), NOBODY, NOBODY), 0);
    assert_prune_skips(0, "expected a file of this user, got another user's");
    assert_true(prefix_exists(in_prefix("src/main.c")));
    /* The same marker, owned by this user, is trusted. */
    assert_int_equal(chown(in_prefix(".scr/hpcw.7.unfinished"), 0, 0), 0);
    OK(hpcw_rank2file_prune(prefix_dir, NULL, 0, NULL, NULL, &err));
    assert_false(prefix_exists(in_prefix("src/main.c")));
    assert_true(prefix_exists(in_prefix("src/link")));
    prefix_write_marker("hpcw.7.unfinished", 1, "src", "main.c\n");
    assert_int_equal(chown(in_prefix(".scr/hpcw.7.unfinished"), NOBODY, NOBODY), 0);
    /* A writer of dataset 7 replaces the marker. */
    prefix_written(HPCW_RANK2FILE_SCR_1_1, 7);
    assert_false(prefix_exists(in_prefix(".scr/hpcw.7.unfinished")));
    prefix_written(HPCW_RANK2FILE_SCR_1_1, 8);
    assert_int_equal(prefix_restarts(&err), 8);
    /* Another user's marker says that dataset 9 is being dropped. The writer is refused, the marker stays, and
     * the index does not list the dataset again. */
    hpcw_rank2file_options o = prefix_options(HPCW_RANK2FILE_SCR_1_1, 9);
    hpcw_kvtree *index = prefix_read_index();
    prefix_written(HPCW_RANK2FILE_SCR_1_1, 9);
    prefix_write_index(index);
    prefix_write_marker("hpcw.9.dropped", 0, "scr.dataset.9", "scr.dataset.9/rank_0.ckpt\n");
    assert_int_equal(chown(in_prefix(".scr/hpcw.9.dropped"), NOBODY, NOBODY), 0);
    assert_int_equal(prefix_write(&o, &err), HPCW_EEXIST);
    assert_true(prefix_exists(in_prefix(".scr/hpcw.9.dropped")));
    OK(hpcw_rank2file_reindex(prefix_dir, NULL, NULL, &err));
    assert_int_equal(prefix_restarts(&err), 8);
}

static int opens_before;

static int refuse_to_open(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    return call == HPCW_I_SYS_OPEN && opens_before-- == 0 ? EACCES : 0;
}

/* A marker of another user is ignored. A marker of this user that cannot be opened is an error. */
static void an_own_file_that_is_refused(void **state) {
    (void)state;
    const struct hpcw_i_r2f_which which = {.kind = HPCW_I_R2F_UNFINISHED, .id = 7};
    struct hpcw_i_r2f_marker marker;
    struct hpcw_i_r2f_prefix p;
    hpcw_error err = {.message = ""};
    prefix_written(HPCW_RANK2FILE_SCR_1_1, 5);
    make_source();
    prefix_write_marker("hpcw.7.unfinished", 1, "src", "main.c\n");
    OK(hpcw_i_r2f_hold(prefix_dir, &p, &err));
    opens_before = 1; /* the first open, of .scr, succeeds */
    hpcw_i_sys_gate = refuse_to_open;
    hpcw_status s = hpcw_i_r2f_marker_read(&p, &which, &marker, &err);
    hpcw_i_sys_gate = NULL;
    hpcw_i_r2f_marker_free(&marker);
    hpcw_i_dir_release(p.dir);
    assert_int_equal(s, HPCW_EACCES);
    assert_non_null(strstr(err.message, ".scr/hpcw.7.unfinished: cannot open for reading: Permission denied"));
}

/* ---- living writers ---- */

/* Temporary files of living writers in a dataset's directory stay, whoever writes them. */
static void temporary_files_of_the_living(void **state) {
    for (int k = 0; k < LAYOUTS; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        hpcw_error err = {.message = ""};
        hpcw_sink *sink[3];
        for (uint64_t id = 1; id <= 2; id++) {
            prefix_written(layout, id);
        }
        OK(hpcw_sink_open_file(in_prefix("%s/other.sion", prefix_name_of(layout, 1)), HPCW_SYNC_NONE, &sink[0],
                               &err));
        OK(hpcw_sink_open_file(in_prefix("%s/rank_1.ckpt", prefix_name_of(layout, 1)), HPCW_SYNC_NONE, &sink[1],
                               &err));
        OK(hpcw_sink_open_file(in_prefix(HPCW_RANK2FILE_INDEX), HPCW_SYNC_NONE, &sink[2], &err));
        OK(hpcw_rank2file_prune(prefix_dir, NULL, 0, NULL, NULL, &err));
        OK(hpcw_rank2file_prune(prefix_dir, NULL, 1, NULL, NULL, &err));
        OK(hpcw_rank2file_reindex(prefix_dir, NULL, NULL, &err));
        for (int i = 0; i < 2; i++) {
            OK(hpcw_sink_write_at(sink[i], 0, "x", 1, &err));
            if (hpcw_sink_publish(sink[i], &err) != HPCW_OK) {
                fail_msg("%s", err.message);
            }
        }
        for (int i = 0; i < 3; i++) {
            hpcw_sink_free(sink[i]);
        }
        (void)prefix_end(state);
        (void)prefix_begin(state);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, prefix_begin_guarded, prefix_end_guarded)
    const struct CMUnitTest tests[] = {
        TEST(a_dataset_behind_a_link),
        TEST(a_file_behind_a_link),
        TEST(a_prefix_behind_a_link),
        TEST(a_writer_behind_a_link),
        TEST(a_writer_whose_directory_is_none),
        TEST(an_index_that_names_a_directory),
        TEST(a_marker_that_names_a_directory),
        TEST(a_map_that_names_the_index),
        TEST(what_is_left),
        TEST(planted_markers),
        TEST(planted_locks),
        TEST(a_directory_as_a_marker),
        TEST(files_of_another_user),
        TEST(an_own_file_that_is_refused),
        TEST(temporary_files_of_the_living),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
