/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* No real name is this long. A longer candidate is found only by its beginning. */
#define CANDIDATE_MAX 64

/* Compare in lower case: people who write H2D mean h2d. */
static int lower_at(const char *text, size_t i)
{
    return tolower((unsigned char)text[i]);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/*
 * How many letters of `a` must be inserted, deleted, replaced or swapped with a neighbour to make
 * `b` (optimal string alignment; Damerau, "A technique for computer detection and correction of
 * spelling errors", CACM 7(3), 1964). `b` has CANDIDATE_MAX letters at most.
 */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][CANDIDATE_MAX + 1];
    size_t *above2 = rows[0]; /* first read in the second turn, when it holds a computed row */
    size_t *above = rows[1];
    size_t *row = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *reused = above2;
        above2 = above;
        above = row;
        row = reused;
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            int x = lower_at(a, i - 1);
            int y = lower_at(b, j - 1);
            row[j] = least(above[j - 1] + (x != y), least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && x == lower_at(b, j - 2) && lower_at(a, i - 2) == y)
                row[j] = least(row[j], above2[j - 2] + 1);
        }
    }
    return row[b_length];
}

/* The only candidate that begins with `word`, or NULL if none does or several do. */
static const char *completion(const char *word, size_t length, const char *const *candidates)
{
    const char *found = NULL;
    for (size_t i = 0; candidates[i] != NULL; i++) {
        if (strncmp(word, candidates[i], length) != 0)
            continue;
        if (found != NULL)
            return NULL;
        found = candidates[i];
    }
    return found;
}

const char *xb_nearest(const char *word, const char *const *candidates)
{
    size_t length = strlen(word);
    if (length == 0)
        return NULL;
    const char *nearest = completion(word, length, candidates);
    if (nearest != NULL)
        return nearest;
    size_t nearest_distance = SIZE_MAX;
    for (size_t i = 0; candidates[i] != NULL; i++) {
        size_t candidate_length = strlen(candidates[i]);
        if (candidate_length > CANDIDATE_MAX)
            continue;
        size_t d = distance(word, length, candidates[i], candidate_length);
        /* Accept one slip for every three letters, rounded: 1 in h2d, 2 in async. With more slips,
         * words would match that have little in common. */
        size_t longer = length > candidate_length ? length : candidate_length;
        if (d <= (longer + 1) / 3 && d < nearest_distance) {
            nearest = candidates[i];
            nearest_distance = d;
        }
    }
    return nearest;
}

/* Our options, and what people type for them who know other programs. */
static const char *const known[][2] = {
    {"device", " gpu gpus "},
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
    {"expect-hosts", " nodes hosts "},
};

const char *xb_nearest_option(const char *word, const char *const *candidates, const char **other)
{
    const char *found[2] = {NULL, NULL};
    char between_blanks[CANDIDATE_MAX];
    size_t count = 0;
    snprintf(between_blanks, sizeof between_blanks, " %s ", word);
    for (size_t k = 0; k < sizeof known / sizeof known[0] && count < 2; k++)
        for (size_t i = 0; strstr(known[k][1], between_blanks) != NULL && candidates[i] != NULL;
             i++)
            if (strcmp(known[k][0], candidates[i]) == 0)
                found[count++] = candidates[i];
    *other = found[1];
    return found[0] != NULL ? found[0] : xb_nearest(word, candidates);
}
