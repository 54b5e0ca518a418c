/* SPDX-License-Identifier: Apache-2.0 */
/* Where the time goes, which copies could be faster, and what they would take. */
#include "explain.h"

#include "base/memory.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORTH 0.01        /* of the time: what takes less is not told */
#define SERIAL_WORTH 0.05 /* and of what overlapping would save */
#define MANY 16           /* copies that could go as one */
#define CHUNK (UINT64_C(8) << 20)
#define GAP_NS                                                                                     \
    200000 /* from one deed to the next: as short as that they vanish where deeds overlap */
#define PIN_LEAST_S 1e-4 /* nobody page-locks memory for less, */
#define PIN_ONCE_S 1e-2  /* nor for one copy that takes less */

const char *const xb_lane_names[XB_LANES] = {[XB_LANE_TO_GPU] = "to the GPU",
                                             [XB_LANE_BACK] = "back to the host",
                                             [XB_LANE_AMONG] = "within, fills",
                                             [XB_LANE_KERNELS] = "kernels",
                                             [XB_LANE_HOST] = "host threads"};

const char *const xb_fault_names[XB_FAULTS] = {[XB_FAULT_PAGEABLE] = "pageable",
                                               [XB_FAULT_SMALL] = "small",
                                               [XB_FAULT_RETURNS] = "returns",
                                               [XB_FAULT_SETUP] = "setup_in_loop",
                                               [XB_FAULT_SERIAL] = "not_overlapped"};

/* A copy between host and GPU, and what is found of it. */
struct copy {
    const struct xb_activity *activity, *call;
    const char *ranges[XB_RANGE_KINDS];
    double exposed;
    bool begins_run, returns;
};

struct span {
    int64_t begin, end;
};

/* Time that is covered, span after span. */
struct cover {
    struct span *spans;
    size_t count;
    size_t at; /* of outside(): before it all ends too early */
};

/* The ranges that are open on a thread. */
struct stack {
    const struct xb_activity **ranges;
    size_t count;
};

/* Room to work out one program, and then the next: there may be very many. */
struct scratch {
    struct xb_gpu_use gpus[XB_EXPLAIN_GPUS];
    struct xb_copy_group groups[XB_EXPLAIN_GROUPS];
    struct stack *stacks; /* by the places in names, some of which stand for threads */
};

struct work {
    struct xb_explanation *found;
    struct scratch *scratch;
    const struct xb_costs *costs;
    struct xb_arena **memory;
    int64_t begin, end;  /* of the window */
    struct copy *copies; /* in the order of their beginnings */
    struct copy **by_link;
    size_t copy_count;
    struct cover kernels[XB_EXPLAIN_GPUS];
    double idle;   /* seconds of gaps that are longer than GAP_NS, in which no GPU did anything */
    double lonely; /* kernels while nothing is copied */
};

static double seconds_of(int64_t begin, int64_t end)
{
    return (double)(end - begin) / 1e9;
}

static bool is_deed(const struct xb_activity *activity)
{
    return activity->kind != XB_ACTIVITY_CALL && activity->kind != XB_ACTIVITY_RANGE;
}

static enum xb_lane lane_of(const struct xb_activity *activity)
{
    switch (activity->kind) {
    case XB_ACTIVITY_KERNEL:
        return XB_LANE_KERNELS;
    case XB_ACTIVITY_WORK:
        return XB_LANE_HOST;
    case XB_ACTIVITY_COPY:
        return activity->way == XB_WAY_TO_GPU ? XB_LANE_TO_GPU
               : activity->way == XB_WAY_BACK ? XB_LANE_BACK
                                              : XB_LANE_AMONG;
    default:
        return XB_LANE_AMONG;
    }
}

/* The place of a GPU; the last stands for too many. */
static size_t find_gpu(struct xb_explanation *found, int device)
{
    size_t at = 0;
    while (at < found->gpu_count && found->gpus[at].device != device)
        at++;
    if (at == XB_EXPLAIN_GPUS)
        return at - 1;
    if (at == found->gpu_count)
        found->gpus[found->gpu_count++] = (struct xb_gpu_use){.device = device};
    return at;
}

