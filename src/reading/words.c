/* SPDX-License-Identifier: Apache-2.0 */
/* The words that every line of the Reading is made of. */
#include "internal.h"

#include "base/text.h"
#include "base/units.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

/* With the fewest decimals, `least` or more, that are within 1 % of it. */
static const char *digits_of(double number, int least, char *text, size_t size)
{
    for (int decimals = least; decimals < least + 6; decimals++) {
        snprintf(text, size, "%.*f", decimals, number);
        if (fabs(strtod(text, NULL) - number) <= 0.01 * fabs(number))
            break;
    }
    return text;
}

const char *xb_reading_factor_text(double factor, char *text, size_t size)
{
    snprintf(text, size, "%s times", digits_of(factor, factor < 10, (char[24]){0}, 24));
    return text;
}

static const char *rate_text(double rate, char *text, size_t size)
{
    return digits_of(rate / 1e9, rate / 1e9 < 100, text, size);
}

static const char *size_text(double bytes, char *text, size_t size)
{
    return xb_size_format((uint64_t)bytes, text, size);
}

static const char *share_text(double share, char *text, size_t size)
{
    if (share < 0.001)
        snprintf(text, size, "less than 0.1 %%");
    else
        snprintf(text, size, "%.*f %%", share < 0.1 ? 1 : 0, 100 * share);
    return text;
}

static const char *part_text(double share, char *text, size_t size)
{
    return share_text(fmin(share, 1), text, size);
}

/* "1.6 times as fast", "as fast", "64 % as fast". */
static const char *speed_text(double factor, char *text, size_t size)
{
    char much[32] = "";
    if (factor < 0.995)
        share_text(factor, much, sizeof much);
    else if (factor >= 1.005)
        xb_reading_factor_text(factor, much, sizeof much);
    snprintf(text, size, "%s%sas fast", much, much[0] != '\0' ? " " : "");
    return text;
}

static const struct kind {
    const char *word, *unit;
    const char *(*text)(double value, char *text, size_t size);
    int decimals; /* without such a function */
} kinds[] = {
    {"rate", XB_UNIT_RATE, rate_text, 0},    {"factor", XB_UNIT_RATIO, xb_reading_factor_text, 0},
    {"speed", XB_UNIT_RATIO, speed_text, 0}, {"share", XB_UNIT_RATIO, share_text, 0},
    {"part", XB_UNIT_RATIO, part_text, 0},   {"duration", XB_UNIT_SECONDS, xb_duration_format, 0},
    {"size", XB_UNIT_BYTES, size_text, 0},   {"whole", XB_UNIT_RATIO, NULL, 0},
    {"one", XB_UNIT_RATIO, NULL, 1},
};

/* ---- words ---- */

/* Adds so much of a text; a negative length: all of it. */
static void add_part(struct xb_reading *reading, const char *text, int length)
{
    int skipped = reading->words.length == 0 && length != 0 && text[0] == ' ';
    xb_words_add(&reading->words, "%.*s", length > 0 ? length - skipped : length, text + skipped);
}

static void add(struct xb_reading *reading, const char *text)
{
    add_part(reading, text, -1);
}

/* With a capital where a sentence begins. */
static void add_subject(struct xb_reading *reading, const char *text)
{
    struct xb_words *words = &reading->words;
    size_t length = words->length;
    bool begins = length == 0 || (length > 1 && words->text[length - 2] == '.');
    add(reading, text);
    if (begins)
        words->text[length] = (char)toupper((unsigned char)words->text[length]);
}

/* " with chunk 8 MiB, streams 2": what tells the case from others of its mode. That a buffer is 0
 * bytes off a boundary goes without saying. */
