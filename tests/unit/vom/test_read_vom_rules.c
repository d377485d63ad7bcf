/* SPDX-License-Identifier: BSD-3-Clause */
/* The VOM reader with single files: breaks every rule of doc/formats/vom.md, "Rules", once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tests/support/vom_judge.h"

#define STRICT READ_VOM_STRICT
#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static void good_files_pass(void **state) {
    (void)state;
    accept_vom(vom_rank[0], STRICT);
    accept_vom(vom_rank[1], STRICT);
    accept_vom(vom_smallest, 0);
    accept_vom(vom_old, 0);
    assert_int_equal(strlen(vom_smallest), 208);
    refuse_vom(vom_smallest, STRICT, HPCW_EFORMAT, "metadata at offset 12: expected the key \"phases\"");
    refuse_vom(vom_old, STRICT, HPCW_EFORMAT, "expected the keys in byte order");
}

/* What LBAF and vt's own script check: types, keys, ranges. */
static void the_schema_holds(void **state) {
    (void)state;
    static const struct vom_broken broken[] = {
        {"\"type\":\"LBDatafile\"", "\"type\":\"LBStatsfiel\"", "metadata.type", "\"LBStatsfiel",
         "expected \"LBDatafile\", got \"LBStatsfiel\""},
        {",\"type\":\"LBDatafile\"", "", NULL, NULL,
         "expected the type \"LBDatafile\" in metadata or at the top"},
        {"\"rank\":0", "\"rank\":32768", "metadata.rank", "32768,\"rank_",
         "expected an integer from 0 to 32767, got 32768"},
        {"\"rank\":0", "\"rank\":-1", "metadata.rank", "-1,\"rank_alp",
         "expected an integer from 0 to 32767, got -1"},
        {"\"rank\":0", "\"rank\":0.0", "metadata.rank", "0.0,\"rank_al",
         "expected an integer from 0 to 32767, got 0.0"},
        {"\"rank\":0", "\"rank\":\"0\"", "metadata.rank", "\"0\",\"rank_al",
         "expected an integer >= 0, got the string 0"},
        {"\"rank\":0", "\"rank\":null", "metadata.rank", "null,\"rank_a", "expected an integer >= 0, got null"},
        {"\"rank\":0", "\"rank\":[0]", "metadata.rank", "[0],\"rank_al",
         "expected an integer >= 0, got an array"},
        {"\"rank\":0", "\"rank\":{}", "metadata.rank", "{},\"rank_alp",
         "expected an integer >= 0, got an object"},
        {"\"rank\":0", "\"rank\":true", "metadata.rank", "true,\"rank_a", "expected an integer >= 0, got true"},
        {"\"rank_alpha\":1.5", "\"rank_alpha\":1", "metadata.rank_alpha", "1,\"shared_no",
         "expected a float >= 0 (with a point or an exponent), got 1"},
        {"\"rank_alpha\":1.5", "\"rank_alpha\":-1.5", "metadata.rank_alpha", "-1.5,\"shared",
         "expected a float >= 0 (with a point or an exponent), got -1.5"},
        {"\"rank_alpha\":1.5", "\"rank_alpha\":1e999", "metadata.rank_alpha", "1e999,\"share", "got 1e999"},
        {"\"level\":-3", "\"level\":2147483648", "metadata.attributes.level", "2147483648,\"",
         "expected a 32-bit integer, a float or a string, got 2147483648"},
        {"\"level\":-3", "\"level\":[]", "metadata.attributes.level",
         "[],\"weight\":", "expected a 32-bit integer, a float or a string, got an array"},
        {"\"level\":-3", "\"level\":null", "metadata.attributes.level", "null,\"weight",
         "expected a 32-bit integer, a float or a string, got null"},
        {"\"metadata\":", "\"metadatum\":", "the text", "{\"metadatum\"",
         "expected a key of the schema, got \"metadatum\""},
        {"\"rank_alpha\"", "\"generator\"", "metadata", "{\"attributes",
         "expected a key of the schema, got \"generator\""},
        {"\"rank_alpha\":1.5", "\"rank\":0", "metadata.rank", "\"rank\":0,\"sh",
         "expected each key once, got it again"},
        {"\"identical_to_previous\":{\"list\":[1],\"range\":[]},", "", "metadata.phases", "{\"count\":5,\"",
         "expected the key \"identical_to_previous\""},
        {"{\"list\":[1],\"range\":[]}", "{\"list\":[1]}", "metadata.phases.identical_to_previous",
         "{\"list\":[1]}", "expected the key \"range\""},
        {"\"range\":[[2,3]]", "\"range\":[[2]]", "metadata.phases.skipped.range[0]", "[2]]}},\"rank",
         "expected two numbers, got 1"},
        {"\"range\":[[2,3]]", "\"range\":[[2,3,4]]", "metadata.phases.skipped.range[0][2]", "4]]}},\"rank\"",
         "expected two numbers, got more"},
        {"\"range\":[[2,3]]", "\"range\":[2,3]", "metadata.phases.skipped.range[0]", "2,3]}},\"rank",
         "expected an array, got the number 2"},
        {",\"size\":2", "", "metadata.shared_node", "{\"id\":0,\"num", "expected the key \"size\""},
        {"\"id\":4,", "", "phases[1]", "{\"tasks\":[{\"", "expected the key \"id\""},
        {"\"id\":4,\"tasks\"", "\"id\":4,\"lb_iterations\"", "phases[1].lb_iterations[0]", "{\"entity\":{",
         "expected a key of the schema, got \"entity\""},
        {"\"id\":4,", "\"id\":0,", "phases[1].id", "0,\"tasks\":[{",
         "expected ids in ascending order, above 0, got 0"},
        {"\"bytes\":1456.0", "\"bytes\":1456", "phases[0].communications[0].bytes",
         "1456,\"from\":", "expected a float >= 0"},
        {"\"bytes\":1456.0,", "", "phases[0].communications[0]", "{\"from\":{\"ho",
         "expected the key \"bytes\""},
        {"\"messages\":26,", "", "phases[0].communications[0]", "{\"bytes\":145",
         "expected the key \"messages\""},
        {"\"messages\":26", "\"messages\":26.0", "phases[0].communications[0].messages", "26.0,\"to\":{\"",
         "expected an integer from 0 to 18446744073709551615, got 26.0"},
        {"\"messages\":26", "\"messages\":18446744073709551616", "phases[0].communications[0].messages",
         "184467440737", "got 18446744073709551616"},
        {"\"type\":\"SendRecv\"", "\"type\":\"Sendrecv\"", "phases[0].communications[0].type", "\"Sendrecv\"},",
         "expected the name of a category, got \"Sendrecv\""},
        {"\"type\":\"SendRecv\"", "\"type\":\"LocalInvoke\"", "phases[0].communications[0]", "{\"bytes\":145",
         "type: expected a category that is recorded, got \"LocalInvoke\""},
        {"\"type\":\"SendRecv\"", "\"type\":\"CollectionToNode\"", "phases[0].communications[0]",
         "{\"bytes\":145", "to.type: expected \"node\" in a CollectionToNode, got \"object\""},
        {"\"type\":\"SendRecv\"", "\"type\":\"WriteShared\"", "phases[0].communications[0]", "{\"bytes\":145",
         "from.type: expected \"shared_id\" in a WriteShared, got \"object\""},
        {"\"id\":1,\"type\":\"node\"", "\"id\":32768,\"type\":\"node\"", "phases[0].communications[5].to",
         "{\"id\":32768", "id: expected 0 to 32767 for a node, got 32768"},
        {"\"id\":1,\"type\":\"node\"", "\"home\":1,\"id\":1,\"type\":\"node\"",
         "phases[0].communications[5].to", "{\"home\":1,\"i",
         "expected exactly the keys id and type for a node, got others"},
        {"\"id\":3,\"type\":\"shared_id\"", "\"id\":2147483648,\"type\":\"shared_id\"",
         "phases[0].communications[9].from", "{\"id\":214748",
         "id: expected 0 to 2147483647 for a shared_id, got 2147483648"},
        {"\"id\":3,\"type\":\"shared_id\"", "\"id\":-1,\"type\":\"shared_id\"",
         "phases[0].communications[9].from.id", "-1",
         "expected an integer from 0 to 18446744073709551615, got -1"},
        {"\"type\":\"shared_id\"", "\"type\":\"block\"", "phases[0].communications[9].from.type",
         "\"block\"},\"me", "expected \"object\", \"node\" or \"shared_id\", got \"block\""},
        {",\"type\":\"shared_id\"", "", "phases[0].communications[9].from", "{\"id\":3},\"me",
         "expected the key \"type\""},
        {"\"node\":0", "\"node\":1", "phases[0].tasks[0].node", "1,\"resource\"",
         "expected 0, the rank of the file, got 1"},
        {"\"node\":0,", "", "phases[0].tasks[0]", "{\"attributes", "expected the key \"node\""},
        {"\"resource\":\"cpu\",", "", "phases[0].tasks[0]", "{\"attributes", "expected the key \"resource\""},
        {"\"resource\":\"cpu\"", "\"resource\":0", "phases[0].tasks[0].resource", "0,\"subphases",
         "expected a string, got the number 0"},
        {"\"time\":0.375,", "", "phases[0].tasks[0]", "{\"attributes", "expected the key \"time\""},
        {"\"time\":0.375", "\"time\":-0.375", "phases[0].tasks[0].time", "-0.375,\"user",
         "expected a float >= 0 (with a point or an exponent), got -0.375"},
        {"\"time\":0.375", "\"time\":NaN", NULL, NULL, "expected JSON, got at offset "},
        {"{\"id\":1,\"time\":0.125}", "{\"id\":2,\"time\":0.125}", "phases[0].tasks[0].subphases[1]",
         "{\"id\":2,\"tim", "id: expected 1, its place in the array, got 2"},
        {"{\"id\":1,\"time\":0.125}", "{\"id\":65535,\"time\":0.125}", "phases[0].tasks[0].subphases[1].id",
         "65535,\"time\"", "expected an integer from 0 to 65534, got 65535"},
        {"{\"id\":1,\"time\":0.125}", "{\"id\":1}", "phases[0].tasks[0].subphases[1]", "{\"id\":1}],\"t",
         "expected the key \"time\""},
        {"{\"id\":1,\"time\":0.125}", "{\"id\":1,\"time\":0}", "phases[0].tasks[0].subphases[1].time",
         "0}],\"time\":0", "expected a float >= 0"},
        {"\"shared_id\":-1", "\"shared_id\":1e400", "phases[0].tasks[0].user_defined.shared_id",
         "1e400,\"task_", "expected any value, got a number beyond the range of doubles: 1e400"},
    };
    break_vom(vom_rank[0], broken, COUNT(broken), 0);
}

