/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/dataset/score.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "gen/dataset/directory/digest.h"
#include "gen/dataset/directory/directory.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/base/table.h"

/* Kinds of places. A finding and a fault in truth.json may name the same place by different members. */
enum score_place {
    SCORE_NODE,      /* finding: host, node or rank; fault: first_rank and ranks */
    SCORE_CABLE,     /* finding: rank_a and rank_b; fault: the ranks at both switches */
    SCORE_PAIR,      /* finding: rank and partner; fault: rank and worst_partner */
    SCORE_PHASE,     /* finding: rank and phase; fault: rank, first_phase and phases */
    SCORE_ONE_PHASE, /* finding and fault: rank and phase */
    SCORE_FILE
};

static const struct score_kind {
    const char *name;
    enum score_place place;
    /* least visibility, in standard deviations, of a visible fault; higher for single timings, which vary more
     * by chance */
    double visible;
} kinds[] = {
    {"slow_port", SCORE_NODE, 5},         {"slow_cable", SCORE_CABLE, 5},  {"outlier", SCORE_PAIR, 20},
    {"slow_node", SCORE_NODE, 5},         {"overloaded", SCORE_PHASE, 5},  {"clock", SCORE_NODE, 5},
    {"interruption", SCORE_ONE_PHASE, 8}, {"missing_file", SCORE_FILE, 0}, {"truncated_file", SCORE_FILE, 0},
    {"wrong_crc", SCORE_FILE, 0},         {"missing_rank", SCORE_FILE, 0}, {"stale_index", SCORE_FILE, 0},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

enum { VISIBLE, FAINT, HIDDEN, CLASSES };
static const char *const class_name[CLASSES] = {"visible", "faint", "hidden"};
/* A fault whose visibility is at least this share of `visible` is faint; below it is hidden. */
#define FAINT_SHARE 0.4
/* A fault is costly if it makes the run longer by more than this share of the run. */
#define COSTLY_SHARE 0.01

struct score_fault {
    uint32_t kind, class;
    bool found;
    double cost_s;        /* 0: not costly, or truth.json has no cost */
    bool cost_is_unknown; /* truth.json says that the cost was not measured */
    /* index + 1 of an earlier fault of this kind at the same place: the two count as one; 0: none */
    size_t same;
    uint64_t first[2]; /* SCORE_CABLE: a rank at each of the two switches */
};

/* Ranks begin .. end - 1 at a node or switch, or these phases of a rank. */
struct score_span {
    uint64_t kind, rank; /* rank: of SCORE_PHASE, otherwise 0 */
    uint64_t begin, end;
    size_t fault;
};

struct score {
    const char *truth, *findings; /* paths */
    /* numbers in the run; vom_phases: of the load data; clog2_phases: of the log; UINT64_MAX: unknown */
    uint64_t ranks, nodes, vom_phases, clog2_phases;
    bool hosts; /* `places` also has the names of all hosts; KINDS is their kind */
    struct score_fault *fault;
    size_t faults, capacity;
    /* places of SCORE_NODE, SCORE_CABLE and SCORE_PHASE; sorted and without common ranks or phases after
     * unite_spans */
    struct score_span *span;
    size_t spans, span_capacity;
    struct hpcw_i_table places; /* place -> struct score_value with the fault at this place */
    struct hpcw_i_table wrong;  /* places of findings that match no fault */
    uint64_t count[KINDS], right[KINDS];
    double costly_s;    /* faults that cost more than this are costly, s */
    double last_cost_s; /* cost of the last costly fault that was found, s; 0: none */
    /* number of costly faults that were found after another costly fault */
    uint64_t pairs;
    /* number of faults counted in `pairs` that cost at most as much as the costly fault found before */
    uint64_t ordered;
};
struct score_value {
    uint64_t fault; /* index + 1 */
};

static size_t kind_of(const char *name) {
    size_t k = 0;
    while (k < KINDS && strcmp(kinds[k].name, name) != 0) {
        k++;
    }
    return k;
}

static bool number(const cJSON *object, const char *key, uint64_t *value) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    bool good = cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble < 0x1p53;
    *value = good ? (uint64_t)item->valuedouble : 0;
    return good && (double)*value == item->valuedouble;
}

