/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* open_memstream */
#include "record_text.h"

#include "base/text.h"

#include <inttypes.h>
#include <math.h>

static const char *known(const char *text)
{
    return text != NULL ? text : "-";
}

#define NUMBER(value) (isnan(value) ? "-" : XB_NUMBER_TEXT(value))
#define NOT(flag) ((flag) ? "" : "not ")

static void put_facts(FILE *out, const char *what, const struct xb_record_fact *facts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%s: %s%s\n", what, facts[i].name, known(facts[i].value),
                facts[i].is_text ? " (text)" : "");
}

static void put_conditions(FILE *out, const struct xb_record *record)
{
    const struct xb_record_host *host = &record->host;
    const struct xb_record_start *start = &record->start;
    fprintf(out, "program: %s of %s, %s, without %s\n", known(record->version),
            known(record->compiler), known(record->build_type), known(record->left_out));
    fprintf(out, "timestamp: %s\n", known(record->timestamp));
    fprintf(out, "host: %s, %s, %s, %s, %" PRIu64 " CPUs, %" PRIu64 " B, %" PRIu64 " nodes\n",
            known(host->hostname), known(host->os), known(host->kernel), known(host->cpu_model),
            host->logical_cpus, host->memory_bytes, host->numa_nodes);
    fprintf(out, "node: %s, named by %s\n", known(host->node), known(host->node_named_by));
    fprintf(out, "launcher: %sknown, %" PRIu64 " of %" PRIu64 ", named by %s\n",
            NOT(record->launcher.known), record->launcher.rank, record->launcher.ranks,
            known(record->launcher.named_by));
    fprintf(out, "start: asked %s by %s, began %s, late %s\n", known(start->asked),
            known(start->by), known(start->began), NUMBER(start->late_s));
    fprintf(out, "clock: %sknown, %ssynchronised, error %s\n", NOT(start->clock_known),
            NOT(start->synchronised), NUMBER(start->clock_error_s));
    fprintf(out, "backend: %s, driver %s, runtime %s, library %s, named by %s\n",
            known(record->backend), known(record->driver), known(record->runtime),
            known(record->library), known(record->library_named_by));
    fprintf(out, "role: %s of %s against %s\n", known(record->role), known(record->program),
            known(record->counterpart));
    fprintf(out, "processes: %zu of %zu, %smerged\n", record->process_count,
            record->asked_processes, NOT(record->is_merged));
    fprintf(out, "end: %sinterrupted, %sin time of %s deadline\n", NOT(record->interrupted),
            NOT(record->deadline_met), record->has_deadline ? "a" : "no");
    put_facts(out, "option ", record->options, record->option_count);
    put_facts(out, "environment ", record->environment, record->environment_count);
    put_facts(out, "fact ", record->facts, record->fact_count);
}

static void put_device(FILE *out, const char *what, const struct xb_record_device *device)
{
    const struct xb_ceiling *ceiling = &device->ceiling;
    fprintf(out, "%s: %u, %s, UUID %s, %s, at %s, driver %s, %" PRIu64 " B, %ssharing memory\n",
            what, device->index, device->name, known(device->uuid), known(device->architecture),
            known(device->pci_bdf), known(device->driver), device->memory_bytes,
            NOT(device->shares_host_memory));
    fprintf(out, "%s, link: %sknown, %s of %s GT/s, x%u of x%u, port %s, %sunder load\n", what,
            NOT(device->link_known), NUMBER(device->link_speed_gts),
            NUMBER(device->link_max_speed_gts), device->link_width, device->link_max_width,
            known(device->link_port), NOT(device->link_under_load));
    fprintf(out, "%s, ceiling: %sknown, at %s, %s GT/s x%u, %s and %s B/s, packets %u and %u\n",
            what, NOT(ceiling->known), known(device->ceiling_at), NUMBER(ceiling->speed_gts),
            ceiling->width, NUMBER(ceiling->h2d), NUMBER(ceiling->d2h), ceiling->payload,
            ceiling->read_request);
    fprintf(out, "%s, NUMA: node %d, %sbound, %u CPUs, note %s, %snormal\n", what,
            device->numa_node, NOT(device->bound), device->cpus, known(device->numa_note),
            NOT(device->numa_is_normal));
    fprintf(out, "%s, facts:", what);
    for (size_t i = 0; i < device->fact_count; i++)
        fprintf(out, " %s=%s", device->facts[i].name, known(device->facts[i].value));
    fprintf(out, "\n");
}

