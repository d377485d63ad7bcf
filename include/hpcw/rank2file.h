/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * SCR checkpoints: data files of many ranks, and the leveled rank2file map, from which a restarting job learns the
 * files of each rank. SCR 1.1, 1.2 and 3 find these datasets, check them and restart from them; KVTree 1.5 reads
 * every tree.
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
 * small files. A *leaf* lists the files of consecutive ranks, an inner node lists the leaves or nodes below it.
 * The root is always an inner node. The bytes of a map depend on the options and the files alone, not on the
 * distribution of ranks over processes. The format to the byte: doc/formats/rank2file.md.
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
/** Longest name of a dataset that is written, without NUL. Names that SCR 1.2 and later wrote have up to 1023 bytes
 * of any value. Such datasets are read, checked, dropped and indexed as well. */
#define HPCW_RANK2FILE_MAX_DATASET 200u
/** Size of the longest path of a metadata file below the prefix, with NUL. */
#define HPCW_RANK2FILE_PATH 512
/** Most ranks: SCR keeps them in an int. */
#define HPCW_RANK2FILE_MAX_RANKS 0x7fffffffu
/** Path of the index below the prefix. */
#define HPCW_RANK2FILE_INDEX ".scr/index.scr"

/* ------------------------------------------------------------------------------------------------------------
 *  Options
 * --------------------------------------------------------------------------------------------------------- */

/** Directories and names of a dataset (doc/formats/rank2file.md, "Layouts"). P is the prefix, D the dataset's name.
 * In all layouts the data files are in P/D. */
typedef enum hpcw_rank2file_layout {
    HPCW_RANK2FILE_SCR_1_1 = 0, /**< "scr-1.1": metadata in P/D/.scr; sizes and CRCs are checked on restart */
    HPCW_RANK2FILE_SCR_1_2 = 1, /**< "scr-1.2": metadata in P/.scr/scr.dataset.ID (to SCR 2.0) */
    HPCW_RANK2FILE_SCR_3 = 2,   /**< "scr-3": the same without ".scr" at the end of names */
    /** "shared": SCR 1.1 and 3 both restart from one directory, with two maps and one index */
    HPCW_RANK2FILE_SHARED = 3
} hpcw_rank2file_layout;

/** Returns the name of a layout, as above; NULL for another number. */
HPCW_API const char *hpcw_rank2file_layout_name(hpcw_rank2file_layout layout);

/** Gets the layout of a name. @return HPCW_OK, or HPCW_EINVAL with the known names */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_layout_of(const char *name, hpcw_rank2file_layout *layout,
                                                              hpcw_error *err);

/** Returns the number of maps of a layout: 2 for the shared one, otherwise 1. */
HPCW_API uint32_t hpcw_rank2file_layout_maps(hpcw_rank2file_layout layout);

/** The description of a checkpoint (map DSET in summary.scr; doc/formats/rank2file.md, "Summary"). The defaults
 * below are those of hpcw_rank2file_open. hpcw_rank2file_summary and hpcw_rank2file_index_add use neither clock
 * nor user: there `flushed` is created_us in UTC, and `user` is "user". */
typedef struct hpcw_rank2file_dataset {
    uint64_t id;         /**< 1 .. 2^31 - 1 */
    const char *name;    /**< NULL: "ckpt.ID" with SCR_3 alone, otherwise "scr.dataset.ID" (SCR's defaults) */
    uint64_t checkpoint; /**< field CKPT; 0: the id */
    uint64_t created_us; /**< microseconds since 1970-01-01 UTC; 0: the time of the open */
    /** field FLUSHED, "YYYY-MM-DDThh:mm:ss"; NULL: the time of the close, local as SCR writes it */
    const char *flushed;
    const char *user;     /**< NULL: $USER or $LOGNAME of process 0, or the number of the user */
    const char *job_id;   /**< NULL: "1" */
    const char *job_name; /**< NULL: not written */
    const char *cluster;  /**< field FILES; filled in by hpcw_rank2file_close */
    uint64_t files;       /**< field SIZE, bytes of all data files; filled in by hpcw_rank2file_close */
    uint64_t size;        /**< SIZE, bytes of all data files; filled in by hpcw_rank2file_close, too */
} hpcw_rank2file_dataset;

