/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a program of src/advise/code: the lines that the way needs, with what was measured. */
#include "report.h"

#include "base/stream.h"
#include "base/text.h"
#include "base/units.h"
#include "modes/job.h"
#include "modes/ring.h"

#include <math.h>
#include <string.h>

/* The widest line of a comment. */
#define WIDTH 96

/* ---- what the program says of itself ---- */

/* Prints a text as comments, each line behind `before`. No byte of a file's text may end a line, or
 * continue it on the next: the rest would be part of the program. */
static void print_comment(FILE *stream, const char *before, const char *text)
{
    size_t used = 0;
    for (const char *word = text; *word != '\0'; word += strspn(word, " ")) {
        size_t length = strcspn(word, " ");
        bool is_first = used == 0 || used + 1 + length > WIDTH;
        fputs(!is_first ? " " : used > 0 ? "\n" : "", stream);
        if (is_first)
            fputs(before, stream);
        used = is_first ? strlen(before) + length : used + 1 + length;
        for (; length > 0; length--, word++)
            fputc(*word < ' ' || *word > '~' || strchr("\\?", *word) != NULL ? '_' : *word, stream);
    }
    fputc('\n', stream);
}

/* Returns the kind of memory that the data has to be in. */
static const char *kind_of(const struct xb_prediction *best)
{
    const enum xb_job_memory memory = xb_strategy_words[best->strategy].memory;
    return memory == XB_JOB_MANAGED ? xb_memory_words[memory] : "page-locked";
}

static void print_about(FILE *stream, const char *before, const struct xb_advice_report *report,
                        const struct xb_prediction *best)
{
    const struct xb_predictions *all = &report->predictions;
    const struct xb_job *job = &all->job;
    const struct xb_record *record = &report->record;
    const struct xb_record_device *device = xb_record_device(record, report->costs.device);
    const double seconds = best->running[XB_MIDDLE] + best->by_cpu;
    struct xb_words words = {.length = 0};
    xb_advice_say(all, &words);
    if (best != all->best)
        xb_words_add(&words,
                     " PyTorch has no call for that way: this is %s, the fastest that it has.",
                     xb_strategy_words[best->strategy].text);
    print_comment(stream, before, words.text);
    words.length = 0;
    xb_words_add(&words,
                 "The job: %s in, %s out, %s in the kernel. Promised: %s a job, %s GB/s "
                 "both ways together",
                 XB_SIZE_TEXT(job->in), job->out > 0 ? XB_SIZE_TEXT(job->out) : "nothing",
                 job->gpu_time > 0 ? XB_DURATION_TEXT(job->gpu_time) : "no time",
                 XB_DURATION_TEXT(seconds), XB_RATE_TEXT((double)(job->in + job->out) / seconds));
    if (best->has_pinning)
        xb_words_add(&words, ". Making %s memory, once, is not part of that", kind_of(best));
    xb_words_add(&words, ". Measured on %s (%s), %s.",
                 device != NULL && device->name != NULL ? device->name : "a GPU without a name",
                 record->backend != NULL ? record->backend : "backend not known",
                 report->file != NULL ? report->file : "right before");
    print_comment(stream, before, words.text);
    if (device == NULL || !device->bound || device->numa_node < 0)
        return;
    words.length = 0;
    xb_words_add(&words, "Measured near the GPU: run it by numactl --cpunodebind=%d --membind=%d.",
                 device->numa_node, device->numa_node);
    print_comment(stream, before, words.text);
}

/* ---- the program ---- */

/* The text that takes the place of a name; "0" leaves out what depends on it. */
struct value {
    const char *name, *text;
};

struct program {
    FILE *stream;
    const struct xb_advice_report *report;
    const struct xb_prediction *best;
    const struct value *values; /* end with a name of NULL */
    bool is_hip;
};

#define NAME "ABCDEFGHIJKLMNOPQRSTUVWXYZ_" /* the characters of one */

static const char *value_of(const struct program *program, const char *name, size_t length)
{
    const struct value *value = program->values;
    while (value->name != NULL &&
           (strlen(value->name) != length || strncmp(value->name, name, length) != 0))
        value++;
    return value->name != NULL ? value->text : "0";
}

/* Names that HIP has in place of CUDA's, the longer ones first. */
static const struct {
    const char *cuda, *hip;
} names[] = {{"cuda_runtime.h", "hip/hip_runtime.h"},
             {"cudaMallocHost", "hipHostMalloc"},
             {"cudaFreeHost", "hipHostFree"},
             {"nvcc -O2 job.cu", "hipcc -O2 -pthread job.cpp"},
             {"cuda", "hip"}};

/* Prints the first character of the text, or the runtime's word in place of CUDA's. Returns how
 * much of the text that was. */
static size_t print_word(const struct program *program, const char *text)
{
    for (size_t i = 0; program->is_hip && i < sizeof names / sizeof *names; i++)
        if (strncmp(text, names[i].cuda, strlen(names[i].cuda)) == 0) {
            fputs(names[i].hip, program->stream);
            return strlen(names[i].cuda);
        }
    fputc(*text, program->stream);
    return 1;
}

