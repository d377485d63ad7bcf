/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Markers: small files in .scr that name unfinished work, so that it can be finished or undone if the program dies
 * (doc/formats/rank2file.md, "Several writers").
 *
 * hpcw.ID.unfinished    a dataset that is being written: its first line, and the data files of process 0
 * hpcw.ID.unfinished.P  the same line, and the data files of process P > 0
 * hpcw.ID.dropped       a dataset that is being removed, and all its files: the intent
 *
 * Only markers of the effective user count: otherwise anybody who may write in .scr could make this user remove
 * files.
 */
#ifndef HPCW_FORMAT_RANK2FILE_MARKER_H
#define HPCW_FORMAT_RANK2FILE_MARKER_H

#include "libwriter/base/buf.h"
#include "libwriter/format/rank2file/prefix/prefix.h"
#include "libwriter/io/sys.h"

enum hpcw_i_r2f_marker_kind { HPCW_I_R2F_UNFINISHED, HPCW_I_R2F_DROPPED };

/* Identifies a marker of a prefix. */
struct hpcw_i_r2f_which {
    enum hpcw_i_r2f_marker_kind kind;
    uint32_t process;
    uint64_t id; /* id of the dataset */
};

struct hpcw_i_r2f_marker {
    hpcw_rank2file_layout layout;
    bool made;     /* the writer made the dataset's directory */
    bool lists;    /* the marker lists names; earlier versions of this library wrote only the first line */
    uint64_t host; /* hpcw_i_sys_host() of the process that wrote it */
    /* name of the dataset; if the dataset is being removed, it may be any name */
    char name[HPCW_I_R2F_LONGEST + 1];
    struct hpcw_i_buf
        names; /* each with its NUL; below the dataset's directory if it is unfinished, otherwise below the
                                prefix */
};

/* Finds all markers of a kind, sorted by id and process. Free them with hpcw_i_free. */
hpcw_status hpcw_i_r2f_markers_find(const struct hpcw_i_r2f_prefix *p, enum hpcw_i_r2f_marker_kind kind,
                                    struct hpcw_i_r2f_which **found, size_t *count, hpcw_error *err);

/*
 * Reads a marker. Free *marker also after a failure.
 *
 * HPCW_ENOENT: there is none. HPCW_EEXIST: the name is that of something else than a marker of this user.
 * HPCW_EFORMAT: it names no dataset, because its program died at once.
 */
hpcw_status hpcw_i_r2f_marker_read(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_which *which,
                                   struct hpcw_i_r2f_marker *marker, hpcw_error *err);
void hpcw_i_r2f_marker_free(struct hpcw_i_r2f_marker *marker);

/* Writes a whole intent, and replaces anything of its name. `sync`: the intent and its name are on the disk when
 * this returns. */
hpcw_status hpcw_i_r2f_intent_write(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_which *which,
                                    const struct hpcw_i_r2f_marker *marker, bool sync, hpcw_error *err);

/* Removes a marker. If that fails, the next command that finds it removes it. */
void hpcw_i_r2f_marker_remove(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_which *which);

/* Finds out whether a marker of this user says that a dataset is unfinished. */
hpcw_status hpcw_i_r2f_markers_have(const struct hpcw_i_r2f_prefix *p, uint64_t id, const char *name,
                                    bool *have, hpcw_error *err);

/* Removes all markers that say that a dataset is unfinished. */
void hpcw_i_r2f_markers_forget(const struct hpcw_i_r2f_prefix *p, uint64_t id, const char *name);

/* ---- a marker that grows ---- */

/* The open marker of a writer, which owns it until it is closed. fd -1: closed. */
struct hpcw_i_r2f_marker_file {
    int fd;
    /* file of `fd`: programs close descriptors that they do not know, and others take the number */
    struct hpcw_i_file_id id;
    bool sync;                     /* each name is on the disk before its file is made */
    uint64_t end;                  /* offset for the next name */
    struct hpcw_i_r2f_which which; /* identifies the marker, for messages */
};

/* Returns whether the first process of a writer of this id owns its marker. False if that cannot be known. */
bool hpcw_i_r2f_marker_is_held(const struct hpcw_i_r2f_prefix *p, uint64_t id);

/* Opens the marker of a writer that has the lock of the dataset. Names that an earlier attempt listed stay.
 * Anything else of this name is replaced. `marker` has no names. */
hpcw_status hpcw_i_r2f_marker_open(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_which *which,
                                   const struct hpcw_i_r2f_marker *marker, bool sync,
                                   struct hpcw_i_r2f_marker_file *file, hpcw_error *err);

/* Writes the first line again, with new content. */
hpcw_status hpcw_i_r2f_marker_set(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_marker_file *file,
                                  const struct hpcw_i_r2f_marker *marker, hpcw_error *err);

/* Lists one more file. */
hpcw_status hpcw_i_r2f_marker_append(const struct hpcw_i_r2f_prefix *p, struct hpcw_i_r2f_marker_file *file,
                                     const char *name, hpcw_error *err);

void hpcw_i_r2f_marker_close(struct hpcw_i_r2f_marker_file *file);

#endif
