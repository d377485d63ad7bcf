/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/measure/machine.h"

#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "libwriter/base/status.h"
#include "libwriter/io/fsinfo.h"
#include "libwriter/io/sys.h"
#include "libwriter/io/text.h"

unsigned bench_machine_processors(void) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : (unsigned)n;
}

/* Finds the first line "KEY :" in a file of /proc and copies the text after it. Leaves `text` unchanged if there
 * is none. */
static void read_line(const char *path, const char *key, char *text, size_t size) {
    struct hpcw_i_text file;
    char line[512];
    if (hpcw_i_text_open(path, &file) != 0) {
        return;
    }
    while (hpcw_i_text_line(&file, line, sizeof line) == 0 && *line != '\0') {
        size_t n = strlen(key);
        if (strncmp(line, key, n) != 0) {
            continue;
        }
        const char *value = line + n + strspn(line + n, " \t:");
        (void)snprintf(text, size, "%.*s", (int)strcspn(value, "\n"), value);
        break;
    }
    hpcw_i_text_close(&file);
}

static uint64_t read_kib(const char *path, const char *key) {
    char text[64] = "";
    uint64_t kib = 0;
    read_line(path, key, text, sizeof text);
    return sscanf(text, "%" SCNu64, &kib) == 1 ? kib * 1024 : 0;
}

hpcw_status bench_machine_describe(struct bench_machine *m, const char *directory, hpcw_error *err) {
    *m = (struct bench_machine){.system = "unknown", .processor = "unknown"};
    struct utsname u;
    if (uname(&u) == 0) {
        (void)snprintf(m->system, sizeof m->system, "%.40s %.40s", u.sysname, u.release);
    }
    read_line("/proc/cpuinfo", "model name", m->processor, sizeof m->processor);
    m->processors = bench_machine_processors();
    m->memory = read_kib("/proc/meminfo", "MemTotal");
#if defined(__clang__)
    (void)snprintf(m->compiler, sizeof m->compiler, "clang %s", __clang_version__);
#elif defined(__GNUC__)
    (void)snprintf(m->compiler, sizeof m->compiler, "gcc %s", __VERSION__);
#endif
#ifdef __OPTIMIZE__
    const char *optimised = "optimised";
#else
    const char *optimised = "not optimised";
#endif
#ifdef NDEBUG
    const char *asserts = "assertions off";
#else
    const char *asserts = "assertions on";
#endif
    (void)snprintf(m->build, sizeof m->build, "%s, %s", optimised, asserts);
    struct hpcw_i_fsinfo fs;
    hpcw_status s = hpcw_i_fsinfo_look(NULL, directory, 0, &fs, err);
    if (s != HPCW_OK) {
        return s;
    }
    (void)snprintf(m->file_system, sizeof m->file_system, "%s", fs.type);
    char inside[4096];
    int n = snprintf(inside, sizeof inside, "%s/x", directory);
    if (n < 0 || (size_t)n >= sizeof inside) {
        return hpcw_i_fail(err, HPCW_ERANGE, "%s: the path is too long", directory);
    }
    s = hpcw_i_fs_block_size(inside, &m->block_size, err);
    return s == HPCW_OK ? hpcw_i_fs_space(directory, &m->space, NULL, err) : s;
}

static uint64_t own_us(int who) {
    struct rusage u;
    if (getrusage(who, &u) != 0) {
        return 0;
    }
    return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
           (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

struct bench_cpu bench_machine_cpu(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    struct bench_cpu c = {
        .at_us = (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000,
        .own_us = own_us(RUSAGE_SELF) + own_us(RUSAGE_CHILDREN),
    };
    /* The columns are user nice system idle iowait irq softirq steal. All except idle and iowait count as work. */
    char text[256] = "";
    uint64_t v[8] = {0};
    read_line("/proc/stat", "cpu ", text, sizeof text);
    long hertz = sysconf(_SC_CLK_TCK);
    if (hertz > 0 &&
        sscanf(text,
               "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
               &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]) == 8) {
        c.busy_us = (v[0] + v[1] + v[2] + v[5] + v[6] + v[7]) * 1000000 / (uint64_t)hertz;
    }
    return c;
}

void bench_machine_reset_peak(void) {
    int fd;
    if (hpcw_i_sys_open("/proc/self/clear_refs", O_WRONLY, 0, &fd) == 0) {
        ssize_t n = write(fd, "5", 1); /* 5 sets the peak to the current resident memory */
        (void)n;
        (void)hpcw_i_sys_close(fd);
    }
}

uint64_t bench_machine_peak(void) {
    return read_kib("/proc/self/status", "VmHWM");
}

uint64_t bench_machine_read_bytes(void) {
    char text[32] = "0";
    read_line("/proc/self/io", "read_bytes", text, sizeof text);
    return strtoull(text, NULL, 10);
}

void bench_machine_trim(void) {
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}

void bench_machine_warm(uint64_t bytes, unsigned processes) {
    enum { PAGE = 4096 };
    uint64_t most = read_kib("/proc/meminfo", "MemAvailable") / 2 / processes;
    uint64_t size = bytes < most ? bytes : most;
    if (size == 0) {
        return;
    }
    unsigned char *p = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        return;
    }
#ifdef MADV_HUGEPAGE
    (void)madvise(p, (size_t)size, MADV_HUGEPAGE); /* use huge pages, in which a hypervisor supplies memory */
#endif
    for (uint64_t i = 0; i < size; i += PAGE) {
        *(volatile unsigned char *)(p + i) = 1;
    }
    (void)munmap(p, (size_t)size);
}
