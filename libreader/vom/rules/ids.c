/* SPDX-License-Identifier: BSD-3-Clause */
#include "libreader/vom/rules/ids.h"

#include <inttypes.h>
#include <string.h>

#include <xxhash.h>

#include "libreader/vom/private.h"
#include "libwriter/base/status.h"

/* ---- Entities -------------------------------------------------------------------------------------------- */

enum flags {
    IS_TASK = 1,
    IS_NAMED = 2,       /* a communication has the entity as an end */
    HERE = 4,           /* the entity must be a task of the rank `named_by` */
    HAS_COLLECTION = 8, /* `collection` is set */
    HAS_INDEX = 16,
};

struct entity {
    /* offset of the communication that first named the entity, or first required it with HERE */
    uint64_t named_at;
    /* collection_id or objgroup_id; for an entity with a seq_id: a hash of home, migratable and collection_id */
    uint64_t collection;
    uint32_t index_hash;
    uint32_t communication; /* number of the communication at the offset `named_at` */
    uint16_t named_by;
    uint16_t task_of;
    uint16_t flags;
    uint16_t pad;
};

struct element {
    uint32_t task;
    uint32_t rank;
};

void read_vom_ids_init(struct read_vom_ids *ids) {
    uint64_t seed = hpcw_i_table_random();
    ids->by_id = ids->by_seq_id =
        (struct hpcw_i_table){.key_words = 1, .value_size = sizeof(struct entity), .seed = seed};
    ids->elements = (struct hpcw_i_table){.key_words = 2, .value_size = sizeof(struct element), .seed = seed};
}

void read_vom_ids_clear(struct read_vom_ids *ids) {
    hpcw_i_table_clear(&ids->by_id);
    hpcw_i_table_clear(&ids->by_seq_id);
    hpcw_i_table_clear(&ids->elements);
}

void read_vom_ids_free(struct read_vom_ids *ids) {
    hpcw_i_table_free(&ids->by_id);
    hpcw_i_table_free(&ids->by_seq_id);
    hpcw_i_table_free(&ids->elements);
}

size_t read_vom_ids_bytes(const struct read_vom_ids *ids) {
    return hpcw_i_table_bytes(&ids->by_id) + hpcw_i_table_bytes(&ids->by_seq_id) +
           hpcw_i_table_bytes(&ids->elements);
}

/* Returns the entry of an entity, zeroed if it is new; NULL if memory ran out. */
static struct entity *find_or_add(struct read_vom_ids *ids, const struct read_vom_entity *e) {
    return e->has_id ? hpcw_i_table_add(&ids->by_id, &e->id, NULL)
                     : hpcw_i_table_add(&ids->by_seq_id, &e->seq_id, NULL);
}

/* Makes an entry from the fields of an entity, except its id. */
static struct entity entry_of(const struct read_vom_entity *e) {
    struct entity f = {0};
    if (!e->has_id) {
        const uint64_t all[4] = {e->home, e->migratable, e->has_collection_id, e->collection_id};
        f.collection = XXH3_64bits(all, sizeof all);
        f.flags |= HAS_COLLECTION;
    } else if (e->has_collection_id || e->has_objgroup_id) {
        f.collection = e->has_collection_id ? e->collection_id : e->objgroup_id;
        f.flags |= HAS_COLLECTION;
    }
    if (e->dimensions > 0) {
        f.index_hash = (uint32_t)XXH3_64bits(e->index, e->dimensions * sizeof e->index[0]);
        f.flags |= HAS_INDEX;
    }
    return f;
}

/* Compares what a communication says about entity `e` (the claim) with the fields of the entity's task (the
 * truth). Returns the name of a field that differs, or that only the claim has; otherwise NULL. */