/* Prints a line of the text with values in place of their names. */
static void print_line(const struct program *program, const char *line, size_t length)
{
    const char *about = strstr(line, "XB_ABOUT\n"), *end = line + length;
    if (about != NULL && about < end) {
        char before[8];
        snprintf(before, sizeof before, "%.*s", (int)(about - line), line);
        print_about(program->stream, before, program->report, program->best);
        return;
    }
    while (line < end) {
        if (strncmp(line, "XB_", 3) != 0) {
            line += print_word(program, line);
            continue;
        }
        size_t length_of_name = strspn(line, NAME);
        for (const char *value = value_of(program, line, length_of_name); *value != '\0';)
            value += print_word(program, value);
        line += length_of_name;
    }
}

/* Prints the lines of the text whose "#if XB_..." holds, without these lines themselves; and of
 * those that begin with such a name and a space, where that holds, what is behind. */
static void print_program(const struct program *program, const char *text)
{
    unsigned depth = 0, left_out = 0; /* from that depth on; 0: nothing is */
    unsigned own = 0;                 /* the depth of an "#if" of the program's own */
    bool is_blank = false;            /* the line before: no two of them follow each other */
    for (const char *line = text, *next; *line != '\0'; line = next) {
        next = strchr(line, '\n') + 1;
        bool is_if = strncmp(line, "#if ", 4) == 0, is_else = strncmp(line, "#else", 5) == 0;
        bool is_end = strncmp(line, "#endif", 6) == 0;
        const char *name = line + (is_if ? 4 : strspn(line, " "));
        const size_t length = strspn(name, NAME);
        bool is_ours = strncmp(name, "XB_", 3) == 0 && (is_if || name[length] == ' ');
        bool holds = !is_ours || strcmp(value_of(program, name, length), "0") != 0;
        depth += is_if;
        own = is_if && !is_ours ? depth : own;
        if ((is_if || is_else || is_end) && depth != own) {
            if (left_out == depth)
                left_out = 0;
            else if (left_out == 0 && !is_end && (is_else || !holds))
                left_out = depth;
        } else if (left_out == 0 && holds) {
            const char *begin = is_ours ? name + length + 1 : line;
            fprintf(program->stream, "%.*s", is_ours ? (int)(name - line) : 0, line);
            if (!(is_blank && *line == '\n'))
                print_line(program, begin, (size_t)(next - begin));
            is_blank = *line == '\n';
        }
        own = is_end && depth == own ? 0 : own;
        depth -= is_end;
    }
}

/* ---- what was measured ---- */

/* Returns a number that the row of a case tells; 0 where it does not. */
static double detail_of(const struct xb_record_case *test, const char *name)
{
    double number =
        test != NULL ? xb_record_fact_number(xb_record_detail_find(&test->rows[0], name)) : 0;
    return number >= 1 && number < 1e12 ? number : 0;
}

/* Takes threads, chunk and slots from the row that tells the cost, and from what a run would take
 * now where the row does not say. Rows of larger copies have larger chunks than the job needs. */
static struct xb_ring_plan ring_plan(const struct xb_advice_report *report, enum xb_cost_kind kind)
{
    const struct xb_job *job = &report->predictions.job;
    struct xb_ring_plan plan = xb_ring_plan_usual(xb_larger(job->in, job->out));
    const struct xb_record_case *test = xb_cost_row(&report->costs.costs[kind], job->in);
    double threads = detail_of(test, "threads"), chunk = detail_of(test, "ring_chunk_bytes");
    double slots = chunk > 0 ? detail_of(test, "ring_bytes") / chunk : 0;
    if (threads > 0)
        plan.threads = (unsigned)fmin(threads, 1024);
    if (slots >= XB_RING_LEAST_SLOTS) {
        plan.slots = (unsigned)fmin(slots, 1024);
        plan.chunk = xb_lesser(plan.chunk, (uint64_t)chunk);
    }
    return plan;
}

/* The program repeats the job so often, for about so many seconds. */
#define RUNS_LEAST 3.0
#define RUNS_MOST 21.0
#define RUNS_SECONDS 2.0

#define NUMBER(value) XB_NUMBER_TEXT((double)(value))
#define FLAG(is_so) ((is_so) ? "1" : "0")

/* Ordinary memory is page-locked where it lies; other is made as that of the rows was. */
static bool registers(const struct xb_advice_report *report)
{
    const struct xb_job *job = &report->predictions.job;
    const struct xb_record_case *row =
        xb_cost_row(&report->costs.costs[XB_COST_PINNED_IN], job->in);
    const char *registered = xb_cost_sources[XB_COST_PINNED_IN].variants[0];
    return job->memory == XB_JOB_PAGEABLE || (row != NULL && strcmp(row->variant, registered) == 0);
}

