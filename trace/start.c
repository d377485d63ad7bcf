/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/start.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/status.h"
#include "libwriter/format/clog2/file/file.h"
#include "libwriter/io/sys.h"
#include "libwriter/trace/config.h"
#include "libwriter/trace/launched.h"
#include "trace/find.h"

/* ---- variables ---- */

static void set(const char *name, const char *fmt, ...) HPCW_PRINTF(2, 3);
static void set(const char *name, const char *fmt, ...) {
    char value[2 * TRACE_PATH];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(value, sizeof value, fmt, args);
    va_end(args);
    (void)setenv(name, value, 1);
}

static void set_classes(const char *name, uint64_t classes) {
    char text[256] = "";
    for (unsigned i = 0; i < HPCW_I_CLASSES; i++) {
        if ((classes >> i & 1) != 0) {
            const size_t n = strlen(text);
            (void)snprintf(text + n, sizeof text - n, "%s%s", n == 0 ? "" : ",", hpcw_i_trace_class_name[i]);
        }
    }
    set(name, "%s", text);
}

/* Sets an environment variable to a path. A relative path becomes absolute, since the program may leave the working
 * directory `here`. */
static void set_path(const char *name, const char *path, const char *here) {
    set(name, "%s%s%s", path[0] == '/' ? "" : here, path[0] == '/' ? "" : "/", path);
}

/* Sets the environment variables of the tracing library. */
static void set_variables(const struct ui_parse *parse, const char *here) {
    const struct trace_options *o = parse->options;
    if (o->output[0] != '\0') {
        set_path("HPCW_TRACE_FILE", o->output, here);
    }
    if (o->directory[0] != '\0') {
        set_path("HPCW_TRACE_DIR", o->directory, here);
    }
    if (o->memory != 0) {
        set("HPCW_TRACE_MEMORY", "%" PRIu64, o->memory >> 20);
    }
    if (o->only != 0) {
        set_classes("HPCW_TRACE_ALSO", o->only);
        set_classes("HPCW_TRACE_SKIP", ~o->only);
    }
    if (o->also != 0) {
        set_classes("HPCW_TRACE_ALSO", o->also);
    }
    if (o->skip != 0) {
        set_classes("HPCW_TRACE_SKIP", o->skip);
    }
    if (o->paused) {
        set("HPCW_TRACE", "0");
    }
    if (o->wait != 0) {
        set("HPCW_TRACE_WAIT", "%" PRIu32, o->wait);
    }
    if (parse->source[ui_options_find(parse->program, "clock")] == UI_FROM_COMMAND_LINE) {
        set("HPCW_TRACE_CLOCK", "%s", trace_clock[o->clock]);
    }
    if (o->clocks) {
        set("HPCW_TRACE_CLOCKS", "1");
    }
}

/* ---- messages ---- */

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* Returns whether the directory of a file is not there. */
static bool lacks_directory(const char *file) {
    char directory[2 * TRACE_PATH];
    const char *slash = strrchr(file, '/');
    struct hpcw_i_entry entry;
    (void)snprintf(directory, sizeof directory, "%.*s/", slash == NULL ? 0 : (int)(slash - file), file);
    return hpcw_i_sys_look(directory, true, &entry) == 0 && entry.kind == HPCW_I_NOTHING;
}

/* The first process of a job prints where the log will be, or why the loader will not start the program. */
static void say_where(const char *program, bool has_mpi, const char *refusal, const char *here) {
    const char *file = getenv("HPCW_TRACE_FILE");
    const bool named = file != NULL && file[0] != '\0';
    char log[2 * TRACE_PATH];
    if (!hpcw_i_launched_first()) {
        return;
    }
    if (refusal[0] != '\0') {
        (void)fprintf(stderr,
                      "hpcw-trace: %s: a library cannot be loaded: %s: add its directory to LD_LIBRARY_PATH\n",
                      program, refusal);
        return;
    }
    if (hpcw_i_launched_by_program()) {
        return; /* the library chooses the name of this log */
    }
    if (named) {
        (void)snprintf(log, sizeof log, "%s%s%s", file[0] == '/' ? "" : here, file[0] == '/' ? "" : "/", file);
    } else {
        (void)snprintf(log, sizeof log, "%s/%s.clog2", here, has_mpi ? last_part(program) : "PROGRAM");
    }
    const char *on = getenv("HPCW_TRACE");
    const bool off = on != NULL && strcmp(on, "0") == 0;
    /* The program may make the directory, so this is no failure. */
    (void)fprintf(
        stderr, "hpcw-trace: %s: %s%s %s%s\n", program,
        has_mpi ? "" : "not linked with a shared library of MPI: if it opens one, or starts a program of MPI, ",
        off ? "nothing is recorded unless the program calls MPI_Pcontrol(1); the log is then"
            : "the log will be",
        log, lacks_directory(log) ? ", whose directory does not exist yet" : "");
}

