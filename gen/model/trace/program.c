/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/trace/program.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "gen/model/trace/script.h"
#include "libwriter/base/rng.h"
#include "libwriter/base/status.h"

/* ---- statements ---- */

enum statement {
    WORK,  /* of the objects */
    OTHER, /* code of all ranks, or of rank 0 */
    CALL,
    POST,
    SEND,
    WAIT, /* ends an exchange, or waits for its sends */
    BOTH, /* a whole exchange */
    SILENT,
    REPEAT,
    EVERY,
    SOME,
    END
};

/* `number`: if none is given; nanoseconds of what does not wait are those of other applications. */
static const struct row {
    const char *name;
    enum statement kind;
    enum model_trace_op_kind op;
    uint32_t what, number, ns;
} rows[] = {
    {"work", WORK, MODEL_TRACE_OP_COMPUTE, MODEL_TRACE_COMPUTE, 1, 0},
    {"local", OTHER, MODEL_TRACE_OP_WORK, 0, 0, 0},
    {"root", OTHER, MODEL_TRACE_OP_ROOT, 0, 0, 0},
    {"MPI_Allreduce", CALL, MODEL_TRACE_OP_ALL, MODEL_TRACE_ALLREDUCE, 8, 0},
    {"MPI_Barrier", CALL, MODEL_TRACE_OP_ALL, MODEL_TRACE_BARRIER, 0, 0},
    {"MPI_Allgather", CALL, MODEL_TRACE_OP_ALL, MODEL_TRACE_ALLGATHER, 4, 600},
    {"MPI_Alltoall", CALL, MODEL_TRACE_OP_ALL, MODEL_TRACE_ALLTOALL, 4, 900},
    {"MPI_Comm_split", CALL, MODEL_TRACE_OP_ALL, MODEL_TRACE_COMM_SPLIT, 0, 40000},
    {"MPI_Comm_dup", CALL, MODEL_TRACE_OP_ALL, MODEL_TRACE_COMM_DUP, 0, 40000},
    {"MPI_Cart_create", CALL, MODEL_TRACE_OP_ALL, MODEL_TRACE_CART_CREATE, 0, 300000},
    {"MPI_Bcast", CALL, MODEL_TRACE_OP_DOWN, MODEL_TRACE_BCAST, 4, 350},
    {"MPI_Reduce", CALL, MODEL_TRACE_OP_UP, MODEL_TRACE_REDUCE, 8, 50},
    {"MPI_Gather", CALL, MODEL_TRACE_OP_UP, MODEL_TRACE_GATHER, 8, 90},
    {"MPI_Comm_rank", CALL, MODEL_TRACE_OP_CALL, MODEL_TRACE_COMM_RANK, 0, 1},
    {"MPI_Comm_size", CALL, MODEL_TRACE_OP_CALL, MODEL_TRACE_COMM_SIZE, 0, 1},
    {"MPI_Comm_free", CALL, MODEL_TRACE_OP_CALL, MODEL_TRACE_COMM_FREE, 0, 4000},
    {"MPI_Cart_coords", CALL, MODEL_TRACE_OP_CALL, MODEL_TRACE_CART_COORDS, 0, 60},
    {"MPI_Cart_get", CALL, MODEL_TRACE_OP_CALL, MODEL_TRACE_CART_GET, 0, 60},
    {"MPI_Get_count", CALL, MODEL_TRACE_OP_CALL, MODEL_TRACE_GET_COUNT, 0, 5},
    {"MPI_Cart_shift", CALL, MODEL_TRACE_OP_CALL, MODEL_TRACE_CART_SHIFT, 0, 60},
    {"MPI_Dims_create", CALL, MODEL_TRACE_OP_CALL, MODEL_TRACE_DIMS_CREATE, 0, 9000},
    {"MPI_Testall", CALL, MODEL_TRACE_OP_CALL, MODEL_TRACE_TESTALL, 0, 200},
    {"MPI_Irecv", POST, MODEL_TRACE_OP_POST, MODEL_TRACE_IRECV, 0, 0},
    {"MPI_Isend", SEND, MODEL_TRACE_OP_SEND, MODEL_TRACE_ISEND, 1, 0},
    {"MPI_Send", SEND, MODEL_TRACE_OP_SEND, MODEL_TRACE_SENDING, 1, 0},
    {"MPI_Sendrecv", BOTH, MODEL_TRACE_OP_SEND, MODEL_TRACE_SENDRECV, 1, 0},
    {"MPI_Recv", WAIT, MODEL_TRACE_OP_WAIT, MODEL_TRACE_WAIT_RECV, 0, 0},
    {"MPI_Wait", WAIT, MODEL_TRACE_OP_WAIT, MODEL_TRACE_WAIT_FEW, 0, 0},
    {"MPI_Waitall", WAIT, MODEL_TRACE_OP_WAIT, MODEL_TRACE_WAIT_ALL, 0, 0},
    {"MPI_Waitany", WAIT, MODEL_TRACE_OP_WAIT, MODEL_TRACE_WAIT_ANY, 0, 0},
    {"silent", SILENT, MODEL_TRACE_OP_WORK, 0, 0, 0},
    {"repeat", REPEAT, MODEL_TRACE_OP_WORK, 0, 1, 0},
    {"every", EVERY, MODEL_TRACE_OP_WORK, 0, 1, 0},
    {"some", SOME, MODEL_TRACE_OP_WORK, 0, 50, 0},
    {"}", END, MODEL_TRACE_OP_WORK, 0, 0, 0},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static enum statement kind_of(const struct model_trace_statement *s) {
    return rows[s->row].kind;
}

static bool sends(const struct model_trace_statement *s) {
    return kind_of(s) == SEND || kind_of(s) == BOTH;
}

/* The same again: one more message to each neighbour. */
static bool is_again(const struct model_trace_program *p, uint32_t at) {
    return at > 0 && kind_of(&p->statement[at]) == SEND && kind_of(&p->statement[at - 1]) == SEND;
}

bool model_trace_program_is_silent(const struct model_trace_program *p) {
    return p->statements > 0 && kind_of(&p->statement[p->statements - 1]) == SILENT;
}

/*
 * Exchanges in some directions one after the other, none twice, share one part of the bytes, which has the weight of the first:
 * whether an exchange shares that of those before it, whose directions are *done.
 */
static bool shares(uint32_t *done, uint32_t directions) {
    const bool in_some = directions != MODEL_TRACE_ALL_WAYS;
    const bool with_others = in_some && *done != 0 && (*done & directions) == 0;
    *done = in_some ? (with_others ? *done : 0) | directions : 0;
    return with_others;
}

/* ---- reading ---- */

enum { MOST_DEPTH = 8, MOST_NUMBER = 1000000000, MOST_LINES = 512, MOST_TAG = 32767, MOST_BYTES = 1 << 24 };

struct program_reading {
    struct model_trace_program *program;
    const char *key;
    bool loop;
    uint32_t open[MOST_DEPTH]; /* statements whose blocks have no end yet */
    uint32_t depth;
};

static hpcw_status expected(const struct program_reading *r, const char *what, const char *got, size_t length,
                            hpcw_error *err) {
    return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected %s, got \"%.*s\"", r->key, what,
                       length < 60 ? (int)length : 60, got);
}

