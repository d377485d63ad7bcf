/* SPDX-License-Identifier: BSD-3-Clause */
/* Closes the files of several ranks, which get their names together. */
#include <string.h>

#include "libwriter/base/array.h"
#include "libwriter/base/hash.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/comm/exchange.h"
#include "libwriter/format/vom/handle.h"
#include "libwriter/io/sink.h"

/* ---- members of the set ---- */

struct vom_set {
    hpcw_vom *const *handle; /* [count] */
    size_t count;
    hpcw_comm *comm;
    /* path of the set, from the first file of this process; NULL: no file is open here */
    char *path;
    int root; /* process that has the file of the lowest rank */
    /* true: all files are of one set in one directory, so that one intent (list of files) can name them */
    bool together;
    struct hpcw_i_set_file *file; /* [files], on the root only; the first is that of the lowest rank */
    size_t files, capacity;
    struct hpcw_i_set *intent; /* on the root only: the intent, a file that lists the set */
};

/* Returns the index of the file with the lowest rank of this process, SIZE_MAX if it has none. The file of the
 * lowest rank gets its name last, as readers compare all others with it. */
static size_t first_of(const struct vom_set *set) {
    size_t first = SIZE_MAX;
    for (size_t i = 0; i < set->count; i++) {
        const hpcw_vom *v = set->handle[i];
        if (v != NULL && (first == SIZE_MAX || v->options.rank < set->handle[first]->options.rank)) {
            first = i;
        }
    }
    return first;
}

static bool is_root(const struct vom_set *set) {
    return set->comm->process == set->root;
}

/* Collective. Finds the root, and whether all files form one set. */
static hpcw_status look_at_set(struct vom_set *set, hpcw_status s, hpcw_error *err) {
    uint64_t own = 0, plain = 1;
    for (size_t i = 0; s == HPCW_OK && i < set->count; i++) {
        const hpcw_vom *v = set->handle[i];
        if (v == NULL) {
            continue;
        }
        own++;
        char *path = hpcw_i_vom_set_path(v->out.path);
        bool same = path != NULL && (set->path == NULL || strcmp(path, set->path) == 0);
        plain = plain && v->out.dir != NULL && same;
        s = path == NULL ? hpcw_i_fail_memory(err, v->out.path, 0, NULL) : HPCW_OK;
        if (set->path == NULL) {
            set->path = path;
        } else {
            hpcw_i_free(path);
        }
    }
    uint64_t hash = set->path == NULL ? 0 : hpcw_i_hash_text(set->path);
    /* Ranks have 32 bits. If two processes have the same one, the lower process is the root. */
    const uint64_t lowest =
        own == 0 ? UINT64_MAX
                 : (uint64_t)set->handle[first_of(set)]->options.rank << 32 | (uint32_t)set->comm->process;
    uint64_t word[5] = {own, plain, lowest, own > 0 ? hash : UINT64_MAX, hash};
    struct hpcw_i_words words = {.sums = 1, .mins = 3, .maxs = 1, .word = word};
    s = hpcw_i_agree(set->comm, s, &words, err);
    set->together = s == HPCW_OK && word[0] > 1 && word[1] == 1 && word[3] == word[4];
    set->root = (int)(uint32_t)word[2];
    return s;
}

/* Takes files from a message. Each file is its number, the size of its path with the NUL, and the path. */
static hpcw_status take_files(void *context, const uint64_t *message, size_t words, hpcw_error *err) {
    struct vom_set *set = context;
    for (size_t at = 0; at + 2 < words; at += 2 + (size_t)(message[at + 1] + 7) / 8) {
        struct hpcw_i_set_file *grown =
            hpcw_i_grow(set->file, &set->capacity, set->files + 1, sizeof *set->file);
        char *path = grown == NULL ? NULL : hpcw_i_strdup((const char *)&message[at + 2]);
        set->file = grown == NULL ? set->file : grown;
        if (path == NULL) {
            return hpcw_i_fail_memory(err, set->path, 0, "names");
        }
        set->file[set->files++] = (struct hpcw_i_set_file){.path = path, .number = message[at]};
    }
    return HPCW_OK;
}

/* Collective. Lists the files of all processes on the root. */
static hpcw_status collect_files(struct vom_set *set, hpcw_error *err) {
    struct hpcw_i_buf message = {0};
    hpcw_status s = HPCW_OK;
    const size_t first = first_of(set);
    for (size_t k = 0; s == HPCW_OK && k < set->count; k++) {
        /* Take the first file, then the others in the order in which they get their names. */
        const hpcw_vom *v = set->handle[first == SIZE_MAX || k > first ? k : k == 0 ? first : k - 1];
        if (v != NULL) {
            static const unsigned char padding[8];
            const uint64_t size = strlen(v->out.path) + 1;
            const uint64_t head[2] = {hpcw_i_sink_number(v->out.file), size};
            bool ok = hpcw_i_buf_append(&message, head, sizeof head) &&
                      hpcw_i_buf_append(&message, v->out.path, (size_t)size) &&
                      hpcw_i_buf_append(&message, padding, (size_t)(-size & 7));
            s = ok ? HPCW_OK : hpcw_i_fail_memory(err, v->out.path, 0, "names");
        }
    }
    hpcw_error why;
    hpcw_status all = hpcw_i_comm_collect(set->comm, set->root, (const uint64_t *)(const void *)message.data,
                                          s == HPCW_OK ? message.size / 8 : 0, take_files, set, &why);
    if (s == HPCW_OK && all != HPCW_OK) {
        *err = why;
        s = all;
    }
    hpcw_i_buf_free(&message);
    return s;
}

