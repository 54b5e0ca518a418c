/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include "xferbench/interrupt.h"
#include "xferbench/sink.h"

#include <string.h>

static const char *const directions[] = {"h2d", "d2h", "both", NULL};

static const struct xb_option option_mode = {
    .name = "mode",
    .short_name = 'm',
    .type = XB_OPTION_CHOICES,
    .argument = "MODE[,MODE]",
    .default_text = "all",
    .help = "Which transfer strategies to measure; 'all' for every one.",
};
static const struct xb_option option_size = {
    .name = "size",
    .short_name = 's',
    .type = XB_OPTION_SIZES,
    .argument = "SIZE",
    .default_text = "256M",
    .help = "How much one operation moves: a size (1G), a list (64K,1M) or a range that doubles "
            "(4K..1G). K M G T are powers of 1024, KB MB GB TB powers of 1000.",
};
static const struct xb_option option_direction = {
    .name = "direction",
    .short_name = 'd',
    .type = XB_OPTION_CHOICES,
    .argument = "DIR",
    .default_text = "both",
    .help = "h2d (host to device), d2h (device to host), or both, one after the other.",
    .choices = directions,
};
static const struct xb_option option_device = {
    .name = "device",
    .short_name = 'D',
    .type = XB_OPTION_CHOICES,
    .argument = "DEV[,DEV]",
    .default_text = "0",
    .help = "Which devices: numbers, PCI addresses (0000:0f:00.0), or all. They are measured one "
            "after the other.",
};
static const struct xb_option option_backend = {
    .name = "backend",
    .short_name = 'b',
    .type = XB_OPTION_TEXT,
    .argument = "NAME",
    .default_text = "auto",
    .help = "cuda, hip, host, or auto: the first GPU backend that can run. The host backend, the "
            "CPU copying within its own memory, is only ever taken by name.",
};
static const struct xb_option option_time_limit = {
    .name = "time-limit",
    .short_name = 't',
    .type = XB_OPTION_DURATION,
    .argument = "TIME",
    .default_text = "1s",
    .help =
        "When to stop sampling a case whose median is not yet known to within 0.5 %. At least 6 "
        "samples are taken all the same, and warm-up may add half of it.",
};
static const struct xb_option option_samples = {
    .name = "samples",
    .short_name = 'n',
    .type = XB_OPTION_COUNT,
    .argument = "N",
    .help = "Take exactly so many samples instead of stopping by precision or time.",
    .minimum = 1,
    .maximum = 1000000,
};
static const struct xb_option option_json = {
    .name = "json",
    .type = XB_OPTION_TEXT,
    .argument = "FILE",
    .help = "Write everything that was measured as JSON (docs/result.schema.json); - for standard "
            "output, in place of the table.",
};
static const struct xb_option option_csv = {
    .name = "csv",
    .type = XB_OPTION_TEXT,
    .argument = "FILE",
    .help = "Write a line a case as CSV; - for standard output, in place of the table.",
};
static const struct xb_option option_quiet = {
    .name = "quiet",
    .short_name = 'q',
    .type = XB_OPTION_FLAG,
    .help = "Print no table and no progress: only errors, files and the exit code.",
};
static const struct xb_option option_help = {
    .name = "help",
    .short_name = 'h',
    .type = XB_OPTION_FLAG,
    .help = "Print this help, or with a mode's name what that mode measures.",
};
static const struct xb_option option_version = {
    .name = "version",
    .short_name = 'V',
    .type = XB_OPTION_FLAG,
    .help = "Print the version and what is built in.",
};

static const struct xb_option *const own_rows[] = {
    &option_mode,    &option_size,       &option_direction, &option_device,
    &option_backend, &option_time_limit, &option_samples,   &option_json,
    &option_csv,     &option_quiet,      &option_help,      &option_version,
};
#define OWN_ROWS (sizeof own_rows / sizeof own_rows[0])

const struct xb_option *const xb_list_rows[] = {&option_json, &option_help, &option_version, NULL};

size_t xb_run_own_row_count(void)
{
    return OWN_ROWS;
}

const struct xb_option *const *xb_run_rows(void)
{
    static const struct xb_option *rows[128];
    size_t count = 0;
    memcpy(rows, own_rows, sizeof own_rows);
    count = OWN_ROWS;
    for (size_t m = 0; xb_modes[m] != NULL; m++) {
        const struct xb_option *const *option = xb_modes[m]->options;
        for (; option != NULL && *option != NULL; option++) {
            bool known = false;
            for (size_t i = 0; i < count; i++)
                known = known || rows[i] == *option;
            if (!known && count + 1 < sizeof rows / sizeof rows[0])
                rows[count++] = *option;
        }
    }
    rows[count] = NULL;
    return rows;
}

