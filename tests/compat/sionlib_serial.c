/* SPDX-License-Identifier: BSD-3-Clause */
/* A serial program written for SIONlib. It prints the results of calls and what it reads, and leaves its files.
 * sionlib.sh compiles it for libhpcw_sionlib or for SIONlib. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "sion.h"

enum { TASKS = 5, BLOCK = 64, CHUNK = 100, RECORDS = 40 };

static void fill(unsigned char *data, int size, int seed) {
    for (int i = 0; i < size; i++) {
        data[i] = (unsigned char)(7 * i + 13 * seed + (i * i >> 4));
    }
}

static unsigned sum(const unsigned char *data, size_t size) {
    unsigned s = 1;
    for (size_t i = 0; i < size; i++) {
        s = 31 * s + data[i];
    }
    return s;
}

static int size_of(int task, int record) {
    return (task * 17 + record * 29) % CHUNK;
}

static int open_to_write(const char *name, const char *mode, FILE **stream) {
    int tasks = TASKS, files = 1, ranks[TASKS], *all_ranks = ranks;
    sion_int32 block = BLOCK;
    sion_int64 chunks[TASKS], *all_chunks = chunks;
    for (int t = 0; t < TASKS; t++) {
        ranks[t] = t;
        chunks[t] = CHUNK + 50 * t;
    }
    return sion_open((char *)name, mode, &tasks, &files, &all_chunks, &block, &all_ranks, stream);
}

static int open_to_read(const char *name, FILE **stream) {
    int tasks = -1, files = -1, *ranks = NULL;
    sion_int32 block = -1;
    sion_int64 *chunks = NULL;
    int sid = sion_open((char *)name, "rb", &tasks, &files, &chunks, &block, &ranks, stream);
    printf("%s: opened %d, %d tasks, %d files, block %d\n", name, sid >= 0, tasks, files, (int)block);
    for (int t = 0; t < tasks; t++) {
        printf("  chunk %lld rank %d\n", (long long)chunks[t], ranks[t]);
    }
    free(chunks);
    free(ranks);
    return sid;
}

/* Writes the tasks' records in turn, by sion_fwrite or, if by_stream is set, by fwrite to the FILE stream. */
static void write_records(const char *name, const char *mode, int by_stream) {
    unsigned char data[CHUNK];
    FILE *stream = NULL;
    int sid = open_to_write(name, mode, by_stream ? &stream : NULL);
    for (int r = 0; r < RECORDS; r++) {
        for (int t = 0; t < TASKS - 1; t++) { /* the last task stays empty */
            int size = size_of(t, r);
            fill(data, size, t * RECORDS + r);
            int selected = sion_seek_fp(sid, t, SION_CURRENT_BLK, SION_CURRENT_POS, by_stream ? &stream : NULL);
            int fits = sion_ensure_free_space(sid, size);
            size_t written =
                by_stream ? fwrite(data, 1, (size_t)size, stream) : sion_fwrite(data, 1, (size_t)size, sid);
            if (selected != 1 || fits != 1 || written != (size_t)size) {
                printf("%s: task %d record %d: %d %d %zu\n", name, t, r, selected, fits, written);
            }
        }
    }
    sion_seek(sid, 2, SION_CURRENT_BLK, SION_CURRENT_POS);
    printf("%s: written %lld, position %lld\n", name, (long long)sion_get_bytes_written(sid),
           (long long)sion_get_position(sid));
    int block, blocks;
    sion_int64 at, *used;
    printf("  where %d", sion_get_current_location(sid, &block, &at, &blocks, &used));
    printf(": block %d, %lld, %d blocks of", block, (long long)at, blocks);
    for (int b = 0; b < blocks; b++) {
        printf(" %lld", (long long)used[b]);
    }
    printf("\n  closed %d\n", sion_close(sid));
}

