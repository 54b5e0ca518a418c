/* SPDX-License-Identifier: Apache-2.0 */
#include "pair.h"

#include "xferbench/result.h"

const struct xb_option xb_option_pairs = {
    .name = "pairs",
    .type = XB_OPTION_CHOICES,
    .argument = "FROM:TO[,FROM:TO]",
    .help = "Which pairs of devices, by number. Without it: every ordered pair of --device, or of "
            "all devices.",
    .selects = true,
};

void xb_pair_add_link(const struct xb_mode_context *context, struct xb_result *result)
{
    const struct xb_peer_info *reach = &context->destination_reach;
    if (reach->link[0] != '\0')
        xb_result_detail_text(result, "link", "%s", reach->link);
    if (reach->links > 0)
        xb_result_detail_number(result, "links", reach->links);
    if (reach->link_rate > 0)
        xb_result_detail_number(result, "link_rate_bytes_per_second", reach->link_rate);
    if (reach->hops > 0)
        xb_result_detail_number(result, "link_hops", reach->hops);
}
