/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* open_memstream */
#include "comparison_fixture.h"

#include "base/json_read.h"
#include "base/memory.h"
#include "base/units.h"
#include "record/document.h"
#include "run/request.h"

#include <cjson/cJSON.h>
#include <math.h>

struct xb_record before, after;
struct xb_comparison_request request;
struct xb_comparison result;

static struct xb_record defaults;

int finish_comparison(NO_STATE)
{
    xb_comparison_free(&result);
    xb_gates_free(&request.gates);
    xb_gates_free(&request.thresholds);
    xb_record_free(&before);
    xb_record_free(&after);
    xb_record_free(&defaults);
    return 0;
}

void begin(size_t baseline, size_t candidate)
{
    finish_comparison(NULL);
    before = make_record(baseline);
    after = make_record(candidate);
    request =
        (struct xb_comparison_request){.threshold = 0.02, .alpha = 0.01, .rows = xb_run_rows()};
}

void begin_comparison(void)
{
    begin(8, 8);
}

/* ---- sides, cases and texts ---- */

/* The first of a side's records, or the one behind the last; NULL after all. */
static struct xb_record *next_side(const char *side, const struct xb_record *last)
{
    bool both = strcmp(side, "both") == 0;
    if (last != NULL)
        return both && last == &before ? &after : NULL;
    return both || strcmp(side, "before") == 0 ? &before
           : strcmp(side, "after") == 0        ? &after
           : strcmp(side, "defaults") == 0     ? &defaults
                                               : NULL;
}

/* A process of a side's records. */
struct place {
    struct xb_record *record;
    size_t i;
};

/* The first of a list, or the one behind the last; false after all. */
static bool next_process(struct place *at, const char *side, const char *list)
{
    if (at->record != NULL)
        at->i++;
    else
        at->record = next_side(side, NULL);
    for (; at->record != NULL; at->record = next_side(side, at->record), at->i = 0)
        for (; at->i < at->record->process_count; at->i++)
            if (list_has(list, at->i))
                return true;
    return false;
}

static const char *kept(struct xb_record *record, const char *text)
{
    return text != NULL ? xb_arena_copy(&record->texts, text) : NULL;
}

struct key {
    char mode[64], direction[16];
    uint64_t bytes;
};

static struct key key_of(const char *text)
{
    struct key key = {.bytes = 0};
    char size[16] = "";
    struct xb_error error;
    if (sscanf(text, "%63[^/]/%15[^/]/%15s", key.mode, key.direction, size) == 3)
        assert_int_equal(xb_size_parse(size, &key.bytes, &error), XB_OK);
    return key;
}

static struct xb_record_case *case_of(struct xb_record *record, const char *text)
{
    struct key key = key_of(text);
    for (size_t i = 0; i < record->case_count; i++) {
        struct xb_record_case *test = &record->cases[i];
        if (strcmp(test->mode, key.mode) == 0 && (key.bytes == 0 || test->bytes == key.bytes) &&
            (key.direction[0] == '\0' || strcmp(test->direction, key.direction) == 0))
            return test;
    }
    fail_case("no case %s", text);
}

static struct xb_record_case *add_case(struct xb_record *record, const char *text, bool latency)
{
    struct key key = key_of(text);
    if (key.bytes == 0)
        fail_case("%s is no case", text);
    return add_named(record, kept(record, key.mode), kept(record, key.direction), key.bytes,
                     latency);
}

/* What tells it from other cases. */
static void describe(struct xb_record *record, struct xb_record_case *test, char **words)
{
    static const char *const own[] = {"variant", "device", "peer"};
    struct xb_record_fact *facts =
        xb_arena_new(&record->texts, MOST_WORDS * sizeof *test->parameters);
    if (value_of(words, own[0]) != NULL)
        test->variant = kept(record, value_of(words, own[0]));
    test->device = (int)number_or(words, own[1], test->device);
    test->peer = (int)number_or(words, own[2], test->peer);
    for (; *words != NULL; words++) {
        size_t length = strcspn(*words, "=");
        bool is_parameter = (*words)[length] == '=';
        test->simultaneous = test->simultaneous || strcmp(*words, "simultaneous") == 0;
        for (size_t i = 0; i < COUNT_OF(own); i++)
            is_parameter =
                is_parameter && (strlen(own[i]) != length || strncmp(*words, own[i], length) != 0);
        if (!is_parameter)
            continue;
        const char *value = kept(record, *words + length + 1);
        facts[test->parameter_count++] = (struct xb_record_fact){
            .name = xb_arena_print(&record->texts, "%.*s", (int)length, *words),
            .value = value,
            .is_text = strspn(value, "0123456789") < strlen(value)};
    }
    test->parameters = facts;
    fixture_sort(record);
}

