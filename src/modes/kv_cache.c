/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "kv_cache.h"

#include "base/terminal.h"
#include "base/units.h"

#include <stdio.h>
#include <string.h>

/* From the config.json of each: num_hidden_layers, num_key_value_heads, head_dim. */
static const struct xb_kv_cache models[] = {
    {.model = "llama-3.1-8b", .layers = 32, .heads = 8, .size = 128},
    {.model = "llama-3.1-70b", .layers = 80, .heads = 8, .size = 128},
    {.model = "llama-3.1-405b", .layers = 126, .heads = 8, .size = 128},
    {.model = "qwen2.5-72b", .layers = 80, .heads = 8, .size = 128},
    {.model = "qwen3-32b", .layers = 64, .heads = 8, .size = 128},
    {.model = "gpt-oss-120b", .layers = 36, .heads = 8, .size = 64},
};
#define MODELS (sizeof models / sizeof models[0])

static const struct type {
    const char *name;
    uint64_t bytes;
} types[] = {{"bf16", 2}, {"fp16", 2}, {"fp8", 1}, {"int8", 1}, {"fp32", 4}, {NULL, 0}};

#define OF_MODEL 3 /* so many of the numbers are the model's */
#define ONE_OF_BOTH "name one model, or give layers, heads and size"

static enum xb_status read_item(struct xb_kv_cache *cache, char *item, struct xb_error *error)
{
    const struct {
        const char *name;
        uint64_t *to;
    } numbers[] = {{"layers", &cache->layers},
                   {"heads", &cache->heads},
                   {"size", &cache->size},
                   {"tp", &cache->ranks},
                   {"block", &cache->tokens}};
    char *value = strchr(item, '=');
    struct xb_words names = {.length = 0};
    if (value != NULL)
        *value++ = '\0';
    for (size_t i = 0; i < MODELS; i++) {
        if (value == NULL && strcmp(item, models[i].model) == 0) {
            if (cache->layers + cache->heads + cache->size > 0)
                return XB_FAIL(error, XB_ERR_USAGE, ONE_OF_BOTH);
            memcpy(cache->model, models[i].model, sizeof cache->model);
            cache->layers = models[i].layers;
            cache->heads = models[i].heads;
            cache->size = models[i].size;
            return XB_OK;
        }
        xb_words_add(&names, "%s%s", i > 0 ? ", " : "", models[i].model);
    }
    for (size_t i = 0; value != NULL && i < sizeof numbers / sizeof numbers[0]; i++)
        if (strcmp(item, numbers[i].name) == 0)
            return i < OF_MODEL && cache->model[0] != '\0'
                       ? XB_FAIL(error, XB_ERR_USAGE, ONE_OF_BOTH)
                       : xb_count_parse(value, 1, 65536, numbers[i].to, error);
    for (const struct type *type = types; value != NULL && type->name != NULL; type++)
        if (strcmp(item, "dtype") == 0 && strcmp(value, type->name) == 0) {
            cache->bytes = type->bytes;
            return XB_OK;
        }
    return XB_FAIL(error, XB_ERR_USAGE,
                   "'%.60s%s%.20s' is none of %s; layers=N, heads=N, size=N; tp=N, block=N; dtype= "
                   "bf16, fp16, fp8, int8 or fp32",
                   item, value != NULL ? "=" : "", value != NULL ? value : "", names.text);
}

enum xb_status xb_kv_cache_read(const char *text, struct xb_kv_cache *cache, struct xb_error *error)
{
    struct xb_kv_cache read = {.ranks = 1, .tokens = 16, .bytes = 2};
    char copy[256], *rest = copy;
    if ((size_t)snprintf(copy, sizeof copy, "%s", text) >= sizeof copy)
        return XB_FAIL(error, XB_ERR_USAGE, "it has more than %zu characters", sizeof copy - 1);
    while (rest != NULL)
        XB_TRY(read_item(&read, strsep(&rest, ","), error));
    if (read.layers == 0 || read.heads == 0 || read.size == 0)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "name a model, or give layers=N, heads=N (of keys and values) and size=N");
    /* Where there are more ranks than heads, several have the same head. */
    if (read.heads % read.ranks != 0 && read.ranks % read.heads != 0)
        return XB_FAIL(error, XB_ERR_USAGE, "%llu heads cannot be divided among tp=%llu",
                       (unsigned long long)read.heads, (unsigned long long)read.ranks);
    uint64_t heads = read.heads > read.ranks ? read.heads / read.ranks : 1;
    read.piece = read.tokens * heads * read.size * read.bytes;
    read.pieces = 2 * read.layers;
    *cache = read;
    return XB_OK;
}
