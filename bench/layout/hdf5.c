/* SPDX-License-Identifier: BSD-3-Clause */
/* A dataset of bytes in a shared file, by parallel HDF5. Ranks follow each other without gaps, as in the shared
 * file of plain writes. The dataset is contiguous and begins at a known byte, so that the ceiling (plain writes
 * of the same bytes) has the same offsets. */
#include "bench/layout/layout.h"
#include "libwriter/base/status.h"

#define MODES (1u << BENCH_BUFFERED | 1u << BENCH_FSYNC)

#ifdef HPCW_BENCH_HDF5
#include <hdf5.h>
#include <inttypes.h>
#include <mpi.h>

#include "libwriter/base/mem.h"
#include "libwriter/comm/agree.h"

/* Smallest size of an object that HDF5 aligns, bytes. The metadata before the data have at most 2048 bytes per
 * piece, so they are not aligned. */
enum { LEAST_ALIGNED = 4096 };

static const char dataset_name[] = "data";

struct hdf5 {
    hid_t access, creation, transfer; /* property lists for writing */
    hid_t inside, memory;             /* data spaces of the file and of a buffer */
    hid_t file, dataset;              /* H5I_INVALID_HID: not open */
};

static struct hdf5 *hdf5_of(const struct bench_work *w) {
    return w->mpi;
}

static herr_t take_cause(unsigned depth, const H5E_error2_t *error, void *text) {
    if (depth == 0) {
        *(const char **)text = error->desc;
    }
    return 0;
}

/* Fails with the cause from HDF5's error stack for the call that just failed. */
static hpcw_status failed(const char *what, hpcw_error *err) {
    const char *text = "no reason given";
    (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_cause, &text);
    return hpcw_i_fail(err, HPCW_EIO, "%s: %s", what, text);
}

static hpcw_status hdf5_prepare(struct bench_work *w, hpcw_error *err, bool collective) {
    struct hdf5 *h = hpcw_i_malloc(sizeof *h);
    w->mpi = h;
    if (h == NULL) {
        return hpcw_i_fail_memory(err, NULL, 0, NULL);
    }
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* callers report failures, so HDF5 must not print them */
    const hsize_t size = w->shape.ranks * w->shape.rank_size, buffer = w->data->capacity;
    const hsize_t dims = size < LEAST_ALIGNED ? LEAST_ALIGNED : size;
    *h = (struct hdf5){.access = H5Pcreate(H5P_FILE_ACCESS),
                       .creation = H5Pcreate(H5P_DATASET_CREATE),
                       .transfer = H5Pcreate(H5P_DATASET_XFER),
                       .inside = H5Screate_simple(1, &dims, NULL),
                       .memory = H5Screate_simple(1, &buffer, NULL),
                       .file = H5I_INVALID_HID,
                       .dataset = H5I_INVALID_HID};
    if (h->inside < 0 || h->memory < 0 || H5Pset_alignment(h->access, LEAST_ALIGNED, BENCH_HDF5_START) < 0 ||
        H5Pset_fill_time(h->creation, H5D_FILL_TIME_NEVER) < 0 ||
        H5Pset_dxpl_mpio(h->transfer, collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT) < 0) {
        return failed("HDF5 cannot be set up", err);
    }
    return HPCW_OK;
}

static hpcw_status prepare_independent(struct bench_work *w, hpcw_error *err) {
    return hdf5_prepare(w, err, false);
}

static hpcw_status prepare_collective(struct bench_work *w, hpcw_error *err) {
    return hdf5_prepare(w, err, true);
}

static hpcw_status create_dataset(struct hdf5 *h, const char *path, hpcw_error *err) {
    h->dataset =
        H5Dcreate2(h->file, dataset_name, H5T_NATIVE_UCHAR, h->inside, H5P_DEFAULT, h->creation, H5P_DEFAULT);
    if (h->dataset < 0) {
        return failed(path, err);
    }
    haddr_t start = H5Dget_offset(h->dataset);
    return start == BENCH_HDF5_START
               ? HPCW_OK
               : hpcw_i_fail(err, HPCW_ENOTSUP,
                             "%s: expected that HDF5 puts the data at byte %" PRIu64 ", got %" PRIu64, path,
                             BENCH_HDF5_START, (uint64_t)start);
}

static hpcw_status hdf5_open(struct bench_work *w, hpcw_error *err) {
    struct hdf5 *h = hdf5_of(w);
    char path[BENCH_PATH];
    hpcw_status s = bench_work_path(w, 0, path, err);
    if (s != HPCW_OK) {
        return s; /* the path is too long, on all processes */
    }
    if (H5Pset_fapl_mpio(h->access, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0) {
        h->file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, h->access);
    }
    s = h->file < 0 ? failed(path, err) : HPCW_OK;
    /* The rest is collective, so either all processes have the file or all stop. */
    s = hpcw_i_agree(w->processes->comm, s, NULL, err);
    if (s == HPCW_OK) {
        s = hpcw_i_agree(w->processes->comm, create_dataset(h, path, err), NULL, err);
    }
    return s;
}

