/* SPDX-License-Identifier: BSD-3-Clause */
/* Recording by one process: the log has all records, invalid ones are counted, and records survive a crash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hpcw/clog2_log.h>

#include "libreader/clog2/clog2.h"
#include "libwriter/base/bytes.h"
#include "tests/support/files.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

enum { CHUNK_EVENTS = 131072 };

struct place {
    char directory[256], path[512];
};

static void place_make(struct place *p) {
    scratch_make(p->directory, sizeof p->directory);
    (void)snprintf(p->path, sizeof p->path, "%s/app.clog2", p->directory);
}

/* A log being recorded, with a timeline and the definitions of all tests. */
struct recording {
    struct place place;
    hpcw_clog2_log_options options;
    hpcw_clog2_log *log;
    hpcw_clog2_timeline *timeline;
    int32_t compute, exchange, mark;
    hpcw_clog2_log_report report;
};

static void must(hpcw_status s, const hpcw_error *err) {
    if (s != HPCW_OK) {
        fail_msg("%s", err->message);
    }
}

static void recording_begin(struct recording *r) {
    hpcw_error err;
    r->options.directory = r->place.directory;
    must(hpcw_clog2_log_open(r->place.path, NULL, &r->options, &r->log, &err), &err);
    must(hpcw_clog2_log_state(r->log, "Compute", "blue", NULL, &r->compute, &err), &err);
    must(hpcw_clog2_log_state(r->log, "Exchange", "green", "peer=%d", &r->exchange, &err), &err);
    must(hpcw_clog2_log_solo(r->log, "Mark", "red", "%s", &r->mark, &err), &err);
    must(hpcw_clog2_log_thread(r->log, &r->timeline, &err), &err);
    assert_int_equal(r->compute, 300);
    assert_int_equal(r->exchange, 301);
    assert_int_equal(r->mark, 5000);
}

static void recording_open(struct recording *r) {
    memset(r, 0, sizeof *r);
    place_make(&r->place);
    hpcw_clog2_log_options_init(&r->options);
    r->options.durability = HPCW_SYNC_NONE;
    recording_begin(r);
}

/* Checks a log and returns its number of records. kinds: gets the number of each kind. */
static uint64_t count_records(const char *path, unsigned flags, uint64_t kinds[12]) {
    struct read_clog2 *reader;
    hpcw_error err;
    must(read_clog2_open(path, &reader, &err), &err);
    must(read_clog2_verify(reader, flags, &err), &err);
    read_clog2_rewind(reader);
    struct read_clog2_item item;
    bool more = true;
    uint64_t all = 0;
    memset(kinds, 0, 12 * sizeof *kinds);
    while (read_clog2_next(reader, &item, &more, &err) == HPCW_OK && more) {
        kinds[item.kind]++;
        all++;
    }
    read_clog2_free(reader);
    return all;
}

/* Finishes the log and counts its records by kind. flags: for the check of the log. */
static void recording_finish(struct recording *r, unsigned flags, uint64_t kinds[12]) {
    hpcw_error err;
    must(hpcw_clog2_log_finish(r->log, &r->report, &err), &err);
    assert_int_equal(hpcw_clog2_log_finish(r->log, NULL, &err), HPCW_ESTATE);
    hpcw_clog2_log_free(r->log);
    assert_int_equal(count_records(r->place.path, flags, kinds), r->report.records);
    assert_int_equal(count_entries(r->place.directory), 1); /* no local file is left */
    scratch_remove(r->place.directory);
}

static void some_work(struct recording *r, int times) {
    for (int i = 0; i < times; i++) {
        hpcw_clog2_log_begin(r->timeline, 0, r->compute);
        hpcw_clog2_log_end(r->timeline, 0, r->compute);
    }
}

