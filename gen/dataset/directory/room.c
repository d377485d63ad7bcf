/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/dataset/directory/room.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>

#include "gen/spec/pool.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/fsinfo.h"

/* Numbers of file descriptors that a process has open at once, besides those it starts with. */
enum {
    /* for a container, besides its files: its directory, and a copy of a file's descriptor that keeps the lock */
    WITH_A_SET = 2,
    /* for each thread that writes files one by one: the file, its directory, and a copy of the descriptor */
    OF_A_THREAD = 3,
    /* while an older dataset is removed: directories down to scr/scr.dataset.N/.scr */
    OF_A_REMOVAL = 4,
};

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

hpcw_status gen_size_add(const struct gen_dataset *d, size_t format, struct gen_slice units,
                         struct gen_size *size, hpcw_error *err) {
    for (uint64_t k = units.begin; k < units.end; k++) {
        struct gen_unit unit;
        hpcw_status s = gen_format[format]->unit(d, k, &unit, err);
        if (s != HPCW_OK) {
            return s;
        }
        size->files++;
        size->apparent += unit.apparent;
        size->allocated += unit.allocated;
        size->largest = unit.apparent > size->largest ? unit.apparent : size->largest;
        size->path_bytes += strlen(unit.path);
    }
    return HPCW_OK;
}

hpcw_status gen_part_size(const struct gen_dataset *d, uint32_t part, uint32_t parts, struct gen_size *size,
                          hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    *size = (struct gen_size){0};
    for (size_t f = 0; s == HPCW_OK && f < gen_format_count; f++) {
        s = gen_size_add(d, f, gen_part_of(d, f, part, parts), size, err);
    }
    return s;
}

hpcw_status gen_needs_add_up(const struct gen_run *run, struct gen_needs *needs, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    needs->size = (struct gen_size){0};
    for (size_t f = 0; s == HPCW_OK && f < gen_format_count; f++) {
        if (needs->missing >> f & 1) {
            s = gen_size_add(run->dataset, f, gen_part_of(run->dataset, f, run->part, run->parts), &needs->size,
                             err);
        }
    }
    return s;
}

/* ---- the disk ---- */

hpcw_status gen_room_find_existing(const struct gen_run *run, char path[GEN_DIRECTORY_PATH], hpcw_error *err) {
    struct hpcw_i_entry entry;
    (void)snprintf(path, GEN_DIRECTORY_PATH, "%s", run->directory);
    int e = hpcw_i_sys_look(path, true, &entry);
    if (e == 0 && entry.kind == HPCW_I_NOTHING) {
        const char *parent = dirname(path); /* `parent` points into `path`, or is "." */
        memmove(path, parent, strlen(parent) + 1);
    }
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot look at it", run->directory);
}

static uint64_t count_bits(uint64_t bits) {
    uint64_t n = 0;
    for (; bits != 0; bits &= bits - 1) {
        n++;
    }
    return n;
}

/* Returns the number of files just before the run ends: data files, a state file for each format, the
 * description, and truth.json, manifest and checksum list. */
static uint64_t files_of(const struct gen_run *run, const struct gen_needs *needs) {
    const uint64_t description = run->dataset->workload != NULL ? 2 : 1;
    const uint64_t lists = run->parts > 1 ? 0 : run->checksums ? 3 : 2;
    return needs->size.files + count_bits(needs->missing) + description + lists;
}

static uint64_t sum_of(uint64_t is, uint64_t freed) {
    return freed < UINT64_MAX - is ? is + freed : UINT64_MAX;
}

static hpcw_status check_bytes(const struct gen_run *run, uint64_t needed, uint64_t room, hpcw_error *err) {
    char need_text[UI_PARAM_SIZE_TEXT], room_text[UI_PARAM_SIZE_TEXT];
    return needed <= room
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_ENOSPC,
                             "%s: expected %" PRIu64 " bytes of free space, got %" PRIu64 " (%s, got %s)",
                             run->directory, needed, room, ui_param_bytes_text(need_text, needed, false),
                             ui_param_bytes_text(room_text, room, false));
}

