/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for NVIDIA's libcupti.so.13, as far as backends/cuda/injected/collector.c calls it: one
 * record of each kind, which the first forced flush gives. XFERBENCH_FAKE_CUPTI in the environment
 * says what goes wrong: it is of a release that is too "old" or too "new", another profiler has it
 * ("held"), or it records nothing ("silent").
 */
#include <cupti.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ZERO UINT64_C(5000000000) /* what the clock says at the beginning */
#define AT(us) (ZERO + (us)*UINT64_C(1000))
#define SLOT 512 /* of a record in the buffer */
#define MIB (UINT64_C(1) << 20)
#define THREAD 11

static CUpti_CallbackFunc context_ends;
static CUpti_BuffersCallbackRequestFunc give_buffer;
static CUpti_BuffersCallbackCompleteFunc take_buffer;

static bool asked_for(const char *what)
{
    const char *word = getenv("XFERBENCH_FAKE_CUPTI");
    return word != NULL && strcmp(word, what) == 0;
}

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): ours say what they are for */
CUptiResult cuptiGetVersion(uint32_t *version)
{
    *version = asked_for("old") ? 17 : asked_for("new") ? 140000 : 130000;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
    *text = "CUPTI_ERROR_X";
    return result == CUPTI_SUCCESS ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t *timestamp)
{
    *timestamp = ZERO;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id, const char **name)
{
    *name = domain == CUPTI_CB_DOMAIN_DRIVER_API ? "cuMemcpyHtoDAsync_v2"
            : id == 1                            ? "cudaMemcpyAsync_v3020"
                                                 : "cudaGetDevice_v3020";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
                           void *argument)
{
    (void)subscriber, (void)argument;
    context_ends = callback;
    return asked_for("held") ? CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED : CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
    (void)enable, (void)subscriber, (void)domain, (void)id;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc give,
                                           CUpti_BuffersCallbackCompleteFunc take)
{
    give_buffer = give;
    take_buffer = take;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    (void)kind;
    return asked_for("silent") ? CUPTI_ERROR_NOT_INITIALIZED : CUPTI_SUCCESS;
}

#define WHEN(from, to, number) .start = AT(from), .end = AT(to), .correlationId = (number)
#define CALL(of, call, from, to, number)                                                           \
    {                                                                                              \
        .kind = CUPTI_ACTIVITY_KIND_##of, .cbid = (call), .threadId = THREAD,                      \
        WHEN(from, to, number)                                                                     \
    }
#define COPY(is, way, source, target, count, from, to, number)                                     \
    {                                                                                              \
        .kind = CUPTI_ACTIVITY_KIND_##is, .copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_##way,            \
        .srcKind = CUPTI_ACTIVITY_MEMORY_KIND_##source,                                            \
        .dstKind = CUPTI_ACTIVITY_MEMORY_KIND_##target, .bytes = (count), .streamId = 7,           \
        WHEN(from, to, number)                                                                     \
    }
static const CUpti_ActivityAPI calls[] = {
    CALL(RUNTIME, 2, 100, 200, 9), CALL(RUNTIME, 1, 500, 2500, 1), CALL(DRIVER, 3, 600, 2400, 1)};
static const CUpti_ActivityMemcpy5 copy_in =
    COPY(MEMCPY, HTOD, PAGEABLE, DEVICE, MIB, 1000, 2000, 1);
static const CUpti_ActivityMemcpy5 copy_back =
    COPY(MEMCPY, DTOH, DEVICE, PINNED, 2 * MIB, 5000, 6000, 3);
static const CUpti_ActivityMemcpyPtoP4 peer =
    COPY(MEMCPY2, PTOP, DEVICE, DEVICE, 4 * MIB, 6000, 7000, 4);
static const CUpti_ActivityKernel8 kernel = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                             .streamId = 7,
                                             .name = "add<\"a\\b\">(\nint)",
                                             WHEN(2000, 5000, 2)};
/* One that has not run yet: it has no times. */
static const CUpti_ActivityKernel8 unfinished = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                                 .streamId = 7,
                                                 .correlationId = 6,
                                                 .name = "queued"};
static const CUpti_ActivityMemset4 fill = {
    .kind = CUPTI_ACTIVITY_KIND_MEMSET, .bytes = 512, .streamId = 7, WHEN(7000, 8500, 5)};
static const CUpti_ActivityMarker2 marks[] = {{.kind = CUPTI_ACTIVITY_KIND_MARKER,
                                               .flags = CUPTI_ACTIVITY_FLAG_MARKER_START,
                                               .id = 1,
                                               .timestamp = AT(250),
                                               .objectId.pt.threadId = THREAD,
                                               .name = "step \"1\""},
                                              {.kind = CUPTI_ACTIVITY_KIND_MARKER,
                                               .flags = CUPTI_ACTIVITY_FLAG_MARKER_END,
                                               .id = 1,
                                               .timestamp = AT(9250)}};

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    static const struct {
        const void *record;
        size_t size;
    } all[] = {{&calls[0], sizeof calls[0]}, {&calls[1], sizeof calls[1]},
               {&calls[2], sizeof calls[2]}, {&copy_in, sizeof copy_in},
               {&kernel, sizeof kernel},     {&copy_back, sizeof copy_back},
               {&peer, sizeof peer},         {&fill, sizeof fill},
               {&marks[0], sizeof marks[0]}, {&unfinished, sizeof unfinished},
               {&marks[1], sizeof marks[1]}};
    static bool is_done;
    uint8_t *buffer;
    size_t size, most;
    if ((flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) == 0 || is_done) /* the buffer is not full */
        return CUPTI_SUCCESS;
    is_done = true;
    give_buffer(&buffer, &size, &most);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        memcpy(buffer + i * SLOT, all[i].record, all[i].size);
    take_buffer(NULL, 0, buffer, size, SLOT * sizeof all / sizeof all[0]);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t used, CUpti_Activity **record)
{
    uint8_t *next = *record == NULL ? buffer : (uint8_t *)*record + SLOT;
    *record = (void *)next;
    return next < buffer + used ? CUPTI_SUCCESS : CUPTI_ERROR_MAX_LIMIT_REACHED;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped)
{
    (void)context, (void)stream;
    *dropped = 3;
    return CUPTI_SUCCESS;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

/* What a program's cudaDeviceReset brings about. */
void fake_cupti_end_context(void)
{
    context_ends(NULL, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
                 NULL);
}
