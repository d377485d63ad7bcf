/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/model/checkpoint/checkpoint.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <hpcw/rank2file.h>

#include "libwriter/base/bytes.h"
#include "libwriter/base/detmath.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/rng.h"
#include "libwriter/base/status.h"

#define PARAM(name, kind, field, ...)                                                                          \
    UI_PARAM(struct model_checkpoint_params, "rank2file." name, kind, field, __VA_ARGS__)

static const char *const layouts[] = {"scr-1.1", "scr-1.2", "scr-3", "shared", NULL};
static const char *const contents[] = {"random", "compressible", NULL};
static const char *const payloads[] = {"files", "none", NULL};

const char *const model_checkpoint_fault_name[MODEL_CHECKPOINT_FAULTS] = {"missing_file", "truncated_file",
                                                                          "wrong_crc", "missing_rank"};

const struct ui_param model_checkpoint_param[] = {
    PARAM("layout", CHOICE, layout, .choices = layouts,
          .help = "SCR release whose directories and names to use; shared: SCR 1.1 and 3 can both restart"),
    PARAM("checkpoints", U32, checkpoints, 0, 1000, NULL,
          "number of checkpoints, evenly over the phases; the last one is current; 0: none, for --formats "
          "without rank2file; if it is not set, by the seed: 1 to 3"),
    PARAM("mean_size", SIZE, mean_size, MODEL_CHECKPOINT_LEAST, 0x1p36, "bytes", "mean size of a rank's file"),
    PARAM("sigma", F64, sigma, 0, 2, NULL,
          "standard deviation of ln(memory of an object); a rank's file sums up that of its objects"),
    PARAM("content", CHOICE, content, .choices = contents,
          .help = "random bytes, or words of which three quarters repeat"),
    PARAM("payload", CHOICE, payload, .choices = payloads,
          .help = "write the data files, or only the maps, with the same bytes"),
    PARAM("leaf_ranks", U32, leaf_ranks, 2, 0x1p31, NULL,
          "largest number of ranks of a leaf of the map, and of children of a node; small ones make deep maps"),
    PARAM("leaf_bytes", SIZE, leaf_bytes, 256, 0x1p30, "bytes", "largest size of a node of the map"),
    PARAM("missing_files", U32, faults[MODEL_CHECKPOINT_MISSING_FILE], 0, 1048576, NULL,
          "number of files that are in the map and do not exist"),
    PARAM("truncated_files", U32, faults[MODEL_CHECKPOINT_TRUNCATED_FILE], 0, 1048576, NULL,
          "number of files that are shorter than in the map"),
    PARAM("wrong_crcs", U32, faults[MODEL_CHECKPOINT_WRONG_CRC], 0, 1048576, NULL,
          "number of files with a byte that changed after the CRC was computed"),
    PARAM("missing_ranks", U32, faults[MODEL_CHECKPOINT_MISSING_RANK], 0, 1048576, NULL,
          "number of files whose rank has no entry in the map"),
    PARAM("stale_index", BOOL, stale_index, .help = "the index's current dataset does not exist"),
};
const size_t model_checkpoint_param_count = sizeof model_checkpoint_param / sizeof model_checkpoint_param[0];

void model_checkpoint_params_init(struct model_checkpoint_params *params) {
    *params = (struct model_checkpoint_params){
        .layout = HPCW_RANK2FILE_SHARED,
        .checkpoints = 2,
        .mean_size = 32 << 10,
        .sigma = 0.4, /* an assumption */
        .leaf_ranks = 8192,
        .leaf_bytes = 1 << 20,
    };
}

/* ---- faults ---- */

