/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* O_CLOEXEC */
#define _FILE_OFFSET_BITS 64
#include "sample_data.h"

#include "shared_options.h"

#include "base/parallel.h"

#include "backends/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_WORD "file:"

/* In the order of `kinds`; the last has a path behind it. */
static const char *const words[] = {"random", "integers", "floats", "text",
                                    "zeros",  FILE_WORD,  NULL};

static const char *const *list_words(void)
{
    return words;
}

const struct xb_option xb_option_data = {
    XB_CASES_OF(XB_OPTION_CHOICES, "data", "WHAT", "integers",
                "Which data to make smaller: 'random' bytes, 'integers' of 32 bits that differ in "
                "their low 11 bits, 'floats' such as a sensor measures, 'text' of made-up words, "
                "'zeros', or 'file:PATH' (no comma in it), repeated to fill --size."),
    .offers = list_words};

struct fill {
    unsigned long long seed;
    char *memory;
    const struct kind *kind;
    const struct vocabulary *vocabulary; /* of text */
};

/* Writes block `number`, all of it, to `block`. */
typedef void maker(const struct fill *fill, uint64_t number, void *block);

/* Word `index` of what the seed makes. */
static unsigned long long random_word(unsigned long long seed, uint64_t index)
{
    return xb_pattern_word((struct xb_pattern){.seed = seed}, index);
}

#define BLOCK_BYTES ((uint64_t)XB_DATA_BLOCK_VALUES * 4)

/* What a block draws besides two values a word: the seed is another, so that it has nothing to do
 * with these. */
static unsigned long long block_word(unsigned long long seed, uint64_t block)
{
    return random_word(~seed, block);
}

static void make_random(const struct fill *fill, uint64_t number, void *block)
{
    xb_host_fill(block, number * BLOCK_BYTES, BLOCK_BYTES, (struct xb_pattern){.seed = fill->seed});
}

static void make_zeros(const struct fill *fill, uint64_t number, void *block)
{
    (void)fill;
    (void)number;
    memset(block, 0, BLOCK_BYTES);
}

static void make_integers(const struct fill *fill, uint64_t number, void *block)
{
    const uint32_t low = (1u << XB_DATA_INTEGER_BITS) - 1;
    uint32_t base = (uint32_t)block_word(fill->seed, number) & ~low;
    uint32_t *values = block;
    make_random(fill, number, block);
    for (uint64_t i = 0; i < XB_DATA_BLOCK_VALUES; i++)
        values[i] = base | (values[i] & low);
}

/* The signal has a point of its own every block, and of a slower wave every so many blocks. */
#define SLOW_BLOCKS 16u
#define SLOW_SHARE 0.8
/* The mantissa's low bits are what a sensor's last digits are. */
#define NOISE_BITS 8u

/* Goes smoothly from one random point in [0, 1) to the next. */
static double wave(unsigned long long seed, uint64_t point, double past)
{
    double from = (double)(block_word(seed, point) >> 11) * 0x1p-53;
    double to = (double)(block_word(seed, point + 1) >> 11) * 0x1p-53;
    return from + (to - from) * past * past * (3 - 2 * past);
}

static void make_floats(const struct fill *fill, uint64_t number, void *block)
{
    const uint32_t noise = (1u << NOISE_BITS) - 1;
    const unsigned long long seed = fill->seed;
    uint32_t *values = block;
    for (uint64_t i = 0; i < XB_DATA_BLOCK_VALUES; i++) {
        double past = (double)i / XB_DATA_BLOCK_VALUES;
        double slow_past = ((double)(number % SLOW_BLOCKS) + past) / SLOW_BLOCKS;
        double share = SLOW_SHARE * wave(seed, number / SLOW_BLOCKS, slow_past) +
                       (1 - SLOW_SHARE) * wave(seed + 1, number, past);
        float value = XB_DATA_FLOAT_LEAST + XB_DATA_FLOAT_RANGE * (float)share;
        memcpy(&values[i], &value, sizeof value);
        unsigned long long word = random_word(seed, number * XB_DATA_BLOCK_VALUES + i);
        values[i] = (values[i] & ~noise) | ((uint32_t)word & noise);
    }
}

