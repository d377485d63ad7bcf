/* SPDX-License-Identifier: BSD-3-Clause */
/* Recording by many processes. The test clock counts how often it is read, so a program records the same times in
 * every run. So the merged log must have the same bytes with and without local files. With real clocks, the log
 * must follow the rules of the format. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <hpcw/clog2_log.h>

#include "libreader/clog2/clog2.h"
#include "libwriter/base/bytes.h"
#include "libwriter/comm/comm.h"
#include "tests/support/files.h"
#include "tests/support/world.h"

enum { LOGS, LOCAL, FOLDERS, THREADS = 2 };

static void path_in(const char *name, char *path, size_t size) {
    (void)snprintf(path, size, "%s/%d/%s", scratch, LOGS, name);
}

/* Number of readings of the test clock. */
static uint64_t asked;

static double counting_now(void) {
    asked++;
    return 100.0 * process + 1e-6 * (double)asked * (1 + process % 3);
}

/* All processes have the same times, so that only the ranks decide the order. */
static double same_now(void) {
    asked++;
    return 1e-6 * (double)asked;
}

/* The clock stands still, so times differ only by what the library adds. */
static double still_now(void) {
    return 5;
}

struct program {
    hpcw_clog2_log *log;
    hpcw_clog2_timeline *timeline[THREADS];
    int32_t compute, exchange, step;
    uint32_t half; /* a communicator of every second process */
    int members, member;
};

static hpcw_status start(struct program *p, const char *path, const hpcw_clog2_log_options *o,
                         hpcw_error *err) {
    hpcw_status s = hpcw_clog2_log_open(path, world, o, &p->log, err);
    if (s != HPCW_OK) {
        return s;
    }
    s = hpcw_clog2_log_state(p->log, "Compute", "blue", NULL, &p->compute, err);
    if (s == HPCW_OK) {
        s = hpcw_clog2_log_state(p->log, "Exchange", "green", NULL, &p->exchange, err);
    }
    /* A process may define an event that other processes do not define. */
    if (s == HPCW_OK && process == processes - 1) {
        s = hpcw_clog2_log_solo(p->log, "Step", "red", "%d", &p->step, err);
    }
    for (int t = 0; s == HPCW_OK && t < THREADS; t++) {
        s = hpcw_clog2_log_thread(p->log, &p->timeline[t], err);
    }
    /* The id is invented, so that it is the same in every run. */
    hpcw_clog2_comm_id id = {.random = 5 + process % 2, .created = 1, .host = "node"};
    p->members = (processes + 1 - process % 2) / 2;
    p->member = process / 2;
    return s != HPCW_OK ? s
                        : hpcw_clog2_log_comm(p->timeline[0], 0, HPCW_CLOG2_INTRA, &id, (uint32_t)p->member,
                                              &p->half, err);
}

/* All processes record equally much, or process 0 records most. The messages match. Whether they seem to be
 * received before they are sent depends on the clock. */
static void run(struct program *p, int steps) {
    for (int i = 0; i < steps; i++) {
        for (int t = 0; t < THREADS; t++) {
            hpcw_clog2_log_begin(p->timeline[t], 0, p->compute);
            hpcw_clog2_log_end(p->timeline[t], 0, p->compute);
        }
        hpcw_clog2_log_begin(p->timeline[0], p->half, p->exchange);
        hpcw_clog2_log_send(p->timeline[0], p->half, (p->member + 1) % p->members, i % 7, 8);
        hpcw_clog2_log_receive(p->timeline[0], p->half, (p->member + p->members - 1) % p->members, i % 7, 8);
        hpcw_clog2_log_end(p->timeline[0], p->half, p->exchange);
        if (process == processes - 1) {
            hpcw_clog2_cargo cargo = {0};
            hpcw_clog2_cargo_i32(&cargo, i);
            hpcw_clog2_log_cargo(p->timeline[1], 0, p->step, &cargo);
        }
    }
}

