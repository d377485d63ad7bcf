/* SPDX-License-Identifier: BSD-3-Clause */
/* The handle of a dataset that is being written, for the files of this directory. */
#ifndef HPCW_FORMAT_RANK2FILE_HANDLE_H
#define HPCW_FORMAT_RANK2FILE_HANDLE_H

#include <pthread.h>

#include "libwriter/base/buf.h"
#include "libwriter/comm/comm.h"
#include "libwriter/format/rank2file/map/map.h"
#include "libwriter/format/rank2file/map/records.h"
#include "libwriter/format/rank2file/prefix/marker.h"

/* A data file whose size is known: it was added to the dataset. */
struct hpcw_i_r2f_own {
    uint64_t size;
    uint64_t name_at; /* offset of the file's name in `names` of hpcw_rank2file */
    uint32_t index;   /* position of the file's rank among the ranks of this process */
    uint32_t name_size;
    uint32_t crc;
    uint16_t flags;
    bool look; /* whether to check that the file exists before the dataset is finished */
};

/* A data file that was opened and whose handle is not yet freed. */
struct hpcw_i_r2f_begun {
    hpcw_rank2file *w; /* NULL: the file belongs to no dataset, or its dataset is freed */
    struct hpcw_i_r2f_begun *next, **link;
    const char *path;
    bool open;          /* whether the file is neither closed nor discarded */
    hpcw_error failure; /* first failure of a write or of the close; code HPCW_OK: none */
};

struct hpcw_rank2file {
    hpcw_comm *comm;
    char *prefix;
    hpcw_rank2file_options options; /* the caller's options, with copies of all texts and ranks */
    char *text[6];
    uint32_t *own_ranks; /* ranks of this process; NULL: they are consecutive */
    uint32_t first;      /* first rank of this process if its ranks are consecutive */
    uint32_t ranks;      /* number of ranks of the job */
    char dataset[HPCW_RANK2FILE_MAX_DATASET + 1];
    char flushed[HPCW_I_R2F_STAMP];
    /* prefix directory, held open until the dataset is freed; `dir` NULL: the program's sinks write elsewhere */
    struct hpcw_i_r2f_prefix place;
    int lock_fd; /* process 0: descriptor of the dataset's lock; -1: none */
    /* inode behind lock_fd: shows if the program closed lock_fd and its number was used again */
    struct hpcw_i_file_id lock_id;
    bool earlier; /* process 0: an earlier attempt at this dataset died and left markers */
    bool closed;

    pthread_mutex_t lock; /* protects the fields below */
    /* marker file that lists this process's data files; other processes than 0 make it with their first data
     * file */
    struct hpcw_i_r2f_marker_file noted;
    struct hpcw_i_r2f_begun *begun;
    struct hpcw_i_buf own;   /* array of struct hpcw_i_r2f_own */
    struct hpcw_i_buf names; /* names of the added files, each with its NUL */
    hpcw_error abandoned;    /* why the dataset must not be finished; code HPCW_OK: no failure */
};

/* Opens a sink for a file below the prefix. */
hpcw_status hpcw_i_r2f_sink(const hpcw_rank2file *w, const char *name, hpcw_sink **out, hpcw_error *err);

/* Lists a data file in the marker, by which it is removed if the program dies. Call this before the file is
 * created. */
hpcw_status hpcw_i_r2f_note(hpcw_rank2file *w, const char *name, hpcw_error *err);

/* Returns the content of this process's marker, without names of files. */
struct hpcw_i_r2f_marker hpcw_i_r2f_marker_of(const hpcw_rank2file *w);
/* Returns what identifies this process's marker: its kind, the process and the dataset's id. */
struct hpcw_i_r2f_which hpcw_i_r2f_which_of(const hpcw_rank2file *w);
/* Closes and removes the marker of this process. */
void hpcw_i_r2f_forget(hpcw_rank2file *w);

/* Writes the directories of this process's data files back to the disk, if the options demand it. Only
 * the close calls it, while no other call runs. */
hpcw_status hpcw_i_r2f_sync_directories(const hpcw_rank2file *w, hpcw_error *err);

/* Writes a file below the prefix; `put` writes the content to the sink. *named (may be NULL) says whether the
 * file has its final name, which is possible even after a failure. */
hpcw_status hpcw_i_r2f_write_file(const hpcw_rank2file *w, const char *name,
                                  hpcw_status (*put)(void *context, hpcw_sink *sink, hpcw_error *err),
                                  void *context, bool *named, hpcw_error *err);

/* Adds a file to the dataset. With `look`, the close checks that the file exists. */
hpcw_status hpcw_i_r2f_add(hpcw_rank2file *w, uint32_t rank, const struct hpcw_i_r2f_file *file, bool look,
                           hpcw_error *err);

/* Enters a file into the dataset's list of open files. */
void hpcw_i_r2f_begin_file(hpcw_rank2file *w, struct hpcw_i_r2f_begun *f);

/* Takes a file out of the list of open files. If it is neither closed nor discarded, the dataset cannot be
 * finished. */
void hpcw_i_r2f_end_file(struct hpcw_i_r2f_begun *f);

/* Checks that the files of this process make a whole dataset. Only the close calls it, while no other call runs. */
hpcw_status hpcw_i_r2f_check_files(hpcw_rank2file *w, hpcw_error *err);

/* Returns the rank with index `index` on this process. */
uint32_t hpcw_i_r2f_rank_at(const hpcw_rank2file *w, uint32_t index);

/* Checks that a file may be added: the dataset is open, the rank belongs to this process, and the name is
 * legal. */
hpcw_status hpcw_i_r2f_check_file(const hpcw_rank2file *w, uint32_t rank, const char *name, hpcw_error *err);

/* Makes the subdirectories of a data file in the dataset's directory. */
hpcw_status hpcw_i_r2f_folders(const hpcw_rank2file *w, const char *name, hpcw_error *err);

/* Writes the leaves, inner nodes and root of map number `which` of the layout. Collective. */
hpcw_status hpcw_i_r2f_write_map(const hpcw_rank2file *w, uint32_t which, const struct hpcw_i_r2f_block *block,
                                 hpcw_error *err);

#endif
