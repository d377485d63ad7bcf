/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a dataset: the calls to open and close it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/options.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/format/rank2file/handle.h"
#include "libwriter/format/rank2file/restart/restart.h"
#include "libwriter/format/rank2file/upkeep/upkeep.h"
#include "libwriter/io/dir.h"
#include "libwriter/io/sys.h"

/* ---- open ---- */

static hpcw_status copy_texts(hpcw_rank2file *w, hpcw_error *err) {
    hpcw_rank2file_dataset *d = &w->options.dataset;
    const char **given[] = {&d->name, &d->flushed, &d->user, &d->job_id, &d->job_name, &d->cluster};
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        if (*given[i] != NULL) {
            w->text[i] = hpcw_i_strdup(*given[i]);
            if (w->text[i] == NULL) {
                return hpcw_i_fail_memory(err, w->prefix, 0, NULL);
            }
            *given[i] = w->text[i];
        }
    }
    return HPCW_OK;
}

/* Copies the caller's options with their arrays and texts. The caller has checked the options. */
static hpcw_status prepare(hpcw_rank2file *w, const char *prefix, const hpcw_rank2file_options *o,
                           hpcw_error *err) {
    hpcw_rank2file_options_init(&w->options);
    hpcw_status s = hpcw_i_options_take(&w->options, sizeof w->options, o, "hpcw_rank2file_options", err);
    if (s != HPCW_OK) {
        return s;
    }
    w->options.dataset.files = w->options.dataset.size = 0;
    w->prefix = hpcw_i_strdup(prefix);
    if (o->ranks != NULL) {
        w->own_ranks = hpcw_i_malloc((size_t)o->count * sizeof *w->own_ranks);
        if (w->own_ranks != NULL && o->count > 0) {
            memcpy(w->own_ranks, o->ranks, (size_t)o->count * sizeof *w->own_ranks);
        }
        w->options.ranks = w->own_ranks;
    }
    hpcw_rank2file_dataset_name(o, w->dataset);
    if (w->prefix == NULL || (o->ranks != NULL && w->own_ranks == NULL)) {
        return hpcw_i_fail_memory(err, prefix, o->count, "ranks");
    }
    return copy_texts(w, err);
}

/* Checks that all processes have the same options, and adds up their ranks in w->ranks. `w` may be NULL if `s`
 * is a failure. Collective. */
static hpcw_status agree_on_options(hpcw_comm *comm, hpcw_rank2file *w, hpcw_status s, hpcw_error *err) {
    struct hpcw_rank2file none = {.dataset = ""};
    w = w == NULL ? &none : w;
    const hpcw_rank2file_options *o = &w->options;
    const hpcw_rank2file_dataset *d = &o->dataset;
    const struct hpcw_i_same same[] = {
        {.name = "prefix", .text = w->prefix},
        {.name = "layout", .number = o->layout, .words = "scr-1.1 scr-1.2 scr-3 shared"},
        {.name = "dataset.id", .number = d->id},
        {.name = "dataset.name", .text = w->dataset},
        {.name = "dataset.checkpoint", .number = d->checkpoint},
        {.name = "dataset.created_us", .number = d->created_us},
        {.name = "dataset.flushed", .text = d->flushed, .words = "none"},
        {.name = "dataset.user", .text = d->user, .words = "none"},
        {.name = "dataset.job_id", .text = d->job_id, .words = "none"},
        {.name = "dataset.job_name", .text = d->job_name, .words = "none"},
        {.name = "dataset.cluster", .text = d->cluster, .words = "none"},
        {.name = "leaf_ranks", .number = o->leaf_ranks},
        {.name = "leaf_bytes", .number = o->leaf_bytes},
        {.name = "durability", .number = o->durability, .words = "none file directory"},
        {.name = "sink_source", .number = o->sink_source.open != NULL, .words = "files own"},
        {.name = "replace", .number = o->replace, .words = "no yes"},
        {.name = "current", .number = o->current, .words = "no yes"},
    };
    uint64_t ranks = o->count;
    struct hpcw_i_words words = {.sums = 1, .word = &ranks};
    s = hpcw_i_agree_same(comm, s, w->prefix, same, sizeof same / sizeof same[0], &words, err);
    if (s == HPCW_OK && (ranks < 1 || ranks > HPCW_RANK2FILE_MAX_RANKS)) {
        s = hpcw_i_fail(err, HPCW_ERANGE, "%s: expected 1 to %u ranks on all processes together, got %" PRIu64,
                        w->prefix, HPCW_RANK2FILE_MAX_RANKS, ranks);
    }
    if (s == HPCW_OK) {
        w->ranks = (uint32_t)ranks;
    }
    return s;
}

