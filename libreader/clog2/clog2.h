/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A strict, independent reader of CLOG-2 logs ("CLOG-02.44", merged and finished), written from
 * doc/formats/clog2.md alone. A handle belongs to one thread.
 *
 * Memory: one block, the table of communicators, and what is open at a time (timelines, states, messages).
 */
#ifndef HPCW_LIBREADER_CLOG2_CLOG2_H
#define HPCW_LIBREADER_CLOG2_CLOG2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

struct read_clog2;
struct hpcw_i_json;

/* The values of the preamble, and what follows from them. */
struct read_clog2_info {
    uint32_t block_size;
    uint32_t buffered_blocks; /* of the writer's buffer */
    uint32_t ranks, threads;
    uint32_t states, solos, known_solos; /* that are announced: of the user, of the user, of MPE */
    uint64_t blocks;
    uint64_t table_at; /* offset of the table of communicators */
    uint32_t comms;    /* its entries */
};

/* One record. */
struct read_clog2_item {
    uint64_t offset; /* in the file */
    double time;
    int32_t comm, rank, thread;
    int32_t kind;                 /* 2 .. 11 */
    const unsigned char *payload; /* after the header; valid until the next call */
    uint32_t size;                /* of the payload */
};

/* One entry of the table of communicators. */
struct read_clog2_entry {
    unsigned char id[32];
    int32_t index, kind;
};

/* Opens a log. HPCW_EFORMAT if preamble, table and size contradict each other, HPCW_ETRUNCATED if the file is
 * shorter than it says, HPCW_ENOTSUP for the local file of a process, HPCW_ENOMEM, and as read_source_open
 * fails. */
hpcw_status read_clog2_open(const char *path, struct read_clog2 **out, hpcw_error *err);
hpcw_status read_clog2_open_memory(const void *data, size_t size, struct read_clog2 **out, hpcw_error *err);
void read_clog2_free(struct read_clog2 *reader);

/* Whether a file begins like a log. Fails if it cannot be read. */
hpcw_status read_clog2_probe(const char *path, bool *is, hpcw_error *err);

/* Never NULL; lives as long as the handle. */
const struct read_clog2_info *read_clog2_info(const struct read_clog2 *reader);

/* HPCW_EFORMAT if the log has more ranks than bytes, where those without records are few: for callers that need
 * memory or time for each rank. */
hpcw_status read_clog2_bound_ranks(const struct read_clog2 *reader, hpcw_error *err);

/* Entry `index` < comms of the table. */
const struct read_clog2_entry *read_clog2_entry(const struct read_clog2 *reader, uint32_t index);

/* Back to the first record. */
void read_clog2_rewind(struct read_clog2 *reader);

/* The next record; *more is false after the last one. HPCW_EFORMAT if the chain of blocks or the length of a
 * record is wrong. After a failure every call fails in the same way, until a rewind. */
hpcw_status read_clog2_next(struct read_clog2 *reader, struct read_clog2_item *item, bool *more,
                            hpcw_error *err);

/* ---- Rules ------------------------------------------------------------------------------------------------ */

/* Rules for logs whose blocks and records are whole: clog2-9 to clog2-29 in their order (doc/formats/clog2.md,
 * "Rules"). The converter fails on a log that breaks one of the first group. The others make tools show something
 * wrongly or not at all. */
enum read_clog2_rule {
    READ_CLOG2_ID,                       /* an event that is neither announced nor defined */
    READ_CLOG2_COMM,                     /* a (communicator, rank) that no communicator event has introduced */
    READ_CLOG2_COLOUR,                   /* a definition without colour */
    READ_CLOG2_FORMAT,                   /* a format that ends in % */
    READ_CLOG2_EMPTY,                    /* nothing to show: no state, event or message */
    READ_CLOG2_INDEX,                    /* a communicator beyond the table */
    READ_CLOG2_FATAL,                    /* no rule, but the number of those above */
    READ_CLOG2_ORDER = READ_CLOG2_FATAL, /* a time out of range, or before that of the previous record */
    READ_CLOG2_NESTING,      /* a state that ends before one that began later, or is inside itself */
    READ_CLOG2_END_ALONE,    /* the end of a state that did not begin */
    READ_CLOG2_START_ALONE,  /* a state that does not end */
    READ_CLOG2_EQUAL,        /* two drawables of one kind at the same place and time */
    READ_CLOG2_BACKWARD,     /* a receive before its send */
    READ_CLOG2_MESSAGE,      /* a send or receive without partner */
    READ_CLOG2_MESSAGE_SIZE, /* a receive of another size than its send */
    READ_CLOG2_CARGO,        /* cargo that its format cannot show, or a format that nothing can */
    READ_CLOG2_DEFINITION,   /* a definition that is missing, late, or does not fit its events */
    READ_CLOG2_TIMELINE,     /* a rank or thread beyond what the preamble says */
    READ_CLOG2_TABLE,        /* an identity that the table does not have, an entry that refers wrongly */
    READ_CLOG2_PADDING,      /* bytes that are not zero where nothing is stored */
    READ_CLOG2_CHAIN,        /* a block that does not end with the time of the next one's first record */
    READ_CLOG2_KIND,         /* records that no tool shows (kinds 8 and 10) */
    READ_CLOG2_RULES
};

