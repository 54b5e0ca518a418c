/* SPDX-License-Identifier: Apache-2.0 */
/* Data to make smaller: each kind is what it says, wherever the threads' parts begin. */
#define _GNU_SOURCE /* nftw, mkfifo */
#include "backends/verify.h"
#include "base/parallel.h"
#include "fixture_tree.h"
#include "modes/sample_data.h"

#define FIXTURE_TEST(name) TEST_WITH(name, reset, remove_tree)

#define SEED 20260u
/* Several blocks of text, and of values a part of one more, with a part of a value. */
#define BYTES (3u * XB_TEXT_BLOCK + 2 * 4096 + 1234 * 4 + 3)

/*
 * This program is linked with --wrap for these two. A split is what another number of CPUs would
 * have made: parts of so many grains, the last one first. And a file can become shorter, or fail,
 * between its opening and a read.
 */
static struct {
    uint64_t grains; /* of a part; 0: as it is */
    size_t read_most, reads_left;
    bool ends, fails; /* what comes once no reads are left */
} steer;

void __real_xb_parallel_for(uint64_t total, uint64_t grain,
                            void (*work)(void *argument, uint64_t begin, uint64_t end),
                            void *argument);
void __wrap_xb_parallel_for(uint64_t total, uint64_t grain,
                            void (*work)(void *argument, uint64_t begin, uint64_t end),
                            void *argument);
ssize_t __real_read(int descriptor, void *buffer, size_t size);
ssize_t __wrap_read(int descriptor, void *buffer, size_t size);

void __wrap_xb_parallel_for(uint64_t total, uint64_t grain,
                            void (*work)(void *argument, uint64_t begin, uint64_t end),
                            void *argument)
{
    if (steer.grains == 0) {
        __real_xb_parallel_for(total, grain, work, argument);
        return;
    }
    uint64_t part = grain * steer.grains;
    for (uint64_t end = total; end > 0;) {
        uint64_t begin = (end - 1) / part * part;
        work(argument, begin, end);
        end = begin;
    }
}

ssize_t __wrap_read(int descriptor, void *buffer, size_t size)
{
    if ((steer.ends || steer.fails) && steer.reads_left-- == 0) {
        errno = EIO;
        return steer.fails ? -1 : 0;
    }
    bool cuts = steer.read_most > 0 && size > steer.read_most;
    return __real_read(descriptor, buffer, cuts ? steer.read_most : size);
}

static int reset(void **state)
{
    memset(&steer, 0, sizeof steer);
    return make_tree(state);
}

/* ---- what is made ---- */

static void *fill(const char *word, unsigned long long seed, size_t bytes)
{
    struct xb_error error = {0};
    char *memory = malloc(bytes + 1);
    assert_non_null(memory);
    memory[bytes] = '#';
    if (xb_data_fill(word, seed, memory, bytes, &error) != XB_OK)
        fail_msg("%s", error.message);
    assert_int_equal(memory[bytes], '#');
    return memory;
}

static void *fill_weights(unsigned long long seed, size_t bytes)
{
    char *memory = malloc(bytes + 1);
    assert_non_null(memory);
    memory[bytes] = '#';
    xb_weights_fill(seed, memory, bytes);
    assert_int_equal(memory[bytes], '#');
    return memory;
}

static const char *const made_up[] = {"random", "integers", "floats", "text"};

/* The word, and for NULL the weights. */
static void *fill_any(const char *word, unsigned long long seed, size_t bytes)
{
    return word != NULL ? fill(word, seed, bytes) : fill_weights(seed, bytes);
}

FIXTURE_TEST(only_seed_and_position_count)
{
    for (size_t i = 0; i <= COUNT_OF(made_up); i++) {
        const char *word = i < COUNT_OF(made_up) ? made_up[i] : NULL;
        char *all = fill_any(word, SEED, BYTES);
        for (steer.grains = 1; steer.grains <= 3; steer.grains++) {
            char *split = fill_any(word, SEED, BYTES);
            assert_memory_equal(all, split, BYTES);
            free(split);
        }
        steer.grains = 0;
        char *beginning = fill_any(word, SEED, XB_TEXT_BLOCK + 5);
        assert_memory_equal(all, beginning, XB_TEXT_BLOCK + 5);
        char *other = fill_any(word, SEED + 1, BYTES);
        assert_memory_not_equal(all, other, 4096);
        free(other);
        free(beginning);
        free(all);
    }
}

