/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* text.h */
/* The answer, the picture, what to do, and what cannot be said. */
#include "explain.h"

#include "base/stream.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "present/table.h"

#include <math.h>
#include <string.h>

#define SHOWN_PROGRAMS 8
#define SHOWN_GPUS 4
#define SHOWN_FAULTS 6
#define WAITED 0.2 /* of the time: a GPU that does nothing for so long is told of */
#define WAY_TEXT(way) ((way) == XB_WAY_TO_GPU ? "to the GPU" : "back to the host")

/* "12 %" of the time, "<1 %" of what is less and not nothing; `text` holds 16 bytes. */
static const char *share_text(const struct xb_explanation *found, double seconds, char *text)
{
    double percent = 100 * seconds / found->window;
    snprintf(text, 16, percent > 0 && percent < 0.5 ? "<1 %%" : "%.0f %%", percent);
    return text;
}
#define SHARE_TEXT(found, seconds) share_text((found), (seconds), (char[16]){0})

/* "2.684 GB", "12 B" */
#define DATA_TEXT(bytes) XB_ABOUT_TEXT((double)(bytes), 1000, 4)

static void print_engines(FILE *stream, const struct xb_explanation *found,
                          const struct xb_gpu_use *gpu)
{
    static const char *const names[] = {[XB_LANE_TO_GPU] = "to the GPU",
                                        [XB_LANE_BACK] = "back to the host",
                                        [XB_LANE_AMONG] = "within, fills",
                                        [XB_LANE_KERNELS] = "kernels",
                                        [XB_LANE_HOST] = "host threads"};
    static const struct xb_table_column columns[] = {{.title = ""},
                                                     {.title = "BUSY", .is_right = true},
                                                     {.title = "DATA", .is_right = true, .turn = 2},
                                                     {.title = "GB/s", .is_right = true, .turn = 1},
                                                     {.title = "over the time", .turn = 3}};
    struct xb_table *table = XB_TABLE(columns);
    for (int engine = 0; engine < XB_LANES; engine++) {
        const struct xb_lane_use *use = &gpu->lanes[engine];
        if (use->count == 0)
            continue;
        xb_table_row(table);
        xb_table_text(table, "%s", names[engine]);
        xb_table_text(table, "%s", SHARE_TEXT(found, use->busy));
        bool has_rate = use->bytes > 0 && use->busy > 0 && engine != XB_LANE_KERNELS;
        xb_table_text(table, "%s", has_rate ? DATA_TEXT(use->bytes) : "");
        xb_table_text(table, "%s", has_rate ? XB_RATE_TEXT((double)use->bytes / use->busy) : "");
        xb_table_curve(table, use->shares, XB_EXPLAIN_BINS);
    }
    xb_table_print(stream, table, &(struct xb_table_look){.indent = "  "});
    xb_table_free(table);
}

/* The answer: how the time of a GPU divides. */
static void print_shares(FILE *stream, const struct xb_explanation *found,
                         const struct xb_gpu_use *gpu)
{
    char name[32] = "The GPU";
    if (gpu->device >= 0)
        snprintf(name, sizeof name, "GPU %d", gpu->device);
    xb_lines_print(stream, xb_terminal_prose_columns(stream),
                   "%s computed %s of the time, only copied %s, and did neither %s.%s", name,
                   SHARE_TEXT(found, gpu->lanes[XB_LANE_KERNELS].busy),
                   SHARE_TEXT(found, gpu->copying), SHARE_TEXT(found, gpu->neither),
                   gpu->neither < WAITED * found->window ? ""
                   : found->profiles->is_pytorch
                       ? " It waited for the host: DataLoader(num_workers=N) may help."
                       : " It waited for the host.");
}

/* "aten.to" of "aten::to": two colons do not go to a terminal. `text` holds `size` bytes. */
static const char *dotted(const char *name, char *text, size_t size)
{
    size_t length = 0;
    for (; *name != '\0' && length + 1 < size; name += name[0] == ':' && name[1] == ':' ? 2 : 1)
        text[length++] = (char)(name[0] == ':' && name[1] == ':' ? '.' : *name);
    text[length] = '\0';
    return text;
}

