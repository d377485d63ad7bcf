/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes one file with any of the library's writers, or reports its content, for crash.py.
 *
 *    writers WHAT PATH CONTENT [KEY=VALUE]...    writes CONTENT, any word
 *    writers WHAT PATH -       [KEY=VALUE]...    reads: prints the word that all tasks have
 *
 * WHAT is sion, linktest, vom, clog2, log or rank2file. Every byte depends on the first letter of the word and the
 * task, so a reader knows which content it has: one of the words of `words`, or "mixture" if tasks differ. If
 * nothing complete exists, a reader exits with status 1 and says why. The bytes do not depend on the number of
 * processes.
 *
 *    tasks=N    number of tasks; default 4
 *    files=N    physical files of a set; default 1
 *    sync=none, file or directory
 *    end=open   ends without a close
 *    br=1       compresses load data
 *    local=DIR  directory for the local files of a recording
 *    layout=NAME, id=N, replace=1  for rank2file; PATH is the prefix, the dataset is ckpt.ID */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hpcw/hpcw.h>
#ifdef WITH_MPI
#include <hpcw/mpi.h>
#endif

enum { MOST_TASKS = 64, MOST_BYTES = 65536, STATES = 50 /* states that each process records */ };
static const char *const words[] = {"old", "new", "third"};
enum { WORDS = sizeof words / sizeof *words, NO_WORD = WORDS, MIXTURE };

struct job {
    const char *path, *word, *layout, *local;
    uint32_t tasks, files, id;
    hpcw_durability sync;
    bool ends_open, compressed, replace;
    hpcw_comm *comm;
    uint32_t first, count; /* range of tasks of this process */
};

/* ---- content ---- */

static unsigned char byte_of(const char *word, uint32_t task, size_t i) {
    return (unsigned char)((unsigned char)word[0] * 7 + task * 31 + i * 13 + i / 251);
}

static size_t size_of(const char *word, uint32_t task) {
    return 900 * (task % 4 + 1) + (unsigned char)word[0];
}

static uint64_t time_of(const char *word, uint32_t task, uint32_t step) {
    return (uint64_t)(unsigned char)word[0] * 1000000 + task * 1000 + step + 1;
}

static size_t fill(const char *word, uint32_t task, unsigned char *data) {
    size_t size = size_of(word, task);
    for (size_t i = 0; i < size; i++)
        data[i] = byte_of(word, task, i);
    return size;
}

/* Returns the word that these bytes are from, or NO_WORD. */
static int word_of(uint32_t task, const unsigned char *data, size_t size) {
    static unsigned char want[MOST_BYTES];
    for (int w = 0; w < WORDS; w++)
        if (fill(words[w], task, want) == size && memcmp(want, data, size) == 0)
            return w;
    return NO_WORD;
}

/* Combines the word of a task with those of the tasks so far. `all` starts as -1. */
static void meet(int *all, int word) {
    *all = *all == -1 || *all == word ? word : MIXTURE;
}

static hpcw_status say(int all, hpcw_error *err) {
    if (all >= 0 && all < WORDS) {
        puts(words[all]);
        return HPCW_OK;
    }
    snprintf(err->message, sizeof err->message, all == MIXTURE ? "mixture" : "foreign bytes");
    return HPCW_EFORMAT;
}

/* ---- SION ---- */

static hpcw_status sion_write(const struct job *job, hpcw_error *err) {
    static unsigned char data[MOST_BYTES];
    hpcw_sion_options options;
    hpcw_sion *sion;
    hpcw_sion_options_init(&options);
    options.count = job->count;
    options.files = job->files;
    options.chunk_size = 1024;
    options.fs_block_size = 512;
    options.content = HPCW_SION_STREAM;
    options.durability = job->sync;
    hpcw_status status = hpcw_sion_open(job->path, job->comm, &options, &sion, err);
    for (uint32_t i = 0; status == HPCW_OK && i < job->count; i++) {
        uint32_t task = hpcw_sion_first_rank(sion) + i;
        hpcw_error local;
        if (hpcw_sion_write(sion, task, data, fill(job->word, task, data), &local) != HPCW_OK)
            hpcw_sion_abandon(sion, &local);
    }
    if (status == HPCW_OK && !job->ends_open)
        status = hpcw_sion_close(sion, err);
    hpcw_sion_free(sion);
    return status;
}

