/* SPDX-License-Identifier: BSD-3-Clause */
/* Containers with any number of tasks per process. */
#include <stdlib.h>

#include "compat/sionlib/parallel.h"
#include "compat/sionlib/stream.h"

/* A task of the caller. */
struct local {
    uint32_t rank;
    uint64_t chunk;
};

static int by_rank(const void *a, const void *b) {
    const struct local *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The caller's tasks, ascending, in new memory. NULL: none. */
static struct local *sorted(const struct sionlib_mapping *a, bool with_chunks) {
    size_t count = *a->count > 0 ? (size_t)*a->count : 0;
    struct local *local = calloc(count + 1, sizeof *local);
    for (size_t i = 0; local != NULL && i < count; i++) {
        local[i].rank = (uint32_t)(*a->ranks)[i];
        local[i].chunk = with_chunks ? (uint64_t)(*a->chunks)[i] : 0;
    }
    if (local != NULL) {
        qsort(local, count, sizeof *local, by_rank);
    }
    return local;
}

/* The tasks of each file but the last one, if the caller's mapping divides them in the order of their ranks. Collective.
 * -1: no process has a task in another file than the first. */
static int64_t tasks_per_file(const struct sionlib_parallel *p, const struct sionlib_mapping *a) {
    int64_t each = -1;
    for (int i = 0; i < *a->count; i++) {
        if ((*a->files)[i] > 0) {
            each = ((int64_t)(*a->ranks)[i] - (*a->places)[i]) / (*a->files)[i];
            break;
        }
    }
    return p->processes.reduce(p->processes.context, each, SIONLIB_MOST);
}

/* Whether the caller's mapping is that of files with `each` tasks, and the rest in the last one. False: reported. */
static bool check_mapping(const char *path, const struct sionlib_mapping *a, int64_t tasks, int files,
                          int64_t each) {
    for (int i = 0; i < *a->count; i++) {
        int64_t rank = (*a->ranks)[i];
        int64_t file = rank / each < files ? rank / each : files - 1;
        if (rank < 0 || rank >= tasks || (*a->chunks)[i] < 0) {
            sionlib_report("%s: task %d of the process: expected rank 0 to %d and a chunk of at least 0 bytes, "
                           "got rank %d",
                           path, i, (int)tasks - 1, (int)rank);
            return false;
        }
        if ((*a->files)[i] != file || (*a->places)[i] != rank - file * each) {
            sionlib_report(
                "%s: mapping of task %d: expected place %d of file %d, as each file but the last one has %d "
                "tasks, in order, got place %d of file %d",
                path, (int)rank, (int)(rank - file * each), (int)file, (int)each, (*a->places)[i],
                (*a->files)[i]);
            return false;
        }
    }
    return true;
}

/* SIONlib selects the first task of the caller in the lowest file. */
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

/* Tasks of the handle and options of the writer. False: reported. */
static bool prepare(struct sionlib_handle *h, const struct local *local, uint32_t each, int files,
                    uint32_t *ranks, uint64_t *sizes) {
    for (uint32_t i = 0; i < h->count; i++) {
        uint32_t rank = local[i].rank;
        uint32_t file = rank / each < (uint32_t)files ? rank / each : (uint32_t)files - 1;
        ranks[i] = rank;
        sizes[i] = local[i].chunk;
        h->task[i] = (struct sionlib_task){
            .rank = rank, .file = file, .index = rank - file * each, .start = -1, .stride = -1, .blocks = 1};
        if (!sionlib_reserve_blocks(&h->task[i], 1)) {
            return false;
        }
    }
    return true;
}

/* Collective. NULL: reported. */
static struct sionlib_handle *open_to_write(struct sionlib_parallel *p, int files,
                                            const struct sionlib_mapping *a, sion_int32 *block_size) {
    int64_t tasks = p->processes.reduce(p->processes.context, *a->count, SIONLIB_SUM);
    int64_t each = tasks_per_file(p, a);
    each = files == 1 ? tasks : each;
    bool well = files > 0 && files <= tasks && *a->count >= 0;
    if (!well) {
        sionlib_report("%s: expected 1 to %d files, and for each process its tasks, got %d files", p->path,
                       (int)tasks, files);
    }
    if (well && (each < 1 || each > tasks)) {
        sionlib_report("%s: mapping: expected tasks in each of %d files, in the order of their ranks", p->path,
                       files);
        well = false;
    }
    well = well && check_mapping(p->path, a, tasks, files, each);
    uint32_t count = well ? (uint32_t)*a->count : 0;
    struct local *local = well ? sorted(a, true) : NULL;
    uint32_t *ranks = calloc(count + 1, sizeof *ranks);
    uint64_t *sizes = calloc(count + 1, sizeof *sizes);
    struct sionlib_handle *h = local == NULL ? NULL : sionlib_handle_new(SIONLIB_MAPPED, count);
    hpcw_sion_options o;
    hpcw_error err;
    well =
        h != NULL && ranks != NULL && sizes != NULL && prepare(h, local, (uint32_t)each, files, ranks, sizes);
    if (!sionlib_agree(&p->processes, well)) {
        goto failed;
    }
    sionlib_parallel_block_size(p, *block_size);
    sionlib_mode_options(&p->mode, p->path, p->block_size, &o);
    o.layout = HPCW_SION_ALIGNED;
    o.flavour = HPCW_SION_MAPPED;
    o.mark_unused = true;
    o.files = (uint32_t)files;
    o.tasks_per_file = (uint32_t)each;
    o.count = count;
    o.ranks = ranks;
    o.sizes = sizes;
    sionlib_parallel_names(p, &o);
    if (p->processes.comm(p->processes.context, &h->comm, &err) != HPCW_OK ||
        hpcw_sion_open(p->path, h->comm, &o, &h->writer, &err) != HPCW_OK) {
        sionlib_report_error(h->comm, &err);
        goto failed;
    }
    for (uint32_t i = 0; i < count; i++) {
        h->task[i].chunk = (sion_int64)hpcw_sion_chunk_size(h->writer, h->task[i].rank);
    }
    h->files = files;
    h->keys = p->mode.keys;
    h->big_data = p->mode.data == HPCW_SION_BIG;
    *block_size = p->block_size;
    goto done;
failed:
    sionlib_handle_free(h);
    h = NULL;
done:
    free(local);
    free(ranks);
    free(sizes);
    return h;
}

/* SIONlib's shares: as many tasks for each process, and the rest for the last one. */
static void share(const struct sionlib_parallel *p, uint32_t tasks, int64_t *first, int64_t *end) {
    int64_t each = tasks / (uint32_t)p->processes.size;
    *first = p->processes.rank * each;
    *end = p->processes.rank == p->processes.size - 1 ? tasks : *first + each;
}

/* The reader of the caller's tasks, or of a share. Collective. NULL: reported. */
static hpcw_sion_reader *open_reader(struct sionlib_parallel *p, hpcw_comm *comm,
                                     const struct sionlib_mapping *a) {
    hpcw_sion_reader *reader = NULL;
    hpcw_error err;
    int64_t first = 0, end = 0;
    bool shares = *a->count < 0;
    struct local *local = shares ? NULL : sorted(a, false);
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
        ranks[i] = shares ? (uint32_t)first + i : local[i].rank;
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

/* An array of the caller, made if there is none. */
static void *array(void *given, uint32_t count, size_t size) {
    return given != NULL ? given : malloc(((size_t)count + 1) * size);
}

/* Tells the caller of its tasks. False: reported. */
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

/* Collective. NULL: reported. */
static struct sionlib_handle *open_to_read(struct sionlib_parallel *p, int *files,
                                           const struct sionlib_mapping *a, sion_int32 *block_size) {
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
    *block_size = (sion_int32)hpcw_sion_reader_info(h->reader)->fs_block_size;
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
                        sion_int32 *block_size, FILE **stream) {
    struct sionlib_handle *h =
        p->mode.write ? open_to_write(p, *files, a, block_size) : open_to_read(p, files, a, block_size);
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
