/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_BACKEND_H
#define XFERBENCH_BACKEND_H

#include "xferbench/error.h"
#include "xferbench/pattern.h"
#include "xferbench/verify.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The contract between xferbench and a vendor's runtime: a table of functions, about one runtime
 * call each. Strategy lives in modes; vendor calls live here and nowhere else.
 *
 * Rules for every slot:
 *  - It works on the object it is given and needs no "current device" set by the caller.
 *  - On failure it fills *error, leaves its output parameters alone and has released what it took.
 *  - Objects are owned by the caller of open/allocate and go back through close/free, children
 *    before parents. close and free accept NULL and cannot fail.
 *  - One thread uses one device at a time; different devices may be used by different threads.
 * tests/contract/ asserts these rules over every backend that can run.
 */

/* Raised when a slot is added or changes meaning; the registry refuses another number. */
#define XB_BACKEND_ABI 1u

/* What a device can do beyond the mandatory slots. A missing capability means a skipped row. */
enum xb_capability {
    XB_CAP_REGISTER = 1u << 0,       /* can page-lock memory that exists: buffer_register */
    XB_CAP_WRITE_COMBINED = 1u << 1, /* can allocate XB_MEMORY_WRITE_COMBINED */
    XB_CAP_HOLD = 1u << 2            /* can hold a queue: queue_hold, queue_release */
};

/* The capabilities' names, in the order of their bits; ends with NULL. */
extern const char *const xb_capability_names[];

/* Where a buffer lies and how it was made. */
enum xb_memory {
    XB_MEMORY_DEVICE,        /* the device's own */
    XB_MEMORY_PAGEABLE,      /* ordinary host memory, every page touched */
    XB_MEMORY_PINNED,        /* host memory page-locked by the runtime's own allocator */
    XB_MEMORY_REGISTERED,    /* pageable memory that buffer_register has page-locked */
    XB_MEMORY_WRITE_COMBINED /* pinned and write-combining: the CPU reads it very slowly */
};

#define XB_PROBE_CHECKS 4

/* One thing a backend looked for. */
struct xb_probe_check {
    char what[48];   /* "driver library libcuda.so.1" */
    char found[192]; /* "not found: install the NVIDIA driver" */
    bool ok;
};

/* What a backend found when it was opened, in the order in which it looked. */
struct xb_probe {
    struct xb_probe_check checks[XB_PROBE_CHECKS];
    size_t check_count;
    char runtime_version[32]; /* "13.0"; "" where the backend has none */
    char driver_version[64];  /* "580.159.04"; "" where unknown */
    unsigned device_count;
};

struct xb_device_info {
    unsigned index;
    char name[128];
    char uuid[64];         /* "GPU-..." as the vendor's tools print it; "" where there is none */
    char architecture[32]; /* "sm_90" */
    char pci_bdf[16];      /* "0000:0f:00.0", lower case; "" if it is not a PCI device */
    uint64_t memory_bytes;
    uint32_t capabilities; /* bits of enum xb_capability */
    /* How many operations may stand in a queue that is held before the next enqueue could block.
     * Meaningful with XB_CAP_HOLD. */
    unsigned held_operations;
    /* The device's memory is the host's: both needs of a case come out of one. */
    bool shares_host_memory;
    bool host_clock; /* events carry the host's clock: there is no other */
    /* What "pinned" means here, for the record: NULL where it is a page lock. Static text. */
    const char *pinned_note;
};

struct xb_backend;

/* Heads of the objects. A backend puts its own fields behind them; nobody else does. */
struct xb_driver {
    const struct xb_backend *backend;
};

struct xb_device {
    const struct xb_backend *backend;
    struct xb_device_info info;
};

struct xb_buffer {
    struct xb_device *device;
    enum xb_memory memory;
    uint64_t bytes;
    void *host_address; /* NULL for XB_MEMORY_DEVICE: the CPU must not touch that */
};

struct xb_queue {
    struct xb_device *device;
};

struct xb_event {
    struct xb_device *device;
};

struct xb_backend {
    uint32_t abi;        /* XB_BACKEND_ABI */
    const char *name;    /* "cuda": what --backend takes */
    const char *summary; /* one line for people */
    bool automatic;      /* whether --backend auto may take it */

    /* ---- driver ---- */

    /*
     * Looks for the runtime, its driver and devices, without creating a context on any. Always
     * fills *probe. XB_ERR_UNAVAILABLE where the backend cannot run here; the checks tell why. Must
     * be fast (no device is woken that is not there) and must not print.
     */
    enum xb_status (*driver_open)(struct xb_driver **driver, struct xb_probe *probe,
                                  struct xb_error *error);
    void (*driver_close)(struct xb_driver *driver);
    /* Describes device `index` < probe.device_count, without creating a context on it. */
    enum xb_status (*device_info)(struct xb_driver *driver, unsigned index,
                                  struct xb_device_info *info, struct xb_error *error);

    /* ---- device ---- */

    /*
     * Opens device `index`: creates its context and loads every kernel, because loading one behind
     * a held queue would deadlock. May take hundreds of milliseconds.
     */
    enum xb_status (*device_open)(struct xb_driver *driver, unsigned index,
                                  struct xb_device **device, struct xb_error *error);
    void (*device_close)(struct xb_device *device);
    /* Bytes of device memory that are free now. */
    enum xb_status (*device_memory)(struct xb_device *device, uint64_t *free_bytes,
                                    struct xb_error *error);

