/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* getopt_long, strsep */
#include "options.h"

#include "memory.h"

#include <assert.h>
#include <ctype.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* getopt_long returns LONG_CODE + i for row i, which no short name can equal. */
#define LONG_CODE 256

/* The rows, converted to what getopt_long and xb_nearest expect. */
struct tables {
    struct option *longs;
    char *shorts;
    const char **names;
};

static struct tables build_tables(const struct xb_option *const *rows, size_t count,
                                  struct xb_arena **memory)
{
    struct tables tables = {.longs = xb_arena_new(memory, (2 * count + 1) * sizeof(struct option)),
                            .shorts = xb_arena_new(memory, 2 * count + 2),
                            .names = xb_arena_new(memory, (count + 1) * sizeof(char *))};
    size_t longs = 0;
    char *next = tables.shorts;
    *next++ = ':'; /* tell a missing argument from an unknown option */
    for (size_t i = 0; i < count; i++) {
        bool has_argument = rows[i]->type != XB_OPTION_FLAG;
        tables.names[i] = rows[i]->name;
        const char *const names[] = {rows[i]->name, rows[i]->other_name};
        for (size_t k = 0; k < 2 && names[k] != NULL; k++)
            tables.longs[longs++] = (struct option){
                names[k], has_argument ? required_argument : no_argument, NULL, LONG_CODE + (int)i};
        if (rows[i]->short_name != 0) {
            *next++ = rows[i]->short_name;
            if (has_argument)
                *next++ = ':';
        }
    }
    return tables;
}

/* Finds the value for a code that getopt_long returned; NULL for a letter that no row has. */
static struct xb_value *find_value(const struct xb_config *config, int code)
{
    for (size_t i = 0; i < config->count; i++)
        if (code == LONG_CODE + (int)i || code == config->values[i].option->short_name)
            return &config->values[i];
    return NULL;
}

/* Refuses a word that is repeated, or not among the choices. */
static enum xb_status check_word(struct xb_value *value, const char *word, struct xb_error *error)
{
    const struct xb_option *option = value->option;
    if (xb_word_is_in(&value->words, word) && !option->repeats)
        return XB_FAIL(error, XB_ERR_USAGE, "--%s: \"%.80s\" is named twice; name it once",
                       option->name, word);
    if (option->choices == NULL)
        return XB_OK;
    for (value->place = 0; option->choices[value->place] != NULL; value->place++)
        if (strcmp(option->choices[value->place], word) == 0)
            return XB_OK;
    char list[400] = ""; /* "a, b, c", cut where it is full */
    size_t used = 0;
    for (size_t i = 0; option->choices[i] != NULL && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "",
                                 option->choices[i]);
    const char *nearest = xb_nearest(word, option->choices);
    return XB_FAIL(error, XB_ERR_USAGE, "--%s: unknown word \"%.80s\"%s%s%s Choose from %s",
                   option->name, word, nearest != NULL ? "; did you mean \"" : "",
                   nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : ".", list);
}

/* Reads a comma list of words. */
static enum xb_status parse_choices(struct xb_value *value, struct xb_arena **memory,
                                    struct xb_error *error)
{
    const struct xb_option *option = value->option;
    const char *text = value->text;
    const struct xb_word_list before = value->words;
    size_t count = before.count + 1;
    for (const char *c = text; *c != '\0' && !option->repeats; c++)
        count += *c == ',';
    if (option->takes_one && count > 1)
        return XB_FAIL(error, XB_ERR_USAGE, "--%s takes one word", option->name);
    value->words.items = xb_arena_new(memory, count * sizeof(char *));
    for (size_t i = 0; i < before.count; i++)
        value->words.items[i] = before.items[i];
    size_t length = strlen(text);
    char *rest = memcpy(xb_arena_new(memory, length + 1), text, length);
    while (rest != NULL) {
        char *word = strsep(&rest, option->repeats ? "" : ",");
        if (word[0] == '\0')
            return XB_FAIL(error, XB_ERR_USAGE,
                           "--%s: \"%.80s\" has an empty place; give words with single commas "
                           "between",
                           option->name, text);
        XB_TRY(check_word(value, word, error));
        value->words.items[value->words.count++] = word;
    }
    return XB_OK;
}

