/* SPDX-License-Identifier: BSD-3-Clause */
/* The categories of communications (doc/formats/vom.md, "Edge"): their names, and the kinds of their end points. */
#include "libreader/vom/private.h"

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

/* All others are from object to object. */
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
