/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/options.h"

#include <stdio.h>

struct xb_probe;
struct xb_run;

/* Exit codes of `run`, `list` and `help`; 128 + signal for a run that was interrupted. */
enum xb_exit {
    XB_EXIT_OK = 0,
    XB_EXIT_FAILED = 1,  /* a case failed or did not verify, or a file could not be written */
    XB_EXIT_USAGE = 2,   /* the command line is wrong, or asks for what cannot be */
    XB_EXIT_NOTHING = 3, /* nothing could be tested */
};

/* What a command takes besides options. */
enum xb_operands { XB_OPERANDS_NONE, XB_OPERANDS_FILES, XB_OPERANDS_TOPIC };

/* A subcommand. Each has a room of its own, which fills one in; src/commands.c lists them. Its
 * help, the man page and shell completion are written from this. */
struct xb_command {
    const char *name;
    const char *synopsis;    /* the name with its operands: "show FILE..." */
    const char *summary;     /* its line in the program's help */
    const char *description; /* what it does, in a few sentences */
    const char *exits;       /* its exit codes: "0 all is well; 1 ..." */
    const char *example;     /* a whole command line; NULL: none */
    enum xb_operands operands;
    /* The rows of its options, --help and --version among them; ends with NULL. NULL: `rows` makes
     * them, in static memory. */
    const struct xb_option *const *options;
    const struct xb_option *const *(*rows)(void);
    /* Its help, where that is more than xb_help_print_command prints; else NULL. */
    void (*print_help)(FILE *stream);
    /* Does it, and returns the exit code. `words` is the command line as the user wrote it, from
     * the command's name on; ends with NULL. */
    int (*run)(struct xb_config *config, char *const *words);
    /* Says on stderr what kept the command from being done, such as a wrong command line, and
     * returns the exit code for that. */
    int (*fail)(const struct xb_error *error);
};

const struct xb_option *const *xb_command_rows(const struct xb_command *command);

/* Each of a room of its own. */
extern const struct xb_command xb_command_advise, xb_command_compare, xb_command_explain,
    xb_command_fleet, xb_command_link, xb_command_list, xb_command_report, xb_command_run,
    xb_command_show;

/* Prints "xferbench: " and the error to stderr and returns the exit code that fits its status. */
int xb_cli_fail(const struct xb_error *error);
/* Does the same for a command whose code 1 is an answer: returns 2 in its place. */
int xb_cli_fail_as_usage(const struct xb_error *error);

/* The rows of options that several commands have. */

extern const struct xb_option xb_option_help, xb_option_color, xb_option_version;
/* The end of every command's rows. */
#define XB_OPTIONS_OF_ALL &xb_option_help, &xb_option_color, &xb_option_version, NULL
/* The row of --format: one of these words, "table" unless another is given. */
#define XB_FORMAT_OPTION(words, text)                                                              \
    .name = "format", .short_name = 'f', .type = XB_OPTION_CHOICES, .argument = "FORMAT",          \
    .default_text = "table", .help = (text), .choices = (words), .takes_one = true
/* Where the report of a command goes that writes one. */
extern const struct xb_option xb_option_output;
/* When measuring ends; src/run/deadline.h keeps it. */
extern const struct xb_option xb_option_deadline;
/* The row of --alpha, and the value of its text: XB_ERR_USAGE unless that is above 0 and below 0.5.
 */
extern const struct xb_option xb_option_alpha;
enum xb_status xb_option_alpha_read(const char *text, double *alpha, struct xb_error *error);
/* Which backend measures. Its help names those that there are: that is written by
 * xb_option_backend_describe, which xb_command_rows calls. */
extern const struct xb_option xb_option_backend;
void xb_option_backend_describe(void);

/*
 * Opens the backend the user named, or with "auto" the first that is automatic and can run, into
 * run->backend, driver and probe. Where none can, prints what each looked for to stderr and returns
 * XB_EXIT_NOTHING; XB_EXIT_USAGE for a name that is no backend's.
 */
enum xb_exit xb_backend_choose(const char *name, struct xb_run *run);

/* Prints the lines of a probe, indented. */
void xb_probe_print(FILE *stream, const struct xb_probe *probe);

extern const struct xb_option xb_option_start_at;

/*
 * Reads its text; NULL: it is not given. *at is on the clock of base/units.h; then 0. `deadline`
 * is on the clock of base/clock.h, 0 for none. XB_ERR_USAGE for a text that is no time, and for a
 * time in the past, after the deadline or more than a day ahead.
 */
enum xb_status xb_start_at_read(const char *text, double deadline, double *at,
                                struct xb_error *error);

/* Says on stderr what the program waits for, if stderr is a terminal. */
void xb_start_at_say(double at);
