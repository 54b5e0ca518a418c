/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* fopencookie */
#include "standard_input.h"

#include "base/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

/* A signal that comes just before poll() begins to wait does not end it: look again after that. */
#define LOOK_MS 100

static ssize_t read_some(void *unused, char *buffer, size_t size)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    int ready = 0;
    (void)unused;
    while (ready == 0 || (ready < 0 && errno == EINTR)) {
        if (xb_interrupt_signal() != 0) {
            errno = EINTR;
            return -1;
        }
        ready = poll(&input, 1, LOOK_MS);
    }
    return ready < 0 ? -1 : read(STDIN_FILENO, buffer, size);
}

FILE *xb_standard_input_open(void)
{
    return fopencookie(NULL, "r", (cookie_io_functions_t){.read = read_some});
}
