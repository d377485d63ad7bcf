/* SPDX-License-Identifier: BSD-3-Clause */
/* Checkpoint files: content fits its CRC, sizes have their mean, a file has at most one fault, bytes never change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen/model/checkpoint/checkpoint.h"
#include "libwriter/base/crc32.h"

static struct model_checkpoint model_of(const struct model_checkpoint_params *p, uint32_t ranks) {
    struct model_checkpoint m;
    hpcw_error err = {.message = ""};
    if (model_checkpoint_init(&m, p, ranks, 2, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    return m;
}

/* The whole file, made in pieces of `piece` bytes. */
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
            struct model_checkpoint m = model_of(&p, 3);
            for (uint64_t file = 0; file < 6; file++) {
                assert_int_equal(crc_of(&m, file, 8, a), model_checkpoint_crc(&m, file));
                assert_int_equal(crc_of(&m, file, 4096, b), model_checkpoint_crc(&m, file));
                assert_memory_equal(a, b, sizes[i]);
            }
            model_checkpoint_free(&m);
        }
    }
}

/* Other bytes for the same seed would be another dataset with the same description. */
static void bytes_stay(void **state) {
    (void)state;
    struct model_checkpoint_params p;
    unsigned char data[4096];
    model_checkpoint_params_init(&p);
    p.mean_size = 1000;
    p.sigma = 0.5;
    struct model_checkpoint m = model_of(&p, 8);
    assert_int_equal(model_checkpoint_size(&m, 5), 1081);
    assert_int_equal(model_checkpoint_size(&m, 8 + 5), 1081);
    assert_int_equal(crc_of(&m, 5, 4096, data), 0xc97a5293u);
    assert_int_equal(hpcw_i_crc32(0, data, 512), 0x67e5b5f8u);
    model_checkpoint_free(&m);
}

static void sizes_have_their_mean(void **state) {
    (void)state;
    enum { RANKS = 20000 };
    struct model_checkpoint_params p;
    model_checkpoint_params_init(&p);
    p.checkpoints = 1;
    p.sigma = 0.5;
    struct model_checkpoint m = model_of(&p, RANKS);
    double sum = 0;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        sum += (double)model_checkpoint_size(&m, rank);
    }
    double mean = sum / RANKS / 32768;
    assert_true(mean > 0.98 && mean < 1.02);
    model_checkpoint_free(&m);
    p.sigma = 0;
    m = model_of(&p, RANKS);
    assert_int_equal(model_checkpoint_size(&m, 77), 32768);
    model_checkpoint_free(&m);
}

static void a_fault_strikes_a_file_once(void **state) {
    (void)state;
    struct model_checkpoint_params p;
    hpcw_error err = {.message = ""};
    model_checkpoint_params_init(&p);
    for (unsigned k = 0; k < MODEL_CHECKPOINT_FAULTS; k++) {
        p.faults[k] = 20 + k;
    }
    struct model_checkpoint m = model_of(&p, 100);
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
    model_checkpoint_free(&m);
    p.faults[0] = 100;
    assert_int_equal(model_checkpoint_init(&m, &p, 100, 2, &err), HPCW_ERANGE);
    model_checkpoint_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_fits_its_crc),
        cmocka_unit_test(bytes_stay),
        cmocka_unit_test(sizes_have_their_mean),
        cmocka_unit_test(a_fault_strikes_a_file_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
