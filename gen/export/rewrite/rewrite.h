/* SPDX-License-Identifier: BSD-3-Clause */
/* What to rewrite in any format, and how much was rewritten. */
#ifndef HPCW_GEN_EXPORT_REWRITE_REWRITE_H
#define HPCW_GEN_EXPORT_REWRITE_REWRITE_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/export/export.h"

enum gen_rewrite_form {
    /* Default. Load data: brotli in a directory; in a file, brotli if the name ends in ".br", otherwise plain.
     * Containers: aligned. Checkpoints: the same version of SCR. */
    GEN_REWRITE_AUTO,
    GEN_REWRITE_PLAIN,
    GEN_REWRITE_BROTLI,
    /* brotli in a file with the name of plain JSON: LBAF opens no other names, and tries brotli first */
    GEN_REWRITE_LBAF,
    GEN_REWRITE_ALIGNED,
    GEN_REWRITE_PACKED,
    GEN_REWRITE_SCR_1_1, /* hpcw_rank2file_layout */
    GEN_REWRITE_SCR_1_2,
    GEN_REWRITE_SCR_3,
    GEN_REWRITE_SHARED,
};

struct gen_rewrite {
    int form;                         /* enum gen_rewrite_form */
    uint64_t first_phase, last_phase; /* ids of the phases to keep */
    uint32_t first_rank, last_rank;   /* ranks of the files that are rewritten, if the input is a directory */
    uint32_t files;                   /* number of files of a container */
    bool sync;
};

struct gen_rewritten {
    const char *items; /* what `count` counts, as "phases" */
    uint64_t files, count;
    uint64_t left_out; /* number of datasets not rewritten, since they are incomplete or failed */
    uint64_t bytes;    /* bytes of the new files; for a container, of its streams */
    /* fault of the input, which is rewritten nevertheless; code HPCW_OK: none */
    hpcw_error warning;
};

struct gen_rewriter {
    struct gen_offer offer; /* enum gen_rewrite_form */
    hpcw_status (*run)(const char *from, const char *to, const struct gen_rewrite *what,
                       struct gen_rewritten *done, hpcw_error *err);
};

#endif
