/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memfd_create */
/* What does a program spend its time on, and what could its copies take? Of a trace, or live. */
#include "cli/command.h"

#include "advise/report.h"
#include "backends/collector.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "cli/places.h"
#include "explain.h"
#include "run/deadline.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WAIT_S 0.05 /* between two looks at signals */

static const struct xb_option option_with = {
    XB_FILE("with", "FILE"),
    .help = "A result file of the machine that ran the program: from it comes what copies would "
            "take pinned, together or overlapped. Options that make one: --mode pageable,pinned "
            "--size 4K..1G --json FILE.",
};
static const struct xb_option option_measure = {
    XB_FLAG("measure"),
    .help = "Measure here and now what --with would tell, after the program has ended.",
};
static const struct xb_option option_json = {
    XB_FILE("json", "FILE"),
    .short_name = 'j',
    .help = "Write what was found as JSON (docs/explain.schema.json); '-' is standard output, in "
            "place of the text.",
};

struct command {
    const char *with, *backend, *json_path; /* NULL where not given */
    bool measures;
    double deadline;
    char *const *traces;
    size_t trace_count;
    char *const *program; /* the command line that is run; NULL: none is */
    bool is_open;         /* the collector is offered to it */
    struct xb_output json;
    struct xb_profiles profiles;
    struct xb_advise_session session;
    struct xb_advice_report costs; /* its record and costs */
    struct xb_arena *memory;
    struct xb_explanation *explanations;
    struct xb_explain_source source;
};

#define BIND(member, row) XB_BIND(struct command, member, row)
static const struct xb_option_field *const fields = XB_FIELDS(
    BIND(with, &option_with), BIND(measures, &option_measure), BIND(json_path, &option_json),
    BIND(backend, &xb_option_backend), BIND(deadline, &xb_option_deadline));

static enum xb_status read_request(struct command *command, const struct xb_config *config,
                                   char *const *words, struct xb_error *error)
{
    char *const *end = words;
    while (*end != NULL && strcmp(*end, "--") != 0)
        end++;
    command->traces = config->operands;
    command->trace_count = config->operand_count;
    if (*end != NULL)
        command->program = end + 1;
    for (; command->trace_count > 0 && *end != NULL && end[1] != NULL; end++)
        command->trace_count--;
    if (command->program != NULL && *command->program == NULL)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "explain -- takes a command: xferbench explain -- python3 train.py");
    if (command->program != NULL && command->trace_count > 0)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "explain takes traces or a command, and '%.100s' stands before the command",
                       command->traces[0]);
    if (command->program == NULL && command->trace_count == 0)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "explain takes a trace, or a command behind --: xferbench explain "
                       "trace.json, or xferbench explain -- python3 train.py");
    if (command->with != NULL && command->measures)
        return XB_FAIL(error, XB_ERR_USAGE, "--with and --measure: give one of them");
    return XB_OK;
}

/* ---- running a program, and looking into it ---- */

/* Sets a variable to the path by which other processes find an open file of this one. */
static void offer_file(const char *variable, int file)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), file);
    (void)setenv(variable, path, 1);
}

/* Makes a file without a name for what is recorded, and puts the collector, which lies in memory,
 * where the driver finds it: there is nothing to remove. Returns the file, or -1 with errno. */
static int offer_collector(void)
{
    static const char head[] = "[{\"ph\":\"M\",\"name\":\"xferbench_explain\",\"pid\":0,"
                               "\"args\":{\"version\":1}},\n";
    const char *folder = secure_getenv("TMPDIR");
    char *path = xb_print("%s/xferbench-XXXXXX", folder != NULL ? folder : "/tmp");
    int trace = mkostemp(path, O_CLOEXEC), file = memfd_create("xferbench", MFD_CLOEXEC);
    if (trace >= 0)
        (void)unlink(path);
    free(path);
    if (trace < 0 || file < 0 ||
        write(file, xb_collector_bytes, xb_collector_length) != (ssize_t)xb_collector_length ||
        write(trace, head, sizeof head - 1) != (ssize_t)sizeof head - 1)
        return -1;
    offer_file("CUDA_INJECTION64_PATH", file);
    offer_file("XFERBENCH_EXPLAIN", trace);
    return trace;
}

static int become(void *argument, int channel)
{
    char *const *words = argument;
    (void)channel;
    (void)execvp(words[0], words);
    return 127;
}

/* Runs it to its end; its streams are ours. Ctrl-C reaches it from the terminal. What ends only
 * this process is passed on, and the second such signal kills it. */
