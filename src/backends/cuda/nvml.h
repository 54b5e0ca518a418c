/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/backend.h"

/* NVIDIA's management library, for facts that the CUDA runtime does not tell. It comes with the
 * driver and is opened at run time; what it lacks stays empty. Types and numbers are from its
 * public interface (NVML API Reference Guide): a toolkit may come without its header. */

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

/* nvmlConfComputeSystemState_t, and nvmlSystemConfComputeSettings_v1_t, which has a version before
 * it and a mode behind it. */
struct xb_nvml_confidential {
    unsigned environment, feature, developer_tools;
};
struct xb_nvml_confidential_settings {
    unsigned version; /* the caller sets it: the structure's size, and 1 in the highest byte */
    struct xb_nvml_confidential state;
    unsigned multi_gpu;
};

/* The library's functions: the field, the function's name and its parameters. A function that this
 * driver's library lacks is NULL. */
#define XB_NVML_FUNCTIONS(X)                                                                       \
    X(init, nvmlInit_v2, (void))                                                                   \
    X(device_by_bus_id, nvmlDeviceGetHandleByPciBusId_v2,                                          \
      (const char *bus_id, xb_nvml_device *device))                                                \
    X(pci_info, nvmlDeviceGetPciInfo_v3, (xb_nvml_device device, struct xb_nvml_pci * pci))        \
    X(p2p_status, nvmlDeviceGetP2PStatus,                                                          \
      (xb_nvml_device device, xb_nvml_device other, int capability, int *status))                  \
    X(link_state, nvmlDeviceGetNvLinkState, (xb_nvml_device device, unsigned link, int *active))   \
    X(link_remote_type, nvmlDeviceGetNvLinkRemoteDeviceType,                                       \
      (xb_nvml_device device, unsigned link, int *type))                                           \
    X(link_remote_pci, nvmlDeviceGetNvLinkRemotePciInfo_v2,                                        \
      (xb_nvml_device device, unsigned link, struct xb_nvml_pci *pci))                             \
    X(field_values, nvmlDeviceGetFieldValues,                                                      \
      (xb_nvml_device device, int count, struct xb_nvml_field *fields))                            \
    X(pcie_replays, nvmlDeviceGetPcieReplayCounter, (xb_nvml_device device, unsigned *count))      \
    X(clock, nvmlDeviceGetClockInfo, (xb_nvml_device device, int type, unsigned *megahertz))       \
    X(best_clock, nvmlDeviceGetMaxClockInfo,                                                       \
      (xb_nvml_device device, int type, unsigned *megahertz))                                      \
    X(temperature, nvmlDeviceGetTemperature,                                                       \
      (xb_nvml_device device, int sensor, unsigned *celsius))                                      \
    X(power, nvmlDeviceGetPowerUsage, (xb_nvml_device device, unsigned *milliwatts))               \
    X(throttle_reasons, nvmlDeviceGetCurrentClocksThrottleReasons,                                 \
      (xb_nvml_device device, unsigned long long *reasons))                                        \
    X(link_errors, nvmlDeviceGetNvLinkErrorCounter,                                                \
      (xb_nvml_device device, unsigned link, int counter, unsigned long long *count))              \
    X(serial, nvmlDeviceGetSerial, (xb_nvml_device device, char *text, unsigned size))             \
    X(vbios, nvmlDeviceGetVbiosVersion, (xb_nvml_device device, char *text, unsigned size))        \
    X(ecc, nvmlDeviceGetEccMode, (xb_nvml_device device, int *current, int *pending))              \
    X(virtualisation, nvmlDeviceGetVirtualizationMode, (xb_nvml_device device, int *mode))         \
    X(confidential, nvmlSystemGetConfComputeState, (struct xb_nvml_confidential * state))          \
    X(confidential_settings, nvmlSystemGetConfComputeSettings,                                     \
      (struct xb_nvml_confidential_settings * settings))
struct xb_nvml {
/* NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define X(field, symbol, parameters) int(*field) parameters;
    XB_NVML_FUNCTIONS(X)
#undef X
};

/* Finds the device at a PCI address such as "0000:0f:00.0". Returns false if it is unknown, or if
 * no library works. The first call opens and initialises that for as long as the process lives. Any
 * thread. */
bool xb_nvml_find(const char *bus_id, xb_nvml_device *device);

/* Reads the parts (enum xb_health_part) of the state of the device at a PCI address,
 * as far as the library tells them. */
void xb_nvml_health(const char *bus_id, unsigned parts, struct xb_device_health *health);

/* Reads how that device is built and set, as far as the library tells it. */
void xb_nvml_setup(const char *bus_id, struct xb_device_setup *setup);

/* Returns whether the library knows if NVLink connects the devices at two PCI addresses. If it
 * does, fills link, and if possible links (of the first device) and link_rate; otherwise leaves
 * *info. */
bool xb_nvml_describe_pair(const char *bus_id, const char *other_bus_id, struct xb_peer_info *info);
