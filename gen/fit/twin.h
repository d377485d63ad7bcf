/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters of a twin, and the configuration file with them. A twin is a synthetic data set with the statistics of
 * measured data. */
#ifndef HPCW_GEN_FIT_TWIN_H
#define HPCW_GEN_FIT_TWIN_H

#include <stdbool.h>

#include "gen/spec/dataset.h"
#include "libwriter/base/buf.h"

/* The quantity that a parameter describes. This quantity stays the same with another number of ranks. */
enum gen_fit_scale {
    GEN_FIT_PER_RUN,
    GEN_FIT_PER_RANK,
    GEN_FIT_PER_NODE,
    GEN_FIT_PER_OBJECT,
    GEN_FIT_PER_EDGE,
    GEN_FIT_PER_LINK,
};

enum { GEN_FIT_MOST_LEARNED = 128, GEN_FIT_MOST_REMARKS = 64, GEN_FIT_REMARK = 200 };

/* First words of the text of a learned workload. */
#define GEN_FIT_TWIN_OF_LOG "-- A twin of an event log"

struct gen_fit_twin {
    bool has_preset;
    uint32_t ranks;   /* number of ranks of the measured data; with several data sets, that of the largest */
    uint64_t seed;    /* 0: any */
    uint64_t formats; /* bit i: the format `enum gen_format_id` i was fitted */
    struct gen_dataset dataset;
    struct {
        const char *key;
        enum gen_fit_scale scale;
    } learned[GEN_FIT_MOST_LEARNED];
    size_t count;
    char remark[GEN_FIT_MOST_REMARKS][GEN_FIT_REMARK]; /* sentences for the user, without a full stop */
    size_t remarks;
    struct hpcw_i_buf workload; /* text of the workload in Lua, owned; empty: no workload */
    double rest, together;      /* values of the workload's parameters "rest" and "together" */
    /* true: a twin is made even if it lacks much of the data */
    bool partial;
    char lacks[GEN_FIT_REMARK]; /* what the twin lacks of the data, as text; empty: not much */
};

/* Initialises a twin with the defaults of the first preset. */
hpcw_status gen_fit_twin_init(struct gen_fit_twin *t, hpcw_error *err);
void gen_fit_twin_free(struct gen_fit_twin *t);

/* Sets the machine to that of a preset, whose parameters become the defaults of "machine.*". */
hpcw_status gen_fit_twin_preset(struct gen_fit_twin *t, const char *preset, hpcw_error *err);

/* Sets a parameter. A number is rounded to three digits and clamped to the parameter's range. HPCW_EINTERNAL:
 * unknown key. */
hpcw_status gen_fit_learn(struct gen_fit_twin *t, const char *key, double value, enum gen_fit_scale scale,
                          hpcw_error *err);
hpcw_status gen_fit_learn_text(struct gen_fit_twin *t, const char *key, const char *text,
                               enum gen_fit_scale scale, hpcw_error *err);

/* Adds a remark for the user: what was not learned, and why. */
void gen_fit_remark(struct gen_fit_twin *t, const char *fmt, ...) HPCW_PRINTF(2, 3);
void gen_fit_remark_first(struct gen_fit_twin *t, const char *fmt, ...) HPCW_PRINTF(2, 3);

/* Writes the learned value of a parameter and its default as text. */
void gen_fit_learned_text(const struct gen_fit_twin *t, size_t index, char *value, char *usual, size_t size);

const char *gen_fit_scale_name(enum gen_fit_scale scale);

/* Appends the configuration file. It names the file of the workload if there is one. */
hpcw_status gen_fit_twin_print(const struct gen_fit_twin *t, const char *workload, struct hpcw_i_buf *buf,
                               hpcw_error *err);

#endif
