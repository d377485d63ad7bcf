/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Digests of the files that a run writes. A file is read before it has its name, through the descriptor that wrote it:
 * whatever comes to stand under its path later, the digest is that of what the run wrote.
 */
#ifndef HPCW_GEN_DATASET_DIRECTORY_DIGESTS_H
#define HPCW_GEN_DATASET_DIRECTORY_DIGESTS_H

#include <pthread.h>

#include <hpcw/sink.h>

#include "gen/dataset/directory/directory.h"
#include "libwriter/base/table.h"

struct gen_digests {
    hpcw_sink_source files;
    pthread_mutex_t lock;
    struct hpcw_i_table table; /* of paths, as digests: size and digest of the file */
};

/* `files` opens file sinks, which the digests are taken of. */
void gen_digests_begin(struct gen_digests *digests, hpcw_sink_source files);
void gen_digests_end(struct gen_digests *digests);

/* Opens the files, for any thread. A process has the digests of the files that it publishes. */
hpcw_sink_source gen_digests_source(struct gen_digests *digests);

/* Size and digest of a published file; NULL if this process published none of that path. */
const struct gen_stored *gen_digests_find(const struct gen_digests *digests, const char *path);

#endif
