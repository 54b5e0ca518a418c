/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_COMMAND_H
#define XFERBENCH_RUN_COMMAND_H

#include "cli/command.h"
#include "measure/run.h"

/* The rows of its options, of options.c: its own and those of every mode, each once. Ends with
 * NULL; static memory. */
const struct xb_option *const *xb_run_rows(void);
/* Which of them belong to `run` itself: the first so many. */
size_t xb_run_own_row_count(void);

/* Its help (help.c): what it does, the modes, its own options and the exit codes; and the same with
 * the options of all modes. */
void xb_run_print_help(FILE *stream);
void xb_run_print_all_help(FILE *stream);
/* The list of modes, with a line for each. */
void xb_run_print_modes(FILE *stream);
/* The modes that have that option among theirs: "async, pinned"; "" for none. */
const char *xb_run_takers(const struct xb_option *option, char *text, size_t size);

/* The columns of the table, in its order; the last one's name is NULL. */
struct xb_column_help {
    const char *name, *help;
};
extern const struct xb_column_help xb_column_helps[];
void xb_run_print_columns_help(FILE *stream);
/* Only the columns, of any table. */
void xb_run_print_columns(FILE *stream, const struct xb_column_help *columns);

/*
 * --dry-run: prints what a planned run would measure, how long that takes, how much memory, and
 * which files it would write. Opens no device, allocates nothing, writes no file. Returns the exit
 * code, after saying on stderr what is wrong: XB_EXIT_NOTHING where every case will be skipped,
 * XB_EXIT_USAGE where a file cannot be written.
 */
int xb_dry_run(const struct xb_run *run);

#endif
