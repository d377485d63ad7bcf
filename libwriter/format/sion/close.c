/* SPDX-License-Identifier: BSD-3-Clause */
/* The close of a container: remaining data, metadata, names. The files of a set get their names together. */
#include <string.h>

#include "libwriter/base/bytes.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/format/sion/data/buffer.h"
#include "libwriter/format/sion/meta/meta.h"
#include "libwriter/io/sink_set.h"

/* Agrees with all processes on the extent `e`, whose members are minima and maxima over all processes. `word` [3 *
 * files] is memory for the arrays of `e`. */
static hpcw_status agree_on_extent(struct hpcw_sion *h, hpcw_status s, uint64_t *word,
                                   struct hpcw_i_sion_extent *e, hpcw_error *err) {
    uint32_t files = h->placement.files;
    *e = (struct hpcw_i_sion_extent){word, word + files, word + 2 * (size_t)files};
    for (uint32_t f = 0; f < files; f++) {
        e->lowest[f] = UINT64_MAX;
        e->highest[f] = e->blocks[f] = 0;
    }
    for (uint32_t p = 0; p < h->parts; p++) {
        const struct hpcw_i_sion_part *part = &h->part[p];
        uint64_t blocks = 0;
        for (uint32_t i = part->begin; i < part->end; i++) {
            blocks = h->task[i].block + (uint64_t)1 > blocks ? h->task[i].block + (uint64_t)1 : blocks;
        }
        e->lowest[part->file] = e->highest[part->file] = (uint64_t)h->comm->process;
        e->blocks[part->file] = blocks;
    }
    struct hpcw_i_words words = {.mins = files, .maxs = 2 * files, .word = word};
    if (files == 1) {
        return hpcw_i_agree(h->comm, s, &words, err);
    }
    s = hpcw_i_agree(h->comm, s, NULL, err);
    return s == HPCW_OK ? hpcw_i_comm_allreduce(h->comm, &words, err) : s;
}

/* Writes the parts of the metadata that come before the commit: the size of the file, and the number of entries in
 * its mapping. */
static hpcw_status write_rest(struct hpcw_sion *h, const struct hpcw_i_sion_part *part,
                              const struct hpcw_i_sion_extent *e, hpcw_error *err) {
    hpcw_sion_shape shape = hpcw_i_sion_shape_of_file(h, part->file, e->blocks[part->file]);
    hpcw_status s = HPCW_OK;
    uint64_t mapping = hpcw_i_sion_mapping_of(h, part->file);
    if (mapping != HPCW_I_SION_NO_MAPPING) {
        unsigned char entries[HPCW_I_SION_MAPPING_HEADER];
        hpcw_i_put_u32(entries, (uint32_t)mapping, h->options.endian == HPCW_SION_BIG);
        s = hpcw_sink_write_at(part->sink, hpcw_i_sion_mapping_at(&shape, mapping), entries, sizeof entries,
                               err);
    }
    return s == HPCW_OK ? hpcw_sink_set_size(part->sink, shape.file_size, err) : s;
}

/* Writes the head and the commit mark, after all other parts. Until then the file begins with the nonce of the run.
 * Processes that open the file only to write tables look for this nonce. */
static hpcw_status commit(struct hpcw_sion *h, const struct hpcw_i_sion_part *part,
                          const struct hpcw_i_sion_extent *e, hpcw_error *err) {
    hpcw_sion_shape shape = hpcw_i_sion_shape_of_file(h, part->file, e->blocks[part->file]);
    unsigned char head[HPCW_I_SION_TABLES_AT];
    unsigned char mark[HPCW_I_SION_COMMIT_SIZE];
    hpcw_i_sion_encode_head(h, part->file, head);
    hpcw_i_sion_encode_commit(h, e->blocks[part->file], shape.meta2_start, mark);
    hpcw_status s = hpcw_sink_write_at(part->sink, 0, head, sizeof head, err);
    return s == HPCW_OK
               ? hpcw_sink_write_at(part->sink, hpcw_i_sion_commit_at(h->placement.file[part->file].tasks),
                                    mark, sizeof mark, err)
               : s;
}

/* The leaders write all remaining parts except the head. Other processes detach from their files, which reports
 * late write errors. */
static hpcw_status finish_parts(struct hpcw_sion *h, const struct hpcw_i_sion_extent *e, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint32_t p = 0; s == HPCW_OK && p < h->parts; p++) {
        s = hpcw_i_sion_leads(h, &h->part[p]) ? write_rest(h, &h->part[p], e, err)
                                              : hpcw_sink_detach(h->part[p].sink, err);
    }
    return s;
}

/* ---- names ---- */

