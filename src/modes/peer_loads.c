/* SPDX-License-Identifier: Apache-2.0 */
/* What a load takes from another device's memory. */
#include "loads.h"
#include "modes/readings/readings.h"
#include "shared_options.h"

struct state {
    struct xb_chase chase; /* first: the shared hooks find it there */
    bool opened;           /* access of the destination to the source's memory */
};

static enum xb_status check(const struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_case *test = context->test;
    if (!context->destination_reach.can_access)
        return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                       "device %d cannot load from the memory of device %u (peer access is not "
                       "possible)",
                       test->peer, test->device);
    return xb_chase_check_size(context, error);
}

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    XB_TRY(context->device->backend->peer_open(context->peer_device, context->device, error));
    state->opened = true;
    return xb_chase_setup(context, context->peer_workspace, error);
}

static enum xb_status verify(struct xb_mode_context *context, struct xb_result *result,
                             struct xb_error *error)
{
    xb_pair_add_link(context, result);
    return xb_chase_verify(context, result, error);
}

static void teardown(struct xb_mode_context *context)
{
    const struct state *state = context->state;
    if (state->opened)
        context->device->backend->peer_close(context->peer_device, context->device);
}

const struct xb_mode xb_mode_peer_loads = {
    .name = "peer-loads",
    .calls = "cudaDeviceEnablePeerAccess() or hipDeviceEnablePeerAccess(), and a pointer of the "
             "other GPU in the kernel.",
    .summary = "the latency of a load from another GPU's memory",
    .description =
        "For every ordered pair of devices: one thread of the second follows a chain through the "
        "first one's memory, with peer access on. Each load brings the address of the next and "
        "waits for the one before. A sample is 16384 loads, each of a line of 128 bytes; the "
        "figure is the time of one. --size says how much memory the chain goes through: by "
        "default 2 MiB, which the first device's caches may hold. The word of --access is the "
        "variant. --mode all has this mode only with --latency.",
    XB_ALL_BY_DEFAULT(XB_D2D),
    .pairs = true,
    .names = XB_NAMES({"random", "peer loads, random"}, {"sequential", "peer loads in order"},
                      {"bulk", "peer loads by TMA"}),
    .options = XB_OPTIONS(&xb_option_access, &xb_option_pairs),
    .answer = xb_peer_loads_answer,
    XB_HOOKS(struct state, xb_chase_buffers, setup, xb_chase_prepare, xb_chase_submit, verify),
    .capabilities = xb_access_capabilities,
    .check = check,
    XB_CHASE_MODE,
    .teardown = teardown,
};
