/* SPDX-License-Identifier: BSD-3-Clause */
/* scr: manages the datasets in a prefix directory of any version of SCR: list, check, prune, drop, reindex,
 * current. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <hpcw/rank2file.h>

#include "gen/cli/commands.h"
#include "libreader/source.h"
#include "libwriter/base/status.h"

static void put_text(struct hpcw_i_json *json, const char *key, const char *text) {
    if (text != NULL) {
        hpcw_i_json_put_str(json, key, text);
    }
}

static void put_listed(const hpcw_rank2file_listed *d, struct hpcw_i_json *json) {
    hpcw_i_json_put_str(json, "name", d->name);
    hpcw_i_json_put_u64(json, "id", d->id);
    hpcw_i_json_put_str(json, "state", d->failed != NULL ? "failed" : d->complete ? "complete" : "incomplete");
    hpcw_i_json_put_bool(json, "current", d->current);
    hpcw_i_json_put_u64(json, "files", d->files);
    hpcw_i_json_put_u64(json, "bytes", d->size);
    hpcw_i_json_put_u64(json, "created_us", d->created_us);
    put_text(json, "flushed", d->flushed);
    put_text(json, "failed", d->failed);
}

/* Returns what is wrong with the dataset that CURRENT names, from which SCR restarts. NULL: nothing is wrong,
 * or CURRENT names none. `sound`: the check of that dataset succeeded. */
static const char *fault_of_current(const hpcw_rank2file_list *datasets, bool sound) {
    const hpcw_rank2file_listed *d = hpcw_rank2file_list_get(datasets, 0);
    return hpcw_rank2file_list_current(datasets) == NULL ? NULL
           : d == NULL || !d->current                    ? "missing in the index"
           : d->failed != NULL                           ? "marked as failed"
           : sound                                       ? NULL
                                                         : "damaged";
}

/* Lists the datasets. With `check` it also checks each of them, and CURRENT, the entry of the index that names
 * the dataset for a restart. Prints which ones are sound. */
static hpcw_status list(const struct gen_cli_options *o, const char *prefix, bool check, hpcw_error *err) {
    hpcw_rank2file_list *datasets;
    hpcw_status s = hpcw_rank2file_list_open(prefix, NULL, &datasets, err);
    if (s != HPCW_OK) {
        return s;
    }
    struct gen_cli_result r;
    uint32_t count = hpcw_rank2file_list_count(datasets);
    uint32_t damaged = 0, unread = 0;
    bool current_sound = false;
    hpcw_status first = HPCW_OK;
    gen_cli_result_begin(&r, o->json);
    hpcw_i_json_put_str(&r.json, "layout", hpcw_rank2file_layout_name(hpcw_rank2file_list_layout(datasets)));
    hpcw_i_json_key_array(&r.json, "datasets");
    for (uint32_t i = 0; i < count; i++) {
        const hpcw_rank2file_listed *d = hpcw_rank2file_list_get(datasets, i);
        hpcw_i_json_flat_object(&r.json);
        put_listed(d, &r.json);
        if (check) {
            hpcw_error why = {.message = ""};
            hpcw_status is = hpcw_rank2file_check_listed(datasets, i, true, &why);
            const bool failed = read_source_is_of_system(
                is, &why); /* the system failed, so the state of the dataset is not known */
            if (!failed) {
                hpcw_i_json_put_bool(&r.json, "sound", is == HPCW_OK);
            }
            put_text(&r.json, "why", is == HPCW_OK ? NULL : why.message);
            first = first == HPCW_OK ? is : first;
            damaged += is != HPCW_OK && !failed;
            unread += failed;
            current_sound = d->current ? is == HPCW_OK || failed : current_sound;
        }
        hpcw_i_json_end_object(&r.json);
    }
    hpcw_i_json_end_array(&r.json);
    const char *current = hpcw_rank2file_list_current(datasets);
    const char *fault = check ? fault_of_current(datasets, current_sound) : NULL;
    if (check) {
        put_text(&r.json, "current", current);
        put_text(&r.json, "current_fault", fault);
    }
    s = gen_cli_result_print(&r, HPCW_OK, err);
    if (s == HPCW_OK && (damaged > 0 || unread > 0 || fault != NULL)) {
        char text[400] = "", failed[60] = "";
        if (unread > 0) {
            (void)snprintf(failed, sizeof failed, " and %u that could not be read", unread);
        }
        if (fault != NULL) {
            (void)snprintf(
                text, sizeof text,
                "; CURRENT names %.200s, which is %s: to choose another: hpcgen scr current DIR DATASET",
                current, fault);
        }
        s = hpcw_i_fail(err, first != HPCW_OK ? first : HPCW_EFORMAT,
                        "%s: expected %u sound dataset%s, got %u damaged%s%s", prefix, count,
                        count == 1 ? "" : "s", damaged, failed, text);
    }
    hpcw_rank2file_list_free(datasets);
    return s;
}

