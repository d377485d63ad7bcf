/* SPDX-License-Identifier: BSD-3-Clause */
/* A prefix directory that several programs write and maintain: locks, removal, rebuilding the index. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <hpcw/rank2file.h>

#include "libwriter/format/kvtree/node.h"
#include "libwriter/io/sys.h"
#include "tests/support/faults.h"
#include "tests/support/files.h"
#include "tests/support/prefix.h"

#define OK(call) assert_int_equal(call, HPCW_OK)

/* ---- several writers ---- */

static uint64_t ids_in_index(void) {
    hpcw_rank2file_list *list;
    uint64_t ids = 0;
    OK(hpcw_rank2file_list_open(prefix_dir, NULL, &list, NULL));
    for (uint32_t i = 0; i < hpcw_rank2file_list_count(list); i++) {
        ids |= UINT64_C(1) << hpcw_rank2file_list_get(list, i)->id;
    }
    hpcw_rank2file_list_free(list);
    return ids;
}

static int lock_of_another(uint64_t id) {
    int fd = open(in_prefix(".scr/hpcw.lock"), O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(hpcw_i_sys_lock(fd, id), 0);
    return fd;
}

static void six_writers(void **state) {
    (void)state;
    enum { WRITERS = 6, TRIES = 100 };
    for (int n = 0; n < TRIES; n++) {
        pid_t writer[WRITERS];
        for (int k = 0; k < WRITERS; k++) {
            writer[k] = fork();
            assert_true(writer[k] >= 0);
            if (writer[k] == 0) {
                hpcw_rank2file_options o = prefix_options(HPCW_RANK2FILE_SCR_3, (uint64_t)k + 1);
                hpcw_error err = {.message = ""};
                hpcw_status s = prefix_write(&o, &err);
                if (s != HPCW_OK) {
                    (void)fprintf(stderr, "writer %d: %s\n", k, err.message);
                }
                _exit(s != HPCW_OK);
            }
        }
        bool good = true;
        for (int k = 0; k < WRITERS; k++) {
            int status = 0;
            good = waitpid(writer[k], &status, 0) == writer[k] && status == 0 && good;
        }
        assert_true(good);
        if (ids_in_index() != 0x7e) {
            fail_msg("try %d: expected 6 datasets in the index, got those of %llx", n,
                     (unsigned long long)ids_in_index());
        }
        assert_int_equal(prefix_restarts(NULL), WRITERS);
        (void)prefix_end(NULL);
        (void)prefix_begin(NULL);
    }
}

/* Two programs write the same dataset. The second is refused, and the first can finish. */
static void one_dataset_at_a_time(void **state) {
    (void)state;
    hpcw_rank2file_options o = prefix_options(HPCW_RANK2FILE_SCR_1_1, 1);
    hpcw_rank2file *w = prefix_opened(&o);
    hpcw_rank2file *other;
    hpcw_error err = {.message = ""};
    OK(prefix_put(w, 0, NULL));
    assert_int_equal(hpcw_rank2file_open(prefix_dir, NULL, &o, &other, &err), HPCW_EEXIST);
    assert_non_null(strstr(err.message, "dataset scr.dataset.1 with id 1: another program is writing it"));
    /* A writer of the same directory with another id is refused, too. */
    o.dataset.id = 2;
    o.dataset.name = "scr.dataset.1";
    assert_int_equal(hpcw_rank2file_open(prefix_dir, NULL, &o, &other, &err), HPCW_EEXIST);
    OK(prefix_put(w, 1, NULL));
    OK(hpcw_rank2file_close(w, NULL));
    assert_int_equal(prefix_restarts(NULL), 1);
    hpcw_rank2file_free(w);
}

enum { MOST_CHILDREN = 32 };
static pid_t child[MOST_CHILDREN];
static int children;

/* Forks a child with copies of all descriptors just before a file is renamed, such as the index while its lock
 * is held. */
static int fork_at_renames(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    if (call == HPCW_I_SYS_RENAME && children < MOST_CHILDREN) {
        pid_t p = fork();
        if (p == 0) {
            (void)alarm(100);
            (void)pause();
            _exit(0);
        }
        child[children++] = p;
    }
    return 0;
}

/* Children that outlive a dataset keep no lock of it. */
static void children_of_a_writer(void **state) {
    (void)state;
    hpcw_rank2file_options o = prefix_options(HPCW_RANK2FILE_SCR_1_1, 1);
    hpcw_error err = {.message = ""};
    children = 0;
    hpcw_i_sys_gate = fork_at_renames;
    hpcw_status wrote = prefix_write(&o, &err);
    hpcw_i_sys_gate = NULL;
    hpcw_status dropped_it = hpcw_rank2file_drop(prefix_dir, NULL, "scr.dataset.1", NULL, NULL, &err);
    for (int i = 0; i < children; i++) {
        assert_true(child[i] > 0);
        (void)kill(child[i], SIGKILL);
        assert_int_equal(waitpid(child[i], NULL, 0), child[i]);
    }
    assert_true(children > 3);
    OK(wrote);
    if (dropped_it != HPCW_OK) {
        fail_msg("%s", err.message);
    }
}

static void without_locks(void **state) {
    (void)state;
    static const int answers[] = {ENOSYS, EOPNOTSUPP, EINVAL, ENOLCK};
    for (size_t i = 0; i < 4; i++) {
        prefix_fail_calls(HPCW_I_SYS_LOCK, answers[i]);
        prefix_written(HPCW_RANK2FILE_SCR_1_2, i + 1);
        hpcw_i_sys_gate = NULL;
        assert_int_equal(prefix_restarts(NULL), i + 1);
    }
    /* Without locks, nobody can know which writers are alive, so unfinished files stay. */
    prefix_plain_file(in_prefix(".scr/hpcw.9.unfinished"), 1);
    prefix_fail_calls(HPCW_I_SYS_LOCK, ENOSYS);
    OK(hpcw_rank2file_prune(prefix_dir, NULL, 0, NULL, NULL, NULL));
    assert_true(prefix_exists(in_prefix(".scr/hpcw.9.unfinished")));
    hpcw_rank2file_options o = prefix_options(HPCW_RANK2FILE_SCR_1_2, 5);
    hpcw_error err = {.message = ""};
    prefix_fail_calls(HPCW_I_SYS_LOCK, EIO);
    assert_int_equal(prefix_write(&o, &err), HPCW_EIO);
    assert_non_null(strstr(err.message, ".scr/hpcw.lock: cannot lock"));
    hpcw_i_sys_gate = NULL;
}

/* Makes file permissions apply to root, too, or reverts that. (Another user may have no access to the prefix.) */
static void bound_by_permissions(bool bound) {
    static struct __user_cap_data_struct before[_LINUX_CAPABILITY_U32S_3];
    struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
    if (bound) {
        assert_int_equal(syscall(SYS_capget, &h, before), 0);
    }
    struct __user_cap_data_struct now[_LINUX_CAPABILITY_U32S_3];
    memcpy(now, before, sizeof now);
    if (bound) {
        now[0].effective &= ~(UINT32_C(1) << CAP_DAC_OVERRIDE | UINT32_C(1) << CAP_DAC_READ_SEARCH);
    }
    assert_int_equal(syscall(SYS_capset, &h, now), 0);
}

/* A group that can write into a prefix can lock the prefix, whatever umask the first user has. */
static void a_shared_prefix(void **state) {
    (void)state;
    struct stat st;
    const char *lock = in_prefix(".scr/hpcw.lock");
    assert_int_equal(mkdir(in_prefix("%s", ".scr"), 0700), 0);
    assert_int_equal(chmod(prefix_dir, 0777), 0);
    assert_int_equal(chmod(in_prefix("%s", ".scr"), 0775), 0);
    mode_t mask = umask(077);
    prefix_written(HPCW_RANK2FILE_SCR_1_1, 1);
    (void)umask(mask);
    assert_int_equal(stat(lock, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0660); /* a user who may only read could block the others by a lock */
    /* Without permission to lock, nothing is written. */
    assert_int_equal(chmod(lock, 0), 0);
    hpcw_rank2file_options o = prefix_options(HPCW_RANK2FILE_SCR_1_1, 2);
    hpcw_error err = {.message = ""};
    bound_by_permissions(true);
    hpcw_status s = prefix_write(&o, &err);
    bound_by_permissions(false);
    assert_int_equal(s, HPCW_EACCES);
    assert_non_null(
        strstr(err.message, ".scr/hpcw.lock: cannot open the lock: expected the right to read and write"));
    assert_false(prefix_exists(in_prefix("scr.dataset.2")));
}

/* ---- removing ---- */

static const char *name_of(hpcw_rank2file_layout layout, uint64_t id) {
    static char name[2][64];
    static unsigned next;
    char *p = name[next++ % 2];
    (void)snprintf(p, sizeof name[0], "%s.%llu", layout == HPCW_RANK2FILE_SCR_3 ? "ckpt" : "scr.dataset",
                   (unsigned long long)id);
    return p;
}

static void assert_gone(hpcw_rank2file_layout layout, uint64_t id) {
    assert_false(prefix_exists(in_prefix("%s", name_of(layout, id))));
    assert_false(prefix_exists(in_prefix(".scr/scr.dataset.%llu", (unsigned long long)id)));
    assert_false(prefix_exists(in_prefix(".scr/hpcw.%llu.unfinished", (unsigned long long)id)));
}

static void dropped(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        hpcw_error err = {.message = ""};
        for (uint64_t id = 1; id <= 3; id++) {
            prefix_written(layout, id);
        }
        OK(hpcw_rank2file_drop(prefix_dir, NULL, name_of(layout, 3), NULL, NULL, &err));
        assert_gone(layout, 3);
        assert_int_equal(prefix_listed(), 2);
        assert_int_equal(prefix_current(), 2);
        assert_int_equal(hpcw_rank2file_drop(prefix_dir, NULL, name_of(layout, 3), NULL, NULL, &err),
                         HPCW_ENOENT);
        assert_int_equal(hpcw_rank2file_drop(prefix_dir, NULL, NULL, NULL, NULL, &err), HPCW_EINVAL);
        assert_int_equal(hpcw_rank2file_check(prefix_dir, NULL, true, &err), HPCW_EINVAL);
        assert_int_equal(hpcw_rank2file_check(NULL, "d", true, &err), HPCW_EINVAL);
        /* A drop leaves files that no map lists. */
        prefix_plain_file(in_prefix("%s/notes", name_of(layout, 2)), 10);
        hpcw_rank2file_tally kept;
        OK(hpcw_rank2file_drop(prefix_dir, NULL, name_of(layout, 2), NULL, &kept, &err));
        assert_true(prefix_exists(in_prefix("%s/notes", name_of(layout, 2))));
        assert_int_equal(kept.removed, 1);
        assert_int_equal(kept.left, 1);
        assert_int_equal(prefix_restarts(&err), 1);
        /* The id can be used again. */
        prefix_written(layout, 3);
        assert_int_equal(prefix_current(), 3);
        /* Without a map, nobody knows which files belong to the dataset. The drop fails, unless all files may
         * be removed. */
        const char *root =
            layout == HPCW_RANK2FILE_SCR_1_1 || layout == HPCW_RANK2FILE_SHARED
                ? in_prefix("scr.dataset.3/.scr/rank2file.scr")
                : in_prefix(".scr/scr.dataset.3/rank2file%s", layout == HPCW_RANK2FILE_SCR_3 ? "" : ".scr");
        hpcw_rank2file_removal how;
        hpcw_rank2file_tally tally;
        OK(truncate(root, 10));
        /* layout "shared" has a second map with the same content */
        if (layout == HPCW_RANK2FILE_SHARED) {
            OK(truncate(in_prefix(".scr/scr.dataset.3/rank2file"), 10));
        }
        prefix_plain_file(in_prefix("%s/sub", name_of(layout, 3)), 10);
        assert_int_equal(hpcw_rank2file_drop(prefix_dir, NULL, name_of(layout, 3), NULL, &tally, &err),
                         HPCW_ETRUNCATED);
        assert_non_null(strstr(err.message, "its map cannot be read, so that nobody knows which files are"));
        assert_int_equal(prefix_current(), 3);
        assert_true(prefix_exists(prefix_data_path(layout, 3)));
        hpcw_rank2file_removal_init(&how);
        how.all_files = true;
        OK(hpcw_rank2file_drop(prefix_dir, NULL, name_of(layout, 3), &how, &tally, &err));
        assert_int_equal(tally.left, 0);
        assert_gone(layout, 3);
        assert_int_equal(prefix_current(), 1);
        /* After the last dataset is dropped, the index is empty. */
        OK(hpcw_rank2file_drop(prefix_dir, NULL, name_of(layout, 1), NULL, NULL, &err));
        assert_int_equal(prefix_listed(), 0);
        assert_int_equal(prefix_restarts(&err), 0);
        assert_int_equal(err.code, HPCW_ENOENT);
        prefix_written(layout, 1);
        assert_int_equal(prefix_restarts(&err), 1);
        (void)prefix_end(NULL);
        (void)prefix_begin(NULL);
    }
}

static void marked_as_failed(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        prefix_written(layout, 1);
        prefix_written(layout, 2);
        OK(hpcw_rank2file_mark_failed(prefix_dir, NULL, name_of(layout, 2), NULL));
        assert_int_equal(prefix_current(), 1);
        assert_int_equal(prefix_restarts(NULL), 1);
        hpcw_kvtree *index = prefix_read_index();
        /* Each version of SCR looks for the mark FAILED at another place. */
        hpcw_kvtree *record = hpcw_kvtree_get(hpcw_kvtree_get(index, "DSET"), "2");
        if (layout >= HPCW_RANK2FILE_SCR_3) {
            assert_non_null(hpcw_kvtree_value(record, "FAILED"));
        }
        if (layout != HPCW_RANK2FILE_SCR_3) {
            record = hpcw_kvtree_get(hpcw_kvtree_get(record, layout == HPCW_RANK2FILE_SCR_1_2 ? "NAME" : "DIR"),
                                     name_of(layout, 2));
            assert_non_null(hpcw_kvtree_value(record, "FAILED"));
        }
        hpcw_kvtree_free(index);
        (void)prefix_end(NULL);
        (void)prefix_begin(NULL);
    }
}

