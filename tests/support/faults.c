/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/faults.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "libwriter/base/mem.h"
#include "libwriter/io/sink_set.h"
#include "libwriter/io/sys.h"
#include "tests/support/files.h"

/* Atomic, since threads of the library may allocate and write. */
static enum fault armed;
static atomic_ulong left;
static atomic_bool met;

/* Returns whether this call is the one to fail. */
static bool is_due(void) {
    if (atomic_load(&left) == 0 || atomic_fetch_sub(&left, 1) != 1) {
        return false;
    }
    atomic_store(&met, true);
    return true;
}

static int sys_gate(enum hpcw_i_sys_call call, size_t *size) {
    bool transfers = call == HPCW_I_SYS_PWRITE || call == HPCW_I_SYS_PREAD;
    if (call == HPCW_I_SYS_OWN) {
        return 0; /* a failed lock is no failure: writers work without locks */
    }
    switch (armed) {
    case FAULT_EIO:
        return is_due() ? EIO : 0;
    case FAULT_ENOSPC:
        return call != HPCW_I_SYS_PREAD && call != HPCW_I_SYS_UNLINK && call != HPCW_I_SYS_RMDIR &&
                       call != HPCW_I_SYS_CLOSE && is_due()
                   ? ENOSPC
                   : 0;
    case FAULT_EINTR:
        return is_due() ? EINTR : 0;
    case FAULT_SHORT:
        if (transfers && size != NULL && *size > 1 && is_due()) {
            *size = 1;
        }
        return 0;
    default:
        return 0;
    }
}

static bool mem_gate(size_t size) {
    (void)size;
    return !is_due();
}

void fault_arm(enum fault fault, unsigned long n) {
    armed = fault;
    atomic_store(&left, n);
    atomic_store(&met, false);
    hpcw_i_mem_gate = fault == FAULT_NOMEM ? mem_gate : NULL;
    hpcw_i_sys_gate = fault == FAULT_NOMEM ? NULL : sys_gate;
}

bool fault_disarm(void) {
    hpcw_i_mem_gate = NULL;
    hpcw_i_sys_gate = NULL;
    return atomic_exchange(&met, false);
}

bool fault_is_harmless(enum fault fault) {
    return fault == FAULT_EINTR || fault == FAULT_SHORT;
}

hpcw_status fault_status(enum fault fault) {
    switch (fault) {
    case FAULT_EIO:
        return HPCW_EIO;
    case FAULT_ENOSPC:
        return HPCW_ENOSPC;
    case FAULT_NOMEM:
        return HPCW_ENOMEM;
    default:
        return HPCW_OK;
    }
}

const char *fault_name(enum fault fault) {
    static const char *const name[FAULTS] = {"EIO", "ENOSPC", "no memory", "EINTR", "short transfer"};
    return name[fault];
}

bool is_late_failure(const hpcw_error *err, const char *path) {
    size_t n = strlen(path);
    return strncmp(err->message, path, n) == 0 && strncmp(err->message + n, ": is complete", 13) == 0;
}

bool is_finished_by_next_open(const hpcw_error *err, const char *path) {
    struct hpcw_i_dir *dir = NULL;
    bool finished = strstr(err->message, "the next open of") != NULL && hpcw_i_dir_hold_of(path, &dir) == 0 &&
                    hpcw_i_set_finish(dir, path, NULL) == HPCW_OK;
    hpcw_i_dir_release(dir);
    return finished;
}

bool good_message(hpcw_status s, const hpcw_error *err, const char *path) {
    bool good = err->code == s && err->message[0] != '\0' && strchr(err->message, '\n') == NULL &&
                strstr(err->message, path) != NULL && memchr(err->message, '\0', sizeof err->message) != NULL;
    if (!good) {
        (void)fprintf(stderr, "status %d with code %d and message: %s\n", (int)s, (int)err->code, err->message);
    }
    return good;
}

int count_descriptors(void) {
    return count_entries("/proc/self/fd");
}
