/* SPDX-License-Identifier: BSD-3-Clause */
/* Exports and rewrites to a new directory while another process renames things. At each system call after
 * mkdir, the new directory or its parent is replaced by a link or another directory. Nothing that existed
 * before changes, and a successful export has its final name. A size that cannot be read is a failure. A
 * failure names the output. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <hpcw/clog2.h>
#include <hpcw/rank2file.h>
#include <hpcw/sion.h>
#include <hpcw/vom.h>

#include "gen/export/export.h"
#include "gen/export/otf2.h"
#include "gen/export/rewrite/rank2file.h"
#include "gen/export/rewrite/vom.h"
#include "gen/export/sion.h"
#include "libwriter/io/sys.h"
#include "tests/support/files.h"

/* Returns a path in the scratch directory, valid until the fourth call after this one. */
static const char *in(const char *name) {
    static char path[4][2048];
    static int next;
    char *p = path[next++ % 4];
    (void)snprintf(p, sizeof path[0], "%s/%s", scratch, name);
    return p;
}

static void put_file(const char *path) {
    FILE *f = fopen(path, "wb");
    assert_true(f != NULL && fputs("victim", f) >= 0 && fclose(f) == 0);
}

static bool is_victim(const char *path) {
    size_t size;
    unsigned char *text = read_file(path, &size);
    const bool same = text != NULL && size == 6 && memcmp(text, "victim", 6) == 0;
    free(text);
    return same;
}

/* ---- inputs, exports and rewrites ---- */

static void make_container(hpcw_error *err) {
    hpcw_sion *f;
    hpcw_sion_options o;
    hpcw_sion_options_init(&o);
    o.count = 2;
    o.chunk_size = 8;
    assert_int_equal(hpcw_sion_open(in("in.sion"), NULL, &o, &f, err), HPCW_OK);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(hpcw_sion_write(f, i, "content", 7, err), HPCW_OK);
    }
    assert_int_equal(hpcw_sion_close(f, err), HPCW_OK);
    hpcw_sion_free(f);
}

static void make_loads(hpcw_error *err) {
    static const char *const name[] = {"in.vom/data.0.json", "in.vom/data.1.json"};
    assert_int_equal(mkdir(in("in.vom"), 0777), 0);
    for (uint32_t i = 0; i < 2; i++) {
        hpcw_vom *v;
        hpcw_vom_options o;
        hpcw_vom_options_init(&o);
        o.rank = i;
        o.ranks = 2;
        assert_int_equal(hpcw_vom_open(in(name[i]), &o, &v, err), HPCW_OK);
        assert_int_equal(hpcw_vom_begin_phase(v, 0, err), HPCW_OK);
        assert_int_equal(hpcw_vom_end_phase(v, NULL, 0, err), HPCW_OK);
        assert_int_equal(hpcw_vom_close(v, err), HPCW_OK);
        hpcw_vom_free(v);
    }
}

static void make_checkpoint(hpcw_error *err) {
    hpcw_rank2file *w;
    hpcw_rank2file_file *f;
    hpcw_rank2file_options o;
    hpcw_rank2file_options_init(&o);
    o.dataset.id = 1;
    o.count = 1;
    assert_int_equal(mkdir(in("in.scr"), 0777), 0);
    assert_int_equal(hpcw_rank2file_open(in("in.scr"), NULL, &o, &w, err), HPCW_OK);
    assert_int_equal(hpcw_rank2file_create(w, 0, "rank_0.ckpt", &f, err), HPCW_OK);
    assert_int_equal(hpcw_rank2file_file_write(f, "content", 7, err), HPCW_OK);
    assert_int_equal(hpcw_rank2file_file_close(f, err), HPCW_OK);
    hpcw_rank2file_file_free(f);
    assert_int_equal(hpcw_rank2file_close(w, err), HPCW_OK);
    hpcw_rank2file_free(w);
}

