/* SPDX-License-Identifier: BSD-3-Clause */
/* F3: local files of this library. */
#ifndef HPCW_FORMAT_CLOG2_RECOVER_RECOVER_OWN_H
#define HPCW_FORMAT_CLOG2_RECOVER_RECOVER_OWN_H

#include "libwriter/format/clog2/recover/recovered_file.h"

/* Reads an open file of `size` bytes. It notes where the records are, and does not keep them in memory. */
hpcw_status hpcw_i_clog2_read_own(struct hpcw_i_clog2_recovered_file *file, uint64_t size, hpcw_error *err);

#endif
