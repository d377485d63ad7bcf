/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program written for SIONlib's generic interface, for 4 processes, whose callbacks are calls of MPI: each process prints
 * what it reads, and the results of calls. sionlib.sh compiles it for libhpcw_sionlib or for SIONlib.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sion.h"

enum { CHUNK = 200, RECORDS = 9, LOCAL = 5 };

static int rank, size;

/* ---- Callbacks: a group is a pointer to a communicator ---- */

static MPI_Datatype type_of(int type) {
    return type == _SION_INT32 ? MPI_INT : type == _SION_CHAR ? MPI_CHAR : MPI_LONG_LONG;
}

static int create_group(void **local, void *global, int grank, int gsize, int lrank, int lsize, int filenumber,
                        int numfiles) {
    MPI_Comm *part = malloc(sizeof *part);
    int n;
    *local = part;
    int code = MPI_Comm_split(*(MPI_Comm *)global, filenumber, lrank, part);
    MPI_Comm_size(*part, &n);
    return code != MPI_SUCCESS || n != lsize || grank >= gsize || filenumber >= numfiles;
}

static int free_group(void *local) {
    int code = MPI_Comm_free(local);
    free(local);
    return code;
}

static int barrier(void *group) {
    return MPI_Barrier(*(MPI_Comm *)group);
}

static int bcast(void *data, void *group, int type, int items, int root) {
    return MPI_Bcast(data, items, type_of(type), root, *(MPI_Comm *)group);
}

static int gather(void *in, void *out, void *group, int type, int items, int root) {
    return MPI_Gather(in, items, type_of(type), out, items, type_of(type), root, *(MPI_Comm *)group);
}

static int scatter(void *in, void *out, void *group, int type, int items, int root) {
    return MPI_Scatter(in, items, type_of(type), out, items, type_of(type), root, *(MPI_Comm *)group);
}

/* Where the messages of all begin at the root. */
static int *offsets(void *group, const int *counts, int root) {
    int n, me;
    MPI_Comm_size(*(MPI_Comm *)group, &n);
    MPI_Comm_rank(*(MPI_Comm *)group, &me);
    int *at = calloc((size_t)n, sizeof *at);
    for (int p = 1; me == root && p < n; p++) {
        at[p] = at[p - 1] + counts[p - 1];
    }
    return at;
}

static int gather_sizes(void *in, void *out, void *group, int type, int *counts, int items, int root) {
    int *at = offsets(group, counts, root);
    int code = MPI_Gatherv(in, items, type_of(type), out, counts, at, type_of(type), root, *(MPI_Comm *)group);
    free(at);
    return code;
}

static int scatter_sizes(void *in, void *out, void *group, int type, int *counts, int items, int root) {
    int *at = offsets(group, counts, root);
    int code = MPI_Scatterv(out, counts, at, type_of(type), in, items, type_of(type), root, *(MPI_Comm *)group);
    free(at);
    return code;
}

static int new_interface(void) {
    int aid = sion_generic_create_api("by MPI");
    sion_generic_register_create_local_commgroup_cb(aid, create_group);
    sion_generic_register_free_local_commgroup_cb(aid, free_group);
    sion_generic_register_barrier_cb(aid, barrier);
    sion_generic_register_bcastr_cb(aid, bcast);
    sion_generic_register_gatherr_cb(aid, gather);
    sion_generic_register_gathervr_cb(aid, gather_sizes);
    sion_generic_register_scatterr_cb(aid, scatter);
    sion_generic_register_scattervr_cb(aid, scatter_sizes);
    return aid;
}

/* File 0 has the name of the set: by that SIONlib looks for it. */
static char *name_of(const char *name, int file) {
    char *text = malloc(strlen(name) + 32);
    sprintf(text, file == 0 ? "%s" : "part-%2$d-of-%1$s", name, file);
    return text;
}

static char *other_name_of(const char *name, int file) {
    char *text = malloc(strlen(name) + 32);
    sprintf(text, "%s-%d", name, file);
    return text;
}

/* ---- Containers ---- */

