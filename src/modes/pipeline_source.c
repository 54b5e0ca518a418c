/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "pipeline.h"

#include "backends/verify.h"
#include "base/memory.h"
#include "record/run_options.h"
#include "shared_options.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const struct xb_option xb_option_order = {
    XB_CHOICES("order", "ORDER", "overlapped,serial,serial-pageable",
               "In which order chunks are read, copied and computed on: 'overlapped' all steps at "
               "the same time, over --buffers chunks; 'serial' one step after the other, from "
               "page-locked memory; 'serial-pageable' and 'overlapped-pageable' the same from "
               "ordinary memory.",
               "overlapped", "serial", "serial-pageable", "overlapped-pageable")};

bool xb_order_is_overlapped(const char *variant)
{
    return strncmp(variant, "overlapped", strlen("overlapped")) == 0;
}

bool xb_order_is_pageable(const char *variant)
{
    return strstr(variant, "-pageable") != NULL;
}

const struct xb_option xb_option_io = {XB_CHOICES(
    "io", "WAY", "cached",
    "How files are read: 'cached' through the page cache; 'direct' past it (O_DIRECT, by "
    "io_uring); 'mmap' out of a mapping; 'gds' to the device's memory by the runtime (cuFile).",
    "cached", "direct", "mmap", "gds")};

static const char *io_word(const struct xb_case *test)
{
    return xb_case_setting(test, &xb_option_io)->word;
}

bool xb_io_is_by_device(const struct xb_case *test)
{
    return strcmp(io_word(test), "gds") == 0;
}

enum xb_io xb_io_of(const struct xb_case *test)
{
    if (strcmp(io_word(test), "direct") == 0)
        return XB_IO_DIRECT;
    return strcmp(io_word(test), "mmap") == 0 ? XB_IO_MMAP : XB_IO_CACHED;
}

bool xb_io_is_direct(const struct xb_case *test)
{
    return xb_io_is_by_device(test) || xb_io_of(test) == XB_IO_DIRECT;
}

const struct xb_option xb_option_readers = {
    XB_COUNTS("readers", "0", 0, XB_CREW_THREADS - 1,
              "How many host threads read: a number, a list (1,4,16), a range that doubles "
              "(1..16), or 0 for one on each CPU near the device except one, which feeds the "
              "device (16 at most; 4 for direct and gds).")};

#define MOST_BY_DEFAULT 16u
#define PAST_THE_CACHE_BY_DEFAULT 4u

const struct xb_option xb_option_read_by = {XB_CHOICES(
    "read-by", "WHO", "threads",
    "Who reads: 'threads' to the chunk itself; 'processes', as the workers of a PyTorch "
    "DataLoader, each to memory that it shares with the program, from where one thread "
    "at a time copies to the page-locked chunk. A piece of a file at a time: a DataLoader "
    "hands over whole batches.",
    "threads", "processes")};

bool xb_readers_are_processes(const struct xb_case *test)
{
    return strcmp(xb_case_setting(test, &xb_option_read_by)->word, "processes") == 0;
}

unsigned xb_readers_of(const struct xb_case *test)
{
    unsigned given = (unsigned)xb_case_setting(test, &xb_option_readers)->count;
    if (given > 0)
        return given;
    if (xb_io_is_direct(test))
        return PAST_THE_CACHE_BY_DEFAULT;
    unsigned cpus = xb_threads_usual();
    return cpus > MOST_BY_DEFAULT ? MOST_BY_DEFAULT : cpus > 1 ? cpus - 1 : 1;
}

/* Through the page cache a piece is copied by the thread, so all threads are to have one of each
 * chunk; a disk wants long reads. */
#define CACHED_PIECE (UINT64_C(512) << 10)
#define DIRECT_PIECE (UINT64_C(2) << 20)

/* So many pieces of a file are recorded (recorder.c) with room for what else there is. */
#define MOST_PIECES UINT64_C(32768)

#define RATE(stage, what)                                                                          \
    XB_FIGURE_RATE("rate_" stage, what " alone: the files' bytes divided by its time")
const struct xb_figure xb_pipeline_rates[XB_PIPELINE_STAGES] = {
    {RATE("read", "Reading")},
    {RATE("in", "The copies into the device")},
    {RATE("compute", "The kernels")},
    {RATE("out", "Bringing the results back")},
};

