/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/access.h"
#include "xferbench/error.h"
#include "xferbench/format.h"
#include "xferbench/pattern.h"
#include "xferbench/piece.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The contract between xferbench and a vendor's runtime: a table of functions, about one runtime
 * call each. Modes hold the strategy; only backends call a vendor. Rules for every slot:
 *  - It works on the object that it is given, whatever the "current device" is.
 *  - On failure it fills *error, leaves its outputs unchanged and releases what it took.
 *  - The caller of open or allocate owns the object and gives it back by close or free, children
 *    before parents. close and free accept NULL and cannot fail.
 *  - One thread uses one device at a time; different threads may use different devices.
 * tests/contract/ asserts these rules over every backend that can run.
 */

/* Raised when a slot is added or changes meaning; the registry refuses another number. */
#define XB_BACKEND_ABI 16u

/* What a check against a pattern found. first_offset counts only if wrong_bytes is not 0. */
struct xb_mismatch {
    uint64_t wrong_bytes;
    uint64_t first_offset; /* in bytes from the start of the pattern */
};

/* What a device can do beyond the mandatory slots. A missing capability means a skipped row. */
enum xb_capability {
    XB_CAP_REGISTER = 1u << 0,       /* can allocate XB_MEMORY_REGISTERED: buffer_register */
    XB_CAP_WRITE_COMBINED = 1u << 1, /* can allocate XB_MEMORY_WRITE_COMBINED */
    XB_CAP_HOLD = 1u << 2,           /* can hold a queue: queue_hold, queue_release */
    XB_CAP_KERNELS = 1u << 3,        /* can run queue_kernel_copy, queue_compute, queue_chain,
                                        queue_chase, queue_kernel_pieces, queue_decode,
                                        queue_digest and queue_count */
    XB_CAP_MAPPED = 1u << 4,         /* can allocate XB_MEMORY_MAPPED */
    XB_CAP_MANAGED = 1u << 5,   /* can allocate XB_MEMORY_MANAGED: queue_prefetch, buffer_advise */
    XB_CAP_BATCH = 1u << 6,     /* copies many pieces by one call: queue_copy_pieces */
    XB_CAP_GRAPH = 1u << 7,     /* replays copies that were captured: graph_open, queue_graph */
    XB_CAP_ROWS = 1u << 8,      /* copies rows that lie apart by one call: queue_copy_rows */
    XB_CAP_FILE = 1u << 9,      /* reads files to its memory by a call of the runtime: file_open */
    XB_CAP_POOL = 1u << 10,     /* has a pool of memory: queue_allocate */
    XB_CAP_PAGEABLE = 1u << 11, /* kernels reach XB_MEMORY_PAGEABLE in place */
    XB_CAP_BULK = 1u << 12 /* kernels have an engine make their copies: XB_ACCESS_BULK, `bulk` */
};

#define XB_CAPABILITIES 13

/* The capabilities' names, in the order of their bits; ends with NULL. */
extern const char *const xb_capability_names[];

/* Where a buffer lies and how it was made. */
enum xb_memory {
    XB_MEMORY_DEVICE,         /* the device's own */
    XB_MEMORY_PAGEABLE,       /* ordinary host memory, every page touched */
    XB_MEMORY_PINNED,         /* host memory page-locked by the runtime's own allocator */
    XB_MEMORY_REGISTERED,     /* ordinary memory, huge pages where the kernel gives them, that was
                                 touched first and then page-locked */
    XB_MEMORY_WRITE_COMBINED, /* pinned and write-combining: the CPU reads it very slowly */
    XB_MEMORY_MAPPED,         /* pinned, and kernels read and write it in place: those of the
                                 device, and of every other that has XB_CAP_MAPPED */
    XB_MEMORY_MANAGED         /* one address for both sides; pages move to whoever touches them */
};

/* What a runtime is told of MANAGED memory. */
enum xb_advice {
    XB_ADVICE_NONE,        /* nothing: pages move when they are touched */
    XB_ADVICE_STAY_ON_HOST /* pages belong on the host, and the device maps them there */
};

#define XB_PROBE_CHECKS 4
#define XB_PATH_SIZE 4096 /* PATH_MAX of Linux, which C alone does not have */

