/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the SION reader with files of the real library. Each file has the output of the library's own dump tool.
 * The tests compare each line of the output that has a stored value, and the payload with the bytes that a formula
 * gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libreader/sion/sion.h"
#include "tests/support/files.h"
#include "tests/support/sion_image.h"
#include "tests/support/sion_streams.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static const char *const names[] = {"be_four_tasks.sion",
                                    "be_keyval.sion",
                                    "buddy.sion",
                                    "buddy.sion_BUDDY_00",
                                    "cmerge.sion",
                                    "collective.sion",
                                    "defrag_q1.sion",
                                    "inter8of2.sion",
                                    "four_tasks_parallel.sion",
                                    "keyval.sion",
                                    "four_tasks_serial.sion",
                                    "many_blocks.sion",
                                    "le_meta_be_data.sion",
                                    "mapped6of1.sion",
                                    "mapped6of2.sion",
                                    "multi8of2.sion",
                                    "one_task.sion",
                                    "unaligned_fsb1.sion",
                                    "zero_chunk.sion"};

/* Returns a path in the folder, or NULL without the folder. */
static const char *golden(const char *name) {
    static char path[1024];
    char file[300];
    (void)snprintf(file, sizeof file, "sion/%s", name);
    return golden_path(file, path, sizeof path);
}

static struct read_sion *opened(const char *name) {
    struct read_sion *reader;
    hpcw_error err = {0};
    if (read_sion_open(golden(name), &reader, &err) != HPCW_OK) {
        fail_msg("not opened: %s", err.message);
    }
    return reader;
}

/* ---- output of siondump --------------------------------------------------------------------------------- */

/* Returns the lines of the dump of one file: after "--- siondump OPTIONS NAME" up to the next such line. */
static char *dump_of(const char *name) {
    char text_name[64];
    (void)snprintf(text_name, sizeof text_name, "%.*s.txt", (int)(strstr(name, ".sion") - name), name);
    size_t size;
    char *text = (char *)read_file(golden(text_name), &size);
    assert_non_null(text);
    text[size] = '\0';
    for (char *line = strstr(text, "--- siondump"); line != NULL; line = strstr(line + 1, "--- siondump")) {
        char *end = strchr(line, '\n');
        assert_non_null(end);
        size_t length = strlen(name);
        if ((size_t)(end - line) > length && strncmp(end - length, name, length) == 0 &&
            end[-(long)length - 1] == ' ') {
            char *next = strstr(end, "--- siondump");
            if (next != NULL) {
                *next = '\0';
            }
            memmove(text, end + 1, strlen(end + 1) + 1);
            return text;
        }
    }
    fail_msg("no dump of %s", name);
    return NULL;
}

/* Returns the rest of the line after a label, without leading blanks; NULL: none. */
static const char *labelled(const char *dump, const char *label) {
    const char *p = strstr(dump, label);
    if (p == NULL) {
        return NULL;
    }
    p += strlen(label);
    return p + strspn(p, " ");
}

static int64_t number(const char *dump, const char *label) {
    const char *p = labelled(dump, label);
    if (p == NULL) {
        fail_msg("no line \"%s\"", label);
        return 0;
    }
    return strtoll(p, NULL, 10);
}

