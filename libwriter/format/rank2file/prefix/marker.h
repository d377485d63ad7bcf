/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Markers: small files in .scr that list the files of unfinished work, so that it can be finished or undone if the
 * program dies (doc/formats/rank2file.md, "Several writers").
 *
 * hpcw.ID.unfinished    dataset ID is being written; lists the data files of process 0
 * hpcw.ID.unfinished.P  dataset ID is being written; lists the data files of process P > 0
 * hpcw.ID.dropped       dataset ID is being removed; lists all its files; called an intent
 *
 * Only markers of the effective user count. Otherwise anybody who may write in .scr could make this user remove
 * files.
 */
#ifndef HPCW_FORMAT_RANK2FILE_MARKER_H
#define HPCW_FORMAT_RANK2FILE_MARKER_H

#include "libwriter/base/buf.h"
#include "libwriter/format/rank2file/prefix/prefix.h"
#include "libwriter/io/sys.h"

enum hpcw_i_r2f_marker_kind { HPCW_I_R2F_UNFINISHED, HPCW_I_R2F_DROPPED };

/* Identifies one marker in a prefix directory. */
struct hpcw_i_r2f_which {
    enum hpcw_i_r2f_marker_kind kind;
    uint32_t process;
    uint64_t id; /* id of the dataset */
};

struct hpcw_i_r2f_marker {
    hpcw_rank2file_layout layout;
    bool made; /* whether the writer made the dataset's directory */
    /* whether the marker lists names of files; markers of earlier versions of this library do not */
    bool lists;
    uint64_t host; /* hpcw_i_sys_host() of the process that wrote the marker */
    /* name of the dataset: in an intent any name, otherwise a legal name of a directory */
    char name[HPCW_I_R2F_LONGEST + 1];
    /* names of the files, each with its NUL: in an intent below the prefix, otherwise below the dataset's
     * directory */
    struct hpcw_i_buf names;
};

/* The markers of one kind in a prefix directory. */
struct hpcw_i_r2f_markers {
    struct hpcw_i_r2f_which *item; /* [count], sorted by id and process; free it with hpcw_i_free */
    size_t count;
};

/* Finds all markers of a kind. Reads the whole directory .scr, which has an entry for each dataset: a caller with
 * many datasets calls this once. */
hpcw_status hpcw_i_r2f_markers_find(const struct hpcw_i_r2f_prefix *p, enum hpcw_i_r2f_marker_kind kind,
                                    struct hpcw_i_r2f_markers *found, hpcw_error *err);

/* Returns the markers of dataset `id`, which belong to `all`. */
struct hpcw_i_r2f_markers hpcw_i_r2f_markers_of(const struct hpcw_i_r2f_markers *all, uint64_t id);

/*
 * Reads a marker. Free *marker also after a failure.
 *
 * HPCW_ENOENT: there is no such marker.
 * HPCW_EEXIST: the marker belongs to another user, or is no regular file.
 * HPCW_EFORMAT: the marker names no dataset, because its writer died while it created the file.
 */
hpcw_status hpcw_i_r2f_marker_read(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_which *which,
                                   struct hpcw_i_r2f_marker *marker, hpcw_error *err);
void hpcw_i_r2f_marker_free(struct hpcw_i_r2f_marker *marker);

/* Writes a whole intent, and replaces any file of its name. With `sync`, the intent and its directory entry are
 * on the disk when this returns. */
hpcw_status hpcw_i_r2f_intent_write(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_which *which,
                                    const struct hpcw_i_r2f_marker *marker, bool sync, hpcw_error *err);

/* Removes a marker. After a failure it stays, and a later command that finds it removes it. */
void hpcw_i_r2f_marker_remove(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_which *which);

/* Finds out whether one of the markers `unfinished` is this user's, and says that a dataset of this id and name is
 * unfinished. */
hpcw_status hpcw_i_r2f_markers_have(const struct hpcw_i_r2f_prefix *p,
                                    const struct hpcw_i_r2f_markers *unfinished, uint64_t id, const char *name,
                                    bool *have, hpcw_error *err);

/* Removes all markers of an unfinished dataset. */
void hpcw_i_r2f_markers_forget(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_markers *unfinished,
                               uint64_t id, const char *name);

/* ---- a marker that grows ---- */

/* The open marker of a writer, which holds the lock on it until the close. fd -1: closed. */
struct hpcw_i_r2f_marker_file {
    int fd;
    /* inode behind `fd`: shows if the program closed `fd` and its number was used again */
    struct hpcw_i_file_id id;
    bool sync;                     /* whether each name is on the disk before its data file is created */
    uint64_t end;                  /* offset at which the next name is written */
    struct hpcw_i_r2f_which which; /* identifies the marker, for messages */
};

/* Returns whether a living writer of dataset `id` has locked the marker of its process 0. False also if that
 * cannot be found out. */
bool hpcw_i_r2f_marker_is_held(const struct hpcw_i_r2f_prefix *p, uint64_t id);

/* Opens the marker of a writer that holds the dataset's lock. Names that an earlier attempt listed stay. Any
 * other file of the marker's name is replaced. `marker` has the first line, and no names. */
hpcw_status hpcw_i_r2f_marker_open(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_which *which,
                                   const struct hpcw_i_r2f_marker *marker, bool sync,
                                   struct hpcw_i_r2f_marker_file *file, hpcw_error *err);

/* Replaces the first line of an open marker. */
hpcw_status hpcw_i_r2f_marker_set(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_marker_file *file,
                                  const struct hpcw_i_r2f_marker *marker, hpcw_error *err);

/* Appends the name of one more data file. */
hpcw_status hpcw_i_r2f_marker_append(const struct hpcw_i_r2f_prefix *p, struct hpcw_i_r2f_marker_file *file,
                                     const char *name, hpcw_error *err);

void hpcw_i_r2f_marker_close(struct hpcw_i_r2f_marker_file *file);

#endif
