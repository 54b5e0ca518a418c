/* SPDX-License-Identifier: Apache-2.0 */
/* What the node was when it was accepted: a file of `link --json` (docs/link.md). */
#include "report.h"
#include "session.h"

#include "base/memory.h"

#include <string.h>

/* Whether both are known, and the same. */
static bool is_same(const char *a, const char *b)
{
    return a[0] != '\0' && strcmp(a, b) == 0;
}

/* The place of a device in the baseline: of the one at the same address, or else of itself. */
static size_t find(const struct xb_link_report *baseline, const struct xb_device_info *info)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < baseline->device_count; i++) {
            const struct xb_device_info *was = &baseline->devices[i].info;
            if (pass == 0 ? is_same(was->pci_bdf, info->pci_bdf) : is_same(was->uuid, info->uuid))
                return i;
        }
    return SIZE_MAX;
}

void xb_baseline_find(const struct xb_link_report *baseline, const struct xb_device_info *info,
                      struct xb_link_was *was)
{
    const size_t place = baseline != NULL ? find(baseline, info) : SIZE_MAX;
    *was = (struct xb_link_was){.known = place < SIZE_MAX};
    if (baseline == NULL || !was->known)
        return;
    const struct xb_verdict *verdict = &baseline->verdicts[place];
    const struct xb_device_health *health = xb_link_latest(&baseline->devices[place]);
    memcpy(was->uuid, baseline->devices[place].info.uuid, sizeof was->uuid);
    for (size_t i = 0; i < XB_LINK_WAYS; i++)
        was->rates[i] = verdict->ways[i].measured;
    was->nvlinks = health != NULL ? health->nvlinks_active : 0;
    if (verdict->facts.slot < verdict->facts.hop_count)
        was->load = verdict->facts.hops[verdict->facts.slot].load;
}

double xb_baseline_of_pair(const struct xb_link_report *baseline, const struct xb_device_info *from,
                           const struct xb_device_info *to)
{
    const size_t source = baseline != NULL ? find(baseline, from) : 0;
    const size_t target = baseline != NULL ? find(baseline, to) : 0;
    for (size_t i = 0; baseline != NULL && i < baseline->pair_count; i++)
        if (baseline->pairs[i].from == source && baseline->pairs[i].to == target)
            return baseline->pair_verdicts[i].bandwidth.measured;
    return 0;
}

enum xb_status xb_baseline_check(const struct xb_link_session *session, struct xb_error *error)
{
    const struct xb_link_report *baseline = session->baseline;
    if (baseline == NULL || session->device_count == 0)
        return XB_OK;
    const char *its = baseline->node != NULL ? baseline->node : "";
    bool is_own = session->node != NULL && is_same(session->node, its);
    for (size_t i = 0; i < session->device_count; i++)
        for (size_t k = 0; k < baseline->device_count; k++)
            is_own =
                is_own || is_same(session->devices[i].info.uuid, baseline->devices[k].info.uuid);
    if (!is_own)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--baseline: the file is of another node (%s): none of its GPUs is here",
                       its);
    return XB_OK;
}

void xb_baseline_add_missing(struct xb_link_session *session)
{
    const struct xb_link_report *baseline = session->baseline;
    const size_t here = session->device_count;
    if (baseline == NULL || strcmp(session->device_text, "all") != 0)
        return;
    for (size_t i = 0; i < baseline->device_count; i++) {
        bool is_here = false;
        for (size_t k = 0; k < here; k++)
            is_here = is_here || find(baseline, &session->devices[k].info) == i;
        if (is_here || session->device_count == XB_RUN_DEVICES)
            continue;
        struct xb_link_device *device = &session->devices[session->device_count++];
        device->info = baseline->devices[i].info;
        device->setup = baseline->devices[i].setup; /* its serial number */
        device->info.index = here > 0 ? session->devices[session->device_count - 2].info.index + 1
                                      : (unsigned)session->device_count - 1;
        device->missing = true;
    }
}

void xb_baseline_tell(struct xb_link_report *now, const char *path, struct xb_link_file *baseline)
{
    const struct xb_link_report *then = &baseline->report;
    struct xb_words words = {.length = 0};
    const char *rows[4][3] = {{"driver", then->probe.driver_version, now->probe.driver_version},
                              {"runtime", then->probe.runtime_version, now->probe.runtime_version},
                              {"kernel", then->kernel, now->kernel}};
    for (size_t i = 0; rows[3][0] == NULL && i < now->device_count; i++) {
        const size_t place = find(then, &now->devices[i].info);
        const char *vbios = place < SIZE_MAX ? then->devices[place].setup.vbios : "";
        if (vbios[0] != '\0' && strcmp(vbios, now->devices[i].setup.vbios) != 0)
            memcpy(rows[3], (const char *[]){"VBIOS", vbios, now->devices[i].setup.vbios},
                   sizeof rows[3]);
    }
    for (size_t i = 0; i < 4; i++)
        if (rows[i][1] != NULL && rows[i][1][0] != '\0' && rows[i][2] != NULL &&
            rows[i][2][0] != '\0' && strcmp(rows[i][1], rows[i][2]) != 0)
            xb_words_add(&words, "%s%s %s, now %s", words.length > 0 ? "; " : "", rows[i][0],
                         rows[i][1], rows[i][2]);
    now->then = (struct xb_link_then){
        .known = true,
        .path = path,
        .written = then->written,
        .node = then->node,
        .changes = words.length > 0 ? xb_arena_copy(&baseline->texts, words.text) : NULL};
}
