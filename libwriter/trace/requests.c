/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests that something is recorded for when they complete: receives, matched receives, persistent requests, and
 * communicators on their way (MPI_Comm_idup). Sends that are not persistent are over, for a log, when they are posted.
 *
 * A receive is recorded if the call that posted it was, whether the log is on or off when it completes. A program that
 * goes on or off at the same point everywhere, between posting and waiting, then still has both ends of every message;
 * with one end missing, the tools would pair all later messages wrongly.
 */
#include "libwriter/trace/requests.h"

#include "libwriter/base/mem.h"
#include "libwriter/trace/comms.h"
#include "libwriter/trace/messages.h"

enum kind { RECEIVE, MATCHED, MESSAGE, PERSISTENT_RECEIVE, PERSISTENT_SEND, DUPLICATE };

enum flag {
    RECORDED = 1,  /* the call that posted it was */
    CANCELLED = 2, /* MPI_Cancel was called */
    STARTED = 4    /* a persistent one is under way */
};

static struct hpcw_i_handle *find(uintptr_t key) {
    return hpcw_i_handles_find(&hpcw_i_trace.requests, key);
}

/* Notes what a call has made; `s` is that call. NULL if there is nothing to note, or no memory to. */
static struct hpcw_i_handle *note(const struct hpcw_i_span *s, int code, uintptr_t key, enum kind kind,
                                  struct hpcw_i_place place) {
    if (code != MPI_SUCCESS || !hpcw_i_follows(s)) {
        return NULL;
    }
    struct hpcw_i_handle *h = hpcw_i_handles_add(&hpcw_i_trace.requests, key);
    if (h == NULL) {
        atomic_fetch_add(&hpcw_i_trace.forgotten, 1);
        return NULL;
    }
    h->comm = place.comm;
    h->remote = place.remote;
    h->kind = (int32_t)kind;
    h->flags = s->line != NULL ? RECORDED : 0;
    return h;
}

/* The same for what is on a communicator; without a table of these there is no place to ask for. */
static struct hpcw_i_handle *note_on(const struct hpcw_i_span *s, int code, uintptr_t key, enum kind kind,
                                     MPI_Comm comm) {
    return hpcw_i_follows(s) ? note(s, code, key, kind, hpcw_i_place_of(comm)) : NULL;
}

void hpcw_i_request_of_duplicate(const struct hpcw_i_span *s, int code, struct hpcw_i_duplicate duplicate,
                                 const MPI_Comm *to, MPI_Request request) {
    struct hpcw_i_place place = {0, duplicate.comm};
    struct hpcw_i_handle *h = note(s, code, HPCW_I_KEY(request), DUPLICATE, place);
    if (h != NULL) {
        h->size = duplicate.number;
        h->where = (void *)(uintptr_t)to;
    }
}

/* ------------------------------------------------------------------------------------------------------------
 *  Completion
 * --------------------------------------------------------------------------------------------------------- */

/* A request that completed, not by an error. */
static void completed(struct hpcw_i_trace_thread *t, const struct hpcw_i_handle *h, const MPI_Status *status) {
    if (h->kind == DUPLICATE) {
        hpcw_i_comm_duplicated((struct hpcw_i_duplicate){h->size, h->remote}, *(const MPI_Comm *)h->where);
        return;
    }
    int cancelled = 0;
    if ((h->flags & CANCELLED) != 0) {
        (void)PMPI_Test_cancelled(status, &cancelled);
    }
    hpcw_clog2_timeline *line = t->line != NULL ? t->line : hpcw_i_trace_line(t);
    if ((h->flags & RECORDED) == 0 || h->kind == PERSISTENT_SEND || cancelled || line == NULL) {
        return;
    }
    int32_t state = h->kind == MATCHED ? HPCW_I_STATE_MATCHED_WAITED : HPCW_I_STATE_RECEIVE_WAITED;
    struct hpcw_i_place place = {h->comm, h->remote};
    atomic_store_explicit(&hpcw_i_trace.used[state], 1, memory_order_relaxed);
    hpcw_clog2_log_begin(line, place.comm, state);
    hpcw_i_message_received(line, place, status);
    hpcw_clog2_log_end(line, place.comm, state);
}

