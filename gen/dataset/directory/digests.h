/* SPDX-License-Identifier: BSD-3-Clause */
/* Digests of the files that a run writes. A file is read before it gets its name, through the descriptor that
 * wrote it. So the digest is that of the written data, even if the path later names another file. */
#ifndef HPCW_GEN_DATASET_DIRECTORY_DIGESTS_H
#define HPCW_GEN_DATASET_DIRECTORY_DIGESTS_H

#include <pthread.h>

#include <hpcw/sink.h>

#include "gen/dataset/directory/directory.h"
#include "libwriter/base/table.h"

struct gen_digests {
    hpcw_sink_source files;
    pthread_mutex_t lock;
    /* XXH3-128 of the path -> size and digest of the file */
    struct hpcw_i_table table;
};

/* files: opens the file sinks whose digests are taken. */
void gen_digests_begin(struct gen_digests *digests, hpcw_sink_source files);
void gen_digests_end(struct gen_digests *digests);

/* Returns a source that opens files for writing, from any thread. A file that this process publishes gets an
 * entry in `digests`. */
hpcw_sink_source gen_digests_source(struct gen_digests *digests);

/* Returns size and digest of a published file; NULL: this process published no such path. */
const struct gen_stored *gen_digests_find(const struct gen_digests *digests, const char *path);

#endif
