/* SPDX-License-Identifier: BSD-3-Clause */
/* The VOM reader with directories: breaks every rule between ranks once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libreader/vom/set/file_type.h"
#include "libreader/vom/set/set.h"
#include "libreader/vom/set/summary.h"
#include "libreader/vom/set/verify.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/mem.h"
#include "tests/support/files.h"
#include "tests/support/vom_judge.h"

#define STRICT READ_VOM_STRICT
#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* Memory budgets: one phase at a time, and all at once. */
static const size_t budgets[] = {1, 0};

static void accept_set(const char *directory, unsigned flags) {
    for (size_t i = 0; i < COUNT(budgets); i++) {
        hpcw_error err = {0};
        if (read_vom_verify_directory(directory, flags, budgets[i], &err) != HPCW_OK) {
            fail_msg("refused: %s", err.message);
        }
    }
}

static void refuse_set(const char *directory, unsigned flags, hpcw_status status, const char *part) {
    for (size_t i = 0; i < COUNT(budgets); i++) {
        hpcw_error err = {0};
        hpcw_status got = read_vom_verify_directory(directory, flags, budgets[i], &err);
        if (got != status || strstr(err.message, part) == NULL ||
            strncmp(err.message, directory, strlen(directory)) != 0) {
            fail_msg("expected %s \"%s\", got %s \"%s\"", hpcw_status_name(status), part, hpcw_status_name(got),
                     err.message);
        }
    }
}

static void good_sets_pass(void **state) {
    (void)state;
    for (int packed = 0; packed < 4; packed++) {
        char directory[256];
        scratch_make(directory, sizeof directory);
        vom_put(directory, 0, vom_rank[0], packed & 1);
        vom_put(directory, 1, vom_rank[1], packed & 2);
        accept_set(directory, STRICT);
        accept_set(directory, 0);
        scratch_remove(directory);
    }
}

/* ---- names ---------------------------------------------------------------------------------------------- */

static void put_named(const char *directory, const char *name) {
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fclose(f), 0);
}

static void names_make_a_set(void **state) {
    (void)state;
    static const struct {
        const char *name, *part; /* part of the message; NULL: valid without STRICT */
    } foreign[] = {
        {"data.1.json.br", ": expected one file for rank 1, got it plain and compressed"},
        {"toy.2.json", ": expected one data set, got two, \"data\" and \"toy\""},
        {"dat.2.json", ": expected one data set, got two, \"dat\" and \"data\""},
        {"data.3.json", ": expected a file for each of the ranks 0 to 3, got none for rank 2"},
        {"data.2.jso", NULL},
        {"data.02.json", NULL},
        {"data.32768.json", NULL},
        {"data.4294967298.json", NULL},
        {"data..json", NULL},
        {".2.json", NULL},
        {"2.json", NULL},
        {"data2.json", NULL},
        {"data.2.json.gz", NULL},
        {"vt_lb_statistics.json", NULL},
    };
    char directory[256];
    scratch_make(directory, sizeof directory);
    refuse_set(directory, 0, HPCW_EFORMAT,
               ": expected files named STEM.RANK.json or STEM.RANK.json.br, got none");
    vom_put(directory, 0, vom_rank[0], false);
    vom_put(directory, 1, vom_rank[1], false);
    for (size_t i = 0; i < COUNT(foreign); i++) {
        char path[512];
        put_named(directory, foreign[i].name);
        if (foreign[i].part != NULL) {
            refuse_set(directory, 0, HPCW_EFORMAT, foreign[i].part);
        } else {
            accept_set(directory, 0);
        }
        if (foreign[i].name[0] != '.') {
            refuse_set(directory, STRICT, HPCW_EFORMAT,
                       foreign[i].part != NULL ? foreign[i].part
                                               : ": expected only files named STEM.RANK.json");
        }
        (void)snprintf(path, sizeof path, "%s/%s", directory, foreign[i].name);
        assert_int_equal(unlink(path), 0);
    }
    put_named(directory, ".hidden");
    accept_set(directory, STRICT);

    /* Refused: a set without a file of rank 0, a stem with a dot (if strict), and a path that is no directory. */
    char from[512];
    char to[512];
    (void)snprintf(from, sizeof from, "%s/data.0.json", directory);
    (void)snprintf(to, sizeof to, "%s/da.ta.0.json", directory);
    assert_int_equal(unlink(from), 0);
    refuse_set(directory, 0, HPCW_EFORMAT, "got none for rank 0");
    (void)snprintf(from, sizeof from, "%s/data.1.json", directory);
    assert_int_equal(unlink(from), 0);
    vom_put(directory, 0, vom_smallest, false);
    (void)snprintf(from, sizeof from, "%s/data.0.json", directory);
    assert_int_equal(rename(from, to), 0);
    accept_set(directory, 0);
    refuse_set(directory, STRICT, HPCW_EFORMAT, ": expected a stem without a dot");
    refuse_set(to, 0, HPCW_ENOENT, "cannot open the directory");
    scratch_remove(directory);
}