/* A request in the hands of a call that may complete it. */
struct held {
    struct hpcw_i_handle *handle; /* NULL: nothing is recorded for it */
    uintptr_t key;
};

static struct held hold(const struct hpcw_i_span *s, MPI_Request request) {
    struct held held = {.key = HPCW_I_KEY(request)};
    if (hpcw_i_follows(s) && request != MPI_REQUEST_NULL) {
        held.handle = find(held.key);
        if (held.handle != NULL) {
            hpcw_i_handle_hide(held.handle);
        }
    }
    return held;
}

/* Not completed. */
static void keep(const struct held *held) {
    if (held->handle != NULL) {
        hpcw_i_handle_show(held->handle, held->key);
    }
}

/* Completed, as `code` and `status` say. Persistent requests live on. */
static void release(const struct hpcw_i_span *s, const struct held *held, int code, const MPI_Status *status) {
    struct hpcw_i_handle *h = held->handle;
    if (h == NULL) {
        return;
    }
    bool persistent = h->kind == PERSISTENT_RECEIVE || h->kind == PERSISTENT_SEND;
    if (code == MPI_SUCCESS && (!persistent || (h->flags & STARTED) != 0)) {
        completed(s->thread, h, status);
    }
    if (persistent) {
        h->flags = 0;
        keep(held);
    } else {
        hpcw_i_handle_drop(h);
    }
}

/* ------------------------------------------------------------------------------------------------------------
 *  One request
 * --------------------------------------------------------------------------------------------------------- */

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    MPI_Status own;
    struct hpcw_i_span s = hpcw_i_begin(105, MPI_COMM_WORLD);
    struct held held = hold(&s, *request);
    status = held.handle != NULL && status == MPI_STATUS_IGNORE ? &own : status;
    int code = PMPI_Wait(request, status);
    release(&s, &held, code, status);
    return hpcw_i_end(&s, code);
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    MPI_Status own;
    struct hpcw_i_span s = hpcw_i_begin(87, MPI_COMM_WORLD);
    struct held held = hold(&s, *request);
    status = held.handle != NULL && status == MPI_STATUS_IGNORE ? &own : status;
    int code = PMPI_Test(request, flag, status);
    if (code == MPI_SUCCESS && !*flag) {
        keep(&held);
    } else {
        release(&s, &held, code, status);
    }
    return hpcw_i_end(&s, code);
}

int MPI_Cancel(MPI_Request *request) {
    struct hpcw_i_span s = hpcw_i_begin(62, MPI_COMM_WORLD);
    struct hpcw_i_handle *h = hpcw_i_follows(&s) ? find(HPCW_I_KEY(*request)) : NULL;
    if (h != NULL) {
        h->flags |= CANCELLED;
    }
    return hpcw_i_end(&s, PMPI_Cancel(request));
}

/* What is received after that, nobody sees. */
int MPI_Request_free(MPI_Request *request) {
    struct hpcw_i_span s = hpcw_i_begin(63, MPI_COMM_WORLD);
    struct held held = hold(&s, *request);
    int code = PMPI_Request_free(request);
    if (code != MPI_SUCCESS) {
        keep(&held);
    } else if (held.handle != NULL) {
        hpcw_i_handle_drop(held.handle);
    }
    return hpcw_i_end(&s, code);
}

/* ------------------------------------------------------------------------------------------------------------
 *  Many requests
 * --------------------------------------------------------------------------------------------------------- */

enum { FEW = 32 }; /* requests that need no memory from the heap */

struct batch {
    struct held few[FEW];
    MPI_Status few_statuses[FEW];
    struct held *held;    /* NULL: none of the requests matters */
    MPI_Status *statuses; /* the program's, or ours if it wants none */
    bool own;
};

