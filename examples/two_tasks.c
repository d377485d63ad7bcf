/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include <hpcw/hpcw.h>

int main(void) {
    hpcw_sion_options options;
    hpcw_sion_options_init(&options);
    options.count = 2; /* this process plays two tasks, 0 and 1 */

    hpcw_error error;
    hpcw_sion *sion;
    hpcw_status status = hpcw_sion_open("two_tasks.sion", NULL, &options, &sion, &error);
    for (uint32_t task = 0; status == HPCW_OK && task < 2; task++) {
        double position[3] = {1.5 * task, 0.5, -1.0};
        status = hpcw_sion_write(sion, task, position, sizeof position, &error);
    }
    if (status == HPCW_OK)
        status = hpcw_sion_close(sion, &error);
    if (status != HPCW_OK)
        fprintf(stderr, "%s: %s\n", hpcw_status_name(status), error.message);
    hpcw_sion_free(sion);
    return status == HPCW_OK ? 0 : 1;
}
