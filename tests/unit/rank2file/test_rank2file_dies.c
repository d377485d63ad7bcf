/* SPDX-License-Identifier: BSD-3-Clause */
/* A program dies before its n-th call that changes files, for every n. The next start finishes or undoes its work.
 * Then every dataset is listed and complete, or gone with all its files. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <hpcw/rank2file.h>

#include "libwriter/io/sys.h"
#include "tests/support/files.h"
#include "tests/support/prefix.h"

#define OK(call) assert_int_equal(call, HPCW_OK)

enum { DIES = 42, DATASETS = 3, WRITTEN = 4, LEFT = 9 };

static const char *name_of(hpcw_rank2file_layout layout, uint64_t id) {
    static char name[4][64];
    static unsigned next;
    char *p = name[next++ % 4];
    (void)snprintf(p, sizeof name[0], "%s.%u", layout == HPCW_RANK2FILE_SCR_3 ? "ckpt" : "scr.dataset",
                   (unsigned)id);
    return p;
}

static uint64_t ids_in_index(void) {
    hpcw_rank2file_list *list;
    uint64_t ids = 0;
    if (hpcw_rank2file_list_open(prefix_dir, NULL, &list, NULL) != HPCW_OK) {
        return 0;
    }
    for (uint32_t i = 0; i < hpcw_rank2file_list_count(list); i++) {
        ids |= UINT64_C(1) << hpcw_rank2file_list_get(list, i)->id;
    }
    hpcw_rank2file_list_free(list);
    return ids;
}

/* ---- what dies ---- */

static hpcw_status drop(hpcw_rank2file_layout layout) {
    return hpcw_rank2file_drop(prefix_dir, NULL, name_of(layout, 2), NULL, NULL, NULL);
}

static hpcw_status prune(hpcw_rank2file_layout layout) {
    (void)layout;
    return hpcw_rank2file_prune(prefix_dir, NULL, 1, NULL, NULL, NULL);
}

static hpcw_status replace(hpcw_rank2file_layout layout) {
    hpcw_rank2file_options o = prefix_options(layout, 2);
    o.replace = true;
    o.durability = HPCW_SYNC_DIRECTORY;
    return prefix_write(&o, NULL);
}

static hpcw_status write_new(hpcw_rank2file_layout layout) {
    hpcw_rank2file_options o = prefix_options(layout, WRITTEN);
    return prefix_write(&o, NULL);
}

/* Writes dataset LEFT again, after a writer died in the middle of it. */
static hpcw_status write_again(hpcw_rank2file_layout layout) {
    hpcw_rank2file_options o = prefix_options(layout, LEFT);
    return prefix_write(&o, NULL);
}

static hpcw_status reindex(hpcw_rank2file_layout layout) {
    (void)layout;
    return hpcw_rank2file_reindex(prefix_dir, NULL, NULL, NULL);
}

static hpcw_status mark(hpcw_rank2file_layout layout) {
    return hpcw_rank2file_mark_failed(prefix_dir, NULL, name_of(layout, 2), NULL);
}

static hpcw_status make_current(hpcw_rank2file_layout layout) {
    return hpcw_rank2file_make_current(prefix_dir, NULL, name_of(layout, 2), NULL);
}

static const struct {
    const char *name;
    hpcw_status (*work)(hpcw_rank2file_layout layout);
    bool lost_index;   /* the index is missing at the begin */
    uint64_t finished; /* set of ids (bits) in the index after a run that does not die */
    uint64_t may_go;   /* set of ids (bits) that the work removes */
    /* tested in all layouts; otherwise only in layout "shared", which has the files of the others */
    bool all_layouts;
} works[] = {
    {"drop", drop, false, 1 << 1 | 1 << 3, 1 << 2, true},
    {"prune", prune, false, 1 << 3, 1 << 1 | 1 << 2, true},
    {"replace", replace, false, 1 << 1 | 1 << 2 | 1 << 3, 1 << 2, true},
    {"write", write_new, false, 1 << 1 | 1 << 2 | 1 << 3 | 1 << WRITTEN, 0, false},
    {"write again", write_again, false, 1 << 1 | 1 << 2 | 1 << 3 | 1 << LEFT, 0, false},
    {"reindex", reindex, true, 1 << 1 | 1 << 2 | 1 << 3, 0, false},
    {"mark", mark, false, 1 << 1 | 1 << 2 | 1 << 3, 0, false},
    {"current", make_current, false, 1 << 1 | 1 << 2 | 1 << 3, 0, false},
};
enum { WORKS = sizeof works / sizeof works[0] };

static unsigned long left;

static bool changes(enum hpcw_i_sys_call call) {
    return call == HPCW_I_SYS_PWRITE || call == HPCW_I_SYS_FSYNC || call == HPCW_I_SYS_RENAME ||
           call == HPCW_I_SYS_UNLINK || call == HPCW_I_SYS_MKDIR || call == HPCW_I_SYS_RMDIR;
}

static int die_at(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    if (changes(call) && --left == 0) {
        _exit(DIES);
    }
    return 0;
}

/* Does a piece of work in a child process that dies before its n-th call that changes files. Returns false if
 * the work needed fewer calls, and succeeded. */
