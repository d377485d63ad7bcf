/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/comm/exchange.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"

hpcw_status hpcw_i_comm_exchange_at(hpcw_comm *comm, const uint64_t *send, const uint64_t *send_at,
                                    const uint64_t *send_words, struct hpcw_i_inbox *inbox,
                                    uint64_t *receive_words, hpcw_error *err) {
    size_t size = (size_t)comm->size;
    memset(receive_words, 0, size * sizeof *receive_words);
    hpcw_status s = hpcw_i_comm_alltoall(comm, send_words, receive_words, err);
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
        s = hpcw_i_fail(err, HPCW_ERANGE,
                        "exchange of %" PRIu64 " words out and %" PRIu64 " in: expected at most %d", out, in,
                        INT_MAX);
    } else {
        scratch = hpcw_i_malloc(4 * size * sizeof *scratch);
        if (in > inbox->capacity || inbox->words == NULL) {
            hpcw_i_free(inbox->words);
            inbox->words = hpcw_i_malloc((size_t)in * sizeof *inbox->words);
            inbox->capacity = inbox->words == NULL ? 0 : (size_t)in;
        }
        if (inbox->words == NULL || scratch == NULL) {
            s = hpcw_i_fail_memory(err, NULL, in, "words of messages");
        }
    }
    /* Agree before the exchange: if a process has too little memory, the others must not wait for it in the
     * exchange. */
    s = hpcw_i_agree(comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = hpcw_i_comm_alltoallv(comm, send, send_at, send_words, inbox->words, receive_words, scratch, err);
    }
    hpcw_i_free(scratch);
    return s;
}

hpcw_status hpcw_i_comm_exchange(hpcw_comm *comm, const uint64_t *send, const uint64_t *send_words,
                                 uint64_t **receive, uint64_t *receive_words, hpcw_error *err) {
    struct hpcw_i_inbox inbox = {0};
    hpcw_status s = hpcw_i_comm_exchange_at(comm, send, NULL, send_words, &inbox, receive_words, err);
    if (s != HPCW_OK) {
        hpcw_i_free(inbox.words);
        inbox.words = NULL;
    }
    *receive = inbox.words;
    return s;
}

/* Collects all messages at once in an exchange, for communicators without point-to-point messages. */
static hpcw_status collect_at_once(hpcw_comm *comm, int root, const uint64_t *send, size_t words,
                                   hpcw_status (*take)(void *context, const uint64_t *message, size_t words,
                                                       hpcw_error *err),
                                   void *context, hpcw_error *err) {
    size_t size = (size_t)comm->size;
    uint64_t *all = NULL;
    uint64_t *count = hpcw_i_calloc(size, 2 * sizeof *count); /* words sent, words received */
    hpcw_status s = count == NULL ? hpcw_i_fail_memory(err, NULL, size, "processes") : HPCW_OK;
    s = hpcw_i_agree(comm, s, NULL, err);
    if (s == HPCW_OK) {
        count[root] = words;
        s = hpcw_i_comm_exchange(comm, send, count, &all, count + size, err);
    }
    if (s == HPCW_OK && comm->process == root) {
        s = take(context, send, words, err);
        const uint64_t *message = all;
        for (int p = 0; s == HPCW_OK && p < comm->size; p++) {
            size_t n = (size_t)count[size + (size_t)p];
            s = p == root ? HPCW_OK : take(context, message, n, err);
            message += n;
        }
    }
    hpcw_i_free(count);
    hpcw_i_free(all);
    return s;
}

hpcw_status hpcw_i_comm_collect(hpcw_comm *comm, int root, const uint64_t *send, size_t words,
                                hpcw_status (*take)(void *context, const uint64_t *message, size_t words,
                                                    hpcw_error *err),
                                void *context, hpcw_error *err) {
    if (!hpcw_i_comm_has_messages(comm)) {
        return collect_at_once(comm, root, send, words, take, context, err);
    }
    if (comm->process != root) {
        return hpcw_i_comm_send(comm, send, words, root, err);
    }
    hpcw_status s = take(context, send, words, err);
    uint64_t *buf = NULL;
    size_t capacity = 0;
    for (int p = 0; p < comm->size; p++) {
        if (p == root) {
            continue;
        }
        /* After a failure, messages are still received, but not used. */
        hpcw_error ignored;
        hpcw_error *e = s == HPCW_OK ? err : &ignored;
        size_t n = 0;
        hpcw_status r = hpcw_i_comm_probe(comm, &n, p, e);
        if (r == HPCW_OK && n > capacity) {
            uint64_t *grown = hpcw_i_realloc(buf, n * sizeof *buf);
            if (grown == NULL) {
                r = hpcw_i_fail_memory(e, NULL, n, "words of a message");
            } else {
                buf = grown;
                capacity = n;
            }
        }
        hpcw_status received =
            hpcw_i_comm_receive(comm, buf, r == HPCW_OK ? n : 0, p, r == HPCW_OK ? e : &ignored);
        r = r == HPCW_OK ? received : r;
        if (r == HPCW_OK && s == HPCW_OK) {
            r = take(context, buf, n, e);
        }
        s = s == HPCW_OK ? r : s;
    }
    hpcw_i_free(buf);
    return s;
}

hpcw_status hpcw_i_comm_relay(hpcw_comm *comm, uint64_t *state, size_t words,
                              hpcw_status (*step)(void *context, uint64_t *state, hpcw_error *err),
                              void *context, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    hpcw_error ignored;
    int me = comm->process;
    if (!hpcw_i_comm_has_messages(comm)) {
        for (int p = 0; p < comm->size; p++) {
            hpcw_status r = p == me ? step(context, state, s == HPCW_OK ? err : &ignored) : HPCW_OK;
            s = s == HPCW_OK ? r : s;
            r = hpcw_i_comm_bcast(comm, state, words * sizeof *state, p, s == HPCW_OK ? err : &ignored);
            s = s == HPCW_OK ? r : s;
        }
        return s;
    }
    if (me > 0) {
        s = hpcw_i_comm_receive(comm, state, words, me - 1, err);
    }
    hpcw_status r = step(context, state, s == HPCW_OK ? err : &ignored);
    s = s == HPCW_OK ? r : s;
    if (me + 1 < comm->size) {
        r = hpcw_i_comm_send(comm, state, words, me + 1, s == HPCW_OK ? err : &ignored);
        s = s == HPCW_OK ? r : s;
    }
    return s;
}