static const char *text(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(item) ? item->valuestring : NULL;
}

/* ---- places as keys of a table: the kind, then two words that name the place ---- */

enum { BY_NUMBERS, BY_NODE, BY_TEXT, BY_SWITCHES };

static void key_of(size_t kind, unsigned by, uint64_t a, uint64_t b, uint64_t key[HPCW_I_TABLE_KEY]) {
    key[0] = kind | (uint64_t)by << 32;
    key[1] = a;
    key[2] = b;
}

static void key_of_text(size_t kind, const char *where, uint64_t key[HPCW_I_TABLE_KEY]) {
    XXH128_hash_t h = XXH3_128bits(where, strlen(where));
    key_of(kind, BY_TEXT, h.high64, h.low64, key);
}

/* Makes the key of the place that a finding names. Returns false if the finding names none. */
static bool key_of_finding(size_t kind, const cJSON *f, uint64_t key[HPCW_I_TABLE_KEY]) {
    static const char *const second[] = {
        [SCORE_PAIR] = "partner", [SCORE_PHASE] = "phase", [SCORE_ONE_PHASE] = "phase"};
    const enum score_place place = kinds[kind].place;
    const char *where = text(f, place == SCORE_FILE ? "file" : "host");
    uint64_t a;
    uint64_t b;
    switch (place) {
    case SCORE_NODE:
        if (number(f, "rank", &a)) {
            key_of(kind, BY_NUMBERS, a, 0, key);
            return true;
        }
        if (number(f, "node", &a)) {
            key_of(kind, BY_NODE, a, 0, key);
            return true;
        }
        break;
    case SCORE_FILE:
        break;
    case SCORE_CABLE:
        if (number(f, "rank_a", &a) && number(f, "rank_b", &b)) {
            key_of(kind, BY_NUMBERS, a < b ? a : b, a < b ? b : a, key);
            return true;
        }
        return false;
    case SCORE_PAIR:
    case SCORE_PHASE:
    case SCORE_ONE_PHASE:
        if (number(f, "rank", &a) && number(f, second[place], &b)) {
            key_of(kind, BY_NUMBERS, a, b, key);
            return true;
        }
        return false;
    }
    if (where != NULL) {
        key_of_text(kind, where, key);
    }
    return where != NULL;
}

/* ---- faults ---- */

static hpcw_status find_class(const struct score *s, size_t kind, const cJSON *seen, uint32_t *out,
                              hpcw_error *err) {
    uint32_t class = HIDDEN;
    const cJSON *one;
    cJSON_ArrayForEach(one, seen) {
        const cJSON *sd = cJSON_GetObjectItemCaseSensitive(one, "sd");
        bool certain = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(one, "certain"));
        if (!certain && !cJSON_IsNumber(sd) && !cJSON_IsNull(sd)) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: %s: visibility: expected sd, or certain = true, got neither", s->truth,
                               kinds[kind].name);
        }
        double x = certain ? INFINITY : cJSON_IsNumber(sd) ? sd->valuedouble : -1;
        uint32_t here = x >= kinds[kind].visible                 ? VISIBLE
                        : x >= FAINT_SHARE * kinds[kind].visible ? FAINT
                                                                 : HIDDEN;
        class = here < class ? here : class;
    }
    *out = class;
    return HPCW_OK;
}

/* Returns the index of the fault as which a fault counts. */
static size_t counted_as(struct score *s, size_t fault) {
    while (s->fault[fault].same != 0) {
        const size_t next = s->fault[fault].same - 1;
        if (s->fault[next].same != 0) {
            s->fault[fault].same = s->fault[next].same; /* halves the way for the next search */
        }
        fault = next;
    }
    return fault;
}

