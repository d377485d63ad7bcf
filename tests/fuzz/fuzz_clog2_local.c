/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads arbitrary bytes as the local files of a run that died. If anything is recovered, it must be a complete
 * log. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <hpcw/clog2_log.h>

#include "libreader/clog2/clog2.h"
#include "libwriter/format/clog2/log/local_file.h"
#include "tests/fuzz/images.h"

/* A valid file header may ask for a table of very many ranks or for large blocks. Such inputs take long and test
 * nothing new, so they are skipped. Inputs beyond ALL_RANKS or ANY_BLOCK are not skipped, since the reader refuses
 * them at once. */
enum { MOST_RANKS = 64, ALL_RANKS = 46340, MOST_BLOCK = 4096, ANY_BLOCK = HPCW_CLOG2_MAX_BLOCK };

static bool is_long(unsigned long ranks, unsigned long block_size) {
    return (ranks > MOST_RANKS && ranks <= ALL_RANKS) || (block_size > MOST_BLOCK && block_size <= ANY_BLOCK);
}

/* Returns the number after a title of MPE's preamble; 0: none. */
static unsigned long number_after(const struct read_sion_image *image, const char *title) {
    char text[16] = "";
    size_t n = strlen(title) + 1;
    const unsigned char *at = memmem(image->data, image->size, title, n);
    size_t left = at == NULL ? 0 : image->size - (size_t)(at - (const unsigned char *)image->data) - n;
    if (at != NULL) {
        memcpy(text, at + n, left < sizeof text ? left : sizeof text - 1);
    }
    return strtoul(text, NULL, 10);
}

static bool takes_long(const struct read_sion_image *image) {
    struct hpcw_i_clog2_local_head head;
    if (image->size >= sizeof head) {
        memcpy(&head, image->data, sizeof head);
        if (head.tag == HPCW_I_CLOG2_LOCAL_TAG) {
            return is_long(head.ranks, head.block_size);
        }
    }
    return is_long(number_after(image, "max_comm_world_size="), number_after(image, "block_size="));
}

/* Makes a file in memory, with a path for this process. */
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
        if (takes_long(&images[i])) {
            return 0;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        fd[i] = make_file(&images[i], path[i], sizeof path[i]);
        local[i] = path[i];
    }
    /* A log is flushed to disk, which takes long on a real disk. */
    (void)snprintf(directory, sizeof directory, "/dev/shm/hpcw-fuzz-XXXXXX");
    if (mkdtemp(directory) == NULL) {
        (void)snprintf(directory, sizeof directory, "/tmp/hpcw-fuzz-XXXXXX");
        demand(mkdtemp(directory) != NULL);
    }
    (void)snprintf(log, sizeof log, "%s/log", directory);
    hpcw_error err = {.message = ""};
    hpcw_clog2_recovered found;
    hpcw_status s = hpcw_clog2_recover(log, local, count, true, &found, &err);
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
