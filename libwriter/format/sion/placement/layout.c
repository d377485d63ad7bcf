/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/sion/placement/layout.h"

#include <inttypes.h>

#include "libwriter/base/checked.h"
#include "libwriter/base/status.h"

uint32_t hpcw_sion_first_task_of_file(uint32_t tasks, uint32_t files, uint32_t file) {
    return files == 0 || file >= files ? tasks : tasks / files * file;
}

hpcw_status hpcw_sion_shape_of(uint32_t tasks, uint32_t fs_block_size, uint64_t stride, uint32_t blocks,
                               uint64_t mapping, hpcw_sion_shape *shape, hpcw_error *err) {
    if (shape == NULL || tasks == 0 || fs_block_size == 0 || blocks == 0) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "sion shape: expected tasks, block size and blocks > 0, got %u, %u, %u", tasks,
                           fs_block_size, blocks);
    }
    hpcw_sion_shape s = {.block_stride = stride, .meta1_size = hpcw_i_sion_meta1_size(tasks)};
    uint64_t data;
    uint64_t rows;
    uint64_t table;
    uint64_t map_size = 0;
    bool fits = hpcw_i_round_up_u64(s.meta1_size, fs_block_size, &s.data_start) &&
                hpcw_i_mul_u64(stride, blocks, &data) && hpcw_i_add_u64(s.data_start, data, &s.meta2_start) &&
                hpcw_i_mul_u64((uint64_t)blocks + 1, 8 * (uint64_t)tasks, &rows) &&
                hpcw_i_add_u64(s.meta2_start, rows, &table);
    if (fits && mapping != HPCW_I_SION_NO_MAPPING) {
        fits = hpcw_i_mul_u64(mapping, HPCW_I_SION_MAPPING_ENTRY, &map_size) &&
               hpcw_i_add_u64(map_size, HPCW_I_SION_MAPPING_HEADER, &map_size);
    }
    if (!fits || !hpcw_i_add_u64(table, map_size, &s.file_size) || s.file_size > INT64_MAX) {
        return hpcw_i_fail(err, HPCW_ERANGE,
                           "sion shape: %u tasks, %u blocks of %" PRIu64
                           " bytes each pass the largest file offset",
                           tasks, blocks, stride);
    }
    *shape = s;
    return HPCW_OK;
}

uint64_t hpcw_sion_group_share(uint64_t requested, uint32_t tasks, uint32_t tasks_per_group,
                               uint32_t fs_block_size) {
    enum { USUAL_TASKS = 16 };
    if (fs_block_size == 0) {
        return 0;
    }
    uint64_t most =
        requested / fs_block_size + (requested % fs_block_size != 0); /* each group has at least one block */
    uint64_t each = tasks_per_group == 0 ? USUAL_TASKS : tasks_per_group;
    uint64_t groups = (tasks + each - 1) / each;
    groups = groups > most ? most : groups;
    groups = groups == 0 ? 1 : groups;
    uint64_t share = hpcw_i_align_up(requested / groups, fs_block_size);
    return share == 0 ? fs_block_size : share;
}
