/* SPDX-License-Identifier: BSD-3-Clause */
/* hpcw-kernels: regression benchmark for developers. It compares the writers with plain loops that write the
 * same bytes. */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <hpcw/version.h>

#include "bench/kernels/kernels.h"
#include "bench/kernels/report.h"
#include "bench/measure/machine.h"
#include "bench/measure/program.h"
#include "bench/measure/workdir.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/io/sys.h"
#include "ui/cli/options.h"
#include "ui/cli/text.h"
#include "ui/cli/values.h"

enum { RUN, LIST };

static const struct ui_command commands[] = {
    [RUN] = {"run", "time the writers against plain loops that write the same bytes", NULL, 0, 0},
    [LIST] = {"list", "list the kernels and what each of them measures", NULL, 0, 0},
};

struct kernels_options {
    char dir[BENCH_PATH];    /* directory on the file system to measure */
    char hpcgen[BENCH_PATH]; /* path of the generator; "": not found */
    uint64_t only;           /* bit i: run the i-th kernel; 0: all kernels */
    uint32_t repeat;
    double scale; /* 0 < scale <= 1: share of the full size */
    bool warm;    /* touch the memory of a run before it starts */
};

static const struct bench_kernel *const kernel[] = {
    &bench_large_records,     &bench_small_records,      &bench_task_after_task, &bench_round_robin,
    &bench_read_large,        &bench_read_small,         &bench_read_in_turn,    &bench_million_tasks,
    &bench_open_close,        &bench_linktest_parts,     &bench_linktest_run,    &bench_doubles,
    &bench_integers,          &bench_json_records,       &bench_vom_plain,       &bench_vom_compressed,
    &bench_vom_settings,      &bench_vom_verify,         &bench_clog2_event,     &bench_clog2_threads,
    &bench_clog2_processes,   &bench_clog2_finish,       &bench_clog2_file,      &bench_clog2_run,
    &bench_clog2_read,        &bench_messages,           &bench_own_messages,    &bench_map_4096,
    &bench_map_8192,          &bench_map_million,        &bench_checkpoint,      &bench_simulate_stencil,
    &bench_simulate_requests, &bench_simulate_wavefront, &bench_simulate_farm,
};
enum { KERNELS = sizeof kernel / sizeof kernel[0] };

static const char *kernel_word(const void *list, size_t index) {
    (void)list;
    return index < KERNELS ? kernel[index]->name : NULL;
}

/* Columns of the table of options: section, subcommands, letter, long name, metavar, type, field, help. Named
 * members may follow. */
#define OPTION(section, ...) UI_OPTION(struct kernels_options, section, UI_COMMAND(RUN), __VA_ARGS__)
#define WORK "What is measured"

static const struct ui_option option_table[] = {
    OPTION(
        WORK, 'd', "dir", "DIR", STRING, dir,
        "directory on the file system to measure; the data are in a new directory inside it, which is removed "
        "at the end",
        .default_text = "."),
    OPTION(WORK, 'k', "only", "NAMES", U64, only,
           "kernels to run, with commas between them; the default is all that fit this number of processes",
           .read = ui_read_word_set, .words = kernel_word),
    OPTION(WORK, 'n', "repeat", "N", U32, repeat, "runs of each side, after one that warms up",
           UI_LIMITS(1, 1000), .default_text = "5"),
    OPTION(WORK, 0, "scale", "SHARE", F64, scale, "share of the full size, for trials", UI_LIMITS(1e-6, 1),
           .default_text = "1"),
    OPTION(WORK, 0, "warm", NULL, BOOL, warm,
           "do not touch the memory that a run will need before its clock starts", .default_text = "yes",
           .flags = UI_OPTION_NEGATABLE),
    OPTION(WORK, 0, "hpcgen", "FILE", STRING, hpcgen,
           "the generator to run; the default is that of the same build"),
};

static const struct ui_program program = {
    .name = "hpcw-kernels",
    .summary = "time the file writers of hpcw against plain loops",
    .description =
        "The developers' regression benchmark. A kernel has sides: what the library does, and a "
        "plain loop that "
        "writes the same number of bytes to the same offsets. bench/kernels/README.md has the results.",
    .version = hpcw_version,
    .commands = commands,
    .command_count = sizeof commands / sizeof commands[0],
    .options = option_table,
    .option_count = sizeof option_table / sizeof option_table[0],
    .options_size = sizeof(struct kernels_options),
};

/* Finds the generator of the same build, if none was given. */
static void find_hpcgen(struct kernels_options *o) {
    char self[BENCH_PATH - 32];
    struct hpcw_i_entry entry;
    if (o->hpcgen[0] != '\0' || hpcw_i_sys_read_link_at(AT_FDCWD, "/proc/self/exe", self, sizeof self) != 0) {
        return;
    }
    char *slash = strrchr(self, '/');
    if (slash != NULL) {
        (void)snprintf(o->hpcgen, sizeof o->hpcgen, "%.*s/../gen/hpcgen", (int)(slash - self), self);
        if (hpcw_i_sys_look(o->hpcgen, true, &entry) != 0 || entry.kind != HPCW_I_FILE) {
            o->hpcgen[0] = '\0';
        }
    }
}

