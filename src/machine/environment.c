/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "environment.h"

#include "base/clock.h"
#include "host_memory.h"
#include "pcie.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Copies the value in the first line of that name, without quotes. False if there is none. */
static bool read_value(const char *folder, const char *file, const char *name, char *value,
                       size_t size)
{
    char text[4096];
    const char *found =
        xb_sysfs_text(folder, file, text, sizeof text) ? xb_line_value(text, name) : NULL;
    if (found == NULL)
        return false;
    found += strspn(found, "\"'");
    snprintf(value, size, "%.*s", (int)strcspn(found, "\"'\n"), found);
    return true;
}

void xb_host_facts_read(struct xb_host_facts *facts)
{
    memset(facts, 0, sizeof *facts);
    struct utsname system;
    if (uname(&system) == 0) {
        snprintf(facts->hostname, sizeof facts->hostname, "%s", system.nodename);
        snprintf(facts->kernel, sizeof facts->kernel, "%s %s %s", system.sysname, system.release,
                 system.machine);
    }
    if (!read_value("/etc", "os-release", "PRETTY_NAME", facts->os, sizeof facts->os))
        (void)read_value("/usr/lib", "os-release", "PRETTY_NAME", facts->os, sizeof facts->os);
    (void)read_value("/proc", "cpuinfo", "model name", facts->cpu_model, sizeof facts->cpu_model);
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    if (cpus > 0)
        facts->logical_cpus = (unsigned)cpus;
    long pages = sysconf(_SC_PHYS_PAGES);
    long page_bytes = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page_bytes > 0)
        facts->memory_bytes = (uint64_t)pages * (uint64_t)page_bytes;
}

void xb_platform_read(const char *root, struct xb_platform *platform)
{
    char text[4096], folder[PATH_MAX], vendor[48] = "", product[48] = "";
    memset(platform, 0, sizeof *platform);
    snprintf(folder, sizeof folder, "%s/sys/module/pcie_aspm/parameters", root);
    if (xb_sysfs_text(folder, "policy", text, sizeof text) && strchr(text, '[') != NULL) {
        const char *chosen = strchr(text, '[') + 1; /* "default [performance] powersave" */
        snprintf(platform->aspm_policy, sizeof platform->aspm_policy, "%.*s",
                 (int)strcspn(chosen, "]"), chosen);
    }
    /* An x86 CPU tells whether a hypervisor is there, and the board whose. */
    snprintf(folder, sizeof folder, "%s/proc", root);
    const char *flags =
        xb_sysfs_text(folder, "cpuinfo", text, sizeof text) ? xb_line_value(text, "flags") : NULL;
    if (flags == NULL)
        return;
    text[flags - text + (long)strcspn(flags, "\n")] = '\0';
    bool is_virtual = strstr(flags, " hypervisor") != NULL;
    snprintf(folder, sizeof folder, "%s/sys/class/dmi/id", root);
    (void)read_value(folder, "sys_vendor", "", vendor, sizeof vendor);
    (void)read_value(folder, "product_name", "", product, sizeof product);
    snprintf(platform->hypervisor, sizeof platform->hypervisor, "%s%s%s",
             !is_virtual         ? "none"
             : vendor[0] == '\0' ? "unnamed"
                                 : vendor,
             is_virtual && product[0] != '\0' ? " " : "", is_virtual ? product : "");
}

/* Every variable stands here in full: a pattern such as "HIP_*" would also record those of a user's
 * own programs, which may hold passwords. A listed one holds a number, a word, a list of devices or
 * a path, and changes which devices are visible, how memory is allocated, how a copy or a kernel is
 * enqueued, executed or waited for, or what runs beside it. Sources: CUDA Programming Guide 13, 5.2
 * "CUDA Environment Variables", and "Multi-Process Service", "Environment Variables"; CUPTI's user
 * guide (CUDA_INJECTION64_PATH); NVIDIA's container toolkit (NVIDIA_*); ROCm/clr
 * rocclr/utils/flags.hpp (AMD_*, GPU_*, HIP_*, ROC_*, DEBUG_*); ROCm/ROCR-Runtime core/util/flag.h
 * (HSA_*, ROCR_*) and libhsakmt (HSA_OVERRIDE_GFX_VERSION). */