/* Makes two faults of a kind at the same place count as one, the earlier one. */
static void count_as_one(struct score *s, size_t a, size_t b) {
    a = counted_as(s, a);
    b = counted_as(s, b);
    if (a == b) {
        return;
    }
    struct score_fault *first = &s->fault[a < b ? a : b];
    struct score_fault *other = &s->fault[a < b ? b : a];
    first->class = other->class < first->class ? other->class : first->class;
    first->cost_s = fmax(first->cost_s, other->cost_s);
    other->same = (a < b ? a : b) + 1;
}

/* Stores the fault at a place. If another fault of its kind is there, the two count as one. */
static bool add_place(struct score *s, const uint64_t *key, size_t fault) {
    struct score_value *v = hpcw_i_table_add(&s->places, key, NULL);
    if (v == NULL) {
        return false;
    }
    if (v->fault == 0) {
        v->fault = fault + 1;
    } else {
        count_as_one(s, v->fault - 1, fault);
    }
    return true;
}

static bool add_span(struct score *s, size_t kind, uint64_t rank, uint64_t begin, uint64_t count,
                     size_t fault) {
    struct score_span *grown = hpcw_i_grow(s->span, &s->span_capacity, s->spans + 1, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    s->span = grown;
    s->span[s->spans++] = (struct score_span){kind, rank, begin, begin + count, fault};
    return true;
}

static int by_place(const void *a_, const void *b_) {
    const struct score_span *a = a_;
    const struct score_span *b = b_;
    return a->kind != b->kind     ? (a->kind < b->kind ? -1 : 1)
           : a->rank != b->rank   ? (a->rank < b->rank ? -1 : 1)
           : a->begin != b->begin ? (a->begin < b->begin ? -1 : 1)
                                  : 0;
}

/* Sorts the spans, and makes one of those with a place in common. Their faults count as one. A cable has a span at
 * each end, and other cables may end there, too. */
static void unite_spans(struct score *s) {
    size_t count = 0;
    if (s->spans > 1) {
        qsort(s->span, s->spans, sizeof *s->span, by_place);
    }
    for (size_t i = 0; i < s->spans; i++) {
        const struct score_span one = s->span[i];
        struct score_span *last = count == 0 ? NULL : &s->span[count - 1];
        if (last == NULL || last->kind != one.kind || last->rank != one.rank || one.begin >= last->end) {
            s->span[count++] = one;
            continue;
        }
        last->end = one.end > last->end ? one.end : last->end;
        if (kinds[one.kind].place != SCORE_CABLE) {
            count_as_one(s, last->fault, one.fault);
        }
    }
    s->spans = count;
}

/* Returns the span with a rank or phase, or NULL. */
static const struct score_span *span_at(const struct score *s, size_t kind, uint64_t rank, uint64_t number) {
    const struct score_span key = {.kind = kind, .rank = rank, .begin = number};
    size_t low = 0;
    for (size_t high = s->spans; low < high;) {
        const size_t middle = low + (high - low) / 2;
        if (by_place(&s->span[middle], &key) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const struct score_span *span = low == 0 ? NULL : &s->span[low - 1];
    return span != NULL && span->kind == kind && span->rank == rank && number < span->end ? span : NULL;
}

/* Makes the key of a cable from a rank at each end. Returns false if no cable of truth.json ends at one of them. */
static bool key_of_cable(const struct score *s, size_t kind, uint64_t a, uint64_t b,
                         uint64_t key[HPCW_I_TABLE_KEY]) {
    const struct score_span *x = span_at(s, kind, 0, a);
    const struct score_span *y = span_at(s, kind, 0, b);
    if (x == NULL || y == NULL) {
        return false;
    }
    key_of(kind, BY_SWITCHES, x->begin < y->begin ? x->begin : y->begin,
           x->begin < y->begin ? y->begin : x->begin, key);
    return true;
}

/* Stores the cables after all their ends are known. False: out of memory. */
static bool add_cables(struct score *s) {
    uint64_t key[HPCW_I_TABLE_KEY];
    bool good = true;
    for (size_t i = 0; good && i < s->faults; i++) {
        const struct score_fault *f = &s->fault[i];
        good = kinds[f->kind].place != SCORE_CABLE ||
               (key_of_cable(s, f->kind, f->first[0], f->first[1], key) && add_place(s, key, i));
    }
    return good;
}

static bool add_places(struct score *s, size_t kind, const cJSON *entry, size_t fault, bool *known) {
    uint64_t key[HPCW_I_TABLE_KEY];
    uint64_t first = 0;
    uint64_t ranks = 0;
    uint64_t node;
    bool good = true;
    struct score_fault *f = &s->fault[fault];
    *known = true;
    if (kinds[kind].place == SCORE_NODE) {
        *known = number(entry, "first_rank", &first) && number(entry, "ranks", &ranks) && ranks > 0;
        good = add_span(s, kind, 0, first, ranks, fault);
        if (good && number(entry, "node", &node)) {
            key_of(kind, BY_NODE, node, 0, key);
            good = add_place(s, key, fault);
        }
        if (good && text(entry, "host") != NULL) {
            key_of_text(kind, text(entry, "host"), key);
            good = add_place(s, key, fault);
        }
        return good;
    }
    if (kinds[kind].place == SCORE_CABLE) {
        static const char *const side[2][2] = {{"first_rank_a", "ranks_a"}, {"first_rank_b", "ranks_b"}};
        for (int i = 0; i < 2; i++) {
            *known =
                *known && number(entry, side[i][0], &first) && number(entry, side[i][1], &ranks) && ranks > 0;
            f->first[i] = first;
            good = good && add_span(s, kind, 0, first, ranks, fault);
        }
        return good;
    }
    if (kinds[kind].place == SCORE_PHASE) {
        uint64_t rank = 0;
        uint64_t phases = 0;
        *known = number(entry, "rank", &rank) && number(entry, "first_phase", &first) &&
                 number(entry, "phases", &phases) && phases > 0;
        return add_span(s, kind, rank, first, phases, fault);
    }
    if (kinds[kind].place == SCORE_PAIR) {
        uint64_t partner;
        *known = number(entry, "rank", &first) && number(entry, "worst_partner", &partner);
        key_of(kind, BY_NUMBERS, first, *known ? partner : 0, key);
    } else {
        *known = key_of_finding(kind, entry, key);
    }
    return !*known || add_place(s, key, fault);
}

static hpcw_status add_fault(struct score *s, const cJSON *entry, const cJSON *seen, hpcw_error *err) {
    const char *name = text(entry, "kind");
    const size_t kind = name == NULL ? KINDS : kind_of(name);
    uint32_t class = HIDDEN;
    if (kind == KINDS) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: kind: expected a known one, got %.40s", s->truth,
                           name == NULL ? "none" : name);
    }
    if (!cJSON_IsArray(seen)) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: %s: visibility: expected a list, got none", s->truth, name);
    }
    hpcw_status status = find_class(s, kind, seen, &class, err);
    if (status != HPCW_OK) {
        return status;
    }
    struct score_fault *grown = hpcw_i_grow(s->fault, &s->capacity, s->faults + 1, sizeof *grown);
    if (grown == NULL) {
        return hpcw_i_fail_memory(err, s->truth, s->faults, "faults");
    }
    s->fault = grown;
    const cJSON *cost = cJSON_GetObjectItemCaseSensitive(entry, "cost_s");
    const double cost_s = cJSON_IsNumber(cost) ? cost->valuedouble : 0;
    s->fault[s->faults] = (struct score_fault){
        .kind = (uint32_t)kind,
        .class = class,
        .cost_s = cost_s > s->costly_s ? cost_s : 0,
        .cost_is_unknown = cJSON_IsNull(cost),
    };
    bool known;
    if (!add_places(s, kind, entry, s->faults, &known)) {
        return hpcw_i_fail_memory(err, s->truth, s->faults, "faults");
    }
    if (!known) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: %s: expected a place of one or more ranks or phases, got none", s->truth, name);
    }
    s->faults++;
    return HPCW_OK;
}

