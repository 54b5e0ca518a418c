/* SPDX-License-Identifier: Apache-2.0 */
/* Describes a HIP device and its capabilities, and the link between two devices. */
#include "hip.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many operations may be enqueued behind a hold. Not measured, because we had no AMD GPU: the
 * runtime's queues hold 16384 packets (ROC_AQL_QUEUE_SIZE in ROCclr), and an operation needs a few.
 * If it is too many, the hold gives up after its limit and the row is an error, never a wrong
 * figure. */
#define HELD_OPERATIONS 256u

/* Offsets of the architecture's name in hipDeviceProp_t of ROCm 5, and of ROCm 6 and 7, and a size
 * that both structures fit in. */
#define NAME_OFFSET_5 396
#define NAME_OFFSET_6 1160
#define PROPERTIES_BYTES 4096

#define LINK_PCIE 2 /* HSA_AMD_LINK_INFO_TYPE_PCIE */
#define LINK_XGMI 4 /* HSA_AMD_LINK_INFO_TYPE_XGMI */

_Static_assert(hipDeviceAttributePageableMemoryAccess == 65,
               "attributes have the numbers that ROCm 5 to 7 share");

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
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        int answer = 0;
        XB_TRY(XB_GPU(error, &xb_hip_runtime,
                      XB_HIP_CALL(attribute, "hipDeviceGetAttribute", &answer, wanted[i].attribute,
                                  (int)index),
                      "cannot read whether HIP device %u has %s", index, wanted[i].what));
        *wanted[i].value = answer != 0;
    }
    return XB_OK;
}

/* Reads the architecture with its features, "gfx90a:sramecc+:xnack-", or "" if it is not known.
 * Only hipDeviceProp_t has it. A text that does not begin with "gfx" means another layout. */
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

/* Writes "gfx90a" for "gfx90a:sramecc+:xnack-". The result becomes part of a file's name, so it is
 * "" unless it has only letters, digits and dashes. */
static void strip_features(const char *full, char *text, size_t size)
{
    size_t length = strspn(full, "abcdefghijklmnopqrstuvwxyz0123456789-");
    text[0] = '\0';
    if ((full[length] == ':' || full[length] == '\0') && length < size)
        snprintf(text, size, "%.*s", (int)length, full);
}

/* Writes "GPU-" and 16 hexadecimal digits. AMD's runtime returns the digits as text. */
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

/* The environment variable that makes a launch or copy wait for its end, or NULL if none does.
 * Behind a hold such a call would never return, because the release comes after it. */
static const char *blocking_variable(void)
{
    static const char *const names[] = {"HIP_LAUNCH_BLOCKING", "AMD_SERIALIZE_KERNEL",
                                        "AMD_SERIALIZE_COPY"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && strtol(value, NULL, 10) != 0)
            return names[i];
    }
    return NULL;
}

/* Gives the device a capability if `has`, else the reason why it lacks it. */
static void set_capability(struct xb_device_info *info, enum xb_capability capability, bool has,
                           const char *reason)
{
    if (has)
        info->capabilities |= capability;
    else
        xb_device_withhold(info, capability, reason);
}

/* Whether the library has all functions that `lost` needs. If not, `reason` names a missing one. */
static bool library_has(const char *lost, char *reason, size_t size)
{
    const char *missing = "";
    if (xb_hip_has(lost, &missing))
        return true;
    snprintf(reason, size, "the HIP runtime has no %s", missing);
    return false;
}

static void set_kernels(struct xb_device_info *info, const struct attributes *found)
{
    char reason[256] = "HIP does not tell the device's architecture, for which they are compiled";
    bool kernels = library_has("kernels", reason, sizeof reason) && info->architecture[0] != '\0';
    set_capability(info, XB_CAP_KERNELS, kernels, reason);
    /* A hold is a kernel that spins on mapped host memory. */
    const char *blocking = blocking_variable();
    bool hold = kernels && library_has("mapped", reason, sizeof reason);
    if (hold && !found->maps_host_memory)
        snprintf(reason, sizeof reason, "its kernels cannot reach host memory");
    else if (hold && blocking != NULL)
        snprintf(reason, sizeof reason, "%s makes every launch wait for its end", blocking);
    set_capability(info, XB_CAP_HOLD, hold && found->maps_host_memory && blocking == NULL, reason);
    info->held_operations = HELD_OPERATIONS;
}

/* Without XNACK a kernel cannot wait for a page: managed memory stays on the host, and our modes
 * that move pages would measure something else. ConcurrentManagedAccess tells only about the kernel
 * driver; PageableMemoryAccess and the architecture's full name tell about XNACK too. */
static void set_managed(struct xb_device_info *info, const struct attributes *found,
                        const char *full)
{
    char reason[256] = "HIP has no managed memory for it";
    bool library = library_has("managed", reason, sizeof reason);
    bool moves = found->concurrent && found->pageable_access && strstr(full, ":xnack-") == NULL;
    if (library && found->managed && !moves)
        snprintf(reason, sizeof reason,
                 "XNACK is off, so that no page moves when a kernel touches it; where the GPU can "
                 "(gfx90a, gfx942), HSA_XNACK=1 turns it on");
    set_capability(info, XB_CAP_MANAGED, library && found->managed && moves, reason);
}

