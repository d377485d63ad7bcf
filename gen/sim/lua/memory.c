/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/sim/lua/memory.h"

#include <stdbool.h>
#include <string.h>

#include "libwriter/base/mem.h"

/* The first chunk is one page of PAGE bytes, enough for few ranks. Further chunks are of CHUNK bytes, the
 * system's large pages: ranks take turns, and their data are scattered. */
enum { PAGE = 64 << 10, CHUNK = 2 << 20, CACHE_LINE = 64 };

static bool is_small(size_t size) {
    return size > 0 && size <= SIM_LUA_SMALL;
}

static void **unused_of(struct sim_lua_memory *m, size_t size) {
    return &m->unused[(size - 1) / SIM_LUA_STEP];
}

static size_t step_of(size_t size) {
    return (size + SIM_LUA_STEP - 1) / SIM_LUA_STEP * SIM_LUA_STEP;
}

static void add_chunk(struct sim_lua_memory *m) {
    const size_t size = m->chunks == NULL ? PAGE : CHUNK;
    char *chunk = hpcw_i_malloc_large(size);
    if (chunk != NULL) {
        *(void **)(void *)chunk = m->chunks;
        m->chunks = chunk;
        m->page = chunk;
        m->pages = size / PAGE;
    }
}

/* Returns the next page, or NULL when memory runs out. */
static char *next_page(struct sim_lua_memory *m) {
    if (m->pages == 0) {
        add_chunk(m);
    }
    if (m->pages == 0) {
        return NULL;
    }
    char *page = m->page;
    m->page += PAGE;
    m->pages--;
    return page;
}

/* Cuts a page into blocks of one size. */
static void add_page(struct sim_lua_memory *m, size_t size) {
    const size_t step = step_of(size);
    char *page = next_page(m);
    for (size_t at = SIM_LUA_STEP; page != NULL && at + step <= PAGE; at += step) {
        *(void **)(void *)(page + at) = *unused_of(m, size);
        *unused_of(m, size) = page + at;
    }
}

/* Appends a block to the current row, a run of adjacent blocks (memory.h). */
static void *extend_row(struct sim_lua_memory *m, size_t bytes) {
    void *block = m->row;
    m->row += bytes;
    m->row_left -= bytes;
    m->row_room -= bytes;
    return block;
}

static void *take(struct sim_lua_memory *m, size_t size) {
    if (!is_small(size)) {
        return hpcw_i_malloc(size);
    }
    if (step_of(size) <= m->row_room) {
        return extend_row(m, step_of(size));
    }
    void **unused = unused_of(m, size);
    if (*unused == NULL) {
        add_page(m, size);
    }
    void *block = *unused;
    if (block != NULL) {
        *unused = *(void **)block;
    }
    return block;
}

static void give_back(struct sim_lua_memory *m, void *block, size_t size) {
    if (is_small(size)) {
        *(void **)block = *unused_of(m, size);
        *unused_of(m, size) = block;
    } else {
        hpcw_i_free(block);
    }
}

void *sim_lua_allocate(void *memory, void *block, size_t old_size, size_t size) {
    struct sim_lua_memory *m = memory;
    const size_t had =
        block != NULL ? old_size : 0; /* for a new block, Lua passes the kind of object as `old_size` */
    if (size > had && size - had > m->limit - m->used) {
        return NULL;
    }
    bool stays = is_small(had) && is_small(size) && unused_of(m, had) == unused_of(m, size);
    void *moved = stays ? block : size > 0 ? take(m, size) : NULL;
    if (size > 0 && moved == NULL) {
        if (size > had) {
            return NULL;
        }
        moved = block; /* Lua requires that shrinking a block never fails */
        stays = true;
    }
    if (block != NULL && !stays) {
        if (size > 0) {
            memcpy(moved, block, had < size ? had : size);
        }
        give_back(m, block, had);
    }
    m->used += size - had;
    return moved;
}

const char *sim_lua_memory_begin_row(struct sim_lua_memory *m) {
    const size_t skipped = m->row_left % CACHE_LINE;
    if (skipped > 0) { /* a row of adjacent blocks begins at a cache line */
        m->row += skipped;
        m->row_left -= skipped;
    }
    if (m->row_left < SIM_LUA_ROW) {
        char *page = next_page(m);
        if (page == NULL) {
            return NULL;
        }
        m->row = page + CACHE_LINE;
        m->row_left = PAGE - CACHE_LINE;
    }
    m->row_room = SIM_LUA_ROW;
    return m->row;
}

size_t sim_lua_memory_end_row(struct sim_lua_memory *m, const char *row) {
    m->row_room = 0;
    return row == NULL ? 0 : (size_t)(m->row - row);
}

void sim_lua_memory_free(struct sim_lua_memory *m) {
    while (m->chunks != NULL) {
        void *next = *(void **)m->chunks;
        hpcw_i_free(m->chunks);
        m->chunks = next;
    }
}
