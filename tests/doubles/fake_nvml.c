/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_nvml.h"

#include "backends/cuda/nvml.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INVALID_ARGUMENT 2 /* NVML_ERROR_INVALID_ARGUMENT */
#define NOT_SUPPORTED 3    /* NVML_ERROR_NOT_SUPPORTED */

struct fake_nvml fake_nvml;

/* ---- devices ---- */

struct xb_nvml_device_opaque {
    char bus_id[32];
};
static struct xb_nvml_device_opaque devices[FAKE_NVML_DEVICES];
static size_t device_count;

int nvmlInit_v2(void)
{
    static const struct {
        const char *word;
        enum fake_nvml_counter counter;
        unsigned rise;
    } faults[] = {{"replays", FAKE_NVML_REPLAY, 100},
                  {"recoveries", FAKE_NVML_RECOVERY, 1},
                  {"crc-errors", FAKE_NVML_CRC_FLIT, 100}};
    const char *word = getenv("XFERBENCH_FAKE_NVML");
    struct fake_nvml_link *bad = &fake_nvml.links[0][4];
    for (size_t i = 0; i < FAKE_NVML_DEVICES; i++)
        for (size_t j = 0; j < FAKE_NVML_LINKS; j++)
            fake_nvml.links[i][j].rises[FAKE_NVML_CRC_DATA] =
                fake_nvml.links[i][j].rises[FAKE_NVML_ECC_DATA] = 3;
    for (size_t i = 0; word != NULL && i < sizeof faults / sizeof faults[0]; i++)
        if (strcmp(word, faults[i].word) == 0)
            bad->rises[faults[i].counter] = faults[i].rise;
    bad->falls = word != NULL && strcmp(word, "falls") == 0;
    bad->inactive = word != NULL && strcmp(word, "inactive") == 0;
    fake_nvml.confidential = word != NULL && strcmp(word, "confidential") == 0;
    fake_nvml.fast_links = word != NULL && strcmp(word, "fast-links") == 0;
    return XB_NVML_SUCCESS;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, xb_nvml_device *device)
{
    size_t i = 0;
    while (i < device_count && strcmp(devices[i].bus_id, bus_id) != 0)
        i++;
    if (i == FAKE_NVML_DEVICES)
        return INVALID_ARGUMENT;
    if (i == device_count)
        snprintf(devices[device_count++].bus_id, sizeof devices[i].bus_id, "%s", bus_id);
    *device = &devices[i];
    return XB_NVML_SUCCESS;
}

int nvmlDeviceGetPciInfo_v3(xb_nvml_device device, struct xb_nvml_pci *pci)
{
    memset(pci, 0, sizeof *pci);
    snprintf(pci->bus_id, sizeof pci->bus_id, "%s", device->bus_id);
    return sscanf(device->bus_id, "%x:%x:%x", &pci->domain, &pci->bus, &pci->device) == 3
               ? XB_NVML_SUCCESS
               : INVALID_ARGUMENT;
}

int nvmlDeviceGetPcieReplayCounter(xb_nvml_device device, unsigned *count)
{
    (void)device;
    *count = 7;
    return XB_NVML_SUCCESS;
}

int nvmlDeviceGetClockInfo(xb_nvml_device device, int type, unsigned *megahertz)
{
    (void)device;
    *megahertz = type == 1 ? 1980 : 3201;
    return XB_NVML_SUCCESS;
}

int nvmlDeviceGetMaxClockInfo(xb_nvml_device device, int type, unsigned *megahertz)
{
    (void)device;
    *megahertz = type == 1 ? 1981 : 3202;
    return XB_NVML_SUCCESS;
}

int nvmlDeviceGetTemperature(xb_nvml_device device, int sensor, unsigned *celsius)
{
    (void)device;
    *celsius = 40 + (unsigned)sensor;
    return XB_NVML_SUCCESS;
}

