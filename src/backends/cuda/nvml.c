/* SPDX-License-Identifier: Apache-2.0 */
/* Opens NVML, and reads a device's state: PCIe link, clocks, throttling, NVLinks. */
#include "nvml.h"

#include "backends/symbols.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* The library writes to these structures, so they must have its layout on every machine. */
_Static_assert(sizeof(struct xb_nvml_field) == 40, "nvmlFieldValue_t has 40 bytes");
_Static_assert(sizeof(struct xb_nvml_pci) == 68, "nvmlPciInfo_t has 68 bytes");
_Static_assert(sizeof(struct xb_nvml_confidential_settings) == 20, "it has 20 bytes");

static struct xb_nvml library;
static bool usable;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Whether the library has that function, and it succeeds. */
#define ASK(function, ...)                                                                         \
    (library.function != NULL && library.function(__VA_ARGS__) == XB_NVML_SUCCESS)

static void open_library(void)
{
    static const struct xb_symbol symbols[] = {
#define X(field, symbol, parameters) {#symbol, offsetof(struct xb_nvml, field), "a fact"},
        XB_NVML_FUNCTIONS(X)
#undef X
    };
    void *handle = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (handle == NULL)
        return;
    (void)xb_symbols_find(handle, symbols, sizeof symbols / sizeof symbols[0], &library);
    usable = library.init != NULL && library.init() == XB_NVML_SUCCESS;
}

bool xb_nvml_find(const char *bus_id, xb_nvml_device *device)
{
    pthread_once(&once, open_library);
    return usable && ASK(device_by_bus_id, bus_id, device);
}

static bool number_of(xb_nvml_device device, unsigned field, unsigned scope, double *value)
{
    struct xb_nvml_field asked = {.field = field, .scope = scope};
    if (!ASK(field_values, device, 1, &asked) || asked.result != XB_NVML_SUCCESS ||
        asked.type < XB_NVML_DOUBLE || asked.type > XB_NVML_SIGNED_LONG_LONG)
        return false;
    *value = asked.type == XB_NVML_DOUBLE               ? asked.value.as_double
             : asked.type == XB_NVML_UNSIGNED           ? asked.value.as_unsigned
             : asked.type == XB_NVML_UNSIGNED_LONG      ? (double)asked.value.as_unsigned_long
             : asked.type == XB_NVML_UNSIGNED_LONG_LONG ? (double)asked.value.as_unsigned_long_long
                                                        : (double)asked.value.as_signed_long_long;
    return true;
}

/* ---- NVLinks ---- */

#define P2P_CAPABILITY_NVLINK 2 /* NVML_P2P_CAPS_INDEX_NVLINK */
#define P2P_OK 0                /* NVML_P2P_STATUS_OK */
#define P2P_UNKNOWN 6           /* NVML_P2P_STATUS_UNKNOWN */
#define LINK_INACTIVE 0         /* NVML_FEATURE_DISABLED */
#define REMOTE_IS_GPU 0         /* NVML_NVLINK_DEVICE_TYPE_GPU */
#define REMOTE_IS_CPU 1         /* NVML_NVLINK_DEVICE_TYPE_IBMNPU */
/* Both are in megabytes per second: one belongs to the link in the scope, the other is common to
 * all active links. */
#define FIELD_LINK_SPEED 164u  /* NVML_FI_DEV_NVLINK_GET_SPEED */
#define FIELD_COMMON_SPEED 90u /* NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON */

/*
 * Where each counter is read: in the first of these fields that there is, else by
 * nvmlDeviceGetNvLinkErrorCounter, which alone older drivers have. Fields 161 to 163 end with
 * Hopper, 214 and 215 begin with Blackwell (NVML API Reference Guide, "Field Value Enums" and
 * "Change Log"). These are what `nvidia-smi nvlink -e` shows. CRC_DATA and ECC_DATA of that
 * function are no errors: on two healthy H200s (driver 580.159.04) both rose on every link, by 0 to
 * 4 in 3 s at rest and by 30 to 90 in 1.6 TB of copies between the two, while all others and
 * nvidia-smi stayed at 0. The link repairs what they count; nothing is sent again.
 */