/* The first versions of vt wrote the type at the end, which read_vom_file_type does not reach. */
static enum read_vom_file_type type_of(const char *path) {
    enum read_vom_file_type type;
    assert_int_equal(read_vom_file_type(path, &type, NULL), HPCW_OK);
    return type;
}

static bool is_set(const char *directory) {
    bool is;
    assert_int_equal(read_vom_is_set(directory, &is, NULL), HPCW_OK);
    return is;
}

static void old_files_are_known(void **state) {
    (void)state;
    enum { TASKS = 2000 };
    static const char *const begin[] = {"{\"phases\":[{\"id\":0,\"tasks\":[",
                                        "{ \"phases\" :\n[ {\"id\":0,\"tasks\":[",
                                        "{\"phases\":[{\"id\":0,\"jobs\":["};
    char directory[256];
    char path[512];
    scratch_make(directory, sizeof directory);
    assert_false(is_set(directory));
    (void)snprintf(path, sizeof path, "%s/old.0.json", directory);
    for (size_t i = 0; i < COUNT(begin); i++) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        assert_true(fputs(begin[i], f) >= 0);
        for (int t = 0; t < TASKS; t++) {
            assert_true(fprintf(f,
                                "%s{\"entity\":{\"collection_id\":7,\"home\":0,\"id\":%d,\"index\":[%d],"
                                "\"migratable\":true,\"type\":\"object\"},"
                                "\"node\":0,\"resource\":\"cpu\",\"time\":1.5}",
                                t == 0 ? "" : ",", (t + 1) * 262144 + 3, t) > 0);
        }
        assert_true(fputs("]}],\"type\":\"LBDatafile\"}", f) >= 0);
        assert_int_equal(fclose(f), 0);
        assert_int_equal(type_of(path), i < 2 ? READ_VOM_DATA_FILE : READ_VOM_UNKNOWN_FILE);
        assert_int_equal(is_set(directory), i < 2);
        if (i < 2) {
            accept_set(directory, 0);
        }
    }
    scratch_remove(directory);
}

/* ---- rules ---------------------------------------------------------------------------------------------- */

struct broken_set {
    unsigned rank; /* rank whose text is edited */
    const char *from, *to;
    unsigned flags;
    const char *path, *part; /* parts of the message */
};

#define A_TASK "\"entity\":{\"collection_id\":7,\"home\":0,\"id\":262147,\"index\":[0,4]"
#define LAST_TASK "\"time\":1.0,\"user_defined\":{}}"