/* ---- how busy each engine is ---- */

/* What a span adds to a cover whose spans begin before it: empty where all of it is covered. */
static struct span cover_add(struct cover *cover, struct span span)
{
    struct span *last = cover->count > 0 ? &cover->spans[cover->count - 1] : NULL;
    if (last != NULL && span.begin <= last->end) {
        span.begin = last->end < span.end ? last->end : span.end;
        last->end = span.end > last->end ? span.end : last->end;
        return span;
    }
    cover->spans = xb_grow(cover->spans, cover->count, sizeof *cover->spans);
    cover->spans[cover->count++] = span;
    return span;
}

/* Seconds of a span that are not covered. Ask for spans in the order of their beginnings. */
static double outside(struct cover *cover, struct span span)
{
    double seconds = seconds_of(span.begin, span.end);
    while (cover->at < cover->count && cover->spans[cover->at].end <= span.begin)
        cover->at++;
    for (size_t i = cover->at; i < cover->count && cover->spans[i].begin < span.end; i++) {
        const struct span *one = &cover->spans[i];
        seconds -= seconds_of(one->begin > span.begin ? one->begin : span.begin,
                              one->end < span.end ? one->end : span.end);
    }
    return fmax(seconds, 0.0);
}

static void add_shares(const struct work *work, struct xb_lane_use *use, struct span span)
{
    double bin = (double)(work->end - work->begin) / XB_EXPLAIN_BINS;
    for (double at = (double)(span.begin - work->begin), end = (double)(span.end - work->begin);
         at < end && bin > 0;) {
        size_t index = xb_lesser((uint64_t)(at / bin), XB_EXPLAIN_BINS - 1);
        double next = index + 1 < XB_EXPLAIN_BINS ? fmin(end, bin * (double)(index + 1)) : end;
        use->shares[index] += (next - at) / bin;
        if (next <= at)
            break;
        at = next;
    }
}

static void measure_engines(struct work *work)
{
    struct xb_explanation *found = work->found;
    const struct xb_profile *profile = found->profile;
    found->gpus = work->scratch->gpus;
    struct cover(*covers)[XB_LANES] = xb_new(XB_EXPLAIN_GPUS, sizeof *covers);
    struct cover *copying = xb_new(XB_EXPLAIN_GPUS, sizeof *copying);
    struct cover all = {.count = 0};
    for (int pass = 0; pass < 2; pass++) /* kernels first: copies are compared with them */
        for (size_t i = 0; i < profile->count; i++) {
            const struct xb_activity *activity = &profile->activities[i];
            if (!is_deed(activity) || (activity->kind == XB_ACTIVITY_KERNEL) != (pass == 0))
                continue;
            enum xb_lane engine = lane_of(activity);
            size_t gpu = find_gpu(found, activity->device);
            struct xb_lane_use *use = &found->gpus[gpu].lanes[engine];
            struct span span = {activity->begin, activity->end};
            struct span added = cover_add(&covers[gpu][engine], span);
            use->count++;
            use->bytes += activity->bytes;
            use->busy += seconds_of(added.begin, added.end);
            add_shares(work, use, added);
            if (pass == 0 || engine == XB_LANE_HOST)
                continue;
            added = cover_add(&copying[gpu], span);
            found->gpus[gpu].copying += outside(&covers[gpu][XB_LANE_KERNELS], added);
        }
    for (size_t i = 0; i < profile->count; i++) {
        struct span span = {profile->activities[i].begin, profile->activities[i].end};
        if (is_deed(&profile->activities[i]))
            (void)cover_add(&all, span);
    }
    for (size_t i = 1; i < all.count; i++)
        if (all.spans[i].begin - all.spans[i - 1].end > GAP_NS)
            work->idle += seconds_of(all.spans[i - 1].end, all.spans[i].begin);
    for (size_t gpu = 0; gpu < found->gpu_count; gpu++) {
        struct xb_gpu_use *use = &found->gpus[gpu];
        use->neither = fmax(found->window - use->lanes[XB_LANE_KERNELS].busy - use->copying, 0.0);
        work->kernels[gpu] = covers[gpu][XB_LANE_KERNELS];
        work->kernels[gpu].at = 0;
        for (size_t i = 0; i < work->kernels[gpu].count; i++)
            work->lonely += outside(&copying[gpu], work->kernels[gpu].spans[i]);
        free(copying[gpu].spans);
        for (int engine = 0; engine < XB_LANES; engine++)
            if (engine != XB_LANE_KERNELS)
                free(covers[gpu][engine].spans);
    }
    free(all.spans);
    free(copying);
    free(covers);
    found->gpus = xb_arena_new(work->memory, found->gpu_count * sizeof *found->gpus);
    memcpy(found->gpus, work->scratch->gpus, found->gpu_count * sizeof *found->gpus);
}

