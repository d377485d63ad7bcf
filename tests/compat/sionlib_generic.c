/* SPDX-License-Identifier: BSD-3-Clause */
/* A program for SIONlib's generic interface with 4 processes; its callbacks use MPI. Each process prints what it
 * reads, and the results of calls. sionlib.sh compiles it for libhpcw_sionlib or for SIONlib. */
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

/* Offsets of all processes' messages on the root. */
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

/* The records of a group come to its first process in pieces. */
static int collect(const void *data, sion_int64 *spec, int words, sion_int64 piece, void *group, int collector,
                   int first, int last, int sid, int process(const void *, sion_int64 *, int)) {
    int me, code = 0;
    MPI_Comm comm = *(MPI_Comm *)group;
    MPI_Comm_rank(comm, &me);
    if (me >= first && me <= last) {
        MPI_Send(spec, words, MPI_LONG_LONG, collector, 1, comm);
        for (sion_int64 at = 0; at < spec[1]; at += piece) {
            int n = (int)(spec[1] - at < piece ? spec[1] - at : piece);
            MPI_Send((const char *)data + at, n, MPI_CHAR, collector, 2, comm);
        }
    }
    char *part = malloc((size_t)piece);
    for (int from = first; me == collector && from <= last; from++) {
        sion_int64 theirs[2];
        MPI_Recv(theirs, words, MPI_LONG_LONG, from, 1, comm, MPI_STATUS_IGNORE);
        for (sion_int64 left = theirs[1]; left > 0; left -= theirs[1]) {
            theirs[1] = left < piece ? left : piece;
            MPI_Recv(part, (int)theirs[1], MPI_CHAR, from, 2, comm, MPI_STATUS_IGNORE);
            int failed = process(part, theirs, sid);
            code = failed ? failed : code;
            theirs[0] += theirs[1];
        }
    }
    free(part);
    return code;
}

static int distribute(void *data, sion_int64 *spec, int words, sion_int64 piece, void *group, int collector,
                      int first, int last, int sid, int process(void *, sion_int64 *, int)) {
    int me, code = 0;
    MPI_Comm comm = *(MPI_Comm *)group;
    MPI_Comm_rank(comm, &me);
    if (me >= first && me <= last) {
        MPI_Send(spec, words, MPI_LONG_LONG, collector, 3, comm);
        for (sion_int64 at = 0; spec[0] != -1 && at < spec[1]; at += piece) {
            int n = (int)(spec[1] - at < piece ? spec[1] - at : piece);
            MPI_Recv((char *)data + at, n, MPI_CHAR, collector, 4, comm, MPI_STATUS_IGNORE);
        }
    }
    char *part = malloc((size_t)piece);
    for (int to = first; me == collector && to <= last; to++) {
        sion_int64 theirs[2];
        MPI_Recv(theirs, words, MPI_LONG_LONG, to, 3, comm, MPI_STATUS_IGNORE);
        for (sion_int64 left = theirs[0] == -1 ? 0 : theirs[1]; left > 0; left -= theirs[1]) {
            theirs[1] = left < piece ? left : piece;
            int failed = process(part, theirs, sid);
            code = failed ? failed : code;
            MPI_Send(part, (int)theirs[1], MPI_CHAR, to, 4, comm);
            theirs[0] += theirs[1];
        }
    }
    free(part);
    return code;
}

/* SIONlib's codes of capabilities: 50 means all, 51 means only sending. */
static int all_collect(void *group) {
    (void)group;
    return 50;
}

static int some_collect(void *group) {
    (void)group;
    return rank == 3 ? 51 : 50;
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

/* File 0 has the name of the set, by which SIONlib finds it. */
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

/* Registers the callbacks. late: registers the callback that scatters after `capability`; SIONlib's calls are then
 * not collective. */
static int new_collective(int capability(void *group), int late) {
    int aid = new_interface();
    sion_generic_register_gather_and_execute_cb(aid, collect);
    if (late) {
        sion_generic_register_get_capability_cb(aid, capability);
    }
    sion_generic_register_execute_and_scatter_cb(aid, distribute);
    if (!late) {
        sion_generic_register_get_capability_cb(aid, capability);
    }
    return aid;
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

/* Assigns ranks to files in turn. turned: the order of files, and of the tasks in each file, is reversed. */
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

/* A duplicate starts at the handle's position and then moves independently. */
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

/* Writes by the collective calls. Ranks are assigned to files as in write_turned. */
static void write_collective(int aid, const char *name, const char *mode, int files, int turned) {
    unsigned char data[CHUNK];
    char line[512];
    sion_int64 chunk = CHUNK + 8 * rank;
    sion_int32 block = 64;
    int file = turned ? files - 1 - rank % files : rank % files;
    int sid = open_each(aid, name, mode, &file, &files, turned ? size / files - 1 - rank / files : rank / files,
                        &chunk, &block, NULL);
    size_t items = 0;
    for (int r = 0; r < RECORDS; r++) {
        size_t bytes = (size_t)(rank * 31 + r * 57) % CHUNK;
        memset(data, 'A' + rank + r, sizeof data);
        items += sion_coll_fwrite(data, 1, bytes, sid);
    }
    long long written = (long long)sion_get_bytes_written(sid);
    snprintf(line, sizeof line, "%s: %zu items, %lld bytes, %d", name, items, written,
             sion_generic_parclose(sid));
    print_all(line);
}

/* In merged containers, only some tasks have data. */
static void read_collective(int aid, const char *name, const char *mode) {
    unsigned char data[5 * CHUNK * RECORDS];
    char line[512];
    sion_int64 chunk = -1;
    sion_int32 block = -1;
    int file = 0, files = 1;
    int sid = open_each(aid, name, mode, &file, &files, 0, &chunk, &block, NULL);
    size_t got = read_rest(sid, data);
    snprintf(line, sizeof line, "%s: chunk %lld, %zu bytes %08x, %d", name, (long long)chunk, got,
             sum(data, got), sion_generic_parclose(sid));
    print_all(line);
}

static void collective(void) {
    int all = new_collective(all_collect, 0), some = new_collective(some_collect, 0),
        late = new_collective(all_collect, 1);
    write_collective(all, "group.sion", "bw,collective,collsize=2", 1, 0);
    write_collective(all, "groups.sion", "bw,collective,collsize=2", 2, 1);
    write_collective(some, "some.sion", "bw,collective,collsize=1", 1, 0);
    write_collective(all, "merge.sion", "bw,collective,cmerge,collsize=3", 1, 1);
    write_collective(some, "merges.sion", "bw,collective,cmerge,collsize=1", 2, 0);
    write_collective(late, "late.sion", "bw,collective,collsize=2", 1, 0);
    read_collective(all, "group.sion", "br,collective");
    read_collective(all, "groups.sion", "br");
    read_collective(all, "some.sion", "br");
    read_collective(all, "merges.sion", "br");
    sion_generic_free_api(all);
    sion_generic_free_api(some);
    sion_generic_free_api(late);
}

/* Files named by the program. */
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

/* Calls for which SIONlib writes different files or hangs. */
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
        collective();
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