/* One thing a backend looked for. */
struct xb_probe_check {
    char what[48]; /* "driver library libcuda.so.1" */
    /* "not found: install the NVIDIA driver", or a library's path */
    char found[XB_PATH_SIZE + 192];
    bool ok;
};

/* What a backend found when it was opened, in the order in which it looked. */
struct xb_probe {
    struct xb_probe_check checks[XB_PROBE_CHECKS];
    size_t check_count;
    char runtime_version[32]; /* "13.0"; "" where the backend has none */
    /* The file that a runtime opened at run time was loaded from; "" for any other. */
    char runtime_library[XB_PATH_SIZE];
    /* The environment variable that named that file, else "". It may be anything that has the
     * runtime's functions, so results must tell. */
    char runtime_override[48];
    char driver_version[64]; /* "580.159.04"; "" where unknown */
    unsigned device_count;
};

/* Something about a device that a reader must know to judge its figures. */
struct xb_fact {
    char key[32];    /* "xnack" */
    char value[128]; /* "off" */
};
#define XB_DEVICE_FACTS 12

/* A runtime copies within the device by kernels, several for an odd size: on an H200 a held queue
 * took 512 copies of 64 MiB, but not of 5000001 bytes. */
#define XB_LOCAL_COPY_OPERATIONS 8u

struct xb_device_info {
    unsigned index;
    char name[128];
    char uuid[64];         /* "GPU-..." as the vendor's tools print it; "" where there is none */
    char architecture[32]; /* "sm_90" */
    char pci_bdf[16];      /* "0000:0f:00.0", lower case; "" if it is not a PCI device */
    uint64_t memory_bytes;
    uint32_t capabilities; /* bits of enum xb_capability */
    /* For each missing capability, by bit: why, and what to do; "": nothing to add. */
    char lacks[XB_CAPABILITIES][256];
    struct xb_fact facts[XB_DEVICE_FACTS];
    size_t fact_count;
    /* How many operations a held queue takes before the next enqueue could block. A copy within the
     * device counts as XB_LOCAL_COPY_OPERATIONS. Meaningful with XB_CAP_HOLD. */
    unsigned held_operations;
    /* How many blocks queue_kernel_pieces uses if asked for 0; 0: not known. */
    unsigned multiprocessors;
    /* The device's memory is the host's: both needs of a case come out of one. */
    bool shares_host_memory;
    /* Host and device reach each other's memory in place, coherently, so touched managed pages need
     * not move: GH200 class systems (cudaDevAttrDirectManagedMemAccessFromHost). */
    bool coherent_with_host;
    /* The runtime chooses a queue's copy engine by what ran on the queue before, and it may be slow
     * for the other way: on MI300 and MI308X with ROCm 7 copies to the host fell from 56 to 48 GB/s
     * after a copy to the device (rocm-systems 4035 and 4105). Each case then has queues of its
     * own. */
    bool engine_by_history;
    bool host_clock; /* events carry the host's clock: there is no other */
    /* What "pinned" means here, for the record: NULL where it is a page lock. Static text. */
    const char *pinned_note;
};

/* What one device can do with another's memory. */
struct xb_peer_info {
    bool can_access;  /* directly, once peer_open has been called */
    char link[16];    /* "NVLink", "xGMI", "PCIe"; "" where unknown */
    unsigned links;   /* how many of them; 0 where unknown */
    double link_rate; /* of one, each way, in bytes per second; 0 where unknown */
    unsigned hops;    /* from the one to the other, as the runtime counts; 0 where unknown */
};

/* What a link of GPUs counts. */
enum xb_nvlink_counter {
    XB_NVLINK_REPLAYS,    /* data sent again, because the other end did not get it right */
    XB_NVLINK_RECOVERIES, /* the link was trained again after errors, with or without success */
    XB_NVLINK_FAILED_RECOVERIES, /* of these: it did not come back */
    XB_NVLINK_CRC_ERRORS         /* data that arrived wrong and was asked for again */
};
#define XB_NVLINK_COUNTERS 4

/* One NVLink of a device. */
struct xb_nvlink {
    bool known; /* there is such a link, and whether it is active is known */
    bool active;
    double rate;                         /* each way, in bytes per second; 0 where unknown */
    bool counted[XB_NVLINK_COUNTERS];    /* which counters are known */
    uint64_t counts[XB_NVLINK_COUNTERS]; /* since the driver was loaded or somebody reset them */
};

