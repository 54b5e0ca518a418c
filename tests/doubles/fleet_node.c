/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * xferbench on a node of a fleet whose figures are made up: the fake backend, whose time is
 * virtual, so that neither the machine's load nor its cores make a difference. As nodes do, they
 * differ by up to 0.1 %, by the letters of the node's name. XB_SLOW_NODE in the environment names
 * one that is slower by 5 %.
 */
#include "fake_backend.h"

#include "backends/registry.h"
#include "record/mode_list.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

extern const struct xb_mode xb_mode_pinned;

static double slowness = 1;
static bool dies;

const struct xb_backend_entry xb_backends[] = {
    {.name = "fake", .backend = &xb_fake_backend},
    {.name = NULL},
};

const struct xb_mode *const xb_modes[] = {&xb_mode_pinned, NULL};

/* The linker puts the first in the other's place (tests/CMakeLists.txt). */
enum xb_status __real_xb_fake_event_elapsed(struct xb_event *start, struct xb_event *stop,
                                            double *seconds, struct xb_error *error);

enum xb_status __wrap_xb_fake_event_elapsed(struct xb_event *start, struct xb_event *stop,
                                            double *seconds, struct xb_error *error)
{
    if (dies)
        raise(SIGKILL);
    enum xb_status status = __real_xb_fake_event_elapsed(start, stop, seconds, error);
    if (status == XB_OK)
        *seconds *= slowness;
    return status;
}

/* Before main, which checks the tables. */
__attribute__((constructor)) static void begin(void)
{
    const char *node = getenv("SLURMD_NODENAME");
    const char *slow = getenv("XB_SLOW_NODE"), *dying = getenv("XB_DYING_NODE");
    xb_fake_reset();
    xb_fake.pci_bdf = "ffff:ff:1f.0";     /* which no machine has, so that none tells of its path */
    xb_fake.device_memory_free = 1 << 30; /* not the host's: there is a link to judge */
    if (node == NULL)
        return;
    unsigned spread = 0;
    for (const char *letter = node; *letter != '\0'; letter++)
        spread = spread * 31 + (unsigned char)*letter;
    slowness += spread % 11 * 1e-4;
    if (slow != NULL && strcmp(node, slow) == 0)
        slowness *= 1.05;
    dies = dying != NULL && strcmp(node, dying) == 0;
}
