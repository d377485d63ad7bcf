/* SPDX-License-Identifier: BSD-3-Clause */
/* Containers of processes that communicate through a program's own callbacks. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "bindings/sionlib/handles/parallel.h"

typedef int create_call(void **, void *, int, int, int, int, int, int);
typedef int free_call(void *);
typedef int broadcast_call(void *, void *, int, int, int);
typedef int same_call(void *, void *, void *, int, int, int);
typedef int sized_call(void *, void *, void *, int, int *, int, int);

enum call {
    CREATE_GROUP,
    FREE_GROUP,
    BARRIER,
    BROADCAST,
    GATHER,
    GATHER_SIZES,
    SCATTER,
    SCATTER_SIZES,
    NEEDED,
    COLLECT = NEEDED,
    DISTRIBUTE,
    CAPABILITY,
    CALLS
};

/* Capability of a task that can send, but not collect data in collective calls. No public header of SIONlib has
 * this number. */
enum { ONLY_SENDER = 51 };

typedef void any_call(void);

/* The callbacks that a program registered under one number. */
struct interface {
    any_call *call[CALLS];
    bool collective; /* all callbacks are registered */
    /* callback that names the files; names.of is NULL if the program registered none */
    struct sionlib_names names;
};

enum { APIS = 256 };
static _Atomic(struct interface *) table[APIS];

static struct interface *api_of(int aid, const char *call) {
    struct interface *api = aid >= 0 && aid < APIS ? atomic_load(&table[aid]) : NULL;
    if (api == NULL) {
        sionlib_report("%s: expected the number of an interface, got %d", call, aid);
    }
    return api;
}

int sion_generic_create_api(char *name) {
    struct interface *api = name == NULL ? NULL : calloc(1, sizeof *api);
    for (int aid = 0; api != NULL && aid < APIS; aid++) {
        struct interface *none = NULL;
        if (atomic_compare_exchange_strong(&table[aid], &none, api)) {
            return aid;
        }
    }
    sionlib_report("sion_generic_create_api: expected a name, memory, and at most %d interfaces", APIS);
    free(api);
    return SION_ID_NOT_VALID;
}

int sion_generic_free_api(int aid) {
    struct interface *api = api_of(aid, "sion_generic_free_api");
    if (api == NULL) {
        return SION_NOT_SUCCESS;
    }
    atomic_store(&table[aid], NULL);
    free(api);
    return SION_SUCCESS;
}

static int register_call(int aid, enum call which, any_call *call, const char *name) {
    struct interface *api = api_of(aid, name);
    if (api == NULL || api->call[which] != NULL) {
        if (api != NULL) {
            sionlib_report("%s: expected no callback so far, got a second one", name);
        }
        return SION_NOT_SUCCESS;
    }
    api->call[which] = call;
    /* SIONlib does not check after DISTRIBUTE whether all callbacks are registered */
    bool all = which != DISTRIBUTE;
    for (int c = 0; c < CALLS; c++) {
        all = all && api->call[c] != NULL;
    }
    api->collective = api->collective || all;
    return SION_SUCCESS;
}

int sion_generic_register_create_local_commgroup_cb(int aid, create_call *call) {
    return register_call(aid, CREATE_GROUP, (any_call *)call, __func__);
}

int sion_generic_register_free_local_commgroup_cb(int aid, free_call *call) {
    return register_call(aid, FREE_GROUP, (any_call *)call, __func__);
}

int sion_generic_register_barrier_cb(int aid, free_call *call) {
    return register_call(aid, BARRIER, (any_call *)call, __func__);
}

int sion_generic_register_bcastr_cb(int aid, broadcast_call *call) {
    return register_call(aid, BROADCAST, (any_call *)call, __func__);
}

int sion_generic_register_gatherr_cb(int aid, same_call *call) {
    return register_call(aid, GATHER, (any_call *)call, __func__);
}

