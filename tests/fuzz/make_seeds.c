/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the seeds of the fuzz targets: small files assembled by hand. Usage:
 *
 *  make_seeds write FOLDER    writes FOLDER/sion/..., FOLDER/linktest/... and so on
 *  make_seeds check FOLDER    fails if a seed there differs or is missing */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hpcw/kvtree.h>

#include "libwriter/base/buf.h"
#include "libwriter/format/clog2/file/definitions.h"
#include "libwriter/format/clog2/log/local_file.h"
#include "tests/fuzz/images.h"
#include "tests/support/clog2_cases.h"
#include "tests/support/files.h"
#include "tests/support/linktest_image.h"
#include "tests/support/lov_image.h"
#include "tests/support/memory_source.h"
#include "tests/support/vom_image.h"

static const char *folder;
static bool checking;
static int failures;

/* Adds a seed: several files in the form that fuzz_split expects. */
static void seed(const char *name, const struct sion_image *images, uint32_t count) {
    size_t size = 1;
    for (uint32_t i = 0; i < count; i++) {
        size += images[i].size + (i + 1 < count ? 4 : 0);
    }
    unsigned char *bytes = malloc(size), *to = bytes;
    if (bytes == NULL) {
        abort();
    }
    *to++ = (unsigned char)(count - 1);
    for (uint32_t i = 0; i < count; i++) {
        if (i + 1 < count) {
            hpcw_i_put_u32(to, (uint32_t)images[i].size, false);
            to += 4;
        }
        memcpy(to, images[i].data, images[i].size);
        to += images[i].size;
    }
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    if (checking) {
        size_t there = 0;
        unsigned char *found = read_file(path, &there);
        failures += found == NULL || !same_bytes(path, bytes, size, found, there);
        free(found);
    } else {
        FILE *f = fopen(path, "wb");
        bool good = f != NULL && fwrite(bytes, 1, size, f) == size;
        good &= f != NULL && fclose(f) == 0;
        if (!good) {
            perror(path);
            failures++;
        }
    }
    free(bytes);
}

static void sion_seeds(void) {
    static const uint64_t chunks[3] = {16, 0, 24};
    static const int64_t counts[3] = {3, 1, 1};
    static const int64_t sizes[3][3] = {{16, 0, 20}, {10, 0, 0}, {3, 0, 0}};
    static const int64_t marked[3][3] = {{16, 0, 20}, {10, -1, -1}, {3, -1, -1}};
    static const int32_t own[3][2] = {{0, 0}, {0, 1}, {0, 2}};
    struct sion_image_spec spec = sion_image_defaults();
    spec.prefix = "s";
    spec.fs_block_size = 8;
    spec.tasks = 3;
    spec.chunk_sizes = chunks;
    spec.blocks = 3;
    spec.counts = counts;
    spec.sizes = &sizes[0][0];

    struct sion_image image = sion_image_make(&spec);
    seed("sion/serial", &image, 1);
    sion_image_free(&image);
    for (int32_t format = 2; format <= 4; format++) {
        char name[] = "sion/format_0";
        name[12] = (char)('0' + format);
        spec.format = format;
        image = sion_image_make(&spec);
        seed(name, &image, 1);
        sion_image_free(&image);
    }
    spec.format = 5;
    spec.big = spec.data_big = true;
    spec.file_number = 0;
    spec.mapping = -1;
    image = sion_image_make(&spec);
    seed("sion/parallel_big", &image, 1);
    sion_image_free(&image);
    spec.big = spec.data_big = false;
    spec.mapping = 3;
    spec.mapped = own;
    spec.sizes = &marked[0][0];
    image = sion_image_make(&spec);
    seed("sion/mapped", &image, 1);
    sion_image_free(&image);

    /* A set of two files, then its buddy copy. In a buddy copy, a task of rank g that only collects data is stored
     * with rank -(g + 1) and no data: rank 3 in file 0, rank 0 in file 1. */
    static const int64_t ranks[2][2] = {{0, 2}, {1, 3}}, buddies[2][2] = {{-4, 0}, {-1, 1}};
    static const uint64_t set_chunks[2] = {8, 8}, buddy_chunks[2] = {0, 8};
    static const int64_t set_counts[2] = {1, 1}, set_sizes[2] = {8, 3}, buddy_sizes[2] = {0, 5};
    static const int32_t mapped[4][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}}, buddy_mapped[2][2] = {{0, 1}, {1, 1}};
    for (int buddy = 0; buddy < 2; buddy++) {
        struct sion_image set[2];
        for (uint32_t k = 0; k < 2; k++) {
            struct sion_image_spec member = spec;
            member.files = 2;
            member.file_number = k;
            member.tasks = 2;
            member.ranks = buddy ? buddies[k] : ranks[k];
            member.chunk_sizes = buddy ? buddy_chunks : set_chunks;
            member.blocks = 1;
            member.counts = set_counts;
            member.sizes = buddy ? buddy_sizes : set_sizes;
            member.mapping = k > 0 ? -1 : buddy ? 2 : 4;
            member.mapped = buddy ? buddy_mapped : mapped;
            set[k] = sion_image_make(&member);
        }
        seed(buddy ? "sion/buddy" : "sion/set", set, 2);
        sion_image_free(&set[0]);
        sion_image_free(&set[1]);
    }

    /* Records of 4, 0 and 20 bytes in chunks of 16, so the second header spans two chunks. */
    unsigned char stream[72] = {0};
    hpcw_i_put_u64(stream, 7, false);
    hpcw_i_put_u64(stream + 8, 4, false);
    hpcw_i_put_u64(stream + 20, 8, false);
    hpcw_i_put_u64(stream + 36, 7, false);
    hpcw_i_put_u64(stream + 44, 20, false);
    const void *streams[1] = {stream};
    static const uint64_t key_chunk = 16;
    static const int64_t key_count = 5, key_sizes[5] = {16, 16, 16, 16, 8};
    spec = sion_image_defaults();
    spec.prefix = "k";
    spec.fs_block_size = 16;
    spec.flag1 = UINT64_C(51) << 32;
    spec.tasks = 1;
    spec.chunk_sizes = &key_chunk;
    spec.blocks = 5;
    spec.counts = &key_count;
    spec.sizes = key_sizes;
    spec.streams = streams;
    image = sion_image_make(&spec);
    seed("sion/keyval", &image, 1);
    sion_image_free(&image);
}