/* The files of a run, and whether one of them is standard output. */
struct outputs {
    struct xb_output json, csv;
    bool on_stdout;
};

static enum xb_status open_outputs(const struct xb_config *config, struct outputs *outputs,
                                   struct xb_error *error)
{
    const struct xb_value *json = xb_config_get(config, "json");
    const struct xb_value *csv = xb_config_get(config, "csv");
    bool json_stdout = json->is_set && strcmp(json->text, "-") == 0;
    bool csv_stdout = csv->is_set && strcmp(csv->text, "-") == 0;
    if (json_stdout && csv_stdout)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--json - and --csv - cannot both have standard output");
    if (json->is_set && csv->is_set && strcmp(json->text, csv->text) == 0)
        return XB_FAIL(error, XB_ERR_USAGE, "--json and --csv name the same file, %s", json->text);
    outputs->on_stdout = json_stdout || csv_stdout;
    enum xb_status status = XB_OK;
    if (json->is_set)
        status = xb_output_open(&outputs->json, json->text, error);
    if (status == XB_OK && csv->is_set)
        status = xb_output_open(&outputs->csv, csv->text, error);
    return status;
}

/* Writes one output and puts it in its place; says so if that fails, and goes on. */
static bool write_output(struct xb_output *output, const struct xb_run *run,
                         enum xb_status (*write)(FILE *, const struct xb_run *, struct xb_error *))
{
    struct xb_error error;
    if (output->stream == NULL)
        return true;
    enum xb_status status = write(output->stream, run, &error);
    if (status == XB_OK)
        status = xb_output_commit(output, &error);
    if (status != XB_OK)
        xb_cli_fail(&error);
    return status == XB_OK;
}

/* Writes the run everywhere it was asked for. One that fails does not keep the others from it. */
static bool write_all(struct outputs *outputs, const struct xb_run *run)
{
    bool written = write_output(&outputs->json, run, xb_json_write);
    written = write_output(&outputs->csv, run, xb_csv_write) && written;
    if (!outputs->on_stdout && !xb_config_get(run->config, "quiet")->flag) {
        struct xb_error error;
        if (xb_table_write(stdout, run, &error) != XB_OK) {
            xb_cli_fail(&error);
            written = false;
        }
    }
    return written;
}

static int exit_code(const struct xb_run *run, bool written)
{
    size_t ok = 0;
    size_t failed = 0;
    for (size_t i = 0; i < run->case_count; i++) {
        ok += run->results[i].status == XB_RESULT_OK;
        failed += run->results[i].status == XB_RESULT_ERROR;
    }
    if (run->interrupted)
        return 128 + xb_interrupt_signal();
    if (failed > 0 || !written)
        return XB_EXIT_FAILED;
    return ok > 0 ? XB_EXIT_OK : XB_EXIT_NOTHING;
}

/* Plans, measures and writes, with the backend open. */
static int run_with_backend(struct xb_run *run)
{
    struct outputs outputs = {0};
    struct xb_progress progress;
    struct xb_run_observer observer = {.progress = xb_progress_show, .argument = &progress};
    struct xb_error error;
    enum xb_status status = xb_plan(run, &error);
    if (status == XB_OK)
        status = open_outputs(run->config, &outputs, &error);
    if (status == XB_OK) {
        xb_interrupt_catch();
        xb_progress_start(&progress, !xb_config_get(run->config, "quiet")->flag);
        status = xb_run_execute(run, &observer, &error);
        xb_progress_clear(&progress);
    }
    int code = 0;
    if (status == XB_OK)
        code = exit_code(run, write_all(&outputs, run));
    else
        code = xb_cli_fail(&error);
    xb_output_discard(&outputs.json);
    xb_output_discard(&outputs.csv);
    return code;
}

int xb_command_run(int argc, char **argv)
{
    struct xb_config config;
    struct xb_error error;
    int code = 0;
    if (xb_config_parse(xb_run_rows(), argc, argv, &config, &error) != XB_OK)
        return xb_cli_fail(&error);
    if (xb_help_answer(&config, &code)) {
        xb_config_free(&config);
        return code;
    }
    if (xb_cli_refuse_operands(&config, &error) != XB_OK) {
        code = xb_cli_fail(&error);
    } else {
        struct xb_run run = {.config = &config};
        code = (int)xb_backend_choose(xb_config_get(&config, "backend")->text, &run);
        if (code == XB_EXIT_OK)
            code = run_with_backend(&run);
        xb_run_free(&run);
    }
    xb_config_free(&config);
    return code;
}
