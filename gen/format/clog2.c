/* SPDX-License-Identifier: BSD-3-Clause */
/* clog2/app.clog2: what MPE would have logged of the simulated application, merged. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <hpcw/clog2.h>

#include "gen/format/format.h"
#include "gen/format/trace_log.h"
#include "gen/report/report.h"
#include "gen/spec/pool.h"
#include "libreader/clog2/clog2.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/comm/exchange.h"

#define PATH "clog2/app.clog2"

/* When the first iteration begins, nanoseconds. */
enum { START_NS = 10000 };

/* Records of an iteration that are kept in memory until its turn has come, at most: 10 MB or so. */
enum { MOST_AHEAD = 4 * HPCW_CLOG2_SEGMENT };

/* Pieces besides one of each thread and the open one: how far making may be ahead of writing. */
enum { SPARE_PIECES = 2 };

/* Threads that make iterations: one writes what a few of them make, and each has its memory. */
enum { MOST_MAKERS = 8 };

static uint32_t makers(uint32_t jobs) {
    return jobs < MOST_MAKERS ? jobs : MOST_MAKERS;
}

/* The first place from a record on where a slice may begin. */
static uint64_t next_cut(uint64_t record) {
    return hpcw_i_align_up(record, HPCW_CLOG2_SEGMENT);
}

static hpcw_status limits(const struct gen_dataset *d, hpcw_error *err) {
    enum { MOST = 46340 }; /* with a communicator per rank, Java numbers lines up to 2^31 */
    return d->ranks >= 1 && d->ranks <= MOST
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_ERANGE,
                             "clog2: expected 1 to %u ranks (readers number lines in 31 bits), got %u", MOST,
                             d->ranks);
}

static uint64_t units(const struct gen_dataset *d) {
    (void)d;
    return 1;
}

static hpcw_status unit(const struct gen_dataset *d, uint64_t index, struct gen_unit *u, hpcw_error *err) {
    (void)index;
    (void)err;
    hpcw_clog2_options o = gen_trace_log_options(d);
    (void)snprintf(u->path, sizeof u->path, PATH);
    u->apparent = hpcw_clog2_file_size(gen_trace_log_blocks(d, o.block_size), o.block_size, o.comms);
    u->allocated = hpcw_i_align_up(u->apparent, 4096);
    return HPCW_OK;
}

static uint64_t memory(const struct gen_dataset *d, uint32_t jobs) {
    const struct model_trace *m = &d->trace;
    const uint64_t events = m->events + m->checkpoint_events;
    const uint64_t slice = 48 * (events < MOST_AHEAD ? events : MOST_AHEAD) + (4 << 20);
    return makers(jobs) * model_trace_scratch_size(m) + (makers(jobs) + 1 + SPARE_PIECES) * slice +
           21 * (uint64_t)d->ranks * m->directions + (16 << 20);
}

static double seconds(const struct gen_dataset *d) {
    return (double)gen_trace_log_records_before(d, d->trace.iterations) * 25e-9;
}

static bool owns(const char *path) {
    return strcmp(path, PATH) == 0;
}

/* ---- one process ---- */

/*
 * A process owns a range of iterations, and writes the records from the first cut behind the range's first one to the
 * first cut behind its end; so it makes the beginning of the next iteration, too.
 *
 * Threads make iterations at the same time, each with the slice that begins at the first cut in its iteration, in memory.
 * Then they take turns: who has it puts the records before that cut into the slice that the one before left open, and ends that.
 * Its blocks are written by one thread at a time, for those that write to one file at the same time wait for each other in the
 * kernel, and burn there the time in which they could make the next iteration: who finds another one writing leaves its slice
 * with that.
 */
struct clog2_piece {
    struct clog2_piece *next;
    hpcw_clog2_slice *slice;
    uint64_t block; /* its first one in the file, once it has ended */
    bool placed;
};

struct clog2_job {
    const struct gen_dataset *d;
    const struct gen_write *w;
    uint32_t first, last; /* own iterations first .. last - 1 */
    uint32_t made;        /* iterations first .. made - 1 are made */
    uint64_t begin, end;  /* own records */
    bool tells;           /* the pass whose progress is told, and what was injected remembered */
    hpcw_clog2 *log;
    struct clog2_piece *open; /* the one that comes next in the file; NULL: this process writes nothing */
    uint64_t next_block;      /* the first one of it */
    double next_time;         /* of the first record behind the end; HPCW_CLOG2_LAST: there is none */
    uint64_t own_ns;          /* of the own iterations together */
    struct hpcw_i_buf facts;  /* words, see remember */