/* No block is another's again. */
FIXTURE_TEST(blocks_differ)
{
    for (size_t i = 0; i <= COUNT_OF(made_up); i++) {
        char *all = fill_any(i < COUNT_OF(made_up) ? made_up[i] : NULL, SEED, BYTES);
        assert_memory_not_equal(all, all + XB_TEXT_BLOCK, 4096);
        assert_memory_not_equal(all, all + 4096, 4096);
        free(all);
    }
}

FIXTURE_TEST(random_is_the_pattern)
{
    void *memory = fill("random", SEED, BYTES);
    struct xb_mismatch found = xb_host_check(memory, 0, BYTES, (struct xb_pattern){.seed = SEED});
    assert_int_equal(found.wrong_bytes, 0);
    free(memory);
}

static uint64_t digest_of(const void *memory, size_t bytes)
{
    uint64_t digest = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < bytes; i++)
        digest = (digest ^ ((const unsigned char *)memory)[i]) * 1099511628211u;
    return digest;
}

/* The very bytes that were looked at when they were made: uniform low bits of integers that have
 * the upper ones of a block in common, exponents of [2^-6, 2) and mantissas of weights, and words
 * with the frequencies of a language's (Zipf's law). */
FIXTURE_TEST(what_is_made_up_stays_as_it_is)
{
    static const struct {
        const char *word;
        uint64_t digest;
    } rows[] = {{"integers", 0xcf361c0cac52735cu},
                {"text", 0x3b49e87d82b9267fu},
                {NULL, 0x238a98e1f347011u}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        void *memory = fill_any(rows[i].word, SEED, BYTES);
        if (digest_of(memory, BYTES) != rows[i].digest)
            fail_msg("%s: %#llx", rows[i].word != NULL ? rows[i].word : "weights",
                     (unsigned long long)digest_of(memory, BYTES));
        free(memory);
    }
    char *text = fill("text", SEED, 140);
    text[140] = '\0';
    assert_string_equal(text, "Genron bal nalvanbol zomgum lonton mon. Zit gansar melmalgumbal nar "
                              "zemlon lelkotkumbal nar tillir detkompel mersum zammar restam "
                              "dorvusbel.");
    free(text);
}

