/* SPDX-License-Identifier: BSD-3-Clause */
/* Workloads in Lua: calls, names that a program can use, and errors. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen/sim/lua/memory.h"
#include "gen/sim/lua/program.h"
#include "gen/sim/lua/watch.h"
#include "libwriter/base/mem.h"

enum { RANKS = 6, PHASES = 2 };

struct workload {
    struct model_machine machine;
    struct model_network network;
    struct sim_lua *lua;
    struct sim_lua_result result;
    hpcw_error err;
    uint64_t hash; /* hash of all events of rank 0 */
};

static hpcw_status load_of(void *context, uint32_t rank, uint32_t phase, uint64_t *time_ns, hpcw_error *err) {
    (void)context;
    (void)err;
    *time_ns = 1000000 * (1 + (rank + phase) % 3);
    return HPCW_OK;
}

static bool checkpoint_of(void *context, uint32_t rank, uint32_t phase, uint64_t *bytes) {
    (void)context;
    *bytes = 1000 + rank;
    return phase == PHASES - 1;
}

/* An edge of 1000 bytes from each rank to the next, in a circle. */
static hpcw_status edges_of(void *context, uint32_t rank, uint32_t phase, struct sim_lua_edges *edges,
                            hpcw_error *err) {
    static struct sim_lua_edge edges_of_rank[RANKS][2];
    struct sim_lua_edge *edge = edges_of_rank[rank];
    (void)context;
    (void)phase;
    (void)err;
    edge[0] = (struct sim_lua_edge){(rank + 1) % RANKS, 1000};
    edge[1] = (struct sim_lua_edge){(rank + RANKS - 1) % RANKS, 1000};
    *edges = (struct sim_lua_edges){&edge[0], &edge[1], 1, 1};
    return HPCW_OK;
}

static hpcw_status hash_event(void *context, const struct sim_event *event, hpcw_error *err) {
    struct workload *w = context;
    (void)err;
    if (event->rank == 0) {
        w->hash = (w->hash ^ event->time_ns ^ event->bytes << 20 ^ event->what) * UINT64_C(0x9E3779B97F4A7C15);
    }
    return HPCW_OK;
}

/* Runs a Lua text with one setting, or with none if key is NULL. */
static hpcw_status run_sized(struct workload *w, const char *text, size_t size, uint32_t ranks, const char *key,
                             const char *value, uint64_t order) {
    static const struct sim_lua_host host = {NULL, load_of, checkpoint_of, edges_of, NULL};
    const struct sim_lua_setting setting = {key, value};
    const struct sim_lua_text t = {.name = "test.lua",
                                   .text = text,
                                   .size = size,
                                   .setting = &setting,
                                   .settings = key != NULL,
                                   .ranks = ranks,
                                   .phases = PHASES,
                                   .seed = 7,
                                   .patience_s = strstr(text, "while true") != NULL ? 0.1 : 0};
    struct model_machine_params p;
    hpcw_error err;
    *w = (struct workload){.hash = 1};
    assert_int_equal(model_machine_params_init(&p, model_machine_preset[0].name, &err), HPCW_OK);
    assert_int_equal(model_machine_init(&w->machine, &p, ranks, 1, &err), HPCW_OK);
    model_network_init(&w->network, &w->machine);
    struct sim_options options = {
        .network = &w->network, .phases = PHASES, .observer = {w, hash_event, NULL}, .order = order};
    sim_constants_init(&options.constants);
    options.checkpoints = strstr(text, "checkpoint()") != NULL;
    hpcw_status s = sim_lua_open(&t, &w->lua, &w->err);
    s = s == HPCW_OK ? sim_lua_run(w->lua, &options, &host, &w->result, &w->err) : s;
    return s;
}

static void end(struct workload *w) {
    sim_lua_free(w->lua);
    model_machine_free(&w->machine);
}

static void expect_good(const char *text) {
    struct workload w;
    if (run_sized(&w, text, strlen(text), RANKS, NULL, NULL, 0) != HPCW_OK) {
        fail_msg("%s\n%s", text, w.err.message);
    }
    end(&w);
}

static void expect_bad_sized(const char *text, size_t size, const char *expected) {
    struct workload w;
    const hpcw_status s = run_sized(&w, text, size, RANKS, NULL, NULL, 0);
    if (s == HPCW_OK || strstr(w.err.message, expected) == NULL || strchr(w.err.message, '\n') != NULL) {
        fail_msg("expected \"%s\", got \"%s\"", expected, s == HPCW_OK ? "no error" : w.err.message);
    }
    end(&w);
}

static void expect_bad(const char *text, const char *expected) {
    expect_bad_sized(text, strlen(text), expected);
}

