/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels for event logs. They measure the time that a program spends to record an event, the time to finish a
 * recording, the rate of writing given records, the rate of hpcgen, and the rate of reading. */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <hpcw/clog2_log.h>
#include <hpcw/clog2_read.h>

#include "bench/kernels/kernels.h"
#include "bench/measure/machine.h"
#include "libreader/clog2/clog2.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"

enum {
    PIECE = 4 << 20, /* bytes per pwrite of the baseline loop */
    AT_ONCE = 1024,  /* records per call of the writer */
    EVENT = 16,      /* bytes of an event without cargo in memory */
    RECORD = 32      /* bytes of an event without cargo in the file */
};

struct clog2_work {
    struct bench_common common;
    uint64_t events; /* events of this process, an even number */
    hpcw_clog2_log_options options;
    hpcw_clog2_log *log;
    hpcw_clog2_timeline *timeline, *other; /* `other` is for a second thread */
    int32_t state;
    hpcw_clog2 *file;
    hpcw_clog2_slice *slice;
    unsigned char *source; /* [PIECE] */
};

static hpcw_status clog2_setup(void *work, const void *parameter, struct bench_amount *amount,
                               hpcw_error *err) {
    struct clog2_work *w = work;
    const struct bench_processes *p = w->common.place->processes;
    w->events = bench_scaled(w->common.place, *(const uint64_t *)parameter, 2) / 2 * 2;
    *amount = (struct bench_amount){.bytes = w->events * RECORD * (uint64_t)p->count, .items = w->events};
    w->source = bench_source(PIECE, p->process);
    return w->source == NULL ? hpcw_i_fail_memory(err, NULL, PIECE, "bytes") : HPCW_OK;
}

static void close_all(struct clog2_work *w) {
    hpcw_error ignored;
    hpcw_clog2_log_free(w->log);
    hpcw_clog2_slice_free(w->slice);
    hpcw_clog2_free(w->file);
    w->log = NULL;
    w->slice = NULL;
    w->file = NULL;
    (void)bench_plain_close(w, &ignored);
}

static void clog2_teardown(void *work) {
    struct clog2_work *w = work;
    close_all(w);
    hpcw_i_free(w->source);
}

/* Values of bench_side.parameter. IN_MEMORY: memory is large enough for all events. SPILLED: memory holds
 * only a part of the events at a time. TWO_TIMELINES: two threads record, each on its own timeline. */
#define IN_MEMORY UINT64_C(0)
#define SPILLED UINT64_C(1)
#define TWO_TIMELINES UINT64_C(2)

static hpcw_status prepare(void *work, uint64_t parameter, hpcw_error *err) {
    struct clog2_work *w = work;
    close_all(w);
    hpcw_clog2_log_options_init(&w->options);
    w->options.directory = w->common.place->directory;
    w->options.durability = HPCW_SYNC_NONE;
    /* If the events exceed `memory`, the recording unmaps the parts of its local file that are full. */
    w->options.memory = parameter == SPILLED
                            ? UINT64_C(16) << 20
                            : (parameter == TWO_TIMELINES ? 4 : 2) * w->events * EVENT + (UINT64_C(16) << 20);
    return bench_fresh(&w->common, 3, w->options.memory + w->events * RECORD, err);
}

/* ---- recording ---- */

static hpcw_status log_open(void *work, hpcw_error *err) {
    struct clog2_work *w = work;
    hpcw_status s =
        hpcw_clog2_log_open(w->common.path[0], w->common.place->processes->comm, &w->options, &w->log, err);
    if (s == HPCW_OK) {
        s = hpcw_clog2_log_state(w->log, "Work", "blue", NULL, &w->state, err);
    }
    return s == HPCW_OK ? hpcw_clog2_log_thread(w->log, &w->timeline, err) : s;
}

static void log_to(const struct clog2_work *w, hpcw_clog2_timeline *timeline) {
    for (uint64_t i = 0; i < w->events; i += 2) {
        hpcw_clog2_log_begin(timeline, 0, w->state);
        hpcw_clog2_log_end(timeline, 0, w->state);
    }
}

static hpcw_status log_events(void *work, hpcw_error *err) {
    (void)err;
    const struct clog2_work *w = work;
    log_to(w, w->timeline);
    return HPCW_OK;
}

