/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts an event log to a trace in OTF2, for Vampir, Scalasca and others. */
#ifndef HPCW_GEN_EXPORT_OTF2_H
#define HPCW_GEN_EXPORT_OTF2_H

#include <stdbool.h>

#include <hpcw/status.h>

#include "gen/export/export.h"

/* Exports the events of some ranks in a time window to a new directory with the archive `traces.otf2`.
 *
 * Each thread of each rank is a location. States become regions, solo events markers, messages MpiSend and
 * MpiRecv. A state whose name is that of a blocking collective call of MPI becomes a collective operation
 * without a root, which the log does not record. If the cargo of the state is two integers, they are the bytes
 * of the operation. A message or operation has the communicator of the log, or MPI_COMM_WORLD if the log does
 * not name all members or names an inter-communicator. Times are nanoseconds from the start of the log.
 *
 * Reads the log once for its definitions, and once for each 256 locations. Each location needs 256 KiB of
 * memory while its file is written.
 *
 * HPCW_ENOTSUP: the build has no OTF2. HPCW_EEXIST: the output exists. HPCW_EINVAL: an empty window.
 * HPCW_EFORMAT: records of a location are not in order of time, or states do not nest. HPCW_EIO: an error of
 * OTF2, with its message. HPCW_ENOMEM, and errors of the reader. */
hpcw_status gen_export_otf2(const char *path, const struct gen_export *what, const char *output, bool sync,
                            struct gen_exported *done, hpcw_error *err);

#endif
