/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a command and counts its calls that change the file system, or those that only examine it. If asked to, it
 * kills the command at one of these calls or lets one fail.
 *
 *    crashpoint --log FILE --below DIR [--below DIR]... [--count changes|looks] [--copies DIR] [--kill
 *    N:before|N:after | --fail N:ERRNO] COMMAND...
 *
 * Only calls on names and files below a DIR count; they are numbered 1, 2, ... A seccomp filter stops the command
 * only at such calls, so all others run at full speed. It sees raw system calls, threads and forked children. One
 * counted call runs at a time: a thread waits at its call until the call of another thread has returned. So the
 * log has the order of the calls.
 *
 *   --log FILE      a line of JSON for each call, then one for the end; appended. Names are absolute and without
 *                   symbolic links; "DEVICE:INODE" identifies files and directories.
 *   --count WHICH   changes (default): calls that change the file system; looks: opening, reading, listing, stat
 *   --copies DIR    copies a file to DIR/N after call N, an fsync or fdatasync of this file
 *   --kill N:WHEN   kills the command, with its threads and children, before call N or after its return
 *   --fail N:ERRNO  call N is not made and returns EACCES, EIO, EMFILE, ENOMEM or ENOSPC
 *
 * Exit status: that of the command, or 128 + S if signal S ended it, so 137 after a kill. 97: call N never came.
 * 96: the command cannot be run or traced. The last line of the log has the same: {"end": "died" | "exit" |
 * "signal" | "missed", ...}. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#else
#error "crashpoint knows the registers of x86_64 and aarch64"
#endif

enum { STATUS_TRACER = 96, STATUS_MISSED = 97, MOST_WATCHED = 8, MOST_THREADS = 1024, ARGUMENTS = 6 };

/* ---- the calls ---- */

enum kind {
    OPEN,  /* opens a name: counts if the open can create or truncate a file */
    NAME,  /* a name appears or disappears, or its file changes */
    TWO,   /* has an old and a new name */
    FD,    /* acts on an open file */
    MAP,   /* mmap of a writable file: logged without a number, as {"note": ...} */
    MEMORY /* msync */
};

/* Argument positions: `directory` and `path` of the first name, `to_directory` and `to_path` of the second. -1:
 * the call has no such argument; for a directory, the working directory. For FD, `path` is the descriptor. */
struct call {
    long number;
    const char *what;
    enum kind kind;
    int directory, path, to_directory, to_path;
};

