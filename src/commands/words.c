/* SPDX-License-Identifier: Apache-2.0 */
/* The words that the program uses, explained: `help words`, `help ring`. */
#include "help.h"

#include "cli/help.h"

#include <stdio.h>
#include <strings.h>

static const struct {
    const char *word, *text;
} words[] = {
    {"bandwidth", "How many bytes move in a second, in GB/s: 10^9 bytes per second. Sizes are in "
                  "KiB, MiB and GiB, powers of 1024."},
    {"bidirectional", "Copies to the GPU and back at the same time (bidir)."},
    {"ceiling",
     "What a link carries of a program's data: its raw rate less what packet headers take."},
    {"column", "help columns explains those of the tables."},
    {"compare", "Says whether new results are worse than old ones: PASS, REGRESSION, or "
                "INCONCLUSIVE if the data cannot tell."},
    {"d2d", "From one GPU to another, or within one."},
    {"d2h", "Back to the host: from the GPU's memory to the CPU's."},
    {"fault",
     "Managed memory that is not where it is used moves page by page, when it is touched."},
    {"figure", "One thing that was measured: a bandwidth, a time."},
    {"GPU", "A device of a backend, by its number; CUDA and HIP count from 0."},
    {"h2d", "To the GPU: from the CPU's memory to the GPU's."},
    {"host", "The computer with its CPUs and their memory, beside its GPUs."},
    {"inconclusive",
     "The data cannot tell whether anything changed: measure longer, or with --processes 8."},
    {"interval", "The true median lies in it with 95 % certainty. Narrow is good."},
    {"latency", "How long a small operation takes, whatever its size: --latency."},
    {"link", "What a GPU hangs on: PCIe, such as Gen5 x16 (generation and number of lanes), or "
             "NVLink between GPUs."},
    {"median", "The value in the middle: half of the samples are larger."},
    {"method", "A way to move data: a mode, such as pinned, with its variant."},
    {"noisy", "Samples differ so much that the median is not known well. Close other programs, or "
              "measure longer (--time-limit)."},
    {"NUMA", "A host of several parts (nodes), each with CPUs and memory. A GPU is near one of "
             "them; --numa chooses."},
    {"p99", "99 of 100 operations were faster."},
    {"page-locked", "The same as pinned."},
    {"pageable", "Ordinary memory, as of malloc(). The driver copies it through pinned memory of "
                 "its own: slow, and the call blocks."},
    {"peer", "Another GPU of the same host; copies between peers need not touch the host."},
    {"pinned", "Memory that stays where it is, so that the GPU reads and writes it directly: "
               "cudaMallocHost(), cudaHostRegister(). Fast, but costly to make: --mode pin."},
    {"prefetch", "Managed memory that is moved before it is used: cudaMemPrefetchAsync()."},
    {"registered",
     "Pinned by cudaHostRegister() or hipHostRegister(): memory that a program had already."},
    {"regression",
     "A figure got worse by the threshold (2 %) or more, and chance does not explain it."},
    {"result",
     "What came of one method, size, direction and GPU: its figures, or why there is none."},
    {"ring", "A few pinned buffers that threads fill from pageable memory in turn, while the GPU "
             "copies the one before."},
    {"sample", "One repetition that was timed."},
    {"stream",
     "A queue of work for a GPU. What is in one stream is done in order; two may overlap."},
    {"variant", "A kind of a mode: how memory is made, who copies, in which order."},
    {"verified", "Every byte that arrived was compared with what was sent."},
    {"warm-up", "Repetitions before those that count, until clocks and caches have settled."},
    {"zero-copy",
     "A kernel reads or writes the host's memory over the link; nothing is copied before."},
};
#define WORDS (sizeof words / sizeof words[0])

static void print_entry(FILE *stream, size_t index)
{
    char name[32];
    snprintf(name, sizeof name, "  %s", words[index].word);
    xb_help_print_entry(stream, name, words[index].text, 17);
}

void xb_help_print_words(FILE *stream, const struct xb_command *const *commands)
{
    (void)commands;
    for (size_t i = 0; i < WORDS; i++)
        print_entry(stream, i);
}

bool xb_help_print_word(FILE *stream, const char *word)
{
    for (size_t i = 0; i < WORDS; i++)
        if (strcasecmp(words[i].word, word) == 0) {
            print_entry(stream, i);
            return true;
        }
    return false;
}