#define SHARE "In one recorded iteration: the share of the time in which "
const struct xb_figure xb_pipeline_busy[XB_PIPELINE_STAGES] = {
    {XB_FIGURE_GAIN("busy_read", SHARE "the readers read, on average")},
    {XB_FIGURE_GAIN("busy_in", SHARE "data was copied into the device")},
    {XB_FIGURE_GAIN("busy_compute", SHARE "kernels ran")},
    {XB_FIGURE_GAIN("busy_out", SHARE "results were brought back")},
};

#define WAIT(stage, who)                                                                           \
    XB_FIGURE_NUMBER("wait_" stage, SHARE who " waited between the first turn and the last")
const struct xb_figure xb_pipeline_wait[XB_PIPELINE_STAGES] = {
    {WAIT("read", "the readers, on average,")},
    {WAIT("in", "the copies into the device")},
    {WAIT("compute", "the kernels")},
    {WAIT("out", "the copies out of the device")},
};

const struct xb_figure xb_batch_time = {
    XB_FIGURE_TIME("batch_time", "In one recorded iteration: the time of a chunk or batch from the "
                                 "first read of it until its result is back")};
const struct xb_figure xb_loaded_epoch_time = {
    XB_FIGURE_TIME("loaded_epoch_time", "The kernels alone over all of the data, which lies in the "
                                        "device's memory already")};

const struct xb_option xb_option_file = {
    XB_FILE("file", "PATH"),
    .help = "What to read: a file, all of it or the first --size bytes. A folder: a file of --size "
            "is made there and removed; with --batch-files the files in it are read. Without it "
            "the files are made in $TMPDIR or /var/tmp.",
    .selects = true,
};

const struct xb_option xb_option_batch_files = {
    XB_COUNTS("batch-files", "0", 0, 65536,
              "How many small files make a batch, which is then copied and computed on as one; "
              "each is opened, read and closed. Made files have --chunk / N bytes each. A number, "
              "a list or a range that doubles; 0: one file in chunks.")};

/* A file in a batch begins on such a boundary, so that kernels find whole words. */
#define WORD UINT64_C(8)

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static uint64_t batch_of(const struct xb_case *test)
{
    return xb_case_setting(test, &xb_option_batch_files)->count;
}

/* How long the made files of a batch are; 0 where a chunk does not hold as many. */
static uint64_t made_bytes(const struct xb_case *test)
{
    uint64_t chunk = xb_case_setting(test, &xb_option_chunk)->count;
    uint64_t each = chunk / batch_of(test);
    return each >= XB_STORAGE_BLOCK ? each / XB_STORAGE_BLOCK * XB_STORAGE_BLOCK
                                    : each / WORD * WORD;
}

/* NULL: none is named. */
static const char *file_of(const struct xb_run_options *asked)
{
    return xb_config_get(asked->config, &xb_option_file)->text;
}

uint64_t xb_source_bytes(const struct xb_run_options *asked)
{
    const char *file = file_of(asked);
    const struct xb_value *batches = xb_config_get(asked->config, &xb_option_batch_files);
    struct stat status;
    struct xb_files files;
    struct xb_error ignored;
    if (file == NULL || stat(file, &status) != 0)
        return 0;
    if (!S_ISDIR(status.st_mode))
        return S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
    if (xb_value_number(batches, 0) == 0 || xb_files_open(file, &files, &ignored) != XB_OK)
        return 0;
    uint64_t bytes = files.bytes;
    xb_files_close(&files);
    return bytes;
}

static enum xb_status check_batches(const struct xb_case *test, struct xb_error *error)
{
    const char *file = file_of(test->asked);
    const struct xb_value *batches = xb_config_get(test->asked->config, &xb_option_batch_files);
    bool has_one_file_too = false; /* cases of one file are asked for beside those of batches */
    for (size_t i = 0; i < xb_value_length(batches); i++)
        has_one_file_too = has_one_file_too || xb_value_number(batches, i) == 0;
    if (file != NULL && is_folder(file) && has_one_file_too)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--batch-files 0 makes a file of --size in --file %.200s, and any other "
                       "number reads all files there: give 0 a run of its own",
                       file);
    if (file != NULL && !is_folder(file))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--batch-files reads the files of a folder, and --file %.200s is a file",
                       file);
    if (file != NULL && test->asked->size_given)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--batch-files reads all files of --file %.200s: leave out --size", file);
    if (file != NULL || (made_bytes(test) > 0 && made_bytes(test) <= test->bytes))
        return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE,
                   "--batch-files %llu: files of --chunk / %llu bytes would be shorter than 8 "
                   "bytes or longer than --size; take fewer files, or another --chunk",
                   (unsigned long long)batch_of(test), (unsigned long long)batch_of(test));
}

