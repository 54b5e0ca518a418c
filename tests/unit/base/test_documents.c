/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* fmemopen */
#include "base/documents.h"
#include "checks.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

#define MARK "\xEF\xBB\xBF"
#define LARGEST 200
#define LONG "0123456789012345678901234567890123456789012345678901234567890123456789"

static ssize_t read_stream(void *stream, char *buffer, size_t size)
{
    size_t got = fread(buffer, 1, size, stream);
    return got == 0 && ferror((FILE *)stream) ? -1 : (ssize_t)got;
}

/* What a stream is cut into: documents as they are, and "!LINE: " and a part of why for what is
 * broken. */
static void expect_bytes(const char *text, size_t length, const char *const *expected)
{
    struct xb_documents documents;
    struct xb_document_piece piece;
    struct xb_error error;
    bool any = true;
    char line[32];
    FILE *stream = fmemopen((char *)text, length, "r"); /* which is only read */
    assert_non_null(stream);
    xb_documents_open(&documents, read_stream, stream, LARGEST);
    for (size_t i = 0;; i++) {
        assert_int_equal(xb_documents_next(&documents, &piece, &any, &error), XB_OK);
        if (!any) {
            assert_null(expected[i]);
            break;
        }
        assert_non_null(expected[i]);
        if (piece.why == NULL) {
            assert_string_equal(piece.text, expected[i]);
            assert_int_equal(piece.length, strlen(expected[i]));
            continue;
        }
        assert_null(piece.text);
        int length_of_line = snprintf(line, sizeof line, "!%d: ", (int)piece.line);
        assert_int_equal(strncmp(line, expected[i], (size_t)length_of_line), 0);
        assert_has(piece.why, expected[i] + length_of_line);
    }
    xb_documents_close(&documents);
    fclose(stream);
}

#define EXPECT(text, ...)                                                                          \
    expect_bytes(text, sizeof(text) - 1, (const char *const[]){__VA_ARGS__, NULL})
#define EXPECT_NOTHING(text) expect_bytes(text, sizeof(text) - 1, (const char *const[]){NULL})

TEST(documents_stand_one_behind_the_other)
{
    EXPECT("{}", "{}");
    EXPECT("{\"a\":1}\n{\"b\":2}\n", "{\"a\":1}", "{\"b\":2}");
    EXPECT("{\"a\":1}\n{\"b\":2}", "{\"a\":1}", "{\"b\":2}");
    EXPECT("{\"a\":1}{\"b\":2} \t{}\n", "{\"a\":1}", "{\"b\":2}", "{}");
    EXPECT("{\n  \"a\": [\n    {\"b\": 1}\n  ]\n}\n{\n}\n", "{\n  \"a\": [\n    {\"b\": 1}\n  ]\n}",
           "{\n}");
    EXPECT("{\n  \"a\": 1\n}\n{\"b\":2}\n{\n \"c\": 3}\n", "{\n  \"a\": 1\n}", "{\"b\":2}",
           "{\n \"c\": 3}");
    EXPECT("  {\n    \"a\": 1\n  }\n", "{\n    \"a\": 1\n  }");
}

TEST(what_editors_and_windows_add_does_not_matter)
{
    EXPECT("{\"a\":1}\r\n\r\n{\"b\":2}\r\n", "{\"a\":1}", "{\"b\":2}");
    EXPECT("\n\n \n{\"a\":1}\n\n\n{\"b\":2}\n\n", "{\"a\":1}", "{\"b\":2}");
    EXPECT(MARK "{\"a\":1}\n" MARK "{\"b\":2}\n", "{\"a\":1}", "{\"b\":2}");
    EXPECT_NOTHING(MARK);
    EXPECT_NOTHING("\n");
    EXPECT_NOTHING(" \r\n\t\n");
}

TEST(texts_may_hold_anything)
{
    EXPECT("{\"a\":\"}{][\"}\n{}", "{\"a\":\"}{][\"}", "{}");
    EXPECT("{\"a\":\"\\\"}\\\\\"}\n{}", "{\"a\":\"\\\"}\\\\\"}", "{}");
    EXPECT("{\"{\":\"n1: {\"}\n", "{\"{\":\"n1: {\"}");
    EXPECT("{\"a\":\"\xff\x01\"}\n", "{\"a\":\"\xff\x01\"}");
}

