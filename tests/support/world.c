/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/files.h"

hpcw_comm *world;
int process;
int processes;

/* ---- with HPCW_TEST_CALLBACKS set, `world` is a communicator of these callbacks, which call MPI ---- */

/* Offsets of the messages of a gather or scatter on its root. MPI ignores them on other processes. */
static int *offsets(MPI_Comm comm, const size_t *sizes, int **counts) {
    int n;
    MPI_Comm_size(comm, &n);
    int *at = calloc(2 * (size_t)n, sizeof *at);
    *counts = at + n;
    for (int p = 0; sizes != NULL && p < n; p++) {
        at[p] = p == 0 ? 0 : at[p - 1] + (*counts)[p - 1];
        (*counts)[p] = (int)sizes[p];
    }
    return at;
}

static int world_broadcast(void *context, void *data, size_t size, int root) {
    return MPI_Bcast(data, (int)size, MPI_BYTE, root, *(MPI_Comm *)context);
}

static int world_gather(void *context, const void *mine, size_t size, void *all, const size_t *sizes,
                        int root) {
    MPI_Comm comm = *(MPI_Comm *)context;
    int *counts;
    int *at = offsets(comm, sizes, &counts);
    int code = MPI_Gatherv(mine, (int)size, MPI_BYTE, all, counts, at, MPI_BYTE, root, comm);
    free(at);
    return code;
}

static int world_scatter(void *context, const void *all, const size_t *sizes, void *mine, size_t size,
                         int root) {
    MPI_Comm comm = *(MPI_Comm *)context;
    int *counts;
    int *at = offsets(comm, sizes, &counts);
    int code = MPI_Scatterv(all, counts, at, MPI_BYTE, mine, (int)size, MPI_BYTE, root, comm);
    free(at);
    return code;
}

static int world_split(void *context, int part, int parts, int part_process, int size, void **out) {
    MPI_Comm *comm = malloc(sizeof *comm);
    int n, me;
    *out = comm;
    int code = MPI_Comm_split(*(MPI_Comm *)context, part, part_process, comm);
    MPI_Comm_size(*comm, &n);
    MPI_Comm_rank(*comm, &me);
    return code != MPI_SUCCESS || n != size || me != part_process || part >= parts;
}

static void world_free_part(void *context) {
    MPI_Comm_free(context);
    free(context);
}

bool world_of_callbacks(void) {
    return getenv("HPCW_TEST_CALLBACKS") != NULL;
}

static hpcw_status make_world(hpcw_error *err) {
    static MPI_Comm own;
    hpcw_comm_callbacks calls;
    if (!world_of_callbacks()) {
        return hpcw_comm_from_mpi(MPI_COMM_WORLD, &world, err);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    hpcw_comm_callbacks_init(&calls);
    calls.broadcast = world_broadcast;
    calls.gather = world_gather;
    calls.scatter = world_scatter;
    calls.split = world_split;
    calls.free_part = world_free_part;
    return hpcw_comm_from_callbacks(&calls, &own, process, processes, &world, err);
}

/* ---- All tests ---- */

static void make_folder(const char *path) {
    if (mkdir(path, 0777) != 0) {
        perror(path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

void world_begin(int *argc, char ***argv, int folders) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    if (process == 0) {
        scratch_make(scratch, sizeof scratch);
        for (int i = 0; i < folders; i++) {
            char path[sizeof scratch + 16];
            (void)snprintf(path, sizeof path, "%s/%d", scratch, i);
            make_folder(path);
        }
    }
    MPI_Bcast(scratch, (int)sizeof scratch, MPI_BYTE, 0, MPI_COMM_WORLD);
    hpcw_error err;
    if (make_world(&err) != HPCW_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int world_end(int failed) {
    hpcw_comm_free(world);
    MPI_Barrier(MPI_COMM_WORLD);
    if (process == 0) {
        scratch_remove(scratch);
    }
    MPI_Finalize();
    return failed;
}

bool on_all(bool mine) {
    int in = mine;
    int out = 0;
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return out != 0;
}

bool on_any(bool mine) {
    return !on_all(!mine);
}

bool same_verdict(hpcw_status s, const hpcw_error *err) {
    hpcw_error first = *err;
    MPI_Bcast(&first, (int)sizeof first, MPI_BYTE, 0, MPI_COMM_WORLD);
    bool same = s == err->code && first.code == err->code && strcmp(first.message, err->message) == 0 &&
                first.process == err->process && strchr(err->message, '\n') == NULL;
    if (!same) {
        (void)fprintf(stderr, "process %d: status %d, process %d failed with: %s (process 0 got: %s)\n",
                      process, (int)s, err->process, err->message, first.message);
    }
    return on_all(same);
}

void empty_directory(const char *path) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (process == 0) {
        scratch_remove(path);
        make_folder(path);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int entries_seen(const char *path) {
    MPI_Barrier(MPI_COMM_WORLD);
    int n = process == 0 ? count_entries(path) : 0;
    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return n;
}

bool same_file(const char *want_path, const char *got_path) {
    int same = 1;
    if (process == 0) {
        size_t want_size = 0;
        size_t got_size = 0;
        unsigned char *want = read_file(want_path, &want_size);
        unsigned char *got = read_file(got_path, &got_size);
        same = want != NULL && got != NULL && same_bytes(got_path, want, want_size, got, got_size);
        free(want);
        free(got);
    }
    MPI_Bcast(&same, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return same != 0;
}

void name_of_file(char *name, size_t size, const char *base, uint32_t file) {
    if (file == 0) {
        (void)snprintf(name, size, "%s", base);
    } else {
        (void)snprintf(name, size, "%s.%06u", base, file);
    }
}

uint32_t own_tasks(enum spread spread, uint32_t tasks, uint32_t *ranks) {
    uint32_t n = 0;
    uint32_t p = (uint32_t)process;
    uint32_t np = (uint32_t)processes;
    for (uint32_t t = 0; t < tasks; t++) {
        bool mine = false;
        switch (spread) {
        case BLOCKS:
        case BLOCK_LISTS:
            mine = t >= tasks * p / np && t < tasks * (p + 1) / np;
            break;
        case ROUND_ROBIN:
            mine = t % np == p;
            break;
        case ALL_ON_LAST:
            mine = p == np - 1;
            break;
        case BACKWARDS:
            mine = t >= tasks * (np - 1 - p) / np && t < tasks * (np - p) / np;
            break;
        default: /* runs of even tasks on even processes, and of odd tasks on odd processes */
            mine = t % 2 == p % 2 && (t / 2) % ((np + 1 - t % 2) / 2) == p / 2;
            break;
        }
        if (mine) {
            ranks[n++] = t;
        }
    }
    return n;
}
