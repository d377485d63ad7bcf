/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A strict, independent reader of CLOG-2 logs ("CLOG-02.44", merged and finished), written from
 * doc/formats/clog2.md alone. A handle belongs to one thread.
 *
 * Memory: one block, the table of communicators, all timelines, and the states and messages that are open at a
 * time.
 */
#ifndef HPCW_LIBREADER_CLOG2_CLOG2_H
#define HPCW_LIBREADER_CLOG2_CLOG2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

struct read_clog2;
struct hpcw_i_json;

/* The values of the preamble, and values that follow from them. */
struct read_clog2_info {
    uint32_t block_size;
    uint32_t buffered_blocks; /* number of blocks in the writer's buffer */
    uint32_t ranks, threads;
    /* number of states of the user, of solo events of the user, and of solo events of MPE, as the preamble
     * announces */
    uint32_t states, solos, known_solos;
    uint64_t blocks;
    uint64_t table_at; /* offset of the table of communicators */
    uint32_t comms;    /* number of entries of the table of communicators */
};

/* One record. */
struct read_clog2_item {
    uint64_t offset;
    double time;
    int32_t comm, rank, thread;
    int32_t kind;                 /* 2 .. 11 */
    const unsigned char *payload; /* payload after the header; valid until the next call */
    uint32_t size;                /* bytes of the payload */
};

/* One entry of the table of communicators. */
struct read_clog2_entry {
    unsigned char id[32];
    int32_t index, kind;
};

/* Opens a log. HPCW_EFORMAT: preamble, table and size of the file contradict each other. HPCW_ETRUNCATED: the file
 * is too short. HPCW_ENOTSUP: the file is the local file of a process. Also HPCW_ENOMEM, and the failures of
 * read_source_open. */
hpcw_status read_clog2_open(const char *path, struct read_clog2 **out, hpcw_error *err);
hpcw_status read_clog2_open_memory(const void *data, size_t size, struct read_clog2 **out, hpcw_error *err);
void read_clog2_free(struct read_clog2 *reader);

/* Finds whether a file begins like a log. Fails if the file cannot be read. */
hpcw_status read_clog2_probe(const char *path, bool *is, hpcw_error *err);

/* Returns the values of the preamble, never NULL; valid as long as the handle. */
const struct read_clog2_info *read_clog2_info(const struct read_clog2 *reader);

/* Fails with HPCW_EFORMAT if the log has more ranks than bytes, so that most ranks cannot have a record. For
 * callers that need memory or time for each rank. */
hpcw_status read_clog2_bound_ranks(const struct read_clog2 *reader, hpcw_error *err);

/* Returns entry `index` < comms of the table. */
const struct read_clog2_entry *read_clog2_entry(const struct read_clog2 *reader, uint32_t index);

void read_clog2_rewind(struct read_clog2 *reader);

/* Gets the next record; *more is false after the last one. HPCW_EFORMAT if the chain of blocks or the length of a
 * record is wrong. After a failure every call fails in the same way, until a rewind. */
hpcw_status read_clog2_next(struct read_clog2 *reader, struct read_clog2_item *item, bool *more,
                            hpcw_error *err);

/* ---- Rules ------------------------------------------------------------------------------------------------ */

/* Rules for logs whose blocks and records are whole: clog2-9 to clog2-29 in their order (doc/formats/clog2.md,
 * "Rules"). The converter clog2TOslog2 fails on a log that breaks a rule before READ_CLOG2_FATAL in this list.
 * Faults against the other rules make tools show something wrongly or not at all. */
enum read_clog2_rule {
    READ_CLOG2_ID,     /* an event that is neither announced nor defined */
    READ_CLOG2_COMM,   /* a (communicator, rank) that no communicator event has introduced */
    READ_CLOG2_COLOUR, /* a definition without colour */
    READ_CLOG2_FORMAT, /* a format that ends in % */
    READ_CLOG2_EMPTY,  /* nothing to show: no state, event or message */
    READ_CLOG2_INDEX,  /* a communicator beyond the table */
    READ_CLOG2_FATAL,  /* not a rule: number of the rules above, which are fatal for the converter */
    READ_CLOG2_ORDER = READ_CLOG2_FATAL, /* a time is out of range, or before that of the previous record */
    READ_CLOG2_NESTING,                  /* a state ends before one that began later, or is nested in itself */
    READ_CLOG2_END_ALONE,                /* the end of a state that did not begin */
    READ_CLOG2_START_ALONE,              /* a state that does not end */
    READ_CLOG2_EQUAL,    /* two states, solo events or messages of one kind, equal in end points and times */
    READ_CLOG2_BACKWARD, /* a receive is before its send */
    READ_CLOG2_MESSAGE,  /* a send or receive without partner */
    READ_CLOG2_MESSAGE_SIZE, /* a receive of another size than its send */
    READ_CLOG2_CARGO,        /* cargo that does not fit its format, or a format that no cargo fits */
    /* a definition is missing, comes after its first use, or does not fit its events */
    READ_CLOG2_DEFINITION,
    READ_CLOG2_TIMELINE, /* a rank or thread beyond those of the preamble */
    /* an identity of a communicator that the table does not have, or a table entry with a wrong reference */
    READ_CLOG2_TABLE,
    READ_CLOG2_PADDING, /* bytes of padding that are not zero */
    READ_CLOG2_CHAIN,   /* a block that does not end with the time of the first record of the next block */
    READ_CLOG2_KIND,    /* records that no tool shows (kinds 8 and 10) */
    READ_CLOG2_RULES
};

