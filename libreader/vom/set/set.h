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

/* Lists the files of a set. HPCW_EFORMAT: there are no data files, or two stems, a missing or repeated rank, or
 * a rank above 32767. `strict` also refuses a dot in the stem, and files that are not of the set, unless their
 * names begin with a dot. HPCW_EIO: a writer is changing the set. */
hpcw_status read_vom_set_open(const char *path, bool strict, struct read_vom_set *set, hpcw_error *err);
void read_vom_set_close(struct read_vom_set *set);

/* Checks that all files opened since read_vom_set_open are of one set. `status` is the result of the work with
 * these files. A writer that replaces a set removes the old file of rank 0 first, and gives the new file of rank 0
 * its name last. HPCW_EIO: the set was replaced meanwhile, which explains any failure. */
hpcw_status read_vom_set_check(struct read_vom_set *set, hpcw_status status, hpcw_error *err);

/* Returns the path of a rank's file, valid until the next call. */
const char *read_vom_set_path(struct read_vom_set *set, uint32_t rank);

/* Finds whether a path is a directory with a data file of rank 0 of any stem, or a path DIRECTORY/STEM with a data
 * file of rank 0. Fails if the path cannot be examined. */
hpcw_status read_vom_is_set(const char *path, bool *is, hpcw_error *err);

/* Finds whether a path leads to a directory or has the form DIRECTORY/STEM, so that it is read as a set. Fails if
 * nothing is there. */
hpcw_status read_vom_is_directory(const char *path, bool *is, hpcw_error *err);

/* Sets *warning, unless it is set already, to a message that a rank has another number of phases than the ranks
 * before it. */
void read_vom_warn_phases(const char *path, uint64_t expected, uint64_t got, hpcw_error *warning);

/* Gets the rank from the name of a file. False if the name has no rank, or a rank above 32767. *stem_size gets the
 * number of bytes before the rank and its dot. */
bool read_vom_name_rank(const char *name, size_t *stem_size, uint32_t *rank, bool *br);

#endif
