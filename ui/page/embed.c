/* SPDX-License-Identifier: BSD-3-Clause */
/* For the build: files as a C table, each under a name. Usage: embed OUTPUT.c NAME=FILE... */
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
    FILE *out = argc > 1 ? fopen(argv[1], "w") : NULL;
    if (out == NULL) {
        (void)fprintf(stderr, "usage: embed OUTPUT.c NAME=FILE...\n");
        return EXIT_FAILURE;
    }
    (void)fprintf(out, "#include \"ui/page/private.h\"\n\n");
    for (int i = 2; i < argc; i++) {
        const char *is = strchr(argv[i], '=');
        if (is == NULL || put_file(out, is + 1, i) != 0) {
            return EXIT_FAILURE;
        }
    }
    (void)fprintf(out, "\nconst struct ui_page_file ui_page_file[] = {\n");
    for (int i = 2; i < argc; i++) {
        (void)fprintf(out, "    {\"%.*s\", file_%d, sizeof file_%d},\n", (int)strcspn(argv[i], "="), argv[i], i,
                      i);
    }
    (void)fprintf(out, "};\nconst size_t ui_page_files = %d;\n", argc - 2);
    return ferror(out) | fclose(out) ? EXIT_FAILURE : EXIT_SUCCESS;
}
