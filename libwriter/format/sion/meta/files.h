/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: the physical files of a container, as one process sees them. No collectives. */
#ifndef HPCW_FORMAT_SION_META_FILES_H
#define HPCW_FORMAT_SION_META_FILES_H

#include "libwriter/format/sion/handle/handle.h"

/* Cuts the own tasks into runs of one file each, makes their starts absolute, and opens the sinks. */
hpcw_status hpcw_i_sion_files_open(struct hpcw_sion *h, hpcw_error *err);

/* The sink of a file. A process that owns none of its tasks opens one, for the metadata. */
hpcw_status hpcw_i_sion_sink_of_file(struct hpcw_sion *h, uint32_t file, hpcw_sink **sink, hpcw_error *err);

/* Opens again the sinks that were detached before it turned out that the metadata needs them. */
hpcw_status hpcw_i_sion_files_reopen(struct hpcw_sion *h, hpcw_error *err);

#endif