static const char *contradicted(const struct read_vom_entity *e, const struct entity *truth,
                                const struct entity *claim) {
    if ((claim->flags & HAS_COLLECTION) != 0 &&
        ((truth->flags & HAS_COLLECTION) == 0 || truth->collection != claim->collection)) {
        return e->has_id ? "collection_id or objgroup_id" : "home, migratable or collection_id";
    }
    if ((claim->flags & HAS_INDEX) != 0 &&
        ((truth->flags & HAS_INDEX) == 0 || truth->index_hash != claim->index_hash)) {
        return "index";
    }
    return NULL;
}

/* Merges what a communication says about entity `e` (the claim) into an entry that has no task yet. Returns the
 * name of a field that contradicts earlier communications, or NULL. */
static const char *joined(const struct read_vom_entity *e, struct entity *entry, const struct entity *claim) {
    struct entity both = *entry;
    if ((both.flags & HAS_COLLECTION) == 0) {
        both.collection = claim->collection;
        both.flags |= claim->flags & HAS_COLLECTION;
    }
    if ((both.flags & HAS_INDEX) == 0) {
        both.index_hash = claim->index_hash;
        both.flags |= claim->flags & HAS_INDEX;
    }
    const char *field = contradicted(e, &both, claim);
    if (field == NULL) {
        *entry = both;
    }
    return field;
}

static hpcw_status no_memory(const struct read_vom_ids *ids, hpcw_error *err) {
    return hpcw_i_fail_memory(err, NULL, ids->by_id.count + ids->by_seq_id.count + 1, "entities of a phase");
}

static hpcw_status add_element(struct read_vom_ids *ids, const struct read_vom *reader,
                               const struct read_vom_task *task, uint32_t rank, hpcw_error *err) {
    const struct read_vom_entity *e = &task->entity;
    uint64_t words[1 + READ_VOM_MOST_INDEX];
    words[0] = e->collection_id;
    memcpy(words + 1, e->index, e->dimensions * sizeof words[0]);
    XXH128_hash_t hash = XXH3_128bits(words, (1 + e->dimensions) * sizeof words[0]);
    const uint64_t key[2] = {hash.low64, hash.high64};
    bool is_new;
    struct element *p = hpcw_i_table_add(&ids->elements, key, &is_new);
    if (p == NULL) {
        return no_memory(ids, err);
    }
    if (!is_new) {
        return read_vom_wrong(reader, err,
                              "expected another index in collection %" PRIu64 ", got that of task %" PRIu32
                              " of rank %" PRIu32,
                              e->collection_id, p->task, p->rank);
    }
    p->task = (uint32_t)task->number;
    p->rank = rank;
    return HPCW_OK;
}

hpcw_status read_vom_ids_task(struct read_vom_ids *ids, const struct read_vom *reader,
                              const struct read_vom_task *task, uint32_t rank, hpcw_error *err) {
    char who[64];
    struct entity truth = entry_of(&task->entity);
    struct entity *entry = find_or_add(ids, &task->entity);
    if (entry == NULL) {
        return no_memory(ids, err);
    }
    if ((entry->flags & IS_TASK) != 0) {
        return read_vom_wrong(reader, err,
                              "expected each entity once in a phase, got %s again, a task of rank %u already",
                              read_vom_entity_text(&task->entity, who), entry->task_of);
    }
    if ((entry->flags & HERE) != 0 && entry->named_by != rank) {
        return read_vom_wrong(reader, err,
                              "expected %s on rank %u, whose communication %" PRIu32 " at offset %" PRIu64
                              " only the rank of this entity may record, got it on rank %" PRIu32,
                              read_vom_entity_text(&task->entity, who), entry->named_by, entry->communication,
                              entry->named_at, rank);
    }
    const char *field = contradicted(&task->entity, &truth, entry);
    if (field != NULL) {
        return read_vom_wrong(reader, err,
                              "%s of %s: expected what communication %" PRIu32
                              " of rank %u says at offset %" PRIu64 " or before, got another",
                              field, read_vom_entity_text(&task->entity, who), entry->communication,
                              entry->named_by, entry->named_at);
    }
    truth.flags |= (uint16_t)(IS_TASK | (entry->flags & IS_NAMED));
    truth.task_of = (uint16_t)rank;
    *entry = truth;
    if (read_vom_is_element(&task->entity) && task->entity.has_collection_id && task->entity.dimensions > 0) {
        return add_element(ids, reader, task, rank, err);
    }
    return HPCW_OK;
}

