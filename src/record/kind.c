/* SPDX-License-Identifier: Apache-2.0 */
#include "kind.h"

#include "base/json_read.h"

#include <string.h>

static const struct {
    const char *schema, *name;
} kinds[] = {
    [XB_DOCUMENT_RESULT] = {"xferbench.result", "result"},
    [XB_DOCUMENT_PROCESSES] = {"xferbench.processes", "result of several processes"},
    [XB_DOCUMENT_LINK] = {"xferbench.link", "link test"},
    [XB_DOCUMENT_COMPARE] = {"xferbench.compare", "comparison"},
    [XB_DOCUMENT_LIST] = {"xferbench.list", "list of devices"},
    [XB_DOCUMENT_ADVISE] = {"xferbench.advise", "advice"},
    [XB_DOCUMENT_FLEET] = {"xferbench.fleet", "judgement of many nodes"},
    [XB_DOCUMENT_TRACE] = {NULL, "timeline"}, /* its form is that of the browsers' traces */
    [XB_DOCUMENT_FOREIGN] = {NULL, "unknown"},
};

/* A trace says in otherData which program wrote it. */
static int is_trace(const cJSON *root)
{
    static const char program[] = "xferbench ";
    const cJSON *other = cJSON_GetObjectItemCaseSensitive(root, "otherData");
    const char *tool = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(other, "tool"));
    return tool != NULL && strncmp(tool, program, sizeof program - 1) == 0 &&
           cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(root, "traceEvents"));
}

enum xb_document_kind xb_document_kind_of(const cJSON *root)
{
    const char *schema = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "schema"));
    for (int i = 0; schema != NULL && i < XB_DOCUMENT_FOREIGN; i++)
        if (kinds[i].schema != NULL && strcmp(schema, kinds[i].schema) == 0)
            return (enum xb_document_kind)i;
    return is_trace(root) ? XB_DOCUMENT_TRACE : XB_DOCUMENT_FOREIGN;
}

const char *xb_document_kind_name(enum xb_document_kind kind)
{
    return kinds[kind].name;
}
