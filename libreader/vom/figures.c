/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The higher moments are updated with each value, by the formulas of P. Pebay, "Formulas for robust, one-pass
 * parallel computation of covariances and arbitrary-order statistical moments" (Sandia report SAND2008-6212).
 */
#include "libreader/vom/figures.h"

#include <math.h>

const char *read_vom_figure_name(enum read_vom_figure figure) {
    static const char *const names[READ_VOM_FIGURES] = {"avg", "car", "imb", "kur", "max", "min",
                                                        "npr", "skw", "std", "sum", "var"};
    return names[figure];
}

void read_vom_moments_add(struct read_vom_moments *m, double value) {
    double before = (double)m->count;
    m->count++;
    double n = (double)m->count;
    double delta = value - m->mean;
    double step = delta / n;
    double square = delta * step * before;
    m->mean += step;
    m->m4 += square * step * step * (n * n - 3 * n + 3) + 6 * step * step * m->m2 - 4 * step * m->m3;
    m->m3 += square * step * (n - 2) - 3 * step * m->m2;
    m->m2 += square;
    m->min = m->count == 1 || value < m->min ? value : m->min;
    m->max = m->count == 1 || value > m->max ? value : m->max;
    m->sum += value;
    m->nonzero += value != 0;
}

void read_vom_moments_figures(const struct read_vom_moments *m, double figure[READ_VOM_FIGURES]) {
    double n = (double)m->count;
    double var = m->count > 0 ? m->m2 / n : 0;
    /* vt uses the unbiased deviation in skewness and kurtosis. */
    double unbiased = m->count > 1 ? m->m2 / (n - 1) : 0;
    figure[READ_VOM_AVG] = m->mean;
    figure[READ_VOM_CAR] = n;
    figure[READ_VOM_IMB] = m->mean > 0 ? m->max / m->mean - 1 : 0;
    figure[READ_VOM_KUR] = unbiased > 0 ? m->m4 / n / (unbiased * unbiased) - 3 : 0;
    figure[READ_VOM_MAX] = m->max;
    figure[READ_VOM_MIN] = m->min;
    figure[READ_VOM_NPR] = (double)m->nonzero;
    figure[READ_VOM_SKW] = unbiased > 0 ? m->m3 / n / (unbiased * sqrt(unbiased)) : 0;
    figure[READ_VOM_STD] = sqrt(var);
    figure[READ_VOM_SUM] = m->sum;
    figure[READ_VOM_VAR] = var;
}
