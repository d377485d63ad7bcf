/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/export/otf2.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <otf2/otf2.h>

#include "gen/export/folder.h"
#include "gen/export/log.h"
#include "gen/export/text.h"
#include "libwriter/base/array.h"
#include "libwriter/base/bytes.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/base/table.h"

/* EVENT_PIECE: bytes of the buffer that OTF2 has for each open location. It is the smallest size that OTF2
 * accepts. */
enum { EVENT_PIECE = 256 << 10, DEFINITION_PIECE = 4 << 20, OPEN_LOCATIONS = 256 };
enum { NANOSECONDS = 1000000000, NO_COLLECTIVE = -1, WORLD = 0 };
#define NO_REF UINT32_MAX

/* A region, which is a state of the log, or a marker, which is a solo event. */
struct otf2_region {
    char name[40];
    int32_t collective; /* OTF2_COLLECTIVE_OP_x, or NO_COLLECTIVE */
};

/* The states or solo events that occur in the export. Their index is their number in OTF2. */
struct otf2_regions {
    struct hpcw_i_table refs; /* definition -> uint64_t index in `item` */
    struct otf2_region *item; /* [refs.count] */
    size_t capacity;
};

struct otf2_comm {
    uint32_t members, end; /* members: number of known members; end: their highest rank + 1 */
    uint32_t ref;          /* number in OTF2; NO_REF: the export does not use the communicator */
};

/* A location whose events are being written. */
struct otf2_location {
    OTF2_EvtWriter *writer; /* NULL: no event so far */
    uint64_t ns;            /* time of the last event of the location */
    uint32_t *open;         /* [depth] regions of the open states */
    size_t depth, capacity;
};

struct otf2_export {
    const char *output;
    struct gen_log *log;
    const struct gen_export *what;
    struct gen_exported done;
    OTF2_Archive *archive;
    OTF2_MarkerWriter *markers; /* NULL: no solo event so far */
    OTF2_ErrorCode code;        /* first failure of OTF2 */
    char said[256];             /* message of OTF2 for its first failure or warning */
    uint32_t ranks, threads;
    struct otf2_regions states, solos;
    struct hpcw_i_table comms;  /* communicator -> struct otf2_comm */
    struct hpcw_i_table events; /* location -> uint64_t number of events of the location */
    int32_t *used_comm;         /* [used_comms] communicators with the numbers 1, 2, ... in OTF2 */
    size_t used_comms, comm_capacity;
    uint64_t first_ns, last_ns; /* times of the first and the last event */
    /* first rank of this pass over the log */
    uint32_t first_rank;
    struct otf2_location *location; /* [locations] of this pass, from first_rank on */
    size_t locations;
    /* Definitions. */
    OTF2_GlobalDefWriter *global;
    uint32_t strings;
};

/* ---- OTF2's errors ---- */

/* Stores the first failure in x->code. */
static void keep(struct otf2_export *x, OTF2_ErrorCode code) {
    x->code = x->code == OTF2_SUCCESS ? code : x->code;
}

/* OTF2 calls this function for each error. Otherwise OTF2 would print the error. This call is the only sign of
 * some errors: if the disk is full when buffers are written, closing the archive still returns OTF2_SUCCESS. */
__attribute__((format(printf, 6, 0))) static OTF2_ErrorCode take_error(void *context, const char *file,
                                                                       uint64_t line, const char *function,
                                                                       OTF2_ErrorCode code, const char *format,
                                                                       va_list args) {
    struct otf2_export *x = context;
    (void)file;
    (void)line;
    (void)function;
    if (x->said[0] == '\0') {
        (void)vsnprintf(x->said, sizeof x->said, format, args);
    }
    if (code > OTF2_SUCCESS) { /* lower codes are warnings */
        keep(x, code);
    }
    return code;
}

static hpcw_status told(const struct otf2_export *x, hpcw_error *err) {
    return x->code == OTF2_SUCCESS
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EIO, "%s: OTF2: %s%s%s", x->output, OTF2_Error_GetDescription(x->code),
                             x->said[0] == '\0' ? "" : ": ", x->said);
}

