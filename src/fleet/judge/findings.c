/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of judging share: orders, counts of nodes, and what findings and notes say. */
#define _POSIX_C_SOURCE 200809L
#include "fleet/internal.h"
#include "fleet/write/formats.h"

#include "base/text.h"
#include "base/units.h"
#include "xferbench/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int xb_natural_compare(const char *left, const char *right)
{
    static const char digits[] = "0123456789";
    const char *a = left, *b = right;
    if (left == NULL || right == NULL)
        return (left != NULL) - (right != NULL);
    while (*a != '\0' && *b != '\0') {
        /* Numbers of any length: without leading zeros the longer one is larger. */
        bool numbers = strspn(a, digits) > 0 && strspn(b, digits) > 0;
        a += numbers ? strspn(a, "0") : 0;
        b += numbers ? strspn(b, "0") : 0;
        size_t length = numbers ? strspn(a, digits) : 1, other = numbers ? strspn(b, digits) : 1;
        int order =
            XB_FIRST_ORDER(XB_ORDER(length, other), memcmp(a, b, length < other ? length : other));
        if (order != 0)
            return order;
        a += length;
        b += length;
    }
    if (*a != *b)
        return *a == '\0' ? -1 : 1;
    return strcmp(left, right); /* "n1" and "n01" are two names */
}

const struct xb_fleet_saying xb_fleet_sayings[XB_FLEET_CODES] = {
    [XB_FLEET_MISSING] = {"missing", "has no result file", "have no result file",
                          "does it run? srun -w NODE xferbench link"},
    [XB_FLEET_WRONG_DATA] = {"wrong-data", "got wrong data", "got wrong data",
                             "a copy arrived wrong. Let nobody compute there."},
    [XB_FLEET_FAILED] = {"failed", "has measurements that failed", "have measurements that failed",
                         "a measurement ended with an error (below)."},
    [XB_FLEET_LINK_VERDICT] = {"link-verdict", "failed its own link test",
                               "failed their own link tests",
                               "CRITICAL, or nothing could be tested. docs/link.md has the codes."},
    [XB_FLEET_FEWER_GPUS] = {"fewer-gpus", "has fewer GPUs than most", "have fewer GPUs than most",
                             "most nodes have more. Does nvidia-smi or rocm-smi see all?"},
    [XB_FLEET_NARROWER] = {"narrower-link", "has a narrower link than most",
                           "have narrower links than most",
                           "most GPUs have more. Reseat the card, its riser or cable."},
    [XB_FLEET_SLOW] = {"slow", "is slow", "are slow",
                       "measure it again, alone. If it stays slow: xferbench link on the node."},
    [XB_FLEET_ALL_SLOWER] = {"all-slower", "", "",
                             "not drained. Siblings cannot show it: look for what changed on all."},
    [XB_FLEET_BELOW_BASELINE] = {"below-baseline", "is below its baseline",
                                 "are below their baseline",
                                 "not drained. It was more when accepted: measure again, alone."},
    [XB_FLEET_LINK_WARNING] = {"link-warning", "has a warning from its own link test",
                               "have warnings from their own link tests",
                               "not drained. Its own link test is not OK: measure again, alone."},
    [XB_FLEET_CUT] = {"cut-short", "was not measured to the end", "were not measured to the end",
                      "not drained. A signal or the deadline ended it: measure again."},
    [XB_FLEET_FAST] = {"fast", "is faster than the others", "are faster than the others",
                       "not drained. Is something different about it?"},
    [XB_FLEET_OTHER_DRIVER] = {"other-driver", "has another driver than most",
                               "have another driver than most",
                               "not drained. Install the same on all."},
};

bool xb_fleet_code_is_bad(enum xb_fleet_code code)
{
    return code <= XB_FLEET_SLOW;
}

/* If so many siblings show the same, a setting is likelier than a fault, and a script should not
 * drain half of a fleet. Nor should it drain a node that answered with a broken document. */
bool xb_fleet_is_to_drain(const struct xb_fleet_finding *finding)
{
    return xb_fleet_code_is_bad(finding->code) && !finding->together && !finding->unsure;
}

int xb_fleet_exit_code(const struct xb_fleet_judgement *judgement)
{
    if (judgement->fleet->source_count == 0)
        return 2;
    if (judgement->finding_count == 0 && judgement->tests == 0 && judgement->compared == 0)
        return 3;
    /* Nobody knows whether what could not be read is good. */
    return judgement->finding_count > 0 || judgement->fleet->unread_count > 0 ? 1 : 0;
}

/* ---- words ---- */

#define TEXT_SIZE 64

const char *xb_fleet_value_text(double value, const char *unit, bool with_unit, char *text)
{
    const char *kind = unit != NULL ? unit : XB_UNIT_RATIO;
    bool plain = !with_unit || strcmp(kind, XB_UNIT_RATIO) == 0;
    const char *space = plain ? "" : " ", *name = plain ? "" : unit;
    /* A file may hold any number: one that no device reaches is shown with its power of ten. */
    if (!(value >= 1e-12 && value < 1e18))
        snprintf(text, TEXT_SIZE, "%.3g%s%.16s", value, space, name);
    else if (strcmp(kind, XB_UNIT_RATE) == 0)
        snprintf(text, TEXT_SIZE, "%s%s", XB_RATE_TEXT(value), with_unit ? " GB/s" : "");
    else if (strcmp(kind, XB_UNIT_SECONDS) == 0)
        xb_duration_format(value, text, TEXT_SIZE);
    else
        snprintf(text, TEXT_SIZE, "%.*f%s%.16s", xb_decimals_for(value), value, space, name);
    return text;
}

