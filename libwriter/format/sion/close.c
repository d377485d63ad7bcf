/* SPDX-License-Identifier: BSD-3-Clause */
/* The close of a container: the rest of the data, the metadata, the names. */
#include "libwriter/base/bytes.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/format/sion/data/buffer.h"
#include "libwriter/format/sion/meta/meta.h"
#include "libwriter/io/sink.h"
#include "libwriter/io/sys.h"

/* `word` [3 * files] holds what `e` points to: minima first, then maxima, as the reduction needs them. */
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

/* All but what makes the file one: its size, and the number of entries of its mapping. */
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

/* The head and the commit mark. The head must not come earlier: processes that open the file only for its tables look
 * there for the nonce of the run. */
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

/* The leaders write what is left but the head. The others detach from their files, which shows late errors of their writes. */
static hpcw_status finish_parts(struct hpcw_sion *h, const struct hpcw_i_sion_extent *e, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint32_t p = 0; s == HPCW_OK && p < h->parts; p++) {
        s = hpcw_i_sion_leads(h, &h->part[p]) ? write_rest(h, &h->part[p], e, err)
                                              : hpcw_sink_detach(h->part[p].sink, err);
    }
    return s;
}

static hpcw_status publish_parts(struct hpcw_sion *h, const struct hpcw_i_sion_extent *e, bool base,
                                 hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (uint32_t p = 0; s == HPCW_OK && p < h->parts; p++) {
        if (hpcw_i_sion_leads(h, &h->part[p]) && (h->part[p].file == 0) == base) {
            s = commit(h, &h->part[p], e, err);
            if (s == HPCW_OK) {
                s = hpcw_sink_publish(h->part[p].sink, err);
            }
        }
    }
    return s;
}

/* The base file last. Once it has its name the container is complete, whatever becomes of the directory. */
static hpcw_status publish_base(struct hpcw_sion *h, const struct hpcw_i_sion_extent *e, hpcw_error *err) {
    hpcw_status mine = publish_parts(h, e, true, err);
    bool named = mine == HPCW_OK || h->part[0].sink->named;
    hpcw_status s = hpcw_i_agree(h->comm, named ? HPCW_OK : mine, NULL, err);
    if (s == HPCW_OK && h->options.durability >= HPCW_SYNC_DIRECTORY) {
        h->named = true;
        s = hpcw_i_agree(h->comm, mine, NULL, err);
    }
    return s;
}

/* Removes an older base file, so that no moment shows old and new members of a set together. */
static hpcw_status retire_old_base(struct hpcw_sion *h, hpcw_error *err) {
    bool lead_base = h->parts > 0 && h->part[0].file == 0 && hpcw_i_sion_leads(h, &h->part[0]);
    if (!lead_base || h->options.sink_source.open != NULL) {
        return HPCW_OK;
    }
    int e = hpcw_i_sys_unlink(h->path);
    return e == 0 || hpcw_i_status_of_errno(e) == HPCW_ENOENT
               ? HPCW_OK
               : hpcw_i_fail_sys(err, e, "%s: cannot remove the older file of this name", h->path);
}

/* Commits and names the files, of a set the base file last. All processes return the same. */
static hpcw_status publish_all(struct hpcw_sion *h, const struct hpcw_i_sion_extent *e, hpcw_error *err) {
    if (h->placement.files > 1) {
        hpcw_status s = hpcw_i_agree(h->comm, retire_old_base(h, err), NULL, err);
        if (s == HPCW_OK) {
            s = hpcw_i_agree(h->comm, publish_parts(h, e, false, err), NULL, err);
        }
        if (s != HPCW_OK) {
            return s;
        }
    }
    return publish_base(h, e, err);
}

/* `word`: [3 * files] scratch. All processes return the same. */
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
        return s; /* a second agreement would name another process */
    }
    if (s == HPCW_OK) {
        s = finish_parts(h, &e, err);
    }
    s = hpcw_i_agree(h->comm, s, NULL, err);
    return s == HPCW_OK ? publish_all(h, &e, err) : s;
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
    atomic_store(&h->quick, 0); /* from now on the slow path sees every write, and refuses it */
    uint32_t files = h->placement.files;
    uint64_t single[3]; /* one file, the common case, can neither fail here nor cost an agreement */
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
            hpcw_sink_discard(h->part[p].sink);
            if (files > 1 && !h->named) { /* members that were named before another failed */
                hpcw_i_sink_withdraw(h->part[p].sink);
            }
        }
    }
    return s;
}
