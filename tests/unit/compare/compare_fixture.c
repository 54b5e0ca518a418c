/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "compare_fixture.h"

#include "base/stream.h"
#include "base/terminal.h"
#include "checks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#define WIDE 250 /* columns: no table loses any */

#define NASTY                                                                                      \
    "a|b `c` <script>x</script> ]]> & \"q\" 'r' *s* _t_ [u](v) @all #1 %0A::error::no "            \
    "##[error]x\n::error::yes\r\n\x1b[31mred\x01 \xff\xc0 \xe2\x80\x8b end \xe2\x82"

enum xb_status plain_table(FILE *stream, const struct xb_comparison *comparison,
                           struct xb_error *error)
{
    return xb_compare_table_write(stream, comparison, WIDE, true, error);
}

enum xb_status usual_table(FILE *stream, const struct xb_comparison *comparison,
                           struct xb_error *error)
{
    return xb_compare_table_write(stream, comparison, 100, false, error);
}

/* Writes to a file, because a text in memory has no colours. */
enum xb_status colour_table(FILE *stream, const struct xb_comparison *comparison,
                            struct xb_error *error)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    xb_terminal_want_colours(XB_COLOURS_ALWAYS);
    enum xb_status status = xb_compare_table_write(file, comparison, WIDE, true, error);
    xb_terminal_want_colours(XB_COLOURS_AUTO);
    rewind(file);
    for (int c = fgetc(file); c != EOF; c = fgetc(file))
        fputc(c, stream);
    fclose(file);
    return status == XB_OK ? xb_stream_finish(stream, "the table", error) : status;
}

const struct format sinks[SINKS] = {{"txt", plain_table},
                                    {"colour", colour_table},
                                    {"json", xb_compare_json_write},
                                    {"md", xb_compare_markdown_write},
                                    {"github", xb_compare_github_write},
                                    {"xml", xb_compare_junit_write},
                                    {"bench", xb_compare_benchmark_action_write}};

/* ---- comparisons made by hand ---- */

static void make_side(struct side *side, const char *path)
{
    side->device = (struct xb_record_device){
        .name = "NVIDIA H200", .link_known = true, .link_speed_gts = 32, .link_width = 16};
    for (size_t i = 0; i < PROCESSES; i++)
        side->processes[i] = (struct xb_record_process){
            .devices = &side->device, .device_count = 1, .deadline_met = true};
    side->record = (struct xb_record){.path = path,
                                      .backend = "cuda",
                                      .driver = "580.159.04",
                                      .is_merged = true,
                                      .asked_processes = PROCESSES,
                                      .processes = side->processes,
                                      .process_count = PROCESSES,
                                      .cases = side->cases};
}

static void add_figure(struct side *side, size_t index, size_t process,
                       const struct xb_figure *figure, double median)
{
    struct xb_record_row *row = &side->rows[index][process];
    assert_true(row->figure_count < FIGURES);
    side->figures[index][process][row->figure_count++] =
        (struct xb_record_figure){.name = figure->name,
                                  .unit = figure->unit,
                                  .more_is_better = figure->more_is_better,
                                  .gates = figure->gates,
                                  .statistics = {.median = median}};
}

/* What every process of one side has: medians around `middle`, a thousandth apart. */
static const struct xb_record_case *add_side(struct side *side, const struct xb_record_case *key,
                                             const struct xb_figure *figure, double middle)
{
    size_t index = side->record.case_count++;
    assert_true(index < CASES);
    side->cases[index] = *key;
    side->cases[index].rows = side->rows[index];
    for (size_t i = 0; i < PROCESSES; i++) {
        side->rows[index][i] = (struct xb_record_row){.is_there = true,
                                                      .status = XB_RESULT_SKIPPED,
                                                      .verified = XB_VERIFIED_UNKNOWN,
                                                      .figures = side->figures[index][i]};
        if (middle <= 0)
            continue;
        side->rows[index][i].status = XB_RESULT_OK;
        add_figure(side, index, i, figure,
                   middle * (1 + ((double)(i * 3 % PROCESSES) - 3.5) / 1000));
    }
    return &side->cases[index];
}