static const struct broken_set broken_sets[] = {
    /* Ranks and phases. */
    {1, "\"rank\":1", "\"rank\":0", 0, "data.1.json: metadata.rank at offset ", ""},
    {1, "\"id\":4,", "\"id\":5,", 0, "data.1.json: phases[1] at offset ", "id: expected 4 as in rank 0, got 5"},
    {1, "]}]}", "]},{\"id\":6,\"tasks\":[]}]}", 0, "", " phases as in rank 0, got more"},
    {0, "]}]}", "]},{\"id\":6,\"tasks\":[]}]}", 0, "", " phases as in rank 0, got 2"},
    {1, "\"list\":[1]", "\"list\":[]", 0, "data.1.json: metadata at offset ",
     ": phases: expected the lists of the first rank, got others (0 identical, 1 skipped entries)"},
    {1, "\"count\":5,", "", 0, "", "phases: expected the lists of the first rank, got others"},
    {1, "[[2,3]]", "[[2,2]]", 0, "", "phases: expected the lists of the first rank, got others"},
    /* Entities. */
    {0, LAST_TASK,
     "\"time\":1.0},{" A_TASK ",\"migratable\":true,\"type\":\"object\"},\"node\":0,\"resource\":\"cpu\","
     "\"subphases\":[{\"id\":0,\"time\":1.0}],\"time\":1.0}",
     0, "data.1.json: phases[1].tasks[0] at offset ",
     ": expected each entity once in a phase, got id 262147 again, a task of rank 0 already"},
    {0, LAST_TASK,
     "\"time\":1.0},{\"entity\":{\"collection_id\":7,\"home\":0,\"id\":524291,\"index\":[0,4],\"migratable\":"
     "true,\"type\":\"object\"},\"node\":0,\"resource\":\"cpu\",\"subphases\":[{\"id\":0,\"time\":1.0}],"
     "\"time\":1.0}",
     0, "data.1.json: phases[1].tasks[0] at offset ",
     ": expected another index in collection 7, got that of task 1 of rank 0"},
    {0, LAST_TASK,
     "\"time\":1.0},{\"entity\":{\"home\":2,\"id\":9,\"migratable\":false,\"type\":\"object\"},\"node\":0,"
     "\"resource\":\"cpu\",\"time\":1.0}",
     0, "data.0.json: phases[1].tasks[1] at offset ", ": home: expected a rank below 2, got 2"},
    /* Ends of communications. */
    {0, "\"to\":{\"home\":1,\"id\":5,", "\"to\":{\"home\":2,\"id\":9,", 0,
     "data.0.json: phases[0].communications[1] at offset ", ": home: expected a rank below 2, got 2"},
    {0, "\"to\":{\"id\":1,\"type\":\"node\"}", "\"to\":{\"id\":2,\"type\":\"node\"}", 0,
     "data.0.json: phases[0].communications[5] at offset ", ": to: expected a node below 2, got 2"},
    {0, "\"from\":{\"home\":1,\"id\":262151", "\"from\":{\"home\":1,\"id\":524295", 0,
     "data.0.json: phases[0].communications[0] at offset ",
     ": expected id 524295 as a task of some rank in phase 0, got none"},
    {1, "\"from\":{\"home\":1,\"id\":262151", "\"from\":{\"home\":1,\"id\":524295", 0,
     "data.1.json: phases[1].communications[0] at offset ",
     ": expected id 524295 as a task of some rank in phase 4, got none"},
    {1,
     ",{\"entity\":{\"home\":1,\"id\":5,\"migratable\":false,\"type\":\"object\"},\"node\":1,\"resource\":"
     "\"cpu\",\"time\":0.0}",
     "", 0, "data.0.json: phases[0].communications[1] at offset ",
     ": expected id 5 as a task of some rank in phase 0, got none"},
    {1,
     ",{\"entity\":{\"home\":1,\"id\":5,\"migratable\":false,\"type\":\"object\"},\"node\":1,\"resource\":"
     "\"cpu\",\"time\":0.0}",
     "", STRICT, "data.1.json: phases[0].communications[3] at offset ",
     ": expected id 5 as a task of this rank in phase 0, got none"},
    /* Fields of an end differ from those of its task, which may come before or after it. */
    {1, "\"from\":{\"home\":0,\"id\":262147", "\"from\":{\"collection_id\":15,\"home\":0,\"id\":262147", 0,
     "data.1.json: phases[0].communications[2] at offset ",
     ": from: collection_id or objgroup_id of id 262147: expected that of the task of rank 0, got another"},
    {1, "\"from\":{\"home\":0,\"id\":262147", "\"from\":{\"home\":0,\"id\":262147,\"index\":[0,4,0]", 0, "",
     ": from: index of id 262147: expected that of the task of rank 0, got another"},
    {0, "\"from\":{\"home\":1,\"id\":262151", "\"from\":{\"home\":1,\"id\":262151,\"index\":[2,4]", 0,
     "data.1.json: phases[0].communications[0] at offset ",
     ": to: index of id 262151: expected what communication 0 of rank 0 says at offset 306 or before, got "
     "another"},
    /* An edge must be in the file of the right rank. */
    {0,
     "\"bytes\":64.0,\"from\":{\"collection_id\":7,\"home\":0,\"id\":262147,\"index\":[0,4],\"migratable\":"
     "true,\"type\":\"object\"},\"messages\":2,\"to\":{\"home\":1,\"id\":5,\"migratable\":false",
     "\"bytes\":64.0,\"from\":{\"home\":1,\"id\":5,\"migratable\":false,\"type\":\"object\"},\"messages\":2,"
     "\"to\":{\"home\":0,\"id\":1,\"migratable\":false",
     STRICT, "data.1.json: phases[0].communications[3] at offset ",
     ": from: expected the SendRecv of id 5 in the file of one rank, got them here and in that of rank 0"},
    {1, "\"from\":{\"home\":1,\"id\":5,\"migratable\":false",
     "\"from\":{\"home\":0,\"id\":1,\"migratable\":false", STRICT, "",
     ": from: expected this SendRecv in the file of rank 0, which has id 1, got it in that of rank 1"},
    /* Hosts. */
    {1, "\"num_nodes\":1", "\"num_nodes\":2", 0, "data.1.json: metadata at offset ",
     ": shared_node.num_nodes: expected 1 as in a rank before, got 2"},
    {1, "\"rank\":1,\"size\":2", "\"rank\":0,\"size\":2", STRICT, "",
     ": metadata.shared_node.rank of rank 1: expected 1, got 0"},
    {1, "\"rank\":1,\"size\":2", "\"rank\":1,\"size\":3", STRICT, "",
     ": metadata.shared_node.size of rank 1: expected 2, got 3"},
    /* Balancing. */
    {1, "\"subphases\":[{\"id\":0,\"time\":0.5}],", "", STRICT, "data.1.json: phases[1].tasks[0] at offset ",
     ": subphases: expected 1 like the migratable tasks before (rank 0), got 0"},
};

