/* SPDX-License-Identifier: BSD-3-Clause */
/* Files below the prefix: their directories, their sinks, and metadata that is written in one piece. */
#include <errno.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/rank2file/handle.h"
#include "libwriter/io/sink.h"

hpcw_status hpcw_i_r2f_folders(const char *directory, const char *name, hpcw_error *err) {
    char *path = hpcw_i_r2f_join(directory, name);
    if (path == NULL) {
        return hpcw_i_fail_memory(err, directory, 0, NULL);
    }
    hpcw_status s = HPCW_OK;
    for (char *slash = strchr(path + strlen(directory) + 1, '/'); s == HPCW_OK && slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int e = hpcw_i_sys_mkdir(path, 0777);
        if (e != 0 && e != EEXIST) {
            s = hpcw_i_fail_sys(err, e, "%s: cannot make the directory", path);
        }
        *slash = '/';
    }
    hpcw_i_free(path);
    return s;
}

hpcw_status hpcw_i_r2f_sink(const hpcw_rank2file *w, const char *path, hpcw_sink **out, hpcw_error *err) {
    return hpcw_i_sink_open(&w->options.sink_source, NULL, path, 0, true, w->options.durability, out, err);
}

hpcw_status hpcw_i_r2f_write_file(const hpcw_rank2file *w, const char *name,
                                  hpcw_status (*put)(void *context, hpcw_sink *sink, hpcw_error *err),
                                  void *context, bool *named, hpcw_error *err) {
    char *path = hpcw_i_r2f_join(w->prefix, name);
    hpcw_sink *sink = NULL;
    hpcw_status s =
        path == NULL ? hpcw_i_fail_memory(err, w->prefix, 0, NULL) : hpcw_i_r2f_sink(w, path, &sink, err);
    if (s == HPCW_OK) {
        s = put(context, sink, err);
        if (s != HPCW_OK) {
            hpcw_i_fail_about(err, path);
        }
    }
    if (s == HPCW_OK) {
        s = hpcw_sink_publish(sink, err);
    }
    if (named != NULL) {
        *named = sink != NULL && sink->named;
    }
    hpcw_sink_free(sink);
    hpcw_i_free(path);
    return s;
}
