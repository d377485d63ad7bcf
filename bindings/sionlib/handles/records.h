/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The key-value records of a task that were found so far, in the order of the file. SIONlib lets a program read the values
 * of every key with a position of its own, in any order. The list grows when a program asks for more.
 */
#ifndef HPCW_BINDINGS_SIONLIB_HANDLES_RECORDS_H
#define HPCW_BINDINGS_SIONLIB_HANDLES_RECORDS_H

#include <stdbool.h>

#include <hpcw/sion_read.h>

#define SIONLIB_NONE SIZE_MAX

struct sionlib_record {
    uint64_t size;   /* of the value */
    uint64_t offset; /* in the stream of the task */
    uint64_t before; /* bytes of the key's values in records before */
    size_t key;      /* place in `key` */
    size_t next;     /* of the same key */
};

/* A key, and where its next bytes are. */
struct sionlib_key {
    uint64_t key;
    size_t first, last; /* records */
    size_t records;
    size_t current; /* record, SIONLIB_NONE: after the last one that was found */
    uint64_t at;    /* byte in its value */
};

struct sionlib_keys {
    struct sionlib_record *record;
    size_t records, record_capacity;
    struct sionlib_key *key;
    size_t keys, key_capacity;
    size_t *slot;    /* [slots] places in `key` by hash; SIONLIB_NONE: free */
    size_t slots;    /* a power of two */
    size_t in;       /* record in which the reader is; SIONLIB_NONE: unknown */
    bool complete;   /* all records were found */
    size_t iterated; /* records that sion_fread_key_iterator_next has returned */
    size_t listed;   /* the same for keys */
};

/* NULL is allowed. */
void sionlib_keys_free(struct sionlib_keys *keys);

/* NULL: not found so far. Valid until a record is added. */
struct sionlib_key *sionlib_key_find(const struct sionlib_keys *keys, uint64_t key);

/* Adds a record at the end. False: reported. */
bool sionlib_record_add(struct sionlib_keys *keys, const hpcw_sion_record *found);

#endif
