/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/trace/marks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libwriter/base/mem.h"
#include "libwriter/io/sink.h"
#include "libwriter/io/sys.h"

struct meeting {
    char path[PATH_MAX]; /* path of the directory of marks */
    char mark[16];       /* name of this process's mark, a subdirectory: its rank */
    uint32_t ranks;
};

/* Name of the file with the verdict (see marks.h). Several processes may try to create it. The first one
 * succeeds, and its verdict counts. */
static const char verdict_name[] = "verdict";

/* Returns the id of the process that started the session leader of this process, or 0. */
static long parent_of_session(void) {
    char path[64], text[512] = "";
    size_t got = 0;
    int fd;
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)getsid(0));
    if (hpcw_i_sys_open(path, O_RDONLY, 0, &fd) == 0) {
        (void)hpcw_i_sys_pread(fd, text, sizeof text - 1, 0, &got);
        (void)hpcw_i_sys_close(fd);
    }
    const char *name_end = strrchr(text, ')'); /* the state and the parent's id follow */
    return name_end == NULL || strlen(name_end) < 4 ? 0 : strtol(name_end + 4, NULL, 10);
}

/* Returns whether all processes of the job are on this host, according to the launcher's variables. */
static bool on_one_host(uint32_t ranks) {
    static const char *const name[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        const char *here = getenv(name[i]);
        if (here != NULL) {
            return strtoul(here, NULL, 10) == ranks;
        }
    }
    return false;
}

/*
 * Makes a name for the job, so that jobs that start at the same time in one directory have different marks.
 * Open MPI, PMIx and Slurm set a variable with the job's number. MPICH's launcher starts all processes of a
 * host, so its process id serves. Jobs of MPICH on several hosts share one name.
 */
static void name_job(char *text, size_t size, uint32_t ranks) {
    static const char *const name[] = {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID",
                                       "SLURM_JOB_ID"};
    const char *value = NULL;
    for (size_t i = 0; value == NULL && i < sizeof name / sizeof *name; i++) {
        value = getenv(name[i]);
    }
    long launcher = value == NULL && on_one_host(ranks) ? parent_of_session() : 0;
    (void)snprintf(text, size, "%.100s.%ld.%" PRIu32, value == NULL ? "job" : value, launcher, ranks);
    for (char *c = strchr(text, '/'); c != NULL; c = strchr(c, '/')) {
        *c = '_';
    }
}

/* Opens the directory of marks again for each look, so that a network file system reads it anew. */
static int open_directory(const struct meeting *m, int *at) {
    return hpcw_i_sys_open(m->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, at);
}

static bool make_mark(struct meeting *m, const char *directory) {
    char job[160];
    name_job(job, sizeof job, m->ranks);
    int at, n = snprintf(m->path, sizeof m->path, "%s.hpcw_trace.%s", directory, job);
    if (n < 0 || (size_t)n >= sizeof m->path) {
        return false;
    }
    /* Another process may remove the directory between the two calls. */
    for (int i = 0; i < 3; i++) {
        int e = hpcw_i_sys_mkdir(m->path, 0700);
        if ((e == 0 || e == EEXIST) && open_directory(m, &at) == 0) {
            e = hpcw_i_sys_mkdir_at(at, m->mark, 0700);
            (void)hpcw_i_sys_close(at);
            if (e == 0 || e == EEXIST) {
                return true;
            }
        }
    }
    return false;
}

/* Sets there[r] for each rank r with a mark. Returns the number of these ranks. */
static uint32_t count_marks(const struct meeting *m, bool *there) {
    struct hpcw_i_listing *listing;
    const char *name;
    uint32_t count = 0;
    if (hpcw_i_sys_list(m->path, &listing) != 0) {
        return 0;
    }
    while (hpcw_i_sys_list_next(listing, &name) == 0 && name != NULL) {
        char *end;
        unsigned long rank = strtoul(name, &end, 10);
        if (name[0] >= '0' && name[0] <= '9' && *end == '\0' && rank < m->ranks && !there[rank]) {
            there[rank] = true;
            count++;
        }
    }
    hpcw_i_sys_list_free(listing);
    return count;
}

/* Reads the verdict of the process that gave one. Returns false if there is none yet. */
static bool read_verdict(const struct meeting *m, struct hpcw_i_trace_verdict *v) {
    size_t got = 0;
    int at, fd;
    if (open_directory(m, &at) != 0) {
        return false;
    }
    if (hpcw_i_sys_open_own(at, verdict_name, O_RDONLY, true, &fd) == 0) {
        (void)hpcw_i_sys_pread(fd, v, sizeof *v, 0, &got);
        (void)hpcw_i_sys_close(fd);
    }
    (void)hpcw_i_sys_close(at);
    return got == sizeof *v;
}

/* Writes the verdict `v` unless another process has written one. Returns false in that case, and if the write
 * fails. */