/** Options. All must agree on all processes, except those for the own ranks (`count`, `ranks`). */
typedef struct hpcw_rank2file_options {
    size_t size;                    /**< of this struct; hpcw_rank2file_options_init sets it (hpcw.h) */
    hpcw_rank2file_layout layout;   /**< versions of SCR that can read it; default SCR 1.1 */
    hpcw_rank2file_dataset dataset; /**< description of the checkpoint, for the summary */
    uint32_t count;                 /**< ranks that this process owns */
    const uint32_t *ranks; /**< [count] their numbers, strictly ascending; NULL: consecutive in process order */
    /** most ranks of a leaf, and most children of an inner node, >= 2; default 8192. The time of readers grows
     * with its square */
    uint32_t leaf_ranks;
    /** largest stored node, bytes; default 1 MiB. A node with a single rank or two children may be larger */
    uint64_t leaf_bytes;
    /** true: replaces a dataset of this id and name. The open takes the old one out of the index and removes
     * its files. false (default): HPCW_EEXIST */
    bool replace;
    bool current; /**< true: becomes CURRENT even if the index has a higher id; default false */
    /** durability of every file; HPCW_SYNC_DIRECTORY: also of every directory that is made or has data files;
     * default HPCW_SYNC_FILE */
    hpcw_durability durability;
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

/** Gets the name of the dataset: the given one, or the layout's default. `name` ends in NUL. */
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
 * A dataset is finished as a whole or not at all. These failures on any process doom it: a write or the close of a
 * file fails; a file cannot be created; a file is freed that was neither closed nor discarded; or at the end, a
 * file that was closed or added does not exist with its size (one stat(2) for each). hpcw_rank2file_close then
 * fails on all processes with this reason, even if the application ignored the failure, and the index stays as it
 * was. hpcw_rank2file_discard gives up one file on purpose.
 *
 * Several programs may write datasets of one prefix at the same time. They lock bytes of P/.scr/hpcw.lock: one for
 * the index while it changes, and one for each dataset until it is closed. A lock ends at the latest with the
 * program and the children that it forked meanwhile. A child must not use or free the handle. The lock file gets
 * the group of P/.scr. Users who may write in that directory may read and write the lock file, and so lock it;
 * others get HPCW_EACCES. On a file system without such locks (Lustre mounted with noflock, for instance),
 * programs write without them. There, programs that close at the same moment can lose an entry of the index, which
 * hpcw_rank2file_reindex restores. A program that dies leaves its files, and P/.scr/hpcw.ID.unfinished, which
 * lists them, until hpcw_rank2file_prune runs on the same host. A program also locks that file until the close. So
 * if somebody removes the lock file, others still see that the dataset is being written, and the close takes the
 * lock again. If another program wrote the dataset meanwhile, the close fails with HPCW_EEXIST and leaves that
 * dataset alone.
 *
 * The prefix is looked up once: the program may change its working directory or rename the prefix while the
 * dataset is open. Below the prefix, nothing is created, overwritten or removed through symbolic links; the prefix
 * itself may be behind one. Sinks of the program (`sink_source`) receive paths.
 *
 * @param prefix   directory of the job (agree); made if it is missing, but not its parents
 * @param comm     the processes; NULL: this process alone
 * @param out      the handle, to be freed with hpcw_rank2file_free; NULL on failure
 * @return HPCW_OK; HPCW_EINVAL; HPCW_ERANGE; HPCW_EMISMATCH; HPCW_ENOMEM; HPCW_ECOMM; HPCW_EACCES if a symbolic
 *         link is in the way, also as P/D; HPCW_ENOENT if P/D is a file; HPCW_EEXIST if the index lists a dataset
 *         of that id or name (see `replace`), if a complete dataset exists that it does not list (the index was
 *         lost), if the index has another layout, or if another program is writing a dataset of that id or name;
 *         HPCW_EFORMAT if the index is damaged; and errors of the system
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_open(const char *prefix, hpcw_comm *comm,
                                                         const hpcw_rank2file_options *options,
                                                         hpcw_rank2file **out, hpcw_error *err);

/** Number of ranks of the job. 0 for NULL. */
HPCW_API uint32_t hpcw_rank2file_ranks(const hpcw_rank2file *w);

/** Lowest rank of this process. If it has none, the number of ranks of the job. */
HPCW_API uint32_t hpcw_rank2file_first_rank(const hpcw_rank2file *w);

/**
 * Adds a data file that the application writes itself. At the close it must exist as P/D/`name`, D being the
 * dataset's name, and have `size` bytes. A rank may have any number of files, also none. Not collective; callable
 * on any thread.
 *
 * @param rank  a rank of this process
 * @param name  below P/D: relative, '/' between directories, no empty part, "." or "..", no control bytes; with
 *              "D/" in front at most HPCW_RANK2FILE_MAX_NAME bytes (doc/formats/rank2file.md#rank2file-17). SCR
 *              deletes the files of a map when it prunes.
 * @param size  bytes; SCR 1.x compares it with the file
 * @param crc   CRC-32 of the content (zlib's); NULL: unknown, SCR 1.x then does not check it
 * @return HPCW_OK; HPCW_EINVAL; HPCW_ERANGE; HPCW_ESTATE. These doom the dataset: HPCW_ENOMEM, and errors of the
 *         system if the file cannot be listed in the marker. After a failure nothing is added.
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_add(hpcw_rank2file *w, uint32_t rank, const char *name,
                                                        uint64_t size, const uint32_t *crc, hpcw_error *err);

/**
 * Begins a data file, and makes its directories below P/D. hpcw_rank2file_file_close adds it to the dataset, under
 * the rules of hpcw_rank2file_add. Not collective; callable on any thread. A failure dooms the dataset, unless the
 * call was wrong (HPCW_EINVAL, HPCW_ESTATE).
 *
 * @param file  out: to be freed with hpcw_rank2file_file_free, before `w`; NULL on failure
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_create(hpcw_rank2file *w, uint32_t rank, const char *name,
                                                           hpcw_rank2file_file **file, hpcw_error *err);

/** Begins a file without a dataset. `path` is its final name. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_file_open(const char *path, hpcw_durability durability,
                                                              hpcw_rank2file_file **file, hpcw_error *err);

/** Appends to a data file. One thread at a time per file. Small writes gather in a buffer of 256 KiB, which the
 * first of them allocates. A larger write goes to the file in one call, together with the buffered bytes. So a
 * failure may appear in a later write or in the close.
 * @return as hpcw_sink_write_at; HPCW_ENOMEM; HPCW_ESTATE after a failure or the close */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_file_write(hpcw_rank2file_file *file, const void *data,
                                                               size_t size, hpcw_error *err);

/** Writes the buffered bytes, gives the file its name and adds it to its dataset. @return as hpcw_sink_write_at,
 * hpcw_sink_publish and hpcw_rank2file_add */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_file_close(hpcw_rank2file_file *file, hpcw_error *err);

/** Gives a file up on purpose: it is removed, and its dataset is finished without it. Also allowed after a failed
 * write or close of the file. Does nothing to a file that was closed with success. NULL is allowed. */
HPCW_API void hpcw_rank2file_discard(hpcw_rank2file_file *file);

/** Bytes so far. 0 for NULL. */
HPCW_API uint64_t hpcw_rank2file_file_size(const hpcw_rank2file_file *file);
/** CRC-32 of the bytes so far. 0 for NULL. */
HPCW_API uint32_t hpcw_rank2file_file_crc(const hpcw_rank2file_file *file);

/** Frees a file. If it was not closed, it is removed and its dataset is doomed; see hpcw_rank2file_discard. NULL is
 * allowed. */
HPCW_API void hpcw_rank2file_file_free(hpcw_rank2file_file *file);

/** Reports that this process cannot finish its files. The close then fails on all processes with this reason. Not
 * collective; callable on any thread. */
HPCW_API void hpcw_rank2file_abandon(hpcw_rank2file *w, const hpcw_error *reason);

/**
 * Finishes a dataset. Writes the leaves, the inner nodes, the root, the summary, and last the index. A leaf is
 * written by the process whose share of the ranks holds the leaf's first rank. In the index the dataset becomes
 * the current one, unless the current one has a higher id. Collective. Memory: the own files, a leaf, and four
 * bytes for each leaf on process 0. After a failure the index is unchanged, so that no reader sees the dataset.
 * HPCW_SYNC_DIRECTORY has one exception, as in hpcw_sink_publish: the last step is the fsync of the index's
 * directory. If it fails, the dataset is complete and listed, but the older index may come back after a power
 * failure.
 *
 * @return HPCW_OK; HPCW_EINVAL (two files with the same name, on any processes); HPCW_ERANGE; HPCW_ESTATE (also
 *         for a file that is still open); HPCW_ENOENT, HPCW_ETRUNCATED or HPCW_EFORMAT for an added file;
 *         HPCW_EEXIST; otherwise the first failure of any process, also one that it ignored
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_close(hpcw_rank2file *w, hpcw_error *err);

/** The description of the dataset, with all defaults filled in. `files`, `size` and `flushed` are valid after the
 * close. The same on all processes. Valid as long as the handle. */
HPCW_API const hpcw_rank2file_dataset *hpcw_rank2file_dataset_of(const hpcw_rank2file *w);

/** Frees in any state, NULL allowed. Not collective. */
HPCW_API void hpcw_rank2file_free(hpcw_rank2file *w);

/* ------------------------------------------------------------------------------------------------------------
 *  Maps node by node: for programs that can name the files of every rank without asking other processes
 * --------------------------------------------------------------------------------------------------------- */

/** One data file of a rank. */
typedef struct hpcw_rank2file_entry {
    const char *name; /**< path below P/D, see hpcw_rank2file_add */
    uint64_t size;    /**< bytes */
    uint32_t crc;     /**< CRC-32 of the content */
    bool has_crc;     /**< whether `crc` is set */
} hpcw_rank2file_entry;

/** Number of files of a rank that has no entry at all. Such a map is damaged; it serves tests of readers. */
#define HPCW_RANK2FILE_NO_ENTRY SIZE_MAX

/** Returns the number of files of a rank, and sets *entry to them; it is valid until the next call. A pure
 * function: each call for a rank gives the same result. Names must be unique in the map, which is not checked. */
typedef size_t hpcw_rank2file_entries(void *context, uint32_t rank, const hpcw_rank2file_entry **entry);

/** The shape of a map: its nodes and the ranks that each covers. Read-only after creation. */
typedef struct hpcw_rank2file_map hpcw_rank2file_map;

/** One node. */
typedef struct hpcw_rank2file_node {
    char path[HPCW_RANK2FILE_PATH]; /**< path of the node's file below the prefix */
    uint32_t level;                 /**< 0: a leaf */
    uint32_t first;                 /**< the first rank below it */
    uint32_t end;                   /**< one past the last rank below it */
    uint64_t size;                  /**< size of the file, bytes */
} hpcw_rank2file_node;

/**
 * Computes the shape of a map. Time O(ranks), memory O(leaves).
 *
 * @param options  `count` and `ranks` are not used
 * @param which    0 .. hpcw_rank2file_layout_maps - 1; in the shared layout 0 is the map for SCR 1.1
 * @param ranks    number of ranks of the job, >= 1
 * @return HPCW_OK; HPCW_EINVAL or HPCW_ERANGE (also for a name that is not legal); HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_map_new(const hpcw_rank2file_options *options,
                                                            uint32_t which, uint32_t ranks,
                                                            hpcw_rank2file_entries *entries, void *context,
                                                            hpcw_rank2file_map **out, hpcw_error *err);

/** Frees a map, NULL allowed. Written nodes do not change. */
HPCW_API void hpcw_rank2file_map_free(hpcw_rank2file_map *map);

/** Number of nodes. Leaves come first, in ascending order, then the other nodes level by level, and the root
 * last. */
HPCW_API uint32_t hpcw_rank2file_map_nodes(const hpcw_rank2file_map *map);

/** Describes node `index`. */
HPCW_API void hpcw_rank2file_map_node(const hpcw_rank2file_map *map, uint32_t index, hpcw_rank2file_node *node);

/**
 * Writes node `index` to a sink, at offset 0. Different nodes may be written on different threads.
 *
 * @param entries  as in hpcw_rank2file_map_new; each thread needs a context of its own
 * @return HPCW_OK; HPCW_EINVAL; HPCW_ESTATE if the files of a rank changed since hpcw_rank2file_map_new;
 *         HPCW_ENOMEM; and as hpcw_sink_write_at
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_map_write(const hpcw_rank2file_map *map, uint32_t index,
                                                              hpcw_rank2file_entries *entries, void *context,
                                                              hpcw_sink *sink, hpcw_error *err);

/** Makes the summary as a tree, from options->dataset with `files` and `size` filled in. The caller frees it. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_summary(const hpcw_rank2file_options *options,
                                                            hpcw_kvtree **out, hpcw_error *err);

/** Gets the path of the summary below the prefix, for map `which`. */
HPCW_API void hpcw_rank2file_summary_path(const hpcw_rank2file_options *options, uint32_t which,
                                          char path[HPCW_RANK2FILE_PATH]);

/**
 * Adds the dataset to an index. It becomes the current one if its id is the highest or options->current is set.
 * `index` is an empty tree, or an index of the same layout.
 *
 * @return HPCW_OK; HPCW_EEXIST if the index lists the id or name, or has another layout; HPCW_EINVAL; HPCW_ENOMEM
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_index_add(hpcw_kvtree *index,
                                                              const hpcw_rank2file_options *options,
                                                              hpcw_error *err);

/* ------------------------------------------------------------------------------------------------------------
 *  The datasets of a prefix
 * --------------------------------------------------------------------------------------------------------- */

/** An opaque list of datasets. */
typedef struct hpcw_rank2file_list hpcw_rank2file_list;

/** A dataset's entry in the index (doc/formats/rank2file.md, "Index"). A member that the index does not have is 0
 * or NULL. */
typedef struct hpcw_rank2file_listed {
    const char *name;    /**< for hpcw_rank2file_restart_open */
    uint64_t id;         /**< 0: the index has no legal id */
    bool complete;       /**< COMPLETE is 1 */
    bool current;        /**< CURRENT names it */
    const char *failed;  /**< FAILED: time at which a restart found it damaged; NULL: it did not fail */
    const char *flushed; /**< FLUSHED */
    uint64_t created_us; /**< CREATED, microseconds since 1970-01-01 UTC */
    uint64_t files;      /**< FILES */
    uint64_t size;       /**< SIZE, bytes of all data files */
} hpcw_rank2file_listed;

/**
 * Reads the index of a prefix; no dataset is opened. Collective; process 0 reads and broadcasts.
 *
 * @param out  to be freed with hpcw_rank2file_list_free; NULL on failure
 * @return HPCW_OK; HPCW_EINVAL; HPCW_ENOENT without an index; HPCW_EFORMAT, HPCW_ETRUNCATED or HPCW_ECHECKSUM for
 *         a damaged one; HPCW_ENOMEM; HPCW_ECOMM; and errors of the system
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_list_open(const char *prefix, hpcw_comm *comm,
                                                              hpcw_rank2file_list **out, hpcw_error *err);

/** Number of datasets. 0 for NULL. */
HPCW_API uint32_t hpcw_rank2file_list_count(const hpcw_rank2file_list *list);

/** Returns dataset `index`, in the order in which a restart tries them: the current one, then from the highest id
 * to the lowest. NULL beyond the last. Valid as long as the list. */
HPCW_API const hpcw_rank2file_listed *hpcw_rank2file_list_get(const hpcw_rank2file_list *list, uint32_t index);

/** The layout of the index, and so of all datasets. */
HPCW_API hpcw_rank2file_layout hpcw_rank2file_list_layout(const hpcw_rank2file_list *list);

/** The dataset that CURRENT names; the list may not contain it. NULL: the index has no CURRENT. Valid as long as
 * the list. */
HPCW_API const char *hpcw_rank2file_list_current(const hpcw_rank2file_list *list);

/** Frees, NULL allowed. Not collective. */
HPCW_API void hpcw_rank2file_list_free(hpcw_rank2file_list *list);

/** What a call did to the datasets of a prefix. */
typedef struct hpcw_rank2file_tally {
    uint32_t added;   /**< datasets that were added to the index */
    uint32_t removed; /**< datasets that were removed from it, or that were removed unfinished */
    uint32_t skipped; /**< datasets that were left alone, because something failed */
    /** files that stay in the directories of removed datasets, as they do not belong to them */
    uint64_t left;
    hpcw_error why; /**< reason of the first skipped dataset */
} hpcw_rank2file_tally;

/** Options of a removal of datasets. */
typedef struct hpcw_rank2file_removal {
    size_t size; /**< of this struct; hpcw_rank2file_removal_init sets it (hpcw.h) */
    /** Also removes a dataset whose files nothing lists, with everything in P/D. Such a dataset has no readable
     * map, or is unfinished with a marker of an earlier version of this library. If a file system is mounted in
     * P/D, nothing of the dataset is removed: HPCW_EACCES. Default: such datasets stay. Agree on all processes. */
    bool all_files;
    /** Called on process 0 with the path of each file to be removed, before anything is removed. The path is valid
     * during the call. NULL, the default: not called */
    void (*told)(void *context, const char *path);
    void *context; /**< first argument of `told` */
} hpcw_rank2file_removal;

/** Private: fills in the defaults of a struct of this size. */
HPCW_API void hpcw_rank2file_removal_fill(hpcw_rank2file_removal *removal, size_t size);

/** Fills in the defaults: only listed files are removed. */
static inline void hpcw_rank2file_removal_init(hpcw_rank2file_removal *removal) {
    hpcw_rank2file_removal_fill(removal, sizeof *removal);
}

/**
 * Removes a dataset. It is first taken out of the index, where the newest other dataset that did not fail becomes
 * the current one. Then its files are removed: summaries, map, the data files that the map lists, and their
 * temporary files that dead writers left. Directories that become empty are removed, too. Everything else stays,
 * and tally->left counts it. Without a readable map, nothing changes and the call fails, unless how->all_files is
 * set. Collective; process 0 does the work. The locks that hpcw_rank2file_open describes keep other writers out.
 *
 * No symbolic link below the prefix is followed: if a file of the dataset is behind one, nothing changes and the
 * call fails with HPCW_EACCES. If the program dies, the next call that changes the prefix finishes the removal, or
 * undoes it if the index still lists the dataset (doc/formats/rank2file.md, "Several writers").
 *
 * Memory: process 0 loads the whole map of one dataset at a time. A file with a name of 30 bytes takes about 250
 * bytes, so a million files take 250 MB. The same holds for hpcw_rank2file_prune, for an open with `replace`, and
 * for hpcw_rank2file_reindex with datasets that the index does not list.
 *
 * @param how    what may be removed; NULL: the defaults
 * @param tally  out: what was done; may be NULL
 * @return HPCW_OK; HPCW_EINVAL; HPCW_EMISMATCH; HPCW_ENOENT if it is not in the index; HPCW_EEXIST if a program is
 *         writing it; HPCW_EACCES; the failure of an open for restart if its map cannot be read; HPCW_ENOMEM;
 *         HPCW_ECOMM; and errors of the system
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_drop(const char *prefix, hpcw_comm *comm,
                                                         const char *dataset, const hpcw_rank2file_removal *how,
                                                         hpcw_rank2file_tally *tally, hpcw_error *err);

/** Marks a dataset as FAILED in the index, as SCR does after a failed restart. A restart without a name then
 * ignores it, and it is not the current one. Collective. @return as hpcw_rank2file_drop */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_mark_failed(const char *prefix, hpcw_comm *comm,
                                                                const char *dataset, hpcw_error *err);

/**
 * Makes a dataset the current one, so that a restart tries it first, and clears its FAILED mark. If it does not
 * pass hpcw_rank2file_check with all its files, nothing changes. Collective; process 0 does the work.
 *
 * @param dataset  name of a dataset of the index, also of one that failed
 * @return as hpcw_rank2file_drop, and the failure of the check
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_make_current(const char *prefix, hpcw_comm *comm,
                                                                 const char *dataset, hpcw_error *err);

/**
 * Drops the datasets that are older than the newest `keep` sound ones. A sound dataset is complete, did not fail
 * and passes hpcw_rank2file_check. Its content is read before anything is removed, so that damaged datasets do not
 * push out sound ones. With fewer than `keep` sound ones, none is dropped. The current dataset always stays. Then
 * the call removes what dead writers left: the files that the markers of unfinished datasets list, and temporary
 * files. A writer is dead if it does not hold its lock. Some file systems keep locks on one host (Lustre with
 * localflock, NFS with nolock). So only writers on the host of process 0 count, and only since that host was
 * booted. Without locks, nothing of dead writers is removed. Only markers of the effective user count. Collective;
 * process 0 does the work.
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
 * Rebuilds the index from the summaries below the prefix, of any version of SCR. A dataset that was in the index
 * keeps its record and its FAILED mark. If it is damaged, unreadable or being written, it keeps them, too, and
 * counts as skipped. A dataset that was not in the index must pass the check of a restart. Entries without a
 * summary are removed. Entries that cannot be understood stay, and count as skipped. CURRENT stays, unless its
 * dataset is gone or a higher id comes back: then it becomes the highest. A dataset that somebody began to drop
 * does not come back. Collective; process 0 does the work.
 *
 * @param tally  out: what was done; may be NULL
 * @return HPCW_OK; HPCW_ENOENT if there is no summary; HPCW_EFORMAT if they come from several versions of SCR and
 *         no index tells which one counts; and the failures of hpcw_rank2file_drop
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_reindex(const char *prefix, hpcw_comm *comm,
                                                            hpcw_rank2file_tally *tally, hpcw_error *err);

/* ------------------------------------------------------------------------------------------------------------
 *  Restart
 * --------------------------------------------------------------------------------------------------------- */

/** An opaque dataset that is being read. */
typedef struct hpcw_rank2file_restart hpcw_rank2file_restart;

/**
 * Opens a dataset: index, summary, and the inner nodes of its map. Collective; process 0 reads and broadcasts. The
 * reader is strict: it refuses data that break a rule of the format, with file, offset, field, expected and actual
 * value.
 *
 * Without a name it takes the first dataset of hpcw_rank2file_list_open that is complete, did not fail, and passes
 * a check. The check: the whole map is sound, and all data files exist and have their sizes. Each file is opened
 * once, by one of the processes. The content is not read, see hpcw_rank2file_restart_check.
 * hpcw_rank2file_restart_skipped names the datasets that were skipped. A FIFO, a device or a directory in the
 * place of a file is damage. A file that exists but cannot be read (rights, descriptors, memory, an error of the
 * disk) is no damage: the open then fails, and takes no older dataset. If only the content shows the damage, mark
 * the dataset with hpcw_rank2file_mark_failed and open again.
 *
 * @param prefix   directory of the job (agree)
 * @param dataset  name of a dataset (agree); NULL: see above
 * @return HPCW_OK; HPCW_EINVAL; HPCW_EMISMATCH; HPCW_ENOENT; HPCW_EFORMAT, HPCW_ETRUNCATED or HPCW_ECHECKSUM for
 *         damage; HPCW_ENOMEM; HPCW_ECOMM; and errors of the system. If no dataset passes, the code is that of the
 *         first one, and the message has as many reasons as fit
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_restart_open(const char *prefix, hpcw_comm *comm,
                                                                 const char *dataset,
                                                                 hpcw_rank2file_restart **out, hpcw_error *err);

/** A dataset that an open skipped. */
typedef struct hpcw_rank2file_skipped {
    const char *name; /**< valid as long as the handle */
    hpcw_error why;   /**< the reason; the same on all processes */
} hpcw_rank2file_skipped;

/** Number of datasets that an open without a name skipped. 0 for NULL. */
HPCW_API uint32_t hpcw_rank2file_restart_skips(const hpcw_rank2file_restart *r);

/** Returns a skipped dataset, in the order in which they were tried; NULL beyond the last. */
HPCW_API const hpcw_rank2file_skipped *hpcw_rank2file_restart_skipped(const hpcw_rank2file_restart *r,
                                                                      uint32_t index);

/**
 * Opens a dataset from the root of its map alone, without summary and index. The description of the dataset is
 * then empty.
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_restart_open_root(const char *root, hpcw_comm *comm,
                                                                      hpcw_rank2file_restart **out,
                                                                      hpcw_error *err);

/** Number of ranks that wrote the dataset. 0 for NULL. */
HPCW_API uint32_t hpcw_rank2file_restart_ranks(const hpcw_rank2file_restart *r);

/** The description from the summary; texts are valid as long as the handle. */
HPCW_API const hpcw_rank2file_dataset *hpcw_rank2file_restart_dataset(const hpcw_rank2file_restart *r);

/** Layout of the dataset. */
HPCW_API hpcw_rank2file_layout hpcw_rank2file_restart_layout(const hpcw_rank2file_restart *r);

/** Gets the numbers of leaves and of inner nodes, and the level of the root. */
HPCW_API void hpcw_rank2file_restart_shape(const hpcw_rank2file_restart *r, uint32_t *leaves, uint32_t *inner,
                                           uint32_t *levels);

/**
 * Finds the files of ranks. Collective. One process reads each leaf and sends its entries to the processes that
 * need them. So any number of processes can restart any number of ranks. May be called again.
 *
 * To restart on another number of processes, load the share of each process with NULL, and read the files of all
 * ranks that it gets: examples/restart.c. SCR itself needs as many processes as the dataset has ranks.
 *
 * @param count  number of ranks to find
 * @param ranks  [count] strictly ascending; several processes may name the same rank. NULL: this process's share;
 *               shares are consecutive ranges of ranks, and `count` is not used
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_restart_load(hpcw_rank2file_restart *r, uint32_t count,
                                                                 const uint32_t *ranks, hpcw_error *err);

/** One data file of the loaded ranks. */
typedef struct hpcw_rank2file_found {
    uint32_t rank;    /**< the rank of the file */
    const char *path; /**< path to open it; valid until the next call on the handle */
    const char *name; /**< path below the prefix; in the layout of SCR 1.1, below the dataset's directory */
    uint64_t size;    /**< bytes, according to the map */
    uint32_t crc;     /**< CRC-32 of the content */
    bool has_size;    /**< whether the map has a size; SCR 3 writes none */
    bool has_crc;     /**< whether it has a CRC-32; SCR 3 writes none */
} hpcw_rank2file_found;

/** Number of files of the loaded ranks, in order of ranks. */
HPCW_API uint64_t hpcw_rank2file_restart_files(const hpcw_rank2file_restart *r);

/** Describes file `index`; ascending order is fastest. @return HPCW_OK, HPCW_EINVAL or HPCW_ENOMEM */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_restart_file(hpcw_rank2file_restart *r, uint64_t index,
                                                                 hpcw_rank2file_found *found, hpcw_error *err);

/** Arrays for the columns of files; each may be NULL. Rows are in the order of hpcw_rank2file_restart_file. */
typedef struct hpcw_rank2file_files {
    uint32_t *rank; /**< rank of the file */
    /** relative to hpcw_rank2file_restart_base; valid as long as the handle, and until ranks are loaded again */
    const char **name;
    uint64_t *size; /**< bytes; 0: the map has no size */
    uint32_t *crc;  /**< CRC-32 of the content; 0 if the map has none */
    bool *has_size; /**< whether the map has a size */
    bool *has_crc;  /**< whether the map has a CRC-32 */
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

/** Returns the directory that names of files are relative to; NULL for NULL. Valid as long as the handle. */
HPCW_API const char *hpcw_rank2file_restart_base(const hpcw_rank2file_restart *r);

/**
 * Checks that the files of the loaded ranks exist and agree with the map. If all processes loaded their shares
 * (NULL), also checks that number and total size of the files agree with the summary, as the maps of SCR 3 have no
 * sizes. Collective.
 *
 * @param content  also read them and compare the CRC-32
 * @return HPCW_OK; HPCW_ENOENT; HPCW_ETRUNCATED or HPCW_EFORMAT for another size; HPCW_ECHECKSUM; and errors of
 *         the system
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_restart_check(hpcw_rank2file_restart *r, bool content,
                                                                  hpcw_error *err);

/**
 * Checks that a dataset is sound: the summaries, the whole map, and all data files with their sizes and, where the
 * map has one, their CRC-32. In the shared layout, both maps must be equal, and both summaries. The index must
 * have the numbers and the time of the summary. hpcw_rank2file_prune and hpcw_rank2file_make_current make the same
 * checks, but not this one, as a restart does not need the index's numbers. Not collective: one process reads
 * everything.
 *
 * @param dataset  name of a dataset of the index, also of one that failed
 * @param files    false: does not look at the data files, for instance if they are elsewhere
 * @return HPCW_OK; HPCW_EINVAL; HPCW_ENOENT; HPCW_EFORMAT, HPCW_ETRUNCATED or HPCW_ECHECKSUM for damage;
 *         HPCW_ENOMEM; and errors of the system
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_check(const char *prefix, const char *dataset, bool files,
                                                          hpcw_error *err);

/** Frees in any state, NULL allowed. Not collective. */
HPCW_API void hpcw_rank2file_restart_free(hpcw_rank2file_restart *r);

#ifdef __cplusplus
}
#endif

#endif
