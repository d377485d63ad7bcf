/* SPDX-License-Identifier: BSD-3-Clause */
#include "ui/cli/progress.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"
#include "libwriter/io/text.h"
#include "ui/cli/text.h"

enum { LABEL_SIZE = 64, LINE_SIZE = 512 };

struct ui_progress {
    atomic_uint_fast64_t done;
    /* padding: workers change `done` all the time, so the other members must be on another cache line */
    char apart[64];
    pthread_mutex_t lock; /* protects the label, `stopping`, and all output to the stream */
    pthread_cond_t wake;
    pthread_t thread;
    FILE *stream;
    const char *prefix;
    uint64_t total;
    double interval_s, start_s;
    unsigned width;
    bool bar, running, stopping;
    bool share;
    bool reads;
    uint64_t read_before; /* bytes that the process had read at the start */
    bool drawn;           /* a bar is on the screen */
    char label[LABEL_SIZE];
};

static double now_s(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- what the process has read ---- */

static bool read_bytes(uint64_t *bytes) {
    struct hpcw_i_text text;
    static const char key[] = "rchar: ";
    char line[64];
    bool found = false;
    if (hpcw_i_text_open("/proc/self/io", &text) != 0) {
        return false;
    }
    while (!found && hpcw_i_text_line(&text, line, sizeof line) == 0 && line[0] != '\0') {
        line[strcspn(line, "\n")] = '\0';
        found = strncmp(line, key, sizeof key - 1) == 0 &&
                hpcw_i_parse_u64(key, line + sizeof key - 1, 0, UINT64_MAX, bytes, NULL) == HPCW_OK;
    }
    hpcw_i_text_close(&text);
    return found;
}

static void count_reads(struct ui_progress *p) {
    uint64_t bytes;
    if (p->reads && read_bytes(&bytes)) {
        atomic_store_explicit(&p->done, bytes - p->read_before, memory_order_relaxed);
    }
}

/* ---- the text of a drawing ---- */

/* A benchmark adds its bytes in large steps, at the end of each run. Between two steps, the rate of the last seconds
 * falls towards 0. So the estimate takes the mean rate since the start there. */
static const char *remaining(char text[UI_TEXT_SIZE], const struct ui_progress_state *s) {
    const double rate = s->share ? (double)s->done / s->elapsed_s : s->rate;
    if (s->total <= s->done || !(rate > 0)) {
        return NULL;
    }
    double left = (double)(s->total - s->done) / rate;
    if (left <= 60) { /* whole seconds: tenths in an estimate would change at each drawing */
        (void)snprintf(text, UI_TEXT_SIZE, "%.0f s", ceil(left));
        return text;
    }
    return ui_text_duration(text, left);
}

/* Returns the total to show. The total is an estimate, so more bytes may be done. */
static uint64_t total_of(const struct ui_progress_state *s) {
    return s->done > s->total ? s->done : s->total;
}

static unsigned percent(const struct ui_progress_state *s) {
    return s->done >= s->total ? 100 : (unsigned)((double)s->done / (double)s->total * 100);
}

/* Appends `gap` and `what` if the text then fits into `columns`. */
static void append(char *text, size_t size, size_t columns, const char *gap, const char *what) {
    char piece[128];
    int n = snprintf(piece, sizeof piece, "%s%s", gap, what);
    size_t used = strlen(text);
    if (n > 0 && (size_t)n < sizeof piece && used + (size_t)n < size &&
        ui_text_columns(text) + ui_text_columns(piece) <= columns) {
        memcpy(text + used, piece, (size_t)n + 1);
    }
}

void ui_progress_bar(char *text, size_t size, unsigned width, const struct ui_progress_state *s) {
    enum { BAR_MIN = 10, BAR_MAX = 40 };
    char done[UI_TEXT_SIZE], total[UI_TEXT_SIZE], rate[UI_TEXT_SIZE], left[UI_TEXT_SIZE];
    size_t columns = width > 1 ? width - 1 : 1;
    char tail[256] = "";
    /* Append the most important part first. Parts that do not fit are left out. */
    if (s->total != 0) {
        (void)snprintf(tail, sizeof tail, "%3u%%", percent(s));
        if (!s->share) {
            char both[2 * UI_TEXT_SIZE + 8];
            (void)snprintf(both, sizeof both, "%s of %s", ui_text_bytes(done, s->done),
                           ui_text_bytes(total, total_of(s)));
            append(tail, sizeof tail, columns, "  ", both);
        }
    } else {
        (void)snprintf(tail, sizeof tail, "%s", ui_text_bytes(done, s->done));
    }
    if (s->rate >= 0 && !s->share) {
        append(tail, sizeof tail, columns, "  ", ui_text_rate(rate, s->rate));
    }
    const char *time = remaining(left, s);
    if (time != NULL) {
        char with[UI_TEXT_SIZE + 8];
        (void)snprintf(with, sizeof with, "%s left", time);
        append(tail, sizeof tail, columns, "  ", with);
    } else if (s->total == 0) {
        append(tail, sizeof tail, columns, "  ", ui_text_duration(left, s->elapsed_s));
    }
    size_t tail_columns = ui_text_columns(tail);
    if (s->label != NULL && s->label[0] != '\0') {
        append(tail, sizeof tail, columns, "  ", s->label);
    }
    if (s->total == 0 || columns < tail_columns + BAR_MIN + 3) {
        (void)snprintf(text, size, "%s", tail);
        return;
    }
    /* If the smallest bar does not fit, remove the label: the bar is more important. */
    if (ui_text_columns(tail) + BAR_MIN + 3 > columns) {
        tail[tail_columns] = '\0'; /* the text is ASCII so far, so columns are bytes */
    }
    size_t cells = columns - ui_text_columns(tail) - 3;
    cells = cells > BAR_MAX ? BAR_MAX : cells;
    size_t full = s->done >= s->total ? cells : (size_t)((double)s->done / (double)s->total * (double)cells);
    char bar[BAR_MAX + 1];
    memset(bar, '.', cells);
    memset(bar, '#', full);
    bar[cells] = '\0';
    (void)snprintf(text, size, "[%s] %s", bar, tail);
}

void ui_progress_line(char *text, size_t size, const struct ui_progress_state *s) {
    char done[UI_TEXT_SIZE], total[UI_TEXT_SIZE], rate[UI_TEXT_SIZE], left[UI_TEXT_SIZE];
    ui_text_bytes(done, s->done);
    text[0] = '\0';
    if (s->total != 0 && s->share) {
        (void)snprintf(text, size, "%u%%", percent(s));
    } else if (s->total != 0) {
        char head[2 * UI_TEXT_SIZE + 16];
        (void)snprintf(head, sizeof head, "%s of %s (%u%%)", done, ui_text_bytes(total, total_of(s)),
                       percent(s));
        append(text, size, size, "", head);
    } else {
        append(text, size, size, "", done);
    }
    if (s->rate >= 0 && !s->share) {
        append(text, size, size, ", ", ui_text_rate(rate, s->rate));
    }
    const char *time = remaining(left, s);
    if (time != NULL) {
        append(text, size, size, ", ", time);
        append(text, size, size, " left", "");
    }
    if (s->label != NULL && s->label[0] != '\0') {
        append(text, size, size, ", ", s->label);
    }
}

/* ---- the thread that draws ---- */

/* Removes the bar from the screen. The caller holds the lock. */
static void clear(struct ui_progress *p) {
    if (p->drawn) {
        (void)fprintf(p->stream, "\r\033[K");
        p->drawn = false;
    }
}

/* Draws the bar. The caller holds the lock. */
static void draw(struct ui_progress *p, double rate) {
    char line[LINE_SIZE];
    struct ui_progress_state state = {
        .label = p->label,
        .done = atomic_load_explicit(&p->done, memory_order_relaxed),
        .total = p->total,
        .rate = rate,
        .elapsed_s = now_s() - p->start_s,
        .share = p->share,
    };
    const char *prefix = p->prefix == NULL ? "" : p->prefix, *colon = p->prefix == NULL ? "" : ": ";
    if (p->bar) {
        unsigned width = p->width != 0 ? p->width : ui_text_width(p->stream);
        size_t lead = ui_text_columns(prefix) + strlen(colon);
        if (lead + 20 > width) { /* too narrow for label and bar */
            prefix = colon = "";
            lead = 0;
        }
        ui_progress_bar(line, sizeof line, width - (unsigned)lead, &state);
        (void)fprintf(p->stream, "\r%s%s%s\033[K", prefix, colon, line);
        p->drawn = true;
    } else {
        ui_progress_line(line, sizeof line, &state);
        (void)fprintf(p->stream, "%s%s%s\n", prefix, colon, line);
    }
    (void)fflush(p->stream);
}

/* The rate of the last seconds. The weight of a sample falls exponentially with its age, so that bursts and pauses
 * have little effect and are soon forgotten. */
struct rate {
    double value, at_s;
    uint64_t done;
    bool any;
};

static void rate_update(struct rate *r, double at_s, uint64_t done) {
    const double memory_s = 4;
    double dt = at_s - r->at_s;
    if (dt < 0.05) {
        return;
    }
    double now = (double)(done - r->done) / dt;
    if (!r->any) {
        r->value = now;
        r->any = done > 0;
    } else {
        r->value += (1 - exp(-dt / memory_s)) * (now - r->value);
    }
    r->at_s = at_s;
    r->done = done;
}

static void *run(void *arg) {
    struct ui_progress *p = arg;
    struct rate rate = {.at_s = p->start_s};
    /* The time between two lines grows up to longest_s. The time between two samples of the rate stays sample_s. */
    const double sample_s = p->bar ? p->interval_s : fmin(p->interval_s, 1),
                 longest_s = fmax(60, p->interval_s);
    double distance_s = p->interval_s, next_line_s = p->start_s + distance_s, next_s = p->start_s;
    (void)pthread_mutex_lock(&p->lock);
    while (!p->stopping) {
        next_s += sample_s;
        double now = now_s();
        if (next_s < now) { /* the machine or the terminal was paused: skip the missed drawings */
            next_s = now + sample_s;
        }
        struct timespec until = {.tv_sec = (time_t)next_s};
        until.tv_nsec = (long)((next_s - (double)until.tv_sec) * 1e9);
        int rc = 0;
        while (!p->stopping && rc == 0) {
            rc = pthread_cond_timedwait(&p->wake, &p->lock, &until);
        }
        if (p->stopping) {
            break;
        }
        now = now_s();
        count_reads(p);
        rate_update(&rate, now, atomic_load_explicit(&p->done, memory_order_relaxed));
        double shown = rate.any ? rate.value : -1;
        if (p->bar) {
            draw(p, shown);
        } else if (now >= next_line_s) {
            draw(p, shown);
            distance_s = fmin(distance_s * 1.5, longest_s);
            next_line_s = now + distance_s;
        }
    }
    (void)pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* ---- public functions ---- */

/* Starts the thread with all signals blocked: a signal handler must not run in the thread while it holds the
 * lock. */
static bool start_thread(struct ui_progress *p) {
    sigset_t all, before;
    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) {
        return false;
    }
    int rc = pthread_create(&p->thread, NULL, run, p);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc == 0;
}

hpcw_status ui_progress_start(const struct ui_progress_options *options, struct ui_progress **out,
                              hpcw_error *err) {
    *out = NULL;
    uint64_t read_before = 0;
    if (options->mode == UI_PROGRESS_QUIET || (options->reads && !read_bytes(&read_before))) {
        return HPCW_OK;
    }
    struct ui_progress *p = hpcw_i_calloc(1, sizeof *p);
    if (p == NULL) {
        return hpcw_i_fail_memory(err, "progress display", 0, NULL);
    }
    atomic_init(&p->done, 0);
    p->stream = options->stream == NULL ? stderr : options->stream;
    p->prefix = options->prefix;
    p->total = options->total;
    p->width = options->width;
    p->share = options->share;
    p->reads = options->reads;
    p->read_before = read_before;
    p->bar = options->mode == UI_PROGRESS_BAR ||
             (options->mode == UI_PROGRESS_AUTO && ui_text_is_terminal(p->stream));
    p->interval_s = options->interval_s > 0 ? options->interval_s : p->bar ? 0.1 : 5;
    p->start_s = now_s();

    pthread_condattr_t attr;
    (void)pthread_mutex_init(&p->lock, NULL);
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&p->wake, &attr);
    (void)pthread_condattr_destroy(&attr);
    p->running = start_thread(p);
    *out = p;
    return HPCW_OK;
}

void ui_progress_add(struct ui_progress *p, uint64_t bytes) {
    if (p != NULL) {
        (void)atomic_fetch_add_explicit(&p->done, bytes, memory_order_relaxed);
    }
}

uint64_t ui_progress_done(const struct ui_progress *p) {
    return p == NULL ? 0 : atomic_load_explicit(&p->done, memory_order_relaxed);
}

void ui_progress_label(struct ui_progress *p, const char *label) {
    if (p == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&p->lock);
    (void)snprintf(p->label, sizeof p->label, "%s", label == NULL ? "" : label);
    (void)pthread_mutex_unlock(&p->lock);
}

void ui_progress_stop(struct ui_progress *p) {
    if (p == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&p->lock);
    p->stopping = true;
    (void)pthread_cond_signal(&p->wake);
    (void)pthread_mutex_unlock(&p->lock);
    if (p->running) {
        (void)pthread_join(p->thread, NULL);
    }
    clear(p);
    (void)fflush(p->stream);
    (void)pthread_cond_destroy(&p->wake);
    (void)pthread_mutex_destroy(&p->lock);
    hpcw_i_free(p);
}