static int by_value(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Returns the index of the first entry >= file. */
static uint64_t lower_bound(const uint64_t *list, uint64_t count, uint64_t file) {
    uint64_t low = 0;
    while (low < count) {
        uint64_t middle = low + (count - low) / 2;
        if (list[middle] < file) {
            low = middle + 1;
        } else {
            count = middle;
        }
    }
    return low;
}

/* Draws files until one has no fault yet. At most half of all files have a fault, so this ends soon. */
static uint64_t draw_file(const struct model_checkpoint *m, unsigned kind, uint32_t index, uint64_t files,
                          const uint64_t *taken, uint64_t count) {
    uint64_t file;
    bool again;
    uint32_t attempt = 0;
    do {
        uint32_t w[4];
        hpcw_i_draw(m->seed, HPCW_I_FOR_CKPT_FAULT, kind, index, attempt++, w);
        file = (uint64_t)(((unsigned __int128)((uint64_t)w[0] << 32 | w[1]) * files) >> 64);
        again = false;
        for (uint64_t i = 0; i < count && !again; i++) {
            again = taken[i] == file;
        }
    } while (again);
    return file;
}

static hpcw_status draw_faults(struct model_checkpoint *m, hpcw_error *err) {
    uint64_t files = (uint64_t)m->params.checkpoints * m->ranks;
    uint64_t faults = 0;
    for (unsigned k = 0; k < MODEL_CHECKPOINT_FAULTS; k++) {
        faults += m->params.faults[k];
    }
    const uint64_t in_map = m->params.faults[MODEL_CHECKPOINT_MISSING_RANK];
    if (m->params.payload == MODEL_CHECKPOINT_NONE && faults > in_map) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "rank2file.missing_files + truncated_files + wrong_crcs: expected 0 with "
                           "rank2file.payload = none, got %" PRIu64,
                           faults - in_map);
    }
    if (faults > files / 2 || faults > 65536) {
        return hpcw_i_fail(
            err, HPCW_ERANGE,
            "rank2file.missing_files + truncated_files + wrong_crcs + missing_ranks: expected at most "
            "half of the %" PRIu64 " files and 65536, got %" PRIu64,
            files, faults);
    }
    uint64_t *taken = hpcw_i_malloc((size_t)faults * sizeof *taken);
    uint64_t count = 0;
    hpcw_status s = taken == NULL ? hpcw_i_fail_memory(err, "rank2file", 0, "faults") : HPCW_OK;
    for (unsigned k = 0; s == HPCW_OK && k < MODEL_CHECKPOINT_FAULTS; k++) {
        uint32_t n = m->params.faults[k];
        m->fault[k] = hpcw_i_malloc((size_t)n * sizeof *m->fault[k]);
        if (m->fault[k] == NULL) {
            s = hpcw_i_fail_memory(err, "rank2file", 0, "faults");
            break;
        }
        for (uint32_t i = 0; i < n; i++) {
            m->fault[k][i] = taken[count] = draw_file(m, k, i, files, taken, count);
            count++;
        }
        qsort(m->fault[k], n, sizeof *m->fault[k], by_value);
    }
    hpcw_i_free(taken);
    return s;
}

/* ---- sizes ---- */

static uint64_t rounded(const struct model_checkpoint *m, double held) {
    double size = (double)m->params.mean_size * (held / model_load_mean_objects(m->load)) + 0.5;
    return size < MODEL_CHECKPOINT_LEAST ? MODEL_CHECKPOINT_LEAST : (uint64_t)size;
}

/* Returns the memory of the objects object[0 .. objects - 1], in units of the mean memory of one object. */
static double held(const struct model_checkpoint *m, const uint32_t *object, uint32_t objects) {
    const struct model_load *load = m->load;
    double sum = 0;
    for (uint32_t i = 0; i < objects; i++) {
        sum += model_load_exists(load, object[i])
                   ? model_load_held(load, object[i], model_load_lasting(load, object[i]), m->params.sigma)
                   : 0;
    }
    return sum;
}

static hpcw_status fill_sizes(struct model_checkpoint *m, hpcw_error *err) {
    const struct model_load *load = m->load;
    const uint64_t files = (uint64_t)m->params.checkpoints * m->ranks;
    uint32_t *object = hpcw_i_malloc(load->objects * sizeof *object);
    m->size = hpcw_i_malloc(files * sizeof *m->size);
    const bool ok = object != NULL && m->size != NULL;
    uint64_t *size = m->size;
    for (uint32_t o = 0; ok && o < load->objects; o++) {
        object[o] = o;
    }
    for (uint32_t phase = 0; ok && phase < load->params.phases; phase++) {
        if (phase > 0) {
            model_load_move(load, object, phase);
        }
        for (uint32_t r = 0; model_checkpoint_after(m, phase) != UINT32_MAX && r < m->ranks; r++) {
            uint32_t objects;
            const uint32_t *on_rank = model_load_on_rank(load, object, phase, r, &objects);
            *size++ = rounded(m, held(m, on_rank, objects));
        }
    }
    hpcw_i_free(object);
    return ok ? HPCW_OK : hpcw_i_fail_memory(err, "rank2file", (size_t)files, "files");
}

hpcw_status model_checkpoint_init(struct model_checkpoint *m, const struct model_checkpoint_params *params,
                                  const struct model_load *load, hpcw_error *err) {
    *m = (struct model_checkpoint){.params = *params, .load = load, .ranks = load->ranks, .seed = load->seed};
    if (params->checkpoints > load->params.phases) {
        return hpcw_i_fail(err, HPCW_ERANGE, "rank2file.checkpoints: expected at most load.phases = %u, got %u",
                           load->params.phases, params->checkpoints);
    }
    hpcw_status s = draw_faults(m, err);
    return s == HPCW_OK && m->ranks <= MODEL_CHECKPOINT_MOST_MOVED ? fill_sizes(m, err) : s;
}

void model_checkpoint_free(struct model_checkpoint *m) {
    for (unsigned k = 0; k < MODEL_CHECKPOINT_FAULTS; k++) {
        hpcw_i_free(m->fault[k]);
        m->fault[k] = NULL;
    }
    hpcw_i_free(m->size);
    m->size = NULL;
}