#define XB_NVLINKS 36 /* of one device, at most: NVML_NVLINK_MAX_LINKS */

/* What a device counts on its PCIe link, by the names of the PCI Express Base Specification. */
enum xb_pcie_counter {
    XB_PCIE_RETRAINS, /* L0 to Recovery: the link was trained again, also to change its rate */
    XB_PCIE_CORRECTABLE,
    XB_PCIE_NAKS_RECEIVED,
    XB_PCIE_RECEIVER_ERRORS,
    XB_PCIE_BAD_TLPS,
    XB_PCIE_NAKS_SENT,
    XB_PCIE_BAD_DLLPS,
    XB_PCIE_NONFATAL,
    XB_PCIE_FATAL,
    XB_PCIE_UNSUPPORTED, /* requests */
    XB_PCIE_LCRC_ERRORS,
    XB_PCIE_LANE_ERRORS
};
#define XB_PCIE_COUNTERS 12

/* In struct xb_device_health's words: somebody set clocks, or a limit for them. */
#define XB_CLOCKS_ARE_SET "application clocks setting"

/* What a vendor's management library adds about a device. Every field may be unknown. */
struct xb_device_health {
    bool replays_known;
    uint64_t replays;                    /* PCIe packets sent again since boot */
    bool counted[XB_PCIE_COUNTERS];      /* which counters are known */
    uint64_t counts[XB_PCIE_COUNTERS];   /* since boot */
    bool traffic_known;                  /* of whatever process, headers included; both wrap */
    uint32_t bytes_sent, bytes_received; /* by the device over its PCIe link */
    bool clocks_known;
    unsigned sm_clock_mhz, memory_clock_mhz;
    unsigned sm_clock_best_mhz, memory_clock_best_mhz; /* 0 where unknown */
    bool throttle_known;
    bool slowed_by_hardware; /* heat or power brake by the hardware now: no setting of a user's */
    char throttle[128]; /* reasons for which clocks are below their best now, in words; "" none */
    bool temperature_known, power_known;
    unsigned temperature_c; /* of the GPU, degrees Celsius */
    double power_w;         /* of the board; NVML's is a mean of up to a second */
    bool nvlinks_known; /* how many are active and inactive; of each link only where it is known */
    unsigned nvlinks_active, nvlinks_inactive;
    struct xb_nvlink nvlinks[XB_NVLINKS]; /* by their numbers */
};

/* Parts of a device's health, which may be read one by one: times are those of an H100. */
enum xb_health_part {
    XB_HEALTH_COUNTERS = 1, /* replays and counts; 2 ms */
    XB_HEALTH_TRAFFIC = 2,  /* and of the counts retrains alone; 0.4 ms */
    XB_HEALTH_CLOCKS = 4,   /* and what slows them; 5 ms */
    XB_HEALTH_NVLINKS = 8,  /* up to 15 ms */
    XB_HEALTH_ALL = 15,     /* and not */
    XB_HEALTH_POWER = 16    /* and temperature */
};

enum xb_switch { XB_SWITCH_UNKNOWN, XB_SWITCH_ON, XB_SWITCH_OFF };

/* What a vendor's management library says of how a device is built and set. It stays the same while
 * a test runs. Every text is "" where unknown. */
struct xb_device_setup {
    bool known;      /* the library knows the device; else all is unknown */
    char serial[32]; /* of the board */
    char vbios[32];  /* version of its firmware */
    enum xb_switch ecc;
    enum xb_switch confidential; /* confidential computing: copies are encrypted */
    char confidential_mode[24];  /* of several GPUs: "protected PCIe", "encrypted NVLink" */
    char virtualisation[16];     /* "none", "pass-through", "vGPU", "vGPU host" */
};

struct xb_backend;
struct xb_kernels;

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

/* Copies between two buffers, made ready to be enqueued again and again. */
struct xb_pieces {
    struct xb_device *device;
    struct xb_buffer *target, *source;
    size_t count;
    uint64_t bytes; /* of all pieces together */
};

/* Copies captured from a queue. */
struct xb_graph {
    struct xb_device *device;
};

/* A file that a device reads by itself. */
struct xb_file {
    struct xb_device *device;
};

