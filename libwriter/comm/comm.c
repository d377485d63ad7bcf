/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/comm/comm.h"

#include <limits.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"

int hpcw_comm_process(const hpcw_comm *comm) {
    return comm == NULL ? 0 : comm->process;
}

int hpcw_comm_size(const hpcw_comm *comm) {
    return comm == NULL ? 1 : comm->size;
}

void hpcw_comm_free(hpcw_comm *comm) {
    if (comm != NULL) {
        comm->ops->free(comm);
    }
}

static hpcw_status describe(const hpcw_comm *comm, int code, const char *what, hpcw_error *err) {
    if (code == 0) {
        return HPCW_OK;
    }
    char text[256];
    comm->ops->text(code, text, sizeof text);
    return hpcw_i_fail(err, HPCW_ECOMM, "process %d of %d: %s failed: %s", comm->process, comm->size, what,
                       text);
}

hpcw_status hpcw_i_comm_exscan(hpcw_comm *comm, struct hpcw_i_words *words, hpcw_error *err) {
    return describe(comm, comm->ops->exscan(comm, words), "exclusive scan", err);
}

hpcw_status hpcw_i_comm_allreduce(hpcw_comm *comm, struct hpcw_i_words *words, hpcw_error *err) {
    return describe(comm, comm->ops->allreduce(comm, words), "reduction", err);
}

hpcw_status hpcw_i_comm_bcast(hpcw_comm *comm, void *data, size_t size, int root, hpcw_error *err) {
    return describe(comm, comm->ops->bcast(comm, data, size, root), "broadcast", err);
}

hpcw_status hpcw_i_comm_allgather(hpcw_comm *comm, const void *mine, size_t size, void *all, hpcw_error *err) {
    return describe(comm, comm->ops->allgather(comm, mine, size, all), "gather to all", err);
}

hpcw_status hpcw_i_comm_split(hpcw_comm *comm, uint32_t colour, hpcw_comm **out, hpcw_error *err) {
    return describe(comm, comm->ops->split(comm, colour, out), "split", err);
}

hpcw_status hpcw_i_comm_split_host(hpcw_comm *comm, hpcw_comm **out, hpcw_error *err) {
    return describe(comm, comm->ops->split_host(comm, out), "split by hosts", err);
}

hpcw_status hpcw_i_comm_exchange_at(hpcw_comm *comm, const uint64_t *send, const uint64_t *send_at,
                                    const uint64_t *send_words, struct hpcw_i_room *room,
                                    uint64_t *receive_words, hpcw_error *err) {
    size_t size = (size_t)comm->size;
    memset(receive_words, 0, size * sizeof *receive_words);
    hpcw_status s =
        describe(comm, comm->ops->alltoall(comm, send_words, receive_words), "exchange of sizes", err);
    if (s != HPCW_OK) {
        return s;
    }
    uint64_t out = 0;
    uint64_t in = 0;
    for (size_t p = 0; p < size; p++) {
        uint64_t end = (send_at == NULL ? out : send_at[p]) + send_words[p];
        out = end > out ? end : out;
        in += receive_words[p];
    }
    int *scratch = NULL;
    if (out > INT_MAX || in > INT_MAX) {
        s = hpcw_i_fail(err, HPCW_ERANGE, "exchange of %llu words out and %llu in: wanted at most %d",
                        (unsigned long long)out, (unsigned long long)in, INT_MAX);
    } else {
        scratch = hpcw_i_malloc(4 * size * sizeof *scratch);
        if (in > room->capacity || room->words == NULL) {
            hpcw_i_free(room->words);
            room->words = hpcw_i_malloc((size_t)in * sizeof *room->words);
            room->capacity = room->words == NULL ? 0 : (size_t)in;
        }
        if (room->words == NULL || scratch == NULL) {
            s = hpcw_i_fail(err, HPCW_ENOMEM, "out of memory for %llu words of messages",
                            (unsigned long long)in);
        }
    }
    /* One process short of memory must not leave the others waiting inside the exchange. */
    s = hpcw_i_agree(comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = describe(comm,
                     comm->ops->alltoallv(comm, send, send_at, send_words, room->words, receive_words, scratch),
                     "exchange", err);
    }
    hpcw_i_free(scratch);
    return s;
}

hpcw_status hpcw_i_comm_exchange(hpcw_comm *comm, const uint64_t *send, const uint64_t *send_words,
                                 uint64_t **receive, uint64_t *receive_words, hpcw_error *err) {
    struct hpcw_i_room room = {0};
    hpcw_status s = hpcw_i_comm_exchange_at(comm, send, NULL, send_words, &room, receive_words, err);
    if (s != HPCW_OK) {
        hpcw_i_free(room.words);
        room.words = NULL;
    }
    *receive = room.words;
    return s;
}

