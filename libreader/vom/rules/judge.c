/* SPDX-License-Identifier: BSD-3-Clause */
#include "libreader/vom/rules/judge.h"

#include <inttypes.h>
#include <string.h>

#include <xxhash.h>

#include "libreader/vom/private.h"
#include "libwriter/base/array.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Relative amount by which the sum of the subphases may exceed the time of a task, because the times in a file are
 * rounded. */
#define ROUNDING 1e-9

/* ---- Tasks ----------------------------------------------------------------------------------------------- */

static struct read_vom_open_phase *open_phase(struct read_vom_judge *j, uint64_t number) {
    return &j->open[number - j->first_phase];
}

static hpcw_status phase_begin(void *context, uint64_t number, hpcw_error *err) {
    struct read_vom_judge *j = context;
    if (!j->whole) {
        /* Only one file is read, so only one phase is open at a time. */
        hpcw_status status = read_vom_judge_open(j, number, 1, err);
        if (status != HPCW_OK) {
            return status;
        }
    }
    hpcw_i_table_clear(&j->edges);
    j->migratable = 0;
    j->zero_task = j->zero_named = false;
    return HPCW_OK;
}

/* Checks the subphases of a task: doc/formats/vom.md#vom-19. */
static hpcw_status subphase_rules(struct read_vom_judge *j, struct read_vom_open_phase *p,
                                  const struct read_vom_task *t, hpcw_error *err) {
    double sum = 0;
    for (uint32_t k = 0; k < t->subphases; k++) {
        sum += t->subphase_time[k];
    }
    if (sum > t->time * (1 + ROUNDING)) {
        return read_vom_wrong(j->reader, err,
                              "subphases: expected times that sum up to at most the time %.17g, got %.17g",
                              t->time, sum);
    }
    if (!t->entity.migratable) {
        return HPCW_OK;
    }
    if (!p->has_subphases) {
        p->has_subphases = true;
        p->subphases = t->subphases;
        p->subphases_rank = j->rank;
    }
    if (p->subphases != t->subphases) {
        return read_vom_wrong(j->reader, err,
                              "subphases: expected %" PRIu32 " like the migratable tasks before (rank %" PRIu32
                              "), got %" PRIu32,
                              p->subphases, p->subphases_rank, t->subphases);
    }
    return HPCW_OK;
}

static hpcw_status zero_task(struct read_vom_judge *j, struct read_vom_open_phase *p, hpcw_error *err) {
    if (j->zero_task) {
        return read_vom_wrong(j->reader, err, "expected id 0 once in a rank and phase, got it again");
    }
    j->zero_task = p->zero_task = true;
    return HPCW_OK;
}

static bool is_zero(const struct read_vom_entity *e) {
    return e->has_id && e->id == 0;
}

static hpcw_status home_rule(const struct read_vom_judge *j, const struct read_vom_entity *e, hpcw_error *err) {
    if (j->whole && e->home >= j->ranks) {
        return read_vom_wrong(j->reader, err, "home: expected a rank below %" PRIu32 ", got %" PRIu32, j->ranks,
                              e->home);
    }
    return HPCW_OK;
}

static hpcw_status task(void *context, const struct read_vom_task *t, hpcw_error *err) {
    struct read_vom_judge *j = context;
    struct read_vom_open_phase *p = open_phase(j, j->reader->here.phases);
    hpcw_status status = home_rule(j, &t->entity, err);
    if (status == HPCW_OK && j->strict) {
        status = subphase_rules(j, p, t, err);
    }
    if (status != HPCW_OK) {
        return status;
    }
    j->migratable += t->entity.migratable;
    return is_zero(&t->entity) ? zero_task(j, p, err) : read_vom_ids_task(&p->ids, j->reader, t, j->rank, err);
}

/* ---- Communications -------------------------------------------------------------------------------------- */

/* Finds the end point that must be a task of the rank whose file has the record (doc/formats/vom.md#vom-26). In a
 * SendRecv this is the receiver if the receiver is an element, otherwise the sender. If one end is a node, this is
 * the object at the other end. With shared memory there is no such end point. */
static void recorder(const struct read_vom_communication *c, bool *from_here, bool *to_here) {
    *from_here = *to_here = false;
    switch (c->category) {
    case READ_VOM_SEND_RECV:
        *to_here = read_vom_is_element(&c->to);
        *from_here = !*to_here;
        break;
    case READ_VOM_BROADCAST:
    case READ_VOM_NODE_TO_COLLECTION:
    case READ_VOM_NODE_TO_COLLECTION_BCAST:
        *to_here = true;
        break;
    case READ_VOM_COLLECTION_TO_NODE:
    case READ_VOM_COLLECTION_TO_NODE_BCAST:
        *from_here = true;
        break;
    default:
        break;
    }
}

