/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that continues from its newest checkpoint, on any number of processes: mpiexec -n 4 ./restart, then
 * mpiexec -n 3 ./restart */
#include <stdio.h>
#include <stdlib.h>

#include <hpcw/hpcw.h>
#include <hpcw/mpi.h>

enum { CELLS = 1000, STEPS = 10 };

static int process, processes;

/* First cell of a rank. Rank r of n has the cells from first_cell(r, n) up to first_cell(r + 1, n). */
static int first_cell(int rank, int ranks) {
    return (int)((long)CELLS * rank / ranks);
}

/* Reads the cells of this process from a file that holds the cells [begin, end). */
static int read_part(const hpcw_rank2file_found *found, int begin, double *cell, int my_begin, int my_end,
                     int end) {
    int from = begin > my_begin ? begin : my_begin;
    int to = end < my_end ? end : my_end;
    FILE *file = fopen(found->path, "rb");
    int good =
        file != NULL && fseek(file, (long)sizeof(double) * (from - begin), SEEK_SET) == 0 &&
        fread(cell + (from - my_begin), sizeof(double), (size_t)(to - from), file) == (size_t)(to - from);
    if (file != NULL)
        fclose(file);
    return good;
}

/* Restarts from a checkpoint. The ranks that wrote it may have had other cells, so each process reads the files
 * that overlap its own. */
static hpcw_status restart(hpcw_comm *comm, double *cell, uint64_t *step, hpcw_error *error) {
    hpcw_rank2file_restart *checkpoint;
    hpcw_status status = hpcw_rank2file_restart_open("state", comm, NULL, &checkpoint, error);
    if (status != HPCW_OK)
        return status;
    for (uint32_t i = 0; process == 0 && i < hpcw_rank2file_restart_skips(checkpoint); i++)
        printf("skipped %s\n", hpcw_rank2file_restart_skipped(checkpoint, i)->why.message);
    int ranks = (int)hpcw_rank2file_restart_ranks(checkpoint);
    int my_begin = first_cell(process, processes), my_end = first_cell(process + 1, processes);
    uint32_t count = 0, *wanted = malloc((size_t)ranks * sizeof *wanted);
    for (int rank = 0; rank < ranks; rank++)
        if (first_cell(rank, ranks) < my_end && first_cell(rank + 1, ranks) > my_begin)
            wanted[count++] = (uint32_t)rank;
    status = hpcw_rank2file_restart_load(checkpoint, count, wanted, error);
    if (status == HPCW_OK)
        status = hpcw_rank2file_restart_check(checkpoint, true, error); /* checks sizes and CRC-32 */
    int good = 1;
    for (uint64_t i = 0; status == HPCW_OK && i < hpcw_rank2file_restart_files(checkpoint); i++) {
        hpcw_rank2file_found found;
        good = good && hpcw_rank2file_restart_file(checkpoint, i, &found, error) == HPCW_OK &&
               read_part(&found, first_cell((int)found.rank, ranks), cell, my_begin, my_end,
                         first_cell((int)found.rank + 1, ranks));
    }
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    *step = hpcw_rank2file_restart_dataset(checkpoint)->id;
    hpcw_rank2file_restart_free(checkpoint);
    free(wanted);
    return status != HPCW_OK || good ? status : HPCW_EIO;
}

/* Writes a checkpoint. After a failed write the close fails on all processes, so nothing more is checked. */
static hpcw_status write_checkpoint(hpcw_comm *comm, const double *cell, uint64_t step, hpcw_error *error) {
    hpcw_rank2file *checkpoint;
    hpcw_rank2file_file *file;
    hpcw_rank2file_options options;
    char name[32];
    hpcw_rank2file_options_init(&options);
    options.dataset.id = step;
    options.replace = true; /* replace a damaged checkpoint of the same step, which the restart has skipped */
    options.count = 1;
    hpcw_status status = hpcw_rank2file_open("state", comm, &options, &checkpoint, error);
    if (status != HPCW_OK)
        return status;
    snprintf(name, sizeof name, "rank_%d", process);
    int cells = first_cell(process + 1, processes) - first_cell(process, processes);
    if (hpcw_rank2file_create(checkpoint, (uint32_t)process, name, &file, NULL) == HPCW_OK) {
        if (hpcw_rank2file_file_write(file, cell, (size_t)cells * sizeof *cell, NULL) == HPCW_OK)
            (void)!hpcw_rank2file_file_close(file, NULL);
        hpcw_rank2file_file_free(file);
    }
    status = hpcw_rank2file_close(checkpoint, error);
    hpcw_rank2file_free(checkpoint);
    return status == HPCW_OK ? hpcw_rank2file_prune("state", comm, 2, NULL, NULL, error) : status;
}

int main(int argc, char **argv) {
    static double cell[CELLS];
    hpcw_error error = {.message = "a file of the checkpoint cannot be read"};
    hpcw_comm *comm;
    hpcw_rank2file_list *list;
    uint64_t step = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    hpcw_status status = hpcw_comm_from_mpi(MPI_COMM_WORLD, &comm, &error);
    int begin = first_cell(process, processes), cells = first_cell(process + 1, processes) - begin;
    if (status == HPCW_OK) {
        status = hpcw_rank2file_list_open("state", comm, &list, &error);
        hpcw_rank2file_list_free(list);
        for (int i = 0; status == HPCW_ENOENT && i < cells; i++)
            cell[i] = begin + i; /* no checkpoint yet: start values */
        status = status == HPCW_OK       ? restart(comm, cell, &step, &error)
                 : status == HPCW_ENOENT ? HPCW_OK
                                         : status;
    }
    for (int i = 0; status == HPCW_OK && i < STEPS; i++, step++)
        for (int k = 0; k < cells; k++)
            cell[k] += 1;
    if (status == HPCW_OK)
        status = write_checkpoint(comm, cell, step, &error);
    double sum = 0;
    for (int k = 0; k < cells; k++)
        sum += cell[k];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (process == 0 && status == HPCW_OK)
        printf("step %d, %d processes, sum %.0f\n", (int)step, processes, sum);
    if (process == 0 && status != HPCW_OK)
        fprintf(stderr, "%s: %s\n", hpcw_status_name(status), error.message);
    hpcw_comm_free(comm);
    MPI_Finalize();
    return status == HPCW_OK ? 0 : 1;
}
