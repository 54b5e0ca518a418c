/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Decoding on the device. What xb_decode makes of a chunk on the CPU is what queue_decode must make
 * of it; unit tests show that xb_decode is right.
 */
#include "contract.h"

#include "codecs/codec.h"

struct group decode_tests = {"decoding", "decoding", false, 0, {}};
#define OWN_GROUP decode_tests
/* Apart: a tool that runs each kernel by itself, to look for wrong accesses, would wait for the
 * hold's. */
struct group held_decode_tests = {"held", "decoding behind a hold", false, 0, {}};

#define GAP 256u           /* at least so much poison between two targets */
#define CHUNKS 700u        /* the most of one test */
#define REPORT_BYTES 1024u /* the report and a guard behind it */

/* One chunk of a test: where it lies, and what the CPU makes of it. */
struct chunk {
    uint64_t target_offset, bytes;
    uint64_t source_offset, source_bytes;
    bool refused;
};

/* Chunks of one format, one behind the other in two buffers. `wanted` and `seen` are the target. */
struct chunks {
    enum xb_format format;
    struct chunk chunk[CHUNKS];
    size_t count;
    unsigned char *encoded, *wanted, *seen;
    uint64_t encoded_bytes, target_bytes;
    struct xb_decode_report report;
};
static struct chunks chunks; /* of the test that runs now */

static uint64_t up(uint64_t offset)
{
    return (offset + XB_FORMAT_ALIGNMENT - 1) / XB_FORMAT_ALIGNMENT * XB_FORMAT_ALIGNMENT;
}

static unsigned char *memory(uint64_t bytes)
{
    unsigned char *made = aligned_alloc(XB_FORMAT_ALIGNMENT, up(bytes));
    assert_non_null(made);
    return made;
}

static void begin(enum xb_format format)
{
    memset(&chunks, 0, sizeof chunks);
    chunks.format = format;
    chunks.report.first_refused = XB_NONE_REFUSED;
    chunks.encoded = memory(BYTES);
    chunks.wanted = memory(BYTES);
    chunks.seen = memory(BYTES);
    xb_host_fill(chunks.wanted, 0, BYTES, poison);
    memset(chunks.encoded, 0xA5, BYTES); /* no decoder may read what lies between chunks */
}

static void end(void)
{
    free(chunks.encoded);
    free(chunks.wanted);
    free(chunks.seen);
}

/* Appends a chunk, restored to `bytes`, and has the CPU decode it. */
static void add(const unsigned char *encoded, uint64_t encoded_bytes, uint64_t bytes)
{
    struct chunk *chunk = &chunks.chunk[chunks.count++];
    assert_true(chunks.count <= CHUNKS);
    *chunk = (struct chunk){.target_offset = up(chunks.target_bytes + GAP),
                            .bytes = bytes,
                            .source_offset = up(chunks.encoded_bytes + 1),
                            .source_bytes = encoded_bytes};
    chunks.encoded_bytes = chunk->source_offset + encoded_bytes;
    chunks.target_bytes = chunk->target_offset + bytes;
    assert_true(chunks.encoded_bytes <= BYTES && chunks.target_bytes <= BYTES);
    memcpy(chunks.encoded + chunk->source_offset, encoded, encoded_bytes);
    unsigned long long refused = chunks.report.refused_blocks;
    xb_decode(chunks.format, chunks.encoded + chunk->source_offset, encoded_bytes,
              chunks.wanted + chunk->target_offset, bytes, chunk->target_offset, &chunks.report);
    chunk->refused = chunks.report.refused_blocks > refused;
}

/* ---- on the device ---- */

static struct {
    struct xb_buffer *source, *target, *report;
} there;

static struct xb_buffer *make(enum xb_memory memory, uint64_t bytes)
{
    struct xb_buffer *buffer = NULL;
    MUST(buffer_allocate, f->device, memory, bytes, &buffer);
    return buffer;
}

/* Through f->pinned, or by the CPU where it can reach the buffer. */
static void put(struct xb_buffer *buffer, const void *bytes, uint64_t count)
{
    if (buffer->host_address != NULL) {
        memcpy(buffer->host_address, bytes, count);
        return;
    }
    memcpy(f->pinned->host_address, bytes, count);
    copy(buffer, 0, f->pinned, 0, count);
    await();
}

