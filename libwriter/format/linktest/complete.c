/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the summaries of a result that several runs wrote, once all timings are known. */
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "libwriter/base/bytes.h"
#include "libwriter/base/checked.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/linktest/summary.h"
#include "libwriter/io/sys.h"

/*
 * Checks the begin of task 0's stream, which is in the first block of the file. It must have the header of these
 * parameters and a host name of `host_size` bytes. The size of the host name determines the offset of the
 * summaries.
 */
static hpcw_status check_header(int fd, const char *path, const hpcw_linktest_params *p, size_t host_size,
                                uint64_t at, hpcw_error *err) {
    unsigned char want[HPCW_I_LINKTEST_MOST_HEADER];
    unsigned char got[HPCW_I_LINKTEST_MOST_HEADER];
    size_t size = (size_t)hpcw_i_linktest_header_size(p);
    size_t n = 0;
    hpcw_i_linktest_encode_header(p, want);
    hpcw_i_put_u32(want + size, (uint32_t)host_size, false);
    size += 4;
    int e = hpcw_i_sys_pread(fd, got, size, at, &n);
    if (e != 0) {
        return hpcw_i_fail_sys(err, e, "%s: cannot read the header at offset %" PRIu64, path, at);
    }
    return n == size && memcmp(want, got, size) == 0
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_EFORMAT,
                             "%s: expected the LinkTest header of these parameters, and a host name of %zu "
                             "bytes, at offset %" PRIu64,
                             path, host_size, at);
}

static bool is_time(const char *text) {
    return text != NULL && strlen(text) < HPCW_LINKTEST_TIME_SIZE;
}

static hpcw_status check_summaries(const char *path, const hpcw_linktest_params *p,
                                   const hpcw_linktest_summary *summary, hpcw_error *err) {
    for (uint64_t m = 0; m < hpcw_linktest_permutations(p); m++) {
        if (!is_time(summary[m].start) || !is_time(summary[m].end) || summary[m].times.count == 0 ||
            (p->all_to_all && summary[m].all_to_all.count == 0) ||
            (summary[m].slow == NULL && p->retests > 0)) {
            return hpcw_i_fail(err, HPCW_EINVAL,
                               "%s: summary %" PRIu64
                               ": expected two times of at most %d characters, figures of the "
                               "timings, and the slow connections",
                               path, m, HPCW_LINKTEST_TIME_SIZE - 1);
        }
    }
    return HPCW_OK;
}

hpcw_status hpcw_linktest_complete(const char *path, const hpcw_linktest_params *p, size_t host_size,
                                   const hpcw_linktest_summary *summary, hpcw_error *err) {
    hpcw_status s = hpcw_linktest_params_check(p, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (path == NULL || summary == NULL || p->fs_block_size == 0 || host_size < 2 ||
        host_size > p->max_host_size) {
        return hpcw_i_fail(
            err, HPCW_EINVAL,
            "linktest: expected a path, summaries, a block size and a host name of 2 to %zu bytes",
            p->max_host_size);
    }
    s = check_summaries(path, p, summary, err);
    if (s != HPCW_OK) {
        return s;
    }
    hpcw_sion_shape shape;
    s = hpcw_sion_shape_of(hpcw_sion_first_task_of_file(p->tasks, p->files, 1), p->fs_block_size,
                           p->fs_block_size, 1, UINT64_MAX, &shape, err);
    if (s != HPCW_OK) {
        return s;
    }
    size_t size = (size_t)hpcw_i_linktest_summary_size(p);
    unsigned char *data = hpcw_i_malloc(size);
    if (data == NULL) {
        return hpcw_i_fail_memory(err, path, 0, "a summary");
    }
    int fd;
    int e = hpcw_i_sys_open(path, O_RDWR, 0, &fd);
    if (e != 0) {
        s = hpcw_i_fail_sys(err, e, "%s: cannot open", path);
        goto done;
    }
    s = check_header(fd, path, p, host_size, shape.data_start, err);
    uint64_t at = shape.data_start + hpcw_i_linktest_header_size(p) + HPCW_I_LINKTEST_CHUNK + host_size;
    for (uint64_t m = 0; s == HPCW_OK && m < hpcw_linktest_permutations(p); m++) {
        hpcw_i_linktest_encode_summary(p, summary[m].start, summary[m].end, &summary[m].times,
                                       &summary[m].all_to_all, summary[m].slow, data);
        e = hpcw_i_sys_pwrite(fd, data, size, at);
        if (e != 0) {
            s = hpcw_i_fail_sys(err, e, "%s: cannot write the summary at offset %" PRIu64, path, at);
        }
        at += size + hpcw_i_linktest_data_size(p);
    }
    if (s == HPCW_OK && p->durability >= HPCW_SYNC_FILE) {
        e = hpcw_i_sys_fsync(fd);
        s = e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot write the data back to the disk", path);
    }
    e = hpcw_i_sys_close(fd);
    if (s == HPCW_OK && e != 0) {
        s = hpcw_i_fail_sys(err, e, "%s: cannot close", path);
    }
done:
    hpcw_i_free(data);
    return s;
}