static void rules_between_ranks_hold(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(broken_sets); i++) {
        const struct broken_set *b = &broken_sets[i];
        char directory[256];
        scratch_make(directory, sizeof directory);
        char *edited = vom_edit(vom_rank[b->rank], b->from, b->to);
        for (unsigned r = 0; r < 2; r++) {
            vom_put(directory, r, r == b->rank ? edited : vom_rank[r], false);
        }
        refuse_set(directory, b->flags, HPCW_EFORMAT, b->path);
        refuse_set(directory, b->flags, HPCW_EFORMAT, b->part);
        if (b->flags == STRICT) {
            hpcw_error err = {0};
            hpcw_status loose = read_vom_verify_directory(directory, 0, 0, &err);
            /* Without STRICT these sets are valid, except if a task is missing in another file, too. */
            assert_true(loose == HPCW_OK || strstr(err.message, "as a task of some rank") != NULL);
        }
        free(edited);
        scratch_remove(directory);
    }
}

/* Edits the files of both ranks. The set must be refused. */
static void two_edits(const char *from_0, const char *to_0, const char *from_1, const char *to_1,
                      unsigned flags, const char *part) {
    char directory[256];
    scratch_make(directory, sizeof directory);
    char *first = vom_edit(vom_rank[0], from_0, to_0);
    char *second = vom_edit(vom_rank[1], from_1, to_1);
    vom_put(directory, 0, first, true);
    vom_put(directory, 1, second, true);
    if (part != NULL) {
        refuse_set(directory, flags, HPCW_EFORMAT, part);
    } else {
        accept_set(directory, flags);
    }
    free(first);
    free(second);
    scratch_remove(directory);
}

