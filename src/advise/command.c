/* SPDX-License-Identifier: Apache-2.0 */
/* Is a GPU worth the trip, and by which strategy? */
#include "cli/command.h"

#include "backends/registry.h"
#include "base/interrupt.h"
#include "base/output.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/help.h"
#include "cli/places.h"
#include "machine/node.h"
#include "modes/kernel_time.h"
#include "report.h"
#include "run/deadline.h"
#include "run/formats.h"

/* ---- what it takes ---- */

#define HOW_TO_TIME                                                                                \
    "`nsys profile --stats=true PROGRAM` or `rocprofv3 --stats` tells it, or events around the "   \
    "kernels (cudaEventElapsedTime, torch.cuda.Event)"

static const struct xb_option option_in = {
    /* 0 is refused with the limits of a job, not of any size. */
    XB_SIZE("bytes-in", 0, UINT64_C(1) << 40),
    .other_name = "in",
    .help = "How much data the job takes to the GPU. Required.",
};
static const struct xb_option option_out = {
    XB_SIZE("bytes-out", 0, UINT64_C(1) << 40),
    .other_name = "out",
    .default_text = "0",
    .help = "How much data it brings back.",
};
static const struct xb_option option_gpu_time = {
    XB_TEXT("gpu-time", "TIME"),
    .help = "How long the GPU computes, without any copy: a time such as 2ms, or 'none'. "
            "Required. " HOW_TO_TIME ".",
};
static const struct xb_option option_cpu_time = {
    XB_DURATION("cpu-time"),
    .help = "How long the same work takes on the CPU. Without it, advise compares only the ways "
            "to use the GPU.",
};
static const struct xb_option option_times = {
    XB_COUNT("times", "N", 1, UINT64_C(1000000000000)),
    .default_text = "1",
    .help = "How often the job runs with the same memory: the cost of pinning it is divided by "
            "that.",
};
static const struct xb_option option_memory = {
    XB_CHOICE("memory", "KIND"),
    .default_text = XB_JOB_MEMORY_USUAL,
    .help = "Where the job's data lies: in 'pageable' memory, as malloc gives it, which has to be "
            "pinned or copied first where a way needs that; or in 'pinned' or 'managed' memory.",
    .choices = xb_memory_words,
    .takes_one = true,
};
static const struct xb_option option_device = {
    XB_COUNT("device", "DEV", 0, 1000),
    .short_name = 'D',
    .default_text = "0",
    .help = "Which GPU, by its number: the one to measure, or the one whose results in FILE count.",
};
static const struct xb_option option_check = {
    XB_FLAG("check"),
    .help = "Run the job in each way, and print the prediction beside the measurement. With "
            "FILE, only on the machine where FILE was measured.",
};
static const struct xb_option option_json = {
    XB_FILE("json", "FILE"),
    .short_name = 'j',
    .help = "Write the advice as JSON (docs/advise.schema.json); '-' is standard output, in place "
            "of the table.",
};

/* In the order of enum xb_code_for. */
static const char *const code_words[] = {"none", "cuda", "hip", "pytorch", NULL};
static const struct xb_option option_code = {
    XB_CHOICE("code", "KIND"),
    .default_text = "none",
    .help = "Print a program that does the job in the fastest way, with the memory, chunk and "
            "streams that were measured, and a kernel to replace: C++ for 'cuda' or 'hip', or a "
            "fragment for 'pytorch', which nobody has run. It takes standard output; the answer "
            "goes to standard error.",
    .choices = code_words,
    .takes_one = true,
};

/* The whole command. */
struct command {
    const struct xb_config *config;
    bool bytes_in_given, checks;
    uint64_t device;
    double deadline;
    const char *gpu_time, *backend, *json_path; /* as they were written; NULL where not given */
    unsigned code;                              /* enum xb_code_for */
    struct xb_job job;
    struct xb_advise_session session;
    struct xb_error check_error; /* why there is none */
    enum xb_status check_status;
    struct xb_advice_report report;
    struct xb_output json;
};