static void linktest_seeds(void) {
    static const struct {
        const char *name;
        struct linktest_image_spec spec;
    } seeds[] = {
        {"linktest/pair", {.tasks = 2, .retests = 1, .fs_block_size = 1}},
        {"linktest/four", {.tasks = 4, .retests = 3, .fs_block_size = 8}},
        {"linktest/bisection_big", {.tasks = 6, .big = true, .bisection = true, .fs_block_size = 1}},
        {"linktest/permutations",
         {.tasks = 4, .all_to_all = true, .randomized = 3, .retests = 2, .fs_block_size = 1}},
        {"linktest/two_files", {.tasks = 4, .retests = 1, .fs_block_size = 1, .two_files = true}},
    };
    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
        struct linktest_image image = linktest_image_make(&seeds[i].spec);
        seed(seeds[i].name, image.file, image.files);
        linktest_image_free(&image);
    }
}

/* A borrowed text as a file. */
static struct sion_image vom_file(const char *text) {
    return (struct sion_image){.data = (unsigned char *)(uintptr_t)text, .size = strlen(text)};
}

/* Two short files that belong together: each rank's object sends to the other's. */
static const char *const vom_pair[2] = {
    "{\"metadata\":{\"rank\":0,\"type\":\"LBDatafile\"},\"phases\":[{\"communications\":[{\"bytes\":8.0,"
    "\"from\":"
    "{\"home\":1,\"id\":262151,\"migratable\":true,\"type\":\"object\"},\"messages\":1,\"to\":"
    "{\"collection_id\":7,\"home\":0,\"id\":262147,\"index\":[0],\"migratable\":true,\"type\":\"object\"},"
    "\"type\":"
    "\"SendRecv\"}],\"id\":0,\"tasks\":[{\"entity\":"
    "{\"collection_id\":7,\"home\":0,\"id\":262147,\"index\":[0],\"migratable\":true,\"type\":\"object\"},"
    "\"node\":0,"
    "\"resource\":\"cpu\",\"time\":0.5}]}]}",
    "{\"metadata\":{\"rank\":1,\"type\":\"LBDatafile\"},\"phases\":[{\"communications\":[{\"bytes\":8.0,"
    "\"from\":"
    "{\"home\":0,\"id\":262147,\"migratable\":true,\"type\":\"object\"},\"messages\":1,\"to\":"
    "{\"collection_id\":7,\"home\":1,\"id\":262151,\"index\":[1],\"migratable\":true,\"type\":\"object\"},"
    "\"type\":"
    "\"SendRecv\"}],\"id\":0,\"tasks\":[{\"entity\":"
    "{\"collection_id\":7,\"home\":1,\"id\":262151,\"index\":[1],\"migratable\":true,\"type\":\"object\"},"
    "\"node\":1,"
    "\"resource\":\"cpu\",\"time\":0.5}]}]}",
};

