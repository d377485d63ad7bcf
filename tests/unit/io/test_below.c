/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing, renaming, removing and syncing below a directory follows no symbolic link. Texts are read from files
 * of any kind, without waiting for a writer. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "libwriter/io/dir.h"
#include "libwriter/io/sink.h"
#include "libwriter/io/text.h"
#include "libwriter/io/tree.h"
#include "tests/support/files.h"

static char root[512];
static char name_of_path[1024];

/* Returns the path of a name in the scratch directory. */
static const char *at(const char *name) {
    (void)snprintf(name_of_path, sizeof name_of_path, "%s/%s", scratch, name);
    return name_of_path;
}

static void put(const char *name, const char *text) {
    FILE *f = fopen(at(name), "wb");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static bool exists(const char *name) {
    struct stat st;
    return lstat(at(name), &st) == 0;
}

static void assert_text(const char *name, const char *want) {
    char got[64] = "";
    FILE *f = fopen(at(name), "rb");
    assert_non_null(f);
    got[fread(got, 1, sizeof got - 1, f)] = '\0';
    assert_int_equal(fclose(f), 0);
    assert_string_equal(got, want);
}

/* Makes root/ours/file and outside/file, and the links root/link and root/ours/link to outside. */
static int set_up(void **state) {
    char outside[512];
    (void)scratch_set_up(state);
    (void)snprintf(root, sizeof root, "%s/root", scratch);
    (void)snprintf(outside, sizeof outside, "%s/outside", scratch);
    if (mkdir(root, 0777) != 0 || mkdir(outside, 0777) != 0 || mkdir(at("root/ours"), 0777) != 0 ||
        symlink(outside, at("root/link")) != 0 || symlink("../../outside", at("root/ours/link")) != 0) {
        return -1;
    }
    put("root/ours/file", "ours");
    put("outside/file", "outside");
    return 0;
}

static hpcw_status write_below(const struct hpcw_i_sink_below *below, const char *path, hpcw_error *err) {
    const hpcw_sink_source source = hpcw_i_sink_below_source(below);
    hpcw_sink *sink;
    hpcw_status s = source.open(source.context, path, 0, true, &sink, err);
    s = s == HPCW_OK ? hpcw_sink_write_at(sink, 0, "new", 3, err) : s;
    s = s == HPCW_OK ? hpcw_sink_publish(sink, err) : s;
    hpcw_sink_free(sink);
    return s;
}

static void a_source_stays_below_its_root(void **state) {
    (void)state;
    struct hpcw_i_sink_below below = {.path = root, .durability = HPCW_SYNC_NONE};
    hpcw_error err;
    char path[1024];
    assert_int_equal(hpcw_i_dir_hold(root, &below.root), 0);
    (void)snprintf(path, sizeof path, "%s/ours/file", root);
    assert_int_equal(write_below(&below, path, &err), HPCW_OK);
    assert_text("root/ours/file", "new");
    (void)snprintf(path, sizeof path, "%s/link/file", root);
    assert_int_equal(write_below(&below, path, &err), HPCW_EINVAL);
    assert_non_null(strstr(err.message, "symbolic link"));
    (void)snprintf(path, sizeof path, "%s/../outside/file", root);
    assert_int_not_equal(write_below(&below, path, &err), HPCW_OK);
    assert_int_equal(write_below(&below, at("outside/file"), &err), HPCW_EINVAL);
    assert_text("outside/file", "outside");
    /* A symbolic link with the file's name is replaced. */
    assert_int_equal(symlink("../outside/file", at("root/one")), 0);
    (void)snprintf(path, sizeof path, "%s/one", root);
    assert_int_equal(write_below(&below, path, &err), HPCW_OK);
    assert_text("root/one", "new");
    assert_text("outside/file", "outside");
    hpcw_i_dir_release(below.root);
}

static void renames_stay_below(void **state) {
    (void)state;
    struct hpcw_i_dir *held;
    assert_int_equal(hpcw_i_dir_hold(root, &held), 0);
    assert_int_equal(hpcw_i_below_rename(held, "ours/file", "moved"), 0);
    assert_text("root/moved", "ours");
    assert_int_equal(hpcw_i_below_rename(held, "moved", "link/file"), ELOOP);
    assert_int_equal(hpcw_i_below_rename(held, "link/file", "moved"), ELOOP);
    assert_text("root/moved", "ours");
    assert_text("outside/file", "outside");
    hpcw_i_dir_release(held);
}

static int syncs;
static int count_syncs(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    syncs += call == HPCW_I_SYS_FSYNC;
    return 0;
}

/* The name of each new directory is synced to disk; an existing one costs nothing. */
static void new_directories_are_synced(void **state) {
    (void)state;
    struct hpcw_i_dir *held;
    bool made;
    assert_int_equal(hpcw_i_dir_hold(root, &held), 0);
    hpcw_i_sys_gate = count_syncs;
    syncs = 0;
    assert_int_equal(hpcw_i_below_make_parents(held, "ours/a/b/c/file", true), 0);
    assert_int_equal(syncs, 3);
    assert_int_equal(hpcw_i_below_make_parents(held, "ours/a/b/c/file", true), 0);
    assert_int_equal(syncs, 3);
    assert_int_equal(hpcw_i_below_make(held, "ours/a/d", true, &made), 0);
    assert_true(made);
    assert_int_equal(hpcw_i_below_make_parents(held, "ours/a/e/file", false), 0);
    assert_int_equal(syncs, 4);
    hpcw_i_sys_gate = NULL;
    hpcw_i_dir_release(held);
}

static int count_one(void *context, int directory, const char *name, const struct hpcw_i_entry *entry) {
    unsigned *count = context;
    (void)directory;
    (void)name;
    count[entry->kind]++;
    return 0;
}

static int refuse_rmdir(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    return call == HPCW_I_SYS_RMDIR ? EACCES : 0;
}

static void trees_end_at_links(void **state) {
    (void)state;
    unsigned count[HPCW_I_SPECIAL + 1] = {0};
    assert_int_equal(hpcw_i_tree_walk(AT_FDCWD, root, count_one, count), 0);
    assert_int_equal(count[HPCW_I_DIRECTORY], 2);
    assert_int_equal(count[HPCW_I_FILE], 1);
    assert_int_equal(count[HPCW_I_LINK], 2);
    assert_int_equal(hpcw_i_tree_sync(AT_FDCWD, root), 0);
    assert_int_equal(hpcw_i_tree_remove(AT_FDCWD, at("root/link")), ELOOP);
    assert_int_equal(hpcw_i_tree_clear(AT_FDCWD, root), 0);
    assert_true(exists("root") && !exists("root/ours") && !exists("root/link"));
    hpcw_i_sys_gate = refuse_rmdir;
    assert_int_equal(hpcw_i_tree_remove(AT_FDCWD, root), EACCES);
    hpcw_i_sys_gate = NULL;
    assert_int_equal(hpcw_i_tree_remove(AT_FDCWD, root), 0);
    assert_int_equal(hpcw_i_tree_remove(AT_FDCWD, root), ENOENT);
    assert_text("outside/file", "outside");
}

/* Runs in a child process with its own mounts. Left out if mounting is not allowed. */
static void trees_end_at_mounts(void **state) {
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char mounted[sizeof root + 8];
        (void)snprintf(mounted, sizeof mounted, "%s/ours", root);
        if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
            mount(at("outside"), mounted, NULL, MS_BIND, NULL) != 0) {
            _exit(0);
        }
        _exit(hpcw_i_tree_remove(AT_FDCWD, root) == EBUSY && hpcw_i_sys_is_mounted(AT_FDCWD, mounted) ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_text("outside/file", "outside");
}

/* More names than a file system lists at once, so that listing continues after removals. */
static void large_trees_go(void **state) {
    (void)state;
    char name[64];
    for (int i = 0; i < 3000; i++) {
        (void)snprintf(name, sizeof name, "root/ours/%d", i);
        put(name, "");
    }
    assert_int_equal(hpcw_i_tree_remove(AT_FDCWD, root), 0);
    assert_false(exists("root"));
}

static void texts_come_by_lines(void **state) {
    (void)state;
    struct hpcw_i_text text;
    char line[16];
    size_t got;
    put("root/text", "one\nand a longer line\nlast");
    assert_int_equal(hpcw_i_text_open(at("root/text"), &text), 0);
    static const char *const want[] = {"one\n", "and a longer li", "ne\n", "last", "", ""};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        assert_int_equal(hpcw_i_text_line(&text, line, sizeof line), 0);
        assert_string_equal(line, want[i]);
    }
    hpcw_i_text_close(&text);
    /* A file in /proc has the size 0, but text. */
    assert_int_equal(hpcw_i_text_open("/proc/self/status", &text), 0);
    assert_int_equal(hpcw_i_text_read(&text, line, 5, &got), 0);
    assert_memory_equal(line, "Name:", 5);
    hpcw_i_text_close(&text);
}

