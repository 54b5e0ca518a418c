/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* locale_t, in base/text.h */
/* This program's own options as those of a result file. */
#include "making.h"

#include "base/text.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A JSON array of numbers: "[4096,1048576]". */
static const char *numbers_text(const struct xb_value *value, struct xb_arena **texts)
{
    const char *text = "[";
    for (size_t i = 0; i < xb_value_length(value); i++)
        text = xb_arena_print(texts, "%s%s%" PRIu64, text, i > 0 ? "," : "",
                              xb_value_number(value, i));
    return xb_arena_print(texts, "%s]", text);
}

/* A JSON array of texts. */
static const char *words_text(const struct xb_value *value, struct xb_arena **texts)
{
    cJSON *array =
        cJSON_CreateStringArray((const char *const *)value->words, (int)value->word_count);
    char *printed = array != NULL ? cJSON_PrintUnformatted(array) : NULL;
    if (printed == NULL)
        xb_memory_end(value->word_count);
    const char *text = xb_arena_copy(texts, printed);
    cJSON_free(printed);
    cJSON_Delete(array);
    return text;
}

/* The value as JSON; a text as it is, without quotes. */
static const char *value_text(const struct xb_value *value, struct xb_arena **texts)
{
    switch (value->option->type) {
    case XB_OPTION_FLAG:
        return value->flag ? "true" : "false";
    case XB_OPTION_COUNT:
    case XB_OPTION_SIZE:
        return xb_arena_print(texts, "%" PRIu64, value->count);
    case XB_OPTION_SIZES:
    case XB_OPTION_COUNTS:
        return numbers_text(value, texts);
    case XB_OPTION_DURATION:
        return xb_arena_copy(texts, XB_NUMBER_TEXT(value->seconds));
    case XB_OPTION_CHOICES:
        return words_text(value, texts);
    case XB_OPTION_TEXT:
    case XB_OPTION_FILE:
        break;
    }
    return xb_arena_copy(texts, value->text);
}

void xb_record_of_config(const struct xb_config *config, struct xb_record *record)
{
    *record = (struct xb_record){.option_count = config->count};
    record->options = xb_arena_new(&record->texts, config->count * sizeof *record->options);
    for (size_t i = 0; i < config->count; i++) {
        const struct xb_value *value = &config->values[i];
        enum xb_option_type type = value->option->type;
        bool known = value->is_set || type == XB_OPTION_FLAG;
        record->options[i] =
            (struct xb_record_fact){.name = value->option->name,
                                    .value = known ? value_text(value, &record->texts) : NULL,
                                    .is_text = type == XB_OPTION_TEXT || type == XB_OPTION_FILE};
    }
}

enum xb_status xb_record_of_defaults(const struct xb_option *const *rows, struct xb_record *record,
                                     struct xb_error *error)
{
    char name[] = "run";
    char *argv[] = {name, NULL};
    struct xb_config config;
    XB_TRY(xb_config_parse(rows, 1, argv, &config, error));
    xb_record_of_config(&config, record);
    xb_config_free(&config);
    return XB_OK;
}
