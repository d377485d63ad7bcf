/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the CLOG-2 reader: preamble, frame, and one pass over all records. */
#ifndef HPCW_LIBREADER_CLOG2_PRIVATE_H
#define HPCW_LIBREADER_CLOG2_PRIVATE_H

#include <string.h>

#include "libreader/clog2/clog2.h"
#include "libreader/clog2/format.h"
#include "libwriter/base/table.h"

struct read_source;

/* Fails with HPCW_EFORMAT at an offset of the file `name`. */
hpcw_status read_clog2_wrong(const char *name, uint64_t offset, hpcw_error *err, const char *fmt, ...)
    HPCW_PRINTF(4, 5);

/* ---- Preamble and frame ----------------------------------------------------------------------------------- */

/* Reads the preamble: all members of `info` but `blocks` and `comms`. */
hpcw_status read_clog2_preamble(const struct read_source *source, struct read_clog2_info *info,
                                hpcw_error *err);

/* Gets up to READ_CLOG2_BATCH records of one block; *count is 0 after the last record of the log. Fails as
 * read_clog2_next does. Records and payloads are valid until the next call. */
enum { READ_CLOG2_BATCH = 128 };
hpcw_status read_clog2_next_batch(struct read_clog2 *reader, const struct read_clog2_item **items,
                                  uint32_t *count, hpcw_error *err);
/* From now on, skips most events and messages whose rank in communicator 0 is below ranks[0] or above ranks[1].
 * NULL: skips none. */
void read_clog2_pass_over(struct read_clog2 *reader, const uint32_t *ranks);
/* Opens a second reader of the same source, which starts at the current block of the first reader. Free the second
 * reader before the first one. NULL on failure. */
hpcw_status read_clog2_open_rest(const struct read_clog2 *reader, struct read_clog2 **out, hpcw_error *err);
/* Makes read_clog2_next or read_clog2_next_batch return the last `count` records again. */
void read_clog2_give_back(struct read_clog2 *reader, uint32_t count);

/* Offsets of the first faults in the frame since the rewind; 0: none. */
struct read_clog2_frame {
    /* bytes that are not zero after the end of a block, or in the header of the record that ends the block */
    uint64_t slack_at;
    /* a block that does not end with the time of the next record, or a log that does not end with 1e8 */
    uint64_t chain_at;
};

const struct read_clog2_frame *read_clog2_frame(const struct read_clog2 *reader);
const char *read_clog2_name(const struct read_clog2 *reader);

/* Returns the status of a callback. If the status is a failure, makes a message. */
hpcw_status read_clog2_stopped(const struct read_clog2 *reader, hpcw_status status, hpcw_error *err);

/* ---- One pass --------------------------------------------------------------------------------------------- */

/* A definition of a state or solo event, or the placeholder for a definition that the preamble announces and that
 * has not come yet. */
struct read_clog2_definition {
    bool state, defined, used;
    bool shows_all; /* any cargo fits the format, so cargo is not checked */
    int32_t number; /* number of the state or solo event */
    int32_t event;  /* number of the event that begins the state, or of the solo event */
    char colour[READ_CLOG2_COLOUR_SIZE + 1], name[READ_CLOG2_NAME_SIZE + 1], format[READ_CLOG2_FORMAT_SIZE + 1];
};

/* Totals of a state or solo event on a rank of the world, or of the messages from one rank of the world to
 * another. */
struct read_clog2_amount {
    uint64_t count, bytes;
    double seconds;
};

/* An end of a message that waits for the other end, behind the first waiting end of its queue. Such ends form
 * lists, linked by index + 1. */
struct read_clog2_open {
    double time;
    uint64_t offset;
    uint64_t mark; /* value that the callback has stored */
    uint32_t next;
    int32_t size;
};

/* Role of an event in its definition. */
enum { READ_CLOG2_STARTS, READ_CLOG2_ENDS, READ_CLOG2_ALONE };

/* Values of the hash tables. */
struct read_clog2_event {
    uint32_t definition, role;
};
struct read_clog2_state {
    double time;
    uint64_t offset;
    uint32_t definition;
    uint32_t depth; /* number of open states around this one */
};
/* Number of states and of drawables (states and solo events) that a timeline holds without further memory.
 * Programs rarely nest more than a few states, and hpcgen's logs at most three. A timeline takes two cache
 * lines. */
