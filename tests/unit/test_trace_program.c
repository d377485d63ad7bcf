/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of a program as text: what is refused and why, and the calls that each rank then makes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/trace_made.h"

static hpcw_status read_loop(const char *text, hpcw_error *err) {
    static struct model_trace_program program;
    return model_trace_program_read(&program, "trace.loop", text, true, MODEL_TRACE_MOST_PARTS, err);
}

static void refused_texts_say_why(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", "trace.loop: expected auto, or statements whose blocks all end, got \"\""},
        {"work MPI_Foo", "trace.loop: expected a statement, as work or MPI_Allreduce, got \"MPI_Foo\""},
        {"work:0x", "trace.loop: expected no work but in a loop, and a number in its range, got \"work:0x\""},
        {"work:4294967296",
         "trace.loop: expected no work but in a loop, and a number in its range, got \"work:429*"},
        {"work:99999999999999999999",
         "trace.loop: expected no work but in a loop, and a number in its range, got *"},
        {"work:-1", "trace.loop: expected no work but in a loop, and a number in its range, got \"work:-1\""},
        {"MPI_Isend:0", "trace.loop: expected no work *"},
        {"MPI_Isend:1:32768", "trace.loop: expected no work *"},
        {"MPI_Bcast:1:2", "trace.loop: expected no work *"},
        {"work:0", "trace.loop: expected no work *"},
        {"MPI_Bcast:16777217", "trace.loop: expected no work *"},
        {"some:101 { work }", "trace.loop: expected no work *"},
        {"every:0 { work }", "trace.loop: expected no work *"},
        {"{ work }", "trace.loop: expected a statement, got \"{\""},
        {"repeat:2 work", "trace.loop: expected { of a block, got \"work\""},
        {"repeat:2 { work",
         "trace.loop: expected auto, or statements whose blocks all end, got \"repeat:2 { work\""},
        {"work }", "trace.loop: expected blocks that end, at most 8 in each other, got \"}\""},
        {"work MPI_Isend", "trace.loop: expected an end of the last exchange, got \"\""},
        {"MPI_Wait", "trace.loop: expected MPI_Irecv once and *"},
        {"MPI_Irecv MPI_Irecv", "trace.loop: expected MPI_Irecv once and *"},
        {"MPI_Isend MPI_Isend", "trace.loop: expected an end of the last exchange, got *"},
        {"MPI_Isend MPI_Isend:2", "trace.loop: expected MPI_Irecv once and *"},
        {"MPI_Isend MPI_Irecv MPI_Isend", "trace.loop: expected MPI_Irecv once and *"},
        {"MPI_Isend MPI_Wait", "trace.loop: expected MPI_Irecv once and *"},
        {"MPI_Isend MPI_Recv", "trace.loop: expected MPI_Irecv once and *"},
        {"MPI_Irecv MPI_Send MPI_Recv", "trace.loop: expected MPI_Irecv once and *"},
        {"MPI_Irecv every:2 { MPI_Send } MPI_Wait", "trace.loop: expected MPI_Irecv once and *"},
        {"MPI_Sendrecv", "trace.loop: expected MPI_Sendrecv:WEIGHT:TAG:DIRECTION *"},
        {"MPI_Sendrecv:1:2:x", "trace.loop: expected MPI_Sendrecv:WEIGHT:TAG:DIRECTION *"},
        {"MPI_Isend:1:2:w", "trace.loop: expected no work *"},
        {"MPI_Isend:1:2:", "trace.loop: expected no work *"},
        {"MPI_Irecv MPI_Sendrecv:1:2:x+ MPI_Wait", "trace.loop: expected MPI_Irecv once and *"},
        {"MPI_Sendrecv:1:2:x+ silent work", "trace.loop: expected silent at the end of a loop alone, got *"},
        {"every:2 { silent } MPI_Sendrecv:1:2:x+", "trace.loop: expected silent at the end *"},
        {"work MPI_Barrier", "trace.loop: expected an exchange of messages in each iteration, got \"none\""},
        {"every:2 { MPI_Send MPI_Recv }",
         "trace.loop: expected an exchange of messages in each iteration, got \"none\""},
        {"repeat:65 { MPI_Send MPI_Recv }",
         "trace.loop: expected at most 512 calls and 64 exchanges, got 130 and 65"},
        {"MPI_Send MPI_Recv repeat:1000000000 { repeat:1000000000 { } }",
         "trace.loop: expected at most 512 calls and 64 exchanges, got 1000000000000000000 and 1"},
        {"MPI_Send MPI_Recv repeat:1000000000 { repeat:1000000000 { MPI_Barrier } }",
         "trace.loop: expected at most 512 calls and 64 exchanges, got 1000000000000000000 and 1"},
        {"MPI_Send MPI_Recv repeat:256 { repeat:256 { repeat:256 { repeat:256 { repeat:256 { repeat:256 { "
         "repeat:256 { "
         "repeat:256 { MPI_Barrier } } } } } } } }",
         "trace.loop: expected at most 512 calls and 64 exchanges, got 18446744073709551616 and 1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hpcw_error err = {0};
        const char *star = strchr(rows[i].message, '*');
        const size_t length = star != NULL ? (size_t)(star - rows[i].message) : strlen(rows[i].message) + 1;
        assert_int_not_equal(read_loop(rows[i].text, &err), HPCW_OK);
        if (strncmp(err.message, rows[i].message, length) != 0) {
            fail_msg("\"%s\": %s", rows[i].text, err.message);
        }
    }
    static struct model_trace_program program;
    hpcw_error err;
    assert_int_equal(model_trace_program_read(&program, "trace.end", "work", false, 0, &err), HPCW_EINVAL);
    assert_int_equal(model_trace_program_read(&program, "trace.end", "MPI_Send MPI_Recv", false, 0, &err),
                     HPCW_ERANGE);
    assert_int_equal(model_trace_program_read(&program, "trace.end", "auto", false, 0, &err), HPCW_OK);
    assert_int_equal(program.statements, 0);
}

