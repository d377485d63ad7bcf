/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/measure/processes.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/measure/machine.h"
#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"
#include "libwriter/comm/comm.h"

#ifdef HPCW_BENCH_MPI
#include <hpcw/mpi.h>
#endif

/* These variables are set by Open MPI, by MPICH and its derivatives, and by launchers that use PMIx. */
static bool launched(void) {
    return getenv("OMPI_COMM_WORLD_SIZE") != NULL || getenv("PMI_SIZE") != NULL || getenv("PMIX_RANK") != NULL;
}

#ifdef HPCW_BENCH_MPI
static hpcw_status start_mpi(struct bench_processes *p, hpcw_error *err) {
    /* No kernel for several processes starts a thread. If a program asks for more than MPI_THREAD_SINGLE, Open
     * MPI's waits take three times as long. The programs that we compare with do not ask for more. */
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS) {
        return hpcw_i_fail(err, HPCW_ECOMM, "MPI does not start");
    }
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    if (MPI_Get_library_version(version, &length) == MPI_SUCCESS) {
        size_t n = strcspn(version, ",\n");
        n = n < sizeof p->library ? n : sizeof p->library - 1;
        memcpy(p->library, version, n);
        p->library[n] = '\0';
    }
    return hpcw_comm_from_mpi(MPI_COMM_WORLD, &p->comm, err);
}
#endif

#ifdef HPCW_BENCH_MPI
/* Collective. Numbers the hosts. */
static hpcw_status find_hosts(struct bench_processes *p, hpcw_error *err) {
    const size_t count = (size_t)p->count;
    char mine[BENCH_HOST] = "";
    p->host = hpcw_i_calloc(count, sizeof *p->host);
    p->name = hpcw_i_calloc(count, sizeof *p->name);
    hpcw_status s =
        p->host == NULL || p->name == NULL ? hpcw_i_fail_memory(err, NULL, count, "processes") : HPCW_OK;
    s = hpcw_i_agree(p->comm, s, NULL, err);
    (void)gethostname(mine, sizeof mine - 1);
    s = s == HPCW_OK ? hpcw_i_comm_allgather(p->comm, mine, sizeof mine, p->name, err) : s;
    p->hosts = 0;
    for (size_t i = 0; s == HPCW_OK && i < count; i++) {
        int k = 0;
        while (k < p->hosts && strcmp(p->name[k], p->name[i]) != 0) {
            k++;
        }
        if (k == p->hosts) {
            memmove(p->name[p->hosts++], p->name[i], sizeof p->name[i]);
        }
        p->host[i] = k;
    }
    return s;
}
#endif

int bench_processes_host(const struct bench_processes *p, int process) {
    return p->host == NULL ? 0 : p->host[process];
}

hpcw_status bench_processes_start(struct bench_processes *p, hpcw_error *err) {
#ifdef __GLIBC__
    /* Large buffers get fresh pages in every run, as in the first run of a program. */
    (void)mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
    *p = (struct bench_processes){.comm = hpcw_i_comm_or_self(NULL), .count = 1, .hosts = 1};
    if (!launched()) {
        return HPCW_OK;
    }
#ifdef HPCW_BENCH_MPI
    hpcw_status s = start_mpi(p, err);
    if (s == HPCW_OK) {
        p->process = hpcw_comm_process(p->comm);
        p->count = hpcw_comm_size(p->comm);
        p->crowded = p->count > (int)bench_machine_processors();
        s = find_hosts(p, err);
    }
    return s;
#else
    return hpcw_i_fail(err, HPCW_ENOTSUP, "started by an MPI launcher, but this build has no MPI");
#endif
}

void bench_processes_end(struct bench_processes *p) {
#ifdef HPCW_BENCH_MPI
    if (launched()) {
        int initialised = 0;
        if (p->comm != hpcw_i_comm_or_self(NULL)) {
            hpcw_comm_free(p->comm);
        }
        if (MPI_Initialized(&initialised) == MPI_SUCCESS && initialised) {
            (void)MPI_Finalize();
        }
    }
#endif
    hpcw_i_free(p->host);
    hpcw_i_free(p->name);
    p->host = NULL;
    p->name = NULL;
    p->comm = NULL;
}