static void vom_seeds(void) {
    const struct sion_image set[2] = {vom_file(vom_pair[0]), vom_file(vom_pair[1])};
    seed("vom/set", set, 2);
    const struct sion_image iterations = vom_file(vom_rank[1]);
    seed("vom/iterations", &iterations, 1);
    const struct sion_image smallest = vom_file(vom_smallest);
    seed("vom/smallest", &smallest, 1);
    const struct sion_image old = vom_file(vom_old);
    seed("vom/old", &old, 1);
    char *statistics = vom_statistics();
    const struct sion_image figures = vom_file(statistics);
    seed("vom/statistics", &figures, 1);
    free(statistics);
    size_t size;
    unsigned char *stored = vom_store(vom_rank[0], &size);
    const struct sion_image stream = {.data = stored, .size = size};
    seed("vom/stored", &stream, 1);
    free(stored);
}

static void lov_seeds(void) {
    unsigned char bytes[LOV_IMAGE];
    struct sion_image image = {.data = bytes};
    image.size = lov_plain(bytes, false, 1, 1 << 20, 2, 2, false);
    seed("lov/v1", &image, 1);
    image.size = lov_plain(bytes, true, 1, 4 << 20, 3, 3, true);
    seed("lov/v3_big", &image, 1);
    image.size = lov_composite(bytes, false);
    seed("lov/composite", &image, 1);
}

/* Makes a tree from "key" and "key=value" lines, indented by two blanks a level, as the tools print them. */
static void kvtree_seed(const char *name, const char *text) {
    hpcw_kvtree *node[8] = {NULL};
    hpcw_sink *sink = NULL;
    bool good = hpcw_kvtree_new(&node[0], NULL) == HPCW_OK && hpcw_sink_open_memory(&sink, NULL) == HPCW_OK;
    while (good && *text != '\0') {
        char line[64];
        size_t n = strcspn(text, "\n");
        size_t blanks = strspn(text, " ");
        (void)snprintf(line, sizeof line, "%.*s", (int)(n - blanks), text + blanks);
        char *value = strchr(line, '=');
        if (value != NULL) {
            *value++ = '\0';
            good = hpcw_kvtree_set(node[blanks / 2], line, value, NULL) == HPCW_OK;
        } else {
            good = hpcw_kvtree_add(node[blanks / 2], line, &node[blanks / 2 + 1], NULL) == HPCW_OK;
        }
        text += n + (text[n] == '\n');
    }
    good = good && hpcw_kvtree_write(node[0], sink, 0, NULL) == HPCW_OK;
    struct sion_image image = {0};
    if (good) {
        image.data = (unsigned char *)(uintptr_t)hpcw_sink_memory_data(sink, &image.size);
        seed(name, &image, 1);
    }
    failures += !good;
    hpcw_sink_free(sink);
    hpcw_kvtree_free(node[0]);
}

static void kvtree_seeds(void) {
    kvtree_seed("kvtree/empty", "");
    kvtree_seed("kvtree/root", "LEVEL=1\nRANKS=4\nRANK\n  0\n    OFFSET=0\n    FILE=.0.0\n  2\n    OFFSET=0\n"
                               "    FILE=.0.2\n");
    kvtree_seed("kvtree/leaf",
                "LEVEL=0\nRANKS=3\nRANK\n  0\n    FILE\n      a\n        SIZE=1\n        CRC=0x1\n"
                "  1\n  2\n    FILE\n      b\n        SIZE=2\n      c\n        SIZE=0\n");
    kvtree_seed("rank2file/root",
                "LEVEL=1\nRANKS=4\nRANK\n  0\n    OFFSET=0\n    FILE=.0.0\n  2\n    OFFSET=0\n"
                "    FILE=.0.2\n");
    kvtree_seed("rank2file/leaf",
                "LEVEL=0\nRANKS=3\nRANK\n  0\n    FILE\n      a\n        SIZE=1\n        CRC=0x1\n"
                "  1\n  2\n    FILE\n      b/c\n        SIZE=2\n      c\n        SIZE=0\n");
    kvtree_seed("kvtree/summary", "VERSION=6\nCOMPLETE=1\nDSET\n  ID=1\n  NAME=ckpt.1\n  CKPT=1\n");
}

