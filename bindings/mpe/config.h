/* SPDX-License-Identifier: BSD-3-Clause */
/* MPE's environment variables. */
#ifndef COMPAT_MPE_CONFIG_H
#define COMPAT_MPE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/clog2_log.h>

enum { MPE_PATH = 4096 };

struct mpe_config {
    hpcw_clog2_sync sync;
    uint32_t rounds, block_size; /* 0: the default */
    bool same_directory;
    char directory[MPE_PATH];
    char prefix[MPE_PATH]; /* empty: none */
    /* message about an environment variable with a wrong value, for which the default is used; empty: none */
    char refused[200];
};

void mpe_config_read(struct mpe_config *config);

/* Finds the directory for the local files of this process. */
void mpe_config_directory(char directory[MPE_PATH]);

#endif
