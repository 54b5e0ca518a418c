/* SPDX-License-Identifier: Apache-2.0 */
/* Which figures of which cases count for the overall verdict, and how much worse is a regression,
 * case by case. */
#include "internal.h"

#include "base/options.h"
#include "base/terminal.h"
#include "record/mode_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define REFUSE(...) XB_FAIL(error, XB_ERR_USAGE, __VA_ARGS__)

/* Cuts `text` at the first `separator` and returns what is behind it; NULL where there is none. */
static char *cut(char *text, char separator)
{
    char *found = text != NULL ? strchr(text, separator) : NULL;
    if (found != NULL)
        *found++ = '\0';
    return found;
}

/* NULL for '*' and for what is not there. */
static const char *word_or_any(const char *word)
{
    return word == NULL || strcmp(word, "*") == 0 ? NULL : word;
}

static enum xb_status read_one(char *text, struct xb_gate *gate, struct xb_error *error)
{
    char *direction = cut(text, '/');
    char *sizes = cut(direction, '/');
    char *figure = cut(sizes, '/');
    if (text[0] == '\0' || (direction != NULL && direction[0] == '\0') ||
        (sizes != NULL && sizes[0] == '\0') ||
        (figure != NULL && (figure[0] == '\0' || strchr(figure, '/') != NULL)))
        return REFUSE("cases are MODE, MODE/DIRECTION, MODE/DIRECTION/SIZE or "
                      "MODE/DIRECTION/SIZE/FIGURE, where '*' is any");
    *gate = (struct xb_gate){.mode = word_or_any(text),
                             .direction = word_or_any(direction),
                             .figure = word_or_any(figure)};
    if (word_or_any(sizes) == NULL)
        return XB_OK;
    char *dots = strstr(sizes, ".."); /* "64M..1G" */
    if (dots != NULL)
        *dots = '\0';
    XB_TRY(xb_size_parse(sizes, &gate->least, error));
    gate->most = gate->least;
    if (dots == NULL)
        return XB_OK;
    XB_TRY(xb_size_parse(dots + 2, &gate->most, error));
    if (gate->least > gate->most)
        return REFUSE("the sizes %.40s..%.40s are the wrong way round", sizes, dots + 2);
    return XB_OK;
}

#define LARGEST_PLAIN 0.1 /* "0.5" could mean 0.5 % and 50 % */

/* "2%" or "0.02". */
static enum xb_status read_share(const char *text, double *share, struct xb_error *error)
{
    size_t digits = strspn(text, "0123456789.");
    bool percent = strcmp(text + digits, "%") == 0;
    char *end = NULL;
    double number = strtod(text, &end); /* the program keeps the C locale */
    bool whole = digits > 0 && end == text + digits && (percent || text[digits] == '\0');
    if (whole && !percent && number >= 1 && number < 100)
        return REFUSE("for %g %% write %g%% or %g", number, number, number / 100);
    if (whole && !percent && number > LARGEST_PLAIN && number < 1)
        return REFUSE("this could mean %g %% or %g %%: write %g%% or %g%%", number, 100 * number,
                      number, 100 * number);
    *share = percent ? number / 100 : number;
    if (!whole || !(*share >= 0 && *share < 1))
        return REFUSE("\"%.40s\" is not a share from 0 to below 100%%, such as 2%% or 0.02", text);
    return XB_OK;
}

enum xb_status xb_thresholds_parse(const char *text, double *share, struct xb_gates *list,
                                   struct xb_error *error)
{
    struct xb_error cause;
    enum xb_status status = XB_OK;
    bool has_plain = false;
    *list = (struct xb_gates){.words = xb_copy(text)};
    for (char *next = list->words; status == XB_OK && next != NULL;) {
        char *word = next;
        next = cut(word, ',');
        char *own = share != NULL ? cut(word, '=') : NULL;
        if (share != NULL && own == NULL) {
            status = has_plain ? XB_FAIL(&cause, XB_ERR_USAGE,
                                         "there are two thresholds for everything else")
                               : read_share(word, share, &cause);
            has_plain = true;
            continue;
        }
        list->items = xb_grow(list->items, list->count, sizeof *list->items);
        struct xb_gate *item = &list->items[list->count++];
        status = read_one(word, item, &cause);
        if (status == XB_OK && own != NULL)
            status = read_share(own, &item->share, &cause);
    }
    if (status == XB_OK)
        return XB_OK;
    xb_gates_free(list);
    return XB_FAIL(error, status, "\"%.80s\": %.400s", text, cause.message);
}

