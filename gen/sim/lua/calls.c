/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of a workload. They have MPI's names in lower case. Where a call waits, the coroutine yields. */
#include <inttypes.h>
#include <string.h>

#include "gen/model/draw/grid.h"
#include "gen/sim/lua/private.h"
#include "libwriter/base/array.h"
#include "libwriter/base/rng.h"

/* Addresses that stand for the constants `none` and `ANY`, so that these differ from all other values. */
static const char none_mark = 0;
static const char any_mark = 0;

/* Kinds of objects, and the names of their metatables. */
enum { COMM_OBJECT = 1, CART_OBJECT };
#define COMM "communicator"
#define CART "cart"

/* Longest time of one computation, in seconds: a year. */
#define MOST_SECONDS 31536000.0

/* Largest number of a table's values on Lua's stack at once. Lua guarantees room for twice as many. */
enum { AT_ONCE = LUA_MINSTACK / 2 };

/* Largest number of requests in a call. The watch (watch.h) cannot interrupt a call, so it must end soon. */
enum { MOST_REQUESTS = 1 << 20 };

/* ---- arguments ---- */

/* Refuses more than `most` arguments. before: 1 if the first one stands before the colon of the call. */
static void check_count(lua_State *L, const char *call, int most, int before) {
    const int count = lua_gettop(L) - before;
    bool comm = false;
    if (count <= most) {
        return;
    }
    for (int i = 1; i <= before + count; i++) {
        comm = comm || luaL_testudata(L, i, COMM) != NULL;
    }
    sim_lua_refuse(L, "%s: expected at most %d argument%s, got %d%s%s%s", call, most, most == 1 ? "" : "s",
                   count, comm ? ": a communicator is written before the call, as in comm:" : "",
                   comm ? call : "", comm ? "()" : "");
}

/* Returns the rank whose program makes the call. Refuses calls outside of `run`, and more than `most` arguments. */
static struct sim_lua_rank *caller(lua_State *L, const char *call, int most) {
    struct sim_lua_rank *r = sim_lua_rank_of(L);
    if (!r->runs) {
        sim_lua_refuse(L, "%s: expected calls in the function run, got one outside of it", call);
    }
    check_count(L, call, most, 0);
    return r;
}

/* Returns the communicator of a call: that of comm:send(...), or the world for send(...). */
static uint32_t take_comm(struct sim_lua_rank *r) {
    const uint32_t comm = r->comm;
    r->comm = SIM_WORLD;
    return comm;
}

static uint32_t size_of(const struct sim_lua_rank *r) {
    return r->comm == SIM_WORLD ? r->lua->ranks : sim_comm_size(r->lua->sim, r->comm);
}

/* Returns the type of an argument as messages name it: userdata by the names that programs know. May leave a value
 * on the stack. */
static const char *type_of(lua_State *L, int index) {
    if (lua_islightuserdata(L, index)) {
        return lua_touserdata(L, index) == &none_mark ? "none" : "ANY";
    }
    const bool named = luaL_getmetafield(L, index, "__name") == LUA_TSTRING; /* communicators and grids */
    return named ? lua_tostring(L, -1) : luaL_typename(L, index);
}

/* Converts a float with an integral value, such as 8.0, to an integer. */
static lua_Integer whole(lua_State *L, int index, const char *call, const char *what) {
    int is;
    const lua_Integer value = lua_tointegerx(L, index, &is);
    if (lua_type(L, index) != LUA_TNUMBER) {
        sim_lua_refuse(L, "%s: expected %s, got %s", call, what, type_of(L, index));
    }
    if (!is) {
        sim_lua_refuse(L, "%s: expected %s, got %.14g", call, what, lua_tonumber(L, index));
    }
    return value;
}

static inline lua_Integer integer(lua_State *L, int index, const char *call, const char *what) {
    return lua_isinteger(L, index) ? lua_tointeger(L, index) : whole(L, index, call, what);
}

static uint32_t partner(lua_State *L, int index, enum sim_call call) {
    lua_Integer rank;
    if (lua_isinteger(L, index)) {
        rank = lua_tointeger(L, index);
    } else if (!lua_islightuserdata(L, index)) {
        rank = whole(L, index, sim_call_name[call], "a rank or none");
    } else if (lua_touserdata(L, index) == &none_mark) {
        return SIM_NONE;
    } else if (call == SIM_CALL_RECV) {
        return SIM_ANY;
    } else {
        sim_lua_refuse(L, "%s: expected a rank or none, got ANY, which only recv takes", sim_call_name[call]);
    }
    const uint32_t size = size_of(sim_lua_rank_of(L));
    if (rank < 0 || rank >= (lua_Integer)size) {
        const bool root = call >= SIM_CALL_BARRIER;
        sim_lua_refuse(L, "%s: expected a %s from 0 to %" PRIu32 "%s, got %" PRId64, sim_call_name[call],
                       root ? "root" : "rank", size - 1, root ? "" : " or none", (int64_t)rank);
    }
    return (uint32_t)rank;
}

