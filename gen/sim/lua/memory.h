/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a workload, with a limit. Small blocks, which programs make and drop all the time, come from pages of one size. */
#ifndef HPCW_GEN_SIM_LUA_MEMORY_H
#define HPCW_GEN_SIM_LUA_MEMORY_H

#include <stddef.h>

enum { SIM_LUA_SMALL = 512, SIM_LUA_STEP = 16 }; /* bytes of the largest small block, and between two sizes */

struct sim_lua_memory {
    size_t used, limit; /* bytes */
    void *unused[SIM_LUA_SMALL /
                 SIM_LUA_STEP]; /* of each size: blocks that are free, each of which begins with the next one */
    char *page;                 /* [pages] the next one that blocks of a size may come from */
    size_t pages;
    void *chunks; /* of pages, each of which begins with the next one */
};

/* For lua_newstate, with a struct sim_lua_memory, zeroed but for its limit. */
void *sim_lua_allocate(void *memory, void *block, size_t old_size, size_t size);

/* After lua_close. */
void sim_lua_memory_free(struct sim_lua_memory *memory);

#endif
