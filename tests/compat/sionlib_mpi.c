/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program written for SIONlib with 4 processes. Process 0 prints what all of them read, and the results of
 * calls. sionlib.sh compiles it for libhpcw_sionlib_mpi or for SIONlib. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sion.h"

enum { CHUNK = 300, RECORDS = 12, LOCAL = 3 };

enum order { BY_RANK, BACKWARDS, BY_TURNS };

static int rank, size;

static void fill(unsigned char *data, int bytes, int seed) {
    for (int i = 0; i < bytes; i++) {
        data[i] = (unsigned char)(11 * i + 17 * seed + (i * i >> 3));
    }
}

static unsigned sum(const unsigned char *data, size_t bytes) {
    unsigned s = 1;
    for (size_t i = 0; i < bytes; i++) {
        s = 31 * s + data[i];
    }
    return s;
}

/* Prints the lines of all processes in the order of ranks. */
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

/* Writes a set of `files` files. If `files` is 0, each communicator gets a file. `order` decides which processes
 * are in which communicator. */
static void write_parts(const char *name, const char *mode, int files, enum order order, int collective) {
    unsigned char data[CHUNK];
    char line[512], *file = NULL;
    sion_int64 chunk = CHUNK + 10 * rank;
    sion_int32 block = 128;
    int global = -1;
    MPI_Comm part;
    int number = order == BY_RANK ? rank > 0 : order == BY_TURNS ? rank % 2 : 0;
    MPI_Comm_split(MPI_COMM_WORLD, number, order == BY_RANK ? rank : -rank, &part);
    int sid = sion_paropen_mpi(name, mode, &files, MPI_COMM_WORLD, &part, &chunk, &block, &global, NULL, &file);
    size_t items = 0;
    for (int r = 0; r < RECORDS; r++) {
        int bytes = (rank * 31 + r * 57) % (CHUNK / 4);
        fill(data, bytes, rank * RECORDS + r);
        items += collective ? sion_coll_fwrite(data, 1, (size_t)bytes, sid)
                            : sion_fwrite(data, 1, (size_t)bytes, sid);
    }
    long long written = (long long)sion_get_bytes_written(sid);
    int got = sion_get_filenumber(sid), all = sion_get_number_of_files(sid);
    int closed = sion_parclose_mpi(sid);
    snprintf(line, sizeof line,
             "%s %s: %d files, chunk %lld, block %d, global %d, %s: %zu items, %lld bytes, file %d of %d, %d",
             name, mode, files, (long long)chunk, (int)block, global, file, items, written, got, all, closed);
    print_all(line);
    free(file);
    MPI_Comm_free(&part);
}

/* Writes records longer than a block; SIONlib copies them to the chunk block by block. */
static void write_large(const char *name, const char *mode) {
    unsigned char data[CHUNK];
    char line[512];
    sion_int64 chunk = CHUNK;
    sion_int32 block = 64;
    int global = -1, files = 1;
    MPI_Comm part = MPI_COMM_WORLD;
    int sid = sion_paropen_mpi(name, mode, &files, MPI_COMM_WORLD, &part, &chunk, &block, &global, NULL, NULL);
    size_t bytes = 0;
    for (int r = 0; r < RECORDS; r++) {
        int n = (rank * 131 + r * 97) % CHUNK;
        fill(data, n, rank * RECORDS + r);
        bytes += sion_coll_fwrite(data, 1, (size_t)n, sid);
    }
    long long written = (long long)sion_get_bytes_written(sid);
    snprintf(line, sizeof line, "%s: %zu bytes, %lld, %d", name, bytes, written, sion_parclose_mpi(sid));
    print_all(line);
}

static void write_set(const char *name, const char *mode, int files, int collective) {
    write_parts(name, mode, files, BY_RANK, collective);
}

