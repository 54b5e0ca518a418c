/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* The CUDA backend: looks for it, describes devices, reads files, tells profilers of ranges. */
#include "cuda.h"
#include "cufile.h"
#include "nvml.h"

#include "backends/slot_checks.h"
#include "machine/pcie.h"

#include <ctype.h>
#include <dlfcn.h>
#include <limits.h> /* for NVTX, whose headers in CUDA 11 and 12 use PATH_MAX without it */
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many operations may be enqueued behind a hold. Where the driver's finite queue of launches is
 * full, enqueuing blocks, and behind a hold it never returns. This is half of what
 * bench/hold_depth.c measured (bench/results/h200/hold-depth.json): other drivers may have less
 * room. */
#define HELD_OPERATIONS 512u

extern const struct xb_backend xb_cuda_backend;

/* For "%d.%d": CUDA's version numbers are 1000 * major + 10 * minor. */
#define VERSION_PARTS(version) (version) / 1000, (version) % 1000 / 10

/* Reads the driver's own version, such as 580.65.06: the first word of digits and dots in the
 * kernel module's first line. CUDA itself tells only which CUDA version the driver supports. `text`
 * is "" before, and where there is none. */
static void read_driver_version(char *text, size_t size)
{
    char line[256] = "";
    char *rest = NULL;
    (void)xb_sysfs_text("/proc/driver/nvidia", "version", line, sizeof line);
    line[strcspn(line, "\n")] = '\0';
    for (char *word = strtok_r(line, " \t", &rest); word != NULL && text[0] == '\0';
         word = strtok_r(NULL, " \t", &rest))
        if (isdigit((unsigned char)word[0]) && strchr(word, '.') != NULL &&
            strspn(word, "0123456789.") == strlen(word))
            snprintf(text, size, "%s", word);
}

/* Reports the driver's version. `counted` is the result of counting the devices, which fails if the
 * driver is too old. */
static void check_version(struct xb_probe *probe, cudaError_t counted)
{
    int driver = 0;
    (void)cudaDriverGetVersion(&driver);
    bool ok = driver > 0 && counted != cudaErrorInsufficientDriver;
    const char *what = "driver version";
    if (driver == 0)
        xb_probe_add(probe, ok, what,
                     "none: the library does not answer; is the driver installed completely?");
    else
        xb_probe_add(probe, ok, what, "supports CUDA %d.%d%s runtime %s%s", VERSION_PARTS(driver),
                     ok ? ", enough for" : ": too old for", probe->runtime_version,
                     ok ? "" : "; update the NVIDIA driver");
    read_driver_version(probe->driver_version, sizeof probe->driver_version);
    if (probe->driver_version[0] == '\0' && driver > 0)
        snprintf(probe->driver_version, sizeof probe->driver_version, "CUDA %d.%d",
                 VERSION_PARTS(driver));
}

static enum xb_status driver_open(struct xb_driver **driver, struct xb_probe *probe,
                                  struct xb_error *error)
{
    memset(probe, 0, sizeof *probe);
    /* The runtime is linked statically, so it has the version of the headers. Asking it does not
     * work without a driver in CUDA 11. */
    int runtime = CUDART_VERSION;
    snprintf(probe->runtime_version, sizeof probe->runtime_version, "%d.%d",
             VERSION_PARTS(runtime));
    /* The runtime opens this library too. But if it is missing, the runtime reports a driver that
     * is too old, so we look for it first. */
    const char *library = "libcuda.so.1";
    const char *what = "driver library libcuda.so.1";
    if (dlopen(library, RTLD_LAZY | RTLD_LOCAL) == NULL) {
        const char *reason = dlerror();
        xb_probe_add(probe, false, what, "not found: install the NVIDIA driver (%.120s)",
                     reason != NULL ? reason : "no reason given");
        xb_probe_add(probe, false, "driver version", "unknown; runtime %s needs one for CUDA %d",
                     probe->runtime_version, runtime / 1000);
        xb_probe_add(probe, false, "CUDA devices", "none can be seen without the driver");
        return XB_FAIL(error, XB_ERR_UNAVAILABLE, "CUDA: the driver library %s is not found",
                       library);
    }
    xb_probe_add(probe, true, what, "found");
    int count = 0; /* stays 0 if counting fails */
    cudaError_t counted = cudaGetDeviceCount(&count);
    (void)cudaGetLastError();
    check_version(probe, counted);
    const char *reason =
        counted == cudaErrorInsufficientDriver ? "not counted: the driver cannot serve this runtime"
        : counted == cudaErrorNoDevice || counted == cudaSuccess
            ? "none: no GPU is there, or CUDA_VISIBLE_DEVICES or the container hides it"
            : NULL;
    XB_TRY(xb_gpu_probe_devices(probe, &xb_cuda_runtime,
                                (struct xb_gpu_outcome){(int)counted, "cudaGetDeviceCount"}, count,
                                reason, error));
    return xb_driver_make(&xb_cuda_backend, "CUDA", driver, error);
}