/* "12 copies to the GPU by aten.to, cudaMemcpyAsync, in "load", at train.py(34) (3.2 GB)" */
static void add_copies(struct xb_words *words, const struct xb_copy_group *group)
{
    const char *const *origin = group->origin, *operation = origin[XB_RANGE_OPERATOR];
    char text[64];
    xb_words_add(words, "%zu %s %s", group->count, group->count == 1 ? "copy" : "copies",
                 WAY_TEXT(group->way));
    if (operation != NULL)
        xb_words_add(words, " by %s", dotted(operation, text, sizeof text));
    if (origin[XB_ORIGIN_CALL] != NULL)
        xb_words_add(words, "%s%.40s", operation != NULL ? ", " : " by ", origin[XB_ORIGIN_CALL]);
    if (origin[XB_RANGE_MARK] != NULL)
        xb_words_add(words, ", in \"%.60s\"", origin[XB_RANGE_MARK]);
    if (origin[XB_RANGE_LINE] != NULL)
        xb_words_add(words, ", at %.80s", origin[XB_RANGE_LINE]);
    if (group->bytes > 0)
        xb_words_add(words, " (%s)", DATA_TEXT(group->bytes));
}

/* "They take" of several, "It takes" of one. */
#define TAKES(group) ((group)->count == 1 ? "It takes" : "They take")

static void add_predicted(struct xb_words *words, const char *how, double predicted)
{
    if (!isnan(predicted))
        xb_words_add(words, " %s: %s.", how, XB_DURATION_TEXT(predicted));
}

static void add_pageable(struct xb_words *words, const struct xb_copy_group *group)
{
    xb_words_add(words, "Pin the host memory of ");
    add_copies(words, group);
    xb_words_add(words, ": it is pageable. %s %s", TAKES(group), XB_DURATION_TEXT(group->seconds));
    if (group->bytes / group->count > XB_EXPLAIN_SMALL)
        xb_words_add(words, " (%s GB/s)", XB_RATE_TEXT((double)group->bytes / group->seconds));
    if (!isnan(group->blocked))
        xb_words_add(words, ", and while no kernel ran their calls blocked the thread for %s",
                     XB_DURATION_TEXT(group->blocked));
    xb_words_add(words, ".");
    if (group->count >= 4 &&
        group->first > 2 * (group->seconds - group->first) / (double)(group->count - 1))
        xb_words_add(words,
                     " The first takes %s, longer than twice the others' mean: touching "
                     "memory for the first time may cost that.",
                     XB_DURATION_TEXT(group->first));
    add_predicted(words, "Pinned, one after the other", group->pinned);
}

static void add_small(struct xb_words *words, const struct xb_copy_group *group, double seconds)
{
    const uint64_t each = group->bytes / group->count;
    xb_words_add(words, "Send small copies together: ");
    add_copies(words, group);
    xb_words_add(words, ", %s each on average, in %zu rows without a kernel between. They take %s.",
                 DATA_TEXT(each), group->runs, XB_DURATION_TEXT(seconds));
    add_predicted(words, "As one copy a row", group->batched);
}

static void add_returns(struct xb_words *words, const struct xb_copy_group *group)
{
    xb_words_add(words, "Keep data on the GPU: %zu of ", group->returns);
    add_copies(words, group);
    xb_words_add(words,
                 " are as large as what came back just before. If the host does not change it, "
                 "leave both copies out: those to the GPU take %s.",
                 XB_DURATION_TEXT(group->seconds - group->kept));
}

static void add_serial(struct xb_words *words, const struct xb_explanation *found,
                       const struct xb_fault_found *one)
{
    xb_words_add(words, "Overlap copies and kernels: they wait for each other%s.",
                 found->is_one_stream ? ", all on one stream" : "");
    if (isnan(one->predicted))
        return;
    xb_words_add(words, " %s in place of %s at best", XB_DURATION_TEXT(one->predicted),
                 XB_DURATION_TEXT(one->seconds));
    if (found->chunk > 0)
        xb_words_add(words, ", in chunks of %s", XB_SIZE_TEXT(found->chunk));
    xb_words_add(words, ", if each part of the work needs only its own data.");
}