static void everything_is_recorded(void **state) {
    (void)state;
    static const hpcw_clog2_clock clocks[] = {HPCW_CLOG2_CLOCK_BEST, HPCW_CLOG2_CLOCK_SYSTEM};
    for (size_t i = 0; i < COUNT(clocks); i++) {
        struct recording r;
        recording_open(&r);
        hpcw_clog2_log_free(r.log);
        r.options.clock = clocks[i];
        recording_begin(&r);
        hpcw_error err;
        must(hpcw_clog2_log_known_state(r.log, 80, "MPI_Send", "blue", NULL, &err), &err);
        must(hpcw_clog2_log_known_state(r.log, 80, "MPI_Send", "blue", NULL, &err), &err);
        assert_int_equal(hpcw_clog2_log_known_state(r.log, 80, "MPI_Send", "red", NULL, &err), HPCW_EINVAL);
        uint32_t half;
        must(hpcw_clog2_log_comm_of(r.timeline, 0, NULL, &half, &err), &err);
        some_work(&r, 10);
        hpcw_clog2_log_begin(r.timeline, half, r.exchange);
        hpcw_clog2_log_send(r.timeline, half, 0, 7, UINT64_C(1) << 40);
        hpcw_clog2_log_receive(r.timeline, half, 0, 7, UINT64_C(1) << 40);
        hpcw_clog2_cargo cargo = {0};
        hpcw_clog2_cargo_i32(&cargo, 3);
        hpcw_clog2_log_cargo(r.timeline, half, 2 * r.exchange + 1, &cargo);
        hpcw_clog2_log_begin(r.timeline, 1, 80);
        hpcw_clog2_log_end(r.timeline, 1, 80);
        cargo = (hpcw_clog2_cargo){0};
        hpcw_clog2_cargo_text(&cargo, "here", 4);
        hpcw_clog2_log_cargo(r.timeline, 0, r.mark, &cargo);
        uint64_t kinds[12];
        recording_finish(&r, READ_CLOG2_STRICT, kinds);
        assert_int_equal(kinds[HPCW_CLOG2_BARE], 23);
        assert_int_equal(kinds[HPCW_CLOG2_WITH_CARGO], 2);
        assert_int_equal(kinds[HPCW_CLOG2_MESSAGE], 2);
        assert_int_equal(kinds[HPCW_CLOG2_COMM_EVENT], 3);
        assert_int_equal(kinds[HPCW_CLOG2_STATE_DEF], 3);
        assert_int_equal(r.report.undefined + r.report.lost + r.report.end_alone + r.report.bad_cargo, 0);
        assert_true(r.report.tick_ns > 0);
    }
}

/* Time of a clock, s, that stands still up to 5 s and then steps back at each reading. */
static double strange_time;

static double strange_now(void) {
    strange_time += strange_time > 5 ? -0.5 : 0;
    return strange_time;
}

static void strange_clocks(void **state) {
    (void)state;
    struct recording r;
    recording_open(&r);
    hpcw_clog2_log_free(r.log);
    r.options.clock = HPCW_CLOG2_CLOCK_CALLER;
    r.options.now = strange_now;
    strange_time = 1;
    recording_begin(&r);
    some_work(&r, 3);
    strange_time = 6;
    some_work(&r, 3);
    uint64_t kinds[12];
    recording_finish(&r, READ_CLOG2_STRICT, kinds);
    assert_int_equal(kinds[HPCW_CLOG2_BARE], 12);
}

static void misuse_is_counted(void **state) {
    (void)state;
    struct recording r;
    recording_open(&r);
    hpcw_clog2_log_end(r.timeline, 0, r.compute);        /* end of a state that did not begin */
    hpcw_clog2_log_event(r.timeline, 0, 4321);           /* not defined */
    hpcw_clog2_log_event(r.timeline, 0, -5);             /* events below 0 cannot be defined */
    hpcw_clog2_log_event(r.timeline, 77, 2 * r.compute); /* communicator 77 does not exist */
    hpcw_clog2_log_send(r.timeline, 0, 1, 0, 8);         /* rank 1 does not exist */
    hpcw_clog2_log_receive(r.timeline, 0, -1, 0, 8);     /* a wildcard */
    hpcw_clog2_log_send(r.timeline, 0, 0, -1, 8);        /* another */
    hpcw_clog2_cargo cargo = {0};
    hpcw_clog2_cargo_i64(&cargo, 3); /* a number where the format has text (%s) */
    hpcw_clog2_log_cargo(r.timeline, 0, r.mark, &cargo);
    for (int i = 0; i < 5; i++) {
        hpcw_clog2_cargo_i64(&cargo, 3); /* five numbers are too many */
    }
    hpcw_clog2_log_cargo(r.timeline, 0, r.mark, &cargo);
    some_work(&r, 1);
    hpcw_clog2_log_begin(r.timeline, 0, r.exchange); /* begin of a state that does not end */
    uint64_t kinds[12];
    recording_finish(&r, 0, kinds);
    assert_int_equal(r.report.end_alone, 1);
    assert_int_equal(r.report.undefined, 6);
    assert_int_equal(r.report.bad_cargo, 2);
    assert_int_equal(r.report.start_alone, 1);
    assert_int_equal(kinds[HPCW_CLOG2_BARE], 2 + 1 + 2);
    assert_int_equal(kinds[HPCW_CLOG2_WITH_CARGO] + kinds[HPCW_CLOG2_MESSAGE], 0);
}

