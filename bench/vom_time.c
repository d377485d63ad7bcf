/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast a rank's load-balancing file comes out. Usage: vom_time [DIRECTORY]; the default is /dev/shm.
 *
 * Work A: one rank, 100 000 tasks with two subphases and 300 000 edges between them, about 98 MB of JSON. Next to
 * each other, in turns, so that a busy machine troubles both alike:
 *   - plain, and a loop of pwrites of the same bytes
 *   - compressed with the default options, and brotli alone on the same bytes with the same options
 * Every figure is the median of nine runs, in seconds of one core (nothing here waits: no fsync). Memory is what a process that
 * only writes the file needs at its peak, above one that does nothing. At last, what qualities and windows make
 * of the text, with the encoder alone.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <brotli/encode.h>

#include <hpcw/hpcw.h>

#define RUNS 9
#define TASKS UINT32_C(100000)
#define PIECE ((size_t)1 << 20)

static double seconds(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double times[RUNS]) {
    qsort(times, RUNS, sizeof times[0], ascending);
    return times[RUNS / 2];
}

static void die(const char *what) {
    fprintf(stderr, "vom_time: %s\n", what);
    exit(EXIT_FAILURE);
}

static void ok(hpcw_status s, const hpcw_error *err) {
    if (s != HPCW_OK) {
        die(err->message);
    }
}

/* ---- Work A ---------------------------------------------------------------------------------------------- */

static uint64_t splitmix64(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static hpcw_status write_records(hpcw_vom *v, hpcw_error *err) {
    uint64_t state = 1;
    uint64_t here = 0;
    uint64_t there = 0;
    hpcw_vom_edge edge = {.category = HPCW_VOM_SEND_RECV,
                          .from = hpcw_vom_element(0, 0, 7, &there, 1),
                          .to = hpcw_vom_element(0, 0, 7, &here, 1)};
    hpcw_status s = hpcw_vom_begin_phase(v, 0, err);
    for (here = 0; here < TASKS && s == HPCW_OK; here++) {
        edge.to.id = hpcw_vom_element_id(0, here, true);
        for (int k = 0; k < 3 && s == HPCW_OK; k++) {
            uint64_t r = splitmix64(&state);
            there = (here + (k == 0 ? TASKS - 1 : k == 1 ? 1 : 2 + r % (TASKS - 3))) % TASKS;
            edge.from.id = hpcw_vom_element_id(0, there, true);
            edge.bytes = (double)(64 + (r >> 20) % 65536);
            edge.messages = 1 + (r >> 40) % 40;
            s = hpcw_vom_edge_add(v, &edge, err);
        }
    }
    uint64_t parts[2];
    hpcw_vom_task task = {
        .entity = hpcw_vom_element(0, 0, 7, &here, 1), .whole_ns = true, .subphase_ns = parts, .subphases = 2};
    for (here = 0; here < TASKS && s == HPCW_OK; here++) {
        uint64_t r = splitmix64(&state);
        task.entity.id = hpcw_vom_element_id(0, here, true);
        task.time_ns = 100000 + r % 10000000;
        parts[0] = task.time_ns / 3 + (r >> 40) % 10000;
        parts[1] = task.time_ns - parts[0];
        s = hpcw_vom_task_add(v, &task, err);
    }
    return s == HPCW_OK ? hpcw_vom_end_phase(v, NULL, 0, err) : s;
}

static void write_file(const char *path, bool check) {
    hpcw_error err;
    hpcw_vom_options o;
    hpcw_vom *v;
    hpcw_vom_options_init(&o);
    o.durability = HPCW_SYNC_NONE;
    o.check = check;
    ok(hpcw_vom_open(path, &o, &v, &err), &err);
    ok(write_records(v, &err), &err);
    ok(hpcw_vom_close(v, &err), &err);
    hpcw_vom_free(v);
}

/* ---- What it is compared with ---------------------------------------------------------------------------- */

static char *read_all(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    if (f == NULL || fseek(f, 0, SEEK_END) != 0) {
        die("cannot read back");
    }
    *size = (size_t)ftell(f);
    rewind(f);
    char *data = malloc(*size);
    if (data == NULL || fread(data, 1, *size, f) != *size) {
        die("cannot read back");
    }
    (void)fclose(f);
    return data;
}

static void pwrite_loop(const char *path, const char *data, size_t size) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    for (size_t done = 0; done < size;) {
        size_t n = size - done < PIECE ? size - done : PIECE;
        ssize_t k = fd < 0 ? -1 : pwrite(fd, data + done, n, (off_t)done);
        if (k <= 0) {
            die("pwrite failed");
        }
        done += (size_t)k;
    }
    (void)close(fd);
}

