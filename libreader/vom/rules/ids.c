/* SPDX-License-Identifier: BSD-3-Clause */
#include "libreader/vom/rules/ids.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "libreader/vom/private.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* ---- Table ----------------------------------------------------------------------------------------------- */

#define LEAST_CAPACITY ((size_t)64)

void read_vom_table_init(struct read_vom_table *t, size_t entry_size, uint64_t mask) {
    *t = (struct read_vom_table){.entry_size = entry_size, .mask = mask};
    if (getentropy(&t->seed, sizeof t->seed) != 0) {
        t->seed = UINT64_C(0x9e3779b97f4a7c15); /* slower at worst */
    }
}

void read_vom_table_free(struct read_vom_table *t) {
    hpcw_i_free(t->slot);
    t->slot = NULL;
    t->capacity = t->count = 0;
}

void read_vom_table_clear(struct read_vom_table *t) {
    if (t->count < t->capacity / 8) {
        read_vom_table_free(t);
    } else if (t->count > 0) {
        memset(t->slot, 0, t->capacity * t->entry_size);
        t->count = 0;
    }
}

size_t read_vom_table_bytes(const struct read_vom_table *t) {
    return t->capacity * t->entry_size;
}

static uint64_t mixed(uint64_t x) {
    x = (x ^ (x >> 33)) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ (x >> 29)) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ (x >> 32);
}

/* The slot of a key, or the empty one where it belongs. */
static unsigned char *slot_of(const struct read_vom_table *t, const uint64_t key[2]) {
    uint64_t hash = mixed(mixed(key[0] ^ t->seed) + (key[1] & t->mask));
    /* From 0 .. 2^64 - 1 to 0 .. capacity - 1 without a division, for capacities below 2^32. */
    size_t i = (size_t)((hash >> 32) * t->capacity >> 32);
    for (;;) {
        unsigned char *p = t->slot + i * t->entry_size;
        uint64_t there[2];
        memcpy(there, p, sizeof there);
        there[1] &= t->mask;
        if ((there[0] == key[0] && there[1] == (key[1] & t->mask)) || (there[0] == 0 && there[1] == 0)) {
            return p;
        }
        i = i + 1 == t->capacity ? 0 : i + 1;
    }
}

static bool is_empty(const struct read_vom_table *t, const unsigned char *slot) {
    uint64_t key[2];
    memcpy(key, slot, sizeof key);
    return key[0] == 0 && (key[1] & t->mask) == 0;
}

static bool grow(struct read_vom_table *t) {
    struct read_vom_table old = *t;
    size_t capacity = old.capacity < LEAST_CAPACITY ? LEAST_CAPACITY : old.capacity + old.capacity / 2;
    if (capacity > UINT32_MAX) {
        return false;
    }
    t->slot = hpcw_i_calloc(capacity, t->entry_size);
    if (t->slot == NULL) {
        t->slot = old.slot;
        return false;
    }
    t->capacity = capacity;
    for (size_t i = 0; i < old.capacity; i++) {
        const unsigned char *from = old.slot + i * t->entry_size;
        if (!is_empty(t, from)) {
            uint64_t key[2];
            memcpy(key, from, sizeof key);
            memcpy(slot_of(t, key), from, t->entry_size);
        }
    }
    hpcw_i_free(old.slot);
    return true;
}

void *read_vom_table_entry(struct read_vom_table *t, const uint64_t key[2], bool *is_new) {
    /* Below four fifths full, runs of occupied slots stay short. */
    if (t->count + 1 > t->capacity / 5 * 4 && !grow(t)) {
        return NULL;
    }
    unsigned char *slot = slot_of(t, key);
    *is_new = is_empty(t, slot);
    if (*is_new) {
        memcpy(slot, key, 2 * sizeof key[0]);
        t->count++;
    }
    return slot;
}

/* ---- Entities -------------------------------------------------------------------------------------------- */

/* What the first word of the key is: low bits of the second word. The bits above them are the offset of `named_by`. */
enum { BY_ID = 1, BY_SEQ_ID = 2, FORM = 3, OFFSET_SHIFT = 2 };

enum flags {
    IS_TASK = 1,
    IS_NAMED = 2,       /* by a communication */
    HERE = 4,           /* must be a task of `named_by` */
    HAS_COLLECTION = 8, /* `collection` is set */
    HAS_INDEX = 16,
};

