/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks a program text before Lua reads it. */
#ifndef HPCW_GEN_SIM_LUA_SCAN_H
#define HPCW_GEN_SIM_LUA_SCAN_H

#include <stddef.h>

#include <hpcw/status.h>

/* HPCW_ERANGE: the program text is too long. HPCW_EINVAL: bytecode, or the operator ^. This operator calls
 * pow() of the system's library, whose last bits differ between machines. */
hpcw_status sim_lua_scan(const char *name, const char *text, size_t size, hpcw_error *err);

#endif
