/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks a report and lists its charts. Usage: html_check REPORT.html [RESULTS.json]
 *
 * With the second argument, every number of the report's charts and tables must be in RESULTS.json. Prints
 * "FIGURES charts, TABLES tables". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

#include "tests/support/files.h"
#include "tests/support/html.h"

struct numbers {
    double *v;
    size_t count;
};

static void collect(struct numbers *n, const cJSON *json) {
    if (cJSON_IsNumber(json)) {
        n->v = realloc(n->v, (n->count + 1) * sizeof *n->v);
        if (n->v == NULL) {
            abort();
        }
        n->v[n->count++] = json->valuedouble;
    }
    for (const cJSON *c = json->child; c != NULL; c = c->next) {
        collect(n, c);
    }
}

static int ascending(const void *a, const void *b) {
    const double *x = a;
    const double *y = b;
    return (*x > *y) - (*x < *y);
}

/* Checks that every number of the page is in the results, to the last digit. */
static bool all_known(const struct html_page *page, const char *path) {
    size_t size;
    char *text = (char *)read_file(path, &size);
    cJSON *json = text == NULL ? NULL : cJSON_ParseWithLength(text, size);
    struct numbers n = {0};
    bool good = json != NULL;
    if (good) {
        collect(&n, json);
        qsort(n.v, n.count, sizeof *n.v, ascending);
    }
    for (size_t i = 0; good && i < page->numbers; i++) {
        good = bsearch(&page->number[i], n.v, n.count, sizeof *n.v, ascending) != NULL;
        if (!good) {
            (void)fprintf(stderr, "%.17g is in the report and not in %s\n", page->number[i], path);
        }
    }
    cJSON_Delete(json);
    free(n.v);
    free(text);
    return good;
}

int main(int argc, char **argv) {
    size_t size;
    char *text = argc >= 2 ? (char *)read_file(argv[1], &size) : NULL;
    if (text == NULL) {
        (void)fprintf(stderr, "usage: html_check REPORT.html [RESULTS.json]\n");
        return 2;
    }
    struct html_page page;
    bool good = html_read(text, size, &page);
    if (good) {
        (void)printf("%zu charts, %zu tables\n", page.figures, page.tables);
        good = argc < 3 || all_known(&page, argv[2]);
    }
    html_free(&page);
    free(text);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