/* Which way such reads went. */
struct xb_file_way {
    bool is_direct; /* from the storage to the device's memory, past the host's */
    char how[160]; /* "cuFile 1.15, compatibility mode: through the host's memory (no nvidia-fs)" */
};

/* Rows of equal length in one buffer: the first byte, and how far apart they begin. */
struct xb_rows {
    struct xb_buffer *buffer;
    uint64_t offset, pitch;
};

/* An encoded chunk and where it is restored. Offsets are multiples of XB_FORMAT_ALIGNMENT. */
struct xb_decoding {
    enum xb_format format;
    struct xb_buffer *target;
    uint64_t target_offset, bytes; /* of the original; of a lossy format a multiple of 4 */
    struct xb_buffer *source;
    uint64_t source_offset, source_bytes;
    struct xb_buffer *report; /* begins with a struct xb_decode_report, to which is added */
};

struct xb_backend {
    uint32_t abi;        /* XB_BACKEND_ABI */
    const char *name;    /* "cuda": what --backend takes */
    const char *summary; /* one line for people */
    bool automatic;      /* whether --backend auto may take it */
    /* For those slots of kernels that src/backends/slots.h has; NULL where they are not used. */
    const struct xb_kernels *kernels;

    /* ---- driver ---- */

    /* Looks for the runtime, its driver and devices; creates no context. Always fills *probe.
     * XB_ERR_UNAVAILABLE where the backend cannot run here; the checks tell why. Must be fast
     * (wakes no device that is not there) and must not print. */
    enum xb_status (*driver_open)(struct xb_driver **driver, struct xb_probe *probe,
                                  struct xb_error *error);
    void (*driver_close)(struct xb_driver *driver);
    /* Describes device `index`; fails for one from probe.device_count on. Creates no context. */
    enum xb_status (*device_info)(struct xb_driver *driver, unsigned index,
                                  struct xb_device_info *info, struct xb_error *error);

    /* Reads `parts` (enum xb_health_part) of what the vendor's management library knows of device
     * `index`, and leaves the rest unknown. Creates no context; any thread may call it. NULL where
     * a backend has no such library. */
    void (*device_health)(struct xb_driver *driver, unsigned index, unsigned parts,
                          struct xb_device_health *health);
    /* Reads how the device is built and set, from the same library. Milliseconds. */
    void (*device_setup)(struct xb_driver *driver, unsigned index, struct xb_device_setup *setup);

    /* ---- device ---- */

    /* Opens device `index`: creates its context and loads every kernel, because loading one behind
     * a held queue would deadlock. May take hundreds of milliseconds: different devices may be
     * opened at once, each by a thread that does not use it further. It may lose capabilities and
     * gain facts: (*device)->info counts from here on. */
    enum xb_status (*device_open)(struct xb_driver *driver, unsigned index,
                                  struct xb_device **device, struct xb_error *error);
    void (*device_close)(struct xb_device *device);
    /* Reads how many bytes of device memory are free now. */
    enum xb_status (*device_memory)(struct xb_device *device, uint64_t *free_bytes,
                                    struct xb_error *error);

    /* ---- buffer ---- */

    /* Allocates `bytes` > 0 of DEVICE, PAGEABLE, PINNED or, with its capability, other memory,
     * aligned to a page or better. Touches every page of host memory (not MANAGED) under the
     * calling thread's memory policy. The content is undefined. XB_ERR_MEMORY when there is not
     * enough, and for MANAGED memory when it is more than half of what the device has free;
     * XB_ERR_UNSUPPORTED for a kind that the device lacks. Blocks. */
    enum xb_status (*buffer_allocate)(struct xb_device *device, enum xb_memory memory,
                                      uint64_t bytes, struct xb_buffer **buffer,
                                      struct xb_error *error);
    /* Page-locks the caller's host memory, which keeps its data: `bytes` > 0 from an address on a
     * page of 4 KiB, all of it mapped, none of it locked by such a buffer already. The caller has
     * made sure that the machine has memory to spare. The buffer is REGISTERED memory; buffer_free
     * unlocks the memory and leaves it, and it must outlive the buffer. XB_ERR_USAGE for another
     * address. Blocks. XB_CAP_REGISTER. */
    enum xb_status (*buffer_register)(struct xb_device *device, void *address, uint64_t bytes,
                                      struct xb_buffer **buffer, struct xb_error *error);
    /* Replaces the advice on a MANAGED buffer; XB_ERR_USAGE for any other. After a failure the
     * advice in force is undefined. XB_CAP_MANAGED. */
    enum xb_status (*buffer_advise)(struct xb_buffer *buffer, enum xb_advice advice,
                                    struct xb_error *error);
    /* The buffer must not be in use by a queue. */
    void (*buffer_free)(struct xb_buffer *buffer);