static uint64_t bytes_of(lua_State *L, int index, enum sim_call call) {
    const lua_Integer bytes = integer(L, index, sim_call_name[call], "a number of bytes");
    if (bytes < 0 || bytes > SIM_MOST_BYTES) {
        sim_lua_refuse(L, "%s: expected 0 to %d bytes, got %" PRId64, sim_call_name[call], SIM_MOST_BYTES,
                       (int64_t)bytes);
    }
    return (uint64_t)bytes;
}

static int32_t tag_of(lua_State *L, int index, enum sim_call call) {
    if (lua_isnoneornil(L, index)) {
        return 0;
    }
    const lua_Integer tag = integer(L, index, sim_call_name[call], "a tag");
    if (tag < 0 || tag > INT32_MAX) {
        sim_lua_refuse(L, "%s: expected a tag from 0 to %d, got %" PRId64, sim_call_name[call], INT32_MAX,
                       (int64_t)tag);
    }
    return (int32_t)tag;
}

static double number_at_least_0(lua_State *L, int index, const char *call, const char *what, double most) {
    if (lua_type(L, index) != LUA_TNUMBER) {
        sim_lua_refuse(L, "%s: expected %s, got %s", call, what, type_of(L, index));
    }
    const double value = lua_tonumber(L, index);
    if (!(value >= 0 && value <= most)) {
        sim_lua_refuse(L, "%s: expected %s from 0 to %.10g, got %.10g", call, what, most, value);
    }
    return value;
}

/* ---- the end of a call ---- */

/* Pushes the results of a call when it ends. */
typedef int results(lua_State *L, int status, lua_KContext context);

static int no_results(lua_State *L, int status, lua_KContext context) {
    (void)L;
    (void)status;
    (void)context;
    return 0;
}

/* Pushes the results of a receive: the sender and the bytes. */
static int received_results(lua_State *L, int status, lua_KContext context) {
    const struct sim_lua_rank *r = sim_lua_rank_of(L);
    const struct sim_received received = sim_received(r->lua->sim, r->rank);
    (void)status;
    (void)context;
    if (received.from == SIM_NONE) {
        lua_pushlightuserdata(L, (void *)(uintptr_t)&none_mark);
    } else {
        lua_pushinteger(L, received.from);
    }
    lua_pushinteger(L, (lua_Integer)received.bytes);
    return 2;
}

static int finish(lua_State *L, const struct sim_lua_rank *r, enum sim_answer answer, results *what) {
    switch (answer) {
    case SIM_GOES_ON:
        return what(L, LUA_OK, 0);
    case SIM_WAITS:
        return lua_yieldk(L, 0, 0, what);
    default:
        sim_lua_refuse(L, "%s", sim_error(r->lua->sim));
    }
}

/* ---- edges ---- */

/* Subtracts a sent message from `due`, the bytes that the rank still has to send to each receiver. A message may be
 * all of these bytes or a part. */
static void send_edge(struct sim_lua_rank *r, uint32_t to, uint64_t bytes) {
    uint32_t i = 0;
    while (i < r->due_count && r->due[i].rank != to) {
        i++;
    }
    if (i < r->due_count && r->due[i].bytes > bytes) {
        r->due[i].bytes -= bytes;
    } else if (i < r->due_count) {
        r->due[i] = r->due[--r->due_count];
    }
}

static inline void sends(struct sim_lua_rank *r, uint32_t to, uint64_t bytes) {
    if (r->due_count > 0 && r->comm == SIM_WORLD) {
        send_edge(r, to, bytes);
    }
}

/* Iterates over a list of edges: `for rank, bytes in to do`. After the last edge, returns nil and starts again. */
static int next_edge(lua_State *L, struct sim_lua_list *list) {
    if (list->next == list->count) {
        list->next = 0;
        lua_pushnil(L);
        return 1;
    }
    const struct sim_lua_edge *edge = &list->edge[list->next++];
    lua_pushinteger(L, edge->rank);
    lua_pushinteger(L, (lua_Integer)edge->bytes);
    return 2;
}

/* The iterators that edges() returns. They are plain functions, which need no memory and no garbage collection. */
static int next_to(lua_State *L) {
    return next_edge(L, &sim_lua_rank_of(L)->to);
}
static int next_from(lua_State *L) {
    return next_edge(L, &sim_lua_rank_of(L)->from);
}

/* edges(): returns two iterators, over the ranks to which this rank sends in this phase and over those from
 * which it receives. */
