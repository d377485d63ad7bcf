/* SPDX-License-Identifier: BSD-3-Clause */
/* Layout of a SION file (doc/formats/sion.md, "Chunks"): known shapes, and the division of tasks over files. The
 * packed layout is compared with a model that places one task after the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "libwriter/base/mem.h"
#include "libwriter/format/sion/placement/placement.h"
#include "tests/support/random.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void shapes(void **state) {
    (void)state;
    static const struct {
        uint32_t tasks, fs_block_size;
        uint64_t stride;
        uint32_t blocks;
        uint64_t mapping;
        hpcw_sion_shape want;
    } cases[] = {
        /* The smallest real file, from the serial and from the parallel writer. */
        {1, 512, 512, 1, 0, {1536, 512, 2048, 2068, 1104}},
        {1, 512, 512, 1, UINT64_MAX, {1536, 512, 2048, 2064, 1104}},
        /* Requests of 100, 700, 512 and 1500 bytes; one task uses five blocks. */
        {4, 512, 3584, 5, UINT64_MAX, {1536, 3584, 19456, 19456 + 192, 1152}},
        {4, 512, 3584, 5, 4, {1536, 3584, 19456, 19456 + 192 + 4 + 32, 1152}},
        /* Metadata of many tasks; no padding if a block is one byte. */
        {65536, 1, 65536, 1, UINT64_MAX, {1049664, 65536, 1115200, 1115200 + 1048576, 1049664}},
        {65536,
         4096,
         (uint64_t)65536 << 20,
         2,
         UINT64_MAX,
         {1052672, (uint64_t)65536 << 20, 1052672 + ((uint64_t)65536 << 21),
          1052672 + ((uint64_t)65536 << 21) + (uint64_t)3 * 8 * 65536, 1049664}},
        /* Sizes that are no powers of two, and tasks with empty chunks. */
        {3, 100, 300, 2, UINT64_MAX, {1200, 300, 1800, 1800 + 72, 1136}},
        {2, 4096, 0, 1, UINT64_MAX, {4096, 0, 4096, 4096 + 32, 1120}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        hpcw_sion_shape got;
        assert_int_equal(hpcw_sion_shape_of(cases[i].tasks, cases[i].fs_block_size, cases[i].stride,
                                            cases[i].blocks, cases[i].mapping, &got, NULL),
                         HPCW_OK);
        assert_true(got.data_start == cases[i].want.data_start);
        assert_true(got.block_stride == cases[i].want.block_stride);
        assert_true(got.meta2_start == cases[i].want.meta2_start);
        assert_true(got.file_size == cases[i].want.file_size);
        assert_true(got.meta1_size == cases[i].want.meta1_size);
    }
    assert_true(hpcw_i_sion_commit_at(1) == 0x444);
}

