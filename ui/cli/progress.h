/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress on stderr. On a terminal a bar that is redrawn ten times a second at most and disappears at the
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

enum ui_progress_mode {
    UI_PROGRESS_AUTO = 0, /* a bar on a terminal, lines elsewhere */
    UI_PROGRESS_BAR,
    UI_PROGRESS_LINES, /* the first after 5 s, then less and less often, down to one a minute */
    UI_PROGRESS_QUIET, /* nothing; messages are not shown either */
};

/* Zeroed: bytes of an unknown total to stderr, mode by the kind of stream. */
struct ui_progress_options {
    enum ui_progress_mode mode;
    FILE *stream;       /* NULL: stderr */
    const char *prefix; /* begins every line, "hpcgen"; NULL: none. Borrowed until stop */
    uint64_t total;     /* bytes to come; 0: not known, then no bar and no remaining time are shown */
    double interval_s;  /* seconds between two drawings (bar) or before the first line; 0: 0.1 and 5 */
    unsigned width;     /* columns; 0: what the terminal has at each drawing */
};

struct ui_progress;

/*
 * Starts a display. *out is NULL in quiet mode; all other calls accept NULL. If the system has no thread to
 * spare, there is no display; this is no failure. HPCW_ENOMEM.
 */
HPCW_MUST_CHECK hpcw_status ui_progress_start(const struct ui_progress_options *options,
                                              struct ui_progress **out, hpcw_error *err);

/* Adds finished bytes. Any thread, no lock, no system call. */
void ui_progress_add(struct ui_progress *progress, uint64_t bytes);

/* Bytes added so far. 0 for NULL. */
uint64_t ui_progress_done(const struct ui_progress *progress);

/* The current piece of work, shown next to the figures; copied, cut at 63 bytes. NULL or "": nothing. Any thread.
 */
void ui_progress_label(struct ui_progress *progress, const char *label);

/* Clears the bar, ends the thread, frees. Call it before anything else is printed. */
void ui_progress_stop(struct ui_progress *progress);

/* What one drawing shows; separate, so that tests can check it. */
struct ui_progress_state {
    const char *label;    /* NULL: none */
    uint64_t done, total; /* bytes; total 0: not known */
    double rate;          /* bytes a second over the last seconds, < 0: not known yet */
    double elapsed_s;
};

/* The bar in at most width - 1 columns (the last one would wrap on some terminals); the least important
 * parts are left out first. */
void ui_progress_bar(char *text, size_t size, unsigned width, const struct ui_progress_state *state);

/* The plain line, without prefix and line feed. */
void ui_progress_line(char *text, size_t size, const struct ui_progress_state *state);

#endif
