/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/options.h"
#include "cli/command.h"
#include "cli/places.h"
#include "measure/run.h"

/* The rows of its options: its own and those of every mode, each once. Ends with NULL; static. */
const struct xb_option *const *xb_run_rows(void);

/* What a configuration of these rows asks for. */
struct xb_run_options xb_run_options_of(const struct xb_config *config);

/* Whether a mode is asked for a grid (mode.h). */
bool xb_run_is_grid(const struct xb_config *config);

/* Replaces the usual defaults by those of --quick, --latency and --pieces: a grid has hundreds of
 * cases, one right after the other. */
enum xb_status xb_run_adapt_defaults(struct xb_config *config, struct xb_error *error);

/* Its help with its own options, and `all`: with those of all modes. */
void xb_run_print_help(FILE *stream, bool all);
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

/* Where the results of a run go, and the program that --interleave names. */
enum { XB_RUN_JSON, XB_RUN_CSV, XB_RUN_TRACE, XB_RUN_BASELINE, XB_RUN_OUTPUTS };
struct xb_run_places {
    struct xb_json_place json;
    struct xb_output outputs[XB_RUN_OUTPUTS];
    char *program;                               /* its path; NULL: none */
    struct xb_cli_place all[XB_RUN_OUTPUTS + 1]; /* the outputs, and the program, which is read */
};

/* Finds all of them, and opens nothing. Zero-initialise; release also after a failure.
 * XB_ERR_USAGE. */
enum xb_status xb_run_find_places(const struct xb_run_options *asked, struct xb_run_places *places,
                                  struct xb_error *error);
void xb_run_release_places(struct xb_run_places *places);

/* --dry-run: prints what a planned run would measure and take, and which files it would write.
 * Opens no device and writes no file. Returns the exit code, after saying on stderr what is wrong:
 * XB_EXIT_NOTHING where every case will be skipped, XB_EXIT_USAGE for a file that cannot be. */
int xb_dry_run(const struct xb_run *run);

/* What is set aside, before anything is measured, for writing the results of so many cases or
 * processes: xb_memory_reserve. */
#define XB_RUN_RESERVE(parts)                                                                      \
    (((size_t)1 << 20) + ((parts) < 256 ? (parts) : 256) * ((size_t)64 << 10))

/* --processes, --interleave: runs fresh processes one after the other, merges what they write, and
 * writes it. `deadline` is on the clock of src/base/clock.h, 0 for none; `start_at`, when the first
 * begins, on that of src/base/units.h, 0 for at once. Opens no backend. Blocks. Returns the exit
 * code. */
int xb_processes_run(const struct xb_run_options *asked, double deadline, double start_at);