/* The next line is another document's. */
TEST(a_broken_line_takes_no_other_with_it)
{
    EXPECT("{\"a\":{\"b\":1\n{\"c\":2}\n", "!1: another document begins", "{\"c\":2}");
    EXPECT("{\"a\":1,\n{\"c\":2}\n", "!1: another document begins", "{\"c\":2}");
    EXPECT("{\"a\":\"bc\n{\"c\":2}\n", "!1: a line ends within a text", "{\"c\":2}");
    EXPECT("{\"a\":\"bc\\\n{\"c\":2}\n", "!1: a line ends within a text", "{\"c\":2}");
    EXPECT("{\"a\":[1}\n{\"c\":2}\n", "!1: its brackets do not match", "{\"c\":2}");
    EXPECT("{}\n{\"a\":\n", "{}", "!2: does not end");
    /* Where an object may stand, only what comes later shows that it is another document. */
    EXPECT("{\"a\":\n{\"c\":2}\n{\"d\":3}\n", "!1: another document begins", "{\"c\":2}",
           "{\"d\":3}");
    EXPECT("{\"a\":[1,\n{\"c\":2}\n{\"d\":3}\n", "!1: another document begins", "{\"c\":2}",
           "{\"d\":3}");
    EXPECT("{\"a\":[1,\n{\"c\":2}\n", "!1: does not end", "{\"c\":2}");
    EXPECT("{\"a\":[1,\n{\"c\":[2,\n{\"d\":3}\n", "!1: does not end", "!2: does not end",
           "{\"d\":3}");
    EXPECT("{\n  \"a\": [\n    {\n      \"b\": 1\n{\n  \"c\": 2\n}\n",
           "!1: another document begins", "{\n  \"c\": 2\n}");
}

/* As some programs indent by nothing. */
TEST(a_line_of_a_whole_document_may_begin_with_a_bracket)
{
    EXPECT("{\n\"a\": [\n{\n\"b\": 1\n},\n{\n}\n]\n}\n{}",
           "{\n\"a\": [\n{\n\"b\": 1\n},\n{\n}\n]\n}", "{}");
}

TEST(lines_of_several_programs_are_reported)
{
    EXPECT("{\n{\n  \"a\": 1\n  \"a\": 1\n}\n}\n", "!1: a file of its own",
           "{\n  \"a\": 1\n  \"a\": 1\n}", "!6: document begins here");
    EXPECT("{\n  \"a\": 1,\n{\"b\":2}\n  \"c\": 3\n}\n", "!1: several programs", "{\"b\":2}",
           "!4: document begins here");
}

TEST(what_is_no_document_is_one_piece)
{
    EXPECT("srun: job 7 queued\nand: \"so on\"\n{\"a\":1}\n", "!1: document begins here",
           "{\"a\":1}");
    EXPECT("{\"a\":1},\n{\"b\":2}\n]\n", "{\"a\":1}", "!1: document begins here", "{\"b\":2}",
           "!3: document begins here");
    EXPECT("[{\"a\":1}]\n", "!1: document begins here");
    EXPECT("word {\"a\":1}\n{\"b\":2}\n", "!1: document begins here", "{\"b\":2}");
    expect_bytes("\0\0\n{}", 5, (const char *const[]){"!1: document begins here", "{}", NULL});
}

TEST(lines_with_labels_are_no_documents)
{
    EXPECT("n3: {\"a\":1}\nn10: {\"b\":2}\n", "!1: neither cuts nor labels");
    EXPECT(" 7: {\n10: {\n 7: }\n10: }\n{\"b\":2}\n", "!1: --json %h.json", "{\"b\":2}");
    EXPECT("[1,3]<stdout>:{\"a\":\"b\n[1,3]<stdout>: {\"}\n", "!1: --json-lines");
    EXPECT("{\nn1: {}\n{}\n", "!1: another document begins", "{}");
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

TEST(a_large_document_is_skipped)
{
    EXPECT("{\"a\":\"" LONG LONG LONG "\"}\n{\"b\":2}\n", "!1: too large", "{\"b\":2}");
    EXPECT("{\"a\":\"" LONG LONG "\"}\n{\"b\":2}\n", "{\"a\":\"" LONG LONG "\"}", "{\"b\":2}");
}

TEST(nesting_has_an_end)
{
    static const char deep[] = "{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\n{}\n";
    EXPECT(deep, "!1: nested deeper", "{}");
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