/* Without memory, what would have been recorded is forgotten. */
static void forget(struct batch *b, int count, const MPI_Request *requests) {
    for (int i = 0; i < count; i++) {
        struct hpcw_i_handle *h = requests[i] == MPI_REQUEST_NULL ? NULL : find(HPCW_I_KEY(requests[i]));
        if (h != NULL) {
            atomic_fetch_add(&hpcw_i_trace.forgotten, 1);
            hpcw_i_handle_drop(h);
        }
    }
    b->held = NULL;
}

static void hold_all(const struct hpcw_i_span *s, struct batch *b, int count, const MPI_Request *requests,
                     MPI_Status *statuses) {
    b->statuses = statuses;
    b->held = NULL;
    b->own = false;
    bool matters = false;
    for (int i = 0; i < count && !matters && hpcw_i_follows(s); i++) {
        matters = requests[i] != MPI_REQUEST_NULL && find(HPCW_I_KEY(requests[i])) != NULL;
    }
    if (!matters) {
        return;
    }
    size_t n = (size_t)count;
    b->held = count <= FEW ? b->few : hpcw_i_malloc(n * sizeof *b->held);
    if (b->held == NULL) {
        forget(b, count, requests);
        return;
    }
    if (statuses == MPI_STATUSES_IGNORE) {
        b->own = true;
        b->statuses = count <= FEW ? b->few_statuses : hpcw_i_malloc(n * sizeof *b->statuses);
        if (b->statuses == NULL) {
            b->statuses = statuses;
            hpcw_i_free(b->held); /* not `few`: that would not have needed memory */
            forget(b, count, requests);
            return;
        }
    }
    for (int i = 0; i < count; i++) {
        b->held[i] = hold(s, requests[i]);
    }
}

static void let_go(struct batch *b, int count) {
    if (b->held != NULL && count > FEW) {
        hpcw_i_free(b->held);
        if (b->own) {
            hpcw_i_free(b->statuses);
        }
    }
}

/* What became of one of many. With the code MPI_ERR_IN_STATUS its own is in its status. */
static void settle(const struct hpcw_i_span *s, const struct held *held, int code, const MPI_Status *status) {
    int its = code == MPI_ERR_IN_STATUS ? status->MPI_ERROR : code;
    if (its == MPI_ERR_PENDING) {
        keep(held);
    } else {
        release(s, held, its, status);
    }
}

static void settle_all(const struct hpcw_i_span *s, struct batch *b, int count, int code) {
    for (int i = 0; b->held != NULL && i < count; i++) {
        settle(s, &b->held[i], code, &b->statuses[i]);
    }
    let_go(b, count);
}

/* `n` of them, whose numbers are in `index` (and statuses in that order); the others are kept. */
static void settle_some(const struct hpcw_i_span *s, struct batch *b, int count, int code, int n,
                        const int *index) {
    if (b->held == NULL) {
        return;
    }
    for (int i = 0; n != MPI_UNDEFINED && i < n; i++) {
        settle(s, &b->held[index[i]], code, &b->statuses[i]);
        b->held[index[i]].handle = NULL;
    }
    for (int i = 0; i < count; i++) {
        keep(&b->held[i]);
    }
    let_go(b, count);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    struct batch b;
    struct hpcw_i_span s = hpcw_i_begin(106, MPI_COMM_WORLD);
    hold_all(&s, &b, count, requests, statuses);
    int code = PMPI_Waitall(count, requests, b.statuses);
    settle_all(&s, &b, count, code);
    return hpcw_i_end(&s, code);
}

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
    struct batch b;
    struct hpcw_i_span s = hpcw_i_begin(88, MPI_COMM_WORLD);
    hold_all(&s, &b, count, requests, statuses);
    int code = PMPI_Testall(count, requests, flag, b.statuses);
    if (code == MPI_SUCCESS && !*flag) {
        settle_some(&s, &b, count, code, 0, NULL);
    } else {
        settle_all(&s, &b, count, code);
    }
    return hpcw_i_end(&s, code);
}

int MPI_Waitsome(int count, MPI_Request requests[], int *n, int indices[], MPI_Status statuses[]) {
    struct batch b;
    struct hpcw_i_span s = hpcw_i_begin(108, MPI_COMM_WORLD);
    hold_all(&s, &b, count, requests, statuses);
    int code = PMPI_Waitsome(count, requests, n, indices, b.statuses);
    settle_some(&s, &b, count, code, code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS ? *n : 0, indices);
    return hpcw_i_end(&s, code);
}

