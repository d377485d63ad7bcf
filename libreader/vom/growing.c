/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists that grow while their values arrive. */
#include "libreader/vom/private.h"
#include "libwriter/base/array.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

hpcw_status read_vom_no_memory(const struct read_vom_json *json, hpcw_error *err) {
    return read_vom_json_wrong(json, HPCW_ENOMEM, err, "out of memory for it");
}

void read_vom_members_free(struct read_vom_members_list *l) {
    hpcw_i_buf_free(&l->text);
    hpcw_i_free(l->item);
    *l = (struct read_vom_members_list){0};
}

hpcw_status read_vom_members_add(struct read_vom_members_list *l, const struct read_vom_json *json,
                                 const struct read_vom_value *v, hpcw_error *err) {
    /* Each counts as 64 bytes more than its texts, so that there is a limit to many short ones, too. */
    if (l->text.size + 64 * l->count + v->key_size + v->size > READ_VOM_MOST_MEMBER_BYTES) {
        return read_vom_json_wrong(json, HPCW_ERANGE, err,
                                   "expected values of at most %zu bytes in all, got more",
                                   READ_VOM_MOST_MEMBER_BYTES);
    }
    struct read_vom_member *grown = hpcw_i_grow(l->item, &l->capacity, l->count + 1, sizeof *grown);
    l->item = grown != NULL ? grown : l->item;
    bool good = grown != NULL && hpcw_i_buf_append(&l->text, v->key, v->key_size) &&
                hpcw_i_buf_append(&l->text, "", 1) && hpcw_i_buf_append(&l->text, v->text, v->size) &&
                hpcw_i_buf_append(&l->text, "", 1);
    if (!good) {
        return read_vom_no_memory(json, err);
    }
    l->item[l->count++] = (struct read_vom_member){
        .key_size = v->key_size, .type = v->type, .text_size = v->size, .number = v->number};
    return HPCW_OK;
}

struct read_vom_members read_vom_members_view(struct read_vom_members_list *l) {
    const char *text = (const char *)l->text.data;
    for (size_t i = 0; i < l->count; i++) {
        l->item[i].key = text;
        text += l->item[i].key_size + 1;
        l->item[i].text = text;
        text += l->item[i].text_size + 1;
    }
    return (struct read_vom_members){.present = l->present, .item = l->item, .count = l->count};
}

hpcw_status read_vom_intervals_add(struct read_vom_intervals *l, const struct read_vom_json *json,
                                   struct read_vom_interval interval, hpcw_error *err) {
    if (l->count == READ_VOM_MOST_INTERVALS) {
        return read_vom_json_wrong(json, HPCW_ERANGE, err, "expected at most %zu entries, got more",
                                   READ_VOM_MOST_INTERVALS);
    }
    struct read_vom_interval *grown = hpcw_i_grow(l->item, &l->capacity, l->count + 1, sizeof *grown);
    if (grown == NULL) {
        return read_vom_no_memory(json, err);
    }
    l->item = grown;
    l->item[l->count++] = interval;
    return HPCW_OK;
}
