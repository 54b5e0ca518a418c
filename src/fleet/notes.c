/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define NAMED 3u /* names of a list that are written out */

enum xb_status xb_fleet_add_note(struct xb_judging *judging, struct xb_error *error,
                                 const char *format, ...)
{
    struct xb_fleet_judgement *judgement = judging->judgement;
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char **grown =
        realloc(judgement->notes, (judgement->note_count + 1) * sizeof(const char *));
    if (grown == NULL)
        return xb_fleet_no_memory(error);
    judgement->notes = grown;
    const char *kept = xb_arena_print(&judgement->texts, "%s", text);
    if (kept == NULL)
        return xb_fleet_no_memory(error);
    judgement->notes[judgement->note_count++] = kept;
    return XB_OK;
}

const char *xb_fleet_names_text(const char *const *names, size_t count, char *text)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count && i < NAMED; i++)
        length += (size_t)snprintf(text + length, XB_FLEET_NAMES_SIZE - length, "%s%.64s",
                                   i == 0 ? "" : ", ", names[i]);
    if (count > NAMED)
        snprintf(text + length, XB_FLEET_NAMES_SIZE - length, " and %zu more", count - NAMED);
    return text;
}