    pthread_mutex_t lock;
    pthread_cond_t turn_came;
    uint32_t known;    /* guarded: the iteration whose start is known */
    uint64_t start_ns; /* guarded: that start */
    uint32_t turn;     /* guarded */
    bool failed;       /* guarded */

    uint32_t pieces;           /* guarded: how many there are */
    struct clog2_piece *idle;  /* guarded */
    struct clog2_piece *ended; /* guarded: in the order of the file */
    bool writing;              /* guarded: a thread writes them */
};

/* What a thread has of its own. */
struct clog2_maker {
    struct model_trace_scratch *scratch;
    struct clog2_piece *piece; /* for its iteration, if it needs one */
    struct gen_trace_log_out out;
};

/* Of each iteration: number, start, duration, compute_ns, slowest_ns, slowest_rank, interruptions and backward arrows
 * as counts, then two words an interruption, three an arrow. */
enum { FACT_WORDS = 8, NOISE_WORDS = 2, BACKWARD_WORDS = 3 };

static bool remember_words(struct clog2_job *job, const uint64_t *word, size_t count) {
    return hpcw_i_buf_append(&job->facts, word, count * sizeof *word);
}

static hpcw_status remember(struct clog2_job *job, const struct gen_trace_log_part *part, hpcw_error *err) {
    const struct model_trace_run *run = part->run;
    const struct model_trace_facts *f = &run->facts;
    const uint64_t word[FACT_WORDS] = {part->iteration, part->start_ns,  f->duration_ns, f->compute_ns,
                                       f->slowest_ns,   f->slowest_rank, run->noises,    run->backwards};
    bool ok = remember_words(job, word, FACT_WORDS);
    for (size_t i = 0; ok && i < run->noises; i++) {
        ok = remember_words(job, (const uint64_t[]){run->noise[i].rank, run->noise[i].length_ns}, NOISE_WORDS);
    }
    for (size_t i = 0; ok && i < run->backwards; i++) {
        const struct model_trace_backward *b = &run->backward[i];
        ok = remember_words(job, (const uint64_t[]){b->from, b->to, b->by_ns}, BACKWARD_WORDS);
    }
    return ok ? HPCW_OK : hpcw_i_fail(err, HPCW_ENOMEM, "clog2: out of memory for what was injected");
}

/* Waits for what another thread's iteration brings; false: there was a failure, and it never comes. */
static bool wait_for(struct clog2_job *job, const uint32_t *number, uint32_t wanted) {
    while (*number != wanted && !job->failed) {
        (void)pthread_cond_wait(&job->turn_came, &job->lock);
    }
    return !job->failed;
}

static void fail(struct clog2_job *job) {
    (void)pthread_mutex_lock(&job->lock);
    job->failed = true;
    (void)pthread_cond_broadcast(&job->turn_came);
    (void)pthread_mutex_unlock(&job->lock);
}

/* When an iteration begins: iterations are handed out in ascending order, so somebody works on the one before. */
static bool learn_start(struct clog2_job *job, uint32_t iteration, uint64_t duration_ns, uint64_t *start_ns) {
    (void)pthread_mutex_lock(&job->lock);
    bool goes_on = wait_for(job, &job->known, iteration);
    if (goes_on) {
        *start_ns = job->start_ns;
        job->start_ns += duration_ns;
        job->known++;
        (void)pthread_cond_broadcast(&job->turn_came);
    }
    (void)pthread_mutex_unlock(&job->lock);
    return goes_on;
}

/* Which records of an iteration this process writes, and where. */
static void divide_iteration(const struct clog2_job *job, struct gen_trace_log_part *part) {
    const uint64_t count = part->run->count;
    part->first = gen_trace_log_records_before(job->d, part->iteration);
    uint64_t begin = part->first > job->begin ? part->first : job->begin;
    uint64_t end = part->first + count < job->end ? part->first + count : job->end;
    end = end > begin ? end : begin;
    uint64_t cut = next_cut(begin);
    cut = cut < end ? cut : end;
    part->from = begin - part->first;
    part->to = end - part->first;
    part->cut = cut - part->first;
    part->ahead = part->to - part->cut > MOST_AHEAD ? part->cut + MOST_AHEAD : part->to;
}