int sion_generic_register_gathervr_cb(int aid, sized_call *call) {
    return register_call(aid, GATHER_SIZES, (any_call *)call, __func__);
}

int sion_generic_register_scatterr_cb(int aid, same_call *call) {
    return register_call(aid, SCATTER, (any_call *)call, __func__);
}

int sion_generic_register_scattervr_cb(int aid, sized_call *call) {
    return register_call(aid, SCATTER_SIZES, (any_call *)call, __func__);
}

int sion_generic_register_get_multi_filename_cb(int aid, char *call(const char *, int)) {
    struct interface *api = api_of(aid, __func__);
    if (api == NULL || api->names.of != NULL) {
        if (api != NULL) {
            sionlib_report("%s: expected no callback so far, got a second one", __func__);
        }
        return -1;
    }
    api->names.of = call;
    return 0; /* success; other calls return SION_SUCCESS */
}

int sion_generic_register_gather_and_execute_cb(int aid, sion_generic_gather_execute *call) {
    return register_call(aid, COLLECT, (any_call *)call, __func__);
}

int sion_generic_register_execute_and_scatter_cb(int aid, sion_generic_execute_scatter *call) {
    return register_call(aid, DISTRIBUTE, (any_call *)call, __func__);
}

int sion_generic_register_get_capability_cb(int aid, free_call *call) {
    return register_call(aid, CAPABILITY, (any_call *)call, __func__);
}

/* ---- Processes and their communicator ---- */

/* Context of the callbacks of an hpcw communicator. The communicator has all processes, or the processes that share
 * a file. */
struct processes {
    const struct interface *api;
    void *group; /* the program's group of these processes */
    int rank, size;
    int *count;    /* [size] number of items in each message of a gather or scatter */
    int64_t *word; /* [size] values of all processes in a reduction; used on process 0 */
    /* the program's group of the processes that share a file with this process; NULL: not needed */
    void *of_file;
    struct sionlib_member own; /* this process's task as a member of a group, in a collective container */
};

static void free_processes(void *context) {
    struct processes *p = context;
    if (p != NULL) {
        if (p->of_file != NULL) {
            (void)((free_call *)p->api->call[FREE_GROUP])(p->of_file);
        }
        free(p->count);
        free(p->word);
        free(p);
    }
}

static struct processes *new_processes(const struct interface *api, void *group, int rank, int size) {
    struct processes *p = calloc(1, sizeof *p);
    int *count = calloc((size_t)size, sizeof *count);
    int64_t *word = calloc((size_t)size, sizeof *word);
    if (p == NULL || count == NULL || word == NULL) {
        free(p);
        free(count);
        free(word);
        return NULL;
    }
    *p = (struct processes){
        .api = api, .group = group, .rank = rank, .size = size, .count = count, .word = word};
    return p;
}

static broadcast_call *broadcast_of(const struct interface *api) {
    return (broadcast_call *)api->call[BROADCAST];
}

static same_call *gather_of(const struct interface *api) {
    return (same_call *)api->call[GATHER];
}

/* Returns the size of an item, bytes: 8, 4 or 1. The sizes of all processes are multiples of it, see
 * hpcw_comm_callbacks. */
static size_t item_of(size_t size, int *type) {
    *type = size % 8 == 0 ? _SION_INT64 : size % 4 == 0 ? _SION_INT32 : _SION_CHAR;
    return size % 8 == 0 ? 8 : size % 4 == 0 ? 4 : 1;
}

static int broadcast(void *context, void *data, size_t size, int root) {
    const struct processes *p = context;
    int type, code = 0;
    size_t item = item_of(size, &type);
    char *at = data;
    for (size_t left = size / item; code == 0 && left > 0;) {
        int n = left < 1 << 30 ? (int)left : 1 << 30;
        code = broadcast_of(p->api)(at, p->group, type, n, root);
        at += (size_t)n * item;
        left -= (size_t)n;
    }
    return code;
}