/* A sign, an exponent out of seven (-6 to 0) and a mantissa are 32 random bits. */
static void make_weights(const struct fill *fill, uint64_t number, void *block)
{
    uint32_t *values = block;
    make_random(fill, number, block);
    for (uint64_t i = 0; i < XB_DATA_BLOCK_VALUES; i++) {
        uint32_t exponent = 127 - 6 + ((values[i] >> 23 & 0xff) * 7 >> 8);
        values[i] = (values[i] & 0x807fffffu) | exponent << 23;
    }
}

static enum xb_status open_file(const char *path, int *descriptor, uint64_t *length,
                                struct xb_error *error)
{
    struct stat file;
    enum xb_status status = XB_OK;
    /* A pipe without a writer would not open otherwise. */
    *descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*descriptor < 0)
        return XB_FAIL_ERRNO(error, "open", errno, "--data file:%.300s: cannot be read: %s", path,
                             strerror(errno));
    if (fstat(*descriptor, &file) != 0)
        status = XB_FAIL_ERRNO(error, "fstat", errno, "--data file:%.300s: cannot be read: %s",
                               path, strerror(errno));
    else if (!S_ISREG(file.st_mode))
        status = XB_FAIL(error, XB_ERR_USAGE, "--data file:%.300s: is no regular file", path);
    else if (file.st_size == 0)
        status = XB_FAIL(error, XB_ERR_USAGE, "--data file:%.300s: is empty", path);
    else
        *length = (uint64_t)file.st_size;
    if (status != XB_OK)
        close(*descriptor);
    return status;
}

static enum xb_status read_all(int descriptor, const char *path, char *memory, uint64_t bytes,
                               struct xb_error *error)
{
    for (uint64_t done = 0; done < bytes;) {
        ssize_t got = read(descriptor, memory + done, bytes - done);
        if (got == 0)
            return XB_FAIL(error, XB_ERR_SYSTEM,
                           "--data file:%.300s: became shorter while it was read", path);
        if (got > 0)
            done += (uint64_t)got;
        else if (errno != EINTR)
            return XB_FAIL_ERRNO(error, "read", errno, "--data file:%.300s: cannot be read: %s",
                                 path, strerror(errno));
    }
    return XB_OK;
}

/* What is repeated: the beginning of the memory. */
struct period {
    char *memory;
    uint64_t length;
};

/* Writes [begin, end) behind the first period: once from there, then by doubling what it wrote, or
 * a file of one byte would be as many copies as there are bytes. */
static void repeat(void *argument, uint64_t begin, uint64_t end)
{
    const struct period *period = argument;
    char *to = period->memory + period->length + begin;
    uint64_t phase = begin % period->length;
    uint64_t total = end - begin;
    uint64_t first = xb_lesser(period->length - phase, total);
    memcpy(to, period->memory + phase, first);
    uint64_t done = xb_lesser(period->length, total);
    memcpy(to + first, period->memory, done - first);
    while (done < total) {
        uint64_t more = xb_lesser(done, total - done);
        memcpy(to + done, to, more);
        done += more;
    }
}

#define GRAIN (UINT64_C(1) << 20)

static const char onsets[] = "bdfgklmnprstvz";
static const char vowels[] = "aeiou";
static const char codas[] = "lmnrst";
#define LETTERS(letters) (sizeof(letters) - 1)
#define SYLLABLES (LETTERS(onsets) * LETTERS(vowels) * LETTERS(codas))

/* Frequent words are short, as in any language: so many of one syllable, then of two. */
#define OF_ONE 20u
#define OF_TWO 200u
#define OF_THREE 1000u
/* Prime to the number of syllables: words of neighbouring ranks have nothing in common. */
#define STRIDE 11731u