static void get(struct xb_buffer *buffer, void *bytes, uint64_t count)
{
    await();
    if (buffer->host_address != NULL) {
        memcpy(bytes, buffer->host_address, count);
        return;
    }
    copy(f->pinned, 0, buffer, 0, count);
    await();
    memcpy(bytes, f->pinned->host_address, count);
}

/* The buffers end where the last chunk does, for tools that find an access behind them. */
static void place(enum xb_memory memory)
{
    there.source = make(memory, chunks.encoded_bytes);
    there.target = make(memory, chunks.target_bytes);
    there.report = make(memory, REPORT_BYTES);
    unsigned char bytes[REPORT_BYTES];
    const struct xb_decode_report none = {0, XB_NONE_REFUSED};
    put(there.source, chunks.encoded, chunks.encoded_bytes);
    xb_host_fill(chunks.seen, 0, chunks.target_bytes, poison);
    put(there.target, chunks.seen, chunks.target_bytes);
    xb_host_fill(bytes, 0, sizeof bytes, poison);
    memcpy(bytes, &none, sizeof none);
    put(there.report, bytes, sizeof bytes);
}

static void leave(void)
{
    tested->buffer_free(there.report);
    tested->buffer_free(there.target);
    tested->buffer_free(there.source);
}

static struct xb_decoding decoding_of(size_t i)
{
    const struct chunk *chunk = &chunks.chunk[i];
    return (struct xb_decoding){.format = chunks.format,
                                .target = there.target,
                                .target_offset = chunk->target_offset,
                                .bytes = chunk->bytes,
                                .source = there.source,
                                .source_offset = chunk->source_offset,
                                .source_bytes = chunk->source_bytes,
                                .report = there.report};
}

static void enqueue(void)
{
    for (size_t i = 0; i < chunks.count; i++) {
        const struct xb_decoding decoding = decoding_of(i);
        MUST(queue_decode, f->queue, &decoding);
    }
}

/* Every byte of the target, but what is undefined: the chunks in which a block was refused. */
static void expect_target(void)
{
    get(there.target, chunks.seen, chunks.target_bytes);
    for (size_t i = 0; i < chunks.count; i++) {
        const struct chunk *chunk = &chunks.chunk[i];
        if (chunk->refused)
            memcpy(chunks.seen + chunk->target_offset, chunks.wanted + chunk->target_offset,
                   chunk->bytes);
    }
    for (uint64_t i = 0; i < chunks.target_bytes; i++)
        if (chunks.seen[i] != chunks.wanted[i])
            fail_msg("%s: byte %llu of the target is %u, not %u", xb_format_name(chunks.format),
                     (unsigned long long)i, chunks.seen[i], chunks.wanted[i]);
}

static void expect_report(void)
{
    unsigned char bytes[REPORT_BYTES];
    struct xb_decode_report report;
    get(there.report, bytes, sizeof bytes);
    memcpy(&report, bytes, sizeof report);
    assert_true(report.refused_blocks == chunks.report.refused_blocks);
    assert_true(report.first_refused == chunks.report.first_refused);
    EXPECT_BYTES(bytes + sizeof report, sizeof report, sizeof bytes - sizeof report, poison);
}

/* ---- what is encoded ---- */

/* Of every kind within each 64 KiB: small numbers, one number, random ones, rising ones. */
static void fill_numbers(unsigned char *bytes, uint64_t count)
{
    for (uint64_t at = 0; at < count; at += 4) {
        uint32_t random = (uint32_t)xb_pattern_word(pattern, at);
        uint64_t kind = at / 4096 % 4;
        uint32_t number = kind == 0   ? 1000 + random % 2048
                          : kind == 1 ? 4711
                          : kind == 2 ? random
                                      : (uint32_t)at;
        memcpy(bytes + at, &number, count - at < 4 ? count - at : 4);
    }
}

static void fill_floats(unsigned char *bytes, uint64_t count)
{
    for (uint64_t at = 0; at < count; at += 4) {
        uint32_t random = (uint32_t)xb_pattern_word(pattern, at);
        float value = ((float)(random % 100000) - 50000.0F) / (float)(1u << random % 24);
        memcpy(bytes + at, &value, 4);
    }
}

