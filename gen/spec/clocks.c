/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/spec/clocks.h"

#include <math.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/rng.h"
#include "libwriter/base/status.h"

/* Largest drift that a parameter can set. The drift of a clock is up to 1.44 times as large, so the slowest
 * clock still advances, at 0.42 of the true speed. */
#define MOST_DRIFT_PPM 400000

#define PARAM(name, field, most, unit, ...)                                                                    \
    UI_PARAM(struct gen_clock_params, "trace." name, F64, field, 0, most, unit, __VA_ARGS__)
const struct ui_param gen_clock_param[] = {
    PARAM("skew", skew_us, 1e6, "us",
          "by how much clocks are off that lost their time server, those of one host in 16, but at least one; "
          "that of rank 0 is right, the others are off by a twentieth of it [A]; messages can then seem to "
          "arrive before they are sent"),
    PARAM("drift", drift_ppm, MOST_DRIFT_PPM, "ppm",
          "by how much these clocks drift, and the others a twentieth of it"),
};
const size_t gen_clock_param_count = sizeof gen_clock_param / sizeof gen_clock_param[0];

/* LOST_ONE_IN: one in LOST_ONE_IN hosts lost its time server. kept: error of hosts with a time server, divided by
 * the error of hosts without one. The help of trace.skew has both numbers. */
enum { LOST_ONE_IN = 16 };
static const double kept = 1.0 / 20;

/* Returns the error of a clock. all: typical error of a clock that lost its time server. z: a normal draw. */
static double wrong_by(double all, bool lost, double z) {
    return all * (lost ? copysign(1, z) + z / 8 : kept * z);
}

hpcw_status gen_clocks_init(struct gen_clocks *c, const struct gen_clock_params *params,
                            const struct model_machine *machine, hpcw_error *err) {
    *c = (struct gen_clocks){.start_ns = GEN_CLOCKS_START_NS};
    if (machine->nodes == 1 || (params->skew_us == 0 && params->drift_ppm == 0)) {
        return HPCW_OK;
    }
    c->clock = hpcw_i_calloc(machine->nodes, sizeof *c->clock);
    if (c->clock == NULL) {
        return hpcw_i_fail_memory(err, "clog2", machine->nodes, "clocks");
    }
    uint32_t surely[4];
    double least_ns = 0;
    hpcw_i_draw(machine->seed, HPCW_I_FOR_LOG_CLOCK, 0, 1, 0, surely);
    for (uint32_t n = 1; n < machine->nodes; n++) {
        uint32_t w[4];
        uint32_t whether[4];
        hpcw_i_draw(machine->seed, HPCW_I_FOR_LOG_CLOCK, n, 0, 0, w);
        hpcw_i_draw(machine->seed, HPCW_I_FOR_LOG_CLOCK, n, 2, 0, whether);
        const bool lost =
            whether[0] < hpcw_i_threshold(1.0 / LOST_ONE_IN) || n == 1 + surely[0] % (machine->nodes - 1);
        c->clock[n] = (struct gen_clock){
            .offset_ns = wrong_by(params->skew_us * 1e3, lost, hpcw_i_normal(w[0], w[1])),
            .drift = wrong_by(params->drift_ppm * 1e-6, lost, hpcw_i_normal(w[2], w[3])),
        };
        least_ns = fmin(least_ns, c->clock[n].offset_ns);
    }
    c->start_ns += (uint64_t)-least_ns;
    return HPCW_OK;
}

void gen_clocks_free(struct gen_clocks *c) {
    hpcw_i_free(c->clock);
    c->clock = NULL;
}