/* Bytes of the stream. */
static size_t brotli_alone(const char *data, size_t size, int quality, int window) {
    static unsigned char room[1 << 18];
    BrotliEncoderState *state = BrotliEncoderCreateInstance(NULL, NULL, NULL);
    if (state == NULL || !BrotliEncoderSetParameter(state, BROTLI_PARAM_QUALITY, (uint32_t)quality) ||
        !BrotliEncoderSetParameter(state, BROTLI_PARAM_LGWIN, (uint32_t)window)) {
        die("no encoder");
    }
    const uint8_t *in = (const uint8_t *)data;
    size_t total = 0;
    do {
        size_t space = sizeof room;
        uint8_t *out = room;
        if (!BrotliEncoderCompressStream(state, BROTLI_OPERATION_FINISH, &size, &in, &space, &out, &total)) {
            die("the encoder failed");
        }
    } while (!BrotliEncoderIsFinished(state));
    BrotliEncoderDestroyInstance(state);
    return total;
}

/* ---- Measurements ---------------------------------------------------------------------------------------- */

/* Peak memory in MiB of a process that writes the file, or does nothing if `path` is NULL. */
static double peak(const char *path, bool check) {
    int ends[2];
    long kib = 0;
    if (pipe(ends) != 0) {
        die("no pipe");
    }
    pid_t child = fork();
    if (child == 0) {
        struct rusage usage;
        if (path != NULL) {
            write_file(path, check);
        }
        (void)getrusage(RUSAGE_SELF, &usage);
        ssize_t written = write(ends[1], &usage.ru_maxrss, sizeof usage.ru_maxrss);
        _exit(written == (ssize_t)sizeof usage.ru_maxrss ? 0 : 1);
    }
    int status = 1;
    if (child < 0 || read(ends[0], &kib, sizeof kib) != (ssize_t)sizeof kib || waitpid(child, &status, 0) < 0 ||
        status != 0) {
        die("a child process failed");
    }
    (void)close(ends[0]);
    (void)close(ends[1]);
    return (double)kib / 1024;
}

static void show_memory(const char *plain, const char *compressed) {
    double nothing = peak(NULL, false);
    printf("memory: plain %.1f MiB, compressed %.1f MiB, plain with check %.1f MiB\n",
           peak(plain, false) - nothing, peak(compressed, false) - nothing, peak(plain, true) - nothing);
}

static void time_plain(const char *path, const char *data, size_t size) {
    double ours[RUNS];
    double loop[RUNS];
    double checked[RUNS];
    for (int i = 0; i < RUNS; i++) {
        double t0 = seconds();
        write_file(path, false);
        double t1 = seconds();
        (void)unlink(path);
        double t2 = seconds();
        pwrite_loop(path, data, size);
        double t3 = seconds();
        (void)unlink(path);
        double t4 = seconds();
        write_file(path, true);
        double t5 = seconds();
        (void)unlink(path);
        ours[i] = t1 - t0;
        loop[i] = t3 - t2;
        checked[i] = t5 - t4;
    }
    double a = median(ours);
    double b = median(loop);
    double c = median(checked);
    printf("plain: %.1f ms, %.2f GB/s; pwrite loop %.1f ms; ratio %.2f; with check %.1f ms\n", a * 1e3,
           (double)size / a * 1e-9, b * 1e3, a / b, c * 1e3);
}

static void time_compressed(const char *path, const char *data, size_t size) {
    double ours[RUNS];
    double alone[RUNS];
    size_t stream = 0;
    hpcw_brotli_options o;
    hpcw_brotli_options_init(&o);
    for (int i = 0; i < RUNS; i++) {
        double t0 = seconds();
        write_file(path, false);
        double t1 = seconds();
        (void)brotli_alone(data, size, o.quality, o.window);
        double t2 = seconds();
        ours[i] = t1 - t0;
        alone[i] = t2 - t1;
        free(read_all(path, &stream));
        (void)unlink(path);
    }
    double a = median(ours);
    double b = median(alone);
    size_t vt = brotli_alone(data, size, 8, 20);
    printf("compressed: %.1f ms, %.0f MB/s, %zu bytes; brotli alone %.1f ms; ratio %.2f; vt's setting: %zu "
           "bytes\n",
           a * 1e3, (double)size / a * 1e-6, stream, b * 1e3, a / b, vt);
}

static void show_front(const char *data, size_t size) {
    static const int windows[] = {17, 18, 20, 22};
    printf("quality  window     bytes     MB/s (one run)\n");
    for (int quality = 0; quality <= 9; quality++) {
        for (size_t k = 0; k < sizeof windows / sizeof windows[0]; k++) {
            double t = seconds();
            size_t stream = brotli_alone(data, size, quality, windows[k]);
            t = seconds() - t;
            printf("%7d %7d %9zu %8.0f\n", quality, windows[k], stream, (double)size / t * 1e-6);
        }
    }
}

int main(int argc, char **argv) {
    const char *dir = argc > 1 ? argv[1] : "/dev/shm";
    char plain[4096];
    char compressed[4096];
    size_t size;
    (void)snprintf(plain, sizeof plain, "%s/vom_time.0.json", dir);
    (void)snprintf(compressed, sizeof compressed, "%s/vom_time.0.json.br", dir);
    show_memory(plain, compressed);
    write_file(plain, false);
    char *data = read_all(plain, &size);
    (void)unlink(plain);
    (void)unlink(compressed);
    printf("work A: %zu bytes of JSON, in %s\n", size, dir);
    time_plain(plain, data, size);
    time_compressed(compressed, data, size);
    show_front(data, size);
    free(data);
    return EXIT_SUCCESS;
}