/* ---- what is measured ---- */

static void begin_of(UNTOLD, char **words)
{
    size_t first = (size_t)number_of(words[1]);
    begin(first, words[2] != NULL ? (size_t)number_of(words[2]) : first);
}

/* The words are those of a verb, from the ratio on. */
static void measure_by(const struct xb_record *record, struct xb_record_case *test, bool is_base,
                       char **words)
{
    double ratio = 1, step = STEP;
    if (*words != NULL && sscanf(*words, "%lf", &ratio) == 1 && words[1] != NULL)
        (void)sscanf(words[1], "%lf", &step);
    measure(record, test, &xb_figure_bandwidth, RATE * (is_base ? 1 : ratio), step);
}

static void add(UNTOLD, char **words)
{
    for (struct xb_record *record = NULL; (record = next_side(words[0], record)) != NULL;) {
        struct xb_record_case *test = add_case(record, words[1], false);
        measure_by(record, test, record == &before && strcmp(words[0], "both") == 0, words + 2);
        describe(record, test, words + 2);
    }
}

static void measure_again(UNTOLD, char **words)
{
    for (struct xb_record *record = NULL; (record = next_side(words[1], record)) != NULL;)
        measure_by(record, case_of(record, words[2]), false, words + 3);
}

void add_pinned(double ratio, size_t count)
{
    for (size_t i = 0; i < 2 * count; i++) {
        struct xb_record *record = i % 2 == 0 ? &before : &after;
        uint64_t bytes = (record->case_count + 1) * MIB;
        measure(record, add_named(record, "pinned", "h2d", bytes, false), &xb_figure_bandwidth,
                RATE * (i % 2 == 0 ? 1 : ratio), STEP);
    }
}

static void add_many(UNTOLD, char **words)
{
    add_pinned(1, (size_t)number_of(words[1]));
}

static void add_latency(UNTOLD, char **words)
{
    static const struct xb_figure *const clocks[] = {&xb_figure_latency_host,
                                                     &xb_figure_latency_device};
    bool is_both = strcmp(words[1], "both") == 0;
    for (struct xb_record *record = NULL; (record = next_side(words[1], record)) != NULL;) {
        struct xb_record_case *test = add_case(record, words[2], true);
        double step = words[5] != NULL ? number_of(words[5]) : STEP;
        for (size_t i = 0; i < 2; i++)
            if (strcmp(words[3 + i], "-") != 0)
                measure(record, test, clocks[i],
                        SECONDS / (double)(1 + i) *
                            (is_both && record == &before ? 1 : number_of(words[3 + i])),
                        step);
    }
}

/* Of figures that are not a mode's own: computed, so that they have neither samples nor interval.
 */
static void set_figure(UNTOLD, char **words)
{
    const struct xb_figure *const known[] = {&xb_figure_bandwidth, &xb_figure_latency_host,
                                             &xb_figure_latency_device};
    for (struct place at = {.i = 0}; next_process(&at, words[1], words[3]);) {
        struct xb_figure figure = {
            .name = kept(at.record, words[4]), .unit = XB_UNIT_RATIO, .more_is_better = true};
        const struct xb_figure *own = &figure;
        struct xb_record_case *test = case_of(at.record, words[2]);
        for (size_t i = 0; i < COUNT_OF(known); i++)
            own = strcmp(known[i]->name, words[4]) == 0 ? known[i] : own;
        if (own != &figure)
            measure_one(test, at.i, own, number_of(words[5]));
        struct xb_record_figure *made = figure_of(test, at.i, own);
        if (own == &figure)
            made->statistics = xb_record_median_only(number_of(words[5]), 0);
        if (value_of(words, "unit") != NULL)
            made->unit = kept(at.record, value_of(words, "unit"));
        if (words[6] != NULL && strcmp(words[6], "less") == 0)
            made->more_is_better = false;
    }
}

