/* SPDX-License-Identifier: BSD-3-Clause */
/* Tree of a JSON text for tests. Numbers keep their spelling, since 64-bit ids do not fit into doubles and 1 is
 * not 1.0. The parser is strict about structure, and lenient about spellings that the library never writes. */
#ifndef HPCW_TESTS_SUPPORT_JSON_TREE_H
#define HPCW_TESTS_SUPPORT_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_kind { JSON_OBJECT, JSON_ARRAY, JSON_STRING, JSON_NUMBER, JSON_WORD };

struct json_tree {
    enum json_kind kind;
    char *key; /* key of a member of an object, otherwise NULL */
    /* strings without quotes and escapes; numbers and words as spelled */
    char *text;
    size_t count;
    struct json_tree *child; /* first of `count` children */
    struct json_tree *next;
};

/* Returns NULL if the text is not one JSON value, and reports the position on stderr. */
struct json_tree *json_parse(const char *text, size_t size);
void json_free(struct json_tree *tree);

/* Returns a member by key; NULL: there is none, or `object` is NULL. */
const struct json_tree *json_get(const struct json_tree *object, const char *key);

/* These fail the test if the member is missing or has another type. */
uint64_t json_u64(const struct json_tree *object, const char *key);
double json_f64(const struct json_tree *object, const char *key);
const char *json_text(const struct json_tree *object, const char *key);
bool json_bool(const struct json_tree *object, const char *key);
bool json_is_float(const struct json_tree *number);

/* Compares the content: keys in any order, floats by value, integers by spelling. Reports differences on stderr. */
bool json_equal(const struct json_tree *a, const struct json_tree *b);

#endif