size_t xb_text_word(unsigned rank, char word[XB_TEXT_WORD_SIZE])
{
    unsigned syllables = rank < OF_ONE ? 1 : rank < OF_TWO ? 2 : rank < OF_THREE ? 3 : 4;
    /* Counting in syllables: each rank is another number, and so another word of its length. */
    uint64_t number = (uint64_t)rank * STRIDE;
    size_t length = 0;
    for (unsigned i = 0; i < syllables; i++) {
        unsigned syllable = (unsigned)(number % SYLLABLES);
        word[length++] = onsets[syllable % LETTERS(onsets)];
        word[length++] = vowels[syllable / LETTERS(onsets) % LETTERS(vowels)];
        word[length++] = codas[syllable / LETTERS(onsets) / LETTERS(vowels) % LETTERS(codas)];
        number /= SYLLABLES;
    }
    word[length] = '\0';
    return length;
}

/* Which word a random number of 16 bits is: each stands there as often as it is frequent. */
#define DRAWS 65536u

struct vocabulary {
    struct {
        char letters[XB_TEXT_WORD_SIZE];
        size_t length;
    } words[XB_TEXT_WORDS];
    uint16_t drawn[DRAWS];
};

/* Makes words by Zipf's law: the n-th is one n-th as frequent as the first. */
static void make_vocabulary(struct vocabulary *vocabulary)
{
    double sum = 0, all = 0;
    for (unsigned rank = 0; rank < XB_TEXT_WORDS; rank++) {
        vocabulary->words[rank].length = xb_text_word(rank, vocabulary->words[rank].letters);
        all += 1.0 / (rank + 1);
    }
    unsigned draw = 0;
    for (unsigned rank = 0; rank < XB_TEXT_WORDS; rank++) {
        sum += 1.0 / (rank + 1);
        for (; draw < DRAWS && (draw < sum / all * DRAWS || rank + 1 == XB_TEXT_WORDS); draw++)
            vocabulary->drawn[draw] = (uint16_t)rank;
    }
}

/* A line ends with the sentence that makes it so long. */
#define LINE_LETTERS 72u
/* Phrases recur in a text too. One word in so many begins a phrase of its own: so many words behind
 * it are always the same. With these two, LZ4 makes blocks of 64 KiB smaller by a factor of 2.2. */
#define BEGINS_PHRASE 2u
#define PHRASE_WORDS 6u

struct writer {
    char *to, *end;
    size_t column;
    unsigned first;            /* the rank of the word that began the phrase */
    unsigned phrase, sentence; /* how many words are still to come of either */
};

static void put(struct writer *writer, const char *text, size_t length)
{
    size_t room = (size_t)(writer->end - writer->to);
    memcpy(writer->to, text, length < room ? length : room);
    writer->to += length < room ? length : room;
    writer->column += length;
}

static void make_text(const struct fill *fill, uint64_t number, void *block)
{
    const struct vocabulary *vocabulary = fill->vocabulary;
    struct writer writer = {.to = block, .end = (char *)block + XB_TEXT_BLOCK};
    /* A word has a letter at least, so a block draws no number twice that another has. */
    for (uint64_t i = number * XB_TEXT_BLOCK; writer.to < writer.end; i++) {
        /* Which word is next: one of the phrase that the last one was of, or what the random bits
         * draw. */
        unsigned long long random = random_word(fill->seed, i);
        unsigned rank = vocabulary->drawn[random % DRAWS];
        if (writer.phrase > 0) {
            rank = vocabulary->drawn[(writer.first + 1) * STRIDE * writer.phrase-- % DRAWS];
        } else if ((random >> 48) % BEGINS_PHRASE == 0) {
            writer.first = rank;
            writer.phrase = PHRASE_WORDS;
        }
        char word[XB_TEXT_WORD_SIZE];
        size_t length = vocabulary->words[rank].length;
        memcpy(word, vocabulary->words[rank].letters, length);
        if (writer.sentence == 0) {
            word[0] = (char)(word[0] - 'a' + 'A');
            writer.sentence = 6 + (unsigned)(random >> 16) % 12;
        }
        put(&writer, word, length);
        /* What stands behind it. */
        bool ends = --writer.sentence == 0;
        if (ends)
            put(&writer, ".", 1);
        else if (writer.phrase == 0 && (random >> 32) % 10 == 0)
            put(&writer, ",", 1);
        bool is_full = ends && writer.column >= LINE_LETTERS;
        put(&writer, is_full ? "\n" : " ", 1);
        if (is_full)
            writer.column = 0;
    }
}

