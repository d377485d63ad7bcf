/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: local files of MPE2. */
#ifndef HPCW_FORMAT_CLOG2_RECOVER_RECOVER_MPE_H
#define HPCW_FORMAT_CLOG2_RECOVER_RECOVER_MPE_H

#include "libwriter/format/clog2/recover/recovered_file.h"

/* Reads an open file of `size` bytes; its records become `encoded`, with its own communicators. */
hpcw_status hpcw_i_clog2_read_mpe(struct hpcw_i_clog2_recovered_file *file, uint64_t size, hpcw_error *err);

/* Gives the communicators of all records the numbers of its memberships; leaves out records of those that have none. */
void hpcw_i_clog2_renumber_mpe(struct hpcw_i_clog2_recovered_file *file);

#endif