/* A whole number from `least` to `most` after a colon. */
static bool read_number(const char **at, uint32_t least, uint32_t most, uint32_t *number) {
    char *end;
    if ((*at)[1] < '0' || (*at)[1] > '9') {
        return false;
    }
    const unsigned long value = strtoul(*at + 1, &end, 10);
    *at = end;
    *number = (uint32_t)value;
    return value >= least && value <= most;
}

static bool read_tag(const char **at, uint32_t *tag) {
    if ((*at)[1] == ':') { /* none, before a direction */
        ++*at;
        return true;
    }
    return read_number(at, 0, MOST_TAG, tag);
}

/* After a colon, x, y or z, and + or - for the neighbours above or below alone. */
static bool read_directions(const char **at, uint32_t *directions) {
    const char *dimension = strchr("xyz", (*at)[1]);
    if ((*at)[1] == '\0' || dimension == NULL) {
        return false;
    }
    const uint32_t shift = 2 * (uint32_t)(dimension - "xyz");
    const char sign = (*at)[2];
    *directions = (sign == '-' ? 1u : sign == '+' ? 2u : 3u) << shift;
    *at += sign == '-' || sign == '+' ? 3 : 2;
    return true;
}

static hpcw_status read_one(struct program_reading *r, const char *word, size_t length, hpcw_error *err) {
    const size_t name = strcspn(word, ": ");
    struct model_trace_program *p = r->program;
    uint16_t row = 0;
    while (row < ROWS && (strlen(rows[row].name) != name || strncmp(rows[row].name, word, name) != 0)) {
        row++;
    }
    if (row == ROWS) {
        return expected(r, "a statement, as work or MPI_Allreduce", word, length, err);
    }
    if (p->statements == MODEL_TRACE_MOST_STATEMENTS) {
        return expected(r, "at most 512 statements", word, length, err);
    }
    struct model_trace_statement *s = &p->statement[p->statements++];
    *s = (struct model_trace_statement){.row = row,
                                        .number = rows[row].number,
                                        .tag = MODEL_TRACE_DIRECTIONS,
                                        .directions = MODEL_TRACE_ALL_WAYS};
    const char *at = word + name;
    const bool is_block = kind_of(s) == REPEAT || kind_of(s) == EVERY || kind_of(s) == SOME;
    const uint32_t least = is_block || sends(s) || kind_of(s) == WORK;
    const uint32_t most = kind_of(s) == SOME   ? 100
                          : sends(s)           ? 1000
                          : kind_of(s) == CALL ? MOST_BYTES
                                               : MOST_NUMBER;
    if ((kind_of(s) == WORK && !r->loop) || (*at == ':' && !read_number(&at, least, most, &s->number)) ||
        (*at == ':' && (!sends(s) || !read_tag(&at, &s->tag))) ||
        (*at == ':' && !read_directions(&at, &s->directions)) || at != word + length) {
        return expected(r, "no work but in a loop, and a number in its range", word, length, err);
    }
    if (is_block && r->depth < MOST_DEPTH) {
        r->open[r->depth++] = p->statements - 1;
    } else if (is_block || (kind_of(s) == END && r->depth == 0)) {
        return expected(r, "blocks that end, at most 8 in each other", word, length, err);
    } else if (kind_of(s) == END) {
        p->statement[r->open[--r->depth]].end = (uint16_t)p->statements;
    } else if (kind_of(s) == BOTH && __builtin_popcount(s->directions) != 1) {
        return expected(r, "MPI_Sendrecv:WEIGHT:TAG:DIRECTION with a direction as x+ or y-", word, length, err);
    }
    const bool after_silent = p->statements > 1 && kind_of(s - 1) == SILENT;
    if (after_silent || (kind_of(s) == SILENT && (!r->loop || r->depth > 0))) {
        return expected(r, "silent at the end of a loop alone", word, length, err);
    }
    return HPCW_OK;
}