/* The calls of a rank in an iteration, as letters, and messages as > and <. */
static void spell(struct trace_made *m, uint32_t iteration, uint32_t rank, char *text, size_t size) {
    static const char letter[MODEL_TRACE_WHATS] = {
        [MODEL_TRACE_ALLREDUCE] = 'A',    [MODEL_TRACE_BARRIER] = 'B', [MODEL_TRACE_BCAST] = 'C',
        [MODEL_TRACE_REDUCE] = 'U',       [MODEL_TRACE_IRECV] = 'i',   [MODEL_TRACE_ISEND] = 's',
        [MODEL_TRACE_WAIT] = 'w',         [MODEL_TRACE_WAITALL] = 'W', [MODEL_TRACE_WAITANY] = 'y',
        [MODEL_TRACE_SENDING] = 'S',      [MODEL_TRACE_RECV] = 'R',    [MODEL_TRACE_TESTALL] = 't',
        [MODEL_TRACE_COMM_RANK] = 'r',    [MODEL_TRACE_SEND] = '>',    [MODEL_TRACE_RECEIVE] = '<',
        [MODEL_TRACE_SENDRECV + 1] = 'b',
    };
    const struct model_trace_run run = trace_run_of(m, iteration);
    size_t n = 0;
    for (uint64_t i = 0; i < run.count; i++) {
        const struct model_trace_event *e = model_trace_event(&run, i);
        const char c = letter[model_trace_what_of(e)];
        if (e->rank == rank && c != '\0') {
            assert_true(n + 1 < size);
            text[n++] = c;
        }
    }
    text[n] = '\0';
}

/* Ranks in a line, whose objects send to those beside them alone. */
static void begin_line(struct trace_made *m, uint32_t phases) {
    trace_begin(m);
    m->load_params.phases = phases;
    m->load_params.dims = 1;
    m->load_params.collections = 1;
    m->load_params.far_edges = 0;
    m->load_params.migration = 0;
    m->load_params.handlers = false;
    m->load_params.fill = 1;
    m->checkpoint_params.checkpoints = 0;
}

