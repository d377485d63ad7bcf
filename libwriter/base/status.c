/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/base/status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <hpcw/version.h>

#include "libwriter/base/shown.h"

static const struct {
    hpcw_status code;
    const char *name;
    const char *text;
} codes[] = {
    {HPCW_OK, "HPCW_OK", "success"},
    {HPCW_EINVAL, "HPCW_EINVAL", "an argument is invalid"},
    {HPCW_ESTATE, "HPCW_ESTATE", "the handle cannot do this in its present state"},
    {HPCW_ERANGE, "HPCW_ERANGE", "a value exceeds a limit of the format"},
    {HPCW_EMISMATCH, "HPCW_EMISMATCH", "collective arguments do not fit together"},
    {HPCW_ENOTSUP, "HPCW_ENOTSUP", "not supported in this build or by this destination"},
    {HPCW_ENOMEM, "HPCW_ENOMEM", "out of memory"},
    {HPCW_ENOSPC, "HPCW_ENOSPC", "no space left at the destination"},
    {HPCW_EIO, "HPCW_EIO", "a system call failed"},
    {HPCW_ENOENT, "HPCW_ENOENT", "no such file or directory"},
    {HPCW_EACCES, "HPCW_EACCES", "permission denied"},
    {HPCW_EEXIST, "HPCW_EEXIST", "the target exists already"},
    {HPCW_EFORMAT, "HPCW_EFORMAT", "the data violates its format"},
    {HPCW_ETRUNCATED, "HPCW_ETRUNCATED", "the data ends too early"},
    {HPCW_ECHECKSUM, "HPCW_ECHECKSUM", "the content does not match its digest"},
    {HPCW_ECOMM, "HPCW_ECOMM", "communication between processes failed"},
    {HPCW_EINTERNAL, "HPCW_EINTERNAL", "internal error of the library"},
    {HPCW_OK, "HPCW_?", "unknown status"},
};

/* Returns the index of a code in `codes`. The last row stands for all other codes. */
static size_t find(hpcw_status code) {
    size_t i = 0;
    while (i < sizeof codes / sizeof codes[0] - 1 && codes[i].code != code) {
        i++;
    }
    return i;
}

const char *hpcw_status_text(hpcw_status code) {
    return codes[find(code)].text;
}

const char *hpcw_status_name(hpcw_status code) {
    return codes[find(code)].name;
}

#define STRING_(x) #x
#define STRING(x) STRING_(x)

const char *hpcw_version(void) {
    return STRING(HPCW_VERSION_MAJOR) "." STRING(HPCW_VERSION_MINOR) "." STRING(HPCW_VERSION_PATCH);
}

hpcw_status hpcw_i_status_of_errno(int sys_errno) {
    switch (sys_errno) {
    case 0:
        return HPCW_OK;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return HPCW_ENOSPC;
    case ENOMEM:
        return HPCW_ENOMEM;
    case ENOENT:
    case ENOTDIR:
        return HPCW_ENOENT;
    case EACCES:
    case EPERM:
    case EROFS:
        return HPCW_EACCES;
    case EEXIST:
    case ENOTEMPTY:
        return HPCW_EEXIST;
    case ENAMETOOLONG:
        return HPCW_ERANGE;
    default:
        return HPCW_EIO;
    }
}

/* Bytes for a path of PATH_MAX bytes, and for the words around it. */
enum { LONGEST = 4096 + 1024 };

static void record(hpcw_error *err, hpcw_status code, int sys_errno, const char *fmt, va_list args)
    HPCW_PRINTF(4, 0);

/* strerror_r of glibc may return a string of its own. The function of POSIX, as in musl, returns an error code. */
static const char *reason_of(int sys_errno, char *room, size_t size) {
#ifdef __GLIBC__
    return strerror_r(sys_errno, room, size);
#else
    return strerror_r(sys_errno, room, size) == 0 ? room : "unknown error";
#endif
}

static void record(hpcw_error *err, hpcw_status code, int sys_errno, const char *fmt, va_list args) {
    err->code = code;
    err->sys_errno = sys_errno;
    err->process = 0;
    char text[LONGEST];
    int n = vsnprintf(text, sizeof text, fmt, args);
    size_t length = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    text[length] = '\0';
    if (sys_errno != 0) {
        char room[128];
        (void)snprintf(text + length, sizeof text - length, ": %s", reason_of(sys_errno, room, sizeof room));
        length = strlen(text);
    }
    /* A path can contain any character, but a message must be one line. */
    hpcw_i_shown(text);
    /* A message gets too long if its path is long. The reason comes last, so cut out the middle of the message. */
    const size_t room = sizeof err->message - 1;
    if (length > room) {
        memmove(text + room / 2, text + length - (room - room / 2), room - room / 2 + 1);
        memcpy(text + room / 2, "...", 3);
        length = room;
    }
    memcpy(err->message, text, length + 1);
}

hpcw_status hpcw_i_fail(hpcw_error *err, hpcw_status code, const char *fmt, ...) {
    if (err != NULL) {
        va_list args;
        va_start(args, fmt);
        record(err, code, 0, fmt, args);
        va_end(args);
    }
    return code;
}

hpcw_status hpcw_i_fail_sys(hpcw_error *err, int sys_errno, const char *fmt, ...) {
    hpcw_status code = sys_errno == 0 ? HPCW_EIO : hpcw_i_status_of_errno(sys_errno);
    if (err != NULL) {
        va_list args;
        va_start(args, fmt);
        record(err, code, sys_errno, fmt, args);
        va_end(args);
    }
    return code;
}

hpcw_status hpcw_i_fail_as(hpcw_error *err, const hpcw_error *why) {
    if (err != NULL) {
        *err = *why;
    }
    return why->code;
}

hpcw_status hpcw_i_fail_memory(hpcw_error *err, const char *where, uint64_t count, const char *what) {
    char number[24] = "";
    if (count > 0) {
        (void)snprintf(number, sizeof number, "%" PRIu64 " ", count);
    }
    return hpcw_i_fail(err, HPCW_ENOMEM, "%s%sout of memory%s%s%s", where == NULL ? "" : where,
                       where == NULL ? "" : ": ", what == NULL ? "" : " for ", what == NULL ? "" : number,
                       what == NULL ? "" : what);
}

hpcw_error hpcw_i_reason_to_abandon(const hpcw_error *reason) {
    hpcw_error why = {.code = HPCW_OK};
    if (reason != NULL) {
        why = *reason;
    }
    why.code = why.code == HPCW_OK ? HPCW_ESTATE : why.code;
    why.message[sizeof why.message - 1] = '\0';
    if (why.message[0] == '\0') {
        (void)snprintf(why.message, sizeof why.message, "the program abandoned it");
    }
    return why;
}

void hpcw_i_fail_about(hpcw_error *err, const char *name) {
    if (err == NULL || strncmp(err->message, name, strlen(name)) == 0) {
        return;
    }
    const hpcw_error old = *err;
    (void)hpcw_i_fail(err, old.code, "%s: %s", name, old.message);
    err->sys_errno = old.sys_errno;
    err->process = old.process;
}
