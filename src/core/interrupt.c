/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "xferbench/interrupt.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t caught;

static void note(int signal)
{
    caught = signal;
}

void xb_interrupt_catch(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = note;
    action.sa_flags = (int)(SA_RESETHAND | SA_RESTART);
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    /* A reader that left or a file that may not grow is an error of that write, no reason to die
     * with results in hand. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

int xb_interrupt_signal(void)
{
    return caught;
}