/* Finds the first rank of this process if ranks are consecutive; otherwise checks its ranks. Collective. */
static hpcw_status place_ranks(hpcw_rank2file *w, hpcw_error *err) {
    uint64_t before = w->options.count;
    struct hpcw_i_words words = {.sums = 1, .word = &before};
    hpcw_status s = hpcw_i_comm_exscan(w->comm, &words, err);
    w->first = (uint32_t)before;
    uint32_t count = w->options.count;
    if (s == HPCW_OK && w->own_ranks != NULL && count > 0 && w->own_ranks[count - 1] >= w->ranks) {
        s = hpcw_i_fail(err, HPCW_EMISMATCH, "%s: expected ranks below their number %u, got %u", w->prefix,
                        w->ranks, w->own_ranks[count - 1]);
    }
    return hpcw_i_agree(w->comm, s, NULL, err);
}

/* Reads the index, or makes an empty one. If the options allow to replace a dataset of this name and id, takes
 * it out, and sets *replaced. */
static hpcw_status read_index(const hpcw_rank2file *w, hpcw_kvtree **index, bool *replaced, hpcw_error *err) {
    const hpcw_rank2file_options *o = &w->options;
    hpcw_error mine = {.message = ""};
    hpcw_status s = hpcw_i_r2f_index_read(&w->place, index, &mine);
    *replaced = false;
    if (s == HPCW_ENOENT) {
        return hpcw_kvtree_new(index, err);
    }
    if (s != HPCW_OK) {
        *err = mine;
        return s;
    }
    hpcw_rank2file_layout layout;
    if (o->replace && hpcw_i_r2f_index_layout(*index, "", &layout, &mine) == HPCW_OK && layout == o->layout &&
        hpcw_i_r2f_index_id(*index, layout, w->dataset) == o->dataset.id) {
        *replaced = true;
        s = hpcw_i_r2f_index_remove(*index, layout, w->dataset, err);
    }
    return s;
}

static hpcw_status add_to(const hpcw_rank2file *w, hpcw_kvtree *index, hpcw_error *err) {
    hpcw_status s = hpcw_rank2file_index_add(index, &w->options, err);
    if (s != HPCW_OK) {
        char path[64];
        (void)snprintf(path, sizeof path, "%s", HPCW_RANK2FILE_INDEX);
        hpcw_i_fail_about(err, path);
        hpcw_i_fail_about(err, w->prefix);
    }
    return s;
}

/* Checks that the dataset can be added to the index. */
static hpcw_status check_index(const hpcw_rank2file *w, hpcw_error *err) {
    hpcw_kvtree *index;
    bool replaced;
    hpcw_status s = read_index(w, &index, &replaced, err);
    if (s == HPCW_OK) {
        s = add_to(w, index, err);
    }
    hpcw_kvtree_free(index);
    return s;
}

static struct hpcw_i_r2f_dataset dataset_of(const hpcw_rank2file *w) {
    return (struct hpcw_i_r2f_dataset){w->options.layout, w->options.dataset.id, w->dataset};
}

/* Lists in `r` the files of the older dataset with this name and id. If the older map is damaged, the older data
 * files stay until new files replace them. */
static hpcw_status list_older(const hpcw_rank2file *w, const hpcw_kvtree *index, struct hpcw_i_r2f_removal *r,
                              hpcw_error *err) {
    const struct hpcw_i_r2f_dataset d = dataset_of(w);
    hpcw_status s = hpcw_i_r2f_removal_add_metadata(r, &d, err);
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_removal_add_map(r, &d, err);
        s = hpcw_i_r2f_is_damage(s) ? HPCW_OK : s;
    }
    s = s == HPCW_OK ? hpcw_i_r2f_removal_spare(r, &d, index, err) : s;
    return s == HPCW_OK ? hpcw_i_r2f_removal_check(r, err) : s;
}