/* Middles: 0 for not measured, negative for not there. */
static struct xb_compared *add_case(struct node *n, const char *variant,
                                    const struct xb_figure *figure, double baseline,
                                    double candidate)
{
    struct xb_record_case key = {.mode = "pinned",
                                 .variant = variant,
                                 .direction = "h2d",
                                 .bytes = (uint64_t)1 << 30,
                                 .peer = -1,
                                 .latency = figure != &xb_figure_bandwidth};
    const struct xb_record_case *first = NULL, *second = NULL;
    if (baseline >= 0)
        first = add_side(&n->baseline, &key, figure, baseline);
    if (candidate >= 0)
        second = add_side(&n->candidate, &key, figure, candidate);
    struct xb_compared *compared = &n->cases[n->comparison.case_count++];
    *compared = (struct xb_compared){.test = second != NULL ? second : first,
                                     .figure = *figure,
                                     .baseline = {.is_there = first != NULL, .median = NAN},
                                     .candidate = {.is_there = second != NULL, .median = NAN},
                                     .gates = true,
                                     .same_settings = true,
                                     .threshold = 0.02,
                                     .basis = XB_BASIS_NONE,
                                     .p_regression = 1,
                                     .p_improved = 1,
                                     .p_pass = 1};
    if (baseline > 0) {
        compared->baseline.processes = PROCESSES;
        compared->baseline.median = baseline;
    }
    if (candidate > 0) {
        compared->candidate.processes = PROCESSES;
        compared->candidate.median = candidate;
    }
    return compared;
}

struct xb_compared *add_judged(struct node *n, const char *variant, enum xb_outcome outcome,
                               double ratio)
{
    struct xb_compared *compared =
        add_case(n, variant, &xb_figure_bandwidth, 55.44e9, 55.44e9 * ratio);
    compared->basis = XB_BASIS_TEST;
    compared->outcome = outcome;
    compared->has_ratio = compared->has_interval = true;
    compared->ratio = ratio;
    compared->low = ratio - 0.0013;
    compared->high = ratio + 0.0012;
    compared->confidence = 0.98;
    compared->p_regression = outcome == XB_OUTCOME_REGRESSION ? 0.00047 : 0.75;
    compared->p_improved = outcome == XB_OUTCOME_IMPROVED ? 0.0062 : 0.9;
    compared->p_pass = outcome == XB_OUTCOME_PASS ? 0.0081 : 0.3;
    n->comparison.gating_count++;
    return compared;
}

void conclude(struct node *n, enum xb_outcome outcome, const char *reason)
{
    n->comparison.overall = outcome;
    snprintf(n->comparison.reason, sizeof n->comparison.reason, "%s", reason);
}

void add_difference(struct node *n, const char *name, const char *baseline, const char *candidate,
                    bool forbids)
{
    n->differences[n->comparison.difference_count++] = (struct xb_difference){
        .name = name, .baseline = baseline, .candidate = candidate, .forbids = forbids};
}

void make_empty(struct node *n)
{
    conclude(n, XB_OUTCOME_INCONCLUSIVE, "no gating case has figures in both files");
}

void make_pass(struct node *n)
{
    add_judged(n, "registered", XB_OUTCOME_PASS, 0.9991);
    conclude(n, XB_OUTCOME_PASS, "none of 1 gating cases is worse by 2 % or more");
}