static hpcw_status sion_read(const struct job *job, hpcw_error *err) {
    static unsigned char data[MOST_BYTES];
    hpcw_sion_reader *reader;
    int all = -1;
    hpcw_status status = hpcw_sion_reader_open(job->path, NULL, 0, NULL, &reader, err);
    for (uint32_t i = 0; status == HPCW_OK && i < hpcw_sion_reader_count(reader); i++) {
        uint32_t task = hpcw_sion_reader_task(reader, i)->rank;
        size_t got = 0;
        status = hpcw_sion_reader_read(reader, task, data, sizeof data, &got, err);
        if (status == HPCW_OK)
            meet(&all, word_of(task, data, got));
    }
    hpcw_sion_reader_free(reader);
    return status == HPCW_OK ? say(all, err) : status;
}

/* ---- LinkTest ---- */

static hpcw_status linktest_write(const struct job *job, hpcw_error *err) {
    uint64_t time_ps[MOST_TASKS];
    hpcw_linktest_params params;
    hpcw_linktest *result;
    hpcw_linktest_params_init(&params);
    params.tasks = job->tasks;
    params.count = job->count;
    params.files = job->files;
    params.fs_block_size = 512;
    params.retests = 2;
    params.durability = job->sync;
    hpcw_status status = hpcw_linktest_open(job->path, job->comm, &params, &result, err);
    if (status != HPCW_OK)
        return status;
    for (uint32_t i = 0; i < job->count; i++) {
        uint32_t task = hpcw_linktest_first_rank(result) + i;
        hpcw_error local;
        for (uint32_t step = 0; step < hpcw_linktest_steps(&params); step++)
            time_ps[step] = time_of(job->word, task, step);
        hpcw_status is = hpcw_linktest_task(result, task, "node1", (int32_t)task, &local);
        if (is == HPCW_OK)
            is = hpcw_linktest_timings(result, task, time_ps, NULL, 0, &local);
        if (is != HPCW_OK)
            hpcw_linktest_abandon(result, &local);
    }
    if (!job->ends_open) {
        status =
            hpcw_linktest_end_permutation(result, "2024-05-01T10:00:00Z", "2024-05-01T10:00:01Z", NULL, err);
        if (status == HPCW_OK)
            status = hpcw_linktest_close(result, err);
    }
    hpcw_linktest_free(result);
    return status;
}

static hpcw_status linktest_read(const struct job *job, hpcw_error *err) {
    double time_s[MOST_TASKS];
    uint32_t partner[MOST_TASKS];
    hpcw_linktest_reader *reader;
    int all = -1;
    hpcw_status status = hpcw_linktest_reader_open(job->path, &reader, err);
    for (uint32_t task = 0; status == HPCW_OK && task < hpcw_linktest_reader_info(reader)->tasks; task++) {
        status = hpcw_linktest_reader_row(reader, task, 0, time_s, partner, NULL, err);
        for (uint32_t step = 0; status == HPCW_OK && step < hpcw_linktest_reader_info(reader)->steps; step++) {
            int word = NO_WORD;
            for (int w = 0; w < WORDS; w++)
                word = llround(time_s[step] * 1e12) == (long long)time_of(words[w], task, step) ? w : word;
            meet(&all, word);
        }
    }
    hpcw_linktest_reader_free(reader);
    return status == HPCW_OK ? say(all, err) : status;
}

/* ---- load data: each rank's file is complete or not; PATH is a directory ---- */

static void vom_name(const struct job *job, uint32_t rank, char name[4096]) {
    snprintf(name, 4096, "%s/data.%" PRIu32 ".json%s", job->path, rank, job->compressed ? ".br" : "");
}