/* Parses `text` (NULL for a flag) into the value, which xb_config_free releases in any case. */
static enum xb_status set_value(struct xb_value *value, const char *text, struct xb_arena **memory,
                                struct xb_error *error)
{
    const struct xb_option *option = value->option;
    assert(text != NULL || option->type == XB_OPTION_FLAG);
    value->is_set = true;
    value->text = text != NULL ? xb_arena_copy(memory, text) : NULL;
    struct xb_error cause;
    enum xb_status status = XB_OK;
    switch (option->type) {
    case XB_OPTION_FLAG:
        value->flag = true;
        break;
    case XB_OPTION_TEXT:
    case XB_OPTION_FILE:
        if (text[0] == '\0')
            status = XB_FAIL(&cause, XB_ERR_USAGE, "the argument %s is empty", option->argument);
        break;
    case XB_OPTION_COUNT:
        status = xb_count_parse(text, option->minimum, option->maximum, &value->count, &cause);
        break;
    case XB_OPTION_SIZE:
        status =
            xb_size_parse_within(text, option->minimum, option->maximum, &value->count, &cause);
        break;
    case XB_OPTION_SIZES:
    case XB_OPTION_COUNTS:
        status = xb_numbers_parse(text, option->type == XB_OPTION_SIZES, option->minimum,
                                  option->maximum, &value->numbers, memory, &cause);
        break;
    case XB_OPTION_DURATION:
        status = xb_duration_parse(text, &value->seconds, &cause);
        break;
    case XB_OPTION_CHOICES:
        return parse_choices(value, memory, error);
    }
    return status == XB_OK ? XB_OK
                           : XB_FAIL(error, status, "--%s: %s", option->name, cause.message);
}

/* No real name is this long. A longer candidate is found only by its beginning. */
#define CANDIDATE_MAX ((size_t)64)

/* How many letters of `a` must be inserted, deleted, replaced or swapped with a neighbour to make
 * `b` (optimal string alignment; Damerau, "A technique for computer detection and correction of
 * spelling errors", CACM 7(3), 1964). `b` has CANDIDATE_MAX letters at most, `a` twice as many. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t steps[2 * CANDIDATE_MAX + 1][CANDIDATE_MAX + 1]; /* from i letters of a to j of b */
    for (size_t i = 0; i <= a_length; i++)
        for (size_t j = 0; j <= b_length; j++) {
            size_t *to = &steps[i][j];
            *to = i + j;
            if (i == 0 || j == 0)
                continue;
            /* In lower case: people who write H2D mean h2d. */
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            *to = xb_lesser(steps[i - 1][j - 1] + (x != y),
                            xb_lesser(steps[i - 1][j], steps[i][j - 1]) + 1);
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                tolower((unsigned char)a[i - 2]) == y)
                *to = xb_lesser(*to, steps[i - 2][j - 2] + 1);
        }
    return steps[a_length][b_length];
}

const char *xb_nearest(const char *word, const char *const *candidates)
{
    const char *nearest = NULL, *longer = NULL;
    size_t length = strlen(word), least = SIZE_MAX, longer_count = 0;
    for (size_t i = 0; candidates[i] != NULL && length > 0; i++) {
        size_t candidate_length = strlen(candidates[i]);
        if (strncmp(word, candidates[i], length) == 0) {
            longer = candidates[i];
            longer_count++;
        }
        if (candidate_length > CANDIDATE_MAX || length > 2 * CANDIDATE_MAX)
            continue; /* such a word is too far from any of them */
        size_t steps = distance(word, length, candidates[i], candidate_length);
        /* Accept one slip for every three letters, rounded: 1 in h2d, 2 in async. With more slips,
         * words would match that have little in common. */
        size_t longest = length > candidate_length ? length : candidate_length;
        if (steps <= (longest + 1) / 3 && steps < least) {
            nearest = candidates[i];
            least = steps;
        }
    }
    return longer_count == 1 ? longer : nearest; /* the only one that begins with the word */
}

/* Our options, and what people type for them who know other programs. */
static const char *const known[][2] = {{"device", " gpu gpus "},
                                       {"samples", " runs iterations iters repeat repetitions "},
                                       {"processes", " runs iterations iters repeat repetitions "},
                                       {"json", " output verbose "},
                                       {"csv", " output "},
                                       {"color", " colour no-color no-colour "},
                                       {"size", " bytes buffer-size "},
                                       {"mode", " test tests "},
                                       {"time-limit", " duration "},
                                       {"deadline", " timeout "},
                                       {"quiet", " silent "},
                                       {"expect-hosts", " nodes hosts "}};

/* Refuses a long option that no row has: getopt_long would take --gpu for --gpu-time. Names those
 * that do what it does in other programs ("gpus": device), at most two; else the nearest. */
