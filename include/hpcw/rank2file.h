/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * SCR checkpoints: data files of many ranks, and the leveled rank2file map that tells a restarting job the files of
 * each rank. SCR 1.1, 1.2 and 3 find these datasets, check them and restart from them; KVTree 1.5 reads every tree.
 *
 *     hpcw_rank2file_options opt;
 *     hpcw_rank2file_options_init(&opt);
 *     opt.dataset.id = 1;
 *     opt.count = 1;                                             // this process plays one rank
 *     hpcw_rank2file_open("/scratch/run", comm, &opt, &w, &err); // collective
 *     hpcw_rank2file_create(w, rank, "rank_0.ckpt", &file, &err);
 *     hpcw_rank2file_file_write(file, data, size, &err);         // any number of times; CRC-32 on the way
 *     hpcw_rank2file_file_close(file, &err);
 *     hpcw_rank2file_file_free(file);
 *     hpcw_rank2file_close(w, &err);                             // collective: map, summary, index
 *     hpcw_rank2file_free(w);
 *
 * and, in a job of any number of processes,
 *
 *     hpcw_rank2file_restart_open("/scratch/run", comm, NULL, &r, &err);  // collective
 *     hpcw_rank2file_restart_load(r, 0, NULL, &err);                      // collective: a share of the ranks
 *     for (i = 0; i < hpcw_rank2file_restart_files(r); i++)
 *         hpcw_rank2file_restart_file(r, i, &file);                       // whose, where, how large
 *
 * Terms: the *prefix* is the directory of the job; a *dataset* is one checkpoint below it; the *map* is a tree of
 * small files. A *leaf* lists the files of consecutive ranks, an inner node the leaves or nodes below it, the root
 * is always an inner node. The bytes of a map depend on the options and the files alone, not on the distribution of
 * ranks over processes. The format to the byte: doc/formats/rank2file.md.
 */
#ifndef HPCW_RANK2FILE_H
#define HPCW_RANK2FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/comm.h>
#include <hpcw/kvtree.h>
#include <hpcw/sink.h>
#include <hpcw/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------------
 *  Limits
 * --------------------------------------------------------------------------------------------------------- */

/** Longest name of a data file below the prefix, without NUL (path buffers of SCR and KVTree). */
#define HPCW_RANK2FILE_MAX_NAME 999u
/** Longest name of a dataset that is written, without NUL. Those that SCR 1.2 and later wrote have up to 1023
 * bytes, of any value, and are read, checked, dropped and indexed as well. */
#define HPCW_RANK2FILE_MAX_DATASET 200u
/** Size of the longest path of a metadata file below the prefix, with NUL. */
#define HPCW_RANK2FILE_PATH 512
/** Most ranks: SCR keeps them in an int. */
#define HPCW_RANK2FILE_MAX_RANKS 0x7fffffffu
/** The index, below the prefix. */
#define HPCW_RANK2FILE_INDEX ".scr/index.scr"

/* ------------------------------------------------------------------------------------------------------------
 *  Options
 * --------------------------------------------------------------------------------------------------------- */

/** Directories and names (doc/formats/rank2file.md, "Layouts"). P is the prefix, D the dataset's name; data
 * files are in P/D in all of them. */
typedef enum hpcw_rank2file_layout {
    HPCW_RANK2FILE_SCR_1_1 = 0, /**< "scr-1.1": metadata in P/D/.scr; sizes and CRCs are checked on restart */
    HPCW_RANK2FILE_SCR_1_2 = 1, /**< "scr-1.2": metadata in P/.scr/scr.dataset.ID (to SCR 2.0) */
    HPCW_RANK2FILE_SCR_3 = 2,   /**< "scr-3": the same without ".scr" at the end of names */
    HPCW_RANK2FILE_SHARED = 3   /**< "shared": both 1.1 and 3 restart from one directory: two maps, one index */
} hpcw_rank2file_layout;

/** Name of a layout, see above; NULL for another number. */
HPCW_API const char *hpcw_rank2file_layout_name(hpcw_rank2file_layout layout);

/** The layout with this name. @return HPCW_OK, or HPCW_EINVAL with the known names */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_layout_of(const char *name, hpcw_rank2file_layout *layout,
                                                              hpcw_error *err);

/** Number of maps a layout has: 2 for the shared one, otherwise 1. */
HPCW_API uint32_t hpcw_rank2file_layout_maps(hpcw_rank2file_layout layout);

/** The description of a checkpoint (map DSET in summary.scr; doc/formats/rank2file.md, "Summary"). The defaults are
 * those of hpcw_rank2file_open; hpcw_rank2file_summary and hpcw_rank2file_index_add know neither clock nor user:
 * there `flushed` is created_us in UTC, and `user` "user". */