static void pipes_are_not_waited_for(void **state) {
    (void)state;
    struct hpcw_i_text text;
    char line[16];
    (void)alarm(30);
    assert_int_equal(mkfifo(at("root/pipe"), 0600), 0);
    assert_int_equal(hpcw_i_text_open(at("root/pipe"), &text), EPIPE);
    int writer = open(at("root/pipe"), O_RDWR);
    assert_true(writer >= 0);
    assert_int_equal(hpcw_i_text_open(at("root/pipe"), &text), 0); /* the writer has not written yet */
    assert_int_equal(write(writer, "from a pipe", 11), 11);
    assert_int_equal(close(writer), 0);
    assert_int_equal(hpcw_i_text_line(&text, line, sizeof line), 0);
    assert_string_equal(line, "from a pipe");
    hpcw_i_text_close(&text);
    assert_int_equal(hpcw_i_text_open(root, &text), EISDIR);
    assert_int_equal(hpcw_i_text_open(at("root/nothing"), &text), ENOENT);
    (void)alarm(0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_source_stays_below_its_root, set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(renames_stay_below, set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(new_directories_are_synced, set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(trees_end_at_links, set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(trees_end_at_mounts, set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(large_trees_go, set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(texts_come_by_lines, set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(pipes_are_not_waited_for, set_up, scratch_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
