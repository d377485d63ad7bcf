/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/format/sion/placement/placement.h"

#include <inttypes.h>

#include "libwriter/base/checked.h"
#include "libwriter/base/status.h"
#include "libwriter/format/sion/placement/private.h"

/* Places own tasks if all processes know all sizes: O(N) steps of arithmetic and no message. */
static hpcw_status place_alone(const struct hpcw_i_sion_request *r, uint32_t first,
                               struct hpcw_i_sion_file *file, hpcw_error *err) {
    const hpcw_sion_options *o = r->options;
    uint32_t next = 0; /* next own task */
    for (uint32_t f = 0; f < o->files; f++) {
        uint32_t begin = hpcw_i_sion_first_task(&r->division, f);
        uint32_t end = hpcw_i_sion_first_task(&r->division, f + 1);
        uint64_t share = 1;
        if (o->layout == HPCW_SION_PACKED) {
            uint64_t requested = 0;
            for (uint32_t t = begin; t < end; t++) {
                uint64_t size = o->size_of(o->size_context, t);
                requested = hpcw_i_sion_add_up(requested, size > INT64_MAX ? INT64_MAX : size);
            }
            share = hpcw_sion_group_share(requested, end - begin, o->tasks_per_group, r->block_size);
        }
        uint64_t x = 0;
        uint64_t group = 0;
        uint64_t next_size = o->size_of(o->size_context, begin);
        for (uint32_t t = begin; t < end; t++) {
            uint64_t size = next_size;
            next_size = t + 1 < end ? o->size_of(o->size_context, t + 1) : 0;
            if (size > INT64_MAX / 4 || x > INT64_MAX / 4) {
                return hpcw_i_fail(
                    err, HPCW_ERANGE,
                    "the chunks of one block pass 2^61 bytes at task %u, which asks for %" PRIu64, t, size);
            }
            uint64_t chunk = size;
            group += size;
            if (o->layout == HPCW_SION_ALIGNED) {
                chunk = hpcw_i_align_up(size, r->block_size);
            } else if (t + 1 == end || next_size > INT64_MAX / 4 ||
                       hpcw_i_sion_ends_group(share, group, next_size)) {
                chunk = hpcw_i_align_up(x + size, r->block_size) - x;
                group = 0;
            }
            if (next < r->count && t == (r->ranks == NULL ? first + next : r->ranks[next])) {
                r->task[next].start = x;
                r->task[next].chunk = chunk;
                next++;
            }
            x += chunk;
        }
        file[f] = (struct hpcw_i_sion_file){.tasks = end - begin, .stride = x};
    }
    return HPCW_OK;
}

hpcw_status hpcw_i_sion_placement_make(const struct hpcw_i_sion_request *r,
                                       struct hpcw_i_sion_placement *placement, hpcw_error *err) {
    const hpcw_sion_options *o = r->options;
    placement->files = o->files;
    if (o->layout == HPCW_SION_ALIGNED) {
        for (uint32_t i = 0; i < r->count; i++) {
            r->task[i].chunk = hpcw_i_align_up(r->task[i].chunk, r->block_size);
        }
    }
    uint32_t lowest = placement->first;
    placement->first = r->ranks == NULL ? lowest + (uint32_t)r->below.tasks : 0;
    placement->in_order = !r->all.lists || (r->all.gapless && r->all.base == lowest);
    if (r->all.lists && r->all.high >= r->end) {
        return hpcw_i_fail(err, HPCW_EMISMATCH, "task numbers: expected numbers below %u, got %" PRIu64, r->end,
                           r->all.high);
    }
    if (o->set_tasks != 0 && !placement->in_order) {
        return hpcw_i_fail(
            err, HPCW_EMISMATCH,
            "part of a set: expected task numbers that ascend over the processes from %u on, got %s", lowest,
            r->all.low < lowest ? "a lower one" : "another order");
    }
    if (r->global != NULL) {
        hpcw_status s = hpcw_i_sion_directory_check(r, err);
        if (s != HPCW_OK) {
            return s;
        }
    }
    if (o->files > 0 && placement->in_order && o->size_of != NULL) {
        return place_alone(r, placement->first, placement->file, err);
    }
    for (uint32_t i = 0; o->size_of != NULL && i < r->count; i++) {
        uint64_t size = o->size_of(o->size_context, r->ranks == NULL ? placement->first + i : r->ranks[i]);
        size = size > INT64_MAX / 4 ? INT64_MAX / 4 : size; /* still too large, so all processes refuse it */
        r->task[i].chunk = o->layout == HPCW_SION_ALIGNED ? hpcw_i_align_up(size, r->block_size) : size;
    }
    if (o->files == 0) {
        return hpcw_i_sion_placement_by_colour(r, placement->first, placement, err);
    }
    if (!placement->in_order) {
        return hpcw_i_sion_placement_by_directory(r->comm, r, &r->division, placement->first, placement->file,
                                                  NULL, err);
    }
    struct hpcw_i_sion_order order = {.request = r,
                                      .comm = r->comm,
                                      .division = r->division,
                                      .count = r->count,
                                      .task = r->task,
                                      .before = (uint32_t)r->below.tasks,
                                      .file = placement->file};
    return hpcw_i_sion_placement_by_order(&order, &r->all, r->below.bytes, err);
}
