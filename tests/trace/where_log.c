/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a line for each state, arrow and freed communicator of a log of two ranks, in the format of where.c. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libreader/clog2/clog2.h"
#include "libwriter/base/bytes.h"

enum { STATE_DEF = 2, BARE = 5, CARGO = 6, COMM_EVENT = 9 }; /* kinds of record */
enum { FREED = 10, RANKS = 2, NAME_AT = 40, KNOWN = 300 };

static char name[KNOWN][32];
static char format[KNOWN][40];

static uint32_t word(const struct read_clog2_item *item, int at) {
    return hpcw_i_get_u32(item->payload + at, true);
}

static const char *place_of(const struct read_clog2_item *item) {
    return item->comm == 0 ? "world" : item->comm <= RANKS ? "self" : "other";
}

static void end_of_state(const struct read_clog2_item *item, uint32_t state) {
    printf("%s %s", name[state], place_of(item));
    if (item->kind == CARGO) {
        bool wide = strstr(format[state], "%l") != NULL;
        const unsigned char *cargo = item->payload + 8;
        printf(" %" PRIu64 " %" PRIu64, wide ? hpcw_i_get_u64(cargo, true) : hpcw_i_get_u32(cargo, true),
               wide ? hpcw_i_get_u64(cargo + 8, true) : hpcw_i_get_u32(cargo + 4, true));
    }
    printf("\n");
}

static void end_of_message(void *context, const struct read_clog2_end *e) {
    (void)context;
    if (e->meets) {
        printf("arrow %" PRIu32 " %" PRIu32 " %" PRId32 "\n", e->send ? e->rank : e->peer,
               e->send ? e->peer : e->rank, e->bytes);
    }
}

int main(int argc, char **argv) {
    struct read_clog2 *reader = NULL;
    struct read_clog2_item item;
    hpcw_error err = {.message = ""};
    bool more = true;
    if (argc != 2 || read_clog2_open(argv[1], &reader, &err) != HPCW_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    while (read_clog2_next(reader, &item, &more, &err) == HPCW_OK && more) {
        uint32_t first = word(&item, 0);
        if (item.kind == STATE_DEF && first < KNOWN) {
            memcpy(name[first], item.payload + NAME_AT, sizeof name[first]);
            memcpy(format[first], item.payload + NAME_AT + sizeof name[first], sizeof format[first]);
        } else if ((item.kind == BARE || item.kind == CARGO) && first % 2 == 1 && first / 2 < KNOWN) {
            end_of_state(&item, first / 2);
        } else if (item.kind == COMM_EVENT && first == FREED) {
            printf("freed %s\n", place_of(&item));
        }
    }
    const struct read_clog2_watch watch = {.message = end_of_message};
    read_clog2_rewind(reader);
    bool good = read_clog2_watch(reader, &watch, &err) == HPCW_OK;
    read_clog2_free(reader);
    return good ? 0 : 1;
}
