/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the log in parallel: processes share the iterations, and so do the threads of each. */
#include <pthread.h>
#include <stdio.h>

#include "gen/format/clog2.h"
#include "gen/spec/pool.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"

/* The most records of an iteration that stay in memory until its turn: about 10 MB. */
enum { MOST_AHEAD = 4 * HPCW_CLOG2_SEGMENT };

/* Pieces besides the open one and one for each thread: how far making may be ahead of writing. */
enum { SPARE_PIECES = 2 };

/* One thread writes what a few others make, and each needs its own memory. */
enum { MOST_MAKERS = 8 };

static uint32_t makers(uint32_t jobs) {
    return jobs < MOST_MAKERS ? jobs : MOST_MAKERS;
}

/* The first record from `record` on at which a slice may begin. */
static uint64_t next_cut(uint64_t record) {
    return hpcw_i_align_up(record, HPCW_CLOG2_SEGMENT);
}

uint64_t gen_clog2_write_memory(const struct gen_dataset *d, uint32_t jobs) {
    const struct model_trace *m = &d->trace;
    const uint64_t events = m->estimate.most_events;
    const uint64_t slice = 48 * (events < MOST_AHEAD ? events : MOST_AHEAD) + (4 << 20);
    return makers(jobs) * model_trace_scratch_size(m) + (makers(jobs) + 1 + SPARE_PIECES) * slice +
           model_trace_size(m) + (16 << 20);
}

/*
 * A process owns a range of iterations. It writes the records from the first cut in its range to the first cut after it,
 * so it also makes the beginning of the next iteration.
 *
 * Threads make iterations at the same time, each into a piece of the log in memory that begins at the first cut in the
 * iteration. Then they take turns in the order of the iterations: a thread puts the records before that cut into the
 * piece that the iteration before left open, ends that piece, and leaves its own open.
 *
 * Only one thread writes pieces that have ended. If several write to one file at the same time, they wait for each other
 * in the kernel and spend there the time in which they could make the next iteration. So a thread that finds another one
 * writing leaves its piece to it.
 */
struct clog2_piece {
    struct clog2_piece *next;
    hpcw_clog2_slice *slice;
    uint64_t block; /* its first block in the file, once it has ended */
    bool placed;    /* its records go to the file while they are put */
};

struct clog2_job {
    const struct gen_dataset *d;
    const struct gen_write *w;
    uint32_t first, last;  /* own iterations first .. last - 1 */
    uint32_t made;         /* iterations first .. made - 1 are made */
    uint64_t begin, end;   /* own records; end is UINT64_MAX if there is no next process */
    uint64_t first_record; /* of the first own iteration */
    bool writes;           /* the pass that writes; the pass before it only counts */
    hpcw_clog2 *log;
    struct clog2_piece *open; /* the next one in the file; NULL: this process writes nothing */
    uint64_t next_block;      /* the first block of it */
    double next_time;         /* of the first record after the end; HPCW_CLOG2_LAST: there is none */
    uint64_t own_ns;          /* all own iterations */
    struct hpcw_i_buf facts;  /* see gen_clog2_remember */

    pthread_mutex_t lock;
    pthread_cond_t turn_came;
    uint32_t known;    /* guarded: the iteration whose start is known */
    uint64_t start_ns; /* guarded: that start */
    uint64_t record;   /* guarded: its first record */
    uint32_t turn;     /* guarded */
    bool failed;       /* guarded */

    uint32_t pieces;           /* guarded: how many exist */
    struct clog2_piece *idle;  /* guarded */
    struct clog2_piece *ended; /* guarded: in the order of the file */
    bool writing;              /* guarded: a thread writes them */
};

/* What a thread has of its own. */
struct clog2_maker {
    struct model_trace_scratch *scratch;
    struct clog2_piece *piece; /* for its iteration, if that has a cut */
    struct gen_trace_log_out out;
};