static const struct call changes[] = {
#ifdef __NR_open
    {__NR_open, "open", OPEN, -1, 0, -1, -1},         {__NR_creat, "open", OPEN, -1, 0, -1, -1},
    {__NR_mkdir, "mkdir", NAME, -1, 0, -1, -1},       {__NR_rmdir, "rmdir", NAME, -1, 0, -1, -1},
    {__NR_unlink, "unlink", NAME, -1, 0, -1, -1},     {__NR_mknod, "mknod", NAME, -1, 0, -1, -1},
    {__NR_symlink, "symlink", NAME, -1, 1, -1, -1},   {__NR_chmod, "chmod", NAME, -1, 0, -1, -1},
    {__NR_chown, "chown", NAME, -1, 0, -1, -1},       {__NR_lchown, "chown", NAME, -1, 0, -1, -1},
    {__NR_rename, "rename", TWO, -1, 0, -1, 1},       {__NR_link, "link", TWO, -1, 0, -1, 1},
#endif
#ifdef __NR_renameat
    {__NR_renameat, "rename", TWO, 0, 1, 2, 3},
#endif
    {__NR_openat, "open", OPEN, 0, 1, -1, -1},        {__NR_openat2, "open", OPEN, 0, 1, -1, -1},
    {__NR_mkdirat, "mkdir", NAME, 0, 1, -1, -1},      {__NR_unlinkat, "unlink", NAME, 0, 1, -1, -1},
    {__NR_mknodat, "mknod", NAME, 0, 1, -1, -1},      {__NR_symlinkat, "symlink", NAME, 1, 2, -1, -1},
    {__NR_fchmodat, "chmod", NAME, 0, 1, -1, -1},     {__NR_fchownat, "chown", NAME, 0, 1, -1, -1},
    {__NR_truncate, "truncate", NAME, -1, 0, -1, -1}, {__NR_renameat2, "rename", TWO, 0, 1, 2, 3},
    {__NR_linkat, "link", TWO, 0, 1, 2, 3},           {__NR_write, "write", FD, -1, 0, -1, -1},
    {__NR_pwrite64, "write", FD, -1, 0, -1, -1},      {__NR_writev, "write", FD, -1, 0, -1, -1},
    {__NR_pwritev, "write", FD, -1, 0, -1, -1},       {__NR_pwritev2, "write", FD, -1, 0, -1, -1},
    {__NR_sendfile, "write", FD, -1, 0, -1, -1},      {__NR_copy_file_range, "write", FD, -1, 2, -1, -1},
    {__NR_splice, "write", FD, -1, 2, -1, -1},        {__NR_ftruncate, "truncate", FD, -1, 0, -1, -1},
    {__NR_fallocate, "allocate", FD, -1, 0, -1, -1},  {__NR_fchmod, "chmod", FD, -1, 0, -1, -1},
    {__NR_fchown, "chown", FD, -1, 0, -1, -1},        {__NR_fsync, "fsync", FD, -1, 0, -1, -1},
    {__NR_fdatasync, "fsync", FD, -1, 0, -1, -1},     {__NR_sync_file_range, "start", FD, -1, 0, -1, -1},
    {__NR_syncfs, "sync", FD, -1, 0, -1, -1},         {__NR_msync, "msync", MEMORY, -1, 0, -1, -1},
    {__NR_mmap, "map", MAP, -1, 4, -1, -1},
};
static const struct call looks[] = {
#ifdef __NR_open
    {__NR_open, "open", OPEN, -1, 0, -1, -1},
    {__NR_stat, "stat", NAME, -1, 0, -1, -1},
    {__NR_lstat, "stat", NAME, -1, 0, -1, -1},
    {__NR_access, "stat", NAME, -1, 0, -1, -1},
    {__NR_readlink, "readlink", NAME, -1, 0, -1, -1},
#endif
    {__NR_openat, "open", OPEN, 0, 1, -1, -1},
    {__NR_openat2, "open", OPEN, 0, 1, -1, -1},
    {__NR_newfstatat, "stat", NAME, 0, 1, -1, -1},
    {__NR_statx, "stat", NAME, 0, 1, -1, -1},
    {__NR_faccessat, "stat", NAME, 0, 1, -1, -1},
    {__NR_faccessat2, "stat", NAME, 0, 1, -1, -1},
    {__NR_readlinkat, "readlink", NAME, 0, 1, -1, -1},
    {__NR_fstat, "stat", FD, -1, 0, -1, -1},
    {__NR_read, "read", FD, -1, 0, -1, -1},
    {__NR_pread64, "read", FD, -1, 0, -1, -1},
    {__NR_readv, "read", FD, -1, 0, -1, -1},
    {__NR_preadv, "read", FD, -1, 0, -1, -1},
    {__NR_getdents64, "list", FD, -1, 0, -1, -1},
    {__NR_lseek, "seek", FD, -1, 0, -1, -1},
    {__NR_mmap, "map", FD, -1, 4, -1, -1},
};
enum {
    CHANGES = sizeof changes / sizeof *changes,
    LOOKS = sizeof looks / sizeof *looks,
    MOST_CALLS = CHANGES > LOOKS ? CHANGES : LOOKS
};

/* ---- state of a run ---- */

struct name {
    char path[PATH_MAX]; /* "": none */
    char directory[48];  /* id of the directory that has the name; "" for an open file */
    char file[48];       /* id of the file that has the name; "": none */
};

struct thread {
    pid_t id;
    bool waits; /* it waits at a call until another thread's call has returned */
};