static void take_interval(UNTOLD, char **words)
{
    for (struct xb_record *record = NULL; (record = next_side(words[1], record)) != NULL;)
        figure_of(case_of(record, words[2]), 0, &xb_figure_bandwidth)->statistics.has_interval =
            false;
}

static void set_row(UNTOLD, char **words)
{
    static const struct {
        const char *name;
        enum xb_result_status status;
        enum xb_verified verified;
    } kinds[] = {{"skipped", XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN},
                 {"failed", XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN},
                 {"verified", XB_RESULT_ERROR, XB_VERIFIED_TRUE},
                 {"wrong", XB_RESULT_ERROR, XB_VERIFIED_FALSE}};
    const char *what = words[4];
    size_t kind = 0;
    while (kind < COUNT_OF(kinds) && strcmp(kinds[kind].name, what) != 0)
        kind++;
    for (struct place at = {.i = 0}; next_process(&at, words[1], words[3]);) {
        struct xb_record_case *test = case_of(at.record, words[2]);
        struct xb_record_row *row = &test->rows[at.i];
        if (kind < COUNT_OF(kinds)) {
            spoil(test, at.i, kinds[kind].status, kinds[kind].verified, kept(at.record, words[5]));
        } else if (strcmp(what, "cut") == 0) {
            cut_short(test, at.i);
        } else if (strcmp(what, "missing") == 0) {
            *row = (struct xb_record_row){.figures = row->figures};
        } else if (strcmp(what, "unfinished") == 0) { /* as the reader leaves it */
            row->is_cut = true;
            row->figure_count = 0;
        } else {
            row->figure_count = (size_t)number_of(value_of(words, "figures"));
        }
    }
}

static void set_timer(UNTOLD, char **words)
{
    for (struct place at = {.i = 0}; next_process(&at, words[1], words[3]);)
        case_of(at.record, words[2])->rows[at.i].timer = kept(at.record, words[4]);
}

/* ---- under which conditions ---- */

static void set_process(UNTOLD, char **words)
{
    for (struct place at = {.i = 0}; next_process(&at, words[1], words[2]);) {
        struct xb_record_process *process = &at.record->processes[at.i];
        if (strcmp(words[3], "interrupted") == 0)
            process->interrupted = true;
        else if (strcmp(words[3], "late") == 0)
            process->deadline_met = false;
        else if (strcmp(words[3], "deviceless") == 0)
            process->device_count = 0;
        else
            process->failure = kept(at.record, value_of(words, "failure"));
    }
}

static void set_device(UNTOLD, char **words)
{
    const char *name = value_of(words, "name"), *link = value_of(words, "link");
    const char *packets = value_of(words, "packets");
    for (struct place at = {.i = 0}; next_process(&at, words[1], words[2]);) {
        struct xb_record_device *device = device_of(at.record, at.i, (unsigned)number_of(words[3]));
        if (name != NULL)
            device->name = kept(at.record, name);
        if (link != NULL) {
            device->link_known =
                sscanf(link, "%lfx%u", &device->link_speed_gts, &device->link_width) == 2;
            device->link_speed_gts += number_or(words, "by", 0) * (double)at.i;
        }
        if (packets != NULL)
            device->ceiling.known = sscanf(packets, "%u/%u", &device->ceiling.payload,
                                           &device->ceiling.read_request) == 2;
    }
}

static void set_stack(UNTOLD, char **words)
{
    for (struct xb_record *record = NULL; (record = next_side(words[1], record)) != NULL;) {
        const char **own = words[0][0] == 'b' ? &record->backend : &record->driver;
        *own = kept(record, words[2]);
    }
}

static void set_fact_of(UNTOLD, char **words)
{
    if (strcmp(words[1], "defaults") == 0 && request.defaults == NULL) {
        defaults = make_record(1);
        request.defaults = &defaults;
    }
    for (struct xb_record *record = NULL; (record = next_side(words[1], record)) != NULL;)
        for (char **word = words + 2; *word != NULL; word += word[1] != NULL ? 2 : 1)
            (words[0][0] == 'f' ? set_fact : set_option)(record, kept(record, word[0]),
                                                         kept(record, word[1]));
}

/* ---- what is asked ---- */

