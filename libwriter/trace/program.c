/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI libraries differ in the types of handles, so the wrapper works only in programs of its own MPI. Before
 * main, it compares the program's MPI library with its own. If they differ, it prints a message and starts the
 * program again without the wrapper. It does nothing in programs without MPI, such as a shell that starts the
 * program.
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
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <hpcw/status.h>

#include "libwriter/trace/launched.h"

static struct {
    /* id of the process that called MPI_Init, or loaded the wrapper; a child by fork() prints nothing */
    int process;
    bool of_mpi; /* whether the program was linked with an MPI library */
    /* whether the program called MPI_Init of the wrapper; children by fork() share it with their parent, as a child
     * may make the call */
    atomic_bool *begun;
    atomic_bool begun_here;     /* *begun until there is shared memory */
    _Atomic(const char *) lost; /* line to print if the process ends now; NULL: none */
} program = {.begun = &program.begun_here};

void hpcw_i_trace_program_begins(void) {
    program.process = (int)getpid();
    atomic_store(program.begun, true);
}

static void share_begun(void) {
    atomic_bool *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared != MAP_FAILED) {
        atomic_init(shared, atomic_load(&program.begun_here));
        program.begun = shared;
    }
}

/* Prints a line if this process is rank 0 according to the launcher, as MPI is not yet initialised. Without a
 * known launcher, each process prints it. */
static void say(const char *fmt, ...) HPCW_PRINTF(1, 2);
static void say(const char *fmt, ...) {
    if (!hpcw_i_launched_first()) {
        return;
    }
    char text[9000];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    (void)fprintf(stderr, "hpcw_trace: %s: %s\n", program_invocation_short_name, text);
}

/* Returns the address of PMPI_Get_library_version in the MPI of a loaded library; NULL: it has none. The
 * address tells MPI libraries apart, as the wrapper does not replace this function. */
static void *mpi_of(const char *library) {
    void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == NULL) {
        return NULL;
    }
    void *mpi = dlsym(handle, "PMPI_Get_library_version");
    (void)dlclose(handle);
    return mpi;
}

/* Returns what mpi_of does, for the libraries with which the program was linked. */
static void *mpi_of_program(void) {
    void *handle = dlopen(NULL, RTLD_LAZY);
    struct link_map *map = NULL;
    if (handle == NULL || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) {
        return NULL;
    }
    const char *names = NULL;
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_STRTAB) {
            /* Some loaders have added the load address to DT_STRTAB, others have not. */
            names = (const char *)(d->d_un.d_ptr + (d->d_un.d_ptr < map->l_addr ? map->l_addr : 0));
        }
    }
    void *mpi = NULL;
    for (const ElfW(Dyn) *d = map->l_ld; names != NULL && mpi == NULL && d->d_tag != DT_NULL; d++) {
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

/* Takes the wrapper out of LD_PRELOAD. Returns false if it is not there. */
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

/* Checks the program before main. The loader of glibc passes the arguments of main to a constructor. */
__attribute__((constructor)) static void look_at_program(int argc, char **argv) {
    (void)argc;
    const char *self = file_of((const void *)&program);
    const void *theirs = mpi_of_program(), *ours = mpi_of(self);
    program.process = (int)getpid();
    program.of_mpi = theirs != NULL;
    if (program.of_mpi) {
        share_begun();
    }
    if (theirs == NULL || theirs == ours || ours == NULL) {
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

/*
 * Finds out whether `caller` is in a library that the program opened and that was linked with another MPI. The
 * library's calls come to the wrapper, and it is too late to start the program without it. So they are passed on to
 * that MPI, unchanged and not recorded: a handle of any MPI fits into a pointer.
 */
void *hpcw_i_trace_program_other_mpi(const void *caller) {
    Dl_info info;
    struct link_map *library = NULL;
    if (dladdr1(caller, &info, (void **)&library, RTLD_DL_LINKMAP) == 0 || library->l_name[0] == '\0') {
        /* the caller is the program itself, which was checked before main */
        return NULL;
    }
    const void *theirs = mpi_of(library->l_name), *ours = mpi_of(file_of((const void *)&program));
    if (theirs == NULL || ours == NULL || theirs == ours) {
        return NULL;
    }
    void *handle = dlopen(library->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle != NULL && !atomic_exchange(program.begun, true)) {
        say("nothing is recorded: expected calls of %s, got those of %s, which was linked with %s",
            file_of(ours), library->l_name, file_of(theirs));
    }
    return handle;
}

void hpcw_i_trace_program_stop(void) {
    say("its calls cannot be handed on, as handles of the two differ in size; run it without the wrapper, or "
        "with one of "
        "its MPI");
    _exit(1);
}

static bool has_initialised_mpi(void) {
    struct link_map *library = NULL;
    void *self = dlopen(NULL, RTLD_LAZY);
    if (self == NULL || dlinfo(self, RTLD_DI_LINKMAP, &library) != 0) {
        return false;
    }
    int initialised = 0;
    for (; library != NULL && !initialised; library = library->l_next) {
        void *handle = dlopen(library->l_name, RTLD_LAZY | RTLD_NOLOAD);
        int (*ask)(int *) = NULL;
        if (handle != NULL) {
            *(void **)&ask = dlsym(handle, "PMPI_Initialized");
            (void)dlclose(handle);
        }
        if (ask != NULL && ask(&initialised) != 0) {
            initialised = 0;
        }
    }
    (void)dlclose(self);
    return initialised != 0;
}

/* Prints program.lost. Calls only functions that a signal handler may call. */
static void say_what_is_lost(void) {
    const char *line = atomic_load(&program.lost);
    if (line != NULL && program.process == (int)getpid()) {
        atomic_store(&program.lost, NULL);
        ssize_t ignored = write(STDERR_FILENO, line, strlen(line));
        (void)ignored;
    }
}

void hpcw_i_trace_program_records(const char *line) {
    static atomic_flag asked = ATOMIC_FLAG_INIT;
    atomic_store(&program.lost, line);
    if (line != NULL && !atomic_flag_test_and_set(&asked)) {
        (void)at_quick_exit(say_what_is_lost);
    }
}

__attribute__((destructor)) static void say_why_no_log(void) {
    say_what_is_lost();
    if (program.process != (int)getpid() || atomic_load(program.begun)) {
        return;
    }
    if (has_initialised_mpi()) {
        say("no log: no call of MPI_Init came to the wrapper: the program, or a library of it, takes MPI's "
            "functions from a "
            "library that it opened (dlsym with its handle, RTLD_DEEPBIND), or another tool that comes first "
            "has called it");
    } else if (program.of_mpi) {
        say("no log: no call of MPI_Init came to the wrapper");
    }
}

/* Functions that end a process without running destructors. The wrapper replaces them, as Python programs end
 * by such a call. */
#pragma GCC visibility push(default)
void _exit(int status) {
    say_what_is_lost();
    for (;;) {
        (void)syscall(SYS_exit_group, status);
    }
}

void _Exit(int status) {
    _exit(status);
}
#pragma GCC visibility pop
