/* SPDX-License-Identifier: Apache-2.0 */
#include "document_fixture.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* ---- allocations that fail: this program is linked with --wrap for these ---- */

static size_t allocations; /* so far */
static size_t failing;     /* which one fails, counted from 1; 0: none */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static bool fails(void)
{
    bool this_one = ++allocations == failing;
    if (this_one)
        errno = ENOMEM;
    return this_one;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return fails() ? NULL : __real_realloc(memory, size);
}

/* ---- no memory ---- */

static void *hooked_malloc(size_t size)
{
    return __wrap_malloc(size);
}

/* Whichever allocation fails: the reader says so, and the sanitizer finds nothing left. */
static void survives_having_no_memory(NO_STATE)
{
    cJSON_Hooks hooks = {hooked_malloc, free};
    struct xb_error error;
    struct xb_record record;
    enum xb_status status = XB_ERR_MEMORY;
    cJSON *documents[] = {result_tree(), result_tree()};
    cJSON *tree = merge(2, 2, documents);
    char *text = cJSON_PrintUnformatted(tree);
    cJSON_Delete(tree);
    size_t length = strlen(text);
    cJSON_InitHooks(&hooks);
    size_t which = 1;
    for (; status != XB_OK; which++) {
        memset(&error, 0, sizeof error);
        allocations = 0;
        failing = which;
        status = xb_record_parse(PATH, text, length, &record, &error);
        failing = 0;
        if (status == XB_OK)
            break;
        assert_int_equal(status, XB_ERR_MEMORY);
        assert_non_null(strstr(error.message, "no memory"));
        assert_non_null(strstr(error.message, PATH));
        assert_null(record.texts);
    }
    assert_true(which > 500); /* the tree alone has as many */
    xb_record_free(&record);
    cJSON_InitHooks(NULL);
    cJSON_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(survives_having_no_memory),
    };
    return cmocka_run_group_tests_name("record_memory", tests, NULL, NULL);
}
