/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects the facts that are known before a run: options, machine and file system. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <hpcw/version.h>

#include "bench/measure/json.h"
#include "bench/measure/machine.h"
#include "bench/sweep/state.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/shown.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/io/fsinfo.h"
#include "libwriter/io/sys.h"

#define NS_PER_S UINT64_C(1000000000)

/* Planned time of a run / its required time, so that faster runs still count. */
#define ENOUGH 1.25

/* METADATA_REPEAT: repetitions of metadata measurements without --repeat. */
enum { METADATA_REPEAT = 5 };

hpcw_status bench_sweep_describe(struct bench_sweep_state *w, const char *directory, const char *command,
                                 hpcw_error *err) {
    struct bench_results *r = w->r;
    const struct bench_options *o = w->o;
    if (o->readers > (uint32_t)w->processes->count || o->writers > (uint32_t)w->processes->count) {
        bool writers = o->writers > (uint32_t)w->processes->count;
        return hpcw_i_fail(err, HPCW_EINVAL, "--%s: expected at most the number of processes, %d, got %u",
                           writers ? "writers" : "readers", w->processes->count,
                           writers ? o->writers : o->readers);
    }
    if (o->stonewall > 0 && (o->read || o->verify)) {
        return hpcw_i_fail(
            err, HPCW_EINVAL,
            "--stonewall: expected neither --read nor --verify, since not everything is written");
    }
    hpcw_status s = bench_machine_describe(&r->machine, directory, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (o->stripe_count != 0 || o->stripe_size != 0) {
        const struct hpcw_i_stripes stripes = {.count = o->stripe_count, .bytes = o->stripe_size};
        s = hpcw_i_fs_can_stripe(NULL, directory, &stripes, err);
        if (s != HPCW_OK) {
            return s;
        }
    }
    bench_json_now(r->time);
    char *plain = hpcw_i_sys_real_path(directory);
    (void)snprintf(r->directory, sizeof r->directory, "%s", plain != NULL ? plain : directory);
    hpcw_i_free(plain);
    hpcw_i_shown(r->directory);
    (void)gethostname(r->host, sizeof r->host - 1);
    (void)snprintf(r->version, sizeof r->version, "%s", hpcw_version());
    (void)snprintf(r->mpi, sizeof r->mpi, "%s", w->processes->library);
    (void)snprintf(r->command, sizeof r->command, "%s", command);
    if (r->mpi[0] == '\0') {
#ifdef HPCW_BENCH_MPI
        const char *why = "MPI-IO needs processes that a launcher of MPI started (mpirun, srun)";
#else
        const char *why = "this build has no MPI";
#endif
        (void)snprintf(r->left_out_mpi, sizeof r->left_out_mpi, "%s", why);
    }
    r->processes = w->processes->count;
    r->hosts = w->processes->hosts;
    r->stonewall_ns = (uint64_t)(o->stonewall * (double)NS_PER_S);
    r->writers = o->writers != 0 ? o->writers : (uint32_t)r->processes;
    r->readers = o->readers != 0 ? o->readers : (uint32_t)r->processes;
    r->variables = bench_environment(r->variable);
    r->seed = o->seed;
    r->repeat = o->repeat != 0 ? o->repeat : o->metadata ? METADATA_REPEAT : BENCH_LEAST_REPEAT;
    r->limits.least_bytes = o->least_bytes != 0 ? o->least_bytes : BENCH_USUAL_BYTES;
    /* The default of --least-time is far below the planned time of a run, since the disk may become faster
     * after the probe. */
    const double least = o->least_time > 0 ? o->least_time : BENCH_LEAST_SECONDS / ENOUGH;
    w->aim_ns = (double)NS_PER_S *
                (o->least_time > 0 ? ENOUGH * least : bench_sweep_run_seconds(o->budget, BENCH_USUAL_SECONDS));
    r->limits.least_ns = (uint64_t)(least * (double)NS_PER_S);
    r->limits.budget_ns = (uint64_t)(o->budget * (double)NS_PER_S);
    r->limits.max_bytes = o->max_bytes;
    r->verify = o->verify;
    return HPCW_OK;
}

#define NO_DISK "%.26s is memory, with no disk for O_DIRECT"

void bench_sweep_try_direct(const struct bench_sweep_state *w, char why[BENCH_NAME]) {
    const struct bench_fs *fs = &w->r->fs;
    char path[BENCH_PATH];
    int fd, e = EINVAL;
    if (bench_fs_is_memory(fs)) {
        (void)snprintf(why, BENCH_NAME, NO_DISK, fs->type);
        return;
    }
    if (!fs->direct_known || fs->direct_memory != 0) {
        (void)snprintf(path, sizeof path, "%s/direct", w->directory);
        e = hpcw_i_sys_open(path, O_RDWR | O_CREAT | O_DIRECT, 0600, &fd);
        if (e == 0) {
            e = hpcw_i_sys_pwrite(fd, w->data.source, BENCH_MEMORY_ALIGN, 0);
            (void)hpcw_i_sys_close(fd);
        }
        (void)hpcw_i_sys_unlink(path);
    }
    (void)snprintf(why, BENCH_NAME, "%s",
                   e == 0        ? ""
                   : e == EINVAL ? "the file system has no O_DIRECT"
                                 : "O_DIRECT could not be tried");
}

/* Copies the facts about the file system to the results. */
static void note_file_system(struct bench_sweep_state *w, const struct hpcw_i_fsinfo *found) {
    struct bench_fs *fs = &w->r->fs;
    const bool known = found->block_bytes != 0;
    memcpy(fs->type, found->type, sizeof fs->type);
    fs->magic = found->magic;
    fs->block_size = known ? found->block_bytes : w->r->machine.block_size;
    fs->free_bytes = w->r->machine.space;
    (void)snprintf(fs->block_source, sizeof fs->block_source, "%s", known ? found->block_source : "assumed");
    fs->direct_known = found->direct_known;
    fs->direct_memory = found->direct_memory;
    fs->direct_offset = found->direct_offset;
    (void)snprintf(fs->direct_source, sizeof fs->direct_source, "%s", found->direct_source);
    fs->stripe_known = found->stripe_known;
    fs->stripe_count = found->stripe.stripes;
    fs->stripe_size = found->stripe.stripe_bytes;
    (void)snprintf(fs->stripe_source, sizeof fs->stripe_source, "%s", found->stripe_source);
}

/* Finds the block size and stripes that a new file in the directory of the data gets. On process 0 only. */
static hpcw_status look(struct bench_sweep_state *w, hpcw_error *err) {
    const struct hpcw_i_stripes stripes = {.count = w->o->stripe_count, .bytes = w->o->stripe_size};
    struct bench_fs *fs = &w->r->fs;
    struct hpcw_i_fsinfo found;
    char path[BENCH_PATH];
    int fd;
    hpcw_status s = HPCW_OK;
    if (stripes.count != 0 || stripes.bytes != 0) {
        s = hpcw_i_fs_set_stripe(NULL, w->directory, &stripes, err);
        fs->stripes_asked = true;
        fs->stripe_count_asked = stripes.count;
        fs->stripe_size_asked = stripes.bytes;
    }
    (void)snprintf(path, sizeof path, "%s/data", w->directory);
    int e = s == HPCW_OK ? hpcw_i_sys_open(path, O_RDWR | O_CREAT, 0600, &fd) : 0;
    if (s != HPCW_OK || e != 0) {
        return s != HPCW_OK ? s : hpcw_i_fail_sys(err, e, "%s: cannot create", path);
    }
    (void)hpcw_i_sys_close(fd);
    s = hpcw_i_fsinfo_look(NULL, path, w->o->fs_block, &found, err);
    (void)hpcw_i_sys_unlink(path);
    if (s != HPCW_OK) {
        return s;
    }
    note_file_system(w, &found);
    return HPCW_OK;
}

hpcw_status bench_sweep_settle_in(struct bench_sweep_state *w, const char *directory, hpcw_error *err) {
    hpcw_status s = bench_workdir_make(w->processes, directory, w->directory, err);
    if (s != HPCW_OK) {
        return s;
    }
    s = hpcw_i_agree(w->processes->comm, w->processes->process == 0 ? look(w, err) : HPCW_OK, NULL, err);
    return s == HPCW_OK ? hpcw_i_comm_bcast(w->processes->comm, &w->r->fs, sizeof w->r->fs, 0, err) : s;
}

hpcw_status bench_sweep_look(struct bench_sweep_state *w, const char *directory, hpcw_error *err) {
    struct hpcw_i_fsinfo found;
    hpcw_status s = hpcw_i_fsinfo_look(NULL, directory, w->o->fs_block, &found, err);
    s = hpcw_i_agree(w->processes->comm, s, NULL, err);
    if (s == HPCW_OK) {
        note_file_system(w, &found);
        if (bench_fs_is_memory(&w->r->fs)) {
            (void)snprintf(w->no_direct, sizeof w->no_direct, NO_DISK, w->r->fs.type);
        }
    }
    return s;
}