static enum xb_status check_name(const struct tables *tables, const char *argument,
                                 struct xb_error *error)
{
    char word[80], between_blanks[96];
    const char *meant[2] = {NULL, NULL};
    size_t length = strcspn(argument + 2, "="), count = 0;
    for (const struct option *one = tables->longs; one->name != NULL; one++)
        if (strlen(one->name) == length && strncmp(one->name, argument + 2, length) == 0)
            return XB_OK;
    snprintf(word, sizeof word, "%.*s", (int)length, argument + 2);
    snprintf(between_blanks, sizeof between_blanks, " %s ", word);
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
        for (size_t i = 0; strstr(known[k][1], between_blanks) != NULL && tables->names[i] != NULL;
             i++)
            if (count < 2 && strcmp(known[k][0], tables->names[i]) == 0)
                meant[count++] = tables->names[i];
    if (count == 0)
        meant[0] = xb_nearest(word, tables->names);
    return XB_FAIL(error, XB_ERR_USAGE, "unknown option --%s%s%s%s%s%s", word,
                   meant[0] != NULL ? "; did you mean --" : "", meant[0] != NULL ? meant[0] : "",
                   meant[1] != NULL ? " or --" : "", meant[1] != NULL ? meant[1] : "",
                   meant[0] != NULL ? "?" : "");
}

static enum xb_status parse_arguments(struct xb_config *config, const struct tables *tables,
                                      int argc, char **argv, struct xb_error *error)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strncmp(argv[i], "--", 2) == 0 && check_name(tables, argv[i], error) != XB_OK)
            return error->status;
    opterr = 0;
    optind = 0; /* makes getopt_long forget the command line it read before */
    int code;
    while ((code = getopt_long(argc, argv, tables->shorts, tables->longs, NULL)) != -1) {
        bool is_wrong = code == '?' || code == ':';
        struct xb_value *value = find_value(config, is_wrong ? optopt : code);
        unsigned char letter = (unsigned char)optopt;
        if (value == NULL && letter > ' ' && letter < 0x7F)
            return XB_FAIL(error, XB_ERR_USAGE, "unknown option -%c", letter);
        if (value == NULL)
            return XB_FAIL(error, XB_ERR_USAGE, "unknown option: '-' and the byte 0x%02X", letter);
        const struct xb_option *option = value->option;
        if (code == ':')
            return XB_FAIL(error, XB_ERR_USAGE, "option --%s needs an argument: --%s %s",
                           option->name, option->name, option->argument);
        if (code == '?')
            return XB_FAIL(error, XB_ERR_USAGE, "option --%s takes no argument", option->name);
        if (value->given && !option->repeats)
            return XB_FAIL(error, XB_ERR_USAGE, "option --%s is given twice; give it once",
                           option->name);
        value->given = true;
        /* What reads like an option, unlike "-" and -1: most likely its argument was forgotten. */
        bool is_lacking = option->type != XB_OPTION_FLAG && optarg[0] == '-' &&
                          (optarg[1] == '-' || isalpha((unsigned char)optarg[1]));
        if (is_lacking && option->type == XB_OPTION_FILE)
            return XB_FAIL(error, XB_ERR_USAGE,
                           "--%s needs a file; '%.80s' looks like an option. For a file of that "
                           "name write ./%.80s",
                           option->name, optarg, optarg);
        if (is_lacking)
            return XB_FAIL(error, XB_ERR_USAGE,
                           "--%s needs an argument (%s); '%.80s' looks like an option",
                           option->name, option->argument, optarg);
        XB_TRY(set_value(value, optarg, &config->memory, error));
    }
    config->operands = argv + optind;
    config->operand_count = (size_t)(argc - optind);
    return XB_OK;
}

enum xb_status xb_config_parse(const struct xb_option *const *rows, int argc, char **argv,
                               struct xb_config *config, struct xb_error *error)
{
    size_t count = 0;
    while (rows[count] != NULL)
        count++;
    struct xb_config parsed = {.count = count};
    parsed.values = xb_arena_new(&parsed.memory, count * sizeof *parsed.values);
    struct tables tables = build_tables(rows, count, &parsed.memory);
    for (size_t i = 0; i < count; i++)
        parsed.values[i].option = rows[i];
    enum xb_status status = parse_arguments(&parsed, &tables, argc, argv, error);
    for (size_t i = 0; status == XB_OK && i < parsed.count; i++) {
        struct xb_value *value = &parsed.values[i];
        if (!value->given && value->option->default_text != NULL)
            status = set_value(value, value->option->default_text, &parsed.memory, error);
    }
    if (status == XB_OK)
        *config = parsed;
    else
        xb_config_free(&parsed); /* some values may be set already */
    return status;
}

