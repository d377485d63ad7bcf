/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/json_tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST 64

struct parser {
    const char *start, *p, *end;
    int depth;
};

static struct json_tree *value(struct parser *in);

static void *need(void *p) {
    if (p == NULL) {
        perror("json_tree");
        abort();
    }
    return p;
}

static void blanks(struct parser *in) {
    while (in->p < in->end && strchr(" \t\r\n", *in->p) != NULL) {
        in->p++;
    }
}

static bool take(struct parser *in, char c) {
    blanks(in);
    bool found = in->p < in->end && *in->p == c;
    in->p += found;
    return found;
}

/* Returns the length of a string from after its quote to the next quote or the end. */
static size_t string_length(const struct parser *in) {
    const char *p = in->p;
    while (p < in->end && *p != '"') {
        p += *p == '\\' && in->end - p > 1 ? 2 : 1;
    }
    return (size_t)(p - in->p);
}

/* Parses a string. Decodes only the short escapes and \uXXXX below U+0800. Returns NULL if it is not a string. */
static char *string(struct parser *in) {
    if (!take(in, '"')) {
        return NULL;
    }
    char *text = need(malloc(string_length(in) + 1));
    char *out = text;
    while (in->p < in->end && *in->p != '"') {
        char c = *in->p++;
        if (c != '\\' || in->p == in->end) {
            *out++ = c;
            continue;
        }
        c = *in->p++;
        const char *escape = strchr("b\bf\fn\nr\rt\t", c);
        if (c == 'u' && in->end - in->p >= 4) {
            char digits[5] = {in->p[0], in->p[1], in->p[2], in->p[3], '\0'};
            unsigned code = (unsigned)strtoul(digits, NULL, 16);
            in->p += 4;
            if (code >= 0x80) {
                *out++ = (char)(0xc0 | (code >> 6 & 0x1f));
                code = 0x80 | (code & 0x3f);
            }
            *out++ = (char)code;
        } else {
            *out++ = escape != NULL ? escape[1] : c;
        }
    }
    *out = '\0';
    if (!take(in, '"')) {
        free(text);
        return NULL;
    }
    return text;
}

static bool members(struct parser *in, struct json_tree *tree, char close) {
    struct json_tree **last = &tree->child;
    if (take(in, close)) {
        return true;
    }
    do {
        char *key = NULL;
        if (close == '}') {
            key = string(in);
            if (key == NULL || !take(in, ':')) {
                free(key);
                return false;
            }
        }
        struct json_tree *child = value(in);
        if (child == NULL) {
            free(key);
            return false;
        }
        child->key = key;
        *last = child;
        last = &child->next;
        tree->count++;
    } while (take(in, ','));
    return take(in, close);
}

static struct json_tree *value(struct parser *in) {
    struct json_tree *tree = need(calloc(1, sizeof *tree));
    bool good = in->depth++ < DEEPEST;
    if (good && take(in, '{')) {
        tree->kind = JSON_OBJECT;
        good = members(in, tree, '}');
    } else if (good && take(in, '[')) {
        tree->kind = JSON_ARRAY;
        good = members(in, tree, ']');
    } else if (good && in->p < in->end && *in->p == '"') {
        tree->kind = JSON_STRING;
        tree->text = string(in);
        good = tree->text != NULL;
    } else if (good) {
        const char *begin = in->p;
        while (in->p < in->end && strchr(",]} \t\r\n", *in->p) == NULL) {
            in->p++;
        }
        tree->text = need(strndup(begin, (size_t)(in->p - begin)));
        good = tree->text[0] != '\0';
        bool word = strcmp(tree->text, "true") == 0 || strcmp(tree->text, "false") == 0;
        tree->kind = word ? JSON_WORD : JSON_NUMBER;
    }
    in->depth--;
    if (!good) {
        json_free(tree);
        return NULL;
    }
    return tree;
}

struct json_tree *json_parse(const char *text, size_t size) {
    struct parser in = {.start = text, .p = text, .end = text + size};
    struct json_tree *tree = value(&in);
    blanks(&in);
    if (tree == NULL || in.p != in.end) {
        (void)fprintf(stderr, "not JSON at byte %td of %zu\n", in.p - in.start, size);
        json_free(tree);
        return NULL;
    }
    return tree;
}

void json_free(struct json_tree *tree) {
    while (tree != NULL) {
        struct json_tree *next = tree->next;
        json_free(tree->child);
        free(tree->key);
        free(tree->text);
        free(tree);
        tree = next;
    }
}

const struct json_tree *json_get(const struct json_tree *object, const char *key) {
    for (const struct json_tree *c = object == NULL ? NULL : object->child; c != NULL; c = c->next) {
        if (c->key != NULL && strcmp(c->key, key) == 0) {
            return c;
        }
    }
    return NULL;
}

static const char *text_of(const struct json_tree *object, const char *key, enum json_kind kind) {
    const struct json_tree *tree = json_get(object, key);
    if (tree == NULL || tree->kind != kind) {
        (void)fprintf(stderr, "wanted %s of kind %d\n", key, (int)kind);
        abort();
    }
    return tree->text;
}

uint64_t json_u64(const struct json_tree *object, const char *key) {
    const char *text = text_of(object, key, JSON_NUMBER);
    char *end;
    errno = 0;
    uint64_t v = strtoumax(text, &end, 10);
    if (errno != 0 || *end != '\0' || *text == '-') {
        (void)fprintf(stderr, "%s: wanted an integer, got %s\n", key, text);
        abort();
    }
    return v;
}

double json_f64(const struct json_tree *object, const char *key) {
    return strtod(text_of(object, key, JSON_NUMBER), NULL);
}

const char *json_text(const struct json_tree *object, const char *key) {
    return text_of(object, key, JSON_STRING);
}

bool json_bool(const struct json_tree *object, const char *key) {
    return strcmp(text_of(object, key, JSON_WORD), "true") == 0;
}

bool json_is_float(const struct json_tree *number) {
    return number->kind == JSON_NUMBER && strpbrk(number->text, ".eE") != NULL;
}

static bool same(const struct json_tree *a, const struct json_tree *b) {
    if (a->kind != b->kind || a->count != b->count) {
        return false;
    }
    if (a->kind == JSON_NUMBER && json_is_float(a)) {
        return json_is_float(b) && strtod(a->text, NULL) == strtod(b->text, NULL);
    }
    return a->text == NULL || strcmp(a->text, b->text) == 0;
}

bool json_equal(const struct json_tree *a, const struct json_tree *b) {
    if (a == NULL || b == NULL || !same(a, b)) {
        const struct json_tree *some = a != NULL ? a : b;
        (void)fprintf(stderr, "differs: %s\n", some == NULL || some->key == NULL ? "an element" : some->key);
        return false;
    }
    const struct json_tree *y = b->child;
    for (const struct json_tree *x = a->child; x != NULL; x = x->next) {
        if (!json_equal(x, a->kind == JSON_OBJECT ? json_get(b, x->key) : y)) {
            (void)fprintf(stderr, "  in %s\n", a->key == NULL ? "an element" : a->key);
            return false;
        }
        y = y->next;
    }
    return true;
}
