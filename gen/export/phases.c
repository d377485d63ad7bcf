/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/export/phases.h"

#include <inttypes.h>
#include <string.h>

#include "gen/export/text.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

hpcw_status gen_phases_add(struct gen_phases *p, const char *path, uint32_t rank, const uint64_t *id,
                           size_t count, hpcw_error *warning, hpcw_error *err) {
    if (p->id == NULL) {
        p->id = hpcw_i_calloc(count + 1, sizeof *p->id);
        if (p->id == NULL) {
            return gen_export_no_memory(err);
        }
        if (count > 0) {
            memcpy(p->id, id, count * sizeof *id);
        }
        p->count = count;
        p->rank = rank;
        return HPCW_OK;
    }
    size_t same = 0;
    while (same < count && same < p->count && id[same] == p->id[same]) {
        same++;
    }
    if (warning->code != HPCW_OK || (same == count && same == p->count)) {
        return HPCW_OK;
    }
    if (count != p->count) {
        (void)hpcw_i_fail(warning, HPCW_EFORMAT,
                          "%s: expected %zu phases as in rank %" PRIu32
                          ", got %zu, which are written as they are",
                          path, p->count, p->rank, count);
    } else {
        (void)hpcw_i_fail(warning, HPCW_EFORMAT,
                          "%s: expected phase %" PRIu64 " as in rank %" PRIu32 ", got %" PRIu64
                          ", which is written as it is",
                          path, p->id[same], p->rank, id[same]);
    }
    return HPCW_OK;
}

void gen_phases_free(struct gen_phases *p) {
    hpcw_i_free(p->id);
}
