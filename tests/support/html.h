/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A strict reader of the HTML that reports are made of: far less than a browser takes. Elements are closed in the order
 * they were opened, attributes are quoted, ids are unique, links lead to ids of the page or hold what they show, data
 * scripts are JSON, and nothing but a licence and the library that stands under it names an address of the network.
 */
#ifndef HPCW_TESTS_SUPPORT_HTML_H
#define HPCW_TESTS_SUPPORT_HTML_H

#include <stdbool.h>
#include <stddef.h>

/* What was found in a page. */
struct html_page {
    size_t figures, tables, rows;
    double *number; /* of the data scripts and of <data> elements, in their order */
    size_t numbers;
};

/* False says why on stderr. Free what is in *page in either case. */
bool html_read(const char *text, size_t size, struct html_page *page);
void html_free(struct html_page *page);

#endif