enum xb_status xb_gates_parse(const char *text, struct xb_gates *gates, struct xb_error *error)
{
    return xb_thresholds_parse(text, NULL, gates, error);
}

void xb_gates_free(struct xb_gates *gates)
{
    free(gates->items);
    free(gates->words);
    *gates = (struct xb_gates){0};
}

bool xb_gates_pass(const struct xb_gate *gates, size_t count, const struct xb_record_case *test,
                   const struct xb_figure *figure)
{
    XB_EACH (gate, gates, count)
        if ((gate->mode == NULL || strcmp(gate->mode, test->mode) == 0) &&
            (gate->direction == NULL || strcmp(gate->direction, test->direction) == 0) &&
            test->bytes >= gate->least && (gate->most == 0 || test->bytes <= gate->most) &&
            (figure == NULL ||
             (gate->figure == NULL ? figure->gates : strcmp(gate->figure, figure->name) == 0)))
            return true;
    return false;
}

bool xb_gates_name(const struct xb_gates *gates, const struct xb_record_case *test)
{
    return xb_gates_pass(gates->items, gates->count, test, NULL);
}

/* ---- gates that cannot be meant ---- */

static size_t add_once(const char **names, size_t count, size_t most, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return count;
    if (count < most)
        names[count++] = name;
    return count;
}

static bool is_direction(const char *word)
{
    for (unsigned i = 0; i < XB_DIRECTIONS; i++)
        if (strcmp(word, xb_direction_name((enum xb_direction)(1u << i))) == 0)
            return true;
    return false;
}

#define MOST_MODES ((size_t)128)

static enum xb_status check_mode(const struct xb_comparison *comparison, const struct xb_gate *gate,
                                 const char *what, struct xb_error *error)
{
    const char *modes[MOST_MODES + 1] = {NULL}; /* of both files, then of this program */
    size_t in_files = 0;
    const struct xb_record *records[] = {comparison->baseline, comparison->candidate};
    if (gate->mode == NULL || xb_mode_find(gate->mode) != NULL)
        return XB_OK;
    for (size_t r = 0; r < 2; r++)
        for (size_t i = 0; i < records[r]->case_count; i++) {
            if (strcmp(records[r]->cases[i].mode, gate->mode) == 0)
                return XB_OK;
            in_files = add_once(modes, in_files, MOST_MODES, records[r]->cases[i].mode);
        }
    if (is_direction(gate->mode))
        return REFUSE("%s: no mode is called %s: that is a direction. Write '*/%s' for all modes, "
                      "or MODE/%s",
                      what, gate->mode, gate->mode, gate->mode);
    if (xb_figure_find(gate->mode) != NULL)
        return REFUSE("%s: no mode is called %s: that is a figure. Write '*/*/*/%s' for all "
                      "modes, or 'MODE/*/*/%s'",
                      what, gate->mode, gate->mode, gate->mode);
    size_t count = in_files;
    for (size_t i = 0; xb_modes[i] != NULL; i++)
        count = add_once(modes, count, MOST_MODES, xb_modes[i]->name);
    const char *nearest = xb_nearest(gate->mode, modes);
    if (nearest != NULL)
        return REFUSE("%s: no mode is called \"%.60s\"; did you mean %.60s?", what, gate->mode,
                      nearest);
    struct xb_words list = {.length = 0};
    for (size_t i = 0; i < in_files; i++)
        xb_words_add(&list, "%s%.40s", i > 0 ? ", " : "; the files have ", modes[i]);
    return REFUSE("%s: no mode is called \"%.60s\"%.255s", what, gate->mode, list.text);
}

