/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists the tasks of a SION container, read by any number of processes: mpiexec -n 3 ./read_tasks particles.sion */
#include <inttypes.h>
#include <stdio.h>

#include <hpcw/hpcw.h>
#include <hpcw/mpi.h>

/* Adds up the bytes of a task's stream. In a key-value container, adds up the bytes of its values. */
static hpcw_status read_task(hpcw_sion_reader *reader, uint32_t rank, hpcw_error *error) {
    unsigned char data[4096];
    uint64_t records = 0, bytes = 0, sum = 0;
    hpcw_sion_record record;
    bool keys = hpcw_sion_reader_info(reader)->keys, more = true;
    hpcw_status status = HPCW_OK;
    while (status == HPCW_OK && more) {
        more = false;
        if (keys)
            status = hpcw_sion_reader_next_key(reader, rank, &record, &more, error);
        while (status == HPCW_OK && !hpcw_sion_reader_at_end(reader, rank)) {
            size_t got;
            status = hpcw_sion_reader_read(reader, rank, data, sizeof data, &got, error);
            for (size_t i = 0; status == HPCW_OK && i < got; i++)
                sum += data[i];
            bytes += got;
        }
        records += more;
    }
    if (status == HPCW_OK && keys)
        printf("task %" PRIu32 ": %" PRIu64 " records, %" PRIu64 " bytes, sum %" PRIu64 "\n", rank, records,
               bytes, sum);
    else if (status == HPCW_OK)
        printf("task %" PRIu32 ": %" PRIu64 " bytes, sum %" PRIu64 "\n", rank, bytes, sum);
    return status;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc != 2) {
        fprintf(stderr, "usage: read_tasks CONTAINER\n");
        MPI_Finalize();
        return 2;
    }
    hpcw_error error;
    hpcw_comm *comm = NULL;
    hpcw_sion_reader *reader = NULL;
    hpcw_status status = hpcw_comm_from_mpi(MPI_COMM_WORLD, &comm, &error);
    if (status == HPCW_OK) /* each process reads its share of the tasks */
        status = hpcw_sion_reader_open(argv[1], comm, 0, NULL, &reader, &error);
    for (uint32_t i = 0; status == HPCW_OK && i < hpcw_sion_reader_count(reader); i++)
        status = read_task(reader, hpcw_sion_reader_task(reader, i)->rank, &error);
    if (status != HPCW_OK)
        fprintf(stderr, "%s: %s\n", hpcw_status_name(status), error.message);
    hpcw_sion_reader_free(reader);
    hpcw_comm_free(comm);
    MPI_Finalize();
    return status == HPCW_OK ? 0 : 1;
}