static void rules_that_take_two_edits(void **state) {
    (void)state;
    static const char host_0[] = "\"shared_node\":{\"id\":0,\"num_nodes\":1,\"rank\":0,\"size\":2}";
    static const char host_1[] = "\"shared_node\":{\"id\":0,\"num_nodes\":1,\"rank\":1,\"size\":2}";
    two_edits(host_0, "\"shared_node\":{\"id\":0,\"num_nodes\":2,\"rank\":0,\"size\":1}", host_1,
              "\"shared_node\":{\"id\":1,\"num_nodes\":2,\"rank\":0,\"size\":1}", STRICT, NULL);
    two_edits(
        host_0, "\"shared_node\":{\"id\":1,\"num_nodes\":2,\"rank\":0,\"size\":1}", host_1,
        "\"shared_node\":{\"id\":0,\"num_nodes\":2,\"rank\":0,\"size\":1}", STRICT,
        ": metadata.shared_node.id (numbered in the order of the lowest rank) of rank 0: expected 0, got 1");
    two_edits(host_0, "\"shared_node\":{\"id\":0,\"num_nodes\":3,\"rank\":0,\"size\":1}", host_1,
              "\"shared_node\":{\"id\":1,\"num_nodes\":3,\"rank\":0,\"size\":1}", STRICT,
              ": metadata.shared_node: expected 0 ranks on host 2 by its size, got 0");
    two_edits(host_0, "\"shared_node\":{\"id\":0,\"num_nodes\":1,\"rank\":0,\"size\":3}", host_1,
              "\"shared_node\":{\"id\":0,\"num_nodes\":1,\"rank\":1,\"size\":3}", STRICT,
              ": metadata.shared_node: expected 3 ranks on host 0 by its size, got 2");

    /* Rank 0 has an edge that only rank 1 may record, as rank 1 has the entity. */
    two_edits("\"bytes\":64.0,\"from\":{\"collection_id\":7,\"home\":0,\"id\":262147,\"index\":[0,4],"
              "\"migratable\":true",
              "\"bytes\":64.0,\"from\":{\"home\":1,\"id\":5,\"migratable\":false",
              "\"bytes\":56.0,\"from\":{\"home\":1,\"id\":5,\"migratable\":false",
              "\"bytes\":56.0,\"from\":{\"home\":1,\"id\":262151,\"migratable\":true", STRICT,
              ": expected id 5 on rank 0, whose communication 1 at offset 513 only the rank of this entity may "
              "record, got "
              "it on rank 1");

    static const char zero_0[] = ",{\"entity\":{\"home\":0,\"id\":0,\"migratable\":false,\"type\":\"object\"},"
                                 "\"node\":0,\"resource\":\"cpu\",\"time\":0.0}";
    static const char zero_1[] = ",{\"entity\":{\"home\":0,\"id\":0,\"migratable\":false,\"type\":\"object\"},"
                                 "\"node\":1,\"resource\":\"cpu\",\"time\":0.0}";
    two_edits(zero_0, "", "\"time\":2.0}", "\"time\":2.0}", 0, NULL);
    two_edits(zero_0, "", zero_1, "", 0,
              "data.0.json.br: phases[0].communications[2]: expected id 0 as a task of some rank in phase 0, "
              "got none");
}

/* ---- many ranks and phases ------------------------------------------------------------------------------ */

enum { RANKS = 37, PHASES = 23, OBJECTS = 5 };

/* Objects move to the next rank in each phase. Each object receives from the next object and from a distant
 * one. */
