/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/cli/common/standard_output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gen/cli/common/common.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sink.h"

struct standard_output {
    hpcw_sink base;
    uint64_t at;
};

static hpcw_status write_pieces(hpcw_sink *sink, uint64_t offset, const struct hpcw_i_piece *piece,
                                size_t pieces, size_t size, hpcw_error *err) {
    struct standard_output *o = (struct standard_output *)sink;
    if (offset != o->at) {
        return hpcw_i_fail(err, HPCW_ENOTSUP, "standard output: expected bytes in their order, got others");
    }
    for (size_t k = 0; k < pieces; k++) {
        if (fwrite(piece[k].data, 1, piece[k].size, stdout) != piece[k].size) {
            return hpcw_i_fail_sys(err, errno, "standard output: cannot write");
        }
    }
    o->at += size;
    return HPCW_OK;
}

static const struct hpcw_i_sink_ops ops = {.write = write_pieces};

hpcw_status gen_cli_standard_output(hpcw_sink **out, hpcw_error *err) {
    struct standard_output *o = hpcw_i_calloc(1, sizeof *o);
    *out = o == NULL ? NULL : &o->base;
    if (o == NULL) {
        return hpcw_i_fail_memory(err, "standard output", 0, NULL);
    }
    o->base.ops = &ops;
    return HPCW_OK;
}

bool gen_cli_is_standard(const char *output) {
    return strcmp(output, "-") == 0;
}

hpcw_status gen_cli_open_output(const char *output, hpcw_durability durability, hpcw_sink **out,
                                hpcw_error *err) {
    return gen_cli_is_standard(output) ? gen_cli_standard_output(out, err)
                                       : hpcw_sink_open_file(output, durability, out, err);
}

const char *gen_cli_output_name(const char *output, hpcw_error *room) {
    return gen_cli_is_standard(output) ? "standard output" : gen_cli_printable(output, room);
}
