/* SPDX-License-Identifier: BSD-3-Clause */
/* The VOM reader's verdict on texts, as assertions. Files are called "m". */
#ifndef HPCW_TESTS_SUPPORT_VOM_JUDGE_H
#define HPCW_TESTS_SUPPORT_VOM_JUDGE_H

#include <stddef.h>

#include "libreader/vom/vom.h"
#include "tests/support/vom_image.h"

/* The test fails unless the reader accepts the text, or refuses it with a message that contains `part`. */
void accept_vom(const char *text, unsigned flags);
void refuse_vom(const char *text, unsigned flags, hpcw_status status, const char *part);
void refuse_vom_bytes(const void *data, size_t size, unsigned flags, hpcw_status status, const char *part);

/* One rule broken. */
struct vom_broken {
    const char *from, *to; /* the edit */
    const char *path;      /* what the message is about; NULL where it has no place */
    const char *at;        /* what the edited text has at the offset */
    const char *part;      /* of the message after that */
};

/* Each of the edits alone, on a text that is accepted without: refused, for that reason and at that place. */
void break_vom(const char *text, const struct vom_broken *broken, size_t count, unsigned flags);

#endif