#define NONE 0
#define FIELDS 2
static const struct {
    unsigned fields[FIELDS]; /* NVML_FI_DEV_NVLINK_..., or NONE */
    int counter;             /* 1 + nvmlNvLinkErrorCounter_t, or NONE */
} sources[XB_NVLINK_COUNTERS] = {
    [XB_NVLINK_REPLAYS] = {{161}, 1},         /* ERROR_DL_REPLAY */
    [XB_NVLINK_RECOVERIES] = {{162, 215}, 2}, /* ERROR_DL_RECOVERY, COUNT_LINK_RECOVERY_EVENTS */
    [XB_NVLINK_FAILED_RECOVERIES] = {{214}, NONE}, /* COUNT_LINK_RECOVERY_FAILED_EVENTS */
    [XB_NVLINK_CRC_ERRORS] = {{163}, 3},           /* ERROR_DL_CRC */
};

static bool read_nvlink_count(xb_nvml_device device, unsigned link, enum xb_nvlink_counter which,
                              uint64_t *count)
{
    for (size_t i = 0; i < FIELDS && sources[which].fields[i] != NONE; i++) {
        double value = 0;
        if (!number_of(device, sources[which].fields[i], link, &value) || value < 0)
            continue;
        *count = (uint64_t)value;
        return true;
    }
    unsigned long long counted = 0;
    if (sources[which].counter == NONE ||
        !ASK(link_errors, device, link, sources[which].counter - 1, &counted))
        return false;
    *count = counted;
    return true;
}

/* Bytes per second each way; 0 where unknown. */
static double read_nvlink_rate(xb_nvml_device device, unsigned link)
{
    double megabytes = 0;
    if (!number_of(device, FIELD_LINK_SPEED, link, &megabytes) || megabytes <= 0)
        (void)number_of(device, FIELD_COMMON_SPEED, 0, &megabytes);
    return megabytes > 0 ? megabytes * 1e6 : 0;
}

static bool read_nvlink_state(xb_nvml_device device, unsigned link, bool *active)
{
    int state = LINK_INACTIVE;
    if (!ASK(link_state, device, link, &state))
        return false;
    *active = state != LINK_INACTIVE;
    return true;
}

/* Whether a link may lead to `other`. A switch leads to every device, a CPU to none; a link counts
 * where the library does not tell. */
static bool link_leads_to(xb_nvml_device device, unsigned link, const struct xb_nvml_pci *other)
{
    int type = 0;
    if (!ASK(link_remote_type, device, link, &type))
        return true;
    if (type != REMOTE_IS_GPU)
        return type != REMOTE_IS_CPU;
    struct xb_nvml_pci remote = {.bus_id = ""};
    if (!ASK(link_remote_pci, device, link, &remote))
        return true;
    return remote.domain == other->domain && remote.bus == other->bus &&
           remote.device == other->device;
}

/* Counts the links from `device` to `other`. *first becomes the number of the first link. */
static unsigned count_nvlinks(xb_nvml_device device, xb_nvml_device other, unsigned *first)
{
    struct xb_nvml_pci pci = {.bus_id = ""};
    if (!ASK(pci_info, other, &pci))
        return 0;
    unsigned count = 0;
    for (unsigned link = 0; link < XB_NVLINKS; link++) {
        bool active = false;
        if (!read_nvlink_state(device, link, &active) || !active ||
            !link_leads_to(device, link, &pci))
            continue;
        if (count++ == 0)
            *first = link;
    }
    return count;
}

bool xb_nvml_describe_pair(const char *bus_id, const char *other_bus_id, struct xb_peer_info *info)
{
    xb_nvml_device device = NULL;
    xb_nvml_device other = NULL;
    int nvlink = !P2P_OK;
    if (!xb_nvml_find(bus_id, &device) || !xb_nvml_find(other_bus_id, &other) ||
        !ASK(p2p_status, device, other, P2P_CAPABILITY_NVLINK, &nvlink))
        return false;
    if (nvlink != P2P_OK)
        return nvlink != P2P_UNKNOWN;
    snprintf(info->link, sizeof info->link, "NVLink");
    unsigned first = 0;
    info->links = count_nvlinks(device, other, &first);
    info->link_rate = read_nvlink_rate(device, first);
    return true;
}

