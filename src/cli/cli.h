/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_CLI_H
#define XFERBENCH_CLI_H

#include "xferbench/registry.h"
#include "xferbench/run.h"
#include "xferbench/sink.h"

#include <stdio.h>

/* Exit codes of `run` and `list`; 128 + signal for a run that was interrupted. */
enum xb_exit {
    XB_EXIT_OK = 0,
    XB_EXIT_FAILED = 1,  /* a case failed or did not verify, or a file could not be written */
    XB_EXIT_USAGE = 2,   /* the command line is wrong, or asks for what cannot be */
    XB_EXIT_NOTHING = 3, /* nothing could be tested */
};

/* Subcommands: argv[0] is the command's name. Return the exit code. */
int xb_command_run(int argc, char **argv);
int xb_command_list(int argc, char **argv);
/* Its exit codes are those of Nagios plugins, enum xb_level; a usage error is XB_LEVEL_UNKNOWN. */
int xb_command_link(int argc, char **argv);
/* 0 no regression, 1 regression, 2 no verdict for an error, 3 inconclusive, 4 not comparable. */
int xb_command_compare(int argc, char **argv);
/* help [COMMAND|MODE]: what `--help` of the command prints, or what the mode measures. */
int xb_command_help(int argc, char **argv);

struct xb_command {
    const char *name;
    const char *synopsis, *summary; /* its line in the program's help */
    int (*run)(int argc, char **argv);
    void (*print_help)(FILE *stream);
};
#define XB_COMMANDS 5
extern const struct xb_command xb_commands[XB_COMMANDS];

/* NULL for none. */
const struct xb_command *xb_command_find(const char *name);
/* Writes the names of all, XB_COMMANDS of them, and returns how many. */
size_t xb_command_names(const char **names);

/* Prints "xferbench: " and the error to stderr and returns the exit code that fits its status. */
int xb_cli_fail(const struct xb_error *error);

/* XB_ERR_USAGE if anything stands on the command line that is no option. */
XB_MUST_CHECK enum xb_status xb_cli_refuse_operands(const struct xb_config *config,
                                                    struct xb_error *error);

/* A file that a command writes, or one that it reads. */
struct xb_place {
    const char *option;       /* that names it: "--json" */
    struct xb_output *output; /* NULL for an input, and for an output that is not wanted */
    const char *input;        /* the path; NULL for an output, and for no input */
};

/*
 * Opens the outputs that were found. XB_ERR_USAGE where one would take the place of another one, of
 * an input or of this program: that is told before any of them waits for a reader.
 */
XB_MUST_CHECK enum xb_status xb_cli_open_places(const struct xb_place *places, size_t count,
                                                double deadline, struct xb_error *error);

/* Whether two paths name one file that exists. */
bool xb_cli_is_one_file(const char *path, const char *other);

/* The rows of `run`: its own and those of every mode, each once. Ends with NULL; static memory. */
const struct xb_option *const *xb_run_rows(void);
/* Which of them belong to `run` itself: the first so many. */
size_t xb_run_own_row_count(void);
extern const struct xb_option xb_option_version; /* of every command */
/* Of those that write one report: where it goes, and help that is of no mode. */
extern const struct xb_option xb_option_output, xb_option_plain_help;
extern const struct xb_option *const xb_list_rows[];
extern const struct xb_option *const xb_link_rows[];
extern const struct xb_option *const xb_compare_rows[];

/* The help of the program, or of one mode. */
void xb_help_print(FILE *stream);
void xb_help_print_mode(FILE *stream, const struct xb_mode *mode);
/* The help of `list`. */
void xb_help_print_list(FILE *stream);
/* The help of `link`. */
void xb_help_print_link(FILE *stream);
/* The help of `compare`. */
void xb_help_print_compare(FILE *stream);
/* " h2d d2h bidir (by default h2d d2h)" */
void xb_help_print_directions(FILE *stream, const struct xb_mode *mode);
/* "xferbench 0.1.0" with what is built in. */
void xb_version_print(FILE *stream);

/* Answers --help [MODE] and --version, if one was given: returns true and the exit code. `print` is
 * the help of the command. */
bool xb_help_answer(const struct xb_config *config, void (*print)(FILE *), int *code);

/*
 * Opens the backend the user named, or with "auto" the first that is automatic and can run, into
 * run->backend, driver and probe. Where none can, prints what each looked for to stderr and returns
 * XB_EXIT_NOTHING; XB_EXIT_USAGE for a name that is no backend's.
 */
enum xb_exit xb_backend_choose(const char *name, struct xb_run *run);

/* Prints the lines of a probe, indented; `runnable` probes print the same. */
void xb_probe_print(FILE *stream, const struct xb_probe *probe);

/* A line on stderr that tells what is measured, when stderr is a terminal and the work is long. */
struct xb_progress {
    bool enabled;
    bool shown;
    double begin, last;
};
void xb_progress_start(struct xb_progress *progress, bool enabled);
/* An observer's callback; the argument is the struct xb_progress. */
void xb_progress_show(void *argument, const struct xb_run *run, size_t samples, double bandwidth);
/* The same for a process that begins, the `number`th of `total`; `role` may be NULL. */
void xb_progress_show_process(struct xb_progress *progress, size_t number, size_t total,
                              const char *role);
void xb_progress_clear(struct xb_progress *progress);

#endif
