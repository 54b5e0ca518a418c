/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include "backends/registry.h"
#include "base/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct xb_option xb_option_help = {
    XB_FLAG("help"),
    .short_name = 'h',
    .help = "Print help; with a command, a mode, an option or a word behind it, help on that.",
    .selects = true,
};
const struct xb_option xb_option_version = {
    XB_FLAG("version"),
    .short_name = 'V',
    .help = "Print the version and what is built in.",
    .selects = true,
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

void xb_option_color_apply(const struct xb_config *config)
{
    xb_terminal_want_colours((enum xb_colours)xb_config_get(config, &xb_option_color)->place);
}

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
    char all[128];
    char others[128];
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
