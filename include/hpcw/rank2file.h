/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * SCR checkpoints: data files of many ranks, and the rank2file map, a tree of files from which a restarting job
 * learns the files of each rank. SCR 1.1, 1.2 and 3 find these datasets, check them and restart from them; KVTree
 * 1.5 reads every tree.
 *
 *     hpcw_rank2file_options opt;
 *     hpcw_rank2file_options_init(&opt);
 *     opt.dataset.id = 1;
 *     opt.count = 1;                                             // this process owns one rank
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
 *         hpcw_rank2file_restart_file(r, i, &file);                       // rank, path, size
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
/** Longest name of a dataset that this library writes, without NUL. SCR 1.2 and later write names of up to 1023
 * arbitrary bytes. The library also reads, checks, drops and indexes datasets with such names. */
#define HPCW_RANK2FILE_MAX_DATASET 200u
/** Size of a buffer for the path of any metadata file below the prefix, with NUL. */
#define HPCW_RANK2FILE_PATH 512
/** Largest number of ranks: SCR keeps this number in an int. */
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
    /** "scr-3": metadata in P/.scr/scr.dataset.ID; the files of the map have no ".scr" at the end */
    HPCW_RANK2FILE_SCR_3 = 2,
    /** "shared": both SCR 1.1 and SCR 3 can restart from the prefix; a dataset has two maps, and the prefix has one
     * index */
    HPCW_RANK2FILE_SHARED = 3
} hpcw_rank2file_layout;

/** Returns the name of a layout, for instance "scr-1.1"; NULL for another number. */
HPCW_API const char *hpcw_rank2file_layout_name(hpcw_rank2file_layout layout);

/** Gets the layout with a name. @return HPCW_OK, or HPCW_EINVAL with the known names */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_layout_of(const char *name, hpcw_rank2file_layout *layout,
                                                              hpcw_error *err);

/** Returns the number of maps of a layout: 2 for the shared one, otherwise 1. */
HPCW_API uint32_t hpcw_rank2file_layout_maps(hpcw_rank2file_layout layout);

/** The description of a checkpoint (key DSET in summary.scr; doc/formats/rank2file.md, "Summary"). The comments of
 * the members name the defaults of hpcw_rank2file_open. hpcw_rank2file_summary and hpcw_rank2file_index_add do not
 * ask the system for time and user: their default of `flushed` is created_us in UTC, and their default of `user` is
 * "user". */
typedef struct hpcw_rank2file_dataset {
    uint64_t id; /**< 1 .. 2^31 - 1 */
    /** name of the dataset; NULL: SCR's default, "ckpt.ID" with HPCW_RANK2FILE_SCR_3, otherwise "scr.dataset.ID" */
    const char *name;
    uint64_t checkpoint; /**< field CKPT, number of the checkpoint; 0: the id */
    uint64_t created_us; /**< time of creation, microseconds since 1970-01-01 UTC; 0: the time of the open */
    /** field FLUSHED, "YYYY-MM-DDThh:mm:ss"; NULL: the local time of the close, as SCR writes it */
    const char *flushed;
    /** user who wrote the dataset; NULL: $USER or $LOGNAME of process 0, or the number of the user */
    const char *user;
    const char *job_id;   /**< number of the job; NULL: "1" */
    const char *job_name; /**< name of the job; NULL: not written */
    const char *cluster;  /**< name of the cluster; NULL: not written */
    uint64_t files;       /**< field FILES, number of data files; filled in by hpcw_rank2file_close */
    uint64_t size;        /**< field SIZE, bytes of all data files; filled in by hpcw_rank2file_close */
} hpcw_rank2file_dataset;

