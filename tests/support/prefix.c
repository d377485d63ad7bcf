/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/prefix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/files.h"

#define OK(call) assert_int_equal(call, HPCW_OK)

char prefix_dir[256];

int prefix_begin(void **state) {
    (void)state;
    scratch_make(prefix_dir, sizeof prefix_dir);
    return 0;
}

int prefix_end(void **state) {
    (void)state;
    hpcw_i_sys_gate = NULL;
    scratch_remove(prefix_dir);
    return 0;
}

const char *in_prefix(const char *format, ...) {
    static char path[4][900];
    static unsigned next;
    char *p = path[next++ % 4];
    va_list args;
    int n = snprintf(p, sizeof path[0], "%s/", prefix_dir);
    va_start(args, format);
    (void)vsnprintf(p + n, sizeof path[0] - (size_t)n, format, args);
    va_end(args);
    return p;
}

bool prefix_exists(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0;
}

hpcw_rank2file_options prefix_options(hpcw_rank2file_layout layout, uint64_t id) {
    hpcw_rank2file_options o;
    hpcw_rank2file_options_init(&o);
    o.layout = layout;
    o.dataset.id = id;
    o.count = 2;
    o.durability = HPCW_SYNC_NONE;
    return o;
}

hpcw_rank2file *prefix_opened(const hpcw_rank2file_options *o) {
    hpcw_rank2file *w;
    hpcw_error err = {.message = ""};
    if (hpcw_rank2file_open(prefix_dir, NULL, o, &w, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    return w;
}

hpcw_status prefix_put(hpcw_rank2file *w, uint32_t rank, hpcw_error *err) {
    static const unsigned char data[PREFIX_BYTES] = "data";
    char name[32];
    hpcw_rank2file_file *file;
    (void)snprintf(name, sizeof name, "rank_%u.ckpt", rank);
    hpcw_status s = hpcw_rank2file_create(w, rank, name, &file, err);
    s = s == HPCW_OK ? hpcw_rank2file_file_write(file, data, sizeof data, err) : s;
    s = s == HPCW_OK ? hpcw_rank2file_file_close(file, err) : s;
    hpcw_rank2file_file_free(file);
    return s;
}

hpcw_status prefix_write(const hpcw_rank2file_options *o, hpcw_error *err) {
    hpcw_rank2file *w;
    hpcw_status s = hpcw_rank2file_open(prefix_dir, NULL, o, &w, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (prefix_put(w, 0, err) == HPCW_OK) {
        (void)prefix_put(w, 1, err); /* a failure is also reported by the close */
    }
    s = hpcw_rank2file_close(w, err);
    hpcw_rank2file_free(w);
    return s;
}

void prefix_written(hpcw_rank2file_layout layout, uint64_t id) {
    hpcw_rank2file_options o = prefix_options(layout, id);
    hpcw_error err = {.message = ""};
    if (prefix_write(&o, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
}

/* Returns the id of the dataset that a restart takes; 0: none. */
uint64_t prefix_restarts(hpcw_error *err) {
    hpcw_rank2file_restart *r;
    uint64_t id = 0;
    if (hpcw_rank2file_restart_open(prefix_dir, NULL, NULL, &r, err) == HPCW_OK) {
        id = hpcw_rank2file_restart_dataset(r)->id;
    }
    hpcw_rank2file_restart_free(r);
    return id;
}

uint64_t prefix_current(void) {
    hpcw_rank2file_list *list;
    hpcw_error err = {.message = ""};
    if (hpcw_rank2file_list_open(prefix_dir, NULL, &list, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    const hpcw_rank2file_listed *d = hpcw_rank2file_list_get(list, 0);
    uint64_t id = d != NULL && d->current ? d->id : 0;
    hpcw_rank2file_list_free(list);
    return id;
}

uint32_t prefix_listed(void) {
    hpcw_rank2file_list *list;
    OK(hpcw_rank2file_list_open(prefix_dir, NULL, &list, NULL));
    uint32_t count = hpcw_rank2file_list_count(list);
    hpcw_rank2file_list_free(list);
    return count;
}

static enum hpcw_i_sys_call failing;
static int failure;

static int fail_calls(enum hpcw_i_sys_call call, size_t *size) {
    (void)size;
    return call == failing ? failure : 0;
}

void prefix_fail_calls(enum hpcw_i_sys_call call, int e) {
    failing = call;
    failure = e;
    hpcw_i_sys_gate = fail_calls;
}

void prefix_plain_file(const char *path, size_t size) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(fputc('x', f), 'x');
    }
    assert_int_equal(fclose(f), 0);
}

const char *prefix_data_path(hpcw_rank2file_layout layout, uint64_t id) {
    return in_prefix("%s.%llu/rank_1.ckpt", layout == HPCW_RANK2FILE_SCR_3 ? "ckpt" : "scr.dataset",
                     (unsigned long long)id);
}

hpcw_kvtree *prefix_read_index(void) {
    hpcw_kvtree *index;
    OK(hpcw_kvtree_read_file(in_prefix(HPCW_RANK2FILE_INDEX), &index, NULL));
    return index;
}

void prefix_write_index(hpcw_kvtree *index) {
    OK(hpcw_kvtree_write_file(index, in_prefix(HPCW_RANK2FILE_INDEX), HPCW_SYNC_NONE, NULL));
    hpcw_kvtree_free(index);
}

/* ---- a directory that must stay as it is ---- */

char prefix_outside[256];
static const char *const victims[] = {"rank_0.ckpt",   "rank_1.ckpt",       "rank2file",   "rank2file.0.0",
                                      "rank2file.scr", "rank2file.0.0.scr", "summary.scr", "notes"};
enum { VICTIMS = sizeof victims / sizeof victims[0], VICTIM_BYTES = 77 };
_Static_assert((int)VICTIMS == (int)PREFIX_VICTIMS, "as the header says");

const char *prefix_victim(size_t i) {
    static char path[400];
    (void)snprintf(path, sizeof path, "%s/%s", prefix_outside, victims[i]);
    return path;
}

int prefix_begin_guarded(void **state) {
    scratch_make(prefix_outside, sizeof prefix_outside);
    for (size_t i = 0; i < VICTIMS; i++) {
        prefix_plain_file(prefix_victim(i), VICTIM_BYTES);
    }
    (void)alarm(100); /* a hang is a failure */
    return prefix_begin(state);
}

int prefix_end_guarded(void **state) {
    (void)alarm(0);
    for (size_t i = 0; i < VICTIMS; i++) {
        struct stat st;
        if (lstat(prefix_victim(i), &st) != 0 || st.st_size != VICTIM_BYTES) {
            print_error("%s is gone, or another\n", prefix_victim(i));
            return -1;
        }
    }
    scratch_remove(prefix_outside);
    return prefix_end(state);
}

const char *prefix_name_of(hpcw_rank2file_layout layout, uint64_t id) {
    static char name[4][64];
    static unsigned next;
    char *p = name[next++ % 4];
    (void)snprintf(p, sizeof name[0], "%s.%u", layout == HPCW_RANK2FILE_SCR_3 ? "ckpt" : "scr.dataset",
                   (unsigned)id);
    return p;
}

void prefix_write_marker(const char *file, int made, const char *name, const char *names) {
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