/* Encodes `bytes` and appends the chunk; it must come back whole. */
static void add_encoded(uint64_t bytes)
{
    bool lossy = xb_format_is_lossy(chunks.format);
    unsigned char *original = memory(bytes + 4);
    unsigned char *encoded = memory(xb_encoded_bound(chunks.format, bytes) + 4);
    (lossy ? fill_floats : fill_numbers)(original, bytes);
    add(encoded, xb_encode(chunks.format, original, bytes, encoded), bytes);
    const struct chunk *added = &chunks.chunk[chunks.count - 1];
    assert_false(added->refused);
    if (!lossy)
        assert_memory_equal(chunks.wanted + added->target_offset, original, bytes);
    free(original);
    free(encoded);
}

/* Ends of a vector, of a scale, of a block and of a thread's turn, and what lies about them. */
static const uint64_t sizes[] = {4,    8,     12,    16,    252,   256,           260,
                                 4092, 16388, 65536, 65540, 98304, 3 * 65536 + 44};
/* Behind a whole number of 32 bits, too. */
static const uint64_t odd_sizes[] = {1, 2, 3, 5, 127, 4095, 4097, 65535, 65537, 2 * 65536 + 4099};

static void decode_chunks(enum xb_memory memory)
{
    place(memory);
    enqueue();
    expect_target();
    expect_report();
    leave();
}

static void decode_all(enum xb_format format, enum xb_memory memory)
{
    begin(format);
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        add_encoded(sizes[i]);
    for (size_t i = 0; !xb_format_is_lossy(format) && i < COUNT_OF(odd_sizes); i++)
        add_encoded(odd_sizes[i]);
    decode_chunks(memory);
    end();
}

TEST(every_format_is_decoded)
{
    NEEDS(XB_CAP_KERNELS);
    for (int format = 0; format < XB_FORMATS; format++)
        decode_all((enum xb_format)format, XB_MEMORY_DEVICE);
}

TEST(mapped_memory_is_decoded)
{
    NEEDS(XB_CAP_KERNELS | XB_CAP_MAPPED);
    decode_all(XB_FORMAT_FP16, XB_MEMORY_MAPPED);
    decode_all(XB_FORMAT_LZ4, XB_MEMORY_MAPPED);
}

/* Nothing may have to be loaded for it: that would hang. */
TEST_OF(held_decode_tests, decoding_stands_behind_a_hold, tear_down)
{
    NEEDS(XB_CAP_KERNELS | XB_CAP_HOLD);
    for (int format = 0; format < XB_FORMATS; format++) {
        begin((enum xb_format)format);
        add_encoded(10000);
        place(XB_MEMORY_DEVICE);
        hold();
        enqueue();
        release();
        expect_target();
        leave();
        end();
    }
}

/* ---- what is no chunk ---- */

static const enum xb_format refusing[] = {XB_FORMAT_FOR, XB_FORMAT_LZ4};

/* A small chunk that gets smaller. */
struct small {
    unsigned char *encoded;
    uint64_t encoded_bytes, bytes;
};

/* Of two blocks, of one bit a value; or of literals and matches, of which some overlap themselves.
 */
static struct small make_small(enum xb_format format)
{
    struct small small = {.bytes = format == XB_FORMAT_FOR ? 4396 : 300};
    unsigned char *original = memory(small.bytes);
    for (uint64_t at = 0; at < small.bytes; at++)
        original[at] = format == XB_FORMAT_FOR ? (unsigned char)(at % 12 == 0)
                       : at % 100 < 40         ? (unsigned char)(at * at / 7)
                       : at % 100 < 60         ? (unsigned char)((at - 37) * (at - 37) / 7)
                                               : (unsigned char)(at % 3);
    small.encoded = memory(xb_encoded_bound(format, small.bytes));
    small.encoded_bytes = xb_encode(format, original, small.bytes, small.encoded);
    assert_true(small.encoded_bytes < small.bytes);
    free(original);
    return small;
}

/* Has `damage` add what it makes of a small chunk, for each format, and decodes it all. */
static void decode_damaged(void (*damage)(const struct small *small))
{
    for (size_t i = 0; i < COUNT_OF(refusing); i++) {
        const struct small small = make_small(refusing[i]);
        begin(refusing[i]);
        damage(&small);
        decode_chunks(XB_MEMORY_DEVICE);
        assert_true(chunks.report.refused_blocks > 0);
        free(small.encoded);
        end();
    }
}

