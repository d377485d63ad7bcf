/* SPDX-License-Identifier: BSD-3-Clause */
/* Strict reader of the HTML in reports. It accepts far less than a browser. Elements are closed in the order they
 * were opened, attributes are quoted, and ids are unique. Links lead to ids of the page or contain their target.
 * Data scripts are JSON. Only a licence and the first script, its library, may contain a network address. */
#ifndef HPCW_TESTS_SUPPORT_HTML_H
#define HPCW_TESTS_SUPPORT_HTML_H

#include <stdbool.h>
#include <stddef.h>

/* Content of a page. */
struct html_page {
    size_t figures, tables, rows;
    /* numbers of the data scripts and of <data> elements, in order */
    double *number;
    size_t numbers;
};

/* Returns false after it has reported the error on stderr. Free *page in either case. */
bool html_read(const char *text, size_t size, struct html_page *page);
void html_free(struct html_page *page);

#endif