/* Adds each object of truth.json that has a visibility or a kind of fault, as a fault. */
static hpcw_status add_faults(struct score *s, const cJSON *at, hpcw_error *err) {
    const cJSON *seen = cJSON_GetObjectItemCaseSensitive(at, "visibility");
    const char *name = text(at, "kind");
    if (cJSON_IsArray(seen) || (name != NULL && kind_of(name) < KINDS)) {
        return add_fault(s, at, seen, err);
    }
    hpcw_status status = HPCW_OK;
    const cJSON *one;
    cJSON_ArrayForEach(one, at) {
        status =
            status == HPCW_OK && (cJSON_IsObject(one) || cJSON_IsArray(one)) ? add_faults(s, one, err) : status;
    }
    return status;
}

/* Checks the digest of truth.json, since a changed or damaged file would give other scores. */
static hpcw_status check_digest(const struct score *s, const char *dir, hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    char now[GEN_DIGEST_TEXT];
    char *list;
    struct gen_digest digest;
    gen_directory_path(dir, GEN_CHECKSUMS, path);
    hpcw_error why = {.message = ""};
    hpcw_status status = gen_directory_read(path, &list, &why);
    if (status != HPCW_OK) { /* a dataset may have no checksums */
        return status == HPCW_ENOENT ? HPCW_OK : hpcw_i_fail_as(err, &why);
    }
    status = gen_digest_file(s->truth, &digest, NULL, err);
    const char *line = strstr(list, "  " GEN_TRUTH "\n");
    if (status == HPCW_OK) {
        gen_digest_text(&digest, now);
        if (line == NULL || line - list < GEN_DIGEST_TEXT - 1) {
            status = hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected a digest of " GEN_TRUTH ", got none", path);
        } else if (memcmp(line - (GEN_DIGEST_TEXT - 1), now, GEN_DIGEST_TEXT - 1) != 0) {
            status = hpcw_i_fail(err, HPCW_ECHECKSUM,
                                 "%s: XXH3-128: expected %.32s as in " GEN_CHECKSUMS
                                 ", got %s: to make it again: hpcgen repair DIR",
                                 s->truth, line - (GEN_DIGEST_TEXT - 1), now);
        }
    }
    hpcw_i_free(list);
    return status;
}

