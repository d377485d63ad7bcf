/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks one entity: the bits of its packed id against its other fields (doc/formats/vom.md, "Entity" and "Bits of
 * an id"). Checks the kinds of both ends of a communication against its category ("Edge"). */
#include <inttypes.h>
#include <stdio.h>

#include "libreader/vom/private.h"
#include "libwriter/base/status.h"

/* ---- Names --------------------------------------------------------------------------------------------- */

const char *const read_vom_kind_names[READ_VOM_KINDS] = {
    [READ_VOM_OBJECT] = "object", [READ_VOM_NODE] = "node", [READ_VOM_SHARED_ID] = "shared_id"};

const char *const read_vom_category_names[READ_VOM_CATEGORIES] = {
    [READ_VOM_SEND_RECV] = "SendRecv",
    [READ_VOM_COLLECTION_TO_NODE] = "CollectionToNode",
    [READ_VOM_NODE_TO_COLLECTION] = "NodeToCollection",
    [READ_VOM_BROADCAST] = "Broadcast",
    [READ_VOM_COLLECTION_TO_NODE_BCAST] = "CollectionToNodeBcast",
    [READ_VOM_NODE_TO_COLLECTION_BCAST] = "NodeToCollectionBcast",
    [READ_VOM_COLLECTIVE_TO_COLLECTION_BCAST] = "CollectiveToCollectionBcast",
    [READ_VOM_LOCAL_INVOKE] = "LocalInvoke",
    [READ_VOM_WRITE_SHARED] = "WriteShared",
    [READ_VOM_READ_ONLY_SHARED] = "ReadOnlyShared",
};

/* ---- Bits of an id --------------------------------------------------------------------------------------- */

#define CONTROL_MASK 3u
#define RANK_MASK 0xffffu
#define HOME_SHIFT 2
#define SEQUENCE_SHIFT 18
#define GROUP_IS 4u
#define GROUP_COLLECTIVE 8u
#define GROUP_PROXY_SHIFT 2
#define GROUP_RANK_SHIFT 4
#define GROUP_END 52

static enum read_vom_control control_of(uint64_t id) {
    return (enum read_vom_control)(id & CONTROL_MASK);
}

static uint32_t home_of(uint64_t id) {
    return (uint32_t)(id >> (control_of(id) == READ_VOM_GROUP ? GROUP_RANK_SHIFT : HOME_SHIFT)) & RANK_MASK;
}

/* Returns the objgroup_id that belongs to an id. */
static uint64_t group_of(uint64_t id) {
    uint64_t rank = (uint64_t)RANK_MASK << GROUP_RANK_SHIFT;
    return ((id & GROUP_COLLECTIVE) != 0 ? id & ~rank : id) >> GROUP_PROXY_SHIFT;
}

bool read_vom_is_element(const struct read_vom_entity *e) {
    if (e->kind != READ_VOM_OBJECT) {
        return false;
    }
    return e->has_id ? (e->id & 2) != 0 : e->migratable || e->has_collection_id;
}

const char *read_vom_entity_text(const struct read_vom_entity *e, char text[64]) {
    const char *what = e->kind != READ_VOM_OBJECT ? read_vom_kind_names[e->kind] : e->has_id ? "id" : "seq_id";
    (void)snprintf(text, 64, "%s %" PRIu64, what, e->kind == READ_VOM_OBJECT && !e->has_id ? e->seq_id : e->id);
    return text;
}

static hpcw_status bits_wrong(const struct read_vom *r, const struct read_vom_entity *e, const char *field,
                              const char *expected, uint64_t got, hpcw_error *err) {
    return read_vom_wrong(r, err, "%s: expected %s by the bits of id %" PRIu64 ", got %" PRIu64, field,
                          expected, e->id, got);
}

/* Fails because a key is missing, or must not be present: doc/formats/vom.md#vom-21. */
static hpcw_status key_wrong(const struct read_vom *r, const struct read_vom_entity *e, const char *key,
                             bool expected, hpcw_error *err) {
    char who[64];
    return read_vom_wrong(r, err, "expected %s key \"%s\" with %s, got %s", expected ? "the" : "no", key,
                          read_vom_entity_text(e, who), expected ? "none" : "one");
}

static hpcw_status group_check(const struct read_vom *r, const struct read_vom_entity *e, hpcw_error *err) {
    if ((e->id & GROUP_IS) == 0 || e->id >> GROUP_END != 0) {
        return bits_wrong(r, e, "id", "bit 2 set and none above 51 for an object group", e->id, err);
    }
    if (e->has_objgroup_id && e->objgroup_id != group_of(e->id)) {
        char expected[32];
        (void)snprintf(expected, sizeof expected, "%" PRIu64, group_of(e->id));
        return bits_wrong(r, e, "objgroup_id", expected, e->objgroup_id, err);
    }
    return HPCW_OK;
}

/* Checks the bits of a packed id: doc/formats/vom.md#vom-17. */
static hpcw_status packed_check(const struct read_vom *r, const struct read_vom_entity *e, hpcw_error *err) {
    uint32_t home = home_of(e->id);
    uint64_t sequence = e->id >> SEQUENCE_SHIFT;
    enum read_vom_control control = control_of(e->id);
    bool migratable = control == READ_VOM_MIGRATABLE_ELEMENT;
    char expected[32];
    if (e->migratable != migratable) {
        return bits_wrong(r, e, "migratable", migratable ? "true (1)" : "false (0)", e->migratable, err);
    }
    if (home >= READ_VOM_MOST_RANKS) {
        return bits_wrong(r, e, "id", "a home rank below 32768", home, err);
    }
    if (e->home != home) {
        (void)snprintf(expected, sizeof expected, "%" PRIu32, home);
        return bits_wrong(r, e, "home", expected, e->home, err);
    }
    if (control == READ_VOM_GROUP) {
        return e->id == 0 ? HPCW_OK : group_check(r, e, err);
    }
    if (control == READ_VOM_HANDLER && sequence != 0) {
        return bits_wrong(r, e, "id", "no sequence number for a bare handler", sequence, err);
    }
    if (control != READ_VOM_HANDLER && sequence == 0) {
        return bits_wrong(r, e, "id", "a sequence number >= 1 for an element", sequence, err);
    }
    return HPCW_OK;
}

/* Checks an entity that has only two keys: a node or a block of shared memory. */
static hpcw_status number_check(const struct read_vom *r, const struct read_vom_entity *e, bool task,
                                hpcw_error *err) {
    const char *kind = read_vom_kind_names[e->kind];
    if (task) {
        return read_vom_wrong(r, err, "type: expected \"object\", got \"%s\"", kind);
    }
    if (!e->has_id || e->has_seq_id || e->has_home || e->has_migratable || e->has_collection_id ||
        e->has_objgroup_id || e->dimensions > 0) {
        return read_vom_wrong(r, err, "expected exactly the keys id and type for a %s, got others", kind);
    }
    uint64_t most = e->kind == READ_VOM_NODE ? READ_VOM_MOST_RANKS - 1 : INT32_MAX;
    if (e->id > most) {
        return read_vom_wrong(r, err, "id: expected 0 to %" PRIu64 " for a %s, got %" PRIu64, most, kind,
                              e->id);
    }
    return HPCW_OK;
}

hpcw_status read_vom_entity_check(const struct read_vom *r, const struct read_vom_entity *e, bool task,
                                  hpcw_error *err) {
    if (e->kind != READ_VOM_OBJECT) {
        return number_check(r, e, task, err);
    }
    if (!e->has_id && (!e->has_seq_id || r->strict)) {
        return read_vom_wrong(r, err, "expected the key \"id\"%s, got an object without it",
                              r->strict ? "" : " or \"seq_id\"");
    }
    if (!e->has_home || !e->has_migratable) {
        return key_wrong(r, e, e->has_home ? "migratable" : "home", true, err);
    }
    if (e->has_id) {
        hpcw_status status = packed_check(r, e, err);
        if (status != HPCW_OK) {
            return status;
        }
    }
    /* Only elements have collection_id and index, and only groups have objgroup_id. The entity of a task has all
     * its keys; an end point on another rank may lack some. */
    bool element = read_vom_is_element(e);
    bool group = e->has_id && control_of(e->id) == READ_VOM_GROUP && e->id != 0;
    bool strict_task = task && r->strict;
    if ((!element || (e->has_id ? task : e->migratable)) && e->has_collection_id != element) {
        return key_wrong(r, e, "collection_id", element, err);
    }
    if ((!element || strict_task) && (e->dimensions > 0) != element) {
        return key_wrong(r, e, "index", element, err);
    }
    if (e->has_id && (!group || strict_task) && e->has_objgroup_id != group) {
        return key_wrong(r, e, "objgroup_id", group, err);
    }
    return HPCW_OK;
}

/* Repairs an entity that has an id or a seq_id. A missing home becomes the rank of the file, and a missing
 * `migratable` follows from the id. If only `home` contradicts the bits of the id, the home is that of the bits: vt
 * takes it from there, and LBAF puts the rank into `home` to which it moved the object. If other bits of the id are
 * wrong, the id counts as a seq_id. */
hpcw_status read_vom_entity_mend(struct read_vom *r, struct read_vom_entity *e, const hpcw_error *why,
                                 hpcw_error *err) {
    if (e->kind != READ_VOM_OBJECT || (!e->has_id && !e->has_seq_id)) {
        return hpcw_i_fail_as(err, why);
    }
    if (!e->has_home) {
        e->home = r->here.rank == READ_VOM_ANY_RANK ? 0 : r->here.rank;
    }
    if (!e->has_migratable) {
        e->migratable = !e->has_id || control_of(e->id) == READ_VOM_MIGRATABLE_ELEMENT;
    }
    e->has_home = e->has_migratable = true;
    if (e->has_id) {
        struct read_vom_entity at_home = *e;
        at_home.home = home_of(e->id);
        if (packed_check(r, &at_home, NULL) == HPCW_OK) {
            e->home = at_home.home;
        } else {
            e->seq_id = e->has_seq_id ? e->seq_id : e->id;
            e->has_seq_id = true;
            e->has_id = false;
        }
    }
    /* Ignore keys that belong to other kinds. */
    const bool element = read_vom_is_element(e);
    e->has_collection_id = e->has_collection_id && element;
    e->dimensions = element ? e->dimensions : 0;
    e->has_objgroup_id = e->has_objgroup_id && e->has_id && control_of(e->id) == READ_VOM_GROUP && e->id != 0;
    read_vom_mended(r, why->message);
    return HPCW_OK;
}

/* ---- The ends of a communication -------------------------------------------------------------------------- */

/* Kinds of the ends of each category. All categories that are not listed are from object to object. */
static const enum read_vom_kind ends[READ_VOM_CATEGORIES][2] = {
    [READ_VOM_COLLECTION_TO_NODE] = {READ_VOM_OBJECT, READ_VOM_NODE},
    [READ_VOM_NODE_TO_COLLECTION] = {READ_VOM_NODE, READ_VOM_OBJECT},
    [READ_VOM_COLLECTION_TO_NODE_BCAST] = {READ_VOM_OBJECT, READ_VOM_NODE},
    [READ_VOM_NODE_TO_COLLECTION_BCAST] = {READ_VOM_NODE, READ_VOM_OBJECT},
    [READ_VOM_WRITE_SHARED] = {READ_VOM_SHARED_ID, READ_VOM_NODE},
    [READ_VOM_READ_ONLY_SHARED] = {READ_VOM_SHARED_ID, READ_VOM_NODE},
};

const char *read_vom_category_name(enum read_vom_category category) {
    size_t c = (size_t)category;
    return c < READ_VOM_CATEGORIES ? read_vom_category_names[c] : NULL;
}

hpcw_status read_vom_ends_check(const struct read_vom *r, const struct read_vom_communication *c,
                                hpcw_error *err) {
    const char *name = read_vom_category_names[c->category];
    if (c->category == READ_VOM_COLLECTIVE_TO_COLLECTION_BCAST || c->category == READ_VOM_LOCAL_INVOKE) {
        return read_vom_wrong(r, err, "type: expected a category that is recorded, got \"%s\"", name);
    }
    const enum read_vom_kind *expected = ends[c->category];
    const enum read_vom_kind got[2] = {c->from.kind, c->to.kind};
    for (int i = 0; i < 2; i++) {
        if (expected[i] != got[i]) {
            return read_vom_wrong(r, err, "%s.type: expected \"%s\" in a %s, got \"%s\"",
                                  i == 0 ? "from" : "to", read_vom_kind_names[expected[i]], name,
                                  read_vom_kind_names[got[i]]);
        }
    }
    return HPCW_OK;
}
