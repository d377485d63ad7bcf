/* SPDX-License-Identifier: BSD-3-Clause */
/* Where errors go. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bindings/sionlib/handles/report.h"
#include <sion.h>

/* SIONlib's interface has no place for it but the program. */
static sion_hpcw_report *listener;
static void *listener_context;

void sion_hpcw_on_error(sion_hpcw_report *report, void *context) {
    listener = report;
    listener_context = context;
}

/* `line` ends with a newline, which the listener does not get. `aloud`: on stderr if nobody listens. */
static void deliver(char *line, size_t size, bool aloud) {
    if (listener != NULL) {
        line[size - 1] = '\0';
        listener(listener_context, line);
        return;
    }
    const char *path = getenv("HPCW_SIONLIB_ERRORS");
    bool to_file = path != NULL && path[0] != '\0';
    /* A pipe that nobody reads must not stop the program. */
    int fd = to_file ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666) : -1;
    /* One write, so that the lines of several processes stay whole. */
    bool written = fd >= 0 && write(fd, line, size) == (ssize_t)size;
    if (fd >= 0) {
        (void)close(fd);
    }
    if (!written && (to_file || aloud)) {
        ssize_t ignored = write(STDERR_FILENO, line, size); /* there is nobody to tell of a failure */
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