/** Options of a dataset that is written. All members but `count` and `ranks` must be the same on all processes. */
typedef struct hpcw_rank2file_options {
    size_t size; /**< size of this struct; hpcw_rank2file_options_init sets it (hpcw.h) */
    /** layout, which decides the versions of SCR that can read the dataset; default HPCW_RANK2FILE_SCR_1_1 */
    hpcw_rank2file_layout layout;
    hpcw_rank2file_dataset dataset; /**< description of the checkpoint, for the summary */
    uint32_t count;                 /**< number of ranks that this process owns */
    /** [count] the ranks that this process owns, strictly ascending; NULL: consecutive in the order of processes */
    const uint32_t *ranks;
    /** largest number of ranks in a leaf and of children of an inner node, >= 2; default 8192. Readers need time in
     * proportion to the square of this number */
    uint32_t leaf_ranks;
    /** largest size of a node's file, bytes; default 1 MiB. A leaf with one rank, or an inner node with two
     * children, may be larger */
    uint64_t leaf_bytes;
    /** true: replaces a dataset of this id and name. The open takes the old dataset out of the index and removes
     * its files. false (default): HPCW_EEXIST */
    bool replace;
    /** true: the dataset becomes the current one even if the current one has a higher id; default false */
    bool current;
    /** durability of every file; HPCW_SYNC_DIRECTORY: also of every directory that is made or has data files;
     * default HPCW_SYNC_FILE */
    hpcw_durability durability;
    hpcw_sink_source sink_source; /**< where the bytes go; all zero: to files */
} hpcw_rank2file_options;

/** Private: fills in the defaults of a struct of this size. */
HPCW_API void hpcw_rank2file_options_fill(hpcw_rank2file_options *options, size_t size);

/** Fills in the defaults: layout of SCR 1.1, no id, no ranks. */
static inline void hpcw_rank2file_options_init(hpcw_rank2file_options *options) {
    hpcw_rank2file_options_fill(options, sizeof *options);
}

/** Checks options without touching a file. @return HPCW_OK; HPCW_EINVAL or HPCW_ERANGE, with the expected and the
 * actual value */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_options_check(const hpcw_rank2file_options *options,
                                                                  hpcw_error *err);

/** Gets the name of the dataset: the name in the options, or the layout's default. `name` ends in NUL. */
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
 * A dataset is finished as a whole or not at all. The following failures on any process make the dataset fail
 * ("doom" it): a write or the close of a file fails; a file cannot be created; a file is freed that was neither
 * closed nor discarded; or at the end, a file that was closed or added does not exist with its size (one stat(2)
 * for each). hpcw_rank2file_close then fails on all processes with this reason, even if the application ignored the
 * failure, and the index stays as it was. hpcw_rank2file_discard gives up one file on purpose.
 *
 * Several programs may write datasets of one prefix at the same time. They lock bytes of P/.scr/hpcw.lock: one for
 * the index while it changes, and one for each dataset until it is closed. A lock ends at the latest when the
 * program and the children that it forked while it held the lock have ended. A child must not use or free the
 * handle. The lock file gets the group of P/.scr. Users who may write in that directory may read and write the lock
 * file, and so lock it; others get HPCW_EACCES. On a file system without such locks (Lustre mounted with noflock,
 * for instance), programs write without them. There, programs that close at the same moment can lose an entry of
 * the index, which hpcw_rank2file_reindex restores.
 *
 * The file P/.scr/hpcw.ID.unfinished, the marker, lists the files of a dataset from the open to the close. If the
 * program dies, its files and the marker stay until hpcw_rank2file_prune runs on the same host. The program also
 * locks the marker. So if somebody removes the lock file, other programs still see that the dataset is being
 * written, and the close takes the lock again. If another program has written the same dataset in the meantime, the
 * close fails with HPCW_EEXIST and does not change that dataset.
 *
 * The prefix is looked up once: the program may change its working directory or rename the prefix while the dataset
 * is open. Below the prefix, nothing is created, overwritten or removed through symbolic links. The path of the
 * prefix itself may contain symbolic links. Sinks of the program (`sink_source`) receive paths.
 *
 * @param prefix   directory of the job, the same on all processes. It is made if it is missing, but its parents are
 *                 not
 * @param comm     the processes; NULL: this process alone
 * @param out      the handle, to be freed with hpcw_rank2file_free; NULL on failure
 * @return HPCW_OK; HPCW_EINVAL; HPCW_ERANGE; HPCW_EMISMATCH; HPCW_ENOMEM; HPCW_ECOMM; HPCW_EACCES if a path below
 *         the prefix, such as P/D, contains a symbolic link; HPCW_ENOENT if P/D is a file; HPCW_EEXIST if the index
 *         lists a dataset of that id or name (see `replace`), if a complete dataset exists that it does not list
 *         (the index was lost), if the index has another layout, or if another program is writing a dataset of that
 *         id or name; HPCW_EFORMAT if the index is damaged; and errors of the system
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_open(const char *prefix, hpcw_comm *comm,
                                                         const hpcw_rank2file_options *options,
                                                         hpcw_rank2file **out, hpcw_error *err);

