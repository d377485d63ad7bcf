/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys and values of the current task. */
#include <stdlib.h>

#include "bindings/sionlib/handles/handle.h"
#include "bindings/sionlib/handles/records.h"

static bool reported(const hpcw_error *err) {
    sionlib_report("%s", err->message);
    return false;
}

/* Finds the next record and adds it to the list. *more: whether there is one. Returns false after reporting an
 * error. */
static bool scan(struct sionlib_handle *h, struct sionlib_keys *k, bool *more) {
    struct sionlib_task *t = sionlib_current(h);
    hpcw_sion_record found;
    hpcw_error err;
    *more = false;
    if (k->complete) {
        return true;
    }
    size_t last = k->records - 1; /* equal to SIONLIB_NONE if there is no record */
    if (k->in != last || last == SIONLIB_NONE) {
        uint64_t from =
            last == SIONLIB_NONE ? 0 : k->record[last].offset + SIONLIB_RECORD_HEADER + k->record[last].size;
        k->in = SIONLIB_NONE;
        if (hpcw_sion_reader_seek(h->reader, t->rank, from, &err) != HPCW_OK) {
            return reported(&err);
        }
    }
    if (hpcw_sion_reader_next_key(h->reader, t->rank, &found, more, &err) != HPCW_OK) {
        *more = false;
        return reported(&err);
    }
    k->complete = !*more;
    k->in = SIONLIB_NONE;
    if (*more) {
        if (!sionlib_record_add(k, &found)) {
            *more = false;
            return false;
        }
        k->in = k->records - 1;
    }
    return true;
}

/* Returns the record list of the current task of a reader. Returns NULL after reporting an error. */
static struct sionlib_keys *keys_of(struct sionlib_handle *h, const char *call) {
    if (h == NULL) {
        return NULL;
    }
    if (!h->keys) {
        sionlib_report("%s: expected a container with keys, got one without", call);
        return NULL;
    }
    struct sionlib_task *t = sionlib_current(h);
    if (t->keys == NULL) {
        t->keys = calloc(1, sizeof *t->keys);
        if (t->keys == NULL) {
            sionlib_report("sion: expected memory for a list of records, got none");
            return NULL;
        }
        t->keys->in = SIONLIB_NONE;
    }
    return t->keys;
}

/* Reads a part of a record's value. Returns false after reporting an error. */
static bool read_value(struct sionlib_handle *h, struct sionlib_keys *k, size_t r, uint64_t at, void *data,
                       size_t size) {
    struct sionlib_task *t = sionlib_current(h);
    uint64_t from = k->record[r].offset + SIONLIB_RECORD_HEADER + at;
    hpcw_sion_record found;
    hpcw_error err;
    bool more;
    size_t got;
    if (k->in != r || hpcw_sion_reader_position(h->reader, t->rank) != from) {
        k->in = SIONLIB_NONE;
        if (hpcw_sion_reader_seek(h->reader, t->rank, k->record[r].offset, &err) != HPCW_OK ||
            hpcw_sion_reader_next_key(h->reader, t->rank, &found, &more, &err) != HPCW_OK ||
            hpcw_sion_reader_skip(h->reader, t->rank, at, &err) != HPCW_OK) {
            return reported(&err);
        }
        k->in = r;
    }
    if (hpcw_sion_reader_read(h->reader, t->rank, data, size, &got, &err) != HPCW_OK) {
        return reported(&err);
    }
    sionlib_move(t, from + got);
    return got == size;
}

/* Advances the position of a key by `size` bytes that were read. At the end of a value, it moves to the next record
 * of the key. */
static void read_on(const struct sionlib_keys *k, struct sionlib_key *key, uint64_t size) {
    key->at += size;
    if (key->at == k->record[key->current].size) {
        key->current = k->record[key->current].next;
        key->at = 0;
    }
}

size_t sion_fread_key(void *data, uint64_t key, size_t size, size_t nitems, int sid) {
    struct sionlib_handle *h = sionlib_reader_of(sid, "sion_fread_key");
    struct sionlib_keys *k = keys_of(h, "sion_fread_key");
    if (k == NULL || size == 0) {
        return 0;
    }
    struct sionlib_key *entry = sionlib_key_find(k, key);
    bool more = true;
    while (more && (entry == NULL || entry->current == SIONLIB_NONE)) {
        if (!scan(h, k, &more)) {
            return 0;
        }
        entry = sionlib_key_find(k, key);
    }
    if (!more) {
        return 0;
    }
    uint64_t items = (k->record[entry->current].size - entry->at) / size;
    items = items < nitems ? items : nitems;
    if (!read_value(h, k, entry->current, entry->at, data, (size_t)items * size)) {
        return 0;
    }
    read_on(k, entry, items * size);
    return (size_t)items;
}

int sion_fread_key_iterator_reset(int sid) {
    struct sionlib_keys *k =
        keys_of(sionlib_reader_of(sid, "sion_fread_key_iterator_reset"), "sion_fread_key_iterator_reset");
    if (k == NULL) {
        return SION_NOT_SUCCESS;
    }
    k->iterated = 0;
    return SION_SUCCESS;
}