/* Returns the bytes of a log, to be freed by the caller. */
static unsigned char *log_image(uint32_t ranks, uint32_t steps, uint32_t block_size, size_t *size) {
    struct memory_source source = {0};
    struct clog2_case c;
    hpcw_clog2 *log;
    uint64_t blocks = 0;
    clog2_case_make(&c, ranks, steps);
    c.options.block_size = block_size;
    c.options.sink_source = memory_source(&source);
    if (hpcw_clog2_open("seed", NULL, &c.options, &log, NULL) != HPCW_OK ||
        clog2_case_slice(&c, log, 0, c.count, true, 0, &blocks, NULL) != HPCW_OK ||
        hpcw_clog2_close(log, blocks, NULL) != HPCW_OK) {
        abort();
    }
    const unsigned char *data = memory_source_data(&source, 0, size);
    unsigned char *copy = malloc(*size);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy, data, *size);
    hpcw_clog2_free(log);
    clog2_case_free(&c);
    return copy;
}

/* Writes short logs as seeds. The first byte of each seed says that it has one file. */
static void clog2_seeds(void) {
    static const struct {
        const char *name;
        uint32_t ranks, steps, block_size;
    } seeds[] = {
        {"clog2/one_rank", 1, 1, 256},
        {"clog2/two_ranks", 2, 2, 1024},
        {"clog2/three_ranks", 3, 3, 520},
    };
    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
        struct sion_image image;
        image.data = log_image(seeds[i].ranks, seeds[i].steps, seeds[i].block_size, &image.size);
        seed(seeds[i].name, &image, 1);
        free(image.data);
    }
}

static void put(struct hpcw_i_buf *to, const void *data, size_t size) {
    if (!hpcw_i_buf_append(to, data, size)) {
        abort();
    }
}

enum { LOCAL_WINDOW = 1024 };

static void put_piece(struct hpcw_i_buf *to, uint32_t kind, uint32_t thread, const void *data, size_t size) {
    const struct hpcw_i_clog2_piece_head head = {
        .tag = HPCW_I_CLOG2_PIECE_TAG, .kind = kind, .thread = thread, .size = (uint32_t)size};
    put(to, &head, sizeof head);
    put(to, data, size);
}

/* Pads with zeros up to a multiple of `window` bytes. A local file that is mapped into memory consists of windows
 * of this size; 0: the file has no windows. */
static void put_rest(struct hpcw_i_buf *to, uint32_t window) {
    static const unsigned char zeros[LOCAL_WINDOW];
    put(to, zeros, window == 0 || to->size % window == 0 ? 0 : window - to->size % window);
}

/* Appends records. With windows, they get windows of their own; otherwise they take as many bytes as they need. */
static void put_records(struct hpcw_i_buf *to, uint32_t window, uint32_t thread, const void *data,
                        size_t size) {
    const struct hpcw_i_clog2_piece_head head = {
        .tag = HPCW_I_CLOG2_PIECE_TAG,
        .kind = HPCW_I_CLOG2_PIECE_RECORDS,
        .thread = thread,
        .size = window == 0 ? (uint32_t)size : window - (uint32_t)sizeof(struct hpcw_i_clog2_piece_head)};
    put_rest(to, window);
    put(to, &head, sizeof head);
    put(to, data, size);
    put_rest(to, window);
}

