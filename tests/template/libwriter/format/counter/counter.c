/* SPDX-License-Identifier: BSD-3-Clause */
/* Life of a counter file. Each process writes the values of its own ranks; process 0 also writes the header and
 * the trailer. The file has a temporary name until all processes have succeeded. */
#include <hpcw/counter.h>

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "libwriter/base/bytes.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/options.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/format/counter/layout.h"
#include "libwriter/io/sink.h"

struct hpcw_counter {
    hpcw_comm *comm;
    char *path;
    hpcw_counter_options options;
    char unit[HPCW_I_COUNTER_UNIT_SIZE]; /* options.unit */
    uint32_t ranks;                      /* ranks of all processes */
    uint32_t first;                      /* own ranks are first .. first + options.count - 1 */
    /* part of the temporary name if several processes write; 0: one process */
    uint64_t tag;
    hpcw_sink *sink; /* NULL: this process has nothing to write */
    bool *written;   /* [options.count] */
    uint64_t sum;    /* sum of the own values */
    /* first failure, which close reports; HPCW_OK: none */
    hpcw_error failure;
    bool closed;
};

void hpcw_counter_options_fill(hpcw_counter_options *options, size_t size) {
    const hpcw_counter_options defaults = {.count = 1, .unit = "events", .durability = HPCW_SYNC_FILE};
    hpcw_i_options_fill(options, size, &defaults, sizeof defaults);
}

uint64_t hpcw_counter_file_size(uint32_t ranks) {
    return hpcw_i_counter_at(ranks) + HPCW_I_COUNTER_TRAILER;
}

uint32_t hpcw_counter_ranks(const hpcw_counter *c) {
    return c == NULL ? 0 : c->ranks;
}

uint32_t hpcw_counter_first_rank(const hpcw_counter *c) {
    return c == NULL ? 0 : c->first;
}

/* ---- open ---- */

static hpcw_status check(const char *path, const hpcw_counter_options *o, hpcw_error *err) {
    if (path == NULL || *path == '\0' || o->unit == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "counter: expected a path and a unit, got NULL or an empty path");
    }
    size_t size = strlen(o->unit);
    bool printable = true;
    for (size_t i = 0; i < size; i++) {
        printable = printable && o->unit[i] >= ' ' && o->unit[i] <= '~';
    }
    if (size == 0 || size > HPCW_COUNTER_MAX_UNIT || !printable) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: unit: expected 1 to %u printable ASCII characters, got \"%.40s\"", path,
                           HPCW_COUNTER_MAX_UNIT, o->unit);
    }
    if ((unsigned)o->durability > HPCW_SYNC_DIRECTORY) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: durability: expected 0 to %d, got %u", path,
                           HPCW_SYNC_DIRECTORY, (unsigned)o->durability);
    }
    if (o->count > HPCW_COUNTER_MAX_RANKS) {
        return hpcw_i_fail(err, HPCW_ERANGE, "%s: count: expected at most %u ranks, got %u", path,
                           HPCW_COUNTER_MAX_RANKS, o->count);
    }
    return HPCW_OK;
}

/* Copies borrowed arguments, which were checked before. */
static hpcw_status prepare(hpcw_counter *c, const char *path, const hpcw_counter_options *o, hpcw_error *err) {
    c->options = *o;
    memcpy(c->unit, o->unit, strlen(o->unit)); /* the rest is 0 */
    c->options.unit = c->unit;
    c->path = hpcw_i_strdup(path);
    c->written = hpcw_i_calloc(o->count, sizeof *c->written);
    return c->path != NULL && c->written != NULL
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory for %u ranks", path, o->count);
}

/* Collective. First reduction: checks for failures, compares the options and sums the ranks. `c` is not read if
 * `s` is a failure. */
