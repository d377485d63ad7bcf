/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads arbitrary bytes as a stored tree: as they are, and with length and CRC corrected, so that the content is
 * reached, too. An accepted tree is stored again with the same bytes, and printed. The first byte of the input is
 * ignored. */
#include <stdlib.h>
#include <string.h>

#include <hpcw/kvtree.h>

#include "tests/fuzz/images.h"
#include "tests/fuzz/repaired.h"

static void print(const hpcw_kvtree *tree) {
    for (int form = 0; form < 3; form++) {
        hpcw_sink *sink = NULL;
        hpcw_error err;
        demand(hpcw_sink_open_memory(&sink, &err) == HPCW_OK);
        hpcw_status s = hpcw_kvtree_print(tree, (hpcw_kvtree_form)form, sink, &err);
        demand(s == HPCW_OK || (form == HPCW_KVTREE_JSON && s == HPCW_ERANGE));
        hpcw_sink_free(sink);
    }
}

static void decode(const uint8_t *data, size_t size) {
    hpcw_kvtree *tree = NULL;
    hpcw_error err = {.message = ""};
    size_t stored = 0;
    hpcw_status s = hpcw_kvtree_decode("input", data, size, &stored, &tree, &err);
    if (s != HPCW_OK) {
        demand(tree == NULL && err.code == s && err.message[0] != '\0');
        return;
    }
    hpcw_sink *sink = NULL;
    demand(hpcw_sink_open_memory(&sink, &err) == HPCW_OK);
    demand(hpcw_kvtree_write(tree, sink, 0, &err) == HPCW_OK);
    size_t again = 0;
    const unsigned char *bytes = hpcw_sink_memory_data(sink, &again);
    /* A tree that was stored without a CRC is stored again with a CRC. */
    bool had_crc = data[19] == 1;
    demand(again == stored + (had_crc ? 0 : 4) &&
           memcmp(bytes + 20, data + 20, stored - (had_crc ? 24 : 20)) == 0);
    hpcw_sink_free(sink);
    print(tree);
    hpcw_kvtree_free(tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1 + 28) {
        return 0;
    }
    decode(data + 1, size - 1);
    uint8_t *copy = repaired(data + 1, size - 1);
    decode(copy, size - 1);
    free(copy);
    return 0;
}
