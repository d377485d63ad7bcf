/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/find.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sys.h"

#define LIBRARY "libhpcw_trace.so"
#define SELF "/proc/self/exe"

/* ---- the program ---- */

static bool is_file(const char *path) {
    struct hpcw_i_entry entry;
    return hpcw_i_sys_look(path, true, &entry) == 0 && entry.kind == HPCW_I_FILE && (entry.mode & 0111) != 0;
}

hpcw_status trace_find_program(const char *name, char path[TRACE_PATH], hpcw_error *err) {
    const char *at = strchr(name, '/') != NULL ? NULL : getenv("PATH");
    (void)snprintf(path, TRACE_PATH, "%s", name);
    if (strchr(name, '/') != NULL) {
        struct hpcw_i_entry entry;
        int e = hpcw_i_sys_look(name, true, &entry);
        e = e == 0 && entry.kind == HPCW_I_NOTHING ? ENOENT : e;
        return e == 0 ? HPCW_OK : hpcw_i_fail_sys(err, e, "%s: cannot start it", name);
    }
    while (at != NULL && *at != '\0') {
        const size_t length = strcspn(at, ":");
        int n = snprintf(path, TRACE_PATH, "%.*s/%s", (int)length, length == 0 ? "." : at, name);
        if (n > 0 && n < TRACE_PATH && is_file(path)) {
            return HPCW_OK;
        }
        at += length + (at[length] == ':');
    }
    return hpcw_i_fail(err, HPCW_EIO, "%s: expected a program in PATH, got none", name);
}

/* ---- the kind of a file ---- */

/* Finds the kind of a file, and the loader that starts it. Returns 0 or an errno value. A program that this user may
 * start but not read is TRACE_UNKNOWN. */
static int kind_of(const char *path, enum trace_kind *found, char loader[TRACE_PATH]) {
    ElfW(Ehdr) head;
    ElfW(Phdr) part;
    uint64_t size;
    size_t got = 0;
    int fd;
    *found = TRACE_UNKNOWN;
    loader[0] = '\0';
    int e = hpcw_i_sys_open_file_at(AT_FDCWD, path, &fd, &size);
    if (e != 0) {
        return e == EACCES || e == ENOENT || hpcw_i_sys_no_file(e) != NULL ? 0 : e;
    }
    enum trace_kind kind = TRACE_UNKNOWN;
    e = hpcw_i_sys_pread(fd, &head, sizeof head, 0, &got);
    if (e == 0 && got == sizeof head && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
        head.e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
        head.e_phentsize == sizeof part) {
        kind = TRACE_STATIC;
    }
    for (unsigned i = 0; e == 0 && kind == TRACE_STATIC && i < head.e_phnum; i++) {
        e = hpcw_i_sys_pread(fd, &part, sizeof part, head.e_phoff + i * sizeof part, &got);
        if (e != 0 || got != sizeof part) {
            break;
        }
        if (part.p_type == PT_INTERP && part.p_filesz < TRACE_PATH) {
            e = hpcw_i_sys_pread(fd, loader, (size_t)part.p_filesz, part.p_offset, &got);
            loader[e == 0 ? got : 0] = '\0';
            kind = TRACE_DYNAMIC;
        }
    }
    (void)hpcw_i_sys_close(fd);
    *found = kind;
    return e;
}

#define CANNOT_ASK "%s: cannot find out which libraries it loads"

enum { NOT_STARTED = 128 }; /* the child's exit status, plus the errno value, if it cannot start the loader */

/* Starts the loader, which writes to `out`. */
static void become_loader(const char *loader, const char *path, int out) {
    (void)unsetenv("LD_PRELOAD"); /* preloaded libraries are not those of the program */
    (void)dup2(out, STDOUT_FILENO);
    (void)dup2(out, STDERR_FILENO);
    (void)execl(loader, loader, "--list", path, (char *)NULL);
    _exit(NOT_STARTED | errno);
}

/* Reads the output of the loader. It has a line with a tab for each library. Any other line is an error message,
 * and `wrong` gets the first one. Returns 0 or an errno value. */
static int read_list(FILE *text, struct trace_mpi *mpi, char wrong[TRACE_PATH]) {
    static const char mark[] = "libmpi", refused[] = "error while loading shared libraries: ";
    char line[TRACE_PATH];
    while (fgets(line, sizeof line, text) != NULL) {
        const char *name = line + strspn(line, " \t"), *why = strstr(line, refused);
        why = why == NULL ? line : why + sizeof refused - 1;
        if (line[0] != '\t' && wrong[0] == '\0') {
            (void)snprintf(wrong, TRACE_PATH, "%.*s", (int)strcspn(why, "\n"), why);
        }
        if (strncmp(name, mark, sizeof mark - 1) == 0 && mpi->count < sizeof mpi->name / sizeof *mpi->name) {
            (void)snprintf(mpi->name[mpi->count++], TRACE_NAME, "%.*s", (int)strcspn(name, " \t\n"), name);
        }
    }
    return ferror(text) ? errno : 0;
}

