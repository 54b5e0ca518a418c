/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/parallel.h"
#include "base/stream.h"
#include "faults.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINES 10000
#define LINE "a line of the text\n"
#define TOLD 7 /* the exit code of who tells */

/* Whichever piece of memory is asked for next is lacking, for that moment only. */
static void lack_next(void)
{
    faults[FAULT_MEMORY] = (struct fault){.code = ENOMEM, .times = 1};
}

/* ---- what is there ---- */

TEST(pieces_are_zeroed_and_grow)
{
    static const char zeros[100];
    char *piece = xb_new(10, 10);
    assert_memory_equal(piece, zeros, 100);
    free(piece);
    piece = xb_try(10, 10);
    assert_memory_equal(piece, zeros, 100);
    free(piece);
    free(xb_new(0, 1));
    free(xb_try(0, 1));
    int *items = NULL;
    for (int i = 0; i < 1000; i++) {
        items = xb_grow(items, (size_t)i, sizeof *items);
        items[i] = i;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(items[i], i);
    free(items);
}

TEST(texts_are_copied_and_printed)
{
    struct xb_arena *arena = NULL;
    char *texts[] = {xb_copy("a text"), xb_copy_part("a text", 3), xb_copy_part("a text", 30),
                     xb_print("%d%s", 7, "%")};
    assert_string_equal(texts[0], "a text");
    assert_string_equal(texts[1], "a t");
    assert_string_equal(texts[2], "a text");
    assert_string_equal(texts[3], "7%");
    for (size_t i = 0; i < 4; i++)
        free(texts[i]);
    const char *copy = xb_arena_copy(&arena, "first");
    const char *printed = xb_arena_print(&arena, "%s, second", copy);
    assert_string_equal(copy, "first");
    assert_string_equal(printed, "first, second");
    xb_arena_free(arena);
}

TEST(a_text_tells_how_long_it_is)
{
    struct xb_memory_text text = {.text = NULL};
    FILE *stream = xb_memory_text_begin(&text);
    assert_int_equal(ftell(stream), 0);
    for (int i = 1; i <= LINES; i++) {
        fputs(LINE, stream);
        assert_int_equal(ftell(stream), i * (long)strlen(LINE));
    }
    xb_memory_text_end(&text);
    assert_int_equal(text.length, LINES * strlen(LINE));
    assert_int_equal(strlen(text.text), text.length);
    free(text.text);
}

TEST(nothing_is_a_text_too)
{
    struct xb_memory_text text = {.text = NULL};
    (void)xb_memory_text_begin(&text);
    xb_memory_text_end(&text);
    assert_string_equal(text.text, "");
    free(text.text);
}

/* ---- what is lacking ---- */

static int tell(const struct xb_error *error)
{
    return error->status == XB_ERR_MEMORY && strstr(error->message, "no memory") != NULL ? TOLD : 1;
}

/* The exit code of a process that does this. */
static int code_of(void (*work)(void))
{
    fflush(NULL);
    pid_t process = fork();
    if (process == 0) {
        xb_memory_end_with(tell);
        work();
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void ask_for_all(void)
{
    struct xb_arena *arena = NULL;
    struct xb_memory_text text = {.text = NULL};
    lack_next();
    free(xb_copy("a text"));
    xb_arena_print(&arena, "%d", 1);
    FILE *stream = xb_memory_text_begin(&text);
    for (int i = 0; i < LINES; i++)
        fputs(LINE, stream);
    xb_memory_text_end(&text);
    free(text.text);
    xb_arena_free(arena);
}

static void ask_for_too_much(void)
{
    free(xb_new(SIZE_MAX / 2, 3));
}

static void ask_with_a_reserve(void)
{
    struct xb_error error;
    if (xb_memory_reserve(1 << 20, &error) == XB_OK)
        ask_for_all();
}

static void ask_twice_with_a_reserve(void)
{
    ask_with_a_reserve();
    lack_next();
    free(xb_new(1, 1));
}

TEST(the_program_ends_as_its_command_says)
{
    assert_int_equal(code_of(ask_for_all), TOLD);
    assert_int_equal(code_of(ask_for_too_much), TOLD);
    assert_int_equal(code_of(ask_with_a_reserve), 0);
    assert_int_equal(code_of(ask_twice_with_a_reserve), TOLD);
}

static void ask_in_part(void *argument, uint64_t begin, uint64_t end)
{
    (void)argument;
    for (uint64_t i = begin; i < end; i++)
        free(xb_new(i == 17 ? SIZE_MAX / 3 : 1, 1));
}

static void ask_in_parts(void)
{
    xb_parallel_for(100, 1, ask_in_part, NULL);
}

TEST(threads_leave_it_to_the_first)
{
    for (int i = 0; i < 20; i++)
        assert_int_equal(code_of(ask_in_parts), TOLD);
}