/* ---- close ---- */

/* Writes all bytes of the files of this process, and syncs them if the options say so. Then only the names are
 * missing. */
static hpcw_status settle_all(const struct vom_set *set, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < set->count; i++) {
        if (set->handle[i] != NULL) {
            s = hpcw_i_vom_finish(set->handle[i], err);
            s = s == HPCW_OK && set->handle[i]->out.dir != NULL
                    ? hpcw_i_sink_settle(set->handle[i]->out.sink, err)
                    : s;
        }
    }
    return s;
}

/* Gives files of this process their names: if `first`, only the file of the lowest rank, otherwise all others. */
static hpcw_status publish(const struct vom_set *set, bool first, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    const size_t last = is_root(set) ? first_of(set) : SIZE_MAX;
    for (size_t i = 0; s == HPCW_OK && i < set->count; i++) {
        if (set->handle[i] != NULL && (i == last) == first) {
            s = hpcw_i_vom_output_publish(&set->handle[i]->out, err);
        }
    }
    return s;
}

/* Leaves the set after a failure between two renames. Files that were not renamed keep their temporary names. The
 * intent, a list of the files, tells the next open what to do. */
static void leave_all(struct vom_set *set) {
    hpcw_i_set_leave(set->intent);
    for (size_t i = 0; i < set->count; i++) {
        if (set->handle[i] != NULL) {
            hpcw_i_sink_leave(set->handle[i]->out.file);
        }
    }
}

static void discard_all(const struct vom_set *set) {
    for (size_t i = 0; i < set->count; i++) {
        if (set->handle[i] != NULL) {
            hpcw_i_sink_withdraw(set->handle[i]->out.sink);
            hpcw_sink_discard(set->handle[i]->out.sink);
        }
    }
}

/* Collective. Gives the files their names, after all their bytes are written. */
static hpcw_status publish_together(struct vom_set *set, hpcw_error *err) {
    hpcw_status s = collect_files(set, err);
    const hpcw_vom *v = is_root(set) ? set->handle[first_of(set)] : NULL;
    if (s == HPCW_OK && v != NULL) {
        s = hpcw_i_set_announce(v->out.dir, set->path, (uint32_t)set->files, set->file, v->options.durability,
                                &set->intent, err);
    }
    s = hpcw_i_agree(set->comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = hpcw_i_agree(set->comm, v != NULL ? hpcw_i_set_retire(set->intent, v->out.file, err) : HPCW_OK,
                         NULL, err);
    }
    if (s != HPCW_OK) {
        (void)hpcw_i_set_end(set->intent, NULL); /* no name was given, so older files are as before */
        discard_all(set);
        return s;
    }
    s = hpcw_i_agree(set->comm, publish(set, false, err), NULL, err);
    s = s == HPCW_OK ? hpcw_i_agree(set->comm, publish(set, true, err), NULL, err) : s;
    if (s != HPCW_OK) {
        leave_all(set);
        return hpcw_i_set_begun(err, set->path);
    }
    return hpcw_i_agree(set->comm, hpcw_i_set_end(set->intent, err), NULL, err);
}

hpcw_status hpcw_vom_close_set(hpcw_vom *const *handles, size_t count, hpcw_comm *comm, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    hpcw_status s = HPCW_OK;
    if (handles == NULL && count > 0) {
        s = hpcw_i_fail(err, HPCW_EINVAL, "vom: expected %zu open files, got NULL", count);
        count = 0;
    }
    struct vom_set set = {.handle = handles, .count = count, .comm = hpcw_i_comm_or_self(comm)};
    s = s == HPCW_OK ? settle_all(&set, err) : s;
    s = look_at_set(&set, s, err);
    if (s != HPCW_OK) {
        discard_all(&set);
    } else if (set.together) {
        s = publish_together(&set, err);
    } else {
        s = publish(&set, false, err);
        s = s == HPCW_OK ? publish(&set, true, err) : s;
        s = hpcw_i_agree(set.comm, s, NULL, err);
        if (s != HPCW_OK) {
            discard_all(&set);
        }
    }
    for (size_t k = 0; k < set.files; k++) {
        hpcw_i_free(set.file[k].path);
    }
    hpcw_i_free(set.file);
    hpcw_i_free(set.path);
    return s;
}
