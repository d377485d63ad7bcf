/* SPDX-License-Identifier: BSD-3-Clause */
/* F4, private to the CLOG-2 reader: the frame, and one pass over all records. */
#ifndef HPCW_LIBREADER_CLOG2_PRIVATE_H
#define HPCW_LIBREADER_CLOG2_PRIVATE_H

#include "libreader/clog2/clog2.h"
#include "libreader/clog2/map.h"

/* What was seen of the frame since the rewind; the first place of each sort. */
struct read_clog2_frame {
    bool slack; /* something but zeros behind the end of a block, or in that record's head */
    uint64_t slack_at;
    bool chain; /* a block that does not end with the time of the next record, or the log's end with 1e8 */
    uint64_t chain_at;
};

const struct read_clog2_frame *read_clog2_frame(const struct read_clog2 *reader);
const char *read_clog2_name(const struct read_clog2 *reader);

/* A failure at a place in the file. */
hpcw_status read_clog2_wrong(const struct read_clog2 *reader, uint64_t offset, hpcw_error *err, const char *fmt,
                             ...) HPCW_PRINTF(4, 5);

/* An open state of a line, or a message that waits for its partner. */
struct read_clog2_open {
    double time;
    uint64_t offset;
    uint32_t next;  /* number of the one below it, or behind it, plus 1; 0: none */
    int32_t detail; /* definition of the state, size of the message */
};

/* ---- one pass --------------------------------------------------------------------------------------------- */

/* A definition, or the placeholder of an announced one. */
struct read_clog2_definition {
    bool state, defined, used;
    int32_t number;                        /* of the state, or the solo event */
    char colour[25], name[33], format[41]; /* NUL-terminated here, even if the field is full */
};

/* A state on a rank of the world, or a solo event. */
struct read_clog2_share {
    uint64_t count;
    double seconds;
};

/* Messages from one rank of the world to another. */
struct read_clog2_flow {
    uint64_t count, bytes;
};

struct read_clog2_pass {
    struct read_clog2 *reader;
    unsigned refuse;                      /* bit per rule: the pass ends with the first case */
    bool profile;                         /* fill `share` and `flow` */
    const struct read_clog2_watch *watch; /* or NULL */

    uint64_t count[READ_CLOG2_RULES]; /* cases of each rule */
    uint64_t first[READ_CLOG2_RULES]; /* offset of the first one */
    uint64_t records, arrows, drawables;
    double begin, end; /* times of the first and last record */

    struct read_clog2_map events;  /* event -> definition, and whether it is a start (0), end (1) or solo (2) */
    struct read_clog2_map lines;   /* (communicator, rank, thread) -> its open states */
    struct read_clog2_map members; /* (communicator, rank) -> rank of the world */
    struct read_clog2_map queues;  /* both ends of messages and their tag -> those without partner so far */
    struct read_clog2_map completed; /* drawables that ended at the time `completed_at`, if more than one */
    struct read_clog2_map shares;    /* (definition, rank of the world) -> struct read_clog2_share */
    struct read_clog2_map flows;     /* (from, to) -> struct read_clog2_flow */
    double completed_at;
    uint64_t last_completed[READ_CLOG2_KEY];

    struct read_clog2_definition *definition;
    uint32_t definitions, definition_room;
    struct read_clog2_open *open; /* pool of open states and messages; free ones are a list */
    uint32_t opens, open_room, open_free;
};

/* Runs over the whole log. Whatever the result, free it afterwards. `watch`: NULL if nobody is to be told. */
hpcw_status read_clog2_pass_run(struct read_clog2_pass *pass, struct read_clog2 *reader, unsigned refuse,
                                bool profile, const struct read_clog2_watch *watch, hpcw_error *err);
void read_clog2_pass_free(struct read_clog2_pass *pass);

#endif
