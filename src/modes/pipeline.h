/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "measure/engine/stage.h"
#include "measure/result.h"
#include "storage/files.h"
#include "storage/reader.h"
#include "xferbench/mode.h"

/* What the files of the mode `pipeline` share. */

/* --order, whose words are the mode's variants, --io, --readers, --file, --batch-files */
extern const struct xb_option xb_option_order, xb_option_io, xb_option_readers, xb_option_read_by;
extern const struct xb_option xb_option_file, xb_option_batch_files;

bool xb_order_is_overlapped(const char *variant);
bool xb_order_is_pageable(const char *variant);

/* Whether the device reads the file itself, by a call of its runtime; else how the host's threads
 * do; and whether the page cache is passed by. */
bool xb_io_is_by_device(const struct xb_case *test);
enum xb_io xb_io_of(const struct xb_case *test);
bool xb_io_is_direct(const struct xb_case *test);

/* How many threads read; whether each has a process do it. */
unsigned xb_readers_of(const struct xb_case *test);
bool xb_readers_are_processes(const struct xb_case *test);

enum { XB_STAGE_READ, XB_STAGE_IN, XB_STAGE_COMPUTE, XB_STAGE_OUT, XB_PIPELINE_STAGES };

/* Each stage's rate alone, and the shares of the time that a recorded iteration tells. */
extern const struct xb_figure xb_pipeline_rates[XB_PIPELINE_STAGES];
extern const struct xb_figure xb_pipeline_busy[XB_PIPELINE_STAGES];
extern const struct xb_figure xb_pipeline_wait[XB_PIPELINE_STAGES];
/* How long a chunk or batch is under way, in that iteration; and the kernels of one pass alone,
 * over data that lies on the device already. */
extern const struct xb_figure xb_batch_time, xb_loaded_epoch_time;

/*
 * What the mode `pipeline` reads, and how it comes in items: chunks of one file, or batches of
 * small files, each file of a batch behind the other. Readers share an item in pieces.
 */

/* A piece of an item. */
struct xb_source_piece {
    size_t file;
    uint64_t offset;   /* in the file */
    uint64_t position; /* in the item */
    uint64_t bytes;    /* 0: the item has no such piece, and none behind it */
    uint64_t padding;  /* behind it in the item, up to the next file: to be zeros */
};

struct xb_source {
    const struct xb_files *files;
    struct xb_files given;         /* where --file names them */
    bool is_made;                  /* by us: `pattern` says what they hold */
    struct xb_pattern pattern;     /* of all files, file behind file */
    uint64_t bytes;                /* that an iteration reads */
    size_t batch;                  /* files in an item; 0: chunks of one file */
    uint64_t items, pieces;        /* pieces of an item, at most */
    uint64_t *item_bytes;          /* how long each item is */
    struct xb_source_piece *parts; /* `pieces` of each item */
    uint64_t item_most;            /* bytes of the longest item, in whole blocks */
};

/* How long a mode's cases are where --size is not given: what --file names; 0 where it names
 * nothing to be read. */
uint64_t xb_source_bytes(const struct xb_run_options *asked);

/* XB_ERR_USAGE where the options contradict each other. */
enum xb_status xb_source_check(const struct xb_case *test, struct xb_error *error);

/* Opens the files of a case, or has them made. Blocks. Close it also after a failure. */
enum xb_status xb_source_open(const struct xb_mode_context *context, struct xb_source *source,
                              struct xb_error *error);
/* Accepts one that is all zero. */
void xb_source_close(struct xb_source *source);

/* From byte `from` of a slot to `until` only one of the items that go through it writes. After an
 * iteration these bytes still hold what the next one is to put there; all others hold what another
 * item has put over them. For `slots` that items take in turn. */
struct xb_source_own {
    uint64_t from, until;
};
struct xb_source_own xb_source_own(const struct xb_source *source, unsigned slots, unsigned slot);

/* Puts to `memory`, which holds item_most, what the item has to be: from the pattern, or where the
 * file is the user's by reading it again the plain way. Blocks. */
enum xb_status xb_source_expect(const struct xb_source *source, uint64_t item, void *memory,
                                struct xb_error *error);
