/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/dataset/generate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gen/dataset/again.h"
#include "gen/dataset/directory/description.h"
#include "gen/dataset/directory/digests.h"
#include "gen/dataset/directory/directory.h"
#include "gen/dataset/directory/lease.h"
#include "gen/dataset/directory/older.h"
#include "gen/dataset/directory/room.h"
#include "gen/format/pending.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/io/fsinfo.h"
#include "libwriter/io/sys.h"

static void show(const struct gen_run *run, const char *text) {
    if (run->label != NULL) {
        run->label(run->context, text);
    }
}

/* ---- the directory ---- */

/* On process 0. Finds what is in the directory, and checks whether the options allow the run there. */
static hpcw_status look_at_directory(const struct gen_run *run, enum gen_directory_state *state,
                                     hpcw_error *err) {
    const char *dir = run->directory;
    hpcw_status s = gen_directory_look(run, state, err);
    if (s != HPCW_OK || run->force) {
        return s;
    }
    switch (*state) {
    case GEN_DIRECTORY_FRESH:
        return HPCW_OK;
    case GEN_DIRECTORY_UNFINISHED:
        return run->resume || run->parts > 1
                   ? HPCW_OK
                   : hpcw_i_fail(err, HPCW_EEXIST,
                                 "%s: expected an empty directory, got an unfinished dataset of the same "
                                 "parameters: --resume continues it, --force starts again",
                                 dir);
    case GEN_DIRECTORY_FINISHED:
        return run->resume
                   ? HPCW_OK
                   : hpcw_i_fail(err, HPCW_EEXIST,
                                 "%s: expected an empty directory, got the finished dataset of the same "
                                 "parameters: `hpcgen verify` checks it, --force writes it again",
                                 dir);
    case GEN_DIRECTORY_DIFFERENT:
        return gen_directory_refuse_different(run, err);
    case GEN_DIRECTORY_OTHER:
        break;
    }
    return hpcw_i_fail(
        err, HPCW_EEXIST,
        "%s: expected an empty directory or an unfinished dataset of the same parameters, got other "
        "files: choose another --out, or --force to write there and keep all but those of the same names",
        dir);
}

/* Checks the directory, while this run holds the lease. A finished dataset of which files are missing becomes
 * an unfinished one. *finished: the dataset is complete, so nothing is left to do. */
