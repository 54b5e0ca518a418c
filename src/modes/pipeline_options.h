/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MODES_PIPELINE_OPTIONS_H
#define XFERBENCH_MODES_PIPELINE_OPTIONS_H

#include "storage/reader.h"
#include "xferbench/mode.h"

/* How the mode `pipeline` reads, and in which order it does what. */

/* --order: its words are the mode's variants. */
extern const struct xb_option xb_option_order;
bool xb_order_is_overlapped(const char *variant);
bool xb_order_is_pageable(const char *variant);

/* --io */
extern const struct xb_option xb_option_io;
/* Whether the device reads the file itself, by a call of its runtime. */
bool xb_io_is_by_device(const struct xb_case *test);
/* How the host's threads read where it does not. */
enum xb_io xb_io_of(const struct xb_case *test);
/* Whether the page cache is passed by. */
bool xb_io_is_direct(const struct xb_case *test);

/* --readers */
extern const struct xb_option xb_option_readers;
/* How many threads read. */
unsigned xb_readers_of(const struct xb_case *test);
/* How much each takes at a time where chunks are read. */
uint64_t xb_reader_piece_of(const struct xb_case *test);

#endif
