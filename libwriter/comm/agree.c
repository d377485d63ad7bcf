/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/comm/agree.h"

#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

#define NOBODY UINT64_MAX
#define MOST_WORDS 64

hpcw_status hpcw_i_tell(hpcw_comm *comm, int process, hpcw_status mine, hpcw_error *err) {
    /* The caller may not want the message, but the others do: it travels in a record of our own then. */
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

hpcw_status hpcw_i_agree(hpcw_comm *comm, hpcw_status mine, struct hpcw_i_words *words, hpcw_error *err) {
    if (comm->size == 1) {
        return mine;
    }
    /* The verdict is one more minimum: the lowest process that failed. It goes in front of the caller's minima.
     */
    uint64_t word[MOST_WORDS + 1];
    struct hpcw_i_words all = {.mins = 1, .word = word};
    if (words != NULL) {
        size_t n = (size_t)words->sums + words->mins + words->maxs;
        if (n > MOST_WORDS) {
            return hpcw_i_fail(err, HPCW_EINTERNAL, "agreement on %zu words", n);
        }
        all = (struct hpcw_i_words){words->sums, words->mins + 1, words->maxs, word};
        memcpy(word, words->word, words->sums * sizeof *word);
        memcpy(word + words->sums + 1, words->word + words->sums, (n - words->sums) * sizeof *word);
    }
    word[all.sums] = mine == HPCW_OK ? NOBODY : (uint64_t)comm->process;
    hpcw_status s = hpcw_i_comm_allreduce(comm, &all, err);
    if (s != HPCW_OK) {
        return s;
    }
    uint64_t first = word[all.sums];
    if (first == NOBODY) {
        if (words != NULL) {
            size_t n = (size_t)words->sums + words->mins + words->maxs;
            memcpy(words->word, word, words->sums * sizeof *word);
            memcpy(words->word + words->sums, word + words->sums + 1, (n - words->sums) * sizeof *word);
        }
        return HPCW_OK;
    }
    return hpcw_i_tell(comm, (int)first, mine, err);
}