/* Checks the log on process 0; all processes get the result. */
static bool is_good(const char *path, unsigned flags, uint64_t records) {
    bool good = true;
    if (process == 0) {
        struct read_clog2 *reader = NULL;
        hpcw_error err = {.message = ""};
        good = read_clog2_open(path, &reader, &err) == HPCW_OK &&
               read_clog2_verify(reader, flags, &err) == HPCW_OK;
        struct read_clog2_item item;
        bool more = good;
        uint64_t n = 0;
        if (good) {
            read_clog2_rewind(reader);
        }
        while (more && read_clog2_next(reader, &item, &more, &err) == HPCW_OK && more) {
            n++;
        }
        if (!good || n != records) {
            print_error("%s: %llu records of %llu, %s\n", path, (unsigned long long)n,
                        (unsigned long long)records, err.message);
        }
        good = good && n == records;
        read_clog2_free(reader);
    }
    return on_all(good);
}

static hpcw_status record(const char *path, const hpcw_clog2_log_options *o, int steps,
                          hpcw_clog2_log_report *report, hpcw_error *err) {
    struct program p = {0};
    asked = 0;
    hpcw_status s = start(&p, path, o, err);
    if (s == HPCW_OK) {
        run(&p, steps);
        s = hpcw_clog2_log_finish(p.log, report, err);
    }
    hpcw_clog2_log_free(p.log);
    return s;
}

static hpcw_clog2_log_options options_of(char *local, size_t size) {
    hpcw_clog2_log_options o;
    hpcw_clog2_log_options_init(&o);
    (void)snprintf(local, size, "%s/%d", scratch, LOCAL);
    o.directory = local;
    o.durability = HPCW_SYNC_NONE;
    return o;
}

/* Compares two logs after equalising what differs from run to run: host names, ids of single processes, and
 * creation times. */
static bool same_log(const char *a, const char *b) {
    bool same = true;
    if (process == 0) {
        size_t size[2] = {0, 0};
        unsigned char *bytes[2] = {read_file(a, &size[0]), read_file(b, &size[1])};
        struct read_clog2 *reader = NULL;
        same = bytes[0] != NULL && bytes[1] != NULL && size[0] == size[1];
        for (int i = 0; same && i < 2; i++) {
            same = read_clog2_open(i == 0 ? a : b, &reader, NULL) == HPCW_OK;
            struct read_clog2_item item;
            bool more = same;
            while (more && read_clog2_next(reader, &item, &more, NULL) == HPCW_OK && more) {
                if (item.kind == HPCW_CLOG2_COMM_EVENT) {
                    memset(bytes[i] + item.offset + 40, 0, 32);
                }
            }
            if (same) {
                const struct read_clog2_info *info = read_clog2_info(reader);
                for (uint32_t c = 0; c < info->comms; c++) {
                    memset(bytes[i] + info->table_at + 4 + (size_t)c * 40, 0, 32);
                }
            }
            read_clog2_free(reader);
            reader = NULL;
        }
        same = same && same_bytes("merged log", bytes[0], size[0], bytes[1], size[1]);
        free(bytes[0]);
        free(bytes[1]);
    }
    return on_all(same);
}

/* Expected content of a record of a timeline. */
struct expected {
    int32_t kind, event, detail; /* detail: tag of a message, or value of a cargo */
};

/* Sets *e for record `i` of a timeline. Returns false if the timeline has fewer records. */
static bool expect(int rank, int thread, int steps, int i, struct expected *e) {
    enum { COMPUTE = 600, EXCHANGE = 602, STEP = 5000, FIRST = 6 };
    static const struct expected first[FIRST] = {
        {HPCW_CLOG2_BARE, COMPUTE, 0},
        {HPCW_CLOG2_BARE, COMPUTE + 1, 0},
        {HPCW_CLOG2_BARE, EXCHANGE, 0},
        {HPCW_CLOG2_MESSAGE, HPCW_CLOG2_SEND, 0},
        {HPCW_CLOG2_MESSAGE, HPCW_CLOG2_RECEIVE, 0},
        {HPCW_CLOG2_BARE, EXCHANGE + 1, 0},
    };
    int a_step = thread == 0 ? FIRST : rank == processes - 1 ? 3 : 2;
    if (thread == 0 && i == 0) {
        *e = (struct expected){HPCW_CLOG2_COMM_EVENT, HPCW_CLOG2_INTRA_CREATE, 0};
        return true;
    }
    i -= thread == 0;
    *e = thread == 1 && i % a_step == 2 ? (struct expected){HPCW_CLOG2_WITH_CARGO, STEP, i / a_step}
                                        : first[i % a_step];
    e->detail = e->kind == HPCW_CLOG2_MESSAGE ? i / a_step % 7 : e->detail;
    return i / a_step < steps;
}

