/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * hipRTC: makes a code object that names the text it is of. It runs in forked children, so it takes
 * no lock: a thread that the child does not have may hold it.
 */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct _hiprtcProgram {
    char *source;
    char log[256];
    bool compiled;
    struct standin_code code;
};

hiprtcResult hiprtcCreateProgram(hiprtcProgram *program, const char *source, const char *name,
                                 int headers, const char **header_texts, const char **header_names)
{
    STANDIN_ENTER_ANYHOW(hiprtcResult, hiprtcCreateProgram);
    (void)name;
    (void)header_texts;
    (void)header_names;
    REFUSE_IF(program == NULL || source == NULL || headers != 0, HIPRTC_ERROR_INVALID_INPUT);
    struct _hiprtcProgram *created = calloc(1, sizeof *created);
    REFUSE_IF(created == NULL, HIPRTC_ERROR_OUT_OF_MEMORY);
    created->source = strdup(source);
    if (created->source == NULL) {
        free(created);
        return HIPRTC_ERROR_OUT_OF_MEMORY;
    }
    *program = created;
    return HIPRTC_SUCCESS;
}

/* ---- compiling ---- */

static hiprtcResult fail(hiprtcProgram program, hiprtcResult result, const char *text,
                         const char *detail)
{
    snprintf(program->log, sizeof program->log, "stand-in: %s%s\n", text, detail);
    return result;
}

/* NULL unless there is exactly one. */
static const char *architecture_option(int count, const char *const *options)
{
    static const char prefix[] = "--offload-arch=";
    const char *found = NULL;
    for (int i = 0; i < count; i++) {
        if (strncmp(options[i], prefix, sizeof prefix - 1) != 0)
            continue;
        if (found != NULL)
            return NULL;
        found = options[i] + sizeof prefix - 1;
    }
    return found;
}

static bool is_known(const char *architecture)
{
    static const char *const known[] = {"gfx906", "gfx908", "gfx90a", "gfx1030"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i], architecture) == 0)
            return true;
    return false;
}

/* What a test asks for: to be told of the compilation, that it fails, or that it never ends. */
static bool asked_to_fail(const char *architecture)
{
    const char *path = getenv("XB_STANDIN_RTC_COUNT");
    FILE *file = path != NULL ? fopen(path, "a") : NULL;
    if (file != NULL) {
        fprintf(file, "%s\n", architecture);
        fclose(file);
    }
    while (standin_setting("XB_STANDIN_RTC_HANG", 0) != 0)
        pause();
    return standin_setting("XB_STANDIN_RTC_FAIL", 0) != 0;
}

static void make_code(const char *source, const char *architecture, struct standin_code *code)
{
    memset(code, 0, sizeof *code);
    memcpy(code->magic, STANDIN_MAGIC, sizeof STANDIN_MAGIC);
    snprintf(code->architecture, sizeof code->architecture, "%s", architecture);
    code->source = standin_hash(source, strlen(source));
    for (size_t i = 0; i < sizeof code->padding; i++)
        code->padding[i] = (unsigned char)(code->source >> (i % 8 * 8));
    code->whole = standin_code_hash(code);
}

hiprtcResult hiprtcCompileProgram(hiprtcProgram program, int count, const char **options)
{
    STANDIN_ENTER_ANYHOW(hiprtcResult, hiprtcCompileProgram);
    REFUSE_IF(program == NULL, HIPRTC_ERROR_INVALID_PROGRAM);
    const char *architecture = architecture_option(count, options);
    if (architecture == NULL)
        return fail(program, HIPRTC_ERROR_INVALID_OPTION, "not one --offload-arch=", "");
    if (asked_to_fail(architecture))
        return fail(program, HIPRTC_ERROR_COMPILATION, "asked to fail", "");
    if (!is_known(architecture)) {
        fprintf(stderr, "hip stand-in: hipRTC aborts on %s, as that of 5.2 does\n", architecture);
        abort();
    }
    if (strstr(program->source, "#include") != NULL)
        return fail(program, HIPRTC_ERROR_COMPILATION, "the text has an #include", "");
    for (size_t i = 0; i < XB_GPU_KERNELS; i++)
        if (strstr(program->source, standin_kernels[i].name) == NULL)
            return fail(program, HIPRTC_ERROR_COMPILATION, "the text lacks ",
                        standin_kernels[i].name);
    make_code(program->source, architecture, &program->code);
    program->compiled = true;
    return HIPRTC_SUCCESS;
}

/* ---- what came out ---- */

#define GET(name, type, refused, statement)                                                        \
    hiprtcResult name(hiprtcProgram program, type *out)                                            \
    {                                                                                              \
        STANDIN_ENTER_ANYHOW(hiprtcResult, name);                                                  \
        REFUSE_IF(program == NULL || (refused), HIPRTC_ERROR_INVALID_PROGRAM);                     \
        statement;                                                                                 \
        return HIPRTC_SUCCESS;                                                                     \
    }
GET(hiprtcGetProgramLogSize, size_t, false, *out = strlen(program->log) + 1)
GET(hiprtcGetProgramLog, char, false, memcpy(out, program->log, strlen(program->log) + 1))
GET(hiprtcGetCodeSize, size_t, !program->compiled, *out = sizeof program->code)
GET(hiprtcGetCode, char, !program->compiled, memcpy(out, &program->code, sizeof program->code))

hiprtcResult hiprtcDestroyProgram(hiprtcProgram *program)
{
    int asked_for = standin_called(CALL_hiprtcDestroyProgram);
    REFUSE_IF(program == NULL || *program == NULL, HIPRTC_ERROR_INVALID_PROGRAM);
    free((*program)->source);
    free(*program);
    *program = NULL;
    return (hiprtcResult)asked_for;
}
