/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator that calls a program's own collective functions. Other operations go through process 0. Memory
 * comes from malloc(), as in comm_mpi.c. So a test that makes the n-th hpcw_i_malloc fail counts the same with both
 * kinds of communicators. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libwriter/base/options.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/comm.h"

/* Error codes of this file. The functions of a program will hardly return them. */
enum { NO_SPLIT = HPCW_I_COMM_NO_MEMORY + 1 };

struct callback_comm {
    hpcw_comm base;
    hpcw_comm_callbacks call;
    void *context;
    bool part;     /* this communicator was made by a split: its context is freed with it */
    size_t *sizes; /* [size] on process 0: bytes of the messages of a gather or scatter */
};

static struct callback_comm *callbacks_of(hpcw_comm *comm) {
    return (struct callback_comm *)comm;
}

static const size_t *same_size(const struct callback_comm *c, size_t size) {
    if (c->base.process != 0) {
        return NULL;
    }
    for (int p = 0; p < c->base.size; p++) {
        c->sizes[p] = size;
    }
    return c->sizes;
}

/* Allocates memory on process 0; *out is NULL on the other processes. All processes get the same result, so that
 * none waits for process 0 after it ran out of memory. */
static int get_memory(const struct callback_comm *c, uint64_t words, uint64_t **out) {
    unsigned char ready = 1;
    *out = NULL;
    if (c->base.process == 0) {
        *out = words > SIZE_MAX / sizeof **out ? NULL : malloc((size_t)words * sizeof **out);
        ready = *out != NULL;
    }
    int code = c->call.broadcast(c->context, &ready, sizeof ready, 0);
    if (code == 0 && !ready) {
        code = HPCW_I_COMM_NO_MEMORY;
    }
    if (code != 0) {
        free(*out);
        *out = NULL;
    }
    return code;
}

static int callback_bcast(hpcw_comm *comm, void *data, size_t size, int root) {
    const struct callback_comm *c = callbacks_of(comm);
    return size == 0 ? 0 : c->call.broadcast(c->context, data, size, root);
}

/* gather_same sends `words` words from each process to process 0, scatter_same from process 0 to each. */
static int gather_same(const struct callback_comm *c, const uint64_t *mine, size_t words, uint64_t *all) {
    size_t size = words * sizeof *mine;
    return c->call.gather(c->context, mine, size, all, same_size(c, size), 0);
}

static int scatter_same(const struct callback_comm *c, const uint64_t *all, uint64_t *mine, size_t words) {
    size_t size = words * sizeof *mine;
    return c->call.scatter(c->context, all, same_size(c, size), mine, size, 0);
}

/* Reduces on process 0: row p + 1 becomes the reduction over the processes up to p. With `scan`, process p gets row
 * p; otherwise all processes get the last row. */
static int reduce(hpcw_comm *comm, const struct hpcw_i_words *w, bool scan) {
    const struct callback_comm *c = callbacks_of(comm);
    size_t n = (size_t)w->sums + w->mins + w->maxs;
    size_t processes = (size_t)comm->size;
    /* [processes + 1] row 0 is the undefined result of a scan on process 0 */
    uint64_t *rows;
    if (n == 0) {
        return 0;
    }
    int code = get_memory(c, (processes + 1) * (uint64_t)n, &rows);
    if (code == 0) {
        code = gather_same(c, w->word, n, rows == NULL ? NULL : rows + n);
    }
    if (code == 0 && rows != NULL) {
        memset(rows, 0, n * sizeof *rows);
        for (size_t p = 2; p <= processes; p++) {
            hpcw_i_words_combine(rows + p * n, rows + (p - 1) * n, w->sums, w->mins, n);
        }
        memcpy(w->word, rows + processes * n, n * sizeof *rows);
    }
    if (code == 0) {
        code = scan ? scatter_same(c, rows, w->word, n) : callback_bcast(comm, w->word, n * sizeof *w->word, 0);
    }
    free(rows);
    return code;
}

static int callback_allreduce(hpcw_comm *comm, struct hpcw_i_words *words) {
    return reduce(comm, words, false);
}

static int callback_exscan(hpcw_comm *comm, struct hpcw_i_words *words) {
    return reduce(comm, words, true);
}

/* Returns 0 if `mine` is true on all processes. */
static int check_memory(hpcw_comm *comm, bool mine) {
    uint64_t ready = mine;
    struct hpcw_i_words words = {.mins = 1, .word = &ready};
    int code = reduce(comm, &words, false);
    return code == 0 && ready == 0 ? HPCW_I_COMM_NO_MEMORY : code;
}

