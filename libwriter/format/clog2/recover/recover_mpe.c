/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPE's local files (doc/formats/clog2.md, "Local files"): a preamble, then blocks in the machine's byte order.
 * After a crash the table of communicators is missing, but the records that introduce communicators hold the same
 * facts. A time shift applies to the records after it.
 */
#include "libwriter/format/clog2/recover/recovered_file.h"

#include <stdlib.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/clog2/file/file.h"

enum { FREED = -999999999 };

/* Number of 32-bit fields after the head of each kind of record, then offsets and sizes of the record's texts. */
static const struct {
    uint8_t numbers;
    struct {
        uint8_t at, size;
    } text[3];
} layout[HPCW_I_CLOG2_KINDS] = {
    [HPCW_CLOG2_STATE_DEF] = {3, {{16, 24}, {40, 32}, {72, 40}}},
    [HPCW_CLOG2_EVENT_DEF] = {1, {{8, 24}, {32, 32}, {64, 40}}},
    [HPCW_CLOG2_CONST_DEF] = {2, {{8, 32}}},
    [HPCW_CLOG2_BARE] = {1, {{0, 0}}},
    [HPCW_CLOG2_WITH_CARGO] = {1, {{0, 0}}},
    [HPCW_CLOG2_MESSAGE] = {5, {{0, 0}}},
    [HPCW_CLOG2_COMM_EVENT] = {4, {{0, 0}}},
};

static int32_t get_i32(const unsigned char *p, bool big) {
    return (int32_t)hpcw_i_get_u32(p, big);
}

/* Finds the value after a title in texts that end with two zeros. */
static bool find_number(const char *texts, const char *title, uint32_t *value) {
    for (const char *p = texts; *p != '\0'; p += strlen(p) + 1) {
        if (strcmp(p, title) == 0) {
            char *rest;
            p += strlen(p) + 1;
            unsigned long v = strtoul(p, &rest, 10);
            *value = (uint32_t)v;
            return v > 0 && v <= HPCW_CLOG2_MAX_BLOCK && *rest == '\0';
        }
    }
    return false;
}

/* Converts a record to the form of a merged file, except for its communicator numbers. */
static void convert(const unsigned char *from, bool big, double time, int32_t kind, unsigned char *to) {
    hpcw_i_clog2_put_head(to, time, get_i32(from + 8, big), get_i32(from + 12, big), get_i32(from + 16, big),
                          kind);
    uint32_t size = hpcw_i_clog2_size(kind) - HPCW_I_CLOG2_HEAD;
    from += HPCW_I_CLOG2_HEAD;
    to += HPCW_I_CLOG2_HEAD;
    memset(to, 0, size);
    for (uint8_t i = 0; i < layout[kind].numbers; i++) {
        hpcw_i_put_u32(to + 4 * i, (uint32_t)get_i32(from + 4 * i, big), true);
    }
    for (int i = 0; i < 3; i++) {
        size_t room = layout[kind].text[i].size, at = layout[kind].text[i].at;
        memcpy(to + at, from + at, room == 0 ? 0 : strnlen((const char *)from + at, room - 1));
    }
    if (kind == HPCW_CLOG2_WITH_CARGO) {
        memcpy(to + 8, from + 8, HPCW_CLOG2_CARGO);
    } else if (kind == HPCW_CLOG2_COMM_EVENT) {
        hpcw_i_put_u32(to + 16, (uint32_t)get_i32(from + 16, big), true);
        hpcw_i_put_f64(to + 20, hpcw_i_get_f64(from + 20, big), true);
        memcpy(to + 28, from + 28, HPCW_CLOG2_HOST);
    } else if (kind == HPCW_CLOG2_TIME_SHIFT) {
        hpcw_i_put_f64(to, -hpcw_i_get_f64(from, big), true);
    }
}

/* Stores a communicator under the number that the process uses. */
static hpcw_status store_comm(struct hpcw_i_clog2_recovered_file *f, const unsigned char *payload,
                              hpcw_error *err) {
    int32_t event = get_i32(payload, true), comm = get_i32(payload + 4, true),
            rank = get_i32(payload + 8, true);
    if (comm < 0 || (uint32_t)comm >= f->most_comms) {
        return HPCW_OK;
    }
    if (event == HPCW_CLOG2_WORLD_CREATE) {
        f->rank = (uint32_t)get_i32(payload + 12, true);
    }
    if ((uint32_t)comm >= f->knowns) {
        struct hpcw_i_clog2_known_comm *grown = hpcw_i_realloc(f->known, ((size_t)comm + 1) * sizeof *grown);
        if (grown == NULL) {
            return hpcw_i_fail_memory(err, f->path, 0, "communicators");
        }
        memset(grown + f->knowns, 0, ((size_t)comm + 1 - f->knowns) * sizeof *grown);
        f->known = grown;
        f->knowns = (uint32_t)comm + 1;
    }
    struct hpcw_i_clog2_known_comm *k = &f->known[comm];
    k->id.random = get_i32(payload + 16, true);
    k->id.created = hpcw_i_get_f64(payload + 20, true);
    memcpy(k->id.host, payload + 28, sizeof k->id.host);
    k->rank = rank < 0 ? 0 : (uint32_t)rank;
    k->kind = event == HPCW_CLOG2_INTER_CREATE    ? HPCW_CLOG2_INTER
              : event == HPCW_CLOG2_LOCAL_CREATE  ? HPCW_CLOG2_LOCAL_HALF
              : event == HPCW_CLOG2_REMOTE_CREATE ? HPCW_CLOG2_REMOTE_HALF
                                                  : HPCW_CLOG2_INTRA;
    return HPCW_OK;
}