struct entity {
    uint64_t id;
    uint64_t form;       /* and the offset where it was first named, or first named with HERE; 0 for a task */
    uint64_t collection; /* collection_id or objgroup_id; for seq_ids a hash of that, home and migratable */
    uint32_t index_hash;
    uint32_t communication; /* the one at that offset */
    uint16_t named_by;
    uint16_t task_of;
    uint16_t flags;
    uint16_t pad;
};

struct element {
    uint64_t hash[2];
    uint32_t task;
    uint16_t rank;
    uint16_t pad;
};

void read_vom_ids_init(struct read_vom_ids *ids) {
    read_vom_table_init(&ids->ids, sizeof(struct entity), FORM);
    read_vom_table_init(&ids->elements, sizeof(struct element), UINT64_MAX);
}

void read_vom_ids_clear(struct read_vom_ids *ids) {
    read_vom_table_clear(&ids->ids);
    read_vom_table_clear(&ids->elements);
}

void read_vom_ids_free(struct read_vom_ids *ids) {
    read_vom_table_free(&ids->ids);
    read_vom_table_free(&ids->elements);
}

size_t read_vom_ids_bytes(const struct read_vom_ids *ids) {
    return read_vom_table_bytes(&ids->ids) + read_vom_table_bytes(&ids->elements);
}