static int call_edges(lua_State *L) {
    struct sim_lua_rank *r = caller(L, "edges", 0);
    const struct sim_lua_host *host = r->lua->host;
    const uint32_t phase = sim_phase(r->lua->sim, r->rank);
    struct sim_lua_edges edges;
    hpcw_error err;
    if (phase >= r->lua->phases) {
        sim_lua_refuse(L, "edges: expected a call in phases 0 to %" PRIu32 ", got one after the last one",
                       r->lua->phases - 1);
    }
    if (phase == r->edges) {
        sim_lua_refuse(L, "edges: expected one call in a phase, got another one");
    }
    if (host->edges(host->context, r->rank, phase, &edges, &err) != HPCW_OK) {
        sim_lua_refuse(L, "edges: %.400s", err.message);
    }
    struct sim_lua_edge *due =
        hpcw_i_grow(r->due, &r->due_capacity, edges.to_count + (size_t)1, sizeof *r->due);
    if (due == NULL) {
        (void)luaL_error(L, "not enough memory");
    }
    r->due = due;
    r->due_count = edges.to_count;
    if (edges.to_count > 0) {
        memcpy(r->due, edges.to, edges.to_count * sizeof *r->due);
    }
    r->edges = phase;
    r->to = (struct sim_lua_list){edges.to, edges.to_count, 0};
    r->from = (struct sim_lua_list){edges.from, edges.from_count, 0};
    lua_pushcfunction(L, next_to);
    lua_pushcfunction(L, next_from);
    return 2;
}

/* ---- messages ---- */

static int call_send(lua_State *L) {
    struct sim_lua_rank *r = caller(L, "send", 3);
    const uint32_t to = partner(L, 1, SIM_CALL_SEND);
    const uint64_t bytes = bytes_of(L, 2, SIM_CALL_SEND);
    const int32_t tag = tag_of(L, 3, SIM_CALL_SEND);
    sends(r, to, bytes);
    return finish(L, r, sim_send(r->lua->sim, r->rank, take_comm(r), to, bytes, tag), no_results);
}

static int call_recv(lua_State *L) {
    struct sim_lua_rank *r = caller(L, "recv", 2);
    const uint32_t from = partner(L, 1, SIM_CALL_RECV);
    const int32_t tag = tag_of(L, 2, SIM_CALL_RECV);
    return finish(L, r, sim_recv(r->lua->sim, r->rank, take_comm(r), from, tag), received_results);
}

static int call_sendrecv(lua_State *L) {
    struct sim_lua_rank *r = caller(L, "sendrecv", 4);
    const uint32_t to = partner(L, 1, SIM_CALL_SENDRECV);
    const uint64_t bytes = bytes_of(L, 2, SIM_CALL_SENDRECV);
    const uint32_t from = partner(L, 3, SIM_CALL_SENDRECV);
    const int32_t tag = tag_of(L, 4, SIM_CALL_SENDRECV);
    sends(r, to, bytes);
    return finish(L, r, sim_sendrecv(r->lua->sim, r->rank, take_comm(r), to, bytes, from, tag),
                  received_results);
}

/* Returns the request of isend or irecv. It was pushed before the call could wait, so it is on the top of the
 * stack. */
static int request_results(lua_State *L, int status, lua_KContext context) {
    (void)L;
    (void)status;
    (void)context;
    return 1;
}

static int finish_request(lua_State *L, const struct sim_lua_rank *r, enum sim_answer answer,
                          sim_request request) {
    lua_pushinteger(L, (lua_Integer)request);
    return finish(L, r, answer, request_results);
}

static int call_isend(lua_State *L) {
    struct sim_lua_rank *r = caller(L, "isend", 3);
    const uint32_t to = partner(L, 1, SIM_CALL_ISEND);
    const uint64_t bytes = bytes_of(L, 2, SIM_CALL_ISEND);
    const int32_t tag = tag_of(L, 3, SIM_CALL_ISEND);
    sends(r, to, bytes);
    sim_request request = 0;
    const enum sim_answer answer = sim_isend(r->lua->sim, r->rank, take_comm(r), to, bytes, tag, &request);
    return finish_request(L, r, answer, request);
}

static int call_irecv(lua_State *L) {
    struct sim_lua_rank *r = caller(L, "irecv", 2);
    const uint32_t from = partner(L, 1, SIM_CALL_IRECV);
    const int32_t tag = tag_of(L, 2, SIM_CALL_IRECV);
    sim_request request = 0;
    const enum sim_answer answer = sim_irecv(r->lua->sim, r->rank, take_comm(r), from, tag, &request);
    return finish_request(L, r, answer, request);
}

static int call_wait(lua_State *L) {
    struct sim_lua_rank *r = caller(L, "wait", 1);
    const sim_request request = (sim_request)integer(L, 1, "wait", "a request of isend or irecv");
    return finish(L, r, sim_wait(r->lua->sim, r->rank, SIM_CALL_WAIT, &request, 1), received_results);
}

