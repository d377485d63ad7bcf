/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts an event log to a trace in OTF2, for Vampir, Scalasca and others. */
#ifndef HPCW_GEN_EXPORT_OTF2_H
#define HPCW_GEN_EXPORT_OTF2_H

#include <stdbool.h>

#include <hpcw/status.h>

#include "gen/export/export.h"

/*
 * Writes the events of some ranks in a window of time to a new directory, with the archive `traces.otf2` in it.
 *
 * A location for each thread of each rank; states become regions, solo events markers, messages MpiSend and MpiRecv. A state
 * with the name of a blocking collective call of MPI is a collective operation, with the bytes that its cargo has, if that
 * is two integers; the log does not know roots. A message or operation is on the communicator of the log, or, if the log does
 * not name all its members or it is an inter-communicator, on the world. Nanoseconds from the start of the log.
 *
 * Reads the log once for its definitions, and once for each 256 locations, each of which needs 256 KiB of memory while its
 * file is written.
 *
 * HPCW_ENOTSUP in a build without OTF2; HPCW_EEXIST if there is something of the output's name; HPCW_EINVAL for an empty
 * window; HPCW_EFORMAT for records of a location that are not in the order of time, or states that do not nest; HPCW_ENOMEM;
 * HPCW_EIO with what OTF2 says; errors of the reader.
 */
hpcw_status gen_export_otf2(const char *path, const struct gen_export *what, const char *output, bool sync,
                            struct gen_exported *done, hpcw_error *err);

#endif
