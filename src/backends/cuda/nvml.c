/* SPDX-License-Identifier: Apache-2.0 */
#include "nvml.h"

#include "backends/symbols.h"

#include <pthread.h>

/* The library writes to these structures, so they must have its layout on every machine. */
_Static_assert(sizeof(struct xb_nvml_field) == 40, "nvmlFieldValue_t has 40 bytes");
_Static_assert(sizeof(struct xb_nvml_pci) == 68, "nvmlPciInfo_t has 68 bytes");

static struct xb_nvml library;
static bool usable;
static pthread_once_t once = PTHREAD_ONCE_INIT;

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

const struct xb_nvml *xb_nvml_get(void)
{
    pthread_once(&once, open_library);
    return usable ? &library : NULL;
}

bool xb_nvml_find(const char *bus_id, xb_nvml_device *device)
{
    const struct xb_nvml *nvml = xb_nvml_get();
    return nvml != NULL && nvml->device_by_bus_id != NULL &&
           nvml->device_by_bus_id(bus_id, device) == XB_NVML_SUCCESS;
}

bool xb_nvml_number(xb_nvml_device device, unsigned field, unsigned scope, double *value)
{
    const struct xb_nvml *nvml = xb_nvml_get();
    struct xb_nvml_field asked = {.field = field, .scope = scope};
    if (nvml == NULL || nvml->field_values == NULL ||
        nvml->field_values(device, 1, &asked) != XB_NVML_SUCCESS || asked.result != XB_NVML_SUCCESS)
        return false;
    switch (asked.type) {
    case XB_NVML_DOUBLE:
        *value = asked.value.as_double;
        return true;
    case XB_NVML_UNSIGNED:
        *value = asked.value.as_unsigned;
        return true;
    case XB_NVML_UNSIGNED_LONG:
        *value = (double)asked.value.as_unsigned_long;
        return true;
    case XB_NVML_UNSIGNED_LONG_LONG:
        *value = (double)asked.value.as_unsigned_long_long;
        return true;
    case XB_NVML_SIGNED_LONG_LONG:
        *value = (double)asked.value.as_signed_long_long;
        return true;
    default:
        return false;
    }
}
