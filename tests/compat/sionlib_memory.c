/* SPDX-License-Identifier: BSD-3-Clause */
/* A program written for SIONlib whose records are lost for lack of memory. It ignores that. The close must fail, and
 * the container must not get its name. The linker replaces realloc(), with which the library stores the blocks of a
 * task. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sion.h"
#include "tests/support/files.h"

#define NAME "memory.sion"

static bool no_memory;
/* NOLINTBEGIN(bugprone-reserved-identifier): the linker gives these names */
void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size) {
    return no_memory ? NULL : __real_realloc(p, size);
}
/* NOLINTEND(bugprone-reserved-identifier) */

static bool fails(const char *mode, bool keys) {
    int tasks = 1, files = 1, rank = 0, *ranks = &rank;
    sion_int32 block = 64;
    sion_int64 chunk = 64, *chunks = &chunk;
    int sid = sion_open((char *)NAME, mode, &tasks, &files, &chunks, &block, &ranks, NULL);
    if (sid < 0) {
        return false;
    }
    no_memory = true;
    for (int i = 0; i < 20; i++) {
        char record[40] = {0};
        (void)(keys ? sion_fwrite_key(record, 1, 1, sizeof record, sid)
                    : sion_fwrite(record, 1, sizeof record, sid));
    }
    no_memory = false;
    return sion_close(sid) == SION_NOT_SUCCESS && access(NAME, F_OK) != 0;
}

int main(void) {
    char directory[256];
    scratch_make(directory, sizeof directory);
    if (chdir(directory) != 0) {
        return 1;
    }
    bool good = fails("bw", false) && fails("bw,keyval=inline", true);
    printf("%s\n", good ? "both closes failed" : "expected that both closes fail");
    return good && rmdir(directory) == 0 ? 0 : 1;
}