static void ranks_make_these_calls(void **state) {
    (void)state;
    enum { PHASES = 4 };
    struct trace_made m;
    char text[400];
    begin_line(&m, PHASES);
    (void)strcpy(m.trace_params.start,
                 "MPI_Comm_rank MPI_Bcast:12 local:5000 root:900 MPI_Irecv MPI_Send MPI_Wait");
    (void)strcpy(
        m.trace_params.loop,
        "work:3 MPI_Isend:3:17 MPI_Irecv work MPI_Testall MPI_Waitall MPI_Waitall repeat:2 { MPI_Send "
        "MPI_Recv MPI_Allreduce } MPI_Isend MPI_Irecv MPI_Wait MPI_Waitall every:2 { MPI_Irecv MPI_Isend "
        "MPI_Waitany MPI_Waitall MPI_Barrier }");
    (void)strcpy(m.trace_params.end, "MPI_Reduce MPI_Reduce");
    trace_make(&m, 4, 3);
    /* Rank 0 has one neighbour, rank 1 two. An iteration begins in the reduction that ends the one before. */
    static const char *const expected[PHASES][2] = {
        {"rCiS>w<"
         "s>itW<WS>R<AS>R<As>iw<WA",
         "rCiiS>S>w<w<"
         "s>s>iitW<<WS>S>R<R<AS>S>R<R<As>s>iiw<w<WA"},
        {"s>itW<WS>R<AS>R<As>iw<Wis>y<WBA", "s>s>iitW<<WS>S>R<R<AS>S>R<R<As>s>iiw<w<Wiis>s>y<y<WBA"},
        {"s>itW<WS>R<AS>R<As>iw<WA", "s>s>iitW<<WS>S>R<R<AS>S>R<R<As>s>iiw<w<WA"},
        {"s>itW<WS>R<AS>R<As>iw<Wis>y<WBAUU", "s>s>iitW<<WS>S>R<R<AS>S>R<R<As>s>iiw<w<Wiis>s>y<y<WBAUU"},
    };
    for (uint32_t k = 0; k < PHASES; k++) {
        for (uint32_t rank = 0; rank < 2; rank++) {
            spell(&m, k, rank, text, sizeof text);
            assert_string_equal(text, expected[k][rank]);
        }
    }
    trace_drop(&m);
}

/* Grids of ranks exchange in one direction after the other; nobody sees how an iteration ends. */
static void ranks_exchange_by_direction(void **state) {
    (void)state;
    struct trace_made m;
    char text[400];
    begin_line(&m, 4);
    m.load_params.dims = 2;
    m.load_params.periodic = false;
    (void)strcpy(
        m.trace_params.loop,
        "work MPI_Sendrecv:1::x- MPI_Sendrecv:1::x+ MPI_Isend:1:9:y MPI_Isend:1:9:y MPI_Irecv MPI_Waitall "
        "silent");
    trace_make(&m, 4, 3);
    for (uint32_t k = 1; k < 3; k++) {
        for (uint32_t rank = 0; rank < 4; rank++) {
            spell(&m, k, rank, text, sizeof text);
            assert_string_equal(text, rank < 2 ? "<b>bs>s>iiW<<" : ">b<bs>s>iiW<<");
        }
        const struct model_trace_run run = trace_run_of(&m, k);
        uint32_t of_tag[3] = {0};
        assert_int_equal(run.messages, 12);
        for (uint32_t i = 0; i < run.messages; i++) {
            const struct model_trace_message *one = &run.message[i];
            /* Without a tag it is the direction, from the style's first one on. */
            const uint32_t kind = one->tag == 9 ? 2 : one->tag - m.trace.style.first_tag;
            assert_in_range(kind, 0, 2);
            of_tag[kind]++;
            assert_true(kind == 2 || (kind == 0) == (one->from > one->to));
        }
        assert_int_equal(of_tag[0], 2);
        assert_int_equal(of_tag[1], 2);
        assert_int_equal(of_tag[2], 8);
    }
    trace_drop(&m);
}