static void packed_cargo_is_checked_by_its_format(void **state) {
    (void)state;
    struct recording r;
    recording_open(&r);
    /* Cargos for %s: a text of 4 bytes, a text whose length is beyond the end, and values that leave bytes
     * over. */
    static const char good[] = "\0\4here", long_text[] = "\0\37", both[] = "\0\1x";
    hpcw_clog2_cargo cargo = {0};
    hpcw_clog2_cargo_packed(&cargo, good, sizeof good);
    assert_int_equal(hpcw_clog2_cargo_check(&cargo, "%s", NULL), HPCW_OK);
    assert_int_equal(hpcw_clog2_cargo_check(&cargo, "%s%X%X%X", NULL), HPCW_OK);
    assert_int_equal(hpcw_clog2_cargo_check(&cargo, "%s%X%X%X%d", NULL), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_cargo_check(&cargo, NULL, NULL), HPCW_OK);
    hpcw_clog2_log_cargo(r.timeline, 0, r.mark, &cargo);
    cargo = (hpcw_clog2_cargo){0};
    hpcw_clog2_cargo_packed(&cargo, long_text, sizeof long_text);
    hpcw_clog2_log_cargo(r.timeline, 0, r.mark, &cargo);
    cargo = (hpcw_clog2_cargo){0};
    hpcw_clog2_cargo_i16(&cargo, 1);
    hpcw_clog2_cargo_packed(&cargo, both, sizeof both);
    hpcw_clog2_log_cargo(r.timeline, 0, r.mark, &cargo);
    uint64_t kinds[12];
    recording_finish(&r, READ_CLOG2_STRICT, kinds);
    assert_int_equal(kinds[HPCW_CLOG2_WITH_CARGO], 1);
    assert_int_equal(kinds[HPCW_CLOG2_BARE], 2);
    assert_int_equal(r.report.bad_cargo, 2);
}

static void a_log_gets_its_last_path(void **state) {
    (void)state;
    struct recording r;
    recording_open(&r);
    hpcw_error err;
    assert_int_equal(hpcw_clog2_log_rename(r.log, NULL, &err), HPCW_EINVAL);
    char first[sizeof r.place.path];
    memcpy(first, r.place.path, sizeof first);
    (void)snprintf(r.place.path, sizeof r.place.path, "%s/renamed.clog2", r.place.directory);
    must(hpcw_clog2_log_rename(r.log, r.place.path, &err), &err);
    some_work(&r, 1);
    must(hpcw_clog2_log_finish(r.log, NULL, &err), &err);
    assert_int_equal(hpcw_clog2_log_rename(r.log, first, &err), HPCW_ESTATE);
    hpcw_clog2_log_free(r.log);
    uint64_t kinds[12];
    assert_true(count_records(r.place.path, READ_CLOG2_STRICT, kinds) > 0);
    assert_int_equal(count_entries(r.place.directory), 1);
    scratch_remove(r.place.directory);
}

/* If the log's name is a symbolic link at the open or the rename, the link is followed. A link made later is
 * replaced, and its target stays. */
static void links_are_followed_at_the_open(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        const bool renamed = i % 2 == 1, planted = i / 2 == 1;
        struct recording r;
        recording_open(&r);
        hpcw_clog2_log_free(r.log);
        hpcw_error err;
        char target[sizeof r.place.path], link[sizeof r.place.path], first[sizeof r.place.path];
        uint64_t kinds[12];
        (void)snprintf(target, sizeof target, "%s/target", r.place.directory);
        (void)snprintf(first, sizeof first, "%s/first", r.place.directory);
        memcpy(link, r.place.path, sizeof link);
        if (!planted) {
            assert_int_equal(symlink("target", link), 0);
        }
        must(hpcw_clog2_log_open(renamed ? first : link, NULL, &r.options, &r.log, &err), &err);
        must(hpcw_clog2_log_state(r.log, "Compute", "blue", NULL, &r.compute, &err), &err);
        must(hpcw_clog2_log_thread(r.log, &r.timeline, &err), &err);
        some_work(&r, 1);
        if (renamed) {
            must(hpcw_clog2_log_rename(r.log, link, &err), &err);
        }
        if (planted) {
            FILE *victim = fopen(target, "w");
            assert_non_null(victim);
            assert_int_equal(fclose(victim), 0);
            assert_int_equal(symlink("target", link), 0);
        }
        must(hpcw_clog2_log_finish(r.log, NULL, &err), &err);
        hpcw_clog2_log_free(r.log);
        struct stat st;
        assert_int_equal(lstat(link, &st), 0);
        assert_int_equal(S_ISLNK(st.st_mode) != 0, !planted);
        assert_int_equal(stat(target, &st), 0);
        assert_int_equal(st.st_size == 0, planted);
        assert_true(count_records(planted ? link : target, READ_CLOG2_STRICT, kinds) > 0);
        scratch_remove(r.place.directory);
    }
}

