/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of a measured program, written down for the parameters trace.start, trace.loop and trace.end (doc/hpcgen.md,
 * "The calls of a program"). All ranks of a twin make the same calls.
 */
#ifndef HPCW_GEN_FIT_LOG_PROGRAM_H
#define HPCW_GEN_FIT_LOG_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "gen/fit/log_calls.h"
#include "gen/fit/twin.h"

/*
 * Learns the program from its iterations. Ranks are on the grid of load.dims. *learned is false if they cannot be written
 * down: too few iterations have the same calls, or ranks exchange in another way than a program of the model can.
 * *pauses_ms: what the calls of the twin's iteration have between them besides the work. HPCW_ENOMEM.
 */
hpcw_status gen_fit_log_program(const struct gen_fit_log_calls *calls, uint32_t iterations,
                                struct gen_fit_twin *twin, double *pauses_ms, bool *learned, hpcw_error *err);

#endif