static void make_log(hpcw_error *err) {
    const hpcw_clog2_record record[] = {
        {.kind = HPCW_CLOG2_STATE_DEF, .as.state = {300, 600, 601, "blue", "Compute", NULL}},
        {.time = 0.5, .kind = HPCW_CLOG2_BARE, .as.event = 600},
        {.time = 1.5, .kind = HPCW_CLOG2_BARE, .as.event = 601},
    };
    hpcw_clog2_options o;
    hpcw_clog2_options_init(&o);
    o.ranks = 1;
    o.states = 1;
    assert_int_equal(hpcw_clog2_write(in("in.clog2"), &o, record, 3, err), HPCW_OK);
}

static hpcw_status run_tasks(const char *to, hpcw_error *err) {
    char from[2048]; /* copied, since the hook of system calls reuses the buffers of in() */
    (void)snprintf(from, sizeof from, "%s", in("in.sion"));
    struct gen_exported done;
    const struct gen_export what = {.form = GEN_EXPORT_TASKS};
    return gen_export_sion_tasks(from, &what, to, true, &done, err);
}

static hpcw_status run_otf2(const char *to, hpcw_error *err) {
    char from[2048]; /* copied, since the hook of system calls reuses the buffers of in() */
    (void)snprintf(from, sizeof from, "%s", in("in.clog2"));
    struct gen_exported done;
    const struct gen_export what = {.form = GEN_EXPORT_OTF2, .to_s = 1e8, .last_rank = UINT32_MAX};
    return gen_export_otf2(from, &what, to, true, &done, err);
}

static hpcw_status run_loads(const char *to, hpcw_error *err) {
    char from[2048]; /* copied, since the hook of system calls reuses the buffers of in() */
    (void)snprintf(from, sizeof from, "%s", in("in.vom"));
    struct gen_rewritten done;
    const struct gen_rewrite what = {
        .form = GEN_REWRITE_PLAIN, .last_phase = UINT64_MAX, .last_rank = UINT32_MAX, .sync = true};
    return gen_rewrite_vom.run(from, to, &what, &done, err);
}

static hpcw_status run_checkpoints(const char *to, hpcw_error *err) {
    char from[2048]; /* copied, since the hook of system calls reuses the buffers of in() */
    (void)snprintf(from, sizeof from, "%s", in("in.scr"));
    struct gen_rewritten done;
    const struct gen_rewrite what = {.sync = true};
    return gen_rewrite_rank2file.run(from, to, &what, &done, err);
}

static const struct {
    hpcw_status (*run)(const char *to, hpcw_error *err);
    const char *file[2]; /* files of the result */
} all[] = {
    {run_tasks, {"task.000000", "task.000001"}},
    {run_otf2, {"traces.otf2", "traces.def"}},
    {run_loads, {"data.0.json", "data.1.json"}},
    {run_checkpoints, {"scr.dataset.1/rank_0.ckpt", ".scr/index.scr"}},
};

static int set_up(void **state) {
    hpcw_error err;
    (void)scratch_set_up(state);
    make_container(&err);
    make_loads(&err);
    make_checkpoint(&err);
    make_log(&err);
    return 0;
}

static int tear_down(void **state) {
    hpcw_i_sys_gate = NULL;
    return scratch_tear_down(state);
}

/* ---- the other process ---- */

static struct {
    void (*act)(void);
    int calls; /* number of system calls since the output directory was made; -1: not made yet */
    int at;    /* system call at which `act` is called */
    bool acted;
} other;

static int meanwhile(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    if (other.calls >= 0 && ++other.calls == other.at) {
        other.acted = true;
        other.act();
    }
    other.calls = other.calls < 0 && call == HPCW_I_SYS_MKDIR ? 0 : other.calls;
    return 0;
}

/* Moves the temporary directory of the export away and puts the victim (a directory that must not change) or a link
 * to it in its place. Does nothing if the export has its final name. */
static void exchange(bool link) {
    char name[512] = "";
    DIR *list = opendir(in("above"));
    const struct dirent *entry;
    while ((entry = readdir(list)) != NULL) {
        if (strstr(entry->d_name, "-out.tmp") != NULL) {
            (void)snprintf(name, sizeof name, "above/%s", entry->d_name);
        }
    }
    (void)closedir(list);
    if (name[0] != '\0') {
        assert_int_equal(rename(in(name), in("stolen")), 0);
        assert_int_equal(link ? symlink("../victim", in(name)) : rename(in("victim"), in(name)), 0);
    }
}