static char *text_of(unsigned r) {
    struct hpcw_i_buf b = {0};
    char line[1024];
    (void)snprintf(
        line, sizeof line,
        "{\"metadata\":{\"phases\":{\"identical_to_previous\":{\"list\":[],\"range\":[]},"
        "\"skipped\":{\"list\":[],\"range\":[]}},\"rank\":%u,\"shared_node\":{\"id\":%u,\"num_nodes\":%d,"
        "\"rank\":0,\"size\":1},\"type\":\"LBDatafile\"},\"phases\":[",
        r, r, RANKS);
    assert_true(hpcw_i_buf_append_str(&b, line));
    for (unsigned p = 0; p < PHASES; p++) {
        unsigned home = (r + p) % RANKS;
        assert_true(hpcw_i_buf_append_str(&b, p == 0 ? "{\"communications\":[" : ",{\"communications\":["));
        for (unsigned e = 0; e < 2 * OBJECTS; e++) {
            unsigned other = e % 2 == 0 ? (home + 1) % RANKS : (home + 17) % RANKS;
            (void)snprintf(
                line, sizeof line,
                "%s{\"bytes\":%u.0,\"from\":{\"home\":%u,\"id\":%u,\"migratable\":true,\"type\":\"object\"},"
                "\"messages\":1,\"to\":{\"home\":%u,\"id\":%u,\"migratable\":true,\"type\":\"object\"},"
                "\"type\":\"SendRecv\"}",
                e == 0 ? "" : ",", e, other, (e / 2 + 1) * 262144 + 4 * other + 3, home,
                (e / 2 + 1) * 262144 + 4 * home + 3);
            assert_true(hpcw_i_buf_append_str(&b, line));
        }
        (void)snprintf(line, sizeof line, "],\"id\":%u,\"tasks\":[", p);
        assert_true(hpcw_i_buf_append_str(&b, line));
        for (unsigned k = 0; k < OBJECTS; k++) {
            (void)snprintf(
                line, sizeof line,
                "%s{\"entity\":{\"collection_id\":7,\"home\":%u,\"id\":%u,\"index\":[%u],\"migratable\":true,"
                "\"type\":\"object\"},\"node\":%u,\"resource\":\"cpu\",\"time\":0.5}",
                k == 0 ? "" : ",", home, (k + 1) * 262144 + 4 * home + 3, home * OBJECTS + k, r);
            assert_true(hpcw_i_buf_append_str(&b, line));
        }
        assert_true(hpcw_i_buf_append_str(&b, "]}"));
    }
    assert_true(hpcw_i_buf_append(&b, "]}", 3));
    return (char *)b.data;
}

static size_t largest;
static bool record_largest(size_t size) {
    largest = size > largest ? size : largest;
    return true;
}

static void many_files_are_read_in_step(void **state) {
    (void)state;
    static const size_t some[] = {1, 20000, 60000, 100000, 0};
    char directory[256];
    scratch_make(directory, sizeof directory);
    for (unsigned r = 0; r < RANKS; r++) {
        char *text = text_of(r);
        vom_put(directory, r, text, r % 3 == 0);
        free(text);
    }
    for (size_t i = 0; i < COUNT(some); i++) {
        hpcw_error err = {0};
        hpcw_i_mem_gate = record_largest;
        largest = 0;
        hpcw_status status = read_vom_verify_directory(directory, STRICT, some[i], &err);
        hpcw_i_mem_gate = NULL;
        if (status != HPCW_OK) {
            fail_msg("budget %zu: %s", some[i], err.message);
        }
        assert_true(largest < (size_t)2 << 20);
    }
    /* An object of rank 30 gets another id late in the run. The set is refused, since other ranks send to the
     * old id. */
    char *text = text_of(30);
    const char *phase = strstr(text, "\"id\":21,\"tasks\":[");
    assert_non_null(phase);
    char expected[64];
    (void)snprintf(expected, sizeof expected, "\"home\":14,\"id\":%d", 3 * 262144 + 4 * 14 + 3);
    const char *task = strstr(phase, expected);
    assert_non_null(task);
    /* The object's sequence number 3 becomes 9. */
    char changed[64];
    int n = snprintf(changed, sizeof changed, "\"home\":14,\"id\":%d", 9 * 262144 + 4 * 14 + 3);
    assert_int_equal(strlen(expected) + 1, n);
    char *longer = malloc(strlen(text) + 2);
    assert_non_null(longer);
    size_t before = (size_t)(task - text);
    memcpy(longer, text, before);
    memcpy(longer + before, changed, (size_t)n);
    strcpy(longer + before + (size_t)n, task + strlen(expected));
    vom_put(directory, 30, longer, true);
    for (size_t i = 0; i < COUNT(some); i++) {
        hpcw_error err = {0};
        assert_int_equal(read_vom_verify_directory(directory, STRICT, some[i], &err), HPCW_EFORMAT);
        char part[128];
        (void)snprintf(part, sizeof part, "expected id %d as a task of ", 3 * 262144 + 4 * 14 + 3);
        if (strstr(err.message, part) == NULL || strstr(err.message, "phases[21].communications[") == NULL) {
            fail_msg("%s", err.message);
        }
    }
    free(longer);
    free(text);
    scratch_remove(directory);
}

