/* SPDX-License-Identifier: BSD-3-Clause */
/* Containers with one task per thread of many processes. */
#include <sion_ompi.h>

#include "bindings/sionlib/mpi/groups.h"
#include "bindings/sionlib/omp/team.h"

static bool agree(struct sionlib_team *team, bool well) {
    return sionlib_agree(&team->parallel->processes, well);
}

static bool merge(struct sionlib_team *team) {
    return sionlib_merge_pieces(team->master, sionlib_mpi_of(team->parallel)->of_group, team->block_size,
                                team->record, team->threads);
}

static bool create(struct sionlib_team *team) {
    struct sionlib_parallel *p = team->parallel;
    hpcw_sion_options o;
    hpcw_error err;
    sionlib_parallel_block_size(p, team->block_size);
    team->block_size = p->block_size;
    if (team->mode.collective && !sionlib_group(p, team->member, team->threads)) {
        return false;
    }
    if (team->mode.collective && team->mode.merge) {
        struct sionlib_mpi *mpi = sionlib_mpi_of(p);
        (void)MPI_Comm_split(mpi->of_file, (int)team->member[0].collector, p->rank_in_file, &mpi->of_group);
        team->merge = merge;
    }
    sionlib_team_options(team, &o);
    if (team->mode.collective) {
        sionlib_group_options(&o);
    }
    o.files = (uint32_t)p->files;
    /* All threads of a process have their tasks in one file. */
    o.tasks_per_file = (uint32_t)(p->processes.size / p->files * team->threads);
    if (p->file_tasks != NULL) {
        o.file_tasks = p->file_tasks;
        o.ranks = team->number;
        o.global_ranks = p->renamed ? team->rank : NULL;
    }
    if (p->processes.comm(p->processes.context, &team->comm, &err) != HPCW_OK ||
        hpcw_sion_open(team->path, team->comm, &o, &team->writer, &err) != HPCW_OK) {
        sionlib_report_error(team->comm, &err);
        return false;
    }
    return true;
}

/* Divides the processes among files. Called by the master thread of each process. Returns false after reporting an
 * error. */
static bool divide(struct sionlib_team *team, int *files, const MPI_Comm *part) {
    struct sionlib_parallel *p = team->parallel;
    const struct sionlib_processes *all = &p->processes;
    int64_t least = all->reduce(all->context, team->threads, SIONLIB_LEAST);
    int64_t most = all->reduce(all->context, team->threads, SIONLIB_MOST);
    bool well = least == most;
    if (!well) {
        sionlib_report("%s: expected as many threads on all processes, got %d to %d threads", team->path,
                       (int)least, (int)most);
    }
    if (well && team->mode.write) {
        well =
            *files > 0 ? sionlib_divide_by_number(p, *files) : sionlib_divide_by_comm(p, *part, team->threads);
    }
    team->first = (uint32_t)(all->rank * team->threads);
    team->first_number = p->file_tasks != NULL ? p->number : team->first;
    team->first_in_file = p->rank_in_file * team->threads;
    team->files = p->files;
    team->file = p->file;
    return well;
}

int sion_paropen_ompi(const char *fname, const char *file_mode, int *numFiles, MPI_Comm gComm,
                      const MPI_Comm *lComm, sion_int64 *chunksize, sion_int32 *fsblksize, int *globalrank,
                      FILE **fileptr, char **newfname) {
    struct sionlib_team *team;
    if (fname == NULL || file_mode == NULL || numFiles == NULL || lComm == NULL || chunksize == NULL ||
        fsblksize == NULL || globalrank == NULL) {
        sionlib_report("sion_paropen_ompi: expected pointers, got NULL");
        return SION_ID_NOT_VALID;
    }
#pragma omp single copyprivate(team)
    team = sionlib_team_new(fname, file_mode);
    if (team == NULL) {
        return SION_ID_NOT_VALID;
    }
#pragma omp master
    {
        team->block_size = *fsblksize;
        team->create = create;
        team->agree = agree;
        struct sionlib_processes processes;
        if (sionlib_processes_of_mpi(&processes, gComm)) {
            team->parallel = sionlib_parallel_new(fname, file_mode, &processes);
        }
        bool well = team->parallel != NULL;
        well = well && sionlib_agree(&team->parallel->processes, divide(team, numFiles, lComm));
        atomic_store(&team->failed, !well);
    }
#pragma omp barrier
    bool failed = atomic_load(&team->failed);
#pragma omp barrier
    if (failed) {
#pragma omp master
        sionlib_team_free(team);
        return SION_ID_NOT_VALID;
    }
    int sid = sionlib_team_open(team, chunksize, fsblksize, globalrank, fileptr, newfname);
    if (sid >= 0) {
        *numFiles = sion_get_number_of_files(sid);
    }
    return sid;
}

int sion_parclose_ompi(int sid) {
    return sionlib_team_close(sid, "sion_parclose_ompi");
}
