/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of data that is made smaller on its way. */
#include "reading_fixture.h"

#include "record/mode_list.h"
#include <stdlib.h>
#include <string.h>

#include "testing.h"

extern const struct xb_mode xb_mode_quantize;
extern const struct xb_mode xb_mode_compress;

/* The options as the modes name them: a record knows them by their names. */
static const char *const codec_words[] = {"for", "lz4", NULL};
static const struct xb_option codec = {
    .name = "codec", .type = XB_OPTION_CHOICES, .choices = codec_words};
static const struct xb_option data = {.name = "data", .type = XB_OPTION_CHOICES};
static const struct xb_option threads = {.name = "threads", .type = XB_OPTION_COUNTS};

/* What was measured. In GB/s; 0: there is none. */
struct measured {
    double rate, plain, ratio, encode, decode;
    unsigned threads;
    double enough, sends, error_max, error_rms;
};

static void add_measured(struct xb_result *row, const struct measured *measured)
{
    const struct {
        const char *name;
        double value;
    } known[] = {
        {"ratio", measured->ratio},
        {"speed_up", measured->rate / measured->plain},
        {"encode_rate", measured->encode * 1e9},
        {"threads", measured->threads},
        {"break_even_threads", measured->enough},
        {"break_even_sends", measured->sends},
        {"error_max", measured->error_max},
        {"error_rms", measured->error_rms},
    };
    add_figure(row, xb_figure_find("plain_bandwidth"), measured->plain * 1e9);
    add_figure(row, xb_figure_find("decode_rate"), measured->decode * 1e9);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].value > 0)
            set_computed(row, xb_figure_find(known[i].name), known[i].value);
}

static struct xb_result *quantized(struct node *n, const char *format,
                                   const struct measured *measured)
{
    struct xb_result *row = add(n, &xb_mode_quantize, format, XB_H2D, measured->rate);
    row->test.settings[0] = (struct xb_setting){.option = &threads, .count = measured->threads};
    row->test.setting_count = 1;
    add_measured(row, measured);
    return row;
}

static struct xb_result *compressed(struct node *n, const char *variant, const char *by,
                                    const char *word, const struct measured *measured)
{
    struct xb_result *row = add(n, &xb_mode_compress, variant, XB_H2D, measured->rate);
    row->test.settings[0] = (struct xb_setting){.option = &codec, .word = by};
    row->test.settings[1] = (struct xb_setting){.option = &data, .word = word};
    row->test.settings[2] = (struct xb_setting){.option = &threads, .count = measured->threads};
    row->test.setting_count = 3;
    add_measured(row, measured);
    return row;
}

static const struct measured linked = {.rate = 96,
                                       .plain = 55,
                                       .ratio = 2,
                                       .encode = 150,
                                       .decode = 1200,
                                       .threads = 16,
                                       .enough = 7,
                                       .error_max = 0.000488,
                                       .error_rms = 0.000204};

NODE_TEST(what_pays_is_said_with_its_limit)
{
    struct node *n = *state;
    quantized(n, "fp16", &linked);
    assert_said(
        n, "fp16",
        "Sending fp16 in place of float32 by 16 threads: worth it, 1.75 times as fast as the plain "
        "copy (96.0 and 55.0 GB/s). It pays with 7 threads. The link is the limit: 110 GB/s alone. "
        "The largest error is 0.049 % of a value, over all values 0.02 %.");
    assert_said(n, "bf16", "");
    assert_answered(n, "Sending fp16 in place of float32 by 16 threads: worth it, 1.75 times as "
                       "fast as the plain copy (96.0 and 55.0 GB/s).");
    assert_advised(n, "XB-QUANTIZE",
                   "Send fewer bytes: fp16 in place of float32 by 16 threads, 1.75 times as fast "
                   "as the plain copy.");
}

/* A plain copy whose samples scatter between 45 and 65 round a median of 55. */
static void scatter(struct xb_result *row)
{
    const struct xb_figure *plain = xb_figure_find("plain_bandwidth");
    static const double others[] = {45e9, 47e9, 49e9, 51e9, 59e9, 61e9, 63e9, 65e9};
    struct xb_error error;
    for (size_t i = 0; i < 3 * sizeof others / sizeof others[0]; i++)
        assert_int_equal(xb_result_sample(row, plain, others[i % 8], &error), XB_OK);
}