static void paths_of_no_file_are_refused(void **state) {
    (void)state;
    static const char *const path[] = {"", "/", "sub/", ".", "sub/.", ".."};
    struct recording r;
    hpcw_clog2_log *log;
    hpcw_error err;
    recording_open(&r);
    for (size_t i = 0; i < COUNT(path); i++) {
        assert_int_equal(hpcw_clog2_log_open(path[i], NULL, NULL, &log, &err), HPCW_EINVAL);
        assert_int_equal(hpcw_clog2_log_rename(r.log, path[i], &err), HPCW_EINVAL);
    }
    char name[300];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_int_equal(hpcw_clog2_log_open(name, NULL, NULL, &log, &err), HPCW_ERANGE);
    assert_int_equal(hpcw_clog2_log_rename(r.log, name, &err), HPCW_ERANGE);
    uint64_t kinds[12];
    some_work(&r, 1);
    recording_finish(&r, READ_CLOG2_STRICT, kinds); /* the log has the path that it was opened with */
}

/* The message of a failed finish advises a command with the log's last path. Each argument is quoted as one
 * word of the shell. */
static void the_command_names_the_last_path(void **state) {
    (void)state;
    struct recording r;
    recording_open(&r);
    hpcw_error err;
    some_work(&r, 1);
    must(hpcw_clog2_log_rename(r.log, "/no/such/it's last.clog2", &err), &err);
    assert_int_equal(hpcw_clog2_log_finish(r.log, NULL, &err), HPCW_ENOENT);
    assert_non_null(strstr(err.message, "hpcgen recover --output 'it'\\''s last.clog2' /"));
    assert_non_null(strstr(err.message, "/app.clog2."));
    hpcw_clog2_log_free(r.log);
    scratch_remove(r.place.directory);
}

