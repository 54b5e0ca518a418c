/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* What the devices say of themselves, and which may touch whose memory. */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- devices ---- */

_Thread_local int standin_current;

static const char device_name[] = "xferbench CPU stand-in (not an AMD GPU)";

int standin_devices(void)
{
    int devices = standin_setting("XB_STANDIN_DEVICES", 2);
    if (devices < 0)
        return 0;
    return devices < STANDIN_DEVICES_AT_MOST ? devices : STANDIN_DEVICES_AT_MOST;
}

bool standin_is_device(int device)
{
    return device >= 0 && device < standin_devices();
}

/* With its features, as HIP gives it. */
static const char *architecture_name(void)
{
    const char *asked = getenv("XB_STANDIN_ARCH");
    if (asked != NULL)
        return asked;
    return standin_setting("XB_STANDIN_XNACK", 1) != 0 ? "gfx90a:sramecc+:xnack+"
                                                       : "gfx90a:sramecc+:xnack-";
}

void standin_architecture(char architecture[32])
{
    memset(architecture, 0, 32);
    const char *name = architecture_name();
    for (size_t i = 0; i < 31 && name[i] != '\0' && name[i] != ':'; i++)
        architecture[i] = name[i];
}

hipError_t hipRuntimeGetVersion(int *version)
{
    STANDIN_ENTER_ANYHOW(hipError_t, hipRuntimeGetVersion);
    *version = standin_setting("XB_STANDIN_VERSION", 990000000);
    return hipSuccess;
}

hipError_t hipGetDeviceCount(int *count)
{
    STANDIN_ENTER_ANYHOW(hipError_t, hipGetDeviceCount);
    *count = standin_devices();
    return *count > 0 ? hipSuccess : hipErrorNoDevice;
}

hipError_t hipSetDevice(int device)
{
    STANDIN_ENTER_OF(hipSetDevice, device);
    standin_current = device;
    return hipSuccess;
}

hipError_t hipDeviceGetName(char *name, int length, hipDevice_t device)
{
    STANDIN_ENTER_OF(hipDeviceGetName, device);
    REFUSE_IF(name == NULL || length <= 0, hipErrorInvalidValue);
    const char *asked = getenv("XB_STANDIN_NAME");
    snprintf(name, (size_t)length, "%s", asked != NULL ? asked : device_name);
    return hipSuccess;
}

hipError_t hipDeviceGetPCIBusId(char *id, int length, int device)
{
    STANDIN_ENTER_OF(hipDeviceGetPCIBusId, device);
    REFUSE_IF(id == NULL || length < (int)sizeof "0000:00:00.0", hipErrorInvalidValue);
    /* That of a device which is there, for who looks it up in sysfs. */
    const char *asked = getenv("XB_STANDIN_PCI");
    unsigned bus = 0xFEu + (unsigned)device;
    if (device == 0 && asked != NULL)
        snprintf(id, (size_t)length, "%s", asked);
    else
        snprintf(id, (size_t)length, "%04x:%02x:00.0", bus >> 8, bus & 0xFFu);
    return hipSuccess;
}

/* AMD's is text without an end. */
hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t device)
{
    STANDIN_ENTER_OF(hipDeviceGetUuid, device);
    REFUSE_IF(uuid == NULL, hipErrorInvalidValue);
    char text[17];
    snprintf(text, sizeof text, "feedc0de%08x", (unsigned)device);
    memcpy(uuid->bytes, text, 16);
    return hipSuccess;
}

hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t device)
{
    STANDIN_ENTER_OF(hipDeviceTotalMem, device);
    *bytes = STANDIN_MEMORY_BYTES;
    return hipSuccess;
}

/* What the attributes are; a variable turns some off. With these clock rates a cycle of clock64 is
 * a nanosecond. */
