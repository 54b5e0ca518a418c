/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* RTLD_DEFAULT */
/* The HIP backend: looks for what it needs, describes devices, and tells profilers of ranges. */
#include "hip.h"
#include "compiler.h"

#include "machine/pcie.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Programs reach every computing AMD GPU through this file. Without it we do not open the runtime,
 * which would take ten times as long as all other checks. */
#define KERNEL_DRIVER "/dev/kfd"
#define LEAST_VERSION 50000000

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

extern const struct xb_backend xb_hip_backend;

static enum xb_status check_kernel_driver(struct xb_probe *probe, struct xb_error *error)
{
    bool ok = access(KERNEL_DRIVER, F_OK) == 0;
    bool needed = xb_hip_override() == NULL;
    xb_probe_add(probe, ok || !needed, "kernel driver " KERNEL_DRIVER, "%s",
                 ok ? "found"
                 : needed
                     ? "not found: no AMD GPU, its driver amdgpu is not loaded, or the container "
                       "does not have the device"
                     : "not found, and not needed: " XB_HIP_OVERRIDE " is set");
    /* Only a module that was installed apart from the kernel has a version of its own. */
    char line[64] = "";
    if (xb_sysfs_text("/sys/module/amdgpu", "version", line, sizeof line))
        snprintf(probe->driver_version, sizeof probe->driver_version, "%.*s",
                 (int)strcspn(line, "\n"), line);
    if (ok || !needed)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNAVAILABLE, "HIP: there is no %s", KERNEL_DRIVER);
}

/* What AMD's profilers are told, through the library roctx: named ranges, and from where to where
 * they may collect. rocprofv3 --marker-trace or LD_PRELOAD put that library into the program. We
 * take what is there and open nothing: without a profiler a range costs one check of a pointer.
 *
 * As in AMD's rocprofiler-sdk-roctx/roctx.h. libroctx64, which is older, has only the first two. */
static struct roctx {
    int (*push)(const char *name);
    int (*pop)(void);
    int (*resume)(uint64_t thread); /* 0: all threads */
    int (*pause)(uint64_t thread);
} roctx;

static enum xb_status check_library(struct xb_probe *probe, struct xb_error *error)
{
    static const struct xb_symbol ranges[] = {
        {"roctxRangePushA", offsetof(struct roctx, push), "ranges"},
        {"roctxRangePop", offsetof(struct roctx, pop), "ranges"},
        {"roctxProfilerResume", offsetof(struct roctx, resume), "captures"},
        {"roctxProfilerPause", offsetof(struct roctx, pause), "captures"},
    };
    enum xb_status status = xb_hip_library_open(error);
    if (status == XB_OK) {
        (void)xb_symbols_find(RTLD_DEFAULT, ranges, sizeof ranges / sizeof ranges[0], &roctx);
        /* The compiling process must be forked before any function of the library is called. */
        status = xb_hip_compiler_start(error);
    }
    bool ok = status == XB_OK;
    xb_probe_add(probe, ok, "HIP runtime libamdhip64", "%s%s", ok ? xb_hip.path : error->message,
                 ok && xb_hip.overridden ? ", named by " XB_HIP_OVERRIDE : "");
    if (xb_hip.overridden)
        snprintf(probe->runtime_override, sizeof probe->runtime_override, "%s", XB_HIP_OVERRIDE);
    snprintf(probe->runtime_library, sizeof probe->runtime_library, "%s", xb_hip.path);
    return status;
}

static enum xb_status check_version(struct xb_probe *probe, struct xb_error *error)
{
    int found = 0;
    hipError_t code = xb_hip.functions.hipRuntimeGetVersion(&found);
    bool ok = code == hipSuccess && found >= LEAST_VERSION;
    const char *what = "HIP runtime's version";
    const char *name = xb_hip.functions.hipGetErrorName(code);
    snprintf(probe->runtime_version, sizeof probe->runtime_version, "%d.%d.%d", XB_HIP_MAJOR(found),
             found / 100000 % 100, found % 100000);
    xb_hip.version = found;
    const char *said = code == hipSuccess
                           ? xb_probe_add(probe, ok, what, "%s%s", probe->runtime_version,
                                          ok ? "" : ": too old; install ROCm 5.0 or newer")
                           : xb_probe_add(probe, ok, what, "not told: %s (%d)", name, (int)code);
    if (ok)
        return XB_OK;
    return XB_FAIL_NATIVE(error, XB_ERR_UNAVAILABLE, "hipRuntimeGetVersion", (int64_t)code, name,
                          "HIP: no runtime of use: %s", said);
}