/* One case of each outcome. */
void make_regression(struct node *n)
{
    struct xb_compared *compared;
    add_judged(n, "registered", XB_OUTCOME_REGRESSION, 0.9402);
    add_judged(n, "alloc", XB_OUTCOME_PASS, 0.9991);
    add_judged(n, "faster", XB_OUTCOME_IMPROVED, 1.0611);
    add_judged(n, "unclear", XB_OUTCOME_INCONCLUSIVE, 0.9791);
    add_judged(n, "loose", XB_OUTCOME_REGRESSION, 0.8)->gates = false;
    n->comparison.gating_count--;
    compared = add_case(n, "broken", &xb_figure_bandwidth, 55.44e9, 0);
    compared->basis = XB_BASIS_STATUS;
    compared->outcome = XB_OUTCOME_REGRESSION;
    snprintf(compared->note, sizeof compared->note, "error in all processes: the data is wrong");
    compared = add_case(n, "gone", &xb_figure_bandwidth, 20e9, -1);
    compared->basis = XB_BASIS_STATUS;
    compared->outcome = XB_OUTCOME_REGRESSION;
    add_case(n, "new", &xb_figure_bandwidth, -1, 21e9);
    compared = add_case(n, "void", &xb_figure_bandwidth, 0, 0);
    snprintf(compared->note, sizeof compared->note, "skipped in both files");
    add_difference(n, "hostname", "node1", "node2", false);
    add_difference(n, "kernel", "6.8.0", NULL, false);
    conclude(n, XB_OUTCOME_REGRESSION, "3 of 6 gating cases: worse by 2 % or more");
}

/* One process a side. */
void make_indicative(struct node *n)
{
    static const struct {
        enum xb_outcome outcome;
        double ratio;
    } looks[] = {{XB_OUTCOME_REGRESSION, 0.9},
                 {XB_OUTCOME_PASS, 1},
                 {XB_OUTCOME_IMPROVED, 1.1},
                 {XB_OUTCOME_INCONCLUSIVE, 0.98}};
    n->baseline.record.process_count = n->baseline.record.asked_processes = 1;
    n->candidate.record.process_count = n->candidate.record.asked_processes = 1;
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        struct xb_compared *compared =
            add_judged(n, xb_outcome_name(looks[i].outcome), looks[i].outcome, looks[i].ratio);
        compared->basis = XB_BASIS_INDICATIVE;
        compared->baseline.processes = compared->candidate.processes = 1;
        compared->confidence = 0;
        compared->p_regression = compared->p_improved = compared->p_pass = 1;
    }
    conclude(n, XB_OUTCOME_INCONCLUSIVE, "too few processes for 4 of 4 gating cases");
}

void make_only_passes_indicative(struct node *n)
{
    make_indicative(n);
    n->cases[0] = n->cases[1];
    n->comparison.case_count = n->comparison.gating_count = 2;
}

void make_refused(struct node *n)
{
    add_side(&n->candidate,
             &(struct xb_record_case){.mode = "pinned",
                                      .variant = "alloc",
                                      .direction = "d2h",
                                      .bytes = 1 << 20,
                                      .device = 1,
                                      .peer = 2},
             &xb_figure_bandwidth, 50e9);
    n->comparison.comparable = false;
    add_difference(n, "GPU model of device 0", "NVIDIA H200", "NVIDIA A100", true);
    add_difference(n, "option --chunk", "null", NULL, true);
    add_difference(n, "hostname", "node1", "node2", false);
    conclude(n, XB_OUTCOME_INCONCLUSIVE, "not measured under the same conditions");
}

void make_forced(struct node *n)
{
    make_pass(n);
    make_refused(n);
    n->comparison.request.force = true;
    conclude(n, XB_OUTCOME_PASS, "none of 1 gating cases is worse by 2 % or more");
}

void make_latency(struct node *n)
{
    struct xb_compared *compared = add_case(n, "alloc", &xb_figure_latency_host, 3.31e-6, 3.52e-6);
    compared->basis = XB_BASIS_TEST;
    compared->outcome = XB_OUTCOME_REGRESSION;
    compared->has_ratio = compared->has_interval = true;
    compared->ratio = 1.0634;
    compared->low = 1.0601;
    compared->high = 1.0688;
    compared->confidence = 0.98;
    compared->p_regression = 0.0005;
    /* The other clock's, of the same case. */
    struct xb_compared *other = &n->cases[n->comparison.case_count++];
    *other = *compared;
    other->figure = xb_figure_latency_device;
    other->outcome = XB_OUTCOME_PASS;
    other->baseline.median = other->candidate.median = 2.2e-6;
    other->ratio = other->low = other->high = 1;
    for (size_t i = 0; i < PROCESSES; i++)
        add_figure(&n->candidate, 0, i, &xb_figure_latency_device, 2.2e-6);
    n->comparison.gating_count = 2;
    conclude(n, XB_OUTCOME_REGRESSION, "1 of 2 gating cases");
}

