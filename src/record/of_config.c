/* SPDX-License-Identifier: Apache-2.0 */
/* This program's own options as those of a result file. */
#include "making.h"

#include "base/text.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A JSON array of numbers: "[4096,1048576]". NULL: no memory. */
static const char *numbers_text(const struct xb_value *value, struct xb_arena **texts)
{
    const char *text = xb_arena_print(texts, "[");
    for (size_t i = 0; text != NULL && i < xb_value_length(value); i++)
        text = xb_arena_print(texts, "%s%s%" PRIu64, text, i > 0 ? "," : "",
                              xb_value_number(value, i));
    return text != NULL ? xb_arena_print(texts, "%s]", text) : NULL;
}

/* A JSON array of texts. NULL: no memory. */
static const char *words_text(const struct xb_value *value, struct xb_arena **texts)
{
    cJSON *array =
        cJSON_CreateStringArray((const char *const *)value->words, (int)value->word_count);
    char *printed = array != NULL ? cJSON_PrintUnformatted(array) : NULL;
    const char *text = printed != NULL ? xb_arena_print(texts, "%s", printed) : NULL;
    cJSON_free(printed);
    cJSON_Delete(array);
    return text;
}

/* The value as JSON; a text as it is, without quotes. NULL: no memory. */
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
        return xb_arena_print(texts, "%s", XB_NUMBER_TEXT(value->seconds));
    case XB_OPTION_CHOICES:
        return words_text(value, texts);
    case XB_OPTION_TEXT:
    case XB_OPTION_FILE:
        break;
    }
    return xb_arena_print(texts, "%s", value->text);
}

enum xb_status xb_record_of_config(const struct xb_config *config, struct xb_record *record,
                                   struct xb_error *error)
{
    *record = (struct xb_record){.path = NULL};
    record->options =
        xb_arena_allocate(&record->texts, (config->count + 1) * sizeof *record->options);
    for (size_t i = 0; record->options != NULL && i < config->count; i++) {
        const struct xb_value *value = &config->values[i];
        struct xb_record_fact *option = &record->options[record->option_count];
        bool known = value->is_set || value->option->type == XB_OPTION_FLAG;
        *option = (struct xb_record_fact){
            .name = value->option->name,
            .value = known ? value_text(value, &record->texts) : NULL,
            .is_text =
                value->option->type == XB_OPTION_TEXT || value->option->type == XB_OPTION_FILE,
        };
        if (known && option->value == NULL)
            break;
        record->option_count++;
    }
    if (record->options != NULL && record->option_count == config->count)
        return XB_OK;
    xb_record_free(record);
    return XB_FAIL(error, XB_ERR_MEMORY, "no memory for %zu options", config->count);
}

enum xb_status xb_record_of_defaults(const struct xb_option *const *rows, struct xb_record *record,
                                     struct xb_error *error)
{
    char name[] = "run";
    char *argv[] = {name, NULL};
    struct xb_config config;
    XB_TRY(xb_config_parse(rows, 1, argv, &config, error));
    enum xb_status status = xb_record_of_config(&config, record, error);
    xb_config_free(&config);
    return status;
}