static int callback_allgather(hpcw_comm *comm, const void *mine, size_t size, void *all) {
    const struct callback_comm *c = callbacks_of(comm);
    bool root = comm->process == 0;
    int code = c->call.gather(c->context, mine, size, root ? all : NULL, same_size(c, size), 0);
    return code == 0 ? callback_bcast(comm, all, size * (size_t)comm->size, 0) : code;
}

static int callback_alltoall(hpcw_comm *comm, const uint64_t *send, uint64_t *receive) {
    const struct callback_comm *c = callbacks_of(comm);
    size_t n = (size_t)comm->size;
    uint64_t *from;
    int code = get_memory(c, 2 * (uint64_t)n * n, &from);
    uint64_t *to = from == NULL ? NULL : from + n * n;
    if (code == 0) {
        code = gather_same(c, send, n, from);
    }
    for (size_t i = 0; code == 0 && from != NULL && i < n * n; i++) {
        to[i % n * n + i / n] = from[i];
    }
    if (code == 0) {
        code = scatter_same(c, to, receive, n);
    }
    free(from);
    return code;
}

static uint64_t sum_of(const uint64_t *words, size_t count) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += words[i];
    }
    return sum;
}

/*
 * Sorts messages by receiver. `counts` [n * n]: number of words from p to q at index p * n + q; `at` [n]: scratch.
 */
static void sort_messages(size_t n, const uint64_t *counts, const uint64_t *from, uint64_t *at, uint64_t *to) {
    uint64_t sent = 0;
    for (size_t p = 0; p < n; p++) {
        at[p] = sent;
        sent += sum_of(counts + p * n, n);
    }
    for (size_t q = 0; q < n; q++) {
        for (size_t p = 0; p < n; p++) {
            uint64_t words = counts[p * n + q];
            memcpy(to, from + at[p], (size_t)words * sizeof *to);
            at[p] += words;
            to += words;
        }
    }
}

/* Exchanges packed messages through process 0. */
static int exchange(struct callback_comm *c, const uint64_t *packed, uint64_t packed_words,
                    const uint64_t *send_words, uint64_t *receive, uint64_t received) {
    size_t n = (size_t)c->base.size;
    uint64_t *counts;
    uint64_t *from = NULL;
    int code = get_memory(c, (uint64_t)n * n, &counts);
    if (code == 0) {
        code = gather_same(c, send_words, n, counts);
    }
    uint64_t total = code == 0 && counts != NULL ? sum_of(counts, n * n) : 0;
    if (code == 0) {
        code = get_memory(c, 2 * total + n, &from);
    }
    bool root = from != NULL;
    for (size_t p = 0; root && p < n; p++) {
        c->sizes[p] = (size_t)sum_of(counts + p * n, n) * sizeof *from;
    }
    if (code == 0) {
        code = c->call.gather(c->context, packed, (size_t)packed_words * sizeof *packed, from,
                              root ? c->sizes : NULL, 0);
    }
    uint64_t *to = root ? from + total : NULL;
    if (code == 0 && root) {
        sort_messages(n, counts, from, to + total, to);
        memset(c->sizes, 0, n * sizeof *c->sizes);
        for (size_t i = 0; i < n * n; i++) {
            c->sizes[i % n] += (size_t)counts[i] * sizeof *to;
        }
    }
    if (code == 0) {
        code = c->call.scatter(c->context, to, root ? c->sizes : NULL, receive,
                               (size_t)received * sizeof *receive, 0);
    }
    free(counts);
    free(from);
    return code;
}

static int callback_alltoallv(hpcw_comm *comm, const uint64_t *send, const uint64_t *send_at,
                              const uint64_t *send_words, uint64_t *receive, const uint64_t *receive_words,
                              int *scratch) {
    size_t n = (size_t)comm->size;
    uint64_t words = sum_of(send_words, n);
    uint64_t *packed = send_at == NULL ? NULL : malloc(((size_t)words + 1) * sizeof *packed);
    (void)scratch;
    int code = check_memory(comm, send_at == NULL || packed != NULL);
    uint64_t *to = packed;
    for (size_t p = 0; code == 0 && packed != NULL && p < n; p++) {
        memcpy(to, send + send_at[p], (size_t)send_words[p] * sizeof *to);
        to += send_words[p];
    }
    if (code == 0) {
        code = exchange(callbacks_of(comm), packed == NULL ? send : packed, words, send_words, receive,
                        sum_of(receive_words, n));
    }
    free(packed);
    return code;
}

/*
 * Place of a process in a split, in which each colour becomes a part.
 * part: the part of the process; parts are numbered in the order of their lowest processes.
 * parts: number of parts.
 * process, size: number of the process in its part, and size of the part.
 */
struct place {
    int part, parts, process, size;
};

