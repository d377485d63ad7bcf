/* SPDX-License-Identifier: BSD-3-Clause */
/* What an entity says about itself: the bits of its packed id against its other fields (doc/formats/vom.md, "Entity"
 * and "Bits of an id"). */
#include <inttypes.h>
#include <stdio.h>

#include "libreader/vom/private.h"
#include "libwriter/base/status.h"

/* ---- Packed ids ------------------------------------------------------------------------------------------
 *
 * Bits 0-1 are the control. For handlers and elements the home rank follows in bits 2-17 and a sequence number
 * in the rest; for object groups bit 2 is set, bit 3 says collective, the rank is in bits 4-19 and the number
 * of the group in bits 20-51.
 */
#define RANK_MASK 0xffffu
#define HOME_SHIFT 2
#define SEQUENCE_SHIFT 18
#define GROUP_IS 4u
#define GROUP_COLLECTIVE 8u
#define GROUP_RANK_SHIFT 4
#define GROUP_END 52

static enum read_vom_control control_of(uint64_t id) {
    return (enum read_vom_control)(id & 3);
}

uint32_t read_vom_home_of(uint64_t id) {
    return (uint32_t)(id >> (control_of(id) == READ_VOM_GROUP ? GROUP_RANK_SHIFT : HOME_SHIFT)) & RANK_MASK;
}

/* The proxy is the id without the control; that of a collective group has no rank. */
static uint64_t group_of(uint64_t id) {
    uint64_t proxy = id >> 2;
    return (id & GROUP_COLLECTIVE) != 0 ? proxy & ~((uint64_t)RANK_MASK << HOME_SHIFT) : proxy;
}

bool read_vom_is_element(const struct read_vom_entity *e) {
    if (e->kind != READ_VOM_OBJECT) {
        return false;
    }
    return e->has_id ? (e->id & 2) != 0 : e->migratable || e->has_collection_id;
}

const char *read_vom_entity_text(const struct read_vom_entity *e, char text[64]) {
    const char *what = e->kind == READ_VOM_NODE        ? "node"
                       : e->kind == READ_VOM_SHARED_ID ? "shared_id"
                       : e->has_id                     ? "id"
                                                       : "seq_id";
    (void)snprintf(text, 64, "%s %" PRIu64, what, e->kind == READ_VOM_OBJECT && !e->has_id ? e->seq_id : e->id);
    return text;
}

static hpcw_status bits_wrong(const struct read_vom *r, const struct read_vom_entity *e, const char *field,
                              const char *expected, uint64_t got, hpcw_error *err) {
    return read_vom_wrong(r, err, "%s: expected %s by the bits of id %" PRIu64 ", got %" PRIu64, field,
                          expected, e->id, got);
}

/* Keys that must be there, or must not: doc/formats/vom.md#vom-21. */
static hpcw_status presence(const struct read_vom *r, const struct read_vom_entity *e, const char *key,
                            bool expected, bool got, hpcw_error *err) {
    char who[64];
    if (expected == got) {
        return HPCW_OK;
    }
    return read_vom_wrong(r, err, "expected %s key \"%s\" with %s, got %s", expected ? "the" : "no", key,
                          read_vom_entity_text(e, who), got ? "one" : "none");
}

static hpcw_status group_check(const struct read_vom *r, const struct read_vom_entity *e, hpcw_error *err) {
    if ((e->id & GROUP_IS) == 0 || e->id >> GROUP_END != 0) {
        return bits_wrong(r, e, "id", "bit 2 set and none above 51 for an object group", e->id, err);
    }
    char expected[32];
    (void)snprintf(expected, sizeof expected, "%" PRIu64, group_of(e->id));
    if (e->has_objgroup_id && e->objgroup_id != group_of(e->id)) {
        return bits_wrong(r, e, "objgroup_id", expected, e->objgroup_id, err);
    }
    return HPCW_OK;
}

