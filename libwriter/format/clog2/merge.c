/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitioned merge. Time is cut into windows of about as many records each, by samples; in a round, every process
 * gets the records of one window from all others, merges and writes them. Blocks may not show where windows end. So
 * the numbers of records, which every process knows once all have counted, say where segments begin, and a record goes
 * to the process that has the first one of its segment: only what lies between the begin of a window and that of the
 * next segment travels a second time. The segment that a round does not complete is carried into the next one.
 *
 * Tree merge. Process p merges what 2p + 1 and 2p + 2 send with its own records and sends that to (p - 1) / 2.
 */
#include "format/clog2/merge.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/status.h"
#include "comm/agree.h"
#include "format/clog2/file.h"

enum {
    SEGMENT = HPCW_CLOG2_SEGMENT,
    ROUND_BYTES = 8 << 20, /* of records that a process merges in one round, about */
    QUANTILES = 256,       /* that a process tells of its records, for each round */
    MOST_QUANTILES = 4096,
    TREE_WORDS = 32768, /* of a message */
    TREE_PROCESSES = 2  /* up to which the tree is the quicker way */
};

#define NO_TIME UINT64_MAX

static double time_of(const unsigned char *record) {
    return hpcw_i_get_f64(record, true);
}

static uint32_t size_of(const unsigned char *record) {
    return hpcw_i_clog2_size((int32_t)hpcw_i_get_u32(record + 20, true));
}

static hpcw_status no_memory(hpcw_error *err) {
    return hpcw_i_fail(err, HPCW_ENOMEM, "clog2: out of memory to merge records");
}

hpcw_status hpcw_i_clog2_merge_alone(hpcw_clog2 *file, struct hpcw_i_clog2_stream *stream, uint64_t *blocks,
                                     hpcw_error *err) {
    hpcw_clog2_slice *slice = NULL;
    hpcw_status s = hpcw_clog2_slice_new(file, 0, &slice, err);
    if (s == HPCW_OK) {
        s = hpcw_clog2_slice_place(slice, 0, err);
    }
    double time;
    uint32_t size, rank;
    while (s == HPCW_OK && hpcw_i_clog2_stream_peek(stream, &time, &size, &rank)) {
        unsigned char *room;
        s = hpcw_i_clog2_slice_room(slice, size, time, &room, err);
        if (s == HPCW_OK) {
            s = hpcw_i_clog2_stream_take(stream, room, err);
        }
    }
    if (s == HPCW_OK) {
        s = hpcw_clog2_slice_end(slice, HPCW_CLOG2_LAST, err);
    }
    *blocks = hpcw_clog2_slice_blocks(slice);
    hpcw_clog2_slice_free(slice);
    return s;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Partitioned: windows
 * --------------------------------------------------------------------------------------------------------- */

static int by_time(const void *a_, const void *b_) {
    const struct hpcw_i_clog2_sample *a = a_, *b = b_;
    return (a->time > b->time) - (a->time < b->time);
}

/* `count` times, each with the same part of all words before it; sorts the samples. */
static void quantiles(struct hpcw_i_clog2_sample *sample, size_t samples, size_t count, double words,
                      struct hpcw_i_clog2_sample *out) {
    qsort(sample, samples, sizeof *sample, by_time);
    double sum = 0;
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        double wanted = words * ((double)i + 0.5) / (double)count;
        while (at + 1 < samples && sum + sample[at].words < wanted) {
            sum += sample[at++].words;
        }
        out[i].time = samples == 0 ? 0 : sample[at].time;
        out[i].words = words / (double)count;
    }
}