struct run {
    const struct call *calls; /* [call_count] the calls that count */
    size_t call_count;
    const char *watched[MOST_WATCHED];
    int watches;
    int log;
    const char *copies;
    unsigned long point; /* 0: none */
    bool after;          /* kill after the call, not before it */
    int fail;            /* 0: kill */

    pid_t command;
    bool over; /* `command` has ended with `status` */
    int status;
    struct thread thread[MOST_THREADS];
    int threads;

    unsigned long count; /* number of counted calls so far */
    pid_t inside;        /* thread that is in a call; 0: none */
    bool numbered;       /* the call has a number; otherwise its line in the log is {"note": ...} */
    bool met, killed;
    /* The current call: */
    const struct call *call;
    const char *what;
    uint64_t argument[ARGUMENTS];
    struct name name, to;
};

static void fail(const char *what) {
    fprintf(stderr, "crashpoint: %s: %s\n", what, strerror(errno));
    exit(STATUS_TRACER);
}

/* ---- registers and memory of a thread that stands at a call ---- */

#if defined(__x86_64__)
static long call_of(pid_t thread, uint64_t argument[ARGUMENTS]) {
    struct user_regs_struct r;
    if (ptrace(PTRACE_GETREGS, thread, NULL, &r) != 0)
        return -1;
    argument[0] = r.rdi, argument[1] = r.rsi, argument[2] = r.rdx;
    argument[3] = r.r10, argument[4] = r.r8, argument[5] = r.r9;
    return (long)r.orig_rax;
}

static int64_t result_of(pid_t thread) {
    struct user_regs_struct r;
    return ptrace(PTRACE_GETREGS, thread, NULL, &r) == 0 ? (int64_t)r.rax : -EIO;
}

/* Skips the call; it returns `result`. */
static void skip_call(pid_t thread, int64_t result) {
    struct user_regs_struct r;
    if (ptrace(PTRACE_GETREGS, thread, NULL, &r) == 0) {
        r.orig_rax = (unsigned long long)-1;
        r.rax = (unsigned long long)result;
        (void)ptrace(PTRACE_SETREGS, thread, NULL, &r);
    }
}
#else
static bool registers(pid_t thread, struct user_regs_struct *r) {
    struct iovec io = {r, sizeof *r};
    return ptrace(PTRACE_GETREGSET, thread, (void *)NT_PRSTATUS, &io) == 0;
}

static long call_of(pid_t thread, uint64_t argument[ARGUMENTS]) {
    struct user_regs_struct r;
    if (!registers(thread, &r))
        return -1;
    for (int i = 0; i < ARGUMENTS; i++)
        argument[i] = r.regs[i];
    return (long)r.regs[8];
}

static int64_t result_of(pid_t thread) {
    struct user_regs_struct r;
    return registers(thread, &r) ? (int64_t)r.regs[0] : -EIO;
}

static void skip_call(pid_t thread, int64_t result) {
    struct user_regs_struct r;
    int none = -1;
    struct iovec number = {&none, sizeof none};
    if (registers(thread, &r)) {
        struct iovec io = {&r, sizeof r};
        r.regs[0] = (uint64_t)result;
        (void)ptrace(PTRACE_SETREGSET, thread, (void *)NT_ARM_SYSTEM_CALL, &number);
        (void)ptrace(PTRACE_SETREGSET, thread, (void *)NT_PRSTATUS, &io);
    }
}
#endif

static bool read_memory(pid_t thread, uint64_t address, void *to, size_t size) {
    struct iovec here = {to, size}, there = {(void *)(uintptr_t)address, size};
    return process_vm_readv(thread, &here, 1, &there, 1, 0) == (ssize_t)size;
}

static bool read_text(pid_t thread, uint64_t address, char text[PATH_MAX]) {
    const size_t page =
        4096; /* divides every page size; reads stay within a page, as the next may not be mapped */
    for (size_t n = 0, more; n < PATH_MAX; n += more) {
        more = page - (address + n) % page;
        more = more < PATH_MAX - n ? more : PATH_MAX - n;
        if (!read_memory(thread, address + n, text + n, more))
            return false;
        if (memchr(text + n, '\0', more) != NULL)
            return true;
    }
    return false;
}