static sim_request *requests_of(lua_State *L, const char *call, uint32_t *count) {
    if (lua_type(L, 1) != LUA_TTABLE) {
        sim_lua_refuse(L, "%s: expected a table of requests, got %s", call, type_of(L, 1));
    }
    const size_t size = lua_rawlen(L, 1);
    if (size > MOST_REQUESTS) {
        sim_lua_refuse(L, "%s: expected at most %d requests, got %zu", call, MOST_REQUESTS, size);
    }
    struct sim_lua *lua = sim_lua_rank_of(L)->lua;
    sim_request *request = hpcw_i_grow(lua->request, &lua->request_capacity, size + 1, sizeof *request);
    if (request == NULL) {
        (void)luaL_error(L, "not enough memory");
    }
    lua->request = request;
    const int top = lua_gettop(L);
    for (size_t i = 0; i < size; i++) {
        if (lua_gettop(L) == top + AT_ONCE) {
            lua_settop(L, top);
        }
        (void)lua_rawgeti(L, 1, (lua_Integer)i + 1);
        request[i] = (sim_request)integer(L, -1, call, "requests of isend or irecv");
    }
    lua_settop(L, top);
    *count = (uint32_t)size;
    return request;
}

/* waitall { request, ... }, or waitall() for all pending requests of the rank. */
static int call_waitall(lua_State *L) {
    struct sim_lua_rank *r = caller(L, "waitall", 1);
    if (lua_isnone(L, 1)) {
        return finish(L, r, sim_waitall(r->lua->sim, r->rank), no_results);
    }
    uint32_t count;
    const sim_request *request = requests_of(L, "waitall", &count);
    return finish(L, r, sim_wait(r->lua->sim, r->rank, SIM_CALL_WAITALL, request, count), no_results);
}

static int waitany_results(lua_State *L, int status, lua_KContext context) {
    const struct sim_lua_rank *r = sim_lua_rank_of(L);
    lua_pushinteger(L, (lua_Integer)sim_waited(r->lua->sim, r->rank) + 1);
    return 1 + received_results(L, status, context);
}

/* waitany { request, ... }: returns the index of a completed request, then its sender and bytes. */
static int call_waitany(lua_State *L) {
    struct sim_lua_rank *r = caller(L, "waitany", 1);
    uint32_t count;
    const sim_request *request = requests_of(L, "waitany", &count);
    return finish(L, r, sim_waitany(r->lua->sim, r->rank, request, count), waitany_results);
}

/* ---- collective calls ---- */

static int meet(lua_State *L, enum sim_call call, bool has_bytes, bool has_root) {
    struct sim_lua_rank *r = caller(L, sim_call_name[call], has_bytes + has_root);
    const uint64_t bytes = has_bytes ? bytes_of(L, 1, call) : 0;
    const uint32_t root = has_root && !lua_isnoneornil(L, 2) ? partner(L, 2, call) : 0;
    return finish(L, r, sim_meet(r->lua->sim, r->rank, take_comm(r), call, root, bytes), no_results);
}

static int call_barrier(lua_State *L) {
    return meet(L, SIM_CALL_BARRIER, false, false);
}
static int call_bcast(lua_State *L) {
    return meet(L, SIM_CALL_BCAST, true, true);
}
static int call_reduce(lua_State *L) {
    return meet(L, SIM_CALL_REDUCE, true, true);
}
static int call_allreduce(lua_State *L) {
    return meet(L, SIM_CALL_ALLREDUCE, true, false);
}
static int call_gather(lua_State *L) {
    return meet(L, SIM_CALL_GATHER, true, true);
}
static int call_scatter(lua_State *L) {
    return meet(L, SIM_CALL_SCATTER, true, true);
}
static int call_allgather(lua_State *L) {
    return meet(L, SIM_CALL_ALLGATHER, true, false);
}
static int call_alltoall(lua_State *L) {
    return meet(L, SIM_CALL_ALLTOALL, true, false);
}

/* Reads the bytes for each place: a table of numbers, or { first = ..., step = ... } (struct sim_parts). The next
 * call reuses the memory of the result. */
static struct sim_parts parts_of(lua_State *L, enum sim_call call) {
    struct sim_lua_rank *r = sim_lua_rank_of(L);
    const uint32_t size = size_of(r);
    if (lua_type(L, 1) != LUA_TTABLE) {
        sim_lua_refuse(L, "%s: expected a table of bytes, or { first = ..., step = ... }, got %s",
                       sim_call_name[call], type_of(L, 1));
    }
    if (lua_getfield(L, 1, "first") != LUA_TNIL) {
        struct sim_parts linear = {.first = integer(L, -1, sim_call_name[call], "bytes as first")};
        (void)lua_getfield(L, 1, "step");
        linear.step = integer(L, -1, sim_call_name[call], "bytes as step");
        if (linear.first < 0 || linear.first > SIM_MOST_BYTES || linear.step < -SIM_MOST_BYTES ||
            linear.step > SIM_MOST_BYTES) {
            sim_lua_refuse(L, "%s: expected first and step of at most %d bytes, got %" PRId64 " and %" PRId64,
                           sim_call_name[call], SIM_MOST_BYTES, linear.first, linear.step);
        }
        return linear;
    }
    if (lua_rawlen(L, 1) != size) {
        sim_lua_refuse(L, "%s: expected bytes for each of %" PRIu32 " ranks, got %zu", sim_call_name[call],
                       size, (size_t)lua_rawlen(L, 1));
    }
    uint64_t *bytes = hpcw_i_grow(r->lua->part, &r->lua->part_capacity, size, sizeof *bytes);
    if (bytes == NULL) {
        (void)luaL_error(L, "not enough memory");
    }
    r->lua->part = bytes;
    for (uint32_t i = 0; i < size; i++) {
        (void)lua_rawgeti(L, 1, (lua_Integer)i + 1);
        bytes[i] = bytes_of(L, -1, call);
        lua_pop(L, 1);
    }
    return (struct sim_parts){.bytes = bytes};
}

