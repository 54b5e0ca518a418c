/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/*
 * Gives the files in a folder and below it whose names say that they hold JSON (.json, .jsonl,
 * .ndjson), in the order of their names, with numbers as numbers: the order of the file system
 * differs from machine to machine. What cannot be read is given with the code of errno, else that
 * is 0. Links to folders are not followed. It ends where `found` returns false.
 */
typedef bool xb_folder_found(void *argument, const char *path, int code);
void xb_folder_each(const char *path, xb_folder_found *found, void *argument);
