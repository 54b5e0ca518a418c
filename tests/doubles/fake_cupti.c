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

static const CUpti_ActivityAPI calls[] = {{.kind = CUPTI_ACTIVITY_KIND_RUNTIME,
                                           .cbid = 2,
                                           .start = AT(100),
                                           .end = AT(200),
                                           .threadId = THREAD,
                                           .correlationId = 9},
                                          {.kind = CUPTI_ACTIVITY_KIND_RUNTIME,
                                           .cbid = 1,
                                           .start = AT(500),
                                           .end = AT(2500),
                                           .threadId = THREAD,
                                           .correlationId = 1},
                                          {.kind = CUPTI_ACTIVITY_KIND_DRIVER,
                                           .cbid = 3,
                                           .start = AT(600),
                                           .end = AT(2400),
                                           .threadId = THREAD,
                                           .correlationId = 1}};
static const CUpti_ActivityMemcpy5 copy_in = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
                                              .copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD,
                                              .srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE,
                                              .dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
                                              .bytes = MIB,
                                              .start = AT(1000),
                                              .end = AT(2000),
                                              .streamId = 7,
                                              .correlationId = 1};
static const CUpti_ActivityKernel8 kernel = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                             .start = AT(2000),
                                             .end = AT(5000),
                                             .streamId = 7,
                                             .correlationId = 2,
                                             .name = "add<\"a\\b\">(\nint)"};
/* One that has not run yet: it has no times. */
static const CUpti_ActivityKernel8 unfinished = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                                 .streamId = 7,
                                                 .correlationId = 6,
                                                 .name = "queued"};
static const CUpti_ActivityMemcpy5 copy_back = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
                                                .copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOH,
                                                .srcKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
                                                .dstKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED,
                                                .bytes = 2 * MIB,
                                                .start = AT(5000),
                                                .end = AT(6000),
                                                .streamId = 7,
                                                .correlationId = 3};
static const CUpti_ActivityMemcpyPtoP4 peer = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
                                               .copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP,
                                               .srcKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
                                               .dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
                                               .bytes = 4 * MIB,
                                               .start = AT(6000),
                                               .end = AT(7000),
                                               .streamId = 7,
                                               .correlationId = 4};
static const CUpti_ActivityMemset4 fill = {.kind = CUPTI_ACTIVITY_KIND_MEMSET,
                                           .bytes = 512,
                                           .start = AT(7000),
                                           .end = AT(8500),
                                           .streamId = 7,
                                           .correlationId = 5};
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
void fake_cupti_end_context(void);
void fake_cupti_end_context(void)
{
    context_ends(NULL, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
                 NULL);
}
