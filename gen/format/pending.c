/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/format/pending.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libwriter/base/status.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sink.h"

bool gen_is_pending(const struct gen_format *format, const struct gen_dataset *d, uint64_t begin, uint64_t end,
                    uint64_t index) {
    return format->pending && index == 0 && (begin > 0 || end < format->units(d));
}

void gen_pending_name(const struct gen_format *format, uint64_t index, char name[GEN_UNIT_PATH]) {
    (void)snprintf(name, GEN_UNIT_PATH, ".hpcw/%s.unit%" PRIu64, format->name, index);
}

bool gen_is_pending_name(const struct gen_format *format, const char *name) {
    const size_t n = strlen(format->name);
    uint64_t index;
    char same[GEN_UNIT_PATH];
    if (strncmp(name, format->name, n) != 0 || sscanf(name + n, ".unit%" SCNu64, &index) != 1) {
        return false;
    }
    gen_pending_name(format, index, same);
    return strcmp(name, strchr(same, '/') + 1) == 0;
}

void gen_pending_path(const struct gen_write *w, char *path, size_t size) {
    char name[GEN_UNIT_PATH];
    gen_pending_name(w->format, 0, name);
    (void)snprintf(path, size, "%s/%s", w->directory, name);
}

hpcw_status gen_pending_look(const struct gen_write *w, bool *exists, hpcw_error *err) {
    char name[GEN_UNIT_PATH];
    struct hpcw_i_entry entry;
    gen_pending_name(w->format, 0, name);
    int e = hpcw_i_below_look(w->root, name, &entry);
    *exists = e == 0 && entry.kind == HPCW_I_FILE;
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s/%s: cannot look at it", w->directory, name);
    }
    return *exists || entry.kind == HPCW_I_NOTHING
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EEXIST, "%s/%s: expected the file of a part, got %s", w->directory, name,
                             entry.kind == HPCW_I_LINK ? "a symbolic link" : "something else");
}

/* Returns whether a path is that of file 0 of a set. The names of all other files end in digits:
 * "x.sion.000001". */
static bool is_first(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot == NULL || dot[1] == '\0' || strspn(dot + 1, "0123456789") != strlen(dot + 1);
}

static hpcw_status open_sink(void *context, const char *path, uint64_t tag, bool creates, hpcw_sink **out,
                             hpcw_error *err) {
    const struct gen_write *w = context;
    char pending[4096 + GEN_UNIT_PATH];
    if (is_first(path)) {
        gen_pending_path(w, pending, sizeof pending);
        path = pending;
    }
    return hpcw_i_sink_open(&w->outputs, NULL, path, tag, creates, w->durability, out, err);
}

hpcw_sink_source gen_set_source(const struct gen_write *w) {
    bool whole = w->begin == 0 && w->end == w->format->units(w->dataset);
    return whole || w->again ? w->outputs
                             : (hpcw_sink_source){.open = open_sink, .context = (void *)(uintptr_t)w};
}

hpcw_status gen_pending_release(const struct gen_write *w, hpcw_error *err) {
    char from[GEN_UNIT_PATH];
    struct gen_unit unit;
    hpcw_status s = w->format->unit(w->dataset, 0, &unit, err);
    if (s != HPCW_OK) {
        return s;
    }
    gen_pending_name(w->format, 0, from);
    int e = hpcw_i_below_rename(w->root, from, unit.path);
    return e == 0 ? HPCW_OK
                  : hpcw_i_fail_sys(err, e, "%s/%s: cannot rename the finished file to this name", w->directory,
                                    unit.path);
}

hpcw_status gen_pending_complete(const struct gen_write *w, const cJSON *const *partial, size_t count,
                                 uint64_t *changed, hpcw_error *err) {
    bool exists = false;
    (void)partial;
    *changed = 0; /* `complete` changes only the name of the file */
    hpcw_status s = count < 2 ? HPCW_OK : gen_pending_look(w, &exists, err);
    return s == HPCW_OK && exists ? gen_pending_release(w, err) : s;
}
