/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of events and messages, and their cargo. */
#include <stdio.h>
#include <string.h>

#include "bindings/mpe/session.h"

static void event_on(hpcw_clog2_timeline *timeline, uint32_t comm, int event, const char *cargo) {
    if (cargo == NULL) {
        hpcw_clog2_log_event(timeline, comm, event);
        return;
    }
    hpcw_clog2_cargo packed = {0};
    hpcw_clog2_cargo_packed(&packed, cargo, HPCW_CLOG2_CARGO);
    hpcw_clog2_log_cargo(timeline, comm, event, &packed);
}

int MPE_Log_comm_event(MPI_Comm comm, int event, const char *bytebuf) {
    hpcw_clog2_timeline *timeline = mpe_timeline();
    if (timeline != NULL) {
        uint32_t number = mpe_comm(comm);
        event_on(timeline, number == UINT32_MAX ? 0 : number, event, bytebuf);
    }
    return MPE_LOG_OK;
}

int MPE_Log_info_event(int event, const char *bytebuf) {
    hpcw_clog2_timeline *timeline = mpe_timeline();
    if (timeline != NULL) {
        event_on(timeline, 0, event, bytebuf);
    }
    return MPE_LOG_OK;
}

int MPE_Log_event(int event, int data, const char *bytebuf) {
    (void)data;
    return MPE_Log_info_event(event, bytebuf);
}

int MPE_Log_bare_event(int event) {
    return MPE_Log_info_event(event, NULL);
}

/* ---- messages ---- */

int MPE_Log_comm_send(MPI_Comm comm, int receiver, int tag, int size) {
    hpcw_clog2_timeline *timeline = mpe_timeline();
    uint32_t number = timeline == NULL ? UINT32_MAX : mpe_comm(comm);
    if (number != UINT32_MAX && receiver != MPI_PROC_NULL) {
        hpcw_clog2_log_send(timeline, number, receiver, tag, (uint64_t)(size < 0 ? 0 : size));
    }
    return MPE_LOG_OK;
}

int MPE_Log_comm_receive(MPI_Comm comm, int sender, int tag, int size) {
    hpcw_clog2_timeline *timeline = mpe_timeline();
    uint32_t number = timeline == NULL ? UINT32_MAX : mpe_comm(comm);
    if (number != UINT32_MAX && sender != MPI_PROC_NULL) {
        hpcw_clog2_log_receive(timeline, number, sender, tag, (uint64_t)(size < 0 ? 0 : size));
    }
    return MPE_LOG_OK;
}

int MPE_Log_send(int receiver, int tag, int size) {
    return MPE_Log_comm_send(MPI_COMM_WORLD, receiver, tag, size);
}

int MPE_Log_receive(int sender, int tag, int size) {
    return MPE_Log_comm_receive(MPI_COMM_WORLD, sender, tag, size);
}

/* ---- cargo ---- */

/* Returns the size of a value of the type that a letter names, bytes; 0 for an unknown letter. */
static size_t size_of(char letter) {
    switch (letter) {
    case 's':
        return 1;
    case 'h':
        return 2;
    case 'd':
    case 'x':
    case 'e':
        return 4;
    case 'l':
    case 'X':
    case 'E':
        return 8;
    default:
        return 0;
    }
}

int MPE_Log_pack(MPE_LOG_BYTES bytebuf, int *position, char tokentype, int count, const void *data) {
    size_t unit = size_of(tokentype), length = tokentype == 's' ? 2 : 0;
    if (unit == 0) {
        mpe_say("MPE_Log_pack: expected one of the letters s h d l x X e E, got '%c'", tokentype);
        return MPE_LOG_PACK_FAIL;
    }
    if (count < 0 || count > (int)MPE_LOG_BYTESIZE || *position < 0 || *position > (int)MPE_LOG_BYTESIZE) {
        return MPE_LOG_PACK_FAIL;
    }
    size_t at = (size_t)*position, end = at + length + unit * (size_t)count;
    if (end > MPE_LOG_BYTESIZE) {
        return MPE_LOG_PACK_FAIL;
    }
    if (length > 0) {
        bytebuf[at++] = 0;
        bytebuf[at++] = (char)count;
    }
    /* Cargo is big-endian in the file, whatever the processor. */
    const unsigned char *from = data;
    for (; at < end; at += unit, from += unit) {
        for (size_t i = 0; i < unit; i++) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
            bytebuf[at + i] = (char)from[i];
#else
            bytebuf[at + i] = (char)from[unit - 1 - i];
#endif
        }
    }
    memset(bytebuf + end, 0, MPE_LOG_BYTESIZE - end);
    *position = (int)end;
    return MPE_LOG_OK;
}