static void read_set(const char *name, const char *mode, int collective) {
    unsigned char data[4 * CHUNK * RECORDS];
    char line[512], *file = NULL;
    sion_int64 chunk = -1;
    sion_int32 block = -1;
    int global = -1, files = -1;
    MPI_Comm part = MPI_COMM_WORLD;
    int sid = sion_paropen_mpi(name, mode, &files, MPI_COMM_WORLD, &part, &chunk, &block, &global, NULL, &file);
    size_t got = 0;
    /* A process without data still takes part in a collective read. */
    for (int more = 1; more;) {
        int mine = !sion_feof(sid);
        size_t left = mine ? (size_t)sion_bytes_avail_in_block(sid) : 0;
        MPI_Allreduce(&mine, &more, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (collective && more) {
            got += sion_coll_fread(data + got, 1, left, sid);
        } else if (mine) {
            got += sion_fread(data + got, 1, left, sid);
        }
    }
    long long read = (long long)sion_get_bytes_read(sid);
    int n = snprintf(line, sizeof line, "%s %s: %d files, chunk %lld, block %d, global %d, %s: %zu bytes %08x",
                     name, mode, files, (long long)chunk, (int)block, global, file, got, sum(data, got));
    snprintf(line + n, sizeof line - (size_t)n, ", read %lld, %d", read, sion_parclose_mpi(sid));
    print_all(line);
    free(file);
}

static void write_again(const char *name) {
    unsigned char data[CHUNK];
    char line[512];
    sion_int64 chunk = 40;
    sion_int32 block = 128;
    int global = -1, files = 1;
    FILE *stream;
    MPI_Comm part = MPI_COMM_WORLD;
    int sid =
        sion_paropen_mpi(name, "bw", &files, MPI_COMM_WORLD, &part, &chunk, &block, &global, &stream, NULL);
    int again = sion_parreinit_mpi(sid, CHUNK);
    int fits = sion_ensure_free_space(sid, CHUNK / 2);
    fill(data, CHUNK / 2, rank);
    size_t written = fwrite(data, 1, CHUNK / 2, stream);
    snprintf(line, sizeof line, "%s: %d, %d, %zu, %lld", name, again, fits, written,
             (long long)sion_get_bytes_written(sid));
    print_all(line);
    sion_parclose_mpi(sid);
}

/* Writes chunks whose requested size is no multiple of the block size. SIONlib rounds the size up in the file, but
 * fills only the requested bytes. The last record is longer than the requested size. */
static void write_unrounded(const char *name, const char *mode, int files) {
    unsigned char data[CHUNK];
    char line[512];
    sion_int64 chunk = 40, left;
    sion_int32 block = 64;
    int global = -1, collective = strstr(mode, "collective") != NULL, keyval = strstr(mode, "keyval") != NULL;
    MPI_Comm part = MPI_COMM_WORLD;
    int sid = sion_paropen_mpi(name, mode, &files, MPI_COMM_WORLD, &part, &chunk, &block, &global, NULL, NULL);
    chunk = CHUNK / 2 + 7 * rank;
    int n = snprintf(line, sizeof line, "%s: %d;", name, sion_parreinit_mpi(sid, chunk));
    for (int r = 0; r < RECORDS; r++) {
        int bytes = r < RECORDS - 1 || collective ? (rank * 31 + r * 57) % (int)chunk : (int)chunk + 1;
        fill(data, bytes, rank * RECORDS + r);
        int fits = r % 2 ? sion_ensure_free_space(sid, bytes) : -1;
        size_t items = collective ? sion_coll_fwrite(data, 1, (size_t)bytes, sid)
                       : keyval   ? sion_fwrite_key(data, (uint64_t)(r % 3), 1, (size_t)bytes, sid)
                                  : sion_fwrite(data, 1, (size_t)bytes, sid);
        left = sion_bytes_avail_in_chunk(sid);
        n += snprintf(line + n, sizeof line - (size_t)n, " %d %d %d,", fits, (int)items, (int)left);
    }
    long long written = (long long)sion_get_bytes_written(sid);
    int flushed = sion_flush(sid);
    left = sion_bytes_avail_in_chunk(sid);
    snprintf(line + n, sizeof line - (size_t)n, " %lld, %d %d, %d", written, flushed, (int)left,
             sion_parclose_mpi(sid));
    print_all(line);
}

/* Writes through the FILE stream of the container, past SIONlib's calls. */
static void stream_unrounded(const char *name) {
    unsigned char data[CHUNK];
    char line[512];
    sion_int64 chunk = 40, left[2];
    sion_int32 block = 64;
    int global = -1, files = 1;
    FILE *stream;
    MPI_Comm part = MPI_COMM_WORLD;
    int sid =
        sion_paropen_mpi(name, "bw", &files, MPI_COMM_WORLD, &part, &chunk, &block, &global, &stream, NULL);
    int n = snprintf(line, sizeof line, "%s: %d;", name, sion_parreinit_mpi(sid, 100));
    fill(data, CHUNK, rank);
    for (int r = 0; r < 4; r++) {
        int fits = sion_ensure_free_space(sid, 40 + rank);
        size_t written = fwrite(data, 1, 20, stream);
        left[0] = sion_bytes_avail_in_chunk(sid);
        written += fwrite(data, 1, 20 + (size_t)rank, stream);
        left[1] = sion_bytes_avail_in_chunk(sid);
        n += snprintf(line + n, sizeof line - (size_t)n, " %d %zu %d %d,", fits, written, (int)left[0],
                      (int)left[1]);
    }
    snprintf(line + n, sizeof line - (size_t)n, " %d", sion_parclose_mpi(sid));
    print_all(line);
}

/* Calls with the number of a closed container. */
static void after_close(const char *name) {
    char line[512];
    sion_int64 chunk = CHUNK;
    sion_int32 block = 64;
    int global = -1, files = 1;
    MPI_Comm part = MPI_COMM_WORLD;
    int sid = sion_paropen_mpi(name, "bw", &files, MPI_COMM_WORLD, &part, &chunk, &block, &global, NULL, NULL);
    int first = sion_parclose_mpi(sid), again = sion_parclose_mpi(sid), mapped = sion_parclose_mapped_mpi(sid);
    int generic = sion_generic_parclose(sid), generic_mapped = sion_generic_parclose_mapped(sid);
    int reinit = sion_parreinit_mpi(sid, CHUNK), generic_reinit = sion_generic_parreinit(sid, CHUNK);
    snprintf(line, sizeof line, "%s: closed %d, %d %d %d %d, reinit %d %d, freed %d, serial %d", name, first,
             again, mapped, generic, generic_mapped, reinit, generic_reinit, sion_dedup(sid), sion_close(sid));
    print_all(line);
}

/* Writes key-value records that begin in a new chunk. */
static void keys_in_chunks(const char *name) {
    unsigned char data[CHUNK];
    char line[512];
    sion_int64 chunk = CHUNK;
    sion_int32 block = 64;
    int global = -1, files = 1;
    MPI_Comm part = MPI_COMM_WORLD;
    int sid =
        sion_paropen_mpi(name, "bw,keyval", &files, MPI_COMM_WORLD, &part, &chunk, &block, &global, NULL, NULL);
    int n = snprintf(line, sizeof line, "%s:", name);
    for (int r = 0; r < RECORDS; r++) {
        int bytes = 20 + 21 * r + rank;
        fill(data, bytes, rank + r);
        int fits = sion_ensure_free_space(sid, 16 + bytes);
        size_t items = sion_fwrite_key(data, (uint64_t)(r % 3), 1, (size_t)bytes, sid);
        n += snprintf(line + n, sizeof line - (size_t)n, " %d %zu,", fits, items);
    }
    snprintf(line + n, sizeof line - (size_t)n, " %d", sion_parclose_mpi(sid));
    print_all(line);
    sid = sion_paropen_mpi(name, "br,keyval=unknown", &files, MPI_COMM_WORLD, &part, &chunk, &block, &global,
                           NULL, NULL);
    n = snprintf(line, sizeof line, "%s:", name);
    uint64_t key;
    size_t bytes;
    while (sion_fread_key_iterator_next(sid, &key, &bytes) == SION_SUCCESS) {
        size_t got = sion_fread_key(data, key, 1, bytes, sid);
        n += snprintf(line + n, sizeof line - (size_t)n, " %zu %08x;", got, sum(data, got));
    }
    sion_parclose_mpi(sid);
    print_all(line);
}

/* Prints the block sizes that sion_paropen_mapped_mpi returns to writers and readers. SIONlib returns none. */
static void mapped_block_size(const char *name) {
    char line[512];
    int files = 1, count = 1, zero = 0, own = rank;
    int *ranks = &own, *numbers = &zero, *places = &own;
    sion_int64 bytes = CHUNK, *chunks = &bytes;
    sion_int32 block = -1;
    int sid = sion_paropen_mapped_mpi((char *)name, "bw", &files, MPI_COMM_WORLD, &count, &ranks, &chunks,
                                      &numbers, &places, &block, NULL);
    int n = snprintf(line, sizeof line, "%s: write %d,", name, (int)block);
    sion_parclose_mapped_mpi(sid);
    for (int given = -1; given <= 128; given += 129) {
        block = given;
        sid = sion_paropen_mapped_mpi((char *)name, "br", &files, MPI_COMM_WORLD, &count, &ranks, &chunks,
                                      &numbers, &places, &block, NULL);
        n += snprintf(line + n, sizeof line - (size_t)n, " read %d,", (int)block);
        sion_parclose_mapped_mpi(sid);
    }
    print_all(line);
}

/* Writes LOCAL tasks on each process, in rounds. */
static void write_mapped(const char *name) {
    unsigned char data[CHUNK];
    char line[512];
    int files = 2, count = LOCAL, ranks[LOCAL], numbers[LOCAL], places[LOCAL];
    int *all_ranks = ranks, *all_numbers = numbers, *all_places = places;
    sion_int64 chunks[LOCAL], *all_chunks = chunks;
    sion_int32 block = 64;
    int each = size * LOCAL / files;
    for (int i = 0; i < LOCAL; i++) {
        ranks[i] = i * size + rank;
        chunks[i] = CHUNK + ranks[i];
        numbers[i] = ranks[i] / each;
        places[i] = ranks[i] % each;
    }
    int sid = sion_paropen_mapped_mpi((char *)name, "bw", &files, MPI_COMM_WORLD, &count, &all_ranks,
                                      &all_chunks, &all_numbers, &all_places, &block, NULL);
    size_t items = 0;
    for (int r = 0; r < RECORDS; r++) {
        for (int i = 0; i < LOCAL; i++) {
            int bytes =
                (r * 41) %
                CHUNK; /* all tasks use equally many blocks: SIONlib does not clear the sizes of unused ones */
            fill(data, bytes, ranks[i] + r);
            sion_seek(sid, ranks[i], SION_CURRENT_BLK, SION_CURRENT_POS);
            items += sion_fwrite(data, 1, (size_t)bytes, sid);
        }
    }
    snprintf(line, sizeof line, "%s: block %d, %zu items, %d", name, (int)block, items,
             sion_parclose_mapped_mpi(sid));
    print_all(line);
}

/* Writes each task to its end before the next one; the number of blocks depends on the rank. If tasks are written
 * alternately, SIONlib confuses their block sizes. */
static void write_uneven(const char *name, int files, enum order order) {
    unsigned char data[CHUNK];
    char line[512];
    int count = LOCAL, ranks[LOCAL], numbers[LOCAL], places[LOCAL];
    int *all_ranks = ranks, *all_numbers = numbers, *all_places = places;
    sion_int64 chunks[LOCAL], *all_chunks = chunks;
    sion_int32 block = 64;
    int each = size * LOCAL / files;
    for (int i = 0; i < LOCAL; i++) {
        ranks[i] = i * size + rank;
        chunks[i] = CHUNK;
        numbers[i] = order == BY_TURNS ? ranks[i] % files : ranks[i] / each;
        places[i] = order == BY_TURNS ? ranks[i] / files : ranks[i] % each;
        places[i] = order == BACKWARDS ? each - 1 - places[i] : places[i];
    }
    int sid = sion_paropen_mapped_mpi((char *)name, "bw", &files, MPI_COMM_WORLD, &count, &all_ranks,
                                      &all_chunks, &all_numbers, &all_places, &block, NULL);
    size_t items = 0;
    for (int i = 0; i < LOCAL; i++) {
        sion_seek(sid, ranks[i], SION_CURRENT_BLK, SION_CURRENT_POS);
        for (int r = 0; r < ranks[i]; r++) {
            fill(data, CHUNK / 2 + r, ranks[i] + r);
            items += sion_fwrite(data, 1, CHUNK / 2 + (size_t)r, sid);
        }
    }
    snprintf(line, sizeof line, "%s: %zu items, %d", name, items, sion_parclose_mapped_mpi(sid));
    print_all(line);
}

/* Reads mapped tasks. share: each process gets a share of the tasks; otherwise it reads a list of ranks. */
static void read_mapped(const char *name, int share) {
    unsigned char data[CHUNK * 4];
    char line[512];
    int files = -1, count = share ? -1 : 2, list[2] = {size * LOCAL - 1 - rank, rank};
    int *ranks = NULL, *numbers = NULL, *places = NULL;
    sion_int64 *chunks = NULL;
    sion_int32 block = -1;
    if (!share) {
        ranks = malloc(sizeof list);
        memcpy(ranks, list, sizeof list);
    }
    int sid = sion_paropen_mapped_mpi((char *)name, "br", &files, MPI_COMM_WORLD, &count, &ranks, &chunks,
                                      &numbers, &places, &block, NULL);
    int n = snprintf(line, sizeof line, "%s: %d files, %d tasks:", name, files, count);
    for (int i = 0; i < count; i++) {
        size_t got = 0, records = 0;
        unsigned all = 0;
        sion_seek(sid, ranks[i], 0, 0);
        while (!sion_feof(sid)) {
            got = sion_fread(data, 1, (size_t)sion_bytes_avail_in_block(sid), sid);
            all = 7 * all + sum(data, got);
            records++;
        }
        n += snprintf(line + n, sizeof line - (size_t)n, " %d (%d, %d, %lld) %zu %08x;", ranks[i], numbers[i],
                      places[i], (long long)chunks[i], records, all);
    }
    snprintf(line + n, sizeof line - (size_t)n, " %d", sion_parclose_mapped_mpi(sid));
    print_all(line);
    free(ranks);
    free(numbers);
    free(places);
    free(chunks);
}

static void keys(const char *name) {
    unsigned char data[CHUNK];
    char line[512];
    sion_int64 chunk = CHUNK;
    sion_int32 block = 64;
    int global = -1, files = 2;
    MPI_Comm part = MPI_COMM_WORLD;
    int sid =
        sion_paropen_mpi(name, "bw,keyval", &files, MPI_COMM_WORLD, &part, &chunk, &block, &global, NULL, NULL);
    size_t items = 0;
    for (int r = 0; r < RECORDS; r++) {
        fill(data, 60 + r, rank + r);
        items += sion_fwrite_key(data, (uint64_t)(r % 4), 1, 60 + (size_t)r, sid);
    }
    int closed = sion_parclose_mpi(sid);
    sid = sion_paropen_mpi(name, "br,keyval=unknown", &files, MPI_COMM_WORLD, &part, &chunk, &block, &global,
                           NULL, NULL);
    int n = snprintf(line, sizeof line, "%s: %zu items, %d, mode %d:", name, items, closed,
                     sion_get_keyval_mode(sid));
    for (uint64_t key = 4; key-- > 0;) {
        size_t got = sion_fread_key(data, key, 1, 1000, sid);
        n += snprintf(line + n, sizeof line - (size_t)n, " %zu %08x;", got, sum(data, got));
    }
    sion_parclose_mpi(sid);
    print_all(line);
}

static void bad_calls(void) {
    char line[512];
    sion_int64 chunk = 10;
    sion_int32 block = 64;
    int global = -1, files = 1, many = 1000;
    MPI_Comm part = MPI_COMM_WORLD;
    int a = sion_paropen_mpi("no.sion", "bw", NULL, MPI_COMM_WORLD, &part, &chunk, &block, &global, NULL, NULL);
    int b =
        sion_paropen_mpi("no.sion", "bw", &files, MPI_COMM_WORLD, NULL, &chunk, &block, &global, NULL, NULL);
    int c =
        sion_paropen_mpi("no.sion", "x", &files, MPI_COMM_WORLD, &part, &chunk, &block, &global, NULL, NULL);
    int d =
        sion_paropen_mpi("no.sion", "bw", &many, MPI_COMM_WORLD, &part, &chunk, &block, &global, NULL, NULL);
    snprintf(line, sizeof line, "bad calls: %d %d %d %d", a, b, c, d);
    print_all(line);
}

/* Cases in which SIONlib 1.7.6 fails or hangs: a set is read by fewer processes than it has tasks, or a file is
 * missing or damaged. */
static void beyond(void) {
    char line[512], *file = NULL;
    unsigned char data[CHUNK * RECORDS];
    sion_int64 chunk = -1;
    sion_int32 block = -1;
    int global = -1, files = -1, among;
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    MPI_Comm_rank(half, &among);
    int sid = sion_paropen_mpi("./three.sion", "br", &files, half, &half, &chunk, &block, &global, NULL, &file);
    size_t got = sion_fread(data, 1, (size_t)sion_bytes_avail_in_block(sid), sid);
    int n = snprintf(line, sizeof line, "process %d of 2: %d files, rank %d, %s: %zu %08x", among, files,
                     global, file, got, sum(data, got));
    snprintf(line + n, sizeof line - (size_t)n, ", %d", sion_parclose_mpi(sid));
    print_all(line);
    free(file);
    int missing = sion_paropen_mpi("missing.sion", "br", &files, MPI_COMM_WORLD, &half, &chunk, &block, &global,
                                   NULL, NULL);
    if (rank == 0) {
        FILE *cut = fopen("cut.sion", "wb");
        fwrite("sion", 1, 4, cut);
        fclose(cut);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int damaged =
        sion_paropen_mpi("cut.sion", "br", &files, MPI_COMM_WORLD, &half, &chunk, &block, &global, NULL, NULL);
    int buddy = sion_paropen_mpi("buddy.sion", "bw,buddy", &files, MPI_COMM_WORLD, &half, &chunk, &block,
                                 &global, NULL, NULL);
    snprintf(line, sizeof line, "missing %d, damaged %d, buddy %d", missing, damaged, buddy);
    print_all(line);

    /* sion_parreinit_mpi after writes empties the container. If it fails, no container is left to write to. */
    files = 1;
    chunk = CHUNK;
    block = 64;
    sid =
        sion_paropen_mpi("anew.sion", "bw", &files, MPI_COMM_WORLD, &half, &chunk, &block, &global, NULL, NULL);
    fill(data, CHUNK, rank);
    for (int r = 0; r < 3; r++) {
        sion_fwrite(data, 1, CHUNK, sid);
    }
    int again = sion_parreinit_mpi(sid, 2 * CHUNK);
    got = sion_fwrite(data, 1, CHUNK / 3, sid);
    snprintf(line, sizeof line, "anew.sion: %d, %zu, %d", again, got, sion_parclose_mpi(sid));
    print_all(line);
    read_set("anew.sion", "br", 0);
    files = 1;
    sid = sion_paropen_mpi("below.sion", "bw", &files, MPI_COMM_WORLD, &half, &chunk, &block, &global, NULL,
                           NULL);
    again = sion_parreinit_mpi(sid, -1);
    got = sion_fwrite(data, 1, 1, sid);
    snprintf(line, sizeof line, "chunk below 0: %d, %zu, %d", again, got, sion_parclose_mpi(sid));
    print_all(line);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && strcmp(argv[1], "beyond") == 0) {
        beyond();
        MPI_Finalize();
        return 0;
    }
    write_set("one.sion", "bw", 1, 0);
    write_set("./three.sion", "bw,endianness=big", 3, 0);
    write_set("parts.sion", "bw", -1, 0);
    write_set("collective.sion", "bw,collective,collsize=2", 1, 1);
    write_set("usual.sion", "bw,collective", 2, 1);
    write_set("merged.sion", "bw,collective,cmerge,collsize=3", 1, 1);
    read_set("one.sion", "br", 0);
    read_set("./three.sion", "br", 0);
    read_set("parts.sion", "br", 0);
    read_set("collective.sion", "br,collective", 1);
    read_set("usual.sion", "br", 1);
    read_set("merged.sion", "br", 0);
    write_parts("turned.sion", "bw", -1, BY_TURNS, 0);
    read_set("turned.sion", "br", 0);
    write_parts("turnedone.sion", "bw", -1, BACKWARDS, 0);
    write_parts("turnedpacked.sion", "bw,collective,collsize=3", -1, BACKWARDS, 1);
    write_parts("turnedmerged.sion", "bw,collective,cmerge,collsize=2", -1, BACKWARDS, 1);
    write_parts("turnedmergeds.sion", "bw,collective,cmerge,collsize=2", -1, BY_TURNS, 1);
    read_set("turnedmergeds.sion", "br", 0);
    write_large("large.sion", "bw,collective,cmerge,collsize=4");
    write_large("larges.sion", "bw,collective,cmerge,collsize=2");
    write_again("again.sion");
    read_set("again.sion", "br", 0);
    write_unrounded("unrounded.sion", "bw", 1);
    read_set("unrounded.sion", "br", 0);
    write_unrounded("unroundeds.sion", "bw", 3);
    write_unrounded("unroundedkeys.sion", "bw,keyval", 2);
    write_unrounded("unroundedpacked.sion", "bw,collective,collsize=2", 1);
    write_unrounded("unroundedmerged.sion", "bw,collective,cmerge,collsize=3", 1);
    stream_unrounded("unroundedstream.sion");
    after_close("closed.sion");
    keys_in_chunks("chunkedkeys.sion");
    mapped_block_size("blocksize.sion");
    write_mapped("./mapped.sion");
    read_mapped("./mapped.sion", 1);
    read_mapped("./mapped.sion", 0);
    write_uneven("uneven.sion", 1, BY_RANK);
    read_mapped("uneven.sion", 1);
    write_uneven("./unevens.sion", 3, BY_RANK);
    read_mapped("./unevens.sion", 0);
    write_uneven("turns.sion", 2, BY_TURNS);
    read_mapped("turns.sion", 1);
    write_uneven("five.sion", 5, BY_TURNS);
    read_mapped("five.sion", 1);
    write_uneven("backwards.sion", 3, BACKWARDS);
    read_mapped("backwards.sion", 1);
    write_uneven("alone.sion", 1, BACKWARDS);
    read_mapped("alone.sion", 0);
    keys("keys.sion");
    bad_calls();
    MPI_Finalize();
    return 0;
}