static void set_capabilities(struct xb_device_info *info, const struct attributes *found,
                             const char *full)
{
    char reason[256] = "";
    bool registers = library_has("register", reason, sizeof reason);
    info->capabilities = 0;
    /* The source of ROCm's clr shows that it only stores the flag and allocates the same memory. */
    set_capability(info, XB_CAP_WRITE_COMBINED, false,
                   "HIP takes the flag for it and gives ordinary pinned memory");
    set_capability(info, XB_CAP_REGISTER, registers, reason);
    /* We map memory by registering it: see gpu/buffer.c. */
    bool mapped = registers && library_has("mapped", reason, sizeof reason);
    if (mapped && !found->maps_host_memory)
        snprintf(reason, sizeof reason, "its kernels cannot reach host memory");
    set_capability(info, XB_CAP_MAPPED, mapped && found->maps_host_memory, reason);
    set_capability(info, XB_CAP_FILE, false, "xferbench does not open AMD's hipFile yet");
    set_kernels(info, found);
    set_managed(info, found, full);
    /* Whether batches work as we ask for them is tried when the device is opened. */
    set_capability(info, XB_CAP_BATCH, xb_hip_has("batches", NULL),
                   "the HIP runtime has no hipMemcpyBatchAsync: it needs ROCm 7.1 or newer");
    set_capability(info, XB_CAP_GRAPH, library_has("graphs", reason, sizeof reason), reason);
    set_capability(info, XB_CAP_ROWS, library_has("rows", reason, sizeof reason), reason);
}

/* Notes the settings that figures of AMD devices depend on. */
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
                       : "by SDMA engines, as far as is known");
    xb_device_tells_access(info, found->pageable_access, found->host_page_tables);
    xb_device_fact(info, "hardware_queues", "%s",
                   queues != NULL ? queues : "4, the runtime's default");
    xb_device_fact(info, "host_memory_flags",
                   "hipHostMallocCoherent|hipHostMallocNumaUser, hipHostRegisterDefault");
}

/* Reads the device's name, PCI address and memory size. */
static enum xb_status read_identity(unsigned index, struct xb_device_info *info,
                                    struct xb_error *error)
{
    char bdf[32] = "";
    size_t bytes = 0;
    XB_TRY(XB_GPU(error, &xb_hip_runtime,
                  XB_HIP_CALL(device_name, "hipDeviceGetName", info->name, (int)sizeof info->name,
                              (hipDevice_t)index),
                  "cannot read the name of HIP device %u", index));
    XB_TRY(XB_GPU(error, &xb_hip_runtime,
                  XB_HIP_CALL(bus_id, "hipDeviceGetPCIBusId", bdf, (int)sizeof bdf, (int)index),
                  "cannot read the PCI address of HIP device %u", index));
    XB_TRY(XB_GPU(error, &xb_hip_runtime,
                  XB_HIP_CALL(total_memory, "hipDeviceTotalMem", &bytes, (hipDevice_t)index),
                  "cannot read the memory size of HIP device %u", index));
    for (size_t i = 0; bdf[i] != '\0' && i + 1 < sizeof info->pci_bdf; i++)
        info->pci_bdf[i] = (char)tolower((unsigned char)bdf[i]);
    info->memory_bytes = bytes;
    return XB_OK;
}

enum xb_status xb_hip_device_info(struct xb_driver *driver, unsigned index,
                                  struct xb_device_info *info, struct xb_error *error)
{
    (void)driver;
    struct attributes found = {.managed = false};
    char architecture[128] = "";
    memset(info, 0, sizeof *info);
    info->index = index;
    XB_TRY(read_identity(index, info, error));
    XB_TRY(read_attributes(index, &found, error));
    read_uuid(index, info->uuid, sizeof info->uuid);
    read_architecture(index, architecture, sizeof architecture);
    strip_features(architecture, info->architecture, sizeof info->architecture);
    info->shares_host_memory = found.integrated;
    info->engine_by_history = true; /* whatever the release: nothing tells of which it holds */
    info->coherent_with_host = found.direct_access || found.host_page_tables;
    set_capabilities(info, &found, architecture);
    add_facts(info, &found, architecture);
    return XB_OK;
}

enum xb_status xb_hip_peer_info(struct xb_driver *driver, unsigned index, unsigned other,
                                struct xb_peer_info *info, struct xb_error *error)
{
    (void)driver;
    struct xb_peer_info found = {.can_access = false};
    char reason[256] = "";
    if (!library_has("peers", reason, sizeof reason))
        return XB_FAIL(error, XB_ERR_UNSUPPORTED, "no copies between devices: %s", reason);
    XB_TRY(xb_gpu_peer_access(&xb_hip_runtime, index, other, &found.can_access, error));
    uint32_t type = 0;
    uint32_t hops = 0;
    if (xb_hip.functions.link_type != NULL &&
        xb_hip.functions.link_type((int)index, (int)other, &type, &hops) == hipSuccess) {
        if (type == LINK_PCIE || type == LINK_XGMI)
            snprintf(found.link, sizeof found.link, "%s", type == LINK_PCIE ? "PCIe" : "xGMI");
        found.hops = hops;
    }
    *info = found;
    return XB_OK;
}
