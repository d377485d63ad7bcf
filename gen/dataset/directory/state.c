/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of the files in .hpcw. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gen/dataset/directory/lease.h"
#include "gen/format/pending.h"
#include "libwriter/io/sink.h"

void gen_directory_range_name(const struct gen_format *format, uint64_t begin, uint64_t end,
                              char name[GEN_UNIT_PATH]) {
    (void)snprintf(name, GEN_UNIT_PATH, GEN_STATE_DIR "/%s.%" PRIu64 "-%" PRIu64 ".jsonl", format->name, begin,
                   end);
}

bool gen_directory_is_range(const struct gen_format *format, const char *name) {
    const size_t n = strlen(format->name);
    uint64_t begin, end;
    char same[GEN_UNIT_PATH];
    if (strncmp(name, format->name, n) != 0 || sscanf(name + n, ".%" SCNu64 "-%" SCNu64, &begin, &end) != 2) {
        return false;
    }
    gen_directory_range_name(format, begin, end, same);
    return strcmp(name, same + sizeof GEN_STATE_DIR) == 0;
}

bool gen_directory_is_state(const char *name) {
    bool is = gen_lease_is_name(name) || strcmp(name, &GEN_PARAMETERS[sizeof GEN_STATE_DIR]) == 0 ||
              hpcw_i_sink_is_temporary(name);
    for (size_t f = 0; !is && f < gen_format_count; f++) {
        is = gen_directory_is_range(gen_format[f], name) || gen_is_pending_name(gen_format[f], name);
    }
    return is;
}