static void shapes_refused(void **state) {
    (void)state;
    hpcw_sion_shape shape;
    hpcw_error err;
    assert_int_equal(hpcw_sion_shape_of(0, 512, 512, 1, 0, &shape, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_sion_shape_of(1, 0, 512, 1, 0, &shape, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_sion_shape_of(1, 512, 512, 0, 0, &shape, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_sion_shape_of(1, 512, 512, 1, 0, NULL, &err), HPCW_EINVAL);
    /* A file may have up to 2^63 - 1 bytes. */
    uint64_t most = INT64_MAX - 1536 - 16;
    assert_int_equal(hpcw_sion_shape_of(1, 512, most, 1, UINT64_MAX, &shape, &err), HPCW_OK);
    assert_true(shape.file_size == INT64_MAX);
    assert_int_equal(hpcw_sion_shape_of(1, 512, most + 1, 1, UINT64_MAX, &shape, &err), HPCW_ERANGE);
    assert_int_equal(hpcw_sion_shape_of(1, 512, most, 1, 0, &shape, &err), HPCW_ERANGE);
    assert_int_equal(hpcw_sion_shape_of(1, 512, UINT64_MAX, 1, 0, &shape, &err), HPCW_ERANGE);
    assert_int_equal(hpcw_sion_shape_of(1, 512, UINT64_C(1) << 33, UINT32_MAX, 0, &shape, &err), HPCW_ERANGE);
    assert_int_equal(hpcw_sion_shape_of(UINT32_MAX, 512, 512, UINT32_MAX, 0, &shape, &err), HPCW_ERANGE);
    assert_int_equal(hpcw_sion_shape_of(1, 512, 512, 1, UINT64_MAX / 8, &shape, &err), HPCW_ERANGE);
    assert_non_null(strstr(err.message, "largest file offset"));
}

static void files_split_by_count(void **state) {
    (void)state;
    for (uint32_t tasks = 1; tasks <= 50; tasks++) {
        for (uint32_t files = 1; files <= tasks; files++) {
            const struct hpcw_i_sion_division division = {tasks, files, tasks / files, NULL};
            uint32_t next = 0;
            for (uint32_t f = 0; f < files; f++) {
                assert_int_equal(hpcw_i_sion_first_task(&division, f), next);
                assert_int_equal(hpcw_sion_first_task_of_file(tasks, files, f), next);
                uint32_t here = f + 1 < files ? tasks / files : tasks - tasks / files * (files - 1);
                for (uint32_t t = next; t < next + here; t++) {
                    assert_int_equal(hpcw_i_sion_file_of_task(&division, t), f);
                }
                next += here;
            }
            assert_int_equal(next, tasks);
            assert_int_equal(hpcw_sion_first_task_of_file(tasks, files, files), tasks);
        }
    }
    assert_int_equal(hpcw_sion_first_task_of_file(UINT32_MAX, 3, 2), UINT32_MAX / 3 * 2);
}

static void the_block_size_of_a_directory(void **state) {
    (void)state;
    struct stat st;
    uint32_t size = 0;
    hpcw_error err;
    assert_int_equal(stat("/", &st), 0);
    assert_int_equal(hpcw_sion_block_size("/x.sion", &size, &err), HPCW_OK);
    assert_int_equal(size, st.st_blksize <= 0 || st.st_blksize > 32 << 20 ? 2 << 20 : st.st_blksize);
    assert_int_equal(hpcw_sion_block_size("/nowhere/x.sion", &size, &err), HPCW_ENOENT);
    assert_int_equal(hpcw_sion_block_size(NULL, &size, &err), HPCW_EINVAL);
    assert_int_equal(hpcw_sion_block_size("/x.sion", NULL, &err), HPCW_EINVAL);
}

/* ---- placement, against a model ---- */

enum { MOST = 200 };

struct model {
    uint32_t tasks, files, block_size, per_group;
    hpcw_sion_layout layout;
    uint64_t request[MOST];
    /* start of a chunk in its SION block, and size of the chunk, bytes */
    uint64_t start[MOST], chunk[MOST];
    uint64_t stride[MOST]; /* bytes of a SION block of each file */
};

static struct model random_model(uint64_t *rng) {
    static const uint32_t sizes[] = {1, 3, 64, 100, 512, 4096};
    struct model m = {.tasks = 1 + (uint32_t)random_below(rng, MOST - 1),
                      .block_size = sizes[random_below(rng, COUNT(sizes))],
                      .per_group = (uint32_t)random_below(rng, 9),
                      .layout = random_below(rng, 4) == 0 ? HPCW_SION_ALIGNED : HPCW_SION_PACKED};
    m.files = 1 + (uint32_t)random_below(rng, random_below(rng, 2) ? 1 : m.tasks);
    uint64_t most = (uint64_t)1 << random_below(rng, 20);
    for (uint32_t t = 0; t < m.tasks; t++) {
        m.request[t] = random_below(rng, 5) == 0 ? 0 : random_below(rng, most + 1);
    }
    return m;
}

static uint64_t up(uint64_t x, uint64_t to) {
    return (x + to - 1) / to * to;
}

/* Places one task after the other. Packed: a group takes tasks until the next one would exceed an equal share
 * of the file's requested bytes. Its last chunk is widened to the end of a file system block. */
static void place_by_model(struct model *m) {
    for (uint32_t f = 0; f < m->files; f++) {
        uint32_t begin = m->tasks / m->files * f;
        uint32_t end = f + 1 < m->files ? begin + m->tasks / m->files : m->tasks;
        uint64_t requested = 0;
        for (uint32_t t = begin; t < end; t++) {
            requested += m->request[t];
        }
        uint32_t each = m->per_group != 0 ? m->per_group : 16;
        uint64_t groups = (end - begin + each - 1) / each;
        uint64_t blocks = up(requested, m->block_size) / m->block_size;
        groups = groups > blocks ? blocks : groups;
        uint64_t share = groups == 0 ? 0 : up(requested / groups, m->block_size);
        share = share == 0 ? m->block_size : share;
        uint64_t x = 0;
        uint64_t group = 0;
        for (uint32_t t = begin; t < end; t++) {
            m->start[t] = x;
            x += m->request[t];
            group += m->request[t];
            if (m->layout == HPCW_SION_ALIGNED || t + 1 == end || group + m->request[t + 1] > share) {
                x = up(x, m->block_size);
                group = 0;
            }
            m->chunk[t] = x - m->start[t];
        }
        m->stride[f] = x;
    }
}

/* Checks what holds for any groups of tasks. */
static void assert_sound(const struct model *m) {
    for (uint32_t f = 0; f < m->files; f++) {
        uint32_t begin = hpcw_sion_first_task_of_file(m->tasks, m->files, f);
        uint32_t end = hpcw_sion_first_task_of_file(m->tasks, m->files, f + 1);
        uint64_t x = 0;
        for (uint32_t t = begin; t < end; t++) {
            assert_true(m->start[t] == x);
            assert_true(m->chunk[t] >= m->request[t]);
            assert_true(m->chunk[t] - m->request[t] < m->block_size);
            x += m->chunk[t];
            /* A widened chunk ends a group, at the end of a file system block. */
            assert_true(m->chunk[t] == m->request[t] || x % m->block_size == 0);
        }
        assert_true(m->stride[f] == x && x % m->block_size == 0);
    }
}

static uint64_t request_of(void *context, uint32_t rank) {
    return ((const struct model *)context)->request[rank];
}

enum knowledge { OWN_SIZES, ALL_SIZES, OWN_LIST, BY_COLOUR, BY_COLOUR_ALL_SIZES, KNOWLEDGE };

static hpcw_status place(struct model *m, enum knowledge how, struct hpcw_i_sion_task *task,
                         struct hpcw_i_sion_file *file, hpcw_error *err) {
    uint32_t ranks[MOST];
    bool all = how == ALL_SIZES || how == BY_COLOUR_ALL_SIZES;
    bool by_colour = how == BY_COLOUR || how == BY_COLOUR_ALL_SIZES;
    for (uint32_t t = 0; t < m->tasks; t++) {
        ranks[t] = t;
        task[t] = (struct hpcw_i_sion_task){.chunk = all ? 0 : m->request[t]};
    }
    const uint32_t *list = how == OWN_LIST ? ranks : NULL;
    const hpcw_sion_options options = {
        .layout = m->layout,
        .tasks_per_group = m->per_group,
        .files = by_colour ? 0 : m->files,
        .size_of = all ? request_of : NULL,
        .size_context = m,
    };
    struct hpcw_i_sion_request r = {
        .comm = hpcw_i_comm_or_self(NULL),
        .all = hpcw_i_sion_census_of(m->tasks, list, task, m->layout == HPCW_SION_ALIGNED ? m->block_size : 1),
        .division = {.tasks = m->tasks, .files = m->files, .each = m->tasks / m->files},
        .end = m->tasks,
        .block_size = m->block_size,
        .options = &options,
        .count = m->tasks,
        .ranks = list,
        .task = task,
    };
    struct hpcw_i_sion_placement placement = {.file = by_colour ? NULL : file};
    hpcw_status s = hpcw_i_sion_placement_make(&r, &placement, err);
    if (by_colour && s == HPCW_OK) {
        assert_int_equal(placement.files, 1);
        file[0] = placement.file[0];
        hpcw_i_free(placement.file);
    }
    hpcw_i_free(placement.column);
    return s;
}

static void placement_is_the_models(void **state) {
    (void)state;
    uint64_t rng = 1;
    unsigned widened = 0;
    for (unsigned round = 0; round < 3000; round++) {
        struct model m = random_model(&rng);
        enum knowledge how = (enum knowledge)(round % KNOWLEDGE);
        m.files = how == BY_COLOUR || how == BY_COLOUR_ALL_SIZES ? 1 : m.files;
        place_by_model(&m);
        assert_sound(&m);
        struct hpcw_i_sion_task task[MOST];
        struct hpcw_i_sion_file file[MOST];
        assert_int_equal(place(&m, how, task, file, NULL), HPCW_OK);
        for (uint32_t t = 0; t < m.tasks; t++) {
            assert_true(task[t].start == m.start[t]);
            assert_true(task[t].chunk == m.chunk[t]);
            widened += m.layout == HPCW_SION_PACKED && t + 1 < m.tasks && m.chunk[t] != m.request[t];
        }
        for (uint32_t f = 0; f < m.files; f++) {
            assert_true(file[f].stride == m.stride[f]);
            assert_int_equal(file[f].tasks, hpcw_sion_first_task_of_file(m.tasks, m.files, f + 1) -
                                                hpcw_sion_first_task_of_file(m.tasks, m.files, f));
        }
    }
    assert_true(widened > 1000); /* many groups ended inside a file */
}

/* Groups of tasks in SIONlib 1.7.6 with `collective,collsize=K`: requested bytes, and chunk sizes that SIONlib
 * wrote. */
static void groups_of_the_collective_mode(void **state) {
    (void)state;
    static const struct {
        uint32_t tasks, block, per_group;
        uint64_t request[17], chunk[17];
    } sets[] = {
        {16,
         4194304,
         4,
         {1000000, 1000000, 1000000, 1000000, 1000000, 1000000, 1000000, 1000000, 1000000, 1000000, 1000000,
          1000000, 1000000, 1000000, 1000000, 1000000},
         {1000000, 1000000, 1000000, 1194304, 1000000, 1000000, 1000000, 1194304, 1000000, 1000000, 1000000,
          1194304, 1000000, 1000000, 1000000, 1194304}},
        {4, 512, 2, {300, 300, 300, 300}, {300, 300, 424, 512}},
        {13,
         512,
         4,
         {300, 97, 1000, 0, 255, 300, 97, 1000, 0, 255, 300, 97, 1000},
         {300, 97, 1000, 139, 255, 300, 469, 1000, 0, 536, 300, 97, 1139}},
        {16,
         4096,
         5,
         {5000, 100, 1, 3000, 9000, 5000, 100, 1, 3000, 9000, 5000, 100, 1, 3000, 9000, 5000},
         {5000, 100, 1, 3091, 9000, 5000, 100, 2284, 3000, 9288, 5000, 100, 1, 3091, 9000, 7384}},
    };
    for (size_t k = 0; k < COUNT(sets); k++) {
        for (int how = 0; how < KNOWLEDGE; how++) {
            struct model m = {.tasks = sets[k].tasks,
                              .files = 1,
                              .block_size = sets[k].block,
                              .per_group = sets[k].per_group,
                              .layout = HPCW_SION_PACKED};
            memcpy(m.request, sets[k].request, sizeof sets[k].request);
            struct hpcw_i_sion_task task[MOST];
            struct hpcw_i_sion_file file[MOST];
            assert_int_equal(place(&m, (enum knowledge)how, task, file, NULL), HPCW_OK);
            for (uint32_t t = 0; t < m.tasks; t++) {
                assert_true(task[t].chunk == sets[k].chunk[t]);
            }
        }
    }
    assert_true(hpcw_sion_group_share(1200, 4, 2, 512) == 1024);
    assert_true(hpcw_sion_group_share(1200, 4, 0, 512) == 1536); /* one group */
    assert_true(hpcw_sion_group_share(0, 4, 2, 512) == 512);
    assert_true(hpcw_sion_group_share(INT64_MAX, 1, 0, 1) == INT64_MAX);
    assert_true(hpcw_sion_group_share(1200, 4, 2, 0) == 0);
}

static void sizes_that_overflow_are_refused(void **state) {
    (void)state;
    static const uint64_t huge[] = {UINT64_C(1) << 61, (UINT64_C(1) << 61) - 5, UINT64_C(1) << 60,
                                    UINT64_C(1) << 59};
    for (size_t k = 0; k < COUNT(huge); k++) {
        for (int how = 0; how < KNOWLEDGE; how++) {
            for (int layout = 0; layout < 2; layout++) {
                /* Totals of 2^63, 2^64 and more bytes; 2^64 would wrap to 0. */
                struct model m = {
                    .tasks = 32, .files = 1, .block_size = 512, .layout = (hpcw_sion_layout)layout};
                for (uint32_t t = 0; t < m.tasks; t++) {
                    m.request[t] = huge[k];
                }
                struct hpcw_i_sion_task task[MOST];
                struct hpcw_i_sion_file file[MOST];
                hpcw_error err = {.message = ""};
                assert_int_equal(place(&m, (enum knowledge)how, task, file, &err), HPCW_ERANGE);
                assert_non_null(strstr(err.message, "chunks of one block"));
            }
        }
    }
}

/* A census counts the tasks of some processes and adds up their sizes. The censuses of neighbours, combined in any
 * order, give the census of all, which shows whether the ranks of all tasks ascend without a gap. */
static void census_of_many_processes(void **state) {
    (void)state;
    enum { PROCESSES = 6, TASKS = 24 };
    uint64_t rng = 99;
    unsigned in_order[2] = {0, 0};
    for (unsigned round = 0; round < 20000; round++) {
        uint32_t first = (uint32_t)random_below(&rng, 2) * 7;
        uint32_t next = first;
        bool lists = false;
        bool ascending = true;
        bool gapless = true;
        uint64_t last = 0; /* one past the highest number in a list so far */
        uint64_t sum = 0;
        struct hpcw_i_sion_census part[PROCESSES];
        for (unsigned p = 0; p < PROCESSES; p++) {
            uint32_t ranks[TASKS];
            struct hpcw_i_sion_task task[TASKS] = {{0}};
            uint32_t count = (uint32_t)random_below(&rng, 4);
            bool list = random_below(&rng, 3) > 0;
            uint32_t moved = random_below(&rng, 20) == 0 ? (uint32_t)random_below(&rng, 3) : 0;
            uint32_t apart = moved > 0 ? (uint32_t)random_below(&rng, 2) : 0;
            for (uint32_t i = 0; i < count; i++) {
                task[i].chunk = random_below(&rng, 1000);
                sum += up(task[i].chunk, 64);
                ranks[i] = next + i + moved + i * apart;
                gapless = gapless && (!list || ranks[i] == next + i);
                ascending = ascending && (!list || ranks[i] >= last);
                last = list ? ranks[i] + UINT64_C(1) : last;
            }
            lists = lists || (list && count > 0);
            next += count;
            part[p] = hpcw_i_sion_census_of(count, list ? ranks : NULL, task, 64);
        }
        /* Combines random neighbours until one is left. */
        for (unsigned n = PROCESSES; n > 1; n--) {
            unsigned at = (unsigned)random_below(&rng, n - 1);
            hpcw_i_sion_census_add(&part[at], &part[at + 1]);
            memmove(&part[at + 1], &part[at + 2], (n - at - 2) * sizeof part[0]);
        }
        const struct hpcw_i_sion_census *all = &part[0];
        assert_true(all->tasks == next - first && all->bytes == sum);
        assert_true((all->lists != 0) == lists);
        if (lists) {
            assert_true((all->ascending != 0) == ascending);
            assert_true((all->gapless && all->base == first) == gapless);
            in_order[gapless]++;
        }
    }
    assert_true(in_order[0] > 1000 && in_order[1] > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes),
        cmocka_unit_test(shapes_refused),
        cmocka_unit_test(files_split_by_count),
        cmocka_unit_test(the_block_size_of_a_directory),
        cmocka_unit_test(placement_is_the_models),
        cmocka_unit_test(groups_of_the_collective_mode),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(census_of_many_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