static hpcw_status enter_directory(const struct gen_run *run, bool *finished, hpcw_error *err) {
    enum gen_directory_state state;
    *finished = false;
    hpcw_status s = look_at_directory(run, &state, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (run->force || state != GEN_DIRECTORY_FINISHED) {
        return HPCW_OK;
    }
    s = gen_directory_reopen(run, finished, err);
    if (s == HPCW_OK && !*finished && run->parts > 1) {
        s = hpcw_i_fail(
            err, HPCW_EEXIST,
            "%s: expected an unfinished dataset, got a finished one with missing files: --resume it "
            "without --part",
            run->directory);
    }
    if (s == HPCW_OK && *finished) {
        s = gen_directory_sync(run, err);
    }
    return s == HPCW_OK && *finished ? gen_directory_end(run, err) : s;
}

/* ---- one range of files ---- */

/* Writes the path of a data file of this run. The path has the pending (temporary) name while other parts are
 * missing. */
static hpcw_status path_now(const struct gen_run *run, const struct gen_format *format,
                            const struct gen_range *range, uint64_t index, char path[GEN_DIRECTORY_PATH],
                            hpcw_error *err) {
    struct gen_unit unit;
    hpcw_status s = format->unit(run->dataset, index, &unit, err);
    if (s == HPCW_OK) {
        if (gen_is_pending(format, run->dataset, range->begin, range->end, index)) {
            gen_pending_name(format, index, unit.path);
        }
        gen_directory_path(run->directory, unit.path, path);
    }
    return s;
}

/* Collective. Collects the sizes of all files of a range, and their digests if the run computes them. `digests`:
 * digests of the files that this process published; NULL: the run computes none. */
static hpcw_status collect_units(const struct gen_run *run, const struct gen_format *format,
                                 const struct gen_digests *digests, const struct gen_range *range,
                                 hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    hpcw_status s = HPCW_OK;
    uint64_t units = range->end - range->begin;
    for (uint64_t k = 0; s == HPCW_OK && k < units; k++) {
        bool looks = digests != NULL || k % (uint64_t)run->comm->size == (uint64_t)run->comm->process;
        s = looks ? path_now(run, format, range, range->begin + k, path, err) : HPCW_OK;
        if (s == HPCW_OK && looks && digests == NULL) {
            s = gen_directory_size(path, &range->file[k].size, err);
        } else if (s == HPCW_OK && looks) {
            const struct gen_stored *file = gen_digests_find(digests, path);
            range->file[k] = file == NULL ? range->file[k] : *file;
        }
    }
    s = hpcw_i_agree(run->comm, s, NULL, err);
    struct hpcw_i_words words = {.sums = (uint32_t)(GEN_STORED_WORDS * units),
                                 .word = (uint64_t *)(void *)range->file};
    s = s == HPCW_OK ? hpcw_i_comm_allreduce(run->comm, &words, err) : s;
    for (uint64_t k = 0; s == HPCW_OK && digests != NULL && k < units; k++) {
        if (range->file[k].digest.high == 0 && range->file[k].digest.low == 0) {
            s = hpcw_i_fail(err, HPCW_ESTATE, "%s: unit %" PRIu64 " of %s: expected a file, got none",
                            run->directory, range->begin + k, format->name);
        }
    }
    return s;
}

static hpcw_status write_range(const struct gen_run *run, const struct gen_format *format,
                               struct gen_slice units, hpcw_error *err) {
    bool first = run->comm->process == 0;
    struct hpcw_i_buf partial = {0};
    struct hpcw_i_json json;
    struct gen_write w = gen_write_of(run, format, units);
    struct gen_digests digests;
    gen_digests_begin(&digests, w.outputs);
    if (run->checksums) {
        w.outputs = gen_digests_source(&digests);
    }
    const uint64_t count = units.end - units.begin;
    struct gen_range range = {.begin = units.begin, .end = units.end, .digested = run->checksums};
    range.file = hpcw_i_calloc((size_t)count, sizeof *range.file);
    hpcw_status s = range.file == NULL ? hpcw_i_fail_memory(err, run->directory, count, "files") : HPCW_OK;
    s = hpcw_i_agree(run->comm, s, NULL, err);
    if (s != HPCW_OK) {
        goto done;
    }
    show(run, format->name);
    if (first) {
        hpcw_i_json_open_buf(&json, &partial, NULL);
        hpcw_i_json_begin_object(&json);
    }
    s = format->write(&w, first ? &json : NULL, err);
    if (first) {
        hpcw_i_json_end_object(&json);
        hpcw_status j = hpcw_i_json_finish(&json, s == HPCW_OK ? err : NULL);
        s = s == HPCW_OK ? j : s;
    }
    s = hpcw_i_agree(run->comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = collect_units(run, format, run->checksums ? &digests : NULL, &range, err);
    }
    if (s == HPCW_OK && first) {
        s = gen_directory_write_range(run, format, &range, partial.data, partial.size, err);
    }
    s = hpcw_i_agree(run->comm, s, NULL, err);
done:
    gen_digests_end(&digests);
    hpcw_i_buf_free(&partial);
    gen_range_free(&range);
    return s;
}

/* ---- the run ---- */

/* On process 0. Checks whether the file system supports stripes, before anything is created or removed. */
static hpcw_status check_stripes(const struct gen_run *run, hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    if (run->stripes.count == 0 && run->stripes.bytes == 0) {
        return HPCW_OK;
    }
    hpcw_status s = gen_room_find_existing(run, path, err);
    return s == HPCW_OK ? hpcw_i_fs_can_stripe(NULL, path, &run->stripes, err) : s;
}

/* On process 0. Finds the formats of which this part still has files to write, and the total size of these
 * files. */
static hpcw_status find_missing(const struct gen_run *run, struct gen_needs *needs, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    needs->missing = 0;
    for (size_t f = 0; s == HPCW_OK && f < gen_format_count; f++) {
        struct gen_slice units = gen_part_of(run->dataset, f, run->part, run->parts);
        bool has = units.begin == units.end;
        if (!has && run->resume) {
            s = gen_directory_has_range(run, gen_format[f], units, &has, err);
        }
        needs->missing |= s == HPCW_OK && !has ? (uint64_t)1 << f : 0;
    }
    return s == HPCW_OK ? gen_needs_add_up(run, needs, err) : s;
}

/* On process 0. Removes an older dataset and creates the directories. If the run writes whole formats, removes
 * the state of ranges that parts wrote. If the run is a part, lets other parts start. */
static hpcw_status begin(const struct gen_run *run, struct gen_lease *lease, const struct gen_older *older,
                         uint64_t missing, hpcw_error *err) {
    hpcw_status s = older != NULL ? gen_older_remove(older, run, err) : HPCW_OK;
    s = s == HPCW_OK ? gen_directory_begin(run, &run->stripes, err) : s;
    for (size_t f = 0; s == HPCW_OK && run->parts == 1 && f < gen_format_count; f++) {
        if (missing >> f & 1) {
            s = gen_directory_forget(run, gen_format[f], err);
        }
    }
    return s == HPCW_OK && run->parts > 1 ? gen_lease_share(lease, err) : s;
}

/* Collective. Fails if parameters differ between processes. Called before anything is created or removed. */
static hpcw_status agree_on_parameters(const struct gen_run *run, hpcw_status s, hpcw_error *err) {
    const struct hpcw_i_same same[] = {
        {.name = "block size (different file systems? set --blocksize)", .number = run->dataset->block_size},
        {.name = "fingerprint of the parameters", .text = run->fingerprint},
    };
    return hpcw_i_agree_same(run->comm, s, run->directory, same, sizeof same / sizeof same[0], NULL, err);
}

/* On process 0. Takes the lease, and checks everything that can stop the run before files are removed, except
 * the limits of the processes. *finished: nothing is left to do. *needs: what must be written. *older: the
 * older dataset that --force replaces. */
static hpcw_status prepare(struct gen_run *run, struct gen_lease *lease, bool *finished,
                           struct gen_needs *needs, struct gen_older **older, hpcw_error *err) {
    enum gen_directory_state state;
    hpcw_status s = check_stripes(run, err);
    if (s == HPCW_OK) {
        /* before the lease is taken, so that a refused run creates nothing */
        s = look_at_directory(run, &state, err);
    }
    if (s == HPCW_OK) {
        s = gen_lease_take(run, "generate", lease, err);
    }
    if (s == HPCW_OK) {
        s = enter_directory(run, finished, err);
    }
    if (s != HPCW_OK || *finished) {
        return s;
    }
    s = find_missing(run, needs, err);
    s = s == HPCW_OK && run->force ? gen_older_find(run, older, err) : s;
    return s == HPCW_OK ? gen_room_on_disk(run, needs, *older, err) : s;
}

/* Collective. Writes the files of the formats `missing`. Finishes the dataset if this is the only part. */
static hpcw_status write_missing(const struct gen_run *run, const struct gen_lease *lease, uint64_t missing,
                                 struct gen_outcome *outcome, hpcw_error *err) {
    bool first = run->comm->process == 0;
    hpcw_status s = HPCW_OK;
    for (size_t f = 0; s == HPCW_OK && f < gen_format_count; f++) {
        struct gen_slice units = gen_part_of(run->dataset, f, run->part, run->parts);
        if ((missing >> f & 1) == 0) {
            outcome->kept += units.end - units.begin;
            continue;
        }
        s = hpcw_i_agree(run->comm, first ? gen_lease_check(lease, err) : HPCW_OK, NULL, err);
        if (s == HPCW_OK) {
            s = write_range(run, gen_format[f], units, err);
        }
        outcome->files += units.end - units.begin;
    }
    if (s == HPCW_OK) {
        if (first) {
            s = run->parts == 1 ? gen_finish(run, lease, err) : gen_directory_sync(run, err);
            s = s == HPCW_OK && run->parts > 1 ? gen_lease_check(lease, err) : s;
        }
        s = hpcw_i_agree(run->comm, s, NULL, err);
        outcome->complete = s == HPCW_OK && run->parts == 1;
    }
    return s;
}

hpcw_status gen_generate(struct gen_run *run, struct gen_outcome *outcome, hpcw_error *err) {
    *outcome = (struct gen_outcome){0};
    bool first = run->comm->process == 0;
    bool finished = false;
    struct gen_needs needs = {0};
    struct gen_older *older = NULL;
    struct gen_lease lease = {.fd = -1};
    hpcw_status s = gen_dataset_fingerprint(run->dataset, run->fingerprint, err);
    if (s == HPCW_OK && run->force && run->parts > 1) {
        s = hpcw_i_fail(err, HPCW_EINVAL,
                        "--force with --part: one part would remove files of the others: remove %s first",
                        run->directory);
    }
    if (s == HPCW_OK) {
        s = gen_part_size(run->dataset, run->part, run->parts, &outcome->size, err);
    }
    s = agree_on_parameters(run, s, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (first) {
        s = prepare(run, &lease, &finished, &needs, &older, err);
    }
    uint64_t word[2] = {needs.missing, finished};
    struct hpcw_i_words words = {.maxs = 2, .word = word};
    s = hpcw_i_agree(run->comm, s, &words, err);
    if (s == HPCW_OK && word[1] == 0) {
        s = gen_lease_hold(&lease, run, err);
        s = s == HPCW_OK ? gen_room_in_process(run, word[0], &outcome->size, err) : s;
        if (s == HPCW_OK) {
            s = hpcw_i_agree(run->comm, first ? begin(run, &lease, older, word[0], err) : HPCW_OK, NULL, err);
        }
    }
    if (s == HPCW_OK && word[1] != 0) {
        outcome->kept = outcome->size.files;
        outcome->complete = true;
    } else if (s == HPCW_OK) {
        s = write_missing(run, &lease, word[0], outcome, err);
    }
    gen_older_free(older);
    gen_lease_end(&lease);
    return s;
}

/* Sets *finished to whether the dataset is complete, and *state to whether .hpcw exists. It exists if a run has
 * not ended yet or was killed. */
static hpcw_status look_for_finished(const struct gen_run *run, bool *finished, bool *state, hpcw_error *err) {
    char path[GEN_DIRECTORY_PATH];
    enum gen_directory_state is;
    struct hpcw_i_entry entry;
    hpcw_status s = gen_directory_look(run, &is, err);
    *finished = s == HPCW_OK && is == GEN_DIRECTORY_FINISHED;
    gen_directory_path(run->directory, GEN_STATE_DIR, path);
    int e = s == HPCW_OK ? hpcw_i_sys_look(path, false, &entry) : 0;
    *state = e == 0 && s == HPCW_OK && entry.kind != HPCW_I_NOTHING;
    return e == 0 ? s : hpcw_i_fail_sys(err, e, "%s: cannot look at it", path);
}

hpcw_status gen_join(struct gen_run *run, struct gen_outcome *outcome, hpcw_error *err) {
    *outcome = (struct gen_outcome){0};
    struct gen_lease lease = {.fd = -1};
    hpcw_error why = {.message = ""};
    hpcw_status taken = HPCW_OK;
    bool finished, state;
    hpcw_status s = gen_dataset_fingerprint(run->dataset, run->fingerprint, err);
    s = s == HPCW_OK ? gen_part_size(run->dataset, 0, 1, &outcome->size, err) : s;
    s = s == HPCW_OK ? look_for_finished(run, &finished, &state, err) : s;
    if (s != HPCW_OK) {
        return s;
    }
    outcome->kept = outcome->size.files;
    if (!finished || state) {
        /* Another join may finish the dataset meanwhile, and remove the state while it holds the lease. So the
         * directory is read again. */
        taken = gen_lease_take(run, "join", &lease, &why);
        s = taken == HPCW_OK || taken == HPCW_EEXIST ? look_for_finished(run, &finished, &state, err) : taken;
    }
    if (s == HPCW_OK && finished) {
        s = gen_directory_sync(run, err);
        s = s == HPCW_OK && lease.run != NULL ? gen_directory_end(run, err) : s;
    } else if (taken != HPCW_OK) {
        s = hpcw_i_fail_as(err, &why);
    } else if (s == HPCW_OK) {
        s = gen_finish(run, &lease, err);
    }
    gen_lease_end(&lease);
    outcome->complete = s == HPCW_OK;
    outcome->already = finished;
    return s;
}