static void assert_not_current(const char *name, hpcw_status want, const char *words) {
    hpcw_error err = {.message = ""};
    size_t size = 0, same = 0;
    unsigned char *before = read_file(in_prefix(HPCW_RANK2FILE_INDEX), &size);
    hpcw_status s = hpcw_rank2file_make_current(prefix_dir, NULL, name, &err);
    if (s != want || strstr(err.message, words) == NULL) {
        fail_msg("expected %d, %s, got %d: %s", (int)want, words, (int)s, err.message);
    }
    unsigned char *after = read_file(in_prefix(HPCW_RANK2FILE_INDEX), &same);
    assert_int_equal(same, size);
    assert_memory_equal(after, before, size);
    free(before);
    free(after);
}

static void made_current(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        for (uint64_t id = 1; id <= 3; id++) {
            prefix_written(layout, id);
        }
        OK(hpcw_rank2file_mark_failed(prefix_dir, NULL, name_of(layout, 1), NULL));
        OK(hpcw_rank2file_make_current(prefix_dir, NULL, name_of(layout, 1), NULL));
        assert_int_equal(prefix_restarts(NULL), 1);
        hpcw_rank2file_list *list;
        OK(hpcw_rank2file_list_open(prefix_dir, NULL, &list, NULL));
        assert_string_equal(hpcw_rank2file_list_current(list), name_of(layout, 1));
        assert_true(hpcw_rank2file_list_get(list, 0)->current);
        assert_null(hpcw_rank2file_list_get(list, 0)->failed);
        hpcw_rank2file_list_free(list);
        if (layout == HPCW_RANK2FILE_SHARED) { /* the record that SCR 1.1 reads */
            hpcw_kvtree *index = prefix_read_index();
            hpcw_kvtree *record = hpcw_kvtree_get(hpcw_kvtree_get(index, "DSET"), "1");
            record = hpcw_kvtree_get(hpcw_kvtree_get(record, "DIR"), name_of(layout, 1));
            assert_non_null(record);
            assert_null(hpcw_kvtree_get(record, "FAILED"));
            hpcw_kvtree_free(index);
        }
        int fd = lock_of_another(2);
        assert_not_current(name_of(layout, 2), HPCW_EEXIST, "dataset");
        assert_int_equal(close(fd), 0);
        assert_int_equal(truncate(prefix_data_path(layout, 2), PREFIX_BYTES - 1), 0);
        assert_not_current(name_of(layout, 2), HPCW_ETRUNCATED, "bytes, got ");
        assert_not_current("nowhere", HPCW_ENOENT, "nowhere");
        (void)prefix_end(NULL);
        (void)prefix_begin(NULL);
    }
    assert_null(hpcw_rank2file_list_current(NULL));
}