    /* ---- queue: operations run in the order in which they were enqueued ---- */

    enum xb_status (*queue_open)(struct xb_device *device, struct xb_queue **queue,
                                 struct xb_error *error);
    /* Opens a queue whose copies are the runtime's synchronous calls, such as cudaMemcpy:
     * queue_copy returns when that does. From pageable memory it may do so before the last byte is
     * there: queue_wait tells. They wait for nothing that was enqueued before, nor does what is
     * enqueued next wait for them, unless queue_wait comes between. So no event tells when they
     * were made. It is never held. */
    enum xb_status (*queue_open_blocking)(struct xb_device *device, struct xb_queue **queue,
                                          struct xb_error *error);
    /* Allocates `bytes` > 0 of DEVICE memory from the runtime's pool, in the order of the queue, as
     * buffer_free gives it back while the queue is open; the pool keeps it until queue_close. The
     * content is undefined. XB_ERR_MEMORY when there is not enough. XB_CAP_POOL. */
    enum xb_status (*queue_allocate)(struct xb_queue *queue, uint64_t bytes,
                                     struct xb_buffer **buffer, struct xb_error *error);
    /* Releases a held queue, waits for what is enqueued, then closes. */
    void (*queue_close)(struct xb_queue *queue);
    /* Enqueues a copy of `bytes` from source+source_offset to target+target_offset: between DEVICE
     * memory of the queue's device and host memory (not MANAGED), or within the device's memory, in
     * ranges that do not overlap. Returns when the runtime does: for pageable memory perhaps only
     * when the data is moved, for any other at once. XB_ERR_USAGE for other memory, and when a
     * range leaves its buffer. */
    enum xb_status (*queue_copy)(struct xb_queue *queue, struct xb_buffer *target,
                                 uint64_t target_offset, struct xb_buffer *source,
                                 uint64_t source_offset, uint64_t bytes, struct xb_error *error);
    /* Enqueues a kernel that writes bytes [0, bytes) of the pattern, without its steps, to the
     * start of a DEVICE or MANAGED buffer. */
    enum xb_status (*queue_fill)(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                 struct xb_pattern pattern, struct xb_error *error);
    /* Compares the first `bytes` of a DEVICE or MANAGED buffer with the pattern, without its steps,
     * on the device, after what is enqueued. Blocks. *mismatch gets the outcome: data that differs
     * is not an error of this call. */
    enum xb_status (*queue_check)(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                  struct xb_pattern pattern, struct xb_mismatch *mismatch,
                                  struct xb_error *error);
    /*
     * Enqueues a kernel that copies `bytes`, so that the device's cores move them and not its copy
     * engines: every 8-byte word once, in the order of `access`, then the bytes behind the last
     * whole word. Takes DEVICE or MANAGED memory of the queue's device, MAPPED memory of any, and
     * DEVICE memory of another to which the queue's device has access (peer_open): without that its
     * context may end. Offsets are multiples of 8. XB_ERR_USAGE otherwise. `together` > 0: how many
     * such kernels are to run at once, each on its own queue of the device. This one takes only its
     * part of the cores: one that takes all keeps the others waiting. XB_CAP_KERNELS, and for
     * XB_ACCESS_BULK XB_CAP_BULK: an engine of the processors (NVIDIA's TMA) moves all that begins
     * at a multiple of 16 bytes on both sides, and threads the rest.
     */
    enum xb_status (*queue_kernel_copy)(struct xb_queue *queue, struct xb_buffer *target,
                                        uint64_t target_offset, struct xb_buffer *source,
                                        uint64_t source_offset, uint64_t bytes,
                                        enum xb_access access, unsigned together,
                                        struct xb_error *error);
    /* Enqueues a kernel that applies xb_compute_step (pattern.h) `steps` times, in place, to every
     * whole word of [offset, offset + bytes) of DEVICE, MANAGED or MAPPED memory of the queue's
     * device. The offset is a multiple of 8. XB_CAP_KERNELS. */
    enum xb_status (*queue_compute)(struct xb_queue *queue, struct xb_buffer *buffer,
                                    uint64_t offset, uint64_t bytes, uint64_t steps,
                                    struct xb_error *error);
    /* Writes a chain (access.h) through the whole lines of the first `bytes` of a buffer, with the
     * addresses that kernels load from. Enqueues a kernel for DEVICE memory of the queue's device.
     * The calling thread writes MAPPED memory at once, because a program's data there comes from
     * the CPU too: no queue may be using it. XB_ERR_USAGE for other memory, and where there is no
     * whole line. XB_CAP_KERNELS. */
    enum xb_status (*queue_chain)(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                  enum xb_access access, struct xb_error *error);
    /*
     * Enqueues a kernel in which one thread follows a chain for `loads` loads, each waiting for the
     * one before. It begins at the offset in `chain` that the first word of `cursor` holds, and
     * leaves there where it has come to. The chain is in DEVICE or MAPPED memory of the queue's
     * device, or in DEVICE memory of another to which that one has access (peer_open); `cursor` is
     * DEVICE memory of the queue's device. `turn` chooses the processor that runs the thread, where
     * the device lets choose: some are farther from memory. XB_ERR_USAGE for other memory. What is
     * no chain may end the device's context. `bulk`: each load is a copy of a line by the engine of
     * XB_ACCESS_BULK. XB_CAP_KERNELS, and with `bulk` XB_CAP_BULK.
     */
    enum xb_status (*queue_chase)(struct xb_queue *queue, struct xb_buffer *chain,
                                  struct xb_buffer *cursor, uint64_t loads, unsigned turn,
                                  bool bulk, struct xb_error *error);
    /* Enqueues moving the first `bytes` of a MANAGED buffer to the queue's device or to the host.
     * XB_CAP_MANAGED. */
    enum xb_status (*queue_prefetch)(struct xb_queue *queue, struct xb_buffer *buffer,
                                     uint64_t bytes, bool to_device, struct xb_error *error);
    /* Holds the queue: what is enqueued next does not start until queue_release. Never enqueue a
     * copy of pageable memory behind a hold: the call may wait for the copy, which waits for the
     * release. A hold that is never released must end after some seconds, and queue_wait then
     * fails, so that no time measured behind it counts. XB_CAP_HOLD. */
    enum xb_status (*queue_hold)(struct xb_queue *queue, struct xb_error *error);
    /* Releases a held queue; does nothing to one that is not held. Does not block. XB_CAP_HOLD. */
    void (*queue_release)(struct xb_queue *queue);
    /* Makes what is enqueued from now on wait, on the device, for the latest record of an event,
     * which may be another device's. */
    enum xb_status (*queue_wait_event)(struct xb_queue *queue, struct xb_event *event,
                                       struct xb_error *error);
    /* Blocks until everything enqueued is done; reports any failure of it. */
    enum xb_status (*queue_wait)(struct xb_queue *queue, struct xb_error *error);

