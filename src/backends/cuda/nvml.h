/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_BACKENDS_CUDA_NVML_H
#define XFERBENCH_BACKENDS_CUDA_NVML_H

#include "xferbench/backend.h"

/*
 * NVIDIA's management library, for facts that the CUDA runtime does not tell. It comes with the
 * driver and is opened at run time. If it or one of its functions is missing, only the fields that
 * it would fill stay empty. Types and numbers are from its public interface (NVML API Reference
 * Guide). They are declared here because a toolkit may come without its header.
 */

#define XB_NVML_SUCCESS 0

typedef struct xb_nvml_device_opaque *xb_nvml_device; /* nvmlDevice_t */

/* nvmlPciInfo_t */
struct xb_nvml_pci {
    char legacy_bus_id[16];
    unsigned domain, bus, device;
    unsigned device_id, subsystem_id;
    char bus_id[32];
};

/* Types of a field's value: nvmlValueType_t. */
enum xb_nvml_type {
    XB_NVML_DOUBLE,
    XB_NVML_UNSIGNED,
    XB_NVML_UNSIGNED_LONG,
    XB_NVML_UNSIGNED_LONG_LONG,
    XB_NVML_SIGNED_LONG_LONG
};

/* nvmlFieldValue_t: the caller sets `field` and `scope`, the library the rest. */
struct xb_nvml_field {
    unsigned field;
    unsigned scope; /* the number of the link, for fields of a link */
    long long timestamp, latency;
    int type;   /* enum xb_nvml_type */
    int result; /* XB_NVML_SUCCESS if there is a value */
    union {
        double as_double;
        unsigned as_unsigned;
        unsigned long as_unsigned_long;
        unsigned long long as_unsigned_long_long;
        long long as_signed_long_long;
    } value;
};

/* The library's functions. A function that this driver's library lacks is NULL. */
struct xb_nvml {
    int (*init)(void);
    int (*device_by_bus_id)(const char *bus_id, xb_nvml_device *device);
    int (*pci_info)(xb_nvml_device device, struct xb_nvml_pci *pci);
    int (*p2p_status)(xb_nvml_device device, xb_nvml_device other, int capability, int *status);
    int (*link_state)(xb_nvml_device device, unsigned link, int *active);
    int (*link_remote_type)(xb_nvml_device device, unsigned link, int *type);
    int (*link_remote_pci)(xb_nvml_device device, unsigned link, struct xb_nvml_pci *pci);
    int (*field_values)(xb_nvml_device device, int count, struct xb_nvml_field *fields);
    int (*pcie_replays)(xb_nvml_device device, unsigned *count);
    int (*clock)(xb_nvml_device device, int type, unsigned *megahertz);
    int (*best_clock)(xb_nvml_device device, int type, unsigned *megahertz);
    int (*throttle_reasons)(xb_nvml_device device, unsigned long long *reasons);
    int (*link_errors)(xb_nvml_device device, unsigned link, int counter,
                       unsigned long long *count);
};

/* Returns the library, or NULL if there is none that works. The first call opens and initialises
 * it; it stays open as long as the process lives. Any thread may call this. */
const struct xb_nvml *xb_nvml_get(void);

/* Finds the device at a PCI address such as "0000:0f:00.0". Returns false if it is unknown. */
bool xb_nvml_find(const char *bus_id, xb_nvml_device *device);

/* Reads a field's value. Returns false if there is none. */
bool xb_nvml_number(xb_nvml_device device, unsigned field, unsigned scope, double *value);

/* nvml_health.c: reads the parts (enum xb_health_part) of the state of the device at a PCI address,
 * as far as the library tells them. */
void xb_nvml_health(const char *bus_id, unsigned parts, struct xb_device_health *health);

/* nvml_nvlink.c: reads the links of a device into *health, where all about them is unknown yet. */
void xb_nvml_read_nvlinks(xb_nvml_device device, struct xb_device_health *health);

/*
 * nvml_nvlink.c: returns whether the library knows if NVLink connects the devices at two PCI
 * addresses. If NVLink does, fills link, and if possible links (those of the first device) and
 * link_rate; otherwise does not change *info.
 */
bool xb_nvml_describe_pair(const char *bus_id, const char *other_bus_id, struct xb_peer_info *info);

#endif