/* Removes files that dead writers of this id left, as their markers will be replaced. If their dataset also had
 * this name, removes only temporary files. Files that cannot be removed stay. The caller holds the locks of the
 * index and the dataset. */
static hpcw_status remove_earlier(const hpcw_rank2file *w, const hpcw_kvtree *index, hpcw_error *err) {
    const struct hpcw_i_r2f_dataset d = dataset_of(w);
    struct hpcw_i_r2f_upkeep u = {.p = w->place};
    struct hpcw_i_r2f_markers all;
    hpcw_status s = hpcw_i_r2f_markers_find(&w->place, HPCW_I_R2F_UNFINISHED, &all, err);
    const struct hpcw_i_r2f_markers of = hpcw_i_r2f_markers_of(&all, d.id);
    if (s == HPCW_OK && of.count > 0) {
        s = hpcw_i_r2f_remove_unfinished(&u, index, d.layout, &of, &d, false, err);
    }
    hpcw_i_free(all.item);
    return s;
}

/* Takes a dataset that is written again out of the index, before its files change, and removes its files. First
 * finishes removals that dead programs began. */
static hpcw_status take_out(const hpcw_rank2file *w, hpcw_error *err) {
    const struct hpcw_i_r2f_dataset d = dataset_of(w);
    struct hpcw_i_r2f_removal r = hpcw_i_r2f_removal_new(&w->place);
    hpcw_kvtree *index = NULL;
    bool replaced = false;
    int lock;
    hpcw_status s = hpcw_i_r2f_begin_change(&w->place, &d, NULL, &lock, NULL, err);
    if (s == HPCW_OK) {
        s = check_index(w, err);
    }
    if (s == HPCW_OK) {
        s = read_index(w, &index, &replaced, err);
    }
    if (s == HPCW_OK) {
        s = remove_earlier(w, index, err);
    }
    if (s == HPCW_OK && replaced) {
        s = list_older(w, index, &r, err);
        const struct hpcw_i_r2f_drop drop = {.d = d, .r = r, .lock = -1};
        size_t one = 1;
        bool no_intent;
        s = s == HPCW_OK ? hpcw_i_r2f_take_out(&drop, &one, index, w->options.durability, &no_intent, err) : s;
    }
    hpcw_kvtree_free(index);
    hpcw_i_r2f_unlock(lock);
    if (s == HPCW_OK && replaced) {
        struct hpcw_i_r2f_markers unfinished;
        (void)hpcw_i_r2f_markers_find(&w->place, HPCW_I_R2F_UNFINISHED, &unfinished, NULL);
        s = hpcw_i_r2f_finish_removal(&r, &d, &unfinished, w->options.durability >= HPCW_SYNC_FILE, err);
        hpcw_i_free(unfinished.item);
    }
    hpcw_i_r2f_removal_free(&r);
    return s;
}

/* Fails if a complete dataset of this name and id exists that the index does not list: the index may be lost. The
 * option `replace` allows to overwrite it. A dataset with a marker is unfinished and may be overwritten. */
static hpcw_status refuse_unlisted(hpcw_rank2file *w, hpcw_error *err) {
    const struct hpcw_i_r2f_dataset d = dataset_of(w);
    uint32_t summaries = 0;
    struct hpcw_i_r2f_markers unfinished;
    hpcw_status s = hpcw_i_r2f_markers_find(&w->place, HPCW_I_R2F_UNFINISHED, &unfinished, err);
    s = s == HPCW_OK ? hpcw_i_r2f_markers_have(&w->place, &unfinished, d.id, d.name, &w->earlier, err) : s;
    hpcw_i_free(unfinished.item);
    if (s == HPCW_OK && !w->earlier && !w->options.replace) {
        s = hpcw_i_r2f_count_summaries(&w->place, &d, &summaries, err);
    }
    return s == HPCW_OK && summaries > 0
               ? hpcw_i_fail(
                     err, HPCW_EEXIST,
                     "%s: dataset %s: expected none of id %" PRIu64
                     ", got one that is complete and that the index does not list: hpcw_rank2file_reindex, "
                     "or hpcgen scr reindex, lists it; with replace it is written again",
                     w->prefix, d.name, d.id)
               : s;
}