/* Of an iteration, the most lines and exchanges, if all blocks are run; and the exchanges that each iteration has. */
struct program_extent {
    double lines, exchanges, surely; /* may be too many for any integer */
};
static struct program_extent extent_of(const struct model_trace_program *p, uint32_t from, uint32_t to) {
    struct program_extent all = {0, 0, 0};
    for (uint32_t i = from; i < to; i++) {
        const struct model_trace_statement *s = &p->statement[i];
        if (s->end > 0) {
            const enum statement kind = kind_of(s);
            const struct program_extent once = extent_of(p, i + 1, s->end - 1u);
            const double times = kind == REPEAT ? s->number : 1;
            all.lines += times * (once.lines < 1 ? 1 : once.lines); /* an empty block takes time, too */
            all.exchanges += times * once.exchanges;
            all.surely += kind == REPEAT ? times * once.surely : 0;
            i = s->end - 1u;
        } else {
            all.lines++;
            const bool exchanges = sends(s) && !is_again(p, i);
            all.exchanges += exchanges;
            all.surely += exchanges;
        }
    }
    return all;
}

/* Whether each exchange has what it needs, in an order that works: receives are posted or MPI_Recv, messages are sent, and
 * then waited for. Within a block, as it may be left out. */
static hpcw_status check_exchanges(const struct program_reading *r, hpcw_error *err) {
    const struct model_trace_program *p = r->program;
    bool posted = false, sent = false, blocks = false, waited = false;
    for (uint32_t i = 0; i < p->statements; i++) {
        const struct row *row = &rows[p->statement[i].row];
        const bool receives = row->what == MODEL_TRACE_WAIT_RECV;
        bool ok = true;
        switch (row->kind) {
        case POST:
            ok = !posted;
            posted = true;
            waited = false;
            break;
        case SEND:
            ok = !sent || (is_again(p, i) &&
                           memcmp(&p->statement[i], &p->statement[i - 1], sizeof p->statement[i]) == 0);
            sent = true;
            blocks = row->what == MODEL_TRACE_SENDING;
            waited = false;
            break;
        case WAIT:
            ok = sent ? posted != receives && (blocks || !receives) : waited && !receives;
            waited = sent && !receives;
            posted = sent = false;
            break;
        case BOTH:
            ok = !posted && !sent;
            waited = false;
            break;
        case REPEAT:
        case EVERY:
        case SOME:
        case END:
        case SILENT:
            ok = !posted && !sent;
            break;
        case WORK:
        case OTHER:
        case CALL:
            break;
        }
        if (!ok) {
            return expected(r,
                            "MPI_Irecv once and MPI_Isend or MPI_Send, each time the same, then MPI_Wait, "
                            "MPI_Waitall or MPI_Waitany, "
                            "or MPI_Send and MPI_Recv, or MPI_Sendrecv, and all of it in one block",
                            row->name, strlen(row->name), err);
        }
    }
    return posted || sent ? expected(r, "an end of the last exchange", "", 0, err) : HPCW_OK;
}

