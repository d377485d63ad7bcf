/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists the datasets of a prefix, from its index. */
#include <stdlib.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/format/rank2file/restart/restart.h"

struct item {
    hpcw_rank2file_listed listed; /* the first member: hpcw_i_r2f_entry_of goes from it to the item */
    struct hpcw_i_r2f_entry entry;
};

struct hpcw_rank2file_list {
    char *prefix;
    hpcw_kvtree *index; /* owns the names and entries in the list */
    hpcw_rank2file_layout layout;
    struct item *item;
    uint32_t count;
    const char *current; /* NULL: none */
};

/* Compares datasets in the order of a restart: the current one, then from the newest to the oldest. */
static int by_restart(const void *a_, const void *b_) {
    const hpcw_rank2file_listed *a = &((const struct item *)a_)->listed;
    const hpcw_rank2file_listed *b = &((const struct item *)b_)->listed;
    if (a->current != b->current) {
        return a->current ? -1 : 1;
    }
    return a->id != b->id ? (a->id > b->id ? -1 : 1) : strcmp(a->name, b->name);
}

static uint64_t number(const hpcw_kvtree *node, const char *key) {
    uint64_t value = 0;
    return hpcw_kvtree_value_u64(node, key, &value, NULL) == HPCW_OK ? value : 0;
}

static void describe(const hpcw_kvtree *n, const hpcw_kvtree *record, const char *current,
                     hpcw_rank2file_listed *d) {
    const char *name = hpcw_kvtree_key(n);
    const hpcw_kvtree *dset = hpcw_kvtree_get(record, "DSET");
    const char *failed = hpcw_kvtree_value(record, "FAILED");
    *d = (hpcw_rank2file_listed){
        .name = name,
        .id = hpcw_i_r2f_index_id_of(n),
        .complete = hpcw_i_r2f_is_complete(record),
        .current = current != NULL && strcmp(current, name) == 0,
        .failed = hpcw_kvtree_get(record, "FAILED") == NULL ? NULL
                  : failed == NULL                          ? "an unknown time"
                                                            : failed,
        .flushed = hpcw_kvtree_value(record, "FLUSHED"),
        .files = number(dset, "FILES"),
        .size = number(dset, "SIZE"),
        .created_us = number(dset, "CREATED"),
    };
}

static hpcw_status fill(hpcw_rank2file_list *list, const char *prefix, hpcw_error *err) {
    hpcw_status s = hpcw_i_r2f_index_layout(list->index, HPCW_RANK2FILE_INDEX, &list->layout, err);
    if (s != HPCW_OK) {
        return s;
    }
    const char *current = hpcw_kvtree_value(list->index, "CURRENT");
    const hpcw_kvtree *currents = hpcw_kvtree_get(list->index, "CURRENT");
    if (current == NULL && currents != NULL) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s/%s: CURRENT: expected one value, got %zu", prefix,
                           HPCW_RANK2FILE_INDEX, hpcw_kvtree_count(currents));
    }
    const hpcw_kvtree *names = hpcw_i_r2f_index_names(list->index, list->layout);
    list->item = hpcw_i_calloc(hpcw_kvtree_count(names) + 1, sizeof *list->item);
    if (list->item == NULL) {
        return hpcw_i_fail_memory(err, prefix, hpcw_kvtree_count(names), "datasets");
    }
    list->current = current;
    for (const hpcw_kvtree *n = hpcw_kvtree_first(names); n != NULL; n = hpcw_kvtree_next(n)) {
        struct item *item = &list->item[list->count++];
        item->entry = (struct hpcw_i_r2f_entry){
            list->layout, n, hpcw_i_r2f_index_record(list->index, list->layout, hpcw_kvtree_key(n))};
        describe(n, item->entry.record, current, &item->listed);
    }
    if (list->count > 1) {
        qsort(list->item, list->count, sizeof *list->item, by_restart);
    }
    return s;
}

static hpcw_status open_list(const struct hpcw_i_r2f_prefix *p, hpcw_comm *comm, hpcw_rank2file_list **out,
                             hpcw_error *err) {
    const char *prefix = p->path;
    hpcw_rank2file_list *list = NULL;
    hpcw_status s = HPCW_OK;
    if (out == NULL || prefix == NULL || *prefix == '\0') {
        s = hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected a prefix and a pointer for the list, got %s",
                        out == NULL || prefix == NULL ? "NULL" : "an empty prefix");
    } else {
        list = hpcw_i_calloc(1, sizeof *list);
        if (list != NULL) {
            list->prefix = hpcw_i_strdup(prefix);
        }
        s = list == NULL || list->prefix == NULL ? hpcw_i_fail_memory(err, prefix, 0, NULL) : HPCW_OK;
    }
    if (out != NULL) {
        *out = NULL;
    }
    if (s == HPCW_OK && comm->process == 0) {
        s = hpcw_i_r2f_index_read(p, &list->index, err);
    }
    s = hpcw_i_agree(comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_share_tree(comm, "the index", &list->index, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_agree(comm, fill(list, prefix, err), NULL, err);
    }
    if (s != HPCW_OK) {
        if (prefix != NULL && s != HPCW_EINVAL) {
            hpcw_i_fail_about(err, prefix);
        }
        hpcw_rank2file_list_free(list);
        return s;
    }
    *out = list;
    return s;
}

hpcw_status hpcw_rank2file_list_open(const char *prefix, hpcw_comm *comm, hpcw_rank2file_list **out,
                                     hpcw_error *err) {
    hpcw_error local;
    return open_list(&(struct hpcw_i_r2f_prefix){.path = prefix}, hpcw_i_comm_or_self(comm), out,
                     err == NULL ? &local : err);
}

hpcw_status hpcw_i_r2f_list_open(const struct hpcw_i_r2f_prefix *p, hpcw_rank2file_list **out,
                                 hpcw_error *err) {
    return open_list(p, hpcw_i_comm_or_self(NULL), out, err);
}

uint32_t hpcw_rank2file_list_count(const hpcw_rank2file_list *list) {
    return list == NULL ? 0 : list->count;
}

const hpcw_rank2file_listed *hpcw_rank2file_list_get(const hpcw_rank2file_list *list, uint32_t index) {
    return list == NULL || index >= list->count ? NULL : &list->item[index].listed;
}

const struct hpcw_i_r2f_entry *hpcw_i_r2f_entry_of(const hpcw_rank2file_listed *listed) {
    return &((const struct item *)(const void *)listed)->entry;
}

const char *hpcw_i_r2f_list_prefix(const hpcw_rank2file_list *list) {
    return list->prefix;
}

hpcw_rank2file_layout hpcw_rank2file_list_layout(const hpcw_rank2file_list *list) {
    return list == NULL ? HPCW_RANK2FILE_SCR_1_1 : list->layout;
}

const char *hpcw_rank2file_list_current(const hpcw_rank2file_list *list) {
    return list == NULL ? NULL : list->current;
}

void hpcw_rank2file_list_free(hpcw_rank2file_list *list) {
    if (list != NULL) {
        hpcw_kvtree_free(list->index);
        hpcw_i_free(list->item);
        hpcw_i_free(list->prefix);
        hpcw_i_free(list);
    }
}