static hpcw_status first_logs_events(void *work, hpcw_error *err) {
    const struct clog2_work *w = work;
    return w->common.place->processes->process == 0 ? log_events(work, err) : HPCW_OK;
}

static hpcw_status open_two_timelines(void *work, hpcw_error *err) {
    struct clog2_work *w = work;
    hpcw_status s = log_open(w, err);
    return s == HPCW_OK ? hpcw_clog2_log_thread(w->log, &w->other, err) : s;
}

static void *other_thread(void *work) {
    const struct clog2_work *w = work;
    log_to(w, w->other);
    return NULL;
}

static hpcw_status two_log_events(void *work, hpcw_error *err) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, other_thread, work) != 0) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "cannot start a thread");
    }
    hpcw_status s = log_events(work, err);
    (void)pthread_join(thread, NULL);
    return s;
}

static hpcw_status read_clock(void *work, hpcw_error *err) {
    (void)err;
    const struct clog2_work *w = work;
    for (uint64_t i = 0; i < w->events; i++) {
        volatile uint64_t ticks = hpcw_clog2_timeline_clock(w->timeline);
        (void)ticks;
    }
    return HPCW_OK;
}

static hpcw_status log_finish(void *work, hpcw_error *err) {
    struct clog2_work *w = work;
    hpcw_clog2_log_report report;
    hpcw_status s = hpcw_clog2_log_finish(w->log, &report, err);
    return s == HPCW_OK && report.lost > 0
               ? hpcw_i_fail(err, HPCW_EINTERNAL, "%s: expected all records, got %" PRIu64 " less",
                             w->common.path[0], report.lost)
               : s;
}

static hpcw_status log_free(void *work, hpcw_error *err) {
    (void)err;
    close_all(work);
    return HPCW_OK;
}

#define CLOG2_KERNEL(name_, what_, needs_, events, sides, figures_)                                            \
    {                                                                                                          \
        .name = name_, .what = what_, .needs = needs_, .file = {"events.clog2", "events.plain"},               \
        .size = sizeof(struct clog2_work), .parameter = events, .setup = clog2_setup,                          \
        .teardown = clog2_teardown, .subject = {BENCH_ROWS(sides), NULL}, BENCH_FIGURES(figures_),             \
    }

static const uint64_t event_count = 4000000, finish_count = 1000000, file_count = 10000000;

#define RECORDING(open, run)                                                                                   \
    {BENCH_UNTIMED("open", open), BENCH_PHASE("record", run), BENCH_UNTIMED("finish", log_finish),             \
     BENCH_UNTIMED("free", log_free)},                                                                         \
        NULL, NULL

static const struct bench_side event_sides[] = {
    {"hpcw", "this library", IN_MEMORY, prepare, RECORDING(log_open, log_events)},
    {"spill", "this library with 16 MiB of memory, the rest is unmapped", SPILLED, prepare,
     RECORDING(log_open, log_events)},
    {"clock", "as many reads of the same clock", IN_MEMORY, prepare, RECORDING(log_open, read_clock)},
};

static const struct bench_figure event_figures[] = {
    {"event", BENCH_PER_ITEM, {1, 2}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"clock", BENCH_PER_ITEM, {3, 2}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"event, processor time", BENCH_CPU, {1, 2}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"hpcw / clock", BENCH_RATIO, {1, 2}, {0, 0}, {3, 2}, {0, 0}, 1.2, false},
    {"spill / clock", BENCH_RATIO, {2, 2}, {0, 0}, {3, 2}, {0, 0}, 1.5, false},
};

const struct bench_kernel bench_clog2_event =
    CLOG2_KERNEL("clog2-event", "4 000 000 bare events of one thread, the first touch of memory included",
                 BENCH_ONE_PROCESS, &event_count, event_sides, event_figures);

static const struct bench_side thread_sides[] = {
    {"one", "one thread records", TWO_TIMELINES, prepare, RECORDING(open_two_timelines, log_events)},
    {"two", "two threads record as much each", TWO_TIMELINES, prepare,
     RECORDING(open_two_timelines, two_log_events)},
};

