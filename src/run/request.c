/* SPDX-License-Identifier: Apache-2.0 */
/* What `run` is asked: the rows of its options, where modes declare theirs, and its outputs. */
#include "request.h"
#include "formats.h"

#include "base/child.h"
#include "cli/help.h"
#include "record/mode_list.h"

#include <stdlib.h>
#include <string.h>

static const char *const *list_modes(void)
{
    static const char *names[64] = {"all"};
    for (size_t m = 0; xb_modes[m] != NULL && m + 2 < sizeof names / sizeof *names; m++)
        names[m + 1] = xb_modes[m]->name;
    return names;
}

static const struct xb_option option_mode = {
    XB_CHOICE("mode", "MODE[,MODE]"),
    .short_name = 'm',
    .default_text = "all",
    .help = "Which transfer strategies to measure, or 'all'. It takes latency modes only with "
            "--latency.",
    .brief = "which ways to move data, as pinned,async",
    .offers = list_modes,
    .selects = true};
static const struct xb_option option_size = {
    .name = "size",
    .short_name = 's',
    .type = XB_OPTION_SIZES,
    .argument = "SIZE",
    .default_text = "256M",
    .help = "How much one operation moves: a size (1G), a list (64K,1M) or a range that doubles "
            "(4K..1G). K M G T are powers of 1024, KB MB GB TB powers of 1000. Without it "
            "--latency takes 4 bytes and --quick 64M. Latency modes have another default; see "
            "--help MODE.",
    .brief = "how much at a time: 1G, 64K,1M, 4K..1G",
    .selects = true};
static const struct xb_option option_direction = {
    XB_CHOICE("direction", "DIR[,DIR]"),
    .short_name = 'd',
    .help = "h2d (host to device), d2h (device to host), both (one after the other), bidir (both "
            "at the same time) or d2d (between two devices, or within one). Without it each mode "
            "takes its own; see --help MODE.",
    .brief = "h2d, d2h, both, bidir or d2d",
    .choices = (const char *const[]){"h2d", "d2h", "both", "bidir", "d2d", NULL},
    .selects = true};
static const struct xb_option option_device = {
    XB_CHOICE("device", "DEV[,DEV]"),
    .short_name = 'D',
    .default_text = "0",
    .help = "Which devices: numbers, PCI addresses (0000:0f:00.0), or all. They are measured one "
            "after the other. Modes that need several GPUs use all of them unless you name some.",
    .brief = "which devices: 0,1 or all",
    .offered = (const char *const[]){"all", NULL},
    .selects = true};
static const struct xb_option option_numa = {
    XB_CHOICE("numa", "NODE[,NODE]"), .default_text = "near",
    .help = "On which NUMA nodes the host's memory lies and its threads run: near (the device's "
            "own), numbers such as 0,1, or all. Each named node is a case of its own; several "
            "give a matrix of nodes and devices.",
    .offered = (const char *const[]){"near", "all", NULL}, .selects = true};
static const struct xb_option option_time_limit = {
    XB_DURATION("time-limit"), .short_name = 't', .default_text = "250ms",
    .help = "Stop sampling a case after this time even if its median is not yet known to within "
            "0.5 %. It takes at least 6 samples all the same, and warm-up (--warm-up) may add a "
            "quarter."};
static const struct xb_option option_warm_up = {
    XB_DURATION("warm-up"), .default_text = "50ms",
    .help = "Warm up each case at least this long; if its mode just ran on the same device, only "
            "as long as the device has rested since. Idle links and clocks need tens of "
            "milliseconds of work to reach full speed: with less, samples may be too slow."};
static const struct xb_option option_samples = {
    XB_COUNT("samples", "N", 1, 1000000), .short_name = 'n',
    .help = "Take exactly this many samples instead of stopping by precision or time."};
static const struct xb_option option_latency = {
    XB_FLAG("latency"),
    .help = "Time single small operations instead of bandwidth: percentiles by the host's clock "
            "and by the device's.",
    .brief = "time single small operations"};
static const struct xb_option option_simultaneous = {
    XB_FLAG("simultaneous"),
    .help = "After each device alone, measure all named devices at the same time: each, their "
            "sum, and each one's share of its rate alone. Of pairs: those that begin at one "
            "device, those that end there, then all."};
