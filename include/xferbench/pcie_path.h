/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_PCIE_PATH_H
#define XFERBENCH_PCIE_PATH_H

#include "xferbench/error.h"
#include "xferbench/link.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Everything between a device and the root complex, as Linux shows it in sysfs
 * (Documentation/ABI/testing/sysfs-bus-pci, sysfs-bus-pci-devices-aer): a chain of links, each with
 * a function at either end. A switch has its inner wiring between two links, which is no link.
 */

#define XB_PCIE_HOPS 8

/* Errors counted since boot, of all kinds of a class together (TOTAL_ERR_* of aer_dev_*). */
struct xb_pcie_aer {
    bool known;
    uint64_t correctable, nonfatal, fatal;
};

/* From the function's configuration space, which only root may read past its 64th byte. PCI Express
 * Base Specification 5.0, 7.5.3 (PCI Express capability) and 7.7.8 (ACS). Sizes in bytes. */
struct xb_pcie_control {
    bool known;                     /* every size is: readable and none of the reserved codes */
    unsigned max_payload;           /* in force */
    unsigned max_payload_supported; /* what the function can do */
    unsigned max_read_request;      /* in force */
    bool has_acs;                   /* false also where only the first 256 bytes could be read */
    bool acs_redirects; /* P2P requests or completions are sent up to the root: peers suffer */
};

/* One end of a link. */
struct xb_pcie_end {
    char bdf[16];
    unsigned vendor;          /* 0 if not known */
    struct xb_pcie_link link; /* this function's own reading; link.port is its BDF if known */
    int numa_node;            /* -1 if none is named */
    struct xb_pcie_aer aer;
    struct xb_pcie_control control;
};

/* One link: `lower` is the end that is nearer to the device. */
struct xb_pcie_hop {
    struct xb_pcie_end lower, upper;
    bool has_upper;  /* false for a device without a bridge above it, as in virtual machines */
    bool on_package; /* between an AMD GPU and the switch on its package: says nothing of a slot */
};

struct xb_pcie_path {
    bool present; /* false: sysfs has no such device (any more) */
    bool dead;    /* its folder is there and its configuration space reads as ones: off the bus */
    struct xb_pcie_hop hops[XB_PCIE_HOPS]; /* [0] is the device's own */
    size_t count;                          /* 1 or more where present */
    int numa_node;                         /* the device's; -1 if none is named */
    char local_cpus[512];                  /* "0-15,64-79"; "" if not known or longer */
    int iommu_group;                       /* -1 if there is none */
};

/* Walks from the device at `bdf` to its root port, reading everything that can be read under
 * `root`, which is XB_PCI_DEVICES except in tests: hops beyond XB_PCIE_HOPS are left out. Takes
 * some milliseconds at most; allocates nothing. A `bdf` that is none, such as "", is not present.
 */
void xb_pcie_path_read(const char *root, const char *bdf, struct xb_pcie_path *path);

/* Whether the hop's upper end tells of hardware: the ports that QEMU emulates do not. */
bool xb_pcie_hop_upper_is_real(const struct xb_pcie_hop *hop);

/* What both ends of a hop can do: the lesser maximum of speed and of width. With one end alone, or
 * an upper one that is not real, that one's. 0 where neither is known. */
double xb_pcie_hop_best_speed(const struct xb_pcie_hop *hop);
unsigned xb_pcie_hop_best_width(const struct xb_pcie_hop *hop);

/* ---- under load ---- */

/* What a hop was seen to do while it was watched. */
struct xb_pcie_seen {
    unsigned readings; /* good ones, of both speed and width */
    double speed_gts;  /* the highest; 0 where there was no good reading */
    unsigned width;    /* the highest */
    unsigned changes;  /* from one such reading to the next, of speed or width: transitions */
    unsigned drops;    /* those of them that were to less, within one arming */
};

struct xb_pcie_load {
    struct xb_pcie_seen hops[XB_PCIE_HOPS]; /* as in the path that was watched */
    size_t count;
    bool gone; /* the device's folder vanished while it was watched */
};

struct xb_pcie_watch;

/*
 * Starts a thread that reads speed and width of every hop of the path, over and over with a pause
 * of `interval` seconds (an hour at most), until it is stopped. It reads the lower end of a hop,
 * and the upper one where that tells nothing. Only readings count that begin and end within one
 * arming of the watch (xb_pcie_watch_arm; it starts unarmed): that is how the transfers' time is
 * told from what is around them. `path` is copied. The thread takes no signals. XB_ERR_SYSTEM,
 * XB_ERR_MEMORY.
 */
XB_MUST_CHECK enum xb_status xb_pcie_watch_start(const char *root, const char *bdf,
                                                 const struct xb_pcie_path *path, double interval,
                                                 struct xb_pcie_watch **watch,
                                                 struct xb_error *error);
/* From now on readings count, or no longer. Any thread; does not block. */
void xb_pcie_watch_arm(struct xb_pcie_watch *watch, bool armed);
/* Stops and releases the watch, and tells what it saw. Waits for a reading in flight. */
void xb_pcie_watch_stop(struct xb_pcie_watch *watch, struct xb_pcie_load *load);

#endif
