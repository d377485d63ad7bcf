/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tool of the build that turns files into a C table. Usage: embed OUTPUT.c HEADER TABLE NAME=FILE...
 * HEADER declares struct TABLE { name, data, size }, the array TABLE, and its length TABLEs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int put_file(FILE *out, const char *path, int index) {
    FILE *in = fopen(path, "rb");
    if (in == NULL) {
        (void)fprintf(stderr, "embed: %s: %s\n", path, strerror(errno));
        return -1;
    }
    size_t n = 0;
    int c;
    (void)fprintf(out, "static const unsigned char file_%d[] = {", index);
    while ((c = getc(in)) != EOF) {
        (void)fprintf(out, "%s%d,", n++ % 24 == 0 ? "\n" : "", c);
    }
    (void)fprintf(out, "\n};\n");
    int bad = ferror(in) || n == 0;
    (void)fclose(in);
    if (bad) {
        (void)fprintf(stderr, "embed: %s: cannot read the whole file, or it is empty\n", path);
    }
    return bad ? -1 : 0;
}

int main(int argc, char **argv) {
    FILE *out = argc > 3 ? fopen(argv[1], "w") : NULL;
    if (out == NULL) {
        (void)fprintf(stderr, "usage: embed OUTPUT.c HEADER TABLE NAME=FILE...\n");
        return EXIT_FAILURE;
    }
    const char *table = argv[3];
    (void)fprintf(out, "#include \"%s\"\n\n", argv[2]);
    for (int i = 4; i < argc; i++) {
        const char *is = strchr(argv[i], '=');
        if (is == NULL || put_file(out, is + 1, i) != 0) {
            return EXIT_FAILURE;
        }
    }
    (void)fprintf(out, "\nconst struct %s %s[] = {\n", table, table);
    for (int i = 4; i < argc; i++) {
        (void)fprintf(out, "    {\"%.*s\", file_%d, sizeof file_%d},\n", (int)strcspn(argv[i], "="), argv[i], i,
                      i);
    }
    (void)fprintf(out, "};\nconst size_t %ss = %d;\n", table, argc - 4);
    return ferror(out) | fclose(out) ? EXIT_FAILURE : EXIT_SUCCESS;
}
