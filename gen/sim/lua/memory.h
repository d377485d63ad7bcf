/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocator of a workload, with a limit. Programs make and drop small blocks all the time; these come from pages
 * of blocks of one size. */
#ifndef HPCW_GEN_SIM_LUA_MEMORY_H
#define HPCW_GEN_SIM_LUA_MEMORY_H

#include <stddef.h>

enum { SIM_LUA_SMALL = 512, SIM_LUA_STEP = 16 }; /* bytes of the largest small block; step between two sizes */

struct sim_lua_memory {
    size_t used, limit; /* bytes */
    /* free lists by size; each free block begins with a pointer to the next one */
    void *unused[SIM_LUA_SMALL / SIM_LUA_STEP];
    char *page; /* [pages] next page to cut into blocks of a size */
    size_t pages;
    /* list of chunks; each begins with a pointer to the next one */
    void *chunks;
    char *row;                 /* [row_left] of a page: position of the next block of a row */
    size_t row_left, row_room; /* bytes left in the page; bytes left for the current row */
};

/* For lua_newstate. memory: a struct sim_lua_memory, zeroed except for its limit. */
void *sim_lua_allocate(void *memory, void *block, size_t old_size, size_t size);

/* Begin and end a row: in between, small blocks are placed one after another in new memory, at most SIM_LUA_ROW
 * bytes. That is more than a rank of the library's workloads allocates in its first turn. The first function
 * returns the begin of the row, or NULL when memory runs out. The second returns its length. */
enum { SIM_LUA_ROW = 4096 };
const char *sim_lua_memory_begin_row(struct sim_lua_memory *memory);
size_t sim_lua_memory_end_row(struct sim_lua_memory *memory, const char *row);

/* After lua_close. */
void sim_lua_memory_free(struct sim_lua_memory *memory);

#endif
