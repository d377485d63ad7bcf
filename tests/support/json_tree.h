/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON texts for tests, as a tree that keeps numbers as they are spelled: 64-bit ids must not pass through doubles,
 * and 1 is not 1.0. Strict about structure, lenient about what the library never writes.
 */
#ifndef HPCW_TESTS_SUPPORT_JSON_TREE_H
#define HPCW_TESTS_SUPPORT_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_kind { JSON_OBJECT, JSON_ARRAY, JSON_STRING, JSON_NUMBER, JSON_WORD };

struct json_tree {
    enum json_kind kind;
    char *key;  /* of a member of an object, else NULL */
    char *text; /* strings without quotes and escapes; numbers and words as they stand */
    size_t count;
    struct json_tree *child; /* first of `count` */
    struct json_tree *next;
};

/* NULL if the text is not one JSON value; says on stderr where. */
struct json_tree *json_parse(const char *text, size_t size);
void json_free(struct json_tree *tree);

/* A member by key; NULL if there is none, or `object` is NULL. */
const struct json_tree *json_get(const struct json_tree *object, const char *key);

/* The test fails if these are not there, or not of the kind. */
uint64_t json_u64(const struct json_tree *object, const char *key);
double json_f64(const struct json_tree *object, const char *key);
const char *json_text(const struct json_tree *object, const char *key);
bool json_bool(const struct json_tree *object, const char *key);
bool json_is_float(const struct json_tree *number);

/* The same content: keys in any order, floats by value, integers by spelling. Says on stderr where not. */
bool json_equal(const struct json_tree *a, const struct json_tree *b);

#endif