static int meet_parts(lua_State *L, enum sim_call call, bool has_root) {
    struct sim_lua_rank *r = caller(L, sim_call_name[call], 1 + has_root);
    const uint32_t root = has_root && !lua_isnoneornil(L, 2) ? partner(L, 2, call) : 0;
    const struct sim_parts parts = parts_of(L, call);
    return finish(L, r, sim_meet_parts(r->lua->sim, r->rank, take_comm(r), call, root, &parts), no_results);
}

static int call_gatherv(lua_State *L) {
    return meet_parts(L, SIM_CALL_GATHERV, true);
}
static int call_scatterv(lua_State *L) {
    return meet_parts(L, SIM_CALL_SCATTERV, true);
}
static int call_allgatherv(lua_State *L) {
    return meet_parts(L, SIM_CALL_ALLGATHERV, false);
}
static int call_alltoallv(lua_State *L) {
    return meet_parts(L, SIM_CALL_ALLTOALLV, false);
}

/* checkpoint(): writes a checkpoint if one is due after this phase. */
static int call_checkpoint(lua_State *L) {
    struct sim_lua_rank *r = caller(L, "checkpoint", 0);
    const struct sim_lua_host *host = r->lua->host;
    const uint32_t phase = sim_phase(r->lua->sim, r->rank);
    uint64_t bytes = 0;
    if (phase == r->wrote || !host->checkpoint(host->context, r->rank, phase, &bytes)) {
        return 0;
    }
    r->wrote = phase;
    return finish(L, r, sim_checkpoint(r->lua->sim, r->rank, bytes), no_results);
}

/* ---- files: a rank's own file ---- */

static int call_file_open(lua_State *L) {
    struct sim_lua_rank *r = caller(L, "file_open", 0);
    return finish(L, r, sim_file_open(r->lua->sim, r->rank), no_results);
}

static int call_file_close(lua_State *L) {
    struct sim_lua_rank *r = caller(L, "file_close", 0);
    return finish(L, r, sim_file_close(r->lua->sim, r->rank), no_results);
}

static int file_move(lua_State *L, enum sim_call call) {
    struct sim_lua_rank *r = caller(L, sim_call_name[call], 1);
    const uint64_t bytes = bytes_of(L, 1, call);
    return finish(L, r, sim_file_move(r->lua->sim, r->rank, call, bytes), no_results);
}

static int call_file_write(lua_State *L) {
    return file_move(L, SIM_CALL_FILE_WRITE);
}

static int call_file_read(lua_State *L) {
    return file_move(L, SIM_CALL_FILE_READ);
}

/* ---- time ---- */

static uint64_t share_of(double share, uint64_t load_ns) {
    return (uint64_t)(share * (double)load_ns + 0.5);
}

/* Tells the simulator how much less time a rank's work takes without a fault, for each fault whose cost is
 * computed. */
static void save(const struct sim_lua_rank *r, uint32_t phase, double share, uint64_t time_ns) {
    const struct sim_lua_host *host = r->lua->host;
    for (uint32_t k = 0; k < r->lua->clocks; k++) {
        const uint64_t load_ns = host->load_without_ns(host->context, r->rank, phase, k);
        sim_save(r->lua->sim, r->rank, k, time_ns - share_of(share, load_ns));
    }
}

/* work(share): computes a share of the load that the load model gives this rank in this phase. */
static int call_work(lua_State *L) {
    struct sim_lua_rank *r = caller(L, "work", 1);
    const double share = number_at_least_0(L, 1, "work", "a share of the phase's load", 1);
    const struct sim_lua_host *host = r->lua->host;
    const uint32_t phase = sim_phase(r->lua->sim, r->rank);
    uint64_t load_ns = 0;
    hpcw_error err;
    if (phase >= r->lua->phases) {
        sim_lua_refuse(L, "work: expected work in phases 0 to %" PRIu32 ", got some after the last one",
                       r->lua->phases - 1);
    }
    if (host->load_ns(host->context, r->rank, phase, &load_ns, &err) != HPCW_OK) {
        sim_lua_refuse(L, "work: %.400s", err.message);
    }
    const uint64_t time_ns = share_of(share, load_ns);
    if (__builtin_expect(host->load_without_ns != NULL, false)) {
        save(r, phase, share, time_ns);
    }
    return finish(L, r, sim_compute(r->lua->sim, r->rank, SIM_WORK_OBJECTS, time_ns), no_results);
}