/* Text of a function `run` with these lines, which then ends all phases. */
#define RUN(lines) "function run()\n" lines "\nfor _ = 1, phases do next_phase() end end"

/* ---- what works ---- */

static void test_calls(void **state) {
    (void)state;
    expect_good(
        "parameters = { bytes = 100 }\n"
        "states = { 'Ring', 'Inner' }\n"
        "function run()\n"
        "  local right, left = (rank + 1) % size, (rank + size - 1) % size\n"
        "  for phase = 1, phases do\n"
        "    work(0.5) compute(1e-6) work(0.5)\n"
        "    state('Ring', function()\n"
        "      local a, b = irecv(left, 1), isend(right, parameters.bytes, 1)\n"
        "      local from, bytes = wait(a)\n"
        "      assert(from == left and bytes == 100)\n"
        "      wait(b)\n"
        "      state('Inner', function() from, bytes = sendrecv(right, 1000000, left) end)\n"
        "      assert(from == left and bytes == 1000000)\n"
        "    end)\n"
        "    waitall { irecv(left), isend(right, 8), irecv(none), isend(none, 8) }\n"
        "    local one = irecv(left, 7)\n"
        "    isend(right, 16, 7) irecv(left, 8) isend(right, 32, 8)\n"
        "    wait(one) waitall() waitall()\n"
        "    for _ = 1, 40 do wait(isend(right, 1, 9)) irecv(left, 9) end\n"
        "    waitall()\n"
        "    local open, index = { irecv(left, 4), irecv(right, 4) }\n"
        "    send(right, 4, 4) send(left, 5, 4)\n"
        "    for _ = 1, 2 do\n"
        "      index, from, bytes = waitany(open)\n"
        "      assert(from == left and bytes == 4 or from == right and bytes == 5)\n"
        "      table.remove(open, index)\n"
        "    end\n"
        "    index, from, bytes = waitany { isend(none, 8) }\n"
        "    assert(index == 1 and from == none and bytes == 0)\n"
        "    from, bytes = recv(none)\n"
        "    assert(from == none and bytes == 0)\n"
        "    barrier() bcast(8, 1) bcast(8) reduce(8, 2) allreduce(65536)\n"
        "    gather(8, 1) scatter(100) allgather(8) alltoall(1000)\n"
        "    gatherv({ first = 8, step = 2 }, 1) scatterv { 1, 2, 3, 4, 5, 6 }\n"
        "    allgatherv { first = 100, step = 0 } alltoallv { 1000, 0, 0, 0, 0, 7 }\n"
        "    if rank == 0 then for _ = 2, size do assert(recv(ANY, 3) > 0) end else send(0, rank, 3) end\n"
        "    file_open() file_write(1 << 20) file_read(100) file_close()\n"
        "    checkpoint() checkpoint()\n"
        "    next_phase()\n"
        "  end\n"
        "end\n");
}

/* A state may begin when the horizon (the time at which ranks stop) is before the rank's time. */
static void test_state_after_horizon(void **state) {
    (void)state;
    static const char text[] = "states = { 'Outer', 'Inner' }\n" RUN(
        "compute(100)\n"
        "for _ = 1, 1000 do\n"
        "  state('Outer', function() bcast(8) state('Inner', function() compute(1e-6) end) end)\n"
        "end");
    uint64_t hash = 0;
    for (uint64_t order = 0; order < 5; order++) {
        struct workload w;
        assert_int_equal(run_sized(&w, text, sizeof text - 1, 100, NULL, NULL, order), HPCW_OK);
        assert_true(order == 0 || w.hash == hash);
        hash = w.hash;
        end(&w);
    }
}

/* A stall delays the return of the rank's next call, once. In the next barrier, all ranks wait for this rank. */
static void test_stall(void **state) {
    struct workload w;
    (void)state;
    const char *text = RUN("if rank == 1 then stall(0.5) stall(0.25) end barrier()");
    assert_int_equal(run_sized(&w, text, strlen(text), RANKS, NULL, NULL, 0), HPCW_OK);
    assert_in_range(w.result.end_ns, 750000000, 750100000);
    end(&w);
    text = RUN("if rank == 1 then stall(0.5) end barrier() barrier()");
    assert_int_equal(run_sized(&w, text, strlen(text), RANKS, NULL, NULL, 0), HPCW_OK);
    assert_in_range(w.result.end_ns, 500000000, 500100000);
    end(&w);
    expect_bad(RUN("stall(-1)"), "stall: expected seconds from 0 to 31536000, got -1");
}

