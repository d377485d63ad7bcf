/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitioned merge. In a round every process encodes some records ahead; the ones before the horizon, the earliest of
 * the times up to which each process has all of its records, can be merged. They are cut into segments, of which every
 * process takes one: it gets the records from all others, merges them into blocks, and writes these.
 *
 * Where segments begin is a matter of counting. Every process tells the times of some of its records, at regular
 * distances. These are the cuts: how many records there are before each of them, all processes add up. So for the
 * number where a segment begins there is a cut shortly before and one shortly behind it; the owner gets the records from
 * the one to the other, and counts until it is there. What lies between these two cuts is sent twice, and nothing else.
 * What a round does not complete stays where it was encoded.
 *
 * Where the blocks of a segment go is known once it is known how many blocks come before. The bytes before each cut, which
 * all add up, too, say that in most cases before anything is merged; then a process writes while it merges, and what it
 * writes is still in its cache. Where they do not say it, the process merges first and counts.
 */
#include "libwriter/format/clog2/merge/partition.h"

#include <stdlib.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/comm/exchange.h"
#include "libwriter/format/clog2/file/blocks.h"
#include "libwriter/format/clog2/file/file.h"
#include "libwriter/format/clog2/file/slice.h"
#include "libwriter/format/clog2/merge/runs.h"

enum {
    SEGMENT = HPCW_CLOG2_SEGMENT,
    AHEAD_BYTES = 2560 << 10,    /* that a process encodes ahead: somewhat more than a segment of bare events */
    MOST_AHEAD = 8 << 20,        /* and if others have less to do in the same time */
    RECEIVED_BYTES = 4096 << 10, /* room for more than a segment of bare events */
    STEP = 64,                   /* records between two marks */
    LEAST_RECORD = HPCW_I_CLOG2_HEAD + 8,
    MOST_TOLD = 64,  /* times that a process tells in a round */
    LEAST_TOLD = 16, /* also if there are so many processes that these are more */
    ALL_TOLD = 16384 /* than these, of all of them together */
};

#define NEVER HPCW_I_CLOG2_NEVER

/* One record of many that were encoded ahead. */
struct mark {
    uint64_t time;
    size_t at; /* offset in bytes */
};

struct ahead {
    unsigned char *data; /* [room] */
    size_t room, size;
    struct mark *mark; /* [marks] every STEP-th record */
    size_t marks;
    uint64_t gone, records; /* that were here before, and that are here */
    uint64_t gone_bytes;
    bool all; /* there are no more */
};

/* A place in the order of all records. */
struct cut {
    uint64_t time;
    uint64_t number, bytes; /* of all records before it */
    size_t at;              /* of the first own record that is not before it, in what is encoded ahead */
};

/* What a process does in a round. */
struct share {
    uint64_t first, end; /* numbers of its records */
    size_t from, to;     /* cuts: it gets what is from the one on and before the other */
    uint64_t blocks;     /* 0: that is not to be said before the records are merged */
};

struct work {
    hpcw_clog2 *file;
    hpcw_comm *comm;
    struct hpcw_i_clog2_stream *stream;
    size_t processes, me;
    size_t ahead_to; /* bytes to encode ahead */
    uint64_t goal;   /* and up to this time, within MOST_AHEAD */
    struct ahead own;
    size_t told;     /* times that each process tells in a round */
    uint64_t *word;  /* [(processes + 1) * (told + 2)] what all tell, and what this one does */
    uint64_t *count; /* [2 * (processes * told + 2)] */
    struct cut *cut; /* [processes * told + 2]; the first one: what is before it is in the file */
    size_t cuts;
    bool last;     /* all records are before the last cut */
    uint64_t done; /* records in the file, whole segments */
    uint64_t blocks_before, blocks;
    uint32_t block_size;
    struct share *share;     /* [processes] */
    uint64_t *send_at;       /* [processes] */
    uint64_t *send_words;    /* [processes] */
    uint64_t *receive_words; /* [processes] */
    struct hpcw_i_inbox received;
    struct hpcw_i_clog2_runs runs;
    hpcw_clog2_slice *slice;
};