/* Removes the summaries, so that no program takes the dataset for a complete one. Called on process 0. */
static hpcw_status remove_summaries(const hpcw_rank2file *w, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint32_t m = 0; m < hpcw_rank2file_layout_maps(w->options.layout); m++) {
        char name[HPCW_RANK2FILE_PATH];
        hpcw_rank2file_summary_path(&w->options, m, name);
        int e = hpcw_i_below_unlink(w->place.dir, name);
        if (e != 0 && e != ENOENT) {
            s = hpcw_i_r2f_fail_below(&w->place, e, name, "cannot remove the summary of an unfinished dataset",
                                      err);
        }
    }
    return s;
}

/*
 * Removes the nodes and summaries that an unfinished attempt left: some readers take every node file in the
 * directory for a part of the map.
 */
static hpcw_status remove_metadata(const hpcw_rank2file *w, hpcw_error *err) {
    const struct hpcw_i_r2f_dataset d = dataset_of(w);
    struct hpcw_i_r2f_removal r = hpcw_i_r2f_removal_new(&w->place);
    hpcw_status s = hpcw_i_r2f_removal_add_metadata(&r, &d, err);
    s = s == HPCW_OK ? hpcw_i_r2f_removal_do(&r, false, err) : s;
    hpcw_i_r2f_removal_free(&r);
    return s;
}

/* Returns whether new directories and their names must be written back to the disk. */
static bool syncs(const hpcw_rank2file *w) {
    return w->options.durability >= HPCW_SYNC_DIRECTORY;
}

/* Makes the marker of process 0, and then the dataset's directory. */
static hpcw_status make_data_directory(hpcw_rank2file *w, hpcw_error *err) {
    const struct hpcw_i_r2f_which which = hpcw_i_r2f_which_of(w);
    struct hpcw_i_r2f_marker marker = hpcw_i_r2f_marker_of(w), earlier;
    struct hpcw_i_entry entry;
    bool made = false;
    /* whether an attempt that died had made the directory */
    bool before = hpcw_i_r2f_marker_read(&w->place, &which, &earlier, NULL) == HPCW_OK &&
                  strcmp(earlier.name, w->dataset) == 0 && earlier.made;
    hpcw_i_r2f_marker_free(&earlier);
    int e = hpcw_i_below_look(w->place.dir, w->dataset, &entry);
    if (e != 0) {
        return hpcw_i_r2f_fail_below(&w->place, e, w->dataset, "cannot look for the directory", err);
    }
    if (entry.kind != HPCW_I_NOTHING && entry.kind != HPCW_I_DIRECTORY) {
        return hpcw_i_r2f_fail_below(&w->place, entry.kind == HPCW_I_LINK ? ELOOP : ENOTDIR, w->dataset,
                                     "cannot make the directory", err);
    }
    bool missing = entry.kind == HPCW_I_NOTHING;
    marker.made = missing || before;
    hpcw_status s = hpcw_i_r2f_marker_open(&w->place, &which, &marker, syncs(w), &w->noted, err);
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_make_directory(&w->place, w->dataset, syncs(w), &made, err);
    }
    if (s == HPCW_OK && missing && !made && !before) { /* another process made the directory first */
        marker.made = false;
        s = hpcw_i_r2f_marker_set(&w->place, &w->noted, &marker, err);
    }
    return s;
}

/* Writes the entry of the prefix in its parent directory back to the disk. */
static hpcw_status sync_name(const hpcw_rank2file *w, hpcw_error *err) {
    struct hpcw_i_dir *parent;
    /* Use "..", as the path of the prefix may end in a slash. */
    int e = hpcw_i_dir_hold_from(w->place.dir, "../x", &parent);
    e = e == 0 ? hpcw_i_dir_sync(parent) : e;
    hpcw_i_dir_release(parent);
    return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot write its name back to the disk", w->prefix);
}

/* Makes the prefix directory if it is missing, and holds it. Makes nothing if the index refuses the dataset.
 * Called on process 0. */