static void ask(FILE *told, char **words)
{
    struct xb_error error = {.status = XB_OK};
    const char *text = words[1];
    if (strcmp(words[0], "gate") == 0) {
        xb_gates_free(&request.gates);
        (void)xb_gates_parse(text, &request.gates, &error);
    } else if (strcmp(words[0], "threshold") == 0) {
        xb_gates_free(&request.thresholds);
        request.threshold = 0.02;
        (void)xb_thresholds_parse(text, &request.threshold, &request.thresholds, &error);
        assert_true(error.status == XB_OK || request.thresholds.items == NULL);
    } else if (strcmp(words[0], "alpha") == 0) {
        request.alpha = number_of(text);
    } else {
        *(words[0][0] == 'f' ? &request.force : &request.strict) = true;
    }
    if (error.status != XB_OK)
        fprintf(told, "refused: %s\n", error.message);
}

/* ---- what came of it ---- */

static enum xb_status compare_both(struct xb_error *error)
{
    xb_comparison_free(&result);
    memset(&result, 0xa5, sizeof result);
    return xb_compare(&before, &after, &request, &result, error);
}

void compare(void)
{
    struct xb_error error;
    assert_int_equal(compare_both(&error), XB_OK);
}

static void tell_case(FILE *told, const struct xb_compared *own)
{
    static const char *const bases[] = {"by test", "indicative", "by status", "none"};
    char size[32];
    const struct xb_compared_side *sides[] = {&own->baseline, &own->candidate};
    fprintf(told, "%c %s/%s/%s", own->gates ? '+' : '-', own->test->mode, own->test->direction,
            xb_size_key(own->test->bytes, size, sizeof size));
    for (size_t i = 0; i < own->test->parameter_count; i++)
        fprintf(told, " %s=%s", own->test->parameters[i].name, own->test->parameters[i].value);
    if (own->test->device != 0 || own->test->peer >= 0)
        fprintf(told, " of %d>%d", own->test->device, own->test->peer);
    fprintf(told, " %s:", own->figure.name);
    if (own->basis != XB_BASIS_NONE)
        fprintf(told, " %s", xb_outcome_name(own->outcome));
    fprintf(told, " %s", bases[own->basis]);
    if (own->has_ratio)
        fprintf(told, ", x %.6g", own->ratio);
    if (own->has_interval)
        fprintf(told, " (%.6g to %.6g at %.6g)", own->low, own->high, own->confidence);
    if (own->p_regression != 1 || own->p_improved != 1 || own->p_pass != 1)
        fprintf(told, ", P %.6g %.6g %.6g", own->p_regression, own->p_improved, own->p_pass);
    if (own->threshold != 0.02)
        fprintf(told, ", threshold %.6g", own->threshold);
    for (size_t i = 0; i < 2; i++)
        if (sides[i]->is_there)
            fprintf(told, ", %zu of %.6g", sides[i]->processes, sides[i]->median);
        else
            fputs(", not there", told);
    fprintf(told, "%s%s%s%s", own->cannot_pass ? ", cannot pass" : "",
            own->fails_more ? ", fails more" : "", own->same_settings ? "" : ", other settings",
            xb_compared_is_apart(&result, own) ? ", apart" : "");
    if (own->note[0] != '\0')
        fprintf(told, "\n      %s", own->note);
    fputs("\n", told);
}

static void tell_differences(FILE *told)
{
    for (size_t i = 0; i < result.difference_count; i++) {
        const struct xb_difference *own = &result.differences[i];
        fprintf(told, "%s: %s -> %s%s%s%s\n", own->name,
                own->baseline != NULL ? own->baseline : "-",
                own->candidate != NULL ? own->candidate : "-", own->forbids ? ", forbids" : "",
                own->of_rows ? ", of rows" : "", own->of_stack ? ", of the stack" : "");
    }
}

#define NAMED 4 /* so many that are like the one before are named */