static void flip(const struct small *small)
{
    for (uint64_t at = 0; at < small->encoded_bytes; at++) {
        small->encoded[at] ^= 0xFF;
        add(small->encoded, small->encoded_bytes, small->bytes);
        small->encoded[at] ^= 0xFF;
    }
}

static void truncate_chunk(const struct small *small)
{
    for (uint64_t bytes = 0; bytes < small->encoded_bytes; bytes += bytes < 24 ? 1 : 7)
        add(small->encoded, bytes, small->bytes);
}

/* Every word of the chunk's beginning, and targets that are not what was encoded. */
static void make_absurd(const struct small *small)
{
    static const uint32_t absurd[] = {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFF80};
    const uint64_t targets[] = {0, 1, small->bytes - 1, small->bytes + 1, 8193, 200000};
    for (uint64_t at = 0; at + 4 <= small->encoded_bytes && at < 32; at += 4)
        for (size_t j = 0; j < COUNT_OF(absurd); j++) {
            uint32_t right;
            memcpy(&right, small->encoded + at, 4);
            memcpy(small->encoded + at, &absurd[j], 4);
            add(small->encoded, small->encoded_bytes, small->bytes);
            memcpy(small->encoded + at, &right, 4);
        }
    for (size_t j = 0; j < COUNT_OF(targets); j++)
        add(small->encoded, small->encoded_bytes, targets[j]);
}

TEST(damaged_chunks_stay_within_the_target)
{
    NEEDS(XB_CAP_KERNELS);
    decode_damaged(flip);
    decode_damaged(truncate_chunk);
    decode_damaged(make_absurd);
}

/* ---- wrong use ---- */

/* Makes a good decoding bad. */
#define REFUSE(...)                                                                                \
    do {                                                                                           \
        struct xb_decoding bad = good;                                                             \
        __VA_ARGS__;                                                                               \
        REFUSED(queue_decode, f->queue, &bad);                                                     \
    } while (0)

TEST(bad_decodings_are_refused)
{
    NEEDS(XB_CAP_KERNELS);
    there.source = make(XB_MEMORY_DEVICE, 4096);
    there.target = make(XB_MEMORY_DEVICE, 4096);
    there.report = make(XB_MEMORY_DEVICE, 16);
    struct xb_buffer *small = make(XB_MEMORY_DEVICE, sizeof(struct xb_decode_report) - 1);
    const struct xb_decoding good = {.format = XB_FORMAT_FP16,
                                     .target = there.target,
                                     .target_offset = 2048,
                                     .bytes = 2048,
                                     .source = there.source,
                                     .source_offset = 3072,
                                     .source_bytes = 1024,
                                     .report = there.report};
    REFUSE(bad.target = f->pinned); /* out of a kernel's reach */
    REFUSE(bad.source = f->pinned);
    REFUSE(bad.report = f->pinned);
    REFUSE(bad.report = small);
    REFUSE(bad.target_offset = 2048 - XB_FORMAT_ALIGNMENT / 2);
    REFUSE(bad.source_offset = 3072 - XB_FORMAT_ALIGNMENT / 2);
    REFUSE(bad.target_offset = 2048 + XB_FORMAT_ALIGNMENT); /* behind the end */
    REFUSE(bad.source_offset = 3072 + XB_FORMAT_ALIGNMENT);
    REFUSE(bad.target_offset = UINT64_MAX - (XB_FORMAT_ALIGNMENT - 1));
    REFUSE(bad.source_offset = UINT64_MAX - (XB_FORMAT_ALIGNMENT - 1));
    REFUSE(bad.bytes = UINT64_MAX - 3);
    REFUSE(bad.bytes = 2044); /* which become other bytes than there are */
    REFUSE(bad.source_bytes = 1023);
    REFUSE(bad.source_bytes = 0);
    REFUSE(bad.format = (enum xb_format)XB_FORMATS);
    REFUSE(bad.bytes = 2046, bad.source_bytes = 1022);                  /* no whole values */
    REFUSE(bad.source = there.target, bad.source_offset = 4096 - 1024); /* on top of each other */
    REFUSE(bad.report = there.target, bad.target_offset = 0);
    MUST(queue_decode, f->queue, &good);
    await();
    tested->buffer_free(small);
    leave();
}
