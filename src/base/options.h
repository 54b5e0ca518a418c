/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "units.h"

#include <stdbool.h>

/* Options. One row declares an option once: the command line, help, hints, docs/options.md, the man
 * page, completion and the JSON's configuration come from it. Letters and long names mean the same
 * in every command. src/modes/shared_options.c has those of several modes. */

enum xb_option_type {
    XB_OPTION_FLAG,   /* no argument */
    XB_OPTION_TEXT,   /* anything that is not empty */
    XB_OPTION_FILE,   /* the same, and it names a file, a folder or a program */
    XB_OPTION_COUNT,  /* a whole number between minimum and maximum */
    XB_OPTION_SIZE,   /* xb_size_parse, between minimum and maximum */
    XB_OPTION_SIZES,  /* xb_numbers_parse; between minimum and maximum, where there is a maximum */
    XB_OPTION_COUNTS, /* xb_numbers_parse, between minimum and maximum */
    XB_OPTION_DURATION, /* xb_duration_parse */
    XB_OPTION_CHOICES   /* a comma list of words; which are allowed is in `choices` */
};

struct xb_option {
    const char *name;       /* without the dashes */
    const char *other_name; /* taken for it as well; NULL for none */
    char short_name;        /* 0 for none */
    enum xb_option_type type;
    const char *argument;     /* "SIZE", as help shows it; NULL for a flag */
    const char *default_text; /* read as if the user had given it; NULL for none */
    const char *help;         /* one sentence or a few; help wraps it */
    const char *brief;        /* the same in a few words, for those that --help names; else NULL */
    const char *const *choices; /* for CHOICES: ends with NULL; NULL allows any word */
    /* Words that completion offers where `choices` is NULL; end with NULL. NULL: those of `offers`,
     * which are known only when the program is linked, or none. */
    const char *const *offered;
    const char *const *(*offers)(void);
    bool takes_one;            /* for CHOICES: a single word */
    bool repeats;              /* for CHOICES: given once for each word, which may have commas */
    uint64_t minimum, maximum; /* for COUNT, COUNTS, SIZE and SIZES */
    bool selects; /* it decides which cases there are or where results go, not how they are
                     measured: files that differ in it can be compared. A flag does */
};

/* What a row of these types begins with: its name, its argument as help shows it, its bounds. */
#define XB_FLAG(named) .name = (named), .type = XB_OPTION_FLAG, .selects = true
#define XB_TEXT(named, shown) .name = (named), .type = XB_OPTION_TEXT, .argument = (shown)
#define XB_FILE(named, shown) .name = (named), .type = XB_OPTION_FILE, .argument = (shown)
#define XB_CHOICE(named, shown) .name = (named), .type = XB_OPTION_CHOICES, .argument = (shown)
#define XB_DURATION(named) .name = (named), .type = XB_OPTION_DURATION, .argument = "TIME"
#define XB_COUNT(named, shown, least, most)                                                        \
    .name = (named), .type = XB_OPTION_COUNT, .argument = (shown), .minimum = (least),             \
    .maximum = (most)
#define XB_SIZE(named, least, most)                                                                \
    .name = (named), .type = XB_OPTION_SIZE, .argument = "SIZE", .minimum = (least),               \
    .maximum = (most)

/* The words of CHOICES. */
struct xb_word_list {
    char **items;
    size_t count;
};

/* The value of an option. Which member holds it follows from the option's type. */
struct xb_value {
    const struct xb_option *option;
    bool given;       /* on the command line */
    bool is_set;      /* given, or has a default */
    const char *text; /* what was read, as it stood; owned by the configuration */
    bool flag;
    uint64_t count; /* COUNT and SIZE */
    double seconds;
    struct xb_numbers numbers; /* SIZES and COUNTS */
    struct xb_word_list words; /* CHOICES, and */
    unsigned place;            /* of those of `choices` the last one's place there */
};

/* The effective options of a command: one value a row, in the rows' order. */
struct xb_config {
    struct xb_value *values;
    size_t count;
    struct xb_arena *memory; /* where values, texts and words lie */
    char **operands;         /* what stood on the command line besides options; owned by argv */
    size_t operand_count;
};