static const struct xb_option option_transfer = {
    XB_CHOICE("transfer", "'END > END SIZE'"), .repeats = true,
    .help = "Measure a set of transfers of your own, each alone and then all at the same time. An "
            "END is host (near the GPU), host:N (a NUMA node) or gpu:N; SIZE is as in --size; 'by "
            "kernel' behind it takes kernels in place of copy engines. Give it once for each: "
            "--transfer 'host > gpu:0 1G' --transfer 'gpu:0 > gpu:1 1G by kernel'.",
    .selects = true};
static const struct xb_option option_transfers = {
    XB_FILE("transfers", "FILE"),
    .help = "The same from a file, one transfer a line; # begins a comment.", .selects = true};
static const struct xb_option option_quick = {
    XB_FLAG("quick"),
    .help = "Short for --time-limit 100ms --size 64M, where these are not given: every mode on "
            "one device in a few seconds. Expect wider intervals.",
    .brief = "every mode in a few seconds"};
static const struct xb_option option_processes = {
    XB_COUNT("processes", "N", 1, XB_RECORD_PROCESSES), .default_text = "1",
    .help = "Measure in this many fresh processes, one after the other, each with its own context "
            "and memory. Figures are then medians of the processes' medians "
            "(docs/processes.schema.json), and --deadline is for all of them together.",
    .selects = true};
static const struct xb_option option_interleave = {
    XB_FILE("interleave", "PROGRAM"),
    .help = "Measure PROGRAM, the baseline, in turn with this program, the candidate, --processes "
            "of each. PROGRAM is another build of xferbench, or a script that calls one with "
            "other settings; it gets the options of this command line.",
    .selects = true};
static const struct xb_option option_baseline_json = {
    XB_FILE("baseline-json", "FILE"),
    .help = "Write the results of --interleave's PROGRAM here; those of this program go to --json.",
    .selects = true};
static const struct xb_option option_dry_run = {
    XB_FLAG("dry-run"),
    .help = "Measure nothing and write no file: print the cases, about how long they take, how "
            "much memory they need, and which files a run would write."};
static const struct xb_option option_json = {
    XB_FILE("json", "FILE"), .short_name = 'j',
    .help = "Write all that was measured as JSON (docs/result.schema.json, several processes "
            "docs/processes.schema.json); - for standard output, in place of the "
            "table." XB_FILE_NAME_HELP,
    .brief = "write all that was measured as JSON", .selects = true};
static const struct xb_option option_csv = {
    XB_FILE("csv", "FILE"),
    .help = "Write one line per case as CSV, of one process only; - for standard output, in place "
            "of the table.",
    .selects = true};
static const struct xb_option option_trace = {
    XB_FILE("trace", "FILE"),
    .help = "Record one more iteration of each case, which counts in no figure, and write what "
            "happened when as Chrome trace events, for ui.perfetto.dev (docs/timeline.md). Of one "
            "process only; - for standard output, in place of the table.",
    .selects = true};
static const struct xb_option option_timeline = {
    XB_FLAG("timeline"),
    .help = "Record one more iteration of each case and draw it below the table."};
static const struct xb_option option_quiet = {
    XB_FLAG("quiet"), .short_name = 'q',
    .help = "Print no table and no progress: only errors, files and the exit code.",
    .brief = "print no table and no progress"};
static const char *const formats[] = {"table", "markdown", "crossovers", NULL};
const struct xb_option xb_option_format = {
    XB_FORMAT_OPTION(
        formats,
        "table, for a terminal; markdown, for a paper or an issue: every row of a result, or of "
        "a comparison; crossovers: JSON that says for a program which way to move pieces is the "
        "fastest, of a grid (--pieces, docs/crossovers.schema.json)."),
    .selects = true};
enum { SHORT, ALL };
static const char *const amounts[] = {[SHORT] = "short", [ALL] = "all", NULL};

const struct xb_option xb_option_columns = {
    XB_CHOICE("columns", "short|all"),
    .default_text = "short",
    .help = "'all' prints every result with every column in place of bars (help columns).",
    .choices = amounts,
    .takes_one = true,
    .selects = true};