static double as_time(uint64_t word) {
    double time;
    memcpy(&time, &word, sizeof time);
    return time;
}

static hpcw_status no_memory(hpcw_error *err) {
    return hpcw_i_fail(err, HPCW_ENOMEM, "clog2: out of memory to merge records");
}

/* ------------------------------------------------------------------------------------------------------------
 *  Records encoded ahead
 * --------------------------------------------------------------------------------------------------------- */

static hpcw_status encode_ahead(struct work *w, hpcw_error *err) {
    struct ahead *a = &w->own;
    size_t most = w->ahead_to > MOST_AHEAD ? w->ahead_to : MOST_AHEAD;
    size_t room = most + STEP * HPCW_I_CLOG2_MAX_RECORD;
    hpcw_status s = HPCW_OK;
    if (room > a->room) {
        unsigned char *data = hpcw_i_malloc_large(room);
        if (data != NULL && a->size > 0) {
            memcpy(data, a->data, a->size);
        }
        if (data != NULL) {
            hpcw_i_free(a->data);
            a->data = data;
        }
        struct mark *mark = hpcw_i_realloc(a->mark, (room / LEAST_RECORD / STEP + 1) * sizeof *mark);
        a->mark = mark == NULL ? a->mark : mark;
        s = data == NULL || mark == NULL ? no_memory(err) : HPCW_OK;
        a->room = s == HPCW_OK ? room : a->room;
    }
    while (s == HPCW_OK && !a->all &&
           (a->size < w->ahead_to || (a->size < most && a->mark[a->marks - 1].time < w->goal))) {
        size_t size, count;
        s = hpcw_i_clog2_stream_fill(w->stream, a->data + a->size, a->room - a->size, STEP, &size, &count, err);
        if (count > 0) {
            a->mark[a->marks++] = (struct mark){hpcw_i_clog2_time_at(a->data + a->size), a->size};
        }
        a->size += size;
        a->records += count;
        a->all = count < STEP;
    }
    return s;
}

/* Finds the own records before each cut: how many, and behind these numbers how many bytes. */
static void find_cuts(struct work *w) {
    const struct ahead *a = &w->own;
    size_t at = 0, mark = 0;
    uint64_t number = a->gone;
    for (size_t i = 0; i < w->cuts; i++) {
        uint64_t time = w->cut[i].time;
        size_t before = mark;
        while (mark + 1 < a->marks && a->mark[mark + 1].time < time) {
            mark++;
        }
        if (mark > before) {
            at = a->mark[mark].at;
            number = a->gone + (uint64_t)mark * STEP;
        }
        while (at < a->size && hpcw_i_clog2_time_at(a->data + at) < time) {
            at += hpcw_i_clog2_size_at(a->data + at);
            number++;
        }
        w->cut[i].at = at;
        w->count[i] = number;
        w->count[w->cuts + i] = a->gone_bytes + at;
    }
}