/* ---- findings ---- */

static struct score_fault *fault_at(struct score *s, size_t kind, uint64_t *key) {
    const enum score_place place = kinds[kind].place;
    if (key[0] >> 32 == BY_NUMBERS && (place == SCORE_NODE || place == SCORE_PHASE)) {
        const struct score_span *span =
            place == SCORE_NODE ? span_at(s, kind, 0, key[1]) : span_at(s, kind, key[1], key[2]);
        return span == NULL ? NULL : &s->fault[counted_as(s, span->fault)];
    }
    uint64_t cable[HPCW_I_TABLE_KEY];
    if (place == SCORE_CABLE) {
        if (!key_of_cable(s, kind, key[1], key[2], cable)) {
            return NULL;
        }
        key = cable;
    }
    const struct score_value *v = hpcw_i_table_find(&s->places, key);
    return v == NULL ? NULL : &s->fault[counted_as(s, v->fault - 1)];
}

/* Members of a finding that score reads. */
static const char *const member[] = {"kind",   "host",    "node",  "rank", "rank_a",
                                     "rank_b", "partner", "phase", "file"};

/* Counts how often an object has a member. If there are several of one name, JSON readers silently take one. */
static unsigned count_member(const cJSON *object, const char *key) {
    unsigned count = 0;
    const cJSON *one;
    cJSON_ArrayForEach(one, object) {
        count += one->string != NULL && strcmp(one->string, key) == 0;
    }
    return count;
}

/* Fails for a rank, node, phase or host that the run does not have, which would otherwise count as a wrong
 * finding. */
