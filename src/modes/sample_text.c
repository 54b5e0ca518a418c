/* SPDX-License-Identifier: Apache-2.0 */
#include "sample_data.h"

#include "base/parallel.h"

#include "xferbench/pattern.h"

#include <stdbool.h>
#include <string.h>

/* ---- the words ---- */

static const char onsets[] = "bdfgklmnprstvz";
static const char vowels[] = "aeiou";
static const char codas[] = "lmnrst";
#define COUNT(letters) (sizeof(letters) - 1)
#define SYLLABLES (COUNT(onsets) * COUNT(vowels) * COUNT(codas))
#define SYLLABLE_LETTERS 3u

/* Frequent words are short, as in any language: so many of one syllable, then of two. */
#define OF_ONE 20u
#define OF_TWO 200u
#define OF_THREE 1000u
/* Prime to the number of syllables: words of neighbouring ranks have nothing in common. */
#define STRIDE 11731u

static size_t add_syllable(unsigned number, char *to)
{
    to[0] = onsets[number % COUNT(onsets)];
    to[1] = vowels[number / COUNT(onsets) % COUNT(vowels)];
    to[2] = codas[number / COUNT(onsets) / COUNT(vowels) % COUNT(codas)];
    return SYLLABLE_LETTERS;
}

size_t xb_text_word(unsigned rank, char word[XB_TEXT_WORD_SIZE])
{
    unsigned syllables = rank < OF_ONE ? 1 : rank < OF_TWO ? 2 : rank < OF_THREE ? 3 : 4;
    /* Counting in syllables: each rank is another number, and so another word of its length. */
    uint64_t number = (uint64_t)rank * STRIDE;
    size_t length = 0;
    for (unsigned i = 0; i < syllables; i++) {
        length += add_syllable((unsigned)(number % SYLLABLES), word + length);
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

/* Zipf's law: the n-th word is one n-th as frequent as the first. */
static double frequency(unsigned rank)
{
    return 1.0 / (rank + 1);
}

static void make_vocabulary(struct vocabulary *vocabulary)
{
    double sum = 0;
    double all = 0;
    for (unsigned rank = 0; rank < XB_TEXT_WORDS; rank++) {
        vocabulary->words[rank].length = xb_text_word(rank, vocabulary->words[rank].letters);
        all += frequency(rank);
    }
    unsigned draw = 0;
    for (unsigned rank = 0; rank < XB_TEXT_WORDS; rank++) {
        sum += frequency(rank);
        for (; draw < DRAWS && (draw < sum / all * DRAWS || rank + 1 == XB_TEXT_WORDS); draw++)
            vocabulary->drawn[draw] = (uint16_t)rank;
    }
}

/* ---- the text ---- */

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

/* Which word is next: one of the phrase that the last one was of, or what the random bits draw. */
static unsigned next_rank(struct writer *writer, const struct vocabulary *vocabulary,
                          unsigned long long random)
{
    if (writer->phrase > 0)
        return vocabulary->drawn[(writer->first + 1) * STRIDE * writer->phrase-- % DRAWS];
    unsigned rank = vocabulary->drawn[random % DRAWS];
    if ((random >> 48) % BEGINS_PHRASE == 0) {
        writer->first = rank;
        writer->phrase = PHRASE_WORDS;
    }
    return rank;
}

static void put_word(struct writer *writer, const struct vocabulary *vocabulary,
                     unsigned long long random)
{
    unsigned rank = next_rank(writer, vocabulary, random);
    char word[XB_TEXT_WORD_SIZE];
    size_t length = vocabulary->words[rank].length;
    memcpy(word, vocabulary->words[rank].letters, length);
    if (writer->sentence == 0) {
        word[0] = (char)(word[0] - 'a' + 'A');
        writer->sentence = 6 + (unsigned)(random >> 16) % 12;
    }
    put(writer, word, length);
    writer->sentence--;
    /* What stands behind a word. */
    bool ends = writer->sentence == 0;
    if (ends)
        put(writer, ".", 1);
    else if (writer->phrase == 0 && (random >> 32) % 10 == 0)
        put(writer, ",", 1);
    bool is_full = ends && writer->column >= LINE_LETTERS;
    put(writer, is_full ? "\n" : " ", 1);
    if (is_full)
        writer->column = 0;
}

struct text {
    unsigned long long seed;
    char *memory;
    const struct vocabulary *vocabulary;
};

static void write_blocks(void *argument, uint64_t begin, uint64_t end)
{
    const struct text *text = argument;
    for (uint64_t at = begin; at < end; at += XB_TEXT_BLOCK) {
        uint64_t length = end - at < XB_TEXT_BLOCK ? end - at : XB_TEXT_BLOCK;
        struct writer writer = {.to = text->memory + at, .end = text->memory + at + length};
        /* A word has a letter at least, so a block draws no number twice that another has. */
        for (uint64_t i = at; writer.to < writer.end; i++)
            put_word(&writer, text->vocabulary,
                     xb_pattern_word((struct xb_pattern){.seed = text->seed}, i));
    }
}

void xb_text_fill(unsigned long long seed, void *memory, uint64_t bytes)
{
    struct vocabulary vocabulary;
    make_vocabulary(&vocabulary);
    struct text text = {.seed = seed, .memory = memory, .vocabulary = &vocabulary};
    xb_parallel_for(bytes, XB_TEXT_BLOCK, write_blocks, &text);
}
