/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Counter files: one integer per rank, and a text that says what the integers count.
 *
 *     hpcw_counter_options o;
 *     hpcw_counter_options_init(&o);
 *     o.count = 2; // this process owns two ranks
 *     o.unit = "messages";
 *     hpcw_counter_open("sent.counter", comm, &o, &c, &err); // collective
 *     hpcw_counter_write(c, hpcw_counter_first_rank(c), 42, &err);
 *     hpcw_counter_write(c, hpcw_counter_first_rank(c) + 1, 17, &err);
 *     hpcw_counter_close(c, &err); // collective
 *     hpcw_counter_free(c);
 *
 * A handle is used by one thread at a time; different handles are independent. The bytes: doc/formats/counter.md.
 */
#ifndef HPCW_COUNTER_H
#define HPCW_COUNTER_H

#include <stddef.h>
#include <stdint.h>

#include <hpcw/comm.h>
#include <hpcw/sink.h>
#include <hpcw/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HPCW_COUNTER_MAX_RANKS (UINT32_C(1) << 26) /**< most ranks of a file */
#define HPCW_COUNTER_MAX_UNIT 15u                  /**< most characters of a unit */

/**
 * Options for writing a file. Initialise with hpcw_counter_options_init. Members marked "agree" must be the same on
 * all processes.
 */
typedef struct hpcw_counter_options {
    size_t size;                /**< size of this struct; set by hpcw_counter_options_init (hpcw.h) */
    uint32_t count;             /**< ranks of this process, 0 allowed; ranks are numbered in process order */
    const char *unit;           /**< agree; 1 to HPCW_COUNTER_MAX_UNIT printable ASCII characters */
    hpcw_durability durability; /**< agree; default HPCW_SYNC_FILE */
    hpcw_sink_source sink_source;
} hpcw_counter_options;

/** Private: fills in the defaults of a struct of this size. */
HPCW_API void hpcw_counter_options_fill(hpcw_counter_options *options, size_t size);

/** Sets the defaults: 1 rank per process, unit "events", HPCW_SYNC_FILE, and files as sinks. */
static inline void hpcw_counter_options_init(hpcw_counter_options *options) {
    hpcw_counter_options_fill(options, sizeof *options);
}

/** Returns the bytes of a file of `ranks` ranks, 1 .. HPCW_COUNTER_MAX_RANKS. */
HPCW_API uint64_t hpcw_counter_file_size(uint32_t ranks);

/** A file open for writing; opaque. */
typedef struct hpcw_counter hpcw_counter;

/**
 * Creates the file under a temporary name. Collective; `path` must be the same on all processes.
 *
 * @param path     final name; an older file of that name stays until the close succeeds
 * @param comm     borrowed until hpcw_counter_free; NULL: this process alone
 * @param options  copied; NULL: the defaults
 * @param out      to be freed with hpcw_counter_free; NULL on failure
 * @return HPCW_OK; HPCW_EINVAL; HPCW_ERANGE for more ranks than HPCW_COUNTER_MAX_RANKS; HPCW_EMISMATCH; HPCW_ENOMEM;
 *         as hpcw_sink_open_file
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_counter_open(const char *path, hpcw_comm *comm,
                                                       const hpcw_counter_options *options, hpcw_counter **out,
                                                       hpcw_error *err);

/** Returns the number of ranks of all processes; 0 for NULL. */
HPCW_API uint32_t hpcw_counter_ranks(const hpcw_counter *c);

/**
 * Returns the first rank of this process. Its other ranks follow. A process without ranks gets the next rank after
 * those of the lower processes. 0 for NULL.
 */
HPCW_API uint32_t hpcw_counter_first_rank(const hpcw_counter *c);

/**
 * Writes the value of one of this process's ranks, once. Not collective.
 *
 * @return HPCW_OK; HPCW_EINVAL (not an own rank); HPCW_ESTATE (written before, or closed); as hpcw_sink_write_at: then
 *         hpcw_counter_close fails with the same error
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_counter_write(hpcw_counter *c, uint32_t rank, uint64_t value,
                                                        hpcw_error *err);

/**
 * Says that this process cannot deliver its values: hpcw_counter_close fails on all processes, with this reason. Not
 * collective.
 *
 * @param reason  code and message; copied. The first one counts
 */
HPCW_API void hpcw_counter_abandon(hpcw_counter *c, const hpcw_error *reason);

/**
 * Finishes the file and gives it its name. Collective.
 *
 * @return HPCW_OK; HPCW_EINVAL for NULL; HPCW_ESTATE if a rank has no value, or closed before; the first failure of a
 *         write; as hpcw_sink_publish. After a failure there is no new file
 */
HPCW_API HPCW_MUST_CHECK hpcw_status hpcw_counter_close(hpcw_counter *c, hpcw_error *err);

/** Frees a handle in any state; NULL is allowed. An unclosed file is discarded. */
HPCW_API void hpcw_counter_free(hpcw_counter *c);

#ifdef __cplusplus
}
#endif

#endif