/* ---- copies between host and GPU: their calls, and where these come from ---- */

static int by_link(const void *a, const void *b)
{
    const struct copy *one = *(struct copy *const *)a, *other = *(struct copy *const *)b;
    uint32_t link = one->activity->link, others = other->activity->link;
    return link < others ? -1 : link > others ? 1 : one < other ? -1 : one > other;
}

static void list_copies(struct work *work)
{
    const struct xb_profile *profile = work->found->profile;
    for (size_t i = 0; i < profile->count; i++) {
        const struct xb_activity *activity = &profile->activities[i];
        if (activity->kind != XB_ACTIVITY_COPY ||
            (activity->way != XB_WAY_TO_GPU && activity->way != XB_WAY_BACK))
            continue;
        struct cover *kernels = &work->kernels[find_gpu(work->found, activity->device)];
        work->copies = xb_grow(work->copies, work->copy_count, sizeof *work->copies);
        work->copies[work->copy_count++] = (struct copy){
            .activity = activity,
            .exposed = outside(kernels, (struct span){activity->begin, activity->end})};
    }
    work->by_link = xb_new(work->copy_count, sizeof(struct copy *));
    for (size_t i = 0; i < work->copy_count; i++)
        work->by_link[i] = &work->copies[i];
    qsort(work->by_link, work->copy_count, sizeof(struct copy *), by_link);
}

static void close_ranges(struct stack *stack, int64_t now)
{
    while (stack->count > 0 && stack->ranges[stack->count - 1]->end <= now)
        stack->count--;
}

/* The outermost operator, which the program calls, and the innermost mark and line. */
static void find_origin(const struct work *work, const struct stack *stack, struct copy *copy)
{
    const char *const *names = work->found->profiles->names;
    for (size_t i = stack->count; i-- > 0;) {
        const struct xb_activity *range = stack->ranges[i];
        const char **place = &copy->ranges[range->range];
        if (range->range == XB_RANGE_OPERATOR || *place == NULL)
            *place = names[range->name];
    }
}

/* A call of the runtime and that of the driver within it have one number: the outer one comes
 * first. */
static void take_call(struct work *work, const struct xb_activity *call, const struct stack *stack)
{
    size_t low = 0, high = work->copy_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (work->by_link[middle]->activity->link < call->link)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < work->copy_count && work->by_link[low]->activity->link == call->link; low++) {
        struct copy *copy = work->by_link[low];
        if (copy->call != NULL)
            continue;
        copy->call = call;
        find_origin(work, stack, copy);
    }
}

static void find_calls(struct work *work)
{
    const struct xb_profile *profile = work->found->profile;
    for (size_t i = 0; i < profile->count; i++) {
        const struct xb_activity *activity = &profile->activities[i];
        if (is_deed(activity))
            continue;
        struct stack *stack = &work->scratch->stacks[activity->track];
        close_ranges(stack, activity->begin);
        if (activity->kind == XB_ACTIVITY_RANGE) {
            stack->ranges =
                xb_grow(stack->ranges, stack->count, sizeof(const struct xb_activity *));
            stack->ranges[stack->count++] = activity;
        } else if (activity->link != 0) {
            take_call(work, activity, stack);
        }
    }
    for (size_t i = 0; i < profile->count; i++)
        work->scratch->stacks[profile->activities[i].track].count = 0;
}

