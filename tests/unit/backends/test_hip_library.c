/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * The HIP backend's loader and compiler against the HIP runtime that is installed, which needs no
 * GPU for this. Skipped where none is.
 */
#include "backends/gpu/kernels.h"
#include "backends/hip/compiler.h"
#include "backends/hip/library.h"
#include "testing.h"

#define SKIPPED 77

/* Everything that ROCm 5.2 was found to lack; a release that lacks more needs a look at what that
 * costs. Newer releases have other names for the properties; batches came with 7.1. */
static const char *const may_be_missing[] = {"hipGetDevicePropertiesR0600",
                                             "hipGetDeviceProperties", "hipMemcpyBatchAsync"};

static bool expected(const char *name)
{
    for (size_t i = 0; i < sizeof may_be_missing / sizeof may_be_missing[0]; i++)
        if (strcmp(may_be_missing[i], name) == 0)
            return true;
    return false;
}

TEST(test_every_symbol_resolves_or_is_optional)
{
    for (size_t i = 0; i < xb_hip_symbol_count; i++) {
        const struct xb_symbol *symbol = &xb_hip_symbols[i];
        void *found = NULL;
        memcpy(&found, (char *)&xb_hip.functions + symbol->offset, sizeof found);
        if (found != NULL)
            continue;
        printf("%s is not there: lost is %s\n", symbol->name, symbol->lost);
        assert_true(symbol->lost[0] != '\0');
        assert_true(expected(symbol->name));
    }
    assert_true(xb_hip.functions.properties_5 != NULL || xb_hip.functions.properties_6 != NULL);
}

TEST(test_the_file_is_known)
{
    printf("%s\n", xb_hip.path);
    assert_int_equal(xb_hip.path[0], '/');
    assert_non_null(strstr(xb_hip.path, "libamdhip64.so"));
    assert_false(xb_hip.overridden);
}

static int major_version(void)
{
    int version = 0;
    assert_int_equal(xb_hip.functions.hipRuntimeGetVersion(&version), hipSuccess);
    return version / 10000000;
}

/* The compiled text is an ELF file for the GPU, or a bundle of some; either has the kernels' names
 * as plain text. */
static bool contains(const struct xb_hip_code *code, const char *word)
{
    const char *bytes = code->bytes;
    size_t length = strlen(word);
    for (size_t i = 0; i + length <= code->size; i++)
        if (memcmp(bytes + i, word, length) == 0)
            return true;
    return false;
}

TEST(test_every_kernel_compiles)
{
    /* It is one text: what it once included, and what warns in a main file, would fill the log. */
    assert_null(strstr(xb_hip_kernel_text, "#include"));
    assert_null(strstr(xb_hip_kernel_text, "#pragma once"));
    static const char *const architectures[] = {"gfx90a", "gfx1030"};
    static const char *const kernels[] = {XB_GPU_KERNEL_NAMES};
    for (size_t i = 0; i < sizeof architectures / sizeof architectures[0]; i++) {
        struct xb_hip_code code = {NULL, 0};
        struct xb_error error = {.message = ""};
        if (xb_hip_compile(architectures[i], major_version(), &code, &error) != XB_OK)
            fail_msg("%s: %s", architectures[i], error.message);
        for (size_t k = 0; k < XB_GPU_KERNELS; k++)
            assert_true(contains(&code, kernels[k]));
        assert_true(contains(&code, architectures[i]));
        free(code.bytes);
    }
}

/* On releases up to 6.4 the compiler aborts its process. */
TEST(test_an_unknown_architecture_is_refused_and_survived)
{
    struct xb_hip_code code = {NULL, 0};
    struct xb_error error = {.message = ""};
    assert_int_equal(xb_hip_compile("gfx999", major_version(), &code, &error), XB_ERR_UNSUPPORTED);
    printf("%s\n", error.message);
    assert_non_null(strstr(error.message, "gfx999"));
    assert_null(code.bytes);
    assert_int_equal(xb_hip_compile("gfx90a", major_version(), &code, &error), XB_OK);
    free(code.bytes);
}

int main(void)
{
    struct xb_error error;
    (void)unsetenv(XB_HIP_OVERRIDE);
    if (xb_hip_library_open(&error) != XB_OK) {
        printf("no HIP runtime to test against: %s\n", error.message);
        return SKIPPED;
    }
    if (xb_hip_compiler_start(&error) != XB_OK) {
        printf("%s\n", error.message);
        return EXIT_FAILURE;
    }
    return run_topic("hip_library");
}
