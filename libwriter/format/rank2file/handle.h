/* SPDX-License-Identifier: BSD-3-Clause */
/* A dataset that is being written, for the files of this directory. */
#ifndef HPCW_FORMAT_RANK2FILE_HANDLE_H
#define HPCW_FORMAT_RANK2FILE_HANDLE_H

#include <pthread.h>

#include "libwriter/base/buf.h"
#include "libwriter/comm/comm.h"
#include "libwriter/format/rank2file/map/map.h"
#include "libwriter/format/rank2file/map/records.h"
#include "libwriter/format/rank2file/prefix/marker.h"

/* A file that was added. */
struct hpcw_i_r2f_own {
    uint64_t size;
    uint64_t name_at; /* offset in `names` */
    uint32_t index;   /* index of the rank, among those of this process */
    uint32_t name_size;
    uint32_t crc;
    uint16_t flags;
    bool look; /* check that the file exists before the dataset is finished */
};

/* A file that was begun and is not yet freed. */
struct hpcw_i_r2f_begun {
    hpcw_rank2file *w; /* NULL: a separate file, or its dataset is freed */
    struct hpcw_i_r2f_begun *next, **link;
    const char *path;
    bool open;          /* neither closed nor discarded */
    hpcw_error failure; /* failure of a write or the close; code HPCW_OK: none */
};

struct hpcw_rank2file {
    hpcw_comm *comm;
    char *prefix;
    hpcw_rank2file_options options; /* options with copies of the texts and ranks */
    char *text[6];
    uint32_t *own_ranks; /* NULL: the ranks are consecutive */
    uint32_t first;      /* first rank, if they are */
    uint32_t ranks;      /* number of ranks of the job */
    char dataset[HPCW_RANK2FILE_MAX_DATASET + 1];
    char flushed[HPCW_I_R2F_STAMP];
    /* the prefix, held from the open on; `dir` NULL: the program's sinks write elsewhere */
    struct hpcw_i_r2f_prefix place;
    int lock_fd;                   /* process 0: descriptor of the dataset's lock; -1: none */
    struct hpcw_i_file_id lock_id; /* file of lock_fd, as a file of the program may have got that number */
    bool earlier;                  /* process 0: an earlier attempt at this dataset died and left markers */
    bool closed;

    pthread_mutex_t lock; /* protects the fields below */
    /* marker that lists the files of this process; other processes than 0 make theirs with the first file */
    struct hpcw_i_r2f_marker_file noted;
    struct hpcw_i_r2f_begun *begun;
    struct hpcw_i_buf own;   /* array of struct hpcw_i_r2f_own */
    struct hpcw_i_buf names; /* each with its NUL */
    hpcw_error abandoned;    /* code HPCW_OK: no failure */
};

/* Opens a sink for a file below the prefix. */
hpcw_status hpcw_i_r2f_sink(const hpcw_rank2file *w, const char *name, hpcw_sink **out, hpcw_error *err);

/* Lists a data file in the marker, so that it is found if the program dies. Call it before the file is made. */
hpcw_status hpcw_i_r2f_note(hpcw_rank2file *w, const char *name, hpcw_error *err);

/* Return the marker of this process (that of the dataset, without names), and which marker it is; and end the
 * marker. */
struct hpcw_i_r2f_marker hpcw_i_r2f_marker_of(const hpcw_rank2file *w);
struct hpcw_i_r2f_which hpcw_i_r2f_which_of(const hpcw_rank2file *w);
void hpcw_i_r2f_forget(hpcw_rank2file *w);

/* Writes the directories of this process's data files back to the disk, if the options demand it. Only the close
 * calls it, while no other call runs. */
hpcw_status hpcw_i_r2f_sync_directories(const hpcw_rank2file *w, hpcw_error *err);

/* Writes a file below the prefix; `put` fills the sink. *named (may be NULL): the file has its name, possibly
 * despite a failure. */
hpcw_status hpcw_i_r2f_write_file(const hpcw_rank2file *w, const char *name,
                                  hpcw_status (*put)(void *context, hpcw_sink *sink, hpcw_error *err),
                                  void *context, bool *named, hpcw_error *err);

/* Adds a file. `look`: check at the close that it exists. */
hpcw_status hpcw_i_r2f_add(hpcw_rank2file *w, uint32_t rank, const struct hpcw_i_r2f_file *file, bool look,
                           hpcw_error *err);

/* Begins a file and ends it. A file that is still open at its end dooms the dataset. */
void hpcw_i_r2f_begin_file(hpcw_rank2file *w, struct hpcw_i_r2f_begun *f);
void hpcw_i_r2f_end_file(struct hpcw_i_r2f_begun *f);

/* Checks that the files of this process make a whole dataset. Only the close calls it, while no other call runs. */
hpcw_status hpcw_i_r2f_check_files(hpcw_rank2file *w, hpcw_error *err);

/* Returns the rank with index `index` on this process. */
uint32_t hpcw_i_r2f_rank_at(const hpcw_rank2file *w, uint32_t index);

/* Checks that a file may be added: a rank of this process, a legal name, an open handle. */
hpcw_status hpcw_i_r2f_check_file(const hpcw_rank2file *w, uint32_t rank, const char *name, hpcw_error *err);

/* Makes the directories of a data file below that of the dataset. */
hpcw_status hpcw_i_r2f_folders(const hpcw_rank2file *w, const char *name, hpcw_error *err);

/* Writes leaves, inner nodes and root of one map. Collective. */
hpcw_status hpcw_i_r2f_write_map(const hpcw_rank2file *w, uint32_t which, const struct hpcw_i_r2f_block *block,
                                 hpcw_error *err);

#endif