static hpcw_status check_place(const struct score *s, size_t kind, const cJSON *f, uint64_t index,
                               hpcw_error *err) {
    const uint64_t phases = kinds[kind].place == SCORE_PHASE ? s->vom_phases : s->clog2_phases;
    const struct {
        const char *member, *what;
        uint64_t below;
    } row[] = {{"rank", "rank", s->ranks},    {"rank_a", "rank", s->ranks}, {"rank_b", "rank", s->ranks},
               {"partner", "rank", s->ranks}, {"node", "node", s->nodes},   {"phase", "phase", phases}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        uint64_t value;
        if (number(f, row[i].member, &value) && value >= row[i].below) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: findings[%" PRIu64 "].%s: expected a %s below %" PRIu64
                               " as in the run, got %" PRIu64,
                               s->findings, index, row[i].member, row[i].what, row[i].below, value);
        }
    }
    uint64_t key[HPCW_I_TABLE_KEY];
    const char *host = kinds[kind].place == SCORE_NODE ? text(f, "host") : NULL;
    if (host != NULL && s->hosts) {
        key_of_text(KINDS, host, key);
        if (hpcw_i_table_find(&s->places, key) == NULL) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "%s: findings[%" PRIu64 "].host: expected one of machine.hosts in %s, got %.60s",
                               s->findings, index, s->truth, host);
        }
    }
    return HPCW_OK;
}

/* Fails for a finding that names no place of the run, or more than one place. */
static hpcw_status check_finding(const struct score *s, size_t kind, const cJSON *f, uint64_t index,
                                 hpcw_error *err) {
    for (size_t i = 0; i < sizeof member / sizeof member[0]; i++) {
        if (count_member(f, member[i]) > 1) {
            return hpcw_i_fail(err, HPCW_EFORMAT, "%s: findings[%" PRIu64 "].%s: expected one, got %u",
                               s->findings, index, member[i], count_member(f, member[i]));
        }
    }
    if (kinds[kind].place == SCORE_NODE &&
        count_member(f, "host") + count_member(f, "node") + count_member(f, "rank") > 1) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: findings[%" PRIu64 "]: %s: expected one of host, node and rank, got several",
                           s->findings, index, kinds[kind].name);
    }
    return check_place(s, kind, f, index, err);
}

static hpcw_status take_finding(struct score *s, const cJSON *f, uint64_t index, hpcw_error *err) {
    static const char *const place[] = {
        [SCORE_NODE] = "host, node or rank",  [SCORE_CABLE] = "rank_a and rank_b",
        [SCORE_PAIR] = "rank and partner",    [SCORE_PHASE] = "rank and phase",
        [SCORE_ONE_PHASE] = "rank and phase", [SCORE_FILE] = "file"};
    const char *name = text(f, "kind");
    const size_t kind = name == NULL ? KINDS : kind_of(name);
    uint64_t key[HPCW_I_TABLE_KEY];
    if (kind == KINDS) {
        char known[256] = "";
        for (size_t i = 0, size = 0; i < KINDS; i++) {
            size +=
                (size_t)snprintf(known + size, sizeof known - size, "%s%s", i > 0 ? ", " : "", kinds[i].name);
        }
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: findings[%" PRIu64 "].kind: expected one of %s, got %.40s",
                           s->findings, index, known, name == NULL ? "none" : name);
    }
    hpcw_status status = check_finding(s, kind, f, index, err);
    if (status != HPCW_OK) {
        return status;
    }
    if (!key_of_finding(kind, f, key)) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: findings[%" PRIu64 "]: %s: expected %s, got none",
                           s->findings, index, name, place[kinds[kind].place]);
    }
    struct score_fault *fault = fault_at(s, kind, key);
    if (fault != NULL && !fault->found) {
        s->count[kind]++;
        s->right[kind]++;
        fault->found = true;
        if (fault->cost_s > 0) {
            s->pairs += s->last_cost_s > 0;
            s->ordered += fault->cost_s <= s->last_cost_s; /* adds 0 for the first costly fault */
            s->last_cost_s = fault->cost_s;
        }
    }
    if (fault != NULL) {
        return HPCW_OK;
    }
    bool fresh;
    if (hpcw_i_table_add(&s->wrong, key, &fresh) == NULL) {
        return hpcw_i_fail_memory(err, s->findings, index, "findings");
    }
    s->count[kind] += fresh;
    return HPCW_OK;
}