/* Entities: bits of the id, and which fields each kind has. */
static void entities_agree_with_themselves(void **state) {
    (void)state;
    static const struct vom_broken broken[] = {
        /* the sender of communication 0, whose home is rank 1 */
        {"{\"home\":1,\"id\":262151", "{\"home\":2,\"id\":262151", "phases[0].communications[0].from",
         "{\"home\":2,\"i", "home: expected 1 by the bits of id 262151, got 2"},
        {"\"id\":262151,\"migratable\":true", "\"id\":262151,\"migratable\":false",
         "phases[0].communications[0].from", "{\"home\":1,\"i",
         "migratable: expected true (1) by the bits of id 262151, got 0"},
        {"\"id\":262151,\"migratable\":true", "\"id\":262150,\"migratable\":true",
         "phases[0].communications[0].from", "{\"home\":1,\"i",
         "migratable: expected false (0) by the bits of id 262150, got 1"},
        {"\"id\":262151", "\"id\":7", "phases[0].communications[0].from", "{\"home\":1,\"i",
         "id: expected a sequence number >= 1 for an element by the bits of id 7, got 0"},
        {"\"home\":1,\"id\":262151", "\"home\":0,\"id\":393219", "phases[0].communications[0].from",
         "{\"home\":0,\"i", "id: expected a home rank below 32768 by the bits of id 393219, got 32768"},
        {"\"id\":262151,", "", "phases[0].communications[0].from", "{\"home\":1,\"m",
         "expected the key \"id\" or \"seq_id\""},
        {"\"home\":1,\"id\":262151", "\"id\":262151", "phases[0].communications[0].from", "{\"id\":262151",
         "expected the key \"home\" with id 262151, got none"},
        {",\"migratable\":true", "", "phases[0].communications[0].from", "{\"home\":1,\"i",
         "expected the key \"migratable\" with id 262151, got none"},
        {"\"id\":262151,\"migratable\":true", "\"id\":262151,\"migratable\":true,\"objgroup_id\":1",
         "phases[0].communications[0].from", "{\"home\":1,\"i",
         "expected no key \"objgroup_id\" with id 262151, got one"},
        {"\"id\":262151,\"migratable\":true", "\"migratable\":true,\"seq_id\":3",
         "phases[0].communications[0].from", "{\"home\":1,\"m",
         "expected the key \"collection_id\" with seq_id 3, got none"},
        {"\"id\":262151", "\"id\":262151.0", "phases[0].communications[0].from.id", "262151.0,\"mi",
         "expected an integer"},
        {"\"index\":[0,4]", "\"index\":[]", "phases[0].communications[0].to.index", "[],\"migratab",
         "expected at least one number, got none"},
        {"\"index\":[0,4]", "\"index\":[0,-4]", "phases[0].communications[0].to.index[1]", "-4],\"migrata",
         "expected an integer"},
        /* a handler */
        {"{\"home\":1,\"id\":5", "{\"home\":1,\"id\":262149", "phases[0].communications[1].to",
         "{\"home\":1,\"i",
         "id: expected no sequence number for a bare handler by the bits of id 262149, got 1"},
        {"{\"home\":1,\"id\":5", "{\"collection_id\":7,\"home\":1,\"id\":5", "phases[0].communications[1].to",
         "{\"collection", "expected no key \"collection_id\" with id 5, got one"},
        {"\"id\":5,", "\"id\":5,\"index\":[1],", "phases[0].communications[1].to", "{\"home\":1,\"i",
         "expected no key \"index\" with id 5, got one"},
        {"\"id\":5,\"migratable\":false", "\"id\":5,\"migratable\":false,\"objgroup_id\":5",
         "phases[0].communications[1].to", "{\"home\":1,\"i",
         "expected no key \"objgroup_id\" with id 5, got one"},
        /* id 0 */
        {"{\"home\":0,\"id\":0", "{\"home\":1,\"id\":0", "phases[0].communications[2].from", "{\"home\":1,\"i",
         "home: expected 0 by the bits of id 0, got 1"},
        {"\"id\":0,\"migratable\":false", "\"id\":0,\"migratable\":true", "phases[0].communications[2].from",
         "{\"home\":0,\"i", "migratable: expected false (0) by the bits of id 0, got 1"},
        {"\"id\":0,\"migratable\":false", "\"id\":0,\"migratable\":false,\"objgroup_id\":0",
         "phases[0].communications[2].from", "{\"home\":0,\"i",
         "expected no key \"objgroup_id\" with id 0, got one"},
        /* the element of the second phase */
        {"{\"collection_id\":7,\"home\":1", "{\"home\":1", "phases[1].tasks[0].entity", "{\"home\":1,\"i",
         "expected the key \"collection_id\" with id 262151, got none"},
    };
    static const struct vom_broken group[] = {
        {"\"id\":3145756", "\"id\":3145752", "phases[0].communications[0].from", "{\"home\":1,\"i",
         "id: expected bit 2 set and none above 51 for an object group by the bits of id 3145752, got 3145752"},
        {"\"home\":1,\"id\":3145756", "\"home\":1,\"id\":4503599627370524", "phases[0].communications[0].from",
         "{\"home\":1,\"i", "bit 2 set and none above 51"},
        {"\"objgroup_id\":786435", "\"objgroup_id\":786439", "phases[0].communications[0].from",
         "{\"home\":1,\"i", "objgroup_id: expected 786435 by the bits of id 3145756, got 786439"},
        {"\"home\":1,\"id\":3145756", "\"home\":0,\"id\":3145756", "phases[0].communications[0].from",
         "{\"home\":0,\"i", "home: expected 1 by the bits of id 3145756, got 0"},
        /* a group that is not collective has a rank in its objgroup_id */
        {"\"id\":3145756", "\"id\":3145748", "phases[0].communications[0].from", "{\"home\":1,\"i",
         "objgroup_id: expected 786437 by the bits of id 3145748, got 786435"},
    };
    break_vom(vom_rank[0], broken, COUNT(broken), 0);
    break_vom(vom_rank[1], group, COUNT(group), 0);
    char *edited =
        vom_edit(vom_rank[0], "\"id\":0,\"tasks\":[{\"attributes\":{\"kind\"",
                 "\"id\":0,\"tasks\":[{\"entity\":{\"id\":1,\"type\":\"node\"},\"attributes\":{\"kind\"");
    refuse_vom(edited, 0, HPCW_EFORMAT, "type: expected \"object\", got \"node\"");
    free(edited);
}

