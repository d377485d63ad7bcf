/* SPDX-License-Identifier: BSD-3-Clause */
/* Arbitrary bytes as the local files of a run that died: what is recovered from them, if anything is, is a whole log. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <hpcw/clog2_log.h>

#include "libreader/clog2/clog2.h"
#include "tests/fuzz/images.h"

static void demand(bool good) {
    if (!good) {
        abort();
    }
}

/* A file in memory, and the path by which this process finds it. */
static int make_file(const struct read_sion_image *image, char *path, size_t size) {
    int fd = memfd_create("local", MFD_CLOEXEC);
    demand(fd >= 0 && (image->size == 0 || write(fd, image->data, image->size) == (ssize_t)image->size));
    (void)snprintf(path, size, "/proc/self/fd/%d", fd);
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct read_sion_image images[FUZZ_IMAGES];
    uint32_t count = fuzz_split(data, size, images);
    int fd[FUZZ_IMAGES];
    char path[FUZZ_IMAGES][64], directory[32], log[64];
    const char *local[FUZZ_IMAGES];
    for (uint32_t i = 0; i < count; i++) {
        fd[i] = make_file(&images[i], path[i], sizeof path[i]);
        local[i] = path[i];
    }
    /* A log is written back to the disk, which takes its time where there is one. */
    (void)snprintf(directory, sizeof directory, "/dev/shm/hpcw-fuzz-XXXXXX");
    if (mkdtemp(directory) == NULL) {
        (void)snprintf(directory, sizeof directory, "/tmp/hpcw-fuzz-XXXXXX");
        demand(mkdtemp(directory) != NULL);
    }
    (void)snprintf(log, sizeof log, "%s/log", directory);
    hpcw_error err = {.message = ""};
    hpcw_clog2_recovered found;
    hpcw_status s = hpcw_clog2_recover(log, local, count, &found, &err);
    if (s == HPCW_OK) {
        struct read_clog2 *reader = NULL;
        demand(read_clog2_open(log, &reader, &err) == HPCW_OK);
        struct read_clog2_item item;
        bool more = true;
        uint64_t records = 0;
        while (more) {
            demand(read_clog2_next(reader, &item, &more, &err) == HPCW_OK);
            records += more;
        }
        demand(records == found.records && found.files == count);
        read_clog2_free(reader);
    } else {
        demand(err.code == s && err.message[0] != '\0' && access(log, F_OK) != 0);
    }
    (void)unlink(log);
    (void)rmdir(directory);
    for (uint32_t i = 0; i < count; i++) {
        (void)close(fd[i]);
    }
    return 0;
}
