/* SPDX-License-Identifier: BSD-3-Clause */
#include "libreader/vom/set/verify.h"

#include <inttypes.h>
#include <string.h>

#include "libreader/vom/private.h"
#include "libreader/vom/rules/judge.h"
#include "libreader/vom/set/file_type.h"
#include "libreader/vom/set/set.h"
#include "libreader/vom/statistics.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"

/* Bytes for the entities of the phases that are read in one round, see struct rounds. */
#define DEFAULT_BUDGET ((size_t)48 << 20)
/* Most phases in one round. More phases would not save time. */
#define MOST_OPEN 256u

/* ---- One file -------------------------------------------------------------------------------------------- */

static const struct read_vom_statistics_events no_events = {0};

/* Verifies a data file, and frees the reader. */
static hpcw_status verify_reader(struct read_vom *reader, unsigned flags, hpcw_error *err) {
    struct read_vom_judge judge;
    hpcw_status status = read_vom_judge_init(&judge, (flags & READ_VOM_STRICT) != 0, 0, false, err);
    read_vom_judge_file(&judge, reader, reader->here.rank == READ_VOM_ANY_RANK ? 0 : reader->here.rank);
    if (status == HPCW_OK) {
        status = read_vom_run(reader, UINT64_MAX, &judge.events, err);
    }
    if (status == HPCW_OK) {
        status = read_vom_judge_end(&judge, reader->name, err);
    }
    if (status == HPCW_ENOMEM) {
        hpcw_i_fail_about(err, reader->name);
    }
    read_vom_judge_free(&judge);
    read_vom_free(reader);
    return status;
}

/* Returns the rank in a path, or READ_VOM_ANY_RANK. */
static uint32_t rank_of(const char *path) {
    const char *slash = strrchr(path, '/');
    size_t stem;
    uint32_t rank;
    bool br;
    return read_vom_name_rank(slash == NULL ? path : slash + 1, &stem, &rank, &br) ? rank : READ_VOM_ANY_RANK;
}

/* Verifies a data file or a statistics file, and frees the source. */
static hpcw_status verify_source(struct read_source *source, unsigned flags, hpcw_error *err) {
    enum read_vom_file_type type;
    hpcw_status status = read_vom_file_type_of_source(source, &type, err);
    if (status != HPCW_OK || type == READ_VOM_STATISTICS_FILE) {
        status = status == HPCW_OK ? read_vom_statistics_source(source, &no_events, err) : status;
        read_source_free(source);
        return status;
    }
    struct read_vom *reader;
    status = read_vom_open_source(source, rank_of(read_source_name(source)), flags, &reader, err);
    return status != HPCW_OK ? status : verify_reader(reader, flags, err);
}

hpcw_status read_vom_verify(const char *path, unsigned flags, hpcw_error *err) {
    struct read_source *source;
    hpcw_status status = read_source_open(path, &source, err);
    return status != HPCW_OK ? status : verify_source(source, flags, err);
}

hpcw_status read_vom_verify_memory(const char *name, const void *data, size_t size, unsigned flags,
                                   hpcw_error *err) {
    struct read_source *source;
    hpcw_status status = read_source_open_memory(name, data, size, &source, err);
    return status != HPCW_OK ? status : verify_source(source, flags, err);
}

/* ---- A directory ----------------------------------------------------------------------------------------- */

/* Reads all files in rounds. In a round, each file is opened in turn, and the next few phases of it are read. */
struct rounds {
    struct read_vom_set set;
    struct read_vom_judge judge;
    unsigned flags;
    size_t budget;
    struct read_vom_position *from, *to; /* [ranks] positions at the begin and end of a round */
};

static const char *file_of_rank(void *context, uint32_t rank) {
    return read_vom_set_path(context, rank);
}