static void add_parameters(struct xb_reading *reading, const struct xb_record_case *test,
                           const char *but)
{
    const char *before = " with ";
    for (size_t i = 0; i < test->parameter_count; i++) {
        const char *name = test->parameters[i].name;
        char text[64];
        const char *value = xb_parameter_text(test, name, text, sizeof text);
        bool is_nothing =
            value != NULL && strcmp(value, "0") == 0 && xb_parameter_is_size(test, name);
        if (value == NULL || is_nothing || strcmp(name, XB_RECORD_GROUP) == 0 ||
            (but != NULL && strcmp(name, but) == 0) ||
            !xb_parameter_differs(&reading->parameters, test, name))
            continue;
        xb_words_add(&reading->words, "%s%s %s", before, name, value);
        before = ", ";
    }
}

/* A program's call, of the backend's runtime or of any. */
static void add_call(struct xb_reading *reading, enum xb_call call)
{
    static const char *const calls[XB_CALLS][2] = {
        [XB_CALL_ALLOCATE_PINNED] = {"cudaMallocHost", "hipHostMalloc"},
        [XB_CALL_PIN] = {"cudaHostRegister", "hipHostRegister"},
        [XB_CALL_COPY_ASYNC] = {"cudaMemcpyAsync", "hipMemcpyAsync"},
        [XB_CALL_PREFETCH] = {"cudaMemPrefetchAsync", "hipMemPrefetchAsync"},
        [XB_CALL_COPY_BATCH] = {"cudaMemcpyBatchAsync", "hipMemcpyBatchAsync"},
        [XB_CALL_COPY_PEER] = {"cudaMemcpyPeerAsync", "hipMemcpyPeerAsync"},
        [XB_CALL_ENABLE_PEER] = {"cudaDeviceEnablePeerAccess", "hipDeviceEnablePeerAccess"},
    };
    /* A runtime's calls begin with its name. */
    const char *backend = reading->record->backend != NULL ? reading->record->backend : "";
    for (size_t i = 0; i < 2 && backend[0] != '\0'; i++)
        if (strncmp(calls[call][i], backend, strlen(backend)) == 0) {
            xb_words_add(&reading->words, "%s()", calls[call][i]);
            return;
        }
    xb_words_add(&reading->words, "%s() or %s()", calls[call][0], calls[call][1]);
}

/* ---- phrases ---- */

/* A phrase that is told. */
struct phrase {
    struct xb_reading *reading;
    va_list *arguments;
    double gain;                     /* of a remedy */
    const struct xb_record_case *of; /* the last in it */
    /* What stands in [...] begins here, and goes back to that if something is missing. */
    struct part {
        size_t length, numbers, cases;
        bool lacked_figure, is_missing;
    } part;
};

/* "{+rate:name=figure}" */
struct word {
    char is[16], name[48], figure[48];
    bool has_no_words;
};

static void add_case(struct phrase *phrase, const struct word *word)
{
    struct xb_reading *reading = phrase->reading;
    const struct xb_record_case *test = va_arg(*phrase->arguments, const struct xb_record_case *);
    bool has_but = strcmp(word->name, "but") == 0;
    const char *but = has_but ? va_arg(*phrase->arguments, const char *) : NULL;
    phrase->of = test;
    phrase->part.is_missing |= test == NULL;
    if (test == NULL)
        return;
    if (strcmp(word->is, "speed-of") == 0) {
        const struct xb_figure *figure = xb_reading_figure(test);
        const bool is_rate = figure->more_is_better; /* else it is of small copies: a time */
        double median = xb_reading_median(reading, test, figure);
        add(reading, (is_rate ? rate_text : xb_duration_format)(median, (char[64]){0}, 64));
        add(reading, is_rate && word->name[0] != '\0' ? " GB/s" : "");
        reading->lacks_figure = reading->lacks_figure || !isfinite(median);
        return;
    }
    if (strcmp(word->is, "to") == 0) {
        add_subject(reading, xb_direction_words(test));
        return;
    }
    xb_reading_rests_on(reading, test);
    if (strcmp(word->is, "case") == 0)
        return;
    char name[96];
    (void)xb_method_name(test, name, sizeof name);
    for (char *comma; (comma = strchr(name, ',')) != NULL;) /* within a sentence it has none */
        memmove(comma, comma + 1, strlen(comma));
    add_subject(reading, name);
    if (strcmp(word->is, "way") == 0)
        xb_words_add(&reading->words, " %s", xb_direction_words(test));
    add_parameters(reading, test, but);
}

