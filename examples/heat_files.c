/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the plate: checkpoints with their rank2file maps in ckpt/, for SCR, and the result in plate.sion, for
 * SIONlib. */
#include <stdio.h>

#include <hpcw/rank2file.h>
#include <hpcw/sion.h>

#include "heat.h"

/* Returns a row of the rectangle of this process, without the points of its neighbours. */
static const double *row_of(const struct heat *heat, int row) {
    return heat->now + (size_t)(row + 1) * (size_t)(heat->width + 2) + 1;
}

static hpcw_status write_file(hpcw_rank2file *checkpoint, const struct heat *heat, hpcw_error *error) {
    hpcw_rank2file_file *file;
    char name[64];
    snprintf(name, sizeof name, "rank_%d.plate", heat->rank);
    hpcw_status status = hpcw_rank2file_create(checkpoint, (uint32_t)heat->rank, name, &file, error);
    for (int row = 0; row < heat->height && status == HPCW_OK; row++)
        status =
            hpcw_rank2file_file_write(file, row_of(heat, row), (size_t)heat->width * sizeof(double), error);
    if (status == HPCW_OK)
        status = hpcw_rank2file_file_close(file, error);
    hpcw_rank2file_file_free(file);
    return status;
}

hpcw_status heat_checkpoint(const struct heat *heat, hpcw_comm *comm, uint64_t id, hpcw_error *error) {
    hpcw_rank2file *checkpoint;
    hpcw_rank2file_options options;
    hpcw_error local;
    hpcw_rank2file_options_init(&options);
    options.dataset.id = id;
    options.count = 1;
    hpcw_status status = hpcw_rank2file_open("ckpt", comm, &options, &checkpoint, error);
    if (status != HPCW_OK)
        return status;
    if (write_file(checkpoint, heat, &local) != HPCW_OK)
        hpcw_rank2file_abandon(checkpoint, &local); /* makes the close fail on all processes */
    status = hpcw_rank2file_close(checkpoint, error);
    hpcw_rank2file_free(checkpoint);
    return status;
}

hpcw_status heat_result(const struct heat *heat, hpcw_comm *comm, hpcw_error *error) {
    hpcw_sion *sion;
    hpcw_sion_options options;
    hpcw_error local;
    hpcw_sion_options_init(&options);
    options.count = 1;
    options.chunk_size = (uint64_t)heat->width * (uint64_t)heat->height * sizeof(double);
    hpcw_status status = hpcw_sion_open("plate.sion", comm, &options, &sion, error);
    if (status != HPCW_OK)
        return status;
    for (int row = 0; row < heat->height && status == HPCW_OK; row++)
        status = hpcw_sion_write(sion, (uint32_t)heat->rank, row_of(heat, row),
                                 (size_t)heat->width * sizeof(double), &local);
    if (status != HPCW_OK)
        hpcw_sion_abandon(sion, &local);
    status = hpcw_sion_close(sion, error);
    hpcw_sion_free(sion);
    return status;
}