#define LINE(said, variant, codec, data, is_noisy, ...)                                            \
    {                                                                                              \
        said, variant, codec, data, is_noisy,                                                      \
        {                                                                                          \
            __VA_ARGS__, 0, 0                                                                      \
        }                                                                                          \
    }
static const struct {
    const char *said;                   /* behind "Sending " */
    const char *variant, *codec, *data; /* without a codec: quantized */
    bool is_noisy;
    struct measured measured;
} lines[] = {
    /* Each stage can be the limit. */
    LINE("fp16 in place of float32 by 16 threads: worth it, 1.75 times as fast as the plain copy "
         "(96.0 and 55.0 GB/s). It pays with 1 thread. The host, which makes it smaller, is the "
         "limit: 105 GB/s alone.",
         "fp16", NULL, NULL, false, 96, 55, 2, 105, 1200, 16, 1, 0),
    LINE("int8 in place of float32 by 1 thread: worth it, 1.75 times as fast as the plain copy "
         "(96.0 and 55.0 GB/s). It pays with 1 thread. The GPU, which restores it, is the limit: "
         "100 GB/s alone.",
         "int8", NULL, NULL, false, 96, 55, 2, 105, 100, 1, 1, 0),
    /* What was compressed before pays after some sends; encoding is not in the time: no limit. */
    LINE("integers packed with FOR: worth it, 2.7 times as fast as the plain copy (150 and 55.0 "
         "GB/s). Packing pays off after 9 sends. The link is the limit: 160 GB/s alone.",
         "sent", "for", "integers", false, 150, 55, 2.9, 10, 1200, 2, 0, 9),
    LINE("zeros packed with FOR: worth it, 2.7 times as fast as the plain copy (150 and 55.0 "
         "GB/s). Packing pays off after 1 send. The link is the limit: 160 GB/s alone.",
         "sent", "for", "zeros", false, 150, 55, 2.9, 10, 1200, 2, 0, 1),
    /* Of two threads one feeds, the other encodes 10 GB/s; 6 such and one that feeds would do. */
    LINE("fp16 in place of float32 by 2 threads: not worth it, 16 % as fast as the plain copy (9.0 "
         "and 55.0 GB/s). The host is too slow, 10.0 GB/s alone; about 7 threads would do.",
         "fp16", NULL, NULL, false, 9, 55, 2, 10, 1200, 2, 0, 0),
    LINE("bf16 in place of float32 by 1 thread: not worth it, 16 % as fast as the plain copy (9.0 "
         "and 55.0 GB/s). The host is too slow, 10.0 GB/s alone; about 7 threads would do.",
         "bf16", NULL, NULL, false, 9, 55, 2, 10, 1200, 1, 0, 0),
    /* Each reason not to pay. */
    LINE("random packed with LZ4 by 16 threads: not worth it, 91 % as fast as the plain copy (50.0 "
         "and 55.0 GB/s). The data gets no smaller (ratio 0.998): send it as it is.",
         "made-and-sent", "lz4", "random", false, 50, 55, 0.998, 10, 1200, 16, 0, 0),
    LINE("text packed with LZ4: not worth it, 91 % as fast as the plain copy (50.0 and 55.0 GB/s). "
         "The GPU is too slow: it restores 52.0 GB/s alone.",
         "sent", "lz4", "text", false, 50, 55, 2, 10, 52, 16, 0, 0),
    LINE("fp8 in place of float32 by 16 threads: not worth it, 91 % as fast as the plain copy "
         "(50.0 and 55.0 GB/s). Each stage alone is fast enough; together they are not.",
         "fp8", NULL, NULL, false, 50, 55, 2, 60, 60, 16, 0, 0),
    /* Two hundredths either way are nothing, and so is what is within the noise. */
    LINE("int8 in place of float32 by 16 threads: no faster than the plain copy, within the noise "
         "(54.0 and 55.0 GB/s).",
         "int8", NULL, NULL, false, 54, 55, 2, 150, 1200, 16, 7, 0),
    LINE("fp8 in place of float32 by 16 threads: no faster than the plain copy, within the noise "
         "(56.0 and 55.0 GB/s).",
         "fp8", NULL, NULL, false, 56, 55, 2, 150, 1200, 16, 7, 0),
    LINE("int8 in place of float32 by 16 threads: no faster than the plain copy, within the noise "
         "(52.0 and 55.0 GB/s).",
         "int8", NULL, NULL, true, 52, 55, 2, 150, 1200, 16, 7, 0),
    LINE("fp8 in place of float32 by 16 threads: no faster than the plain copy, within the noise "
         "(58.0 and 55.0 GB/s).",
         "fp8", NULL, NULL, true, 58, 55, 2, 150, 1200, 16, 7, 0),
};

