/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls on MPI files and windows. They are shown on the communicator on which the file or window was made. */
#include "libwriter/trace/messages.h"
#include "libwriter/trace/requests.h"
#include "libwriter/trace/span.h"

static int end_made(const struct hpcw_i_trace_span *s, int code, uintptr_t key, MPI_Comm comm) {
    if (code == MPI_SUCCESS && hpcw_i_trace_span_follows(s)) {
        struct hpcw_i_trace_handle *h = hpcw_i_trace_handles_add(&hpcw_i_trace_owned, key);
        if (h == NULL) {
            hpcw_i_trace_forgot();
        } else {
            h->comm = hpcw_i_trace_comm_of(comm);
        }
    }
    return hpcw_i_trace_span_end(s, code);
}

/* Removes a file or window from the table before MPI frees it, as MPI may then give an equal handle to another
 * thread. This is also done in MPI's callbacks. */
static void forget(uintptr_t key) {
    struct hpcw_i_trace_handle *h =
        hpcw_i_trace_following() ? hpcw_i_trace_handles_find(&hpcw_i_trace_owned, key) : NULL;
    if (h != NULL) {
        hpcw_i_trace_handle_drop(h);
    }
}

/* ------------------------------------------------------------------------------------------------------------
 *  Files
 * --------------------------------------------------------------------------------------------------------- */

#define FILE_CALL(state, started, function, prototype, arguments)                                              \
    int function prototype {                                                                                   \
        struct hpcw_i_trace_span span_ = hpcw_i_trace_span_begin_on(state, HPCW_I_TRACE_KEY(fh));              \
        int code_ = REAL(function) arguments;                                                                  \
        hpcw_i_trace_request_belongs(&span_, code_, started);                                                  \
        return hpcw_i_trace_span_end(&span_, code_);                                                           \
    }
/* `...` stands for prototype and arguments, which a row may give as one macro. */
#define ON_FILE(state, colour, started, function, ...) FILE_CALL(state, started, function, __VA_ARGS__)
#include "libwriter/trace/calls.h"

int MPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin(HPCW_I_STATE_MPI_File_open, comm);
    int code = REAL(MPI_File_open)(comm, filename, amode, info, fh);
    return end_made(&s, code, HPCW_I_TRACE_KEY(*fh), comm);
}

int MPI_File_close(MPI_File *fh) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin_on(HPCW_I_STATE_MPI_File_close, HPCW_I_TRACE_KEY(*fh));
    forget(HPCW_I_TRACE_KEY(*fh));
    return hpcw_i_trace_span_end(&s, REAL(MPI_File_close)(fh));
}

/* ------------------------------------------------------------------------------------------------------------
 *  Windows
 * --------------------------------------------------------------------------------------------------------- */

#define WINDOW_MADE(state, function, prototype, arguments)                                                     \
    int function prototype {                                                                                   \
        struct hpcw_i_trace_span span_ = hpcw_i_trace_span_begin(state, comm);                                 \
        int code_ = REAL(function) arguments;                                                                  \
        return end_made(&span_, code_, HPCW_I_TRACE_KEY(*win), comm);                                          \
    }
#define WINDOW_CALL(state, function, prototype, arguments)                                                     \
    int function prototype {                                                                                   \
        struct hpcw_i_trace_span span_ = hpcw_i_trace_span_begin_on(state, HPCW_I_TRACE_KEY(win));             \
        return hpcw_i_trace_span_end(&span_, REAL(function) arguments);                                        \
    }
#define MAKES_WINDOW(state, colour, function, ...) WINDOW_MADE(state, function, __VA_ARGS__)
#define ON_WINDOW(state, colour, function, ...) WINDOW_CALL(state, function, __VA_ARGS__)
#include "libwriter/trace/calls.h"

int MPI_Win_free(MPI_Win *win) {
    struct hpcw_i_trace_span s = hpcw_i_trace_span_begin_on(HPCW_I_STATE_MPI_Win_free, HPCW_I_TRACE_KEY(*win));
    forget(HPCW_I_TRACE_KEY(*win));
    return hpcw_i_trace_span_end(&s, REAL(MPI_Win_free)(win));
}

/*
 * Tag of the messages by which one-sided calls are shown as arrows. An arrow needs a record of each process,
 * but the other process makes no call. So this process records both ends, at the begin and the end of its
 * call. The largest tag is used, so that viewers do not pair these messages with others.
 */
enum { TAG = INT32_MAX };
static const uint64_t NO_ARROW = UINT64_MAX;

/* Records one end of an arrow, if there is one. Returns the number of words. */
static int arrow(const struct hpcw_i_trace_span *s, int32_t event, int rank, uint64_t size) {
    if (s->timeline == NULL || rank == MPI_PROC_NULL || s->comm.peers == HPCW_I_TRACE_UNKNOWN ||
        size == NO_ARROW) {
        return 0;
    }
    hpcw_clog2_timeline_message(s->timeline, s->comm.own, event, s->comm.peers, rank, TAG, size);
    return HPCW_CLOG2_WORDS_MESSAGE;
}

/* Records the ends of the arrows. If the call failed, removes their begins instead, `words` words at `begins`. */
static void end_arrows(const struct hpcw_i_trace_span *s, int code, int rank, uint64_t put, uint64_t got,
                       uint64_t *begins, int words) {
    if (code != MPI_SUCCESS) {
        hpcw_i_trace_message_take_back(s->timeline, begins, words);
        return;
    }
    (void)arrow(s, HPCW_CLOG2_PEER_RECEIVE, rank, put);
    (void)arrow(s, HPCW_CLOG2_RECEIVE, rank, got);
}

#define bytes(count, type) hpcw_i_trace_message_bytes((uint64_t)(count), type)

/* Bytes that a call sends to the other process. With MPI_NO_OP it sends none, and only gets a value. */
#define changed(op, count, type) ((op) == MPI_NO_OP ? NO_ARROW : bytes(count, type))

#define RMA(state, colour, started, put, got, function, prototype, arguments)                                  \
    int function prototype {                                                                                   \
        struct hpcw_i_trace_span span_ = hpcw_i_trace_span_begin_on(state, HPCW_I_TRACE_KEY(win));             \
        uint64_t put_ = NO_ARROW, got_ = NO_ARROW;                                                             \
        if (span_.timeline != NULL && rank != MPI_PROC_NULL) {                                                 \
            put_ = put;                                                                                        \
            got_ = got;                                                                                        \
        }                                                                                                      \
        uint64_t *begins_ = span_.timeline == NULL ? NULL : span_.timeline->next;                              \
        int words_ = arrow(&span_, HPCW_CLOG2_SEND, rank, put_);                                               \
        words_ += arrow(&span_, HPCW_CLOG2_PEER_SEND, rank, got_);                                             \
        int code_ = REAL(function) arguments;                                                                  \
        end_arrows(&span_, code_, rank, put_, got_, begins_, words_);                                          \
        hpcw_i_trace_request_belongs(&span_, code_, started);                                                  \
        return hpcw_i_trace_span_end(&span_, code_);                                                           \
    }
#include "libwriter/trace/calls.h"
