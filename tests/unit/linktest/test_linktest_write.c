/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a LinkTest result as in doc/formats/linktest.md, "Examples", and calls that are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <hpcw/hpcw.h>

#include "libwriter/format/linktest/params.h"
#include "tests/support/memory_source.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
static hpcw_linktest_params pair_params(struct memory_source *memory) {
    hpcw_linktest_params p;
    hpcw_linktest_params_init(&p);
    p.tasks = p.count = 2;
    p.git_hash = "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00";
    p.messages = 100;
    p.message_size = 8;
    p.retests = 1;
    p.fs_block_size = 512;
    p.sink_source = memory_source(memory);
    return p;
}

static hpcw_linktest *open_with(const hpcw_linktest_params *p) {
    hpcw_linktest *lt;
    hpcw_error err;
    if (hpcw_linktest_open("x.sion", NULL, p, &lt, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    return lt;
}

/* The result of two tasks in memory. Its data are valid until `lt` is freed. */
struct pair {
    struct memory_source memory;
    hpcw_linktest *lt;
    hpcw_linktest_range times;
    const unsigned char *data;
    size_t size;
};

/* Writes a result, rank 1 first if `backwards`. retest_ps: time of the retest; 0: the caller gives no list. */
static void write_pair(struct pair *w, uint64_t retests, uint64_t retest_ps, bool backwards) {
    static const uint64_t time[2] = {2000000, 2500000};
    hpcw_linktest_params p = pair_params(&w->memory);
    p.retests = retests;
    w->lt = open_with(&p);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t r = backwards ? 1 - i : i;
        assert_int_equal(hpcw_linktest_task(w->lt, r, "n1", (int32_t)r, NULL), HPCW_OK);
        assert_int_equal(hpcw_linktest_timings(w->lt, r, &time[r], NULL, 0, NULL), HPCW_OK);
    }
    hpcw_linktest_slow slow = {0};
    size_t n = 7;
    assert_int_equal(hpcw_linktest_slowest(w->lt, retests == 0 ? NULL : &slow, &n, NULL), HPCW_OK);
    assert_int_equal(n, retests);
    assert_true(n == 0 ||
                (slow.from == 1 && slow.to == 0 && slow.time_ps == time[1] && slow.retest_ps == time[1]));
    slow.retest_ps = retest_ps;
    assert_int_equal(hpcw_linktest_end_permutation(w->lt, "2024-05-01T10:00:00Z", "2024-05-01T10:00:01Z",
                                                   retest_ps == 0 ? NULL : &slow, NULL),
                     HPCW_OK);
    assert_int_equal(hpcw_linktest_figures(w->lt, &w->times, NULL, NULL), HPCW_OK);
    assert_int_equal(hpcw_linktest_close(w->lt, NULL), HPCW_OK);
    w->data = memory_source_data(&w->memory, 0, &w->size);
}

/* The order of the calls does not matter. tests/docs compares the bytes with the format page. */
static void order_of_tasks(void **state) {
    (void)state;
    struct pair forth = {.data = NULL}, back = {.data = NULL};
    write_pair(&forth, 1, 2125000, false);
    write_pair(&back, 1, 2125000, true);
    assert_true(back.times.count == 2 && back.times.min_ps == 2000000 && back.times.max_ps == 2500000 &&
                back.times.sum_low == 4500000 && back.times.sum_high == 0);
    assert_int_equal(forth.size, back.size);
    assert_memory_equal(forth.data, back.data, back.size);
    hpcw_linktest_free(forth.lt);
    hpcw_linktest_free(back.lt);
}

/* If the caller gives no list of retests, retested times equal original times. With 0 retests, the stream has
 * no list. */
static void without_retests(void **state) {
    (void)state;
    struct pair one = {.data = NULL}, none = {.data = NULL};
    write_pair(&one, 1, 0, false);
    write_pair(&none, 0, 0, false);
    /* Data begin at 1088 + 2 * 16 bytes, rounded up to 512. The list follows the start time and three figures. */
    const hpcw_linktest_params p = pair_params(&one.memory);
    const size_t list =
        1536 + (size_t)hpcw_i_linktest_header_size(&p) + HPCW_I_LINKTEST_CHUNK + sizeof "n1" + 56;
    assert_memory_equal(one.data + list, one.data + list + 8, 8);
    assert_memory_equal(one.data + list + 32, "2024-05-01T10:00:01Z", 21);
    assert_memory_equal(none.data + list, "2024-05-01T10:00:01Z", 21);
    hpcw_linktest_free(one.lt);
    hpcw_linktest_free(none.lt);
}

/* Sizes by the layout of doc/formats/linktest.md: one permutation, ten retests, mode "mpi", host names of 15
 * bytes. */
static void sizes_as_described(void **state) {
    (void)state;
    static const struct {
        uint32_t tasks;
        uint64_t other;
        double payload, file;
    } cases[] = {
        {64, 1040, 67.1e3, 267e3},         {1024, 16400, 16.8e6, 21.0e6},      {4096, 65552, 268.5e6, 285.3e6},
        {16384, 262160, 4.295e9, 4.363e9}, {65536, 1048592, 68.72e9, 68.99e9},
    };
    hpcw_linktest_params p;
    hpcw_linktest_params_init(&p);
    const uint64_t header = hpcw_i_linktest_header_size(&p);
    for (size_t i = 0; i < COUNT(cases); i++) {
        p.tasks = cases[i].tasks;
        uint64_t first = hpcw_linktest_stream_size(&p, 0, 15);
        uint64_t other = hpcw_linktest_stream_size(&p, 1, 15);
        assert_true(first == other + header + 408 && other == cases[i].other);
        double payload = (double)first + (double)other * (p.tasks - 1);
        assert_true(payload > 0.998 * cases[i].payload && payload < 1.002 * cases[i].payload);
        hpcw_sion_shape shape;
        uint64_t stride = (first + 4095) / 4096 * 4096 + (other + 4095) / 4096 * 4096 * (p.tasks - 1);
        assert_int_equal(hpcw_sion_shape_of(p.tasks, 4096, stride, 1, UINT64_MAX, &shape, NULL), HPCW_OK);
        assert_true((double)shape.file_size > 0.998 * cases[i].file &&
                    (double)shape.file_size < 1.002 * cases[i].file);
    }
    /* Two tasks have two connections, so the list has two retests, not ten. */
    p.tasks = 2;
    assert_true(hpcw_linktest_stream_size(&p, 0, 15) == 48 + header + 88 + 2 * 32);
    assert_true(hpcw_linktest_stream_size(&p, 1, 15) == 48);
    p.tasks = 4096;
    p.permutations = 3;
    p.all_to_all = true;
    assert_true(hpcw_linktest_stream_size(&p, 1, 15) == 17 + 15 + 3 * (16 * 4095 + 8));
    assert_true(hpcw_linktest_stream_size(&p, 0, 15) ==
                header + 17 + 15 + 3 * (16 * 4095 + 8) + 3 * (88 + 24 + 320));
    assert_true(hpcw_linktest_permutations(&p) == 3 && hpcw_linktest_steps(&p) == 4095);
    p.bisection = true;
    assert_int_equal(hpcw_linktest_steps(&p), 2048);
}

/* ---- refusals ---- */

static hpcw_linktest_params good_params(void) {
    hpcw_linktest_params p;
    hpcw_linktest_params_init(&p);
    p.tasks = p.count = 4;
    return p;
}

static void assert_bad(const hpcw_linktest_params *p, hpcw_status want, const char *what) {
    hpcw_error err = {.message = ""};
    assert_int_equal(hpcw_linktest_params_check(p, &err), want);
    assert_int_equal(err.code, want);
    if (strstr(err.message, what) == NULL) {
        fail_msg("expected \"%s\" in: %s", what, err.message);
    }
    hpcw_linktest *lt = (hpcw_linktest *)&err;
    assert_int_equal(hpcw_linktest_open("x.sion", NULL, p, &lt, NULL), want);
    assert_null(lt);
}

static void bad_parameters(void **state) {
    (void)state;
    hpcw_linktest_params p = good_params();
    assert_int_equal(hpcw_linktest_params_check(&p, NULL), HPCW_OK);
    assert_bad(NULL, HPCW_EINVAL, "got NULL");
#define BAD(field, value, status, what)                                                                        \
    p = good_params();                                                                                         \
    p.field = (value);                                                                                         \
    assert_bad(&p, status, what)
    BAD(tasks, 0, HPCW_EINVAL, "tasks: expected an even number of at least 2, got 0");
    BAD(tasks, 5, HPCW_EINVAL, "tasks: expected an even number of at least 2, got 5");
    BAD(mode, NULL, HPCW_EINVAL, "mode");
    BAD(mode, "MPI", HPCW_EINVAL, "mode: expected mpi, tcp, ucp, ibverbs, psm2 or cuda, got \"MPI\"");
    BAD(git_hash, "c0ffee", HPCW_EINVAL,
        "linktest.git_hash: expected 40 lower-case hex digits, got \"c0ffee\"");
    BAD(git_hash, "C0FFEE00c0ffee00c0ffee00c0ffee00c0ffee00", HPCW_EINVAL, "git_hash");
    BAD(git_hash, "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee000", HPCW_EINVAL, "git_hash");
    BAD(kernel, (hpcw_linktest_kernel)3, HPCW_EINVAL, "kernel: expected 0 to 2, got 3");
    BAD(messages, 0, HPCW_EINVAL, "messages: expected at least 1");
    BAD(message_buffers, 0, HPCW_EINVAL, "linktest.message_buffers: expected at least 1");
    BAD(buffer_seed, 9, HPCW_EINVAL, "linktest.buffer_seed: expected 0 without linktest.random_buffers, got 9");
    BAD(task_seed, 9, HPCW_EINVAL, "linktest.task_seed: expected 0 without linktest.permutations, got 9");
    BAD(files, 0, HPCW_EINVAL, "files: expected at least 1");
    BAD(max_host_size, 1, HPCW_EINVAL, "linktest.max_host_size");
    BAD(max_host_size, HPCW_LINKTEST_MAX_HOST + 2, HPCW_EINVAL, "linktest.max_host_size");
    BAD(permutations, UINT64_C(1) << 45, HPCW_ERANGE,
        "linktest.permutations: expected streams of at most 2^48");
    BAD(permutations, UINT64_MAX, HPCW_ERANGE, "linktest.permutations");
#undef BAD
    p = good_params();
    p.mode = "tcp";
    p.all_to_all = true;
    assert_bad(&p, HPCW_EINVAL, "linktest.all_to_all: expected no with linktest.mode = tcp, got yes");
}

/* Errors that only hpcw_linktest_open detects. */
static void bad_opens(void **state) {
    (void)state;
    hpcw_error err;
    hpcw_linktest *lt = (hpcw_linktest *)&err;
    hpcw_linktest_params p = good_params();
    assert_int_equal(hpcw_linktest_open(NULL, NULL, &p, &lt, &err), HPCW_EINVAL);
    assert_null(lt);
    assert_int_equal(hpcw_linktest_open("x.sion", NULL, &p, NULL, &err), HPCW_EINVAL);
    p.count = 3;
    assert_int_equal(hpcw_linktest_open("x.sion", NULL, &p, &lt, &err), HPCW_EMISMATCH);
    assert_non_null(strstr(err.message, "x.sion: expected 4 tasks on all processes together, got 3"));
    p = good_params();
    p.files = 5;
    assert_int_equal(hpcw_linktest_open("x.sion", NULL, &p, &lt, &err), HPCW_EINVAL);
    p = good_params();
    p.set_files = 2; /* 2 files of a set of 1 */
    assert_int_equal(hpcw_linktest_open("x.sion", NULL, &p, &lt, &err), HPCW_EINVAL);
    p.files = 2;
    p.set_files = 1; /* file 0 has 2 of the 4 tasks */
    assert_int_equal(hpcw_linktest_open("x.sion", NULL, &p, &lt, &err), HPCW_EMISMATCH);
    assert_non_null(strstr(err.message, "expected the 2 tasks of its files, got 4"));
    assert_null(lt);
}

static void wrong_calls(void **state) {
    (void)state;
    struct memory_source memory = {0};
    hpcw_linktest_params p = pair_params(&memory);
    p.tasks = p.count = 4;
    p.all_to_all = true;
    p.permutations = 2;
    p.retests = 4;
    hpcw_linktest *lt = open_with(&p);
    hpcw_error err = {.message = ""};
    hpcw_linktest_slow slow[4];
    size_t n;
    const uint64_t good[3] = {1, 2, (UINT64_C(1) << 52) - 1};
#define REFUSED(call, status, what)                                                                            \
    do {                                                                                                       \
        assert_int_equal(call, status);                                                                        \
        assert_int_equal(err.code, status);                                                                    \
        if (strstr(err.message, what) == NULL) {                                                               \
            fail_msg("expected \"%s\" in: %s", what, err.message);                                             \
        }                                                                                                      \
    } while (0)
    /* Tasks. */
    REFUSED(hpcw_linktest_task(NULL, 0, "n", 0, &err), HPCW_EINVAL, "got NULL");
    REFUSED(hpcw_linktest_task(lt, 4, "n", 0, &err), HPCW_EINVAL, "expected a task of this process, got 4");
    REFUSED(hpcw_linktest_task(lt, 0, NULL, 0, &err), HPCW_EINVAL, "host name");
    REFUSED(hpcw_linktest_task(lt, 0, "", 0, &err), HPCW_EINVAL, "host name");
    REFUSED(hpcw_linktest_task(lt, 0, "n", -1, &err), HPCW_EINVAL, "core >= 0");
    REFUSED(hpcw_linktest_task(lt, 0, "a b", 0, &err), HPCW_EINVAL, "printable ASCII");
    REFUSED(hpcw_linktest_task(lt, 0, "n\xc3\xa4", 0, &err), HPCW_EINVAL, "printable ASCII");
    static const char long_name[] = "0123456789012345678901234567890123456789012345678901234567890123";
    REFUSED(hpcw_linktest_task(lt, 0, long_name, 0, &err), HPCW_ERANGE, "at most 63 bytes");
    REFUSED(hpcw_linktest_timings(lt, 0, good, NULL, 1, &err), HPCW_ESTATE, "x.sion: task 0: its host");
    for (uint32_t r = 0; r < 4; r++) {
        assert_int_equal(hpcw_linktest_task(lt, r, long_name + 1, 0, &err), HPCW_OK);
    }
    REFUSED(hpcw_linktest_task(lt, 3, "n", 0, &err), HPCW_ESTATE, "task 3: its host was given before");
    /* Timings. */
    REFUSED(hpcw_linktest_timings(NULL, 0, good, NULL, 1, &err), HPCW_EINVAL, "got NULL");
    REFUSED(hpcw_linktest_timings(lt, 9, good, NULL, 1, &err), HPCW_EINVAL, "got 9");
    REFUSED(hpcw_linktest_timings(lt, 0, NULL, NULL, 1, &err), HPCW_EINVAL, "got NULL");
    REFUSED(hpcw_linktest_timings(lt, 0, good, NULL, 0, &err), HPCW_EINVAL, "all-to-all");
    REFUSED(hpcw_linktest_timings(lt, 0, good, NULL, UINT64_C(1) << 52, &err), HPCW_EINVAL, "all-to-all");
    REFUSED(hpcw_linktest_timings(lt, 0, (uint64_t[]){1, 0, 1}, NULL, 1, &err), HPCW_EINVAL,
            "task 0, step 1: expected a time of 1 to 2^52 - 1 ps, got 0");
    REFUSED(hpcw_linktest_timings(lt, 0, (uint64_t[]){1, 1, UINT64_C(1) << 52}, NULL, 1, &err), HPCW_EINVAL,
            "step 2");
    REFUSED(hpcw_linktest_timings(lt, 1, good, (uint32_t[]){0, 1, 2}, 1, &err), HPCW_EINVAL,
            "task 1, step 1: expected another task below 4, got 1");
    REFUSED(hpcw_linktest_timings(lt, 1, good, (uint32_t[]){0, 2, 4}, 1, &err), HPCW_EINVAL, "got 4");
    for (uint32_t r = 0; r < 3; r++) {
        assert_int_equal(hpcw_linktest_timings(lt, r, good, NULL, 1, &err), HPCW_OK);
    }
    REFUSED(hpcw_linktest_timings(lt, 2, good, NULL, 1, &err), HPCW_ESTATE, "stored before");
    /* Ends. */
    REFUSED(hpcw_linktest_slowest(lt, slow, &n, &err), HPCW_ESTATE, "task 3 has none");
    REFUSED(hpcw_linktest_end_permutation(lt, "s", "t", NULL, &err), HPCW_ESTATE, "task 3 has none");
    REFUSED(hpcw_linktest_figures(lt, NULL, NULL, &err), HPCW_ESTATE, "none");
    REFUSED(hpcw_linktest_close(lt, &err), HPCW_ESTATE, "expected 2 ended permutations");
    assert_int_equal(hpcw_linktest_timings(lt, 3, good, NULL, 1, &err), HPCW_OK);
    REFUSED(hpcw_linktest_slowest(NULL, slow, &n, &err), HPCW_EINVAL, "got NULL");
    REFUSED(hpcw_linktest_slowest(lt, NULL, &n, &err), HPCW_EINVAL, "array");
    REFUSED(hpcw_linktest_slowest(lt, slow, NULL, &err), HPCW_EINVAL, "array");
    REFUSED(hpcw_linktest_end_permutation(NULL, "s", "t", NULL, &err), HPCW_EINVAL, "got NULL");
    REFUSED(hpcw_linktest_end_permutation(lt, NULL, "t", NULL, &err), HPCW_EINVAL, "times");
    REFUSED(hpcw_linktest_end_permutation(lt, "t", "s", NULL, &err), HPCW_EINVAL, "in order");
    REFUSED(hpcw_linktest_end_permutation(lt, "01234567890123456789012345678901", "t", NULL, &err), HPCW_EINVAL,
            "at most 31 characters");
    assert_int_equal(hpcw_linktest_end_permutation(lt, "s", "t", NULL, &err), HPCW_OK);
    /* Refused: a second permutation that starts before the first one ends, and a third permutation. */
    REFUSED(hpcw_linktest_close(lt, &err), HPCW_ESTATE, "expected 2 ended permutations and one close, got 1");
    for (uint32_t r = 0; r < 4; r++) {
        assert_int_equal(hpcw_linktest_timings(lt, r, good, NULL, 1, &err), HPCW_OK);
    }
    REFUSED(hpcw_linktest_end_permutation(lt, "s", "u", NULL, &err), HPCW_EINVAL, "not before \"t\"");
    assert_int_equal(hpcw_linktest_end_permutation(lt, "t", "t", NULL, &err), HPCW_OK);
    REFUSED(hpcw_linktest_end_permutation(lt, "u", "u", NULL, &err), HPCW_ESTATE, "have ended");
    REFUSED(hpcw_linktest_timings(lt, 0, good, NULL, 1, &err), HPCW_ESTATE, "have ended");
    REFUSED(hpcw_linktest_slowest(lt, slow, &n, &err), HPCW_ESTATE, "have ended");
    assert_int_equal(hpcw_linktest_close(lt, &err), HPCW_OK);
    REFUSED(hpcw_linktest_close(lt, &err), HPCW_ESTATE, "second close");
    REFUSED(hpcw_linktest_close(NULL, &err), HPCW_EINVAL, "got NULL");
    REFUSED(hpcw_linktest_figures(NULL, NULL, NULL, &err), HPCW_EINVAL, "NULL");
    assert_int_equal(hpcw_linktest_figures(lt, NULL, NULL, NULL), HPCW_OK);
    assert_int_equal(hpcw_linktest_first_rank(lt), 0);
    assert_int_equal(hpcw_linktest_first_rank(NULL), 0);
    hpcw_linktest_free(lt);
    hpcw_linktest_free(NULL);
}

/* A process that gives up states a reason, which is kept. */
static void abandoning(void **state) {
    (void)state;
    struct memory_source memory = {0};
    hpcw_linktest_params p = pair_params(&memory);
    hpcw_linktest *lt = open_with(&p);
    hpcw_error reason = {.code = HPCW_EIO, .message = "the network is gone"};
    hpcw_error err;
    hpcw_linktest_abandon(lt, &reason);
    reason.code = HPCW_ERANGE;
    hpcw_linktest_abandon(lt, &reason); /* the first reason is kept */
    assert_int_equal(hpcw_linktest_end_permutation(lt, "s", "t", NULL, &err), HPCW_EIO);
    assert_string_equal(err.message, "x.sion: the network is gone");
    REFUSED(hpcw_linktest_task(lt, 0, "n", 0, &err), HPCW_ESTATE, "broken");
    REFUSED(hpcw_linktest_end_permutation(lt, "s", "t", NULL, &err), HPCW_ESTATE, "broken");
    REFUSED(hpcw_linktest_close(lt, &err), HPCW_ESTATE, "broken");
    hpcw_linktest_free(lt);
    hpcw_linktest_abandon(NULL, &reason);
    lt = open_with(&p);
    hpcw_linktest_abandon(lt, NULL);
    REFUSED(hpcw_linktest_end_permutation(lt, "s", "t", NULL, &err), HPCW_ESTATE, "the program abandoned it");
    hpcw_linktest_free(lt);
}

static void wrong_completions(void **state) {
    (void)state;
    hpcw_linktest_params p = good_params();
    p.fs_block_size = 512;
    hpcw_linktest_slow slow[4] = {{0}};
    hpcw_linktest_summary good = {"s", "t", {1, 1, 1, 1, 0}, {1, 1, 1, 1, 0}, slow};
    hpcw_error err;
    REFUSED(hpcw_linktest_complete("none.sion", &p, 3, &good, &err), HPCW_ENOENT, "none.sion: cannot open");
    REFUSED(hpcw_linktest_complete(NULL, &p, 3, &good, &err), HPCW_EINVAL, "expected a path");
    REFUSED(hpcw_linktest_complete("x", NULL, 3, &good, &err), HPCW_EINVAL, "NULL");
    REFUSED(hpcw_linktest_complete("x", &p, 3, NULL, &err), HPCW_EINVAL, "summaries");
    REFUSED(hpcw_linktest_complete("x", &p, 1, &good, &err), HPCW_EINVAL, "host name of 2 to 64");
    REFUSED(hpcw_linktest_complete("x", &p, 65, &good, &err), HPCW_EINVAL, "host name of 2 to 64");
    hpcw_linktest_summary bad[4] = {good, good, good, good};
    bad[0].start = NULL;
    bad[1].end = "01234567890123456789012345678901";
    bad[2].times.count = 0;
    bad[3].slow = NULL;
    for (size_t i = 0; i < COUNT(bad); i++) {
        REFUSED(hpcw_linktest_complete("x", &p, 3, &bad[i], &err), HPCW_EINVAL, "x: summary 0");
    }
    p.fs_block_size = 0;
    REFUSED(hpcw_linktest_complete("x", &p, 3, &good, &err), HPCW_EINVAL, "block size");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_tasks),     cmocka_unit_test(without_retests),
        cmocka_unit_test(sizes_as_described), cmocka_unit_test(bad_parameters),
        cmocka_unit_test(bad_opens),          cmocka_unit_test(wrong_calls),
        cmocka_unit_test(abandoning),         cmocka_unit_test(wrong_completions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