/** Returns the number of ranks of the job; 0 if `w` is NULL. */
HPCW_API uint32_t hpcw_rank2file_ranks(const hpcw_rank2file *w);

/** Returns the lowest rank of this process, or the number of ranks of the job if the process has no rank. */
HPCW_API uint32_t hpcw_rank2file_first_rank(const hpcw_rank2file *w);

/**
 * Adds a data file that the application writes itself. At the close the file must exist as P/D/`name`, where D is
 * the dataset's name, and have `size` bytes. A rank may have any number of files, also none. Not collective;
 * callable on any thread.
 *
 * @param rank  a rank of this process
 * @param name  path below P/D: relative, with '/' between directories, without an empty part, "." or "..", and
 *              without control bytes. "D/" and the path together have at most HPCW_RANK2FILE_MAX_NAME bytes
 *              (doc/formats/rank2file.md#rank2file-17). SCR deletes the files of a map when it prunes.
 * @param size  size of the file, bytes. SCR 1.x checks this size
 * @param crc   CRC-32 of the content, as zlib computes it. NULL: unknown; SCR 1.x then does not check the content
 * @return HPCW_OK; HPCW_EINVAL; HPCW_ERANGE; HPCW_ESTATE. These doom the dataset: HPCW_ENOMEM, and errors of the
 *         system if the file cannot be listed in the marker (see hpcw_rank2file_open). After a failure nothing is
 *         added.
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_add(hpcw_rank2file *w, uint32_t rank, const char *name,
                                                        uint64_t size, const uint32_t *crc, hpcw_error *err);

/**
 * Begins a data file, and makes its directories below P/D. hpcw_rank2file_file_close adds the file to the dataset,
 * under the rules of hpcw_rank2file_add. Not collective; callable on any thread. A failure dooms the dataset,
 * unless the call was wrong (HPCW_EINVAL, HPCW_ESTATE).
 *
 * @param file  out: to be freed with hpcw_rank2file_file_free, before `w`; NULL on failure
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_create(hpcw_rank2file *w, uint32_t rank, const char *name,
                                                           hpcw_rank2file_file **file, hpcw_error *err);

/** Begins a file that belongs to no dataset. `path` is its final name. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_file_open(const char *path, hpcw_durability durability,
                                                              hpcw_rank2file_file **file, hpcw_error *err);

/** Appends to a data file. One thread at a time per file. Small writes are collected in a buffer of 256 KiB, which
 * the first small write allocates. A larger write goes to the file in one call, together with the buffered bytes.
 * So a failure may appear in a later write or in the close.
 * @return as hpcw_sink_write_at; HPCW_ENOMEM; HPCW_ESTATE after a failure or the close */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_file_write(hpcw_rank2file_file *file, const void *data,
                                                               size_t size, hpcw_error *err);

/** Writes the buffered bytes, gives the file its name and adds it to its dataset. @return as hpcw_sink_write_at,
 * hpcw_sink_publish and hpcw_rank2file_add */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_file_close(hpcw_rank2file_file *file, hpcw_error *err);

/** Gives up a file on purpose: the file is removed, and its dataset is finished without the file. Also allowed
 * after a failed write or close of the file. Does nothing to a file that was closed with success. NULL is
 * allowed. */
HPCW_API void hpcw_rank2file_discard(hpcw_rank2file_file *file);

