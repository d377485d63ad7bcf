/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F5: progress on stderr. On a terminal a bar that is redrawn ten times a second at most and disappears at the
 * end; elsewhere a plain line now and then, so that the log of a batch job stays short.
 *
 * Workers only add to an atomic counter. One thread of its own looks at the counter, so nothing is drawn from a
 * signal handler and no worker ever waits for the terminal.
 */
#ifndef HPCW_UI_CLI_PROGRESS_H
#define HPCW_UI_CLI_PROGRESS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <hpcw/status.h>

enum hpcw_i_progress_mode {
    HPCW_I_PROGRESS_AUTO = 0, /* a bar on a terminal, lines elsewhere */
    HPCW_I_PROGRESS_BAR,
    HPCW_I_PROGRESS_LINES, /* the first after 5 s, then ever more rarely, at last one a minute */
    HPCW_I_PROGRESS_QUIET, /* nothing; messages are not shown either */
};

/* Zeroed: bytes of an unknown total to stderr, mode by the kind of stream. */
struct hpcw_i_progress_options {
    enum hpcw_i_progress_mode mode;
    FILE *stream;       /* NULL: stderr */
    const char *prefix; /* begins every line, "hpcgen"; NULL: none. Borrowed until stop */
    uint64_t total;     /* bytes to come; 0: not known, then no bar and no remaining time are shown */
    double interval_s;  /* seconds between two drawings (bar) or before the first line; 0: 0.1 and 5 */
    unsigned width;     /* columns; 0: what the terminal has at each drawing */
};

struct hpcw_i_progress;

/*
 * Starts a display. *out is NULL in quiet mode; all other calls accept NULL. A system that gives no thread gets
 * no display, which is no failure. HPCW_ENOMEM.
 */
HPCW_MUST_CHECK hpcw_status hpcw_i_progress_start(const struct hpcw_i_progress_options *options,
                                                  struct hpcw_i_progress **out, hpcw_error *err);

/* Adds finished bytes. Any thread, no lock, no system call. */
void hpcw_i_progress_add(struct hpcw_i_progress *progress, uint64_t bytes);

/* Bytes added so far. 0 for NULL. */
uint64_t hpcw_i_progress_done(const struct hpcw_i_progress *progress);

/* What is being worked on, shown beside the figures; copied, cut at 63 bytes. NULL or "": nothing. Any thread.
 */
void hpcw_i_progress_label(struct hpcw_i_progress *progress, const char *label);

/* A line of its own, with the prefix, that the bar does not spoil. Any thread; not for hot paths. */
void hpcw_i_progress_message(struct hpcw_i_progress *progress, const char *fmt, ...) HPCW_PRINTF(2, 3);

/* Clears the bar, ends the thread, frees. Call it before anything else is printed. */
void hpcw_i_progress_stop(struct hpcw_i_progress *progress);

/* What one drawing shows; apart, so that it can be tested. */
struct hpcw_i_progress_state {
    const char *label;    /* NULL: none */
    uint64_t done, total; /* bytes; total 0: not known */
    double rate;          /* bytes a second over the last seconds, < 0: not known yet */
    double elapsed_s;
};

/* The bar in at most width - 1 columns (the last one would wrap on some terminals); the less important goes
 * first. */
void hpcw_i_progress_bar(char *text, size_t size, unsigned width, const struct hpcw_i_progress_state *state);

/* The plain line, without prefix and line feed. */
void hpcw_i_progress_line(char *text, size_t size, const struct hpcw_i_progress_state *state);

#endif
