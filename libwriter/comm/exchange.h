/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of different lengths between processes. All calls are collective. */
#ifndef HPCW_COMM_EXCHANGE_H
#define HPCW_COMM_EXCHANGE_H

#include "libwriter/comm/comm.h"

/*
 * Every process sends a message to each process, and receives the messages for itself, ordered by sender. Takes
 * three collective calls. `send` holds the messages in order of destination, and send_words[size] their lengths in
 * 8-byte words. `*receive` is allocated (free it with hpcw_i_free), and receive_words[size] is filled in. At most
 * 16 GiB per process.
 */
hpcw_status hpcw_i_comm_exchange(hpcw_comm *comm, const uint64_t *send, const uint64_t *send_words,
                                 uint64_t **receive, uint64_t *receive_words, hpcw_error *err);

/* Memory for the messages that repeated exchanges receive. A zeroed struct is empty; free `words` with
 * hpcw_i_free. */
struct hpcw_i_inbox {
    uint64_t *words;
    size_t capacity;
};

/* Exchanges repeatedly, as hpcw_i_comm_exchange. Message p begins at send + send_at[p], and messages may overlap.
 * Received messages go to inbox->words, which grows as needed. */
hpcw_status hpcw_i_comm_exchange_at(hpcw_comm *comm, const uint64_t *send, const uint64_t *send_at,
                                    const uint64_t *send_words, struct hpcw_i_inbox *inbox,
                                    uint64_t *receive_words, hpcw_error *err);

/*
 * All processes send one message to `root`. The root passes the messages to `take`, one at a time: first its own,
 * then those of the others in order. The messages are point to point, so that the root needs memory for one message
 * only. A communicator without point-to-point messages gathers all messages at once. A process that failed sends an
 * empty message, so that the root need not wait for it. The result may differ between processes, so call
 * hpcw_i_agree after it.
 */
hpcw_status hpcw_i_comm_collect(hpcw_comm *comm, int root, const uint64_t *send, size_t words,
                                hpcw_status (*take)(void *context, const uint64_t *message, size_t words,
                                                    hpcw_error *err),
                                void *context, hpcw_error *err);

/* The processes call `step` one after the other. Each gets the `state` [words] that the process before left;
 * process 0 starts with its own state. A process also calls `step` after a failure, because others wait for the
 * state. Result and state may differ between processes, so call hpcw_i_agree after it. */
hpcw_status hpcw_i_comm_relay(hpcw_comm *comm, uint64_t *state, size_t words,
                              hpcw_status (*step)(void *context, uint64_t *state, hpcw_error *err),
                              void *context, hpcw_error *err);

#endif