static bool dies(size_t work, hpcw_rank2file_layout layout, unsigned long n) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        left = n;
        hpcw_i_sys_gate = die_at;
        _exit(works[work].work(layout) != HPCW_OK);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) != DIES) {
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    return WEXITSTATUS(status) == DIES;
}

/* A writer dies and leaves half of dataset LEFT. */
static void leave_one(hpcw_rank2file_layout layout) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        hpcw_rank2file_options o = prefix_options(layout, LEFT);
        hpcw_rank2file *w = prefix_opened(&o);
        hpcw_rank2file_file *file;
        bool good = prefix_put(w, 0, NULL) == HPCW_OK &&
                    hpcw_rank2file_create(w, 1, "deep/half", &file, NULL) == HPCW_OK;
        (void)kill(getpid(), good ? SIGKILL : SIGTERM);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* ---- after it ---- */

static bool is_sound(const char *name) {
    hpcw_rank2file_restart *r;
    bool sound = hpcw_rank2file_restart_open(prefix_dir, NULL, name, &r, NULL) == HPCW_OK &&
                 hpcw_rank2file_restart_load(r, 0, NULL, NULL) == HPCW_OK &&
                 hpcw_rank2file_restart_check(r, true, NULL) == HPCW_OK;
    hpcw_rank2file_restart_free(r);
    return sound;
}

/* Checks that a prefix has the files of exactly the datasets in the set `ids` (bits). */
static bool has_exactly(hpcw_rank2file_layout layout, uint64_t ids) {
    int datasets = 0;
    for (uint64_t id = 0; id < 16; id++) {
        if ((ids >> id & 1) != 0) {
            bool in_it = layout == HPCW_RANK2FILE_SCR_1_1 || layout == HPCW_RANK2FILE_SHARED;
            datasets++;
            if (!is_sound(name_of(layout, id)) ||
                count_entries(in_prefix("%s", name_of(layout, id))) != (in_it ? 3 : 2)) {
                return false;
            }
        }
    }
    return count_entries(prefix_dir) == datasets + 1 &&
           count_entries(in_prefix("%s", ".scr")) == 2 + (layout == HPCW_RANK2FILE_SCR_1_1 ? 0 : datasets);
}

static void check_after(size_t k, hpcw_rank2file_layout layout, unsigned long n) {
    const uint64_t before = works[k].lost_index ? 0 : (1 << 1 | 1 << 2 | 1 << 3);
    const uint64_t at_death = ids_in_index();
    hpcw_error err = {.message = ""};
    hpcw_rank2file_tally tally = {.added = 0};
    /* The next programs clean up, in this order. A dataset that is not in the index must not be listed again. */
    hpcw_status s = hpcw_rank2file_prune(prefix_dir, NULL, 0, NULL, &tally, &err);
    if (s == HPCW_OK && tally.skipped > 0) {
        err = tally.why;
        s = err.code;
    }
    s = s == HPCW_OK ? hpcw_rank2file_reindex(prefix_dir, NULL, &tally, &err) : s;
    s = s == HPCW_OK ? hpcw_rank2file_prune(prefix_dir, NULL, 0, NULL, &tally, &err) : s;
    if (s != HPCW_OK) {
        fail_msg("%s, layout %d, call %lu: %s", works[k].name, (int)layout, n, err.message);
    }
    uint64_t now = ids_in_index();
    uint64_t kept = before & ~works[k].may_go;
    uint64_t gone = before & works[k].may_go & ~at_death;
    bool good = (now & kept) == kept && (now & at_death) == at_death && has_exactly(layout, now);
    if (works[k].work == replace) { /* the new dataset may be complete except for the index */
        gone = 0;
    }
    if (!good || (now & gone) != 0) {
        fail_msg("%s, layout %d, call %lu: the index had %x, has %x, and files do not fit or came back",
                 works[k].name, (int)layout, n, (unsigned)at_death, (unsigned)now);
    }
}

static void dies_before_every_call(void **state) {
    static const hpcw_rank2file_layout layouts[] = {HPCW_RANK2FILE_SCR_1_1, HPCW_RANK2FILE_SCR_3,
                                                    HPCW_RANK2FILE_SHARED};
    for (size_t k = 0; k < WORKS; k++) {
        for (size_t l = works[k].all_layouts ? 0 : 2; l < sizeof layouts / sizeof layouts[0]; l++) {
            for (unsigned long n = 1;; n++) {
                for (uint64_t id = 1; id <= DATASETS; id++) {
                    prefix_written(layouts[l], id);
                }
                leave_one(layouts[l]);
                if (works[k].lost_index) {
                    assert_int_equal(unlink(in_prefix(HPCW_RANK2FILE_INDEX)), 0);
                }
                bool died = dies(k, layouts[l], n);
                if (!died) {
                    assert_int_equal(ids_in_index(), works[k].finished);
                    assert_true(n > 2);
                }
                check_after(k, layouts[l], n);
                (void)prefix_end(state);
                (void)prefix_begin(state);
                if (!died) {
                    break;
                }
            }
        }
    }
}

int main(void) {
    if (access("/dev/shm", W_OK) == 0) {
        (void)setenv("TMPDIR", "/dev/shm", 0); /* in memory, as thousands of small files are synced */
    }
#define TEST(name) cmocka_unit_test_setup_teardown(name, prefix_begin, prefix_end)
    const struct CMUnitTest tests[] = {TEST(dies_before_every_call)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