static void put_process(FILE *out, size_t number, const struct xb_record_process *process)
{
    char what[64];
    fprintf(out, "process %zu: %sinterrupted, %sin time of %s deadline, %s results, failure %s\n",
            number, NOT(process->interrupted), NOT(process->deadline_met),
            process->has_deadline ? "a" : "no", process->has_results ? "with" : "without",
            known(process->failure));
    for (size_t i = 0; i < process->device_count; i++) {
        snprintf(what, sizeof what, "process %zu, device %zu", number, i);
        put_device(out, what, &process->devices[i]);
    }
}

static void put_statistics(FILE *out, const struct xb_statistics *of)
{
    fprintf(out, "n %zu, median %s", of->n, NUMBER(of->median));
    if (of->has_interval)
        fprintf(out, ", from %s to %s", NUMBER(of->ci95_low), NUMBER(of->ci95_high));
    fprintf(out, ", min %s, max %s, p5 %s, p95 %s, p99 %s, mad %s", NUMBER(of->min),
            NUMBER(of->max), NUMBER(of->p5), NUMBER(of->p95), NUMBER(of->p99), NUMBER(of->mad));
}

/* To 15 digits: of a million numbers all 17 would take seconds. */
static void put_numbers(FILE *out, const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fprintf(out, " %.15g", numbers[i]);
}

static void put_row(FILE *out, const char *what, const struct xb_record_row *row)
{
    static const char *const verified[] = {"not known", "true", "false"};
    fprintf(out, "%s: %s, verified %s, reason %s, timer %s, stopped %s%s, moved %" PRIu64 " B\n",
            what, xb_result_status_name(row->status), verified[row->verified], known(row->reason),
            known(row->timer), known(row->stop_reason), row->is_cut ? " (cut)" : "",
            row->bytes_moved);
    fprintf(out, "%s, times:", what);
    put_numbers(out, row->times, row->time_count);
    fprintf(out, "\n%s, placements:", what);
    for (size_t i = 0; i < row->placements.count; i++)
        fprintf(out, " %zu", row->placements.samples[i]);
    fprintf(out, "\n%s, warnings:", what);
    for (size_t i = 0; i < row->warning_count; i++)
        fprintf(out, " '%s'", row->warning_texts[i]);
    fprintf(out, "\n");
    for (size_t i = 0; i < row->detail_count; i++)
        fprintf(out, "%s, detail %s: text %s, number %s\n", what, row->details[i].name,
                known(xb_record_fact_text(&row->details[i])),
                NUMBER(xb_record_fact_number(&row->details[i])));
    if (row->error.known)
        fprintf(out, "%s, error: %s, %" PRId64 " %s of %s: %s at %s\n", what, row->error.status,
                row->error.native_code, known(row->error.native_name), known(row->error.call),
                row->error.message, known(row->error.at));
    for (size_t i = 0; i < row->figure_count; i++) {
        const struct xb_record_figure *figure = &row->figures[i];
        assert_ptr_equal(xb_record_row_figure(row, figure->name), figure);
        fprintf(out, "%s, %s: %s, %s, %sgating, ", what, figure->name, figure->unit,
                figure->more_is_better ? "more is better" : "less is better", NOT(figure->gates));
        put_statistics(out, &figure->statistics);
        fprintf(out, ", samples");
        put_numbers(out, figure->samples, figure->sample_count);
        fprintf(out, "\n");
    }
}

