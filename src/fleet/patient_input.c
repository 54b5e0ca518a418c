/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* fopencookie */
#include "patient_input.h"

#include "base/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

/* A signal that comes just before poll() begins to wait does not end it: look again after that. */
#define LOOK_MS 100

struct input {
    int descriptor;
    bool owns;
};

static ssize_t read_some(void *cookie, char *buffer, size_t size)
{
    const struct input *input = cookie;
    struct pollfd waiting = {.fd = input->descriptor, .events = POLLIN};
    while (xb_interrupt_signal() == 0) {
        int ready = poll(&waiting, 1, LOOK_MS);
        ssize_t got = ready > 0 ? read(input->descriptor, buffer, size) : ready;
        bool goes_on = ready == 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
        if (!goes_on)
            return got;
    }
    errno = EINTR;
    return -1;
}

static int close_input(void *cookie)
{
    struct input *input = cookie;
    int failed = input->owns ? close(input->descriptor) : 0;
    free(input);
    return failed;
}

FILE *xb_patient_input_open(int descriptor, bool owns)
{
    struct input *input = malloc(sizeof *input);
    if (input == NULL)
        return NULL;
    *input = (struct input){.descriptor = descriptor, .owns = owns};
    FILE *stream =
        fopencookie(input, "r", (cookie_io_functions_t){.read = read_some, .close = close_input});
    if (stream == NULL)
        free(input);
    return stream;
}
