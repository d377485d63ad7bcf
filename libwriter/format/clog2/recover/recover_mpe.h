/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: local files of MPE2. */
#ifndef HPCW_FORMAT_CLOG2_RECOVER_RECOVER_MPE_H
#define HPCW_FORMAT_CLOG2_RECOVER_RECOVER_MPE_H

#include "libwriter/format/clog2/recover/recovered_file.h"

/* Reads an open file of `size` bytes. Its records become `encoded`, with the communicator numbers of that file. */
hpcw_status hpcw_i_clog2_read_mpe(struct hpcw_i_clog2_recovered_file *file, uint64_t size, hpcw_error *err);

/* Replaces the communicator numbers of all records by those of the memberships, and drops records that have
 * none. */
void hpcw_i_clog2_renumber_mpe(struct hpcw_i_clog2_recovered_file *file);

#endif