static void read_chunks(const char *name, int by_stream) {
    unsigned char data[CHUNK + 50 * TASKS];
    FILE *stream = NULL;
    int sid = open_to_read(name, by_stream ? &stream : NULL);
    for (int t = TASKS - 1; t >= 0; t--) {
        sion_seek_fp(sid, t, 0, 0, by_stream ? &stream : NULL);
        printf("  task %d:", t);
        while (!sion_feof(sid)) {
            size_t left = (size_t)sion_bytes_avail_in_chunk(sid);
            size_t got = by_stream ? fread(data, 1, left, stream) : sion_fread(data, 1, left, sid);
            printf(" %zu %08x", got, sum(data, got));
        }
        printf(", read %lld\n", (long long)sion_get_bytes_read(sid));
    }
    sion_close(sid);
}

/* Prints the metadata of a container, and the positions after seeks. */
static void look(const char *name) {
    unsigned char data[20];
    int tasks, most, size, files;
    sion_int64 skip, end, *chunks, *ranks, *counts, *used;
    sion_int32 *mapping;
    int sid = open_to_read(name, NULL);
    printf("  locations %d:",
           sion_get_locations(sid, &tasks, &most, &skip, &end, &chunks, &ranks, &counts, &used));
    printf(" %d tasks, %d blocks, skip %lld, end %lld\n", tasks, most, (long long)skip, (long long)end);
    for (int t = 0; t < tasks; t++) {
        printf("  %lld %lld %lld:", (long long)chunks[t], (long long)ranks[t], (long long)counts[t]);
        for (int b = 0; b < counts[t]; b++) {
            printf(" %lld", (long long)used[b * tasks + t]);
        }
        printf("\n");
    }
    int mapped = sion_get_mapping(sid, &size, &mapping, &files);
    printf("  mapping %d: %d, %d files\n", mapped, size, files);
    sion_seek(sid, 2, 1, 3);
    printf("  position %lld, no list %d, descriptor %d\n", (long long)sion_get_position(sid),
           sion_get_io_info(sid) == NULL && sion_get_io_info_by_spec(sid, SION_ROLE_WRITER, 0) == NULL,
           sion_get_fd(sid));
    printf("  keys %d, serial %d, files %d\n", sion_get_keyval_mode(sid), sion_is_serial_opened(sid),
           sion_get_number_of_files(sid));
    static const struct {
        int rank, block;
        sion_int64 at;
    } places[] = {
        {1, 0, 5},
        {1, SION_CURRENT_BLK, 7},
        {SION_CURRENT_RANK, 1, 0},
        {2, SION_ABSOLUTE_POS, 333},
        {2, 0, 100000},
        {2, 1000, 0},
        {3, SION_END_POS, -40},
        {3, SION_END_POS, 1},
        {7, 0, 0},
        {3, SION_ABSOLUTE_POS, 0},
        {4, SION_CURRENT_BLK, SION_CURRENT_POS},
        {0, 2, 3},
        {3, SION_CURRENT_BLK, SION_CURRENT_POS},
        {0, SION_CURRENT_BLK, SION_CURRENT_POS},
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int block, blocks;
        sion_int64 at;
        int moved = sion_seek(sid, places[i].rank, places[i].block, places[i].at);
        sion_get_current_location(sid, &block, &at, &blocks, &used);
        sion_int64 left = sion_bytes_avail_in_block(sid);
        size_t got = sion_fread(data, 4, 5, sid);
        printf("  seek %d: block %d, %lld, left %lld, got %zu %08x\n", moved, block, (long long)at,
               (long long)left, got, sum(data, 4 * got));
    }
    printf("  too much %zu, written %lld\n", sion_fread(data, 1, 100000, sid),
           (long long)sion_get_bytes_written(sid));
    sion_close(sid);
}

/* Reads single tasks. All tasks have equally many blocks, since SIONlib takes the first task's number of blocks for
 * all tasks. */
static void read_rank(const char *name) {
    unsigned char data[CHUNK + 50 * TASKS];
    sion_int64 chunk;
    sion_int32 block;
    for (int rank = 0; rank < 2; rank++) {
        int sid = sion_open_rank((char *)name, "br", &chunk, &block, &rank, NULL);
        printf("%s: rank %d, chunk %lld, block %d:", name, rank, (long long)chunk, (int)block);
        size_t got = sion_fread(data, 1, (size_t)sion_bytes_avail_in_block(sid), sid);
        printf(" %zu %08x, closed %d\n", got, sum(data, got), sion_close(sid));
    }
}

