/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/sim/lua/memory.h"

#include "libwriter/base/mem.h"

void *sim_lua_allocate(void *memory, void *block, size_t old_size, size_t size) {
    struct sim_lua_memory *m = memory;
    const size_t had = block != NULL ? old_size : 0; /* of a new block, `old_size` is the kind of object */
    if (size == 0) {
        hpcw_i_free(block);
        m->used -= had;
        return NULL;
    }
    if (size > had && size - had > m->limit - m->used) {
        return NULL;
    }
    void *moved = hpcw_i_realloc(block, size);
    if (moved != NULL) {
        m->used += size - had;
    }
    return moved;
}