FIXTURE_TEST(floats_are_a_smooth_signal_with_noise)
{
    enum { VALUES = 64 * XB_DATA_BLOCK_VALUES };
    float *values = fill("floats", SEED, VALUES * sizeof *values);
    unsigned alike = 0;
    float least = values[0], most = values[0];
    for (size_t i = 0; i < VALUES; i++) {
        assert_true(values[i] >= XB_DATA_FLOAT_LEAST);
        assert_true(values[i] < XB_DATA_FLOAT_LEAST + XB_DATA_FLOAT_RANGE);
        /* A step is a small part of the range, also from block to block. */
        float step = i > 0 ? values[i] - values[i - 1] : 0;
        assert_true(step > -0.05f && step < 0.05f);
        alike += i > 0 && step == 0;
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    assert_in_range(alike, 0, VALUES / 50);
    assert_true(most - least > XB_DATA_FLOAT_RANGE / 4);
    free(values);
}

FIXTURE_TEST(zeros_are_zeros)
{
    char *memory = fill("zeros", SEED, BYTES);
    for (size_t i = 0; i < BYTES; i++)
        assert_int_equal(memory[i], 0);
    free(memory);
}

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

FIXTURE_TEST(no_two_words_are_alike)
{
    static char words[XB_TEXT_WORDS][XB_TEXT_WORD_SIZE];
    for (unsigned rank = 0; rank < XB_TEXT_WORDS; rank++) {
        size_t length = xb_text_word(rank, words[rank]);
        assert_int_equal(length, strlen(words[rank]));
        assert_in_range(length, 1, XB_TEXT_WORD_SIZE - 1);
    }
    qsort(words, XB_TEXT_WORDS, sizeof *words, compare);
    for (size_t i = 1; i < XB_TEXT_WORDS; i++)
        assert_true(strcmp(words[i - 1], words[i]) < 0);
}

/* ---- files, and words that are none ---- */

static const char *word_of(const char *root, const char *name)
{
    static char word[PATH_MAX + 8];
    snprintf(word, sizeof word, "file:%s/%s", root, name);
    return word;
}

FIXTURE_TEST(a_file_is_repeated)
{
    static const char *const contents[] = {"x", "abcde", "a longer one, which is repeated too"};
    for (size_t i = 0; i < COUNT_OF(contents); i++) {
        size_t length = strlen(contents[i]);
        write_file(*state, "data", contents[i]);
        for (steer.grains = 0; steer.grains <= 1; steer.grains++) {
            enum { LONG = 3 * 1048576 + 7 }; /* several parts */
            const size_t lengths[] = {1, length, length + 1, 3 * length - 1, LONG};
            for (size_t k = 0; k < COUNT_OF(lengths); k++) {
                char *memory = fill(word_of(*state, "data"), SEED, lengths[k]);
                for (size_t at = 0; at < lengths[k]; at++)
                    if (memory[at] != contents[i][at % length])
                        fail_msg("byte %zu of %zu of \"%s\" is wrong", at, lengths[k], contents[i]);
                free(memory);
            }
        }
    }
}

FIXTURE_TEST(a_file_is_read_in_pieces)
{
    write_file(*state, "data", "0123456789");
    steer.read_most = 3;
    char *memory = fill(word_of(*state, "data"), SEED, 25);
    assert_memory_equal(memory, "0123456789012345678901234", 25);
    free(memory);
}

static void expect_refused(const char *word, const char *part)
{
    struct xb_error error = {0};
    char byte;
    assert_int_equal(xb_data_check(word, &error), XB_ERR_USAGE);
    assert_int_equal(error.status, XB_ERR_USAGE);
    if (strstr(error.message, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.message, part);
    assert_int_not_equal(xb_data_fill(word, SEED, &byte, 1, &error), XB_OK);
}

FIXTURE_TEST(a_word_that_is_none_is_refused)
{
    struct xb_error error = {0};
    static const char *const words[] = {"random", "integers", "floats", "text", "zeros"};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        assert_int_equal(xb_data_check(words[i], &error), XB_OK);
    expect_refused("integer", "did you mean 'integers'?");
    expect_refused("zeroes", "did you mean 'zeros'?");
    expect_refused("file", "did you mean 'file:'?");
    expect_refused("elephants", "is none of random");
}

FIXTURE_TEST(a_file_that_is_no_data_is_refused)
{
    const char *root = *state;
    struct xb_error error = {0};
    write_file(root, "empty", "");
    write_file(root, "data", "x");
    char pipe[PATH_MAX];
    snprintf(pipe, sizeof pipe, "%s/pipe", root);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(xb_data_check(word_of(root, "data"), &error), XB_OK);
    expect_refused(word_of(root, "empty"), "empty: is empty");
    expect_refused(word_of(root, "pipe"), "pipe: is no regular file");
    expect_refused(word_of(root, ""), "is no regular file");
    expect_refused(word_of(root, "missing"), "missing: cannot be read");
    expect_refused("file:", "cannot be read");
    assert_int_equal(xb_data_check(word_of(root, "missing"), &error), XB_ERR_USAGE);
    assert_int_equal(error.native_code, ENOENT);
    assert_string_equal(error.native_name, "ENOENT");
}

FIXTURE_TEST(a_file_that_changes_is_an_error)
{
    struct xb_error error = {0};
    char memory[64];
    write_file(*state, "data", "0123456789");
    const char *word = word_of(*state, "data");
    steer.read_most = 4;
    steer.reads_left = 1;
    steer.ends = true;
    assert_int_equal(xb_data_fill(word, SEED, memory, sizeof memory, &error), XB_ERR_SYSTEM);
    assert_non_null(strstr(error.message, "data: became shorter"));
    steer.ends = false;
    steer.fails = true;
    steer.reads_left = 1;
    assert_int_equal(xb_data_fill(word, SEED, memory, sizeof memory, &error), XB_ERR_SYSTEM);
    assert_non_null(strstr(error.message, "data: cannot be read"));
    assert_int_equal(error.native_code, EIO);
}