static void written_again(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        hpcw_rank2file *w;
        hpcw_rank2file_file *file;
        prefix_written(layout, 1);
        prefix_written(layout, 2);
        hpcw_rank2file_options o = prefix_options(layout, 2);
        assert_int_equal(hpcw_rank2file_open(prefix_dir, NULL, &o, &w, NULL), HPCW_EEXIST);
        o.replace = true;
        w = prefix_opened(&o);
        assert_int_equal(prefix_listed(), 1); /* a dataset is not listed while it is being replaced */
        assert_false(prefix_exists(prefix_data_path(layout, 2)));
        assert_int_equal(prefix_restarts(NULL), 1);
        OK(hpcw_rank2file_create(w, 0, "other", &file, NULL));
        OK(hpcw_rank2file_file_close(file, NULL));
        hpcw_rank2file_file_free(file);
        OK(hpcw_rank2file_close(w, NULL));
        hpcw_rank2file_free(w);
        assert_int_equal(prefix_restarts(NULL), 2);
        assert_int_equal(prefix_listed(), 2);
        o = prefix_options(layout, 3); /* no such dataset: `replace` has no effect */
        o.replace = true;
        OK(prefix_write(&o, NULL));
        assert_int_equal(prefix_current(), 3);
        (void)prefix_end(NULL);
        (void)prefix_begin(NULL);
    }
}