/* ---- pieces ---- */

static void free_pieces(struct clog2_piece *piece) {
    while (piece != NULL) {
        struct clog2_piece *next = piece->next;
        hpcw_clog2_slice_free(piece->slice);
        hpcw_i_free(piece);
        piece = next;
    }
}

static hpcw_status new_piece(struct clog2_job *job, struct clog2_piece **out, hpcw_error *err) {
    struct clog2_piece *piece = hpcw_i_calloc(1, sizeof *piece);
    hpcw_status s = piece == NULL ? hpcw_i_fail(err, HPCW_ENOMEM, "clog2: out of memory for a slice")
                                  : hpcw_clog2_slice_new(job->log, 0, &piece->slice, err);
    if (s != HPCW_OK) {
        free_pieces(piece);
        piece = NULL;
    }
    *out = piece;
    return s;
}

/* A piece that begins at a record; waits until there is one. NULL without an error: there was a failure elsewhere. */
static hpcw_status take_piece(struct clog2_job *job, uint64_t first_record, struct clog2_piece **out,
                              hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    (void)pthread_mutex_lock(&job->lock);
    while (job->idle == NULL && job->pieces > makers(job->w->jobs) + SPARE_PIECES && !job->failed) {
        (void)pthread_cond_wait(&job->turn_came, &job->lock);
    }
    bool is_new = job->idle == NULL && !job->failed;
    struct clog2_piece *piece = job->failed ? NULL : job->idle;
    job->idle = piece == NULL ? job->idle : piece->next;
    job->pieces += is_new;
    (void)pthread_mutex_unlock(&job->lock);
    if (is_new) {
        s = new_piece(job, &piece, err);
    }
    if (s == HPCW_OK && piece != NULL) {
        piece->next = NULL;
        piece->placed = false;
        s = hpcw_clog2_slice_again(piece->slice, first_record, err);
    }
    *out = piece;
    return s;
}

/* Writes what has ended, this piece last, unless another thread is at it. */
static hpcw_status write_ended(struct clog2_job *job, struct clog2_piece *piece, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    (void)pthread_mutex_lock(&job->lock);
    struct clog2_piece **last = &job->ended;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = piece;
    bool writes = !job->writing;
    job->writing = true;
    while (writes && s == HPCW_OK && job->ended != NULL) {
        piece = job->ended;
        job->ended = piece->next;
        (void)pthread_mutex_unlock(&job->lock);
        s = piece->placed ? HPCW_OK : hpcw_clog2_slice_place(piece->slice, piece->block, err);
        (void)pthread_mutex_lock(&job->lock);
        piece->next = job->idle;
        job->idle = piece;
        (void)pthread_cond_broadcast(&job->turn_came);
    }
    job->writing = !writes;
    (void)pthread_mutex_unlock(&job->lock);
    return s;
}

/* ---- iterations ---- */

static hpcw_status put_ahead(struct clog2_job *job, struct clog2_maker *maker,
                             const struct gen_trace_log_part *part, hpcw_error *err) {
    if (part->cut == part->to) {
        return HPCW_OK;
    }
    hpcw_status s = take_piece(job, part->first + part->cut, &maker->piece, err);
    return s == HPCW_OK && maker->piece != NULL
               ? gen_trace_log_put_events(&maker->out, maker->piece->slice, job->d, part, part->cut,
                                          part->ahead, err)
               : s;
}

/* Makes the thread's piece the open one; *ended is the one before. */
static hpcw_status change_pieces(struct clog2_job *job, struct clog2_maker *maker,
                                 const struct gen_trace_log_part *part, struct clog2_piece **ended,
                                 hpcw_error *err) {
    struct clog2_piece *open = job->open;
    hpcw_status s = hpcw_clog2_slice_end(open->slice, gen_trace_log_time(part, part->cut), err);
    if (s != HPCW_OK) {
        return s;
    }
    open->block = job->next_block;
    job->next_block += hpcw_clog2_slice_blocks(open->slice);
    *ended = open;
    job->open = maker->piece;
    maker->piece = NULL;
    if (part->ahead < part->to) {
        /* Too much to be kept: it goes to the file as it is put. */
        job->open->placed = true;
        s = hpcw_clog2_slice_place(job->open->slice, job->next_block, err);
        s = s == HPCW_OK ? gen_trace_log_put_events(&maker->out, job->open->slice, job->d, part, part->ahead,
                                                    part->to, err)
                         : s;
    }
    return s;
}

