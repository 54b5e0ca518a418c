/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "xferbench/interrupt.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t caught;

/* Signals that end a run. */
static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
#define ENDING_COUNT (sizeof ending / sizeof ending[0])

/* Notes the first; from then on any of them kills. */
static void note(int number)
{
    if (caught == 0)
        caught = number;
    for (size_t i = 0; i < ENDING_COUNT; i++)
        signal(ending[i], SIG_DFL);
}

/* One that is ignored stays so: nohup and shells' background jobs rely on it. */
static void catch_signal(int number)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = note;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    struct sigaction inherited;
    if (sigaction(number, NULL, &inherited) == 0 && inherited.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

void xb_interrupt_catch(void)
{
    for (size_t i = 0; i < ENDING_COUNT; i++)
        catch_signal(ending[i]);
    /* A reader that left or a file that may not grow is an error of that write, no reason to die
     * with results in hand. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

int xb_interrupt_signal(void)
{
    return caught;
}
