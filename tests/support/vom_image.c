/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/vom_image.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <brotli/encode.h>

#include "tests/support/files.h"

/* Elements A (rank 0) and B (rank 1). Entities on other ranks lack what only their own rank knows. */
#define A                                                                                                      \
    "{\"collection_id\":7,\"home\":0,\"id\":262147,\"index\":[0,4],\"migratable\":true,\"type\":\"object\"}"
#define A_FAR "{\"home\":0,\"id\":262147,\"migratable\":true,\"type\":\"object\"}"
#define B                                                                                                      \
    "{\"collection_id\":7,\"home\":1,\"id\":262151,\"index\":[1,4],\"migratable\":true,\"type\":\"object\"}"
#define B_FAR "{\"home\":1,\"id\":262151,\"migratable\":true,\"type\":\"object\"}"
#define HANDLER_0 "{\"home\":0,\"id\":1,\"migratable\":false,\"type\":\"object\"}"
#define HANDLER_1 "{\"home\":1,\"id\":5,\"migratable\":false,\"type\":\"object\"}"
#define GROUP_1 "{\"home\":1,\"id\":3145756,\"migratable\":false,\"objgroup_id\":786435,\"type\":\"object\"}"
#define ZERO "{\"home\":0,\"id\":0,\"migratable\":false,\"type\":\"object\"}"
#define NODE(n) "{\"id\":" #n ",\"type\":\"node\"}"

#define EDGE(bytes, from, messages, to, type)                                                                  \
    "{\"bytes\":" bytes ",\"from\":" from ",\"messages\":" messages ",\"to\":" to ",\"type\":\"" type "\"}"
#define TASK(entity, node, rest) "{\"entity\":" entity ",\"node\":" node ",\"resource\":\"cpu\"," rest "}"

#define LISTS                                                                                                  \
    "\"phases\":{\"count\":5,\"identical_to_previous\":{\"list\":[1],\"range\":[]},"                           \
    "\"skipped\":{\"list\":[],\"range\":[[2,3]]}}"
#define HOST(rank) "\"shared_node\":{\"id\":0,\"num_nodes\":1,\"rank\":" rank ",\"size\":2}"

