/* SPDX-License-Identifier: BSD-3-Clause */
/* The program: reads the command line, joins MPI if it was started by it, and calls the subcommand. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/cli/commands.h"
#include "gen/cli/launch.h"
#include "gen/spec/pool.h"
#include "libwriter/base/status.h"
#include "libwriter/comm/agree.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* A refusal of what was asked for, and not a failure of the system or of a file that was read. */
static bool wrong_usage(const hpcw_error *err, size_t command) {
    bool describes = command == GEN_CLI_GENERATE || command == GEN_CLI_PLAN || command == GEN_CLI_LIST;
    return describes && err->sys_errno == 0 &&
           (err->code == HPCW_EINVAL || err->code == HPCW_ERANGE || err->code == HPCW_EMISMATCH);
}

/* Collective. Processes that were told different things would wait for each other in different places. */
static hpcw_status agree_on_options(const struct gen_cli_options *o, const struct ui_parse *parse,
                                    hpcw_comm *comm, hpcw_status s, hpcw_error *err) {
    uint64_t hash = s == HPCW_OK ? gen_cli_options_hash(o, parse->command + 8 * (size_t)parse->answer) : 0;
    uint64_t word[2] = {hash, ~hash}; /* the largest and the smallest, as two maxima */
    struct hpcw_i_words words = {.maxs = 2, .word = word};
    s = hpcw_i_agree(comm, s, &words, err);
    if (s == HPCW_OK && word[0] != ~word[1]) {
        s = hpcw_i_fail(err, HPCW_EMISMATCH,
                        "command line: wanted the same one for all processes of this run, got different ones");
    }
    return s;
}

static hpcw_status run_command(struct gen_cli_options *o, const struct ui_parse *parse,
                               const struct gen_cli_launch *launch, hpcw_error *err) {
    bool first = hpcw_comm_process(launch->comm) == 0;
    /* The directory is named in paths and messages: without the slashes behind it. */
    for (size_t n = strlen(o->out); n > 1 && o->out[n - 1] == '/'; n--) {
        o->out[n - 1] = '\0';
    }
    if (o->jobs == 0) {
        uint32_t processors = gen_pool_processors() / launch->processes_per_node;
        o->jobs = processors == 0 ? 1 : processors;
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
        return first ? gen_cli_list(o, err) : HPCW_OK;
    case GEN_CLI_JOIN:
        return first ? gen_cli_join(o, parse->args[0], err) : HPCW_OK;
    case GEN_CLI_EXPORT:
        return first ? gen_cli_export(o, parse->args[0], err) : HPCW_OK;
    case GEN_CLI_REPORT:
        return first ? gen_cli_report(o, parse->args[0], err) : HPCW_OK;
    case GEN_CLI_RECOVER:
        return first ? gen_cli_recover(o, parse->args, parse->arg_count, err) : HPCW_OK;
    }
    return hpcw_i_fail(err, HPCW_EINTERNAL, "no such command");
}

int main(int argc, char **argv) {
    /* A limit on the size of files is an error like a full disk, to be reported and cleaned up after. */
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