int sion_fread_key_iterator_next(int sid, uint64_t *key, size_t *size) {
    struct sionlib_handle *h = sionlib_reader_of(sid, "sion_fread_key_iterator_next");
    struct sionlib_keys *k = keys_of(h, "sion_fread_key_iterator_next");
    if (k == NULL) {
        return SION_NOT_SUCCESS;
    }
    bool more = k->iterated < k->records;
    if ((!more && !scan(h, k, &more)) || !more) {
        return SION_NOT_SUCCESS;
    }
    size_t r = k->iterated++;
    struct sionlib_key *entry = &k->key[k->record[r].key];
    entry->current = r;
    entry->at = 0;
    *key = entry->key;
    *size = (size_t)k->record[r].size;
    return SION_SUCCESS;
}

/* Sets the position of a key. Returns false if the position is not in the records that were found so far. */
static bool set_position(const struct sionlib_keys *k, struct sionlib_key *entry, int entrynum, sion_int64 at) {
    if (entry == NULL || (entrynum == SION_CURRENT_BLOCK && entry->current == SIONLIB_NONE)) {
        return false;
    }
    if (entrynum == SION_CURRENT_BLOCK && at == SION_CURRENT_POS) {
        return true;
    }
    size_t r = entry->first;
    if (entrynum == SION_ABSOLUTE_POS) {
        while (r != SIONLIB_NONE && at >= 0 && (uint64_t)at >= k->record[r].before + k->record[r].size) {
            r = k->record[r].next;
        }
        at -= r == SIONLIB_NONE || at < 0 ? 0 : (sion_int64)k->record[r].before;
    } else if (entrynum == SION_CURRENT_BLOCK) {
        r = entry->current;
    } else if (entrynum < 0 || (size_t)entrynum >= entry->records) {
        return false;
    } else {
        for (int n = 0; n < entrynum; n++) {
            r = k->record[r].next;
        }
    }
    if (r == SIONLIB_NONE || at < 0 || (uint64_t)at >= k->record[r].size) {
        return false;
    }
    entry->current = r;
    entry->at = (uint64_t)at;
    return true;
}

int sion_seek_key(int sid, uint64_t key, int entrynum, sion_int64 posinentry) {
    struct sionlib_handle *h = sionlib_reader_of(sid, "sion_seek_key");
    struct sionlib_keys *k = keys_of(h, "sion_seek_key");
    if (k == NULL) {
        return SION_NOT_SUCCESS;
    }
    if (posinentry == SION_CURRENT_POS && entrynum != SION_CURRENT_BLOCK) {
        sionlib_report("sion_seek_key: expected SION_CURRENT_BLOCK with SION_CURRENT_POS, got %d", entrynum);
        return SION_NOT_SUCCESS;
    }
    bool more = true;
    while (!set_position(k, sionlib_key_find(k, key), entrynum, posinentry)) {
        if (!scan(h, k, &more) || !more) {
            return SION_NOT_SUCCESS;
        }
    }
    return SION_SUCCESS;
}

int sion_key_full_scan(int sid) {
    struct sionlib_handle *h = sionlib_reader_of(sid, "sion_key_full_scan");
    struct sionlib_keys *k = keys_of(h, "sion_key_full_scan");
    for (bool more = true; k != NULL && more;) {
        if (!scan(h, k, &more)) {
            return SION_NOT_SUCCESS;
        }
    }
    return k == NULL ? SION_NOT_SUCCESS : SION_SUCCESS;
}

int sion_key_list_iterator_reset(int sid) {
    struct sionlib_keys *k =
        keys_of(sionlib_reader_of(sid, "sion_key_list_iterator_reset"), "sion_key_list_iterator_reset");
    if (k == NULL) {
        return SION_NOT_SUCCESS;
    }
    k->listed = 0;
    return SION_SUCCESS;
}

int sion_key_list_iterator_next(int sid, uint64_t *keyptr) {
    struct sionlib_keys *k =
        keys_of(sionlib_reader_of(sid, "sion_key_list_iterator_next"), "sion_key_list_iterator_next");
    if (k == NULL) {
        return SION_NOT_SUCCESS;
    }
    *keyptr = k->listed < k->keys ? k->key[k->listed].key : 0;
    return k->listed < k->keys ? (k->listed++, SION_SUCCESS) : SION_NOT_SUCCESS;
}

int sion_key_get_stat(int sid, uint64_t key, sion_key_stat_t *stat) {
    struct sionlib_keys *k = keys_of(sionlib_reader_of(sid, "sion_key_get_stat"), "sion_key_get_stat");
    const struct sionlib_key *entry = k == NULL ? NULL : sionlib_key_find(k, key);
    if (entry == NULL) {
        return SION_NOT_SUCCESS;
    }
    const struct sionlib_record *last = &k->record[entry->last];
    *stat = (sion_key_stat_t){
        .key = key,
        .num_blocks = (sion_int64)entry->records,
        .total_size = (sion_int64)(last->before + last->size),
    };
    return SION_SUCCESS;
}
