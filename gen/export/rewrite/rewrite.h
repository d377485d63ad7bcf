/* SPDX-License-Identifier: BSD-3-Clause */
/* What to rewrite in any format, and how much was rewritten. */
#ifndef HPCW_GEN_EXPORT_REWRITE_REWRITE_H
#define HPCW_GEN_EXPORT_REWRITE_REWRITE_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/status.h>

#include "gen/export/export.h"

enum gen_rewrite_form {
    /* load data: for a file, the form of its name, for a directory, brotli; container: aligned; checkpoints:
     * unchanged */
    GEN_REWRITE_AUTO,
    GEN_REWRITE_PLAIN,
    GEN_REWRITE_BROTLI,
    /* brotli with the name of a plain file: LBAF opens no other names, and tries brotli first */
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
    uint64_t first_phase, last_phase; /* by their numbers in the file */
    uint32_t first_rank, last_rank;   /* for a directory; files keep their ranks */
    uint32_t files;                   /* number of files of a container */
    bool sync;
};

struct gen_rewritten {
    const char *items; /* name of the counted items */
    uint64_t files, count;
    uint64_t left_out; /* number of datasets that no restart begins with */
    uint64_t bytes;    /* bytes of the files; for a container, of its streams */
    /* fault of the source, which is rewritten anyway; code HPCW_OK: none */
    hpcw_error warning;
};

/* Rewriting of a format. */
struct gen_rewriter {
    struct gen_offer offer; /* enum gen_rewrite_form */
    hpcw_status (*run)(const char *from, const char *to, const struct gen_rewrite *what,
                       struct gen_rewritten *done, hpcw_error *err);
};

#endif
