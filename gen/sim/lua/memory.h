/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocator of a workload, with a limit. Lua programs make and drop small blocks all the time. Small blocks
 * come from pages, each of which has blocks of one size. */
#ifndef HPCW_GEN_SIM_LUA_MEMORY_H
#define HPCW_GEN_SIM_LUA_MEMORY_H

#include <stddef.h>

/* SIM_LUA_SMALL: size of the largest small block, bytes. Larger blocks come from malloc.
 * SIM_LUA_STEP: step between two sizes, bytes, which is the alignment of malloc. */
enum { SIM_LUA_SMALL = 512, SIM_LUA_STEP = 16 };

struct sim_lua_memory {
    size_t used, limit; /* bytes */
    /* free lists by size; each free block begins with a pointer to the next one */
    void *unused[SIM_LUA_SMALL / SIM_LUA_STEP];
    char *page; /* [pages] next page to cut into blocks of a size */
    size_t pages;
    /* list of chunks; each begins with a pointer to the next one */
    void *chunks;
    char *row;                 /* [row_left] rest of a page, for rows of adjacent blocks */
    size_t row_left, row_room; /* row_left: bytes left in the page; row_room: bytes left for the current row */
};

/* Allocation function for lua_newstate. memory: a struct sim_lua_memory, zeroed except for its limit. */
void *sim_lua_allocate(void *memory, void *block, size_t old_size, size_t size);

/* sim_lua_memory_begin_row begins a row: small blocks are then placed one after another in new memory, at most
 * SIM_LUA_ROW bytes. It returns the begin of the row, or NULL when memory runs out. sim_lua_memory_end_row ends
 * the row and returns its length. SIM_LUA_ROW is more than a rank of the library's workloads allocates before
 * it stops for the first time. */
enum { SIM_LUA_ROW = 4096 };
const char *sim_lua_memory_begin_row(struct sim_lua_memory *memory);
size_t sim_lua_memory_end_row(struct sim_lua_memory *memory, const char *row);

/* Frees all chunks. Call it after lua_close. */
void sim_lua_memory_free(struct sim_lua_memory *memory);

#endif
