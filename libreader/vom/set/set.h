/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of load-balancing data in a directory, by their names: STEM.RANK.json and STEM.RANK.json.br. Where a
 * directory has two sets, the path DIRECTORY/STEM stands for one of them. */
#ifndef HPCW_LIBREADER_VOM_SET_SET_H
#define HPCW_LIBREADER_VOM_SET_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hpcw/status.h>

struct read_vom_set {
    char *directory;
    char *stem;
    bool chosen; /* the stem, so files of others do not count */
    uint32_t ranks;
    unsigned char *form; /* [ranks] */
    char *path;          /* of one file */
    size_t path_size;
    struct read_source *first; /* the file of rank 0, open for read_vom_set_check */
};

/*
 * Lists the files of a set. HPCW_EFORMAT: there is no such file, two stems, a rank missing or twice, or one above
 * 32767; with `strict` also any other name that does not begin with a dot, and a dot in the stem. HPCW_EIO: a
 * writer changes it.
 */
hpcw_status read_vom_set_open(const char *path, bool strict, struct read_vom_set *set, hpcw_error *err);
void read_vom_set_close(struct read_vom_set *set);

/*
 * Whether the files that were opened since read_vom_set_open are of one set, after what was done with them had
 * `status`. A writer of a set first removes the file of rank 0, and gives it its name last. HPCW_EIO: the set was
 * replaced meanwhile, which explains any failure.
 */
hpcw_status read_vom_set_check(struct read_vom_set *set, hpcw_status status, hpcw_error *err);

/* The path of a rank's file, valid until the next call. */
const char *read_vom_set_path(struct read_vom_set *set, uint32_t rank);

/* Whether a path is a directory with a data file of rank 0, whatever its stem, or DIRECTORY/STEM of one. Fails if
 * that cannot be known. */
hpcw_status read_vom_is_set(const char *path, bool *is, hpcw_error *err);

/* Whether a path is to be read as a set: a directory or DIRECTORY/STEM. Fails if there is nothing. */
hpcw_status read_vom_is_directory(const char *path, bool *is, hpcw_error *err);

/* Gives *warning, if it has none yet, a message that a rank has another number of phases than the ranks before. */
void read_vom_warn_phases(const char *path, uint64_t expected, uint64_t got, hpcw_error *warning);

/* The rank in a name. False if there is none or one above 32767. *stem_size: bytes before the rank and its dot. */
bool read_vom_name_rank(const char *name, size_t *stem_size, uint32_t *rank, bool *br);

#endif
