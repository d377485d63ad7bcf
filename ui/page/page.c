/* SPDX-License-Identifier: BSD-3-Clause */
/* Text and tables of a page, and its head and end. */
#include "ui/page/page.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <hpcw/version.h>

#include "libwriter/base/mem.h"
#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"
#include "libwriter/io/sink.h"
#include "ui/page/private.h"

const char *const ui_page_unit_name[] = {
    [UI_PAGE_PLAIN] = "plain", [UI_PAGE_COUNT] = "count",     [UI_PAGE_BYTES] = "bytes",
    [UI_PAGE_RATE] = "rate",   [UI_PAGE_SECONDS] = "seconds", [UI_PAGE_SHARE] = "share",
};

/* ---- Numbers for people ---- */

/* Prints a number with `n` significant digits, but with all digits before the point. */
static int digits(char *text, size_t size, double v, int n) {
    return fabs(v) >= pow(10, n) ? snprintf(text, size, "%.0f", v) : snprintf(text, size, "%.*g", n, v);
}

/* Prints a number in the largest unit in which it is at least 1. */
static void scaled(char *text, size_t size, double v, double base, const char *const *unit, size_t units) {
    size_t i = 0;
    while (i + 1 < units && fabs(v) >= base * 0.9995) {
        v /= base;
        i++;
    }
    const int n = digits(text, size, v, 3);
    (void)snprintf(text + n, size - (size_t)n, " %s", unit[i]);
}