/* ---- the rest of a device's state ---- */

#define CLOCK_SM 1     /* NVML_CLOCK_SM */
#define CLOCK_MEMORY 2 /* NVML_CLOCK_MEM */
#define SENSOR_GPU 0   /* NVML_TEMPERATURE_GPU */

/* The bits of nvmlClocksThrottleReason*, with words shortened from the NVML API Reference Guide. */
static const struct {
    unsigned long long bit;
    const char *words;
    bool by_hardware;
} reasons[] = {
    {0x1, "idle", false},
    {0x2, XB_CLOCKS_ARE_SET, false},
    {0x4, "power cap", false},
    {0x8, "hardware slowdown", false}, /* the bit is also set while clocks change */
    {0x10, "sync boost", false},
    {0x20, "software thermal slowdown", false},
    {0x40, "hardware thermal slowdown", true},
    {0x80, "hardware power brake", true},
    {0x100, "display clock setting", false},
};

static void read_throttle(xb_nvml_device device, struct xb_device_health *health)
{
    unsigned long long now = 0;
    if (!ASK(throttle_reasons, device, &now))
        return;
    health->throttle_known = true;
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        size_t length = strlen(health->throttle);
        if ((now & reasons[i].bit) == 0)
            continue;
        snprintf(health->throttle + length, sizeof health->throttle - length, "%s%s",
                 length > 0 ? ", " : "", reasons[i].words);
        health->slowed_by_hardware = health->slowed_by_hardware || reasons[i].by_hardware;
    }
}

/* NVML_FI_DEV_PCIE_L0_TO_RECOVERY_COUNTER and NVML_FI_DEV_PCIE_COUNT_... (NVML API Reference Guide,
 * "Field Value Enums"). H100s and H200s tell them in virtual machines and without root. */
static const unsigned counter_fields[XB_PCIE_COUNTERS] = {
    [XB_PCIE_RETRAINS] = 169,        [XB_PCIE_CORRECTABLE] = 173, [XB_PCIE_NAKS_RECEIVED] = 174,
    [XB_PCIE_RECEIVER_ERRORS] = 175, [XB_PCIE_BAD_TLPS] = 176,    [XB_PCIE_NAKS_SENT] = 177,
    [XB_PCIE_BAD_DLLPS] = 178,       [XB_PCIE_NONFATAL] = 179,    [XB_PCIE_FATAL] = 180,
    [XB_PCIE_UNSUPPORTED] = 181,     [XB_PCIE_LCRC_ERRORS] = 182, [XB_PCIE_LANE_ERRORS] = 183,
};

/* Both count at every reading, 150 us apart, what crossed the link (an H100, driver 580.159.04). */
#define FIELD_BYTES_SENT 197u     /* NVML_FI_DEV_PCIE_COUNT_TX_BYTES: by the device */
#define FIELD_BYTES_RECEIVED 198u /* NVML_FI_DEV_PCIE_COUNT_RX_BYTES */

static bool read_count(xb_nvml_device device, unsigned field, uint64_t *count)
{
    double value = 0;
    bool known = number_of(device, field, 0, &value) && value >= 0 && value < 0x1p64;
    *count = known ? (uint64_t)value : 0;
    return known;
}

