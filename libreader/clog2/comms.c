/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators and their ranks (doc/formats/clog2.md, "Communicators"). */
#include <inttypes.h>

#include "libreader/clog2/private.h"

void read_clog2_introduce(struct read_clog2_pass *p, const struct read_clog2_item *item) {
    const struct read_clog2_info *info = read_clog2_info(p->reader);
    int32_t event = read_clog2_i32(item, READ_CLOG2_EVENT_AT),
            comm = read_clog2_i32(item, READ_CLOG2_COMM_COMM_AT),
            rank = read_clog2_i32(item, READ_CLOG2_COMM_RANK_AT),
            world = read_clog2_i32(item, READ_CLOG2_COMM_WORLD_RANK_AT);
    if (event == READ_CLOG2_COMM_FREE) {
        return;
    }
    if (comm < 0 || (uint32_t)comm >= info->comms) {
        read_clog2_found(p, READ_CLOG2_INDEX, item->offset + READ_CLOG2_COMM_COMM_AT,
                         "expected one below %" PRIu32 ", got %" PRId32, info->comms, comm);
        return;
    }
    const unsigned char *id = item->payload + (READ_CLOG2_COMM_ID_AT - READ_CLOG2_HEAD_SIZE);
    if (memcmp(read_clog2_entry(p->reader, (uint32_t)comm)->id, id, READ_CLOG2_ID_SIZE) != 0) {
        read_clog2_found(p, READ_CLOG2_TABLE, item->offset + READ_CLOG2_COMM_ID_AT,
                         "expected the identity of entry %" PRId32 ", got another", comm);
    }
    if (world < 0 || (uint32_t)world >= info->ranks) {
        read_clog2_found(p, READ_CLOG2_TIMELINE, item->offset + READ_CLOG2_COMM_WORLD_RANK_AT,
                         "expected a rank of the world below %" PRIu32 ", got %" PRId32, info->ranks, world);
        return;
    }
    if (event == READ_CLOG2_REMOTE_CREATE) {
        return;
    }
    const uint64_t key[] = {read_clog2_pack(read_clog2_same_comm(p, comm), rank)};
    const int64_t before = read_clog2_world_rank(p, comm, rank);
    if (before >= 0 && before != world) {
        read_clog2_found(p, READ_CLOG2_TABLE, item->offset + READ_CLOG2_COMM_WORLD_RANK_AT,
                         "expected rank %" PRId64 " of the world, as before, for rank %" PRId32
                         " of communicator %" PRId32 ", got %" PRId32,
                         before, rank, comm, world);
    }
    struct read_clog2_member *v = read_clog2_add(p, &p->members, key);
    if (v != NULL && before != world && (before < 0 || !p->ahead)) {
        v->rank = world;
        p->introductions++;
    }
}

void read_clog2_unknown_rank(struct read_clog2_pass *p, uint64_t offset, int32_t comm, int32_t rank) {
    read_clog2_found(p, READ_CLOG2_COMM, offset,
                     "expected a communicator event before, got none for rank %" PRId32
                     " of communicator %" PRId32,
                     rank, comm);
}

/* Checks the references between entries in the table of communicators. All indices are below `comms`: otherwise the
 * reader could not have been opened. */
void read_clog2_check_table(struct read_clog2_pass *p) {
    const struct read_clog2_info *info = read_clog2_info(p->reader);
    for (uint32_t i = 0; i < info->comms && p->status == HPCW_OK; i++) {
        const struct read_clog2_entry *e = read_clog2_entry(p->reader, i);
        const struct read_clog2_entry *first = read_clog2_entry(p->reader, (uint32_t)e->index);
        if (e->index != (int32_t)i && (e->index > (int32_t)i || memcmp(first->id, e->id, sizeof e->id) != 0)) {
            read_clog2_found(p, READ_CLOG2_TABLE, read_clog2_entry_at(info, i) + READ_CLOG2_ENTRY_INDEX_AT,
                             "expected its own index or an earlier one of the same identity, got %" PRId32,
                             e->index);
        }
    }
}
