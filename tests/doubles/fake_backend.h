/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "damage.h"

/*
 * The host backend with every capability and with peers, faults that a test switches on (copies
 * that go wrong, calls that fail), and a clock of its own: every queue has a virtual time, which
 * only its operations move. Used by one thread, but for device_open and file_read.
 *
 * Two things that the host backend lets pass are refused here, for a GPU refuses them: recording an
 * event on a queue of another device than its own, and the time between events of two devices.
 */
extern const struct xb_backend xb_fake_backend;

/*
 * What operations cost in virtual seconds: a copy by either engine or kernel (many at once as one
 * of all their bytes), a peer copy and a prefetch by the byte, a decoding by the byte of the
 * original, a computation by byte and step, a digest by the byte, a chase by the load, a read of a
 * file nothing. Every further queue of a device is slower than the one before, by its number: its
 * operations take so many times as long.
 */
#define XB_FAKE_SECONDS_PER_BYTE 1e-9
#define XB_FAKE_PEER_SECONDS_PER_BYTE 1e-10
#define XB_FAKE_PREFETCH_SECONDS_PER_BYTE 2e-9
#define XB_FAKE_DECODE_SECONDS_PER_BYTE 5e-10
#define XB_FAKE_SECONDS_PER_BYTE_AND_STEP 1e-12
#define XB_FAKE_DIGEST_SECONDS_PER_BYTE 1e-12
#define XB_FAKE_SECONDS_PER_LOAD 2e-7 /* from the device's own memory */
#define XB_FAKE_SECONDS_PER_HOST_LOAD 1e-6
#define XB_FAKE_SECONDS_PER_PEER_LOAD 7e-7
/* A hold lasts long from when the caller last waited, so that it shows wherever it must not be
 * counted. */
#define XB_FAKE_HOLD_S 1.0

/* What peer_info tells of any two devices. A peer copy reaches 0.83 of what these links carry. */
#define XB_FAKE_PEER_LINKS 18u
#define XB_FAKE_PEER_LINK_RATE 0.67e9
/* The link that is trained again on a device that is sick in this way. */
#define XB_FAKE_RETRAINED_LINK 4u

#define XB_FAKE_MAX_DEVICES 16u

/* More than any number of blocks that is tried. */
#define XB_FAKE_MULTIPROCESSORS 132u

struct xb_fake {
    enum xb_damage damage;    /* of copies, prefetches, chases, decodings and reads of files */
    bool check_is_blind;      /* queue_check finds nothing wrong, whatever there is */
    unsigned fail_at;         /* the so-many-th call from now on fails; 0: none */
    uint32_t capabilities;    /* what the device claims */
    unsigned device_count;    /* how many devices there are, XB_FAKE_MAX_DEVICES at most */
    unsigned sick_device;     /* this one, counted from 1, does not describe itself; 0: none */
    bool no_peer_access;      /* no device can reach another's memory */
    const char *pci_bdf;      /* of the first device, in place of 0000:01:00.0 */
    const char *architecture; /* of all devices; NULL: none is told */
    unsigned held_operations;
    uint64_t device_memory_free; /* 0: what the host has */
    uint64_t no_room_for;        /* there is no memory for a buffer of so many bytes; 0: there is */
    /* Copies from one device to another that take so many times as long, and are damaged. The
     * devices' indices; none where both are the same. */
    struct {
        unsigned from, to;
        double slowness;
        enum xb_damage damage;
    } bad_pair;
    unsigned links_down[XB_FAKE_MAX_DEVICES]; /* of each device: how many links are not active */
    unsigned retraining_device; /* each peer copy of this one, counted from 1, has a link
                                   trained again; 0: none */
    /* Of the PCIe link, at each reading of its counters. */
    uint64_t pcie_rises[XB_PCIE_COUNTERS], replay_rises;
    double pcie_overhead; /* copies put so many times their bytes on the link; 0: it counts none */
    uint64_t pcie_burst;  /* of other traffic each way, before every other reading */
    bool slowed_by_hardware;
    struct xb_device_setup setup; /* of all devices */
    bool varies; /* operations take up to 0.15 % more than they should, in an order that repeats */
    bool queues_are_alike;       /* no queue is slower than the one before */
    bool more_blocks_are_faster; /* kernels that copy pieces, up to all the device has */
    bool memory_comes_back;      /* a buffer begins with what the last freed one like it held */
    bool compute_is_free;        /* computing kernels take their time and compute nothing */
    unsigned hardware_queues;    /* how many a device has: more queues take turns; 0: enough */
    double operation_s; /* virtual seconds that each operation takes beside those by the byte. They
                           make batches short, for tests that are not about time. */

    /* Seen since the last reset: */
    unsigned calls;
    unsigned failures; /* calls that failed because of fail_at */
    unsigned holds;
    unsigned most_behind_hold; /* operations that a device was given from a hold to its release */
    unsigned copied_memory; /* bits 1 << enum xb_memory of the host or managed side of large copies
                               and prefetches */
    double pcie_bytes[2];   /* of copies to the device and from it, with overhead; and bursts */
    unsigned pcie_readings; /* of these */
    unsigned kernel_access; /* bits 1 << enum xb_access of large kernel copies */
    unsigned kernels_together; /* the most that a kernel copy was to run beside, itself included */
    enum xb_advice advice;     /* the last that was given */
    unsigned peers_open;       /* pairs that peer_open has opened and peer_close has not closed */
    unsigned lists_open, graphs_open; /* of pieces: opened and not closed */
    size_t most_pieces;               /* the most pieces of a list that was enqueued */
    unsigned piece_blocks;            /* of the last kernel that copied pieces */
    uint64_t retrained;               /* how often a link of retraining_device was trained again */
    bool staged_by_runtime;           /* a peer copy was made while neither direction was open */
    int range_depth;                  /* ranges pushed and not popped */
    unsigned ranges;                  /* ranges pushed */
    bool collecting, badly_collected; /* a profiler collects; was begun or ended out of turn */
    size_t samples_collected;         /* ranges of that name while a profiler collected */
};

extern struct xb_fake xb_fake;

/* No faults, all capabilities, one device. Call it before the first use. */
void xb_fake_reset(void);
