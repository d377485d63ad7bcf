/* SPDX-License-Identifier: BSD-3-Clause */
/* Containers with one task per thread of one process. */
#include <sion_omp.h>

#include "bindings/sionlib/omp/team.h"

/* Writes the records of all threads into the task of the master thread. All threads are one group. */
static bool merge(struct sionlib_team *team) {
    bool well = true;
    for (int t = 0; t < team->threads; t++) {
        well = sionlib_write(team->master, team->record[t].data, team->record[t].size) && well;
    }
    if (!well) {
        hpcw_sion_abandon(team->writer,
                          &(hpcw_error){.code = HPCW_EIO, .message = "a merged record was not written"});
    }
    return well;
}

static bool create(struct sionlib_team *team) {
    hpcw_sion_options o;
    hpcw_error err;
    if (!sionlib_mode_check(&team->mode, team->path)) {
        return false;
    }
    team->merge = merge;
    if (team->mode.collective &&
        !sionlib_group_tasks(team->member, team->threads, &team->mode, false, team->block_size)) {
        sionlib_report("%s: expected chunks that fit into a file", team->path);
        return false;
    }
    sionlib_team_options(team, &o);
    if (team->mode.collective) {
        sionlib_group_options(&o);
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