/* What is named must be there now: a mistyped path is a mistake of the command line. */
static enum xb_status check_given(const struct xb_case *test, struct xb_error *error)
{
    const char *file = file_of(test->asked);
    struct xb_files files;
    struct xb_error found;
    if (file == NULL || (batch_of(test) == 0 && is_folder(file)))
        return XB_OK;
    if (xb_files_open(file, &files, &found) != XB_OK)
        return XB_FAIL_NATIVE(error, XB_ERR_USAGE, found.call, found.native_code, found.native_name,
                              "--file %.400s", found.message);
    uint64_t bytes = files.bytes;
    xb_files_close(&files);
    if (bytes >= test->bytes)
        return XB_OK;
    return XB_FAIL(
        error, XB_ERR_USAGE,
        "--size %llu: --file %.300s has %llu bytes; take a smaller --size, or none for all of it",
        (unsigned long long)test->bytes, file, (unsigned long long)bytes);
}

enum xb_status xb_source_check(const struct xb_case *test, struct xb_error *error)
{
    uint64_t chunk = xb_case_setting(test, &xb_option_chunk)->count;
    XB_TRY(xb_chunk_check_words(test, 8, error));
    if (xb_io_is_direct(test) && chunk % XB_STORAGE_BLOCK != 0)
        return XB_FAIL(
            error, XB_ERR_USAGE,
            "--chunk %llu: past the page cache files are read in blocks; take a multiple of %llu",
            (unsigned long long)chunk, (unsigned long long)XB_STORAGE_BLOCK);
    if (batch_of(test) > 0)
        XB_TRY(check_batches(test, error));
    return check_given(test, error);
}

/* Makes the lists of items and their pieces, all empty. */
static enum xb_status make_lists(struct xb_source *source, struct xb_error *error)
{
    source->parts = xb_try(source->items * source->pieces, sizeof *source->parts);
    source->item_bytes = xb_try(source->items, sizeof *source->item_bytes);
    if (source->parts != NULL && source->item_bytes != NULL)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a list of %llu pieces of files",
                   (unsigned long long)(source->items * source->pieces));
}

static enum xb_status lay_out_chunks(const struct xb_case *test, struct xb_source *source,
                                     struct xb_error *error)
{
    uint64_t piece = xb_io_is_direct(test) ? DIRECT_PIECE : CACHED_PIECE;
    uint64_t whole = xb_lesser(xb_case_setting(test, &xb_option_chunk)->count,
                               xb_rounded_up(test->bytes, XB_STORAGE_BLOCK));
    if (source->files->bytes < test->bytes)
        return XB_FAIL(error, XB_ERR_RUNTIME,
                       "%.400s has %llu bytes, and --size asks for %llu; take a smaller --size, or "
                       "none for all of it",
                       source->files->path, (unsigned long long)source->files->bytes,
                       (unsigned long long)test->bytes);
    while (test->bytes / piece > MOST_PIECES)
        piece *= 2;
    piece = xb_lesser(piece, whole);
    source->bytes = test->bytes;
    source->item_most = xb_rounded_up(whole, XB_STORAGE_BLOCK);
    source->items = xb_chunk_count(test->bytes, whole);
    source->pieces = xb_chunk_count(whole, piece);
    XB_TRY(make_lists(source, error));
    for (uint64_t i = 0; i < source->items; i++) {
        struct xb_chunk item = xb_chunk_at(test->bytes, whole, i);
        source->item_bytes[i] = item.bytes;
        for (uint64_t at = 0; at < item.bytes; at += piece)
            source->parts[i * source->pieces + at / piece] =
                (struct xb_source_piece){.offset = item.offset + at,
                                         .position = at,
                                         .bytes = xb_lesser(piece, item.bytes - at)};
    }
    return XB_OK;
}

