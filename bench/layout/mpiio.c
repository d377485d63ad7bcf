/* SPDX-License-Identifier: BSD-3-Clause */
/* A shared file by MPI-IO. Ranks have the same offsets as in the shared file that is written by plain writes. */
#include "bench/layout/layout.h"
#include "libwriter/base/status.h"

#define MODES (1u << BENCH_BUFFERED | 1u << BENCH_FSYNC | 1u << BENCH_PREALLOCATED)

#ifdef HPCW_BENCH_MPI
#include <errno.h>
#include <mpi.h>
#include <stdio.h>

#include "libwriter/base/mem.h"
#include "libwriter/comm/agree.h"

struct mpiio {
    MPI_File file;
};

static hpcw_status status_of(int code, const char *what, hpcw_error *err) {
    if (code == MPI_SUCCESS) {
        return HPCW_OK;
    }
    static const struct {
        int class, sys_errno;
    } known[] = {
        {MPI_ERR_NO_SPACE, ENOSPC},     {MPI_ERR_QUOTA, EDQUOT},  {MPI_ERR_IO, EIO},
        {MPI_ERR_NO_SUCH_FILE, ENOENT}, {MPI_ERR_ACCESS, EACCES}, {MPI_ERR_READ_ONLY, EROFS},
    };
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0, class = 0;
    (void)MPI_Error_class(code, &class);
    (void)MPI_Error_string(code, text, &length);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].class == class) {
            return hpcw_i_fail_sys(err, known[i].sys_errno, "%s: %s", what, text);
        }
    }
    return hpcw_i_fail(err, HPCW_EIO, "%s: %s", what, text);
}

static hpcw_status mpiio_prepare(struct bench_work *w, hpcw_error *err) {
    struct mpiio *m = hpcw_i_calloc(1, sizeof *m);
    w->mpi = m;
    if (m == NULL) {
        return hpcw_i_fail_memory(err, NULL, 0, NULL);
    }
    m->file = MPI_FILE_NULL;
    return HPCW_OK;
}

static struct mpiio *mpiio_of(const struct bench_work *w) {
    return w->mpi;
}

static hpcw_status mpiio_open(struct bench_work *w, hpcw_error *err) {
    char path[BENCH_PATH];
    hpcw_status s = bench_work_path(w, 0, path, err);
    if (s != HPCW_OK) {
        return s; /* the path is too long, on all processes */
    }
    struct mpiio *m = mpiio_of(w);
    int code = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &m->file);
    if (code != MPI_SUCCESS) {
        m->file = MPI_FILE_NULL;
        s = status_of(code, path, err);
    } else if (w->shape.mode == BENCH_PREALLOCATED) {
        code = MPI_File_preallocate(m->file, (MPI_Offset)w->file_size[0]);
        s = status_of(code, path, err);
    }
    /* The rest is collective, so either all processes have the file or all stop. */
    return hpcw_i_agree(w->processes->comm, s, NULL, err);
}

static hpcw_status put(struct bench_work *w, uint32_t rank, uint64_t at, const void *data, size_t size,
                       hpcw_error *err) {
    MPI_Status status;
    uint64_t offset = w->spot[rank].offset + at;
    int code = MPI_File_write_at(mpiio_of(w)->file, (MPI_Offset)offset, data, (int)size, MPI_BYTE, &status);
    return status_of(code, "MPI_File_write_at", err);
}

static hpcw_status write_each(struct bench_work *w, hpcw_error *err) {
    return bench_work_write(w, put, err);
}

static hpcw_status put_together(struct bench_work *w, uint32_t rank, uint64_t at, const void *data, size_t size,
                                hpcw_error *err) {
    MPI_Status status;
    uint64_t offset = w->spot[rank].offset + at;
    int code = MPI_File_write_at_all(mpiio_of(w)->file, (MPI_Offset)offset, data, (int)size, MPI_BYTE, &status);
    return status_of(code, "MPI_File_write_at_all", err);
}

static hpcw_status write_together(struct bench_work *w, hpcw_error *err) {
    return bench_work_write_together(w, put_together, err);
}

static hpcw_status mpiio_flush(struct bench_work *w, hpcw_error *err) {
    if (w->shape.mode == BENCH_BUFFERED || mpiio_of(w)->file == MPI_FILE_NULL) {
        return HPCW_OK;
    }
    int code = MPI_File_sync(mpiio_of(w)->file);
    return status_of(code, "MPI_File_sync", err);
}

static hpcw_status mpiio_close(struct bench_work *w, hpcw_error *err) {
    struct mpiio *m = mpiio_of(w);
    int code = m == NULL || m->file == MPI_FILE_NULL ? MPI_SUCCESS : MPI_File_close(&m->file);
    return status_of(code, "MPI_File_close", err);
}

static void mpiio_clear(struct bench_work *w) {
    hpcw_error ignored;
    (void)mpiio_close(w, &ignored);
    hpcw_i_free(w->mpi);
    w->mpi = NULL;
}

#define ROW(write, all)                                                                                        \
    {                                                                                                          \
        .needs_mpi = true, .together = all, .modes = MODES, .prepare = mpiio_prepare,                          \
        .step = {mpiio_open, write, mpiio_flush, mpiio_close}, .clear = mpiio_clear,                           \
    }

const struct bench_layout_row bench_row_mpiio_independent = ROW(write_each, false);
const struct bench_layout_row bench_row_mpiio_collective = ROW(write_together, true);

#else

/* Step of a build without MPI. It is never called, since the sweep skips layouts that need MPI. */
static hpcw_status no_mpi(struct bench_work *w, hpcw_error *err) {
    (void)w;
    return hpcw_i_fail(err, HPCW_ENOTSUP, "this build has no MPI");
}

const struct bench_layout_row bench_row_mpiio_independent = {
    .needs_mpi = true, .modes = MODES, .step = {no_mpi, no_mpi, no_mpi, no_mpi}};
const struct bench_layout_row bench_row_mpiio_collective = {
    .needs_mpi = true, .modes = MODES, .step = {no_mpi, no_mpi, no_mpi, no_mpi}};

#endif
