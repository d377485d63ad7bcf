/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/linktest/hosts.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

#include "bench/measure/machine.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"

/* Returns the number of processors on which at least one process of the communicator `host` may run. A launcher can
 * bind each process to other processors. Collective. */
static int processors(MPI_Comm host) {
    cpu_set_t mine, all;
    CPU_ZERO(&all);
    /* The call fails if the machine has more processors than a cpu_set_t can hold. */
    if (sched_getaffinity(0, sizeof mine, &mine) != 0) {
        CPU_ZERO(&mine);
    }
    (void)MPI_Allreduce(&mine, &all, (int)sizeof mine, MPI_BYTE, MPI_BOR, host);
    return CPU_COUNT(&all) > 0 ? CPU_COUNT(&all) : (int)bench_machine_processors();
}

hpcw_status bench_hosts_find(struct bench_hosts *h, const struct bench_processes *processes, bool oversubscribe,
                             hpcw_error *err) {
    MPI_Comm host;
    int size = 0, rank = 0;
    hpcw_status s = HPCW_OK;
    memset(h, 0, sizeof *h);
    (void)gethostname(h->name, sizeof h->name - 1);
    (void)MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    (void)MPI_Comm_size(host, &size);
    (void)MPI_Comm_rank(host, &rank);
    int usable = processors(host);
    (void)MPI_Comm_free(&host);
    if (size > usable && !oversubscribe) {
        s = hpcw_i_fail(err, HPCW_EINVAL,
                        "%s: expected a processor for each process, got %d for %d: start fewer, or add "
                        "--oversubscribe to measure anyway",
                        h->name, usable, size);
    }
    uint64_t first = rank == 0;
    struct hpcw_i_words words = {.sums = 1, .word = &first};
    s = hpcw_i_agree(processes->comm, s, &words, err);
    h->count = (uint32_t)first;
    return s;
}