/* Gives the tasks arbitrary ranks in the file. The calls name a task by its place in the file, not by its rank. */
static void other_ranks(const char *name, const int *list) {
    unsigned char data[20];
    int tasks = 3, files = 1, ranks[3], *all_ranks = ranks;
    sion_int64 chunks[3] = {CHUNK, CHUNK / 2, CHUNK * 2}, *all_chunks = chunks;
    sion_int32 block = 64;
    memcpy(ranks, list, sizeof ranks);
    int sid = sion_open((char *)name, "bw", &tasks, &files, &all_chunks, &block, &all_ranks, NULL);
    for (int t = 2; t >= 0; t--) {
        sion_seek(sid, t, SION_CURRENT_BLK, SION_CURRENT_POS);
        fill(data, sizeof data, list[t]);
        sion_fwrite(data, 1, sizeof data - (size_t)t, sid);
    }
    printf("%s: closed %d", name, sion_close(sid));
    all_ranks = NULL;
    all_chunks = NULL;
    sid = sion_open((char *)name, "br", &tasks, &files, &all_chunks, &block, &all_ranks, NULL);
    for (int t = 0; t < tasks; t++) {
        int moved = sion_seek(sid, t, 0, 0);
        size_t got = sion_fread(data, 1, (size_t)sion_bytes_avail_in_block(sid), sid);
        printf(", rank %d at %d: %zu %08x", all_ranks[t], moved, got, sum(data, got));
    }
    printf(", closed %d\n", sion_close(sid));
    free(all_ranks);
    free(all_chunks);
}

static void write_keys(const char *name) {
    unsigned char data[CHUNK * 5];
    int sid = open_to_write(name, "bw,keyval=inline", NULL);
    for (int r = 0; r < RECORDS; r++) {
        for (int t = 0; t < TASKS; t++) {
            int size = 1 + (t * 101 + r * 47) % (CHUNK * 4);
            fill(data, size, r + t);
            sion_seek(sid, t, SION_CURRENT_BLK, SION_CURRENT_POS);
            size_t n = sion_fwrite_key(data, (uint64_t)(r * r % 7), 1, (size_t)size, sid);
            if (n != (size_t)size) {
                printf("%s: %zu\n", name, n);
            }
        }
    }
    printf("%s: written %lld, closed", name, (long long)sion_get_bytes_written(sid));
    printf(" %d\n", sion_close(sid));
}

static void read_keys(const char *name) {
    static const uint64_t wanted[] = {4, 0, 1, 3, 2};
    unsigned char data[CHUNK * 5];
    uint64_t key;
    size_t size;
    sion_key_stat_t stat;
    int sid = open_to_read(name, NULL);
    for (int t = 0; t < TASKS; t++) {
        sion_seek(sid, t, 0, 0);
        printf("  task %d:", t);
        for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
            size_t got = sion_fread_key(data, wanted[i], 3, 9, sid);
            printf(" %zu %08x", got, sum(data, 3 * got));
        }
        static const struct {
            int entry;
            sion_int64 at;
        } places[] = {{0, 0}, {SION_CURRENT_BLOCK, 2}, {SION_ABSOLUTE_POS, 1}, {99, 0}, {1, 5000}};
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
            int moved = sion_seek_key(sid, 2, places[i].entry, places[i].at);
            size_t got = moved ? sion_fread_key(data, 2, 1, 10, sid) : 0;
            printf(" [%d %zu %08x]", moved, got, sum(data, got));
        }
        printf("\n   ");
        int all = 0;
        sion_fread_key_iterator_reset(sid);
        while (sion_fread_key_iterator_next(sid, &key, &size) == SION_SUCCESS) {
            size_t got = sion_fread_key(data, key, 1, size, sid);
            if (all++ % 9 == 0) {
                printf(" %" PRIu64 ": %zu %zu %08x;", key, size, got, sum(data, got));
            }
        }
        printf(" %d records\n   ", all);
        sion_key_list_iterator_reset(sid);
        while (sion_key_list_iterator_next(sid, &key) == SION_SUCCESS) {
            int known = sion_key_get_stat(sid, key, &stat);
            printf(" %" PRIu64 ": %d %lld %lld;", key, known, (long long)stat.num_blocks,
                   (long long)stat.total_size);
        }
        printf("\n");
    }
    sion_close(sid);
}

