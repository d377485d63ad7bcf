/* SPDX-License-Identifier: BSD-3-Clause */
/* A program without MPI that loads an MPI library. Usage: opens LIBRARY handle|deep|local */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    if (argc != 3) {
        (void)fprintf(stderr, "usage: opens LIBRARY handle|deep|local\n");
        return 2;
    }
    void *library = dlopen(argv[1], RTLD_NOW | (strcmp(argv[2], "deep") == 0 ? RTLD_DEEPBIND : 0));
    int (*run)(void) = NULL, (*begin)(int *, char ***) = NULL, (*end)(void) = NULL;
    if (library == NULL) {
        (void)fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    *(void **)&run = dlsym(library, "run"); /* the function of a plugin that calls MPI itself */
    if (run != NULL) {
        return run();
    }
    *(void **)&begin = dlsym(library, "MPI_Init");
    *(void **)&end = dlsym(library, "MPI_Finalize");
    return begin != NULL && end != NULL && begin(&argc, &argv) == 0 && end() == 0 ? 0 : 1;
}