/* Rules within one file: records occur once, and references to the file's own records hold. */
static void records_agree_with_each_other(void **state) {
    (void)state;
    static const struct vom_broken loose[] = {
        {"\"id\":4,", "\"id\":3,", NULL, NULL,
         "expected phase 3 either among the phases or in skipped, got it in both"},
        {"\"id\":4,", "\"id\":1,", NULL, NULL,
         "expected phase 1 either among the phases or in identical_to_previous, got it in both"},
        {"\"list\":[1]", "\"list\":[1,1]", "metadata", "{\"attributes",
         "phases.identical_to_previous.list[1]: expected ascending numbers, got 1 to 1"},
        {"\"range\":[[2,3]]", "\"range\":[[3,2]]", "metadata", "{\"attributes",
         "phases.skipped.range[0]: expected ascending numbers, got 3 to 2"},
        {"\"skipped\":{\"list\":[]", "\"skipped\":{\"list\":[3]", "metadata", "{\"attributes",
         "phases.skipped: expected each number once, got 3 again"},
        {"\"list\":[1]", "\"list\":[1,2]", "metadata", "{\"attributes",
         "expected a phase to be identical or skipped, got both for 2"},
        {"\"list\":[1]", "\"list\":[0,1]", "metadata", "{\"attributes",
         "phases.identical_to_previous: expected phases above 0, got 0"},
        {"\"id\":0,\"num_nodes\":1", "\"id\":1,\"num_nodes\":1", "metadata", "{\"attributes",
         "shared_node.id: expected a number below num_nodes 1, got 1"},
        {"\"rank\":0,\"size\":2", "\"rank\":2,\"size\":2", "metadata", "{\"attributes",
         "shared_node.rank: expected a number below size 2, got 2"},
        /* communication 1 becomes a copy of 3 */
        {"\"type\":\"Broadcast\"", "\"type\":\"SendRecv\"", "phases[0].communications[4]", "{\"bytes\":2.5",
         "expected one record per category and ends in a phase, got SendRecv from id 262151 to id 262147 "
         "again"},
        /* tasks */
        {"\"entity\":{\"home\":0,\"id\":1,", "\"entity\":{\"home\":0,\"id\":0,", "phases[0].tasks[2]",
         "{\"entity\":{\"", "expected id 0 once in a rank and phase, got it again"},
        {"[0,4],\"migratable\":true,\"type\":\"object\"},\"messages\":2",
         "[0,5],\"migratable\":true,\"type\":\"object\"},\"messages\":2", "phases[0].communications[1]",
         "{\"bytes\":64.0",
         "from: index of id 262147: expected what communication 0 of rank 0 says at offset 306 or before, got "
         "another"},
        {"\"scale\":1e-05},\"entity\":{\"collection_id\":7,\"home\":0,\"id\":262147,\"index\":[0,4]",
         "\"scale\":1e-05},\"entity\":{\"collection_id\":7,\"home\":0,\"id\":262147,\"index\":[4]",
         "phases[0].tasks[0]", "{\"attributes\"",
         "index of id 262147: expected what communication 0 of rank 0 says at offset 306 or before, got "
         "another"},
        {"\"scale\":1e-05},\"entity\":{\"collection_id\":7,",
         "\"scale\":1e-05},\"entity\":{\"collection_id\":15,", "phases[0].tasks[0]", "{\"attributes\"",
         "collection_id or objgroup_id of id 262147: expected what communication 0 of rank 0 says at offset "
         "306"},
        {"\"time\":1.0,\"user_defined\":{}}",
         "\"time\":1.0},{\"entity\":{\"collection_id\":7,\"home\":1,\"id\":262151,\"index\":[2,4],"
         "\"migratable\":true,\"type\":\"object\"},\"node\":0,\"resource\":\"cpu\",\"subphases\":[{\"id\":0,"
         "\"time\":1.0}],\"time\":1.0}",
         "phases[1].tasks[1]", "{\"entity\"",
         "expected each entity once in a phase, got id 262151 again, a task of rank 0 already"},
        {"\"time\":1.0,\"user_defined\":{}}",
         "\"time\":1.0},{\"entity\":{\"collection_id\":7,\"home\":1,\"id\":524295,\"index\":[1,4],"
         "\"migratable\":true,\"type\":\"object\"},\"node\":0,\"resource\":\"cpu\",\"subphases\":[{\"id\":0,"
         "\"time\":1.0}],\"time\":1.0}",
         "phases[1].tasks[1]", "{\"entity\"",
         "expected another index in collection 7, got that of task 0 of rank 0"},
    };
    static const struct vom_broken strict[] = {
        {"\"count\":5", "\"count\":4", NULL, NULL,
         "metadata.phases.count: expected the last phase + 1 = 5, got 4"},
        {"[[2,3]]", "[[3,3]]", NULL, NULL,
         "expected phase 2 (the file has later ones) among the phases, skipped or identical_to_previous"},
        {"\"phases\":[{\"communications\"", "\"phases\":[{\"user_defined\":{},\"communications\"",
         "phases[0].user_defined", "{},\"communic", "expected no user_defined of a phase"},
        {"\"time\":0.375", "\"time\":0.374", "phases[0].tasks[0]", "{\"attributes",
         "subphases: expected times that sum up to at most the time 0.374, got 0.375"},
        {"\"entity\":{\"home\":0,\"id\":1,", "\"entity\":{\"home\":2,\"id\":9,", "phases[0].communications[3]",
         "{\"bytes\":16.0", "expected id 1 as a task of this rank in phase 0, got none"},
        {"\"rank\":0,\"rank_alpha\":1.5", "\"rank_alpha\":1.5,\"rank\":0", "metadata.rank", "\"rank\":0,\"sh",
         "expected the keys in byte order, got this one after a later one"},
        {"\"entity\":{\"home\":0,\"id\":0,", "\"entity\":{\"home\":2,\"id\":9,", "phases[0]",
         "{\"communications\"",
         "expected id 0 as a task of the rank that names it in communication 2, got none"},
        {"\"tasks\":[{\"entity\":{\"collection_id\":7,",
         "\"tasks\":[{\"entity\":{\"home\":0,\"id\":0,\"migratable\":false,\"type\":\"object\"},\"node\":0,"
         "\"resource\":\"cpu\",\"time\":0.0},{\"entity\":{\"collection_id\":7,",
         "phases[1]", "{\"id\":4", "expected the entity with id 0 in phase 0 only, got it in 4"},
        {"\"entity\":{\"collection_id\":7,\"home\":1,\"id\":262151,\"index\":[1,4],\"migratable\":true",
         "\"entity\":{\"home\":0,\"id\":1,\"migratable\":false", "phases[1]", "{\"id\":4",
         "expected at least one migratable task in each rank and phase, got none"},
        {"\"time\":1.0,\"user_defined\":{}}",
         "\"time\":1.0},{\"entity\":{\"collection_id\":7,\"home\":1,\"id\":524295,\"index\":[2,4],"
         "\"migratable\":true,\"type\":\"object\"},\"node\":0,\"resource\":\"cpu\",\"time\":1.0}",
         "phases[1].tasks[1]", "{\"entity\"",
         "subphases: expected 1 like the migratable tasks before (rank 0), got 0"},
        {"\"home\":1,\"id\":262151,\"index\":[1,4],\"migratable\":true",
         "\"home\":1,\"id\":262151,\"migratable\":true", "phases[1].tasks[0].entity", "{\"collection_id\"",
         "expected the key \"index\" with id 262151, got none"},
        {"\"entity\":{\"collection_id\":7,\"home\":1,\"id\":262151,\"index\":[1,4],\"migratable\":true",
         "\"entity\":{\"collection_id\":7,\"home\":1,\"index\":[1,4],\"migratable\":true,\"seq_id\":9",
         "phases[1].tasks[0].entity", "{\"collection_id\"",
         "expected the key \"id\", got an object without it"},
        {",\"shared_node\":{\"id\":0,\"num_nodes\":1,\"rank\":0,\"size\":2}", "", "metadata", "{\"attributes\"",
         "expected the key \"shared_node\", got an object without it"},
        {"\"rank\":0,\"rank_alpha\"", "\"rank_alpha\"", "metadata", "{\"attributes\"",
         "expected the key \"rank\", got an object without it"},
    };
    break_vom(vom_rank[0], loose, COUNT(loose), 0);
    break_vom(vom_rank[0], loose, COUNT(loose), STRICT);
    break_vom(vom_rank[0], strict, COUNT(strict), STRICT);
    for (size_t i = 0; i < COUNT(strict); i++) {
        char *edited = vom_edit(vom_rank[0], strict[i].from, strict[i].to);
        accept_vom(edited, 0);
        free(edited);
    }
    char *edited = vom_edit(vom_rank[1], ",\"objgroup_id\":786435,\"type\":\"object\"},\"node\"",
                            ",\"type\":\"object\"},\"node\"");
    refuse_vom(edited, STRICT, HPCW_EFORMAT, "expected the key \"objgroup_id\" with id 3145756, got none");
    free(edited);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_files_pass),
        cmocka_unit_test(the_schema_holds),
        cmocka_unit_test(entities_agree_with_themselves),
        cmocka_unit_test(records_agree_with_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
