/* SPDX-License-Identifier: Apache-2.0 */
#include "formats.h"

#include "base/arena.h"
#include "base/stream.h"
#include "base/text.h"
#include "hostlist.h"

#include <stdlib.h>
#include <string.h>

#define TOLD 10 /* names that cannot be listed: so many are told */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

size_t xb_fleet_sort_names(const char **names, size_t count)
{
    size_t kept = 0;
    qsort(names, count, sizeof(const char *), by_name);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || strcmp(names[kept - 1], names[i]) != 0)
            names[kept++] = names[i];
    return kept;
}

/* How the user calls the node: hosts that call themselves gpu1.cluster are gpu1 to a scheduler that
 * knows them so, and it refuses a list with one name that it does not know. */
static const char *called(const struct xb_fleet *fleet, const char *name)
{
    for (size_t i = 0; i < fleet->node_count; i++)
        if (strcmp(fleet->nodes[i].name, name) == 0 && fleet->nodes[i].expected != NULL)
            return fleet->nodes[i].expected;
    return name;
}

/* The list may be all that a script looks at. */
static void tell_undrained(const struct xb_fleet_judgement *judgement)
{
    size_t count = 0, unsure = 0, doubtful = 0;
    for (size_t i = 0; i < judgement->finding_count; i++) {
        const struct xb_fleet_finding *finding = &judgement->findings[i];
        unsure += finding->unsure;
        doubtful += finding->code == XB_FLEET_CUT || finding->code == XB_FLEET_LINK_WARNING;
        count += finding->together && !finding->unsure && xb_fleet_code_is_bad(finding->code);
    }
    if (unsure > 0 && unsure == judgement->request.expected_count)
        xb_say(
            "expected nodes are not listed: %zu, but none of them is there. Are the names and the "
            "folder right?",
            unsure);
    else if (unsure > 0)
        xb_say("missing nodes are not listed: %zu, but %zu files could not be read, and may be "
               "theirs; "
               "see --format table",
               unsure, judgement->fleet->unread_count);
    if (doubtful > 0)
        xb_say("findings of cut-short and link-warning list no node: %zu; measure those nodes "
               "again, see --format table",
               doubtful);
    if (count > 0)
        xb_say("%zu findings drain no node: so many have the same that one cause is likelier than "
               "so many faults; see --format table",
               count);
}

enum xb_status xb_fleet_drain_list(const struct xb_fleet_judgement *judgement,
                                   struct xb_drain_list *list, struct xb_error *error)
{
    *list = (struct xb_drain_list){
        .names = calloc(judgement->finding_count + 1, sizeof(const char *)), .text = ""};
    if (list->names == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for the names of nodes");
    size_t found = 0;
    for (size_t i = 0; i < judgement->finding_count; i++)
        if (xb_fleet_is_to_drain(&judgement->findings[i]))
            list->names[found++] = judgement->findings[i].node;
    list->count = xb_fleet_sort_names(list->names, found);
    for (size_t i = 0; i < list->count; i++)
        list->names[i] = called(judgement->fleet, list->names[i]);
    return xb_hostlist_compress(list->names, list->count, &list->arena, &list->text,
                                &list->left_out, error);
}

void xb_fleet_drain_list_free(struct xb_drain_list *list)
{
    xb_arena_free(list->arena);
    free(list->names);
}

enum xb_status xb_fleet_nodelist_write(FILE *stream, const struct xb_fleet_judgement *judgement,
                                       struct xb_error *error)
{
    struct xb_drain_list list;
    enum xb_status status = xb_fleet_drain_list(judgement, &list, error);
    if (status == XB_OK) {
        /* A node that is left out would stay in service without anybody knowing. */
        size_t told = 0;
        for (size_t i = 0; i < list.count && told < TOLD; i++) {
            if (xb_hostlist_is_name(list.names[i]))
                continue;
            xb_say("not in the node list, because it is no valid host name: '%.80s'",
                   list.names[i]);
            told++;
        }
        if (list.left_out > told)
            xb_say("and %zu more names that are no valid host names", list.left_out - told);
        tell_undrained(judgement);
        if (list.text[0] != '\0')
            fprintf(stream, "%s\n", list.text);
        status = xb_stream_finish(stream, "the node list", error);
    }
    xb_fleet_drain_list_free(&list);
    return status;
}
