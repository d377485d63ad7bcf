/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that a file is one JSON value, followed only by white space. Usage: json_check [--members] FILE
 * With --members it prints the path of each member, one a line: a, a.b, and a[].b for elements of an array a. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

struct node {
    const struct node *up;
    const cJSON *value;
};

static void print_path(const struct node *at) {
    if (at->up == NULL) {
        return;
    }
    print_path(at->up);
    if (cJSON_IsArray(at->up->value)) {
        (void)printf("[]");
    } else {
        (void)printf("%s%s", at->up->up == NULL ? "" : ".", at->value->string);
    }
}

static void print_members(const struct node *at) {
    for (const cJSON *v = at->value->child; v != NULL; v = v->next) {
        const struct node child = {.up = at, .value = v};
        if (cJSON_IsObject(at->value)) {
            print_path(&child);
            (void)puts("");
        }
        print_members(&child);
    }
}

int main(int argc, char **argv) {
    static char text[1 << 22];
    bool members = argc == 3 && strcmp(argv[1], "--members") == 0;
    FILE *file = argc == 2 || members ? fopen(argv[argc - 1], "rb") : NULL;
    if (file == NULL) {
        return 2;
    }
    size_t size = fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == ' ')) {
        size--;
    }
    text[size] = '\0';
    const char *end = NULL;
    cJSON *json = cJSON_ParseWithOpts(text, &end, 1);
    int result = json != NULL && end == text + size ? EXIT_SUCCESS : EXIT_FAILURE;
    if (members && result == EXIT_SUCCESS) {
        print_members(&(struct node){.value = json});
    }
    cJSON_Delete(json);
    return result;
}