/* One record a line, which the formatter would change. */
/* clang-format off */
const char *const vom_rank[2] = {
    "{\"metadata\":{\"attributes\":{\"label\":\"first\",\"level\":-3,\"weight\":0.5}," LISTS
    ",\"rank\":0,\"rank_alpha\":1.5," HOST("0") ",\"type\":\"LBDatafile\"},\"phases\":[{\"communications\":["
    EDGE("1456.0", B_FAR, "26", A, "SendRecv") ","
    EDGE("64.0", A, "2", HANDLER_1, "SendRecv") ","
    EDGE("8.0", ZERO, "1", HANDLER_0, "SendRecv") ","
    EDGE("16.0", HANDLER_0, "1", HANDLER_0, "SendRecv") ","
    EDGE("2.5e+2", B_FAR, "3", A, "Broadcast") ","
    EDGE("32.0", A, "1", NODE(1), "CollectionToNode") ","
    EDGE("33.0", NODE(1), "1", A, "NodeToCollection") ","
    EDGE("34.0", A, "1", NODE(1), "CollectionToNodeBcast") ","
    EDGE("35.0", NODE(0), "1", A, "NodeToCollectionBcast") ","
    EDGE("8192.0", "{\"id\":3,\"type\":\"shared_id\"}", "0", NODE(1), "WriteShared") ","
    EDGE("512.0", "{\"id\":3,\"type\":\"shared_id\"}", "1", NODE(1), "ReadOnlyShared")
    "],\"id\":0,\"tasks\":["
    "{\"attributes\":{\"kind\":\"a\\u0000b\",\"level\":2,\"scale\":1e-05},\"entity\":" A
    ",\"node\":0,\"resource\":\"cpu\",\"subphases\":[{\"id\":0,\"time\":0.25},{\"id\":1,\"time\":0.125}],"
    "\"time\":0.375,\"user_defined\":{\"deep\":{\"x\":[1,{\"y\":null}]},\"flag\":true,\"nothing\":null,"
    "\"shared_id\":-1,\"task_working_bytes\":1048576.0}},"
    TASK(HANDLER_0, "0", "\"subphases\":[{\"id\":0,\"time\":0.0009765625}],\"time\":0.0009765625") ","
    TASK(ZERO, "0", "\"time\":0.0")
    "]},{\"id\":4,\"tasks\":["
    TASK(B, "0", "\"subphases\":[{\"id\":0,\"time\":1.0}],\"time\":1.0,\"user_defined\":{}")
    "]}]}",

    "{\"metadata\":{" LISTS ",\"rank\":1," HOST("1") ",\"type\":\"LBDatafile\"},\"phases\":[{\"communications\":["
    EDGE("100.0", GROUP_1, "1", B, "SendRecv") ","
    EDGE("48.0", GROUP_1, "1", HANDLER_0, "SendRecv") ","
    EDGE("52.0", A_FAR, "1", B, "SendRecv") ","
    EDGE("56.0", HANDLER_1, "1", GROUP_1, "SendRecv")
    "],\"id\":0,\"lb_iterations\":[{\"communications\":["
    EDGE("9.0", B, "1", B, "SendRecv")
    "],\"id\":0,\"tasks\":["
    TASK(B, "1", "\"time\":2.0")
    "],\"user_defined\":{\"step\":1.0}}],\"tasks\":["
    TASK(B, "1", "\"subphases\":[{\"id\":0,\"time\":1.0},{\"id\":1,\"time\":1.0}],\"time\":2.0") ","
    TASK(HANDLER_1, "1", "\"time\":0.0") ","
    TASK(GROUP_1, "1", "\"time\":0.0") ","
    TASK(ZERO, "1", "\"time\":0.0")
    "]},{\"communications\":["
    EDGE("12.0", B_FAR, "1", A, "SendRecv")
    "],\"id\":4,\"tasks\":["
    TASK(A, "1", "\"subphases\":[{\"id\":0,\"time\":0.5}],\"time\":0.5") ","
    TASK(GROUP_1, "1", "\"time\":0.0")
    "]}]}",
};

#define SEQ_0 "{\"type\":\"object\",\"seq_id\":0,\"migratable\":true,\"home\":0,\"collection_id\":7}"
#define SEQ_1 "{\"type\":\"object\",\"seq_id\":18446744073709551615,\"migratable\":false,\"home\":0}"

const char vom_old[] =
    " \t\n{ \"phases\" : [ { \"tasks\" : ["
    " {\"time\":2.0,\"node\":0,\"resource\":\"cpu\",\"entity\":" SEQ_0 "},"
    "{\"time\":1.0,\"node\":0,\"resource\":\"gpu\",\"entity\":" SEQ_1 "}],"
    " \"id\":0, \"communications\":["
    EDGE("4.0", SEQ_0, "1", SEQ_1, "SendRecv")
    "] } ],\r\n \"type\" : \"LBDatafile\" }\n";
/* clang-format on */

const char vom_smallest[] =
    "{\"metadata\":{\"rank\":0,\"type\":\"LBDatafile\"},\"phases\":[{\"id\":0,\"tasks\":[{\"entity\":{"
    "\"collection_"
    "id\":7,\"home\":0,\"id\":262147,\"index\":[0],\"migratable\":true,\"type\":\"object\"},\"node\":0,"
    "\"resource\":\"cpu\",\"time\":0.5}]}]}";

#define FIGURES                                                                                                \
    "{\"avg\":2.0,\"car\":4.0,\"imb\":1.0,\"kur\":-1.5,\"max\":4.0,\"min\":0.0,\"npr\":3.0,\"skw\":0.25,"      \
    "\"std\":1.5,\"sum\":8.0,\"var\":2.25}"
