/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects what truth.json says about the event log, while the run is simulated. */
#ifndef HPCW_GEN_FORMAT_CLOG2_FACTS_H
#define HPCW_GEN_FORMAT_CLOG2_FACTS_H

#include <cjson/cJSON.h>

#include "gen/sim/sim.h"
#include "gen/spec/dataset.h"
#include "libwriter/io/json.h"

struct gen_clog2_facts;

/* Memory: 4 bytes for each rank and phase, 24 for each rank, and up to 1 KiB for each rank if clocks are wrong.
 * HPCW_ENOMEM. */
hpcw_status gen_clog2_facts_new(const struct gen_dataset *d, struct gen_clog2_facts **out, hpcw_error *err);
void gen_clog2_facts_free(struct gen_clog2_facts *facts);

/* Adds an event of the run. HPCW_ENOMEM. */
hpcw_status gen_clog2_facts_event(struct gen_clog2_facts *facts, const struct sim_event *event,
                                  hpcw_error *err);

/* Adds the collected values to an open JSON object, the partial result of a range. HPCW_ENOMEM. */
hpcw_status gen_clog2_facts_put(const struct gen_clog2_facts *facts, struct hpcw_i_json *partial,
                                hpcw_error *err);

/* The member `truth` of the format. */
hpcw_status gen_clog2_facts_truth(const struct gen_dataset *d, const cJSON *const *partial, size_t count,
                                  uint32_t jobs, struct hpcw_i_json *json, hpcw_error *err);

#endif
