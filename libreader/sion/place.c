/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of the physical files of a container: doc/formats/sion.md, "Sets". */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "libreader/sion/file.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sink_set.h"
#include "libwriter/io/sys.h"

/* With O_PATH, a directory can be opened without permission to read it. */
#ifdef O_PATH
#define OPEN_DIRECTORY (O_PATH | O_DIRECTORY)
#else
#define OPEN_DIRECTORY (O_RDONLY | O_DIRECTORY)
#endif

static hpcw_status init(struct read_sion_place *place, const char *path, hpcw_error *err) {
    *place = (struct read_sion_place){.path = hpcw_i_strdup(path), .directory = AT_FDCWD};
    return place->path == NULL ? hpcw_i_fail_memory(err, path, 0, NULL) : HPCW_OK;
}

hpcw_status read_sion_place_init(struct read_sion_place *place, const char *path,
                                 const struct read_sion_names *names, hpcw_error *err) {
    hpcw_status status = init(place, path, err);
    place->names = *names;
    if (status == HPCW_OK && *path != '/') {
        int e = hpcw_i_sys_open(".", OPEN_DIRECTORY, 0, &place->directory);
        status = e == 0 ? status : hpcw_i_fail_sys(err, e, "%s: opening the working directory", path);
    }
    return status;
}

hpcw_status read_sion_place_init_memory(struct read_sion_place *place, const struct read_sion_image *images,
                                        uint32_t count, hpcw_error *err) {
    static const char name[] = "(memory)";
    if (count == 0) {
        *place = (struct read_sion_place){0};
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected one image or more, got none", name);
    }
    hpcw_status status = init(place, name, err);
    if (status != HPCW_OK) {
        return status;
    }
    place->images = hpcw_i_calloc(count, sizeof *images);
    if (place->images == NULL) {
        return hpcw_i_fail_memory(err, name, count, "images");
    }
    memcpy(place->images, images, count * sizeof *images);
    place->image_count = count;
    return HPCW_OK;
}

/* Returns the name of a file, to be freed. NULL after a failure, with *status set. */
static char *name_of(const struct read_sion_place *place, uint32_t index, hpcw_status *status,
                     hpcw_error *err) {
    /* File k > 0 of a set is the base name, a dot and k as at least six digits. */
    const size_t size = place->names.of_file != NULL ? PATH_MAX : strlen(place->path) + sizeof ".4294967295";
    char *name = hpcw_i_malloc(size);
    *status = name != NULL ? HPCW_OK : hpcw_i_fail_memory(err, place->path, 0, "the name of a file");
    if (name == NULL) {
        return NULL;
    }
    if (place->names.of_file == NULL && index == 0) {
        (void)snprintf(name, size, "%s", place->path);
    } else if (place->names.of_file == NULL) {
        (void)snprintf(name, size, "%s.%06" PRIu32, place->path, index);
    } else if (!place->names.of_file(place->names.context, place->path, index, name, size)) {
        *status = hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a name of file %" PRIu32 " of at most %zu bytes",
                              place->path, index, size - 1);
        hpcw_i_free(name);
        name = NULL;
    }
    return name;
}

/* Handles a missing file 0 of a set. File 0 is missing while a writer gives the files their names. If that
 * writer died, this function finishes the work of the writer, and file 0 may exist then. Returns false after a
 * failure, which *status and *missing describe, unless the directory is missing, too. */
static bool finish_set(const struct read_sion_place *place, hpcw_status *status, hpcw_error *missing) {
    struct hpcw_i_dir *dir;
    hpcw_error why;
    if (hpcw_i_dir_hold_of(place->path, &dir) != 0) {
        return false; /* the directory is missing, too */
    }
    hpcw_status s = hpcw_i_set_finish(dir, place->path, &why);
    hpcw_i_dir_release(dir);
    if (s != HPCW_OK) {
        *status = s;
        *missing = why;
    }
    return s == HPCW_OK;
}

static hpcw_status open_file(const struct read_sion_place *place, uint32_t index, const char *name,
                             struct read_source **out, hpcw_error *err) {
    hpcw_status status = read_source_open_at(place->directory, name, out, err);
    if (status == HPCW_ENOENT && index == 0 && place->names.of_file == NULL &&
        finish_set(place, &status, err)) {
        status = read_source_open_at(place->directory, name, out, err);
    }
    return status;
}

static hpcw_status open_image(const struct read_sion_place *place, uint32_t index, const char *name,
                              struct read_source **out, hpcw_error *err) {
    return index < place->image_count
               ? read_source_open_memory(name, place->images[index].data, place->images[index].size, out, err)
               : hpcw_i_fail(err, HPCW_ENOENT,
                             "%s: expected file %" PRIu32 " of the set, got %" PRIu32 " files", name, index,
                             place->image_count);
}

hpcw_status read_sion_place_source(const struct read_sion_place *place, uint32_t index,
                                   struct read_source **out, hpcw_error *err) {
    hpcw_status status;
    hpcw_error why;
    *out = NULL;
    char *name = name_of(place, index, &status, &why);
    if (name != NULL) {
        status = place->images == NULL ? open_file(place, index, name, out, &why)
                                       : open_image(place, index, name, out, &why);
        hpcw_i_free(name);
    }
    /* Check also after a failure whether the container was replaced: that would explain why a file is missing. */
    hpcw_error replaced;
    if (name != NULL && read_sion_place_check(place, &replaced) != HPCW_OK) {
        read_source_free(*out);
        *out = NULL;
        why = replaced;
        status = replaced.code;
    }
    return status == HPCW_OK ? HPCW_OK : hpcw_i_fail_as(err, &why);
}

hpcw_status read_sion_place_check(const struct read_sion_place *place, hpcw_error *err) {
    hpcw_status status = HPCW_OK;
    char *name = place->first == NULL || place->images != NULL ? NULL : name_of(place, 0, &status, err);
    if (name != NULL) {
        status = read_source_check(place->first, place->directory, name, err);
        hpcw_i_free(name);
    }
    return status;
}

void read_sion_place_free(struct read_sion_place *place) {
    if (place->path != NULL && place->directory >= 0) {
        (void)hpcw_i_sys_close(place->directory);
    }
    hpcw_i_free(place->images);
    hpcw_i_free(place->path);
}
