/* SPDX-License-Identifier: BSD-3-Clause */
/* The eleven figures that vt computes of loads and communication (doc/formats/vom.md, "Statistics file"). */
#ifndef HPCW_LIBREADER_VOM_FIGURES_H
#define HPCW_LIBREADER_VOM_FIGURES_H

#include <stdint.h>

/* The figures, in the order of the statistics file. */
enum read_vom_figure {
    READ_VOM_AVG, /* mean */
    READ_VOM_CAR, /* number of values */
    READ_VOM_IMB, /* max / avg - 1 */
    READ_VOM_KUR, /* excess kurtosis: fourth central moment / (sample variance)^2 - 3 */
    READ_VOM_MAX,
    READ_VOM_MIN,
    READ_VOM_NPR, /* number of values that are not 0 */
    READ_VOM_SKW, /* skewness: third central moment / (sample standard deviation)^3 */
    READ_VOM_STD, /* sqrt(var) */
    READ_VOM_SUM,
    READ_VOM_VAR, /* second central moment (of the population) */
    READ_VOM_FIGURES
};

/* "avg", "car", ... */
const char *read_vom_figure_name(enum read_vom_figure figure);

/* Central moments of a sequence of values. A zeroed struct has no values. */
struct read_vom_moments {
    uint64_t count, nonzero;
    /* mean, and sums of the 2nd, 3rd and 4th powers of the distance between a value and the mean */
    double mean, m2, m3, m4;
    double min, max, sum;
};
void read_vom_moments_add(struct read_vom_moments *m, double value);

/* Computes all figures. A figure that would divide by 0 is 0. */
void read_vom_moments_figures(const struct read_vom_moments *m, double figure[READ_VOM_FIGURES]);

#endif