/* The fields beside the id as an entry. */
static struct entity entry_of(const struct read_vom_entity *e) {
    struct entity f = {.id = e->has_id ? e->id : e->seq_id, .form = e->has_id ? BY_ID : BY_SEQ_ID};
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

/* The field of a claim that contradicts the truth; NULL if none does. A field that a task lacks is absent for good. */
static const char *contradicted(const struct entity *truth, const struct entity *claim) {
    if ((claim->flags & HAS_COLLECTION) != 0 &&
        ((truth->flags & HAS_COLLECTION) == 0 || truth->collection != claim->collection)) {
        return truth->form == BY_SEQ_ID ? "home, migratable or collection_id" : "collection_id or objgroup_id";
    }
    if ((claim->flags & HAS_INDEX) != 0 &&
        ((truth->flags & HAS_INDEX) == 0 || truth->index_hash != claim->index_hash)) {
        return "index";
    }
    return NULL;
}

/* Merges a claim into an entry of claims. Returns a field that contradicts them, or NULL. */
static const char *joined(struct entity *entry, const struct entity *claim) {
    struct entity both = *entry;
    if ((both.flags & HAS_COLLECTION) == 0) {
        both.collection = claim->collection;
        both.flags |= claim->flags & HAS_COLLECTION;
    }
    if ((both.flags & HAS_INDEX) == 0) {
        both.index_hash = claim->index_hash;
        both.flags |= claim->flags & HAS_INDEX;
    }
    both.form = claim->form;
    const char *field = contradicted(&both, claim);
    if (field == NULL) {
        both.form = entry->form;
        *entry = both;
    }
    return field;
}

static hpcw_status no_memory(const struct read_vom_ids *ids, hpcw_error *err) {
    return hpcw_i_fail(err, HPCW_ENOMEM, "no memory for the %zu entities of a phase", ids->ids.count);
}

static hpcw_status add_element(struct read_vom_ids *ids, const struct read_vom *reader,
                               const struct read_vom_task *task, uint32_t rank, hpcw_error *err) {
    const struct read_vom_entity *e = &task->entity;
    uint64_t words[1 + READ_VOM_MOST_INDEX];
    words[0] = e->collection_id;
    memcpy(words + 1, e->index, e->dimensions * sizeof words[0]);
    XXH128_hash_t hash = XXH3_128bits(words, (1 + e->dimensions) * sizeof words[0]);
    const uint64_t key[2] = {hash.low64, hash.high64 | 1};
    bool is_new;
    struct element *p = read_vom_table_entry(&ids->elements, key, &is_new);
    if (p == NULL) {
        return no_memory(ids, err);
    }
    if (!is_new) {
        return read_vom_wrong(reader, err,
                              "expected another index in collection %" PRIu64 ", got that of task %" PRIu32
                              " of rank %u",
                              e->collection_id, p->task, p->rank);
    }
    p->task = (uint32_t)task->number;
    p->rank = (uint16_t)rank;
    return HPCW_OK;
}

hpcw_status read_vom_ids_task(struct read_vom_ids *ids, const struct read_vom *reader,
                              const struct read_vom_task *task, uint32_t rank, hpcw_error *err) {
    char who[64];
    struct entity truth = entry_of(&task->entity);
    const uint64_t key[2] = {truth.id, truth.form};
    bool is_new;
    struct entity *entry = read_vom_table_entry(&ids->ids, key, &is_new);
    if (entry == NULL) {
        return no_memory(ids, err);
    }
    if ((entry->flags & IS_TASK) != 0) {
        return read_vom_wrong(reader, err,
                              "expected each entity once in a phase, got %s again, a task of rank %u already",
                              read_vom_entity_text(&task->entity, who), entry->task_of);
    }
    uint64_t named_at = entry->form >> OFFSET_SHIFT;
    if ((entry->flags & HERE) != 0 && entry->named_by != rank) {
        return read_vom_wrong(reader, err,
                              "expected %s on rank %u, whose communication %" PRIu32 " at offset %" PRIu64
                              " only the rank of this entity may record, got it on rank %" PRIu32,
                              read_vom_entity_text(&task->entity, who), entry->named_by, entry->communication,
                              named_at, rank);
    }
    const char *field = contradicted(&truth, entry);
    if (field != NULL) {
        return read_vom_wrong(reader, err,
                              "%s of %s: expected what communication %" PRIu32
                              " of rank %u says at offset %" PRIu64 " or before, got another",
                              field, read_vom_entity_text(&task->entity, who), entry->communication,
                              entry->named_by, named_at);
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
    const uint64_t key[2] = {claim.id, claim.form};
    bool is_new;
    struct entity *entry = read_vom_table_entry(&ids->ids, key, &is_new);
    if (entry == NULL) {
        return no_memory(ids, err);
    }
    if ((entry->flags & IS_TASK) != 0) {
        const char *field = contradicted(entry, &claim);
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
    const char *field = joined(entry, &claim);
    if (field != NULL) {
        return read_vom_wrong(reader, err,
                              "%s: %s of %s: expected what communication %" PRIu32
                              " of rank %u says at offset %" PRIu64 " or before, got another",
                              end, field, read_vom_entity_text(e, who), entry->communication, entry->named_by,
                              entry->form >> OFFSET_SHIFT);
    }
    if (here && (entry->flags & HERE) != 0 && entry->named_by != rank) {
        return read_vom_wrong(
            reader, err,
            "%s: expected the %s of %s in the file of one rank, got them here and in that of rank %u", end,
            read_vom_category_name(c->category), read_vom_entity_text(e, who), entry->named_by);
    }
    if ((entry->flags & IS_NAMED) == 0 || (here && (entry->flags & HERE) == 0)) {
        entry->form = claim.form | read_vom_at(reader) << OFFSET_SHIFT;
        entry->communication = (uint32_t)c->number;
        entry->named_by = (uint16_t)rank;
        entry->flags |= (uint16_t)(IS_NAMED | (here ? HERE : 0));
    }
    return HPCW_OK;
}

/* doc/formats/vom.md#vom-27 */
void read_vom_ids_dangling(const struct read_vom_ids *ids, bool whole, struct read_vom_dangling *d) {
    *d = (struct read_vom_dangling){.found = false};
    const struct read_vom_table *t = &ids->ids;
    for (size_t i = 0; i < t->capacity; i++) {
        const struct entity *e = (const struct entity *)(const void *)(t->slot + i * t->entry_size);
        if ((e->flags & IS_NAMED) == 0 || (e->flags & IS_TASK) != 0 || (!whole && (e->flags & HERE) == 0)) {
            continue;
        }
        uint64_t offset = e->form >> OFFSET_SHIFT;
        if (!d->found || e->named_by < d->rank || (e->named_by == d->rank && offset < d->offset) ||
            (e->named_by == d->rank && offset == d->offset && e->id < d->id)) {
            *d = (struct read_vom_dangling){.found = true,
                                            .here = (e->flags & HERE) != 0,
                                            .seq = (e->form & FORM) == BY_SEQ_ID,
                                            .id = e->id,
                                            .rank = e->named_by,
                                            .communication = e->communication,
                                            .offset = offset};
        }
    }
}