/* Reads the phases of one round in one file. */
static hpcw_status read_file(struct rounds *d, uint32_t rank, uint64_t phases, hpcw_error *err) {
    struct read_vom *reader;
    const char *path = read_vom_set_path(&d->set, rank);
    hpcw_status status = read_vom_open(path, rank, d->flags, &reader, err);
    if (status != HPCW_OK) {
        return status;
    }
    read_vom_judge_file(&d->judge, reader, rank);
    status = read_vom_resume(reader, &d->from[rank], err);
    if (status == HPCW_OK) {
        status = read_vom_run(reader, phases, &d->judge.events, err);
    }
    if (status == HPCW_OK) {
        read_vom_position(reader, &d->to[rank]);
    } else if (status == HPCW_ENOMEM) {
        hpcw_i_fail_about(err, path);
    }
    const struct read_vom_position *first = &d->to[0];
    const struct read_vom_position *own = &d->to[rank];
    if (status == HPCW_OK && (own->phases != first->phases || own->ended != first->ended)) {
        status = hpcw_i_fail(
            err, HPCW_EFORMAT, "%s: expected %s%" PRIu64 " phases as in rank 0, got %s%" PRIu64, path,
            first->ended ? "" : "more than ", first->phases, own->ended ? "" : "more than ", own->phases);
    }
    read_vom_free(reader);
    return status;
}

/* Runs one round. *too_much: the round stopped early, because its phases need more than twice the budget. */
static hpcw_status one_round(struct rounds *d, size_t phases, bool *too_much, hpcw_error *err) {
    uint64_t first = d->from[0].phases;
    *too_much = false;
    hpcw_status status = read_vom_judge_open(&d->judge, first, phases, err);
    for (uint32_t r = 0; r < d->set.ranks && status == HPCW_OK; r++) {
        status = read_file(d, r, phases, err);
        if (status == HPCW_OK && phases > 1 && read_vom_judge_bytes(&d->judge) > 2 * d->budget) {
            *too_much = true;
            return HPCW_OK;
        }
    }
    for (uint64_t p = first; status == HPCW_OK && p < d->to[0].phases; p++) {
        status = read_vom_judge_phase(&d->judge, p, file_of_rank, &d->set, err);
    }
    return status;
}

static hpcw_status all_rounds(struct rounds *d, hpcw_error *err) {
    hpcw_status status = HPCW_OK;
    size_t phases = 1;
    while (status == HPCW_OK && !d->from[0].ended) {
        bool too_much;
        status = one_round(d, phases, &too_much, err);
        if (too_much) {
            phases = phases / 4 > 0 ? phases / 4 : 1;
            continue;
        }
        struct read_vom_position *reached = d->to;
        d->to = d->from;
        d->from = reached;
        size_t each = read_vom_judge_bytes(&d->judge) / phases + 1;
        phases = d->budget / each;
        phases = phases < 1 ? 1 : phases > MOST_OPEN ? MOST_OPEN : phases;
    }
    return status;
}

hpcw_status read_vom_verify_directory(const char *path, unsigned flags, size_t budget, hpcw_error *err) {
    struct rounds d = {.flags = flags, .budget = budget == 0 ? DEFAULT_BUDGET : budget};
    bool strict = (flags & READ_VOM_STRICT) != 0;
    hpcw_status status = read_vom_set_open(path, strict, &d.set, err);
    if (status != HPCW_OK) {
        return status;
    }
    status = read_vom_judge_init(&d.judge, strict, d.set.ranks, true, err);
    if (status != HPCW_OK) {
        goto done;
    }
    d.from = hpcw_i_calloc(d.set.ranks, sizeof *d.from);
    d.to = hpcw_i_calloc(d.set.ranks, sizeof *d.to);
    if (d.from == NULL || d.to == NULL) {
        status = hpcw_i_fail_memory(err, NULL, d.set.ranks, "ranks");
        goto done;
    }
    status = all_rounds(&d, err);
    if (status == HPCW_OK) {
        status = read_vom_judge_end(&d.judge, path, err);
    }
    status = read_vom_set_check(&d.set, status, err);
done:
    if (status == HPCW_ENOMEM) {
        hpcw_i_fail_about(err, path);
    }
    hpcw_i_free(d.from);
    hpcw_i_free(d.to);
    read_vom_judge_free(&d.judge);
    read_vom_set_close(&d.set);
    return status;
}