/* Judges the end of the loader. If the loader printed an error message, this is not a failure: the program cannot
 * start, and the caller refuses it. */
static hpcw_status judge(int status, const char *loader, const char *path, const char *wrong, hpcw_error *err) {
    if (WIFSIGNALED(status)) {
        return hpcw_i_fail(err, HPCW_EIO, CANNOT_ASK ": %s --list ended by signal %d", path, loader,
                           WTERMSIG(status));
    }
    const int code = WEXITSTATUS(status);
    return code >= NOT_STARTED ? hpcw_i_fail_sys(err, code - NOT_STARTED, CANNOT_ASK ": %s", path, loader)
           : code != 0 && wrong[0] == '\0'
               ? hpcw_i_fail(err, HPCW_EIO, CANNOT_ASK ": %s --list ended with status %d", path, loader, code)
               : HPCW_OK;
}

/* Asks the loader which libraries it would load. This starts neither the program nor a library. If a library
 * cannot be loaded, *mpi is empty, and `refusal` gets the message of the loader. */
static hpcw_status list_mpi(const char *loader, const char *path, struct trace_mpi *mpi,
                            char refusal[TRACE_PATH], hpcw_error *err) {
    int ends[2], status = 0;
    *mpi = (struct trace_mpi){0};
    refusal[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return hpcw_i_fail_sys(err, errno, CANNOT_ASK, path);
    }
    /* If the caller ignores SIGCHLD, as a shell or a daemon may, waitpid would not tell how the loader ended. */
    void (*const caller)(int) = signal(SIGCHLD, SIG_DFL);
    const pid_t child = fork();
    int e = child < 0 ? errno : 0;
    if (child == 0) {
        become_loader(loader, path, ends[1]);
    }
    (void)close(ends[1]);
    FILE *text = fdopen(ends[0], "r");
    if (e == 0) {
        e = text == NULL ? errno : read_list(text, mpi, refusal);
    }
    (void)(text != NULL ? fclose(text) : close(ends[0]));
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    (void)signal(SIGCHLD, caller);
    hpcw_status s =
        e != 0 ? hpcw_i_fail_sys(err, e, CANNOT_ASK, path) : judge(status, loader, path, refusal, err);
    if (s != HPCW_OK || status == 0) {
        refusal[0] = '\0'; /* what the loader prints beside a list is only a warning */
    } else {
        *mpi = (struct trace_mpi){0};
    }
    return s;
}

hpcw_status trace_look_at(const char *path, enum trace_kind *kind, struct trace_mpi *mpi,
                          char refusal[TRACE_PATH], hpcw_error *err) {
    char loader[TRACE_PATH];
    refusal[0] = '\0';
    *mpi = (struct trace_mpi){0};
    int e = kind_of(path, kind, loader);
    return e != 0                   ? hpcw_i_fail_sys(err, e, CANNOT_ASK, path)
           : *kind == TRACE_DYNAMIC ? list_mpi(loader, path, mpi, refusal, err)
                                    : HPCW_OK;
}

/* ---- the library ---- */

/* Finds a directory. from: its absolute path, or its path relative to the directory of hpcw-trace. */
static void find_directory(const char *from, char path[TRACE_PATH]) {
    char *self = from[0] == '/' ? NULL : hpcw_i_sys_real_path(SELF);
    char *directory = self == NULL ? NULL : hpcw_i_sys_directory_of(self);
    (void)snprintf(path, TRACE_PATH, "%s%s%s", directory == NULL ? "" : directory, directory == NULL ? "" : "/",
                   from);
    char *plain = hpcw_i_sys_real_path(path);
    if (plain != NULL) {
        (void)snprintf(path, TRACE_PATH, "%s", plain);
    }
    hpcw_i_free(plain);
    hpcw_i_free(self);
    hpcw_i_free(directory);
}

static bool has(const struct trace_mpi *mpi, const char *name) {
    size_t i = 0;
    while (i < mpi->count && strcmp(mpi->name[i], name) != 0) {
        i++;
    }
    return i < mpi->count;
}

struct trace_search {
    const struct trace_mpi *wanted;
    char loader[TRACE_PATH]; /* loader of hpcw-trace, which also loads the libraries */
    char *path; /* library with the wanted MPI if `found`, otherwise the first library that was tried */
    struct trace_mpi tried; /* MPIs of all libraries that were tried */
    bool found;
    hpcw_error failed; /* first file that could not be looked at; code HPCW_OK: none */
};

/* Records that a file could not be looked at. It may be the library, so it does not count as missing. */
static void note_failure(struct trace_search *s, int e, const char *path) {
    if (s->failed.code == HPCW_OK) {
        (void)hpcw_i_fail_sys(&s->failed, e, "%s: cannot look at it", path);
    }
}

