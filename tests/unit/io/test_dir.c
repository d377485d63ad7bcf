/* SPDX-License-Identifier: BSD-3-Clause */
/* Directories held open, and names below them: moved directories, links, and foreign files. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cmocka.h>

#include <hpcw/sion.h>

#include "libwriter/io/dir.h"
#include "libwriter/io/sink.h"
#include "tests/support/faults.h"
#include "tests/support/files.h"

static int start; /* the working directory of the program */

static int set_up(void **state) {
    (void)scratch_set_up(state);
    start = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return start >= 0 && chdir(scratch) == 0 ? 0 : -1;
}

static int tear_down(void **state) {
    int left = fchdir(start);
    (void)close(start);
    (void)scratch_tear_down(state);
    return left;
}

static void put(const char *path, const char *text) {
    FILE *f = fopen(path, "wb");
    assert_true(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void assert_content(const char *path, const char *want) {
    size_t size = 0;
    unsigned char *got = read_file(path, &size);
    if (got == NULL || size != strlen(want) || memcmp(got, want, size) != 0) {
        fail_msg("%s: expected \"%s\", got %zu bytes%s", path, want, size, got == NULL ? ", no file" : "");
    }
    free(got);
}

static hpcw_sink *begin(const char *path, const char *text) {
    hpcw_sink *sink;
    hpcw_error err;
    if (hpcw_sink_open_file(path, HPCW_SYNC_DIRECTORY, &sink, &err) != HPCW_OK ||
        hpcw_sink_write_at(sink, 0, text, strlen(text), &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    return sink;
}

static void end(hpcw_sink *sink) {
    hpcw_error err;
    if (hpcw_sink_publish(sink, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    hpcw_sink_free(sink);
}

static unsigned mode_of(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

/* ---- what moves ---- */

static void the_program_changes_its_directory(void **state) {
    (void)state;
    assert_int_equal(mkdir("A", 0777) + mkdir("B", 0777) + chdir("A"), 0);
    hpcw_sink *first = begin("file", "first");
    assert_int_equal(chdir("../B"), 0);
    /* Another program writes the same name in B, and has not finished. */
    hpcw_sink *second = begin("file", "sec");
    end(first);
    assert_int_equal(hpcw_sink_write_at(second, 3, "ond", 3, NULL), HPCW_OK);
    assert_content("../A/file", "first");
    assert_int_equal(count_entries("../A"), 1);
    assert_int_equal(access("file", F_OK), -1);
    end(second);
    assert_content("file", "second");
    assert_int_equal(count_entries("."), 1);
}

/* A container replaces another one after a change of the working directory. The new container has the block
 * size of the old one's directory. */
static void a_container_instead_of_one_elsewhere(void **state) {
    (void)state;
    hpcw_sion_options o;
    hpcw_sion *first, *second;
    hpcw_error err;
    int home = open(".", O_RDONLY | O_DIRECTORY);
    assert_true(home >= 0 && mkdir("A", 0777) == 0);
    hpcw_sion_options_init(&o);
    o.count = 1;
    o.chunk_size = 1;
    assert_int_equal(hpcw_sion_open("A/c", NULL, &o, &first, &err), HPCW_OK);
    assert_int_equal(chdir("/"), 0);
    o.instead_of = first;
    if (hpcw_sion_open("A/c", NULL, &o, &second, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(hpcw_sion_close(second, &err), HPCW_OK);
    hpcw_sion_free(second);
    hpcw_sion_free(first);
    assert_true(fchdir(home) == 0 && close(home) == 0);
    assert_int_equal(count_entries("A"), 1);
}

static void the_directory_is_renamed(void **state) {
    (void)state;
    assert_int_equal(mkdir("A", 0777), 0);
    hpcw_sink *sink[2] = {begin("A/file", "whole"), begin("A/gone", "away")};
    assert_int_equal(rename("A", "C") + mkdir("A", 0777), 0);
    end(sink[0]);
    hpcw_sink_discard(sink[1]);
    hpcw_sink_free(sink[1]);
    assert_content("C/file", "whole");
    assert_int_equal(count_entries("C"), 1);
    assert_int_equal(count_entries("A"), 0);
}

static void the_directory_is_removed(void **state) {
    (void)state;
    assert_int_equal(mkdir("A", 0777), 0);
    hpcw_sink *sink = begin("A/file", "lost");
    assert_int_equal(system("rm -r A"), 0);
    hpcw_error err;
    assert_int_equal(hpcw_sink_publish(sink, &err), HPCW_ENOENT);
    assert_true(good_message(HPCW_ENOENT, &err, "A/file"));
    hpcw_sink_free(sink);
}

/* Somebody removed our temporary file, and another program's file has its name. */
static void the_file_of_another_is_not_published(void **state) {
    (void)state;
    hpcw_sink *sink = begin("file", "mine");
    assert_int_equal(system("t=$(ls -A); rm \"$t\"; echo theirs >\"$t\""), 0);
    hpcw_error err;
    assert_int_equal(hpcw_sink_publish(sink, &err), HPCW_ENOENT);
    assert_true(good_message(HPCW_ENOENT, &err, "file"));
    hpcw_sink_free(sink);
    assert_int_equal(access("file", F_OK), -1);
    assert_int_equal(count_entries("."), 1);
}

/* ---- descriptors ---- */

static void a_thousand_files_share_one_descriptor(void **state) {
    (void)state;
    enum { FILES = 1000 };
    static hpcw_sink *sink[FILES];
    struct rlimit old, limit = {1024, 1024};
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    limit.rlim_max = old.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    int before = count_descriptors();
    for (int i = 0; i < FILES; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "%s%d", i % 2 == 0 ? "" : "./", i);
        sink[i] = begin(name, "x");
    }
    assert_int_equal(count_descriptors(), before + FILES + 1);
    for (int i = 0; i < FILES; i++) {
        end(sink[i]);
    }
    assert_int_equal(count_entries("."), FILES);
    assert_int_equal(count_descriptors(), before);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
}

/* Programs may close descriptors that they do not know, and open files with the same numbers. */
static void the_program_closes_the_descriptor(void **state) {
    (void)state;
    struct hpcw_i_dir *dir;
    int fd, again;
    assert_int_equal(mkdir("A", 0777) + mkdir("B", 0777), 0);
    assert_int_equal(hpcw_i_dir_hold("A", &dir), 0);
    assert_int_equal(hpcw_i_dir_fd(dir, &fd), 0);
    assert_int_equal(close(fd), 0);
    int other = open("B", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(other, fd); /* the program's file has the number of the closed descriptor */
    assert_int_equal(hpcw_i_dir_fd(dir, &again), 0);
    assert_int_not_equal(again, other);
    assert_int_equal(hpcw_i_sys_mkdir_at(again, "made", 0777), 0);
    assert_int_equal(access("A/made", F_OK), 0);
    /* Descriptor and path are both lost: the call fails, and uses no other directory. */
    assert_int_equal(close(again) + rename("A", "C"), 0);
    assert_int_equal(hpcw_i_dir_fd(dir, &again), EBADF);
    hpcw_i_dir_release(dir);
    /* this descriptor belongs to the program and must not be closed */
    assert_int_equal(fcntl(other, F_GETFD), FD_CLOEXEC);
    assert_int_equal(close(other), 0);
}

/* The program closed the descriptor of the new file and opened another file with the same number. Publishing
 * fails, and the other file stays as it is. */
static void the_program_closes_the_new_file(void **state) {
    (void)state;
    hpcw_error err;
    put("file", "older");
    hpcw_sink *sink = begin("file", "new");
    const int number = hpcw_i_sink_descriptor(sink);
    assert_int_equal(close(number), 0);
    assert_int_equal(open("precious", O_RDWR | O_CREAT, 0600), number);
    assert_int_equal(hpcw_sink_publish(sink, &err), HPCW_EIO);
    assert_non_null(strstr(err.message, "the program closed it"));
    hpcw_sink_free(sink);
    assert_content("file", "older");
    assert_int_equal(close(number), 0);
    assert_content("precious", "");
    assert_int_equal(count_entries("."), 2);
}

/* ---- links and modes ---- */

static void a_link_stays(void **state) {
    (void)state;
    static const char *const target[] = {"far/real", "../x/far/real", "one"};
    char absolute[300];
    assert_int_equal(mkdir("x", 0777) + mkdir("x/far", 0777) + chdir("x"), 0);
    (void)snprintf(absolute, sizeof absolute, "%s/x/far/real", scratch);
    for (size_t i = 0; i < 4; i++) {
        for (int older = 0; older < 2; older++) {
            const char *to = i < 3 ? target[i] : absolute;
            assert_int_equal(symlink("far/real", "one") + symlink(to, "name"), 0);
            if (older) {
                put("far/real", "older");
                assert_int_equal(chmod("far/real", 0640), 0);
            }
            hpcw_sink *sink = begin("name", "new");
            assert_int_equal(count_entries("."), 3); /* the temporary file is beside the target */
            assert_int_equal(count_entries("far"), 1 + older);
            end(sink);
            struct stat st;
            assert_int_equal(lstat("name", &st), 0);
            assert_true(S_ISLNK(st.st_mode));
            assert_content("far/real", "new");
            assert_int_equal(count_entries("far"), 1);
            assert_true(!older || mode_of("far/real") == 0640);
            assert_int_equal(unlink("far/real") + unlink("name") + unlink("one"), 0);
        }
    }
}

static void links_without_an_end_are_refused(void **state) {
    (void)state;
    assert_int_equal(symlink("b", "a") + symlink("a", "b"), 0);
    hpcw_sink *sink;
    hpcw_error err;
    assert_int_not_equal(hpcw_sink_open_file("a", HPCW_SYNC_NONE, &sink, &err), HPCW_OK);
    assert_true(good_message(err.code, &err, "a"));
    assert_int_equal(err.sys_errno, ELOOP);
    assert_int_equal(count_entries("."), 2);
}

static void an_older_file_keeps_its_mode(void **state) {
    (void)state;
    static const unsigned modes[] = {0600, 0640, 0666, 0444, 0400, 0755};
    mode_t mask = umask(022);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        put("file", "older");
        assert_int_equal(chmod("file", modes[i]), 0);
        hpcw_sink *sink = begin("file", "new");
        /* The temporary file has no more rights than the file to be replaced. */
        assert_int_equal(system("for f in .hpcw-*; do stat -c %a \"$f\"; done >mode"), 0);
        size_t size = 0;
        char *text = (char *)read_file("mode", &size);
        assert_true(text != NULL && size > 0);
        text[size - 1] = '\0';
        assert_int_equal(strtoul(text, NULL, 8) & 077 & ~modes[i], 0);
        free(text);
        end(sink);
        assert_content("file", "new");
        assert_int_equal(mode_of("file"), modes[i]);
        assert_int_equal(unlink("file"), 0);
    }
    end(begin("fresh", "new"));
    assert_int_equal(mode_of("fresh"), 0644);
    (void)umask(mask);
}

enum { ACCESS_LIST = 44 };

/* Sets an access list of Linux: u::rw- u:1:r-- g::--- m::rw- o::---. The mode shows the list's mask as the
 * group. Returns whether the file system supports such lists. */
static bool put_list(const char *path) {
    static const unsigned char entries[][8] = {{1, 0, 6, 0, 255, 255, 255, 255},
                                               {2, 0, 4, 0, 1, 0, 0, 0},
                                               {4, 0, 0, 0, 255, 255, 255, 255},
                                               {16, 0, 6, 0, 255, 255, 255, 255},
                                               {32, 0, 0, 0, 255, 255, 255, 255}};
    unsigned char list[ACCESS_LIST] = {2};
    memcpy(list + 4, entries, sizeof entries);
    return setxattr(path, "system.posix_acl_access", list, sizeof list, 0) == 0;
}

/* Root replaces the private file of a user. The user stays the owner, and can read the new file. */
static void an_older_file_keeps_its_owner(void **state) {
    (void)state;
    enum { USER = 1001 };
    struct stat st;
    if (geteuid() != 0) {
        skip();
    }
    put("file", "old");
    assert_int_equal(chown("file", USER, USER) + chmod("file", 0600), 0);
    end(begin("file", "new"));
    assert_content("file", "new");
    assert_true(stat("file", &st) == 0 && st.st_uid == USER && st.st_gid == USER &&
                (st.st_mode & 0777) == 0600);
}

static void an_older_file_keeps_its_access_list(void **state) {
    (void)state;
    unsigned char before[ACCESS_LIST], after[ACCESS_LIST];
    put("file", "older");
    if (!put_list("file")) {
        skip();
    }
    assert_int_equal(mode_of("file"), 0660);
    assert_int_equal(getxattr("file", "system.posix_acl_access", before, sizeof before), ACCESS_LIST);
    end(begin("file", "new"));
    assert_int_equal(mode_of("file"), 0660);
    assert_int_equal(getxattr("file", "system.posix_acl_access", after, sizeof after), ACCESS_LIST);
    assert_memory_equal(before, after, ACCESS_LIST);
}

/* The new file belongs to the user who writes it. A set-user-ID bit would give other rights than before, so it
 * is dropped. */
static void the_rights_of_a_program_go(void **state) {
    (void)state;
    put("file", "older");
    assert_int_equal(chmod("file", 06755), 0);
    end(begin("file", "new"));
    assert_int_equal(mode_of("file"), 0755);
}

/* Rights of the old group are not given to another group. */
static void the_rights_of_a_lost_group_go(void **state) {
    (void)state;
    enum { NOBODY = 65534 };
    if (geteuid() != 0) {
        skip();
    }
    put("file", "older");
    assert_int_equal(chown("file", 0, 1) + chmod("file", 0664) + chmod(".", 0777), 0);
    pid_t child = fork();
    if (child == 0) {
        const bool good = setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0;
        end(begin("file", "new"));
        _exit(good ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_content("file", "new");
    assert_int_equal(mode_of("file"), 0604);
}

/* ---- below ---- */

static void nothing_outside_is_reached(void **state) {
    (void)state;
    struct hpcw_i_dir *root;
    struct hpcw_i_entry entry;
    hpcw_sink *sink;
    int fd;
    assert_int_equal(mkdir("in", 0777) + mkdir("out", 0777) + mkdir("in/d", 0777), 0);
    put("out/file", "outside");
    assert_int_equal(symlink("../out", "in/link") + symlink("../../out", "in/d/link") +
                         symlink("../out/file", "in/name") + mkfifo("in/fifo", 0666),
                     0);
    assert_int_equal(hpcw_i_dir_hold("in", &root), 0);
    static const char *const through[] = {"link/file", "d/link/file", "link/new/deep"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(hpcw_i_below_unlink(root, through[i]), ELOOP);
        assert_int_equal(hpcw_i_below_rmdir(root, through[i]), ELOOP);
        assert_int_equal(hpcw_i_below_look(root, through[i], &entry), ELOOP);
        assert_int_equal(hpcw_i_below_make(root, through[i], false, NULL), ELOOP);
        assert_int_equal(hpcw_i_below_make_parents(root, through[i], false), ELOOP);
        assert_int_equal(hpcw_i_below_open(root, through[i], O_RDWR | O_CREAT | O_EXCL, true, &fd), ELOOP);
        assert_int_not_equal(hpcw_i_sink_open_below(root, through[i], through[i], HPCW_SYNC_NONE, &sink, NULL),
                             HPCW_OK);
    }
    assert_int_equal(hpcw_i_below_open(root, "name", O_RDWR, true, &fd), ELOOP);
    assert_int_equal(hpcw_i_below_open(root, "fifo", O_RDWR, true, &fd), EEXIST);
    assert_int_equal(hpcw_i_below_open(root, "fifo", O_WRONLY, true, &fd), EEXIST);
    assert_int_equal(hpcw_i_below_open(root, "d", O_RDWR, true, &fd), EEXIST);
    static const char *const bad[] = {"", "..", "d/../link", "d/..", "/d", "d//x", "d/", "./d"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(hpcw_i_below_unlink(root, bad[i]), EINVAL);
    }
    /* A link with the name is replaced, not followed. */
    assert_int_equal(hpcw_i_sink_open_below(root, "name", "in/name", HPCW_SYNC_NONE, &sink, NULL), HPCW_OK);
    assert_int_equal(hpcw_sink_write_at(sink, 0, "inside", 6, NULL), HPCW_OK);
    end(sink);
    assert_content("in/name", "inside");
    assert_content("out/file", "outside");
    assert_int_equal(count_entries("out"), 1);
    /* Directories are found, and a missing name is no error of a lookup. */
    assert_int_equal(hpcw_i_below_make_parents(root, "d/e/f/name", true), 0);
    assert_int_equal(access("in/d/e/f", F_OK), 0);
    assert_int_equal(hpcw_i_below_look(root, "d/e/f/name", &entry), 0);
    assert_int_equal(entry.kind, HPCW_I_NOTHING);
    assert_int_equal(hpcw_i_below_look(root, "name/x", &entry), 0);
    assert_int_equal(entry.kind, HPCW_I_NOTHING);
    assert_int_equal(hpcw_i_below_unlink(root, "d/link"), 0); /* removes the link, not its target */
    assert_int_equal(hpcw_i_below_rmdir(root, "d/e/f"), 0);
    hpcw_i_dir_release(root);
    assert_int_equal(count_entries("out"), 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_program_changes_its_directory),
        TEST(a_container_instead_of_one_elsewhere),
        TEST(the_directory_is_renamed),
        TEST(the_directory_is_removed),
        TEST(the_file_of_another_is_not_published),
        TEST(a_thousand_files_share_one_descriptor),
        TEST(the_program_closes_the_descriptor),
        TEST(the_program_closes_the_new_file),
        TEST(a_link_stays),
        TEST(links_without_an_end_are_refused),
        TEST(an_older_file_keeps_its_mode),
        TEST(an_older_file_keeps_its_owner),
        TEST(an_older_file_keeps_its_access_list),
        TEST(the_rights_of_a_program_go),
        TEST(the_rights_of_a_lost_group_go),
        TEST(nothing_outside_is_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
