/* SPDX-License-Identifier: BSD-3-Clause */
/* A prefix directory over the time of a job: datasets that fail, several writers, restarts, removing. */
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
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <hpcw/rank2file.h>

#include "libwriter/io/sys.h"
#include "tests/support/files.h"

#define OK(call) assert_int_equal(call, HPCW_OK)

static char base[256];

static int begin(void **state) {
    (void)state;
    scratch_make(base, sizeof base);
    return 0;
}

static int end(void **state) {
    (void)state;
    hpcw_i_sys_gate = NULL;
    scratch_remove(base);
    return 0;
}

static const char *in_base(const char *format, ...) HPCW_PRINTF(1, 2);
static const char *in_base(const char *format, ...) {
    static char path[4][900];
    static unsigned next;
    char *p = path[next++ % 4];
    va_list args;
    int n = snprintf(p, sizeof path[0], "%s/", base);
    va_start(args, format);
    (void)vsnprintf(p + n, sizeof path[0] - (size_t)n, format, args);
    va_end(args);
    return p;
}

static bool exists(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0;
}

static hpcw_rank2file_options options_of(hpcw_rank2file_layout layout, uint64_t id) {
    hpcw_rank2file_options o;
    hpcw_rank2file_options_init(&o);
    o.layout = layout;
    o.dataset.id = id;
    o.count = 2;
    o.durability = HPCW_SYNC_NONE;
    return o;
}

