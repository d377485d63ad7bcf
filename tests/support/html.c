/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/html.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

enum { DEPTH = 32, NAME = 32, VALUE = 256 };

struct attribute {
    char name[NAME], value[VALUE];
};

struct reader {
    const char *text, *p, *end;
    char open[DEPTH][NAME];
    size_t depth;
    bool licence; /* inside <pre id="licence"> */
    size_t scripts;
    size_t cells, columns; /* of this row, and of the table's rows before */
    char **id, **link;
    size_t ids, links;
    struct html_page *page;
};

static bool wrong(const struct reader *r, const char *what, const char *name) {
    (void)fprintf(stderr, "page, byte %zu: %s: %s\n", (size_t)(r->p - r->text), what, name);
    return false;
}

static void *grown(void *old, size_t count, size_t size) {
    void *p = realloc(old, (count + 1) * size);
    if (p == NULL) {
        abort();
    }
    return p;
}

static void keep_number(struct reader *r, double v) {
    r->page->number = grown(r->page->number, r->page->numbers, sizeof *r->page->number);
    r->page->number[r->page->numbers++] = v;
}

static void keep_numbers(struct reader *r, const cJSON *json) {
    if (cJSON_IsNumber(json)) {
        keep_number(r, json->valuedouble);
    }
    for (const cJSON *v = json->child; v != NULL; v = v->next) {
        keep_numbers(r, v);
    }
}

static void keep_text(char ***list, size_t *count, const char *text) {
    *list = grown(*list, *count, sizeof **list);
    (*list)[(*count)++] = strdup(text);
}

static bool starts(const struct reader *r, const char *what) {
    return (size_t)(r->end - r->p) >= strlen(what) && strncmp(r->p, what, strlen(what)) == 0;
}

static bool is_void(const char *name) {
    return strcmp(name, "meta") == 0 || strcmp(name, "link") == 0;
}

static bool has_address(const char *p, const char *end) {
    static const char *const scheme[] = {"http:", "https:", "ftp:", "//www"};
    for (size_t i = 0; i < sizeof scheme / sizeof scheme[0]; i++) {
        if (memmem(p, (size_t)(end - p), scheme[i], strlen(scheme[i])) != NULL) {
            return true;
        }
    }
    return false;
}

/* Reads text between elements. It must have no bare '<', no unclosed entity and no address. */
static bool read_text(struct reader *r) {
    const char *start = r->p;
    while (r->p < r->end && *r->p != '<') {
        if (*r->p == '&') {
            static const char *const entity[] = {"&lt;", "&gt;", "&amp;", "&quot;"};
            bool known = false;
            for (size_t i = 0; i < 4; i++) {
                known = known || starts(r, entity[i]);
            }
            if (!known) {
                return wrong(r, "text", "an ampersand that is no entity");
            }
        }
        if (*r->p == '>') {
            return wrong(r, "text", "a bare >");
        }
        r->p++;
    }
    if (!r->licence && has_address(start, r->p)) {
        return wrong(r, "text", "an address of the network");
    }
    return true;
}

static bool read_word(struct reader *r, char *word, size_t size) {
    size_t n = 0;
    while (r->p < r->end && (isalnum((unsigned char)*r->p) || *r->p == '-')) {
        if (n + 1 == size) {
            return wrong(r, "tag", "a name that is too long");
        }
        word[n++] = *r->p++;
    }
    word[n] = '\0';
    return n > 0 || wrong(r, "tag", "a name was wanted");
}

static bool read_attribute(struct reader *r, struct attribute *a) {
    if (!read_word(r, a->name, sizeof a->name)) {
        return false;
    }
    a->value[0] = '\0';
    if (r->p == r->end || *r->p != '=') {
        return strcmp(a->name, "hidden") == 0 || wrong(r, a->name, "an attribute without a value");
    }
    const char *stop =
        r->p + 2 < r->end && r->p[1] == '"' ? memchr(r->p + 2, '"', (size_t)(r->end - r->p - 2)) : NULL;
    if (stop == NULL) {
        return wrong(r, a->name, "a value that is not quoted");
    }
    if (has_address(r->p, stop) || memchr(r->p, '<', (size_t)(stop - r->p)) != NULL) {
        return wrong(r, a->name, "an address of the network, or markup");
    }
    (void)snprintf(a->value, sizeof a->value, "%.*s", (int)(stop - r->p - 2), r->p + 2);
    r->p = stop + 1;
    return true;
}

static bool take_attribute(struct reader *r, const char *element, const struct attribute *a) {
    if (strcmp(a->name, "id") == 0) {
        for (size_t i = 0; i < r->ids; i++) {
            if (strcmp(r->id[i], a->value) == 0) {
                return wrong(r, "an id that is there twice", a->value);
            }
        }
        keep_text(&r->id, &r->ids, a->value);
    } else if (strcmp(a->name, "href") == 0) {
        if (a->value[0] == '#') {
            keep_text(&r->link, &r->links, a->value + 1);
        } else if (strncmp(a->value, "data:", 5) != 0) {
            return wrong(r, "a link to elsewhere", a->value);
        }
    } else if (strcmp(a->name, "src") == 0 || strncmp(a->name, "on", 2) == 0) {
        return wrong(r, "an attribute that reports have not", a->name);
    } else if (strcmp(a->name, "value") == 0 && strcmp(element, "data") == 0) {
        char *rest;
        keep_number(r, strtod(a->value, &rest));
        return (*rest == '\0' && rest != a->value) || wrong(r, "data that is no number", a->value);
    }
    return true;
}

