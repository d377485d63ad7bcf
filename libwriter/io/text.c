/* SPDX-License-Identifier: BSD-3-Clause */
#include "libwriter/io/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libwriter/io/sys.h"

/* Reads the next part of the text into t->piece. At the end of the text, sets t->ended. */
static int fetch(struct hpcw_i_text *t) {
    ssize_t n;
    do {
        n = read(t->fd, t->piece, sizeof t->piece);
    } while (n < 0 && errno == EINTR);
    t->next = 0;
    t->end = n < 0 ? 0 : (size_t)n;
    t->ended = n == 0;
    return n < 0 ? errno : 0;
}

/* Checks that a pipe has a writer, as the open did not wait for one. Then lets reads wait for data. */
static int begin(struct hpcw_i_text *t) {
    struct stat st;
    if (fstat(t->fd, &st) != 0) {
        return errno;
    }
    if (!S_ISREG(st.st_mode) && !S_ISCHR(st.st_mode) && !S_ISFIFO(st.st_mode)) {
        return S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
    }
    /* A read from a pipe without a writer is at its end at once. With a writer it is not, even if there is no
     * data yet. */
    int e = S_ISFIFO(st.st_mode) ? fetch(t) : 0;
    if (e == 0 && t->ended) {
        return EPIPE;
    }
    int flags = fcntl(t->fd, F_GETFL);
    bool waits = flags >= 0 && fcntl(t->fd, F_SETFL, flags & ~O_NONBLOCK) == 0;
    return e != 0 && e != EAGAIN ? e : waits ? 0 : errno;
}

int hpcw_i_text_open(const char *path, struct hpcw_i_text *t) {
    t->ended = false;
    t->next = t->end = 0;
    int e = hpcw_i_sys_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, &t->fd);
    if (e == 0) {
        e = begin(t);
        if (e != 0) {
            hpcw_i_text_close(t);
        }
    }
    return e;
}

/* Gets up to `size` bytes of the text. With `line`, stops after the end of a line. */
static int take(struct hpcw_i_text *t, bool line, char *data, size_t size, size_t *got) {
    int e = 0;
    *got = 0;
    for (bool whole = false; e == 0 && !whole && *got < size && !t->ended;) {
        size_t n = t->end - t->next < size - *got ? t->end - t->next : size - *got;
        const char *from = t->piece + t->next;
        const char *newline = line && n > 0 ? memchr(from, '\n', n) : NULL;
        whole = newline != NULL;
        n = whole ? (size_t)(newline - from) + 1 : n;
        memcpy(data + *got, from, n);
        *got += n;
        t->next += n;
        e = t->next == t->end && !whole && *got < size ? fetch(t) : 0;
    }
    return e;
}

int hpcw_i_text_read(struct hpcw_i_text *t, char *data, size_t size, size_t *got) {
    return take(t, false, data, size, got);
}

int hpcw_i_text_line(struct hpcw_i_text *t, char *line, size_t size) {
    size_t got;
    int e = take(t, true, line, size - 1, &got);
    line[got] = '\0';
    return e;
}

void hpcw_i_text_close(struct hpcw_i_text *t) {
    (void)close(t->fd);
    t->fd = -1;
}
