/* SPDX-License-Identifier: Apache-2.0 */
/* Which GPUs and nodes of a fleet are not like their siblings: texts beside this file, and what no
 * text says. */
#include "base/statistics.h"
#include "fleet/internal.h"
#include "fleet_fixture.h"
#include "random.h"

#include <math.h>

/* ---- texts ---- */

TEST_CASES(what_is_kept_of_documents, "fleet/kept", fleet_verbs, begin_fleet)
TEST_CASES(nodes_links_and_complaints, "fleet/nodes", fleet_verbs, begin_fleet)
TEST_CASES(fleets_and_their_past, "fleet/baseline", fleet_verbs, begin_fleet)
TEST_CASES(outliers_and_slots, "fleet/outliers", fleet_verbs, begin_fleet)

/* ---- what is kept ---- */

TEST(texts_are_copied_and_kept_once)
{
    char name[] = "n0", driver[] = "580.1";
    begin_fleet();
    struct xb_fleet_node node = {.name = name, .driver = driver};
    const struct xb_fleet_node *first = xb_fleet_add_node(&fleet, &node);
    name[1] = '7';
    const struct xb_fleet_node *second = xb_fleet_add_node(&fleet, &node);
    driver[0] = 'x';
    assert_string_equal(first->name, "n0");
    assert_string_equal(second->name, "n7");
    assert_ptr_equal(first->driver, second->driver);
    assert_string_equal(first->driver, "580.1");
}

/* Many, and no more texts than there are different ones. */
TEST(many_nodes_are_kept)
{
    begin_fleet();
    for (unsigned i = 0; i < 20000; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%u", i % 10000);
        struct xb_fleet_node node = {.name = name};
        struct xb_fleet_gpu gpu = {.node = xb_fleet_add_node(&fleet, &node), .model = "H200"};
        assert_int_equal(xb_fleet_add_gpu(&fleet, &gpu)->number, i % 10000);
    }
    assert_int_equal(fleet.gpu_count, 10000);
    assert_ptr_equal(fleet.gpus[0]->model, fleet.gpus[9999]->model);
}

TEST(a_thousand_are_named_of_what_is_left_out)
{
    begin_fleet();
    for (unsigned i = 0; i < XB_FLEET_TOLD + 5; i++) {
        char what[16];
        snprintf(what, sizeof what, "f%u", i);
        xb_fleet_leave_out(&fleet, what, "broken", i % 2 == 0);
    }
    assert_int_equal(fleet.left_out_count, XB_FLEET_TOLD + 5);
    assert_int_equal(fleet.unread_count, XB_FLEET_TOLD / 2 + 2);
    assert_string_equal(fleet.left_out[XB_FLEET_TOLD - 1].what, "f999");
}

TEST(what_is_empty_may_be_freed)
{
    struct xb_fleet empty = {.sources = NULL};
    struct xb_fleet_judgement nothing = {.notes = NULL};
    xb_fleet_free(&empty);
    xb_fleet_judgement_free(&nothing);
    begin_fleet();
    finish_fleet(NULL);
    finish_fleet(NULL);
}

/* ---- each by the others ---- */

/* Each value's siblings without it, found the long way. */
static void assert_left_out(const struct xb_tested *values, size_t count, size_t i)
{
    double others[16];
    size_t left = 0;
    for (size_t k = 0; k < count; k++)
        if (k != i)
            others[left++] = values[k].logarithm;
    double centre = xb_median_of(others, left);
    for (size_t k = 0; k < left; k++)
        others[k] = fabs(others[k] - centre);
    assert_true(fabs(values[i].centre - centre) <= 1e-12);
    assert_true(fabs(values[i].spread - 1.4826022185056018 * xb_median_of(others, left)) <= 1e-12);
    assert_int_equal(values[i].siblings, left);
}

TEST(each_is_left_out)
{
    static const struct xb_fleet_value some[16];
    uint64_t seed = 3;
    for (int round = 0; round < 200; round++)
        for (size_t count = 6; count <= 16; count++) {
            struct xb_tested values[16] = {{.value = NULL}};
            double scratch[16];
            for (size_t i = 0; i < count; i++) {
                double value = normal(&seed);
                values[i].value = &some[i];
                /* Every other round has equal ones. */
                values[i].logarithm = round % 2 == 0 ? value : floor(2 * value) / 2;
            }
            xb_fleet_leave_each_out(values, count, scratch);
            for (size_t i = 0; i < count; i++)
                assert_left_out(values, count, i);
        }
}

/* ---- names ---- */

TEST(names_are_in_natural_order)
{
    static const char *const names[] = {"",
                                        "n",
                                        "n1",
                                        "n01",
                                        "n2",
                                        "n10",
                                        "n10a2",
                                        "n10a10",
                                        "n99999999999999999998",
                                        "n99999999999999999999",
                                        "na"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            int order = xb_natural_compare(names[i], names[k]);
            bool differ_in_zeros = i + k == 5 && (i == 2 || k == 2); /* n1 and n01: in any order */
            assert_int_equal(order == 0, i == k);
            assert_true(differ_in_zeros || (order > 0) - (order < 0) == (i > k) - (i < k));
        }
    assert_true(xb_natural_compare(NULL, "") < 0);
}

TEST(codes_are_named_and_some_are_bad)
{
    for (int i = 0; i < XB_FLEET_CODES; i++)
        assert_non_null(xb_fleet_sayings[i].name);
    assert_true(xb_fleet_code_is_bad(XB_FLEET_SLOW));
    assert_false(xb_fleet_code_is_bad(XB_FLEET_LINK_WARNING));
}

GROUP(NULL, finish_fleet)
