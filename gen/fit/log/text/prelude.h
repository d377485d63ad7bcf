/* SPDX-License-Identifier: BSD-3-Clause */
/* Lua texts with which workloads learned from logs begin. The build makes the table from the files prelude.lua and
 * scale.lua. */
#ifndef HPCW_GEN_FIT_LOG_TEXT_PRELUDE_H
#define HPCW_GEN_FIT_LOG_TEXT_PRELUDE_H

#include <stddef.h>

struct fit_prelude {
    const char *name;
    const unsigned char *data; /* [size] */
    size_t size;
};
/* Indices of fit_prelude. FIT_PRELUDE is in all these workloads. FIT_PRELUDE_SCALE follows in those for any number
 * of ranks. */
enum { FIT_PRELUDE, FIT_PRELUDE_SCALE };
extern const struct fit_prelude fit_prelude[];
extern const size_t fit_preludes;

#endif
