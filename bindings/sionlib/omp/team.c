/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include <omp.h>

#include "bindings/sionlib/handles/stream.h"
#include "bindings/sionlib/omp/team.h"

struct sionlib_team *sionlib_team_new(const char *path, const char *mode) {
    int threads = omp_get_num_threads();
    struct sionlib_team *team = calloc(1, sizeof *team);
    struct sionlib_member *member = calloc((size_t)threads, sizeof *member);
    uint64_t *chunk = calloc((size_t)threads, sizeof *chunk);
    uint32_t *number = calloc(2 * (size_t)threads, sizeof *number);
    struct sionlib_piece *record = calloc((size_t)threads, sizeof *record);
    if (team == NULL || member == NULL || chunk == NULL || number == NULL || record == NULL) {
        sionlib_report("%s: expected memory for %d threads, got none", path, threads);
        free(team);
        free(member);
        free(chunk);
        free(number);
        free(record);
        return NULL;
    }
    team->threads = threads;
    team->member = member;
    team->chunk = chunk;
    team->number = number;
    team->rank = number + threads;
    team->record = record;
    team->path = path;
    team->files = 1;
    sionlib_mode_of(mode, &team->mode);
    return team;
}

void sionlib_team_free(struct sionlib_team *team) {
    if (team == NULL) {
        return;
    }
    hpcw_sion_free(team->writer);
    hpcw_comm_free(team->comm);
    sionlib_parallel_free(team->parallel);
    free(team->member);
    free(team->chunk);
    free(team->number);
    free(team->record);
    free(team);
}

void sionlib_team_options(struct sionlib_team *team, hpcw_sion_options *options) {
    sionlib_mode_options(&team->mode, team->path, team->block_size, options);
    for (int t = 0; t < team->threads; t++) {
        team->chunk[t] = (uint64_t)team->member[t].chunk;
        team->number[t] = team->first_number + (uint32_t)t;
        team->rank[t] = team->first + (uint32_t)t;
    }
    options->count = (uint32_t)team->threads;
    options->sizes = team->chunk;
}

/* Writes collectively to a merged container. Called by all threads. */
static bool merge(struct sionlib_handle *h, const void *data, size_t size) {
    struct sionlib_team *team = h->team;
    team->record[omp_get_thread_num()] = (struct sionlib_piece){data, size};
#pragma omp barrier
#pragma omp master
    { team->merged = team->merge(team); }
#pragma omp barrier
    return team->merged;
}

/* Makes the handle of the calling thread. Returns NULL after reporting an error. */
static struct sionlib_handle *writer_of(const struct sionlib_team *team, uint32_t thread) {
    struct sionlib_handle *h = sionlib_handle_new(SIONLIB_PARALLEL, 1);
    if (h == NULL) {
        return NULL;
    }
    h->writer = team->writer;
    h->keys = team->mode.keys;
    h->big_data = team->mode.data == HPCW_SION_BIG;
    h->files = team->files;
    h->file = team->file;
    h->merge = team->mode.collective && team->mode.merge ? merge : NULL;
    h->task[0] = (struct sionlib_task){
        .rank = team->first + thread,
        .number = team->first_number + thread,
        .file = (uint32_t)team->file,
        .index = (uint32_t)team->first_in_file + thread,
        .chunk = (sion_int64)hpcw_sion_chunk_size(team->writer, team->first_number + thread),
        .start = -1,
        .stride = -1,
        .blocks = 1,
    };
    if (!sionlib_reserve_blocks(&h->task[0], 1)) {
        h->writer = NULL; /* the team owns the writer */
        sionlib_handle_free(h);
        return NULL;
    }
    return h;
}

static struct sionlib_handle *reader_of(const struct sionlib_team *team, uint32_t thread) {
    hpcw_sion_reader *reader;
    hpcw_error err;
    uint32_t rank = team->first + thread;
    if (hpcw_sion_reader_open(team->path, NULL, 1, &rank, &reader, &err) != HPCW_OK) {
        sionlib_report("%s", err.message);
        return NULL;
    }
    return sionlib_handle_of_reader(SIONLIB_PARALLEL, reader);
}

/* Returns whether no thread of any process has failed. Called by all threads. */
static bool agree(struct sionlib_team *team, bool well) {
    if (!well) {
        atomic_store(&team->failed, true);
    }
#pragma omp barrier
#pragma omp master
    {
        if (team->agree != NULL && !team->agree(team, !atomic_load(&team->failed))) {
            atomic_store(&team->failed, true);
        }
    }
#pragma omp barrier
    bool all = !atomic_load(&team->failed);
    /* All threads wait here: otherwise a fast thread could fail in its next call before others read `failed`. */
#pragma omp barrier
    return all;
}

int sionlib_team_open(struct sionlib_team *team, sion_int64 *chunk, sion_int32 *block_size, int *rank,
                      FILE **stream, char **name) {
    uint32_t thread = (uint32_t)omp_get_thread_num();
    struct sionlib_handle *h = NULL;
    bool well = true;
    team->member[thread] = (struct sionlib_member){.chunk = *chunk, .follows = thread > 0};
#pragma omp barrier
#pragma omp master
    { well = !team->mode.write || team->create(team); }
    if (agree(team, well)) {
        h = team->mode.write ? writer_of(team, thread) : reader_of(team, thread);
        well = agree(team, h != NULL);
    } else {
        well = false;
    }
    if (!well) {
        if (h != NULL) {
            h->team = team; /* the team owns the writer */
            sionlib_handle_free(h);
        }
#pragma omp barrier
#pragma omp master
        sionlib_team_free(team);
        return SION_ID_NOT_VALID;
    }
    h->team = team;
#pragma omp master
    { team->master = h; }
    *rank = (int)(team->first + thread);
    *block_size =
        h->reader == NULL ? team->block_size : (sion_int32)hpcw_sion_reader_info(h->reader)->fs_block_size;
    *chunk = h->reader == NULL ? *chunk : h->task[0].chunk;
    if (stream != NULL) {
        *stream = sionlib_stream(h);
    }
    if (name != NULL) {
        *name = sionlib_file_name(team->path, h->file);
    }
    return h->sid;
}

int sionlib_team_close(int sid, const char *call) {
    struct sionlib_handle *h = sionlib_handle_of(sid, call);
    if (h == NULL || h->team == NULL) {
        if (h != NULL) {
            sionlib_report("%s: expected a container of several threads", call);
        }
        return SION_NOT_SUCCESS;
    }
    struct sionlib_team *team = h->team;
    if (omp_get_num_threads() != team->threads) {
        sionlib_report("%s: expected the %d threads that opened the container, got %d", call, team->threads,
                       omp_get_num_threads());
        return SION_NOT_SUCCESS;
    }
    hpcw_error err;
#pragma omp barrier
#pragma omp master
    {
        team->closed = SION_SUCCESS;
        if (team->writer != NULL && hpcw_sion_close(team->writer, &err) != HPCW_OK) {
            sionlib_report_error(team->comm, &err);
            team->closed = SION_NOT_SUCCESS;
        }
    }
#pragma omp barrier
    int closed = team->closed;
    sionlib_handle_free(h);
#pragma omp barrier
#pragma omp master
    sionlib_team_free(team);
    return closed;
}