static hpcw_status take_turn(struct clog2_job *job, struct clog2_maker *maker,
                             const struct gen_trace_log_part *part, struct clog2_piece **ended,
                             hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    if (job->open != NULL) {
        s = gen_trace_log_put_events(&maker->out, job->open->slice, job->d, part, part->from, part->cut, err);
    }
    if (s == HPCW_OK && part->cut < part->to) {
        s = change_pieces(job, maker, part, ended, err);
    }
    if (part->first <= job->end && job->end - part->first < part->run->count) {
        job->next_time = gen_trace_log_time(part, job->end - part->first);
    }
    if (part->iteration < job->last) {
        job->own_ns += part->run->facts.duration_ns;
        if (s == HPCW_OK && job->tells) {
            s = remember(job, part, err);
            job->w->progress(job->w->progress_context, part->run->count * 40);
        }
    }
    return s;
}

static hpcw_status make_iteration(void *context, void *state, uint64_t index, hpcw_error *err) {
    struct clog2_job *job = context;
    struct clog2_maker *maker = state;
    struct model_trace_run run;
    struct gen_trace_log_part part = {.run = &run, .iteration = (uint32_t)index};
    struct clog2_piece *ended = NULL;
    bool goes_on = false; /* not so after a failure of another thread, which reports it */
    hpcw_status s = model_trace_iteration(&job->d->trace, maker->scratch, part.iteration, &run, err);
    if (s == HPCW_OK && learn_start(job, part.iteration, run.facts.duration_ns, &part.start_ns)) {
        divide_iteration(job, &part);
        s = put_ahead(job, maker, &part, err);
        (void)pthread_mutex_lock(&job->lock);
        goes_on = s == HPCW_OK && wait_for(job, &job->turn, part.iteration);
        (void)pthread_mutex_unlock(&job->lock);
    }
    if (goes_on) {
        s = take_turn(job, maker, &part, &ended, err);
    }
    if (goes_on && s == HPCW_OK) {
        (void)pthread_mutex_lock(&job->lock);
        job->turn++;
        (void)pthread_cond_broadcast(&job->turn_came);
        (void)pthread_mutex_unlock(&job->lock);
    }
    if (ended != NULL) {
        hpcw_status written = write_ended(job, ended, s == HPCW_OK ? err : NULL);
        s = s == HPCW_OK ? written : s;
    }
    if (s != HPCW_OK) {
        fail(job);
    }
    return s;
}

static void free_maker(struct clog2_maker *maker) {
    if (maker != NULL) {
        model_trace_scratch_free(maker->scratch);
        free_pieces(maker->piece);
        hpcw_i_free(maker);
    }
}

static hpcw_status begin_thread(void *context, void **state, hpcw_error *err) {
    struct clog2_job *job = context;
    struct clog2_maker *maker = hpcw_i_calloc(1, sizeof *maker);
    hpcw_status s = maker == NULL ? hpcw_i_fail(err, HPCW_ENOMEM, "clog2: out of memory for a thread")
                                  : model_trace_scratch_new(&job->d->trace, &maker->scratch, err);
    if (s != HPCW_OK) {
        free_maker(maker);
        maker = NULL;
        fail(job);
    }
    *state = maker;
    return s;
}

static void end_thread(void *context, void *state) {
    (void)context;
    free_maker(state);
}

/* The records before the first iteration. */
static hpcw_status put_first(const struct clog2_job *job, hpcw_error *err) {
    struct gen_trace_log_out *o = hpcw_i_calloc(1, sizeof *o);
    if (o == NULL) {
        return hpcw_i_fail(err, HPCW_ENOMEM, "clog2: out of memory");
    }
    o->slice = job->open->slice;
    o->begin = job->begin;
    o->end = job->end;
    hpcw_status s = gen_trace_log_put_prologue(o, job->d, err);
    hpcw_i_free(o);
    return s;
}