static struct place place_of(const uint32_t *colour, int processes, int me) {
    struct place place = {.part = -1};
    for (int p = 0; p < processes; p++) {
        bool mine = colour[p] == colour[me];
        bool first = true;
        for (int q = 0; first && q < p; q++) {
            first = colour[q] != colour[p];
        }
        place.part = mine && first ? place.parts : place.part;
        place.parts += first;
        place.process += mine && p < me;
        place.size += mine;
    }
    return place;
}

static struct callback_comm *new_comm(const hpcw_comm_callbacks *call, int process, int size);

static int callback_split(hpcw_comm *comm, uint32_t colour, hpcw_comm **out) {
    const struct callback_comm *c = callbacks_of(comm);
    if (c->call.split == NULL) {
        return NO_SPLIT;
    }
    uint32_t *all = malloc((size_t)comm->size * sizeof *all);
    struct callback_comm *part = NULL;
    int code = check_memory(comm, all != NULL);
    if (code == 0) {
        code = callback_allgather(comm, &colour, sizeof colour, all);
    }
    if (code == 0) {
        struct place place = place_of(all, comm->size, comm->process);
        part = new_comm(&c->call, place.process, place.size);
        code = check_memory(comm, part != NULL);
        if (code == 0) {
            code =
                c->call.split(c->context, place.part, place.parts, place.process, place.size, &part->context);
            part->part = code == 0;
        }
    }
    if (code == 0) {
        *out = &part->base;
    } else if (part != NULL) {
        hpcw_comm_free(&part->base);
    }
    free(all);
    return code;
}

static void callback_text(int code, char *text, size_t size) {
    if (code == HPCW_I_COMM_NO_MEMORY) {
        (void)snprintf(text, size, "out of memory");
    } else if (code == NO_SPLIT) {
        (void)snprintf(text, size, "expected callback split, got NULL");
    } else {
        (void)snprintf(text, size, "the program's callback returned %d", code);
    }
}

static void callback_free(hpcw_comm *comm) {
    struct callback_comm *c = callbacks_of(comm);
    if (c->part && c->call.free_part != NULL) {
        c->call.free_part(c->context);
    }
    free(c->sizes);
    free(c);
}

static const struct hpcw_i_comm_ops callback_ops = {
    .allreduce = callback_allreduce,
    .exscan = callback_exscan,
    .bcast = callback_bcast,
    .allgather = callback_allgather,
    .alltoall = callback_alltoall,
    .alltoallv = callback_alltoallv,
    .split = callback_split,
    .text = callback_text,
    .free = callback_free,
};

/* Makes a communicator; NULL if memory ran out. */
static struct callback_comm *new_comm(const hpcw_comm_callbacks *call, int process, int size) {
    struct callback_comm *c = calloc(1, sizeof *c);
    size_t *sizes = calloc((size_t)size + 1, sizeof *sizes);
    if (c == NULL || sizes == NULL) {
        free(c);
        free(sizes);
        return NULL;
    }
    c->base = (hpcw_comm){.ops = &callback_ops, .process = process, .size = size};
    c->call = *call;
    c->sizes = sizes;
    return c;
}

void hpcw_comm_callbacks_fill(hpcw_comm_callbacks *callbacks, size_t size) {
    const hpcw_comm_callbacks defaults = {0};
    hpcw_i_options_fill(callbacks, size, &defaults, sizeof defaults);
}

hpcw_status hpcw_comm_from_callbacks(const hpcw_comm_callbacks *callbacks, void *context, int process, int size,
                                     hpcw_comm **out, hpcw_error *err) {
    hpcw_comm_callbacks call;
    if (out == NULL || callbacks == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "communicator: expected callbacks and a pointer for the handle, got NULL");
    }
    *out = NULL;
    hpcw_status s = hpcw_i_options_take(&call, sizeof call, callbacks, "hpcw_comm_callbacks", err);
    if (s != HPCW_OK) {
        return s;
    }
    if (call.broadcast == NULL || call.gather == NULL || call.scatter == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "communicator: expected callback %s, got NULL",
                           call.broadcast == NULL ? "broadcast"
                           : call.gather == NULL  ? "gather"
                                                  : "scatter");
    }
    if (size < 1 || process < 0 || process >= size) {
        return hpcw_i_fail(
            err, HPCW_EINVAL,
            "communicator: expected process 0 to %d and at least 1 process, got process %d of %d",
            size < 1 ? 0 : size - 1, process, size);
    }
    struct callback_comm *c = new_comm(&call, process, size);
    if (c == NULL) {
        return hpcw_i_fail_memory(err, "communicator", (uint64_t)size, "processes");
    }
    c->context = context;
    *out = &c->base;
    return HPCW_OK;
}