/* compute(seconds): computes in addition to the load. */
static int call_compute(lua_State *L) {
    struct sim_lua_rank *r = caller(L, "compute", 1);
    const double seconds = number_at_least_0(L, 1, "compute", "seconds", MOST_SECONDS);
    return finish(L, r, sim_compute(r->lua->sim, r->rank, SIM_WORK_HANDLER, (uint64_t)(seconds * 1e9 + 0.5)),
                  no_results);
}

/* stall(seconds): delays the return of the rank's next call. */
static int call_stall(lua_State *L) {
    struct sim_lua_rank *r = caller(L, "stall", 1);
    const double seconds = number_at_least_0(L, 1, "stall", "seconds", MOST_SECONDS);
    sim_stall(r->lua->sim, r->rank, (uint64_t)(seconds * 1e9 + 0.5));
    return 0;
}

static int call_next_phase(lua_State *L) {
    struct sim_lua_rank *r = caller(L, "next_phase", 0);
    if (r->due_count > 0) {
        sim_lua_refuse(L,
                       "next_phase: expected messages for all edges of the phase, got none for %" PRIu64
                       " bytes to rank %" PRIu32,
                       r->due[0].bytes, r->due[0].rank);
    }
    sim_lua_watch_progress(&r->lua->watch);
    return finish(L, r, sim_next_phase(r->lua->sim, r->rank), no_results);
}

static int end_state(lua_State *L, int status, lua_KContext state) {
    struct sim_lua_rank *r = sim_lua_rank_of(L);
    (void)status;
    return finish(L, r, sim_state(r->lua->sim, r->rank, (uint32_t)state, false), no_results);
}

/* state(name, f): calls f within a state of the program. */
static int call_state(lua_State *L) {
    struct sim_lua_rank *r = caller(L, "state", 2);
    const char *name = lua_type(L, 1) == LUA_TSTRING ? lua_tostring(L, 1) : type_of(L, 1);
    uint32_t state = 0;
    while (state < r->lua->states && strcmp(r->lua->state_name[state], name) != 0) {
        state++;
    }
    if (state == r->lua->states) {
        sim_lua_refuse(L, "state: expected a name of the table states, got %.100s", name);
    }
    if (lua_type(L, 2) != LUA_TFUNCTION) {
        sim_lua_refuse(L, "state: expected a function, got %s", type_of(L, 2));
    }
    lua_settop(L, 2);
    (void)sim_state(r->lua->sim, r->rank, state, true);
    lua_callk(L, 0, 0, (lua_KContext)state, end_state);
    return end_state(L, LUA_OK, (lua_KContext)state);
}

/* ---- chance ---- */

static void draw(lua_State *L, const char *call, uint32_t word[4]) {
    struct sim_lua_rank *r = caller(L, call, 0);
    hpcw_i_draw(r->lua->seed, HPCW_I_FOR_WORKLOAD, r->rank, r->draws++, 0, word);
}

static int call_random(lua_State *L) {
    uint32_t word[4];
    draw(L, "random", word);
    lua_pushnumber(L, word[0] * 0x1p-32);
    return 1;
}

static int call_normal(lua_State *L) {
    uint32_t word[4];
    draw(L, "normal", word);
    lua_pushnumber(L, hpcw_i_normal(word[0], word[1]));
    return 1;
}

/* ---- objects: full userdata whose first member is their kind ---- */

/* Returns the first argument if it is an object of a kind, otherwise NULL. Lua's own check is slower, since it
 * looks up names in the registry. */
static const void *object_at_1(lua_State *L, uint32_t kind) {
    const uint32_t *object = lua_type(L, 1) == LUA_TUSERDATA ? lua_touserdata(L, 1) : NULL;
    return object != NULL && *object == kind ? object : NULL;
}

/* ---- communicators ---- */

/* A communicator as one rank sees it. */
struct sim_lua_comm {
    uint32_t kind;
    uint32_t number, place, size;
};

static void push_comm(lua_State *L, uint32_t number, uint32_t place, uint32_t size) {
    struct sim_lua_comm *comm = lua_newuserdatauv(L, sizeof *comm, 0);
    *comm = (struct sim_lua_comm){COMM_OBJECT, number, place, size};
    luaL_setmetatable(L, COMM);
}

void sim_lua_push_world(lua_State *L, uint32_t rank) {
    push_comm(L, SIM_WORLD, rank, sim_lua_rank_of(L)->lua->ranks);
}

/* Returns comm.rank, comm.size, or a method from the table in the upvalue. */
static int comm_index(lua_State *L) {
    const struct sim_lua_comm *comm = luaL_checkudata(L, 1, COMM);
    lua_settop(L, 2);
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
    if (strcmp(name, "rank") == 0) {
        lua_pushinteger(L, comm->place);
    } else if (strcmp(name, "size") == 0) {
        lua_pushinteger(L, comm->size);
    } else if (lua_rawget(L, lua_upvalueindex(1)) == LUA_TNIL) {
        sim_lua_refuse(L, "expected rank, size or a call of a communicator, got %.100s", name);
    }
    return 1;
}