/* The last, a file, is not made. */
static const struct kind {
    maker *make;
    uint64_t block_bytes; /* XB_TEXT_BLOCK at most */
} kinds[] = {{make_random, BLOCK_BYTES}, {make_integers, BLOCK_BYTES}, {make_floats, BLOCK_BYTES},
             {make_text, XB_TEXT_BLOCK}, {make_zeros, BLOCK_BYTES},    {NULL, 0}};
#define KINDS (sizeof kinds / sizeof kinds[0])
static const struct kind weights = {make_weights, BLOCK_BYTES};

static void fill_blocks(void *argument, uint64_t begin, uint64_t end)
{
    const struct fill *fill = argument;
    const uint64_t length = fill->kind->block_bytes;
    _Alignas(uint64_t) char block[XB_TEXT_BLOCK];
    for (uint64_t at = begin; at < end; at += length) {
        fill->kind->make(fill, at / length, block);
        memcpy(fill->memory + at, block, xb_lesser(end - at, length));
    }
}

static void fill_with(const struct kind *kind, unsigned long long seed, void *memory,
                      uint64_t bytes)
{
    struct vocabulary vocabulary;
    struct fill fill = {.seed = seed, .memory = memory, .kind = kind, .vocabulary = &vocabulary};
    if (kind->make == make_text)
        make_vocabulary(&vocabulary);
    xb_parallel_for(bytes, kind->block_bytes, fill_blocks, &fill);
}

void xb_weights_fill(unsigned long long seed, void *memory, uint64_t bytes)
{
    fill_with(&weights, seed, memory, bytes);
}

/* The path behind the word for a file; NULL for another word. */
static const char *path_of(const char *word)
{
    return strncmp(word, FILE_WORD, strlen(FILE_WORD)) == 0 ? word + strlen(FILE_WORD) : NULL;
}

/* The kind of that word; behind the last for none, and for a file. */
static size_t kind_of(const char *word)
{
    size_t i = 0;
    while (i + 1 < KINDS && strcmp(word, words[i]) != 0)
        i++;
    return i;
}

enum xb_status xb_data_check(const char *word, struct xb_error *error)
{
    int descriptor;
    uint64_t length = 0;
    if (path_of(word) != NULL) {
        if (open_file(path_of(word), &descriptor, &length, error) != XB_OK)
            return error->status = XB_ERR_USAGE;
        close(descriptor);
        return XB_OK;
    }
    if (kind_of(word) + 1 < KINDS)
        return XB_OK;
    const char *nearest = xb_nearest(word, words);
    return XB_FAIL(error, XB_ERR_USAGE,
                   "--data: '%.100s' is none of random, integers, floats, text, zeros and "
                   "file:PATH%s%s%s",
                   word, nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                   nearest != NULL ? "'?" : "");
}

enum xb_status xb_data_fill(const char *word, unsigned long long seed, void *memory, uint64_t bytes,
                            struct xb_error *error)
{
    const char *path = path_of(word);
    size_t kind = kind_of(word);
    int descriptor;
    uint64_t length = 0;
    if (kinds[kind].make != NULL)
        fill_with(&kinds[kind], seed, memory, bytes);
    if (path == NULL)
        return xb_data_check(word, error);
    XB_TRY(open_file(path, &descriptor, &length, error));
    enum xb_status status = read_all(descriptor, path, memory, xb_lesser(length, bytes), error);
    close(descriptor);
    struct period period = {.memory = memory, .length = length};
    if (status == XB_OK && length < bytes)
        xb_parallel_for(bytes - length, GRAIN, repeat, &period);
    return status;
}
