/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_ALIKE_H
#define XFERBENCH_RUN_ALIKE_H

#include "base/note.h"

#include <stdbool.h>
#include <stddef.h>

/* Texts that differ in their numbers only, as "known only to within 4 %" and "... 13 %" do: one
 * text says them all, "known only to within 4 to 13 %". */

#define XB_ALIKE_NUMBERS 8 /* those behind them must be equal */

struct xb_alike {
    const char *text; /* the first of them */
    struct {
        const char *least, *most; /* where the texts have them */
    } numbers[XB_ALIKE_NUMBERS];  /* as many as it has */
};

/* Begins with one text. It and all that are added must outlast the struct. */
struct xb_alike xb_alike_begin(const char *text);

/* Adds a text. False if it differs in more than numbers: nothing changes then. */
bool xb_alike_add(struct xb_alike *alike, const char *text);

/* Adds the text that says them all, from that place of the first one on. */
void xb_alike_say(const struct xb_alike *alike, size_t from, struct xb_words *words);

#endif