static const int *counts(const struct processes *p, const size_t *sizes, size_t item) {
    for (int r = 0; sizes != NULL && r < p->size; r++) {
        p->count[r] = (int)(sizes[r] / item);
    }
    return p->count;
}

/* SIONlib's callbacks have no const where they only read. */
static void *writable(const void *data) {
    return (void *)(uintptr_t)data;
}

static int gather(void *context, const void *mine, size_t size, void *all, const size_t *sizes, int root) {
    const struct processes *p = context;
    int type;
    size_t item = item_of(size, &type);
    return ((sized_call *)p->api->call[GATHER_SIZES])(
        writable(mine), all, p->group, type, writable(counts(p, sizes, item)), (int)(size / item), root);
}

/* As in a gather, SIONlib's scatter names the receive buffer first. */
static int scatter(void *context, const void *all, const size_t *sizes, void *mine, size_t size, int root) {
    const struct processes *p = context;
    int type;
    size_t item = item_of(size, &type);
    return ((sized_call *)p->api->call[SCATTER_SIZES])(
        mine, writable(all), p->group, type, writable(counts(p, sizes, item)), (int)(size / item), root);
}

static int split(void *context, int part, int parts, int process, int size, void **out) {
    const struct processes *p = context;
    struct processes *made = new_processes(p->api, NULL, process, size);
    void *group = NULL;
    int code = ((create_call *)p->api->call[CREATE_GROUP])(&group, p->group, p->rank, p->size, process, size,
                                                           part, parts);
    if (made == NULL) {
        return code != 0 ? code : -1;
    }
    made->group = group;
    *out = made;
    if (code != 0) {
        free_processes(made);
    }
    return code;
}

static void free_part(void *context) {
    const struct processes *p = context;
    (void)((free_call *)p->api->call[FREE_GROUP])(p->group);
    free_processes(context);
}

static hpcw_status make_comm(void *context, hpcw_comm **out, hpcw_error *err) {
    const struct processes *p = context;
    hpcw_comm_callbacks calls;
    hpcw_comm_callbacks_init(&calls);
    calls.broadcast = broadcast;
    calls.gather = gather;
    calls.scatter = scatter;
    calls.split = split;
    calls.free_part = free_part;
    return hpcw_comm_from_callbacks(&calls, context, p->rank, p->size, out, err);
}

static int64_t reduce(void *context, int64_t mine, enum sionlib_reduction how) {
    const struct processes *p = context;
    int code = gather_of(p->api)(&mine, p->word, p->group, _SION_INT64, 1, 0);
    for (int r = 0; p->rank == 0 && r < p->size; r++) {
        int64_t w = p->word[r];
        mine = r == 0                 ? w
               : how == SIONLIB_SUM   ? mine + w
               : how == SIONLIB_LEAST ? (w < mine ? w : mine)
                                      : (w > mine ? w : mine);
    }
    code = code == 0 ? broadcast_of(p->api)(&mine, p->group, _SION_INT64, 1, 0) : code;
    if (code != 0) {
        sionlib_report("sion: expected callbacks that return 0, got %d", code);
    }
    return code == 0 ? mine : -1;
}

/* ---- Collective containers ---- */

/* Writes a piece of a record that the program's callback has brought to the first task of a group. */
static int write_piece(const void *data, sion_int64 *spec, int sid) {
    struct sionlib_handle *h = sionlib_writer_of(sid, "gather_and_execute");
    return h != NULL && spec[1] >= 0 && sionlib_write(h, data, (size_t)spec[1]) ? SION_STD_SUCCESS
                                                                                : SION_STD_NOT_SUCCESS;
}

/* Writes collectively to a merged container, in which the first task of a group stores the records of all its
 * tasks. Returns false after reporting an error. */