/* ---- what is between copies ---- */

#define AWAITED 64 /* copies back that may come again */

/* Marks copies to the GPU that are as large as what the GPU gave back after a kernel, and those
 * that begin a row without a kernel between. */
static void find_order(struct work *work)
{
    struct {
        uint64_t awaited[AWAITED];
        size_t awaited_count;
        uint8_t last_way; /* of copies since the last kernel */
        bool computed;
    } *gpus = xb_new(XB_EXPLAIN_GPUS, sizeof *gpus);
    const struct xb_profile *profile = work->found->profile;
    size_t next = 0;
    for (size_t i = 0; i < profile->count; i++) {
        const struct xb_activity *activity = &profile->activities[i];
        size_t gpu = is_deed(activity) ? find_gpu(work->found, activity->device) : 0;
        if (activity->kind == XB_ACTIVITY_KERNEL) {
            gpus[gpu].computed = true;
            gpus[gpu].last_way = XB_WAY_UNKNOWN;
        }
        if (next == work->copy_count || work->copies[next].activity != activity)
            continue;
        struct copy *copy = &work->copies[next++];
        copy->begins_run = gpus[gpu].last_way != activity->way;
        gpus[gpu].last_way = activity->way;
        if (activity->bytes == 0)
            continue;
        size_t *count = &gpus[gpu].awaited_count;
        if (activity->way == XB_WAY_BACK && gpus[gpu].computed && *count < AWAITED)
            gpus[gpu].awaited[(*count)++] = activity->bytes;
        for (size_t k = *count; activity->way == XB_WAY_TO_GPU && !copy->returns && k-- > 0;)
            if (gpus[gpu].awaited[k] == activity->bytes) {
                copy->returns = true;
                *count = 0; /* what came back before is of an earlier step */
            }
    }
    free(gpus);
}

/* ---- groups ---- */

/* Each name is there once: pointers tell whether two are the same. */
static struct xb_copy_group *find_group(struct work *work, const struct copy *copy)
{
    struct xb_explanation *found = work->found;
    const char *call = copy->call != NULL ? found->profiles->names[copy->call->name] : NULL;
    for (size_t i = 0; i < found->group_count; i++) {
        struct xb_copy_group *group = &found->groups[i];
        bool is_equal = group->way == copy->activity->way && group->host == copy->activity->host &&
                        group->call == call;
        for (int k = 0; is_equal && k < XB_RANGE_KINDS; k++)
            is_equal = group->ranges[k] == copy->ranges[k];
        if (is_equal)
            return group;
    }
    if (found->group_count == XB_EXPLAIN_GROUPS)
        return &found->groups[XB_EXPLAIN_GROUPS - 1];
    struct xb_copy_group *group = &found->groups[found->group_count++];
    *group = (struct xb_copy_group){
        .way = copy->activity->way, .host = copy->activity->host, .call = call};
    memcpy(group->ranges, copy->ranges, sizeof group->ranges);
    return group;
}

static int by_exposure(const void *a, const void *b)
{
    const struct xb_copy_group *one = a, *other = b;
    return one->exposed > other->exposed ? -1 : one->exposed < other->exposed;
}

