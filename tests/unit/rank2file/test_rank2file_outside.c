/* SPDX-License-Identifier: BSD-3-Clause */
/* Nothing outside a prefix is touched, and nothing in it that no map and no marker lists. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

/* What must stay as it is: a directory beside the prefix, with a file of each name that a dataset has. */
static char outside[256];
static const char *const victims[] = {"rank_0.ckpt",   "rank_1.ckpt",       "rank2file",   "rank2file.0.0",
                                      "rank2file.scr", "rank2file.0.0.scr", "summary.scr", "notes"};
enum { VICTIMS = sizeof victims / sizeof victims[0], VICTIM_BYTES = 77 };

static const char *victim(size_t i) {
    static char path[400];
    (void)snprintf(path, sizeof path, "%s/%s", outside, victims[i]);
    return path;
}

static int begin(void **state) {
    scratch_make(outside, sizeof outside);
    for (size_t i = 0; i < VICTIMS; i++) {
        prefix_plain_file(victim(i), VICTIM_BYTES);
    }
    (void)alarm(100); /* a hang is a failure */
    return prefix_begin(state);
}

static int end(void **state) {
    (void)alarm(0);
    for (size_t i = 0; i < VICTIMS; i++) {
        struct stat st;
        if (lstat(victim(i), &st) != 0 || st.st_size != VICTIM_BYTES) {
            print_error("%s is gone, or another\n", victim(i));
            return -1;
        }
    }
    scratch_remove(outside);
    return prefix_end(state);
}

static const char *name_of(hpcw_rank2file_layout layout, uint64_t id) {
    static char name[4][64];
    static unsigned next;
    char *p = name[next++ % 4];
    (void)snprintf(p, sizeof name[0], "%s.%u", layout == HPCW_RANK2FILE_SCR_3 ? "ckpt" : "scr.dataset",
                   (unsigned)id);
    return p;
}

static bool has_1_1(hpcw_rank2file_layout layout) {
    return layout == HPCW_RANK2FILE_SCR_1_1 || layout == HPCW_RANK2FILE_SHARED;
}

/* The call must refuse, with a message that names the link, and change nothing. */
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

/* The directory of a dataset is elsewhere: reading goes through the link, removing does not. */
static void a_dataset_behind_a_link(void **state) {
    for (int k = 0; k < LAYOUTS; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        for (uint64_t id = 1; id <= 3; id++) {
            prefix_written(layout, id);
        }
        char elsewhere[400];
        (void)snprintf(elsewhere, sizeof elsewhere, "%s/data", outside);
        for (uint64_t id = 1; id <= 3; id += 2) {
            (void)snprintf(elsewhere, sizeof elsewhere, "%s/data%u", outside, (unsigned)id);
            assert_int_equal(rename(in_prefix("%s", name_of(layout, id)), elsewhere), 0);
            assert_int_equal(symlink(elsewhere, in_prefix("%s", name_of(layout, id))), 0);
        }
        assert_int_equal(prefix_restarts(NULL), 3);
        assert_drop_refused(name_of(layout, 1), name_of(layout, 1));
        hpcw_error err = {.message = ""};
        hpcw_rank2file_tally tally;
        OK(hpcw_rank2file_drop(prefix_dir, NULL, name_of(layout, 2), NULL, NULL, &err));
        assert_prune_skips(1, "expected no symbolic link");
        OK(hpcw_rank2file_reindex(prefix_dir, NULL, &tally, &err));
        assert_int_equal(tally.removed + tally.skipped, 0);
        assert_int_equal(prefix_listed(), 2);
        assert_int_equal(prefix_restarts(&err), 3);
        for (uint64_t id = 1; id <= 3; id += 2) {
            (void)snprintf(elsewhere, sizeof elsewhere, "%s/data%u", outside, (unsigned)id);
            assert_int_equal(count_entries(elsewhere), has_1_1(layout) ? 3 : 2);
            scratch_remove(elsewhere);
        }
        (void)prefix_end(state);
        (void)prefix_begin(state);
    }
}