/* ---- regions and communicators ---- */

static int32_t collective_of(const char *name) {
    static const struct {
        const char *name;
        OTF2_CollectiveOp op;
    } known[] = {
        {"MPI_Barrier", OTF2_COLLECTIVE_OP_BARRIER},
        {"MPI_Bcast", OTF2_COLLECTIVE_OP_BCAST},
        {"MPI_Gather", OTF2_COLLECTIVE_OP_GATHER},
        {"MPI_Gatherv", OTF2_COLLECTIVE_OP_GATHERV},
        {"MPI_Scatter", OTF2_COLLECTIVE_OP_SCATTER},
        {"MPI_Scatterv", OTF2_COLLECTIVE_OP_SCATTERV},
        {"MPI_Allgather", OTF2_COLLECTIVE_OP_ALLGATHER},
        {"MPI_Allgatherv", OTF2_COLLECTIVE_OP_ALLGATHERV},
        {"MPI_Alltoall", OTF2_COLLECTIVE_OP_ALLTOALL},
        {"MPI_Alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV},
        {"MPI_Alltoallw", OTF2_COLLECTIVE_OP_ALLTOALLW},
        {"MPI_Allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE},
        {"MPI_Reduce", OTF2_COLLECTIVE_OP_REDUCE},
        {"MPI_Reduce_scatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
        {"MPI_Reduce_scatter_block", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
        {"MPI_Scan", OTF2_COLLECTIVE_OP_SCAN},
        {"MPI_Exscan", OTF2_COLLECTIVE_OP_EXSCAN},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(name, known[i].name) == 0) {
            return (int32_t)known[i].op;
        }
    }
    return NO_COLLECTIVE;
}

/* Returns the number of the entry's state or event; a new one gets the next number. */
static hpcw_status ref_of(struct otf2_regions *regions, const struct gen_log_entry *e, uint32_t *ref,
                          hpcw_error *err) {
    bool fresh;
    uint64_t *number = hpcw_i_table_add(&regions->refs, &e->definition, &fresh);
    if (number == NULL) {
        return gen_export_no_memory(err);
    }
    if (fresh) {
        *number = regions->refs.count - 1;
        struct otf2_region *grown =
            hpcw_i_grow(regions->item, &regions->capacity, regions->refs.count, sizeof *grown);
        if (grown == NULL) {
            return gen_export_no_memory(err);
        }
        regions->item = grown;
        (void)snprintf(grown[*number].name, sizeof grown->name, "%s", e->name);
        grown[*number].collective = collective_of(e->name);
    }
    *ref = (uint32_t)*number;
    return HPCW_OK;
}

static hpcw_status count_members(struct otf2_export *x, hpcw_error *err) {
    int32_t comm;
    uint32_t rank, world;
    for (size_t at = 0; gen_log_member(x->log, &at, &comm, &rank, &world);) {
        const uint64_t key[] = {(uint32_t)comm};
        bool fresh;
        struct otf2_comm *c = hpcw_i_table_add(&x->comms, key, &fresh);
        if (c == NULL) {
            return gen_export_no_memory(err);
        }
        c->ref = fresh ? NO_REF : c->ref;
        c->members++;
        c->end = rank >= c->end ? rank + 1 : c->end;
        if (world >= x->ranks) {
            return hpcw_i_fail(err, HPCW_EFORMAT,
                               "export: communicator %d: expected ranks of the world below %" PRIu32
                               ", got %" PRIu32,
                               comm, x->ranks, world);
        }
    }
    return HPCW_OK;
}

/* Gets the communicator in OTF2; WORLD if not all members of `comm` are known. */
static hpcw_status comm_of(struct otf2_export *x, int32_t comm, OTF2_CommRef *ref, hpcw_error *err) {
    const uint64_t key[] = {(uint32_t)comm};
    struct otf2_comm *c = comm == WORLD ? NULL : hpcw_i_table_find(&x->comms, key);
    *ref = WORLD;
    if (c == NULL || c->members != c->end) {
        return HPCW_OK;
    }
    if (c->ref == NO_REF) {
        int32_t *grown = hpcw_i_grow(x->used_comm, &x->comm_capacity, x->used_comms + 1, sizeof *grown);
        if (grown == NULL) {
            return gen_export_no_memory(err);
        }
        x->used_comm = grown;
        x->used_comm[x->used_comms++] = comm;
        c->ref = (uint32_t)x->used_comms;
    }
    *ref = c->ref;
    return HPCW_OK;
}

/* ---- events ---- */

/* Gets the bytes that a process sent and received in a collective call: the two integers in the cargo of the
 * state. Without two integers, both are 0. */
static void amounts(const struct gen_log_entry *e, uint64_t amount[2]) {
    size_t at = 0, pieces = 0;
    amount[0] = amount[1] = 0;
    for (const char *p = strchr(e->format, '%'); e->cargo != NULL && p != NULL; p = strchr(p + 1, '%')) {
        if (pieces == 2 || (p[1] != 'd' && p[1] != 'l')) {
            amount[0] = amount[1] = 0;
            return;
        }
        amount[pieces++] =
            p[1] == 'd' ? hpcw_i_get_u32(e->cargo + at, true) : hpcw_i_get_u64(e->cargo + at, true);
        at += p[1] == 'd' ? 4 : 8;
    }
    if (pieces < 2) {
        amount[0] = amount[1] = 0;
    }
}

static hpcw_status begin_state(struct otf2_export *x, struct otf2_location *l, const struct gen_log_entry *e,
                               uint32_t ref, hpcw_error *err) {
    uint32_t *grown = hpcw_i_grow(l->open, &l->capacity, l->depth + 1, sizeof *grown);
    if (grown == NULL) {
        return gen_export_no_memory(err);
    }
    l->open = grown;
    l->open[l->depth++] = ref;
    keep(x, OTF2_EvtWriter_Enter(l->writer, NULL, e->ns, ref));
    if (x->states.item[ref].collective != NO_COLLECTIVE) {
        keep(x, OTF2_EvtWriter_MpiCollectiveBegin(l->writer, NULL, e->ns));
    }
    return HPCW_OK;
}

static hpcw_status end_state(struct otf2_export *x, struct otf2_location *l, const struct gen_log_entry *e,
                             uint32_t ref, hpcw_error *err) {
    const int32_t collective = x->states.item[ref].collective;
    OTF2_CommRef comm;
    uint64_t amount[2];
    if (l->depth == 0 || l->open[l->depth - 1] != ref) {
        return hpcw_i_fail(err, HPCW_EFORMAT,
                           "export: rank %" PRId64 " at %.9f s: expected the end of %s, the innermost state, "
                           "got that of %s",
                           e->rank, (double)e->ns * 1e-9,
                           l->depth == 0 ? "none" : x->states.item[l->open[l->depth - 1]].name, e->name);
    }
    l->depth--;
    if (collective != NO_COLLECTIVE) {
        hpcw_status s = comm_of(x, e->comm, &comm, err);
        if (s != HPCW_OK) {
            return s;
        }
        amounts(e, amount);
        keep(x, OTF2_EvtWriter_MpiCollectiveEnd(l->writer, NULL, e->ns, (OTF2_CollectiveOp)collective, comm,
                                                OTF2_COLLECTIVE_ROOT_NONE, amount[0], amount[1]));
    }
    keep(x, OTF2_EvtWriter_Leave(l->writer, NULL, e->ns, ref));
    return HPCW_OK;
}

static hpcw_status put_state(struct otf2_export *x, struct otf2_location *l, const struct gen_log_entry *e,
                             hpcw_error *err) {
    uint32_t ref;
    hpcw_status s = ref_of(&x->states, e, &ref, err);
    return s != HPCW_OK ? s : e->letter == 'B' ? begin_state(x, l, e, ref, err) : end_state(x, l, e, ref, err);
}

static hpcw_status put_message(struct otf2_export *x, const struct otf2_location *l,
                               const struct gen_log_entry *e, hpcw_error *err) {
    OTF2_CommRef comm = WORLD;
    hpcw_status s = e->comm == e->peer_comm ? comm_of(x, e->comm, &comm, err) : HPCW_OK;
    if (s != HPCW_OK) {
        return s;
    }
    uint32_t peer = comm == WORLD ? (uint32_t)e->peer : (uint32_t)e->peer_in_comm;
    keep(x, e->letter == 's'
                ? OTF2_EvtWriter_MpiSend(l->writer, NULL, e->ns, peer, comm, (uint32_t)e->tag, e->bytes)
                : OTF2_EvtWriter_MpiRecv(l->writer, NULL, e->ns, peer, comm, (uint32_t)e->tag, e->bytes));
    return HPCW_OK;
}

static hpcw_status put_marker(struct otf2_export *x, uint64_t location, const struct gen_log_entry *e,
                              hpcw_error *err) {
    const size_t before = x->solos.refs.count;
    uint32_t ref;
    hpcw_status s = ref_of(&x->solos, e, &ref, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (x->markers == NULL) {
        x->markers = OTF2_Archive_GetMarkerWriter(x->archive);
    }
    if (x->markers == NULL) {
        keep(x, OTF2_ERROR_INVALID);
        return HPCW_OK;
    }
    if (x->solos.refs.count > before) {
        keep(x, OTF2_MarkerWriter_WriteDefMarker(x->markers, ref, "events", e->name, OTF2_SEVERITY_NONE));
    }
    keep(x, OTF2_MarkerWriter_WriteMarker(x->markers, e->ns, 0, ref, OTF2_MARKER_SCOPE_LOCATION, location,
                                          e->name));
    return HPCW_OK;
}

/* Gets location `number` of this pass for an event. Returns NULL after a failure. */
static struct otf2_location *location_of(struct otf2_export *x, const struct gen_log_entry *e, uint64_t number,
                                         hpcw_error *err) {
    struct otf2_location *l = &x->location[number - (uint64_t)x->first_rank * x->threads];
    if (e->ns < l->ns) {
        hpcw_i_fail(err, HPCW_EFORMAT,
                    "export: rank %" PRId64 ": expected events in the order of time, got %.9f s after %.9f s",
                    e->rank, (double)e->ns * 1e-9, (double)l->ns * 1e-9);
        return NULL;
    }
    if (l->writer == NULL) {
        l->writer = OTF2_Archive_GetEvtWriter(x->archive, number);
        keep(x, l->writer == NULL ? OTF2_ERROR_INVALID : OTF2_SUCCESS);
    }
    l->ns = e->ns;
    return l;
}

static hpcw_status put(void *context, const struct gen_log_entry *e, hpcw_error *err) {
    struct otf2_export *x = context;
    const uint64_t number = (uint64_t)e->rank * x->threads + (uint64_t)e->thread;
    struct otf2_location *l = location_of(x, e, number, err);
    hpcw_status s = l == NULL ? HPCW_EFORMAT : told(x, err);
    if (s != HPCW_OK) {
        return s;
    }
    x->done.count++;
    x->first_ns = e->ns < x->first_ns ? e->ns : x->first_ns;
    x->last_ns = e->ns > x->last_ns ? e->ns : x->last_ns;
    s = e->letter == 'i'                       ? put_marker(x, number, e, err)
        : e->letter == 's' || e->letter == 'f' ? put_message(x, l, e, err)
                                               : put_state(x, l, e, err);
    return s == HPCW_OK ? told(x, err) : s;
}

/* ---- passes over the log, each for some locations ---- */

static hpcw_status close_locations(struct otf2_export *x, hpcw_error *err) {
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; i < x->locations; i++) {
        struct otf2_location *l = &x->location[i];
        const uint64_t number = (uint64_t)x->first_rank * x->threads + i;
        if (l->writer == NULL && i % x->threads == 0 && x->first_rank + i / x->threads < x->ranks) {
            l->writer =
                OTF2_Archive_GetEvtWriter(x->archive, number); /* readers need a file of each main thread */
        }
        uint64_t *events = l->writer == NULL ? NULL : hpcw_i_table_add(&x->events, &number, NULL);
        if (events != NULL) {
            keep(x, OTF2_EvtWriter_GetNumberOfEvents(l->writer, events));
        } else if (l->writer != NULL) {
            s = gen_export_no_memory(err);
        }
        if (l->writer != NULL) {
            keep(x, OTF2_Archive_CloseEvtWriter(x->archive, l->writer));
        }
        hpcw_i_free(l->open);
        *l = (struct otf2_location){0};
    }
    return s;
}

static hpcw_status put_events(struct otf2_export *x, hpcw_error *err) {
    const uint32_t together = OPEN_LOCATIONS / x->threads > 0 ? OPEN_LOCATIONS / x->threads : 1;
    x->locations = (size_t)together * x->threads;
    x->location = hpcw_i_calloc(x->locations, sizeof *x->location);
    if (x->location == NULL) {
        return gen_export_no_memory(err);
    }
    hpcw_status s = HPCW_OK;
    for (uint64_t first = 0; s == HPCW_OK && first < x->ranks; first += together) {
        struct gen_export some = *x->what;
        const uint64_t last = first + together - 1;
        x->first_rank = (uint32_t)first;
        some.first_rank = some.first_rank > first ? some.first_rank : (uint32_t)first;
        some.last_rank = some.last_rank < last ? some.last_rank : (uint32_t)last;
        s = some.first_rank <= some.last_rank ? gen_log_run(x->log, &some, false, put, x, err) : HPCW_OK;
        hpcw_status closed = close_locations(x, err);
        s = s == HPCW_OK ? closed : s;
    }
    return s == HPCW_OK ? told(x, err) : s;
}

/* ---- definitions ---- */

static OTF2_StringRef string(struct otf2_export *x, const char *text) {
    keep(x, OTF2_GlobalDefWriter_WriteString(x->global, x->strings, text));
    return x->strings++;
}

static void define_regions(struct otf2_export *x) {
    const OTF2_StringRef none = string(x, "");
    for (uint32_t ref = 0; ref < x->states.refs.count; ref++) {
        const struct otf2_region *r = &x->states.item[ref];
        const bool mpi = strncmp(r->name, "MPI_", 4) == 0;
        const OTF2_StringRef name = string(x, r->name);
        OTF2_RegionRole role = r->collective == OTF2_COLLECTIVE_OP_BARRIER ? OTF2_REGION_ROLE_BARRIER
                               : r->collective != NO_COLLECTIVE            ? OTF2_REGION_ROLE_COLL_OTHER
                                                                           : OTF2_REGION_ROLE_FUNCTION;
        keep(x, OTF2_GlobalDefWriter_WriteRegion(x->global, ref, name, name, none, role,
                                                 mpi ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER,
                                                 OTF2_REGION_FLAG_NONE, none, 0, 0));
    }
}

static void define_locations(struct otf2_export *x) {
    const OTF2_StringRef machine = string(x, "machine");
    keep(x, OTF2_Archive_OpenDefFiles(x->archive));
    keep(x, OTF2_GlobalDefWriter_WriteSystemTreeNode(x->global, 0, machine, machine,
                                                     OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (uint32_t rank = 0; rank < x->ranks && x->code == OTF2_SUCCESS; rank++) {
        char name[32];
        (void)snprintf(name, sizeof name, "rank %" PRIu32, rank);
        keep(x, OTF2_GlobalDefWriter_WriteLocationGroup(x->global, rank, string(x, name),
                                                        OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                        OTF2_UNDEFINED_LOCATION_GROUP));
        for (uint32_t thread = 0; thread < x->threads; thread++) {
            const uint64_t number = (uint64_t)rank * x->threads + thread;
            const uint64_t *events = hpcw_i_table_find(&x->events, &number);
            if (events != NULL || thread == 0) {
                /* Readers need a file of definitions for each location, even an empty one. */
                OTF2_DefWriter *local = OTF2_Archive_GetDefWriter(x->archive, number);
                keep(x, local == NULL ? OTF2_ERROR_INVALID : OTF2_Archive_CloseDefWriter(x->archive, local));
                (void)snprintf(name, sizeof name, "thread %" PRIu32, thread);
                keep(x, OTF2_GlobalDefWriter_WriteLocation(x->global, number, string(x, name),
                                                           OTF2_LOCATION_TYPE_CPU_THREAD,
                                                           events == NULL ? 0 : *events, rank));
            }
        }
    }
}

static void define_group(struct otf2_export *x, uint32_t group, OTF2_GroupType type, uint32_t members,
                         const uint64_t *member) {
    keep(x, OTF2_GlobalDefWriter_WriteGroup(x->global, group, string(x, ""), type, OTF2_PARADIGM_MPI,
                                            OTF2_GROUP_FLAG_NONE, members, member));
}

/* Group 0 has the locations that communicate: thread 0 of each rank. Group 1 + c has the members of
 * communicator c, which are indices into group 0. */
static void define_comms(struct otf2_export *x, uint64_t *member) {
    char name[32] = "MPI_COMM_WORLD";
    for (uint32_t r = 0; r < x->ranks; r++) {
        member[r] = (uint64_t)r * x->threads;
    }
    define_group(x, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, x->ranks, member);
    for (uint32_t r = 0; r < x->ranks; r++) {
        member[r] = r;
    }
    define_group(x, 1 + WORLD, OTF2_GROUP_TYPE_COMM_GROUP, x->ranks, member);
    keep(x, OTF2_GlobalDefWriter_WriteComm(x->global, WORLD, string(x, name), 1 + WORLD, OTF2_UNDEFINED_COMM,
                                           OTF2_COMM_FLAG_NONE));
    for (uint32_t c = 1; c <= x->used_comms; c++) {
        int32_t comm;
        uint32_t rank, world, members = 0;
        for (size_t at = 0; gen_log_member(x->log, &at, &comm, &rank, &world);) {
            if (comm == x->used_comm[c - 1]) {
                member[rank] = world;
                members++;
            }
        }
        define_group(x, 1 + c, OTF2_GROUP_TYPE_COMM_GROUP, members, member);
        (void)snprintf(name, sizeof name, "communicator %d", x->used_comm[c - 1]);
        keep(x,
             OTF2_GlobalDefWriter_WriteComm(x->global, c, string(x, name), 1 + c, WORLD, OTF2_COMM_FLAG_NONE));
    }
}

static hpcw_status put_definitions(struct otf2_export *x, hpcw_error *err) {
    x->global = OTF2_Archive_GetGlobalDefWriter(x->archive);
    if (x->global == NULL) {
        keep(x, OTF2_ERROR_INVALID);
        return told(x, err);
    }
    const uint64_t start = x->done.count == 0 ? 0 : x->first_ns;
    keep(x, OTF2_GlobalDefWriter_WriteClockProperties(x->global, NANOSECONDS, start, x->last_ns - start,
                                                      OTF2_UNDEFINED_TIMESTAMP));
    define_locations(x);
    define_regions(x);
    uint64_t *member = hpcw_i_malloc(x->ranks * sizeof *member);
    if (member == NULL) {
        return gen_export_no_memory(err);
    }
    define_comms(x, member);
    hpcw_i_free(member);
    return told(x, err);
}

/* ---- the archive ---- */

static OTF2_FlushType flush_always(void *context, OTF2_FileType type, OTF2_LocationRef location, void *caller,
                                   bool final) {
    (void)context;
    (void)type;
    (void)location;
    (void)caller;
    (void) final;
    return OTF2_FLUSH;
}

static hpcw_status put_archive(struct otf2_export *x, const char *directory, hpcw_error *err) {
    static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = flush_always};
    x->archive = OTF2_Archive_Open(directory, "traces", OTF2_FILEMODE_WRITE, EVENT_PIECE, DEFINITION_PIECE,
                                   OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (x->archive == NULL) {
        keep(x, OTF2_ERROR_INVALID);
        return told(x, err);
    }
    keep(x, OTF2_Archive_SetFlushCallbacks(x->archive, &flush, NULL));
    keep(x, OTF2_Archive_SetSerialCollectiveCallbacks(x->archive));
    keep(x, OTF2_Archive_SetCreator(x->archive, "hpcgen export"));
    keep(x, OTF2_Archive_OpenEvtFiles(x->archive));
    hpcw_status s = told(x, err);
    s = s == HPCW_OK ? put_events(x, err) : s;
    if (x->markers != NULL) {
        keep(x, OTF2_Archive_CloseMarkerWriter(x->archive, x->markers));
    }
    keep(x, OTF2_Archive_CloseEvtFiles(x->archive));
    s = s == HPCW_OK ? put_definitions(x, err) : s;
    keep(x, OTF2_Archive_CloseDefFiles(x->archive));
    keep(x, OTF2_Archive_Close(x->archive));
    return s == HPCW_OK ? told(x, err) : s;
}

hpcw_status gen_export_otf2(const char *path, const struct gen_export *what, const char *output, bool sync,
                            struct gen_exported *done, hpcw_error *err) {
    struct gen_folder folder = {0};
    char inside[GEN_FOLDER_INSIDE];
    struct otf2_export x = {.output = output,
                            .what = what,
                            .done = {.items = "events"},
                            .states.refs = {.key_words = 1, .value_size = sizeof(uint64_t)},
                            .solos.refs = {.key_words = 1, .value_size = sizeof(uint64_t)},
                            .comms = {.key_words = 1, .value_size = sizeof(struct otf2_comm)},
                            .events = {.key_words = 1, .value_size = sizeof(uint64_t)},
                            .first_ns = UINT64_MAX};
    OTF2_ErrorCallback before = OTF2_Error_RegisterCallback(take_error, &x);
    hpcw_status s = gen_log_check(path, what, err);
    s = s == HPCW_OK ? gen_log_open(path, &x.log, err) : s;
    if (s == HPCW_OK) {
        s = gen_log_bound_ranks(x.log, err);
    }
    if (s == HPCW_OK) {
        x.ranks = gen_log_ranks(x.log);
        x.threads = gen_log_threads(x.log);
        s = count_members(&x, err);
    }
    s = s == HPCW_OK ? gen_folder_open(&folder, output, err) : s;
    s = s == HPCW_OK ? gen_folder_inside(&folder, inside, err) : s;
    if (s == HPCW_OK) {
        s = put_archive(&x, inside, err);
        if (s != HPCW_OK) {
            gen_folder_name_failure(&folder, inside, err);
        }
    }
    s = s == HPCW_OK ? gen_folder_publish(&folder, sync, &x.done.bytes, err) : s;
    if (s == HPCW_OK) {
        gen_log_warn(x.log, &x.done.warning);
    }
    *done = x.done;
    gen_folder_close(&folder);
    (void)OTF2_Error_RegisterCallback(before, NULL);
    gen_log_free(x.log);
    hpcw_i_free(x.location);
    hpcw_i_free(x.used_comm);
    hpcw_i_free(x.states.item);
    hpcw_i_free(x.solos.item);
    hpcw_i_table_free(&x.states.refs);
    hpcw_i_table_free(&x.solos.refs);
    hpcw_i_table_free(&x.comms);
    hpcw_i_table_free(&x.events);
    return s;
}
