/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of load-balancing data in a directory, found by their names: STEM.RANK.json and STEM.RANK.json.br. In
 * a directory with two sets, the path DIRECTORY/STEM names one of them. */
#ifndef HPCW_LIBREADER_VOM_SET_SET_H
#define HPCW_LIBREADER_VOM_SET_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

struct read_vom_set {
    char *directory;
    char *stem;
    bool chosen; /* the path names the stem, so files of other stems do not count */
    uint32_t ranks;
    unsigned char *form; /* [ranks] whether the file is plain or compressed */
    char *path;          /* buffer for the path of a file */
    size_t path_size;
    struct read_source *first; /* file of rank 0, kept open for read_vom_set_check */
};

/*
 * Lists the files of a set. HPCW_EFORMAT: there is no such file, two stems, a missing or repeated rank, or a rank
 * above 32767. With `strict` also a foreign name that does not begin with a dot, or a dot in the stem. HPCW_EIO: a
 * writer is changing the set.
 */
hpcw_status read_vom_set_open(const char *path, bool strict, struct read_vom_set *set, hpcw_error *err);
void read_vom_set_close(struct read_vom_set *set);

/*
 * Checks that all files opened since read_vom_set_open are of one set. `status` is the result of the work with
 * them. A writer of a set first removes the file of rank 0, and gives the new one its name last. HPCW_EIO: the set
 * was replaced meanwhile, which explains any failure.
 */
hpcw_status read_vom_set_check(struct read_vom_set *set, hpcw_status status, hpcw_error *err);

/* The path of a rank's file, valid until the next call. */
const char *read_vom_set_path(struct read_vom_set *set, uint32_t rank);

/* Finds whether a path is a directory with a data file of rank 0, of any stem, or a path DIRECTORY/STEM with one.
 * Fails if it cannot find out. */
hpcw_status read_vom_is_set(const char *path, bool *is, hpcw_error *err);

/* Finds whether a path is read as a set: a directory, or DIRECTORY/STEM. Fails if nothing is there. */
hpcw_status read_vom_is_directory(const char *path, bool *is, hpcw_error *err);

/* Sets *warning, unless it is set already: a rank has another number of phases than the ranks before. */
void read_vom_warn_phases(const char *path, uint64_t expected, uint64_t got, hpcw_error *warning);

/* Gets the rank in a name. False if there is none, or it is above 32767. *stem_size gets the bytes before the rank
 * and its dot. */
bool read_vom_name_rank(const char *name, size_t *stem_size, uint32_t *rank, bool *br);

#endif
