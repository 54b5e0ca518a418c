/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_LINK_READ_INTERNAL_H
#define XFERBENCH_LINK_READ_INTERNAL_H

#include "base/json_read.h"
#include "peers.h"

struct xb_arena;
struct xb_link_file;

/* The parts of the reader of link files. All keep the reader's first error, as xb_json_get_...
 * does: after it they do nothing and return what is empty. */

bool xb_link_read_failed(const struct xb_json_reader *r);

/* For keys that not every file has. */
bool xb_link_has(const cJSON *object, const char *key);
/* Whether the value, which must be there, is not null. */
bool xb_link_is_known(struct xb_json_reader *r, const cJSON *object, const char *key);

/* NULL for null. */
const cJSON *xb_link_get_known_object(struct xb_json_reader *r, const cJSON *object,
                                      const char *key);
/* A number above 0; 0 for null. */
double xb_link_get_positive(struct xb_json_reader *r, const cJSON *object, const char *key);
unsigned xb_link_get_whole(struct xb_json_reader *r, const cJSON *object, const char *key);
/* 0 for null. */
unsigned xb_link_get_known_whole(struct xb_json_reader *r, const cJSON *object, const char *key);
/* The number of a NUMA node or an IOMMU group; -1 for null. */
int xb_link_get_number(struct xb_json_reader *r, const cJSON *object, const char *key);
/* A counter may have any value. A double holds large ones only roughly: what is 2^64 or rounded up
 * to it is read as the largest that a counter can have. */
uint64_t xb_link_get_counter(struct xb_json_reader *r, const cJSON *object, const char *key);
/* Belongs to the tree; may be empty. */
const char *xb_link_get_text(struct xb_json_reader *r, const cJSON *object, const char *key);
/* The same; "" for null. */
const char *xb_link_get_known_text(struct xb_json_reader *r, const cJSON *object, const char *key);
/* A PCI address. */
void xb_link_get_address(struct xb_json_reader *r, const cJSON *object, const char *key,
                         char bdf[16]);

/* Copies a text into an array. A text that had bytes that are no UTF-8 grew when it was written: it
 * may not fit any more, and is cut between two characters. */
void xb_link_copy_text(const char *from, char *text, size_t size);

/* Reads one item of an array into *to. */
typedef void xb_link_read_item(struct xb_json_reader *r, const cJSON *item, void *to);
/* Reads an array into at most `most` items of `size` bytes each. Returns how many there are. */
size_t xb_link_read_array(struct xb_json_reader *r, const cJSON *object, const char *key,
                          xb_link_read_item *read, void *items, size_t size, size_t most);

/* The index of one of `count` things; null, read as 0, if there are none. */
size_t xb_link_get_index_of(struct xb_json_reader *r, const cJSON *object, const char *key,
                            size_t count);
/* Says that memory is short, unless something else failed before. */
void xb_link_read_fail_memory(struct xb_json_reader *r);

/* One attempt, into a struct xb_link_attempt. */
void xb_link_read_attempt(struct xb_json_reader *r, const cJSON *object, void *to);
void xb_link_read_health(struct xb_json_reader *r, const cJSON *attempt, const char *key,
                         struct xb_device_health *health);

/* The level and the reasons of a verdict; the codes are kept in *texts. */
void xb_link_read_findings(struct xb_json_reader *r, const cJSON *verdict, struct xb_arena **texts,
                           struct xb_findings *found);
/* What is asked of a bandwidth: warning, critical and source. */
void xb_link_read_bandwidth_limit(struct xb_json_reader *r, const cJSON *object, const char *key,
                                  struct xb_link_direction *bandwidth);

/* A copy that the arena keeps; NULL for a reader that has failed. */
const char *xb_link_keep_text(struct xb_json_reader *r, struct xb_arena **texts, const char *text);

/* Reads on which machine and by which of several processes it was measured, and when written. */
void xb_link_read_origin(struct xb_json_reader *r, const cJSON *root, struct xb_link_file *file);

/* All pairs, into file->pairs and its report; the devices must have been read. */
void xb_link_read_pairs(struct xb_json_reader *r, const cJSON *root, struct xb_link_file *file);

#endif