static void bad_calls(void) {
    unsigned char data[CHUNK * 2] = {0};
    int sid = sion_open((char *)"missing.sion", "rb", &(int){0}, &(int){0}, NULL, &(sion_int32){0}, NULL, NULL);
    printf("missing file: %d\n", sid);
    printf("no handle: %zu %zu %d %d\n", sion_fwrite(data, 1, 1, 77), sion_fread(data, 1, 1, 77),
           sion_close(77), sion_ensure_free_space(77, 1));
    printf("no handle: %lld %lld %lld %d\n", (long long)sion_get_bytes_written(77),
           (long long)sion_get_bytes_read(77), (long long)sion_bytes_avail_in_block(77),
           sion_get_keyval_mode(77));
    sid = open_to_write("bad.sion", "bw", NULL);
    printf("too large: %d %zu\n", sion_ensure_free_space(sid, 5 * CHUNK), sion_fwrite(data, CHUNK, 2, sid));
    printf("reading a writer: %lld\n", (long long)sion_get_bytes_read(sid));
    printf("one more: %zu %zu\n", sion_fwrite(data, 4, 2, sid), sion_fwrite(data, 0, 2, sid));
    printf("closed: %d\n", sion_close(sid));
}

/* Cases in which SIONlib 1.7.6 loses data or makes an unreadable file. */
static void no_loss(void) {
    unsigned char data[CHUNK] = {0};
    int block, blocks, rank = 7, files = 1, tasks = 0, ranks[1] = {0}, *all_ranks = ranks;
    sion_int64 at, chunk = -1, *used, chunks[1] = {-64}, *all_chunks = chunks;
    sion_int32 size = -1;

    int sid = open_to_write("bytes.sion", "bw,keyval", NULL);
    size_t raw = sion_fwrite(data, 1, 10, sid), keyed = sion_fwrite_key(data, 5, 1, 30, sid);
    printf("bytes among keys: %zu, %zu, closed %d\n", raw, keyed, sion_close(sid));
    sid = open_to_read("bytes.sion", NULL);
    raw = sion_fread(data, 1, 16, sid);
    keyed = sion_fread_key(data, 5, 1, 30, sid);
    printf("  read %zu, then of the key %zu\n", raw, keyed);
    sion_close(sid);

    /* Each task of the writer seeks to its first byte, before it writes. */
    sid = open_to_write("stays.sion", "bw", NULL);
    for (int t = 0; t < TASKS; t++) {
        int moved = sion_seek(sid, t, 0, 0);
        fill(data, 20 + t, t);
        printf("  seek %d, written %zu\n", moved, sion_fwrite(data, 1, 20 + (size_t)t, sid));
    }
    printf("stays.sion: closed %d\n", sion_close(sid));
    read_chunks("stays.sion", 0);

    /* A failed seek still selects the task that it names. The task keeps the position that it had. */
    sid = open_to_read("stays.sion", NULL);
    for (int t = 1; t < 3; t++) {
        int moved = sion_seek(sid, t, t == 1 ? 99 : 0, t == 1 ? 0 : 9999);
        sion_get_current_location(sid, &block, &at, &blocks, &used);
        int left = (int)sion_bytes_avail_in_chunk(sid);
        raw = sion_fread(data, 1, 5, sid);
        printf("  seek %d: block %d, %d, left %d, got %zu %08x\n", moved, block, (int)at, left, raw,
               sum(data, raw));
    }
    sion_close(sid);

    sid = sion_open_rank("stays.sion", "br", &chunk, &size, &rank, NULL);
    printf("missing rank %d,", sid);
    sid = sion_open((char *)"none.sion", "bw", &tasks, &files, &all_chunks, &size, &all_ranks, NULL);
    tasks = 1;
    printf(" no tasks %d,", sid);
    sid = sion_open((char *)"none.sion", "bw", &tasks, &files, &all_chunks, &size, &all_ranks, NULL);
    printf(" chunk below 0 %d\n", sid);
}