/* A directory of the data files, or of the metadata, is a link. */
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
        (void)snprintf(sub, sizeof sub, "%s/%s/sub", prefix_dir, name_of(layout, 1));
        assert_int_equal(rename(sub, in_prefix("away")), 0);
        assert_int_equal(symlink(outside, sub), 0);
        (void)snprintf(words, sizeof words, "%s/sub: expected no symbolic link", name_of(layout, 1));
        assert_drop_refused(name_of(layout, 1), words);
        assert_prune_skips(1, words);
        assert_int_equal(unlink(sub), 0);
        assert_int_equal(rename(in_prefix("away"), sub), 0);
        /* The directory of the metadata. */
        (void)snprintf(metadata, sizeof metadata, "%s/%s%s", prefix_dir,
                       has_1_1(layout) ? name_of(layout, 1) : "",
                       has_1_1(layout) ? "/.scr" : ".scr/scr.dataset.1");
        assert_int_equal(rename(metadata, in_prefix("away")), 0);
        assert_int_equal(symlink(in_prefix("away"), metadata), 0);
        assert_drop_refused(name_of(layout, 1), strrchr(metadata, '/'));
        assert_int_equal(unlink(metadata), 0);
        assert_int_equal(rename(in_prefix("away"), metadata), 0);
        /* A link in place of a file goes, and what it leads to stays. */
        const char *data = in_prefix("%s/sub/rank_0.ckpt", name_of(layout, 1));
        assert_int_equal(unlink(data), 0);
        assert_int_equal(symlink(victim(0), data), 0);
        OK(hpcw_rank2file_drop(prefix_dir, NULL, name_of(layout, 1), NULL, NULL, NULL));
        assert_false(prefix_exists(in_prefix("%s", name_of(layout, 1))));
        (void)prefix_end(state);
        (void)prefix_begin(state);
    }
}

/* The directory of the prefix's metadata must be one; the prefix itself may be behind a link. */
static void a_prefix_behind_a_link(void **state) {
    (void)state;
    char elsewhere[400];
    hpcw_error err = {.message = ""};
    hpcw_rank2file_options o = prefix_options(HPCW_RANK2FILE_SCR_1_1, 1);
    (void)snprintf(elsewhere, sizeof elsewhere, "%s/prefix", outside);
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

/* A writer whose directory becomes a link meanwhile makes nothing behind it. */
static void a_writer_behind_a_link(void **state) {
    (void)state;
    hpcw_error err = {.message = ""};
    hpcw_rank2file_file *file;
    hpcw_rank2file_options o = prefix_options(HPCW_RANK2FILE_SCR_3, 1);
    hpcw_rank2file *w = prefix_opened(&o);
    assert_int_equal(symlink(outside, in_prefix("ckpt.1/sub")), 0);
    assert_int_equal(hpcw_rank2file_create(w, 0, "sub/new", &file, &err), HPCW_EACCES);
    assert_non_null(strstr(err.message, "ckpt.1/sub: expected no symbolic link, got one"));
    assert_int_equal(rmdir(in_prefix(".scr/scr.dataset.1")), 0);
    assert_int_equal(symlink(outside, in_prefix(".scr/scr.dataset.1")), 0);
    assert_int_equal(hpcw_rank2file_close(w, &err), HPCW_EACCES);
    hpcw_rank2file_free(w);
    assert_int_equal(count_entries(outside), VICTIMS);
}

/* The directory of the dataset is a link, to a directory or to nothing, or a file. */
static void a_writer_whose_directory_is_none(void **state) {
    (void)state;
    for (int k = 0; k < LAYOUTS; k++) {
        for (int what = 0; what < 3; what++) {
            hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
            hpcw_rank2file_options o = prefix_options(layout, 1);
            hpcw_rank2file *w;
            hpcw_error err = {.message = ""};
            const char *directory = in_prefix("%s", name_of(layout, 1));
            if (what == 2) {
                prefix_plain_file(directory, 10);
            } else {
                assert_int_equal(symlink(what == 0 ? outside : "nowhere", directory), 0);
            }
            hpcw_status s = hpcw_rank2file_open(prefix_dir, NULL, &o, &w, &err);
            assert_int_equal(s, what == 2 ? HPCW_ENOENT : HPCW_EACCES);
            assert_non_null(strstr(err.message, name_of(layout, 1)));
            assert_false(prefix_exists(in_prefix(".scr/hpcw.1.unfinished")));
            assert_int_equal(unlink(in_prefix("%s", name_of(layout, 1))), 0);
        }
    }
}

/* ---- what nothing lists ---- */

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
    assert_int_equal(symlink(outside, in_prefix("src/link")), 0);
}

