/* SPDX-License-Identifier: BSD-3-Clause */
/* Assertions on the VOM reader's verdict on texts. The files are named "m". */
#ifndef HPCW_TESTS_SUPPORT_VOM_JUDGE_H
#define HPCW_TESTS_SUPPORT_VOM_JUDGE_H

#include <stddef.h>

#include "libreader/vom/vom.h"
#include "tests/support/vom_image.h"

/* These fail the test unless the reader accepts the text, or refuses it with a message that contains `part`. */
void accept_vom(const char *text, unsigned flags);
void refuse_vom(const char *text, unsigned flags, hpcw_status status, const char *part);
void refuse_vom_bytes(const void *data, size_t size, unsigned flags, hpcw_status status, const char *part);

/* An edit that breaks one rule. */
struct vom_broken {
    const char *from, *to; /* the edit */
    const char *path;      /* JSON path in the message; NULL: the message has neither path nor offset */
    const char *at;        /* text that the edited file has at the offset in the message */
    const char *part;      /* text in the message after the offset */
};

/* Makes each edit alone in a text that the reader accepts. The reader must refuse the edited text, with the reason
 * and the place that struct vom_broken has. */
void break_vom(const char *text, const struct vom_broken *broken, size_t count, unsigned flags);

#endif
