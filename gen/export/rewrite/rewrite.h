/* SPDX-License-Identifier: BSD-3-Clause */
/* What to write again, of any format, and how much it was. */
#ifndef HPCW_GEN_EXPORT_REWRITE_REWRITE_H
#define HPCW_GEN_EXPORT_REWRITE_REWRITE_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/export/export.h"

enum gen_rewrite_form {
    GEN_REWRITE_AUTO, /* load data: a file: what its name says; a directory: brotli. A container: aligned. Checkpoints: as
                         they are */
    GEN_REWRITE_PLAIN,
    GEN_REWRITE_BROTLI,
    GEN_REWRITE_LBAF, /* brotli under the name of a plain file: LBAF opens no other names, and tries brotli first */
    GEN_REWRITE_ALIGNED,
    GEN_REWRITE_PACKED,
    GEN_REWRITE_SCR_1_1, /* hpcw_rank2file_layout */
    GEN_REWRITE_SCR_1_2,
    GEN_REWRITE_SCR_3,
    GEN_REWRITE_SHARED,
};

struct gen_rewrite {
    int form;                         /* enum gen_rewrite_form */
    uint64_t first_phase, last_phase; /* by their numbers in the file */
    uint32_t first_rank, last_rank;   /* of a directory; files keep their ranks */
    uint32_t files;                   /* of a container */
    bool sync;
};

struct gen_rewritten {
    const char *items; /* what is counted */
    uint64_t files, count;
    uint64_t left_out; /* datasets from which no restart begins */
    uint64_t bytes;    /* of the files; of a container those of its streams */
    hpcw_error
        warning; /* what is wrong with the source, which is written all the same; code HPCW_OK: nothing */
};

/* How a format is written again. */
struct gen_rewriter {
    struct gen_offer offer; /* enum gen_rewrite_form */
    hpcw_status (*run)(const char *from, const char *to, const struct gen_rewrite *what,
                       struct gen_rewritten *done, hpcw_error *err);
};

#endif
