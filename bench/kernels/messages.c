/* SPDX-License-Identifier: BSD-3-Clause */
/* What a PMPI tool that stands between a program and MPI adds to a message: the program's own calls beside the ones that
 * pass the tool by, in one run. */
#include "bench/kernels/kernels.h"
#include "libwriter/base/status.h"

#ifdef HPCW_BENCH_MPI
#include <mpi.h>

/* As the program calls them, and as MPI offers them to tools. */
struct calls {
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
    int (*receive)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
    int (*post)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int (*wait)(MPI_Request *, MPI_Status *);
};
static const struct calls called[] = {{MPI_Send, MPI_Recv, MPI_Irecv, MPI_Wait},
                                      {PMPI_Send, PMPI_Recv, PMPI_Irecv, PMPI_Wait}};

enum { TOOL = 0, BARE = 1, TAG = 0 };

struct message_work {
    struct bench_common common;
    uint64_t messages;
    struct calls calls;
};
enum { WORK = sizeof(struct message_work) };

static hpcw_status messages_setup(void *work, const void *parameter, struct bench_amount *amount,
                                  hpcw_error *err) {
    struct message_work *w = work;
    if (called[TOOL].send == called[BARE].send) {
        return hpcw_i_fail(err, HPCW_ENOTSUP, "MPI_Send is MPI's own: preload a tool, as libhpcw_trace.so");
    }
    w->messages = bench_scaled(w->common.place, *(const uint64_t *)parameter, 2) / 2 * 2;
    *amount = (struct bench_amount){.bytes = w->messages * sizeof(double), .items = w->messages};
    return HPCW_OK;
}

static hpcw_status messages_prepare(void *work, uint64_t side, hpcw_error *err) {
    (void)err;
    ((struct message_work *)work)->calls = called[side];
    return HPCW_OK;
}

static hpcw_status status_of(int code, hpcw_error *err) {
    return code == MPI_SUCCESS ? HPCW_OK
                               : hpcw_i_fail(err, HPCW_ECOMM, "a message failed with MPI's code %d", code);
}

/* Process 0 sends, process 1 receives: no wait hides the time that both spend. */
static hpcw_status stream(void *work, hpcw_error *err) {
    const struct message_work *w = work;
    int process = w->common.place->processes->process, code = MPI_SUCCESS;
    double data = 0;
    for (uint64_t i = 0; process < 2 && code == MPI_SUCCESS && i < w->messages; i++) {
        code = process == 0 ? w->calls.send(&data, 1, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD)
                            : w->calls.receive(&data, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return status_of(code, err);
}

/* The same number of ping-pong messages: work after a call may overlap with the transfer of the answer. */
static hpcw_status round_trips(void *work, hpcw_error *err) {
    const struct message_work *w = work;
    int process = w->common.place->processes->process, code = MPI_SUCCESS;
    double data = 0;
    for (uint64_t i = 0; process < 2 && code == MPI_SUCCESS && i < w->messages; i++) {
        code =
            i % 2 == (uint64_t)process
                ? w->calls.send(&data, 1, MPI_DOUBLE, 1 - process, TAG, MPI_COMM_WORLD)
                : w->calls.receive(&data, 1, MPI_DOUBLE, 1 - process, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return status_of(code, err);
}

/* A receive is posted, a message sent and the receive waited for; with itself, so that there is nothing to wait for. */
static hpcw_status posted(void *work, hpcw_error *err) {
    const struct message_work *w = work;
    int code = MPI_SUCCESS;
    double in, out = 0;
    for (uint64_t i = 0; code == MPI_SUCCESS && i < w->messages; i++) {
        MPI_Request q;
        code = w->calls.post(&in, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_SELF, &q);
        code = code == MPI_SUCCESS ? w->calls.send(&out, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_SELF) : code;
        code = code == MPI_SUCCESS ? w->calls.wait(&q, MPI_STATUS_IGNORE) : code;
    }
    return status_of(code, err);
}
#else
enum { WORK = sizeof(struct bench_common) };

static hpcw_status messages_setup(void *work, const void *parameter, struct bench_amount *amount,
                                  hpcw_error *err) {
    (void)work;
    (void)parameter;
    (void)amount;
    return hpcw_i_fail(err, HPCW_ENOTSUP, "this program was built without MPI");
}
#define messages_prepare NULL
#define stream NULL
#define round_trips NULL
#define posted NULL
#endif

#define PHASES                                                                                                 \
    {BENCH_TOGETHER("stream", stream), BENCH_TOGETHER("round trips", round_trips),                             \
     BENCH_TOGETHER("posted", posted)},                                                                        \
        NULL, NULL

static const struct bench_side message_sides[] = {
    {"tool", "MPI_Send and the like, which a tool has wrapped", 0, messages_prepare, PHASES},
    {"bare", "PMPI_Send and the like", 1, messages_prepare, PHASES},
};

static const struct bench_figure message_figures[] = {
    {"message", BENCH_PER_ITEM, {2, 1}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"tool, a message", BENCH_PER_ITEM, {1, 1}, {2, 1}, {0, 0}, {0, 0}, 80, false},
    {"message to and fro", BENCH_PER_ITEM, {2, 2}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"tool, to and fro", BENCH_PER_ITEM, {1, 2}, {2, 2}, {0, 0}, {0, 0}, 80, false},
    {"message to itself", BENCH_PER_ITEM, {2, 3}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"tool, to itself", BENCH_PER_ITEM, {1, 3}, {2, 3}, {0, 0}, {0, 0}, 100, false},
};

static const uint64_t message_count = 200000;

const struct bench_kernel bench_messages = {
    .name = "messages",
    .what = "200 000 blocking messages of 8 bytes from process 0 to 1, as many to and fro, and posted ones to "
            "itself",
    .needs = BENCH_SEVERAL_PROCESSES,
    .item = "message",
    .parameter = &message_count,
    .size = WORK,
    .setup = messages_setup,
    .subject = {BENCH_ROWS(message_sides), NULL},
    BENCH_FIGURES(message_figures),
};
