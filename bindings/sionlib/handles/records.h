/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Those key-value records of a task that were found so far, as a list in the order of the file. In SIONlib a
 * program can read the values of all keys in any order, and each key has a position of its own. So the handle keeps
 * the list, and extends it when a program asks for a record that is not in the list.
 */
#ifndef HPCW_BINDINGS_SIONLIB_HANDLES_RECORDS_H
#define HPCW_BINDINGS_SIONLIB_HANDLES_RECORDS_H

#include <stdbool.h>

#include <hpcw/sion_read.h>

#define SIONLIB_NONE SIZE_MAX

struct sionlib_record {
    uint64_t size;   /* bytes of the value */
    uint64_t offset; /* offset of the record in the stream of the task */
    uint64_t before; /* total bytes of the values of the same key in earlier records */
    size_t key;      /* index of the record's key in the list of keys */
    size_t next;     /* index of the next record of the same key; SIONLIB_NONE: none so far */
};

/* A key and its position. */
struct sionlib_key {
    uint64_t key;
    size_t first, last; /* indices of the first and the last record of the key */
    size_t records;
    /* index of the current record; SIONLIB_NONE: the position is after the last record found so far */
    size_t current;
    uint64_t at; /* offset in the value of the current record */
};

struct sionlib_keys {
    struct sionlib_record *record;
    size_t records, record_capacity;
    struct sionlib_key *key;
    size_t keys, key_capacity;
    size_t *slot;    /* [slots] hash table of indices in `key`; SIONLIB_NONE: free */
    size_t slots;    /* number of slots, a power of two */
    size_t in;       /* index of the record at which the reader is; SIONLIB_NONE: unknown */
    bool complete;   /* all records were found */
    size_t iterated; /* number of records that sion_fread_key_iterator_next has returned */
    size_t listed;   /* number of keys that sion_key_list_iterator_next has returned */
};

/* Frees the list. NULL is allowed. */
void sionlib_keys_free(struct sionlib_keys *keys);

/* Returns the entry of a key, or NULL if no record of the key was found so far. Valid until a record is added. */
struct sionlib_key *sionlib_key_find(const struct sionlib_keys *keys, uint64_t key);

/* Adds a record at the end. Returns false after reporting an error. */
bool sionlib_record_add(struct sionlib_keys *keys, const hpcw_sion_record *found);

#endif