typedef struct hpcw_rank2file_dataset {
    uint64_t id;         /**< 1 .. 2^31 - 1 */
    const char *name;    /**< NULL: "ckpt.ID" with SCR_3 alone, otherwise "scr.dataset.ID" (SCR's defaults) */
    uint64_t checkpoint; /**< CKPT; 0: the id */
    uint64_t created_us; /**< microseconds since 1970-01-01 UTC; 0: the time of the open */
    /** FLUSHED, "YYYY-MM-DDThh:mm:ss"; NULL: the time of the close, local as SCR writes it */
    const char *flushed;
    const char *user;     /**< NULL: $USER or $LOGNAME of process 0, or the number of the user */
    const char *job_id;   /**< NULL: "1" */
    const char *job_name; /**< NULL: not written */
    const char *cluster;  /**< NULL: not written */
    uint64_t files;       /**< FILES; filled in by hpcw_rank2file_close */
    uint64_t size;        /**< SIZE, bytes of all data files; filled in by hpcw_rank2file_close, too */
} hpcw_rank2file_dataset;

/** Options; all must agree on all processes, except what is owned (`count`, `ranks`). */
typedef struct hpcw_rank2file_options {
    size_t size;                    /**< of this struct; hpcw_rank2file_options_init sets it (hpcw.h) */
    hpcw_rank2file_layout layout;   /**< for which versions of SCR; default SCR 1.1 */
    hpcw_rank2file_dataset dataset; /**< description of the checkpoint, for the summary */
    uint32_t count;                 /**< ranks that this process owns */
    const uint32_t *ranks; /**< [count] their numbers, strictly ascending; NULL: consecutive in process order */
    uint32_t leaf_ranks;   /**< most ranks of a leaf and children of an inner node, >= 2; default 8192, as
                                       readers need time with the square of it */
    uint64_t leaf_bytes;   /**< largest stored node, unless one rank or two children alone need more;
                                       default 1 MiB */
    bool replace;          /**< write a dataset of this id and name again: the open takes the old one out of
                                       the index and removes its files; default: HPCW_EEXIST */
    bool current;          /**< becomes CURRENT although the index has a higher id; default: it does not */
    hpcw_durability durability;   /**< of every file; HPCW_SYNC_DIRECTORY: also of every directory that is made
                                       or has data files; default HPCW_SYNC_FILE */
    hpcw_sink_source sink_source; /**< where bytes go; zeroed: files */
} hpcw_rank2file_options;

/** Private: fills in the defaults of a struct of this size. */
HPCW_API void hpcw_rank2file_options_fill(hpcw_rank2file_options *options, size_t size);

/** Fills in the defaults: SCR 1.1, no id, no rank. */
static inline void hpcw_rank2file_options_init(hpcw_rank2file_options *options) {
    hpcw_rank2file_options_fill(options, sizeof *options);
}

/** Checks options without touching a file. @return HPCW_OK; HPCW_EINVAL or HPCW_ERANGE, with the expected and the
 * actual value */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_options_check(const hpcw_rank2file_options *options,
                                                                  hpcw_error *err);

/** The name of the dataset: the given one, or that of the layout. `name` gets a NUL. */
HPCW_API void hpcw_rank2file_dataset_name(const hpcw_rank2file_options *options,
                                          char name[HPCW_RANK2FILE_MAX_DATASET + 1]);

/* ------------------------------------------------------------------------------------------------------------
 *  Writing from an application
 * --------------------------------------------------------------------------------------------------------- */

/** An opaque dataset that is being written. */
typedef struct hpcw_rank2file hpcw_rank2file;
/** An opaque data file that is being written. */
typedef struct hpcw_rank2file_file hpcw_rank2file_file;

