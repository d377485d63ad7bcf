/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of physical files: SIONlib's names, or the results of a program's callback. */
#include <stdlib.h>
#include <string.h>

#include "bindings/sionlib/handles/parallel.h"

char *sionlib_file_name(const char *path, int file) {
    size_t size = strlen(path) + sizeof ".2147483647";
    char *name = malloc(size);
    if (name != NULL) {
        (void)strcpy(name, path);
    }
    if (name != NULL && file > 0) {
        (void)snprintf(name + strlen(path), size - strlen(path), ".%06d", file);
    }
    return name;
}

char *sionlib_parallel_name(const struct sionlib_parallel *p, int file) {
    return p->names != NULL ? p->names->of(p->path, file) : sionlib_file_name(p->path, file);
}

static bool write_name(void *names, const char *path, uint32_t file, char *name, size_t size) {
    char *text = ((const struct sionlib_names *)names)->of(path, (int)file);
    bool fits = text != NULL && strlen(text) < size;
    if (fits) {
        (void)strcpy(name, text);
    }
    free(text);
    return fits;
}

/* Opens a physical file under the name that the program's callback returns. `path` is SIONlib's name of the file:
 * the name of the container and, for file k > 0, a dot and k. */
static hpcw_status open_named(void *context, const char *path, uint64_t tag, bool creates, hpcw_sink **out,
                              hpcw_error *err) {
    const struct sionlib_parallel *p = context;
    const char *suffix = path + strlen(p->path);
    char *name = p->names->of(p->path, *suffix == '\0' ? 0 : atoi(suffix + 1));
    hpcw_status s = tag == 0 ? hpcw_sink_open_file(name, HPCW_SYNC_NONE, out, err)
                             : hpcw_sink_open_shared_file(name, tag, creates, HPCW_SYNC_NONE, out, err);
    free(name);
    return s;
}

void sionlib_parallel_names(struct sionlib_parallel *p, hpcw_sion_options *options) {
    if (p->names != NULL) {
        options->sink_source = (hpcw_sink_source){open_named, p};
    }
}

hpcw_status sionlib_parallel_reader(const struct sionlib_parallel *p, hpcw_comm *comm, uint32_t count,
                                    const uint32_t *ranks, hpcw_sion_reader **out, hpcw_error *err) {
    return hpcw_sion_reader_open_named(p->path, p->names == NULL ? NULL : write_name,
                                       (void *)(uintptr_t)p->names, comm, count, ranks, out, err);
}
