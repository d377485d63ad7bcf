/* SPDX-License-Identifier: BSD-3-Clause */
/* The program: reads the command line, joins MPI if it was started by it, and calls the subcommand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "comm/agree.h"
#include "hpcgen_commands.h"
#include "hpcgen_launch.h"
#include "pool.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

static bool wrong_usage(hpcw_status s) {
    return s == HPCW_EINVAL || s == HPCW_ERANGE;
}

static hpcw_status run_command(struct hpcgen_options *o, const struct hpcw_i_parse *parse,
                               const struct hpcgen_launch *launch, hpcw_error *err) {
    bool first = hpcw_comm_process(launch->comm) == 0;
    /* The directory is named in paths and messages: without the slashes behind it. */
    for (size_t n = strlen(o->out); n > 1 && o->out[n - 1] == '/'; n--) {
        o->out[n - 1] = '\0';
    }
    if (o->jobs == 0) {
        uint32_t processors = hpcw_i_pool_processors() / launch->processes_per_node;
        o->jobs = processors == 0 ? 1 : processors;
    }
    switch ((enum hpcgen_command)parse->command) {
    case HPCGEN_GENERATE:
        return hpcgen_generate(o, launch->comm, err);
    case HPCGEN_PLAN:
        return hpcgen_plan(o, launch->comm, err);
    case HPCGEN_VERIFY:
        return first ? hpcgen_verify(o, parse->args[0], err) : HPCW_OK;
    case HPCGEN_INFO:
        return first ? hpcgen_info(o, parse->args[0], err) : HPCW_OK;
    case HPCGEN_LIST:
        return first ? hpcgen_list(o, err) : HPCW_OK;
    case HPCGEN_JOIN:
        return first ? hpcgen_join(o, parse->args[0], err) : HPCW_OK;
    }
    return hpcw_i_fail(err, HPCW_EINTERNAL, "no such command");
}

int main(int argc, char **argv) {
    struct hpcgen_launch launch;
    struct hpcgen_options options = {0};
    struct hpcw_i_parse parse = {0};
    hpcw_error err = {.message = ""};
    int result = EXIT_SUCCESS;
    hpcw_status s = hpcgen_launch_begin(&launch, &argc, &argv, &err);
    bool first = hpcw_comm_process(launch.comm) == 0;
    bool reading = true;
    if (s == HPCW_OK) {
        s = hpcw_i_agree(hpcw_i_comm_or_self(launch.comm),
                         hpcgen_options_read(&options, &parse, argc, argv, &err), NULL, &err);
    }
    if (s == HPCW_OK && parse.answer != HPCW_I_ANSWER_NONE) {
        if (first) {
            hpcw_i_options_answer(&parse, stdout);
        }
    } else if (s == HPCW_OK) {
        reading = false;
        s = run_command(&options, &parse, &launch, &err);
        s = hpcw_i_agree(launch.comm, s, NULL, &err);
    }
    if (s == HPCW_OK && fflush(stdout) != 0) {
        s = hpcw_i_fail(&err, HPCW_EIO, "standard output: cannot write");
    }
    if (s != HPCW_OK) {
        if (first) {
            (void)fprintf(stderr, "hpcgen: %s\n", err.message);
        }
        result = reading || wrong_usage(s) ? EXIT_USAGE : EXIT_FAILED;
    }
    hpcgen_options_free(&options);
    hpcgen_launch_end(&launch);
    return result;
}