static enum xb_status lay_out_batches(const struct xb_case *test, struct xb_source *source,
                                      struct xb_error *error)
{
    const uint64_t boundary = xb_io_is_direct(test) ? XB_STORAGE_BLOCK : WORD;
    const struct xb_files *files = source->files;
    const size_t batch = source->batch;
    source->bytes = files->bytes;
    source->items = xb_chunk_count(files->count, batch);
    source->pieces = batch;
    source->item_most =
        xb_rounded_up(xb_case_setting(test, &xb_option_chunk)->count, XB_STORAGE_BLOCK);
    XB_TRY(make_lists(source, error));
    uint64_t at = 0, longest = 0, longest_item = 0;
    for (size_t i = 0; i < files->count; i++) {
        at = i % batch == 0 ? 0 : at;
        uint64_t end = at + files->entries[i].bytes;
        bool is_last = (i + 1) % batch == 0 || i + 1 == files->count;
        uint64_t next = xb_rounded_up(end, is_last ? WORD : boundary);
        source->parts[i] = (struct xb_source_piece){
            .file = i, .position = at, .bytes = end - at, .padding = next - end};
        source->item_bytes[i / batch] = next;
        at = xb_rounded_up(end, boundary);
        if (at > longest) {
            longest = at;
            longest_item = i / batch;
        }
    }
    /* All are laid out first: the advice must hold for every batch. */
    if (longest <= source->item_most)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                   "batch %llu of %.400s, %zu %s, takes %s: give that or more as --chunk%s",
                   (unsigned long long)longest_item, files->path, batch,
                   batch == 1 ? "file" : "files",
                   XB_SIZE_TEXT(xb_rounded_up(longest, UINT64_C(1) << 20)),
                   batch == 1 ? "" : ", or fewer files as --batch-files");
}

enum xb_status xb_source_open(const struct xb_mode_context *context, struct xb_source *source,
                              struct xb_error *error)
{
    const struct xb_case *test = context->test;
    *source = (struct xb_source){.batch = (size_t)batch_of(test)};
    const char *file = file_of(test->asked);
    if (file == NULL || (source->batch == 0 && is_folder(file))) {
        uint64_t each = source->batch > 0 ? made_bytes(test) : test->bytes;
        /* libcufile opens a file again, by its name. */
        XB_TRY(xb_store_files(context->store, file, (size_t)(test->bytes / each), each,
                              xb_io_is_by_device(test), &source->files, error));
        source->is_made = true;
        source->pattern = context->store->pattern;
    } else {
        source->files = &source->given;
        XB_TRY(xb_files_open(file, &source->given, error));
    }
    return source->batch > 0 ? lay_out_batches(test, source, error)
                             : lay_out_chunks(test, source, error);
}

void xb_source_close(struct xb_source *source)
{
    free(source->parts);
    free(source->item_bytes);
    xb_files_close(&source->given);
}

/* Finds the bytes that only a slot's longest item writes: each writes from the beginning. */
struct xb_source_own xb_source_own(const struct xb_source *source, unsigned slots, unsigned slot)
{
    struct xb_source_own own = {0};
    for (uint64_t item = slot; item < source->items; item += slots) {
        uint64_t bytes = source->item_bytes[item];
        if (bytes > own.until) {
            own.from = own.until;
            own.until = bytes;
        } else if (bytes > own.from) {
            own.from = bytes;
        }
    }
    return own;
}

enum xb_status xb_source_expect(const struct xb_source *source, uint64_t item, void *memory,
                                struct xb_error *error)
{
    const uint64_t each = source->files->entries[0].bytes; /* of made files, which are alike */
    const struct xb_source_piece *piece = &source->parts[item * source->pieces];
    for (uint64_t i = 0; i < source->pieces && piece->bytes > 0; i++, piece++) {
        char *at = (char *)memory + piece->position;
        if (source->is_made)
            xb_host_fill(at, piece->file * each + piece->offset, piece->bytes, source->pattern);
        else
            XB_TRY(
                xb_files_read(source->files, piece->file, piece->offset, at, piece->bytes, error));
        memset(at + piece->bytes, 0, piece->padding);
    }
    return XB_OK;
}