/* Forgets what is before an offset, but for a little, so that marks stay where they are. */
static void forget(struct ahead *a, size_t at) {
    size_t marks = 0;
    while (marks < a->marks && (marks + 1 < a->marks ? a->mark[marks + 1].at : a->size) <= at) {
        marks++;
    }
    size_t from = marks < a->marks ? a->mark[marks].at : a->size;
    memmove(a->data, a->data + from, a->size - from);
    for (size_t i = marks; i < a->marks; i++) {
        a->mark[i - marks] = (struct mark){a->mark[i].time, a->mark[i].at - from};
    }
    /* Behind the last mark there may be fewer records than one expects. */
    uint64_t gone = marks < a->marks ? (uint64_t)marks * STEP : a->records;
    a->gone += gone;
    a->gone_bytes += from;
    a->records -= gone;
    a->marks -= marks;
    a->size -= from;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Cuts
 * --------------------------------------------------------------------------------------------------------- */

static int by_value(const void *a_, const void *b_) {
    const uint64_t *a = a_, *b = b_;
    return (*a > *b) - (*a < *b);
}

/* Every process says up to where it has all its records, and the times of some of them. */
static hpcw_status make_cuts(struct work *w, hpcw_status s, hpcw_error *err) {
    const struct ahead *a = &w->own;
    size_t words = w->told + 2;
    uint64_t *mine = w->word + w->processes * words;
    mine[0] = s == HPCW_OK;
    mine[1] = a->all ? NEVER : a->marks == 0 ? 0 : a->mark[a->marks - 1].time;
    for (size_t i = 0; i < w->told; i++) {
        mine[2 + i] = a->marks == 0 ? NEVER : a->mark[i * a->marks / w->told].time;
    }
    hpcw_status r =
        hpcw_i_comm_allgather(w->comm, mine, words * sizeof *mine, w->word, s == HPCW_OK ? err : NULL);
    if (r != HPCW_OK) {
        return s == HPCW_OK ? r : s;
    }
    uint64_t horizon = NEVER;
    for (size_t p = 0; p < w->processes; p++) {
        const uint64_t *his = w->word + p * words;
        if (his[0] == 0) {
            return hpcw_i_share_failure(w->comm, (int)p, s, err);
        }
        horizon = his[1] < horizon ? his[1] : horizon;
    }
    w->last = horizon == NEVER;
    uint64_t *time = w->count;
    size_t times = 0;
    for (size_t p = 0; p < w->processes; p++) {
        for (size_t i = 0; i < w->told; i++) {
            uint64_t t = w->word[p * words + 2 + i];
            if (t > w->cut[0].time && t < horizon) {
                time[times++] = t;
            }
        }
    }
    qsort(time, times, sizeof *time, by_value);
    w->cuts = 1;
    for (size_t i = 0; i < times; i++) {
        if (time[i] > w->cut[w->cuts - 1].time) {
            w->cut[w->cuts++].time = time[i];
        }
    }
    if (horizon > w->cut[w->cuts - 1].time) {
        w->cut[w->cuts++].time = horizon;
    }
    find_cuts(w);
    struct hpcw_i_words sums = {.sums = 2 * (uint32_t)w->cuts, .word = w->count};
    r = hpcw_i_comm_allreduce(w->comm, &sums, err);
    for (size_t i = 0; r == HPCW_OK && i < w->cuts; i++) {
        w->cut[i].number = w->count[i];
        w->cut[i].bytes = w->count[w->cuts + i];
    }
    return r;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Shares
 * --------------------------------------------------------------------------------------------------------- */

/* How many records this round completes: whole segments, one for each process at most, behind which there is at least one
 * more record, unless these are the last ones. */
static uint64_t completes(const struct work *w) {
    uint64_t number = w->cut[w->cuts - 1].number;
    uint64_t left = number <= w->done ? 0 : number - w->done, most = w->processes * (uint64_t)SEGMENT;
    if (left > most || (left == most && w->last)) {
        return most;
    }
    return w->last || left == 0 ? left : (left - 1) / SEGMENT * SEGMENT;
}

/* Least and most bytes of the records before the one with a number, and the last cut that is not behind it. */
static void look_before(const struct work *w, uint64_t number, size_t *cut, uint64_t *least, uint64_t *most) {
    while (*cut + 1 < w->cuts && w->cut[*cut + 1].number <= number) {
        ++*cut;
    }
    const struct cut *c = &w->cut[*cut];
    *least = *most = c->bytes;
    if (number > c->number) {
        uint64_t some = number - c->number, others = c[1].number - number, bytes = c[1].bytes - c->bytes;
        uint64_t longest = some * HPCW_I_CLOG2_MAX_RECORD, rest = others * HPCW_I_CLOG2_MAX_RECORD;
        uint64_t shortest = some * LEAST_RECORD;
        *least += bytes > rest + shortest ? bytes - rest : shortest;
        *most += bytes - others * LEAST_RECORD < longest ? bytes - others * LEAST_RECORD : longest;
    }
}

/* Processes record in turn where there are more of them than processors, or one does more than others: then the next
 * segments are all of a few. How far each of them has to encode for a full round says the time that this round's records
 * span; and one segment more, as that is a guess. */
static void set_goal(struct work *w, uint64_t end) {
    const struct cut *from = &w->cut[0], *to = &w->cut[w->cuts - 1];
    uint64_t wanted = end + (w->processes + 1) * (uint64_t)SEGMENT;
    w->goal = 0;
    if (!w->last && to->number > from->number && wanted > to->number) {
        double span = as_time(to->time) - as_time(from->time);
        double goal =
            as_time(to->time) + span * (double)(wanted - to->number) / (double)(to->number - from->number);
        memcpy(&w->goal, &goal, sizeof goal);
    }
}

/* Every process finds the same. */
static void make_shares(struct work *w) {
    uint64_t end = w->done + completes(w), number = w->done, least, most;
    size_t cut = 0;
    set_goal(w, end);
    look_before(w, number, &cut, &least, &most);
    for (size_t p = 0; p < w->processes; p++) {
        struct share *mine = &w->share[p];
        mine->first = number;
        number = end - number < SEGMENT ? end : number + SEGMENT;
        mine->end = number;
        mine->from = mine->to = cut;
        mine->blocks = 0;
        if (mine->first < mine->end) {
            uint64_t least_before = least, most_before = most;
            look_before(w, number, &cut, &least, &most);
            mine->blocks = hpcw_i_clog2_blocks_of(w->block_size, least - most_before, most - least_before);
            /* One record more, which tells when the next block begins. */
            mine->to = cut + 1 < w->cuts ? cut + 1 : cut;
        }
    }
}

static hpcw_status exchange(struct work *w, hpcw_error *err) {
    for (size_t p = 0; p < w->processes; p++) {
        const struct share *his = &w->share[p];
        size_t from = w->cut[his->from].at, to = w->cut[his->to].at;
        /* What one keeps is merged from where it is. */
        w->send_at[p] = from / 8;
        w->send_words[p] = p == w->me || his->first == his->end ? 0 : (to - from) / 8;
    }
    hpcw_status s = hpcw_i_comm_exchange_at(w->comm, (const uint64_t *)(const void *)w->own.data, w->send_at,
                                            w->send_words, &w->received, w->receive_words, err);
    const unsigned char *p = (const unsigned char *)w->received.words;
    for (size_t i = 0; s == HPCW_OK && i < w->processes; i++) {
        const struct share *mine = &w->share[w->me];
        const unsigned char *end = p + w->receive_words[i] * 8;
        if (i == w->me) {
            hpcw_i_clog2_runs_set(&w->runs, i, w->own.data + w->cut[mine->from].at,
                                  w->own.data + w->cut[mine->to].at);
        } else {
            hpcw_i_clog2_runs_set(&w->runs, i, p, end);
        }
        p = end;
    }
    return s;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Merge
 * --------------------------------------------------------------------------------------------------------- */

/* The records of the own share, into the slice; what is known to come before the own blocks, if that is known. */
static hpcw_status merge_share(struct work *w, const uint64_t *first_block, hpcw_error *err) {
    const struct share *mine = &w->share[w->me];
    struct hpcw_i_clog2_runs *r = &w->runs;
    if (mine->first == mine->end) {
        return HPCW_OK;
    }
    hpcw_status s = w->slice == NULL ? hpcw_clog2_slice_new(w->file, mine->first, &w->slice, err)
                                     : hpcw_clog2_slice_again(w->slice, mine->first, err);
    if (s == HPCW_OK && first_block != NULL) {
        s = hpcw_clog2_slice_place(w->slice, *first_block, err);
    }
    hpcw_i_clog2_runs_begin(r);
    hpcw_i_clog2_runs_skip(r, mine->first - w->cut[mine->from].number);
    for (uint64_t left = mine->end - mine->first; s == HPCW_OK && left > 0;) {
        double time = as_time(hpcw_i_clog2_runs_time(r));
        unsigned char *space;
        size_t room, number;
        s = hpcw_i_clog2_slice_space(w->slice, hpcw_i_clog2_runs_size(r), time, &space, &room, &number, err);
        if (s == HPCW_OK) {
            number = left < number ? (size_t)left : number;
            size_t bytes = hpcw_i_clog2_runs_take(r, space, room, &number);
            hpcw_i_clog2_slice_took(w->slice, bytes, number);
            left -= number;
        }
    }
    if (s != HPCW_OK) {
        return s;
    }
    bool ends_log = w->last && mine->end == w->cut[w->cuts - 1].number;
    return hpcw_clog2_slice_end(w->slice, ends_log ? HPCW_CLOG2_LAST : as_time(hpcw_i_clog2_runs_time(r)), err);
}

/* Whether all know how many blocks each of them has, before anything is merged. */
static bool blocks_are_known(const struct work *w) {
    bool known = true;
    for (size_t p = 0; p < w->processes; p++) {
        known = known && (w->share[p].blocks > 0 || w->share[p].first == w->share[p].end);
    }
    return known;
}

/* Whoever does not know how many blocks it has merges them first; then all hear of it. */
static hpcw_status count_blocks(struct work *w, hpcw_error *err) {
    struct share *mine = &w->share[w->me];
    hpcw_status s = HPCW_OK;
    if (mine->blocks == 0 && mine->first < mine->end) {
        s = merge_share(w, NULL, err);
        mine->blocks = s == HPCW_OK ? hpcw_clog2_slice_blocks(w->slice) : 0;
    }
    uint64_t blocks = s == HPCW_OK ? mine->blocks : UINT64_MAX;
    hpcw_status r = hpcw_i_comm_allgather(w->comm, &blocks, sizeof blocks, w->count, s == HPCW_OK ? err : NULL);
    if (r != HPCW_OK) {
        return s == HPCW_OK ? r : s;
    }
    for (size_t p = 0; p < w->processes; p++) {
        if (w->count[p] == UINT64_MAX) {
            return hpcw_i_share_failure(w->comm, (int)p, s, err);
        }
        w->share[p].blocks = w->count[p];
    }
    return HPCW_OK;
}

/* Writes the own share, and merges it on the way where that was not done before: bytes that were just merged are still in
 * the processor's cache. Afterwards, each block has its place in the file. */
static hpcw_status write_share(struct work *w, bool merged, hpcw_error *err) {
    const struct share *mine = &w->share[w->me];
    uint64_t first_block = w->blocks_before;
    for (size_t p = 0; p < w->processes; p++) {
        first_block += p < w->me ? w->share[p].blocks : 0;
        w->blocks_before += w->share[p].blocks;
    }
    w->blocks += mine->blocks;
    if (mine->first == mine->end) {
        return HPCW_OK;
    }
    hpcw_status s =
        merged ? hpcw_clog2_slice_place(w->slice, first_block, err) : merge_share(w, &first_block, err);
    return s == HPCW_OK && hpcw_clog2_slice_blocks(w->slice) != mine->blocks
               ? hpcw_i_fail(err, HPCW_EINTERNAL, "clog2: wanted %llu blocks of a segment, got %llu",
                             (unsigned long long)mine->blocks,
                             (unsigned long long)hpcw_clog2_slice_blocks(w->slice))
               : s;
}

/* Drops what is before the end of all shares, as far as there is a cut. */
static void drop_done(struct work *w) {
    size_t cut = 0;
    w->done = w->share[w->processes - 1].end;
    while (cut + 1 < w->cuts && w->cut[cut + 1].number <= w->done) {
        cut++;
    }
    forget(&w->own, w->cut[cut].at);
    w->cut[0].time = w->cut[cut].time;
}

/* ------------------------------------------------------------------------------------------------------------
 *  All rounds
 * --------------------------------------------------------------------------------------------------------- */

/* *s is the status of this process alone, which the others hear of in the next round; the result is that of all. */
static hpcw_status one_round(struct work *w, hpcw_status *s, hpcw_error *err) {
    hpcw_status r = make_cuts(w, *s, err);
    if (r != HPCW_OK) {
        return r;
    }
    make_shares(w);
    uint64_t end = w->share[w->processes - 1].end;
    if (end == w->done) {
        w->ahead_to *= 2; /* not one segment: that takes more of each process */
        *s = encode_ahead(w, err);
        return HPCW_OK;
    }
    r = exchange(w, err);
    bool known = blocks_are_known(w), merged = !known && w->share[w->me].blocks == 0;
    if (r == HPCW_OK && !known) {
        r = count_blocks(w, err);
    }
    if (r == HPCW_OK) {
        *s = write_share(w, merged, err);
        drop_done(w);
        *s = *s == HPCW_OK ? encode_ahead(w, err) : *s;
    }
    return r;
}

static hpcw_status make_room(struct work *w, hpcw_error *err) {
    size_t n = w->processes;
    bool runs = hpcw_i_clog2_runs_make(&w->runs, n);
    w->told = ALL_TOLD / n > MOST_TOLD ? MOST_TOLD : ALL_TOLD / n < LEAST_TOLD ? LEAST_TOLD : ALL_TOLD / n;
    w->ahead_to = AHEAD_BYTES;
    w->received.words = hpcw_i_malloc_large(RECEIVED_BYTES);
    w->received.capacity = w->received.words == NULL ? 0 : RECEIVED_BYTES / sizeof *w->received.words;
    w->word = hpcw_i_calloc((n + 1) * (w->told + 2), sizeof *w->word);
    w->count = hpcw_i_calloc(2 * (n * w->told + 2), sizeof *w->count);
    w->cut = hpcw_i_calloc(n * w->told + 2, sizeof *w->cut);
    w->share = hpcw_i_calloc(n, sizeof *w->share);
    w->send_at = hpcw_i_calloc(n, sizeof *w->send_at);
    w->send_words = hpcw_i_calloc(n, sizeof *w->send_words);
    w->receive_words = hpcw_i_calloc(n, sizeof *w->receive_words);
    return !runs || w->word == NULL || w->count == NULL || w->cut == NULL || w->share == NULL ||
                   w->send_at == NULL || w->send_words == NULL || w->receive_words == NULL
               ? no_memory(err)
               : HPCW_OK;
}

static void free_room(struct work *w) {
    hpcw_i_free(w->own.data);
    hpcw_i_free(w->own.mark);
    hpcw_i_free(w->word);
    hpcw_i_free(w->count);
    hpcw_i_free(w->cut);
    hpcw_i_free(w->share);
    hpcw_i_free(w->send_at);
    hpcw_i_free(w->send_words);
    hpcw_i_free(w->receive_words);
    hpcw_i_free(w->received.words);
    hpcw_i_clog2_runs_free(&w->runs);
    hpcw_clog2_slice_free(w->slice);
}

hpcw_status hpcw_i_clog2_merge_partitioned(hpcw_clog2 *file, hpcw_comm *comm,
                                           struct hpcw_i_clog2_stream *stream, uint64_t *blocks,
                                           hpcw_error *err) {
    struct work w = {.file = file,
                     .comm = comm,
                     .stream = stream,
                     .block_size = file->options.block_size,
                     .processes = (size_t)comm->size,
                     .me = (size_t)comm->process};
    hpcw_status s = HPCW_OK, all = hpcw_i_agree(comm, make_room(&w, err), NULL, err);
    if (all == HPCW_OK) {
        s = encode_ahead(&w, err);
    }
    while (all == HPCW_OK && !(w.last && w.done == w.cut[w.cuts - 1].number)) {
        all = one_round(&w, &s, err);
    }
    *blocks = w.blocks;
    free_room(&w);
    return all == HPCW_OK ? s : all;
}