/* Phases differ in size by orders of magnitude, so a round can be too large with any number of phases. */
static void small_and_large_phases(void **state) {
    (void)state;
    enum { LARGE = 400 }; /* tasks of each fourth phase; the others have one */
    char directory[256], line[256];
    struct hpcw_i_buf b = {0};
    scratch_make(directory, sizeof directory);
    assert_true(hpcw_i_buf_append_str(&b, "{\"type\":\"LBDatafile\",\"phases\":["));
    for (unsigned p = 0; p < PHASES; p++) {
        (void)snprintf(line, sizeof line, "%s{\"id\":%u,\"tasks\":[", p == 0 ? "" : ",", p);
        assert_true(hpcw_i_buf_append_str(&b, line));
        for (unsigned k = 0; k < (p % 4 == 3 ? LARGE : 1); k++) {
            (void)snprintf(
                line, sizeof line,
                "%s{\"entity\":{\"collection_id\":7,\"home\":0,\"id\":%u,\"index\":[%u],\"migratable\":true,"
                "\"type\":\"object\"},\"node\":0,\"resource\":\"cpu\",\"time\":0.5}",
                k == 0 ? "" : ",", (k + 1) * 262144 + 3, k);
            assert_true(hpcw_i_buf_append_str(&b, line));
        }
        assert_true(hpcw_i_buf_append_str(&b, "]}"));
    }
    assert_true(hpcw_i_buf_append(&b, "]}", 3));
    vom_put(directory, 0, (const char *)b.data, false);
    for (size_t budget = 64; budget < 200000; budget += budget / 4) {
        hpcw_error err = {0};
        if (read_vom_verify_directory(directory, 0, budget, &err) != HPCW_OK) {
            fail_msg("budget %zu: %s", budget, err.message);
        }
    }
    hpcw_i_buf_free(&b);
    scratch_remove(directory);
}

static unsigned long allocations_left;

static bool gate(size_t size) {
    (void)size;
    bool good = allocations_left != 0;
    allocations_left--;
    return good;
}

static void no_memory_is_said(void **state) {
    (void)state;
    char directory[256];
    scratch_make(directory, sizeof directory);
    vom_put(directory, 0, vom_rank[0], false);
    vom_put(directory, 1, vom_rank[1], true);
    for (int what = 0; what < 2; what++) {
        hpcw_status status = HPCW_ENOMEM;
        unsigned long n = 0;
        for (; status != HPCW_OK; n++) {
            hpcw_error err = {0};
            struct read_vom_summary summary = {0};
            allocations_left = n;
            hpcw_i_mem_gate = gate;
            status = what == 0 ? read_vom_verify_directory(directory, STRICT, 1, &err)
                               : read_vom_summarise(directory, &summary, &err);
            hpcw_i_mem_gate = NULL;
            read_vom_summary_free(&summary);
            if (status != HPCW_OK &&
                (status != HPCW_ENOMEM || strncmp(err.message, directory, strlen(directory)) != 0)) {
                fail_msg("allocation %lu: %s \"%s\"", n, hpcw_status_name(status), err.message);
            }
            assert_true(n < 10000);
        }
        assert_true(n > 20);
    }
    scratch_remove(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_sets_pass),
        cmocka_unit_test(names_make_a_set),
        cmocka_unit_test(old_files_are_known),
        cmocka_unit_test(rules_between_ranks_hold),
        cmocka_unit_test(rules_that_take_two_edits),
        cmocka_unit_test(many_files_are_read_in_step),
        cmocka_unit_test(small_and_large_phases),
        cmocka_unit_test(no_memory_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