/**
 * Begins a dataset: makes its directories. Collective.
 *
 * A dataset is finished as a whole or not at all. If on any process a write or the close of a file fails, a file
 * cannot be created, a file is freed that was neither closed nor discarded, or at the end a file that was closed
 * or added does not exist with its size (one stat(2) for each), then the dataset is doomed: hpcw_rank2file_close
 * fails on all processes with this reason, whether the application took notice or not, and the index stays as it
 * was. hpcw_rank2file_discard gives up one file on purpose.
 *
 * Several programs may write datasets of one prefix at the same time. They lock bytes of P/.scr/hpcw.lock: one for
 * the index while it changes, and one for each dataset until it is closed; the end of a program, and of the
 * children that it forked meanwhile, releases them as well. A child must not use or free the handle. The lock file
 * gets the group of P/.scr, and all who may write there may read and write it, so that they may lock; anybody else
 * gets HPCW_EACCES. On a file system without such locks (Lustre mounted with noflock, for instance) they write
 * without them: there, programs that close at the same moment can lose an entry of the index, which
 * hpcw_rank2file_reindex restores. A program that dies leaves its files and P/.scr/hpcw.ID.unfinished, which lists
 * them, until hpcw_rank2file_prune on the same host. A program locks that file, too, until the close: if somebody
 * removes the lock file, the dataset is still known to be written, and the close takes the lock again. If another
 * program wrote the dataset meanwhile, the close fails with HPCW_EEXIST and leaves it alone.
 *
 * The prefix is looked up once: the program may change its working directory or rename the prefix while the
 * dataset is open. Below the prefix, nothing is created, overwritten or removed through symbolic links; the prefix
 * itself may be behind one. Sinks of the program (`sink_source`) get paths.
 *
 * @param prefix   directory of the job (agree); made if it is missing, but not its parents
 * @param comm     the processes; NULL: this process alone
 * @param out      the handle, to be freed with hpcw_rank2file_free; NULL on failure
 * @return HPCW_OK; HPCW_EINVAL; HPCW_ERANGE; HPCW_EMISMATCH; HPCW_ENOMEM; HPCW_ECOMM; HPCW_EACCES if a symbolic
 *         link is in the way, also as P/D; HPCW_ENOENT if P/D is a file; HPCW_EEXIST if the index lists a dataset
 *         of that id or name (see `replace`), if a complete one is there that it does not list, as when the index
 *         is lost, if the index is one of another layout, or if another program is writing a dataset of that id or
 *         name; HPCW_EFORMAT if the index is damaged; and what the system says
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_open(const char *prefix, hpcw_comm *comm,
                                                         const hpcw_rank2file_options *options,
                                                         hpcw_rank2file **out, hpcw_error *err);

/** Number of ranks of the job. 0 for NULL. */
HPCW_API uint32_t hpcw_rank2file_ranks(const hpcw_rank2file *w);

/** Lowest rank of this process; the number of ranks of the job if it has none. */
HPCW_API uint32_t hpcw_rank2file_first_rank(const hpcw_rank2file *w);

/**
 * Adds a data file that the application has written itself, or will have written before the close: it must then be
 * in P/D/`name`, D being the dataset's name, and have `size` bytes. Any number of files per rank, none is legal.
 * Not collective, any thread.
 *
 * @param rank  a rank of this process
 * @param name  below P/D: relative, '/' between directories, no empty part, "." or "..", no control bytes; with
 *              "D/" in front at most HPCW_RANK2FILE_MAX_NAME bytes (doc/formats/rank2file.md#rank2file-17). SCR
 *              deletes the files it lists when it prunes.
 * @param size  bytes; SCR 1.x compares it with the file
 * @param crc   CRC-32 of the content (zlib's); NULL: unknown, SCR 1.x then does not check it
 * @return HPCW_OK; HPCW_EINVAL; HPCW_ERANGE; HPCW_ESTATE; and these, which doom the dataset: HPCW_ENOMEM, and what
 *         the system says if the file cannot be listed in the marker. After a failure nothing is added.
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_add(hpcw_rank2file *w, uint32_t rank, const char *name,
                                                        uint64_t size, const uint32_t *crc, hpcw_error *err);

/**
 * Begins a data file, and makes the directories above it below P/D. hpcw_rank2file_file_close adds it, under these
 * rules. Not collective, any thread. A failure dooms the dataset, unless the call was wrong (HPCW_EINVAL,
 * HPCW_ESTATE).
 *
 * @param file  out: to be freed with hpcw_rank2file_file_free, before `w`; NULL on failure
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_create(hpcw_rank2file *w, uint32_t rank, const char *name,
                                                           hpcw_rank2file_file **file, hpcw_error *err);

/** The same for a file without a dataset: `path` is its final name. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_file_open(const char *path, hpcw_durability durability,
                                                              hpcw_rank2file_file **file, hpcw_error *err);

/** Appends. One thread per file. The file gathers small writes in a buffer of 256 KiB, made with the first one; a
 * larger write goes out in one call, together with what was gathered. So a failure may come with a later write or
 * the close.
 * @return as hpcw_sink_write_at; HPCW_ENOMEM; HPCW_ESTATE after a failure or the close */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_file_write(hpcw_rank2file_file *file, const void *data,
                                                               size_t size, hpcw_error *err);

/** Writes what was gathered, gives the file its name and adds it to its dataset. @return as hpcw_sink_write_at,
 * hpcw_sink_publish and hpcw_rank2file_add */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_file_close(hpcw_rank2file_file *file, hpcw_error *err);