static enum xb_status read_bus_id(unsigned index, char *text, int size, struct xb_error *error)
{
    return XB_GPU(error, &xb_cuda_runtime,
                  XB_CUDA_CALL(cudaDeviceGetPCIBusId, text, size, (int)index),
                  "cannot read the PCI address of CUDA device %u", index);
}

/* Writes the UUID as nvidia-smi prints it: "GPU-" and groups of 8, 4, 4, 4 and 12 digits. */
static void format_uuid(const char *bytes, char *text, size_t size)
{
    size_t length = (size_t)snprintf(text, size, "GPU");
    for (size_t i = 0; i < 16 && length + 4 < size; i++) {
        const char *dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
        length += (size_t)snprintf(text + length, size - length, "%s%02x", dash,
                                   (unsigned)(unsigned char)bytes[i]);
    }
}

/* Batches of copies need a runtime and a driver that have them. */
static void set_batch(struct xb_device_info *info)
{
    char reason[160];
    int driver = 0;
    (void)cudaDriverGetVersion(&driver);
    bool built_for = CUDART_VERSION >= XB_CUDA_BATCH;
    if (built_for && driver >= XB_CUDA_BATCH) {
        info->capabilities |= XB_CAP_BATCH;
        return;
    }
    snprintf(reason, sizeof reason, "it needs CUDA %d.%d, and %s %d.%d: %s",
             VERSION_PARTS(XB_CUDA_BATCH), built_for ? "the driver supports" : "this build has",
             VERSION_PARTS(built_for ? driver : CUDART_VERSION),
             built_for ? "update the NVIDIA driver" : "build with a newer toolkit");
    xb_device_withhold(info, XB_CAP_BATCH, reason);
}

/* Bulk copies need a GPU that makes them; loading the kernels tells whether there is code for it.
 */
static void set_bulk(struct xb_device_info *info, int major)
{
    if (major >= 9)
        info->capabilities |= XB_CAP_BULK;
    else
        xb_device_withhold(info, XB_CAP_BULK,
                           "it has no TMA engine: GPUs from Hopper (sm_90) on have one");
}