static enum xb_status driver_open(struct xb_driver **driver, struct xb_probe *probe,
                                  struct xb_error *error)
{
    memset(probe, 0, sizeof *probe);
    XB_TRY(check_kernel_driver(probe, error));
    XB_TRY(check_library(probe, error));
    XB_TRY(check_version(probe, error));
    int count = 0;
    struct xb_gpu_outcome counted = XB_HIP_CALL(hipGetDeviceCount, &count);
    const char *reason =
        counted.code == hipErrorNoDevice || counted.code == hipSuccess
            ? "none: no GPU that HIP supports, none that this user may open (groups render and "
              "video), or HIP_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES hides it"
            : NULL;
    XB_TRY(xb_gpu_probe_devices(probe, &xb_hip_runtime, counted, count, reason, error));
    return xb_driver_make(&xb_hip_backend, "HIP", driver, error);
}

/* ---- devices ---- */

struct attributes {
    bool maps_host_memory, managed, concurrent, pageable_access, integrated, direct_access,
        host_page_tables;
    const char *no_pools; /* why there are none, or NULL */
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
                      XB_HIP_CALL(hipDeviceGetAttribute, &answer, wanted[i].attribute, (int)index),
                      "cannot read whether HIP device %u has %s", index, wanted[i].what));
        *wanted[i].value = answer != 0;
    }
    int pools = 0; /* ROCm before 5.2 does not know the attribute */
    bool known = xb_hip.functions.hipDeviceGetAttribute(
                     &pools, hipDeviceAttributeMemoryPoolsSupported, (int)index) == hipSuccess;
    found->no_pools = !known       ? "HIP does not tell whether it has a memory pool"
                      : pools == 0 ? "HIP has no memory pool for it"
                                   : NULL;
    return XB_OK;
}

/* Reads the architecture with its features, "gfx90a:sramecc+:xnack-", or "" if it is not known.
 * Only hipDeviceProp_t has it. A text that does not begin with "gfx" means another layout. */
static void read_architecture(unsigned index, char *text, size_t size)
{
    const struct xb_hip_functions *functions = &xb_hip.functions;
    _Alignas(max_align_t) char properties[PROPERTIES_BYTES] = "";
    bool is_newer = functions->properties_6 != NULL;
    bool told = is_newer
                    ? functions->properties_6((void *)properties, (int)index) == hipSuccess
                    : functions->properties_5 != NULL &&
                          functions->properties_5((void *)properties, (int)index) == hipSuccess;
    const char *name = properties + (is_newer ? NAME_OFFSET_6 : NAME_OFFSET_5);
    properties[PROPERTIES_BYTES - 1] = '\0';
    snprintf(text, size, "%.*s", (int)size - 1, told && strncmp(name, "gfx", 3) == 0 ? name : "");
}

/* Writes "GPU-" and 16 hexadecimal digits. AMD's runtime returns the digits as text. */
static void read_uuid(unsigned index, char *text, size_t size)
{
    hipUUID uuid = {{0}};
    if (xb_hip.functions.hipDeviceGetUuid == NULL ||
        xb_hip.functions.hipDeviceGetUuid(&uuid, (hipDevice_t)index) != hipSuccess)
        return;
    for (size_t i = 0; i < sizeof uuid.bytes; i++)
        if (!isxdigit((unsigned char)uuid.bytes[i]))
            return;
    snprintf(text, size, "GPU-%.*s", (int)sizeof uuid.bytes, uuid.bytes);
}

/* Returns why the environment allows no hold, or NULL: a variable makes a launch or copy wait for
 * its end. Behind a hold such a call would never return, because the release comes after it. */