/** Gives a file up on purpose: it is removed, and its dataset is finished without it. Also after a write or the
 * close of the file failed. Does nothing to one that was closed with success. NULL is allowed. */
HPCW_API void hpcw_rank2file_discard(hpcw_rank2file_file *file);

/** Bytes so far. 0 for NULL. */
HPCW_API uint64_t hpcw_rank2file_file_size(const hpcw_rank2file_file *file);
/** CRC-32 of the bytes so far. 0 for NULL. */
HPCW_API uint32_t hpcw_rank2file_file_crc(const hpcw_rank2file_file *file);

/** Frees, and removes a file that was not closed, which dooms its dataset; see hpcw_rank2file_discard. NULL is
 * allowed. */
HPCW_API void hpcw_rank2file_file_free(hpcw_rank2file_file *file);

/** Reports that this process cannot finish its files: the close then fails on all processes, with this reason.
 * Not collective, any thread. */
HPCW_API void hpcw_rank2file_abandon(hpcw_rank2file *w, const hpcw_error *reason);

/**
 * Writes the leaves (each by the process that owns it: the one whose share of the ranks holds its first one), the
 * inner nodes, the root, the summary, and last the index, in which the dataset becomes the current one unless that
 * has a higher id. Collective; memory: own files, a leaf, and four bytes for each leaf on process 0. After a
 * failure the index is unchanged, so that no reader sees the dataset. With HPCW_SYNC_DIRECTORY there is one
 * exception, as with hpcw_sink_publish: if the last step fails, the fsync of the directory of the index, the
 * dataset is complete and listed, but the older index may come back when the power fails.
 *
 * @return HPCW_OK; HPCW_EINVAL (two files with the same name, on any processes); HPCW_ERANGE; HPCW_ESTATE (also
 *         for a file that is still open); HPCW_ENOENT, HPCW_ETRUNCATED or HPCW_EFORMAT for an added file;
 *         HPCW_EEXIST; otherwise the first failure of any process, also one that it ignored
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_close(hpcw_rank2file *w, hpcw_error *err);

/** The description of the dataset, with all defaults filled in; `files`, `size` and `flushed` after the close. The
 * same on all processes. Valid as long as the handle. */
HPCW_API const hpcw_rank2file_dataset *hpcw_rank2file_dataset_of(const hpcw_rank2file *w);

/** Frees in any state, NULL allowed. Not collective. */
HPCW_API void hpcw_rank2file_free(hpcw_rank2file *w);

/* ------------------------------------------------------------------------------------------------------------
 *  Maps node by node: for programs that can name the files of every rank without asking other processes
 * --------------------------------------------------------------------------------------------------------- */

/** One data file of a rank. */
typedef struct hpcw_rank2file_entry {
    const char *name; /**< below P/D, see hpcw_rank2file_add */
    uint64_t size;    /**< bytes */
    uint32_t crc;     /**< CRC-32 of the content */
    bool has_crc;     /**< whether `crc` is set */
} hpcw_rank2file_entry;

/** In place of a number of files: the rank has no entry at all. Such a map is damaged: for tests of readers. */
#define HPCW_RANK2FILE_NO_ENTRY SIZE_MAX

/** The files of a rank: returns their number and leaves *entry pointing to them until the next call. A pure
 * function: the same answer whenever it is called. Names must be unique in the map, which is not checked. */
typedef size_t hpcw_rank2file_entries(void *context, uint32_t rank, const hpcw_rank2file_entry **entry);

/** The shape of one map: which nodes there are and what they cover. Read-only after creation. */
typedef struct hpcw_rank2file_map hpcw_rank2file_map;

/** One node. */
typedef struct hpcw_rank2file_node {
    char path[HPCW_RANK2FILE_PATH]; /**< of its file, below the prefix */
    uint32_t level;                 /**< 0: a leaf */
    uint32_t first;                 /**< the first rank below it */
    uint32_t end;                   /**< one past the last rank below it */
    uint64_t size;                  /**< of the file, bytes */
} hpcw_rank2file_node;

/**
 * Finds the shape. Time O(ranks), memory O(leaves).
 *
 * @param options  `count` and `ranks` are not used
 * @param which    0 .. hpcw_rank2file_layout_maps - 1; in the shared layout 0 is the one of SCR 1.1
 * @param ranks    of the job, >= 1
 * @return HPCW_OK; HPCW_EINVAL or HPCW_ERANGE (also for a name that is not legal); HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_map_new(const hpcw_rank2file_options *options,
                                                            uint32_t which, uint32_t ranks,
                                                            hpcw_rank2file_entries *entries, void *context,
                                                            hpcw_rank2file_map **out, hpcw_error *err);

/** Frees a map, NULL allowed. Written nodes do not change. */
HPCW_API void hpcw_rank2file_map_free(hpcw_rank2file_map *map);