/** Returns the number of bytes written so far; 0 if `file` is NULL. */
HPCW_API uint64_t hpcw_rank2file_file_size(const hpcw_rank2file_file *file);
/** Returns the CRC-32 of the bytes written so far; 0 if `file` is NULL. */
HPCW_API uint32_t hpcw_rank2file_file_crc(const hpcw_rank2file_file *file);

/** Frees a data file. A file that was neither closed nor discarded is removed, and its dataset is doomed (see
 * hpcw_rank2file_open). NULL is allowed. */
HPCW_API void hpcw_rank2file_file_free(hpcw_rank2file_file *file);

/** Reports that this process cannot finish its files. The close then fails on all processes with this reason;
 * with HPCW_ESTATE if `reason` is NULL or its code HPCW_OK. Not collective; callable on any thread. */
HPCW_API void hpcw_rank2file_abandon(hpcw_rank2file *w, const hpcw_error *reason);

/**
 * Finishes a dataset. Writes the leaves, the inner nodes, the root, the summary, and last the index. A leaf is
 * written by the process whose share of the ranks holds the leaf's first rank. In the index the dataset becomes the
 * current one, unless the current one has a higher id. Collective. Memory: the list of this process's files, a
 * leaf, and on process 0 four bytes for each leaf. After a failure the index is unchanged, so that no reader sees
 * the dataset. Its files then stay until all processes have freed the handle, and hpcw_rank2file_prune on the host
 * that wrote them removes them, unless the summaries were complete and could not be removed. A failed open can
 * leave a marker, which prune removes, too.
 * With HPCW_SYNC_DIRECTORY there is one exception, as in hpcw_sink_publish: the last step is the fsync of the
 * index's directory. If this fsync fails, the dataset is complete and listed, but the older index may come back
 * after a power failure.
 *
 * @return HPCW_OK; HPCW_EINVAL (two files with the same name, on any processes); HPCW_ERANGE; HPCW_ESTATE (also for
 *         a file that is still open); HPCW_ENOENT, HPCW_ETRUNCATED or HPCW_EFORMAT for an added file; HPCW_EEXIST;
 *         otherwise the first failure of any process, also a failure that the process ignored
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_close(hpcw_rank2file *w, hpcw_error *err);

/** Returns the description of the dataset, with all defaults filled in. `files`, `size` and `flushed` are valid
 * after the close. The same on all processes. Valid as long as the handle. */
HPCW_API const hpcw_rank2file_dataset *hpcw_rank2file_dataset_of(const hpcw_rank2file *w);

/** Frees a handle in any state, NULL allowed. Not collective. */
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

/** Result of hpcw_rank2file_entries for a rank that gets no entry in the map. Such a map is damaged. It is for
 * tests of readers. */
#define HPCW_RANK2FILE_NO_ENTRY SIZE_MAX

/** Returns the number of files of a rank, and sets *entry to an array of the files, which is valid until the next
 * call. A pure function: each call for a rank gives the same result. Names of files must be unique in the map,
 * which is not checked. */
typedef size_t hpcw_rank2file_entries(void *context, uint32_t rank, const hpcw_rank2file_entry **entry);

/** The shape of a map: its nodes and the range of ranks below each node. Read-only after creation. */
typedef struct hpcw_rank2file_map hpcw_rank2file_map;

