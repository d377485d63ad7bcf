/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of a log (doc/formats/clog2.md, "Rules"): their names, and the cases that a pass finds. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "libreader/clog2/private.h"
#include "libwriter/base/status.h"

const char *read_clog2_rule_text(enum read_clog2_rule rule) {
    static const char *const text[READ_CLOG2_RULES] = {
        [READ_CLOG2_ID] = "event neither announced nor defined",
        [READ_CLOG2_COMM] = "rank of a communicator that no record introduced",
        [READ_CLOG2_COLOUR] = "definition without colour",
        [READ_CLOG2_FORMAT] = "format ending in %",
        [READ_CLOG2_EMPTY] = "nothing to show",
        [READ_CLOG2_INDEX] = "communicator beyond the table",
        [READ_CLOG2_ORDER] = "time out of order or range",
        [READ_CLOG2_NESTING] = "states not nested",
        [READ_CLOG2_END_ALONE] = "end without start",
        [READ_CLOG2_START_ALONE] = "start without end",
        [READ_CLOG2_EQUAL] = "equal drawables",
        [READ_CLOG2_BACKWARD] = "receive before its send",
        [READ_CLOG2_MESSAGE] = "message without partner",
        [READ_CLOG2_MESSAGE_SIZE] = "receive of another size than its send",
        [READ_CLOG2_CARGO] = "cargo that its format cannot show",
        [READ_CLOG2_DEFINITION] = "definition missing, late or contradictory",
        [READ_CLOG2_TIMELINE] = "rank or thread beyond the preamble's",
        [READ_CLOG2_TABLE] = "communicator not as in the table",
        [READ_CLOG2_PADDING] = "padding not zero",
        [READ_CLOG2_CHAIN] = "block not ending with the time of the next",
        [READ_CLOG2_KIND] = "record that no tool shows",
    };
    return text[rule];
}

void read_clog2_found(struct read_clog2_pass *p, enum read_clog2_rule rule, uint64_t offset, const char *fmt,
                      ...) {
    if (p->status != HPCW_OK) {
        return;
    }
    /* Take the lowest offset: at the end of the log, open states and messages come in any order. Offset 0 means
     * that a case has no offset. */
    if (p->count[rule]++ == 0 || (offset != 0 && offset < p->first[rule])) {
        p->first[rule] = offset;
    }
    if ((p->refuse >> rule & 1) != 0) {
        char text[256];
        va_list args;
        va_start(args, fmt);
        (void)vsnprintf(text, sizeof text, fmt, args);
        va_end(args);
        p->status = read_clog2_wrong(read_clog2_name(p->reader), offset, p->err, "%s: %s",
                                     read_clog2_rule_text(rule), text);
    }
}

void read_clog2_warn(const struct read_clog2 *reader, const uint64_t cases[READ_CLOG2_RULES],
                     hpcw_error *warning) {
    if (cases[READ_CLOG2_ORDER] > 0 || cases[READ_CLOG2_END_ALONE] > 0) {
        (void)hpcw_i_fail(warning, HPCW_EFORMAT,
                          "%s: expected times in order and states that start before they end, got records out "
                          "of order: %" PRIu64 ", ends without start: %" PRIu64
                          "; what is made of the log may be wrong, for all problems: hpcgen info",
                          read_clog2_name(reader), cases[READ_CLOG2_ORDER], cases[READ_CLOG2_END_ALONE]);
    }
}

void read_clog2_no_memory(struct read_clog2_pass *p) {
    if (p->status == HPCW_OK) {
        p->status = hpcw_i_fail_memory(p->err, read_clog2_name(p->reader), 0, "open states and messages");
    }
}

void *read_clog2_add(struct read_clog2_pass *p, struct hpcw_i_table *table, const uint64_t *key) {
    void *value = hpcw_i_table_add(table, key, NULL);
    if (value == NULL) {
        read_clog2_no_memory(p);
    }
    return value;
}
