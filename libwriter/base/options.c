/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/base/options.h"

#include <string.h>

#include "libwriter/base/status.h"

enum { LARGEST = 4096 }; /* bytes: upper limit for the struct of any version */

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

void hpcw_i_options_fill(void *options, size_t size, const void *defaults, size_t known) {
    memset(options, 0, size);
    memcpy(options, defaults, least(size, known));
    memcpy(options, &size, sizeof size);
}

hpcw_status hpcw_i_options_take(void *own, size_t known, const void *options, const char *name,
                                hpcw_error *err) {
    size_t size;
    memcpy(&size, options, sizeof size);
    if (size < 2 * sizeof size || size > LARGEST || size % sizeof size != 0) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a struct that %s_init has filled in, got size %zu",
                           name, name, size);
    }
    const unsigned char *byte = options;
    for (size_t i = known; i < size; i++) {
        if (byte[i] != 0) {
            return hpcw_i_fail(
                err, HPCW_EINVAL,
                "%s: expected only options of this version of hpcw, %zu bytes, got one of a later "
                "version at byte %zu",
                name, known, i);
        }
    }
    memcpy(own, options, least(size, known));
    memcpy(own, &known, sizeof known);
    return HPCW_OK;
}