static void try_library(struct trace_search *s, const char *path) {
    struct trace_mpi own;
    struct hpcw_i_entry entry;
    int e = s->found ? 0 : hpcw_i_sys_look(path, true, &entry);
    if (e != 0) {
        note_failure(s, e, path);
    }
    if (s->found || e != 0 || entry.kind != HPCW_I_FILE) {
        return;
    }
    if (s->path[0] == '\0') {
        (void)snprintf(s->path, TRACE_PATH, "%s", path);
    }
    hpcw_error failed;
    char refusal[TRACE_PATH];
    if (list_mpi(s->loader, path, &own, refusal, &failed) != HPCW_OK || refusal[0] != '\0') {
        if (refusal[0] != '\0') {
            (void)hpcw_i_fail(&failed, HPCW_EIO, "%s: a library of it cannot be loaded: %s", path, refusal);
        }
        s->failed = s->failed.code == HPCW_OK ? failed : s->failed;
        return;
    }
    s->found = s->wanted->count == 0;
    for (size_t i = 0; i < own.count && !s->found; i++) {
        s->found = has(s->wanted, own.name[i]);
        if (s->tried.count < sizeof s->tried.name / sizeof *s->tried.name && !has(&s->tried, own.name[i])) {
            memcpy(s->tried.name[s->tried.count++], own.name[i], TRACE_NAME);
        }
    }
    if (s->found) {
        (void)snprintf(s->path, TRACE_PATH, "%s", path);
    }
}

/* Tries DIRECTORY/libhpcw_trace.so, then DIRECTORY/hpcw/NAME/libhpcw_trace.so for each NAME. These are
 * libraries for other MPI libraries. */
static void try_installed(struct trace_search *s, const char *directory) {
    char path[2 * TRACE_PATH];
    struct hpcw_i_listing *listing;
    const char *name;
    (void)snprintf(path, sizeof path, "%s/" LIBRARY, directory);
    try_library(s, path);
    (void)snprintf(path, sizeof path, "%s/hpcw", directory);
    int e = hpcw_i_sys_list(path, &listing);
    if (e != 0) {
        if (e != ENOENT && e != ENOTDIR) {
            note_failure(s, e, path);
        }
        return;
    }
    while ((e = hpcw_i_sys_list_next(listing, &name)) == 0 && name != NULL) {
        (void)snprintf(path, sizeof path, "%s/hpcw/%s/" LIBRARY, directory, name);
        try_library(s, path);
    }
    hpcw_i_sys_list_free(listing);
    if (e != 0) {
        (void)snprintf(path, sizeof path, "%s/hpcw", directory);
        note_failure(s, e, path);
    }
}

static const char *join(const struct trace_mpi *mpi, char text[8 * TRACE_NAME]) {
    text[0] = '\0';
    for (size_t i = 0; i < mpi->count; i++) {
        const size_t n = strlen(text);
        (void)snprintf(text + n, 8 * TRACE_NAME - n, "%s%s", i == 0 ? "" : ", ", mpi->name[i]);
    }
    return text;
}

hpcw_status trace_find_library(const char *program, const struct trace_mpi *mpi, const char *given,
                               char path[TRACE_PATH], hpcw_error *err) {
    char directory[TRACE_PATH], built[TRACE_PATH], ours[8 * TRACE_NAME], theirs[8 * TRACE_NAME];
    struct trace_search s = {.wanted = mpi, .path = path};
    path[0] = '\0';
    find_directory(HPCW_TRACE_LIBDIR, directory);
    enum trace_kind self;
    int e = kind_of(SELF, &self, s.loader);
    if (e != 0) {
        note_failure(&s, e, SELF);
    }
    if (given[0] != '\0') {
        /* The program may leave the working directory, and the loader searches a name without a slash elsewhere. */
        char *plain = hpcw_i_sys_real_path(given);
        try_library(&s, plain != NULL ? plain : given);
        hpcw_i_free(plain);
    } else {
        try_installed(&s, directory);
    }
    if (path[0] == '\0' && given[0] == '\0') {
        find_directory("../libwriter", built); /* the library in a build directory */
        try_installed(&s, built);
    }
    if (!s.found && s.failed.code != HPCW_OK) {
        return hpcw_i_fail_as(err, &s.failed);
    }
    if (path[0] == '\0') {
        return given[0] != '\0'
                   ? hpcw_i_fail(err, HPCW_EIO, "%s: expected a file for --library, got none", given)
                   : hpcw_i_fail(err, HPCW_EIO, "%s: expected " LIBRARY ", got none: name it with --library",
                                 directory);
    }
    return s.found ? HPCW_OK
                   : hpcw_i_fail(err, HPCW_ENOTSUP,
                                 "%s: expected a program with the MPI of an installed " LIBRARY
                                 " (%s), got one with %s: build hpcw with that MPI (-Dmpicc)",
                                 program, join(&s.tried, ours), join(mpi, theirs));
}
