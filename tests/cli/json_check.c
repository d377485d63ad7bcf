/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a file is one JSON value, with nothing after it but white space. */
#include <stdio.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

int main(int argc, char **argv) {
    static char text[1 << 22];
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL) {
        return 2;
    }
    size_t size = fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == ' ')) {
        size--;
    }
    text[size] = '\0';
    const char *end = NULL;
    cJSON *json = cJSON_ParseWithOpts(text, &end, 1);
    int result = json != NULL && end == text + size ? EXIT_SUCCESS : EXIT_FAILURE;
    cJSON_Delete(json);
    return result;
}