/* Notes which states and solo events the records use. The new log must announce their numbers. */
static void note_event(struct hpcw_i_clog2_recovered_file *f, int32_t event) {
    if (event >= HPCW_CLOG2_USER_SOLO && event < HPCW_CLOG2_USER_SOLO + (int32_t)HPCW_CLOG2_SOLOS) {
        uint32_t n = (uint32_t)(event - HPCW_CLOG2_USER_SOLO) + 1;
        f->solos = n > f->solos ? n : f->solos;
    } else if (event >= HPCW_CLOG2_USER_EVENT && event < HPCW_CLOG2_USER_SOLO) {
        uint32_t n = (uint32_t)(event - HPCW_CLOG2_USER_EVENT) / 2 + 1;
        f->states = n > f->states ? n : f->states;
    } else if (event < 0 && event >= HPCW_CLOG2_KNOWN_SOLO) {
        f->known_solos = 2;
    }
}

/* Takes the records of a block. *ended: the log ends here, or a record is not valid. */
static hpcw_status take_block(struct hpcw_i_clog2_recovered_file *f, const unsigned char *block, uint32_t size,
                              bool big, double *shift, double *last, bool *ended, hpcw_error *err) {
    for (uint32_t at = 0; at + HPCW_I_CLOG2_HEAD <= size;) {
        const unsigned char *p = block + at;
        int32_t kind = get_i32(p + 20, big);
        uint32_t record = hpcw_i_clog2_size(kind);
        double time = hpcw_i_get_f64(p, big);
        if (kind == HPCW_I_CLOG2_END_BLOCK && time == time) {
            return HPCW_OK;
        }
        bool good = record > 0 && record <= size - at && kind > HPCW_I_CLOG2_END_BLOCK && time - time == 0;
        if (!good) {
            /* A complete file ends with a record of kind END_LOG, which has a time. Bytes that were never written
             * look like such a record with time 0. */
            f->truncated = kind != HPCW_I_CLOG2_END_LOG || !(time > 0);
            *ended = true;
            return HPCW_OK;
        }
        at += record;
        if (kind == HPCW_I_CLOG2_COLLECTIVE || kind == HPCW_I_CLOG2_SOURCE) {
            continue; /* no tool shows these kinds */
        }
        *shift = kind == HPCW_CLOG2_TIME_SHIFT ? hpcw_i_get_f64(p + HPCW_I_CLOG2_HEAD, big) : *shift;
        time += *shift;
        time = time > *last ? time : *last; /* times before and after a shift may overlap a little */
        if (!(time < HPCW_CLOG2_LAST)) {
            break;
        }
        *last = time;
        if (!hpcw_i_buf_reserve(&f->encoded, record)) {
            return hpcw_i_fail_memory(err, f->path, 0, "its records");
        }
        unsigned char *to = f->encoded.data + f->encoded.size;
        convert(p, big, time, kind, to);
        f->encoded.size += record;
        uint32_t thread = hpcw_i_get_u32(to + 16, true);
        f->threads = thread < HPCW_I_CLOG2_MOST_THREADS && thread >= f->threads ? thread + 1 : f->threads;
        const unsigned char *payload = to + HPCW_I_CLOG2_HEAD;
        if (kind == HPCW_CLOG2_COMM_EVENT) {
            hpcw_status s = store_comm(f, payload, err);
            if (s != HPCW_OK) {
                return s;
            }
        } else if (kind == HPCW_CLOG2_STATE_DEF) {
            note_event(f, get_i32(payload + 4, true));
        } else if (kind == HPCW_CLOG2_EVENT_DEF || kind == HPCW_CLOG2_BARE || kind == HPCW_CLOG2_WITH_CARGO) {
            note_event(f, get_i32(payload, true));
        }
    }
    f->truncated = *ended = true;
    return HPCW_OK;
}