/* Reads argv (argv[0] is skipped) by `rows` (ends with NULL) and fills *config with given values
 * and defaults. Permutes argv, which must outlive it. XB_ERR_USAGE names the option and, for an
 * unknown name, the nearest one; then nothing is left to free. */
enum xb_status xb_config_parse(const struct xb_option *const *rows, int argc, char **argv,
                               struct xb_config *config, struct xb_error *error);
void xb_config_free(struct xb_config *config);

/* Gives an option that is not given another default. XB_ERR_USAGE: it does not take the text. */
enum xb_status xb_config_default(struct xb_config *config, const struct xb_option *row,
                                 const char *text, struct xb_error *error);
/* The value of one of the configuration's rows: aborts otherwise. For a row that is a parameter or
 * stands alone; other options go into fields. */
const struct xb_value *xb_config_get(const struct xb_config *config, const struct xb_option *row);

/* What a field holds of an option, by its type (XB_BIND). Texts and lists are borrowed. */
enum xb_option_field_kind {
    XB_BIND_FLAG,    /* bool */
    XB_BIND_TEXT,    /* const char *, of any option but a flag; NULL where it is not set */
    XB_BIND_NUMBER,  /* uint64_t, of COUNT and SIZE; 0 where it is not set */
    XB_BIND_SECONDS, /* double, of DURATION; 0 where it is not set, which no duration is */
    XB_BIND_PLACE,   /* unsigned, or an enum: which of the CHOICES, of which it has one */
    XB_BIND_WORDS,   /* struct xb_word_list, of CHOICES */
    XB_BIND_SIZES,   /* struct xb_numbers */
    XB_BIND_GIVEN    /* bool: whether it stood on the command line; XB_BIND_WHETHER */
};

/* One field of a command's options, and the option that it is filled from. */
struct xb_option_field {
    const struct xb_option *row;
    enum xb_option_field_kind kind;
    size_t at;
};
#define XB_HELD_BY(type, kind)                                                                     \
    type:                                                                                          \
    XB_BIND_##kind
#define XB_BIND_AS(type, member, option, ...)                                                      \
    {                                                                                              \
        (option), _Generic(((type *)NULL)->member, __VA_ARGS__), offsetof(type, member)            \
    }
#define XB_BIND(type, member, option)                                                              \
    XB_BIND_AS(type, member, option, XB_HELD_BY(bool, FLAG), XB_HELD_BY(const char *, TEXT),       \
               XB_HELD_BY(uint64_t, NUMBER), XB_HELD_BY(double, SECONDS),                          \
               XB_HELD_BY(unsigned, PLACE), XB_HELD_BY(struct xb_word_list, WORDS),                \
               XB_HELD_BY(struct xb_numbers, SIZES))
#define XB_BIND_WHETHER(type, member, option)                                                      \
    XB_BIND_AS(type, member, option, XB_HELD_BY(bool, GIVEN))

#define XB_FIELDS(...) ((const struct xb_option_field[]){__VA_ARGS__, {.row = NULL}})

/* Fills the fields of a struct, each from its option; `fields` end with a row of NULL. Aborts where
 * there is no such row, or a field cannot hold what its row's type says: bugs. */
void xb_config_fill(const struct xb_config *config, const struct xb_option_field *fields,
                    void *options);

/* The row of that name; NULL for none, and where `rows`, which end with NULL, are NULL. */
const struct xb_option *xb_option_find(const struct xb_option *const *rows, const char *name);
/* Returns the words that it takes or offers; NULL where it has none. */
const char *const *xb_option_words(const struct xb_option *option);
/* Whether options of that type take a list: CHOICES, SIZES, COUNTS. */
bool xb_option_is_list(const struct xb_option *option);
/* Whether the text is the list's first default; false for none. A number is in decimal digits. */
bool xb_option_is_usual(const struct xb_option *option, const char *text);

bool xb_word_is_in(const struct xb_word_list *list, const char *word);
/* How many values there are: of a list its length, else 1. */
size_t xb_value_length(const struct xb_value *value);
/* The number at that place of SIZES or COUNTS; of SIZE and COUNT the only one. */
uint64_t xb_value_number(const struct xb_value *value, size_t index);

/* Returns the nearest of `candidates` (ends with NULL) to `word` by edit distance; NULL if none is
 * near enough to be what was meant. */
const char *xb_nearest(const char *word, const char *const *candidates);