#define BIND(member, row) XB_BIND(struct command, member, row)
static const struct xb_option_field *const fields = XB_FIELDS(
    BIND(job.in, &option_in), XB_BIND_WHETHER(struct command, bytes_in_given, &option_in),
    BIND(job.out, &option_out), BIND(job.cpu_time, &option_cpu_time),
    BIND(job.times, &option_times), BIND(gpu_time, &option_gpu_time),
    BIND(job.memory, &option_memory), BIND(code, &option_code), BIND(checks, &option_check),
    BIND(device, &option_device), BIND(backend, &xb_option_backend),
    BIND(deadline, &xb_option_deadline), BIND(json_path, &option_json));

/* ---- what is asked ---- */

static enum xb_status read_request(struct command *command, struct xb_error *error)
{
    const struct xb_config *config = command->config;
    struct xb_job *job = &command->job;
    bool lacks_in = !command->bytes_in_given, lacks_time = command->gpu_time == NULL;
    if (config->operand_count > 1)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "advise takes one file at most, and '%s' is one too many",
                       config->operands[1]);
    command->report.file = config->operand_count == 1 ? config->operands[0] : NULL;
    command->report.costs.device = (int)command->device;
    snprintf(command->session.device, sizeof command->session.device, "%d",
             command->report.costs.device);
    if (lacks_in || lacks_time) /* all that is missing, at once */
        return XB_FAIL(error, XB_ERR_USAGE,
                       "advise needs %s%s%s%s: xferbench advise --bytes-in 400M --bytes-out 4K "
                       "--gpu-time 2ms --cpu-time 50ms",
                       lacks_in ? "--bytes-in, what the job takes to the GPU" : "",
                       lacks_in && lacks_time ? ", and " : "",
                       lacks_time ? "--gpu-time, how long its kernels run without copies. " : "",
                       lacks_time ? HOW_TO_TIME : "");
    if (job->in == 0)
        return XB_FAIL(error, XB_ERR_USAGE, "--bytes-in: give 1 byte to 1 TiB");
    /* A time that is not run has no limit of its own. */
    struct xb_error ignored;
    if (command->checks || xb_duration_parse(command->gpu_time, &job->gpu_time, &ignored) != XB_OK)
        XB_TRY(xb_gpu_time_parse("--gpu-time", command->gpu_time, &job->gpu_time, error));
    XB_TRY(xb_backend_check_name(command->backend, error));
    bool measures = command->report.file == NULL || command->checks;
    return measures ? xb_node_check(error) : XB_OK; /* a file names its own node */
}

/* Opens the output before anything is measured. */
static enum xb_status open_output(struct command *command, struct xb_error *error)
{
    xb_interrupt_catch(); /* before there is a temporary file to leave behind */
    if (command->json_path == NULL)
        return XB_OK;
    XB_TRY(xb_cli_find_output("--json", command->json_path, &command->json, error));
    if (command->code != XB_CODE_NONE && command->json.is_stdout)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--code and --json both write to standard output: give --json a file");
    const struct xb_cli_place places[] = {{.option = "--json", .output = &command->json},
                                          {.option = "FILE", .input = command->report.file}};
    return xb_cli_open_places(places, sizeof places / sizeof places[0],
                              command->session.holder.deadline, error);
}

/* ---- rows ---- */

static enum xb_status read_results(struct command *command, struct xb_error *error)
{
    struct xb_advice_report *report = &command->report;
    if (report->file == NULL) {
        enum xb_status status = xb_advise_measure(&command->session, &command->job, report, error);
        xb_failures_say(&report->record);
        return status;
    }
    XB_TRY(xb_record_read(report->file, &report->record, error));
    if (xb_record_device(&report->record, report->costs.device) == NULL)
        return XB_FAIL(error, XB_ERR_USAGE, "'%.200s' has no GPU %d: take another --device",
                       report->file, report->costs.device);
    return XB_OK;
}

static int open_backend(struct command *command)
{
    xb_deadline_doing("looking for devices");
    int code = (int)xb_backend_choose(command->backend, &command->session.holder);
    xb_deadline_doing(NULL);
    return code;
}

static enum xb_status check(struct command *command, struct xb_error *error)
{
    if (command->report.file != NULL && open_backend(command) != XB_EXIT_OK)
        return XB_FAIL(error, XB_ERR_USAGE, "--check: no backend can run the job here");
    XB_TRY(xb_advise_check(&command->session, command->gpu_time, &command->report, error));
    xb_failures_say(&command->report.check);
    return XB_OK;
}