static hpcw_status make_current(const struct gen_cli_options *o, const char *prefix, const char *dataset,
                                hpcw_error *err) {
    hpcw_status s = hpcw_rank2file_make_current(prefix, NULL, dataset, err);
    if (s == HPCW_OK && !o->quiet) {
        struct gen_cli_result r;
        gen_cli_result_begin(&r, o->json);
        hpcw_i_json_put_str(&r.json, "current", dataset);
        s = gen_cli_result_print(&r, s, err);
    }
    return s;
}

/* Prints the name of a file that is about to be removed. */
static void tell(void *context, const char *path) {
    hpcw_error room;
    (void)context;
    (void)fprintf(stderr, "hpcgen: removes %s\n", gen_cli_printable(path, &room));
}

/* Prints how many datasets were added, removed and skipped. If `s`, the status of this work, is a failure,
 * prints nothing and returns `s`. Fails if any dataset was skipped. */
static hpcw_status print_tally(const struct gen_cli_options *o, const char *prefix, hpcw_status s,
                               const hpcw_rank2file_tally *tally, hpcw_error *err) {
    if (s == HPCW_OK && !o->quiet) {
        struct gen_cli_result r;
        gen_cli_result_begin(&r, o->json);
        hpcw_i_json_put_u64(&r.json, "added", tally->added);
        hpcw_i_json_put_u64(&r.json, "removed", tally->removed);
        hpcw_i_json_put_u64(&r.json, "skipped", tally->skipped);
        hpcw_i_json_put_u64(&r.json, "left", tally->left);
        s = gen_cli_result_print(&r, s, err);
        if (tally->left > 0) {
            hpcw_error room;
            (void)fprintf(stderr, "hpcgen: %s: %" PRIu64 " file%s not of %s left\n",
                          gen_cli_printable(prefix, &room), tally->left, tally->left == 1 ? "" : "s",
                          tally->removed > 1 ? "these datasets" : "this dataset");
        }
    }
    return s != HPCW_OK || tally->skipped == 0
               ? s
               : hpcw_i_fail(err, tally->why.code, "%s: expected no dataset to be skipped, got %u: %s", prefix,
                             tally->skipped, tally->why.message);
}

hpcw_status gen_cli_scr(const struct gen_cli_options *o, const char *const *arg, size_t count,
                        hpcw_error *err) {
    static const char *const actions[] = {"list", "check", "prune", "drop", "reindex", "current"};
    enum { LIST, CHECK, PRUNE, DROP, REINDEX, CURRENT, ACTIONS };
    hpcw_rank2file_tally tally = {.added = 0};
    hpcw_rank2file_removal how;
    size_t action = 0;
    while (action < ACTIONS && strcmp(arg[0], actions[action]) != 0) {
        action++;
    }
    if (action == ACTIONS) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "scr: expected list, check, prune, drop, reindex or current, got %.100s", arg[0]);
    }
    const bool named = action == DROP || action == CURRENT;
    if (count != (named ? 3u : 2u)) {
        return hpcw_i_fail(err, HPCW_EINVAL, "scr %s: expected %s, got %zu of them", actions[action],
                           named ? "DIR and DATASET" : "only DIR", count - 1);
    }
    if (o->scr.keep > 0 && action != PRUNE) {
        return hpcw_i_fail(err, HPCW_EINVAL, "scr %s: expected --keep with prune only, got --keep %u",
                           actions[action], o->scr.keep);
    }
    if (o->scr.all_files && action != PRUNE && action != DROP) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "scr %s: expected no --all-files, which only prune and drop take, got it",
                           actions[action]);
    }
    hpcw_rank2file_removal_init(&how);
    how.all_files = o->scr.all_files;
    how.told = o->scr.all_files ? tell : NULL;
    switch (action) {
    case DROP:
        return print_tally(o, arg[1], hpcw_rank2file_drop(arg[1], NULL, arg[2], &how, &tally, err), &tally,
                           err);
    case PRUNE:
        return print_tally(o, arg[1], hpcw_rank2file_prune(arg[1], NULL, o->scr.keep, &how, &tally, err),
                           &tally, err);
    case REINDEX:
        return print_tally(o, arg[1], hpcw_rank2file_reindex(arg[1], NULL, &tally, err), &tally, err);
    case CURRENT:
        return make_current(o, arg[1], arg[2], err);
    default:
        return list(o, arg[1], action == CHECK, err);
    }
}
