/* SPDX-License-Identifier: BSD-3-Clause */
/* Containers with any number of tasks per process. */
#include <stdlib.h>

#include "bindings/sionlib/handles/parallel.h"
#include "bindings/sionlib/handles/stream.h"

/* A task of the caller. `key`: for writing, the task number that hpcw_sion has for the task; for reading, the rank
 * of the task. */
struct local {
    uint32_t key;
    int index; /* index of the task in the caller's arrays */
};

static int by_key(const void *a, const void *b) {
    const struct local *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* Returns the caller's tasks, sorted by key, in an array from malloc; NULL without memory. The key is the rank of
 * the task if `first` is NULL. For writing, `first` is the lowest task number of each file, and the key is the task
 * number. */
static struct local *sorted(const struct sionlib_mapping *a, const uint32_t *first) {
    size_t count = *a->count > 0 ? (size_t)*a->count : 0;
    struct local *local = calloc(count + 1, sizeof *local);
    for (size_t i = 0; local != NULL && i < count; i++) {
        local[i].index = (int)i;
        local[i].key =
            first == NULL ? (uint32_t)(*a->ranks)[i] : first[(*a->files)[i]] + (uint32_t)(*a->places)[i];
    }
    if (local != NULL) {
        qsort(local, count, sizeof *local, by_key);
    }
    return local;
}

/* Checks the caller's arrays for an open to write. Returns false after reporting an error. */
static bool check_mapping(const char *path, const struct sionlib_mapping *a, int64_t tasks, int files) {
    bool well = files > 0 && files <= tasks && *a->count >= 0;
    if (!well) {
        sionlib_report("%s: expected 1 to %d files, and for each process its tasks, got %d files", path,
                       (int)tasks, files);
    }
    for (int i = 0; well && i < *a->count; i++) {
        int rank = (*a->ranks)[i], file = (*a->files)[i], place = (*a->places)[i];
        well = rank >= 0 && rank < tasks && (*a->chunks)[i] >= 0 && file >= 0 && file < files && place >= 0;
        if (!well) {
            sionlib_report(
                "%s: task %d of the process: expected a chunk of at least 0 bytes, rank 0 to %d, file 0 to "
                "%d, and a place, got rank %d at place %d of file %d",
                path, i, (int)tasks - 1, files - 1, rank, place, file);
        }
    }
    return well;
}

/* Selects the first of the caller's tasks that are in the lowest file, as SIONlib does. */
static void select_first(struct sionlib_handle *h, const int *ranks) {
    uint32_t lowest = UINT32_MAX;
    for (uint32_t i = 0; i < h->count; i++) {
        for (uint32_t k = 0; k < h->count; k++) {
            if (h->task[k].rank == (uint32_t)ranks[i] && h->task[k].file < lowest) {
                lowest = h->task[k].file;
                h->current = k;
            }
        }
    }
    h->file = h->count > 0 ? (int)lowest : 0;
}

/* Input of the writer: the tasks of this process in the order of their numbers. */
struct writing {
    /* [files] `tasks`: number of tasks of each file; `first`: number of the first task of each file */
    uint32_t *tasks, *first;
    struct local *local;     /* [count] */
    uint32_t *number, *rank; /* [count] */
    uint64_t *size;          /* [count] */
    bool renamed;            /* true: some task of any process has a rank that differs from its task number */
};

static void writing_free(struct writing *w) {
    free(w->tasks);
    free(w->local);
    free(w->number);
    free(w->size);
}

/* Counts the tasks of each file. Collective. Returns false after reporting an error. */
static bool count_tasks(const struct sionlib_parallel *p, const struct sionlib_mapping *a, int files,
                        struct writing *w) {
    int64_t tasks = p->processes.reduce(p->processes.context, *a->count, SIONLIB_SUM);
    bool well = check_mapping(p->path, a, tasks, files);
    w->tasks = well ? calloc(2 * (size_t)files, sizeof *w->tasks) : NULL;
    int64_t least = p->processes.reduce(p->processes.context, files, SIONLIB_LEAST);
    int64_t most = p->processes.reduce(p->processes.context, files, SIONLIB_MOST);
    if (!sionlib_agree(&p->processes, w->tasks != NULL && least == most)) {
        return false;
    }
    for (int i = 0; i < *a->count; i++) {
        w->tasks[(*a->files)[i]]++;
    }
    well = sionlib_count_tasks(p, w->tasks, files);
    w->first = w->tasks + files;
    for (int f = 1; f < files; f++) {
        w->first[f] = w->first[f - 1] + w->tasks[f - 1];
    }
    return well;
}

/* Fills in `w`. Collective. Returns false after reporting an error. */
static bool prepare(const struct sionlib_parallel *p, const struct sionlib_mapping *a, struct writing *w) {
    size_t count = (size_t)*a->count;
    w->local = sorted(a, w->first);
    w->number = calloc(2 * count + 1, sizeof *w->number);
    w->size = calloc(count + 1, sizeof *w->size);
    bool well = w->local != NULL && w->number != NULL && w->size != NULL;
    bool renamed = false;
    w->rank = w->number == NULL ? NULL : w->number + count;
    for (size_t i = 0; well && i < count; i++) {
        w->number[i] = w->local[i].key;
        w->rank[i] = (uint32_t)(*a->ranks)[w->local[i].index];
        w->size[i] = (uint64_t)(*a->chunks)[w->local[i].index];
        renamed = renamed || w->rank[i] != w->number[i];
    }
    w->renamed = p->processes.reduce(p->processes.context, renamed, SIONLIB_MOST) == 1;
    return sionlib_agree(&p->processes, well);
}

/* Fills in the tasks of the handle. Returns false after reporting an error. */
static bool fill_in(struct sionlib_handle *h, const struct sionlib_mapping *a, const struct writing *w) {
    for (uint32_t i = 0; i < h->count; i++) {
        int k = w->local[i].index;
        h->task[i] = (struct sionlib_task){.rank = w->rank[i],
                                           .number = w->number[i],
                                           .file = (uint32_t)(*a->files)[k],
                                           .index = (uint32_t)(*a->places)[k],
                                           .start = -1,
                                           .stride = -1,
                                           .blocks = 1};
        if (!sionlib_reserve_blocks(&h->task[i], 1)) {
            return false;
        }
    }
    return true;
}

/* Opens a container for writing. Collective. Returns NULL after reporting an error. */
static struct sionlib_handle *open_to_write(struct sionlib_parallel *p, int files,
                                            const struct sionlib_mapping *a, sion_int32 block_size) {
    struct writing w = {.tasks = NULL};
    struct sionlib_handle *h = NULL;
    hpcw_sion_options o;
    hpcw_error err;
    if (!count_tasks(p, a, files, &w) || !prepare(p, a, &w)) {
        goto done;
    }
    h = sionlib_handle_new(SIONLIB_MAPPED, (uint32_t)*a->count);
    if (!sionlib_agree(&p->processes, h != NULL && fill_in(h, a, &w))) {
        goto failed;
    }
    sionlib_parallel_block_size(p, block_size);
    sionlib_mode_options(&p->mode, p->path, p->block_size, &o);
    o.layout = HPCW_SION_ALIGNED;
    o.flavour = HPCW_SION_MAPPED;
    o.mark_unused = true;
    o.files = (uint32_t)files;
    o.file_tasks = w.tasks;
    o.count = h->count;
    o.ranks = w.number;
    o.global_ranks = w.renamed ? w.rank : NULL;
    o.sizes = w.size;
    sionlib_parallel_names(p, &o);
    if (p->processes.comm(p->processes.context, &h->comm, &err) != HPCW_OK ||
        hpcw_sion_open(p->path, h->comm, &o, &h->writer, &err) != HPCW_OK) {
        sionlib_report_error(h->comm, &err);
        goto failed;
    }
    for (uint32_t i = 0; i < h->count; i++) {
        h->task[i].chunk = (sion_int64)hpcw_sion_chunk_size(h->writer, h->task[i].number);
    }
    h->files = files;
    h->keys = p->mode.keys;
    h->big_data = p->mode.data == HPCW_SION_BIG;
    goto done;
failed:
    sionlib_handle_free(h);
    h = NULL;
done:
    writing_free(&w);
    return h;
}

/* Gets this process's share of all tasks, [*first, *end), as in SIONlib: equal shares, and the remainder for the
 * last process. */
static void share(const struct sionlib_parallel *p, uint32_t tasks, int64_t *first, int64_t *end) {
    int64_t each = tasks / (uint32_t)p->processes.size;
    *first = p->processes.rank * each;
    *end = p->processes.rank == p->processes.size - 1 ? tasks : *first + each;
}

/* Opens a reader of the tasks that the caller names, or of a share of all tasks. Collective. Returns NULL after
 * reporting an error. */
static hpcw_sion_reader *open_reader(struct sionlib_parallel *p, hpcw_comm *comm,
                                     const struct sionlib_mapping *a) {
    hpcw_sion_reader *reader = NULL;
    hpcw_error err;
    int64_t first = 0, end = 0;
    bool shares = *a->count < 0;
    struct local *local = shares ? NULL : sorted(a, NULL);
    uint32_t *ranks = NULL;
    uint32_t count = 0;
    if (shares) {
        if (sionlib_parallel_reader(p, comm, 0, NULL, &reader, &err) != HPCW_OK) {
            sionlib_report_error(comm, &err);
            return NULL;
        }
        uint32_t tasks = hpcw_sion_reader_info(reader)->tasks;
        if (tasks % (uint32_t)p->processes.size == 0) {
            return reader;
        }
        share(p, tasks, &first, &end);
        count = (uint32_t)(end - first);
        hpcw_sion_reader_free(reader);
    } else {
        count = (uint32_t)*a->count;
    }
    ranks = malloc(((size_t)count + 1) * sizeof *ranks);
    bool well = ranks != NULL && (shares || local != NULL);
    for (uint32_t i = 0; well && i < count; i++) {
        ranks[i] = shares ? (uint32_t)first + i : local[i].key;
    }
    reader = NULL;
    if (!sionlib_agree(&p->processes, well)) {
        sionlib_report("%s: expected memory for a list of %u tasks, got none on a process", p->path, count);
    } else if (sionlib_parallel_reader(p, comm, count, ranks, &reader, &err) != HPCW_OK) {
        sionlib_report_error(comm, &err);
    }
    free(local);
    free(ranks);
    return reader;
}

/* Returns the caller's array, or a new one if it is NULL. */
static void *array(void *given, uint32_t count, size_t size) {
    return given != NULL ? given : malloc(((size_t)count + 1) * size);
}

/* Copies the properties of the tasks into the caller's arrays. Returns false after reporting an error. */
static bool hand_out(const struct sionlib_handle *h, const struct sionlib_mapping *a) {
    bool shares = *a->count < 0;
    *a->ranks = array(*a->ranks, h->count, sizeof **a->ranks);
    *a->chunks = array(*a->chunks, h->count, sizeof **a->chunks);
    *a->files = array(*a->files, h->count, sizeof **a->files);
    *a->places = array(*a->places, h->count, sizeof **a->places);
    if (*a->ranks == NULL || *a->chunks == NULL || *a->files == NULL || *a->places == NULL) {
        sionlib_report("sion: expected memory for %u tasks, got none", h->count);
        return false;
    }
    for (uint32_t i = 0; i < h->count; i++) {
        if (shares) {
            (*a->ranks)[i] = (int)h->task[i].rank;
        }
        const hpcw_sion_task *t = hpcw_sion_reader_find(h->reader, (uint32_t)(*a->ranks)[i]);
        (*a->chunks)[i] = (sion_int64)t->chunk_size;
        (*a->files)[i] = (int)t->file;
        (*a->places)[i] = (int)t->index;
    }
    *a->count = (int)h->count;
    return true;
}

/* Opens a container for reading. Collective. Returns NULL after reporting an error. */
static struct sionlib_handle *open_to_read(struct sionlib_parallel *p, int *files,
                                           const struct sionlib_mapping *a) {
    hpcw_comm *comm = NULL;
    hpcw_error err;
    if (p->processes.comm(p->processes.context, &comm, &err) != HPCW_OK) {
        sionlib_report("%s", err.message);
        return NULL;
    }
    hpcw_sion_reader *reader = open_reader(p, comm, a);
    if (reader == NULL) {
        hpcw_comm_free(comm);
        return NULL;
    }
    struct sionlib_handle *h = sionlib_handle_of_reader(SIONLIB_MAPPED, reader);
    if (!sionlib_agree(&p->processes, h != NULL && hand_out(h, a))) {
        sionlib_handle_free(h);
        hpcw_comm_free(comm);
        return NULL;
    }
    h->comm = comm;
    *files = h->files;
    return h;
}

bool sionlib_mapping_check(const struct sionlib_mapping *a, const char *path, const char *mode,
                           const int *files, const sion_int32 *block_size) {
    bool well = path != NULL && mode != NULL && files != NULL && a->count != NULL && a->ranks != NULL &&
                a->chunks != NULL && a->files != NULL && a->places != NULL && block_size != NULL;
    if (!well) {
        sionlib_report("sion: open of mapped tasks: expected pointers, got NULL");
    }
    return well;
}

int sionlib_open_mapped(struct sionlib_parallel *p, int *files, const struct sionlib_mapping *a,
                        sion_int32 block_size, FILE **stream) {
    struct sionlib_handle *h =
        p->mode.write ? open_to_write(p, *files, a, block_size) : open_to_read(p, files, a);
    if (h == NULL) {
        sionlib_parallel_free(p);
        return SION_ID_NOT_VALID;
    }
    h->parallel = p;
    select_first(h, *a->ranks);
    if (stream != NULL) {
        *stream = sionlib_stream(h);
    }
    return h->sid;
}