static hpcw_status vom_write_rank(const struct job *job, uint32_t rank, hpcw_vom **out, hpcw_error *err) {
    char name[4096];
    hpcw_vom_options options;
    hpcw_vom_options_init(&options);
    options.rank = rank;
    options.ranks = job->tasks;
    options.durability = job->sync;
    vom_name(job, rank, name);
    hpcw_status status = hpcw_vom_open(name, &options, out, err);
    for (uint64_t phase = 0; status == HPCW_OK && phase < 3; phase++) {
        status = hpcw_vom_begin_phase(*out, phase, err);
        for (uint64_t i = 0; status == HPCW_OK && i < 20; i++) {
            uint64_t index = rank * 20 + i;
            hpcw_vom_task task = {
                .entity = hpcw_vom_element(rank, i, hpcw_vom_collection_id(0), &index, 1),
                .time_s = (double)time_of(job->word, rank, 0),
            };
            status = hpcw_vom_task_add(*out, &task, err);
        }
        if (status == HPCW_OK)
            status = hpcw_vom_end_phase(*out, NULL, 0, err);
    }
    return status;
}

static hpcw_status vom_write(const struct job *job, hpcw_error *err) {
    hpcw_vom *file[MOST_TASKS] = {NULL};
    hpcw_error local;
    hpcw_status status = hpcw_vom_make_directory(job->path, job->comm, err);
    for (uint32_t i = 0; status == HPCW_OK && i < job->count; i++)
        if (vom_write_rank(job, job->first + i, &file[i], &local) != HPCW_OK) {
            fprintf(stderr, "%s\n", local.message);
            for (uint32_t made = 0; made <= i; made++)
                hpcw_vom_free(file[made]);
            exit(1); /* like a program whose file cannot be opened; mpiexec ends the others */
        }
    if (status == HPCW_OK && !job->ends_open)
        status = hpcw_vom_close_set(file, job->count, job->comm, err);
    for (uint32_t i = 0; i < job->count; i++)
        hpcw_vom_free(file[i]);
    return status;
}

struct vom_seen {
    uint32_t rank;
    int all;
};

static hpcw_status vom_task(void *context, const hpcw_vom_task *task) {
    struct vom_seen *seen = context;
    int word = NO_WORD;
    for (int w = 0; w < WORDS; w++)
        word = llround(task->time_s) == (long long)time_of(words[w], seen->rank, 0) ? w : word;
    meet(&seen->all, word);
    return HPCW_OK;
}

/* Prints a word for each rank; "none" if it has no file. */
static hpcw_status vom_read(const struct job *job, hpcw_error *err) {
    hpcw_status status = HPCW_OK;
    for (uint32_t rank = 0; status == HPCW_OK && rank < job->tasks; rank++) {
        char name[4096];
        struct vom_seen seen = {rank, -1};
        hpcw_vom_watch watch = {.context = &seen, .task = vom_task};
        hpcw_vom_reader *reader;
        vom_name(job, rank, name);
        status = hpcw_vom_reader_open(name, &reader, err);
        if (status == HPCW_OK) {
            status = hpcw_vom_reader_watch(reader, UINT64_MAX, &watch, err);
            hpcw_vom_reader_free(reader);
            status = status == HPCW_OK ? say(seen.all, err) : status;
        } else if (status == HPCW_ENOENT) {
            puts("none");
            status = HPCW_OK;
        }
    }
    return status;
}

/* ---- event logs ---- */

static const hpcw_clog2_comm_id world = {.random = 1, .host = "node1"};

static void clog2_comm(void *context, uint32_t index, hpcw_clog2_comm_entry *entry) {
    (void)context;
    *entry = (hpcw_clog2_comm_entry){.id = world, .index = (int32_t)index, .kind = 1};
}

