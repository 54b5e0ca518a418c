/* SPDX-License-Identifier: Apache-2.0 */
/* Which cases count for the overall verdict. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

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

/* "1G", or "64M..1G" with both ends. */
static enum xb_status read_sizes(char *text, struct xb_gate *gate, struct xb_error *error)
{
    gate->least = 0;
    gate->most = UINT64_MAX;
    if (word_or_any(text) == NULL)
        return XB_OK;
    char *dots = strstr(text, "..");
    if (dots != NULL)
        *dots = '\0';
    enum xb_status status = xb_size_parse(text, &gate->least, error);
    gate->most = gate->least;
    if (status != XB_OK || dots == NULL)
        return status;
    status = xb_size_parse(dots + 2, &gate->most, error);
    if (status == XB_OK && gate->least > gate->most)
        return XB_FAIL(error, XB_ERR_USAGE, "the sizes %.40s..%.40s are the wrong way round", text,
                       dots + 2);
    return status;
}

enum xb_status xb_gate_read(char *text, struct xb_gate *gate, struct xb_error *error)
{
    char *direction = cut(text, '/');
    char *sizes = cut(direction, '/');
    char *figure = cut(sizes, '/');
    if (text[0] == '\0' || (direction != NULL && direction[0] == '\0') ||
        (sizes != NULL && sizes[0] == '\0') ||
        (figure != NULL && (figure[0] == '\0' || strchr(figure, '/') != NULL)))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "cases are MODE, MODE/DIRECTION, MODE/DIRECTION/SIZE or "
                       "MODE/DIRECTION/SIZE/FIGURE, where '*' is any");
    gate->mode = word_or_any(text);
    gate->direction = word_or_any(direction);
    gate->figure = word_or_any(figure);
    return read_sizes(sizes, gate, error);
}

/* Reads the list that gates->words holds, and cuts it up; gates->items has room for all. */
static enum xb_status read_gates(struct xb_gates *gates, struct xb_error *error)
{
    for (char *next = gates->words; next != NULL;) {
        char *word = next;
        next = cut(word, ',');
        enum xb_status status = xb_gate_read(word, &gates->items[gates->count], error);
        if (status != XB_OK)
            return status;
        gates->count++;
    }
    return XB_OK;
}

enum xb_status xb_gates_parse(const char *text, struct xb_gates *gates, struct xb_error *error)
{
    size_t most = 1;
    for (const char *c = text; *c != '\0'; c++)
        most += *c == ',';
    *gates = (struct xb_gates){.words = strdup(text), .items = calloc(most, sizeof *gates->items)};
    if (gates->words == NULL || gates->items == NULL) {
        xb_gates_free(gates);
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for %zu gates", most);
    }
    struct xb_error cause;
    enum xb_status status = read_gates(gates, &cause);
    if (status == XB_OK)
        return XB_OK;
    xb_gates_free(gates);
    return XB_FAIL(error, status, "\"%.80s\": %.400s", text, cause.message);
}

void xb_gates_free(struct xb_gates *gates)
{
    free(gates->items);
    free(gates->words);
    *gates = (struct xb_gates){0};
}
