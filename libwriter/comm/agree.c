/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/comm/agree.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "libwriter/base/hash.h"
#include "libwriter/base/status.h"

#define NO_PROCESS UINT64_MAX

enum {
    MAX_WORDS = 64,
    MAX_TEXT = 4096, /* bytes of a text that process 0 sends: PATH_MAX */
    SHOWN = 160,     /* bytes of a text in a message */
    CONTEXT = 40,    /* bytes of a longer text that are shown before the first difference */
};

hpcw_status hpcw_i_share_failure(hpcw_comm *comm, int process, hpcw_status mine, hpcw_error *err) {
    /* The caller may not want the message, but other processes do: store it in a record of this function. */
    hpcw_error own = {.code = mine, .message = "no message"};
    if (err == NULL) {
        err = &own;
    }
    if (comm->process == process) {
        err->code = mine;
        err->process = comm->process;
    }
    hpcw_status s = hpcw_i_comm_bcast(comm, err, sizeof *err, process, err);
    return s == HPCW_OK ? err->code : s;
}

/* Agrees on one status for all processes, and finds whether the fingerprints of their values differ. */
static hpcw_status agree(hpcw_comm *comm, hpcw_status mine, uint64_t fingerprint, bool *differ,
                         struct hpcw_i_words *words, hpcw_error *err) {
    *differ = false;
    if (comm->size == 1) {
        return mine;
    }
    struct hpcw_i_words none = {0};
    words = words == NULL ? &none : words;
    size_t sums = words->sums;
    size_t rest = (size_t)words->mins + words->maxs;
    if (sums + rest > MAX_WORDS) {
        return hpcw_i_fail(err, HPCW_EINTERNAL, "agreement on %zu words", sums + rest);
    }
    /* Add three words to those of the caller: the number of the lowest failed process and the fingerprint as the
     * first minima, and the fingerprint as the last maximum. */
    uint64_t word[MAX_WORDS + 3];
    struct hpcw_i_words all = {words->sums, words->mins + 2, words->maxs + 1, word};
    uint64_t *failed = word + sums;
    uint64_t *least = failed + 1;
    uint64_t *greatest = least + 1 + rest;
    if (words != &none) {
        memcpy(word, words->word, sums * sizeof *word);
        memcpy(least + 1, words->word + sums, rest * sizeof *word);
    }
    *failed = mine == HPCW_OK ? NO_PROCESS : (uint64_t)comm->process;
    *least = *greatest = fingerprint;
    hpcw_status s = hpcw_i_comm_allreduce(comm, &all, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (*failed != NO_PROCESS) {
        return hpcw_i_share_failure(comm, (int)*failed, mine, err);
    }
    *differ = *least != *greatest;
    if (words != &none && !*differ) {
        memcpy(words->word, word, sums * sizeof *word);
        memcpy(words->word + sums, least + 1, rest * sizeof *word);
    }
    return HPCW_OK;
}

hpcw_status hpcw_i_agree(hpcw_comm *comm, hpcw_status mine, struct hpcw_i_words *words, hpcw_error *err) {
    bool differ;
    return agree(comm, mine, 0, &differ, words, err);
}

/* ---- values ---- */

/* Returns one number for all values, the fingerprint. The bytes of each value begin with a letter for its kind, so
 * that a text and a number never have the same bytes. */
static uint64_t fingerprint_of(const struct hpcw_i_same *same, size_t count) {
    uint64_t hash = HPCW_I_HASH_START;
    for (size_t i = 0; i < count; i++) {
        const struct hpcw_i_same *v = &same[i];
        hash = hpcw_i_hash_bytes(hash, v->text != NULL ? "t" : "n", 1);
        hash = v->text != NULL ? hpcw_i_hash_bytes(hash, v->text, strlen(v->text) + 1)
                               : hpcw_i_hash_bytes(hash, &v->number, sizeof v->number);
    }
    return hash;
}

/* A value of process 0 in the form of a message. */
struct value {
    uint64_t fingerprint;
    uint64_t number;
    uint64_t is_text;
    char text[MAX_TEXT];
};

static void value_of(const struct hpcw_i_same *same, struct value *v) {
    memset(v, 0, sizeof *v);
    v->fingerprint = fingerprint_of(same, 1);
    v->number = same->number;
    v->is_text = same->text != NULL;
    (void)snprintf(v->text, sizeof v->text, "%s", same->text != NULL ? same->text : "");
}

/* Prints word `number` of a list, or the number itself. */
static void print_number(char *out, size_t size, uint64_t number, const char *words) {
    (void)snprintf(out, size, "%" PRIu64, number);
    for (const char *w = words; w != NULL; number--) {
        if (number == 0) {
            (void)snprintf(out, size, "%.*s", (int)strcspn(w, " "), w);
            return;
        }
        w = strchr(w, ' ');
        w = w != NULL ? w + 1 : NULL;
    }
}

/* Fails with both values in the form that a person reads. Of long texts, the message has the part around the first
 * difference. */
static hpcw_status fail_mismatch(const char *about, const struct hpcw_i_same *same, int process,
                                 const struct value *first, const struct value *mine, hpcw_error *err) {
    const struct value *value[2] = {first, mine};
    char shown[2][SHOWN + 16];
    size_t from = 0;
    if (strlen(first->text) > SHOWN || strlen(mine->text) > SHOWN) {
        while (first->text[from] != '\0' && first->text[from] == mine->text[from]) {
            from++;
        }
        from = from > CONTEXT ? from - CONTEXT : 0;
    }
    for (int i = 0; i < 2; i++) {
        const char *text = value[i]->text + from;
        if (value[i]->is_text != 0) {
            (void)snprintf(shown[i], sizeof shown[i], "\"%s%.*s%s\"", from > 0 ? "..." : "", SHOWN, text,
                           strlen(text) > SHOWN ? "..." : "");
        } else {
            print_number(shown[i], sizeof shown[i], value[i]->number, same->words);
        }
    }
    return hpcw_i_fail(err, HPCW_EMISMATCH,
                       "%s: expected the same %s on all processes, got %s on process 0 and %s on process %d",
                       about, same->name, shown[0], shown[1], process);
}

/* Process 0 broadcasts its values one after the other, until some process has another value. */
static hpcw_status find_mismatch(hpcw_comm *comm, const char *about, const struct hpcw_i_same *same,
                                 size_t count, hpcw_error *err) {
    hpcw_error own;
    err = err == NULL ? &own : err;
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < count; i++) {
        struct value mine;
        value_of(&same[i], &mine);
        struct value first = mine;
        s = hpcw_i_comm_bcast(comm, &first, sizeof first, 0, err);
        if (s == HPCW_OK && first.fingerprint != mine.fingerprint) {
            s = fail_mismatch(about, &same[i], comm->process, &first, &mine, err);
        }
        s = hpcw_i_agree(comm, s, NULL, err);
    }
    return s == HPCW_OK ? hpcw_i_fail(err, HPCW_EINTERNAL, "%s: values differ, but none of them does", about)
                        : s;
}

hpcw_status hpcw_i_agree_same(hpcw_comm *comm, hpcw_status mine, const char *about,
                              const struct hpcw_i_same *same, size_t count, struct hpcw_i_words *words,
                              hpcw_error *err) {
    bool differ;
    hpcw_status s = agree(comm, mine, mine == HPCW_OK ? fingerprint_of(same, count) : 0, &differ, words, err);
    return differ ? find_mismatch(comm, about, same, count, err) : s;
}