static hpcw_status make_prefix(hpcw_rank2file *w, hpcw_error *err) {
    hpcw_error mine = {.message = ""};
    hpcw_status s = hpcw_i_r2f_hold(w->prefix, &w->place, &mine);
    if (s == HPCW_OK) {
        return check_index(w, err);
    }
    if (mine.sys_errno != ENOENT) {
        *err = mine;
        return s;
    }
    int e = hpcw_i_sys_mkdir(w->prefix, 0777);
    if (e != 0 && e != EEXIST) {
        return hpcw_i_fail_sys(err, e, "%s: cannot make the directory", w->prefix);
    }
    s = hpcw_i_r2f_hold(w->prefix, &w->place, err);
    return s == HPCW_OK && e == 0 && syncs(w) ? sync_name(w, err) : s;
}

static void unlock(hpcw_rank2file *w) {
    if (w->lock_fd >= 0 && hpcw_i_sys_is_still(w->lock_fd, &w->lock_id)) {
        hpcw_i_r2f_unlock(w->lock_fd);
    }
    w->lock_fd = -1;
}

/* Stores the inode of the lock file, by which `unlock` recognises it. */
static hpcw_status know_lock(hpcw_rank2file *w, hpcw_error *err) {
    int e = hpcw_i_sys_id(w->lock_fd, &w->lock_id);
    if (e == 0) {
        return HPCW_OK;
    }
    hpcw_i_r2f_unlock(w->lock_fd);
    w->lock_fd = -1;
    return hpcw_i_r2f_fail_below(&w->place, e, HPCW_I_R2F_LOCK, "cannot look at the lock", err);
}

static hpcw_status begin(hpcw_rank2file *w, hpcw_error *err) {
    hpcw_status s = make_prefix(w, err);
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_make_directory(&w->place, ".scr", syncs(w), NULL, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_lock_dataset(&w->place, w->options.dataset.id, w->dataset, &w->lock_fd, NULL, err);
    }
    if (s == HPCW_OK) {
        s = know_lock(w, err);
    }
    if (s == HPCW_OK) {
        s = take_out(w, err);
    }
    if (s == HPCW_OK) {
        s = refuse_unlisted(w, err);
    }
    if (s == HPCW_OK) {
        hpcw_i_r2f_forget_intent(&w->place, w->options.dataset.id);
        s = remove_metadata(w, err);
    }
    if (s == HPCW_OK) {
        s = make_data_directory(w, err);
    }
    for (uint32_t m = 0; s == HPCW_OK && m < hpcw_rank2file_layout_maps(w->options.layout); m++) {
        char directory[HPCW_RANK2FILE_PATH];
        hpcw_i_r2f_metadata(hpcw_i_r2f_kind_of(w->options.layout, m), w->options.dataset.id, w->dataset,
                            directory);
        s = hpcw_i_r2f_make_directory(&w->place, directory, syncs(w), NULL, err);
    }
    return s;
}

/* Opens and holds the prefix on processes other than 0. It need not exist if the program has its own sinks. */
static hpcw_status hold_prefix(hpcw_rank2file *w, hpcw_error *err) {
    hpcw_status s = hpcw_i_r2f_hold(w->prefix, &w->place, err);
    return w->options.sink_source.open != NULL ? HPCW_OK : s;
}

/* Sets options that the caller left out. The time and the user are those of process 0. Collective. */
static hpcw_status fill_in(hpcw_rank2file *w, hpcw_error *err) {
    hpcw_rank2file_dataset *d = &w->options.dataset;
    struct {
        uint64_t now_us;
        char user[256];
    } known = {.now_us = hpcw_i_r2f_now_us()};
    const char *user = getenv("USER");
    user = user == NULL || *user == '\0' ? getenv("LOGNAME") : user;
    if (user != NULL && *user != '\0') {
        (void)snprintf(known.user, sizeof known.user, "%s", user);
    } else {
        (void)snprintf(known.user, sizeof known.user, "%u", (unsigned)getuid());
    }
    hpcw_status s = hpcw_i_comm_bcast(w->comm, &known, sizeof known, 0, err);
    d->name = w->dataset;
    d->checkpoint = d->checkpoint == 0 ? d->id : d->checkpoint;
    d->created_us = d->created_us == 0 ? known.now_us : d->created_us;
    d->job_id = d->job_id == NULL ? "1" : d->job_id;
    if (s == HPCW_OK && d->user == NULL) {
        d->user = w->text[2] = hpcw_i_strdup(known.user);
        s = d->user == NULL ? hpcw_i_fail_memory(err, w->prefix, 0, NULL) : HPCW_OK;
    }
    return s;
}

