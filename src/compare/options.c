/* SPDX-License-Identifier: Apache-2.0 */
/* The rows that declare the options of `compare`. */
#include "command.h"

#include "cli/options.h"

static const char *const formats[] = {
    "table", "json", "markdown", "github", "junit", "benchmark-action", NULL};

static const struct xb_option option_threshold = {
    .name = "threshold",
    .type = XB_OPTION_TEXT,
    .argument = "SHARES",
    .default_text = "2%",
    .help =
        "How much worse is a regression: 2% or 0.02. Of some cases another share, by a list: "
        "2%,managed=10%,pinned/h2d=1%, with cases as for --gate; the last one that fits counts.",
};
static const struct xb_option option_gate = {
    .name = "gate",
    .short_name = 'g',
    .type = XB_OPTION_TEXT,
    .argument = "CASES",
    .help =
        "What counts for the exit code: MODE[/DIRECTION[/SIZE[/FIGURE]]], a list with commas, '*' "
        "for any, a range of sizes as 64M..1G; such as pinned,async/h2d/64M..1G. FIGURE is the "
        "name of one in the result files: */*/*/overlap. Without it bandwidths and latencies "
        "count, "
        "and without --gate those of all cases.",
};
static const struct xb_option option_force = {
    .name = "force",
    .type = XB_OPTION_FLAG,
    .help = "Compare also what was not measured under the same conditions; the output says so.",
};
static const struct xb_option option_strict = {
    .name = "strict",
    .type = XB_OPTION_FLAG,
    .help = "Refuse files of another driver, CUDA or HIP runtime, or kernel. Without it they are "
            "compared, and the output says what changed.",
};
static const struct xb_option option_format = {
    .name = "format",
    .short_name = 'f',
    .type = XB_OPTION_CHOICES,
    .argument = "FORMAT",
    .default_text = "table",
    .help = "table, for people; json (docs/compare.schema.json); markdown, for step summaries and "
            "merge requests; github, annotations of a workflow; junit, with the figures in a "
            "failure's body; benchmark-action, the candidate's figures for "
            "github-action-benchmark's customBiggerIsBetter.",
    .choices = formats,
};

static const struct xb_option *const compare_rows[] = {
    &option_threshold, &xb_option_alpha,  &option_gate,          &option_force,      &option_strict,
    &option_format,    &xb_option_output, &xb_option_plain_help, &xb_option_version, NULL,
};

const struct xb_option *const *xb_compare_rows(void)
{
    return compare_rows;
}
