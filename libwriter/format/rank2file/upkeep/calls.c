/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls that change a prefix directory. All processes check the arguments, and process 0 does the
 * work. */
#include <string.h>

#include "libwriter/base/options.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/format/rank2file/upkeep/upkeep.h"
#include "libwriter/io/dir.h"

void hpcw_rank2file_removal_fill(hpcw_rank2file_removal *removal, size_t size) {
    const hpcw_rank2file_removal defaults = {.all_files = false};
    if (removal != NULL) {
        hpcw_i_options_fill(removal, size, &defaults, sizeof defaults);
    }
}

struct request {
    enum { DROP, MARK_FAILED, MAKE_CURRENT, PRUNE, REINDEX } call;
    const char *dataset; /* "": none */
    uint32_t keep;
    const hpcw_rank2file_removal *how;
};

static hpcw_status do_request(struct hpcw_i_r2f_upkeep *u, const struct request *q, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    size_t one = 1;
    bool last;
    switch (q->call) {
    case DROP:
        s = u->how.told != NULL ? hpcw_i_r2f_drop(u, &q->dataset, &one, true, &last, err) : HPCW_OK;
        return s == HPCW_OK ? hpcw_i_r2f_drop(u, &q->dataset, &one, false, &last, err) : s;
    case MARK_FAILED:
        return hpcw_i_r2f_mark_failed(u, q->dataset, err);
    case MAKE_CURRENT:
        return hpcw_i_r2f_make_current(u, q->dataset, err);
    case PRUNE:
        return hpcw_i_r2f_prune(u, q->keep, err);
    default:
        return hpcw_i_r2f_reindex(u, err);
    }
}

static hpcw_status run(const char *prefix, hpcw_comm *comm, const struct request *q,
                       hpcw_rank2file_tally *tally, hpcw_error *err) {
    hpcw_error local;
    err = err == NULL ? &local : err;
    comm = hpcw_i_comm_or_self(comm);
    struct hpcw_i_r2f_upkeep u = {.tally = {.added = 0}};
    hpcw_status s = HPCW_OK;
    hpcw_rank2file_removal_fill(&u.how, sizeof u.how);
    if (prefix == NULL || *prefix == '\0' || q->dataset == NULL) {
        s = hpcw_i_fail(err, HPCW_EINVAL, "rank2file: expected a prefix and the name of a dataset, got %s",
                        prefix == NULL || q->dataset == NULL ? "NULL" : "an empty prefix");
    } else if (q->how != NULL) {
        s = hpcw_i_options_take(&u.how, sizeof u.how, q->how, "hpcw_rank2file_removal", err);
    }
    const struct hpcw_i_same same[] = {
        {.name = "prefix", .text = prefix},
        {.name = "dataset", .text = q->dataset},
        {.name = "keep", .number = q->keep},
        {.name = "all_files", .number = u.how.all_files, .words = "no yes"},
    };
    s = hpcw_i_agree_same(comm, s, prefix, same, sizeof same / sizeof same[0], NULL, err);
    if (s == HPCW_OK) {
        if (comm->process == 0) {
            s = hpcw_i_r2f_hold(prefix, &u.p, err);
            s = s == HPCW_OK ? do_request(&u, q, err) : s;
            hpcw_i_dir_release(u.p.dir);
        }
        if (s != HPCW_OK) {
            hpcw_i_fail_about(err, prefix);
        }
        s = hpcw_i_agree(comm, s, NULL, err);
    }
    if (s == HPCW_OK) {
        s = hpcw_i_comm_bcast(comm, &u.tally, sizeof u.tally, 0, err);
    }
    if (tally != NULL) {
        *tally = u.tally;
    }
    return s;
}

hpcw_status hpcw_rank2file_drop(const char *prefix, hpcw_comm *comm, const char *dataset,
                                const hpcw_rank2file_removal *how, hpcw_rank2file_tally *tally,
                                hpcw_error *err) {
    return run(prefix, comm, &(struct request){.call = DROP, .dataset = dataset, .how = how}, tally, err);
}

hpcw_status hpcw_rank2file_mark_failed(const char *prefix, hpcw_comm *comm, const char *dataset,
                                       hpcw_error *err) {
    return run(prefix, comm, &(struct request){.call = MARK_FAILED, .dataset = dataset}, NULL, err);
}

hpcw_status hpcw_rank2file_make_current(const char *prefix, hpcw_comm *comm, const char *dataset,
                                        hpcw_error *err) {
    return run(prefix, comm, &(struct request){.call = MAKE_CURRENT, .dataset = dataset}, NULL, err);
}

hpcw_status hpcw_rank2file_prune(const char *prefix, hpcw_comm *comm, uint32_t keep,
                                 const hpcw_rank2file_removal *how, hpcw_rank2file_tally *tally,
                                 hpcw_error *err) {
    return run(prefix, comm, &(struct request){.call = PRUNE, .dataset = "", .keep = keep, .how = how}, tally,
               err);
}

hpcw_status hpcw_rank2file_reindex(const char *prefix, hpcw_comm *comm, hpcw_rank2file_tally *tally,
                                   hpcw_error *err) {
    return run(prefix, comm, &(struct request){.call = REINDEX, .dataset = ""}, tally, err);
}