enum { READ_CLOG2_STATES = 3, READ_CLOG2_DRAWN = 2 };
struct read_clog2_timeline {
    uint32_t depth;
    uint32_t capacity;
    /* all open states, once the timeline has had more than `state` can hold; before that NULL */
    struct read_clog2_state *deep;
    double since;                         /* time at which the innermost state became the innermost */
    double ended;                         /* time at which the last drawable of this timeline ended */
    double drawn_since[READ_CLOG2_DRAWN]; /* begin times of the first drawables that ended at `ended` */
    /* definitions of the first drawables that ended at the time `ended`, as index + 1; 0: none */
    uint32_t drawn_definition[READ_CLOG2_DRAWN];
    struct read_clog2_state state[READ_CLOG2_STATES];
};
struct read_clog2_member {
    int64_t rank;
};
/* Ends of messages that wait for their partners, all sends or all receives of the same ranks and tag. The struct
 * holds the first of these ends; later ones are in a list. */
struct read_clog2_queue {
    double time;
    uint64_t offset;
    uint64_t mark; /* value that the callback has stored for the first end */
    int32_t size;
    bool waits;    /* at least one end waits */
    bool receives; /* true: receives wait; false: sends wait */
    /* first and last entry of the list of later ends, as index + 1; 0: the list is empty */
    uint32_t head, tail;
};

/* Table entries that a record needs. They are looked up for a whole batch of records, so that memory is prefetched
 * in time. */
struct read_clog2_place {
    uint32_t timeline;  /* for an event: index + 1 of the timeline; 0: memory ran out */
    int64_t rank, peer; /* rank of the record, and of a message's other end, in the world; -1: unknown */
    uint64_t key[HPCW_I_TABLE_KEY], hash; /* for a message: the key of its queue in `queues` */
};

/* Direct-mapped caches: near_event is in front of the table `events`, near_rank in front of the tables `timelines`
 * and `members`. */
enum { READ_CLOG2_NEAR_EVENTS = 256, READ_CLOG2_NEAR_RANKS = 8192 };
struct read_clog2_near_event {
    int32_t event;
    bool valid;
    struct read_clog2_event is;
};
struct read_clog2_near_rank {
    int32_t comm, rank, thread;
    uint32_t known;    /* value of `introductions` when the entry was filled; 0: empty entry */
    int32_t world;     /* rank in the world, or -1 */
    uint32_t timeline; /* index + 1 of the timeline; 0: not looked up */
};

struct read_clog2_timelines {
    /* (communicator, rank, thread) -> uint64_t, index of `at`. If the callbacks ask for `by_rank`, the key is (0,
     * rank in the world, thread) */
    struct hpcw_i_table index;
    struct read_clog2_timeline *at;
    size_t capacity;
};

/* Messages of which one end was read and the other was not. */
struct read_clog2_unmet {
    /* (both ends, tag) -> struct read_clog2_queue. Programs repeat the same messages, so empty queues stay in the
     * table until there are many of them. */
    struct hpcw_i_table queues;
    /* number of queues in which an end waits now, and the largest such number so far */
    size_t waiting, most_waiting;
    /* [ends] the ends that wait behind the first end of their queue; unused entries form a list, which starts at
     * `free` */
    struct read_clog2_open *end;
    uint32_t ends, free;
    size_t capacity;
};

/* Keys of the drawables that ended at the latest time. The reader refuses duplicates, and two drawables that
 * end at different times cannot be duplicates. So older keys are not kept. */
struct read_clog2_latest {
    double time;
    struct hpcw_i_table drawables; /* keys of the drawables that ended at `time` */
};

/* A pass over a log. The first failure stays in `status`. After a failure no rule is checked and no further record
 * is handled. */
struct read_clog2_pass {
    struct read_clog2 *reader;
    const struct read_clog2_info *info;
    unsigned refuse;                      /* bit r: fail at the first case of rule r */
    bool profile;                         /* whether to fill `shares` and `flows` */
    const struct read_clog2_watch *watch; /* callbacks, or NULL */
    hpcw_status status;
    hpcw_error *err;

    uint64_t count[READ_CLOG2_RULES]; /* how often each rule was broken */
    uint64_t first[READ_CLOG2_RULES]; /* offset at which each rule was broken first */
    uint64_t records, arrows, drawables;
    double begin, end; /* times of the first and last record */

    struct hpcw_i_table events; /* event -> struct read_clog2_event */
    struct read_clog2_near_event near_event[READ_CLOG2_NEAR_EVENTS];
    struct read_clog2_timelines timelines;
    struct read_clog2_near_rank *near_rank; /* [READ_CLOG2_NEAR_RANKS] */
    /* (communicator, rank) -> struct read_clog2_member, with its rank in the world */
    struct hpcw_i_table members;
    uint32_t introductions; /* number of changes of `members` so far, plus 1 */
    /* this pass reads ahead for missing definitions and ranks, and changes nothing else */
    bool ahead;
    bool looked_ahead; /* the whole log was searched for definitions and ranks of communicators */
    /* the last step of the pass was interrupted before the end of the log */
    bool ended;
    struct read_clog2_unmet unmet;
    struct read_clog2_latest latest;
    struct hpcw_i_table shares; /* (definition, rank in the world) -> struct read_clog2_amount */
    struct hpcw_i_table flows;  /* (sender, receiver: ranks in the world) -> struct read_clog2_amount */

