/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of a program as text, in place of those of a kind of application: the parameters trace.start, trace.loop and
 * trace.end. Statements stand between blanks (doc/hpcgen.md, "The calls of a program"):
 *
 *     work:N               N parts of the objects' work in an iteration
 *     local:NS root:NS     other code of all ranks, or of rank 0 alone; nanoseconds, about
 *     MPI_CALL             a call, as of MPI_Barrier; :BYTES of each part that it moves
 *     MPI_Isend MPI_Send   to all neighbours; :WEIGHT, the share of the bytes; :WEIGHT:TAG, otherwise tags are directions
 *     MPI_Sendrecv         :WEIGHT:TAG:DIRECTION, to the neighbours in a direction, as x+, and from those on the other side
 *     MPI_Irecv MPI_Recv   from those of the same exchange, which MPI_Wait, MPI_Waitall, MPI_Waitany or MPI_Recv ends
 *     repeat:N { ... }     N times
 *     every:N { ... }      in each Nth iteration
 *     some:P { ... }       in P percent of the iterations
 *     silent               at the end of a loop: no call ends an iteration
 */
#ifndef HPCW_GEN_MODEL_TRACE_PROGRAM_H
#define HPCW_GEN_MODEL_TRACE_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include <hpcw/status.h>

enum { MODEL_TRACE_MOST_STATEMENTS = 512, MODEL_TRACE_MOST_TEXT = 4096 };

struct model_trace_statement {
    uint16_t row;    /* of the table of statements */
    uint16_t end;    /* of a block: the statement after it */
    uint32_t number; /* nanoseconds, bytes, parts, weight, or how often */
    uint32_t tag;
    uint32_t directions; /* see struct model_trace_exchange */
};

struct model_trace_program {
    uint32_t statements; /* 0: there is none */
    struct model_trace_statement statement[MODEL_TRACE_MOST_STATEMENTS];
};

/* Reads `text`, the value of `key`; "auto" has no statements. Only a loop has work, and exchanges that may be left out.
 * HPCW_EINVAL with what was expected. */
hpcw_status model_trace_program_read(struct model_trace_program *program, const char *key, const char *text,
                                     bool loop, uint32_t most_exchanges, hpcw_error *err);

/* Whether exchanges go in all of these directions, those of the grid of ranks, so that no message is left out. HPCW_EINVAL. */
hpcw_status model_trace_program_check(const struct model_trace_program *program, const char *key,
                                      uint32_t directions, hpcw_error *err);

/* Whether no call ends an iteration. */
bool model_trace_program_is_silent(const struct model_trace_program *program);

struct model_trace;
struct model_trace_script;

/* The exchanges of an iteration. */
uint32_t model_trace_program_exchanges(const struct model_trace *m, const struct model_trace_program *program,
                                       uint32_t iteration);

/* Adds the lines of an iteration; its exchanges take the parts of the bytes from `part` on. */
void model_trace_program_write(const struct model_trace *m, const struct model_trace_program *program,
                               uint32_t part, struct model_trace_script *script);

#endif
