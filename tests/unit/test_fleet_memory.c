/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#include "fleet/formats.h"

/* Memory that runs out anywhere: the failure is said, and nothing is left behind. */

static long left; /* allocations that succeed before one fails; less than 0: all succeed */

static bool fails(void)
{
    return left >= 0 && left-- == 0;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *piece, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *piece, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *piece, size_t bytes)
{
    return fails() ? NULL : __real_realloc(piece, bytes);
}

static void add(struct xb_fleet *fleet, size_t i)
{
    char name[16];
    snprintf(name, sizeof name, "n%zu", i);
    struct xb_fleet_source source = {.path = name, .written = 1, .late_s = 9, .began = NAN};
    struct xb_fleet_node node = {.name = name, .hostname = "host", .driver = i == 7 ? "1" : "2"};
    struct xb_fleet_gpu gpu = {
        .model = "H200", .uuid = name, .link_speed_gts = 32, .link_width = i == 8 ? 8 : 16};
    struct xb_fleet_figure figure = {.name = "h2d", .unit = "B/s", .backend = "cuda"};
    struct xb_fleet_value value = {.peer = -1, .value = i == 9 ? 1e9 : 5e10, .scatter = NAN};
    struct xb_fleet_complaint complaint = {XB_FLEET_FAILED, 0, XB_FLEET_NONE, name, 0, "a\nb"};
    value.source = xb_fleet_add_source(fleet, &source);
    figure.driver = node.driver;
    gpu.node = xb_fleet_add_node(fleet, &node);
    value.gpu = xb_fleet_add_gpu(fleet, &gpu);
    value.figure = xb_fleet_add_figure(fleet, &figure);
    xb_fleet_add_value(fleet, &value);
    xb_fleet_add_complaint(fleet, &complaint);
    xb_fleet_leave_out(fleet, name, "broken", false);
}

static enum xb_status write_all(const struct xb_fleet_judgement *judgement, struct xb_error *error)
{
    FILE *stream = fopen("/dev/null", "w");
    assert_non_null(stream);
    enum xb_status status = xb_fleet_prometheus_write(stream, judgement, error);
    if (status == XB_OK)
        status = xb_fleet_nodelist_write(stream, judgement, error);
    fclose(stream);
    return status;
}

static enum xb_status all(struct xb_error *error)
{
    static const char *const expected[] = {"n1", "gone"};
    struct xb_fleet_request request = {0.01, expected, 2};
    struct xb_fleet fleet = {.names = NULL};
    struct xb_fleet_judgement judgement = {.notes = NULL};
    xb_fleet_open(&fleet);
    for (size_t i = 0; i < 20; i++)
        add(&fleet, i);
    enum xb_status status = xb_fleet_judge(&fleet, &request, &judgement, error);
    if (status == XB_OK) {
        assert_int_equal(judgement.finding_count, 5);
        status = write_all(&judgement, error);
        xb_fleet_judgement_free(&judgement);
    }
    assert_null(judgement.findings);
    xb_fleet_free(&fleet);
    return status;
}

static void test_every_allocation(NO_STATE)
{
    struct xb_error error;
    left = -1;
    assert_int_equal(all(&error), XB_OK);
    for (long first = 0;; first++) {
        left = first;
        enum xb_status status = all(&error);
        if (left >= 0) { /* it needed no more */
            assert_int_equal(status, XB_OK);
            assert_true(first > 100);
            break;
        }
        assert_int_equal(status, XB_ERR_MEMORY);
    }
    left = -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