static hpcw_status clog2_slice(const struct job *job, hpcw_clog2 *log, uint64_t *blocks, hpcw_error *err) {
    static hpcw_clog2_record record[1 + MOST_TASKS + 2 * MOST_TASKS * STATES];
    size_t count = 0;
    record[count++] =
        (hpcw_clog2_record){.kind = HPCW_CLOG2_STATE_DEF, .as.state = {300, 600, 601, "blue", job->word, NULL}};
    for (int32_t task = 0; task < (int32_t)job->tasks; task++)
        record[count++] = (hpcw_clog2_record){.rank = task,
                                              .kind = HPCW_CLOG2_COMM_EVENT,
                                              .as.comm = {HPCW_CLOG2_WORLD_CREATE, 0, task, task, &world}};
    for (uint32_t i = 0; i < 2 * STATES; i++)
        for (uint32_t task = 0; task < job->tasks; task++)
            record[count++] = (hpcw_clog2_record){.time = 1 + 0.5 * i,
                                                  .rank = (int32_t)task,
                                                  .kind = HPCW_CLOG2_BARE,
                                                  .as.event = 600 + (int)(i & 1)};
    hpcw_clog2_slice *slice;
    hpcw_status status = hpcw_clog2_slice_new(log, 0, &slice, err);
    if (status == HPCW_OK)
        status = hpcw_clog2_slice_place(slice, 0, err);
    if (status == HPCW_OK)
        status = hpcw_clog2_slice_put(slice, record, count, err);
    if (status == HPCW_OK)
        status = hpcw_clog2_slice_end(slice, HPCW_CLOG2_LAST, err);
    *blocks = status == HPCW_OK ? hpcw_clog2_slice_blocks(slice) : 0;
    hpcw_clog2_slice_free(slice);
    return status;
}

/* Writes all records of the log on process 0. */
static hpcw_status clog2_write(const struct job *job, hpcw_error *err) {
    hpcw_clog2_options options;
    hpcw_clog2 *log;
    hpcw_error local;
    uint64_t blocks = 0;
    hpcw_clog2_options_init(&options);
    options.ranks = job->tasks;
    options.states = 1;
    options.comms = 1;
    options.comm_of = clog2_comm;
    options.block_size = 1024;
    options.durability = job->sync;
    hpcw_status status = hpcw_clog2_open(job->path, job->comm, &options, &log, err);
    if (status == HPCW_OK && hpcw_comm_process(job->comm) == 0 &&
        clog2_slice(job, log, &blocks, &local) != HPCW_OK)
        hpcw_clog2_abandon(log, &local);
    if (status == HPCW_OK && !job->ends_open)
        status = hpcw_clog2_close(log, blocks, err);
    hpcw_clog2_free(log);
    return status;
}

/* Records STATES states on each process. */
static hpcw_status log_write(const struct job *job, hpcw_error *err) {
    hpcw_clog2_log_options options;
    hpcw_clog2_log *log;
    hpcw_clog2_timeline *timeline;
    int32_t state;
    hpcw_clog2_log_options_init(&options);
    options.directory = job->local;
    options.sync_rounds = 2;
    options.block_size = 1024;
    options.durability = job->sync;
    hpcw_status status = hpcw_clog2_log_open(job->path, job->comm, &options, &log, err);
    if (status != HPCW_OK)
        return status;
    if (hpcw_clog2_log_state(log, job->word, "blue", NULL, &state, err) != HPCW_OK ||
        hpcw_clog2_log_thread(log, &timeline, err) != HPCW_OK) {
        fprintf(stderr, "%s\n", err->message);
        exit(1);
    }
    for (int i = 0; i < STATES; i++) {
        hpcw_clog2_log_begin(timeline, 0, state);
        hpcw_clog2_log_end(timeline, 0, state);
    }
    if (!job->ends_open)
        status = hpcw_clog2_log_finish(log, NULL, err);
    hpcw_clog2_log_free(log);
    return status;
}

struct log_seen {
    int all;
    unsigned long states;
};