static void make_groups(struct work *work)
{
    struct xb_explanation *found = work->found;
    const struct xb_activity *counted[XB_EXPLAIN_GROUPS] = {NULL}; /* the last call of each */
    found->groups = work->scratch->groups;
    for (size_t i = 0; i < work->copy_count; i++) {
        const struct copy *copy = &work->copies[i];
        const struct xb_activity *activity = copy->activity;
        struct xb_copy_group *group = find_group(work, copy);
        double seconds = seconds_of(activity->begin, activity->end);
        group->first = group->count++ == 0 ? seconds : group->first;
        group->bytes += activity->bytes;
        group->seconds += seconds;
        group->exposed += copy->exposed;
        const struct xb_activity **last = &counted[group - found->groups];
        if (copy->call == NULL)
            group->blocked = (double)NAN;
        else if (copy->call != *last) /* one call may start many: cudaGraphLaunch */
            group->blocked += seconds_of(copy->call->begin, copy->call->end);
        *last = copy->call;
        group->runs += copy->begins_run;
        group->returns += copy->returns;
        found->lacks_bytes = found->lacks_bytes || activity->bytes == 0;
        found->lacks_memory = found->lacks_memory || activity->host == XB_HOST_MEMORY_UNKNOWN;
    }
    qsort(found->groups, found->group_count, sizeof *found->groups, by_exposure);
    found->groups = xb_arena_new(work->memory, found->group_count * sizeof *found->groups);
    if (found->group_count > 0)
        memcpy(found->groups, work->scratch->groups, found->group_count * sizeof *found->groups);
}

/* ---- calls that make memory in the loop ---- */

static bool makes_memory(const char *name)
{
    static const char *const words[] = {
        "HostAlloc", "MallocHost", "HostMalloc",    "HostRegister", "HostUnregister",
        "FreeHost",  "HostFree",   "MallocManaged", "MallocPitch",  "cudaMalloc",
        "hipMalloc", "cudaFree",   "hipFree",       "cuMemAlloc",   "cuMemFree"};
    if (strstr(name, "Async") != NULL)
        return false; /* from a pool, in the order of the stream: as it should be */
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i]) != NULL)
            return true;
    return false;
}

static void find_setups(struct work *work)
{
    struct xb_explanation *found = work->found;
    const struct xb_profile *profile = found->profile;
    bool has_runtime = false; /* then the driver's calls are within those of the runtime */
    for (size_t i = 0; i < profile->count; i++) {
        const struct xb_activity *call = &profile->activities[i];
        const char *name = found->profiles->names[call->name];
        if (call->kind != XB_ACTIVITY_CALL || !makes_memory(name))
            continue;
        found->uses_managed = found->uses_managed || strstr(name, "Managed") != NULL;
        has_runtime = has_runtime || strncmp(name, "cuM", 3) != 0;
        if (call->begin < work->begin || call->begin > work->end ||
            (has_runtime && strncmp(name, "cuM", 3) == 0))
            continue;
        size_t at = 0;
        while (at < found->setup_count && strcmp(found->setups[at].call, name) != 0)
            at++;
        if (at == XB_EXPLAIN_SETUPS)
            continue;
        found->setup_count += at == found->setup_count;
        found->setups[at].call = name;
        found->setups[at].count++;
        found->setups[at].seconds += seconds_of(call->begin, call->end);
    }
}

/* ---- what it would take ---- */

/* So many copies of that many bytes in all; NAN where no result tells. */
static double cost_of(const struct work *work, enum xb_cost_kind kind, size_t count, uint64_t bytes)
{
    uint64_t each = count > 0 ? bytes / count : 0;
    if (work->costs == NULL || each == 0 || !xb_cost_is_known(&work->costs->costs[kind], each))
        return (double)NAN;
    return (double)count * xb_cost_seconds(&work->costs->costs[kind], each, true, XB_MIDDLE);
}

/* Whether they are many and small, and could go together. */
static bool is_small(const struct xb_copy_group *group)
{
    return group->count >= MANY && group->runs * 4 <= group->count && group->bytes > 0 &&
           group->bytes / group->count <= XB_EXPLAIN_SMALL;
}

static void predict_group(const struct work *work, struct xb_copy_group *group)
{
    enum xb_cost_kind kind = group->way == XB_WAY_TO_GPU ? XB_COST_PINNED_IN : XB_COST_PINNED_OUT;
    group->pinned = cost_of(work, kind, group->count, group->bytes);
    group->batched = is_small(group) ? cost_of(work, kind, group->runs, group->bytes) : (double)NAN;
    group->kept = group->returns >= 2
                      ? group->seconds * (1.0 - (double)group->returns / (double)group->count)
                      : (double)NAN;
}

