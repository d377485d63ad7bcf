/* SPDX-License-Identifier: BSD-3-Clause */
#include "bindings/sionlib/handles/group.h"

static int64_t align(int64_t bytes, int64_t block) {
    return (bytes + block - 1) / block * block;
}

/* Returns the largest number of groups in a file if the mode does not set the size of a group. */
static int64_t usual_groups(int64_t tasks) {
    return tasks >= 512 ? 32 : tasks >= 256 ? 16 : tasks >= 32 ? 8 : tasks >= 16 ? 4 : tasks;
}

/* Returns the limit of a group, bytes: tasks join while the sum of their chunk sizes is within the limit. all: sum
 * of the chunk sizes of all tasks. each: number of tasks per group in the mode; 0 or less: not set. */
static int64_t share_of_group(int64_t all, int64_t tasks, int64_t block, int64_t each) {
    int64_t groups = each > 0 ? (tasks + each - 1) / each : usual_groups(tasks);
    int64_t most = (all + block - 1) / block;
    groups = groups < most ? groups : most;
    return align(all / (groups < 1 ? 1 : groups), block);
}

/* Makes one group of the tasks first .. end - 1. bytes: sum of their chunks. */
static void close_group(struct sionlib_member *m, int64_t first, int64_t end, int64_t bytes, int64_t block,
                        bool merge) {
    int64_t whole = align(bytes, block);
    for (int64_t t = first; t < end; t++) {
        m[t].collector = first;
        m[t].tasks = end - first;
        if (merge) {
            m[t].chunk = t == first ? whole : align(m[t].chunk, block);
        }
    }
    if (!merge) {
        m[end - 1].chunk += whole - bytes;
    }
}

bool sionlib_group_tasks(struct sionlib_member *m, int64_t tasks, const struct sionlib_mode *mode, bool again,
                         int64_t block) {
    bool merge = mode->merge && !again;
    int64_t all = 0;
    for (int64_t t = 0; t < tasks; t++) {
        if (m[t].chunk < 0 || m[t].chunk > INT64_MAX - 2 * block - all) {
            return false;
        }
        all += m[t].chunk;
    }
    int64_t share = share_of_group(all, tasks, block, mode->collector_size);
    int64_t first = 0;
    int64_t bytes = m[0].chunk;
    for (int64_t t = 1; t < tasks; t++) {
        if (bytes + m[t].chunk > share && (again || !m[t].follows)) {
            close_group(m, first, t, bytes, block, merge);
            first = t;
            bytes = 0;
        }
        bytes += m[t].chunk;
    }
    close_group(m, first, tasks, bytes, block, merge);
    return true;
}