#ifdef HPCW_SIONLIB_SION_H
static void hear(void *context, const char *message) {
    printf("%s: %s\n", (const char *)context, message);
}
#endif

/* What SIONlib 1.7.6 cannot do: many blocks, and positions in a value that continues in another chunk. */
static void beyond(void) {
    unsigned char data[CHUNK * 5];
    int sid = open_to_write("many.sion", "bw", NULL);
    for (int r = 0; r < 300; r++) {
        fill(data, CHUNK, r);
        sion_fwrite(data, 1, CHUNK, sid);
    }
    printf("closed %d\n", sion_close(sid));
    sid = open_to_read("many.sion", NULL);
    int moved = sion_seek(sid, 0, 250, 0);
    size_t got = sion_fread(data, 1, CHUNK, sid);
    printf("  block 250: %d %zu %08x,", moved, got, sum(data, got));
    fill(data, CHUNK, 250);
    printf(" expected %08x, closed %d\n", sum(data, CHUNK), sion_close(sid));

    sid = open_to_write("long.sion", "bw,keyval", NULL);
    fill(data, sizeof data, 3);
    sion_fwrite_key(data, 9, 1, sizeof data, sid);
    sion_close(sid);
    sid = open_to_read("long.sion", NULL);
    unsigned expected = sum(data + 300, 100);
    moved = sion_seek_key(sid, 9, 0, 300);
    got = sion_fread_key(data, 9, 1, 100, sid);
    printf("  byte 300: %d %zu %08x, expected %08x\n", moved, got, sum(data, got), expected);
    sion_close(sid);
    no_loss();

#ifdef HPCW_SIONLIB_SION_H
    sion_hpcw_on_error(hear, "heard");
    FILE *stream;
    sid = open_to_write("full.sion", "bw", &stream);
    size_t written = fwrite(data, 1, 100, stream);
    printf("stream %zu, at %ld\n", written, ftell(stream));
    written = fwrite(data, 1, 100, stream);
    printf("too much: %zu, error %d\n", written, ferror(stream) != 0);
    int next = sion_ensure_free_space(sid, 100);
    clearerr(stream);
    written = fwrite(data, 1, 100, stream);
    printf("next block: %d, %zu\n", next, written);
    int closed = sion_close(sid);
    printf("closed %d, again %d\n", closed, sion_close(sid));
    printf("buddy %d\n", open_to_write("buddy.sion", "bw,buddy", NULL));
    sion_hpcw_on_error(NULL, NULL);
#endif

    /* A container that could not be written gets no name. */
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = 4096, .rlim_max = RLIM_INFINITY});
    sid = open_to_write("no_room.sion", "bw", NULL);
    for (int r = 0; r < 300; r++) {
        sion_fwrite(data, 1, CHUNK, sid);
    }
    int named = sion_close(sid);
    FILE *left = fopen("no_room.sion", "rb");
    printf("no room: closed %d, file %d\n", named, left != NULL);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "beyond") == 0) {
        beyond();
        return 0;
    }
    int version[4];
    unsigned char numbers[] = {1, 2, 3, 4, 5, 6, 7, 8};
    printf("version %d", sion_get_version(&version[0], &version[1], &version[2], &version[3]));
    printf(" %d.%d, format %d\n", version[0], version[1], version[3]);
    sion_swap(numbers, numbers, 4, 2, 1);
    printf("swapped %02x%02x, big %d\n", numbers[0], numbers[4], sion_get_endianness());

    write_records("calls.sion", "bw", 0);
    write_records("stream.sion", "wb", 1);
    write_records("./big.sion", "bw,endianness=big", 0);
    read_chunks("calls.sion", 0);
    read_chunks("stream.sion", 1);
    look("./big.sion");
    FILE *stream;
    int sid = open_to_read("./big.sion", &stream);
    printf("  big data %d, swap %d\n", sion_get_file_endianness(sid), sion_endianness_swap_needed(sid));
    sion_close(sid);
    read_rank("stream.sion");
    other_ranks("tens.sion", (int[]){10, 20, 30});
    other_ranks("mixed.sion", (int[]){3, 1, 2});
    write_keys("keys.sion");
    read_keys("keys.sion");
    bad_calls();
    return 0;
}