hpcw_status read_vom_ids_end(struct read_vom_ids *ids, const struct read_vom *reader,
                             const struct read_vom_communication *c, const struct read_vom_entity *e,
                             const char *end, bool here, uint32_t rank, hpcw_error *err) {
    char who[64];
    struct entity claim = entry_of(e);
    struct entity *entry = find_or_add(ids, e);
    if (entry == NULL) {
        return no_memory(ids, err);
    }
    if ((entry->flags & IS_TASK) != 0) {
        const char *field = contradicted(e, entry, &claim);
        if (field != NULL) {
            return read_vom_wrong(reader, err,
                                  "%s: %s of %s: expected that of the task of rank %u, got another", end, field,
                                  read_vom_entity_text(e, who), entry->task_of);
        }
        if (here && entry->task_of != rank) {
            return read_vom_wrong(
                reader, err,
                "%s: expected this %s in the file of rank %u, which has %s, got it in that of "
                "rank %" PRIu32,
                end, read_vom_category_name(c->category), entry->task_of, read_vom_entity_text(e, who), rank);
        }
        return HPCW_OK;
    }
    const char *field = joined(e, entry, &claim);
    if (field != NULL) {
        return read_vom_wrong(reader, err,
                              "%s: %s of %s: expected what communication %" PRIu32
                              " of rank %u says at offset %" PRIu64 " or before, got another",
                              end, field, read_vom_entity_text(e, who), entry->communication, entry->named_by,
                              entry->named_at);
    }
    if (here && (entry->flags & HERE) != 0 && entry->named_by != rank) {
        return read_vom_wrong(
            reader, err,
            "%s: expected the %s of %s in the file of one rank, got them here and in that of rank %u", end,
            read_vom_category_name(c->category), read_vom_entity_text(e, who), entry->named_by);
    }
    if ((entry->flags & IS_NAMED) == 0 || (here && (entry->flags & HERE) == 0)) {
        entry->named_at = read_vom_at(reader);
        entry->communication = (uint32_t)c->number;
        entry->named_by = (uint16_t)rank;
        entry->flags |= (uint16_t)(IS_NAMED | (here ? HERE : 0));
    }
    return HPCW_OK;
}

/* Finds the first end point without a task (a dangling one) in a table. Keeps *d if *d is earlier. */
static void first_dangling(const struct hpcw_i_table *t, bool seq, bool whole, struct read_vom_dangling *d) {
    uint64_t id;
    const struct entity *e;
    for (size_t at = 0; (e = hpcw_i_table_next(t, &at, &id)) != NULL;) {
        if ((e->flags & IS_NAMED) == 0 || (e->flags & IS_TASK) != 0 || (!whole && (e->flags & HERE) == 0)) {
            continue;
        }
        if (!d->found || e->named_by < d->rank || (e->named_by == d->rank && e->named_at < d->offset) ||
            (e->named_by == d->rank && e->named_at == d->offset && id < d->id)) {
            *d = (struct read_vom_dangling){.found = true,
                                            .here = (e->flags & HERE) != 0,
                                            .seq = seq,
                                            .id = id,
                                            .rank = e->named_by,
                                            .communication = e->communication,
                                            .offset = e->named_at};
        }
    }
}

/* Finds the first end point that is not a task: doc/formats/vom.md#vom-27. */
void read_vom_ids_dangling(const struct read_vom_ids *ids, bool whole, struct read_vom_dangling *d) {
    *d = (struct read_vom_dangling){.found = false};
    first_dangling(&ids->by_id, false, whole, d);
    first_dangling(&ids->by_seq_id, true, whole, d);
}
