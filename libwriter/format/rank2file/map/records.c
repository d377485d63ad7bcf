/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/rank2file/map/records.h"

#include <string.h>

#include "libwriter/base/hash.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/comm/exchange.h"

enum { FLAGS_AT = 32, LENGTH_AT = 40 };

bool hpcw_i_r2f_put_rank_word(struct hpcw_i_buf *words, uint32_t rank, uint32_t files) {
    uint64_t word = rank | (uint64_t)files << 32;
    return hpcw_i_buf_append(words, &word, sizeof word);
}

bool hpcw_i_r2f_put_file_words(struct hpcw_i_buf *words, const struct hpcw_i_r2f_file *f) {
    size_t n = 2 + (f->name_size + 8) / 8;
    if (!hpcw_i_buf_reserve(words, n * sizeof(uint64_t))) {
        return false;
    }
    uint64_t *p = (uint64_t *)(void *)(words->data + words->size);
    p[0] = f->size;
    p[1] = f->crc | (uint64_t)f->flags << FLAGS_AT | (uint64_t)f->name_size << LENGTH_AT;
    p[n - 1] = 0;
    memcpy(p + 2, f->name, f->name_size);
    words->size += n * sizeof(uint64_t);
    return true;
}

const uint64_t *hpcw_i_r2f_get_file(const uint64_t *p, struct hpcw_i_r2f_file *f) {
    *f = (struct hpcw_i_r2f_file){
        .size = p[0],
        .name = (const char *)(p + 2),
        .name_size = (uint32_t)(p[1] >> LENGTH_AT),
        .crc = (uint32_t)p[1],
        .flags = (unsigned)(p[1] >> FLAGS_AT & 0xff),
    };
    return p + 2 + (f->name_size + 8) / 8;
}

const uint64_t *hpcw_i_r2f_record_end(const uint64_t *record) {
    uint32_t files = hpcw_i_r2f_record_files(record);
    const uint64_t *p = record + 1;
    for (uint32_t i = 0; i < files; i++) {
        p += 2 + ((p[1] >> LENGTH_AT) + 8) / 8;
    }
    return p;
}

uint64_t hpcw_i_r2f_sum(const uint64_t *word, size_t count) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += word[i];
    }
    return sum;
}

void hpcw_i_r2f_block_free(struct hpcw_i_r2f_block *b) {
    hpcw_i_free(b->words);
    hpcw_i_free(b->at);
    *b = (struct hpcw_i_r2f_block){0};
}

/* Finds the record of each rank, and checks that each rank has one. */
static hpcw_status find_records(struct hpcw_i_r2f_block *b, uint64_t words, bool *sorted, hpcw_error *err) {
    uint32_t count = b->end - b->first;
    memset(b->at, 0xff, ((size_t)count + 1) * sizeof *b->at);
    const uint64_t *end = b->words + words;
    uint32_t next = b->first;
    *sorted = true;
    for (const uint64_t *p = b->words; p < end; p = hpcw_i_r2f_record_end(p)) {
        uint32_t rank = hpcw_i_r2f_record_rank(p);
        uint32_t files = hpcw_i_r2f_record_files(p);
        if (b->at[rank - b->first] != UINT64_MAX) {
            return hpcw_i_fail(err, HPCW_EMISMATCH,
                               "rank2file: expected every rank owned once, rank %u is owned twice", rank);
        }
        b->at[rank - b->first] = (uint64_t)(p - b->words);
        b->most_files = files > b->most_files ? files : b->most_files;
        *sorted = *sorted && rank == next;
        next = rank + 1;
    }
    b->at[count] = words;
    for (uint32_t i = 0; i < count; i++) {
        if (b->at[i] == UINT64_MAX) {
            return hpcw_i_fail(err, HPCW_EMISMATCH,
                               "rank2file: expected every rank owned once, rank %u has no owner", b->first + i);
        }
    }
    return HPCW_OK;
}

/* Sorts received records by rank. They come in the order of the sending processes, and any process may own any
 * rank. */
