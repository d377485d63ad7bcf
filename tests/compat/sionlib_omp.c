/* SPDX-License-Identifier: BSD-3-Clause */
/* A threaded program written for SIONlib: 2 threads or, if WITH_MPI is defined, 4 processes of 2 threads each. Each
 * thread writes and reads its own task. The lines of all threads are printed in order. */
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sion.h"

enum { THREADS = 2, CHUNK = 200, RECORDS = 9, LINE = 512 };

static int process, processes = 1;
static char lines[THREADS][LINE];

static void fill(unsigned char *data, int bytes, int seed) {
    for (int i = 0; i < bytes; i++) {
        data[i] = (unsigned char)(5 * i + 19 * seed + (i * i >> 5));
    }
}

static unsigned sum(const unsigned char *data, size_t bytes) {
    unsigned s = 1;
    for (size_t i = 0; i < bytes; i++) {
        s = 31 * s + data[i];
    }
    return s;
}

static void print_all(void) {
#ifdef WITH_MPI
    static char all[16 * THREADS][LINE];
    MPI_Gather(lines, sizeof lines, MPI_CHAR, all, sizeof lines, MPI_CHAR, 0, MPI_COMM_WORLD);
#else
    char(*all)[LINE] = lines;
#endif
    for (int t = 0; process == 0 && t < processes * THREADS; t++) {
        printf("%d: %s\n", t, all[t]);
    }
}

static int open_all(const char *name, const char *mode, int *files, sion_int64 *chunk, sion_int32 *block,
                    int *rank, char **file) {
#ifdef WITH_MPI
    static MPI_Comm part;
#pragma omp master
    MPI_Comm_split(MPI_COMM_WORLD, process % 2, -process, &part);
#pragma omp barrier
    return sion_paropen_ompi(name, mode, files, MPI_COMM_WORLD, &part, chunk, block, rank, NULL, file);
#else
    (void)files;
    return sion_paropen_omp(name, mode, chunk, block, rank, NULL, file);
#endif
}

static int close_all(int sid) {
#ifdef WITH_MPI
    return sion_parclose_ompi(sid);
#else
    return sion_parclose_omp(sid);
#endif
}

static void write_all(const char *name, const char *mode, int set, int collective) {
#pragma omp parallel num_threads(THREADS)
    {
        unsigned char data[CHUNK];
        int thread = omp_get_thread_num(), number = process * THREADS + thread, rank = -1, files = set;
        sion_int64 chunk = CHUNK + 20 * number;
        sion_int32 block = 64;
        char *file = NULL;
        size_t items = 0;
        int sid = open_all(name, mode, &files, &chunk, &block, &rank, &file);
        for (int r = 0; r < RECORDS; r++) {
            int bytes = (number * 23 + r * 61) % CHUNK;
            fill(data, bytes, number + r);
            items += collective ? sion_coll_fwrite(data, 1, (size_t)bytes, sid)
                                : sion_fwrite(data, 1, (size_t)bytes, sid);
        }
        long long written = (long long)sion_get_bytes_written(sid);
        snprintf(lines[thread], LINE,
                 "%s %s: %d files, chunk %lld, block %d, rank %d, %s: %zu items, %lld bytes, %d", name, mode,
                 files, (long long)chunk, (int)block, rank, file, items, written, close_all(sid));
        free(file);
    }
    print_all();
}

static void read_all(const char *name) {
#pragma omp parallel num_threads(THREADS)
    {
        unsigned char data[16 * CHUNK * RECORDS];
        int thread = omp_get_thread_num(), rank = -1, files = -1;
        sion_int64 chunk = -1;
        sion_int32 block = -1;
        size_t got = 0;
        int sid = open_all(name, "br", &files, &chunk, &block, &rank, NULL);
        while (!sion_feof(sid)) {
            got += sion_fread(data + got, 1, (size_t)sion_bytes_avail_in_block(sid), sid);
        }
        snprintf(lines[thread], LINE, "%s: chunk %lld, block %d: %zu bytes %08x, %d", name, (long long)chunk,
                 (int)block, got, sum(data, got), close_all(sid));
    }
    print_all();
}

static void read_missing(void) {
#pragma omp parallel num_threads(THREADS)
    {
        int rank = -1, files = -1;
        sion_int64 chunk = -1;
        sion_int32 block = -1;
        int sid = open_all("missing.sion", "br", &files, &chunk, &block, &rank, NULL);
        snprintf(lines[omp_get_thread_num()], LINE, "missing: %d", sid);
    }
    print_all();
}

static void write_and_read(void) {
#ifdef WITH_MPI
    write_all("two.sion", "bw", 2, 0);
    write_all("./three.sion", "bw,endianness=big", 3, 0);
    write_all("parts.sion", "bw", -1, 0);
    write_all("partscoll.sion", "bw,collective,collsize=3", -1, 1);
    write_all("partsmerged.sion", "bw,collective,cmerge,collsize=4", -1, 1);
    write_all("mergeds.sion", "bw,collective,cmerge,collsize=1", 2, 1);
    read_all("partsmerged.sion");
    read_all("parts.sion");
    read_all("partscoll.sion");
    read_all("two.sion");
    read_all("./three.sion");
#endif
    write_all("one.sion", "bw", 1, 0);
    write_all("./collective.sion", "bw,collective,collsize=2", 1, 1);
    write_all("merged.sion", "bw,collective,cmerge,collsize=8", 1, 1);
    read_all("one.sion");
    read_all("./collective.sion");
    read_all("merged.sion");
}

int main(int argc, char **argv) {
#ifdef WITH_MPI
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
#endif
    if (argc > 1 && strcmp(argv[1], "beyond") == 0) { /* SIONlib hangs */
        read_missing();
    } else {
        write_and_read();
    }
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return 0;
}