static void test_cart(void **state) {
    (void)state;
    expect_good(RUN("local g = cart { 2 }\n" /* 3 x 2 */
                    "if rank == 0 then\n"
                    "  assert(g:neighbour(1, 1) == 2 and g:neighbour(2, 1) == 1)\n"
                    "  assert(g:neighbour(1, -1) == none and g:neighbour(2, 2) == none)\n"
                    "  local t = cart { 2, periodic = true }\n"
                    "  assert(t:neighbour(1, -1) == 4 and t:neighbour(1, 7) == 2 and t:neighbour(1, -4) == 4)\n"
                    "end"));
    expect_bad(RUN("cart { 4 }"),
               "test.lua:2: rank 0: cart: expected a number of dimensions from 1 to 3, got 4");
    expect_bad(RUN("cart { 2, 3 }"),
               "cart: expected one number, that of dimensions, as in cart { 2 }, got 2 numbers: "
               "the sides follow from the number of ranks");
    expect_bad(RUN("cart { 1 }:neighbour(2, 1)"), "neighbour: expected a dimension from 1 to 1, got 2");
}

/* A rank sends all its edges of the load data, in any number of messages. */
static void test_edges(void **state) {
#define TAKE                                                                                                   \
    "local to, from = edges()\n"                                                                               \
    "local above, below\n"                                                                                     \
    "for _ = 1, 2 do\n"                                                                                        \
    "  for other, bytes in to do assert(above ~= other or bytes == 1000) above = other end\n"                  \
    "  for other in from do below = other end\n"                                                               \
    "end\n"                                                                                                    \
    "assert(above == (rank + 1) % size and below == (rank - 1) % size)\n"
    (void)state;
    expect_good(RUN(TAKE "local r = { irecv(below), isend(above, 400), irecv(below) }\n"
                         "send(above, 600) waitall(r)"));
    expect_bad(RUN(TAKE "local r = irecv(below) send(above, 999) wait(r)"),
               "next_phase: expected messages for all edges of the phase, got none for 1 bytes to rank ");
    expect_bad(RUN("edges() edges()"), "edges: expected one call in a phase, got another one");
    expect_bad("function run() for _ = 1, phases do next_phase() end edges() end",
               "edges: expected a call in phases 0 to 1, got one after the last one");
    static const char *const uses[] = {"local a = edges ()", "x=edges", "--[[ ]] edges()"};
    static const char *const no_use[] = {"-- edges()", "local s = 'edges()'", "my_edges()",
                                         "edges2()",   "[[edges]]",           ""};
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
        assert_true(sim_lua_uses_edges(uses[i], strlen(uses[i])));
    }
    for (size_t i = 0; i < sizeof no_use / sizeof no_use[0]; i++) {
        assert_false(sim_lua_uses_edges(no_use[i], strlen(no_use[i])));
    }
}

/* Columns of a grid of 3 x 2 ranks, with their ranks in reverse order. */
static void test_communicators(void **state) {
    (void)state;
    expect_good(RUN("assert(world.rank == rank and world.size == size)\n"
                    "local g = cart { 2 }\n"
                    "assert(g:side(1) == 3 and g:side(2) == 2)\n"
                    "assert(g:position(1) == rank // 2 and g:position(2) == rank % 2)\n"
                    "local column = split(g:position(2), -rank)\n"
                    "assert(column.size == 3 and column.rank == 2 - rank // 2)\n"
                    "local up, down = (column.rank + 1) % 3, (column.rank + 2) % 3\n"
                    "local from, bytes = column:sendrecv(up, 100 + column.rank, down)\n"
                    "assert(from == down and bytes == 100 + down)\n"
                    "if column.rank == 0 then\n"
                    "  assert(column:recv(ANY) == 2) send(2, 8)\n"
                    "elseif column.rank == 2 then\n"
                    "  column:send(0, 8)\n"
                    "end\n"
                    "if rank == 2 then recv(ANY) recv(ANY) end\n"
                    "column:bcast(8, 2) column:allreduce(8) barrier()\n"
                    "local pair = column:split(column.rank < 2 and 0 or none)\n"
                    "assert(column.rank == 2 and pair == none or pair.size == 2)\n"
                    "local all = world:dup()\n"
                    "assert(all.rank == rank and all.size == size) all:barrier()"));
    expect_bad(RUN("local row = split(rank // 2)\nrow:send(2, 8)"),
               "test.lua:3: rank 0: send: expected a rank from 0 to 1 or none, got 2");
    expect_bad(RUN("world:reduce(8, 6)"), "reduce: expected a root from 0 to 5, got 6");
    expect_bad(RUN("world:nosuch()"), "expected rank, size or a call of a communicator, got nosuch");
    expect_bad(RUN("world.send(0, 8)"), "expected a communicator before the colon, got number");
    expect_bad(RUN("world.send(none, 8)"), "expected a communicator before the colon, got none");
    expect_bad(RUN("split(none):barrier()"), "rank 0: barrier: expected a communicator or a grid, got none");
    expect_bad(RUN("send(ANY.size, 8)"), "rank 0: size: expected a communicator or a grid, got ANY");
    expect_bad(RUN("world.size = 3"), "attempt to index a communicator value");
    expect_bad(RUN("split(-1)"), "split: expected a colour or none from 0 to 2147483647, got -1");
    expect_bad(RUN("split()"), "split: expected a colour or none, got no value");
    expect_bad(RUN("if rank == 0 then bcast(8) end"),
               "rank 0: expected bcast of all 6 ranks of its communicator, got that of 1");
    expect_bad(RUN("repeat dup() until false"),
               "dup: expected at most 256 communicators of a rank, got one more");
}