/* Rounds a number as charts.js does, so that terminal and page show the same. */
static void round_number(char *text, size_t size, enum ui_page_unit unit, double v) {
    static const char *const bytes[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    static const char *const rate[] = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
    static const char *const seconds[] = {"ns", "\xc2\xb5s", "ms", "s"};
    switch (unit) {
    case UI_PAGE_COUNT:
        (void)snprintf(text, size, "%.0f", v);
        break;
    case UI_PAGE_BYTES:
        scaled(text, size, v, 1024, bytes, sizeof bytes / sizeof bytes[0]);
        break;
    case UI_PAGE_RATE:
        scaled(text, size, v, 1000, rate, sizeof rate / sizeof rate[0]);
        break;
    case UI_PAGE_SECONDS:
        scaled(text, size, v * 1e9, 1000, seconds, sizeof seconds / sizeof seconds[0]);
        break;
    case UI_PAGE_SHARE: {
        const int n = digits(text, size, v * 100, 3);
        (void)snprintf(text + n, size - (size_t)n, " %%");
        break;
    }
    default:
        (void)digits(text, size, v, 4);
        break;
    }
}

/* ---- Output ---- */

static void fail(struct ui_page *page, hpcw_status s, const char *what) {
    if (page->status == HPCW_OK) {
        page->status = hpcw_i_fail(&page->error, s, "%s", what);
    }
}

void ui_page_fail_memory(struct ui_page *page) {
    fail(page, HPCW_ENOMEM, "report: out of memory");
}

static void hand_on(struct ui_page *page) {
    if (page->status == HPCW_OK && page->out.size > 0) {
        page->status =
            hpcw_sink_write_at(page->sink, page->offset, page->out.data, page->out.size, &page->error);
        page->offset += page->out.size;
    }
    page->out.size = 0;
}

void ui_page_bytes(struct ui_page *page, const void *data, size_t size) {
    if (page->status != HPCW_OK) {
        return;
    }
    if (!hpcw_i_buf_append(&page->out, data, size)) {
        ui_page_fail_memory(page);
    }
}

void ui_page_raw(struct ui_page *page, const char *markup) {
    ui_page_bytes(page, markup, strlen(markup));
}

static void put_file(struct ui_page *page, const char *name) {
    for (size_t i = 0; i < ui_page_files; i++) {
        if (strcmp(ui_page_file[i].name, name) == 0) {
            ui_page_bytes(page, ui_page_file[i].data, ui_page_file[i].size);
            return;
        }
    }
    fail(page, HPCW_EINTERNAL, "report: this program lacks an embedded file");
}

/* Returns the markup that replaces a character; NULL: the character itself. */
static const char *markup_of(unsigned char c, bool utf8) {
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    default:
        return (c >= 0x80 && !utf8) || (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f ? "\xef\xbf\xbd"
                                                                                         : NULL;
    }
}

/* Adds text to `said`, the findings for the terminal, if the open element is a finding. */
static void say(struct ui_page *page, const void *text, size_t size) {
    if (page->aside == &page->findings && !hpcw_i_buf_append(&page->said, text, size)) {
        ui_page_fail_memory(page);
    }
}

static void escape(struct ui_page *page, const char *text, size_t size) {
    bool utf8 = hpcw_i_json_is_utf8(text, size);
    for (size_t i = 0; i < size; i++) {
        const char *markup = markup_of((unsigned char)text[i], utf8);
        ui_page_bytes(page, markup == NULL ? &text[i] : markup, markup == NULL ? 1 : strlen(markup));
    }
}

void ui_page_escaped(struct ui_page *page, const char *text) {
    escape(page, text, strlen(text));
}

void ui_page_json(struct ui_page *page, const char *json, size_t size) {
    /* A '<' occurs only in strings of the JSON, so it can be escaped. Then the text has neither "</script" nor
     * "<!--", which would end the script. */
    for (const char *end = json + size; json < end;) {
        const char *angle = memchr(json, '<', (size_t)(end - json));
        const char *stop = angle == NULL ? end : angle;
        ui_page_bytes(page, json, (size_t)(stop - json));
        if (angle == NULL) {
            break;
        }
        ui_page_raw(page, "\\u003c");
        json = angle + 1;
    }
}

/* ---- Elements ---- */

void ui_page_open_element(struct ui_page *page, const char *opening, const char *closing) {
    if (page->depth == UI_PAGE_DEPTH) {
        fail(page, HPCW_ESTATE, "report: elements are nested too deeply");
        return;
    }
    ui_page_raw(page, opening);
    page->closing[page->depth++] = closing;
}

static void swap(struct hpcw_i_buf *a, struct hpcw_i_buf *b) {
    struct hpcw_i_buf old = *a;
    *a = *b;
    *b = old;
}

void ui_page_end(struct ui_page *page) {
    if (page->depth == 0) {
        fail(page, HPCW_ESTATE, "report: end of an element that was not begun");
        return;
    }
    ui_page_raw(page, page->closing[--page->depth]);
    if (page->depth == 0 && page->aside != NULL) {
        say(page, "\n", 1);
        swap(&page->out, page->aside);
        page->aside = NULL;
    }
}

void ui_page_begin(struct ui_page *page, enum ui_page_element element) {
    static const struct {
        const char *opening, *closing;
    } tag[] = {
        [UI_PAGE_PARAGRAPH] = {"<p>", "</p>\n"},
        [UI_PAGE_NOTE] = {"<p class=\"note\">", "</p>\n"},
        [UI_PAGE_LIST] = {"<ul>\n", "</ul>\n"},
        [UI_PAGE_ITEM] = {"<li>", "</li>\n"},
        [UI_PAGE_FACTS] = {"<table class=\"facts\">\n", "</table>\n"},
    };
    ui_page_open_element(page, tag[element].opening, tag[element].closing);
}

void ui_page_heading(struct ui_page *page, const char *text) {
    if (page->depth > 0) {
        fail(page, HPCW_ESTATE, "report: heading inside another element");
    }
    char id[32];
    (void)snprintf(id, sizeof id, "section-%u", ++page->sections);
    (void)snprintf(page->heading, sizeof page->heading, "%s", text);
    ui_page_raw(page, page->sections > 1 ? "</section>\n<section>\n<h2 id=\"" : "<section>\n<h2 id=\"");
    ui_page_raw(page, id);
    ui_page_raw(page, "\">");
    ui_page_escaped(page, text);
    ui_page_raw(page, "</h2>\n");
    swap(&page->out, &page->contents);
    ui_page_raw(page, "<li>");
    ui_page_link(page, id, text);
    ui_page_raw(page, "</li>\n");
    swap(&page->out, &page->contents);
}

static void begin_aside(struct ui_page *page, struct hpcw_i_buf *aside, const char *opening,
                        const char *closing) {
    if (page->depth > 0) {
        fail(page, HPCW_ESTATE, "report: finding inside another element");
    }
    swap(&page->out, aside);
    page->aside = aside;
    ui_page_open_element(page, opening, closing);
}

void ui_page_about(struct ui_page *page) {
    begin_aside(page, &page->about, "<div class=\"about\">\n", "</div>\n");
}

void ui_page_finding(struct ui_page *page) {
    begin_aside(page, &page->findings, "<p>", "</p>\n");
    if (page->sections > 0 && page->found != page->sections) {
        char id[32];
        (void)snprintf(id, sizeof id, "section-%u", page->sections);
        ui_page_link(page, id, page->heading);
        ui_page_text(page, ": ");
        page->found = page->sections;
    }
}

const char *ui_page_said(struct ui_page *page) {
    if (!hpcw_i_buf_append(&page->said, "", 1)) {
        return "";
    }
    page->said.size--; /* the next finding overwrites the NUL */
    return (const char *)page->said.data;
}

static void HPCW_PRINTF(2, 0) put_text(struct ui_page *page, const char *fmt, va_list args) {
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    page->scratch.size = 0;
    if (n < 0 || !hpcw_i_buf_reserve(&page->scratch, (size_t)n + 1)) {
        fail(page, n < 0 ? HPCW_EINTERNAL : HPCW_ENOMEM,
             n < 0 ? "report: cannot format a text" : "report: out of memory");
    } else {
        (void)vsnprintf((char *)page->scratch.data, (size_t)n + 1, fmt, again);
        escape(page, (const char *)page->scratch.data, (size_t)n);
        say(page, page->scratch.data, (size_t)n);
    }
    va_end(again);
}

void ui_page_text(struct ui_page *page, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    put_text(page, fmt, args);
    va_end(args);
}

void ui_page_number(struct ui_page *page, enum ui_page_unit unit, double value) {
    if (!isfinite(value)) {
        ui_page_raw(page, "\xe2\x80\x93");
        say(page, "-", 1);
        return;
    }
    char text[HPCW_I_FMT_ROOM + 1];
    char rounded[64];
    round_number(rounded, sizeof rounded, unit, value);
    say(page, rounded, strlen(rounded));
    /* Print -0 as 0. It comes from ceil(-0.5), as the first cell of an axis begins at -0.5. */
    *hpcw_i_fmt_f64(text, value == 0 ? 0 : value, HPCW_I_FLOAT_COMPACT) = '\0';
    ui_page_raw(page, "<data class=\"");
    ui_page_raw(page, ui_page_unit_name[unit]);
    ui_page_raw(page, "\" value=\"");
    ui_page_raw(page, text);
    ui_page_raw(page, "\">");
    ui_page_raw(page, rounded);
    ui_page_raw(page, "</data>");
}

void ui_page_link(struct ui_page *page, const char *id, const char *text) {
    ui_page_raw(page, "<a href=\"#");
    ui_page_escaped(page, id);
    ui_page_raw(page, "\">");
    ui_page_escaped(page, text);
    ui_page_raw(page, "</a>");
    say(page, text, strlen(text));
}

void ui_page_fact(struct ui_page *page, const char *name) {
    ui_page_raw(page, "<tr><th scope=\"row\">");
    ui_page_escaped(page, name);
    ui_page_open_element(page, "</th><td>", "</td></tr>\n");
}

/* ---- Tables ---- */

void ui_page_badge(struct ui_page *page, enum ui_page_origin origin) {
    static const char *const badge[] = {
        [UI_PAGE_MEASURED] = " <span class=\"badge measured\">measured</span> ",
        [UI_PAGE_COUNTED] = " <span class=\"badge counted\">counted, not measured</span> ",
        [UI_PAGE_READ] = " <span class=\"badge read\">from the files</span> ",
    };
    ui_page_raw(page, badge[origin]);
}

void ui_page_table(struct ui_page *page, const char *caption, enum ui_page_origin origin, bool folded) {
    if (folded) {
        ui_page_raw(page, "<details><summary>");
        ui_page_escaped(page, caption);
        ui_page_raw(page, "</summary>\n");
    }
    ui_page_open_element(page, "<div class=\"wide\"><table>\n<caption>",
                         folded ? "</table></div></details>\n" : "</table></div>\n");
    if (!folded) {
        ui_page_escaped(page, caption);
    }
    ui_page_badge(page, origin);
    ui_page_raw(page, "</caption>\n");
}

void ui_page_columns(struct ui_page *page, const char *const *title) {
    ui_page_raw(page, "<tr>");
    for (; *title != NULL; title++) {
        ui_page_raw(page, "<th scope=\"col\">");
        ui_page_escaped(page, *title);
        ui_page_raw(page, "</th>");
    }
    ui_page_raw(page, "</tr>\n");
}

void ui_page_row(struct ui_page *page, const char *id, bool dim) {
    ui_page_raw(page, "<tr");
    if (id != NULL) {
        ui_page_raw(page, " id=\"");
        ui_page_escaped(page, id);
        ui_page_raw(page, "\"");
    }
    ui_page_open_element(page, dim ? " class=\"dim\">" : ">", "</tr>\n");
}

void ui_page_cell(struct ui_page *page) {
    ui_page_open_element(page, "<td>", "</td>");
}

void ui_page_text_cell(struct ui_page *page, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    ui_page_raw(page, "<td>");
    put_text(page, fmt, args);
    ui_page_raw(page, "</td>");
    va_end(args);
}

void ui_page_number_cell(struct ui_page *page, enum ui_page_unit unit, double value) {
    ui_page_raw(page, "<td class=\"number\">");
    ui_page_number(page, unit, value);
    ui_page_raw(page, "</td>");
}

/* ---- The whole page ---- */

hpcw_status ui_page_available(hpcw_error *err) {
    for (size_t i = 0; i < ui_page_files; i++) {
        if (strcmp(ui_page_file[i].name, UI_PAGE_LIBRARY) == 0) {
            return HPCW_OK;
        }
    }
    return hpcw_i_fail(err, HPCW_ENOTSUP,
                       "reports: expected a build with Chart.js, got one without: install libjs-chart.js and "
                       "configure again (meson setup --wipe)");
}

static void put_head(struct ui_page *page, const char *title) {
    /* The page needs no network. This line forbids any use of it, except for scripts beside the page. */
    ui_page_raw(page,
                "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
                "style-src 'unsafe-inline'; script-src 'unsafe-inline' file: 'self'\">\n"
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                "<meta name=\"color-scheme\" content=\"light dark\">\n"
                "<meta name=\"generator\" content=\"hpcw ");
    ui_page_escaped(page, hpcw_version());
    ui_page_raw(page, "\">\n<link rel=\"icon\" href=\"data:,\">\n<title>");
    ui_page_escaped(page, title);
    ui_page_raw(page, "</title>\n<style>\n");
    put_file(page, "style.css");
    ui_page_raw(page, "</style>\n</head>\n<body>\n<main>\n<h1>");
    ui_page_escaped(page, title);
    ui_page_raw(page,
                "</h1>\n<noscript><p class=\"note\">The charts need JavaScript, which is off. The table below "
                "each chart has all its figures.</p></noscript>\n"
                "<p class=\"note\" id=\"trouble\" hidden></p>\n");
}

static void put_tail(struct ui_page *page) {
    ui_page_raw(page, page->sections > 0 ? "</section>\n</main>\n<footer>\n<p>Written by hpcw "
                                         : "</main>\n<footer>\n<p>Written by hpcw ");
    ui_page_escaped(page, hpcw_version());
    ui_page_raw(page, ". Chart.js, which is part of this file, draws the charts. Its licence:</p>\n"
                      "<details><summary>Licence of Chart.js</summary>\n<pre id=\"licence\">");
    for (size_t i = 0; i < ui_page_files; i++) {
        if (strcmp(ui_page_file[i].name, UI_PAGE_LICENCE) == 0) {
            escape(page, (const char *)ui_page_file[i].data, ui_page_file[i].size);
        }
    }
    ui_page_raw(page, "</pre></details>\n</footer>\n<script>\n");
    put_file(page, UI_PAGE_LIBRARY);
    ui_page_raw(page, "\n</script>\n<script>\n");
    if (page->timelines > 0) {
        put_file(page, "timeline.js");
        ui_page_raw(page, "</script>\n<script>\n");
    }
    put_file(page, "charts.js");
    ui_page_raw(page, "</script>\n</body>\n</html>\n");
}

hpcw_status ui_page_open(const hpcw_sink_source *source, const char *path, const char *title,
                         struct ui_page **out, hpcw_error *err) {
    hpcw_sink *sink;
    *out = NULL;
    hpcw_status s = ui_page_available(err);
    s = s == HPCW_OK ? hpcw_i_sink_open(source, NULL, path, 0, true, HPCW_SYNC_NONE, &sink, err) : s;
    return s == HPCW_OK ? ui_page_open_sink(sink, title, out, err) : s;
}

hpcw_status ui_page_open_sink(hpcw_sink *sink, const char *title, struct ui_page **out, hpcw_error *err) {
    hpcw_status s = ui_page_available(err);
    struct ui_page *page = s == HPCW_OK ? hpcw_i_calloc(1, sizeof *page) : NULL;
    *out = page;
    if (page == NULL) {
        hpcw_sink_free(sink);
        return s == HPCW_OK ? hpcw_i_fail_memory(err, "report", 0, NULL) : s;
    }
    page->sink = sink;
    put_head(page, title);
    hand_on(page);
    return HPCW_OK;
}

/* Writes the elements above the sections. They are complete only when the page ends, so they are kept in
 * buffers. */
static void put_top(struct ui_page *page) {
    struct hpcw_i_buf rest = page->out;
    page->out = (struct hpcw_i_buf){0};
    ui_page_bytes(page, page->about.data, page->about.size);
    if (page->findings.size > 0) {
        ui_page_raw(page, "<div class=\"findings\">\n");
        ui_page_bytes(page, page->findings.data, page->findings.size);
        ui_page_raw(page, "</div>\n");
    }
    if (page->sections > 1) {
        ui_page_raw(page, "<nav aria-label=\"Contents\"><ol>\n");
        ui_page_bytes(page, page->contents.data, page->contents.size);
        ui_page_raw(page, "</ol></nav>\n");
    }
    hand_on(page);
    hpcw_i_buf_free(&page->out);
    page->out = rest;
}

hpcw_status ui_page_settle(struct ui_page *page, hpcw_error *err) {
    if (page->depth > 0) {
        fail(page, HPCW_ESTATE, "report: an element was not ended");
    }
    put_tail(page);
    put_top(page);
    hand_on(page);
    if (page->status == HPCW_OK) {
        page->status = hpcw_i_sink_settle(page->sink, &page->error);
    }
    page->settled = true;
    if (page->status != HPCW_OK && err != NULL) {
        *err = page->error;
    }
    return page->status;
}

hpcw_status ui_page_finish(struct ui_page *page, hpcw_error *err) {
    if (!page->settled && ui_page_settle(page, err) != HPCW_OK) {
        return page->status;
    }
    if (page->status == HPCW_OK) {
        page->status = hpcw_sink_publish(page->sink, &page->error);
    }
    if (page->status != HPCW_OK && err != NULL) {
        *err = page->error;
    }
    return page->status;
}

void ui_page_free(struct ui_page *page) {
    if (page != NULL) {
        hpcw_sink_free(page->sink);
        hpcw_i_buf_free(&page->out);
        hpcw_i_buf_free(&page->about);
        hpcw_i_buf_free(&page->findings);
        hpcw_i_buf_free(&page->said);
        hpcw_i_buf_free(&page->contents);
        hpcw_i_buf_free(&page->scratch);
        hpcw_i_free(page);
    }
}
