/* SPDX-License-Identifier: BSD-3-Clause */
/* The program: starts MPI if a launcher started it, reads the command line, calls the subcommand. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/cli/commands.h"
#include "gen/cli/common/launch.h"
#include "gen/cli/common/stop.h"
#include "gen/format/format.h"
#include "gen/spec/dataset.h"
#include "gen/spec/pool.h"
#include "libwriter/base/buf.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* Returns whether an error means that the command line asks for something impossible, not that the system
 * failed or that an input is damaged. */
static bool wrong_usage(const hpcw_error *err, size_t command) {
    bool describes = command == GEN_CLI_GENERATE || command == GEN_CLI_PLAN || command == GEN_CLI_LIST ||
                     command == GEN_CLI_SCR;
    return describes && err->sys_errno == 0 &&
           (err->code == HPCW_EINVAL || err->code == HPCW_ERANGE || err->code == HPCW_EMISMATCH);
}

/* Writes the values of --formats and --set as they look on a command line. They are two strings in `buf`, each
 * with its NUL; the second string begins at *set_at. */
static bool print_lists(const struct gen_cli_options *o, struct hpcw_i_buf *buf, size_t *set_at) {
    bool good = true;
    for (size_t f = 0; f < gen_format_count; f++) {
        if (o->formats >> f & 1) {
            good = good && (buf->size == 0 || hpcw_i_buf_append_str(buf, ","));
            good = good && hpcw_i_buf_append_str(buf, gen_format[f]->name);
        }
    }
    good = good && hpcw_i_buf_append(buf, "", 1);
    *set_at = buf->size;
    for (size_t i = 0; i < o->set.count; i++) {
        good = good && (i == 0 || hpcw_i_buf_append_str(buf, " "));
        good = good && hpcw_i_buf_append_str(buf, o->set.items[i].key) && hpcw_i_buf_append_str(buf, "=") &&
               hpcw_i_buf_append_str(buf, o->set.items[i].value);
    }
    return good && hpcw_i_buf_append(buf, "", 1);
}

/*
 * Checks that all processes have the same command line. Otherwise they could call different collectives and hang.
 * Only the number of threads and the options of what to print may differ. Collective.
 */
static hpcw_status agree_on_options(const struct gen_cli_options *o, const struct ui_parse *parse,
                                    hpcw_comm *comm, hpcw_status s, hpcw_error *err) {
    static const char no_yes[] = "no yes";
    struct hpcw_i_buf lists = {0};
    size_t set_at = 0;
    char part[32];
    (void)snprintf(part, sizeof part, "%" PRIu32 "/%" PRIu32, o->part.index + 1, o->part.count);
    if (s == HPCW_OK && !print_lists(o, &lists, &set_at)) {
        s = hpcw_i_fail_memory(err, "command line", 0, NULL);
    }
    const char *formats = s == HPCW_OK ? (const char *)lists.data : NULL;
    const struct hpcw_i_same same[] = {
        {.name = "command", .text = gen_cli_program.commands[parse->command].name},
        {.name = "question",
         .number = parse->answer,
         .words = "none --help --version --help-man --help-completion"},
        {.name = "--ranks", .number = o->ranks},
        {.name = "--formats", .text = formats},
        {.name = "--seed", .number = o->seed},
        {.name = "--preset", .text = o->preset},
        {.name = "--scale", .text = gen_scale_name[o->scale]},
        {.name = "--workload", .text = o->workload.name},
        {.name = "--set or parameters of --config", .text = formats == NULL ? NULL : formats + set_at},
        {.name = "--blocksize", .number = o->layout.blocksize, .words = "auto"},
        {.name = "--files", .number = o->layout.files},
        {.name = "--out", .text = o->out},
        {.name = "--part", .text = part},
        {.name = "--resume", .number = o->resume, .words = no_yes},
        {.name = "--force", .number = o->force, .words = no_yes},
        {.name = "--takeover", .number = o->takeover, .words = no_yes},
        {.name = "--sync", .number = o->sync, .words = no_yes},
        {.name = "--checksums", .number = o->checksums, .words = no_yes},
        {.name = "--stripe-count", .number = o->stripes.count, .words = "default"},
        {.name = "--stripe-size", .number = o->stripes.bytes, .words = "default"},
    };
    s = hpcw_i_agree_same(comm, s, "command line", same, sizeof same / sizeof same[0], NULL, err);
    hpcw_i_buf_free(&lists);
    return s;
}

