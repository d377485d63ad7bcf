/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes partners, bytes and tags of messages: as functions of the rank if possible, otherwise as lists. */
#ifndef HPCW_GEN_FIT_LOG_TEXT_MESSAGES_H
#define HPCW_GEN_FIT_LOG_TEXT_MESSAGES_H

#include "gen/fit/log/program/partner.h"
#include "gen/fit/log/text/put.h"

struct fit_partner fit_text_partner(const struct fit_text *t, const struct fit_role *r, uint32_t number,
                                    uint32_t i);

/* Returns whether a step makes a communicator of the ranks on a line of a grid. *line: grid and dimension. */
bool fit_text_line(const struct fit_text *t, const struct fit_role *r, uint32_t number,
                   struct fit_grid_line *line);

/* Returns whether the messages of a step are functions of the rank or, in a text for any number of ranks, of
 * the rank and the number of ranks. */
bool fit_text_is_regular(const struct fit_text *t, const struct fit_role *r, uint32_t number);

/* Returns whether a step has one message, whose partner and bytes are arguments of the call and not a list. */
bool fit_text_is_single(const struct fit_text *t, const struct fit_role *r, uint32_t number);

bool fit_text_has_list(const struct fit_text *t, const struct fit_role *r, uint32_t number);

void fit_text_put_partner(struct fit_text *t, struct fit_partner f);

/* fit_text_put_bytes: writes the bytes of item i. fit_text_put_item: writes the partner, bytes and tag of item
 * i. Both need fit_text_is_regular. */
void fit_text_put_bytes(struct fit_text *t, const struct fit_role *r, uint32_t number, uint32_t i);
void fit_text_put_item(struct fit_text *t, const struct fit_role *r, uint32_t number, uint32_t i);

/* Writes each list of messages of a role's steps once. */
void fit_text_put_lists(struct fit_text *t, const struct fit_role *r);

#endif
