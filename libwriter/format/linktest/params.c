/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/linktest/params.h"

#include <inttypes.h>
#include <string.h>

#include "libwriter/base/bytes.h"
#include "libwriter/base/status.h"

static const char no_hash[] = "0000000000000000000000000000000000000000";

void hpcw_linktest_params_init(hpcw_linktest_params *p) {
    *p = (hpcw_linktest_params){
        .mode = "mpi",
        .messages = 25,
        .message_size = 256 << 10,
        .warmup_messages = 3,
        .retests = 10,
        .message_buffers = 1,
        .max_host_size = 64,
        .files = 1,
        .durability = HPCW_SYNC_FILE,
    };
}

const char *hpcw_i_linktest_mode(const char *name) {
    const char *const *mode = hpcw_i_linktest_modes;
    while (*mode != NULL && strcmp(name, *mode) != 0) {
        mode++;
    }
    return *mode;
}

uint64_t hpcw_linktest_permutations(const hpcw_linktest_params *p) {
    return p->permutations == 0 ? 1 : p->permutations;
}

uint32_t hpcw_linktest_steps(const hpcw_linktest_params *p) {
    return p->bisection ? p->tasks / 2 : p->tasks - 1;
}

uint64_t hpcw_i_linktest_header_size(const hpcw_linktest_params *p) {
    return HPCW_I_LINKTEST_MODE_AT + strlen(p->mode) + 1 + hpcw_i_linktest_fields_size +
           HPCW_I_LINKTEST_HEADER_END;
}

uint64_t hpcw_i_linktest_summary_size(const hpcw_linktest_params *p) {
    return HPCW_I_LINKTEST_SUMMARY + (p->all_to_all ? 24u : 0u) + 32 * hpcw_i_linktest_retests(p);
}

uint64_t hpcw_i_linktest_data_size(const hpcw_linktest_params *p) {
    return 16 * ((uint64_t)p->tasks - 1) + (p->all_to_all ? 8u : 0u);
}

uint64_t hpcw_linktest_stream_size(const hpcw_linktest_params *p, uint32_t rank, size_t host_size) {
    uint64_t m = hpcw_linktest_permutations(p);
    uint64_t size = HPCW_I_LINKTEST_CHUNK + host_size + m * hpcw_i_linktest_data_size(p) + HPCW_I_LINKTEST_END;
    if (rank == 0) {
        size += hpcw_i_linktest_header_size(p) + m * hpcw_i_linktest_summary_size(p);
    }
    return size;
}

hpcw_status hpcw_linktest_params_check(const hpcw_linktest_params *p, hpcw_error *err) {
    if (p == NULL || p->mode == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "linktest: expected parameters with a mode, got NULL");
    }
    if (hpcw_i_linktest_mode(p->mode) == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "linktest.mode: expected mpi, tcp, ucp, ibverbs, psm2 or cuda, got \"%.32s\"",
                           p->mode);
    }
    if (p->git_hash != NULL && (strlen(p->git_hash) != sizeof no_hash - 1 ||
                                strspn(p->git_hash, "0123456789abcdef") != sizeof no_hash - 1)) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "linktest.git_hash: expected 40 lower-case hex digits, got \"%.48s\"", p->git_hash);
    }
    if (p->all_to_all && strcmp(p->mode, "mpi") != 0) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "linktest.all_to_all: expected no with linktest.mode = %s, got yes", p->mode);
    }
    const struct {
        bool good;
        const char *field, *expected;
        uint64_t got;
    } rule[] = {
        {p->tasks >= 2 && p->tasks % 2 == 0, "tasks", "an even number of at least 2", p->tasks},
        {(unsigned)p->kernel <= HPCW_LINKTEST_BIDIRECTIONAL, "kernel", "0 to 2", (uint64_t)p->kernel},
        {p->messages > 0, "messages", "at least 1", 0},
        {p->message_buffers > 0, "message_buffers", "at least 1", 0},
        {p->random_buffers || p->buffer_seed == 0, "buffer_seed", "0 without linktest.random_buffers",
         p->buffer_seed},
        {p->permutations > 0 || p->task_seed == 0, "task_seed", "0 without linktest.permutations",
         p->task_seed},
        {p->files > 0, "files", "at least 1", 0},
        {p->max_host_size >= 2 && p->max_host_size <= HPCW_LINKTEST_MAX_HOST + 1, "max_host_size", "2 to 1024",
         p->max_host_size},
    };
    for (size_t i = 0; i < sizeof rule / sizeof rule[0]; i++) {
        if (!rule[i].good) {
            return hpcw_i_fail(err, HPCW_EINVAL, "linktest.%s: expected %s, got %" PRIu64, rule[i].field,
                               rule[i].expected, rule[i].got);
        }
    }
    /* Limit each stream to 2^48 bytes. Then every sum over less than 2^15 tasks is below 2^63. The container checks
     * larger numbers of tasks. */
    if (hpcw_linktest_permutations(p) >
        ((uint64_t)1 << 48) / (hpcw_i_linktest_data_size(p) + hpcw_i_linktest_summary_size(p))) {
        return hpcw_i_fail(
            err, HPCW_ERANGE,
            "linktest.permutations: expected streams of at most 2^48 bytes, got more with %" PRIu64,
            p->permutations);
    }
    return HPCW_OK;
}

/* Encodes the file header: doc/formats/linktest.md, "File header". */
void hpcw_i_linktest_encode_header(const hpcw_linktest_params *p, unsigned char *out) {
    unsigned char *q = out;
    size_t mode_size = strlen(p->mode) + 1;
    memcpy(q, "LinkTest", 8); /* without NUL */
    hpcw_i_put_u32(q + 8, 2, false);
    hpcw_i_put_u32(q + 12, 1, false);
    hpcw_i_put_u32(q + 16, 17, false);
    memcpy(q + 20, p->git_hash != NULL ? p->git_hash : no_hash, HPCW_LINKTEST_HASH_SIZE);
    hpcw_i_put_u32(q + 61, (uint32_t)mode_size, false);
    memcpy(q + HPCW_I_LINKTEST_MODE_AT, p->mode, mode_size);
    q += HPCW_I_LINKTEST_MODE_AT + mode_size;
    hpcw_linktest_params given = *p;
    given.retests = hpcw_i_linktest_retests(p);
    /* Two fields are 0: no_sion, as this is a container, and allocator, as its codes are not published. */
    const hpcw_linktest_info derived = {
        .bidirectional = p->kernel == HPCW_LINKTEST_BIDIRECTIONAL,
        .unidirectional = p->kernel == HPCW_LINKTEST_UNIDIRECTIONAL,
        /* true with one process, too: the bytes must not depend on the number of processes */
        .parallel_sion = true,
        .many_buffers = p->message_buffers > 1,
    };
    for (size_t i = 0; i < hpcw_i_linktest_field_count; i++) {
        const struct hpcw_i_linktest_field *f = &hpcw_i_linktest_fields[i];
        uint64_t value = f->params == HPCW_I_LINKTEST_DERIVED ? hpcw_i_linktest_read(f, &derived)
                                                              : hpcw_i_linktest_given(f, &given);
        if (hpcw_i_linktest_is_byte(f)) {
            q[f->at] = (unsigned char)value;
        } else {
            hpcw_i_put_u64(q + f->at, value, false);
        }
    }
    memcpy(q + hpcw_i_linktest_fields_size, "END_HEADER", HPCW_I_LINKTEST_HEADER_END); /* without NUL */
}