hpcw_status model_trace_program_read(struct model_trace_program *program, const char *key, const char *text,
                                     bool loop, uint32_t most_exchanges, hpcw_error *err) {
    struct program_reading r = {.program = program, .key = key, .loop = loop};
    program->statements = 0;
    if (strcmp(text, "auto") == 0) {
        return HPCW_OK;
    }
    hpcw_status status = HPCW_OK;
    const char *word = text + strspn(text, " ");
    bool begins = false; /* a block */
    while (status == HPCW_OK && *word != '\0') {
        const size_t length = strcspn(word, " ");
        const bool brace = length == 1 && *word == '{';
        if (brace != begins) {
            status = expected(&r, begins ? "{ of a block" : "a statement", word, length, err);
        } else if (!brace) {
            status = read_one(&r, word, length, err);
        }
        begins = status == HPCW_OK && !brace && r.depth > 0 && r.open[r.depth - 1] == program->statements - 1;
        word += length + strspn(word + length, " ");
    }
    if (status == HPCW_OK && (r.depth > 0 || program->statements == 0)) {
        status = expected(&r, "auto, or statements whose blocks all end", text, strlen(text), err);
    }
    status = status == HPCW_OK ? check_exchanges(&r, err) : status;
    const struct program_extent extent = extent_of(program, 0, program->statements);
    if (status == HPCW_OK && loop && extent.surely < 1) {
        status = expected(&r, "an exchange of messages in each iteration", "none", 4, err);
    }
    if (status == HPCW_OK && (extent.lines > MOST_LINES || extent.exchanges > most_exchanges)) {
        status =
            hpcw_i_fail(err, HPCW_ERANGE, "%s: expected at most %d calls and %u exchanges, got %.0f and %.0f",
                        key, MOST_LINES, most_exchanges, extent.lines, extent.exchanges);
    }
    return status;
}