static void print_all(const char *line) {
    char other[512];
    if (rank > 0) {
        MPI_Send(line, (int)strlen(line) + 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        return;
    }
    printf("0: %s\n", line);
    for (int from = 1; from < size; from++) {
        MPI_Recv(other, sizeof other, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%d: %s\n", from, other);
    }
}

static unsigned sum(const unsigned char *data, size_t bytes) {
    unsigned s = 1;
    for (size_t i = 0; i < bytes; i++) {
        s = 31 * s + data[i];
    }
    return s;
}

static int open_each(int aid, const char *name, const char *mode, int *file, int *files, int place,
                     sion_int64 *chunk, sion_int32 *block, char **actual) {
    static MPI_Comm world;
    int places = size / *files;
    world = MPI_COMM_WORLD;
    return sion_generic_paropen(aid, name, mode, chunk, block, &world, rank, size, file, files, &place, &places,
                                NULL, actual);
}

/* Ranks in turn among the files; `turned`: files and places are in the other order. */
static void write_turned(int aid, const char *name, const char *mode, int files, int turned) {
    unsigned char data[CHUNK];
    char line[512];
    sion_int64 chunk = CHUNK + 8 * rank;
    sion_int32 block = 64;
    int file = turned ? files - 1 - rank % files : rank % files;
    int place = turned ? size / files - 1 - rank / files : rank / files;
    char *actual = NULL;
    int sid = open_each(aid, name, mode, &file, &files, place, &chunk, &block, &actual);
    size_t items = 0;
    for (int r = 0; r < RECORDS; r++) {
        size_t bytes = (size_t)(rank * 31 + r * 57) % CHUNK;
        memset(data, 'a' + rank + r, sizeof data);
        items += sion_fwrite(data, 1, bytes, sid);
    }
    int number = sion_get_filenumber(sid), all = sion_get_number_of_files(sid);
    snprintf(line, sizeof line, "%s: block %d, %zu items, file %d of %d, %s, %d", name, (int)block, items,
             number, all, actual, sion_generic_parclose(sid));
    print_all(line);
    free(actual);
}

static void write_set(int aid, const char *name, const char *mode, int files) {
    write_turned(aid, name, mode, files, 0);
}

static size_t read_rest(int sid, unsigned char *data) {
    size_t got = 0;
    while (!sion_feof(sid)) {
        got += sion_fread(data + got, 1, (size_t)sion_bytes_avail_in_block(sid), sid);
    }
    return got;
}

/* A duplicate begins where the handle is, and moves alone. */
static void read_set(int aid, const char *name) {
    unsigned char data[2 * CHUNK * RECORDS];
    char line[512];
    sion_int64 chunk = -1;
    sion_int32 block = -1;
    int file = 0, files = 1;
    int sid = open_each(aid, name, "br", &file, &files, 0, &chunk, &block, NULL);
    sion_fread(data, 1, 10, sid);
    int copy = sion_dup(sid, SION_DUP_ALL, rank, 0);
    size_t by_copy = read_rest(copy, data);
    unsigned its = sum(data, by_copy);
    int freed = sion_dedup(copy);
    size_t got = read_rest(sid, data);
    snprintf(line, sizeof line, "%s: chunk %lld, block %d, file %d of %d, %zu bytes, %s, copy %d, %d", name,
             (long long)chunk, (int)block, file, files, got,
             got == by_copy && sum(data, got) == its ? "same" : "other", freed, sion_generic_parclose(sid));
    print_all(line);
}

/* 20 tasks in three files: 7, 7 and 6. */
static void write_mapped(int aid, const char *name) {
    MPI_Comm world = MPI_COMM_WORLD;
    unsigned char data[CHUNK];
    char line[512];
    int files = 3, count = LOCAL, ranks[LOCAL], numbers[LOCAL], places[LOCAL];
    int *all_ranks = ranks, *all_numbers = numbers, *all_places = places;
    sion_int64 chunks[LOCAL], *all_chunks = chunks;
    sion_int32 block = 64;
    int each = (size * LOCAL + files - 1) / files;
    for (int i = 0; i < LOCAL; i++) {
        ranks[i] = i * size + rank;
        chunks[i] = CHUNK;
        numbers[i] = ranks[i] / each;
        places[i] = ranks[i] % each;
    }
    int sid = sion_generic_paropen_mapped(aid, (char *)name, "bw", &files, &world, rank, size, &count,
                                          &all_ranks, &all_chunks, &all_numbers, &all_places, &block, NULL);
    size_t items = 0;
    for (int r = 0; r < RECORDS; r++) {
        for (int i = 0; i < LOCAL; i++) {
            memset(data, ranks[i] + r, sizeof data);
            sion_seek(sid, ranks[i], SION_CURRENT_BLK, SION_CURRENT_POS);
            items += sion_fwrite(data, 1, (size_t)(r * 41) % CHUNK, sid);
        }
    }
    snprintf(line, sizeof line, "%s: block %d, %zu items, %d", name, (int)block, items,
             sion_generic_parclose_mapped(sid));
    print_all(line);
}

static void read_mapped(int aid, const char *name) {
    MPI_Comm world = MPI_COMM_WORLD;
    unsigned char data[CHUNK];
    char line[512];
    int files = -1, count = -1;
    int *ranks = NULL, *numbers = NULL, *places = NULL;
    sion_int64 *chunks = NULL;
    sion_int32 block = -1;
    int sid = sion_generic_paropen_mapped(aid, (char *)name, "br", &files, &world, rank, size, &count, &ranks,
                                          &chunks, &numbers, &places, &block, NULL);
    int n = snprintf(line, sizeof line, "%s: %d files, %d tasks:", name, files, count);
    for (int i = 0; i < count; i++) {
        sion_seek(sid, ranks[i], SION_CURRENT_BLK, SION_CURRENT_POS);
        size_t got = sion_fread(data, 1, 41, sid);
        n += snprintf(line + n, sizeof line - (size_t)n, " %d in %d at %d: %08x", ranks[i], numbers[i],
                      places[i], sum(data, got));
    }
    snprintf(line + n, sizeof line - (size_t)n, ", %d", sion_generic_parclose_mapped(sid));
    print_all(line);
    free(ranks);
    free(numbers);
    free(places);
    free(chunks);
}

/* Files with names of the program. */
static void named(void) {
    int aid = new_interface(), other = new_interface();
    int first = sion_generic_register_get_multi_filename_cb(aid, name_of);
    int second = sion_generic_register_get_multi_filename_cb(aid, name_of);
    sion_generic_register_get_multi_filename_cb(other, other_name_of);
    write_set(aid, "named", "bw", 2);
    read_set(aid, "named");
    write_mapped(aid, "named-tasks");
    read_mapped(aid, "named-tasks");
    write_set(other, "other", "bw", 1);
    write_set(other, "others", "bw", 2);
    write_mapped(other, "other-tasks");
    if (rank == 0) {
        printf("names %d %d\n", first, second);
    }
    sion_generic_free_api(aid);
    sion_generic_free_api(other);
}

/* What SIONlib writes otherwise, or waits for ever in. */
static void beyond(int aid) {
    char line[512];
    sion_int64 chunk = CHUNK;
    sion_int32 block = 64;
    int whole = 0, one = 1;
    int twice = open_each(aid, "twice.sion", "bw", &whole, &one, 0, &chunk, &block, NULL);
    int buddy = open_each(aid, "buddy.sion", "bw,buddy", &whole, &one, rank, &chunk, &block, NULL);
    int missing = open_each(aid, "missing.sion", "br", &whole, &one, rank, &chunk, &block, NULL);
    snprintf(line, sizeof line, "twice %d, buddy %d, missing %d, no interface %d, no copy %d", twice, buddy,
             missing, sion_generic_free_api(aid + 1), sion_dup(-1, SION_DUP_ALL, 0, 0));
    print_all(line);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int aid = new_interface();
    if (argc > 1 && strcmp(argv[1], "beyond") == 0) {
        beyond(aid);
    } else {
        write_set(aid, "one.sion", "bw", 1);
        read_set(aid, "one.sion");
        write_set(aid, "./set.sion", "bw", 2);
        read_set(aid, "./set.sion");
        write_mapped(aid, "mapped.sion");
        read_mapped(aid, "mapped.sion");
        named();
        write_turned(aid, "turned.sion", "bw", 2, 1);
        read_set(aid, "turned.sion");
        write_turned(aid, "backwards.sion", "bw", 1, 1);
    }
    int freed = sion_generic_free_api(aid);
    if (rank == 0) {
        printf("freed %d\n", freed);
    }
    MPI_Finalize();
    return 0;
}