/* Messages have the tags and shares of the bytes that the text says; a list before the loop takes bytes of its own. */
static void messages_have_their_bytes(void **state) {
    (void)state;
    enum { UNIT = 800 };
    struct trace_made m;
    begin_line(&m, 3);
    m.load_params.objects = 1;
    m.load_params.edge_bytes_sd = 0;
    m.load_params.edge_follows = 0;
    m.load_params.edge_phases = 0;
    m.load_params.edge_unit = UNIT;
    m.load_params.setup_edges = 0.5;
    (void)strcpy(m.trace_params.start, "MPI_Irecv MPI_Send:5:99 MPI_Wait");
    (void)strcpy(m.trace_params.loop,
                 "MPI_Isend:7:17 MPI_Irecv MPI_Waitall work MPI_Isend:3 MPI_Irecv MPI_Waitall");
    trace_make(&m, 2, 3);
    uint32_t whole = 0;
    for (uint32_t k = 0; k < 3; k++) {
        const struct model_trace_run run = trace_run_of(&m, k);
        assert_int_equal(run.messages, k == 0 ? 6 : 4);
        for (uint32_t i = 0; i < run.messages; i++) {
            const struct model_trace_message *one = &run.message[i];
            const bool list = k == 0 && one->tag == 99;
            whole = whole == 0 ? one->bytes / (list ? 5 : one->tag == 17 ? 7 : 3) : whole;
            assert_int_equal(one->bytes, whole * (list ? 5 : one->tag == 17 ? 7 : 3));
        }
    }
    assert_int_equal(whole % (UNIT / 10), 0);
    trace_drop(&m);
}

/* What is done in some iterations is done in as many as the text says. */
static void some_iterations_do_more(void **state) {
    (void)state;
    enum { PHASES = 400 };
    struct trace_made m;
    uint32_t more = 0;
    begin_line(&m, PHASES);
    (void)strcpy(m.trace_params.loop, "work MPI_Send MPI_Recv some:30 { MPI_Barrier }");
    trace_make(&m, 2, 3);
    for (uint32_t k = 0; k < PHASES; k++) {
        char text[400];
        spell(&m, k, 0, text, sizeof text);
        more += strchr(text, 'B') != NULL && strstr(text, "BA") != NULL;
    }
    print_message("%u of %u\n", more, PHASES);
    assert_in_range(more, 90, 150);
    trace_drop(&m);
}

/* From the last send of a rank to its reduction, cycles. */
static uint64_t last_gap(const char *loop, uint32_t rank) {
    struct trace_made m;
    uint64_t received = 0, gap = 0;
    begin_line(&m, 12);
    m.load_params.preemptions = 0;
    (void)strcpy(m.trace_params.loop, loop);
    trace_make(&m, 2, 3);
    const struct model_trace_run run = trace_run_of(&m, 10); /* warm */
    for (uint64_t i = 0; i < run.count; i++) {
        const struct model_trace_event *e = model_trace_event(&run, i);
        const uint32_t what = model_trace_what_of(e);
        received = e->rank == rank && what == MODEL_TRACE_RECV + 1 ? e->time : received;
        gap = e->rank == rank && what == MODEL_TRACE_ALLREDUCE ? e->time - received : gap;
    }
    trace_drop(&m);
    return gap;
}

/* Other code takes about as long as the text says: on all ranks, or on rank 0. */
static void other_code_takes_its_time(void **state) {
    (void)state;
    static const struct {
        const char *statement;
        double ns[2]; /* of rank 0 and of rank 1 */
    } rows[] = {{"local:3000000", {3e6, 3e6}}, {"root:3000000", {3e6, 0}}};
    for (uint32_t rank = 0; rank < 2; rank++) {
        const uint64_t without = last_gap("work MPI_Send MPI_Recv", rank);
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            char loop[100];
            (void)snprintf(loop, sizeof loop, "work MPI_Send MPI_Recv %s", rows[i].statement);
            const double ns = ((double)last_gap(loop, rank) - (double)without) / 2.596096;
            print_message("%s on rank %u: %.0f ns\n", rows[i].statement, rank, ns);
            assert_true(ns > 0.8 * rows[i].ns[rank] - 2000 && ns < 1.5 * rows[i].ns[rank] + 2000);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_texts_say_why),       cmocka_unit_test(ranks_make_these_calls),
        cmocka_unit_test(ranks_exchange_by_direction), cmocka_unit_test(messages_have_their_bytes),
        cmocka_unit_test(some_iterations_do_more),     cmocka_unit_test(other_code_takes_its_time),
    };
    return cmocka_run_group_tests_name("trace_program", tests, NULL, NULL);
}