hpcw_status model_trace_program_check(const struct model_trace_program *program, const char *key,
                                      uint32_t directions, hpcw_error *err) {
    uint32_t done = 0;
    for (uint32_t i = 0; i <= program->statements; i++) {
        const bool ends =
            i == program->statements || program->statement[i].end > 0 || kind_of(&program->statement[i]) == END;
        if (!ends && !sends(&program->statement[i])) {
            continue;
        }
        const uint32_t before = done;
        const bool more = !ends && (is_again(program, i) || shares(&done, program->statement[i].directions));
        if (!more && before != 0 && (before & directions) != directions) {
            return hpcw_i_fail(err, HPCW_EINVAL,
                               "%s: expected exchanges in all directions of the grid of ranks, one after the "
                               "other, got %d of %d",
                               key, __builtin_popcount(before & directions), __builtin_popcount(directions));
        }
        done = ends ? 0 : done;
    }
    return HPCW_OK;
}

/* ---- writing ---- */

struct program_writing {
    const struct model_trace *model;
    const struct model_trace_program *program;
    struct model_trace_script *script; /* NULL: exchanges are only counted */
    uint32_t iteration;
    uint32_t part;       /* of the next exchange */
    uint32_t directions; /* of those that share the last part */
    bool shares;         /* the last exchange has no weight of its own */
    bool is_open;        /* an exchange ... */
    uint32_t exchange;   /* which */
    uint64_t done, all;  /* of the objects' work */
};

static bool runs(const struct program_writing *w, uint32_t at) {
    const struct model_trace_statement *s = &w->program->statement[at];
    if (kind_of(s) == EVERY) {
        return (w->iteration + 1) % s->number == 0;
    }
    if (kind_of(s) == SOME) {
        uint32_t word[4];
        hpcw_i_draw(w->model->load->seed, HPCW_I_FOR_TRACE_STYLE, w->iteration, at, 2, word);
        return word[0] < hpcw_i_threshold(s->number / 100.0);
    }
    return true;
}

static void begin_exchange(struct program_writing *w) {
    if (!w->is_open) {
        struct model_trace_script *script = w->script;
        assert(script->exchanges < MODEL_TRACE_MOST_EXCHANGES);
        script->exchange[script->exchanges] =
            (struct model_trace_exchange){w->part, MODEL_TRACE_ALL_WAYS, MODEL_TRACE_DIRECTIONS, 0};
        w->exchange = script->exchanges++;
        w->is_open = true;
    }
}

/* Those of the open exchange: where they go, and what part of the bytes they have. */
static void begin_messages(struct program_writing *w, const struct model_trace_statement *s) {
    struct model_trace_exchange *x = &w->script->exchange[w->exchange];
    w->shares = shares(&w->directions, s->directions);
    if (!w->shares) {
        w->script->weight[w->part++] = s->number;
    }
    *x = (struct model_trace_exchange){w->part - 1, s->directions, s->tag, 0};
}