int MPI_Testsome(int count, MPI_Request requests[], int *n, int indices[], MPI_Status statuses[]) {
    struct batch b;
    struct hpcw_i_span s = hpcw_i_begin(91, MPI_COMM_WORLD);
    hold_all(&s, &b, count, requests, statuses);
    int code = PMPI_Testsome(count, requests, n, indices, b.statuses);
    settle_some(&s, &b, count, code, code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS ? *n : 0, indices);
    return hpcw_i_end(&s, code);
}

/* Requests that a call has found: one or none. After an error the number may be anything. */
static int is_one(int index, int count) {
    return index >= 0 && index < count;
}

/* One status for whichever completes: what hold_all does with an array of them is right for one, too. */
int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
    struct batch b;
    struct hpcw_i_span s = hpcw_i_begin(107, MPI_COMM_WORLD);
    MPI_Status own;
    hold_all(&s, &b, count, requests, status == MPI_STATUS_IGNORE ? &own : status);
    status = b.held != NULL ? b.statuses : status;
    int code = PMPI_Waitany(count, requests, index, status);
    settle_some(&s, &b, count, code, is_one(*index, count), index);
    return hpcw_i_end(&s, code);
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
    struct batch b;
    struct hpcw_i_span s = hpcw_i_begin(89, MPI_COMM_WORLD);
    MPI_Status own;
    hold_all(&s, &b, count, requests, status == MPI_STATUS_IGNORE ? &own : status);
    status = b.held != NULL ? b.statuses : status;
    int code = PMPI_Testany(count, requests, index, flag, status);
    settle_some(&s, &b, count, code, code == MPI_SUCCESS && !*flag ? 0 : is_one(*index, count), index);
    return hpcw_i_end(&s, code);
}

/* ------------------------------------------------------------------------------------------------------------
 *  Where requests come from
 * --------------------------------------------------------------------------------------------------------- */

int MPI_Irecv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request *request) {
    struct hpcw_i_span s = hpcw_i_begin(70, comm);
    int code = PMPI_Irecv(buf, count, type, source, tag, comm, request);
    if (source != MPI_PROC_NULL && s.line != NULL && s.place.remote != HPCW_I_NOT_FOLLOWED) {
        (void)note(&s, code, HPCW_I_KEY(*request), RECEIVE, s.place);
    }
    return hpcw_i_end(&s, code);
}

int MPI_Recv_init(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                  MPI_Request *request) {
    struct hpcw_i_span s = hpcw_i_begin(64, comm);
    int code = PMPI_Recv_init(buf, count, type, source, tag, comm, request);
    if (source != MPI_PROC_NULL) {
        (void)note_on(&s, code, HPCW_I_KEY(*request), PERSISTENT_RECEIVE, comm);
    }
    return hpcw_i_end(&s, code);
}

static int end_send_init(const struct hpcw_i_span *s, int code, int count, MPI_Datatype type, int dest, int tag,
                         MPI_Comm comm, const MPI_Request *request) {
    struct hpcw_i_handle *h =
        dest == MPI_PROC_NULL ? NULL : note_on(s, code, HPCW_I_KEY(*request), PERSISTENT_SEND, comm);
    if (h != NULL) {
        h->peer = dest;
        h->tag = tag;
        h->size = hpcw_i_message_bytes(count, type);
    }
    return hpcw_i_end(s, code);
}

#define SEND_INIT(state, colour, function)                                                                     \
    int function(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,              \
                 MPI_Request *q) {                                                                             \
        struct hpcw_i_span s = hpcw_i_begin(state, comm);                                                      \
        int code = P##function(buf, count, type, dest, tag, comm, q);                                          \
        return end_send_init(&s, code, count, type, dest, tag, comm, q);                                       \
    }
#include "libwriter/trace/calls.h"

