/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "testing.h"

#include <cjson/cJSON.h>
#include <errno.h>

/* cJSON without memory for one piece: the so-manyth that it asks for from then on, counted from 1;
 * 0 for none. A document that somebody gives may be too large. */
static size_t lacking_piece;
static size_t asked_pieces;

static void *give_json_piece(size_t size)
{
    if (++asked_pieces != lacking_piece)
        return malloc(size);
    errno = ENOMEM;
    return NULL;
}

static inline void lack_json_piece(size_t number)
{
    cJSON_Hooks hooks = {give_json_piece, free};
    lacking_piece = number;
    asked_pieces = 0;
    cJSON_InitHooks(number > 0 ? &hooks : NULL);
}
