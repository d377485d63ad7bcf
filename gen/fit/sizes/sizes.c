/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/fit/sizes/sizes.h"

#include <math.h>
#include <stdbool.h>

#include <hpcw/rank2file.h>

#include "gen/fit/pairs.h"
#include "gen/model/draw/grid.h"
#include "libreader/rank2file/rank2file.h"
#include "libreader/sion/sion.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"

enum fit_size { FIT_BYTES, FIT_PIECES, FIT_USE, FIT_SIZES };

/* Statistics of the sizes of ranks. Ranks are added in ascending order. */
struct fit_sizes {
    /* distribution of each size over each half of the ranks. FIT_BYTES: bytes of a rank. FIT_PIECES: blocks or
     * files of a rank. FIT_USE: used share of a rank's chunks. */
    struct gen_fit_sketch *half[FIT_SIZES][2];
    /* ln: ln(bytes) of each rank, paired with itself for mean and variance. next: ln(bytes) of a rank, paired with
     * that of the next rank. */
    struct gen_fit_pairs ln, next[2];
    double bytes, ranks;
    double before; /* ln(bytes) of the previous rank */
};

static hpcw_status new_sizes(struct fit_sizes *z, hpcw_error *err) {
    *z = (struct fit_sizes){.before = NAN};
    for (size_t i = 0; i < FIT_SIZES; i++) {
        for (size_t h = 0; h < 2; h++) {
            z->half[i][h] = gen_fit_sketch_new(i == FIT_USE ? 1e-3 : 1);
            if (z->half[i][h] == NULL) {
                return hpcw_i_fail_memory(err, NULL, 1, "sketches");
            }
        }
    }
    return HPCW_OK;
}

static void add_rank(struct fit_sizes *z, uint32_t rank, double bytes, double pieces, double use) {
    const double value[FIT_SIZES] = {bytes, pieces, use};
    for (size_t i = 0; i < FIT_SIZES; i++) {
        if (!isnan(value[i])) {
            gen_fit_sketch_add(z->half[i][rank & 1], value[i]);
        }
    }
    const double ln = gen_fit_ln(fmax(1, bytes));
    if (!isnan(z->before)) {
        gen_fit_pair(&z->next[rank & 1], z->before, ln);
    }
    z->before = ln;
    gen_fit_pair(&z->ln, ln, ln);
    z->bytes += bytes;
}

static double deviation(const struct fit_sizes *z) {
    const double variance = gen_fit_covariance(&z->ln);
    /* A deviation below 1/1000 counts as 0, since file sizes also differ by the digits of the rank. */
    return variance > 1e-6 ? sqrt(variance) : 0;
}

/* Adds the facts, which then own their distributions. Frees all other distributions. */
static hpcw_status end_sizes(struct fit_sizes *z, const char *format, const char *const name[FIT_SIZES],
                             const char *next, struct gen_fit_facts *facts, hpcw_status s, hpcw_error *err) {
    for (size_t i = 0; i < FIT_SIZES; i++) {
        if (s == HPCW_OK && name[i] != NULL) {
            s = gen_fit_facts_add(facts,
                                  &(struct gen_fit_fact){.format = format,
                                                         .name = name[i],
                                                         .unit = i == FIT_BYTES ? "bytes" : "",
                                                         .kind = GEN_FIT_MARGINAL,
                                                         .half = {z->half[i][0], z->half[i][1]}},
                                  err);
        } else {
            hpcw_i_free(z->half[i][0]);
            hpcw_i_free(z->half[i][1]);
        }
    }
    if (s == HPCW_OK) {
        struct gen_fit_pairs all = z->next[0];
        gen_fit_pairs_merge(&all, &z->next[1]);
        const bool equal = deviation(z) <= 0;
        const double value = equal ? NAN : gen_fit_correlation(&all),
                     half[2] = {equal ? NAN : gen_fit_correlation(&z->next[0]),
                                equal ? NAN : gen_fit_correlation(&z->next[1])};
        s = gen_fit_facts_add(facts,
                              &(struct gen_fit_fact){.format = format,
                                                     .name = next,
                                                     .kind = GEN_FIT_CORRELATION,
                                                     .value = value,
                                                     .part = {half[0], half[1]},
                                                     .samples = z->ranks},
                              err);
    }
    return s;
}