/* All records of this process into a log of its own or the real one, from a block on; *blocks is how many there were. */
static hpcw_status pass(struct clog2_job *job, hpcw_clog2 *log, uint64_t first_block, uint64_t start_ns,
                        uint64_t *blocks, hpcw_error *err) {
    job->log = log;
    job->open = job->ended = job->idle = NULL;
    job->pieces = 0;
    job->writing = false;
    job->next_block = first_block;
    job->next_time = HPCW_CLOG2_LAST;
    job->start_ns = start_ns;
    job->own_ns = 0;
    job->known = job->turn = job->first;
    job->failed = false;
    hpcw_status s = HPCW_OK;
    if (job->begin < job->end) {
        s = take_piece(job, job->begin, &job->open, err);
        if (s == HPCW_OK && job->first == 0) {
            s = put_first(job, err);
        }
    }
    if (s == HPCW_OK) {
        const struct gen_pool_work work = {
            .context = job, .begin = begin_thread, .step = make_iteration, .end = end_thread};
        s = gen_pool_run(makers(job->w->jobs), job->first, job->made - job->first, 1, &work, err);
    }
    if (s == HPCW_OK && job->open != NULL) {
        s = hpcw_clog2_slice_end(job->open->slice, job->next_time, err);
        job->open->block = job->next_block;
        job->next_block += hpcw_clog2_slice_blocks(job->open->slice);
        s = s == HPCW_OK ? write_ended(job, job->open, err) : s;
        job->open = NULL;
    }
    *blocks = job->next_block - first_block;
    free_pieces(job->open);
    free_pieces(job->ended);
    free_pieces(job->idle);
    return s;
}

static void divide(struct clog2_job *job) {
    const struct gen_dataset *d = job->d;
    const uint32_t all = d->trace.iterations;
    const int size = hpcw_comm_size(job->w->comm);
    const int process = hpcw_comm_process(job->w->comm);
    const uint64_t total = gen_trace_log_records_before(d, all);
    gen_share(0, all, size, process, &job->first, &job->last);
    bool ends = process == size - 1;
    job->begin = job->first == 0 ? 0 : next_cut(gen_trace_log_records_before(d, job->first));
    job->end = ends ? total : next_cut(gen_trace_log_records_before(d, job->last));
    /* Process 0 may own no iteration; the prologue is its own all the same. */
    job->begin = process == 0 ? 0 : job->first == 0 ? job->end : job->begin;
    job->begin = job->begin < total ? job->begin : total;
    job->end = job->end < total ? job->end : total;
    job->made = job->last;
    if (job->begin < job->end) {
        while (job->made < all && gen_trace_log_records_before(d, job->made) <= job->end) {
            job->made++;
        }
    }
}

static hpcw_status open_null(void *context, const char *path, uint64_t tag, hpcw_sink **out, hpcw_error *err) {
    (void)context;
    (void)path;
    (void)tag;
    return hpcw_sink_open_null(out, err);
}

/* Counts this process's blocks and nanoseconds without writing any. */
static hpcw_status count(struct clog2_job *job, uint64_t *blocks, hpcw_error *err) {
    hpcw_clog2_options o = gen_trace_log_options(job->d);
    hpcw_clog2 *log;
    o.sink_source.open = open_null;
    hpcw_status s = hpcw_clog2_open(PATH, NULL, &o, &log, err);
    if (s == HPCW_OK) {
        s = pass(job, log, 0, START_NS, blocks, err);
        hpcw_clog2_free(log);
    }
    return s;
}

/* ---- partials and truth ---- */

/* One iteration, in partial results as in truth.json. */
static const char *const fact_name[FACT_WORDS - 2] = {"iteration",  "start_ns",   "duration_ns",
                                                      "compute_ns", "slowest_ns", "slowest_rank"};

static void put_list(struct hpcw_i_json *json, const char *key, const char *const *name, size_t names,
                     const uint64_t *word, uint64_t count) {
    hpcw_i_json_key(json, key);
    hpcw_i_json_begin_array(json);
    for (uint64_t i = 0; i < count; i++) {
        hpcw_i_json_flat(json);
        hpcw_i_json_begin_object(json);
        for (size_t k = 0; k < names; k++) {
            hpcw_i_json_put_u64(json, name[k], word[i * names + k]);
        }
        hpcw_i_json_end_object(json);
    }
    hpcw_i_json_end_array(json);
}