static bool leads_base(const struct hpcw_sion *h) {
    return h->parts > 0 && h->part[0].file == 0 && hpcw_i_sion_leads(h, &h->part[0]);
}

/* Returns whether the files of a set get their names together. Sinks of the caller get no names here. If several
 * runs write a set, only the run with the base file (file 0) does this. */
static bool is_named_together(const struct hpcw_sion *h) {
    return h->placement.files > 1 && h->options.sink_source.open == NULL &&
           (h->options.set_tasks == 0 || h->options.set_first_file == 0);
}

/* Commits the files that this process leads. Files that wait for their names are then complete. */
static hpcw_status commit_parts(struct hpcw_sion *h, const struct hpcw_i_sion_extent *e, bool together,
                                hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint32_t p = 0; s == HPCW_OK && p < h->parts; p++) {
        if (hpcw_i_sion_leads(h, &h->part[p])) {
            s = commit(h, &h->part[p], e, err);
            if (s == HPCW_OK && together) {
                s = hpcw_i_sink_settle(h->part[p].sink, err);
            }
        }
    }
    return s;
}

static hpcw_status publish_parts(struct hpcw_sion *h, bool base, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint32_t p = 0; s == HPCW_OK && p < h->parts; p++) {
        if (hpcw_i_sion_leads(h, &h->part[p]) && (h->part[p].file == 0) == base) {
            s = hpcw_sink_publish(h->part[p].sink, err);
        }
    }
    return s;
}

/* Gives the base file (file 0) its name, after all other files. From then on the container is complete, even if the
 * fsync of the directory fails. */
static hpcw_status publish_base(struct hpcw_sion *h, hpcw_status so_far, hpcw_error *err) {
    hpcw_status mine = so_far == HPCW_OK ? publish_parts(h, true, err) : so_far;
    bool named = mine == HPCW_OK || h->part[0].sink->named;
    hpcw_status s = hpcw_i_agree(h->comm, named ? HPCW_OK : mine, NULL, err);
    if (s == HPCW_OK && h->options.durability >= HPCW_SYNC_DIRECTORY) {
        h->named = true;
        s = hpcw_i_agree(h->comm, mine, NULL, err);
    }
    return s;
}

/* Writes the intent, a small file beside the set. It lists the files of this run with the numbers in their
 * temporary names. Files of other runs are not listed. */
static hpcw_status announce(struct hpcw_sion *h, const uint64_t *number, struct hpcw_i_set **set,
                            hpcw_error *err) {
    uint32_t files = h->placement.files;
    struct hpcw_i_set_file *file = hpcw_i_calloc(files, sizeof *file);
    hpcw_status s = file == NULL ? hpcw_i_fail_memory(err, h->path, files, "names") : HPCW_OK;
    uint32_t own = 0;
    for (uint32_t f = 0; s == HPCW_OK && f < files; f++) {
        if (number[f] != 0) {
            file[own].number = number[f];
            file[own].path = hpcw_i_sion_path_of_file(h, f);
            s = file[own++].path == NULL ? hpcw_i_fail_memory(err, h->path, files, "names") : HPCW_OK;
        }
    }
    if (s == HPCW_OK) {
        s = hpcw_i_set_announce(h->dir, h->path, own, file, h->options.durability, set, err);
    }
    for (uint32_t k = 0; k < own; k++) {
        hpcw_i_free(file[k].path);
    }
    hpcw_i_free(file);
    return s;
}

/* Gives all processes the numbers in the files' temporary names. Only the leader of a file knows its number.
 * `number` [files] is an output. */
static hpcw_status share_numbers(const struct hpcw_sion *h, uint64_t *number, hpcw_error *err) {
    for (uint32_t f = 0; f < h->placement.files; f++) {
        number[f] = 0;
    }
    for (uint32_t p = 0; p < h->parts; p++) {
        if (hpcw_i_sion_leads(h, &h->part[p])) {
            number[h->part[p].file] = hpcw_i_sink_number(h->part[p].sink);
        }
    }
    struct hpcw_i_words words = {.maxs = h->placement.files, .word = number};
    return hpcw_i_comm_allreduce(h->comm, &words, err);
}

/*
 * Gives the files of a set their names. First the intent, a list of the files, is written. Then the older base file
 * is removed, so that old and new files never appear together. The base file is named last. If a process dies
 * meanwhile, the intent remains, and the next open of the path finishes the set. All processes return the same.
 */
