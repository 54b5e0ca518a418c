/* SPDX-License-Identifier: Apache-2.0 */
/* What advise predicted of each strategy. */
#include "sections.h"

#include "base/json_read.h"
#include "xferbench/units.h"

#include <math.h>

static const cJSON *strategies_of(const struct xb_report_document *document)
{
    return cJSON_GetObjectItemCaseSensitive(document->tree, "strategies");
}

static bool speaks(const struct xb_report_document *document)
{
    return document->kind == XB_DOCUMENT_ADVISE && cJSON_GetArraySize(strategies_of(document)) > 0;
}

static void put_seconds(struct xb_page *page, const cJSON *strategy, const char *key)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(strategy, key);
    char text[32];
    bool has = cJSON_IsNumber(value) && value->valuedouble > 0;
    xb_page_cell(page, "%s", has ? xb_duration_format(value->valuedouble, text, sizeof text) : "-");
}

/* Of what is not known, what is missing. */
static const char *remark_on(const cJSON *strategy)
{
    const char *missing =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(strategy, "missing"));
    const char *limit = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(strategy, "limit"));
    return missing != NULL ? missing : limit != NULL ? limit : "";
}

static enum xb_status write(struct xb_page *page, const struct xb_report_document *document,
                            struct xb_error *error)
{
    static const struct {
        const char *key, *name;
    } times[] = {{"seconds", "Time"},      {"seconds_low", "At least"}, {"seconds_high", "At most"},
                 {"copy_in_s", "Copy in"}, {"kernel_s", "Kernel"},      {"copy_out_s", "Copy out"}};
    const cJSON *strategy;
    (void)error;
    xb_page_table_begin(page, "Predicted times of the job");
    xb_page_column(page, "Strategy", false);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        xb_page_column(page, times[i].name, true);
    xb_page_column(page, "Limited by, or what is missing", false);
    cJSON_ArrayForEach(strategy, strategies_of(document))
    {
        xb_page_cell(page, "%.100s", xb_report_text(strategy, "strategy"));
        for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
            put_seconds(page, strategy, times[i].key);
        xb_page_cell(page, "%s", remark_on(strategy));
    }
    xb_page_table_end(page);
    return XB_OK;
}

const struct xb_section xb_section_strategies = {
    .name = "strategies",
    .title = "Strategies",
    .speaks = speaks,
    .write = write,
};
