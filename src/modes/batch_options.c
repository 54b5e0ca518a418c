/* SPDX-License-Identifier: Apache-2.0 */
/* The options of the mode batch, and its figures. */
#include "batch.h"

#include "sm_tax.h"

#include <string.h>

const char *const xb_batch_words[] = {"each", "call", "graph", "packed", "kernel", "pitched", NULL};

const struct xb_option xb_option_batch = {
    .name = "batch",
    .type = XB_OPTION_CHOICES,
    .argument = "HOW[,HOW]",
    .default_text = "each,call,graph,packed,kernel",
    .help =
        "How the pieces are moved: 'each' one asynchronous copy a piece; 'call' one call of the "
        "runtime for many; 'graph' one copy a piece in a graph, which is launched again and again; "
        "'packed' host threads and a kernel gather and scatter them around one copy; 'kernel' a "
        "kernel reads or writes them in the host's memory in place; 'pitched' one copy of rows "
        "(--layout rows). One case is run for each.",
    .choices = xb_batch_words,
    .selects = true,
};

const struct xb_option xb_option_piece = {
    .name = "piece",
    .type = XB_OPTION_SIZES,
    .argument = "SIZE[,SIZE]",
    .default_text = "4K",
    .help = "How long a piece is: sizes, or a range that doubles such as 512..1M. --size is cut "
            "into pieces; the last may be shorter. One case is run for each.",
    .minimum = 1,
    .maximum = INT64_MAX,
    .selects = true,
};

static const char *const layout_words[] = {"scattered",  "host-scattered", "device-scattered",
                                           "contiguous", "rows",           NULL};

const struct xb_option xb_option_layout = {
    .name = "layout",
    .type = XB_OPTION_CHOICES,
    .argument = "HOW[,HOW]",
    .default_text = "scattered",
    .help = "Where pieces lie: 'scattered' in random order on both sides, 'host-scattered' or "
            "'device-scattered' on that side, 'contiguous' one behind the other, 'rows' every "
            "--pitch bytes on the host. One case is run for each.",
    .choices = layout_words,
    .selects = true,
};

const struct xb_option xb_option_pitch = {
    .name = "pitch",
    .type = XB_OPTION_SIZE,
    .argument = "SIZE",
    .default_text = "8K",
    .help = "With --layout rows: how far apart pieces begin in the host's memory.",
    .minimum = 1,
    .maximum = INT64_MAX,
};

const struct xb_option xb_option_call_pieces = {
    .name = "call-pieces",
    .type = XB_OPTION_COUNTS,
    .argument = "N[,N]",
    .default_text = "4096",
    .help = "Most pieces in one call of --batch call; 0 for all of them. One case is run for each.",
    .minimum = 0,
    .maximum = 1 << 24,
    .selects = true,
};

const struct xb_option xb_option_blocks = {
    .name = "blocks",
    .type = XB_OPTION_COUNTS,
    .argument = "N[,N]",
    .default_text = "0",
    .help = "How many blocks of up to 1024 threads the kernel has; each keeps about one "
            "multiprocessor busy. 0 finds the fewest that are as fast as any number. One case is "
            "run for each.",
    .minimum = 0,
    .maximum = 65535,
    .selects = true,
};

const struct xb_figure xb_figure_pieces_per_second = {
    .name = "pieces_per_second",
    .unit = XB_UNIT_PER_SECOND,
    .more_is_better = true,
    .help = "Pieces moved in one second",
};
const struct xb_figure xb_figure_time_per_piece = {
    .name = "time_per_piece",
    .unit = XB_UNIT_SECONDS,
    .help = "The time of all pieces, divided by their number",
};
const struct xb_figure xb_figure_blocks = {
    .name = "blocks",
    .unit = XB_UNIT_RATIO,
    .help = "How many blocks of threads the kernel had",
};
const struct xb_figure xb_figure_pack_time = {
    .name = "pack_time",
    .unit = XB_UNIT_SECONDS,
    .help = "Of packed, gathering the pieces alone",
};
const struct xb_figure xb_figure_packed_copy_time = {
    .name = "packed_copy_time",
    .unit = XB_UNIT_SECONDS,
    .help = "Of packed, the one copy alone",
};
const struct xb_figure xb_figure_unpack_time = {
    .name = "unpack_time",
    .unit = XB_UNIT_SECONDS,
    .help = "Of packed, scattering the pieces alone",
};
const struct xb_figure *const xb_batch_figures[] = {&xb_figure_pieces_per_second,
                                                    &xb_figure_time_per_piece,
                                                    &xb_figure_sm_tax,
                                                    &xb_figure_blocks,
                                                    &xb_figure_pack_time,
                                                    &xb_figure_packed_copy_time,
                                                    &xb_figure_unpack_time,
                                                    NULL};

enum xb_status xb_batch_check_variant(const struct xb_case *test, struct xb_error *error)
{
    const char *layout = xb_case_setting(test, &xb_option_layout)->word;
    if (strcmp(test->variant, xb_batch_words[XB_BATCH_PITCHED]) != 0 || strcmp(layout, "rows") == 0)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED, "'pitched' copies rows: give --layout rows");
}