#define GROUP                                                                                                  \
    "{\"Object_comm\":" FIGURES ",\"Object_load_modeled\":" FIGURES ",\"Object_load_raw\":" FIGURES            \
    ",\"Rank_comm\":" FIGURES ",\"Rank_load_modeled\":" FIGURES ",\"Rank_load_raw\":" FIGURES "}"

char *vom_statistics(void) {
    char *text = strdup("{\"metadata\":{\"type\":\"LBStatsfile\"},\"phases\":[{\"id\":0,\"migration count\":16,"
                        "\"post-LB\":" GROUP ",\"pre-LB\":" GROUP "},{\"id\":2,\"pre-LB\":" GROUP "}]}");
    if (text == NULL) {
        abort();
    }
    return text;
}

char *vom_edit(const char *text, const char *from, const char *to) {
    const char *at = strstr(text, from);
    if (at == NULL) {
        (void)fprintf(stderr, "not in the text: %s\n", from);
        abort();
    }
    size_t before = (size_t)(at - text);
    size_t size = strlen(text) + strlen(to) + 1;
    char *copy = malloc(size);
    if (copy == NULL) {
        abort();
    }
    (void)snprintf(copy, size, "%.*s%s%s", (int)before, text, to, at + strlen(from));
    return copy;
}

unsigned char *vom_compress(const void *text, size_t size, int quality, int window, bool large,
                            size_t *out_size) {
    size_t room = BrotliEncoderMaxCompressedSize(size) + 64;
    unsigned char *out = malloc(room);
    BrotliEncoderState *e = BrotliEncoderCreateInstance(NULL, NULL, NULL);
    if (out == NULL || e == NULL) {
        abort();
    }
    BROTLI_BOOL good = BrotliEncoderSetParameter(e, BROTLI_PARAM_QUALITY, (uint32_t)quality);
    good = good && BrotliEncoderSetParameter(e, BROTLI_PARAM_LARGE_WINDOW, large);
    good = good && BrotliEncoderSetParameter(e, BROTLI_PARAM_LGWIN, (uint32_t)window);
    const uint8_t *in = text;
    uint8_t *to = out;
    size_t left = room;
    while (good && !BrotliEncoderIsFinished(e)) {
        good = BrotliEncoderCompressStream(e, BROTLI_OPERATION_FINISH, &size, &in, &left, &to, NULL);
    }
    if (!good) {
        abort();
    }
    BrotliEncoderDestroyInstance(e);
    *out_size = room - left;
    return out;
}

unsigned char *vom_store(const char *text, size_t *out_size) {
    size_t size = strlen(text);
    unsigned char *out = malloc(size + 4);
    if (out == NULL || size == 0 || size > 65536) {
        abort();
    }
    /* Bits from the lowest: window of 22 bits (4), not the last block (1), length in 4 nibbles (2), length minus 1
     * (16), stored (1). An empty last block follows the bytes. */
    uint32_t head = UINT32_C(0xb) | (uint32_t)(size - 1) << 7 | UINT32_C(1) << 23;
    for (int i = 0; i < 3; i++) {
        out[i] = (unsigned char)(head >> 8 * i);
    }
    memcpy(out + 3, text, size);
    out[3 + size] = 3;
    *out_size = size + 4;
    return out;
}

void vom_put(const char *directory, unsigned rank, const char *text, bool compressed) {
    char path[4096];
    size_t size = strlen(text);
    unsigned char *stream = compressed ? vom_compress(text, size, 8, 20, false, &size) : NULL;
    (void)snprintf(path, sizeof path, "%s/data.%u.json%s", directory, rank, compressed ? ".br" : "");
    FILE *f = fopen(path, "wb");
    bool good = f != NULL && fwrite(stream != NULL ? (const void *)stream : text, 1, size, f) == size;
    good &= f != NULL && fclose(f) == 0;
    if (!good) {
        perror(path);
        abort();
    }
    free(stream);
}