/* Selects `size` bytes of the dataset from byte `at` on, and as many of the buffer in memory. size 0: selects
 * nothing. */
static bool choose(const struct hdf5 *h, hsize_t at, hsize_t size) {
    const hsize_t begin = 0;
    if (size == 0) {
        return H5Sselect_none(h->inside) >= 0 && H5Sselect_none(h->memory) >= 0;
    }
    return H5Sselect_hyperslab(h->inside, H5S_SELECT_SET, &at, NULL, &size, NULL) >= 0 &&
           H5Sselect_hyperslab(h->memory, H5S_SELECT_SET, &begin, NULL, &size, NULL) >= 0;
}

static hpcw_status put(struct bench_work *w, uint32_t rank, uint64_t at, const void *data, size_t size,
                       hpcw_error *err) {
    const struct hdf5 *h = hdf5_of(w);
    return choose(h, w->spot[rank].offset + at, size) &&
                   H5Dwrite(h->dataset, H5T_NATIVE_UCHAR, h->memory, h->inside, h->transfer, data) >= 0
               ? HPCW_OK
               : failed("H5Dwrite", err);
}

static hpcw_status write_each(struct bench_work *w, hpcw_error *err) {
    return bench_work_write(w, put, err);
}

static hpcw_status write_together(struct bench_work *w, hpcw_error *err) {
    return bench_work_write_together(w, put, err);
}

/* Flushes all metadata and calls MPI_File_sync. */
static hpcw_status hdf5_flush(struct bench_work *w, hpcw_error *err) {
    const struct hdf5 *h = hdf5_of(w);
    return w->shape.mode == BENCH_BUFFERED || h->file < 0 || H5Fflush(h->file, H5F_SCOPE_GLOBAL) >= 0
               ? HPCW_OK
               : failed("H5Fflush", err);
}

static hpcw_status hdf5_close(struct bench_work *w, hpcw_error *err) {
    struct hdf5 *h = hdf5_of(w);
    hpcw_status s = h->dataset < 0 || H5Dclose(h->dataset) >= 0 ? HPCW_OK : failed("H5Dclose", err);
    h->dataset = H5I_INVALID_HID;
    if (h->file >= 0 && H5Fclose(h->file) < 0 && s == HPCW_OK) {
        s = failed("H5Fclose", err);
    }
    h->file = H5I_INVALID_HID;
    return s;
}

static hpcw_status hdf5_read_open(struct bench_work *w, const char *path, hpcw_error *err) {
    struct hdf5 *h = hdf5_of(w);
    if (H5Pset_fapl_mpio(h->access, MPI_COMM_SELF, MPI_INFO_NULL) >= 0) {
        h->file = H5Fopen(path, H5F_ACC_RDONLY, h->access);
    }
    h->dataset = h->file < 0 ? H5I_INVALID_HID : H5Dopen2(h->file, dataset_name, H5P_DEFAULT);
    return h->dataset < 0 ? failed(path, err) : HPCW_OK;
}

static hpcw_status hdf5_read(struct bench_work *w, uint32_t rank, uint64_t at, void *data, size_t size,
                             hpcw_error *err) {
    const struct hdf5 *h = hdf5_of(w);
    return choose(h, w->spot[rank].offset + at, size) &&
                   H5Dread(h->dataset, H5T_NATIVE_UCHAR, h->memory, h->inside, H5P_DEFAULT, data) >= 0
               ? HPCW_OK
               : failed("H5Dread", err);
}

static void hdf5_clear(struct bench_work *w) {
    struct hdf5 *h = hdf5_of(w);
    hpcw_error ignored;
    if (h == NULL) {
        return;
    }
    (void)hdf5_close(w, &ignored);
    (void)H5Sclose(h->inside);
    (void)H5Sclose(h->memory);
    (void)H5Pclose(h->access);
    (void)H5Pclose(h->creation);
    (void)H5Pclose(h->transfer);
    hpcw_i_free(h);
    w->mpi = NULL;
}

/* MODES lacks preallocation: without a fill value, HDF5 reserves space in the file, but allocates no blocks. */
#define ROW(set_up, write, all)                                                                                \
    {                                                                                                          \
        .needs_mpi = true, .together = all, .modes = MODES, .prepare = set_up,                                 \
        .step = {hdf5_open, write, hdf5_flush, hdf5_close}, .read_open = hdf5_read_open, .read = hdf5_read,    \
        .read_close = hdf5_close, .clear = hdf5_clear,                                                         \
    }

#else

/* Without HDF5, the layouts have a name but no functions. The sweep skips them. */
#define ROW(set_up, write, all)                                                                                \
    { .missing = "this build has no parallel HDF5", .needs_mpi = true, .together = all, .modes = MODES }

#endif

const struct bench_layout_row bench_row_hdf5_independent = ROW(prepare_independent, write_each, false);
const struct bench_layout_row bench_row_hdf5_collective = ROW(prepare_collective, write_together, true);
