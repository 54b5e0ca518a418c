/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"

#include <stdbool.h>

/* Reads a whole file of at most `largest` bytes into *text and appends a zero byte; release it with
 * free(3). Reads a regular file, or with `pipes` also a pipe, and waits for the pipe's writer.
 * Returns XB_ERR_USAGE for anything else, without opening it, and for a regular file that changes
 * during the read. Also XB_ERR_SYSTEM, XB_ERR_MEMORY. Every message begins with the path. */
XB_MUST_CHECK enum xb_status xb_file_text_read(const char *path, size_t largest, bool pipes,
                                               char **text, size_t *length, struct xb_error *error);

/*
 * Gives the files in a folder and below it whose names say that they hold JSON (.json, .jsonl,
 * .ndjson), in the order of their names, with numbers as numbers: the order of the file system
 * differs from machine to machine. What cannot be read is given with the code of errno, else that
 * is 0. Links to folders are not followed. It ends where `found` returns false.
 */
typedef bool xb_folder_found(void *argument, const char *path, int code);
void xb_folder_each(const char *path, xb_folder_found *found, void *argument);
