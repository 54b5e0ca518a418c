/* SPDX-License-Identifier: Apache-2.0 */
/* HIP's errors, versions, devices and pairs of devices, on CUDA. */
#include "hip_side.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): HIP's versions differ in it */

/* 99.0.0, as HIP counts: major * 10000000 + minor * 100000 + patch. Nobody takes it for AMD's. */
#define VERSION 990000000

/* "0000:1b:00.0" and its end: AMD's runtime refuses less. */
#define BUS_ID_SIZE 13

/* HIP 6 named it; its place in the enum was free before. Asking an older HIP is refused. */
#define hipDeviceAttributeHostRegisterSupported                                                    \
    ((hipDeviceAttribute_t)(hipDeviceAttributeMemoryPoolsSupported + 2))

/* The size of hipDeviceProp_t and the place of gcnArchName in it, up to HIP 5 and from HIP 6 on. */
#define PLAIN_SIZE 792
#define PLAIN_ARCH 396
#define R0600_SIZE 1472
#define R0600_ARCH 1160
#define NAME_SIZE 256 /* of the name, which comes first, and of gcnArchName */

#if HIP_VERSION_MAJOR < 6
_Static_assert(sizeof(hipDeviceProp_t) == PLAIN_SIZE, "the size of hipDeviceProp_t");
_Static_assert(offsetof(hipDeviceProp_t, gcnArchName) == PLAIN_ARCH, "the place of gcnArchName");
#endif

struct named_error {
    hipError_t code;
    const char *name;
    const char *text;
};

/* By what the CUDA side returns. Some codes are there more than once: the first has the text. */
#define ERROR(cuda, hip, text) {hipError##hip, "hipError" #hip, text},
static const struct named_error errors[] = {
    {hipSuccess, "hipSuccess", "no error"},
    STANDIN_ERRORS(ERROR){hipErrorUnknown, "hipErrorUnknown", "unknown error"}};
#undef ERROR

hipError_t standin_hip_error(int result)
{
    return errors[result].code;
}

static const struct named_error *find_error(hipError_t code)
{
    for (int i = 0; i < STANDIN_UNKNOWN; i++)
        if (errors[i].code == code)
            return &errors[i];
    return &errors[STANDIN_UNKNOWN];
}

const char *hipGetErrorName(hipError_t code)
{
    return find_error(code)->name;
}

const char *hipGetErrorString(hipError_t code)
{
    return find_error(code)->text;
}

hipError_t hipRuntimeGetVersion(int *version)
{
    REFUSE_UNLESS(version != NULL, hipErrorInvalidValue);
    *version = VERSION;
    return hipSuccess;
}

hipError_t hipDriverGetVersion(int *version)
{
    return hipRuntimeGetVersion(version);
}

hipError_t hipGetDeviceCount(int *count)
{
    REFUSE_UNLESS(count != NULL, hipErrorInvalidValue);
    int found = 0; /* a count that fails leaves it unwritten */
    hipError_t error = standin_hip_error(standin_device_count(&found));
    *count = error == hipSuccess ? found : 0;
    return error == hipSuccess && found == 0 ? hipErrorNoDevice : error;
}

hipError_t hipSetDevice(int device)
{
    return standin_hip_error(standin_device_select(device));
}

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

static hipError_t write_properties(void *buffer, size_t size, size_t arch_place, int device)
{
    REFUSE_UNLESS(buffer != NULL, hipErrorInvalidValue);
    struct standin_device found;
    int result = standin_device_describe(device, &found);
    if (result != STANDIN_OK)
        return standin_hip_error(result);
    char *bytes = buffer;
    memset(bytes, 0, size);
    format_name(&found, bytes, NAME_SIZE);
    snprintf(bytes + arch_place, NAME_SIZE, "gfx0-sm%d%d", found.major, found.minor);
    return hipSuccess;
}

/*
 * Both under names of their own. The header of HIP 5 does not know the second; that of HIP 6 hides
 * the first behind a macro with the second's name and type.
 */
#define EXPORTED_AS(name) __asm__(name) __attribute__((visibility("default")))
xb_hip_get_properties_5 standin_properties_plain EXPORTED_AS("hipGetDeviceProperties");
xb_hip_get_properties_6 standin_properties_r0600 EXPORTED_AS("hipGetDevicePropertiesR0600");

hipError_t standin_properties_plain(hipDeviceProp_t *properties, int device)
{
    return write_properties(properties, PLAIN_SIZE, PLAIN_ARCH, device);
}

hipError_t standin_properties_r0600(struct hipDeviceProp_tR0600 *properties, int device)
{
    return write_properties(properties, R0600_SIZE, R0600_ARCH, device);
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

hipError_t hipDeviceCanAccessPeer(int *accessible, int device, int peer)
{
    REFUSE_UNLESS(accessible != NULL, hipErrorInvalidValue);
    return standin_hip_error(standin_peer_accessible(device, peer, accessible));
}

hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags)
{
    REFUSE_UNLESS(flags == 0, hipErrorInvalidValue);
    return standin_hip_error(standin_peer_enable(peer));
}

hipError_t hipDeviceDisablePeerAccess(int peer)
{
    return standin_hip_error(standin_peer_disable(peer));
}

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