/* What to do about a fault, and for the first of its kind the calls. */
static void add_fault(struct xb_words *words, const struct xb_explanation *found,
                      const struct xb_fault_found *one, bool is_first)
{
    /* A column each for CUDA, for HIP, and for PyTorch to the GPU and back. */
    static const char *const calls[XB_FAULTS][4] = {
        [XB_FAULT_PAGEABLE] =
            {" cudaMallocHost() for new memory, cudaHostRegister() for memory that you have.",
             " hipHostMalloc() for new memory, hipHostRegister() for memory that you have.",
             " DataLoader(pin_memory=True), or tensor.pin_memory(), and "
             ".to(device, non_blocking=True).",
             " Copy into torch.empty(..., pin_memory=True) by .copy_(x, non_blocking=True)."},
        [XB_FAULT_SMALL] = {" Gather them in one pinned buffer, or cudaMemcpyBatchAsync().",
                            " Gather them in one pinned buffer on the host.",
                            " Put them into one tensor on the host (torch.stack) and copy that.",
                            " Put them into one tensor on the host (torch.stack) and copy that."},
        [XB_FAULT_SERIAL] =
            {" cudaMemcpyAsync() of pinned memory on two streams. An example program: xferbench "
             "advise --code cuda.",
             " hipMemcpyAsync() of pinned memory on two streams. An example program: xferbench "
             "advise --code hip.",
             " Pinned memory, non_blocking=True, and a second torch.cuda.Stream(). An example: "
             "xferbench advise --code pytorch."},
    };
    /* Faults of no group do not look at it. */
    const struct xb_copy_group *group = &found->groups[one->group >= 0 ? one->group : 0];
    if (one->fault == XB_FAULT_PAGEABLE)
        add_pageable(words, group);
    else if (one->fault == XB_FAULT_SMALL)
        add_small(words, group, one->seconds);
    else if (one->fault == XB_FAULT_RETURNS)
        add_returns(words, group);
    else if (one->fault == XB_FAULT_SERIAL)
        add_serial(words, found, one);
    else
        xb_words_add(words,
                     "Make memory once, before the work begins, and release it afterwards: %zu "
                     "calls of %.60s between copies and kernels take %s.",
                     one->setup.count, one->setup.call, XB_DURATION_TEXT(one->seconds));
    const char *call = calls[one->fault][!found->profiles->is_pytorch ? found->profiles->is_hip
                                         : one->group < 0 || group->way == XB_WAY_TO_GPU ? 2
                                                                                         : 3];
    xb_words_add(words, "%s", is_first && call != NULL ? call : "");
    if (is_first && one->fault == XB_FAULT_PAGEABLE)
        xb_words_add(words, " What pinning costs once: --mode pin.");
}

static void print_faults(FILE *stream, const struct xb_explanation *found)
{
    if (found->fault_count == 0) {
        fputs("Nothing to change in the copies, as far as the trace tells.\n", stream);
        return;
    }
    xb_heading_print(stream, XB_COLOUR_TITLE, "What to do");
    bool is_told[XB_FAULTS] = {false};
    for (size_t i = 0; i < found->fault_count && i < SHOWN_FAULTS; i++) {
        struct xb_words words = {.length = 0};
        bool *told = &is_told[found->faults[i].fault];
        char number[16];
        add_fault(&words, found, &found->faults[i], !*told);
        *told = true;
        snprintf(number, sizeof number, "  %zu  ", i + 1);
        xb_note_print(stream, number, 5, "%s", words.text);
    }
    if (found->fault_count > SHOWN_FAULTS)
        fprintf(stream, "  and %zu more: --json FILE\n", found->fault_count - SHOWN_FAULTS);
}