/* A few words, "receive before its send". */
const char *read_clog2_rule_text(enum read_clog2_rule rule);

enum {
    READ_CLOG2_STRICT = 1,
    READ_CLOG2_ANY_CLOCK = 2 /* clocks of ranks may differ, so allow a receive before its send */
};

/*
 * Reads every record once and fails at the first broken rule: of the first group without flags, of all rules with
 * READ_CLOG2_STRICT. Logs of hpcw's own writers break none.
 */
hpcw_status read_clog2_verify(struct read_clog2 *reader, unsigned flags, hpcw_error *err);

/* Reads every record once and adds to an open object: the values of the preamble, the number of cases of each
 * rule, a profile per state and rank, and the largest flows of messages. */
hpcw_status read_clog2_report(struct read_clog2 *reader, struct hpcw_i_json *json, hpcw_error *err);

/* A state on a rank of the world, or a piece of it. */
struct read_clog2_stretch {
    uint32_t state; /* numbers states and events in the order in which the log introduces them */
    bool defined;
    int32_t event;      /* that begins the state, or is alone: unique */
    int32_t number;     /* of the state, in its definition */
    const char *name;   /* valid for the call */
    const char *format; /* of the cargo; valid for the call */
    uint32_t rank;
    int32_t comm, thread; /* with the rank: its timeline */
    uint32_t timeline;    /* numbers timelines in the order in which the log introduces them */
    uint32_t depth;       /* states of the timeline that were open when it began; 0 for a solo event */
    double from, to;      /* seconds */
    /* [32] of the event that ends a state, or is alone; of `begin`, of the event that begins it. NULL: it has
     * none. Valid for the call */
    const unsigned char *cargo;
};

/* A send or a receive, and with it the message, if the other end came before. */
struct read_clog2_end {
    uint32_t rank, peer; /* of the world */
    int32_t thread;
    int32_t comm, peer_comm,
        peer_in_comm; /* as logged: where this end is; communicator and rank there of the other */
    int32_t tag, bytes;
    bool send;
    double time;    /* seconds */
    bool meets;     /* the other end came before, at the time `other` */
    double other;   /* seconds */
    uint64_t *mark; /* what is stored here for an end that comes first, `met` is for the other */
    uint64_t met;   /* 0 if nothing was stored */
};

/* Called in the order of the records; stretches and states when they end. Each may be NULL. */
struct read_clog2_watch {
    void *context;
    bool by_rank;     /* the states of a thread of a rank nest over all communicators, as on one timeline */
    bool no_states;   /* neither states nor solo events are looked at: for callers that have no use for them */
    bool no_messages; /* nor messages */
    bool no_meetings; /* ends of messages are told as they come and never meet */
    /* With no_meetings, NULL or the first and the last rank of the world that matter: records of others may be
     * passed over undecoded if they are of communicator 0, whose ranks must be those of the world then. */
    const uint32_t *ranks;
    /* A state begins. */
    void (*begin)(void *context, const struct read_clog2_stretch *s);
    /* A state was the innermost one of its timeline. Those of one timeline never overlap, and together they are
     * the whole time of its states. */
    void (*stretch)(void *context, const struct read_clog2_stretch *s);
    /* A whole state, including nested ones. */
    void (*state)(void *context, const struct read_clog2_stretch *s);
    /* An event that is no end of a state: it takes no time. */
    void (*solo)(void *context, const struct read_clog2_stretch *s);
    void (*message)(void *context, const struct read_clog2_end *e);
    /* NULL, or called before each record with its time. False ends the pass there, or interrupts one in steps. */
    bool (*before)(void *context, double time);
    /* NULL, or what a callback sets to end the pass after the current record, which fails with it. */
    const hpcw_status *stop;
    uint64_t *cases; /* [READ_CLOG2_RULES] out: of each rule, after the pass; not a callback */
};

/* Reads every record once and reports the states and messages. Broken rules do not matter, and definitions and
 * ranks of communicators hold for all of the log, wherever they stand: once one is missed, the rest of the log is
 * read for them. */
hpcw_status read_clog2_watch(struct read_clog2 *reader, const struct read_clog2_watch *watch, hpcw_error *err);

/* Says in *warning why what is made of the states may be wrong: times go back, or ends have no start, as after
 * blocks were swapped. Otherwise leaves it. */
void read_clog2_warn(const struct read_clog2 *reader, const uint64_t cases[READ_CLOG2_RULES],
                     hpcw_error *warning);

#endif