/* Reads content in which no element can begin. */
static bool read_raw(struct reader *r, const char *name, bool json) {
    char close[NAME + 4];
    (void)snprintf(close, sizeof close, "</%s>", name);
    const char *stop = memmem(r->p, (size_t)(r->end - r->p), close, strlen(close));
    if (stop == NULL) {
        return wrong(r, "not closed", name);
    }
    bool library = strcmp(name, "script") == 0 && !json && r->scripts++ == 0;
    if (!library && has_address(r->p, stop)) {
        return wrong(r, "an address of the network in", name);
    }
    if (json) {
        const char *rest = NULL;
        cJSON *tree = cJSON_ParseWithLengthOpts(r->p, (size_t)(stop - r->p), &rest, false);
        bool good = tree != NULL && rest == stop && memchr(r->p, '<', (size_t)(stop - r->p)) == NULL;
        if (good) {
            keep_numbers(r, tree);
        }
        cJSON_Delete(tree);
        if (!good) {
            return wrong(r, "data script", "no JSON, or a < in it");
        }
    }
    r->p = stop;
    return true;
}

static bool read_tag(struct reader *r) {
    char name[NAME];
    r->p++;
    if (r->p < r->end && *r->p == '/') {
        r->p++;
        if (!read_word(r, name, sizeof name)) {
            return false;
        }
        if (r->p == r->end || *r->p++ != '>' || r->depth == 0 || strcmp(r->open[r->depth - 1], name) != 0) {
            return wrong(r, "closed, but it is not what is open", name);
        }
        if (strcmp(name, "tr") == 0) {
            if (r->columns != 0 && r->cells != r->columns) {
                return wrong(r, "another number of cells than in the row before", name);
            }
            r->columns = r->cells;
        }
        r->licence = r->licence && strcmp(name, "pre") != 0;
        r->depth--;
        return true;
    }
    if (!read_word(r, name, sizeof name)) {
        return false;
    }
    bool json = false;
    while (r->p < r->end && *r->p == ' ') {
        struct attribute a;
        r->p++;
        if (!read_attribute(r, &a) || !take_attribute(r, name, &a)) {
            return false;
        }
        json = json || (strcmp(a.name, "type") == 0 && strcmp(a.value, "application/json") == 0);
        r->licence = r->licence || (strcmp(a.name, "id") == 0 && strcmp(a.value, "licence") == 0);
    }
    if (r->p == r->end || *r->p++ != '>') {
        return wrong(r, "a tag that does not end", name);
    }
    r->page->figures += strcmp(name, "figure") == 0;
    r->page->tables += strcmp(name, "table") == 0;
    r->page->rows += strcmp(name, "tr") == 0;
    if (strcmp(name, "table") == 0) {
        r->columns = 0;
    } else if (strcmp(name, "tr") == 0) {
        r->cells = 0;
    }
    r->cells += strcmp(name, "th") == 0 || strcmp(name, "td") == 0;
    if (is_void(name)) {
        return true;
    }
    if (r->depth == DEPTH) {
        return wrong(r, "too deep", name);
    }
    (void)snprintf(r->open[r->depth++], NAME, "%s", name);
    return (strcmp(name, "script") != 0 && strcmp(name, "style") != 0) || read_raw(r, name, json);
}

static bool links_lead_somewhere(const struct reader *r) {
    for (size_t i = 0; i < r->links; i++) {
        bool found = false;
        for (size_t k = 0; k < r->ids; k++) {
            found = found || strcmp(r->link[i], r->id[k]) == 0;
        }
        if (!found) {
            return wrong(r, "a link to what is not there", r->link[i]);
        }
    }
    return true;
}

bool html_read(const char *text, size_t size, struct html_page *page) {
    static const char head[] = "<!DOCTYPE html>\n";
    *page = (struct html_page){0};
    struct reader r = {.text = text, .p = text, .end = text + size, .page = page};
    bool good = starts(&r, head);
    if (!good) {
        (void)wrong(&r, "wanted first", "<!DOCTYPE html>");
    }
    r.p += good ? sizeof head - 1 : 0;
    while (good && r.p < r.end) {
        good = *r.p == '<' ? read_tag(&r) : read_text(&r);
    }
    if (good && r.depth > 0) {
        good = wrong(&r, "not closed", r.open[r.depth - 1]);
    }
    good = good && links_lead_somewhere(&r);
    for (size_t i = 0; i < r.ids; i++) {
        free(r.id[i]);
    }
    for (size_t i = 0; i < r.links; i++) {
        free(r.link[i]);
    }
    free(r.id);
    free(r.link);
    return good;
}

void html_free(struct html_page *page) {
    free(page->number);
    *page = (struct html_page){0};
}