static bool merge(struct sionlib_handle *h, const void *data, size_t size) {
    const struct processes *p = h->parallel->processes.context;
    int first = (int)p->own.collector, last = first + (int)p->own.tasks - 1;
    bool collects = h->parallel->rank_in_file == first;
    sion_int64 spec[] = {/* -2 in place of a position in the file: SIONlib appends to the collector's chunk */
                         -2, (sion_int64)size};
    bool well = !collects || sionlib_write(h, data, size);
    int code = ((sion_generic_gather_execute *)p->api->call[COLLECT])(
        data, spec, 2, h->parallel->block_size, p->of_file, first, first + 1, last, h->sid, write_piece);
    if (code != SION_STD_SUCCESS) {
        sionlib_report("sion_coll_fwrite: expected a callback that returns 0, got %d", code);
    }
    well = well && code == SION_STD_SUCCESS;
    if (!well && collects) {
        /* The other processes learn of the failure only at the close. */
        hpcw_sion_abandon(h->writer,
                          &(hpcw_error){.code = HPCW_EIO, .message = "a merged record was not written"});
    }
    return well;
}

/* Sets the group and the chunk of this process's task; callback `group` of struct sionlib_parallel. The first
 * process of a file makes the groups of all tasks of the file. Returns false after reporting an error. */
static bool group(struct sionlib_handle *h, struct sionlib_member *own, hpcw_sion_options *options) {
    struct sionlib_parallel *p = h->parallel;
    struct processes *all = p->processes.context;
    int tasks = (int)p->file_tasks[p->file], code = 0;
    bool first = p->rank_in_file == 0;
    struct sionlib_member *list = first ? malloc((size_t)tasks * sizeof *list) : NULL;
    if (all->of_file == NULL) {
        code = ((create_call *)all->api->call[CREATE_GROUP])(&all->of_file, all->group, all->rank, all->size,
                                                             p->rank_in_file, tasks, p->file, p->files);
    }
    bool well = sionlib_agree(&p->processes, code == 0 && (!first || list != NULL));
    if (well) {
        own->follows = ((free_call *)all->api->call[CAPABILITY])(all->of_file) == ONLY_SENDER;
        code = gather_of(all->api)(own, list, all->of_file, _SION_INT64, SIONLIB_MEMBER_WORDS, 0);
        well = code == 0 && (!first || sionlib_group_tasks(list, tasks, &p->mode, p->again, p->block_size));
        well = sionlib_agree(&p->processes, well);
    }
    if (well) {
        code = ((same_call *)all->api->call[SCATTER])(list, own, all->of_file, _SION_INT64,
                                                      SIONLIB_MEMBER_WORDS, 0);
        well = sionlib_agree(&p->processes, code == 0);
    }
    if (!well) {
        sionlib_report(
            "%s: expected memory for the groups, callbacks that return 0, and chunks that fit into a file",
            p->path);
    }
    free(list);
    all->own = *own;
    h->merge = p->mode.merge ? merge : NULL;
    sionlib_group_options(options);
    return well;
}

/* ---- Opens and closes ---- */

/* Makes the parallel part of a handle, with the program's names of files. Collective. Returns NULL after reporting
 * an error. */
static struct sionlib_parallel *new_parallel(int aid, const char *path, const char *mode,
                                             const struct sionlib_processes *processes) {
    const struct interface *api = atomic_load(&table[aid]);
    struct sionlib_parallel *p = sionlib_parallel_new(path, mode, processes);
    if (p != NULL && api->names.of != NULL) {
        p->names = &api->names;
    }
    return p;
}

/* Returns false after reporting an error. */
static bool processes_of(struct sionlib_processes *processes, int aid, void *group, int rank, int size,
                         const char *call) {
    const struct interface *api = api_of(aid, call);
    if (api == NULL) {
        return false;
    }
    for (int c = 0; c < NEEDED; c++) {
        if (api->call[c] == NULL) {
            sionlib_report(
                "%s: expected callbacks for groups, barrier, bcastr, gatherr, gathervr, scatterr and "
                "scattervr, got not all of them",
                call);
            return false;
        }
    }
    if (rank < 0 || rank >= size) {
        sionlib_report("%s: expected a rank from 0 to %d, got %d", call, size - 1, rank);
        return false;
    }
    struct processes *p = new_processes(api, group, rank, size);
    if (p == NULL) {
        sionlib_report("%s: expected memory for %d processes, got none", call, size);
        return false;
    }
    *processes = (struct sionlib_processes){rank, size, p, reduce, make_comm, free_processes};
    return true;
}