/* ---- file names ---- */

static void join(char to[PATH_MAX], const char *directory, const char *name) {
    int n = snprintf(to, PATH_MAX, "%s/%s", strcmp(directory, "/") == 0 ? "" : directory, name);
    if (n >= PATH_MAX)
        to[0] = '\0';
}

static void identity(char to[48], const struct stat *st) {
    snprintf(to, 48, "%ju:%ju", (uintmax_t)st->st_dev, (uintmax_t)st->st_ino);
}

static bool link_text(const char *link, char to[PATH_MAX]) {
    ssize_t n = readlink(link, to, PATH_MAX - 1);
    to[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* Finds path, identity and type of the file of a thread's descriptor. */
static void open_file(pid_t thread, int fd, struct name *name, mode_t *mode) {
    char link[64];
    struct stat st;
    *name = (struct name){.path = ""};
    *mode = 0;
    snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)thread, fd);
    if (stat(link, &st) != 0)
        return;
    *mode = st.st_mode & S_IFMT;
    if ((*mode == S_IFREG || *mode == S_IFDIR) && link_text(link, name->path))
        identity(name->file, &st);
}

/* Finds the file that a call of the thread names. follow: the call follows a link in the last component. */
static void named(pid_t thread, int directory, uint64_t address, bool follow, struct name *name) {
    char text[PATH_MAX], full[PATH_MAX], base[PATH_MAX], link[64];
    struct stat st;
    *name = (struct name){.path = ""};
    if (!read_text(thread, address, text))
        return;
    if (text[0] == '/') {
        bool self = strncmp(text, "/proc/self/", 11) == 0;
        char own[32];
        snprintf(own, sizeof own, "/proc/%d", (int)thread);
        join(full, self ? own : "", text + (self ? 11 : 1));
    } else {
        snprintf(link, sizeof link, directory == AT_FDCWD ? "/proc/%d/cwd" : "/proc/%d/fd/%d", (int)thread,
                 directory);
        if (!link_text(link, base))
            return;
        join(full, base, text);
    }
    while (strlen(full) > 1 && full[strlen(full) - 1] == '/')
        full[strlen(full) - 1] = '\0';
    char *slash = strrchr(full, '/');
    if (slash == NULL)
        return;
    if (follow && lstat(full, &st) == 0 && S_ISLNK(st.st_mode)) {
        if (stat(full, &st) == 0)
            identity(name->file, &st);
        if (realpath(full, name->path) == NULL)
            (void)link_text(full, name->path);
        return;
    }
    *slash = '\0';
    if (realpath(slash == full ? "/" : full, base) == NULL || stat(base, &st) != 0)
        return;
    identity(name->directory, &st);
    join(name->path, base, slash + 1);
    if (lstat(name->path, &st) == 0)
        identity(name->file, &st);
}

/* Finds the file mapped at an address. */
static void mapped(pid_t thread, uint64_t address, struct name *name) {
    char line[PATH_MAX + 128], path[64];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)thread);
    *name = (struct name){.path = ""};
    FILE *maps = fopen(path, "re");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        uint64_t from, to;
        int start = 0;
        struct stat st;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %n", &from, &to, &start) >= 2 &&
            address >= from && address < to && line[start] == '/') {
            line[strcspn(line, "\n")] = '\0';
            snprintf(name->path, PATH_MAX, "%s", line + start);
            if (stat(name->path, &st) == 0)
                identity(name->file, &st);
        }
    }
    if (maps != NULL)
        fclose(maps);
}

static bool watched(const struct run *r, const char *path) {
    for (int i = 0; i < r->watches; i++) {
        size_t n = strlen(r->watched[i]);
        if (strncmp(path, r->watched[i], n) == 0 && (path[n] == '/' || path[n] == '\0'))
            return true;
    }
    return false;
}

/* ---- the log ---- */

