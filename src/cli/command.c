/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include "base/interrupt.h"
#include "base/text.h"

int xb_cli_fail(const struct xb_error *error)
{
    char text[1024];
    xb_say("%s", xb_error_text(error, text, sizeof text));
    if (error->status == XB_ERR_STOPPED && xb_interrupt_signal() != 0)
        return 128 + xb_interrupt_signal();
    return error->status == XB_ERR_USAGE ? XB_EXIT_USAGE : XB_EXIT_FAILED;
}