void xb_nvml_health(const char *bus_id, unsigned parts, struct xb_device_health *health)
{
    xb_nvml_device device = NULL;
    memset(health, 0, sizeof *health);
    if (!xb_nvml_find(bus_id, &device))
        return;
    if (parts & XB_HEALTH_COUNTERS) {
        unsigned replays = 0;
        health->replays_known = ASK(pcie_replays, device, &replays);
        health->replays = replays;
        for (size_t i = 0; i < XB_PCIE_COUNTERS; i++)
            health->counted[i] = read_count(device, counter_fields[i], &health->counts[i]);
    }
    if (parts & XB_HEALTH_TRAFFIC) {
        uint64_t sent, received;
        health->counted[XB_PCIE_RETRAINS] =
            read_count(device, counter_fields[XB_PCIE_RETRAINS], &health->counts[XB_PCIE_RETRAINS]);
        health->traffic_known = read_count(device, FIELD_BYTES_SENT, &sent) &&
                                read_count(device, FIELD_BYTES_RECEIVED, &received);
        health->bytes_sent = health->traffic_known ? (uint32_t)sent : 0;
        health->bytes_received = health->traffic_known ? (uint32_t)received : 0;
    }
    if (parts & XB_HEALTH_CLOCKS) {
        health->clocks_known = ASK(clock, device, CLOCK_SM, &health->sm_clock_mhz) &&
                               ASK(clock, device, CLOCK_MEMORY, &health->memory_clock_mhz);
        if (!ASK(best_clock, device, CLOCK_SM, &health->sm_clock_best_mhz))
            health->sm_clock_best_mhz = 0;
        if (!ASK(best_clock, device, CLOCK_MEMORY, &health->memory_clock_best_mhz))
            health->memory_clock_best_mhz = 0;
        read_throttle(device, health);
    }
    if (parts & XB_HEALTH_POWER) {
        unsigned milliwatts = 0;
        health->temperature_known = ASK(temperature, device, SENSOR_GPU, &health->temperature_c);
        health->power_known = ASK(power, device, &milliwatts);
        health->power_w = milliwatts / 1e3;
    }
    for (unsigned i = 0; (parts & XB_HEALTH_NVLINKS) && i < XB_NVLINKS; i++) {
        struct xb_nvlink *link = &health->nvlinks[i];
        link->known = read_nvlink_state(device, i, &link->active);
        if (!link->known)
            continue;
        health->nvlinks_known = true;
        health->nvlinks_active += link->active;
        health->nvlinks_inactive += !link->active;
        if (link->active)
            link->rate = read_nvlink_rate(device, i);
        for (enum xb_nvlink_counter which = 0; which < XB_NVLINK_COUNTERS; which++)
            link->counted[which] = read_nvlink_count(device, i, which, &link->counts[which]);
    }
}

static enum xb_switch switch_of(bool is_known, bool is_on)
{
    return !is_known ? XB_SWITCH_UNKNOWN : is_on ? XB_SWITCH_ON : XB_SWITCH_OFF;
}

void xb_nvml_setup(const char *bus_id, struct xb_device_setup *setup)
{
    /* NVML_GPU_VIRTUALIZATION_MODE_..., NVML_CC_SYSTEM_MULTIGPU_... */
    static const char *const virtual[] = {"none", "pass-through", "vGPU", "vGPU host", "vSGA host"};
    static const char *const modes[] = {"", "protected PCIe", "encrypted NVLink"};
    struct xb_nvml_confidential state = {0};
    struct xb_nvml_confidential_settings settings = {.version = sizeof settings | 1u << 24};
    xb_nvml_device device = NULL;
    int ecc = 0, pending, mode = 0;
    memset(setup, 0, sizeof *setup);
    setup->known = xb_nvml_find(bus_id, &device);
    if (!setup->known)
        return;
    if (!ASK(serial, device, setup->serial, sizeof setup->serial))
        setup->serial[0] = '\0';
    if (!ASK(vbios, device, setup->vbios, sizeof setup->vbios))
        setup->vbios[0] = '\0';
    bool is_known = ASK(ecc, device, &ecc, &pending);
    setup->ecc = switch_of(is_known, ecc != 0);
    if (ASK(virtualisation, device, &mode) && mode >= 0 &&
        (size_t)mode < sizeof virtual / sizeof virtual[0])
        snprintf(setup->virtualisation, sizeof setup->virtualisation, "%s", virtual[mode]);
    /* Older drivers have the first of these functions alone, or neither. */
    is_known = ASK(confidential, &state);
    if (ASK(confidential_settings, &settings)) {
        is_known = true;
        state = settings.state;
        if (settings.multi_gpu < sizeof modes / sizeof modes[0])
            snprintf(setup->confidential_mode, sizeof setup->confidential_mode, "%s",
                     modes[settings.multi_gpu]);
    }
    setup->confidential =
        switch_of(is_known, state.feature != 0 || setup->confidential_mode[0] != '\0');
}
