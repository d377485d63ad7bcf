/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the rank2file reader: paths and indices. */
#ifndef HPCW_LIBREADER_RANK2FILE_PRIVATE_H
#define HPCW_LIBREADER_RANK2FILE_PRIVATE_H

#include <hpcw/kvtree.h>
#include <hpcw/rank2file.h>

#include "libreader/rank2file/rank2file.h"

enum { READ_RANK2FILE_MOST_PATH = 4096 + 256 };

/* Kind of a path: a prefix directory or its index, the root file of a map, or any other KVTree file. */
enum read_rank2file_kind { READ_RANK2FILE_PREFIX, READ_RANK2FILE_ROOT, READ_RANK2FILE_TREE };

/* Finds the kind of a path. If the kind is READ_RANK2FILE_PREFIX, `prefix` gets the prefix directory. */
hpcw_status read_rank2file_kind_of(const char *path, enum read_rank2file_kind *kind,
                                   char prefix[READ_RANK2FILE_MOST_PATH], hpcw_error *err);

/* Reads the index of a prefix directory. read_rank2file_datasets finds the node of the index that has a key for
 * each dataset. */
hpcw_status read_rank2file_index(const char *prefix, hpcw_kvtree **index, hpcw_error *err);
const hpcw_kvtree *read_rank2file_datasets(const hpcw_kvtree *index);

/* Lists the datasets of an index. *list becomes NULL if there are none. */
hpcw_status read_rank2file_list(const char *prefix, const hpcw_kvtree *index, hpcw_rank2file_list **list,
                                hpcw_error *err);

#endif
