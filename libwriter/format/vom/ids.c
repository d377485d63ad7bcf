/* SPDX-License-Identifier: BSD-3-Clause */
/* Packs and unpacks ids and proxies, and makes entities of them (doc/formats/vom.md, "Bits of an id"). The
 * functions have no state and do no I/O. */
#include <inttypes.h>

#include <hpcw/vom.h>

#include "libwriter/base/status.h"

/* An id of kinds 1 to 3 has two bits for the kind, 16 for the home and 46 for a sequence number that counts
 * from 1. */
#define HOME_SHIFT 2
#define SEQUENCE_SHIFT 18
/* Bits of a group's proxy: bit 0 is set for a group, bit 1 if it is collective. Then come 16 bits of the rank and
 * 32 bits of the number. The id is the proxy times 4. */
#define PROXY_GROUP 1u
#define PROXY_COLLECTIVE 2u
#define PROXY_RANK_SHIFT 2
#define PROXY_NUMBER_SHIFT 18
#define RANK_BITS UINT64_C(0xffff)
/* Bits of a collection's proxy: bits 0 to 2 say that it is a collection, migratable and distributed. The number
 * begins at bit 19. */
#define COLLECTION_BITS 7u
#define COLLECTION_NUMBER_SHIFT 19

uint64_t hpcw_vom_element_id(uint32_t home, uint64_t number, bool migratable) {
    if (home >= HPCW_VOM_MAX_RANKS || number >= HPCW_VOM_MAX_ELEMENTS) {
        return 0;
    }
    return (number + 1) << SEQUENCE_SHIFT | (uint64_t)home << HOME_SHIFT |
           (uint64_t)(migratable ? HPCW_VOM_ELEMENT : HPCW_VOM_FIXED);
}

uint64_t hpcw_vom_handler_id(uint32_t rank) {
    return rank < HPCW_VOM_MAX_RANKS ? (uint64_t)rank << HOME_SHIFT | HPCW_VOM_HANDLER : 0;
}

uint64_t hpcw_vom_group_id(uint64_t number, uint32_t rank, bool collective) {
    if (rank >= HPCW_VOM_MAX_RANKS || number > UINT32_MAX) {
        return 0;
    }
    uint64_t proxy = number << PROXY_NUMBER_SHIFT | (uint64_t)rank << PROXY_RANK_SHIFT |
                     (collective ? PROXY_COLLECTIVE : 0) | PROXY_GROUP;
    return proxy << 2;
}

uint64_t hpcw_vom_collection_id(uint32_t number) {
    return (uint64_t)number << COLLECTION_NUMBER_SHIFT | COLLECTION_BITS;
}

hpcw_status hpcw_vom_id_parts(uint64_t id, hpcw_vom_id *parts, hpcw_error *err) {
    if (parts == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "vom: expected a pointer for the parts of an id, got NULL");
    }
    hpcw_vom_kind kind = id == 0 ? HPCW_VOM_NOBODY : (hpcw_vom_kind)(id & 3);
    *parts = (hpcw_vom_id){.kind = kind};
    if (kind == HPCW_VOM_NOBODY) {
        return HPCW_OK;
    }
    if (kind == HPCW_VOM_GROUP) {
        uint64_t proxy = id >> 2;
        parts->home = (uint32_t)(proxy >> PROXY_RANK_SHIFT & RANK_BITS);
        parts->number = proxy >> PROXY_NUMBER_SHIFT;
        parts->collective = (proxy & PROXY_COLLECTIVE) != 0;
        if ((proxy & PROXY_GROUP) == 0 || parts->number > UINT32_MAX) {
            return hpcw_i_fail(err, HPCW_EINVAL,
                               "vom: id %" PRIu64 ": expected the bits of a group, got 0x%" PRIx64, id, id);
        }
    } else {
        uint64_t sequence = id >> SEQUENCE_SHIFT;
        parts->home = (uint32_t)(id >> HOME_SHIFT & RANK_BITS);
        parts->number = sequence - (kind != HPCW_VOM_HANDLER);
        if ((sequence == 0) != (kind == HPCW_VOM_HANDLER)) {
            return hpcw_i_fail(
                err, HPCW_EINVAL, "vom: id %" PRIu64 ": expected a sequence number %s, got %" PRIu64, id,
                kind == HPCW_VOM_HANDLER ? "of 0 for a handler" : "from 1 on for an element", sequence);
        }
    }
    if (parts->home >= HPCW_VOM_MAX_RANKS) {
        return hpcw_i_fail(err, HPCW_EINVAL, "vom: id %" PRIu64 ": expected a home of 0 to 32767, got %" PRIu32,
                           id, parts->home);
    }
    return HPCW_OK;
}

uint64_t hpcw_vom_objgroup_id(uint64_t id) {
    hpcw_vom_id parts;
    if (hpcw_vom_id_parts(id, &parts, NULL) != HPCW_OK || parts.kind != HPCW_VOM_GROUP) {
        return 0;
    }
    /* The members of a collective group share one proxy, which has no rank. */
    return parts.collective ? id >> 2 & ~(RANK_BITS << PROXY_RANK_SHIFT) : id >> 2;
}

/* ---- Entities -------------------------------------------------------------------------------------------- */

hpcw_vom_entity hpcw_vom_far(uint64_t id) {
    hpcw_vom_id parts;
    hpcw_vom_entity entity = {.id = id};
    if (hpcw_vom_id_parts(id, &parts, NULL) == HPCW_OK) {
        entity.home = parts.home;
        entity.migratable = parts.kind == HPCW_VOM_ELEMENT;
    }
    return entity;
}

hpcw_vom_entity hpcw_vom_element(uint32_t home, uint64_t number, uint64_t collection_id, const uint64_t *index,
                                 uint32_t dimensions) {
    return (hpcw_vom_entity){
        .id = hpcw_vom_element_id(home, number, true),
        .collection_id = collection_id,
        .index = index,
        .dimensions = dimensions,
        .home = home,
        .migratable = true,
    };
}

hpcw_vom_entity hpcw_vom_handler(uint32_t rank) {
    return (hpcw_vom_entity){.id = hpcw_vom_handler_id(rank), .home = rank};
}

hpcw_vom_entity hpcw_vom_group(uint64_t number, uint32_t rank, bool collective) {
    uint64_t id = hpcw_vom_group_id(number, rank, collective);
    return (hpcw_vom_entity){.id = id, .objgroup_id = hpcw_vom_objgroup_id(id), .home = rank};
}

hpcw_vom_entity hpcw_vom_nobody(void) {
    return (hpcw_vom_entity){.id = 0};
}

/* ---- Nodes ----------------------------------------------------------------------------------------------- */

hpcw_vom_node hpcw_vom_node_of(uint32_t ranks, uint32_t per_node, uint32_t rank) {
    if (per_node == 0 || rank >= ranks) {
        return (hpcw_vom_node){0};
    }
    uint32_t id = rank / per_node;
    uint32_t first = id * per_node;
    return (hpcw_vom_node){
        .id = id,
        .num_nodes = ranks / per_node + (ranks % per_node != 0),
        .rank = rank - first,
        .size = ranks - first < per_node ? ranks - first : per_node,
    };
}
