/* SPDX-License-Identifier: BSD-3-Clause */
/** What programs written for MPE2 include. Of MPE2, this is the logging alone: neither graphics nor its other
 * tools. */
#ifndef HPCW_MPE_H
#define HPCW_MPE_H

#include <mpe_log.h>

#endif
