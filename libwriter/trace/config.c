/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/trace/config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the value of an environment variable, or NULL if it is unset or empty. */
static const char *get(const char *name) {
    const char *value = getenv(name);
    return value == NULL || value[0] == '\0' ? NULL : value;
}

static void refuse(struct hpcw_i_trace_config *c, const char *name, const char *expected, const char *got) {
    char *at = c->refused;
    while (*at != '\0') {
        at += strlen(at) + 1;
    }
    const size_t room = sizeof c->refused - (size_t)(at - c->refused);
    (void)snprintf(at, room - 1, "%s: expected %s, got '%.64s'", name, expected, got);
}

enum { NUMBER = 32 }; /* bytes for the number in the name of a child's log */

/* Checks whether `path` can be the path of a log. `more` is the number of bytes that will be appended to its
 * last part. */
static bool is_log_path(struct hpcw_i_trace_config *c, const char *path, size_t more) {
    const char *slash = strrchr(path, '/');
    const char *last = slash == NULL ? path : slash + 1;
    const char *expected = NULL;
    if (strlen(path) + NUMBER >= sizeof c->path) {
        expected = "at most 4063 bytes";
    } else if (last[0] == '\0' || strcmp(last, ".") == 0 || strcmp(last, "..") == 0) {
        expected = "the path of a file";
    } else if (strlen(last) + more > NAME_MAX) {
        expected = "at most 255 bytes after the last slash";
    }
    if (expected != NULL) {
        refuse(c, "HPCW_TRACE_FILE", expected, path);
    }
    return expected == NULL;
}

static void read_path(struct hpcw_i_trace_config *c, bool child) {
    const char *name = get("HPCW_TRACE_FILE");
    char number[NUMBER] = "";
    if (child) {
        (void)snprintf(number, sizeof number, ".%ld", (long)getpid());
    }
    if (name != NULL && is_log_path(c, name, strlen(number))) {
        const size_t suffix = sizeof ".clog2" - 1;
        size_t length = strlen(name);
        size_t stem =
            length > suffix && strcmp(name + length - suffix, ".clog2") == 0 ? length - suffix : length;
        (void)snprintf(c->path, sizeof c->path, "%.*s%s%s", (int)stem, name, number, name + stem);
        c->named = true;
    } else {
        (void)snprintf(c->path, sizeof c->path, "%.3900s%s.clog2", program_invocation_short_name, number);
    }
}

static void read_directory(struct hpcw_i_trace_config *c) {
    const char *value = get("HPCW_TRACE_DIR");
    if (value != NULL && strlen(value) >= sizeof c->directory) {
        refuse(c, "HPCW_TRACE_DIR", "at most 4095 bytes", value);
    } else if (value != NULL) {
        (void)snprintf(c->directory, sizeof c->directory, "%s", value);
    }
}

/* Reads an environment variable that must be 0 or 1. If it is not set or wrong, returns `unset`. */
static bool read_switch(struct hpcw_i_trace_config *c, const char *name, bool unset) {
    const char *value = get(name);
    if (value == NULL) {
        return unset;
    }
    if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0) {
        refuse(c, name, "0 or 1", value);
        return unset;
    }
    return value[0] == '1';
}

static void read_memory(struct hpcw_i_trace_config *c) {
    const char *value = get("HPCW_TRACE_MEMORY");
    if (value != NULL) {
        char *end;
        errno = 0;
        unsigned long long mib = strtoull(value, &end, 10);
        if (errno != 0 || *end != '\0' || value[0] < '0' || value[0] > '9' || mib < 8 || mib > 1u << 20) {
            refuse(c, "HPCW_TRACE_MEMORY", "8 to 1048576 MiB", value);
        } else {
            c->memory = (uint64_t)mib << 20;
        }
    }
}

static void read_wait(struct hpcw_i_trace_config *c) {
    const char *value = get("HPCW_TRACE_WAIT");
    /* default, seconds: marks on a local disk need milliseconds, on a busy network file system seconds */
    c->wait = 10;
    if (value != NULL) {
        char *end;
        unsigned long seconds = strtoul(value, &end, 10);
        if (*end != '\0' || value[0] < '0' || value[0] > '9' || seconds < 1 || seconds > 3600) {
            refuse(c, "HPCW_TRACE_WAIT", "1 to 3600 s", value);
        } else {
            c->wait = (uint32_t)seconds;
        }
    }
}

static void read_clock(struct hpcw_i_trace_config *c) {
    static const struct {
        const char *name;
        hpcw_clog2_clock clock;
    } clock[] = {{"best", HPCW_CLOG2_CLOCK_BEST},
                 {"counter", HPCW_CLOG2_CLOCK_COUNTER},
                 {"system", HPCW_CLOG2_CLOCK_SYSTEM},
                 {"mpi", HPCW_CLOG2_CLOCK_CALLER}};
    const char *value = get("HPCW_TRACE_CLOCK");
    if (value == NULL) {
        return;
    }
    for (size_t i = 0; i < sizeof clock / sizeof *clock; i++) {
        if (strcmp(value, clock[i].name) == 0) {
            c->clock = (int)clock[i].clock;
            return;
        }
    }
    refuse(c, "HPCW_TRACE_CLOCK", "best, counter, system or mpi", value);
}

/* Returns a bit for each class that an environment variable names. If a name is unknown, returns 0. */
static uint32_t read_classes(struct hpcw_i_trace_config *c, const char *name) {
    const char *value = get(name);
    uint32_t classes = 0;
    while (value != NULL && *value != '\0') {
        size_t length = strcspn(value, ",");
        uint32_t named = 0;
        for (int i = 0; i < HPCW_I_CLASSES; i++) {
            if ((strlen(hpcw_i_trace_class_name[i]) == length &&
                 memcmp(hpcw_i_trace_class_name[i], value, length) == 0) ||
                (length == 3 && memcmp(value, "all", 3) == 0)) {
                named |= UINT32_C(1) << i;
            }
        }
        if (named == 0 && length > 0) {
            char word[65];
            (void)snprintf(word, sizeof word, "%.*s", (int)(length < 64 ? length : 64), value);
            refuse(c, name,
                   "all, message, collective, communicator, topology, group, datatype, attribute, environment, "
                   "file, window, spawn, info",
                   word);
            return 0;
        }
        classes |= named;
        value += length + (value[length] == ',');
    }
    return classes;
}

/* Classes of calls that are not recorded by default, as in MPE: they are frequent and say little. A program
 * that reads the clock often would fill the log. */
static const uint32_t unusual = UINT32_C(1) << HPCW_I_CLASS_GROUP | UINT32_C(1) << HPCW_I_CLASS_DATATYPE |
                                UINT32_C(1) << HPCW_I_CLASS_ATTRIBUTE |
                                UINT32_C(1) << HPCW_I_CLASS_ENVIRONMENT | UINT32_C(1) << HPCW_I_CLASS_INFO;

void hpcw_i_trace_config_read(struct hpcw_i_trace_config *config, bool child) {
    memset(config, 0, sizeof *config);
    config->clock = (int)HPCW_CLOG2_CLOCK_BEST;
    read_path(config, child);
    read_directory(config);
    config->on = read_switch(config, "HPCW_TRACE", true);
    config->clocks = read_switch(config, "HPCW_TRACE_CLOCKS", false);
    read_memory(config);
    read_wait(config);
    read_clock(config);
    config->skip =
        (unusual & ~read_classes(config, "HPCW_TRACE_ALSO")) | read_classes(config, "HPCW_TRACE_SKIP");
}
