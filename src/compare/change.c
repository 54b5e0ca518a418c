/* SPDX-License-Identifier: Apache-2.0 */
/* What became of a figure, in percent and in words. */
#include "text.h"

#include <math.h>
#include <string.h>

/* Words for a figure that became less, and more. */
struct words {
    const char *less, *more;
};

static struct words words_of(const struct xb_figure *figure)
{
    if (xb_compare_is_rate(figure))
        return (struct words){"slower", "faster"};
    if (strcmp(figure->unit, XB_UNIT_SECONDS) == 0)
        return (struct words){"shorter", "longer"};
    return (struct words){"lower", "higher"};
}

static bool is_number(double value)
{
    return isfinite(value) && fabs(value) < 1e9;
}

/* Two digits that count, and more where a rounded percentage would read as if it lay on the other
 * side of the threshold. */
static int decimals_of(double percent, double threshold)
{
    const double bound = 100 * threshold;
    return xb_compare_decimals(percent, &bound, 1, percent >= 99.5 ? 0 : percent >= 0.995 ? 1 : 2);
}

/* Rounded to `direction`: -1 down, 1 up, 0 to the nearest. What is sure must not be more than the
 * interval says. */
static double rounded(double percent, int decimals, int direction)
{
    static const double noise = 1e-9; /* what a computer makes of 2 % */
    double scale = pow(10, decimals);
    double scaled = percent * scale;
    return (direction < 0   ? floor(scaled + noise)
            : direction > 0 ? ceil(scaled - noise)
                            : round(scaled)) /
           scale;
}

/* The same for a bound, which is rounded one way only: 1.96 %, rounded up, must not read as a
 * threshold of 2 % reached. */
static int decimals_of_bound(double percent, double threshold, int direction)
{
    static const double on_it = 1e-10; /* a verdict does not depend on as little */
    const double bound = 100 * threshold;
    int decimals = decimals_of(percent, threshold);
    if (fabs(percent - bound) <= on_it)
        return decimals;
    for (; decimals < 10; decimals++) {
        double shown = rounded(percent, decimals, direction);
        if ((shown < bound) == (percent < bound) && fabs(shown - bound) > on_it)
            break;
    }
    return decimals;
}

const char *xb_compare_change(const struct xb_compared *compared, char *text, size_t size)
{
    struct words words = words_of(&compared->figure);
    double percent = 100 * fabs(compared->ratio - 1);
    snprintf(text, size, "-");
    if (!compared->has_ratio || !is_number(percent))
        return text;
    int decimals = decimals_of(percent, compared->threshold);
    if (rounded(percent, decimals, 0) > 0)
        snprintf(text, size, "%.*f %% %s", decimals, percent,
                 compared->ratio < 1 ? words.less : words.more);
    else
        snprintf(text, size, "%.*f %%", decimals, 0.0); /* which way nobody can tell */
    return text;
}

/* Whether what became of it is told with that word. */
static bool ends_with(const struct xb_compared *compared, const char *word)
{
    char text[XB_COMPARE_WORD];
    const char *end = strrchr(xb_compare_change(compared, text, sizeof text), ' ');
    return end != NULL && strcmp(end + 1, word) == 0;
}

/*
 * The bound of the interval that the verdict is about, each of which is exceeded with a probability
 * of at most (1 - confidence) / 2: of a loss how large it is at least, of a PASS and of what is
 * open how large it may be.
 */
const char *xb_compare_sure(const struct xb_compared *compared, char *text, size_t size)
{
    struct words words = words_of(&compared->figure);
    bool more = compared->figure.more_is_better;
    double most = more ? 100 * (1 - compared->low) : 100 * (compared->high - 1);
    double least = more ? 100 * (1 - compared->high) : 100 * (compared->low - 1);
    const char *worse = more ? words.less : words.more;
    const char *better = more ? words.more : words.less;
    bool is_loss = compared->outcome == XB_OUTCOME_REGRESSION && least > 0;
    double percent = is_loss ? least : fabs(most);
    int direction = is_loss || most <= 0 ? -1 : 1;
    snprintf(text, size, "-");
    if (!compared->has_interval || !(compared->confidence > 0) || !is_number(percent))
        return text;
    int decimals = decimals_of_bound(percent, compared->threshold, direction);
    double shown = rounded(percent, decimals, direction);
    const char *word = is_loss || direction > 0 ? worse : better;
    if (shown > 0)
        snprintf(text, size, "at %s %.*f %%%s%s", direction < 0 ? "least" : "most", decimals, shown,
                 ends_with(compared, word) ? "" : " ", ends_with(compared, word) ? "" : word);
    else
        snprintf(text, size, "not %s", worse);
    return text;
}

const char *xb_compare_sureness(const struct xb_compared *compared, char *text, size_t size)
{
    double percent = rounded(50 * (1 + compared->confidence), 1, -1);
    text[0] = '\0';
    if (compared->confidence > 0)
        snprintf(text, size, "%g %%", percent < 100 ? percent : 99.9);
    return text;
}

const char *xb_compare_says(const struct xb_compared *compared, char *text, size_t size)
{
    char sureness[32], sure[64];
    xb_compare_change(compared, text, size);
    xb_compare_sure(compared, sure, sizeof sure);
    size_t length = strlen(text);
    if (strcmp(text, "-") != 0 && strcmp(sure, "-") != 0)
        snprintf(text + length, size - length, ", %s sure of %s",
                 xb_compare_sureness(compared, sureness, sizeof sureness), sure);
    return text;
}

static void tell_side(struct xb_words *words, const char *name, const char *figure, size_t n)
{
    xb_words_add(words, "%s %s", name, figure);
    if (n > 0)
        xb_words_add(words, " (%zu process%s)", n, n == 1 ? "" : "es");
}

void xb_compare_tell(struct xb_words *words, const struct xb_comparison *comparison,
                     const struct xb_compared *compared, const char *separator)
{
    char text[XB_COMPARE_TEXT], level[32];
    if (compared->has_ratio)
        xb_words_add(words, "%s%s", xb_compare_says(compared, text, sizeof text), separator);
    tell_side(words, "baseline", xb_compare_baseline(compared, true, text, sizeof text),
              compared->baseline_n);
    xb_words_add(words, "%s", separator);
    tell_side(words, "candidate", xb_compare_candidate(compared, true, text, sizeof text),
              compared->candidate_n);
    if (compared->has_ratio)
        xb_words_add(words, "%sratio %s", separator, xb_compare_ratio(compared, text, sizeof text));
    if (compared->has_interval) {
        xb_compare_level(compared, level, sizeof level);
        xb_words_add(words, "%s%s%sinterval %s%s", separator, level, level[0] != '\0' ? " " : "",
                     xb_compare_interval(compared, " to ", text, sizeof text),
                     level[0] != '\0' ? "" : " (of samples; its level is not known)");
    }
    if (compared->basis == XB_BASIS_TEST)
        xb_words_add(words, "%sP %s", separator,
                     xb_compare_p(comparison, compared, text, sizeof text));
    if (xb_compare_note(compared, text, sizeof text)[0] != '\0')
        xb_words_add(words, "%s%s", separator, text);
}
