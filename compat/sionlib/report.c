/* SPDX-License-Identifier: BSD-3-Clause */
/* Where errors go. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compat/sionlib/report.h"
#include <sion.h>

/* SIONlib's interface has no place for it but the program. */
static sion_hpcw_report *listener;
static void *listener_context;

void sion_hpcw_on_error(sion_hpcw_report *report, void *context) {
    listener = report;
    listener_context = context;
}

/* `line` ends with a newline, which the listener does not get. */
static void deliver(char *line, size_t size) {
    if (listener != NULL) {
        line[size - 1] = '\0';
        listener(listener_context, line);
        return;
    }
    const char *path = getenv("HPCW_SIONLIB_ERRORS");
    int fd = path == NULL || path[0] == '\0'
                 ? -1
                 : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
    if (fd >= 0) {
        /* One write, so that the lines of several processes stay whole. There is nobody to tell of a failure. */
        ssize_t ignored = write(fd, line, size);
        (void)ignored;
        (void)close(fd);
    }
}

static void report(const char *format, va_list values) HPCW_PRINTF(1, 0);

static void report(const char *format, va_list values) {
    char line[HPCW_ERROR_MESSAGE_SIZE + 1];
    if (vsnprintf(line, sizeof line - 1, format, values) >= 0) {
        size_t size = strlen(line);
        line[size] = '\n';
        deliver(line, size + 1);
    }
}

void sionlib_report(const char *format, ...) {
    va_list values;
    va_start(values, format);
    report(format, values);
    va_end(values);
}

void sionlib_report_error(const hpcw_comm *comm, const hpcw_error *err) {
    if (hpcw_comm_process(comm) == err->process) {
        sionlib_report("%s", err->message);
    }
}