/* doc/formats/vom.md#vom-17 */
static hpcw_status packed_check(const struct read_vom *r, const struct read_vom_entity *e, hpcw_error *err) {
    uint32_t home = read_vom_home_of(e->id);
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

hpcw_status read_vom_entity_check(const struct read_vom *r, const struct read_vom_entity *e, bool task,
                                  hpcw_error *err) {
    if (e->kind != READ_VOM_OBJECT) {
        if (task) {
            return read_vom_wrong(r, err, "type: expected \"object\", got \"%s\"",
                                  e->kind == READ_VOM_NODE ? "node" : "shared_id");
        }
        if (!e->has_id || e->has_seq_id || e->has_home || e->has_migratable || e->has_collection_id ||
            e->has_objgroup_id || e->dimensions > 0) {
            return read_vom_wrong(r, err, "expected exactly the keys id and type for a %s, got others",
                                  e->kind == READ_VOM_NODE ? "node" : "shared_id");
        }
        uint64_t most = e->kind == READ_VOM_NODE ? READ_VOM_MOST_RANKS - 1 : INT32_MAX;
        if (e->id > most) {
            return read_vom_wrong(r, err, "id: expected 0 to %" PRIu64 " for a %s, got %" PRIu64, most,
                                  e->kind == READ_VOM_NODE ? "node" : "shared_id", e->id);
        }
        return HPCW_OK;
    }
    if (!e->has_id && (!e->has_seq_id || r->strict)) {
        return read_vom_wrong(r, err, "expected the key \"id\"%s, got an object without it",
                              r->strict ? "" : " or \"seq_id\"");
    }
    hpcw_status status = presence(r, e, "home", true, e->has_home, err);
    if (status == HPCW_OK) {
        status = presence(r, e, "migratable", true, e->has_migratable, err);
    }
    if (status == HPCW_OK && e->has_id) {
        status = packed_check(r, e, err);
    }
    /* What belongs to elements and to groups. A task carries all; an end point elsewhere need not. */
    bool element = read_vom_is_element(e);
    bool group = e->has_id && control_of(e->id) == READ_VOM_GROUP && e->id != 0;
    if (status == HPCW_OK && (!element || (task && e->has_id) || (e->migratable && !e->has_id))) {
        status = presence(r, e, "collection_id", element, e->has_collection_id, err);
    }
    if (status == HPCW_OK && (!element || (task && r->strict))) {
        status = presence(r, e, "index", element, e->dimensions > 0, err);
    }
    if (status == HPCW_OK && e->has_id && (!group || (task && r->strict))) {
        status = presence(r, e, "objgroup_id", group, e->has_objgroup_id, err);
    }
    return status;
}

/* ---- Communications -------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum read_vom_kind from, to;
    bool in_files;
} categories[] = {
    [READ_VOM_SEND_RECV] = {"SendRecv", READ_VOM_OBJECT, READ_VOM_OBJECT, true},
    [READ_VOM_COLLECTION_TO_NODE] = {"CollectionToNode", READ_VOM_OBJECT, READ_VOM_NODE, true},
    [READ_VOM_NODE_TO_COLLECTION] = {"NodeToCollection", READ_VOM_NODE, READ_VOM_OBJECT, true},
    [READ_VOM_BROADCAST] = {"Broadcast", READ_VOM_OBJECT, READ_VOM_OBJECT, true},
    [READ_VOM_COLLECTION_TO_NODE_BCAST] = {"CollectionToNodeBcast", READ_VOM_OBJECT, READ_VOM_NODE, true},
    [READ_VOM_NODE_TO_COLLECTION_BCAST] = {"NodeToCollectionBcast", READ_VOM_NODE, READ_VOM_OBJECT, true},
    [READ_VOM_COLLECTIVE_TO_COLLECTION_BCAST] = {"CollectiveToCollectionBcast", READ_VOM_OBJECT,
                                                 READ_VOM_OBJECT, false},
    [READ_VOM_LOCAL_INVOKE] = {"LocalInvoke", READ_VOM_OBJECT, READ_VOM_OBJECT, false},
    [READ_VOM_WRITE_SHARED] = {"WriteShared", READ_VOM_SHARED_ID, READ_VOM_NODE, true},
    [READ_VOM_READ_ONLY_SHARED] = {"ReadOnlyShared", READ_VOM_SHARED_ID, READ_VOM_NODE, true},
};

const char *read_vom_category_name(enum read_vom_category category) {
    size_t c = (size_t)category;
    return c < sizeof categories / sizeof categories[0] ? categories[c].name : NULL;
}

static const char *kind_name(enum read_vom_kind kind) {
    return kind == READ_VOM_OBJECT ? "object" : kind == READ_VOM_NODE ? "node" : "shared_id";
}

hpcw_status read_vom_ends_check(const struct read_vom *r, const struct read_vom_communication *c,
                                hpcw_error *err) {
    const char *name = categories[c->category].name;
    if (!categories[c->category].in_files) {
        return read_vom_wrong(r, err, "type: expected a category that is recorded, got \"%s\"", name);
    }
    const enum read_vom_kind expected[2] = {categories[c->category].from, categories[c->category].to};
    const enum read_vom_kind got[2] = {c->from.kind, c->to.kind};
    for (int i = 0; i < 2; i++) {
        if (expected[i] != got[i]) {
            return read_vom_wrong(r, err, "%s.type: expected \"%s\" in a %s, got \"%s\"",
                                  i == 0 ? "from" : "to", kind_name(expected[i]), name, kind_name(got[i]));
        }
    }
    return HPCW_OK;
}
