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
    void *chunks;              /* of pages, each of which begins with the next one */
    char *row;                 /* [row_left] of a page: where the next block of a row goes */
    size_t row_left, row_room; /* bytes; of these for the row that has begun */
};

/* For lua_newstate, with a struct sim_lua_memory, zeroed but for its limit. */
void *sim_lua_allocate(void *memory, void *block, size_t old_size, size_t size);

/* Between these two calls, small blocks follow one another in new memory, at most SIM_LUA_ROW bytes of them: more than a rank of
 * the library's workloads takes in its first turn. The first call returns where they begin, NULL when memory runs out; the second one
 * how many bytes they are. */
enum { SIM_LUA_ROW = 4096 };
const char *sim_lua_memory_begin_row(struct sim_lua_memory *memory);
size_t sim_lua_memory_end_row(struct sim_lua_memory *memory, const char *row);

/* After lua_close. */
void sim_lua_memory_free(struct sim_lua_memory *memory);

#endif