static hpcw_status log_state(void *context, const hpcw_clog2_stretch *state) {
    struct log_seen *seen = context;
    int word = NO_WORD;
    for (int w = 0; w < WORDS; w++)
        word = strcmp(words[w], state->name) == 0 ? w : word;
    meet(&seen->all, word);
    seen->states++;
    return HPCW_OK;
}

/* Prints the word of a log. Fails if some of the states that all tasks record are missing. */
static hpcw_status clog2_read(const struct job *job, hpcw_error *err) {
    struct log_seen seen = {-1, 0};
    hpcw_clog2_watch watch = {.context = &seen, .state = log_state};
    hpcw_clog2_reader *reader;
    hpcw_status status = hpcw_clog2_reader_open(job->path, &reader, err);
    if (status == HPCW_OK)
        status = hpcw_clog2_reader_watch(reader, &watch, err);
    hpcw_clog2_reader_free(reader);
    if (status == HPCW_OK && seen.states == 0)
        puts("empty");
    else if (status == HPCW_OK)
        status = say(seen.all, err);
    if (status == HPCW_OK && seen.states != (unsigned long)job->tasks * STATES)
        printf("missing %ld\n", (long)(job->tasks * STATES) - (long)seen.states);
    return status;
}

/* ---- checkpoints ---- */

static hpcw_status rank2file_write_rank(const struct job *job, hpcw_rank2file *checkpoint, uint32_t rank,
                                        hpcw_error *err) {
    static unsigned char data[MOST_BYTES];
    hpcw_status status = HPCW_OK;
    size_t size = fill(job->word, rank, data);
    for (int i = 0; status == HPCW_OK && i < 2; i++) {
        char name[64];
        hpcw_rank2file_file *file;
        snprintf(name, sizeof name, i == 0 ? "rank_%" PRIu32 : "sub/more_%" PRIu32, rank);
        status = hpcw_rank2file_create(checkpoint, rank, name, &file, err);
        if (status == HPCW_OK)
            status = hpcw_rank2file_file_write(file, data, size, err);
        if (status == HPCW_OK)
            status = hpcw_rank2file_file_close(file, err);
        hpcw_rank2file_file_free(file);
    }
    return status;
}

static hpcw_status rank2file_write(const struct job *job, hpcw_error *err) {
    char name[32];
    hpcw_rank2file_options options;
    hpcw_rank2file *checkpoint;
    hpcw_rank2file_options_init(&options);
    hpcw_status status = hpcw_rank2file_layout_of(job->layout, &options.layout, err);
    if (status != HPCW_OK)
        return status;
    snprintf(name, sizeof name, "ckpt.%" PRIu32, job->id);
    options.dataset.id = job->id;
    options.dataset.name = name;
    options.dataset.created_us = 1700000000000000 + job->id;
    options.dataset.flushed = "2023-11-14T22:13:20"; /* time of created_us, in the form that reindex writes */
    options.dataset.user = "user";
    options.leaf_ranks = 2;
    options.count = job->count;
    options.replace = job->replace;
    options.durability = job->sync;
    status = hpcw_rank2file_open(job->path, job->comm, &options, &checkpoint, err);
    for (uint32_t i = 0; status == HPCW_OK && i < job->count; i++)
        (void)!rank2file_write_rank(job, checkpoint, hpcw_rank2file_first_rank(checkpoint) + i, NULL);
    if (status == HPCW_OK && !job->ends_open)
        status = hpcw_rank2file_close(checkpoint, err);
    hpcw_rank2file_free(checkpoint);
    return status;
}

