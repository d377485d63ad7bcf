/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI's libraries differ in the types of handles, so nothing good comes of this library in a program of another MPI than
 * its own. Before main, it compares the library that the program's MPI calls lead to with its own. If they differ, it
 * says so, and starts the program again without itself. Programs without MPI, such as a shell that starts the program,
 * are left alone.
 */
#include "libwriter/trace/program.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hpcw/status.h>

/* The process that waits for MPI_Init; 0: none. A child of fork() is another one. */
static atomic_int waits;

void hpcw_i_trace_program_begins(void) {
    atomic_store(&waits, 0);
}

/* Launchers set the rank before MPI knows it. Unknown ones speak for themselves. */
static void say(const char *fmt, ...) HPCW_PRINTF(1, 2);
static void say(const char *fmt, ...) {
    static const char *const name[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        const char *rank = getenv(name[i]);
        if (rank != NULL && strcmp(rank, "0") != 0) {
            return;
        }
    }
    char text[9000];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    (void)fprintf(stderr, "hpcw_trace: %s: %s\n", program_invocation_short_name, text);
}

/* The address of MPI in a loaded library, or in those that it needs. Of a function that this library does not have. */
static void *mpi_of(const char *library) {
    void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == NULL) {
        return NULL;
    }
    void *mpi = dlsym(handle, "PMPI_Get_library_version");
    (void)dlclose(handle);
    return mpi;
}

/* The same of the libraries that the program was linked with. */
static void *mpi_of_program(void) {
    void *handle = dlopen(NULL, RTLD_LAZY);
    struct link_map *program = NULL;
    if (handle == NULL || dlinfo(handle, RTLD_DI_LINKMAP, &program) != 0) {
        return NULL;
    }
    const char *names = NULL;
    for (const ElfW(Dyn) *d = program->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_STRTAB) {
            /* Some loaders relocate this address, others do not. */
            names = (const char *)(d->d_un.d_ptr + (d->d_un.d_ptr < program->l_addr ? program->l_addr : 0));
        }
    }
    void *mpi = NULL;
    for (const ElfW(Dyn) *d = program->l_ld; names != NULL && mpi == NULL && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_NEEDED) {
            mpi = mpi_of(names + d->d_un.d_val);
        }
    }
    (void)dlclose(handle);
    return mpi;
}

static const char *file_of(const void *address) {
    Dl_info info;
    return dladdr(address, &info) != 0 && info.dli_fname != NULL ? info.dli_fname : "an unknown library";
}

/* Takes this library out of LD_PRELOAD. False: it is not in it. */
static bool leave_preload(const char *self) {
    const char *preload = getenv("LD_PRELOAD"), *base = strrchr(self, '/');
    char *rest = preload == NULL ? NULL : strdup(preload), *place = NULL;
    char *kept = preload == NULL ? NULL : calloc(1, strlen(preload) + 1);
    bool found = false;
    if (rest != NULL && kept != NULL) {
        base = base == NULL ? self : base + 1;
        for (char *one = strtok_r(rest, " :", &place); one != NULL; one = strtok_r(NULL, " :", &place)) {
            const char *slash = strrchr(one, '/');
            if (strcmp(slash == NULL ? one : slash + 1, base) == 0) {
                found = true;
            } else {
                (void)strcat(strcat(kept, kept[0] == '\0' ? "" : ":"), one);
            }
        }
        found = found && setenv("LD_PRELOAD", kept, 1) == 0;
    }
    free(rest);
    free(kept);
    return found;
}

/* The loader of glibc passes the arguments of main. */
__attribute__((constructor)) static void look_at_program(int argc, char **argv) {
    (void)argc;
    const char *self = file_of((const void *)&waits);
    const void *theirs = mpi_of_program(), *ours = mpi_of(self);
    if (theirs == NULL) {
        return;
    }
    if (theirs == ours || ours == NULL) {
        atomic_store(&waits, (int)getpid());
        return;
    }
    say("nothing is recorded: expected a program of %s, got one of %s", file_of(ours), file_of(theirs));
#ifdef __GLIBC__
    if (leave_preload(self)) {
        (void)execv("/proc/self/exe", argv);
        say("it cannot be started without the wrapper: %s", strerror(errno));
    }
#endif
}

__attribute__((destructor)) static void say_why_no_log(void) {
    if (atomic_load(&waits) == (int)getpid()) {
        say("no log: no call of MPI_Init came to the wrapper");
    }
}