/* Waits until *number is that of the iteration; false after a failure of another thread. */
static bool wait_for(struct clog2_job *job, const uint32_t *number, uint32_t iteration) {
    while (*number != iteration && !job->failed) {
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

/* When and with which record an iteration begins. The pool hands out iterations in ascending order, so a thread works on the
 * one before. */
static bool find_iteration_start(struct clog2_job *job, struct gen_trace_log_part *part) {
    (void)pthread_mutex_lock(&job->lock);
    bool goes_on = wait_for(job, &job->known, part->iteration);
    if (goes_on) {
        part->start_ns = job->start_ns;
        part->first = job->record;
        job->start_ns += part->run->facts.duration_ns;
        job->record += part->run->count;
        job->known++;
        (void)pthread_cond_broadcast(&job->turn_came);
    }
    (void)pthread_mutex_unlock(&job->lock);
    return goes_on;
}

/* Which records of an iteration this process writes, and into which slices. */
static void divide_iteration(const struct clog2_job *job, struct gen_trace_log_part *part) {
    const uint64_t count = part->run->count;
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
    hpcw_status s = piece == NULL ? hpcw_i_fail_memory(err, "clog2", 0, "a slice")
                                  : hpcw_clog2_slice_new(job->log, 0, &piece->slice, err);
    if (s != HPCW_OK) {
        free_pieces(piece);
        piece = NULL;
    }
    *out = piece;
    return s;
}

/* Waits for an idle piece, which then begins at a record. NULL without an error after a failure of another thread. */
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

/* Adds a piece to those that have ended, and writes them unless another thread does. */
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
        /* Too much to keep in memory. */
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
        if (s == HPCW_OK && job->writes) {
            s = gen_clog2_remember(&job->facts, part, err);
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
    bool goes_on = false; /* stays so after a failure of another thread, which reports it */
    hpcw_status s = model_trace_iteration(&job->d->trace, maker->scratch, part.iteration, &run, err);
    if (s == HPCW_OK && find_iteration_start(job, &part)) {
        divide_iteration(job, &part);
        s = model_trace_order(&job->d->trace, maker->scratch, part.start_ns, &run, err);
        s = s == HPCW_OK ? put_ahead(job, maker, &part, err) : s;
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

static hpcw_status begin_thread(void *context, void *state, hpcw_error *err) {
    struct clog2_job *job = context;
    struct clog2_maker *maker = state;
    hpcw_status s = model_trace_scratch_new(&job->d->trace, &maker->scratch, err);
    if (s != HPCW_OK) {
        fail(job);
    }
    return s;
}

static void end_thread(void *context, void *state) {
    struct clog2_maker *maker = state;
    (void)context;
    model_trace_scratch_free(maker->scratch);
    free_pieces(maker->piece);
}

/* Puts the records before the first iteration. */
static hpcw_status put_first(const struct clog2_job *job, hpcw_error *err) {
    struct gen_trace_log_out *o = hpcw_i_calloc(1, sizeof *o);
    if (o == NULL) {
        return hpcw_i_fail_memory(err, "clog2", 0, NULL);
    }
    o->slice = job->open->slice;
    o->begin = job->begin;
    o->end = job->end;
    hpcw_status s = gen_trace_log_put_prologue(o, job->d, err);
    hpcw_i_free(o);
    return s;
}

/* Puts all records of this process into a log, from a block on; *blocks is their number of blocks. */
static hpcw_status pass(struct clog2_job *job, hpcw_clog2 *log, uint64_t first_block, uint64_t start_ns,
                        uint64_t *blocks, hpcw_error *err) {
    job->log = log;
    job->open = job->ended = job->idle = NULL;
    job->pieces = 0;
    job->writing = false;
    job->next_block = first_block;
    job->next_time = HPCW_CLOG2_LAST;
    job->start_ns = start_ns;
    job->record = job->first_record;
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
        const struct gen_pool_work work = {.name = "clog2",
                                           .context = job,
                                           .state_size = sizeof(struct clog2_maker),
                                           .begin = begin_thread,
                                           .step = make_iteration,
                                           .end = end_thread};
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
    if (s != HPCW_OK) {
        /* Before the slices are freed, which is a failure of its own if they have not ended. */
        hpcw_clog2_abandon(log, err);
    }
    free_pieces(job->open);
    free_pieces(job->ended);
    free_pieces(job->idle);
    return s;
}

/* Counts the records of iterations from `first` on: of all before `last`, and then, unless `enough` is 0, of as many as it takes
 * for *record to pass it. *made is the iteration after them. */
static hpcw_status count_records(const struct clog2_job *job, uint32_t first, uint32_t last, uint64_t enough,
                                 uint64_t *record, uint32_t *made, hpcw_error *err) {
    const struct model_trace *m = &job->d->trace;
    struct model_trace_scratch *scratch;
    hpcw_status s = model_trace_scratch_new(m, &scratch, err);
    uint32_t k = first;
    for (; s == HPCW_OK && k < m->iterations && (k < last || (enough > 0 && *record <= enough)); k++) {
        uint64_t events;
        s = model_trace_count(m, scratch, k, &events, err);
        *record += events;
    }
    model_trace_scratch_free(scratch);
    *made = k;
    return s;
}

/* Collective. Processes need to know how many records come before theirs. */
static hpcw_status divide(struct clog2_job *job, hpcw_error *err) {
    const struct gen_dataset *d = job->d;
    const uint32_t all = d->trace.iterations;
    const int process = hpcw_comm_process(job->w->comm);
    const struct gen_slice own = gen_share(job->w->comm, 0, all);
    job->first = (uint32_t)own.begin;
    job->last = job->made = (uint32_t)own.end;
    job->first_record = gen_trace_log_prologue(d);
    job->begin = 0;
    job->end = UINT64_MAX;
    if (hpcw_comm_size(job->w->comm) == 1) {
        return HPCW_OK;
    }
    uint64_t own_records = 0;
    hpcw_status s = count_records(job, job->first, job->last, 0, &own_records, &job->made, err);
    uint64_t before = own_records;
    uint64_t total = own_records;
    struct hpcw_i_words words = {.sums = 1, .word = &total};
    s = hpcw_i_agree(job->w->comm, s, &words, err);
    words.word = &before;
    s = s == HPCW_OK ? hpcw_i_comm_exscan(job->w->comm, &words, err) : s;
    if (s != HPCW_OK) {
        return s;
    }
    total += job->first_record;
    job->first_record += before;
    uint64_t after = job->first_record + own_records; /* the first record of the next process */
    /* Process 0 owns the prologue even if it owns no iteration. */
    job->begin = process == 0 ? 0 : next_cut(job->first_record);
    job->end = process == hpcw_comm_size(job->w->comm) - 1 ? total : next_cut(after);
    job->begin = job->begin < total ? job->begin : total;
    job->end = job->end < total ? job->end : total;
    job->made = job->last;
    if (job->begin < job->end) {
        s = count_records(job, job->last, job->last, job->end, &after, &job->made, err);
    }
    return hpcw_i_agree(job->w->comm, s, NULL, err);
}

static hpcw_status open_null(void *context, const char *path, uint64_t tag, bool creates, hpcw_sink **out,
                             hpcw_error *err) {
    (void)context;
    (void)path;
    (void)tag;
    (void)creates;
    return hpcw_sink_open_null(out, err);
}

/* Counts the blocks and nanoseconds of this process, and writes nothing. */
static hpcw_status count(struct clog2_job *job, uint64_t *blocks, hpcw_error *err) {
    hpcw_clog2_options o = gen_trace_log_options(job->d);
    hpcw_clog2 *log;
    o.sink_source.open = open_null;
    hpcw_status s = hpcw_clog2_open(GEN_CLOG2_PATH, NULL, &o, &log, err);
    if (s == HPCW_OK) {
        s = pass(job, log, 0, MODEL_TRACE_START_NS, blocks, err);
        hpcw_clog2_free(log);
    }
    return s;
}

/* ---- the file ---- */

/* Where the blocks and iterations of this process begin. With several processes this takes a pass that counts. */
static hpcw_status find_start(struct clog2_job *job, uint64_t *first_block, uint64_t *start_ns,
                              hpcw_error *err) {
    *first_block = 0;
    *start_ns = MODEL_TRACE_START_NS;
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
    hpcw_status s = find_start(job, &first_block, &start_ns, err);
    if (s != HPCW_OK) {
        return s;
    }
    hpcw_clog2_options o = gen_trace_log_options(job->d);
    o.durability = w->durability;
    o.sink_source = w->outputs;
    (void)snprintf(path, sizeof path, "%s/" GEN_CLOG2_PATH, w->directory);
    s = hpcw_clog2_open(path, w->comm, &o, &log, err);
    if (s != HPCW_OK) {
        return s;
    }
    uint64_t blocks;
    job->writes = true;
    (void)pass(job, log, first_block, start_ns, &blocks, err);
    s = hpcw_clog2_close(log, blocks, err); /* of an abandoned log: why it was */
    hpcw_clog2_free(log);
    return s;
}

hpcw_status gen_clog2_write(const struct gen_write *w, struct hpcw_i_json *partial, hpcw_error *err) {
    struct clog2_job *job = hpcw_i_calloc(1, sizeof *job);
    hpcw_status s = job == NULL ? hpcw_i_fail_memory(err, "clog2", 0, NULL) : HPCW_OK;
    s = hpcw_i_agree(w->comm, s, NULL, err);
    if (s == HPCW_OK) {
        job->d = w->dataset;
        job->w = w;
        (void)pthread_mutex_init(&job->lock, NULL);
        (void)pthread_cond_init(&job->turn_came, NULL);
        s = divide(job, err);
        s = s == HPCW_OK ? write_log(job, err) : s;
        s = s == HPCW_OK ? gen_clog2_collect(w->comm, &job->facts, partial, err) : s;
        (void)pthread_cond_destroy(&job->turn_came);
        (void)pthread_mutex_destroy(&job->lock);
        hpcw_i_buf_free(&job->facts);
    }
    hpcw_i_free(job);
    return s;
}
