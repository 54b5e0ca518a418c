/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_TESTS_FAKE_BACKEND_H
#define XFERBENCH_TESTS_FAKE_BACKEND_H

#include "xferbench/backend.h"

/*
 * The host backend with every capability, faults that a test switches on (copies that go wrong,
 * calls that fail), and a clock of its own: every queue has a virtual time, which only its
 * operations move.
 */
extern const struct xb_backend xb_fake_backend;

/* What operations cost in virtual seconds. A hold costs much, so that it shows wherever it must not
 * be counted; every further queue of a device is slower than the one before, by its number. */
#define XB_FAKE_SECONDS_PER_BYTE 1e-9
#define XB_FAKE_HOLD_S 1.0

/* How a copy goes wrong. Small copies (the spot check's windows) are left alone. */
enum xb_fake_damage {
    XB_FAKE_NO_DAMAGE,
    XB_FAKE_BIT_FLIPPED,    /* one bit in the middle */
    XB_FAKE_BLOCKS_SWAPPED, /* the first two blocks of 4 KiB */
    XB_FAKE_SHIFTED_2MIB,   /* everything comes from 2 MiB further on */
    XB_FAKE_LAST_BYTE_LOST, /* the last byte is not written */
    XB_FAKE_NOTHING_COPIED,
};

struct xb_fake {
    enum xb_fake_damage damage;
    bool check_is_blind;   /* queue_check finds nothing wrong, whatever there is */
    unsigned fail_at;      /* the so-many-th call from now on fails; 0: none */
    uint32_t capabilities; /* what the device claims */
    unsigned device_count; /* how many devices there are */
    unsigned sick_device;  /* this one, counted from 1, does not describe itself; 0: none */
    unsigned held_operations;
    uint64_t device_memory_free; /* 0: what the host has */

    /* Seen since the last reset: */
    unsigned calls;
    unsigned holds;
    unsigned copied_memory; /* bits 1 << enum xb_memory of the host side of large copies */
};

extern struct xb_fake xb_fake;

/* No faults, all capabilities, one device. Call it before the first use. */
void xb_fake_reset(void);

#endif
