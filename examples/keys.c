/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes records under keys, and finds one of them again. The command line
 * hpcgen export keys.sion --task 1 --key 7 --output - finds the same record. */
#include <inttypes.h>
#include <stdio.h>

#include <hpcw/hpcw.h>

/* Two tasks write a record in each step. The key is the number of the step. */
static hpcw_status write_steps(hpcw_error *error) {
    hpcw_sion *sion;
    hpcw_sion_options options;
    hpcw_sion_options_init(&options);
    options.content = HPCW_SION_KEYVAL;
    options.count = 2; /* this process plays two tasks, 0 and 1 */
    hpcw_status status = hpcw_sion_open("keys.sion", NULL, &options, &sion, error);
    for (uint64_t step = 0; status == HPCW_OK && step < 10; step++)
        for (uint32_t task = 0; status == HPCW_OK && task < 2; task++) {
            char value[64];
            int size = snprintf(value, sizeof value, "step %" PRIu64 " of task %" PRIu32 "\n", step, task);
            status = hpcw_sion_write_key(sion, task, step, value, (size_t)size, error);
        }
    if (status == HPCW_OK)
        status = hpcw_sion_close(sion, error);
    hpcw_sion_free(sion);
    return status;
}

static hpcw_status find_step(uint32_t task, uint64_t step, hpcw_error *error) {
    hpcw_sion_reader *reader;
    hpcw_sion_record record;
    char value[64];
    size_t got = 0;
    bool found = false;
    hpcw_status status = hpcw_sion_reader_open("keys.sion", NULL, 1, &task, &reader, error);
    if (status == HPCW_OK)
        status = hpcw_sion_reader_find_key(reader, task, step, &record, &found, error);
    if (status == HPCW_OK && found) /* read the value, record.size bytes */
        status = hpcw_sion_reader_read(reader, task, value, sizeof value, &got, error);
    if (status == HPCW_OK && found)
        printf("%.*s", (int)got, value);
    hpcw_sion_reader_free(reader);
    return status;
}

int main(void) {
    hpcw_error error;
    hpcw_status status = write_steps(&error);
    if (status == HPCW_OK)
        status = find_step(1, 7, &error);
    if (status != HPCW_OK)
        fprintf(stderr, "%s: %s\n", hpcw_status_name(status), error.message);
    return status == HPCW_OK ? 0 : 1;
}