/* Cases that say the same but for their size are told once. */
static void tell_cases(FILE *told)
{
    char *last = NULL, *text = NULL;
    size_t size = 0, alike = 0;
    for (size_t i = 0; i < result.case_count; i++) {
        FILE *stream = open_memstream(&text, &size);
        tell_case(stream, &result.cases[i]);
        fclose(stream);
        bool same = last != NULL && last[0] == text[0] &&
                    strcmp(strstr(last, ": "), strstr(text, ": ")) == 0;
        alike = same ? alike + 1 : 0;
        if (!same)
            fputs(text, told);
        else if (alike <= NAMED)
            fprintf(told, "  so is %.*s\n", (int)(strstr(text, ": ") - text - 2), text + 2);
        else if (i + 1 == result.case_count)
            fprintf(told, "  and %zu more\n", alike - NAMED);
        free(last);
        last = text;
    }
    free(last);
}

enum xb_status table_of_all(FILE *stream, const struct xb_comparison *comparison,
                            struct xb_error *error)
{
    return xb_compare_table_write(stream, comparison, 250, true, error);
}

char *comparison_text(xb_compare_writer *write, const struct xb_comparison *comparison)
{
    char *text = NULL;
    size_t size = 0;
    struct xb_error error;
    FILE *stream = open_memstream(&text, &size);
    assert_int_equal(write(stream, comparison, &error), XB_OK);
    fclose(stream);
    return text;
}

/* The result, written as JSON and read again, has the same table. */
static void assert_read_back(void)
{
    struct xb_error error;
    struct xb_comparison_file file;
    struct xb_json_reader reader = {.place = {.path = "f.json"}};
    char *json = comparison_text(xb_compare_json_write, &result);
    char *written = comparison_text(table_of_all, &result);
    cJSON *root = xb_json_read(&reader, json, strlen(json));
    assert_non_null(root);
    if (xb_comparison_of_tree("f.json", root, &file, &error) != XB_OK)
        fail_msg("%s", error.message);
    char *read = comparison_text(table_of_all, &file.comparison);
    if (strcmp(read, written) != 0)
        fail_msg("read:\n%s\nwritten:\n%s", read, written);
    free(json);
    free(written);
    free(read);
    cJSON_Delete(root);
    xb_comparison_file_free(&file);
}

static void tell_comparison(FILE *told, NO_WORDS)
{
    struct xb_error error;
    if (compare_both(&error) != XB_OK) {
        assert_null(result.cases); /* nothing is left to free */
        assert_null(result.differences);
        assert_null(result.texts);
        fprintf(told, "refused: %s\n", error.message);
        return;
    }
    fprintf(told, "%s, exit %d: %s\n", xb_outcome_name(result.overall),
            xb_comparison_exit_code(&result), result.reason);
    if (result.next[0] != '\0')
        fprintf(told, "Next: %s\n", result.next);
    tell_differences(told);
    tell_cases(told);
    fprintf(told, "%zu share alpha, which takes %zu processes\n", result.gating_count,
            result.processes_needed);
    assert_read_back();
}

static void tell_gates(FILE *told, char **words)
{
    struct xb_gates gates;
    struct xb_error error;
    memset(&gates, 0xa5, sizeof gates);
    if (xb_gates_parse(words[1], &gates, &error) != XB_OK)
        fprintf(told, "refused: %s\n", error.message);
    for (size_t i = 0; i < gates.count; i++) {
        const struct xb_gate *own = &gates.items[i];
        fprintf(told, "%s%s/%s/%zu..%zu/%s", i > 0 ? ", " : "", own->mode != NULL ? own->mode : "*",
                own->direction != NULL ? own->direction : "*", (size_t)own->least,
                (size_t)own->most, own->figure != NULL ? own->figure : "*");
    }
    fputs(gates.count > 0 ? "\n" : "", told);
    xb_gates_free(&gates);
    assert_null(gates.items);
    assert_null(gates.words);
    assert_int_equal(gates.count, 0);
}

const struct verb comparison_verbs[] = {
    {"processes", begin_of},
    {"both", add},
    {"before", add},
    {"after", add},
    {"again", measure_again},
    {"passing", add_many},
    {"latency", add_latency},
    {"figure", set_figure},
    {"no-interval", take_interval},
    {"row", set_row},
    {"timer", set_timer},
    {"process", set_process},
    {"device", set_device},
    {"backend", set_stack},
    {"driver", set_stack},
    {"fact", set_fact_of},
    {"option", set_fact_of},
    {"gate", ask},
    {"threshold", ask},
    {"alpha", ask},
    {"force", ask},
    {"strict", ask},
    {"parse", tell_gates},
    {"compare", tell_comparison},
    {NULL, NULL},
};
