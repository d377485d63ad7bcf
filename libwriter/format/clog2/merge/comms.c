/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/clog2/merge/comms.h"

#include <stdlib.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

static hpcw_status no_memory(hpcw_error *err) {
    return hpcw_i_fail_memory(err, "clog2", 0, "the table of communicators");
}

/* Compares identities field by field, because the padding between the fields is undefined. */
static int compare_ids(const hpcw_clog2_comm_id *a, const hpcw_clog2_comm_id *b) {
    if (a->random != b->random) {
        return a->random < b->random ? -1 : 1;
    }
    if (a->created != b->created) {
        return a->created < b->created ? -1 : 1;
    }
    return memcmp(a->host, b->host, sizeof a->host);
}

static int by_id(const void *a_, const void *b_) {
    const struct hpcw_i_clog2_extra *a = a_, *b = b_;
    int order = compare_ids(&a->id, &b->id);
    return order != 0 ? order : (a->order > b->order) - (a->order < b->order);
}

static int by_order(const void *a_, const void *b_) {
    const struct hpcw_i_clog2_extra *a = a_, *b = b_;
    return (a->order > b->order) - (a->order < b->order);
}

static int find_id(const void *id, const void *extra) {
    return compare_ids(id, &((const struct hpcw_i_clog2_extra *)extra)->id);
}

hpcw_status hpcw_i_clog2_comms_add(struct hpcw_i_clog2_comms *comms, uint32_t rank,
                                   const struct hpcw_i_clog2_known_comm *known, uint32_t count,
                                   hpcw_error *err) {
    if (comms->self == NULL) {
        comms->self = hpcw_i_calloc(comms->ranks, sizeof *comms->self);
    }
    if (comms->self == NULL) {
        return no_memory(err);
    }
    if (count > 0) {
        comms->world = known[0].id;
    }
    if (count > 1) {
        comms->self[rank] = known[1].id;
    }
    for (uint32_t i = 2; i < count; i++) {
        bool other = known[i].rank != 0 || known[i].kind == HPCW_CLOG2_REMOTE_HALF;
        bool none = known[i].id.random == 0 && known[i].id.created == 0;
        if (none || (other && comms->leaders)) {
            continue;
        }
        struct hpcw_i_clog2_extra *grown =
            hpcw_i_realloc(comms->extra, ((size_t)comms->extras + 1) * sizeof *comms->extra);
        if (grown == NULL) {
            return no_memory(err);
        }
        comms->extra = grown;
        memset(&grown[comms->extras], 0, sizeof *grown);
        grown[comms->extras].id = known[i].id;
        grown[comms->extras].kind = known[i].kind;
        grown[comms->extras].order = comms->extras;
        comms->extras++;
    }
    return HPCW_OK;
}

hpcw_status hpcw_i_clog2_comms_settle(struct hpcw_i_clog2_comms *comms, hpcw_error *err) {
    struct hpcw_i_clog2_extra *extra = comms->extra;
    if (comms->extras > 0) {
        qsort(extra, comms->extras, sizeof *extra, by_id);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < comms->extras; i++) {
        if (kept == 0 || compare_ids(&extra[kept - 1].id, &extra[i].id) != 0) {
            extra[kept++] = extra[i];
        }
    }
    comms->extras = kept;
    if (kept > 0) {
        qsort(extra, kept, sizeof *extra, by_order);
    }
    hpcw_i_free(comms->found);
    comms->found = hpcw_i_malloc(kept * sizeof *comms->found);
    if (comms->found == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < kept; i++) {
        extra[i].order = i;
        comms->found[i] = extra[i];
    }
    if (kept > 0) {
        qsort(comms->found, kept, sizeof *comms->found, by_id);
    }
    return HPCW_OK;
}

hpcw_status hpcw_i_clog2_comms_memberships(const struct hpcw_i_clog2_comms *comms, uint32_t rank,
                                           const struct hpcw_i_clog2_known_comm *known, uint32_t count,
                                           struct hpcw_i_clog2_membership **membership, hpcw_error *err) {
    *membership = hpcw_i_calloc(count, sizeof **membership);
    if (*membership == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct hpcw_i_clog2_membership *p = &(*membership)[i];
        p->id = known[i].id;
        p->kind = known[i].kind;
        p->peers = INT32_MAX;
        p->rank = known[i].kind == HPCW_CLOG2_REMOTE_HALF ? -1 : (int32_t)known[i].rank;
        const struct hpcw_i_clog2_extra *e =
            i < 2 || comms->extras == 0
                ? NULL
                : bsearch(&known[i].id, comms->found, comms->extras, sizeof *comms->found, find_id);
        p->index = i == 0      ? 0
                   : i == 1    ? 1 + (int32_t)rank
                   : e == NULL ? -1
                               : 1 + (int32_t)(comms->ranks + e->order);
    }
    return HPCW_OK;
}

void hpcw_i_clog2_comms_entry(void *context, uint32_t index, hpcw_clog2_comm_entry *entry) {
    const struct hpcw_i_clog2_comms *comms = context;
    const struct hpcw_i_clog2_extra *e = index > comms->ranks ? &comms->extra[index - 1 - comms->ranks] : NULL;
    entry->index = (int32_t)index;
    entry->kind = e != NULL ? e->kind : HPCW_CLOG2_INTRA;
    entry->id = index == 0 ? comms->world : e != NULL ? e->id : comms->self[index - 1];
}

void hpcw_i_clog2_comms_free(struct hpcw_i_clog2_comms *comms) {
    hpcw_i_free(comms->self);
    hpcw_i_free(comms->extra);
    hpcw_i_free(comms->found);
}