enum { SOURCES = 3 };
static char told_path[16][600];
static unsigned told_paths;

/* All files still exist while the first to the last are named. */
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
    /* With a decision of the user: everything is named first. */
    hpcw_rank2file_removal how = all_files();
    OK(hpcw_rank2file_prune(prefix_dir, NULL, 1, &how, &tally, &err));
    assert_int_equal(told_paths, SOURCES);
    assert_int_equal(tally.removed, 1);
    assert_int_equal(tally.left, 0);
    assert_false(prefix_exists(in_prefix("src")));
    assert_int_equal(prefix_listed(), 1);
}

/* A file in .scr whose first line is that of a marker; `names` NULL: as earlier versions wrote them. */
/* The names end in line feeds, which become the NULs of an intent; its first name is that of the dataset. */
static void write_marker(const char *file, int made, const char *name, const char *names) {
    enum { HEAD = 232 };
    char text[1000];
    const bool intent = strstr(file, ".dropped") != NULL;
    memset(text, '\n', HEAD);
    int n =
        snprintf(text, HEAD, "scr-1.1 %d %06x %s\n%s", made, (unsigned)hpcw_i_sys_host(), intent ? "" : name,
                 names == NULL ? ""
                 : intent      ? "names\n"
                               : "files\n");
    text[n] = '\n';
    n = snprintf(text + HEAD, sizeof text - HEAD, "%s%s%s", intent ? name : "", intent ? "\n" : "",
                 names == NULL ? "" : names);
    for (int i = HEAD; intent && i < HEAD + n; i++) {
        text[i] = text[i] == '\n' ? '\0' : text[i];
    }
    FILE *f = fopen(in_prefix(".scr/%s", file), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, (size_t)(HEAD + n), f), HEAD + n);
    assert_int_equal(fclose(f), 0);
}

static void a_marker_that_names_a_directory(void **state) {
    hpcw_error err = {.message = ""};
    hpcw_rank2file_tally tally;
    for (int made = 0; made < 2; made++) {
        prefix_written(HPCW_RANK2FILE_SCR_1_1, 5);
        make_source();
        write_marker("hpcw.7.unfinished", made, "src", NULL);
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
    /* And one behind a link. */
    prefix_written(HPCW_RANK2FILE_SCR_1_1, 5);
    assert_int_equal(symlink(outside, in_prefix("src")), 0);
    write_marker("hpcw.7.unfinished", 1, "src", NULL);
    hpcw_rank2file_removal how;
    hpcw_rank2file_removal_init(&how);
    how.all_files = true;
    OK(hpcw_rank2file_prune(prefix_dir, NULL, 0, &how, &tally, &err));
    assert_int_equal(tally.skipped, 1);
    assert_non_null(strstr(tally.why.message, "src: expected no symbolic link"));
}

/* A map must not name what belongs to the prefix. */
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
        assert_int_equal(hpcw_rank2file_drop(prefix_dir, NULL, name_of(layout, 1), NULL, NULL, &err),
                         HPCW_EFORMAT);
        assert_non_null(strstr(err.message, "expected a data file, got .scr/index.scr"));
        assert_int_equal(prefix_listed(), 1);
        (void)prefix_end(state);
        (void)prefix_begin(state);
    }
}

/* Files that only look like those of a dataset. */
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
            has_1_1(layout) ? in_prefix("%s/.scr", name_of(layout, 1)) : in_prefix(".scr/scr.dataset.1");
        char path[OWN][700];
        for (size_t i = 0; i < OWN; i++) {
            (void)snprintf(path[i], sizeof path[i], "%s/%s", metadata, own[i]);
            prefix_plain_file(path[i], 10);
        }
        /* Of another program, and of a writer of this library that died, but of no file of the dataset. */
        prefix_plain_file(in_prefix("%s/.hpcw-0000000000000001-mine.tmp", name_of(layout, 1)), 10);
        prefix_plain_file(in_prefix("%s/.hpcw-0000000000000001-rank_1.ckpt.tmp", name_of(layout, 1)), 10);
        prefix_plain_file(in_prefix("%s/.hpcw-0000000000000002-rank_1.ckpt.tmp", name_of(layout, 1)), 10);
        OK(hpcw_rank2file_drop(prefix_dir, NULL, name_of(layout, 1), NULL, &tally, &err));
        assert_int_equal(tally.removed, 1);
        assert_int_equal(tally.left, OWN + 1);
        assert_int_equal(count_entries(in_prefix("%s", name_of(layout, 1))), has_1_1(layout) ? 2 : 1);
        for (size_t i = 0; i < OWN; i++) {
            assert_true(prefix_exists(path[i]));
        }
        (void)prefix_end(state);
        (void)prefix_begin(state);
    }
}