static hpcw_status sort_records(struct hpcw_i_r2f_block *b, uint64_t words, hpcw_error *err) {
    uint64_t *sorted = hpcw_i_malloc((size_t)words * sizeof *sorted);
    if (sorted == NULL) {
        return hpcw_i_fail_memory(err, "rank2file", words, "words");
    }
    uint64_t to = 0;
    for (uint32_t i = 0; i < b->end - b->first; i++) {
        const uint64_t *record = b->words + b->at[i];
        size_t n = (size_t)(hpcw_i_r2f_record_end(record) - record);
        memcpy(sorted + to, record, n * sizeof *sorted);
        b->at[i] = to;
        to += n;
    }
    hpcw_i_free(b->words);
    b->words = sorted;
    return HPCW_OK;
}

hpcw_status hpcw_i_r2f_gather(hpcw_comm *comm, uint32_t ranks, const struct hpcw_i_buf *records,
                              struct hpcw_i_r2f_block *b, hpcw_error *err) {
    size_t size = (size_t)comm->size;
    *b = (struct hpcw_i_r2f_block){
        .first = hpcw_i_r2f_share(ranks, comm->size, comm->process),
        .end = hpcw_i_r2f_share(ranks, comm->size, comm->process + 1),
    };
    /* numbers of words to send to each process, then numbers of words to receive from each */
    uint64_t *send_words = hpcw_i_calloc(size, 2 * sizeof *send_words);
    b->at = hpcw_i_malloc(((size_t)(b->end - b->first) + 1) * sizeof *b->at);
    hpcw_status s = send_words == NULL || b->at == NULL
                        ? hpcw_i_fail_memory(err, "rank2file", b->end - b->first, "ranks")
                        : HPCW_OK;
    s = hpcw_i_agree(comm, s, NULL, err);
    if (s == HPCW_OK) {
        const uint64_t *p = (const uint64_t *)(const void *)records->data;
        for (size_t left = records->size / sizeof *p; left > 0;) {
            size_t n = (size_t)(hpcw_i_r2f_record_end(p) - p);
            send_words[hpcw_i_r2f_home(ranks, comm->size, hpcw_i_r2f_record_rank(p))] += n;
            p += n;
            left -= n;
        }
        s = hpcw_i_comm_exchange(comm, (const uint64_t *)(const void *)records->data, send_words, &b->words,
                                 send_words + size, err);
    }
    if (s == HPCW_OK) {
        uint64_t words = hpcw_i_r2f_sum(send_words + size, size);
        bool sorted = true;
        s = find_records(b, words, &sorted, err);
        if (s == HPCW_OK && !sorted) {
            s = sort_records(b, words, err);
        }
        s = hpcw_i_agree(comm, s, NULL, err);
    }
    hpcw_i_free(send_words);
    if (s != HPCW_OK) {
        hpcw_i_r2f_block_free(b);
    }
    return s;
}

/* ---- names that occur twice ---- */

/* A hash table of pointers to names, for a known number of names. The general table (base/table) needs a fifth
 * more time for a million ranks. */
struct name_table {
    const uint64_t **slot; /* [mask + 1] addresses of files in the words of records; NULL: unused */
    uint64_t mask;
};

/* Returns the rank in whose record a file is, for messages. */
static uint32_t rank_of(const uint64_t *words, const uint64_t *file) {
    const uint64_t *next = hpcw_i_r2f_record_end(words);
    while (next <= file) {
        words = next;
        next = hpcw_i_r2f_record_end(words);
    }
    return hpcw_i_r2f_record_rank(words);
}

/* Adds a file. Returns the file of the same name that was added earlier, or NULL. */
static const uint64_t *add_name(struct name_table *t, const uint64_t *file) {
    struct hpcw_i_r2f_file f;
    (void)hpcw_i_r2f_get_file(file, &f);
    /* Use the upper bits of the hash: its lower bits selected this process. */
    uint64_t i = hpcw_i_hash_text(f.name) >> 16 & t->mask;
    for (; t->slot[i] != NULL; i = (i + 1) & t->mask) {
        struct hpcw_i_r2f_file other;
        (void)hpcw_i_r2f_get_file(t->slot[i], &other);
        if (f.name_size == other.name_size && memcmp(f.name, other.name, f.name_size) == 0) {
            return t->slot[i];
        }
    }
    t->slot[i] = file;
    return NULL;
}