hpcw_status hpcw_rank2file_open(const char *prefix, hpcw_comm *comm, const hpcw_rank2file_options *options,
                                hpcw_rank2file **out, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    comm = hpcw_i_comm_or_self(comm);
    hpcw_rank2file *w = NULL;
    hpcw_status s = hpcw_rank2file_options_check(options, err);
    if (s == HPCW_OK && (prefix == NULL || *prefix == '\0' || out == NULL)) {
        s = hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected a prefix and a pointer for the handle, got %s",
                        prefix == NULL || out == NULL ? "NULL" : "an empty prefix");
    }
    if (out != NULL) {
        *out = NULL;
    }
    if (s == HPCW_OK) {
        w = hpcw_i_calloc(1, sizeof *w);
        if (w == NULL) {
            s = hpcw_i_fail_memory(err, prefix, 0, NULL);
        } else {
            (void)pthread_mutex_init(&w->lock, NULL);
            w->comm = comm;
            w->lock_fd = -1;
            w->noted.fd = -1;
            s = prepare(w, prefix, options, err);
        }
    }
    s = agree_on_options(comm, w, s, err);
    if (s == HPCW_OK) {
        s = place_ranks(w, err);
    }
    if (s == HPCW_OK) {
        s = fill_in(w, err);
        s = s == HPCW_OK && comm->process == 0 ? begin(w, err) : s;
        s = hpcw_i_agree(comm, s, NULL, err);
        if (s == HPCW_OK && comm->size > 1) {
            s = comm->process > 0 ? hold_prefix(w, err) : HPCW_OK;
            s = hpcw_i_agree(comm, s, NULL, err);
        }
    }
    if (s != HPCW_OK) {
        if (prefix != NULL && s != HPCW_EMISMATCH && s != HPCW_EINVAL) {
            hpcw_i_fail_about(err, prefix);
        }
        hpcw_rank2file_free(w);
        return s;
    }
    *out = w;
    return HPCW_OK;
}

void hpcw_rank2file_free(hpcw_rank2file *w) {
    if (w == NULL) {
        return;
    }
    for (size_t i = 0; i < sizeof w->text / sizeof w->text[0]; i++) {
        hpcw_i_free(w->text[i]);
    }
    for (struct hpcw_i_r2f_begun *f = w->begun; f != NULL; f = f->next) {
        /* the handle of a file may live longer than the handle of its dataset */
        f->w = NULL;
    }
    hpcw_i_r2f_marker_close(&w->noted);
    unlock(w);
    hpcw_i_dir_release(w->place.dir);
    hpcw_i_buf_free(&w->own);
    hpcw_i_buf_free(&w->names);
    hpcw_i_free(w->own_ranks);
    hpcw_i_free(w->prefix);
    (void)pthread_mutex_destroy(&w->lock);
    hpcw_i_free(w);
}

uint32_t hpcw_rank2file_ranks(const hpcw_rank2file *w) {
    return w == NULL ? 0 : w->ranks;
}

uint32_t hpcw_rank2file_first_rank(const hpcw_rank2file *w) {
    return w == NULL ? 0 : w->options.count == 0 ? w->ranks : hpcw_i_r2f_rank_at(w, 0);
}

const hpcw_rank2file_dataset *hpcw_rank2file_dataset_of(const hpcw_rank2file *w) {
    return w == NULL ? NULL : &w->options.dataset;
}

/* ---- close ---- */

/* If somebody removed the lock file, takes the lock again before the close overwrites anything. Fails if
 * another program has written a dataset of this id or name meanwhile. Called on process 0. */
