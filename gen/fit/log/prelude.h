/* SPDX-License-Identifier: BSD-3-Clause */
/* Text of prelude.lua, which all twins of logs begin with. The build makes the table from the file. */
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
