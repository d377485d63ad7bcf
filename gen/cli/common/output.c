/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks whether an output may be written. A typing error on the command line must not replace an input, or the
 * local file of a recorded process, whose records may exist nowhere else. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "gen/cli/common/common.h"
#include "gen/format/format.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/clog2/file/file.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sys.h"

/* The directory that contains a file, and the file's name. Functions take an array of two: [0] for the path as
 * given, [1] for the path after symbolic links were followed. */
struct gen_cli_place {
    struct hpcw_i_dir *dir;
    struct hpcw_i_file_id id;
    char *base;
};

static void release(struct gen_cli_place place[2]) {
    for (int i = 0; i < 2; i++) {
        hpcw_i_dir_release(place[i].dir);
        hpcw_i_free(place[i].base);
    }
}

static int id_of(struct hpcw_i_dir *dir, struct hpcw_i_file_id *id) {
    int fd;
    int e = hpcw_i_dir_fd(dir, &fd);
    return e == 0 ? hpcw_i_sys_id(fd, id) : e;
}

static int find_places(const char *path, struct gen_cli_place place[2]) {
    const char *slash = strrchr(path, '/');
    place[0] = place[1] = (struct gen_cli_place){0};
    int e = hpcw_i_dir_hold_of(path, &place[0].dir);
    if (e == 0) {
        place[0].base = hpcw_i_strdup(slash == NULL ? path : slash + 1);
        e = place[0].base == NULL
                ? ENOMEM
                : hpcw_i_dir_follow(place[0].dir, place[0].base, &place[1].dir, &place[1].base);
    }
    for (int i = 0; e == 0 && i < 2; i++) {
        e = id_of(place[i].dir, &place[i].id);
    }
    return e;
}

static bool is_same(const struct hpcw_i_file_id *a, const struct hpcw_i_file_id *b) {
    return a->device == b->device && a->inode == b->inode;
}

/* Sets *below to whether a directory is `top`, or anywhere below it. */
static int look_above(struct hpcw_i_dir *dir, const struct hpcw_i_file_id *top, bool *below) {
    struct hpcw_i_dir *at = hpcw_i_dir_again(dir), *up;
    struct hpcw_i_file_id id, last;
    int e = id_of(at, &id);
    bool more = e == 0;
    while (more && !(*below = is_same(&id, top))) {
        last = id;
        e = hpcw_i_dir_hold_from(at, "../x", &up);
        if (e == 0) {
            hpcw_i_dir_release(at);
            at = up;
            e = id_of(at, &id);
        }
        more = e == 0 && !is_same(&id, &last); /* the root is its own parent */
    }
    hpcw_i_dir_release(at);
    return e;
}

/* Returns the length of NAME in NAME.RANK.json or NAME.RANK.json.br, the file name of load data of a rank. 0:
 * the name has another form. */
static size_t name_of_ranks(const char *base) {
    const char *end = strstr(base, ".json");
    const bool is = end != NULL && (end[5] == '\0' || strcmp(end + 5, ".br") == 0);
    const char *dot = is ? end : base;
    while (dot > base && dot[-1] >= '0' && dot[-1] <= '9') {
        dot--;
    }
    return is && dot < end && dot > base + 1 && dot[-1] == '.' ? (size_t)(dot - 1 - base) : 0;
}

static bool is_root(const char *base) {
    return strcmp(base, "rank2file") == 0 || strcmp(base, "rank2file.scr") == 0;
}

/* Returns whether the file `name` belongs to the same data as the input `base` in the same directory. Files of
 * a container are BASE and BASE.NUMBER. Files of load data differ only in the rank. If `base` is the root file
 * of a checkpoint's map, all files beside it belong to it. */
static bool belongs(const char *base, const char *name) {
    const size_t n = strlen(base);
    const size_t ranks = name_of_ranks(base);
    const bool same_data = ranks > 0 && ranks == name_of_ranks(name) && strncmp(base, name, ranks) == 0;
    return same_data || is_root(base) ||
           (strncmp(name, base, n) == 0 && name[n] == '.' && name[n + 1] != '\0' &&
            name[n + 1 + strspn(name + n + 1, "0123456789")] == '\0');
}