TEST(each_outcome_has_its_words)
{
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        void *node;
        char expected[400];
        bool is_made = strcmp(lines[i].variant, "made-and-sent") == 0;
        assert_int_equal(node_setup(&node), 0);
        struct xb_result *row = lines[i].codec == NULL
                                    ? quantized(node, lines[i].variant, &lines[i].measured)
                                    : compressed(node, lines[i].variant, lines[i].codec,
                                                 lines[i].data, &lines[i].measured);
        if (lines[i].is_noisy)
            scatter(row);
        snprintf(expected, sizeof expected, "Sending %s", lines[i].said);
        assert_said(node, is_made ? "made" : lines[i].variant, expected);
        assert_said(node, is_made ? "sent" : "made", "");
        assert_int_equal(node_teardown(&node), 0);
    }
}

/* As in older files, which have three plain copies: they have no interval. */
NODE_TEST(few_samples_tell_nothing)
{
    struct node *n = *state;
    const struct xb_figure *plain = xb_figure_find("plain_bandwidth");
    struct xb_error error;
    struct xb_result *row = add(n, &xb_mode_quantize, "fp16", XB_H2D, 96);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(xb_result_sample(row, plain, 55e9, &error), XB_OK);
    set_figure(row, "speed_up", 96. / 55);
    assert_said(n, "fp16",
                "Sending fp16 in place of float32: worth it, 1.75 times as fast as the plain copy "
                "(96.0 and 55.0 GB/s).");
}

NODE_TEST(codecs_and_data_are_told_apart)
{
    struct node *n = *state;
    struct measured measured = {
        .rate = 50, .plain = 55, .ratio = 1, .encode = 70, .decode = 1200, .threads = 4};
    compressed(n, "made-and-sent", "for", "random", &measured);
    compressed(n, "made-and-sent", "lz4", "random", &measured);
    compressed(n, "made-and-sent", "lz4", "file:some/model.bin", &measured);
#define NO_SMALLER                                                                                 \
    "not worth it, 91 % as fast as the plain copy (50.0 and 55.0 GB/s). The data gets no smaller " \
    "(ratio 1.000): send it as it is."
    assert_said(n, "made",
                "Sending random packed with FOR by 4 threads: " NO_SMALLER
                "\nSending random packed with LZ4 by 4 threads: " NO_SMALLER
                "\nSending file:some/model.bin packed with LZ4 by 4 threads: " NO_SMALLER);
}

NODE_TEST(of_several_thread_counts_the_fastest_is_told_once)
{
    struct node *n = *state;
    struct measured measured = linked;
    static const unsigned counts[] = {4, 16, 8};
    static const double rates[] = {40, 96, 96};
    measured.error_max = 0;
    for (size_t i = 0; i < 3; i++) {
        measured.threads = counts[i];
        measured.rate = rates[i];
        quantized(n, "fp16", &measured);
    }
    assert_said(n, "fp16",
                "Sending fp16 in place of float32 by 16 threads: worth it, 1.75 times as fast as "
                "the plain copy (96.0 and 55.0 GB/s). It pays with 7 threads. The link is the "
                "limit: 110 GB/s alone.");
}

/* A case that was cut short has no plain copy to stand beside. */
NODE_TEST(without_a_plain_copy_nothing_is_said)
{
    struct node *n = *state;
    add(n, &xb_mode_quantize, "fp16", XB_H2D, 50);
    assert_said(n, "fp16", "");
}
