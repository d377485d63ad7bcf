/* SPDX-License-Identifier: BSD-3-Clause */
/* Partners, bytes and tags of messages: as functions of the rank where they are, otherwise as lists. */
#ifndef HPCW_GEN_FIT_LOG_TEXT_MESSAGES_H
#define HPCW_GEN_FIT_LOG_TEXT_MESSAGES_H

#include "gen/fit/log/program/partner.h"
#include "gen/fit/log/text/put.h"

struct fit_partner fit_text_partner(const struct fit_text *t, const struct fit_role *r, uint32_t number,
                                    uint32_t i);

/* Returns whether a step makes a communicator of ranks on a line. */
bool fit_text_line(const struct fit_text *t, const struct fit_role *r, uint32_t number,
                   struct fit_grid_line *line);

/* Returns whether the messages of a step are functions of the rank, and in a scaled text of the number of ranks. */
bool fit_text_is_regular(const struct fit_text *t, const struct fit_role *r, uint32_t number);

/* Returns whether a step has one message that is written in its own line. */
bool fit_text_is_single(const struct fit_text *t, const struct fit_role *r, uint32_t number);

bool fit_text_has_list(const struct fit_text *t, const struct fit_role *r, uint32_t number);

void fit_text_put_partner(struct fit_text *t, struct fit_partner f);

/* Write the bytes of a regular item; its partner, bytes and tag. */
void fit_text_put_bytes(struct fit_text *t, const struct fit_role *r, uint32_t number, uint32_t i);
void fit_text_put_item(struct fit_text *t, const struct fit_role *r, uint32_t number, uint32_t i);

/* Writes each list of messages of a role's steps once. */
void fit_text_put_lists(struct fit_text *t, const struct fit_role *r);

#endif