    /* ---- event: a point in a queue, with the device's own time stamp ---- */

    enum xb_status (*event_open)(struct xb_device *device, struct xb_event **event,
                                 struct xb_error *error);
    void (*event_close)(struct xb_event *event);
    /* Enqueues recording the event on a queue of its device; a second record replaces the first. */
    enum xb_status (*event_record)(struct xb_event *event, struct xb_queue *queue,
                                   struct xb_error *error);
    /* Blocks until the latest record of the event is reached; returns at once if there is none. May
     * report a failure of what stands before it. */
    enum xb_status (*event_wait)(struct xb_event *event, struct xb_error *error);
    /* Reads the seconds from `start` to `stop`, both recorded and reached (queue_wait; else it
     * fails) on any queues of one device. Negative where `stop` was reached first. Resolution: cuda
     * about 0.5 us (cudaEventElapsedTime in the CUDA Runtime API), host that of CLOCK_MONOTONIC. */
    enum xb_status (*event_elapsed)(struct xb_event *start, struct xb_event *stop, double *seconds,
                                    struct xb_error *error);

    /* ---- many copies at once ---- */

    /*
     * Makes a list of copies ready: in the form that the runtime wants and, where the device has
     * kernels, in its memory. The buffers are memory that queue_copy or queue_kernel_copy takes,
     * and outlive the list; `pieces` is not needed afterwards. XB_ERR_USAGE where there are none,
     * where one is empty, leaves its buffer or overlaps itself in a common one, and where they are
     * more bytes than a buffer has. Blocks. NULL, with pieces_close, in a backend without
     * XB_CAP_BATCH, XB_CAP_KERNELS and XB_CAP_GRAPH.
     */
    enum xb_status (*pieces_open)(struct xb_device *device, struct xb_buffer *target,
                                  struct xb_buffer *source, const struct xb_piece *pieces,
                                  size_t count, struct xb_pieces **list, struct xb_error *error);
    /* No queue may be using the list. */
    void (*pieces_close)(struct xb_pieces *list);
    /* Enqueues all the copies by as few calls of the runtime as it takes, each as queue_copy would
     * make it. They may run in any order, and may read a source on the host before earlier work of
     * the queue is done. Never behind a hold, nor queue_graph: the call may wait until there is
     * room for all copies (seen with CUDA 13.0 on an H200, 2000 pieces). XB_CAP_BATCH. */
    enum xb_status (*queue_copy_pieces)(struct xb_queue *queue, struct xb_pieces *list,
                                        struct xb_error *error);
    /* Enqueues a kernel that copies all the pieces, between buffers that queue_kernel_copy takes,
     * at any offsets. `blocks`: how many thread blocks, each of up to 1024 threads, which is about
     * a multiprocessor each; 0: as many as the device has room for. `bulk`: the engine of
     * XB_ACCESS_BULK moves what it can. XB_CAP_KERNELS, and with `bulk` XB_CAP_BULK. */
    enum xb_status (*queue_kernel_pieces)(struct xb_queue *queue, struct xb_pieces *list,
                                          unsigned blocks, bool bulk, struct xb_error *error);
    /* Captures one copy a piece, in order, into a graph that can be enqueued again and again, and
     * outlives the list. Nothing may be enqueued on the queue meanwhile. Blocks, for milliseconds a
     * thousand pieces. XB_CAP_GRAPH. */
    enum xb_status (*graph_open)(struct xb_queue *queue, struct xb_pieces *list,
                                 struct xb_graph **graph, struct xb_error *error);
    /* No queue may be running the graph. */
    void (*graph_close)(struct xb_graph *graph);
    enum xb_status (*queue_graph)(struct xb_queue *queue, struct xb_graph *graph,
                                  struct xb_error *error);
    /* Enqueues one copy of `count` rows of `bytes` each, by the rules of queue_copy. No pitch is
     * less than `bytes`. XB_ERR_UNSUPPORTED where the device takes no such pitch. XB_CAP_ROWS. */
    enum xb_status (*queue_copy_rows)(struct xb_queue *queue, struct xb_rows target,
                                      struct xb_rows source, uint64_t bytes, uint64_t count,
                                      struct xb_error *error);