static hpcw_status agree_on_options(hpcw_comm *comm, const char *path, const hpcw_counter_options *o,
                                    hpcw_counter *c, hpcw_status s, hpcw_error *err) {
    const struct hpcw_i_same same[] = {
        {.name = "path", .text = path},
        {.name = "unit", .text = o->unit},
        {.name = "durability", .number = o->durability, .words = "none file directory"},
        {.name = "sink_source", .number = o->sink_source.open != NULL, .words = "files own"},
    };
    /* Ranks of all processes, and a tag that process 0 draws for all. */
    uint64_t host = hpcw_i_sys_host();
    uint64_t word[4] = {o->count, host, comm->process == 0 ? hpcw_i_sink_random() : 0, host};
    struct hpcw_i_words words = {.sums = 1, .mins = 1, .maxs = 2, .word = word};
    s = hpcw_i_agree_same(comm, s, path, same, sizeof same / sizeof same[0], &words, err);
    if (s == HPCW_OK && (word[0] < 1 || word[0] > HPCW_COUNTER_MAX_RANKS)) {
        s = hpcw_i_fail(err, HPCW_ERANGE, "%s: expected 1 to %u ranks on all processes together, got %" PRIu64,
                        path, HPCW_COUNTER_MAX_RANKS, word[0]);
    }
    if (s == HPCW_OK) {
        c->ranks = (uint32_t)word[0];
        c->tag = comm->size > 1 ? hpcw_i_sink_tag(word[2], word[1], word[3]) : 0;
    }
    return s;
}

/* Collective. Computes the numbers of the own ranks, which follow those of the lower processes. */
static hpcw_status number_ranks(hpcw_counter *c, hpcw_error *err) {
    uint64_t below = c->options.count;
    struct hpcw_i_words words = {.sums = 1, .word = &below};
    hpcw_status s = hpcw_i_comm_exscan(c->comm, &words, err);
    c->first = (uint32_t)below;
    return s;
}

/* Collective. Process 0 creates the file, since it writes the header and the trailer even without ranks. The
 * others open it and check that they see the same file. */
static hpcw_status open_sink(hpcw_counter *c, hpcw_error *err) {
    const hpcw_counter_options *o = &c->options;
    bool creates = c->comm->process == 0;
    hpcw_status s =
        creates ? hpcw_i_sink_open(&o->sink_source, NULL, c->path, c->tag, true, o->durability, &c->sink, err)
                : HPCW_OK;
    s = hpcw_i_agree(c->comm, s, NULL, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (!creates && o->count > 0) {
        s = hpcw_i_sink_open(&o->sink_source, NULL, c->path, c->tag, false, o->durability, &c->sink, err);
    }
    return hpcw_i_agree(c->comm, s, NULL, err);
}

hpcw_status hpcw_counter_open(const char *path, hpcw_comm *comm, const hpcw_counter_options *options,
                              hpcw_counter **out, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    comm = hpcw_i_comm_or_self(comm);
    hpcw_counter_options o;
    hpcw_counter_options_init(&o);
    hpcw_counter *c = NULL;
    hpcw_status s =
        options == NULL ? HPCW_OK : hpcw_i_options_take(&o, sizeof o, options, "hpcw_counter_options", err);
    if (s == HPCW_OK) {
        s = check(path, &o, err);
    }
    if (s == HPCW_OK && out == NULL) {
        s = hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a place for the handle, got NULL", path);
    }
    if (s == HPCW_OK) {
        c = hpcw_i_calloc(1, sizeof *c);
        if (c == NULL) {
            s = hpcw_i_fail(err, HPCW_ENOMEM, "%s: out of memory", path);
        } else {
            c->comm = comm;
            s = prepare(c, path, &o, err);
        }
    }
    /* A process that failed still takes part, since the others would wait for it. */
    s = agree_on_options(comm, path, &o, c, s, err);
    if (s == HPCW_OK) {
        s = number_ranks(c, err);
    }
    if (s == HPCW_OK) {
        s = open_sink(c, err);
    }
    if (s != HPCW_OK) {
        hpcw_counter_free(c);
        c = NULL;
    }
    if (out != NULL) {
        *out = c;
    }
    return s;
}

/* ---- write ---- */

hpcw_status hpcw_counter_write(hpcw_counter *c, uint32_t rank, uint64_t value, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    if (c == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "counter: expected an open file, got NULL");
    }
    uint32_t own = rank - c->first; /* wraps to a large number for a lower rank */
    if (own >= c->options.count) {
        return hpcw_i_fail(err, HPCW_EINVAL, "%s: expected a rank of this process, got %u", c->path, rank);
    }
    if (c->closed || c->written[own]) {
        return hpcw_i_fail(err, HPCW_ESTATE, "%s: rank %u: expected one value before the close, got another",
                           c->path, rank);
    }
    unsigned char bytes[HPCW_I_COUNTER_VALUE];
    hpcw_i_put_u64(bytes, value, false);
    hpcw_status s = hpcw_sink_write_at(c->sink, hpcw_i_counter_at(rank), bytes, sizeof bytes, err);
    if (s == HPCW_OK) {
        c->written[own] = true;
        c->sum += value;
    } else {
        hpcw_counter_abandon(c, err);
    }
    return s;
}