static void put_link(void) {
    exchange(true);
}

static void put_directory(void) {
    exchange(false);
}

static void move_above(void) {
    assert_int_equal(rename(in("above"), in("moved")), 0);
    assert_int_equal(mkdir(in("above"), 0777), 0);
}

/* Returns the current path of the victim, a directory that must not change. */
static const char *victim(void) {
    static char found[600];
    (void)snprintf(found, sizeof found, "%s/victim", scratch);
    if (access(found, F_OK) != 0) {
        /* path of a victim that was exchanged just before the final rename */
        (void)snprintf(found, sizeof found, "%s/above/out", scratch);
    }
    DIR *list = access(found, F_OK) == 0 ? NULL : opendir(in("above"));
    const struct dirent *entry;
    while (list != NULL && (entry = readdir(list)) != NULL) {
        if (entry->d_name[0] == '.' && entry->d_name[1] == 'h') {
            (void)snprintf(found, sizeof found, "%s/above/%s", scratch, entry->d_name);
        }
    }
    if (list != NULL) {
        (void)closedir(list);
    }
    return found;
}

static void clear_all(void) {
    static const char *const made[] = {"above", "moved", "stolen", "victim"};
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        if (access(in(made[i]), F_OK) == 0) {
            scratch_remove(in(made[i]));
        }
    }
}

/* Runs an export and calls `act` at system call `at`. Returns false if the export made fewer calls. */
static bool run_one(size_t what, void (*act)(void), int at, hpcw_status *s) {
    hpcw_error err;
    char path[1024];
    assert_int_equal(mkdir(in("above"), 0777), 0);
    assert_int_equal(mkdir(in("victim"), 0777), 0);
    for (int i = 0; i < 2; i++) {
        if (strchr(all[what].file[i], '/') == NULL) {
            (void)snprintf(path, sizeof path, "victim/%s", all[what].file[i]);
            put_file(in(path));
        }
    }
    put_file(in("victim/more"));
    other.act = act;
    other.calls = -1;
    other.at = at;
    other.acted = false;
    hpcw_i_sys_gate = meanwhile;
    *s = all[what].run(in("above/out"), &err);
    hpcw_i_sys_gate = NULL;
    return other.acted;
}

static void check_result(size_t what, const char *out) {
    char path[1024];
    struct stat is;
    assert_true(lstat(in(out), &is) == 0 && S_ISDIR(is.st_mode));
    for (int i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", out, all[what].file[i]);
        assert_true(stat(in(path), &is) == 0 && is.st_size > 0);
        assert_false(is_victim(in(path)));
    }
}

static void check_exchange(void (*act)(void)) {
    for (size_t what = 0; what < sizeof all / sizeof all[0]; what++) {
        hpcw_status s = HPCW_OK;
        int refused = 0;
        for (int at = 1; run_one(what, act, at, &s); at++) {
            char path[1024];
            struct stat is;
            int files = 1;
            for (int i = 0; i < 2; i++) {
                if (strchr(all[what].file[i], '/') == NULL) {
                    (void)snprintf(path, sizeof path, "%s/%s", victim(), all[what].file[i]);
                    assert_true(is_victim(path));
                    files++;
                }
            }
            assert_int_equal(count_entries(victim()), files);
            if (s == HPCW_OK) {
                check_result(what, "above/out"); /* the export had its final name before */
            } else {
                refused++;
                /* Just before the final rename, a foreign directory can get the name. That is a failure. */
                assert_true(lstat(in("above/out"), &is) != 0 || S_ISLNK(is.st_mode) ||
                            access(in("above/out/more"), F_OK) == 0);
                assert_true(access(in("stolen"), F_OK) != 0 || count_entries(in("stolen")) == 0);
            }
            clear_all();
        }
        assert_true(s == HPCW_ENOTSUP || refused > 0); /* a build without OTF2 cannot run this export */
        clear_all();
    }
}

static void a_link_in_its_place(void **state) {
    (void)state;
    check_exchange(put_link);
}

