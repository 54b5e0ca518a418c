/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_CLI_COMMAND_H
#define XFERBENCH_CLI_COMMAND_H

#include "xferbench/options.h"

#include <stdio.h>

/* Exit codes of `run`, `list` and `help`; 128 + signal for a run that was interrupted. */
enum xb_exit {
    XB_EXIT_OK = 0,
    XB_EXIT_FAILED = 1,  /* a case failed or did not verify, or a file could not be written */
    XB_EXIT_USAGE = 2,   /* the command line is wrong, or asks for what cannot be */
    XB_EXIT_NOTHING = 3, /* nothing could be tested */
};

/* A subcommand. Each has a room of its own, which fills one in; src/commands.c lists them. */
struct xb_command {
    const char *name;
    const char *synopsis, *summary; /* its line in the program's help */
    /* The rows of its options, --help and --version among them. Ends with NULL; static memory. */
    const struct xb_option *const *(*rows)(void);
    void (*print_help)(FILE *stream);
    /* Does it, and returns the exit code. `words` is the command line as the user wrote it, from
     * the command's name on; ends with NULL. */
    int (*run)(struct xb_config *config, char *const *words);
    /* Says on stderr what kept the command from being done, such as a wrong command line, and
     * returns the exit code for that. */
    int (*fail)(const struct xb_error *error);
};

/* Prints "xferbench: " and the error to stderr and returns the exit code that fits its status. */
int xb_cli_fail(const struct xb_error *error);

/* XB_ERR_USAGE if anything stands on the command line that is no option. */
XB_MUST_CHECK enum xb_status xb_cli_refuse_operands(const struct xb_config *config,
                                                    struct xb_error *error);

#endif
