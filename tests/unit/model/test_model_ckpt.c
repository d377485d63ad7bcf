/* SPDX-License-Identifier: BSD-3-Clause */
/* Checkpoint files: content matches its CRC, sizes have their mean, a file has at most one fault, and bytes
 * never change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen/model/checkpoint/checkpoint.h"
#include "libwriter/base/crc32.h"

struct ckpt_made {
    struct model_machine machine;
    struct model_load load;
    struct model_checkpoint model;
};

static void make(struct ckpt_made *c, const struct model_checkpoint_params *p, uint32_t ranks) {
    struct model_machine_params machine;
    struct model_load_params load;
    hpcw_error err = {.message = ""};
    model_load_params_init(&load);
    load.migration = 0.05;
    load.objects = 8;
    load.fill = p->sigma == 0 ? 1 : 0.8; /* with fill 1 and sigma 0, all files are equal */
    if (model_machine_params_init(&machine, "dfplus-hdr200", &err) != HPCW_OK ||
        model_machine_init(&c->machine, &machine, ranks, 2, &err) != HPCW_OK ||
        model_load_init(&c->load, &load, &c->machine, &err) != HPCW_OK ||
        model_checkpoint_init(&c->model, p, &c->load, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
}

static void drop(struct ckpt_made *c) {
    model_checkpoint_free(&c->model);
    model_load_free(&c->load);
    model_machine_free(&c->machine);
}

/* CRC of the whole file, made in pieces of `piece` bytes. */
static uint32_t crc_of(const struct model_checkpoint *m, uint64_t file, size_t piece, unsigned char *data) {
    size_t body = (size_t)model_checkpoint_size(m, file) - MODEL_CHECKPOINT_LEAST;
    for (size_t at = 0; at < body; at += piece) {
        model_checkpoint_fill(m, file, at, body - at < piece ? body - at : piece, data + at);
    }
    model_checkpoint_last(m, file, hpcw_i_crc32(0, data, body), data + body);
    return hpcw_i_crc32(0, data, body + MODEL_CHECKPOINT_LEAST);
}

static void content_fits_its_crc(void **state) {
    (void)state;
    static const uint64_t sizes[] = {4, 5, 11, 12, 13, 100, 4096};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int content = 0; content < 2; content++) {
            struct model_checkpoint_params p;
            unsigned char a[4096];
            unsigned char b[4096];
            model_checkpoint_params_init(&p);
            p.mean_size = sizes[i];
            p.content = content;
            p.sigma = 0;
            struct ckpt_made c;
            make(&c, &p, 3);
            const struct model_checkpoint m = c.model;
            for (uint64_t file = 0; file < 6; file++) {
                assert_int_equal(crc_of(&m, file, 8, a), model_checkpoint_crc(&m, file));
                assert_int_equal(crc_of(&m, file, 4096, b), model_checkpoint_crc(&m, file));
                assert_memory_equal(a, b, sizes[i]);
            }
            drop(&c);
        }
    }
}

/* Other bytes for the same seed would be another dataset with the same description. */
static void bytes_stay(void **state) {
    (void)state;
    struct model_checkpoint_params p;
    struct ckpt_made c;
    unsigned char data[4096];
    model_checkpoint_params_init(&p);
    p.mean_size = 1000;
    p.sigma = 0;
    make(&c, &p, 8);
    assert_int_equal(model_checkpoint_size(&c.model, 5), 1000);
    assert_int_equal(model_checkpoint_size(&c.model, 8 + 5), 1000);
    assert_int_equal(crc_of(&c.model, 5, 4096, data), 0xc97a5293u);
    assert_int_equal(hpcw_i_crc32(0, data, 512), 0x67e5b5f8u);
    drop(&c);
}

/* A file has the size of the objects that are on its rank at that checkpoint. */
static void sizes_are_those_of_objects(void **state) {
    (void)state;
    enum { RANKS = 4096 };
    struct model_checkpoint_params p;
    struct ckpt_made c;
    model_checkpoint_params_init(&p);
    p.checkpoints = 3;
    make(&c, &p, RANKS);
    double sum = 0;
    uint32_t differ = 0;
    for (uint32_t k = 0; k < 3; k++) {
        const uint32_t phase = model_checkpoint_phase(&c.model, k);
        assert_int_equal(phase, k == 0 ? 12 : k == 1 ? 25 : 39);
        assert_int_equal(model_checkpoint_after(&c.model, phase), k);
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            const uint64_t file = (uint64_t)k * RANKS + rank;
            double held = 0;
            for (uint32_t slot = 0; rank < 100 && slot < c.load.per_rank; slot++) {
                const uint32_t o = model_load_object(&c.load, rank, slot, phase);
                held += model_load_exists(&c.load, o)
                            ? model_load_held(&c.load, o, model_load_lasting(&c.load, o), p.sigma)
                            : 0;
            }
            const double size = 32768 * (held / model_load_mean_objects(&c.load));
            assert_true(rank >= 100 || model_checkpoint_size(&c.model, file) == (uint64_t)(size + 0.5));
            sum += (double)model_checkpoint_size(&c.model, file);
            differ += model_checkpoint_size(&c.model, file) != model_checkpoint_size(&c.model, rank);
        }
    }
    assert_true(differ > RANKS / 4);
    double mean = sum / (3 * RANKS) / 32768;
    assert_true(mean > 0.95 && mean < 1.05);
    for (uint32_t phase = 0; phase < 12; phase++) {
        assert_int_equal(model_checkpoint_after(&c.model, phase), UINT32_MAX);
    }
    drop(&c);
}