const struct xb_option xb_option_reading = {
    XB_CHOICE("reading", "short|all"),
    .default_text = "short",
    .help = "'all' prints every sentence of the Reading (docs/reading.md) in place of what to do.",
    .choices = amounts,
    .takes_one = true,
    .selects = true};
const struct xb_option xb_option_verbose = {
    XB_FLAG("verbose"), .short_name = 'v',
    .help = "Print all that is known: --columns all, --reading all, each warning, and all of the "
            "devices.",
    .brief = "print all columns, sentences and warnings"};

struct xb_table_view xb_table_view_of(const struct xb_config *config)
{
    bool all = xb_config_get(config, &xb_option_verbose)->flag;
    return (struct xb_table_view){
        .format = (enum xb_record_format)xb_config_get(config, &xb_option_format)->place,
        .all_columns = all || xb_config_get(config, &xb_option_columns)->place == ALL,
        .all_reading = all || xb_config_get(config, &xb_option_reading)->place == ALL,
        .all_notes = all};
}

bool xb_run_is_grid(const struct xb_config *config)
{
    bool is_grid = false;
    for (const struct xb_mode *const *mode = xb_modes; *mode != NULL; mode++)
        is_grid = is_grid || ((*mode)->is_grid != NULL && (*mode)->is_grid(config));
    return is_grid;
}

enum xb_status xb_run_adapt_defaults(struct xb_config *config, struct xb_error *error)
{
    if (xb_config_get(config, &option_quick)->flag) {
        XB_TRY(xb_config_default(config, &option_time_limit, "100ms", error));
        XB_TRY(xb_config_default(config, &option_size, "64M", error));
    }
    bool has_size = xb_config_get(config, &option_size)->given;
    for (const struct xb_mode *const *mode = xb_modes; *mode != NULL; mode++)
        if ((*mode)->imply != NULL)
            XB_TRY((*mode)->imply(config, has_size, error));
    if (xb_run_is_grid(config)) {
        XB_TRY(xb_config_default(config, &option_time_limit, "25ms", error));
        XB_TRY(xb_config_default(config, &option_warm_up, "10ms", error));
    }
    if (xb_config_get(config, &option_latency)->flag)
        XB_TRY(xb_config_default(config, &option_size, "4", error));
    return XB_OK;
}

#define BIND(member, row) XB_BIND(struct xb_run_options, member, row)
#define BIND_WHETHER(member, row) XB_BIND_WHETHER(struct xb_run_options, member, row)
static const struct xb_option_field *const fields = XB_FIELDS(
    BIND(mode, &option_mode), BIND(direction, &option_direction),
    BIND(direction_text, &option_direction), BIND(device, &option_device),
    BIND_WHETHER(device_given, &option_device), BIND(numa, &option_numa), BIND(size, &option_size),
    BIND_WHETHER(size_given, &option_size), BIND(latency, &option_latency),
    BIND(simultaneous, &option_simultaneous), BIND(transfer, &option_transfer),
    BIND(transfers, &option_transfers), BIND(dry_run, &option_dry_run),
    BIND(timeline, &option_timeline), BIND(quiet, &option_quiet),
    BIND(time_limit, &option_time_limit), BIND(warm_up, &option_warm_up),
    BIND(deadline, &xb_option_deadline), BIND(samples, &option_samples),
    BIND(processes, &option_processes), BIND(backend, &xb_option_backend),
    BIND(start_at, &xb_option_start_at), BIND(interleave, &option_interleave),
    BIND(json, &option_json), BIND(json_lines, &xb_option_json_lines),
    BIND(baseline_json, &option_baseline_json), BIND(csv, &option_csv), BIND(trace, &option_trace));

struct xb_run_options xb_run_options_of(const struct xb_config *config)
{
    struct xb_run_options asked = {.config = config};
    xb_config_fill(config, fields, &asked);
    return asked;
}

