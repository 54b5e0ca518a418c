/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include "cli/help.h"
#include "record/mode_list.h"

#include <string.h>

const char *xb_run_takers(const struct xb_option *option, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t m = 0; xb_modes[m] != NULL; m++)
        for (size_t i = 0; xb_modes[m]->options != NULL && xb_modes[m]->options[i] != NULL; i++)
            if (xb_modes[m]->options[i] == option && used < size)
                used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
                                         xb_modes[m]->name);
    return text;
}

void xb_run_print_modes(FILE *stream)
{
    fprintf(stream, "\nModes:\n");
    for (size_t i = 0; xb_modes[i] != NULL; i++) {
        char name[64];
        snprintf(name, sizeof name, "  %s", xb_modes[i]->name);
        xb_help_print_entry(stream, name, xb_modes[i]->summary, 16);
    }
}

/* `all`: with the options of modes. */
static void print_help(FILE *stream, bool all)
{
    const struct xb_option *const *row = xb_run_rows();
    xb_help_print_beginning(stream, &xb_command_run);
    xb_run_print_modes(stream);
    fprintf(stream, "\nOptions:\n");
    for (; *row != NULL && !xb_modes_take((*row)->name); row++)
        xb_help_print_option(stream, *row);
    fprintf(stream, "\nOptions of modes:%s", all ? "\n" : " ");
    for (; all && *row != NULL; row++) {
        char takers[512], text[600];
        xb_help_print_option(stream, *row);
        snprintf(text, sizeof text, "(%s)", xb_run_takers(*row, takers, sizeof takers));
        xb_help_print_entry(stream, "", text, 30);
    }
    if (!all)
        xb_help_print_wrapped(stream,
                              "`xferbench help MODE` has those of a mode, `xferbench help all` has "
                              "all.",
                              (int)strlen("Options of modes: "));
    xb_help_print_exits(stream, &xb_command_run);
}

void xb_run_print_help(FILE *stream)
{
    print_help(stream, false);
}

void xb_run_print_all_help(FILE *stream)
{
    print_help(stream, true);
}

/* ---- what the columns of the table are ---- */

const struct xb_column_help xb_column_helps[] = {
    {"MODE", "The way a program moves data; `xferbench help MODE` explains each."},
    {"VARIANT", "Which kind of the mode: how memory is made, who copies, in which order."},
    {"DIR",
     "h2d: host to device. d2h: device to host. bidir: both at once. d2d: within a device, or "
     "from one to another."},
    {"SIZE", "How much one operation moves; for bidir, this much each way."},
    {"PIECE, CHUNK, ...", "An option of a mode, where rows differ in it: --piece, --chunk."},
    {"DEV", "The number of the device; for a pair, source and target."},
    {"GB/s", "10^9 bytes moved in a second: the median of the samples. By the device's clock; by "
             "the host's if its own work counts, as with a ring of threads. For bidir, both ways "
             "together."},
    {"95% INTERVAL", "The true median lies in it with 95 % certainty. Narrow is good."},
    {"MIN", "The slowest sample of a bandwidth; the fastest of a latency."},
    {"MAX", "The fastest sample of a bandwidth; the slowest of a latency."},
    {"SPREAD", "Of several processes: how far their medians lie apart, as a share of the median."},
    {"OF LINK", "The share of what the link can carry after packet headers; for bidir, to the "
                "device and from it."},
    {"SUBMIT",
     "How long the call took to return, by the host's clock: the thread is blocked that long."},
    {"DONE", "How long until the data was there, by the host's clock."},
    {"HOST P50", "With --latency: the median time of one operation, by the host's clock."},
    {"DEVICE P50", "The same by the device's clock, without the way there."},
    {"P95", "95 of 100 operations were faster; by the clock of the column before it."},
    {"P99", "99 of 100 operations were faster."},
    {"N", "How many samples there are; with --processes how many processes count."},
    {"VERIFIED, OK", "yes: every byte that arrived was checked and is right. NO: some are wrong."},
    {NULL, NULL},
};

void xb_run_print_columns(FILE *stream, const struct xb_column_help *columns)
{
    for (const struct xb_column_help *column = columns; column->name != NULL; column++) {
        char name[64];
        snprintf(name, sizeof name, "  %s", column->name);
        xb_help_print_entry(stream, name, column->help, 22);
    }
}

void xb_run_print_columns_help(FILE *stream)
{
    fprintf(stream, "Columns of the table\n\n");
    xb_run_print_columns(stream, xb_column_helps);
    fputc('\n', stream);
    xb_help_print_wrapped(
        stream,
        "A case that was not measured shows skipped, ERROR or cut short in place "
        "of its figure, and a note below says why. \"-\": there is nothing to say.",
        0);
}
