/* SPDX-License-Identifier: BSD-3-Clause */
/* Containers with one task per thread of one process. */
#include <sion_omp.h>

#include "compat/sionlib/omp/team.h"

static bool create(struct sionlib_team *team) {
    hpcw_sion_options o;
    hpcw_error err;
    if (team->mode.buddy || (team->mode.collective && team->mode.merge)) {
        sionlib_report("%s: expected no mode buddy or cmerge, which threads do not have here", team->path);
        return false;
    }
    if (team->mode.collective &&
        !sionlib_group_tasks(team->member, team->threads, &team->mode, team->block_size)) {
        sionlib_report("%s: expected chunks that fit into a file", team->path);
        return false;
    }
    sionlib_team_options(team, &o);
    if (team->mode.collective) {
        o.tasks_per_group = HPCW_SION_MAX_TASKS; /* the chunks are as they are to be */
    }
    if (hpcw_sion_open(team->path, NULL, &o, &team->writer, &err) != HPCW_OK) {
        sionlib_report("%s", err.message);
        return false;
    }
    return true;
}

int sion_paropen_omp(const char *fname, const char *file_mode, sion_int64 *chunksize, sion_int32 *fsblksize,
                     int *globalrank, FILE **fileptr, char **newfname) {
    struct sionlib_team *team;
    if (fname == NULL || file_mode == NULL || chunksize == NULL || fsblksize == NULL || globalrank == NULL) {
        sionlib_report("sion_paropen_omp: expected pointers, got NULL");
        return SION_ID_NOT_VALID;
    }
#pragma omp single copyprivate(team)
    {
        team = sionlib_team_new(fname, file_mode);
        if (team != NULL) {
            team->block_size = *fsblksize > 0 ? *fsblksize : sionlib_block_size(fname);
            team->create = create;
        }
    }
    if (team == NULL) {
        return SION_ID_NOT_VALID;
    }
    return sionlib_team_open(team, chunksize, fsblksize, globalrank, fileptr, newfname);
}

int sion_parclose_omp(int sid) {
    return sionlib_team_close(sid, "sion_parclose_omp");
}
