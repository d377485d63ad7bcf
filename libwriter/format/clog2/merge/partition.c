/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The partitioned merge works in rounds. In a round each process encodes some of its records. A process has all of
 * its records up to some time; the earliest of these times over all processes is the horizon. Records before the
 * horizon can be merged. They are divided into segments of HPCW_CLOG2_SEGMENT records, one for each process. A
 * process receives the records of its segment from all others, merges them into blocks and writes the blocks.
 *
 * A segment begins at a record number in the order of the whole file. To find this record, each process contributes
 * the times of some of its records, at regular distances, as samples. These times are the cuts. All processes add
 * up how many records they have before each cut. The owner of a segment receives all records from the last cut
 * before the segment to the first cut after it. It skips the records before its first one. Only records between two
 * neighbouring cuts are sent to two processes. Records after the last complete segment stay where they were
 * encoded, for the next round.
 *
 * A process can write its blocks once it knows how many blocks come before them in the file. So all processes first
 * merge and exchange their numbers of blocks.
 */
#include "libwriter/format/clog2/merge/merge.h"

#include <stdlib.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/comm/exchange.h"
#include "libwriter/format/clog2/file/blocks.h"
#include "libwriter/format/clog2/file/file.h"
#include "libwriter/format/clog2/merge/runs.h"

enum {
    SEGMENT = HPCW_CLOG2_SEGMENT,
    AHEAD_BYTES = 2560 << 10,    /* bytes to encode in a round: a little more than a segment of bare events */
    MOST_AHEAD = 8 << 20,        /* most bytes of a round, if others have fewer records in the same time */
    RECEIVED_BYTES = 4096 << 10, /* first size of the receive buffer: over a segment of bare events */
    STEP = 64,                   /* number of records between two noted positions (struct mark) */
    LEAST_RECORD = HPCW_I_CLOG2_HEAD + 8,
    MOST_SAMPLES = 64,  /* largest number of samples that a process contributes in a round */
    LEAST_SAMPLES = 16, /* smallest number of samples of a process, even if the sum exceeds ALL_SAMPLES */
    ALL_SAMPLES = 16384 /* largest sum of samples of all processes */
};

#define NEVER HPCW_I_CLOG2_NEVER

/* Time and offset of an encoded record. */
struct mark {
    uint64_t time;
    size_t at; /* offset in bytes */
};

struct ahead {
    unsigned char *data; /* [room] */
    size_t room, size;
    struct mark *mark; /* [marks] one for every STEP-th record */
    size_t marks;
    uint64_t gone, records; /* numbers of records that were dropped so far, and that are still in `data` */
    bool all;               /* true: the stream has no more records */
};

/* A time that divides the records of all processes. */
struct cut {
    uint64_t time;
    uint64_t number; /* number of records before `time`, over all processes */
    size_t at;       /* offset of this process's first record at or after `time`, bytes */
};

/* The segment that a process merges in a round. */
struct share {
    uint64_t first, end; /* numbers of the segment's first record, and of the first record after the segment */
    size_t from, to;     /* indices of the cuts before and after the records of the segment */
    uint64_t blocks;     /* number of blocks of the segment, known once its records are merged */
};

struct work {
    hpcw_clog2 *file;
    hpcw_comm *comm;
    struct hpcw_i_clog2_stream *stream;
    size_t processes, me;
    size_t ahead_to; /* number of bytes that must be encoded before a round */
    uint64_t goal;   /* before a round, records are encoded up to this time, but at most MOST_AHEAD bytes */
    struct ahead own;
    size_t samples; /* number of samples that each process contributes in a round */
    /* The following arrays are one allocation. */
    uint64_t *word;  /* [(processes + 1) * (samples + 2)] values of all processes, then those of this process */
    uint64_t *count; /* [processes * samples + 2] */
    uint64_t *send_at, *send_words, *receive_words; /* [processes] each */
    struct cut *cut; /* [processes * samples + 2]; records before the first cut are in the file */
    size_t cuts;
    bool last;     /* all records are before the last cut */
    uint64_t done; /* number of records in the file, in whole segments */
    uint64_t blocks_before, blocks;
    struct share *share; /* [processes] */
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
    return hpcw_i_fail_memory(err, "clog2", 0, "the merge");
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

/* Counts the records of this process before each cut. */
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
    }
}

