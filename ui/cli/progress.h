/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress on stderr. A terminal gets a bar that is redrawn at most ten times a second and disappears at the end.
 * Any other stream gets few plain lines, so that the log of a batch job stays short.
 *
 * Workers only add to an atomic counter. A separate thread reads the counter and draws. So no signal handler
 * draws, and no worker waits for the terminal.
 */
#ifndef HPCW_UI_CLI_PROGRESS_H
#define HPCW_UI_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <hpcw/status.h>

enum ui_progress_mode {
    UI_PROGRESS_AUTO = 0, /* a bar on a terminal, lines elsewhere */
    UI_PROGRESS_BAR,
    UI_PROGRESS_LINES, /* lines: the first after 5 s, then at growing intervals, up to one minute */
    UI_PROGRESS_QUIET, /* nothing; messages are not shown either */
};

/* A zeroed struct means: to stderr, bytes of an unknown total, and the mode that suits the stream. */
struct ui_progress_options {
    enum ui_progress_mode mode;
    FILE *stream;       /* NULL: stderr */
    const char *prefix; /* first word of every line, "hpcgen"; NULL: none. Borrowed until stop */
    uint64_t total;     /* bytes to come; 0: not known, then no bar and no remaining time are shown */
    /* Bar: seconds between two drawings. Lines: seconds before the first one. 0: the defaults, 0.1 and 5. */
    double interval_s;
    unsigned width; /* columns; 0: ask the terminal at each drawing */
    bool share; /* show only the share that is done; in a benchmark, bytes and rate would look like a result */
    bool reads; /* count the bytes that this process reads, not those of ui_progress_add; only on Linux */
};

struct ui_progress;

/* Starts a display. *out is NULL in quiet mode. It is also NULL if options->reads is set and the system does
 * not count the bytes that a process reads. All other calls accept NULL. If no thread can be started there is no
 * display, which is no failure. HPCW_ENOMEM. */
HPCW_MUST_CHECK hpcw_status ui_progress_start(const struct ui_progress_options *options,
                                              struct ui_progress **out, hpcw_error *err);

/* Adds finished bytes. Callable from any thread; takes no lock and makes no system call. */
void ui_progress_add(struct ui_progress *progress, uint64_t bytes);

/* Returns the bytes added so far; 0 for NULL. */
uint64_t ui_progress_done(const struct ui_progress *progress);

/* Sets the name of the current work, which is shown next to the figures. It is copied, and cut at 63 bytes. NULL or
 * "": none. Callable from any thread. */
void ui_progress_label(struct ui_progress *progress, const char *label);

/* Clears the bar, ends the thread, and frees `progress`. Call it before anything else is printed. */
void ui_progress_stop(struct ui_progress *progress);

/* Content of one drawing. Tests check it without a terminal. */
struct ui_progress_state {
    const char *label;    /* NULL: none */
    uint64_t done, total; /* bytes; total 0: not known */
    double rate;          /* bytes a second over the last seconds; below 0: not known yet */
    double elapsed_s;
    bool share; /* ui_progress_options.share */
};

/* Makes the bar, at most width - 1 columns: some terminals wrap at the last one. Leaves out the least important
 * parts first. */
void ui_progress_bar(char *text, size_t size, unsigned width, const struct ui_progress_state *state);

/* Makes the plain line, without prefix and line feed. */
void ui_progress_line(char *text, size_t size, const struct ui_progress_state *state);

#endif