static enum xb_status device_info(struct xb_driver *driver, unsigned index,
                                  struct xb_device_info *info, struct xb_error *error)
{
    (void)driver;
    memset(info, 0, sizeof *info);
    struct cudaDeviceProp properties;
    int can_register = 0, has_pools = 0;
    char bdf[32] = "";
    XB_TRY(XB_GPU(error, &xb_cuda_runtime,
                  XB_CUDA_CALL(cudaGetDeviceProperties, &properties, (int)index),
                  "cannot read the properties of CUDA device %u", index));
    /* cudaDeviceProp has these fields only since CUDA 12. */
    XB_TRY(XB_GPU(error, &xb_cuda_runtime,
                  XB_CUDA_CALL(cudaDeviceGetAttribute, &can_register,
                               cudaDevAttrHostRegisterSupported, (int)index),
                  "cannot read whether CUDA device %u registers host memory", index));
    (void)cudaDeviceGetAttribute(&has_pools, cudaDevAttrMemoryPoolsSupported, (int)index);
    XB_TRY(read_bus_id(index, bdf, (int)sizeof bdf, error));
    info->index = index;
    snprintf(info->name, sizeof info->name, "%.*s", (int)sizeof info->name - 1, properties.name);
    format_uuid(properties.uuid.bytes, info->uuid, sizeof info->uuid);
    snprintf(info->architecture, sizeof info->architecture, "sm_%d%d", properties.major,
             properties.minor);
    for (size_t i = 0; bdf[i] != '\0' && i + 1 < sizeof info->pci_bdf; i++)
        info->pci_bdf[i] = (char)tolower((unsigned char)bdf[i]);
    info->memory_bytes = properties.totalGlobalMem;
    info->capabilities = XB_CAP_WRITE_COMBINED | XB_CAP_KERNELS | XB_CAP_GRAPH | XB_CAP_ROWS;
    if (can_register)
        info->capabilities |= XB_CAP_REGISTER;
    /* We map memory by registering it: see gpu/buffer.c. */
    if (properties.canMapHostMemory && can_register)
        info->capabilities |= XB_CAP_MAPPED;
    /* Without concurrent access, the CPU must not touch any managed memory while the GPU works, and
     * no page moves on demand: the driver moves all memory before a kernel starts. */
    if (properties.managedMemory && properties.concurrentManagedAccess)
        info->capabilities |= XB_CAP_MANAGED;
    /* A hold spins on host memory until its release. With CUDA_LAUNCH_BLOCKING its launch would
     * wait for the kernel's end, and the release would never come. */
    const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
    if (properties.canMapHostMemory && (blocking == NULL || strtol(blocking, NULL, 10) == 0))
        info->capabilities |= XB_CAP_HOLD;
    set_batch(info);
    set_bulk(info, properties.major);
    if (has_pools)
        info->capabilities |= XB_CAP_POOL;
    else
        xb_device_withhold(info, XB_CAP_POOL, "CUDA has no memory pool for it");
    if (xb_cufile_path() != NULL)
        info->capabilities |= XB_CAP_FILE;
    else
        xb_device_withhold(info, XB_CAP_FILE,
                           "libcufile.so.0 is not found, nor in LD_LIBRARY_PATH, CUDA_HOME and "
                           "/usr/local/cuda: install NVIDIA's GPUDirect Storage (libcufile of the "
                           "CUDA Toolkit)");
    info->held_operations = HELD_OPERATIONS;
    info->shares_host_memory = properties.integrated != 0;
    xb_device_fact(info, "copy_engines", "%d", properties.asyncEngineCount);
    xb_device_tells_access(info, properties.pageableMemoryAccess != 0,
                           properties.pageableMemoryAccessUsesHostPageTables != 0);
    info->coherent_with_host = properties.directManagedMemAccessFromHost != 0 ||
                               properties.pageableMemoryAccessUsesHostPageTables != 0;
    return XB_OK;
}

static void device_health(struct xb_driver *driver, unsigned index, unsigned parts,
                          struct xb_device_health *health)
{
    (void)driver;
    char bus_id[32] = "";
    struct xb_error ignored;
    memset(health, 0, sizeof *health);
    if (read_bus_id(index, bus_id, (int)sizeof bus_id, &ignored) == XB_OK)
        xb_nvml_health(bus_id, parts, health);
}

static void device_setup(struct xb_driver *driver, unsigned index, struct xb_device_setup *setup)
{
    (void)driver;
    char bus_id[32] = "";
    struct xb_error ignored;
    memset(setup, 0, sizeof *setup);
    if (read_bus_id(index, bus_id, (int)sizeof bus_id, &ignored) == XB_OK)
        xb_nvml_setup(bus_id, setup);
}

