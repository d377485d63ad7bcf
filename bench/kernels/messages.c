/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels for the time that a PMPI tool, which replaces functions of MPI, adds to a message. One run compares
 * calls of MPI_* with calls of PMPI_*, which bypass the tool. */
#include "bench/kernels/kernels.h"
#include "libwriter/base/status.h"

#ifdef HPCW_BENCH_MPI
#include <dlfcn.h>
#include <mpi.h>

struct calls {
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
    int (*receive)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
    int (*post)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int (*wait)(MPI_Request *, MPI_Status *);
};

enum { TOOL = 0, BARE = 1, TAG = 0 };

/* Functions of MPI as a program calls them, through the tool. */
static const struct calls wrapped = {MPI_Send, MPI_Recv, MPI_Irecv, MPI_Wait};

/* Finds MPI's own functions. A tool may have replaced PMPI_Send as well, but hardly MPI_Get_library_version. */
static bool find_bare(struct calls *bare) {
    Dl_info info;
    void *mpi = dladdr(__extension__(void *) MPI_Get_library_version, &info) == 0
                    ? NULL
                    : dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (mpi == NULL) {
        return false;
    }
    *(void **)&bare->send = dlsym(mpi, "PMPI_Send");
    *(void **)&bare->receive = dlsym(mpi, "PMPI_Recv");
    *(void **)&bare->post = dlsym(mpi, "PMPI_Irecv");
    *(void **)&bare->wait = dlsym(mpi, "PMPI_Wait");
    return bare->send != NULL && bare->receive != NULL && bare->post != NULL && bare->wait != NULL;
}

struct message_work {
    struct bench_common common;
    uint64_t messages;
    struct calls bare, calls;
};
enum { WORK = sizeof(struct message_work) };

static hpcw_status messages_setup(void *work, const void *parameter, struct bench_amount *amount,
                                  hpcw_error *err) {
    struct message_work *w = work;
    if (!find_bare(&w->bare)) {
        return hpcw_i_fail(err, HPCW_ENOTSUP, "expected a shared library of MPI with PMPI_Send, got none");
    }
    int begun = 0;
    if (MPI_Initialized(&begun) != MPI_SUCCESS || !begun) {
        return hpcw_i_fail(err, HPCW_ENOTSUP, "without mpirun there is no MPI: mpirun -n 1");
    }
    if (wrapped.send == w->bare.send) {
        return hpcw_i_fail(err, HPCW_ENOTSUP, "MPI_Send is MPI's own: preload a tool, as libhpcw_trace.so");
    }
    w->messages = bench_scaled(w->common.place, *(const uint64_t *)parameter, 2) / 2 * 2;
    *amount = (struct bench_amount){.bytes = w->messages * sizeof(double), .items = w->messages};
    return HPCW_OK;
}

static hpcw_status messages_prepare(void *work, uint64_t side, hpcw_error *err) {
    (void)err;
    struct message_work *w = work;
    w->calls = side == TOOL ? wrapped : w->bare;
    return HPCW_OK;
}

static hpcw_status status_of(int code, hpcw_error *err) {
    return code == MPI_SUCCESS ? HPCW_OK
                               : hpcw_i_fail(err, HPCW_ECOMM, "a message failed with MPI's code %d", code);
}

/* Process 0 only sends and process 1 only receives, so that no wait hides the time of a call. */
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

/* Sends as many messages as `stream`, but as ping-pong. Work of the tool after a call may overlap with the transfer
 * of the answer. */
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

/* Posts a receive, sends a message, waits for the receive. The process sends to itself, so it never waits. */
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

#define SIDES(...)                                                                                             \
    {                                                                                                          \
        "tool", "MPI_Send and the like, which a tool has wrapped", 0, messages_prepare, {__VA_ARGS__}, NULL,   \
        NULL},                                                                                                 \
        {"bare", "MPI's own PMPI_Send and the like", 1, messages_prepare, {__VA_ARGS__}, NULL, NULL},

static const struct bench_side pair_sides[] = {
    SIDES(BENCH_TOGETHER("stream", stream), BENCH_TOGETHER("round trips", round_trips))};

static const struct bench_figure pair_figures[] = {
    {"message", BENCH_PER_ITEM, {2, 1}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"tool, a message", BENCH_PER_ITEM, {1, 1}, {2, 1}, {0, 0}, {0, 0}, 80, false},
    {"message to and fro", BENCH_PER_ITEM, {2, 2}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"tool, to and fro", BENCH_PER_ITEM, {1, 2}, {2, 2}, {0, 0}, {0, 0}, 80, false},
};

static const struct bench_side own_sides[] = {SIDES(BENCH_TOGETHER("posted", posted))};

static const struct bench_figure own_figures[] = {
    {"message to itself", BENCH_PER_ITEM, {2, 1}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"tool, to itself", BENCH_PER_ITEM, {1, 1}, {2, 1}, {0, 0}, {0, 0}, 100, false},
};

/* Numbers of messages. Their records fit into the pages that the recording has prepared. With more messages,
 * recording waits for new pages, and the kernel measures how fast the system makes pages, not the time of a
 * call. */
static const uint64_t pair_count = 20000, own_count = 10000;

#define MESSAGE_KERNEL(name_, what_, needs_, count, sides, figures)                                            \
    {                                                                                                          \
        .name = name_, .what = what_, .needs = needs_, .parameter = &(count), .size = WORK,                    \
        .setup = messages_setup, .subject = {BENCH_ROWS(sides), NULL}, BENCH_FIGURES(figures)                  \
    }

const struct bench_kernel bench_messages = MESSAGE_KERNEL(
    "messages", "20 000 blocking messages of 8 bytes from process 0 to 1, and as many to and fro",
    BENCH_SEVERAL_PROCESSES, pair_count, pair_sides, pair_figures);

/* Uses one process, since two would take the processors from the threads that prepare pages for the recording. */
const struct bench_kernel bench_own_messages =
    MESSAGE_KERNEL("own-messages", "10 000 messages of 8 bytes to itself: posted, sent and waited for",
                   BENCH_ONE_PROCESS, own_count, own_sides, own_figures);