static const char *const recorded[] = {
    /* CUDA: which devices are visible. */
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES",
    "NVIDIA_DRIVER_CAPABILITIES",
    /* CUDA: memory, queues, clocks. */
    "CUDA_MANAGED_FORCE_DEVICE_ALLOC", "CUDA_LAUNCH_BLOCKING", "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUDA_DEVICE_MAX_COPY_CONNECTIONS", "CUDA_SCALE_LAUNCH_QUEUES", "CUDA_PREFER_SPINLOCKS_ON_HOST",
    "CUDA_DEVICE_DEFAULT_PERSISTING_L2_CACHE_PERCENTAGE_LIMIT", "CUDA_DISABLE_PERF_BOOST",
    "CUDA_AUTO_BOOST",
    /* CUDA: which code of a kernel runs, and when it is loaded. */
    "CUDA_MODULE_LOADING", "CUDA_MODULE_DATA_LOADING", "CUDA_FORCE_PRELOAD_LIBRARIES",
    "CUDA_FORCE_JIT", "CUDA_FORCE_PTX_JIT", "CUDA_DISABLE_JIT", "CUDA_DISABLE_PTX_JIT",
    "CUDA_CACHE_DISABLE", "CUDA_CACHE_MAXSIZE", "CUDA_CACHE_PATH",
    /* CUDA: other programs on the device, and tools inside this one. */
    "CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
    "CUDA_MPS_ENABLE_PER_CTX_DEVICE_MULTIPROCESSOR_PARTITIONING",
    "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", "CUDA_MPS_CLIENT_PRIORITY", "CUDA_INJECTION64_PATH",
    "CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "CUDA_ENABLE_LIGHTWEIGHT_COREDUMP",
    "CUDA_DEVICE_WAITS_ON_EXCEPTION",
    /* HIP: which library is loaded, which devices are visible, and as which architecture. */
    "XFERBENCH_HIP_LIBRARY", "ROCM_PATH", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
    "GPU_DEVICE_ORDINAL", "HSA_OVERRIDE_GFX_VERSION",
    /* HIP: memory. */
    "HIP_HOST_COHERENT", "HIP_HIDDEN_FREE_MEM", "HIP_MEM_POOL_SUPPORT", "HIP_VMEM_MANAGE_SUPPORT",
    "HSA_XNACK", "HSA_ENABLE_SRAMECC", "HSA_FORCE_FINE_GRAIN_PCIE",
    "HSA_DISABLE_FRAGMENT_ALLOCATOR", "HSA_LOCAL_MEMORY_ENABLE", "HSA_SVM_PROFILE", "ROC_HMM_FLAGS",
    "ROC_ENABLE_LARGE_BAR", "REMOTE_ALLOC", "DISABLE_DEFERRED_ALLOC", "GPU_MAX_HEAP_SIZE",
    "GPU_SINGLE_ALLOC_PERCENT", "GPU_MAX_SUBALLOC_SIZE", "GPU_MAX_USWC_ALLOC_SIZE",
    "GPU_MAX_REMOTE_MEM_SIZE", "GPU_RESOURCE_CACHE_SIZE", "GPU_NUM_MEM_DEPENDENCY",
    /* HIP: which engine copies, and how. */
    "HSA_ENABLE_SDMA", "HSA_ENABLE_PEER_SDMA", "HSA_ENABLE_SDMA_GANG",
    "HSA_ENABLE_SDMA_COPY_SIZE_OVERRIDE", "HSA_ENABLE_SDMA_RECOMMENDED_ENG",
    "HSA_ENABLE_SDMA_HDP_FLUSH", "HSA_SDMA_ROUND_ROBIN", "HSA_SDMA_ROUND_ROBIN_PCIE_XGMI",
    "ROCR_SDMA_ROUND_ROBIN", "ROCR_SDMA_ROUND_ROBIN_PCIE_XGMI", "HSA_SDMA_WAIT_IDLE",
    "HSA_FORCE_SDMA_SIZE", "HSA_CO_DMACOPY_SIZE", "HSA_DISCOVER_COPY_AGENTS", "HSA_REV_COPY_DIR",
    "ROC_P2P_SDMA_SIZE", "ROC_SKIP_COPY_SYNC", "GPU_BLIT_ENGINE_TYPE", "GPU_FORCE_BLIT_COPY_SIZE",
    "GPU_CP_DMA_COPY_SIZE", "GPU_ENABLE_HW_P2P", "GPU_STAGING_BUFFER_SIZE", "GPU_PINNED_XFER_SIZE",
    "GPU_PINNED_MIN_XFER_SIZE", "GPU_XFER_BUFFER_SIZE", "DEBUG_CLR_LIMIT_BLIT_WG",
    "DEBUG_CLR_BLIT_KERNARG_OPT",
    /* HIP: queues, launches, waiting. */
    "GPU_MAX_HW_QUEUES", "GPU_MAX_COMMAND_BUFFERS", "GPU_MAX_COMMAND_QUEUES",
    "GPU_NUM_COMPUTE_RINGS", "GPU_USE_DEVICE_QUEUE", "GPU_FLUSH_ON_EXECUTION",
    "GPU_STREAMOPS_CP_WAIT", "GPU_FORCE_QUEUE_PROFILING", "HIP_FORCE_QUEUE_PROFILING",
    "HIP_LAUNCH_BLOCKING", "HIP_FORCE_DEV_KERNARG", "AMD_SERIALIZE_KERNEL", "AMD_SERIALIZE_COPY",
    "AMD_DIRECT_DISPATCH", "AMD_OPT_FLUSH", "AMD_CPU_AFFINITY", "HSA_MAX_QUEUES",
    "HSA_ALLOCATE_QUEUE_DEV_MEM", "HSA_KERNARG_POOL_SIZE", "HSA_ENABLE_INTERRUPT",
    "HSA_ENABLE_MWAITX", "HSA_OVERRIDE_CPU_AFFINITY_DEBUG", "HSA_ASYNCEVENTS_THREAD_PRIORITY",
    "HSA_CU_MASK", "ROC_GLOBAL_CU_MASK", "ROC_ACTIVE_WAIT_TIMEOUT", "ROC_CPU_WAIT_FOR_SIGNAL",
    "ROC_SYSTEM_SCOPE_SIGNAL", "ROC_SIGNAL_POOL_SIZE", "ROC_AQL_QUEUE_SIZE", "ROC_USE_FGS_KERNARG",
    "ROC_SKIP_KERNEL_ARG_COPY", "DEBUG_CLR_MAX_BATCH_SIZE", "DEBUG_CLR_BATCH_CPU_SYNC_SIZE",
    "DEBUG_HIP_BLOCK_SYNC", "DEBUG_HIP_DYNAMIC_QUEUES",
    /* HIP: logging, tracing and debugging, which slow everything down. */
    "AMD_LOG_LEVEL", "AMD_LOG_MASK", "AMD_THREAD_TRACE_ENABLE", "GPU_DEBUG_ENABLE",
    "GPU_ANALYZE_HANG", "HSA_ENABLE_DEBUG", "HSA_TOOLS_LIB"};