/* Returns a short description of a rule, such as "receive before its send". */
const char *read_clog2_rule_text(enum read_clog2_rule rule);

enum {
    READ_CLOG2_STRICT = 1,
    READ_CLOG2_ANY_CLOCK = 2 /* clocks of ranks may differ, so allow a receive before its send */
};

/* Reads every record once and fails at the first broken rule. Without flags, only the rules before
 * READ_CLOG2_FATAL count; with READ_CLOG2_STRICT, all rules. Logs of hpcw's own writers break no rule. */
hpcw_status read_clog2_verify(struct read_clog2 *reader, unsigned flags, hpcw_error *err);

/* Reads every record once and adds to an open JSON object: the values of the preamble, the number of cases of each
 * rule, a profile per state and rank, and the largest flows of messages. */
hpcw_status read_clog2_report(struct read_clog2 *reader, struct hpcw_i_json *json, hpcw_error *err);

/* A time span of a rank in MPI_COMM_WORLD (the world): a state, a part of a state, or a solo event. */
struct read_clog2_stretch {
    uint32_t state; /* number of the state or event, in the order in which the log introduces them */
    bool defined;
    int32_t event;      /* number of the event that begins the state, or of the solo event; unique */
    int32_t number;     /* number of the state, as its definition says */
    const char *name;   /* valid for the call */
    const char *format; /* format of the cargo (32 bytes of data); valid for the call */
    uint32_t rank;
    int32_t comm, thread; /* identify the timeline, together with the rank */
    uint32_t timeline;    /* number of the timeline, in the order in which the log introduces them */
    /* number of states of the timeline that were open when this state began; 0 for a solo event */
    uint32_t depth;
    double from, to; /* begin and end of the time span, seconds */
    /* [32] cargo of the event that ends the state, or of the solo event. In the callback `begin`: cargo of the
     * event that begins the state. NULL: no cargo. Valid for the call */
    const unsigned char *cargo;
};

/* A send or a receive. If the other end of the message came before, the struct describes the whole message. */
struct read_clog2_end {
    uint32_t rank, peer; /* ranks in the world */
    int32_t thread;
    /* communicator of this end, communicator of the other end, and rank of the other end in its communicator: all
     * three as logged */
    int32_t comm, peer_comm, peer_in_comm;
    int32_t tag, bytes;
    bool send;
    double time;  /* seconds */
    bool meets;   /* the log has the other end of the message before this end */
    double other; /* time of the other end of the message, seconds; only if `meets` */
    /* A word in which the callback may store a value, to get it back with the other end of the message. Only if
     * this end comes first */
    uint64_t *mark;
    uint64_t met; /* value that the callback stored in `mark` for the end that came first; 0: none */
};

/* Callbacks for the events of a log, called in the order of the records. `stretch` and `state` are called when the
 * state ends. Each may be NULL. */
struct read_clog2_watch {
    void *context;
    bool by_rank;   /* each thread of a rank has one timeline for all communicators, so that its states nest */
    bool no_states; /* ignore states and solo events */
    bool no_messages; /* ignore messages */
    bool no_meetings; /* report each end of a message alone, and do not search the other end */
    /* First and last rank of the world whose records matter; NULL: all ranks. Only with no_meetings, and if the
     * ranks of communicator 0 are those of the world. Records of other ranks may then be skipped undecoded if they
     * belong to communicator 0. */
    const uint32_t *ranks;
    void (*begin)(void *context, const struct read_clog2_stretch *s);
    /* Called for each time span in which a state was the innermost one of its timeline. Spans of a timeline never
     * overlap, and together they cover the whole time of its states. */
    void (*stretch)(void *context, const struct read_clog2_stretch *s);
    /* Called for a whole state, including the time of nested ones. */
    void (*state)(void *context, const struct read_clog2_stretch *s);
    /* Called for a solo event, which takes no time. */
    void (*solo)(void *context, const struct read_clog2_stretch *s);
    void (*message)(void *context, const struct read_clog2_end *e);
    /* Called before each record, with the time of the record. If it returns false, the pass ends before this
     * record, or a pass in steps is interrupted there. */
    bool (*before)(void *context, double time);
    /* A status that callbacks may set; may be NULL. A value other than HPCW_OK ends the pass after the current
     * record, and is the result of the pass. */
    const hpcw_status *stop;
    /* [READ_CLOG2_RULES] output, not a callback: number of cases of each rule, set after the pass */
    uint64_t *cases;
};

/* Reads every record once and reports states and messages to the callbacks. Broken rules are no failure. A record
 * may need a definition or a rank of a communicator that comes later in the log. At the first such record, the
 * rest of the log is searched for all definitions and ranks. */
hpcw_status read_clog2_watch(struct read_clog2 *reader, const struct read_clog2_watch *watch, hpcw_error *err);

/* Sets *warning if the reported states may be wrong: times go back, or states end without a start, as in a log with
 * swapped blocks. Otherwise leaves *warning unchanged. */
void read_clog2_warn(const struct read_clog2 *reader, const uint64_t cases[READ_CLOG2_RULES],
                     hpcw_error *warning);

#endif
