/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the SION reader: the rules of one physical file that need not hold to open the file
 * (doc/formats/sion.md, "Rules"). */
#ifndef HPCW_LIBREADER_SION_RULES_H
#define HPCW_LIBREADER_SION_RULES_H

#include "libreader/sion/file.h"

/* Checks rules 2, 7, 8 and 13, about the header. */
hpcw_status read_sion_header_rules(const struct read_sion_file *f, hpcw_error *err);

/* Checks rule 25: the values that all files of a set share. `base` is the header of file 0. */
hpcw_status read_sion_member_rules(const struct read_sion_info *base, const struct read_sion_file *f,
                                   hpcw_error *err);

/* Checks rule 24 for task `index` of `f`: the mapping leads to the task. `base` is the file with the mapping,
 * `file` the number of `f` in the set, `rank` the task's rank. */
hpcw_status read_sion_mapping_rule(struct read_sion_file *base, const struct read_sion_file *f, uint32_t file,
                                   uint32_t index, int64_t rank, hpcw_error *err);

/* Checks rules 16 to 19, 22 to 24 and 28, about the tables. `base` is the file with the mapping, `file` the number
 * of `f` in the set. */
hpcw_status read_sion_table_rules(struct read_sion_file *base, struct read_sion_file *f, uint32_t file,
                                  bool strict, hpcw_error *err);

/* Checks rule 27, about key-value records. */
hpcw_status read_sion_key_rules(struct read_sion *reader, struct read_sion_file *f, uint32_t file,
                                hpcw_error *err);

/* Checks rule 31: bytes that no stream uses are zero. */
hpcw_status read_sion_gap_rules(struct read_sion_file *f, hpcw_error *err);

#endif