static const struct bench_side process_sides[] = {
    {"one", "process 0 records", IN_MEMORY, prepare, RECORDING(log_open, first_logs_events)},
    {"all", "all processes record as much each", IN_MEMORY, prepare, RECORDING(log_open, log_events)},
};

static const struct bench_figure sharing_figures[] = {
    {"event, one", BENCH_PER_ITEM, {1, 2}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"event, more", BENCH_PER_ITEM, {2, 2}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"more / one", BENCH_RATIO, {2, 2}, {0, 0}, {1, 2}, {0, 0}, 1.1, false},
};

const struct bench_kernel bench_clog2_threads =
    CLOG2_KERNEL("clog2-threads", "4 000 000 bare events of each thread, alone and while another one records",
                 BENCH_ONE_PROCESS, &event_count, thread_sides, sharing_figures);

const struct bench_kernel bench_clog2_processes =
    CLOG2_KERNEL("clog2-processes", "4 000 000 bare events of each process, alone and while others record",
                 BENCH_SEVERAL_PROCESSES, &event_count, process_sides, sharing_figures);

/* ---- the end ---- */

static hpcw_status plain_write(void *work, hpcw_error *err) {
    const struct clog2_work *w = work;
    uint64_t size = w->events * RECORD;
    uint64_t at = size * (uint64_t)w->common.place->processes->process;
    return bench_plain_pieces(w->common.fd, w->source, PIECE, at, size, err);
}

#define PLAIN                                                                                                  \
    {                                                                                                          \
        "loop", "plain pwrites of as many bytes, every process its part", IN_MEMORY, prepare,                  \
            {BENCH_TOGETHER("open", bench_plain_open), BENCH_TOGETHER("write", plain_write),                   \
             BENCH_PHASE("close", bench_plain_close)},                                                         \
            NULL, NULL                                                                                         \
    }

#define FINISHING                                                                                              \
    {BENCH_UNTIMED("open", log_open), BENCH_UNTIMED("record", log_events),                                     \
     BENCH_TOGETHER("finish", log_finish), BENCH_UNTIMED("free", log_free)},                                   \
        NULL, NULL

static const struct bench_side finish_sides[] = {
    {"hpcw", "this library", IN_MEMORY, prepare, FINISHING},
    PLAIN,
};

static const struct bench_figure finish_figures[] = {
    {"finish", BENCH_SECONDS, {1, 3}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"hpcw / loop", BENCH_RATIO, {1, 3}, {0, 0}, {2, 0}, {0, 0}, 2.0, false},
};

const struct bench_kernel bench_clog2_finish =
    CLOG2_KERNEL("clog2-finish", "the end of a recording of 1 000 000 events on each process",
                 BENCH_SEVERAL_PROCESSES, &finish_count, finish_sides, finish_figures);

/* ---- known records ---- */

static void comm_of(void *context, uint32_t index, hpcw_clog2_comm_entry *entry) {
    (void)context;
    entry->id.random = 1 + (int32_t)index;
    entry->index = (int32_t)index;
    entry->kind = 1;
}

static hpcw_status file_open(void *work, hpcw_error *err) {
    struct clog2_work *w = work;
    hpcw_clog2_options o;
    hpcw_clog2_options_init(&o);
    o.ranks = 1024;
    o.states = 1;
    o.comms = 1025;
    o.comm_of = comm_of;
    o.durability = HPCW_SYNC_NONE;
    hpcw_status s = hpcw_clog2_open(w->common.path[0], NULL, &o, &w->file, err);
    if (s == HPCW_OK) {
        s = hpcw_clog2_slice_new(w->file, 0, &w->slice, err);
    }
    return s == HPCW_OK ? hpcw_clog2_slice_place(w->slice, 0, err) : s;
}

static hpcw_status file_put(void *work, hpcw_error *err) {
    const struct clog2_work *w = work;
    hpcw_clog2_record record[AT_ONCE];
    memset(record, 0, sizeof record);
    hpcw_status s = HPCW_OK;
    for (uint64_t at = 0; s == HPCW_OK && at < w->events; at += AT_ONCE) {
        size_t n = w->events - at < AT_ONCE ? (size_t)(w->events - at) : AT_ONCE;
        for (size_t i = 0; i < n; i++) {
            record[i].time = (double)(at + i) * 1e-7;
            record[i].rank = (int32_t)(at + i) & 1023;
            record[i].kind = HPCW_CLOG2_BARE;
            record[i].as.event = 600 + (int32_t)(at >> 10 & 1);
        }
        s = hpcw_clog2_slice_put(w->slice, record, n, err);
    }
    return s == HPCW_OK ? hpcw_clog2_slice_end(w->slice, HPCW_CLOG2_LAST, err) : s;
}

