/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Markers: small files in .scr that say what is not finished, so that it can be finished or undone if the program
 * dies (doc/formats/rank2file.md, "Several writers").
 *
 * hpcw.ID.unfinished    a dataset that is being written: its first line, and the data files of process 0
 * hpcw.ID.unfinished.P  the same line, and the data files of process P > 0
 * hpcw.ID.dropped       a dataset that is being removed, and all its files: the intent
 *
 * Only markers of the effective user are believed: all who may write in .scr could make this user remove files.
 */
#ifndef HPCW_FORMAT_RANK2FILE_MARKER_H
#define HPCW_FORMAT_RANK2FILE_MARKER_H

#include "libwriter/base/buf.h"
#include "libwriter/format/rank2file/prefix/prefix.h"
#include "libwriter/io/sys.h"

enum hpcw_i_r2f_marker_kind { HPCW_I_R2F_UNFINISHED, HPCW_I_R2F_DROPPED };

/* Which marker of a prefix. */
struct hpcw_i_r2f_which {
    enum hpcw_i_r2f_marker_kind kind;
    uint32_t process;
    uint64_t id; /* of the dataset */
};

struct hpcw_i_r2f_marker {
    hpcw_rank2file_layout layout;
    bool made;     /* the writer made the dataset's directory */
    bool lists;    /* has names; earlier versions of this library wrote the first line alone */
    uint64_t host; /* hpcw_i_sys_host() of the process that wrote it */
    char name[HPCW_I_R2F_LONGEST + 1]; /* of the dataset; any, if that is being removed */
    struct hpcw_i_buf
        names; /* each with its NUL; below the dataset's directory if it is unfinished, otherwise below the
                                prefix */
};

/* All markers of a kind, by id and process; to be freed with hpcw_i_free. */
hpcw_status hpcw_i_r2f_markers_find(const struct hpcw_i_r2f_prefix *p, enum hpcw_i_r2f_marker_kind kind,
                                    struct hpcw_i_r2f_which **found, size_t *count, hpcw_error *err);

/*
 * Reads a marker; *marker is to be freed in any case.
 *
 * HPCW_ENOENT: there is none; HPCW_EEXIST: something of this name that is not this user's marker; HPCW_EFORMAT: it
 * names no dataset, as of a program that died before it did anything else.
 */
hpcw_status hpcw_i_r2f_marker_read(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_which *which,
                                   struct hpcw_i_r2f_marker *marker, hpcw_error *err);
void hpcw_i_r2f_marker_free(struct hpcw_i_r2f_marker *marker);

/* Writes a whole intent, instead of whatever has its name. `sync`: it is on the disk, with its name, when this
 * returns. */
hpcw_status hpcw_i_r2f_intent_write(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_which *which,
                                    const struct hpcw_i_r2f_marker *marker, bool sync, hpcw_error *err);

/* Removes a marker. One that stays is removed by the next command that meets it. */
void hpcw_i_r2f_marker_remove(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_which *which);

/* Whether a marker of this user says that this dataset is unfinished. */
hpcw_status hpcw_i_r2f_markers_have(const struct hpcw_i_r2f_prefix *p, uint64_t id, const char *name,
                                    bool *have, hpcw_error *err);

/* Removes what says that this dataset is unfinished. */
void hpcw_i_r2f_markers_forget(const struct hpcw_i_r2f_prefix *p, uint64_t id, const char *name);

/* ---- a marker that grows ---- */

/* Of a writer, which owns it until it is closed; fd -1: closed. */
struct hpcw_i_r2f_marker_file {
    int fd;
    struct hpcw_i_file_id id; /* programs close descriptors that they do not know, and others take the number */
    bool sync;                /* names are on the disk before their files are made */
    uint64_t end;             /* where the next name goes */
    struct hpcw_i_r2f_which which; /* for messages */
};

/* Whether the first process of a writer of this id owns its marker. False if that cannot be known. */
bool hpcw_i_r2f_marker_is_held(const struct hpcw_i_r2f_prefix *p, uint64_t id);

/* Opens the marker of a writer that has the lock of the dataset. What an earlier attempt listed stays listed;
 * something else of this name is replaced. `marker` has no names. */
hpcw_status hpcw_i_r2f_marker_open(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_which *which,
                                   const struct hpcw_i_r2f_marker *marker, bool sync,
                                   struct hpcw_i_r2f_marker_file *file, hpcw_error *err);

/* Writes the first line again. */
hpcw_status hpcw_i_r2f_marker_set(const struct hpcw_i_r2f_prefix *p, const struct hpcw_i_r2f_marker_file *file,
                                  const struct hpcw_i_r2f_marker *marker, hpcw_error *err);

/* Lists one more file. */
hpcw_status hpcw_i_r2f_marker_append(const struct hpcw_i_r2f_prefix *p, struct hpcw_i_r2f_marker_file *file,
                                     const char *name, hpcw_error *err);

void hpcw_i_r2f_marker_close(struct hpcw_i_r2f_marker_file *file);

#endif
