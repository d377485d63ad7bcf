/* SPDX-License-Identifier: BSD-3-Clause */
/* gen/report: what the page of a small event log and the terminal say about computing, MPI and waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/report/report.h"
#include "tests/support/files.h"
#include "tests/support/happens.h"

static char path[300], page_path[300];

static int make(void **state) {
    (void)scratch_set_up(state);
    (void)snprintf(path, sizeof path, "%s/app.clog2", scratch);
    (void)snprintf(page_path, sizeof page_path, "%s/page.html", scratch);
    return 0;
}

static char said[4096];

/* Returns the page of this log. `said` gets the text of the terminal. */
static char *page_of(uint32_t ranks, const struct happens *h, size_t count) {
    hpcw_error warning = {.code = HPCW_OK}, err = {0};
    struct gen_report r = {.path = path, .warning = &warning};
    write_log(path, ranks, h, count);
    if (ui_page_open(NULL, page_path, "t", &r.page, &err) != HPCW_OK || gen_report_clog2(&r, &err) != HPCW_OK ||
        ui_page_finish(r.page, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    (void)snprintf(said, sizeof said, "%s", ui_page_said(r.page));
    ui_page_free(r.page);
    size_t size;
    char *text = (char *)read_file(page_path, &size);
    assert_non_null(text);
    return text;
}

#define HAS(text, part)                                                                                        \
    if (strstr(text, part) == NULL) {                                                                          \
        fail_msg("no \"%s\" in %.4000s", part, text);                                                          \
    }

/* Rank 0 computes outside of all states for 6 of 10 s, rank 1 waits for it in a receive. */
static void time_outside_of_states_is_computing(void **state) {
    (void)state;
    static const struct happens log[] = {
        BEGIN(0, 0, SENDRECV), END(1, 0, SENDRECV), BEGIN(7, 0, SEND), SENT(7, 0, 1),     END(10, 0, SEND),
        BEGIN(0, 1, SENDRECV), END(1, 1, SENDRECV), BEGIN(1, 1, RECV), RECEIVED(9, 1, 0), END(10, 1, RECV),
    };
    char *page = page_of(2, log, sizeof log / sizeof log[0]);
    HAS(said,
        "Event log (CLOG-2): the run takes 10 s on 2 ranks. Of their time 70 % is in MPI (45 % in MPI_Recv), "
        "30 % computing outside of states.\n");
    HAS(said, "\nImbalance 100 %: rank 0 is outside of MPI for 6 s, the mean rank for 3 s.\n");
    HAS(said, "\nRanks wait for others in 30 % of their time: 100 % of it in receives for late senders. They "
              "wait most for rank 0: 6 s of 6 s. The one that waits most is rank 1: 6 s, of which "
              "6 s for rank 0.\n");
    HAS(said, "\nThe longest wait: rank 1 waits 6 s in MPI_Recv for rank 0, from 1 s of the log's clock on.\n");
    HAS(said, "\nThe critical path, which leads to ranks that are late by themselves, is 60 % computing "
              "outside of states, and for 10 s of 10 s on rank 0.\n");
    /* The page has the same findings, with links to the row of a rank and to a time in the chart. */
    HAS(page, "is in MPI (");
    HAS(page, "Imbalance <data class=\"share\" value=\"1\">");
    HAS(page, "<a href=\"#rank-0\">rank 0</a>");
    HAS(page, "<tr id=\"rank-0\">");
    HAS(page, "<a href=\"#timeline\" data-rank=\"1\" data-from=\"1\" data-to=\"7\">rank 1</a>");
    /* Computing outside of states is in the table and in the chart. */
    HAS(page, "<td>computing (outside of states)</td>");
    HAS(page, "\"name\":\"computing (outside of states)\",\"colour\":\"c12\"");
    /* The page begins with the kind of data, then has findings, chart, and how the log was read. */
    const char *place[] = {"The event log (CLOG-2) of a program on 2 ranks.", "<div class=\"findings\">",
                           "<div id=\"timeline\">", "How the event log was read</h2>"};
    const char *last = page;
    for (size_t i = 0; i < sizeof place / sizeof place[0]; i++) {
        const char *found = strstr(last, place[i]);
        if (found == NULL) {
            fail_msg("\"%s\" is not where it should be", place[i]);
        }
        last = found;
    }
    free(page);
}

/* A rank does not work after the end of its last state. */
static void an_early_end_is_no_work(void **state) {
    (void)state;
    static const struct happens log[] = {
        BEGIN(0, 0, SENDRECV), END(1, 0, SENDRECV), BEGIN(1, 0, COMPUTE), END(3, 0, COMPUTE),
        BEGIN(0, 1, SENDRECV), END(2, 1, SENDRECV), BEGIN(2, 1, COMPUTE), END(10, 1, COMPUTE),
    };
    char *page = page_of(2, log, sizeof log / sizeof log[0]);
    HAS(said, "50 % in other states (50 % in Compute), 0 % computing outside of states, 35 % after their last "
              "state.\n");
    HAS(page, "<td>no state any more</td>");
    free(page);
    HAS(said, "\nImbalance 60 %: rank 1 is outside of MPI for 8 s, the mean rank for 5 s.\n");
}

static void a_log_without_mpi(void **state) {
    (void)state;
    static const struct happens log[] = {BEGIN(0, 0, COMPUTE), END(4, 0, COMPUTE), BEGIN(2, 1, COMPUTE),
                                         END(4, 1, COMPUTE)};
    free(page_of(2, log, sizeof log / sizeof log[0]));
    HAS(said,
        "the run takes 4 s on 2 ranks. Of their time none is in MPI, 75 % in other states (75 % in Compute), "
        "25 % computing outside of states.\n");
    assert_null(strstr(said, "wait"));
    assert_null(strstr(said, "Imbalance"));
}

/* Shares of time are those of the main threads. States of other threads do not count. */
static void other_threads_do_not_count(void **state) {
    (void)state;
    static const struct happens log[] = {BEGIN(0, 0, COMPUTE),       END(2, 0, COMPUTE),
                                         BEGIN_IN(0, 0, 1, COMPUTE), END_IN(4, 0, 1, COMPUTE),
                                         BEGIN_IN(0, 0, 2, COMPUTE), END_IN(4, 0, 2, COMPUTE),
                                         BEGIN(0, 1, COMPUTE),       END(4, 1, COMPUTE)};
    char *page = page_of(2, log, sizeof log / sizeof log[0]);
    HAS(said, "75 % in other states (75 % in Compute), 0 % computing outside of states, 25 % after their last "
              "state.\n");
    HAS(page, "Only the main thread of a rank counts");
    free(page);
}

static void a_log_without_states(void **state) {
    (void)state;
    static const struct happens log[] = {SENT(1, 0, 1), RECEIVED(2, 1, 0)};
    free(page_of(2, log, sizeof log / sizeof log[0]));
    assert_string_equal(said, "");
}

/* Ranks 0 and 1 wait for rank 2 in a barrier. A chart has the time that others wait for each rank. */
static void a_late_rank_of_a_collective(void **state) {
    (void)state;
    static const struct happens log[] = {
        BEGIN(1, 0, BARRIER), END(5, 0, BARRIER),   BEGIN(2, 1, BARRIER),
        END(5, 1, BARRIER),   BEGIN(4, 2, BARRIER), END(5, 2, BARRIER),
    };
    char *page = page_of(3, log, sizeof log / sizeof log[0]);
    HAS(said, "100 % of it in collective calls for the last rank. They wait most for rank 2: 5 s of 5 s. The "
              "one that waits most is rank 0: 3 s, of which 3 s for rank 2.\n");
    HAS(page, "\"name\":\"time that others wait for the rank\"");
    free(page);
}

/* Rank 1 waits twice for rank 3, and once, but longer, for rank 2. */
static void which_ranks_wait_for_which(void **state) {
    (void)state;
    static const struct happens log[] = {
        BEGIN(1, 0, RECV), BEGIN(1, 1, RECV), BEGIN(2, 3, SEND),  SENT(2, 3, 1),     END(3, 3, SEND),
        RECEIVED(3, 1, 3), END(3, 1, RECV),   BEGIN(3, 1, RECV),  BEGIN(8, 2, SEND), SENT(8, 2, 1),
        END(9, 2, SEND),   RECEIVED(9, 1, 2), END(9, 1, RECV),    BEGIN(9, 1, RECV), BEGIN(10, 3, SEND),
        SENT(10, 3, 1),    END(11, 3, SEND),  RECEIVED(11, 1, 3), END(11, 1, RECV),  END(12, 0, RECV),
    };
    char *page = page_of(4, log, sizeof log / sizeof log[0]);
    HAS(said, "They wait most for rank 2: 5 s of 7 s. The one that waits most is rank 1: 7 s, of which 5 s for "
              "rank 2.\n");
    const char *table = strstr(page, "Which ranks wait for which");
    assert_non_null(table);
    const char *first = strstr(table, "<td");
    assert_non_null(first);
    HAS(first, "<td class=\"number\"><data class=\"count\" value=\"1\">1</data></td><td class=\"number\"><data "
               "class=\"count\" value=\"2\">2</data></td><td class=\"number\"><data class=\"count\" "
               "value=\"1\">1</data></td><td class=\"number\"><data class=\"seconds\" value=\"5\">5 s</data>");
    /* the share is also text, for readers without scripts */
    HAS(first, "value=\"0.7142857142857143\">71.4 %</data>");
    free(page);
}

/* The table has only some ranks, but all that findings name. Rank 19 has the critical path, though nobody waits for
 * it. */
static void ranks_of_findings_have_a_row(void **state) {
    (void)state;
    static const struct happens log[] = {
        BEGIN(0, 19, RECV), BEGIN(1, 0, RECV), BEGIN(2, 1, SEND), SENT(2, 1, 0),
        END(3, 1, SEND),    RECEIVED(3, 0, 1), END(3, 0, RECV),   END(9, 19, RECV),
    };
    char *page = page_of(20, log, sizeof log / sizeof log[0]);
    HAS(said, "on rank 19.\n");
    HAS(page, "<tr id=\"rank-19\">");
    free(page);
}

int main(void) {
    hpcw_error err = {.message = ""};
    if (ui_page_available(&err) != HPCW_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        return 77;
    }
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, scratch_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(time_outside_of_states_is_computing),
        TEST(an_early_end_is_no_work),
        TEST(a_log_without_mpi),
        TEST(other_threads_do_not_count),
        TEST(a_log_without_states),
        TEST(a_late_rank_of_a_collective),
        TEST(which_ranks_wait_for_which),
        TEST(ranks_of_findings_have_a_row),
    };
    return cmocka_run_group_tests_name("report_log", tests, NULL, NULL);
}