/* Checks that each timeline has exactly what its thread recorded, and that all are in the order of the format. */
static bool is_merged(const char *path, const int steps[3]) {
    bool good = true;
    if (process == 0) {
        struct read_clog2 *reader = NULL;
        struct read_clog2_item item;
        int *seen = calloc((size_t)processes * THREADS, sizeof *seen);
        int32_t last_rank = 0, last_thread = 0;
        double last = 0;
        struct expected e;
        bool more = true;
        good = read_clog2_open(path, &reader, NULL) == HPCW_OK;
        while (good && read_clog2_next(reader, &item, &more, NULL) == HPCW_OK && more) {
            const unsigned char *p = item.payload;
            int32_t event = (int32_t)hpcw_i_get_u32(p, true);
            /* The numbers of communicators: 0 is the world, 1 + r has rank r alone, and the last two have the even
             * and the odd ranks. */
            int32_t rank = item.comm == 0           ? item.rank
                           : item.comm <= processes ? item.comm - 1
                                                    : 2 * item.rank + item.comm - 1 - processes;
            good =
                rank < processes && item.thread < THREADS &&
                (item.time > last || (item.time == last &&
                                      (rank > last_rank || (rank == last_rank && item.thread >= last_thread))));
            last = item.time;
            last_rank = rank;
            last_thread = item.thread;
            bool waits = item.kind == HPCW_CLOG2_BARE && event / 2 == HPCW_CLOG2_SPILL_STATE;
            if (!good || item.time == 0 || waits) {
                continue;
            }
            int32_t detail = item.kind == HPCW_CLOG2_MESSAGE      ? (int32_t)hpcw_i_get_u32(p + 12, true)
                             : item.kind == HPCW_CLOG2_WITH_CARGO ? (int32_t)hpcw_i_get_u32(p + 8, true)
                                                                  : 0;
            good = expect(rank, item.thread, steps[rank < 2 ? rank : 2], seen[rank * THREADS + item.thread]++,
                          &e) &&
                   e.kind == item.kind && e.event == event && e.detail == detail;
        }
        good = good && !more;
        for (int i = 0; good && i < processes * THREADS; i++) {
            int rank = i / THREADS;
            good = !expect(rank, i % THREADS, steps[rank < 2 ? rank : 2], seen[i], &e);
        }
        if (!good) {
            print_error("%s: at %.9f s: unexpected record, or end, of rank %d, thread %d\n", path, last,
                        (int)last_rank, (int)last_thread);
        }
        read_clog2_free(reader);
        free(seen);
    }
    return on_all(good);
}

