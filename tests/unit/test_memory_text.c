/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stream.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* A text in memory is whole, or it is said that there is none: whichever piece of memory is
 * lacking, for that moment only. This program is linked with --wrap=realloc. */

#define LINES 10000
#define LINE "a line of the text\n"

static long left = -1; /* calls that succeed before one fails; less than 0: all succeed */

void *__real_realloc(void *piece, size_t bytes);
void *__wrap_realloc(void *piece, size_t bytes);
void *__wrap_realloc(void *piece, size_t bytes)
{
    return left >= 0 && left-- == 0 ? NULL : __real_realloc(piece, bytes);
}

static void a_text_is_whole_or_not_there(NO_STATE)
{
    bool used = true;
    int failures = 0;
    for (long first = 0; used; first++) {
        struct xb_memory_text text = {.text = NULL};
        struct xb_error error = {0};
        left = first;
        if (xb_memory_text_begin(&text) != NULL)
            for (int i = 0; i < LINES; i++)
                fputs(LINE, text.stream);
        enum xb_status status = xb_memory_text_end(&text, "a text", &error);
        used = left < 0;
        left = -1;
        assert_null(text.stream);
        if (status == XB_OK) {
            assert_int_equal(text.length, LINES * strlen(LINE));
            assert_int_equal(strlen(text.text), text.length);
        } else {
            failures++;
            assert_int_equal(status, XB_ERR_MEMORY);
            assert_string_equal(error.message, "no memory for a text");
            assert_null(text.text);
        }
        free(text.text);
    }
    assert_true(failures > 3);
}

static void a_text_tells_how_long_it_is(NO_STATE)
{
    struct xb_memory_text text = {.text = NULL};
    struct xb_error error;
    assert_non_null(xb_memory_text_begin(&text));
    assert_int_equal(ftell(text.stream), 0);
    for (int i = 1; i <= LINES; i++) {
        fputs(LINE, text.stream);
        assert_int_equal(ftell(text.stream), i * (long)strlen(LINE));
    }
    assert_int_equal(xb_memory_text_end(&text, "a text", &error), XB_OK);
    free(text.text);
}

static void nothing_is_a_text_too(NO_STATE)
{
    struct xb_memory_text text = {.text = NULL};
    struct xb_error error;
    assert_non_null(xb_memory_text_begin(&text));
    assert_int_equal(xb_memory_text_end(&text, "a text", &error), XB_OK);
    assert_string_equal(text.text, "");
    free(text.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_whole_or_not_there),
        cmocka_unit_test(a_text_tells_how_long_it_is),
        cmocka_unit_test(nothing_is_a_text_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