/* With more ranks than MODEL_CHECKPOINT_MOST_MOVED, sizes follow the work of the ranks, without migrations. */
static void many_ranks(void **state) {
    (void)state;
    struct model_checkpoint_params p;
    struct ckpt_made c;
    model_checkpoint_params_init(&p);
    make(&c, &p, MODEL_CHECKPOINT_MOST_MOVED + 1);
    assert_null(c.model.size);
    double sum = 0, least = 1e9, most = 0;
    for (uint32_t rank = 0; rank <= MODEL_CHECKPOINT_MOST_MOVED; rank++) {
        const double size = (double)model_checkpoint_size(&c.model, rank);
        assert_int_equal(model_checkpoint_size(&c.model, c.model.ranks + rank), (uint64_t)size);
        sum += size;
        least = size < least ? size : least;
        most = size > most ? size : most;
    }
    const double mean = sum / (MODEL_CHECKPOINT_MOST_MOVED + 1) / 32768;
    assert_true(mean > 0.95 && mean < 1.05 && most > 1.5 * least);
    drop(&c);
}

static void no_more_than_phases(void **state) {
    (void)state;
    struct model_checkpoint_params p;
    struct model_checkpoint other;
    struct ckpt_made c;
    hpcw_error err;
    model_checkpoint_params_init(&p);
    make(&c, &p, 4);
    p.checkpoints = 41;
    assert_int_equal(model_checkpoint_init(&other, &p, &c.load, &err), HPCW_ERANGE);
    assert_string_equal(err.message, "rank2file.checkpoints: expected at most load.phases = 40, got 41");
    model_checkpoint_free(&other);
    drop(&c);
}

static void a_fault_strikes_a_file_once(void **state) {
    (void)state;
    struct model_checkpoint_params p;
    hpcw_error err = {.message = ""};
    model_checkpoint_params_init(&p);
    for (unsigned k = 0; k < MODEL_CHECKPOINT_FAULTS; k++) {
        p.faults[k] = 20 + k;
    }
    p.sigma = 0;
    struct ckpt_made c;
    make(&c, &p, 100);
    struct model_checkpoint m = c.model;
    unsigned seen[MODEL_CHECKPOINT_FAULTS] = {0};
    for (uint64_t file = 0; file < 200; file++) {
        unsigned faults = 0;
        for (unsigned k = 0; k < MODEL_CHECKPOINT_FAULTS; k++) {
            assert_int_equal(model_checkpoint_before(&m, (enum model_checkpoint_fault)k, file), seen[k]);
            if (model_checkpoint_has(&m, (enum model_checkpoint_fault)k, file)) {
                seen[k]++;
                faults++;
            }
        }
        assert_true(faults <= 1);
        bool cut = model_checkpoint_has(&m, MODEL_CHECKPOINT_TRUNCATED_FILE, file);
        assert_true(cut ? model_checkpoint_length(&m, file) < 32768
                        : model_checkpoint_length(&m, file) == 32768);
        unsigned char data[32768];
        bool rotten = model_checkpoint_has(&m, MODEL_CHECKPOINT_WRONG_CRC, file);
        assert_int_equal(crc_of(&m, file, 32768, data) == model_checkpoint_crc(&m, file), !rotten);
    }
    for (unsigned k = 0; k < MODEL_CHECKPOINT_FAULTS; k++) {
        assert_int_equal(seen[k], 20 + k);
    }
    p.faults[0] = 100;
    assert_int_equal(model_checkpoint_init(&m, &p, &c.load, &err), HPCW_ERANGE);
    model_checkpoint_free(&m);
    drop(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_fits_its_crc),       cmocka_unit_test(bytes_stay),
        cmocka_unit_test(sizes_are_those_of_objects), cmocka_unit_test(many_ranks),
        cmocka_unit_test(no_more_than_phases),        cmocka_unit_test(a_fault_strikes_a_file_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