void hpcw_counter_abandon(hpcw_counter *c, const hpcw_error *reason) {
    if (c != NULL && c->failure.code == HPCW_OK) {
        c->failure = hpcw_i_reason_to_abandon(reason);
    }
}

/* ---- close ---- */

static hpcw_status check_complete(const hpcw_counter *c, hpcw_error *err) {
    if (c->failure.code != HPCW_OK) {
        *err = c->failure;
        return err->code;
    }
    for (uint32_t i = 0; i < c->options.count; i++) {
        if (!c->written[i]) {
            return hpcw_i_fail(err, HPCW_ESTATE, "%s: rank %u: expected a value before the close, got none",
                               c->path, c->first + i);
        }
    }
    return HPCW_OK;
}

/* Writes the header and the trailer, on process 0. sum: the sum of all values. */
static hpcw_status write_ends(const hpcw_counter *c, uint64_t sum, hpcw_error *err) {
    unsigned char header[HPCW_I_COUNTER_HEADER] = HPCW_I_COUNTER_MAGIC;
    unsigned char trailer[HPCW_I_COUNTER_TRAILER];
    hpcw_i_put_u32(header + HPCW_I_COUNTER_AT_VERSION, HPCW_I_COUNTER_VERSION, false);
    hpcw_i_put_u32(header + HPCW_I_COUNTER_AT_RANKS, c->ranks, false);
    memcpy(header + HPCW_I_COUNTER_AT_UNIT, c->unit, sizeof c->unit);
    hpcw_i_put_u64(trailer, sum, false);
    hpcw_status s = hpcw_sink_write_at(c->sink, 0, header, sizeof header, err);
    return s == HPCW_OK ? hpcw_sink_write_at(c->sink, hpcw_i_counter_at(c->ranks), trailer, sizeof trailer, err)
                        : s;
}

hpcw_status hpcw_counter_close(hpcw_counter *c, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    if (c == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "counter: expected an open file, got NULL");
    }
    if (c->closed) {
        return hpcw_i_fail(err, HPCW_ESTATE, "%s: expected an open file, got a closed one", c->path);
    }
    c->closed = true;
    bool one = c->comm->process == 0;
    uint64_t sum = c->sum;
    struct hpcw_i_words words = {.sums = 1, .word = &sum};
    hpcw_status s = hpcw_i_agree(c->comm, check_complete(c, err), &words, err);
    if (s == HPCW_OK) {
        /* All data are written before the file gets its name. */
        s = one ? write_ends(c, sum, err) : c->sink != NULL ? hpcw_sink_detach(c->sink, err) : HPCW_OK;
        s = hpcw_i_agree(c->comm, s, NULL, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_agree(c->comm, one ? hpcw_sink_publish(c->sink, err) : HPCW_OK, NULL, err);
    }
    return s;
}

void hpcw_counter_free(hpcw_counter *c) {
    if (c != NULL) {
        hpcw_sink_discard(c->sink); /* does nothing if it was published */
        hpcw_sink_free(c->sink);
        hpcw_i_free(c->written);
        hpcw_i_free(c->path);
        hpcw_i_free(c);
    }
}