hpcw_status hpcw_i_comm_collect(hpcw_comm *comm, int root, const uint64_t *send, size_t words,
                                hpcw_status (*take)(void *context, const uint64_t *message, size_t words,
                                                    hpcw_error *err),
                                void *context, hpcw_error *err) {
    if (comm->process != root) {
        return describe(comm, comm->ops->send(comm, send, words, root), "send", err);
    }
    hpcw_status s = take(context, send, words, err);
    uint64_t *buf = NULL;
    size_t capacity = 0;
    for (int p = 0; p < comm->size; p++) {
        if (p == root) {
            continue;
        }
        /* After a failure the messages are still taken off the line, each with the least effort. */
        hpcw_error ignored;
        hpcw_error *e = s == HPCW_OK ? err : &ignored;
        size_t n = 0;
        hpcw_status r = describe(comm, comm->ops->probe(comm, &n, p), "probe", e);
        if (r == HPCW_OK && n > capacity) {
            uint64_t *grown = hpcw_i_realloc(buf, n * sizeof *buf);
            if (grown == NULL) {
                r = hpcw_i_fail(e, HPCW_ENOMEM, "out of memory for a message of %zu words", n);
            } else {
                buf = grown;
                capacity = n;
            }
        }
        int code = comm->ops->receive(comm, buf, r == HPCW_OK ? n : 0, p);
        if (r == HPCW_OK) {
            r = describe(comm, code, "receive", e);
        }
        if (r == HPCW_OK && s == HPCW_OK) {
            r = take(context, buf, n, e);
        }
        s = s == HPCW_OK ? r : s;
    }
    hpcw_i_free(buf);
    return s;
}

enum {
    FOLD_RADIX =
        8, /* a wide tree: where processes share processors, waiting for a turn costs more than messages */
    FOLD_CHILDREN = (FOLD_RADIX - 1) * 11, /* 8^11 processes pass INT_MAX */
};

hpcw_status hpcw_i_comm_fold(hpcw_comm *comm, const struct hpcw_i_fold *fold, uint64_t *record, uint64_t *below,
                             hpcw_error *err) {
    uint64_t before[FOLD_CHILDREN][HPCW_I_FOLD_WORDS]; /* from this process on, up to each child */
    uint64_t lower[HPCW_I_FOLD_WORDS] = {0};
    uint64_t message[2 * HPCW_I_FOLD_WORDS];
    int child[FOLD_CHILDREN];
    int children = 0;
    size_t told = fold->told * sizeof *record;
    size_t scanned = fold->scanned * sizeof *record;
    size_t down = fold->told + fold->scanned;
    int64_t step = 1;
    if (fold->words > HPCW_I_FOLD_WORDS) {
        return hpcw_i_fail(err, HPCW_EINTERNAL, "fold of %zu words", fold->words);
    }
    /* A process whose number ends in zeros, written to this base, speaks for those that share its other digits. */
    for (; step < comm->size && comm->process % (step * FOLD_RADIX) == 0; step *= FOLD_RADIX) {
        for (int64_t c = comm->process + step; c < comm->process + step * FOLD_RADIX && c < comm->size;
             c += step) {
            hpcw_status s =
                describe(comm, comm->ops->receive(comm, message, fold->words, (int)c), "receive", err);
            if (s != HPCW_OK) {
                return s;
            }
            memcpy(before[children], record, fold->words * sizeof *record);
            child[children++] = (int)c;
            fold->merge(record, message);
        }
    }
    if (comm->process > 0) {
        int parent = (int)(comm->process - comm->process % (step * FOLD_RADIX));
        hpcw_status s = describe(comm, comm->ops->send(comm, record, fold->words, parent), "send", err);
        if (s == HPCW_OK) {
            s = describe(comm, comm->ops->receive(comm, message, down, parent), "receive", err);
        }
        if (s != HPCW_OK) {
            return s;
        }
        memcpy(record, message, told);
        memcpy(below, message + fold->told, scanned);
    }
    memcpy(message, record, told);
    while (children-- > 0) { /* the largest subtree first */
        if (comm->process == 0) {
            memcpy(lower, before[children], scanned);
        } else {
            memcpy(lower, below, scanned);
            fold->merge(lower, before[children]);
        }
        memcpy(message + fold->told, lower, scanned);
        hpcw_status s = describe(comm, comm->ops->send(comm, message, down, child[children]), "send", err);
        if (s != HPCW_OK) {
            return s;
        }
    }
    return HPCW_OK;
}

hpcw_status hpcw_i_comm_merge(hpcw_comm *comm, uint64_t *record, size_t words,
                              void (*merge)(void *context, uint64_t *left, const uint64_t *right),
                              void *context, hpcw_error *err) {
    if (comm->size == 1) {
        return HPCW_OK;
    }
    uint64_t *other = hpcw_i_malloc(words * sizeof *other);
    hpcw_status s =
        other == NULL ? hpcw_i_fail(err, HPCW_ENOMEM, "out of memory for %zu words", words) : HPCW_OK;
    s = hpcw_i_agree(comm, s, NULL, err);
    for (int step = 1; s == HPCW_OK && step < comm->size; step *= 2) {
        if (comm->process % (2 * step) == step) {
            s = describe(comm, comm->ops->send(comm, record, words, comm->process - step), "send", err);
            break;
        }
        if (comm->process + step < comm->size) {
            s = describe(comm, comm->ops->receive(comm, other, words, comm->process + step), "receive", err);
            if (s == HPCW_OK) {
                merge(context, record, other);
            }
        }
    }
    hpcw_i_free(other);
    return s == HPCW_OK ? hpcw_i_comm_bcast(comm, record, words * sizeof *record, 0, err) : s;
}