struct line {
    char text[4 * PATH_MAX];
    size_t size;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *l, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int n = vsnprintf(l->text + l->size, sizeof l->text - l->size, format, list);
    va_end(list);
    if (n > 0)
        l->size = l->size + (size_t)n < sizeof l->text ? l->size + (size_t)n : sizeof l->text - 1;
}

static void add_text(struct line *l, const char *key, const char *text) {
    add(l, ", \"%s\": \"", key);
    for (const char *c = text; *c != '\0'; c++)
        add(l, (unsigned char)*c < ' ' || *c == '"' || *c == '\\' ? "\\u%04x" : "%c", (unsigned)*c);
    add(l, "\"");
}

static void put(const struct run *r, struct line *l) {
    add(l, "}\n");
    if (write(r->log, l->text, l->size) != (ssize_t)l->size)
        fail("the log");
}

static bool copy_file(const char *from, const char *to) {
    static char buffer[1 << 16];
    int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ssize_t n = -1;
    while (in >= 0 && out >= 0 && (n = read(in, buffer, sizeof buffer)) > 0)
        if (write(out, buffer, (size_t)n) != n)
            break;
    if (in >= 0)
        (void)close(in);
    return out >= 0 && close(out) == 0 && n == 0;
}

/* ---- examination of a call ---- */

static const struct call *find(const struct run *r, long number) {
    for (size_t i = 0; i < r->call_count; i++)
        if (r->calls[i].number == number)
            return &r->calls[i];
    return NULL;
}

static int directory_of(const struct run *r, int argument) {
    return argument < 0 ? AT_FDCWD : (int)r->argument[argument];
}

/* Returns the flags of an opening call. */
static uint64_t open_flags(pid_t thread, long number, const uint64_t argument[ARGUMENTS]) {
    struct open_how how = {0};
    if (number == __NR_openat2)
        return read_memory(thread, argument[2], &how.flags, sizeof how.flags) ? how.flags : 0;
#ifdef __NR_open
    if (number == __NR_creat)
        return O_CREAT | O_TRUNC;
    if (number == __NR_open)
        return argument[1];
#endif
    return argument[2];
}

static bool follows(const struct run *r, long number) {
    return strcmp(r->what, "truncate") == 0 || (strcmp(r->what, "chmod") == 0) ||
           (number == __NR_linkat && (r->argument[4] & AT_SYMLINK_FOLLOW) != 0) ||
           (number == __NR_fchownat && (r->argument[4] & AT_SYMLINK_NOFOLLOW) == 0);
}

/* Examines the call that a thread is about to make. Returns whether the call is to be logged, with or without a
 * number. */
static bool looks_at(struct run *r, pid_t thread) {
    long number = call_of(thread, r->argument);
    const struct call *c = r->call = find(r, number);
    mode_t mode;
    r->name = r->to = (struct name){.path = ""};
    if (c == NULL)
        return false;
    r->what = c->what;
    r->numbered = c->kind != MAP;
    switch (c->kind) {
    case OPEN: {
        uint64_t flags = open_flags(thread, number, r->argument);
        bool changes_it = (flags & (O_CREAT | O_TRUNC)) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
        if (changes_it != (r->calls == changes))
            return false;
        named(thread, directory_of(r, c->directory), r->argument[c->path],
              (flags & O_NOFOLLOW) == 0 && (flags & O_EXCL) == 0, &r->name);
        break;
    }
    case NAME:
        if (number == __NR_unlinkat && (r->argument[2] & AT_REMOVEDIR) != 0)
            r->what = "rmdir";
        named(thread, directory_of(r, c->directory), r->argument[c->path], follows(r, number), &r->name);
        break;
    case TWO:
        if (number == __NR_linkat && (r->argument[4] & AT_EMPTY_PATH) != 0)
            open_file(thread, (int)r->argument[0], &r->name, &mode);
        else
            named(thread, directory_of(r, c->directory), r->argument[c->path], follows(r, number), &r->name);
        named(thread, directory_of(r, c->to_directory), r->argument[c->to_path], false, &r->to);
        break;
    case FD:
    case MAP:
        open_file(thread, (int)r->argument[c->path], &r->name, &mode);
        break;
    case MEMORY:
        mapped(thread, r->argument[0], &r->name);
        break;
    }
    return watched(r, r->name.path) || watched(r, r->to.path);
}