const char *xb_fleet_unit(const char *unit, double *size)
{
    bool is_rate = strcmp(unit, XB_UNIT_RATE) == 0, is_time = strcmp(unit, XB_UNIT_SECONDS) == 0;
    *size = is_rate ? 1e9 : is_time ? 1e-6 : 1.0;
    return is_rate ? "GB/s" : is_time ? "us" : strcmp(unit, XB_UNIT_RATIO) == 0 ? "factor" : unit;
}

const char *xb_fleet_percent_text(double share, char *text)
{
    double percent = fabs(share) * 100;
    int decimals = percent < 0.995 ? 2 : percent < 9.95 ? 1 : 0;
    snprintf(text, TEXT_SIZE, "%.*f %%", decimals, percent);
    return text;
}

const char *xb_fleet_figure_text(const struct xb_fleet_figure *figure, char *text, size_t size)
{
    const char *parts[] = {figure->name, figure->model, figure->link};
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i] != NULL && length < size)
            length += (size_t)snprintf(text + length, size - length, "%s%.100s",
                                       length == 0 ? "" : ", ", parts[i]);
    return text;
}

#define NAMED 3u /* names of a list that are written out */

const char *xb_fleet_names_text(const char *const *names, size_t count, struct xb_words *words)
{
    for (size_t i = 0; i < count && i < NAMED; i++)
        xb_words_add(words, "%s%.64s", i == 0 ? "" : ", ", names[i]);
    if (count > NAMED)
        xb_words_add(words, " and %zu more", count - NAMED);
    return words->text;
}

/* ---- nodes that are counted, notes and findings ---- */

struct xb_node_tally xb_node_tally_open(struct xb_judging *judging)
{
    size_t *rounds = XB_SCRATCH(judging, judging->fleet->node_count, sizeof *rounds);
    return (struct xb_node_tally){.rounds = rounds, .round = 1};
}

void xb_node_tally_begin(struct xb_node_tally *tally)
{
    tally->round++;
    tally->count = 0;
}

void xb_node_tally_add(struct xb_node_tally *tally, const struct xb_fleet_node *node)
{
    tally->count += tally->rounds[node->number] != tally->round;
    tally->rounds[node->number] = tally->round;
}

#define MOST_TEXT 1024 /* of a note or a finding */

void xb_fleet_add_note(struct xb_judging *judging, const char *format, ...)
{
    struct xb_fleet_judgement *judgement = judging->judgement;
    char text[MOST_TEXT];
    XB_FORMAT(text, sizeof text, format);
    judgement->notes = xb_grow(judgement->notes, judgement->note_count, sizeof(const char *));
    judgement->notes[judgement->note_count++] = xb_arena_copy(&judgement->texts, text);
}

struct xb_fleet_finding xb_fleet_finding_of(enum xb_fleet_code code,
                                            const struct xb_fleet_value *value, double centre)
{
    static const struct xb_fleet_node all_nodes = {.name = ""};
    return (struct xb_fleet_finding){.code = code,
                                     .node = value->gpu != NULL ? value->gpu->node : &all_nodes,
                                     .gpu = value->gpu,
                                     .figure = value->figure,
                                     .peer = value->peer,
                                     .value = value->value,
                                     .centre = centre,
                                     .deviation = value->value / centre - 1,
                                     .spreads = (double)NAN,
                                     .p = (double)NAN};
}

void xb_fleet_add_finding(struct xb_judging *judging, struct xb_fleet_finding finding,
                          const char *format, ...)
{
    struct xb_fleet_judgement *judgement = judging->judgement;
    char text[MOST_TEXT];
    XB_FORMAT(text, sizeof text, format);
    finding.text = xb_arena_copy(&judgement->texts, text);
    if (finding.figure == NULL) {
        finding.peer = -1;
        finding.value = finding.centre = finding.deviation = (double)NAN;
        finding.spreads = finding.p = (double)NAN;
    }
    judgement->findings = xb_grow(judgement->findings, judgement->finding_count, sizeof finding);
    judgement->findings[judgement->finding_count++] = finding;
    judgement->found[finding.code]++;
    judgement->unsure += finding.unsure;
}

const struct xb_fleet_gpu *xb_fleet_gpu_of(const struct xb_fleet_finding *finding)
{
    static const struct xb_fleet_gpu none = {.number = SIZE_MAX};
    return finding->gpu != NULL ? finding->gpu : &none;
}

const struct xb_fleet_figure *xb_fleet_figure_of(const struct xb_fleet_finding *finding)
{
    static const struct xb_fleet_figure none = {.number = SIZE_MAX};
    return finding->figure != NULL ? finding->figure : &none;
}

bool xb_fleet_is_together(size_t named, size_t count)
{
    bool many =
        named >= XB_FLEET_TOGETHER && (double)named > XB_FLEET_TOGETHER_SHARE * (double)count;
    return many || (named > 1 && 2 * named > count);
}

double xb_fleet_add_squares(double one, double other)
{
    double larger = fmax(one, other);
    if (!(larger > 0) || !isfinite(larger))
        return larger;
    double smaller = fmin(one, other) / larger;
    return larger * sqrt(1 + smaller * smaller);
}