hpcw_status hpcw_i_r2f_find_twins(const uint64_t *words, uint64_t count, hpcw_status code, hpcw_error *err) {
    if (count == 0) {
        return HPCW_OK; /* there are no words, so `words` may be NULL */
    }
    const uint64_t *end = words + count;
    uint64_t names = 0;
    for (const uint64_t *p = words; p < end; p = hpcw_i_r2f_record_end(p)) {
        names += hpcw_i_r2f_record_files(p);
    }
    struct name_table t = {.mask = 15};
    while (t.mask < 2 * names) {
        t.mask = 2 * t.mask + 1;
    }
    t.slot = hpcw_i_calloc((size_t)t.mask + 1, sizeof *t.slot);
    hpcw_status s = t.slot == NULL ? hpcw_i_fail_memory(err, "rank2file", names, "names") : HPCW_OK;
    for (const uint64_t *p = words; s == HPCW_OK && p < end; p = hpcw_i_r2f_record_end(p)) {
        struct hpcw_i_r2f_file f;
        const uint64_t *file = p + 1;
        for (uint32_t k = hpcw_i_r2f_record_files(p); s == HPCW_OK && k > 0; k--) {
            const uint64_t *twin = add_name(&t, file);
            const uint64_t *next = hpcw_i_r2f_get_file(file, &f);
            if (twin != NULL) {
                uint32_t a = rank_of(words, twin);
                uint32_t b = hpcw_i_r2f_record_rank(p);
                s = hpcw_i_fail(err, code,
                                "rank2file: name \"%.200s\": expected every name once, ranks %u and %u have it",
                                f.name, a < b ? a : b, a < b ? b : a);
            }
            file = next;
        }
    }
    hpcw_i_free((void *)t.slot);
    return s;
}

/* Prepares messages in `to` [size], one per process. Each file goes to the process that the hash of its name
 * selects, as a record with one file. */
static bool deal_names(const struct hpcw_i_r2f_block *b, struct hpcw_i_buf *to, uint64_t size) {
    for (uint32_t i = 0; i < b->end - b->first; i++) {
        const uint64_t *record = b->words + b->at[i];
        const uint64_t *p = record + 1;
        for (uint32_t k = hpcw_i_r2f_record_files(record); k > 0; k--) {
            struct hpcw_i_r2f_file f;
            p = hpcw_i_r2f_get_file(p, &f);
            struct hpcw_i_buf *message = &to[(hpcw_i_hash_text(f.name) & 0xffff) % size];
            if (!hpcw_i_r2f_put_rank_word(message, b->first + i, 1) ||
                !hpcw_i_r2f_put_file_words(message, &f)) {
                return false;
            }
        }
    }
    return true;
}

hpcw_status hpcw_i_r2f_refuse_twins(hpcw_comm *comm, const struct hpcw_i_r2f_block *b, hpcw_error *err) {
    size_t size = (size_t)comm->size;
    if (size == 1) {
        return hpcw_i_r2f_find_twins(b->words, b->at[b->end - b->first], HPCW_EINVAL, err);
    }
    struct hpcw_i_buf *to = hpcw_i_calloc(size, sizeof *to);
    /* numbers of words to send to each process, then numbers of words to receive from each */
    uint64_t *send_words = hpcw_i_calloc(size, 2 * sizeof *send_words);
    struct hpcw_i_buf all = {0};
    uint64_t *received = NULL;
    bool ok = to != NULL && send_words != NULL && deal_names(b, to, size);
    for (size_t p = 0; ok && p < size; p++) {
        send_words[p] = to[p].size / sizeof(uint64_t);
        ok = hpcw_i_buf_append(&all, to[p].data, to[p].size);
        hpcw_i_buf_free(&to[p]);
    }
    hpcw_status s = ok ? HPCW_OK : hpcw_i_fail_memory(err, "rank2file", 0, "names");
    s = hpcw_i_agree(comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = hpcw_i_comm_exchange(comm, (const uint64_t *)(const void *)all.data, send_words, &received,
                                 send_words + size, err);
    }
    if (s == HPCW_OK) {
        uint64_t words = hpcw_i_r2f_sum(send_words + size, size);
        s = hpcw_i_agree(comm, hpcw_i_r2f_find_twins(received, words, HPCW_EINVAL, err), NULL, err);
    }
    for (size_t p = 0; to != NULL && p < size; p++) {
        hpcw_i_buf_free(&to[p]);
    }
    hpcw_i_buf_free(&all);
    hpcw_i_free(received);
    hpcw_i_free(to);
    hpcw_i_free(send_words);
    return s;
}