/* Logs a call that has returned `result`, or, if made is false, was not made. */
static void logs(struct run *r, pid_t thread, bool made, int64_t result) {
    struct line l = {.size = 0};
    struct stat st;
    char path[64];
    const char *what = r->what;
    if (r->numbered)
        add(&l, "{\"n\": %lu, \"call\": \"%s\"", r->count, what);
    else
        add(&l, "{\"note\": \"%s\"", what);
    add_text(&l, "path", r->name.path);
    if (r->name.directory[0] != '\0')
        add_text(&l, "directory", r->name.directory);
    if (r->name.file[0] != '\0')
        add_text(&l, "file", r->name.file);
    if (r->call->kind == TWO) {
        add_text(&l, "to", r->to.path);
        add_text(&l, "to_directory", r->to.directory);
        add_text(&l, "to_file", r->to.file);
        if (r->call->number == __NR_renameat2 && (r->argument[4] & 2 /* RENAME_EXCHANGE */) != 0)
            add(&l, ", \"exchange\": true");
    }
    if (r->call->number == __NR_pwrite64 || r->call->number == __NR_pwritev || r->call->number == __NR_pwritev2)
        add(&l, ", \"offset\": %" PRIu64, r->argument[3]);
    else if (r->call->number == __NR_ftruncate || r->call->number == __NR_truncate)
        add(&l, ", \"size\": %" PRIu64, r->argument[1]);
    else if (r->call->number == __NR_fallocate)
        add(&l, ", \"offset\": %" PRIu64 ", \"size\": %" PRIu64, r->argument[2], r->argument[3]);
    if (!made) {
        add(&l, ", \"made\": false");
    } else {
        add(&l, ", \"result\": %" PRId64, result);
        if (result >= 0 && r->call->kind == OPEN) { /* the file that was opened */
            snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)thread, (int)result);
            if (stat(path, &st) == 0) {
                char file[48];
                identity(file, &st);
                add_text(&l, "opened", file);
                add(&l, ", \"truncates\": %s",
                    (open_flags(thread, r->call->number, r->argument) & O_TRUNC) != 0 ? "true" : "false");
            }
        } else if (result >= 0 && r->call->kind == NAME && lstat(r->name.path, &st) == 0) {
            char file[48];
            identity(file, &st);
            add_text(&l, "now", file);
            add(&l, ", \"length\": %jd", (intmax_t)st.st_size);
        } else if (result >= 0 && r->call->kind == FD) {
            snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)thread, (int)r->argument[r->call->path]);
            if (stat(path, &st) == 0)
                add(&l, ", \"length\": %jd", (intmax_t)st.st_size);
            if (r->copies != NULL && strcmp(what, "fsync") == 0 && S_ISREG(st.st_mode)) {
                char copy[PATH_MAX];
                snprintf(copy, sizeof copy, "%s/%lu", r->copies, r->count);
                if (!copy_file(path, copy))
                    fail(copy);
                add(&l, ", \"copy\": true");
            }
        }
    }
    put(r, &l);
}

static void kill_all(struct run *r) {
    r->killed = true;
    for (int i = 0; i < r->threads; i++)
        (void)syscall(SYS_kill, r->thread[i].id, SIGKILL); /* the id of any thread stands for its process */
}

/* Handles a thread that is about to make a call, while no other thread is in a call. */
static void enters(struct run *r, pid_t thread) {
    if (!looks_at(r, thread)) {
        (void)ptrace(PTRACE_CONT, thread, NULL, NULL);
        return;
    }
    r->count += r->numbered;
    bool now = r->numbered && r->count == r->point;
    r->met = r->met || now;
    if (now && r->fail == 0 && !r->after) {
        skip_call(thread, -EINTR);
        logs(r, thread, false, 0);
        kill_all(r);
        return;
    }
    if (now && r->fail != 0)
        skip_call(thread, -r->fail);
    r->inside = thread;
    (void)ptrace(PTRACE_SYSCALL, thread, NULL, NULL);
}

