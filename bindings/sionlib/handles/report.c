/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of errors: to a listener, a file, or stderr. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bindings/sionlib/handles/report.h"
#include <sion.h>

/* The listener: the function that the program passed to sion_hpcw_on_error. It is global, because SIONlib's calls
 * take no context. */
static sion_hpcw_report *listener;
static void *listener_context;

void sion_hpcw_on_error(sion_hpcw_report *report, void *context) {
    listener = report;
    listener_context = context;
}

/* Delivers a line that ends with a newline. A listener gets the line without the newline. aloud: if there is no
 * listener, write the line to stderr. */
static void deliver(char *line, size_t size, bool aloud) {
    if (listener != NULL) {
        line[size - 1] = '\0';
        listener(listener_context, line);
        return;
    }
    const char *path = getenv("HPCW_SIONLIB_ERRORS");
    bool to_file = path != NULL && path[0] != '\0';
    /* Do not block: opening a pipe that nobody reads must not stop the program. */
    int fd = to_file ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666) : -1;
    /* Write the line with one call, so that lines of several processes do not mix. */
    bool written = fd >= 0 && write(fd, line, size) == (ssize_t)size;
    if (fd >= 0) {
        (void)close(fd);
    }
    if (!written && (to_file || aloud)) {
        ssize_t ignored = write(STDERR_FILENO, line, size); /* a failure cannot be reported anywhere */
        (void)ignored;
    }
}

static void report(bool aloud, const char *format, va_list values) HPCW_PRINTF(2, 0);

static void report(bool aloud, const char *format, va_list values) {
    char line[HPCW_ERROR_MESSAGE_SIZE + 1];
    if (vsnprintf(line, sizeof line - 1, format, values) >= 0) {
        size_t size = strlen(line);
        line[size] = '\n';
        deliver(line, size + 1, aloud);
    }
}

void sionlib_report(const char *format, ...) {
    va_list values;
    va_start(values, format);
    report(false, format, values);
    va_end(values);
}

void sionlib_refuse(const char *format, ...) {
    va_list values;
    va_start(values, format);
    report(true, format, values);
    va_end(values);
}

void sionlib_report_error(const hpcw_comm *comm, const hpcw_error *err) {
    if (hpcw_comm_process(comm) == err->process) {
        sionlib_report("%s", err->message);
    }
}
