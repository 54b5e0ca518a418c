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

/* Returns the seconds of one job without what is paid once: making page-locked memory. */
static double promised_seconds(const struct xb_advice_report *report)
{
    const struct xb_prediction *best = report->predictions.best;
    const struct xb_job *job = &report->predictions.job;
    const struct xb_cost *room = &report->costs.costs[XB_COST_COPY_ROOM];
    if (!best->is_copied)
        return best->running[XB_MIDDLE];
    return best->total[XB_MIDDLE] - (xb_cost_seconds(room, job->in, true, XB_MIDDLE) +
                                     xb_cost_seconds(room, job->out, true, XB_MIDDLE)) /
                                        (double)job->times;
}

static void print_about(FILE *stream, const char *before, const struct xb_advice_report *report)
{
    const struct xb_predictions *all = &report->predictions;
    const struct xb_job *job = &all->job;
    const struct xb_record *record = &report->records[0];
    const struct xb_record_device *device = xb_record_device(record, report->costs.device);
    const double seconds = promised_seconds(report);
    struct xb_words words = {.length = 0};
    xb_advice_say(all, &words);
    print_comment(stream, before, words.text);
    words.length = 0;
    xb_words_add(&words,
                 "The job: %s in, %s out, %s in the kernel. Promised: %s a job, %s GB/s "
                 "both ways together",
                 XB_SIZE_TEXT(job->in), job->out > 0 ? XB_SIZE_TEXT(job->out) : "nothing",
                 job->gpu_time > 0 ? XB_DURATION_TEXT(job->gpu_time) : "no time",
                 XB_DURATION_TEXT(seconds), XB_RATE_TEXT((double)(job->in + job->out) / seconds));
    if (all->best->has_pinning)
        xb_words_add(&words, ". Making page-locked memory, once, is not part of that");
    xb_words_add(&words, ". Measured on %s (%s), %s.",
                 device != NULL && device->name != NULL ? device->name : "a GPU without a name",
                 record->backend != NULL ? record->backend : "backend not known",
                 report->file != NULL ? report->file : "right before");
    print_comment(stream, before, words.text);
    words.length = 0;
    if (device != NULL && device->bound && device->numa_node >= 0)
        xb_words_add(&words,
                     "Measured near the GPU: run it by numactl --cpunodebind=%d "
                     "--membind=%d.",
                     device->numa_node, device->numa_node);
    if (words.length > 0)
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
    const struct value *values; /* end with a name of NULL */
    bool is_hip;
};

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

/* Prints a line of the text with values in place of their names. */
static void print_line(const struct program *program, const char *line, size_t length)
{
    const char *about = strstr(line, "XB_ABOUT\n"), *end = line + length;
    if (about != NULL && about < end) {
        char before[8];
        snprintf(before, sizeof before, "%.*s", (int)(about - line), line);
        print_about(program->stream, before, program->report);
        return;
    }
    while (line < end) {
        size_t taken = 1, i = 0;
        while (program->is_hip && i < sizeof names / sizeof *names &&
               strncmp(line, names[i].cuda, strlen(names[i].cuda)) != 0)
            i++;
        if (strncmp(line, "XB_", 3) == 0) {
            taken = strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
            fputs(value_of(program, line, taken), program->stream);
        } else if (program->is_hip && i < sizeof names / sizeof *names) {
            taken = strlen(names[i].cuda);
            fputs(names[i].hip, program->stream);
        } else {
            fputc(*line, program->stream);
        }
        line += taken;
    }
}

/* Prints the lines of the text whose "#if" holds, without these lines themselves. */
static void print_program(const struct program *program, const char *text)
{
    unsigned depth = 0, left_out = 0; /* from that depth on; 0: nothing is */
    for (const char *line = text, *next; *line != '\0'; line = next) {
        next = strchr(line, '\n') + 1;
        if (strncmp(line, "#if ", 4) == 0) {
            depth++;
            if (left_out == 0 &&
                strcmp(value_of(program, line + 4, (size_t)(next - line) - 5), "0") == 0)
                left_out = depth;
        } else if (strncmp(line, "#else", 5) == 0) {
            left_out = left_out == 0 ? depth : left_out == depth ? 0 : left_out;
        } else if (strncmp(line, "#endif", 6) == 0) {
            left_out = left_out == depth ? 0 : left_out;
            depth--;
        } else if (left_out == 0) {
            print_line(program, line, (size_t)(next - line));
        }
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

enum xb_status xb_advice_code_write(FILE *stream, const struct xb_advice_report *report,
                                    enum xb_code_for code, struct xb_error *error)
{
    const struct xb_prediction *best = report->predictions.best;
    const struct xb_job *job = &report->predictions.job;
    const bool is_ring = best->strategy == XB_STRATEGY_RING;
    const bool is_overlapped = best->strategy == XB_STRATEGY_OVERLAPPED;
    const bool is_locked = best->strategy >= XB_STRATEGY_PINNED && !best->is_copied;
    const struct xb_record_case *row =
        xb_cost_row(&report->costs.costs[XB_COST_PINNED_IN], job->in);
    /* Ordinary memory is page-locked where it lies; other is made as that of the rows was. */
    const bool is_registered =
        is_locked && (!job->is_in_pinned ||
                      strcmp(row->variant, xb_cost_sources[XB_COST_PINNED_IN].variants[0]) == 0);
    const struct xb_ring_plan plan = ring_plan(report, is_ring ? XB_COST_RING_IN : XB_COST_COPY_IN);
    const double seconds = promised_seconds(report);
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
        {"XB_SENT", best->is_copied           ? "pinned_in"
                    : code == XB_CODE_PYTORCH ? "data"
                                              : "in"},
        {"XB_RECEIVED", best->is_copied           ? "pinned_out"
                        : code == XB_CODE_PYTORCH ? "result"
                                                  : "out"},
        {"XB_KERNEL", FLAG(job->gpu_time > 0)},
        {"XB_RING", FLAG(is_ring)},
        {"XB_COPIED", FLAG(best->is_copied)},
        {"XB_BY_HELPERS", FLAG(is_ring || best->is_copied)},
        {"XB_REGISTERED", FLAG(is_registered)},
        {"XB_PINNED", FLAG(is_locked && !is_registered)},
        {NULL, NULL}};
    const struct program program = {stream, report, values, code == XB_CODE_HIP};
    print_program(&program, code == XB_CODE_PYTORCH ? xb_program_pytorch : xb_program_gpu);
    return xb_stream_finish(stream, "the program", error);
}
