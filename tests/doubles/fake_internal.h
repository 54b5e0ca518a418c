/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Shared between the files of the fake backend. */

#include "fake_backend.h"

#include "backends/host/host.h"

/* Counts a call that may fail; true, with *error filled, if it is its turn. */
bool xb_fake_fails(const char *call, struct xb_error *error);

/* First in a slot that may fail. */
#define ENTER(slot)                                                                                \
    if (xb_fake_fails(#slot, error))                                                               \
    return error->status

/* Whether `device` may reach the memory of `other`. */
bool xb_fake_peer_is_open(const struct xb_device *device, const struct xb_device *other);

/* Time that an operation takes on its device's first queue, beside what every operation takes. */
void xb_fake_pass_time(const struct xb_queue *queue, double seconds);

/* The virtual time until which the caller has waited for queues, in seconds. */
double xb_fake_host_time(void);

/* Virtual time begins again: small numbers are the exact ones. */
void xb_fake_begin_time(void);

/* Notes which memory a large copy touches. */
void xb_fake_note_memory(const struct xb_buffer *target, const struct xb_buffer *source,
                         uint64_t bytes);

/* The next queue of that device is its first again. */
void xb_fake_number_queues_anew(unsigned device);

extern const struct xb_kernels xb_fake_kernels;

/* Whose operations are damaged, and how a bit of what they brought is. */
extern const struct xb_backend xb_fake_plain;
enum xb_status xb_fake_flip_bit(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t offset,
                                struct xb_error *error);

/* All slots, of which each file has some. */
#define XB_FAKE_SLOTS(X, prefix) XB_SLOTS(X, X, X, X, X, prefix)
XB_FAKE_SLOTS(XB_DECLARE_SLOT, xb_fake_)