static void logs_are_merged(void **state) {
    (void)state;
    static const struct {
        int steps[3];       /* for process 0, process 1, and all others */
        uint64_t memory[2]; /* memory of two runs */
        uint32_t block_size;
        double (*now)(void);
    } cases[] = {
        {{1, 1, 1}, {68 << 20, 8 << 20}, 65536, counting_now},
        {{3, 3, 3}, {68 << 20, 8 << 20}, 1024, counting_now},
        {{20000, 20000, 8000}, {68 << 20, 8 << 20}, 65536, counting_now},
        {{30000, 10, 10}, {68 << 20, 8 << 20}, 65536, counting_now},
        {{10, 30000, 1000}, {68 << 20, 8 << 20}, 65536, counting_now},
        {{20000, 20000, 8000}, {68 << 20, 8 << 20}, 65536, same_now},
        {{20000, 9000, 8000}, {68 << 20, 8 << 20}, 256, still_now},
        {{60000, 40000, 3000}, {68 << 20, 8 << 20}, 65536, counting_now}, /* the second run needs local files */
        {{150000, 150000, 20000}, {68 << 20, 8 << 20}, 1 << 20, counting_now},
    };
    char local[512], path[2][600];
    hpcw_clog2_log_options o = options_of(local, sizeof local);
    path_in("first.clog2", path[0], sizeof path[0]);
    path_in("second.clog2", path[1], sizeof path[1]);
    o.clock = HPCW_CLOG2_CLOCK_CALLER;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int steps = cases[i].steps[process < 2 ? process : 2];
        o.now = cases[i].now;
        o.sync = o.now == counting_now ? HPCW_CLOG2_SYNC_BEST : HPCW_CLOG2_SYNC_NONE;
        o.block_size = cases[i].block_size;
        hpcw_clog2_log_report report[2] = {{0}, {0}};
        for (int run = 0; run < 2; run++) {
            hpcw_error err = {.message = ""};
            o.memory = cases[i].memory[run];
            hpcw_status s = record(path[run], &o, steps, &report[run], &err);
            if (s != HPCW_OK) {
                print_error("case %zu, run %d, process %d: %s\n", i, run, process, err.message);
            }
            assert_true(on_all(s == HPCW_OK));
            assert_true(is_good(path[run], 0, report[run].records));
            assert_true(is_merged(path[run], cases[i].steps));
        }
        /* Waits for the disk are recorded, so logs can be the same only if no process waited for the disk. */
        if (report[0].stalls + report[1].stalls == 0) {
            assert_true(report[0].records == report[1].records);
            assert_true(same_log(path[0], path[1]));
        }
        assert_int_equal(entries_seen(local), 0);
    }
}

/* Seconds of this process's own clock, which is far from those of others. */
static double own_now(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9 + 1000.0 * process;
}

enum { PER_HOST = 2 };

static int two_each(hpcw_comm *comm, hpcw_comm **out) {
    return comm->ops->split(comm, (uint32_t)(comm->process / PER_HOST), out);
}

/* Checks this process's clock data: they match the request, and equal those of the first process on its host. */
static bool is_found(const hpcw_clog2_log_report *r, bool same_clock, bool asks, int per_host) {
    int64_t mine[] = {r->begin_offset_ns, r->end_offset_ns, (int64_t)r->begin_round_trip_ns,
                      (int64_t)r->end_round_trip_ns};
    int64_t(*all)[4] = calloc((size_t)processes, sizeof *all);
    bool good = hpcw_i_comm_allgather(world, mine, sizeof mine, all, NULL) == HPCW_OK;
    good = good && memcmp(all[process], all[process / per_host * per_host], sizeof *all) == 0;
    /* All clocks run at almost the same speed. A larger difference comes from the round trips to process 0. */
    int64_t most = 1000;
    for (int i = 0; good && i < processes; i++) {
        most += (all[i][2] + all[i][3]) / 2;
    }
    free(all);
    if (same_clock) {
        good = good && mine[0] == 0 && mine[1] == 0 && mine[2] == 0 && mine[3] == 0 && r->drift == 0;
    }
    int64_t change = mine[1] - mine[0];
    good = good && r->same_clock == same_clock && asks == (mine[2] > 0) && asks == (mine[3] > 0) &&
           r->drift > -1e-3 && r->drift < 1e-3 && (r->drift != 0 || (change > -most && change < most)) &&
           r->lost + r->undefined + r->end_alone + r->bad_cargo == 0;
    if (!good) {
        print_error("process %d: offsets %" PRId64 " and %" PRId64 " ns, round trips %" PRId64 " and %" PRId64
                    " ns, at most %" PRId64 " ns, drift %g\n",
                    process, mine[0], mine[1], mine[2], mine[3], most, r->drift);
    }
    return good;
}