/* ---- SION ---- */

static hpcw_status add_tasks(struct read_sion *r, struct fit_sizes *z, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint32_t f = 0; s == HPCW_OK && f < read_sion_files(r); f++) {
        struct read_sion_info info = {.tasks = 0};
        s = read_sion_info(r, f, &info, err);
        for (uint32_t i = 0; s == HPCW_OK && i < info.tasks; i++) {
            struct read_sion_task t;
            s = read_sion_task(r, f, i, &t, err);
            if (s == HPCW_OK && t.rank >= 0) {
                const double room = (double)t.chunk_size * t.blocks;
                add_rank(z, (uint32_t)t.rank, (double)t.size, t.blocks, room > 0 ? (double)t.size / room : NAN);
            }
        }
    }
    return s;
}

/* Returns the correlation of the model's smooth load field between a rank and the next one. At the end of a row
 * of the model's grid of ranks, the next rank is not a neighbour. */
static double field_neighbours(const struct gen_fit_twin *twin, double ranks) {
    const struct model_load_params *p = &twin->dataset.load_params;
    uint32_t grid[3];
    model_grid_shape((uint32_t)ranks, p->dims, grid);
    return p->variance.correlation * (1 - 1.0 / grid[p->dims - 1]);
}

/* Learns how much the sizes of ranks follow the smooth load field. The result is the correlation of sizes between a
 * rank and the next one, divided by the correlation of the field. */
static hpcw_status learn_follows(const struct fit_sizes *z, struct gen_fit_twin *twin, hpcw_error *err) {
    struct gen_fit_pairs next = z->next[0];
    const double of_field = field_neighbours(twin, z->ranks);
    gen_fit_pairs_merge(&next, &z->next[1]);
    const double of_sizes = gen_fit_correlation(&next);
    if (isnan(of_sizes) || of_field <= 0.1) {
        gen_fit_remark(twin, "sion: neighbouring ranks are hardly alike, so sion.follows is the default");
        return HPCW_OK;
    }
    return gen_fit_learn(twin, "sion.follows", fmax(0, fmin(1, of_sizes / of_field)), GEN_FIT_PER_RANK, err);
}

static hpcw_status learn_sion(const struct fit_sizes *z, uint32_t files, struct gen_fit_twin *twin,
                              hpcw_error *err) {
    if (z->ranks < GEN_FIT_LEAST_VALUES) {
        gen_fit_remark(twin,
                       "sion: fewer than %d tasks, whose mean would tell them: the sizes are the defaults",
                       GEN_FIT_LEAST_VALUES);
        return gen_fit_learn(twin, "sion.files", files, GEN_FIT_PER_RUN, err);
    }
    const double sigma = deviation(z);
    const double mean =
        hpcw_i_exp(z->ln.x / z->ln.n + 0.5 * sigma * sigma); /* mean of a log-normal distribution */
    /* size that 98 % of the values of this distribution exceed; the smallest measured size itself is not
     * disclosed */
    const double least = floor(hpcw_i_exp(z->ln.x / z->ln.n - 2.05 * sigma) / MODEL_PARTICLE_SIZE);
    hpcw_status s = gen_fit_learn(twin, "sion.files", files, GEN_FIT_PER_RUN, err);
    s = s == HPCW_OK ? gen_fit_learn(twin, "sion.mean_size", mean, GEN_FIT_PER_RANK, err) : s;
    s = s == HPCW_OK ? gen_fit_learn(twin, "sion.sigma", sigma, GEN_FIT_PER_RANK, err) : s;
    if (s == HPCW_OK && least < twin->dataset.particles_params.min_particles) {
        s = gen_fit_learn(twin, "sion.min_particles", least, GEN_FIT_PER_RANK, err);
    }
    gen_fit_remark(twin, "sion: the twin holds particles, 2 to 4 blocks for each rank");
    return s == HPCW_OK ? learn_follows(z, twin, err) : s;
}