static bool lacks_prediction(const struct xb_explanation *found)
{
    for (size_t i = 0; i < found->fault_count; i++)
        if (isnan(found->faults[i].predicted) && found->faults[i].fault != XB_FAULT_SETUP &&
            (found->faults[i].fault != XB_FAULT_SERIAL || found->gpu_count == 1))
            return true;
    return false;
}

static void print_limits(FILE *stream, const struct xb_explain_source *source,
                         const struct xb_explanation *found)
{
    const struct xb_profiles *profiles = found->profiles;
    const struct xb_profile *profile = found->profile;
    char lost[96];
    snprintf(lost, sizeof lost, "All that happened: CUPTI lost %llu records of it.",
             (unsigned long long)profile->dropped);
    const struct {
        bool is_so;
        const char *text;
    } limits[] = {
        {lacks_prediction(found),
         source->with != NULL
             ? "What all these copies would take: FILE has no results of their size."
             : "What these copies would take pinned, together or overlapped: "
               "--measure tells, or --with FILE, which xferbench --mode "
               "pageable,pinned --size 4K..1G --json FILE makes here."},
        {found->lacks_bytes, "Copies of which the trace does not say the bytes."},
        {found->lacks_memory, "Whether host memory was pinned, of copies without its kind."},
        {found->group_count > 0 && profiles->lacks_calls,
         "How long calls took: the trace has none, or no number that links them with copies."},
        {found->uses_managed, "What moves of managed memory: pages move without copies. --mode "
                              "managed measures that here."},
        {profile->is_cut, "What came last: the trace ends in the middle, or the program without a "
                          "goodbye."},
        {profile->dropped > 0, lost},
        {profiles->left_out > 0, "Events whose times cannot be, or that are too long to be read."},
    };
    bool has_any = false;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (!limits[i].is_so)
            continue;
        if (!has_any)
            xb_heading_print(stream, XB_COLOUR_TITLE, "Cannot be said");
        has_any = true;
        xb_note_print(stream, "", 2, "%s", limits[i].text);
    }
}

static void print_one(FILE *stream, const struct xb_explain_source *source,
                      const struct xb_explanation *found)
{
    const char *name = found->profile->name != NULL ? found->profile->name : "Process";
    struct xb_words words = {.length = 0};
    xb_words_add(&words, "%.60s", name);
    if (found->profile->process != 0 && source->path == NULL)
        xb_words_add(&words, " (%llu)", (unsigned long long)found->profile->process);
    xb_words_add(&words, ": %s from the first copy or kernel to the last",
                 XB_DURATION_TEXT(found->window));
    if (source->wall > 0)
        xb_words_add(&words, "; the program ran %s", XB_DURATION_TEXT(source->wall));
    xb_heading_print(stream, XB_COLOUR_TITLE, "%s.", words.text);
    for (size_t i = 0; i < found->gpu_count && i < SHOWN_GPUS; i++) {
        print_shares(stream, found, &found->gpus[i]);
        print_engines(stream, found, &found->gpus[i]);
    }
    if (found->gpu_count > SHOWN_GPUS)
        fprintf(stream, "and %zu more GPU%s: --json FILE\n", found->gpu_count - SHOWN_GPUS,
                found->gpu_count > SHOWN_GPUS + 1 ? "s" : "");
    print_faults(stream, found);
    print_limits(stream, source, found);
}

enum xb_status xb_explain_print(FILE *stream, const struct xb_explain_source *source,
                                const struct xb_explanation *explanations, size_t count,
                                struct xb_error *error)
{
    size_t shown = 0;
    for (size_t i = 0; i < count; i++) {
        if (explanations[i].window <= 0 || shown++ >= SHOWN_PROGRAMS)
            continue;
        if (shown > 1)
            fputc('\n', stream);
        print_one(stream, source, &explanations[i]);
    }
    if (shown > SHOWN_PROGRAMS)
        fprintf(stream, "\nand %zu more program%s: --json FILE\n", shown - SHOWN_PROGRAMS,
                shown > SHOWN_PROGRAMS + 1 ? "s" : "");
    return xb_stream_finish(stream, "the answer", error);
}