static bool has_figure(const struct xb_record *record, const char *figure)
{
    for (size_t i = 0; i < record->case_count; i++)
        for (size_t p = 0; p < record->process_count; p++)
            if (xb_record_row_figure(&record->cases[i].rows[p], figure) != NULL)
                return true;
    return false;
}

/* A gate that no case of either file passes, or whose figure none of those cases has, is a slip of
 * the pen that would let everything through. */
static enum xb_status check_gate(const struct xb_comparison *comparison, size_t index,
                                 struct xb_error *error)
{
    const struct xb_record *const records[] = {comparison->baseline, comparison->candidate};
    const struct xb_gate *gate = &comparison->request.gates.items[index];
    /* What the cases have that the gate is about, whatever figure it names. */
    const char *figures[XB_COMPARE_FIGURES + 1] = {NULL};
    size_t cases = 0, count = 0;
    bool measured = false; /* any of the cases, in any process */
    char text[192];        /* "gate 1 (mode pinned, direction any, any size)" */
    char sizes[64] = "any size";
    struct xb_words have = {.length = 0};
    XB_TRY(check_mode(comparison, gate, "--gate", error));
    if (gate->most > 0)
        snprintf(sizes, sizeof sizes, "%" PRIu64 " to %" PRIu64 " bytes", gate->least, gate->most);
    snprintf(text, sizeof text, "gate %zu (mode %.40s, direction %.20s, %s)", index + 1,
             gate->mode != NULL ? gate->mode : "any",
             gate->direction != NULL ? gate->direction : "any", sizes);
    for (size_t r = 0; r < 2; r++)
        XB_EACH (test, records[r]->cases, records[r]->case_count) {
            if (!xb_gates_pass(gate, 1, test, NULL))
                continue;
            cases++;
            count = add_once(figures, count, XB_COMPARE_FIGURES,
                             xb_mode_main_figure(test->mode, test->latency)->name);
            for (size_t p = 0; p < records[r]->process_count; p++)
                for (size_t k = 0; k < test->rows[p].figure_count; k++) {
                    count =
                        add_once(figures, count, XB_COMPARE_FIGURES, test->rows[p].figures[k].name);
                    measured = true;
                }
        }
    if (cases == 0)
        return REFUSE("--gate: neither file has a case for %s", text);
    if (gate->figure == NULL)
        return XB_OK;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(figures[i], gate->figure) == 0)
            return XB_OK;
        xb_words_add(&have, "%s%.60s", i > 0 ? ", " : "", figures[i]);
    }
    /* Cases that all failed show none of their figures: this gate judges nothing, which is said. */
    if (!measured && xb_figure_find(gate->figure) != NULL)
        return XB_OK;
    const char *nearest = xb_nearest(gate->figure, figures);
    return REFUSE("--gate: no case of %s has a figure \"%.60s\"%s%.60s%s They have: %.511s", text,
                  gate->figure, nearest != NULL ? "; did you mean " : "",
                  nearest != NULL ? nearest : "", nearest != NULL ? "?" : ".", have.text);
}

enum xb_status xb_gates_check(const struct xb_comparison *comparison, struct xb_error *error)
{
    const struct xb_comparison_request *request = &comparison->request;
    for (size_t i = 0; i < request->gates.count; i++)
        XB_TRY(check_gate(comparison, i, error));
    XB_EACH (of, request->thresholds.items, request->thresholds.count) {
        XB_TRY(check_mode(comparison, of, "--threshold", error));
        if (of->direction != NULL && !is_direction(of->direction))
            return REFUSE("--threshold: no direction is called \"%.60s\"", of->direction);
        if (of->figure != NULL && xb_figure_find(of->figure) == NULL &&
            !has_figure(comparison->baseline, of->figure) &&
            !has_figure(comparison->candidate, of->figure))
            return REFUSE("--threshold: no figure is called \"%.60s\"", of->figure);
    }
    return XB_OK;
}