static void another_directory_in_its_place(void **state) {
    (void)state;
    check_exchange(put_directory);
}

static void the_one_above_moves(void **state) {
    (void)state;
    for (size_t what = 0; what < sizeof all / sizeof all[0]; what++) {
        hpcw_status s = HPCW_OK;
        for (int at = 1; run_one(what, move_above, at, &s); at++) {
            assert_int_equal(s, HPCW_OK);
            check_result(what, "moved/out");
            assert_int_equal(count_entries(in("moved")), 1);
            assert_int_equal(count_entries(in("above")), 0);
            clear_all();
        }
        clear_all();
    }
}

/* ---- sizes ---- */

static struct { int looks, at; } failing;

static int fail_look(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    return call == HPCW_I_SYS_STAT && ++failing.looks == failing.at ? EIO : 0;
}

static uint64_t size_of(const char *path) {
    struct stat is;
    assert_int_equal(stat(path, &is), 0);
    return (uint64_t)is.st_size;
}

/* Rewrites load data while one lookup of a file fails. The reported size is right, or the call fails. */
static void check_bytes(const char *from, const char *to, const char *const *file, size_t files) {
    const struct gen_rewrite what = {
        .form = GEN_REWRITE_PLAIN, .last_phase = UINT64_MAX, .last_rank = UINT32_MAX};
    int refused = 0;
    failing.looks = 1;
    for (failing.at = 1; failing.at <= failing.looks; failing.at++) {
        hpcw_error err;
        struct gen_rewritten done;
        failing.looks = 0;
        hpcw_i_sys_gate = fail_look;
        hpcw_status s = gen_rewrite_vom.run(from, to, &what, &done, &err);
        hpcw_i_sys_gate = NULL;
        uint64_t bytes = 0;
        for (size_t i = 0; s == HPCW_OK && i < files; i++) {
            bytes += size_of(file[i]);
        }
        if (s == HPCW_OK) {
            assert_int_equal(done.bytes, bytes);
        } else {
            assert_non_null(strstr(err.message, "in.vom") == NULL ? strstr(err.message, "out") : err.message);
            assert_int_equal(err.sys_errno, EIO);
            refused++;
        }
        if (access(to, F_OK) == 0) {
            scratch_remove(to);
        }
    }
    assert_true(refused > 0);
}

static void every_size_is_known(void **state) {
    char from[2048], to[2048], file[2][2048];
    const char *const files[] = {file[0], file[1]};
    (void)state;
    (void)snprintf(from, sizeof from, "%s", in("in.vom"));
    (void)snprintf(to, sizeof to, "%s", in("out"));
    (void)snprintf(file[0], sizeof file[0], "%s", in("out/data.0.json"));
    (void)snprintf(file[1], sizeof file[1], "%s", in("out/data.1.json"));
    check_bytes(from, to, files, 2);
    (void)snprintf(from, sizeof from, "%s", in("in.vom/data.1.json"));
    (void)snprintf(to, sizeof to, "%s", in("out.json"));
    check_bytes(from, to, (const char *const[]){to}, 1);
}

/* ---- messages ---- */

static int fail_write(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    return call == HPCW_I_SYS_PWRITE ? ENOSPC : 0;
}

/* A checkpoint is written through the /proc path of a descriptor. Messages must not show that path. */
static void failures_name_the_output(void **state) {
    char expected[2048];
    hpcw_error err;
    (void)state;
    (void)snprintf(expected, sizeof expected, "%s/", in("out"));
    hpcw_i_sys_gate = fail_write;
    hpcw_status s = run_checkpoints(in("out"), &err);
    hpcw_i_sys_gate = NULL;
    assert_int_equal(s, HPCW_ENOSPC);
    assert_int_equal(err.sys_errno, ENOSPC);
    assert_memory_equal(err.message, expected, strlen(expected));
    assert_null(strstr(err.message, "/proc/"));
    assert_non_null(strstr(err.message, "No space left on device"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_link_in_its_place), TEST(another_directory_in_its_place), TEST(the_one_above_moves),
        TEST(every_size_is_known), TEST(failures_name_the_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
