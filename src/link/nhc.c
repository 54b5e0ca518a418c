/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stream.h"
#include "format.h"

/* " GPU 1 0000:1f:00.0 XB-LINK-WIDTH XB-LINK-SPEED" */
static void put_device(FILE *stream, const struct xb_link_report *report, size_t device,
                       const char *separator)
{
    const struct xb_device_info *info = &report->devices[device].info;
    const struct xb_verdict *verdict = &report->verdicts[device];
    fprintf(stream, "%sGPU %u", separator, info->index);
    if (info->pci_bdf[0] != '\0')
        fputc(' ', stream);
    xb_link_put_safe(stream, info->pci_bdf);
    if (verdict->found.reason_count == 0)
        fprintf(stream, " %s", xb_level_name(verdict->found.level));
    for (size_t i = 0; i < verdict->found.reason_count; i++)
        if (xb_link_first_of_code(&verdict->found, i))
            fprintf(stream, " %s", verdict->found.reasons[i].code);
}

static void put_line(FILE *stream, const struct xb_link_report *report)
{
    const char *separator = ": ";
    fprintf(stream, "xferbench link %s", xb_level_name(report->level));
    for (size_t i = 0; i < XB_LINK_BAD_LEVELS; i++) {
        for (size_t j = 0; j < report->device_count; j++) {
            if (report->verdicts[j].found.level != xb_link_bad_levels[i])
                continue;
            put_device(stream, report, j, separator);
            separator = ", ";
        }
    }
    if (report->nothing[0] != '\0')
        fputs(separator, stream);
    xb_link_put_safe(stream, report->nothing);
    fputc('\n', stream);
}

/* NHC keeps the line as the reason why the node is out of service: codes are enough there. */
enum xb_status xb_link_nhc_write(FILE *stream, const struct xb_link_report *report,
                                 struct xb_error *error)
{
    if (report->level != XB_LEVEL_OK)
        put_line(stream, report);
    return xb_stream_finish(stream, "the line for NHC", error);
}