static const char *find_blocking(char *reason, size_t size)
{
    static const char *const names[] = {"HIP_LAUNCH_BLOCKING", "AMD_SERIALIZE_KERNEL",
                                        "AMD_SERIALIZE_COPY"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (value == NULL || strtol(value, NULL, 10) == 0)
            continue;
        snprintf(reason, size, "%s makes every launch wait for its end", names[i]);
        return reason;
    }
    return NULL;
}

/* Returns why the library cannot do what needs `lost`, or NULL where it can. */
static const char *find_missing(const char *lost, char *reason, size_t size)
{
    const char *missing = xb_hip_missing(lost);
    if (missing == NULL)
        return NULL;
    snprintf(reason, size, "the HIP runtime has no %s", missing);
    return reason;
}
#define MISSING(lost) find_missing((lost), (char[256]){""}, 256)

static void set_capabilities(struct xb_device_info *info, const struct attributes *found,
                             const char *full)
{
    const char *no_kernels = MISSING("kernels");
    if (no_kernels == NULL && info->architecture[0] == '\0')
        no_kernels = "HIP does not tell the device's architecture, for which they are compiled";
    const char *unmapped = MISSING("mapped");
    if (unmapped == NULL && !found->maps_host_memory)
        unmapped = "its kernels cannot reach host memory";
    bool moves = found->concurrent && found->pageable_access && strstr(full, ":xnack-") == NULL;
    const struct {
        enum xb_capability capability;
        const char *reasons[3]; /* why the device lacks it: the first that is not NULL */
    } rows[] = {
        /* The source of ROCm's clr shows that it only stores the flag and allocates the same
         * memory. */
        {XB_CAP_WRITE_COMBINED, {"HIP takes the flag for it and gives ordinary pinned memory"}},
        {XB_CAP_REGISTER, {MISSING("register")}},
        /* We map memory by registering it: see gpu/buffer.c. */
        {XB_CAP_MAPPED, {MISSING("register"), unmapped}},
        {XB_CAP_FILE, {"xferbench does not open AMD's hipFile yet"}},
        {XB_CAP_KERNELS, {no_kernels}},
        /* A hold is a kernel that spins on mapped host memory. */
        {XB_CAP_HOLD, {no_kernels, unmapped, find_blocking((char[256]){""}, 256)}},
        /* Without XNACK a kernel cannot wait for a page: managed memory stays on the host, and our
         * modes that move pages would measure something else. ConcurrentManagedAccess tells only
         * about the kernel driver; PageableMemoryAccess and the architecture's full name tell about
         * XNACK too. */
        {XB_CAP_MANAGED,
         {MISSING("managed"), found->managed ? NULL : "HIP has no managed memory for it",
          moves ? NULL
                : "XNACK is off, so that no page moves when a kernel touches it; where the GPU can "
                  "(gfx90a, gfx942), HSA_XNACK=1 turns it on"}},
        /* Whether batches work as we ask for them is tried when the device is opened. */
        {XB_CAP_BATCH,
         {xb_hip_missing("batches") == NULL
              ? NULL
              : "the HIP runtime has no hipMemcpyBatchAsync: it needs ROCm 7.1 or newer"}},
        {XB_CAP_GRAPH, {MISSING("graphs")}},
        {XB_CAP_ROWS, {MISSING("rows")}},
        {XB_CAP_POOL, {MISSING("pools"), found->no_pools}},
        {XB_CAP_BULK, {"bulk copies by TMA are NVIDIA's: AMD's GPUs have no such engine"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *const *reasons = rows[i].reasons;
        const char *reason = reasons[0] != NULL   ? reasons[0]
                             : reasons[1] != NULL ? reasons[1]
                                                  : reasons[2];
        if (reason == NULL)
            info->capabilities |= rows[i].capability;
        else
            xb_device_withhold(info, rows[i].capability, reason);
    }
    info->held_operations = HELD_OPERATIONS;
}

/* Notes the settings that figures of AMD devices depend on. */
static void add_facts(struct xb_device_info *info, const struct attributes *found, const char *full)
{
    int large_bar = 0;
    bool known = xb_hip.functions.hipDeviceGetAttribute(&large_bar, hipDeviceAttributeIsLargeBar,
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
    XB_TRY(XB_GPU(
        error, &xb_hip_runtime,
        XB_HIP_CALL(hipDeviceGetName, info->name, (int)sizeof info->name, (hipDevice_t)index),
        "cannot read the name of HIP device %u", index));
    XB_TRY(XB_GPU(error, &xb_hip_runtime,
                  XB_HIP_CALL(hipDeviceGetPCIBusId, bdf, (int)sizeof bdf, (int)index),
                  "cannot read the PCI address of HIP device %u", index));
    XB_TRY(XB_GPU(error, &xb_hip_runtime,
                  XB_HIP_CALL(hipDeviceTotalMem, &bytes, (hipDevice_t)index),
                  "cannot read the memory size of HIP device %u", index));
    for (size_t i = 0; bdf[i] != '\0' && i + 1 < sizeof info->pci_bdf; i++)
        info->pci_bdf[i] = (char)tolower((unsigned char)bdf[i]);
    info->memory_bytes = bytes;
    return XB_OK;
}

static enum xb_status device_info(struct xb_driver *driver, unsigned index,
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
    /* "gfx90a" of "gfx90a:sramecc+:xnack-". It becomes part of a file's name, so it stays "" unless
     * it has only letters, digits and dashes. */
    size_t length = strspn(architecture, "abcdefghijklmnopqrstuvwxyz0123456789-");
    if ((architecture[length] == ':' || architecture[length] == '\0') &&
        length < sizeof info->architecture)
        snprintf(info->architecture, sizeof info->architecture, "%.*s", (int)length, architecture);
    info->shares_host_memory = found.integrated;
    info->engine_by_history = true; /* whatever the release: nothing tells of which it holds */
    info->coherent_with_host = found.direct_access || found.host_page_tables;
    set_capabilities(info, &found, architecture);
    add_facts(info, &found, architecture);
    return XB_OK;
}

static enum xb_status peer_info(struct xb_driver *driver, unsigned index, unsigned other,
                                struct xb_peer_info *info, struct xb_error *error)
{
    (void)driver;
    struct xb_peer_info found = {.can_access = false};
    const char *reason = MISSING("peers");
    if (reason != NULL)
        return XB_FAIL(error, XB_ERR_UNSUPPORTED, "no copies between devices: %s", reason);
    XB_TRY(xb_gpu_peer_access(&xb_hip_runtime, index, other, &found.can_access, error));
    uint32_t type = 0, hops = 0;
    if (xb_hip.functions.hipExtGetLinkTypeAndHopCount != NULL &&
        xb_hip.functions.hipExtGetLinkTypeAndHopCount((int)index, (int)other, &type, &hops) ==
            hipSuccess) {
        if (type == LINK_PCIE || type == LINK_XGMI)
            snprintf(found.link, sizeof found.link, "%s", type == LINK_PCIE ? "PCIe" : "xGMI");
        found.hops = hops;
    }
    *info = found;
    return XB_OK;
}

/* ---- the table ---- */

static void range_push(const char *name)
{
    if (roctx.push != NULL)
        (void)roctx.push(name);
}

static void range_pop(void)
{
    if (roctx.pop != NULL)
        (void)roctx.pop();
}

static void profiler_collect(bool on)
{
    int (*call)(uint64_t thread) = on ? roctx.resume : roctx.pause;
    if (call != NULL)
        (void)call(0);
}

static enum xb_status device_open(struct xb_driver *driver, unsigned index,
                                  struct xb_device **device, struct xb_error *error)
{
    return xb_gpu_device_open(driver, &xb_hip_runtime, index, device, error);
}

const struct xb_backend xb_hip_backend = {
    .name = "hip",
    .summary = "AMD GPUs through the HIP runtime",
    .automatic = true,
    .driver_open = driver_open,
    .driver_close = xb_driver_drop,
    .device_info = device_info,
    .device_open = device_open,
    .peer_info = peer_info,
    .range_push = range_push,
    .range_pop = range_pop,
    .profiler_collect = profiler_collect,
    XB_FILL_KERNELS(xb_gpu_kernels) XB_FILL(XB_GPU_SLOTS, xb_gpu_),
};