static void add_fault(struct work *work, const struct xb_fault_found *one)
{
    struct xb_explanation *found = work->found;
    double least = one->fault == XB_FAULT_SERIAL ? SERIAL_WORTH : WORTH;
    double saved = isnan(one->predicted) ? one->seconds : one->seconds - one->predicted;
    if (saved < least * found->window)
        return;
    found->faults[found->fault_count++] = *one;
}

/* How long the program would take if each engine did what it does, and all at once: the busiest
 * sets the pace, and of the others the first and the last part stand out. Long gaps stay. Copies
 * take what results say of page-locked memory, where they do. */
static void judge_overlap(struct work *work)
{
    struct xb_explanation *found = work->found;
    static const enum xb_lane engines[] = {XB_LANE_TO_GPU, XB_LANE_BACK, XB_LANE_KERNELS,
                                           XB_LANE_HOST};
    double busy[XB_LANES] = {0}, all = 0, most = 0, exposed = 0;
    size_t parts = 0;
    uint64_t bytes = 0;
    for (size_t gpu = 0; gpu < found->gpu_count; gpu++)
        for (int engine = 0; engine < XB_LANES; engine++)
            busy[engine] += found->gpus[gpu].lanes[engine].busy;
    for (size_t i = 0; i < found->group_count; i++) {
        const struct xb_copy_group *group = &found->groups[i];
        exposed += group->exposed;
        parts = group->count > parts ? group->count : parts;
        bytes = group->bytes > bytes ? group->bytes : bytes;
        /* NAN stays for pageable memory: it cannot be said. Copies that wait for each other also
         * find page-locked memory slower than results have it. */
        if (group->host == XB_HOST_MEMORY_PAGEABLE || group->pinned < group->seconds)
            busy[group->way == XB_WAY_TO_GPU ? XB_LANE_TO_GPU : XB_LANE_BACK] +=
                group->pinned - group->seconds;
    }
    if (parts < 4 && bytes >= 2 * CHUNK) {
        parts = (size_t)(bytes / CHUNK);
        found->chunk = CHUNK;
    }
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        all += busy[engines[i]];
        most = busy[engines[i]] > most || isnan(busy[engines[i]]) ? busy[engines[i]] : most;
    }
    /* Several GPUs work beside each other anyhow: no sum tells what they would take. */
    double predicted = found->gpu_count > 1 || parts < 2
                           ? (double)NAN
                           : work->idle + most + (all - most) / (double)parts;
    double hidden = fmin(exposed, work->lonely + busy[XB_LANE_HOST]);
    if (parts < 2 || hidden < SERIAL_WORTH * found->window)
        return;
    add_fault(work, &(struct xb_fault_found){.fault = XB_FAULT_SERIAL,
                                             .seconds = found->window,
                                             .predicted = predicted});
}

static int by_remedy(const void *a, const void *b)
{
    const struct xb_fault_found *one = a, *other = b;
    double saved = one->seconds - (isnan(one->predicted) ? 0 : one->predicted);
    double others = other->seconds - (isnan(other->predicted) ? 0 : other->predicted);
    if (one->fault >= XB_FAULT_SERIAL || other->fault >= XB_FAULT_SERIAL)
        return (int)one->fault - (int)other->fault;
    return saved > others ? -1 : saved < others ? 1 : (int)one->fault - (int)other->fault;
}