/* Writes half of a dataset, and is killed by SIGKILL. */
static void killed_writer(const hpcw_rank2file_options *o) {
    pid_t writer = fork();
    assert_true(writer >= 0);
    if (writer == 0) {
        hpcw_rank2file *w = prefix_opened(o);
        hpcw_rank2file_file *file;
        if (prefix_put(w, 0, NULL) == HPCW_OK && hpcw_rank2file_create(w, 1, "half", &file, NULL) == HPCW_OK) {
            (void)kill(getpid(), SIGKILL);
        }
        _exit(1);
    }
    int status = 0;
    assert_int_equal(waitpid(writer, &status, 0), writer);
    assert_true(WIFSIGNALED(status));
}

static void pruned(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        hpcw_rank2file_tally tally;
        hpcw_error err = {.message = ""};
        for (uint64_t id = 1; id <= 5; id++) {
            prefix_written(layout, id);
        }
        /* Two sound datasets are kept. Damaged dataset 5 does not count. */
        OK(unlink(prefix_data_path(layout, 5)));
        OK(hpcw_rank2file_prune(prefix_dir, NULL, 2, NULL, &tally, &err));
        assert_int_equal(tally.removed, 2);
        assert_int_equal(tally.skipped, 0);
        assert_int_equal(ids_in_index(), 1 << 3 | 1 << 4 | 1 << 5);
        assert_gone(layout, 1);
        assert_gone(layout, 2);
        assert_int_equal(prefix_restarts(&err), 4);
        /* Files of a dead writer are removed; those of a living one are left alone. */
        hpcw_rank2file_options o = prefix_options(layout, 7);
        hpcw_rank2file *alive = prefix_opened(&o);
        OK(prefix_put(alive, 0, &err));
        o = prefix_options(layout, 6);
        killed_writer(&o);
        assert_true(prefix_exists(in_prefix(".scr/hpcw.6.unfinished")));
        assert_true(prefix_exists(in_prefix("%s", name_of(layout, 6))));
        /* Empty markers: the writer of dataset 9 died before it wrote its line, the writer of dataset 7 is
         * about to write it. */
        prefix_plain_file(in_prefix(".scr/hpcw.9.unfinished"), 0);
        assert_int_equal(truncate(in_prefix(".scr/hpcw.7.unfinished"), 0), 0);
        OK(hpcw_rank2file_prune(prefix_dir, NULL, 0, NULL, &tally, &err));
        assert_int_equal(tally.removed, 1);
        assert_gone(layout, 6);
        assert_false(prefix_exists(in_prefix(".scr/hpcw.9.unfinished")));
        assert_true(prefix_exists(in_prefix(".scr/hpcw.7.unfinished")));
        assert_int_equal(ids_in_index(), 1 << 3 | 1 << 4 | 1 << 5);
        OK(prefix_put(alive, 1, &err));
        OK(hpcw_rank2file_close(alive, &err));
        hpcw_rank2file_free(alive);
        assert_int_equal(prefix_restarts(&err), 7);
        /* A dead writer had begun in an existing directory, whose content stays. */
        assert_int_equal(mkdir(in_prefix("results"), 0777), 0);
        prefix_plain_file(in_prefix("results/precious"), 10);
        o = prefix_options(layout, 8);
        o.dataset.name = "results";
        killed_writer(&o);
        OK(hpcw_rank2file_prune(prefix_dir, NULL, 0, NULL, &tally, &err));
        assert_true(prefix_exists(in_prefix("results/precious")));
        assert_false(prefix_exists(in_prefix(".scr/hpcw.8.unfinished")));
        /* The current dataset stays, however old it is. */
        hpcw_kvtree *index = prefix_read_index();
        OK(hpcw_kvtree_set(index, "CURRENT", name_of(layout, 3), NULL));
        prefix_write_index(index);
        OK(hpcw_rank2file_prune(prefix_dir, NULL, 1, NULL, &tally, &err));
        assert_int_equal(ids_in_index(), 1 << 3 | 1 << 7);
        (void)prefix_end(NULL);
        (void)prefix_begin(NULL);
    }
}

