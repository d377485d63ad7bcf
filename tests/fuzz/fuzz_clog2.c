/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything the CLOG-2 reader can do with arbitrary bytes. */
#include <stdlib.h>

#include "libreader/clog2/clog2.h"
#include "libwriter/base/buf.h"
#include "libwriter/io/json.h"
#include "tests/fuzz/images.h"

static void demand(bool good) {
    if (!good) {
        abort();
    }
}

static void report(struct read_clog2 *reader) {
    struct hpcw_i_buf buf = {0};
    struct hpcw_i_json json;
    hpcw_i_json_open_buf(&json, &buf, NULL);
    hpcw_i_json_begin_object(&json);
    hpcw_status s = read_clog2_report(reader, &json, NULL);
    hpcw_i_json_end_object(&json);
    hpcw_status written = hpcw_i_json_finish(&json, NULL);
    demand(s != HPCW_OK || written == HPCW_OK);
    hpcw_i_buf_free(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct read_sion_image images[FUZZ_IMAGES];
    struct read_clog2 *reader;
    hpcw_error err;
    if (fuzz_split(data, size, images) == 0 ||
        read_clog2_open_memory(images[0].data, images[0].size, &reader, &err) != HPCW_OK) {
        return 0;
    }
    struct read_clog2_item item;
    bool more = true;
    unsigned sum = 0;
    while (more && read_clog2_next(reader, &item, &more, &err) == HPCW_OK && more) {
        for (uint32_t i = 0; i < item.size; i++) {
            sum += item.payload[i];
        }
    }
    demand(sum < UINT32_MAX);
    hpcw_status loose = read_clog2_verify(reader, 0, &err);
    hpcw_status strict = read_clog2_verify(reader, READ_CLOG2_STRICT, &err);
    demand(strict != HPCW_OK || loose == HPCW_OK);
    demand(strict == HPCW_OK || (err.code == strict && err.message[0] != '\0'));
    report(reader);
    read_clog2_free(reader);
    return 0;
}
