/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "gen/dataset/directory/directory.h"
#include "gen/format/pending.h"
#include "gen/spec/pool.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"

struct durable_files {
    const struct gen_run *run;
    const struct gen_format *format;
    struct gen_slice units;
};

static hpcw_status cannot(int e, const char *path, hpcw_error *err) {
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot write it back to the disk", path);
}

/* Flushes a file to disk. While other parts are missing, the first file of a set has its pending name
 * (gen/format/pending.h). */
static hpcw_status sync_unit(void *context, void *state, uint64_t index, hpcw_error *err) {
    const struct durable_files *f = context;
    const struct gen_run *run = f->run;
    char path[GEN_DIRECTORY_PATH];
    char name[GEN_UNIT_PATH];
    struct gen_unit unit;
    (void)state;
    hpcw_status s = f->format->unit(run->dataset, index, &unit, err);
    if (s != HPCW_OK) {
        return s;
    }
    gen_directory_path(run->directory, unit.path, path);
    int e = hpcw_i_sys_fsync_at(AT_FDCWD, path, 0);
    if (e != 0 && gen_is_pending(f->format, run->dataset, f->units.begin, f->units.end, index)) {
        gen_pending_name(f->format, index, name);
        gen_directory_path(run->directory, name, path);
        e = hpcw_i_sys_fsync_at(AT_FDCWD, path, 0);
    }
    return cannot(e, path, err);
}

/* Flushes the directories that contain the files, and their parents up to the dataset's directory. */
static hpcw_status sync_folders(const struct durable_files *f, hpcw_error *err) {
    char last[GEN_UNIT_PATH] = "";
    hpcw_status s = HPCW_OK;
    for (uint64_t k = f->units.begin; s == HPCW_OK && k < f->units.end; k++) {
        struct gen_unit unit;
        s = f->format->unit(f->run->dataset, k, &unit, err);
        char *slash = s == HPCW_OK ? strrchr(unit.path, '/') : NULL;
        size_t n = slash == NULL ? 0 : (size_t)(slash - unit.path);
        if (s != HPCW_OK || (last[n] == '\0' && strncmp(last, unit.path, n) == 0)) {
            continue;
        }
        memcpy(last, unit.path, n);
        last[n] = '\0';
        for (; s == HPCW_OK && slash != NULL; slash = strrchr(unit.path, '/')) {
            char path[GEN_DIRECTORY_PATH];
            gen_directory_path(f->run->directory, unit.path, path);
            s = cannot(hpcw_i_sys_fsync_directory_of(path), path, err);
            *slash = '\0';
        }
    }
    return s;
}

hpcw_status gen_directory_sync(const struct gen_run *run, hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    hpcw_status s = HPCW_OK;
    if (run->durability == HPCW_SYNC_NONE) {
        return HPCW_OK;
    }
    for (size_t i = 0; s == HPCW_OK && i < gen_format_count; i++) {
        struct durable_files f = {run, gen_format[i], gen_part_of(run->dataset, i, run->part, run->parts)};
        const struct gen_pool_work work = {.name = "sync", .context = &f, .step = sync_unit};
        if (f.units.begin < f.units.end) {
            s = gen_pool_run(run->jobs, f.units.begin, f.units.end - f.units.begin, 1, &work, err);
            s = s == HPCW_OK ? sync_folders(&f, err) : s;
        }
    }
    /* Flushes truth.json, manifest and checksum list of an earlier run. Those of this run are flushed when they
     * get their names. */
    static const char *const lists[] = {GEN_TRUTH, GEN_MANIFEST, GEN_CHECKSUMS};
    for (size_t i = 0; s == HPCW_OK && i < sizeof lists / sizeof lists[0]; i++) {
        gen_directory_path(run->directory, lists[i], path);
        int e = hpcw_i_sys_fsync_at(AT_FDCWD, path, 0);
        s = e == ENOENT ? HPCW_OK : cannot(e, path, err);
    }
    /* Flushes the directories that contain these names: the dataset's directory and its parent. */
    static const char *const within[] = {GEN_STATE_DIR, "../."};
    for (size_t i = 0; s == HPCW_OK && i < 2; i++) {
        gen_directory_path(run->directory, within[i], path);
        s = cannot(hpcw_i_sys_fsync_directory_of(path), path, err);
    }
    return s;
}