/* Checks that a communication occurs once: doc/formats/vom.md#vom-25. */
static hpcw_status no_repetition(struct read_vom_judge *j, const struct read_vom_communication *c,
                                 hpcw_error *err) {
    const struct read_vom_entity *ends[2] = {&c->from, &c->to};
    uint64_t words[5] = {(uint64_t)c->category};
    for (size_t i = 0; i < 2; i++) {
        bool seq = ends[i]->kind == READ_VOM_OBJECT && !ends[i]->has_id;
        words[1 + 2 * i] = seq;
        words[2 + 2 * i] = seq ? ends[i]->seq_id : ends[i]->id;
    }
    XXH128_hash_t hash = XXH3_128bits(words, sizeof words);
    const uint64_t key[2] = {hash.low64, hash.high64};
    bool is_new;
    if (hpcw_i_table_add(&j->edges, key, &is_new) == NULL) {
        return hpcw_i_fail_memory(err, NULL, j->edges.count + 1, "communications of a phase");
    }
    char who[2][64];
    return is_new ? HPCW_OK
                  : read_vom_wrong(
                        j->reader, err,
                        "expected one record per category and ends in a phase, got %s from %s to %s again",
                        read_vom_category_name(c->category), read_vom_entity_text(&c->from, who[0]),
                        read_vom_entity_text(&c->to, who[1]));
}

static hpcw_status end_point(struct read_vom_judge *j, struct read_vom_open_phase *p,
                             const struct read_vom_communication *c, const struct read_vom_entity *e,
                             const char *end, bool here, hpcw_error *err) {
    if (e->kind == READ_VOM_NODE && j->whole && e->id >= j->ranks) {
        return read_vom_wrong(j->reader, err, "%s: expected a node below %" PRIu32 ", got %" PRIu64, end,
                              j->ranks, e->id);
    }
    if (e->kind != READ_VOM_OBJECT) {
        return HPCW_OK;
    }
    hpcw_status status = home_rule(j, e, err);
    if (status != HPCW_OK) {
        return status;
    }
    if (!is_zero(e)) {
        return read_vom_ids_end(&p->ids, j->reader, c, e, end, here && j->strict, j->rank, err);
    }
    if (!j->zero_named) {
        j->zero_named = true;
        j->zero_communication = c->number;
    }
    if (!p->zero_named) {
        p->zero_named = true;
        p->zero_rank = j->rank;
        p->zero_communication = c->number;
    }
    return HPCW_OK;
}

static hpcw_status communication(void *context, const struct read_vom_communication *c, hpcw_error *err) {
    struct read_vom_judge *j = context;
    struct read_vom_open_phase *p = open_phase(j, j->reader->here.phases);
    bool from_here;
    bool to_here;
    recorder(c, &from_here, &to_here);
    hpcw_status status = no_repetition(j, c, err);
    if (status == HPCW_OK) {
        status = end_point(j, p, c, &c->from, "from", from_here, err);
    }
    if (status == HPCW_OK) {
        status = end_point(j, p, c, &c->to, "to", to_here, err);
    }
    return status;
}

/* ---- Ends of phases -------------------------------------------------------------------------------------- */

static hpcw_status phase_number(struct read_vom_judge *j, uint64_t number, uint64_t id, hpcw_error *err) {
    if (number < j->phases) {
        return j->phase_id[number] == id
                   ? HPCW_OK
                   : read_vom_wrong(j->reader, err, "id: expected %" PRIu64 " as in rank 0, got %" PRIu64,
                                    j->phase_id[number], id);
    }
    if (!j->first) {
        return read_vom_wrong(j->reader, err, "expected %zu phases as in rank 0, got more", j->phases);
    }
    uint64_t *grown = hpcw_i_grow(j->phase_id, &j->phase_capacity, j->phases + 1, sizeof *grown);
    if (grown == NULL) {
        return hpcw_i_fail_memory(err, NULL, j->phases + 1, "numbers of phases");
    }
    j->phase_id = grown;
    j->phase_id[j->phases++] = id;
    return HPCW_OK;
}

static const char *this_file(void *context, uint32_t rank) {
    (void)rank;
    const struct read_vom_judge *j = context;
    return j->reader->name;
}

/* Checks a phase at its end: doc/formats/vom.md#vom-20 and vom-22. */
static hpcw_status phase_end(void *context, const struct read_vom_phase *p, hpcw_error *err) {
    struct read_vom_judge *j = context;
    hpcw_status status = phase_number(j, p->number, p->id, err);
    if (status == HPCW_OK && j->strict && j->migratable == 0) {
        status = read_vom_wrong(j->reader, err,
                                "expected at least one migratable task in each rank and phase, got none");
    }
    if (status == HPCW_OK && j->strict && j->zero_task && p->id != 0) {
        status = read_vom_wrong(j->reader, err,
                                "expected the entity with id 0 in phase 0 only, got it in %" PRIu64, p->id);
    }
    if (status == HPCW_OK && j->strict && j->zero_named && !j->zero_task) {
        status = read_vom_wrong(j->reader, err,
                                "expected id 0 as a task of the rank that names it in communication %" PRIu64
                                ", got none",
                                j->zero_communication);
    }
    if (status == HPCW_OK && !j->whole) {
        status = read_vom_judge_phase(j, p->number, this_file, j, err);
    }
    return status;
}

