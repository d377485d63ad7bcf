/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a text to a file, either plain or through brotli. The file gets its name when it is complete. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/vom/check.h"
#include "libwriter/format/vom/handle.h"
#include "libwriter/io/brotli.h"
#include "libwriter/io/sink.h"

/* vt and vt-tv decompress READERS_PIECE bytes at a time. If a text is one byte longer than a multiple of this, they
 * lose the last byte. See doc/formats/vom.md#vom-6. */
#define READERS_PIECE 65536

/* If a writer of this set died while it gave the files their names, finishes its work. */
static hpcw_status finish_set(const struct hpcw_i_vom_output *out, hpcw_error *err) {
    char *path = hpcw_i_vom_set_path(out->path);
    hpcw_status s =
        path == NULL ? hpcw_i_fail_memory(err, out->path, 0, NULL) : hpcw_i_set_finish(out->dir, path, err);
    hpcw_i_free(path);
    return s;
}

/* Opens and holds the directory of the path. If a writer of the set died there, finishes its work. A missing
 * directory is no failure here, as the creation of the file reports it later. */
static hpcw_status find_directory(struct hpcw_i_vom_output *out, hpcw_error *err) {
    int e = hpcw_i_dir_hold_of(out->path, &out->dir);
    return e == 0                        ? finish_set(out, err)
           : e == ENOENT || e == ENOTDIR ? HPCW_OK
                                         : hpcw_i_fail_sys(err, e, "%s: cannot open its directory", out->path);
}

/* Removes the files of higher ranks that a dead writer of a larger set left, up to the first rank without a file.
 * Only the writer of the last rank does this. */
static void clear_further_ranks(const struct hpcw_i_vom_output *out, const hpcw_vom_options *o) {
    const char *base = hpcw_i_sys_base_of(out->path);
    const char *dot = strchr(base, '.');
    const size_t digits = dot == NULL ? 0 : strspn(dot + 1, "0123456789");
    bool any = out->dir != NULL && digits > 0 && o->rank + 1 == o->ranks;
    char name[NAME_MAX + 1];
    for (uint32_t r = o->ranks; any; r++) {
        const int n =
            snprintf(name, sizeof name, "%.*s.%" PRIu32 "%s", (int)(dot - base), base, r, dot + 1 + digits);
        any = n > 0 && (size_t)n < sizeof name && hpcw_i_sink_clear(out->dir, name);
    }
}

/* Returns the name of the file of rank 0, for the caller to free. A new file in a set gets that file's
 * permissions. */
static char *name_first(const char *path) {
    const char *base = hpcw_i_sys_base_of(path);
    const char *dot = strchr(base, '.');
    const size_t digits = dot == NULL ? 0 : strspn(dot + 1, "0123456789");
    char *first = hpcw_i_strdup(base);
    if (first != NULL && digits > 0 && dot[1 + digits] == '.') {
        char *rank = first + (dot + 1 - base);
        *rank = '0';
        memmove(rank + 1, rank + digits, strlen(rank + digits) + 1);
    }
    return first;
}

static hpcw_status open_sink(struct hpcw_i_vom_output *out, const hpcw_vom_options *o, hpcw_error *err) {
    hpcw_sink *file = NULL;
    hpcw_status s = o->sink_source.open == NULL ? find_directory(out, err) : HPCW_OK;
    if (s == HPCW_OK) {
        char *first = name_first(out->path);
        s = first == NULL ? hpcw_i_fail_memory(err, out->path, 0, NULL)
                          : hpcw_i_sink_open_member(&o->sink_source, out->dir, out->path, first, 0, true,
                                                    o->durability, &file, err);
        hpcw_i_free(first);
    }
    out->file = file;
    if (s == HPCW_OK) {
        clear_further_ranks(out, o);
    }
    if (s != HPCW_OK || !out->brotli) {
        out->sink = file;
        return s;
    }
    s = hpcw_sink_open_brotli(file, &o->brotli, &out->sink, err);
    if (s != HPCW_OK) {
        hpcw_sink_free(file);
    }
    return s;
}