static bool give_verdict(const struct meeting *m, const struct hpcw_i_trace_verdict *v) {
    char name[32];
    int at, fd;
    if (open_directory(m, &at) != 0) {
        return false;
    }
    (void)snprintf(name, sizeof name, "verdict.%s", m->mark);
    (void)hpcw_i_sys_unlink_at(at, name, 0);
    bool given = hpcw_i_sys_open_own(at, name, O_WRONLY | O_CREAT | O_EXCL, true, &fd) == 0;
    if (given) {
        given = hpcw_i_sys_pwrite(fd, v, sizeof *v, 0) == 0;
        (void)hpcw_i_sys_close(fd);
        given = given && hpcw_i_sys_rename_new_at(at, name, verdict_name) == 0;
        (void)hpcw_i_sys_unlink_at(at, name, 0);
    }
    (void)hpcw_i_sys_close(at);
    return given;
}

/* Removes the mark of this process. The last process also removes the verdict and the directory. */
static void leave(const struct meeting *m) {
    struct hpcw_i_listing *listing;
    const char *name;
    bool last = true;
    int at;
    if (open_directory(m, &at) == 0) {
        (void)hpcw_i_sys_unlink_at(at, m->mark, AT_REMOVEDIR);
        (void)hpcw_i_sys_close(at);
    }
    if (hpcw_i_sys_list(m->path, &listing) == 0) {
        while (last && hpcw_i_sys_list_next(listing, &name) == 0 && name != NULL) {
            last = strcmp(name, verdict_name) == 0;
        }
        if (last) {
            (void)hpcw_i_sys_unlink_at(hpcw_i_sys_list_at_fd(listing), verdict_name, 0);
        }
        hpcw_i_sys_list_free(listing);
    }
    if (last) {
        (void)hpcw_i_sys_rmdir(m->path);
    }
}

/* Writes the ranks without a mark to `text`, as in "1, 4-7". If `size` is too small, the text ends in "...". */
static void name_missing(const struct meeting *m, const bool *there, char *text, size_t size) {
    size_t used = 0;
    for (uint32_t first = 0, end; first < m->ranks; first = end + 1) {
        for (end = first; end < m->ranks && !there[end]; end++) {
        }
        if (end == first) {
            continue;
        }
        if (size - used < 40) {
            (void)snprintf(text + used, size - used, ", ...");
            return;
        }
        const char *comma = used == 0 ? "" : ", ";
        used += (size_t)(end == first + 1 ? snprintf(text + used, size - used, "%s%" PRIu32, comma, first)
                                          : snprintf(text + used, size - used, "%s%" PRIu32 "-%" PRIu32, comma,
                                                     first, end - 1));
    }
}

/* Writes a verdict if all processes have made their marks, if the wait is over (`late`), or if memory runs out. */
static void judge(const struct meeting *m, const char *log, bool late, char *missing, size_t size) {
    bool *there = hpcw_i_calloc(m->ranks, sizeof *there);
    struct hpcw_i_trace_verdict v;
    memset(&v, 0, sizeof v);
    v.all = there != NULL && count_marks(m, there) == m->ranks;
    if (v.all || late || there == NULL) {
        v.apart.ranks = m->ranks;
        v.apart.run = hpcw_i_sink_random() | 1;
        v.apart.host = hpcw_i_sys_host();
        v.apart.began_ns = hpcw_i_clog2_system_ns();
        (void)snprintf(v.path, sizeof v.path, "%s", log);
        if (give_verdict(m, &v) && !v.all) {
            (void)snprintf(missing, size, "unknown");
            if (there != NULL) {
                name_missing(m, there, missing, size);
            }
        }
    }
    hpcw_i_free(there);
}

static uint64_t milliseconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Waits *ms, and doubles *ms up to 100. Long waits spare the file system, as all processes of a job read one
 * directory. */
static void pause_for(uint64_t *ms) {
    const struct timespec time = {.tv_nsec = (long)(*ms * 1000000)};
    (void)nanosleep(&time, NULL);
    *ms = *ms < 50 ? 2 * *ms : 100;
}

bool hpcw_i_trace_marks_meet(const char *log, uint32_t rank, uint32_t ranks, unsigned wait_s,
                             struct hpcw_i_trace_verdict *verdict, char *missing, size_t size) {
    struct meeting m = {.ranks = ranks};
    const char *slash = log[0] == '/' ? strrchr(log, '/') : NULL;
    char beside[PATH_MAX];
    missing[0] = '\0';
    memset(verdict, 0, sizeof *verdict);
    if (ranks == 1) {
        verdict->all = true;
        return true;
    }
    (void)snprintf(m.mark, sizeof m.mark, "%" PRIu32, rank);
    (void)snprintf(beside, sizeof beside, "%.*s", slash == NULL ? 0 : (int)(slash + 1 - log), log);
    /* A directory that does not exist, or that one process cannot write, is of no use to the others. */
    bool marked = on_one_host(ranks) ? make_mark(&m, "/tmp/") : make_mark(&m, beside) || make_mark(&m, "");
    const uint64_t end = milliseconds() + (uint64_t)wait_s * 1000 * (rank == 0 ? 1 : 2);
    bool read = false;
    for (uint64_t ms = 1; marked && !read; pause_for(&ms)) {
        bool late = milliseconds() >= end;
        if (rank == 0 || late) {
            judge(&m, log, late, missing, size);
        }
        read = read_verdict(&m, verdict);
        if (late) {
            break; /* judge() with `late` writes a verdict, unless the directory allows none */
        }
    }
    if (marked) {
        leave(&m);
    }
    verdict->apart.rank = rank;
    return read;
}