static void wrong_definitions_are_refused(void **state) {
    (void)state;
    struct recording r;
    recording_open(&r);
    hpcw_error err;
    int32_t id;
    assert_int_equal(hpcw_clog2_log_state(r.log, "", "red", NULL, &id, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_log_state(r.log, "a name that is longer than 31 bytes", "red", NULL, &id, &err),
                     HPCW_ERANGE);
    assert_int_equal(hpcw_clog2_log_state(r.log, "x", "reddish", NULL, &id, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_log_state(r.log, "x", "red", "100%", &id, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_log_state(r.log, "x", "red", NULL, NULL, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_log_state(NULL, "x", "red", NULL, &id, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_log_solo(r.log, "x", NULL, NULL, &id, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_log_known_state(r.log, 300, "x", "red", NULL, &err), HPCW_EINVAL);
    hpcw_clog2_comm_id comm_id;
    uint32_t comm;
    hpcw_clog2_log_comm_id(r.log, &comm_id);
    assert_int_equal(hpcw_clog2_log_comm(r.timeline, 9, HPCW_CLOG2_INTRA, &comm_id, 0, &comm, &err),
                     HPCW_EINVAL);
    assert_int_equal(hpcw_clog2_log_comm(r.timeline, 0, HPCW_CLOG2_INTRA, &comm_id, 1, &comm, &err),
                     HPCW_EINVAL);
    for (uint32_t i = 2; i < HPCW_CLOG2_STATES; i++) {
        must(hpcw_clog2_log_state(r.log, "more", "red", NULL, &id, &err), &err);
    }
    assert_int_equal(id, 2499);
    assert_int_equal(hpcw_clog2_log_state(r.log, "one too many", "red", NULL, &id, &err), HPCW_ERANGE);
    assert_non_null(strstr(err.message, "expected at most 2200 states"));
    some_work(&r, 1);
    hpcw_clog2_log_begin(r.timeline, 0, id);
    hpcw_clog2_log_end(r.timeline, 0, id);
    uint64_t kinds[12];
    recording_finish(&r, READ_CLOG2_STRICT, kinds);
    assert_int_equal(kinds[HPCW_CLOG2_STATE_DEF], 2200);
}

static void wrong_options_are_refused(void **state) {
    (void)state;
    hpcw_clog2_log *log;
    hpcw_error err;
    for (int i = 0; i < 7; i++) {
        hpcw_clog2_log_options o;
        hpcw_clog2_log_options_init(&o);
        o.clock = i == 0 ? (hpcw_clog2_clock)9 : i == 1 ? HPCW_CLOG2_CLOCK_CALLER : o.clock;
        o.sync = i == 2 ? (hpcw_clog2_sync)9 : o.sync;
        o.sync_rounds = i == 3 ? 0 : 1;
        o.memory = i == 4 ? 1 << 20 : o.memory;
        o.block_size = i == 5 ? 100 : o.block_size;
        assert_int_equal(hpcw_clog2_log_open(i == 6 ? NULL : "x", NULL, &o, &log, &err), HPCW_EINVAL);
        assert_null(log);
    }
    hpcw_clog2_log_free(NULL);
    assert_int_equal(hpcw_clog2_log_finish(NULL, NULL, &err), HPCW_EINVAL);
}

static void more_than_memory_is_spilled(void **state) {
    (void)state;
    struct recording r;
    recording_open(&r);
    hpcw_clog2_log_free(r.log);
    r.options.memory = 8 << 20;
    recording_begin(&r);
    const int times = 20 * CHUNK_EVENTS / 2 + 17;
    some_work(&r, times);
    uint64_t kinds[12];
    recording_finish(&r, READ_CLOG2_STRICT, kinds);
    /* A wait for the disk is recorded as a state, at most one for each chunk of records. */
    uint64_t waits = kinds[HPCW_CLOG2_BARE] - 2 * (uint64_t)times;
    assert_true(waits % 2 == 0 && waits / 2 <= 20 && (waits > 0) == (r.report.stalls > 0));
    assert_int_equal(r.report.lost, 0);
    assert_true(r.report.spilled > 10 << 20);
}

static void more_than_memory_is_lost_without_a_directory(void **state) {
    (void)state;
    struct recording r;
    recording_open(&r);
    hpcw_clog2_log_free(r.log);
    r.options.memory = 8 << 20;
    recording_begin(&r);
    hpcw_clog2_log_free(r.log);
    hpcw_error err;
    hpcw_clog2_log_options o = r.options;
    o.directory = NULL;
    must(hpcw_clog2_log_open(r.place.path, NULL, &o, &r.log, &err), &err);
    must(hpcw_clog2_log_state(r.log, "Compute", "blue", NULL, &r.compute, &err), &err);
    must(hpcw_clog2_log_thread(r.log, &r.timeline, &err), &err);
    assert_int_equal(hpcw_clog2_log_flush(r.timeline, &err), HPCW_ESTATE);
    const int times = 10 * CHUNK_EVENTS / 2;
    some_work(&r, times);
    uint64_t kinds[12];
    recording_finish(&r, 0, kinds);
    assert_int_equal(kinds[HPCW_CLOG2_BARE] + r.report.lost, 2 * times);
    assert_true(r.report.lost > 0 && kinds[HPCW_CLOG2_BARE] >= 3 * CHUNK_EVENTS);
}

/* Makes a directory for a recording and starts a child process, which begins the recording. Returns 0 in the child,
 * as fork does. */
static pid_t record_in_child(struct recording *r) {
    recording_open(r);
    hpcw_clog2_log_free(r->log);
    const pid_t child = fork();
    assert_true(child >= 0);
    return child;
}

static void assert_succeeds(pid_t child) {
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A process ends without finishing its log, so that its local file remains. */
static void leave_local(struct recording *r) {
    const pid_t child = record_in_child(r);
    if (child == 0) {
        recording_begin(r);
        some_work(r, 10);
        _exit(0);
    }
    assert_succeeds(child);
}

/* With a limit on file sizes, as batch systems set it, records stay in memory, and SIGXFSZ does not end the
 * program. */
static void a_limit_of_file_sizes_is_reported(void **state) {
    (void)state;
    struct recording r;
    const pid_t child = record_in_child(&r);
    if (child == 0) {
        const struct rlimit limit = {1 << 20, 1 << 20};
        hpcw_error err;
        bool good = setrlimit(RLIMIT_FSIZE, &limit) == 0;
        recording_begin(&r);
        some_work(&r, 1000);
        good = good && hpcw_clog2_log_flush(r.timeline, &err) == HPCW_ENOSPC &&
               hpcw_clog2_log_finish(r.log, &r.report, &err) == HPCW_OK && r.report.unsaved == 1 &&
               r.report.disk.sys_errno == EFBIG && r.report.lost == 0;
        _exit(good ? 0 : 1);
    }
    assert_succeeds(child);
    uint64_t kinds[12];
    (void)count_records(r.place.path, READ_CLOG2_STRICT, kinds);
    assert_int_equal(kinds[HPCW_CLOG2_BARE], 2000);
    assert_int_equal(count_entries(r.place.directory), 1);
    scratch_remove(r.place.directory);
}

/* The program changes its directory. The local file is found again, whether the log is written or not. */
static void a_relative_directory_stays(void **state) {
    (void)state;
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    for (int written = 0; written < 2; written++) {
        struct recording r;
        recording_open(&r);
        hpcw_clog2_log_free(r.log);
        hpcw_error err;
        hpcw_clog2_log_options o = r.options;
        o.directory = ".";
        assert_int_equal(chdir(r.place.directory), 0);
        must(hpcw_clog2_log_open(written ? r.place.path : "/no/such/log", NULL, &o, &r.log, &err), &err);
        must(hpcw_clog2_log_state(r.log, "Compute", "blue", NULL, &r.compute, &err), &err);
        must(hpcw_clog2_log_thread(r.log, &r.timeline, &err), &err);
        some_work(&r, 10);
        assert_int_equal(chdir(before), 0);
        hpcw_status s = hpcw_clog2_log_finish(r.log, NULL, &err);
        assert_int_equal(s, written ? HPCW_OK : HPCW_ENOENT);
        assert_true(written || strstr(err.message, "hpcgen recover --output log /") != NULL);
        hpcw_clog2_log_free(r.log);
        /* only the log or the local file is left */
        assert_int_equal(count_entries(r.place.directory), 1);
        scratch_remove(r.place.directory);
    }
}

/* The log is larger than the limit on file sizes. The program continues and gets an error. */
static void a_log_beyond_the_limit_is_a_failure(void **state) {
    (void)state;
    struct recording r;
    const pid_t child = record_in_child(&r);
    if (child == 0) {
        const struct rlimit limit = {64 << 10, 64 << 10};
        hpcw_error err;
        bool good = setrlimit(RLIMIT_FSIZE, &limit) == 0;
        recording_begin(&r);
        some_work(&r, 10000);
        good = good && hpcw_clog2_log_finish(r.log, &r.report, &err) != HPCW_OK && err.sys_errno == EFBIG;
        hpcw_clog2_log_free(r.log);
        _exit(good ? 0 : 1);
    }
    assert_succeeds(child);
    assert_int_not_equal(access(r.place.path, F_OK), 0);
    scratch_remove(r.place.directory);
}

/* ---- threads --------------------------------------------------------------------------------------------- */

struct worker {
    struct recording *recording;
    int times;
};

static void *work(void *context) {
    struct worker *w = context;
    struct recording r = *w->recording;
    hpcw_error err;
    if (hpcw_clog2_log_thread(r.log, &r.timeline, &err) != HPCW_OK) {
        return NULL;
    }
    some_work(&r, w->times);
    return context;
}

static void threads_record_at_the_same_time(void **state) {
    (void)state;
    enum { THREADS = 4 };
    for (int spill = 0; spill < 2; spill++) {
        struct recording r;
        recording_open(&r);
        hpcw_clog2_log_free(r.log);
        r.options.memory = spill ? 8 << 20 : 256 << 20;
        recording_begin(&r);
        pthread_t thread[THREADS];
        struct worker w = {&r, 2 * CHUNK_EVENTS};
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_create(&thread[i], NULL, work, &w), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            void *result;
            assert_int_equal(pthread_join(thread[i], &result), 0);
            assert_non_null(result);
        }
        uint64_t kinds[12];
        recording_finish(&r, READ_CLOG2_STRICT, kinds);
        assert_true(kinds[HPCW_CLOG2_BARE] >= THREADS * 4 * CHUNK_EVENTS);
        assert_int_equal(r.report.lost, 0);
        assert_int_equal(r.report.spilled > 0, spill);
    }
}

/* ---- after a crash --------------------------------------------------------------------------------------- */

static char *find_local(const char *directory, char *path, size_t size) {
    DIR *d = opendir(directory);
    assert_non_null(d);
    struct dirent *e;
    char *found = NULL;
    while ((e = readdir(d)) != NULL) {
        if (strstr(e->d_name, ".local") != NULL) {
            (void)snprintf(path, size, "%s/%s", directory, e->d_name);
            found = path;
        }
    }
    (void)closedir(d);
    return found;
}

static uint64_t bare_records(const char *path) {
    uint64_t kinds[12];
    (void)count_records(path, 0, kinds);
    return kinds[HPCW_CLOG2_BARE];
}

static void write_local(const char *local, const unsigned char *bytes, size_t size) {
    FILE *f = fopen(local, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

/* Checks that recovery refuses a local file without all records of rank 0. */
static void assert_is_incomplete(const struct recording *r, const char *const *locals) {
    hpcw_error err;
    assert_int_equal(hpcw_clog2_recover(r->place.path, locals, 1, false, NULL, &err), HPCW_EMISMATCH);
    assert_non_null(strstr(err.message, "incomplete: expected all records of rank 0"));
}

/* A process is killed while it records. Its local file has all records. */
static void what_was_recorded_survives(void **state) {
    (void)state;
    struct recording r;
    recording_open(&r);
    hpcw_clog2_log_free(r.log);
    const int times = 3 * CHUNK_EVENTS / 2 + 5;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        recording_begin(&r);
        some_work(&r, times);
        hpcw_error err;
        if (hpcw_clog2_log_flush(r.timeline, &err) != HPCW_OK) {
            _exit(1);
        }
        some_work(&r, 1000);
        (void)kill(getpid(), SIGKILL);
        _exit(2);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    char local[600];
    assert_non_null(find_local(r.place.directory, local, sizeof local));
    const char *locals[] = {local, local};
    hpcw_clog2_recovered found;
    hpcw_error err;
    must(hpcw_clog2_recover(r.place.path, locals, 1, false, &found, &err), &err);
    assert_int_equal(found.files, 1);
    assert_int_equal(found.truncated, 0);
    assert_int_equal(found.left_out, 0);
    /* A wait for the disk is recorded as a state, at most one for each chunk of records. */
    const uint64_t most = bare_records(r.place.path), waits = most - 2 * (uint64_t)(times + 1000);
    assert_true(waits % 2 == 0 && waits / 2 <= 4);
    assert_int_equal(hpcw_clog2_recover(r.place.path, locals, 2, false, &found, &err), HPCW_EFORMAT);
    assert_non_null(strstr(err.message, "expected every rank once"));
    /* A local file that is truncated at any byte gives a log of the remaining records. */
    size_t size;
    unsigned char *bytes = read_file(local, &size);
    assert_non_null(bytes);
    uint64_t before = 0;
    for (size_t cut = 200; cut < size; cut += size / 23) {
        write_local(local, bytes, cut);
        if (hpcw_clog2_recover(r.place.path, locals, 1, false, NULL, &err) == HPCW_OK) {
            /* the cut removes only an unused window (mapped part of the file) */
            assert_int_equal(bare_records(r.place.path), most);
            break;
        }
        assert_is_incomplete(&r, locals);
        if (hpcw_clog2_recover(r.place.path, locals, 1, true, &found, &err) != HPCW_OK) {
            fail_msg("cut at %zu: %s", cut, err.message);
        }
        assert_int_equal(found.truncated, 1);
        if (found.records > 10) {
            uint64_t bare = bare_records(r.place.path);
            assert_true(bare >= before && bare <= most);
            /* The log has all records before the cut. Other 16-byte words before the cut are definitions, or
             * unused ends of windows (mapped parts of the file): of the last window, and of windows left early
             * at a wait for the disk. */
            assert_true(bare + size / 16 - most + 1 >= cut / 16);
            before = bare;
        }
    }
    assert_true(before > 0);
    /* Loses a page, as if it had not reached the disk: the first or the sixth of a used window (mapped part of
     * the file). */
    size_t window = CHUNK_EVENTS * 16;
    while (window < size && bytes[window] == 0) {
        window += CHUNK_EVENTS * 16;
    }
    for (size_t page = window; page <= window + 20480; page += 20480) {
        unsigned char lost[4096];
        assert_true(page + sizeof lost <= size);
        memcpy(lost, bytes + page, sizeof lost);
        memset(bytes + page, 0, sizeof lost);
        write_local(local, bytes, size);
        assert_is_incomplete(&r, locals);
        memcpy(bytes + page, lost, sizeof lost);
    }
    write_local(local, bytes, size);
    must(hpcw_clog2_recover(r.place.path, locals, 1, false, &found, &err), &err);
    free(bytes);
    scratch_remove(r.place.directory);
}

/* A local file of a dead process of this host is found, one of another host is not: its process may be alive. */
static void what_is_left_is_of_this_host(void **state) {
    (void)state;
    struct recording r;
    leave_local(&r);
    char local[600], pattern[1024];
    assert_non_null(find_local(r.place.directory, local, sizeof local));
    recording_begin(&r);
    for (unsigned char change = 0; change < 2; change++) {
        FILE *f = fopen(local, "r+b");
        assert_non_null(f);
        assert_int_equal(fseek(f, 104, SEEK_SET), 0);
        int byte = fgetc(f);
        assert_true(byte != EOF && fseek(f, 104, SEEK_SET) == 0 && fputc(byte ^ change, f) != EOF);
        assert_int_equal(fclose(f), 0);
        assert_int_equal(hpcw_clog2_log_left(r.log, pattern, sizeof pattern), change == 0);
    }
    hpcw_clog2_log_free(r.log);
    scratch_remove(r.place.directory);
}

/* No log gets the name of a local file, whose records may be nowhere else, at the open or later, or when it is
 * recovered or written without a recording. */
static void a_local_file_is_not_replaced(void **state) {
    (void)state;
    struct recording r;
    leave_local(&r);
    char local[600], path[2][700];
    const char *const locals[] = {local};
    hpcw_clog2_log *log;
    hpcw_error err;
    assert_non_null(find_local(r.place.directory, local, sizeof local));
    (void)snprintf(path[0], sizeof path[0], "%s", local);
    (void)snprintf(path[1], sizeof path[1], "%s/link", r.place.directory);
    assert_int_equal(symlink(local, path[1]), 0);
    recording_begin(&r);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(hpcw_clog2_log_open(path[i], NULL, NULL, &log, &err), HPCW_EEXIST);
        assert_null(log);
        assert_non_null(strstr(err.message, ": expected an output, got the local file of a recorded run"));
        assert_int_equal(hpcw_clog2_log_rename(r.log, path[i], &err), HPCW_EEXIST);
        assert_int_equal(hpcw_clog2_recover(path[i], locals, 1, true, NULL, &err), HPCW_EEXIST);
        hpcw_clog2_options options;
        hpcw_clog2_options_init(&options);
        options.ranks = 1;
        assert_int_equal(hpcw_clog2_write(path[i], &options, NULL, 0, &err), HPCW_EEXIST);
    }
    some_work(&r, 10);
    assert_int_equal(hpcw_clog2_log_finish(r.log, NULL, &err), HPCW_OK);
    hpcw_clog2_log_free(r.log);
    assert_int_equal(access(r.place.path, F_OK), 0);
    assert_int_equal(hpcw_clog2_recover(r.place.path, locals, 1, false, NULL, &err), HPCW_OK);
    scratch_remove(r.place.directory);
}

/* There is space for the records of one thread. A second thread is refused, but a later definition finds space. */
static void definitions_after_a_refusal_survive(void **state) {
    (void)state;
    struct recording r;
    const pid_t child = record_in_child(&r);
    if (child == 0) {
        const struct rlimit limit = {4 << 20, 4 << 20};
        hpcw_error err;
        hpcw_clog2_timeline *other;
        bool good = setrlimit(RLIMIT_FSIZE, &limit) == 0;
        recording_begin(&r);
        good = good && hpcw_clog2_log_thread(r.log, &other, &err) == HPCW_OK &&
               hpcw_clog2_log_flush(other, &err) == HPCW_ENOSPC &&
               hpcw_clog2_log_state(r.log, "Late", "red", NULL, &r.compute, &err) == HPCW_OK;
        some_work(&r, 1000);
        _exit(good ? 0 : 1);
    }
    assert_succeeds(child);
    char local[600];
    assert_non_null(find_local(r.place.directory, local, sizeof local));
    const char *locals[] = {local};
    hpcw_clog2_recovered found;
    hpcw_error err;
    assert_is_incomplete(&r, locals);
    must(hpcw_clog2_recover(r.place.path, locals, 1, true, &found, &err), &err);
    assert_int_equal(found.left_out, 0);
    assert_int_equal(found.truncated, 1);
    assert_int_equal(bare_records(r.place.path), 2000);
    scratch_remove(r.place.directory);
}

static void what_is_no_local_file_is_refused(void **state) {
    (void)state;
    struct place p;
    place_make(&p);
    hpcw_error err;
    char other[600];
    (void)snprintf(other, sizeof other, "%s/other", p.directory);
    const char *locals[] = {other};
    assert_int_equal(hpcw_clog2_recover(p.path, locals, 1, false, NULL, &err), HPCW_ENOENT);
    char text[400];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    const char *const contents[] = {"", "x", "CLOG-02.44", text};
    for (size_t i = 0; i < COUNT(contents); i++) {
        FILE *f = fopen(other, "wb");
        assert_non_null(f);
        assert_true(fputs(contents[i], f) >= 0);
        assert_int_equal(fclose(f), 0);
        assert_int_equal(hpcw_clog2_recover(p.path, locals, 1, false, NULL, &err), HPCW_EFORMAT);
        assert_non_null(strstr(err.message, "expected"));
    }
    assert_int_equal(hpcw_clog2_recover(p.path, NULL, 0, false, NULL, &err), HPCW_EINVAL);
    scratch_remove(p.directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_recorded),
        cmocka_unit_test(strange_clocks),
        cmocka_unit_test(misuse_is_counted),
        cmocka_unit_test(packed_cargo_is_checked_by_its_format),
        cmocka_unit_test(a_log_gets_its_last_path),
        cmocka_unit_test(links_are_followed_at_the_open),
        cmocka_unit_test(paths_of_no_file_are_refused),
        cmocka_unit_test(the_command_names_the_last_path),
        cmocka_unit_test(wrong_definitions_are_refused),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(more_than_memory_is_spilled),
        cmocka_unit_test(more_than_memory_is_lost_without_a_directory),
        cmocka_unit_test(a_limit_of_file_sizes_is_reported),
        cmocka_unit_test(a_relative_directory_stays),
        cmocka_unit_test(a_log_beyond_the_limit_is_a_failure),
        cmocka_unit_test(threads_record_at_the_same_time),
        cmocka_unit_test(what_was_recorded_survives),
        cmocka_unit_test(what_is_left_is_of_this_host),
        cmocka_unit_test(a_local_file_is_not_replaced),
        cmocka_unit_test(definitions_after_a_refusal_survive),
        cmocka_unit_test(what_is_no_local_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