/* Makes the local file of one of two processes, with two threads and every kind of record. */
static void local_image(uint32_t rank, uint32_t window, struct hpcw_i_buf *to) {
    const struct hpcw_i_clog2_local_head head = {.tag = HPCW_I_CLOG2_LOCAL_TAG,
                                                 .run = 7,
                                                 .rank = rank,
                                                 .ranks = 2,
                                                 .block_size = 1024,
                                                 .window = window,
                                                 .ticks = {.base = 1000, .ns = 0.5, .begin_offset = 10 * rank}};
    const struct hpcw_i_clog2_definition definitions[] = {
        {HPCW_CLOG2_STATE_DEF, HPCW_CLOG2_USER_STATE, "blue", "Work", ""},
        {HPCW_CLOG2_STATE_DEF, 77, "green", "MPI_Recv", ""},
        {HPCW_CLOG2_EVENT_DEF, HPCW_CLOG2_USER_SOLO, "red", "Step", "n=%d"},
    };
    struct hpcw_i_clog2_known_comm comms[3];
    memset(comms, 0, sizeof comms); /* padding, too */
    for (int32_t i = 0; i < 3; i++) {
        comms[i].id.random = i == 0 ? 1 : i == 1 ? 2 + (int32_t)rank : 9;
        comms[i].id.created = i < 2 ? 1 : 2;
        memcpy(comms[i].id.host, "node", 4);
        comms[i].kind = HPCW_CLOG2_INTRA;
        comms[i].rank = i == 1 ? 0 : rank;
    }
    int32_t work = 2 * HPCW_CLOG2_USER_STATE, message = rank == 0 ? HPCW_CLOG2_SEND : HPCW_CLOG2_RECEIVE;
    const uint64_t first[] = {
        2000,
        hpcw_clog2_timeline_word(HPCW_CLOG2_COMM_EVENT, 0, 2),
        2100,
        hpcw_clog2_timeline_word(HPCW_CLOG2_BARE, 0, work),
        2200,
        hpcw_clog2_timeline_word(HPCW_CLOG2_MESSAGE, 0, message),
        (uint64_t)(1 - rank) << 32 | 5,
        8,
        2300,
        hpcw_clog2_timeline_word(HPCW_CLOG2_BARE, 0, work + 1),
    };
    uint64_t second[9] = {
        2150,
        hpcw_clog2_timeline_word(HPCW_CLOG2_WITH_CARGO, 2, HPCW_CLOG2_USER_SOLO),
        0,
    };
    hpcw_error ignored;
    if (hpcw_i_clog2_format_pieces("n=%d", &second[2], &ignored) != HPCW_OK) {
        abort();
    }
    second[7] = 2160;
    second[8] = hpcw_clog2_timeline_word(HPCW_CLOG2_BARE, 2, 154);
    put(to, &head, sizeof head);
    /* The wrapper also offers the states of all MPI calls: a log defines an offered state only if records use
     * it. */
    if (window > 0) {
        put_piece(to, HPCW_I_CLOG2_PIECE_OFFERED, 0, &definitions[1], sizeof *definitions);
        put_piece(to, HPCW_I_CLOG2_PIECE_DEFINITIONS, 0, &definitions[0], sizeof *definitions);
        put_piece(to, HPCW_I_CLOG2_PIECE_DEFINITIONS, 0, &definitions[2], sizeof *definitions);
    } else {
        put_piece(to, HPCW_I_CLOG2_PIECE_DEFINITIONS, 0, definitions, sizeof definitions);
    }
    put_piece(to, HPCW_I_CLOG2_PIECE_COMMS, 0, comms, sizeof comms);
    put_records(to, window, 0, first, sizeof first);
    put_records(to, window, 1, second, sizeof second);
}

/* Writes local files as seeds: those of two processes of this library, with and without windows, and one of MPE.
 * The latter is a merged log of one rank, changed to say that it is not merged. */
static void local_seeds(void) {
    for (uint32_t window = 0; window <= LOCAL_WINDOW; window += LOCAL_WINDOW) {
        struct hpcw_i_buf buf[2] = {{0}, {0}};
        struct sion_image image[2];
        for (uint32_t i = 0; i < 2; i++) {
            local_image(i, window, &buf[i]);
            image[i] = (struct sion_image){.data = buf[i].data, .size = buf[i].size};
        }
        seed(window == 0 ? "clog2_local/own" : "clog2_local/windows", image, 2);
        hpcw_i_buf_free(&buf[0]);
        hpcw_i_buf_free(&buf[1]);
    }

    struct sion_image mpe;
    mpe.data = log_image(1, 1, 256, &mpe.size);
    static const char title[] = "is_finalzed=";
    unsigned char *value = memmem(mpe.data, mpe.size, title, sizeof title);
    if (value == NULL) {
        abort();
    }
    memcpy(value + sizeof title, "FALSE", 5);
    seed("clog2_local/mpe", &mpe, 1);
    /* The preamble ends within a text: within the last one, or within the first one. */
    enum { PREAMBLE = 1024 };
    const size_t last = (size_t)(value - mpe.data) + sizeof title + sizeof "FALSE";
    memset(mpe.data + last, 'y', PREAMBLE - last);
    seed("clog2_local/mpe_last_text", &mpe, 1);
    memset(mpe.data + 10, 'x', PREAMBLE - 10);
    seed("clog2_local/mpe_one_text", &mpe, 1);
    free(mpe.data);
}

int main(int argc, char **argv) {
    if (argc != 3 || (strcmp(argv[1], "write") != 0 && strcmp(argv[1], "check") != 0)) {
        (void)fprintf(stderr, "usage: make_seeds write|check FOLDER\n");
        return 2;
    }
    checking = strcmp(argv[1], "check") == 0;
    folder = argv[2];
    sion_seeds();
    linktest_seeds();
    vom_seeds();
    lov_seeds();
    kvtree_seeds();
    clog2_seeds();
    local_seeds();
    if (checking && failures > 0) {
        (void)fprintf(stderr, "make_seeds: seeds that differ: %d; if the images are right, run: %s write %s\n",
                      failures, argv[0], folder);
    }
    return failures == 0 ? 0 : 1;
}