/** Number of nodes: leaves in ascending order, then level by level, the root last. */
HPCW_API uint32_t hpcw_rank2file_map_nodes(const hpcw_rank2file_map *map);

/** Describes node `index`. */
HPCW_API void hpcw_rank2file_map_node(const hpcw_rank2file_map *map, uint32_t index, hpcw_rank2file_node *node);

/**
 * Writes node `index` to a sink, at offset 0. Different nodes may be written on different threads.
 *
 * @param entries  as in hpcw_rank2file_map_new; with its own context for each thread
 * @return HPCW_OK; HPCW_EINVAL; HPCW_ESTATE if the files of a rank have changed since; HPCW_ENOMEM; and as
 *         hpcw_sink_write_at
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_map_write(const hpcw_rank2file_map *map, uint32_t index,
                                                              hpcw_rank2file_entries *entries, void *context,
                                                              hpcw_sink *sink, hpcw_error *err);

/** The summary as a tree, from options->dataset with `files` and `size` filled in; to be freed by the caller. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_summary(const hpcw_rank2file_options *options,
                                                            hpcw_kvtree **out, hpcw_error *err);

/** Its path below the prefix, for map `which`. */
HPCW_API void hpcw_rank2file_summary_path(const hpcw_rank2file_options *options, uint32_t which,
                                          char path[HPCW_RANK2FILE_PATH]);

/**
 * Lists the dataset in an index; as the current one, if its id is the highest or options->current is set. `index`
 * is an empty tree or one of the same layout.
 *
 * @return HPCW_OK; HPCW_EEXIST if it lists the id or name, or is of another layout; HPCW_EINVAL; HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_index_add(hpcw_kvtree *index,
                                                              const hpcw_rank2file_options *options,
                                                              hpcw_error *err);

/* ------------------------------------------------------------------------------------------------------------
 *  The datasets of a prefix
 * --------------------------------------------------------------------------------------------------------- */

/** An opaque list of datasets. */
typedef struct hpcw_rank2file_list hpcw_rank2file_list;

/** What the index says of a dataset (doc/formats/rank2file.md, "Index"). What it does not say is 0 or NULL. */
typedef struct hpcw_rank2file_listed {
    const char *name;    /**< for hpcw_rank2file_restart_open */
    uint64_t id;         /**< 0: the index has none that is legal */
    bool complete;       /**< COMPLETE is 1 */
    bool current;        /**< CURRENT names it */
    const char *failed;  /**< FAILED: when a restart found it damaged; NULL: it did not fail */
    const char *flushed; /**< FLUSHED */
    uint64_t created_us; /**< CREATED, microseconds since 1970-01-01 UTC */
    uint64_t files;      /**< FILES */
    uint64_t size;       /**< SIZE, bytes of all data files */
} hpcw_rank2file_listed;

/**
 * Reads the index of a prefix; no dataset is opened. Collective; process 0 reads and broadcasts.
 *
 * @param out  to be freed with hpcw_rank2file_list_free; NULL on failure
 * @return HPCW_OK; HPCW_EINVAL; HPCW_ENOENT without an index; HPCW_EFORMAT, HPCW_ETRUNCATED or HPCW_ECHECKSUM for a
 *         damaged one; HPCW_ENOMEM; HPCW_ECOMM; and what the system says
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_list_open(const char *prefix, hpcw_comm *comm,
                                                              hpcw_rank2file_list **out, hpcw_error *err);

/** Number of datasets. 0 for NULL. */
HPCW_API uint32_t hpcw_rank2file_list_count(const hpcw_rank2file_list *list);

/** Dataset `index`, in the order in which a restart tries them: the current one, then from the highest id to the
 * lowest. NULL beyond the last. Valid as long as the list. */
HPCW_API const hpcw_rank2file_listed *hpcw_rank2file_list_get(const hpcw_rank2file_list *list, uint32_t index);

/** The layout of the index, and so of all datasets. */
HPCW_API hpcw_rank2file_layout hpcw_rank2file_list_layout(const hpcw_rank2file_list *list);

/** The name that CURRENT has, perhaps of no dataset in the list; NULL: the index has no CURRENT. Valid as long as
 * the list. */
HPCW_API const char *hpcw_rank2file_list_current(const hpcw_rank2file_list *list);

/** Frees, NULL allowed. Not collective. */
HPCW_API void hpcw_rank2file_list_free(hpcw_rank2file_list *list);

