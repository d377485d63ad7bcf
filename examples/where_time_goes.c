/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists the states of an event log with their shares of the total time: ./where_time_goes heat_out/heat.clog2 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <hpcw/hpcw.h>

enum { MOST_STATES = 100 };

struct totals {
    uint32_t states;
    struct {
        int32_t number;
        char name[HPCW_CLOG2_NAME + 2];
        double seconds; /* seconds on all timelines, without nested states */
    } state[MOST_STATES];
    double seconds; /* seconds of all states */
    uint64_t messages, bytes;
};

static hpcw_status take_stretch(void *context, const hpcw_clog2_stretch *stretch) {
    struct totals *all = context;
    uint32_t i = 0;
    while (i < all->states && all->state[i].number != stretch->state)
        i++;
    if (i == MOST_STATES)
        return HPCW_ERANGE; /* a failure ends reading */
    if (i == all->states) {
        all->states++;
        all->state[i].number = stretch->state;
        snprintf(all->state[i].name, sizeof all->state[i].name, "%s", stretch->name);
    }
    all->state[i].seconds += stretch->to - stretch->from;
    all->seconds += stretch->to - stretch->from;
    return HPCW_OK;
}

static hpcw_status take_end(void *context, const hpcw_clog2_end *end) {
    struct totals *all = context;
    all->messages += end->send;
    all->bytes += end->send && end->size > 0 ? (uint64_t)end->size : 0;
    return HPCW_OK;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: where_time_goes LOG\n");
        return 2;
    }
    static struct totals all;
    hpcw_error error;
    hpcw_clog2_reader *reader;
    const hpcw_clog2_watch watch = {.context = &all, .stretch = take_stretch, .message = take_end};
    hpcw_status status = hpcw_clog2_reader_open(argv[1], &reader, &error);
    if (status == HPCW_OK)
        status = hpcw_clog2_reader_watch(reader, &watch, &error);
    if (status == HPCW_OK) {
        for (uint32_t i = 0; i < all.states; i++)
            printf("%-31s %10.6f s  %5.1f %%\n", all.state[i].name, all.state[i].seconds,
                   100 * all.state[i].seconds / all.seconds);
        printf("%" PRIu64 " messages, %" PRIu64 " bytes\n", all.messages, all.bytes);
    } else {
        fprintf(stderr, "%s: %s\n", hpcw_status_name(status), error.message);
    }
    hpcw_clog2_reader_free(reader);
    return status == HPCW_OK ? 0 : 1;
}
