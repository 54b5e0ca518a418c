/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "hip_answers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors ---- */

#define NAME(cuda, hip)                                                                            \
    if (code == hipError##hip)                                                                     \
        return "hipError" #hip;
const char *hipGetErrorName(hipError_t code)
{
    STANDIN_ERRORS(NAME)
    return code == hipSuccess ? "hipSuccess" : "hipErrorUnknown";
}

/* AMD's texts are words; nobody reads these. */
const char *hipGetErrorString(hipError_t code)
{
    return strcmp(hipGetErrorName(code), "hipErrorUnknown") != 0 ? "text of the error"
                                                                 : "unknown error";
}

const char *hiprtcGetErrorString(hiprtcResult result)
{
    static const char *const names[] = {"HIPRTC_SUCCESS",
                                        "HIPRTC_ERROR_OUT_OF_MEMORY",
                                        "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE",
                                        "HIPRTC_ERROR_INVALID_INPUT",
                                        "HIPRTC_ERROR_INVALID_PROGRAM",
                                        "HIPRTC_ERROR_INVALID_OPTION",
                                        "HIPRTC_ERROR_COMPILATION"};
    return (size_t)result < sizeof names / sizeof names[0] ? names[result]
                                                           : "HIPRTC_ERROR_INTERNAL_ERROR";
}

/* ---- properties ---- */

#if HIP_VERSION_MAJOR < 6
_Static_assert(sizeof(hipDeviceProp_t) == 792, "the size of hipDeviceProp_t");
_Static_assert(offsetof(hipDeviceProp_t, gcnArchName) == 396, "the place of gcnArchName");
#endif

static hipError_t tell(int layout, void *properties, size_t size, size_t place, int device)
{
    char name[256], architecture[256];
    REFUSE_IF(properties == NULL, hipErrorInvalidValue);
    hipError_t error = standin_describe(layout, device, name, architecture);
    REFUSE_IF(error != hipSuccess, error);
    memset(properties, 0, size);
    memcpy(properties, name, sizeof name); /* first in both layouts */
    memcpy((char *)properties + place, architecture, sizeof architecture);
    return hipSuccess;
}

hipError_t standin_properties_plain(hipDeviceProp_t *properties, int device)
{
    return tell(5, properties, 792, 396, device);
}

hipError_t standin_properties_r0600(struct hipDeviceProp_tR0600 *properties, int device)
{
    return tell(6, properties, 1472, 1160, device);
}

/* ---- batches ---- */

/* A build of AMD's runtime ended the process with a fault of the GPU where there were more. */
#define COPIES_AT_MOST 8192

/* As the headers of ROCm 7.1 declare them: a mistake of the backend is to come to light. */
_Static_assert(offsetof(struct xb_hip_copy_attributes, source_order) == 0 &&
                   offsetof(struct xb_hip_copy_attributes, source) == 4 &&
                   offsetof(struct xb_hip_copy_attributes, target) == 12 &&
                   offsetof(struct xb_hip_copy_attributes, flags) == 20,
               "not the layout of ROCm 7");

static bool batch_is(const char *asked_for)
{
    const char *asked = getenv("XB_STANDIN_BATCH");
    return asked != NULL && strcmp(asked, asked_for) == 0;
}

static hipError_t check_attributes(const struct xb_hip_copy_attributes *attributes,
                                   const size_t *firsts, size_t number, size_t count)
{
    if (number == 0)
        return hipSuccess;
    if (batch_is("no-attributes"))
        return hipErrorNotSupported;
    if (attributes == NULL || firsts == NULL || firsts[0] != 0 || number > count)
        return hipErrorInvalidValue;
    for (size_t i = 0; i < number; i++) {
        /* AMD's takes flags and hints of places too; here nobody gives any. */
        if (attributes[i].source_order < 1 || attributes[i].source_order > 3 ||
            attributes[i].flags != 0 || attributes[i].source.type != 0 ||
            attributes[i].target.type != 0)
            return hipErrorInvalidValue;
        if (i > 0 && (firsts[i] <= firsts[i - 1] || firsts[i] >= count))
            return hipErrorInvalidValue;
    }
    return hipSuccess;
}

hipError_t standin_check_batch(void **targets, void **sources, const size_t *sizes, size_t count,
                               const struct xb_hip_copy_attributes *attributes,
                               const size_t *firsts, size_t attribute_count, const size_t *failed)
{
    if (batch_is("refused"))
        return hipErrorNotSupported;
    if (targets == NULL || sources == NULL || sizes == NULL || count == 0 || failed == NULL)
        return hipErrorInvalidValue;
    hipError_t result = check_attributes(attributes, firsts, attribute_count, count);
    if (result == hipSuccess && count > COPIES_AT_MOST)
        return hipErrorIllegalAddress;
    return result;
}