    /* ---- buffer ---- */

    /*
     * Allocates `bytes` > 0 of the given memory: DEVICE, PAGEABLE, PINNED or, with its capability,
     * WRITE_COMBINED. Aligned to a page or better; host memory has every page touched by the
     * calling thread's memory policy. The content is undefined. XB_ERR_MEMORY when there is not
     * enough, XB_ERR_UNSUPPORTED for a kind this device has not. Blocks.
     */
    enum xb_status (*buffer_allocate)(struct xb_device *device, enum xb_memory memory,
                                      uint64_t bytes, struct xb_buffer **buffer,
                                      struct xb_error *error);
    /*
     * Page-locks a PAGEABLE buffer for this device; it becomes REGISTERED and buffer_free undoes
     * both. Needs XB_CAP_REGISTER. Blocks.
     */
    enum xb_status (*buffer_register)(struct xb_buffer *buffer, struct xb_error *error);
    /* The buffer must not be in use by a queue. */
    void (*buffer_free)(struct xb_buffer *buffer);

    /* ---- queue: operations run in the order in which they were enqueued ---- */

    enum xb_status (*queue_open)(struct xb_device *device, struct xb_queue **queue,
                                 struct xb_error *error);
    /* Waits for what is enqueued, then closes. A queue that is held is released first. */
    void (*queue_close)(struct xb_queue *queue);
    /*
     * Enqueues a copy of `bytes` from source+source_offset to target+target_offset, one of them
     * device memory and the other host memory. Returns when the runtime does: for pinned memory at
     * once, for pageable memory perhaps only when the data is moved. XB_ERR_USAGE when a range
     * leaves its buffer.
     */
    enum xb_status (*queue_copy)(struct xb_queue *queue, struct xb_buffer *target,
                                 uint64_t target_offset, struct xb_buffer *source,
                                 uint64_t source_offset, uint64_t bytes, struct xb_error *error);
    /* Enqueues writing bytes [0, bytes) of the pattern to the start of a DEVICE buffer. */
    enum xb_status (*queue_fill)(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                 struct xb_pattern pattern, struct xb_error *error);
    /*
     * Compares the first `bytes` of a DEVICE buffer with the pattern, on the device, after what is
     * enqueued. Blocks until the outcome is known. The outcome is in *mismatch: data that differs
     * is not an error of this call.
     */
    enum xb_status (*queue_check)(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                  struct xb_pattern pattern, struct xb_mismatch *mismatch,
                                  struct xb_error *error);
    /*
     * Holds the queue: operations enqueued after it do not start until queue_release. Never enqueue
     * a copy of pageable memory behind a hold: the call may wait for the copy, which waits for the
     * release. Must bound the wait: a hold that is never released gives way after some seconds,
     * and queue_wait then fails, so that no time taken behind it is believed. XB_CAP_HOLD.
     */
    enum xb_status (*queue_hold)(struct xb_queue *queue, struct xb_error *error);
    /* Releases a held queue; does nothing to one that is not held. Does not block. XB_CAP_HOLD. */
    void (*queue_release)(struct xb_queue *queue);
    /* Makes what is enqueued from now on wait, on the device, for the event's latest record. */
    enum xb_status (*queue_wait_event)(struct xb_queue *queue, struct xb_event *event,
                                       struct xb_error *error);
    /* Blocks until everything enqueued is done; reports any failure of it. */
    enum xb_status (*queue_wait)(struct xb_queue *queue, struct xb_error *error);

    /* ---- event: a point in a queue, with the device's own time stamp ---- */

    enum xb_status (*event_open)(struct xb_device *device, struct xb_event **event,
                                 struct xb_error *error);
    void (*event_close)(struct xb_event *event);
    /* Enqueues recording the event; a second record replaces the first. */
    enum xb_status (*event_record)(struct xb_event *event, struct xb_queue *queue,
                                   struct xb_error *error);
    /*
     * Seconds from `start` to `stop`, both recorded and reached (queue_wait). Resolution: cuda
     * about 0.5 us (cudaEventElapsedTime in the CUDA Runtime API), host that of CLOCK_MONOTONIC.
     */
    enum xb_status (*event_elapsed)(struct xb_event *start, struct xb_event *stop, double *seconds,
                                    struct xb_error *error);
};

/* "device", "pageable", "pinned", "registered", "write-combined". */
const char *xb_memory_name(enum xb_memory memory);

/*
 * For backends: whether a copy keeps to the rules of queue_copy. XB_ERR_USAGE where a range leaves
 * its buffer, or the buffers are not one of the device's and one of the host's.
 */
enum xb_status xb_copy_check(const struct xb_buffer *target, uint64_t target_offset,
                             const struct xb_buffer *source, uint64_t source_offset, uint64_t bytes,
                             struct xb_error *error);

/* The same for a fill or check of the first `bytes` of a DEVICE buffer. */
enum xb_status xb_device_range_check(const struct xb_buffer *buffer, uint64_t bytes,
                                     struct xb_error *error);

#endif