hpcw_status read_vom_judge_phase(struct read_vom_judge *j, uint64_t number,
                                 const char *(*name_of)(void *context, uint32_t rank), void *context,
                                 hpcw_error *err) {
    const struct read_vom_open_phase *p = open_phase(j, number);
    struct read_vom_dangling d;
    read_vom_ids_dangling(&p->ids, j->whole, &d);
    if (d.found) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: phases[%" PRIu64 "].communications[%" PRIu64 "] at offset %" PRIu64
                           ": expected %s %" PRIu64 " as a task of %s in phase %" PRIu64 ", got none",
                           name_of(context, d.rank), number, d.communication, d.offset, d.seq ? "seq_id" : "id",
                           d.id, d.here ? "this rank" : "some rank", j->phase_id[number]);
    }
    if (j->whole && p->zero_named && !p->zero_task) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "%s: phases[%" PRIu64 "].communications[%" PRIu64
                           "]: expected id 0 as a task of some rank in phase %" PRIu64 ", got none",
                           name_of(context, p->zero_rank), number, p->zero_communication, j->phase_id[number]);
    }
    return HPCW_OK;
}

/* ---- Metadata, and the rules of all files together -------------------------------------------------------- */

static hpcw_status metadata(void *context, const struct read_vom_metadata *m, hpcw_error *err) {
    struct read_vom_judge *j = context;
    if (!j->whole && m->has_rank) {
        j->rank = m->rank;
    }
    hpcw_status status = read_vom_lists_take(j, m, err);
    return status == HPCW_OK ? read_vom_hosts_take(j, m, err) : status;
}

hpcw_status read_vom_judge_end(struct read_vom_judge *j, const char *name, hpcw_error *err) {
    hpcw_status status = read_vom_lists_end(j, name, err);
    return status == HPCW_OK ? read_vom_hosts_end(j, name, err) : status;
}

hpcw_status read_vom_judge_init(struct read_vom_judge *j, bool strict, uint32_t ranks, bool whole,
                                hpcw_error *err) {
    *j = (struct read_vom_judge){.strict = strict, .whole = whole, .ranks = ranks};
    j->events = (struct read_vom_events){.context = j,
                                         .metadata = metadata,
                                         .phase_begin = phase_begin,
                                         .task = task,
                                         .communication = communication,
                                         .phase_end = phase_end};
    j->edges = (struct hpcw_i_table){.key_words = 2, .seed = hpcw_i_table_random()};
    if (whole) {
        j->seat = hpcw_i_calloc(ranks, sizeof *j->seat);
        if (j->seat == NULL) {
            return hpcw_i_fail_memory(err, NULL, ranks, "ranks");
        }
    }
    return HPCW_OK;
}

void read_vom_judge_free(struct read_vom_judge *j) {
    for (size_t i = 0; i < j->open_count; i++) {
        read_vom_ids_free(&j->open[i].ids);
    }
    hpcw_i_free(j->open);
    hpcw_i_table_free(&j->edges);
    hpcw_i_free(j->phase_id);
    hpcw_i_free(j->listed[0].item);
    hpcw_i_free(j->listed[1].item);
    hpcw_i_free(j->seat);
    *j = (struct read_vom_judge){0};
}

hpcw_status read_vom_judge_open(struct read_vom_judge *j, uint64_t first, size_t count, hpcw_error *err) {
    for (size_t i = count; i < j->open_count; i++) {
        read_vom_ids_free(&j->open[i].ids);
    }
    if (count != j->open_count) {
        size_t keep = count < j->open_count ? count : j->open_count;
        j->open_count = keep;
        struct read_vom_open_phase *list = hpcw_i_realloc(j->open, count * sizeof *list);
        if (list == NULL) {
            return hpcw_i_fail_memory(err, NULL, count, "phases");
        }
        memset(list + keep, 0, (count - keep) * sizeof *list);
        j->open = list;
        j->open_count = count;
    }
    for (size_t i = 0; i < count; i++) {
        struct read_vom_ids ids = j->open[i].ids;
        if (j->open[i].ready) {
            read_vom_ids_clear(&ids);
        } else {
            read_vom_ids_init(&ids);
        }
        j->open[i] = (struct read_vom_open_phase){.ids = ids, .ready = true};
    }
    j->first_phase = first;
    return HPCW_OK;
}

size_t read_vom_judge_bytes(const struct read_vom_judge *j) {
    size_t bytes = 0;
    for (size_t i = 0; i < j->open_count; i++) {
        bytes += read_vom_ids_bytes(&j->open[i].ids);
    }
    return bytes;
}

void read_vom_judge_file(struct read_vom_judge *j, const struct read_vom *reader, uint32_t rank) {
    j->reader = reader;
    j->rank = rank;
    j->first = !j->whole || rank == 0;
}