/* Cases that differ in their parameters alone, and a figure that gates because it was named. */
void make_parameters(struct node *n)
{
    static const struct xb_figure speed_up = {
        .name = "speed_up", .unit = XB_UNIT_RATIO, .more_is_better = true};
    static const struct xb_record_fact chunks[][2] = {
        {{.name = "chunk", .value = "8388608"}, {.name = "way", .value = "long", .is_text = true}},
        {{.name = "chunk", .value = "65536"}, {.name = "way", .value = "long", .is_text = true}}};
    for (size_t i = 0; i < 2; i++) {
        add_judged(n, "registered", i == 0 ? XB_OUTCOME_PASS : XB_OUTCOME_REGRESSION,
                   i == 0 ? 1 : 0.9);
        struct xb_record_case *tests[] = {&n->baseline.cases[i], &n->candidate.cases[i]};
        for (size_t side = 0; side < 2; side++) {
            tests[side]->mode = "async";
            tests[side]->parameters = chunks[i];
            tests[side]->parameter_count = 2;
        }
    }
    struct xb_compared *other = &n->cases[n->comparison.case_count++];
    *other = n->cases[1];
    other->figure = speed_up;
    other->baseline.median = other->candidate.median = 1.6437;
    other->ratio = 1;
    other->has_interval = false;
    for (size_t i = 0; i < PROCESSES; i++)
        add_figure(&n->candidate, 1, i, &speed_up, 1.6437);
    n->comparison.gating_count = 3;
    n->comparison.parameters = (struct xb_parameters){.names = {"chunk"}, .count = 1};
    conclude(n, XB_OUTCOME_REGRESSION, "1 of 3 gating cases");
}

/* One row of two measured with other settings, by another driver and kernel. */
void make_rows_apart(struct node *n)
{
    make_parameters(n);
    n->comparison.case_count = 2;
    n->comparison.gating_count = 1;
    struct xb_compared *apart = &n->cases[1];
    apart->basis = XB_BASIS_STATUS;
    apart->outcome = XB_OUTCOME_INCONCLUSIVE;
    n->comparison.any_differs = true;
    apart->same_settings = apart->has_ratio = apart->has_interval = false;
    apart->p_regression = apart->p_improved = apart->p_pass = 1;
    snprintf(apart->note, sizeof apart->note,
             "measured with chunk 64 KiB, the baseline with chunk 8 MiB");
    add_difference(n, "driver", "580.82", "590.10", false);
    add_difference(n, "kernel", "6.8", "6.9", false);
    n->differences[0].of_stack = n->differences[1].of_stack = true;
    conclude(n, XB_OUTCOME_INCONCLUSIVE, "1 of 2 figures cannot be compared");
    snprintf(n->comparison.next, sizeof n->comparison.next,
             "Measure both files with the same settings.");
}

/* Nothing that gates is left. */
void make_all_apart(struct node *n)
{
    make_rows_apart(n);
    n->cases[0] = n->cases[1];
    n->comparison.case_count = 1;
    n->comparison.gating_count = 0;
    n->comparison.none_comparable = true;
}

void make_many(struct node *n)
{
    for (size_t i = 0; i < CASES; i++) {
        struct xb_compared *compared =
            add_judged(n, "registered", (enum xb_outcome)(i % 4), 0.9 + 0.001 * (double)i);
        struct xb_record_case *test = &n->candidate.cases[i];
        test->bytes = n->baseline.cases[i].bytes = (uint64_t)4096 << i / 8;
        test->device = n->baseline.cases[i].device = (int)(i % 8);
        compared->confidence = i % 2 ? 0.98 : 0.97;
    }
    conclude(n, XB_OUTCOME_REGRESSION, "50 of 200 gating cases");
}

