/* SPDX-License-Identifier: BSD-3-Clause */
/* All files of a dataset show one application, as the strict readers see it. Messages of the event log are edges
 * of the load data, ranks compute as long as their tasks take, checkpoints of the log are those of scr/, and
 * particles follow the work. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "gen/dataset/directory/directory.h"
#include "gen/dataset/generate.h"
#include "gen/format/format.h"
#include "libreader/clog2/clog2.h"
#include "libreader/rank2file/rank2file.h"
#include "libreader/sion/sion.h"
#include "libreader/vom/vom.h"
#include "libwriter/base/buf.h"
#include "libwriter/io/json.h"
#include "tests/support/files.h"

enum { RANKS = 96, PHASES = 12, CHECKPOINTS = 3, MOST_TASKS = 64, MOST_EDGES = 256 };

/* ---- a dataset ---- */

static struct gen_dataset dataset;
static char dir[200];

static void make(const char *workload, enum model_balancer balancer, enum model_comm comm) {
    hpcw_error err;
    struct gen_outcome outcome;
    assert_int_equal(gen_dataset_init(&dataset, "dfplus-hdr200", GEN_SCALE_SMALL, NULL), HPCW_OK);
    dataset.ranks = RANKS;
    dataset.seed = 5;
    for (size_t f = 0; f < gen_format_count; f++) {
        dataset.formats |= (uint64_t)(strcmp(gen_format[f]->name, "linktest") != 0) << f;
    }
    dataset.load_params.phases = PHASES;
    dataset.load_params.course = MODEL_COURSE_RAMP;
    dataset.load_params.migration = 0.01;
    dataset.load_params.balancer.kind = (int)balancer;
    dataset.load_params.balancer.interval = 2;
    dataset.load_params.comm = (int)comm;
    dataset.load_params.noise.probability = 0.02;
    dataset.load_params.noise.min_ms = 2;
    dataset.load_params.noise.max_ms = 8;
    dataset.ckpt_params.checkpoints = CHECKPOINTS;
    assert_int_equal(gen_workload_load(workload, NULL, &dataset.workload, &err), HPCW_OK);
    if (gen_workload_uses_edges(dataset.workload)) {
        /* The load data of such a workload are those of the load model, which has no noise. So the run has none,
         * too. */
        dataset.noise_params = (struct sim_noise_params){0};
    }
    scratch_make(dir, sizeof dir);
    struct gen_run run = {.dataset = &dataset,
                          .directory = dir,
                          .comm = hpcw_i_comm_or_self(NULL),
                          .jobs = 2,
                          .parts = 1,
                          .durability = HPCW_SYNC_NONE};
    if (gen_dataset_build(&dataset, &err) != HPCW_OK || gen_generate(&run, &outcome, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
}

static void drop(void) {
    scratch_remove(dir);
    gen_dataset_free(&dataset);
}

/* ---- load data ---- */

struct vom_edge {
    uint64_t from, to; /* ids */
    double bytes;
};

struct vom_phase {
    uint64_t id[RANKS][MOST_TASKS];
    uint32_t tasks[RANKS];
    double time[RANKS];
    struct vom_edge edge[RANKS * MOST_EDGES];
    uint32_t edges;
};

static struct vom_phase *loads; /* [PHASES] */

/* Bytes and edges between two ranks, by phase. */
struct flow {
    double bytes;
    uint32_t count;
};
static struct flow flow[PHASES][RANKS][RANKS];

struct vom_reading {
    uint32_t rank, phase;
};

static hpcw_status take_phase(void *context, uint64_t number, hpcw_error *err) {
    (void)err;
    ((struct vom_reading *)context)->phase = (uint32_t)number;
    return HPCW_OK;
}

static hpcw_status take_task(void *context, const struct read_vom_task *task, hpcw_error *err) {
    (void)err;
    const struct vom_reading *r = context;
    struct vom_phase *p = &loads[r->phase];
    p->time[r->rank] += task->time;
    p->id[r->rank][p->tasks[r->rank]++] = task->entity.id;
    assert_true(p->tasks[r->rank] < MOST_TASKS);
    return HPCW_OK;
}

static hpcw_status take_edge(void *context, const struct read_vom_communication *c, hpcw_error *err) {
    (void)err;
    const struct vom_reading *r = context;
    struct vom_phase *p = &loads[r->phase];
    if (c->category == READ_VOM_SEND_RECV && c->from.id != 0) {
        p->edge[p->edges++] = (struct vom_edge){c->from.id, c->to.id, c->bytes};
        assert_true(p->edges < RANKS * MOST_EDGES);
    }
    return HPCW_OK;
}

static uint32_t rank_of(const struct vom_phase *p, uint64_t id) {
    for (uint32_t r = 0; r < RANKS; r++) {
        for (uint32_t i = 0; i < p->tasks[r]; i++) {
            if (p->id[r][i] == id) {
                return r;
            }
        }
    }
    fail_msg("id %" PRIu64 " is no task", id);
    return 0;
}

static void read_loads(void) {
    loads = calloc(PHASES, sizeof *loads);
    assert_non_null(loads);
    memset(flow, 0, sizeof flow);
    for (uint32_t r = 0; r < RANKS; r++) {
        char path[300];
        hpcw_error err;
        struct read_vom *reader;
        struct vom_reading reading = {.rank = r};
        const struct read_vom_events events = {
            .context = &reading, .phase_begin = take_phase, .task = take_task, .communication = take_edge};
        (void)snprintf(path, sizeof path, "%s/vom/data.%u.json.br", dir, r);
        if (read_vom_open(path, r, READ_VOM_STRICT, &reader, &err) != HPCW_OK ||
            read_vom_run(reader, PHASES, &events, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        read_vom_free(reader);
    }
    for (uint32_t k = 0; k < PHASES; k++) {
        const struct vom_phase *p = &loads[k];
        for (uint32_t i = 0; i < p->edges; i++) {
            struct flow *f = &flow[k][rank_of(p, p->edge[i].from)][rank_of(p, p->edge[i].to)];
            f->bytes += p->edge[i].bytes;
            f->count++;
        }
    }
}

/* ---- event log ---- */

struct log_reading {
    uint32_t phase[RANKS]; /* current phase of the rank */
    double compute[PHASES][RANKS];
    struct flow sent[PHASES][RANKS][RANKS], received[PHASES][RANKS][RANKS];
    uint32_t checkpoints[RANKS];
    double begin[CHECKPOINTS]; /* times on rank 0 */
    uint64_t bytes[CHECKPOINTS][RANKS];
};
static struct log_reading *events;

static uint64_t number_in(const unsigned char *cargo) {
    uint64_t n = 0;
    for (int i = 0; i < 8; i++) {
        n = n << 8 | cargo[i];
    }
    return n;
}

static void take_state(void *context, const struct read_clog2_stretch *s) {
    struct log_reading *l = context;
    const uint32_t k = l->phase[s->rank];
    if (strcmp(s->name, "Compute") == 0) {
        l->compute[k][s->rank] += s->to - s->from;
    } else if (strcmp(s->name, "Checkpoint") == 0) {
        const uint32_t c = l->checkpoints[s->rank]++;
        assert_true(c < CHECKPOINTS && s->cargo != NULL);
        l->bytes[c][s->rank] = number_in(s->cargo);
        if (s->rank == 0) {
            l->begin[c] = s->from;
        }
    }
}

static void take_solo(void *context, const struct read_clog2_stretch *s) {
    struct log_reading *l = context;
    assert_string_equal(s->name, "Phase done");
    assert_non_null(s->cargo);
    const uint32_t number =
        (uint32_t)s->cargo[0] << 24 | (uint32_t)s->cargo[1] << 16 | (uint32_t)s->cargo[2] << 8 | s->cargo[3];
    assert_int_equal(number, l->phase[s->rank]++);
}

static void take_end(void *context, const struct read_clog2_end *e) {
    struct log_reading *l = context;
    const uint32_t k = l->phase[e->rank];
    struct flow *f = e->send ? &l->sent[k][e->rank][e->peer] : &l->received[k][e->peer][e->rank];
    f->bytes += e->bytes;
    f->count++;
    assert_true(e->send || (e->meets && e->other < e->time));
}

static void read_log(void) {
    char path[300];
    hpcw_error err;
    struct read_clog2 *reader;
    events = calloc(1, sizeof *events);
    assert_non_null(events);
    (void)snprintf(path, sizeof path, "%s/clog2/app.clog2", dir);
    const struct read_clog2_watch watch = {
        .context = events, .state = take_state, .solo = take_solo, .message = take_end};
    if (read_clog2_open(path, &reader, &err) != HPCW_OK || read_clog2_watch(reader, &watch, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    read_clog2_free(reader);
    for (uint32_t r = 0; r < RANKS; r++) {
        assert_int_equal(events->phase[r], PHASES);
        assert_int_equal(events->checkpoints[r], CHECKPOINTS);
    }
}

/* ---- comparisons ---- */

/* An edge may be sent in several messages. */
static void messages_are_edges(void) {
    uint64_t pairs = 0;
    double all = 0, between = 0;
    for (uint32_t k = 0; k < PHASES; k++) {
        for (uint32_t a = 0; a < RANKS; a++) {
            for (uint32_t b = 0; b < RANKS; b++) {
                const struct flow *e = &flow[k][a][b];
                const struct flow *s = &events->sent[k][a][b], *r = &events->received[k][a][b];
                if (r->count != s->count || s->bytes != (a == b ? 0 : e->bytes) || r->bytes != s->bytes) {
                    fail_msg("phase %u, rank %u to %u: edges of %.0f bytes, but %u sends of %.0f, %u receives "
                             "of %.0f",
                             k, a, b, e->bytes, s->count, s->bytes, r->count, r->bytes);
                }
                pairs += a != b && e->count > 0;
                all += e->bytes;
                between += a != b ? e->bytes : 0;
            }
        }
    }
    print_message("%.1f pairs of a rank in a phase, %.0f %% of the bytes between ranks\n",
                  (double)pairs / PHASES / RANKS, 100 * between / all);
    assert_true(pairs > PHASES * RANKS / 2);
}

static void ranks_compute_their_tasks(void) {
    for (uint32_t k = 0; k < PHASES; k++) {
        for (uint32_t r = 0; r < RANKS; r++) {
            /* The log rounds each piece of compute time. */
            if (fabs(events->compute[k][r] - loads[k].time[r]) > 200e-9 + 1e-6 * loads[k].time[r]) {
                fail_msg("phase %u, rank %u: tasks of %.9f s, but the log has %.9f s", k, r, loads[k].time[r],
                         events->compute[k][r]);
            }
        }
    }
}

static void checkpoints_agree(void) {
    struct hpcw_i_buf buf = {0};
    struct hpcw_i_json json;
    hpcw_error err;
    char path[300];
    (void)snprintf(path, sizeof path, "%s/scr", dir);
    hpcw_i_json_open_buf(&json, &buf, NULL);
    hpcw_i_json_begin_object(&json);
    if (read_rank2file_info(path, &json, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    hpcw_i_json_end_object(&json);
    assert_int_equal(hpcw_i_json_finish(&json, &err), HPCW_OK);
    assert_true(hpcw_i_buf_append(&buf, "", 1));
    cJSON *info = cJSON_Parse((const char *)buf.data);
    const cJSON *list = cJSON_GetObjectItem(info, "datasets");
    assert_int_equal(cJSON_GetArraySize(list), CHECKPOINTS);
    for (int c = 0; c < CHECKPOINTS; c++) {
        const cJSON *one = cJSON_GetArrayItem(list, c);
        const int id = (int)cJSON_GetObjectItem(one, "id")->valuedouble;
        const double created_s = cJSON_GetObjectItem(one, "created_us")->valuedouble * 1e-6;
        assert_in_range(id, 1, CHECKPOINTS);
        const double after_s = created_s - (double)gen_dataset_start(&dataset);
        print_message("checkpoint %d: %.6f s in the log, %.6f s in scr\n", id, events->begin[id - 1], after_s);
        assert_true(fabs(after_s - events->begin[id - 1]) < 2e-6);
        uint64_t sum = 0;
        for (uint32_t r = 0; r < RANKS; r++) {
            struct stat st;
            (void)snprintf(path, sizeof path, "%s/scr/scr.dataset.%d/rank_%u.ckpt", dir, id, r);
            assert_int_equal(stat(path, &st), 0);
            assert_int_equal((uint64_t)st.st_size, events->bytes[id - 1][r]);
            sum += (uint64_t)st.st_size;
        }
        const double mean = (double)sum / RANKS / (double)dataset.ckpt_params.mean_size;
        assert_true(mean > 1 / 1.2 && mean < 1.2);
    }
    cJSON_Delete(info);
    hpcw_i_buf_free(&buf);
}

static void particles_follow_the_work(void) {
    char path[300];
    hpcw_error err;
    struct read_sion *reader;
    double x = 0, xx = 0, y = 0, yy = 0, xy = 0;
    (void)snprintf(path, sizeof path, "%s/sion/particles.sion", dir);
    if (read_sion_open(path, &reader, &err) != HPCW_OK) {
        fail_msg("%s", err.message);
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        struct read_sion_task task;
        assert_int_equal(read_sion_find(reader, r, &task, &err), HPCW_OK);
        const double a = log((double)task.size), b = log(loads[PHASES - 1].time[r]);
        x += a / RANKS;
        xx += a * a / RANKS;
        y += b / RANKS;
        yy += b * b / RANKS;
        xy += a * b / RANKS;
    }
    const double correlation = (xy - x * y) / sqrt((xx - x * x) * (yy - y * y));
    print_message("correlation of ln(particles) and ln(load): %.2f\n", correlation);
    assert_true(correlation > 0.5);
    read_sion_free(reader);
}

static void agrees(const char *workload, enum model_balancer balancer, enum model_comm comm) {
    print_message("%s\n", workload);
    make(workload, balancer, comm);
    read_loads();
    read_log();
    messages_are_edges();
    ranks_compute_their_tasks();
    checkpoints_agree();
    /* Particles follow the work only if a rank keeps its work. A balancer gives all ranks equal work, and a farm
     * gives work to free ranks. */
    if (balancer == MODEL_BALANCER_NONE && strcmp(workload, "farm") != 0) {
        particles_follow_the_work();
    }
    free(loads);
    free(events);
    drop();
}

static void formats_agree(void **state) {
    (void)state;
    agrees("stencil", MODEL_BALANCER_NONE, MODEL_COMM_STENCIL);
    agrees("hydro", MODEL_BALANCER_NONE, MODEL_COMM_MESH);
    agrees("solver", MODEL_BALANCER_GREEDY, MODEL_COMM_STENCIL);
    agrees("adaptive", MODEL_BALANCER_TEMPERED, MODEL_COMM_SAMPLE);
    agrees("wavefront", MODEL_BALANCER_NONE, MODEL_COMM_STENCIL);
    agrees("farm", MODEL_BALANCER_NONE, MODEL_COMM_STENCIL);
    /* Uses communicators that some ranks do not have yet when others send. */
    agrees("coupled", MODEL_BALANCER_NONE, MODEL_COMM_STENCIL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_agree),
    };
    return cmocka_run_group_tests_name("application", tests, NULL, NULL);
}
