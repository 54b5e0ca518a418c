/* SPDX-License-Identifier: Apache-2.0 */
/* Takes one document of any kind into a fleet, or says why it cannot. */
#include "record/document.h"
#include "taking.h"

#include <stdio.h>
#include <string.h>

#define ITSELF "document" /* stands for the path in the messages of readers */

/* Copies what a reader found wrong, without the path in front. */
static void tell_refusal(const struct xb_error *refusal, char *why)
{
    static const char path[] = ITSELF ": ";
    const char *message = refusal->message;
    if (strncmp(message, path, sizeof path - 1) == 0)
        message += sizeof path - 1;
    snprintf(why, XB_TAKING_WHY, "%s", message);
}

/* Says why this is no document of a node. */
static void tell_kind(const cJSON *tree, enum xb_document_kind kind, char *why)
{
    const cJSON *schema = cJSON_GetObjectItemCaseSensitive(tree, "schema");
    if (kind != XB_DOCUMENT_FOREIGN)
        snprintf(why, XB_TAKING_WHY, "%s: fleet reads only link tests and results",
                 xb_document_kind_name(kind));
    else if (cJSON_IsString(schema))
        snprintf(why, XB_TAKING_WHY, "not written by xferbench: its schema is \"%.100s\"",
                 schema->valuestring);
    else
        snprintf(why, XB_TAKING_WHY, "not written by xferbench: it names no schema");
}

static void take_tree(struct xb_fleet_taking *taking, struct xb_json_reader *reader, cJSON *tree,
                      const char *path, size_t number, char *why)
{
    enum xb_document_kind kind = xb_document_kind_of(tree);
    bool is_link = kind == XB_DOCUMENT_LINK;
    if (!is_link && kind != XB_DOCUMENT_RESULT && kind != XB_DOCUMENT_PROCESSES) {
        tell_kind(tree, kind, why);
        cJSON_Delete(tree);
        return;
    }
    taking->kind = is_link ? "link" : "run";
    taking->origin = xb_fleet_origin_read(reader, tree);
    bool has_node = taking->origin.node != NULL;
    bool is_taken = has_node && !xb_json_failed(reader);
    if (!has_node)
        snprintf(why, XB_TAKING_WHY, "it has no host name");
    if (is_taken && is_link)
        xb_taking_link(taking, reader, tree, path, number);
    if (is_taken && !is_link)
        xb_taking_record(taking, reader, tree, path, number);
    cJSON_Delete(tree);
}

enum xb_status xb_taking_document(struct xb_fleet *fleet, const struct xb_fleet_terms *terms,
                                  const char *path, size_t number, const char *text, size_t length,
                                  char *why, bool *is_foreign, struct xb_error *error)
{
    struct xb_json_reader reader = {.place = {.path = ITSELF}};
    struct xb_fleet_taking taking = {.fleet = fleet, .terms = terms};
    why[0] = '\0';
    cJSON *tree = xb_json_read(&reader, text, length);
    if (tree != NULL)
        take_tree(&taking, &reader, tree, path, number, why);
    *is_foreign = tree != NULL && taking.kind == NULL;
    if (reader.error.status == XB_ERR_MEMORY)
        *error = reader.error;
    else if (taking.status != XB_OK)
        *error = taking.error;
    else if (xb_json_failed(&reader))
        tell_refusal(&reader.error, why);
    return reader.error.status == XB_ERR_MEMORY ? XB_ERR_MEMORY : taking.status;
}