static enum xb_status run_program(struct command *command, struct xb_error *error)
{
    struct xb_child child;
    char *path;
    XB_TRY(xb_program_find(command->program[0], &path, error));
    free(path);
    const struct xb_child_task task = {.what = "the program",
                                       .work = become,
                                       .argument = (void *)command->program,
                                       .signals = XB_CHILD_RESETS_SIGNALS};
    const struct sigaction ignored = {.sa_handler = SIG_IGN};
    struct sigaction before;
    double began = xb_clock_now();
    XB_TRY(xb_child_start(&child, &task, error));
    (void)sigaction(SIGINT, &ignored, &before);
    while (!xb_child_wait(&child, xb_clock_now() + WAIT_S))
        xb_child_pass_on_signal(&child, xb_interrupt_signal(), INFINITY);
    (void)sigaction(SIGINT, &before, NULL);
    command->source.wall = child.ended_at - began;
    command->source.exit_code = child.signal != 0 ? 128 + child.signal : child.exit_code;
    if (child.signal != 0)
        xb_say("the program %s", xb_child_end_text(0, child.signal, (char[64]){0}, 64));
    xb_child_close(&child);
    return XB_OK;
}

static enum xb_status watch_program(struct command *command, struct xb_error *error)
{
    const char *obstacle = xb_collector_absent;
    int trace = -1;
    char path[64];
    if (obstacle == NULL && getenv("CUDA_INJECTION64_PATH") != NULL)
        obstacle = "CUDA_INJECTION64_PATH is set: a profiler looks into programs already";
    if (obstacle != NULL)
        xb_say("the program runs, but nothing can be seen in it: %s", obstacle);
    else if ((trace = offer_collector()) < 0)
        return XB_FAIL(error, XB_ERR_SYSTEM,
                       "cannot make a temporary file in $TMPDIR or /tmp for what is recorded: %s",
                       strerror(errno));
    command->is_open = trace >= 0;
    enum xb_status status = run_program(command, error);
    (void)unsetenv("CUDA_INJECTION64_PATH"); /* what is measured here must not be looked at */
    (void)unsetenv("XFERBENCH_EXPLAIN");
    if (trace < 0)
        return status;
    snprintf(path, sizeof path, "/proc/self/fd/%d", trace);
    if (status == XB_OK)
        status = xb_profiles_read(&command->profiles, path, error);
    close(trace);
    return status;
}

/* The first GPU that did anything, and the largest copy each way: of these a measurement has to
 * tell. */
static int find_needs(const struct xb_profiles *profiles, struct xb_job *job)
{
    int device = -1;
    *job = (struct xb_job){.in = 1 << 20, .out = 1 << 20, .times = 1, .memory = XB_JOB_PINNED};
    for (size_t i = 0; i < profiles->count; i++)
        for (size_t k = 0; k < profiles->items[i].count; k++) {
            const struct xb_activity *deed = &profiles->items[i].activities[k];
            device = device < 0 ? deed->device : device;
            if (deed->way == XB_WAY_TO_GPU || deed->way == XB_WAY_BACK) {
                uint64_t *most = deed->way == XB_WAY_TO_GPU ? &job->in : &job->out;
                *most = deed->bytes > *most ? deed->bytes : *most;
            }
        }
    return device < 0 ? 0 : device;
}

static enum xb_status read_costs(struct command *command, struct xb_error *error)
{
    struct xb_advice_report *costs = &command->costs;
    struct xb_job job;
    costs->costs.device = find_needs(&command->profiles, &job);
    if (command->with != NULL) {
        if (xb_record_device(&costs->record, costs->costs.device) == NULL) {
            xb_say("'%.200s' has no GPU %d: predictions are of its GPU 0", command->with,
                   costs->costs.device);
            costs->costs.device = 0;
        }
    } else {
        snprintf(command->session.device, sizeof command->session.device, "%d",
                 costs->costs.device);
        command->session.holder.deadline = xb_deadline_of(command->deadline);
        XB_TRY(xb_deadline_watch(command->session.holder.deadline, XB_EXIT_USAGE, error));
        if (xb_backend_choose(command->backend, &command->session.holder) != XB_EXIT_OK)
            return XB_FAIL(error, XB_ERR_USAGE, "--measure: nothing can be measured here");
        XB_TRY(xb_advise_measure(&command->session, &job, costs, error));
    }
    xb_costs_read(&costs->costs, &costs->record);
    return XB_OK;
}

static enum xb_status write_answer(struct command *command, struct xb_error *error)
{
    const struct xb_explain_source *source = &command->source;
    const size_t count = command->profiles.count;
    bool only_json = command->json.is_stdout;
    if (command->json.stream != NULL) {
        XB_TRY(xb_explain_json_write(command->json.stream, source, command->explanations, count,
                                     error));
        XB_TRY(xb_output_commit(&command->json, error));
    }
    if (only_json)
        return XB_OK;
    /* The program's standard output is its own. */
    return xb_explain_print(command->program != NULL ? stderr : stdout, source,
                            command->explanations, count, error);
}