/** One node of a map. */
typedef struct hpcw_rank2file_node {
    char path[HPCW_RANK2FILE_PATH]; /**< path of the node's file below the prefix */
    uint32_t level;                 /**< level of the node; 0: a leaf */
    uint32_t first;                 /**< the first rank below the node */
    uint32_t end;                   /**< one past the last rank below the node */
    uint64_t size;                  /**< size of the node's file, bytes */
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

/** Frees a map, NULL allowed. Files of nodes stay. */
HPCW_API void hpcw_rank2file_map_free(hpcw_rank2file_map *map);

/** Returns the number of nodes. Leaves come first, in ascending order, then the other nodes level by level, and the
 * root last. */
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

/** Makes the tree of the summary from options->dataset, in which the caller has filled in `files` and `size`. The
 * caller frees it. */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_summary(const hpcw_rank2file_options *options,
                                                            hpcw_kvtree **out, hpcw_error *err);

/** Gets the path of the summary below the prefix, for map `which`. */
HPCW_API void hpcw_rank2file_summary_path(const hpcw_rank2file_options *options, uint32_t which,
                                          char path[HPCW_RANK2FILE_PATH]);

/**
 * Adds the dataset to an index. The dataset becomes the current one if the current one has no higher id, or if
 * options->current is set. `index` is an empty tree, or an index of the same layout.
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
    const char *name; /**< name of the dataset */
    uint64_t id;      /**< id of the dataset; 0: the index has no legal id */
    bool complete;    /**< field COMPLETE is 1 */
    bool current;     /**< field CURRENT of the index names this dataset */
    /** field FAILED: time at which a restart found the dataset damaged; NULL: the dataset did not fail */
    const char *failed;
    const char *flushed; /**< field FLUSHED, time of the flush */
    uint64_t created_us; /**< field CREATED, microseconds since 1970-01-01 UTC */
    uint64_t files;      /**< field FILES, number of data files */
    uint64_t size;       /**< field SIZE, bytes of all data files */
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

/** Returns the number of datasets; 0 if `list` is NULL. */
HPCW_API uint32_t hpcw_rank2file_list_count(const hpcw_rank2file_list *list);

/** Returns dataset `index`, in the order in which a restart tries them: the current one, then from the highest id
 * to the lowest. Returns NULL beyond the last dataset. Valid as long as the list. */
HPCW_API const hpcw_rank2file_listed *hpcw_rank2file_list_get(const hpcw_rank2file_list *list, uint32_t index);

/** Returns the layout of the index, which is the layout of all its datasets. */
HPCW_API hpcw_rank2file_layout hpcw_rank2file_list_layout(const hpcw_rank2file_list *list);

/** Returns the name in the field CURRENT, even if no listed dataset has it; NULL if the index has no CURRENT. Valid
 * as long as the list. */
HPCW_API const char *hpcw_rank2file_list_current(const hpcw_rank2file_list *list);

/** Frees a list, NULL allowed. Not collective. */
HPCW_API void hpcw_rank2file_list_free(hpcw_rank2file_list *list);

/** What a call did to the datasets of a prefix. */
typedef struct hpcw_rank2file_tally {
    uint32_t added; /**< number of datasets that were added to the index */
    /** number of datasets that were removed from the index, and of unfinished datasets that were removed */
    uint32_t removed;
    uint32_t skipped; /**< number of datasets that were not changed, because something failed */
    /** number of files that stay in the directories of removed datasets, because they do not belong to the
     * datasets */
    uint64_t left;
    hpcw_error why; /**< why the first skipped dataset was not changed */
} hpcw_rank2file_tally;

/** Options of a removal of datasets. */
typedef struct hpcw_rank2file_removal {
    size_t size; /**< size of this struct; hpcw_rank2file_removal_init sets it (hpcw.h) */
    /** true: also removes datasets whose files are not listed anywhere, with everything in P/D. Such a dataset has
     * no readable map, or it is unfinished and an earlier version of this library wrote its marker (see
     * hpcw_rank2file_open). If a file system is mounted in P/D, nothing of the dataset is removed: HPCW_EACCES.
     * false (default): such datasets stay. The same on all processes. */
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
 * Removes a dataset. It is first taken out of the index. If it was the current one, the newest other dataset that
 * did not fail becomes the current one. Then its files are removed: summaries, map, the data files that the map
 * lists, and temporary files that dead writers of these files left. Directories that become empty are removed, too.
 * All other files stay, and tally->left counts them. Without a readable map, nothing changes and the call fails,
 * unless how->all_files is set. Collective; process 0 does the work. The locks that hpcw_rank2file_open describes
 * keep other writers out.
 *
 * No symbolic link below the prefix is followed: if a file of the dataset can be reached only through a symbolic
 * link, nothing changes and the call fails with HPCW_EACCES. If the program dies, the next call that changes the
 * prefix finishes the removal, or undoes it if the index still lists the dataset (doc/formats/rank2file.md,
 * "Several writers").
 *
 * Memory: process 0 loads the whole map of one dataset at a time. A file with a name of 30 bytes takes about 250
 * bytes, so a million files take 250 MB. The same holds for hpcw_rank2file_prune, for an open with `replace`, and
 * for hpcw_rank2file_reindex with datasets that the index does not list.
 *
 * @param how    what may be removed; NULL: the defaults
 * @param tally  out: what was done; may be NULL
 * @return HPCW_OK; HPCW_EINVAL; HPCW_EMISMATCH; HPCW_ENOENT if the dataset is not in the index; HPCW_EEXIST if a
 *         program is writing the dataset; HPCW_EACCES; the failure of hpcw_rank2file_restart_open if the map cannot
 *         be read; HPCW_ENOMEM; HPCW_ECOMM; and errors of the system
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_drop(const char *prefix, hpcw_comm *comm,
                                                         const char *dataset, const hpcw_rank2file_removal *how,
                                                         hpcw_rank2file_tally *tally, hpcw_error *err);

/** Marks a dataset as FAILED in the index, as SCR does after a failed restart. A restart without a name then
 * ignores the dataset, and the dataset is not the current one. Collective. @return as hpcw_rank2file_drop */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_mark_failed(const char *prefix, hpcw_comm *comm,
                                                                const char *dataset, hpcw_error *err);

/**
 * Makes a dataset the current one, so that a restart tries it first, and clears its FAILED mark. If the dataset
 * does not pass hpcw_rank2file_check with all its files, nothing changes. Collective; process 0 does the work.
 *
 * @param dataset  name of a dataset of the index, also of one that failed
 * @return as hpcw_rank2file_drop, and the failure of the check
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_make_current(const char *prefix, hpcw_comm *comm,
                                                                 const char *dataset, hpcw_error *err);

/**
 * Keeps the newest `keep` sound datasets, and drops all datasets that are older than these. A sound dataset is
 * complete, did not fail and passes hpcw_rank2file_check. The check reads all data files before anything is
 * removed, so that damaged datasets do not count as kept ones. If there are fewer than `keep` sound datasets, none
 * is dropped. The current dataset always stays. Collective; process 0 does the work.
 *
 * Then the call removes what dead writers left: temporary files, and the files that markers of unfinished datasets
 * list (see hpcw_rank2file_open). A writer is dead if it does not hold its lock. Some file systems keep locks on
 * one host only (Lustre with localflock, NFS with nolock). So the call removes only files of writers that ran on
 * the host of process 0 since this host was booted. It ignores markers of other users. On a file system without
 * locks, it removes no files of dead writers.
 *
 * A dataset with all its summaries is complete, also if its writer died, or failed on a full or broken disk, before
 * the index listed the dataset. It stays as it is, and is not counted: hpcw_rank2file_reindex lists it, so that it
 * can be used or dropped.
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
 * Rebuilds the index from the summaries below the prefix, of any version of SCR. A dataset that is in the index
 * keeps its entry and its FAILED mark. This holds also for a dataset that is damaged, unreadable or being written,
 * which counts as skipped. A dataset that is not in the index is added if it passes the check of a restart. Entries
 * without a summary are removed. Entries of unknown form stay, and count as skipped. CURRENT changes if its dataset
 * is gone or has failed, or if a dataset with a higher id is added: then it is the highest id that did not fail. A
 * dataset whose removal was interrupted is not added. Collective; process 0 does the work.
 *
 * @param tally  out: what was done; may be NULL
 * @return HPCW_OK; HPCW_ENOENT if there is no summary; HPCW_EFORMAT if the summaries are of several versions of SCR
 *         and there is no index that names the version; and the failures of hpcw_rank2file_drop
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
 * a check. The check: the whole map is correct, and all data files exist and have their sizes. One of the processes
 * opens each file once. The check does not read contents; hpcw_rank2file_restart_check does.
 * hpcw_rank2file_restart_skipped names the datasets that were skipped. A FIFO, a device or a directory in the place
 * of a file is damage. A file that exists but cannot be read (rights, descriptors, memory, an error of the disk) is
 * no damage: the open then fails, and takes no older dataset. If a program finds damage in the content, it can mark
 * the dataset with hpcw_rank2file_mark_failed and open again.
 *
 * @param prefix   directory of the job, the same on all processes
 * @param dataset  name of a dataset, the same on all processes; NULL: see above
 * @return HPCW_OK; HPCW_EINVAL; HPCW_EMISMATCH; HPCW_ENOENT; HPCW_EFORMAT, HPCW_ETRUNCATED or HPCW_ECHECKSUM for
 *         damage; HPCW_ENOMEM; HPCW_ECOMM; and errors of the system. If no dataset passes, the code is the code of
 *         the first dataset, and the message has as many reasons as fit
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_restart_open(const char *prefix, hpcw_comm *comm,
                                                                 const char *dataset,
                                                                 hpcw_rank2file_restart **out, hpcw_error *err);

/**
 * Opens dataset `index` of a list as hpcw_rank2file_restart_open opens it by its name, but without reading the index
 * again. To open all datasets of a list by their names takes a time that grows with the square of their number.
 * Collective; all processes give the same dataset.
 *
 * @param list  is not needed any more after the call
 * @return as hpcw_rank2file_restart_open
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_restart_open_listed(const hpcw_rank2file_list *list,
                                                                        uint32_t index, hpcw_comm *comm,
                                                                        hpcw_rank2file_restart **out,
                                                                        hpcw_error *err);

/** A dataset that an open skipped. */
typedef struct hpcw_rank2file_skipped {
    const char *name; /**< name of the dataset, valid as long as the handle */
    hpcw_error why;   /**< why the dataset was skipped; the same on all processes */
} hpcw_rank2file_skipped;

/** Returns the number of datasets that an open without a name skipped; 0 if `r` is NULL. */
HPCW_API uint32_t hpcw_rank2file_restart_skips(const hpcw_rank2file_restart *r);

/** Returns skipped dataset `index`, counted in the order in which the open tried the datasets; NULL beyond the last
 * one. */
HPCW_API const hpcw_rank2file_skipped *hpcw_rank2file_restart_skipped(const hpcw_rank2file_restart *r,
                                                                      uint32_t index);

/**
 * Opens a dataset from the root of its map alone, without summary and index. The description of the dataset is
 * then empty. Collective.
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_restart_open_root(const char *root, hpcw_comm *comm,
                                                                      hpcw_rank2file_restart **out,
                                                                      hpcw_error *err);

/** Returns the number of ranks that wrote the dataset; 0 if `r` is NULL. */
HPCW_API uint32_t hpcw_rank2file_restart_ranks(const hpcw_rank2file_restart *r);

/** Returns the description of the dataset from its summary. Texts are valid as long as the handle. */
HPCW_API const hpcw_rank2file_dataset *hpcw_rank2file_restart_dataset(const hpcw_rank2file_restart *r);

/** Returns the layout of the dataset. */
HPCW_API hpcw_rank2file_layout hpcw_rank2file_restart_layout(const hpcw_rank2file_restart *r);

/** Gets the numbers of leaves and of inner nodes, and the level of the root. */
HPCW_API void hpcw_rank2file_restart_shape(const hpcw_rank2file_restart *r, uint32_t *leaves, uint32_t *inner,
                                           uint32_t *levels);

/**
 * Finds the data files of ranks in the leaves of the map. Collective. Each leaf is read by one process, which sends
 * the entries to the processes that need them. So any number of processes can restart any number of ranks. The call
 * may be repeated with other ranks.
 *
 * To restart on another number of processes, pass NULL for `ranks`, and read the files of all ranks that the
 * process gets: examples/restart.c. SCR itself needs as many processes as the dataset has ranks.
 *
 * @param count  number of ranks to find
 * @param ranks  [count] strictly ascending; several processes may name the same rank. NULL: this process's share;
 *               shares are consecutive ranges of ranks, and `count` is not used
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_restart_load(hpcw_rank2file_restart *r, uint32_t count,
                                                                 const uint32_t *ranks, hpcw_error *err);

/** One data file of the loaded ranks. */
typedef struct hpcw_rank2file_found {
    uint32_t rank;    /**< the rank that wrote the file */
    const char *path; /**< path of the file; valid until the next call on the handle */
    /** path of the file below the prefix, or, in the layout of SCR 1.1, below the dataset's directory */
    const char *name;
    uint64_t size; /**< size of the file in the map, bytes */
    uint32_t crc;  /**< CRC-32 of the content */
    bool has_size; /**< whether the map has a size; SCR 3 writes none */
    bool has_crc;  /**< whether the map has a CRC-32; SCR 3 writes none */
} hpcw_rank2file_found;

/** Returns the number of files of the loaded ranks. Files are numbered in the order of their ranks. */
HPCW_API uint64_t hpcw_rank2file_restart_files(const hpcw_rank2file_restart *r);

/** Describes file `index` of the loaded ranks. Calls with ascending `index` are fastest. @return HPCW_OK,
 * HPCW_EINVAL or HPCW_ENOMEM */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_restart_file(hpcw_rank2file_restart *r, uint64_t index,
                                                                 hpcw_rank2file_found *found, hpcw_error *err);

/** Arrays for the columns of files; each may be NULL. Rows are in the order of hpcw_rank2file_restart_file. */
typedef struct hpcw_rank2file_files {
    uint32_t *rank; /**< rank of the file */
    /** path of the file relative to hpcw_rank2file_restart_base; valid until ranks are loaded again or the handle
     * is freed */
    const char **name;
    uint64_t *size; /**< size of the file, bytes; 0: the map has no size */
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

/** Returns the directory to which the names of files are relative; NULL if `r` is NULL. Valid as long as the
 * handle. */
HPCW_API const char *hpcw_rank2file_restart_base(const hpcw_rank2file_restart *r);

/**
 * Checks that the files of the loaded ranks exist and agree with the map. If all processes loaded their shares
 * (`ranks` NULL), also checks the number and total size of the files against the summary, because the maps of SCR 3
 * have no sizes. Collective.
 *
 * @param content  true: also reads the files and compares the CRC-32
 * @return HPCW_OK; HPCW_ENOENT; HPCW_ETRUNCATED or HPCW_EFORMAT for another size; HPCW_ECHECKSUM; and errors of
 *         the system
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_restart_check(hpcw_rank2file_restart *r, bool content,
                                                                  hpcw_error *err);

/**
 * Checks that a dataset is sound: the summaries, the whole map, and all data files with their sizes and, where the
 * map has one, their CRC-32. In the shared layout, the two maps must be equal, and so must the two summaries. The
 * fields FILES, SIZE and CREATED in the index must equal those in the summary. hpcw_rank2file_prune and
 * hpcw_rank2file_make_current make the same checks, except for these fields, which a restart does not need. Not
 * collective: one process reads everything.
 *
 * @param dataset  name of a dataset of the index, also of one that failed
 * @param files    false: does not check the data files, for instance because they are stored elsewhere
 * @return HPCW_OK; HPCW_EINVAL; HPCW_ENOENT; HPCW_EFORMAT, HPCW_ETRUNCATED or HPCW_ECHECKSUM for damage;
 *         HPCW_ENOMEM; and errors of the system
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_check(const char *prefix, const char *dataset, bool files,
                                                          hpcw_error *err);

/**
 * Checks dataset `index` of a list as hpcw_rank2file_check does, but without reading the index again. Not
 * collective.
 *
 * @return as hpcw_rank2file_check
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_rank2file_check_listed(const hpcw_rank2file_list *list,
                                                                 uint32_t index, bool files, hpcw_error *err);

/** Frees a handle in any state, NULL allowed. Not collective. */
HPCW_API void hpcw_rank2file_restart_free(hpcw_rank2file_restart *r);

#ifdef __cplusplus
}
#endif

#endif
