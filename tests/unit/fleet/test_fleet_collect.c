/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "testing.h"

#include "checks.h"
#include "fleet_fixture.h"

/* What is kept of documents. */

TEST(test_texts_are_copied)
{
    char name[] = "n0";
    begin();
    size_t node = add_node("%s", name);
    name[1] = '7';
    assert_string_equal(fleet.nodes[node]->name, "n0");
    assert_int_equal(add_node("n0"), node);
    assert_int_not_equal(add_node("%s", name), node);
    assert_int_equal(fleet.node_count, 2);
    /* The same text is kept once. */
    assert_ptr_equal(fleet.nodes[0]->driver, fleet.nodes[1]->driver);
}

TEST(test_newest_driver)
{
    begin();
    next_source.written = 2000;
    add_node("n");
    next_source.written = 1000;
    next_driver = "old";
    add_node("n");
    next_source.written = 3000;
    next_driver = NULL;
    add_node("n");
    assert_string_equal(fleet.nodes[0]->driver, "580.1");
    assert_int_equal(fleet.nodes[0]->driver_told, 2000);
}

static size_t add(const char *uuid, const char *pci, unsigned index, size_t node)
{
    struct xb_fleet_gpu gpu = next_gpu;
    gpu.node = fleet.nodes[node];
    gpu.uuid = uuid;
    gpu.pci_bdf = pci;
    gpu.index = index;
    return xb_fleet_add_gpu(&fleet, &gpu)->number;
}

TEST(test_gpus_are_known_by)
{
    begin();
    size_t a = add_node("a");
    size_t b = add_node("b");
    size_t first = add("GPU-1", "01", 0, a);
    assert_int_equal(add("GPU-1", "01", 5, a), first);
    assert_int_equal(add("GPU-1", NULL, 7, a), first);     /* its UUID, where no address is known */
    assert_int_equal(add(NULL, "01", 9, a), first);        /* where it was, without a UUID */
    assert_int_not_equal(add("GPU-1", "02", 5, a), first); /* UUIDs may be equal */
    assert_int_equal(add("GPU-1", "01", 5, a), first);
    assert_int_not_equal(add("GPU-1", "01", 0, b), first);
    size_t second = add(NULL, "03", 0, b); /* another node's */
    assert_int_not_equal(second, first);
    assert_int_equal(add(NULL, "03", 3, b), second);
    assert_int_equal(add("GPU-2", "03", 3, b), second); /* now it has one */
    assert_string_equal(fleet.gpus[second]->uuid, "GPU-2");
    assert_int_not_equal(add("GPU-3", "03", 3, b), second); /* it was replaced */
    size_t bare = add("GPU-4", NULL, 20, a);
    assert_int_not_equal(add("GPU-4", NULL, 21, a), bare);
    assert_int_equal(add("GPU-4", "04", 22, a), add("GPU-4", NULL, 21, a)); /* now it has one */
    size_t plain = add(NULL, NULL, 0, a);
    assert_int_equal(add(NULL, NULL, 0, a), plain);
    assert_int_not_equal(add(NULL, NULL, 1, a), plain);
    next_gpu.model = "B200";
    assert_int_not_equal(add(NULL, NULL, 0, a), plain);
}

/* The newest tells where a GPU is; a document that does not know the link leaves it as it is. */
TEST(test_newest_gpu)
{
    begin();
    size_t node = add_node("n");
    next_gpu.told = 2000;
    size_t gpu = add("GPU-1", "01", 4, node);
    next_gpu.told = 1000;
    next_gpu.link_width = 8;
    add("GPU-1", "01", 7, node);
    next_gpu.told = 3000;
    next_gpu.link_width = 0;
    add("GPU-1", NULL, 5, node);
    assert_int_equal(fleet.gpus[gpu]->index, 5);
    assert_string_equal(fleet.gpus[gpu]->pci_bdf, "01");
    assert_int_equal(fleet.gpus[gpu]->link_width, 16);
    next_gpu.told = 2500;
    next_gpu.link_width = 4;
    add("GPU-1", "01", 6, node);
    assert_int_equal(fleet.gpus[gpu]->link_width, 4);
    assert_int_equal(fleet.gpus[gpu]->index, 5);
}

TEST(test_figures)
{
    begin();
    size_t first = add_figure("h2d");
    assert_int_equal(add_figure("h2d"), first);
    size_t others[6];
    next_figure.unit = "s";
    others[0] = add_figure("h2d");
    next_figure.more_is_better = false;
    others[1] = add_figure("h2d");
    next_figure.options = "size=1";
    others[2] = add_figure("h2d");
    next_figure.link = NULL;
    others[3] = add_figure("h2d");
    next_figure.link = "";
    others[4] = add_figure("h2d");
    next_figure.driver = "x";
    others[5] = add_figure("h2d");
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(others[i], first + 1 + i);
}

/* Many, and no more texts than there are different ones. */
TEST(test_many)
{
    begin();
    for (unsigned i = 0; i < 20000; i++) {
        assert_int_equal(add_node("n%u", i % 10000), i % 10000);
        assert_int_equal(add_gpu(i % 10000, 0), i % 10000);
    }
    assert_int_equal(fleet.gpu_count, 10000);
    assert_ptr_equal(fleet.gpus[0]->model, fleet.gpus[9999]->model);
}

TEST(test_left_out)
{
    begin();
    for (unsigned i = 0; i < XB_FLEET_TOLD + 5; i++) {
        char what[16];
        snprintf(what, sizeof what, "f%u", i);
        xb_fleet_leave_out(&fleet, what, "broken", false);
    }
    assert_int_equal(fleet.left_out_count, XB_FLEET_TOLD + 5);
    assert_string_equal(fleet.left_out[XB_FLEET_TOLD - 1].what, "f999");
}

TEST(test_free_twice)
{
    struct xb_fleet empty = {.sources = NULL};
    struct xb_fleet_judgement nothing = {.notes = NULL};
    xb_fleet_free(&empty);
    xb_fleet_judgement_free(&nothing);
    begin();
    finish_group(NULL);
    finish_group(NULL);
}

GROUP(NULL, finish_group)