bool xb_environment_is_recorded(const char *variable)
{
    size_t length = strcspn(variable, "=");
    for (size_t i = 0; i < sizeof recorded / sizeof recorded[0]; i++)
        if (strncmp(variable, recorded[i], length) == 0 && recorded[i][length] == '\0')
            return true;
    return false;
}

/* ---- how busy the host is ---- */

/* More than a core's caches hold, read at places that no prefetcher guesses. */
#define BYTES ((size_t)64 << 20)
#define HUGE_PAGE ((size_t)2 << 20)
#define LINE 64
#define LOADS 400

bool xb_cpu_times_read(const char *path, struct xb_cpu_times *times)
{
    char line[512];
    FILE *file = fopen(path, "re");
    memset(times, 0, sizeof *times);
    if (file == NULL)
        return false;
    /* user, nice, system, idle, iowait, irq, softirq, steal; guests are in the first two */
    unsigned long long t[8] = {0};
    bool ok = fgets(line, sizeof line, file) != NULL &&
              sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2],
                     &t[3], &t[4], &t[5], &t[6], &t[7]) >= 5;
    while (ok && fgets(line, sizeof line, file) != NULL && strncmp(line, "cpu", 3) == 0)
        times->cpus++;
    fclose(file);
    if (!ok || times->cpus == 0)
        return false;
    times->busy = t[0] + t[1] + t[2] + t[5] + t[6] + t[7];
    times->total = times->busy + t[3] + t[4];
    return true;
}

struct xb_memory_probe {
    volatile uint64_t *memory;
    uint64_t state; /* which line is next */
};

struct xb_memory_probe *xb_memory_probe_open(void)
{
    struct xb_error ignored;
    if (xb_host_memory_check(BYTES, &ignored) != XB_OK)
        return NULL;
    struct xb_memory_probe *probe = calloc(1, sizeof *probe);
    void *memory = aligned_alloc(HUGE_PAGE, BYTES);
    if (probe == NULL || memory == NULL) {
        free(memory);
        free(probe);
        return NULL;
    }
    (void)madvise(memory, BYTES, MADV_HUGEPAGE); /* else walks of page tables are timed too */
    memset(memory, 0, BYTES);
    probe->memory = memory;
    return probe;
}

void xb_memory_probe_close(struct xb_memory_probe *probe)
{
    if (probe != NULL)
        free((void *)probe->memory);
    free(probe);
}

/* Each load has to wait for the one before, because its place depends on the value, a zero. The
 * places are those of Knuth's generator MMIX (The Art of Computer Programming 2, 3.3.4). */
double xb_memory_probe_time(struct xb_memory_probe *probe)
{
    double begin = xb_clock_now();
    for (int i = 0; i < LOADS; i++)
        probe->state = probe->state * UINT64_C(6364136223846793005) +
                       UINT64_C(1442695040888963407) +
                       probe->memory[(probe->state >> 20) % (BYTES / LINE) * (LINE / 8)];
    return (xb_clock_now() - begin) / LOADS;
}