    /* ---- what was made smaller ---- */

    /* Enqueues a kernel that restores an encoded chunk (docs/formats.md) in buffers that kernels of
     * the queue's device reach. Reads nothing outside source_bytes and writes nothing outside
     * `bytes` of the target and the report, whatever the encoded bytes are. XB_ERR_USAGE for other
     * memory, ranges or offsets, and where a lossy chunk has another length than it must.
     * XB_CAP_KERNELS. */
    enum xb_status (*queue_decode)(struct xb_queue *queue, const struct xb_decoding *decoding,
                                   struct xb_error *error);

    /* Enqueues a kernel that writes the digest (xb_digest_word in pattern.h) of [offset, offset +
     * bytes) of a DEVICE buffer to the 8 bytes at target_offset of another, or of the same outside
     * that range. Offsets are multiples of 8; zeros fill up the last word. `plain`: the sum of the
     * words themselves, which takes hardly more than reading them. Behind a hold it counts as two
     * operations. XB_CAP_KERNELS. */
    enum xb_status (*queue_digest)(struct xb_queue *queue, struct xb_buffer *buffer,
                                   uint64_t offset, uint64_t bytes, bool plain,
                                   struct xb_buffer *target, uint64_t target_offset,
                                   struct xb_error *error);
    /* Enqueues a kernel that writes first, first + 1 and so on to the whole words of the first
     * `bytes` of a DEVICE buffer, which takes hardly more than writing them. XB_CAP_KERNELS. */
    enum xb_status (*queue_count)(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                  uint64_t first, struct xb_error *error);

