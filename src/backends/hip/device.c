/* SPDX-License-Identifier: Apache-2.0 */
/* What a HIP device is and can do, and what two of them can. */
#include "hip.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * How many operations may stand behind a hold. Not measured: no AMD GPU was at hand. The runtime's
 * queues take 16384 packets (ROC_AQL_QUEUE_SIZE in ROCclr), and an operation takes a few; were it
 * too many, the hold gives way after its limit and the row is an error, not a figure.
 */
#define HELD_OPERATIONS 256u

/* Where the architecture's name stands in hipDeviceProp_t of either layout (ROCm 5, and 6 and 7),
 * and more than the size of both. */
#define NAME_OFFSET_5 396
#define NAME_OFFSET_6 1160
#define PROPERTIES_BYTES 4096

#define LINK_PCIE 2 /* HSA_AMD_LINK_INFO_TYPE_PCIE */
#define LINK_XGMI 4 /* HSA_AMD_LINK_INFO_TYPE_XGMI */

_Static_assert(hipDeviceAttributePageableMemoryAccess == 65,
               "attributes have the numbers that ROCm 5 to 7 share");

static enum xb_status read_attribute(unsigned index, hipDeviceAttribute_t attribute,
                                     const char *what, bool *value, struct xb_error *error)
{
    int answer = 0;
    enum xb_status status =
        XB_GPU(error, &xb_hip_runtime,
               XB_HIP_CALL(attribute, "hipDeviceGetAttribute", &answer, attribute, (int)index),
               "cannot read whether HIP device %u has %s", index, what);
    if (status == XB_OK)
        *value = answer != 0;
    return status;
}

struct attributes {
    bool maps_host_memory, managed, concurrent, pageable_access, integrated, direct_access,
        host_page_tables;
};

static enum xb_status read_attributes(unsigned index, struct attributes *found,
                                      struct xb_error *error)
{
    const struct {
        hipDeviceAttribute_t attribute;
        const char *what;
        bool *value;
    } wanted[] = {
        {hipDeviceAttributeCanMapHostMemory, "mapped memory", &found->maps_host_memory},
        {hipDeviceAttributeManagedMemory, "managed memory", &found->managed},
        {hipDeviceAttributeConcurrentManagedAccess, "concurrent managed access",
         &found->concurrent},
        {hipDeviceAttributePageableMemoryAccess, "access to pageable memory",
         &found->pageable_access},
        {hipDeviceAttributeIntegrated, "memory in common with the host", &found->integrated},
        {hipDeviceAttributeDirectManagedMemAccessFromHost, "memory that the host reaches",
         &found->direct_access},
        {hipDeviceAttributePageableMemoryAccessUsesHostPageTables, "the host's page tables",
         &found->host_page_tables},
    };
    enum xb_status status = XB_OK;
    for (size_t i = 0; status == XB_OK && i < sizeof wanted / sizeof wanted[0]; i++)
        status = read_attribute(index, wanted[i].attribute, wanted[i].what, wanted[i].value, error);
    return status;
}

/*
 * The architecture with its features, "gfx90a:sramecc+:xnack-", out of the one structure that
 * holds it; "" where it cannot be had. Checked by its beginning: were the layout another, nothing
 * of it is believed.
 */
static void read_architecture(unsigned index, char *text, size_t size)
{
    void *properties = calloc(1, PROPERTIES_BYTES);
    size_t offset = 0;
    text[0] = '\0';
    if (properties == NULL)
        return;
    if (xb_hip.functions.properties_6 != NULL) {
        if (xb_hip.functions.properties_6(properties, (int)index) == hipSuccess)
            offset = NAME_OFFSET_6;
    } else if (xb_hip.functions.properties_5 != NULL &&
               xb_hip.functions.properties_5(properties, (int)index) == hipSuccess) {
        offset = NAME_OFFSET_5;
    }
    char *bytes = properties;
    bytes[PROPERTIES_BYTES - 1] = '\0';
    if (offset > 0 && strncmp(bytes + offset, "gfx", 3) == 0)
        snprintf(text, size, "%s", bytes + offset);
    free(properties);
}

/* "gfx90a" of "gfx90a:sramecc+:xnack-". It becomes part of a file's name: letters, digits and
 * dashes only, else nothing. */
static void strip_features(const char *full, char *text, size_t size)
{
    size_t length = strspn(full, "abcdefghijklmnopqrstuvwxyz0123456789-");
    text[0] = '\0';
    if ((full[length] == ':' || full[length] == '\0') && length < size)
        snprintf(text, size, "%.*s", (int)length, full);
}