hpcw_status gen_fit_sion(const char *path, struct gen_fit_facts *facts, struct gen_fit_twin *twin,
                         hpcw_error *err) {
    static const char *const name[FIT_SIZES] = {"bytes of a task", "blocks of a task",
                                                "used share of its chunks"};
    struct read_sion *reader;
    struct fit_sizes z;
    hpcw_status s = read_sion_open(path, &reader, err);
    if (s != HPCW_OK) {
        return s;
    }
    s = new_sizes(&z, err);
    s = s == HPCW_OK ? add_tasks(reader, &z, err) : s;
    z.ranks = z.ln.n;
    if (s == HPCW_OK && z.ranks == 0) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected at least one task, got none", path);
    }
    if (s == HPCW_OK && twin != NULL) {
        twin->ranks = z.ranks > twin->ranks ? (uint32_t)z.ranks : twin->ranks;
        s = learn_sion(&z, read_sion_files(reader), twin, err);
    }
    read_sion_free(reader);
    return end_sizes(&z, "sion", name, "bytes of neighbouring tasks", facts, s, err);
}

/* ---- checkpoints ---- */

struct fit_checkpoints {
    struct fit_sizes sizes;
    uint32_t sound, damaged, ranks;
    hpcw_rank2file_layout layout;
};

/* Returns the size of a file in a checkpoint: the size in the map or, as maps of SCR 3 have none, that of the
 * file itself. *is: the size is known. */
static hpcw_status size_of(const hpcw_rank2file_found *f, double *bytes, bool *is, hpcw_error *err) {
    struct hpcw_i_entry entry = {.kind = HPCW_I_NOTHING};
    int e = f->has_size ? 0 : hpcw_i_sys_look(f->path, true, &entry);
    *bytes = entry.kind == HPCW_I_FILE ? (double)entry.size : (double)f->size;
    *is = f->has_size || entry.kind == HPCW_I_FILE;
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot look at it", f->path);
}

static hpcw_status add_dataset(void *context, const char *name, struct hpcw_rank2file_restart *r,
                               const hpcw_error *why, hpcw_error *err) {
    (void)name;
    (void)why;
    struct fit_checkpoints *c = context;
    if (r == NULL) {
        c->damaged++;
        return HPCW_OK;
    }
    const uint64_t files = hpcw_rank2file_restart_files(r);
    hpcw_rank2file_found f = {.rank = 0};
    hpcw_status s = files > 0 ? hpcw_rank2file_restart_file(r, 0, &f, err) : HPCW_OK;
    double bytes = 0;
    double count = 0;
    bool sized = true;
    c->sizes.before = NAN;
    for (uint64_t i = 0; s == HPCW_OK && i < files; i++) {
        const uint32_t rank = f.rank;
        double of_file;
        bool is;
        s = size_of(&f, &of_file, &is, err);
        sized = is && sized;
        bytes += of_file;
        count++;
        s = s == HPCW_OK && i + 1 < files ? hpcw_rank2file_restart_file(r, i + 1, &f, err) : s;
        if (s == HPCW_OK && (i + 1 == files || f.rank != rank)) {
            if (sized) {
                add_rank(&c->sizes, rank, bytes, count, NAN);
            }
            bytes = count = 0;
            sized = true;
        }
    }
    c->sound++;
    c->layout = hpcw_rank2file_restart_layout(r);
    c->ranks = hpcw_rank2file_restart_ranks(r) > c->ranks ? hpcw_rank2file_restart_ranks(r) : c->ranks;
    return s;
}

/* Converts the standard deviation of ln(size) of files to that of objects. In the model, the file of a rank has
 * the memory of all its objects. Half of the variance of an object's ln(memory) follows its work, which is
 * partly common to the objects of a rank. */
static double sigma_of_objects(const struct gen_fit_twin *twin, double sigma) {
    const struct model_load_params *p = &twin->dataset.load_params;
    const double further = (double)p->objects * p->collections - 1;
    const double objects = 1 + further * p->fill;
    const double of_count = further * p->fill * (1 - p->fill) / (objects * objects);
    const double alike = 0.5 * p->variance.alike * 0.75;
    const double rest =
        fmax(0, hpcw_i_exp(sigma * sigma) - 1 - of_count) * objects / (1 + (objects - 1) * alike);
    return sqrt(gen_fit_ln(1 + rest));
}