    struct read_clog2_definition *definition;
    uint32_t definitions;
    size_t definition_capacity;
};

/* Runs over the whole log. Call read_clog2_pass_free even after a failure. `watch` may be NULL. */
hpcw_status read_clog2_pass_run(struct read_clog2_pass *pass, struct read_clog2 *reader, unsigned refuse,
                                bool profile, const struct read_clog2_watch *watch, hpcw_error *err);
void read_clog2_pass_free(struct read_clog2_pass *pass);
/* Runs the pass in steps. A step ends where the callback `before` interrupts it (then `ended` is set), or at the
 * end of the log. */
void read_clog2_pass_open(struct read_clog2_pass *pass, struct read_clog2 *reader, unsigned refuse,
                          bool profile, const struct read_clog2_watch *watch);
hpcw_status read_clog2_pass_step(struct read_clog2_pass *pass, hpcw_error *err);

/* rules.c: counts a case of a rule, and fails if the rule must not be broken. Does nothing after a failure. */
void read_clog2_found(struct read_clog2_pass *p, enum read_clog2_rule rule, uint64_t offset, const char *fmt,
                      ...) HPCW_PRINTF(4, 5);
void read_clog2_no_memory(struct read_clog2_pass *p);
/* Returns the value of a key, adding it if it is missing. NULL if memory ran out, which fails the pass. */
void *read_clog2_add(struct read_clog2_pass *p, struct hpcw_i_table *table, const uint64_t *key);
/* Checks that bytes [from, to) of a record are zero. */
static inline void read_clog2_check_zero(struct read_clog2_pass *p, const struct read_clog2_item *item,
                                         uint32_t from, uint32_t to) {
    if (to - from == 4 && read_clog2_i32(item, from) == 0) {
        return; /* one comparison for the padding of events and messages */
    }
    for (uint32_t i = from; i < to; i++) {
        unsigned char byte = item->payload[i - READ_CLOG2_HEAD_SIZE];
        if (byte != 0) {
            read_clog2_found(p, READ_CLOG2_PADDING, item->offset + i, "expected 0, got %02x", byte);
            return;
        }
    }
}

/* definitions.c */
void read_clog2_define(struct read_clog2_pass *p, const struct read_clog2_item *item);
/* Finds an event that is defined or announced; NULL: neither. */
const struct read_clog2_event *read_clog2_event_find(struct read_clog2_pass *p, int32_t event);
static inline const struct read_clog2_event *read_clog2_event_get(struct read_clog2_pass *p, int32_t event) {
    const struct read_clog2_near_event *near = &p->near_event[(uint32_t)event % READ_CLOG2_NEAR_EVENTS];
    return near->event == event && near->valid ? &near->is : read_clog2_event_find(p, event);
}
void read_clog2_check_announced(struct read_clog2_pass *p);

/* comms.c: communicator events, the table, and ranks of the world */
void read_clog2_introduce(struct read_clog2_pass *p, const struct read_clog2_item *item);
/* Reports a case of READ_CLOG2_COMM at `offset`. */
void read_clog2_unknown_rank(struct read_clog2_pass *p, uint64_t offset, int32_t comm, int32_t rank);
void read_clog2_check_table(struct read_clog2_pass *p);

/* states.c: states and solo events. Returns index + 1 of the timeline of an event, and adds a missing timeline. 0
 * if memory ran out. */
uint32_t read_clog2_timeline_find(struct read_clog2_pass *p, const struct read_clog2_item *item, int32_t world);
void read_clog2_event(struct read_clog2_pass *p, const struct read_clog2_item *item,
                      const struct read_clog2_place *place);
void read_clog2_check_states_ended(struct read_clog2_pass *p);

/* messages.c */
void read_clog2_message_place(struct read_clog2_pass *p, const struct read_clog2_item *item,
                              struct read_clog2_place *place);
void read_clog2_message(struct read_clog2_pass *p, const struct read_clog2_item *item,
                        const struct read_clog2_place *place);
void read_clog2_check_messages_met(struct read_clog2_pass *p);

/* ahead.c: reads the rest of the log for definitions and ranks of communicators, once, if the pass has callbacks
 * (`watch`). */
void read_clog2_look_ahead(struct read_clog2_pass *p);

