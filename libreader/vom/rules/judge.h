/* SPDX-License-Identifier: BSD-3-Clause */
/* F4, private to the VOM reader: the rules between records, of one file or of all ranks, as events come in
 * (doc/formats/vom.md, "Rules"). */
#ifndef HPCW_LIBREADER_VOM_RULES_JUDGE_H
#define HPCW_LIBREADER_VOM_RULES_JUDGE_H

#include "libreader/vom/rules/ids.h"
#include "libreader/vom/vom.h"

/* A phase that is open: with all ranks, the ones read so far. */
struct read_vom_open_phase {
    struct read_vom_ids ids;
    bool ready;         /* ids are initialised */
    bool zero_task;     /* some rank has id 0 as a task */
    bool zero_named;    /* some rank names it in a communication: */
    uint32_t zero_rank; /* this one first */
    uint64_t zero_communication;
    bool has_subphases; /* some migratable task was there, with so many: */
    uint32_t subphases;
    uint32_t subphases_rank;
};

/* What a rank says of its host. */
struct read_vom_seat {
    uint16_t node, rank, size;
};

struct read_vom_judge {
    struct read_vom_events events; /* to be given to readers; set by init */

    bool strict;
    bool whole;     /* all ranks come, and end points must be tasks of some */
    uint32_t ranks; /* of the set; with `whole` */

    /* The file that is being read. */
    const struct read_vom *reader;
    uint32_t rank; /* of the file */
    bool first;    /* it says what the others repeat */
    uint64_t migratable;
    bool zero_task, zero_named;
    uint64_t zero_communication;
    struct read_vom_table edges; /* its communications in the present phase */

    /* Phases first_phase .. first_phase + count - 1 are open. */
    struct read_vom_open_phase *open;
    size_t open_count;
    uint64_t first_phase;

    /* What the first rank says and the others repeat. */
    uint64_t *phase_id;
    size_t phases, phase_capacity;
    bool has_lists;
    uint64_t lists_digest[2];
    struct read_vom_interval *identical, *skipped; /* sorted */
    size_t identical_count, skipped_count;
    bool has_count;
    uint64_t count;
    uint32_t num_nodes;
    struct read_vom_seat *seat; /* [ranks], with `whole`; size 0: none was told */
};

/* `open`: how many phases can be open at a time, at least 1. HPCW_ENOMEM. */
hpcw_status read_vom_judge_init(struct read_vom_judge *j, bool strict, uint32_t ranks, bool whole,
                                hpcw_error *err);
void read_vom_judge_free(struct read_vom_judge *j);

/* Makes phases first .. first + count - 1 the open ones, all of them empty. */
hpcw_status read_vom_judge_open(struct read_vom_judge *j, uint64_t first, size_t count, hpcw_error *err);

/* Bytes in the tables of the open phases. */
size_t read_vom_judge_bytes(const struct read_vom_judge *j);

/* The next file. */
void read_vom_judge_file(struct read_vom_judge *j, const struct read_vom *reader, uint32_t rank);

/* After all files that belong to it: what only all together can tell of an open phase. Messages name the
 * file of a rank by `name_of`. */
hpcw_status read_vom_judge_phase(struct read_vom_judge *j, uint64_t number,
                                 const char *(*name_of)(void *context, uint32_t rank), void *context,
                                 hpcw_error *err);

/* At the very end: phase numbers against the lists, hosts. `name`: what the message is about. */
hpcw_status read_vom_judge_end(struct read_vom_judge *j, const char *name, hpcw_error *err);

/* ---- Parts of it, in vom_lists.c ------------------------------------------------------------------------- */

hpcw_status read_vom_lists_take(struct read_vom_judge *j, const struct read_vom_metadata *m, hpcw_error *err);
hpcw_status read_vom_lists_end(const struct read_vom_judge *j, const char *name, hpcw_error *err);
hpcw_status read_vom_seats_take(struct read_vom_judge *j, const struct read_vom_metadata *m, hpcw_error *err);
hpcw_status read_vom_seats_end(const struct read_vom_judge *j, const char *name, hpcw_error *err);

#endif
