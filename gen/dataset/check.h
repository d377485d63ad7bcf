/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks a dataset: manifest and checksum list, sizes, digests and structure of the files, and with `deep`
 * every byte. Writes nothing. Not collective. */
#ifndef HPCW_GEN_DATASET_CHECK_H
#define HPCW_GEN_DATASET_CHECK_H

#include "gen/dataset/faults.h"

struct gen_check {
    const char *directory;
    uint32_t jobs;
    bool all;  /* find all faults, not only the first */
    bool deep; /* make the dataset again and compare all bytes */
    struct gen_faults faults;
    uint64_t files; /* number of data files; truth.json, manifest and checksum list do not count */
};

/* Returns the first fault, or HPCW_OK if there is none. c->faults also has this fault and, with `all`, all
 * further faults in order. The caller initialises and frees c->faults. */
hpcw_status gen_check_dataset(struct gen_check *c, hpcw_error *err);

#endif
