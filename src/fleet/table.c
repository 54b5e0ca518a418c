/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "base/stream.h"
#include "base/text.h"
#include "formats.h"
#include "hostlist.h"
#include "internal.h"
#include "table_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEFT_OUT_TOLD 10
#define INDENT 2 /* of further lines, by xb_lines_print() */

/* ---- what all parts share ---- */

const char *xb_fleet_table_value(const char *unit, double value, char text[64])
{
    if (!isfinite(value))
        return "-";
    xb_fleet_value_text(value, unit, true, text);
    xb_make_plain(text); /* a document may name any unit */
    return text;
}

const char *xb_fleet_table_share(double share, bool with_sign, char *text, size_t size)
{
    double percent = 100.0 * share;
    int decimals = fabs(percent) < 0.995 ? 2 : 1;
    if (isfinite(share))
        snprintf(text, size, with_sign ? "%+.*f %%" : "%.*f %%", decimals, percent);
    else
        snprintf(text, size, "-");
    return text;
}

const char *xb_fleet_table_count(size_t count, char *text, size_t size)
{
    char digits[24];
    size_t used = 0;
    size_t length = (size_t)snprintf(digits, sizeof digits, "%zu", count);
    for (size_t i = 0; i < length && used + 2 < size; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = '\0';
    return text;
}

void xb_fleet_table_add_gpu(struct xb_fleet_gpus *gpus, const struct xb_fleet_gpu *gpu)
{
    uint64_t bit = gpu->index < 64 ? UINT64_C(1) << gpu->index : 0;
    gpus->count += (gpus->indices & bit) == 0;
    gpus->indices |= bit;
}

const char *xb_fleet_table_indices(const struct xb_fleet_gpus *gpus, char text[XB_FLEET_INDICES])
{
    size_t listed = 0, length = 0;
    text[0] = '\0';
    for (unsigned first = 0, end = 0; first < 64; first = end + 1) {
        for (end = first; end < 64 && (gpus->indices >> end & 1) != 0; end++)
            listed++;
        if (end == first)
            continue;
        length += (size_t)snprintf(text + length, XB_FLEET_INDICES - length,
                                   end - first > 1 ? "%s%u-%u" : "%s%u", length > 0 ? ", " : "",
                                   first, end - 1);
        if (length >= XB_FLEET_INDICES)
            return "";
    }
    return listed == gpus->count ? text : "";
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* ---- the answer: a sentence for each reason ---- */

/* Those with one code, that many have together or not. */
struct told {
    const char **names; /* of their nodes, each once */
    size_t count, findings;
    const struct xb_fleet_finding *worst;
    struct xb_fleet_gpus gpus; /* of the node, where it is one */
};

static void gather(const struct xb_fleet_judgement *judgement, enum xb_fleet_code code,
                   bool together, struct told *told)
{
    const struct xb_fleet_gpu *gpus = judgement->fleet->gpus;
    size_t found = 0;
    told->gpus = (struct xb_fleet_gpus){.count = 0};
    for (size_t i = 0; i < judgement->finding_count; i++) {
        const struct xb_fleet_finding *finding = &judgement->findings[i];
        if (finding->code != code || (finding->together && !finding->unsure) != together)
            continue;
        told->worst = found == 0 ? finding : told->worst;
        told->names[found++] = finding->node;
        if (finding->gpu != XB_FLEET_NONE && xb_fleet_table_is_row(judgement, i))
            xb_fleet_table_add_gpu(&told->gpus, &gpus[finding->gpu]);
    }
    for (size_t i = 0; told->gpus.count > 0 && i < judgement->fleet->gpu_count; i++)
        told->gpus.all += !gpus[i].is_gone && gpus[i].node == gpus[told->worst->gpu].node;
    told->findings = found;
    told->count = xb_fleet_sort_names(told->names, found);
}

/* ", all 8 GPUs, up to 6.8 % below the others" */
static void add_deviation(struct xb_words *words, const struct xb_fleet_view *view,
                          const struct told *told)
{
    char share[32], indices[XB_FLEET_INDICES];
    const struct xb_fleet_gpus *gpus = &told->gpus;
    const char *list = xb_fleet_table_indices(gpus, indices);
    if (told->count == 1 && gpus->all > 1 && gpus->count == gpus->all)
        xb_words_add(words, ", all %zu GPUs", gpus->all);
    else if (told->count == 1 && gpus->all > 1 && list[0] != '\0')
        xb_words_add(words, ", GPU%s %s", plural(gpus->count), list);
    else if (told->count == 1 && gpus->all > 1)
        xb_words_add(words, ", %zu of %zu GPUs", gpus->count, gpus->all);
    const struct xb_fleet_figure *figure = &view->judgement->fleet->figures[told->worst->figure];
    xb_words_add(words, ", %s%s %s the others", told->findings > 1 ? "up to " : "",
                 xb_fleet_table_share(fabs(told->worst->deviation), false, share, sizeof share),
                 !figure->more_is_better      ? "off"
                 : told->worst->deviation < 0 ? "below"
                                              : "above");
}

/* "1 of 497 nodes is slow: gpu00017, all 8 GPUs, 4.5 % below the others." */
static enum xb_status put_code(const struct xb_fleet_view *view, const struct told *told,
                               bool together, struct xb_arena **arena, struct xb_error *error)
{
    const struct xb_fleet_judgement *judgement = view->judgement;
    enum xb_fleet_code code = told->worst->code;
    size_t all =
        code == XB_FLEET_MISSING ? judgement->request.expected_count : judgement->fleet->node_count;
    struct xb_words words = {.length = 0};
    const char *list = "";
    size_t left_out = 0;
    char few[XB_FLEET_NAMES_SIZE];
    XB_TRY(xb_hostlist_compress(told->names, told->count, arena, &list, &left_out, error));
    xb_words_add(&words, "%s of %s node%s %s", COUNT(told->count), COUNT(all), plural(all),
                 told->count == 1 ? xb_fleet_sayings[code].of_one : xb_fleet_sayings[code].of_many);
    if (together)
        xb_words_add(&words, ", too many for single faults: look for one cause (a setting, the "
                             "launcher, a deadline) before you drain any for it");
    else
        xb_words_add(&words, ": %s",
                     left_out == 0 && strlen(list) < view->prose
                         ? list
                         : xb_fleet_names_text(told->names, told->count, few));
    if (!together && told->worst->figure != XB_FLEET_NONE)
        add_deviation(&words, view, told);
    xb_fleet_table_put(view, xb_fleet_is_to_drain(told->worst) ? XB_COLOUR_BAD : XB_COLOUR_WARNING,
                       "%s.", words.text);
    return XB_OK;
}

/* The worst first, but for what is missing: nobody knows how bad that is. */
static enum xb_status put_codes(const struct xb_fleet_view *view, struct xb_error *error)
{
    const struct xb_fleet_judgement *judgement = view->judgement;
    struct told told = {.names = calloc(judgement->finding_count + 1, sizeof(const char *))};
    struct xb_arena *arena = NULL;
    enum xb_status status = told.names != NULL ? XB_OK : xb_fleet_no_memory(error);
    for (int i = 0; status == XB_OK && i < 2 * XB_FLEET_CODES; i++) {
        enum xb_fleet_code code = (enum xb_fleet_code)(i / 2);
        code = code < XB_FLEET_SLOW ? code + 1 : code == XB_FLEET_SLOW ? XB_FLEET_MISSING : code;
        gather(judgement, code, i % 2 > 0, &told);
        if (told.findings > 0)
            status = put_code(view, &told, i % 2 > 0, &arena, error);
    }
    xb_arena_free(arena);
    free(told.names);
    return status;
}

/* What must be known before the rest is believed. */
static void put_limits(const struct xb_fleet_view *view)
{
    const struct xb_fleet_judgement *judgement = view->judgement;
    const struct xb_fleet *fleet = judgement->fleet;
    const char *name = fleet->node_count > 0 ? fleet->nodes[0].name : "";
    size_t unsure = 0;
    for (size_t i = 0; i < judgement->finding_count; i++)
        unsure += judgement->findings[i].unsure;
    if (judgement->judged_gpus < fleet->gpu_count)
        xb_fleet_table_put(view, XB_COLOUR_WARNING,
                           "%s of %s GPUs could be judged by their siblings.",
                           judgement->judged_gpus == 0 ? "None" : COUNT(judgement->judged_gpus),
                           COUNT(fleet->gpu_count));
    if (fleet->unread_count > 0 && fleet->source_count > 0)
        xb_fleet_table_put(view, XB_COLOUR_WARNING, "%s file%s could not be read (below).",
                           COUNT(fleet->unread_count), plural(fleet->unread_count));
    if (unsure > 0 && unsure == judgement->request.expected_count)
        xb_fleet_table_put(view, XB_COLOUR_WARNING,
                           "None of the expected nodes is there: are the names and the folder "
                           "right? The first file is of %.100s",
                           name);
    else if (unsure > 0)
        xb_fleet_table_put(view, XB_COLOUR_WARNING,
                           "Missing nodes may have written the files that could not be read: look "
                           "at them before you drain any.");
}

/* Names them if their names have room in a line. */
static void put_drained(const struct xb_fleet_view *view, const struct xb_drain_list *list)
{
    struct xb_words left_out = {.length = 0};
    if (list->left_out > 0)
        xb_words_add(&left_out, ", but for %s with a name that no scheduler takes",
                     COUNT(list->left_out));
    if (list->count == 0)
        xb_fleet_table_put(view, XB_COLOUR_NONE, "Drain: no node.");
    else if (list->left_out == 0 && strlen(list->text) + INDENT <= view->prose)
        xb_fleet_table_put(view, XB_COLOUR_NONE, "Drain: %s (for a script: --format nodelist)",
                           list->text);
    else
        xb_fleet_table_put(view, XB_COLOUR_NONE,
                           "Drain: %s node%s, which --format nodelist names for Slurm%s.",
                           COUNT(list->count), plural(list->count), left_out.text);
}

static enum xb_status put_answer(const struct xb_fleet_view *view, struct xb_error *error)
{
    struct xb_drain_list drained;
    int code = xb_fleet_exit_code(view->judgement);
    enum xb_status status = xb_fleet_drain_list(view->judgement, &drained, error);
    if (status == XB_OK && code == 2) {
        xb_fleet_table_put(view, XB_COLOUR_BAD, "No file could be read: nothing was judged.");
    } else if (status == XB_OK && code == 3) {
        xb_fleet_table_put(view, XB_COLOUR_WARNING, "Too few siblings: nothing was judged.");
        xb_fleet_table_put(
            view, XB_COLOUR_NONE,
            "To judge a value fleet needs at least %d others with the same figure, model, link, "
            "driver and options. Give it the files of more nodes.",
            XB_FLEET_SIBLINGS);
    } else if (status == XB_OK && view->judgement->finding_count == 0) {
        const struct xb_fleet_judgement *judgement = view->judgement;
        const struct xb_fleet *fleet = judgement->fleet;
        bool is_whole = judgement->judged_gpus == fleet->gpu_count;
        xb_fleet_table_put(view, fleet->unread_count > 0 ? XB_COLOUR_WARNING : XB_COLOUR_GOOD,
                           "%s%s GPU%s on %s node%s are like their siblings.",
                           is_whole ? "All " : "", COUNT(judgement->judged_gpus),
                           plural(judgement->judged_gpus), COUNT(fleet->node_count),
                           plural(fleet->node_count));
        put_limits(view);
    } else if (status == XB_OK) {
        status = put_codes(view, error);
        put_limits(view);
        put_drained(view, &drained);
    }
    xb_fleet_drain_list_free(&drained);
    return status;
}

/* ---- what a reader must know besides ---- */

static void put_left_out(const struct xb_fleet_view *view)
{
    const struct xb_fleet *fleet = view->judgement->fleet;
    size_t told = fleet->left_out_count < LEFT_OUT_TOLD ? fleet->left_out_count : LEFT_OUT_TOLD;
    if (told == 0)
        return;
    fputc('\n', view->stream);
    xb_fleet_table_put(view, XB_COLOUR_WARNING, "Left out: %s file%s", COUNT(fleet->left_out_count),
                       plural(fleet->left_out_count));
    for (size_t i = 0; i < told; i++)
        xb_fleet_table_put(view, XB_COLOUR_NONE, "%.300s: %.1000s", fleet->left_out[i].what,
                           fleet->left_out[i].why);
    if (fleet->left_out_count > told)
        xb_fleet_table_put(view, XB_COLOUR_NONE, "and %s more: --format json",
                           COUNT(fleet->left_out_count - told));
}

/* ---- all of it ---- */

/* Without any document each expected node is missing: only why there is none helps. */
static enum xb_status put_table(const struct xb_fleet_view *view, struct xb_error *error)
{
    const struct xb_fleet_judgement *judgement = view->judgement;
    enum xb_status status = put_answer(view, error);
    if (status == XB_OK && judgement->fleet->source_count > 0) {
        status = xb_fleet_table_findings(view, error);
        xb_fleet_table_figures(view);
        if (judgement->note_count > 0)
            fputc('\n', view->stream);
        for (size_t i = 0; i < judgement->note_count; i++)
            xb_fleet_table_put(view, XB_COLOUR_NONE, "Note: %s", judgement->notes[i]);
    }
    if (status == XB_OK)
        put_left_out(view);
    return status;
}

enum xb_status xb_fleet_table_write(FILE *stream, const struct xb_fleet_judgement *judgement,
                                    size_t columns, bool verbose, struct xb_error *error)
{
    struct xb_fleet_view view = {
        .stream = stream,
        .judgement = judgement,
        .columns = columns,
        .prose = columns < XB_PLAIN_COLUMNS ? columns : XB_PLAIN_COLUMNS,
        .verbose = verbose,
        .most_rows = xb_is_terminal(stream) && !verbose ? XB_FLEET_ROWS : SIZE_MAX,
    };
    enum xb_status status = put_table(&view, error);
    return status == XB_OK ? xb_stream_finish(stream, "the table", error) : status;
}
