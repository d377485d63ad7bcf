/* SPDX-License-Identifier: BSD-3-Clause */
/* A source of sinks in memory. It keeps the sinks, so that a container's bytes are available without a file. */
#ifndef HPCW_TESTS_SUPPORT_MEMORY_SOURCE_H
#define HPCW_TESTS_SUPPORT_MEMORY_SOURCE_H

#include <hpcw/sink.h>

#define MEMORY_SOURCE_FILES 16

struct memory_source {
    unsigned files;
    /* [files] sinks in the order of their opens; valid until the writer is freed */
    hpcw_sink *sink[MEMORY_SOURCE_FILES];
};

static inline hpcw_status memory_source_open(void *context, const char *path, uint64_t tag, bool creates,
                                             hpcw_sink **out, hpcw_error *err) {
    struct memory_source *m = context;
    (void)path;
    (void)tag;
    (void)creates;
    if (m->files == MEMORY_SOURCE_FILES) {
        return HPCW_ERANGE;
    }
    hpcw_status s = hpcw_sink_open_memory(out, err);
    if (s == HPCW_OK) {
        m->sink[m->files++] = *out;
    }
    return s;
}

/* Returns the source for a writer's options. `m` must be zeroed. */
static inline hpcw_sink_source memory_source(struct memory_source *m) {
    return (hpcw_sink_source){memory_source_open, m};
}

static inline const unsigned char *memory_source_data(const struct memory_source *m, unsigned file,
                                                      size_t *size) {
    return hpcw_sink_memory_data(m->sink[file], size);
}

#endif