static void leaves(struct run *r, pid_t thread) {
    bool now = r->numbered && r->count == r->point;
    if (now && r->fail != 0)
        skip_call(thread, -r->fail);
    logs(r, thread, true, result_of(thread));
    r->inside = 0;
    if (now && r->fail == 0)
        kill_all(r);
    else
        (void)ptrace(PTRACE_CONT, thread, NULL, NULL);
}

/* Lets waiting threads start their calls, until one is in a call. */
static void next_enters(struct run *r) {
    for (int i = 0; i < r->threads && r->inside == 0 && !r->killed; i++)
        if (r->thread[i].waits) {
            r->thread[i].waits = false;
            enters(r, r->thread[i].id);
        }
}

/* ---- the threads ---- */

static struct thread *thread_of(struct run *r, pid_t id) {
    for (int i = 0; i < r->threads; i++)
        if (r->thread[i].id == id)
            return &r->thread[i];
    if (r->threads == MOST_THREADS) {
        errno = EAGAIN;
        fail("threads");
    }
    r->thread[r->threads] = (struct thread){.id = id};
    return &r->thread[r->threads++];
}

static void ended(struct run *r, pid_t id, int status) {
    struct thread *t = thread_of(r, id);
    *t = r->thread[--r->threads];
    if (id == r->command) {
        r->over = true;
        r->status = status;
    }
    if (id == r->inside)
        r->inside = 0;
}

static void stopped(struct run *r, pid_t id, int status) {
    int sig = WSTOPSIG(status), event = status >> 16;
    struct thread *t = thread_of(r, id);
    if (r->killed) {
        (void)syscall(SYS_kill, id, SIGKILL);
    } else if (event == PTRACE_EVENT_SECCOMP) {
        t->waits = true; /* next_enters */
    } else if (sig == (SIGTRAP | 0x80)) {
        if (id == r->inside)
            leaves(r, id);
        else
            (void)ptrace(PTRACE_CONT, id, NULL, NULL);
    } else if (event == PTRACE_EVENT_STOP &&
               (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU)) {
        (void)ptrace(PTRACE_LISTEN, id, NULL, NULL);
    } else if (event == PTRACE_EVENT_EXEC) {
        /* A thread that executes a program gets the id of its process's first thread, which ends with the call
         * that it is in. */
        if (r->inside == id)
            r->inside = 0;
        (void)ptrace(PTRACE_CONT, id, NULL, NULL);
    } else {
        (void)ptrace(id == r->inside ? PTRACE_SYSCALL : PTRACE_CONT, id, NULL, event != 0 ? 0 : sig);
    }
}

/* ---- begin and end ---- */

/* Installs the filter that stops the command at the calls of the table. It stops opens only if they create or
 * truncate, and mmap only if it maps a file for writing. */
static void filter_calls(const struct run *r) {
    struct sock_filter program[MOST_CALLS * 2 + 32];
    unsigned short n = 0;
    const unsigned low =
        (unsigned)offsetof(struct seccomp_data, args); /* on little-endian machines, the low word */
    program[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCH, 1, 0);
    program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    /* O_TMPFILE includes O_DIRECTORY, which alone creates nothing. */
    const unsigned makes = O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);
    if (r->calls == changes) {
        program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat, 0, 4);
        program[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, low + 8 * 2);
        program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, makes, 1, 0);
        program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
        program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
        program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mmap, 0, 6);
        program[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, low + 8 * 2);
        program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_WRITE, 0, 2);
        program[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, low + 8 * 3);
        program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_SHARED, 1, 0);
        program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
        program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    }
    for (size_t i = 0; i < r->call_count; i++) {
        program[n++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)r->calls[i].number, 0, 1);
        program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    }
    program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {n, program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        fail("seccomp");
}

