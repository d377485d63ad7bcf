/* SPDX-License-Identifier: BSD-3-Clause */
/* The part that all twins of logs have in common, prelude.lua, in the program itself. The build makes the table. */
#ifndef HPCW_GEN_FIT_LOG_PRELUDE_H
#define HPCW_GEN_FIT_LOG_PRELUDE_H

#include <stddef.h>

struct fit_prelude {
    const char *name;
    const unsigned char *data; /* [size] */
    size_t size;
};
extern const struct fit_prelude fit_prelude[];
extern const size_t fit_preludes;

#endif
