/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"

#include <stdbool.h>

/* Reads a file of `folder`, such as one of sysfs's, as text, cut after size - 1 bytes. False if it
 * cannot be read (errno: why it could not be opened; 0: it could), and if it is empty. */
bool xb_sysfs_text(const char *folder, const char *name, char *text, size_t size);

/* The value in the first line that is "NAME VALUE", "NAME: VALUE" or "NAME=VALUE", with what stands
 * behind it; of the name "" that in the first line. NULL: no line has that name. */
const char *xb_line_value(const char *text, const char *name);

/* Where Linux shows PCI devices. */
#define XB_PCI_DEVICES "/sys/bus/pci/devices"

/* A PCIe link as Linux shows it for one device (Documentation/ABI/testing/sysfs-bus-pci). An idle
 * GPU trains its link down, so a reading is meaningful only right after data moved. */
struct xb_pcie_link {
    bool known;       /* all four numbers were read; if false, those that were not are 0 */
    double speed_gts; /* 10^9 transfers per second on each lane */
    unsigned width;   /* lanes */
    double max_speed_gts;
    unsigned max_width;
    char port[16]; /* BDF of the function whose link this is (see below); "" if not known */
};

/* Reads the link of the device at `bdf` ("0000:0f:00.0") under `root`, which is XB_PCI_DEVICES
 * except in tests. Cards from AMD have a switch on the package, to which alone the GPU's own link
 * leads: of those this reads the link of the switch's port that faces the slot, and never the inner
 * one instead. */
struct xb_pcie_link xb_pcie_link_read(const char *root, const char *bdf);

/* Rate of a lane and number of lanes; 0 where it is not known. */
struct xb_lanes {
    double speed_gts;
    unsigned width;
};

/* Generation 1 to 6 for 2.5, 5, 8, 16, 32, 64 GT/s; 0 for any other rate. */
unsigned xb_pcie_generation(double speed_gts);

/* A PCIe link as "Gen5 x16"; "12 GT/s x16" for a rate of no generation. `text` holds 32. */
const char *xb_lanes_text(double speed_gts, unsigned width, char *text, size_t size);
#define XB_LANES_TEXT(speed_gts, width) xb_lanes_text((speed_gts), (width), (char[32]){0}, 32)

/* Bytes per second in one direction after line coding. 0 for 64 GT/s, because published tables
 * disagree about its FLIT overhead, and for a rate that no generation has. */
double xb_pcie_raw_rate(double speed_gts, unsigned width);

/* The same, also of 64 GT/s and of a rate that no generation has, by the bytes of packets in a
 * FLIT: it tells which of two links carries less, and nothing else. */
double xb_pcie_rate_to_compare(struct xb_lanes lanes);

/* The NUMA node that sysfs names for the device at `bdf`, or -1 if it names none. */
int xb_pcie_numa_node(const char *bdf);
int xb_pcie_numa_node_at(const char *root, const char *bdf); /* for tests, as above */

/* What is between a device and the root complex, as sysfs shows it (sysfs-bus-pci too, and
 * sysfs-bus-pci-devices-aer): a chain of links, each with a function at both ends. The wiring
 * inside a switch is not a link. */

#define XB_PCIE_HOPS 8

/* Errors since boot, summed over all kinds of a class (TOTAL_ERR_* in aer_dev_*). */
struct xb_pcie_aer {
    bool known;
    uint64_t correctable, nonfatal, fatal;
};

/* Settings in the function's configuration space, sizes in bytes. PCI Express Base Specification
 * 5.0, 7.5.3 (PCI Express capability) and 7.7.8 (ACS). */
struct xb_pcie_control {
    bool known;                     /* every size was read, and none is a reserved code */
    unsigned max_payload;           /* in force */
    unsigned max_payload_supported; /* the largest that the function supports */
    unsigned max_read_request;      /* in force */
    bool has_acs;                   /* also false if only the first 256 bytes could be read */
    bool acs_redirects; /* P2P requests or completions go up to the root, which slows peer copies */
    int aspm;           /* power saving of the link: 1 L0s, 2 L1, 3 both, 0 off; -1 if not known */
};

/* Parses the file `config` in the function's folder. Linux shows root 4096 bytes of it, or 256 if
 * the function has no extended space, and everybody else 64. No offset in them is trusted. Reads
 * only the bytes it needs: some devices crash if all are read (lspci(8), -xxx). */
struct xb_pcie_control xb_pcie_control_read(const char *folder);

/* Red Hat's number, which QEMU gives to the ports that it emulates. */
#define XB_VENDOR_QEMU 0x1b36u

/* One end of a link. */
struct xb_pcie_end {
    char bdf[16];
    unsigned vendor;          /* 0 if not known */
    struct xb_pcie_link link; /* as this function shows it; link.port is its BDF if known */
    int numa_node;            /* -1 if sysfs names none */
    struct xb_pcie_aer aer;
    struct xb_pcie_control control;
    char aspm[12]; /* in force: "off", "L0s", "L1", "L0s and L1"; "" if not known */
};

/* One link: `lower` is the end that is nearer to the device. */
struct xb_pcie_hop {
    struct xb_pcie_end lower, upper;
    bool has_upper;  /* false if the device has no bridge above it, as in virtual machines */
    bool on_package; /* inside an AMD package, so its rate says nothing about the slot */
};