static hpcw_status run_command(struct gen_cli_options *o, struct ui_parse *parse,
                               const struct gen_cli_launch *launch, hpcw_error *err) {
    bool first = hpcw_comm_process(launch->comm) == 0;
    /* Paths and messages name the directory without slashes at its end. */
    for (size_t n = strlen(o->out); n > 1 && o->out[n - 1] == '/'; n--) {
        o->out[n - 1] = '\0';
    }
    if (o->jobs == 0) {
        uint32_t processors = gen_pool_processors() / launch->processes_per_node;
        o->jobs = processors == 0 ? 1 : processors;
    }
    hpcw_status s = first ? gen_cli_choose_stem(o, parse, err) : HPCW_OK;
    if (s != HPCW_OK) {
        return s;
    }
    /* Under a launcher no handler is installed: a launcher ends all processes by signals when one of them
     * fails, and the user did not press ^C. */
    if (!launch->mpi) {
        gen_cli_explain_stop(o, (enum gen_cli_command)parse->command);
    }
    switch ((enum gen_cli_command)parse->command) {
    case GEN_CLI_GENERATE:
        return gen_cli_generate(o, launch->comm, err);
    case GEN_CLI_PLAN:
        return gen_cli_plan(o, launch->comm, err);
    case GEN_CLI_VERIFY:
        return first ? gen_cli_verify(o, parse->args[0], err) : HPCW_OK;
    case GEN_CLI_INFO:
        return first ? gen_cli_info(o, parse->args[0], err) : HPCW_OK;
    case GEN_CLI_LIST:
        return first ? gen_cli_list(o, parse->arg_count > 0 ? parse->args[0] : NULL, err) : HPCW_OK;
    case GEN_CLI_JOIN:
        return first ? gen_cli_join(o, parse->args[0], err) : HPCW_OK;
    case GEN_CLI_REPAIR:
        return first ? gen_cli_repair(o, parse->args[0], err) : HPCW_OK;
    case GEN_CLI_EXPORT:
        return first ? gen_cli_export(o, parse, err) : HPCW_OK;
    case GEN_CLI_REWRITE:
        return first ? gen_cli_rewrite(o, parse, err) : HPCW_OK;
    case GEN_CLI_REPORT:
        return first ? gen_cli_report(o, parse->args[0], err) : HPCW_OK;
    case GEN_CLI_RECOVER:
        return first ? gen_cli_recover(o, parse->args, parse->arg_count, err) : HPCW_OK;
    case GEN_CLI_SCR:
        return first ? gen_cli_scr(o, parse->args, parse->arg_count, err) : HPCW_OK;
    case GEN_CLI_FIT:
        return first ? gen_cli_fit(o, parse->args, parse->arg_count, err) : HPCW_OK;
    case GEN_CLI_SCORE:
        return first ? gen_cli_score(o, parse->args[0], parse->args[1], err) : HPCW_OK;
    }
    return hpcw_i_fail(err, HPCW_EINTERNAL, "command: expected 0 to %d, got %zu", GEN_CLI_FIT, parse->command);
}

int main(int argc, char **argv) {
    /* While SIGXFSZ is ignored, write fails with EFBIG at the limit of the file size, so there is a message and
     * a cleanup. */
    (void)signal(SIGXFSZ, SIG_IGN);
    struct gen_cli_launch launch;
    struct gen_cli_options options = {0};
    struct ui_parse parse = {0};
    hpcw_error err = {.message = ""};
    int result = EXIT_SUCCESS;
    hpcw_status s = gen_cli_launch_begin(&launch, &argc, &argv, &err);
    bool first = hpcw_comm_process(launch.comm) == 0;
    bool reading = true;
    if (s == HPCW_OK) {
        s = gen_cli_options_read(&options, &parse, argc, argv, &err);
        s = agree_on_options(&options, &parse, launch.comm, s, &err);
    }
    if (s == HPCW_OK && parse.answer != UI_ANSWER_NONE) {
        if (first) {
            ui_options_answer(&parse, stdout);
        }
    } else if (s == HPCW_OK) {
        reading = false;
        s = run_command(&options, &parse, &launch, &err);
        s = hpcw_i_agree(launch.comm, s, NULL, &err);
    }
    if (s == HPCW_OK && (fflush(stdout) != 0 || ferror(stdout))) {
        s = hpcw_i_fail(&err, HPCW_EIO, "standard output: cannot write");
    }
    if (s != HPCW_OK) {
        if (first) {
            (void)fprintf(stderr, "hpcgen: %s\n", err.message);
        }
        result = reading || wrong_usage(&err, parse.command) ? EXIT_USAGE : EXIT_FAILED;
    }
    gen_cli_options_free(&options);
    gen_cli_launch_end(&launch);
    return result;
}
