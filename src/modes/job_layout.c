/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"

#define WORD UINT64_C(8)

__extension__ typedef unsigned __int128 wide;

static uint64_t whole_words(uint64_t bytes)
{
    return bytes / WORD * WORD;
}

/* Where the output of the chunk begins whose input begins there: the same share of the whole. */
static uint64_t out_at(const struct xb_job_layout *layout, uint64_t in_offset)
{
    if (in_offset >= layout->in)
        return layout->out;
    return whole_words((uint64_t)((wide)layout->out * in_offset / layout->in));
}

/* The longest that the output of a chunk can be, which is not the last: out_at rounds down. */
static uint64_t longest_output(const struct xb_job_layout *layout)
{
    uint64_t share = (uint64_t)((wide)layout->out * layout->chunk / layout->in);
    return whole_words(share) + WORD;
}

struct xb_job_layout xb_job_lay_out(uint64_t in, uint64_t out, uint64_t chunk)
{
    uint64_t whole = whole_words(in + WORD - 1);
    struct xb_job_layout layout = {.in = in, .out = out, .chunk = chunk < whole ? chunk : whole};
    layout.count = xb_chunk_count(in, layout.chunk);
    layout.stride = out > in && layout.count > 1 ? xb_larger(layout.chunk, longest_output(&layout))
                                                 : layout.chunk;
    struct xb_job_part last = xb_job_part_at(&layout, layout.count - 1);
    layout.device_bytes = last.device_offset + xb_larger(last.in.bytes, last.out.bytes);
    return layout;
}

struct xb_job_part xb_job_part_at(const struct xb_job_layout *layout, uint64_t index)
{
    struct xb_job_part part = {.in = xb_chunk_at(layout->in, layout->chunk, index),
                               .device_offset = index * layout->stride};
    part.out.offset = out_at(layout, part.in.offset);
    part.out.bytes = out_at(layout, part.in.offset + part.in.bytes) - part.out.offset;
    return part;
}