static void add_number(struct phrase *phrase, const struct word *word)
{
    struct xb_reading *reading = phrase->reading;
    const struct xb_record_case *of = phrase->of;
    const char *is = word->is, *option = NULL;
    if (strcmp(is, "value") == 0) {
        of = va_arg(*phrase->arguments, const struct xb_record_case *);
        option = va_arg(*phrase->arguments, const char *);
        is = xb_parameter_is_size(of, option) ? "size" : "whole";
    }
    const struct kind *kind = kinds;
    while (strcmp(is, kind->word) != 0)
        if (++kind == kinds + sizeof kinds / sizeof kinds[0]) {
            fprintf(stderr, "xferbench: bug: reading.h has no word {%s}\n", is);
            abort();
        }
    double value = option != NULL            ? (double)xb_reading_value(of, option)
                   : word->figure[0] != '\0' ? xb_record_median(reading->record, of, word->figure)
                   : kind->text == size_text ? (double)va_arg(*phrase->arguments, uint64_t)
                                             : va_arg(*phrase->arguments, double);
    const char *name = strcmp(word->name, "*") == 0 ? va_arg(*phrase->arguments, const char *)
                       : word->name[0] != '\0'      ? word->name
                                                    : word->figure;
    phrase->part.is_missing |= !(value > 0) || !isfinite(value);
    if (!word->has_no_words) {
        if (kind->text == NULL)
            xb_words_add(&reading->words, "%.*f", kind->decimals, value);
        else
            add(reading, kind->text(value, (char[64]){0}, 64));
        reading->lacks_figure = reading->lacks_figure || !isfinite(value);
    }
    bool is_of_way = of != NULL && name[0] != '\0' && name[strlen(name) - 1] == '_';
    char whole[64];
    snprintf(whole, sizeof whole, "%s%s", name, is_of_way ? of->direction : "");
    if (whole[0] != '\0')
        xb_reading_number(reading, whole, value, kind->unit);
}

static void add_word(struct phrase *phrase, const struct word *word)
{
    struct xb_reading *reading = phrase->reading;
    if (strcmp(word->is, "text") == 0) {
        const char *text = va_arg(*phrase->arguments, const char *);
        phrase->part.is_missing |= text == NULL;
        add(reading, text != NULL ? text : "");
    } else if (strcmp(word->is, "call") == 0) {
        add_call(reading, va_arg(*phrase->arguments, enum xb_call));
    } else if (strcmp(word->is, "gain") == 0) {
        add(reading, XB_FACTOR_TEXT(phrase->gain));
    } else if (xb_list_has("name,way,case,to,speed-of", word->is)) {
        add_case(phrase, word);
    } else {
        add_number(phrase, word);
    }
}

static void compose(struct xb_reading *reading, double gain, const char *c, va_list *arguments)
{
    struct phrase phrase = {.reading = reading, .arguments = arguments, .gain = gain};
    struct xb_reading_entry *entry = &reading->entry;
    while (*c != '\0') {
        size_t length = strcspn(c, "{[]");
        add_part(reading, c, (int)length);
        c += length;
        if (*c == '{') {
            struct word word = {.has_no_words = c[1] == '+'};
            c += 1 + word.has_no_words;
            (void)sscanf(c, "%15[^:=}]", word.is);
            (void)sscanf(c, "%*[^:=}]:%47[^=}]", word.name);
            (void)sscanf(c, "%*[^=}]=%47[^}]", word.figure);
            add_word(&phrase, &word);
            c += strcspn(c, "}");
        } else if (*c == '[') {
            phrase.part = (struct part){reading->words.length, entry->number_count,
                                        entry->case_count, reading->lacks_figure, false};
        } else if (*c == ']' && phrase.part.is_missing) {
            reading->words.text[reading->words.length = phrase.part.length] = '\0';
            entry->number_count = phrase.part.numbers;
            entry->case_count = phrase.part.cases;
            reading->lacks_figure = phrase.part.lacked_figure;
        }
        c += *c != '\0';
    }
}