/* ---- the answer ---- */

static enum xb_status advise(struct command *command, struct xb_error *error)
{
    struct xb_advice_report *report = &command->report;
    XB_TRY(read_results(command, error));
    xb_costs_read(&report->costs, &report->record);
    xb_predict_all(&report->costs, &command->job, &report->predictions);
    if (command->checks)
        command->check_status = check(command, &command->check_error);
    if (command->check_status == XB_ERR_STOPPED) {
        *error = command->check_error;
        return XB_ERR_STOPPED;
    }
    if (command->session.is_cut)
        xb_say("the deadline came before all was measured: the answer rests on what was measured; "
               "give it more time with --deadline, or a result file");
    report->break_even = xb_find_break_even(&report->costs, &command->job);
    report->check_failure = command->check_status != XB_OK ? command->check_error.message : NULL;
    bool only_json = command->json.is_stdout; /* a commit forgets it */
    if (command->json.stream != NULL) {
        XB_TRY(xb_advice_json_write(command->json.stream, report, error));
        XB_TRY(xb_output_commit(&command->json, error));
    }
    if (command->code == XB_CODE_NONE)
        return only_json ? XB_OK : xb_advice_table_write(stdout, report, error);
    XB_TRY(xb_advice_table_write(stderr, report, error));
    return xb_advice_code_write(stdout, report, (enum xb_code_for)command->code, error);
}

static int answer(struct command *command)
{
    struct xb_error error;
    if (command->report.file == NULL) {
        int code = open_backend(command);
        if (code != XB_EXIT_OK)
            return code;
    }
    if (advise(command, &error) != XB_OK)
        return xb_cli_fail_as_usage(&error);
    if (command->check_status != XB_OK)
        return xb_cli_fail_as_usage(&command->check_error);
    XB_EACH_CASE (test, &command->report.check)
        if (xb_record_summarize(&command->report.check, test).status == XB_RESULT_ERROR)
            return XB_EXIT_USAGE;
    return (int)xb_advice_judge(&command->report.predictions);
}

static int run(struct xb_config *config, char *const *words)
{
    struct command command = {.config = config};
    struct xb_error error;
    (void)words;
    xb_config_fill(config, fields, &command);
    command.session.holder.deadline = xb_deadline_of(command.deadline);
    enum xb_status status = read_request(&command, &error);
    if (status == XB_OK)
        status = xb_deadline_watch(command.session.holder.deadline, XB_EXIT_USAGE, &error);
    if (status == XB_OK)
        status = open_output(&command, &error);
    int code = status == XB_OK ? answer(&command) : xb_cli_fail_as_usage(&error);
    xb_output_discard(&command.json);
    xb_costs_free(&command.report.costs);
    xb_record_free(&command.report.check);
    xb_record_free(&command.report.record);
    xb_deadline_doing("closing the driver");
    xb_run_free(&command.session.holder);
    return code;
}

static const struct xb_option *const all_rows[] = {
    &option_in,     &option_out,   &option_gpu_time, &option_cpu_time,   &option_times,
    &option_memory, &option_check, &option_code,     &xb_option_backend, &xb_option_deadline,
    &option_device, &option_json,  XB_OPTIONS_OF_ALL};

const struct xb_command xb_command_advise = {
    .name = "advise",
    .synopsis = "advise [FILE]",
    .summary = "is a GPU worth the trip, and in which way?",
    .description = "Says in which way a job's data travels fastest, and whether the GPU then beats "
                   "the CPU: from a result file (run --json FILE), one size in it is enough, or "
                   "from a quick measurement now. --bytes-in and --gpu-time are required.",
    .exits = "0 the GPU is worth it, or --cpu-time was not given; 1 it is not; 2 the command line "
             "is wrong, a file cannot be read or written, a job of --check failed, or a driver "
             "hung past --deadline; 3 cannot say: results are missing or not precise enough, or "
             "nothing can be measured here. docs/advise.md has the formulas.",
    .example = "xferbench advise --bytes-in 1G --gpu-time 5ms",
    .operands = XB_OPERANDS_FILES,
    .options = all_rows,
    .run = run,
    .fail = xb_cli_fail_as_usage,
};