/* A second wait is for the sends. */
static void add_wait(struct program_writing *w, const struct row *row) {
    struct model_trace_script *script = w->script;
    if (w->is_open) {
        model_trace_add(script, row->op, row->what, 0)->number = w->exchange;
        w->is_open = false;
        return;
    }
    struct model_trace_op *last = NULL;
    for (uint32_t i = script->ops; i-- > 0 && last == NULL;) {
        last = script->op[i].kind == MODEL_TRACE_OP_WAIT ? &script->op[i] : NULL;
    }
    if (last != NULL) {
        last->what = last->what == MODEL_TRACE_WAIT_ALL   ? MODEL_TRACE_WAIT_TWICE
                     : last->what == MODEL_TRACE_WAIT_FEW ? MODEL_TRACE_WAIT_EACH
                                                          : last->what;
        last->until = 1;
        model_trace_add(script, row->op, MODEL_TRACE_WAIT_SENT, 0)->number = last->number;
    }
}

static void add(struct program_writing *w, uint32_t at) {
    const struct model_trace_statement *s = &w->program->statement[at];
    const struct row *row = &rows[s->row];
    struct model_trace_script *script = w->script;
    struct model_trace_op *op;
    switch (row->kind) {
    case WORK:
        w->done += s->number;
        op = model_trace_add(script, row->op, row->what, 0);
        op->until = (uint32_t)(MODEL_TRACE_WORK * w->done / w->all);
        op->number = at;
        break;
    case OTHER:
        op = model_trace_add(script, row->op, 0, s->number);
        op->number = at + 1;
        op->step = 1;
        break;
    case CALL:
        model_trace_collect(script, row->op, row->what, row->ns, s->number);
        break;
    case POST:
        begin_exchange(w);
        model_trace_add(script, row->op, row->what, 0)->number = w->exchange;
        break;
    case SEND:
    case BOTH:
        if (is_again(w->program, at)) {
            script->exchange[w->exchange].more++;
            script->weight[script->exchange[w->exchange].part] += w->shares ? 0 : s->number;
            break;
        }
        begin_exchange(w);
        begin_messages(w, s);
        model_trace_add(script, row->op, row->what, 0)->number = w->exchange;
        if (row->kind == BOTH) {
            model_trace_add(script, MODEL_TRACE_OP_WAIT, MODEL_TRACE_WAIT_HERE, 0)->number = w->exchange;
            w->is_open = false;
        }
        break;
    case WAIT:
        add_wait(w, row);
        break;
    case REPEAT:
    case EVERY:
    case SOME:
    case END:
    case SILENT:
        break;
    }
}

/* Goes through the statements of an iteration, and counts their exchanges and parts of work, or adds them to the script. */
static void go_through(struct program_writing *w, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++) {
        const struct model_trace_statement *s = &w->program->statement[i];
        if (s->end > 0) {
            const uint32_t times = kind_of(s) == REPEAT ? s->number : runs(w, i);
            for (uint32_t k = 0; k < times; k++) {
                go_through(w, i + 1, s->end - 1u);
            }
            i = s->end - 1u;
        } else if (w->script != NULL) {
            add(w, i);
        } else {
            w->part += sends(s) && !is_again(w->program, i) && !shares(&w->directions, s->directions);
            w->all += kind_of(s) == WORK ? s->number : 0;
        }
    }
}

uint32_t model_trace_program_exchanges(const struct model_trace *m, const struct model_trace_program *program,
                                       uint32_t iteration) {
    struct program_writing w = {.model = m, .program = program, .iteration = iteration};
    go_through(&w, 0, program->statements);
    return w.part;
}

void model_trace_program_write(const struct model_trace *m, const struct model_trace_program *program,
                               uint32_t part, struct model_trace_script *script) {
    struct program_writing w = {.model = m, .program = program, .iteration = script->iteration};
    go_through(&w, 0, program->statements);
    w.script = script;
    w.part = part;
    w.directions = 0;
    go_through(&w, 0, program->statements);
    struct model_trace_op *last = &script->op[script->ops - 1];
    if (model_trace_program_is_silent(program) && last->kind == MODEL_TRACE_OP_WAIT) {
        last->step = 1; /* rather than after it, where nobody sees why */
    }
}