void xb_tell(struct xb_reading *reading, const char *phrase, ...)
{
    va_list arguments;
    va_start(arguments, phrase);
    compose(reading, (double)NAN, phrase, &arguments);
    va_end(arguments);
}

void xb_remedy(struct xb_reading *reading, enum xb_effort effort, double gain, const char *phrase,
               ...)
{
    const struct xb_record_device *device = xb_record_device(reading->record, reading->device);
    const struct xb_words said = reading->words;
    va_list arguments;
    if (device != NULL && device->shares_host_memory)
        return;
    reading->words = (struct xb_words){.length = 0};
    va_start(arguments, phrase);
    compose(reading, gain, phrase, &arguments);
    va_end(arguments);
    reading->entry.remedy = xb_arena_copy(&reading->list->texts, reading->words.text);
    reading->entry.effort = effort;
    reading->entry.gain = isfinite(gain) ? gain : (double)NAN;
    reading->words = said;
}

/* ---- one way against another ---- */

struct xb_reading_gain xb_reading_find_gain(const struct xb_reading *reading,
                                            struct xb_reading_way way, struct xb_reading_way other)
{
    struct xb_reading_gain gain = {.most = (double)NAN};
    size_t length = 0;
    for (int i = 0; i < 2; i++) {
        enum xb_direction to = i == 0 ? XB_H2D : XB_D2H;
        struct xb_reading_pair *pair = &gain.pairs[i];
        pair->way = xb_reading_best_of_any(reading, to, way.mode, way.variant);
        pair->other = xb_reading_best_of_any(reading, to, other.mode, other.variant);
        if (pair->way == NULL || pair->other == NULL)
            continue;
        const struct xb_figure *figure = xb_reading_figure(pair->way);
        pair->ratio =
            fmax(xb_reading_speed(reading, pair->way) / xb_reading_speed(reading, pair->other), 0);
        pair->order = xb_reading_judge_by(reading, pair->way, figure, pair->other, figure);
        if (pair->order == XB_READING_ALIKE && fabs(pair->ratio - 1) >= XB_VISIBLE)
            pair->order = XB_READING_UNKNOWN;
        if (pair->order != XB_READING_FASTER)
            continue;
        length += (size_t)snprintf(gain.words + length, sizeof gain.words - length,
                                   length > 0 ? ", %s back" : "%s as fast %s",
                                   XB_FACTOR_TEXT(pair->ratio), xb_direction_words(pair->way));
        gain.most = fmax(gain.most, pair->ratio);
    }
    for (size_t i = 0; i < 2 && length > 0; i++)
        if (gain.pairs[i].order == XB_READING_SLOWER)
            snprintf(gain.words + length, sizeof gain.words - length, ", but slower %s",
                     i == 0 ? "to the GPU" : "back");
    return gain;
}

/* "pinned_bandwidth_h2d", "prefetch_bandwidth_h2d": a number of a way, by mode or variant. */
static void write_figure(struct xb_reading *reading, const char *way,
                         const struct xb_record_case *test)
{
    const struct xb_figure *figure = xb_reading_figure(test);
    char name[64];
    snprintf(name, sizeof name, "%s_%s_%s", way, figure->name, test->direction);
    for (char *c = name; *c != '\0'; c++)
        *c = (char)(*c == '-' ? '_' : *c);
    xb_reading_number(reading, name, xb_reading_median(reading, test, figure), figure->unit);
}