static void start(struct run *r, char **command) {
    int go[2];
    char byte;
    if (pipe2(go, O_CLOEXEC) != 0 || (r->command = fork()) < 0)
        fail("fork");
    if (r->command == 0) {
        (void)close(go[1]);
        if (read(go[0], &byte, 1) != 1)
            _exit(STATUS_TRACER);
        filter_calls(r);
        (void)execvp(command[0], command);
        fprintf(stderr, "crashpoint: %s: %s\n", command[0], strerror(errno));
        _exit(STATUS_TRACER);
    }
    long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                   PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SEIZE, r->command, NULL, (void *)options) != 0)
        fail("ptrace");
    (void)thread_of(r, r->command);
    if (write(go[1], "g", 1) != 1)
        fail("pipe");
    (void)close(go[0]);
    (void)close(go[1]);
}

static int end(struct run *r) {
    struct line l = {.size = 0};
    bool dead = WIFSIGNALED(r->status);
    int status = dead ? 128 + WTERMSIG(r->status) : WEXITSTATUS(r->status);
    if (r->killed && dead && WTERMSIG(r->status) == SIGKILL) {
        add(&l, "{\"end\": \"died\"");
    } else if (r->point != 0 && (!r->met || r->fail == 0)) {
        add(&l, "{\"end\": \"missed\"");
        status = STATUS_MISSED;
    } else {
        add(&l, "{\"end\": \"%s\"", dead ? "signal" : "exit");
    }
    add(&l, ", \"status\": %d, \"calls\": %lu", status, r->count);
    put(r, &l);
    return status;
}

static bool option(struct run *r, const char *name, char *value) {
    static const struct {
        const char *name;
        int number;
    } errors[] = {{"EACCES", EACCES}, {"EIO", EIO}, {"EMFILE", EMFILE}, {"ENOMEM", ENOMEM}, {"ENOSPC", ENOSPC}};
    char *rest = NULL;
    if (strcmp(name, "--below") == 0 && r->watches < MOST_WATCHED)
        return (r->watched[r->watches++] = realpath(value, NULL)) != NULL;
    if (strcmp(name, "--count") == 0) {
        bool looking = strcmp(value, "looks") == 0;
        r->calls = looking ? looks : changes;
        r->call_count = looking ? LOOKS : CHANGES;
        return looking || strcmp(value, "changes") == 0;
    }
    if (strcmp(name, "--copies") == 0)
        return (r->copies = value) != NULL;
    if (strcmp(name, "--log") == 0)
        return (r->log = open(value, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) >= 0;
    r->point = strtoul(value, &rest, 10);
    if (r->point == 0 || *rest++ != ':')
        return false;
    r->after = strcmp(rest, "after") == 0;
    if (strcmp(name, "--kill") == 0)
        return r->after || strcmp(rest, "before") == 0;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (strcmp(rest, errors[i].name) == 0)
            r->fail = errors[i].number;
    return strcmp(name, "--fail") == 0 && r->fail != 0;
}

int main(int argc, char **argv) {
    static struct run run = {.calls = changes, .call_count = CHANGES, .log = -1};
    int i = 1;
    for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2)
        if (!option(&run, argv[i], argv[i + 1])) {
            fprintf(stderr, "crashpoint: %s %s: not understood\n", argv[i], argv[i + 1]);
            return STATUS_TRACER;
        }
    if (i >= argc || run.log < 0 || run.watches == 0) {
        fprintf(
            stderr,
            "usage: crashpoint --log FILE --below DIR [--count WHICH] [--copies DIR] [--kill N:WHEN | --fail "
            "N:ERRNO] COMMAND...\n");
        return STATUS_TRACER;
    }
    start(&run, argv + i);
    while (run.threads > 0) {
        int status;
        pid_t id = waitpid(-1, &status, __WALL);
        if (id < 0 && errno == EINTR)
            continue;
        if (id < 0)
            break;
        if (WIFSTOPPED(status))
            stopped(&run, id, status);
        else
            ended(&run, id, status);
        next_enters(&run);
    }
    return end(&run);
}