static hpcw_status take_findings(struct score *s, const cJSON *root, hpcw_error *err) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "findings");
    if (!cJSON_IsArray(list)) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: findings: expected a list, got %s", s->findings,
                           list == NULL ? "none" : "something else");
    }
    if (count_member(root, "findings") > 1) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: findings: expected one list, got %u", s->findings,
                           count_member(root, "findings"));
    }
    hpcw_status status = HPCW_OK;
    uint64_t index = 0;
    const cJSON *one;
    cJSON_ArrayForEach(one, list) {
        status = status == HPCW_OK ? take_finding(s, one, index++, err) : status;
    }
    return status;
}

/* ---- the score ---- */

static void put_share(struct hpcw_i_json *json, const char *key, uint64_t part, uint64_t whole) {
    hpcw_i_json_key_n(json, key, strlen(key));
    if (whole == 0) {
        hpcw_i_json_null(json);
    } else {
        hpcw_i_json_f64(json, (double)part / (double)whole);
    }
}

static void put_kind(const struct score *s, size_t kind, struct hpcw_i_json *json) {
    uint64_t faults[CLASSES] = {0};
    uint64_t found[CLASSES] = {0};
    for (size_t i = 0; i < s->faults; i++) {
        const struct score_fault *f = &s->fault[i];
        faults[f->class] += f->kind == kind && f->same == 0;
        found[f->class] += f->kind == kind && f->same == 0 && f->found;
    }
    if (faults[VISIBLE] + faults[FAINT] + faults[HIDDEN] + s->count[kind] == 0) {
        return;
    }
    hpcw_i_json_flat_object(json);
    hpcw_i_json_put_str(json, "kind", kinds[kind].name);
    hpcw_i_json_put_u64(json, "findings", s->count[kind]);
    hpcw_i_json_put_u64(json, "right", s->right[kind]);
    put_share(json, "precision", s->right[kind], s->count[kind]);
    for (int c = 0; c < CLASSES; c++) {
        char key[32];
        int n = snprintf(key, sizeof key, "%s_faults", class_name[c]);
        hpcw_i_json_key_n(json, key, (size_t)n);
        hpcw_i_json_u64(json, faults[c]);
        (void)snprintf(key, sizeof key, "%s_recall", class_name[c]);
        put_share(json, key, found[c], faults[c]);
    }
    hpcw_i_json_end_object(json);
}

/* Adds how much longer the run took because of costly faults, if there are any. */
static void put_cost(const struct score *s, struct hpcw_i_json *json) {
    double all_s = 0;
    double found_s = 0;
    uint64_t unknown = 0;
    for (size_t i = 0; i < s->faults; i++) {
        const struct score_fault *f = &s->fault[i];
        all_s += f->same == 0 ? f->cost_s : 0;
        found_s += f->same == 0 && f->found ? f->cost_s : 0;
        unknown += f->same == 0 && f->cost_is_unknown;
    }
    if (all_s > 0) {
        hpcw_i_json_key_object(json, "cost");
        hpcw_i_json_put_f64(json, "cost_s", all_s);
        hpcw_i_json_put_f64(json, "cost_found_s", found_s);
        put_share(json, "ordered", s->ordered, s->pairs);
        hpcw_i_json_put_u64(json, "faults_of_unknown_cost", unknown);
        hpcw_i_json_end_object(json);
    }
}

/* Returns the number of phases that truth.json has for a format; UINT64_MAX: unknown. */
static uint64_t phases_of(const cJSON *truth, const char *format) {
    const cJSON *phases =
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(truth, format), "phases");
    return cJSON_IsArray(phases) ? (uint64_t)cJSON_GetArraySize(phases) : UINT64_MAX;
}