static hpcw_status file_close(void *work, hpcw_error *err) {
    struct clog2_work *w = work;
    return hpcw_clog2_close(w->file, hpcw_clog2_slice_blocks(w->slice), err);
}

#define FILE_PHASES                                                                                            \
    {BENCH_PHASE("open", file_open), BENCH_PHASE("put", file_put), BENCH_PHASE("close", file_close)}, NULL, NULL

static const struct bench_side file_sides[] = {
    {"hpcw", "this library", IN_MEMORY, prepare, FILE_PHASES},
    PLAIN,
};

static const struct bench_figure file_figures[] = {
    {"record", BENCH_PER_ITEM, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"hpcw / loop", BENCH_RATIO, {1, 0}, {0, 0}, {2, 0}, {0, 0}, 2.0, false},
    {"memory", BENCH_MEMORY, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 300.0 * 1048576, false},
};

const struct bench_kernel bench_clog2_file =
    CLOG2_KERNEL("clog2-file", "a log of 10 000 000 events of 1024 ranks, whose records are known",
                 BENCH_ONE_PROCESS, &file_count, file_sides, file_figures);

/* ---- a whole run of hpcgen ---- */

enum { RANKS = 4096, ITERATIONS = 560 };

struct clog2_run_work {
    struct bench_generator generator;
    char ranks[16], phases[32];
    unsigned char *source; /* [PIECE] */
};

/* Reads the number of bytes and of records of the log that hpcgen wrote. */
static hpcw_status read_size(struct bench_generator *generator, struct bench_amount *amount, hpcw_error *err) {
    char path[BENCH_PATH + 64];
    struct read_clog2 *reader = NULL;
    (void)snprintf(path, sizeof path, "%s/clog2/app.clog2", generator->common.path[0]);
    hpcw_status s = read_clog2_open(path, &reader, err);
    if (s != HPCW_OK) {
        return s;
    }
    const struct read_clog2_info *info = read_clog2_info(reader);
    generator->bytes = amount->bytes = hpcw_clog2_file_size(info->blocks, info->block_size, info->comms);
    bool more = true;
    while (s == HPCW_OK && more) {
        struct read_clog2_item item;
        s = read_clog2_next(reader, &item, &more, err);
        amount->items += more;
    }
    read_clog2_free(reader);
    return s;
}

static hpcw_status run_setup(void *work, const void *parameter, struct bench_amount *amount, hpcw_error *err) {
    (void)parameter;
    struct clog2_run_work *w = work;
    unsigned iterations = (unsigned)bench_scaled(w->generator.common.place, ITERATIONS, 1);
    (void)snprintf(w->ranks, sizeof w->ranks, "%d", RANKS);
    (void)snprintf(w->phases, sizeof w->phases, "load.phases=%u", iterations);
    const char *argument[] = {"--formats=clog2", "--ranks", w->ranks, "--set", w->phases, NULL};
    memcpy(w->generator.argument, argument, sizeof argument);
    w->source = bench_source(PIECE, 0);
    if (w->source == NULL) {
        return hpcw_i_fail_memory(err, NULL, PIECE, "bytes");
    }
    hpcw_status s = bench_generator_run(w, err);
    return s == HPCW_OK ? read_size(&w->generator, amount, err) : s;
}

static void run_teardown(void *work) {
    hpcw_i_free(((struct clog2_run_work *)work)->source);
}

static hpcw_status run_write(void *work, hpcw_error *err) {
    const struct clog2_run_work *w = work;
    return bench_plain_pieces(w->generator.common.fd, w->source, PIECE, 0, w->generator.bytes, err);
}

