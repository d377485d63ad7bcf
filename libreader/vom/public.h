/* SPDX-License-Identifier: BSD-3-Clause */
/* The public reader of a source that is open already. */
#ifndef HPCW_LIBREADER_VOM_PUBLIC_H
#define HPCW_LIBREADER_VOM_PUBLIC_H

#include <hpcw/vom_read.h>

#include "libreader/source.h"

/* Takes the source over, even on failure. */
hpcw_status read_vom_publish(struct read_source *source, hpcw_vom_reader **out, hpcw_error *err);

#endif
