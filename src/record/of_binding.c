/* SPDX-License-Identifier: Apache-2.0 */
/* To which NUMA node a device's rows were bound. */
#include "of_binding.h"

#include "base/note.h"
#include "measure/node_choice.h"

/* A row of that device whose host memory was bound, to a node that is named or near the device. */
static bool is_bound(const struct xb_result *result, unsigned device, bool named)
{
    const struct xb_case *test = &result->test;
    return result->status == XB_RESULT_OK && test->device == device && test->has_node == named &&
           xb_mode_host_directions(test->mode, (unsigned)test->direction) != 0;
}

static bool has_row_of(const struct xb_run *run, size_t before, unsigned device, unsigned node)
{
    for (size_t i = 0; i < before; i++)
        if (is_bound(&run->results[i], device, true) && run->results[i].test.node == node)
            return true;
    return false;
}

/* The nodes that rows of the device name: "0, 1". */
static size_t list_nodes(const struct xb_run *run, unsigned device, struct xb_words *nodes)
{
    size_t count = 0;
    for (size_t i = 0; i < run->case_count; i++) {
        unsigned node = run->results[i].test.node;
        if (is_bound(&run->results[i], device, true) && !has_row_of(run, i, device, node))
            xb_words_add(nodes, "%s%u", count++ > 0 ? ", " : "", node);
    }
    return count;
}

static bool has_near(const struct xb_run *run, unsigned device)
{
    for (size_t i = 0; i < run->case_count; i++)
        if (is_bound(&run->results[i], device, false))
            return true;
    return false;
}

void xb_making_keep_binding(struct xb_making *making, const struct xb_run *run,
                            const struct xb_run_device *device, struct xb_record_device *kept)
{
    const struct xb_binding *near = &device->binding;
    unsigned index = device->info.index;
    struct xb_words nodes = {.length = 0};
    kept->numa_node = near->node;
    if ((!near->bound && near->note_is_normal) || has_near(run, index) ||
        list_nodes(run, index, &nodes) == 0) {
        kept->bound = near->bound;
        kept->cpus = near->cpu_count;
        kept->numa_note = xb_making_keep(making, near->note);
        kept->numa_is_normal = near->bound || near->note_is_normal;
        return;
    }
    /* The device was opened near it, and no row was measured so. */
    struct xb_words note = {.length = 0};
    xb_words_add(&note, "each row bound to the node that it names: %s", nodes.text);
    kept->numa_note = xb_making_keep(making, note.text);
    kept->numa_is_normal = true;
}