static hpcw_rank2file *opened(const hpcw_rank2file_options *o) {
    hpcw_rank2file *w;
    hpcw_error err = {.message = ""};
    if (hpcw_rank2file_open(base, NULL, o, &w, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    return w;
}

enum { BYTES = 1000 };

static hpcw_status put_file(hpcw_rank2file *w, uint32_t rank, hpcw_error *err) {
    static const unsigned char data[BYTES] = "data";
    char name[32];
    hpcw_rank2file_file *file;
    (void)snprintf(name, sizeof name, "rank_%u.ckpt", rank);
    hpcw_status s = hpcw_rank2file_create(w, rank, name, &file, err);
    s = s == HPCW_OK ? hpcw_rank2file_file_write(file, data, sizeof data, err) : s;
    s = s == HPCW_OK ? hpcw_rank2file_file_close(file, err) : s;
    hpcw_rank2file_file_free(file);
    return s;
}

static hpcw_status write_dataset(const hpcw_rank2file_options *o, hpcw_error *err) {
    hpcw_rank2file *w;
    hpcw_status s = hpcw_rank2file_open(base, NULL, o, &w, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (put_file(w, 0, err) == HPCW_OK) {
        (void)put_file(w, 1, err); /* the close also says what failed here */
    }
    s = hpcw_rank2file_close(w, err);
    hpcw_rank2file_free(w);
    return s;
}

static void written(hpcw_rank2file_layout layout, uint64_t id) {
    hpcw_rank2file_options o = options_of(layout, id);
    hpcw_error err = {.message = ""};
    if (write_dataset(&o, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
}

/* The id of the dataset that a restart takes. 0: none. */
static uint64_t restarts(hpcw_error *err) {
    hpcw_rank2file_restart *r;
    uint64_t id = 0;
    if (hpcw_rank2file_restart_open(base, NULL, NULL, &r, err) == HPCW_OK) {
        id = hpcw_rank2file_restart_dataset(r)->id;
    }
    hpcw_rank2file_restart_free(r);
    return id;
}

static uint64_t current(void) {
    hpcw_rank2file_list *list;
    hpcw_error err = {.message = ""};
    if (hpcw_rank2file_list_open(base, NULL, &list, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    const hpcw_rank2file_listed *d = hpcw_rank2file_list_get(list, 0);
    uint64_t id = d != NULL && d->current ? d->id : 0;
    hpcw_rank2file_list_free(list);
    return id;
}

static uint32_t listed(void) {
    hpcw_rank2file_list *list;
    OK(hpcw_rank2file_list_open(base, NULL, &list, NULL));
    uint32_t count = hpcw_rank2file_list_count(list);
    hpcw_rank2file_list_free(list);
    return count;
}

/* ---- datasets that fail ---- */

static enum hpcw_i_sys_call failing;
static int failure;

static int fail_calls(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    return call == failing ? failure : 0;
}

static void arm(enum hpcw_i_sys_call call, int e) {
    failing = call;
    failure = e;
    hpcw_i_sys_gate = fail_calls;
}

static size_t index_size;
static unsigned char *index_before;

static hpcw_rank2file *second_dataset(void) {
    written(HPCW_RANK2FILE_SHARED, 1);
    index_before = read_file(in_base(HPCW_RANK2FILE_INDEX), &index_size);
    hpcw_rank2file_options o = options_of(HPCW_RANK2FILE_SHARED, 2);
    return opened(&o);
}

/* The close fails, and the first dataset is all that anybody sees. */
static void assert_doomed(hpcw_rank2file *w, hpcw_status want, const char *words) {
    hpcw_error err = {.message = ""};
    hpcw_status s = hpcw_rank2file_close(w, &err);
    if (s != want || err.code != s || strstr(err.message, words) == NULL) {
        fail_msg("expected %s, %s, got %s: %s", hpcw_status_name(want), words, hpcw_status_name(s),
                 err.message);
    }
    hpcw_rank2file_free(w);
    size_t size = 0;
    unsigned char *now = read_file(in_base(HPCW_RANK2FILE_INDEX), &size);
    assert_true(same_bytes("index", index_before, index_size, now, size));
    free(now);
    free(index_before);
    assert_false(exists(in_base("scr.dataset.2/.scr/summary.scr")));
    assert_false(exists(in_base(".scr/scr.dataset.2/summary.scr")));
    assert_int_equal(restarts(NULL), 1);
    /* And the id can be written again. */
    written(HPCW_RANK2FILE_SHARED, 2);
    assert_int_equal(restarts(NULL), 2);
    assert_false(exists(in_base(".scr/hpcw.2.unfinished")));
}

/* The program reports the failure of a write, frees the file, and closes as the others do. */
static void a_failed_write(void **state) {
    (void)state;
    hpcw_rank2file *w = second_dataset();
    OK(put_file(w, 0, NULL));
    arm(HPCW_I_SYS_PWRITE, ENOSPC);
    assert_int_equal(put_file(w, 1, NULL), HPCW_ENOSPC);
    hpcw_i_sys_gate = NULL;
    assert_doomed(w, HPCW_ENOSPC, "rank_1.ckpt: cannot write 1000 bytes at offset 0");
}

static void a_failed_file_close(void **state) {
    (void)state;
    hpcw_rank2file *w = second_dataset();
    OK(put_file(w, 0, NULL));
    arm(HPCW_I_SYS_RENAME, EIO);
    assert_int_equal(put_file(w, 1, NULL), HPCW_EIO);
    hpcw_i_sys_gate = NULL;
    assert_doomed(w, HPCW_EIO, "rank_1.ckpt: cannot rename");
}

static void a_failed_create(void **state) {
    (void)state;
    hpcw_rank2file *w = second_dataset();
    OK(put_file(w, 0, NULL));
    arm(HPCW_I_SYS_OPEN, ENOSPC);
    assert_int_equal(put_file(w, 1, NULL), HPCW_ENOSPC);
    hpcw_i_sys_gate = NULL;
    assert_doomed(w, HPCW_ENOSPC, "rank_1.ckpt: cannot create");
}

static void a_file_that_was_never_closed(void **state) {
    (void)state;
    hpcw_rank2file_file *file;
    hpcw_rank2file *w = second_dataset();
    OK(put_file(w, 0, NULL));
    OK(hpcw_rank2file_create(w, 1, "rank_1.ckpt", &file, NULL));
    OK(hpcw_rank2file_file_write(file, "x", 1, NULL));
    hpcw_rank2file_file_free(file);
    assert_doomed(w, HPCW_ESTATE, "rank_1.ckpt: expected the file to be closed or discarded");
}

static void a_file_that_is_still_open(void **state) {
    (void)state;
    hpcw_rank2file_file *file;
    hpcw_rank2file *w = second_dataset();
    OK(put_file(w, 0, NULL));
    OK(hpcw_rank2file_create(w, 1, "open", &file, NULL));
    hpcw_error err = {.message = ""};
    assert_int_equal(hpcw_rank2file_close(w, &err), HPCW_ESTATE);
    assert_non_null(strstr(err.message, "scr.dataset.2/open: expected the file to be closed or discarded"));
    hpcw_rank2file_free(w);
    hpcw_rank2file_file_free(file); /* after its dataset: allowed, though too late */
    assert_int_equal(restarts(NULL), 1);
    free(index_before);
}

static void a_file_that_is_discarded(void **state) {
    (void)state;
    hpcw_rank2file_file *file;
    hpcw_rank2file *w = second_dataset();
    OK(put_file(w, 0, NULL));
    /* Open, broken by a write, broken by the close. */
    OK(hpcw_rank2file_create(w, 1, "open", &file, NULL));
    hpcw_rank2file_discard(file);
    assert_int_equal(hpcw_rank2file_file_write(file, "x", 1, NULL), HPCW_ESTATE);
    hpcw_rank2file_file_free(file);
    OK(hpcw_rank2file_create(w, 1, "written", &file, NULL));
    static const unsigned char large[1 << 20];
    arm(HPCW_I_SYS_PWRITE, ENOSPC);
    assert_int_equal(hpcw_rank2file_file_write(file, large, sizeof large, NULL), HPCW_ENOSPC);
    hpcw_i_sys_gate = NULL;
    hpcw_rank2file_discard(file);
    hpcw_rank2file_file_free(file);
    OK(hpcw_rank2file_create(w, 1, "closed", &file, NULL));
    arm(HPCW_I_SYS_CLOSE, EIO);
    assert_int_equal(hpcw_rank2file_file_close(file, NULL), HPCW_EIO);
    hpcw_i_sys_gate = NULL;
    hpcw_rank2file_discard(file);
    hpcw_rank2file_file_free(file);
    /* Nothing happens to one that is closed. */
    OK(hpcw_rank2file_create(w, 1, "good", &file, NULL));
    OK(hpcw_rank2file_file_close(file, NULL));
    hpcw_rank2file_discard(file);
    hpcw_rank2file_file_free(file);
    hpcw_rank2file_discard(NULL);
    hpcw_error err = {.message = ""};
    if (hpcw_rank2file_close(w, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(hpcw_rank2file_dataset_of(w)->files, 2);
    hpcw_rank2file_free(w);
    assert_int_equal(restarts(NULL), 2);
    assert_int_equal(count_entries(in_base("scr.dataset.2")), 3); /* both files, and .scr */
    free(index_before);
}

static void put_plain(const char *path, size_t size) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(fputc('x', f), 'x');
    }
    assert_int_equal(fclose(f), 0);
}

static void added_files_that_are_not_as_said(void **state) {
    (void)state;
    static const struct {
        size_t size; /* SIZE_MAX: no file */
        hpcw_status want;
        const char *words;
    } cases[] = {
        {SIZE_MAX, HPCW_ENOENT, "scr.dataset.2/mine: expected a file of 10 bytes, as it was added"},
        {9, HPCW_ETRUNCATED, "scr.dataset.2/mine: size: expected 10 bytes, as it was added, got 9"},
        {11, HPCW_EFORMAT, "scr.dataset.2/mine: size: expected 10 bytes, as it was added, got 11"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hpcw_rank2file *w = second_dataset();
        OK(put_file(w, 0, NULL));
        OK(hpcw_rank2file_add(w, 1, "mine", 10, NULL, NULL));
        if (cases[i].size != SIZE_MAX) {
            put_plain(in_base("scr.dataset.2/mine"), cases[i].size);
        }
        assert_doomed(w, cases[i].want, cases[i].words);
        (void)end(NULL);
        (void)begin(NULL);
    }
}

static void a_file_that_vanishes(void **state) {
    (void)state;
    for (int cut = 0; cut < 2; cut++) {
        hpcw_rank2file *w = second_dataset();
        OK(put_file(w, 0, NULL));
        OK(put_file(w, 1, NULL));
        const char *path = in_base("scr.dataset.2/rank_1.ckpt");
        assert_int_equal(cut ? truncate(path, 10) : unlink(path), 0);
        assert_doomed(w, cut ? HPCW_ETRUNCATED : HPCW_ENOENT, "scr.dataset.2/rank_1.ckpt: ");
        (void)end(NULL);
        (void)begin(NULL);
    }
}

static unsigned long syncs, failing_sync;

static int fail_one_sync(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    return call == HPCW_I_SYS_FSYNC && ++syncs == failing_sync ? EIO : 0;
}

/* The last fsync, of the directory of the index, comes too late to take the dataset back. Each one before it dooms. */
static void a_directory_that_is_not_synced(void **state) {
    (void)state;
    unsigned long last = 0;
    for (uint64_t id = 1; id <= 3; id++) {
        hpcw_rank2file_options o = options_of(HPCW_RANK2FILE_SCR_1_1, id);
        hpcw_error err = {.message = ""};
        o.durability = HPCW_SYNC_DIRECTORY;
        syncs = 0;
        failing_sync = id == 1 ? 0 : id == 2 ? last : last - 1;
        hpcw_i_sys_gate = fail_one_sync;
        hpcw_status s = write_dataset(&o, &err);
        hpcw_i_sys_gate = NULL;
        last = id == 1 ? syncs : last;
        assert_int_equal(s, id == 1 ? HPCW_OK : HPCW_EIO);
        assert_true(id == 1 || strstr(err.message, "index.scr") != NULL);
        assert_int_equal(restarts(&err), id < 3 ? id : 2);
        assert_int_equal(current(), id < 3 ? id : 2);
        assert_int_equal(exists(in_base(".scr/hpcw.%u.unfinished", (unsigned)id)), id == 3);
    }
}

/* The kernel itself refuses: a limit of the file size is met like a full disk. */
static void a_real_limit(void **state) {
    (void)state;
    static const unsigned char large[1 << 20];
    hpcw_rank2file_file *file;
    struct rlimit old;
    hpcw_rank2file *w = second_dataset();
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    struct rlimit small = {.rlim_cur = 300000, .rlim_max = old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    OK(hpcw_rank2file_create(w, 1, "large", &file, NULL));
    assert_int_not_equal(hpcw_rank2file_file_write(file, large, sizeof large, NULL), HPCW_OK);
    hpcw_rank2file_file_free(file);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_doomed(w, HPCW_ENOSPC, "large: cannot write 1048576 bytes"); /* EFBIG counts as no space */
}

/* ---- several writers ---- */

static uint64_t ids_in_index(void) {
    hpcw_rank2file_list *list;
    uint64_t ids = 0;
    OK(hpcw_rank2file_list_open(base, NULL, &list, NULL));
    for (uint32_t i = 0; i < hpcw_rank2file_list_count(list); i++) {
        ids |= UINT64_C(1) << hpcw_rank2file_list_get(list, i)->id;
    }
    hpcw_rank2file_list_free(list);
    return ids;
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
                hpcw_rank2file_options o = options_of(HPCW_RANK2FILE_SCR_3, (uint64_t)k + 1);
                hpcw_error err = {.message = ""};
                hpcw_status s = write_dataset(&o, &err);
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
        assert_int_equal(restarts(NULL), WRITERS);
        (void)end(NULL);
        (void)begin(NULL);
    }
}

/* Of two that write the same dataset the second is told so, and does no harm to the first. */
static void one_dataset_at_a_time(void **state) {
    (void)state;
    hpcw_rank2file_options o = options_of(HPCW_RANK2FILE_SCR_1_1, 1);
    hpcw_rank2file *w = opened(&o);
    hpcw_rank2file *other;
    hpcw_error err = {.message = ""};
    OK(put_file(w, 0, NULL));
    assert_int_equal(hpcw_rank2file_open(base, NULL, &o, &other, &err), HPCW_EEXIST);
    assert_non_null(strstr(err.message, "dataset scr.dataset.1 with id 1: another program is writing it"));
    /* The same directory under another id. */
    o.dataset.id = 2;
    o.dataset.name = "scr.dataset.1";
    assert_int_equal(hpcw_rank2file_open(base, NULL, &o, &other, &err), HPCW_EEXIST);
    OK(put_file(w, 1, NULL));
    OK(hpcw_rank2file_close(w, NULL));
    assert_int_equal(restarts(NULL), 1);
    hpcw_rank2file_free(w);
}

enum { MOST_CHILDREN = 32 };
static pid_t child[MOST_CHILDREN];
static int children;

/* A child that does nothing, but has a copy of every descriptor, just before a file gets its name: as that of the index,
 * whose lock is held then. */
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
    hpcw_rank2file_options o = options_of(HPCW_RANK2FILE_SCR_1_1, 1);
    hpcw_error err = {.message = ""};
    children = 0;
    hpcw_i_sys_gate = fork_at_renames;
    hpcw_status wrote = write_dataset(&o, &err);
    hpcw_i_sys_gate = NULL;
    hpcw_status dropped_it = hpcw_rank2file_drop(base, NULL, "scr.dataset.1", &err);
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
        arm(HPCW_I_SYS_LOCK, answers[i]);
        written(HPCW_RANK2FILE_SCR_1_2, i + 1);
        hpcw_i_sys_gate = NULL;
        assert_int_equal(restarts(NULL), i + 1);
    }
    /* Nobody knows who is alive: unfinished files stay. */
    put_plain(in_base(".scr/hpcw.9.unfinished"), 1);
    arm(HPCW_I_SYS_LOCK, ENOSYS);
    OK(hpcw_rank2file_prune(base, NULL, 0, NULL, NULL));
    assert_true(exists(in_base(".scr/hpcw.9.unfinished")));
    hpcw_rank2file_options o = options_of(HPCW_RANK2FILE_SCR_1_2, 5);
    hpcw_error err = {.message = ""};
    failure = EIO;
    assert_int_equal(write_dataset(&o, &err), HPCW_EIO);
    assert_non_null(strstr(err.message, ".scr/hpcw.lock: cannot lock"));
    hpcw_i_sys_gate = NULL;
}

/* A group that shares a prefix shares its lock, whatever the umask of the first user. */
static void a_shared_prefix(void **state) {
    (void)state;
    struct stat st;
    const char *lock = in_base(".scr/hpcw.lock");
    assert_int_equal(mkdir(in_base("%s", ".scr"), 0700), 0);
    assert_int_equal(chmod(base, 0777), 0);
    assert_int_equal(chmod(in_base("%s", ".scr"), 0775), 0);
    mode_t mask = umask(077);
    written(HPCW_RANK2FILE_SCR_1_1, 1);
    (void)umask(mask);
    assert_int_equal(stat(lock, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0664);
    /* Somebody has no right to lock: nothing is written. */
    assert_int_equal(chmod(lock, 0), 0);
    assert_int_equal(chmod(in_base("%s", ".scr"), 0777), 0);
    assert_int_equal(chmod(in_base(HPCW_RANK2FILE_INDEX), 0666), 0);
    hpcw_rank2file_options o = options_of(HPCW_RANK2FILE_SCR_1_1, 2);
    hpcw_error err = {.message = ""};
    bool root = geteuid() == 0;
    assert_true(!root || seteuid(65534) == 0);
    hpcw_status s = write_dataset(&o, &err);
    assert_true(!root || seteuid(0) == 0);
    assert_int_equal(s, HPCW_EACCES);
    assert_non_null(
        strstr(err.message, ".scr/hpcw.lock: cannot open the lock: expected the right to read and write"));
    assert_false(exists(in_base("scr.dataset.2")));
}

/* ---- small writes ---- */

static unsigned long calls;
static size_t most_bytes;

static int count_writes(enum hpcw_i_sys_call call, size_t *size) {
    if (call == HPCW_I_SYS_PWRITE) {
        calls++;
        most_bytes = *size > most_bytes ? *size : most_bytes;
    }
    return 0;
}

static unsigned long writes_of(size_t piece, size_t total) {
    static unsigned char data[9 << 20];
    hpcw_rank2file_file *file;
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (unsigned char)(i * 7 + i / 1000);
    }
    OK(hpcw_rank2file_file_open(in_base("data"), HPCW_SYNC_NONE, &file, NULL));
    calls = most_bytes = 0;
    hpcw_i_sys_gate = count_writes;
    for (size_t at = 0; at < total; at += piece) {
        size_t n = total - at < piece ? total - at : piece;
        OK(hpcw_rank2file_file_write(file, data + at, n, NULL));
        assert_int_equal(hpcw_rank2file_file_size(file), at + n);
    }
    OK(hpcw_rank2file_file_close(file, NULL));
    hpcw_i_sys_gate = NULL;
    hpcw_rank2file_file_free(file);
    size_t size = 0;
    unsigned char *got = read_file(in_base("data"), &size);
    assert_true(same_bytes("data", data, total, got, size));
    free(got);
    return calls;
}

static void small_writes_are_gathered(void **state) {
    (void)state;
    assert_int_equal(writes_of(64, 64 * 10000), 3); /* 640000 bytes in buffers of 262144 */
    assert_int_equal(writes_of(4 << 20, 8 << 20), 2);
    assert_int_equal(most_bytes, 4 << 20);
    assert_int_equal(writes_of(1, 1), 1);
    assert_int_equal(writes_of(1, 0), 0);
    assert_int_equal(writes_of(256 << 10, 1 << 20), 4);
    assert_true(writes_of(300001, 9 << 20) <= 32);
    for (size_t piece = 200000; piece < 800000; piece += 33333) {
        (void)writes_of(piece, 3000000);
    }
}

/* ---- defaults ---- */

static void assert_is_now(const char *stamp, time_t before) {
    struct tm tm = {.tm_isdst = -1};
    assert_non_null(strptime(stamp, "%Y-%m-%dT%H:%M:%S", &tm));
    time_t t = mktime(&tm);
    assert_true(t >= before && t <= time(NULL));
}

static void defaults_are_filled_in(void **state) {
    (void)state;
    time_t before = time(NULL);
    assert_int_equal(setenv("USER", "ada", 1), 0);
    hpcw_rank2file_options o = options_of(HPCW_RANK2FILE_SCR_3, 4);
    hpcw_rank2file *w = opened(&o);
    OK(put_file(w, 0, NULL));
    OK(put_file(w, 1, NULL));
    OK(hpcw_rank2file_close(w, NULL));
    const hpcw_rank2file_dataset *d = hpcw_rank2file_dataset_of(w);
    assert_string_equal(d->name, "ckpt.4");
    assert_string_equal(d->user, "ada");
    assert_string_equal(d->job_id, "1");
    assert_int_equal(d->checkpoint, 4);
    assert_int_equal(d->files, 2);
    assert_int_equal(d->size, 2 * BYTES);
    assert_true(d->created_us / 1000000 >= (uint64_t)before && d->created_us / 1000000 <= (uint64_t)time(NULL));
    assert_is_now(d->flushed, before);
    /* The files say the same. */
    hpcw_rank2file_restart *r;
    OK(hpcw_rank2file_restart_open(base, NULL, "ckpt.4", &r, NULL));
    assert_int_equal(hpcw_rank2file_restart_dataset(r)->created_us, d->created_us);
    assert_string_equal(hpcw_rank2file_restart_dataset(r)->user, "ada");
    hpcw_rank2file_restart_free(r);
    hpcw_rank2file_list *list;
    OK(hpcw_rank2file_list_open(base, NULL, &list, NULL));
    assert_string_equal(hpcw_rank2file_list_get(list, 0)->flushed, d->flushed);
    hpcw_rank2file_list_free(list);
    hpcw_rank2file_free(w);
    assert_int_equal(unsetenv("USER"), 0);
    assert_int_equal(unsetenv("LOGNAME"), 0);
    o = options_of(HPCW_RANK2FILE_SCR_3, 5);
    w = opened(&o);
    assert_int_equal(strtoul(hpcw_rank2file_dataset_of(w)->user, NULL, 10), getuid());
    hpcw_rank2file_free(w);
}

static void a_lower_id_is_not_current(void **state) {
    (void)state;
    for (int layout = 0; layout < 4; layout++) {
        written((hpcw_rank2file_layout)layout, 5);
        written((hpcw_rank2file_layout)layout, 3);
        assert_int_equal(current(), 5);
        hpcw_rank2file_options o = options_of((hpcw_rank2file_layout)layout, 4);
        o.current = true;
        OK(write_dataset(&o, NULL));
        assert_int_equal(current(), 4);
        written((hpcw_rank2file_layout)layout, 6);
        assert_int_equal(current(), 6);
        (void)end(NULL);
        (void)begin(NULL);
    }
}

/* ---- restart ---- */

static const char *data_of(hpcw_rank2file_layout layout, uint64_t id) {
    return in_base("%s.%llu/rank_1.ckpt", layout == HPCW_RANK2FILE_SCR_3 ? "ckpt" : "scr.dataset",
                   (unsigned long long)id);
}

static void the_newest_that_is_sound(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        hpcw_rank2file_restart *r;
        hpcw_error err = {.message = ""};
        for (uint64_t id = 1; id <= 4; id++) {
            written(layout, id);
        }
        OK(hpcw_rank2file_restart_open(base, NULL, NULL, &r, &err));
        assert_int_equal(hpcw_rank2file_restart_skips(r), 0);
        assert_null(hpcw_rank2file_restart_skipped(r, 0));
        assert_int_equal(hpcw_rank2file_restart_files(r), 0); /* nothing is loaded yet */
        hpcw_rank2file_restart_free(r);
        OK(unlink(data_of(layout, 4)));
        OK(truncate(data_of(layout, 3), 100));
        OK(hpcw_rank2file_restart_open(base, NULL, NULL, &r, &err));
        assert_int_equal(hpcw_rank2file_restart_dataset(r)->id, 2);
        assert_int_equal(hpcw_rank2file_restart_skips(r), 2);
        const hpcw_rank2file_skipped *skipped = hpcw_rank2file_restart_skipped(r, 0);
        assert_string_equal(strchr(skipped->name, '.'), layout == HPCW_RANK2FILE_SCR_3 ? ".4" : ".dataset.4");
        assert_int_equal(skipped->why.code, HPCW_ENOENT);
        assert_non_null(strstr(skipped->why.message, "rank_1.ckpt: rank 1: cannot open for reading"));
        skipped = hpcw_rank2file_restart_skipped(r, 1);
        assert_int_equal(skipped->why.code, HPCW_ETRUNCATED);
        assert_non_null(strstr(skipped->why.message, "expected 1000 bytes, got 100"));
        OK(hpcw_rank2file_restart_load(r, 0, NULL, &err));
        OK(hpcw_rank2file_restart_check(r, true, &err));
        hpcw_rank2file_restart_free(r);
        /* By its name the damaged one is opened: to look at it. */
        OK(hpcw_rank2file_restart_open(base, NULL, layout == HPCW_RANK2FILE_SCR_3 ? "ckpt.4" : "scr.dataset.4",
                                       &r, &err));
        hpcw_rank2file_restart_free(r);
        OK(unlink(data_of(layout, 2)));
        OK(hpcw_rank2file_mark_failed(base, NULL, layout == HPCW_RANK2FILE_SCR_3 ? "ckpt.1" : "scr.dataset.1",
                                      &err));
        assert_int_equal(restarts(&err), 0);
        assert_int_equal(err.code, HPCW_ENOENT);
        assert_non_null(strstr(err.message, "expected a sound dataset, got 4 damaged: "));
        (void)end(NULL);
        (void)begin(NULL);
    }
}

static hpcw_kvtree *read_index(void) {
    hpcw_kvtree *index;
    OK(hpcw_kvtree_read_file(in_base(HPCW_RANK2FILE_INDEX), &index, NULL));
    return index;
}

static void write_index(hpcw_kvtree *index) {
    OK(hpcw_kvtree_write_file(index, in_base(HPCW_RANK2FILE_INDEX), HPCW_SYNC_NONE, NULL));
    hpcw_kvtree_free(index);
}

static void a_current_that_is_gone(void **state) {
    (void)state;
    written(HPCW_RANK2FILE_SCR_1_1, 1);
    hpcw_kvtree *index = read_index();
    OK(hpcw_kvtree_set(index, "CURRENT", "gone", NULL));
    write_index(index);
    hpcw_rank2file_restart *r;
    OK(hpcw_rank2file_restart_open(base, NULL, NULL, &r, NULL));
    assert_int_equal(hpcw_rank2file_restart_skips(r), 1);
    assert_string_equal(hpcw_rank2file_restart_skipped(r, 0)->name, "gone");
    assert_non_null(strstr(hpcw_rank2file_restart_skipped(r, 0)->why.message,
                           "CURRENT: expected a dataset of the index, got gone"));
    hpcw_rank2file_restart_free(r);
}

/* The maps of SCR 3 itself have no sizes: the summary has their sum. */
static void maps_without_sizes(void **state) {
    (void)state;
    written(HPCW_RANK2FILE_SCR_3, 1);
    written(HPCW_RANK2FILE_SCR_3, 2);
    hpcw_kvtree *leaf;
    const char *path = in_base(".scr/scr.dataset.2/rank2file.0.0");
    OK(hpcw_kvtree_read_file(path, &leaf, NULL));
    hpcw_kvtree *ranks = hpcw_kvtree_get(leaf, "RANK");
    for (int rank = 0; rank < 2; rank++) {
        char key[32];
        (void)snprintf(key, sizeof key, "%d", rank);
        hpcw_kvtree *file = hpcw_kvtree_first(hpcw_kvtree_get(hpcw_kvtree_get(ranks, key), "FILE"));
        hpcw_kvtree_remove(file, "SIZE");
        hpcw_kvtree_remove(file, "CRC");
    }
    OK(hpcw_kvtree_write_file(leaf, path, HPCW_SYNC_NONE, NULL));
    hpcw_kvtree_free(leaf);
    assert_int_equal(restarts(NULL), 2);
    OK(truncate(data_of(HPCW_RANK2FILE_SCR_3, 2), 100));
    assert_int_equal(restarts(NULL), 1);
    hpcw_rank2file_restart *r;
    hpcw_error err = {.message = ""};
    OK(hpcw_rank2file_restart_open(base, NULL, "ckpt.2", &r, &err));
    OK(hpcw_rank2file_restart_load(r, 0, NULL, &err));
    assert_int_equal(hpcw_rank2file_restart_check(r, false, &err), HPCW_ETRUNCATED);
    assert_non_null(
        strstr(err.message, "summary.scr: expected 2 files of together 2000 bytes, got 2 and 1100"));
    /* Of some ranks nobody knows. */
    const uint32_t one = 1;
    OK(hpcw_rank2file_restart_load(r, 1, &one, &err));
    OK(hpcw_rank2file_restart_check(r, true, &err));
    hpcw_rank2file_restart_free(r);
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

/* Nothing is left of a dataset. */
static void assert_gone(hpcw_rank2file_layout layout, uint64_t id) {
    assert_false(exists(in_base("%s", name_of(layout, id))));
    assert_false(exists(in_base(".scr/scr.dataset.%llu", (unsigned long long)id)));
    assert_false(exists(in_base(".scr/hpcw.%llu.unfinished", (unsigned long long)id)));
}

static void dropped(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        hpcw_error err = {.message = ""};
        for (uint64_t id = 1; id <= 3; id++) {
            written(layout, id);
        }
        OK(hpcw_rank2file_drop(base, NULL, name_of(layout, 3), &err));
        assert_gone(layout, 3);
        assert_int_equal(listed(), 2);
        assert_int_equal(current(), 2);
        assert_int_equal(hpcw_rank2file_drop(base, NULL, name_of(layout, 3), &err), HPCW_ENOENT);
        assert_int_equal(hpcw_rank2file_drop(base, NULL, NULL, &err), HPCW_EINVAL);
        /* What no map lists stays. */
        put_plain(in_base("%s/notes", name_of(layout, 2)), 10);
        OK(hpcw_rank2file_drop(base, NULL, name_of(layout, 2), &err));
        assert_true(exists(in_base("%s/notes", name_of(layout, 2))));
        assert_int_equal(restarts(&err), 1);
        /* The id is free again. */
        written(layout, 3);
        assert_int_equal(current(), 3);
        /* Without a map. */
        bool one = layout == HPCW_RANK2FILE_SCR_1_1 || layout == HPCW_RANK2FILE_SHARED;
        const char *root =
            one ? in_base("scr.dataset.3/.scr/rank2file.scr")
                : in_base(".scr/scr.dataset.3/rank2file%s", layout == HPCW_RANK2FILE_SCR_3 ? "" : ".scr");
        OK(truncate(root, 10));
        assert_int_equal(hpcw_rank2file_drop(base, NULL, name_of(layout, 3), &err),
                         one ? HPCW_OK : HPCW_ETRUNCATED);
        assert_int_equal(current(), 1);
        assert_int_equal(exists(data_of(layout, 3)), !one);
        /* The last one: an index without a dataset. */
        OK(hpcw_rank2file_drop(base, NULL, name_of(layout, 1), &err));
        assert_int_equal(listed(), 0);
        assert_int_equal(restarts(&err), 0);
        assert_int_equal(err.code, HPCW_ENOENT);
        written(layout, 1);
        assert_int_equal(restarts(&err), 1);
        (void)end(NULL);
        (void)begin(NULL);
    }
}

static void marked_as_failed(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        written(layout, 1);
        written(layout, 2);
        OK(hpcw_rank2file_mark_failed(base, NULL, name_of(layout, 2), NULL));
        assert_int_equal(current(), 1);
        assert_int_equal(restarts(NULL), 1);
        hpcw_kvtree *index = read_index();
        /* Where each version of SCR looks for it. */
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
        (void)end(NULL);
        (void)begin(NULL);
    }
}

static void written_again(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        hpcw_rank2file *w;
        hpcw_rank2file_file *file;
        written(layout, 1);
        written(layout, 2);
        hpcw_rank2file_options o = options_of(layout, 2);
        assert_int_equal(hpcw_rank2file_open(base, NULL, &o, &w, NULL), HPCW_EEXIST);
        o.replace = true;
        w = opened(&o);
        assert_int_equal(listed(), 1); /* while its files change, it is not there */
        assert_false(exists(data_of(layout, 2)));
        assert_int_equal(restarts(NULL), 1);
        OK(hpcw_rank2file_create(w, 0, "other", &file, NULL));
        OK(hpcw_rank2file_file_close(file, NULL));
        hpcw_rank2file_file_free(file);
        OK(hpcw_rank2file_close(w, NULL));
        hpcw_rank2file_free(w);
        assert_int_equal(restarts(NULL), 2);
        assert_int_equal(listed(), 2);
        o = options_of(layout, 3); /* nothing to replace */
        o.replace = true;
        OK(write_dataset(&o, NULL));
        assert_int_equal(current(), 3);
        (void)end(NULL);
        (void)begin(NULL);
    }
}

/* A writer that dies by SIGKILL in the middle. */
static void killed_writer(const hpcw_rank2file_options *o) {
    pid_t writer = fork();
    assert_true(writer >= 0);
    if (writer == 0) {
        hpcw_rank2file *w = opened(o);
        hpcw_rank2file_file *file;
        if (put_file(w, 0, NULL) == HPCW_OK && hpcw_rank2file_create(w, 1, "half", &file, NULL) == HPCW_OK) {
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
            written(layout, id);
        }
        /* A damaged dataset pushes out no sound one. */
        OK(unlink(data_of(layout, 5)));
        OK(hpcw_rank2file_prune(base, NULL, 2, &tally, &err));
        assert_int_equal(tally.removed, 2);
        assert_int_equal(tally.skipped, 0);
        assert_int_equal(ids_in_index(), 1 << 3 | 1 << 4 | 1 << 5);
        assert_gone(layout, 1);
        assert_gone(layout, 2);
        assert_int_equal(restarts(&err), 4);
        /* What a dead writer left; one that lives is left alone. */
        hpcw_rank2file_options o = options_of(layout, 7);
        hpcw_rank2file *alive = opened(&o);
        OK(put_file(alive, 0, &err));
        o = options_of(layout, 6);
        killed_writer(&o);
        assert_true(exists(in_base(".scr/hpcw.6.unfinished")));
        assert_true(exists(in_base("%s", name_of(layout, 6))));
        OK(hpcw_rank2file_prune(base, NULL, 0, &tally, &err));
        assert_int_equal(tally.removed, 1);
        assert_gone(layout, 6);
        assert_int_equal(ids_in_index(), 1 << 3 | 1 << 4 | 1 << 5);
        OK(put_file(alive, 1, &err));
        OK(hpcw_rank2file_close(alive, &err));
        hpcw_rank2file_free(alive);
        assert_int_equal(restarts(&err), 7);
        /* A directory that was there before the writer keeps what it had. */
        assert_int_equal(mkdir(in_base("results"), 0777), 0);
        put_plain(in_base("results/precious"), 10);
        o = options_of(layout, 8);
        o.dataset.name = "results";
        killed_writer(&o);
        OK(hpcw_rank2file_prune(base, NULL, 0, &tally, &err));
        assert_true(exists(in_base("results/precious")));
        assert_false(exists(in_base(".scr/hpcw.8.unfinished")));
        /* And the current one stays, however old. */
        hpcw_kvtree *index = read_index();
        OK(hpcw_kvtree_set(index, "CURRENT", name_of(layout, 3), NULL));
        write_index(index);
        OK(hpcw_rank2file_prune(base, NULL, 1, &tally, &err));
        assert_int_equal(ids_in_index(), 1 << 3 | 1 << 7);
        (void)end(NULL);
        (void)begin(NULL);
    }
}

/* Without locks between hosts a writer elsewhere looks dead. */
static void pruned_from_elsewhere(void **state) {
    (void)state;
    hpcw_rank2file_tally tally;
    const char *marker = in_base(".scr/hpcw.2.unfinished");
    written(HPCW_RANK2FILE_SCR_1_1, 1);
    hpcw_rank2file_options o = options_of(HPCW_RANK2FILE_SCR_1_1, 2);
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
        OK(hpcw_rank2file_prune(base, NULL, 1, &tally, NULL));
        bool removed = i == 2 && strcmp(here, "000000") != 0;
        assert_int_equal(tally.removed, removed);
        assert_int_equal(exists(in_base("scr.dataset.2/rank_0.ckpt")), !removed);
        assert_int_equal(exists(marker), !removed);
    }
    free(text);
}

/* Killed at any moment, a writer leaves the old dataset or a whole new one; and what it left goes. */
static void killed_at_any_moment(void **state) {
    (void)state;
    enum { KILLS = 60 };
    unsigned seed = 1;
    unsigned finished = 0;
    written(HPCW_RANK2FILE_SHARED, 1);
    for (uint64_t id = 2; id < 2 + KILLS; id++) {
        hpcw_rank2file_options o = options_of(HPCW_RANK2FILE_SHARED, id);
        hpcw_error err = {.message = ""};
        pid_t writer = fork();
        assert_true(writer >= 0);
        if (writer == 0) {
            _exit(write_dataset(&o, NULL) != HPCW_OK);
        }
        const struct timespec wait = {.tv_nsec = (rand_r(&seed) % 3000) * 1000L};
        (void)nanosleep(&wait, NULL);
        (void)kill(writer, SIGKILL);
        int status = 0;
        assert_int_equal(waitpid(writer, &status, 0), writer);
        assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
        uint64_t found = restarts(&err);
        if (found == 0) {
            fail_msg("%s", err.message);
        }
        finished += found == id;
        if (hpcw_rank2file_prune(base, NULL, 1, NULL, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        /* One with its summary, and without an entry in the index, is found again. */
        if (hpcw_rank2file_reindex(base, NULL, NULL, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        assert_true(restarts(&err) >= found);
        OK(hpcw_rank2file_prune(base, NULL, 1, NULL, &err));
        assert_int_equal(listed(), 1);
        assert_int_equal(count_entries(base), 2);                  /* .scr and a dataset */
        assert_int_equal(count_entries(in_base("%s", ".scr")), 3); /* lock, index, a map */
    }
    assert_true(finished < KILLS);
}

static void indexed_again(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        hpcw_rank2file_tally tally;
        hpcw_error err = {.message = ""};
        assert_int_equal(hpcw_rank2file_reindex(base, NULL, &tally, &err), HPCW_ENOENT);
        for (uint64_t id = 1; id <= 3; id++) {
            written(layout, id);
        }
        OK(hpcw_rank2file_mark_failed(base, NULL, name_of(layout, 2), &err));
        size_t size = 0;
        unsigned char *before = read_file(in_base(HPCW_RANK2FILE_INDEX), &size);
        /* Nothing is wrong: nothing changes but the order of keys. */
        OK(hpcw_rank2file_reindex(base, NULL, &tally, &err));
        assert_int_equal(tally.added + tally.removed + tally.skipped, 0);
        assert_int_equal(current(), 3);
        assert_int_equal(restarts(&err), 3);
        /* An entry is lost, as by writers without locks. */
        hpcw_kvtree *index = read_index();
        hpcw_kvtree_remove(hpcw_kvtree_get(index, "DSET"), "3");
        hpcw_kvtree_remove(hpcw_kvtree_get(index, "DIR"), name_of(layout, 3));
        hpcw_kvtree_remove(hpcw_kvtree_get(index, "NAME"), name_of(layout, 3));
        OK(hpcw_kvtree_set(index, "CURRENT", name_of(layout, 1), NULL));
        write_index(index);
        OK(hpcw_rank2file_reindex(base, NULL, &tally, &err));
        assert_int_equal(tally.added, 1);
        assert_int_equal(ids_in_index(), 0xe);
        assert_int_equal(current(), 3);
        /* The index is lost, or damaged. */
        for (int damage = 0; damage < 2; damage++) {
            OK(damage == 0 ? unlink(in_base(HPCW_RANK2FILE_INDEX))
                           : truncate(in_base(HPCW_RANK2FILE_INDEX), 50));
            OK(hpcw_rank2file_reindex(base, NULL, &tally, &err));
            assert_int_equal(tally.added, 3);
            assert_int_equal(restarts(&err), 3);
        }
        /* A dataset that is damaged does not come back, an entry without a summary goes. */
        OK(unlink(in_base(HPCW_RANK2FILE_INDEX)));
        OK(unlink(data_of(layout, 3)));
        OK(hpcw_rank2file_reindex(base, NULL, &tally, &err));
        assert_int_equal(tally.added, 2);
        assert_int_equal(tally.skipped, 1);
        assert_non_null(strstr(tally.why.message, "rank_1.ckpt"));
        assert_int_equal(restarts(&err), 2);
        free(before);
        (void)end(NULL);
        (void)begin(NULL);
    }
}

/* The lock of a dataset's id, as another program has it. */
static int lock_of_another(uint64_t id) {
    int fd = open(in_base(".scr/hpcw.lock"), O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(hpcw_i_sys_lock(fd, id), 0);
    return fd;
}

static void assert_kept(hpcw_status code, const char *words) {
    hpcw_rank2file_tally tally;
    hpcw_error err = {.message = ""};
    OK(hpcw_rank2file_reindex(base, NULL, &tally, &err));
    if (tally.why.code != code || strstr(tally.why.message, words) == NULL) {
        fail_msg("expected %s, %s, got %s: %s", hpcw_status_name(code), words, hpcw_status_name(tally.why.code),
                 tally.why.message);
    }
    assert_int_equal(tally.added, 0);
    assert_int_equal(tally.removed, 0);
    assert_int_equal(tally.skipped, 1);
    assert_int_equal(ids_in_index(), 0xe);
    assert_int_equal(current(), 3);
    hpcw_rank2file_list *list;
    OK(hpcw_rank2file_list_open(base, NULL, &list, &err));
    const hpcw_rank2file_listed *d = hpcw_rank2file_list_get(list, 1);
    assert_int_equal(d->id, 2);
    assert_non_null(d->failed);
    assert_true(d->complete);
    hpcw_rank2file_list_free(list);
}

/* A dataset of the index that cannot be looked at keeps its place and its mark. */
static void indexed_again_without_a_look(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        hpcw_rank2file_layout layout = (hpcw_rank2file_layout)k;
        hpcw_rank2file_tally tally;
        bool in_directory = layout == HPCW_RANK2FILE_SCR_1_1 || layout == HPCW_RANK2FILE_SHARED;
        const char *metadata = in_directory ? "scr.dataset.2/.scr" : ".scr/scr.dataset.2";
        const char *leaf = layout == HPCW_RANK2FILE_SCR_3 ? "rank2file" : "rank2file.scr";
        char path[2][600];
        (void)snprintf(path[0], sizeof path[0], "%s/%s/%s", base, metadata, leaf);
        (void)snprintf(path[1], sizeof path[1], "%s/%s/summary.scr", base, metadata);
        for (uint64_t id = 1; id <= 3; id++) {
            written(layout, id);
        }
        OK(hpcw_rank2file_mark_failed(base, NULL, name_of(layout, 2), NULL));
        int fd = lock_of_another(2);
        assert_kept(HPCW_EEXIST, "dataset");
        assert_int_equal(close(fd), 0);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(rename(path[i], in_base("away")), 0);
            put_plain(path[i], 10);
            assert_kept(i == 1 && layout == HPCW_RANK2FILE_SHARED ? HPCW_EFORMAT : HPCW_ETRUNCATED, "");
            assert_int_equal(rename(in_base("away"), path[i]), 0);
        }
        OK(hpcw_rank2file_reindex(base, NULL, &tally, NULL));
        assert_int_equal(tally.added + tally.removed + tally.skipped, 0);
        /* Without a summary it is none. */
        assert_int_equal(unlink(path[1]), 0);
        if (layout == HPCW_RANK2FILE_SHARED) {
            assert_kept(HPCW_EFORMAT, "expected the maps of layout shared");
            assert_int_equal(unlink(in_base(".scr/scr.dataset.2/summary.scr")), 0);
        }
        OK(hpcw_rank2file_reindex(base, NULL, &tally, NULL));
        assert_int_equal(tally.removed, 1);
        assert_int_equal(ids_in_index(), 0xa);
        (void)end(NULL);
        (void)begin(NULL);
    }
}

int main(void) {
    if (access("/dev/shm", W_OK) == 0) {
        (void)setenv("TMPDIR", "/dev/shm", 0); /* thousands of small files are synced */
    }
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_failed_write),
        TEST(a_failed_file_close),
        TEST(a_failed_create),
        TEST(a_file_that_was_never_closed),
        TEST(a_file_that_is_still_open),
        TEST(a_file_that_is_discarded),
        TEST(added_files_that_are_not_as_said),
        TEST(a_file_that_vanishes),
        TEST(a_directory_that_is_not_synced),
        TEST(a_real_limit),
        TEST(six_writers),
        TEST(one_dataset_at_a_time),
        TEST(children_of_a_writer),
        TEST(without_locks),
        TEST(a_shared_prefix),
        TEST(small_writes_are_gathered),
        TEST(defaults_are_filled_in),
        TEST(a_lower_id_is_not_current),
        TEST(the_newest_that_is_sound),
        TEST(a_current_that_is_gone),
        TEST(maps_without_sizes),
        TEST(dropped),
        TEST(marked_as_failed),
        TEST(written_again),
        TEST(pruned),
        TEST(pruned_from_elsewhere),
        TEST(killed_at_any_moment),
        TEST(indexed_again),
        TEST(indexed_again_without_a_look),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