enum xb_status xb_config_default(struct xb_config *config, const struct xb_option *row,
                                 const char *text, struct xb_error *error)
{
    struct xb_value *value = &config->values[xb_config_get(config, row) - config->values];
    if (value->given)
        return XB_OK;
    *value = (struct xb_value){.option = row};
    return set_value(value, text, &config->memory, error);
}

const char *const *xb_option_words(const struct xb_option *option)
{
    return option->choices != NULL  ? option->choices
           : option->offers != NULL ? option->offers()
                                    : option->offered;
}

bool xb_option_is_list(const struct xb_option *option)
{
    return option->type == XB_OPTION_CHOICES || option->type == XB_OPTION_SIZES ||
           option->type == XB_OPTION_COUNTS;
}

const struct xb_option *xb_option_find(const struct xb_option *const *rows, const char *name)
{
    for (size_t i = 0; rows != NULL && rows[i] != NULL; i++)
        if (strcmp(rows[i]->name, name) == 0)
            return rows[i];
    return NULL;
}

bool xb_option_is_usual(const struct xb_option *option, const char *text)
{
    const char *usual = option->default_text != NULL ? option->default_text : "";
    const char *range = strstr(usual, "..");
    size_t length = strcspn(usual, ",");
    char first[80];
    uint64_t bytes;
    struct xb_error error;
    length = range != NULL ? xb_lesser(length, (uint64_t)(range - usual)) : length;
    snprintf(first, sizeof first, "%.*s", (int)length, usual);
    if (option->type == XB_OPTION_SIZES && xb_size_parse(first, &bytes, &error) == XB_OK)
        snprintf(first, sizeof first, "%" PRIu64, bytes);
    return first[0] != '\0' && strcmp(first, text) == 0;
}

bool xb_word_is_in(const struct xb_word_list *list, const char *word)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], word) == 0)
            return true;
    return false;
}

size_t xb_value_length(const struct xb_value *value)
{
    if (value->option->type == XB_OPTION_CHOICES)
        return value->words.count;
    return xb_option_is_list(value->option) ? value->numbers.count : 1;
}

uint64_t xb_value_number(const struct xb_value *value, size_t index)
{
    return xb_option_is_list(value->option) ? value->numbers.values[index] : value->count;
}

void xb_config_free(struct xb_config *config)
{
    xb_arena_free(config->memory);
    *config = (struct xb_config){0};
}

const struct xb_value *xb_config_get(const struct xb_config *config, const struct xb_option *row)
{
    for (size_t i = 0; i < config->count; i++)
        if (config->values[i].option == row)
            return &config->values[i];
    fprintf(stderr, "xferbench: bug: --%s is in no list of .options\n", row->name);
    abort();
}

void xb_config_fill(const struct xb_config *config, const struct xb_option_field *fields,
                    void *options)
{
#define OF(type) (1u << XB_OPTION_##type)
#define PART(member) offsetof(struct xb_value, member), sizeof(((struct xb_value *)NULL)->member)
    /* The types of options that a field of that kind can have, and what it takes of their value. */
    static const struct {
        unsigned types;
        size_t at, size;
    } kinds[] = {[XB_BIND_FLAG] = {OF(FLAG), PART(flag)},
                 [XB_BIND_TEXT] = {~OF(FLAG), PART(text)},
                 [XB_BIND_NUMBER] = {OF(COUNT) | OF(SIZE), PART(count)},
                 [XB_BIND_SECONDS] = {OF(DURATION), PART(seconds)},
                 [XB_BIND_PLACE] = {OF(CHOICES), PART(place)},
                 [XB_BIND_WORDS] = {OF(CHOICES), PART(words)},
                 [XB_BIND_SIZES] = {OF(SIZES), PART(numbers)},
                 [XB_BIND_GIVEN] = {~0u, PART(given)}};
#undef OF
#undef PART
    for (; fields->row != NULL; fields++) {
        const struct xb_option *row = fields->row;
        enum xb_option_field_kind kind = fields->kind;
        bool has_place = row->takes_one && row->choices != NULL && row->default_text != NULL;
        if ((kinds[kind].types >> row->type & 1u) == 0 || (kind == XB_BIND_PLACE && !has_place)) {
            fprintf(stderr, "xferbench: bug: --%s is bound to a field of another type\n",
                    row->name);
            abort();
        }
        memcpy((char *)options + fields->at,
               (const char *)xb_config_get(config, row) + kinds[kind].at, kinds[kind].size);
    }
}