/* rows.c: returns the rows of a profile, sorted, in memory that the caller frees even if there are no rows. NULL if
 * memory runs out. */
struct read_clog2_row {
    uint64_t key[2]; /* definition and rank, or sender and receiver */
    struct read_clog2_amount amount;
};
struct read_clog2_row *read_clog2_rows(const struct hpcw_i_table *map,
                                       int (*order)(const void *, const void *));
int read_clog2_by_key(const void *a, const void *b);

/*
 * drawables.c: adds an entry to `unmet.end`. Returns its index + 1, or 0 if memory ran out, which fails the pass.
 */
uint32_t read_clog2_open_grow(struct read_clog2_pass *p);
/* Adds an occurrence to the profile of a pair: a definition and a rank, or two ranks. */
void read_clog2_amount_put(struct read_clog2_pass *p, struct hpcw_i_table *profile, int64_t first,
                           int64_t second, int32_t bytes, double seconds);
static inline void read_clog2_amount_add(struct read_clog2_pass *p, struct hpcw_i_table *profile, int64_t first,
                                         int64_t second, int32_t bytes, double seconds) {
    if (p->profile) {
        read_clog2_amount_put(p, profile, first, second, bytes, seconds);
    }
}
/* Makes entry n - 1 of `unmet.end` unused. */
static inline void read_clog2_open_give(struct read_clog2_pass *p, uint32_t n) {
    p->unmet.end[n - 1].next = p->unmet.free;
    p->unmet.free = n;
}
/* Reports that the drawable that ends with `item` equals another one. */
void read_clog2_equal(struct read_clog2_pass *p, const struct read_clog2_item *item);
/* Adds the keys of `count` drawables to a table. All of them end at the time of `item`; the last one ends with
 * `item` itself. If the table has the key of the last one already, reports an equal drawable. */
void read_clog2_complete(struct read_clog2_pass *p, const struct read_clog2_item *item,
                         uint64_t (*key)[HPCW_I_TABLE_KEY], uint32_t count);

static inline uint64_t read_clog2_pack(int32_t high, int32_t low) {
    return (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
}
static inline uint64_t read_clog2_bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Returns the number of a communicator. A log may list one communicator several times; for callbacks, all entries
 * of a communicator have the number of its first entry. */
static inline int32_t read_clog2_same_comm(const struct read_clog2_pass *p, int32_t comm) {
    return p->watch == NULL || comm < 0 || (uint32_t)comm >= read_clog2_info(p->reader)->comms
               ? comm
               : read_clog2_entry(p->reader, (uint32_t)comm)->index;
}

/* Returns the rank in the world of a rank of a communicator, or -1 if the log has not introduced that rank. */
static inline int64_t read_clog2_world_rank(const struct read_clog2_pass *p, int32_t comm, int32_t rank) {
    const uint64_t key[] = {read_clog2_pack(read_clog2_same_comm(p, comm), rank)};
    const struct read_clog2_member *v = hpcw_i_table_find(&p->members, key);
    return v == NULL ? -1 : v->rank;
}

/* ahead.c: fills the cache entry of a thread of a rank of a communicator. */
struct read_clog2_near_rank *read_clog2_near_make(struct read_clog2_pass *p, struct read_clog2_near_rank *near,
                                                  int32_t comm, int32_t rank, int32_t thread);
static inline struct read_clog2_near_rank *read_clog2_near(struct read_clog2_pass *p, int32_t comm,
                                                           int32_t rank, int32_t thread) {
    const uint32_t at = (uint32_t)rank + (uint32_t)comm * 97 + (uint32_t)thread * 31;
    struct read_clog2_near_rank *near = &p->near_rank[at % READ_CLOG2_NEAR_RANKS];
    return near->known == p->introductions && near->comm == comm && near->rank == rank && near->thread == thread
               ? near
               : read_clog2_near_make(p, near, comm, rank, thread);
}

/* Checks a drawable's rank in MPI_COMM_WORLD: -1 is a case of READ_CLOG2_COMM at `offset`. */
static inline void read_clog2_need(struct read_clog2_pass *p, uint64_t offset, int64_t world, int32_t comm,
                                   int32_t rank) {
    if (world < 0) {
        read_clog2_unknown_rank(p, offset, comm, rank);
    }
}

/* Takes an unused entry of `unmet.end`. Returns its index + 1, or 0 if memory ran out, which fails the pass. */
static inline uint32_t read_clog2_open_take(struct read_clog2_pass *p) {
    uint32_t n = p->unmet.free;
    if (n == 0) {
        return read_clog2_open_grow(p);
    }
    p->unmet.free = p->unmet.end[n - 1].next;
    return n;
}

#endif
