/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Version of the headers, at compile time, and of the library, at run time.
 */
#ifndef HPCW_VERSION_H
#define HPCW_VERSION_H

#include <hpcw/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* meson.build reads the three numbers from here. */
#define HPCW_VERSION_MAJOR 0 /**< major version of these headers */
#define HPCW_VERSION_MINOR 1 /**< minor version of these headers */
#define HPCW_VERSION_PATCH 0 /**< patch level of these headers */

/** Version of the library that the program runs with, "MAJOR.MINOR.PATCH". Static string, never NULL. */
HPCW_API const char *hpcw_version(void);

#ifdef __cplusplus
}
#endif

#endif