/* Ranks have their own variables, and cannot change shared tables. */
static void test_ranks_share_nothing(void **state) {
    (void)state;
    expect_good("count = 0\nlocal own = 0\n" RUN("count = count + 1 own = own + 1\n"
                                                 "barrier()\n"
                                                 "assert(count == 1 and own == 1)"));
    expect_bad(RUN("parameters.x = 1"),
               "test.lua:2: rank 0: expected no change of a table that all ranks share");
    expect_bad(RUN("math.pi = 3"), "expected no change of a table that all ranks share");
    expect_bad(RUN("table.insert(string, 1)"), "expected no change of a table that all ranks share");
    expect_bad("function send() end\n" RUN(""), "attempt to assign to const variable 'send'");
}

/* Programs can use only the names on a list. */
static void test_positive_list(void **state) {
    static const char *const gone[] = {
        "io",           "os",          "package",     "debug",        "coroutine",      "load",
        "loadstring",   "dofile",      "require",     "setmetatable", "collectgarbage", "next",
        "pcall",        "_G",          "print",       "rawset",       "getmetatable",   "string.dump",
        "string.gsub",  "string.find", "string.pack", "math.sin",     "math.random",    "table.move",
        "table.unpack", "('x').dump",  "('x').gsub",  "utf8"};
    (void)state;
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
        char text[200];
        (void)snprintf(text, sizeof text, RUN("assert(%s == nil)"), gone[i]);
        expect_good(text);
    }
    expect_bad(RUN("local x = 2\nx = x ^ 2"), "test.lua:3: expected no operator ^");
    expect_good(RUN("local x = '^' .. \"\\\"^\" .. [[\n^]] -- ^\n--[==[ ^ ]] ]==]"));
    expect_bad(RUN("string.format('%d %p', 1, {})"), "string.format: expected no %p, which is an address");
    expect_bad(RUN("tostring()"), "bad argument #1 to 'tostring' (value expected)");
    expect_bad(RUN("tostring({})"), "tostring: expected a number, a text, a boolean or nil, got a table");
    expect_bad(RUN("string.format('%s', run)"),
               "string.format: expected numbers, texts and booleans, got a function");
    expect_bad(RUN("string.format('%5p', 1)"), "string.format: expected no %p");
}

static void test_library(void **state) {
    (void)state;
    expect_good(RUN(
        "assert(math.exp(0) == 1 and math.log(8, 2) == 3 and math.abs(math.log(math.exp(1)) - 1) < 1e-15)"));
    expect_good(RUN("assert(('ab'):rep(3, '-') == 'ab-ab-ab' and ('abc'):sub(2, 2) == 'b' and #'x' == 1)"));
    expect_good(RUN("assert(string.format('%d %s %5.2f', 3, 'x', 0.5) == '3 x  0.50' and tostring(1) == '1')"));
    /* pairs() gives numbers, texts, booleans in this order, each sorted. */
    expect_good(RUN("local t, seen = { b = 1, a = 2, [true] = 3, [10] = 4, [2.5] = 5, [1] = 6, ab = 7 }, ''\n"
                    "for k, v in pairs(t) do seen = seen .. v end\n"
                    "assert(seen == '6542713' or error(seen))"));
    /* table.sort is stable, with and without a function. */
    expect_good(RUN("local t = {}\n"
                    "for i = 1, 100 do t[i] = { key = i * 7 % 10, number = i } end\n"
                    "table.sort(t, function(a, b) return a.key < b.key end)\n"
                    "for i = 2, 100 do\n"
                    "  local a, b = t[i - 1], t[i]\n"
                    "  assert(a.key < b.key or a.key == b.key and a.number < b.number)\n"
                    "end\n"
                    "local u = { 3, 1, 2 }\n"
                    "table.sort(u)\n"
                    "assert(table.concat(u, ',') == '1,2,3')"));
}

