/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/sim/mail.h"

#include "gen/sim/private.h"

/* Empty boxes are removed when there are FEW_BOXES more than twice the boxes that the last removal left. So a removal
 * costs little for each new box. No result depends on it. */
enum { FEW_BOXES = 64 };

struct key {
    uint64_t word[2];
};

static struct key key_of(uint32_t rank, uint32_t comm, int32_t tag) {
    return (struct key){{(uint64_t)rank << 32 | comm, (uint32_t)tag}};
}

void sim_mail_init(struct sim_mail *mail) {
    *mail = (struct sim_mail){.box = {.key_words = 2, .value_size = sizeof(struct sim_heap)},
                              .most_boxes = FEW_BOXES};
}

void sim_mail_free(struct sim_mail *mail) {
    struct key key;
    struct sim_heap *box;
    for (size_t at = 0; (box = hpcw_i_table_next(&mail->box, &at, key.word)) != NULL;) {
        sim_heap_free(box);
    }
    hpcw_i_table_free(&mail->box);
}

/* Removes the first messages of a box that have been received. */
static void drop_received(const struct sim *sim, struct sim_heap *box) {
    for (; box->count > 0; sim_heap_remove(box)) {
        const struct sim_half *half = &sim->match.half[box->entry[0].item];
        if (half->serial == box->entry[0].serial && !half->matched) {
            return;
        }
    }
}

/* Removes empty boxes, since a program may use many tags one after the other. */
static void drop_empty(struct sim *sim) {
    struct hpcw_i_table *boxes = &sim->match.mail.box;
    struct key key;
    struct sim_heap *box;
    for (size_t at = 0; (box = hpcw_i_table_next(boxes, &at, key.word)) != NULL;) {
        drop_received(sim, box);
        if (box->count == 0) {
            sim_heap_free(box);
            hpcw_i_table_remove(boxes, box);
            at--; /* the removal may have moved another box to this slot */
        }
    }
    sim->match.mail.most_boxes = 2 * boxes->count + FEW_BOXES;
}

bool sim_mail_add(struct sim *sim, uint32_t half) {
    const struct sim_half *h = &sim->match.half[half];
    const struct key key = key_of(h->other, h->comm, h->tag);
    if (sim->match.mail.box.count == sim->match.mail.most_boxes) {
        drop_empty(sim);
    }
    struct sim_heap *box = hpcw_i_table_add(&sim->match.mail.box, key.word, NULL);
    if (box == NULL) {
        return false;
    }
    drop_received(sim, box);
    return sim_heap_add(box, (struct sim_entry){.time_ns = h->envelope_ns,
                                                .rank = h->owner,
                                                .number = h->number,
                                                .item = half,
                                                .serial = h->serial});
}

uint32_t sim_mail_first(struct sim *sim, uint32_t rank, uint32_t comm, int32_t tag) {
    const struct key key = key_of(rank, comm, tag);
    struct sim_heap *box = hpcw_i_table_find(&sim->match.mail.box, key.word);
    if (box == NULL) {
        return SIM_NOTHING;
    }
    drop_received(sim, box);
    return box->count > 0 ? box->entry[0].item : SIM_NOTHING;
}