struct xb_pcie_path {
    bool present; /* false if sysfs has no such device, or no longer */
    bool dead;    /* it fell off the bus: sysfs has it, but its configuration space reads as ones */
    struct xb_pcie_hop hops[XB_PCIE_HOPS]; /* hops[0] is the device's own link */
    size_t count;                          /* 1 or more if present */
    int numa_node;                         /* the device's; -1 if sysfs names none */
    char local_cpus[512];                  /* "0-15,64-79"; "" if not known or too long */
    int iommu_group;                       /* -1 if there is none */
    char iommu_type[16];                   /* "DMA", "DMA-FQ", "identity"; "" if not known */
    uint64_t largest_bar;                  /* bytes of the device's memory, or registers, that the
                                              CPU can address at once; 0 if not known */
};

/* Walks from the device at `bdf` up to its root port and reads everything that sysfs shows under
 * `root`, which is XB_PCI_DEVICES except in tests; XB_PCIE_HOPS hops at most. Takes some
 * milliseconds; allocates nothing. What is no BDF, such as "", is not present. */
void xb_pcie_path_read(const char *root, const char *bdf, struct xb_pcie_path *path);

/* Whether the hop's upper end is hardware. Ports that QEMU emulates show no real speed. */
bool xb_pcie_hop_upper_is_real(const struct xb_pcie_hop *hop);

/* How many hops there are to look at: none if the device is not present. */
size_t xb_pcie_path_hops(const struct xb_pcie_path *path);

/* The first hop that is not on the card's own package: the slot's. The number of hops: none is. */
size_t xb_pcie_path_slot(const struct xb_pcie_path *path);

/* The ends of its hops, from the device up, two a hop; NULL where a hop has no upper end. */
const struct xb_pcie_end *xb_pcie_path_end(const struct xb_pcie_path *path, size_t index);

/* The sizes of packets in force on the whole path: the device's own read request, and the least
 * payload that any function on the way allows. `known` is the device's. */
struct xb_pcie_control xb_pcie_path_control(const struct xb_pcie_path *path);

/* The best that both ends of a hop can do, of speed and of width. If one end is not known, or the
 * upper one is not real, the other end's; 0 if neither is known. */
struct xb_lanes xb_pcie_hop_best(const struct xb_pcie_hop *hop);

/* ---- under load ---- */

/* Reads the speed and width that a hop has now at its lower end, or at the upper one if that shows
 * nothing: one may sleep or be hidden. `root` as above. False if neither shows both. */
bool xb_pcie_hop_read(const char *root, const struct xb_pcie_hop *hop, double *speed_gts,
                      unsigned *width);

/* What the watch saw on one hop. */
struct xb_pcie_seen {
    unsigned readings; /* those that had both speed and width */
    double speed_gts;  /* the highest; 0 without readings */
    unsigned width;    /* the highest */
    unsigned changes;  /* readings whose speed or width differs from the reading before */
    unsigned drops;    /* changes to a lower speed or width within one arming */
};

struct xb_pcie_load {
    struct xb_pcie_seen hops[XB_PCIE_HOPS]; /* in the order of the path that was watched */
    size_t count;
    bool gone; /* the device's folder vanished while it was watched */
};

struct xb_pcie_watch;

/* Starts a thread that reads speed and width of every hop of the path again and again
 * (xb_pcie_hop_read), with a pause of `interval` seconds (an hour at most), until
 * xb_pcie_watch_stop. Only readings that begin and end within one arming count: who arms the watch
 * during transfers sees the link under load. After each round it calls task->look(task->argument),
 * if there is one. The path is copied; root and argument live as long as the watch. No signal goes
 * to the thread. XB_ERR_SYSTEM. */
struct xb_pcie_watch_task {
    const char *root, *bdf;
    const struct xb_pcie_path *path;
    double interval;
    void (*look)(void *argument);
    void *argument;
};
enum xb_status xb_pcie_watch_start(const struct xb_pcie_watch_task *task,
                                   struct xb_pcie_watch **watch, struct xb_error *error);
/* Readings count from now on if `armed`, else no longer, as at first. Any thread may call this. */
void xb_pcie_watch_arm(struct xb_pcie_watch *watch, bool armed);
/* Waits for the current reading, copies what the watch saw to `load`, and releases it. */
void xb_pcie_watch_stop(struct xb_pcie_watch *watch, struct xb_pcie_load *load);

/* The most user data that a PCIe link can carry in one direction: docs/link-ceilings.md. */
struct xb_ceiling {
    bool known;   /* false if there is no link, or its rate is no generation's */
    bool derived; /* from the specification alone, as that of 64 GT/s: nobody has measured it */
    double speed_gts;
    unsigned width;
    double raw;            /* bytes per second after line coding */
    double h2d, d2h;       /* bytes of payload per second; 0 if not known */
    double most;           /* no payload exceeds this rate in either direction; 0 if not known */
    unsigned payload;      /* the MPS used here: bytes of payload in a packet */
    unsigned read_request; /* the MRRS used here: bytes in a read request */
    bool payload_assumed;  /* the device did not tell the MPS, so `payload` is assumed */
    bool read_request_assumed; /* the same for the MRRS */
};

/* The ceiling of a link. Where the device's `control` is NULL or not known, the usual sizes are
 * assumed: MPS 256, MRRS 512. */
struct xb_ceiling xb_ceiling_of(double speed_gts, unsigned width,
                                const struct xb_pcie_control *control);

/* The ceiling of a path: that of *hop, which is the one from the slot up that carried least under
 * load, with the packets in force on the whole path. Hops that were not seen are taken to carry
 * more. Not known if the link at the slot was not seen. */
struct xb_ceiling xb_ceiling_of_path(const struct xb_pcie_path *path,
                                     const struct xb_pcie_load *load, size_t *hop);