    /* ---- files that the runtime reads. NULL, all four, without XB_CAP_FILE ---- */

    /* Makes an open file ready. The caller opened `descriptor` with O_DIRECT, owns it and keeps it
     * open as long as the file. The file has a name: a runtime may open it again by that.
     * XB_ERR_UNSUPPORTED where this runtime refuses such a file. Blocks. */
    enum xb_status (*file_open)(struct xb_device *device, int descriptor, struct xb_file **file,
                                struct xb_error *error);
    /* No read may be under way. */
    void (*file_close)(struct xb_file *file);
    /* Reads [file_offset, file_offset + bytes) to buffer+offset, DEVICE memory. Blocks until all of
     * it is there; several threads may read at once. XB_ERR_RUNTIME also where the file ends
     * before. XB_ERR_USAGE for other memory, and when the range leaves its buffer. */
    enum xb_status (*file_read)(struct xb_file *file, uint64_t file_offset,
                                struct xb_buffer *buffer, uint64_t offset, uint64_t bytes,
                                struct xb_error *error);
    /* Says which way the reads so far went, as the runtime or the kernel's driver counts them, else
     * from how they are set up; `how` says which. */
    enum xb_status (*file_way)(struct xb_file *file, struct xb_file_way *way,
                               struct xb_error *error);

    /* ---- peers: two devices of one driver. NULL, all four, where a backend has none ---- */

    /* Reads what device `index` can do with the memory of another, `other`. Creates no context.
     * XB_ERR_UNSUPPORTED where the runtime that is there has no peers. */
    enum xb_status (*peer_info)(struct xb_driver *driver, unsigned index, unsigned other,
                                struct xb_peer_info *info, struct xb_error *error);
    /* Lets `device` reach the memory of `other` directly, until peer_close; doing so twice is once.
     * While no direction is open a copy between the two arrives all the same, by whatever way the
     * runtime knows. */
    enum xb_status (*peer_open)(struct xb_device *device, struct xb_device *other,
                                struct xb_error *error);
    void (*peer_close)(struct xb_device *device, struct xb_device *other);
    /* Enqueues a copy between DEVICE buffers of two devices, one of them the queue's. As far as is
     * known its copy engines make it. */
    enum xb_status (*queue_copy_peer)(struct xb_queue *queue, struct xb_buffer *target,
                                      uint64_t target_offset, struct xb_buffer *source,
                                      uint64_t source_offset, uint64_t bytes,
                                      struct xb_error *error);

    /* ---- profiler: calls cost next to nothing without one. NULL, all three, where a backend has
     * none ---- */

    /* A named range on the calling thread. */
    void (*range_push)(const char *name);
    void (*range_pop)(void);
    /* Has a waiting profiler collect from here on, or no longer. Ignores what it answers. */
    void (*profiler_collect)(bool on);
};

/* Returns why the device lacks a capability (one bit); "" where that is not told. */
const char *xb_device_lacks(const struct xb_device_info *info, uint32_t capability);

/* Takes capabilities from a device, and notes why it has none of them. */
void xb_device_withhold(struct xb_device_info *info, uint32_t capabilities, const char *reason);

/* Adds the fact whether kernels reach ordinary host memory, and how, and XB_CAP_PAGEABLE. */
void xb_device_tells_access(struct xb_device_info *info, bool reaches, bool by_host_tables);
/* Adds a fact; one past the array's end is a bug: it aborts in a debug build, else is dropped. */
void xb_device_fact(struct xb_device_info *info, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "device", "pageable", "pinned", "registered", "write-combined", "mapped", "managed". */
const char *xb_memory_name(enum xb_memory memory);

/* Whether the device's kernels may touch such memory: DEVICE, MAPPED and MANAGED, and PAGEABLE with
 * its capability. */
bool xb_memory_in_reach(enum xb_memory memory, const struct xb_device *device);

/* For backends: the CPU writes a chain through `memory`, with the addresses of `seen`, where those
 * that follow it see the same memory. */
void xb_chain_write(void *memory, void *seen, uint64_t bytes, enum xb_access access);