static hpcw_status put_facts(void *context, const uint64_t *word, size_t words, hpcw_error *err) {
    static const char *const noise_name[NOISE_WORDS] = {"rank", "length_ns"};
    static const char *const backward_name[BACKWARD_WORDS] = {"from", "to", "by_ns"};
    struct hpcw_i_json *json = context;
    (void)err;
    for (size_t i = 0; i + FACT_WORDS <= words;) {
        const uint64_t *w = word + i;
        hpcw_i_json_begin_object(json);
        for (size_t k = 0; k < FACT_WORDS - 2; k++) {
            hpcw_i_json_put_u64(json, fact_name[k], w[k]);
        }
        put_list(json, "interruptions", noise_name, NOISE_WORDS, w + FACT_WORDS, w[FACT_WORDS - 2]);
        put_list(json, "backward_arrows", backward_name, BACKWARD_WORDS,
                 w + FACT_WORDS + NOISE_WORDS * w[FACT_WORDS - 2], w[FACT_WORDS - 1]);
        hpcw_i_json_end_object(json);
        i += FACT_WORDS + NOISE_WORDS * w[FACT_WORDS - 2] + BACKWARD_WORDS * w[FACT_WORDS - 1];
    }
    return HPCW_OK;
}

/* Brings together what all processes injected, in the order of the iterations. */
static hpcw_status collect(const struct clog2_job *job, struct hpcw_i_json *partial, hpcw_error *err) {
    if (partial != NULL) {
        hpcw_i_json_key(partial, "iterations");
        hpcw_i_json_begin_array(partial);
    }
    hpcw_status s = hpcw_i_comm_collect(job->w->comm, 0, (const uint64_t *)(const void *)job->facts.data,
                                        job->facts.size / sizeof(uint64_t), put_facts, partial, err);
    if (partial != NULL) {
        hpcw_i_json_end_array(partial);
    }
    return s;
}

static void copy_list(struct hpcw_i_json *json, const char *key, const cJSON *list) {
    hpcw_i_json_key(json, key);
    hpcw_i_json_begin_array(json);
    const cJSON *one;
    const cJSON *member;
    cJSON_ArrayForEach(one, list) {
        hpcw_i_json_flat(json);
        hpcw_i_json_begin_object(json);
        cJSON_ArrayForEach(member, one) {
            uint64_t value = 0;
            (void)gen_partial_u64(one, member->string, &value, NULL);
            hpcw_i_json_put_u64(json, member->string, value);
        }
        hpcw_i_json_end_object(json);
    }
    hpcw_i_json_end_array(json);
}

static hpcw_status truth(const struct gen_dataset *d, const cJSON *const *partial, size_t count,
                         struct hpcw_i_json *json, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    uint32_t found = 0;
    hpcw_i_json_key(json, "iterations");
    hpcw_i_json_begin_array(json);
    for (size_t i = 0; i < count; i++) {
        const cJSON *item;
        cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(partial[i], "iterations")) {
            hpcw_i_json_begin_object(json);
            for (size_t k = 0; s == HPCW_OK && k < FACT_WORDS - 2; k++) {
                uint64_t value = 0;
                s = gen_partial_u64(item, fact_name[k], &value, err);
                hpcw_i_json_put_u64(json, fact_name[k], value);
            }
            copy_list(json, "interruptions", cJSON_GetObjectItemCaseSensitive(item, "interruptions"));
            copy_list(json, "backward_arrows", cJSON_GetObjectItemCaseSensitive(item, "backward_arrows"));
            hpcw_i_json_end_object(json);
            found++;
        }
    }
    hpcw_i_json_end_array(json);
    if (s == HPCW_OK && found != d->trace.iterations) {
        s = hpcw_i_fail(err, HPCW_EFORMAT, "partial result: iterations: expected %u of them, got %u",
                        d->trace.iterations, found);
    }
    return s;
}

static hpcw_status complete(const struct gen_write *w, const cJSON *const *partial, size_t count,
                            uint64_t *changed, hpcw_error *err) {
    (void)w;
    (void)partial;
    (void)count;
    (void)err;
    *changed = 0;
    return HPCW_OK;
}

/* ---- writing ---- */

