/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stream.h"
#include "format.h"

/* " XB-LINK-WIDTH XB-LINK-SPEED"; the level where there is no reason. */
static void put_codes(FILE *stream, const struct xb_findings *found)
{
    if (found->reason_count == 0)
        fprintf(stream, " %s", xb_level_name(found->level));
    for (size_t i = 0; i < found->reason_count; i++)
        if (xb_link_first_of_code(found, i))
            fprintf(stream, " %s", found->reasons[i].code);
}

/* " GPU 1 0000:1f:00.0 XB-LINK-WIDTH XB-LINK-SPEED" */
static void put_device(FILE *stream, const struct xb_link_report *report, size_t device,
                       const char *separator)
{
    const struct xb_device_info *info = &report->devices[device].info;
    fprintf(stream, "%sGPU %u", separator, info->index);
    if (info->pci_bdf[0] != '\0')
        fputc(' ', stream);
    xb_link_put_safe(stream, info->pci_bdf);
    put_codes(stream, &report->verdicts[device].found);
}

/* " GPU 0 to 1 XB-BW-PEER" */
static void put_pair(FILE *stream, const struct xb_link_report *report, size_t pair,
                     const char *separator)
{
    fprintf(stream, "%sGPU %u to %u", separator,
            report->devices[report->pairs[pair].from].info.index,
            report->devices[report->pairs[pair].to].info.index);
    put_codes(stream, &report->pair_verdicts[pair].found);
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
        for (size_t j = 0; j < report->pair_count; j++) {
            if (report->pair_verdicts[j].found.level != xb_link_bad_levels[i])
                continue;
            put_pair(stream, report, j, separator);
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