static const struct xb_option *const own_rows[] = {
    &option_mode,          &option_size,          &option_direction,  &option_device,
    &option_numa,          &xb_option_backend,    &option_latency,    &option_simultaneous,
    &option_transfer,      &option_transfers,     &option_time_limit, &option_warm_up,
    &option_samples,       &option_processes,     &option_interleave, &option_quick,
    &xb_option_deadline,   &xb_option_start_at,   &option_dry_run,    &option_json,
    &xb_option_json_lines, &option_baseline_json, &option_csv,        &option_trace,
    &option_timeline,      &option_quiet,         &xb_option_format,  &xb_option_columns,
    &xb_option_reading,    &xb_option_verbose,    &xb_option_help,    &xb_option_color,
    &xb_option_version};

const struct xb_option *const *xb_run_rows(void)
{
    static const struct xb_option *rows[128];
    size_t count = sizeof own_rows / sizeof own_rows[0];
    xb_option_backend_describe();
    memcpy(rows, own_rows, sizeof own_rows);
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

const char *xb_run_takers(const struct xb_option *option, char *text, size_t size)
{
    struct xb_words words = {.length = 0};
    for (size_t m = 0; xb_modes[m] != NULL; m++)
        for (size_t i = 0; xb_modes[m]->options != NULL && xb_modes[m]->options[i] != NULL; i++)
            if (xb_modes[m]->options[i] == option)
                xb_words_add(&words, "%s%s", words.length > 0 ? ", " : "", xb_modes[m]->name);
    snprintf(text, size, "%.*s", (int)size - 1, words.text);
    return text;
}

void xb_run_print_modes(FILE *stream)
{
    fprintf(stream, "\nModes:\n");
    for (size_t i = 0; xb_modes[i] != NULL; i++)
        xb_help_print_entry(stream, 16, xb_modes[i]->summary, "  %s", xb_modes[i]->name);
}

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
    {"SUM OF WAYS",
     "For bidir: both ways' GB/s, each by its own time, added up as nvbandwidth does."},
    {"SUBMIT",
     "How long the call took to return, by the host's clock: the thread is blocked that long."},
    {"DONE", "How long until the data was there, by the host's clock."},
    {"HOST P50", "With --latency: the median time of one operation, by the host's clock."},
    {"DEVICE P50", "The same by the device's clock, without the way there."},
    {"P95", "95 of 100 operations were faster; by the clock of the column before it."},
    {"P99", "99 of 100 operations were faster."},
    {"N", "How many samples there are; with --processes how many processes count."},
    {"VERIFIED, OK", "yes: every byte that arrived was checked and is right. NO: some are wrong."},
    {NULL, NULL}};

void xb_run_print_columns(FILE *stream, const struct xb_column_help *columns)
{
    for (const struct xb_column_help *column = columns; column->name != NULL; column++)
        xb_help_print_entry(stream, 22, column->help, "  %s", column->name);
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

enum xb_status xb_run_find_places(const struct xb_run_options *asked, struct xb_run_places *places,
                                  struct xb_error *error)
{
    struct xb_error cause;
    XB_TRY(xb_json_place_choose(asked->json, asked->json_lines, &places->json, error));
    const char *const paths[] = {places->json.path, asked->csv, asked->trace, asked->baseline_json};
    const char *const options[] = {places->json.option, "--csv", "--trace", "--baseline-json",
                                   "--interleave"};
    enum xb_status status = asked->interleave != NULL
                                ? xb_program_find(asked->interleave, &places->program, &cause)
                                : XB_OK;
    if (status != XB_OK)
        return XB_FAIL_NATIVE(error, status, cause.call, cause.native_code, cause.native_name,
                              "--interleave: %s", cause.message);
    places->all[XB_RUN_OUTPUTS] =
        (struct xb_cli_place){.option = options[XB_RUN_OUTPUTS], .input = places->program};
    for (size_t i = 0; i < XB_RUN_OUTPUTS; i++) {
        struct xb_output *output = &places->outputs[i];
        places->all[i] = (struct xb_cli_place){.option = options[i], .output = output};
        if (paths[i] != NULL)
            XB_TRY(xb_cli_find_output(options[i], paths[i], output, error));
    }
    return XB_OK;
}

void xb_run_release_places(struct xb_run_places *places)
{
    for (size_t i = 0; i < XB_RUN_OUTPUTS; i++)
        xb_output_discard(&places->outputs[i]);
    free(places->program);
    places->program = NULL;
}