int nvmlDeviceGetPowerUsage(xb_nvml_device device, unsigned *milliwatts)
{
    (void)device;
    *milliwatts = 123400;
    return XB_NVML_SUCCESS;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(xb_nvml_device device, unsigned long long *reasons)
{
    (void)device;
    *reasons = 0x5; /* idle and the power cap */
    return XB_NVML_SUCCESS;
}

/* ---- how it is built and set ---- */

int nvmlDeviceGetSerial(xb_nvml_device device, char *text, unsigned size)
{
    snprintf(text, size, "16532300%zu", (size_t)(device - devices));
    return XB_NVML_SUCCESS;
}

int nvmlDeviceGetVbiosVersion(xb_nvml_device device, char *text, unsigned size)
{
    (void)device;
    snprintf(text, size, "96.00.AF.00.01");
    return fake_nvml.kind == FAKE_NVML_OLD_DRIVER ? NOT_SUPPORTED : XB_NVML_SUCCESS;
}

int nvmlDeviceGetEccMode(xb_nvml_device device, int *current, int *pending)
{
    (void)device;
    *current = 1;
    *pending = 0;
    return fake_nvml.kind == FAKE_NVML_OLD_DRIVER ? NOT_SUPPORTED : XB_NVML_SUCCESS;
}

int nvmlDeviceGetVirtualizationMode(xb_nvml_device device, int *mode)
{
    (void)device;
    *mode = 1;
    return XB_NVML_SUCCESS;
}

int nvmlSystemGetConfComputeState(struct xb_nvml_confidential *state)
{
    *state = (struct xb_nvml_confidential){.feature = fake_nvml.confidential};
    return fake_nvml.kind == FAKE_NVML_OLD_DRIVER ? NOT_SUPPORTED : XB_NVML_SUCCESS;
}

int nvmlSystemGetConfComputeSettings(struct xb_nvml_confidential_settings *settings)
{
    if (fake_nvml.kind == FAKE_NVML_OLD_DRIVER || settings->version != 0x1000014)
        return NOT_SUPPORTED;
    settings->multi_gpu = fake_nvml.kind == FAKE_NVML_BLACKWELL ? 2 : 0;
    return nvmlSystemGetConfComputeState(&settings->state);
}

/* ---- links ---- */

/* NULL where there is none. */
static struct fake_nvml_link *link_of(xb_nvml_device device, unsigned number)
{
    if (number >= FAKE_NVML_LINKS)
        return NULL;
    struct fake_nvml_link *link = &fake_nvml.links[device - devices][number];
    return link->missing ? NULL : link;
}

int nvmlDeviceGetP2PStatus(xb_nvml_device device, xb_nvml_device other, int capability, int *status)
{
    (void)device;
    (void)other;
    *status = capability == 2 && fake_nvml.no_nvlink ? 5 : 0; /* NVML_P2P_STATUS_NOT_SUPPORTED */
    return XB_NVML_SUCCESS;
}

int nvmlDeviceGetNvLinkState(xb_nvml_device device, unsigned number, int *active)
{
    const struct fake_nvml_link *link = link_of(device, number);
    if (link == NULL)
        return INVALID_ARGUMENT;
    *active = !link->inactive;
    return XB_NVML_SUCCESS;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(xb_nvml_device device, unsigned number, int *type)
{
    *type = 2; /* NVML_NVLINK_DEVICE_TYPE_SWITCH */
    return link_of(device, number) != NULL ? XB_NVML_SUCCESS : INVALID_ARGUMENT;
}

static unsigned long long read_count(struct fake_nvml_link *link, enum fake_nvml_counter counter)
{
    unsigned long long count = link->counts[counter];
    link->counts[counter] += link->rises[counter];
    link->inactive = link->inactive || (counter == FAKE_NVML_RECOVERY && link->falls);
    return count;
}

int nvmlDeviceGetNvLinkErrorCounter(xb_nvml_device device, unsigned number, int counter,
                                    unsigned long long *count)
{
    struct fake_nvml_link *link = link_of(device, number);
    if (link == NULL || counter < FAKE_NVML_REPLAY || counter > FAKE_NVML_ECC_DATA)
        return INVALID_ARGUMENT;
    if (fake_nvml.kind == FAKE_NVML_BLACKWELL)
        return NOT_SUPPORTED;
    *count = read_count(link, (enum fake_nvml_counter)counter);
    return XB_NVML_SUCCESS;
}

/* ---- fields ---- */

/* Which counter a field of this kind of device tells; FAKE_NVML_COUNTERS where none. */
static enum fake_nvml_counter counter_of(unsigned field)
{
    static const struct {
        enum fake_nvml_kind kind;
        unsigned field;
        enum fake_nvml_counter counter;
    } fields[] = {
        {FAKE_NVML_HOPPER, 161, FAKE_NVML_REPLAY},
        {FAKE_NVML_HOPPER, 162, FAKE_NVML_RECOVERY},
        {FAKE_NVML_HOPPER, 163, FAKE_NVML_CRC_FLIT},
        {FAKE_NVML_BLACKWELL, 214, FAKE_NVML_FAILED_RECOVERY},
        {FAKE_NVML_BLACKWELL, 215, FAKE_NVML_RECOVERY},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (fields[i].kind == fake_nvml.kind && fields[i].field == field)
            return fields[i].counter;
    return (enum fake_nvml_counter)FAKE_NVML_COUNTERS;
}

static void tell(xb_nvml_device device, struct xb_nvml_field *field)
{
    bool is_old = fake_nvml.kind == FAKE_NVML_OLD_DRIVER;
    struct fake_nvml_link *link = link_of(device, field->scope);
    enum fake_nvml_counter counter = counter_of(field->field);
    field->result = XB_NVML_SUCCESS;
    if (field->field == (is_old ? 90 : 164) && (is_old || link != NULL)) {
        field->type = XB_NVML_UNSIGNED;
        field->value.as_unsigned = FAKE_NVML_MEGABYTES * (fake_nvml.fast_links ? 100 : 1);
    } else if (counter < FAKE_NVML_COUNTERS && link != NULL) {
        field->type = XB_NVML_UNSIGNED_LONG_LONG;
        field->value.as_unsigned_long_long = read_count(link, counter);
    } else if (!fake_nvml.no_pcie && field->scope == 0 &&
               (field->field == 169 || (field->field >= 173 && field->field <= 183) ||
                field->field == 197 || field->field == 198)) {
        field->type = XB_NVML_UNSIGNED;
        field->value.as_unsigned = field->field;
    } else {
        field->result = NOT_SUPPORTED;
    }
}

int nvmlDeviceGetFieldValues(xb_nvml_device device, int count, struct xb_nvml_field *fields)
{
    for (int i = 0; i < count; i++)
        tell(device, &fields[i]);
    return XB_NVML_SUCCESS;
}
