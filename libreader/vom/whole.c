/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads tasks and communications in one step, not token by token, if they are spelled as vt and hpcw do it: no
 * blanks, keys in byte order. In most files nearly all bytes belong to such records. A function here moves *at past
 * the text that it takes. It returns false for text that is spelled otherwise or is wrong. Then the parser reads
 * the record token by token, and makes the messages.
 */
#include <string.h>

#include "libreader/vom/json/number.h"
#include "libreader/vom/private.h"

/* ---- Parts of a text ------------------------------------------------------------------------------------- */

/* Skips a fixed text of at most READ_VOM_PAD bytes; false if the text differs. */
static inline bool skip(const unsigned char **at, const char *text, size_t size) {
    const unsigned char *p = *at;
    *at = p + size;
    return memcmp(p, text, size) == 0;
}
#define SKIP(at, literal) skip(at, literal, sizeof(literal) - 1)

/* Skips a fixed text if it is there. Returns whether it was there. */
static inline bool skip_if(const unsigned char **at, const char *text, size_t size) {
    const unsigned char *p = *at;
    const bool is = skip(&p, text, size);
    *at = is ? p : *at;
    return is;
}
#define SKIP_IF(at, literal) skip_if(at, literal, sizeof(literal) - 1)

static inline bool take_count(const unsigned char **at, uint64_t most, uint64_t *count) {
    *at = read_vom_count(*at, count);
    return *at != NULL && *count <= most;
}

static inline bool take_rank(const unsigned char **at, uint32_t *rank) {
    uint64_t count;
    const bool good = take_count(at, READ_VOM_MOST_RANKS - 1, &count);
    *rank = (uint32_t)count;
    return good;
}

static inline bool take_float(const unsigned char **at, double *number) {
    bool is_float;
    *at = read_vom_double(*at, number, &is_float);
    return *at != NULL && is_float;
}

/* ---- Entities -------------------------------------------------------------------------------------------- */

static bool take_index(const unsigned char **at, struct read_vom_entity *e) {
    bool good;
    do {
        good = e->dimensions < READ_VOM_MOST_INDEX && take_count(at, UINT64_MAX, &e->index[e->dimensions]);
        e->dimensions++;
    } while (good && SKIP_IF(at, ","));
    return good && SKIP(at, "],");
}

/* Takes the JSON object of an entity. *at points to the quotation mark of its first key. */
static bool take_entity(const struct read_vom *r, const unsigned char **at, bool task,
                        struct read_vom_entity *e) {
    memset(e, 0, offsetof(struct read_vom_entity, index));
    e->has_collection_id = SKIP_IF(at, "\"collection_id\":");
    if (e->has_collection_id && !(take_count(at, UINT64_MAX, &e->collection_id) && SKIP(at, ","))) {
        return false;
    }
    e->has_home = SKIP(at, "\"home\":") && take_rank(at, &e->home);
    e->has_id = e->has_home && SKIP(at, ",\"id\":") && take_count(at, UINT64_MAX, &e->id) && SKIP(at, ",");
    if (!e->has_id || (SKIP_IF(at, "\"index\":[") && !take_index(at, e))) {
        return false;
    }
    e->migratable = SKIP_IF(at, "\"migratable\":true,");
    e->has_migratable = e->migratable || SKIP_IF(at, "\"migratable\":false,");
    e->has_objgroup_id = SKIP_IF(at, "\"objgroup_id\":");
    if (e->has_objgroup_id && !(take_count(at, UINT64_MAX, &e->objgroup_id) && SKIP(at, ","))) {
        return false;
    }
    return SKIP(at, "\"type\":\"object\"}") && read_vom_entity_check(r, e, task, NULL) == HPCW_OK;
}

/* ---- Records --------------------------------------------------------------------------------------------- */

static bool take_category(const unsigned char **at, enum read_vom_category *category) {
    for (unsigned c = 0; c < READ_VOM_CATEGORIES; c++) {
        const char *name = read_vom_category_names[c];
        if (name != NULL && skip_if(at, name, strlen(name))) {
            *category = (enum read_vom_category)c;
            return true;
        }
    }
    return false;
}

static bool take_communication(struct read_vom *r, const unsigned char **at) {
    struct read_vom_communication *c = &r->records.communication;
    return SKIP(at, "\"bytes\":") && take_float(at, &c->bytes) && SKIP(at, ",\"from\":{") &&
           take_entity(r, at, false, &c->from) && SKIP(at, ",\"messages\":") &&
           take_count(at, UINT64_MAX, &c->messages) && SKIP(at, ",\"to\":{") &&
           take_entity(r, at, false, &c->to) && SKIP(at, ",\"type\":\"") && take_category(at, &c->category) &&
           SKIP(at, "\"}");
}

/*
 * Copies the resource into memory that the parser allocated for earlier tasks. False if this memory is too small.
 */
static bool take_resource(struct read_vom_records *c, const unsigned char **at) {
    unsigned char *to = c->resource.data;
    size_t size = 0;
    for (; size < c->resource.capacity && **at >= 0x20 && **at < 0x80 && **at != '"' && **at != '\\'; ++*at) {
        to[size++] = **at;
    }
    if (size == c->resource.capacity) {
        return false;
    }
    to[size] = '\0';
    c->resource.size = size + 1;
    return SKIP(at, "\"");
}

static bool take_subphases(struct read_vom_records *c, const unsigned char **at, uint32_t *count) {
    uint64_t id;
    bool good;
    do {
        good = *count < c->subphase_capacity && SKIP(at, "{\"id\":") &&
               take_count(at, READ_VOM_MOST_SUBPHASES - 1, &id) && id == *count && SKIP(at, ",\"time\":") &&
               take_float(at, &c->subphase[*count]) && SKIP(at, "}");
        ++*count;
    } while (good && SKIP_IF(at, ","));
    return good && SKIP(at, "],");
}

static bool take_task(struct read_vom *r, const unsigned char **at) {
    struct read_vom_records *c = &r->records;
    uint32_t subphases = 0;
    bool good = SKIP(at, "\"entity\":{") && take_entity(r, at, true, &c->task.entity) &&
                SKIP(at, ",\"node\":") && take_rank(at, &c->task.node) && c->task.node == r->here.rank &&
                SKIP(at, ",\"resource\":\"") && take_resource(c, at) && SKIP(at, ",");
    const bool has_subphases = good && SKIP_IF(at, "\"subphases\":[");
    good = good && (!has_subphases || take_subphases(c, at, &subphases)) && SKIP(at, "\"time\":") &&
           take_float(at, &c->task.time) && SKIP(at, "}");
    c->task.has_subphases = good && has_subphases;
    c->task.subphases = good ? subphases : 0;
    return good;
}

const unsigned char *read_vom_take_whole(void *context, const struct read_vom_spec *spec,
                                         const unsigned char *text) {
    const unsigned char *at = text + 1;
    const bool good =
        spec->slot == READ_VOM_S_TASK ? take_task(context, &at) : take_communication(context, &at);
    return good ? at : NULL;
}