/* "Pinned is 7.2 times as fast as pageable to the GPU"; `back` is the other direction, or NULL. */
static void say_pair(struct xb_reading *reading, const struct xb_reading_pair *pair,
                     const struct xb_reading_pair *back)
{
    static const char *const phrases[] = {
        [XB_READING_UNKNOWN] = " The samples cannot tell {name} from {+speed}{name} {to}",
        [XB_READING_ALIKE] = " {name} is as fast as {+speed}{name} {to}, within the noise",
        [XB_READING_FASTER] = " {name} is {speed} as {name} {to}",
        [XB_READING_SLOWER] = " {name} is {speed} as {name} {to}",
    };
    xb_tell(reading, phrases[pair->order], pair->way, pair->ratio, pair->other, pair->way);
    if (back != NULL)
        xb_tell(reading,
                back->ratio < 1 ? " and {share} back{case}{case}"
                                : " and {factor} back{case}{case}",
                back->ratio, back->way, back->other);
    xb_tell(reading, pair->way->bytes < XB_LARGE_BYTES && pair->order > XB_READING_ALIKE
                         ? ", from the call until it is done."
                         : ".");
}

bool xb_reading_compare(struct xb_reading *reading, struct xb_reading_way way,
                        struct xb_reading_way other, struct xb_reading_gain *gain)
{
    const struct xb_reading_pair *pairs = gain->pairs, *by_two_clocks = NULL;
    bool by_variant = strcmp(way.mode, other.mode) == 0;
    *gain = xb_reading_find_gain(reading, way, other);
    /* One sentence can tell of both if they compare the same cases but for their direction. */
    bool both = pairs[0].order > XB_READING_ALIKE && pairs[1].order > XB_READING_ALIKE;
    if (both) {
        struct xb_record_case to = *pairs[0].way, to_other = *pairs[0].other;
        to.direction = to_other.direction = pairs[1].way->direction;
        both = xb_record_find(reading->record, &to) == pairs[1].way &&
               xb_record_find(reading->record, &to_other) == pairs[1].other;
    }
    for (size_t i = 0; i < 2; i++) {
        if (!(pairs[i].ratio > 0))
            continue;
        if (i == 0 || !both)
            say_pair(reading, &pairs[i], both ? &pairs[1] : NULL);
        if (reading->bytes >= XB_LARGE_BYTES &&
            xb_reading_device_timed(reading, pairs[i].way) !=
                xb_reading_device_timed(reading, pairs[i].other))
            by_two_clocks = &pairs[i];
        xb_tell(reading, "{case}{+factor:ratio_}", pairs[i].way, pairs[i].ratio);
        write_figure(reading, by_variant && way.variant != NULL ? way.variant : way.mode,
                     pairs[i].way);
        write_figure(reading, by_variant && other.variant != NULL ? other.variant : other.mode,
                     pairs[i].other);
    }
    if (by_two_clocks != NULL)
        xb_tell(reading, " The host's clock timed {name}, and the GPU's the other.",
                xb_reading_device_timed(reading, by_two_clocks->way) ? by_two_clocks->other
                                                                     : by_two_clocks->way);
    reading->entry.is_untold =
        pairs[0].order == XB_READING_UNKNOWN && pairs[1].order == XB_READING_UNKNOWN;
    return pairs[0].ratio > 0 || pairs[1].ratio > 0;
}

bool xb_reading_try(struct xb_reading *reading, const struct xb_record_case *slow,
                    struct xb_reading_way way, struct xb_reading_gain *gain)
{
    const struct xb_reading_pair *pair = &gain->pairs[xb_reading_goes(slow, XB_D2H)];
    *gain = xb_reading_find_gain(reading, way, (struct xb_reading_way){slow->mode, slow->variant});
    if (pair->order == XB_READING_FASTER)
        xb_tell(reading, "{+factor:first_thing_ratio}{case}", pair->ratio, pair->way);
    return pair->order == XB_READING_FASTER;
}

void xb_tell_next(struct xb_reading *reading)
{
    const struct xb_reading_entry of = reading->entry;
    if (of.code[0] == '\0') { /* an answer is one text */
        xb_tell(reading, " ");
        return;
    }
    xb_reading_keep(reading);
    xb_reading_begin(reading, of.label, of.code, of.device, of.bytes);
}
