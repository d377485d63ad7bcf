/* SPDX-License-Identifier: BSD-3-Clause */
/* The names in the three generations of SCR (doc/formats/rank2file.md, "Layouts"), and which ones are legal. */
#ifndef HPCW_FORMAT_RANK2FILE_NAMES_H
#define HPCW_FORMAT_RANK2FILE_NAMES_H

#include <hpcw/rank2file.h>

/* Kind of a map. A layout has one or two maps. */
enum hpcw_i_r2f_kind { HPCW_I_R2F_1_1, HPCW_I_R2F_1_2, HPCW_I_R2F_3 };

/* Memory for the FILE value of a node with its NUL. The longest is
 * ".scr/scr.dataset.2147483647/rank2file.31.4294967295.scr". */
enum { HPCW_I_R2F_VALUE = 80 };

enum hpcw_i_r2f_kind hpcw_i_r2f_kind_of(hpcw_rank2file_layout layout, uint32_t which);

/* Gets the metadata directory below the prefix. */
void hpcw_i_r2f_metadata(enum hpcw_i_r2f_kind kind, uint64_t id, const char *dataset,
                         char path[HPCW_RANK2FILE_PATH]);

/* Returns the file name of a map's root: "rank2file.scr" or "rank2file". */
const char *hpcw_i_r2f_root(enum hpcw_i_r2f_kind kind);

/* Gets the file name of a node that is not the root. All nodes are in the metadata directory. */
void hpcw_i_r2f_node(enum hpcw_i_r2f_kind kind, uint32_t level, uint32_t first, char name[HPCW_I_R2F_VALUE]);

/* Gets the FILE value by which a parent names a node. Returns the length of the value. */
size_t hpcw_i_r2f_value(enum hpcw_i_r2f_kind kind, uint64_t id, uint32_t level, uint32_t first,
                        char value[HPCW_I_R2F_VALUE]);

/* Gets the first part of all names of data files in the map: "", or "DATASET/" with the name of the dataset. */
void hpcw_i_r2f_before_names(enum hpcw_i_r2f_kind kind, const char *dataset,
                             char before[HPCW_RANK2FILE_MAX_DATASET + 2]);

/* Returns what is wrong with the name of a data file, or NULL. */
const char *hpcw_i_r2f_bad_name(const char *name, size_t size, size_t most);

/* Longest dataset name in an index, without its NUL: SCR's limit for a path (SCR_MAX_FILENAME). */
enum { HPCW_I_R2F_LONGEST = 1023 };

/* Returns what is wrong with the name of a dataset in an index, or NULL. In the layout of SCR 1.1 the name must
 * be a legal name of a directory. SCR 1.2 and later allow any name. */
const char *hpcw_i_r2f_bad_listed(hpcw_rank2file_layout layout, const char *name);

/* Returns whether a dataset's name can be that of a directory below the prefix. Only files in such a directory
 * may be removed. */
bool hpcw_i_r2f_is_directory_name(const char *name);

/* Returns "a/b", to be freed; NULL: out of memory. */
char *hpcw_i_r2f_join(const char *a, const char *b);

#endif