static void test_settings(void **state) {
    static const char text[] = "parameters = { n = 4, x = 0.5, name = 'a', on = false }\n" RUN(
        "compute(parameters.n * 1e-3) if parameters.on then compute(1) end");
    static const struct {
        const char *key, *value, *expected;
    } row[] = {
        {"n", "5", NULL},
        {"x", "7", NULL},
        {"name", "b c", NULL},
        {"on", "yes", NULL},
        {"n", "1.5", "test.lua: workload.n: expected a whole number, got 1.5"},
        {"x", "y", "test.lua: workload.x: expected a number, got y"},
        {"on", "1", "test.lua: workload.on: expected yes or no, got 1"},
        {"m", "1", "test.lua: workload.m: unknown parameter: expected one of n, name, on, x"},
        {"nmae", "1",
         "test.lua: workload.nmae: unknown parameter: expected one of n, name, on, x; did you mean name?"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct workload w;
        const hpcw_status s = run_sized(&w, text, sizeof text - 1, 1, row[i].key, row[i].value, 0);
        if (row[i].expected != NULL) {
            assert_int_equal(s, HPCW_EINVAL);
            assert_string_equal(w.err.message, row[i].expected);
        } else {
            assert_int_equal(s, HPCW_OK);
            const uint64_t end_ns = i == 0 ? 5000000 : i == 3 ? 1004000000 : 4000000;
            /* in the second phase, the rank does nothing */
            assert_int_equal(w.result.end_ns, end_ns + 50);
        }
        end(&w);
    }
}

/* Random numbers depend on the seed, the rank and the number of the call, not on the order in which ranks run. */
static void test_chance(void **state) {
    static const char text[] = RUN("for _ = 1, 20 do\n"
                                   "  local x = random()\n"
                                   "  assert(x >= 0 and x < 1)\n"
                                   "  compute(x * 1e-4) compute((4 + normal()) * 1e-5)\n"
                                   "  if rank == 0 then for _ = 2, size do local f = recv(ANY) send(f, 8) end "
                                   "else send(0, 8) recv(0) end\n"
                                   "end");
    (void)state;
    uint64_t hash = 0;
    for (uint64_t order = 0; order < 5; order++) {
        struct workload w;
        assert_int_equal(run_sized(&w, text, sizeof text - 1, RANKS, NULL, NULL, order), HPCW_OK);
        assert_true(order == 0 || w.hash == hash);
        hash = w.hash;
        end(&w);
    }
}

/* ---- bad input ---- */

static void test_wrong_texts(void **state) {
    (void)state;
    expect_bad("", "test.lua: expected a function run, got nil");
    expect_bad("run = 3", "test.lua: expected a function run, got number");
    expect_bad("function run(\n", "test.lua:2: <name> or '...' expected near <eof>");
    expect_bad("end return function(_ENV)", "test.lua:1: <eof> expected near 'end'");
    expect_bad_sized("\033LuaT", 5, "test.lua: expected the text of a workload, got compiled Lua");
    expect_bad("send(0, 8)\n" RUN(""),
               "test.lua:1: send: expected calls in the function run, got one outside of it");
    expect_bad("states = { 3 }\n" RUN(""), "states: expected names of 1 to 31 bytes, got \"3\" as name 1");
    expect_bad("parameters = { {} }\n" RUN(""), "parameters: expected names, got a number as name");
    expect_bad("parameters = { a = {} }\n" RUN(""),
               "parameters.a: expected a number, a text or a boolean, got table");
    char *large = calloc(1, 100 << 20);
    assert_non_null(large);
    memset(large, ' ', (100 << 20) - 1);
    expect_bad(large, "test.lua: expected a workload of at most 1048576 bytes, got 104857599");
    free(large);
}

static void test_wrong_calls(void **state) {
    (void)state;
    expect_bad(RUN("recieve(1)"), "test.lua:2: rank 0: attempt to call a nil value (global 'recieve')");
    expect_bad(
        "parameters = { bytes = 8, size = 4 }\n" RUN("\n\ncompute(1e-9 * (parameters.sise or 1))"),
        "test.lua:5: rank 0: parameters.sise: unknown parameter: expected one of bytes, size; did you mean "
        "size?");
    expect_bad("parameters = { bytes = 8 }\nlocal none = parameters.no\n" RUN(""),
               "test.lua:2: parameters.no: unknown parameter: expected one of bytes");
    expect_bad(RUN("send(0, parameters.bytes)"), "rank 0: parameters.bytes: unknown parameter: expected none");
    expect_bad(RUN("send(0, parameters[1])"), "rank 0: parameters: expected the name of one, got a number");
    expect_bad(RUN("send(6, 8)"), "test.lua:2: rank 0: send: expected a rank from 0 to 5 or none, got 6");
    expect_bad(RUN("send(-1, 8)"), "send: expected a rank from 0 to 5 or none, got -1");
    expect_bad(RUN("\n\nsend(nil, 8)"), "test.lua:4: rank 0: send: expected a rank or none, got nil");
    expect_bad(RUN("send(1.5, 8)"), "send: expected a rank or none, got 1.5");
    expect_bad(RUN("send('1', 8)"), "send: expected a rank or none, got string");
    expect_bad(RUN("send(ANY, 8)"), "send: expected a rank or none, got ANY, which only recv takes");
    expect_bad(RUN("recv(ANY, ANY)"), "recv: expected a tag, got ANY");
    expect_bad(RUN("compute(none)"), "compute: expected seconds, got none");
    expect_bad(RUN("send(world, 8)"), "send: expected a rank or none, got communicator");
    expect_bad(RUN("split(cart { 2 })"), "split: expected a colour or none, got cart");
    expect_bad(RUN("waitall(none)"), "waitall: expected a table of requests, got none");
    expect_bad(RUN("alltoallv(none)"),
               "alltoallv: expected a table of bytes, or { first = ..., step = ... }, got none");
    expect_bad(RUN("state(ANY, f)"), "state: expected a name of the table states, got ANY");
    expect_bad(RUN("cart(none)"), "cart: expected a table, as in cart { 2 }, got none");
    expect_bad(RUN("none[none]()"), "rank 0: none: expected a communicator or a grid, got none");
    expect_bad(RUN("send(0)"), "send: expected a number of bytes, got no value");
    expect_bad(RUN("send(0, 1 << 31)"), "send: expected 0 to 2147483647 bytes, got 2147483648");
    expect_bad(RUN("send(0, 8, -1)"), "send: expected a tag from 0 to 2147483647, got -1");
    expect_bad(RUN("gather(8, 6)"), "gather: expected a root from 0 to 5, got 6");
    expect_bad(RUN("alltoallv { 1, 2 }"), "alltoallv: expected bytes for each of 6 ranks, got 2");
    expect_bad(RUN("gatherv(8)"),
               "gatherv: expected a table of bytes, or { first = ..., step = ... }, got number");
    expect_bad(RUN("scatterv { first = 8 }"), "scatterv: expected bytes as step, got nil");
    expect_bad(RUN("allgatherv { 1, 2, 3, 4, 5, -6 }"), "allgatherv: expected 0 to 2147483647 bytes, got -6");
    expect_bad(RUN("alltoall()"), "alltoall: expected a number of bytes, got no value");
    expect_bad(RUN("work(2)"), "work: expected a share of the phase's load from 0 to 1, got 2");
    expect_bad(RUN("compute(0 / 0)"), "compute: expected seconds from 0 to 31536000, got ");
    expect_bad(RUN("wait(3)"), "wait: expected a request of this rank that it has not waited for, got another");
    expect_bad(RUN("waitany { 3 }"), "waitany: expected a request of this rank that it has not waited for");
    expect_bad(RUN("local r = irecv(0, 1) waitany { r, r }"),
               "waitany: expected a request of this rank that it");
    expect_bad(RUN("waitany {}"), "waitany: expected at least one request, got none");
    expect_bad(RUN("local r = isend(none, 8) wait(r) wait(irecv(rank)) "),
               "rank 0 in wait from rank 0 with tag 0");
    expect_bad(RUN("state('No', barrier)"), "state: expected a name of the table states, got No");
    expect_bad("states = { 'Ring' }\n" RUN("state('Ring', 3)"), "state: expected a function, got number");
    expect_bad(RUN("table.sort({ 2, 1 }, function() barrier() end)"),
               "attempt to yield across a C-call boundary");
    expect_bad(RUN("cart({ 2 }, true)"), "cart: expected at most 1 argument, got 2");
    expect_bad(RUN("cart { 2, period = true }"), "cart: expected the name periodic, got period");
    expect_bad(RUN("cart { 2 }:position(1, 2)"), "position: expected at most 1 argument, got 2");
    expect_bad(RUN("cart { 2 }:side(1, 2)"), "side: expected at most 1 argument, got 2");
    expect_bad(RUN("cart { 2 }:neighbour(1, 1, 1)"), "neighbour: expected at most 2 arguments, got 3");
    expect_bad(
        RUN("allreduce(8, dup())"),
        "allreduce: expected at most 1 argument, got 2: a communicator is written before the call, as in "
        "comm:allreduce()");
    expect_bad(RUN("world:barrier(world)"), "barrier: expected at most 0 arguments, got 1: a communicator is");
    expect_bad(RUN("bcast(world, 8)"), "bcast: expected a number of bytes, got communicator");
    expect_bad(RUN("for _ in pairs({ [{}] = 1 }) do end"),
               "pairs: expected keys that are numbers, texts or booleans, got a table");
    expect_bad(RUN("error('so it is')"), "test.lua:2: rank 0: so it is");
    expect_bad(RUN("error({})"), "expected a text as error, got another value");
}

/* A call refuses an argument more than it takes, so no argument is ignored. */
static void test_too_many_arguments(void **state) {
    static const struct {
        const char *call;
        int most;
    } calls[] = {
        {"edges", 0},      {"send", 3},       {"recv", 2},      {"sendrecv", 4},   {"isend", 3},
        {"irecv", 2},      {"wait", 1},       {"waitall", 1},   {"waitany", 1},    {"barrier", 0},
        {"bcast", 2},      {"reduce", 2},     {"allreduce", 1}, {"gather", 2},     {"scatter", 2},
        {"allgather", 1},  {"alltoall", 1},   {"gatherv", 2},   {"scatterv", 2},   {"allgatherv", 1},
        {"alltoallv", 1},  {"checkpoint", 0}, {"file_open", 0}, {"file_write", 1}, {"file_read", 1},
        {"file_close", 0}, {"work", 1},       {"compute", 1},   {"stall", 1},      {"next_phase", 0},
        {"state", 2},      {"random", 0},     {"split", 2},     {"dup", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        const int most = calls[i].most;
        char text[128], expected[128];
        (void)snprintf(text, sizeof text, RUN("%s(%s)"), calls[i].call, &"1, 1, 1, 1, 1"[3 * (4 - most)]);
        (void)snprintf(expected, sizeof expected, "%s: expected at most %d argument%s, got %d", calls[i].call,
                       most, most == 1 ? "" : "s", most + 1);
        expect_bad(text, expected);
    }
}

static void test_wrong_programs(void **state) {
    (void)state;
    expect_bad(RUN("if rank == 3 then recv(4, 9) end"),
               "deadlock: expected all ranks to end, got 1 that wait for ever: "
               "rank 3 in recv from rank 4 with tag 9, but rank 4 has ended (test.lua:2)");
    expect_bad(RUN("if rank == 1 then barrier() else allreduce(8) end"),
               "test.lua:2: rank 1: barrier: expected the collective call of rank 0, allreduce with root 0 and "
               "8 bytes, got barrier with root 0 and 0 bytes");
    expect_bad("function run() next_phase() end", "test.lua: rank 0: expected 2 calls of next_phase, got 1");
    expect_bad(RUN("next_phase()"), "rank 0: next_phase: expected 2 phases, got one more");
    expect_bad("function run() for _ = 1, phases do next_phase() end work(1) end",
               "work: expected work in phases 0 to 1, got some after the last one");
    expect_bad(RUN("if rank == 0 then checkpoint() end"),
               "rank 0: expected a call of checkpoint in each phase, got 0 of the 1 that are due");
}

/* Endless loops: in Lua, in one call of a library, without calls, with calls, and outside of run. */
static void test_endless(void **state) {
    (void)state;
    expect_bad(RUN("while true do end"),
               "test.lua:2: rank 0: expected the end of a phase within 0.1 s of processor time, got none");
    expect_bad(RUN("\nwhile true do compute(0) end"),
               "test.lua:3: rank 0: expected the end of a phase within 0.1 s");
    expect_bad(RUN("while true do compute(1) end"), "expected the end of a phase within 0.1 s");
    expect_bad("while true do end\n" RUN(""), "test.lua:1: expected the end of a phase within 0.1 s");
    expect_good(RUN("assert(string.rep('', 1 << 60) == '')"));
    expect_good(RUN("assert(#string.rep('x', 1 << 20) == 1 << 20)"));
    expect_bad(RUN("string.rep('x', (1 << 20) + 1)"), "string.rep: expected a result of at most 1048576 bytes");
    expect_bad(RUN("string.rep('x', 1 << 60)"), "string.rep: expected a result of at most 1048576 bytes");
    expect_bad(RUN("local t = {} for i = 1, 1048577 do t[i] = 0 end waitall(t)"),
               "waitall: expected at most 1048576 requests, got 1048577");
    expect_bad(RUN("table.concat({}, '', 1, 1 << 60)"), "test.lua:2: rank 0: invalid value");
    expect_bad(RUN("local t = { 2, 1 }\ntable.sort(t, function() while true do end end)"),
               "test.lua:3: rank 0: expected the end");
}

static void test_memory(void **state) {
    (void)state;
    expect_bad(RUN("local t = {}\nrepeat t[#t + 1] = { #t } until false"),
               "test.lua:3: rank 0: expected at most 64 MiB of memory for all ranks, got more");
    expect_bad(RUN("local s = 'x'\nrepeat s = s .. s until false"),
               "test.lua:3: rank 0: expected at most 64 MiB");
    expect_bad(RUN("repeat isend(0, 8) until false"),
               "isend: expected at most 1054720 sends and receives under way at once, got more");
    expect_bad("local function f() return f() + 1 end\n" RUN("f()"),
               "test.lua:1: rank 0: expected at most 64 MiB of memory for all ranks, got more");
}

static bool refuse(size_t size) {
    (void)size;
    return false;
}

/* Without memory, a block cannot grow, but can shrink, and keeps its content. */
static void test_blocks(void **state) {
    static const size_t size[] = {2000, 512, 500, 33, 17, 1};
    (void)state;
    for (size_t i = 0; i + 1 < sizeof size / sizeof size[0]; i++) {
        struct sim_lua_memory m = {.limit = 1 << 20};
        char *block = sim_lua_allocate(&m, NULL, 0, size[i]);
        assert_non_null(block);
        memset(block, 'x', size[i]);
        hpcw_i_mem_gate = refuse;
        assert_null(sim_lua_allocate(&m, block, size[i], 3000));
        assert_int_equal(m.used, size[i]);
        char *smaller = sim_lua_allocate(&m, block, size[i], size[i + 1]);
        hpcw_i_mem_gate = NULL;
        assert_non_null(smaller);
        assert_int_equal(m.used, size[i + 1]);
        for (size_t k = 0; k < size[i + 1]; k++) {
            assert_int_equal(smaller[k], 'x');
        }
        if (size[i] > SIM_LUA_SMALL) {
            hpcw_i_free(smaller); /* a large block came from the heap */
        } else {
            assert_null(sim_lua_allocate(&m, smaller, size[i + 1], 0));
            assert_int_equal(m.used, 0);
        }
        sim_lua_memory_free(&m);
    }
}

/* Small blocks allocated in a row are contiguous, in spite of large ones between them. */
static void test_rows(void **state) {
    (void)state;
    struct sim_lua_memory m = {.limit = 1 << 20};
    for (size_t rows = 0; rows < 100; rows++) {
        const char *row = sim_lua_memory_begin_row(&m);
        char *first = sim_lua_allocate(&m, NULL, 0, 20);
        char *large = sim_lua_allocate(&m, NULL, 0, SIM_LUA_SMALL + 1);
        char *second = sim_lua_allocate(&m, NULL, 0, 100);
        assert_ptr_equal(first, row);
        assert_ptr_equal(second, first + 32);
        assert_int_equal(sim_lua_memory_end_row(&m, row), 32 + 112);
        memset(first, 'x', 20);
        memset(second, 'x', 100);
        assert_null(sim_lua_allocate(&m, large, SIM_LUA_SMALL + 1, 0));
        assert_null(sim_lua_allocate(&m, first, 20, 0));
        assert_ptr_equal(sim_lua_allocate(&m, NULL, 0, 20), first);
    }
    sim_lua_memory_free(&m);

    m = (struct sim_lua_memory){.limit = 1 << 20};
    const char *row = sim_lua_memory_begin_row(&m);
    for (size_t bytes = 0; bytes + 512 <= SIM_LUA_ROW; bytes += 512) {
        assert_ptr_equal(sim_lua_allocate(&m, NULL, 0, 512), row + bytes);
    }
    assert_non_null(sim_lua_allocate(&m, NULL, 0, 512));
    assert_int_equal(sim_lua_memory_end_row(&m, row), SIM_LUA_ROW);
    sim_lua_memory_free(&m);
}

/* Any number of ended phases counts as progress, even a multiple of 2^16: 16 phases of 4096 ranks. */
static void test_progress(void **state) {
    struct sim_lua_watch watch;
    hpcw_error err;
    (void)state;
    assert_int_equal(sim_lua_watch_start(&watch, 0.02, &err), HPCW_OK);
    for (int period = 0; period < 3; period++) {
        while (watch.progress != 0) { /* until the watchdog has cleared the count */
        }
        for (uint32_t i = 0; i < UINT32_C(1) << 16; i++) {
            sim_lua_watch_progress(&watch);
        }
        assert_false(watch.tripped);
    }
    sim_lua_watch_stop(&watch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_state_after_horizon),
        cmocka_unit_test(test_stall),
        cmocka_unit_test(test_cart),
        cmocka_unit_test(test_communicators),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_ranks_share_nothing),
        cmocka_unit_test(test_positive_list),
        cmocka_unit_test(test_library),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_chance),
        cmocka_unit_test(test_wrong_texts),
        cmocka_unit_test(test_wrong_calls),
        cmocka_unit_test(test_too_many_arguments),
        cmocka_unit_test(test_wrong_programs),
        cmocka_unit_test(test_endless),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