static enum xb_status peer_info(struct xb_driver *driver, unsigned index, unsigned other,
                                struct xb_peer_info *info, struct xb_error *error)
{
    (void)driver;
    struct xb_peer_info found = {.can_access = false};
    char bus_id[32] = "";
    char other_bus_id[32] = "";
    XB_TRY(xb_gpu_peer_access(&xb_cuda_runtime, index, other, &found.can_access, error));
    XB_TRY(read_bus_id(index, bus_id, (int)sizeof bus_id, error));
    XB_TRY(read_bus_id(other, other_bus_id, (int)sizeof other_bus_id, error));
    bool known = xb_nvml_describe_pair(bus_id, other_bus_id, &found);
    /* A device that reaches its peer without NVLink uses the bus. */
    if (known && found.can_access && found.link[0] == '\0')
        snprintf(found.link, sizeof found.link, "PCIe");
    *info = found;
    return XB_OK;
}

static enum xb_status file_open(struct xb_device *device, int descriptor, struct xb_file **file,
                                struct xb_error *error)
{
    XB_TRY(xb_capability_check(device, XB_CAP_FILE, "no libcufile", error));
    XB_TRY(xb_gpu_select(device, error));
    struct xb_cufile_reads *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to open a file");
    opened->base.device = device;
    enum xb_status status = xb_cufile_reads_open(opened, descriptor, error);
    return XB_OPENED(status, opened, free(opened), file);
}

static void file_close(struct xb_file *file)
{
    struct xb_error ignored;
    if (file == NULL)
        return;
    (void)!xb_gpu_select(file->device, &ignored);
    xb_cufile_reads_close((struct xb_cufile_reads *)file);
    free(file);
}

static enum xb_status file_read(struct xb_file *file, uint64_t file_offset,
                                struct xb_buffer *buffer, uint64_t offset, uint64_t bytes,
                                struct xb_error *error)
{
    XB_TRY(xb_file_read_check(file, buffer, offset, bytes, error));
    XB_TRY(xb_gpu_select(file->device, error));
    return xb_cufile_reads_read((struct xb_cufile_reads *)file, file_offset,
                                xb_gpu_buffer_address(buffer, 0), buffer->bytes, offset, bytes,
                                error);
}

static enum xb_status file_way(struct xb_file *file, struct xb_file_way *way,
                               struct xb_error *error)
{
    XB_TRY(xb_gpu_select(file->device, error));
    return xb_cufile_reads_way((struct xb_cufile_reads *)file, way, error);
}

/* What NVIDIA's profilers are told: named ranges, and from where to where they may collect. NVTX is
 * headers only; a profiler names the library that records ranges in an environment variable.
 * Without one a range costs one check of a pointer. */

/* The runtime has them, also where its header for them, a package of its own, is not installed. */
cudaError_t CUDARTAPI cudaProfilerStart(void);
cudaError_t CUDARTAPI cudaProfilerStop(void);

static void range_push(const char *name)
{
    (void)nvtxRangePushA(name);
}

static void range_pop(void)
{
    (void)nvtxRangePop();
}

/* An error of these calls is the profiler's. No later call may report it as its own. */
static void profiler_collect(bool on)
{
    if ((on ? cudaProfilerStart() : cudaProfilerStop()) != cudaSuccess)
        (void)cudaGetLastError();
}

static enum xb_status device_open(struct xb_driver *driver, unsigned index,
                                  struct xb_device **device, struct xb_error *error)
{
    return xb_gpu_device_open(driver, &xb_cuda_runtime, index, device, error);
}

const struct xb_backend xb_cuda_backend = {
    .name = "cuda",
    .summary = "NVIDIA GPUs through the CUDA runtime",
    .automatic = true,
    .driver_open = driver_open,
    .driver_close = xb_driver_drop,
    .device_info = device_info,
    .device_health = device_health,
    .device_setup = device_setup,
    .device_open = device_open,
    .file_open = file_open,
    .file_close = file_close,
    .file_read = file_read,
    .file_way = file_way,
    .peer_info = peer_info,
    .range_push = range_push,
    .range_pop = range_pop,
    .profiler_collect = profiler_collect,
    XB_FILL_KERNELS(xb_gpu_kernels) XB_FILL(XB_GPU_SLOTS, xb_gpu_),
};