/* What all processes say of it together. */
static void put_all(FILE *out, const char *what, const struct xb_record *record,
                    const struct xb_record_case *test)
{
    static const char *const figures[] = {"bandwidth", "overlap", "latency_host"};
    static const char *const verified[] = {"not known", "true", "false"};
    char reason[XB_RECORD_REASON], cut[XB_RECORD_CUT];
    struct xb_record_warning warnings[XB_RECORD_WARNINGS];
    struct xb_statistics statistics;
    struct xb_record_summary summary = xb_record_summarize(record, test);
    fprintf(out, "%s, all: %s, verified %s, %zu ok of %zu, reason %s, cut %zu: %s\n", what,
            xb_result_status_name(summary.status), verified[summary.verified], summary.ok,
            summary.processes, known(xb_record_reason(test, &summary, reason, sizeof reason)),
            summary.cut, known(xb_record_cut_text(record, test, cut, sizeof cut)));
    size_t count = xb_record_warnings(record, test, warnings);
    fprintf(out, "%s, all warnings:", what);
    for (size_t i = 0; i < count; i++)
        fprintf(out, " '%s' of %zu", warnings[i].text, warnings[i].processes);
    fprintf(out, "\n");
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        double medians[XB_RECORD_PROCESSES];
        bool is_there = xb_record_describe(record, test, figures[i], &statistics);
        double median = xb_record_median(record, test, figures[i]);
        assert_true(is_there ? median == statistics.median : isnan(median));
        if (!is_there)
            continue;
        fprintf(out, "%s, all %s: ", what, figures[i]);
        put_statistics(out, &statistics);
        fprintf(out, ", medians");
        put_numbers(out, medians, xb_record_medians(record, test, figures[i], medians));
        fprintf(out, "\n");
    }
}

static void put_case(FILE *out, size_t number, const struct xb_record *record,
                     const struct xb_record_case *test)
{
    char what[64], device[32];
    snprintf(what, sizeof what, "case %zu", number);
    fprintf(out, "%s: %s %s %s %" PRIu64 " B, device %s (%d and %d), %slatency, %ssimultaneous\n",
            what, test->mode, test->variant, test->direction, test->bytes,
            xb_record_case_device(test, device, sizeof device), test->device, test->peer,
            NOT(test->latency), NOT(test->simultaneous));
    snprintf(what, sizeof what, "case %zu, parameter ", number);
    put_facts(out, what, test->parameters, test->parameter_count);
    for (size_t i = 0; i < record->process_count; i++)
        if (test->rows[i].is_there) {
            snprintf(what, sizeof what, "case %zu, process %zu", number, i);
            put_row(out, what, &test->rows[i]);
        }
    snprintf(what, sizeof what, "case %zu", number);
    put_all(out, what, record, test);
    assert_ptr_equal(xb_record_find(record, test), test);
}

char *text_of_record(const struct xb_record *record)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    put_conditions(out, record);
    for (size_t i = 0; i < record->process_count; i++)
        put_process(out, i, &record->processes[i]);
    for (size_t i = 0; i < record->case_count; i++)
        put_case(out, i, record, &record->cases[i]);
    fclose(out);
    return text;
}

/* Whether the text has a line that begins with these bytes, and whether it is these. */
static bool has_line(const char *text, const char *line, size_t length, bool whole)
{
    for (; *text != '\0'; text = strchr(text, '\n') + 1)
        if (strncmp(text, line, length) == 0 && (!whole || text[length] == '\n'))
            return true;
    return false;
}

static void add(char *said, size_t size, const char *word, const char *text, size_t length)
{
    size_t at = strlen(said);
    snprintf(said + at, size - at, "%s%s%.*s", at > 0 ? "; " : "", word, (int)length, text);
}

void say_new_lines(const char *text, const char *before, char *said, size_t size)
{
    for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1)
        if (!has_line(before, line, strcspn(line, "\n"), true))
            add(said, size, "", line, strcspn(line, "\n"));
    for (const char *line = before; *line != '\0'; line = strchr(line, '\n') + 1)
        if (!has_line(text, line, strcspn(line, ":") + 1, false))
            add(said, size, "no ", line, strcspn(line, ":"));
}

void assert_line(const struct xb_record *record, const char *what, const char *value)
{
    char line[4096];
    char *text = text_of_record(record);
    snprintf(line, sizeof line, "%s: %s", what, value);
    if (!has_line(text, line, strlen(line), true))
        fail_msg("no line '%s' in\n%s", line, text);
    free(text);
}