static hpcw_status check_inodes(const struct gen_run *run, uint64_t needed, uint64_t room, hpcw_error *err) {
    return needed <= room ? HPCW_OK
                          : hpcw_i_fail(err, HPCW_ENOSPC, "%s: expected %" PRIu64 " free inodes, got %" PRIu64,
                                        run->directory, needed, room);
}

hpcw_status gen_room_on_disk(const struct gen_run *run, const struct gen_needs *needs,
                             const struct gen_older *older, hpcw_error *err) {
    const struct gen_older_size old = older != NULL ? gen_older_size(older) : (struct gen_older_size){0};
    uint64_t bytes = UINT64_MAX, files = UINT64_MAX;
    char path[GEN_DIRECTORY_PATH];
    hpcw_status s = gen_room_find_existing(run, path, err);
    s = s == HPCW_OK ? hpcw_i_fs_space(path, &bytes, &files, err) : s;
    /* the parent does not exist: creating the directory will fail with a better message */
    s = s == HPCW_ENOENT ? HPCW_OK : s;
    s = s == HPCW_OK ? check_bytes(run, needs->size.allocated, sum_of(bytes, old.bytes), err) : s;
    return s == HPCW_OK ? check_inodes(run, files_of(run, needs) + old.folders, sum_of(files, old.files), err)
                        : s;
}

/* ---- the processes ---- */

/* Upper bound of the size of any file that the run writes. The manifest has an object with path and size for
 * each file. */
static uint64_t largest_of(const struct gen_needs *needs, const struct gen_size *part) {
    const uint64_t manifest = part->path_bytes + part->files * (sizeof "{\"path\": \"\", \"size\": 0}" - 1);
    return larger(needs->size.largest, manifest);
}

/* Returns how many descriptors a process needs at once. All its files of a container are open at the same time. */
static uint32_t descriptors_of(const struct gen_run *run, uint64_t missing) {
    const uint64_t processes = (uint64_t)run->comm->size;
    uint64_t most = OF_A_REMOVAL;
    for (size_t f = 0; f < gen_format_count; f++) {
        const struct gen_slice units = gen_part_of(run->dataset, f, run->part, run->parts);
        const uint64_t mine = (units.end - units.begin + processes - 1) / processes;
        if (missing >> f & 1) {
            const uint64_t threads = gen_pool_threads(run->jobs, mine);
            most = larger(most, gen_format[f]->container ? mine + WITH_A_SET : threads * OF_A_THREAD);
        }
    }
    return (uint32_t)most;
}

static hpcw_status look_at_limits(const struct gen_run *run, const struct gen_needs *needs,
                                  const struct gen_size *part, hpcw_error *err) {
    const uint64_t largest = largest_of(needs, part);
    const uint64_t limit = hpcw_i_sys_largest_file();
    const uint32_t count = descriptors_of(run, needs->missing);
    uint64_t is = 0, least = 0;
    int at;
    /* Sizes can be estimates. So one above the limit stops a run only with --force, since that run would
     * remove files first. */
    if (run->force && largest > limit) {
        return hpcw_i_fail(err, HPCW_ENOSPC,
                           "%s: expected to write a file of %" PRIu64 " bytes, got a limit of %" PRIu64
                           " for the size of a file: raise it (ulimit -f)",
                           run->directory, largest, limit);
    }
    int e = hpcw_i_dir_fd(run->below.root, &at);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot look at the directory", run->directory);
    }
    e = hpcw_i_sys_can_open(at, count, &is, &least);
    return e == EMFILE ? hpcw_i_fail(err, HPCW_EIO,
                                     "%s: expected a limit of at least %" PRIu64
                                     " open files, got one of %" PRIu64 ": raise it (ulimit -n)",
                                     run->directory, least, is)
           : e != 0
               ? hpcw_i_fail_sys(err, e, "%s: cannot open %" PRIu32 " files at once", run->directory, count)
               : HPCW_OK;
}

hpcw_status gen_room_in_process(const struct gen_run *run, uint64_t missing, const struct gen_size *part,
                                hpcw_error *err) {
    struct gen_needs needs = {.missing = missing};
    hpcw_status s = gen_needs_add_up(run, &needs, err);
    s = s == HPCW_OK ? look_at_limits(run, &needs, part, err) : s;
    return hpcw_i_agree(run->comm, s, NULL, err);
}