/* Before MPI starts it, as with any other send. */
static void start(const struct hpcw_i_span *s, MPI_Request request) {
    struct hpcw_i_handle *h = hpcw_i_follows(s) ? find(HPCW_I_KEY(request)) : NULL;
    if (h == NULL) {
        return;
    }
    h->flags = STARTED | (s->line != NULL ? RECORDED : 0u);
    if (h->kind == PERSISTENT_SEND && s->line != NULL) {
        struct hpcw_i_place place = {h->comm, h->remote};
        atomic_store_explicit(&hpcw_i_trace.used[HPCW_I_STATE_SEND_WAITED], 1, memory_order_relaxed);
        hpcw_clog2_log_begin(s->line, place.comm, HPCW_I_STATE_SEND_WAITED);
        hpcw_i_message_sent(s->line, place, h->peer, h->tag, h->size);
        hpcw_clog2_log_end(s->line, place.comm, HPCW_I_STATE_SEND_WAITED);
    }
}

int MPI_Start(MPI_Request *request) {
    struct hpcw_i_span s = hpcw_i_begin(85, MPI_COMM_WORLD);
    start(&s, *request);
    return hpcw_i_end(&s, PMPI_Start(request));
}

int MPI_Startall(int count, MPI_Request requests[]) {
    struct hpcw_i_span s = hpcw_i_begin(86, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
        start(&s, requests[i]);
    }
    return hpcw_i_end(&s, PMPI_Startall(count, requests));
}

/* ------------------------------------------------------------------------------------------------------------
 *  Matched messages: found by a probe, received by handle
 * --------------------------------------------------------------------------------------------------------- */

/* MPI may use one number for a message and the request that receives it: an entry is dropped before another is made. */
static void found(const struct hpcw_i_span *s, int code, MPI_Comm comm, MPI_Message message) {
    if (message != MPI_MESSAGE_NULL && message != MPI_MESSAGE_NO_PROC) {
        (void)note_on(s, code, HPCW_I_KEY(message), MESSAGE, comm);
    }
}

/* Where the message is from. */
static struct hpcw_i_place take(const struct hpcw_i_span *s, MPI_Message message) {
    struct hpcw_i_place place = {0, HPCW_I_NOT_FOLLOWED};
    struct hpcw_i_handle *h = hpcw_i_follows(s) ? find(HPCW_I_KEY(message)) : NULL;
    if (h != NULL) {
        place = (struct hpcw_i_place){h->comm, h->remote};
        hpcw_i_handle_drop(h);
    }
    return place;
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
    struct hpcw_i_span s = hpcw_i_begin(219, comm);
    int code = PMPI_Mprobe(source, tag, comm, message, status);
    found(&s, code, comm, *message);
    return hpcw_i_end(&s, code);
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status) {
    struct hpcw_i_span s = hpcw_i_begin(221, comm);
    int code = PMPI_Improbe(source, tag, comm, flag, message, status);
    if (code == MPI_SUCCESS && *flag) {
        found(&s, code, comm, *message);
    }
    return hpcw_i_end(&s, code);
}

int MPI_Mrecv(void *buf, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status) {
    MPI_Status own;
    struct hpcw_i_span s = hpcw_i_begin(220, MPI_COMM_WORLD);
    struct hpcw_i_place place = take(&s, *message);
    status = s.line != NULL && status == MPI_STATUS_IGNORE ? &own : status;
    int code = PMPI_Mrecv(buf, count, type, message, status);
    if (s.line != NULL && code == MPI_SUCCESS) {
        hpcw_i_message_received(s.line, place, status);
    }
    return hpcw_i_end(&s, code);
}

int MPI_Imrecv(void *buf, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request) {
    struct hpcw_i_span s = hpcw_i_begin(222, MPI_COMM_WORLD);
    struct hpcw_i_place place = take(&s, *message);
    int code = PMPI_Imrecv(buf, count, type, message, request);
    if (place.remote != HPCW_I_NOT_FOLLOWED) {
        (void)note(&s, code, HPCW_I_KEY(*request), MATCHED, place);
    }
    return hpcw_i_end(&s, code);
}
