/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a workload, with a limit. */
#ifndef HPCW_GEN_SIM_LUA_MEMORY_H
#define HPCW_GEN_SIM_LUA_MEMORY_H

#include <stddef.h>

struct sim_lua_memory {
    size_t used, limit; /* bytes */
};

/* For lua_newstate, with a struct sim_lua_memory. */
void *sim_lua_allocate(void *memory, void *block, size_t old_size, size_t size);

#endif
