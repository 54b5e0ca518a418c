/* SPDX-License-Identifier: Apache-2.0 */
/* HIP's errors, versions, devices and pairs of devices, on CUDA. */
#include "hip_side.h"

#include <ctype.h>
#include <stdio.h>

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): HIP's versions differ in it */

/* 99.0.0, as HIP counts: major * 10000000 + minor * 100000 + patch. Nobody takes it for AMD's. */
#define VERSION 990000000

/* "0000:1b:00.0" and its end: AMD's runtime refuses less. */
#define BUS_ID_SIZE 13

hipError_t standin_hip_error(int result)
{
#define CODE(cuda, hip, text) hipError##hip,
    static const hipError_t codes[] = {hipSuccess, STANDIN_ERRORS(CODE) hipErrorUnknown};
#undef CODE
    return codes[result];
}

hipError_t hipRuntimeGetVersion(int *version)
{
    REFUSE_UNLESS(version != NULL, hipErrorInvalidValue);
    *version = VERSION;
    return hipSuccess;
}

hipError_t hipGetDeviceCount(int *count)
{
    REFUSE_UNLESS(count != NULL, hipErrorInvalidValue);
    int found = 0; /* a count that fails leaves it unwritten */
    hipError_t error = standin_hip_error(standin_device_count(&found));
    *count = error == hipSuccess ? found : 0;
    return error == hipSuccess && found == 0 ? hipErrorNoDevice : error;
}

FORWARD(hipSetDevice, (int device), true, hipSuccess, device_select(device))
/* Cut to its buffer, and CUDA's name so that what follows has room in 256 bytes. */
static void format_name(const struct standin_device *device, char *text, size_t size)
{
    snprintf(text, size, "xferbench CUDA stand-in on %.200s (not an AMD GPU)", device->name);
}

hipError_t hipDeviceGetName(char *name, int size, hipDevice_t device)
{
    REFUSE_UNLESS(name != NULL && size > 0, hipErrorInvalidValue);
    struct standin_device found;
    int result = standin_device_describe(device, &found);
    if (result == STANDIN_OK)
        format_name(&found, name, (size_t)size);
    return standin_hip_error(result);
}

hipError_t hipDeviceGetPCIBusId(char *text, int size, int device)
{
    REFUSE_UNLESS(text != NULL && size >= BUS_ID_SIZE, hipErrorInvalidValue);
    int result = standin_device_bus_id(device, text, size);
    if (result == STANDIN_OK)
        for (char *letter = text; *letter != '\0'; letter++)
            *letter = (char)tolower((unsigned char)*letter); /* as AMD's runtime writes it */
    return standin_hip_error(result);
}

hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t device)
{
    REFUSE_UNLESS(bytes != NULL, hipErrorInvalidValue);
    struct standin_device found;
    int result = standin_device_describe(device, &found);
    if (result == STANDIN_OK)
        *bytes = found.memory_bytes;
    return standin_hip_error(result);
}

/* AMD's are no bytes but text: the 16 digits of a 64-bit number, with no end. CUDA's 128 bits are
 * folded to 64, so that each counts. */
hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t device)
{
    REFUSE_UNLESS(uuid != NULL, hipErrorInvalidValue);
    struct standin_device found;
    int result = standin_device_describe(device, &found);
    if (result != STANDIN_OK)
        return standin_hip_error(result);
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < 8; i++) {
        unsigned byte = found.uuid[i] ^ found.uuid[i + 8];
        uuid->bytes[2 * i] = digits[byte >> 4];
        uuid->bytes[2 * i + 1] = digits[byte & 0xF];
    }
    return hipSuccess;
}

static hipError_t describe(void (*write)(void *, const char *, const char *), void *properties,
                           int device)
{
    REFUSE_UNLESS(properties != NULL, hipErrorInvalidValue);
    struct standin_device found;
    char name[256];
    char architecture[32];
    int result = standin_device_describe(device, &found);
    if (result != STANDIN_OK)
        return standin_hip_error(result);
    format_name(&found, name, sizeof name);
    snprintf(architecture, sizeof architecture, "gfx0-sm%d%d", found.major, found.minor);
    write(properties, name, architecture);
    return hipSuccess;
}

hipError_t standin_properties_plain(hipDeviceProp_t *properties, int device)
{
    return describe(standin_write_plain, properties, device);
}

hipError_t standin_properties_r0600(struct hipDeviceProp_tR0600 *properties, int device)
{
    return describe(standin_write_r0600, properties, device);
}

hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int device)
{
#define ATTRIBUTE(hip, cuda) hipDeviceAttribute##hip,
    static const hipDeviceAttribute_t attributes[] = {STANDIN_ATTRIBUTES(ATTRIBUTE)};
#undef ATTRIBUTE
    REFUSE_UNLESS(value != NULL, hipErrorInvalidValue);
    if (attribute == hipDeviceAttributeIsLargeBar) {
        struct standin_device found;
        *value = 0; /* CUDA does not tell */
        return standin_hip_error(standin_device_describe(device, &found));
    }
    for (int i = 0; i < (int)(sizeof attributes / sizeof attributes[0]); i++)
        if (attributes[i] == attribute)
            return standin_hip_error(standin_device_attribute(device, i, value));
    return hipErrorInvalidValue;
}

FORWARD(hipDeviceCanAccessPeer, (int *accessible, int device, int peer), accessible != NULL,
        hipErrorInvalidValue, peer_accessible(device, peer, accessible))
FORWARD(hipDeviceEnablePeerAccess, (int peer, unsigned flags), flags == 0, hipErrorInvalidValue,
        peer_enable(peer))
FORWARD(hipDeviceDisablePeerAccess, (int peer), true, hipSuccess, peer_disable(peer))
/*
 * The types are ROCm's (hsa_amd_link_info_type_t): 2 is PCIe, 4 is xGMI, for which NVLink stands
 * here. CUDA does not tell which it is; that native atomics need NVLink is a guess, good enough to
 * see that the numbers arrive, and for nothing else.
 */
hipError_t hipExtGetLinkTypeAndHopCount(int device, int other, uint32_t *type, uint32_t *hops)
{
    REFUSE_UNLESS(type != NULL && hops != NULL, hipErrorInvalidValue);
    int native = 0;
    int result = standin_peer_atomics(device, other, &native);
    if (result == STANDIN_OK) {
        *type = native ? 4 : 2;
        *hops = 1;
    }
    return standin_hip_error(result);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