/* Gets the ranks, nodes, phases and hosts of the run from truth.json. */
static hpcw_status learn_places(struct score *s, const cJSON *truth, hpcw_error *err) {
    const cJSON *machine = cJSON_GetObjectItemCaseSensitive(truth, "machine");
    const cJSON *hosts = cJSON_GetObjectItemCaseSensitive(machine, "hosts");
    s->ranks = number(truth, "ranks", &s->ranks) ? s->ranks : UINT64_MAX;
    s->nodes = number(machine, "nodes", &s->nodes) ? s->nodes : UINT64_MAX;
    s->vom_phases = phases_of(truth, "vom");
    s->clog2_phases = phases_of(truth, "clog2");
    s->hosts = cJSON_IsArray(hosts);
    const cJSON *host;
    cJSON_ArrayForEach(host, hosts) {
        uint64_t key[HPCW_I_TABLE_KEY];
        key_of_text(KINDS, cJSON_IsString(host) ? host->valuestring : "", key);
        if (hpcw_i_table_add(&s->places, key, NULL) == NULL) {
            return hpcw_i_fail_memory(err, s->truth, (uint64_t)cJSON_GetArraySize(hosts), "hosts");
        }
    }
    return HPCW_OK;
}

static hpcw_status read_findings(const char *path, cJSON **found, hpcw_error *err) {
    char *list;
    hpcw_status status = gen_directory_read(path, &list, err);
    if (status == HPCW_OK && list[0] == '\0') {
        status = hpcw_i_fail(err, HPCW_EFORMAT,
                             "%s: expected {\"findings\": [...]} as in doc/truth.md, got an empty file", path);
    }
    hpcw_i_free(list);
    return status == HPCW_OK ? gen_directory_read_json(path, found, err) : status;
}

/* Returns the length of the run in seconds: the end of the last phase of the event log; 0 without a log. */
static double run_of(const cJSON *truth) {
    const cJSON *phases =
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(truth, "clog2"), "phases");
    double end_ns = 0;
    const cJSON *one;
    cJSON_ArrayForEach(one, phases) {
        const cJSON *end = cJSON_GetObjectItemCaseSensitive(one, "end_ns");
        end_ns = cJSON_IsNumber(end) ? fmax(end_ns, end->valuedouble) : end_ns;
    }
    return end_ns * 1e-9;
}

hpcw_status gen_score(const char *findings, const char *dir, struct hpcw_i_json *json, hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    cJSON *truth = NULL;
    cJSON *found = NULL;
    struct score s = {.truth = path,
                      .findings = findings,
                      .places = {.key_words = 3, .value_size = sizeof(struct score_value)},
                      .wrong = {.key_words = 3}};
    s.places.seed = s.wrong.seed = hpcw_i_table_random();
    gen_directory_path(dir, GEN_TRUTH, path);
    hpcw_status status = gen_directory_read_json(path, &truth, err);
    status = status == HPCW_OK ? check_digest(&s, dir, err) : status;
    status = status == HPCW_OK ? learn_places(&s, truth, err) : status;
    s.costly_s = COSTLY_SHARE * run_of(truth);
    status = status == HPCW_OK ? add_faults(&s, truth, err) : status;
    if (status == HPCW_OK) {
        unite_spans(&s);
        status = add_cables(&s) ? HPCW_OK : hpcw_i_fail_memory(err, path, s.faults, "faults");
    }
    status = status == HPCW_OK ? read_findings(findings, &found, err) : status;
    status = status == HPCW_OK ? take_findings(&s, found, err) : status;
    if (status == HPCW_OK) {
        hpcw_i_json_key_array(json, "kinds");
        for (size_t k = 0; k < KINDS; k++) {
            put_kind(&s, k, json);
        }
        hpcw_i_json_end_array(json);
        put_cost(&s, json);
    }
    cJSON_Delete(truth);
    cJSON_Delete(found);
    hpcw_i_free(s.fault);
    hpcw_i_free(s.span);
    hpcw_i_table_free(&s.places);
    hpcw_i_table_free(&s.wrong);
    return status;
}
