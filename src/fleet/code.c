/* SPDX-License-Identifier: Apache-2.0 */
#include "judgement.h"

static const char *const names[XB_FLEET_CODES] = {
    [XB_FLEET_MISSING] = "missing",
    [XB_FLEET_HAS_WRONG_DATA] = "wrong-data",
    [XB_FLEET_HAS_FAILED] = "failed",
    [XB_FLEET_LINK_VERDICT] = "link-verdict",
    [XB_FLEET_FEWER_GPUS] = "fewer-gpus",
    [XB_FLEET_NARROWER] = "narrower-link",
    [XB_FLEET_SLOW] = "slow",
    [XB_FLEET_LINK_WARNING] = "link-warning",
    [XB_FLEET_IS_CUT] = "cut-short",
    [XB_FLEET_FAST] = "fast",
    [XB_FLEET_OTHER_DRIVER] = "other-driver",
};

const char *xb_fleet_code_name(enum xb_fleet_code code)
{
    return names[code];
}

bool xb_fleet_code_is_bad(enum xb_fleet_code code)
{
    return code <= XB_FLEET_SLOW;
}
