/* SPDX-License-Identifier: Apache-2.0 */
/* Where the time goes, which copies could be faster, and what they would take. */
#include "explain.h"

#include "base/memory.h"
#include "base/order.h"
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

/* A copy between host and GPU, and what is found of it. */
struct copy {
    const struct xb_activity *activity, *call;
    const char *origin[XB_ORIGINS];
    size_t gpu;     /* its place */
    uint64_t bytes; /* 0: not known */
    double blocked;
    bool begins_run, is_behind_kernel;
};

#define AWAITED 64 /* copies back that may come again */

/* What a GPU did until now. */
struct past {
    uint64_t awaited[AWAITED]; /* bytes that came back after a kernel */
    size_t awaited_count;
    uint8_t last_way; /* of copies since the last kernel */
    bool computed;
};

struct span {
    int64_t begin, end;
    int64_t before; /* nanoseconds that spans before it cover */
};

/* Time that is covered, span after span. */
struct cover {
    struct span *spans;
    size_t count;
};

/* The ranges that are open on a thread. */
struct stack {
    const struct xb_activity **ranges;
    size_t count;
};

#define MOST_GROUPS (XB_EXPLAIN_GROUPS + 2 * XB_HOST_MEMORIES) /* the last have no names */
#define COPYING XB_LANES                                       /* all lanes of copies as one */
#define SETUPS 32 /* names of calls that make or release memory: there are no more */

struct work {
    struct xb_explanation *found;
    const struct xb_costs *costs;
    struct xb_arena **memory;
    struct stack *stacks; /* by the places in names, some of which stand for threads */
    int64_t begin, end;   /* of the window */
    struct copy *copies;  /* in the order of their beginnings */
    struct copy **by_link;
    size_t copy_count;
    double idle;   /* seconds of gaps that are longer than GAP_NS, in which no GPU did anything */
    double hidden; /* seconds that overlapping could hide, of all GPUs together */
    struct past pasts[XB_EXPLAIN_GPUS];
    struct cover covers[XB_EXPLAIN_GPUS][XB_LANES + 1];
    struct cover computing; /* kernels of any GPU */
    struct xb_gpu_use gpus[XB_EXPLAIN_GPUS];
    struct xb_copy_group groups[MOST_GROUPS];
    int64_t until[MOST_GROUPS][XB_EXPLAIN_GPUS]; /* end of its last copy there, since begin */
    struct xb_setup_group setups[SETUPS];
};

static double seconds_of(int64_t begin, int64_t end)
{
    return (double)(end - begin) / 1e9;
}

static bool is_deed(const struct xb_activity *activity)
{
    return activity->kind < XB_ACTIVITY_WAIT;
}

