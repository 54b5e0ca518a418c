/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is short while the Reading is made. */
#include "reading_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* tests/CMakeLists.txt has the linker put these in place of the library's. */
void *__real_malloc(size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *memory, size_t size);

static size_t allocations; /* since it was set to 0 */
static size_t failing;     /* which of them fails, from 1; 0: none */

static bool fails(void)
{
    return ++allocations == failing;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return fails() ? NULL : __real_realloc(memory, size);
}

/* Whichever fails, it is told, and nothing is left: the sanitizers' builds look for that. */
static void memory_that_is_short_is_told(void **state)
{
    struct node *n = *state;
    struct xb_record record;
    struct xb_reading_list list;
    enum xb_status status = XB_ERR_MEMORY;
    size_t tried = 0;
    n->run.device_count = 2;
    add(n, &pageable, "driver", XB_H2D, 7.5);
    add(n, &pageable, "driver", XB_D2H, 7.5);
    add(n, &pinned, "alloc", XB_H2D, 50);
    add(n, &pinned, "alloc", XB_D2H, 50);
    add_pair(n, "direct-read", XB_D2D, 0, 1, 400);
    add_pair(n, "staged", XB_D2D, 0, 1, 40);
    record_of(&n->run, &record);
    while (status != XB_OK) {
        struct xb_error error = {0};
        allocations = 0;
        failing = ++tried;
        status = xb_reading_make(&record, &list, &error);
        failing = 0;
        assert_int_equal(error.status, status);
        assert_true(status == XB_OK || status == XB_ERR_MEMORY);
        assert_true(status == XB_OK || list.count == 0);
    }
    assert_true(tried > 30);
    assert_true(list.count >= 5);
    xb_reading_free(&list);
    xb_record_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {NODE_TEST(memory_that_is_short_is_told)};
    return cmocka_run_group_tests_name("reading_memory", tests, NULL, NULL);
}