static int look_beside(const char *input, const struct gen_cli_place out[2], bool *found) {
    struct gen_cli_place in[2];
    int e = find_places(input, in);
    for (int i = 0; e == 0 && i < 4; i++) {
        const struct gen_cli_place *a = &in[i / 2], *b = &out[i % 2];
        *found = *found || (is_same(&a->id, &b->id) && belongs(a->base, b->base));
    }
    release(in);
    return e;
}

/* Sets *found if the output is among the data files of the map `input`. The data files of a map are in the
 * directory that contains .scr, or below it. */
static int look_below_map(const char *input, const struct gen_cli_place out[2], bool *found) {
    struct hpcw_i_entry entry;
    char *path = hpcw_i_sys_real_path(input);
    char *base = path == NULL ? NULL : strrchr(path, '/');
    char *scr = NULL;
    int e = 0;
    for (char *next = path; base != NULL && is_root(base + 1) && (next = strstr(next, "/.scr/")) != NULL;
         next++) {
        scr = next;
    }
    if (scr != NULL) {
        scr[1] = '\0'; /* keeps the slash, so that the root of the file system stays "/" */
        e = hpcw_i_sys_look(path, true, &entry);
        for (int i = 0; e == 0 && i < 2 && !*found; i++) {
            e = look_above(out[i].dir, &entry.id, found);
        }
    }
    hpcw_i_free(path);
    return e;
}

/* Gets the entry of DIRECTORY if `path` is DIRECTORY/STEM and names load data. */
static int look_at_set(const char *path, struct hpcw_i_entry *entry) {
    char directory[GEN_CLI_PATH_SIZE];
    const char *slash = strrchr(path, '/');
    size_t f = gen_format_count;
    if (slash == NULL || slash == path || strlen(path) >= sizeof directory ||
        gen_format_of_file(path, &f, NULL) != HPCW_OK || f == gen_format_count) {
        return 0;
    }
    (void)snprintf(directory, sizeof directory, "%.*s", (int)(slash - path), path);
    return hpcw_i_sys_look(directory, true, entry);
}

static int compare(const char *input, const struct hpcw_i_file_id *id, const struct gen_cli_place out[2],
                   bool *same, bool *part) {
    struct hpcw_i_entry entry;
    int e = hpcw_i_sys_look(input, true, &entry);
    *same = *part = false;
    if (e == 0 && entry.kind == HPCW_I_NOTHING) {
        e = look_at_set(input, &entry);
    }
    if (e != 0 || entry.kind == HPCW_I_NOTHING) {
        return e;
    }
    *same = is_same(&entry.id, id);
    for (int i = 0; e == 0 && i < 2 && entry.kind == HPCW_I_DIRECTORY && !*part; i++) {
        e = look_above(out[i].dir, &entry.id, part);
    }
    if (e == 0 && entry.kind != HPCW_I_DIRECTORY) {
        e = look_beside(input, out, part);
        e = e == 0 && !*part ? look_below_map(input, out, part) : e;
    }
    return e;
}

hpcw_status gen_cli_check_output(const char *output, const char *const *input, size_t count, hpcw_error *err) {
    struct hpcw_i_entry entry;
    struct gen_cli_place out[2] = {{0}};
    bool same = false, part = false;
    int e = hpcw_i_sys_look(output, true, &entry);
    if (e == 0 && entry.kind != HPCW_I_FILE) {
        return HPCW_OK; /* an output replaces only regular files, so nothing is lost */
    }
    e = e == 0 ? find_places(output, out) : e;
    size_t i = 0;
    for (; e == 0 && i < count; i++) {
        e = compare(input[i], &entry.id, out, &same, &part);
        if (same || part) {
            break;
        }
    }
    release(out);
    return e != 0
               ? hpcw_i_fail_sys(err, e, "%s: cannot find out whether this output is one of the inputs", output)
           : same
               ? hpcw_i_fail(err, HPCW_EEXIST,
                             "%s: expected an output that is not read, got the input %s: choose another name",
                             output, input[i])
           : part ? hpcw_i_fail(err, HPCW_EEXIST,
                                "%s: expected an output that is not read, got a file of the input %s: choose "
                                "another name",
                                output, input[i])
                  : hpcw_i_clog2_check_output(AT_FDCWD, output, output, err);
}