static void clocks_are_compared(void **state) {
    (void)state;
    char local[512], path[600];
    hpcw_clog2_log_options o = options_of(local, sizeof local);
    path_in("clocks.clog2", path, sizeof path);
    const struct hpcw_i_comm_ops *ops = world->ops;
    struct hpcw_i_comm_ops hosts = *ops;
    hosts.split_host = two_each;
    o.now = own_now;
    for (int how = HPCW_CLOG2_SYNC_BEST; how <= HPCW_CLOG2_SYNC_NEIGHBOURS; how++) {
        for (int clock = HPCW_CLOG2_CLOCK_BEST; clock <= HPCW_CLOG2_CLOCK_CALLER; clock++) {
            for (int several = 0; several < 2; several++) {
                if (clock == HPCW_CLOG2_CLOCK_COUNTER) {
                    continue; /* the counter may be missing; if it exists, HPCW_CLOG2_CLOCK_BEST uses it */
                }
                bool shared = clock != HPCW_CLOG2_CLOCK_CALLER;
                int per_host = !shared ? 1 : several ? PER_HOST : processes;
                o.sync = (hpcw_clog2_sync)how;
                o.clock = (hpcw_clog2_clock)clock;
                hpcw_clog2_log_report report;
                hpcw_error err = {.message = ""};
                world->ops = several ? &hosts : ops;
                hpcw_status s = record(path, &o, 100, &report, &err);
                world->ops = ops;
                if (s != HPCW_OK) {
                    print_error("sync %d, process %d: %s\n", how, process, err.message);
                }
                assert_true(on_all(s == HPCW_OK));
                bool same = process / per_host == 0;
                assert_true(on_all(is_found(&report, same, !same && how != HPCW_CLOG2_SYNC_NONE, per_host)));
                assert_true(is_good(path, 0, report.records));
            }
        }
    }
}

/* Real messages between processes that share processors: no arrow points backwards. */
static void messages_go_forward(void **state) {
    (void)state;
    enum { ROUNDS = 4000 };
    char local[512], path[600];
    hpcw_clog2_log_options o = options_of(local, sizeof local);
    path_in("messages.clog2", path, sizeof path);
    for (int clock = HPCW_CLOG2_CLOCK_BEST; clock <= HPCW_CLOG2_CLOCK_SYSTEM; clock += 2) {
        hpcw_clog2_log *log = NULL;
        hpcw_clog2_timeline *timeline = NULL;
        hpcw_clog2_log_report report = {0};
        hpcw_error err = {.message = ""};
        int32_t talk = 0;
        o.clock = (hpcw_clog2_clock)clock;
        bool good = hpcw_clog2_log_open(path, world, &o, &log, &err) == HPCW_OK;
        good = good && hpcw_clog2_log_state(log, "Talk", "green", NULL, &talk, &err) == HPCW_OK &&
               hpcw_clog2_log_thread(log, &timeline, &err) == HPCW_OK;
        for (int i = 0; on_all(good) && i < ROUNDS; i += 100) {
            for (int k = 0; k < 100; k++) {
                int to = (process + 1) % processes, from = (process + processes - 1) % processes;
                uint64_t word = (uint64_t)k;
                hpcw_clog2_log_begin(timeline, 0, talk);
                for (int turn = 0; processes > 1 && turn < 2; turn++) {
                    if ((process % 2 == 0) == (turn == 0)) {
                        hpcw_clog2_log_send(timeline, 0, to, k, 8);
                        good = world->ops->send(world, &word, 1, to) == 0 && good;
                    } else {
                        good = world->ops->receive(world, &word, 1, from) == 0 && good;
                        hpcw_clog2_log_receive(timeline, 0, from, k, 8);
                    }
                }
                hpcw_clog2_log_end(timeline, 0, talk);
            }
        }
        good = on_all(good) && hpcw_clog2_log_finish(log, &report, &err) == HPCW_OK;
        hpcw_clog2_log_free(log);
        assert_true(on_all(good && report.same_clock));
        assert_true(is_good(path, READ_CLOG2_STRICT, report.records));
    }
}

/* Records an inter-communicator between even and odd processes, a message over it, and its end. As in MPE's logs,
 * the two sides give the inter-communicator different ids. one: both sides use one id, so that two processes have
 * the same rank in the inter-communicator. */
