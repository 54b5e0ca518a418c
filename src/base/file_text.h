/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"

#include <stdbool.h>

/* Reads a whole file of at most `largest` bytes into *text and appends a zero byte; release it with
 * free(3). With `pipes` also a pipe, for whose writer it waits. XB_ERR_USAGE for anything else,
 * without opening it, and for a file that changes meanwhile. XB_ERR_SYSTEM, XB_ERR_MEMORY. Every
 * message begins with the path. */
enum xb_status xb_file_text_read(const char *path, size_t largest, bool pipes, char **text,
                                 size_t *length, struct xb_error *error);

/* Gives the files in a folder and below it whose names say that they hold JSON (.json, .jsonl,
 * .ndjson), in the order of their names, with numbers as numbers. What cannot be read is given with
 * its errno, else that is 0. Links to folders are not followed. Ends where `found` returns false.
 */
typedef bool xb_folder_found(void *argument, const char *path, int code);
void xb_folder_each(const char *path, xb_folder_found *found, void *argument);
