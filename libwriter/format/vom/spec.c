/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads vt's specification files (doc/formats/vom.md, "Specification file"; vt 1.6.0, utils/file_spec). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <hpcw/vom.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* A line of the file. vt keeps phases and offsets in 64 signed bits. */
struct rule {
    bool every; /* true: the rule is for phases around each multiple of `phase`; false: around `phase` only */
    uint64_t phase;
    uint64_t before, after; /* the offsets, without their signs */
};

struct hpcw_vom_spec {
    size_t count;
    struct rule *rule;
};

/* ---- Parsing --------------------------------------------------------------------------------------------- */

struct line {
    const char *name;
    size_t number;
    const char *p, *end;
};

static hpcw_status bad(const struct line *l, hpcw_error *err, const char *wanted) {
    size_t size = (size_t)(l->end - l->p);
    return hpcw_i_fail(err, HPCW_EFORMAT, "%s, line %zu: expected %s, got \"%.*s\"", l->name, l->number, wanted,
                       (int)(size < 64 ? size : 64), l->p);
}

static void skip_blanks(struct line *l) {
    while (l->p < l->end && (*l->p == ' ' || *l->p == '\t' || *l->p == '\r')) {
        l->p++;
    }
}

/* Reads digits up to a blank or the end. Returns false if there are none, or too many. */
static bool take_number(struct line *l, uint64_t *value) {
    const char *p = l->p;
    uint64_t v = 0;
    for (; p < l->end && *p >= '0' && *p <= '9'; p++) {
        unsigned digit = (unsigned)(*p - '0');
        if (v > ((uint64_t)INT64_MAX - digit) / 10) {
            return false;
        }
        v = 10 * v + digit;
    }
    if (p == l->p || (p < l->end && *p != ' ' && *p != '\t' && *p != '\r')) {
        return false;
    }
    l->p = p;
    *value = v;
    skip_blanks(l);
    return true;
}

static hpcw_status parse_rule(struct line *l, struct rule *r, hpcw_error *err) {
    *r = (struct rule){0};
    if (*l->p == '%') {
        r->every = true;
        l->p++;
        skip_blanks(l);
    }
    if (!take_number(l, &r->phase) || (r->every && r->phase == 0)) {
        return bad(l, err, r->every ? "the phase number of a rule for multiples, from 1 on" : "a phase number");
    }
    if (l->p < l->end) {
        bool negative = *l->p == '-';
        l->p += negative;
        if (!take_number(l, &r->before) || (!negative && r->before != 0)) {
            return bad(l, err, "a first offset of at most 0");
        }
    }
    if (l->p < l->end && !take_number(l, &r->after)) {
        return bad(l, err, "a second offset of at least 0");
    }
    return l->p == l->end ? HPCW_OK : bad(l, err, "the end of the line");
}

static int by_phase(const void *a, const void *b) {
    const struct rule *x = a;
    const struct rule *y = b;
    return x->every != y->every ? (x->every ? 1 : -1) : (x->phase > y->phase) - (x->phase < y->phase);
}

static hpcw_status parse_lines(const char *name, const char *text, size_t size, hpcw_vom_spec *spec,
                               hpcw_error *err) {
    struct line l = {.name = name};
    for (const char *p = text, *end = text + size; p < end;) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        l.number++;
        l.p = p;
        l.end = newline != NULL ? newline : end;
        p = newline != NULL ? newline + 1 : end;
        skip_blanks(&l);
        if (l.p < l.end) {
            hpcw_status s = parse_rule(&l, &spec->rule[spec->count], err);
            if (s != HPCW_OK) {
                return s;
            }
            spec->count++;
        }
    }
    /* The order of rules has no meaning. After sorting, rules with equal phases are neighbours. */
    if (spec->count > 1) {
        qsort(spec->rule, spec->count, sizeof *spec->rule, by_phase);
    }
    for (size_t i = 1; i < spec->count; i++) {
        if (by_phase(&spec->rule[i - 1], &spec->rule[i]) == 0) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: expected one rule for each number, got %s%" PRIu64 " twice", name,
                               spec->rule[i].every ? "%" : "", spec->rule[i].phase);
        }
    }
    return HPCW_OK;
}

hpcw_status hpcw_vom_spec_parse(const char *name, const char *text, size_t size, hpcw_vom_spec **out,
                                hpcw_error *err) {
    if (out == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "vom: expected a pointer for the specification, got NULL");
    }
    *out = NULL;
    if (name == NULL || (text == NULL && size > 0)) {
        return hpcw_i_fail(err, HPCW_EINVAL, "vom: expected the name and text of a specification, got NULL");
    }
    size_t lines = 1;
    for (size_t i = 0; i < size; i++) {
        lines += text[i] == '\n';
    }
    hpcw_vom_spec *spec = hpcw_i_calloc(1, sizeof *spec);
    if (spec != NULL) {
        spec->rule = hpcw_i_calloc(lines, sizeof *spec->rule);
    }
    hpcw_status s = spec == NULL || spec->rule == NULL
                        ? hpcw_i_fail_memory(err, name, lines, "lines")
                        : parse_lines(name, text == NULL ? "" : text, size, spec, err);
    if (s != HPCW_OK) {
        hpcw_vom_spec_free(spec);
        return s;
    }
    *out = spec;
    return HPCW_OK;
}

/* ---- Asking ---------------------------------------------------------------------------------------------- */

static bool holds(const struct rule *r, uint64_t phase) {
    if (r->every) {
        uint64_t over = phase % r->phase;
        return over <= r->after || r->phase - over <= r->before;
    }
    return phase <= r->phase ? r->phase - phase <= r->before : phase - r->phase <= r->after;
}

bool hpcw_vom_spec_on(const hpcw_vom_spec *spec, uint64_t phase) {
    bool on = spec == NULL;
    for (size_t i = 0; !on && i < spec->count; i++) {
        on = holds(&spec->rule[i], phase);
    }
    return on;
}

void hpcw_vom_spec_free(hpcw_vom_spec *spec) {
    if (spec != NULL) {
        hpcw_i_free(spec->rule);
        hpcw_i_free(spec);
    }
}