hpcw_status hpcw_i_clog2_read_mpe(struct hpcw_i_clog2_recovered_file *f, uint64_t size, hpcw_error *err) {
    /* The zeros after the preamble end its last text. At most four texts that it lacks are skipped. */
    char preamble[HPCW_I_CLOG2_PREAMBLE + 8] = "";
    bool whole;
    hpcw_status s = hpcw_i_clog2_recovered_read(f, 0, preamble, HPCW_I_CLOG2_PREAMBLE, &whole, err);
    if (s != HPCW_OK) {
        return s;
    }
    /* The preamble is "CLOG-02.44", then titles and values in turn. */
    const char *order = preamble + strlen(preamble) + 1;
    order += strlen(order) + 1;
    bool big = strncmp(order, "TRUE", 4) == 0;
    const char *final = order + strlen(order) + 1;
    final += strlen(final) + 1;
    if (!whole || strcmp(preamble, "CLOG-02.44") != 0 || strncmp(final, "FALSE", 5) != 0 ||
        !find_number(preamble + strlen(preamble) + 1, "block_size=", &f->block_size) ||
        !find_number(preamble + strlen(preamble) + 1, "max_comm_world_size=", &f->ranks) ||
        f->block_size < HPCW_CLOG2_MIN_BLOCK || f->block_size % 8 != 0 ||
        !hpcw_i_clog2_may_have_ranks(f->ranks)) {
        return hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected a local file of MPE2, got %s", f->path,
                           strncmp(final, "TRUE", 4) == 0 ? "a merged log" : "something else");
    }
    /* A process numbers its communicators in the order in which it records their creation. So the file size limits
     * the numbers. A damaged number cannot make this function allocate much memory. */
    uint64_t records = size / hpcw_i_clog2_size(HPCW_CLOG2_COMM_EVENT);
    f->most_comms = records < HPCW_I_CLOG2_MOST_COMMS ? (uint32_t)records : HPCW_I_CLOG2_MOST_COMMS;
    unsigned char *block = hpcw_i_malloc(f->block_size);
    s = block == NULL ? hpcw_i_fail_memory(err, f->path, 0, "a block") : HPCW_OK;
    double shift = 0, last = 0;
    bool ended = false;
    for (uint64_t at = HPCW_I_CLOG2_PREAMBLE; s == HPCW_OK && !ended; at += f->block_size) {
        uint32_t left = at >= size ? 0 : size - at < f->block_size ? (uint32_t)(size - at) : f->block_size;
        s = left == 0 ? HPCW_OK : hpcw_i_clog2_recovered_read(f, at, block, left, &whole, err);
        if (left == 0) {
            f->truncated = ended = true;
        } else if (s == HPCW_OK) {
            s = take_block(f, block, left, big, &shift, &last, &ended, err);
        }
    }
    hpcw_i_free(block);
    if (s == HPCW_OK && (f->knowns == 0 || f->rank >= f->ranks)) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "%s: expected a record that says which of %u ranks it is, got none",
                        f->path, f->ranks);
    }
    return s;
}

static bool renumber(const struct hpcw_i_clog2_recovered_file *f, uint32_t comm, unsigned char *p) {
    if (comm >= f->knowns || f->membership[comm].index < 0) {
        return false;
    }
    hpcw_i_put_u32(p, (uint32_t)f->membership[comm].index, true);
    return true;
}

/* Returns the communicator of a message's peer. Records in local files do not name it. Then it is `comm`; for the
 * local half of an inter-communicator it is the remote half, which has the next number in MPE. */
static uint32_t peer_comm(const struct hpcw_i_clog2_recovered_file *f, uint32_t comm,
                          const unsigned char *payload) {
    bool half = comm + 1 < f->knowns && f->known[comm].kind == HPCW_CLOG2_LOCAL_HALF &&
                f->known[comm + 1].kind == HPCW_CLOG2_REMOTE_HALF;
    int32_t given = get_i32(payload + 4, true);
    return given != FREED ? (uint32_t)given : half ? comm + 1 : comm;
}

void hpcw_i_clog2_renumber_mpe(struct hpcw_i_clog2_recovered_file *f) {
    unsigned char *to = f->encoded.data;
    for (size_t at = 0, size; at < f->encoded.size; at += size) {
        unsigned char *p = f->encoded.data + at, *payload = p + HPCW_I_CLOG2_HEAD;
        int32_t kind = get_i32(p + 20, true);
        uint32_t comm = hpcw_i_get_u32(p + 8, true);
        size = hpcw_i_clog2_size(kind);
        bool good = renumber(f, comm, p + 8);
        if (kind == HPCW_CLOG2_MESSAGE) {
            good = good && renumber(f, peer_comm(f, comm, payload), payload + 4);
        } else if (kind == HPCW_CLOG2_COMM_EVENT && get_i32(payload + 4, true) != FREED) {
            good = good && renumber(f, hpcw_i_get_u32(payload + 4, true), payload + 4);
        }
        if (good) {
            memmove(to, p, size);
            to += size;
        }
    }
    f->encoded.size = (size_t)(to - f->encoded.data);
}