static hpcw_status record_halves(const char *path, const hpcw_clog2_log_options *o, bool one,
                                 hpcw_clog2_log_report *report, hpcw_error *err) {
    struct program p = {0};
    int side = process % 2;
    uint32_t whole = 0, local = 0, remote = 0;
    hpcw_clog2_comm_id id = {.random = one ? 7 : 7 + side, .created = 1, .host = "node"};
    hpcw_clog2_comm_id other = {.random = 5 + (1 - side), .created = 1, .host = "node"};
    hpcw_status s = start(&p, path, o, err);
    hpcw_clog2_timeline *t = p.timeline[0];
    if (s == HPCW_OK) {
        s = hpcw_clog2_log_comm(t, p.half, HPCW_CLOG2_INTER, &id, (uint32_t)p.member, &whole, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_clog2_log_comm_identity(t, p.half, &id, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_clog2_log_comm(t, p.half, HPCW_CLOG2_LOCAL_HALF, &id, (uint32_t)p.member, &local, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_clog2_log_comm(t, p.half, HPCW_CLOG2_REMOTE_HALF, &other, 0, &remote, err);
    }
    s = on_all(s == HPCW_OK) ? HPCW_OK
                             : s; /* waits until all processes have announced the inter-communicator */
    if (s == HPCW_OK) {
        run(&p, 1);
        if (side == 0 && process + 1 < processes) {
            hpcw_clog2_timeline_message(t, local, HPCW_CLOG2_SEND, remote, p.member, 3, 8);
        } else if (side == 1) {
            hpcw_clog2_timeline_message(t, local, HPCW_CLOG2_RECEIVE, remote, p.member, 3, 8);
        }
        hpcw_clog2_log_comm_freed(t, whole);
        s = hpcw_clog2_log_finish(p.log, report, err);
    }
    hpcw_clog2_log_free(p.log);
    return s;
}

/* Counts each event of an inter-communicator in a log, and finds the rank that frees it. */
static bool has_halves(const char *path, int each) {
    static const int32_t event[] = {HPCW_CLOG2_INTER_CREATE, HPCW_CLOG2_LOCAL_CREATE, HPCW_CLOG2_REMOTE_CREATE,
                                    HPCW_CLOG2_COMM_FREE};
    int seen[sizeof event / sizeof *event] = {0};
    struct read_clog2 *reader = NULL;
    bool good = read_clog2_open(path, &reader, NULL) == HPCW_OK, more = good;
    struct read_clog2_item item;
    while (more && read_clog2_next(reader, &item, &more, NULL) == HPCW_OK && more) {
        for (size_t e = 0; item.kind == HPCW_CLOG2_COMM_EVENT && e < sizeof event / sizeof *event; e++) {
            seen[e] += (int32_t)hpcw_i_get_u32(item.payload, true) == event[e];
        }
        if (item.kind == HPCW_CLOG2_COMM_EVENT && hpcw_i_get_u32(item.payload, true) == HPCW_CLOG2_COMM_FREE) {
            good = good && (int32_t)hpcw_i_get_u32(item.payload + 4, true) == -999999999 &&
                   read_clog2_entry(reader, (uint32_t)item.comm)->kind == HPCW_CLOG2_INTER;
        }
    }
    read_clog2_free(reader);
    for (size_t e = 0; e < sizeof event / sizeof *event; e++) {
        good = good && seen[e] == each;
    }
    return good;
}

static void sides_have_identities_of_their_own(void **state) {
    (void)state;
    char local[512], path[600];
    hpcw_clog2_log_options o = options_of(local, sizeof local);
    hpcw_clog2_log_report report;
    hpcw_error err = {.message = ""};
    path_in("halves.clog2", path, sizeof path);
    if (processes == 1) {
        return; /* there is no process on the other side */
    }
    hpcw_status s = record_halves(path, &o, false, &report, &err);
    assert_true(on_all(s == HPCW_OK && report.undefined == 0));
    assert_true(is_good(path, READ_CLOG2_STRICT | READ_CLOG2_ANY_CLOCK, report.records));
    assert_true(on_all(process != 0 || has_halves(path, processes)));
    s = record_halves(path, &o, true, &report, &err);
    assert_true(on_all(s == HPCW_OK));
    struct read_clog2 *reader = NULL;
    bool refused = process != 0 || (read_clog2_open(path, &reader, &err) == HPCW_OK &&
                                    read_clog2_verify(reader, READ_CLOG2_STRICT, &err) == HPCW_EFORMAT &&
                                    strstr(err.message, "of the world, as before") != NULL);
    read_clog2_free(reader);
    assert_true(on_all(refused));
}

static void failures_are_heard_by_all(void **state) {
    (void)state;
    char local[512], path[600], nowhere[600];
    hpcw_clog2_log_options o = options_of(local, sizeof local);
    path_in("failed.clog2", path, sizeof path);
    (void)snprintf(nowhere, sizeof nowhere, "%s/no/such/folder.clog2", scratch);
    hpcw_error err = {.message = ""};
    for (int culprit = 0; culprit < processes; culprit++) {
        bool me = process == culprit;
        hpcw_clog2_log_options other = o;
        other.sync_rounds = me ? 0 : o.sync_rounds;
        hpcw_status s = record(path, &other, 1, NULL, &err);
        assert_true(on_all(s == HPCW_EINVAL));
        assert_true(same_verdict(s, &err));
        /* One process defines a state with another name. */
        struct program p = {0};
        s = hpcw_clog2_log_open(path, world, &o, &p.log, &err);
        assert_true(on_all(s == HPCW_OK));
        s = hpcw_clog2_log_state(p.log, me ? "Mine" : "Ours", "red", NULL, &p.compute, &err);
        assert_true(on_all(s == HPCW_OK));
        s = hpcw_clog2_log_finish(p.log, NULL, &err);
        assert_true(on_all(s == (processes > 1 ? HPCW_EMISMATCH : HPCW_OK)));
        assert_true(processes == 1 || same_verdict(s, &err));
        hpcw_clog2_log_free(p.log);
        remove(path);
        /* One process has another path. */
        s = hpcw_clog2_log_open(nowhere, world, &o, &p.log, &err);
        assert_true(on_all(s == HPCW_OK && hpcw_clog2_log_rank(p.log) == (uint32_t)process));
        s = hpcw_clog2_log_rename(p.log, me ? nowhere : path, &err);
        assert_true(on_all(s == (processes > 1 ? HPCW_EMISMATCH : HPCW_OK)));
        assert_true(processes == 1 || same_verdict(s, &err));
        s = hpcw_clog2_log_rename(p.log, path, &err);
        assert_true(on_all(s == HPCW_OK));
        s = hpcw_clog2_log_finish(p.log, NULL, &err);
        assert_true(on_all(s == HPCW_OK));
        hpcw_clog2_log_free(p.log);
        assert_true(on_all(process != 0 || remove(path) == 0));
    }
    /* The directory of the path does not exist. The open succeeds and leaves `err` unchanged; a later call
     * fails. */
    hpcw_clog2_log *log = NULL;
    err = (hpcw_error){.message = "untouched"};
    hpcw_status s = hpcw_clog2_log_open(nowhere, world, &o, &log, &err);
    assert_true(on_all(s == HPCW_OK && err.code == HPCW_OK && strcmp(err.message, "untouched") == 0));
    hpcw_clog2_log_free(log);
    s = record(nowhere, &o, 100, NULL, &err);
    assert_true(on_all(s == HPCW_ENOENT));
    assert_true(same_verdict(s, &err));
}

int main(int argc, char **argv) {
    world_begin(&argc, &argv, FOLDERS);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_are_merged),           cmocka_unit_test(clocks_are_compared),
        cmocka_unit_test(messages_go_forward),       cmocka_unit_test(sides_have_identities_of_their_own),
        cmocka_unit_test(failures_are_heard_by_all),
    };
    return world_end(cmocka_run_group_tests(tests, NULL, NULL));
}
