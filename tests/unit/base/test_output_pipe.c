/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* nftw, F_SETPIPE_SZ */
#include "base/clock.h"
#include "base/stream.h"
#include "faults.h"
#include "fixture_tree.h"

#include <math.h>

#define PIECE 4096

static int reader = -1; /* the pipe's other end */
static int other = -1;  /* another writer, or -1 */

static void take_all(void)
{
    char text[PIECE];
    while (read(reader, text, sizeof text) > 0)
        ;
}

/* At every other look there is room, because the reader has taken all that was there. Behind the
 * first of these looks the other writer fills it again. */
static void before_look(unsigned call)
{
    faults[FAULT_POLL].gives = call % 2 != 0;
    if (call % 2 == 0)
        take_all();
}

static void behind_look(long ready)
{
    static const char full[PIECE];
    (void)ready;
    if (other >= 0)
        assert_int_equal(write(other, full, sizeof full), sizeof full);
    other = -1;
}

static int begin(void **state)
{
    clear_faults();
    faults[FAULT_POLL] = (struct fault){.before = before_look, .behind = behind_look};
    return enter_tree(state);
}

#define PIPE_TEST(name) TEST_WITH(name, begin, leave_tree)

/* Writes six pieces and says what came of it. */
static int write_pieces_to(FILE *stream)
{
    static const char text[6 * PIECE];
    bool written = fwrite(text, 1, sizeof text, stream) == sizeof text && fflush(stream) == 0;
    int code = written ? 0 : errno;
    return fclose(stream) == 0 || !written ? code : errno;
}

static FILE *stream_at(double deadline)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, PIECE) >= PIECE);
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    reader = ends[0];
    faults[FAULT_POLL].calls = 0;
    FILE *stream = xb_pipe_stream(ends[1], deadline);
    assert_non_null(stream);
    return stream;
}

/* It takes a piece every six seconds: each in time, if every piece had a time of its own. */
PIPE_TEST(a_slow_reader_has_one_time_for_all)
{
    static const struct {
        double in; /* so many seconds; INFINITY: none */
        int code;
    } rows[] = {{-50, ETIMEDOUT}, {0, ETIMEDOUT}, {40, 0}, {INFINITY, 0}};
    fault_clock = (struct fault_clock){.stands = true, .step_s = 6};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double deadline = isinf(rows[i].in) ? 0 : xb_clock_now() + rows[i].in;
        assert_int_equal(write_pieces_to(stream_at(deadline)), rows[i].code);
        close(reader);
    }
}

/* It hangs where the write blocks: the alarm ends it. */
PIPE_TEST(another_writer_may_fill_the_fifo)
{
    assert_int_equal(mkfifo("fifo", 0600), 0);
    reader = open("fifo", O_RDONLY | O_NONBLOCK);
    assert_true(fcntl(reader, F_SETPIPE_SZ, PIECE) >= PIECE);
    int writer = other = open("fifo", O_WRONLY);
    int fd = xb_fifo_open("fifo", 0);
    assert_true(fd >= 0);
    FILE *stream = xb_pipe_stream(fd, 0);
    assert_non_null(stream);
    alarm(60);
    assert_int_equal(write_pieces_to(stream), 0);
    alarm(0);
    close(writer);
    close(reader);
}