static hpcw_status list_kernels(struct bench_call *call, hpcw_error *err) {
    (void)call;
    struct ui_table t = {0};
    ui_table_column(&t, "kernel", UI_LEFT);
    ui_table_column(&t, "processes", UI_LEFT);
    ui_table_column(&t, "what", UI_LEFT);
    for (size_t i = 0; i < KERNELS; i++) {
        ui_table_cell(&t, "%s", kernel[i]->name);
        ui_table_cell(&t, "%s", kernel[i]->needs == BENCH_ONE_PROCESS ? "one" : "several");
        ui_table_cell(&t, "%s", kernel[i]->what);
    }
    hpcw_status s = ui_table_print(&t, stdout, 0, err);
    ui_table_free(&t);
    return s;
}

static hpcw_status set_up(const struct bench_kernel *k, const struct bench_site *place, void **work,
                          struct bench_amount *amount, hpcw_error *err) {
    struct bench_common *common = *work = hpcw_i_calloc(1, k->size);
    if (common == NULL) {
        return hpcw_i_fail_memory(err, NULL, 0, NULL);
    }
    *common = (struct bench_common){.place = place, .fd = -1};
    for (size_t i = 0; i < BENCH_FILES && k->file[i] != NULL; i++) {
        int n = snprintf(common->path[i], BENCH_PATH, "%s/%s", place->directory, k->file[i]);
        if (n < 0 || n >= BENCH_PATH) {
            return hpcw_i_fail(err, HPCW_ERANGE, "%s: the path is too long", place->directory);
        }
    }
    return k->setup(common, k->parameter, amount, err);
}

static void tear_down(const struct bench_kernel *k, void *work) {
    struct bench_common *common = work;
    if (common == NULL) {
        return;
    }
    if (k->teardown != NULL) {
        k->teardown(work);
    }
    hpcw_error ignored;
    (void)bench_plain_close(work, &ignored);
    for (size_t i = 0; i < BENCH_FILES; i++) {
        bench_remove(common->place, common->path[i]);
    }
    hpcw_i_free(work);
}

/* Measures one kernel, or notes in the result why it is skipped. */
static hpcw_status measure(const struct bench_kernel *k, const struct bench_site *place, struct bench_result *r,
                           hpcw_error *err) {
    *r = (struct bench_result){.kernel = k};
    int processes = place->processes->count;
    if (k->needs == BENCH_ONE_PROCESS && processes > 1) {
        (void)snprintf(r->skipped, sizeof r->skipped, "one process does this: hpcw-kernels --only %s", k->name);
        return HPCW_OK;
    }
    if (k->needs == BENCH_SEVERAL_PROCESSES && processes == 1) {
        (void)snprintf(r->skipped, sizeof r->skipped,
                       "needs several processes: mpirun -n 2 hpcw-kernels --only %s", k->name);
        return HPCW_OK;
    }
    void *work = NULL;
    hpcw_status s = set_up(k, place, &work, &r->amount, err);
    s = hpcw_i_agree(place->processes->comm, s, NULL, err);
    if (s == HPCW_ENOTSUP) {
        (void)snprintf(r->skipped, sizeof r->skipped, "%s", err->message);
        s = HPCW_OK;
    } else if (s == HPCW_OK) {
        s = bench_timer_measure(&k->subject, work, place->processes, place->repeat, &r->samples, err);
    }
    tear_down(k, work);
    return s;
}

/* Collective. Runs the kernels; process 0 prints the tables. Kernels that do not fit the number of processes
 * are skipped with a reason. */
static hpcw_status run_kernels(const struct kernels_options *o, const struct bench_processes *processes,
                               hpcw_error *err) {
    char directory[BENCH_WORKDIR] = "";
    struct bench_site place = {.processes = processes,
                               .directory = directory,
                               .hpcgen = o->hpcgen[0] == '\0' ? NULL : o->hpcgen,
                               .repeat = o->repeat,
                               .scale = o->scale,
                               .warm = o->warm};
    bool speaks = processes->process == 0;
    hpcw_status s = bench_machine_describe(&place.machine, o->dir, err);
    s = hpcw_i_agree(processes->comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = bench_workdir_make(processes, o->dir, directory, err);
    }
    if (s == HPCW_OK && speaks) {
        s = bench_report_head(stdout, &place, err);
        (void)fflush(stdout);
    }
    s = hpcw_i_agree(processes->comm, s, NULL, err);
    for (size_t i = 0; s == HPCW_OK && i < KERNELS; i++) {
        if (o->only != 0 && (o->only >> i & 1) == 0) {
            continue;
        }
        struct bench_result result;
        s = measure(kernel[i], &place, &result, err);
        if (s == HPCW_OK && speaks) {
            s = bench_report_result(stdout, &result, err);
            (void)fflush(stdout);
        }
        bench_samples_free(&result.samples);
        s = hpcw_i_agree(processes->comm, s, NULL, err);
    }
    bench_workdir_remove(processes, directory);
    return s;
}

static hpcw_status run_run(struct bench_call *call, hpcw_error *err) {
    find_hpcgen(call->options);
    return run_kernels(call->options, &call->processes, err);
}

int main(int argc, char **argv) {
    static const struct bench_command_row row[] = {[RUN] = {run_run, true}, [LIST] = {list_kernels, false}};
    static struct kernels_options o;
    return bench_program_run(argc, argv, &program, &o, row);
}
