/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints results: as JSON, as indented lines, or as a summary. */
#include <stdio.h>

#include "gen/cli/common/common.h"
#include "libwriter/base/status.h"

/* Prints a JSON string without its quotes, or a number or word. Returns the end of the value. */
static const char *print_scalar(const char *p) {
    const char *end = gen_cli_end_of_scalar(p);
    bool quoted = *p == '"';
    (void)printf("%.*s", (int)(end - p) - 2 * quoted, p + quoted);
    return end;
}

/* Returns whether an object contains no objects or arrays. Such an object is printed on one line. */
static bool is_record(const char *p) {
    while (*++p != '}') {
        if (*p == '{' || *p == '[') {
            return false;
        }
        if (*p == '"') {
            p = gen_cli_end_of_scalar(p) - 1;
        }
    }
    return true;
}

static const char *print_record(const char *p) {
    while (*p++ != '}') {
        (void)printf(" ");
        p = print_scalar(p); /* the key */
        (void)printf("=");
        p = print_scalar(p + 1);
    }
    (void)printf("\n");
    return p;
}

/*
 * Prints the JSON of a result as indented lines. `p` is at an opening bracket in JSON that struct hpcw_i_json
 * wrote; returns what follows the closing bracket. A JSON parser would keep numbers as doubles, which cannot
 * hold all digits of a seed. Strings stay escaped, since they can come from any file.
 */
static const char *print_members(const char *p, unsigned depth) {
    bool in_array = *p == '[';
    if (p[1] == ']' || p[1] == '}') {
        return p + 2;
    }
    do {
        p++;
        (void)printf("%*s", (int)(2 * depth), "");
        if (in_array) {
            (void)printf("-");
        } else {
            p = print_scalar(p);
            (void)printf(":");
            p++;
        }
        if (in_array && *p == '{' && p[1] != '}' && is_record(p)) {
            p = print_record(p);
        } else if (*p == '{' || *p == '[') {
            (void)printf("\n");
            p = print_members(p, depth + 1);
        } else {
            (void)printf(" ");
            p = print_scalar(p);
            (void)printf("\n");
        }
    } while (*p == ',');
    return p + 1;
}

void gen_cli_result_begin(struct gen_cli_result *r, bool as_json) {
    r->text = (struct hpcw_i_buf){0};
    r->as_json = as_json;
    r->as_summary = false;
    hpcw_i_json_open_buf(&r->json, &r->text,
                         &(struct hpcw_i_json_options){.indent = as_json, .replace_bad_utf8 = true});
    hpcw_i_json_begin_object(&r->json);
}

hpcw_status gen_cli_result_print(struct gen_cli_result *r, hpcw_status s, hpcw_error *err) {
    hpcw_i_json_end_object(&r->json);
    hpcw_status ended = hpcw_i_json_finish(&r->json, s == HPCW_OK ? err : NULL);
    s = s == HPCW_OK ? ended : s;
    if (s == HPCW_OK && r->as_json) {
        (void)fwrite(r->text.data, 1, r->text.size, stdout);
    } else if (s == HPCW_OK && r->as_summary) {
        s = hpcw_i_buf_append(&r->text, "", 1) ? gen_cli_print_summary((const char *)r->text.data, stdout, err)
                                               : hpcw_i_fail_memory(err, "summary", 0, NULL);
    } else if (s == HPCW_OK) {
        (void)print_members((const char *)r->text.data, 0);
    }
    hpcw_i_buf_free(&r->text);
    return s;
}

void gen_cli_warn(const hpcw_error *warning) {
    if (warning->code != HPCW_OK) {
        (void)fprintf(stderr, "hpcgen: %s\n", warning->message);
    }
}

const char *gen_cli_printable(const char *path, hpcw_error *room) {
    (void)hpcw_i_fail(room, HPCW_OK, "%s", path);
    return room->message;
}