/* The upper ends of all windows but the last, which has none. Collective; *rounds and the ends are the same on all. */
static hpcw_status make_windows(hpcw_comm *comm, struct hpcw_i_clog2_sample *sample, size_t samples,
                                uint64_t *rounds, double **ends, hpcw_error *err) {
    size_t processes = (size_t)comm->size;
    double words = 0;
    for (size_t i = 0; i < samples; i++) {
        words += sample[i].words;
    }
    uint64_t total = (uint64_t)words;
    struct hpcw_i_words all = {.sums = 1, .word = &total};
    hpcw_status s = hpcw_i_comm_allreduce(comm, &all, err);
    if (s != HPCW_OK) {
        return s;
    }
    /* Two words, sixteen bytes, become 32 in the file. */
    *rounds = 1 + total * 16 / processes / ROUND_BYTES;
    size_t count = *rounds < MOST_QUANTILES / QUANTILES ? QUANTILES * (size_t)*rounds : MOST_QUANTILES;
    struct hpcw_i_clog2_sample *mine = hpcw_i_calloc(count, sizeof *mine);
    struct hpcw_i_clog2_sample *each = hpcw_i_calloc(count * processes, sizeof *each);
    size_t windows = (size_t)*rounds * processes;
    *ends = hpcw_i_calloc(windows, sizeof **ends);
    s = mine == NULL || each == NULL || *ends == NULL ? no_memory(err) : HPCW_OK;
    if (s == HPCW_OK) {
        quantiles(sample, samples, count, words, mine);
    }
    s = hpcw_i_agree(comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = hpcw_i_comm_allgather(comm, mine, count * sizeof *mine, each, err);
    }
    if (s == HPCW_OK) {
        qsort(each, count * processes, sizeof *each, by_time);
        double sum = 0, whole = 0;
        for (size_t i = 0; i < count * processes; i++) {
            whole += each[i].words;
        }
        size_t at = 0;
        for (size_t w = 0; w + 1 < windows; w++) {
            double wanted = whole * (double)(w + 1) / (double)windows;
            while (at + 1 < count * processes && sum + each[at].words < wanted) {
                sum += each[at++].words;
            }
            (*ends)[w] = each[at].time;
        }
    }
    hpcw_i_free(mine);
    hpcw_i_free(each);
    return s;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Partitioned: a round
 * --------------------------------------------------------------------------------------------------------- */

/* Bytes of consecutive records. */
struct stretch {
    struct hpcw_i_buf buf;
    uint64_t records;
};

struct round_work {
    hpcw_clog2 *file;
    hpcw_comm *comm;
    struct hpcw_i_clog2_stream *stream;
    size_t processes, me;
    bool final;
    uint64_t base;    /* number of the round's first record in the file, a multiple of SEGMENT */
    uint64_t carried; /* records of the segment that the round before did not complete */
    uint64_t blocks_before;
    uint64_t blocks;              /* of this process, in all rounds */
    struct stretch carry;         /* these records; on process 0 */
    struct hpcw_i_buf send;       /* records for others, by destination */
    uint64_t *send_words;         /* [processes] */
    uint64_t *receive_words;      /* [processes] */
    uint64_t *count;              /* [processes] records that each of them merges */
    uint64_t *start;              /* [processes + 1] number of the first, counted from `base` */
    uint64_t *first_time;         /* [processes] of its first segment, bits; NO_TIME: none begins there */
    struct hpcw_i_clog2_run *run; /* [processes + 1] */
    const unsigned char **at;     /* [processes + 1] */
    const unsigned char **end;
    struct stretch head,
        tail;         /* records of a segment that began before, and of one that goes into the next round */
    double tail_time; /* of its first record, if that is here */
    hpcw_clog2_slice *slice; /* the segments that begin here and are complete; NULL: none */
};

static uint64_t segment_after(uint64_t number) {
    return (number + SEGMENT - 1) / SEGMENT * SEGMENT;
}

/* Records that this round completes, counted from `base`: whole segments, and at least one more record follows. */
static uint64_t completed(const struct round_work *w) {
    uint64_t total = w->start[w->processes];
    return w->final || total == 0 ? total : (total - 1) / SEGMENT * SEGMENT;
}

/* Own records of the round's windows, encoded, by destination. */
static hpcw_status emit(struct round_work *w, const double *ends, bool last_round, hpcw_error *err) {
    w->send.size = 0;
    for (size_t p = 0; p < w->processes; p++) {
        size_t before = w->send.size;
        w->count[p] = 0;
        bool endless = last_round && p + 1 == w->processes;
        double time;
        uint32_t size, rank;
        while (hpcw_i_clog2_stream_peek(w->stream, &time, &size, &rank) && (endless || time < ends[p])) {
            if (w->send.capacity - w->send.size < HPCW_I_CLOG2_MAX_RECORD &&
                !hpcw_i_buf_reserve(&w->send, HPCW_I_CLOG2_MAX_RECORD)) {
                return no_memory(err);
            }
            hpcw_status s = hpcw_i_clog2_stream_take(w->stream, w->send.data + w->send.size, err);
            if (s != HPCW_OK) {
                return s;
            }
            w->send.size += size;
            w->count[p]++;
        }
        w->send_words[p] = (w->send.size - before) / 8;
    }
    return HPCW_OK;
}

static hpcw_status keep(struct stretch *to, const unsigned char *record, uint32_t size, hpcw_error *err) {
    to->records++;
    return hpcw_i_buf_append(&to->buf, record, size) ? HPCW_OK : no_memory(err);
}

static hpcw_status into_slice(struct round_work *w, const unsigned char *record, uint32_t size,
                              hpcw_error *err) {
    unsigned char *room;
    hpcw_status s = hpcw_i_clog2_slice_room(w->slice, size, time_of(record), &room, err);
    if (s == HPCW_OK) {
        memcpy(room, record, size);
    }
    return s;
}

/* Merges what came, and what was carried, and parts it. */
static hpcw_status merge_runs(struct round_work *w, const uint64_t *received, hpcw_error *err) {
    struct hpcw_i_clog2_heap heap = {.run = w->run};
    const unsigned char *p = (const unsigned char *)received;
    w->at[0] = w->carry.buf.data;
    w->end[0] = w->carry.buf.size == 0 ? w->at[0] : w->at[0] + w->carry.buf.size;
    for (size_t i = 0; i < w->processes; i++) {
        w->at[i + 1] = p;
        p += w->receive_words[i] * 8;
        w->end[i + 1] = p;
    }
    for (uint32_t i = 0; i <= w->processes; i++) {
        if (w->at[i] != w->end[i]) {
            hpcw_i_clog2_heap_push(&heap, time_of(w->at[i]), i);
        }
    }
    uint64_t number = w->start[w->me], first = segment_after(number), done = completed(w);
    uint64_t end = w->start[w->me + 1];
    w->first_time[w->me] = NO_TIME;
    hpcw_status s = HPCW_OK;
    if (first < end && first < done) {
        s = hpcw_clog2_slice_new(w->file, w->base + first, &w->slice, err);
    }
    for (; s == HPCW_OK && heap.count > 0; number++) {
        uint32_t i = heap.run[0].number;
        const unsigned char *record = w->at[i];
        uint32_t size = size_of(record);
        if (number == first) {
            memcpy(&w->first_time[w->me], &heap.run[0].time, sizeof(double));
        }
        if (number == done && number >= first) {
            w->tail_time = heap.run[0].time;
        }
        s = number < first  ? keep(&w->head, record, size, err)
            : number < done ? into_slice(w, record, size, err)
                            : keep(&w->tail, record, size, err);
        w->at[i] += size;
        if (w->at[i] == w->end[i]) {
            hpcw_i_clog2_heap_pop(&heap);
        } else {
            heap.run[0].time = time_of(w->at[i]);
            hpcw_i_clog2_heap_settle(&heap);
        }
    }
    return s;
}

/* Which process has the first record of the segment that process `p` has the head of; 0 if it is carried. */
static size_t owner_of_head(const struct round_work *w, size_t p) {
    uint64_t segment = w->start[p] / SEGMENT * SEGMENT;
    if (segment >= completed(w)) {
        return 0;
    }
    while (w->start[p] > segment || w->start[p + 1] <= segment) {
        p--;
    }
    return p;
}

/* Heads go to their owners, the tail to process 0. */
static hpcw_status pass_on(struct round_work *w, hpcw_error *err) {
    size_t owner = w->head.records > 0 ? owner_of_head(w, w->me) : 0;
    memset(w->send_words, 0, w->processes * sizeof *w->send_words);
    w->send.size = 0;
    bool good = true;
    if (owner == 0) {
        good = hpcw_i_buf_append(&w->send, w->head.buf.data, w->head.buf.size);
    }
    good = good && hpcw_i_buf_append(&w->send, w->tail.buf.data, w->tail.buf.size);
    w->send_words[0] = w->send.size / 8;
    if (owner != 0) {
        good = good && hpcw_i_buf_append(&w->send, w->head.buf.data, w->head.buf.size);
        w->send_words[owner] = w->head.buf.size / 8;
    }
    return good ? HPCW_OK : no_memory(err);
}

/* Heads of own segments complete the slice; on process 0, the rest is carried. */
static hpcw_status take_in(struct round_work *w, const uint64_t *received, hpcw_error *err) {
    const unsigned char *at = (const unsigned char *)received;
    hpcw_status s = HPCW_OK;
    w->carry.buf.size = 0;
    w->carry.records = 0;
    for (size_t p = 0; s == HPCW_OK && p < w->processes; p++) {
        const unsigned char *end = at + w->receive_words[p] * 8;
        uint64_t first = segment_after(w->start[p]);
        uint64_t heads = (first < w->start[p + 1] ? first : w->start[p + 1]) - w->start[p];
        bool carried = w->start[p] / SEGMENT * SEGMENT >= completed(w);
        heads = heads > 0 && !carried && owner_of_head(w, p) == w->me ? heads : 0;
        for (uint64_t i = 0; s == HPCW_OK && at < end; i++) {
            uint32_t size = size_of(at);
            s = i < heads ? into_slice(w, at, size, err) : keep(&w->carry, at, size, err);
            at += size;
        }
    }
    return s;
}

/* The time of the record behind the own slice. */
static double next_time(const struct round_work *w) {
    uint64_t done = completed(w);
    double time = HPCW_CLOG2_LAST;
    if (done < w->start[w->me + 1] && done >= segment_after(w->start[w->me])) {
        return w->tail_time;
    }
    for (size_t p = w->me + 1; p < w->processes; p++) {
        if (w->first_time[p] != NO_TIME) {
            memcpy(&time, &w->first_time[p], sizeof time);
            break;
        }
    }
    return time;
}

/* Every process says how many blocks it has; then all know their places. */
static hpcw_status write_slice(struct round_work *w, hpcw_status s, hpcw_error *err) {
    uint64_t mine = 0;
    if (s == HPCW_OK && w->slice != NULL) {
        s = hpcw_clog2_slice_end(w->slice, next_time(w), err);
        mine = hpcw_clog2_slice_blocks(w->slice);
    }
    s = hpcw_i_agree(w->comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = hpcw_i_comm_allgather(w->comm, &mine, sizeof mine, w->count, err);
    }
    uint64_t before = w->blocks_before;
    for (size_t p = 0; s == HPCW_OK && p < w->processes; p++) {
        before += p < w->me ? w->count[p] : 0;
        w->blocks_before += w->count[p];
    }
    if (s == HPCW_OK && w->slice != NULL) {
        s = hpcw_clog2_slice_place(w->slice, before, err);
        w->blocks += mine;
    }
    hpcw_clog2_slice_free(w->slice);
    w->slice = NULL;
    return hpcw_i_agree(w->comm, s, NULL, err);
}

static hpcw_status one_round(struct round_work *w, const double *ends, bool last_round, hpcw_error *err) {
    uint64_t *received = NULL;
    w->final = last_round;
    w->head.records = w->tail.records = 0;
    w->head.buf.size = w->tail.buf.size = 0;
    hpcw_status s = hpcw_i_agree(w->comm, emit(w, ends, last_round, err), NULL, err);
    if (s != HPCW_OK) {
        return s;
    }
    struct hpcw_i_words counts = {.sums = (uint32_t)w->processes, .word = w->count};
    s = hpcw_i_comm_allreduce(w->comm, &counts, err);
    if (s == HPCW_OK) {
        s = hpcw_i_comm_exchange(w->comm, (const uint64_t *)(const void *)w->send.data, w->send_words,
                                 &received, w->receive_words, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    w->count[0] += w->carried;
    w->start[0] = 0;
    for (size_t p = 0; p < w->processes; p++) {
        w->start[p + 1] = w->start[p] + w->count[p];
    }
    s = merge_runs(w, received, err);
    hpcw_i_free(received);
    received = NULL;
    if (s == HPCW_OK) {
        s = pass_on(w, err);
    }
    s = hpcw_i_agree(w->comm, s, NULL, err);
    if (s == HPCW_OK) {
        uint64_t mine = w->first_time[w->me];
        s = hpcw_i_comm_allgather(w->comm, &mine, sizeof mine, w->first_time, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_comm_exchange(w->comm, (const uint64_t *)(const void *)w->send.data, w->send_words,
                                 &received, w->receive_words, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    s = write_slice(w, take_in(w, received, err), err);
    hpcw_i_free(received);
    w->carried = w->start[w->processes] - completed(w);
    w->base += completed(w);
    return s;
}

static hpcw_status merge_partitioned(hpcw_clog2 *file, hpcw_comm *comm, struct hpcw_i_clog2_stream *stream,
                                     struct hpcw_i_clog2_sample *sample, size_t samples, uint64_t *blocks,
                                     hpcw_error *err) {
    size_t n = (size_t)comm->size;
    struct round_work w = {
        .file = file, .comm = comm, .stream = stream, .processes = n, .me = (size_t)comm->process};
    uint64_t rounds = 0;
    double *ends = NULL;
    hpcw_status s = make_windows(comm, sample, samples, &rounds, &ends, err);
    w.send_words = hpcw_i_calloc(n, sizeof *w.send_words);
    w.receive_words = hpcw_i_calloc(n, sizeof *w.receive_words);
    w.count = hpcw_i_calloc(n, sizeof *w.count);
    w.start = hpcw_i_calloc(n + 1, sizeof *w.start);
    w.first_time = hpcw_i_calloc(n, sizeof *w.first_time);
    w.run = hpcw_i_calloc(n + 1, sizeof *w.run);
    w.at = hpcw_i_calloc(n + 1, sizeof *w.at);
    w.end = hpcw_i_calloc(n + 1, sizeof *w.end);
    if (s == HPCW_OK &&
        (w.send_words == NULL || w.receive_words == NULL || w.count == NULL || w.start == NULL ||
         w.first_time == NULL || w.run == NULL || w.at == NULL || w.end == NULL)) {
        s = no_memory(err);
    }
    s = hpcw_i_agree(comm, s, NULL, err);
    for (uint64_t r = 0; s == HPCW_OK && r < rounds; r++) {
        s = one_round(&w, ends + r * n, r + 1 == rounds, err);
    }
    *blocks = w.blocks;
    hpcw_clog2_slice_free(w.slice);
    hpcw_i_buf_free(&w.carry.buf);
    hpcw_i_buf_free(&w.head.buf);
    hpcw_i_buf_free(&w.tail.buf);
    hpcw_i_buf_free(&w.send);
    hpcw_i_free(w.send_words);
    hpcw_i_free(w.receive_words);
    hpcw_i_free(w.count);
    hpcw_i_free(w.start);
    hpcw_i_free(w.first_time);
    hpcw_i_free(w.run);
    hpcw_i_free(w.at);
    hpcw_i_free(w.end);
    hpcw_i_free(ends);
    return s;
}

/* ------------------------------------------------------------------------------------------------------------
 *  Tree
 * --------------------------------------------------------------------------------------------------------- */

/* What one other process sends: records, each behind a word with the rank of the world. An empty message ends it. */
struct branch {
    int from; /* -1: none, or ended */
    uint64_t *words;
    size_t room, size, at;
};

struct tree {
    hpcw_comm *comm;
    struct hpcw_i_clog2_stream *stream;
    hpcw_clog2_slice *slice; /* of process 0 */
    struct branch branch[2];
    uint64_t *out; /* [TREE_WORDS] for the parent */
    size_t used;
};

static hpcw_status talk(const struct tree *t, int code, hpcw_error *err) {
    if (code == 0) {
        return HPCW_OK;
    }
    char text[256];
    t->comm->ops->text(code, text, sizeof text);
    return hpcw_i_fail(err, HPCW_ECOMM, "clog2: tree merge: process %d: %s", t->comm->process, text);
}

/* Takes the next message of a branch whose words are used up. */
static hpcw_status refill(const struct tree *t, struct branch *b, hpcw_error *err) {
    const struct hpcw_i_comm_ops *ops = t->comm->ops;
    size_t n = 0;
    hpcw_status s = talk(t, ops->probe(t->comm, &n, b->from), err);
    if (s == HPCW_OK && n > b->room) {
        uint64_t *grown = hpcw_i_realloc(b->words, n * sizeof *grown);
        if (grown == NULL) {
            /* The message is taken off the line nevertheless. */
            (void)ops->receive(t->comm, b->words, 0, b->from);
            b->at = b->size = 0;
            return no_memory(err);
        }
        b->words = grown;
        b->room = n;
    }
    if (s == HPCW_OK) {
        s = talk(t, ops->receive(t->comm, b->words, n, b->from), err);
    }
    b->at = 0;
    b->size = n;
    b->from = n == 0 || s != HPCW_OK ? -1 : b->from;
    return s;
}

/* Room for a record where this process sends it, or writes it. */
static hpcw_status room_for(struct tree *t, uint32_t rank, uint32_t size, double time, unsigned char **room,
                            hpcw_error *err) {
    if (t->slice != NULL) {
        return hpcw_i_clog2_slice_room(t->slice, size, time, room, err);
    }
    hpcw_status s = HPCW_OK;
    if (t->used + 1 + size / 8 > TREE_WORDS) {
        s = talk(t, t->comm->ops->send(t->comm, t->out, t->used, (t->comm->process - 1) / 2), err);
        t->used = 0;
    }
    t->out[t->used] = rank;
    *room = (unsigned char *)(t->out + t->used + 1);
    t->used += 1 + size / 8;
    return s;
}

static hpcw_status merge_branches(struct tree *t, hpcw_error *err) {
    for (;;) {
        double time = 0, best_time = 0;
        uint32_t size = 0, rank = 0, best_rank = 0;
        int best = -1;
        if (hpcw_i_clog2_stream_peek(t->stream, &best_time, &size, &best_rank)) {
            best = 2;
        }
        for (int i = 0; i < 2; i++) {
            struct branch *b = &t->branch[i];
            if (b->from >= 0 && b->at == b->size) {
                hpcw_status s = refill(t, b, err);
                if (s != HPCW_OK) {
                    return s;
                }
            }
            if (b->at < b->size) {
                time = time_of((const unsigned char *)(b->words + b->at + 1));
                rank = (uint32_t)b->words[b->at];
                if (best < 0 || time < best_time || (time == best_time && rank < best_rank)) {
                    best = i;
                    best_time = time;
                    best_rank = rank;
                }
            }
        }
        if (best < 0) {
            return HPCW_OK;
        }
        unsigned char *room;
        hpcw_status s;
        if (best == 2) {
            s = room_for(t, best_rank, size, best_time, &room, err);
            s = s == HPCW_OK ? hpcw_i_clog2_stream_take(t->stream, room, err) : s;
        } else {
            struct branch *b = &t->branch[best];
            const unsigned char *record = (const unsigned char *)(b->words + b->at + 1);
            uint32_t bytes = size_of(record);
            s = room_for(t, best_rank, bytes, best_time, &room, err);
            if (s == HPCW_OK) {
                memcpy(room, record, bytes);
                b->at += 1 + bytes / 8;
            }
        }
        if (s != HPCW_OK) {
            return s;
        }
    }
}

static hpcw_status merge_tree(hpcw_clog2 *file, hpcw_comm *comm, struct hpcw_i_clog2_stream *stream,
                              uint64_t *blocks, hpcw_error *err) {
    struct tree t = {.comm = comm, .stream = stream};
    hpcw_status s = HPCW_OK;
    for (int i = 0; i < 2; i++) {
        int child = 2 * comm->process + 1 + i;
        t.branch[i].from = child < comm->size ? child : -1;
    }
    if (comm->process == 0) {
        s = hpcw_clog2_slice_new(file, 0, &t.slice, err);
        s = s == HPCW_OK ? hpcw_clog2_slice_place(t.slice, 0, err) : s;
    } else {
        t.out = hpcw_i_malloc(TREE_WORDS * sizeof *t.out);
        s = t.out == NULL ? no_memory(err) : HPCW_OK;
    }
    if (s == HPCW_OK) {
        s = merge_branches(&t, err);
    }
    /* After a failure, too, children must get rid of their messages, and the parent waits for an end. */
    for (int i = 0; i < 2; i++) {
        hpcw_error ignored;
        while (t.branch[i].from >= 0 && refill(&t, &t.branch[i], &ignored) != HPCW_ECOMM) {
        }
    }
    if (t.slice != NULL) {
        s = s == HPCW_OK ? hpcw_clog2_slice_end(t.slice, HPCW_CLOG2_LAST, err) : s;
        *blocks = hpcw_clog2_slice_blocks(t.slice);
    } else if (comm->process != 0) {
        int parent = (comm->process - 1) / 2;
        if (s == HPCW_OK && t.used > 0) {
            s = talk(&t, comm->ops->send(comm, t.out, t.used, parent), err);
        }
        uint64_t nothing = 0;
        hpcw_status r = talk(&t, comm->ops->send(comm, &nothing, 0, parent), s == HPCW_OK ? err : NULL);
        s = s == HPCW_OK ? r : s;
    }
    hpcw_clog2_slice_free(t.slice);
    hpcw_i_free(t.branch[0].words);
    hpcw_i_free(t.branch[1].words);
    hpcw_i_free(t.out);
    return s;
}

hpcw_status hpcw_i_clog2_merge(hpcw_clog2 *file, hpcw_comm *comm, struct hpcw_i_clog2_stream *stream,
                               hpcw_clog2_merge how, struct hpcw_i_clog2_sample *sample, size_t samples,
                               uint64_t *blocks, hpcw_error *err) {
    *blocks = 0;
    if (comm->size == 1) {
        return hpcw_i_clog2_merge_alone(file, stream, blocks, err);
    }
    /* Two processes are quicker by the tree: half of the records are where they are written, the other half travels
     * while they are merged. */
    bool tree = how == HPCW_CLOG2_MERGE_TREE || (how == HPCW_CLOG2_MERGE_BEST && comm->size <= TREE_PROCESSES);
    return tree ? merge_tree(file, comm, stream, blocks, err)
                : merge_partitioned(file, comm, stream, sample, samples, blocks, err);
}