static hpcw_status publish_set(struct hpcw_sion *h, uint64_t *number, hpcw_error *err) {
    struct hpcw_i_set *set = NULL;
    const bool base = leads_base(h);
    hpcw_status s = share_numbers(h, number, err);
    if (s == HPCW_OK) {
        s = hpcw_i_agree(h->comm, base ? announce(h, number, &set, err) : HPCW_OK, NULL, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_agree(h->comm, base ? hpcw_i_set_retire(set, h->part[0].sink, err) : HPCW_OK, NULL, err);
    }
    if (s != HPCW_OK) {
        (void)hpcw_i_set_end(set, NULL); /* an older container is unchanged */
        return s;
    }
    h->begun = true;
    s = hpcw_i_agree(h->comm, publish_parts(h, false, err), NULL, err);
    s = s == HPCW_OK ? publish_base(h, HPCW_OK, err) : s;
    if (s == HPCW_OK || h->named) {
        h->begun = false;
        h->named = true;
        hpcw_error why;
        hpcw_status ended = hpcw_i_agree(h->comm, hpcw_i_set_end(set, &why), NULL, &why);
        if (s == HPCW_OK && ended != HPCW_OK) {
            *err = why;
            s = ended;
        }
        return s;
    }
    hpcw_i_set_leave(set);
    return hpcw_i_set_begun(err, h->path);
}

/* Commits the files and gives them their names. All processes return the same status. `number` [files] is scratch
 * memory, which may be the memory of `e`. */
static hpcw_status publish_all(struct hpcw_sion *h, const struct hpcw_i_sion_extent *e, uint64_t *number,
                               hpcw_error *err) {
    const bool together = is_named_together(h);
    hpcw_status s = commit_parts(h, e, together, err);
    if (h->placement.files == 1) {
        return publish_base(h, s, err);
    }
    s = hpcw_i_agree(h->comm, s, NULL, err);
    if (s == HPCW_OK && together) {
        return publish_set(h, number, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_agree(h->comm, publish_parts(h, false, err), NULL, err);
    }
    return s == HPCW_OK ? publish_base(h, HPCW_OK, err) : s;
}

/* Closes the container. `word` [3 * files] is scratch memory. All processes return the same status. */
static hpcw_status close_handle(struct hpcw_sion *h, uint64_t *word, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    if (atomic_load(&h->broken)) {
        *err = h->failure;
        s = h->failure.code;
    } else {
        s = hpcw_i_sion_flush_all(h, err);
    }
    if (hpcw_i_sion_has_leader(h)) {
        bool large = false;
        s = hpcw_i_sion_gather_meta(h, s, &large, err);
        if (!large) {
            return s;
        }
        s = hpcw_i_sion_files_reopen(h, err);
    }
    struct hpcw_i_sion_extent e;
    s = agree_on_extent(h, s, word, &e, err);
    if (s == HPCW_OK) {
        s = hpcw_i_sion_check_limits(h, e.blocks, err);
    }
    if (s != HPCW_OK) {
        return s;
    }
    bool agreed;
    s = hpcw_i_sion_write_windows(h, &e, &agreed, err);
    if (agreed) {
        return s; /* the failure is agreed already; a second agreement would name another process */
    }
    if (s == HPCW_OK) {
        s = finish_parts(h, &e, err);
    }
    s = hpcw_i_agree(h->comm, s, NULL, err);
    return s == HPCW_OK ? publish_all(h, &e, word, err) : s;
}

hpcw_status hpcw_sion_close(hpcw_sion *h, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    if (h == NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL, "sion: expected an open container, got NULL");
    }
    if (h->closed) {
        return hpcw_i_fail(err, HPCW_ESTATE, "%s: the container is closed", h->path);
    }
    h->closed = true;
    atomic_store(&h->quick, 0); /* from now on every write takes the slow path, which refuses it */
    uint32_t files = h->placement.files;
    uint64_t single[3]; /* one file: avoids an allocation and the agreement on its failure */
    uint64_t *word = single;
    hpcw_status s = HPCW_OK;
    if (files > 1) {
        word = hpcw_i_malloc(3 * (size_t)files * sizeof *word);
        s = word == NULL ? hpcw_i_fail_memory(err, h->path, files, "files") : HPCW_OK;
        s = hpcw_i_agree(h->comm, s, NULL, err);
    }
    if (s == HPCW_OK) {
        s = close_handle(h, word, err);
    }
    if (word != single) {
        hpcw_i_free(word);
    }
    if (s != HPCW_OK) {
        hpcw_i_fail_about(err, h->path);
        for (uint32_t p = 0; p < h->parts; p++) {
            if (h->begun) {
                hpcw_i_sink_leave(h->part[p].sink);
                continue;
            }
            hpcw_sink_discard(h->part[p].sink);
            if (files > 1 && !h->named) { /* remove files that were named before another one failed */
                hpcw_i_sink_withdraw(h->part[p].sink);
            }
        }
    }
    return s;
}