static const struct bench_side run_sides[] = {
    BENCH_HPCGEN(bench_generator_prepare),
    {"loop", "plain pwrites of as many bytes, one thread", 0, bench_generator_prepare, BENCH_LOOP(run_write)},
};

static const struct bench_figure run_figures[] = {
    {"hpcgen / loop", BENCH_RATIO, {1, 0}, {0, 0}, {2, 0}, {0, 0}, 2, false},
    {"hpcgen, a record", BENCH_PER_ITEM, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"hpcgen, memory", BENCH_MEMORY, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 300.0 * 1048576, false},
};

const struct bench_kernel bench_clog2_run = {
    .name = "clog2-run",
    .what = "hpcgen --ranks 4096 --formats clog2 --set load.phases=560 --no-checksums",
    .needs = BENCH_ONE_PROCESS,
    .file = {"dataset", "dataset.plain"},
    .size = sizeof(struct clog2_run_work),
    .setup = run_setup,
    .teardown = run_teardown,
    .subject = {BENCH_ROWS(run_sides), NULL},
    BENCH_FIGURES(run_figures),
};

/* ---- reading ---- */

enum { ROWS = 4096 };

struct clog2_reading {
    struct bench_generator generator;
    char ranks[16], path[BENCH_PATH + 64];
    unsigned char *piece; /* [PIECE] */
    uint64_t bytes;
    uint64_t *number; /* [8][ROWS] columns of the table of states or of messages */
};

static hpcw_status reading_setup(void *work, const void *parameter, struct bench_amount *amount,
                                 hpcw_error *err) {
    (void)parameter;
    struct clog2_reading *w = work;
    (void)snprintf(w->ranks, sizeof w->ranks, "%u",
                   (unsigned)bench_scaled(w->generator.common.place, RANKS, 16));
    const char *argument[] = {"--formats=clog2", "--ranks", w->ranks, "--seed=1", NULL};
    memcpy(w->generator.argument, argument, sizeof argument);
    w->piece = hpcw_i_malloc(PIECE);
    w->number = hpcw_i_malloc((size_t)ROWS * 8 * sizeof *w->number);
    if (w->piece == NULL || w->number == NULL) {
        return hpcw_i_fail_memory(err, NULL, PIECE, "bytes");
    }
    hpcw_status s = bench_generator_run(w, err);
    (void)snprintf(w->path, sizeof w->path, "%s/clog2/app.clog2", w->generator.common.path[0]);
    hpcw_clog2_reader *reader = NULL;
    s = s == HPCW_OK ? hpcw_clog2_reader_open(w->path, &reader, err) : s;
    hpcw_clog2_record record;
    for (bool more = true; s == HPCW_OK && more; amount->items += more) {
        s = hpcw_clog2_reader_next(reader, &record, &more, err);
    }
    if (s == HPCW_OK) {
        const hpcw_clog2_info *info = hpcw_clog2_reader_info(reader);
        w->bytes = amount->bytes = hpcw_clog2_file_size(info->blocks, info->block_size, info->comms);
    }
    hpcw_clog2_reader_free(reader);
    return s;
}

static void reading_teardown(void *work) {
    struct clog2_reading *w = work;
    hpcw_i_free(w->piece);
    hpcw_i_free(w->number);
}

static hpcw_status nothing(void *work, uint64_t parameter, hpcw_error *err) {
    (void)work;
    (void)parameter;
    (void)err;
    return HPCW_OK;
}

static hpcw_status read_strictly(void *work, hpcw_error *err) {
    const struct clog2_reading *w = work;
    struct read_clog2 *reader;
    hpcw_status s = read_clog2_open(w->path, &reader, err);
    if (s == HPCW_OK) {
        s = read_clog2_verify(reader, READ_CLOG2_STRICT, err);
        read_clog2_free(reader);
    }
    return s;
}

static hpcw_status read_records(void *work, hpcw_error *err) {
    const struct clog2_reading *w = work;
    hpcw_clog2_reader *reader;
    hpcw_clog2_record record;
    hpcw_status s = hpcw_clog2_reader_open(w->path, &reader, err);
    for (bool more = true; s == HPCW_OK && more;) {
        s = hpcw_clog2_reader_next(reader, &record, &more, err);
    }
    hpcw_clog2_reader_free(reader);
    return s;
}

