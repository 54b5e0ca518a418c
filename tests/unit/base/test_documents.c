/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* fmemopen */
#include "base/documents.h"
#include "checks.h"
#include "rows.h"

#define LARGEST 200

static ssize_t read_stream(void *stream, char *buffer, size_t size)
{
    size_t got = fread(buffer, 1, size, stream);
    return got == 0 && ferror((FILE *)stream) ? -1 : (ssize_t)got;
}

/* What a stream of these bytes is cut into. */
static void cut(const char *text, size_t length, char said[ROW_TEXT])
{
    struct xb_documents documents;
    struct xb_document_piece piece;
    struct xb_error error;
    bool any = true;
    FILE *stream = fmemopen((char *)text, length, "r"); /* which is only read */
    assert_non_null(stream);
    xb_documents_open(&documents, read_stream, stream, LARGEST);
    for (;;) {
        assert_int_equal(xb_documents_next(&documents, &piece, &any, &error), XB_OK);
        if (!any)
            break;
        const char *blank = said[0] != '\0' ? " " : "";
        assert_int_equal(piece.text == NULL, piece.why != NULL);
        if (piece.why != NULL)
            say_also(said, "%s!%d: %s", blank, (int)piece.line, piece.why);
        else
            say_also(said, "%s%s", blank, piece.text);
        assert_true(piece.why != NULL || piece.length == strlen(piece.text));
    }
    xb_documents_close(&documents);
    fclose(stream);
}

static void say_pieces(const struct row *row, char said[ROW_TEXT])
{
    cut(row->part[0], strlen(row->part[0]), said);
}

TEST_ROWS(documents_stand_one_behind_the_other, say_pieces)
TEST_ROWS(what_editors_and_windows_add_does_not_matter, say_pieces)
TEST_ROWS(texts_may_hold_anything, say_pieces)
TEST_ROWS(a_broken_line_takes_no_other_with_it, say_pieces)
TEST_ROWS(a_line_of_a_whole_document_may_begin_with_a_bracket, say_pieces)
TEST_ROWS(lines_of_several_programs_are_reported, say_pieces)
TEST_ROWS(what_is_no_document_is_one_piece, say_pieces)
TEST_ROWS(lines_with_labels_are_no_documents, say_pieces)
TEST_ROWS(a_large_document_is_skipped, say_pieces)
TEST_ROWS(nesting_has_an_end, say_pieces)

TEST(zeros_are_no_document)
{
    char said[ROW_TEXT] = "";
    cut("\0\0\n{}", 5, said);
    assert_has(said, "document begins here");
    assert_memory_equal(said, "!1: ", 4);
    assert_string_equal(said + strlen(said) - 3, " {}");
}

/* Were each looked at from all the others on, this would take hours. */
TEST(a_million_blank_lines_are_soon_read)
{
    enum { LINES = 1000000, LENGTH = LINES + 8 };
    struct xb_documents documents;
    struct xb_document_piece piece;
    struct xb_error error;
    bool any = false;
    char *text = malloc(LENGTH);
    assert_non_null(text);
    memset(text, '\n', LENGTH);
    memcpy(text, "{\"a\":[", 6);
    memcpy(text + LENGTH - 2, "]}", 2);
    FILE *stream = fmemopen(text, LENGTH, "r");
    xb_documents_open(&documents, read_stream, stream, LENGTH);
    assert_int_equal(xb_documents_next(&documents, &piece, &any, &error), XB_OK);
    assert_true(any);
    assert_int_equal(piece.length, LENGTH);
    xb_documents_close(&documents);
    fclose(stream);
    free(text);
}

/* ---- larger than what is read at once ---- */

/* A stream that gives a text again and again, by a few bytes a time. */
struct source {
    const char *begin, *text, *end; /* once, often, once */
    size_t times, step;
    size_t at;
};

static ssize_t give(void *cookie, char *bytes, size_t size)
{
    struct source *source = cookie;
    size_t once = strlen(source->begin);
    size_t length = strlen(source->text);
    size_t often = length * source->times;
    size_t all = once + often + strlen(source->end);
    size_t given = 0;
    for (; given < size && given < source->step && source->at < all; source->at++, given++)
        bytes[given] = source->at < once           ? source->begin[source->at]
                       : source->at < once + often ? source->text[(source->at - once) % length]
                                                   : source->end[source->at - once - often];
    return (ssize_t)given;
}

/* Returns how many documents are whole; the last must be `{}`. */
static size_t count_whole(struct source source, size_t largest, size_t *broken)
{
    struct xb_documents documents;
    struct xb_document_piece piece;
    struct xb_error error;
    char last[8] = "";
    size_t whole = 0;
    bool any = true;
    xb_documents_open(&documents, give, &source, largest);
    *broken = 0;
    for (;;) {
        assert_int_equal(xb_documents_next(&documents, &piece, &any, &error), XB_OK);
        if (!any)
            break;
        *broken += piece.why != NULL;
        whole += piece.why == NULL;
        snprintf(last, sizeof last, "%s", piece.text != NULL ? piece.text : "");
        assert_true(documents.capacity <= 2 * largest + (512 << 10));
    }
    assert_string_equal(last, "{}");
    xb_documents_close(&documents);
    return whole;
}

TEST(a_stream_may_come_in_pieces_of_any_length)
{
    size_t broken;
    for (size_t step = 1; step < 20; step += 6) {
        const struct source source = {.begin = "",
                                      .text = "{\n  \"a\": \"b\"\n}\n{\"c\":[1]}\r\n",
                                      .end = "{}",
                                      .times = 5000,
                                      .step = step};
        assert_int_equal(count_whole(source, 1000, &broken), 10001);
        assert_int_equal(broken, 0);
    }
}

TEST(memory_stays_small_whatever_comes)
{
    static const char *const texts[] = {"garbage ", "\n{\"a\":[",      "{", "\"", "{\"a\":[\n",
                                        "[{},\n",   "\n{\"a\":[1,\n{}"};
    size_t broken;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const struct source source = {
            .begin = "", .text = texts[i], .end = "\n{}", .times = 300000, .step = 65536};
        (void)count_whole(source, 100000, &broken);
        assert_true(broken > 0);
    }
}

TEST(of_a_large_one_nothing_is_kept)
{
    size_t broken;
    const struct source source = {
        .begin = "{\"a\":[0", .text = ",1000\n", .end = "]}\n{}", .times = 500000, .step = 65536};
    assert_int_equal(count_whole(source, 100000, &broken), 1);
    assert_int_equal(broken, 1);
}

TEST(a_stream_that_fails_says_so)
{
    struct xb_documents documents;
    struct xb_document_piece piece;
    struct xb_error error;
    bool any = false;
    FILE *stream = fopen("/", "r"); /* a folder opens, and cannot be read */
    assert_non_null(stream);
    xb_documents_open(&documents, read_stream, stream, LARGEST);
    assert_int_equal(xb_documents_next(&documents, &piece, &any, &error), XB_OK);
    assert_true(any);
    assert_has(piece.why, "EISDIR");
    assert_int_equal(xb_documents_next(&documents, &piece, &any, &error), XB_OK);
    assert_false(any);
    xb_documents_close(&documents);
    fclose(stream);
}
