/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_text.h"

#include "base/note.h"
#include "measure/case.h"
#include "xferbench/units.h"

#include <inttypes.h>
#include <string.h>

#define FACET 48         /* characters of what a case has of a facet */
#define FACETS_KNOWN 128 /* different ones; more are counted as so many */
#define FACETS_SHOWN 5   /* more of them are the first, the last and how many */
#define LEAST_LABEL 9

/* ---- facets: what cases of a mode differ in ---- */

/* Writes what a case has of it (FACET); false where it has none. */
typedef bool facet_text(const struct xb_case *test, const struct xb_option *option, char *text);

static bool variant_of(const struct xb_case *test, const struct xb_option *option, char *text)
{
    (void)option;
    snprintf(text, FACET, "%s", test->variant);
    return test->variant[0] != '\0';
}

static bool direction_of(const struct xb_case *test, const struct xb_option *option, char *text)
{
    (void)option;
    snprintf(text, FACET, "%s", xb_direction_name(test->direction));
    return true;
}

static bool size_of(const struct xb_case *test, const struct xb_option *option, char *text)
{
    (void)option;
    (void)xb_size_format(test->bytes, text, FACET);
    return true;
}

static bool device_of(const struct xb_case *test, const struct xb_option *option, char *text)
{
    (void)option;
    if (test->simultaneous)
        snprintf(text, FACET, "%s", test->sum ? "several at the same time" : "");
    else if (test->peer != XB_NO_PEER)
        snprintf(text, FACET, "%u>%d", test->device, test->peer);
    else
        snprintf(text, FACET, "%u", test->device);
    return text[0] != '\0';
}

static bool node_of(const struct xb_case *test, const struct xb_option *option, char *text)
{
    (void)option;
    snprintf(text, FACET, "%u", test->node);
    return test->has_node;
}

static bool setting_of(const struct xb_case *test, const struct xb_option *option, char *text)
{
    const struct xb_setting *setting = xb_case_find_setting(test, option);
    bool is_size = option->type == XB_OPTION_SIZE || option->type == XB_OPTION_SIZES;
    if (setting == NULL)
        return false;
    if (setting->word != NULL)
        snprintf(text, FACET, "%s", setting->word);
    else if (is_size && setting->count > 0)
        (void)xb_size_format(setting->count, text, FACET);
    else
        snprintf(text, FACET, "%" PRIu64, setting->count);
    return true;
}

/* The different ones of a mode, in the order of the plan. */
struct facets {
    char texts[FACETS_KNOWN][FACET];
    size_t count;
};

static bool is_known(const struct facets *facets, const char *text)
{
    for (size_t i = 0; i < facets->count; i++)
        if (strcmp(facets->texts[i], text) == 0)
            return true;
    return false;
}

static void collect(struct facets *facets, const struct xb_run *run, const struct xb_mode *mode,
                    facet_text *facet, const struct xb_option *option)
{
    facets->count = 0;
    for (size_t i = 0; i < run->case_count && facets->count < FACETS_KNOWN; i++) {
        const struct xb_case *test = &run->results[i].test;
        char *text = facets->texts[facets->count];
        if (test->mode == mode && facet(test, option, text) && !is_known(facets, text))
            facets->count++;
    }
}

/* "; h2d, d2h", "; 4 KiB to 1 GiB (19)"; with the label of what there are several of: "; chunk 1
 * MiB, 8 MiB". Nothing of what all cases have alike, unless it is always told. */
static void add(struct xb_words *words, const struct facets *facets, const char *label, bool always)
{
    if (facets->count == 0 || (facets->count == 1 && !always))
        return;
    xb_words_add(words, "%s%s%s", words->length > 0 ? "; " : "", label,
                 label[0] != '\0' ? " " : "");
    if (facets->count > FACETS_SHOWN) {
        xb_words_add(words, "%s to %s (%zu%s)", facets->texts[0], facets->texts[facets->count - 1],
                     facets->count, facets->count == FACETS_KNOWN ? " or more" : "");
        return;
    }
    for (size_t i = 0; i < facets->count; i++)
        xb_words_add(words, "%s%s", i > 0 ? ", " : "", facets->texts[i]);
}

static size_t rows_of(const struct xb_run *run, const struct xb_mode *mode)
{
    size_t rows = 0;
    for (size_t i = 0; i < run->case_count; i++)
        rows += run->results[i].test.mode == mode;
    return rows;
}

static void print_mode(FILE *stream, const struct xb_run *run, const struct xb_mode *mode,
                       int width)
{
    struct xb_words words = {.length = 0};
    struct facets facets;
    size_t rows = rows_of(run, mode);
    collect(&facets, run, mode, variant_of, NULL);
    add(&words, &facets, "", true);
    for (const struct xb_parameter *own = mode->parameters; own != NULL && own->option != NULL;
         own++) {
        collect(&facets, run, mode, setting_of, own->option);
        if (own->option != mode->variant_option)
            add(&words, &facets, own->option->name, false);
    }
    collect(&facets, run, mode, direction_of, NULL);
    add(&words, &facets, "", true);
    collect(&facets, run, mode, size_of, NULL);
    add(&words, &facets, "", true);
    collect(&facets, run, mode, device_of, NULL);
    add(&words, &facets, mode->pairs ? "pairs" : "devices", false);
    collect(&facets, run, mode, node_of, NULL);
    add(&words, &facets, "NUMA node", true);
    xb_words_add(&words, ": %zu case%s", rows, rows > 1 ? "s" : "");
    xb_note_print(stream, mode->name, width, "%s", words.text);
}

void xb_plan_print(FILE *stream, const struct xb_run *run)
{
    int width = LEAST_LABEL;
    for (size_t i = 0; i < run->case_count; i++) {
        int length = (int)strlen(run->results[i].test.mode->name) + 1;
        width = length > width ? length : width;
    }
    for (size_t i = 0; i < run->case_count; i++) {
        const struct xb_mode *mode = run->results[i].test.mode;
        bool is_first = true;
        for (size_t k = 0; is_first && k < i; k++)
            is_first = run->results[k].test.mode != mode;
        if (is_first)
            print_mode(stream, run, mode, width);
    }
}