static enum xb_lane lane_of(const struct xb_activity *activity)
{
    switch (activity->kind) {
    case XB_ACTIVITY_KERNEL:
        return XB_LANE_KERNELS;
    case XB_ACTIVITY_WORK:
        return XB_LANE_HOST;
    default: /* a fill has no way */
        return activity->way == XB_WAY_TO_GPU ? XB_LANE_TO_GPU
               : activity->way == XB_WAY_BACK ? XB_LANE_BACK
                                              : XB_LANE_AMONG;
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

/* Adds a span to a cover whose spans begin before it. */
static void cover_add(struct cover *cover, const struct xb_activity *activity)
{
    struct span *last = cover->count > 0 ? &cover->spans[cover->count - 1] : NULL;
    if (last != NULL && activity->begin <= last->end) {
        last->end = activity->end > last->end ? activity->end : last->end;
        return;
    }
    int64_t before = last != NULL ? last->before + last->end - last->begin : 0;
    cover->spans = xb_grow(cover->spans, cover->count, sizeof *cover->spans);
    cover->spans[cover->count++] = (struct span){activity->begin, activity->end, before};
}

/* Nanoseconds before that time that are covered. */
static int64_t covered_before(const struct cover *cover, int64_t time)
{
    size_t low = 0, high = cover->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cover->spans[middle].begin < time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    const struct span *last = &cover->spans[low - 1];
    return last->before + (time < last->end ? time : last->end) - last->begin;
}

/* Seconds of a span that are not covered. */
static double outside(const struct cover *cover, int64_t begin, int64_t end)
{
    int64_t covered = covered_before(cover, end) - covered_before(cover, begin);
    return seconds_of(begin + covered, end);
}

/* Seconds of one cover that another one does not cover. */
static double difference(const struct cover *cover, const struct cover *other)
{
    double seconds = 0;
    for (size_t i = 0; i < cover->count; i++)
        seconds += outside(other, cover->spans[i].begin, cover->spans[i].end);
    return seconds;
}

static void add_busy(const struct work *work, struct xb_lane_use *use, const struct span *span)
{
    double bin = (double)(work->end - work->begin) / XB_EXPLAIN_BINS;
    double begin = (double)(span->begin - work->begin), end = (double)(span->end - work->begin);
    use->busy += seconds_of(span->begin, span->end);
    for (size_t i = bin > 0 ? (size_t)(begin / bin) : XB_EXPLAIN_BINS;
         i < XB_EXPLAIN_BINS && bin * (double)i < end; i++)
        use->shares[i] +=
            fmax(fmin(end, bin * (double)(i + 1)) - fmax(begin, bin * (double)i), 0) / bin;
}

static void *keep(const struct work *work, const void *items, size_t size)
{
    return memcpy(xb_arena_new(work->memory, size), items, size);
}

/* Adds a copy between host and GPU. It begins a row where none went its way since the last kernel.
 */
static void add_copy(struct work *work, const struct xb_activity *activity, size_t gpu)
{
    struct past *past = &work->pasts[gpu];
    work->copies = xb_grow(work->copies, work->copy_count, sizeof *work->copies);
    work->copies[work->copy_count++] = (struct copy){.activity = activity,
                                                     .gpu = gpu,
                                                     .bytes = activity->bytes,
                                                     .begins_run = past->last_way != activity->way,
                                                     .is_behind_kernel = past->computed};
    past->last_way = activity->way;
}

static void measure_engines(struct work *work)
{
    struct xb_explanation *found = work->found;
    const struct xb_profile *profile = found->profile;
    int64_t latest = work->begin;
    found->gpus = work->gpus;
    XB_EACH (activity, profile->activities, profile->count) {
        enum xb_lane lane = lane_of(activity);
        if (!is_deed(activity))
            continue;
        size_t gpu = find_gpu(found, activity->device);
        found->gpus[gpu].lanes[lane].count++;
        if (lane == XB_LANE_AMONG || lane == XB_LANE_HOST) /* of copies later, with their calls */
            found->gpus[gpu].lanes[lane].bytes += activity->bytes;
        cover_add(&work->covers[gpu][lane], activity);
        if (lane != XB_LANE_KERNELS && lane != XB_LANE_HOST)
            cover_add(&work->covers[gpu][COPYING], activity);
        if (lane == XB_LANE_TO_GPU || lane == XB_LANE_BACK)
            add_copy(work, activity, gpu);
        if (lane == XB_LANE_KERNELS) {
            cover_add(&work->computing, activity);
            work->pasts[gpu].computed = true;
            work->pasts[gpu].last_way = XB_WAY_UNKNOWN;
        }
        if (activity->begin - latest > GAP_NS)
            work->idle += seconds_of(latest, activity->begin);
        latest = activity->end > latest ? activity->end : latest;
    }
    for (size_t gpu = 0; gpu < found->gpu_count; gpu++) {
        struct xb_gpu_use *use = &found->gpus[gpu];
        const struct cover *covers = work->covers[gpu];
        for (int lane = 0; lane < XB_LANES; lane++)
            for (size_t i = 0; i < covers[lane].count; i++)
                add_busy(work, &use->lanes[lane], &covers[lane].spans[i]);
        use->copying = difference(&covers[COPYING], &covers[XB_LANE_KERNELS]);
        use->neither = fmax(found->window - use->lanes[XB_LANE_KERNELS].busy - use->copying, 0.0);
        work->hidden += fmin(use->copying, difference(&covers[XB_LANE_KERNELS], &covers[COPYING]) +
                                               use->lanes[XB_LANE_HOST].busy);
    }
    found->gpus = keep(work, work->gpus, found->gpu_count * sizeof *found->gpus);
}

/* ---- copies between host and GPU: their calls, and where these come from ---- */

XB_POINTER_COMPARER(by_link, struct copy, XB_BY(activity->link), XB_ORDER(a, b))

/* The outermost operator, which the program calls, and the innermost mark and line. */
static void find_origin(const struct work *work, const struct stack *stack, struct copy *copy)
{
    const char *const *names = work->found->profiles->names;
    for (size_t i = stack->count; i-- > 0;) {
        const struct xb_activity *range = stack->ranges[i];
        const char **place = &copy->origin[range->range];
        if (range->end > copy->call->begin && (range->range == XB_RANGE_OPERATOR || *place == NULL))
            *place = names[range->name];
    }
}

/* A call of the runtime and that of the driver within it have one number: the outer one comes
 * first. One call may start many copies (cudaGraphLaunch): the first of them has its time, without
 * that in which kernels run, for which it may only wait. A trace of ROCm has bytes with calls. */
static void take_call(struct work *work, const struct xb_activity *call, const struct stack *stack)
{
    size_t low = 0, high = work->copy_count;
    bool is_counted = false;
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
        copy->bytes = copy->bytes > 0 ? copy->bytes : call->bytes;
        if (!is_counted)
            copy->blocked = outside(&work->computing, call->begin, call->end);
        is_counted = true;
        copy->origin[XB_ORIGIN_CALL] = work->found->profiles->names[call->name];
        find_origin(work, stack, copy);
    }
}

static void find_calls(struct work *work)
{
    const struct xb_profile *profile = work->found->profile;
    work->by_link = xb_new(work->copy_count, sizeof(struct copy *));
    for (size_t i = 0; i < work->copy_count; i++)
        work->by_link[i] = &work->copies[i];
    qsort(work->by_link, work->copy_count, sizeof(struct copy *), by_link);
    XB_EACH (activity, profile->activities, profile->count) {
        if (is_deed(activity))
            continue;
        struct stack *stack = &work->stacks[activity->track];
        while (stack->count > 0 && stack->ranges[stack->count - 1]->end <= activity->begin)
            stack->count--;
        if (activity->kind == XB_ACTIVITY_RANGE) {
            stack->ranges =
                xb_grow(stack->ranges, stack->count, sizeof(const struct xb_activity *));
            stack->ranges[stack->count++] = activity;
        } else if (activity->link != 0) {
            take_call(work, activity, stack);
        }
    }
    for (size_t i = 0; i < profile->count; i++)
        work->stacks[profile->activities[i].track].count = 0;
}

/* Whether as many bytes came back after a kernel as this copy takes to the GPU. */
static bool find_return(struct past *past, const struct copy *copy)
{
    if (copy->activity->way == XB_WAY_BACK && copy->is_behind_kernel && copy->bytes > 0 &&
        past->awaited_count < AWAITED)
        past->awaited[past->awaited_count++] = copy->bytes;
    for (size_t i = 0; copy->activity->way == XB_WAY_TO_GPU && i < past->awaited_count; i++)
        if (past->awaited[i] == copy->bytes) {
            past->awaited_count = 0; /* what came back before is of an earlier step */
            return true;
        }
    return false;
}

/* Each name is there once: pointers tell whether two are the same. Where there is no room for more
 * groups, copies go to one without a name. */
static struct xb_copy_group *find_group(struct work *work, const struct copy *copy)
{
    const char *origin[XB_ORIGINS] = {NULL};
    size_t *count = &work->found->group_count;
    for (int named = 1; named >= 0; named--) {
        if (named)
            memcpy(origin, copy->origin, sizeof origin);
        else
            memset(origin, 0, sizeof origin);
        for (size_t i = 0; i < *count; i++)
            if (work->groups[i].way == copy->activity->way &&
                work->groups[i].host == copy->activity->host &&
                memcmp(work->groups[i].origin, origin, sizeof origin) == 0)
                return &work->groups[i];
        if (*count < XB_EXPLAIN_GROUPS)
            break;
    }
    struct xb_copy_group *group = &work->groups[(*count)++];
    group->way = copy->activity->way;
    group->host = copy->activity->host;
    memcpy(group->origin, origin, sizeof origin);
    return group;
}

XB_COMPARER(by_exposure, struct xb_copy_group, XB_BY_GREATEST(exposed))

/* Copies of a group that overlap on a GPU take no longer than one of them. */
static void add_to_group(struct work *work, struct xb_copy_group *group, const struct copy *copy)
{
    const struct xb_activity *activity = copy->activity;
    int64_t *until = &work->until[group - work->groups][copy->gpu];
    int64_t begin = activity->begin > work->begin + *until ? activity->begin : work->begin + *until;
    int64_t end = activity->end > begin ? activity->end : begin;
    bool returns = find_return(&work->pasts[copy->gpu], copy);
    double seconds = seconds_of(begin, end);
    *until = end - work->begin;
    group->first = group->count++ == 0 ? seconds : group->first;
    group->bytes += copy->bytes;
    group->lacks_bytes = group->lacks_bytes || copy->bytes == 0;
    group->seconds += seconds;
    group->exposed += outside(&work->covers[copy->gpu][XB_LANE_KERNELS], begin, end);
    group->blocked += copy->call != NULL ? copy->blocked : (double)NAN;
    group->runs += copy->begins_run;
    group->returns += returns;
    group->kept += returns ? 0 : seconds;
}

static void make_groups(struct work *work)
{
    struct xb_explanation *found = work->found;
    XB_EACH (copy, work->copies, work->copy_count) {
        found->gpus[copy->gpu].lanes[lane_of(copy->activity)].bytes += copy->bytes;
        found->lacks_memory = found->lacks_memory || copy->activity->host == XB_HOST_MEMORY_UNKNOWN;
        add_to_group(work, find_group(work, copy), copy);
    }
    for (size_t i = 0; i < found->group_count; i++) {
        found->lacks_bytes = found->lacks_bytes || work->groups[i].lacks_bytes;
        if (work->groups[i].lacks_bytes)
            work->groups[i].bytes = 0;
    }
    qsort(work->groups, found->group_count, sizeof *work->groups, by_exposure);
    found->groups = keep(work, work->groups, found->group_count * sizeof *found->groups);
}

static bool makes_memory(const char *name)
{
    static const char *const words[] = {"HostAlloc", "HostMalloc", "HostRegister", "HostUnregister",
                                        "Malloc",    "Free",       "MemAlloc"};
    bool is_one = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        is_one = is_one || strstr(name, words[i]) != NULL;
    /* From a pool, in the order of the stream, is as it should be. */
    return is_one && strstr(name, "Async") == NULL;
}

static void find_setups(struct work *work)
{
    struct xb_explanation *found = work->found;
    const struct xb_profile *profile = found->profile;
    bool has_runtime = false; /* then the driver's calls are within those of the runtime */
    XB_EACH (call, profile->activities, profile->count) {
        const char *name = found->profiles->names[call->name];
        if (call->kind != XB_ACTIVITY_CALL || !makes_memory(name))
            continue;
        found->uses_managed = found->uses_managed || strstr(name, "Managed") != NULL;
        has_runtime = has_runtime || strncmp(name, "cuM", 3) != 0;
        if (call->begin < work->begin || call->begin > work->end ||
            (has_runtime && strncmp(name, "cuM", 3) == 0))
            continue;
        size_t at = 0;
        while (at + 1 < SETUPS && work->setups[at].call != NULL && work->setups[at].call != name)
            at++;
        work->setups[at].call = name;
        work->setups[at].count++;
        work->setups[at].seconds += outside(&work->computing, call->begin, call->end);
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

static void add_fault(struct xb_explanation *found, enum xb_fault fault, int group, double seconds,
                      double predicted)
{
    double least = fault == XB_FAULT_SERIAL ? SERIAL_WORTH : WORTH;
    if (seconds - (isnan(predicted) ? 0 : predicted) >= least * found->window)
        found->faults[found->fault_count++] =
            (struct xb_fault_found){fault, group, {.call = NULL}, seconds, predicted};
}

/* How long the program would take if each engine did what it does, and all at once: the busiest
 * sets the pace, and of the others the first and the last part stand out. Long gaps stay. Copies
 * take what results say of page-locked memory, where they do. */
static void judge_overlap(struct work *work)
{
    struct xb_explanation *found = work->found;
    static const enum xb_lane engines[] = {XB_LANE_TO_GPU, XB_LANE_BACK, XB_LANE_KERNELS,
                                           XB_LANE_HOST};
    const struct xb_copy_group *largest = NULL;
    double busy[XB_LANES] = {0}, all = 0, most = 0;
    for (size_t gpu = 0; gpu < found->gpu_count; gpu++)
        for (int engine = 0; engine < XB_LANES; engine++)
            busy[engine] += found->gpus[gpu].lanes[engine].busy;
    XB_EACH (group, found->groups, found->group_count) {
        largest = largest == NULL || group->bytes > largest->bytes ? group : largest;
        /* NAN stays for pageable memory: it cannot be said. Copies that wait for each other also
         * find page-locked memory slower than results have it. */
        if (group->host == XB_HOST_MEMORY_PAGEABLE || group->pinned < group->seconds)
            busy[group->way == XB_WAY_TO_GPU ? XB_LANE_TO_GPU : XB_LANE_BACK] +=
                group->pinned - group->seconds;
    }
    size_t parts = largest != NULL ? largest->count : 0;
    if (parts > 0 && parts < 4 && largest->bytes >= 2 * CHUNK) {
        parts = (size_t)(largest->bytes / CHUNK);
        found->chunk = CHUNK;
    }
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        all += busy[engines[i]];
        most = busy[engines[i]] > most || isnan(busy[engines[i]]) ? busy[engines[i]] : most;
    }
    /* Several GPUs work beside each other anyhow: no sum tells what they would take. */
    double predicted =
        found->gpu_count > 1 ? (double)NAN : work->idle + most + (all - most) / (double)parts;
    if (parts >= 2 && work->hidden >= SERIAL_WORTH * found->window * (double)found->gpu_count)
        add_fault(found, XB_FAULT_SERIAL, -1, found->window, predicted);
}

/* What a remedy saves: the most comes first. SERIAL and RETURNS follow, by their numbers. */
static double saved_by(const struct xb_fault_found *fault)
{
    return fault->fault >= XB_FAULT_SERIAL
               ? -INFINITY
               : fault->seconds - (isnan(fault->predicted) ? 0 : fault->predicted);
}

XB_COMPARER(by_remedy, struct xb_fault_found, XB_ORDER(saved_by(b), saved_by(a)), XB_BY(fault))

static void judge(struct work *work)
{
    struct xb_explanation *found = work->found;
    found->faults =
        xb_arena_new(work->memory, (3 * found->group_count + SETUPS + 1) * sizeof *found->faults);
    for (size_t i = 0; i < found->group_count; i++) {
        struct xb_copy_group *group = &found->groups[i];
        enum xb_cost_kind kind =
            group->way == XB_WAY_TO_GPU ? XB_COST_PINNED_IN : XB_COST_PINNED_OUT;
        group->pinned = cost_of(work, kind, group->count, group->bytes);
        group->batched =
            is_small(group) ? cost_of(work, kind, group->runs, group->bytes) : (double)NAN;
        group->kept = group->returns >= 2 ? group->kept : (double)NAN;
        /* A call that blocks for longer than the copy takes keeps the thread for so long. */
        double now = fmax(group->seconds, isnan(group->blocked) ? 0 : group->blocked);
        if (group->host == XB_HOST_MEMORY_PAGEABLE &&
            now >= (group->count > 1 ? PIN_LEAST_S : PIN_ONCE_S))
            add_fault(found, XB_FAULT_PAGEABLE, (int)i, now, group->pinned);
        if (is_small(group))
            add_fault(found, XB_FAULT_SMALL, (int)i, now, group->batched);
        if (group->returns >= 2)
            add_fault(found, XB_FAULT_RETURNS, (int)i, group->seconds, group->kept);
    }
    for (size_t i = 0; i < SETUPS; i++) {
        const size_t before = found->fault_count;
        if (work->setups[i].count >= 2)
            add_fault(found, XB_FAULT_SETUP, -1, work->setups[i].seconds, (double)NAN);
        if (found->fault_count > before)
            found->faults[before].setup = work->setups[i];
    }
    judge_overlap(work);
    qsort(found->faults, found->fault_count, sizeof *found->faults, by_remedy);
}

/* Finds the window and whether all is on one stream. False where no GPU did anything. */
static bool find_window(struct work *work)
{
    struct xb_explanation *found = work->found;
    const struct xb_profile *profile = found->profile;
    const struct xb_activity *first = NULL; /* of the GPU */
    bool has_any = false;
    found->is_one_stream = true;
    XB_EACH (activity, profile->activities, profile->count) {
        if (!is_deed(activity))
            continue;
        work->begin = has_any ? work->begin : activity->begin;
        work->end = has_any && work->end > activity->end ? work->end : activity->end;
        has_any = true;
        if (activity->kind == XB_ACTIVITY_WORK)
            continue;
        first = first != NULL ? first : activity;
        found->is_one_stream = found->is_one_stream && first->track == activity->track;
    }
    if (first == NULL)
        return false;
    found->window = seconds_of(work->begin, work->end);
    return true;
}

XB_COMPARER(by_device, struct xb_gpu_use, XB_BY(device))

struct xb_explanation *xb_explain(const struct xb_profiles *profiles, const struct xb_costs *costs,
                                  struct xb_arena **memory)
{
    struct xb_explanation *all = xb_arena_new(memory, profiles->count * sizeof *all);
    struct stack *stacks = xb_new(profiles->name_count, sizeof *stacks);
    for (size_t i = 0; i < profiles->count; i++) {
        struct work *work = xb_new(1, sizeof *work);
        work->found = &all[i];
        work->costs = costs;
        work->memory = memory;
        work->stacks = stacks;
        all[i].profiles = profiles;
        all[i].profile = &profiles->items[i];
        if (find_window(work)) {
            measure_engines(work);
            find_calls(work);
            make_groups(work);
            find_setups(work);
            judge(work);
            qsort(all[i].gpus, all[i].gpu_count, sizeof *all[i].gpus, by_device);
        }
        for (size_t k = 0; k < XB_EXPLAIN_GPUS; k++)
            for (size_t lane = 0; lane <= COPYING; lane++)
                free(work->covers[k][lane].spans);
        free(work->computing.spans);
        free(work->copies);
        free(work->by_link);
        free(work);
    }
    for (size_t i = 0; i < profiles->name_count; i++)
        free(stacks[i].ranges);
    free(stacks);
    return all;
}
