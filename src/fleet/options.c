/* SPDX-License-Identifier: Apache-2.0 */
/* The rows that declare the options of `fleet`. */
#include "command.h"

#include "cli/options.h"

static const char *const formats[] = {"table", "json", "csv", "prometheus", "nodelist", NULL};

static const struct xb_option option_expect_hosts = {
    .name = "expect-hosts",
    .type = XB_OPTION_FILE,
    .argument = "FILE|NAMES",
    .help = "The nodes you expect: fleet names those without a document. Give a file that exists, "
            "with names, or names in Slurm's notation: gpu[001-128],login1. With a slash (./hosts) "
            "it is always a file, with a comma at the end (hosts,) always names.",
};
static const struct xb_option option_format = {
    .name = "format",
    .short_name = 'f',
    .type = XB_OPTION_CHOICES,
    .argument = "FORMAT",
    .default_text = "table",
    .help = "table: for people; json: everything (docs/fleet.schema.json); csv: one line per "
            "finding; prometheus: for node_exporter's textfile collector; nodelist: the nodes to "
            "drain in Slurm's notation, nothing if there are none.",
    .choices = formats,
};

static const struct xb_option *const fleet_rows[] = {
    &option_expect_hosts,  &xb_option_alpha,   &option_format, &xb_option_output,
    &xb_option_plain_help, &xb_option_version, NULL,
};

const struct xb_option *const *xb_fleet_rows(void)
{
    return fleet_rows;
}