/* Calls a method as comm:send(...). The upvalue is the function, here that of send. */
static int comm_call(lua_State *L) {
    const struct sim_lua_comm *comm = object_at_1(L, COMM_OBJECT);
    if (comm == NULL) {
        sim_lua_refuse(L, "expected a communicator before the colon, got %s", type_of(L, 1));
    }
    sim_lua_rank_of(L)->comm = comm->number;
    lua_remove(L, 1);
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

/* Refuses none:send(...): a split with the colour none returns none. */
static int mark_index(lua_State *L) {
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : type_of(L, 2);
    sim_lua_refuse(L, "%.100s: expected a communicator or a grid, got %s", name, type_of(L, 1));
}

static int made_results(lua_State *L, int status, lua_KContext context) {
    const struct sim_lua_rank *r = sim_lua_rank_of(L);
    const struct sim_made made = sim_made(r->lua->sim, r->rank);
    (void)status;
    (void)context;
    if (made.comm == SIM_NONE) {
        lua_pushlightuserdata(L, (void *)(uintptr_t)&none_mark);
    } else {
        push_comm(L, made.comm, made.place, sim_comm_size(r->lua->sim, made.comm));
    }
    return 1;
}

static lua_Integer number_in(lua_State *L, int index, const char *what, lua_Integer least) {
    const lua_Integer value = integer(L, index, "split", what);
    if (value < least || value > INT32_MAX) {
        sim_lua_refuse(L, "split: expected %s from %" PRId64 " to %d, got %" PRId64, what, (int64_t)least,
                       INT32_MAX, (int64_t)value);
    }
    return value;
}

/* split(colour [, key]): returns the communicator of all ranks with this colour. */
static int call_split(lua_State *L) {
    struct sim_lua_rank *r = caller(L, "split", 2);
    const bool none = lua_islightuserdata(L, 1) && lua_touserdata(L, 1) == &none_mark;
    const uint32_t colour = none ? SIM_NONE : (uint32_t)number_in(L, 1, "a colour or none", 0);
    const int32_t key = lua_isnoneornil(L, 2) ? 0 : (int32_t)number_in(L, 2, "a key", INT32_MIN);
    return finish(L, r, sim_split(r->lua->sim, r->rank, take_comm(r), SIM_CALL_SPLIT, colour, key),
                  made_results);
}

static int call_dup(lua_State *L) {
    struct sim_lua_rank *r = caller(L, "dup", 0);
    return finish(L, r, sim_split(r->lua->sim, r->rank, take_comm(r), SIM_CALL_DUP, 0, 0), made_results);
}

/* ---- cart ---- */

struct sim_lua_cart {
    uint32_t kind;
    uint32_t dims, side[3], at[3];
    bool periodic;
};

static const struct sim_lua_cart *cart_of(lua_State *L) {
    const struct sim_lua_cart *cart = object_at_1(L, CART_OBJECT);
    return cart != NULL ? cart : luaL_checkudata(L, 1, CART);
}

/* Returns the first argument of a grid's call, which has at most `most`. */
static lua_Integer dimension_of(lua_State *L, const struct sim_lua_cart *cart, const char *call, int most) {
    check_count(L, call, most, 1);
    const lua_Integer dimension = integer(L, 2, call, "a dimension");
    if (dimension < 1 || dimension > (lua_Integer)cart->dims) {
        sim_lua_refuse(L, "%s: expected a dimension from 1 to %" PRIu32 ", got %" PRId64, call, cart->dims,
                       (int64_t)dimension);
    }
    return dimension;
}

/* grid:position(dimension): returns the position of the rank, from 0 on. */
static int cart_position(lua_State *L) {
    const struct sim_lua_cart *cart = cart_of(L);
    lua_pushinteger(L, cart->at[dimension_of(L, cart, "position", 1) - 1]);
    return 1;
}

/* grid:side(dimension): returns the number of ranks along the dimension. */
static int cart_side(lua_State *L) {
    const struct sim_lua_cart *cart = cart_of(L);
    lua_pushinteger(L, cart->side[dimension_of(L, cart, "side", 1) - 1]);
    return 1;
}

/* grid:neighbour(dimension, step): returns a rank, or none beyond the border. */
static int cart_neighbour(lua_State *L) {
    const struct sim_lua_cart *cart = cart_of(L);
    const lua_Integer dimension = dimension_of(L, cart, "neighbour", 2);
    const lua_Integer step = integer(L, 3, "neighbour", "a step");
    const lua_Integer side = cart->side[dimension - 1];
    lua_Integer to = step % side + cart->at[dimension - 1]; /* from 1 - side to 2 * side - 2 */
    const bool inside = step > -side && step < side && to >= 0 && to < side;
    if (!inside && !cart->periodic) {
        lua_pushlightuserdata(L, (void *)(uintptr_t)&none_mark);
        return 1;
    }
    to = (to + side) % side;
    uint32_t at[3] = {cart->at[0], cart->at[1], cart->at[2]};
    at[dimension - 1] = (uint32_t)to;
    lua_pushinteger(L, model_grid_cell(cart->side, at));
    return 1;
}

/* cart { dimensions [, periodic = true] }: arranges the ranks on a grid with sides as equal as possible. */
static int call_cart(lua_State *L) {
    const struct sim_lua_rank *r = sim_lua_rank_of(L);
    check_count(L, "cart", 1, 0);
    if (lua_type(L, 1) != LUA_TTABLE) {
        sim_lua_refuse(L, "cart: expected a table, as in cart { 2 }, got %s", type_of(L, 1));
    }
    const uint64_t values = lua_rawlen(L, 1);
    if (values > 1) {
        sim_lua_refuse(L,
                       "cart: expected one number, that of dimensions, as in cart { 2 }, got %" PRIu64
                       " numbers: the sides follow from the number of ranks",
                       values);
    }
    for (lua_pushnil(L); lua_next(L, 1) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -2) == LUA_TSTRING && strcmp(lua_tostring(L, -2), "periodic") != 0) {
            sim_lua_refuse(L, "cart: expected the name periodic, got %.100s", lua_tostring(L, -2));
        }
    }
    (void)lua_rawgeti(L, 1, 1);
    const lua_Integer dims = integer(L, -1, "cart", "a number of dimensions");
    if (dims < 1 || dims > 3) {
        sim_lua_refuse(L, "cart: expected a number of dimensions from 1 to 3, got %" PRId64, (int64_t)dims);
    }
    (void)lua_getfield(L, 1, "periodic");
    const bool periodic = lua_toboolean(L, -1);
    struct sim_lua_cart *cart = lua_newuserdatauv(L, sizeof *cart, 0);
    *cart = (struct sim_lua_cart){.kind = CART_OBJECT, .dims = (uint32_t)dims, .periodic = periodic};
    model_grid_shape(r->lua->ranks, cart->dims, cart->side);
    model_grid_position(cart->side, r->rank, cart->at);
    luaL_setmetatable(L, CART);
    return 1;
}