/* Texts that could break a format, wherever one comes from outside. */
void make_nasty(struct node *n)
{
    make_regression(n);
    make_forced(n);
    n->comparison.overall = XB_OUTCOME_REGRESSION;
    memset(n->long_text, 'x', 10000);
    for (size_t i = 0; i < n->comparison.case_count; i++) {
        struct xb_record_case *test = i < 3 ? &n->candidate.cases[i] : &n->candidate.cases[7];
        test->mode = test->variant = test->direction = i == 1 ? n->long_text : NASTY;
        n->cases[i].test = test;
        for (size_t j = 0; j + 1 < sizeof n->cases[i].note; j++)
            n->cases[i].note[j] = NASTY[j % (sizeof NASTY - 1)];
    }
    for (size_t i = 0; i + 1 < sizeof n->comparison.reason; i++)
        n->comparison.reason[i] = NASTY[i % (sizeof NASTY - 1)];
    n->cases[2].has_ratio = n->cases[2].has_interval = true;
    n->cases[2].ratio = NAN;
    n->cases[2].low = -INFINITY;
    n->cases[0].ratio = n->cases[0].high = 1e300;
    n->baseline.record.path = NASTY;
    n->candidate.record.path = n->long_text;
    n->baseline.record.backend = n->baseline.record.driver = NASTY;
    n->candidate.device.name = NASTY;
    add_difference(n, NASTY, NASTY, n->long_text, true);
    add_difference(n, "same start", n->long_text, n->long_text + 1, true);
    add_difference(n, n->long_text, "\x01", "\x02", false);
}

const struct kind kinds[KINDS] = {{"empty", make_empty},
                                  {"pass", make_pass},
                                  {"regression", make_regression},
                                  {"indicative", make_indicative},
                                  {"only_passes_indicative", make_only_passes_indicative},
                                  {"refused", make_refused},
                                  {"forced", make_forced},
                                  {"latency", make_latency},
                                  {"parameters", make_parameters},
                                  {"rows_apart", make_rows_apart},
                                  {"all_apart", make_all_apart},
                                  {"many", make_many},
                                  {"nasty", make_nasty}};

int setup(void **state)
{
    struct node *n = calloc(1, sizeof *n);
    if (n == NULL)
        return 1;
    n->long_text = calloc(1, 10001);
    make_side(&n->baseline, "results/base.json");
    make_side(&n->candidate, "results/new.json");
    n->comparison = (struct xb_comparison){.version = "0.1.0",
                                           .baseline = &n->baseline.record,
                                           .candidate = &n->candidate.record,
                                           .request = {.threshold = 0.02, .alpha = 0.01},
                                           .differences = n->differences,
                                           .comparable = true,
                                           .cases = n->cases,
                                           .processes_needed = 5};
    *state = n;
    return n->long_text == NULL;
}

int teardown(void **state)
{
    struct node *n = *state;
    free(n->long_text);
    free(n);
    return 0;
}

char *written(sink write, const struct node *n)
{
    char *text = NULL;
    size_t size = 0;
    struct xb_error error;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(write(stream, &n->comparison, &error), XB_OK);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(strlen(text), size);
    return text;
}

size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *c = strstr(text, part); c != NULL; c = strstr(c + 1, part))
        count++;
    return count;
}

/* The line that holds `part`, without its end; the caller's to free. */
char *line_with(const char *text, const char *part)
{
    const char *found = strstr(text, part);
    if (found == NULL) {
        fail_msg("no '%s' in:\n%s", part, text);
        return NULL;
    }
    while (found > text && found[-1] != '\n')
        found--;
    return strndup(found, strcspn(found, "\n"));
}

void assert_line(const char *text, const char *part, const char *expected)
{
    char *line = line_with(text, part);
    assert_has(line, expected);
    free(line);
}

void assert_row(const char *text, const char *part, const char *expected)
{
    char *line = line_with(text, part);
    char *out = line;
    for (const char *c = line; *c != '\0'; c++)
        if (*c != ' ' || c[1] != ' ')
            *out++ = *c;
    *out = '\0';
    assert_has(line, expected);
    free(line);
}

cJSON *parsed(sink write, const struct node *n)
{
    char *text = written(write, n);
    cJSON *root = cJSON_ParseWithOpts(text, NULL, true);
    if (root == NULL)
        fail_msg("no JSON: %s", text);
    free(text);
    return root;
}