/* Without locks between hosts, a living writer of another host looks dead. */
static void pruned_from_elsewhere(void **state) {
    (void)state;
    hpcw_rank2file_tally tally;
    const char *marker = in_prefix(".scr/hpcw.2.unfinished");
    prefix_written(HPCW_RANK2FILE_SCR_1_1, 1);
    hpcw_rank2file_options o = prefix_options(HPCW_RANK2FILE_SCR_1_1, 2);
    killed_writer(&o);
    size_t size = 0;
    unsigned char *text = read_file(marker, &size);
    char *host = strstr((char *)text, " 1 ");
    assert_non_null(host);
    host += 3;
    char here[7];
    memcpy(here, host, 6);
    here[6] = '\0';
    const char *const elsewhere[] = {here[0] == '1' ? "234567" : "123456", "000000"};
    for (size_t i = 0; i < 3; i++) {
        memcpy(host, i < 2 ? elsewhere[i] : here, 6);
        FILE *f = fopen(marker, "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(text, 1, size, f), size);
        assert_int_equal(fclose(f), 0);
        OK(hpcw_rank2file_prune(prefix_dir, NULL, 1, NULL, &tally, NULL));
        bool removed = i == 2 && strcmp(here, "000000") != 0;
        assert_int_equal(tally.removed, removed);
        assert_int_equal(prefix_exists(in_prefix("scr.dataset.2/rank_0.ckpt")), !removed);
        assert_int_equal(prefix_exists(marker), !removed);
    }
    free(text);
}

/* Killed at any time, a writer leaves the old dataset or a complete new one. Its other files are removed. */
static void killed_at_any_moment(void **state) {
    (void)state;
    enum { KILLS = 60 };
    unsigned seed = 1;
    unsigned finished = 0;
    prefix_written(HPCW_RANK2FILE_SHARED, 1);
    for (uint64_t id = 2; id < 2 + KILLS; id++) {
        hpcw_rank2file_options o = prefix_options(HPCW_RANK2FILE_SHARED, id);
        hpcw_error err = {.message = ""};
        pid_t writer = fork();
        assert_true(writer >= 0);
        if (writer == 0) {
            _exit(prefix_write(&o, NULL) != HPCW_OK);
        }
        const struct timespec wait = {.tv_nsec = (rand_r(&seed) % 3000) * 1000L};
        (void)nanosleep(&wait, NULL);
        (void)kill(writer, SIGKILL);
        int status = 0;
        assert_int_equal(waitpid(writer, &status, 0), writer);
        assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
        uint64_t found = prefix_restarts(&err);
        if (found == 0) {
            fail_msg("%s", err.message);
        }
        finished += found == id;
        if (hpcw_rank2file_prune(prefix_dir, NULL, 1, NULL, NULL, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        /* A dataset with a summary but without an entry in the index is found again. */
        if (hpcw_rank2file_reindex(prefix_dir, NULL, NULL, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        assert_true(prefix_restarts(&err) >= found);
        OK(hpcw_rank2file_prune(prefix_dir, NULL, 1, NULL, NULL, &err));
        assert_int_equal(prefix_listed(), 1);
        assert_int_equal(count_entries(prefix_dir), 2);              /* .scr and a dataset */
        assert_int_equal(count_entries(in_prefix("%s", ".scr")), 3); /* lock, index and a map */
    }
    assert_true(finished < KILLS);
}

static void indexed_again(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        hpcw_rank2file_tally tally;
        hpcw_error err = {.message = ""};
        assert_int_equal(hpcw_rank2file_reindex(prefix_dir, NULL, &tally, &err), HPCW_ENOENT);
        for (uint64_t id = 1; id <= 3; id++) {
            prefix_written(layout, id);
        }
        OK(hpcw_rank2file_mark_failed(prefix_dir, NULL, name_of(layout, 2), &err));
        size_t size = 0;
        unsigned char *before = read_file(in_prefix(HPCW_RANK2FILE_INDEX), &size);
        /* With a correct index, hpcw_rank2file_reindex changes only the order of keys. */
        OK(hpcw_rank2file_reindex(prefix_dir, NULL, &tally, &err));
        assert_int_equal(tally.added + tally.removed + tally.skipped, 0);
        assert_int_equal(prefix_current(), 3);
        assert_int_equal(prefix_restarts(&err), 3);
        /* The index lost an entry, as when programs write it without locks. */
        hpcw_kvtree *index = prefix_read_index();
        hpcw_kvtree_remove(hpcw_kvtree_get(index, "DSET"), "3");
        hpcw_kvtree_remove(hpcw_kvtree_get(index, "DIR"), name_of(layout, 3));
        hpcw_kvtree_remove(hpcw_kvtree_get(index, "NAME"), name_of(layout, 3));
        OK(hpcw_kvtree_set(index, "CURRENT", name_of(layout, 1), NULL));
        prefix_write_index(index);
        OK(hpcw_rank2file_reindex(prefix_dir, NULL, &tally, &err));
        assert_int_equal(tally.added, 1);
        assert_int_equal(ids_in_index(), 0xe);
        assert_int_equal(prefix_current(), 3);
        /* The index is lost or damaged. */
        for (int damage = 0; damage < 2; damage++) {
            OK(damage == 0 ? unlink(in_prefix(HPCW_RANK2FILE_INDEX))
                           : truncate(in_prefix(HPCW_RANK2FILE_INDEX), 50));
            OK(hpcw_rank2file_reindex(prefix_dir, NULL, &tally, &err));
            assert_int_equal(tally.added, 3);
            assert_int_equal(prefix_restarts(&err), 3);
        }
        /* A damaged dataset is not listed again, and an entry without a summary is removed. */
        OK(unlink(in_prefix(HPCW_RANK2FILE_INDEX)));
        OK(unlink(prefix_data_path(layout, 3)));
        OK(hpcw_rank2file_reindex(prefix_dir, NULL, &tally, &err));
        assert_int_equal(tally.added, 2);
        assert_int_equal(tally.skipped, 1);
        assert_non_null(strstr(tally.why.message, "rank_1.ckpt"));
        assert_int_equal(prefix_restarts(&err), 2);
        free(before);
        (void)prefix_end(NULL);
        (void)prefix_begin(NULL);
    }
}

/* Checks that a reindex which cannot read dataset 2 keeps its entry and its mark as failed, and says why. */
static void assert_kept(hpcw_status code, const char *words) {
    hpcw_rank2file_tally tally;
    hpcw_error err = {.message = ""};
    OK(hpcw_rank2file_reindex(prefix_dir, NULL, &tally, &err));
    if (tally.why.code != code || strstr(tally.why.message, words) == NULL) {
        fail_msg("expected %s, %s, got %s: %s", hpcw_status_name(code), words, hpcw_status_name(tally.why.code),
                 tally.why.message);
    }
    assert_int_equal(tally.added, 0);
    assert_int_equal(tally.removed, 0);
    assert_int_equal(tally.skipped, 1);
    assert_int_equal(ids_in_index(), 0xe);
    assert_int_equal(prefix_current(), 3);
    hpcw_rank2file_list *list;
    OK(hpcw_rank2file_list_open(prefix_dir, NULL, &list, &err));
    const hpcw_rank2file_listed *d = hpcw_rank2file_list_get(list, 1);
    assert_int_equal(d->id, 2);
    assert_non_null(d->failed);
    assert_true(d->complete);
    hpcw_rank2file_list_free(list);
}

/* A dataset of the index that cannot be read keeps its entry and its mark as failed. */
static void indexed_again_without_a_look(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        hpcw_rank2file_tally tally;
        bool in_directory = layout == HPCW_RANK2FILE_SCR_1_1 || layout == HPCW_RANK2FILE_SHARED;
        const char *metadata = in_directory ? "scr.dataset.2/.scr" : ".scr/scr.dataset.2";
        const char *leaf = layout == HPCW_RANK2FILE_SCR_3 ? "rank2file" : "rank2file.scr";
        char path[2][600];
        (void)snprintf(path[0], sizeof path[0], "%s/%s/%s", prefix_dir, metadata, leaf);
        (void)snprintf(path[1], sizeof path[1], "%s/%s/summary.scr", prefix_dir, metadata);
        for (uint64_t id = 1; id <= 3; id++) {
            prefix_written(layout, id);
        }
        OK(hpcw_rank2file_mark_failed(prefix_dir, NULL, name_of(layout, 2), NULL));
        int fd = lock_of_another(2);
        assert_kept(HPCW_EEXIST, "dataset");
        assert_int_equal(close(fd), 0);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(rename(path[i], in_prefix("away")), 0);
            prefix_plain_file(path[i], 10);
            assert_kept(i == 1 && layout == HPCW_RANK2FILE_SHARED ? HPCW_EFORMAT : HPCW_ETRUNCATED, "");
            assert_int_equal(rename(in_prefix("away"), path[i]), 0);
        }
        OK(hpcw_rank2file_reindex(prefix_dir, NULL, &tally, NULL));
        assert_int_equal(tally.added + tally.removed + tally.skipped, 0);
        /* A directory without a summary is no dataset, so its entry is removed. */
        assert_int_equal(unlink(path[1]), 0);
        if (layout == HPCW_RANK2FILE_SHARED) {
            assert_kept(HPCW_EFORMAT, "expected the maps of layout shared");
            assert_int_equal(unlink(in_prefix(".scr/scr.dataset.2/summary.scr")), 0);
        }
        OK(hpcw_rank2file_reindex(prefix_dir, NULL, &tally, NULL));
        assert_int_equal(tally.removed, 1);
        assert_int_equal(ids_in_index(), 0xa);
        (void)prefix_end(NULL);
        (void)prefix_begin(NULL);
    }
}

/* Whatever call fails while the index is made again, it keeps what only an index says: that a dataset failed. An
 * index that cannot be read is not a missing one. */
static void indexed_again_with_failures(void **state) {
    (void)state;
    bool met = true;
    prefix_written(HPCW_RANK2FILE_SCR_1_1, 1);
    prefix_written(HPCW_RANK2FILE_SCR_1_1, 2);
    OK(hpcw_rank2file_mark_failed(prefix_dir, NULL, name_of(HPCW_RANK2FILE_SCR_1_1, 1), NULL));
    for (unsigned long n = 1; met; n++) {
        hpcw_rank2file_list *list;
        fault_arm(FAULT_EIO, n);
        hpcw_status s = hpcw_rank2file_reindex(prefix_dir, NULL, NULL, NULL);
        met = fault_disarm();
        assert_true(met || s == HPCW_OK);
        OK(hpcw_rank2file_list_open(prefix_dir, NULL, &list, NULL));
        assert_int_equal(hpcw_rank2file_list_count(list), 2);
        assert_non_null(hpcw_rank2file_list_get(list, 1)->failed); /* the older one */
        hpcw_rank2file_list_free(list);
    }
}

/* ---- names that SCR accepts but this library gives no dataset ---- */

static void copy_renamed(const hpcw_kvtree *from, const char *old, const char *name, hpcw_kvtree *to) {
    for (const hpcw_kvtree *n = hpcw_kvtree_first(from); n != NULL; n = hpcw_kvtree_next(n)) {
        hpcw_kvtree *copy;
        const char *key = hpcw_kvtree_key(n);
        OK(hpcw_kvtree_add(to, strcmp(key, old) == 0 ? name : key, &copy, NULL));
        copy_renamed(n, old, name, copy);
    }
}

/* Renames a dataset in its metadata. Data files may stay in place, as SCR 3 allows. */
static void rename_in(const char *path, const char *old, const char *name) {
    hpcw_kvtree *from, *to;
    OK(hpcw_kvtree_read_file(path, &from, NULL));
    OK(hpcw_kvtree_new(&to, NULL));
    copy_renamed(from, old, name, to);
    OK(hpcw_kvtree_write_file(to, path, HPCW_SYNC_NONE, NULL));
    hpcw_kvtree_free(from);
    hpcw_kvtree_free(to);
}

static void assert_upkeep(const char *name) {
    hpcw_rank2file_tally tally;
    hpcw_error err = {.message = ""};
    if (hpcw_rank2file_check(prefix_dir, name, true, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(prefix_current(), 3);
    OK(hpcw_rank2file_reindex(prefix_dir, NULL, &tally, &err));
    assert_int_equal(tally.added + tally.removed + tally.skipped, 0);
    assert_int_equal(prefix_current(), 3);
    assert_int_equal(unlink(in_prefix(HPCW_RANK2FILE_INDEX)), 0);
    OK(hpcw_rank2file_reindex(prefix_dir, NULL, &tally, &err));
    assert_int_equal(tally.added, 3);
    assert_int_equal(prefix_restarts(NULL), 3);
    OK(hpcw_rank2file_mark_failed(prefix_dir, NULL, name, &err));
    OK(hpcw_rank2file_prune(prefix_dir, NULL, 1, NULL, &tally, &err));
    assert_int_equal(tally.removed, 1);
    assert_int_equal(ids_in_index(), 0xc);
    if (hpcw_rank2file_drop(prefix_dir, NULL, name, NULL, &tally, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(tally.removed, 1);
    assert_int_equal(ids_in_index(), 4);
    assert_false(prefix_exists(in_prefix(".scr/scr.dataset.3")));
    assert_false(prefix_exists(in_prefix(".scr/hpcw.3.dropped")));
}

static void names_of_scr(void **state) {
    (void)state;
    static char longest[1024], longer[251];
    memset(longest, 'x', sizeof longest - 1);
    memset(longer, 'x', sizeof longer - 1);
    const char *const names[] = {"dumps/ckpt.3", "a\tb",   "two\nlines",   "..",   "/away/3",
                                 "a//b",         ".scr/x", "run 1/step 3", longer, longest};
    static const hpcw_rank2file_layout layouts[] = {HPCW_RANK2FILE_SCR_1_2, HPCW_RANK2FILE_SCR_3};
    for (size_t i = 0; i < 2 * (sizeof names / sizeof names[0]); i++) {
        const hpcw_rank2file_layout layout = layouts[i % 2];
        const char *old = layout == HPCW_RANK2FILE_SCR_3 ? "ckpt.3" : "scr.dataset.3";
        for (uint64_t id = 1; id <= 3; id++) {
            prefix_written(layout, id);
        }
        rename_in(in_prefix(HPCW_RANK2FILE_INDEX), old, names[i / 2]);
        rename_in(in_prefix(".scr/scr.dataset.3/summary.scr"), old, names[i / 2]);
        assert_upkeep(names[i / 2]);
        assert_false(prefix_exists(in_prefix("%s/rank_0.ckpt", old)));
        assert_true(prefix_exists(in_prefix("%.*s2/rank_0.ckpt", (int)strlen(old) - 1, old)));
        (void)prefix_end(NULL);
        (void)prefix_begin(NULL);
    }
}

/* hpcw_rank2file_drop cannot remove a file. The next hpcw_rank2file_prune finishes its work. */
static void half_dropped_names_of_scr(void **state) {
    (void)state;
    static char longer[256];
    memset(longer, 'x', sizeof longer - 1);
    const char *const names[] = {"a\tb", "two\nlines", "dumps/one\n/three", longer};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char now[2][300];
        hpcw_error err = {.message = ""};
        prefix_written(HPCW_RANK2FILE_SCR_3, 1);
        prefix_written(HPCW_RANK2FILE_SCR_3, 3);
        OK(mkdir(in_prefix("dumps"), 0777));
        OK(mkdir(in_prefix("dumps/one\n"), 0777));
        OK(rename(in_prefix("ckpt.3"), in_prefix("%s", names[i])));
        rename_in(in_prefix(HPCW_RANK2FILE_INDEX), "ckpt.3", names[i]);
        rename_in(in_prefix(".scr/scr.dataset.3/summary.scr"), "ckpt.3", names[i]);
        for (int rank = 0; rank < 2; rank++) {
            char old[32];
            (void)snprintf(old, sizeof old, "ckpt.3/rank_%d.ckpt", rank);
            (void)snprintf(now[rank], sizeof now[rank], "%s/rank_%d.ckpt", names[i], rank);
            rename_in(in_prefix(".scr/scr.dataset.3/rank2file.0.0"), old, now[rank]);
        }
        /* The map is unreadable, since its file names begin with names[i]. all_files allows the removal. */
        hpcw_rank2file_removal how;
        hpcw_rank2file_removal_init(&how);
        how.all_files = true;
        prefix_fail_calls(HPCW_I_SYS_UNLINK, EROFS);
        assert_int_equal(hpcw_rank2file_drop(prefix_dir, NULL, names[i], &how, NULL, &err), HPCW_EACCES);
        hpcw_i_sys_gate = NULL;
        assert_int_equal(ids_in_index(), 1 << 1);
        assert_true(prefix_exists(in_prefix("%s", now[0])));
        hpcw_rank2file_tally tally;
        OK(hpcw_rank2file_prune(prefix_dir, NULL, 0, NULL, &tally, &err));
        if (prefix_exists(in_prefix("%s", names[i]))) {
            fail_msg("%s is left: %s", names[i], tally.why.message);
        }
        assert_false(prefix_exists(in_prefix(".scr/scr.dataset.3")));
        assert_false(prefix_exists(in_prefix(".scr/hpcw.3.dropped")));
        (void)prefix_end(NULL);
        (void)prefix_begin(NULL);
    }
}

/* An index entry of an unknown kind stays, and is counted. */
static void entries_that_cannot_be_understood(void **state) {
    (void)state;
    hpcw_rank2file_tally tally;
    hpcw_kvtree *node;
    prefix_written(HPCW_RANK2FILE_SCR_3, 1);
    hpcw_kvtree *index = prefix_read_index();
    OK(hpcw_kvtree_add(hpcw_kvtree_get(index, "NAME"), "odd", &node, NULL));
    OK(hpcw_kvtree_set(node, "LATER", "what a later version writes", NULL));
    prefix_write_index(index);
    OK(hpcw_rank2file_reindex(prefix_dir, NULL, &tally, NULL));
    assert_int_equal(tally.removed, 0);
    assert_int_equal(tally.skipped, 1);
    index = prefix_read_index();
    node = hpcw_kvtree_get(hpcw_kvtree_get(index, "NAME"), "odd");
    assert_string_equal(hpcw_kvtree_value(node, "LATER"), "what a later version writes");
    hpcw_kvtree_free(index);
    assert_int_equal(prefix_current(), 1);
}

/* A dataset of a list is checked and opened without another look at the index. */
static void listed_is_not_looked_up_again(void **state) {
    (void)state;
    const hpcw_rank2file_layout layouts[] = {HPCW_RANK2FILE_SCR_1_1, HPCW_RANK2FILE_SCR_1_2,
                                             HPCW_RANK2FILE_SCR_3, HPCW_RANK2FILE_SHARED};
    for (size_t l = 0; l < sizeof layouts / sizeof layouts[0]; l++) {
        hpcw_rank2file_list *list;
        hpcw_rank2file_restart *r;
        hpcw_error err = {.message = ""};
        OK(prefix_end(NULL));
        OK(prefix_begin(NULL));
        prefix_written(layouts[l], 1);
        prefix_written(layouts[l], 2);
        OK(hpcw_rank2file_list_open(prefix_dir, NULL, &list, NULL));
        OK(unlink(in_prefix(HPCW_RANK2FILE_INDEX)));
        for (uint32_t i = 0; i < 2; i++) { /* the newest dataset is the first of the list */
            OK(hpcw_rank2file_check_listed(list, i, true, NULL));
            OK(hpcw_rank2file_restart_open_listed(list, i, NULL, &r, NULL));
            assert_string_equal(hpcw_rank2file_restart_dataset(r)->name, prefix_name_of(layouts[l], 2 - i));
            OK(hpcw_rank2file_restart_load(r, 0, NULL, NULL));
            OK(hpcw_rank2file_restart_check(r, true, NULL));
            hpcw_rank2file_restart_free(r);
        }
        OK(truncate(prefix_data_path(layouts[l], 2), 100));
        assert_int_not_equal(hpcw_rank2file_check_listed(list, 0, true, &err), HPCW_OK);
        assert_non_null(strstr(err.message, prefix_data_path(layouts[l], 2)));
        OK(hpcw_rank2file_check_listed(list, 0, false, NULL));
        OK(hpcw_rank2file_check_listed(list, 1, true, NULL));
        assert_int_equal(hpcw_rank2file_check_listed(list, 2, true, &err), HPCW_EINVAL);
        assert_string_equal(err.message, "rank2file: expected a list and one of its 2 datasets, got 2");
        assert_int_equal(hpcw_rank2file_check_listed(NULL, 0, true, NULL), HPCW_EINVAL);
        r = (hpcw_rank2file_restart *)list;
        assert_int_equal(hpcw_rank2file_restart_open_listed(list, 2, NULL, &r, &err), HPCW_EINVAL);
        assert_null(r);
        assert_int_equal(hpcw_rank2file_restart_open_listed(NULL, 0, NULL, &r, NULL), HPCW_EINVAL);
        assert_int_equal(hpcw_rank2file_restart_open_listed(list, 0, NULL, NULL, NULL), HPCW_EINVAL);
        hpcw_rank2file_list_free(list);
    }
}

/* Searching all datasets for each one would take minutes of processor time. The limit is 20 s. */
static void many_datasets_are_listed(void **state) {
    (void)state;
    enum { DATASETS = 100000, LONGEST_S = 20 };
    hpcw_kvtree *index, *names, *ids, *node;
    char name[32], id[32];
    prefix_written(HPCW_RANK2FILE_SCR_3, 1);
    OK(hpcw_kvtree_new(&index, NULL));
    OK(hpcw_kvtree_set(index, "VERSION", "2", NULL));
    OK(hpcw_kvtree_add(index, "NAME", &names, NULL));
    OK(hpcw_kvtree_add(index, "DSET", &ids, NULL));
    for (int i = DATASETS; i > 0; i--) {
        (void)snprintf(name, sizeof name, "ckpt.%d", i);
        (void)snprintf(id, sizeof id, "%d", i);
        OK(hpcw_i_kvtree_append(names, name, strlen(name), &node, NULL));
        OK(hpcw_kvtree_set(node, "DSET", id, NULL));
        (void)snprintf(id, sizeof id, "%d", DATASETS + 1 - i);
        OK(hpcw_i_kvtree_append(ids, id, strlen(id), &node, NULL));
        OK(hpcw_kvtree_set(node, "COMPLETE", "1", NULL));
    }
    prefix_write_index(index);
    clock_t start = clock();
    assert_int_equal(prefix_listed(), DATASETS);
    assert_true((clock() - start) / CLOCKS_PER_SEC < LONGEST_S);
}

int main(void) {
    if (access("/dev/shm", W_OK) == 0) {
        (void)setenv("TMPDIR", "/dev/shm", 0); /* thousands of small files are synced */
    }
#define TEST(name) cmocka_unit_test_setup_teardown(name, prefix_begin, prefix_end)
    const struct CMUnitTest tests[] = {
        TEST(six_writers),
        TEST(one_dataset_at_a_time),
        TEST(children_of_a_writer),
        TEST(without_locks),
        TEST(a_shared_prefix),
        TEST(dropped),
        TEST(marked_as_failed),
        TEST(made_current),
        TEST(written_again),
        TEST(pruned),
        TEST(pruned_from_elsewhere),
        TEST(killed_at_any_moment),
        TEST(indexed_again),
        TEST(indexed_again_without_a_look),
        TEST(indexed_again_with_failures),
        TEST(names_of_scr),
        TEST(half_dropped_names_of_scr),
        TEST(listed_is_not_looked_up_again),
        TEST(many_datasets_are_listed),
        TEST(entries_that_cannot_be_understood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