static hpcw_status regain_lock(hpcw_rank2file *w, hpcw_error *err) {
    hpcw_kvtree *index = NULL;
    hpcw_rank2file_layout layout;
    const hpcw_rank2file_dataset *d = &w->options.dataset;
    bool named;
    hpcw_status s = hpcw_i_r2f_lock_is_named(&w->place, w->lock_fd, &named, err);
    if (s != HPCW_OK || named) {
        return s;
    }
    unlock(w);
    s = hpcw_i_r2f_make_directory(&w->place, ".scr", syncs(w), NULL, err);
    s = s == HPCW_OK ? hpcw_i_r2f_lock_again(&w->place, d->id, w->dataset, &w->lock_fd, NULL, err) : s;
    s = s == HPCW_OK ? know_lock(w, err) : s;
    if (s == HPCW_OK) {
        hpcw_error mine = {.message = ""};
        s = hpcw_i_r2f_index_read(&w->place, &index, &mine);
        s = s == HPCW_OK ? hpcw_i_r2f_index_layout(index, w->prefix, &layout, &mine) : s;
        if (s == HPCW_OK && hpcw_i_r2f_index_has(index, layout, d->id, w->dataset)) {
            s = hpcw_i_fail(&mine, HPCW_EEXIST,
                            "%s/%s: expected a new dataset, got %s or one with id %" PRIu64
                            ", which another program wrote while %s was missing",
                            w->prefix, HPCW_RANK2FILE_INDEX, w->dataset, d->id, HPCW_I_R2F_LOCK);
        }
        *err = s == HPCW_OK || s == HPCW_ENOENT ? *err : mine;
        s = s == HPCW_ENOENT ? HPCW_OK : s;
    }
    hpcw_kvtree_free(index);
    return s;
}

static int by_index_and_call(const void *a_, const void *b_) {
    const struct hpcw_i_r2f_own *a = a_;
    const struct hpcw_i_r2f_own *b = b_;
    return a->index != b->index ? (a->index < b->index ? -1 : 1) : a->name_at < b->name_at ? -1 : 1;
}

/* Makes the records of this process's files, in the order of ranks. The files of a rank are in the order in
 * which they were added. */
static hpcw_status make_records(hpcw_rank2file *w, struct hpcw_i_buf *records, uint64_t sums[2],
                                hpcw_error *err) {
    struct hpcw_i_r2f_own *own = (struct hpcw_i_r2f_own *)(void *)w->own.data;
    size_t files = w->own.size / sizeof *own;
    size_t next = 0;
    bool ok = true;
    if (files > 0) {
        qsort(own, files, sizeof *own, by_index_and_call);
    }
    sums[0] = files;
    for (uint32_t r = 0; ok && r < w->options.count; r++) {
        size_t end = next;
        while (end < files && own[end].index == r) {
            end++;
        }
        ok = hpcw_i_r2f_put_rank_word(records, hpcw_i_r2f_rank_at(w, r), (uint32_t)(end - next));
        for (; ok && next < end; next++) {
            const struct hpcw_i_r2f_own *o = &own[next];
            const struct hpcw_i_r2f_file f = {
                .size = o->size,
                .name = (const char *)w->names.data + o->name_at,
                .name_size = o->name_size,
                .crc = o->crc,
                .flags = o->flags,
            };
            sums[1] += o->size;
            ok = hpcw_i_r2f_put_file_words(records, &f);
        }
    }
    return ok ? HPCW_OK : hpcw_i_fail_memory(err, w->prefix, files, "files");
}

static hpcw_status put_tree(void *context, hpcw_sink *sink, hpcw_error *err) {
    return hpcw_kvtree_write(context, sink, 0, err);
}

/* Adds the dataset to the index, and writes the index. *listed: the file on the disk lists the dataset, possibly
 * despite a failure. */
