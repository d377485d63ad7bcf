/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks a dataset: lists, sizes, digests, structure and, on request, every byte. Writes nothing. Not
 * collective. */
#ifndef HPCW_GEN_DATASET_CHECK_H
#define HPCW_GEN_DATASET_CHECK_H

#include "gen/dataset/faults.h"

struct gen_check {
    const char *directory;
    uint32_t jobs;
    bool all;  /* find all faults, not only the first */
    bool deep; /* make the dataset again and compare all bytes */
    struct gen_faults faults;
    uint64_t files; /* data files: files of formats */
};

/* Returns the first fault, if there is one. c->faults also has it and, with `all`, all others in order. The
 * caller inits and frees c->faults. */
hpcw_status gen_check_dataset(struct gen_check *c, hpcw_error *err);

#endif