uint32_t model_checkpoint_phase(const struct model_checkpoint *m, uint32_t checkpoint) {
    return (uint32_t)((checkpoint + (uint64_t)1) * m->load->params.phases / m->params.checkpoints) - 1;
}

uint32_t model_checkpoint_after(const struct model_checkpoint *m, uint32_t phase) {
    const uint64_t next = (phase + (uint64_t)1) * m->params.checkpoints;
    uint32_t checkpoint = (uint32_t)((next + m->load->params.phases - 1) / m->load->params.phases) - 1;
    return checkpoint < m->params.checkpoints && model_checkpoint_phase(m, checkpoint) == phase ? checkpoint
                                                                                                : UINT32_MAX;
}

uint64_t model_checkpoint_before(const struct model_checkpoint *m, enum model_checkpoint_fault fault,
                                 uint64_t file) {
    return lower_bound(m->fault[fault], m->params.faults[fault], file);
}

bool model_checkpoint_has(const struct model_checkpoint *m, enum model_checkpoint_fault fault, uint64_t file) {
    uint64_t i = m->params.faults[fault] == 0 ? 0 : model_checkpoint_before(m, fault, file);
    return i < m->params.faults[fault] && m->fault[fault][i] == file;
}

static void draw(const struct model_checkpoint *m, uint64_t file, uint32_t part, uint32_t w[4]) {
    hpcw_i_draw(m->seed, HPCW_I_FOR_CKPT_FILE, (uint32_t)(file % m->ranks), (uint32_t)(file / m->ranks), part,
                w);
}

uint64_t model_checkpoint_size(const struct model_checkpoint *m, uint64_t file) {
    if (m->size != NULL) {
        return m->size[file];
    }
    /* Due to the work that a rank's objects share, ln(memory of the rank) has about 0.6 of the standard deviation
     * of ln(memory of an object). */
    const double spread = 0.6 * m->params.sigma;
    const double common = hpcw_i_exp(spread * m->load->field[file % m->ranks] - 0.5 * spread * spread);
    return rounded(m, model_load_mean_objects(m->load) * common);
}

uint32_t model_checkpoint_crc(const struct model_checkpoint *m, uint64_t file) {
    uint32_t w[4];
    draw(m, file, 1, w);
    return w[0];
}

uint64_t model_checkpoint_length(const struct model_checkpoint *m, uint64_t file) {
    uint64_t size = model_checkpoint_size(m, file);
    if (model_checkpoint_has(m, MODEL_CHECKPOINT_TRUNCATED_FILE, file)) {
        uint32_t w[4];
        draw(m, file, 2, w);
        size = (uint64_t)(((unsigned __int128)((uint64_t)w[0] << 32 | w[1]) * size) >> 64);
    }
    return size;
}

/* ---- content ---- */

/* Finaliser of SplitMix64 (Steele, Lea and Flood 2014): a random word for each counter value. */
static inline uint64_t mix(uint64_t z) {
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void model_checkpoint_fill(const struct model_checkpoint *m, uint64_t file, uint64_t offset, size_t size,
                           unsigned char *out) {
    uint32_t w[4];
    draw(m, file, 3, w);
    uint64_t key = (uint64_t)w[0] << 32 | w[1];
    uint64_t same = ((uint64_t)w[2] << 32 | w[3]) & ~(uint64_t)0xffff;
    uint64_t keep = m->params.content == MODEL_CHECKPOINT_COMPRESSIBLE ? 0xffff : UINT64_MAX;
    same = m->params.content == MODEL_CHECKPOINT_COMPRESSIBLE ? same : 0;
    uint64_t counter = key + (offset / 8 + 1) * UINT64_C(0x9e3779b97f4a7c15);
    for (; size >= 8; size -= 8, out += 8) {
        hpcw_i_put_u64(out, (mix(counter) & keep) | same, false);
        counter += UINT64_C(0x9e3779b97f4a7c15);
    }
    if (size > 0) {
        unsigned char last[8];
        hpcw_i_put_u64(last, (mix(counter) & keep) | same, false);
        memcpy(out, last, size);
    }
}

void model_checkpoint_last(const struct model_checkpoint *m, uint64_t file, uint32_t before,
                           unsigned char last[MODEL_CHECKPOINT_LEAST]) {
    /* Finds the last four bytes x from the CRC register r before them. Appending x sets the register to the
     * result of 32 shift steps on r ^ x. These steps can be inverted. */
    uint32_t end = ~model_checkpoint_crc(m, file);
    for (int i = 0; i < 32; i++) {
        end = (end & 0x80000000u) != 0 ? (end ^ 0xedb88320u) << 1 | 1 : end << 1;
    }
    hpcw_i_put_u32(last, end ^ ~before, false);
    if (model_checkpoint_has(m, MODEL_CHECKPOINT_WRONG_CRC, file)) {
        uint32_t w[4];
        draw(m, file, 2, w);
        last[w[2] % MODEL_CHECKPOINT_LEAST] ^= (unsigned char)(1 + w[3] % 255);
    }
}