/* Where this process's blocks and iterations begin; needs a first pass if there are others. */
static hpcw_status place(struct clog2_job *job, uint64_t *first_block, uint64_t *start_ns, hpcw_error *err) {
    *first_block = 0;
    *start_ns = START_NS;
    if (hpcw_comm_size(job->w->comm) == 1) {
        return HPCW_OK;
    }
    uint64_t word[2] = {0};
    hpcw_status s = count(job, &word[0], err);
    word[1] = job->own_ns;
    s = hpcw_i_agree(job->w->comm, s, NULL, err);
    struct hpcw_i_words words = {.sums = 2, .word = word};
    s = s == HPCW_OK ? hpcw_i_comm_exscan(job->w->comm, &words, err) : s;
    if (s == HPCW_OK) {
        *first_block = word[0];
        *start_ns += word[1];
    }
    return s;
}

static hpcw_status write_log(struct clog2_job *job, hpcw_error *err) {
    const struct gen_write *w = job->w;
    char path[4096 + GEN_UNIT_PATH];
    uint64_t first_block;
    uint64_t start_ns;
    hpcw_clog2 *log;
    hpcw_status s = place(job, &first_block, &start_ns, err);
    if (s != HPCW_OK) {
        return s;
    }
    hpcw_clog2_options o = gen_trace_log_options(job->d);
    o.durability = w->durability;
    (void)snprintf(path, sizeof path, "%s/" PATH, w->directory);
    s = hpcw_clog2_open(path, w->comm, &o, &log, err);
    if (s != HPCW_OK) {
        return s;
    }
    uint64_t blocks;
    job->tells = true;
    s = pass(job, log, first_block, start_ns, &blocks, err);
    if (s != HPCW_OK) {
        hpcw_clog2_abandon(log, err);
    }
    s = hpcw_clog2_close(log, blocks, err);
    hpcw_clog2_free(log);
    return s;
}

static hpcw_status write_units(const struct gen_write *w, struct hpcw_i_json *partial, hpcw_error *err) {
    struct clog2_job *job = hpcw_i_calloc(1, sizeof *job);
    hpcw_status s = job == NULL ? hpcw_i_fail(err, HPCW_ENOMEM, "clog2: out of memory") : HPCW_OK;
    s = hpcw_i_agree(w->comm, s, NULL, err);
    if (s == HPCW_OK) {
        job->d = w->dataset;
        job->w = w;
        (void)pthread_mutex_init(&job->lock, NULL);
        (void)pthread_cond_init(&job->turn_came, NULL);
        divide(job);
        s = write_log(job, err);
        s = s == HPCW_OK ? collect(job, partial, err) : s;
        (void)pthread_cond_destroy(&job->turn_came);
        (void)pthread_mutex_destroy(&job->lock);
        hpcw_i_buf_free(&job->facts);
    }
    hpcw_i_free(job);
    return s;
}

/* ---- reading ---- */

static hpcw_status verify(const char *path, bool ours, uint64_t *files, hpcw_error *err) {
    *files = 1;
    struct read_clog2 *reader;
    hpcw_status s = read_clog2_open(path, &reader, err);
    if (s == HPCW_OK) {
        /* Whether clocks were meant to differ is not to be seen in the log. */
        s = read_clog2_verify(reader, ours ? READ_CLOG2_STRICT | READ_CLOG2_ANY_CLOCK : 0, err);
        read_clog2_free(reader);
    }
    return s;
}

static hpcw_status info(const char *path, struct hpcw_i_json *json, hpcw_error *err) {
    struct read_clog2 *reader;
    hpcw_status s = read_clog2_open(path, &reader, err);
    if (s == HPCW_OK) {
        s = read_clog2_report(reader, json, err);
        read_clog2_free(reader);
    }
    return s;
}

const struct gen_format gen_format_clog2 = {
    .name = "clog2",
    .version = "CLOG-02.44",
    .help = "event log of the simulated application as MPE merges it, for Jumpshot",
    .limits = limits,
    .units = units,
    .unit = unit,
    .memory = memory,
    .seconds = seconds,
    .owns = owns,
    .write = write_units,
    .complete = complete,
    .truth = truth,
    .probe = read_clog2_probe,
    .verify = verify,
    .info = info,
    .report = gen_report_clog2,
};