/** Counts what a change of datasets did. */
typedef struct hpcw_rank2file_tally {
    uint32_t added;   /**< datasets that the index got */
    uint32_t removed; /**< datasets that it lost, or that were removed unfinished */
    uint32_t skipped; /**< datasets that were left as they were, because something failed */
    uint64_t left;    /**< files in the directories of removed datasets that are not the datasets', and stay */
    hpcw_error why;   /**< the reason of the first one that was skipped */
} hpcw_rank2file_tally;

/** Says what may be removed with a dataset. */
typedef struct hpcw_rank2file_removal {
    size_t size; /**< of this struct; hpcw_rank2file_removal_init sets it (hpcw.h) */
    /** Also removes datasets of which nothing lists the files: all that is in P/D goes. Those are datasets without
     * a map that can be read, and unfinished ones whose marker is of an earlier version of this library. If a file
     * system is mounted in there, nothing of the dataset goes: HPCW_EACCES. Default: they stay. Agree on all
     * processes. */
    bool all_files;
    /** Called on process 0 with the path of every file that is going to be removed, before anything is removed.
     * NULL, the default: not called. The text is valid during the call */
    void (*told)(void *context, const char *path);
    void *context; /**< passed to `told` */
} hpcw_rank2file_removal;

/** Private: fills in the defaults of a struct of this size. */
HPCW_API void hpcw_rank2file_removal_fill(hpcw_rank2file_removal *removal, size_t size);

/** Fills in the defaults: only files that something lists. */
static inline void hpcw_rank2file_removal_init(hpcw_rank2file_removal *removal) {
    hpcw_rank2file_removal_fill(removal, sizeof *removal);
}

/**
 * Removes a dataset, first from the index, where the newest of the others that did not fail becomes the current
 * one. Then these files go: its summaries and its map, the data files that the map lists, and temporary files of
 * these that dead writers left. Directories that are empty then go, too. Nothing else does: tally->left counts
 * what stays in the directories. Without a map that can be read, nothing changes and the call fails, unless
 * how->all_files is set. Collective; process 0 does the work. Other writers are kept out by the locks that
 * hpcw_rank2file_open describes.
 *
 * No symbolic link below the prefix is followed: if a file of the dataset is behind one, nothing changes and the
 * call fails with HPCW_EACCES. If the program dies, the next call that changes the prefix finishes the removal, or
 * undoes it if the index still lists the dataset (doc/formats/rank2file.md, "Several writers").
 *
 * Memory: process 0 loads the map of one dataset at a time, of all its ranks: about 250 bytes for each file with a
 * name of 30 bytes, so 250 MB for a million files. So do hpcw_rank2file_prune, an open with `replace`, and
 * hpcw_rank2file_reindex for datasets that the index does not list.
 *
 * @param how    what may be removed; NULL: the defaults
 * @param tally  out: what was done; may be NULL
 * @return HPCW_OK; HPCW_EINVAL; HPCW_EMISMATCH; HPCW_ENOENT if it is not in the index; HPCW_EEXIST if somebody is
 *         writing it; HPCW_EACCES; the failure of an open for restart if its map cannot be read; HPCW_ENOMEM;
 *         HPCW_ECOMM; and what the system says
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_drop(const char *prefix, hpcw_comm *comm,
                                                         const char *dataset, const hpcw_rank2file_removal *how,
                                                         hpcw_rank2file_tally *tally, hpcw_error *err);

/** Marks a dataset as FAILED in the index, as SCR does after a restart that fails: a restart without a name leaves
 * it out, and it is not the current one. Collective. Results as hpcw_rank2file_drop. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_mark_failed(const char *prefix, hpcw_comm *comm,
                                                                const char *dataset, hpcw_error *err);

/**
 * Makes a dataset the current one, so that a restart tries it first, and clears its FAILED mark. It must pass
 * hpcw_rank2file_check with all its files; otherwise nothing changes. Collective; process 0 does the work.
 *
 * @param dataset  name of a dataset of the index, also of one that failed
 * @return as hpcw_rank2file_drop, and the failure of the check
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_make_current(const char *prefix, hpcw_comm *comm,
                                                                 const char *dataset, hpcw_error *err);

/**
 * Drops the datasets that are older than the newest `keep` sound ones: those that are complete, did not fail and
 * pass hpcw_rank2file_check. Their content is read before anything is removed, so that damaged datasets do not
 * push out sound ones. With fewer than `keep` sound ones, none is dropped. The current one stays. Then it removes
 * what writers left that died: the files that the markers of unfinished datasets list, and temporary files. A
 * writer is dead if it does not hold its lock. Some file systems keep locks on one host (Lustre with localflock,
 * NFS with nolock), so only what a writer of the host of process 0 left is removed, since that was started;
 * without locks, nothing of this. Only markers of the effective user are believed. Collective; process 0 does the
 * work.
 *
 * @param keep   0: drops no dataset
 * @param how    what may be removed; NULL: the defaults
 * @param tally  out: what was done; may be NULL. A dataset that cannot be removed is skipped.
 * @return as hpcw_rank2file_drop
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_prune(const char *prefix, hpcw_comm *comm, uint32_t keep,
                                                          const hpcw_rank2file_removal *how,
                                                          hpcw_rank2file_tally *tally, hpcw_error *err);

/**
 * Builds the index anew from the summaries below the prefix, of any version of SCR. A dataset that was in the
 * index keeps its record, with its FAILED mark, also if it is damaged, cannot be read, or is being written: then
 * it is skipped. One that was not must pass the check of a restart. Entries without a summary go; those that
 * cannot be understood stay, and are skipped. CURRENT stays, unless it is gone, or a higher id comes back: then it
 * is the highest. What somebody began to drop does not come back. Collective; process 0 does the work.
 *
 * @param tally  out: what was done; may be NULL
 * @return HPCW_OK; HPCW_ENOENT if there is no summary; HPCW_EFORMAT if they are of several versions of SCR and no
 *         index tells which one counts; and as hpcw_rank2file_drop
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_reindex(const char *prefix, hpcw_comm *comm,
                                                            hpcw_rank2file_tally *tally, hpcw_error *err);

/* ------------------------------------------------------------------------------------------------------------
 *  Restart
 * --------------------------------------------------------------------------------------------------------- */