/* Drops records before the offset `at`. To keep a mark at the first record, drops only up to the last mark at or
 * before `at`. */
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
    /* Behind the last mark there may be fewer than STEP records. */
    uint64_t gone = marks < a->marks ? (uint64_t)marks * STEP : a->records;
    a->gone += gone;
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

/* Gathers the samples of all processes, and from each process the time up to which it has encoded all its
 * records. */
static hpcw_status make_cuts(struct work *w, hpcw_status s, hpcw_error *err) {
    const struct ahead *a = &w->own;
    size_t words = w->samples + 2;
    uint64_t *mine = w->word + w->processes * words;
    mine[0] = s == HPCW_OK;
    mine[1] = a->all ? NEVER : a->marks == 0 ? 0 : a->mark[a->marks - 1].time;
    for (size_t i = 0; i < w->samples; i++) {
        mine[2 + i] = a->marks == 0 ? NEVER : a->mark[i * a->marks / w->samples].time;
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
        for (size_t i = 0; i < w->samples; i++) {
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
    struct hpcw_i_words sums = {.sums = (uint32_t)w->cuts, .word = w->count};
    r = hpcw_i_comm_allreduce(w->comm, &sums, err);
    for (size_t i = 0; r == HPCW_OK && i < w->cuts; i++) {
        w->cut[i].number = w->count[i];
    }
    return r;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Shares
 * --------------------------------------------------------------------------------------------------------- */

/* Returns the number of records that this round completes: whole segments, at most one for each process, with at
 * least one more record after them. At the end of the log the last segment may be short. */
static uint64_t completes(const struct work *w) {
    uint64_t number = w->cut[w->cuts - 1].number;
    uint64_t left = number <= w->done ? 0 : number - w->done, most = w->processes * (uint64_t)SEGMENT;
    if (left > most || (left == most && w->last)) {
        return most;
    }
    return w->last || left == 0 ? left : (left - 1) / SEGMENT * SEGMENT;
}

/* Returns the last cut, from `cut` on, that is not after record `number`. */
static size_t cut_before(const struct work *w, uint64_t number, size_t cut) {
    while (cut + 1 < w->cuts && w->cut[cut + 1].number <= number) {
        cut++;
    }
    return cut;
}

/*
 * Sets how far each process must encode for a full next round. Often only a few processes have records in a time
 * span: there are more processes than processors, or one process records more than the others. Then these few must
 * fill all segments. The time span of this round's records only gives a rough estimate, so the goal includes one
 * segment more.
 */
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

/* Computes which segment each process merges in this round. All processes get the same result. */
static void make_shares(struct work *w) {
    uint64_t end = w->done + completes(w), number = w->done;
    set_goal(w, end);
    size_t cut = cut_before(w, number, 0);
    for (size_t p = 0; p < w->processes; p++) {
        struct share *mine = &w->share[p];
        mine->first = number;
        number = end - number < SEGMENT ? end : number + SEGMENT;
        mine->end = number;
        mine->from = mine->to = cut;
        if (mine->first < mine->end) {
            cut = cut_before(w, number, cut);
            /* Include the record after the segment: the last block ends with its time. */
            mine->to = cut + 1 < w->cuts ? cut + 1 : cut;
        }
    }
}

static hpcw_status exchange(struct work *w, hpcw_error *err) {
    for (size_t p = 0; p < w->processes; p++) {
        const struct share *his = &w->share[p];
        size_t from = w->cut[his->from].at, to = w->cut[his->to].at;
        /* Own records are merged in place, so they are not sent. */
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

/* Merges the records of this process's segment into the slice. */
static hpcw_status merge_share(struct work *w, hpcw_error *err) {
    const struct share *mine = &w->share[w->me];
    struct hpcw_i_clog2_runs *r = &w->runs;
    if (mine->first == mine->end) {
        return HPCW_OK;
    }
    hpcw_status s = w->slice == NULL ? hpcw_clog2_slice_new(w->file, mine->first, &w->slice, err)
                                     : hpcw_clog2_slice_again(w->slice, mine->first, err);
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

/* Merges the segment of this process, and gathers the numbers of blocks of all processes. */
static hpcw_status count_blocks(struct work *w, hpcw_error *err) {
    const struct share *mine = &w->share[w->me];
    hpcw_status s = merge_share(w, err);
    uint64_t blocks = s != HPCW_OK              ? UINT64_MAX
                      : mine->first < mine->end ? hpcw_clog2_slice_blocks(w->slice)
                                                : 0;
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

/* Writes the segment of this process. After this call the position of each block in the file is known. */
static hpcw_status write_share(struct work *w, hpcw_error *err) {
    const struct share *mine = &w->share[w->me];
    uint64_t first_block = w->blocks_before;
    for (size_t p = 0; p < w->processes; p++) {
        first_block += p < w->me ? w->share[p].blocks : 0;
        w->blocks_before += w->share[p].blocks;
    }
    w->blocks += mine->blocks;
    return mine->first == mine->end ? HPCW_OK : hpcw_clog2_slice_place(w->slice, first_block, err);
}

/* Drops records of this process that are in the file already: those before the last cut up to which the file is
 * complete. */
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

/* Runs a round. *s is the status of this process, which the others get in the next round. Returns the same status
 * on all processes. */
static hpcw_status one_round(struct work *w, hpcw_status *s, hpcw_error *err) {
    hpcw_status r = make_cuts(w, *s, err);
    if (r != HPCW_OK) {
        return r;
    }
    make_shares(w);
    uint64_t end = w->share[w->processes - 1].end;
    if (end == w->done) {
        /* The records did not fill one segment, so each process must encode more. */
        w->ahead_to *= 2;
        *s = encode_ahead(w, err);
        return HPCW_OK;
    }
    r = exchange(w, err);
    if (r == HPCW_OK) {
        r = count_blocks(w, err);
    }
    if (r == HPCW_OK) {
        *s = write_share(w, err);
        drop_done(w);
        *s = *s == HPCW_OK ? encode_ahead(w, err) : *s;
    }
    return r;
}

static hpcw_status make_room(struct work *w, hpcw_error *err) {
    size_t n = w->processes;
    bool runs = hpcw_i_clog2_runs_make(&w->runs, n);
    w->samples = ALL_SAMPLES / n > MOST_SAMPLES    ? MOST_SAMPLES
                 : ALL_SAMPLES / n < LEAST_SAMPLES ? LEAST_SAMPLES
                                                   : ALL_SAMPLES / n;
    w->ahead_to = AHEAD_BYTES;
    w->received.words = hpcw_i_malloc_large(RECEIVED_BYTES);
    w->received.capacity = w->received.words == NULL ? 0 : RECEIVED_BYTES / sizeof *w->received.words;
    size_t words = (n + 1) * (w->samples + 2), counts = n * w->samples + 2;
    w->word = hpcw_i_calloc(words + counts + 3 * n, sizeof *w->word);
    w->cut = hpcw_i_calloc(n * w->samples + 2, sizeof *w->cut);
    w->share = hpcw_i_calloc(n, sizeof *w->share);
    if (!runs || w->word == NULL || w->cut == NULL || w->share == NULL) {
        return no_memory(err);
    }
    w->count = w->word + words;
    w->send_at = w->count + counts;
    w->send_words = w->send_at + n;
    w->receive_words = w->send_words + n;
    return HPCW_OK;
}

static void free_room(struct work *w) {
    hpcw_i_free(w->own.data);
    hpcw_i_free(w->own.mark);
    hpcw_i_free(w->word);
    hpcw_i_free(w->cut);
    hpcw_i_free(w->share);
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