static hpcw_status read_states(void *work, hpcw_error *err) {
    const struct clog2_reading *w = work;
    hpcw_clog2_reader *reader;
    const hpcw_clog2_states columns = {.definition = (uint32_t *)w->number,
                                       .rank = (uint32_t *)(w->number + ROWS),
                                       .depth = (uint32_t *)(w->number + 2 * ROWS),
                                       .from = (double *)(w->number + 3 * ROWS),
                                       .to = (double *)(w->number + 4 * ROWS)};
    size_t count = 1;
    hpcw_status s = hpcw_clog2_reader_open(w->path, &reader, err);
    s = s == HPCW_OK ? hpcw_clog2_reader_select(reader, HPCW_CLOG2_TABLE_STATES, NULL, err) : s;
    while (s == HPCW_OK && count > 0) {
        s = hpcw_clog2_reader_states(reader, &columns, ROWS, &count, err);
    }
    hpcw_clog2_reader_free(reader);
    return s;
}

static hpcw_status read_messages(void *work, hpcw_error *err) {
    const struct clog2_reading *w = work;
    hpcw_clog2_reader *reader;
    const hpcw_clog2_messages columns = {.from = (uint32_t *)w->number,
                                         .to = (uint32_t *)(w->number + ROWS),
                                         .size = (int32_t *)(w->number + 2 * ROWS),
                                         .sent = (double *)(w->number + 3 * ROWS),
                                         .received = (double *)(w->number + 4 * ROWS)};
    size_t count = 1;
    hpcw_status s = hpcw_clog2_reader_open(w->path, &reader, err);
    s = s == HPCW_OK ? hpcw_clog2_reader_select(reader, HPCW_CLOG2_TABLE_MESSAGES, NULL, err) : s;
    while (s == HPCW_OK && count > 0) {
        s = hpcw_clog2_reader_messages(reader, &columns, ROWS, &count, err);
    }
    hpcw_clog2_reader_free(reader);
    return s;
}

static hpcw_status read_bytes(void *work, hpcw_error *err) {
    const struct clog2_reading *w = work;
    int fd;
    const int e = hpcw_i_sys_open(w->path, O_RDONLY, 0, &fd);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot open", w->path);
    }
    ssize_t got = 1;
    uint64_t at = 0;
    while (got > 0) {
        got = pread(fd, w->piece, PIECE, (off_t)at);
        at += got > 0 ? (uint64_t)got : 0;
    }
    (void)hpcw_i_sys_close(fd);
    return at == w->bytes ? HPCW_OK : hpcw_i_fail(err, HPCW_EIO, "%s: expected other bytes to read", w->path);
}

#define SIDE(name, what, run)                                                                                  \
    { name, what, 0, nothing, {BENCH_PHASE("read", run)}, NULL, NULL }

static const struct bench_side reading_sides[] = {
    SIDE("strict", "all rules of the format", read_strictly),
    SIDE("records", "hpcw_clog2_reader_next", read_records),
    SIDE("states", "columns of states", read_states),
    SIDE("messages", "columns of messages", read_messages),
    SIDE("loop", "plain preads of 4 MiB", read_bytes),
};

static const struct bench_figure reading_figures[] = {
    {"strict", BENCH_RATE, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 1e9, false},
    {"strict, a record", BENCH_PER_ITEM, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"records", BENCH_RATE, {2, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"states", BENCH_RATE, {3, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"messages", BENCH_RATE, {4, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
    {"strict / loop", BENCH_RATIO, {1, 0}, {0, 0}, {5, 0}, {0, 0}, 0, false},
    {"memory, strict", BENCH_MEMORY, {1, 0}, {0, 0}, {0, 0}, {0, 0}, 0, false},
};

const struct bench_kernel bench_clog2_read = {
    .name = "clog2-read",
    .what = "reading the log of hpcgen --ranks 4096 --formats clog2 --seed 1",
    .needs = BENCH_ONE_PROCESS,
    .file = {"dataset", "dataset.plain"},
    .size = sizeof(struct clog2_reading),
    .setup = reading_setup,
    .teardown = reading_teardown,
    .subject = {BENCH_ROWS(reading_sides), NULL},
    BENCH_FIGURES(reading_figures),
};
