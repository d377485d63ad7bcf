/* SPDX-License-Identifier: BSD-3-Clause */
/** The header that programs written for MPE2 include. It declares MPE2's logging, but neither its graphics nor its
 * other tools. */
#ifndef HPCW_MPE_H
#define HPCW_MPE_H

#include <mpe_log.h>

#endif