static hpcw_status write_index(const hpcw_rank2file *w, bool *listed, hpcw_error *err) {
    hpcw_kvtree *index = NULL;
    bool replaced;
    int lock;
    hpcw_status s = hpcw_i_r2f_lock_index(&w->place, &lock, NULL, err);
    if (s == HPCW_OK) {
        s = read_index(w, &index, &replaced, err);
    }
    if (s == HPCW_OK) {
        s = add_to(w, index, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_write_file(w, HPCW_RANK2FILE_INDEX, put_tree, index, listed, err);
    }
    hpcw_kvtree_free(index);
    hpcw_i_r2f_unlock(lock);
    return s;
}

/* Writes summaries and index after the maps, as they make the dataset visible. Called on process 0. */
static hpcw_status write_summary_and_index(hpcw_rank2file *w, hpcw_error *err) {
    hpcw_kvtree *tree;
    bool listed = false, named;
    hpcw_status s = hpcw_rank2file_summary(&w->options, &tree, err);
    for (uint32_t m = 0; s == HPCW_OK && m < hpcw_rank2file_layout_maps(w->options.layout); m++) {
        char path[HPCW_RANK2FILE_PATH];
        hpcw_rank2file_summary_path(&w->options, m, path);
        s = hpcw_i_r2f_write_file(w, path, put_tree, tree, NULL, err);
    }
    hpcw_kvtree_free(tree);
    if (s == HPCW_OK) {
        s = write_index(w, &listed, err);
    }
    if (s == HPCW_OK || listed) {
        hpcw_i_r2f_forget(w);
        if (w->earlier) {
            struct hpcw_i_r2f_markers unfinished;
            (void)hpcw_i_r2f_markers_find(&w->place, HPCW_I_R2F_UNFINISHED, &unfinished, NULL);
            hpcw_i_r2f_markers_forget(&w->place, &unfinished, w->options.dataset.id, w->dataset);
            hpcw_i_free(unfinished.item);
        }
    } else if (s != HPCW_EEXIST && hpcw_i_r2f_lock_is_named(&w->place, w->lock_fd, &named, NULL) == HPCW_OK &&
               named) {
        /* The index does not list the dataset, and the lock is still held: the summaries are those of this
         * attempt. */
        (void)remove_summaries(w, NULL);
    }
    return s;
}

/* Sets the time of the close to that of process 0, if the caller gave none. Collective. */
static hpcw_status stamp(hpcw_rank2file *w, hpcw_error *err) {
    if (w->options.dataset.flushed != NULL) {
        return HPCW_OK;
    }
    hpcw_i_r2f_stamp_now(w->flushed);
    w->options.dataset.flushed = w->flushed;
    return hpcw_i_comm_bcast(w->comm, w->flushed, sizeof w->flushed, 0, err);
}

hpcw_status hpcw_rank2file_close(hpcw_rank2file *w, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    if (w == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected an open dataset, got NULL");
    }
    if (w->closed) {
        return hpcw_i_fail(err, HPCW_ESTATE, "%s: dataset %s is closed", w->prefix, w->dataset);
    }
    w->closed = true;
    struct hpcw_i_buf records = {0};
    struct hpcw_i_r2f_block block = {0};
    uint64_t sums[2] = {0};
    struct hpcw_i_words words = {.sums = 2, .word = sums};
    hpcw_status s = hpcw_i_r2f_check_files(w, err);
    if (s == HPCW_OK && w->comm->process == 0) {
        s = regain_lock(w, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_sync_directories(w, err);
    }
    if (s == HPCW_OK) {
        s = make_records(w, &records, sums, err);
    }
    s = hpcw_i_agree(w->comm, s, &words, err);
    if (s == HPCW_OK) {
        w->options.dataset.files = sums[0];
        w->options.dataset.size = sums[1];
        s = hpcw_i_r2f_gather(w->comm, w->ranks, &records, &block, err);
        hpcw_i_buf_free(&records);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_r2f_refuse_twins(w->comm, &block, err);
    }
    for (uint32_t m = 0; s == HPCW_OK && m < hpcw_rank2file_layout_maps(w->options.layout); m++) {
        s = hpcw_i_r2f_write_map(w, m, &block, err);
    }
    if (s == HPCW_OK) {
        s = stamp(w, err);
    }
    if (s == HPCW_OK) {
        s = w->comm->process == 0 ? write_summary_and_index(w, err) : HPCW_OK;
        s = hpcw_i_agree(w->comm, s, NULL, err);
    }
    if (s == HPCW_OK) {
        hpcw_i_r2f_forget(w);
    }
    unlock(w);
    if (s != HPCW_OK) {
        hpcw_i_fail_about(err, w->prefix);
    }
    hpcw_i_buf_free(&records);
    hpcw_i_r2f_block_free(&block);
    return s;
}