/** An opaque dataset that is being read. */
typedef struct hpcw_rank2file_restart hpcw_rank2file_restart;

/**
 * Opens a dataset: index, summary, and the inner nodes of its map. Collective; process 0 reads and broadcasts.
 * Strict: refuses whatever breaks a rule of the format, with file, offset, field, expected and actual value.
 *
 * Without a name it takes the first dataset of hpcw_rank2file_list_open that is complete, did not fail, and passes
 * a check: the whole map is sound, and all data files exist and have their sizes (one open per file, shared by all
 * processes; their content is not read, see hpcw_rank2file_restart_check). hpcw_rank2file_restart_skipped names
 * those that it passed over. A FIFO, a device or a directory in the place of a file is damage. A file that is
 * there and cannot be read, for want of rights, descriptors or memory or by an error of the disk, is none: the
 * open fails, and takes no older dataset instead. After a damage that only the content shows, mark the dataset
 * with hpcw_rank2file_mark_failed and open again.
 *
 * @param prefix   directory of the job (agree)
 * @param dataset  name of a dataset (agree); NULL: see above
 * @return HPCW_OK; HPCW_EINVAL; HPCW_EMISMATCH; HPCW_ENOENT; HPCW_EFORMAT, HPCW_ETRUNCATED or HPCW_ECHECKSUM for
 *         damage; HPCW_ENOMEM; HPCW_ECOMM; and what the system says. If no dataset passes, the code is that of the
 *         first, and the message has all reasons that fit
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_restart_open(const char *prefix, hpcw_comm *comm,
                                                                 const char *dataset,
                                                                 hpcw_rank2file_restart **out, hpcw_error *err);

/** A dataset that was not taken. */
typedef struct hpcw_rank2file_skipped {
    const char *name; /**< valid as long as the handle */
    hpcw_error why;   /**< the same on all processes */
} hpcw_rank2file_skipped;

/** Number of datasets that an open without a name passed over. 0 for NULL. */
HPCW_API uint32_t hpcw_rank2file_restart_skips(const hpcw_rank2file_restart *r);

/** One of them, in the order in which they were tried; NULL beyond the last. */
HPCW_API const hpcw_rank2file_skipped *hpcw_rank2file_restart_skipped(const hpcw_rank2file_restart *r,
                                                                      uint32_t index);

/**
 * The same from the root of a map alone, without summary and index: the description of the dataset is then empty.
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_restart_open_root(const char *root, hpcw_comm *comm,
                                                                      hpcw_rank2file_restart **out,
                                                                      hpcw_error *err);

/** Number of ranks that wrote it. 0 for NULL. */
HPCW_API uint32_t hpcw_rank2file_restart_ranks(const hpcw_rank2file_restart *r);

/** The description from the summary; texts are valid as long as the handle. */
HPCW_API const hpcw_rank2file_dataset *hpcw_rank2file_restart_dataset(const hpcw_rank2file_restart *r);

/** Where its map is. */
HPCW_API hpcw_rank2file_layout hpcw_rank2file_restart_layout(const hpcw_rank2file_restart *r);

/** Numbers of leaves and of inner nodes, and the level of the root. */
HPCW_API void hpcw_rank2file_restart_shape(const hpcw_rank2file_restart *r, uint32_t *leaves, uint32_t *inner,
                                           uint32_t *levels);

