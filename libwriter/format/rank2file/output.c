/* SPDX-License-Identifier: BSD-3-Clause */
/* Files below the prefix: data files with their directories, and metadata files. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/rank2file/handle.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sink.h"

hpcw_status hpcw_i_r2f_folders(const hpcw_rank2file *w, const char *name, hpcw_error *err) {
    if (strchr(name, '/') == NULL || w->place.dir == NULL) {
        return HPCW_OK;
    }
    char *below = hpcw_i_r2f_join(w->dataset, name);
    int e = below == NULL
                ? ENOMEM
                : hpcw_i_below_make_parents(w->place.dir, below, w->options.durability >= HPCW_SYNC_DIRECTORY);
    hpcw_status s = e == 0 ? HPCW_OK
                    : below == NULL
                        ? hpcw_i_fail_memory(err, w->prefix, 0, NULL)
                        : hpcw_i_r2f_fail_below(&w->place, e, below, "cannot make its directory", err);
    hpcw_i_free(below);
    return s;
}

hpcw_status hpcw_i_r2f_sink(const hpcw_rank2file *w, const char *name, hpcw_sink **out, hpcw_error *err) {
    hpcw_error mine = {.message = ""};
    char *path = hpcw_i_r2f_join(w->prefix, name);
    if (path == NULL) {
        return hpcw_i_fail_memory(err, w->prefix, 0, NULL);
    }
    hpcw_status s =
        w->options.sink_source.open != NULL
            ? hpcw_i_sink_open(&w->options.sink_source, NULL, path, 0, true, w->options.durability, out, &mine)
            : hpcw_i_sink_open_below(w->place.dir, name, path, w->options.durability, out, &mine);
    if (s != HPCW_OK && mine.sys_errno == ELOOP) {
        s = hpcw_i_r2f_fail_below(&w->place, ELOOP, name, "cannot create", &mine);
    }
    if (s != HPCW_OK && err != NULL) {
        *err = mine;
    }
    hpcw_i_free(path);
    return s;
}

hpcw_status hpcw_i_r2f_write_file(const hpcw_rank2file *w, const char *name,
                                  hpcw_status (*put)(void *context, hpcw_sink *sink, hpcw_error *err),
                                  void *context, bool *named, hpcw_error *err) {
    hpcw_sink *sink = NULL;
    hpcw_status s = hpcw_i_r2f_sink(w, name, &sink, err);
    if (s == HPCW_OK) {
        s = put(context, sink, err);
        if (s != HPCW_OK) {
            hpcw_i_fail_about(err, name);
            hpcw_i_fail_about(err, w->prefix);
        }
    }
    if (s == HPCW_OK) {
        s = hpcw_sink_publish(sink, err);
    }
    if (named != NULL) {
        *named = sink != NULL && sink->named;
    }
    hpcw_sink_free(sink);
    return s;
}

/* ---- the directories of data files ---- */

/* Writes a directory back to the disk. This changes nothing, so a symbolic link is followed: the program may
 * have put its files behind one. */
static int sync_one(const hpcw_rank2file *w, const char *directory) {
    int at;
    int e = hpcw_i_dir_fd(w->place.dir, &at);
    return e == 0 ? hpcw_i_sys_fsync_at(at, directory, O_DIRECTORY) : e;
}

/* Writes the directories of one file back to the disk, from the innermost up to the dataset's directory. Stops at a
 * directory that also contains the previous file, `last`. */
static int sync_directories_of(const hpcw_rank2file *w, char *name, const char *last) {
    int e = 0;
    for (char *slash; e == 0 && (slash = strrchr(name, '/')) != NULL;) {
        size_t size = (size_t)(slash - name);
        if (last != NULL && strncmp(last, name, size + 1) == 0) {
            /* the directories from here upwards were written back for `last` */
            break;
        }
        *slash = '\0';
        e = sync_one(w, name);
    }
    return e;
}

hpcw_status hpcw_i_r2f_sync_directories(const hpcw_rank2file *w, hpcw_error *err) {
    const struct hpcw_i_r2f_own *own = (const struct hpcw_i_r2f_own *)(const void *)w->own.data;
    const size_t files = w->own.size / sizeof *own;
    char *last = NULL;
    int e = 0;
    if (w->options.durability < HPCW_SYNC_DIRECTORY || w->options.sink_source.open != NULL) {
        return HPCW_OK;
    }
    for (size_t i = 0; e == 0 && i < files; i++) {
        char *name = hpcw_i_r2f_join(w->dataset, (const char *)w->names.data + own[i].name_at);
        char *copy = name == NULL ? NULL : hpcw_i_strdup(name);
        e = copy == NULL ? ENOMEM : sync_directories_of(w, copy, last);
        hpcw_i_free(copy);
        hpcw_i_free(last);
        last = name;
    }
    hpcw_i_free(last);
    /* The program may have made the dataset's directory. So write its entry in the prefix directory back, too. */
    e = e == 0 && files > 0 && w->comm->process == 0 ? hpcw_i_dir_sync(w->place.dir) : e;
    return e == 0 ? HPCW_OK
           : e == ENOMEM
               ? hpcw_i_fail_memory(err, w->prefix, 0, NULL)
               : hpcw_i_fail_sys(err, e,
                                 "%s: dataset %s: cannot write the directories of its files back to the "
                                 "disk",
                                 w->prefix, w->dataset);
}

/* ---- the marker ---- */

struct hpcw_i_r2f_marker hpcw_i_r2f_marker_of(const hpcw_rank2file *w) {
    struct hpcw_i_r2f_marker marker = {.layout = w->options.layout, .lists = true, .host = hpcw_i_sys_host()};
    memcpy(marker.name, w->dataset, sizeof marker.name);
    return marker;
}

struct hpcw_i_r2f_which hpcw_i_r2f_which_of(const hpcw_rank2file *w) {
    return (struct hpcw_i_r2f_which){
        .kind = HPCW_I_R2F_UNFINISHED, .process = (uint32_t)w->comm->process, .id = w->options.dataset.id};
}

hpcw_status hpcw_i_r2f_note(hpcw_rank2file *w, const char *name, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    if (w->place.dir == NULL) {
        return s;
    }
    (void)pthread_mutex_lock(&w->lock);
    if (w->noted.fd < 0) {
        const struct hpcw_i_r2f_marker marker = hpcw_i_r2f_marker_of(w);
        const struct hpcw_i_r2f_which which = hpcw_i_r2f_which_of(w);
        s = hpcw_i_r2f_marker_open(&w->place, &which, &marker, w->options.durability >= HPCW_SYNC_DIRECTORY,
                                   &w->noted, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_marker_append(&w->place, &w->noted, name, err);
    }
    (void)pthread_mutex_unlock(&w->lock);
    return s;
}

void hpcw_i_r2f_forget(hpcw_rank2file *w) {
    const struct hpcw_i_r2f_which which = hpcw_i_r2f_which_of(w);
    if (w->noted.fd >= 0) {
        hpcw_i_r2f_marker_close(&w->noted);
        hpcw_i_r2f_marker_remove(&w->place, &which);
    }
}
