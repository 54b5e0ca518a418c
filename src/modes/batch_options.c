/* SPDX-License-Identifier: Apache-2.0 */
/* The options of the mode batch, and its figures. */
#include "batch.h"

#include <string.h>

const struct xb_option xb_option_batch = {
    XB_CHOICES("batch", "HOW", "each,call,graph,packed,kernel",
               "How the pieces are moved: 'each' one asynchronous copy a piece; 'call' one call of "
               "the runtime for many; 'graph' one copy a piece in a graph, which is launched again "
               "and again; 'packed' host threads and a kernel gather and scatter them around one "
               "copy; 'kernel' a kernel reads or writes them in the host's memory in place; "
               "'pitched' one copy of rows (--layout rows).",
               "each", "call", "graph", "packed", "kernel", "pitched")};

const struct xb_option xb_option_piece = {
    XB_SIZES("piece", "SIZE", "4K", 1, INT64_MAX,
             "How long a piece is: sizes, or a range that doubles such as 512..1M. --size is cut "
             "into pieces; the last may be shorter.")};

const struct xb_option xb_option_layout = {
    XB_CHOICES("layout", "HOW", "scattered",
               "Where pieces lie: 'scattered' in random order on both sides, 'host-scattered' or "
               "'device-scattered' on that side, 'contiguous' one behind the other, 'rows' every "
               "--pitch bytes on the host.",
               "scattered", "host-scattered", "device-scattered", "contiguous", "rows")};

const struct xb_option xb_option_pitch = {
    XB_SIZE("pitch", 1, INT64_MAX),
    .default_text = "8K",
    .help = "With --layout rows: how far apart pieces begin in the host's memory.",
};

const struct xb_option xb_option_call_pieces = {
    XB_COUNTS("call-pieces", "4096", 0, 1 << 24,
              "Most pieces in one call of --batch call; 0 for all of them.")};

const struct xb_option xb_option_blocks = {
    XB_COUNTS("blocks", "0", 0, 65535,
              "How many blocks of up to 1024 threads the kernel has; each keeps about one "
              "multiprocessor busy. 0 finds the fewest that are as fast as any number.")};

const struct xb_figure xb_figure_pieces_per_second = {
    XB_FIGURE("pieces_per_second", XB_UNIT_PER_SECOND, "Pieces moved in one second"),
    .more_is_better = true};
const struct xb_figure xb_figure_time_per_piece = {
    XB_FIGURE_TIME("time_per_piece", "The time of all pieces, divided by their number")};
const struct xb_figure xb_figure_blocks = {
    XB_FIGURE_NUMBER("blocks", "How many blocks of threads the kernel had")};
const struct xb_figure xb_figure_pack_time = {
    XB_FIGURE_TIME("pack_time", "Of packed, gathering the pieces alone")};
const struct xb_figure xb_figure_packed_copy_time = {
    XB_FIGURE_TIME("packed_copy_time", "Of packed, the one copy alone")};
const struct xb_figure xb_figure_unpack_time = {
    XB_FIGURE_TIME("unpack_time", "Of packed, scattering the pieces alone")};

enum xb_status xb_batch_check_variant(const struct xb_case *test, struct xb_error *error)
{
    const char *layout = xb_case_setting(test, &xb_option_layout)->word;
    if (xb_variant_number(test) != XB_BATCH_PITCHED || strcmp(layout, "rows") == 0)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED, "'pitched' copies rows: give --layout rows");
}