/* Fails if the log would replace the local file of a recorded run. The library looks at it again, and then records
 * nothing; this program can still refuse to start. */
static hpcw_status check_output(hpcw_error *err) {
    const char *file = getenv("HPCW_TRACE_FILE");
    return file == NULL || file[0] == '\0' ? HPCW_OK : hpcw_i_clog2_check_output(AT_FDCWD, file, file, err);
}

/* ---- the start ---- */

/* Returns whether a program is a launcher. Launchers must start hpcw-trace; otherwise the processes on other hosts
 * do not get the library. */
static bool is_launcher(const char *program) {
    static const char *const name[] = {"mpirun", "mpiexec", "orterun", "prterun", "srun"};
    const char *base = last_part(program);
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        const size_t n = strlen(name[i]);
        if (strncmp(base, name[i], n) == 0 && (base[n] == '\0' || base[n] == '.')) {
            return true;
        }
    }
    return false;
}

static hpcw_status preload(const char *library, hpcw_error *err) {
    const char *others = getenv("LD_PRELOAD");
    if (strpbrk(library, " :") != NULL) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: expected a path without blanks and colons, which separate names in LD_PRELOAD",
                           library);
    }
    set("LD_PRELOAD", "%s%s%s", library, others == NULL || others[0] == '\0' ? "" : ":",
        others == NULL ? "" : others);
    return HPCW_OK;
}

hpcw_status trace_start(const struct ui_parse *parse, char **argv, int *code, hpcw_error *err) {
    const struct trace_options *o = parse->options;
    char path[TRACE_PATH], library[TRACE_PATH], refusal[TRACE_PATH];
    struct trace_mpi mpi;
    *code = 2;
    if (o->only != 0 && (o->also | o->skip) != 0) {
        return hpcw_i_fail(err, HPCW_EINVAL, "--only: expected neither --also nor --skip with it");
    }
    if (is_launcher(argv[0])) {
        return hpcw_i_fail(err, HPCW_EINVAL,
                           "%s: expected a program that the launcher starts: %s ... hpcw-trace PROGRAM",
                           argv[0], last_part(argv[0]));
    }
    *code = 127;
    hpcw_status s = trace_find_program(argv[0], path, err);
    if (s != HPCW_OK) {
        return s;
    }
    *code = EXIT_FAILURE;
    enum trace_kind kind;
    s = trace_look_at(path, &kind, &mpi, refusal, err);
    if (s != HPCW_OK) {
        return s;
    }
    if (kind == TRACE_STATIC) {
        return hpcw_i_fail(
            err, HPCW_ENOTSUP,
            "%s: nothing can be recorded: expected a program that loads shared libraries, got a statically "
            "linked one",
            argv[0]);
    }
    s = trace_find_library(argv[0], &mpi, o->library, library, err);
    char *here = hpcw_i_sys_real_path(".");
    if (s == HPCW_OK) {
        s = preload(library, err);
    }
    if (s == HPCW_OK) {
        set_variables(parse, here == NULL ? "." : here);
        s = check_output(err);
    }
    if (s == HPCW_OK) {
        say_where(argv[0], mpi.count > 0, refusal, here == NULL ? "." : here);
        (void)execvp(argv[0], argv);
        *code = 126;
        s = hpcw_i_fail_sys(err, errno, "%s: cannot start it", argv[0]);
    }
    hpcw_i_free(here);
    return s;
}