/* ---- the list ---- */

/* Calls that are methods of a communicator. As global functions they act on the world. */
static const luaL_Reg comm_calls[] = {
    {"send", call_send},
    {"recv", call_recv},
    {"sendrecv", call_sendrecv},
    {"isend", call_isend},
    {"irecv", call_irecv},
    {"barrier", call_barrier},
    {"bcast", call_bcast},
    {"reduce", call_reduce},
    {"allreduce", call_allreduce},
    {"gather", call_gather},
    {"scatter", call_scatter},
    {"allgather", call_allgather},
    {"alltoall", call_alltoall},
    {"gatherv", call_gatherv},
    {"scatterv", call_scatterv},
    {"allgatherv", call_allgatherv},
    {"alltoallv", call_alltoallv},
    {"split", call_split},
    {"dup", call_dup},
    {NULL, NULL},
};

static const luaL_Reg calls[] = {
    {"wait", call_wait},
    {"waitall", call_waitall},
    {"waitany", call_waitany},
    {"checkpoint", call_checkpoint},
    {"file_open", call_file_open},
    {"file_write", call_file_write},
    {"file_read", call_file_read},
    {"file_close", call_file_close},
    {"edges", call_edges},
    {"work", call_work},
    {"compute", call_compute},
    {"stall", call_stall},
    {"next_phase", call_next_phase},
    {"state", call_state},
    {"random", call_random},
    {"normal", call_normal},
    {"cart", call_cart},
    {NULL, NULL},
};

static void add_comm(lua_State *L) {
    (void)luaL_newmetatable(L, COMM);
    lua_newtable(L);
    for (const luaL_Reg *call = comm_calls; call->name != NULL; call++) {
        lua_pushcfunction(L, call->func);
        lua_pushcclosure(L, comm_call, 1);
        lua_setfield(L, -2, call->name);
    }
    lua_pushcclosure(L, comm_index, 1);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}

void sim_lua_add_calls(lua_State *L) {
    static const luaL_Reg of_cart[] = {
        {"neighbour", cart_neighbour}, {"position", cart_position}, {"side", cart_side}, {NULL, NULL}};
    luaL_setfuncs(L, comm_calls, 0);
    luaL_setfuncs(L, calls, 0);
    add_comm(L);
    lua_pushlightuserdata(L, (void *)(uintptr_t)&none_mark);
    lua_createtable(L, 0, 1); /* the metatable of all light userdata */
    lua_pushcfunction(L, mark_index);
    lua_setfield(L, -2, "__index");
    (void)lua_setmetatable(L, -2);
    lua_setfield(L, -2, "none");
    lua_pushlightuserdata(L, (void *)(uintptr_t)&any_mark);
    lua_setfield(L, -2, "ANY");
    (void)luaL_newmetatable(L, CART);
    lua_createtable(L, 0, 1);
    luaL_setfuncs(L, of_cart, 0);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}