/**
 * Finds the files of ranks. Collective: one process reads each leaf and sends its entries to the processes that
 * need them, so that any number of processes can restart any number of ranks. May be called again.
 *
 * To restart on another number of processes, load the share of each process with NULL, and read the files of all
 * ranks that it gets: examples/restart.c. SCR itself needs as many processes as the dataset has ranks.
 *
 * @param count  number of ranks to find
 * @param ranks  [count] strictly ascending; several processes may name the same. NULL: this process's share, a
 *               range of ranks for each, in order; `count` is then not used
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_restart_load(hpcw_rank2file_restart *r, uint32_t count,
                                                                 const uint32_t *ranks, hpcw_error *err);

/** One data file of the loaded ranks. */
typedef struct hpcw_rank2file_found {
    uint32_t rank;    /**< the rank of the file */
    const char *path; /**< to open it with; valid until the next call on the handle */
    const char *name; /**< below the prefix, or below the dataset's directory in the layout of SCR 1.1 */
    uint64_t size;    /**< as the map says */
    uint32_t crc;     /**< CRC-32 of the content */
    bool has_size;    /**< whether the map has a size; SCR 3 writes none */
    bool has_crc;     /**< whether it has a CRC-32; SCR 3 writes none */
} hpcw_rank2file_found;

/** Number of files of the loaded ranks, in order of ranks. */
HPCW_API uint64_t hpcw_rank2file_restart_files(const hpcw_rank2file_restart *r);

/** Describes file `index`; ascending order is quickest. @return HPCW_OK, HPCW_EINVAL or HPCW_ENOMEM */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_restart_file(hpcw_rank2file_restart *r, uint64_t index,
                                                                 hpcw_rank2file_found *found, hpcw_error *err);

/** Arrays for the columns of files; each may be NULL. Rows are in the order of hpcw_rank2file_restart_file. */
typedef struct hpcw_rank2file_files {
    uint32_t *rank; /**< the rank of the file */
    const char **
        name; /**< below hpcw_rank2file_restart_base; valid until ranks are loaded again and as long as the handle */
    uint64_t *size; /**< bytes; 0: the map has none */
    uint32_t *crc;  /**< CRC-32 of the content; 0 if the map has none */
    bool *has_size; /**< whether the map has a size */
    bool *has_crc;  /**< whether it has a CRC-32 */
} hpcw_rank2file_files;

/**
 * Fills columns with files `first` to `first + count` - 1 of the loaded ranks.
 *
 * @param columns  arrays of `count` elements each
 * @return HPCW_OK or HPCW_EINVAL (a pointer is NULL, files that were not loaded)
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_restart_fill(const hpcw_rank2file_restart *r,
                                                                 uint64_t first, size_t count,
                                                                 const hpcw_rank2file_files *columns,
                                                                 hpcw_error *err);

/** The directory below which the names of files are. Valid as long as the handle. NULL for NULL. */
HPCW_API const char *hpcw_rank2file_restart_base(const hpcw_rank2file_restart *r);

/**
 * Checks that the files of the loaded ranks exist and agree with the map; if all processes loaded their shares
 * (NULL), also that there are as many of them, with together as many bytes, as the summary says: the maps of SCR 3
 * have no sizes. Collective.
 *
 * @param content  also read them and compare the CRC-32
 * @return HPCW_OK; HPCW_ENOENT; HPCW_ETRUNCATED or HPCW_EFORMAT for another size; HPCW_ECHECKSUM; and what the
 *         system says
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_restart_check(hpcw_rank2file_restart *r, bool content,
                                                                  hpcw_error *err);

/**
 * Checks that a dataset is sound: the summaries, the whole map, and all data files with their sizes and, where the
 * map has one, their CRC-32. In the shared layout, both maps and both summaries must say the same. The index must
 * have the numbers and the time of the summary; a restart does not need them, so that hpcw_rank2file_prune and
 * hpcw_rank2file_make_current, which judge by this, leave them out. Not collective: one process reads everything.
 *
 * @param dataset  name of a dataset of the index, also of one that failed
 * @param files    false: the data files are not looked at, as when they are elsewhere
 * @return HPCW_OK; HPCW_EINVAL; HPCW_ENOENT; HPCW_EFORMAT, HPCW_ETRUNCATED or HPCW_ECHECKSUM for damage;
 *         HPCW_ENOMEM; and what the system says
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_check(const char *prefix, const char *dataset, bool files,
                                                          hpcw_error *err);

/** Frees in any state, NULL allowed. Not collective. */
HPCW_API void hpcw_rank2file_restart_free(hpcw_rank2file_restart *r);

#ifdef __cplusplus
}
#endif

#endif
