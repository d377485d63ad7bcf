/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the VOM reader: the rules between records, of one file or of all ranks (doc/formats/vom.md, "Rules").
 * The judge, which checks these rules, gets the records through the callbacks of the readers. */
#ifndef HPCW_LIBREADER_VOM_RULES_JUDGE_H
#define HPCW_LIBREADER_VOM_RULES_JUDGE_H

#include "libreader/vom/rules/ids.h"
#include "libreader/vom/vom.h"

/* A phase that some files have reached and others have not. */
struct read_vom_open_phase {
    struct read_vom_ids ids;
    bool ready;         /* `ids` is initialised */
    bool zero_task;     /* some rank has id 0 as a task */
    bool zero_named;    /* some rank names id 0 in a communication */
    uint32_t zero_rank; /* the first rank that names id 0 in a communication */
    uint64_t zero_communication;
    /* the phase has a migratable task; `subphases` is the number of subphases of each such task */
    bool has_subphases;
    uint32_t subphases;
    uint32_t subphases_rank;
};

/* Position of a rank among the nodes, from the metadata in the file of the rank. */
struct read_vom_seat {
    uint16_t node, rank, size;
};

struct read_vom_judge {
    struct read_vom_events events; /* callbacks for the readers; set by init */

    bool strict;
    bool whole;     /* all ranks are read, so every end point must be a task */
    uint32_t ranks; /* number of ranks of the set; only with `whole` */

    /* The file that is being read. */
    const struct read_vom *reader;
    uint32_t rank; /* rank of the file that is being read */
    bool first;    /* this is the first file; the other files must agree with it */
    uint64_t migratable;
    bool zero_task, zero_named;
    uint64_t zero_communication;
    /* hashes of category and ends of the communications in the current phase of the file that is being read */
    struct hpcw_i_table edges;

    /* The open phases: first_phase .. first_phase + open_count - 1. */
    struct read_vom_open_phase *open;
    size_t open_count;
    uint64_t first_phase;

    /* Ids of the phases, which must be the same in all files. */
    uint64_t *phase_id;
    size_t phases, phase_capacity;
    bool has_lists;
    uint64_t lists_digest[2];
    /* phases that the metadata lists as identical [0] and as skipped [1], sorted */
    struct read_vom_intervals listed[2];
    bool has_count;
    uint64_t count;
    uint32_t num_nodes;
    /* [ranks] position of each rank among the nodes, only with `whole`; size 0: unknown */
    struct read_vom_seat *seat;
};

/* Initialises a judge. With `whole`, `ranks` files will be read, otherwise one file. HPCW_ENOMEM. */
hpcw_status read_vom_judge_init(struct read_vom_judge *j, bool strict, uint32_t ranks, bool whole,
                                hpcw_error *err);
void read_vom_judge_free(struct read_vom_judge *j);

/* Opens phases first .. first + count - 1, all empty, and closes all other phases. */
hpcw_status read_vom_judge_open(struct read_vom_judge *j, uint64_t first, size_t count, hpcw_error *err);

/* Returns the bytes in the tables of the open phases. */
size_t read_vom_judge_bytes(const struct read_vom_judge *j);

/* Call this before a file is read. */
void read_vom_judge_file(struct read_vom_judge *j, const struct read_vom *reader, uint32_t rank);

/* Call this when all files are read to the end of an open phase. Checks the rules that involve all files. For
 * messages, `name_of` returns the name of a rank's file. */
hpcw_status read_vom_judge_phase(struct read_vom_judge *j, uint64_t number,
                                 const char *(*name_of)(void *context, uint32_t rank), void *context,
                                 hpcw_error *err);

/* Call this last. Checks the numbers of the phases against the lists in the metadata, and checks the hosts.
 * Messages begin with `name`. */
hpcw_status read_vom_judge_end(struct read_vom_judge *j, const char *name, hpcw_error *err);

/* ---- The rules of metadata: lists of phases, and hosts --------------------------------------------------- */

hpcw_status read_vom_lists_take(struct read_vom_judge *j, const struct read_vom_metadata *m, hpcw_error *err);
hpcw_status read_vom_lists_end(const struct read_vom_judge *j, const char *name, hpcw_error *err);
hpcw_status read_vom_hosts_take(struct read_vom_judge *j, const struct read_vom_metadata *m, hpcw_error *err);
hpcw_status read_vom_hosts_end(const struct read_vom_judge *j, const char *name, hpcw_error *err);

#endif