/* Without load data, the file of a rank is modelled as one object whose size stays the same. */
static hpcw_status learn_alone(const struct fit_checkpoints *c, struct gen_fit_twin *twin, hpcw_error *err) {
    const struct fit_sizes *z = &c->sizes;
    struct gen_fit_pairs next = z->next[0];
    const double of_field = field_neighbours(twin, c->ranks);
    gen_fit_pairs_merge(&next, &z->next[1]);
    const double of_sizes = gen_fit_correlation(&next);
    hpcw_status s = gen_fit_learn(twin, "load.objects", 1, GEN_FIT_PER_RANK, err);
    s = s == HPCW_OK ? gen_fit_learn(twin, "load.migration", 0, GEN_FIT_PER_OBJECT, err) : s;
    if (s == HPCW_OK && of_field > 0.1) { /* half of the variance of ln(size) follows the work */
        const double alike = isnan(of_sizes) ? 0 : fmax(0, fmin(1, 2 * of_sizes / of_field));
        s = gen_fit_learn(twin, "load.alike", alike, GEN_FIT_PER_RANK, err);
    }
    if (s == HPCW_OK &&
        c->sound > twin->dataset.load_params.phases) { /* at most one checkpoint for each phase */
        s = gen_fit_learn(twin, "load.phases", c->sound, GEN_FIT_PER_RUN, err);
    }
    return s;
}

static hpcw_status learn_checkpoints(const struct fit_checkpoints *c, struct gen_fit_twin *twin,
                                     hpcw_error *err) {
    static const char *const layout[] = {[HPCW_RANK2FILE_SCR_1_1] = "scr-1.1",
                                         [HPCW_RANK2FILE_SCR_1_2] = "scr-1.2",
                                         [HPCW_RANK2FILE_SCR_3] = "scr-3",
                                         [HPCW_RANK2FILE_SHARED] = "shared"};
    const bool with_loads = (twin->formats >> GEN_FORMAT_VOM & 1) != 0;
    hpcw_status s = with_loads ? HPCW_OK : learn_alone(c, twin, err);
    s = s == HPCW_OK ? gen_fit_learn(twin, "rank2file.checkpoints", c->sound, GEN_FIT_PER_RUN, err) : s;
    s = s == HPCW_OK ? gen_fit_learn_text(twin, "rank2file.layout", layout[c->layout], GEN_FIT_PER_RUN, err)
                     : s;
    if (c->damaged > 0) {
        gen_fit_remark(twin, "rank2file: %u checkpoints cannot be read and were left out", c->damaged);
    }
    if (c->sizes.ln.n < GEN_FIT_LEAST_VALUES) {
        gen_fit_remark(twin,
                       "rank2file: fewer than %d ranks with known sizes, so those of the twin are the defaults",
                       GEN_FIT_LEAST_VALUES);
        return s;
    }
    s = s == HPCW_OK
            ? gen_fit_learn(twin, "rank2file.mean_size", c->sizes.bytes / c->sizes.ln.n, GEN_FIT_PER_RANK, err)
            : s;
    s = s == HPCW_OK ? gen_fit_learn(twin, "rank2file.sigma", sigma_of_objects(twin, deviation(&c->sizes)),
                                     GEN_FIT_PER_OBJECT, err)
                     : s;
    gen_fit_remark(twin, "rank2file: the twin has one file for each rank");
    return s;
}

hpcw_status gen_fit_checkpoints(const char *path, struct gen_fit_facts *facts, struct gen_fit_twin *twin,
                                hpcw_error *err) {
    static const char *const name[FIT_SIZES] = {"bytes of a rank in a checkpoint",
                                                "files of a rank in a checkpoint", NULL};
    struct fit_checkpoints c = {.sound = 0};
    hpcw_status s = new_sizes(&c.sizes, err);
    s = s == HPCW_OK ? read_rank2file_tour(path, add_dataset, &c, err) : s;
    if (s == HPCW_OK && c.sound == 0) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected a checkpoint that can be read, got none of %u", path,
                        c.damaged);
    }
    c.sizes.ranks = c.ranks;
    if (s == HPCW_OK && twin != NULL) {
        twin->ranks = c.ranks > twin->ranks ? c.ranks : twin->ranks;
        s = learn_checkpoints(&c, twin, err);
    }
    return end_sizes(&c.sizes, "rank2file", name, "checkpoint bytes of neighbouring ranks", facts, s, err);
}