static void check_header(struct read_sion *reader, const char *dump) {
    uint32_t files = read_sion_files(reader);
    assert_int_equal(read_sion_tasks(reader), number(dump, "number of tasks:"));
    uint32_t blocks = 0;
    for (uint32_t k = 0; k < files; k++) {
        struct read_sion_info info;
        hpcw_error err = {0};
        if (read_sion_info(reader, k, &info, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        const char *prefix = labelled(dump, "prefix:");
        assert_non_null(prefix);
        assert_int_equal(strncmp(info.prefix, prefix, strcspn(prefix, "\n")), 0);
        assert_int_equal(strlen(info.prefix), strcspn(prefix, "\n"));
        const char *order = labelled(dump, "file endianness:");
        assert_non_null(order);
        assert_int_equal(info.data_big, *order == 'b');
        assert_int_equal(info.fs_block_size, number(dump, "filesystem blocksize:"));
        assert_int_equal(info.files, number(dump, "number of files:"));
        assert_int_equal(info.file_number, files > 1 ? k : (uint32_t)number(dump, "file number:"));
        assert_int_equal(info.flag1, number(dump, "flag1:"));
        assert_int_equal(info.flag2, number(dump, "flag2:"));
        assert_int_equal(info.mode, number(dump, "keyval:"));
        assert_int_equal(info.format, number(dump, "file format version:"));
        const char *version = labelled(dump, "file SIONlib version:");
        assert_non_null(version);
        assert_int_equal(strncmp(version, "1.7p6 ", 6), 0);
        assert_int_equal(info.library_version, 1007);
        assert_int_equal(info.library_patch, 6);
        blocks = info.blocks > blocks ? info.blocks : blocks;
    }
    assert_int_equal(blocks, number(dump, "number of blocks:"));
}

/* Checks lines such as "Task 03: size= 690 B glblrnk= 3 #blks= 2 lsz= 512 B: 240 450". Unused blocks are -1 or
 * 0. */
static void check_task_lines(struct read_sion *reader, const char *dump) {
    uint32_t lines = 0;
    for (const char *p = strstr(dump, "\nTask "); p != NULL; p = strstr(p + 1, "\nTask ")) {
        long long size, rank, blocks, chunk;
        int used = 0;
        if (sscanf(p, "\nTask %*d: size= %lld B glblrnk= %lld #blks= %lld lsz= %lld B:%n", &size, &rank,
                   &blocks, &chunk, &used) != 4 ||
            used == 0) {
            continue; /* lines with keys */
        }
        lines++;
        struct read_sion_task task;
        hpcw_error err = {0};
        if (read_sion_find(reader, (uint32_t)rank, &task, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        assert_int_equal(task.rank, rank);
        assert_int_equal(task.size, size);
        assert_int_equal(task.blocks, blocks);
        assert_int_equal(task.chunk_size, chunk);
        const char *sizes = p + used;
        for (uint32_t b = 0; b < task.blocks; b++) {
            uint64_t got;
            assert_int_equal(read_sion_block_size(reader, &task, b, &got, NULL), HPCW_OK);
            char *end;
            assert_int_equal(got, strtoll(sizes, &end, 10));
            assert_true(end != sizes);
            sizes = end;
        }
    }
    if (strstr(dump, "glblrnk") != NULL) {
        assert_int_equal(lines, read_sion_tasks(reader));
    }
}

/* "[00003 -> (f001,t000)]" */
static void check_mapping_lines(struct read_sion *reader, const char *dump) {
    uint32_t entries = 0;
    for (const char *p = strstr(dump, "-> (f"); p != NULL; p = strstr(p + 1, "-> (f"), entries++) {
        unsigned file, index;
        assert_int_equal(sscanf(p, "-> (f%u,t%u)", &file, &index), 2);
        struct read_sion_task task;
        assert_int_equal(read_sion_find(reader, entries, &task, NULL), HPCW_OK);
        assert_int_equal(task.file, file);
        assert_int_equal(task.index, index);
    }
    assert_int_equal(entries, read_sion_files(reader) > 1 ? read_sion_tasks(reader) : 0);
}

/* ---- payload -------------------------------------------------------------------------------------------- */

static unsigned char *stream_of(struct read_sion *reader, const struct read_sion_task *task) {
    unsigned char *bytes = malloc((size_t)task->size + 1);
    assert_non_null(bytes);
    assert_int_equal(read_sion_read(reader, task, 0, bytes, (size_t)task->size, NULL), HPCW_OK);
    return bytes;
}

/* Returns byte k of a task of cmerge.sion. Task 0 has the data of ranks 0, 1 and 2: each of three calls added 200
 * bytes of each rank. Task 3 has only its own data. */
static unsigned char merged_byte(const struct read_sion_task *task, uint64_t k) {
    return task->rank == 0 ? sion_image_byte((int64_t)(k / 200 % 3), k / 600 * 200 + k % 200)
                           : sion_image_byte(task->rank, k);
}

static uint64_t check_payload(struct read_sion *reader, const char *name) {
    bool merged = strcmp(name, "cmerge.sion") == 0;
    uint64_t sum = 0;
    for (uint32_t rank = 0; rank < read_sion_tasks(reader); rank++) {
        struct read_sion_task task;
        assert_int_equal(read_sion_find(reader, rank, &task, NULL), HPCW_OK);
        unsigned char *bytes = stream_of(reader, &task);
        for (uint64_t k = 0; k < task.size; k++) {
            assert_int_equal(bytes[k], merged ? merged_byte(&task, k) : sion_image_byte(rank, k));
        }
        free(bytes);
        sum += task.size;
    }
    return sum;
}

/* Checks lines such as "Task 00: [00:k=<7>,size=100] ..." and the values. The formula of the bytes counts only
 * bytes of values. */
static uint64_t check_keys(struct read_sion *reader, const char *dump) {
    uint64_t sum = 0;
    for (uint32_t rank = 0; rank < read_sion_tasks(reader); rank++) {
        char label[32];
        (void)snprintf(label, sizeof label, "Task %02u: [", (unsigned)rank);
        const char *p = strstr(dump, label);
        const char *end = p == NULL ? NULL : strchr(p, '\n');
        struct read_sion_task task;
        assert_int_equal(read_sion_find(reader, rank, &task, NULL), HPCW_OK);
        sum += task.size;
        unsigned char *bytes = stream_of(reader, &task);
        struct read_sion_keys keys;
        read_sion_keys_begin(&keys, &task);
        uint64_t k = 0;
        for (;;) {
            struct read_sion_record record;
            bool more;
            assert_int_equal(read_sion_keys_next(reader, &keys, &record, &more, NULL), HPCW_OK);
            p = p == NULL ? NULL : strstr(p, "k=<");
            assert_int_equal(more, p != NULL && p < end);
            if (!more) {
                break;
            }
            assert_int_equal((int64_t)record.key, strtoll(p + 3, NULL, 10));
            assert_int_equal(record.size, number(p, "size="));
            for (uint64_t i = 0; i < record.size; i++) {
                assert_int_equal(bytes[record.offset + i], sion_image_byte(rank, k++));
            }
            p++;
        }
        free(bytes);
    }
    return sum;
}

static void every_field(void **state) {
    (void)state;
    if (golden("") == NULL) {
        skip();
    }
    for (size_t i = 0; i < COUNT(names); i++) {
        char *dump = dump_of(names[i]);
        struct read_sion *reader = opened(names[i]);
        hpcw_error err = {0};
        if (read_sion_verify(reader, READ_SION_GAPS, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        /* Files of the real library pass the strict check, except for buddy copies and for files of its mapped
         * writer, which writes -1 into a field. */
        bool odd = strstr(names[i], "BUDDY") != NULL || strncmp(names[i], "mapped", 6) == 0;
        assert_int_equal(read_sion_verify(reader, READ_SION_STRICT, &err), odd ? HPCW_EFORMAT : HPCW_OK);
        check_header(reader, dump);
        check_task_lines(reader, dump);
        check_mapping_lines(reader, dump);
        struct read_sion_info info;
        assert_int_equal(read_sion_info(reader, 0, &info, NULL), HPCW_OK);
        assert_int_equal(info.meta_big, strncmp(names[i], "be_", 3) == 0);
        uint64_t bytes =
            info.mode == READ_SION_MODE_KEYVAL ? check_keys(reader, dump) : check_payload(reader, names[i]);
        assert_int_equal(bytes, number(dump, "datasize in file (aggr.):"));
        read_sion_free(reader);
        free(dump);
    }
}

/* Every file of the folder is tested, apart from members of sets. */
static void every_file(void **state) {
    (void)state;
    if (golden("") == NULL) {
        skip();
    }
    DIR *dir = opendir(golden(""));
    assert_non_null(dir);
    struct dirent *entry;
    size_t seen = 0;
    while ((entry = readdir(dir)) != NULL) {
        const char *sion = strstr(entry->d_name, ".sion");
        if (sion == NULL) {
            continue;
        }
        /* A single file of a set, and a buddy copy, can also be opened alone. */
        struct read_sion *reader = opened(entry->d_name);
        assert_int_equal(read_sion_verify(reader, 0, NULL), HPCW_OK);
        hpcw_sion_reader *streams;
        hpcw_error err = {0};
        if (hpcw_sion_reader_open(golden(entry->d_name), NULL, 0, NULL, &streams, &err) != HPCW_OK) {
            fail_msg("%s", err.message);
        }
        assert_int_equal(hpcw_sion_reader_count(streams), read_sion_tasks(reader));
        assert_true(same_streams(streams, reader, seen));
        hpcw_sion_reader_free(streams);
        read_sion_free(reader);
        seen += strstr(sion, ".00000") == NULL;
    }
    (void)closedir(dir);
    assert_int_equal(seen, COUNT(names));
}

/* ---- damaged copies ------------------------------------------------------------------------------------- */

static hpcw_status judge(const unsigned char *data, size_t size, unsigned flags) {
    struct read_sion_image image = {data, size};
    struct read_sion *reader;
    hpcw_status status = read_sion_open_memory(&image, 1, &reader, NULL);
    if (status == HPCW_OK) {
        status = read_sion_verify(reader, flags, NULL);
    }
    read_sion_free(reader);
    return status;
}

/* Breaks rules of doc/formats/sion.md, "Rules", in the smallest file and in one with many blocks. */
static void damaged_copies(void **state) {
    (void)state;
    if (golden("") == NULL) {
        skip();
    }
    enum { N = 4, META1 = 1088 + 16 * N, META2 = 19456 };
    static const struct {
        size_t offset, size;
        uint64_t value;
    } cases[] = {
        {0, 1, 'S'}, /* magic */
        {4, 1, 1},   /* byte order */
        {16, 4, 0},  /* format versions that no reader supports */
        {16, 4, 1},
        {16, 4, UINT32_MAX},
        {16, 4, 2}, /* a header size below the real one */
        {20, 4, 0}, /* file system block size */
        {20, 4, 4096},
        {24, 4, UINT32_MAX},         /* tasks */
        {28, 4, 2},                  /* a set without mapping */
        {36, 8, UINT64_C(51) << 32}, /* plain data declared as key-value data */
        {36, 8, UINT64_C(52) << 32},
        {36, 8, UINT64_C(53) << 32},
        {1108, 8, 0}, /* chunk size of a task with data */
        {1108, 8, UINT64_MAX},
        {META1 - 12, 4, 4}, /* too few blocks, too many */
        {META1 - 12, 4, 6},
        {META1 - 8, 8, 0}, /* never closed */
        {META2, 8, 0},     /* block count */
        {META2, 8, 6},
        {META2 + 8 * N, 8, 513},    /* more bytes than the chunk holds */
        {META2 + 16 * N + 8, 8, 1}, /* bytes in an unused block */
    };
    size_t size;
    unsigned char *data = read_file(golden("four_tasks_serial.sion"), &size);
    assert_non_null(data);
    assert_int_equal(judge(data, size, READ_SION_STRICT | READ_SION_GAPS), HPCW_OK);
    for (size_t i = 0; i < COUNT(cases); i++) {
        unsigned char before[8];
        memcpy(before, data + cases[i].offset, cases[i].size);
        for (size_t k = 0; k < cases[i].size; k++) {
            data[cases[i].offset + k] = (unsigned char)(cases[i].value >> 8 * k);
        }
        hpcw_status status = judge(data, size, 0);
        assert_true(status == HPCW_EFORMAT || status == HPCW_ETRUNCATED || status == HPCW_ENOTSUP);
        memcpy(data + cases[i].offset, before, cases[i].size);
    }
    assert_int_equal(judge(data, size, READ_SION_STRICT), HPCW_OK);
    /* Truncates inside META1, META2 and the chunks. Only the strict check requires the mapping. */
    for (size_t cut = 0; cut < size; cut++) {
        assert_int_not_equal(judge(data, cut, cut < size - 4 ? 0 : READ_SION_STRICT), HPCW_OK);
    }
    free(data);
}

static void truncated_copies(void **state) {
    (void)state;
    if (golden("") == NULL) {
        skip();
    }
    for (size_t i = 0; i < COUNT(names); i++) {
        size_t size;
        unsigned char *data = read_file(golden(names[i]), &size);
        assert_non_null(data);
        for (size_t cut = 0; cut<size; cut += cut> 4096 && cut + 4096 < size ? 61 : 1) {
            assert_int_not_equal(judge(data, cut, READ_SION_STRICT), HPCW_OK);
        }
        free(data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field),
        cmocka_unit_test(every_file),
        cmocka_unit_test(damaged_copies),
        cmocka_unit_test(truncated_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