static hpcw_status rank2file_read(const struct job *job, hpcw_error *err) {
    static unsigned char data[MOST_BYTES];
    char name[32];
    hpcw_rank2file_restart *restart;
    int all = -1;
    snprintf(name, sizeof name, "ckpt.%" PRIu32, job->id);
    hpcw_status status = hpcw_rank2file_restart_open(job->path, NULL, name, &restart, err);
    if (status == HPCW_OK)
        status = hpcw_rank2file_restart_load(restart, 0, NULL, err);
    if (status == HPCW_OK)
        status = hpcw_rank2file_restart_check(restart, true, err);
    for (uint64_t i = 0; status == HPCW_OK && i < hpcw_rank2file_restart_files(restart); i++) {
        hpcw_rank2file_found found;
        status = hpcw_rank2file_restart_file(restart, i, &found, err);
        FILE *file = status == HPCW_OK ? fopen(found.path, "rb") : NULL;
        if (file != NULL) {
            meet(&all, word_of(found.rank, data, fread(data, 1, sizeof data, file)));
            fclose(file);
        }
    }
    hpcw_rank2file_restart_free(restart);
    return status == HPCW_OK ? say(all, err) : status;
}

/* ---- arguments ---- */

static const struct {
    const char *name;
    hpcw_status (*write)(const struct job *, hpcw_error *);
    hpcw_status (*read)(const struct job *, hpcw_error *);
} table[] = {
    {"sion", sion_write, sion_read}, {"linktest", linktest_write, linktest_read},
    {"vom", vom_write, vom_read},    {"clog2", clog2_write, clog2_read},
    {"log", log_write, clog2_read},  {"rank2file", rank2file_write, rank2file_read},
};

static bool set(struct job *job, const char *key, const char *value) {
    static const char *const syncs[] = {"none", "file", "directory"};
    uint32_t number = (uint32_t)strtoul(value, NULL, 10);
    if (strcmp(key, "tasks") == 0)
        job->tasks = number;
    else if (strcmp(key, "files") == 0)
        job->files = number;
    else if (strcmp(key, "id") == 0)
        job->id = number;
    else if (strcmp(key, "br") == 0)
        job->compressed = number != 0;
    else if (strcmp(key, "replace") == 0)
        job->replace = number != 0;
    else if (strcmp(key, "end") == 0)
        job->ends_open = strcmp(value, "open") == 0;
    else if (strcmp(key, "layout") == 0)
        job->layout = value;
    else if (strcmp(key, "local") == 0)
        job->local = value;
    else if (strcmp(key, "sync") == 0)
        for (int i = 0; i < 3; i++)
            job->sync = strcmp(syncs[i], value) == 0 ? (hpcw_durability)i : job->sync;
    else
        return false;
    return true;
}

static int work(int argc, char **argv, hpcw_comm *comm) {
    struct job job = {.layout = "scr-3", .tasks = 4, .files = 1, .id = 1, .sync = HPCW_SYNC_FILE, .comm = comm};
    hpcw_error err = {.message = ""};
    size_t what = 0;
    while (argc > 3 && what < sizeof table / sizeof *table && strcmp(table[what].name, argv[1]) != 0)
        what++;
    for (int i = 4; i < argc; i++) {
        char *is = strchr(argv[i], '=');
        if (is != NULL)
            *is = '\0';
        if (is == NULL || !set(&job, argv[i], is + 1))
            what = SIZE_MAX;
    }
    if (argc < 4 || what >= sizeof table / sizeof *table || job.tasks > MOST_TASKS) {
        fprintf(stderr, "writers: the head of writers.c has the arguments\n");
        return 2;
    }
    uint32_t process = (uint32_t)hpcw_comm_process(comm), processes = (uint32_t)hpcw_comm_size(comm);
    job.path = argv[2];
    job.word = argv[3];
    job.first = job.tasks * process / processes;
    job.count = job.tasks * (process + 1) / processes - job.first;
    hpcw_status status = (strcmp(job.word, "-") == 0 ? table[what].read : table[what].write)(&job, &err);
    if (status != HPCW_OK && process == 0)
        fprintf(stderr, "%s: %s\n", hpcw_status_name(status), err.message);
    return status == HPCW_OK ? 0 : 1;
}

int main(int argc, char **argv) {
    hpcw_comm *comm = NULL;
#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
    if (hpcw_comm_from_mpi(MPI_COMM_WORLD, &comm, NULL) != HPCW_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
#endif
    int status = work(argc, argv, comm);
    hpcw_comm_free(comm);
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return status;
}