static const struct {
    hipDeviceAttribute_t attribute;
    int value;
    const char *variable;
} attributes[] = {
    {hipDeviceAttributeClockRate, 1000000, NULL},
    {hipDeviceAttributeClockInstructionRate, 1000000, NULL},
    {hipDeviceAttributeMultiprocessorCount, STANDIN_MULTIPROCESSORS, NULL},
    {hipDeviceAttributeMaxPitch, INT32_MAX, NULL},
    {hipDeviceAttributeMemoryClockRate, 1600000, NULL},
    {hipDeviceAttributeIntegrated, 0, NULL},
    {hipDeviceAttributePageableMemoryAccessUsesHostPageTables, 0, NULL},
    {hipDeviceAttributeDirectManagedMemAccessFromHost, 0, NULL},
    {hipDeviceAttributeManagedMemory, 1, NULL},
    {hipDeviceAttributeConcurrentManagedAccess, 1, NULL},
    {hipDeviceAttributeCanMapHostMemory, 1, NULL},
    {hipDeviceAttributeIsLargeBar, 1, NULL},
    {hipDeviceAttributeHostRegisterSupported, 1, NULL},
    {hipDeviceAttributePageableMemoryAccess, 1, "XB_STANDIN_XNACK"},
    {hipDeviceAttributeMemoryPoolsSupported, 1, "XB_STANDIN_POOLS"},
};

hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int device)
{
    STANDIN_ENTER_OF(hipDeviceGetAttribute, device);
    REFUSE_IF(value == NULL, hipErrorInvalidValue);
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (attributes[i].attribute == attribute) {
            const char *variable = attributes[i].variable;
            *value = variable != NULL ? standin_setting(variable, 1) != 0 : attributes[i].value;
            return hipSuccess;
        }
    return hipErrorInvalidValue;
}

hipError_t standin_describe(int layout, int device, char name[256], char architecture[256])
{
    hipError_t asked_for = (hipError_t)standin_called(
        layout == 5 ? CALL_hipGetDeviceProperties : CALL_hipGetDevicePropertiesR0600);
    REFUSE_IF(asked_for != hipSuccess, asked_for);
    REFUSE_IF(standin_devices() == 0, hipErrorNoDevice);
    REFUSE_IF(!standin_is_device(device), hipErrorInvalidDevice);
    snprintf(name, 256, "%s", device_name);
    snprintf(architecture, 256, "%s", architecture_name());
    return hipSuccess;
}

/* ---- peers ---- */

static bool peer_open[STANDIN_DEVICES_AT_MOST][STANDIN_DEVICES_AT_MOST]; /* under the lock */

bool standin_peer_is_open(int device, int other)
{
    return device == other || peer_open[device][other];
}

hipError_t hipDeviceCanAccessPeer(int *can, int device, int peer)
{
    STANDIN_ENTER(hipDeviceCanAccessPeer);
    REFUSE_IF(!standin_is_device(device) || !standin_is_device(peer), hipErrorInvalidDevice);
    *can = device != peer;
    return hipSuccess;
}

/* Returns `refusal` if access to the peer is already as asked for. */
static hipError_t set_peer(int peer, bool open, hipError_t refusal)
{
    REFUSE_IF(!standin_is_device(peer) || peer == standin_current, hipErrorInvalidDevice);
    pthread_mutex_lock(&standin_lock);
    bool *is_open = &peer_open[standin_current][peer];
    hipError_t result = *is_open == open ? refusal : hipSuccess;
    *is_open = open;
    pthread_mutex_unlock(&standin_lock);
    return result;
}

hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags)
{
    STANDIN_ENTER(hipDeviceEnablePeerAccess);
    REFUSE_IF(flags != 0, hipErrorInvalidValue);
    return set_peer(peer, true, hipErrorPeerAccessAlreadyEnabled);
}

hipError_t hipDeviceDisablePeerAccess(int peer)
{
    STANDIN_FREE(hipDeviceDisablePeerAccess, set_peer(peer, false, hipErrorPeerAccessNotEnabled));
}

hipError_t hipExtGetLinkTypeAndHopCount(int device, int peer, uint32_t *type, uint32_t *hops)
{
    STANDIN_ENTER(hipExtGetLinkTypeAndHopCount);
    REFUSE_IF(!standin_is_device(device) || !standin_is_device(peer), hipErrorInvalidDevice);
    REFUSE_IF(type == NULL || hops == NULL || device == peer, hipErrorInvalidValue);
    *type = 4; /* HSA_AMD_LINK_INFO_TYPE_XGMI */
    *hops = 1;
    return hipSuccess;
}