hpcw_status hpcw_i_vom_output_open(struct hpcw_i_vom_output *out, const char *path, const hpcw_vom_options *o,
                                   hpcw_error *err) {
    out->brotli = o->content == HPCW_VOM_BROTLI || (o->content == HPCW_VOM_BY_NAME && hpcw_i_vom_is_br(path));
    out->path = hpcw_i_strdup(path);
    if (out->path == NULL) {
        return hpcw_i_fail_memory(err, path, 0, NULL);
    }
    hpcw_status s = open_sink(out, o, err);
    if (s == HPCW_OK) {
        hpcw_i_json_open_sink(&out->json, out->sink, &(struct hpcw_i_json_options){.ascii = true});
        s = hpcw_i_vom_output_status(out, err);
    }
    if (s != HPCW_OK) {
        hpcw_i_fail_about(err, path);
    }
    return s;
}

hpcw_status hpcw_i_vom_output_break(struct hpcw_i_vom_output *out, hpcw_status code, const hpcw_error *why) {
    if (out->status == HPCW_OK) {
        out->status = code;
        out->error = *why;
        hpcw_i_fail_about(&out->error, out->path);
        hpcw_i_json_free(&out->json);
        hpcw_sink_discard(out->sink);
    }
    return code;
}

static hpcw_status report(const struct hpcw_i_vom_output *out, hpcw_error *err) {
    if (out->status != HPCW_OK && err != NULL) {
        *err = out->error;
    }
    return out->status;
}

hpcw_status hpcw_i_vom_output_fail(struct hpcw_i_vom_output *out, hpcw_error *err) {
    if (out->status == HPCW_OK) {
        hpcw_error why;
        hpcw_status s = hpcw_i_json_finish(&out->json, &why);
        (void)hpcw_i_vom_output_break(out, s, &why);
    }
    return report(out, err);
}

hpcw_status hpcw_i_vom_output_usable(const struct hpcw_i_vom_output *out, hpcw_error *err) {
    if (out->status != HPCW_OK) {
        return hpcw_i_fail(err, HPCW_ESTATE, "%s: an earlier call failed: %.900s", out->path,
                           out->error.message);
    }
    return out->finished ? hpcw_i_fail(err, HPCW_ESTATE, "%s: it was closed before", out->path) : HPCW_OK;
}

hpcw_status hpcw_i_vom_output_finish(struct hpcw_i_vom_output *out, hpcw_error *err) {
    hpcw_error why;
    hpcw_status s = hpcw_i_json_finish(&out->json, &why);
    out->text_size = hpcw_i_json_size(&out->json);
    if (s == HPCW_OK && out->brotli && out->text_size % READERS_PIECE == 1) {
        s = hpcw_sink_write_at(out->sink, out->text_size, "\n", 1, &why);
        out->text_size++;
    }
    if (s == HPCW_OK && out->brotli) {
        s = hpcw_i_brotli_finish(out->sink, &why);
    }
    if (s != HPCW_OK) {
        (void)hpcw_i_vom_output_break(out, s, &why);
    }
    out->finished = true;
    return report(out, err);
}

hpcw_status hpcw_i_vom_output_publish(struct hpcw_i_vom_output *out, hpcw_error *err) {
    hpcw_error why;
    hpcw_status s = hpcw_sink_publish(out->sink, &why);
    if (s != HPCW_OK) {
        (void)hpcw_i_vom_output_break(out, s, &why);
    }
    return report(out, err);
}

void hpcw_i_vom_output_free(struct hpcw_i_vom_output *out) {
    hpcw_i_json_free(&out->json);
    hpcw_sink_free(out->sink);
    hpcw_i_dir_release(out->dir);
    hpcw_i_free(out->path);
}