static void judge(struct work *work)
{
    struct xb_explanation *found = work->found;
    found->faults = xb_arena_new(work->memory, (3 * found->group_count + found->setup_count + 1) *
                                                   sizeof *found->faults);
    for (size_t i = 0; i < found->group_count; i++) {
        struct xb_copy_group *group = &found->groups[i];
        predict_group(work, group);
        /* A call that blocks for longer than the copy takes keeps the thread for so long. */
        double now = fmax(group->seconds, isnan(group->blocked) ? 0 : group->blocked);
        if (group->host == XB_HOST_MEMORY_PAGEABLE &&
            now >= (group->count > 1 ? PIN_LEAST_S : PIN_ONCE_S))
            add_fault(work, &(struct xb_fault_found){.fault = XB_FAULT_PAGEABLE,
                                                     .group = group,
                                                     .seconds = now,
                                                     .predicted = group->pinned});
        if (is_small(group))
            add_fault(work, &(struct xb_fault_found){.fault = XB_FAULT_SMALL,
                                                     .group = group,
                                                     .seconds = now,
                                                     .predicted = group->batched});
        if (group->returns >= 2)
            add_fault(work, &(struct xb_fault_found){.fault = XB_FAULT_RETURNS,
                                                     .group = group,
                                                     .seconds = group->seconds,
                                                     .predicted = group->kept});
    }
    for (size_t i = 0; i < found->setup_count; i++)
        if (found->setups[i].count >= 2)
            add_fault(work, &(struct xb_fault_found){.fault = XB_FAULT_SETUP,
                                                     .setup = &found->setups[i],
                                                     .seconds = found->setups[i].seconds,
                                                     .predicted = 0});
    judge_overlap(work);
    qsort(found->faults, found->fault_count, sizeof *found->faults, by_remedy);
}

/* Finds the window and whether all is on one stream. False where no GPU did anything. */
static bool find_window(struct work *work)
{
    struct xb_explanation *found = work->found;
    const struct xb_profile *profile = found->profile;
    const struct xb_activity *first = NULL;
    found->is_one_stream = true;
    for (size_t i = 0; i < profile->count; i++) {
        const struct xb_activity *activity = &profile->activities[i];
        if (!is_deed(activity))
            continue;
        if (first == NULL)
            work->begin = activity->begin;
        work->end = activity->end > work->end || first == NULL ? activity->end : work->end;
        if (activity->kind != XB_ACTIVITY_WORK) {
            found->is_one_stream =
                found->is_one_stream && (first == NULL || first->track == activity->track ||
                                         first->kind == XB_ACTIVITY_WORK);
        }
        if (first == NULL || first->kind == XB_ACTIVITY_WORK)
            first = activity;
    }
    found->window = seconds_of(work->begin, work->end);
    return first != NULL && first->kind != XB_ACTIVITY_WORK;
}

static void explain(struct scratch *scratch, const struct xb_costs *costs, struct xb_arena **memory,
                    struct xb_explanation *found)
{
    struct work *work = xb_new(1, sizeof *work);
    *work = (struct work){.found = found, .scratch = scratch, .costs = costs, .memory = memory};
    if (find_window(work)) {
        measure_engines(work);
        list_copies(work);
        find_calls(work);
        find_order(work);
        make_groups(work);
        find_setups(work);
        judge(work);
        for (size_t gpu = 0; gpu < found->gpu_count; gpu++)
            free(work->kernels[gpu].spans);
        free(work->copies);
        free(work->by_link);
    } else {
        found->window = 0;
    }
    free(work);
}

struct xb_explanation *xb_explain(const struct xb_profiles *profiles, const struct xb_costs *costs,
                                  struct xb_arena **memory)
{
    struct scratch *scratch = xb_new(1, sizeof *scratch);
    struct xb_explanation *all = xb_arena_new(memory, profiles->count * sizeof *all);
    scratch->stacks = xb_new(profiles->name_count, sizeof *scratch->stacks);
    for (size_t i = 0; i < profiles->count; i++) {
        all[i].profiles = profiles;
        all[i].profile = &profiles->items[i];
        explain(scratch, costs, memory, &all[i]);
    }
    for (size_t i = 0; i < profiles->name_count; i++)
        free(scratch->stacks[i].ranges);
    free(scratch->stacks);
    free(scratch);
    return all;
}
