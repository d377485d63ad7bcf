/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/fields/linktest.h"

/* clang-format off */
/* Macros for the type of a member of hpcw_linktest_info. Other types than these three do not compile, because
 * value() reads no others. */
#define INFO(name) (((hpcw_linktest_info *)NULL)->name)
#define TYPE(name) \
    _Generic(INFO(name), bool: HPCW_I_LINKTEST_BOOL, uint8_t: HPCW_I_LINKTEST_U8, uint64_t: HPCW_I_LINKTEST_U64)
/* The offset of a parameter, which must have the same type as the member of hpcw_linktest_info with this name. */
#define PARAMETER(name) \
    _Generic(&((hpcw_linktest_params *)NULL)->name, __typeof__(INFO(name)) *: offsetof(hpcw_linktest_params, name))

/* GIVEN: a field that is a parameter.
 * DERIVED: a field that the writer derives from parameters. */
#define GIVEN(name) #name, PARAMETER(name), offsetof(hpcw_linktest_info, name), TYPE(name)
#define DERIVED(name) #name, HPCW_I_LINKTEST_DERIVED, offsetof(hpcw_linktest_info, name), TYPE(name)

const struct hpcw_i_linktest_field hpcw_i_linktest_fields[] = {
    {GIVEN(all_to_all), 0, HPCW_I_LINKTEST_SHOWN},
    {DERIVED(bidirectional), 1, HPCW_I_LINKTEST_HIDDEN},
    {DERIVED(unidirectional), 2, HPCW_I_LINKTEST_HIDDEN},
    {GIVEN(bisection), 3, HPCW_I_LINKTEST_SHOWN},
    {GIVEN(randomize_steps), 4, HPCW_I_LINKTEST_SHOWN},
    {GIVEN(serial), 5, HPCW_I_LINKTEST_SHOWN},
    {DERIVED(no_sion), 6, HPCW_I_LINKTEST_HIDDEN},
    {DERIVED(parallel_sion), 7, HPCW_I_LINKTEST_SHOWN},
    {GIVEN(gpu_memory), 8, HPCW_I_LINKTEST_SHOWN},
    {DERIVED(many_buffers), 9, HPCW_I_LINKTEST_HIDDEN},
    {GIVEN(random_buffers), 10, HPCW_I_LINKTEST_SHOWN},
    {GIVEN(check_buffers), 11, HPCW_I_LINKTEST_SHOWN},
    {DERIVED(allocator), 12, HPCW_I_LINKTEST_HIDDEN},
    {GIVEN(messages), 13, HPCW_I_LINKTEST_SHOWN},
    {GIVEN(message_size), 21, HPCW_I_LINKTEST_SHOWN},
    {GIVEN(warmup_messages), 29, HPCW_I_LINKTEST_SHOWN},
    {GIVEN(message_buffers), 45, HPCW_I_LINKTEST_SHOWN},
    {GIVEN(retests), 37, HPCW_I_LINKTEST_SHOWN},
    {GIVEN(permutations), 61, HPCW_I_LINKTEST_SHOWN},
    {GIVEN(buffer_seed), 53, HPCW_I_LINKTEST_SEED},
    {GIVEN(task_seed), 69, HPCW_I_LINKTEST_SEED},
};
/* clang-format on */
#define SIZE 77u
const size_t hpcw_i_linktest_fields_size = SIZE;

#define COUNT (sizeof hpcw_i_linktest_fields / sizeof hpcw_i_linktest_fields[0])
const size_t hpcw_i_linktest_field_count = COUNT;
_Static_assert(COUNT <= HPCW_I_LINKTEST_MOST_FIELDS && SIZE <= HPCW_I_LINKTEST_MOST_FIELDS_SIZE,
               "there is room for all fields");

static uint64_t value(const struct hpcw_i_linktest_field *f, const void *owner, size_t at) {
    const void *member = (const char *)owner + at;
    return hpcw_i_linktest_is_byte(f) ? *(const uint8_t *)member : *(const uint64_t *)member;
}

uint64_t hpcw_i_linktest_given(const struct hpcw_i_linktest_field *field, const hpcw_linktest_params *params) {
    return value(field, params, field->params);
}

uint64_t hpcw_i_linktest_read(const struct hpcw_i_linktest_field *field, const hpcw_linktest_info *info) {
    return value(field, info, field->info);
}

const char *const hpcw_i_linktest_modes[] = {"mpi", "tcp", "ucp", "ibverbs", "psm2", "cuda", NULL};
const char *const hpcw_i_linktest_kernels[] = {"semidirectional", "unidirectional", "bidirectional", NULL};

const char *hpcw_i_linktest_kernel_of(const hpcw_linktest_info *info) {
    return hpcw_i_linktest_kernels[info->bidirectional    ? HPCW_LINKTEST_BIDIRECTIONAL
                                   : info->unidirectional ? HPCW_LINKTEST_UNIDIRECTIONAL
                                                          : HPCW_LINKTEST_SEMIDIRECTIONAL];
}
