/* SPDX-License-Identifier: BSD-3-Clause */
/* The categories of communications (doc/formats/vom.md, "Edge"): their names, and the kinds of their end points. */
#include "libreader/vom/private.h"

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