int sion_generic_paropen(int aid, const char *fname, const char *file_mode, sion_int64 *chunksize,
                         sion_int32 *fsblksize, void *gcommgroup, int grank, int gsize, int *filenumber,
                         int *numfiles, const int *lrank, const int *lsize, FILE **fileptr, char **newfname) {
    struct sionlib_processes processes;
    if (fname == NULL || file_mode == NULL || chunksize == NULL || fsblksize == NULL || filenumber == NULL ||
        numfiles == NULL || lrank == NULL || lsize == NULL) {
        sionlib_report("sion_generic_paropen: expected pointers, got NULL");
        return SION_ID_NOT_VALID;
    }
    if (!processes_of(&processes, aid, gcommgroup, grank, gsize, "sion_generic_paropen")) {
        return SION_ID_NOT_VALID;
    }
    struct sionlib_parallel *p = new_parallel(aid, fname, file_mode, &processes);
    if (p == NULL) {
        return SION_ID_NOT_VALID;
    }
    p->group = group;
    /* Without the callbacks for groups, SIONlib gives each task a chunk of its own. */
    p->mode.collective = p->mode.collective && ((struct processes *)processes.context)->api->collective;
    bool well = !p->mode.write || sionlib_divide_by_place(p, true, *numfiles, *filenumber, *lrank, 1);
    int sid = sionlib_open_each(p, well, numfiles, chunksize, fsblksize, fileptr, newfname);
    if (sid >= 0) {
        *filenumber = sion_get_filenumber(sid);
    }
    return sid;
}

int sion_generic_paropen_mapped(int aid, char *fname, const char *file_mode, int *numFiles, void *gcommgroup,
                                int grank, int gsize, int *nlocaltasks, int **globalranks,
                                sion_int64 **chunksizes, int **mapping_filenrs, int **mapping_lranks,
                                sion_int32 *fsblksize, FILE **fileptr) {
    const struct sionlib_mapping mapping = {nlocaltasks, globalranks, chunksizes, mapping_filenrs,
                                            mapping_lranks};
    struct sionlib_processes processes;
    if (!sionlib_mapping_check(&mapping, fname, file_mode, numFiles, fsblksize) ||
        !processes_of(&processes, aid, gcommgroup, grank, gsize, "sion_generic_paropen_mapped")) {
        return SION_ID_NOT_VALID;
    }
    struct sionlib_parallel *p = new_parallel(aid, fname, file_mode, &processes);
    return p == NULL ? SION_ID_NOT_VALID : sionlib_open_mapped(p, numFiles, &mapping, *fsblksize, fileptr);
}

int sion_generic_parclose(int sid) {
    struct sionlib_handle *h = sionlib_handle_of_several(sid, SIONLIB_PARALLEL, "sion_generic_parclose");
    return h == NULL ? SION_ID_NOT_VALID : sionlib_handle_close(h);
}

int sion_generic_parclose_mapped(int sid) {
    struct sionlib_handle *h = sionlib_handle_of_several(sid, SIONLIB_MAPPED, "sion_generic_parclose_mapped");
    return h == NULL ? SION_ID_NOT_VALID : sionlib_handle_close(h);
}

int sion_generic_parreinit(int sid, sion_int64 chunksize) {
    struct sionlib_handle *h = sionlib_handle_of_several(sid, SIONLIB_PARALLEL, "sion_generic_parreinit");
    return sionlib_reinit(h, chunksize, "sion_generic_parreinit");
}
