/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/*
 * A library with the functions of libnvidia-ml.so.1 that we call, and its name. It knows every PCI
 * address it is asked for, up to FAKE_NVML_DEVICES of them: a device of 18 NVLinks that lead to a
 * switch. A test opens it by its path before our code looks for the library, and changes what it
 * tells in the variable `fake_nvml`. It also stands in for the real one on a machine with GPUs:
 *
 *     LD_LIBRARY_PATH=build/tests/fake_nvml XFERBENCH_FAKE_NVML=recoveries xferbench link
 *
 * XFERBENCH_FAKE_NVML is one of: replays, recoveries, crc-errors, falls (a link goes down),
 * inactive (it is down from the beginning): they concern link 4 of the first device that the
 * library was asked for. Or fast-links: all links of all devices are a hundred times as fast, so
 * that copies between devices seem slow. Or confidential: computing is. Nothing or anything else:
 * healthy.
 */

/* The counters of nvmlNvLinkErrorCounter_t in its order, and one that only Blackwell has. */
enum fake_nvml_counter {
    FAKE_NVML_REPLAY,
    FAKE_NVML_RECOVERY,
    FAKE_NVML_CRC_FLIT,
    FAKE_NVML_CRC_DATA, /* these two rise on healthy links */
    FAKE_NVML_ECC_DATA,
    FAKE_NVML_FAILED_RECOVERY
};
#define FAKE_NVML_COUNTERS 6

struct fake_nvml_link {
    bool missing;  /* the library has no such link */
    bool inactive; /* the link is down */
    bool falls;    /* it goes down when its recoveries have been read once */
    unsigned long long counts[FAKE_NVML_COUNTERS];
    unsigned long long rises[FAKE_NVML_COUNTERS]; /* by so much after each time it is read */
};

/* How the library tells what it counts. */
enum fake_nvml_kind {
    FAKE_NVML_HOPPER,    /* by fields and by the function */
    FAKE_NVML_BLACKWELL, /* recoveries alone, by other fields */
    FAKE_NVML_OLD_DRIVER /* by the function alone; all links have one rate */
};

#define FAKE_NVML_DEVICES 8
#define FAKE_NVML_LINKS 18
#define FAKE_NVML_MEGABYTES 26562 /* per second each way */

struct fake_nvml {
    enum fake_nvml_kind kind;
    bool no_nvlink;    /* between any two devices */
    bool fast_links;   /* a hundred times FAKE_NVML_MEGABYTES */
    bool confidential; /* computing is on */
    bool no_pcie;      /* no counters of PCIe, as before Hopper. Else each has its field's number */
    struct fake_nvml_link links[FAKE_NVML_DEVICES][FAKE_NVML_LINKS];
};