static bool explain_all(struct command *command)
{
    const struct xb_profiles *profiles = &command->profiles;
    const struct xb_costs *costs =
        command->source.with != NULL || command->source.is_measured ? &command->costs.costs : NULL;
    bool has_any = false;
    command->explanations = xb_explain(profiles, costs, &command->memory);
    for (size_t i = 0; i < profiles->count; i++) {
        has_any = has_any || command->explanations[i].window > 0;
        if (profiles->items[i].problem != NULL)
            xb_say("%.60s (%llu): nothing can be seen in it: %s",
                   profiles->items[i].name != NULL ? profiles->items[i].name : "process",
                   (unsigned long long)profiles->items[i].process, profiles->items[i].problem);
    }
    return has_any;
}

static enum xb_status explain(struct command *command, bool *has_any, struct xb_error *error)
{
    xb_interrupt_catch_twice(); /* before there is a temporary file to leave behind */
    if (command->json_path != NULL) {
        XB_TRY(xb_cli_find_output("--json", command->json_path, &command->json, error));
        XB_TRY(xb_cli_open_beside("--json", &command->json, command->traces, command->trace_count,
                                  error));
    }
    if (command->with != NULL) /* before the program, which may run for hours */
        XB_TRY(xb_record_read(command->with, &command->costs.record, error));
    if (command->program != NULL)
        XB_TRY(watch_program(command, error));
    for (size_t i = 0; i < command->trace_count; i++)
        XB_TRY(xb_profiles_read(&command->profiles, command->traces[i], error));
    xb_profiles_sort(&command->profiles);
    command->source.profiles = &command->profiles;
    command->source.path = command->trace_count > 0 ? command->traces[0] : NULL;
    command->source.words = command->program;
    /* Without costs the answer says less, and is not lost. */
    struct xb_error cause;
    enum xb_status costs = XB_OK;
    if (command->profiles.count > 0 && (command->with != NULL || command->measures)) {
        costs = read_costs(command, &cause);
        command->source.with = command->with;
        command->source.is_measured = command->measures && costs == XB_OK;
    }
    *has_any = explain_all(command);
    XB_TRY(write_answer(command, error));
    if (costs != XB_OK)
        *error = cause;
    return costs;
}

static void say_nothing(const struct command *command)
{
    const struct xb_profiles *profiles = &command->profiles;
    const char *why = "";
    if (command->is_open && profiles->count == 0)
        why = ": no program opened CUDA's driver. Programs that use HIP cannot be looked into yet: "
              "explain takes a trace of PyTorch's profiler";
    else if (profiles->left_out > 0)
        why = ": events in it are no JSON, or their times cannot be";
    else if (profiles->count > 0 && profiles->items[0].problem == NULL && profiles->items[0].is_cut)
        why = ": it ends in the middle";
    xb_say("no copy and no kernel %s%s", command->program != NULL ? "was seen" : "is in the trace",
           why);
}

static int run(struct xb_config *config, char *const *words)
{
    struct command *command = xb_new(1, sizeof *command);
    struct xb_error error;
    bool has_any = false;
    xb_config_fill(config, fields, command);
    enum xb_status status = read_request(command, config, words, &error);
    if (status == XB_OK)
        status = explain(command, &has_any, &error);
    int code = status == XB_OK ? XB_EXIT_OK : xb_cli_fail_as_usage(&error);
    if (status == XB_OK && !has_any) {
        say_nothing(command);
        code = XB_EXIT_NOTHING;
    }
    if (command->program != NULL && command->source.exit_code != 0)
        code = command->source.exit_code; /* also where the answer could not be written */
    xb_output_discard(&command->json);
    xb_costs_free(&command->costs.costs);
    xb_record_free(&command->costs.record);
    xb_run_free(&command->session.holder);
    xb_profiles_free(&command->profiles);
    xb_arena_free(command->memory);
    free(command);
    return code;
}

static const struct xb_option *const all_rows[] = {&option_with,        &option_measure,
                                                   &option_json,        &xb_option_backend,
                                                   &xb_option_deadline, XB_OPTIONS_OF_ALL};

const struct xb_command xb_command_explain = {
    .name = "explain",
    .synopsis = "explain TRACE...|-- COMMAND",
    .summary = "where a program's time goes, and which copies to change",
    .description =
        "Looks into a program: runs any CUDA program and notes its copies, kernels and calls, "
        "without changing it, or reads a trace: of PyTorch's profiler (CUDA and ROCm, .json or "
        ".json.gz), the SQLite export of Nsight Systems, or of --trace. Says how much of the time "
        "copies take, which are slow and why, what they would take in other ways, and the call to "
        "use. The answer about a command goes to standard error.",
    .exits = "of a trace: 0 explained; 2 it cannot be read, or the command line is wrong; 3 no "
             "copy and no kernel is in it. Of a command: its own code, 128 and the number of the "
             "signal that ended it; where it is 0: 2 and 3 as above.",
    .example = "xferbench explain -- python3 train.py",
    .operands = XB_OPERANDS_FILES,
    .options = all_rows,
    .run = run,
    .fail = xb_cli_fail_as_usage,
};
