/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "command.h"

#include "backends/registry.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int xb_cli_fail(const struct xb_error *error)
{
    char text[1024];
    xb_say("%s", xb_error_text(error, text, sizeof text));
    if (error->status == XB_ERR_STOPPED && xb_interrupt_signal() != 0)
        return 128 + xb_interrupt_signal();
    return error->status == XB_ERR_USAGE ? XB_EXIT_USAGE : XB_EXIT_FAILED;
}

int xb_cli_fail_as_usage(const struct xb_error *error)
{
    int code = xb_cli_fail(error);
    return code == XB_EXIT_FAILED ? XB_EXIT_USAGE : code;
}

/* ---- options that several commands have ---- */

const struct xb_option xb_option_help = {
    XB_FLAG("help"),
    .short_name = 'h',
    .help = "Print help; with a command, a mode, an option or a word behind it, help on that.",
};
const struct xb_option xb_option_version = {
    XB_FLAG("version"),
    .short_name = 'V',
    .help = "Print the version and what is built in.",
};

/* In the order of enum xb_colours. */
static const char *const colour_words[] = {"auto", "always", "never", NULL};
const struct xb_option xb_option_color = {
    XB_CHOICE("color", "WHEN"),
    .default_text = "auto",
    .help = "Colours: auto (on a terminal, unless NO_COLOR is set or TERM is dumb), always or "
            "never.",
    .choices = colour_words,
    .takes_one = true,
    .selects = true,
};

const struct xb_option xb_option_output = {
    XB_FILE("output", "FILE"),
    .short_name = 'o',
    .default_text = "-",
    .help = "Where that goes; '-' is standard output. A file is replaced only when its new content "
            "is complete.",
};
const struct xb_option xb_option_deadline = {
    XB_DURATION("deadline"),
    .help = "Stop measuring after this time and use what is there; the rest is skipped, and that "
            "is said. A running repetition or allocation is not cut short; but if it takes 5 s "
            "longer, as in a driver that hangs, that is an error: run writes what is measured, "
            "and the program ends.",
    .selects = true,
};

const struct xb_option xb_option_alpha = {
    XB_TEXT("alpha", "SHARE"),
    .short_name = 'a',
    .default_text = "0.01",
    .help = "Highest accepted chance of a false alarm, over all figures that count together: 0.01 "
            "or 1%. Failures and wrong data are judged apart.",
};

enum xb_status xb_option_alpha_read(const char *text, double *alpha, struct xb_error *error)
{
    const double most = 0.5;
    size_t digits = strspn(text, "0123456789.");
    bool percent = strcmp(text + digits, "%") == 0;
    char *end = NULL;
    double number = strtod(text, &end); /* the program keeps the C locale */
    *alpha = percent ? number / 100.0 : number;
    bool whole = digits > 0 && end == text + digits && (percent || text[digits] == '\0');
    if (!whole || !(*alpha < most) || !(*alpha > 0.0))
        return XB_FAIL(
            error, XB_ERR_USAGE,
            "--alpha: \"%.40s\" is not a share above 0 and below %g, such as 1%% or 0.01", text,
            most);
    return XB_OK;
}

static const char *const *list_backends(void)
{
    static const char *names[16] = {XB_BACKEND_AUTO};
    for (size_t i = 0; xb_backends[i].name != NULL && i + 2 < sizeof names / sizeof *names; i++)
        names[i + 1] = xb_backends[i].name;
    return names;
}

static char backend_brief[160];
static char backend_help[512];
const struct xb_option xb_option_backend = {
    XB_TEXT("backend", "NAME"),
    .short_name = 'b',
    .default_text = XB_BACKEND_AUTO,
    .help = backend_help,
    .brief = backend_brief,
    .offers = list_backends,
    .selects = true,
};

void xb_option_backend_describe(void)
{
    char all[128], others[128];
    xb_backend_names(XB_BACKENDS_ALL, all, sizeof all);
    xb_backend_names(XB_BACKENDS_BY_NAME, others, sizeof others);
    snprintf(backend_brief, sizeof backend_brief, "what measures: %s or auto", all);
    int length =
        snprintf(backend_help, sizeof backend_help,
                 "Which backend measures: %s, or auto, the first GPU backend that can run.", all);
    if (others[0] != '\0')
        snprintf(backend_help + length, sizeof backend_help - (size_t)length,
                 " auto never takes %s: name it. xferbench list tells what each is.", others);
}

const struct xb_option *const *xb_command_rows(const struct xb_command *command)
{
    xb_option_backend_describe();
    return command->options != NULL ? command->options : command->rows();
}

/* ---- --start-at ---- */

/* A time that passed while the program started is not worth a refusal. */
#define LATE_S 1.0
/* A time that is further ahead is a mistake: nobody keeps nodes waiting for a day. */
#define FURTHEST_S 86400.0

const struct xb_option xb_option_start_at = {
    XB_TEXT("start-at", "TIME"),
    .help = "Begin to measure at this time, so that many nodes begin together: "
            "2026-11-23T06:40:00Z (UTC), @1795416000 (seconds since 1970), or +10s (after the "
            "program's start). The nodes' clocks must agree (docs/measurement.md).",
    .selects = true,
};

enum xb_status xb_start_at_read(const char *text, double deadline, double *at,
                                struct xb_error *error)
{
    struct xb_error cause;
    double seconds = 0;
    *at = 0;
    if (text == NULL)
        return XB_OK;
    bool is_ahead = text[0] == '+';
    enum xb_status status = is_ahead ? xb_duration_parse(text + 1, &seconds, &cause)
                                     : xb_day_time_parse(text, &seconds, &cause);
    if (status != XB_OK)
        return XB_FAIL(error, status, "--start-at: %s", cause.message);
    struct timespec began = xb_began();
    *at = is_ahead ? (double)began.tv_sec + (double)began.tv_nsec * 1e-9 + seconds : seconds;
    double ahead = *at - xb_day_time_now();
    if (ahead < -LATE_S)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--start-at: %.40s was %.1f s ago by this node's clock: give a later time",
                       text, -ahead);
    if (ahead > FURTHEST_S)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--start-at: %.40s is %.1f days ahead: give a time within a day", text,
                       ahead / FURTHEST_S);
    if (deadline > 0 && ahead > 0 && xb_clock_now() + ahead >= deadline)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--start-at: %.40s is %.1f s ahead, after --deadline: give an earlier time "
                       "or a longer --deadline",
                       text, ahead);
    return XB_OK;
}

void xb_start_at_say(double at)
{
    if (at > 0 && xb_terminal_has_cursor(stderr))
        xb_say("waiting %.1f s for the start time", at - xb_day_time_now());
}