/* "GPU-" and 16 hexadecimal digits, which AMD's runtime gives as text. */
static void read_uuid(unsigned index, char *text, size_t size)
{
    hipUUID uuid = {{0}};
    if (xb_hip.functions.uuid == NULL ||
        xb_hip.functions.uuid(&uuid, (hipDevice_t)index) != hipSuccess)
        return;
    for (size_t i = 0; i < sizeof uuid.bytes; i++)
        if (!isxdigit((unsigned char)uuid.bytes[i]))
            return;
    snprintf(text, size, "GPU-%.*s", (int)sizeof uuid.bytes, uuid.bytes);
}

static bool variable_is_set(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && strtol(value, NULL, 10) != 0;
}

/* The variable that makes a launch or copy wait for its end, or NULL: behind a hold it would wait
 * for a release that comes after it. */
static const char *what_blocks(void)
{
    static const char *const names[] = {"HIP_LAUNCH_BLOCKING", "AMD_SERIALIZE_KERNEL",
                                        "AMD_SERIALIZE_COPY"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (variable_is_set(names[i]))
            return names[i];
    return NULL;
}

/* Gives the device a capability, or the reason why not. */
static void decide(struct xb_device_info *info, enum xb_capability capability, bool has,
                   const char *reason)
{
    if (has)
        info->capabilities |= capability;
    else
        xb_device_withhold(info, capability, reason);
}

/* Whether the library has what the capability takes; else says what it has not. */
static bool library_has(const char *lost, char *reason, size_t size)
{
    const char *missing = "";
    if (xb_hip_has(lost, &missing))
        return true;
    snprintf(reason, size, "the HIP runtime has no %s", missing);
    return false;
}

static void decide_kernels(struct xb_device_info *info, const struct attributes *found)
{
    char reason[256] = "HIP does not tell the device's architecture, for which they are compiled";
    bool kernels = library_has("kernels", reason, sizeof reason) && info->architecture[0] != '\0';
    decide(info, XB_CAP_KERNELS, kernels, reason);

    /* A hold is a kernel that spins on mapped host memory. */
    const char *blocking = what_blocks();
    bool hold = kernels && library_has("mapped", reason, sizeof reason);
    if (hold && !found->maps_host_memory)
        snprintf(reason, sizeof reason, "its kernels cannot reach host memory");
    else if (hold && blocking != NULL)
        snprintf(reason, sizeof reason, "%s makes every launch wait for its end", blocking);
    decide(info, XB_CAP_HOLD, hold && found->maps_host_memory && blocking == NULL, reason);
    info->held_operations = HELD_OPERATIONS;
}

/*
 * Without XNACK a kernel cannot wait for a page: what the runtime then calls managed memory stays
 * on the host, and every mode of ours that moves pages would report something else.
 * ConcurrentManagedAccess tells of the kernel driver alone, PageableMemoryAccess of XNACK too, and
 * so does the architecture's full name where it has the feature.
 */
static void decide_managed(struct xb_device_info *info, const struct attributes *found,
                           const char *full)
{
    char reason[256] = "HIP has no managed memory for it";
    bool library = library_has("managed", reason, sizeof reason);
    bool moves = found->concurrent && found->pageable_access && strstr(full, ":xnack-") == NULL;
    if (library && found->managed && !moves)
        snprintf(reason, sizeof reason,
                 "XNACK is off, so that no page moves when a kernel touches it; where the GPU can "
                 "(gfx90a, gfx942), HSA_XNACK=1 turns it on");
    decide(info, XB_CAP_MANAGED, library && found->managed && moves, reason);
}

static void decide_capabilities(struct xb_device_info *info, const struct attributes *found,
                                const char *full)
{
    char reason[256] = "";
    bool registers = library_has("register", reason, sizeof reason);
    info->capabilities = 0;
    /* Read in ROCm's clr: the flag is kept for whoever asks and selects no kind of memory. */
    decide(info, XB_CAP_WRITE_COMBINED, false,
           "HIP takes the flag for it and gives ordinary pinned memory");
    decide(info, XB_CAP_REGISTER, registers, reason);
    /* Mapped memory is made by registering it: see buffer.c of the GPU backends. */
    bool mapped = registers && library_has("mapped", reason, sizeof reason);
    if (mapped && !found->maps_host_memory)
        snprintf(reason, sizeof reason, "its kernels cannot reach host memory");
    decide(info, XB_CAP_MAPPED, mapped && found->maps_host_memory, reason);
    decide_kernels(info, found);
    decide_managed(info, found, full);
}

/* What the figures of AMD devices hang on. */
static void add_facts(struct xb_device_info *info, const struct attributes *found, const char *full)
{
    int large_bar = 0;
    bool known = xb_hip.functions.attribute(&large_bar, hipDeviceAttributeIsLargeBar,
                                            (int)info->index) == hipSuccess;
    const char *queues = getenv("GPU_MAX_HW_QUEUES");
    const char *engines = getenv("HSA_ENABLE_SDMA");
    xb_device_fact(info, "architecture_full", "%s", full[0] != '\0' ? full : "unknown");
    xb_device_fact(info, "xnack", "%s",
                   strstr(full, ":xnack+") != NULL   ? "on"
                   : strstr(full, ":xnack-") != NULL ? "off"
                                                     : "not told by the architecture");
    xb_device_fact(info, "integrated", "%s",
                   found->integrated ? "yes: no copy crosses a link" : "no");
    xb_device_fact(info, "large_bar", "%s", !known ? "unknown" : large_bar != 0 ? "yes" : "no");
    xb_device_fact(info, "copies", "%s",
                   engines != NULL && strcmp(engines, "0") == 0
                       ? "by shaders, because HSA_ENABLE_SDMA=0"
                       : "by SDMA engines, for all that is known");
    xb_device_fact(info, "hardware_queues", "%s",
                   queues != NULL ? queues : "4, the runtime's default");
    xb_device_fact(info, "host_memory_flags",
                   "hipHostMallocCoherent|hipHostMallocNumaUser, hipHostRegisterDefault");
}

/* Name, PCI address and memory. */
static enum xb_status read_identity(unsigned index, struct xb_device_info *info,
                                    struct xb_error *error)
{
    char bdf[32] = "";
    size_t bytes = 0;
    enum xb_status status = XB_GPU(error, &xb_hip_runtime,
                                   XB_HIP_CALL(device_name, "hipDeviceGetName", info->name,
                                               (int)sizeof info->name, (hipDevice_t)index),
                                   "cannot read the name of HIP device %u", index);
    if (status == XB_OK)
        status =
            XB_GPU(error, &xb_hip_runtime,
                   XB_HIP_CALL(bus_id, "hipDeviceGetPCIBusId", bdf, (int)sizeof bdf, (int)index),
                   "cannot read the PCI address of HIP device %u", index);
    if (status == XB_OK)
        status = XB_GPU(error, &xb_hip_runtime,
                        XB_HIP_CALL(total_memory, "hipDeviceTotalMem", &bytes, (hipDevice_t)index),
                        "cannot read the memory size of HIP device %u", index);
    for (size_t i = 0; bdf[i] != '\0' && i + 1 < sizeof info->pci_bdf; i++)
        info->pci_bdf[i] = (char)tolower((unsigned char)bdf[i]);
    info->memory_bytes = bytes;
    return status;
}

enum xb_status xb_hip_device_info(struct xb_driver *driver, unsigned index,
                                  struct xb_device_info *info, struct xb_error *error)
{
    (void)driver;
    struct attributes found = {.managed = false};
    char architecture[128] = "";
    memset(info, 0, sizeof *info);
    info->index = index;
    enum xb_status status = read_identity(index, info, error);
    if (status == XB_OK)
        status = read_attributes(index, &found, error);
    if (status != XB_OK)
        return status;
    read_uuid(index, info->uuid, sizeof info->uuid);
    read_architecture(index, architecture, sizeof architecture);
    strip_features(architecture, info->architecture, sizeof info->architecture);
    info->shares_host_memory = found.integrated;
    info->coherent_with_host = found.direct_access || found.host_page_tables;
    decide_capabilities(info, &found, architecture);
    add_facts(info, &found, architecture);
    return XB_OK;
}

/* The kind of the link and the hops over it; unknown where the runtime does not tell. */
static void read_link(unsigned index, unsigned other, struct xb_peer_info *info)
{
    uint32_t type = 0;
    uint32_t hops = 0;
    if (xb_hip.functions.link_type == NULL ||
        xb_hip.functions.link_type((int)index, (int)other, &type, &hops) != hipSuccess)
        return;
    if (type == LINK_PCIE || type == LINK_XGMI)
        snprintf(info->link, sizeof info->link, "%s", type == LINK_PCIE ? "PCIe" : "xGMI");
    info->hops = hops;
}

enum xb_status xb_hip_peer_info(struct xb_driver *driver, unsigned index, unsigned other,
                                struct xb_peer_info *info, struct xb_error *error)
{
    (void)driver;
    struct xb_peer_info found = {.can_access = false};
    char reason[256] = "";
    if (!library_has("peers", reason, sizeof reason))
        return XB_FAIL(error, XB_ERR_UNSUPPORTED, "no copies between devices: %s", reason);
    enum xb_status status =
        xb_gpu_peer_access(&xb_hip_runtime, index, other, &found.can_access, error);
    if (status != XB_OK)
        return status;
    read_link(index, other, &found);
    *info = found;
    return XB_OK;
}