/* ---- planted files ---- */

/* Whatever has the name of a marker, a list or an intent: it is replaced, and nobody waits. */
static void plant(int kind, const char *path) {
    (void)unlink(path);
    assert_int_equal(kind == 0   ? symlink(victim(0), path)
                     : kind == 1 ? mkfifo(path, 0666)
                     : kind == 2 ? link(victim(1), path)
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
        /* Those who only look pass by. */
        plant(kind, in_prefix(".scr/hpcw.7.unfinished"));
        plant(kind, in_prefix(".scr/hpcw.7.unfinished.3"));
        plant(kind, in_prefix(".scr/hpcw.8.dropped"));
        OK(hpcw_rank2file_prune(prefix_dir, NULL, 0, NULL, &tally, &err));
        OK(hpcw_rank2file_reindex(prefix_dir, NULL, &tally, &err));
        assert_int_equal(prefix_listed(), 2);
        /* Those who write one replace it. */
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
        if (kind == 2) { /* locking a file does not change it */
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

/* A directory in the way of a marker is an error that names it. */
static void a_directory_as_a_marker(void **state) {
    (void)state;
    hpcw_error err = {.message = ""};
    hpcw_rank2file_options o = prefix_options(HPCW_RANK2FILE_SCR_1_1, 2);
    prefix_written(HPCW_RANK2FILE_SCR_1_1, 1);
    assert_int_equal(mkdir(in_prefix(".scr/hpcw.2.unfinished"), 0777), 0);
    assert_int_not_equal(prefix_write(&o, &err), HPCW_OK);
    assert_non_null(strstr(err.message, ".scr/hpcw.2.unfinished: cannot note that"));
}

/* What another user left is not believed, as all who may write in .scr could make this user remove files; the lock may be
 * anybody's. */
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
    write_marker("hpcw.7.unfinished", 1, "src", "main.c\n");
    write_marker("hpcw.8.dropped", 0, "src", "src/main.c\n");
    assert_int_equal(chown(in_prefix(".scr/hpcw.7.unfinished"), NOBODY, NOBODY), 0);
    assert_int_equal(chown(in_prefix(".scr/hpcw.8.dropped"), NOBODY, NOBODY), 0);
    assert_prune_skips(0, "expected a file of this user, got another user's");
    assert_true(prefix_exists(in_prefix("src/main.c")));
    /* Our own would be: the test can fail. */
    assert_int_equal(chown(in_prefix(".scr/hpcw.7.unfinished"), 0, 0), 0);
    OK(hpcw_rank2file_prune(prefix_dir, NULL, 0, NULL, NULL, &err));
    assert_false(prefix_exists(in_prefix("src/main.c")));
    assert_true(prefix_exists(in_prefix("src/link")));
    write_marker("hpcw.7.unfinished", 1, "src", "main.c\n");
    assert_int_equal(chown(in_prefix(".scr/hpcw.7.unfinished"), NOBODY, NOBODY), 0);
    /* A writer of that id replaces the marker. */
    prefix_written(HPCW_RANK2FILE_SCR_1_1, 7);
    assert_false(prefix_exists(in_prefix(".scr/hpcw.7.unfinished")));
    prefix_written(HPCW_RANK2FILE_SCR_1_1, 8);
    assert_int_equal(prefix_restarts(&err), 8);
    /* One that is refused leaves the intent: the dataset does not come back. */
    hpcw_rank2file_options o = prefix_options(HPCW_RANK2FILE_SCR_1_1, 9);
    hpcw_kvtree *index = prefix_read_index();
    prefix_written(HPCW_RANK2FILE_SCR_1_1, 9);
    prefix_write_index(index);
    write_marker("hpcw.9.dropped", 0, "scr.dataset.9", "scr.dataset.9/rank_0.ckpt\n");
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

/* A file of this user that the system refuses to open is no other user's, which would be passed over. */
static void an_own_file_that_is_refused(void **state) {
    (void)state;
    const struct hpcw_i_r2f_which which = {.kind = HPCW_I_R2F_UNFINISHED, .id = 7};
    struct hpcw_i_r2f_marker marker;
    struct hpcw_i_r2f_prefix p;
    hpcw_error err = {.message = ""};
    prefix_written(HPCW_RANK2FILE_SCR_1_1, 5);
    make_source();
    write_marker("hpcw.7.unfinished", 1, "src", "main.c\n");
    OK(hpcw_i_r2f_hold(prefix_dir, &p, &err));
    opens_before = 1; /* that of .scr */
    hpcw_i_sys_gate = refuse_to_open;
    hpcw_status s = hpcw_i_r2f_marker_read(&p, &which, &marker, &err);
    hpcw_i_sys_gate = NULL;
    hpcw_i_r2f_marker_free(&marker);
    hpcw_i_dir_release(p.dir);
    assert_int_equal(s, HPCW_EACCES);
    assert_non_null(strstr(err.message, ".scr/hpcw.7.unfinished: cannot open for reading: Permission denied"));
}

/* ---- living writers ---- */

/* A file in a dataset's directory that somebody is writing, whoever it is. */
static void temporary_files_of_the_living(void **state) {
    for (int k = 0; k < LAYOUTS; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        hpcw_error err = {.message = ""};
        hpcw_sink *sink[3];
        for (uint64_t id = 1; id <= 2; id++) {
            prefix_written(layout, id);
        }
        OK(hpcw_sink_open_file(in_prefix("%s/other.sion", name_of(layout, 1)), HPCW_SYNC_NONE, &sink[0], &err));
        OK(hpcw_sink_open_file(in_prefix("%s/rank_1.ckpt", name_of(layout, 1)), HPCW_SYNC_NONE, &sink[1],
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

/* ---- markers that list ---- */

/* Dies in the middle: a finished file and one that is not, a file of the program, and directories. */
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
        /* The id is taken by a dataset of another name meanwhile: what the dead one left goes before its marker does. */
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

/* A second attempt that dies, too: what the first one listed is still listed. */
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
    OK(hpcw_rank2file_prune(prefix_dir, NULL, 0, NULL, &tally, &err));
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

/* An application that keeps its file names: a newer checkpoint lists a file of an older one. */
static void a_file_of_two_datasets(void **state) {
    static const hpcw_rank2file_layout layouts[] = {HPCW_RANK2FILE_SCR_1_2, HPCW_RANK2FILE_SCR_3};
    for (int k = 0; k < 4; k++) {
        hpcw_rank2file_layout layout = layouts[k / 2];
        char shared[100];
        (void)snprintf(shared, sizeof shared, k % 2 == 0 ? "out/restart" : "%s/rank_0.ckpt",
                       name_of(layout, 2));
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
        OK(hpcw_rank2file_drop(prefix_dir, NULL, name_of(layout, 1), NULL, NULL, &err));
        assert_true(prefix_exists(in_prefix("%s", shared)));
        assert_false(prefix_exists(in_prefix("%s", name_of(layout, 1))));
        OK(hpcw_rank2file_prune(prefix_dir, NULL, 1, NULL, &tally, &err));
        assert_int_equal(tally.removed, 1);
        assert_false(prefix_exists(in_prefix("%s", shared)));
        (void)prefix_end(state);
        (void)prefix_begin(state);
    }
}

/* What an intent lists outside its dataset may be another one's by now. */
static void an_intent_that_lists_others(void **state) {
    (void)state;
    hpcw_error err = {.message = ""};
    hpcw_rank2file_tally tally;
    prefix_written(HPCW_RANK2FILE_SCR_3, 1);
    prefix_plain_file(in_prefix("notes"), 10);
    assert_int_equal(mkdir(in_prefix("ckpt.9"), 0777), 0);
    prefix_plain_file(in_prefix("ckpt.9/rank_0.ckpt"), 10);
    write_marker("hpcw.9.dropped", 1, "ckpt.9",
                 "ckpt.9/rank_0.ckpt\nnotes\nckpt.1/rank_0.ckpt\n.scr/scr.dataset.1/rank2file\nckpt.9/\n");
    OK(hpcw_rank2file_prune(prefix_dir, NULL, 0, NULL, &tally, &err));
    assert_false(prefix_exists(in_prefix("ckpt.9")));
    assert_false(prefix_exists(in_prefix(".scr/hpcw.9.dropped")));
    assert_true(prefix_exists(in_prefix("notes")));
    assert_int_equal(prefix_restarts(&err), 1);
}

/* A file of the user has the name of one that the dead writer had begun: it stays. */
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

/* The index is lost. */
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

/* The second attempt has fewer processes than the one that died. */
static void markers_of_more_processes(void **state) {
    (void)state;
    hpcw_error err = {.message = ""};
    hpcw_rank2file_options o = prefix_options(HPCW_RANK2FILE_SCR_1_1, 2);
    o.dataset.name = "results";
    assert_int_equal(mkdir(in_prefix(".scr"), 0777), 0);
    write_marker("hpcw.2.unfinished.3", 1, "results", "rank_3\n");
    write_marker("hpcw.2.unfinished.4", 1, "another", "rank_4\n");
    write_marker("hpcw.3.unfinished.3", 1, "results", "rank_3\n");
    OK(prefix_write(&o, &err));
    assert_false(prefix_exists(in_prefix(".scr/hpcw.2.unfinished")));
    assert_false(prefix_exists(in_prefix(".scr/hpcw.2.unfinished.3")));
    assert_true(prefix_exists(in_prefix(".scr/hpcw.3.unfinished.3"))); /* of another id: for prune */
}

/* It dies between two summaries, as the layout for all versions has them: reindex does not take it for a damaged one. */
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
            write_marker("hpcw.2.unfinished", 1, name_of(HPCW_RANK2FILE_SHARED, 2), "rank_0.ckpt\n");
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
        /* It still lives. */
        OK(hpcw_rank2file_prune(prefix_dir, NULL, 0, NULL, &tally, NULL));
        assert_int_equal(tally.removed, 0);
        assert_int_equal(hpcw_rank2file_open(prefix_dir, NULL, &o, &other, &err), HPCW_EEXIST);
        assert_non_null(strstr(err.message, "another program is writing it, without .scr/hpcw.lock"));
        assert_int_equal(unlink(in_prefix(".scr/hpcw.lock")), 0);
        if (hpcw_rank2file_close(w, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        hpcw_rank2file_free(w);
        OK(hpcw_rank2file_check(prefix_dir, name_of(layout, 2), true, NULL));
        assert_int_equal(prefix_listed(), 2);
        (void)prefix_end(state);
        (void)prefix_begin(state);
    }
}

/* Another program writes the same dataset meanwhile. It is that one's by then. */
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
                         0); /* as one of another user, who cannot be asked */
        o.dataset.job_name = "theirs";
        OK(prefix_write(&o, &err));
        assert_int_equal(hpcw_rank2file_close(w, &err), HPCW_EEXIST);
        hpcw_rank2file_free(w);
        if (hpcw_rank2file_check(prefix_dir, name_of(layout, 2), true, &err) != HPCW_OK) {
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

/* ---- descriptors that the program closes ---- */

/* Puts a file of the program in place of the descriptor of a file with such an end of its name. Returns the number. */
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
        (void)snprintf(away, sizeof away, "%s/away", outside);
        assert_int_equal(mkdir(away, 0777), 0);
        assert_int_equal(chdir(prefix_dir), 0);
        OK(hpcw_rank2file_open("run", NULL, &o, &w, &err));
        assert_int_equal(chdir(away), 0); /* a solver that works in a directory of its own */
        OK(prefix_put(w, 0, &err));
        OK(prefix_put(w, 1, &err));
        if (hpcw_rank2file_close(w, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        hpcw_rank2file_free(w);
        assert_int_equal(count_entries(away), 0);
        /* The prefix gets another name, and something else gets its old one. */
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

/* Two prefixes: "run" has one sound dataset of two, "twin" has two. */
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

/* Before one call of the system, the twin takes the place of the prefix. */
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

/* What is read and what is removed is the prefix that was there at the begin, at whatever moment another takes its place. */
static void moved_while_it_is_looked_after(void **state) {
    for (int call = 0; call < UPKEEP; call++) {
        bool moved = true;
        for (int n = 1; moved; n++) { /* the first call finds the prefix */
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
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
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