/* The fastest way of which there is a program; NULL for none. PyTorch has copies only. */
static const struct xb_prediction *best_for(const struct xb_predictions *all, enum xb_code_for code)
{
    const struct xb_prediction *best = all->best;
    if (best == NULL || best->strategy < XB_STRATEGY_MANAGED || code != XB_CODE_PYTORCH)
        return best;
    best = NULL;
    for (const struct xb_prediction *one = all->each; one->strategy < XB_STRATEGY_MANAGED; one++)
        if (one->is_known && (best == NULL || one->total[XB_MIDDLE] < best->total[XB_MIDDLE]))
            best = one;
    return best;
}

enum xb_status xb_advice_code_write(FILE *stream, const struct xb_advice_report *report,
                                    enum xb_code_for code, struct xb_error *error)
{
    const struct xb_prediction *best = best_for(&report->predictions, code);
    const struct xb_job *job = &report->predictions.job;
    if (best == NULL) {
        xb_say(report->predictions.best == NULL
                   ? "--code: no way has a prediction, so there is no program to print"
                   : "--code: PyTorch has no call for the ways that have a prediction");
        return XB_OK;
    }
    const bool is_ring = best->strategy == XB_STRATEGY_RING;
    const bool is_overlapped = best->strategy == XB_STRATEGY_OVERLAPPED;
    const bool is_managed = xb_strategy_words[best->strategy].memory == XB_JOB_MANAGED;
    const bool is_pinned = xb_strategy_words[best->strategy].memory == XB_JOB_PINNED;
    const bool is_on_device = best->strategy < XB_STRATEGY_MANAGED;
    const bool is_registered = is_pinned && !best->is_copied && registers(report);
    const bool is_allocated = (is_pinned || is_managed) && !best->is_copied && !is_registered;
    const struct xb_ring_plan plan = ring_plan(report, is_ring ? XB_COST_RING_IN : XB_COST_COPY_IN);
    /* One job takes so long without making page-locked memory, which is paid once. */
    const double seconds = best->running[XB_MIDDLE] + best->by_cpu;
    const double runs = fmin(fmax(floor(RUNS_SECONDS / seconds), RUNS_LEAST), RUNS_MOST);
    const struct value values[] = {
        {"XB_IN_BYTES", NUMBER(job->in)},
        {"XB_OUT_BYTES", NUMBER(job->out)},
        {"XB_KERNEL_SECONDS", NUMBER(job->gpu_time)},
        {"XB_PROMISED_SECONDS", NUMBER(seconds)},
        {"XB_DEVICE", NUMBER(report->costs.device)},
        {"XB_RUNS", NUMBER(runs)},
        {"XB_CHUNK_BYTES", NUMBER(is_overlapped ? best->chunk : job->in)},
        {"XB_STREAMS", NUMBER(is_overlapped ? XB_JOB_QUEUES : 1)},
        {"XB_HELPERS", NUMBER(plan.threads - 1)},
        {"XB_SLOTS", NUMBER(plan.slots)},
        {"XB_SLOT_BYTES", NUMBER(plan.chunk)},
        {"XB_SENT", best->is_copied           ? "staged_in"
                    : code == XB_CODE_PYTORCH ? "data"
                                              : "in"},
        {"XB_RECEIVED", best->is_copied           ? "staged_out"
                        : code == XB_CODE_PYTORCH ? "result"
                                                  : "out"},
        {"XB_KERNEL", FLAG(job->gpu_time > 0)},
        {"XB_RING", FLAG(is_ring)},
        {"XB_COPIED", FLAG(best->is_copied)},
        {"XB_BY_HELPERS", FLAG(is_ring || best->is_copied)},
        {"XB_REGISTERED", FLAG(is_registered)},
        {"XB_ALLOCATED", FLAG(is_allocated)},
        {"XB_ALLOCATE", is_managed ? "cudaMallocManaged" : "cudaMallocHost"},
        {"XB_FREE", is_managed ? "cudaFree" : "cudaFreeHost"},
        {"XB_KIND", kind_of(best)},
        {"XB_OUT", is_on_device || best->is_copied ? "allocate(out_bytes)" : "in"},
        {"XB_ON_DEVICE", FLAG(is_on_device)},
        {"XB_COPIES", FLAG(is_on_device && !is_ring)},
        {"XB_MANAGED", FLAG(is_managed)},
        {"XB_FAULTS", FLAG(best->strategy == XB_STRATEGY_MANAGED)},
        {"XB_PREFETCH", FLAG(best->strategy == XB_STRATEGY_PREFETCH)},
        {"XB_ZERO_COPY", FLAG(best->strategy == XB_STRATEGY_ZERO_COPY)},
        {NULL, NULL}};
    const struct program program = {stream, report, best, values, code == XB_CODE_HIP};
    print_program(&program, code == XB_CODE_PYTORCH ? xb_program_pytorch : xb_program_gpu);
    return xb_stream_finish(stream, "the program", error);
}
