/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen/export/clog2.h"

#include "gen/export/clog2_rows.h"
#include "gen/export/log.h"
#include "gen/export/otf2.h"
#include "gen/export/text.h"
#include "gen/spec/stream.h"
#include "libwriter/base/numfmt.h"
#include "libwriter/base/status.h"

enum { PIECE = 1 << 20 };

struct export {
    const struct gen_export *what;
    struct gen_log *log;
    struct gen_stream out;
    bool any; /* the JSON has an entry, so that a comma comes before the next */
    struct gen_exported done;
};

/* ---- text ---- */

static bool add(struct export *x, const char *text) {
    return hpcw_i_buf_append_str(&x->out.buf, text);
}

/* Appends nanoseconds as microseconds with three decimals. */
static bool add_us(struct export *x, uint64_t ns) {
    char digits[HPCW_I_FMT_ROOM];
    char *end = hpcw_i_fmt_u64_width(digits, ns % 1000, 3);
    return gen_export_u64(&x->out.buf, ns / 1000) && add(x, ".") &&
           hpcw_i_buf_append(&x->out.buf, digits, (size_t)(end - digits));
}

/* ---- entries ---- */

static bool put_chrome(struct export *x, const struct gen_log_entry *e) {
    const char letter[2] = {e->letter, '\0'};
    bool flow = e->letter == 's' || e->letter == 'f';
    bool ok = add(x, x->any ? ",\n{\"ph\":\"" : "{\"ph\":\"") && add(x, letter) && add(x, "\",\"ts\":") &&
              add_us(x, e->ns) && add(x, ",\"pid\":") && gen_export_u64(&x->out.buf, (uint64_t)e->rank) &&
              add(x, ",\"tid\":") && gen_export_u64(&x->out.buf, (uint64_t)e->thread) &&
              add(x, ",\"name\":\"") && add(x, e->name) && add(x, "\"");
    if (e->letter == 'i') {
        ok = ok && add(x, ",\"s\":\"t\"");
    }
    if (flow) {
        ok = ok && add(x, ",\"cat\":\"message\",\"id\":\"") && gen_export_u64(&x->out.buf, e->number) &&
             add(x, e->letter == 'f' ? "\",\"bp\":\"e\"" : "\"") && add(x, ",\"args\":{\"tag\":") &&
             gen_export_u64(&x->out.buf, (uint64_t)e->tag) && add(x, ",\"bytes\":") &&
             gen_export_u64(&x->out.buf, e->bytes) && add(x, "}");
    }
    return ok && add(x, "}");
}

static bool put_csv(struct export *x, const struct gen_log_entry *e) {
    static const struct {
        char letter;
        const char *what;
    } word[] = {{'B', "begin"}, {'E', "end"}, {'i', "event"}, {'s', "send"}, {'f', "receive"}};
    char seconds[HPCW_I_FMT_ROOM];
    *hpcw_i_fmt_seconds(seconds, e->ns) = '\0';
    const char *what = "";
    for (size_t i = 0; i < sizeof word / sizeof word[0]; i++) {
        what = word[i].letter == e->letter ? word[i].what : what;
    }
    bool ok = add(x, seconds) && add(x, ",") && gen_export_u64(&x->out.buf, (uint64_t)e->rank) && add(x, ",") &&
              gen_export_u64(&x->out.buf, (uint64_t)e->thread) && add(x, ",") && add(x, what) &&
              add(x, ",\"") && add(x, e->name) && add(x, "\",");
    if (e->letter == 's' || e->letter == 'f') {
        return ok && gen_export_u64(&x->out.buf, (uint64_t)e->peer) && add(x, ",") &&
               gen_export_u64(&x->out.buf, (uint64_t)e->tag) && add(x, ",") &&
               gen_export_u64(&x->out.buf, e->bytes) && add(x, "\n");
    }
    return ok && add(x, ",,\n");
}

static hpcw_status put(void *context, const struct gen_log_entry *e, hpcw_error *err) {
    struct export *x = context;
    bool ok = x->what->form == GEN_EXPORT_CSV ? put_csv(x, e) : put_chrome(x, e);
    x->any = true;
    x->done.count++;
    return ok ? gen_stream_flush(&x->out, PIECE, err) : gen_export_no_memory(err);
}

/* Adds the names of the ranks, which Chrome shows as processes. */
static hpcw_status put_ranks(struct export *x, hpcw_error *err) {
    size_t count;
    const uint32_t *present = gen_log_present(x->log, &count);
    hpcw_status s = HPCW_OK;
    for (size_t i = 0; s == HPCW_OK && i < count; i++) {
        const uint32_t r = present[i];
        if (r < x->what->first_rank || r > x->what->last_rank) {
            continue;
        }
        bool ok = add(x, x->any ? ",\n" : "") && add(x, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":") &&
                  gen_export_u64(&x->out.buf, r) && add(x, ",\"args\":{\"name\":\"rank ") &&
                  gen_export_u64(&x->out.buf, r) && add(x, "\"}}");
        x->any = true;
        s = ok ? gen_stream_flush(&x->out, PIECE, err) : gen_export_no_memory(err);
    }
    return s;
}

static hpcw_status run(struct export *x, hpcw_error *err) {
    bool csv = x->what->form == GEN_EXPORT_CSV;
    hpcw_status s = HPCW_OK;
    if (!add(x, csv ? "time_s,rank,thread,what,name,peer,tag,bytes\n"
                    : "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n")) {
        s = gen_export_no_memory(err);
    }
    if (s == HPCW_OK && !csv) {
        s = put_ranks(x, err);
    }
    s = s == HPCW_OK ? gen_log_run(x->log, x->what, true, put, x, err) : s;
    if (s == HPCW_OK && !csv && !add(x, "\n]}\n")) {
        s = gen_export_no_memory(err);
    }
    s = s == HPCW_OK ? gen_stream_flush(&x->out, 0, err) : s;
    gen_log_warn(x->log, &x->done.warning);
    x->done.bytes = x->out.at;
    return s;
}

static hpcw_status export_log(const char *path, const struct gen_export *what, hpcw_sink *sink,
                              struct gen_exported *done, hpcw_error *err) {
    if (what->form != GEN_EXPORT_CHROME && what->form != GEN_EXPORT_CSV) {
        return gen_export_clog2_rows(path, what, sink, done, err);
    }
    struct export x = {.what = what, .done = {.items = "events"}, .out = {.sink = sink}};
    *done = x.done;
    hpcw_status s = gen_log_open(path, &x.log, err);
    s = s == HPCW_OK ? run(&x, err) : s;
    *done = x.done;
    gen_log_free(x.log);
    hpcw_i_buf_free(&x.out.buf);
    return s;
}

const struct gen_exporter gen_export_clog2 = {
    .offer = {{GEN_EXPORT_CHROME, GEN_EXPORT_CSV, GEN_EXPORT_OTF2, GEN_EXPORT_STATES, GEN_EXPORT_MESSAGES,
               GEN_EXPORT_NPZ},
              {"from", "to", "first-rank", "last-rank"}},
    .run = export_log,
    .directory_form = GEN_EXPORT_OTF2,
    .directory = gen_export_otf2,
};
